/*
 * tests/format/value/test_value.c: what SPEC.md says of values (V-*), read as tests.
 *
 * The goldens below hold at least one example of each bytecode that is in use; every other test
 * forges bytes around them. Bytes are handed to the library in blocks of exactly their size, so
 * that a run under AddressSanitizer sees each byte read too far.
 *
 * The file is long because it is flat: goldens and fixture, then decode, walk, check, UTF-8, in the
 * order of the header, each test on its own. Building is tested in test_value_build.c.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <u9/value.h>

Suite *suite_value(void);

typedef struct golden {
    const char *name;
    const char *hex;
    u9_type type;
    bool shortest;   /* a builder writes it so (arrays are copied as they are) */
    uint64_t number; /* UINT, TAU: u; INT: i; FLOAT32, FLOAT64: bits of f; PIDFD: pid << 32 | fd */
    uint64_t size;   /* bytes of contents */
    uint64_t count;  /* TUPLE, ARRAY */
} golden;

#define I64(v) ((uint64_t)INT64_C(v))

/* [V-1] [V-2] [V-3] [V-4] [V-5] */
static const golden goldens[] = {
    {"uint8", "00 c8", U9_UINT, true, 200, 0, 0},
    {"uint8-small", "00 05", U9_UINT, false, 5, 0, 0},
    {"uint16", "01 03e8", U9_UINT, true, 1000, 0, 0},
    {"uint32", "02 000186a0", U9_UINT, true, 100000, 0, 0},
    {"uint64", "03 0102030405060708", U9_UINT, true, UINT64_C(0x0102030405060708), 0, 0},
    {"uint64-max", "03 ffffffffffffffff", U9_UINT, true, UINT64_MAX, 0, 0},
    {"int8", "04 ff", U9_INT, true, I64(-1), 0, 0},
    {"int8-positive", "04 05", U9_INT, false, 5, 0, 0},
    {"int16", "05 fc18", U9_INT, true, I64(-1000), 0, 0},
    {"int32", "06 fffe7960", U9_INT, true, I64(-100000), 0, 0},
    {"int64", "07 8000000000000000", U9_INT, true, UINT64_C(1) << 63, 0, 0},
    {"float32", "08 3fc00000", U9_FLOAT32, true, UINT64_C(0x3ff8000000000000), 0, 0},
    {"float64", "09 c004000000000000", U9_FLOAT64, true, UINT64_C(0xc004000000000000), 0, 0},
    {"symbol", "0a 75396f70656e0000", U9_SYMBOL, true, 0, 8, 0},
    {"pidfd", "0b 00000539 00000003", U9_PIDFD, true, UINT64_C(1337) << 32 | 3, 0, 0},
    {"alpha", "10", U9_ALPHA, true, 0, 0, 0},
    {"omega", "11", U9_OMEGA, true, 0, 0, 0},
    {"iota", "12", U9_IOTA, true, 0, 0, 0},
    {"kappa", "13", U9_KAPPA, true, 0, 0, 0},
    {"tau0", "14", U9_TAU0, true, 0, 0, 0},
    {"tau16", "15 0064", U9_TAU, true, 100, 0, 0},
    {"tau32", "16 00010000", U9_TAU, true, 65536, 0, 0},
    {"tau64", "17 0000000100000000", U9_TAU, true, UINT64_C(1) << 32, 0, 0},
    {"utf8-8", "18 10 30313233343536373839616263646566", U9_UTF8, true, 0, 16, 0},
    {"utf8-16", "19 0003 e282ac", U9_UTF8, false, 0, 3, 0},
    {"utf8-32", "1a 00000001 61", U9_UTF8, false, 0, 1, 0},
    {"utf8-64", "1b 0000000000000001 61", U9_UTF8, false, 0, 1, 0},
    {"bytes-8", "1c 10 000102030405060708090a0b0c0d0e0f", U9_BYTES, true, 0, 16, 0},
    {"bytes-16", "1d 0001 ff", U9_BYTES, false, 0, 1, 0},
    {"bytes-32", "1e 00000001 ff", U9_BYTES, false, 0, 1, 0},
    {"bytes-64", "1f 0000000000000001 ff", U9_BYTES, false, 0, 1, 0},
    {"fixutf8-0", "20", U9_UTF8, true, 0, 0, 0},
    {"fixutf8-1", "21 61", U9_UTF8, true, 0, 1, 0},
    {"fixutf8-2", "22 cf84", U9_UTF8, true, 0, 2, 0},
    {"fixutf8-3", "23 616263", U9_UTF8, true, 0, 3, 0},
    {"fixutf8-4", "24 61626364", U9_UTF8, true, 0, 4, 0},
    {"fixutf8-5", "25 68656c6c6f", U9_UTF8, true, 0, 5, 0},
    {"fixutf8-6", "26 616263646566", U9_UTF8, true, 0, 6, 0},
    {"fixutf8-7", "27 61626364656667", U9_UTF8, true, 0, 7, 0},
    {"fixutf8-8", "28 6162636465666768", U9_UTF8, true, 0, 8, 0},
    {"fixutf8-9", "29 616263646566676869", U9_UTF8, true, 0, 9, 0},
    {"fixutf8-10", "2a 6162636465666768696a", U9_UTF8, true, 0, 10, 0},
    {"fixutf8-11", "2b 6162636465666768696a6b", U9_UTF8, true, 0, 11, 0},
    {"fixutf8-12", "2c 6162636465666768696a6b6c", U9_UTF8, true, 0, 12, 0},
    {"fixutf8-13", "2d 6162636465666768696a6b6c6d", U9_UTF8, true, 0, 13, 0},
    {"fixutf8-14", "2e 6162636465666768696a6b6c6d6e", U9_UTF8, true, 0, 14, 0},
    {"fixutf8-15", "2f 6162636465666768696a6b6c6d6e6f", U9_UTF8, true, 0, 15, 0},
    {"fixbytes-0", "30", U9_BYTES, true, 0, 0, 0},
    {"fixbytes-1", "31 ff", U9_BYTES, true, 0, 1, 0},
    {"fixbytes-2", "32 0102", U9_BYTES, true, 0, 2, 0},
    {"fixbytes-3", "33 010203", U9_BYTES, true, 0, 3, 0},
    {"fixbytes-4", "34 01020304", U9_BYTES, true, 0, 4, 0},
    {"fixbytes-5", "35 0102030405", U9_BYTES, true, 0, 5, 0},
    {"fixbytes-6", "36 010203040506", U9_BYTES, true, 0, 6, 0},
    {"fixbytes-7", "37 01020304050607", U9_BYTES, true, 0, 7, 0},
    {"fixbytes-8", "38 0102030405060708", U9_BYTES, true, 0, 8, 0},
    {"fixbytes-9", "39 010203040506070809", U9_BYTES, true, 0, 9, 0},
    {"fixbytes-10", "3a 0102030405060708090a", U9_BYTES, true, 0, 10, 0},
    {"fixbytes-11", "3b 0102030405060708090a0b", U9_BYTES, true, 0, 11, 0},
    {"fixbytes-12", "3c 0102030405060708090a0b0c", U9_BYTES, true, 0, 12, 0},
    {"fixbytes-13", "3d 0102030405060708090a0b0c0d", U9_BYTES, true, 0, 13, 0},
    {"fixbytes-14", "3e 0102030405060708090a0b0c0d0e", U9_BYTES, true, 0, 14, 0},
    {"fixbytes-15", "3f 0102030405060708090a0b0c0d0e0f", U9_BYTES, true, 0, 15, 0},
    {"tuple-8", "40 08 08 80 81 82 83 84 85 86 87", U9_TUPLE, true, 0, 8, 8},
    {"tuple-16", "41 0003 0002 81 21 61", U9_TUPLE, false, 0, 3, 2},
    {"tuple-32", "42 00000001 00000001 81", U9_TUPLE, false, 0, 1, 1},
    {"tuple-64", "43 0000000000000001 0000000000000001 81", U9_TUPLE, false, 0, 1, 1},
    {"array-8", "44 03 02 00 05 06", U9_ARRAY, true, 0, 2, 2},
    {"array-16", "45 0003 0001 01 03e8", U9_ARRAY, true, 0, 2, 1},
    {"array-32", "46 00000004 00000003 04 ff 00 01", U9_ARRAY, true, 0, 3, 3},
    {"array-64", "47 0000000000000002 0000000000000001 00 07", U9_ARRAY, true, 0, 1, 1},
    {"fixtuple-0", "48 00", U9_TUPLE, true, 0, 0, 0},
    {"fixtuple-1", "49 01 85", U9_TUPLE, true, 0, 1, 1},
    {"fixtuple-2", "4a 04 81 22 686b", U9_TUPLE, true, 0, 4, 2},
    {"fixtuple-3", "4b 04 81 48 00 20", U9_TUPLE, true, 0, 4, 3},
    {"fixtuple-4", "4c 04 80 81 82 83", U9_TUPLE, true, 0, 4, 4},
    {"fixtuple-5", "4d 05 80 81 82 83 84", U9_TUPLE, true, 0, 5, 5},
    {"fixtuple-6", "4e 06 80 81 82 83 84 85", U9_TUPLE, true, 0, 6, 6},
    {"fixtuple-7", "4f 07 80 81 82 83 84 85 86", U9_TUPLE, true, 0, 7, 7},
    {"fixint-0", "80", U9_UINT, true, 0, 0, 0},
    {"fixint-127", "ff", U9_UINT, true, 127, 0, 0},
    {"record",
     "4a 18 1c 10 5d5eac793e61f1bfc71b112d0000000b 25 68656c6c6f",
     U9_TUPLE, true, 0, 24, 2},
    {"nested",
     "4d 19 85 4b 0b 22 cf84 04 ff 49 04 33 000102 18 01 61 4a 04 14 15 0064 48 00",
     U9_TUPLE, false, 0, 25, 5},
};

enum { GOLDENS = sizeof goldens / sizeof goldens[0], ROOM = 1 << 17 };


typedef struct block {
    uint8_t *bytes; /* exactly `size` bytes; lives until the test ends */
    size_t size;
} block;

/* What hold() allocated, to be freed when the test ends. */
typedef struct held {
    struct held *next;
    uint8_t *bytes;
} held;

static held *all_held;

static void drop_blocks(void)
{
    while (all_held) {
        held *h = all_held;
        all_held = h->next;
        free(h->bytes);
        free(h);
    }
}

static block hold(const void *bytes, size_t size)
{
    held *h = malloc(sizeof *h);
    ck_assert_ptr_nonnull(h);
    *h = (held){.next = all_held, .bytes = malloc(size > 0 ? size : 1)};
    ck_assert_ptr_nonnull(h->bytes);
    all_held = h;
    if (size > 0) memcpy(h->bytes, bytes, size);
    return (block){.bytes = h->bytes, .size = size};
}

static block unhex(const char *hex)
{
    uint8_t bytes[512];
    size_t size = 0;
    while (*hex) {
        if (*hex == ' ') {
            hex++;
            continue;
        }
        const char two[3] = {hex[0], hex[1], '\0'};
        ck_assert_uint_lt(size, sizeof bytes);
        bytes[size++] = (uint8_t)strtoul(two, NULL, 16);
        hex += 2;
    }
    return hold(bytes, size);
}

static void ok(u9_err err)
{
    ck_assert_int_eq(err, U9_OK);
}

static u9_err decode(const char *hex, u9_value *out)
{
    block b = unhex(hex);
    return u9_value_decode(b.bytes, b.size, out);
}

static void expect_decode_err(const char *hex, u9_err expected)
{
    u9_value v;
    u9_err err = decode(hex, &v);
    ck_assert_msg(err == expected, "%s: %d", hex, (int)err);
}

static u9_value decode_ok(const char *hex)
{
    u9_value v;
    ck_assert_msg(decode(hex, &v) == U9_OK, "%s", hex);
    return v;
}

static void expect_checked(block b)
{
    u9_fault fault;
    u9_err err = u9_value_check(b.bytes, b.size, NULL, &fault);
    ck_assert_msg(err == U9_OK, "%d at %llu: %s", (int)err, (unsigned long long)fault.offset,
                  fault.text);
}

static void expect_refused_bytes(block b, u9_err err, uint64_t offset, const char *rule)
{
    u9_fault fault;
    memset(&fault, 0xee, sizeof fault);
    ck_assert_int_eq(u9_value_check(b.bytes, b.size, NULL, &fault), err);
    ck_assert_int_eq(fault.err, err);
    ck_assert_uint_eq(fault.offset, offset);
    ck_assert_str_eq(fault.rule, rule);
    ck_assert_uint_gt(strlen(fault.text), 0);
    ck_assert_uint_eq(fault.segment, U9_NOWHERE);
    ck_assert_int_eq(fault.sys, 0);
    ck_assert_str_eq(fault.path, "");
}

static void expect_refused(const char *hex, u9_err err, uint64_t offset, const char *rule)
{
    expect_refused_bytes(unhex(hex), err, offset, rule);
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* The scalar of a value as goldens have it. */
static uint64_t number_of(const u9_value *v)
{
    switch (v->type) {
    case U9_UINT:
    case U9_TAU: return v->u;
    case U9_INT: return (uint64_t)v->i;
    case U9_FLOAT32:
    case U9_FLOAT64: return bits_of(v->f);
    case U9_PIDFD: return (uint64_t)v->pidfd.pid << 32 | v->pidfd.fd;
    case U9_SYMBOL:
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0:
    case U9_UTF8:
    case U9_BYTES:
    case U9_TUPLE:
    case U9_ARRAY: return 0;
    }
    ck_abort_msg("type %d", (int)v->type);
}

static u9_err build_atom(u9_builder *b, const u9_value *v)
{
    char name[9] = "";
    switch (v->type) {
    case U9_UINT: return u9_build_uint(b, v->u);
    case U9_INT: return u9_build_int(b, v->i);
    case U9_FLOAT32: return u9_build_float32(b, (float)v->f);
    case U9_FLOAT64: return u9_build_float64(b, v->f);
    case U9_SYMBOL: memcpy(name, v->data, 8); return u9_build_symbol(b, name);
    case U9_PIDFD: return u9_build_pidfd(b, v->pidfd.pid, v->pidfd.fd);
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0: return u9_build_greek(b, v->type);
    case U9_TAU: return u9_build_tau(b, v->u);
    case U9_UTF8: return u9_build_utf8(b, v->data, (size_t)v->size);
    case U9_BYTES: return u9_build_bytes(b, v->data, (size_t)v->size);
    case U9_ARRAY: return u9_build_raw(b, v->start, v->encoded);
    case U9_TUPLE: break;
    }
    ck_abort_msg("type %d is no atom", (int)v->type);
}

/* Builds `b` once more, value by value, from what decoding it yields. */
static block rebuild(block b)
{
    static uint8_t room[ROOM];
    u9_walk open[U9_DEPTH_MAX + 1] = {u9_walk_bytes(b.bytes, b.size)};
    unsigned depth = 0;
    u9_builder builder;
    u9_builder_init(&builder, room, sizeof room);
    for (;;) {
        u9_value v;
        u9_err err = u9_walk_next(&open[depth], &v);
        if (err == U9_END && depth == 0) return hold(room, builder.size);
        if (err == U9_END) {
            ok(u9_build_tuple_close(&builder));
            depth--;
        } else {
            ok(err);
            if (v.type == U9_TUPLE) {
                ok(u9_build_tuple_open(&builder));
                open[++depth] = u9_walk_elements(&v);
            } else {
                ok(build_atom(&builder, &v));
            }
        }
    }
}

/* [V-6] */
static bool is_reserved(unsigned code)
{
    return (code >= 0x0c && code <= 0x0f) || code == 0x50 || (code >= 0x58 && code <= 0x7f);
}

static bool is_index(unsigned code)
{
    return code >= 0x51 && code <= 0x57;
}

START_TEST(each_golden_decodes_to_what_it_says)
{
    for (size_t i = 0; i < GOLDENS; i++) {
        const golden *g = &goldens[i];
        block b = unhex(g->hex);
        u9_value v;
        ck_assert_msg(u9_value_decode(b.bytes, b.size, &v) == U9_OK, "%s", g->name);
        ck_assert_msg(v.type == g->type, "%s: type %d", g->name, (int)v.type);
        ck_assert_msg(number_of(&v) == g->number, "%s", g->name);
        ck_assert_msg(v.size == g->size && v.count == g->count, "%s", g->name);
        ck_assert_msg(v.code == b.bytes[0] && v.start == b.bytes, "%s", g->name);
        ck_assert_msg(v.encoded == b.size, "%s: %zu bytes", g->name, v.encoded);
        bool holds = v.type == U9_SYMBOL || v.type == U9_UTF8 || v.type == U9_BYTES ||
                     v.type == U9_TUPLE || v.type == U9_ARRAY;
        ck_assert_msg(v.data == (holds ? b.bytes + (b.size - g->size) : NULL), "%s", g->name);
        expect_checked(b);
    }
}
END_TEST

/* [V-6] 0x00-0xff, none left out. */
START_TEST(each_bytecode_has_a_golden_or_is_refused)
{
    bool golden_of[256] = {false};
    for (size_t i = 0; i < GOLDENS; i++) golden_of[unhex(goldens[i].hex).bytes[0]] = true;
    for (unsigned code = 0; code < 0x80; code++) {
        uint8_t bytes[64] = {(uint8_t)code};
        block b = hold(bytes, sizeof bytes);
        u9_value v;
        u9_err err = u9_value_decode(b.bytes, b.size, &v);
        u9_err expected = is_reserved(code) || is_index(code) ? U9_CORRUPT : U9_OK;
        if (code >= 0x44 && code <= 0x47) { /* zeros are not enough for an array */
            ck_assert(err == U9_CORRUPT && golden_of[code]);
            continue;
        }
        ck_assert_msg(err == expected, "0x%02x: %d", code, (int)err);
        ck_assert_msg(golden_of[code] == (expected == U9_OK), "0x%02x", code);
        if (err) expect_refused_bytes(b, expected, 0, is_index(code) ? "X-1" : "V-6");
    }
}
END_TEST

/* [V-3] */
START_TEST(every_fixint_is_its_low_seven_bits)
{
    for (unsigned n = 0; n < 128; n++) {
        uint8_t code = (uint8_t)(0x80 + n);
        block b = hold(&code, 1);
        u9_value v;
        ok(u9_value_decode(b.bytes, b.size, &v));
        ck_assert_int_eq(v.type, U9_UINT);
        ck_assert_uint_eq(v.u, n);
        ck_assert_uint_eq(v.encoded, 1);
    }
}
END_TEST

/* [V-8] */
START_TEST(each_golden_cut_short_anywhere_is_torn)
{
    for (size_t i = 0; i < GOLDENS; i++) {
        block whole = unhex(goldens[i].hex);
        for (size_t size = 0; size < whole.size; size++) {
            block cut = hold(whole.bytes, size);
            u9_value v;
            ck_assert_int_eq(u9_value_decode(cut.bytes, cut.size, &v), U9_TORN);
            expect_refused_bytes(cut, U9_TORN, 0, "V-8");
        }
    }
}
END_TEST

/* [V-8] */
START_TEST(nothing_at_all_is_torn)
{
    u9_value v;
    ck_assert_int_eq(u9_value_decode(NULL, 0, &v), U9_TORN);
    ck_assert_int_eq(u9_value_check(NULL, 0, NULL, NULL), U9_TORN);
    expect_refused("", U9_TORN, 0, "V-8");
}
END_TEST

START_TEST(a_truncated_number_is_torn)
{
    expect_decode_err("00", U9_TORN);
    expect_decode_err("03 01020304050607", U9_TORN);
    expect_decode_err("09 01020304050607", U9_TORN);
    expect_decode_err("15 00", U9_TORN);
}
END_TEST

START_TEST(a_truncated_symbol_is_torn)
{
    expect_decode_err("0a 75396f70656e00", U9_TORN);
}
END_TEST

START_TEST(a_truncated_utf8_is_torn)
{
    expect_decode_err("22 61", U9_TORN);
    expect_decode_err("18 02 61", U9_TORN);
}
END_TEST

START_TEST(truncated_bytes_are_torn)
{
    expect_decode_err("32 61", U9_TORN);
    expect_decode_err("1c 02 61", U9_TORN);
}
END_TEST

START_TEST(a_truncated_length_is_torn)
{
    expect_decode_err("19 00", U9_TORN);
    expect_decode_err("1f 00000000000000", U9_TORN);
    expect_decode_err("48", U9_TORN);
}
END_TEST

START_TEST(a_container_without_its_count_is_torn)
{
    expect_decode_err("40 00", U9_TORN);
    expect_decode_err("43 0000000000000000 00000000000000", U9_TORN);
    expect_decode_err("44 00", U9_TORN);
}
END_TEST

START_TEST(a_container_longer_than_the_bytes_is_torn)
{
    expect_decode_err("49 02 81", U9_TORN);
    expect_decode_err("40 02 01 81", U9_TORN);
    expect_decode_err("44 02 01 00", U9_TORN);
}
END_TEST

/* {F61} [V-1] [V-8] Lengths near 2^64, where adding the head to them would wrap to something small. */
START_TEST(a_length_that_would_overflow_is_torn)
{
    static const char *const lengths[] = {"ffffffffffffffff", "fffffffffffffff7",
                                          "fffffffffffffff6", "ffffffffffffffef",
                                          "8000000000000000", "7fffffffffffffff",
                                          "0000000100000000"};
    static const char *const forms[][2] = {{"1b", "61"},
                                           {"1f", "61"},
                                           {"43", "0000000000000001 81"},
                                           {"47", "0000000000000001 00 05"}};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
            char hex[80];
            snprintf(hex, sizeof hex, "%s %s %s", forms[k][0], lengths[i], forms[k][1]);
            expect_decode_err(hex, U9_TORN);
            expect_refused(hex, U9_TORN, 0, "V-8");
        }
}
END_TEST

/* [V-1] */
START_TEST(lengths_and_counts_are_unsigned)
{
    uint8_t bytes[300] = {0x18, 0x80};
    u9_value v;
    ok(u9_value_decode(bytes, 130, &v));
    ck_assert_uint_eq(v.size, 128);
    memcpy(bytes, "\x40\xff\xff", 3);
    memset(bytes + 3, 0x80, 255);
    expect_checked(hold(bytes, 258));
    ok(u9_value_decode(bytes, 258, &v));
    ck_assert_uint_eq(v.size, 255);
    ck_assert_uint_eq(v.count, 255);
    v = decode_ok("43 0000000000000000 ffffffffffffffff");
    ck_assert(v.count == UINT64_MAX && v.size == 0);
}
END_TEST

/* [V-2] */
START_TEST(a_length_of_zero_is_allowed_in_each_width)
{
    static const char *const empty[] = {
        "18 00", "19 0000", "1a 00000000", "1b 0000000000000000",
        "1c 00", "1d 0000", "1e 00000000", "1f 0000000000000000",
        "40 00 00", "41 0000 0000", "42 00000000 00000000",
        "43 0000000000000000 0000000000000000", "44 01 00 00", "48 00"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        ck_assert_uint_eq(decode_ok(empty[i]).size, 0);
        expect_checked(unhex(empty[i]));
    }
}
END_TEST

/* [V-2] */
START_TEST(signed_integers_are_twos_complement)
{
    ck_assert_int_eq(decode_ok("04 80").i, INT8_MIN);
    ck_assert_int_eq(decode_ok("04 7f").i, INT8_MAX);
    ck_assert_int_eq(decode_ok("05 8000").i, INT16_MIN);
    ck_assert_int_eq(decode_ok("05 7fff").i, INT16_MAX);
    ck_assert_int_eq(decode_ok("06 80000000").i, INT32_MIN);
    ck_assert_int_eq(decode_ok("06 7fffffff").i, INT32_MAX);
    ck_assert(decode_ok("07 8000000000000000").i == INT64_MIN);
    ck_assert(decode_ok("07 7fffffffffffffff").i == INT64_MAX);
    ck_assert_int_eq(decode_ok("07 ffffffffffffffff").i, -1);
}
END_TEST

/* {F58} [V-2] */
START_TEST(special_floats_keep_their_meaning)
{
    ck_assert(bits_of(decode_ok("08 80000000").f) == UINT64_C(0x8000000000000000));
    ck_assert(bits_of(decode_ok("09 8000000000000000").f) == UINT64_C(0x8000000000000000));
    ck_assert(bits_of(decode_ok("08 7f800000").f) == UINT64_C(0x7ff0000000000000));
    ck_assert(bits_of(decode_ok("09 fff0000000000000").f) == UINT64_C(0xfff0000000000000));
    ck_assert(decode_ok("08 00000001").f > 0);
    u9_value nan32 = decode_ok("08 7fc00000"), nan64 = decode_ok("09 7ff8000000000001");
    ck_assert(nan32.f != nan32.f);
    ck_assert(bits_of(nan64.f) == UINT64_C(0x7ff8000000000001));
}
END_TEST

/* [V-9] A reader takes any 8 bytes. */
START_TEST(a_symbol_is_eight_bytes_as_they_stand)
{
    u9_value v = decode_ok("0a 00ff800000000001");
    ck_assert_uint_eq(v.size, 8);
    ck_assert_mem_eq(v.data, "\x00\xff\x80\x00\x00\x00\x00\x01", 8);
    expect_checked(unhex("0a 00ff800000000001"));
}
END_TEST

START_TEST(a_failed_decode_leaves_the_view_untouched)
{
    static const char *const bad[] = {"", "00", "18 05 61", "43 00", "0c", "50", "51", "7f"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        u9_value v, before;
        memset(&v, 0x5a, sizeof v);
        memcpy(&before, &v, sizeof v);
        ck_assert_int_ne(decode(bad[i], &v), U9_OK);
        ck_assert_mem_eq(&v, &before, sizeof v);
    }
}
END_TEST

START_TEST(a_walk_yields_each_value_and_then_the_end)
{
    block b = unhex("85 22 686b 48 00 14");
    static const u9_type types[] = {U9_UINT, U9_UTF8, U9_TUPLE, U9_TAU0};
    u9_walk walk = u9_walk_bytes(b.bytes, b.size);
    u9_value v;
    for (size_t i = 0; i < 4; i++) {
        ok(u9_walk_next(&walk, &v));
        ck_assert_int_eq(v.type, types[i]);
    }
    ck_assert_int_eq(u9_walk_next(&walk, &v), U9_END);
    ck_assert_int_eq(u9_walk_next(&walk, &v), U9_END);
    ck_assert_int_eq(v.type, U9_TAU0);
}
END_TEST

/* [V-4] */
START_TEST(a_walk_over_a_tuple_sees_its_elements_and_no_more)
{
    block b = unhex("4a 04 81 22 686b 83");
    u9_value tuple, v;
    ok(u9_value_decode(b.bytes, b.size, &tuple));
    u9_walk walk = u9_walk_elements(&tuple);
    ok(u9_walk_next(&walk, &v));
    ck_assert_uint_eq(v.u, 1);
    ok(u9_walk_next(&walk, &v));
    ck_assert_mem_eq(v.data, "hk", 2);
    ck_assert_int_eq(u9_walk_next(&walk, &v), U9_END);
}
END_TEST

START_TEST(a_walk_over_an_empty_tuple_or_none_ends_at_once)
{
    static const char *const empty[] = {"48 00", "40 00 00", "85", "21 61", "44 01 00 00"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        u9_value v = decode_ok(empty[i]);
        u9_walk walk = u9_walk_elements(&v);
        ck_assert_int_eq(u9_walk_next(&walk, &v), U9_END);
    }
}
END_TEST

/* [V-4] [V-8] The forged byte: a string's length, beyond its tuple but within the buffer. */
START_TEST(a_walk_stays_at_a_value_it_cannot_read)
{
    block b = unhex("4a 04 81 23 686b 83 84 85");
    u9_value tuple, v;
    ok(u9_value_decode(b.bytes, b.size, &tuple));
    u9_walk walk = u9_walk_elements(&tuple);
    ok(u9_walk_next(&walk, &v));
    ck_assert_int_eq(u9_walk_next(&walk, &v), U9_TORN);
    ck_assert_int_eq(u9_walk_next(&walk, &v), U9_TORN);
    ck_assert_uint_eq(v.u, 1);
}
END_TEST

/* [V-8] */
START_TEST(bytes_behind_the_value_are_corrupt)
{
    expect_refused("85 86", U9_CORRUPT, 1, "V-8");
    expect_refused("4a 04 81 22 686b 00", U9_CORRUPT, 6, "V-8");
    expect_refused("44 02 01 00 05 00", U9_CORRUPT, 5, "V-8");
}
END_TEST

/* [V-4] */
START_TEST(a_tuple_with_too_few_elements_is_corrupt)
{
    expect_refused("4b 04 81 22 686b", U9_CORRUPT, 6, "V-4");
    expect_refused("40 02 03 81 82", U9_CORRUPT, 5, "V-4");
    expect_refused("49 00", U9_CORRUPT, 2, "V-4");
    expect_refused("49 02 49 00", U9_CORRUPT, 4, "V-4");
    expect_refused("43 0000000000000001 ffffffffffffffff 81", U9_CORRUPT, 18, "V-4");
}
END_TEST

/* [V-4] */
START_TEST(a_tuple_with_too_many_elements_is_corrupt)
{
    expect_refused("49 04 81 22 686b", U9_CORRUPT, 3, "V-4");
    expect_refused("48 01 81", U9_CORRUPT, 2, "V-4");
    expect_refused("40 01 00 81", U9_CORRUPT, 3, "V-4");
    expect_refused("49 04 49 02 81 82", U9_CORRUPT, 5, "V-4");
}
END_TEST

/* [V-4] Not torn: the tuple itself is whole. */
START_TEST(an_element_that_passes_its_tuple_is_corrupt)
{
    expect_refused("4a 04 81 23 686b", U9_CORRUPT, 3, "V-4");
    expect_refused("49 01 00", U9_CORRUPT, 2, "V-4");
    expect_refused("4a 05 81 49 03 81 82", U9_CORRUPT, 3, "V-4");
    expect_refused("4a 05 49 02 81 82 83", U9_CORRUPT, 5, "V-4");
}
END_TEST

/* What one rule refuses in more than one way is told apart by its sentence. */
START_TEST(each_refusal_has_its_own_sentence)
{
    static const char *const bad[] = {"49 00",       "48 01 81", "4a 04 81 23 686b", "4a 02 81 0c",
                                      "4a 03 81 51 00", "85 86",    "22 61"};
    enum { BAD = sizeof bad / sizeof bad[0] };
    u9_fault faults[BAD];
    for (size_t i = 0; i < BAD; i++) {
        block b = unhex(bad[i]);
        ck_assert_int_ne(u9_value_check(b.bytes, b.size, NULL, &faults[i]), U9_OK);
        for (size_t k = 0; k < i; k++) ck_assert_str_ne(faults[i].text, faults[k].text);
    }
}
END_TEST

/* [V-6] */
START_TEST(a_reserved_bytecode_inside_a_tuple_is_corrupt)
{
    expect_refused("4a 02 81 0c", U9_CORRUPT, 3, "V-6");
    expect_refused("49 04 4a 02 81 7f", U9_CORRUPT, 5, "V-6");
}
END_TEST

/* A tuple of one element `depth` times over, the innermost holding `seed`. */
static block nest(unsigned depth, const char *seed)
{
    block inner = unhex(seed);
    size_t end = 9 * (size_t)depth + inner.size, at = end - inner.size;
    uint8_t *bytes = malloc(end);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes + at, inner.bytes, inner.size);
    for (unsigned i = 0; i < depth; i++) {
        uint32_t size = (uint32_t)(end - at);
        uint8_t head[9] = {0x42, (uint8_t)(size >> 24), (uint8_t)(size >> 16),
                           (uint8_t)(size >> 8), (uint8_t)size, 0, 0, 0, 1};
        at -= sizeof head;
        memcpy(bytes + at, head, sizeof head);
    }
    block all = hold(bytes + at, end - at);
    free(bytes);
    return all;
}

/* [V-8] */
START_TEST(sixty_four_levels_are_read_and_the_next_is_a_limit)
{
    expect_checked(nest(U9_DEPTH_MAX, "85"));
    expect_checked(nest(U9_DEPTH_MAX - 1, "48 00"));
    expect_checked(nest(U9_DEPTH_MAX - 1, "44 02 01 00 05"));
    expect_refused_bytes(nest(U9_DEPTH_MAX + 1, "85"), U9_LIMIT, 9 * U9_DEPTH_MAX, "V-8");
    expect_refused_bytes(nest(U9_DEPTH_MAX, "48 00"), U9_LIMIT, 9 * U9_DEPTH_MAX, "V-8");
    expect_refused_bytes(nest(U9_DEPTH_MAX, "44 02 01 00 05"), U9_LIMIT, 9 * U9_DEPTH_MAX, "V-8");
}
END_TEST

/* {F57} [V-8] */
START_TEST(a_million_levels_are_refused_without_harm)
{
    block b = nest(1000000, "85");
    expect_refused_bytes(b, U9_LIMIT, 9 * U9_DEPTH_MAX, "V-8");
    u9_walk walk = u9_walk_bytes(b.bytes, b.size);
    u9_value v;
    for (unsigned i = 0; i < 1000000; i++) {
        ok(u9_walk_next(&walk, &v));
        walk = u9_walk_elements(&v);
    }
    ok(u9_walk_next(&walk, &v));
    ck_assert_uint_eq(v.u, 5);
    memset(b.bytes, 0x49, b.size);
    ck_assert_int_eq(u9_value_check(b.bytes, b.size, NULL, NULL), U9_CORRUPT);
}
END_TEST

/* [V-4] The nested golden cut everywhere, the outer length mended: the inside no longer fits. */
START_TEST(a_cut_tuple_with_a_mended_length_is_corrupt)
{
    block whole = unhex(goldens[GOLDENS - 1].hex);
    for (size_t size = 2; size < whole.size; size++) {
        block cut = hold(whole.bytes, size);
        cut.bytes[1] = (uint8_t)(size - 2);
        ck_assert_int_eq(u9_value_check(cut.bytes, cut.size, NULL, NULL), U9_CORRUPT);
    }
}
END_TEST

/* [V-8] Any one byte of the nested golden, forged to any value. */
START_TEST(no_forged_byte_leads_out_of_the_buffer)
{
    block whole = unhex(goldens[GOLDENS - 1].hex);
    for (size_t i = 0; i < whole.size; i++)
        for (unsigned forged = 0; forged < 256; forged++) {
            block b = hold(whole.bytes, whole.size);
            b.bytes[i] = (uint8_t)forged;
            u9_fault fault;
            u9_err err = u9_value_check(b.bytes, b.size, NULL, &fault);
            ck_assert(err == U9_OK || fault.offset <= b.size);
            if (err == U9_OK) expect_checked(rebuild(b));
        }
}
END_TEST

START_TEST(the_out_parameters_of_a_check_may_be_missing)
{
    block b = unhex("21 ff");
    uint64_t bad = 7;
    ok(u9_value_check(b.bytes, b.size, NULL, NULL));
    ok(u9_value_check(b.bytes, b.size, &bad, NULL));
    ck_assert_uint_eq(bad, 0);
    ck_assert_int_eq(u9_value_check(b.bytes, 1, NULL, NULL), U9_TORN);
}
END_TEST

START_TEST(the_out_parameters_of_a_check_are_written_only_when_due)
{
    block torn = unhex("4a 03 21 ff"), fine = unhex("85");
    uint64_t bad = 7;
    u9_fault fault, before;
    memset(&fault, 0x5a, sizeof fault);
    memcpy(&before, &fault, sizeof fault);
    ck_assert_int_eq(u9_value_check(torn.bytes, torn.size, &bad, NULL), U9_TORN);
    ck_assert_uint_eq(bad, 7);
    ok(u9_value_check(fine.bytes, fine.size, &bad, &fault));
    ck_assert_uint_eq(bad, U9_NOWHERE);
    ck_assert_mem_eq(&fault, &before, sizeof fault);
}
END_TEST

/* [V-2] */
START_TEST(the_first_bad_utf8_is_named_and_is_no_error)
{
    block b = unhex("4c 0b 21 61 4a 04 22 cf84 81 21 ff 21 fe");
    b.bytes[1] = (uint8_t)(b.size - 2);
    uint64_t bad;
    ok(u9_value_check(b.bytes, b.size, &bad, NULL));
    ck_assert_uint_eq(bad, 10);
}
END_TEST

START_TEST(utf8_is_valid_at_each_border_of_rfc_3629)
{
    static const char *const valid[] = {
        "", "00", "7f", "c280", "dfbf", "e0a080", "e1bfbf", "ed9fbf", "ee8080", "efbfbf",
        "f0908080", "f3bfbfbf", "f48fbfbf", "6162636465666768", "616263646566676869cf84",
        "61626364656667cf84"};
    for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++) {
        block b = unhex(valid[i]);
        ck_assert_msg(u9_utf8_valid(b.bytes, b.size), "%s", valid[i]);
    }
}
END_TEST

/* {F58} */
START_TEST(overlong_cut_and_forbidden_utf8_is_invalid)
{
    static const char *const invalid[] = {
        "80", "bf", "c0", "c080", "c1bf", "c2", "c27f", "c2c0", "e0", "e080", "e08080", "e09fbf",
        "e1", "e180", "e18041", "e1807f", "eda080", "edbfbf", "f0808080", "f08fbfbf", "f1", "f180",
        "f18080", "f1808041", "f4908080", "f5808080", "f8888080", "fe", "ff",
        "61626364656667ff", "6162636465666768ff", "6162636465666768e18041", "ff61626364656667"};
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
        block b = unhex(invalid[i]);
        ck_assert_msg(!u9_utf8_valid(b.bytes, b.size), "%s", invalid[i]);
    }
}
END_TEST

/* [V-7] */
START_TEST(each_golden_is_rebuilt_in_its_shortest_form)
{
    for (size_t i = 0; i < GOLDENS; i++) {
        block b = unhex(goldens[i].hex), again = rebuild(b);
        bool same = again.size == b.size && memcmp(again.bytes, b.bytes, b.size) == 0;
        ck_assert_msg(same == goldens[i].shortest, "%s", goldens[i].name);
        ck_assert_msg(same || again.size < b.size, "%s", goldens[i].name);
        u9_value v;
        ok(u9_value_decode(again.bytes, again.size, &v));
        ck_assert_msg(number_of(&v) == goldens[i].number, "%s", goldens[i].name);
        expect_checked(again);
    }
}
END_TEST

Suite *suite_value(void)
{
    const TTest *const tests[] = {
        each_golden_decodes_to_what_it_says,
        each_bytecode_has_a_golden_or_is_refused,
        every_fixint_is_its_low_seven_bits,
        each_golden_cut_short_anywhere_is_torn,
        nothing_at_all_is_torn,
        a_truncated_number_is_torn,
        a_truncated_symbol_is_torn,
        a_truncated_utf8_is_torn,
        truncated_bytes_are_torn,
        a_truncated_length_is_torn,
        a_container_without_its_count_is_torn,
        a_container_longer_than_the_bytes_is_torn,
        a_length_that_would_overflow_is_torn,
        lengths_and_counts_are_unsigned,
        a_length_of_zero_is_allowed_in_each_width,
        signed_integers_are_twos_complement,
        special_floats_keep_their_meaning,
        a_symbol_is_eight_bytes_as_they_stand,
        a_failed_decode_leaves_the_view_untouched,
        a_walk_yields_each_value_and_then_the_end,
        a_walk_over_a_tuple_sees_its_elements_and_no_more,
        a_walk_over_an_empty_tuple_or_none_ends_at_once,
        a_walk_stays_at_a_value_it_cannot_read,
        bytes_behind_the_value_are_corrupt,
        a_tuple_with_too_few_elements_is_corrupt,
        a_tuple_with_too_many_elements_is_corrupt,
        an_element_that_passes_its_tuple_is_corrupt,
        each_refusal_has_its_own_sentence,
        a_reserved_bytecode_inside_a_tuple_is_corrupt,
        sixty_four_levels_are_read_and_the_next_is_a_limit,
        a_million_levels_are_refused_without_harm,
        a_cut_tuple_with_a_mended_length_is_corrupt,
        no_forged_byte_leads_out_of_the_buffer,
        the_out_parameters_of_a_check_may_be_missing,
        the_out_parameters_of_a_check_are_written_only_when_due,
        the_first_bad_utf8_is_named_and_is_no_error,
        utf8_is_valid_at_each_border_of_rfc_3629,
        overlong_cut_and_forbidden_utf8_is_invalid,
        each_golden_is_rebuilt_in_its_shortest_form,
    };
    Suite *suite = suite_create("value");
    TCase *tcase = tcase_create("value");
    tcase_add_checked_fixture(tcase, NULL, drop_blocks);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
