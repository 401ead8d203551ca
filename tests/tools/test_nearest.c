/*
 * tests/tools/test_nearest.c: how far words are from each other, and which one was meant.
 */
#include "tools/nearest.h"

#include "tests/suites.h"

#include <stdint.h>
#include <string.h>

START_TEST(each_kind_of_slip_counts_once)
{
    ck_assert_uint_eq(tool_distance("append", "append"), 0);
    ck_assert_uint_eq(tool_distance("apend", "append"), 1);   /* left out */
    ck_assert_uint_eq(tool_distance("appennd", "append"), 1); /* too much */
    ck_assert_uint_eq(tool_distance("appemd", "append"), 1);  /* another */
    ck_assert_uint_eq(tool_distance("apepnd", "append"), 1);  /* swapped */
    ck_assert_uint_eq(tool_distance("APPEND", "append"), 0);  /* case */
    ck_assert_uint_eq(tool_distance("", "cat"), 3);
    ck_assert_uint_eq(tool_distance("cat", ""), 3);
    ck_assert_uint_eq(tool_distance("kitten", "sitting"), 3);
}
END_TEST

START_TEST(words_too_long_to_be_slips_are_far_from_all)
{
    char word[201];
    memset(word, 'a', 200);
    word[200] = '\0';
    ck_assert_uint_eq(tool_distance(word, "cat"), 200);
    ck_assert_uint_eq(tool_distance("cat", word), 200);
    word[64] = '\0';
    ck_assert_uint_eq(tool_distance(word, word), 64);
    word[63] = '\0';
    ck_assert_uint_eq(tool_distance(word, word), 0);
}
END_TEST

static const char *meant(const char *word)
{
    static const char *const names[] = {"append", "cat",          "get",  "snapshot",
                                        "send",   "segment-size", "range"};
    const char *found = "none";
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (tool_is_nearer(word, names[i], &best)) found = names[i];
    return found;
}

START_TEST(the_nearest_name_is_meant)
{
    ck_assert_str_eq(meant("apend"), "append");
    ck_assert_str_eq(meant("ct"), "cat");
    ck_assert_str_eq(meant("sned"), "send");
    ck_assert_str_eq(meant("Get"), "get");
    ck_assert_str_eq(meant("segmentsize"), "segment-size");
}
END_TEST

START_TEST(among_words_the_first_option_that_is_none_is_found)
{
    static const struct argp_option options[] = {
        {"limit", 'n', "N", 0, NULL, 0}, {NULL, 0, NULL, 0, "a heading", 1}, {"follow", 'f', NULL, 0, NULL, 1}, {0}};
    char u9[] = "u9", value[] = "--limi", slip[] = "--folow=3", dashes[] = "--", limit[] = "--limit", letters[] = "-fn",
         help[] = "--hel", far[] = "--zzzzzz", said[TOOL_OPTION_SIZE];
    ck_assert_str_eq(tool_meant_option(options, (char *[]){u9, slip, NULL}, said), "follow");
    ck_assert_str_eq(said, "folow");
    ck_assert_ptr_null(tool_meant_option(options, (char *[]){u9, dashes, slip, NULL}, said));
    ck_assert_ptr_null(tool_meant_option(options, (char *[]){u9, value, slip, NULL}, said)); /* its argument */
    ck_assert_ptr_null(tool_meant_option(options, (char *[]){u9, letters, slip, NULL}, said));
    ck_assert_ptr_null(tool_meant_option(options, (char *[]){u9, limit, slip, help, far, NULL}, said));
}
END_TEST

START_TEST(a_beginning_is_meant_too)
{
    ck_assert_str_eq(meant("snap"), "snapshot");
    ck_assert_str_eq(meant("seg"), "segment-size");
}
END_TEST

START_TEST(nothing_is_guessed_from_afar)
{
    ck_assert_str_eq(meant("list"), "none");
    ck_assert_str_eq(meant("s"), "none");
    ck_assert_str_eq(meant(""), "none");
    ck_assert_str_eq(meant("find"), "none");
}
END_TEST

Suite *suite_nearest(void)
{
    Suite *suite = suite_create("nearest");
    TCase *tcase = tcase_create("nearest");
    tcase_add_test(tcase, among_words_the_first_option_that_is_none_is_found);
    tcase_add_test(tcase, each_kind_of_slip_counts_once);
    tcase_add_test(tcase, words_too_long_to_be_slips_are_far_from_all);
    tcase_add_test(tcase, the_nearest_name_is_meant);
    tcase_add_test(tcase, a_beginning_is_meant_too);
    tcase_add_test(tcase, nothing_is_guessed_from_afar);
    suite_add_tcase(suite, tcase);
    return suite;
}
