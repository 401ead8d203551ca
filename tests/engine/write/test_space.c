/*
 * tests/engine/write/test_space.c: what a log takes of a disk: a refused append leaves nothing behind. [W-6]
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static u9_err try_bytes(u9_log *w, size_t size)
{
    uint8_t *values = calloc(1, size + 16), *bytes = calloc(1, size + 1);
    u9_builder b;
    u9_builder_init(&b, values, size + 16);
    ck_assert_int_eq(u9_build_bytes(&b, bytes, size), U9_OK);
    u9_err err = u9_log_append(w, NULL, values, b.size, NULL);
    free(bytes);
    free(values);
    return err;
}

/* Nothing in the log's directory has changed. */
static void expect_untouched(const char *log, const uint8_t before[16])
{
    uint8_t after[16];
    picture(log, after);
    ck_assert_mem_eq(before, after, 16);
}

/* There is no room from the nth call of this kind on. */
static void refuse(sim_kind kind, unsigned nth, int error, size_t size)
{
    const char *log = at("log");
    u9_options o = small_options();
    uint8_t before[16];
    picture(log, before);
    u9_log *w = open_writer(log, &o);
    sim_fail(kind, nth, error, true);
    ck_assert_int_eq(try_bytes(w, size), U9_IO);
    ck_assert_int_eq(try_bytes(w, size), U9_IO); /* and once more */
    sim_mend();
    expect_untouched(log, before);
    close_log(w);
    expect_untouched(log, before);
}

static void leave_unclosed(const char *log)
{
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    append_many(w, "unclosed ", 5, 1);
    crash(w, log);
}

START_TEST(a_session_whose_appends_are_refused_leaves_the_log_as_it_was) /* [W-6] */
{
    static const int errors[] = {ENOSPC, EDQUOT, EFBIG};
    session(at("log"), "closed ", 5, 0);
    for (unsigned unclosed = 0; unclosed < 2; unclosed++) {
        for (unsigned i = 0; i < 3; i++) {
            refuse(SIM_RESERVE, 1, errors[i], 1);
            refuse(SIM_RESERVE, 2, errors[i], 200000); /* there was room for the file, and none for the record */
            if (unclosed) refuse(SIM_CREATE, 1, errors[i], 1);
        }
        leave_unclosed(at("log"));
    }
}
END_TEST

START_TEST(many_refused_appends_leave_no_file) /* [W-6] */
{
    leave_unclosed(at("log"));
    unsigned files = segments_in(at("log"));
    for (unsigned i = 0; i < 1500; i++) {
        u9_log *w = open_writer(at("log"), NULL);
        sim_fail(SIM_RESERVE, 1, ENOSPC, true);
        ck_assert_int_eq(try_bytes(w, 1), U9_IO);
        sim_mend();
        close_log(w);
    }
    ck_assert_uint_eq(segments_in(at("log")), files);
}
END_TEST

/* Not for want of room: a record that cannot be made, behind a file that could. */
START_TEST(a_first_append_that_is_refused_for_itself_leaves_the_log_as_it_was) /* [W-6] */
{
    uint8_t before[16];
    for (unsigned unclosed = 0; unclosed < 2; unclosed++) {
        session(at("log"), "closed ", 3, 0);
        if (unclosed) leave_unclosed(at("log"));
        picture(at("log"), before);
        size_t nowhere = 100;
        u9_entry entry = {.values = "", .size = 0, .refs = &nowhere, .ref_count = 1};
        u9_log *w = open_writer(at("log"), NULL);
        ck_assert_int_eq(u9_log_append_batch(w, &entry, 1, NULL), U9_ARG);
        expect_untouched(at("log"), before);
        append_text(w, "and then"); /* it goes on as if it had not been */
        ck_assert_int_eq(u9_log_append_batch(w, &entry, 1, NULL), U9_ARG);
        close_log(w);
        seen *s = look(at("log"));
        ck_assert(has_text(s, "and then"));
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
        forget(s);
    }
}
END_TEST

START_TEST(a_roll_that_finds_no_room_for_the_record_leaves_no_file) /* [W-6] [S-6] */
{
    u9_options o = small_options();
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(try_bytes(w, 40000), U9_OK); /* the segment is full then */
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    ck_assert_uint_eq(segments_in(at("log")), 1);
    sim_fail(SIM_RESERVE, 1, ENOSPC, true);
    for (unsigned i = 0; i < 3; i++) ck_assert_int_eq(try_bytes(w, 200000), U9_IO);
    ck_assert_uint_eq(segments_in(at("log")), 1);
    sim_mend();
    ck_assert_int_eq(try_bytes(w, 200000), U9_OK);
    ck_assert_uint_eq(segments_in(at("log")), 2);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

/* Where space cannot be reserved, the writes find the disk full. */
START_TEST(a_session_of_which_nothing_is_written_leaves_no_file) /* [W-6] */
{
    uint8_t before[16];
    leave_unclosed(at("log"));
    picture(at("log"), before);
    u9_log *w = open_writer(at("log"), NULL);
    sim_fail(SIM_WRITE, 1, ENOSPC, true);
    append_text(w, "never");
    ck_assert_int_eq(u9_log_sync(w), U9_POISONED);
    ck_assert_int_eq(u9_log_close(w, NULL), U9_POISONED);
    sim_mend();
    expect_untouched(at("log"), before);
}
END_TEST

START_TEST(a_name_that_cannot_be_taken_back_is_in_nobodys_way) /* [W-6] [L-4] */
{
    leave_unclosed(at("log"));
    unsigned files = segments_in(at("log"));
    u9_log *w = open_writer(at("log"), NULL);
    sim_fail(SIM_RESERVE, 1, ENOSPC, true);
    sim_fail(SIM_REMOVE, 1, EACCES, false);
    ck_assert_int_eq(try_bytes(w, 1), U9_IO);
    close_log(w);
    sim_mend();
    ck_assert_uint_eq(segments_in(at("log")), files + 1);
    session(at("log"), "behind ", 1, 0);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 6);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
    forget(s);
}
END_TEST

Suite *suite_space(void)
{
    Suite *suite = suite_create("space");
    TCase *refused = tcase_create("refused");
    tcase_add_checked_fixture(refused, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(refused, 120);
    tcase_add_test(refused, a_session_whose_appends_are_refused_leaves_the_log_as_it_was);
    tcase_add_test(refused, many_refused_appends_leave_no_file);
    tcase_add_test(refused, a_first_append_that_is_refused_for_itself_leaves_the_log_as_it_was);
    tcase_add_test(refused, a_roll_that_finds_no_room_for_the_record_leaves_no_file);
    tcase_add_test(refused, a_session_of_which_nothing_is_written_leaves_no_file);
    tcase_add_test(refused, a_name_that_cannot_be_taken_back_is_in_nobodys_way);
    suite_add_tcase(suite, refused);
    return suite;
}
