/*
 * tests/format/value/test_value_flow.c: the proof of values that flow by in pieces, and the fronts of values. What the
 * proof in one piece says is the truth. [V-4] to [V-10]
 */
#include <u9/value.h>
#include <u9/value_text.h>

#include "format/value/decode.h"
#include "format/value/flow.h"
#include "tests/format/value/value_gen.h"
#include "tests/suites.h"

#include <stdlib.h>
#include <string.h>

static uint8_t room[1 << 16];

/* How many values stand back to back, by their lengths; UINT64_MAX: they do not. */
static uint64_t count_of(const uint8_t *p, size_t size)
{
    u9_walk walk = u9_walk_bytes(p, size);
    u9_value v;
    uint64_t n = 0;
    u9_err err;
    while ((err = u9_walk_next(&walk, &v)) == U9_OK) n++;
    return err == U9_END ? n : UINT64_MAX;
}

/* The verdict on values in pieces of `each` bytes (0: drawn), inside one container; `*at`: where it was refused. */
static u9_err flow_over(rng *r, const uint8_t *p, size_t size, uint64_t count, size_t each, uint64_t *at)
{
    u9i_flow f;
    u9_fault fault = {.offset = 0};
    u9i_flow_init(&f, 1, count, size, room, sizeof room);
    u9_err err = U9_OK;
    for (size_t done = 0, n; done < size && err == U9_OK; done += n) {
        n = each ? each : 1 + (size_t)rng_below(r, 40);
        if (n > size - done) n = size - done;
        err = u9i_flow_take(&f, p + done, n, &fault);
    }
    if (err == U9_OK) err = u9i_flow_end(&f, &fault);
    *at = err == U9_OK ? U9_NOWHERE : fault.offset;
    return err;
}

/* What u9_log_append would say of these values. */
static u9_err truth(const uint8_t *p, size_t size, uint64_t count)
{
    static uint8_t tuple[40000];
    tuple[0] = 0x42;
    u9i_set_be(tuple + 1, 4, size);
    u9i_set_be(tuple + 5, 4, count);
    memcpy(tuple + 9, p, size);
    return u9_value_check(tuple, 9 + size, NULL, NULL);
}

static void expect_same(rng *r, const uint8_t *p, size_t size, uint64_t count)
{
    uint64_t at[3];
    u9_err want = truth(p, size, count);
    u9_err got[] = {flow_over(r, p, size, count, 1, &at[0]), flow_over(r, p, size, count, 0, &at[1]),
                    flow_over(r, p, size, count, size + 1, &at[2])};
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_msg((got[i] == U9_OK) == (want == U9_OK), "%s, not %s", u9_err_name(got[i]), u9_err_name(want));
        ck_assert_uint_eq(at[i], at[0]);
        ck_assert_int_eq(got[i], got[0]);
    }
}

START_TEST(what_flows_by_is_proved_as_what_lies_still)
{
    static uint8_t buf[20000];
    rng r = {7};
    for (unsigned round = 0; round < 3000; round++) {
        size_t size = 0;
        for (uint64_t n = rng_below(&r, 5); n > 0; n--)
            size += value_gen(&r, buf + size, 3000, (unsigned)rng_below(&r, 6));
        uint64_t count = count_of(buf, size);
        ck_assert_uint_ne(count, UINT64_MAX);
        expect_same(&r, buf, size, count);
        expect_same(&r, buf, size, count + 1);
        if (count > 0) expect_same(&r, buf, size, count - 1);
    }
}
END_TEST

START_TEST(one_byte_that_is_another_is_judged_alike)
{
    static uint8_t buf[20000];
    rng r = {8};
    unsigned refused = 0;
    for (unsigned round = 0; round < 20000; round++) {
        size_t size = value_gen(&r, buf, 400, (unsigned)rng_below(&r, 6));
        buf[rng_below(&r, size)] = (uint8_t)rng_next(&r);
        if (rng_below(&r, 3) == 0) size = (size_t)rng_below(&r, size + 1);
        refused += truth(buf, size, 1) != U9_OK;
        expect_same(&r, buf, size, 1);
    }
    ck_assert_uint_gt(refused, 1000);
}
END_TEST

/* [V-8] As deep as in a record, and one deeper. */
START_TEST(nesting_is_bounded_as_in_a_record)
{
    uint8_t buf[2 * U9_DEPTH_MAX];
    rng r = {9};
    for (unsigned deep = U9_DEPTH_MAX - 2; deep <= U9_DEPTH_MAX; deep++) {
        for (unsigned i = 0; i < deep; i++) {
            buf[2 * i] = i + 1 < deep ? 0x49 : 0x48;
            buf[2 * i + 1] = (uint8_t)(2 * (deep - 1 - i));
        }
        uint64_t at;
        u9_err err = flow_over(&r, buf, 2 * deep, 1, 1, &at);
        ck_assert_int_eq(err, deep < U9_DEPTH_MAX ? U9_OK : U9_LIMIT);
        expect_same(&r, buf, 2 * deep, 1);
    }
}
END_TEST

/* [V-8] An array of numbers is a container, too. */
START_TEST(an_array_in_the_deepest_tuple_is_too_deep)
{
    static const uint8_t array[] = {0x46, 0, 0, 0, 9, 0, 0, 0, 1, 0x07, 0, 0, 0, 0, 0, 0, 0, 5};
    uint8_t buf[2 * U9_DEPTH_MAX + sizeof array];
    rng r = {9};
    for (unsigned deep = U9_DEPTH_MAX - 3; deep < U9_DEPTH_MAX; deep++) {
        for (unsigned i = 0; i < deep; i++) {
            buf[2 * i] = 0x49;
            buf[2 * i + 1] = (uint8_t)(2 * (deep - 1 - i) + sizeof array);
        }
        memcpy(buf + 2 * deep, array, sizeof array);
        uint64_t at;
        u9_err err = flow_over(&r, buf, 2 * deep + sizeof array, 1, 64, &at);
        ck_assert_int_eq(err, deep + 1 < U9_DEPTH_MAX ? U9_OK : U9_LIMIT);
        expect_same(&r, buf, 2 * deep + sizeof array, 1);
    }
}
END_TEST

/* Text and arrays of numbers of any size take no memory; an array of tuples above the room is refused. */
START_TEST(what_is_larger_than_the_room_flows_or_is_refused)
{
    static uint8_t buf[1 << 18];
    static const uint8_t heads[][16] = {{0x1e, 0, 3, 0xff, 0xfb}, {0x46, 0, 3, 0xff, 0xf7, 0, 3, 0xff, 0xf6, 0},
                                        {0x46, 0, 3, 0xff, 0xf7, 0, 1, 0xff, 0xfb, 0x49, 2}};
    rng r = {10};
    for (unsigned i = 0; i < 3; i++) {
        memset(buf, 0x80, sizeof buf); /* tuples of one element of two bytes: 00 80 */
        for (size_t k = 11; i == 2 && k < sizeof buf; k += 2) buf[k] = 0x00;
        memcpy(buf, heads[i], i == 0 ? 5 : i == 1 ? 10 : 11);
        ck_assert_int_eq(u9_value_check(buf, sizeof buf, NULL, NULL), i == 2 ? U9_CORRUPT : U9_OK);
        uint64_t at;
        u9_err err = flow_over(&r, buf, sizeof buf, 1, 1000, &at);
        ck_assert_int_eq(err, i == 2 ? U9_CORRUPT : U9_OK);
    }
    u9i_set_be(buf + 1, 4, sizeof buf - 9); /* l = 2 + 2 n */
    u9i_set_be(buf + 5, 4, (sizeof buf - 11 - 1) / 2);
    size_t size = sizeof buf - 1;
    u9i_set_be(buf + 1, 4, size - 9);
    ck_assert_int_eq(u9_value_check(buf, size, NULL, NULL), U9_OK);
    uint64_t at;
    ck_assert_int_eq(flow_over(&r, buf, size, 1, 1000, &at), U9_NOMEM);
    ck_assert_uint_eq(at, 0);
}
END_TEST

/* As `text` says, with one of the last two bytes replaced, or as it is (0). */
static size_t parsed(const char *text, unsigned from_end, uint8_t with, uint8_t *out, size_t cap)
{
    size_t used;
    u9_builder b;
    u9_builder_init(&b, out, cap);
    ck_assert_int_eq(u9_value_parse(text, strlen(text), &used, &b, NULL), U9_OK);
    if (from_end > 0) out[b.size - from_end] = with;
    return b.size;
}

/* [X-1] [V-6] An index is looked at as a whole, and a tuple or an array stands behind it. */
START_TEST(an_index_flows_by_with_what_it_is_of)
{
    uint8_t buf[200], tuple[220];
    rng r = {10};
    uint64_t at;
    static const char *const texts[] = {"cidx('i [uint8:] [int16:]) ()",
                                        "iidx.32('i [uint8:] [int16:]) ()",
                                        "cidx('i [uint8:] [int16:]) [int8: 1 2]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t size = parsed(texts[i], 0, 0, buf, sizeof buf);
        expect_same(&r, buf, size, 1);
        ck_assert_int_eq(flow_over(&r, buf, size, 1, 1, &at), U9_OK);
        tuple[0] = 0x49; /* in a tuple, too */
        tuple[1] = (uint8_t)size;
        memcpy(tuple + 2, buf, size);
        ck_assert_int_eq(flow_over(&r, tuple, size + 2, 1, 3, &at), U9_OK);
    }
    size_t size =
        parsed(texts[0], 2, 0x81, buf, sizeof buf); /* a number, of which there is no index */
    expect_same(&r, buf, size - 1, 1);
    ck_assert_int_eq(flow_over(&r, buf, size - 1, 1, 1, &at), U9_CORRUPT);
    ck_assert_uint_eq(at, size - 2);
}
END_TEST

/* [V-8] It ends where it is said to, neither before nor behind. */
START_TEST(a_flow_ends_where_its_last_value_does)
{
    u9i_flow f;
    u9_fault fault = {.offset = 0};
    const uint8_t text[] = {0x25, 'a', 'b', 'c', 'd', 'e', 0x81};
    u9i_flow_init(&f, 1, 2, sizeof text, room, sizeof room);
    ck_assert_int_eq(u9i_flow_take(&f, text, 3, &fault), U9_OK); /* in the middle of a value */
    ck_assert_int_eq(u9i_flow_end(&f, &fault), U9_TORN);
    u9i_flow_init(&f, 1, 1, sizeof text, room, sizeof room); /* one more than is said */
    u9_err err = u9i_flow_take(&f, text, sizeof text, &fault);
    ck_assert_int_eq(err, U9_CORRUPT);
    ck_assert_str_eq(fault.rule, "V-8");
    u9i_flow_init(&f, 1, 1, 6, room, sizeof room); /* all that was said, and then one more */
    ck_assert_int_eq(u9i_flow_take(&f, text, 6, &fault), U9_OK);
    ck_assert_int_eq(u9i_flow_take(&f, text + 6, 1, &fault), U9_CORRUPT);
    ck_assert_str_eq(fault.rule, "V-8");
}
END_TEST

/* A value's front tells what it is before the rest is there, and no byte behind `size` is looked at. */
START_TEST(a_front_tells_what_the_whole_value_is)
{
    static uint8_t buf[4000];
    rng r = {11};
    for (unsigned round = 0; round < 5000; round++) {
        size_t size = value_gen(&r, buf, sizeof buf, (unsigned)rng_below(&r, 6));
        u9_value whole, front;
        ck_assert_int_eq(u9_value_decode(buf, size, &whole), U9_OK);
        for (size_t n = 0; n <= size; n++) {
            uint8_t *copy = malloc(n ? n : 1); /* a sanitizer sees what is behind */
            memcpy(copy, buf, n);
            u9_err err = u9_value_front(copy, n, size, &front);
            if (u9i_is_index(buf[0]) && n > 0) {
                ck_assert_int_eq(err, U9_LIMIT);
            } else if (err == U9_OK) {
                ck_assert_int_eq(front.type, whole.type);
                ck_assert_uint_eq(front.encoded, whole.encoded);
                ck_assert_uint_eq(front.size, whole.size);
                ck_assert(whole.data == NULL || front.data - copy == whole.data - buf);
            } else {
                ck_assert_int_eq(err, U9_AGAIN);
                ck_assert_uint_lt(n, U9_FRONT_MAX);
            }
            free(copy);
            if (err == U9_OK) break;
            ck_assert_uint_lt(n, size + (err != U9_OK));
        }
    }
}
END_TEST

/* [V-7] */
START_TEST(a_head_is_what_the_builder_writes)
{
    static const uint64_t sizes[] = {0, 1, 15, 16, 255, 256, 65535, 65536};
    static uint8_t text[65536], buf[65536 + 16];
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (unsigned type = U9_UTF8; type <= U9_BYTES; type++) {
            u9_builder b;
            uint8_t head[9];
            size_t size = (size_t)sizes[i], n = u9_value_head((u9_type)type, size, head);
            u9_builder_init(&b, buf, sizeof buf);
            ck_assert_int_eq(type == U9_UTF8 ? u9_build_utf8(&b, text, size) : u9_build_bytes(&b, text, size), U9_OK);
            ck_assert_uint_eq(b.size, n + size);
            ck_assert_mem_eq(head, buf, n);
        }
    }
    uint8_t head[9];
    ck_assert_uint_eq(u9_value_head(U9_BYTES, UINT64_C(5) << 30, head), 9);
    ck_assert_uint_eq(head[0], 0x1f);
    ck_assert_uint_eq(u9i_get_be(head + 1, 8), UINT64_C(5) << 30);
    ck_assert_uint_eq(u9_value_head(U9_TUPLE, 1, head), 0);
    u9_value front;
    ck_assert_int_eq(u9_value_front(head, sizeof head, 0, &front),
                     U9_TORN); /* nothing is left of what there is */
    head[0] = 0x25;            /* a text of five bytes, and less is left */
    ck_assert_int_eq(u9_value_front(head, 1, 5, &front), U9_TORN);
    ck_assert_int_eq(u9_value_front(head, 1, 6, &front), U9_OK);
}
END_TEST

Suite *suite_value_flow(void)
{
    Suite *s = suite_create("value_flow");
    TCase *tc = tcase_create("value_flow");
    tcase_add_test(tc, what_flows_by_is_proved_as_what_lies_still);
    tcase_add_test(tc, one_byte_that_is_another_is_judged_alike);
    tcase_add_test(tc, nesting_is_bounded_as_in_a_record);
    tcase_add_test(tc, an_array_in_the_deepest_tuple_is_too_deep);
    tcase_add_test(tc, what_is_larger_than_the_room_flows_or_is_refused);
    tcase_add_test(tc, an_index_flows_by_with_what_it_is_of);
    tcase_add_test(tc, a_flow_ends_where_its_last_value_does);
    tcase_add_test(tc, a_front_tells_what_the_whole_value_is);
    tcase_add_test(tc, a_head_is_what_the_builder_writes);
    suite_add_tcase(s, tc);
    return s;
}
