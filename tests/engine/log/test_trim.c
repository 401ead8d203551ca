/*
 * tests/engine/log/test_trim.c: the oldest segments of a log go: which, in what order, and that a stop at any call
 * leaves a log that is whole. [C-5] [L-10]
 */
#include "tests/engine/log/trimmed.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <u9/large.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, TICK = 50000, SECOND = 1000000 };

/* What goes */

START_TEST(the_oldest_segments_go_and_the_log_says_from_where_on_it_is_kept) /* [L-10] [C-5] */
{
    make_row_of_segments(at("log"));
    unsigned n = segments_in(at("log"));
    uint64_t kept = first_in(at("log"), 4), bytes = 0;
    for (uint64_t i = 1; i < 4; i++) bytes += file_size(segment_path(at("log"), i));
    u9_trimmed t = trim_log(at("log"), below_ordinal(kept + 1));
    ck_assert_uint_eq(t.segments, 3);
    ck_assert_uint_eq(t.records, kept);
    ck_assert_uint_eq(t.bytes, bytes);
    ck_assert_uint_eq(t.segment, 4);
    ck_assert_uint_eq(t.ordinal, kept);
    ck_assert_uint_gt(t.first_time_us, 0);
    ck_assert_uint_gt(t.last_time_us, t.first_time_us);
    for (uint64_t i = 1; i <= n; i++) ck_assert_int_eq(exists(segment_path(at("log"), i)), i >= 4);
    u9i_trim_record said = said_in(at("log"), n + 1);
    ck_assert_uint_eq(said.segment, 4);
    ck_assert_uint_eq(said.ordinal, kept);
    ck_assert_uint_eq(marked_by(at("log")).first_ordinal, kept);
    expect_kept(at("log"), kept, TRIM_RECORDS);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_int_eq(s->report.mark, U9_MARK_COUNTS);
    ck_assert_uint_eq(s->report.trim_segment, 4);
    ck_assert_uint_eq(s->report.trim_ordinal, kept);
    ck_assert_int_eq(s->report.begins_late, 0);
    forget(s);
    session(at("log"), "on", 3, 1);
    expect_kept(at("log"), kept, TRIM_RECORDS + 3);
    ck_assert_uint_eq(marked_by(at("log")).first_ordinal, kept);
}
END_TEST

START_TEST(each_new_segment_repeats_what_was_trimmed) /* [C-5] */
{
    make_row_of_segments(at("log"));
    trim_log(at("log"), below_ordinal(first_in(at("log"), 3)));
    unsigned last = segments_in(at("log")) + 2;
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 20);
    close_log(w);
    unsigned now = segments_in(at("log")) + 2;
    ck_assert_uint_ge(now, last + 2);
    for (unsigned i = last; i <= now; i++) ck_assert_uint_eq(said_in(at("log"), i).segment, 3);
    w = open_rolling(at("log")); /* a crash, and a segment behind it */
    append_fillers(w, 1);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    crash(w, at("log"));
    session(at("log"), "after", 1, 0);
    ck_assert_uint_eq(said_in(at("log"), now + 1).segment, 3);
    trim_log(at("log"), below_ordinal(first_in(at("log"), last)));
    ck_assert_uint_eq(said_in(at("log"), now + 2).segment, last);
    trim_log(at("log"), below_ordinal(first_in(at("log"), now)));
    expect_kept(at("log"), first_in(at("log"), now), TRIM_RECORDS + 22);
}
END_TEST

START_TEST(a_trimmed_log_is_opened_without_reading_it_through) /* [C-5] */
{
    make_row_of_segments(at("log"));
    sim_forget_diary();
    close_log(open_reader(at("log")));
    uint64_t whole = sim_bytes(SIM_READ);
    unsigned n = segments_in(at("log"));
    trim_log(at("log"), below_ordinal(first_in(at("log"), 2)));
    sim_forget_diary();
    close_log(open_reader(at("log")));
    ck_assert_uint_eq(segments_in(at("log")), n); /* one went, one came */
    ck_assert_uint_le(sim_bytes(SIM_READ), whole + 2 * BLOCK);
}
END_TEST

START_TEST(what_goes_is_told_by_size) /* [L-10] */
{
    make_row_of_segments(at("log"));
    unsigned n = segments_in(at("log"));
    for (uint64_t i = 1; i <= n; i++) {
        uint64_t stays = 0;
        for (uint64_t k = i; k <= n; k++) stays += file_size(segment_path(at("log"), k));
        u9_log *r = open_reader(at("log"));
        u9_trim what = {.size = sizeof what, .keep_bytes = stays, .dry_run = 1};
        ck_assert_uint_eq(trim_on(r, what).segment, i);
        what.keep_bytes++; /* a byte more keeps a segment more */
        ck_assert_uint_eq(trim_on(r, what).segment, i > 1 ? i - 1 : 1);
        close_log(r);
    }
}
END_TEST

START_TEST(what_goes_is_told_by_time) /* [L-10] */
{
    u9_log *w = open_rolling(at("log"));
    uint64_t times[8];
    for (unsigned i = 0; i < 8; i++) {
        sim_advance(10 * (uint64_t)SECOND);
        append_fillers(w, 9); /* a segment, and the first of the next */
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        times[i] = u9i_wall_us(sim_env());
    }
    crash(w, at("log")); /* the last is not closed */
    session(at("log"), "after", 1, 0);
    u9_log *r = open_reader(at("log"));
    u9_trim what = {.size = sizeof what, .dry_run = 1};
    uint64_t kept = 0;
    for (unsigned i = 0; i < 8; i++) {
        what.before_us = times[i];
        u9_trimmed t = trim_on(r, what);
        ck_assert_uint_ge(t.ordinal, kept);
        ck_assert_uint_le(t.ordinal, (i + 1) * 9);
        ck_assert(t.segments == 0 || t.last_time_us < times[i]);
        kept = t.ordinal;
    }
    ck_assert_uint_ge(kept, 6 * 9);
    what.before_us = 1;
    ck_assert_uint_eq(trim_on(r, what).segments, 0);
    close_log(r);
}
END_TEST

START_TEST(what_goes_is_told_by_a_key_by_reading_where_that_is_not_sure) /* [L-10] */
{
    make_keyed_row(at("log"));
    uint64_t second = first_in(at("log"), 2), third = first_in(at("log"), 3);
    ck_assert(second <= 12 && 12 < third);
    u9_log *r = open_reader(at("log"));
    u9_trim what = {.size = sizeof what, .dry_run = 1};
    what.before_key = (u9_key){"k030", 4};
    ck_assert_uint_eq(trim_on(r, what).segment, 2); /* "z" is in it */
    what.before_key = (u9_key){"k003", 4};
    sim_forget_diary();
    ck_assert_uint_eq(trim_on(r, what).segments, 0);
    ck_assert_uint_lt(sim_bytes(SIM_READ), 10 * BLOCK * segments_in(at("log"))); /* the last key says so */
    what.before_key = (u9_key){"z", 1};
    ck_assert_uint_eq(trim_on(r, what).segment, 2);
    what.before_key = (u9_key){"zz", 2};
    ck_assert_uint_eq(trim_on(r, what).segment, segments_in(at("log")));
    what.before_key = (u9_key){"", 0};
    u9_trimmed out = {.size = sizeof out};
    u9_fault fault;
    ck_assert_int_eq(u9_log_trim(r, &what, &out, &fault), U9_ARG);
    ck_assert_str_eq(fault.rule, "L-6");
    close_log(r);
    what = (u9_trim){.size = sizeof what, .before_key = {"k030", 4}};
    trim_log(at("log"), what);
    expect_kept(at("log"), second, TRIM_RECORDS);
}
END_TEST

/* [C-6] Of a record in parts the key is the one that it begins with. */
START_TEST(what_goes_is_told_by_the_key_of_a_large_record_too) /* [L-10] */
{
    enum { SIZE = 20 << 20 };
    uint8_t *bytes = calloc(1, SIZE), head[9];
    size_t n = u9_value_head(U9_BYTES, SIZE, head);
    ck_assert(bytes != NULL);
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = io_of(at("log")), .kind = "rkey", .segment_size = 4 << 20};
    for (unsigned i = 0; i < 2; i++) {
        u9_append *a;
        u9_log *w = open_writer(at("log"), &o);
        ck_assert_int_eq(u9_log_append(w, &(u9_key){"a", 1}, "\x81", 1, NULL), U9_OK);
        ck_assert_int_eq(u9_append_begin(w, &(u9_key){"large", 5}, 1, n + SIZE, &a, NULL), U9_OK);
        ck_assert_int_eq(u9_append_write(a, head, n), U9_OK);
        ck_assert_int_eq(u9_append_write(a, bytes, SIZE), U9_OK);
        ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
        ck_assert_int_eq(u9_log_append(w, &(u9_key){"b", 1}, "\x81", 1, NULL), U9_OK);
        close_log(w);
    }
    u9_log *r = open_reader(at("log"));
    u9_trim what = {.size = sizeof what, .dry_run = 1, .before_key = {"c", 1}};
    ck_assert_uint_eq(trim_on(r, what).segments, 0);
    what.before_key = (u9_key){"large", 5};
    ck_assert_uint_eq(trim_on(r, what).segments, 0);
    what.before_key = (u9_key){"large0", 6};
    ck_assert_uint_eq(trim_on(r, what).segment, segments_in(at("log")));
    close_log(r);
    free(bytes);
}
END_TEST

START_TEST(a_segment_goes_if_anything_says_so) /* [L-10] */
{
    make_row_of_segments(at("log"));
    u9_log *r = open_reader(at("log"));
    u9_trim what = {.size = sizeof what, .dry_run = 1, .before = first_in(at("log"), 3), .keep_bytes = UINT64_MAX};
    ck_assert_uint_eq(trim_on(r, what).segment, 3);
    what.keep_bytes = 1;
    ck_assert_uint_eq(trim_on(r, what).segment, segments_in(at("log")));
    close_log(r);
}
END_TEST

START_TEST(where_nothing_goes_nothing_is_written) /* [L-10] */
{
    uint8_t was[16], is[16];
    make_row_of_segments(at("log"));
    picture(at("log"), was);
    u9_trim none = {.size = sizeof none};
    ck_assert_uint_eq(trim_log(at("log"), none).segments, 0);
    ck_assert_uint_eq(trim_log(at("log"), below_ordinal(1)).segments, 0);
    none.keep_bytes = UINT64_MAX;
    u9_trimmed t = trim_log(at("log"), none);
    ck_assert_uint_eq(t.segment, 1);
    ck_assert_uint_eq(t.ordinal, 0);
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
}
END_TEST

/* Of segments 1 to n, which are closed: what a writer at work has of its own, and the mark, it changes when it likes. */
static void picture_of_row(unsigned n, uint8_t out[16])
{
    uint8_t both[32] = {0};
    for (uint64_t i = 1; i <= n; i++) {
        size_t size;
        uint8_t *bytes = read_file(segment_path(at("log"), i), &size);
        u9i_hash(bytes, size, both + 16);
        u9i_hash(both, sizeof both, both);
        free(bytes);
    }
    memcpy(out, both, 16);
}

START_TEST(a_dry_run_tells_the_same_changes_nothing_and_needs_no_lock) /* [L-10] */
{
    uint8_t was[16], is[16];
    make_row_of_segments(at("log"));
    unsigned n = segments_in(at("log"));
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 3);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    u9_trim what = below_ordinal(first_in(at("log"), 3));
    what.dry_run = 1;
    picture_of_row(n, was);
    u9_log *r = open_reader(at("log"));
    u9_trimmed told = trim_on(r, what), own = trim_on(w, what);
    picture_of_row(n, is);
    ck_assert_mem_eq(was, is, 16);
    ck_assert_uint_eq(segments_in(at("log")), n + 1);
    ck_assert_uint_eq(marked_by(at("log")).first_ordinal, 0);
    what.dry_run = 0;
    u9_trimmed done = trim_on(w, what);
    ck_assert_mem_eq(&told, &own, sizeof told);
    ck_assert_mem_eq(&told, &done, sizeof told);
    ck_assert_uint_eq(done.segments, 2);
    close_log(r);
    close_log(w);
}
END_TEST

START_TEST(the_newest_segment_that_holds_records_stays) /* [L-10] */
{
    make_row_of_segments(at("log"));
    unsigned n = segments_in(at("log"));
    const u9_trim all = {.size = sizeof all, .keep_bytes = 1};
    uint64_t last = first_in(at("log"), n);
    ck_assert_uint_eq(trim_log(at("log"), all).segment, n);
    for (unsigned i = 0; i < 3; i++) ck_assert_uint_eq(trim_log(at("log"), all).segments, 0);
    expect_kept(at("log"), last, TRIM_RECORDS);
    u9_log *w = open_rolling(at("log"));
    append_text(w, "not yet written");
    ck_assert_uint_eq(trim_on(w, all).segments, 1); /* it is in the next one */
    ck_assert_uint_eq(trim_on(w, all).segments, 0); /* of this session's there is none in the newest */
    append_text(w, "in the newest");
    ck_assert_uint_eq(trim_on(w, all).segments, 1);
    ck_assert_uint_eq(trim_on(w, all).segments, 0);
    close_log(w);
    expect_kept(at("log"), TRIM_RECORDS + 1, TRIM_RECORDS + 2);
}
END_TEST

START_TEST(a_trim_of_one_who_reads_or_asks_wrongly_is_refused)
{
    make_row_of_segments(at("log"));
    u9_log *r = open_reader(at("log"));
    u9_trim what = below_ordinal(10);
    u9_trimmed out = {.size = sizeof out};
    u9_fault fault;
    ck_assert_int_eq(u9_log_trim(r, &what, &out, &fault), U9_STATE);
    what.dry_run = 1;
    out.size--;
    ck_assert_int_eq(u9_log_trim(r, &what, &out, &fault), U9_ARG);
    out.size++;
    what.size = 0;
    ck_assert_int_eq(u9_log_trim(r, &what, &out, &fault), U9_ARG);
    ck_assert_int_eq(u9_log_trim(r, NULL, &out, &fault), U9_ARG);
    ck_assert_int_eq(u9_log_trim(r, &what, NULL, &fault), U9_ARG);
    ck_assert_int_eq(u9_log_trim(NULL, &what, &out, &fault), U9_ARG);
    close_log(r);
}
END_TEST

START_TEST(damage_in_what_goes_goes_with_it)
{
    make_row_of_segments(at("log"));
    uint64_t kept = first_in(at("log"), 3);
    fill_bytes(segment_path(at("log"), 2), 2 * BLOCK, 5000, 0x55);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CORRUPT);
    forget(s);
    trim_log(at("log"), below_ordinal(kept));
    expect_kept(at("log"), kept, TRIM_RECORDS);
}
END_TEST

START_TEST(a_log_does_not_begin_with_a_segment_whose_u9open_is_damaged)
{
    make_row_of_segments(at("log"));
    uint64_t kept = first_in(at("log"), 4);
    fill_bytes(segment_path(at("log"), 4), 100, 20, 0x55);
    u9_trimmed t = trim_log(at("log"), below_ordinal(kept + 1));
    ck_assert_uint_eq(t.segment, 3);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->records[0].segment, 3);
    forget(s);
}
END_TEST

START_TEST(logs_of_each_key_kind_can_be_trimmed)
{
    static const char *const kinds[] = {"muid", "gid:log", "tid", "uid8", "rkey"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        u9_options o = small_options();
        char name[24];
        o.kind = kinds[i];
        o.generator = 3;
        u9_log *w = open_writer(at("log"), &o);
        for (unsigned k = 0; k < 9; k++) {
            static uint8_t values[TRIM_FILLER + 8], nothing[TRIM_FILLER];
            u9_builder b;
            u9_key key = {name, (size_t)snprintf(name, sizeof name, "key-%u", k)};
            u9_builder_init(&b, values, sizeof values);
            ck_assert_int_eq(u9_build_bytes(&b, nothing, TRIM_FILLER), U9_OK);
            u9_err err = u9_log_append(w, i == 4 ? &key : NULL, values, b.size, NULL);
            u9_fault fault;
            u9_log_fault(w, &fault);
            ck_assert_msg(err == U9_OK, "%s: %s", kinds[i], fault.text);
        }
        close_log(w);
        o = writer_options(); /* without a number: no key is made */
        w = open_writer(at("log"), &o);
        ck_assert_uint_eq(trim_on(w, (u9_trim){.size = sizeof(u9_trim), .keep_bytes = 1}).segments, 1);
        close_log(w);
        seen *s = look(at("log"));
        ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
        ck_assert_str_eq(s->report.kind, kinds[i]);
        ck_assert_uint_eq(s->report.next_ordinal, 9);
        forget(s);
        remove_log(at("log"));
    }
}
END_TEST

/* In which order */

START_TEST(each_step_is_durable_before_the_next_one_begins) /* [L-10] */
{
    make_row_of_segments(at("log"));
    unsigned n = segments_in(at("log"));
    uint64_t kept = first_in(at("log"), 4);
    sim_forget_diary();
    trim_log(at("log"), below_ordinal(kept));
    expect_trim_order(at("log"), n + 1, 1, 4);
}
END_TEST

START_TEST(so_it_is_beside_appends) /* [L-10] */
{
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, TRIM_RECORDS);
    unsigned n = segments_in(at("log"));
    sim_forget_diary();
    trim_on(w, below_ordinal(20));
    expect_trim_order(at("log"), n + 1, 1, first_in(at("log"), 3) <= 20 ? 3 : 2);
    append_fillers(w, 3);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(s->report.next_ordinal, TRIM_RECORDS + 3);
    forget(s);
}
END_TEST

/* What a session does that is stopped. */
typedef struct story {
    void (*make)(const char *log);
    u9_err (*tell)(const char *log, u9_fault *fault);
    unsigned appends; /* behind those of make_log, at most */
} story;

/* There is no room, until that segment is gone. */
static uint64_t ballast;

static void free_ballast(sim_kind kind)
{
    (void)kind;
    if (!exists(segment_path(at("log"), ballast))) sim_fail_no_more(SIM_RESERVE);
}

static void fill_disk(uint64_t until)
{
    ballast = until;
    sim_fail(SIM_RESERVE, 1, ENOSPC, true);
    sim_before_call(until ? free_ballast : NULL);
}

/* A session that trims, between appends; the disk is full then up to when segment `full` is gone (0: it is not). */
static u9_err tell_trim(const char *log, unsigned before, uint64_t full, unsigned behind, u9_fault *fault)
{
    u9_options o = small_options();
    u9_log *w;
    u9_trim what = below_ordinal(26);
    u9_trimmed out = {.size = sizeof out};
    u9_err err = u9_log_open(log, &o, &w, fault);
    if (err != U9_OK) return err;
    err = append_what_goes_in(w, before);
    if (full) fill_disk(full);
    if (err == U9_OK) err = u9_log_trim(w, &what, &out, fault);
    sim_before_call(NULL);
    if (err == U9_OK) err = append_what_goes_in(w, behind);
    u9_err closed = u9_log_close(w, err == U9_OK ? fault : NULL);
    return err == U9_OK ? closed : err;
}

static u9_err tell_closed(const char *log, u9_fault *fault)
{
    return tell_trim(log, 0, 0, 0, fault);
}

static u9_err tell_live(const char *log, u9_fault *fault)
{
    return tell_trim(log, 10, 0, 2, fault);
}

static u9_err tell_full(const char *log, u9_fault *fault)
{
    return tell_trim(log, 0, 2, 0, fault);
}

static u9_err tell_full_live(const char *log, u9_fault *fault)
{
    return tell_trim(log, 3, 1, 2, fault);
}

/* Options at open and at two rolls, the files removed in the background. */
static u9_err tell_kept(const char *log, u9_fault *fault)
{
    u9_options o = small_options();
    u9_log *w;
    o.keep_bytes = 3 * o.segment_size;
    u9_err err = u9_log_open(log, &o, &w, fault);
    if (err != U9_OK) return err;
    for (unsigned i = 0; i < 4 && err == U9_OK; i++) {
        err = append_what_goes_in(w, 5);
        sim_advance(3 * TICK);
    }
    u9_err closed = u9_log_close(w, err == U9_OK ? fault : NULL);
    return err == U9_OK ? closed : err;
}

/* Whole, and of what was there before at most the oldest is gone; it goes on, and can be trimmed. */
static void expect_recovers(const char *log, unsigned appends)
{
    seen *s = look(log);
    ck_assert_int_le(s->report.verdict, U9_V_TORN);
    ck_assert_uint_eq(s->report.damages, 0);
    ck_assert_uint_ge(s->report.next_ordinal, TRIM_RECORDS);
    ck_assert_uint_le(s->report.next_ordinal, TRIM_RECORDS + appends);
    uint64_t next = s->report.next_ordinal, first = s->count > 0 ? s->records[0].ordinal : next;
    ck_assert_uint_eq(s->count, next - first);
    forget(s);
    session(log, "on", 2, 1);
    expect_kept(log, first, next + 2);
    u9_trimmed t = trim_log(log, below_ordinal(26));
    ck_assert_uint_ge(t.ordinal, first);
    expect_kept(log, t.ordinal, next + 2);
    for (uint64_t i = 1; i < t.segment; i++) ck_assert(!exists(segment_path(log, i)));
}

/* Copies of the first ones lie there, too: below what is new, above, and where no segment's number is. */
static const uint64_t copies[] = {0x10, UINT64_C(1) << 62, UINT64_MAX};

static void make_row_with_copies(const char *log)
{
    make_row_of_segments(log);
    for (unsigned i = 0; i < sizeof copies / sizeof *copies; i++) {
        size_t size;
        uint8_t *bytes = read_file(segment_path(log, i + 1), &size);
        write_file(segment_path(log, copies[i]), bytes, size);
        free(bytes);
    }
}

/* Their u9open is damaged: what their number is only the name says. */
static void make_row_with_harmed_copies(const char *log)
{
    make_row_with_copies(log);
    for (unsigned i = 0; i < sizeof copies / sizeof *copies; i++) fill_bytes(segment_path(log, copies[i]), 100, 1, 0x55);
}

static void copy_harmed(const char *log, uint64_t number, uint64_t to)
{
    size_t size;
    uint8_t *bytes = read_file(segment_path(log, number), &size);
    bytes[100] = 0x55;
    write_file(segment_path(log, to), bytes, size);
    free(bytes);
}

/* Each look at such a log reads all of both. */
static void make_row_with_a_harmed_copy(const char *log)
{
    make_row_of_segments(log);
    copy_harmed(log, 1, UINT64_MAX);
}

/* Stops at each call in turn, which fails and so do all behind it; with a power cut, too. */
static void stop_anywhere(const story *it, bool power, unsigned at_least)
{
    unsigned n = 0;
    u9_err err = U9_END;
    while (err != U9_OK) {
        sim_begin(n + 1);
        sim_make_dir(at(""));
        it->make(at("log"));
        u9_fault fault;
        sim_fail(SIM_ANY, n = next_call(n), EIO, true);
        err = it->tell(at("log"), &fault);
        sim_mend();
        if (power) sim_cut_power(at("log"));
        expect_recovers(at("log"), it->appends);
        ck_assert_uint_lt(n, 4000);
    }
    ck_assert_uint_gt(n, at_least);
}

START_TEST(a_stop_at_any_call_leaves_a_log_that_is_whole) /* [L-10] */
{
    stop_anywhere(&(story){make_row_of_segments, tell_closed, 0}, false, 60);
}
END_TEST

/* A copy goes with what it is one of, and before that: alone it would be the segment. [L-2] */
START_TEST(what_is_there_twice_goes_whole) /* [L-10] */
{
    u9_fault fault;
    void (*const usual)(const char *) = _i == 0 ? make_row_with_copies : make_row_with_a_harmed_copy;
    void (*const all)(const char *) = _i == 0 ? make_row_with_copies : make_row_with_harmed_copies;
    void (*const make)(const char *) = thorough(0, 1) ? all : usual;
    all(at("log"));
    copy_harmed(at("log"), segments_in(at("log")) - sizeof copies / sizeof *copies, 0x20); /* of the last one, which stays: so does it */
    ck_assert_int_eq(tell_closed(at("log"), &fault), U9_OK);
    for (unsigned i = 0; i < sizeof copies / sizeof *copies; i++) ck_assert(!exists(segment_path(at("log"), copies[i])));
    ck_assert(exists(segment_path(at("log"), 0x20)));
    remove_log(segment_path(at("log"), 0x20));
    expect_recovers(at("log"), 0);
    for (unsigned power = 0; power < 2; power++) stop_anywhere(&(story){make, tell_closed, 0}, power, 60);
    if (make != make_row_with_a_harmed_copy) stop_anywhere(&(story){make, tell_kept, 20}, true, 150);
}
END_TEST

START_TEST(so_does_a_power_cut) /* [L-10] */
{
    stop_anywhere(&(story){make_row_of_segments, tell_closed, 0}, true, 60);
}
END_TEST

START_TEST(so_it_is_beside_appends_and_what_options_keep) /* [L-10] */
{
    stop_anywhere(&(story){make_row_of_segments, tell_live, 12}, true, 100);
    stop_anywhere(&(story){make_row_of_segments, tell_kept, 20}, true, 150);
}
END_TEST

/* {F40} */
START_TEST(so_it_is_where_the_disk_is_full) /* [L-10] [M-5] */
{
    for (unsigned power = 0; power < 2; power++) {
        stop_anywhere(&(story){make_row_of_segments, tell_full, 0}, power, 60);
        stop_anywhere(&(story){make_row_of_segments, tell_full_live, 5}, power, 60);
    }
}
END_TEST

/* {F15} */
START_TEST(so_does_a_kill_at_any_write) /* [L-10] [W-1] */
{
    static u9_err (*const tells[])(const char *, u9_fault *) = {tell_closed, tell_live, tell_kept, tell_full, tell_full_live};
    for (unsigned i = 0; i < 5; i++) {
        bool killed = true;
        unsigned n = 0;
        for (; killed; n++) {
            u9_fault fault;
            sim_begin(n + 1);
            sim_make_dir(at(""));
            make_row_of_segments(at("log"));
            sim_set_order(SIM_DRAWN);
            sim_kill_at_write(n + 1);
            (void)!tells[i](at("log"), &fault);
            sim_mend();
            killed = sim_killed();
            sim_kill_at_write(0);
            sim_land(0);
            sim_set_order(SIM_PROMPT);
            expect_recovers(at("log"), 20);
        }
        ck_assert_uint_gt(n, 3);
    }
}
END_TEST

/* Nothing is known of a file from outside, which may be one that goes. */
START_TEST(a_higher_one_never_goes_before_a_lower_one_whichever_look_fails) /* [L-10] */
{
    unsigned looks = 0;
    for (bool failed = true; failed; looks++) {
        u9_fault fault;
        sim_begin(looks + 1);
        sim_make_dir(at(""));
        make_row_of_segments(at("log"));
        sim_fail(SIM_STAT, looks + 1, EIO, false);
        u9_err err = tell_closed(at("log"), &fault);
        failed = sim_fired() > 0;
        ck_assert_msg(err == U9_OK || failed, "look %u: %s", looks, u9_err_name(err));
        sim_mend();
        uint64_t lowest = 1, n = segments_in(at("log"));
        while (!exists(segment_path(at("log"), lowest))) lowest++;
        for (uint64_t i = lowest; i < lowest + n; i++)
            ck_assert_msg(exists(segment_path(at("log"), i)), "look %u: %u is there, and %u went", looks, (unsigned)lowest, (unsigned)i);
        expect_recovers(at("log"), 0);
    }
    ck_assert_uint_gt(looks, 20);
}
END_TEST

START_TEST(what_an_earlier_trim_said_and_did_not_remove_goes_with_the_next) /* [L-10] */
{
    u9_fault fault;
    make_row_of_segments(at("log"));
    uint64_t kept = first_in(at("log"), 4);
    unsigned n = segments_in(at("log"));
    sim_fail(SIM_REMOVE, 2, EPERM, true);
    ck_assert_int_eq(tell_closed(at("log"), &fault), U9_IO);
    ck_assert_str_eq(fault.rule, "L-10");
    ck_assert_int_eq(fault.sys, EPERM);
    sim_mend();
    ck_assert_uint_eq(segments_in(at("log")), n); /* one came */
    expect_kept(at("log"), first_in(at("log"), 2), TRIM_RECORDS);
    uint8_t was[16], is[16];
    u9_log *w = open_rolling(at("log"));
    u9_trimmed t = trim_on(w, below_ordinal(kept));
    ck_assert_uint_eq(t.segments, 2);
    picture(at("log"), was);
    close_log(w);
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16); /* it had been said: nothing was written */
    ck_assert_uint_eq(segments_in(at("log")), n - 2);
    expect_kept(at("log"), kept, TRIM_RECORDS);
}
END_TEST

START_TEST(without_a_mark_that_says_so_nothing_is_removed) /* [L-10] [M-5] */
{
    u9_fault fault;
    make_row_of_segments(at("log"));
    unsigned n = segments_in(at("log"));
    sim_aim(".mark");
    sim_fail(SIM_WRITE, 1, EIO, false);
    ck_assert_int_eq(tell_closed(at("log"), &fault), U9_IO);
    ck_assert_str_eq(fault.rule, "M-5");
    sim_mend();
    sim_aim(NULL);
    ck_assert_uint_eq(segments_in(at("log")), n + 1);
    expect_kept(at("log"), 0, TRIM_RECORDS);
    trim_log(at("log"), below_ordinal(26));
    ck_assert_uint_lt(segments_in(at("log")), n);
}
END_TEST

/* A segment that is taken for another, or for none, would stay when those above it go: a fork, once it can be read. */
START_TEST(where_a_segment_that_goes_cannot_be_looked_at_nothing_goes) /* [L-10] */
{
    u9_fault fault;
    u9_trim what = below_ordinal(26);
    u9_trimmed out = {.size = sizeof out};
    make_row_of_segments(at("log"));
    unsigned n = segments_in(at("log"));
    u9_log *w = open_rolling(at("log"));
    sim_aim("0000000000000001.u9");
    sim_fail(SIM_STAT, 1, EIO, true);
    ck_assert_int_eq(u9_log_trim(w, &what, &out, &fault), U9_IO);
    ck_assert_ptr_nonnull(strstr(fault.text, "0000000000000001.u9"));
    sim_mend();
    ck_assert_uint_eq(segments_in(at("log")), n);
    ck_assert_int_eq(u9_log_trim(w, &what, &out, &fault), U9_OK);
    close_log(w);
    ck_assert(!exists(segment_path(at("log"), 1)));
    expect_kept(at("log"), out.ordinal, TRIM_RECORDS);
}
END_TEST

/* {F40} What goes makes the room, one after the other; the log says so in itself as soon as it can. */
START_TEST(a_log_on_a_full_disk_is_trimmed) /* [L-10] */
{
    for (unsigned i = 0; i < 6; i++) {
        bool live = i % 2;
        u9_options o = small_options();
        make_row_of_segments(at("log"));
        uint64_t first = first_in(at("log"), 5), next = TRIM_RECORDS;
        u9_log *w = open_writer(at("log"), &o);
        if (live) append_text(w, "under way"), next++;
        fill_disk(1 + i / 2);
        sim_forget_diary();
        u9_trimmed t = trim_on(w, below_ordinal(first));
        sim_before_call(NULL);
        ck_assert_uint_eq(t.segments, 4);
        ck_assert_uint_eq(t.segment, 5);
        append_text(w, "behind it");
        close_log(w);
        ck_assert_uint_eq(marked_by(at("log")).first_ordinal, first);
        for (uint64_t k = 1; k < 5; k++) ck_assert(!exists(segment_path(at("log"), k)));
        remove_log(at("log/.mark")); /* the u9trim says it by itself */
        seen *s = look(at("log"));
        ck_assert_int_eq(s->report.begins_late, 0);
        ck_assert_uint_eq(s->records[0].ordinal, first);
        ck_assert_uint_eq(s->report.next_ordinal, next + 1);
        forget(s);
        remove_log(at("log"));
    }
}
END_TEST

/* {F40} And where that does not make room enough, the mark says it, and the next session. */
START_TEST(where_nothing_that_goes_makes_room_the_mark_says_what_went) /* [L-10] [C-5] */
{
    for (unsigned i = 0; i < 8; i++) { /* whichever slot of the mark counts */
        unsigned live = i % 2, more = i / 2;
        u9_options o = small_options();
        u9_trimmed out = {.size = sizeof out};
        u9_fault fault;
        make_row_of_segments(at("log"));
        for (unsigned k = 0; k < more; k++) session(at("log"), "more", 1, 1);
        uint64_t first = first_in(at("log"), 5);
        u9_trim what = below_ordinal(first);
        u9_log *w = open_writer(at("log"), &o);
        if (live) append_text(w, "under way");
        fill_disk(0);
        ck_assert_int_eq(u9_log_trim(w, &what, &out, &fault), U9_IO);
        ck_assert_int_eq(fault.sys, ENOSPC);
        ck_assert(strstr(fault.text, "the log's mark says it"));
        sim_mend();
        sim_advance(3 * TICK); /* and it is marked again */
        if (live) append_text(w, "goes on");
        close_log(w);
        ck_assert_uint_eq(marked_by(at("log")).first_ordinal, first);
        expect_kept(at("log"), first, TRIM_RECORDS + more + 2 * live);
        session(at("log"), "on", 1, 1);
        remove_log(at("log/.mark"));
        seen *s = look(at("log"));
        ck_assert_int_eq(s->report.begins_late, 0);
        ck_assert_uint_eq(s->records[0].ordinal, first);
        forget(s);
        remove_log(at("log"));
    }
}
END_TEST

/* {F40} So it does where what went held no record: the log is kept from record 0 on, as it was. */
START_TEST(where_that_had_no_record_the_mark_says_so_too) /* [L-10] [C-5] */
{
    const u9_trim what = {.size = sizeof what, .keep_bytes = 1};
    u9_trimmed out = {.size = sizeof out};
    u9_fault fault;
    crash(open_rolling(at("log")), at("log"));
    session(at("log"), "a", 3, 1);
    u9_log *w = open_rolling(at("log"));
    fill_disk(0);
    ck_assert_int_eq(u9_log_trim(w, &what, &out, &fault), U9_IO);
    ck_assert(strstr(fault.text, "the log's mark says it"));
    sim_mend();
    ck_assert(!exists(segment_path(at("log"), 1)));
    expect_kept(at("log"), 0, 3);
    close_log(w);
    expect_kept(at("log"), 0, 3);
    session(at("log"), "on", 1, 1);
    remove_log(at("log/.mark")); /* the u9trim says it by itself */
    expect_kept(at("log"), 0, 4);
}
END_TEST

/* As the mark is not there, or is another log's, too. */
START_TEST(where_there_is_no_room_and_no_mark_nothing_changes) /* [W-6] [M-4] */
{
    uint8_t was[16], is[16];
    u9_trim what = below_ordinal(26);
    u9_trimmed out = {.size = sizeof out};
    u9_fault fault;
    make_row_of_segments(at("log"));
    if (_i == 0) remove_log(at("log/.mark"));
    else sim_link(at("log/.mark"), at("other"));
    picture(at("log"), was);
    u9_log *w = open_rolling(at("log"));
    fill_disk(0);
    ck_assert_int_eq(u9_log_trim(w, &what, &out, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, ENOSPC);
    ck_assert(strstr(fault.text, "nothing was trimmed"));
    sim_mend();
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
    append_text(w, "goes on");
    close_log(w);
    expect_kept(at("log"), 0, TRIM_RECORDS + 1);
    ck_assert_uint_eq(marked_by(at("log")).first_ordinal, 0);
}
END_TEST

Suite *suite_trim(void)
{
    Suite *suite = suite_create("trim");
    TCase *t = tcase_create("what_goes");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, the_oldest_segments_go_and_the_log_says_from_where_on_it_is_kept);
    tcase_add_test(t, each_new_segment_repeats_what_was_trimmed);
    tcase_add_test(t, a_trimmed_log_is_opened_without_reading_it_through);
    tcase_add_test(t, what_goes_is_told_by_size);
    tcase_add_test(t, what_goes_is_told_by_time);
    tcase_add_test(t, what_goes_is_told_by_a_key_by_reading_where_that_is_not_sure);
    tcase_add_test(t, what_goes_is_told_by_the_key_of_a_large_record_too);
    tcase_add_test(t, a_segment_goes_if_anything_says_so);
    tcase_add_test(t, where_nothing_goes_nothing_is_written);
    tcase_add_test(t, a_dry_run_tells_the_same_changes_nothing_and_needs_no_lock);
    tcase_add_test(t, the_newest_segment_that_holds_records_stays);
    tcase_add_test(t, a_trim_of_one_who_reads_or_asks_wrongly_is_refused);
    tcase_add_test(t, damage_in_what_goes_goes_with_it);
    tcase_add_test(t, a_log_does_not_begin_with_a_segment_whose_u9open_is_damaged);
    tcase_add_test(t, logs_of_each_key_kind_can_be_trimmed);
    suite_add_tcase(suite, t);
    t = tcase_create("stops");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 300);
    tcase_add_test(t, each_step_is_durable_before_the_next_one_begins);
    tcase_add_test(t, so_it_is_beside_appends);
    tcase_add_test(t, a_stop_at_any_call_leaves_a_log_that_is_whole);
    tcase_add_loop_test(t, what_is_there_twice_goes_whole, 0, 2);
    tcase_add_test(t, so_does_a_power_cut);
    tcase_add_test(t, so_it_is_beside_appends_and_what_options_keep);
    tcase_add_test(t, so_it_is_where_the_disk_is_full);
    tcase_add_test(t, so_does_a_kill_at_any_write);
    tcase_add_test(t, a_higher_one_never_goes_before_a_lower_one_whichever_look_fails);
    tcase_add_test(t, what_an_earlier_trim_said_and_did_not_remove_goes_with_the_next);
    tcase_add_test(t, without_a_mark_that_says_so_nothing_is_removed);
    tcase_add_test(t, where_a_segment_that_goes_cannot_be_looked_at_nothing_goes);
    tcase_add_test(t, a_log_on_a_full_disk_is_trimmed);
    tcase_add_test(t, where_nothing_that_goes_makes_room_the_mark_says_what_went);
    tcase_add_test(t, where_that_had_no_record_the_mark_says_so_too);
    tcase_add_loop_test(t, where_there_is_no_room_and_no_mark_nothing_changes, 0, 2);
    suite_add_tcase(suite, t);
    return suite;
}
