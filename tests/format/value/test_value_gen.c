/*
 * tests/format/value/test_value_gen.c: what value_gen.h promises. Tests of properties are worth what
 * their values are: these are well-formed, fit, are of all kinds, and come in all encodings.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <u9/value.h>

#include "tests/format/base/hex.h"
#include "tests/format/value/value_gen.h"

Suite *suite_value_gen(void);

enum { ROUNDS = 20000, ROOM = 1 << 16 };

static uint8_t buf[ROOM];

static void expect_well_formed(const uint8_t *bytes, size_t size)
{
    u9_fault fault = {.offset = 0};
    uint8_t *copy = exactly(bytes, size);
    u9_err err = u9_value_check(copy, size, NULL, &fault);
    free(copy);
    ck_assert_msg(err == U9_OK, "%zu bytes from %02x: offset %u: %s [%s]", size, bytes[0],
                  (unsigned)fault.offset, fault.text, fault.rule);
}

/* [V-8] [V-10] */
START_TEST(values_are_well_formed_and_fit)
{
    rng r = {1};
    for (unsigned k = 0; k < ROUNDS; k++) {
        size_t cap = 1 + rng_below(&r, rng_below(&r, 4) ? ROOM : 40);
        size_t size = value_gen(&r, buf, cap, (unsigned)rng_below(&r, U9_DEPTH_MAX + 1));
        ck_assert_uint_ge(size, 1);
        ck_assert_uint_le(size, cap);
        expect_well_formed(buf, size);
    }
}
END_TEST

START_TEST(without_depth_there_are_no_containers)
{
    rng r = {2};
    for (unsigned k = 0; k < ROUNDS; k++) {
        u9_value v;
        size_t size = value_gen(&r, buf, sizeof buf, 0);
        ck_assert_int_eq(u9_value_decode(buf, size, &v), U9_OK);
        ck_assert_int_lt(v.type, U9_TUPLE);
    }
}
END_TEST

START_TEST(every_bytecode_occurs)
{
    rng r = {3};
    bool seen[256] = {false};
    for (unsigned k = 0; k < ROUNDS; k++) {
        value_gen(&r, buf, sizeof buf, 3 * (k % 2));
        seen[buf[0] < 0x80 ? buf[0] : 0x80] = true; /* 80 stands for all small numbers */
    }
    for (unsigned code = 0; code < 256; code++) {
        bool in_use = code < 0x0c || (code >= 0x10 && code < 0x50) || code == 0x80;
        ck_assert_msg(seen[code] == in_use, "bytecode %02x", code);
    }
}
END_TEST

/* [V-10] An array's typecode begins behind its l and n. */
START_TEST(every_typecode_occurs)
{
    rng r = {4};
    bool seen[256] = {false};
    for (unsigned k = 0; k < 4 * ROUNDS; k++) {
        value_gen(&r, buf, sizeof buf, 3);
        if (buf[0] >= 0x44 && buf[0] <= 0x47) seen[buf[1 + 2 * (1u << (buf[0] - 0x44))]] = true;
    }
    for (unsigned code = 0; code < 256; code++) {
        bool in_use = code < 0x0c || (code >= 0x15 && code < 0x20) || (code >= 0x40 && code < 0x50);
        ck_assert_msg(seen[code] == in_use, "typecode %02x", code);
    }
}
END_TEST

START_TEST(a_tree_has_many_encodings)
{
    static gen_tree t;
    static uint8_t other[ROOM];
    rng r = {5};
    unsigned differ = 0;
    for (unsigned k = 0; k < 1000; k++) {
        gen_tree_make(&r, &t, 20, 4);
        size_t a = gen_tree_encode(&r, &t, buf, sizeof buf);
        size_t b = gen_tree_encode(&r, &t, other, sizeof other);
        expect_well_formed(buf, a);
        expect_well_formed(other, b);
        differ += a != b || memcmp(buf, other, a) != 0;
    }
    ck_assert_uint_gt(differ, 700);
}
END_TEST

START_TEST(the_deepest_values_occur)
{
    rng r = {6};
    bool reached = false;
    static gen_tree t;
    for (unsigned k = 0; k < 2000; k++) {
        gen_tree_make(&r, &t, GEN_NODES, U9_DEPTH_MAX);
        reached = reached || t.nodes[t.count - 1].depth == U9_DEPTH_MAX;
    }
    ck_assert(reached);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_bytes)
{
    static uint8_t other[ROOM];
    rng r = {7}, s = {7};
    for (unsigned k = 0; k < 1000; k++) {
        size_t size = value_gen(&r, buf, sizeof buf, 5);
        ck_assert_uint_eq(value_gen(&s, other, sizeof other, 5), size);
        ck_assert_mem_eq(buf, other, size);
    }
}
END_TEST

Suite *suite_value_gen(void)
{
    Suite *s = suite_create("value_gen");
    TCase *t = tcase_create("generator");
    tcase_add_test(t, values_are_well_formed_and_fit);
    tcase_add_test(t, without_depth_there_are_no_containers);
    tcase_add_test(t, every_bytecode_occurs);
    tcase_add_test(t, every_typecode_occurs);
    tcase_add_test(t, a_tree_has_many_encodings);
    tcase_add_test(t, the_deepest_values_occur);
    tcase_add_test(t, the_same_seed_gives_the_same_bytes);
    suite_add_tcase(s, t);
    return s;
}
