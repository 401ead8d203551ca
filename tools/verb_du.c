/*
 * tools/verb_du.c: `u9 du`: what takes the space of a log: data, keys, headers and padding, indexes, what is reserved.
 *
 * Two passes: a check, which says what stands where in each file, and a scan on several threads, which measures records.
 * What is neither a record's, an index's nor reserved, and is not damaged, is what frames and blocks cost: headers, trailers,
 * control records and padding. Where frames are compressed, records are larger than what stands there: that is told as
 * saved, for the log as a whole; of a segment nobody knows it.
 */
#include "tools/json.h"
#include "tools/progress.h"
#include "tools/scan.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a segment, or of all: bytes, and records. */
typedef struct share {
    uint64_t segment, records;
    uint64_t size;       /* of the file, and of the index beside it */
    uint64_t data, keys; /* of records, before compression */
    uint64_t index, reserved, damaged;
    uint64_t saved; /* by compression; TOOL_NONE: not known of this segment */
} share;

struct du {
    const char *path;
    int json, segments;
    unsigned threads;
    share *shares;
    size_t count, room;
    int no_memory;
    pthread_mutex_t lock; /* guards the shares while records are measured */
    share *parts;         /* one for each range: what it has of the segment that it is in */
    uint64_t next;        /* records from here on came after the check, and are not measured */
    tool_progress bar;
};

/* The share of a segment, which is made if it is missing; NULL: no memory. */
static share *share_of(struct du *d, uint64_t segment)
{
    for (size_t i = d->count; i-- > 0;)
        if (d->shares[i].segment == segment) return &d->shares[i];
    if (d->count == d->room) {
        size_t room = d->room ? 2 * d->room : 16;
        share *wider = realloc(d->shares, room * sizeof *wider);
        if (wider == NULL) return d->no_memory = 1, NULL;
        d->shares = wider;
        d->room = room;
    }
    d->shares[d->count] = (share){.segment = segment};
    return &d->shares[d->count++];
}

static void on_segment(void *ctx, const u9_index_info *info)
{
    share *s = share_of((struct du *)ctx, info->segment);
    if (s == NULL) return;
    s->size += info->bytes;
    if (info->place != U9_INDEX_BESIDE) return;
    s->size += info->index_bytes;
    s->index += info->index_bytes;
}

static void on_stretch(void *ctx, const u9_stretch *stretch)
{
    share *s = share_of((struct du *)ctx, stretch->segment);
    if (s == NULL) return;
    if (stretch->kind == U9_STRETCH_INDEX) s->index += stretch->end - stretch->begin;
    if (stretch->kind == U9_STRETCH_RESERVED) s->reserved += stretch->end - stretch->begin;
}

/* Bytes in front of a segment's end that are not what they were; what a crash tore counts as reserved. */
static void on_damage(void *ctx, const u9_damage *damage)
{
    if (damage->verdict < U9_V_UNKNOWN || damage->mended || damage->begin >= damage->end) return;
    share *s = share_of((struct du *)ctx, damage->segment);
    if (s) s->damaged += damage->end - damage->begin;
}

static int on_progress(void *ctx, uint64_t done, uint64_t all)
{
    return tool_progress_tell(&((struct du *)ctx)->bar, done, all);
}

/* Adds what was measured of a segment. */
static void give(struct du *d, share *part)
{
    if (part->records == 0) return;
    pthread_mutex_lock(&d->lock);
    share *s = share_of(d, part->segment);
    if (s) {
        s->records += part->records;
        s->data += part->data;
        s->keys += part->keys;
    }
    pthread_mutex_unlock(&d->lock);
    *part = (share){0};
}

static int visit(void *ctx, size_t range, const u9_record *record)
{
    struct du *d = (struct du *)ctx;
    share *part = &d->parts[range];
    if (record->ordinal >= d->next && record->time_us > 0) return 0;
    if (part->segment != record->segment) {
        give(d, part);
        part->segment = record->segment;
    }
    part->records++;
    part->data += record->values_size;
    part->keys += record->size - record->values_size;
    return 1;
}

static void leave(void *ctx, size_t range)
{
    struct du *d = (struct du *)ctx;
    give(d, &d->parts[range]);
}

/* Where what stands: fills `report`. */
static int check(struct du *d, u9_report *report)
{
    u9_fault fault;
    u9_index_report indexes = {.size = sizeof indexes};
    u9_index_options look = {.size = sizeof look, .on_segment = on_segment, .ctx = d};
    u9_check_options options = {.size = sizeof options,
                                .on_damage = on_damage,
                                .on_progress = on_progress,
                                .ctx = d,
                                .on_stretch = on_stretch,
                                .threads = d->threads};
    if (u9_indexes_look(d->path, &look, &indexes, &fault) != U9_OK)
        return tool_read_fault(d->path, &fault);
    tool_progress_begin(&d->bar, 1);
    u9_err err = u9_check(d->path, &options, report, &fault);
    tool_progress_end(&d->bar);
    return err == U9_OK ? TOOL_DONE : tool_read_fault(d->path, &fault);
}

static int begin(void *ctx, size_t ranges)
{
    struct du *d = (struct du *)ctx;
    d->parts = calloc(ranges, sizeof *d->parts);
    return d->parts ? TOOL_DONE : tool_nomem("the ranges");
}

static int measure(struct du *d, u9_log *log)
{
    scan s = {.path = d->path, .log = log, .threads = d->threads, .visit = visit, .leave = leave, .ctx = d};
    int status = scan_all(&s, begin);
    if (d->no_memory && !s.failed) status = tool_nomem("the segments");
    free(d->parts);
    scan_free(&s);
    return status;
}

/* What is left of a share. TOOL_NONE: not known. */
static uint64_t headers(const share *s)
{
    uint64_t all = s->data + s->keys + s->index + s->reserved + s->damaged;
    if (s->saved == TOOL_NONE) return TOOL_NONE;
    return s->size + s->saved > all ? s->size + s->saved - all : 0;
}

typedef struct line {
    const char *label, *name; /* for people, and in JSON */
    uint64_t bytes;
} line;

enum { LINES = 7 };

static void fill_lines(const share *s, line out[LINES])
{
    const line lines[LINES] = {{"data", "data_bytes", s->data},
                               {"keys", "key_bytes", s->keys},
                               {"headers", "header_bytes", headers(s)},
                               {"indexes", "index_bytes", s->index},
                               {"reserved", "reserved_bytes", s->reserved},
                               {"damaged", "damaged_bytes", s->damaged},
                               {"saved", "saved_bytes", s->saved}};
    memcpy(out, lines, sizeof lines);
}

static int put_json(const struct du *d, const char *type, const share *s, size_t segments)
{
    line lines[LINES];
    fill_lines(s, lines);
    json_t *json = tool_json_with(json_object(), "type", json_string(type));
    json = tool_json_with(json, "path", tool_json_text(d->path));
    if (segments > 0) json = tool_json_with(json, "segments", tool_json_number(segments));
    else json = tool_json_with(json, "segment", tool_json_number(s->segment));
    json = tool_json_with(json, "records", tool_json_number(s->records));
    json = tool_json_with(json, "bytes", tool_json_number(s->size));
    for (size_t i = 0; i < LINES; i++)
        json = tool_json_with(json, lines[i].name, tool_json_number(lines[i].bytes));
    return tool_put_object(json);
}

/* A line for each that is not nothing, and their sum. */
static void put_block(const share *s)
{
    line lines[LINES];
    char bytes[24];
    fill_lines(s, lines);
    for (size_t i = 0; i < LINES; i++) {
        if (lines[i].bytes == TOOL_NONE || (lines[i].bytes == 0 && i > 2)) continue;
        printf("%-9s %s%9s  %5.1f %%\n", lines[i].label, i == LINES - 1 ? "-" : " ",
               tool_bytes_text(lines[i].bytes, bytes),
               s->size ? 100 * (double)lines[i].bytes / (double)s->size : 0);
    }
    printf("%-9s  %9s\n", "all", tool_bytes_text(s->size, bytes));
}

/* Segments on a line each, or, where the terminal is too narrow for that, in a block each. */
static void put_segment(const share *s, int narrow)
{
    char name[TOOL_SEGMENT_SIZE], bytes[24];
    line lines[LINES];
    fill_lines(s, lines);
    printf(narrow ? "%s\n" : "%s", tool_segment_text(s->segment, name));
    if (narrow) {
        put_block(s);
        return;
    }
    printf(" %9s", tool_bytes_text(s->size, bytes));
    for (size_t i = 0; i < 5; i++)
        printf(" %9s", lines[i].bytes == TOOL_NONE ? "-"
                       : lines[i].bytes == 0       ? "0"
                                                   : tool_bytes_text(lines[i].bytes, bytes));
    putchar('\n');
}

enum { TABLE_COLUMNS = TOOL_SEGMENT_SIZE - 1 + 6 * 10 };

static void put_segments(const struct du *d)
{
    unsigned columns = tool_columns(STDOUT_FILENO);
    int narrow = columns > 0 && columns < TABLE_COLUMNS;
    if (!narrow)
        printf("%-*s %9s %9s %9s %9s %9s %9s\n", TOOL_SEGMENT_SIZE - 1, "segment", "all", "data",
               "keys", "headers", "index", "reserved");
    for (size_t i = 0; i < d->count; i++) put_segment(&d->shares[i], narrow);
    if (narrow) puts("in all");
}

static int put(struct du *d, const u9_report *report)
{
    int status = TOOL_DONE;
    share all = {.saved = report->lz4_frames > 0 && report->body_bytes > report->stored_bytes
                              ? report->body_bytes - report->stored_bytes
                              : 0};
    for (size_t i = 0; i < d->count; i++) {
        share *s = &d->shares[i];
        s->saved = report->lz4_frames > 0 && d->count > 1 ? TOOL_NONE : all.saved;
        all.records += s->records, all.size += s->size, all.data += s->data, all.keys += s->keys;
        all.index += s->index, all.reserved += s->reserved, all.damaged += s->damaged;
    }
    if (d->json) {
        for (size_t i = 0; d->segments && status == TOOL_DONE && i < d->count; i++)
            status = put_json(d, "share", &d->shares[i], 0);
        return status == TOOL_DONE ? put_json(d, "du", &all, d->count) : status;
    }
    if (d->segments) put_segments(d);
    put_block(&all);
    return TOOL_DONE;
}

static int run(struct du *d)
{
    u9_fault fault;
    u9_log *log;
    u9_report report = {.size = sizeof report};
    u9_options options = {.size = sizeof options, .mode = U9_READ, .on_damage = scan_note_damage};
    if (u9_log_open(d->path, &options, &log, &fault) != U9_OK)
        return tool_read_fault(d->path, &fault);
    int status = check(d, &report), lost = TOOL_DONE;
    if (status == TOOL_DONE) {
        d->next = report.next_ordinal;
        lost = measure(d, log);
        status = lost == TOOL_DONE || lost == TOOL_LOST ? put(d, &report) : lost;
    }
    u9_err err = u9_log_close(log, &fault);
    if (err != U9_OK && status == TOOL_DONE) status = tool_read_fault(d->path, &fault);
    return status == TOOL_DONE ? lost : status;
}

enum { SEGMENTS = 's' };

static const struct argp_option option_table[] = {
    {"segments", SEGMENTS, 0, 0, "Each segment, too", 0},
    {"json", 'j', 0, 0, "JSON objects, one a line, numbers of 64 bits as strings", 0},
    {0},
};

static error_t parse(int option, char *arg, struct argp_state *state)
{
    struct du *d = (struct du *)state->input;
    switch (option) {
    case SEGMENTS: d->segments = 1; break;
    case 'j': d->json = 1; break;
    default: return tool_argp_log(option, arg, state, &d->path);
    }
    return 0;
}

int verb_du(int argc, char **argv)
{
    static const struct argp parser = {
        option_table,
        parse,
        "LOG",
        "Says what takes the space of LOG: data (values), keys, headers (with trailers, control records and padding), indexes, "
        "what is reserved ahead, what is damaged, and what compression saved. All of LOG is read. Damage is told on standard "
        "error, a line each; if records were lost to it, the exit status is 3. If some of it was trimmed before it was "
        "read, nothing is printed, and it is 1.",
        NULL,
        NULL,
        NULL};
    struct du d = {.threads = scan_processors(), .lock = PTHREAD_MUTEX_INITIALIZER};
    tool_parse(&parser, argc, argv, &d);
    int status = run(&d);
    free(d.shares);
    return status;
}
