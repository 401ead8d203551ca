/*
 * tests/engine/read/test_split.c: a whole log split into ranges. Whatever the log, the damage and the cuts, the ranges
 * together are the whole scan; a plan reads what it named, whatever the log has become. [P-3] to [P-6]
 */
#include "tests/engine/fixture.h"
#include "tests/engine/read/ruin.h"
#include "tests/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, CUTS = 16 };

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
    while ((s->err = u9_cursor_next(c, &r)) == U9_OK || s->err == U9_LIMIT) note_record(s, log, &r);
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
    snprintf(text, sizeof texts[0], "%s %s %llu [%llu,%llu) from %lld lost %lld%s part %llu %s", u9_verdict_name(d->verdict),
             u9_reason_name(d->reason), (unsigned long long)d->segment, (unsigned long long)d->begin,
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
    ck_assert_msg(same, "the ranges tell another damage than the whole scan");
    ck_assert_uint_eq(ranges->count, whole->count);
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
    if (getenv("U9_SEED")) begin = strtoull(getenv("U9_SEED"), NULL, 10), end = begin + 1;
    for (uint64_t seed = begin; seed < end; seed++) {
        if (getenv("U9_VERBOSE")) fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        draw_from(seed);
        make(log);
        ck_assert(expect_unions(log, 1));
        for (uint64_t n = 1 + draw(4); n > 0; n--) ruin(log);
        read += expect_unions(log, lists);
        remove_log(log);
    }
    ck_assert_uint_ge(read, (end - begin) / 2);
}

/* [P-4] */
START_TEST(whatever_the_log_damage_and_cuts_the_ranges_are_the_whole_scan)
{
    try_logs(forge_any, 1, 150, 2);
}
END_TEST

/* [P-4] */
START_TEST(so_they_are_of_logs_that_a_writer_made)
{
    try_logs(write_any, 1000, 1020, 1);
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
    suite_add_tcase(suite, tc);
    return suite;
}
