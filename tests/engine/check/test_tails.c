/*
 * tests/engine/check/test_tails.c: ends that were unknown, and are accepted: all of them, for good, and nothing else; and
 * that a stop at any call leaves them told, or accepted.
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static u9_err accept_tails(const char *log, int accept, u9_tails *tails, u9_fault *fault)
{
    *tails = (u9_tails){.size = sizeof *tails};
    return u9_accept_tails(log, accept, io_of(log), tails, fault);
}

/* A log's first segment, of four records, with bytes behind them that look like no crash. */
static void make_tailed(const char *log)
{
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&s, "r", 3);
    forge_records(&s, "r", 1);
    memset(s.bytes + s.size, 0x5a, 700);
    s.size += 700;
    forge_save(&s, log);
    forge_free(&s);
}

/* The log's last segment, which is closed, loses its u9end, and ends in such bytes; no mark tells of it. */
static void spoil_end(const char *log)
{
    const char *path = segment_path(log, segments_in(log));
    uint64_t offsets[64];
    size_t size, n = frame_offsets(path, offsets, 64);
    uint8_t *bytes = read_file(path, &size);
    ck_assert_uint_gt(n, 2);
    memset(bytes + offsets[n - 1], 0x5a, 700);
    write_file(path, bytes, offsets[n - 1] + 700);
    free(bytes);
    remove_mark(log);
}

static void note_damage(void *out, const u9_damage *d)
{
    *(u9_damage *)out = *d;
}

/* The session behind it could not tell what stands there; now nobody can read it. */
START_TEST(an_unknown_end_that_cannot_be_read_is_told_up_to_where_that_ends)
{
    enum { BLOCK = 4096 };
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&s, "r", 4);
    uint64_t end = s.end, dark = (end + BLOCK - 1) / BLOCK * BLOCK;
    forged_segment next = forge_begin(2, 1, &s, U9I_TAIL_UNKNOWN);
    forge_records(&next, "s", 3);
    forge_end(&next, U9I_END_CLOSING);
    memset(s.bytes + end, 0x5a, dark + 3 * BLOCK - end);
    s.size = dark + 3 * BLOCK;
    forge_save(&s, at("log"));
    forge_save(&next, at("log"));
    forge_free(&s);
    forge_free(&next);
    for (unsigned spoilt = 0; spoilt < 4; spoilt++) {
        u9_damage d = {.begin = 0};
        u9_report r = {.size = sizeof r};
        u9_check_options o = {.size = sizeof o, .io = io_of(at("log")), .on_damage = note_damage, .ctx = &d};
        sim_clear();
        if (spoilt > 0) sim_spoil(segment_path(at("log"), 1), dark, dark + spoilt * BLOCK, EIO, 0);
        ck_assert_int_eq(u9_check(at("log"), &o, &r, NULL), U9_OK);
        ck_assert_uint_eq(r.records, 7);
        ck_assert_uint_eq(r.damages, 1);
        ck_assert_int_eq(d.verdict, U9_V_UNKNOWN);
        ck_assert_uint_eq(d.begin, end);
        ck_assert_uint_eq(d.end, spoilt > 0 ? dark + 3 * BLOCK : d.end);
        ck_assert_int_eq(d.reason == U9_R_UNREADABLE, spoilt > 0);
    }
}
END_TEST

/* How many ends are told as unknown; nothing else is, but what a stop leaves. */
static size_t unknown_in(const char *log, uint64_t records)
{
    seen *s = look(log);
    size_t n = count_damages(s, U9_V_UNKNOWN, U9_R_NONE);
    ck_assert_uint_eq(s->count, records);
    ck_assert_uint_eq(s->damage_count, n + count_damages(s, U9_V_TORN, U9_R_NONE));
    forget(s);
    return n;
}

static void expect_untouched(const char *log, int accept, uint64_t count)
{
    uint8_t before[16], after[16];
    u9_tails tails;
    picture(log, before);
    ck_assert_int_eq(accept_tails(log, accept, &tails, NULL), U9_OK);
    ck_assert_uint_eq(tails.count, count);
    ck_assert_uint_eq(tails.segment, 0);
    picture(log, after);
    ck_assert_mem_eq(before, after, 16);
}

/* Of `count` ends: they are told, they are accepted, and no session that comes tells them again. */
static void expect_accepted(const char *log, uint64_t count, uint64_t records)
{
    u9_tails tails;
    u9_fault fault;
    ck_assert_uint_eq(unknown_in(log, records), count);
    expect_untouched(log, 0, count);
    u9_err err = accept_tails(log, 1, &tails, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    ck_assert_uint_eq(tails.count, count);
    ck_assert_uint_eq(tails.segment, segments_in(log));
    for (unsigned sessions = 0; sessions < 3; sessions++) {
        seen *s = look(log);
        ck_assert_uint_eq(s->count, records + 2 * sessions);
        ck_assert_uint_eq(s->damage_count, 0);
        ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
        ck_assert_int_eq(s->report.mark, U9_MARK_COUNTS);
        forget(s);
        expect_untouched(log, 1, 0);
        session(log, "more", 2, 1);
    }
}

START_TEST(ends_that_were_unknown_are_accepted_whoever_went_on_behind_them)
{
    for (unsigned sessions = 0; sessions < 3; sessions++) {
        make_tailed(at("log"));
        for (unsigned i = 0; i < sessions; i++) session(at("log"), "more", 2, 1);
        expect_accepted(at("log"), 1, 4 + 2 * sessions);
        remove_log(at("log"));
    }
}
END_TEST

START_TEST(all_that_are_there_are_accepted_at_once)
{
    make_tailed(at("log"));
    session(at("log"), "more", 2, 1);
    spoil_end(at("log"));
    session(at("log"), "more", 2, 1);
    spoil_end(at("log"));
    expect_accepted(at("log"), 3, 8);
}
END_TEST

START_TEST(an_end_that_comes_to_be_unknown_later_is_told)
{
    u9_tails tails;
    make_tailed(at("log"));
    ck_assert_int_eq(accept_tails(at("log"), 1, &tails, NULL), U9_OK);
    session(at("log"), "more", 2, 1);
    spoil_end(at("log"));
    ck_assert_uint_eq(unknown_in(at("log"), 6), 1);
    session(at("log"), "more", 2, 1);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->damage_count, 1);
    ck_assert_uint_eq(s->damages[0].segment, tails.segment);
    forget(s);
    expect_accepted(at("log"), 1, 8);
}
END_TEST

/* Damage in front of an accepted end is told, and so is that the end is not reached. */
START_TEST(damage_in_a_segment_whose_end_is_accepted_is_told)
{
    u9_tails tails;
    uint64_t offsets[8];
    make_tailed(at("log"));
    size_t n = frame_offsets(segment_path(at("log"), 1), offsets, 8);
    ck_assert_int_eq(accept_tails(at("log"), 1, &tails, NULL), U9_OK);
    for (size_t i = 1; i < n; i++) {
        copy_log(at("log"), at("try"));
        flip_bit(segment_path(at("try"), 1), offsets[i] + 70, 0);
        seen *s = look(at("try"));
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HASH), 1);
        ck_assert_uint_lt(s->count, 4);
        forget(s);
        remove_log(at("try"));
    }
}
END_TEST

/* A segment that names segment 1, or `before`, as unknown, and accepts ends up to `accepted`. */
static forged_segment forge_accepting(uint64_t number, const forged_segment *before, uint64_t accepted, const char *log)
{
    u9i_open_record open = forge_naming(number, before, U9I_TAIL_UNKNOWN);
    open.accepted = accepted;
    forged_segment s = forge_with_open(number, 1, &open);
    memset(s.bytes + s.size, 0x5a, 700);
    s.size += 700;
    forge_save(&s, log);
    s.size -= 700;
    return s;
}

/* Segment 2 is void: what it accepts counts as little as what else is in it. One above itself accepts nothing, either. */
START_TEST(only_a_segment_above_it_in_the_row_accepts_an_end)
{
    static const struct {
        uint64_t in_void, in_tip;
        size_t told;
    } ways[] = {{0, 0, 2}, {1, 0, 2}, {99, 0, 2}, {0, 1, 1}, {0, 2, 1}, {0, 99, 1}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        forge_records(&one, "r", 4);
        forge_save(&one, at("log"));
        forged_segment two = forge_accepting(2, &one, ways[i].in_void, at("log"));
        forged_segment tip = forge_accepting(3, &one, ways[i].in_tip, at("log"));
        ck_assert_uint_eq(unknown_in(at("log"), 4), ways[i].told); /* the tip's own among them */
        forge_free(&one);
        forge_free(&two);
        forge_free(&tip);
        remove_log(at("log"));
    }
}
END_TEST

START_TEST(ends_are_accepted_up_to_the_number_that_is_said)
{
    for (uint64_t accepted = 0; accepted < 3; accepted++) {
        forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        forge_records(&one, "r", 4);
        forge_save(&one, at("log"));
        forged_segment two = forge_accepting(2, &one, 0, at("log"));
        forged_segment tip = forge_accepting(3, &two, accepted, at("log"));
        ck_assert_uint_eq(unknown_in(at("log"), 4), 3 - accepted); /* the tip's own among them */
        forge_free(&one);
        forge_free(&two);
        forge_free(&tip);
        remove_log(at("log"));
    }
}
END_TEST

static void expect_refused(const char *path, u9_err want, const char *why)
{
    uint8_t before[16], after[16];
    u9_tails tails;
    u9_fault fault;
    picture(path, before);
    ck_assert_int_eq(accept_tails(path, 1, &tails, &fault), want);
    ck_assert_msg(strstr(fault.text, why) != NULL, "%s", fault.text);
    picture(path, after);
    ck_assert_mem_eq(before, after, 16);
}

START_TEST(what_no_session_goes_on_with_is_refused)
{
    u9_tails tails = {.size = 1};
    ck_assert_int_eq(u9_accept_tails(at("log"), 0, NULL, &tails, NULL), U9_ARG);
    ck_assert_int_eq(u9_accept_tails(at("log"), 0, NULL, NULL, NULL), U9_ARG);
    make_tailed(at("log"));
    u9_log *w = open_writer(at("log"), NULL);
    expect_refused(at("log"), U9_LOCKED, "another writer");
    append_text(w, "one");
    close_log(w);
    copy_log(at("log"), at("gone"));
    remove_log(segment_path(at("gone"), 1));
    expect_refused(at("gone"), U9_CORRUPT, "0000000000000001.u9");
    ck_assert_int_eq(accept_tails(segment_path(at("log"), 1), 1, &tails, NULL), U9_OK); /* a file alone */
    ck_assert_uint_eq(tails.count, 0);
    make_dir(at("empty"));
    expect_refused(at("empty"), U9_ABSENT, "no log is here");
}
END_TEST

/* Stops at each call in turn: the end is told as before, or accepted; and then it can be. */
START_TEST(a_stop_anywhere_leaves_it_told_or_accepted)
{
    unsigned n = 0, as_before = 0;
    u9_err err = U9_END;
    while (err != U9_OK) {
        u9_tails tails;
        sim_begin(n + 1);
        sim_make_dir(at(""));
        make_tailed(at("log"));
        session(at("log"), "more", 2, 1);
        sim_fail(SIM_ANY, n = next_call(n), EIO, true);
        err = accept_tails(at("log"), 1, &tails, NULL);
        sim_mend();
        size_t told = unknown_in(at("log"), 6);
        ck_assert(err != U9_OK || told == 0);
        ck_assert_uint_le(told, 1);
        as_before += told > 0;
        if (told > 0) ck_assert_int_eq(accept_tails(at("log"), 1, &tails, NULL), U9_OK);
        session(at("log"), "more", 2, 1);
        ck_assert_uint_eq(unknown_in(at("log"), 8), 0);
        ck_assert_uint_lt(n, 400);
    }
    ck_assert_uint_gt(n, 10);
    ck_assert_uint_gt(as_before, 5);
}
END_TEST

/* What it appends says so, and where there was a torn tail for who wrote none there is one of which nobody knows. */
START_TEST(a_writer_that_looked_before_it_wrote_is_told_what_its_session_says_of_the_tail) /* [K-3] */
{
    uint8_t buf[256];
    u9_record r;
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .kind = "rkey", .io = io_of(at("log"))};
    u9_key a = {.data = "a3", .size = 2}, none = {.data = "none", .size = 4};
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < 5; i++) {
        char key[3] = {'a', (char)('0' + i), 0};
        ck_assert_int_eq(u9_log_append(w, &(u9_key){.data = key, .size = 2}, "\x81", 1, NULL), U9_OK);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    crash(w, at("log"));
    remove_log(at("log/.mark")); /* which would promise the last one */
    size_t size;
    const char *file = segment_path(at("log"), 1);
    uint8_t *bytes = read_file(file, &size), *last = memmem(bytes, size, "a4", 2);
    ck_assert_ptr_nonnull(last);
    size_t place = (size_t)(last - bytes), end = (place / 4096 + 1) * 4096;
    free(bytes);
    flip_bit(file, place, 2);
    fill_bytes(file, end, size - end, 0); /* nor does a frame behind it */
    w = open_writer(at("log"), &o);
    if (_i == 0) ck_assert_int_eq(u9_log_get(w, &none, buf, sizeof buf, &r, NULL), U9_ABSENT);
    if (_i == 0) ck_assert_int_eq(u9_log_get(w, &a, buf, sizeof buf, &r, NULL), U9_OK);
    ck_assert_int_eq(u9_log_append(w, &(u9_key){.data = "z", .size = 1}, "\x81", 1, NULL), U9_OK);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_int_eq(u9_log_get(w, &none, buf, sizeof buf, &r, NULL), U9_CORRUPT);
    ck_assert_int_eq(u9_log_get(w, &a, buf, sizeof buf, &r, NULL), U9_CORRUPT);
    ck_assert_uint_eq(r.ordinal, 3);
    close_log(w);
}
END_TEST

Suite *suite_tails(void)
{
    Suite *suite = suite_create("tails");
    TCase *files = tcase_create("files"), *sim = tcase_create("sim");
    tcase_add_checked_fixture(files, fixture_setup, fixture_teardown);
    tcase_add_loop_test(files, a_writer_that_looked_before_it_wrote_is_told_what_its_session_says_of_the_tail, 0, 2);
    tcase_add_test(files, ends_that_were_unknown_are_accepted_whoever_went_on_behind_them);
    tcase_add_test(files, all_that_are_there_are_accepted_at_once);
    tcase_add_test(files, an_end_that_comes_to_be_unknown_later_is_told);
    tcase_add_test(files, damage_in_a_segment_whose_end_is_accepted_is_told);
    tcase_add_test(files, only_a_segment_above_it_in_the_row_accepts_an_end);
    tcase_add_test(files, ends_are_accepted_up_to_the_number_that_is_said);
    tcase_add_test(files, what_no_session_goes_on_with_is_refused);
    suite_add_tcase(suite, files);
    tcase_add_checked_fixture(sim, fixture_setup_sim, fixture_teardown);
    tcase_add_test(sim, an_unknown_end_that_cannot_be_read_is_told_up_to_where_that_ends);
    tcase_add_test(sim, a_stop_anywhere_leaves_it_told_or_accepted);
    tcase_set_timeout(sim, 60);
    suite_add_tcase(suite, sim);
    return suite;
}
