/*
 * tools/record.c: records as lines, JSON or bytes.
 *
 * Printing is made for speed: no formatted output, one pass over a record's values. Values as JSON
 * are value_json.c's part.
 */
#include "tools/record.h"

#include "tools/key.h"
#include "tools/pager.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/value_json.h"

#include <stdbool.h>
#include <string.h>

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
    style->terminal = tool_seen();
    if (style->format == TOOL_RAW && style->terminal)
        return tool_say(TOOL_REFUSED, "raw records are not for a terminal: redirect the output");
    return TOOL_DONE;
}

/* utf8, bytes and symbols as they are; on a terminal control characters become visible. */
void tool_put_contents(const tool_style *style, const uint8_t *text, size_t size)
{
    if (!style->terminal) {
        tool_put(text, size);
        return;
    }
    int utf8 = u9_utf8_valid(text, size);
    for (size_t i = 0; i < size; i++) {
        int c1 = text[i] == 0xc2 && i + 1 < size && text[i + 1] < 0xa0;
        if (text[i] == '\t' || text[i] == '\n' ||
            (text[i] >= 0x20 && text[i] != 0x7f && (text[i] < 0x80 || (utf8 && !c1)))) {
            putc_unlocked(text[i], tool_out());
            continue;
        }
        tool_put_text("\\x");
        tool_put_hex(text + i, 1);
        if (!c1 || !utf8) continue;
        tool_put_text("\\x");
        tool_put_hex(text + ++i, 1);
    }
}

/* The value of a line. */
static void put_plain(const tool_style *style, const u9_value *v)
{
    if (v->type == U9_UTF8 || v->type == U9_BYTES) tool_put_contents(style, v->data, (size_t)v->size);
    else if (v->type == U9_SYMBOL) tool_put_contents(style, v->data, strnlen((const char *)v->data, 8));
    else if (v->type >= U9_UINT && v->type <= U9_FLOAT64) tool_put_number(v);
    else tool_put_json(v);
}

void tool_put_value(const tool_style *style, const u9_value *v)
{
    if (style->format == TOOL_JSON) tool_put_json(v);
    else put_plain(style, v);
}

static void put_json_front(const tool_style *style, const u9_record *record)
{
    static _Thread_local uint64_t shown = TOOL_NONE; /* the records of one frame have one time */
    static _Thread_local char time[48];
    char key[TOOL_KEY_TEXT_SIZE];
    if (record->time_us != shown) tool_time_text(shown = record->time_us, time);
    tool_put_text("{\"ordinal\":\"");
    tool_put_uint(record->ordinal);
    tool_put_text("\",\"key\":");
    if (record->key.size > 0) {
        tool_key_text(style->kind, record->key.data, record->key.size, key);
        tool_put_string(key, strlen(key));
    } else {
        tool_put_text("null"); /* a value of a plain seed file */
    }
    tool_put_text(",\"time\":");
    if (record->time_us > 0) tool_put_string(time, strlen(time));
    else tool_put_text("null");
    tool_put_text(",\"values\":[");
}

void tool_put_front(const tool_style *style, const u9_record *record)
{
    char key[TOOL_KEY_TEXT_SIZE];
    if (style->format == TOOL_JSON) {
        put_json_front(style, record);
    } else if (style->keys) {
        if (record->key.size > 0) tool_put_text(tool_key_text(style->kind, record->key.data, record->key.size, key));
        putc_unlocked('\t', tool_out());
    }
}

void tool_put_back(const tool_style *style)
{
    if (style->format == TOOL_JSON) tool_put_text("]}");
    putc_unlocked(style->null ? '\0' : '\n', tool_out());
}

/*
 * Bytes of the array there, with the indexes in front, by their lengths alone: a record's may have a typecode that is
 * none, which is no damage. [B-2] 0: it is no array, or passes its end.
 */
static size_t array_size(const uint8_t *p, size_t left)
{
    for (size_t at = 0; at < left;) {
        bool index = p[at] >= 0x51 && p[at] <= 0x57; /* */
        size_t width = (size_t)1 << (p[at] & 3), head = 1 + (index ? width : 2 * width);
        if ((!index && (p[at] & 0xfc) != 0x44) || head > left - at) return 0;
        uint64_t size = 0;
        for (size_t i = 1; i <= width; i++) size = size << 8 | p[at + i];
        if (size > left - at - head) return 0;
        at += head + (size_t)size;
        if (!index) return at;
    }
    return 0;
}

void tool_put_record(const tool_style *style, const u9_record *record)
{
    if (style->format == TOOL_RAW) {
        tool_put(record->bytes, (size_t)record->size);
        return;
    }
    u9_walk walk = u9_walk_bytes(record->values, (size_t)record->values_size);
    u9_value v;
    tool_put_front(style, record);
    for (int next = 0; walk.left > 0; next = 1) {
        if (u9_walk_next(&walk, &v) != U9_OK) {
            v = (u9_value){.type = U9_ARRAY, .start = walk.next, .encoded = array_size(walk.next, walk.left)};
            if (v.encoded == 0) break;
            walk = u9_walk_bytes(walk.next + v.encoded, walk.left - v.encoded);
        }
        if (next) putc_unlocked(style->format == TOOL_JSON ? ',' : '\t', tool_out());
        tool_put_value(style, &v);
    }
    tool_put_back(style);
}
