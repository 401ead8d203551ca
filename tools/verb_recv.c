/*
 * tools/verb_recv.c: `u9 recv`: a transit stream from standard input into a log. [T-9]
 *
 * All of the work is u9_log_recv's. SIGINT and SIGTERM end it with the log closed and all that came
 * durable; a second one kills. The same command again goes on at the last record received.
 */
#include "tools/args.h"
#include "tools/damage.h"
#include "tools/progress.h"
#include "tools/stop.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct recv {
    const char *path;
    u9_recv_options options;
    u9_options log;
    int duplex, quiet, verbose;
    int lost; /* raised by damage */
    tool_progress bar;
};

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct recv *r = (struct recv *)ctx;
    tool_progress_end(&r->bar);
    tool_on_damage(&r->lost, damage);
}

static int on_progress(void *ctx, uint64_t done, uint64_t all)
{
    tool_progress_tell(&((struct recv *)ctx)->bar, done, all);
    return tool_stopped();
}

/* Why it did not come to its end, and where it goes on. */
static int failed(const u9_ship_report *r, const u9_fault *fault)
{
    char line[1024] = "";
    if (!*fault->path && fault->offset != U9_NOWHERE && !r->peer_failed) strcpy(line, "standard input: ");
    size_t named = strlen(line);
    u9_fault_line(fault, line + named, sizeof line - named);
    if (tool_stopped())
        return tool_say(128 + tool_stopped(), "stopped by %s; the same command goes on at record %" PRIu64, tool_stop_name(),
                        r->next);
    if (r->peer_failed)
        return tool_say(fault->err == U9_CORRUPT ? TOOL_LOST : tool_fault_status(fault),
                        "the sender: %s; the log has %" PRIu64 " record%s", line, r->next,
                        tool_plural(r->next));
    if (fault->err == U9_TORN && fault->offset == 0)
        return tool_say(TOOL_IO, "nothing came: the sender ended before it began");
    if (fault->err == U9_TORN)
        return tool_say(TOOL_IO, "%s; the same command goes on at record %" PRIu64, line, r->next);
    if (r->next > 0 && strcmp(fault->rule, "T-9") != 0) /* it was open, and the log is a beginning of what comes */
        return tool_say(tool_fault_status(fault), "%s; the same command goes on at record %" PRIu64, line, r->next);
    return tool_say(tool_fault_status(fault), "%s", line);
}

static int run(struct recv *r)
{
    u9_fault fault;
    u9_ship_report report = {.size = sizeof report};
    if (isatty(STDIN_FILENO) || (r->duplex && isatty(STDOUT_FILENO)))
        return tool_say(TOOL_REFUSED, "a stream does not come from a terminal: redirect it");
    tool_notice_stops(false);
    double began = tool_seconds();
    tool_progress_begin(&r->bar, !r->quiet);
    u9_err err = u9_log_recv(r->path, &r->options, &report, &fault);
    tool_progress_end(&r->bar);
    int status = err == U9_OK ? TOOL_DONE : failed(&report, &fault);
    if (err != U9_OK && !tool_stopped() && !report.peer_failed && *fault.path) tool_say_refused(r->path, &fault);
    double spent = tool_seconds() - began;
    if (r->verbose)
        tool_say(0, "%" PRIu64 " record%s in %" PRIu64 " batch%s, %" PRIu64 " bytes, %.3f s, %.1f MB/s; %" PRIu64
                    " had come before", report.records, tool_plural(report.records), report.batches,
                 report.batches == 1 ? "" : "es", report.bytes, spent, (double)report.bytes / 1e6 / spent,
                 report.skipped);
    return status == TOOL_DONE ? r->lost : status;
}

enum { DUPLEX = 256, SYNC, LZ4, SEGMENT };

static const struct argp_option option_table[] = {
    {"duplex", DUPLEX, 0, 0,
     "Standard output is the way back to `u9 send --duplex`: nothing is sent twice, and it hears when all is "
     "stored", 0},
    {"sync", SYNC, "POLICY", 0, "Who waits for the disk: commit (default), interval, none", 0},
    {"lz4", LZ4, 0, 0, "Compress", 0},
    {"segment-size", SEGMENT, "SIZE", 0, "Size of the log's files (default 256M)", 0},
    {"quiet", 'q', 0, 0, "Show no progress", 0},
    {"verbose", 'v', 0, 0, "Say at the end how much was received and how fast", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct recv *r = (struct recv *)state->input;
    switch (key) {
    case DUPLEX:
        r->duplex = 1;
        r->options.out = STDOUT_FILENO;
        break;
    case SYNC: r->log.policy = tool_policy(arg); break;
    case LZ4: r->log.lz4 = 1; break;
    case SEGMENT: r->log.segment_size = tool_segment_size(arg); break;
    case 'q': r->quiet = 1; break;
    case 'v': r->verbose = 1; break;
    default: return tool_argp_log(key, arg, state, &r->path);
    }
    return 0;
}

int verb_recv(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG",
        "Receives what `u9 send` sends, from standard input, into LOG, which is made if it is missing. What LOG "
        "has already is skipped: after a break the same command goes on at the last record received.\v"
        "That LOG is a beginning of what comes is judged by its last record; what it holds is not verified "
        "again: `u9fsck` does that. Keys and batches are those of the sender, times are of here. The stream "
        "carries no hashes: it is for pipes and connections that lose and change nothing, such as ssh. It says itself where "
        "it ends: what stands behind that is not looked at.",
        NULL, NULL, NULL};
    struct recv r = {.log = {.size = sizeof r.log, .on_damage = on_damage}};
    r.log.on_damage_ctx = &r;
    r.options = (u9_recv_options){.size = sizeof r.options, .in = STDIN_FILENO, .out = -1, .log = &r.log,
                                  .on_progress = on_progress, .ctx = &r};
    tool_parse(&parser, argc, argv, &r);
    return run(&r);
}
