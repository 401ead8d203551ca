/*
 * tests/engine/log/test_catalog.c: the files of a log as they are listed and looked at: while they change, where no file
 * stands, or a name is told twice; and where a session goes on behind them, or why it does not. [L-1] [L-4] [L-9]
 */
#include "engine/log/catalog.h"
#include "engine/log/mark.h"
#include "engine/log/succession.h"
#include "tests/engine/log/trimmed.h"
#include "tests/suites.h"

#include <u9/cursor.h>
#include <u9/trim.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, SEGMENTS = 4, EACH = 3 };

static u9_fault fault;

/* Segments 1 to 4 of three records each; the last one is closed. */
static void make_four(void)
{
    forged_segment before = {0};
    for (unsigned i = 1; i <= SEGMENTS; i++) {
        forged_segment s = forge_begin(i, i, i > 1 ? &before : NULL, U9I_TAIL_ROLLED);
        forge_records(&s, "r", EACH);
        forge_promise(&s);
        forge_free(&before);
        before = s;
        if (i == SEGMENTS) forge_end(&s, U9I_END_CLOSING);
        forge_save(&s, at("log"));
    }
    forge_free(&before);
}

static unsigned damages_told;

static void note_damage(void *ctx, const u9_damage *d)
{
    (void)ctx;
    damages_told += d->verdict > U9_V_TORN;
}

static u9_log *open_told(const char *path)
{
    u9_log *log;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(path), .on_damage = note_damage};
    u9_err err = u9_log_open(path, &o, &log, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    return log;
}

/* How many records a new cursor shows. */
static unsigned shown(u9_log *log)
{
    u9_cursor *c;
    u9_record r;
    u9_err err;
    unsigned n = 0;
    damages_told = 0;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, &fault), U9_OK);
    while ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_CORRUPT) n += err == U9_OK;
    ck_assert_int_eq(err, U9_END);
    u9_cursor_close(c);
    return n;
}

static unsigned listed;

/* Now segment 2 is away, now segment 3. */
static void take_turns(unsigned nth)
{
    listed = nth;
    remove_log(segment_path(at("log"), 2 + nth % 2));
    sim_copy(nth % 2 ? at("two") : at("three"), segment_path(at("log"), 3 - nth % 2));
}

START_TEST(a_log_that_is_another_at_each_look_is_shown_as_it_was_at_the_last) /* */
{
    make_four();
    sim_copy(segment_path(at("log"), 2), at("two"));
    sim_copy(segment_path(at("log"), 3), at("three"));
    sim_before_list(take_turns);
    u9_log *log = open_told(at("log"));
    sim_before_list(NULL);
    ck_assert_uint_ge(listed, 200);
    ck_assert_uint_eq(shown(log), EACH * (SEGMENTS - 1));
    ck_assert_uint_eq(damages_told, 1);
    close_log(log);
}
END_TEST

START_TEST(a_segment_that_comes_back_is_read_by_the_next_cursor) /* */
{
    make_four();
    move_file(segment_path(at("log"), 2), at("two"));
    u9_log *log = open_told(at("log"));
    ck_assert_uint_eq(shown(log), EACH * (SEGMENTS - 1));
    move_file(at("two"), segment_path(at("log"), 2));
    ck_assert_uint_eq(shown(log), EACH * SEGMENTS);
    ck_assert_uint_eq(damages_told, 0);
    close_log(log);
}
END_TEST

/* What tells that it is a copy is all that it has, and all that the other has: to read both at each look would take long. */
START_TEST(a_copy_whose_u9open_is_damaged_is_read_again_only_when_something_changed) /* [L-2] */
{
    make_four();
    const char *copy = segment_path(at("log"), 0x10);
    sim_copy(segment_path(at("log"), 1), copy);
    fill_bytes(copy, 100, 1, 0x55);
    u9_log *log = open_told(at("log"));
    ck_assert_uint_eq(shown(log), EACH * SEGMENTS);
    unsigned reads = sim_count_of(SIM_READ, copy);
    ck_assert_uint_gt(reads, 0);
    for (int i = 0; i < 3; i++) ck_assert_uint_eq(shown(log), EACH * SEGMENTS);
    ck_assert_uint_eq(sim_count_of(SIM_READ, copy), reads);
    move_file(segment_path(at("log"), 1), at("one"));
    ck_assert_uint_eq(shown(log), EACH * SEGMENTS); /* of the copy, now */
    ck_assert_uint_gt(sim_count_of(SIM_READ, copy), reads);
    move_file(at("one"), segment_path(at("log"), 1));
    ck_assert_uint_eq(shown(log), EACH * SEGMENTS);
    close_log(log);
}
END_TEST

/* So is what says that a segment which is missing was not trimmed: it may stand anywhere in the others. */
START_TEST(a_log_that_lacks_a_segment_is_read_again_only_when_something_changed) /* [L-2] */
{
    make_four();
    move_file(segment_path(at("log"), 2), at("two"));
    u9_log *log = open_told(at("log"));
    unsigned reads = sim_count_of(SIM_READ, segment_path(at("log"), 3));
    ck_assert_uint_gt(reads, 0);
    for (int i = 0; i < 3; i++) {
        u9_cursor *c;
        ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
        u9_cursor_close(c);
    }
    ck_assert_uint_eq(sim_count_of(SIM_READ, segment_path(at("log"), 3)), reads);
    ck_assert_uint_eq(shown(log), EACH * (SEGMENTS - 1));
    ck_assert_uint_eq(damages_told, 1);
    move_file(at("two"), segment_path(at("log"), 2));
    ck_assert_uint_eq(shown(log), EACH * SEGMENTS);
    ck_assert_uint_eq(damages_told, 0);
    close_log(log);
}
END_TEST

typedef struct twice {
    u9i_list_fn *each;
    void *ctx;
} twice;

static int tell_twice(void *ctx, const char *name)
{
    const twice *t = ctx;
    int stop = t->each(t->ctx, name);
    return stop ? stop : t->each(t->ctx, name);
}

static int list_twice(u9i_dir *dir, u9i_list_fn *each, void *ctx)
{
    return sim_env()->fs->list(dir, tell_twice, &(twice){each, ctx});
}

START_TEST(a_name_that_is_listed_twice_is_one_segment) /* [L-1] */
{
    u9i_source source;
    u9i_catalog *c;
    make_four();
    u9i_fs fs = *sim_env()->fs;
    u9i_env env = *sim_env();
    fs.list = list_twice;
    env.fs = &fs;
    ck_assert_int_eq(u9i_source_open(&source, sim_env(), at("log"), false, &fault), U9_OK);
    source.dir->env = &env;
    ck_assert_int_eq(u9i_source_catalog(&source, &c, &fault), U9_OK);
    ck_assert_uint_eq(c->count, SEGMENTS);
    ck_assert_uint_eq(c->missing_count, 0);
    u9i_catalog_unref(c);
    source.dir->env = sim_env();
    u9i_source_close(&source);
}
END_TEST

static unsigned comes_and_goes, list_fails;

/* A writer that is short of room makes its next file, removes it again, and tries once more. */
static int list_what_goes(u9i_dir *dir, u9i_list_fn *each, void *ctx)
{
    if (++comes_and_goes % 3) write_file(segment_path(at("log"), SEGMENTS + 1), "", 0);
    int err = comes_and_goes == list_fails ? -EIO : sim_env()->fs->list(dir, each, ctx);
    if (comes_and_goes % 3) remove_log(segment_path(at("log"), SEGMENTS + 1));
    return err;
}

START_TEST(a_name_that_is_gone_since_it_was_listed_is_none) /* {F40} */
{
    u9i_source source;
    u9i_catalog *c;
    make_four();
    u9i_fs fs = *sim_env()->fs;
    u9i_env env = *sim_env();
    fs.list = list_what_goes;
    env.fs = &fs;
    ck_assert_int_eq(u9i_source_open(&source, sim_env(), at("log"), false, &fault), U9_OK);
    source.dir->env = &env;
    for (comes_and_goes = 0; comes_and_goes < 12;) {
        ck_assert_int_eq(u9i_source_catalog(&source, &c, &fault), U9_OK);
        ck_assert_uint_eq(c->count, SEGMENTS);
        ck_assert(u9i_catalog_facts(c, SEGMENTS - 1)->newest);
        ck_assert_uint_eq(c->missing_count, 0);
        u9i_catalog_unref(c);
    }
    for (list_fails = 1; list_fails <= 2; list_fails++) { /* the second asks whether it is still there */
        comes_and_goes = 0;
        ck_assert_int_eq(u9i_source_catalog(&source, &c, &fault), U9_IO);
        ck_assert_int_eq(fault.sys, EIO);
    }
    source.dir->env = sim_env();
    u9i_source_close(&source);
}
END_TEST

/* A directory, a link that leads nowhere or back to itself, a socket; or what can never be opened. */
static const int no_files[] = {EINVAL, EISDIR, ELOOP, ENXIO, ENOENT};
enum { NO_FILES = sizeof no_files / sizeof *no_files };

START_TEST(where_no_file_stands_the_segment_is_missing_and_the_rest_is_read) /* [L-1] [L-4] */
{
    u9_log *log;
    u9_trimmed trimmed = {.size = sizeof trimmed};
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(at("log"))};
    make_four();
    sim_aim("0000000000000002.u9");
    sim_fail(SIM_OPEN, 1, no_files[_i], true);
    log = open_told(at("log"));
    ck_assert_uint_eq(shown(log), EACH * (SEGMENTS - 1));
    ck_assert_uint_eq(damages_told, 2); /* foreign, and missing */
    close_log(log);
    sim_mend();
    sim_aim("0000000000000001.u9"); /* the oldest: given up only where nothing stands */
    sim_fail(SIM_OPEN, 1, no_files[_i], true);
    ck_assert_int_eq(u9_accept_trim(at("log"), 1, io_of(at("log")), &trimmed, &fault), U9_CORRUPT);
    ck_assert_ptr_nonnull(strstr(fault.text, "no file stands here"));
    log = open_told(at("log"));
    sim_mend();
    ck_assert_uint_eq(shown(log), EACH * SEGMENTS); /* it is there again */
    sim_fail(SIM_OPEN, 1, EACCES, true);
    ck_assert_int_eq(u9_log_open(at("log"), &o, &(u9_log *){NULL}, &fault), U9_IO); /* but this is no answer */
    ck_assert_str_eq(fault.path, segment_path(at("log"), 1));
    sim_mend();
    close_log(log);
}
END_TEST

/* [R-11] [L-9] What a file has is looked at for the row: a read that fails otherwise than by the disk is no end of it. */
START_TEST(a_read_that_fails_while_a_row_is_linked_is_told)
{
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(at("log")), .on_damage = note_damage};
    session(at("log"), "both", 5, 1);
    make_dir(at("other"));
    sim_copy(segment_path(at("log"), 1), segment_path(at("other"), 1));
    session(at("log"), "mine", 40, 1);
    session(at("other"), "copy", 3, 1);
    sim_copy(segment_path(at("other"), 1), segment_path(at("log"), 9));
    u9_log *log = open_told(at("log"));
    unsigned records = shown(log), damages = damages_told, told = 0, fired = sim_fired();
    ck_assert_uint_eq(damages, 1);
    close_log(log);
    unsigned nth = 0;
    for (bool fails = true; fails;) {
        sim_fail(SIM_READ, ++nth, ESTALE, false);
        u9_err err = u9_log_open(at("log"), &o, &log, &fault);
        sim_mend();
        fails = sim_fired() > fired;
        fired = sim_fired();
        ck_assert_msg(err == U9_OK || (fails && err == U9_IO && fault.sys == ESTALE), "read %u: %s", nth, u9_err_name(err));
        told += err != U9_OK;
        if (err != U9_OK) continue;
        ck_assert_msg(shown(log) == records && damages_told == damages, "read %u hides something", nth);
        close_log(log);
    }
    ck_assert_uint_gt(told, 6);
}
END_TEST

START_TEST(where_no_file_stands_there_is_no_mark) /* [M-1] */
{
    u9i_dir *dir;
    u9i_mark mark;
    session(at("log"), "r", 3, 1);
    ck_assert_int_eq(u9i_dir_open(sim_env(), at("log"), false, &dir), 0);
    ck_assert_int_eq(u9i_mark_read(dir, &mark), 0);
    ck_assert(mark.there);
    sim_aim(u9i_mark_name);
    sim_fail(SIM_OPEN, 1, no_files[_i], true);
    ck_assert_int_eq(u9i_mark_read(dir, &mark), 0);
    ck_assert(!mark.there && u9i_mark_promise(&mark) == NULL);
    sim_mend();
    sim_fail(SIM_OPEN, 1, EACCES, true);
    ck_assert_int_eq(u9i_mark_read(dir, &mark), -EACCES);
    sim_mend();
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_single_file_that_is_no_more_is_told_so) /* [L-8] */
{
    u9_cursor *c;
    make_four();
    u9_log *log = open_told(segment_path(at("log"), 2));
    ck_assert_uint_eq(shown(log), EACH);
    extend_file(segment_path(at("log"), 2), 3 * BLOCK); /* so it is looked at again */
    sim_fail(SIM_OPEN, 1, no_files[_i], true);
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, no_files[_i]);
    sim_mend();
    close_log(log);
}
END_TEST

/* Each names another segment 1, all but one of which are not here: the highest one's copy of a secret counts. */
START_TEST(of_many_copies_of_secrets_for_one_number_the_highest_segments_is_taken) /* [H-5] */
{
    forged_segment ones[12], twos[12];
    for (unsigned i = 0; i < 12; i++) {
        ones[i] = forge_begin(1, i, NULL, U9I_TAIL_NONE);
        forge_records(&ones[i], "r", EACH);
        twos[i] = forge_begin(2 + i, i, &ones[i], U9I_TAIL_ROLLED);
        forge_save(&twos[i], at("log"));
    }
    forge_save(&ones[11], at("log"));
    fill_bytes(segment_path(at("log"), 1), 0, 48, 0xee);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, EACH);
    forget(s);
    fill_bytes(segment_path(at("log"), 1), 0, 48, 0xee);
    for (unsigned i = 0; i < 12; i++) {
        forge_free(&ones[i]);
        forge_free(&twos[i]);
    }
}
END_TEST

/* Where a session goes on */

static u9_err try_writer(const char *why)
{
    u9_log *log = NULL;
    u9_options o = writer_options();
    u9_err err = u9_log_open(at("log"), &o, &log, &fault);
    if (err == U9_OK) err = u9_log_append(log, NULL, "\x81", 1, NULL);
    if (err == U9_OK) err = u9_log_sync(log);
    if (log) close_log(log);
    if (why) ck_assert_msg(err != U9_OK && strstr(fault.text, why), "%s: %s", u9_err_name(err), fault.text);
    return err;
}

START_TEST(beside_files_that_are_no_segments_no_log_is_made) /* [L-4] */
{
    u9_trimmed trimmed = {.size = sizeof trimmed};
    make_dir(at("log"));
    for (unsigned i = 1; i < 3; i++)
        write_file(segment_path(at("log"), i), "these are some notes, which are long enough that they are no segment whose creation was "
                   "cut short, by whoever", 107);
    ck_assert_int_eq(try_writer("what is here is no segment"), U9_CORRUPT);
    ck_assert_int_eq(u9_accept_trim(at("log"), 1, io_of(at("log")), &trimmed, &fault), U9_OK);
    ck_assert_uint_eq(trimmed.segments, 0);
}
END_TEST

START_TEST(a_log_whose_numbers_are_used_up_is_told_so) /* [L-9] */
{
    forged_segment s = forge_begin(U9I_NUMBER_END - 1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&s, "r", EACH);
    forge_end(&s, U9I_END_SEALING);
    forge_save(&s, at("log"));
    u9_options o = writer_options();
    u9_log *log;
    ck_assert_int_eq(u9_log_open(at("log"), &o, &log, &fault), U9_CORRUPT); /* its seal misses the next one */
    forge_free(&s);
    s = forge_begin(U9I_NUMBER_END - 1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&s, "r", EACH);
    forge_save(&s, at("log"));
    ck_assert_int_eq(try_writer("no number is left"), U9_LIMIT);
    forge_free(&s);
}
END_TEST

/* What the u9opens of the last segments said is found by reading those in front of them, from one that is told of. [L-2] */
START_TEST(behind_segments_without_their_u9open_the_session_goes_on_at_the_right_ordinal)
{
    for (unsigned damaged = 0; damaged < SEGMENTS; damaged++) {
        make_four();
        cut_file(segment_path(at("log"), SEGMENTS), BLOCK); /* its u9end */
        for (unsigned i = 0; i < damaged; i++) fill_bytes(segment_path(at("log"), SEGMENTS - i), 120, 40, 0xee);
        ck_assert_msg(try_writer(NULL) == U9_OK, "%u: %s", damaged, fault.text);
        seen *s = look(at("log"));
        ck_assert_uint_eq(s->report.next_ordinal, EACH * SEGMENTS + 1);
        ck_assert_uint_eq(s->count, EACH * SEGMENTS + 1);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), damaged);
        forget(s);
        remove_log(at("log"));
    }
}
END_TEST

/* What killed sessions reserved and did not use is cut off, so much at a time; the next sessions cut the rest. [S-7] */
START_TEST(what_many_sessions_left_reserved_is_cut_by_the_next_ones)
{
    enum { MANY = 20 };
    forged_segment before = {0};
    make_dir(at("log"));
    for (unsigned i = 1; i <= MANY; i++) {
        forged_segment s = forge_begin(i, i, i > 1 ? &before : NULL, U9I_TAIL_TORN);
        forge_records(&s, "r", EACH);
        forge_free(&before);
        before = s;
        forge_save(&s, at("log"));
        extend_file(segment_path(at("log"), i), 16 * BLOCK);
    }
    forge_free(&before);
    for (unsigned round = 0; round < 2; round++) {
        unsigned left = 0;
        ck_assert_int_eq(try_writer(NULL), U9_OK);
        for (unsigned i = 1; i <= MANY; i++) left += file_size(segment_path(at("log"), i)) == 16 * BLOCK;
        ck_assert_uint_eq(left, round == 0 ? 4 : 0);
    }
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, MANY * EACH + 2);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
    forget(s);
}
END_TEST

/* An older state, which ends with a seal that is whole; but it says of the data's end what is not so: it is found. [S-5] */
START_TEST(behind_a_seal_that_says_of_another_end_the_session_goes_on_where_frames_end)
{
    uint8_t slots[U9I_MARK_SIZE] = {0};
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&s, "r", EACH);
    u9i_mark_record mark = {.segment = 1, .end = {.offset = s.end, .ordinal = EACH}};
    memset(mark.log, 0x70, sizeof mark.log);
    memcpy(mark.boundary, s.secret.boundary, sizeof mark.boundary);
    memcpy(mark.secret, s.secret.bytes, sizeof mark.secret);
    memcpy(mark.end.chain, s.next.chain, sizeof mark.end.chain);
    if (_i == 1) s.end += 16;
    forge_end(&s, U9I_END_SEALING);
    forge_save(&s, at("log"));
    ck_assert_int_eq(u9i_slot_encode(&mark, &s.secret, slots), U9_OK);
    write_file(file_in(at("log"), ".mark"), slots, sizeof slots);
    forge_free(&s);
    unsigned nth = 1;
    for (u9_err err = U9_IO; err != U9_OK; nth++) { /* also where bytes cannot be read, from one call on */
        sim_aim("0000000000000001.u9");
        sim_fail(SIM_READ, nth, EIO, true);
        err = try_writer(NULL);
        ck_assert_msg(err == U9_IO || err == U9_OK, "%u: %s: %s", nth, u9_err_name(err), fault.text);
        sim_mend();
    }
    ck_assert_uint_gt(nth, 5);
    seen *now = look(at("log"));
    ck_assert_uint_eq(now->count, EACH + 1);
    ck_assert_uint_eq(count_damages(now, U9_V_CORRUPT, U9_R_NONE), 0);
    forget(now);
}
END_TEST

START_TEST(who_accepts_a_trim_wrongly_is_refused)
{
    u9_trimmed out = {.size = sizeof out - 1};
    ck_assert_int_eq(u9_accept_trim(NULL, 1, NULL, &out, &fault), U9_ARG);
    ck_assert_int_eq(u9_accept_trim(at("log"), 1, NULL, NULL, &fault), U9_ARG);
    ck_assert_int_eq(u9_accept_trim(at("log"), 1, NULL, &out, &fault), U9_ARG);
    ck_assert_ptr_nonnull(strstr(fault.text, "out->size"));
}
END_TEST

Suite *suite_catalog(void)
{
    Suite *suite = suite_create("catalog");
    TCase *tc = tcase_create("catalog");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_add_test(tc, a_log_that_is_another_at_each_look_is_shown_as_it_was_at_the_last);
    tcase_add_test(tc, a_segment_that_comes_back_is_read_by_the_next_cursor);
    tcase_add_test(tc, a_copy_whose_u9open_is_damaged_is_read_again_only_when_something_changed);
    tcase_add_test(tc, a_log_that_lacks_a_segment_is_read_again_only_when_something_changed);
    tcase_add_test(tc, a_name_that_is_listed_twice_is_one_segment);
    tcase_add_test(tc, a_name_that_is_gone_since_it_was_listed_is_none);
    tcase_add_loop_test(tc, where_no_file_stands_the_segment_is_missing_and_the_rest_is_read, 0, NO_FILES);
    tcase_add_loop_test(tc, where_no_file_stands_there_is_no_mark, 0, NO_FILES);
    tcase_add_test(tc, a_read_that_fails_while_a_row_is_linked_is_told);
    tcase_add_loop_test(tc, a_single_file_that_is_no_more_is_told_so, 0, NO_FILES);
    tcase_add_test(tc, of_many_copies_of_secrets_for_one_number_the_highest_segments_is_taken);
    tcase_add_test(tc, beside_files_that_are_no_segments_no_log_is_made);
    tcase_add_test(tc, a_log_whose_numbers_are_used_up_is_told_so);
    tcase_add_test(tc, behind_segments_without_their_u9open_the_session_goes_on_at_the_right_ordinal);
    tcase_add_test(tc, what_many_sessions_left_reserved_is_cut_by_the_next_ones);
    tcase_add_loop_test(tc, behind_a_seal_that_says_of_another_end_the_session_goes_on_where_frames_end, 0, 2);
    tcase_add_test(tc, who_accepts_a_trim_wrongly_is_refused);
    suite_add_tcase(suite, tc);
    return suite;
}
