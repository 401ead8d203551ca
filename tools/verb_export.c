/*
 * tools/verb_export.c: `u9 export`: records as rows of another format.
 *
 * A format that wants to know its columns first (convert.h) has the log walked twice: what came behind the end of the first
 * walk is left for the next time. A FILE is made anew, and removed again where something fails.
 */
#include "tools/convert.h"
#include "tools/damage.h"
#include "tools/json_tree.h"
#include "tools/key.h"
#include "tools/progress.h"
#include "tools/skip.h"
#include "tools/span.h"
#include "tools/stop.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/value_json.h"
#include "tools/verb.h"

#include <u9.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOTE_MANY = 1, SKIPPED = -1 /* a status within this file: go on with the next record */ };

struct export
{
    const struct convert_format *format;
    const char *path, *file;
    struct convert_options convert;
    tool_span span;
    const char *key_field, *time_field;
    int progress, verbose;
    tool_skips skips;
    u9_log *log;
    struct convert_writer writer;
    u9_builder tuple, built;      /* of a record that is not written as it stands */
    uint64_t records, bytes, end; /* `end`: the highest ordinal of the first walk, + 1 */
    int second, status;
    unsigned told;
    tool_progress bar;
};

typedef int step(struct export *e, const struct convert_row *row);

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct export *e = (struct export *)ctx;
    if (tool_span_tells(&e->span, damage) && !e->second) tool_on_damage(&e->status, damage);
}

/* A record that has no row. */
static int refuse(struct export *e, const u9_record *record, const char *why)
{
    if (convert_is_short(why)) return tool_nomem("a row");
    if (!e->skips.on)
        return tool_say(TOOL_REFUSED, "%s: record %" PRIu64 ": %s", e->path, record->ordinal, why);
    if (!e->second)
        (void)!tool_skip(&e->skips, "%s: record %" PRIu64 ": %s", e->path, record->ordinal, why);
    return SKIPPED;
}

/* The record's value: the one that it has, or all of them in a tuple. */
static const char *value_of(struct export *e, const u9_record *record, u9_value *out)
{
    u9_walk walk = u9_walk_bytes(record->values, (size_t)record->values_size);
    u9_value v;
    uint64_t count = 0;
    for (; u9_walk_next(&walk, &v) == U9_OK; count++) {
        if (u9_value_check(v.start, v.encoded, NULL, NULL) != U9_OK)
            return "its value is malformed";
        *out = v;
    }
    if (count == 1) return NULL;
    convert_tell(&e->told, NOTE_MANY,
                 "records that have not one value are written as an array of them");
    u9_builder_clear(&e->built);
    u9_err err = u9_build_tuple_open(&e->built);
    walk = u9_walk_bytes(record->values, (size_t)record->values_size);
    while (err == U9_OK && u9_walk_next(&walk, &v) == U9_OK)
        err = u9_build_raw(&e->built, v.start, v.encoded);
    if (err == U9_OK) err = u9_build_tuple_close(&e->built);
    if (err == U9_OK) err = u9_value_decode(e->built.bytes, e->built.size, out);
    if (err == U9_NOMEM) return tool_no_memory;
    return err == U9_OK ? NULL : "its values together are more than 16 MiB";
}

static u9_err build_text_pair(u9_builder *b, const char *name, const char *text)
{
    u9_err err = u9_build_tuple_open(b);
    if (err == U9_OK) err = u9_build_utf8(b, name, strlen(name));
    if (err == U9_OK) err = u9_build_utf8(b, text, strlen(text));
    return err == U9_OK ? u9_build_tuple_close(b) : err;
}

static u9_err build_pairs(struct export *e, const u9_record *record, const u9_value *value,
                          u9_builder *b)
{
    char key[TOOL_KEY_TEXT_SIZE], time[48];
    u9_walk walk = u9_walk_elements(value);
    u9_value pair;
    u9_err err = u9_build_tuple_open(b);
    if (err == U9_OK && e->key_field)
        err = build_text_pair(
            b, e->key_field,
            tool_key_text(tool_kind(e->log), record->key.data, record->key.size, key));
    if (err == U9_OK && e->time_field)
        err = build_text_pair(b, e->time_field, tool_time_text(record->time_us, time));
    if (tool_is_object(value)) {
        while (err == U9_OK && u9_walk_next(&walk, &pair) == U9_OK)
            err = u9_build_raw(b, pair.start, pair.encoded);
    } else {
        if (err == U9_OK) err = u9_build_tuple_open(b);
        if (err == U9_OK) err = u9_build_utf8(b, "value", 5);
        if (err == U9_OK) err = u9_build_raw(b, value->start, value->encoded);
        if (err == U9_OK) err = u9_build_tuple_close(b);
    }
    return err == U9_OK ? u9_build_tuple_close(b) : err;
}

/* An object of the key, the time and the value's members, or the value. */
static const char *build_object(struct export *e, const u9_record *record, u9_value *value)
{
    static const char taken[] = "it has a field of the name that --key-field or --time-field gives",
                      long_row[] =
                          "with its key and time it is more than 16 MiB, or nested too deep";
    u9_value has, tuple;
    int object = tool_is_object(value);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? e->time_field : e->key_field;
        if (name &&
            (object ? convert_member(value, name, strlen(name), &has) : strcmp(name, "value") == 0))
            return taken;
    }
    u9_builder_clear(&e->tuple);
    u9_err err = build_pairs(e, record, value, &e->tuple);
    if (err == U9_NOMEM) return tool_no_memory;
    if (err != U9_OK || u9_value_decode(e->tuple.bytes, e->tuple.size, &tuple) != U9_OK) return long_row;
    u9_builder_clear(&e->built); /* what stood there is in the tuple now */
    const char *why = tool_build_object(&e->built, &tuple);
    if (!why && u9_value_check(e->built.bytes, e->built.size, NULL, NULL) != U9_OK) why = long_row;
    if (!why && u9_value_decode(e->built.bytes, e->built.size, value) != U9_OK) why = long_row;
    return why;
}

static int take(struct export *e, const u9_record *record, step *put)
{
    struct convert_row row = {.ordinal = record->ordinal, .time_us = record->time_us};
    if (!record->bytes) return refuse(e, record, "more than 16 MiB: such records are not exported");
    const char *why = value_of(e, record, &row.value);
    if (!why && (e->key_field || e->time_field ||
                 ((e->format->columns || e->format->objects) && !tool_is_object(&row.value))))
        why = build_object(e, record, &row.value);
    if (tool_json_no_memory(why)) return tool_nomem("a row");
    if (why) return refuse(e, record, why);
    *e->writer.why = '\0';
    int did = put(e, &row);
    if (did == 1) return TOOL_DONE;
    if (did == 0 && *e->writer.why) return refuse(e, record, e->writer.why);
    const char *where = e->writer.name ? e->writer.name : e->path; /* columns are seen before there is anything to write to */
    return *e->writer.why ? tool_say(TOOL_IO, "%s: %s", where, e->writer.why) : TOOL_IO;
}

static int walk(struct export *e, u9_cursor *cursor, step *put)
{
    u9_record record;
    u9_err err = U9_END;
    int status = TOOL_DONE;
    uint64_t n = 0;
    while (n < e->span.limit && status == TOOL_DONE && !tool_stopped() &&
           ((err = tool_span_next(&e->span, cursor, &record)) == U9_OK || err == U9_LIMIT)) {
        if (e->second && record.ordinal >= e->end) continue;
        if (!e->second && record.ordinal >= e->end) e->end = record.ordinal + 1;
        n++;
        status = take(e, &record, put);
        if (status == SKIPPED) status = TOOL_DONE;
        e->bytes += record.size;
        tool_progress_tell(&e->bar, e->bytes, 0);
    }
    if (status == TOOL_DONE && tool_stopped()) return 128 + tool_stopped();
    if (status != TOOL_DONE || err == U9_OK || err == U9_END || err == U9_LIMIT) return status;
    u9_fault fault;
    u9_cursor_fault(cursor, &fault);
    return tool_read_fault(e->path, &fault);
}

static int walk_all(struct export *e, step *put)
{
    u9_cursor *cursor;
    u9_fault fault;
    if (u9_cursor_open(e->log, NULL, &cursor, &fault) != U9_OK)
        return tool_read_fault(e->path, &fault);
    int status = tool_span_begin(&e->span, e->log, e->path, cursor);
    if (status != TOOL_DONE && e->status > status) status = e->status; /* a bound that was not found may have been lost */
    if (status == TOOL_DONE) status = walk(e, cursor, put);
    u9_cursor_close(cursor);
    return status;
}

static int add_column(struct convert_writer *w, const u9_value *name)
{
    if ((w->count & (w->count - 1)) == 0) {
        size_t room = w->count ? 2 * w->count : 1;
        struct convert_column *more =
            (struct convert_column *)realloc(w->columns, room * sizeof *more);
        if (!more) return convert_why(w->why, "out of memory");
        w->columns = more;
    }
    char *copy = (char *)malloc((size_t)name->size + 1);
    if (!copy) return convert_why(w->why, "out of memory");
    memcpy(copy, name->data, (size_t)name->size);
    copy[name->size] = '\0';
    w->columns[w->count++] = (struct convert_column){.name = copy, .size = (size_t)name->size};
    return 1;
}

/* A step of the first walk. */
static int see_columns(struct export *e, const struct convert_row *row)
{
    struct convert_writer *w = &e->writer;
    u9_walk pairs = u9_walk_elements(&row->value);
    u9_value pair, name, v;
    size_t next = 0;
    while (u9_walk_next(&pairs, &pair) == U9_OK) {
        u9_walk in = u9_walk_elements(&pair);
        if (u9_walk_next(&in, &name) != U9_OK || u9_walk_next(&in, &v) != U9_OK) continue;
        size_t i = convert_column(w, next, &name);
        if (i == w->count && !add_column(w, &name)) return -1;
        w->columns[i].kinds |= convert_kind(&v);
        w->columns[i].seen++;
        next = i + 1;
    }
    e->records++;
    return 1;
}

static int put_row(struct export *e, const struct convert_row *row)
{
    struct convert_writer *w = &e->writer;
    int did = w->format->put(w, row);
    if (did == 1 && w->file && ferror(w->file)) did = -1;
    e->records += did == 1;
    return did;
}

static int find_columns(struct export *e)
{
    int status = walk_all(e, see_columns);
    struct convert_writer *w = &e->writer;
    for (size_t i = 0; i < w->count; i++)
        if (w->columns[i].seen < e->records) w->columns[i].kinds |= CONVERT_ABSENT;
    w->cells = (u9_value *)calloc(w->count + 1, sizeof *w->cells);
    e->second = 1;
    e->records = e->bytes = 0;
    return w->cells || status != TOOL_DONE ? status : tool_nomem("the columns");
}

static int to_stdout(const struct export *e)
{
    return strcmp(e->file, "-") == 0;
}

/* The file that the format may keep beside FILE while it is written, in the caller's room; NULL: none. */
static const char *beside(const struct export *e, char path[4096 + 16])
{
    if (!e->format->beside) return NULL;
    snprintf(path, 4096 + 16, "%s%s", e->file, e->format->beside);
    return path;
}

/* What was made of it goes, once something failed. */
static void remove_output(const struct export *e)
{
    char path[4096 + 16];
    unlink(e->file);
    if (beside(e, path)) unlink(path);
}

static int output_failed(struct export *e, int sys)
{
    if (to_stdout(e)) return TOOL_IO; /* tool_finish says why */
    return tool_say(sys == EEXIST ? TOOL_REFUSED : tool_sys_status(sys), "%s: %s",
                    tool_shown(e->file), strerror(sys));
}

static int open_output(struct export *e)
{
    char path[4096 + 16];
    struct convert_writer *w = &e->writer;
    w->name = to_stdout(e) ? "standard output" : e->file;
    w->path = e->file;
    if (e->format->binary && to_stdout(e) && isatty(STDOUT_FILENO))
        return tool_say(TOOL_REFUSED,
                        "%s is not for a terminal: name a FILE, or redirect the output",
                        e->format->name);
    if (e->format->whole && access(e->file, F_OK) == 0) return output_failed(e, EEXIST);
    if (beside(e, path) && access(path, F_OK) == 0)
        return tool_say(TOOL_REFUSED, "%s: %s: it would be taken for a part of %s", path, strerror(EEXIST), e->file);
    if (e->format->whole) return TOOL_DONE;
    w->file = to_stdout(e) ? stdout : fopen(e->file, "wxe");
    return w->file ? TOOL_DONE : output_failed(e, errno);
}

static int write_rows(struct export *e)
{
    struct convert_writer *w = &e->writer;
    int status = e->format->begin && !e->format->begin(w)
                     ? tool_say(TOOL_REFUSED, "%s: %s", w->name, w->why)
                     : TOOL_DONE;
    int wrong = status;
    if (status == TOOL_DONE) status = walk_all(e, put_row);
    *w->why = '\0';
    if (e->format->finish && !e->format->finish(w, status == TOOL_DONE) && !wrong && *w->why)
        status = tool_say(TOOL_IO, "%s: %s", w->name, w->why);
    if (e->format->whole && status != TOOL_DONE) remove_output(e);
    return status;
}

static int close_output(struct export *e, int status)
{
    FILE *file = e->writer.file;
    if (!file) return status;
    if (to_stdout(e)) return tool_stdout_failed() ? TOOL_IO : status;
    int failed = ferror(file), sys = errno;
    if (fclose(file) != 0 && !failed) failed = 1, sys = errno;
    if (failed) status = output_failed(e, sys);
    if (status != TOOL_DONE) remove_output(e);
    return status;
}

static int export_all(struct export *e)
{
    int status = e->format->columns ? find_columns(e) : TOOL_DONE;
    if (status == TOOL_DONE) status = open_output(e);
    if (status == TOOL_DONE) status = write_rows(e);
    return close_output(e, status);
}

static int run(struct export *e)
{
    double began = tool_seconds();
    u9_fault fault;
    u9_options options = {
        .size = sizeof options, .mode = U9_READ, .on_damage = on_damage, .on_damage_ctx = e};
    if (!to_stdout(e)) tool_notice_stops(true); /* FILE is removed then */
    if (u9_log_open(e->path, &options, &e->log, &fault) != U9_OK)
        return tool_read_fault(e->path, &fault);
    e->writer.format = e->format;
    e->writer.options = &e->convert;
    e->writer.log = e->path;
    u9_builder_init_growing(&e->tuple, tool_grow, NULL);
    u9_builder_init_growing(&e->built, tool_grow, NULL);
    tool_progress_begin(&e->bar, e->progress);
    int status = export_all(e);
    tool_progress_end(&e->bar);
    u9_err err = u9_log_close(e->log, &fault);
    if (err != U9_OK && status == TOOL_DONE) status = tool_read_fault(e->path, &fault);
    if (e->verbose && status == TOOL_DONE)
        tool_say(0, "%" PRIu64 " record%s, %.3f s", e->records, tool_plural(e->records),
                 tool_seconds() - began);
    for (size_t i = 0; i < e->writer.count; i++) free(e->writer.columns[i].name);
    free(e->writer.columns);
    free(e->writer.cells);
    free(e->tuple.bytes);
    free(e->built.bytes);
    status = tool_skips_end(&e->skips, status);
    return e->status > status ? e->status : status; /* what was lost weighs more than what was skipped */
}

enum { KEY_FIELD = 256, TIME_FIELD, SEPARATOR, TABLE, TOPIC, SKIP_BAD, PROGRESS };

static const struct argp_option option_table[] = {
    {"key-field", KEY_FIELD, "NAME", 0, "Each row has the record's key, as text, in this field", 0},
    {"time-field", TIME_FIELD, "NAME", 0,
     "Each row has the time the record was written in this field, as RFC 3339", 0},
    {"separator", SEPARATOR, "SEP", 0,
     "csv: what stands between cells (default: a comma; \\t: tab)", 0},
    {"table", TABLE, "NAME", 0, "sqlite: the table that is made (default: records)", 0},
    {"topic", TOPIC, "NAME", 0, "mcap: the topic of the messages (default: u9)", 0},
    TOOL_SPAN_OPTIONS,
    {"skip-bad", SKIP_BAD, 0, 0,
     "Skip records that have no row: the first 5 are named, all counted, and the exit status is 1",
     0},
    {"progress", PROGRESS, 0, 0, "Show progress, on a terminal", 0},
    {"verbose", 'v', 0, 0, "Say at the end how much was exported", 0},
    {0},
};

static void take_argument(struct export *e, unsigned number, char *arg)
{
    if (number == 0) e->format = convert_find(arg, 1);
    else if (number == 1) e->path = arg;
    else if (number == 2) e->file = arg;
    else tool_usage("one FILE only: '%s' is too much", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct export *e = (struct export *)state->input;
    switch (key) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case KEY_FIELD: e->key_field = arg; break;
    case TIME_FIELD: e->time_field = arg; break;
    case SEPARATOR: e->convert.comma = convert_comma(arg); break;
    case TOPIC:
    case TABLE: e->convert.table = arg; break;
    case SKIP_BAD: e->skips.on = 1; break;
    case PROGRESS: e->progress = 1; break;
    case 'v': e->verbose = 1; break;
    case ARGP_KEY_ARG: take_argument(e, state->arg_num, arg); break;
    case ARGP_KEY_END:
        if (!e->format) tool_usage("no FORMAT given");
        if (!e->path) tool_usage("no LOG given");
        if (e->format->whole && to_stdout(e))
            tool_usage("%s: FILE is needed: it is not written to a pipe", e->format->name);
        if (e->key_field && e->time_field && strcmp(e->key_field, e->time_field) == 0)
            tool_usage("--key-field and --time-field name one field");
        tool_span_check(&e->span);
        break;
    default: return tool_span_parse(&e->span, key, arg) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int verb_export(int argc, char **argv)
{
    static const struct argp parser = {
        option_table,
        parse,
        "FORMAT LOG [FILE]",
        "Writes the records of LOG as rows into FILE, which must not be there yet, or to standard output (also `-`). FORMAT "
        "is " CONVERT_EXPORTS
        ". A record whose value is no object is one of a single field, `value`, where the format has "
        "columns. Of types that the format lacks it is said, once each, what is written. Damage is told on standard error, "
        "a line each; if records were lost to it, the exit status is 3.",
        NULL,
        NULL,
        NULL};
    struct export e = {.skips.what = "record", .span = TOOL_SPAN_NONE, .file = "-", .convert.comma = ','};
    tool_parse(&parser, argc, argv, &e);
    return run(&e);
}
