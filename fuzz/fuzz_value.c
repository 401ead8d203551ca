/*
 * fuzz/fuzz_value.c: any bytes as utf9 values [V-1] to [V-10] and as muids [I-1] to [I-4].
 *
 * Whatever the input is, looking at it is safe: each value is decoded, entered and read to its last
 * byte. If the check finds it well-formed, then it is built once more and must come out as equal
 * values, no longer than before [V-7], and the same again the next time. The same bytes are read as
 * a muid's text and as a packed muid, which must survive the way there and back.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <u9/id.h>
#include <u9/value.h>

#include "format/value/flow.h"

enum { ROOM = 1 << 16, DEPTH_READ = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

static void must(bool holds)
{
    if (!holds) abort();
}

/* Reads every byte that a view offers, so that the sanitizer sees those that are not there. */
static void touch(const u9_value *v)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < v->encoded; i++) sum = (uint8_t)(sum + v->start[i]);
    for (size_t i = 0; v->data && i < v->size; i++) sum = (uint8_t)(sum + v->data[i]);
    if (v->type == U9_UTF8) sum = (uint8_t)(sum + u9_utf8_valid(v->data, (size_t)v->size));
    sink = sum;
}

static bool is_container(const u9_value *v)
{
    return v->type == U9_TUPLE || v->type == U9_ARRAY;
}

/* Walks the bytes, unproven as they are, down to DEPTH_READ levels. */
static void read_all(const uint8_t *data, size_t size)
{
    static u9_walk open[DEPTH_READ];
    unsigned depth = 0;
    open[0] = u9_walk_bytes(data, size);
    for (;;) {
        u9_value v;
        if (u9_walk_next(&open[depth], &v) == U9_OK) {
            touch(&v);
            if (is_container(&v) && depth + 1 < DEPTH_READ) open[++depth] = u9_walk_elements(&v);
        } else if (depth-- == 0) {
            return;
        }
    }
}

/* [V-9] What a reader takes and a builder refuses is copied. */
static u9_err build_symbol(u9_builder *b, const u9_value *v)
{
    char name[9] = {0};
    memcpy(name, v->data, 8);
    size_t length = strlen(name);
    bool plain = length > 0;
    for (size_t i = 0; i < 8; i++)
        plain = plain && (uint8_t)name[i] < 0x80 && (i < length || name[i] == '\0');
    u9_err err = plain ? u9_build_symbol(b, name) : U9_ARG;
    return plain ? err : u9_build_raw(b, v->start, v->encoded);
}

/* The typecode of an array stands right before its elements; an element's is that of its array. */
static u9_err open_array(u9_builder *b, const u9_value *v)
{
    size_t size = v->start ? (size_t)(v->data - v->typecode) : 0;
    return u9_build_array_open(b, v->start ? v->typecode : NULL, size);
}

static u9_err build_one(u9_builder *b, const u9_value *v)
{
    if (v->type == U9_SYMBOL && !v->start) return u9_build_value(b, v);
    switch (v->type) {
    case U9_UINT: return u9_build_uint(b, v->u);
    case U9_INT: return u9_build_int(b, v->i);
    case U9_FLOAT32: return u9_build_float32(b, (float)v->f);
    case U9_FLOAT64: return u9_build_float64(b, v->f);
    case U9_SYMBOL: return build_symbol(b, v);
    case U9_PIDFD: return u9_build_pidfd(b, v->pidfd.pid, v->pidfd.fd);
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0: return u9_build_greek(b, v->type);
    case U9_TAU: return u9_build_tau(b, v->u);
    case U9_UTF8: return u9_build_utf8(b, v->data, (size_t)v->size);
    case U9_BYTES: return u9_build_bytes(b, v->data, (size_t)v->size);
    case U9_TUPLE: return u9_build_tuple_open(b);
    case U9_ARRAY: return open_array(b, v);
    }
    abort();
}

/* What is being rebuilt: a run of values, and what they stand in. */
typedef struct level {
    u9_walk walk;
    u9_type type;
    bool element; /* a tuple in an array, which must stay as long as it is: its elements are copied */
} level;

/* Builds a checked value once more. Each step returns `expected`: U9_LIMIT when only counting. */
static void rebuild(const uint8_t *data, size_t size, u9_builder *b, bool counting)
{
    level open[U9_DEPTH_MAX + 1] = {{u9_walk_bytes(data, size), U9_TUPLE, false}};
    u9_err expected = counting ? U9_LIMIT : U9_OK;
    unsigned depth = 0;
    for (;;) {
        u9_value v;
        level *now = &open[depth];
        u9_err err = u9_walk_next(&now->walk, &v);
        must(err == U9_OK || err == U9_END);
        if (err == U9_END) {
            if (depth-- == 0) return;
            err = now->type == U9_TUPLE ? u9_build_tuple_close(b) : u9_build_array_close(b);
            must(err == expected);
        } else if (now->element) {
            must(u9_build_value(b, &v) == expected);
        } else {
            must(build_one(b, &v) == expected);
            if (!is_container(&v)) continue;
            bool element = v.type == U9_TUPLE && now->type == U9_ARRAY;
            open[++depth] = (level){u9_walk_elements(&v), v.type, element};
        }
    }
}

/* [V-7] An int that is not negative comes back as a uint; a NaN stays one. */
static bool equal(const u9_value *a, const u9_value *b)
{
    bool as_uint = a->type == U9_INT && a->i >= 0;
    if (b->type != a->type && (!as_uint || b->type != U9_UINT)) return false;
    if (a->count != b->count) return false;
    if (is_container(a)) return true; /* its elements are compared on their own */
    if (a->size != b->size || (a->size > 0 && memcmp(a->data, b->data, (size_t)a->size) != 0))
        return false;
    if (a->type == U9_FLOAT32 && a->f != a->f) return b->f != b->f;
    return a->u == b->u;
}

static void compare(const uint8_t *data, size_t size, const uint8_t *again, size_t again_size)
{
    u9_walk left[U9_DEPTH_MAX + 1] = {u9_walk_bytes(data, size)};
    u9_walk right[U9_DEPTH_MAX + 1] = {u9_walk_bytes(again, again_size)};
    unsigned depth = 0;
    for (;;) {
        u9_value a, b;
        u9_err err = u9_walk_next(&left[depth], &a);
        must(u9_walk_next(&right[depth], &b) == err);
        if (err == U9_END) {
            if (depth-- == 0) return;
        } else {
            must(err == U9_OK && equal(&a, &b));
            if (is_container(&a)) {
                left[++depth] = u9_walk_elements(&a);
                right[depth] = u9_walk_elements(&b);
            }
        }
    }
}

/* The proof in pieces, whose sizes are drawn from the bytes; also of a front that shows less than all. */
static u9_err flow_over(const uint8_t *data, size_t size)
{
    static uint8_t room[U9I_FLOW_ROOM + ROOM];
    u9i_flow flow;
    u9_fault fault;
    u9_value v;
    u9i_flow_init(&flow, 0, 1, size, room, sizeof room);
    u9_err err = U9_OK;
    for (size_t at = 0, n; at < size && err == U9_OK; at += n) {
        n = 1 + data[at] % 19;
        if (n > size - at) n = size - at;
        err = u9i_flow_take(&flow, data + at, n, &fault);
        must(err == U9_OK || fault.offset <= at + n);
    }
    if (err == U9_OK) err = u9i_flow_end(&flow, &fault);
    must(err != U9_NOMEM || size > ROOM);
    if (size > 0 && u9_value_front(data, size / 2, size, &v) == U9_OK) must(v.encoded <= size);
    return err == U9_NOMEM ? u9_value_check(data, size, NULL, NULL) : err;
}

static void round_trip(const uint8_t *data, size_t size)
{
    static uint8_t once[ROOM], twice[ROOM];
    u9_builder first, second, counter;
    if (size > ROOM) return;
    u9_builder_init(&first, once, size);
    rebuild(data, size, &first, false);
    must(first.size <= size && first.depth == 0);
    must(u9_value_check(once, first.size, NULL, NULL) == U9_OK);
    compare(data, size, once, first.size);
    u9_value a, b;
    must(u9_value_decode(data, size, &a) == U9_OK);
    must(u9_value_decode(once, first.size, &b) == U9_OK && u9_value_compare(&a, &b) == 0);
    u9_builder_init(&second, twice, first.size);
    rebuild(once, first.size, &second, false);
    must(second.size == first.size && memcmp(once, twice, first.size) == 0);
    u9_builder_init(&counter, NULL, 0);
    rebuild(data, size, &counter, true);
    must(counter.size == first.size);
}

static void try_value(const uint8_t *data, size_t size)
{
    u9_value v;
    u9_fault fault;
    uint64_t bad = 0;
    read_all(data, size);
    u9_err seen = u9_value_decode(data, size, &v);
    u9_err err = u9_value_check(data, size, &bad, &fault);
    must((flow_over(data, size) == U9_OK) == (err == U9_OK));
    if (err == U9_OK) {
        must(seen == U9_OK && v.encoded == size && (bad == U9_NOWHERE || bad < size));
        round_trip(data, size);
    } else {
        must(fault.err == err && fault.offset <= size);
        must(fault.rule[0] == 'V' || fault.rule[0] == 'X');
        must(memchr(fault.text, '\0', sizeof fault.text) != NULL);
        must(err != U9_TORN || seen == U9_TORN);
    }
}

static bool same(const u9_muid *a, const u9_muid *b)
{
    return u9_muid_compare(a, b) == 0;
}

static void muid_round_trip(const u9_muid *muid)
{
    char text[U9_MUID_TEXT_SIZE + 1];
    uint8_t packed[U9_MUID_SIZE];
    u9_muid again;
    must(u9_muid_format(muid, text) == U9_OK && strlen(text) == U9_MUID_TEXT_SIZE);
    must(u9_muid_parse(text, U9_MUID_TEXT_SIZE, 0, &again, NULL) == U9_OK && same(muid, &again));
    must(u9_muid_pack(muid, packed) == U9_OK);
    u9_muid_unpack(packed, &again);
    must(same(muid, &again));
}

static void try_muid(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    u9_muid strict, lenient;
    u9_id_reason why = U9_ID_FINE;
    u9_err strict_err = u9_muid_parse(text, size, 0, &strict, NULL);
    u9_err lenient_err = u9_muid_parse(text, size, U9_MUID_LENIENT, &lenient, &why);
    must((lenient_err == U9_OK) == (why == U9_ID_FINE));
    if (lenient_err == U9_OK) muid_round_trip(&lenient);
    if (strict_err == U9_OK) must(lenient_err == U9_OK && same(&strict, &lenient));
    if (size >= U9_MUID_SIZE) {
        uint8_t packed[U9_MUID_SIZE];
        u9_muid_unpack(data, &strict);
        must(u9_muid_pack(&strict, packed) == U9_OK);
        must(memcmp(packed, data, U9_MUID_SIZE) == 0);
        muid_round_trip(&strict);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_value(data, size);
    try_muid(data, size);
    return 0;
}
