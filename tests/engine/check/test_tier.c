/*
 * tests/engine/check/test_tier.c: sealed segments go to another place, and both are read as one log. [TR-1] to [TR-6]
 *
 * The place is a directory beside the log, on the simulated disk; that one in S3 is as good is for tests/s3 to show.
 */
#include "engine/log/tier_list.h"
#include "tests/engine/log/trimmed.h"
#include "tests/plain_file.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <u9/cursor.h>
#include <u9/index.h>
#include <u9/lookup.h>
#include <u9/scan.h>
#include <u9/snapshot.h>
#include <u9/tier.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, SECOND = 1000000 };

static u9_fault fault;
static u9_tiered done;

/* Verbs */

static void drop_file(const char *path)
{
    ck_assert(exists(path));
    remove_log(path);
}

static u9_tier_options to_far(void)
{
    return (u9_tier_options){.size = sizeof(u9_tier_options), .to = at("far"), .io = io_of(at("log"))};
}

static u9_err try_tier(u9_tier_options what)
{
    done = (u9_tiered){.size = sizeof done};
    return u9_tier(at("log"), &what, &done, &fault);
}

static void tier_with(u9_tier_options what)
{
    u9_err err = try_tier(what);
    ck_assert_msg(err == U9_OK, "%s: %s", fault.path, fault.text);
}

static void tier(void)
{
    tier_with(to_far());
}

static void tier_and_drop(void)
{
    u9_tier_options what = to_far();
    what.keep_bytes = 1;
    tier_with(what);
}

static uint64_t trim_all(void)
{
    return trim_log(at("log"), (u9_trim){.size = sizeof(u9_trim), .keep_bytes = 1}).segments;
}

static void make_anew(void)
{
    remove_log(at("log"));
    remove_log(at("far"));
    copy_log(at("row"), at("log"));
}

static void expect_refused_as(u9_tier_options what, u9_err err, const char *why)
{
    ck_assert_int_eq(try_tier(what), err);
    ck_assert_msg(strstr(fault.text, why), "%s", fault.text);
}

static void expect_refused(u9_err err, const char *why)
{
    expect_refused_as(to_far(), err, why);
}

/* What a reader of this log shows: records from `first` on, up to `next`, and so many damages on the way. */
typedef struct shown {
    uint64_t first, next, records, damages;
    char path[512]; /* of the last damage */
    u9_reason reason;
} shown;

static void note_shown_damage(void *ctx, const u9_damage *d)
{
    shown *s = ctx;
    if (d->verdict <= U9_V_TORN) return; /* what a stop leaves */
    s->damages++;
    s->reason = d->reason;
    snprintf(s->path, sizeof s->path, "%s", d->path ? d->path : "");
}

static shown read_through(const char *log)
{
    u9_cursor *c;
    u9_record r;
    u9_err err;
    u9_log *reader;
    shown s = {.first = UINT64_MAX};
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(log), .on_damage = note_shown_damage, .on_damage_ctx = &s};
    err = u9_log_open(log, &o, &reader, &fault);
    ck_assert_msg(err == U9_OK, "%s: %s", fault.path, fault.text);
    ck_assert_int_eq(u9_cursor_open(reader, NULL, &c, &fault), U9_OK);
    while ((err = u9_cursor_next(c, &r)) == U9_OK) {
        ck_assert_uint_ge(r.ordinal, s.next);
        if (s.records++ == 0) s.first = r.ordinal;
        s.next = r.ordinal + 1;
    }
    ck_assert_int_eq(err, U9_END);
    u9_cursor_close(c);
    close_log(reader);
    return s;
}

static void expect_whole(const char *log, uint64_t next)
{
    shown s = read_through(log);
    ck_assert_msg(s.damages == 0, "%s: %s: %s", log, s.path, u9_reason_name(s.reason));
    ck_assert_uint_eq(s.first, 0);
    ck_assert_uint_eq(s.next, next);
    ck_assert_uint_eq(s.records, next);
}

static u9i_tier_list list_in(const char *path)
{
    u9i_tier_list list;
    size_t size;
    uint8_t *bytes = read_file(file_in(path, ".tier"), &size);
    ck_assert_int_eq(u9i_tier_list_decode(bytes, size, &list), U9_OK);
    free(bytes);
    return list;
}

static bool same_files(const char *a, const char *b)
{
    size_t n, m;
    uint8_t *x = read_file(a, &n), *y = read_file(b, &m);
    bool same = n == m && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return same;
}

/* Filling */

START_TEST(a_place_gets_the_sealed_segments_and_is_a_log_by_itself) /* [TR-1] [TR-3] */
{
    make_row_of_segments(at("log"));
    unsigned n = segments_in(at("log"));
    tier();
    ck_assert_uint_eq(done.segments, n - 1); /* the last is closed, not sealed */
    ck_assert_uint_eq(done.there, n - 1);
    ck_assert_uint_eq(done.left, 0);
    ck_assert_uint_eq(done.next_ordinal, first_in(at("log"), n));
    ck_assert_uint_eq(segments_in(at("far")), n - 1);
    for (unsigned i = 1; i < n; i++) ck_assert(same_files(segment_path(at("log"), i), segment_path(at("far"), i)));
    remove_log(at("log"));
    seen *s = look(at("far"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(s->report.next_ordinal, done.next_ordinal);
    ck_assert_uint_eq(s->count, done.next_ordinal);
    forget(s);
    expect_whole(at("far"), done.next_ordinal);
}
END_TEST

START_TEST(its_list_says_of_each_segment_what_it_holds) /* [TR-2] */
{
    make_keyed_row(at("log"));
    tier();
    u9i_tier_list here = list_in(at("log")), there = list_in(at("far"));
    ck_assert_str_eq(here.place, at("far"));
    ck_assert_str_eq(there.place, "");
    ck_assert_str_eq(here.kind, "rkey");
    ck_assert_uint_eq(here.count, segments_in(at("far")));
    ck_assert_uint_eq(there.count, here.count);
    for (size_t i = 0; i < here.count; i++) {
        const u9i_tiered *t = &here.segments[i];
        u9_value key;
        ck_assert_uint_eq(t->number, i + 1);
        ck_assert_uint_eq(t->size, file_size(segment_path(at("far"), i + 1)));
        ck_assert_uint_eq(t->first, first_in(at("far"), i + 1));
        ck_assert_uint_eq(t->next, first_in(at("log"), i + 2));
        ck_assert_uint_le(t->first_us, t->last_us);
        ck_assert_int_eq(u9_value_decode(t->keys, t->keys_size, &key), U9_OK);
        ck_assert_int_eq(key.type, U9_UTF8);
    }
    u9i_tier_list_free(&here);
    u9i_tier_list_free(&there);
}
END_TEST

/* A list of two segments, of which one says its keys. */
static u9i_tier_list list_of_two(void)
{
    static uint8_t keys[] = {0x03, 0, 0, 0, 0, 0, 0, 0, 1, 0x03, 0, 0, 0, 0, 0, 0, 0, 2};
    static u9i_tiered segments[2];
    u9i_tier_list list = {.kind = "tid", .segments = segments, .count = 2};
    memset(list.log, 0xa0, sizeof list.log);
    for (unsigned i = 0; i < 2; i++) {
        segments[i] = (u9i_tiered){.number = i + 1, .size = 77824, .first = 3000 * i, .next = 3000 * (i + 1), .end = 69632,
                                   .first_us = 1700000000000000, .last_us = i ? 0 : 1700000001000000};
        memset(segments[i].boundary, 0xb0 + (int)i, sizeof segments[i].boundary);
        memset(segments[i].chain, 0xc0 + (int)i, sizeof segments[i].chain);
        memset(segments[i].sha, 0xd0 + (int)i, sizeof segments[i].sha);
    }
    segments[0].keys = keys;
    segments[0].keys_size = sizeof keys;
    return list;
}

START_TEST(a_list_is_byte_by_byte_the_one_of_earlier_builds) /* [TR-2] */
{
    uint8_t golden[1024], *bytes;
    size_t size;
    u9i_tier_list list = list_of_two(), read;
    FILE *f = fopen("tests/golden/place.tier", "rbe");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(golden, 1, sizeof golden, f);
    fclose(f);
    ck_assert_int_eq(u9i_tier_list_encode(&list, "s3://bucket/log", &bytes, &size), U9_OK);
    ck_assert_uint_eq(size, n);
    ck_assert_mem_eq(bytes, golden, n);
    free(bytes);
    ck_assert_int_eq(u9i_tier_list_decode(golden, n, &read), U9_OK);
    ck_assert_str_eq(read.place, "s3://bucket/log");
    ck_assert_str_eq(read.kind, "tid");
    ck_assert_uint_eq(read.count, 2);
    ck_assert_uint_eq(read.segments[1].first, 3000);
    ck_assert_uint_eq(read.segments[0].keys_size, 18);
    ck_assert_ptr_null(read.segments[1].keys);
    u9i_tier_list_free(&read);
}
END_TEST

START_TEST(once_more_nothing_is_copied_and_then_what_was_sealed_since)
{
    make_row_of_segments(at("log"));
    tier();
    sim_forget_diary();
    tier();
    ck_assert_uint_eq(done.segments, 0);
    ck_assert_uint_eq(sim_count(SIM_WRITE), 0);
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 20);
    close_log(w);
    u9_tier_options known = {.size = sizeof known, .io = io_of(at("log"))};
    tier_with(known);
    ck_assert_uint_ge(done.segments, 2);
    ck_assert_uint_eq(done.there, segments_in(at("log")) - 1);
    expect_whole(at("log"), TRIM_RECORDS + 20);
}
END_TEST

START_TEST(a_dry_run_makes_nothing)
{
    uint8_t was[16], is[16];
    make_row_of_segments(at("log"));
    picture(at("log"), was);
    u9_tier_options what = to_far();
    what.dry_run = 1;
    tier_with(what);
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
    ck_assert_uint_eq(done.segments, 0);
    ck_assert_uint_eq(done.left, segments_in(at("log")) - 1);
    ck_assert(!exists(at("far")));
}
END_TEST

static int stop_at_second(void *ctx, const u9_tiered *so_far)
{
    (void)ctx;
    return so_far->segments == 2;
}

START_TEST(who_is_told_of_the_progress_may_stop_it)
{
    make_row_of_segments(at("log"));
    u9_tier_options what = to_far();
    what.on_progress = stop_at_second;
    ck_assert_int_eq(try_tier(what), U9_STATE);
    ck_assert_uint_eq(done.segments, 2);
    expect_whole(at("far"), first_in(at("log"), 3));
    tier();
    ck_assert_uint_eq(done.segments, segments_in(at("log")) - 3);
}
END_TEST

static int read_place_meanwhile(void *ctx, const u9_tiered *so_far)
{
    (void)ctx;
    if (so_far->segments > 1) expect_whole(at("far"), first_in(at("log"), (unsigned)so_far->segments + 1));
    return 0;
}

START_TEST(a_place_is_a_log_by_itself_while_the_first_run_fills_it) /* [TR-3] */
{
    make_row_of_segments(at("log"));
    u9_tier_options what = to_far();
    what.on_progress = read_place_meanwhile;
    tier_with(what);
    ck_assert_uint_gt(done.segments, 2);
}
END_TEST

START_TEST(a_live_log_is_tiered_beside_its_writer_which_trims_by_itself)
{
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, TRIM_RECORDS);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    tier();
    ck_assert_uint_ge(done.segments, 3);
    u9_tier_options what = to_far();
    what.keep_bytes = 1;
    ck_assert_int_eq(try_tier(what), U9_LOCKED);
    ck_assert_uint_eq(done.left, 0);
    (void)trim_on(w, below_ordinal(first_in(at("log"), 3)));
    append_fillers(w, 3);
    close_log(w);
    expect_whole(at("log"), TRIM_RECORDS + 3);
}
END_TEST

/* While the first run is at work: what is not there yet stays here. */
static int trim_meanwhile(void *ctx, const u9_tiered *so_far)
{
    (void)ctx;
    if (so_far->segments == 1) ck_assert_uint_eq(trim_all(), 0);
    return so_far->segments == 2;
}

START_TEST(a_first_run_that_was_interrupted_goes_on_also_behind_a_trim) /* [TR-3] [TR-4] */
{
    make_row_of_segments(at("log"));
    u9_tier_options what = to_far();
    what.on_progress = trim_meanwhile;
    ck_assert_int_eq(try_tier(what), U9_STATE);
    flip_bit(file_in(at("far"), ".tier"), 8, 0); /* the list here is the only one */
    ck_assert_uint_le(trim_all(), 2);
    tier();
    ck_assert_uint_eq(done.left, 0);
    expect_whole(at("far"), done.next_ordinal);
    expect_whole(at("log"), TRIM_RECORDS);
}
END_TEST

static uint64_t late_ordinal; /* from where on it keeps */

/* A trim that had looked for a list before there was one goes on meanwhile. */
static int trim_late(void *ctx, const u9_tiered *so_far)
{
    bool *once = ctx;
    size_t size;
    const char *list = file_in(at("log"), ".tier");
    if (so_far->segments != 2 || *once) return 0;
    *once = true;
    uint8_t *bytes = read_file(list, &size);
    drop_file(list);
    (void)trim_log(at("log"), below_ordinal(late_ordinal));
    write_file(list, bytes, size);
    free(bytes);
    return 0;
}

static unsigned meets_at, calls_until; /* at which call of one run the other one comes between, and calls so far */
static void (*comes_between)(void);

static void meet(sim_kind kind)
{
    (void)kind;
    if (++calls_until != meets_at) return;
    sim_before_call(NULL);
    comes_between();
}

static int stop_at_first(void *ctx, const u9_tiered *so_far)
{
    (void)ctx;
    return so_far->segments == 1;
}

static void tier_a_little(void)
{
    u9_tier_options what = to_far();
    what.on_progress = stop_at_first;
    u9_err err = try_tier(what);
    ck_assert_msg(err == U9_STATE, "%s: %s", fault.path, fault.text);
}

static int fail_at_first(void *ctx, const u9_tiered *so_far)
{
    (void)ctx;
    (void)so_far;
    sim_before_call(NULL); /* that is its end */
    sim_fail(SIM_ANY, 1, EIO, true);
    return 1;
}

/* As one that is killed: no list tells of what it has copied. */
static void tier_in_vain(void)
{
    u9_tier_options what = to_far();
    what.on_progress = fail_at_first;
    u9_err err = try_tier(what);
    sim_mend();
    ck_assert_msg(err != U9_OK, "%s: %s", fault.path, fault.text);
}

static void trim_once(void)
{
    u9_trimmed t = trim_log(at("log"), below_ordinal(late_ordinal));
    ck_assert(t.segments > 0 || (t.records == 0 && t.bytes == 0 && t.first_time_us == 0 && t.last_time_us == 0));
    ck_assert_uint_gt(t.segment, 0);
}

/* One of the two is at work, and the other comes between at any of its calls; then the first goes on. */
static const struct {
    void (*first)(void), (*second)(void);
} meetings[] = {{trim_once, tier}, {trim_once, tier_a_little}, {trim_once, tier_in_vain},
                {tier, trim_once}, {tier_a_little, trim_once}, {tier_in_vain, trim_once}};

/* Whatever a trim has said before the log got its place does not go there; what it says after that waits until it is there. */
START_TEST(a_trim_and_a_first_run_that_meet_at_any_call_leave_both_whole) /* [TR-3] [TR-4] [L-10] */
{
    make_row_of_segments(at("row"));
    late_ordinal = first_in(at("row"), 5);
    for (meets_at = 1;; meets_at = next_call(meets_at)) {
        make_anew();
        calls_until = 0;
        comes_between = meetings[_i].second;
        sim_before_call(meet);
        meetings[_i].first();
        sim_before_call(NULL);
        if (calls_until < meets_at) break;
        tier();
        shown here = read_through(at("log")), there = read_through(at("far"));
        ck_assert_msg(here.damages + there.damages == 0, "call %u: %s %s", meets_at, here.path, there.path);
        ck_assert_msg(here.next == TRIM_RECORDS && there.next == done.next_ordinal && here.first <= there.first, "call %u", meets_at);
        tier_and_drop();
        here = read_through(at("log")), there = read_through(at("far"));
        ck_assert_msg(here.damages + there.damages == 0 && here.first == there.first, "call %u: %s %s", meets_at, here.path, there.path);
    }
    ck_assert_uint_gt(meets_at, 30);
}
END_TEST

/* What is there may go here, also while a run compares the two. */
START_TEST(a_trim_at_any_call_of_a_run_that_verifies_hinders_neither) /* [TR-3] [TR-4] */
{
    make_row_of_segments(at("row"));
    late_ordinal = first_in(at("row"), 5);
    for (meets_at = 1;; meets_at = next_call(meets_at)) {
        make_anew();
        tier();
        u9_tier_options what = to_far();
        what.verify = 1;
        calls_until = 0;
        comes_between = trim_once;
        sim_before_call(meet);
        tier_with(what);
        sim_before_call(NULL);
        if (calls_until < meets_at) break;
        shown here = read_through(at("log")), there = read_through(at("far"));
        ck_assert_msg(here.damages + there.damages == 0, "call %u: %s %s", meets_at, here.path, there.path);
        ck_assert_msg(here.next == TRIM_RECORDS && here.first == there.first, "call %u", meets_at);
    }
    ck_assert_uint_gt(meets_at, 30);
}
END_TEST

/* What the place has alone is not copied anew, whatever went here. */
START_TEST(where_a_list_was_lost_and_a_trim_goes_on_the_place_keeps_what_it_has) /* [TR-3] */
{
    bool once = false;
    make_row_of_segments(at("log"));
    tier_and_drop();
    uint64_t had = done.there;
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, TRIM_RECORDS);
    close_log(w);
    drop_file(file_in(at("log"), ".tier"));
    late_ordinal = first_in(at("log"), (unsigned)had + 4);
    u9_tier_options what = to_far();
    what.on_progress = trim_late;
    what.ctx = &once;
    ck_assert_int_eq(try_tier(what), U9_IO);
    ck_assert(once && fault.sys == ENOENT);
    for (unsigned i = 1; i <= had; i++) ck_assert(exists(segment_path(at("far"), i)));
    u9i_tier_list list = list_in(at("far"));
    ck_assert_uint_ge(list.count, had);
    u9i_tier_list_free(&list);
}
END_TEST

/* Reading both */

START_TEST(both_are_read_as_one_log_when_segments_were_dropped) /* [TR-5] */
{
    make_keyed_row(at("log"));
    unsigned n = segments_in(at("log"));
    tier_and_drop();
    ck_assert_uint_ge(done.dropped, n - 2);
    ck_assert(!exists(segment_path(at("log"), 1)));
    expect_whole(at("log"), TRIM_RECORDS);
    u9_log *r = open_reader(at("log"));
    char buf[TRIM_FILLER + 100];
    u9_record record;
    u9_key key = {"k001", 4};
    ck_assert_int_eq(u9_log_get(r, &key, buf, sizeof buf, &record, &fault), U9_OK);
    ck_assert_uint_eq(record.ordinal, 1);
    u9_lookup many[2] = {{.key = {"k002", 4}, .buf = buf, .cap = sizeof buf}, {.key = {"none", 4}}};
    ck_assert_int_eq(u9_log_get_many(r, many, 2, &fault), U9_OK);
    ck_assert_int_eq(many[0].err, U9_OK);
    ck_assert_int_eq(many[1].err, U9_ABSENT);
    close_log(r);
}
END_TEST

START_TEST(a_trim_by_other_means_loses_nothing_that_is_tiered) /* [TR-6] */
{
    make_row_of_segments(at("log"));
    tier();
    (void)trim_log(at("log"), below_ordinal(first_in(at("log"), 4)));
    expect_whole(at("log"), TRIM_RECORDS);
    tier();
    (void)trim_log(at("log"), (u9_trim){.size = sizeof(u9_trim), .keep_bytes = 1});
    expect_whole(at("log"), TRIM_RECORDS);
}
END_TEST

/* TRIM_RECORDS more, over several segments, by a writer that trims as far as it may. */
static void grow(uint64_t keep_bytes)
{
    u9_options o = small_options();
    o.keep_bytes = keep_bytes;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < TRIM_RECORDS; i += 8) {
        append_fillers(w, 8);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
}

START_TEST(a_trim_by_other_means_leaves_what_is_not_tiered) /* [TR-4] */
{
    make_row_of_segments(at("log"));
    tier();
    grow(0);
    uint64_t untiered = first_in(at("log"), (unsigned)done.there + 1);
    u9_trimmed gone = trim_log(at("log"), (u9_trim){.size = sizeof(u9_trim), .keep_bytes = 1});
    ck_assert_uint_eq(gone.segments, done.there);
    ck_assert_uint_eq(gone.ordinal, untiered);
    expect_whole(at("log"), 2 * TRIM_RECORDS);
    grow(1); /* nor does a writer drop it by its options */
    expect_whole(at("log"), 3 * TRIM_RECORDS);
    tier_and_drop();
    expect_whole(at("log"), 3 * TRIM_RECORDS);
}
END_TEST

START_TEST(a_segment_that_was_renamed_here_has_its_own_name_there) /* [TR-1] [L-2] */
{
    make_row_of_segments(at("log"));
    move_file(segment_path(at("log"), 2), segment_path(at("log"), 33));
    tier();
    ck_assert(exists(segment_path(at("far"), 2)));
    ck_assert(!exists(segment_path(at("far"), 33)));
    tier_and_drop();
    ck_assert_uint_ge(done.dropped, 3);
    ck_assert(!exists(segment_path(at("log"), 33)));
    expect_whole(at("log"), TRIM_RECORDS);
    expect_whole(at("far"), done.next_ordinal);
}
END_TEST

START_TEST(what_an_older_list_has_is_read_though_what_is_behind_it_is_not_here) /* [TR-6] */
{
    make_row_of_segments(at("log"));
    tier();
    uint64_t behind = first_in(at("log"), (unsigned)done.there + 1);
    size_t size;
    uint8_t *list = read_file(file_in(at("log"), ".tier"), &size);
    grow(0);
    tier_and_drop();
    write_file(file_in(at("log"), ".tier"), list, size);
    free(list);
    shown s = read_through(at("log"));
    ck_assert_uint_eq(s.first, 0);
    ck_assert_uint_eq(s.damages, 1);
    ck_assert_int_eq(s.reason, U9_R_MISSING);
    ck_assert_uint_eq(s.next, 2 * TRIM_RECORDS);
    ck_assert_uint_gt(s.records, behind);
}
END_TEST

START_TEST(what_a_trim_would_drop_is_what_is_here) /* [TR-4] */
{
    const u9_trim all_but_newest = {.size = sizeof all_but_newest, .keep_bytes = 1, .dry_run = 1};
    u9_trimmed gone = {.size = sizeof gone};
    make_row_of_segments(at("log"));
    tier_and_drop();
    u9_log *r = open_reader(at("log"));
    ck_assert_int_eq(u9_log_trim(r, &all_but_newest, &gone, &fault), U9_OK);
    ck_assert_uint_eq(gone.segments, 0);
    close_log(r);
}
END_TEST

START_TEST(what_the_place_has_not_is_not_dropped) /* [TR-4] */
{
    make_row_of_segments(at("log"));
    unsigned n = segments_in(at("log"));
    u9_tier_options what = to_far();
    what.on_progress = stop_at_second;
    ck_assert_int_eq(try_tier(what), U9_STATE);
    sim_advance(1000 * (uint64_t)SECOND);
    what.on_progress = NULL;
    what.before_us = u9i_wall_us(sim_env());
    tier_with(what);
    ck_assert_uint_eq(done.segments, n - 3);
    ck_assert_uint_ge(done.dropped, n - 2);
    expect_whole(at("log"), TRIM_RECORDS);
}
END_TEST

START_TEST(a_segment_that_a_crash_left_is_neither_copied_last_nor_dropped) /* [TR-3] [TR-4] */
{
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, TRIM_RECORDS);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    crash(w, at("log"));
    unsigned torn = segments_in(at("log")); /* nothing says where it ends but the one behind it */
    session(at("log"), "on", 2, 1);
    sim_advance(1000 * (uint64_t)SECOND);
    tier_and_drop();
    ck_assert_uint_lt(done.there, torn);
    ck_assert(exists(segment_path(at("log"), torn)));
    expect_whole(at("log"), TRIM_RECORDS + 2);
    expect_whole(at("far"), done.next_ordinal);
    session(at("log"), "off", 2, 1); /* the one behind it is closed, and gone on behind: or goes on itself */
    w = open_rolling(at("log"));
    append_fillers(w, 20);
    close_log(w);
    tier_and_drop();
    ck_assert_uint_ge(done.there, torn);
    expect_whole(at("log"), TRIM_RECORDS + 24);
    expect_whole(at("far"), done.next_ordinal);
}
END_TEST

START_TEST(a_log_that_was_trimmed_before_begins_there_at_the_place_too) /* [TR-3] [TR-6] */
{
    make_row_of_segments(at("log"));
    uint64_t kept = first_in(at("log"), 3);
    (void)trim_log(at("log"), below_ordinal(kept));
    tier_and_drop();
    shown s = read_through(at("log"));
    ck_assert_uint_eq(s.first, kept);
    ck_assert_uint_eq(s.damages, 0);
    s = read_through(at("far"));
    ck_assert_uint_eq(s.first, kept);
    ck_assert_uint_eq(s.damages, 0);
}
END_TEST

START_TEST(beside_plain_seed_files_nothing_is_written) /* [E-3] */
{
    plain_file p = plain_example();
    size_t count;
    make_dir(at("log"));
    write_file(segment_path(at("log"), 1), p.bytes, p.size);
    plain_free(&p);
    expect_refused(U9_ARG, "plain seed files have no place");
    char **names = list_names(at("log"), &count);
    ck_assert_uint_eq(count, 1);
    free(names[0]);
    free(names);
    ck_assert(!exists(at("far")));
}
END_TEST

START_TEST(a_log_whose_trimmed_segments_had_no_record_is_whole_at_the_place) /* [TR-3] [C-5] */
{
    crash(open_rolling(at("log")), at("log"));
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 3);
    close_log(w);
    ck_assert_uint_eq(trim_all(), 1);
    tier(); /* what says that it was trimmed is in the last segment, which is no part of this */
    ck_assert_uint_eq(done.there, 1);
    expect_whole(at("far"), 3);
    w = open_rolling(at("log"));
    append_fillers(w, TRIM_RECORDS);
    close_log(w);
    tier_and_drop();
    expect_whole(at("far"), done.next_ordinal);
    expect_whole(at("log"), 3 + TRIM_RECORDS);
}
END_TEST

START_TEST(who_reads_while_segments_are_dropped_goes_on_with_those_of_the_place) /* [TR-6] */
{
    make_row_of_segments(at("log"));
    tier();
    u9_log *r = open_reader(at("log"));
    u9_cursor *c;
    u9_record record;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, &fault), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    tier_and_drop();
    uint64_t next = 1;
    u9_err err;
    while ((err = u9_cursor_next(c, &record)) == U9_OK) ck_assert_uint_eq(record.ordinal, next++);
    ck_assert_int_eq(err, U9_END);
    ck_assert_uint_ge(next, TRIM_RECORDS - 9);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

START_TEST(a_snapshot_of_both_is_whole_by_itself) /* [TR-5] */
{
    make_row_of_segments(at("log"));
    tier_and_drop();
    u9_log *r = open_reader(at("log"));
    u9_snapshot_report report = {.size = sizeof report};
    u9_err err = u9_log_snapshot(r, at("snap"), NULL, &report, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    close_log(r);
    ck_assert(!exists(file_in(at("snap"), ".tier")));
    expect_whole(at("snap"), TRIM_RECORDS);
}
END_TEST

START_TEST(a_segment_that_is_copied_in_several_steps_goes_whole) /* [TR-3] */
{
    u9_options o = small_options();
    o.segment_size = 6 << 20;
    u9_log *w = open_writer(at("log"), &o);
    append_fillers(w, 2 * (6 << 20) / TRIM_FILLER);
    close_log(w);
    ck_assert_uint_gt(file_size(segment_path(at("log"), 1)), 5 << 20);
    u9_tier_options what = to_far();
    what.verify = 1;
    tier_with(what);
    ck_assert(same_files(segment_path(at("log"), 1), segment_path(at("far"), 1)));
    ck_assert_uint_eq(read_through(at("far")).next, done.next_ordinal);
    drop_file(file_in(at("far"), ".tier")); /* what stands there is compared, all of it */
    drop_file(file_in(at("log"), ".tier"));
    tier_with(what);
    ck_assert_uint_eq(done.found, done.segments);
    flip_bit(segment_path(at("far"), 1), 5 << 20, 3); /* as an earlier run may have left it */
    drop_file(file_in(at("far"), ".tier"));
    drop_file(file_in(at("log"), ".tier"));
    tier_with(what);
    ck_assert_uint_eq(done.found, done.segments - 1);
    ck_assert(same_files(segment_path(at("log"), 1), segment_path(at("far"), 1)));
}
END_TEST

/* A record behind a keyed row that was closed: in a segment of its own. */
static void append_later(void)
{
    u9_options o = small_options();
    o.kind = "rkey";
    u9_log *w = open_writer(at("log"), &o);
    u9_key key = {"later", 5};
    ck_assert_int_eq(u9_log_append(w, &key, "\x81", 1, NULL), U9_OK);
    close_log(w);
}

/* One that stands there may be of an older state of the segment, or may have rotten. */
START_TEST(an_index_that_stands_there_is_kept_or_replaced) /* [K-4] [TR-3] */
{
    char here[600], there[600];
    make_keyed_row(at("log"));
    unsigned closed = segments_in(at("log"));
    append_later();
    tier();
    snprintf(here, sizeof here, "%sx", segment_path(at("log"), closed));
    snprintf(there, sizeof there, "%sx", segment_path(at("far"), closed));
    for (unsigned other = 0; other < 2; other++) {
        ck_assert(same_files(here, there));
        if (other) flip_bit(there, 100, 3);
        drop_file(segment_path(at("far"), closed));
        tier();
        ck_assert_uint_eq(done.segments, 1);
    }
    ck_assert(same_files(here, there));
}
END_TEST

static u9_index_report indexes_of(const char *log)
{
    u9_index_options o = {.size = sizeof o, .io = io_of(log)};
    u9_index_report report = {.size = sizeof report};
    u9_err err = u9_indexes_check(log, &o, &report, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    ck_assert_uint_eq(report.wrong, 0);
    return report;
}

START_TEST(the_mark_says_where_the_last_segment_of_a_place_ends_so_its_index_counts) /* [K-1] [TR-3] */
{
    make_keyed_row(at("log"));
    tier();
    remove_log(at("log"));
    ck_assert_uint_eq(indexes_of(at("far")).inside, done.there);
    u9_log *r = open_reader(at("far"));
    char buf[TRIM_FILLER + 100], text[8];
    u9_record record;
    snprintf(text, sizeof text, "k%03u", (unsigned)done.next_ordinal - 1);
    u9_key key = {text, 4};
    ck_assert_int_eq(u9_log_get(r, &key, buf, sizeof buf, &record, &fault), U9_OK);
    ck_assert_uint_eq(record.ordinal, done.next_ordinal - 1);
    close_log(r);
    drop_file(file_in(at("far"), ".mark")); /* then nobody does */
    ck_assert_uint_eq(indexes_of(at("far")).inside, done.there - 1);
}
END_TEST

START_TEST(an_older_mark_is_no_end_of_the_segment_that_it_is_of) /* [K-1] [M-4] */
{
    size_t size;
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 1);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    sim_advance(SECOND);
    uint8_t *older = read_file(file_in(at("log"), ".mark"), &size);
    append_fillers(w, TRIM_RECORDS);
    close_log(w);
    while (segments_in(at("log")) > 1) drop_file(segment_path(at("log"), segments_in(at("log"))));
    write_file(file_in(at("log"), ".mark"), older, size);
    free(older);
    ck_assert_uint_eq(marked_by(at("log")).end.ordinal, 1);
    ck_assert_uint_eq(indexes_of(at("log")).inside, 0);
    shown s = read_through(at("log"));
    ck_assert_uint_eq(s.damages, 0);
    ck_assert_uint_gt(s.records, 1);
}
END_TEST

/* Damage */

/* What the log says of its own files, that they were trimmed, says nothing of these. */
START_TEST(what_the_place_lost_of_the_beginning_is_lost_and_not_trimmed) /* [TR-6] [C-5] */
{
    static u9_report report;
    make_row_of_segments(at("log"));
    tier_and_drop();
    uint64_t kept = first_in(at("far"), 3);
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
    report.size = sizeof report;
    ck_assert_int_eq(u9_check(at("log"), &o, &report, &fault), U9_OK);
    ck_assert_uint_eq(report.trim_segment, 0);
    drop_file(segment_path(at("far"), 1));
    drop_file(segment_path(at("far"), 2));
    ck_assert_int_eq(u9_check(at("log"), &o, &report, &fault), U9_OK);
    ck_assert_int_eq(report.verdict, U9_V_CORRUPT);
    ck_assert_uint_eq(report.lost, kept);
    u9_log *r = open_reader(at("log"));
    char buf[TRIM_FILLER + 100];
    u9_record record;
    u9_muid none = {1, 1, 1};
    uint8_t key[16];
    ck_assert_int_eq(u9_muid_pack(&none, key), U9_OK);
    ck_assert_int_eq(u9_log_get(r, &(u9_key){key, 16}, buf, sizeof buf, &record, &fault), U9_CORRUPT);
    close_log(r);
    for (unsigned i = 1; i < 20; i++) {
        if (exists(segment_path(at("far"), i))) drop_file(segment_path(at("far"), i));
        if (exists(segment_path(at("log"), i))) drop_file(segment_path(at("log"), i));
    }
    ck_assert_int_eq(u9_check(at("log"), &o, &report, &fault), U9_OK); /* by the mark */
    ck_assert_uint_eq(report.lost, TRIM_RECORDS);
}
END_TEST

START_TEST(a_segment_that_the_place_lost_is_missing_and_told_with_its_place) /* [TR-6] */
{
    make_row_of_segments(at("log"));
    uint64_t lost = first_in(at("log"), 3) - first_in(at("log"), 2);
    tier_and_drop();
    drop_file(segment_path(at("far"), 2));
    shown s = read_through(at("log"));
    ck_assert_uint_eq(s.damages, 1);
    ck_assert_int_eq(s.reason, U9_R_MISSING);
    ck_assert_str_eq(s.path, segment_path(at("far"), 2));
    ck_assert_uint_eq(s.first, 0);
    ck_assert_uint_eq(s.records, TRIM_RECORDS - lost);
    s = read_through(at("far"));
    ck_assert_uint_eq(s.damages, 1);
    ck_assert_int_eq(s.reason, U9_R_MISSING);
    drop_file(segment_path(at("far"), 1));
    s = read_through(at("log")); /* the log's own beginning, too */
    ck_assert_uint_ge(s.damages, 1);
    ck_assert_uint_ge(s.first, lost);
}
END_TEST

START_TEST(an_altered_segment_of_the_place_costs_what_was_touched) /* [TR-6] */
{
    make_row_of_segments(at("log"));
    tier_and_drop();
    fill_bytes(segment_path(at("far"), 2), 3 * BLOCK, 3000, 0x55);
    shown s = read_through(at("log"));
    ck_assert_uint_eq(s.damages, 1);
    ck_assert_str_eq(s.path, segment_path(at("far"), 2));
    ck_assert_uint_ge(s.records, TRIM_RECORDS - 9); /* one frame */
}
END_TEST

START_TEST(a_place_that_cannot_be_reached_is_told_and_nothing_left_out) /* [TR-5] */
{
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(at("log"))};
    u9_log *r;
    make_row_of_segments(at("log"));
    tier_and_drop();
    move_file(at("far"), at("away"));
    ck_assert_int_eq(u9_log_open(at("log"), &o, &r, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, ENODEV);
    ck_assert_msg(strstr(fault.text, at("far")), "%s", fault.text);
    session(at("log"), "on", 2, 1); /* who writes needs it not */
    move_file(at("away"), at("far"));
    expect_whole(at("log"), TRIM_RECORDS + 2);
}
END_TEST

START_TEST(a_list_with_any_byte_changed_is_refused_and_made_anew) /* [TR-2] */
{
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(at("log"))};
    u9_log *r;
    make_row_of_segments(at("log"));
    tier_and_drop();
    size_t size;
    const char *path = file_in(at("log"), ".tier");
    uint8_t *bytes = read_file(path, &size);
    for (size_t i = 0; i < size; i++) {
        u9i_tier_list list;
        bytes[i] ^= (uint8_t)(1 << i % 8);
        ck_assert_int_eq(u9i_tier_list_decode(bytes, size, &list), U9_CORRUPT);
        bytes[i] ^= (uint8_t)(1 << i % 8);
        ck_assert_int_eq(u9i_tier_list_decode(bytes, i, &list), U9_CORRUPT);
    }
    free(bytes);
    flip_bit(path, 20, 1);
    ck_assert_int_eq(u9_log_open(at("log"), &o, &r, &fault), U9_CORRUPT);
    ck_assert_str_eq(fault.rule, "TR-2");
    tier();
    expect_whole(at("log"), TRIM_RECORDS);
    flip_bit(file_in(at("far"), ".tier"), 20, 1);
    tier();
    expect_whole(at("far"), done.next_ordinal);
    flip_bit(file_in(at("far"), ".tier"), 20, 1);
    flip_bit(path, 20, 1);
    expect_refused(U9_CORRUPT, "is damaged, and there is no other");
}
END_TEST

/* What was dropped here stands where a list says that cannot be read: no other place is it, and none is made for it. */
START_TEST(a_log_with_a_damaged_list_gets_no_place_but_its_own) /* [TR-2] [TR-4] */
{
    u9_tier_options other = to_far(), any = to_far();
    other.to = at("other");
    any.to = NULL;
    make_row_of_segments(at("log"));
    tier_and_drop();
    ck_assert_uint_gt(done.dropped, 0);
    flip_bit(file_in(at("log"), ".tier"), 20, 1);
    expect_refused_as(any, U9_ARG, "damaged");
    expect_refused_as(other, U9_IO, "mounted");
    ck_assert(!exists(at("other")));
    make_dir(at("other"));
    expect_refused_as(other, U9_CORRUPT, "mounted");
    ck_assert_uint_eq(segments_in(at("other")), 0);
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(at("log"))};
    u9_log *r;
    ck_assert_int_eq(u9_log_open(at("log"), &o, &r, &fault), U9_CORRUPT);
    tier();
    expect_whole(at("log"), TRIM_RECORDS);
}
END_TEST

/* Nothing was dropped yet: it may have any. */
START_TEST(a_whole_log_with_a_damaged_list_may_have_another_place) /* [TR-2] */
{
    make_row_of_segments(at("log"));
    tier();
    sim_move(at("far"), at("away"));
    flip_bit(file_in(at("log"), ".tier"), 20, 1);
    tier();
    expect_whole(at("far"), done.next_ordinal);
}
END_TEST

/* A list of a value with these elements behind the symbol, hashed as it has to be. */
static size_t forge_list(uint8_t *out, size_t size, const char *symbol, uint64_t version, size_t log_size, uint64_t number)
{
    static const uint8_t zeros[16];
    uint8_t sha[16];
    u9_builder b;
    u9_builder_init(&b, out, size);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    ck_assert_int_eq(u9_build_symbol(&b, symbol), U9_OK);
    ck_assert_int_eq(u9_build_uint(&b, version), U9_OK);
    ck_assert_int_eq(u9_build_bytes(&b, zeros, log_size), U9_OK);
    ck_assert_int_eq(u9_build_utf8(&b, "muid", 4), U9_OK);
    ck_assert_int_eq(u9_build_utf8(&b, "place", 5), U9_OK);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
        ck_assert_int_eq(u9_build_uint(&b, number + i), U9_OK);
        for (unsigned k = 0; k < 6; k++) ck_assert_int_eq(u9_build_uint(&b, 1000 * k), U9_OK);
        for (unsigned k = 0; k < 3; k++) ck_assert_int_eq(u9_build_bytes(&b, zeros, 16), U9_OK);
        ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    }
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    u9i_hash(out, b.size, sha);
    ck_assert_int_eq(u9_build_bytes(&b, sha, sizeof sha), U9_OK);
    return b.size;
}

START_TEST(a_list_that_is_whole_and_not_as_said_is_refused) /* [TR-2] */
{
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(at("log"))};
    u9i_tier_list list;
    u9_log *r;
    uint8_t bytes[600];
    size_t n = forge_list(bytes, sizeof bytes, "u9tier", 1, 16, 1);
    ck_assert_int_eq(u9i_tier_list_decode(bytes, n, &list), U9_OK);
    ck_assert_uint_eq(list.count, 2);
    ck_assert(u9i_tier_list_find(&list, 2) && u9i_tier_list_find(&list, 3) == NULL);
    u9i_tier_list_free(&list);
    n = forge_list(bytes, sizeof bytes, "u9tear", 1, 16, 1);
    ck_assert_int_eq(u9i_tier_list_decode(bytes, n, &list), U9_CORRUPT);
    n = forge_list(bytes, sizeof bytes, "u9tier", 1, 15, 1);
    ck_assert_int_eq(u9i_tier_list_decode(bytes, n, &list), U9_CORRUPT);
    n = forge_list(bytes, sizeof bytes, "u9tier", 1, 16, 0);
    ck_assert_int_eq(u9i_tier_list_decode(bytes, n, &list), U9_CORRUPT);
    n = forge_list(bytes, sizeof bytes, "u9tier", 1, 16, UINT64_MAX); /* 0 comes behind it */
    ck_assert_int_eq(u9i_tier_list_decode(bytes, n, &list), U9_CORRUPT);
    n = forge_list(bytes, sizeof bytes, "u9tier", 2, 16, 1);
    ck_assert_int_eq(u9i_tier_list_decode(bytes, n, &list), U9_VERSION);
    make_row_of_segments(at("log"));
    write_file(file_in(at("log"), ".tier"), bytes, n);
    ck_assert_int_eq(u9_log_open(at("log"), &o, &r, &fault), U9_VERSION);
    expect_refused(U9_IO, "cannot read the list");
}
END_TEST

/* What is in the way */

START_TEST(what_an_interrupted_run_left_is_compared_and_taken) /* [TR-3] [TR-4] */
{
    make_row_of_segments(at("log"));
    tier();
    unsigned n = segments_in(at("far"));
    drop_file(file_in(at("far"), ".tier"));
    drop_file(file_in(at("log"), ".tier"));
    cut_file(segment_path(at("far"), 2), 5 * BLOCK);       /* a beginning */
    fill_bytes(segment_path(at("far"), 3), 0, 2 * BLOCK, 0); /* not written yet */
    fill_bytes(segment_path(at("far"), 4), 3 * BLOCK, 9, 1); /* damaged since */
    tier();
    ck_assert_uint_eq(done.segments, n);
    ck_assert_uint_eq(done.found, n - 3);
    for (unsigned i = 1; i <= n; i++) ck_assert(same_files(segment_path(at("log"), i), segment_path(at("far"), i)));
    drop_file(segment_path(at("far"), 2)); /* lost, while it is still here */
    cut_file(segment_path(at("far"), 3), 5 * BLOCK);
    tier();
    ck_assert_uint_eq(done.segments, 2);
    expect_whole(at("far"), done.next_ordinal);
}
END_TEST

START_TEST(something_else_of_the_name_is_left_as_it_is) /* [TR-4] */
{
    make_row_of_segments(at("log"));
    make_dir(at("far"));
    write_file(segment_path(at("far"), 2), "something else", 14);
    expect_refused(U9_CORRUPT, "something else stands there");
    ck_assert_str_eq(fault.path, segment_path(at("far"), 2));
    ck_assert_uint_eq(done.segments, 1);
    ck_assert_uint_eq(file_size(segment_path(at("far"), 2)), 14);
    ck_assert_uint_eq(read_through(at("far")).next, first_in(at("log"), 2)); /* which tells that other file, too */
}
END_TEST

START_TEST(a_log_of_which_nothing_was_copied_may_have_another_place) /* [TR-3] */
{
    make_row_of_segments(at("log"));
    make_dir(at("far"));
    write_file(segment_path(at("far"), 1), "something else", 14);
    expect_refused(U9_CORRUPT, "something else stands there");
    ck_assert_uint_eq(done.segments, 0);
    u9i_tier_list list = list_in(at("log"));
    ck_assert(list.count == 0 && strcmp(list.place, at("far")) == 0);
    u9i_tier_list_free(&list);
    expect_whole(at("log"), TRIM_RECORDS);
    remove_log(at("far"));
    expect_whole(at("log"), TRIM_RECORDS); /* it is not asked for what it has not */
    u9_tier_options what = to_far();
    what.to = at("elsewhere");
    tier_with(what);
    expect_whole(at("elsewhere"), done.next_ordinal);
    expect_refused(U9_ARG, "another place already");
}
END_TEST

START_TEST(a_place_is_one_logs_and_a_log_has_one_place) /* [TR-2] */
{
    make_row_of_segments(at("other"));
    make_row_of_segments(at("log"));
    u9_tier_options what = to_far();
    u9_err err = u9_tier(at("other"), &what, &(u9_tiered){.size = sizeof(u9_tiered)}, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    expect_refused(U9_CORRUPT, "another log");
    drop_file(file_in(at("far"), ".mark")); /* the list says so, too */
    expect_refused(U9_CORRUPT, "another log");
    what.to = at("log");
    ck_assert_int_eq(try_tier(what), U9_ARG);
    ck_assert_msg(strstr(fault.text, "the log itself"), "%s", fault.text);
    what.to = at("elsewhere");
    tier_with(what);
    expect_refused(U9_ARG, "another place already");
    what.to = at("nowhere");
    ck_assert_int_eq(u9_tier(at("far"), &what, &done, &fault), U9_ARG);
    ck_assert_msg(strstr(fault.text, "such a place itself"), "%s", fault.text);
}
END_TEST

START_TEST(a_copy_that_went_on_is_refused_as_a_fork) /* [TR-4] */
{
    make_row_of_segments(at("log"));
    copy_log(at("log"), at("copy"));
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 20);
    close_log(w);
    w = open_rolling(at("copy"));
    append_fillers(w, 20);
    close_log(w);
    tier();
    u9_tier_options what = to_far();
    done = (u9_tiered){.size = sizeof done};
    ck_assert_int_eq(u9_tier(at("copy"), &what, &done, &fault), U9_CORRUPT);
    ck_assert_msg(strstr(fault.text, "the log was forked"), "%s", fault.text);
}
END_TEST

/* Bytes of a log's own list. */
static bool same_list(const char *a, const char *b)
{
    size_t size[2];
    uint8_t *bytes[2] = {read_file(file_in(a, ".tier"), &size[0]), read_file(file_in(b, ".tier"), &size[1])};
    bool same = size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0;
    free(bytes[0]);
    free(bytes[1]);
    return same;
}

/* An older state of a log was put back: the place has what it lacks, and it may go on otherwise. Nothing of that is mixed. */
START_TEST(a_log_that_was_put_back_takes_nothing_over_and_drops_nothing) /* [TR-4] */
{
    unsigned more = (unsigned)_i; /* records that it goes on with */
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 20);
    close_log(w);
    tier();
    copy_log(at("log"), at("backup"));
    w = open_rolling(at("log"));
    append_fillers(w, 14);
    close_log(w);
    tier();
    remove_log(at("log"));
    copy_log(at("backup"), at("log"));
    if (more > 0) {
        w = open_rolling(at("log"));
        append_fillers(w, more);
        close_log(w);
    }
    u9_tier_options what = to_far();
    what.keep_bytes = 1;
    ck_assert_int_eq(try_tier(what), U9_CORRUPT);
    ck_assert_msg(strstr(fault.text, "older state") || strstr(fault.text, "forked"), "%s", fault.text);
    ck_assert_uint_eq(done.dropped, 0);
    ck_assert(same_list(at("log"), at("backup")));
    u9_log *log = open_writer(at("log"), NULL);
    trim_on(log, below_ordinal(20 + more));
    close_log(log);
    shown s = read_through(at("log"));
    ck_assert_uint_eq(s.records, 20 + more);
    ck_assert_uint_eq(s.damages, 0);
    ck_assert_uint_eq(read_through(at("far")).damages, 0);
}
END_TEST

START_TEST(who_asks_wrongly_is_refused)
{
    make_row_of_segments(at("log"));
    u9_tier_options what = to_far();
    done = (u9_tiered){.size = sizeof done};
    ck_assert_int_eq(u9_tier(NULL, &what, &done, &fault), U9_ARG);
    ck_assert_int_eq(u9_tier("", &what, &done, &fault), U9_ARG);
    ck_assert_int_eq(u9_tier(at("log"), NULL, &done, &fault), U9_ARG);
    ck_assert_int_eq(u9_tier(at("log"), &what, NULL, &fault), U9_ARG);
    ck_assert_int_eq(u9_tier(at("none"), &what, &done, &fault), U9_IO);
    make_dir(at("empty"));
    ck_assert_int_eq(u9_tier(at("empty"), &what, &done, &fault), U9_ABSENT);
    ck_assert_int_eq(u9_tier(segment_path(at("log"), 1), &what, &done, &fault), U9_ARG);
    what.size--;
    ck_assert_int_eq(try_tier(what), U9_ARG);
    what.size++;
    what.to = NULL;
    ck_assert_int_eq(try_tier(what), U9_ARG);
    what.to = "";
    ck_assert_int_eq(try_tier(what), U9_ARG);
    what.to = "nobody://knows";
    ck_assert_int_eq(try_tier(what), U9_ARG);
    ck_assert_msg(strstr(fault.text, "no library was added"), "%s", fault.text);
    what = to_far();
    done.size--;
    ck_assert_int_eq(u9_tier(at("log"), &what, &done, &fault), U9_ARG);
}
END_TEST

/* Stops */

/* Whole here and there; and the next run ends it. */
static void expect_goes_on(void)
{
    expect_whole(at("log"), TRIM_RECORDS);
    u9_tier_options what = to_far();
    what.keep_bytes = 1;
    tier_with(what);
    expect_whole(at("log"), TRIM_RECORDS);
    expect_whole(at("far"), done.next_ordinal);
    ck_assert_uint_ge(done.there, 4);
}

/* {F63} */
START_TEST(what_the_place_keeps_otherwise_is_not_dropped_here) /* [TR-3] */
{
    u9_tier_options what = to_far();
    make_row_of_segments(at("log"));
    what.verify = 1;
    what.keep_bytes = 1;
    unsigned lies = sim_lies();
    sim_lie(SIM_ROT, 1, 8 * 5000);
    ck_assert_int_eq(try_tier(what), U9_CORRUPT);
    sim_mend();
    ck_assert_uint_eq(sim_lies(), lies + 1);
    ck_assert_ptr_nonnull(strstr(fault.text, "other bytes are read back"));
    ck_assert(exists(segment_path(at("log"), 1)));
    tier_with(what); /* which replaces what stands there */
    expect_whole(at("log"), TRIM_RECORDS);
}
END_TEST

START_TEST(two_do_not_tier_one_log_at_once) /* [TR-3] */
{
    make_row_of_segments(at("log"));
    sim_fail(SIM_CREATE, 1, EEXIST, false); /* another makes the file at the same moment, and removes it */
    ck_assert_int_eq(try_tier(to_far()), U9_IO);
    sim_mend();
    tier();
    sim_take_lock(at("log/.tier.lock"));
    expect_refused(U9_LOCKED, "already");
    sim_drop_lock(at("log/.tier.lock"));
    tier();
    ck_assert_uint_eq(done.segments, 0);
    u9_tier_options nowhere = to_far();
    nowhere.to = at("no/such/place");
    remove_log(at("log/.tier"));
    ck_assert_int_eq(try_tier(nowhere), U9_IO);
}
END_TEST

/* What the list says is looked for at the place, each time. */
START_TEST(a_place_that_does_not_answer_is_told_and_one_that_is_gone_gets_all_again) /* [TR-3] [TR-4] */
{
    make_row_of_segments(at("log"));
    tier();
    uint64_t there = done.there;
    u9_err err = U9_IO;
    for (unsigned nth = 1; err != U9_OK; nth++) {
        sim_fail(SIM_STAT, nth, EIO, false);
        err = try_tier(to_far());
        sim_mend();
        ck_assert_msg(err == U9_OK || (err == U9_IO && fault.sys == EIO), "%u: %s", nth, fault.text);
        if (err == U9_OK) ck_assert_uint_eq(done.segments, 0);
    }
    sim_move(at("far"), at("away"));
    u9_tier_options dry = to_far();
    dry.dry_run = 1;
    tier_with(dry);
    ck_assert_uint_eq(done.left, there);
    ck_assert(!exists(at("far")));
    tier();
    ck_assert_uint_eq(done.segments, there);
    expect_whole(at("far"), first_in(at("log"), there + 1));
}
END_TEST

/* Made anew it would be an empty place, of which readers are told that all is missing: [TR-5] they wait for the disk. */
START_TEST(a_place_that_is_gone_is_not_made_anew_while_it_has_what_is_not_here) /* [TR-4] */
{
    make_row_of_segments(at("log"));
    tier_and_drop();
    ck_assert_uint_gt(done.dropped, 0);
    sim_move(at("far"), at("away"));
    for (int dry = 0; dry < 2; dry++) {
        u9_tier_options what = to_far();
        what.dry_run = dry;
        expect_refused_as(what, U9_IO, "mounted");
        ck_assert_int_eq(fault.sys, ENOENT);
        ck_assert(!exists(at("far")));
    }
    sim_move(at("away"), at("far"));
    tier();
    expect_whole(at("log"), TRIM_RECORDS);
}
END_TEST

/* The folder that its disk is mounted on: what is there of the log is not lost. */
START_TEST(an_empty_folder_is_no_place_that_has_lost_all) /* [TR-5] */
{
    make_row_of_segments(at("log"));
    tier();
    sim_move(at("far"), at("away"));
    make_dir(at("far"));
    expect_whole(at("log"), TRIM_RECORDS); /* it is all here */
    remove_log(at("far"));
    sim_move(at("away"), at("far"));
    tier_and_drop();
    ck_assert_uint_gt(done.dropped, 0);
    copy_log(at("far"), at("away"));
    remove_log(at("far"));
    make_dir(at("far"));
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(at("log"))};
    u9_log *log;
    ck_assert_int_eq(u9_log_open(at("log"), &o, &log, &fault), U9_IO);
    ck_assert_msg(strstr(fault.text, "none of them") && strstr(fault.text, "mounted"), "%s", fault.text);
    copy_log(at("away/.tier"), at("far/.tier"));
    ck_assert_int_eq(read_through(at("log")).reason, U9_R_MISSING); /* it is the place, and has lost them */
    remove_log(at("far"));
    sim_move(at("away"), at("far"));
    expect_whole(at("log"), TRIM_RECORDS);
}
END_TEST

/* Its file has another name here than there. */
START_TEST(what_fails_is_told_of_the_file_that_it_failed_with) /* [TR-3] */
{
    static const struct {
        const char *name, *told;
        sim_kind kind;
    } fails[] = {{"0000000000000021.u9", "/log/0", SIM_READ},    {"0000000000000021.u9", "/log/0", SIM_OPEN},
                 {"0000000000000002.u9", "/far/0", SIM_READ},    {"0000000000000002.u9", "/far/0", SIM_OPEN},
                 {"0000000000000002.u9", "/far/0", SIM_RESERVE}, {"0000000000000002.u9", "/far/0", SIM_WRITE},
                 {"0000000000000002.u9", "/far/0", SIM_CREATE}};
    make_row_of_segments(at("log"));
    move_file(segment_path(at("log"), 2), segment_path(at("log"), 33));
    for (size_t i = 0; i < sizeof fails / sizeof fails[0]; i++) {
        unsigned failed = 0, fired = 1;
        for (unsigned nth = 1; fired > 0; nth++) {
            remove_log(at("far"));
            remove_log(at("log/.tier"));
            sim_aim(fails[i].name);
            fired = sim_fired();
            sim_fail(fails[i].kind, nth, EROFS, false);
            u9_err err = try_tier(to_far());
            sim_mend();
            fired = sim_fired() - fired;
            sim_aim(NULL);
            failed += err != U9_OK;
            bool told = err == U9_OK || (fault.sys == EROFS && strstr(fault.path, fails[i].told));
            ck_assert_msg(told, "%s %u %u: %s: %s", fails[i].name, fails[i].kind, nth, fault.path, fault.text);
        }
        ck_assert_msg(failed > 0, "%zu", i);
    }
}
END_TEST

START_TEST(where_the_place_has_nothing_of_what_was_dropped_here_nothing_is_done) /* [TR-4] */
{
    make_row_of_segments(at("log"));
    tier_and_drop();
    ck_assert_uint_gt(done.dropped, 0);
    sim_move(at("far"), at("away")); /* its disk is not mounted */
    make_dir(at("far"));
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 20);
    close_log(w);
    unsigned n = segments_in(at("log"));
    u9_tier_options what = to_far();
    what.keep_bytes = 1;
    expect_refused_as(what, U9_CORRUPT, "mounted");
    ck_assert_uint_eq(done.segments + done.dropped, 0);
    ck_assert_uint_eq(segments_in(at("log")), n);
    sim_aim("0000000000000001.u9");
    sim_fail(SIM_STAT, 1, EIO, true); /* it cannot be asked */
    ck_assert_int_eq(try_tier(what), U9_IO);
    sim_mend();
    sim_aim(NULL);
    remove_log(at("far"));
    sim_move(at("away"), at("far"));
    remove_log(at("far/.tier")); /* what it has is there: the list is made anew */
    tier_with(what);
    expect_whole(at("log"), TRIM_RECORDS + 20);
}
END_TEST

static void count_damage(void *ctx, const u9_damage *d)
{
    *(unsigned *)ctx += d->verdict >= U9_V_UNKNOWN && d->path != NULL;
}

START_TEST(what_goes_damaged_is_told) /* [TR-3] */
{
    unsigned told = 0;
    make_row_of_segments(at("log"));
    flip_bit(segment_path(at("log"), 2), 3 * BLOCK, 3);
    drop_file(segment_path(at("log"), 4));
    u9_tier_options what = to_far();
    what.on_damage = count_damage;
    what.ctx = &told;
    tier_with(what);
    ck_assert_uint_eq(told, 2); /* one is missing */
    ck_assert_uint_eq(done.damages, 2);
    ck_assert_uint_gt(done.lost, 0);
    tier_with(what); /* of what is there it is not told again, but of what cannot go for what is missing behind it */
    ck_assert_uint_eq(done.damages, 1);
    what.size = offsetof(u9_tier_options, on_damage); /* of a host that knows of no such thing */
    done = (u9_tiered){.size = offsetof(u9_tiered, damages), .damages = 7};
    ck_assert_int_eq(u9_tier(at("log"), &what, &done, &fault), U9_OK);
    ck_assert_uint_eq(done.damages, 7);
}
END_TEST

/* Compares what is there, and drops what may go; or makes nothing of it. */
static u9_tier_options verifying(bool dry)
{
    u9_tier_options o = to_far();
    o.verify = 1;
    o.dry_run = dry;
    o.keep_bytes = 1;
    return o;
}

/* A copy that was altered at its length is found if one looks, and comes anew; who was altered is known by the list. */
START_TEST(copies_are_compared_if_asked) /* [TR-4] */
{
    make_row_of_segments(at("log"));
    tier();
    flip_bit(segment_path(at("far"), 2), 3 * BLOCK, 3);
    tier();
    ck_assert_uint_eq(done.segments, 0);
    u9_err err = U9_IO;
    for (unsigned nth = 1; err != U9_OK; nth++) {
        sim_fail(SIM_OPEN, nth, EIO, false);
        err = try_tier(verifying(true));
        sim_mend();
        ck_assert_msg(err == U9_OK || (err == U9_IO && fault.sys == EIO), "%u: %s", nth, fault.text);
    }
    ck_assert_uint_eq(done.left, 1);
    flip_bit(segment_path(at("log"), 3), 3 * BLOCK, 3); /* of which the copy is what was copied: that one stays */
    tier_with(verifying(false));
    ck_assert_uint_eq(done.segments, 1);
    ck_assert_uint_eq(done.damages, 1);
    ck_assert_uint_gt(done.dropped, 0);
    expect_whole(at("log"), TRIM_RECORDS);
    ck_assert_uint_eq(read_through(at("far")).damages, 0);
}
END_TEST

/* Where the beginning of a segment is damaged nothing says where the one before it ends: that one stays here. */
START_TEST(what_is_said_to_be_at_the_place_is_all_below_what_could_not_go) /* [TR-3] */
{
    unsigned damaged = 3 - (unsigned)_i; /* the one in front of it, the first of all perhaps, does not go, and stays here */
    make_row_of_segments(at("row"));
    make_anew();
    uint64_t next = damaged == 2 ? 0 : first_in(at("log"), damaged - 1);
    flip_bit(segment_path(at("log"), damaged), 100, 3);
    tier();
    ck_assert_uint_eq(done.there, segments_in(at("log")) - 2);
    ck_assert_uint_eq(done.next_ordinal, next);
    (void)trim_all();
    ck_assert(exists(segment_path(at("log"), damaged - 1)));
    flip_bit(segment_path(at("log"), damaged), 100, 3);
    tier();
    ck_assert_uint_eq(done.left, 0);
    ck_assert_uint_ge(done.next_ordinal, first_in(at("row"), segments_in(at("row"))));
    expect_whole(at("far"), done.next_ordinal);
}
END_TEST

/* Trims all that may go, not in the run that copies. */
/* The copy of what was damaged then is the worse one once it was mended here, be it at its beginning or further on. */
START_TEST(what_was_mended_since_it_was_copied_is_not_dropped_before_it_came_anew) /* [TR-3] [TR-4] */
{
    static const uint64_t places[] = {20, 3 * BLOCK};
    for (unsigned i = 0; i < 2; i++) {
        make_row_of_segments(at("log"));
        flip_bit(segment_path(at("log"), 2), places[i], 3);
        tier();
        ck_assert_uint_eq(done.damages, 1);
        tier(); /* it is what was copied: as damaged as the copy */
       ck_assert_uint_eq(done.segments + done.damages, 0);
        flip_bit(segment_path(at("log"), 2), places[i], 3);
        ck_assert_uint_eq(trim_all(), 1);
        expect_whole(at("log"), TRIM_RECORDS);
        tier_and_drop();
        ck_assert_uint_eq(done.segments, 2); /* and the one that was the newest before that trim */
        ck_assert_uint_gt(done.dropped, 0);
        expect_whole(at("log"), TRIM_RECORDS);
        expect_whole(at("far"), done.next_ordinal);
        remove_log(at("log"));
        remove_log(at("far"));
    }
}
END_TEST

/* Whether a damaged copy is what is here is read before a trim: if it cannot be, nothing goes. */
START_TEST(what_cannot_be_compared_with_a_damaged_copy_is_not_dropped) /* [TR-4] */
{
    make_row_of_segments(at("log"));
    flip_bit(segment_path(at("log"), 2), 3 * BLOCK, 3);
    tier();
    flip_bit(segment_path(at("log"), 2), 3 * BLOCK, 3);
    unsigned refused = 0, fired = 1;
    for (unsigned nth = 1; fired > 0; nth++) {
        u9_options o = {.size = sizeof o, .mode = U9_WRITE, .io = io_of(at("log"))};
        u9_trim what = {.size = sizeof what, .keep_bytes = 1};
        u9_trimmed gone = {.size = sizeof gone};
        u9_log *w = open_writer(at("log"), &o);
        fired = sim_fired();
        sim_fail(SIM_READ, nth, EIO, false);
        u9_err err = u9_log_trim(w, &what, &gone, &fault);
        sim_mend();
        fired = sim_fired() - fired;
        refused += err != U9_OK && strstr(fault.text, "a damaged copy: nothing was trimmed") != NULL;
        close_log(w);
    }
    ck_assert_uint_gt(refused, 0);
    expect_whole(at("log"), TRIM_RECORDS);
}
END_TEST

/* What was damaged further since takes no place from what was copied; nor is it dropped. */
START_TEST(what_was_damaged_further_since_it_was_copied_is_told) /* [TR-4] */
{
    make_row_of_segments(at("log"));
    flip_bit(segment_path(at("log"), 2), 3 * BLOCK, 3);
    tier();
    flip_bit(segment_path(at("log"), 2), 5 * BLOCK, 3);
    ck_assert_uint_eq(trim_all(), 1);
    u9_tier_options what = to_far();
    what.keep_bytes = 1;
    ck_assert_int_eq(try_tier(what), U9_CORRUPT);
    ck_assert_msg(strstr(fault.text, "check both"), "%s", fault.text);
    ck_assert_uint_eq(done.segments + done.dropped, 0);
    size_t size;
    uint8_t *better = read_file(segment_path(at("log"), 2), &size); /* as it was said */
    write_file(segment_path(at("far"), 2), better, size);
    free(better);
    tier_with(what);
    ck_assert_uint_eq(done.found, 1);
    ck_assert_uint_gt(done.dropped, 0);
    ck_assert_uint_eq(read_through(at("log")).next, TRIM_RECORDS);
}
END_TEST

/* The lists say so on the way, not only in the end; and a segment whose ends are damaged goes as it is. */
START_TEST(many_segments_go_and_damaged_ones_as_they_are) /* [TR-2] [TR-3] */
{
    seen_frame frames[64];
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 170);
    close_log(w);
    unsigned n = segments_in(at("log"));
    ck_assert_uint_gt(n, 18);
    flip_bit(segment_path(at("log"), 3), 32 + 64 + 10, 1); /* its u9open */
    size_t count = frames_in(segment_path(at("log"), 4), frames, 64);
    flip_bit(segment_path(at("log"), 4), frames[count - 1].offset + 64 + 10, 1); /* its u9end */
    copy_log(at("log"), at("old"));
    seen *before = look(at("log"));
    sim_aim(".tier.new");
    sim_fail(SIM_CREATE, 3, ENOSPC, true); /* the third time that a list is written */
    ck_assert_int_eq(try_tier(to_far()), U9_IO);
    sim_mend();
    sim_aim(NULL);
    ck_assert_uint_ge(done.segments, 16);
    tier();
    ck_assert_uint_ge(done.there, n - 2);
    seen *there = look(at("log"));
    ck_assert_uint_eq(there->count, before->count);
    forget(there);
    forget(before);
    w = open_rolling(at("log"));
    append_fillers(w, 20);
    close_log(w);
    tier();
    remove_log(at("log")); /* an older copy is put back, all of which the place has by now */
    copy_log(at("old"), at("log"));
    u9_tier_options what = to_far();
    what.keep_bytes = 1;
    (void)!try_tier(what);
    for (unsigned i = 1; i <= n; i++) ck_assert(exists(segment_path(at("log"), i)) || exists(segment_path(at("far"), i)));
}
END_TEST

START_TEST(a_failure_of_any_call_leaves_what_the_next_run_ends) /* [TR-3] */
{
    make_row_of_segments(at("row"));
    unsigned nth = 1, fired = 1;
    for (; fired > 0; nth = next_call(nth)) {
        make_anew();
        u9_tier_options what = to_far(); /* its path is good for a few calls of at() */
        what.keep_bytes = 1;
        what.verify = 1;
        fired = sim_fired();
        sim_fail(SIM_ANY, nth, nth % 2 ? EIO : ENOSPC, nth % 3 == 0);
        u9_err err = try_tier(what);
        sim_mend();
        fired = sim_fired() - fired;
        ck_assert_msg(err != U9_OK || fired <= 1, "call %u", nth);
        expect_goes_on();
    }
    ck_assert_uint_gt(nth, 100);
}
END_TEST

/* A copy that is the better one is never written over by what is damaged here, however it came to be there. */
START_TEST(a_copy_gives_way_to_a_damaged_segment_only_if_it_has_nothing_else) /* [TR-4] */
{
    enum { LONGER, SHORTER, UNLISTED, BEGINNING, CASES };
    for (unsigned how = LONGER; how < CASES; how++) {
        size_t size;
        uint8_t *whole;
        make_row_of_segments(at("log"));
        char copy[3400];
        snprintf(copy, sizeof copy, "%s", segment_path(at("far"), 2));
        tier();
        whole = read_file(copy, &size);
        flip_bit(segment_path(at("log"), 2), 5 * BLOCK, 3);
        if (how == LONGER) extend_file(copy, size + BLOCK);
        if (how == SHORTER) cut_file(copy, size - BLOCK);
        if (how == UNLISTED || how == BEGINNING) drop_file(file_in(at("log"), ".tier")), drop_file(file_in(at("far"), ".tier"));
        if (how == BEGINNING) cut_file(copy, 4 * BLOCK), extend_file(copy, 9 * BLOCK);
        u9_err err = try_tier(to_far());
        uint8_t *there = read_file(copy, &size);
        ck_assert_msg(err == (how == BEGINNING ? U9_OK : U9_CORRUPT), "case %u: %s", how, u9_err_name(err));
        if (how == BEGINNING) ck_assert(same_files(copy, segment_path(at("log"), 2)));
        else ck_assert_mem_eq(there, whole, size < 9 * BLOCK ? size : 9 * BLOCK);
        if (how != BEGINNING) ck_assert_msg(strstr(fault.text, "check both"), "%s", fault.text);
        (void)trim_all();
        ck_assert(how == BEGINNING || exists(segment_path(at("log"), 2)));
        free(whole);
        free(there);
        remove_log(at("log"));
        remove_log(at("far"));
    }
}
END_TEST

/* What the list has is looked for there before it goes here, also where nothing here says any more where it ends. */
START_TEST(what_is_dropped_was_found_at_the_place_whatever_the_row_says) /* [TR-3] [TR-4] */
{
    for (unsigned altered = 0; altered < 2; altered++) {
        make_row_of_segments(at("log"));
        tier();
        flip_bit(segment_path(at("log"), 3), 100, 3); /* its u9open, which named where the second one ends */
        if (altered) flip_bit(segment_path(at("far"), 2), 3 * BLOCK, 3);
        else drop_file(segment_path(at("far"), 2));
        u9_tier_options what = to_far();
        what.keep_bytes = 1;
        what.verify = altered > 0;
        tier_with(what);
        ck_assert_uint_ge(done.damages, altered); /* of the third one, of which the copy is as it was */
        ck_assert_uint_gt(done.dropped, 2);
        shown s = read_through(at("far"));
        ck_assert_uint_eq(s.first, 0);
        ck_assert_uint_le(s.damages, 1); /* that u9open's */
        ck_assert_uint_eq(s.records, s.next);
        remove_log(at("log"));
        remove_log(at("far"));
    }
}
END_TEST

/* An altered segment here takes no place from a copy that is what was copied; behind its data it is not even damage of records. */
START_TEST(a_copy_that_is_what_was_copied_stays) /* [TR-4] */
{
    make_row_of_segments(at("log"));
    tier();
    uint64_t size = file_size(segment_path(at("log"), 2));
    flip_bit(segment_path(at("log"), 2), size - BLOCK + 100, 3);
    u9_tier_options what = to_far();
    what.verify = 1;
    (void)!try_tier(what);
    ck_assert_uint_eq(done.segments, 0);
    ck_assert_uint_eq(read_through(at("far")).damages, 0);
    ck_assert(!same_files(segment_path(at("log"), 2), segment_path(at("far"), 2)));
}
END_TEST

/* A segment that is neither here nor there is not said to be there. */
START_TEST(what_the_place_lost_is_told_and_not_counted) /* [TR-6] */
{
    make_row_of_segments(at("log"));
    tier_and_drop();
    uint64_t there = done.there;
    ck_assert_uint_gt(done.dropped, 2);
    drop_file(segment_path(at("far"), 2));
    unsigned told = 0;
    u9_tier_options what = to_far();
    what.on_damage = count_damage;
    what.ctx = &told;
    tier_with(what);
    ck_assert_uint_eq(told, 1);
    ck_assert_uint_eq(done.damages, 1);
    ck_assert_uint_gt(done.lost, 0);
    ck_assert_uint_lt(done.next_ordinal, done.lost + 10);
    ck_assert_uint_le(done.there, there); /* one more was complete by then */
}
END_TEST

/* The place's mark is seen to, also where nothing is to be copied. */
START_TEST(a_mark_that_is_damaged_or_gone_is_made_anew) /* [TR-3] [M-4] */
{
    make_row_of_segments(at("log"));
    for (unsigned how = 0; how < 4; how++) {
        tier();
        if (how == 1) fill_bytes(file_in(at("far"), ".mark"), 0, BLOCK, 7);
        if (how > 1) tier_and_drop(), tier();
        if (how > 1) drop_file(file_in(at("far"), ".mark"));
        tier();
        ck_assert_uint_eq(done.segments, 0);
        ck_assert_uint_eq(read_through(at("far")).damages, 0);
    }
}
END_TEST

/* The mark proves itself with the secret of the segment that it is about, which is read here. */
START_TEST(a_mark_is_made_of_a_segment_that_is_here_alone) /* [TR-3] [M-1] */
{
    make_row_of_segments(at("log"));
    tier();
    drop_file(segment_path(at("log"), segments_in(at("log")) - 1));
    drop_file(file_in(at("far"), ".mark"));
    tier();
    ck_assert_uint_eq(done.damages, 0);
    ck_assert(!exists(file_in(at("far"), ".mark")));
    expect_whole(at("log"), TRIM_RECORDS);
}
END_TEST

/* An older state of the log, in which the newest segment that went to the place was the last one. */
START_TEST(where_the_place_has_all_that_is_here_all_but_the_last_may_go) /* [TR-4] */
{
    make_keyed_row(at("log"));
    unsigned closed = segments_in(at("log"));
    append_later();
    ck_assert_uint_eq(segments_in(at("log")), closed + 1);
    tier();
    drop_file(segment_path(at("log"), closed + 1));
    drop_file(file_in(at("log"), ".mark"));
    ck_assert_uint_eq(trim_all(), closed - 1);
}
END_TEST

/* What an interrupted first run left, and was trimmed here since, is no part of what comes; nor is what lists were lost of. */
START_TEST(what_no_list_names_and_is_not_here_is_refused) /* [TR-4] */
{
    for (unsigned lost = 0; lost < 2; lost++) {
        make_row_of_segments(at("log"));
        if (lost) {
            tier_and_drop();
            drop_file(file_in(at("far"), ".tier"));
            drop_file(file_in(at("log"), ".tier"));
        } else {
            size_t size;
            uint8_t *bytes = read_file(segment_path(at("log"), 1), &size);
            make_dir(at("far"));
            write_file(segment_path(at("far"), 1), bytes, size);
            free(bytes);
            ck_assert_uint_gt(trim_all(), 1);
        }
        expect_refused(U9_CORRUPT, "no list says of what log it is");
        ck_assert(!exists(file_in(at("far"), ".tier")) && !exists(file_in(at("log"), ".tier")));
        remove_log(at("log"));
        remove_log(at("far"));
    }
}
END_TEST

/* Of what comes anew a copy is in one of the two places, whatever fails, and whoever trims then. */
START_TEST(a_failure_while_a_copy_comes_anew_drops_no_other) /* [TR-3] [TR-4] */
{
    make_row_of_segments(at("row"));
    for (unsigned mended = 0; mended < 2; mended++) { /* what was altered is the copy, or the segment here, since */
        unsigned nth = 1, fired = 1;
        for (; fired > 0; nth = next_call(nth)) {
            remove_log(at("log"));
            remove_log(at("far"));
            copy_log(at("row"), at("log"));
            if (mended) flip_bit(segment_path(at("log"), 2), 20, 3);
            tier();
            flip_bit(segment_path(at(mended ? "log" : "far"), 2), mended ? 20 : 3 * BLOCK, 3);
            u9_tier_options what = to_far();
            what.verify = 1;
            fired = sim_fired();
            sim_fail(SIM_ANY, nth, EIO, true);
            u9_err err = try_tier(what);
            sim_mend();
            fired = sim_fired() - fired;
            ck_assert_msg(err != U9_OK || fired == 0, "call %u", nth);
            u9i_tier_list list = list_in(at("log"));
            const char *copy = segment_path(at("far"), 2); /* if that is as it was, it failed before anybody knew */
            bool known = mended || err == U9_OK || u9i_tier_list_find(&list, 2)->damaged || !exists(copy) ||
                         file_size(copy) < file_size(segment_path(at("log"), 2));
            u9i_tier_list_free(&list);
            if (known) (void)trim_all();
            expect_whole(at("log"), TRIM_RECORDS);
            what.verify = !known;
            tier_with(what);
            expect_whole(at("far"), done.next_ordinal);
        }
        ck_assert_uint_gt(nth, 50);
    }
}
END_TEST

Suite *suite_tier(void)
{
    Suite *suite = suite_create("tier");
    TCase *t = tcase_create("fills");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_place_gets_the_sealed_segments_and_is_a_log_by_itself);
    tcase_add_test(t, its_list_says_of_each_segment_what_it_holds);
    tcase_add_test(t, a_list_is_byte_by_byte_the_one_of_earlier_builds);
    tcase_add_test(t, once_more_nothing_is_copied_and_then_what_was_sealed_since);
    tcase_add_test(t, a_dry_run_makes_nothing);
    tcase_add_test(t, who_is_told_of_the_progress_may_stop_it);
    tcase_add_test(t, a_place_is_a_log_by_itself_while_the_first_run_fills_it);
    tcase_add_test(t, a_live_log_is_tiered_beside_its_writer_which_trims_by_itself);
    tcase_add_test(t, a_first_run_that_was_interrupted_goes_on_also_behind_a_trim);
    tcase_add_loop_test(t, a_trim_and_a_first_run_that_meet_at_any_call_leave_both_whole, 0, 6);
    tcase_add_test(t, a_trim_at_any_call_of_a_run_that_verifies_hinders_neither);
    tcase_add_test(t, both_are_read_as_one_log_when_segments_were_dropped);
    tcase_add_test(t, a_trim_by_other_means_loses_nothing_that_is_tiered);
    tcase_add_test(t, a_trim_by_other_means_leaves_what_is_not_tiered);
    tcase_add_test(t, a_segment_that_was_renamed_here_has_its_own_name_there);
    tcase_add_test(t, what_an_older_list_has_is_read_though_what_is_behind_it_is_not_here);
    tcase_add_test(t, what_a_trim_would_drop_is_what_is_here);
    tcase_add_test(t, what_the_place_has_not_is_not_dropped);
    tcase_add_test(t, a_segment_that_a_crash_left_is_neither_copied_last_nor_dropped);
    tcase_add_test(t, a_log_that_was_trimmed_before_begins_there_at_the_place_too);
    tcase_add_test(t, beside_plain_seed_files_nothing_is_written);
    tcase_add_test(t, a_log_whose_trimmed_segments_had_no_record_is_whole_at_the_place);
    tcase_add_test(t, who_reads_while_segments_are_dropped_goes_on_with_those_of_the_place);
    tcase_add_test(t, a_snapshot_of_both_is_whole_by_itself);
    tcase_add_test(t, a_segment_that_is_copied_in_several_steps_goes_whole);
    tcase_add_test(t, an_index_that_stands_there_is_kept_or_replaced);
    tcase_add_test(t, the_mark_says_where_the_last_segment_of_a_place_ends_so_its_index_counts);
    tcase_add_test(t, an_older_mark_is_no_end_of_the_segment_that_it_is_of);
    suite_add_tcase(suite, t);
    t = tcase_create("damage");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, what_the_place_lost_of_the_beginning_is_lost_and_not_trimmed);
    tcase_add_test(t, a_segment_that_the_place_lost_is_missing_and_told_with_its_place);
    tcase_add_test(t, an_altered_segment_of_the_place_costs_what_was_touched);
    tcase_add_test(t, a_place_that_cannot_be_reached_is_told_and_nothing_left_out);
    tcase_add_test(t, a_list_with_any_byte_changed_is_refused_and_made_anew);
    tcase_add_test(t, a_log_with_a_damaged_list_gets_no_place_but_its_own);
    tcase_add_test(t, a_whole_log_with_a_damaged_list_may_have_another_place);
    tcase_add_test(t, a_list_that_is_whole_and_not_as_said_is_refused);
    tcase_add_test(t, what_an_interrupted_run_left_is_compared_and_taken);
    tcase_add_test(t, something_else_of_the_name_is_left_as_it_is);
    tcase_add_test(t, where_a_list_was_lost_and_a_trim_goes_on_the_place_keeps_what_it_has);
    tcase_add_test(t, a_log_of_which_nothing_was_copied_may_have_another_place);
    tcase_add_test(t, a_place_is_one_logs_and_a_log_has_one_place);
    tcase_add_test(t, a_copy_that_went_on_is_refused_as_a_fork);
    tcase_add_test(t, a_place_that_is_gone_is_not_made_anew_while_it_has_what_is_not_here);
    tcase_add_test(t, an_empty_folder_is_no_place_that_has_lost_all);
    tcase_add_test(t, what_fails_is_told_of_the_file_that_it_failed_with);
    tcase_add_test(t, where_the_place_has_nothing_of_what_was_dropped_here_nothing_is_done);
    tcase_add_test(t, copies_are_compared_if_asked);
    tcase_add_test(t, what_goes_damaged_is_told);
    tcase_add_loop_test(t, a_log_that_was_put_back_takes_nothing_over_and_drops_nothing, 0, 16);
    tcase_add_test(t, who_asks_wrongly_is_refused);
    tcase_add_test(t, what_the_place_keeps_otherwise_is_not_dropped_here);
    tcase_add_test(t, two_do_not_tier_one_log_at_once);
    tcase_add_test(t, a_place_that_does_not_answer_is_told_and_one_that_is_gone_gets_all_again);
    tcase_add_loop_test(t, what_is_said_to_be_at_the_place_is_all_below_what_could_not_go, 0, 2);
    tcase_add_test(t, what_was_mended_since_it_was_copied_is_not_dropped_before_it_came_anew);
    tcase_add_test(t, what_cannot_be_compared_with_a_damaged_copy_is_not_dropped);
    tcase_add_test(t, what_was_damaged_further_since_it_was_copied_is_told);
    tcase_add_test(t, many_segments_go_and_damaged_ones_as_they_are);
    tcase_add_test(t, a_copy_gives_way_to_a_damaged_segment_only_if_it_has_nothing_else);
    tcase_add_test(t, what_is_dropped_was_found_at_the_place_whatever_the_row_says);
    tcase_add_test(t, a_copy_that_is_what_was_copied_stays);
    tcase_add_test(t, what_the_place_lost_is_told_and_not_counted);
    tcase_add_test(t, a_mark_that_is_damaged_or_gone_is_made_anew);
    tcase_add_test(t, a_mark_is_made_of_a_segment_that_is_here_alone);
    tcase_add_test(t, where_the_place_has_all_that_is_here_all_but_the_last_may_go);
    tcase_add_test(t, what_no_list_names_and_is_not_here_is_refused);
    tcase_add_test(t, a_failure_while_a_copy_comes_anew_drops_no_other);
    tcase_add_test(t, a_failure_of_any_call_leaves_what_the_next_run_ends);
    suite_add_tcase(suite, t);
    return suite;
}
