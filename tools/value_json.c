/*
 * tools/value_json.c: prints values as JSON. [J-1] to [J-6]
 *
 * Made for speed: no formatted output, one pass over a value that has been proved, no allocation
 * but for objects of many keys. Values may come from any writer and are never believed: what is
 * malformed is printed as hex, and a tuple of pairs is an object only if it can be read back as
 * one.
 */
#include "tools/value_json.h"

#include <u9/value_text.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REAL_ROOM = 64, FEW_KEYS = 32 };

_Thread_local FILE *tool_sink;

void tool_put(const void *bytes, size_t size)
{
    fwrite_unlocked(bytes, 1, size, tool_out());
}

void tool_put_text(const char *text)
{
    tool_put(text, strlen(text));
}

void tool_put_uint(uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    tool_put(digits + at, sizeof digits - at);
}

void tool_put_hex(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        putc_unlocked("0123456789abcdef"[bytes[i] >> 4], tool_out());
        putc_unlocked("0123456789abcdef"[bytes[i] & 15], tool_out());
    }
}

/* A string without its quotes; control characters, those of two bytes too, are escaped. */
void tool_put_characters(const uint8_t *p, size_t size)
{
    const uint8_t *end = p + size, *plain = p;
    for (; p < end; p++) {
        int c1 = *p == 0xc2 && end - p > 1 && p[1] < 0xa0;
        if (*p >= 0x20 && *p != '"' && *p != '\\' && *p != 0x7f && !c1) continue;
        tool_put(plain, (size_t)(p - plain));
        if (c1) p++;
        plain = p + 1;
        if (*p == '"' || *p == '\\') {
            putc_unlocked('\\', tool_out());
            putc_unlocked(*p, tool_out());
        } else if (*p == '\n' || *p == '\t') {
            tool_put_text(*p == '\n' ? "\\n" : "\\t");
        } else {
            tool_put_text("\\u00");
            tool_put_hex(p, 1);
        }
    }
    tool_put(plain, (size_t)(end - plain));
}

void tool_put_string(const void *text, size_t size)
{
    putc_unlocked('"', tool_out());
    tool_put_characters((const uint8_t *)text, size);
    putc_unlocked('"', tool_out());
}

size_t tool_json_marks(const void *key, size_t size)
{
    static const char *const ours[] = {"array",  "bytes", "float32",      "float64",
                                       "greek",  "int",   "pidfd",        "malformed",
                                       "symbol", "tau",   "symbol_bytes", "utf8"};
    const char *text = (const char *)key;
    size_t marks = 0;
    while (marks < size && text[marks] == '$') marks++;
    for (size_t i = 0; marks > 0 && i < sizeof ours / sizeof *ours; i++)
        if (size - marks == strlen(ours[i]) && memcmp(text + marks, ours[i], size - marks) == 0)
            return marks;
    return 0;
}

/* {"$name":"hex"} */
static void put_wrapped(const char *name, const uint8_t *bytes, size_t size)
{
    tool_put_text("{\"$");
    tool_put_text(name);
    tool_put_text("\":\"");
    tool_put_hex(bytes, size);
    tool_put_text("\"}");
}

/* [J-2] */
static void put_integer(const u9_value *v)
{
    int negative = v->type == U9_INT && v->i < 0;
    if (negative) putc_unlocked('-', tool_out());
    tool_put_uint(negative ? 0 - (uint64_t)v->i : v->u);
}

/* The text of a float whose bits stand at `raw`; for a float32 what stands in its parentheses.
 * [N-4] */
static const char *real_text(const u9_value *v, const uint8_t *raw, char text[REAL_ROOM])
{
    uint8_t value[9] = {v->type == U9_FLOAT32 ? 0x08 : 0x09};
    size_t size = v->type == U9_FLOAT32 ? 4 : 8, length = 0;
    memcpy(value + 1, raw, size);
    if (u9_value_text(value, 1 + size, text, REAL_ROOM, &length, NULL) != U9_OK) return "nan";
    if (size == 8) return text;
    text[length - 1] = '\0';
    return text + strlen("float32(");
}

/* [J-3] `bare`: an array's typecode says already which float it is. */
static void put_real(const u9_value *v, const uint8_t *raw, int bare)
{
    char text[REAL_ROOM];
    const char *quote = isfinite(v->f) ? "" : "\"";
    int wrap = *quote || (v->type == U9_FLOAT32 && !bare);
    if (wrap) tool_put_text(v->type == U9_FLOAT32 ? "{\"$float32\":" : "{\"$float64\":");
    tool_put_text(quote);
    for (const char *c = real_text(v, raw, text); *c; c++) {
        if (*c == '"') putc_unlocked('\\', tool_out());
        putc_unlocked(*c, tool_out());
    }
    tool_put_text(quote);
    if (wrap) putc_unlocked('}', tool_out());
}

void tool_put_number(const u9_value *v)
{
    char text[REAL_ROOM];
    if (v->type == U9_UINT || v->type == U9_INT) put_integer(v);
    else tool_put_text(real_text(v, v->start + 1, text));
}

/* [J-4] */
static void put_symbol(const uint8_t *name)
{
    size_t size = 8;
    while (size > 0 && name[size - 1] == 0) size--;
    const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++) {
        if (size != strlen(words[i]) || memcmp(name, words[i], size) != 0) continue;
        tool_put_text(words[i]);
        return;
    }
    if (!u9_utf8_valid(name, size)) {
        put_wrapped("symbol_bytes", name, size);
        return;
    }
    tool_put_text("{\"$symbol\":");
    tool_put_string(name, size);
    putc_unlocked('}', tool_out());
}

/* Any value but a container; `raw`: what stands behind its bytecode. */
static void put_atom(const u9_value *v, const uint8_t *raw, int bare)
{
    static const char *const greek[] = {"alpha", "omega", "iota", "kappa", "tau0"};
    switch (v->type) {
    case U9_UINT:
    case U9_INT: put_integer(v); break;
    case U9_FLOAT32:
    case U9_FLOAT64: put_real(v, raw, bare); break;
    case U9_SYMBOL: put_symbol(v->data); break;
    case U9_PIDFD:
        tool_put_text("{\"$pidfd\":[");
        tool_put_uint(v->pidfd.pid);
        putc_unlocked(',', tool_out());
        tool_put_uint(v->pidfd.fd);
        tool_put_text("]}");
        break;
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0:
        tool_put_text("{\"$greek\":\"");
        tool_put_text(greek[v->type - U9_ALPHA]);
        tool_put_text("\"}");
        break;
    case U9_TAU:
        tool_put_text("{\"$tau\":\"");
        tool_put_uint(v->u);
        tool_put_text("\"}");
        break;
    case U9_UTF8:
        if (u9_utf8_valid(v->data, (size_t)v->size)) tool_put_string(v->data, (size_t)v->size);
        else put_wrapped("utf8", v->data, (size_t)v->size);
        break;
    case U9_BYTES: put_wrapped("bytes", v->data, (size_t)v->size); break;
    case U9_TUPLE:
    case U9_ARRAY: break;
    }
}

static int compare_keys(const void *a, const void *b)
{
    const u9_value *x = (const u9_value *)a, *y = (const u9_value *)b;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return memcmp(x->data, y->data, (size_t)x->size);
}

/* True if each element is a pair of a text that may be a JSON key and a value, and no key is there
 * twice. */
static int has_keys(const u9_value *tuple, u9_value *keys)
{
    u9_walk walk = u9_walk_elements(tuple);
    u9_value pair;
    size_t n = 0;
    for (; u9_walk_next(&walk, &pair) == U9_OK; n++) {
        if (pair.type != U9_TUPLE || pair.count != 2 || pair.code >= 0x51) return 0;
        u9_walk in = u9_walk_elements(&pair);
        if (u9_walk_next(&in, &keys[n]) != U9_OK || keys[n].type != U9_UTF8) return 0;
        size_t size = (size_t)keys[n].size;
        if (!u9_utf8_valid(keys[n].data, size) || memchr(keys[n].data, '\0', size)) return 0;
    }
    qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 1; i < n; i++)
        if (compare_keys(&keys[i - 1], &keys[i]) == 0) return 0;
    return 1;
}

/* [J-6] A tuple with a `cidx` of `kh` in front. */
int tool_is_object(const u9_value *v)
{
    static const uint8_t kh[9] = {0x0a, 'k', 'h'};
    u9_value few[FEW_KEYS];
    if (v->type != U9_TUPLE || !v->start || v->code < 0x51 || v->code > 0x53) return 0;
    if (memcmp(v->start + 1 + (2u << (v->code - 0x51)), kh, sizeof kh) != 0) return 0;
    u9_value *keys =
        v->count <= FEW_KEYS ? few : (u9_value *)calloc((size_t)v->count, sizeof *keys);
    int is = keys && has_keys(v, keys);
    if (keys != few) free(keys);
    return is;
}

/* A container that is open. */
struct level {
    u9_walk walk;
    const char *close;
    int object; /* its elements are pairs */
    int lone;   /* one pair */
    int bare;   /* they are of an array: its typecode says which floats they are */
    int next;   /* not 0: an element stands before */
};

int tool_typecode_of_tuples(const uint8_t *typecode)
{
    while (*typecode >= 0x44 && *typecode <= 0x47) typecode += 1 + (2u << (*typecode & 3));
    return *typecode >= 0x40 && *typecode <= 0x4f;
}

/* [J-5] [J-6] */
static void open_level(struct level *l, const u9_value *v)
{
    *l = (struct level){.walk = u9_walk_elements(v), .close = "]", .object = tool_is_object(v)};
    if (l->object) {
        putc_unlocked('{', tool_out());
        l->lone = v->count == 1;
        l->close = "}";
    } else if (v->type == U9_ARRAY && v->start && !tool_typecode_of_tuples(v->typecode)) {
        char typecode[4096]; /* 64 times "array.64 18446744073709551615 " */
        size_t length = 0;
        l->bare = l->next = 1;
        l->close = "]}";
        tool_put_text("{\"$array\":[\"");
        if (u9_typecode_text(v->typecode, (size_t)(v->data - v->typecode), typecode,
                             sizeof typecode, &length) == U9_OK)
            tool_put(typecode, length);
        putc_unlocked('"', tool_out());
    } else {
        l->bare = v->type == U9_ARRAY;
        putc_unlocked('[', tool_out());
    }
}

/* The key of a pair, and its value in `v`. [J-6] */
static void put_key(u9_value *v, int lone)
{
    u9_walk in = u9_walk_elements(v);
    u9_value key;
    if (u9_walk_next(&in, &key) != U9_OK || u9_walk_next(&in, v) != U9_OK) return;
    putc_unlocked('"', tool_out());
    if (lone && tool_json_marks(key.data, (size_t)key.size) > 0) putc_unlocked('$', tool_out());
    tool_put_characters(key.data, (size_t)key.size);
    tool_put_text("\":");
}

void tool_put_json(const u9_value *value)
{
    struct level open[U9_DEPTH_MAX];
    unsigned depth = 0;
    u9_value v = *value;
    const uint8_t *raw = v.start + 1;
    int container = v.type == U9_TUPLE || v.type == U9_ARRAY;
    if (container && u9_value_check(v.start, v.encoded, NULL, NULL) != U9_OK) {
        put_wrapped("malformed", v.start, v.encoded);
        return;
    }
    for (;;) {
        if (v.type == U9_TUPLE || v.type == U9_ARRAY) open_level(&open[depth++], &v);
        else put_atom(&v, raw, depth > 0 && open[depth - 1].bare);
        for (; depth > 0; depth--) {
            struct level *l = &open[depth - 1];
            raw = l->walk.next;
            if (u9_walk_next_checked(&l->walk, &v) == U9_OK) break;
            tool_put_text(l->close);
        }
        if (depth == 0) return;
        if (open[depth - 1].next++) putc_unlocked(',', tool_out());
        if (open[depth - 1].object) put_key(&v, open[depth - 1].lone);
        if (v.start) raw = v.start + 1;
    }
}
