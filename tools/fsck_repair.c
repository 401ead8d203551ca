/*
 * tools/fsck_repair.c: see fsck_repair.h.
 */
#include "tools/fsck_repair.h"

#include "tools/buffer.h"
#include "tools/json.h"
#include "tools/text.h"
#include "tools/tool.h"

#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t tool_parse_span_ms(const char *text)
{
    static const struct {
        const char *unit;
        uint64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"", 1000}, {"m", 60000}, {"h", 3600000}};
    char *end;
    if (*text < '0' || *text > '9') return 0;
    uint64_t n = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0) return n <= UINT64_C(1000000) ? n * units[i].ms : 0;
    return 0;
}

static const char *const sentences[] = {
    [U9_REPAIR_HEADER] = "the disk header is written anew: its secret is known",
    [U9_REPAIR_ZEROS] = "bytes that are not as they should be, and hold no record, are made zero",
    [U9_REPAIR_NAME] = "the file gets the name of its number",
    [U9_REPAIR_FRAME] = "a frame's header or trailer is put together again: its hashes fit",
    [U9_REPAIR_BIT] = "the flipped bit in a payload was found: its hash fits again",
    [U9_REPAIR_INDEX] = "an index, by which keys are found",
};

/* What a snapshot shares, or a link leads to, would be changed with the log. [U-1] */
static bool has_other_names(const u9_repair_step *s)
{
    struct stat st;
    return s->kind != U9_REPAIR_INDEX && s->to == NULL && lstat(s->path, &st) == 0 && (st.st_nlink > 1 || S_ISLNK(st.st_mode));
}

static void on_step(void *ctx, const u9_repair_step *s)
{
    tool_repair *r = ctx;
    r->safe += s->safe && s->kind != U9_REPAIR_INDEX;
    r->shared |= has_other_names(s);
    int doing = r->mode == TOOL_MEND_ALL || (r->mode == TOOL_MEND_SAFE && s->safe);
    if (r->json) {
        json_t *json = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:b}", "type", "step", "kind", u9_repair_name(s->kind),
                                 "path", tool_json_text(s->path), "segment", tool_json_number(s->segment), "begin",
                                 tool_json_number(s->begin), "end", tool_json_number(s->end), "safe", s->safe, "doing", doing);
        if (s->to) json_object_set_new(json, "to", tool_json_text(s->to));
        tool_put_object(json);
        return;
    }
    if (r->quiet) return;
    int index = s->kind == U9_REPAIR_INDEX, ranged = !index && s->to == NULL;
    const char *verb = index ? "make" : "mend"; /* an index is none of the log's bytes, and nothing was wrong with them */
    fprintf(r->told, doing ? "%s" : s->safe ? "could %s (-p)" : "could %s (-y)", verb);
    fprintf(r->told, ": %s: %s", tool_shown(s->path), sentences[s->kind]);
    if (s->to) fprintf(r->told, ": %s", tool_shown(s->to));
    if (ranged) fprintf(r->told, ", [%" PRIu64 ",%" PRIu64 ")", s->begin, s->end);
    putc('\n', r->told);
}

/* A search takes its time, in which nothing else is seen of it. */
static int on_progress(void *ctx, uint64_t ms, uint64_t of_ms)
{
    const tool_repair *r = ctx;
    if (!r->quiet && isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s: looks for flipped bits, %" PRIu64 " s of %" PRIu64, tool_name(), ms / 1000, of_ms / 1000);
    return r->stopped();
}

static void end_progress(const tool_repair *r)
{
    if (r->heal_ms > 0 && !r->quiet && isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

/* Files with other names, in a snapshot as a rule, and symbolic links. */
static void say_linked(const u9_fault *fault)
{
    if (fault->err == U9_STATE && strcmp(fault->rule, "U-1") == 0)
        tool_say(0, "with --linked all its names are changed at once, or what it leads to; a copy of the log (cp -RL) is changed by itself");
}

static void put_tries(const tool_repair *t, const u9_repair_report *r)
{
    if (r->tries == 0) return;
    printf("%s: %" PRIu64 " bit%s tried", tool_shown(t->path), r->tries, tool_plural(r->tries));
    if (r->tries_us > 0) printf(", %" PRIu64 " a second", (uint64_t)((double)r->tries * 1e6 / (double)r->tries_us));
    if (r->gave_up) printf(": the time for that was over before all were");
    putchar('\n');
}

static void put_repair(const tool_repair *t, const u9_repair_report *r)
{
    uint64_t all = r->steps + r->left;
    int say = t->mode == TOOL_MEND_SAY;
    if (r->finished) printf("%s: an earlier repair was broken off, and was brought to its end\n", tool_shown(t->path));
    printf("%s: ", tool_shown(t->path));
    if (all == 0) printf("nothing is found that can be mended");
    else if (say) printf("%" PRIu64 " place%s can be mended", all, tool_plural(all));
    else if (r->steps == 0) printf("nothing is mended");
    else printf("%" PRIu64 " place%s mended", r->steps, tool_plural(r->steps));
    if (!say && r->left > 0)
        printf(", %" PRIu64 "%s can be, which brings records back (-y)", r->left, r->steps > 0 ? " more" : "");
    if (r->regained > 0)
        printf(", %" PRIu64 " record%s %s back", r->regained, tool_plural(r->regained), say ? "would come" : "came");
    if (r->indexes > 0) printf("%s %" PRIu64 " index%s %s", all == 0 ? "; but" : ",", r->indexes, r->indexes == 1 ? "" : "es",
                               say ? "can be made (-p)" : "made");
    if (say && all > 0) printf("; nothing was changed");
    if (r->saved[0] && r->steps == 0) printf("; --undo takes that back (%s)", tool_shown(r->saved));
    else if (r->saved[0]) printf("; the bytes before are in %s, --undo puts them back", tool_shown(r->saved));
    putchar('\n');
    put_tries(t, r);
}

static int put_json_repair(const tool_repair *t, const u9_repair_report *r)
{
    json_t *json = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o}", "type", "repaired", "path",
                             tool_json_text(t->path), "steps", tool_json_number(r->steps), "left", tool_json_number(r->left),
                             "records", tool_json_number(r->records), "regained", tool_json_number(r->regained), "indexes",
                             tool_json_number(r->indexes), "tries", tool_json_number(r->tries), "tries_us",
                             tool_json_number(r->tries_us), "gave_up", r->gave_up, "finished", r->finished, "saved",
                             r->saved[0] ? tool_json_text(r->saved) : json_null());
    return tool_put_object(json) == TOOL_DONE ? TOOL_FSCK_CLEAN : TOOL_FSCK_OPERATIONAL;
}

/* What could still be done by a further step. */
static void note_tried(const tool_repair *t, const u9_repair_report *r, tool_tried *tried)
{
    tried->ran = 1;
    tried->heal = t->heal_ms > 0;
    tried->gave_up = r->gave_up;
    tried->shared = t->shared;
    if (t->mode == TOOL_MEND_SAY) tried->safe = t->safe;
    if (t->mode == TOOL_MEND_SAY) tried->unsafe = r->steps - t->safe;
    else tried->unsafe = r->left;
}

/* It did not come to its end, and the log may have been mended all the same. */
static int put_failure(const tool_repair *t, const u9_repair_report *r, const u9_fault *fault)
{
    char word[TOOL_COMMAND_WORD_SIZE];
    tool_fault(fault);
    say_linked(fault);
    if (fault->err == U9_CORRUPT && strcmp(fault->rule, "U-1") == 0)
        tool_say(0, "%s: u9fsck --salvage OUT %s copies what is whole to a new log", t->path, tool_command_word(t->path, word));
    if (fault->err == U9_IO && r->saved[0] == 0 && !r->finished) tool_say(0, "%s: nothing of it was changed", t->path);
    return TOOL_FSCK_OPERATIONAL;
}

int tool_repair_log(const tool_repair *t, tool_tried *tried)
{
    u9_fault fault;
    tool_repair own = *t;
    u9_repair_report report = {.size = sizeof report};
    u9_repair_options o = {.size = sizeof o, .on_step = on_step, .on_progress = on_progress, .ctx = &own,
                           .dry = t->mode == TOOL_MEND_SAY, .all = t->mode != TOOL_MEND_SAFE, .linked = t->linked, .indexes = 1, .heal_ms = t->heal_ms};
    tool_buffer steps; /* what is said to be done was done */
    if (!tool_buffer_open(&steps)) return tool_say(TOOL_FSCK_OPERATIONAL, "out of memory for the steps");
    own.told = steps.file;
    u9_err err = u9_repair(t->path, &o, &report, &fault);
    end_progress(t);
    int told = tool_buffer_take(&steps) ? TOOL_FSCK_CLEAN : tool_say(TOOL_FSCK_OPERATIONAL, "out of memory: not all steps are told");
    if (err == U9_OK || report.saved[0]) fputs(steps.bytes, stdout);
    tool_buffer_close(&steps);
    if (err == U9_OK) note_tried(&own, &report, tried);
    if (err == U9_STATE && t->stopped())
        return tool_say(TOOL_FSCK_CANCELLED, report.finished ? "%s: stopped behind the end of an earlier repair"
                                                             : "%s: stopped, and nothing of it was changed", t->path);
    if (err == U9_CORRUPT && (o.dry || strcmp(fault.rule, "M-6") == 0)) /* M-6: there is no segment, but perhaps a mark */
        return TOOL_FSCK_CLEAN; /* the check will say what that is */
    int mended = report.steps > 0 || report.finished, status = told;
    if (err != U9_OK) status |= put_failure(t, &report, &fault);
    if (err != U9_OK && !mended) return status;
    if (t->json) status |= put_json_repair(t, &report);
    else if (!t->quiet) put_repair(t, &report);
    return status | (mended && !o.dry ? TOOL_FSCK_CORRECTED : TOOL_FSCK_CLEAN); /* an index that was made is no repair */
}

/* True if a repair of a log's directory is saved yet that could be undone, too. */
static bool more_is_saved(const char *path)
{
    bool found = false;
    const struct dirent *e;
    DIR *dir = opendir(path);
    if (dir == NULL) return false; /* a single file, or a log elsewhere */
    while (!found && (e = readdir(dir)) != NULL) found = strncmp(e->d_name, ".repair-", 8) == 0 && strchr(e->d_name + 8, '.') == NULL;
    closedir(dir);
    return found;
}

int tool_undo_repair(const tool_repair *t)
{
    u9_fault fault;
    uint64_t steps = 0;
    u9_err err = u9_undo(t->path, NULL, t->linked, &steps, &fault);
    if (err != U9_OK) {
        tool_fault(&fault);
        say_linked(&fault);
        return TOOL_FSCK_OPERATIONAL;
    }
    if (t->json) {
        json_t *json = json_pack("{s:s, s:o, s:o}", "type", "undone", "path", tool_json_text(t->path), "steps",
                                 tool_json_number(steps));
        return tool_put_object(json) == TOOL_DONE ? TOOL_FSCK_CORRECTED : TOOL_FSCK_OPERATIONAL;
    }
    if (!t->quiet && steps > 0)
        printf("%s: %" PRIu64 " place%s as before that repair; indexes that it made are gone\n", tool_shown(t->path),
               steps, steps == 1 ? " is" : "s are");
    else if (!t->quiet && !*fault.text) printf("%s: the indexes that the last repair made are gone\n", tool_shown(t->path));
    if (!t->quiet && *fault.text) printf("%s: %s\n", tool_shown(t->path), tool_shown(fault.text));
    if (!t->quiet && more_is_saved(t->path)) printf("%s: once more --undo takes back the repair before that\n", tool_shown(t->path));
    return TOOL_FSCK_CORRECTED;
}
