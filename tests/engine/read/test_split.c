/*
 * tests/engine/read/test_split.c: a whole log split into ranges. Whatever the log, the damage and the cuts, the ranges
 * together are the whole scan; a plan reads what it named, whatever the log has become. [P-3] to [P-6]
 */
#include "tests/engine/fixture.h"
#include "tests/engine/log/trimmed.h"
#include "tests/engine/read/ruin.h"
#include "tests/plain_file.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK = 4096, CUTS = 16 };

static unsigned long long said; /* the seed that is tried */

typedef struct shown {
    uint64_t ordinal, segment, frame, at, size;
} shown;

/* What a scan shows, in its order. */
typedef struct scan {
    shown *records;
    size_t count, room;
    u9_damage *damages;
    size_t damage_count, damage_room;
    u9_tally tally;
    u9_err err; /* how it ended */
} scan;

static void note_damage(void *ctx, const u9_damage *d)
{
    scan *s = ctx;
    if (s->damage_count == s->damage_room) {
        s->damage_room = s->damage_room ? 2 * s->damage_room : 16;
        s->damages = realloc(s->damages, s->damage_room * sizeof *s->damages);
    }
    s->damages[s->damage_count] = *d;
    s->damages[s->damage_count++].path = strdup(d->path);
}

static void note_record(scan *s, u9_log *log, const u9_record *r)
{
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 256;
        s->records = realloc(s->records, s->room * sizeof *s->records);
    }
    s->records[s->count++] = (shown){r->ordinal, r->segment, r->frame, r->at, r->size};
    ck_assert_int_eq(u9_tally_record(&s->tally, log, r, NULL), U9_OK);
}

static void forget_scan(scan *s)
{
    for (size_t i = 0; i < s->damage_count; i++) free((char *)(uintptr_t)s->damages[i].path);
    free(s->damages);
    free(s->records);
}

static u9_log *open_for(scan *s, const char *log, u9_err *err)
{
    u9_log *handle = NULL;
    u9_options o = {.size = sizeof o, .io = io_of(log), .on_damage = note_damage, .on_damage_ctx = s};
    *err = u9_log_open(log, &o, &handle, NULL);
    return handle;
}

static void walk(scan *s, u9_log *log, u9_cursor *c)
{
    u9_record r;
    while ((s->err = u9_cursor_next(c, &r)) == U9_OK || s->err == U9_LIMIT || s->err == U9_VERSION)
        if (s->err != U9_VERSION) note_record(s, log, &r);
    u9_cursor_close(c);
}

/* False: the log cannot be opened. */
static bool scan_whole(scan *s, const char *log)
{
    u9_cursor *c;
    u9_err err;
    u9_log *handle = open_for(s, log, &err);
    if (err != U9_OK) return false;
    ck_assert_int_eq(u9_cursor_open(handle, NULL, &c, NULL), U9_OK);
    walk(s, handle, c);
    ck_assert_int_eq(s->err, U9_END);
    close_log(handle);
    return true;
}

/* By a handle of its own, from the line of the range alone. */
static void scan_range(scan *s, const char *log, const u9_split_range *range)
{
    char line[U9_SPLIT_LINE_SIZE];
    u9_split_range read;
    u9_fault fault = {0};
    u9_cursor *c;
    u9_log *handle = open_for(s, log, &s->err);
    ck_assert_int_eq(s->err, U9_OK);
    (void)u9_split_format(range, line);
    ck_assert_uint_lt(strlen(line), sizeof line);
    ck_assert_int_eq(u9_split_parse(line, strlen(line), &read, NULL), U9_OK);
    s->err = u9_range_open(handle, &read, &c, &fault);
    if (s->err == U9_OK) walk(s, handle, c);
    close_log(handle);
}

static const char *damage_text(const u9_damage *d)
{
    static char texts[2][500];
    static unsigned n;
    char *text = texts[n++ % 2];
    snprintf(text, sizeof texts[0], "%s %s %llu [%llu,%llu) from %lld lost %lld%s part %llu %s",
             u9_verdict_name(d->verdict), u9_reason_name(d->reason), (unsigned long long)d->segment, (unsigned long long)d->begin,
             (unsigned long long)d->end, (long long)d->ordinal, (long long)d->lost, d->at_most ? " at most" : "",
             (unsigned long long)d->part, strrchr(d->path, '/') ? strrchr(d->path, '/') : d->path);
    return text;
}

/* Says what both told, where they differ. */
static void show_damages(const scan *s, const char *who)
{
    for (size_t i = 0; i < s->damage_count; i++)
        fprintf(stderr, "%s: %s\n", who, damage_text(&s->damages[i]));
}

/* Plain seed files have other ordinals in ranges [E-3]. */
static bool told_the_same(const scan *whole, const scan *ranges, bool plain)
{
    if (whole->damage_count != ranges->damage_count) return false;
    for (size_t i = 0; i < whole->damage_count; i++) {
        u9_damage a = whole->damages[i], b = ranges->damages[i];
        if (plain) a.ordinal = b.ordinal;
        if (strcmp(damage_text(&a), damage_text(&b)) != 0) return false;
    }
    return true;
}

static void expect_same(const scan *whole, const scan *ranges, bool plain)
{
    bool same = told_the_same(whole, ranges, plain);
    if (!same) {
        show_damages(whole, "whole");
        show_damages(ranges, "ranges");
    }
    ck_assert_msg(same, "the ranges tell another damage than the whole scan; U9_SEED=%llu", said);
    ck_assert_msg(ranges->count == whole->count, "%zu records, in ranges %zu; U9_SEED=%llu", whole->count,
                  ranges->count, said);
    for (size_t i = 0; i < whole->count; i++) {
        shown a = whole->records[i], b = ranges->records[i];
        if (plain) a.ordinal = b.ordinal;
        ck_assert_mem_eq(&a, &b, sizeof a);
    }
    ck_assert_mem_eq(&whole->tally, &ranges->tally, sizeof whole->tally);
}

static void expect_union(const char *log, const u9_split_range *ranges, size_t count, bool plain)
{
    scan whole = {0}, all = {0};
    ck_assert(scan_whole(&whole, log));
    for (size_t i = 0; i < count; i++) {
        scan_range(&all, log, &ranges[i]);
        ck_assert_int_eq(all.err, U9_END);
    }
    expect_same(&whole, &all, plain);
    forget_scan(&whole);
    forget_scan(&all);
}

/* The plan of a log; the count of its ranges. */
static size_t plan_log(const char *log, uint64_t n, uint64_t size, u9_split_range **out)
{
    size_t count;
    u9_fault fault = {0};
    u9_log *handle = open_reader(log);
    u9_err err = u9_log_split(handle, n, size, out, &count, &fault);
    ck_assert_msg(err == U9_OK, "split: %s", fault.text);
    close_log(handle);
    return count;
}

static int by_place(const void *one, const void *other)
{
    const u9_split_place *a = one, *b = other;
    if (a->segment != b->segment) return a->segment < b->segment ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Ranges between cuts drawn from anywhere: `all` are those of a plan that is as fine as can be. */
static size_t cut_anywhere(const u9_split_range *all, size_t count, u9_split_range *out)
{
    u9_split_place cuts[CUTS];
    size_t n = draw(CUTS);
    for (size_t i = 0; i < n; i++) {
        cuts[i] = all[draw(count)].from;
        cuts[i].offset += draw(3) == 0 ? 32 : draw(BLOCK + 200);
        if (draw(3) > 0) cuts[i].offset &= ~UINT64_C(15);
        if (cuts[i].offset < 32) cuts[i].offset = 32;
        if (by_place(&cuts[i], &all[count - 1].to) > 0) cuts[i] = all[count - 1].to;
    }
    qsort(cuts, n, sizeof *cuts, by_place);
    for (size_t i = 0; i <= n; i++) {
        out[i] = all[0];
        out[i].number = i + 1;
        out[i].count = n + 1;
        if (i > 0) out[i].from = cuts[i - 1];
        out[i].to = i < n ? cuts[i] : all[count - 1].to;
    }
    return n + 1;
}

/* Plans of all sizes, and cuts that no plan has. False: it is no log any more. */
static bool expect_unions(const char *log, unsigned lists)
{
    u9_split_range *all, *plan, cut[CUTS + 1];
    scan whole = {0};
    bool opens = scan_whole(&whole, log);
    forget_scan(&whole);
    if (!opens) return false;
    size_t count = plan_log(log, U9_SPLIT_MAX, 0, &all), n;
    for (unsigned i = 0; i < lists; i++) {
        n = plan_log(log, 1 + draw(9), 0, &plan);
        expect_union(log, plan, n, false);
        u9_split_free(plan);
        n = cut_anywhere(all, count, cut);
        expect_union(log, cut, n, false);
    }
    u9_split_free(all);
    return true;
}

/* So many logs, each as it was made and after things have happened to it. */
static void try_logs(void (*make)(const char *log), uint64_t from, uint64_t to, unsigned lists)
{
    const char *log = at("log");
    uint64_t begin = from, end = to, read = 0;
    const char *seed_text = getenv("U9_SEED"), *many = getenv("U9_SEEDS"); /* another one, or more of them */
    if (seed_text) begin = strtoull(seed_text, NULL, 10), end = begin + 1;
    if (many) end = begin + strtoull(many, NULL, 10);
    for (uint64_t seed = begin; seed < end; seed++) {
        said = seed;
        draw_from(seed);
        make(log);
        ck_assert(expect_unions(log, 1));
        for (uint64_t n = 1 + draw(4); n > 0; n--) ruin(log);
        read += expect_unions(log, lists);
        const char *one = segment_path(log, 1 + draw(3));
        if (exists(one)) (void)expect_unions(one, 1); /* alone [L-8] */
        remove_log(log);
    }
    ck_assert_uint_ge(read, (end - begin) / 2);
}

/* [P-4] */
START_TEST(whatever_the_log_damage_and_cuts_the_ranges_are_the_whole_scan)
{
    try_logs(forge_any, 1, thorough(70, 150), 2);
}
END_TEST

/* [P-4] */
START_TEST(so_they_are_of_logs_that_a_writer_made)
{
    try_logs(write_any, 1000, 1020, 1);
}
END_TEST

/* [P-1] [M-4] Of a copy that went on otherwise the mark is here, which lies within a frame, at its end or between two. */
START_TEST(so_they_are_of_a_log_that_does_not_meet_its_mark)
{
    size_t size;
    draw_from(5);
    for (unsigned n = 1; n < 9; n++) {
        session(at("log"), "r", 3, 3);
        copy_log(at("log"), at("other"));
        session(at("other"), "other ", 2 * n, n);
        session(at("log"), "this ", 20, 1);
        uint8_t *mark = read_file(at("other/.mark"), &size);
        write_file(at("log/.mark"), mark, size);
        free(mark);
        seen *s = look(at("log"));
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_FORK), 1);
        forget(s);
        ck_assert(expect_unions(at("log"), 6));
        remove_log(at("log"));
        remove_log(at("other"));
    }
}
END_TEST

/* [P-4] Logs of earlier versions, with all that was done to them. */
START_TEST(so_they_are_of_the_golden_logs)
{
    size_t count;
    unsigned read = 0;
    char **names = list_names("tests/golden/v1", &count), path[300];
    struct stat st;
    draw_from(7);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "tests/golden/v1/%s", names[i]);
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            copy_log(path, at("log"));
            read += expect_unions(at("log"), 2);
            remove_log(at("log"));
        }
        free(names[i]);
    }
    free(names);
    ck_assert_uint_ge(read, 10);
}
END_TEST

/* [E-3] [E-4] [P-4] */
START_TEST(plain_seed_files_are_split_like_segments)
{
    plain_file p = plain_begin(3);
    u9_split_range *plan;
    for (unsigned i = 0; i < 60; i++) {
        uint8_t body[1000];
        size_t size = record_bytes(body, i, "some text that takes its place", 30);
        (void)plain_frame(&p, body, size);
    }
    make_dir(at("log"));
    for (unsigned n = 1; n <= 3; n++) write_file(segment_path(at("log"), n), p.bytes, p.size);
    plain_free(&p);
    flip_bit(segment_path(at("log"), 2), 5000, 3);
    for (unsigned n = 1; n < 8; n++) {
        size_t count = plan_log(at("log"), n, 0, &plan);
        expect_union(at("log"), plan, count, true);
        u9_split_free(plan);
    }
}
END_TEST

/* [P-3] */
START_TEST(a_plan_has_ranges_of_about_as_many_bytes)
{
    u9_split_range *plan;
    u9_options o = small_options();
    u9_log *w = open_writer(at("log"), &o);
    append_many(w, "record", 40000, 5000);
    close_log(w);
    for (unsigned n = 1; n <= 20; n++) {
        uint64_t all = 0;
        ck_assert_uint_eq(plan_log(at("log"), n, 0, &plan), n);
        for (unsigned i = 0; i < n; i++) all += plan[i].bytes;
        for (unsigned i = 0; i < n; i++) {
            ck_assert_uint_eq(plan[i].number, i + 1);
            ck_assert_uint_eq(plan[i].count, n);
            ck_assert_uint_le(plan[i].bytes, all / n + 2 * BLOCK);
            ck_assert_uint_ge(plan[i].bytes + 2 * BLOCK, all / n);
            if (i > 0) ck_assert_mem_eq(&plan[i].from, &plan[i - 1].to, sizeof plan[i].from);
        }
        u9_split_free(plan);
    }
    size_t count = plan_log(at("log"), 0, 100000, &plan);
    ck_assert_uint_gt(count, 5);
    for (size_t i = 0; i < count; i++) ck_assert(plan[i].bytes > 80000 && plan[i].bytes < 120000);
    u9_split_free(plan);
}
END_TEST

/* [P-3] Ranges are of bytes that are there, whatever first frames promise of their files: here four times nearly 2^63. */
START_TEST(what_is_promised_beyond_a_file_is_in_no_plan)
{
    u9_split_range *plan;
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (uint64_t number = 2;; number++) {
        for (unsigned i = 0; i < 20; i++) (void)forge_records(&s, "record", 200);
        u9i_open_record open = forge_naming(number, &s, U9I_TAIL_TORN);
        open.end.offset = (UINT64_C(1) << 63) - 16;
        forge_pad(&s);
        forge_save(&s, at("log"));
        forge_free(&s);
        if (number == 6) break;
        s = forge_with_open(number, 1, &open);
    }
    size_t count = plan_log(at("log"), 5, 0, &plan);
    ck_assert_uint_eq(count, 5);
    for (size_t i = 0; i < count; i++) ck_assert_uint_lt(plan[i].bytes, 200000);
    expect_union(at("log"), plan, count, false);
    u9_split_free(plan);
}
END_TEST

START_TEST(a_plan_that_is_none_is_refused) /* [P-3] */
{
    u9_split_range *plan;
    size_t count;
    session(at("log"), "r", 3, 1);
    u9_log *r = open_reader(at("log"));
    ck_assert_int_eq(u9_log_split(r, 0, 0, &plan, &count, NULL), U9_ARG);
    ck_assert_int_eq(u9_log_split(r, 1, 4096, &plan, &count, NULL), U9_ARG);
    ck_assert_int_eq(u9_log_split(r, 0, 4095, &plan, &count, NULL), U9_ARG);
    ck_assert_int_eq(u9_log_split(r, U9_SPLIT_MAX + 1, 0, &plan, &count, NULL), U9_ARG);
    ck_assert_int_eq(u9_log_split(NULL, 1, 0, &plan, &count, NULL), U9_ARG);
    ck_assert_int_eq(u9_log_split(r, 1, 0, NULL, &count, NULL), U9_ARG);
    ck_assert_int_eq(u9_log_split(r, U9_SPLIT_MAX, 0, &plan, &count, NULL), U9_OK); /* but the log is small */
    ck_assert_uint_le(count, file_size(segment_path(at("log"), 1)) / BLOCK);
    u9_split_free(plan);
    close_log(r);
}
END_TEST

/* A segment of so many bytes, if its successor is right: they are not read for a plan. [P-3] */
START_TEST(a_size_that_makes_too_many_ranges_is_refused)
{
    u9_fault fault;
    u9_split_range *plan;
    size_t count;
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    (void)forge_records(&s, "record", 20);
    u9i_open_record open = forge_naming(2, &s, U9I_TAIL_TORN);
    open.end.offset = (U9_SPLIT_MAX + 8) * (uint64_t)BLOCK;
    forged_segment next = forge_with_open(2, 1, &open);
    forge_save(&s, at("log"));
    forge_save(&next, at("log"));
    forge_free(&s);
    forge_free(&next);
    extend_file(segment_path(at("log"), 1), open.end.offset + BLOCK);
    u9_log *r = open_reader(at("log"));
    ck_assert_int_eq(u9_log_split(r, 0, BLOCK, &plan, &count, &fault), U9_ARG);
    ck_assert_ptr_nonnull(strstr(fault.text, "at most 65536"));
    close_log(r);
    count = plan_log(at("log"), 0, 2 * BLOCK, &plan);
    ck_assert_uint_le(count, U9_SPLIT_MAX);
    u9_split_free(plan);
}
END_TEST

START_TEST(a_log_without_records_or_even_segments_has_a_plan) /* [P-3] */
{
    u9_split_range *plan;
    u9_options o = writer_options();
    close_log(open_writer(at("log"), &o));
    size_t count = plan_log(at("log"), 8, 0, &plan);
    expect_union(at("log"), plan, count, false);
    u9_split_free(plan);
    move_file(segment_path(at("log"), 1), at("gone"));
    ck_assert_uint_eq(plan_log(at("log"), 8, 0, &plan), 1);
    ck_assert_uint_eq(plan[0].from.segment, 0);
    expect_union(at("log"), plan, 1, false); /* it tells that its only segment is missing */
    u9_split_free(plan);
}
END_TEST

/* The plan's records are the first `records` of the log. */
static void expect_planned(const char *log, const u9_split_range *plan, size_t count, uint64_t records)
{
    scan all = {0};
    for (size_t i = 0; i < count; i++) scan_range(&all, log, &plan[i]);
    ck_assert_uint_eq(all.count, records);
    for (uint64_t i = 0; i < records; i++) ck_assert_uint_eq(all.records[i].ordinal, i);
    forget_scan(&all);
}

/* [P-4] In the same segment, in a new one, in a session behind a crash. */
START_TEST(what_is_appended_behind_a_plan_is_in_none_of_its_ranges)
{
    u9_split_range *plan;
    u9_options o = small_options();
    u9_log *w = open_writer(at("log"), &o);
    append_many(w, "record", 3000, 500);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    size_t count = plan_log(at("log"), 5, 0, &plan);
    expect_planned(at("log"), plan, count, 3000);
    append_many(w, "later", 10, 1);
    expect_planned(at("log"), plan, count, 3000);
    append_many(w, "later", 5000, 100); /* rolls */
    expect_planned(at("log"), plan, count, 3000);
    close_log(w);
    session(at("log"), "much later", 100, 7);
    expect_planned(at("log"), plan, count, 3000);
    u9_split_free(plan);
}
END_TEST

START_TEST(a_range_tells_what_of_it_was_trimmed_and_reads_the_rest) /* [P-4] [L-10] */
{
    u9_split_range *plan;
    make_row_of_segments(at("log"));
    uint64_t kept = first_in(at("log"), 4), last = 0;
    size_t count = plan_log(at("log"), 3, 0, &plan);
    trim_log(at("log"), below_ordinal(kept));
    scan all = {0};
    for (size_t i = 0; i < count; i++) {
        size_t before = all.damage_count;
        scan_range(&all, at("log"), &plan[i]);
        ck_assert_int_eq(all.err, U9_END);
        ck_assert_uint_eq(all.damage_count - before, plan[i].from.segment < 4);
        if (all.damage_count == before) continue;
        const u9_damage *d = &all.damages[before];
        ck_assert_int_eq(d->reason, U9_R_TRIMMED);
        ck_assert_int_eq(d->verdict, U9_V_TORN);
        ck_assert_uint_eq(d->segment, plan[i].from.segment);
        ck_assert_uint_eq(d->begin, plan[i].from.offset);
        last = i;
    }
    ck_assert_uint_ge(last, 1);
    ck_assert_uint_eq(all.count, TRIM_RECORDS - kept);
    ck_assert_uint_eq(all.records[0].ordinal, kept);
    forget_scan(&all);
    u9_log *r = open_reader(at("log")); /* who is told of nothing gets it as an error, and goes on */
    u9_cursor *c;
    u9_record record;
    ck_assert_int_eq(u9_range_open(r, &plan[last], &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_ABSENT);
    ck_assert_int_eq(u9_cursor_damage(c)->reason, U9_R_TRIMMED);
    u9_err err = u9_cursor_next(c, &record);
    ck_assert(err == U9_OK || err == U9_END);
    u9_cursor_close(c);
    close_log(r);
    u9_split_free(plan);
}
END_TEST

START_TEST(a_range_that_is_read_while_its_log_is_trimmed_goes_on_behind_that) /* [P-4] [L-10] */
{
    u9_split_range *plan;
    make_row_of_segments(at("log"));
    uint64_t kept = first_in(at("log"), 4), second = first_in(at("log"), 2);
    ck_assert_uint_eq(plan_log(at("log"), 1, 0, &plan), 1);
    scan s = {0};
    u9_cursor *c;
    u9_record r;
    u9_log *handle = open_for(&s, at("log"), &s.err);
    ck_assert_int_eq(u9_range_open(handle, &plan[0], &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
    ck_assert_int_eq(u9_cursor_prev(c, &r), U9_ARG); /* a range is read forwards, and goes on so */
    trim_log(at("log"), below_ordinal(kept));
    walk(&s, handle, c);
    ck_assert_int_eq(s.err, U9_END);
    ck_assert_uint_eq(s.count, second - 1 + TRIM_RECORDS - kept);
    ck_assert_uint_eq(s.damage_count, 1);
    ck_assert_uint_eq(s.damages[0].ordinal, second);
    ck_assert_uint_eq(s.damages[0].lost, kept - second);
    close_log(handle);
    forget_scan(&s);
    u9_split_free(plan);
}
END_TEST

START_TEST(a_range_whose_segment_is_gone_is_refused_unless_a_range_that_is_read_tells_so) /* [P-4] [L-4] */
{
    u9_split_range *plan;
    u9_options o = small_options();
    u9_log *w = open_writer(at("log"), &o);
    append_many(w, "record", 20000, 500);
    close_log(w);
    remove_mark(at("log"));
    size_t count = plan_log(at("log"), 24, 0, &plan);
    move_file(segment_path(at("log"), 3), at("gone"));
    scan all = {0};
    unsigned refused = 0;
    for (size_t i = 0; i < count; i++) {
        scan_range(&all, at("log"), &plan[i]);
        const u9_split_place *to = &plan[i].to;
        bool within = plan[i].from.segment == 3 && (to->segment == 3 || to->offset == 32);
        ck_assert_int_eq(all.err, (within ? U9_ABSENT : U9_END));
        refused += within;
    }
    ck_assert_uint_ge(refused, 1);
    ck_assert_uint_eq(all.damage_count, 1);
    ck_assert_int_eq(all.damages[0].reason, U9_R_MISSING);
    ck_assert_uint_eq(all.damages[0].segment, 3);
    ck_assert_uint_eq(all.damages[0].lost, 20000 - all.count);
    forget_scan(&all);
    u9_split_free(plan);
}
END_TEST

START_TEST(a_range_of_another_log_or_of_none_is_refused) /* [P-4] */
{
    u9_split_range *plan, *other, r;
    u9_cursor *c;
    session(at("log"), "r", 30, 5);
    session(at("other"), "r", 30, 5);
    (void)plan_log(at("log"), 1, 0, &plan);
    (void)plan_log(at("other"), 1, 0, &other);
    u9_log *handle = open_reader(at("log"));
    ck_assert_int_eq(u9_range_open(handle, &other[0], &c, NULL), U9_ARG);
    r = plan[0], r.number = 2;
    ck_assert_int_eq(u9_range_open(handle, &r, &c, NULL), U9_ARG);
    r = plan[0], r.number = 0;
    ck_assert_int_eq(u9_range_open(handle, &r, &c, NULL), U9_ARG);
    r = plan[0], r.from.offset = r.to.offset + 1;
    ck_assert_int_eq(u9_range_open(handle, &r, &c, NULL), U9_ARG);
    r = plan[0], r.from.segment = r.to.segment + 1;
    ck_assert_int_eq(u9_range_open(handle, &r, &c, NULL), U9_ARG);
    r = plan[0], r.from.segment = 0, r.from.offset = 0;
    ck_assert_int_eq(u9_range_open(handle, &r, &c, NULL), U9_ABSENT);
    r = plan[0], r.from = r.to = (u9_split_place){.segment = 0}, r.to.offset = 1;
    ck_assert_int_eq(u9_range_open(handle, &r, &c, NULL), U9_ABSENT);
    r = plan[0], r.to.segment = 7;
    ck_assert_int_eq(u9_range_open(handle, &r, &c, NULL), U9_ABSENT);
    r = plan[0], r.from.boundary[0] ^= 1; /* another file of that number */
    ck_assert_int_eq(u9_range_open(handle, &r, &c, NULL), U9_ABSENT);
    ck_assert_int_eq(u9_range_open(handle, NULL, &c, NULL), U9_ARG);
    ck_assert_int_eq(u9_range_open(NULL, &plan[0], &c, NULL), U9_ARG);
    close_log(handle);
    u9_split_free(plan);
    u9_split_free(other);
}
END_TEST

/* [P-4] What one range could not make durable and so leaves out, it tells: another one finds nothing amiss there. */
START_TEST(where_the_end_cannot_be_made_durable_each_range_tells_what_it_leaves_out)
{
    u9_split_range *plan;
    scan whole = {0};
    u9_options o = writer_options();
    o.segment_size = 4 << 20; /* ranges are of what is reserved, too */
    u9_log *w = open_writer(at("log"), &o);
    append_fillers(w, 30);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    append_fillers(w, 400);
    crash(w, at("log"));
    ck_assert(scan_whole(&whole, at("log")));
    ck_assert_uint_gt(whole.count, 60);
    sim_fail(SIM_SYNC_DIR, 1, EIO, false); /* nor does the plan end where it could not be seen how the log ends */
    size_t count = plan_log(at("log"), 9, 0, &plan);
    sim_mend();
    for (size_t fails = 0; fails <= count; fails++) {
        scan all = {0};
        size_t told = 0;
        for (size_t i = 0; i < count; i++) {
            if (i == fails) sim_fail(SIM_SYNC_DIR, 1, EIO, false);
            scan_range(&all, at("log"), &plan[i]);
            sim_mend();
        }
        for (size_t i = 0; i < all.damage_count; i++) told += all.damages[i].verdict > U9_V_TORN;
        ck_assert_msg((told == 0) == (all.count == whole.count), "range %zu of %zu fails: %zu records, %zu told", fails + 1,
                      count, all.count, told);
        forget_scan(&all);
    }
    forget_scan(&whole);
    u9_split_free(plan);
}
END_TEST

/* A process of its own reads one range, by its line. */
static u9_tally read_apart(const char *log, const u9_split_range *range)
{
    int ends[2], status;
    u9_tally tally = {0};
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        scan s = {0};
        scan_range(&s, log, range);
        _exit(s.err == U9_END && write(ends[1], &s.tally, sizeof s.tally) == sizeof s.tally ? 0 : 1);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_eq(read(ends[0], &tally, sizeof tally), sizeof tally);
    close(ends[0]);
    close(ends[1]);
    return tally;
}

START_TEST(processes_that_read_a_range_each_come_to_the_totals_of_one) /* [P-4] [P-6] */
{
    u9_split_range *plan;
    scan whole = {0};
    draw_from(11);
    write_any(at("log"));
    session(at("log"), "and more", 2000, 100);
    ck_assert(scan_whole(&whole, at("log")));
    ck_assert_uint_gt(whole.tally.records, 2000);
    for (unsigned n = 1; n <= 4; n++) {
        u9_tally sum = {0};
        size_t count = plan_log(at("log"), n, 0, &plan);
        for (size_t i = 0; i < count; i++) {
            u9_tally t = read_apart(at("log"), &plan[i]);
            u9_tally_merge(&sum, &t);
        }
        ck_assert_mem_eq(&sum, &whole.tally, sizeof sum);
        u9_split_free(plan);
    }
    forget_scan(&whole);
}
END_TEST

/* [P-6] [C-6] One that no cursor hands out: it is read in pieces, by the range that its last part is in. */
START_TEST(a_record_larger_than_a_cursor_shows_is_tallied_in_pieces)
{
    enum { SIZE = 17 << 20 };
    u9_split_range *plan;
    u9_append *a;
    uint8_t head[9], *bytes = calloc(1, SIZE + 64);
    size_t n = u9_value_head(U9_BYTES, SIZE, head);
    u9_log *log = open_writer(at("log"), NULL);
    append_many(log, "before", 100, 10);
    ck_assert_int_eq(u9_append_begin(log, NULL, 1, n + SIZE, &a, NULL), U9_OK);
    ck_assert_int_eq(u9_append_write(a, head, n), U9_OK);
    ck_assert_int_eq(u9_append_write(a, bytes, SIZE), U9_OK);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    append_many(log, "behind", 100, 10);
    close_log(log);
    for (unsigned k = 1; k <= 7; k += 3) {
        size_t count = plan_log(at("log"), k, 0, &plan);
        expect_union(at("log"), plan, count, false);
        u9_split_free(plan);
    }
    scan s = {0};
    ck_assert(scan_whole(&s, at("log")));
    ck_assert_uint_eq(s.count, 201);
    u9_tally pieces = {0}, whole = {0};
    u9_record r = {.segment = s.records[100].segment, .frame = s.records[100].frame, .at = s.records[100].at,
                   .size = s.records[100].size};
    log = open_reader(at("log"));
    u9_reading *reading;
    size_t got;
    ck_assert_uint_lt(r.size, SIZE + 64);
    ck_assert_int_eq(u9_tally_record(&pieces, log, &r, NULL), U9_OK);
    ck_assert_int_eq(u9_record_open(log, &r, &reading, NULL), U9_OK);
    ck_assert_int_eq(u9_record_read(reading, 0, bytes, SIZE + 64, &got, NULL), U9_OK);
    u9_record_close(reading);
    r.bytes = bytes;
    ck_assert_int_eq(u9_tally_record(&whole, log, &r, NULL), U9_OK);
    ck_assert_mem_eq(&pieces, &whole, sizeof whole);
    close_log(log);
    forget_scan(&s);
    free(bytes);
}
END_TEST

typedef struct worker {
    u9_log *log;
    const u9_split_range *range;
    u9_tally tally;
    pthread_t thread;
} worker;

static void *read_beside(void *ctx)
{
    worker *w = ctx;
    u9_cursor *c;
    u9_record r;
    if (u9_range_open(w->log, w->range, &c, NULL) != U9_OK) return NULL;
    while (u9_cursor_next(c, &r) == U9_OK && u9_tally_record(&w->tally, w->log, &r, NULL) == U9_OK) {
    }
    u9_cursor_close(c);
    return NULL;
}

START_TEST(threads_that_share_a_handle_read_a_range_each) /* [P-4] */
{
    enum { THREADS = 4 };
    worker w[THREADS] = {{.log = NULL}};
    u9_split_range *plan;
    u9_tally sum = {0};
    scan whole = {0};
    u9_options o = small_options();
    u9_log *log = open_writer(at("log"), &o);
    append_many(log, "record", 20000, 3000);
    crash(log, at("log")); /* the last segment's end is not confirmed: who comes first judges it */
    ck_assert(scan_whole(&whole, at("log")));
    ck_assert_uint_eq(plan_log(at("log"), THREADS, 0, &plan), THREADS);
    log = open_reader(at("log"));
    for (unsigned i = 0; i < THREADS; i++) {
        w[i] = (worker){.log = log, .range = &plan[i]};
        ck_assert_int_eq(pthread_create(&w[i].thread, NULL, read_beside, &w[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        u9_tally_merge(&sum, &w[i].tally);
    }
    ck_assert_mem_eq(&sum, &whole.tally, sizeof sum);
    close_log(log);
    forget_scan(&whole);
    u9_split_free(plan);
}
END_TEST

START_TEST(a_tally_does_not_depend_on_the_order_and_counts_repeats) /* [P-6] */
{
    u9_tally one = {0}, other = {0}, twice = {0};
    uint8_t bytes[2] = {0x48, 0x00};
    u9_record a = {.bytes = bytes, .size = 2}, b = {.bytes = bytes, .size = 1};
    ck_assert_int_eq(u9_tally_record(&one, NULL, &a, NULL), U9_OK);
    ck_assert_int_eq(u9_tally_record(&one, NULL, &b, NULL), U9_OK);
    ck_assert_int_eq(u9_tally_record(&other, NULL, &b, NULL), U9_OK);
    ck_assert_int_eq(u9_tally_record(&other, NULL, &a, NULL), U9_OK);
    ck_assert_mem_eq(&one, &other, sizeof one);
    ck_assert_uint_eq(one.records, 2);
    ck_assert_uint_eq(one.bytes, 3);
    u9_tally_merge(&twice, &one);
    u9_tally_merge(&twice, &one);
    ck_assert_uint_ne(twice.low, 0);
    ck_assert_uint_eq(twice.low, 2 * one.low);
    ck_assert_uint_eq(twice.high, 2 * one.high + (one.low >> 63)); /* the carry */
    one = (u9_tally){.low = UINT64_MAX};
    u9_tally_merge(&one, &(u9_tally){.low = 1});
    ck_assert_uint_eq(one.low, 0);
    ck_assert_uint_eq(one.high, 1);
    ck_assert_int_eq(u9_tally_record(&one, NULL, NULL, NULL), U9_ARG);
}
END_TEST

Suite *suite_split(void)
{
    Suite *suite = suite_create("split");
    TCase *tc = tcase_create("union");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, whatever_the_log_damage_and_cuts_the_ranges_are_the_whole_scan);
    tcase_add_test(tc, so_they_are_of_logs_that_a_writer_made);
    tcase_add_test(tc, so_they_are_of_a_log_that_does_not_meet_its_mark);
    tcase_add_test(tc, plain_seed_files_are_split_like_segments);
    suite_add_tcase(suite, tc);
    tc = tcase_create("plan");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_add_test(tc, a_plan_has_ranges_of_about_as_many_bytes);
    tcase_add_test(tc, what_is_promised_beyond_a_file_is_in_no_plan);
    tcase_add_test(tc, a_plan_that_is_none_is_refused);
    tcase_add_test(tc, a_size_that_makes_too_many_ranges_is_refused);
    tcase_add_test(tc, a_log_without_records_or_even_segments_has_a_plan);
    tcase_add_test(tc, what_is_appended_behind_a_plan_is_in_none_of_its_ranges);
    tcase_add_test(tc, a_range_tells_what_of_it_was_trimmed_and_reads_the_rest);
    tcase_add_test(tc, a_range_that_is_read_while_its_log_is_trimmed_goes_on_behind_that);
    tcase_add_test(tc, a_range_whose_segment_is_gone_is_refused_unless_a_range_that_is_read_tells_so);
    tcase_add_test(tc, a_range_of_another_log_or_of_none_is_refused);
    tcase_add_test(tc, where_the_end_cannot_be_made_durable_each_range_tells_what_it_leaves_out);
    tcase_add_test(tc, a_tally_does_not_depend_on_the_order_and_counts_repeats);
    suite_add_tcase(suite, tc);
    return suite;
}

/* On files of the system, by processes and threads. */
Suite *suite_split_apart(void)
{
    Suite *suite = suite_create("split_apart");
    TCase *tc = tcase_create("apart");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
    tcase_add_test(tc, so_they_are_of_the_golden_logs);
    tcase_add_test(tc, processes_that_read_a_range_each_come_to_the_totals_of_one);
    tcase_add_test(tc, a_record_larger_than_a_cursor_shows_is_tallied_in_pieces);
    tcase_add_test(tc, threads_that_share_a_handle_read_a_range_each);
    suite_add_tcase(suite, tc);
    return suite;
}
