/*
 * tests/engine/check/test_salvage.c: what u9_salvage never does to what stands there already. The new log grows
 * under the name OUT.partial: only what proves to be an unfinished one of our own is cleared. {F63} {F68}
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <u9/large.h>

#include <errno.h>
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

/* A record larger than any body, in parts of a MiB. */
static void append_larger(u9_log *w)
{
    enum { SIZE = 17 << 20 };
    u9_append *a;
    uint8_t head[9], *bytes = calloc(1, SIZE);
    size_t n = u9_value_head(U9_BYTES, SIZE, head);
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, n + SIZE, &a, NULL), U9_OK);
    ck_assert_int_eq(u9_append_write(a, head, n), U9_OK);
    ck_assert_int_eq(u9_append_write(a, bytes, SIZE), U9_OK);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    free(bytes);
}

/* Once it is being written, one of its last parts is not what it was, or is not to be read. */
static int decay(void *ctx, uint64_t done, uint64_t of)
{
    int *error = ctx;
    const char *path = segment_path(at("log"), 1);
    uint64_t place = (UINT64_C(16) << 20) + 5000;
    (void)done, (void)of;
    sim_advance(1000000); /* it is told of time and again */
    if (*error < 0 || !exists(segment_path(at("out.partial"), 1))) return 0;
    if (*error == 0) flip_bit(path, place, 1);
    else sim_spoil(path, place / 4096 * 4096, place / 4096 * 4096 + 4096, *error, 0);
    *error = -1;
    return 0;
}

/* [G-1] */
START_TEST(a_large_record_that_decays_while_it_is_saved_is_told_as_lost)
{
    static const struct {
        int error;
        u9_err err;
    } rows[] = {{0, U9_OK}, {EIO, U9_OK}, {ENXIO, U9_IO}};
    u9_options w = small_options();
    w.segment_size = 32 << 20;
    u9_log *log = open_writer(at("log"), &w);
    append_larger(log);
    append_text(log, "behind");
    close_log(log);
    int error = rows[_i].error;
    u9_report r = {.size = sizeof r};
    u9_fault fault;
    uint64_t saved = 0;
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log")), .on_progress = decay, .ctx = &error};
    u9_err err = u9_salvage(at("log"), at("out"), &o, &r, &saved, &fault);
    ck_assert_msg(err == rows[_i].err, "%s: %s", u9_err_name(err), err ? fault.text : "");
    ck_assert_int_eq(error, -1);
    if (err != U9_OK) return;
    ck_assert_uint_ge(r.damages, 1);
    seen *s = look(at("out"));
    ck_assert_uint_eq(s->count, 1);
    ck_assert(has_text(s, "behind"));
    forget(s);
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
    TCase *large = tcase_create("large");
    tcase_add_checked_fixture(large, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(large, 30);
    tcase_add_loop_test(large, a_large_record_that_decays_while_it_is_saved_is_told_as_lost, 0, 3);
    suite_add_tcase(suite, large);
    return suite;
}
