/*
 * fuzz/fuzz_order.c: any bytes as three values back to back, compared and hashed. [O-1] to [O-5]
 *
 * Proved or not, they are ordered: each equals itself, each pair is ordered one way round, the
 * three are transitive, and equal ones have equal hashes. A well-formed one is encoded in other
 * ways, which all must equal it: tuples for arrays, the shortest and the widest integers, floats of
 * 64 bits, and an array for the whole where its elements are all integers or all floats.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <u9/value.h>

enum { VALUES = 3, ROOM = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t again[ROOM];

static void must(bool holds)
{
    if (!holds) abort();
}

static int sign(int c)
{
    return (c > 0) - (c < 0);
}

static void put_be64(uint8_t *out, uint64_t v)
{
    for (unsigned i = 0; i < 8; i++) out[i] = (uint8_t)(v >> (56 - 8 * i));
}

/* Eight bytes behind a bytecode. */
static u9_err build_eight(u9_builder *b, uint8_t code, const void *bytes)
{
    uint8_t whole[9] = {code};
    memcpy(whole + 1, bytes, 8);
    return u9_build_raw(b, whole, sizeof whole);
}

static u9_err build_number(u9_builder *b, uint8_t code, uint64_t number)
{
    uint8_t bytes[8];
    put_be64(bytes, number);
    return build_eight(b, code, bytes);
}

static u9_err build_one(u9_builder *b, const u9_value *v, bool wide)
{
    switch (v->type) {
    case U9_UINT: return wide ? build_number(b, 0x03, v->u) : u9_build_uint(b, v->u);
    case U9_INT: return wide ? build_number(b, 0x07, (uint64_t)v->i) : u9_build_int(b, v->i);
    case U9_FLOAT32: return wide ? u9_build_float64(b, v->f) : u9_build_float32(b, (float)v->f);
    case U9_FLOAT64: return u9_build_float64(b, v->f);
    case U9_SYMBOL: return build_eight(b, 0x0a, v->data);
    case U9_PIDFD: return u9_build_pidfd(b, v->pidfd.pid, v->pidfd.fd);
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0: return u9_build_greek(b, v->type);
    case U9_TAU: return wide ? build_number(b, 0x17, v->u) : u9_build_tau(b, v->u);
    case U9_UTF8: return u9_build_utf8(b, v->data, (size_t)v->size);
    case U9_BYTES: return u9_build_bytes(b, v->data, (size_t)v->size);
    case U9_TUPLE:
    case U9_ARRAY: return u9_build_tuple_open(b);
    }
    abort();
}

/* A well-formed value in other bytes, arrays as tuples. False: there is no room. */
static bool rebuild(const u9_value *value, bool wide, u9_value *out)
{
    u9_walk open[U9_DEPTH_MAX + 1] = {u9_walk_bytes(value->start, value->encoded)};
    unsigned depth = 0;
    u9_builder b;
    u9_builder_init(&b, again, sizeof again);
    for (;;) {
        u9_value v;
        u9_err err = u9_walk_next(&open[depth], &v);
        must(err == U9_OK || err == U9_END);
        u9_err built = U9_OK;
        if (err == U9_OK) built = build_one(&b, &v, wide);
        else if (depth-- > 0) built = u9_build_tuple_close(&b);
        else return u9_value_decode(again, b.size, out) == U9_OK;
        if (built == U9_LIMIT && b.size > sizeof again) return false;
        must(built == U9_OK);
        if (err == U9_OK && (v.type == U9_TUPLE || v.type == U9_ARRAY))
            open[++depth] = u9_walk_elements(&v);
    }
}

/* The bits of an element for an array of `code`, int64, uint64 or float64; false: it is none. */
static bool bits_for(const u9_value *v, uint8_t code, uint64_t *bits)
{
    bool is_float = v->type == U9_FLOAT32 || v->type == U9_FLOAT64;
    bool is_uint = v->type == U9_UINT, is_int = v->type == U9_INT;
    if (code == 0x09) memcpy(bits, &v->f, sizeof *bits);
    else *bits = is_int ? (uint64_t)v->i : v->u;
    if (code == 0x09) return is_float;
    if (code == 0x07) return is_int || (is_uint && v->u >> 63 == 0);
    return is_uint || (is_int && v->i >= 0);
}

/* The elements of a sequence in one array of `code`. False: they are other things or too many. */
static bool pack(const u9_value *value, uint8_t code, u9_value *out)
{
    static uint8_t array[18 + ROOM];
    u9_walk walk = u9_walk_elements(value);
    u9_value v;
    size_t size = 18;
    uint64_t bits;
    if (value->type != U9_TUPLE && value->type != U9_ARRAY) return false;
    while (u9_walk_next(&walk, &v) == U9_OK) {
        if (!bits_for(&v, code, &bits) || size + 8 > sizeof array) return false;
        put_be64(array + size, bits);
        size += 8;
    }
    array[0] = 0x47;
    put_be64(array + 1, size - 17);
    put_be64(array + 9, (size - 18) / 8);
    array[17] = code;
    return u9_value_decode(array, size, out) == U9_OK;
}

static int ordered(const u9_value *a, const u9_value *b)
{
    int c = sign(u9_value_compare(a, b));
    must(sign(u9_value_compare(b, a)) == -c);
    if (c == 0) must(u9_value_hash(a) == u9_value_hash(b));
    return c;
}

static void try_encodings(const u9_value *v)
{
    u9_value other;
    if (u9_value_check(v->start, v->encoded, NULL, NULL) != U9_OK) return;
    if (rebuild(v, false, &other)) must(ordered(v, &other) == 0);
    if (rebuild(v, true, &other)) must(ordered(v, &other) == 0);
    static const uint8_t codes[] = {0x03, 0x07, 0x09};
    for (unsigned i = 0; i < sizeof codes; i++)
        if (pack(v, codes[i], &other)) must(ordered(v, &other) == 0);
}

/* [O-1] [O-2] [O-3] If a <= b and b <= c, then a <= c, and equal only if all are. */
static void try_three(int order[VALUES][VALUES])
{
    for (unsigned i = 0; i < VALUES; i++)
        for (unsigned j = 0; j < VALUES; j++)
            for (unsigned k = 0; k < VALUES; k++)
                if (order[i][j] <= 0 && order[j][k] <= 0)
                    must(order[i][k] == (order[i][j] || order[j][k] ? -1 : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes[VALUES] = {NULL}; /* blocks of exactly their size */
    u9_value v[VALUES];
    int order[VALUES][VALUES];
    size_t at = 0;
    unsigned count = 0;
    while (count < VALUES && u9_value_decode(data + at, size - at, &v[count]) == U9_OK) {
        size_t encoded = v[count].encoded;
        bytes[count] = malloc(encoded);
        must(bytes[count] != NULL);
        memcpy(bytes[count], data + at, encoded);
        must(u9_value_decode(bytes[count], encoded, &v[count]) == U9_OK);
        at += encoded;
        try_encodings(&v[count++]);
    }
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < count; k++) order[i][k] = ordered(&v[i], &v[k]);
    for (unsigned i = 0; i < count; i++) must(order[i][i] == 0);
    if (count == VALUES) try_three(order);
    for (unsigned i = 0; i < count; i++) free(bytes[i]);
    return 0;
}
