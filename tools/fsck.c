/*
 * tools/fsck.c: u9fsck: is a log whole, what is lost and why, and saving the rest.
 *
 * Reads only; --salvage and --carve write new logs and never touch what is there; --repair mends what is proven
 * (fsck_repair.c), and with --accept-loss gives up what the log's mark promises and is not there, and ends that are
 * unknown. Exit status as in fsck(8): 0 clean (a torn tail is clean), 1
 * repaired, 4 damage is left, 8 operational error, 16 usage, 32 cancelled; bits add up. Of --mark: 1 no longer
 * provable, 3 less is kept than then, each only of a log without damage. Damage and summary are results and go to
 * standard output, a line (or JSON object) each. SIGINT and SIGTERM are asked for whenever progress is told; a second
 * one kills.
 */
#include "tools/buffer.h"
#include "tools/damage.h"
#include "tools/fold.h"
#include "tools/fsck_map.h"
#include "tools/fsck_repair.h"
#include "tools/json.h"
#include "tools/mark.h"
#include "tools/progress.h"
#include "tools/text.h"
#include "tools/store.h"
#include "tools/tool.h"

#include <u9.h>

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CLEAN = 0, CORRECTED = 1, UNPROVABLE = 1, LATER = 3, LEFT = 4, OPERATIONAL = 8, USAGE = 16, CANCELLED = 32 };

struct fsck {
    const char *path;
    const char *salvage; /* NULL: check only */
    const char *line;    /* the log is to meet this; NULL: nothing */
    u9_mark mark;        /*   which says this */
    int repair, accept, undo, modes;
    tool_repair mending; /* with --repair */
    const char *carve;   /* NULL, or where logs are carved to */
    int json, quiet, verbose;
    int partial;         /* not 0: OUT.partial was there before */
    u9_output main;      /* what became OUT; its texts are gone */
    tool_buffer branches; /* lines of what became logs beside OUT; not open: there is no memory for them */
    tool_losses losses;
    u9_verdict worst;    /* of what is told of the log, and not of another log's line */
    tool_progress bar;
    unsigned jobs;       /* threads that check */
    int map;             /* the picture is asked for, */
    const char *html;    /*   and a page of it; NULL: none */
    int page;            /* which is all that goes to standard output */
    tool_lost lost;
    tool_map picture;
};

static volatile sig_atomic_t stopped; /* the signal that came, 0 */

static void on_signal(int number)
{
    stopped = number;
}

static void catch_signals(void)
{
    struct sigaction once = {.sa_handler = on_signal, .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    sigemptyset(&once.sa_mask);
    sigaction(SIGINT, &once, NULL);
    sigaction(SIGTERM, &once, NULL);
}

static json_t *json_damage(const u9_damage *d)
{
    json_t *json = json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:b}", "type",
                     "damage", "path", tool_json_text(d->path), "segment",
                     tool_json_number(d->segment), "begin", tool_json_number(d->begin), "end",
                     tool_json_number(d->end), "verdict", tool_verdict_name(d), "reason",
                     u9_reason_name(d->reason), "text", tool_reason_text(d), "rule",
                     tool_reason_rule(d), "ordinal", tool_json_number(d->ordinal), "lost",
                     tool_json_number(d->lost), "at_most", d->at_most);
    if (d->clause != U9_CLAUSE_NONE) json_object_set_new(json, "clause", json_string(u9_clause_name(d->clause)));
    if (d->reason != U9_R_PART) return json;
    json_object_set_new(json, "part", tool_json_number(d->part));
    json_object_set_new(json, "part_at", tool_json_number(d->part_at));
    json_object_set_new(json, "part_lacks", tool_json_number(d->part_lacks));
    json_object_set_new(json, "part_total", tool_json_number(d->part_total));
    return json;
}

/* A line of another log says nothing of this one, and is told behind all. [M-8] Files that are foreign are never CORRUPT. */
static int is_foreign_line(const struct fsck *f, const u9_damage *d)
{
    return f->line && d->reason == U9_R_FOREIGN && d->verdict == U9_V_CORRUPT;
}

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct fsck *f = (struct fsck *)ctx;
    int bad = damage->verdict >= U9_V_UNKNOWN;
    tool_progress_end(&f->bar);
    if (is_foreign_line(f, damage)) return;
    if (damage->verdict > f->worst && !tool_is_name(damage)) f->worst = damage->verdict;
    tool_losses_add(&f->losses, damage);
    tool_lost_damage(&f->lost, damage);
    if (f->map || f->html) tool_map_damaged(&f->picture, damage);
    if (f->json) {
        tool_put_object(json_damage(damage));
        return;
    }
    if (f->page || (f->quiet && !bad)) return;
    if (!bad) fputs("note: ", stdout);
    tool_put_damage(stdout, damage);
}

static void on_stretch(void *ctx, const u9_stretch *stretch)
{
    struct fsck *f = (struct fsck *)ctx;
    tool_lost_stretch(&f->lost, stretch);
    if (f->map || f->html) tool_map_stretch(&f->picture, stretch);
}

static json_t *json_output(const u9_output *o)
{
    json_t *json = json_pack("{s:s, s:o, s:I, s:o, s:o}", "type", "output", "path", tool_json_text(o->path),
                             "number", (json_int_t)o->number, "records", tool_json_number(o->records),
                             "unsigned", tool_json_number(o->unsigned_records));
    if (o->from == NULL) return json;
    json_object_set_new(json, "from", tool_json_text(o->from));
    json_object_set_new(json, "segment", tool_json_number(o->segment));
    json_object_set_new(json, "begin", tool_json_number(o->begin));
    json_object_set_new(json, "ordinal", tool_json_number(o->ordinal));
    return json;
}

/* A line of its own: whoever goes on with such a log should know. */
static void put_unsigned(FILE *out, const char *path, uint64_t records)
{
    if (records == 0) return;
    fprintf(out, "%s: %" PRIu64 " of them unsigned: whole, but nothing proves that the log's writer wrote them\n", tool_shown(path), records);
}

/* A log that was written; those beside OUT are branches, each a log of its own, told of behind the summary. */
static void on_output(void *ctx, const u9_output *o)
{
    struct fsck *f = (struct fsck *)ctx;
    if (f->json) {
        tool_put_object(json_output(o));
    } else if (o->number == 1) {
        f->main = *o;
    } else {
        FILE *out = f->branches.file ? f->branches.file : stdout;
        fprintf(out, "%s: %" PRIu64 " record%s written, re-read and verified\n%s: a branch, from record %" PRIu64
                " in %s at %" PRIu64 " on", tool_shown(o->path), o->records, tool_plural(o->records), tool_shown(o->path), o->ordinal, tool_shown(o->from), o->begin);
        putc('\n', out);
        put_unsigned(out, o->path, o->unsigned_records);
    }
}

static int on_progress(void *ctx, uint64_t done, uint64_t all)
{
    struct fsck *f = (struct fsck *)ctx;
    tool_progress_tell(&f->bar, done, all);
    return stopped || tool_stdout_failed(); /* stop, too, when nobody listens */
}

/* What -v says besides. */
static void put_details(const u9_report *r)
{
    char first[TOOL_WHEN_SIZE], last[TOOL_WHEN_SIZE], mark[TOOL_MARK_SIZE], name[TOOL_SEGMENT_SIZE], ordinals[TOOL_ORDINALS_SIZE];
    printf("  %" PRIu64 " bytes in files, %" PRIu64 " in bodies, %" PRIu64 " as stored; %" PRIu64
           " frame%s with lz4, %" PRIu64 " masked\n",
           r->bytes, r->body_bytes, r->stored_bytes, r->lz4_frames, tool_plural(r->lz4_frames),
           r->mask_frames);
    if (r->first_ordinal != TOOL_NONE)
        printf("  ordinals %s, ", tool_ordinals_text(r->first_ordinal, r->next_ordinal, ordinals));
    if (r->first_ordinal != TOOL_NONE && !r->plain)
        printf("written %s to %s, ", tool_when_text(r->first_time_us, first), tool_when_text(r->last_time_us, last));
    if (r->first_ordinal != TOOL_NONE) printf("keys: %s\n", *r->kind ? r->kind : "not known");
    if (r->trim_segment > 0)
        printf("  trimmed: kept from record %" PRIu64 " on, %s\n", r->trim_ordinal, tool_segment_text(r->trim_segment, name));
    printf("  the end is %s\n", r->plain ? "where its frames end: nothing promises one" : tool_end_text(r));
    printf("  mark: %s\n", tool_mark_text(r, mark));
}

static void put_summary(const struct fsck *f, const u9_report *r)
{
    char size[24], lost[TOOL_LOSSES_SIZE];
    const char *state = u9_verdict_name(r->verdict);
    printf("%s: %s", tool_shown(f->path),
           r->verdict == U9_V_CORRUPT ? "CORRUPT" : r->verdict == U9_V_UNKNOWN ? "UNKNOWN" : state);
    printf(": %" PRIu64 " record%s in %" PRIu64 " frame%s, %" PRIu64 " segment%s, %s", r->records,
           tool_plural(r->records), r->frames, tool_plural(r->frames), r->segments,
           tool_plural(r->segments), tool_bytes_text(r->bytes, size));
    if (r->plain) fputs("; plain seed file: no promises", stdout);
    if (r->keyless > 0)
        printf(", %" PRIu64 " value%s without a key", r->keyless, tool_plural(r->keyless));
    if (r->damages > 0)
        printf("; %" PRIu64 " damaged place%s, %s", r->damages, tool_plural(r->damages),
               tool_losses_text(&f->losses, lost));
    if (r->beyond > 0)
        printf("\n%s: %" PRIu64 " record%s more behind an unconfirmed end: --salvage saves them, too",
               tool_shown(f->path), r->beyond, tool_plural(r->beyond));
    putchar('\n');
    if (r->begins_late) printf("%s: the oldest segments are missing\n", tool_shown(f->path));
    if (f->verbose) put_details(r);
    if (f->line) tool_put_line(stdout, &f->mark, r);
}

/* The picture, in colours where they are seen, and the page. */
static int put_picture(struct fsck *f, const u9_report *r)
{
    struct winsize window = {0};
    const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");
    int terminal = isatty(STDOUT_FILENO), colour = terminal && !(plain && *plain) && term && strcmp(term, "dumb") != 0;
    if (!terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) window.ws_col = 80;
    if (f->map) tool_map_put(stdout, &f->picture, window.ws_col, colour);
    int err = f->html ? tool_map_page(f->html, &f->picture, &f->lost, f->path, r) : 0;
    return err ? tool_say(OPERATIONAL, "%s: %s", f->html, strerror(err)) : CLEAN;
}

static int put_salvaged(struct fsck *f, const u9_report *r)
{
    int status = CLEAN;
    char lost[TOOL_LOSSES_SIZE];
    printf("%s: %" PRIu64 " record%s written, re-read and verified; %s", tool_shown(f->salvage), f->main.records,
           tool_plural(f->main.records), tool_losses_text(&f->losses, lost));
    if (r->beyond > 0) printf(", %" PRIu64 " from beyond an unconfirmed end", r->beyond);
    putchar('\n');
    put_unsigned(stdout, f->salvage, f->main.unsigned_records);
    if (f->branches.file && tool_buffer_take(&f->branches)) fputs(f->branches.bytes, stdout);
    else if (f->branches.file) status = tool_say(OPERATIONAL, "out of memory for the lines of branches");
    if (r->gave_up)
        printf("%s: the search for what has no secret was given up: there may be more\n", tool_shown(f->path));
    return status;
}

static int put_json(const struct fsck *f, const u9_report *r, uint64_t salvaged)
{
    json_t *json = tool_json_lost(tool_json_report("summary", f->path, r, &f->losses), &f->lost, f->path, r);
    if (f->salvage) {
        json = tool_json_with(json, "salvage", tool_json_text(f->salvage));
        json = tool_json_with(json, "salvaged", tool_json_number(salvaged));
        json = tool_json_with(json, "unsigned", tool_json_number(r->unsigned_records));
        json = tool_json_with(json, "outputs", tool_json_number(r->outputs));
        json = tool_json_with(json, "gave_up", json_boolean(r->gave_up));
    }
    if (f->line) {
        json_object_set_new(json, "line", json_string(tool_line_name(r->line)));
        json_object_set_new(json, "proven_from", tool_json_number(r->proven_from));
        json_object_set_new(json, "proven_to", tool_json_number(r->line == U9_LINE_MET ? f->mark.ordinal : TOOL_NONE));
    }
    return tool_put_object(json) == TOOL_DONE ? CLEAN : OPERATIONAL;
}

/* What the check says, and the line: damage before all. */
static int status_of(const struct fsck *f, const u9_report *r)
{
    if (r->verdict >= U9_V_UNKNOWN || r->line == U9_LINE_FOREIGN) return LEFT;
    if (r->line == U9_LINE_GONE) return UNPROVABLE;
    return r->line == U9_LINE_MET && r->proven_from > f->mark.first_ordinal ? LATER : CLEAN;
}

/* OUT without the slashes it may end in: what stands before ".partial". */
static int out_size(const struct fsck *f)
{
    size_t size = strlen(f->salvage);
    while (size > 1 && f->salvage[size - 1] == '/') size--;
    return (int)size;
}

static int has_partial(const struct fsck *f)
{
    char *path;
    struct stat st;
    if (asprintf(&path, "%.*s.partial", out_size(f), f->salvage) < 0) return 0;
    int there = lstat(path, &st) == 0;
    free(path);
    return there;
}

/* OUT must be new: nothing is ever overwritten. */
static int check_out(const struct fsck *f)
{
    struct stat in, out;
    if (lstat(f->salvage, &out) != 0) {
        if (errno == ENOENT) return CLEAN;
        return tool_say(OPERATIONAL, "%s: %s", f->salvage, strerror(errno));
    }
    if (stat(f->path, &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
        return tool_say(OPERATIONAL, "%s: is the log itself: salvage writes a new one", f->salvage);
    return tool_say(OPERATIONAL, "%s: already exists: salvage writes a new log", f->salvage);
}

/* It did not come to its end: why, and what there is of OUT. */
static int put_failure(const struct fsck *f, const u9_fault *fault, uint64_t salvaged)
{
    char line[1024];
    struct stat file;
    int size = f->salvage ? out_size(f) : 0;
    if (stopped)
        tool_say(0, "stopped by %s before the end", stopped == SIGINT ? "SIGINT" : "SIGTERM");
    else if (tool_stdout_failed())
        ; /* tool_finish says why */
    else if (!f->salvage && fault->err == U9_CORRUPT && strcmp(fault->rule, "H-1") == 0 && stat(f->path, &file) == 0 &&
             file.st_size > 0)
        tool_say(tool_say(0, "%s", u9_fault_line(fault, line, sizeof line)),
                 "of one that was a segment --salvage OUT finds the frames; --carve OUT finds logs in any bytes");
    else
        tool_read_fault(f->path, fault);
    if (!stopped && f->salvage) tool_say_unharmed(f->path, f->salvage, fault);
    if (!stopped && strcmp(fault->rule, "M-6") == 0 && tool_other_files(f->path))
        tool_say(0, "%s: there are other files in it: --carve OUT finds logs in them, whatever they are called", f->path);
    if (f->salvage && (salvaged > 0 || (!f->partial && has_partial(f))))
        tool_say(0, "%s is incomplete: %.*s.partial holds %" PRIu64 " of the records", f->salvage,
                 size, f->salvage, salvaged);
    return stopped ? CANCELLED : OPERATIONAL;
}

static int run(struct fsck *f)
{
    u9_fault fault;
    u9_report report = {.size = sizeof report};
    uint64_t salvaged = 0;
    u9_check_options options = {.size = sizeof options, .on_damage = on_damage,
                                .on_progress = on_progress, .ctx = f, .on_output = on_output,
                                .mark = f->line ? &f->mark : NULL, .on_stretch = on_stretch, .threads = f->jobs};
    f->lost.tried.saved = f->salvage != NULL;
    int status = f->salvage ? check_out(f) : CLEAN;
    if (status != CLEAN) return status;
    f->partial = f->salvage && has_partial(f);
    if (f->salvage) (void)!tool_buffer_open(&f->branches);
    tool_progress_begin(&f->bar, !f->quiet);
    u9_err err = f->salvage ? u9_salvage(f->path, f->salvage, &options, &report, &salvaged, &fault)
                            : u9_check(f->path, &options, &report, &fault);
    tool_progress_end(&f->bar);
    if (err != U9_OK) return put_failure(f, &fault, salvaged);
    if (tool_stdout_failed()) return OPERATIONAL; /* tool_finish says why */
    report.verdict = f->worst;
    report.damages -= report.line == U9_LINE_FOREIGN;
    if (f->json) {
        status = put_json(f, &report, salvaged);
    } else if (!f->quiet) {
        put_summary(f, &report);
        tool_put_unconfirmed(f->path, &report);
        if (f->salvage) status |= put_salvaged(f, &report);
        else tool_put_lost(stdout, &f->lost, f->path, &report);
    }
    if (f->map || f->html) status |= put_picture(f, &report);
    return status | status_of(f, &report);
}

static const char *const losses[] = {
    [U9_LOSS_NONE] = "none", [U9_LOSS_FOUND] = "found", [U9_LOSS_ACCEPTED] = "accepted", [U9_LOSS_DAMAGE] = "damage",
};

static void put_loss(const struct fsck *f, const u9_loss *l, const u9_tails *t)
{
    char when[TOOL_WHEN_SIZE], name[TOOL_SEGMENT_SIZE];
    int done = l->state == U9_LOSS_ACCEPTED;
    if (f->accept && l->state == U9_LOSS_NONE && t->segment == 0) printf("%s: meets its mark: there is no loss to accept\n", tool_shown(f->path));
    if (f->accept && l->state == U9_LOSS_DAMAGE)
        printf("%s: the place of its mark is damaged, and the log goes on behind it: no loss to accept\n", tool_shown(f->path));
    if (l->state != U9_LOSS_FOUND && !done) return;
    printf("%s: ", tool_shown(f->path));
    printf(done ? "given up " : "--accept-loss would give up ");
    if (l->lost > 0)
        printf("%" PRIu64 " record%s from %" PRIu64 " on,", l->lost, tool_plural(l->lost), l->next_ordinal);
    else
        printf("the end as it was, with no fewer records than are here,");
    printf(" which its mark promised\n%s: the mark is of %s; the log %s at record %" PRIu64, tool_shown(f->path),
           tool_when_text(l->mark.time_us, when), done ? "goes on" : "would go on", l->next_ordinal);
    if (done) printf(" in %s\n%s: the old mark is kept as %s/%s", tool_segment_text(l->segment, name), tool_shown(f->path), tool_shown(f->path), l->kept);
    putchar('\n');
}

static int put_json_loss(const struct fsck *f, const u9_loss *l)
{
    json_t *json = tool_json_mark("repair", f->path, &l->mark);
    int done = l->state == U9_LOSS_ACCEPTED, found = done || l->state == U9_LOSS_FOUND;
    json_object_set_new(json, "state", json_string(losses[l->state]));
    json_object_set_new(json, "next_ordinal", tool_json_number(found ? l->next_ordinal : TOOL_NONE));
    json_object_set_new(json, "lost", tool_json_number(found ? l->lost : TOOL_NONE));
    json_object_set_new(json, "new_segment", tool_json_number(done ? l->segment : TOOL_NONE));
    json_object_set_new(json, "kept", done ? json_string(l->kept) : json_null());
    return tool_put_object(json) == TOOL_DONE ? CLEAN : OPERATIONAL;
}

/* Ends that were unknown, and are accepted now. */
static int put_tails(const struct fsck *f, const u9_tails *t)
{
    char name[TOOL_SEGMENT_SIZE];
    if (f->json) {
        json_t *json = json_pack("{s:s, s:o, s:o, s:o}", "type", "accepted", "path", tool_json_text(f->path), "ends",
                                 tool_json_number(t->count), "new_segment", tool_json_number(t->segment));
        return tool_put_object(json) == TOOL_DONE ? CLEAN : OPERATIONAL;
    }
    printf("%s: accepted %" PRIu64 " end%s that nobody can judge: they are told no more, as %s says\n", tool_shown(f->path), t->count,
           tool_plural(t->count), tool_segment_text(t->segment, name));
    return CLEAN;
}

static int is_stopped(void)
{
    return stopped;
}

/* What is given up: what the mark promises, and unknown ends. */
typedef struct giving {
    u9_loss loss;
    u9_tails tails;
    int refused;    /* not 0: nothing is, and the fault says why; so does the check, unless that fails by the same */
    u9_fault fault;
} giving;

/* A log that nobody writes to: the check says so as well. */
static int is_refusal(u9_err err, const u9_fault *fault)
{
    return err == U9_ABSENT || err == U9_CORRUPT || err == U9_ARG || (err == U9_IO && strcmp(fault->rule, "R-11") == 0);
}

/* Gives up what can be, if that was asked for; else looks only whether the log is older than its mark. */
static int give_up(struct fsck *f, giving *g)
{
    *g = (giving){.loss.size = sizeof g->loss, .tails.size = sizeof g->tails};
    u9_fault why;
    u9_err err = u9_accept_loss(f->path, f->accept, NULL, &g->loss, &g->fault), tails = U9_OK;
    g->refused = err == U9_ABSENT || err == U9_CORRUPT;
    if (err != U9_OK && !g->refused) return tool_fault(&g->fault), OPERATIONAL;
    if (f->accept) tails = u9_accept_tails(f->path, 1, NULL, &g->tails, &why);
    if (tails != U9_OK && !is_refusal(tails, &why)) return tool_fault(&why), OPERATIONAL;
    f->lost.tried.loss_known = 1;
    f->lost.tried.loss = g->loss.state;
    f->lost.tried.accepted = f->accept;
    return g->loss.state == U9_LOSS_ACCEPTED || g->tails.segment != 0 ? CORRECTED : CLEAN;
}

static int put_given(const struct fsck *f, const giving *g)
{
    int status = CLEAN;
    if (f->json && !g->refused) status |= put_json_loss(f, &g->loss);
    if (!f->json && !g->refused && (!f->quiet || g->loss.state == U9_LOSS_ACCEPTED)) put_loss(f, &g->loss, &g->tails);
    if (g->tails.segment != 0) status |= put_tails(f, &g->tails);
    return status;
}

/* Mends what can be; gives up what can be, if that was asked for; and checks what there is then. */
static int run_repair(struct fsck *f)
{
    giving given;
    int status = f->accept && f->modes == 0 ? CLEAN : tool_repair_log(&f->mending, &f->lost.tried);
    if ((status & CANCELLED) || (status & (OPERATIONAL | CORRECTED)) == OPERATIONAL) return status;
    if (status & OPERATIONAL) return status | run(f); /* mended, but an index could not be made: nothing more is done */
    status |= give_up(f, &given);
    if (!(status & OPERATIONAL) || given.loss.state == U9_LOSS_ACCEPTED) status |= put_given(f, &given);
    if (status & OPERATIONAL) return status;
    int checked = run(f), said = !f->accept || f->quiet || f->json || given.tails.segment != 0;
    status |= checked;
    if (given.refused && f->accept && given.tails.segment == 0 && !(checked & OPERATIONAL))
        tool_say(0, "%s: nothing is given up: %s", f->path, given.fault.text);
    else if (!given.refused && !said && given.loss.state != U9_LOSS_FOUND && (status & LEFT))
        tool_say(0, "%s: the damage that is left is not repaired here: only what the mark promises is given up, and unknown ends", f->path);
    return status;
}

static int run_any(struct fsck *f)
{
    f->mending.path = f->path;
    f->mending.json = f->json;
    f->mending.quiet = f->quiet;
    f->mending.stopped = is_stopped;
    if (f->carve) return tool_carve(f->path, f->carve, f->json, f->quiet, is_stopped);
    if (f->undo) return tool_undo_repair(&f->mending);
    return f->repair ? run_repair(f) : run(f);
}

enum { SALVAGE = 256, MARK, REPAIR, ACCEPT, CARVE, UNDO, HEAL, LINKED, JSON, MAP, HTML };

static const struct argp_option option_table[] = {
    {"salvage", SALVAGE, "OUT", 0, "Copy all records that are whole to a new log OUT", 0},
    {"json", JSON, 0, 0, "A JSON object for each damage, then one that sums up", 0},
    {"jobs", 'j', "N", 0, "Check with N threads; as many as there are processors", 0},
    {"map", MAP, 0, 0, "Draw the log: a cell for each stretch", 0},
    {"html", HTML, "FILE", 0, "Write a page with the picture, what is damaged and what is lost to FILE, which must be new; - is standard output", 0},
    {"quiet", 'q', 0, 0, "Print damage only: no notes, no summary, no progress", 0},
    {"verbose", 'v', 0, 0, "Print more about a log", 0},
    {"mark", MARK, "LINE|FILE", 0, "Prove that all up to LINE, which `u9 mark` printed (or FILE holds; - is standard "
     "input), is what was there", 0},
    {"repair", REPAIR, 0, 0, "Mend LOG in place where that can be proven, and say whether it is older than its mark", 0},
    {NULL, 'n', 0, 0, "With --repair: change nothing, say what could be mended (the default)", 0},
    {NULL, 'p', 0, 0, "With --repair: mend what changes nothing that readers see; make missing indexes", 0},
    {NULL, 'y', 0, 0, "With --repair: mend all, also what brings records back", 0},
    {"heal", HEAL, "TIME", OPTION_ARG_OPTIONAL, "With --repair: look for flipped bits in payloads, for TIME at most (60s)", 0},
    {"linked", LINKED, 0, 0, "With --repair and --undo: also files with other names (hard links), which change with it, and what symbolic links lead to", 0},
    {"undo", UNDO, 0, 0, "Put back what the last --repair changed", 0},
    {"accept-loss", ACCEPT, 0, 0, "With --repair: give up for good what the mark of LOG promises and is not there, and accept ends that are UNKNOWN", 0},
    {"carve", CARVE, "OUT", 0, "Find the logs in LOG, any file (a disk image) or directory of files, and write each to a "
     "directory of its own in OUT", 0},
    {0},
};

static unsigned parse_jobs(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || n == 0 || n > 1024) tool_usage("-j: '%s' is not a number of threads", text);
    return (unsigned)n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct fsck *f = (struct fsck *)state->input;
    switch (key) {
    case SALVAGE: f->salvage = arg; break;
    case JSON: f->json = 1; break;
    case 'j': f->jobs = parse_jobs(arg); break;
    case MAP: f->map = 1; break;
    case HTML: f->html = arg; break;
    case 'q': f->quiet = 1; break;
    case 'v': f->verbose = 1; break;
    case MARK: f->line = arg; break;
    case REPAIR: f->repair = 1; break;
    case ACCEPT: f->accept = 1; break;
    case 'n': f->mending.mode = TOOL_MEND_SAY; f->modes++; break;
    case 'p': f->mending.mode = TOOL_MEND_SAFE; f->modes++; break;
    case 'y': f->mending.mode = TOOL_MEND_ALL; f->modes++; break;
    case HEAL:
        f->mending.heal_ms = tool_parse_span_ms(arg ? arg : "60s");
        if (f->mending.heal_ms == 0) tool_usage("--heal: '%s' is not a time: 30s, 10m, 2h", arg);
        break;
    case LINKED: f->mending.linked = 1; break;
    case UNDO: f->undo = 1; break;
    case CARVE: f->carve = arg; break;
    case ARGP_KEY_END:
        if (f->salvage && !*f->salvage) tool_usage("--salvage: OUT is empty");
        if (f->salvage && (f->map || f->html)) tool_usage("--map and --html go without --salvage");
        if ((f->carve || f->undo) && (f->map || f->html)) tool_usage("--map and --html go without --carve and --undo");
        if (f->map && f->json) tool_usage("--map goes without --json");
        if (f->html && !*f->html) tool_usage("--html: FILE is empty");
        if (f->html && strcmp(f->html, "-") == 0) {
            if (f->json || f->map) tool_usage("--html - goes without --json and --map: the page is all that is printed");
            f->quiet = f->page = 1;
            tool_unfold();
        }
        if (f->accept && !f->repair) tool_usage("--accept-loss goes with --repair");
        if (f->repair && (f->salvage || f->line)) tool_usage("--repair goes without --salvage and --mark");
        if ((f->modes || f->mending.heal_ms) && !f->repair) tool_usage("-n, -p, -y and --heal go with --repair");
        if (f->mending.linked && !f->repair && !f->undo) tool_usage("--linked goes with --repair and --undo");
        if (f->modes > 1) tool_usage("one of -n, -p and -y");
        if (f->accept && f->modes && f->mending.mode == TOOL_MEND_SAY) tool_usage("-n changes nothing, and --accept-loss does: without it -n says what would be given up");
        if (f->carve && !*f->carve) tool_usage("--carve: OUT is empty");
        if ((f->carve || f->undo) && (f->repair || f->salvage || f->line || (f->carve && f->undo)))
            tool_usage("--carve and --undo each go by themselves");
        break;
    default: return tool_argp_log(key, arg, state, &f->path);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG",
        "Checks every byte of LOG (a directory or one segment file): what is damaged, by which "
        "rule, and which records are lost. Changes nothing, but with -p, -y, --undo and --accept-loss.\v"
        "Exit status: 0 clean (a torn tail, what a crash leaves, is clean), 1 repaired, 4 damage is left, 8 "
        "operational error, 16 wrong usage, 32 stopped by a signal; bits add up. With --mark: 0 all is proven that was "
        "kept then, 4 the log does not meet LINE or is damaged, 3 it does, but less is kept now, 1 its place was "
        "trimmed, so it can no longer be proven. OUT gets its name when all "
        "of it is written and verified; until then it is OUT.partial, which the next run replaces. What does not go "
        "together with the log's row of segments (a copy that went on by itself, frames without a secret that have "
        "several boundaries) goes into logs of its own: OUT.fork-2, OUT.fork-3 ... A segment is called as its file is, by its "
        "number in 16 hexadecimal digits: 0000000000000010.u9 is segment 16, as JSON has it.",
        NULL, NULL, NULL};
    static char name[] = "u9fsck";
    static struct fsck f; /* large, for a stack */
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    f.jobs = processors > 1 ? (unsigned)processors : 1;
    tool_begin(name, USAGE, OPERATIONAL, argv);
    tool_fold(&stdout);
    tool_load_stores(argc, argv, OPERATIONAL);
    argv[0] = name;
    tool_parse(&parser, argc, argv, &f);
    catch_signals();
    int status = f.line ? tool_mark_parse(f.line, &f.mark, OPERATIONAL) : CLEAN;
    if (status == CLEAN) status = run_any(&f);
    tool_buffer_close(&f.branches);
    tool_map_release(&f.picture);
    return tool_finish(0) == 0 ? status : status | OPERATIONAL;
}
