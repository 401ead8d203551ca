/*
 * tools/verb_snapshot.c: `u9 snapshot`: a copy of a log as it is now, while it is written.
 */
#include "tools/damage.h"
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/stop.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

#include <inttypes.h>
#include <string.h>

struct snapshot {
    const char *path, *dir;
    int json, verbose;
    u9_snapshot_options options;
    u9_snapshot_report report;
    tool_progress bar;
    tool_losses losses;
};

static int on_progress(void *ctx, uint64_t done, uint64_t all)
{
    struct snapshot *s = (struct snapshot *)ctx;
    tool_progress_tell(&s->bar, done, all);
    return tool_stopped() != 0;
}

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct snapshot *s = (struct snapshot *)ctx;
    int lost = 0;
    if (damage->verdict == U9_V_TORN && damage->reason == U9_R_UNCLOSED) return; /* so is any log that is being written */
    tool_progress_end(&s->bar);
    tool_losses_add(&s->losses, damage);
    tool_on_damage(&lost, damage);
}

static const char *how_text(u9_snapshot_how how)
{
    switch (how) {
    case U9_SNAPSHOT_KEPT: return "kept";
    case U9_SNAPSHOT_LINKED: return "linked";
    case U9_SNAPSHOT_COPIED: return "copied";
    case U9_SNAPSHOT_REMOVED: return "removed";
    }
    return "";
}

static void on_segment(void *ctx, const u9_snapshot_segment *segment)
{
    struct snapshot *s = (struct snapshot *)ctx;
    char size[24];
    if (!s->verbose) return;
    tool_progress_end(&s->bar);
    fprintf(stderr, "%s: %s", segment->name, how_text(segment->how));
    if (segment->how == U9_SNAPSHOT_COPIED) fprintf(stderr, ", %s", tool_bytes_text(segment->bytes, size));
    if (segment->sys) fprintf(stderr, ": it could not be linked: %s", strerror(segment->sys));
    fputc('\n', stderr);
}

static void put_result(const struct snapshot *s)
{
    const u9_snapshot_report *r = &s->report;
    char size[24], lost[TOOL_LOSSES_SIZE];
    printf("%s: ", tool_shown(s->dir));
    if (r->first_ordinal < r->next_ordinal) printf("records %" PRIu64 "..%" PRIu64, r->first_ordinal, r->next_ordinal - 1);
    else fputs("no record", stdout);
    printf(" of %s: %" PRIu64 " segment%s linked, %" PRIu64 " copied (%s), %" PRIu64 " there before", tool_shown(s->path), r->linked,
           tool_plural(r->linked), r->copied, tool_bytes_text(r->copied_bytes, size), r->kept);
    if (r->removed > 0) printf(", %" PRIu64 " removed, which the log has not any more", r->removed);
    if (r->link_sys) printf("; what was to be linked was copied: %s", strerror(r->link_sys));
    if (r->damages > 0) printf("; %" PRIu64 " damaged place%s %s the log, %s", r->damages, tool_plural(r->damages),
                               r->whole > 0 ? "in" : "as in", tool_losses_text(&s->losses, lost));
    if (r->whole > 0) printf("; whole here, as before: %" PRIu64 " of %" PRIu64, r->whole, r->damages);
    if (r->damaged_before) fputs("; what was there before is damaged, too (--verify-all reads it again)", stdout);
    if (!r->closed) fputs("; its end is as in the log, and not closed", stdout);
    putchar('\n');
}

static int put_json(const struct snapshot *s)
{
    const u9_snapshot_report *r = &s->report;
    return tool_put_object(json_pack(
        "{s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "type", "snapshot", "path",
        tool_json_text(s->path), "dir", tool_json_text(s->dir), "verdict", u9_verdict_name(r->verdict), "linked",
        tool_json_number(r->linked), "copied", tool_json_number(r->copied), "copied_bytes",
        tool_json_number(r->copied_bytes), "kept", tool_json_number(r->kept), "removed", tool_json_number(r->removed),
        "damages", tool_json_number(r->damages), "lost", tool_json_number(r->lost), "whole", tool_json_number(r->whole), "first_ordinal",
        tool_json_number(r->first_ordinal), "next_ordinal", tool_json_number(r->next_ordinal), "damaged_before",
        r->damaged_before, "closed", r->closed));
}

static int refuse(struct snapshot *s, const u9_fault *fault)
{
    tool_progress_end(&s->bar);
    if (tool_stopped())
        return tool_say(128 + tool_stopped(), "stopped by %s; the same command goes on from here", tool_stop_name());
    int status = tool_read_fault(s->path, fault);
    tool_say_unharmed(s->path, s->dir, fault);
    return s->options.strict && (s->report.damages > 0 || s->report.damaged_before) ? TOOL_LOST : status;
}

static int run(struct snapshot *s)
{
    u9_fault fault;
    u9_log *log;
    u9_options reading = {.size = sizeof reading};
    s->options.ctx = s;
    s->options.on_damage = on_damage;
    s->options.on_segment = on_segment;
    s->options.on_progress = on_progress;
    tool_notice_stops(true);
    if (u9_log_open(s->path, &reading, &log, &fault) != U9_OK) return refuse(s, &fault);
    tool_progress_begin(&s->bar, 1);
    u9_err err = u9_log_snapshot(log, s->dir, &s->options, &s->report, &fault);
    (void)u9_log_close(log, NULL);
    if (err != U9_OK) return refuse(s, &fault);
    tool_progress_end(&s->bar);
    int status = s->report.damages > 0 || s->report.damaged_before ? TOOL_LOST : TOOL_DONE;
    if (s->json) return put_json(s) == TOOL_DONE ? status : TOOL_IO;
    put_result(s);
    return status;
}

enum { COPY = 256, STRICT, VERIFY_ALL, KEEP_TRIMMED };

static const struct argp_option option_table[] = {
    {"copy", COPY, 0, 0, "Copy all segments, link none: the snapshot shares no byte of the disk with LOG", 0},
    {"strict", STRICT, 0, 0, "If anything that is read of LOG is damaged, or what DIR has, make and change nothing (exit 3)", 0},
    {"verify-all", VERIFY_ALL, 0, 0, "Read and verify also what DIR has from an earlier time; what was altered there is taken again", 0},
    {"keep-trimmed", KEEP_TRIMMED, 0, 0, "Leave in DIR what was trimmed from LOG since; else it goes from DIR, too", 0},
    {"verbose", 'v', 0, 0, "Tell of each segment on standard error", 0},
    {"json", 'j', 0, 0, "One JSON object, numbers of 64 bits as strings", 0},
    {0},
};

static error_t parse(int option, char *arg, struct argp_state *state)
{
    struct snapshot *s = (struct snapshot *)state->input;
    switch (option) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case COPY: s->options.copy = 1; break;
    case STRICT: s->options.strict = 1; break;
    case VERIFY_ALL: s->options.verify_all = 1; break;
    case KEEP_TRIMMED: s->options.keep_trimmed = 1; break;
    case 'v': s->verbose = 1; break;
    case 'j': s->json = 1; break;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0) s->path = arg;
        else if (state->arg_num == 1) s->dir = arg;
        else tool_usage("one LOG and one DIR only: '%s' is too much", arg);
        break;
    case ARGP_KEY_END:
        if (s->path == NULL) tool_usage("no LOG given");
        if (s->dir == NULL) tool_usage("no DIR given");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int verb_snapshot(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG DIR",
        "Makes DIR a copy of LOG as it is now: all records that are durable, and no others. A writer may be at work. "
        "Segments that will not change any more are linked, the last one is copied and closed; what is new is read and "
        "verified. If DIR is a snapshot of LOG already, it is brought up to date: what was trimmed from LOG goes from DIR, "
        "too, and how much that is, is said (--keep-trimmed leaves it); segments that LOG lost otherwise stay. After an interruption "
        "the same command goes on. What is damaged in LOG is the same in DIR, and told (exit 3); but what DIR has whole from an "
        "earlier time stays so. With --strict nothing is changed in that case.",
        NULL, NULL, NULL};
    struct snapshot s = {.options = {.size = sizeof s.options}, .report = {.size = sizeof s.report}};
    tool_parse(&parser, argc, argv, &s);
    return run(&s);
}
