/*
 * tests/engine/log/test_trim_readers.c: what readers are told of a log that is trimmed beside them. [L-10] [M-8]
 */
#include "engine/check/checker.h"
#include "tests/engine/log/trimmed.h"
#include "tests/engine/link/ship.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <u9/large.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* What readers are told */

START_TEST(a_cursor_reads_the_segment_that_it_is_in_to_its_end) /* [L-10] */
{
    make_row_of_segments(at("log"));
    uint64_t second = first_in(at("log"), 2), kept = first_in(at("log"), 4);
    u9_log *r = open_reader(at("log"));
    u9_cursor *c;
    u9_record record;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    trim_log(at("log"), below_ordinal(kept));
    for (uint64_t i = 1; i < second; i++) {
        ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
        ck_assert_uint_eq(record.ordinal, i);
    }
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_ABSENT);
    const u9_damage *d = u9_cursor_damage(c);
    ck_assert_int_eq(d->reason, U9_R_TRIMMED);
    ck_assert_int_eq(d->verdict, U9_V_TORN);
    ck_assert_uint_eq(d->segment, 2);
    ck_assert_uint_eq(d->ordinal, second);
    ck_assert_uint_eq(d->lost, kept - second);
    u9_fault fault;
    u9_cursor_fault(c, &fault);
    ck_assert_int_eq(fault.err, U9_ABSENT);
    ck_assert_str_eq(fault.rule, "L-10");
    for (uint64_t i = kept; i < TRIM_RECORDS; i++) {
        ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
        ck_assert_uint_eq(record.ordinal, i);
    }
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_END);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

/* Notes the last damage that is told. */
static void note_damage(void *ctx, const u9_damage *d)
{
    *(u9_damage *)ctx = *d;
}

START_TEST(who_is_told_of_damage_is_told_of_that_and_goes_on_by_itself) /* [L-10] */
{
    u9_damage told = {0};
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(at("log")), .on_damage = note_damage, .on_damage_ctx = &told};
    make_row_of_segments(at("log"));
    u9_log *r;
    u9_cursor *c;
    u9_record record;
    ck_assert_int_eq(u9_log_open(at("log"), &o, &r, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    u9_trimmed t = trim_log(at("log"), below_ordinal(26));
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK); /* it had not come to the first one */
    ck_assert_uint_eq(record.ordinal, t.ordinal);
    ck_assert_int_eq(told.reason, U9_R_TRIMMED);
    ck_assert_uint_eq(told.ordinal, 0);
    ck_assert_uint_eq(told.lost, t.ordinal);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

/* What is read in pieces is of the segment that the cursor is in, as all else there. */
START_TEST(a_record_in_pieces_is_read_where_the_cursor_is_though_it_was_trimmed) /* [L-10] [C-6] */
{
    enum { SIZE = U9_RECORD_MAX + 5 };
    static uint8_t bytes[SIZE];
    u9_log *w = open_rolling(at("log"));
    append_bytes(w, bytes, 100);
    u9_append *a;
    size_t head = u9_value_head(U9_BYTES, SIZE, bytes), got;
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, head + SIZE, &a, NULL), U9_OK);
    ck_assert_int_eq(u9_append_write(a, bytes, head), U9_OK);
    bytes[SIZE - 1] = 7;
    ck_assert_int_eq(u9_append_write(a, bytes, SIZE), U9_OK);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    append_fillers(w, 3);
    close_log(w);
    u9_log *r = open_reader(at("log"));
    u9_cursor *c, *other;
    u9_record record, small;
    u9_reading *reading;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_open(r, NULL, &other, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &small), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_LIMIT);
    for (unsigned i = 0; i < 2; i++) ck_assert_int_eq(u9_cursor_next(other, &small), i == 0 ? U9_OK : U9_LIMIT);
    u9_trimmed t = trim_log(at("log"), below_ordinal(3));
    ck_assert_uint_gt(t.ordinal, record.ordinal);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(u9_record_open(r, &record, &reading, NULL), U9_OK);
        ck_assert_int_eq(u9_record_read(reading, record.size - SIZE, bytes, SIZE, &got, NULL), U9_OK);
        ck_assert_uint_eq(got, SIZE);
        ck_assert_int_eq(bytes[SIZE - 1], 7);
        u9_record_close(reading);
        if (i == 0) u9_cursor_close(other);
    }
    ck_assert_int_eq(u9_cursor_prev(c, &record), U9_LIMIT);
    ck_assert_int_eq(u9_record_open(r, &record, &reading, NULL), U9_OK);
    u9_record_close(reading);
    ck_assert_int_eq(u9_cursor_prev(c, &small), U9_OK);
    ck_assert_int_eq(u9_record_open(r, &record, &reading, NULL), U9_ABSENT); /* the cursor has left it */
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

START_TEST(a_cursor_of_which_all_was_trimmed_says_so_and_ends) /* [L-10] */
{
    make_row_of_segments(at("log"));
    u9_log *r = open_reader(at("log"));
    u9_cursor *c;
    u9_record record;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 20);
    close_log(w);
    unsigned n = segments_in(at("log"));
    u9_trimmed t = trim_log(at("log"), below_ordinal(first_in(at("log"), n)));
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_ABSENT);
    ck_assert_uint_eq(u9_cursor_damage(c)->lost, t.ordinal);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_END);
    u9_cursor_close(c);
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK); /* the handle goes on */
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    ck_assert_uint_eq(record.ordinal, t.ordinal);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

START_TEST(a_key_that_was_trimmed_is_absent_and_the_fault_says_from_where_on_records_are_kept) /* [L-10] */
{
    make_keyed_row(at("log"));
    trim_log(at("log"), below_ordinal(10));
    u9_log *r = open_reader(at("log"));
    static uint8_t room[2 * TRIM_FILLER];
    u9_record record;
    u9_fault fault;
    ck_assert_int_eq(u9_log_get(r, &(u9_key){"k020", 4}, room, sizeof room, &record, &fault), U9_OK);
    ck_assert_int_eq(u9_log_get(r, &(u9_key){"k001", 4}, room, sizeof room, &record, &fault), U9_ABSENT);
    ck_assert_ptr_nonnull(strstr(fault.text, "were trimmed"));
    close_log(r);
}
END_TEST

static const char *trimmed_meanwhile;

/* Between listing and looking into the files: others are gone by then, and what says so is new. */
static void trim_now(unsigned nth)
{
    if (nth != 2) return;
    sim_before_list(NULL);
    trim_log(trimmed_meanwhile, below_ordinal(26));
}

START_TEST(a_log_that_is_trimmed_while_it_is_opened_is_whole) /* */
{
    make_row_of_segments(at("log"));
    trimmed_meanwhile = at("log");
    u9_log *r = open_reader(at("log"));
    sim_before_list(trim_now);
    u9_cursor *c;
    u9_record record;
    u9_err err;
    uint64_t seen_records = 0;
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
        while ((err = u9_cursor_next(c, &record)) == U9_OK) seen_records++;
        ck_assert_int_eq(err, U9_END);
        u9_cursor_close(c);
    }
    ck_assert_uint_gt(seen_records, TRIM_RECORDS);
    close_log(r);
}
END_TEST

/*
 * The same of a file that goes between two looks into it: into one that was rolled and not yet sealed there are some, and
 * into all where the first is missing, and others may say why. */
START_TEST(a_file_that_goes_while_the_log_is_opened_is_one_that_went) /* [R-10] [L-9] */
{
    make_row_of_segments(at("log"));
    const char *unsealed = segment_path(at("log"), 2);
    sim_resize(unsealed, sim_size(unsealed) - 4096);
    if (_i > 0) sim_remove(segment_path(at("log"), 1));
    for (unsigned nth = 1, fired = 1; fired > 0; nth++) {
        u9_log *r;
        u9_fault fault;
        u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(at("log"))};
        unsigned before = sim_fired();
        sim_aim("0000000000000002.u9");
        sim_fail(SIM_OPEN, nth, ENOENT, false);
        u9_err err = u9_log_open(at("log"), &o, &r, &fault);
        fired = sim_fired() - before;
        sim_mend();
        sim_aim(NULL);
        ck_assert_msg(err == U9_OK, "open %u: %s", nth, fault.text);
        close_log(r);
        ck_assert_uint_lt(nth, 20);
        ck_assert(nth > 1 || fired > 0);
    }
}
END_TEST

/* Of a log that goes on as fast as it is listed, only what is new is looked at, and so it is caught up with. */
START_TEST(what_was_found_whole_is_not_looked_at_again_for_a_doubt_of_another) /* */
{
    make_row_of_segments(at("log"));
    uint8_t none[4096];
    memset(none, 'x', sizeof none);
    sim_write(segment_path(at("log"), 99), 0, none, sizeof none);
    sim_forget_diary();
    u9_log *r = open_reader(at("log"));
    ck_assert_uint_eq(sim_count(SIM_LIST), 2);
    ck_assert_uint_eq(sim_count_of(SIM_OPEN, segment_path(at("log"), 1)), 1);
    close_log(r);
}
END_TEST

START_TEST(a_line_of_what_was_trimmed_is_no_longer_provable_and_one_of_later_proves_less) /* [M-8] */
{
    u9_mark early, late;
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 3);
    close_log(w);
    ck_assert_int_eq(u9_mark_read(at("log"), io_of(at("log")), &early, NULL), U9_OK);
    w = open_rolling(at("log"));
    append_fillers(w, TRIM_RECORDS);
    close_log(w);
    ck_assert_int_eq(u9_mark_read(at("log"), io_of(at("log")), &late, NULL), U9_OK);
    u9_trimmed t = trim_log(at("log"), below_ordinal(26));
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log")), .mark = &early};
    u9_report report = {.size = sizeof report};
    ck_assert_int_eq(u9_check(at("log"), &o, &report, NULL), U9_OK);
    ck_assert_int_eq(report.line, U9_LINE_GONE);
    ck_assert_int_eq(report.verdict, U9_V_CLEAN);
    o.mark = &late;
    ck_assert_int_eq(u9_check(at("log"), &o, &report, NULL), U9_OK);
    ck_assert_int_eq(report.line, U9_LINE_MET);
    ck_assert_uint_eq(report.proven_from, t.ordinal);
    ck_assert_uint_gt(report.proven_from, late.first_ordinal);
    u9_mark now;
    ck_assert_int_eq(u9_mark_read(at("log"), io_of(at("log")), &now, NULL), U9_OK);
    ck_assert_uint_eq(now.first_ordinal, t.ordinal);
}
END_TEST

/* Beside a writer that rolls and trims */

/*
 * Before the call at which its turn comes, and then before every so many, a writer goes on by some segments, and drops as
 * many: whatever a reader knows, or is about to look at, may be older than what is there.
 */
static u9_log *beside;
static unsigned calls, first_call, each_call, turns, goes_on_by;

static void write_beside(sim_kind kind)
{
    (void)kind;
    calls++;
    if (calls < first_call || (calls - first_call) % each_call > 0 || turns == 0) return;
    turns--;
    for (unsigned i = 0; i < goes_on_by; i += 8) {
        append_fillers(beside, goes_on_by < 8 ? goes_on_by : 8);
        ck_assert_int_eq(u9_log_sync(beside), U9_OK);
    }
}

/* What a reader does, with the line of a mark that was kept before. */
typedef void reading(const u9_mark *line);

/* The writer appends so many records before whichever call of the reader, and then at most so often before each so manieth. */
static void read_beside(reading *read, unsigned records, unsigned each, unsigned most)
{
    u9_options o = small_options();
    o.keep_bytes = 5 * o.segment_size;
    goes_on_by = records;
    each_call = each;
    calls = 1;
    for (first_call = 1; first_call <= calls; first_call = next_call(first_call)) {
        u9_mark line;
        beside = open_writer(at("log"), &o);
        for (unsigned i = 0; i < TRIM_RECORDS; i += 8) {
            append_fillers(beside, 8);
            ck_assert_int_eq(u9_log_sync(beside), U9_OK);
        }
        sim_advance(2000000); /* and it is marked */
        ck_assert_int_eq(u9_mark_read(at("log"), io_of(at("log")), &line, NULL), U9_OK);
        calls = 0;
        turns = most;
        sim_before_call(write_beside);
        read(&line);
        sim_before_call(NULL);
        close_log(beside);
        remove_log(at("log"));
    }
    ck_assert_uint_gt(first_call, 30);
}

/* Damage of a log that is whole; *ctx is raised to where what was trimmed ends. */
static void fail_on_damage(void *ctx, const u9_damage *d)
{
    uint64_t *next = ctx;
    if (d->reason == U9_R_TRIMMED && d->ordinal != U9_NOWHERE && d->lost != U9_NOWHERE && d->ordinal + d->lost > *next) *next = d->ordinal + d->lost;
    ck_assert_msg(d->verdict <= U9_V_TORN, "call %u: %s [%llu,%llu): verdict %d, reason %d", first_call, d->path,
                  (unsigned long long)d->begin, (unsigned long long)d->end, (int)d->verdict, (int)d->reason);
}

static void expect_whole(const u9_mark *line, uint64_t piece)
{
    uint64_t next = 0;
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log")), .mark = line, .on_damage = fail_on_damage, .ctx = &next};
    u9_report r = {.size = sizeof r};
    u9_fault fault;
    u9_err err = u9i_check_in_pieces(at("log"), &o, piece, &r, &fault);
    ck_assert_msg(err == U9_OK, "call %u: %s: %s", first_call, fault.path, fault.text);
    ck_assert_int_le(r.verdict, U9_V_TORN);
    ck_assert_msg(r.line == U9_LINE_MET || r.line == U9_LINE_GONE, "call %u: line %d", first_call, (int)r.line);
    ck_assert_uint_ge(r.next_ordinal, line->ordinal);
    ck_assert(r.mark == U9_MARK_COUNTS && !r.older && !r.begins_late);
}

static void check_as_one(const u9_mark *line)
{
    expect_whole(line, 0);
}

static void check_in_pieces(const u9_mark *line)
{
    expect_whole(line, 65536);
}

static void check_in_small_pieces(const u9_mark *line)
{
    expect_whole(line, 16384);
}

static void read_all(const u9_mark *line)
{
    uint64_t next = 0;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(at("log")), .on_damage = fail_on_damage, .on_damage_ctx = &next};
    u9_log *r;
    u9_fault fault = {.err = U9_OK};
    u9_cursor *c;
    u9_record record;
    u9_err err = u9_log_open(at("log"), &o, &r, &fault);
    ck_assert_msg(err == U9_OK && fault.err == U9_OK, "call %u: %s: %s", first_call, fault.path, fault.text);
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    while ((err = u9_cursor_next(c, &record)) == U9_OK) {
        ck_assert_uint_ge(record.ordinal, next);
        next = record.ordinal + 1;
    }
    u9_cursor_fault(c, &fault);
    ck_assert_msg(err == U9_END, "call %u: %s: %s", first_call, fault.path, fault.text);
    ck_assert_uint_ge(next, line->ordinal);
    u9_cursor_close(c);
    close_log(r);
}

static void read_mark(const u9_mark *line)
{
    u9_mark now;
    u9_fault fault;
    u9_err err = u9_mark_read(at("log"), io_of(at("log")), &now, &fault);
    ck_assert_msg(err == U9_OK, "call %u: %s: %s", first_call, fault.path, fault.text);
    ck_assert_uint_ge(now.ordinal, line->ordinal);
}

static reading *const readings[] = {check_as_one, check_in_pieces, check_in_small_pieces, read_all, read_mark};

enum { READINGS = sizeof readings / sizeof *readings };

/* {F45} The writer goes on once. */
START_TEST(who_reads_beside_a_trim_at_any_call_finds_the_log_whole) /* [R-10] [L-10] [M-8] */
{
    read_beside(readings[_i], 24, 1, 1);
}
END_TEST

/* {F45} It goes on all the time, for a while: by several segments, or in small steps, each of which may be one of a trim. */
START_TEST(who_reads_beside_one_trim_after_the_other_finds_the_log_whole) /* [R-10] [L-10] [M-8] */
{
    read_beside(readings[_i % READINGS], _i < READINGS ? 24 : 2, _i < READINGS ? 7 : 1, _i < READINGS ? 8 : 60);
}
END_TEST

/* Takes away what was trimmed, one before each call once it began, the lowest first. */
static uint64_t lowest, kept_from;

static void remove_beside(sim_kind kind)
{
    (void)kind;
    calls++;
    if (calls < first_call || lowest == kept_from) return;
    sim_remove(segment_path(at("log"), lowest++));
}

/* {F45} All that is looked at says what goes; it is there when the names are listed, and not when it is opened. */
START_TEST(what_goes_while_it_is_looked_at_was_trimmed) /* [R-10] [L-4] [L-10] */
{
    make_row_of_segments(at("log"));
    sim_copy(at("log"), at("all"));
    kept_from = trim_log(at("log"), below_ordinal(26)).segment;
    u9_mark line;
    ck_assert_int_eq(u9_mark_read(at("log"), io_of(at("log")), &line, NULL), U9_OK);
    calls = 1;
    for (first_call = 1; first_call <= calls; first_call++) {
        for (lowest = 1; lowest < kept_from; lowest++)
            sim_copy(segment_path(at("all"), lowest), segment_path(at("log"), lowest));
        calls = 0;
        lowest = 1;
        sim_before_call(remove_beside);
        readings[_i](&line);
        sim_before_call(NULL);
        for (; lowest < kept_from; lowest++) sim_remove(segment_path(at("log"), lowest));
    }
    ck_assert_uint_gt(first_call, 30);
}
END_TEST

/* With threads */

static void *append_on(void *ctx)
{
    u9_log *log = ctx;
    for (unsigned i = 0; i < 60; i++) {
        append_fillers(log, 1);
        if (i % 7 == 0) ck_assert_int_eq(u9_log_sync(log), U9_OK);
    }
    return NULL;
}

static void *trim_along(void *ctx)
{
    u9_log *log = ctx;
    u9_trim what = {.size = sizeof what, .keep_bytes = 3 * 65536};
    for (unsigned i = 0; i < 12; i++) (void)trim_on(log, what);
    return NULL;
}

static void *read_along(void *ctx)
{
    u9_log *log = ctx;
    for (unsigned i = 0; i < 6; i++) {
        u9_cursor *c;
        u9_record record;
        u9_err err;
        uint64_t next = 0;
        ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
        while ((err = u9_cursor_next(c, &record)) != U9_END) {
            ck_assert(err == U9_OK || err == U9_ABSENT);
            if (err != U9_OK) continue;
            ck_assert_uint_ge(record.ordinal, next);
            next = record.ordinal + 1;
        }
        u9_cursor_close(c);
    }
    return NULL;
}

START_TEST(threads_append_trim_and_read_on_one_handle)
{
    void *(*const works[])(void *) = {append_on, append_on, trim_along, trim_along, read_along};
    enum { THREADS = sizeof works / sizeof *works };
    pthread_t threads[THREADS];
    u9_options o = small_options();
    o.keep_bytes = 5 * o.segment_size;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, works[i], w), 0);
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(s->report.next_ordinal, 120);
    forget(s);
}
END_TEST

static const u9i_clock *true_clock;
static u9i_clock late_clock;
static __thread bool dawdles;
static bool all_trimmed;

/* A busy machine lets a thread wait anywhere: this one does so wherever it asks for the time. */
static uint64_t tell_time_late(u9i_env *env)
{
    if (dawdles) true_clock->sleep_us(env, 5000);
    return true_clock->wall_us(env);
}

static void *append_until_trimmed(void *ctx)
{
    static const uint8_t bytes[50000]; /* most of a segment */
    while (!__atomic_load_n(&all_trimmed, __ATOMIC_ACQUIRE)) append_bytes(ctx, bytes, sizeof bytes);
    return NULL;
}

START_TEST(a_log_that_rolls_on_while_it_says_what_was_trimmed_is_trimmed) /* [L-10] [M-5] */
{
    u9i_env *env;
    pthread_t threads[3];
    u9_options o = small_options();
    o.policy = U9_POLICY_INTERVAL;
    sim_needed("a clock of its own");
    ck_assert_int_eq(u9i_env_choose(io_of(at("log")), &env, NULL), U9_OK);
    true_clock = env->clock;
    late_clock = *true_clock;
    late_clock.wall_us = tell_time_late;
    env->clock = &late_clock; /* before there is another thread, and for good: the process ends with the test */
    u9_log *w = open_writer(at("log"), &o);
    all_trimmed = false;
    for (unsigned i = 0; i < 3; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, append_until_trimmed, w), 0);
    dawdles = true;
    for (uint64_t i = 0, segments = 0; segments < 30; i++) {
        u9_trimmed t = trim_on(w, (u9_trim){.size = sizeof(u9_trim), .keep_bytes = 1});
        segments += t.segments;
        ck_assert_uint_lt(i, 100000);
    }
    dawdles = false;
    __atomic_store_n(&all_trimmed, true, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    forget(s);
}
END_TEST

/* Reads what comes, to the end. */
static void *drain(void *ctx)
{
    char bytes[4096];
    while (read(*(int *)ctx, bytes, sizeof bytes) > 0) continue;
    return NULL;
}

START_TEST(what_is_trimmed_while_it_is_sent_ends_the_sending)
{
    int ends[2];
    char byte;
    pthread_t reader;
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 3 * TRIM_RECORDS);
    close_log(w);
    ck_assert_int_eq(pipe(ends), 0);
    side sender = {.path = at("log"), .in = -1, .out = ends[1]};
    start(&sender, send_main);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1); /* it has begun, and comes no further than the pipe has room */
    trim_log(at("log"), below_ordinal(3 * TRIM_RECORDS));
    ck_assert_int_eq(pthread_create(&reader, NULL, drain, &ends[0]), 0);
    join(&sender);
    close(ends[1]);
    pthread_join(reader, NULL);
    close(ends[0]);
    ck_assert_int_eq(sender.err, U9_ABSENT);
    ck_assert_str_eq(sender.fault.rule, "L-10");
    ck_assert_uint_lt(sender.report.next, 2 * TRIM_RECORDS);
}
END_TEST

Suite *suite_trim_readers(void)
{
    Suite *suite = suite_create("trim_readers");
    TCase *t = tcase_create("told");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_cursor_reads_the_segment_that_it_is_in_to_its_end);
    tcase_add_test(t, who_is_told_of_damage_is_told_of_that_and_goes_on_by_itself);
    tcase_add_test(t, a_record_in_pieces_is_read_where_the_cursor_is_though_it_was_trimmed);
    tcase_add_test(t, a_cursor_of_which_all_was_trimmed_says_so_and_ends);
    tcase_add_test(t, a_key_that_was_trimmed_is_absent_and_the_fault_says_from_where_on_records_are_kept);
    tcase_add_test(t, a_log_that_is_trimmed_while_it_is_opened_is_whole);
    tcase_add_loop_test(t, a_file_that_goes_while_the_log_is_opened_is_one_that_went, 0, 2);
    tcase_add_test(t, what_was_found_whole_is_not_looked_at_again_for_a_doubt_of_another);
    tcase_add_test(t, a_line_of_what_was_trimmed_is_no_longer_provable_and_one_of_later_proves_less);
    suite_add_tcase(suite, t);
    t = tcase_create("beside");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, who_reads_beside_a_trim_at_any_call_finds_the_log_whole, 0, READINGS);
    tcase_add_loop_test(t, who_reads_beside_one_trim_after_the_other_finds_the_log_whole, 0, 2 * READINGS);
    tcase_add_loop_test(t, what_goes_while_it_is_looked_at_was_trimmed, 0, READINGS);
    suite_add_tcase(suite, t);
    t = tcase_create("threads");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, threads_append_trim_and_read_on_one_handle);
    tcase_add_test(t, a_log_that_rolls_on_while_it_says_what_was_trimmed_is_trimmed);
    tcase_add_test(t, what_is_trimmed_while_it_is_sent_ends_the_sending);
    suite_add_tcase(suite, t);
    return suite;
}
