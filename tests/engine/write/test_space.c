/*
 * tests/engine/write/test_space.c: what a log takes of a disk: a refused append leaves nothing behind, [W-6] and
 * what a killed session had reserved is given back by the next one that writes. [S-7]
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The log of a test: paths of the fixture's last for a few calls only. */
static const char *here(void)
{
    static char path[4200];
    snprintf(path, sizeof path, "%s", at("log"));
    return path;
}

static const char *the_first(void)
{
    static char path[4400];
    snprintf(path, sizeof path, "%s", segment_path(here(), 1));
    return path;
}

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
    const char *log = here();
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

/* {F72} */
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

/* {F74} Not what is missing, but what is gone: the name of the segment that is written. */
START_TEST(nothing_is_acknowledged_into_a_file_that_has_lost_its_name) /* [W-6] */
{
    for (unsigned replaced = 0; replaced < 2; replaced++) {
        const char *log = here();
        u9_log *w = open_writer(log, NULL);
        append_text(w, "there");
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        u9_log *again = open_reader(log); /* which still has the file */
        remove_log(the_first());
        if (replaced) write_file(the_first(), "", 0);
        append_text(w, "gone");
        ck_assert_int_eq(u9_log_sync(w), U9_POISONED);
        u9_fault fault;
        u9_log_fault(w, &fault);
        ck_assert_int_eq(fault.sys, replaced ? ESTALE : ENOENT);
        ck_assert_str_eq(fault.rule, "W-6");
        ck_assert_uint_eq(u9_log_durable(w), 1);
        ck_assert_int_eq(u9_log_close(w, NULL), U9_POISONED);
        close_log(again);
        remove_log(log);
    }
}
END_TEST

/* {F74} */
START_TEST(nothing_is_acknowledged_into_a_directory_that_is_not_there_any_more) /* [W-6] */
{
    for (unsigned replaced = 0; replaced < 2; replaced++) {
        char log[3200], away[3300];
        snprintf(log, sizeof log, "%s", at("log"));
        snprintf(away, sizeof away, "%s.away", log);
        u9_log *w = open_writer(log, NULL);
        append_text(w, "there");
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        ck_assert_int_eq(rename(log, away), 0);
        if (replaced) ck_assert_int_eq(mkdir(log, 0755), 0);
        append_text(w, "gone");
        ck_assert_int_eq(u9_log_sync(w), U9_POISONED);
        u9_fault fault;
        u9_log_fault(w, &fault);
        ck_assert_int_eq(fault.sys, replaced ? ESTALE : ENOENT);
        ck_assert_str_eq(fault.rule, "W-6");
        ck_assert_uint_eq(u9_log_durable(w), 1);
        ck_assert_int_eq(u9_log_close(w, NULL), U9_POISONED);
        seen *s = look(away);
        ck_assert(has_text(s, "there"));
        ck_assert_uint_eq(count_damages(s, U9_V_TORN, U9_R_NONE), s->damage_count); /* as of a session that was cut short */
        forget(s);
        remove_log(log);
        remove_log(away);
    }
}
END_TEST

START_TEST(a_log_may_be_opened_by_a_link_and_from_another_directory) /* [W-6] */
{
    char log[3200], link[3300], was[3200];
    snprintf(log, sizeof log, "%s", at("log"));
    snprintf(link, sizeof link, "%s.link", log);
    ck_assert_int_eq(symlink(log, link), 0);
    session(log, "one ", 1, 0);
    u9_log *w = open_writer(link, NULL);
    append_text(w, "two");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    close_log(w);
    ck_assert_ptr_nonnull(getcwd(was, sizeof was));
    snprintf(link + strlen(link), 3, "//"); /* the place is that of the directory, not of the link */
    w = open_writer(link, NULL);
    append_text(w, "two and a half");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    close_log(w);
    link[strlen(link) - 2] = 0;
    ck_assert_int_eq(chdir(at("")), 0);
    w = open_writer("log", NULL);
    ck_assert_int_eq(chdir("/"), 0);
    append_text(w, "three");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    close_log(w);
    ck_assert_int_eq(chdir(was), 0);
    ck_assert_int_eq(unlink(link), 0);
}
END_TEST

START_TEST(a_file_of_somebody_else_is_not_taken_for_the_blank_one) /* [W-6] */
{
    u9_log *w = open_writer(here(), NULL);
    append_text(w, "never");
    sim_remove(the_first());
    write_file(the_first(), "mine", 4);
    sim_fail(SIM_WRITE, 1, ENOSPC, true);
    ck_assert_int_eq(u9_log_close(w, NULL), U9_POISONED);
    ck_assert_uint_eq(file_size(the_first()), 4);
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

/* Reservations of the killed */

static uint64_t space_of(const char *log)
{
    uint64_t n = 0;
    for (uint64_t k = 1; k <= segments_in(log); k++) n += file_size(segment_path(log, k));
    return n;
}

static void killed_session(const char *log)
{
    u9_log *w = open_writer(log, NULL);
    append_many(w, "killed ", 5, 1);
    crash(w, log);
}

/* {F72} */
START_TEST(what_killed_sessions_reserved_is_given_back) /* [S-7] */
{
    const char *log = here();
    uint8_t before[16];
    for (unsigned i = 0; i < 30; i++) {
        killed_session(log);
        ck_assert_uint_lt(space_of(log), (16 << 20) + (i + 2) * 65536); /* of one at a time */
        picture(log, before);
        close_log(open_writer(log, NULL)); /* opening, and a session without an append, change nothing */
        expect_untouched(log, before);
    }
    session(log, "last ", 1, 0);
    ck_assert_uint_lt(space_of(log), 31 * 65536);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 151);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
    forget(s);
}
END_TEST

START_TEST(nothing_is_given_back_before_the_u9open_is_durable) /* [S-7] [W-3] */
{
    const char *log = here();
    killed_session(log);
    uint64_t size = file_size(segment_path(log, 1));
    sim_forget_diary();
    u9_log *w = open_writer(log, NULL);
    append_text(w, "one");
    ck_assert_uint_eq(file_size(segment_path(log, 1)), size);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_uint_lt(file_size(segment_path(log, 1)), size);
    const sim_op *cut = sim_find(SIM_TRUNCATE, 1, U9_NOWHERE);
    ck_assert_uint_gt(sim_durable(2, cut->began), 32);
    close_log(w);
}
END_TEST

START_TEST(a_cut_that_fails_is_nobodys_error) /* [S-7] */
{
    static const sim_kind kinds[] = {SIM_TRUNCATE, SIM_LOCK, SIM_OPEN, SIM_READ, SIM_SIZE};
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const char *log = here();
        killed_session(log);
        u9_log *w = open_writer(log, NULL);
        append_text(w, "one");
        sim_fail(kinds[i], kinds[i] == SIM_LOCK ? 1 : 1, EIO, false);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        ck_assert_uint_eq(sim_fired(), 1 + i);
        sim_mend();
        close_log(w);
    }
}
END_TEST

/* The first damage that is told of the first segment, when it is the last of the log. */
typedef struct told {
    u9_verdict verdict;
    u9_reason reason;
    uint64_t begin, lost;
    size_t count, records;
} told;

static told tell(const char *log)
{
    seen *s = look(log);
    told t = {.count = s->damage_count, .records = s->count};
    if (t.count > 0) {
        t.verdict = s->damages[0].verdict;
        t.reason = s->damages[0].reason;
        t.begin = s->damages[0].begin;
        t.lost = s->damages[0].lost;
    }
    forget(s);
    return t;
}

/* Behind the last frame stand `size` bytes of a torn one, or of anything, and then what was reserved. */
START_TEST(no_verdict_changes_by_what_is_given_back) /* [S-7] */
{
    static const size_t sizes[] = {0, 1, 16, 63, 64, 500, 512, 4000, 4032, 4033, 4095, 4096, 5000, 20000};
    const char *log = here(), *first = the_first();
    for (unsigned i = 0; i < 3 * sizeof sizes / sizeof sizes[0]; i += thorough(2, 1)) {
        size_t size = sizes[i / 3];
        killed_session(log);
        uint64_t offsets[100], end;
        size_t n = frame_offsets(first, offsets, 100);
        uint8_t *whole = read_file(first, &(size_t){0});
        for (end = offsets[n - 1] + 4096; whole[end - 1] == 0 && end > offsets[n - 1]; end--) continue;
        end = (end + 4095) / 4096 * 4096;
        if (i % 3 == 1) put_bytes(first, end, whole + offsets[n - 1], size < 64 ? size : 64); /* a copied header */
        if (i % 3 != 1 && size > 0) fill_bytes(first, end, size, 'x');
        if (i % 3 == 2 && size > 100) fill_bytes(first, end + size / 2, size / 4, 0);
        free(whole);
        told before = tell(log);
        uint64_t reserved = file_size(first);
        session(log, "next ", 1, 0);
        ck_assert_uint_lt(file_size(first), reserved);
        sim_remove(segment_path(log, 2));
        remove_mark(log); /* of the session that is gone */
        told after = tell(log);
        ck_assert_int_eq(after.verdict, before.verdict);
        ck_assert_int_eq(after.reason, before.reason);
        ck_assert_uint_eq(after.begin, before.begin);
        ck_assert_uint_eq(after.lost, before.lost);
        ck_assert_uint_eq(after.count, before.count);
        ck_assert_uint_eq(after.records, before.records);
        remove_log(log);
    }
}
END_TEST

/* A file that does not end with whole blocks, or is foreign, is not as a writer left it. */
START_TEST(what_is_not_known_to_be_a_reservation_stays) /* [S-7] */
{
    const char *log = here(), *first = the_first();
    killed_session(log);
    uint64_t size = file_size(first) + 100;
    extend_file(first, size);
    session(log, "next ", 1, 0);
    ck_assert_uint_eq(file_size(first), size);
}
END_TEST

/* Holes are zeros without being read: a terabyte of them takes no time. */
START_TEST(a_hole_of_a_terabyte_is_given_back_unread) /* [S-7] */
{
    const char *log = at("log");
    session(log, "first ", 3, 0);
    write_file(segment_path(log, 9), "", 0);
    extend_file(segment_path(log, 9), UINT64_C(1) << 40);
    session(log, "next ", 1, 0);
    ck_assert_uint_eq(file_size(segment_path(log, 9)), 0);
    extend_file(segment_path(log, 9), UINT64_C(1) << 40);
    put_bytes(segment_path(log, 9), 5 << 20, "1", 1); /* data in the midst of it are found */
    session(log, "last ", 1, 0);
    ck_assert_uint_eq(file_size(segment_path(log, 9)), (5 << 20) + 4096);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 5);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
    forget(s);
}
END_TEST

/* The same on real files, where the writer is a process and is killed. */
START_TEST(a_killed_process_keeps_no_blocks) /* [S-7] */
{
    const char *log = here(), *first = the_first();
    struct stat st;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        u9_log *w = open_writer(log, NULL);
        append_many(w, "killed ", 5, 1);
        (void)kill(getpid(), SIGKILL);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(stat(first, &st), 0);
    int64_t blocks = st.st_blocks; /* few, where the file system cannot reserve */
    session(log, "next ", 1, 0);
    ck_assert_int_eq(stat(first, &st), 0);
    ck_assert_int_lt(st.st_size, 65536);
    ck_assert_int_le(st.st_blocks, blocks);
    ck_assert_int_lt(st.st_blocks, 65536 / 512 * 2);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 6);
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
    tcase_add_test(refused, a_file_of_somebody_else_is_not_taken_for_the_blank_one);
    tcase_add_test(refused, nothing_is_acknowledged_into_a_file_that_has_lost_its_name);
    suite_add_tcase(suite, refused);

    TCase *reserved = tcase_create("reserved");
    tcase_add_checked_fixture(reserved, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(reserved, 120);
    tcase_add_test(reserved, what_killed_sessions_reserved_is_given_back);
    tcase_add_test(reserved, nothing_is_given_back_before_the_u9open_is_durable);
    tcase_add_test(reserved, a_cut_that_fails_is_nobodys_error);
    tcase_add_test(reserved, no_verdict_changes_by_what_is_given_back);
    tcase_add_test(reserved, what_is_not_known_to_be_a_reservation_stays);
    suite_add_tcase(suite, reserved);

    TCase *real = tcase_create("real");
    tcase_add_checked_fixture(real, fixture_setup, fixture_teardown);
    tcase_set_timeout(real, 60);
    tcase_add_test(real, a_killed_process_keeps_no_blocks);
    tcase_add_test(real, a_hole_of_a_terabyte_is_given_back_unread);
    tcase_add_test(real, nothing_is_acknowledged_into_a_file_that_has_lost_its_name);
    tcase_add_test(real, nothing_is_acknowledged_into_a_directory_that_is_not_there_any_more);
    tcase_add_test(real, a_log_may_be_opened_by_a_link_and_from_another_directory);
    suite_add_tcase(suite, real);
    return suite;
}
