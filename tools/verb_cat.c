/*
 * tools/verb_cat.c: `u9 cat`: the records of a log, or of a part of it, in order.
 *
 * One cursor, one pass, no allocation per record. The cursor is sent where the part begins (span.h), and stays within
 * it; of a range of bytes what is within the bounds is picked. Damage is told as it is met and the walk goes on behind it.
 */
#include "tools/args.h"
#include "tools/damage.h"
#include "tools/follow.h"
#include "tools/pager.h"
#include "tools/record_large.h"
#include "tools/span.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct cat {
    const char *path;
    u9_log *log;
    tool_style style;
    tool_span span;
    u9_range range;
    int ranged; /* --range was given */
    int follows;
    int mends;
    int unpaged;
    int status; /* raised by damage */
};

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct cat *c = (struct cat *)ctx;
    if (tool_span_tells(&c->span, damage)) tool_on_damage(&c->status, damage);
}

/* By its number, or as its file is called: 16 hexadecimal digits and ".u9", which may be left out. */
static uint64_t segment_number(const char *text)
{
    enum { DIGITS = 16 };
    char name[TOOL_SEGMENT_SIZE];
    size_t size = strlen(text);
    uint64_t number = size >= DIGITS ? strtoull(text, NULL, 16) : 0;
    int named = (size == DIGITS || size == TOOL_SEGMENT_SIZE - 1) && strncmp(tool_segment_text(number, name), text, size) == 0;
    return named ? number : tool_number("--segment", text);
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

static void check_options(const struct cat *c)
{
    const tool_span *s = &c->span;
    tool_span_check(s);
    if ((c->ranged || c->range.segment != 0) && (s->saved || s->save || s->from.text || s->to.text))
        tool_usage("--segment and --range do not go with keys and saved cursors");
    if (c->follows && (c->ranged || c->range.segment)) tool_usage("-f follows a whole log, not a part of it");
    if (c->follows && s->reverse) tool_usage("-f goes on at the end: --reverse goes away from there");
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

/* Of a range of bytes, which is walked as a whole. Nothing is out of bounds that a plain seed file does not tell. */
static int is_wanted(const struct cat *c, const u9_record *record)
{
    const tool_span *s = &c->span;
    if (!c->ranged && c->range.segment == 0) return 1; /* the cursor knows */
    if (record->time_us == 0 && (s->since > 0 || s->until != TOOL_NONE)) return 0;
    if (s->from.ordinal != TOOL_NONE && record->ordinal < s->from.ordinal) return 0;
    return record->ordinal < s->to.ordinal && record->time_us >= s->since && record->time_us < s->until;
}

/* A record in pieces. What cannot be shown of it is said, and the walk goes on. */
static int put_large(struct cat *c, const u9_record *record)
{
    int status = tool_put_large(&c->style, c->log, record);
    if (status > c->status) c->status = status;
    return status;
}

static int put(struct cat *c, const u9_record *record)
{
    if (record->bytes) tool_put_record(&c->style, record);
    else if (put_large(c, record) == TOOL_IO) return TOOL_IO;
    return tool_stdout_failed() ? TOOL_IO : TOOL_DONE; /* tool_finish says why */
}

static u9_err next(const struct cat *c, u9_cursor *cursor, u9_record *record)
{
    return c->follows ? tool_follow_next(cursor, record) : tool_span_next(&c->span, cursor, record);
}

/* Prints what comes next, up to the end of the part. */
static int walk(struct cat *c, u9_cursor *cursor)
{
    u9_record record;
    u9_err err = U9_END;
    uint64_t printed = 0;
    while (printed < c->span.limit && ((err = next(c, cursor, &record)) == U9_OK || err == U9_LIMIT)) {
        if (!is_wanted(c, &record)) continue;
        if (put(c, &record) != TOOL_DONE) return TOOL_IO;
        printed++;
    }
    if (err == U9_OK || err == U9_END || err == U9_LIMIT) return TOOL_DONE;
    u9_fault fault;
    u9_cursor_fault(cursor, &fault);
    return tool_read_fault(c->path, &fault);
}

/* To where the walk begins. */
static int begin(struct cat *c, u9_cursor *cursor)
{
    u9_seek end = {.size = sizeof end, .kind = U9_SEEK_END};
    u9_fault fault;
    if (!c->ranged && c->range.segment == 0) return tool_span_begin(&c->span, c->log, c->path, cursor);
    if (!c->span.reverse || u9_cursor_seek(cursor, &end) == U9_OK) return TOOL_DONE;
    u9_cursor_fault(cursor, &fault);
    return tool_read_fault(c->path, &fault);
}

static int read_part(struct cat *c)
{
    u9_cursor *cursor;
    u9_fault fault;
    if (u9_cursor_open(c->log, &c->range, &cursor, &fault) != U9_OK) return tool_read_fault(c->path, &fault);
    int status = begin(c, cursor);
    if (status != TOOL_DONE && c->status > status) status = c->status; /* a bound that was not found may have been lost */
    if (status == TOOL_DONE && c->follows && u9_cursor_follow(cursor, U9_SHOW_DURABLE) != U9_OK) {
        u9_cursor_fault(cursor, &fault);
        status = tool_read_fault(c->path, &fault);
    }
    if (status == TOOL_DONE) {
        status = walk(c, cursor);
        int saved = status == TOOL_DONE ? tool_span_save(&c->span, cursor) : TOOL_DONE;
        if (saved != TOOL_DONE) status = saved;
    }
    u9_cursor_close(cursor);
    return status;
}

static int run(struct cat *c)
{
    u9_fault fault;
    u9_options options = {.size = sizeof options, .mode = U9_READ, .on_damage = on_damage,
                          .on_damage_ctx = c, .mend = c->mends};
    if (c->follows) tool_follow_begin();
    int came;
    u9_err opened = c->follows ? tool_follow_open(c->path, &options, &c->log, &came, &fault)
                               : u9_log_open(c->path, &options, &c->log, &fault);
    if (opened == U9_END) return TOOL_DONE; /* it was stopped */
    if (opened != U9_OK) return tool_read_fault(c->path, &fault);
    if (!c->follows && c->style.format != TOOL_RAW) tool_page(c->unpaged);
    int status = tool_style_begin(&c->style, c->log);
    if (status == TOOL_DONE) status = check_segment(c);
    if (status == TOOL_DONE) status = read_part(c);
    u9_err err = u9_log_close(c->log, &fault);
    if (err != U9_OK && status == TOOL_DONE) status = tool_read_fault(c->path, &fault);
    return status == TOOL_DONE ? c->status : status;
}

enum { FORMAT = 256, KEYS, NULLS, RANGE, SEGMENT, MEND, NO_PAGER };

static const struct argp_option option_table[] = {
    {"format", FORMAT, "FORMAT", 0,
     "lines (default): values and tabs; json: an object a line; raw: the record's bytes", 0},
    {"keys", KEYS, 0, 0, "Put the key and a tab in front of each record (lines only)", 0},
    {"null", NULLS, 0, 0, "Records end in NUL, not in newline (lines, json)", 0},
    TOOL_SPAN_OPTIONS,
    TOOL_SPAN_SAVED_OPTIONS,
    {"segment", SEGMENT, "N", 0, "Only this segment: its number, or as its file is called, in hex: 16 is 0000000000000010.u9", 0},
    {"range", RANGE, "B-E", 0, "Only the frames that begin at bytes B to E of that segment", 0},
    {"mend", MEND, 0, 0, "Also what is in frames whose header or trailer is damaged, where they can be put together again", 0},
    {"follow", 'f', 0, 0, "At the end wait for more, also for LOG itself, until SIGINT or SIGTERM", 0},
    TOOL_PAGER_OPTION(NO_PAGER),
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cat *c = (struct cat *)state->input;
    switch (key) {
    case FORMAT: c->style.format = tool_format_parse(arg); break;
    case KEYS: c->style.keys = 1; break;
    case NULLS: c->style.null = 1; break;
    case RANGE: parse_range(c, arg); break;
    case SEGMENT:
        c->range.segment = segment_number(arg);
        if (c->range.segment == 0) tool_usage("--segment 0: segments are numbered from 1");
        break;
    case 'f': c->follows = 1; break;
    case MEND: c->mends = 1; break;
    case NO_PAGER: c->unpaged = 1; break;
    case ARGP_KEY_END: check_options(c); break;
    default: return tool_span_parse(&c->span, key, arg) ? 0 : tool_argp_log(key, arg, state, &c->path);
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
    struct cat c = {.span = TOOL_SPAN_NONE, .range.size = sizeof c.range};
    tool_parse(&parser, argc, argv, &c);
    return run(&c);
}
