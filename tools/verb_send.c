/*
 * tools/verb_send.c: `u9 send`: a log onto standard output as a transit stream [T-9], or with --duplex over
 * standard input and output both.
 *
 * All of the work is u9_log_send's. A receiver that goes away from a pipe is no news, as for all tools; one
 * that goes away from a two-way link is: it had not said that it has everything.
 */
#include "tools/args.h"
#include "tools/damage.h"
#include "tools/follow.h"
#include "tools/progress.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct send {
    const char *path;
    u9_send_options options;
    int duplex, progress, verbose;
    int lost; /* raised by damage */
    tool_progress bar;
};

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct send *s = (struct send *)ctx;
    tool_progress_end(&s->bar);
    tool_on_damage(&s->lost, damage);
}

static int on_progress(void *ctx, uint64_t done, uint64_t all)
{
    const struct send *s = (struct send *)ctx;
    if (s->options.follow && tool_follow_stopped()) return 1;
    if (!s->progress) return 0;
    return tool_progress_tell(&((struct send *)ctx)->bar, done, all);
}

/* Why it did not come to its end. */
static int failed(const struct send *s, const u9_ship_report *r, const u9_fault *fault)
{
    char line[1024], sent[64];
    u9_fault_line(fault, line, sizeof line);
    snprintf(sent, sizeof sent, "%" PRIu64 " record%s sent", r->records,
             r->records == 1 ? " was" : "s were");
    if (fault->sys == EPIPE && !s->duplex) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    if (r->damaged)
        return tool_say(TOOL_LOST, "%s; %s up to there (u9fsck --salvage makes a log that can be sent)",
                        line, sent);
    if (r->peer_failed) return tool_say(tool_fault_status(fault), "the receiver: %s; %s", line, sent);
    return tool_say(fault->err == U9_TORN ? TOOL_IO : tool_fault_status(fault), "%s; %s", line, sent);
}

static int run(struct send *s)
{
    u9_log *log;
    u9_fault fault;
    u9_ship_report report = {.size = sizeof report};
    u9_options options = {.size = sizeof options, .mode = U9_READ, .on_damage = on_damage,
                          .on_damage_ctx = s};
    if (isatty(STDOUT_FILENO) || (s->duplex && isatty(STDIN_FILENO)))
        return tool_say(TOOL_REFUSED, "a stream is not for a terminal: redirect it");
    if (s->options.follow) tool_follow_begin();
    int came;
    u9_err opened = s->options.follow ? tool_follow_open(s->path, &options, &log, &came, &fault)
                                      : u9_log_open(s->path, &options, &log, &fault);
    if (opened == U9_END) return tool_say(TOOL_IO, "stopped before there was a log");
    if (opened != U9_OK) return tool_read_fault(s->path, &fault);
    double began = tool_seconds();
    tool_progress_begin(&s->bar, s->progress);
    u9_err err = u9_log_send(log, &s->options, &report, &fault);
    tool_progress_end(&s->bar);
    int status = err == U9_OK ? TOOL_DONE : failed(s, &report, &fault);
    double spent = tool_seconds() - began;
    if (s->verbose)
        tool_say(0, "%" PRIu64 " record%s in %" PRIu64 " batch%s, %" PRIu64 " bytes, %.3f s, %.1f MB/s",
                 report.records, tool_plural(report.records), report.batches,
                 report.batches == 1 ? "" : "es", report.bytes, spent, (double)report.bytes / 1e6 / spent);
    u9_log_close(log, NULL);
    return status == TOOL_DONE ? s->lost : status;
}

enum { FROM = 256, DUPLEX, PROGRESS };

static const struct argp_option option_table[] = {
    {"from", FROM, "#ORDINAL", 0, "The receiver has the records before this one", 0},
    {"duplex", DUPLEX, 0, 0,
     "Standard input is the way back from `u9 recv --duplex`: it says where to begin, when to wait, and that "
     "all is stored", 0},
    {"follow", 'f', 0, 0,
     "At the end wait for more, also for LOG itself, until SIGINT or SIGTERM, which end the stream as LOG's end "
     "would", 0},
    {"progress", PROGRESS, 0, 0, "Show progress, on a terminal (u9 recv does by itself)", 0},
    {"verbose", 'v', 0, 0, "Say at the end how much was sent, and how fast", 0},
    {0},
};

static uint64_t parse_from(const char *text)
{
    uint64_t from;
    if (*text != '#' || !tool_number_parse(text + 1, &from) || from == TOOL_NONE)
        tool_usage("--from %s: not an ordinal like '#1000'", tool_shown(text));
    return from;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct send *s = (struct send *)state->input;
    switch (key) {
    case FROM: s->options.from = parse_from(arg); break;
    case DUPLEX:
        s->duplex = 1;
        s->options.in = STDIN_FILENO;
        break;
    case PROGRESS:
        s->progress = 1;
        s->options.on_progress = on_progress;
        break;
    case 'f':
        s->options.follow = 1;
        s->options.on_progress = on_progress;
        break;
    case 'v': s->verbose = 1; break;
    case ARGP_KEY_END:
        if (s->duplex && s->options.from > 0)
            tool_usage("--from does not go with --duplex: there the receiver says where to begin");
        break;
    default: return tool_argp_log(key, arg, state, &s->path);
    }
    return 0;
}

int verb_send(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG",
        "Sends the records of LOG, with their keys and batches, to standard output, for `u9 recv`. Where "
        "records are lost to damage it stops, and the exit status is 3. A log that was trimmed goes only to where the records "
        "before are; its first copy is made by `u9 snapshot --copy` or `u9 merge`.",
        NULL, NULL, NULL};
    struct send s = {.options = {.size = sizeof s.options, .out = STDOUT_FILENO, .in = -1}};
    s.options.ctx = &s;
    tool_parse(&parser, argc, argv, &s);
    return run(&s);
}
