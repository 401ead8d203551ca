/*
 * tools/fsck.c: u9fsck: is a log whole, what is lost and why, and saving the rest.
 *
 * Reads only; --salvage writes a new log beside it and never touches what is there. Exit status as
 * in fsck(8): 0 clean (a torn tail is clean), 4 damage is left, 8 operational error, 16 usage; bits
 * add up. Damage and summary are results and go to standard output, a line (or JSON object) each.
 */
#include "tools/common.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CLEAN = 0, LEFT = 4, OPERATIONAL = 8, USAGE = 16 };

struct fsck {
    const char *path;
    const char *salvage; /* NULL: check only */
    int json, quiet, verbose;
    uint64_t unknown; /* damages that lost an unknown number of records */
    tool_progress bar;
};

static json_t *json_damage(const u9_damage *d)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:b}", "type",
                     "damage", "path", tool_json_text(d->path), "segment",
                     tool_json_number(d->segment), "begin", tool_json_number(d->begin), "end",
                     tool_json_number(d->end), "verdict", u9_verdict_name(d->verdict), "reason",
                     u9_reason_name(d->reason), "text", u9_reason_text(d->reason), "rule",
                     u9_reason_rule(d->reason), "ordinal", tool_json_number(d->ordinal), "lost",
                     tool_json_number(d->lost), "at_most", d->at_most);
}

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct fsck *f = (struct fsck *)ctx;
    int bad = damage->verdict >= U9_V_UNKNOWN;
    tool_progress_end(&f->bar);
    if (bad && damage->lost == TOOL_NONE) f->unknown++;
    if (f->json) {
        tool_put_object(json_damage(damage));
        return;
    }
    if (f->quiet && !bad) return;
    if (!bad) fputs("note: ", stdout);
    tool_put_damage(stdout, damage);
}

static int on_progress(void *ctx, uint64_t done, uint64_t all)
{
    struct fsck *f = (struct fsck *)ctx;
    tool_progress_tell(&f->bar, done, all);
    return tool_stdout_failed(); /* nobody listens: stop */
}

/* What -v says besides. */
static void put_details(const u9_report *r)
{
    char first[48], last[48];
    printf("  %" PRIu64 " bytes in files, %" PRIu64 " in bodies, %" PRIu64 " as stored; %" PRIu64
           " frames with lz4, %" PRIu64 " masked\n",
           r->bytes, r->body_bytes, r->stored_bytes, r->lz4_frames, r->mask_frames);
    if (r->first_ordinal != TOOL_NONE)
        printf("  ordinals %" PRIu64 "..%" PRIu64 ", written %s to %s, keys: %s\n",
               r->first_ordinal, r->next_ordinal - 1, tool_time_text(r->first_time_us, first),
               tool_time_text(r->last_time_us, last), *r->kind ? r->kind : "not known");
    printf("  the end is %s\n", r->closed      ? "closed"
                                : r->confirmed ? "confirmed"
                                               : "not confirmed: the writer did not close");
}

static void put_summary(const struct fsck *f, const u9_report *r)
{
    char size[24];
    const char *state = u9_verdict_name(r->verdict);
    printf("%s: %s", f->path,
           r->verdict == U9_V_CORRUPT ? "CORRUPT" : r->verdict == U9_V_UNKNOWN ? "UNKNOWN" : state);
    printf(": %" PRIu64 " records in %" PRIu64 " frames, %" PRIu64 " segment%s, %s", r->records,
           r->frames, r->segments, r->segments == 1 ? "" : "s", tool_bytes_text(r->bytes, size));
    if (r->damages > 0) {
        printf("; %" PRIu64 " damaged place%s, %s%" PRIu64 " records lost", r->damages,
               r->damages == 1 ? "" : "s", f->unknown ? "at least " : "", r->lost);
    }
    if (r->beyond > 0)
        printf("; %" PRIu64 " records behind an unconfirmed end (--salvage saves them)", r->beyond);
    putchar('\n');
    if (f->verbose) put_details(r);
}

static void put_salvaged(const struct fsck *f, const u9_report *r, uint64_t salvaged)
{
    printf("%s: %" PRIu64 " records written, re-read and verified; %s%" PRIu64 " lost, %" PRIu64
           " from beyond an unconfirmed end\n",
           f->salvage, salvaged, f->unknown ? "at least " : "", r->lost, r->beyond);
}

static int put_json(const struct fsck *f, const u9_report *r, uint64_t salvaged)
{
    json_t *json = tool_json_report("summary", f->path, r);
    json_object_set_new(json, "unknown_losses", tool_json_number(f->unknown));
    if (f->salvage) {
        json_object_set_new(json, "salvage", tool_json_text(f->salvage));
        json_object_set_new(json, "salvaged", tool_json_number(salvaged));
    }
    return tool_put_object(json) == TOOL_DONE ? CLEAN : OPERATIONAL;
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

static int run(struct fsck *f)
{
    u9_fault fault;
    u9_report report = {.size = sizeof report};
    uint64_t salvaged = 0;
    u9_check_options options = {.size = sizeof options, .on_damage = on_damage,
                                .on_progress = on_progress, .ctx = f};
    int status = f->salvage ? check_out(f) : CLEAN;
    if (status != CLEAN) return status;
    tool_progress_begin(&f->bar, !f->quiet);
    u9_err err = f->salvage ? u9_salvage(f->path, f->salvage, &options, &report, &salvaged, &fault)
                            : u9_check(f->path, &options, &report, &fault);
    tool_progress_end(&f->bar);
    if (tool_stdout_failed()) return OPERATIONAL; /* tool_finish says why */
    if (err != U9_OK) {
        tool_fault(&fault);
        return OPERATIONAL;
    }
    if (f->json) {
        status = put_json(f, &report, salvaged);
    } else if (!f->quiet) {
        put_summary(f, &report);
        if (f->salvage) put_salvaged(f, &report, salvaged);
    }
    return status | (report.verdict >= U9_V_UNKNOWN ? LEFT : CLEAN);
}

enum { SALVAGE = 256, JSON, REPAIR, CARVE };

static const struct argp_option option_table[] = {
    {"salvage", SALVAGE, "OUT", 0, "Copy all records that are whole into a new log OUT", 0},
    {"json", JSON, 0, 0, "A JSON object for each damage, then one that sums up", 0},
    {"quiet", 'q', 0, 0, "Print damage only: no notes, no summary, no progress", 0},
    {"verbose", 'v', 0, 0, "Print more about a log", 0},
    {"repair", REPAIR, 0, 0, "Not in this version", 0},
    {"carve", CARVE, "OUT", 0, "Not in this version", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct fsck *f = (struct fsck *)state->input;
    switch (key) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case SALVAGE: f->salvage = arg; break;
    case JSON: f->json = 1; break;
    case 'q': f->quiet = 1; break;
    case 'v': f->verbose = 1; break;
    case REPAIR: tool_usage("--repair is not in this version; --salvage saves what is whole");
    case CARVE: tool_usage("--carve is not in this version; --salvage saves what is whole");
    case ARGP_KEY_ARG:
        if (state->arg_num > 0) tool_usage("one LOG only: '%s' is too much", arg);
        f->path = arg;
        break;
    case ARGP_KEY_NO_ARGS: tool_usage("no LOG given");
    case ARGP_KEY_END:
        if (f->salvage && !*f->salvage) tool_usage("--salvage: OUT is empty");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG",
        "Checks every byte of LOG (a directory or one segment file): what is damaged, by which "
        "rule, and which records are lost. Changes nothing.\v"
        "Exit status: 0 clean (a torn tail, what a crash leaves, is clean), 4 damage is left, 8 "
        "operational error, 16 wrong usage.",
        NULL, NULL, NULL};
    static char name[] = "u9fsck";
    struct fsck f = {0};
    tool_begin(name, USAGE);
    argv[0] = name;
    argp_parse(&parser, argc, argv, 0, NULL, &f);
    int status = run(&f);
    return tool_finish(0) == 0 ? status : status | OPERATIONAL;
}
