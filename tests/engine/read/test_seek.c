/*
 * tests/engine/read/test_seek.c: what seeking costs, bisection by a caller's test, bounds, and cursors that are saved and
 * gone on with elsewhere.
 */
#include "engine/read/cursor_line.h"
#include "tests/engine/log/trimmed.h"
#include "tests/engine/read/walks.h"
#include "tests/must.h"
#include "tests/suites.h"

#include <u9/cursor.h>
#include <u9/trim.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENTS = 1000, SECOND = 1000000 };

static const u9_seek to_start = {.size = sizeof(u9_seek), .kind = U9_SEEK_START};
static const u9_seek to_end = {.size = sizeof(u9_seek), .kind = U9_SEEK_END};

static u9_seek to_ordinal(uint64_t n)
{
    return (u9_seek){.size = sizeof(u9_seek), .kind = U9_SEEK_ORDINAL, .number = n};
}

static u9_seek to_saved(const char *text)
{
    return (u9_seek){.size = sizeof(u9_seek), .kind = U9_SEEK_SAVED, .text = text};
}

static u9_cursor *sought(u9_log *log, u9_seek to)
{
    u9_cursor *c;
    u9_fault fault = {0};
    u9_err err = u9_log_seek(log, &to, &c, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    return c;
}

static u9_record next_of(u9_cursor *c)
{
    u9_record r;
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
    return r;
}

static u9_record prev_of(u9_cursor *c)
{
    u9_record r;
    ck_assert_int_eq(u9_cursor_prev(c, &r), U9_OK);
    return r;
}

static void expect_end(u9_cursor *c, bool back)
{
    u9_record r;
    for (unsigned i = 0; i < 2; i++) ck_assert_int_eq(back ? u9_cursor_prev(c, &r) : u9_cursor_next(c, &r), U9_END);
}

/* How many segments were read since the diary was forgotten. */
static unsigned segments_read(void)
{
    size_t count;
    unsigned n = 0;
    const sim_op *ops = sim_ops(&count);
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < i && (ops[k].kind != SIM_READ || ops[k].segment != ops[i].segment)) k++;
        n += ops[i].kind == SIM_READ && k == i;
    }
    return n;
}

/* A record each ten seconds, a thousand segments. */
static void make_long(const char *log)
{
    static const uint8_t filler[30000];
    u9_options o = small_options();
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(log, &o);
    for (unsigned i = 0; i < 2 * SEGMENTS; i++) {
        append_bytes(w, filler, sizeof filler);
        sim_advance(10 * SECOND);
    }
    close_log(w);
    ck_assert_uint_ge(segments_in(log), SEGMENTS);
}

/* */
START_TEST(a_time_in_a_log_of_a_thousand_segments_is_found_in_a_few)
{
    make_long(at("log"));
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_start), *d;
    uint64_t first = next_of(c).time_us;
    for (unsigned i = 0; i < 20; i++) {
        u9_seek to = {.size = sizeof to, .kind = U9_SEEK_TIME, .number = first + (uint64_t)rand() % (19000 * UINT64_C(1000000))};
        sim_forget_diary();
        d = sought(log, to);
        u9_record r = next_of(d);
        ck_assert_uint_ge(r.time_us, to.number);
        ck_assert_uint_le(segments_read(), 4);
        ck_assert_uint_le(sim_bytes(SIM_READ), 6 << 16);
        uint64_t ordinal = r.ordinal;
        (void)prev_of(d);
        if (ordinal > 0) ck_assert_uint_lt(prev_of(d).time_us, to.number);
        u9_cursor_close(d);
        sim_forget_diary();
        d = sought(log, to_ordinal(ordinal));
        ck_assert_uint_eq(next_of(d).ordinal, ordinal);
        ck_assert_uint_le(segments_read(), 3);
        u9_cursor_close(d);
    }
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

/* What a `u9open` says is what the clock said; that of its frame never falls. [F-4] */
START_TEST(a_time_is_found_though_the_clock_was_set_back) /* */
{
    static const uint8_t filler[30000];
    uint64_t times[60];
    unsigned count = 0;
    u9_record r;
    u9_options o = small_options();
    for (unsigned session = 0; session < 5; session++) {
        sim_set_wall(UINT64_C(1700000000000000) + (session == 1 ? 3600 * UINT64_C(1000000) : 0));
        u9_log *w = open_writer(at("log"), &o);
        for (unsigned i = 0; i < 12; i++) append_bytes(w, filler, sizeof filler);
        close_log(w);
    }
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_start);
    for (; u9_cursor_next(c, &r) == U9_OK; count++) times[count] = r.time_us;
    u9_cursor_close(c);
    ck_assert_uint_eq(count, 60);
    for (unsigned i = 0, first = 0; i < count; i++) {
        u9_seek to = {.size = sizeof to, .kind = U9_SEEK_TIME, .number = times[i]};
        while (times[first] < times[i]) first++;
        c = sought(log, to);
        ck_assert_uint_eq(next_of(c).ordinal, first);
        u9_cursor_close(c);
    }
    close_log(log);
}
END_TEST

/* The seal of a segment, written when the mark names the next one, is younger than what stands there first: where that
 * one's u9open is damaged, nothing names the end in front of the seal. [Q-2] [S-6] */
START_TEST(a_time_before_a_younger_seal_is_found)
{
    static const uint8_t filler[20000];
    enum { RECORDS = 20 };
    uint64_t times[RECORDS];
    u9_options o = small_options();
    o.policy = U9_POLICY_NONE;
    sim_task_chance(0); /* nothing is written but where the writer waits for it */
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < RECORDS; i++) {
        sim_set_wall(UINT64_C(1700000000000000) + i * UINT64_C(1000000));
        append_bytes(w, filler, sizeof filler);
    }
    close_log(w);
    unsigned segments = (unsigned)segments_in(at("log"));
    ck_assert_uint_ge(segments, 4);
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_start);
    for (unsigned i = 0; i < RECORDS; i++) times[i] = next_of(c).time_us;
    u9_cursor_close(c);
    close_log(log);
    for (uint64_t n = 2; n < segments; n++) sim_write(segment_path(at("log"), n), 90, "U", 1); /* but the last one: closed, not sealed */
    log = open_reader(at("log"));
    for (unsigned i = 1; i < RECORDS; i++) {
        if (times[i] == times[i - 1]) continue; /* of one frame */
        u9_seek to = {.size = sizeof to, .kind = U9_SEEK_TIME, .number = times[i]};
        c = sought(log, to);
        ck_assert_uint_eq(prev_of(c).ordinal, i - 1);
        u9_cursor_close(c);
    }
    close_log(log);
}
END_TEST

/* */
START_TEST(the_last_records_of_a_whole_log_are_read_without_its_segments)
{
    u9_options o = small_options();
    o.segment_size = 16 << 20;
    u9_log *w = open_writer(at("log"), &o);
    append_many(w, "a record of some bytes, one of very many, number ", 100000, 0);
    close_log(w);
    u9_log *log = open_reader(at("log"));
    sim_forget_diary();
    u9_cursor *c = sought(log, to_end);
    for (uint64_t n = 100000; n > 99990;) ck_assert_uint_eq(prev_of(c).ordinal, --n);
    ck_assert_uint_le(sim_bytes(SIM_READ), 4 << 16);
    while (prev_of(c).ordinal > 0) continue;
    ck_assert_uint_le(sim_bytes(SIM_READ), 2 * sim_size(segment_path(at("log"), 1))); /* each byte about once */
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

/* [Q-1] [M-5] With a writer at work, and behind what it marked a second ago. */
START_TEST(the_last_records_of_a_log_that_is_being_written_are_read_from_the_mark_on)
{
    u9_options o = small_options();
    o.segment_size = 16 << 20;
    u9_log *w = open_writer(at("log"), &o);
    append_many(w, "a record of some bytes, one of very many, number ", 100000, 0);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    sim_advance(3 * SECOND);
    append_many(w, "the last ones ", 5, 2);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    u9_log *log = open_reader(at("log"));
    sim_forget_diary();
    u9_cursor *c = sought(log, to_end);
    for (uint64_t n = 100005; n > 99990;) ck_assert_uint_eq(prev_of(c).ordinal, --n);
    ck_assert_uint_le(sim_bytes(SIM_READ), 12 << 16);
    u9_cursor_close(c);
    close_log(log);
    close_log(w);
}
END_TEST

static int is_from(void *ctx, const u9_record *r)
{
    return r->ordinal >= *(const uint64_t *)ctx;
}

/* */
START_TEST(any_test_that_turns_true_once_is_bisected)
{
    make_row_of_segments(at("log"));
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_start);
    for (uint64_t n = 0; n <= TRIM_RECORDS; n++) {
        ck_assert_int_eq(u9_cursor_bisect(c, is_from, &n), U9_OK);
        if (n < TRIM_RECORDS) ck_assert_uint_eq(next_of(c).ordinal, n);
        else expect_end(c, false);
    }
    ck_assert_int_eq(u9_cursor_bisect(c, NULL, NULL), U9_ARG);
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

/* [Q-2] [L-6] */
START_TEST(a_key_is_found_by_its_order_and_record_keys_have_none)
{
    events all = {0};
    make_row_of_segments(at("log"));
    make_keyed_row(at("keyed"));
    u9_log *log = open_noting(at("log"), &all);
    u9_cursor *c = sought(log, to_start), *d;
    for (u9_record r; u9_cursor_next(c, &r) == U9_OK;) {
        uint8_t key[16];
        memcpy(key, r.key.data, sizeof key);
        u9_seek to = {.size = sizeof to, .kind = U9_SEEK_KEY, .key = {key, sizeof key}};
        d = sought(log, to);
        ck_assert_uint_eq(next_of(d).ordinal, r.ordinal);
        u9_cursor_close(d);
        key[15]++; /* behind this one, and not behind the next */
        d = sought(log, to);
        if (r.ordinal + 1 < TRIM_RECORDS) ck_assert_uint_eq(next_of(d).ordinal, r.ordinal + 1);
        else expect_end(d, false);
        u9_cursor_close(d);
    }
    u9_seek to = {.size = sizeof to, .kind = U9_SEEK_KEY, .key = {"short", 5}};
    ck_assert_int_eq(u9_cursor_seek(c, &to), U9_ARG);
    u9_cursor_close(c);
    close_log(log);
    log = open_reader(at("keyed"));
    to.key = (u9_key){"k003", 4};
    ck_assert_int_eq(u9_log_seek(log, &to, &c, NULL), U9_ARG);
    close_log(log);
    drop_events(&all);
}
END_TEST

/* */
START_TEST(bounds_hold_either_way)
{
    u9_log *w = open_rolling(at("log"));
    uint64_t times[TRIM_RECORDS];
    static const uint8_t filler[TRIM_FILLER];
    for (unsigned i = 0; i < TRIM_RECORDS; i++) {
        append_bytes(w, filler, sizeof filler);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        sim_advance(SECOND);
    }
    close_log(w);
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_start);
    for (unsigned i = 0; i < TRIM_RECORDS; i++) times[i] = next_of(c).time_us;
    u9_bounds b = {.size = sizeof b, .from = 5, .to = 12, .until_us = U9_NOWHERE};
    ck_assert_int_eq(u9_cursor_within(c, &b), U9_OK);
    expect_end(c, true);
    for (uint64_t n = 5; n < 12; n++) ck_assert_uint_eq(next_of(c).ordinal, n);
    expect_end(c, false);
    ck_assert_uint_eq(prev_of(c).ordinal, 11);
    b = (u9_bounds){.size = sizeof b, .from = 3, .to = 30, .since_us = times[7], .until_us = times[9]};
    ck_assert_int_eq(u9_cursor_within(c, &b), U9_OK);
    ck_assert_int_eq(u9_cursor_seek(c, &to_end), U9_OK);
    expect_end(c, false);
    ck_assert_uint_eq(prev_of(c).ordinal, 8);
    ck_assert_uint_eq(prev_of(c).ordinal, 7);
    expect_end(c, true);
    ck_assert_int_eq(u9_cursor_seek(c, &to_start), U9_OK);
    ck_assert_uint_eq(next_of(c).ordinal, 7);
    b.until_us = times[6];
    ck_assert_int_eq(u9_cursor_within(c, &b), U9_ARG);
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

/* A row of segments in which the frame of this record is lost. */
static void make_row_without(uint64_t ordinal)
{
    make_row_of_segments(at("log"));
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_ordinal(ordinal));
    u9_record r = next_of(c);
    u9_cursor_close(c);
    close_log(log);
    flip_bit(segment_path(at("log"), r.segment), r.frame + 100, 1);
}

/* What a cursor that was sent there shows next: the loss of `lost`, then record `then`. */
static void expect_loss(u9_log *log, u9_seek to, uint64_t lost, uint64_t then)
{
    u9_record r;
    u9_cursor *c = sought(log, to);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_CORRUPT);
    ck_assert_uint_eq(u9_cursor_damage(c)->ordinal, lost);
    ck_assert_uint_eq(next_of(c).ordinal, then);
    u9_cursor_close(c);
}

/* Wherever the place is found by, and though frames without records stand between damage and record. */
START_TEST(damage_in_front_of_the_place_is_told)
{
    u9_record r[4];
    for (unsigned i = 0; i < 4; i++) { /* a session each */
        u9_log *w = open_writer(at("log"), NULL);
        append_text(w, "of a session");
        close_log(w);
        sim_advance(SECOND);
    }
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_start);
    for (unsigned i = 0; i < 4; i++) r[i] = next_of(c);
    u9_cursor_close(c);
    close_log(log);
    flip_bit(segment_path(at("log"), 1), r[1].frame + 100, 1);
    log = open_reader(at("log"));
    for (uint64_t n = 1; n <= 2; n++) expect_loss(log, to_ordinal(n), 1, 2);
    for (uint64_t t = r[0].time_us + 1; t <= r[2].time_us; t += t + 1 < r[2].time_us ? r[2].time_us - t - 1 : 1)
        expect_loss(log, (u9_seek){.size = sizeof(u9_seek), .kind = U9_SEEK_TIME, .number = t}, 1, 2);
    for (uint64_t p = r[0].frame + 1; p <= r[2].frame; p++)
        expect_loss(log, (u9_seek){.size = sizeof(u9_seek), .kind = U9_SEEK_OFFSET, .segment = 1, .offset = p}, 1, 2);
    close_log(log);
}
END_TEST

/* The same where the damage is the last of one segment, and the record the first of the next. */
START_TEST(damage_at_the_end_of_the_segment_before_is_told)
{
    make_row_of_segments(at("log"));
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_start);
    u9_record last = next_of(c);
    while (last.segment == 1) last = next_of(c);
    u9_record first = last; /* of that segment's last frame, and of the next */
    for (; first.segment == last.segment; first = next_of(c))
        if (first.frame != last.frame) last = first;
    u9_cursor_close(c);
    close_log(log);
    flip_bit(segment_path(at("log"), last.segment), last.frame + 100, 1);
    log = open_reader(at("log"));
    expect_loss(log, to_ordinal(first.ordinal), last.ordinal, first.ordinal);
    expect_loss(log, (u9_seek){.size = sizeof(u9_seek), .kind = U9_SEEK_TIME, .number = first.time_us}, last.ordinal, first.ordinal);
    for (uint64_t offset = 0; offset <= first.frame; offset += 16)
        expect_loss(log, (u9_seek){.size = sizeof(u9_seek), .kind = U9_SEEK_OFFSET, .segment = first.segment, .offset = offset},
                    last.ordinal, first.ordinal);
    close_log(log);
    fill_bytes(segment_path(at("log"), first.segment), 2, 1, 0x55); /* behind that loss: who goes back from it is not told, either */
    log = open_reader(at("log"));
    c = sought(log, to_start);
    u9_bounds bounds = {.size = sizeof bounds, .to = last.ordinal, .until_us = U9_NOWHERE};
    ck_assert_int_eq(u9_cursor_within(c, &bounds), U9_OK);
    for (uint64_t i = 0; i < last.ordinal; i++) ck_assert_uint_eq(next_of(c).ordinal, i);
    for (unsigned i = 0; i < 2; i++) ck_assert_int_eq(u9_cursor_next(c, &first), U9_END);
    ck_assert_uint_eq(prev_of(c).ordinal, last.ordinal - 1);
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

/* Back over damage, what it cost comes next. */
START_TEST(a_cursor_that_went_back_over_damage_is_saved_in_front_of_it)
{
    char text[U9_CURSOR_TEXT_SIZE];
    u9i_cursor_line line;
    u9_fault fault;
    u9_record r;
    make_row_of_segments(at("log"));
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_start);
    uint64_t first = next_of(c).frame;
    u9_cursor_close(c);
    close_log(log);
    flip_bit(segment_path(at("log"), 1), first + 100, 1);
    log = open_reader(at("log"));
    c = sought(log, to_end);
    u9_err err = U9_OK;
    while (err == U9_OK) err = u9_cursor_prev(c, &r);
    ck_assert_int_eq(err, U9_CORRUPT);
    for (unsigned i = 0; i < 2; i++) { /* before the log's begin is looked for, and behind that */
        ck_assert_int_eq(u9_cursor_save(c, text, sizeof text), U9_OK);
        ck_assert_int_eq(u9i_cursor_line_parse(text, &line, &fault), U9_OK);
        ck_assert_uint_eq(line.ordinal, 0);
        expect_end(c, true);
    }
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_CORRUPT);
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

/* */
START_TEST(the_end_of_bounds_is_behind_what_is_lost_in_front_of_it)
{
    u9_record r;
    make_row_without(12);
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_start);
    while (u9_cursor_next(c, &r) == U9_OK) continue;
    uint64_t first = u9_cursor_damage(c)->ordinal, behind = first + u9_cursor_damage(c)->lost;
    ck_assert(first > 0 && first <= 12 && behind > 12);
    for (uint64_t to = first; to <= behind; to++) {
        u9_bounds b = {.size = sizeof b, .to = to, .until_us = U9_NOWHERE};
        ck_assert_int_eq(u9_cursor_within(c, &b), U9_OK);
        ck_assert_int_eq(u9_cursor_seek(c, &to_end), U9_OK);
        if (to > first) {
            ck_assert_int_eq(u9_cursor_prev(c, &r), U9_CORRUPT);
            ck_assert_uint_eq(u9_cursor_damage(c)->ordinal, first);
        }
        ck_assert_uint_eq(prev_of(c).ordinal, first - 1);
    }
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

/* Forwards as backwards: what is known to be lost outside of the bounds alone is none of theirs. */
/*
 * A cursor that came to the end, one way or another, and the log goes on, or is closed, or both: whoever goes back from there
 * comes to the record that was the last, as the files are what they were as far as they went.
 */
START_TEST(the_end_that_a_cursor_came_to_is_where_it_goes_back_from) /* */
{
    enum { BEFORE = 30 };
    bool reopens = _i & 1, grows = _i & 2, follows = _i & 4, seeks = _i & 8, bound = _i & 16, open_ended = _i & 32;
    u9_options o = writer_options();
    u9_log *w = open_writer(at("log"), &o), *r;
    for (unsigned i = 0; i < BEFORE; i++) append_text(w, "before");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    r = open_reader(at("log"));
    u9_cursor *c;
    u9_record record;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    if (follows) ck_assert_int_eq(u9_cursor_follow(c, U9_SHOW_DURABLE), U9_OK);
    u9_bounds bounds = {.size = sizeof bounds, .from = 10, .to = open_ended ? U9_NOWHERE : 100, .until_us = U9_NOWHERE};
    if (bound) ck_assert_int_eq(u9_cursor_within(c, &bounds), U9_OK);
    if (seeks) ck_assert_int_eq(u9_cursor_seek(c, &to_end), U9_OK);
    else while (u9_cursor_next(c, &record) == U9_OK) continue;
    if (reopens) {
        close_log(w);
        w = open_writer(at("log"), &o);
    }
    if (grows) {
        for (unsigned i = 0; i < 5; i++) append_text(w, "behind");
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    u9_record back = prev_of(c);
    uint64_t last = back.ordinal;
    if (!seeks) ck_assert_uint_eq(last, BEFORE - 1);
    ck_assert(last == BEFORE - 1 || (grows && last == BEFORE + 4)); /* the end of the log is where it is by then */
    ck_assert_uint_eq(next_of(c).ordinal, last);
    ck_assert_uint_eq(prev_of(c).ordinal, last);
    ck_assert_uint_eq(prev_of(c).ordinal, last - 1);
    u9_cursor_close(c);
    close_log(r);
    close_log(w);
}
END_TEST

START_TEST(damage_outside_of_the_bounds_is_not_told)
{
    events all = {0};
    make_row_without(12);
    u9_log *log = open_noting(at("log"), &all);
    u9_cursor *c = sought(log, to_start);
    walk_on(c, &all);
    size_t i = 0;
    while (!all.all[i].damage) i++;
    uint64_t first = all.all[i].ordinal, behind = first + all.all[i].lost, last = all.all[all.count - 1].ordinal;
    ck_assert(first > 0 && first <= 12 && behind > 12 && behind < last);
    for (uint64_t from = 0; from <= last; from++)
        for (uint64_t to = from + 1; to <= last + 1; to++) {
            u9_bounds b = {.size = sizeof b, .from = from, .to = to, .until_us = U9_NOWHERE};
            bool within = from < behind && to > first;
            ck_assert_int_eq(u9_cursor_within(c, &b), U9_OK);
            for (unsigned back = 0; back < 2; back++) {
                size_t told = 0;
                drop_events(&all);
                if (back) ck_assert_int_eq(u9_cursor_seek(c, &to_end), U9_OK);
                (back ? walk_back : walk_on)(c, &all);
                for (size_t n = 0; n < all.count; n++) told += all.all[n].damage;
                ck_assert_msg(told == within, "%llu to %llu, back %u: %zu", (unsigned long long)from, (unsigned long long)to, back, told);
            }
        }
    u9_cursor_close(c);
    close_log(log);
    drop_events(&all);
}
END_TEST

/* A key that was lost, or stood next to what was: what may have been at it, or behind, is told before what is left. */
START_TEST(a_key_within_what_was_lost_is_in_front_of_the_damage)
{
    uint8_t keys[TRIM_RECORDS][16];
    u9_record r;
    make_row_of_segments(at("log"));
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_start);
    uint64_t frame = 0, segment = 0;
    for (unsigned i = 0; i < TRIM_RECORDS; i++) {
        r = next_of(c);
        memcpy(keys[i], r.key.data, sizeof keys[i]);
        if (i == 12) frame = r.frame, segment = r.segment;
    }
    u9_cursor_close(c);
    close_log(log);
    flip_bit(segment_path(at("log"), segment), frame + 100, 1);
    log = open_reader(at("log"));
    c = sought(log, to_start);
    while (u9_cursor_next(c, &r) == U9_OK) continue;
    uint64_t first = u9_cursor_damage(c)->ordinal, behind = first + u9_cursor_damage(c)->lost;
    for (uint64_t n = first; n <= behind; n++) {
        u9_seek to = {.size = sizeof to, .kind = U9_SEEK_KEY, .key = {keys[n], 16}};
        char line[U9_CURSOR_TEXT_SIZE];
        ck_assert_int_eq(u9_cursor_seek(c, &to), U9_OK);
        ck_assert_int_eq(u9_cursor_save(c, line, sizeof line), U9_OK);
        ck_assert_int_eq(u9_cursor_next(c, &r), U9_CORRUPT);
        ck_assert_uint_eq(u9_cursor_damage(c)->ordinal, first);
        ck_assert_uint_eq(next_of(c).ordinal, behind);
        u9i_cursor_line saved;
        ck_assert_int_eq(u9i_cursor_line_parse(line, &saved, NULL), U9_OK);
        ck_assert_uint_eq(saved.ordinal, first); /* of what comes next, if none is lost */
    }
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

static void save(u9_cursor *c, char text[U9_CURSOR_TEXT_SIZE])
{
    ck_assert_int_eq(u9_cursor_save(c, text, U9_CURSOR_TEXT_SIZE), U9_OK);
}

/* */
START_TEST(a_saved_cursor_goes_on_where_it_was)
{
    char text[U9_CURSOR_TEXT_SIZE], again[U9_CURSOR_TEXT_SIZE];
    make_row_of_segments(at("log"));
    for (uint64_t n = 0; n < TRIM_RECORDS; n++) {
        u9_log *log = open_reader(at("log"));
        u9_cursor *c = sought(log, to_start);
        for (uint64_t i = 0; i < n; i++) (void)next_of(c);
        save(c, text);
        u9_cursor_close(c);
        close_log(log);
        if (n % 10 == 0) session(at("log"), "more", 3, 1); /* it is open, crashes, rolls ... */
        log = open_reader(at("log"));
        c = sought(log, to_saved(text));
        save(c, again);
        if (n % 10 != 0) ck_assert_str_eq(text, again);
        ck_assert_uint_eq(next_of(c).ordinal, n);
        if (n > 0) (void)prev_of(c);
        if (n > 0) ck_assert_uint_eq(prev_of(c).ordinal, n - 1);
        u9_cursor_close(c);
        close_log(log);
    }
}
END_TEST

/* A place that nothing was read of: the record before it tells, and nothing is told of on the way. */
START_TEST(a_cursor_at_the_end_is_saved_too)
{
    char text[U9_CURSOR_TEXT_SIZE];
    events e = {0};
    make_row_of_segments(at("log"));
    u9_log *log = open_noting(at("log"), &e);
    u9_cursor *c = sought(log, to_end);
    save(c, text);
    u9_cursor_close(c);
    close_log(log);
    session(at("log"), "more", 1, 1);
    log = open_noting(at("log"), &e);
    c = sought(log, to_saved(text));
    ck_assert_uint_eq(next_of(c).ordinal, TRIM_RECORDS);
    ck_assert_uint_eq(e.count, 0);
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

/* Behind the record that was the last when it came there, whatever was appended since; it may have shown none. */
START_TEST(a_cursor_that_came_to_the_end_is_saved_there)
{
    char text[U9_CURSOR_TEXT_SIZE];
    bool follows = _i & 1, saved = _i & 2, appends = _i & 4, trims = _i & 8;
    u9_log *w = open_rolling(at("log")), *log;
    u9_cursor *c;
    u9_record r;
    if (appends) append_fillers(w, 12);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    if (trims) trim_on(w, (u9_trim){.size = sizeof(u9_trim), .keep_bytes = 1});
    uint64_t next = u9_log_next(w);
    if (saved) {
        log = open_reader(at("log"));
        c = sought(log, to_end);
        save(c, text);
        u9_cursor_close(c);
        close_log(log);
    }
    log = open_reader(at("log"));
    c = sought(log, saved ? to_saved(text) : to_start);
    if (follows) ck_assert_int_eq(u9_cursor_follow(c, U9_SHOW_DURABLE), U9_OK);
    u9_err err;
    while ((err = u9_cursor_next(c, &r)) == U9_OK) continue;
    ck_assert_int_eq(err, U9_END);
    for (unsigned more = 1; more <= 20; more += 19) { /* in that segment, and in new ones */
        append_fillers(w, more);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        save(c, text);
        u9_log *other = open_reader(at("log"));
        u9_cursor *d = sought(other, to_saved(text));
        ck_assert_uint_eq(next_of(d).ordinal, next);
        u9_cursor_close(d);
        close_log(other);
    }
    if (follows) ck_assert_uint_eq(next_of(c).ordinal, next);
    u9_cursor_close(c);
    close_log(log);
    close_log(w);
}
END_TEST

/* A writer that trims before the n-th call of who seeks. */
static u9_log *trimmer;
static unsigned trims_at;
static void trim_under_seek(sim_kind kind)
{
    (void)kind;
    if (trims_at == 0 || --trims_at > 0) return;
    append_fillers(trimmer, 20);
    trim_on(trimmer, below_ordinal(30));
}

/* It shows each record from there on, or tells that it was trimmed. */
static void expect_none_passed(u9_cursor *c, uint64_t from, uint64_t until, unsigned nth)
{
    uint64_t next = from;
    u9_record r;
    u9_err err;
    while ((err = u9_cursor_next(c, &r)) != U9_END) {
        ck_assert_msg(err == U9_OK || err == U9_ABSENT, "call %u, from %d: %d", nth, (int)from, err);
        const u9_damage *d = u9_cursor_damage(c);
        uint64_t first = err == U9_OK ? r.ordinal : d->ordinal, behind = err == U9_OK ? first + 1 : first + d->lost;
        ck_assert_msg(first == next && behind > next, "call %u, from %d: %d is expected, and %d comes (%d)", nth, (int)from,
                      (int)next, (int)first, err);
        next = behind;
    }
    ck_assert_uint_ge(next, until);
}

/* [L-10] Where a cursor is sent while that is trimmed, before and behind each call: nothing is passed in silence. */
START_TEST(what_is_trimmed_where_a_cursor_is_sent_is_told)
{
    static const uint64_t places[] = {3, 12, 17, 25, 29};
    char text[U9_CURSOR_TEXT_SIZE];
    bool follows = _i & 1;
    uint64_t n = places[_i / 2];
    make_row_of_segments(at("log"));
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_start);
    for (uint64_t k = 0; k < n; k++) (void)next_of(c);
    save(c, text);
    u9_cursor_close(c);
    close_log(log);
    copy_log(at("log"), at("row"));
    for (unsigned nth = 1, left = 0; left == 0; nth++) {
        u9_fault fault;
        remove_log(at("log"));
        copy_log(at("row"), at("log"));
        trimmer = open_rolling(at("log"));
        log = open_reader(at("log"));
        u9_seek to = to_saved(text);
        trims_at = nth;
        sim_before_call(trim_under_seek);
        u9_err err = u9_log_seek(log, &to, &c, &fault);
        ck_assert_msg(err == U9_OK, "call %u, from %d: %s", nth, (int)n, fault.text);
        if (follows) ck_assert_int_eq(u9_cursor_follow(c, U9_SHOW_DURABLE), U9_OK);
        expect_none_passed(c, n, TRIM_RECORDS, nth);
        sim_before_call(NULL);
        left = trims_at;
        u9_cursor_close(c);
        close_log(log);
        close_log(trimmer);
    }
}
END_TEST

/* What is saved knows of no bounds: a cursor in front of its own, or behind them, is saved at their start, or end. */
START_TEST(a_cursor_at_its_bounds_is_saved_there)
{
    char text[U9_CURSOR_TEXT_SIZE];
    events e = {0};
    make_row_of_segments(at("log"));
    u9_log *log = open_noting(at("log"), &e);
    u9_bounds bounds = {.size = sizeof bounds, .from = 11, .to = 17, .until_us = U9_NOWHERE};
    for (unsigned i = 0; i < 4; i++) { /* as it is opened, sent there, sent in front of that, and at the end */
        u9_cursor *c, *again;
        u9_range range = {.size = sizeof range, .from = 11};
        ck_assert_int_eq(u9_cursor_open(log, i == 0 ? &range : NULL, &c, NULL), U9_OK);
        if (i > 0) ck_assert_int_eq(u9_cursor_within(c, &bounds), U9_OK);
        u9_seek to = to_ordinal(2);
        if (i == 2) ck_assert_int_eq(u9_cursor_seek(c, &to), U9_OK);
        u9_record r;
        if (i == 3) while (u9_cursor_next(c, &r) == U9_OK) continue;
        save(c, text);
        again = sought(log, to_saved(text));
        ck_assert_uint_eq(next_of(again).ordinal, i == 3 ? 17 : 11);
        u9_cursor_close(again);
        u9_cursor_close(c);
    }
    ck_assert_uint_eq(e.count, 0);
    close_log(log);
}
END_TEST

/* [Q-3] [L-10] */
START_TEST(a_saved_cursor_whose_records_were_trimmed_says_so_and_goes_on_with_what_is_kept)
{
    char text[U9_CURSOR_TEXT_SIZE], again[U9_CURSOR_TEXT_SIZE];
    u9_record r;
    make_row_of_segments(at("log"));
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_ordinal(3));
    (void)next_of(c);
    save(c, text);
    u9_cursor_close(c);
    close_log(log);
    uint64_t kept = trim_log(at("log"), below_ordinal(20)).ordinal;
    ck_assert_uint_gt(kept, 4);
    log = open_reader(at("log"));
    c = sought(log, to_saved(text));
    save(c, again); /* not read yet: the same place still */
    u9_cursor *d = sought(log, to_saved(again));
    ck_assert_int_eq(u9_cursor_next(d, &r), U9_ABSENT);
    u9_cursor_close(d);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_ABSENT);
    const u9_damage *told = u9_cursor_damage(c);
    ck_assert_int_eq(told->reason, U9_R_TRIMMED);
    ck_assert_uint_eq(told->ordinal, 4);
    ck_assert_uint_eq(told->lost, kept - 4);
    ck_assert_uint_eq(next_of(c).ordinal, kept);
    (void)prev_of(c);
    expect_end(c, true);
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

/* [Q-1] [L-10] What was trimmed under a cursor is told once each way, and behind it all is there. */
START_TEST(a_cursor_that_comes_back_to_what_was_trimmed_is_told_so)
{
    u9_err err;
    u9_record r;
    make_row_of_segments(at("log"));
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_end);
    uint64_t last = prev_of(c).ordinal;
    uint64_t kept = trim_log(at("log"), below_ordinal(20)).ordinal;
    while (last > kept) last = prev_of(c).ordinal;
    for (unsigned turn = 0; turn < 2; turn++) {
        ck_assert_int_eq(u9_cursor_prev(c, &r), U9_ABSENT);
        const u9_damage *told = u9_cursor_damage(c);
        ck_assert_int_eq(told->reason, U9_R_TRIMMED);
        ck_assert_uint_eq(told->ordinal, 0);
        ck_assert_uint_eq(told->lost, kept);
        expect_end(c, true);
        ck_assert_int_eq(u9_cursor_next(c, &r), U9_ABSENT);
        ck_assert_uint_eq(next_of(c).ordinal, kept);
        ck_assert_uint_eq(prev_of(c).ordinal, kept);
    }
    u9_cursor_close(c);
    c = sought(log, to_ordinal(3)); /* the handle looks anew: it is not there */
    ck_assert_uint_eq(next_of(c).ordinal, kept);
    u9_cursor_close(c);
    c = sought(log, to_ordinal(kept + 12));
    for (unsigned i = 0; i < 6; i++) last = prev_of(c).ordinal; /* in the midst of a segment, which goes then */
    uint64_t kept_now = trim_log(at("log"), below_ordinal(kept + 25)).ordinal;
    ck_assert_uint_gt(kept_now, kept + 12);
    while ((err = u9_cursor_next(c, &r)) == U9_OK) ck_assert_uint_eq(r.ordinal, last++);
    ck_assert_int_eq(err, U9_ABSENT);
    ck_assert_uint_le(u9_cursor_damage(c)->ordinal, last); /* all of the segment is gone */
    ck_assert_uint_eq(u9_cursor_damage(c)->ordinal + u9_cursor_damage(c)->lost, kept_now);
    ck_assert_uint_eq(next_of(c).ordinal, kept_now);
    u9_cursor_close(c);
    kept = kept_now;
    c = sought(log, to_start);
    ck_assert_uint_eq(next_of(c).ordinal, kept);
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

/* A read that fails is told, and the same call may be tried again. */
START_TEST(a_step_back_that_cannot_read_is_tried_again)
{
    u9_record r;
    make_row_of_segments(at("log"));
    u9_log *log = open_reader(at("log"));
    for (unsigned nth = 1; nth < 30; nth++) {
        u9_cursor *c = sought(log, to_end);
        uint64_t next = TRIM_RECORDS;
        sim_fail(SIM_READ, nth, -ENOMEM, false);
        while (next > 0) {
            u9_err err = u9_cursor_prev(c, &r);
            if (err == U9_OK) ck_assert_uint_eq(r.ordinal, --next);
            else ck_assert_int_eq(err, U9_IO);
        }
        sim_mend();
        expect_end(c, true);
        u9_cursor_close(c);
    }
    close_log(log);
}
END_TEST

static void expect_refused(u9_log *log, const char *text, u9_err err, const char *why)
{
    u9_cursor *c;
    u9_fault fault = {0};
    u9_seek to = to_saved(text);
    ck_assert_int_eq(u9_log_seek(log, &to, &c, &fault), err);
    ck_assert_msg(strstr(fault.text, why) != NULL, "%s", fault.text);
}

/* */
START_TEST(what_is_no_saved_cursor_of_this_log_is_refused)
{
    char text[U9_CURSOR_TEXT_SIZE], wrong[U9_CURSOR_TEXT_SIZE];
    make_row_of_segments(at("log"));
    session(at("other"), "r", 3, 1);
    u9_log *other = open_reader(at("other")), *log = open_reader(at("log"));
    u9_cursor *c = sought(other, to_ordinal(2));
    save(c, text);
    u9_cursor_close(sought(other, to_saved(text)));
    expect_refused(log, text, U9_ARG, "of another log");
    for (size_t i = 0; i < strlen(text); i++) {
        strcpy(wrong, text);
        wrong[i] ^= 1;
        u9_seek to = to_saved(wrong);
        u9_err err = u9_cursor_seek(c, &to);
        ck_assert(err == U9_ARG || (i == 8 && err == U9_VERSION));
        wrong[i] = 0;
        expect_refused(other, wrong, U9_ARG, "not the line of a saved cursor");
    }
    expect_refused(other, "u9cursor2 x", U9_VERSION, "another version");
    ck_assert_int_eq(u9_cursor_save(c, wrong, U9_CURSOR_TEXT_SIZE - 1), U9_LIMIT);
    strcat(text, "\n"); /* a line of a file */
    u9_cursor_close(sought(other, to_saved(text)));
    u9_cursor_close(c);
    close_log(log);
    close_log(other);
}
END_TEST

/* The line in SPEC.md: of the log with the id of M-7, and the second frame of the segment in R-13. */
START_TEST(the_example_of_the_specification_is_what_is_written)
{
    static const char example[] = "u9cursor1 a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0 1 be45cb2605bf36bebde684841a28f0fd 528 ba7d2ab5";
    u9i_cursor_line saved = {.ordinal = 1, .frame = 528}, again;
    char text[U9_CURSOR_TEXT_SIZE], line[8192];
    bool there = false;
    static const uint8_t boundary[16] = {0xbe, 0x45, 0xcb, 0x26, 0x05, 0xbf, 0x36, 0xbe, 0xbd, 0xe6, 0x84, 0x84, 0x1a, 0x28, 0xf0, 0xfd};
    memset(saved.log, 0xa0, sizeof saved.log);
    memcpy(saved.boundary, boundary, sizeof boundary);
    u9i_cursor_line_format(&saved, text);
    ck_assert_str_eq(text, example);
    ck_assert_int_eq(u9i_cursor_line_parse(example, &again, NULL), U9_OK);
    ck_assert_mem_eq(&saved, &again, sizeof saved);
    FILE *spec = fopen("SPEC.md", "r");
    ck_assert_ptr_nonnull(spec);
    while (fgets(line, sizeof line, spec)) there |= strncmp(line, example, strlen(example)) == 0;
    fclose(spec);
    ck_assert(there);
}
END_TEST

/* A copy in which the place is damaged, or gone: the ordinal leads on. */
START_TEST(where_the_saved_place_is_gone_the_ordinal_counts)
{
    char text[U9_CURSOR_TEXT_SIZE];
    events e = {0};
    make_row_of_segments(at("log"));
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_ordinal(12));
    (void)next_of(c);
    uint64_t frame = prev_of(c).frame, segment = next_of(c).segment;
    (void)prev_of(c);
    save(c, text);
    u9_cursor_close(c);
    close_log(log);
    flip_bit(segment_path(at("log"), segment), frame + 100, 1);
    log = open_noting(at("log"), &e);
    c = sought(log, to_saved(text));
    ck_assert_uint_gt(next_of(c).ordinal, 12);
    ck_assert_uint_eq(e.count, 1); /* and why is told */
    u9_cursor_close(c);
    close_log(log);
    drop_events(&e);
}
END_TEST

START_TEST(seeks_that_are_none_are_refused)
{
    u9_cursor *c;
    make_row_of_segments(at("log"));
    u9_log *log = open_reader(at("log"));
    c = sought(log, to_ordinal(7));
    u9_seek wrong[] = {{.size = 1, .kind = U9_SEEK_START}, {.size = sizeof *wrong}, {.size = sizeof *wrong, .kind = U9_SEEK_SAVED},
                       {.size = sizeof *wrong, .kind = U9_SEEK_KEY},
                       {.size = sizeof *wrong, .kind = U9_SEEK_OFFSET, .segment = 4711}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) ck_assert_int_eq(u9_cursor_seek(c, &wrong[i]), U9_ARG);
    ck_assert_uint_eq(next_of(c).ordinal, 0); /* it is at its start */
    ck_assert_int_eq(u9_cursor_seek(c, NULL), U9_ARG);
    ck_assert_int_eq(u9_cursor_seek(NULL, &to_start), U9_ARG);
    u9_cursor_close(c);
    u9_range range = {.size = sizeof range, .segment = 2, .begin = 100};
    ck_assert_int_eq(u9_cursor_open(log, &range, &c, NULL), U9_OK);
    u9_seek ordinal = to_ordinal(3);
    uint64_t n = 0;
    u9_bounds bounds = {.size = sizeof bounds, .to = 3, .until_us = U9_NOWHERE};
    ck_assert_int_eq(u9_cursor_seek(c, &ordinal), U9_ARG);
    ck_assert_int_eq(u9_cursor_bisect(c, is_from, &n), U9_ARG);
    ck_assert_int_eq(u9_cursor_within(c, &bounds), U9_ARG);
    ck_assert_int_eq(u9_cursor_seek(c, &to_end), U9_OK);
    (void)prev_of(c);
    u9_cursor_close(c);
    range = (u9_range){.size = sizeof range, .from = 30};
    ck_assert_int_eq(u9_cursor_open(log, &range, &c, NULL), U9_OK);
    u9_seek offset = {.size = sizeof offset, .kind = U9_SEEK_OFFSET, .segment = 1, .offset = 5000};
    ck_assert_int_eq(u9_cursor_seek(c, &offset), U9_ARG); /* it begins behind that */
    bounds.size = 1;
    ck_assert_int_eq(u9_cursor_within(c, &bounds), U9_ARG);
    u9_cursor_close(c);
    ck_assert_int_eq(u9_log_seek(NULL, &to_end, &c, NULL), U9_ARG);
    ck_assert_int_eq(u9_log_seek(log, &to_end, NULL, NULL), U9_ARG);
    close_log(log);
}
END_TEST

/* Of a log in which there is nothing yet, and of what somebody wrote into it then. */
START_TEST(where_there_is_nothing_all_seeks_come_to_the_end)
{
    char text[U9_CURSOR_TEXT_SIZE];
    uint64_t n = 0;
    u9_log *log = open_rolling(at("log"));
    for (unsigned filled = 0; filled < 2; filled++) {
        if (filled) append_fillers(log, TRIM_RECORDS);
        if (filled) ck_assert_int_eq(u9_log_sync(log), U9_OK);
        u9_seek all[] = {to_start, to_ordinal(TRIM_RECORDS), {.kind = U9_SEEK_TIME, .number = U9_NOWHERE}, to_end,
                         {.kind = U9_SEEK_KEY, .key = {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16}}};
        for (size_t i = filled; i < sizeof all / sizeof *all; i++) {
            all[i].size = sizeof all[i];
            u9_cursor *c = sought(log, all[i]);
            expect_end(c, false);
            ck_assert_int_eq(u9_cursor_save(c, text, sizeof text), U9_OK);
            if (!filled) expect_end(c, true);
            else ck_assert_uint_eq(prev_of(c).ordinal, TRIM_RECORDS - 1);
            u9_cursor_close(c);
            c = sought(log, to_saved(text));
            expect_end(c, false);
            ck_assert_int_eq(u9_cursor_bisect(c, is_from, &n), U9_OK);
            if (!filled) expect_end(c, false);
            else ck_assert_uint_eq(next_of(c).ordinal, 0);
            u9_cursor_close(c);
        }
    }
    close_log(log);
}
END_TEST

/* Whatever a line says of the frame: the record that it names comes next. */
START_TEST(a_saved_cursor_is_believed_its_ordinal_alone)
{
    char text[U9_CURSOR_TEXT_SIZE];
    make_row_of_segments(at("log"));
    u9_log *log = open_reader(at("log"));
    u9_cursor *c = sought(log, to_ordinal(12));
    (void)next_of(c);
    save(c, text);
    u9_cursor_close(c);
    u9i_cursor_line right;
    ck_assert_int_eq(u9i_cursor_line_parse(text, &right, NULL), U9_OK);
    const uint64_t frames[] = {0, 32, 33, right.frame, right.frame + 16, 1 << 20, UINT64_MAX, UINT64_MAX - 15};
    const uint64_t ordinals[] = {0, 11, 12, 13, 14, TRIM_RECORDS - 1, TRIM_RECORDS, TRIM_RECORDS + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        for (size_t k = 0; k < sizeof ordinals / sizeof *ordinals; k++) {
            u9i_cursor_line forged = right;
            forged.frame = frames[i];
            forged.ordinal = ordinals[k];
            forged.boundary[3] ^= i % 2 && k % 2;
            u9i_cursor_line_format(&forged, text);
            c = sought(log, to_saved(text));
            if (ordinals[k] < TRIM_RECORDS) ck_assert_uint_eq(next_of(c).ordinal, ordinals[k]);
            else expect_end(c, false);
            u9_cursor_close(c);
        }
    close_log(log);
}
END_TEST

Suite *suite_seek(void)
{
    Suite *suite = suite_create("seek");
    TCase *tc = tcase_create("seek");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_time_in_a_log_of_a_thousand_segments_is_found_in_a_few);
    tcase_add_test(tc, a_time_is_found_though_the_clock_was_set_back);
    tcase_add_test(tc, a_time_before_a_younger_seal_is_found);
    tcase_add_test(tc, the_last_records_of_a_whole_log_are_read_without_its_segments);
    tcase_add_test(tc, the_last_records_of_a_log_that_is_being_written_are_read_from_the_mark_on);
    tcase_add_test(tc, any_test_that_turns_true_once_is_bisected);
    tcase_add_test(tc, a_key_is_found_by_its_order_and_record_keys_have_none);
    tcase_add_test(tc, bounds_hold_either_way);
    tcase_add_test(tc, damage_in_front_of_the_place_is_told);
    tcase_add_test(tc, damage_at_the_end_of_the_segment_before_is_told);
    tcase_add_test(tc, a_cursor_that_went_back_over_damage_is_saved_in_front_of_it);
    tcase_add_test(tc, the_end_of_bounds_is_behind_what_is_lost_in_front_of_it);
    tcase_add_loop_test(tc, the_end_that_a_cursor_came_to_is_where_it_goes_back_from, 0, 64);
    tcase_add_test(tc, damage_outside_of_the_bounds_is_not_told);
    tcase_add_test(tc, a_key_within_what_was_lost_is_in_front_of_the_damage);
    tcase_add_test(tc, a_saved_cursor_goes_on_where_it_was);
    tcase_add_test(tc, a_cursor_at_the_end_is_saved_too);
    tcase_add_loop_test(tc, a_cursor_that_came_to_the_end_is_saved_there, 0, 16);
    tcase_add_loop_test(tc, what_is_trimmed_where_a_cursor_is_sent_is_told, 0, 10);
    tcase_add_test(tc, a_cursor_at_its_bounds_is_saved_there);
    tcase_add_test(tc, a_saved_cursor_whose_records_were_trimmed_says_so_and_goes_on_with_what_is_kept);
    tcase_add_test(tc, a_cursor_that_comes_back_to_what_was_trimmed_is_told_so);
    tcase_add_test(tc, a_step_back_that_cannot_read_is_tried_again);
    tcase_add_test(tc, what_is_no_saved_cursor_of_this_log_is_refused);
    tcase_add_test(tc, the_example_of_the_specification_is_what_is_written);
    tcase_add_test(tc, where_the_saved_place_is_gone_the_ordinal_counts);
    tcase_add_test(tc, seeks_that_are_none_are_refused);
    tcase_add_test(tc, where_there_is_nothing_all_seeks_come_to_the_end);
    tcase_add_test(tc, a_saved_cursor_is_believed_its_ordinal_alone);
    suite_add_tcase(suite, tc);
    return suite;
}
