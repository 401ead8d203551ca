/*
 * tools/verb_cat.c: `u9 cat`: the records of a log, or of a part of it, in order.
 *
 * One cursor, one pass, no allocation per record. Bounds by ordinal and time end the walk (both
 * only grow); bounds by key select, as keys need not be in order. Damage is told as it is met and
 * the walk goes on behind it.
 */
#include "tools/args.h"
#include "tools/damage.h"
#include "tools/follow.h"
#include "tools/key.h"
#include "tools/record_large.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* One end of --from/--to. */
struct bound {
    uint64_t ordinal; /* TOOL_NONE: not given */
    const char *text; /* the key, until the log tells its kind; NULL: not by key */
    tool_key raw;
    u9_key key;       /* points into `raw` */
};

struct cat {
    const char *path;
    u9_log *log;
    tool_style style;
    struct bound from, to;
    uint64_t since, until; /* microseconds */
    uint64_t limit;
    u9_range range;
    int ranged; /* --range was given */
    int follows;
    int status; /* raised by damage */
};

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct cat *c = (struct cat *)ctx;
    tool_on_damage(&c->status, damage);
}

static struct bound parse_bound(const char *option, const char *text)
{
    struct bound bound = {.ordinal = TOOL_NONE};
    if (*text == '#') {
        if (!tool_number_parse(text + 1, &bound.ordinal) || bound.ordinal == TOOL_NONE)
            tool_usage("%s %s: not an ordinal", option, text);
        return bound;
    }
    bound.text = text;
    return bound;
}

/* The key of a bound, now that the kind is known. */
static int take_bound(const char *option, struct bound *bound, const char *kind)
{
    if (!bound->text) return TOOL_DONE;
    const char *why = tool_key_parse(kind, bound->text, strlen(bound->text), &bound->raw);
    bound->key = (u9_key){bound->raw.bytes, bound->raw.size};
    if (!why) return TOOL_DONE;
    return tool_say(TOOL_USAGE, "%s %s: neither #ORDINAL nor a key of kind %s: %s", option, tool_shown(bound->text),
                    kind, why);
}

static int take_bounds(struct cat *c, const char *kind)
{
    int status = take_bound("--from", &c->from, kind);
    if (status == TOOL_DONE) status = take_bound("--to", &c->to, kind);
    if (status == TOOL_DONE && c->from.text && c->to.text &&
        tool_key_compare(&c->from.key, &c->to.key) > 0)
        return tool_say(TOOL_USAGE, "--from is behind --to: nothing lies between");
    return status;
}

/* B-E, or B- for all behind B. */
static void parse_range(struct cat *c, const char *text)
{
    char begin[32];
    const char *dash = strchr(text, '-');
    int open = dash && dash[1] == '\0';
    int good = dash && dash - text < (int)sizeof begin;
    if (good) {
        snprintf(begin, sizeof begin, "%.*s", (int)(dash - text), text);
        good = tool_size_parse(begin, &c->range.begin);
        good = good && (open || tool_size_parse(dash + 1, &c->range.end));
    }
    if (!good) tool_usage("--range %s: not a range of bytes like 0-64M or 64M-", tool_shown(text));
    if (!open && c->range.begin > c->range.end)
        tool_usage("--range %s: reversed: it ends before it begins", text);
    if (!open && c->range.begin == c->range.end)
        tool_usage("--range %s: it ends where it begins: nothing is in it", text);
    c->ranged = 1;
}

/* Bounds the wrong way round are a slip, not a question whose answer is nothing. */
static void check_bounds(const struct cat *c)
{
    const struct bound *from = &c->from, *to = &c->to;
    if (c->follows && (c->ranged || c->range.segment)) tool_usage("-f follows a whole log, not a part of it");
    if (c->since > c->until) tool_usage("--since is later than --until: nothing lies between");
    if (from->ordinal != TOOL_NONE && from->ordinal > to->ordinal)
        tool_usage("--from is behind --to: nothing lies between");
    tool_style_check(&c->style);
}

/* --range of a single file needs no --segment. */
static int check_segment(const struct cat *c)
{
    struct stat st;
    if (!c->ranged || c->range.segment != 0 || (stat(c->path, &st) == 0 && !S_ISDIR(st.st_mode)))
        return TOOL_DONE;
    return tool_say(TOOL_USAGE, "--range: of which segment of %s? (--segment N)", c->path);
}

/* < 0: behind the wanted part, the walk can end. 0: not wanted. > 0: wanted. */
static int wanted(const struct cat *c, const u9_record *record)
{
    /* What a plain seed file does not tell is in no bounds. */
    if (record->time_us == 0 && (c->since > 0 || c->until != TOOL_NONE)) return 0;
    if (record->key.size == 0 && (c->from.text || c->to.text)) return 0;
    if (record->ordinal >= c->to.ordinal || record->time_us >= c->until) return -1;
    if (c->from.ordinal != TOOL_NONE && record->ordinal < c->from.ordinal) return 0;
    if (record->time_us < c->since) return 0;
    if (c->from.text && tool_key_compare(&record->key, &c->from.key) < 0) return 0;
    return !c->to.text || tool_key_compare(&record->key, &c->to.key) < 0;
}

/* A record in pieces. What cannot be shown of it is said, and the walk goes on. */
static int put_large(struct cat *c, const u9_record *record)
{
    int status = tool_put_large(&c->style, c->log, record);
    if (status > c->status) c->status = status;
    return status;
}

static u9_err next(const struct cat *c, u9_cursor *cursor, u9_record *record)
{
    return c->follows ? tool_follow_next(cursor, record) : u9_cursor_next(cursor, record);
}

static int walk(struct cat *c, u9_cursor *cursor)
{
    u9_record record;
    u9_err err = U9_END;
    uint64_t printed = 0;
    while (printed < c->limit && ((err = next(c, cursor, &record)) == U9_OK || err == U9_LIMIT)) {
        int want = wanted(c, &record);
        if (want < 0) return TOOL_DONE;
        if (want == 0) continue;
        if (err == U9_OK) tool_put_record(&c->style, &record);
        else if (put_large(c, &record) == TOOL_IO) return TOOL_IO;
        printed++;
        if (tool_stdout_failed()) return TOOL_IO; /* tool_finish says why */
    }
    if (err == U9_OK || err == U9_END || err == U9_LIMIT) return TOOL_DONE;
    u9_fault fault;
    u9_cursor_fault(cursor, &fault);
    return tool_read_fault(c->path, &fault);
}

static int run(struct cat *c)
{
    u9_fault fault;
    u9_log *log;
    u9_cursor *cursor;
    u9_options options = {.size = sizeof options, .mode = U9_READ, .on_damage = on_damage,
                          .on_damage_ctx = c};
    if (c->follows) tool_follow_begin();
    u9_err opened = c->follows ? tool_follow_open(c->path, &options, &log, &fault)
                               : u9_log_open(c->path, &options, &log, &fault);
    if (opened == U9_END) return TOOL_DONE;
    if (opened != U9_OK) return tool_read_fault(c->path, &fault);
    c->log = log;
    int status = tool_style_begin(&c->style, log);
    if (status == TOOL_DONE) status = take_bounds(c, tool_kind(log));
    if (status == TOOL_DONE) status = check_segment(c);
    if (status == TOOL_DONE) {
        if (c->from.ordinal != TOOL_NONE) c->range.from = c->from.ordinal;
        if (u9_cursor_open(log, &c->range, &cursor, &fault) == U9_OK) {
            u9_err err = c->follows ? u9_cursor_follow(cursor, U9_SHOW_DURABLE) : U9_OK;
            if (err != U9_OK) u9_cursor_fault(cursor, &fault);
            status = err == U9_OK ? walk(c, cursor) : tool_read_fault(c->path, &fault);
            u9_cursor_close(cursor);
        } else {
            status = tool_read_fault(c->path, &fault);
        }
    }
    u9_err err = u9_log_close(log, &fault);
    if (err != U9_OK && status == TOOL_DONE) status = tool_read_fault(c->path, &fault);
    return status == TOOL_DONE ? c->status : status;
}

enum { FORMAT = 256, KEYS, NULLS, FROM, TO, SINCE, UNTIL, LIMIT, RANGE, SEGMENT, REVERSE };

static const struct argp_option option_table[] = {
    {"format", FORMAT, "FORMAT", 0,
     "lines (default): values and tabs; json: an object a line; raw: the record's bytes", 0},
    {"keys", KEYS, 0, 0, "Put the key and a tab in front of each record (lines only)", 0},
    {"null", NULLS, 0, 0, "Records end in NUL, not in newline (lines, json)", 0},
    {"from", FROM, "KEY|#ORDINAL", 0, "Records from this one on", 0},
    {"to", TO, "KEY|#ORDINAL", 0, "Records before this one", 0},
    {"since", SINCE, "TIME", 0, 
     "Records written at or after TIME: 2026-01-31, 2026-01-31T23:59:59.5Z (UTC, if no zone is "
     "given), or @seconds since 1970", 0},
    {"until", UNTIL, "TIME", 0, "Records written before TIME", 0},
    {"limit", LIMIT, "N", 0, "At most N records", 0},
    {"follow", 'f', 0, 0, "At the end wait for more, also for LOG itself, until SIGINT or SIGTERM", 0},
    {"segment", SEGMENT, "N", 0, "Only the segment with this number", 0},
    {"range", RANGE, "B-E", 0, "Only the frames that begin at bytes B to E of that segment", 0},
    {"reverse", REVERSE, 0, 0, "Not in this version", 1},
    {0},
};

static error_t parse_arg(struct cat *c, char *arg, struct argp_state *state)
{
    if (state->arg_num > 0) tool_usage("one LOG only: '%s' is too much", arg);
    c->path = arg;
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cat *c = (struct cat *)state->input;
    switch (key) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case FORMAT: c->style.format = tool_format_parse(arg); break;
    case KEYS: c->style.keys = 1; break;
    case NULLS: c->style.null = 1; break;
    case FROM: c->from = parse_bound("--from", arg); break;
    case TO: c->to = parse_bound("--to", arg); break;
    case SINCE: c->since = tool_time("--since", arg); break;
    case UNTIL: c->until = tool_time("--until", arg); break;
    case LIMIT: c->limit = tool_number("--limit", arg); break;
    case RANGE: parse_range(c, arg); break;
    case SEGMENT:
        c->range.segment = tool_number("--segment", arg);
        if (c->range.segment == 0) tool_usage("--segment 0: segments are numbered from 1");
        break;
    case REVERSE: exit(tool_say(TOOL_REFUSED, "--reverse is not in this version"));
    case 'f': c->follows = 1; break;
    case ARGP_KEY_ARG: return parse_arg(c, arg, state);
    case ARGP_KEY_NO_ARGS: tool_usage("no LOG given");
    case ARGP_KEY_END: check_bounds(c); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int verb_cat(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG",
        "Prints the records of LOG in order. Damage is told on standard error, a line each; if "
        "records were lost to it, the exit status is 3.",
        NULL, NULL, NULL};
    struct cat c = {.from.ordinal = TOOL_NONE, .to.ordinal = TOOL_NONE, .until = TOOL_NONE,
                    .limit = TOOL_NONE, .range.size = sizeof c.range};
    tool_parse(&parser, argc, argv, &c);
    return run(&c);
}
