/*
 * tests/engine/segment/test_unreadable.c: blocks that the disk cannot give cost what they touch; everything
 * before and behind them is read, checked and salvaged. {F69}
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, FRAMES_MAX = 200 };

/* What a segment holds as long as it can be read. */
typedef struct content {
    uint64_t size, end; /* of the file; behind the last frame */
    seen_frame frames[FRAMES_MAX];
    size_t count;
} content;

static content content_of(const char *path)
{
    content c = {0};
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    c.size = size;
    c.count = list_frames(bytes, size, c.frames, FRAMES_MAX);
    c.end = c.count ? c.frames[c.count - 1].end : 32;
    free(bytes);
    return c;
}

/* The path of the log, for as long as a test takes. */
static const char *the_log(void)
{
    static char path[3200];
    snprintf(path, sizeof path, "%s", at("log"));
    return path;
}

/* How many records are in frames that do not reach into [from, to). */
static uint64_t records_beside(const content *c, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->frames[i].end <= from || c->frames[i].offset >= to) n += c->frames[i].count;
    return n;
}

/* A session of several frames of some blocks each; every so many are synced and so promised by later ones. */
static void fill(u9_log *w, unsigned frames, unsigned every)
{
    static uint8_t bytes[3000];
    for (unsigned i = 0; i < frames; i++) {
        for (unsigned k = 0; k < sizeof bytes; k++) bytes[k] = (uint8_t)(i * 7 + k * k);
        for (unsigned k = 0; k < 3; k++) append_bytes(w, bytes, sizeof bytes);
        if (every && i % every == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
}

static u9_err open_to_write(const char *log, u9_fault *fault)
{
    u9_options o = writer_options();
    u9_log *w = NULL;
    o.mode = U9_WRITE;
    u9_err err = u9_log_open(log, &o, &w, fault);
    if (err == U9_OK) close_log(w);
    return err;
}

static uint64_t salvaged_from(const char *log)
{
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = sim_io()};
    u9_fault fault;
    uint64_t n;
    u9_err err = u9_salvage(log, at("saved"), &o, &report, &n, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    remove_log(at("saved"));
    return n;
}

/* Reads a log of one segment without this block: all that does not touch it is there, and it is told. */
static void expect_all_beside(const char *log, const content *c, uint64_t block, u9_verdict verdict)
{
    sim_spoil(segment_path(log, 1), block, block + 1, EIO, 0);
    seen *s = look(log);
    ck_assert_int_eq(s->err, U9_OK);
    ck_assert_uint_eq(s->count, records_beside(c, block, block + BLOCK));
    ck_assert_uint_ge(count_damages(s, verdict, U9_R_UNREADABLE), 1);
    ck_assert_uint_eq(count_damages(s, U9_V_TORN, U9_R_NONE), block > c->end || c->frames[c->count - 1].is_end
                                                                  ? 0
                                                                  : s->damage_count - 1);
    ck_assert_uint_eq(salvaged_from(log), s->count);
    forget(s);
    sim_clear();
}

/* {F27} {F69} */
START_TEST(one_bad_block_of_a_closed_log_costs_the_frames_that_it_touches)
{
    const char *log = the_log();
    u9_fault fault = {0};
    u9_log *w = open_writer(log, NULL);
    fill(w, 12, 3);
    close_log(w);
    content c = content_of(segment_path(log, 1));
    for (uint64_t block = 0; block < c.size; block += BLOCK) {
        bool edge = block == 0 || block + BLOCK == c.size;
        expect_all_beside(log, &c, block, U9_V_CORRUPT); /* the mark promises the end, too */
        sim_spoil(segment_path(log, 1), block, block + 1, EIO, 0);
        ck_assert_int_eq(open_to_write(log, &fault), edge ? U9_IO : U9_OK);
        if (edge) {
            ck_assert_int_eq(fault.sys, EIO);
            ck_assert_uint_eq(fault.segment, 1);
            ck_assert_uint_eq(fault.offset, block);
        }
        sim_clear();
    }
}
END_TEST

/* More than are together in what is read at once, and so far that it moves on: each costs what it touches. {F69} */
START_TEST(many_bad_blocks_far_apart_cost_what_they_touch)
{
    enum { BAD = 12, APART = 60 * BLOCK };
    static uint8_t bytes[150000];
    const char *log = the_log();
    u9_log *w = open_writer(log, NULL);
    for (unsigned i = 0; i < 24; i++) {
        append_bytes(w, bytes, sizeof bytes);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
    content c = content_of(segment_path(log, 1));
    uint64_t lost = 0;
    ck_assert_uint_gt(c.end, (BAD + 1) * APART);
    for (unsigned i = 1; i <= BAD; i++) sim_spoil(segment_path(log, 1), i * APART, i * APART + 1, EIO, 0);
    for (size_t f = 0; f < c.count; f++) {
        bool touched = false;
        for (unsigned i = 1; i <= BAD; i++) touched |= c.frames[f].offset < i * APART + BLOCK && c.frames[f].end > i * APART;
        lost += touched ? c.frames[f].count : 0;
    }
    seen *s = look(log);
    ck_assert_int_eq(s->err, U9_OK);
    ck_assert_uint_eq(s->count, 24 - lost);
    ck_assert_uint_ge(count_damages(s, U9_V_CORRUPT, U9_R_UNREADABLE), 1);
    forget(s);
    sim_clear();
}
END_TEST

/* {F69} Promised or not: what cannot be read never ends a log, and is no end to go on behind. */
START_TEST(one_bad_block_of_an_unclosed_log_does_not_end_it)
{
    const char *log = the_log();
    u9_options o = small_options();
    o.policy = U9_POLICY_NONE;
    o.segment_size = 1 << 20;
    u9_log *w = open_writer(log, &o);
    fill(w, 20, _i ? 4 : 0);
    if (_i == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
    crash(w, log);
    content c = content_of(segment_path(log, 1));
    uint64_t reserved = (c.end + 40 * BLOCK) / BLOCK * BLOCK, promised = 0;
    for (size_t i = 0; i < c.count; i++)
        if (c.frames[i].durable > promised) promised = c.frames[i].durable;
    ck_assert_uint_ge(c.count, 4);
    fill_bytes(segment_path(log, 1), c.end, reserved + BLOCK - c.end, 0); /* a hole can be read */
    for (uint64_t block = BLOCK; block <= reserved; block += block < c.end ? BLOCK : 8 * BLOCK) {
        u9_fault fault = {0};
        bool corrupt = block < promised;
        expect_all_beside(log, &c, block, corrupt ? U9_V_CORRUPT : U9_V_UNKNOWN);
        sim_spoil(segment_path(log, 1), block, block + 1, EIO, 0);
        ck_assert_int_eq(open_to_write(log, &fault), U9_IO);
        ck_assert_int_eq(fault.sys, EIO);
        ck_assert_str_eq(fault.rule, "R-11");
        ck_assert_uint_eq(fault.segment, 1);
        ck_assert_uint_eq(fault.offset, block);
        sim_clear();
    }
    ck_assert_int_eq(open_to_write(log, NULL), U9_OK);
}
END_TEST

/* Three segments, the last of which is not closed; each holds records. */
static void make_three(const char *log, content c[4])
{
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    while (segments_in(log) < 3) fill(w, 1, 1);
    fill(w, 2, 1);
    crash(w, log);
    for (unsigned i = 1; i <= 3; i++) c[i] = content_of(segment_path(log, i));
}

/* {F69} */
START_TEST(a_segment_whose_first_block_is_bad_is_read_by_the_secret_that_the_next_one_keeps)
{
    content c[4];
    const char *log = the_log();
    u9_fault fault;
    make_three(log, c);
    sim_spoil(segment_path(log, 2), 0, 1, EIO, 0);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, records_beside(&c[1], 0, 0) + records_beside(&c[2], 0, BLOCK) +
                                    records_beside(&c[3], 0, 0));
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_UNREADABLE), 2); /* the header, the first frames */
    ck_assert_uint_eq(s->damages[0].begin, 0);
    ck_assert_uint_eq(s->damages[0].end, 32);
    ck_assert_uint_eq(s->damages[1].begin, 32);
    forget(s);
    ck_assert_int_eq(open_to_write(log, &fault), U9_IO);
    ck_assert_uint_eq(fault.segment, 2);
    ck_assert_uint_eq(fault.offset, 0);
}
END_TEST

/* Nobody has a copy of the secret: the segment is told whole, and the others are read. */
START_TEST(a_segment_whose_secret_cannot_be_read_is_told_whole)
{
    content c[4];
    const char *log = the_log();
    u9_fault fault;
    make_three(log, c);
    remove_mark(log);
    sim_spoil(segment_path(log, 3), 0, 1, EIO, 0);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, records_beside(&c[1], 0, 0) + records_beside(&c[2], 0, 0));
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_UNREADABLE), 1);
    const u9_damage *d = &s->damages[s->damage_count - 1];
    ck_assert_uint_eq(d->segment, 3);
    ck_assert_uint_eq(d->begin, 0);
    ck_assert_uint_eq(d->end, c[3].size);
    forget(s);
    ck_assert_int_eq(open_to_write(log, &fault), U9_IO);
    ck_assert_uint_eq(fault.segment, 3);
    ck_assert_int_eq(fault.sys, EIO);

    sim_spoil(segment_path(log, 2), 0, c[2].size, EIO, 0); /* two that are not known are no twins */
    s = look(log);
    ck_assert_uint_eq(s->count, records_beside(&c[1], 0, 0));
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_FOREIGN), 0);
    forget(s);
    u9_options o = {.size = sizeof o, .io = sim_io()}; /* alone it is no log */
    u9_log *r;
    ck_assert_int_eq(u9_log_open(segment_path(log, 3), &o, &r, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, EIO);
}
END_TEST

static uint64_t count_records(u9_log *log, unsigned *damages)
{
    u9_cursor *c;
    u9_record r;
    u9_fault fault;
    u9_err err;
    uint64_t n = 0;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    for (*damages = 0; (err = u9_cursor_next(c, &r)) != U9_END; n += err == U9_OK) {
        if (err == U9_OK) continue;
        ck_assert_int_eq(err, U9_CORRUPT);
        u9_cursor_fault(c, &fault);
        ck_assert_int_eq(fault.sys, EIO); /* the cause is told */
        ck_assert_int_eq(u9_cursor_damage(c)->reason, U9_R_UNREADABLE);
        ++*damages;
    }
    u9_cursor_close(c);
    return n;
}

/* {F27} */
START_TEST(what_cannot_be_read_for_a_while_is_not_remembered)
{
    const char *log = the_log();
    unsigned damages;
    u9_log *w = open_writer(log, NULL);
    fill(w, 12, 3);
    close_log(w);
    content c = content_of(segment_path(log, 1));
    for (uint64_t block = 0; block < c.size; block += BLOCK) {
        u9_log *r = open_reader(log);
        sim_spoil(segment_path(log, 1), block, block + 1, EIO, 0);
        for (unsigned i = 0; i < 2; i++) {
            ck_assert_uint_eq(count_records(r, &damages), records_beside(&c, block, block + BLOCK));
            ck_assert_uint_ge(damages, 1);
        }
        sim_clear();
        ck_assert_uint_eq(count_records(r, &damages), 36);
        ck_assert_uint_eq(damages, 0);
        close_log(r);
    }
}
END_TEST

/*
 * Of two blocks the first cannot be read, or both: from now on until that is cleared; or (when > 0) for so many reads of each;
 * or (when < 0) after so many.
 */
static void spoil(uint64_t block, unsigned count, int when)
{
    const char *path = segment_path(the_log(), 1);
    for (unsigned i = 0; i < count; i++) {
        sim_spoil(path, block + 2 * i * BLOCK, block + 2 * i * BLOCK + 1, EIO, when > 0 ? (unsigned)when : 0);
        if (when < 0) sim_delay((unsigned)-when);
    }
}

/* Goes so far from the end back (or from the start on), and turns; meanwhile the disk gives, or takes, a block. */
static void turn_meanwhile(u9_log *r, uint64_t block, unsigned steps, bool on, unsigned before, unsigned behind, int when)
{
    u9_err err, (*go)(u9_cursor *, u9_record *) = on ? u9_cursor_next : u9_cursor_prev;
    u9_err (*turn)(u9_cursor *, u9_record *) = on ? u9_cursor_prev : u9_cursor_next;
    u9_record record;
    u9_cursor *c;
    u9_seek seek = {.size = sizeof seek, .kind = on ? U9_SEEK_START : U9_SEEK_END};
    spoil(block, before, 0);
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_seek(c, &seek), U9_OK);
    uint64_t next = U9_NOWHERE, shown = U9_NOWHERE;
    bool sure = false; /* no damage was told since */
    for (unsigned i = 0; i < steps; i++) {
        sure = (err = go(c, &record)) == U9_OK;
        next = sure ? record.ordinal : U9_NOWHERE;
        if (sure) shown = record.ordinal;
    }
    sim_clear();
    spoil(block, behind, when);
    unsigned told = 0;
    while ((err = turn(c, &record)) == U9_OK || err == U9_CORRUPT) {
        told += err == U9_CORRUPT;
        ck_assert_uint_le(told, 2 * behind);
        if (err == U9_OK && sure) ck_assert_uint_eq(record.ordinal, next);
        if (told == 0 && shown != U9_NOWHERE) ck_assert(on ? record.ordinal >= shown : record.ordinal <= shown);
        shown = U9_NOWHERE; /* it was the turn's first */
        if (err == U9_OK && next != U9_NOWHERE) ck_assert(on ? record.ordinal <= next : record.ordinal >= next);
        sure = err == U9_OK;
        if (sure) next = on ? record.ordinal - 1 : record.ordinal + 1;
    }
    ck_assert_int_eq(err, U9_END);
    if (behind == 0 && sure) ck_assert_uint_eq(next, on ? UINT64_MAX : 15);
    u9_cursor_close(c);
    sim_clear();
}

/* {F27} */
START_TEST(a_cursor_that_turns_while_the_disk_changes_its_mind_passes_nothing)
{
    const char *log = the_log();
    u9_log *w = open_writer(log, NULL);
    fill(w, 5, 3);
    close_log(w);
    uint64_t size = file_size(segment_path(log, 1));
    u9_log *r = open_reader(log);
    for (uint64_t block = BLOCK; block < size; block += BLOCK)
        for (unsigned steps = 1 + (unsigned)(_i + _i / 3 + _i / 9) % thorough(5, 1); steps < 18; steps += thorough(5, 1))
            for (int on = 0; on < 2; on++) turn_meanwhile(r, block, steps, on, (unsigned)_i % 3, (unsigned)_i / 3 % 3, _i / 9 - 3);
    close_log(r);
}
END_TEST

START_TEST(a_key_behind_a_bad_block_is_found_and_an_absent_one_is_not_sure)
{
    const char *log = the_log();
    uint8_t buf[4096];
    u9_record record;
    u9_place place;
    u9_log *w = open_writer(log, NULL);
    fill(w, 12, 3);
    ck_assert_int_eq(u9_log_append(w, NULL, "\x81", 1, &place), U9_OK);
    close_log(w);
    sim_spoil(segment_path(log, 1), 3 * BLOCK, 3 * BLOCK + 1, EIO, 0);
    u9_log *r = open_reader(log);
    u9_key key = {.data = place.key, .size = place.key_size};
    ck_assert_int_eq(u9_log_get(r, &key, buf, sizeof buf, &record, NULL), U9_OK);
    ck_assert_uint_eq(record.ordinal, 36);
    place.key[0] ^= 0xff;
    ck_assert_int_eq(u9_log_get(r, &key, buf, sizeof buf, &record, NULL), U9_CORRUPT);
    close_log(r);
}
END_TEST

/* {F69} Behind the named end of a rolled segment there is its seal: nothing is lost with it. */
START_TEST(a_seal_that_cannot_be_read_costs_nothing)
{
    content c[4];
    const char *log = the_log();
    make_three(log, c);
    sim_spoil(segment_path(log, 1), c[1].size - BLOCK, c[1].size, EIO, 0);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, records_beside(&c[1], 0, 0) + records_beside(&c[2], 0, 0) +
                                    records_beside(&c[3], 0, 0));
    ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_UNREADABLE), 1);
    ck_assert_uint_eq(s->damages[0].lost, 0);
    forget(s);
    ck_assert_int_eq(open_to_write(log, NULL), U9_OK); /* its end is named: nothing depends on it */
}
END_TEST

/* Ranges tell of a bad block once, whatever the cuts. [P-1] */
START_TEST(a_bad_block_is_told_by_one_range)
{
    const char *log = the_log();
    u9_log *w = open_writer(log, NULL);
    fill(w, 12, 3);
    close_log(w);
    content c = content_of(segment_path(log, 1));
    sim_spoil(segment_path(log, 1), 5 * BLOCK, 5 * BLOCK + 1, EIO, 0);
    for (uint64_t step = BLOCK / 2; step < c.size; step *= 3) {
        u9_log *r = open_reader(log);
        uint64_t n = 0;
        unsigned damages = 0;
        for (uint64_t from = 0; from < c.size; from += step) {
            u9_range range = {.size = sizeof range, .segment = 1, .begin = from, .end = from + step};
            u9_cursor *cursor;
            u9_record record;
            u9_err err;
            ck_assert_int_eq(u9_cursor_open(r, &range, &cursor, NULL), U9_OK);
            while ((err = u9_cursor_next(cursor, &record)) != U9_END) {
                n += err == U9_OK;
                damages += err == U9_CORRUPT;
            }
            u9_cursor_close(cursor);
        }
        ck_assert_uint_eq(n, records_beside(&c, 5 * BLOCK, 6 * BLOCK));
        ck_assert_uint_eq(damages, 1);
        close_log(r);
    }
}
END_TEST

/* A copy went on beside the log, and lies in it as a segment of its own; `fill` is what each line gets. */
static void make_fork(const char *log)
{
    u9_log *w = open_writer(log, NULL);
    fill(w, 4, 1);
    crash(w, log);
    copy_log(log, at("branch"));
    const char *const lines[] = {log, at("branch")};
    for (unsigned i = 0; i < 2; i++) {
        w = open_writer(lines[i], NULL);
        fill(w, 6, 2);
        close_log(w);
    }
    char from[3400];
    snprintf(from, sizeof from, "%s", segment_path(at("branch"), 2));
    move_file(from, segment_path(log, 3));
}

static size_t told_of(const seen *s, const char *path)
{
    size_t n = 0;
    for (size_t i = 0; i < s->damage_count; i++)
        n += s->damages[i].verdict > U9_V_TORN && strcmp(strrchr(s->damages[i].path, '/'), strrchr(path, '/')) == 0;
    return n;
}

/* [L-9] What is off the row and cannot be read may have been promised: it is not left out in silence. */
START_TEST(bad_blocks_of_a_fork_do_not_hide_it)
{
    const char *log = the_log();
    char path[3400] = "";
    make_fork(log);
    seen *s = look(log);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_FORK), 1);
    for (size_t i = 0; i < s->damage_count; i++)
        if (s->damages[i].reason == U9_R_FORK) snprintf(path, sizeof path, "%s", s->damages[i].path);
    forget(s);
    uint64_t size = file_size(path);
    for (uint64_t from = 0; from < size; from = from < 3 * BLOCK ? from + BLOCK : 2 * from)
        for (uint64_t to = size; to > from; to = from + (to - from) / 4 / BLOCK * BLOCK) {
            sim_spoil(path, from, to, EIO, 0);
            s = look(log);
            ck_assert_msg(told_of(s, path) > 0, "[%u,%u) cannot be read, and nothing is told", (unsigned)from, (unsigned)to);
            ck_assert_int_ne(open_to_write(log, NULL), U9_OK);
            forget(s);
            sim_clear();
        }
}
END_TEST

/* Bad blocks and other damage, anywhere and in any number: the second reader tells the same. */
START_TEST(bad_blocks_beside_other_damage_are_judged_by_the_rules)
{
    content c[4];
    const char *log = the_log();
    make_three(log, c);
    copy_log(log, at("whole"));
    srand((unsigned)_i);
    for (unsigned round = 0; round < 40; round++) {
        for (unsigned n = (unsigned)rand() % 4; n > 0; n--) {
            unsigned k = 1 + (unsigned)rand() % 3;
            const char *path = segment_path(log, k);
            uint64_t p = (uint64_t)rand() % (c[k].end + BLOCK < c[k].size ? c[k].end + BLOCK : c[k].size);
            if (rand() % 3 == 0) fill_bytes(path, p / 512 * 512, 512, 0);
            else flip_bit(path, p, (unsigned)rand() % 8);
        }
        for (unsigned n = (unsigned)rand() % 4; n > 0; n--) {
            unsigned k = 1 + (unsigned)rand() % 3, blocks = 1 + (unsigned)rand() % 3;
            uint64_t all = c[k].end / BLOCK + 1, p = (uint64_t)rand() % all * BLOCK;
            sim_spoil(segment_path(log, k), p, p + blocks * BLOCK, EIO, 0);
        }
        forget(look(log));
        forget(look(segment_path(log, 1 + (unsigned)rand() % 3)));
        sim_clear();
        remove_log(log);
        copy_log(at("whole"), log);
    }
}
END_TEST

Suite *suite_unreadable(void)
{
    Suite *s = suite_create("unreadable");
    TCase *t = tcase_create("unreadable");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, one_bad_block_of_a_closed_log_costs_the_frames_that_it_touches);
    tcase_add_test(t, many_bad_blocks_far_apart_cost_what_they_touch);
    tcase_add_loop_test(t, one_bad_block_of_an_unclosed_log_does_not_end_it, 0, 2);
    tcase_add_test(t, a_segment_whose_first_block_is_bad_is_read_by_the_secret_that_the_next_one_keeps);
    tcase_add_test(t, a_segment_whose_secret_cannot_be_read_is_told_whole);
    tcase_add_test(t, what_cannot_be_read_for_a_while_is_not_remembered);
    tcase_add_loop_test(t, a_cursor_that_turns_while_the_disk_changes_its_mind_passes_nothing, 0, 63);
    tcase_add_test(t, a_key_behind_a_bad_block_is_found_and_an_absent_one_is_not_sure);
    tcase_add_test(t, a_seal_that_cannot_be_read_costs_nothing);
    tcase_add_test(t, a_bad_block_is_told_by_one_range);
    tcase_add_test(t, bad_blocks_of_a_fork_do_not_hide_it);
    tcase_add_loop_test(t, bad_blocks_beside_other_damage_are_judged_by_the_rules, 0, 8);
    suite_add_tcase(s, t);
    return s;
}
