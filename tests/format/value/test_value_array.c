/*
 * tests/format/value/test_value_array.c: typecodes, arrays and their elements, arrays in the checker, and the
 * form of indexes in front of containers. [V-5] [V-6] [V-10]
 */
#include "tests/suites.h"

#include "format/value/typecode.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096 };

typedef struct block {
    uint8_t *bytes; /* of exactly `size` bytes on the heap, so that a sanitizer sees each step outside */
    size_t size;
} block;

static block held[64];
static unsigned held_count;

static void teardown(void)
{
    while (held_count > 0) free(held[--held_count].bytes);
}

static block hold(const void *bytes, size_t size)
{
    ck_assert_uint_lt(held_count, 64);
    block b = {malloc(size > 0 ? size : 1), size};
    ck_assert_ptr_nonnull(b.bytes);
    memcpy(b.bytes, bytes, size);
    held[held_count++] = b;
    return b;
}

static block unhex(const char *hex)
{
    uint8_t bytes[ROOM];
    size_t n = 0;
    for (; *hex; hex++) {
        if (*hex == ' ') continue;
        char two[3] = {hex[0], hex[1], 0};
        ck_assert_uint_lt(n, ROOM);
        bytes[n++] = (uint8_t)strtoul(two, NULL, 16);
        hex++;
    }
    return hold(bytes, n);
}

static u9_value array_of(const char *hex)
{
    block b = unhex(hex);
    u9_value v;
    ck_assert_msg(u9_value_decode(b.bytes, b.size, &v) == U9_OK, "%s", hex);
    ck_assert_uint_eq(v.encoded, b.size);
    ck_assert_ptr_eq(v.start, b.bytes);
    ck_assert_int_eq(u9_value_check(b.bytes, b.size, NULL, NULL), U9_OK);
    return v;
}

static u9_value element(const u9_value *v, uint64_t k)
{
    u9_value e;
    ck_assert_int_eq(u9_value_at(v, k, &e), U9_OK);
    return e;
}

static void expect_refused(const char *hex, u9_err err, uint64_t offset, const char *rule)
{
    block b = unhex(hex);
    u9_fault fault = {0};
    ck_assert_msg(u9_value_check(b.bytes, b.size, NULL, &fault) == err, "%s: %s", hex, fault.text);
    ck_assert_msg(fault.offset == offset, "%s: offset %llu", hex, (unsigned long long)fault.offset);
    ck_assert_str_eq(fault.rule, rule);
}

static void expect_no_array(const char *hex, u9_err err)
{
    block b = unhex(hex);
    u9_value v = {.count = 77};
    ck_assert_msg(u9_value_decode(b.bytes, b.size, &v) == err, "%s", hex);
    ck_assert_uint_eq(v.count, 77);
}

/* The example of the seed's element typecodes. [V-5] [V-10] */
START_TEST(two_arrays_of_four_int16)
{
    u9_value v = array_of("44 14 02 44 08 04 05 0001 0002 0003 0004 fffe fffd fffc fffb");
    ck_assert(v.type == U9_ARRAY && v.count == 2 && v.size == 16);
    for (uint64_t k = 0; k < 2; k++) {
        u9_value inner = element(&v, k);
        ck_assert(inner.type == U9_ARRAY && inner.count == 4 && inner.size == 8);
        ck_assert(inner.start == NULL && inner.encoded == 0 && inner.code == 0x44);
        for (uint64_t j = 0; j < 4; j++) {
            u9_value n = element(&inner, j);
            ck_assert(n.type == U9_INT && n.code == 0x05);
            ck_assert_int_eq(n.i, k == 0 ? (int64_t)j + 1 : -(int64_t)j - 2);
        }
        u9_span span;
        ck_assert_int_eq(u9_array_span(&inner, &span), U9_OK);
        ck_assert(span.data == v.data + 8 * k && span.count == 4 && span.stride == 2);
        ck_assert(span.type == U9_INT && span.code == 0x05);
    }
    u9_value none;
    ck_assert_int_eq(u9_value_at(&v, 2, &none), U9_END);
    ck_assert_int_eq(u9_value_at(&v, UINT64_MAX, &none), U9_END);
}
END_TEST

/* [V-10] Each typecode with one element, whose bytes are 01 02 03 … */
START_TEST(each_typecode_gives_its_elements_their_size_and_meaning)
{
    static const struct {
        const char *typecode;
        u9_type type;
        size_t stride;
        uint64_t number; /* UINT, TAU, INT */
    } all[] = {
        {"00", U9_UINT, 1, 0x01},
        {"01", U9_UINT, 2, 0x0102},
        {"02", U9_UINT, 4, 0x01020304},
        {"03", U9_UINT, 8, UINT64_C(0x0102030405060708)},
        {"04", U9_INT, 1, 0x01},
        {"05", U9_INT, 2, 0x0102},
        {"06", U9_INT, 4, 0x01020304},
        {"07", U9_INT, 8, UINT64_C(0x0102030405060708)},
        {"08", U9_FLOAT32, 4, 0},
        {"09", U9_FLOAT64, 8, 0},
        {"0a", U9_SYMBOL, 8, 0},
        {"0b", U9_PIDFD, 8, 0},
        {"15", U9_TAU, 2, 0x0102},
        {"16", U9_TAU, 4, 0x01020304},
        {"17", U9_TAU, 8, UINT64_C(0x0102030405060708)},
        {"18 05", U9_UTF8, 5, 0},
        {"19 0005", U9_UTF8, 5, 0},
        {"1a 00000005", U9_UTF8, 5, 0},
        {"1b 0000000000000005", U9_UTF8, 5, 0},
        {"1c 05", U9_BYTES, 5, 0},
        {"1d 0005", U9_BYTES, 5, 0},
        {"1e 00000005", U9_BYTES, 5, 0},
        {"1f 0000000000000005", U9_BYTES, 5, 0},
        {"44 04 02 01", U9_ARRAY, 4, 0},
        {"45 0004 0002 01", U9_ARRAY, 4, 0},
        {"46 00000004 00000002 01", U9_ARRAY, 4, 0},
        {"47 0000000000000004 0000000000000002 01", U9_ARRAY, 4, 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        block t = unhex(all[i].typecode);
        uint8_t bytes[64] = {0x44, (uint8_t)(t.size + 2 * all[i].stride), 2};
        memcpy(bytes + 3, t.bytes, t.size);
        for (size_t k = 0; k < 2 * all[i].stride; k++) bytes[3 + t.size + k] = (uint8_t)(k + 1);
        block b = hold(bytes, 3 + t.size + 2 * all[i].stride);
        u9_value v;
        u9_span span;
        ck_assert_int_eq(u9_value_decode(b.bytes, b.size, &v), U9_OK);
        ck_assert_int_eq(u9_array_span(&v, &span), U9_OK);
        ck_assert_msg(span.stride == all[i].stride && span.type == all[i].type, "%s", all[i].typecode);
        u9_value e = element(&v, 0);
        ck_assert_msg(e.type == all[i].type && e.code == t.bytes[0], "%s", all[i].typecode);
        if (e.type == U9_UINT || e.type == U9_TAU) ck_assert_uint_eq(e.u, all[i].number);
        if (e.type == U9_INT) ck_assert_int_eq(e.i, (int64_t)all[i].number);
        if (e.type == U9_PIDFD) ck_assert(e.pidfd.pid == 0x01020304 && e.pidfd.fd == 0x05060708);
        if (e.data) ck_assert(e.data == v.data && e.size == all[i].stride);
        for (size_t cut = 3; cut < b.size; cut++) { /* l follows the cut: it is never an array */
            bytes[1] = (uint8_t)(cut - 3);
            block short_one = hold(bytes, cut);
            ck_assert_int_eq(u9_value_decode(short_one.bytes, cut, &v), U9_CORRUPT);
            free(held[--held_count].bytes);
        }
        teardown();
    }
}
END_TEST

/* [V-10] */
START_TEST(floats_of_both_widths_are_elements)
{
    u9_value v = array_of("44 09 02 08 3fc00000 c0200000"), e = element(&v, 1);
    ck_assert(e.type == U9_FLOAT32 && e.f == -2.5);
    v = array_of("44 11 02 09 3ff8000000000000 c004000000000000");
    e = element(&v, 1);
    ck_assert(e.type == U9_FLOAT64 && e.f == -2.5);
}
END_TEST

/* [V-10] */
START_TEST(negative_elements_keep_their_sign_in_each_width)
{
    static const char *const all[] = {"44 02 01 04 fe", "44 03 01 05 fffe", "44 05 01 06 fffffffe",
                                      "44 09 01 07 fffffffffffffffe"};
    for (size_t i = 0; i < 4; i++) {
        u9_value v = array_of(all[i]);
        ck_assert_int_eq(element(&v, 0).i, -2);
    }
}
END_TEST

/* [V-10] */
START_TEST(no_other_bytecode_is_a_typecode)
{
    for (unsigned code = 0; code < 256; code++) {
        bool is = code <= 0x0b || (code >= 0x15 && code <= 0x1f) || (code >= 0x40 && code <= 0x4f);
        uint8_t bytes[32] = {(uint8_t)code};
        u9i_typecode t;
        u9_err err = u9i_typecode_read(bytes, sizeof bytes, &t);
        ck_assert_msg(is == (err == U9_OK), "%02x", code);
        if (!is) ck_assert_int_eq(err, U9_CORRUPT);
    }
}
END_TEST

/* [V-10] */
START_TEST(tuples_are_elements_with_a_count_of_their_own_or_a_fixed_one)
{
    u9_value v = array_of("44 0a 02 40 03 02 81 21 61 03 81 82 83"), e = element(&v, 0), x;
    ck_assert(e.type == U9_TUPLE && e.count == 2 && e.size == 3 && e.start == NULL);
    e = element(&v, 1);
    ck_assert(e.count == 3 && e.size == 3);
    ck_assert_int_eq(u9_value_at(&e, 2, &x), U9_OK);
    ck_assert_uint_eq(x.u, 3);
    v = array_of("44 0a 02 4a 04 81 22 6f6e 82 22 7570");
    e = element(&v, 1);
    ck_assert(e.type == U9_TUPLE && e.count == 2 && e.size == 4 && e.code == 0x4a);
    ck_assert_int_eq(u9_value_at(&e, 1, &x), U9_OK);
    ck_assert_mem_eq(x.data, "up", 2);
    v = array_of("44 08 01 41 0003 0002 81 21 61"); /* a count as wide as the length */
    ck_assert_uint_eq(element(&v, 0).count, 2);
    v = array_of("44 2b 02 43 0000000000000009 0000000000000001 18 07 61626364656667"
                 "0000000000000001 18 07 61626364656667");
    ck_assert_uint_eq(element(&v, 1).count, 1);
}
END_TEST

/* [V-10] What stands in a tuple that is an element is checked like any other. */
START_TEST(a_malformed_tuple_within_an_array_is_found)
{
    expect_refused("44 0a 02 40 03 02 81 21 61 02 81 82 83", U9_CORRUPT, 12, "V-4");
    expect_refused("44 0a 02 4a 04 81 22 6f6e 82 23 7570", U9_CORRUPT, 10, "V-4");
    expect_refused("44 0a 02 4a 04 81 22 6f6e 82 0c 7570", U9_CORRUPT, 10, "V-6");
    expect_refused("44 0f 02 44 05 01 4a 05 81 23 6f6e65 82 24 6f6e6f", U9_CORRUPT, 14, "V-4");
    expect_refused("44 02 01 49 00", U9_CORRUPT, 5, "V-4");
}
END_TEST

/* [V-5] */
START_TEST(length_count_and_typecode_must_fit)
{
    expect_no_array("44 00 00", U9_CORRUPT);               /* no typecode */
    expect_no_array("44 03 01 00 05 06", U9_CORRUPT);      /* one element less than l says */
    expect_no_array("44 03 03 00 05 06", U9_CORRUPT);      /* one more */
    expect_no_array("44 04 01 01 05 06 07", U9_CORRUPT);   /* half an element */
    expect_no_array("44 01 01 00", U9_CORRUPT);            /* none */
    expect_no_array("44 02 00 00 05", U9_CORRUPT);         /* and one that is not counted */
    expect_no_array("44 04 01 44 03 01 00", U9_CORRUPT);   /* l of the inner one is not n z */
    expect_no_array("44 05 01 44 01 02 00 05", U9_CORRUPT);
    expect_no_array("44 05 01 44 01 00 00 05", U9_CORRUPT);
    expect_no_array("44 02 01 80 05", U9_CORRUPT);         /* a fixint is no typecode */
    expect_no_array("44 02 01 25 05", U9_CORRUPT);         /* nor is a fixutf8 */
    expect_no_array("44 02 01 10 05", U9_CORRUPT);         /* nor is alpha */
    expect_no_array("44 03 02 00 05", U9_TORN);            /* passes the end of the bytes */
    expect_refused("44 03 01 00 05 06", U9_CORRUPT, 0, "V-5");
    expect_refused("44 01 00 10", U9_CORRUPT, 0, "V-10");
    expect_refused("44 01 00 ff", U9_CORRUPT, 0, "V-10");
    expect_refused("44 00 00", U9_CORRUPT, 0, "V-10");
    expect_refused("44 01 00 18", U9_CORRUPT, 0, "V-10"); /* its length passes the array's end */
    expect_refused("49 06 44 03 01 00 05 06", U9_CORRUPT, 2, "V-5");
}
END_TEST

/* {F58} [V-5] [V-8] n z wraps to what l says: 2^61 elements of 8 bytes, 2^62 + 1 of 4. */
START_TEST(a_product_that_overflows_is_refused)
{
    expect_no_array("47 0000000000000001 2000000000000000 03", U9_CORRUPT);
    expect_no_array("47 0000000000000005 4000000000000001 02 00000000", U9_CORRUPT);
    expect_no_array("44 13 01 47 0000000000000000 2000000000000000 03 00", U9_CORRUPT);
    expect_no_array("44 0a 01 43 fffffffffffffff9 00", U9_CORRUPT); /* l + 8 wraps */
    expect_no_array("44 09 01 1b ffffffffffffffff", U9_CORRUPT);
}
END_TEST

/* {F58} [V-10] */
START_TEST(elements_without_bytes_are_limited)
{
    u9_value v = array_of("45 0002 00ff 18 00");
    ck_assert_uint_eq(v.count, 255);
    ck_assert(element(&v, 254).type == U9_UTF8 && element(&v, 254).size == 0);
    expect_no_array("45 0002 0100 18 00", U9_LIMIT);
    expect_no_array("47 0000000000000002 4000000000000000 18 00", U9_LIMIT); /* 2^62 of them */
    expect_no_array("47 0000000000000002 4000000000000000 48 00", U9_LIMIT);
    (void)array_of("44 05 0f 44 00 11 1c 00"); /* 15 times 17 */
    expect_no_array("44 05 10 44 00 10 1c 00", U9_LIMIT); /* 16 times 16 */
    (void)array_of("44 07 ff 44 00 00 44 00 00 00");
    expect_refused("45 0002 0100 18 00", U9_LIMIT, 0, "V-10");
}
END_TEST

/* [V-10] */
START_TEST(a_walk_over_empty_elements_ends)
{
    u9_value v = array_of("44 02 05 18 00"), e;
    u9_walk walk = u9_walk_elements(&v);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_int_eq(u9_walk_next(&walk, &e), U9_OK);
        ck_assert(e.type == U9_UTF8 && e.size == 0);
    }
    ck_assert_int_eq(u9_walk_next(&walk, &e), U9_END);
}
END_TEST

/* [V-5] */
START_TEST(walks_of_both_kinds_see_all_elements)
{
    static const char *const all[] = {"44 07 03 05 0001 0002 0003", "4b 03 81 82 83",
                                      "40 06 03 01 0001 82 00 03"};
    for (unsigned i = 0; i < 3; i++) {
        u9_value v = array_of(all[i]), e;
        u9_walk walk = u9_walk_elements(&v), proved = walk;
        for (uint64_t k = 1; k <= 3; k++) {
            ck_assert_int_eq(u9_walk_next(&walk, &e), U9_OK);
            ck_assert(e.type == U9_INT ? e.i == (int64_t)k : e.u == k);
            ck_assert_int_eq(u9_walk_next_checked(&proved, &e), U9_OK);
            ck_assert(e.type == U9_INT ? e.i == (int64_t)k : e.u == k);
            e = element(&v, k - 1);
            ck_assert(e.type == U9_INT ? e.i == (int64_t)k : e.u == k);
        }
        ck_assert_int_eq(u9_walk_next(&walk, &e), U9_END);
        ck_assert_int_eq(u9_walk_next_checked(&proved, &e), U9_END);
        ck_assert_int_eq(u9_value_at(&v, 3, &e), U9_END);
    }
}
END_TEST

START_TEST(elements_of_what_is_no_container_are_refused)
{
    u9_value v = array_of("85"), e = {.u = 7};
    u9_span span;
    ck_assert_int_eq(u9_value_at(&v, 0, &e), U9_ARG);
    ck_assert_int_eq(u9_array_span(&v, &span), U9_ARG);
    v = array_of("4b 03 81 82 83");
    ck_assert_int_eq(u9_array_span(&v, &span), U9_ARG);
    ck_assert_uint_eq(e.u, 7);
}
END_TEST

/* {F58} A tuple that says more elements than it has is not walked beyond its end. */
START_TEST(an_element_that_is_claimed_but_absent_is_the_end)
{
    block b = unhex("4f 02 81 82");
    u9_value v, e;
    ck_assert_int_eq(u9_value_decode(b.bytes, b.size, &v), U9_OK);
    ck_assert_uint_eq(v.count, 7);
    ck_assert_int_eq(u9_value_at(&v, 1, &e), U9_OK);
    ck_assert_int_eq(u9_value_at(&v, 2, &e), U9_END);
}
END_TEST

/* [V-8] A typecode of `levels` arrays of one array each, then uint8. */
static block deep_typecode(unsigned levels)
{
    uint8_t bytes[3 * 128 + 8];
    size_t at = 0;
    bytes[at++] = 0x45;
    size_t head = at;
    at += 4;
    for (unsigned i = 0; i < levels; i++) {
        bytes[at++] = 0x44;
        bytes[at++] = 1;
        bytes[at++] = 1;
    }
    bytes[at++] = 0x00;
    bytes[at++] = 0x2a;
    bytes[head] = (uint8_t)((at - 5) >> 8);
    bytes[head + 1] = (uint8_t)(at - 5);
    bytes[head + 2] = 0;
    bytes[head + 3] = 1;
    return hold(bytes, at);
}

/* {F57} */
START_TEST(typecodes_nest_to_the_same_depth_as_containers)
{
    block b = deep_typecode(U9_DEPTH_MAX - 1);
    u9_value v, e;
    ck_assert_int_eq(u9_value_check(b.bytes, b.size, NULL, NULL), U9_OK);
    ck_assert_int_eq(u9_value_decode(b.bytes, b.size, &v), U9_OK);
    for (unsigned i = 0; i < U9_DEPTH_MAX; i++) {
        e = element(&v, 0);
        v = e;
    }
    ck_assert(v.type == U9_UINT && v.u == 0x2a);
    b = deep_typecode(U9_DEPTH_MAX);
    ck_assert_int_eq(u9_value_check(b.bytes, b.size, NULL, NULL), U9_LIMIT);
    ck_assert_int_eq(u9_value_decode(b.bytes, b.size, &v), U9_LIMIT);
    b = deep_typecode(U9_DEPTH_MAX - 1); /* one more level around it */
    uint8_t bytes[512] = {0x41, (uint8_t)(b.size >> 8), (uint8_t)b.size, 0, 1};
    memcpy(bytes + 5, b.bytes, b.size);
    u9_fault fault;
    ck_assert_int_eq(u9_value_check(bytes, 5 + b.size, NULL, &fault), U9_LIMIT);
    ck_assert_str_eq(fault.rule, "V-8");
    ck_assert_uint_eq(fault.offset, 5);
}
END_TEST

/* [V-2] Text in arrays is looked at when that is asked for. */
START_TEST(bad_utf8_in_an_array_is_told)
{
    block b = unhex("44 08 03 18 02 6f6e ff6e 6f6e");
    uint64_t bad = 0;
    ck_assert_int_eq(u9_value_check(b.bytes, b.size, &bad, NULL), U9_OK);
    ck_assert_uint_eq(bad, 7);
    b = unhex("44 08 03 18 02 6f6e 6e6e 6f6e");
    ck_assert_int_eq(u9_value_check(b.bytes, b.size, &bad, NULL), U9_OK);
    ck_assert_uint_eq(bad, U9_NOWHERE);
    b = unhex("44 08 03 1c 02 6f6e ff6e 6f6e"); /* bytes are not text */
    ck_assert_int_eq(u9_value_check(b.bytes, b.size, &bad, NULL), U9_OK);
    ck_assert_uint_eq(bad, U9_NOWHERE);
}
END_TEST

#define INDEX_I "0a 6900000000000000 44 03 02 00 00 01 44 05 02 05 0000 0001" /* 23 bytes */

/* [V-6] */
START_TEST(a_container_with_indexes_in_front_is_one_value)
{
    static const char *const all[] = {
        "51 0017 " INDEX_I " 4a 02 81 82",
        "52 00000017 " INDEX_I " 4a 02 81 82",
        "53 0000000000000017 " INDEX_I " 4a 02 81 82",
        "54 17 " INDEX_I " 4a 02 81 82",
        "55 0017 " INDEX_I " 4a 02 81 82",
        "56 00000017 " INDEX_I " 4a 02 81 82",
        "57 0000000000000017 " INDEX_I " 44 03 02 00 01 02",
        "54 17 " INDEX_I " 51 0017 " INDEX_I " 40 02 02 81 82",
    };
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        u9_value v = array_of(all[i]), bare = u9_value_bare(&v);
        ck_assert_uint_eq(v.count, 2);
        ck_assert_uint_eq(v.code, v.start[0]);
        ck_assert_ptr_eq(bare.data, v.data);
        ck_assert_ptr_eq(bare.start + bare.encoded, v.start + v.encoded);
        ck_assert(bare.code >= 0x40 && bare.code <= 0x4f && bare.start[0] == bare.code);
        bare = u9_value_bare(&bare);
        ck_assert(bare.code >= 0x40 && bare.code <= 0x4f);
        u9_walk walk = u9_walk_elements(&v);
        u9_value e;
        ck_assert_int_eq(u9_walk_next(&walk, &e), U9_OK);
        ck_assert_uint_eq(e.u, 1);
    }
    u9_value outer = array_of("4a 1e 54 17 " INDEX_I " 4a 02 81 82 85"), e;
    ck_assert_int_eq(u9_value_at(&outer, 1, &e), U9_OK);
    ck_assert_uint_eq(e.u, 5);
}
END_TEST

/* [V-6] */
START_TEST(what_is_no_index_is_refused_at_its_place)
{
    expect_refused("54 17 " INDEX_I " 85", U9_CORRUPT, 25, "V-6");
    expect_refused("49 1a 54 17 " INDEX_I " 85", U9_CORRUPT, 27, "V-6");
    expect_refused("54 17 " INDEX_I, U9_TORN, 25, "V-8");
    expect_refused("49 19 54 17 " INDEX_I, U9_CORRUPT, 27, "V-4");
    expect_refused("54 18 " INDEX_I, U9_TORN, 0, "V-8");
    expect_refused("4a 03 81 51 00", U9_CORRUPT, 3, "X-1");
    expect_refused("54 18 " INDEX_I " 85 4a 02 81 82", U9_CORRUPT, 0, "X-1"); /* a fourth part */
    expect_refused("54 03 81 82 83 4a 02 81 82", U9_CORRUPT, 0, "X-1");
    expect_refused("55 0014 0a 6b00000000000000 45 0002 0100 18 00 44 01 00 05 48 00", U9_LIMIT, 0, "V-10");
    expect_refused("54 16 0a 6900000000000000 44 02 01 00 00 44 05 02 05 0000 0001 4a 02 81 82",
                   U9_CORRUPT, 0, "X-1"); /* one key, two offsets */
    expect_refused("54 15 0a 6900000000000000 44 03 02 00 00 01 44 03 02 00 00 01 4a 02 81 82",
                   U9_CORRUPT, 0, "X-1"); /* offsets of uint8 */
    expect_refused("54 1a 0a 6900000000000000 44 06 02 49 02 0c81 8182 44 05 02 05 0000 0001"
                   " 4a 02 81 82", U9_CORRUPT, 16, "V-6"); /* a key that is no value */
}
END_TEST

/* Each byte of a few values forged in every way: never outside, and what is decoded can be walked. */
START_TEST(no_forged_byte_of_an_array_leads_out_of_the_buffer)
{
    static const char *const all[] = {
        "44 14 02 44 08 04 05 0001 0002 0003 0004 fffe fffd fffc fffb",
        "44 0a 02 40 03 02 81 21 61 03 81 82 83",
        "44 0a 02 4a 04 81 22 6f6e 82 22 7570",
        "54 17 " INDEX_I " 4a 02 81 82",
    };
    for (unsigned i = 0; i < 4; i++) {
        block b = unhex(all[i]);
        for (size_t at = 0; at < b.size; at++) {
            uint8_t good = b.bytes[at];
            for (unsigned forged = 0; forged < 256; forged++) {
                b.bytes[at] = (uint8_t)forged;
                u9_value v, e;
                u9_err checked = u9_value_check(b.bytes, b.size, NULL, NULL);
                u9_err err = u9_value_decode(b.bytes, b.size, &v);
                if (checked == U9_OK) ck_assert_int_eq(err, U9_OK);
                if (err != U9_OK) continue;
                u9_walk walk = u9_walk_elements(&v);
                uint64_t n = 0;
                while ((err = u9_walk_next(&walk, &e)) == U9_OK) n++;
                if (checked == U9_OK && (v.type == U9_TUPLE || v.type == U9_ARRAY))
                    ck_assert(err == U9_END && n == v.count);
            }
            b.bytes[at] = good;
        }
    }
}
END_TEST

Suite *suite_value_array(void)
{
    const TTest *const tests[] = {
        two_arrays_of_four_int16,
        each_typecode_gives_its_elements_their_size_and_meaning,
        floats_of_both_widths_are_elements,
        negative_elements_keep_their_sign_in_each_width,
        no_other_bytecode_is_a_typecode,
        tuples_are_elements_with_a_count_of_their_own_or_a_fixed_one,
        a_malformed_tuple_within_an_array_is_found,
        length_count_and_typecode_must_fit,
        a_product_that_overflows_is_refused,
        elements_without_bytes_are_limited,
        a_walk_over_empty_elements_ends,
        walks_of_both_kinds_see_all_elements,
        elements_of_what_is_no_container_are_refused,
        an_element_that_is_claimed_but_absent_is_the_end,
        typecodes_nest_to_the_same_depth_as_containers,
        bad_utf8_in_an_array_is_told,
        a_container_with_indexes_in_front_is_one_value,
        what_is_no_index_is_refused_at_its_place,
        no_forged_byte_of_an_array_leads_out_of_the_buffer,
    };
    Suite *s = suite_create("value_array");
    TCase *tc = tcase_create("value_array");
    tcase_add_checked_fixture(tc, NULL, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tc, tests[i]);
    suite_add_tcase(s, tc);
    return s;
}
