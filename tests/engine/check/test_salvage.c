/*
 * tests/engine/check/test_salvage.c: what u9_salvage never does to what stands there already. The new log grows
 * under the name OUT.partial: only what proves to be an unfinished one of our own is cleared. {F63} {F68}
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static u9_err salvage(const char *from, const char *to, u9_fault *fault)
{
    u9_report report = {.size = sizeof report};
    uint64_t salvaged;
    return u9_salvage(at(from), at(to), NULL, &report, &salvaged, fault);
}

static size_t records_in(const char *log)
{
    seen *s = look(at(log));
    ck_assert_int_eq(s->err, U9_OK);
    size_t n = s->count;
    forget(s);
    return n;
}

/* The same bytes are there afterwards, and the fault names them. */
static void expect_untouched(const char *from, const char *to, const char *victim)
{
    uint8_t before[16], after[16];
    u9_fault fault = {0};
    picture(at(victim), before);
    ck_assert_int_eq(salvage(from, to, &fault), U9_ARG);
    ck_assert_msg(strstr(fault.path, ".partial") != NULL, "%s: %s", fault.path, fault.text);
    picture(at(victim), after);
    ck_assert_mem_eq(before, after, sizeof before);
    ck_assert(!exists(at(to)));
}

/* {F68} */
START_TEST(a_source_of_the_partial_name_is_not_cleared)
{
    session(at("log.partial"), "r", 100, 0);
    expect_untouched("log.partial", "log", "log.partial");
    ck_assert_uint_eq(records_in("log.partial"), 100);
    expect_untouched("log.partial/", "log", "log.partial");
    expect_untouched("log.partial/0000000000000001.u9", "log", "log.partial");
}
END_TEST

/* {F68} */
START_TEST(a_link_to_a_log_is_not_followed_and_cleared)
{
    session(at("precious"), "r", 10, 0);
    session(at("source"), "r", 5, 0);
    sim_needed("a link");
    ck_assert_int_eq(symlink("precious", at("out.partial")), 0);
    expect_untouched("source", "out", "precious");
    ck_assert_uint_eq(records_in("precious"), 10);
}
END_TEST

/* {F68} */
START_TEST(a_log_or_a_folder_or_a_file_of_that_name_is_not_cleared)
{
    session(at("source"), "r", 5, 0);
    session(at("other.partial"), "r", 10, 0);
    expect_untouched("source", "other", "other.partial");
    make_dir(at("folder.partial"));
    write_file(at("folder.partial/notes"), "mine", 4);
    expect_untouched("source", "folder", "folder.partial");
    write_file(at("file.partial"), "mine", 4);
    u9_fault fault;
    ck_assert_int_eq(salvage("source", "file", &fault), U9_ARG);
    ck_assert_uint_eq(file_size(at("file.partial")), 4);
}
END_TEST

/* What an interrupted run leaves: its mark, and some segments. */
static void leave_unfinished(const char *partial)
{
    session(at(partial), "half", 3, 0);
    char path[64];
    snprintf(path, sizeof path, "%s/.u9-unfinished", partial);
    write_file(at(path), "", 0);
}

/* {F63} */
START_TEST(what_an_interrupted_run_left_is_replaced)
{
    session(at("source"), "r", 5, 0);
    leave_unfinished("out.partial");
    u9_fault fault = {0};
    ck_assert_msg(salvage("source", "out", &fault) == U9_OK, "%s", fault.text);
    ck_assert_uint_eq(records_in("out"), 5);
    ck_assert(!exists(at("out.partial")));
    ck_assert(!exists(at("out/.u9-unfinished")));
}
END_TEST

/* [G-5] {F63} It was killed when its folder was there, and the mark in it not yet. */
START_TEST(an_empty_folder_is_what_an_interrupted_run_may_have_left)
{
    session(at("source"), "r", 5, 0);
    make_dir(at("out.partial"));
    u9_fault fault = {0};
    ck_assert_msg(salvage("source", "out", &fault) == U9_OK, "%s", fault.text);
    ck_assert_uint_eq(records_in("out"), 5);
    ck_assert(!exists(at("out.partial")));
}
END_TEST

START_TEST(what_an_interrupted_run_left_of_more_branches_goes_too)
{
    session(at("source"), "r", 5, 0);
    leave_unfinished("out.fork-2.partial");
    leave_unfinished("out.fork-3.partial");
    leave_unfinished("out.fork-4.partial");
    write_file(at("out.fork-4.partial/notes"), "mine", 4);
    u9_fault fault = {0};
    ck_assert_msg(salvage("source", "out", &fault) == U9_OK, "%s", fault.text);
    ck_assert_uint_eq(records_in("out"), 5);
    ck_assert(!exists(at("out.fork-2.partial")));
    ck_assert(!exists(at("out.fork-3.partial")));
    ck_assert_uint_eq(file_size(at("out.fork-4.partial/notes")), 4); /* that one is somebody's */
    ck_assert_uint_eq(records_in("out.fork-4.partial"), 3);
}
END_TEST

START_TEST(an_unfinished_output_with_something_else_in_it_is_not_cleared)
{
    session(at("source"), "r", 5, 0);
    leave_unfinished("out.partial");
    write_file(at("out.partial/notes"), "mine", 4);
    expect_untouched("source", "out", "out.partial");
}
END_TEST

/* {F63} */
START_TEST(an_unfinished_output_can_be_a_source_but_not_of_itself)
{
    leave_unfinished("out.partial");
    expect_untouched("out.partial", "out", "out.partial");
    expect_untouched("out.partial/0000000000000001.u9", "out", "out.partial");
    u9_fault fault = {0};
    ck_assert_msg(salvage("out.partial", "elsewhere", &fault) == U9_OK, "%s", fault.text);
    ck_assert_uint_eq(records_in("elsewhere"), 3);
}
END_TEST

Suite *suite_salvage(void)
{
    Suite *suite = suite_create("salvage");
    TCase *tc = tcase_create("salvage");
    tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
    tcase_add_test(tc, a_source_of_the_partial_name_is_not_cleared);
    tcase_add_test(tc, a_link_to_a_log_is_not_followed_and_cleared);
    tcase_add_test(tc, a_log_or_a_folder_or_a_file_of_that_name_is_not_cleared);
    tcase_add_test(tc, what_an_interrupted_run_left_is_replaced);
    tcase_add_test(tc, an_empty_folder_is_what_an_interrupted_run_may_have_left);
    tcase_add_test(tc, what_an_interrupted_run_left_of_more_branches_goes_too);
    tcase_add_test(tc, an_unfinished_output_with_something_else_in_it_is_not_cleared);
    tcase_add_test(tc, an_unfinished_output_can_be_a_source_but_not_of_itself);
    suite_add_tcase(suite, tc);
    return suite;
}
