/*
 * tests/format/frame/test_range_line.c: the line of a range: what is refused of one, and the field that is named
 * then. [P-5] What it shares with the line of a mark is tried there.
 */
#include "tests/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <u9/scan.h>

static u9_split_range range;
static char line[U9_SPLIT_LINE_SIZE];
static u9_fault fault;

static void make_range(void)
{
    range = (u9_split_range){.number = 2, .count = 5, .from = {.segment = 3, .offset = 4096},
                             .to = {.segment = 12, .offset = 1234567}};
    memset(range.log, 0xa7, 16);
    memset(range.from.boundary, 0x11, 16);
    memset(range.to.boundary, 0x22, 16);
    u9_split_format(&range, line);
}

static u9_err parse(const char *text)
{
    u9_split_range out, before;
    memset(&out, 0x55, sizeof out);
    before = out;
    u9_err err = u9_split_parse(text, strlen(text), &out, &fault);
    ck_assert_mem_eq(&out, err == U9_OK ? &range : &before, sizeof out);
    return err;
}

START_TEST(a_range_comes_back_as_it_was)
{
    ck_assert_str_eq(line, "u9range1 a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7 2 5 3 11111111111111111111111111111111 4096 12 "
                           "22222222222222222222222222222222 1234567 f2652afc");
    ck_assert_int_eq(parse(line), U9_OK);
    strcat(line, "\n");
    ck_assert_int_eq(parse(line), U9_OK);
}
END_TEST

START_TEST(a_line_has_room_for_all_numbers)
{
    memset(&range, 0xff, sizeof range);
    ck_assert_uint_lt(strlen(u9_split_format(&range, line)), U9_SPLIT_LINE_SIZE);
}
END_TEST

START_TEST(a_line_that_was_cut_or_changed_is_refused)
{
    size_t size = strlen(line);
    u9_split_range out;
    for (size_t i = 0; i < size; i++) {
        ck_assert_int_eq(u9_split_parse(line, i, &out, &fault), U9_ARG);
        line[i] ^= 1;
        u9_err err = u9_split_parse(line, size, &out, &fault);
        ck_assert(err == U9_ARG || (i == 7 && err == U9_VERSION));
        ck_assert_str_eq(fault.rule, "P-5");
        line[i] ^= 1;
    }
    ck_assert_int_eq(u9_split_parse(line, size - 1, &out, &fault), U9_ARG);
    ck_assert_int_eq(parse("u9range2 of whatever form"), U9_VERSION);
    ck_assert_int_eq(parse("u9mark1 x"), U9_ARG);
}
END_TEST

/* The range as it is now is none. */
static void expect_refused(const char *name)
{
    u9_split_range out;
    u9_split_format(&range, line);
    ck_assert_int_eq(u9_split_parse(line, strlen(line), &out, &fault), U9_ARG);
    ck_assert_msg(strstr(fault.text, name) != NULL, "%s", fault.text);
    make_range();
}

START_TEST(a_range_that_cannot_be_is_refused_with_its_check_right)
{
    range.number = 0;
    expect_refused("number");
    range.number = 6;
    expect_refused("number");
    range.number = range.count = 0;
    expect_refused("number");
    range.from.offset = (UINT64_C(1) << 43) + 1;
    expect_refused("begin");
    range.to.offset = UINT64_MAX;
    expect_refused("end");
    range.from.segment = 13;
    expect_refused("end");
    range.from.segment = 12, range.from.offset = 1234568;
    expect_refused("end");
}
END_TEST

Suite *suite_range_line(void)
{
    Suite *suite = suite_create("range_line");
    TCase *t = tcase_create("range_line");
    tcase_add_checked_fixture(t, make_range, NULL);
    tcase_add_test(t, a_range_comes_back_as_it_was);
    tcase_add_test(t, a_line_has_room_for_all_numbers);
    tcase_add_test(t, a_line_that_was_cut_or_changed_is_refused);
    tcase_add_test(t, a_range_that_cannot_be_is_refused_with_its_check_right);
    suite_add_tcase(suite, t);
    return suite;
}
