/*
 * format/value/text/write.c: prints values in the text notation. [N-1] to [N-7]
 *
 * The bytes are proved first, so nothing that is met later is malformed. Then one loop goes over
 * them with a stack of the containers that are open; an index is an item of its own with the
 * container behind it as the next. Pieces of text are collected in a small buffer for the caller's
 * function.
 *
 * No recursion, no allocation, no memory in proportion to the value.
 */
#include <u9/value_text.h>

#include "format/base/fault.h"
#include "format/value/text/float_text.h"
#include "format/value/text/name.h"
#include "format/value/decode.h"

enum { ROOM = 256 };

/* A run of values: an open container, or the value itself. */
typedef struct print_level {
    const uint8_t *next;
    size_t left;    /* of values back to back: bytes */
    uint64_t due;   /* of an array's elements: how many */
    char close;     /* behind the last; 0: an array's elements are over */
    bool packed;    /* an array's elements */
    bool first;     /* nothing printed yet */
    u9i_typecode t; /* of an array's elements */
} print_level;

typedef struct printer {
    u9_text_fn *put;
    void *ctx;
    u9_err err; /* what `put` returned; sticky */
    size_t used;
    char room[ROOM];
    unsigned depth; /* open containers */
    print_level levels[U9_DEPTH_MAX + 1];
} printer;

static void flush(printer *p)
{
    if (p->used > 0 && p->err == U9_OK) p->err = p->put(p->ctx, p->room, p->used);
    p->used = 0;
}

static void print(printer *p, const void *text, size_t size)
{
    const char *from = (const char *)text;
    while (size > 0 && p->err == U9_OK) {
        if (p->used == ROOM) flush(p);
        size_t some = size < ROOM - p->used ? size : ROOM - p->used;
        memcpy(p->room + p->used, from, some);
        p->used += some;
        from += some;
        size -= some;
    }
}

static void print_text(printer *p, const char *text)
{
    print(p, text, strlen(text));
}

static void print_uint(printer *p, uint64_t v)
{
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    print(p, digits + at, sizeof digits - at);
}

static void print_int(printer *p, int64_t v)
{
    if (v < 0) print_text(p, "-");
    print_uint(p, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void print_hex_digits(printer *p, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size && p->err == U9_OK; i++) {
        print(p, &"0123456789abcdef"[bytes[i] >> 4], 1);
        print(p, &"0123456789abcdef"[bytes[i] & 15], 1);
    }
}

static void print_bytes(printer *p, const uint8_t *bytes, size_t size)
{
    print_text(p, "x\"");
    print_hex_digits(p, bytes, size);
    print_text(p, "\"");
}

/* Bytes at s that stand for themselves: one character of UTF-8 that is no control character; else
 * 0. */
static size_t plain_character(const uint8_t *s, size_t left)
{
    if (s[0] < 0x80) return s[0] >= 0x20 && s[0] != 0x7f && s[0] != '"' && s[0] != '\\';
    size_t size = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (size > left || !u9_utf8_valid(s, size)) return 0;
    return s[0] == 0xc2 && s[1] < 0xa0 ? 0 : size; /* U+0080 to U+009f */
}

/* [N-3] */
static void print_string(printer *p, const uint8_t *s, size_t size)
{
    size_t plain = 0, at = 0;
    print_text(p, "\"");
    while (at < size && p->err == U9_OK) {
        size_t step = plain_character(s + at, size - at);
        if (step > 0) {
            at += step;
            continue;
        }
        print(p, s + plain, at - plain);
        char c = (char)s[at], escape[3] = {'\\', c == '\n' ? 'n' : c == '\t' ? 't' : c, '\0'};
        bool short_form = c == '\n' || c == '\t' || c == '"' || c == '\\';
        print_text(p, short_form ? escape : "\\x");
        if (!short_form) print_hex_digits(p, s + at, 1);
        plain = ++at;
    }
    print(p, s + plain, at - plain);
    print_text(p, "\"");
}

/* [N-3] Without the padding. */
static void print_symbol(printer *p, const uint8_t *s)
{
    size_t size = 8, plain = 0;
    while (size > 0 && s[size - 1] == 0) size--;
    while (plain < size && u9i_symbol_plain(s[plain])) plain++;
    print_text(p, "'");
    if (size > 0 && plain == size) print(p, s, size);
    else print_string(p, s, size);
}

/* [N-4] A float of `width` bytes at `raw`. */
static void print_real(printer *p, const uint8_t *raw, unsigned width)
{
    char text[U9I_FLOAT_SIZE];
    uint64_t bits = u9i_get_be(raw, width),
             infinity = width == 4 ? 0x7f800000 : UINT64_C(0x7ff) << 52;
    uint64_t magnitude = bits & ~(UINT64_C(1) << (8 * width - 1));
    if (magnitude < infinity) {
        print(p, text, u9i_float_print(bits, width, text));
    } else if (magnitude == infinity) {
        print_text(p, bits == magnitude ? "inf" : "-inf");
    } else {
        print_text(p, "nan");
        if (bits == (infinity | infinity >> 1)) return; /* the first bit of the payload alone */
        print_text(p, "(");
        print_bytes(p, raw, width);
        print_text(p, ")");
    }
}

/* `name`, and `.w` unless the width is the narrowest. [N-5] */
static void print_name(printer *p, const char *name, unsigned width, unsigned narrowest)
{
    print_text(p, name);
    if (width == narrowest) return;
    print_text(p, ".");
    print_uint(p, 8 * width);
}

/* [N-6] The typecode at `bytes`, which is proved to be one. */
static void print_typecode(printer *p, const uint8_t *bytes)
{
    static const char *const names[] = {"uint8", "uint16", "uint32",  "uint64",  "int8",   "int16",
                                        "int32", "int64",  "float32", "float64", "symbol", "pidfd"};
    u9i_typecode t;
    for (;; bytes = t.inner) {
        if (u9i_typecode_read(bytes, SIZE_MAX, &t) != U9_OK) return;
        unsigned width = 1u << (t.code & 3);
        uint64_t number = t.stride;
        if (t.code < sizeof names / sizeof *names) {
            print_text(p, names[t.code]);
            return;
        }
        if (t.type == U9_TAU) {
            print_name(p, "tau", t.width, 0);
            return;
        }
        if (t.type == U9_ARRAY) {
            print_name(p, "array", width, u9i_narrowest_container(false, t.stride, number = t.count));
        } else if (t.type == U9_TUPLE && t.code >= 0x48) {
            print_text(p, "fixtuple");
            print_uint(p, t.count);
        } else {
            number -= t.type == U9_TUPLE ? t.width : 0;
            const char *name = t.type == U9_TUPLE ? "tuple" : t.type == U9_UTF8 ? "utf8" : "bytes";
            print_name(p, name, width, u9i_narrowest(number));
        }
        print_text(p, " ");
        print_uint(p, number);
        if (t.type != U9_ARRAY) return;
        print_text(p, " ");
    }
}

/* An integer that has a bytecode of its own. [N-5] */
static void print_integer(printer *p, const u9_value *v)
{
    unsigned width = v->code >= U9I_FIXINT ? 0 : 1u << (v->code & 3);
    bool shortest = v->type == U9_UINT
                        ? width == (v->u <= U9I_FIX_INT_MAX ? 0 : u9i_narrowest(v->u))
                        : v->i < 0 && width == u9i_narrowest(~(uint64_t)v->i << 1);
    if (!shortest) {
        print_text(p, v->type == U9_UINT ? "uint" : "int");
        print_uint(p, 8 * width);
        print_text(p, "(");
    }
    if (v->type == U9_UINT) print_uint(p, v->u);
    else print_int(p, v->i);
    if (!shortest) print_text(p, ")");
}

static void print_blob(printer *p, const u9_value *v)
{
    const char *name = v->type == U9_UTF8 ? "utf8" : "bytes";
    size_t size = (size_t)v->size;
    unsigned width = v->code >= 0x20 ? 0 : 1u << (v->code & 3);
    unsigned shortest = size <= U9I_FIX_BLOB_MAX ? 0 : u9i_narrowest(size);
    bool named = v->start != NULL && width != shortest;
    if (named) print_name(p, name, width, shortest);
    if (named) print_text(p, "(");
    if (v->type == U9_UTF8) print_string(p, v->data, size);
    else print_bytes(p, v->data, size);
    if (named) print_text(p, ")");
}

/* Anything but a container; `raw`: what stands behind its bytecode. */
static void print_atom(printer *p, const u9_value *v, const uint8_t *raw)
{
    static const char *const greek[] = {"alpha", "omega", "iota", "kappa", "tau0"};
    switch (v->type) {
    case U9_UINT:
    case U9_INT:
        if (v->start) print_integer(p, v);
        else if (v->type == U9_UINT) print_uint(p, v->u);
        else print_int(p, v->i);
        break;
    case U9_FLOAT32:
        print_text(p, v->start ? "float32(" : "");
        print_real(p, raw, 4);
        print_text(p, v->start ? ")" : "");
        break;
    case U9_FLOAT64: print_real(p, raw, 8); break;
    case U9_SYMBOL: print_symbol(p, v->data); break;
    case U9_PIDFD:
        print_text(p, "pidfd(");
        print_uint(p, v->pidfd.pid);
        print_text(p, " ");
        print_uint(p, v->pidfd.fd);
        print_text(p, ")");
        break;
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0: print_text(p, greek[v->type - U9_ALPHA]); break;
    case U9_TAU:
        if (v->start)
            print_name(p, "tau", 2u << (v->code - 0x15), v->u >> 16 ? u9i_narrowest(v->u) : 2);
        print_text(p, v->start ? "(" : "");
        print_uint(p, v->u);
        print_text(p, v->start ? ")" : "");
        break;
    case U9_UTF8:
    case U9_BYTES: print_blob(p, v); break;
    case U9_TUPLE:
    case U9_ARRAY: break;
    }
}

/* [N-6] A container's beginning; what is in it comes next. */
static void begin_container(printer *p, const u9_value *v)
{
    print_level *l = &p->levels[++p->depth];
    bool tuple = v->type == U9_TUPLE;
    *l = (print_level){.next = v->data, .left = (size_t)v->size, .due = v->count, .first = true};
    l->close = tuple ? ')' : ']';
    uint64_t length = v->size + (tuple ? 0 : (uint64_t)(v->data - v->typecode));
    unsigned width = v->code >= 0x48 ? 0 : 1u << (v->code & 3);
    unsigned shortest = u9i_narrowest_container(tuple, length, v->count);
    if (v->start && width != shortest) print_name(p, tuple ? "tuple" : "array", width, shortest);
    print_text(p, tuple ? "(" : "[");
    if (tuple) return;
    l->packed = true;
    (void)!u9i_typecode_read(v->typecode, SIZE_MAX, &l->t);
    if (v->start == NULL) return; /* of an array in an array the typecode is said already */
    print_typecode(p, v->typecode);
    print_text(p, ":");
    l->first = false;
}

/* [N-7] */
static void begin_index(printer *p, const uint8_t *bytes)
{
    unsigned width = u9i_index_width(*bytes);
    uint64_t size = u9i_get_be(bytes + 1, width);
    bool complete = *bytes <= 0x53;
    print_name(p, complete ? "cidx" : "iidx", width, u9i_narrowest_index(complete, size));
    print_text(p, "(");
    p->levels[++p->depth] =
        (print_level){.next = bytes + 1 + width, .left = (size_t)size, .close = ')', .first = true};
}

/* The next item of a level. */
static void print_item(printer *p, print_level *l)
{
    const uint8_t *at = l->next, *raw = at;
    u9_value v;
    if (!l->first) print_text(p, " ");
    l->first = false;
    if (l->packed) {
        u9i_element(&l->t, at, &v);
        l->next += l->t.stride;
        l->due--;
    } else {
        bool index = u9i_is_index(*at);
        if (!index && u9i_look_as(true, at, l->left, &v) != U9_OK) return;
        size_t size = index ? 1 + u9i_index_width(*at) : v.encoded;
        if (index) size += (size_t)u9i_get_be(at + 1, u9i_index_width(*at));
        l->next += size;
        l->left -= size;
        raw++;
        if (index) {
            begin_index(p, at);
            return;
        }
    }
    if (v.type == U9_TUPLE || v.type == U9_ARRAY) begin_container(p, &v);
    else print_atom(p, &v, raw);
}

u9_err u9_value_print(const void *bytes, size_t size, u9_text_fn *to, void *ctx, u9_fault *fault)
{
    u9_err err = u9_value_check(bytes, size, NULL, fault);
    if (err != U9_OK) return err;
    printer p;
    p.put = to;
    p.ctx = ctx;
    p.err = U9_OK;
    p.used = 0;
    p.depth = 0;
    p.levels[0] = (print_level){.next = (const uint8_t *)bytes, .left = size, .first = true};
    while (p.err == U9_OK) {
        print_level *l = &p.levels[p.depth];
        if (l->packed ? l->due > 0 : l->left > 0) {
            print_item(&p, l);
        } else {
            if (p.depth-- == 0) break;
            print(&p, &l->close, 1);
        }
    }
    flush(&p);
    return p.err;
}

/* A caller's buffer; `length` goes on where it is full. */
typedef struct text {
    char *text;
    size_t cap, length;
} text;

static u9_err fill(void *ctx, const char *from, size_t size)
{
    text *t = (text *)ctx;
    size_t left = t->length < t->cap ? t->cap - t->length : 0;
    size_t some = left > size ? size : left;
    if (some > 0) memcpy(t->text + t->length, from, some);
    if (left > 0) t->text[t->length + some - (some == left)] = '\0';
    t->length += size;
    return U9_OK;
}

static u9_err filled(const text *t, size_t *length)
{
    if (length) *length = t->length;
    return t->length < t->cap ? U9_OK : U9_LIMIT;
}

u9_err u9_value_text(const void *bytes, size_t size, char *out, size_t cap, size_t *length,
                     u9_fault *fault)
{
    text t = {.text = out, .cap = cap};
    u9_err err = u9_value_print(bytes, size, fill, &t, fault);
    if (err != U9_OK) return err;
    err = filled(&t, length);
    return err ? u9i_refuse(fault, err, U9_NOWHERE, NULL, "no room for all of the text") : U9_OK;
}

u9_err u9_typecode_text(const void *bytes, size_t size, char *out, size_t cap, size_t *length)
{
    u9i_typecode t;
    u9_err err = u9i_typecode_read((const uint8_t *)bytes, size, &t);
    if (err != U9_OK) return err;
    if (t.length != size) return U9_CORRUPT;
    text to = {.text = out, .cap = cap};
    printer p;
    p.put = fill;
    p.ctx = &to;
    p.err = U9_OK;
    p.used = 0;
    print_typecode(&p, (const uint8_t *)bytes);
    flush(&p);
    return filled(&to, length);
}
