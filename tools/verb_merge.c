/*
 * tools/verb_merge.c: `u9 merge`: several logs into one by key order.
 */
#include "tools/args.h"
#include "tools/damage.h"
#include "tools/json.h"
#include "tools/stop.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD_MAX = 10 }; /* keys that are named one by one */

struct merge {
    const char *out, **logs;
    size_t count;
    int json;
    u9_merge_options options;
    u9_merge_report report;
    tool_losses losses;
    char kind[U9_KIND_SIZE_MAX + 1]; /* of the first log's keys */
    uint64_t conflicts;
};

static int on_progress(void *ctx, uint64_t done, uint64_t all)
{
    (void)ctx;
    (void)done;
    (void)all;
    return tool_stopped() != 0;
}

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct merge *m = (struct merge *)ctx;
    int lost = 0;
    tool_losses_add(&m->losses, damage);
    tool_on_damage(&lost, damage);
}

static void on_conflict(void *ctx, const u9_key *key)
{
    struct merge *m = (struct merge *)ctx;
    char text[U9_KEY_SIZE_MAX + 1];
    if (m->conflicts++ >= TOLD_MAX) return;
    if (u9_key_format(m->kind, key->data, key->size, text, NULL) != U9_OK) snprintf(text, sizeof text, "a key");
    tool_say(0, "%s: the logs have different records of it: all are kept", tool_shown(text));
}

static void put_result(const struct merge *m)
{
    const u9_merge_report *r = &m->report;
    char lost[TOOL_LOSSES_SIZE];
    printf("%s: %" PRIu64 " record%s of %" PRIu64 " in %zu log%s; %" PRIu64 " repeat%s, %" PRIu64
           " key%s with different records", tool_shown(m->out), r->records, tool_plural(r->records), r->read, m->count,
           tool_plural(m->count), r->repeats, tool_plural(r->repeats), r->conflicts, tool_plural(r->conflicts));
    if (r->sorted > 0) printf("; %" PRIu64 " log%s sorted first", r->sorted, tool_plural(r->sorted));
    if (r->damages > 0)
        printf("; %" PRIu64 " damaged place%s, %s", r->damages, tool_plural(r->damages), tool_losses_text(&m->losses, lost));
    putchar('\n');
}

static int put_json(const struct merge *m)
{
    const u9_merge_report *r = &m->report;
    return tool_put_object(json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "type", "merge", "path",
                                     tool_json_text(m->out), "verdict", u9_verdict_name(r->verdict), "logs",
                                     tool_json_number(m->count), "read", tool_json_number(r->read), "records",
                                     tool_json_number(r->records), "repeats", tool_json_number(r->repeats), "conflicts",
                                     tool_json_number(r->conflicts), "sorted", tool_json_number(r->sorted), "damages",
                                     tool_json_number(r->damages), "lost", tool_json_number(r->lost)));
}

/* For the texts of keys. A log that cannot be opened is told by the merge. */
static void look_at_kind(struct merge *m)
{
    u9_options reading = {.size = sizeof reading};
    u9_log *log;
    if (u9_log_open(m->logs[0], &reading, &log, NULL) != U9_OK) return;
    snprintf(m->kind, sizeof m->kind, "%s", u9_log_kind(log));
    (void)u9_log_close(log, NULL);
}

static int run(struct merge *m)
{
    u9_fault fault;
    m->options.ctx = m;
    m->options.on_damage = on_damage;
    m->options.on_conflict = on_conflict;
    m->options.on_progress = on_progress;
    tool_notice_stops(true);
    look_at_kind(m);
    u9_err err = u9_merge(m->out, m->logs, m->count, &m->options, &m->report, &fault);
    if (err != U9_OK && tool_stopped()) return tool_say(128 + tool_stopped(), "stopped by %s; nothing was made", tool_stop_name());
    if (err != U9_OK) {
        int status = tool_fault(&fault);
        tool_say_unharmed(m->count > 1 ? "each LOG" : m->logs[0], m->out, &fault);
        if (fault.err == U9_ARG && strcmp(fault.rule, "A-5") == 0 && m->options.memory == 0)
            tool_say(0, "--sort SIZE sorts it first, in at most SIZE of memory (64M, 2G)");
        if (fault.err == U9_LIMIT && strcmp(fault.rule, "A-5") == 0) tool_say(0, "give it more: --sort SIZE (64M, 2G)");
        return m->options.strict && m->report.damages > 0 ? TOOL_LOST : status;
    }
    if (m->conflicts > TOLD_MAX) tool_say(0, "... and %" PRIu64 " more keys", m->conflicts - TOLD_MAX);
    int status = m->report.damages > 0 ? TOOL_LOST : TOOL_DONE;
    if (m->json) return put_json(m) == TOOL_DONE ? status : TOOL_IO;
    put_result(m);
    return status;
}

enum { SORT = 256, LZ4, STRICT, SEGMENT_SIZE };

static const struct argp_option option_table[] = {
    {"sort", SORT, "SIZE", 0, "Sort logs whose keys are not in order, in at most SIZE of memory (64M, 2G)", 0},
    {"lz4", LZ4, 0, 0, "Compress frames where that makes them smaller", 0},
    {"segment-size", SEGMENT_SIZE, "SIZE", 0, "Begin a new segment at SIZE (64K or more; 256M)", 0},
    {"strict", STRICT, 0, 0, "If a LOG is damaged, make nothing (exit 3)", 0},
    {"json", 'j', 0, 0, "One JSON object, numbers of 64 bits as strings", 0},
    {0},
};

static error_t parse(int option, char *arg, struct argp_state *state)
{
    struct merge *m = (struct merge *)state->input;
    switch (option) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case SORT:
        m->options.memory = tool_size("--sort", arg);
        if (m->options.memory == 0) tool_usage("--sort: SIZE is 0");
        break;
    case LZ4: m->options.lz4 = 1; break;
    case STRICT: m->options.strict = 1; break;
    case SEGMENT_SIZE: m->options.segment_size = tool_segment_size(arg); break;
    case 'j': m->json = 1; break;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0) m->out = arg;
        else m->logs[m->count++] = arg;
        break;
    case ARGP_KEY_END:
        if (m->out == NULL) tool_usage("no OUT given");
        if (m->count == 0) tool_usage("no LOG given");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int verb_merge(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "OUT LOG...",
        "Makes the new log OUT of the records of all LOGs, in the order of their keys. A record that an earlier LOG has "
        "as well, byte for byte, stands there once; different records of one key stand in the order of the LOGs, and "
        "are told. The LOGs have one kind of keys, and their keys are in order, or --sort is given. Writers may be at "
        "work. OUT is there whole, or not at all.",
        NULL, NULL, NULL};
    struct merge m = {.options = {.size = sizeof m.options}, .report = {.size = sizeof m.report}};
    m.logs = calloc((size_t)argc, sizeof *m.logs);
    if (m.logs == NULL) return tool_nomem("the arguments");
    tool_parse(&parser, argc, argv, &m);
    int status = run(&m);
    free((void *)m.logs);
    return status;
}
