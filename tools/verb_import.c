/*
 * tools/verb_import.c: `u9 import`: rows of another format become records.
 *
 * A reader (convert.h) gives each row as a JSON text; here it becomes a value, a field of it the key, or a time the key is
 * made of. A log that is not there is made when the first row is taken, or when there is none: not for rows that are refused.
 * What was appended is durable when the verb has ended, also by SIGINT or SIGTERM (stop.h).
 */
#include "tools/appended.h"
#include "tools/args.h"
#include "tools/convert.h"
#include "tools/damage.h"
#include "tools/key.h"
#include "tools/numbers.h"
#include "tools/progress.h"
#include "tools/skip.h"
#include "tools/stop.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/value_json.h"
#include "tools/verb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { SKIPPED = -1 /* a status within this file: go on with the next row */ };

struct import {
    const struct convert_format *format;
    const char *path, *file;
    struct convert_options convert;
    u9_options options;
    tool_numbers numbers;
    const char *key_field, *time_field, *value_field;
    uint64_t passed; /* --skip-rows */
    int progress, verbose;
    tool_skips skips;
    tool_appended done;
    struct convert_reader reader;
    uint64_t rows;      /* of the file so far, the one at hand among them */
    uint8_t *values;    /* U9_RECORD_MAX bytes */
    u9_builder rest;    /* an object without its key */
    uint64_t medallion; /* of muids that are made of times */
    tool_progress bar;
};

/* How the rest of the file is taken another time, once `rows` of it were read: what was passed over is in the log, or left out. */
static const char *resume_text(const struct import *m, uint64_t rows, char out[64])
{
    snprintf(out, 64, "--skip-rows=%" PRIu64, rows > m->passed ? rows : m->passed);
    return out;
}

/* What is wrong with the row, the last one if `broken`. */
static int refuse_row(struct import *m, const char *why, const char *detail, int broken)
{
    const struct convert_reader *r = &m->reader;
    char before[TOOL_BEFORE_SIZE], with[64], behind[64], on[192] = "";
    if (tool_json_no_memory(why) || convert_is_short(why)) return tool_nomem("a row");
    if (m->skips.on) {
        (void)!tool_skip(&m->skips, "%s%s%" PRIu64 ": %s%s", r->name, m->format->unit, r->number,
                         why, detail);
        return SKIPPED;
    }
    resume_text(m, m->rows - 1, with);
    resume_text(m, m->rows, behind);
    if (broken && m->rows > 1) snprintf(on, sizeof on, "; %s goes on with it", with);
    else if (!broken && m->rows == 1) snprintf(on, sizeof on, "; %s goes on behind it", behind);
    else if (!broken) snprintf(on, sizeof on, "; %s goes on with it, %s behind it", with, behind);
    return tool_say(TOOL_REFUSED, "%s%s%" PRIu64 ": %s%s; %s%s", r->name, m->format->unit, r->number,
                    why, detail, tool_appended_before(&m->done, before), on);
}

static int refuse(struct import *m, const char *why, const char *detail)
{
    return refuse_row(m, why, detail, 0);
}

/* The kind of the log's keys, or of those that it will have. */
static const char *kind_of(const struct import *m)
{
    if (m->done.log) return tool_kind(m->done.log);
    return m->options.kind ? m->options.kind : "muid";
}

static int find(struct import *m, const u9_value *row, const char *name, u9_value *out)
{
    if (!tool_is_object(row)) return refuse(m, "it is no object, and has no field ", name);
    return convert_member(row, name, strlen(name), out) ? TOOL_DONE
                                                        : refuse(m, "it has no field ", name);
}

/* The text of a field that is text or a whole number; NULL: it is neither, too long, or has a NUL in it. */
static const char *field_text(const u9_value *v, char room[TOOL_KEY_TEXT_SIZE])
{
    if (v->type == U9_UTF8 && v->size < TOOL_KEY_TEXT_SIZE && (v->size == 0 || memchr(v->data, 0, (size_t)v->size) == NULL))
        snprintf(room, TOOL_KEY_TEXT_SIZE, "%.*s", (int)v->size, (const char *)v->data);
    else if (v->type == U9_UINT) snprintf(room, TOOL_KEY_TEXT_SIZE, "%" PRIu64, v->u);
    else if (v->type == U9_INT) snprintf(room, TOOL_KEY_TEXT_SIZE, "%" PRId64, v->i);
    else return NULL;
    return room;
}

static int take_key(struct import *m, const u9_value *row, tool_key *key)
{
    char room[TOOL_KEY_TEXT_SIZE];
    u9_value v;
    int status = find(m, row, m->key_field, &v);
    if (status != TOOL_DONE) return status;
    const char *text = field_text(&v, room);
    if (!text)
        return refuse(m, "its key is neither a whole number nor a text of at most 1039 bytes, none of them NUL", "");
    const char *why = tool_key_parse(kind_of(m), text, strlen(text), key);
    return why ? refuse(m, "its key is none of the log's kind: ", why) : TOOL_DONE;
}

/* Since 1970, in what the size of the number says: seconds up to the year 5138, then milli-, micro-, nanoseconds. */
static int number_time(uint64_t whole, double real, uint64_t *out)
{
    if (!(real >= 0) || real >= 9.2e18) return 0;
    if (real < 1e11) *out = real == (double)whole ? whole * 1000000 : (uint64_t)(real * 1e6 + 0.5);
    else if (real < 1e14) *out = whole * 1000;
    else *out = real < 1e17 ? whole : whole / 1000;
    return 1;
}

static int field_time(const u9_value *v, uint64_t *out)
{
    char room[TOOL_KEY_TEXT_SIZE];
    uint64_t number;
    if (v->type == U9_FLOAT64 || v->type == U9_FLOAT32)
        return v->f >= 0 && v->f < 9.2e18 && number_time((uint64_t)v->f, v->f, out);
    const char *text = field_text(v, room);
    if (!text) return 0;
    if (tool_number_parse(text, &number)) return number_time(number, (double)number, out);
    return tool_time_parse(text, out);
}

/* A key of the row's time: those of one microsecond are told apart by how many went before. */
static int make_key(struct import *m, const u9_value *row, tool_key *key)
{
    u9_value v;
    uint64_t time;
    int status = find(m, row, m->time_field, &v);
    if (status != TOOL_DONE) return status;
    if (!field_time(&v, &time)) return refuse(m, "no time stands in its field ", m->time_field);
    int tids = strcmp(kind_of(m), "tid") == 0;
    key->size = tids ? U9_TID_SIZE : U9_MUID_SIZE;
    u9_muid muid = {time, m->medallion, (int32_t)((m->rows - 1) & 0xfffff) + 1};
    u9_tid tid = {time, (uint32_t)((m->rows - 1) & U9_TID_CLOCK_ID_MAX)};
    u9_err err = time >= U9_MUID_TIMESTAMP_MAX ? U9_ARG
                 : tids                        ? u9_tid_pack(&tid, 0, key->bytes)
                                               : u9_muid_pack(&muid, key->bytes);
    return err == U9_OK ? TOOL_DONE
                        : refuse(m, "its time is beyond what a key holds: ", m->time_field);
}

/* The object without the member that is the key. */
static int take_rest(struct import *m, const u9_value *row, u9_value *out)
{
    static u9_builder pairs;
    u9_walk walk = u9_walk_elements(row);
    u9_value pair, name, tuple;
    size_t size = strlen(m->key_field);
    if (!pairs.grow) u9_builder_init_growing(&pairs, tool_grow, NULL);
    u9_builder_clear(&pairs);
    u9_builder_clear(&m->rest);
    u9_err err = u9_build_tuple_open(&pairs);
    while (err == U9_OK && u9_walk_next(&walk, &pair) == U9_OK) {
        u9_walk in = u9_walk_elements(&pair);
        err = u9_walk_next(&in, &name);
        if (err == U9_OK && (name.size != size || memcmp(name.data, m->key_field, size) != 0))
            err = u9_build_raw(&pairs, pair.start, pair.encoded);
    }
    if (err == U9_OK) err = u9_build_tuple_close(&pairs);
    if (err == U9_OK) err = u9_value_decode(pairs.bytes, pairs.size, &tuple);
    if (err == U9_OK && tool_build_object(&m->rest, &tuple)) err = U9_NOMEM;
    if (err == U9_OK) err = u9_value_decode(m->rest.bytes, m->rest.size, out);
    return err == U9_OK ? TOOL_DONE : tool_nomem("a row");
}

/* The log, if it is there: mode U9_WRITE; or one that is made if it is not: U9_CREATE. */
static int open_log(struct import *m, u9_mode mode)
{
    u9_fault fault;
    m->options.mode = mode;
    u9_err err = u9_log_open(m->path, &m->options, &m->done.log, &fault);
    int absent = err == U9_ABSENT || (err == U9_IO && fault.sys == ENOENT);
    if (err == U9_OK || (absent && mode == U9_WRITE)) return TOOL_DONE;
    int status = tool_fault(&fault);
    tool_say_refused(m->path, &fault);
    return status;
}

static int append(struct import *m, const tool_key *raw, const u9_value *v)
{
    u9_key key = {raw->bytes, raw->size};
    u9_place place;
    int status = m->done.log ? TOOL_DONE : open_log(m, U9_CREATE);
    if (status != TOOL_DONE) return status;
    u9_err err = u9_log_append(m->done.log, raw->size > 0 ? &key : NULL, v->start, v->encoded, &place);
    if (err == U9_LIMIT) return refuse(m, "longer than a record may be (16 MiB)", "");
    if (err != U9_OK) return tool_appended_refused(&m->done);
    tool_appended_add(&m->done, &place, v->encoded);
    return m->done.waiting < TOOL_COMMIT_BYTES ? TOOL_DONE : tool_appended_commit(&m->done);
}

static int take_row(struct import *m, const char *text, size_t size)
{
    u9_builder b;
    u9_value row, value;
    tool_key key = {.size = 0};
    size_t column;
    u9_builder_init(&b, m->values, U9_RECORD_MAX);
    const char *why = tool_read_json(&b, text, size, &column);
    if (why) return refuse(m, why, "");
    if (u9_value_decode(m->values, b.size, &row) != U9_OK) return refuse(m, "not a value", "");
    int status = m->key_field    ? take_key(m, &row, &key)
                 : m->time_field ? make_key(m, &row, &key)
                                 : TOOL_DONE;
    if (status != TOOL_DONE) return status;
    value = row;
    if (m->value_field) status = find(m, &row, m->value_field, &value);
    else if (m->key_field) status = take_rest(m, &row, &value);
    return status == TOOL_DONE ? append(m, &key, &value) : status;
}

/* At the end of the file. */
static int conclude(const struct import *m)
{
    const char *name = m->reader.name;
    if (m->rows == 0) tool_say(0, "note: %s: there is nothing in it", name);
    if (m->rows >= m->passed) return TOOL_DONE;
    return tool_say(TOOL_REFUSED, "%s: --skip-rows %" PRIu64 ": there %s only %" PRIu64, name, m->passed,
                    m->rows == 1 ? "is" : "are", m->rows);
}

static int take_rows(struct import *m)
{
    struct convert_reader *r = &m->reader;
    const char *text;
    size_t size;
    int status = TOOL_DONE;
    while (status == TOOL_DONE && !tool_stopped()) {
        enum convert_got got = convert_next(r, &text, &size);
        if (ferror(r->file))
            return tool_stopped() ? TOOL_DONE : tool_say(TOOL_IO, "%s: %s", r->name, strerror(errno));
        if (got == CONVERT_END) return conclude(m);
        m->done.number = r->number;
        m->rows++;
        if (m->rows > m->passed || got == CONVERT_BROKEN)
            status = got == CONVERT_ROW ? take_row(m, text, size) : refuse_row(m, r->why, "", got == CONVERT_BROKEN);
        if (got == CONVERT_BROKEN && status == SKIPPED) {
            tool_say(0, "%s: nothing behind that can be read", r->name);
            return TOOL_DONE;
        }
        if (status == SKIPPED) status = TOOL_DONE;
        tool_progress_tell(&m->bar, r->at, r->all);
    }
    return status;
}

/* What is left to be said: how the rest is taken, and how it went. */
static void sum_up(const struct import *m, double spent)
{
    char on[64];
    if (tool_stopped() && m->rows > 0)
        tool_say(0, "stopped by %s: %s goes on behind what was taken", tool_stop_name(), resume_text(m, m->rows, on));
    if (m->done.failed && m->done.durable)
        tool_say(0, "%s goes on with that row, once %s takes it", resume_text(m, m->rows - 1, on), m->path);
    else if (m->done.failed)
        tool_say(0, "--skip-rows=N goes on behind the N rows that are in %s then: `u9 tail` shows the last", m->path);
    if (m->verbose)
        tool_say(0, "%" PRIu64 " record%s, %" PRIu64 " bytes, %.3f s", m->done.records,
                 tool_plural(m->done.records), m->done.bytes, spent);
}

/* Commits what is appended, closes the log. */
static int finish(struct import *m, int status, double began)
{
    if (status == TOOL_DONE && !tool_stopped() && !m->done.log) status = open_log(m, U9_CREATE);
    if (m->done.log) {
        int done = tool_appended_commit(&m->done);
        if (status == TOOL_DONE) status = done;
        status = tool_appended_close(&m->done, status);
    }
    sum_up(m, tool_seconds() - began);
    if (tool_stopped() && status == TOOL_DONE) status = 128 + tool_stopped();
    return tool_skips_end(&m->skips, status);
}

/* Can keys of the log's kind come of what is asked for? */
static int check_kind(const struct import *m)
{
    const char *kind = kind_of(m), *instead = "--key-field takes such keys from the rows; `u9 id make` makes one of a time";
    if (strncmp(kind, "rkey", 4) == 0) instead = "record keys are texts of your own, which --key-field takes from the rows";
    if (m->time_field && strcmp(kind, "muid") != 0 && strcmp(kind, "tid") != 0)
        return tool_say(TOOL_REFUSED, "%s: --time-field makes keys of kind muid or tid, and these are %s: %s", m->path, kind,
                        instead);
    return m->key_field ? TOOL_DONE : tool_numbers_suffice(&m->numbers, m->path, kind);
}

static int run(struct import *m)
{
    double began = tool_seconds();
    m->values = (uint8_t *)malloc(U9_RECORD_MAX);
    if (!m->values) return tool_nomem("a record of the largest size");
    u9_builder_init_growing(&m->rest, tool_grow, NULL);
    m->reader.options = &m->convert;
    m->medallion = m->options.medallion;
    if (m->medallion == 0 &&
        getrandom(&m->medallion, sizeof m->medallion, 0) == sizeof m->medallion)
        m->medallion = m->medallion % (U9_MUID_MEDALLION_MAX - 1) + 1;
    tool_notice_stops(false);
    int status = convert_open(&m->reader, m->format, m->file);
    m->done.at = m->reader.name;
    m->done.unit = m->format->unit;
    if (status == TOOL_DONE) status = tool_numbers_take(&m->numbers, m->path, &m->options);
    if (status == TOOL_DONE) status = open_log(m, U9_WRITE);
    if (status == TOOL_DONE) status = check_kind(m);
    if (status == TOOL_DONE) {
        tool_progress_begin(&m->bar, m->progress);
        status = take_rows(m);
        tool_progress_end(&m->bar);
        status = finish(m, status, began);
    } else if (m->done.log) {
        status = tool_appended_close(&m->done, status);
    }
    tool_numbers_free(&m->numbers);
    convert_close(&m->reader);
    free(m->values);
    free(m->rest.bytes);
    return status;
}

enum {
    KEY = 256,
    MEDALLION,
    KEY_FIELD,
    TIME_FIELD,
    VALUE_FIELD,
    TYPED,
    SEPARATOR,
    TABLE,
    SKIP_ROWS,
    SKIP_BAD,
    SYNC,
    LZ4,
    SEGMENT,
    PROGRESS
};

static const struct argp_option option_table[] = {
    {"key", KEY, "KIND", 0,
     "Kind of a new log's keys: muid (default), gid:log, gid:volume, gid:segment, tid, uid8, rkey, rkey:tid, "
     "rkey:literal:VALUE; of one with records only the same",
     0},
    {"key-field", KEY_FIELD, "NAME", 0,
     "The key is this field of the row, text or a number, which is taken off the value", 0},
    {"time-field", TIME_FIELD, "NAME", 0,
     "The key, a muid or tid, is made of the time in this field, which stays: RFC 3339, or a number since 1970, of "
     "seconds, milli-, micro- or nanoseconds by its size",
     0},
    {"value-field", VALUE_FIELD, "NAME", 0, "The value is this field of the row alone", 0},
    TOOL_NUMBERS_OPTIONS,
    {"medallion", MEDALLION, "N", 0,
     "muid: make keys of this node, 1 to 2^44 - 2 or 0x and hex (default: that of LOG; with --time-field one that is drawn)",
     0},
    {"typed", TYPED, 0, 0,
     "csv: cells without quotes that are numbers, true, false or null are such values, and of an empty one there is no field",
     0},
    {"separator", SEPARATOR, "SEP", 0,
     "csv: what stands between cells (default: a comma; \\t: tab)", 0},
    {"table", TABLE, "NAME", 0, "sqlite: the table that is read (default: records)", 0},
    {"skip-rows", SKIP_ROWS, "N", 0, "Pass over the first N rows: an import that was broken off goes on so", 0},
    {"skip-bad", SKIP_BAD, 0, 0,
     "Skip rows that are refused: the first 5 are named, all counted, and the exit status is 1", 0},
    {"sync", SYNC, "POLICY", 0, "Who waits for the disk: commit (default), interval, none", 0},
    {"lz4", LZ4, 0, 0, "Compress", 0},
    {"segment-size", SEGMENT, "SIZE", 0, "Size of the log's files (default 256M)", 0},
    {"progress", PROGRESS, 0, 0, "Show progress, on a terminal", 0},
    {"verbose", 'v', 0, 0, "Say at the end how much was imported, and how fast", 0},
    {0},
};

static void take_argument(struct import *m, unsigned number, char *arg)
{
    if (number == 0) m->format = convert_find(arg, 0);
    else if (number == 1) m->path = arg;
    else if (number == 2) m->file = arg;
    else tool_usage("one FILE only: '%s' is too much", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct import *m = (struct import *)state->input;
    u9_id_reason why = U9_ID_FINE;
    switch (key) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case KEY:
        m->options.kind = strcmp(arg, "gid") == 0 ? "gid:log" : arg;
        if (u9_kind_check(m->options.kind, strlen(m->options.kind), &why) != U9_OK)
            tool_usage("--key %s: %s", arg, u9_id_reason_text(why));
        break;
    case MEDALLION: m->options.medallion = tool_medallion("--medallion", arg); break;
    case KEY_FIELD: m->key_field = arg; break;
    case TIME_FIELD: m->time_field = arg; break;
    case VALUE_FIELD: m->value_field = arg; break;
    case TYPED: m->convert.typed = 1; break;
    case SEPARATOR: m->convert.comma = convert_comma(arg); break;
    case TABLE: m->convert.table = arg; break;
    case SKIP_ROWS: m->passed = tool_number("--skip-rows", arg); break;
    case SKIP_BAD: m->skips.on = 1; break;
    case SYNC: m->options.policy = tool_policy(arg); break;
    case LZ4: m->options.lz4 = 1; break;
    case SEGMENT: m->options.segment_size = tool_segment_size(arg); break;
    case PROGRESS: m->progress = 1; break;
    case 'v': m->verbose = 1; break;
    case ARGP_KEY_ARG: take_argument(m, state->arg_num, arg); break;
    case ARGP_KEY_END:
        if (!m->format) tool_usage("no FORMAT given");
        if (!m->path) tool_usage("no LOG given");
        if (m->key_field && m->time_field)
            tool_usage("--key-field and --time-field both say what the key is");
        tool_numbers_check(&m->numbers, !m->key_field && !m->time_field, &m->options);
        break;
    default: return tool_numbers_parse(&m->numbers, key, arg) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void on_damage(void *ctx, const u9_damage *damage)
{
    int lost;
    (void)ctx;
    if (damage->verdict >= U9_V_UNKNOWN) tool_on_damage(&lost, damage);
}

int verb_import(int argc, char **argv)
{
    static const struct argp parser = {
        option_table,
        parse,
        "FORMAT LOG [FILE]",
        "Appends each row of FILE (or of standard input, also `-`) as a record to LOG, which is made if it is missing. "
        "FORMAT is " CONVERT_IMPORTS
        ". A row becomes an object of its fields; where the file has a type that JSON lacks, "
        "the value is what `u9 value --help` tells.",
        NULL,
        NULL,
        NULL};
    struct import m = {
        .file = "-",
        .skips.what = "row",
        .convert.comma = ',',
        .options = {.size = sizeof m.options, .on_damage = on_damage}};
    tool_parse(&parser, argc, argv, &m);
    return run(&m);
}
