/*
 * tools/verb_stat.c: `u9 stat`: how a log stands now, and with --watch how it grows: records, what is durable of them, how
 * many a second, and how many bytes.
 *
 * Only the ends of the log are read: its last record, the mark, and what a cursor that follows shows behind the mark: that
 * is at most what was written within a second. Bytes are those of the segments' files, from the place where the log ended at
 * one look to where it does at the next. What is in the log, and whether it is whole, `u9 info` says.
 */
#include "tools/args.h"
#include "tools/follow.h"
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>
#include <u9/cursor.h>

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MINUTE = 60,        /* seconds that the rate is of where nothing is watched */
    DRAIN_MAX = 1 << 20 /* records behind the mark that are counted in one look */
};

struct stat_ask {
    const char *path;
    u9_log *log;
    int json, watch;
    uint64_t every_ms, lines; /* lines: 0: until it is stopped */
    int status;
};

/* A place in the files of a log. */
struct place {
    uint64_t segment, offset;
};

/* How the log stood at a moment. TOOL_NONE: there is no record, or nobody knows. */
struct look {
    double at;              /* seconds of a clock that only grows */
    uint64_t first;         /* ordinal of the first record, */
    uint64_t next, durable; /*   of what comes behind the last one, behind the last durable one */
    uint64_t last_us;       /* when the last record was written; 0: not known */
    struct place end;       /* its frame begins there, or something behind it does; segment 0: there is none */
};

/* How it grows, a second. */
struct rate {
    double records, bytes;
};

/* What is damaged is for others to say. */
static void on_damage(void *ctx, const u9_damage *damage)
{
    (void)ctx;
    (void)damage;
}

static int tell_cursor(const struct stat_ask *s, const u9_cursor *cursor)
{
    u9_fault fault;
    u9_cursor_fault(cursor, &fault);
    return tool_read_fault(s->path, &fault);
}

/* A cursor at a place of the log as it is now, and the record behind (or `back`: in front of) it, if there is one. */
static int look_at(const struct stat_ask *s, const u9_seek *to, int back, u9_record *out, u9_err *err)
{
    u9_cursor *cursor;
    u9_fault fault;
    int status = TOOL_DONE;
    if (u9_log_seek(s->log, to, &cursor, &fault) != U9_OK) return tool_read_fault(s->path, &fault);
    *err = back ? u9_cursor_prev(cursor, out) : u9_cursor_next(cursor, out);
    if (*err == U9_LIMIT) *err = U9_OK; /* all is known of it but its bytes */
    if (*err != U9_OK && *err != U9_END) status = tell_cursor(s, cursor);
    u9_cursor_close(cursor);
    return status;
}

/* The mark says what was durable within a second; a cursor that follows from there shows what is since. */
static int look_durable(const struct stat_ask *s, struct look *l)
{
    u9_mark mark;
    u9_fault fault;
    u9_cursor *cursor;
    u9_record record;
    u9_err err = u9_mark_read(s->path, NULL, &mark, &fault);
    if (err == U9_NOMEM || err == U9_IO) return tool_read_fault(s->path, &fault);
    if (err != U9_OK) return TOOL_DONE; /* nothing says it */
    u9_seek to = {.size = sizeof to, .kind = U9_SEEK_ORDINAL, .number = mark.ordinal};
    if (u9_log_seek(s->log, &to, &cursor, &fault) != U9_OK) return tool_read_fault(s->path, &fault);
    l->durable = mark.ordinal;
    l->end = (struct place){mark.segment, mark.offset};
    int status = TOOL_DONE;
    err = u9_cursor_follow(cursor, U9_SHOW_DURABLE);
    for (unsigned i = 0; err == U9_OK && i < DRAIN_MAX; i++) {
        err = u9_cursor_next(cursor, &record);
        if (err == U9_LIMIT) err = U9_OK;
        if (err == U9_OK) l->durable = record.ordinal + 1;
    }
    int file = err == U9_ARG; /* which is not followed */
    if (err != U9_OK && err != U9_END && !file) status = tell_cursor(s, cursor);
    u9_cursor_close(cursor);
    return status;
}

/* The log goes on at least up to there. */
static void reaches(struct look *l, uint64_t segment, uint64_t offset)
{
    if (segment > l->end.segment || (segment == l->end.segment && offset > l->end.offset))
        l->end = (struct place){segment, offset};
}

static int take_look(const struct stat_ask *s, struct look *l)
{
    u9_seek start = {.size = sizeof start, .kind = U9_SEEK_START}, end = {.size = sizeof end, .kind = U9_SEEK_END};
    u9_record record;
    u9_err err = U9_END;
    *l = (struct look){.at = tool_seconds(), .first = TOOL_NONE, .durable = TOOL_NONE};
    int status = look_durable(s, l);
    if (status == TOOL_DONE) status = look_at(s, &start, 0, &record, &err);
    if (status == TOOL_DONE && err == U9_OK) l->first = record.ordinal;
    if (status == TOOL_DONE) status = look_at(s, &end, 1, &record, &err);
    if (status != TOOL_DONE) return status;
    if (err == U9_OK) {
        l->next = record.ordinal + 1;
        l->last_us = record.time_us;
        reaches(l, record.segment, record.frame);
    }
    /* all was trimmed, there was none yet, or some were appended between the two */
    if (l->durable != TOOL_NONE && l->durable > l->next) l->next = l->durable;
    return TOOL_DONE;
}

static uint64_t behind(const struct look *l)
{
    return l->durable == TOOL_NONE ? TOOL_NONE : l->next - l->durable;
}

/* Bytes of files between two places. */
struct between {
    struct place from, to;
    uint64_t bytes;
};

static void add_segment(void *ctx, const u9_index_info *info)
{
    struct between *b = (struct between *)ctx;
    uint64_t begin = info->segment == b->from.segment ? b->from.offset : 0,
             end = info->segment == b->to.segment ? b->to.offset : info->bytes;
    if (info->segment >= b->from.segment && info->segment <= b->to.segment && end > begin) b->bytes += end - begin;
}

/* How many; of a log that has gone, or cannot be looked at any more, those that are known. */
static uint64_t bytes_between(const struct stat_ask *s, struct place from, struct place to)
{
    struct between b = {from, to, 0};
    u9_index_options look = {.size = sizeof look, .on_segment = add_segment, .ctx = &b};
    u9_index_report report = {.size = sizeof report};
    if (from.segment == to.segment) return to.offset > from.offset ? to.offset - from.offset : 0;
    if (from.segment == 0) b.from.segment = to.segment; /* it was empty */
    (void)!u9_indexes_look(s->path, &look, &report, NULL);
    return b.bytes;
}

/* Over the last minute, by the times of records. */
static int rate_of_minute(const struct stat_ask *s, const struct look *l, struct rate *rate)
{
    u9_seek then = {.size = sizeof then, .kind = U9_SEEK_TIME, .number = tool_now_us() - (uint64_t)MINUTE * 1000000};
    u9_record record;
    u9_err err = U9_END;
    *rate = (struct rate){0, 0};
    if (l->last_us < then.number) return TOOL_DONE;
    int status = look_at(s, &then, 0, &record, &err);
    if (status != TOOL_DONE || err != U9_OK || record.ordinal >= l->next) return status;
    struct place from = {record.segment, record.frame};
    rate->records = (double)(l->next - record.ordinal) / MINUTE;
    rate->bytes = (double)bytes_between(s, from, l->end) / MINUTE;
    return TOOL_DONE;
}

/* Between two looks. */
static struct rate rate_between(const struct stat_ask *s, const struct look *before, const struct look *now)
{
    double spent = now->at - before->at;
    if (now->next <= before->next || spent <= 0) return (struct rate){0, 0};
    return (struct rate){(double)(now->next - before->next) / spent,
                         (double)bytes_between(s, before->end, now->end) / spent};
}

static int put_json(const struct stat_ask *s, const struct look *l, struct rate rate)
{
    char text[48];
    json_t *json = tool_json_with(json_object(), "type", json_string("stat"));
    json = tool_json_with(json, "path", tool_json_text(s->path));
    json = tool_json_with(json, "first_ordinal", tool_json_number(l->first));
    json = tool_json_with(json, "next_ordinal", tool_json_number(l->next));
    json = tool_json_with(json, "durable_ordinal", tool_json_number(l->durable));
    json = tool_json_with(json, "behind", tool_json_number(behind(l)));
    json = tool_json_with(json, "records_per_second", json_real(rate.records));
    json = tool_json_with(json, "bytes_per_second", json_real(rate.bytes));
    json = tool_json_with(json, "last_time", l->last_us ? json_string(tool_time_text(l->last_us, text)) : json_null());
    int status = tool_put_object(json);
    fflush(stdout); /* what fails is told at the end */
    return status;
}

/* The records in front of `end` as a row of numbers: "0..41". */
static const char *row_text(const struct look *l, uint64_t end, char out[48])
{
    if (l->first == TOOL_NONE || end <= l->first) snprintf(out, 48, "none");
    else snprintf(out, 48, "%" PRIu64 "..%" PRIu64, l->first, end - 1);
    return out;
}

static int put_once(const struct stat_ask *s, const struct look *l, struct rate rate)
{
    char text[48], age[TOOL_AGE_SIZE], bytes[24];
    if (s->json) return put_json(s, l, rate);
    printf("%-8s %s\n", "log", s->path);
    if (l->first == TOOL_NONE) printf("%-8s none, the next is %" PRIu64 "\n", "records", l->next);
    else printf("%-8s %s\n", "records", row_text(l, l->next, text));
    if (l->durable == TOOL_NONE) printf("%-8s not known: no mark counts\n", "durable");
    else
        printf("%-8s %s\n%-8s %" PRIu64 " record%s\n", "durable", row_text(l, l->durable, text), "behind", behind(l),
               tool_plural(behind(l)));
    printf("%-8s %.1f/s over a minute\n", "rate", rate.records);
    printf("%-8s %s/s over a minute\n", "bytes", tool_bytes_text((uint64_t)rate.bytes, bytes));
    if (l->last_us > 0)
        printf("%-8s %s\n%-8s %s\n", "last", tool_time_text(l->last_us, text), "ago", tool_age_text(l->last_us, age));
    return TOOL_DONE;
}

enum { PARTS = 5, PART_SIZE = 48 };

/* What a line of --watch says, the most wanted first. Records are named by their numbers, so that nobody is off by one. */
static void fill_parts(const struct look *l, struct rate rate, char parts[PARTS][PART_SIZE])
{
    char bytes[24];
    snprintf(parts[0], PART_SIZE, "%.0f/s", rate.records);
    if (l->durable == TOOL_NONE) snprintf(parts[1], PART_SIZE, "  durable ?");
    else if (l->durable == 0) snprintf(parts[1], PART_SIZE, "  durable none");
    else snprintf(parts[1], PART_SIZE, "  durable #%" PRIu64, l->durable - 1);
    snprintf(parts[2], PART_SIZE, "  behind %" PRIu64, l->durable == TOOL_NONE ? 0 : behind(l));
    if (l->durable == TOOL_NONE) parts[2][0] = '\0';
    snprintf(parts[3], PART_SIZE, "  %s/s", tool_bytes_text((uint64_t)rate.bytes, bytes));
    if (l->next == 0) snprintf(parts[4], PART_SIZE, "  last none");
    else snprintf(parts[4], PART_SIZE, "  last #%" PRIu64, l->next - 1);
}

/* One line, written over and over on a terminal: as many of its parts as fit. */
static void put_line(const struct look *l, struct rate rate, int terminal)
{
    char parts[PARTS][PART_SIZE];
    unsigned columns = terminal ? tool_columns(STDOUT_FILENO) : 0;
    size_t used = 0, room = columns > 0 ? columns - 1 : SIZE_MAX;
    fill_parts(l, rate, parts);
    if (terminal) fputs("\r\033[K", stdout);
    for (size_t i = 0; i < PARTS && used + strlen(parts[i]) <= room; i++) {
        fputs(parts[i], stdout);
        used += strlen(parts[i]);
    }
    if (!terminal) putchar('\n');
    fflush(stdout); /* what fails is told at the end */
}

static int watch(const struct stat_ask *s)
{
    struct look before, now;
    int terminal = isatty(STDOUT_FILENO), status = take_look(s, &before), told = 0;
    for (uint64_t i = 0; status == TOOL_DONE && (s->lines == 0 || i < s->lines); i++) {
        if (tool_follow_pause((int)s->every_ms)) break;
        status = take_look(s, &now);
        if (status != TOOL_DONE) break;
        struct rate rate = rate_between(s, &before, &now);
        if (s->json) status = put_json(s, &now, rate);
        else put_line(&now, rate, terminal);
        told = 1;
        before = now;
        if (tool_stdout_failed()) break; /* tool_finish says why */
    }
    if (told && terminal && !s->json) putchar('\n');
    return status;
}

static int run(struct stat_ask *s)
{
    u9_fault fault;
    struct look l;
    struct rate rate;
    u9_options options = {.size = sizeof options, .mode = U9_READ, .on_damage = on_damage};
    if (s->watch) tool_follow_begin();
    if (u9_log_open(s->path, &options, &s->log, &fault) != U9_OK)
        return tool_read_fault(s->path, &fault);
    int status = s->watch ? watch(s) : take_look(s, &l);
    if (status == TOOL_DONE && !s->watch) status = rate_of_minute(s, &l, &rate);
    if (status == TOOL_DONE && !s->watch) status = put_once(s, &l, rate);
    u9_err err = u9_log_close(s->log, &fault);
    return err != U9_OK && status == TOOL_DONE ? tool_read_fault(s->path, &fault) : status;
}

enum { EVERY = 256 };

static const struct argp_option option_table[] = {
    {"watch", 'w', 0, 0, "Go on until SIGINT or SIGTERM: a line a second, on a terminal one that is written over", 0},
    {"every", EVERY, "MS", 0, "With --watch: a look every MS milliseconds, 10 to 3600000 (1000)", 0},
    {"limit", 'n', "N", 0, "With --watch: N lines, then it ends", 0},
    {"json", 'j', 0, 0, "A JSON object for each look, numbers of 64 bits as strings", 0},
    {0},
};

static void check_options(const struct stat_ask *s)
{
    if (!s->watch && (s->every_ms || s->lines)) tool_usage("--every and --limit go with --watch");
}

static error_t parse(int option, char *arg, struct argp_state *state)
{
    struct stat_ask *s = (struct stat_ask *)state->input;
    switch (option) {
    case 'w': s->watch = 1; break;
    case 'j': s->json = 1; break;
    case 'n':
        s->lines = tool_number("--limit", arg);
        tool_within("--limit", s->lines, 1, UINT64_MAX, "");
        break;
    case EVERY:
        s->every_ms = tool_number("--every", arg);
        tool_within("--every", s->every_ms, 10, 3600000, "milliseconds");
        break;
    case ARGP_KEY_END: check_options(s); break;
    default: return tool_argp_log(option, arg, state, &s->path);
    }
    return 0;
}

int verb_stat(int argc, char **argv)
{
    static const struct argp parser = {
        option_table,
        parse,
        "LOG",
        "Says how LOG stands now: which records it has, which of them are on the disk, how many are behind that, and how many "
        "come a second, and bytes. Only its ends are read, so that takes a moment however large LOG is. A writer may be at work.",
        NULL,
        NULL,
        NULL};
    struct stat_ask s = {.path = NULL};
    tool_parse(&parser, argc, argv, &s);
    if (s.every_ms == 0) s.every_ms = 1000;
    return run(&s);
}
