/*
 * tools/record.c: records as text, values as JSON and back.
 *
 * Printing is made for speed: no allocation, no formatted output, one pass over a record's values.
 * Values may come from any writer: what does not decode is printed as hex and never believed.
 */
#include "tools/common.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static void put(const void *bytes, size_t size)
{
    fwrite_unlocked(bytes, 1, size, stdout);
}

static void put_text(const char *text)
{
    put(text, strlen(text));
}

static void put_number(uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    put(digits + at, sizeof digits - at);
}

static void put_integer(const u9_value *v)
{
    if (v->type == U9_UINT || v->i >= 0) {
        put_number(v->u);
        return;
    }
    putc_unlocked('-', stdout);
    put_number(0 - (uint64_t)v->i);
}

void tool_put_hex(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        putc_unlocked("0123456789abcdef"[bytes[i] >> 4], stdout);
        putc_unlocked("0123456789abcdef"[bytes[i] & 15], stdout);
    }
}

/* {"$name":"hex"}: what JSON has no form for. */
static void put_wrapped(const char *wrap, const uint8_t *bytes, size_t size)
{
    put_text("{\"$");
    put_text(wrap);
    put_text("\":\"");
    tool_put_hex(bytes, size);
    put_text("\"}");
}

void tool_put_string(const void *text, size_t size)
{
    const char *p = (const char *)text, *end = p + size, *plain = p;
    putc_unlocked('"', stdout);
    for (; p < end; p++) {
        unsigned char c = (unsigned char)*p;
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) continue;
        put(plain, (size_t)(p - plain));
        plain = p + 1;
        if (c == '"' || c == '\\') {
            putc_unlocked('\\', stdout);
            putc_unlocked(c, stdout);
        } else if (c == '\n' || c == '\t') {
            put_text(c == '\n' ? "\\n" : "\\t");
        } else {
            put_text("\\u00");
            tool_put_hex(&c, 1);
        }
    }
    put(plain, (size_t)(end - plain));
    putc_unlocked('"', stdout);
}

const char *tool_real_text(double real, char out[40])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, 40, "%.*g", digits, real);
        if (strtod(out, NULL) == real) break;
    }
    if (isfinite(real) && !strpbrk(out, ".e")) strcat(out, ".0"); /* no integer */
    return out;
}

static const char *greek_name(u9_type type)
{
    static const char *const names[] = {"alpha", "omega", "iota", "kappa", "tau0"};
    return names[type - U9_ALPHA];
}

/* A symbol's characters: what stands before its padding. */
static size_t symbol_size(const u9_value *v)
{
    return strnlen((const char *)v->data, 8);
}

/* Numbers, and what else has no contents. `json`: in a form that JSON has. */
static void put_plain(const u9_value *v, int json)
{
    char text[40];
    int real = v->type == U9_FLOAT32 || v->type == U9_FLOAT64;
    int safe = v->type == U9_UINT ? v->u >> 53 == 0 : v->i > -(1LL << 53) && v->i < 1LL << 53;
    const char *quote = json && (real ? !isfinite(v->f) : !safe) ? "\"" : "";
    if (v->type == U9_UINT || v->type == U9_INT) {
        put_text(quote); /* many readers of JSON keep only 53 bits */
        put_integer(v);
        put_text(quote);
    } else if (real) {
        put_text(*quote ? "{\"$float\":\"" : "");
        put_text(tool_real_text(v->f, text));
        put_text(*quote ? "\"}" : "");
    } else if (v->type == U9_PIDFD) {
        put_text("{\"$pidfd\":[");
        put_number(v->pidfd.pid);
        putc_unlocked(',', stdout);
        put_number(v->pidfd.fd);
        put_text("]}");
    } else if (v->type == U9_TAU) {
        put_text("{\"$tau\":\"");
        put_number(v->u);
        put_text("\"}");
    } else {
        put_text("{\"$greek\":\"");
        put_text(greek_name(v->type));
        put_text("\"}");
    }
}

/* Any value but a tuple. */
static void put_atom(const u9_value *v)
{
    size_t size = (size_t)v->size;
    if (v->type == U9_SYMBOL && u9_utf8_valid(v->data, symbol_size(v))) {
        put_text("{\"$symbol\":");
        tool_put_string(v->data, symbol_size(v));
        putc_unlocked('}', stdout);
    } else if (v->type == U9_UTF8 && u9_utf8_valid(v->data, size)) {
        tool_put_string(v->data, size);
    } else if (v->data) {
        put_wrapped(v->type == U9_BYTES    ? "bytes"
                    : v->type == U9_UTF8   ? "utf8"
                    : v->type == U9_SYMBOL ? "symbol_bytes"
                                           : "array",
                    v->data, size);
    } else {
        put_plain(v, 1);
    }
}

void tool_put_json(const u9_value *value)
{
    struct {
        u9_walk walk;
        int next; /* not 0: an element stands before */
    } open[U9_DEPTH_MAX];
    unsigned depth = 0;
    u9_value v = *value;
    for (;;) {
        if (v.type != U9_TUPLE) {
            put_atom(&v);
        } else if (depth == U9_DEPTH_MAX) {
            put_wrapped("tuple", v.data, (size_t)v.size);
        } else {
            putc_unlocked('[', stdout);
            open[depth].walk = u9_walk_elements(&v);
            open[depth++].next = 0;
        }
        while (depth > 0 && u9_walk_next(&open[depth - 1].walk, &v) != U9_OK) {
            putc_unlocked(']', stdout);
            depth--;
        }
        if (depth == 0) return;
        if (open[depth - 1].next++) putc_unlocked(',', stdout);
    }
}

/* One JSON value but arrays. NULL, or why it is refused. */
static const char *build_atom(u9_builder *b, const json_t *json)
{
    u9_err err = U9_ARG;
    switch (json_typeof(json)) {
    case JSON_STRING:
        err = u9_build_utf8(b, json_string_value(json), json_string_length(json));
        break;
    case JSON_INTEGER: err = u9_build_int(b, json_integer_value(json)); break;
    case JSON_REAL: err = u9_build_float64(b, json_real_value(json)); break;
    case JSON_OBJECT: return "a JSON object has no form as a value in this version";
    case JSON_TRUE: return "JSON's true has no form as a value in this version";
    case JSON_FALSE: return "JSON's false has no form as a value in this version";
    case JSON_NULL: return "JSON's null has no form as a value in this version";
    case JSON_ARRAY: break;
    }
    return err == U9_OK ? NULL : "longer than a record may be (16 MiB)";
}

const char *tool_build_json(u9_builder *b, const json_t *json)
{
    struct {
        const json_t *array;
        size_t next;
    } open[U9_DEPTH_MAX];
    unsigned depth = 0;
    for (;;) {
        const char *why = NULL;
        if (!json_is_array(json)) {
            why = build_atom(b, json);
        } else if (u9_build_tuple_open(b) != U9_OK) {
            why = depth == U9_DEPTH_MAX ? "arrays nested more than 64 deep"
                                        : "longer than a record may be (16 MiB)";
        } else {
            open[depth].array = json;
            open[depth++].next = 0;
        }
        if (why) return why;
        while (depth > 0 && open[depth - 1].next == json_array_size(open[depth - 1].array)) {
            if (u9_build_tuple_close(b) != U9_OK) return "longer than a record may be (16 MiB)";
            depth--;
        }
        if (depth == 0) return NULL;
        json = json_array_get(open[depth - 1].array, open[depth - 1].next++);
    }
}

tool_format tool_format_parse(const char *text)
{
    if (strcmp(text, "lines") == 0) return TOOL_LINES;
    if (strcmp(text, "raw") == 0) return TOOL_RAW;
    if (strcmp(text, "json") == 0) return TOOL_JSON;
    tool_usage("'%s' is not a format: raw, lines or json", text);
}

void tool_style_check(const tool_style *style)
{
    if (style->format != TOOL_LINES && style->keys)
        tool_usage("--keys goes with --format lines only: raw and json have the keys within");
    if (style->format == TOOL_RAW && style->null)
        tool_usage("--null goes with --format lines or json: raw records stand back to back");
}

int tool_style_begin(tool_style *style, const u9_log *log)
{
    style->kind = u9_log_kind(log);
    style->terminal = isatty(STDOUT_FILENO);
    if (style->format == TOOL_RAW && style->terminal)
        return tool_say(TOOL_REFUSED, "raw records are not for a terminal: redirect the output");
    return TOOL_DONE;
}

/* utf8, bytes and symbols as they are; on a terminal control characters become visible. */
static void put_contents(const tool_style *style, const uint8_t *text, size_t size)
{
    if (!style->terminal) {
        put(text, size);
        return;
    }
    int utf8 = u9_utf8_valid(text, size);
    for (size_t i = 0; i < size; i++) {
        int c1 = text[i] == 0xc2 && i + 1 < size && text[i + 1] < 0xa0;
        if (text[i] == '\t' || text[i] == '\n' ||
            (text[i] >= 0x20 && text[i] != 0x7f && (text[i] < 0x80 || (utf8 && !c1)))) {
            putc_unlocked(text[i], stdout);
            continue;
        }
        put_text("\\x");
        tool_put_hex(text + i, 1);
        if (!c1 || !utf8) continue;
        put_text("\\x");
        tool_put_hex(text + ++i, 1);
    }
}

static void put_lines(const tool_style *style, const u9_record *record)
{
    u9_walk walk = u9_walk_bytes(record->values, record->values_size);
    u9_value v;
    for (int next = 0; u9_walk_next(&walk, &v) == U9_OK; next = 1) {
        if (next) putc_unlocked('\t', stdout);
        if (v.type == U9_UTF8 || v.type == U9_BYTES)
            put_contents(style, v.data, (size_t)v.size);
        else if (v.type == U9_SYMBOL)
            put_contents(style, v.data, symbol_size(&v));
        else if (v.type == U9_TUPLE || v.type == U9_ARRAY)
            tool_put_json(&v);
        else
            put_plain(&v, 0);
    }
    putc_unlocked(style->null ? '\0' : '\n', stdout);
}

static void put_json(const tool_style *style, const u9_record *record)
{
    static uint64_t shown = TOOL_NONE; /* the records of one frame have one time */
    static char time[48];
    char key[TOOL_KEY_TEXT_SIZE];
    if (record->time_us != shown) tool_time_text(shown = record->time_us, time);
    put_text("{\"ordinal\":\"");
    put_number(record->ordinal);
    put_text("\",\"key\":");
    tool_key_text(style->kind, record->key.data, record->key.size, key);
    tool_put_string(key, strlen(key));
    put_text(",\"time\":\"");
    put_text(time);
    put_text("\",\"values\":[");
    u9_walk walk = u9_walk_bytes(record->values, record->values_size);
    u9_value v;
    for (int next = 0; u9_walk_next(&walk, &v) == U9_OK; next = 1) {
        if (next) putc_unlocked(',', stdout);
        tool_put_json(&v);
    }
    put_text("]}");
    putc_unlocked(style->null ? '\0' : '\n', stdout);
}

void tool_put_record(const tool_style *style, const u9_record *record)
{
    char key[TOOL_KEY_TEXT_SIZE];
    if (style->format == TOOL_RAW) {
        put(record->bytes, record->size);
    } else if (style->format == TOOL_JSON) {
        put_json(style, record);
    } else {
        if (style->keys) {
            put_text(tool_key_text(style->kind, record->key.data, record->key.size, key));
            putc_unlocked('\t', stdout);
        }
        put_lines(style, record);
    }
}
