/*
 * tests/engine/log/test_trim.c: the oldest segments of a log go: which, in what order, and that a stop at any call
 * leaves a log that is whole; what readers are told; what options keep; and a beginning that was deleted by hand.
 * [C-5] [L-10]
 */
#include "format/frame/mark.h"
#include "tests/engine/fixture.h"
#include "tests/engine/link/ship.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 4096, TICK = 50000, SECOND = 1000000, FILLER = 8000, RECORDS = 40 };

static const uint8_t nothing[FILLER];

static const char *beside(const char *log, const char *name)
{
    static char paths[8][4400];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", log, name);
    return path;
}

static void append_fillers(u9_log *w, unsigned count)
{
    for (unsigned i = 0; i < count; i++) append_bytes(w, nothing, sizeof nothing);
}

static u9_log *open_small(const char *log)
{
    u9_options o = small_options();
    return open_writer(log, &o);
}

/* RECORDS records over several segments, closed. */
static void make_log(const char *log)
{
    u9_log *w = open_small(log);
    append_fillers(w, RECORDS);
    close_log(w);
    ck_assert_uint_ge(segments_in(log), 5);
}

/* The ordinal of a segment's first record, as its u9open tells. */
static uint64_t first_of(const char *log, uint64_t number)
{
    size_t size;
    seen_frame frame;
    uint8_t *bytes = read_file(segment_path(log, number), &size);
    ck_assert_uint_eq(list_frames(bytes, size, &frame, 1), 1);
    free(bytes);
    return frame.ordinal;
}

static u9_trim before(uint64_t ordinal)
{
    return (u9_trim){.size = sizeof(u9_trim), .before = ordinal};
}

/* Trims on a handle, which must succeed. */
static u9_trimmed trim_on(u9_log *log, u9_trim what)
{
    u9_trimmed out = {.size = sizeof out};
    u9_fault fault;
    u9_err err = u9_log_trim(log, &what, &out, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    return out;
}

/* The same in a session of its own. */
static u9_trimmed trim(const char *log, u9_trim what)
{
    u9_log *w = open_small(log);
    u9_trimmed out = trim_on(w, what);
    close_log(w);
    return out;
}

static u9i_mark_record mark_of(const char *log)
{
    u9i_slot slots[U9I_MARK_SLOTS];
    size_t size;
    uint8_t *bytes = read_file(beside(log, ".mark"), &size);
    ck_assert_uint_eq(size, U9I_MARK_SIZE);
    for (unsigned i = 0; i < U9I_MARK_SLOTS; i++) u9i_slot_decode(bytes + i * BLOCK, &slots[i]);
    free(bytes);
    int counts = u9i_slots_greater(slots);
    ck_assert_int_ge(counts, 0);
    return slots[counts].mark;
}

/* The log is whole, is kept from `first` on, and goes on at `next`. */
static void expect_kept(const char *log, uint64_t first, uint64_t next)
{
    seen *s = look(log);
    ck_assert_int_le(s->report.verdict, U9_V_TORN);
    ck_assert_uint_eq(s->report.damages, 0);
    ck_assert_uint_eq(s->report.next_ordinal, next);
    ck_assert_uint_eq(s->count, next - first);
    for (size_t i = 0; i < s->count; i++) ck_assert_uint_eq(s->records[i].ordinal, first + i);
    forget(s);
}

/* The u9trim of a segment, in its place. */
static u9i_trim_record said_in(const char *log, uint64_t number)
{
    size_t size;
    seen_frame frames[2];
    u9i_trim_record trim;
    uint8_t *bytes = read_file(segment_path(log, number), &size);
    ck_assert_uint_eq(list_frames(bytes, size, frames, 2), 2);
    ck_assert_uint_eq(frames[1].offset, frames[0].end);
    ck_assert_uint_le(frames[1].end, BLOCK);
    ck_assert_uint_eq(frames[1].count, 0);
    ck_assert_int_eq(u9i_trim_record_decode(bytes + frames[1].offset + 64, frames[1].length - 80, &trim), U9_OK);
    free(bytes);
    return trim;
}

/* What goes */

START_TEST(the_oldest_segments_go_and_the_log_says_from_where_on_it_is_kept) /* [L-10] [C-5] */
{
    make_log(at("log"));
    unsigned n = segments_in(at("log"));
    uint64_t kept = first_of(at("log"), 4), bytes = 0;
    for (uint64_t i = 1; i < 4; i++) bytes += file_size(segment_path(at("log"), i));
    u9_trimmed t = trim(at("log"), before(kept + 1));
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
    ck_assert_uint_eq(mark_of(at("log")).first_ordinal, kept);
    expect_kept(at("log"), kept, RECORDS);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_int_eq(s->report.mark, U9_MARK_COUNTS);
    ck_assert_uint_eq(s->report.trim_segment, 4);
    ck_assert_uint_eq(s->report.trim_ordinal, kept);
    ck_assert_int_eq(s->report.begins_late, 0);
    forget(s);
    session(at("log"), "on", 3, 1);
    expect_kept(at("log"), kept, RECORDS + 3);
    ck_assert_uint_eq(mark_of(at("log")).first_ordinal, kept);
}
END_TEST

START_TEST(each_new_segment_repeats_what_was_trimmed) /* [C-5] */
{
    make_log(at("log"));
    trim(at("log"), before(first_of(at("log"), 3)));
    unsigned last = segments_in(at("log")) + 2;
    u9_log *w = open_small(at("log"));
    append_fillers(w, 20);
    close_log(w);
    unsigned now = segments_in(at("log")) + 2;
    ck_assert_uint_ge(now, last + 2);
    for (unsigned i = last; i <= now; i++) ck_assert_uint_eq(said_in(at("log"), i).segment, 3);
    w = open_small(at("log")); /* a crash, and a segment behind it */
    append_fillers(w, 1);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    crash(w, at("log"));
    session(at("log"), "after", 1, 0);
    ck_assert_uint_eq(said_in(at("log"), now + 1).segment, 3);
    trim(at("log"), before(first_of(at("log"), last)));
    ck_assert_uint_eq(said_in(at("log"), now + 2).segment, last);
    trim(at("log"), before(first_of(at("log"), now)));
    expect_kept(at("log"), first_of(at("log"), now), RECORDS + 22);
}
END_TEST

START_TEST(a_trimmed_log_is_opened_without_reading_it_through) /* [C-5] */
{
    make_log(at("log"));
    sim_forget_diary();
    close_log(open_reader(at("log")));
    uint64_t whole = sim_bytes(SIM_READ);
    unsigned n = segments_in(at("log"));
    trim(at("log"), before(first_of(at("log"), 2)));
    sim_forget_diary();
    close_log(open_reader(at("log")));
    ck_assert_uint_eq(segments_in(at("log")), n); /* one went, one came */
    ck_assert_uint_le(sim_bytes(SIM_READ), whole + 2 * BLOCK);
}
END_TEST

START_TEST(what_goes_is_told_by_size) /* [L-10] */
{
    make_log(at("log"));
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
    u9_log *w = open_small(at("log"));
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

/* Keys out of order: in segment 2 of the log one is above all. */
static void make_keyed(const char *log)
{
    u9_options o = small_options();
    static uint8_t values[FILLER + 8];
    u9_builder b;
    o.kind = "rkey";
    u9_log *w = open_writer(log, &o);
    u9_builder_init(&b, values, sizeof values);
    ck_assert_int_eq(u9_build_bytes(&b, nothing, FILLER), U9_OK);
    for (unsigned i = 0; i < RECORDS; i++) {
        char text[16];
        snprintf(text, sizeof text, i == 12 ? "z" : "k%03u", i);
        u9_key key = {text, strlen(text)};
        ck_assert_int_eq(u9_log_append(w, &key, values, b.size, NULL), U9_OK);
    }
    close_log(w);
}

START_TEST(what_goes_is_told_by_a_key_by_reading_where_that_is_not_sure) /* [L-10] */
{
    make_keyed(at("log"));
    uint64_t second = first_of(at("log"), 2), third = first_of(at("log"), 3);
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
    trim(at("log"), what);
    expect_kept(at("log"), second, RECORDS);
}
END_TEST

START_TEST(a_segment_goes_if_anything_says_so) /* [L-10] */
{
    make_log(at("log"));
    u9_log *r = open_reader(at("log"));
    u9_trim what = {.size = sizeof what, .dry_run = 1, .before = first_of(at("log"), 3), .keep_bytes = UINT64_MAX};
    ck_assert_uint_eq(trim_on(r, what).segment, 3);
    what.keep_bytes = 1;
    ck_assert_uint_eq(trim_on(r, what).segment, segments_in(at("log")));
    close_log(r);
}
END_TEST

START_TEST(where_nothing_goes_nothing_is_written) /* [L-10] */
{
    uint8_t was[16], is[16];
    make_log(at("log"));
    picture(at("log"), was);
    u9_trim none = {.size = sizeof none};
    ck_assert_uint_eq(trim(at("log"), none).segments, 0);
    ck_assert_uint_eq(trim(at("log"), before(1)).segments, 0);
    none.keep_bytes = UINT64_MAX;
    u9_trimmed t = trim(at("log"), none);
    ck_assert_uint_eq(t.segment, 1);
    ck_assert_uint_eq(t.ordinal, 0);
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
}
END_TEST

START_TEST(a_dry_run_tells_the_same_changes_nothing_and_needs_no_lock) /* [L-10] */
{
    uint8_t was[16], is[16];
    make_log(at("log"));
    u9_log *w = open_small(at("log"));
    append_fillers(w, 3);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    u9_trim what = before(first_of(at("log"), 3));
    what.dry_run = 1;
    picture(at("log"), was);
    u9_log *r = open_reader(at("log"));
    u9_trimmed told = trim_on(r, what), own = trim_on(w, what);
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
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
    make_log(at("log"));
    unsigned n = segments_in(at("log"));
    const u9_trim all = {.size = sizeof all, .keep_bytes = 1};
    uint64_t last = first_of(at("log"), n);
    ck_assert_uint_eq(trim(at("log"), all).segment, n);
    for (unsigned i = 0; i < 3; i++) ck_assert_uint_eq(trim(at("log"), all).segments, 0);
    expect_kept(at("log"), last, RECORDS);
    u9_log *w = open_small(at("log"));
    append_text(w, "not yet written");
    ck_assert_uint_eq(trim_on(w, all).segments, 1); /* it is in the next one */
    ck_assert_uint_eq(trim_on(w, all).segments, 0); /* of this session's there is none in the newest */
    append_text(w, "in the newest");
    ck_assert_uint_eq(trim_on(w, all).segments, 1);
    ck_assert_uint_eq(trim_on(w, all).segments, 0);
    close_log(w);
    expect_kept(at("log"), RECORDS + 1, RECORDS + 2);
}
END_TEST

START_TEST(a_trim_of_one_who_reads_or_asks_wrongly_is_refused)
{
    make_log(at("log"));
    u9_log *r = open_reader(at("log"));
    u9_trim what = before(10);
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
    make_log(at("log"));
    uint64_t kept = first_of(at("log"), 3);
    fill_bytes(segment_path(at("log"), 2), 2 * BLOCK, 5000, 0x55);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CORRUPT);
    forget(s);
    trim(at("log"), before(kept));
    expect_kept(at("log"), kept, RECORDS);
}
END_TEST

START_TEST(a_log_does_not_begin_with_a_segment_whose_u9open_is_damaged)
{
    make_log(at("log"));
    uint64_t kept = first_of(at("log"), 4);
    fill_bytes(segment_path(at("log"), 4), 100, 20, 0x55);
    u9_trimmed t = trim(at("log"), before(kept + 1));
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
            static uint8_t values[FILLER + 8];
            u9_builder b;
            u9_key key = {name, (size_t)snprintf(name, sizeof name, "key-%u", k)};
            u9_builder_init(&b, values, sizeof values);
            ck_assert_int_eq(u9_build_bytes(&b, nothing, FILLER), U9_OK);
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

/* The nth operation of this kind on this path. */
static const sim_op *nth_op(sim_kind kind, const char *path, unsigned nth)
{
    size_t n;
    const sim_op *ops = sim_ops(&n);
    for (size_t i = 0; i < n; i++)
        if (ops[i].kind == kind && strcmp(ops[i].path, path) == 0 && --nth == 0) return &ops[i];
    ck_abort_msg("there is no such operation on %s", path);
}

/* The first operation of this kind on this path that began behind that one. */
static const sim_op *next_op(sim_kind kind, const char *path, const sim_op *behind)
{
    size_t n;
    const sim_op *ops = sim_ops(&n);
    for (const sim_op *op = behind + 1; op < ops + n; op++)
        if (op->kind == kind && strcmp(op->path, path) == 0) return op;
    ck_abort_msg("there is no such operation on %s", path);
}

/* Segment `number` says that those below `kept` are trimmed, then the mark, and only then they go, one by one. */
static void expect_order(const char *log, uint64_t number, uint64_t first, uint64_t kept)
{
    const sim_op *op = nth_op(SIM_WRITE, segment_path(log, number), 1);
    const struct {
        sim_kind kind;
        const char *path;
    } steps[] = {{SIM_SYNC, segment_path(log, number)},
                 {SIM_SYNC_DIR, log},
                 {SIM_WRITE, beside(log, ".mark")},
                 {SIM_SYNC, beside(log, ".mark")}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const sim_op *next = next_op(steps[i].kind, steps[i].path, op);
        ck_assert(op->ended != 0 && op->ended < next->began && next->error == 0);
        op = next;
    }
    for (uint64_t i = first; i < kept; i++) {
        const char *path = segment_path(log, i);
        const sim_op *gone = nth_op(SIM_REMOVE, path, 1), *synced = next_op(SIM_SYNC_DIR, log, gone);
        ck_assert_uint_lt(op->ended, gone->began);
        ck_assert_uint_lt(gone->ended, synced->began);
        op = synced;
    }
    ck_assert_uint_eq(sim_count(SIM_REMOVE), kept - first);
}

START_TEST(each_step_is_durable_before_the_next_one_begins) /* [L-10] */
{
    make_log(at("log"));
    unsigned n = segments_in(at("log"));
    uint64_t kept = first_of(at("log"), 4);
    sim_forget_diary();
    trim(at("log"), before(kept));
    expect_order(at("log"), n + 1, 1, 4);
}
END_TEST

START_TEST(so_it_is_beside_appends) /* [L-10] */
{
    u9_log *w = open_small(at("log"));
    append_fillers(w, RECORDS);
    unsigned n = segments_in(at("log"));
    sim_forget_diary();
    trim_on(w, before(20));
    expect_order(at("log"), n + 1, 1, first_of(at("log"), 3) <= 20 ? 3 : 2);
    append_fillers(w, 3);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(s->report.next_ordinal, RECORDS + 3);
    forget(s);
}
END_TEST

/* What a session does that is stopped. */
typedef struct story {
    u9_err (*tell)(const char *log, u9_fault *fault);
    unsigned appends; /* behind those of make_log, at most */
} story;

static u9_err tell_closed(const char *log, u9_fault *fault)
{
    u9_options o = small_options();
    u9_log *w;
    u9_trim what = before(26);
    u9_trimmed out = {.size = sizeof out};
    u9_err err = u9_log_open(log, &o, &w, fault);
    if (err != U9_OK) return err;
    err = u9_log_trim(w, &what, &out, fault);
    u9_err closed = u9_log_close(w, err == U9_OK ? fault : NULL);
    return err == U9_OK ? closed : err;
}

/* As many as go in. */
static u9_err try_fillers(u9_log *w, unsigned count)
{
    static uint8_t values[FILLER + 8];
    u9_builder b;
    u9_err err = U9_OK;
    u9_builder_init(&b, values, sizeof values);
    ck_assert_int_eq(u9_build_bytes(&b, nothing, FILLER), U9_OK);
    for (unsigned i = 0; i < count && err == U9_OK; i++) err = u9_log_append(w, NULL, values, b.size, NULL);
    return err;
}

static u9_err tell_live(const char *log, u9_fault *fault)
{
    u9_options o = small_options();
    u9_log *w;
    u9_trim what = before(26);
    u9_trimmed out = {.size = sizeof out};
    u9_err err = u9_log_open(log, &o, &w, fault);
    if (err != U9_OK) return err;
    err = try_fillers(w, 10);
    if (err == U9_OK) err = u9_log_trim(w, &what, &out, fault);
    if (err == U9_OK) err = try_fillers(w, 2);
    u9_err closed = u9_log_close(w, err == U9_OK ? fault : NULL);
    return err == U9_OK ? closed : err;
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
        err = try_fillers(w, 5);
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
    ck_assert_uint_ge(s->report.next_ordinal, RECORDS);
    ck_assert_uint_le(s->report.next_ordinal, RECORDS + appends);
    uint64_t next = s->report.next_ordinal, first = s->count > 0 ? s->records[0].ordinal : next;
    ck_assert_uint_eq(s->count, next - first);
    forget(s);
    session(log, "on", 2, 1);
    expect_kept(log, first, next + 2);
    u9_trimmed t = trim(log, before(26));
    ck_assert_uint_ge(t.ordinal, first);
    expect_kept(log, t.ordinal, next + 2);
    for (uint64_t i = 1; i < t.segment; i++) ck_assert(!exists(segment_path(log, i)));
}

/* Stops at each call in turn, which fails and so do all behind it; with a power cut, too. */
static void stop_anywhere(const story *it, bool power, unsigned at_least)
{
    unsigned n = 0;
    u9_err err = U9_END;
    while (err != U9_OK) {
        sim_begin(n + 1);
        sim_make_dir(at(""));
        make_log(at("log"));
        u9_fault fault;
        sim_fail(SIM_ANY, ++n, EIO, true);
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
    stop_anywhere(&(story){tell_closed, 0}, false, 60);
}
END_TEST

START_TEST(so_does_a_power_cut) /* [L-10] */
{
    stop_anywhere(&(story){tell_closed, 0}, true, 60);
}
END_TEST

START_TEST(so_it_is_beside_appends_and_what_options_keep) /* [L-10] */
{
    stop_anywhere(&(story){tell_live, 12}, true, 100);
    stop_anywhere(&(story){tell_kept, 20}, true, 150);
}
END_TEST

START_TEST(so_does_a_kill_at_any_write) /* [L-10] [W-1] */
{
    static u9_err (*const tells[])(const char *, u9_fault *) = {tell_closed, tell_live, tell_kept};
    for (unsigned i = 0; i < 3; i++) {
        bool killed = true;
        unsigned n = 0;
        for (; killed; n++) {
            u9_fault fault;
            sim_begin(n + 1);
            sim_make_dir(at(""));
            make_log(at("log"));
            sim_set_order(SIM_DRAWN);
            sim_kill_at_write(n + 1);
            (void)!tells[i](at("log"), &fault);
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

START_TEST(what_an_earlier_trim_said_and_did_not_remove_goes_with_the_next) /* [L-10] */
{
    u9_fault fault;
    make_log(at("log"));
    uint64_t kept = first_of(at("log"), 4);
    unsigned n = segments_in(at("log"));
    sim_fail(SIM_REMOVE, 2, EPERM, true);
    ck_assert_int_eq(tell_closed(at("log"), &fault), U9_IO);
    ck_assert_str_eq(fault.rule, "L-10");
    ck_assert_int_eq(fault.sys, EPERM);
    sim_mend();
    ck_assert_uint_eq(segments_in(at("log")), n); /* one came */
    expect_kept(at("log"), first_of(at("log"), 2), RECORDS);
    uint8_t was[16], is[16];
    u9_log *w = open_small(at("log"));
    u9_trimmed t = trim_on(w, before(kept));
    ck_assert_uint_eq(t.segments, 2);
    picture(at("log"), was);
    close_log(w);
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16); /* it had been said: nothing was written */
    ck_assert_uint_eq(segments_in(at("log")), n - 2);
    expect_kept(at("log"), kept, RECORDS);
}
END_TEST

START_TEST(without_a_mark_that_says_so_nothing_is_removed) /* [L-10] [M-5] */
{
    u9_fault fault;
    make_log(at("log"));
    unsigned n = segments_in(at("log"));
    sim_aim(".mark");
    sim_fail(SIM_WRITE, 1, EIO, false);
    ck_assert_int_eq(tell_closed(at("log"), &fault), U9_IO);
    ck_assert_str_eq(fault.rule, "M-5");
    sim_mend();
    sim_aim(NULL);
    ck_assert_uint_eq(segments_in(at("log")), n + 1);
    expect_kept(at("log"), 0, RECORDS);
    trim(at("log"), before(26));
    ck_assert_uint_lt(segments_in(at("log")), n);
}
END_TEST

START_TEST(where_there_is_no_room_nothing_changes) /* [W-6] */
{
    uint8_t was[16], is[16];
    u9_trim what = before(26);
    u9_trimmed out = {.size = sizeof out};
    u9_fault fault;
    make_log(at("log"));
    picture(at("log"), was);
    u9_log *w = open_small(at("log"));
    sim_fail(SIM_RESERVE, 1, ENOSPC, true);
    ck_assert_int_eq(u9_log_trim(w, &what, &out, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, ENOSPC);
    sim_mend();
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
    append_text(w, "goes on");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    sim_fail(SIM_RESERVE, 1, ENOSPC, true);
    ck_assert_int_eq(u9_log_trim(w, &what, &out, &fault), U9_IO);
    sim_mend();
    append_text(w, "goes on");
    close_log(w);
    expect_kept(at("log"), 0, RECORDS + 2);
    ck_assert_uint_eq(mark_of(at("log")).first_ordinal, 0);
}
END_TEST

/* What readers are told */

START_TEST(a_cursor_reads_the_segment_that_it_is_in_to_its_end) /* [L-10] */
{
    make_log(at("log"));
    uint64_t second = first_of(at("log"), 2), kept = first_of(at("log"), 4);
    u9_log *r = open_reader(at("log"));
    u9_cursor *c;
    u9_record record;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    trim(at("log"), before(kept));
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
    for (uint64_t i = kept; i < RECORDS; i++) {
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
    make_log(at("log"));
    u9_log *r;
    u9_cursor *c;
    u9_record record;
    ck_assert_int_eq(u9_log_open(at("log"), &o, &r, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    u9_trimmed t = trim(at("log"), before(26));
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK); /* it had not come to the first one */
    ck_assert_uint_eq(record.ordinal, t.ordinal);
    ck_assert_int_eq(told.reason, U9_R_TRIMMED);
    ck_assert_uint_eq(told.ordinal, 0);
    ck_assert_uint_eq(told.lost, t.ordinal);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

START_TEST(a_cursor_of_which_all_was_trimmed_says_so_and_ends) /* [L-10] */
{
    make_log(at("log"));
    u9_log *r = open_reader(at("log"));
    u9_cursor *c;
    u9_record record;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    u9_log *w = open_small(at("log"));
    append_fillers(w, 20);
    close_log(w);
    unsigned n = segments_in(at("log"));
    u9_trimmed t = trim(at("log"), before(first_of(at("log"), n)));
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
    make_keyed(at("log"));
    trim(at("log"), before(10));
    u9_log *r = open_reader(at("log"));
    static uint8_t room[2 * FILLER];
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
    trim(trimmed_meanwhile, before(26));
}

START_TEST(a_log_that_is_trimmed_while_it_is_opened_is_whole) /* */
{
    make_log(at("log"));
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
    ck_assert_uint_gt(seen_records, RECORDS);
    close_log(r);
}
END_TEST

START_TEST(a_line_of_what_was_trimmed_is_no_longer_provable_and_one_of_later_proves_less) /* [M-8] */
{
    u9_mark early, late;
    u9_log *w = open_small(at("log"));
    append_fillers(w, 3);
    close_log(w);
    ck_assert_int_eq(u9_mark_read(at("log"), io_of(at("log")), &early, NULL), U9_OK);
    w = open_small(at("log"));
    append_fillers(w, RECORDS);
    close_log(w);
    ck_assert_int_eq(u9_mark_read(at("log"), io_of(at("log")), &late, NULL), U9_OK);
    u9_trimmed t = trim(at("log"), before(26));
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

/* What options keep */

START_TEST(a_writer_keeps_so_many_bytes_from_roll_to_roll) /* [L-10] */
{
    u9_options o = small_options();
    o.keep_bytes = 3 * o.segment_size;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < 100; i++) {
        append_fillers(w, 1);
        sim_advance(TICK);
        uint64_t bytes = 0;
        size_t n;
        char **names = list_names(at("log"), &n);
        for (size_t k = 0; k < n; k++) {
            bytes += strstr(names[k], ".u9") ? file_size(beside(at("log"), names[k])) : 0;
            free(names[k]);
        }
        free(names);
        ck_assert_uint_le(n, 1 + 6);
        ck_assert(i < 40 || bytes >= o.keep_bytes);
    }
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(s->report.next_ordinal, 100);
    ck_assert_uint_lt(s->count, 50);
    forget(s);
}
END_TEST

START_TEST(what_goes_at_a_roll_is_removed_in_order_in_the_background) /* [L-10] */
{
    u9_options o = small_options();
    make_log(at("log"));
    unsigned n = segments_in(at("log"));
    uint64_t first = first_of(at("log"), n), bytes = file_size(segment_path(at("log"), n));
    o.keep_bytes = UINT64_MAX;
    u9_log *w = open_writer(at("log"), &o);
    o.keep_bytes = bytes;
    close_log(w);
    sim_task_chance(0);
    o.keep_bytes = 4 * o.segment_size;
    w = open_writer(at("log"), &o);
    uint64_t lowest = 1;
    while (!exists(segment_path(at("log"), lowest))) lowest++;
    ck_assert_uint_gt(lowest, 1); /* at once */
    sim_forget_diary();
    append_fillers(w, 10);
    ck_assert_uint_eq(sim_count(SIM_REMOVE), 0);
    ck_assert(exists(segment_path(at("log"), lowest)));
    sim_advance(4 * TICK);
    ck_assert(!exists(segment_path(at("log"), lowest)));
    uint64_t kept = said_in(at("log"), n + 2).segment;
    ck_assert_uint_gt(kept, lowest);
    expect_order(at("log"), n + 2, lowest, kept);
    ck_assert_uint_lt(first_of(at("log"), kept), first);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    forget(s);
}
END_TEST

START_TEST(what_is_not_removed_yet_goes_at_the_close) /* [L-10] */
{
    u9_options o = small_options();
    sim_task_chance(0);
    o.keep_bytes = o.segment_size;
    u9_log *w = open_writer(at("log"), &o);
    append_fillers(w, RECORDS / 2);
    close_log(w);
    unsigned n = segments_in(at("log"));
    ck_assert_uint_le(n, 3);
    u9_log *r = open_reader(at("log"));
    u9_trimmed t = trim_on(r, (u9_trim){.size = sizeof(u9_trim), .dry_run = 1});
    ck_assert_uint_gt(t.ordinal, 0);
    close_log(r);
}
END_TEST

START_TEST(a_writer_keeps_so_much_time) /* [L-10] */
{
    u9_options o = small_options();
    make_log(at("log"));
    o.keep_age_us = 3600 * (uint64_t)SECOND;
    close_log(open_writer(at("log"), &o));
    expect_kept(at("log"), 0, RECORDS);
    sim_advance(3601 * (uint64_t)SECOND);
    u9_log *w = open_writer(at("log"), &o);
    uint64_t kept = trim_on(w, (u9_trim){.size = sizeof(u9_trim), .dry_run = 1}).ordinal;
    ck_assert_uint_gt(kept, RECORDS / 2);
    append_fillers(w, 10);
    sim_advance(3601 * (uint64_t)SECOND);
    append_fillers(w, 10);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_uint_gt(s->records[0].ordinal, kept);
    ck_assert_uint_eq(s->report.next_ordinal, RECORDS + 20);
    forget(s);
}
END_TEST

START_TEST(a_session_that_keeps_all_that_is_there_writes_nothing_for_that) /* [L-10] */
{
    uint8_t was[16], is[16];
    u9_options o = small_options();
    make_log(at("log"));
    picture(at("log"), was);
    o.keep_bytes = UINT64_MAX;
    o.keep_age_us = UINT64_MAX;
    close_log(open_writer(at("log"), &o));
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
}
END_TEST

START_TEST(what_options_keep_hinders_no_append_and_its_failure_is_told_by_the_close) /* [L-10] */
{
    u9_options o = small_options();
    u9_fault fault;
    make_log(at("log"));
    o.keep_bytes = 2 * o.segment_size;
    sim_fail(SIM_REMOVE, 1, EPERM, true);
    u9_log *w = open_writer(at("log"), &o);
    append_fillers(w, 20);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_int_eq(u9_log_close(w, &fault), U9_IO);
    ck_assert_str_eq(fault.rule, "L-10");
    ck_assert_int_eq(fault.sys, EPERM);
    sim_mend();
    expect_kept(at("log"), 0, RECORDS + 20);
    w = open_writer(at("log"), &o);
    close_log(w);
    ck_assert_uint_le(segments_in(at("log")), 5);
}
END_TEST

START_TEST(options_of_an_earlier_version_keep_all)
{
    make_log(at("log"));
    u9_options o = small_options();
    o.keep_bytes = 1; /* which is not there */
    o.size = offsetof(u9_options, keep_bytes);
    u9_log *w = open_writer(at("log"), &o);
    append_fillers(w, 20);
    close_log(w);
    expect_kept(at("log"), 0, RECORDS + 20);
}
END_TEST

/* A beginning that was deleted by hand */

static u9_err accept_trim(const char *log, int accept, u9_trimmed *out, u9_fault *fault)
{
    *out = (u9_trimmed){.size = sizeof *out};
    return u9_accept_trim(log, accept, io_of(log), out, fault);
}

static void delete_up_to(const char *log, uint64_t number)
{
    for (uint64_t i = 1; i <= number; i++) remove_log(segment_path(log, i));
}

static u9_err open_again(const char *log, u9_fault *fault)
{
    u9_options o = small_options();
    u9_log *w;
    u9_err err = u9_log_open(log, &o, &w, fault);
    if (err == U9_OK) close_log(w);
    return err;
}

START_TEST(a_beginning_that_was_deleted_is_told_with_a_way_on) /* [L-4] [L-10] */
{
    u9_fault fault;
    u9_trimmed t;
    uint8_t was[16], is[16];
    make_log(at("log"));
    uint64_t kept = first_of(at("log"), 3);
    unsigned n = segments_in(at("log"));
    delete_up_to(at("log"), 2);
    ck_assert_int_eq(open_again(at("log"), &fault), U9_CORRUPT);
    ck_assert_ptr_nonnull(strstr(fault.text, "u9 trim --accept"));
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->report.lost, kept);
    ck_assert_int_eq(s->report.begins_late, 1);
    ck_assert_uint_eq(s->report.trim_segment, 0);
    forget(s);
    picture(at("log"), was);
    ck_assert_int_eq(accept_trim(at("log"), 0, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segments, 1);
    ck_assert_uint_eq(t.records, kept);
    ck_assert_uint_eq(t.segment, 3);
    ck_assert_uint_eq(t.ordinal, kept);
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
    u9_err err = accept_trim(at("log"), 1, &t, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    ck_assert_uint_eq(said_in(at("log"), n + 1).segment, 3);
    s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_int_eq(s->report.begins_late, 0);
    forget(s);
    expect_kept(at("log"), kept, RECORDS);
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segments, 0);
    session(at("log"), "on", 2, 1);
    expect_kept(at("log"), kept, RECORDS + 2);
    delete_up_to(at("log"), 4); /* and behind a trim once more */
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segment, 5);
    ck_assert_uint_eq(t.records, t.ordinal - kept);
    expect_kept(at("log"), t.ordinal, RECORDS + 2);
}
END_TEST

START_TEST(only_a_beginning_is_accepted) /* [L-10] */
{
    u9_fault fault;
    u9_trimmed t;
    uint8_t was[16], is[16];
    make_log(at("log"));
    picture(at("log"), was);
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segments, 0); /* nothing is missing */
    remove_log(segment_path(at("log"), 2));
    picture(at("log"), was);
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segments, 0); /* it is in the middle */
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
    ck_assert_int_eq(open_again(at("log"), &fault), U9_CORRUPT);
    ck_assert_ptr_null(strstr(fault.text, "u9 trim"));
    remove_log(segment_path(at("log"), 1));
    remove_log(segment_path(at("log"), 4)); /* at both places */
    picture(at("log"), was);
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segments, 0);
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
}
END_TEST

START_TEST(beside_a_writer_nothing_is_accepted)
{
    u9_fault fault;
    u9_trimmed t;
    make_log(at("log"));
    u9_log *w = open_small(at("log"));
    append_text(w, "live");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    delete_up_to(at("log"), 2);
    ck_assert_int_eq(accept_trim(at("log"), 0, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segments, 1);
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_LOCKED);
    close_log(w);
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
    expect_kept(at("log"), t.ordinal, RECORDS + 1);
}
END_TEST

START_TEST(a_stop_at_any_call_leaves_the_beginning_missing_or_accepted)
{
    for (unsigned power = 0; power < 2; power++) {
        unsigned n = 0, missing = 0;
        u9_err err = U9_END;
        while (err != U9_OK) {
            u9_fault fault;
            u9_trimmed t;
            sim_begin(n + 1);
            sim_make_dir(at(""));
            make_log(at("log"));
            delete_up_to(at("log"), 2);
            sim_fail(SIM_ANY, ++n, EIO, true);
            err = accept_trim(at("log"), 1, &t, &fault);
            sim_mend();
            if (power) sim_cut_power(at("log"));
            seen *s = look(at("log"));
            missing += s->report.verdict == U9_V_CORRUPT;
            ck_assert(err != U9_OK || s->report.verdict == U9_V_CLEAN);
            ck_assert_int_eq(s->report.begins_late, s->report.verdict == U9_V_CORRUPT);
            forget(s);
            ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
            expect_kept(at("log"), t.ordinal, RECORDS);
            ck_assert_uint_eq(t.segment, 3);
            ck_assert_uint_lt(n, 1000);
        }
        ck_assert_uint_gt(missing, 20);
    }
}
END_TEST

/* What others make of it */

/* Segment 2 with a u9trim behind its u9open that says so; segment 1 is gone. */
static void forge_trimmed(const char *log, uint64_t segment, bool spoil_chain)
{
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "r", 5);
    forge_end(&one, U9I_END_CLOSING);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_CLOSED);
    u9i_trim_record trim = {.segment = segment, .ordinal = 5};
    uint8_t body[128];
    u9i_out out = u9i_out_init(body, sizeof body);
    u9i_trim_record_encode(&out, &trim);
    if (spoil_chain) forge_records(&two, "s", 1);
    forge_frame(&two, body, out.size, 0);
    forge_records(&two, "s", 3);
    forge_end(&two, U9I_END_CLOSING);
    forge_save(&two, log);
    forge_free(&one);
    forge_free(&two);
}

START_TEST(a_u9trim_counts_in_its_place_before_all_others) /* [C-5] */
{
    static const struct {
        uint64_t segment;
        bool elsewhere, missing;
        uint64_t told;
    } ways[] = {{2, false, false, 2}, {2, true, false, 2}, {1, false, true, 1}, {3, false, false, 3}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        forge_trimmed(at("log"), ways[i].segment, ways[i].elsewhere);
        seen *s = look(at("log")); /* the second reader agrees */
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MISSING), ways[i].missing);
        ck_assert_uint_eq(s->report.trim_segment, ways[i].told);
        forget(s);
        if (!ways[i].missing) session(at("log"), "on", 1, 0); /* also behind one that no writer makes */
        remove_log(at("log"));
    }
}
END_TEST

START_TEST(a_u9trim_that_no_writer_makes_is_not_repeated) /* [C-5] */
{
    size_t size;
    forge_trimmed(at("log"), 7, true); /* above its own segment, 2, which is the last */
    session(at("log"), "on", 1, 0);
    session(at("other"), "r", 1, 0);
    uint8_t *bytes = read_file(segment_path(at("other"), 1), &size);
    write_file(segment_path(at("log"), 8), bytes, size); /* foreign, and in the way of 8 */
    free(bytes);
    u9_log *w = open_small(at("log"));
    append_fillers(w, 20);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
    ck_assert_uint_eq(s->count, 25);
    forget(s);
}
END_TEST

START_TEST(what_was_trimmed_stays_so_when_a_loss_is_given_up) /* [C-5] [M-9] */
{
    u9_loss loss = {.size = sizeof loss};
    size_t size;
    make_log(at("log"));
    u9_trimmed t = trim(at("log"), before(26));
    copy_log(at("log"), at("older"));
    session(at("log"), "gone", 5, 1);
    uint8_t *bytes = read_file(beside(at("log"), ".mark"), &size);
    write_file(beside(at("older"), ".mark"), bytes, size);
    free(bytes);
    ck_assert_int_eq(u9_accept_loss(at("older"), 1, io_of(at("older")), &loss, NULL), U9_OK);
    ck_assert_int_eq(loss.state, U9_LOSS_ACCEPTED);
    ck_assert_uint_eq(said_in(at("older"), loss.segment).segment, t.segment);
    ck_assert_uint_eq(mark_of(at("older")).first_ordinal, t.ordinal);
    expect_kept(at("older"), t.ordinal, RECORDS);
    session(at("older"), "on", 1, 0);
    t = trim(at("older"), (u9_trim){.size = sizeof(u9_trim), .keep_bytes = 1});
    ck_assert_uint_eq(t.ordinal, RECORDS);
    expect_kept(at("older"), RECORDS, RECORDS + 1);
}
END_TEST

START_TEST(a_log_without_a_mark_gets_one_before_anything_goes) /* [L-10] [M-1] */
{
    make_log(at("log"));
    remove_mark(at("log"));
    u9_trimmed t = trim(at("log"), before(26));
    ck_assert_uint_eq(mark_of(at("log")).first_ordinal, t.ordinal);
    expect_kept(at("log"), t.ordinal, RECORDS);
}
END_TEST

START_TEST(salvage_of_a_trimmed_log_takes_what_is_kept)
{
    make_log(at("log"));
    u9_trimmed t = trim(at("log"), before(26));
    fill_bytes(segment_path(at("log"), t.segment), 3 * BLOCK, 100, 0x55);
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
    u9_report report = {.size = sizeof report};
    uint64_t saved;
    u9_fault fault;
    u9_err err = u9_salvage(at("log"), at("out"), &o, &report, &saved, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    ck_assert_uint_eq(saved, RECORDS - t.ordinal - report.lost);
    ck_assert_uint_eq(report.outputs, 1);
    expect_kept(at("out"), 0, saved);
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
    u9_log *w = open_small(at("log"));
    append_fillers(w, 3 * RECORDS);
    close_log(w);
    ck_assert_int_eq(pipe(ends), 0);
    side sender = {.path = at("log"), .in = -1, .out = ends[1]};
    start(&sender, send_main);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1); /* it has begun, and comes no further than the pipe has room */
    trim(at("log"), before(3 * RECORDS));
    ck_assert_int_eq(pthread_create(&reader, NULL, drain, &ends[0]), 0);
    join(&sender);
    close(ends[1]);
    pthread_join(reader, NULL);
    close(ends[0]);
    ck_assert_int_eq(sender.err, U9_ABSENT);
    ck_assert_str_eq(sender.fault.rule, "L-10");
    ck_assert_uint_lt(sender.report.next, 2 * RECORDS);
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
    tcase_add_test(t, so_does_a_power_cut);
    tcase_add_test(t, so_it_is_beside_appends_and_what_options_keep);
    tcase_add_test(t, so_does_a_kill_at_any_write);
    tcase_add_test(t, what_an_earlier_trim_said_and_did_not_remove_goes_with_the_next);
    tcase_add_test(t, without_a_mark_that_says_so_nothing_is_removed);
    tcase_add_test(t, where_there_is_no_room_nothing_changes);
    suite_add_tcase(suite, t);
    t = tcase_create("readers");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_cursor_reads_the_segment_that_it_is_in_to_its_end);
    tcase_add_test(t, who_is_told_of_damage_is_told_of_that_and_goes_on_by_itself);
    tcase_add_test(t, a_cursor_of_which_all_was_trimmed_says_so_and_ends);
    tcase_add_test(t, a_key_that_was_trimmed_is_absent_and_the_fault_says_from_where_on_records_are_kept);
    tcase_add_test(t, a_log_that_is_trimmed_while_it_is_opened_is_whole);
    tcase_add_test(t, a_line_of_what_was_trimmed_is_no_longer_provable_and_one_of_later_proves_less);
    suite_add_tcase(suite, t);
    t = tcase_create("options");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_writer_keeps_so_many_bytes_from_roll_to_roll);
    tcase_add_test(t, what_goes_at_a_roll_is_removed_in_order_in_the_background);
    tcase_add_test(t, what_is_not_removed_yet_goes_at_the_close);
    tcase_add_test(t, a_writer_keeps_so_much_time);
    tcase_add_test(t, a_session_that_keeps_all_that_is_there_writes_nothing_for_that);
    tcase_add_test(t, what_options_keep_hinders_no_append_and_its_failure_is_told_by_the_close);
    tcase_add_test(t, options_of_an_earlier_version_keep_all);
    suite_add_tcase(suite, t);
    t = tcase_create("accepted");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_beginning_that_was_deleted_is_told_with_a_way_on);
    tcase_add_test(t, only_a_beginning_is_accepted);
    tcase_add_test(t, beside_a_writer_nothing_is_accepted);
    tcase_add_test(t, a_stop_at_any_call_leaves_the_beginning_missing_or_accepted);
    tcase_add_test(t, a_u9trim_counts_in_its_place_before_all_others);
    tcase_add_test(t, a_u9trim_that_no_writer_makes_is_not_repeated);
    tcase_add_test(t, what_was_trimmed_stays_so_when_a_loss_is_given_up);
    tcase_add_test(t, a_log_without_a_mark_gets_one_before_anything_goes);
    tcase_add_test(t, salvage_of_a_trimmed_log_takes_what_is_kept);
    suite_add_tcase(suite, t);
    t = tcase_create("threads");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, threads_append_trim_and_read_on_one_handle);
    tcase_add_test(t, what_is_trimmed_while_it_is_sent_ends_the_sending);
    suite_add_tcase(suite, t);
    return suite;
}
