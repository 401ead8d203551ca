/*
 * format/value/check.c: the proof that bytes are one well-formed value, and the UTF-8 check. [V-4] to
 * [V-10]
 *
 * One loop over the bytes, with a stack of the containers that are open: a run of values that must end at
 * a known place. Atoms, which most values are, are passed in an inner loop of their own. Arrays whose
 * elements are numbers and the like are proved by their size alone; those of tuples, and of text where its
 * UTF-8 is asked for, are entered.
 */
#include <u9/value_index.h>

#include "format/base/fault.h"
#include "format/value/decode.h"
#include "format/value/typecode.h"

/* A run of values that must end exactly at `end`: the buffer itself, or a container's contents. */
typedef struct check_level {
    size_t end;
    uint64_t due;            /* values still to come */
    const uint8_t *typecode; /* of an array: what they are */
    bool indexed;            /* an index was the last: only an index or a container may follow */
} check_level;

typedef struct value_checker {
    const uint8_t *bytes;
    size_t at;
    check_level *now;     /* &open[depth] */
    unsigned depth; /* open containers */
    unsigned depth_max;
    check_level open[U9_DEPTH_MAX + 1];
    u9_fault *fault;
} value_checker;

/* The array where the checker is is whole, and no array: is it its typecode? */
static u9_err refuse_array(const value_checker *c, u9_err err)
{
    const uint8_t *p = c->bytes + c->at;
    unsigned width = 1u << (p[0] & 3);
    u9i_typecode t;
    if (u9i_typecode_read(p + 1 + 2 * width, (size_t)u9i_get_be(p + 1, width), &t) != U9_OK)
        return u9i_refuse(c->fault, err, c->at, "V-10", "an array whose typecode is none");
    return u9i_refuse(c->fault, err, c->at, "V-5", "an array's length, count and typecode do not fit");
}

/* Names what was refused where the checker is. What is torn inside a whole container is no torn input. */
static u9_err refuse_value(const value_checker *c, u9_err err)
{
    size_t at = c->at;
    if (err == U9_LIMIT)
        return u9i_refuse(c->fault, err, at, "V-10", "too many empty elements, or arrays nested too deeply");
    if (err == U9_TORN && c->depth == 0)
        return u9i_refuse(c->fault, U9_TORN, at, "V-8", "the value passes the end of the bytes");
    if (err == U9_TORN && at == c->now->end)
        return u9i_refuse(c->fault, U9_CORRUPT, at, "V-4", "a tuple ends before its last element");
    if (err == U9_TORN)
        return u9i_refuse(c->fault, U9_CORRUPT, at, "V-4", "an element passes the end of its tuple");
    if (c->bytes[at] >= 0x44 && c->bytes[at] <= 0x47) return refuse_array(c, err);
    return u9i_refuse(c->fault, err, at, "V-6", "a reserved bytecode");
}

static u9_err refuse_rest(const value_checker *c)
{
    if (c->depth == 0) return u9i_refuse(c->fault, U9_CORRUPT, c->at, "V-8", "bytes behind the value");
    return u9i_refuse(c->fault, U9_CORRUPT, c->at, "V-4", "bytes behind a tuple's last element");
}

/* Levels are filled in place: a copy right behind the stores would have to wait for them. */
static u9_err enter_level(value_checker *c, size_t begin, size_t end, uint64_t due,
                          const uint8_t *typecode)
{
    if (c->depth == c->depth_max)
        return u9i_refuse(c->fault, U9_LIMIT, c->at, "V-8", "containers are nested too deeply");
    check_level *inner = c->now = &c->open[++c->depth];
    inner->end = end;
    inner->due = due;
    inner->typecode = typecode;
    inner->indexed = false;
    c->at = begin;
    return U9_OK;
}

/* Enters the index at c->at; what it indexes is still to come. */
static u9_err enter_index(value_checker *c)
{
    const uint8_t *p = c->bytes + c->at;
    size_t left = c->now->end - c->at - 1;
    unsigned width = u9i_index_width(p[0]);
    uint64_t l = width <= left ? u9i_get_be(p + 1, width) : 0;
    if (width > left || l > left - width)
        return c->depth == 0 ? refuse_value(c, U9_TORN)
                             : u9i_refuse(c->fault, U9_CORRUPT, c->at, "X-1",
                                          "an index passes the end of its tuple");
    u9_walk walk = u9_walk_bytes(p, 1 + width + (size_t)l);
    u9_index index;
    u9_err err = u9_index_next(&walk, &index);
    if (err == U9_LIMIT) return refuse_value(c, err);
    if (err != U9_OK)
        return u9i_refuse(c->fault, U9_CORRUPT, c->at, "X-1", "an index that is not (ks ka ia)");
    c->now->due++;
    c->now->indexed = true;
    size_t begin = c->at + 1 + width;
    return enter_level(c, begin, begin + (size_t)l, 3, NULL);
}

/* Enters a container, or passes it if its size has proved it. */
static u9_err enter_container(value_checker *c, const u9_value *v, bool text)
{
    size_t begin = (size_t)(v->data - c->bytes), end = begin + (size_t)v->size;
    if (v->type == U9_TUPLE) return enter_level(c, begin, end, v->count, NULL);
    u9i_typecode t;
    u9_err err = u9i_typecode_read(v->typecode, SIZE_MAX, &t);
    if (err == U9_OK && c->depth + 1 + t.depth > c->depth_max)
        return u9i_refuse(c->fault, U9_LIMIT, c->at, "V-8", "containers are nested too deeply");
    uint64_t due = v->count;
    if (t.leaf != U9_TUPLE && (t.leaf != U9_UTF8 || !text)) due = 0;
    if (t.stride == 0 && due > 1) due = 1; /* they are all the same */
    return enter_level(c, due == 0 ? end : begin, end, due, v->typecode);
}

/* Looks at the value at c->at. */
static u9_err look_here(value_checker *c, u9_value *v)
{
    if (c->now->typecode) {
        u9i_typecode t;
        u9_err err = u9i_typecode_read(c->now->typecode, SIZE_MAX, &t);
        u9i_element(&t, c->bytes + c->at, v);
        v->encoded = (size_t)t.stride;
        return err;
    }
    u9_err err = u9i_look(c->bytes + c->at, c->now->end - c->at, v);
    if (err != U9_OK) return refuse_value(c, err);
    if (!c->now->indexed) return U9_OK;
    c->now->indexed = false;
    if (v->type == U9_TUPLE || v->type == U9_ARRAY) return U9_OK;
    return u9i_refuse(c->fault, U9_CORRUPT, c->at, "V-6", "an index without a container behind it");
}

/*
 * Passes the atoms that come next in a tuple, without making views of them; stops at anything else, and at
 * what is to be refused. Returns the offset of the first utf8 value that is not valid, if `text` asks for
 * it; else U9_NOWHERE.
 */
static uint64_t pass_atoms(value_checker *c, bool text)
{
    const uint8_t *p = c->bytes + c->at, *end = c->bytes + c->now->end;
    uint64_t bad = U9_NOWHERE;
    u9i_parts v;
    for (; c->now->due > 0 && p < end; c->now->due--) {
        if (u9i_take_apart(false, p[0], p, (size_t)(end - p), &v) != U9_OK) break;
        if (v.type == 0 || v.type >= U9_TUPLE) break;
        if (text && v.type == U9_UTF8 && !u9_utf8_valid(v.contents, (size_t)v.body)) {
            bad = (uint64_t)(p - c->bytes);
            text = false;
        }
        p += v.head + (size_t)v.body;
    }
    c->at = (size_t)(p - c->bytes);
    return bad;
}

u9_err u9_value_check(const void *bytes, size_t size, uint64_t *bad_utf8, u9_fault *fault)
{
    return u9i_value_check_inside(0, bytes, size, bad_utf8, fault);
}

u9_err u9i_value_check_inside(unsigned outer, const void *bytes, size_t size, uint64_t *bad_utf8,
                              u9_fault *fault)
{
    value_checker c;
    uint64_t bad = U9_NOWHERE;
    c.bytes = (const uint8_t *)bytes;
    c.at = 0;
    c.depth = 0;
    c.depth_max = U9_DEPTH_MAX - outer;
    c.fault = fault;
    c.now = c.open;
    c.open[0] = (check_level){.end = size, .due = 1};
    if (size == 0) return refuse_value(&c, U9_TORN);
    for (;;) {
        if (!c.now->typecode && !c.now->indexed) {
            uint64_t found = pass_atoms(&c, bad_utf8 && bad == U9_NOWHERE);
            if (found != U9_NOWHERE) bad = found;
        }
        while (c.now->due == 0) {
            if (c.at != c.now->end) return refuse_rest(&c);
            if (c.depth == 0) {
                if (bad_utf8) *bad_utf8 = bad;
                return U9_OK;
            }
            c.now = &c.open[--c.depth];
        }
        c.now->due--;
        u9_value v;
        u9_err err;
        if (!c.now->typecode && c.at < c.now->end && u9i_is_index(c.bytes[c.at])) {
            err = enter_index(&c);
            if (err) return err;
            continue;
        }
        err = look_here(&c, &v);
        if (err) return err;
        if (v.type == U9_TUPLE || v.type == U9_ARRAY) {
            err = enter_container(&c, &v, bad_utf8 && bad == U9_NOWHERE);
            if (err) return err;
            continue;
        }
        if (v.type == U9_UTF8 && bad_utf8 && bad == U9_NOWHERE &&
            !u9_utf8_valid(v.data, (size_t)v.size))
            bad = c.at;
        c.at += v.encoded;
    }
}

/* The size of the UTF-8 sequence at p, 0 if it is none. RFC 3629, section 4. */
static size_t utf8_sequence(const uint8_t *p, size_t left)
{
    uint8_t lead = p[0], low = 0x80, high = 0xbf; /* bounds of the second byte */
    size_t size;
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0; /* a tail byte, overlong, or above U+10FFFF */
    if (lead < 0xe0) {
        size = 2;
    } else if (lead < 0xf0) {
        size = 3;
        if (lead == 0xe0) low = 0xa0;  /* below: overlong */
        if (lead == 0xed) high = 0x9f; /* above: surrogates */
    } else {
        size = 4;
        if (lead == 0xf0) low = 0x90;  /* below: overlong */
        if (lead == 0xf4) high = 0x8f; /* above: beyond U+10FFFF */
    }
    if (left < size || p[1] < low || p[1] > high) return 0;
    for (size_t i = 2; i < size; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    return size;
}

static uint64_t high_bits(const uint8_t *p)
{
    uint64_t eight;
    memcpy(&eight, p, 8);
    return eight & UINT64_C(0x8080808080808080);
}

/* Bytes from `at` on that are seen to be ASCII at once, the common case; 0: look closer. */
static size_t ascii_at(const uint8_t *p, size_t at, size_t size)
{
    size_t left = size - at;
    if (left >= 32 && (high_bits(p + at) | high_bits(p + at + 8) | high_bits(p + at + 16) |
                       high_bits(p + at + 24)) == 0)
        return 32;
    if (left >= 8) return high_bits(p + at) == 0 ? 8 : 0;
    return size >= 8 && high_bits(p + size - 8) == 0 ? left : 0;
}

int u9_utf8_valid(const void *bytes, size_t size)
{
    const uint8_t *p = (const uint8_t *)bytes;
    for (size_t at = 0, step; at < size; at += step) {
        step = ascii_at(p, at, size);
        if (step == 0) step = utf8_sequence(p + at, size - at);
        if (step == 0) return 0;
    }
    return 1;
}
