/*
 * tools/verb_cat.c: `u9 cat`: the records of a log, or of a part of it, in order.
 *
 * One cursor, one pass, no allocation per record. Bounds by ordinal and time end the walk (both
 * only grow); bounds by key select, as keys need not be in order. Damage is told as it is met and
 * the walk goes on behind it.
 */
#include "tools/common.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* One end of --from/--to. */
struct bound {
    uint64_t ordinal; /* TOOL_NONE: not given */
    int keyed;
    uint8_t key[U9_MUID_SIZE];
};

struct cat {
    const char *path;
    tool_style style;
    struct bound from, to;
    uint64_t since, until; /* microseconds */
    uint64_t limit;
    u9_range range;
    int ranged; /* --range was given */
    int quiet;  /* not 0: this walk only looks ahead */
    int status; /* raised by damage */
};

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct cat *c = (struct cat *)ctx;
    if (!c->quiet) tool_on_damage(&c->status, damage);
}

/* Up to 6 decimals behind a dot, if there is one. Moves `*text` behind them; 0: no decimals. */
static int parse_micros(const char **text, uint64_t *micros)
{
    const char *p = *text;
    *micros = 0;
    if (*p != '.') return 1;
    uint64_t unit = 100000;
    for (p++; isdigit((unsigned char)*p) && unit > 0; p++, unit /= 10)
        *micros += unit * (uint64_t)(*p - '0');
    if (p[-1] == '.' || isdigit((unsigned char)*p)) return 0;
    *text = p;
    return 1;
}

/* `Z` or `+hh:mm` to the end of the text: the seconds to add for UTC. 0: neither. */
static int parse_zone(const char *text, int64_t *shift)
{
    int used = 0;
    unsigned hours, minutes;
    *shift = 0;
    if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0) return 1;
    if (*text != '+' && *text != '-') return 0;
    if (sscanf(text + 1, "%2u:%2u%n", &hours, &minutes, &used) != 2 || used != 5) return 0;
    if (text[1 + used] != '\0' || hours > 23 || minutes > 59) return 0;
    *shift = (int64_t)(hours * 3600 + minutes * 60) * (*text == '+' ? -1 : 1);
    return 1;
}

/* The 19 characters `2026-01-31T23:59:59` as seconds since 1970; 0: they are no such time. */
static int parse_clock(const char *text, int64_t *seconds)
{
    static const char pattern[] = "dddd-dd-ddTdd:dd:dd";
    for (int i = 0; i < 19; i++) {
        char c = text[i];
        if (pattern[i] == 'd' ? !isdigit((unsigned char)c)
                              : c != pattern[i] && !(i == 10 && (c == 't' || c == ' ')))
            return 0;
    }
    struct tm tm = {.tm_year = atoi(text) - 1900, .tm_mon = atoi(text + 5) - 1,
                    .tm_mday = atoi(text + 8), .tm_hour = atoi(text + 11),
                    .tm_min = atoi(text + 14), .tm_sec = atoi(text + 17)};
    struct tm same = tm;
    if (tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60) return 0;
    *seconds = timegm(&same);
    if (tm.tm_sec == 60) return 1; /* a leap second is the second after it */
    return same.tm_mday == tm.tm_mday && same.tm_mon == tm.tm_mon; /* no 30th of February */
}

/* Microseconds since 1970 from RFC 3339 or `@seconds`, with up to 6 decimals. 0: not a time. */
static int time_parse(const char *text, uint64_t *out)
{
    uint64_t micros, whole;
    int64_t seconds, shift = 0;
    if (*text == '@') {
        char digits[24];
        size_t size = strspn(++text, "0123456789");
        snprintf(digits, sizeof digits, "%.*s", (int)(size < 23 ? size : 23), text);
        text += size;
        if (!tool_number_parse(digits, &whole) || whole > INT64_MAX / 1000000) return 0;
        seconds = (int64_t)whole;
        if (!parse_micros(&text, &micros) || *text != '\0') return 0;
    } else {
        if (!parse_clock(text, &seconds)) return 0;
        text += 19;
        if (!parse_micros(&text, &micros) || !parse_zone(text, &shift)) return 0;
    }
    if (seconds + shift < 0) return 0;
    *out = (uint64_t)(seconds + shift) * 1000000 + micros;
    return 1;
}

static struct bound parse_bound(const char *option, const char *text)
{
    struct bound bound = {.ordinal = TOOL_NONE};
    if (*text == '#') {
        if (!tool_number_parse(text + 1, &bound.ordinal) || bound.ordinal == TOOL_NONE)
            tool_usage("%s %s: not an ordinal", option, text);
        return bound;
    }
    const char *why = tool_key_parse(text, strlen(text), bound.key);
    if (why) tool_usage("%s %s: neither #ORDINAL nor a muid: %s", option, text, why);
    bound.keyed = 1;
    return bound;
}

static uint64_t parse_time(const char *option, const char *text)
{
    uint64_t time;
    if (!time_parse(text, &time))
        tool_usage("%s %s: not a time like 2026-01-31T23:59:59.5Z or @1700000000", option, text);
    return time;
}

static uint64_t parse_number(const char *option, const char *text)
{
    uint64_t number;
    if (!tool_number_parse(text, &number)) tool_usage("%s %s: not a number", option, text);
    return number;
}

/* B-E, or B- for all behind B. */
static void parse_range(struct cat *c, const char *text)
{
    char begin[32];
    const char *dash = strchr(text, '-');
    int good = dash && dash - text < (int)sizeof begin;
    if (good) {
        snprintf(begin, sizeof begin, "%.*s", (int)(dash - text), text);
        good = tool_size_parse(begin, &c->range.begin);
        good = good && (dash[1] == '\0' || (tool_size_parse(dash + 1, &c->range.end) &&
                                            c->range.begin < c->range.end));
    }
    if (!good) tool_usage("--range %s: not a range of bytes like 0-64M or 64M-", text);
    c->ranged = 1;
}

/* --range of a single file needs no --segment: the number is in its records. */
static int find_segment(struct cat *c, u9_log *log)
{
    struct stat st;
    u9_fault fault;
    u9_cursor *cursor;
    u9_record record;
    if (!c->ranged || c->range.segment != 0) return TOOL_DONE;
    if (stat(c->path, &st) != 0 || S_ISDIR(st.st_mode))
        return tool_say(TOOL_USAGE, "--range: of which segment of %s? (--segment N)", c->path);
    if (u9_cursor_open(log, NULL, &cursor, &fault) != U9_OK) return tool_fault(&fault);
    c->quiet = 1;
    u9_err err = u9_cursor_next(cursor, &record);
    c->quiet = 0;
    if (err == U9_OK) c->range.segment = record.segment;
    u9_cursor_fault(cursor, &fault);
    u9_cursor_close(cursor);
    return err == U9_OK || err == U9_END ? TOOL_DONE : tool_fault(&fault);
}

/* < 0: behind the wanted part, the walk can end. 0: not wanted. > 0: wanted. */
static int wanted(const struct cat *c, const u9_record *record)
{
    if (record->ordinal >= c->to.ordinal || record->time_us >= c->until) return -1;
    if (c->from.ordinal != TOOL_NONE && record->ordinal < c->from.ordinal) return 0;
    if (record->time_us < c->since) return 0;
    if (!c->from.keyed && !c->to.keyed) return 1;
    if (record->key.size != U9_MUID_SIZE) return 0;
    if (c->from.keyed && memcmp(record->key.data, c->from.key, U9_MUID_SIZE) < 0) return 0;
    return !c->to.keyed || memcmp(record->key.data, c->to.key, U9_MUID_SIZE) < 0;
}

static int walk(struct cat *c, u9_cursor *cursor)
{
    u9_record record;
    u9_err err = U9_END;
    uint64_t printed = 0;
    while (printed < c->limit && (err = u9_cursor_next(cursor, &record)) == U9_OK) {
        int want = wanted(c, &record);
        if (want < 0) return TOOL_DONE;
        if (want == 0) continue;
        tool_put_record(&c->style, &record);
        printed++;
        if (tool_stdout_failed()) return TOOL_IO; /* tool_finish says why */
    }
    if (err == U9_OK || err == U9_END) return TOOL_DONE;
    u9_fault fault;
    u9_cursor_fault(cursor, &fault);
    return tool_fault(&fault);
}

static int run(struct cat *c)
{
    u9_fault fault;
    u9_log *log;
    u9_cursor *cursor;
    u9_options options = {.size = sizeof options, .mode = U9_READ, .on_damage = on_damage,
                          .on_damage_ctx = c};
    if (u9_log_open(c->path, &options, &log, &fault) != U9_OK) return tool_fault(&fault);
    int status = tool_style_begin(&c->style, log);
    if (status == TOOL_DONE) status = find_segment(c, log);
    if (status == TOOL_DONE && c->ranged && c->range.segment == 0) {
        /* a file without records: whatever the range, nothing is in it */
    } else if (status == TOOL_DONE) {
        if (c->from.ordinal != TOOL_NONE) c->range.from = c->from.ordinal;
        if (u9_cursor_open(log, &c->range, &cursor, &fault) == U9_OK) {
            status = walk(c, cursor);
            u9_cursor_close(cursor);
        } else {
            status = tool_fault(&fault);
        }
    }
    u9_err err = u9_log_close(log, &fault);
    if (err != U9_OK && status == TOOL_DONE) status = tool_fault(&fault);
    return status == TOOL_DONE ? c->status : status;
}

enum { FORMAT = 256, KEYS, FROM, TO, SINCE, UNTIL, LIMIT, RANGE, SEGMENT, REVERSE, FOLLOW };

static const struct argp_option option_table[] = {
    {"format", FORMAT, "FORMAT", 0,
     "lines (default): values and tabs; json: an object a line; raw: the record's bytes", 0},
    {"keys", KEYS, 0, 0, "Put the key and a tab in front of each line", 0},
    {"from", FROM, "KEY|#ORDINAL", 0, "Records from this one on", 0},
    {"to", TO, "KEY|#ORDINAL", 0, "Records before this one", 0},
    {"since", SINCE, "TIME", 0, "Records written at or after TIME (RFC 3339 or @seconds)", 0},
    {"until", UNTIL, "TIME", 0, "Records written before TIME", 0},
    {"limit", LIMIT, "N", 0, "At most N records", 0},
    {"segment", SEGMENT, "N", 0, "Only the segment with this number", 0},
    {"range", RANGE, "B-E", 0, "Only the frames that begin at bytes B to E of that segment", 0},
    {"reverse", REVERSE, 0, 0, "Not in this version", 0},
    {"follow", FOLLOW, 0, 0, "Not in this version", 0},
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
    case FROM: c->from = parse_bound("--from", arg); break;
    case TO: c->to = parse_bound("--to", arg); break;
    case SINCE: c->since = parse_time("--since", arg); break;
    case UNTIL: c->until = parse_time("--until", arg); break;
    case LIMIT: c->limit = parse_number("--limit", arg); break;
    case RANGE: parse_range(c, arg); break;
    case SEGMENT:
        c->range.segment = parse_number("--segment", arg);
        if (c->range.segment == 0) tool_usage("--segment 0: segments are numbered from 1");
        break;
    case REVERSE: exit(tool_say(TOOL_REFUSED, "--reverse is not in this version"));
    case FOLLOW: exit(tool_say(TOOL_REFUSED, "--follow is not in this version"));
    case ARGP_KEY_ARG: return parse_arg(c, arg, state);
    case ARGP_KEY_NO_ARGS: tool_usage("no LOG given");
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
    argp_parse(&parser, argc, argv, 0, NULL, &c);
    return run(&c);
}
