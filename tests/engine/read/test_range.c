/*
 * tests/engine/read/test_range.c: a segment split among readers. Whatever the cuts, the ranges together
 * give each record exactly once and in order, and tell each loss exactly once.
 */
#include "tests/engine/fixture.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, DAMAGES = 64 };

/* What was seen in one reading of a segment, whole or in ranges. */
typedef struct reading {
    uint64_t *ordinals, *frames;
    size_t count, room;
    u9_damage damages[DAMAGES];
    size_t damage_count;
} reading;

static void note(void *ctx, const u9_damage *d)
{
    reading *r = ctx;
    ck_assert_uint_lt(r->damage_count, DAMAGES);
    r->damages[r->damage_count++] = *d;
}

/* Reads the frames of `segment` that begin in [begin, end); end 0: all to its end. */
static void read_range(reading *to, const char *log, uint64_t segment, uint64_t begin, uint64_t end)
{
    u9_log *handle;
    u9_cursor *c;
    u9_record r;
    u9_err err;
    u9_options o = {.size = sizeof o, .on_damage = note, .on_damage_ctx = to};
    u9_range range = {.size = sizeof range, .segment = segment, .begin = begin, .end = end};
    ck_assert_int_eq(u9_log_open(log, &o, &handle, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_open(handle, &range, &c, NULL), U9_OK);
    while ((err = u9_cursor_next(c, &r)) == U9_OK) {
        if (to->count == to->room) {
            to->room = to->room ? 2 * to->room : 64;
            to->ordinals = realloc(to->ordinals, to->room * sizeof *to->ordinals);
            to->frames = realloc(to->frames, to->room * sizeof *to->frames);
        }
        ck_assert_uint_ge(r.frame, begin);
        if (end != 0) ck_assert_uint_lt(r.frame, end);
        to->ordinals[to->count] = r.ordinal;
        to->frames[to->count++] = r.frame;
    }
    ck_assert_int_eq(err, U9_END);
    u9_cursor_close(c);
    close_log(handle);
}

static void drop(reading *r)
{
    free(r->ordinals);
    free(r->frames);
}

/* [P-2] The verdict on a tail is the segment's, not a range's. */
static bool is_tail(const u9_damage *d)
{
    return d->verdict == U9_V_TORN ||
           (d->verdict == U9_V_UNKNOWN && d->reason != U9_R_FILL && d->reason != U9_R_PADDING &&
            d->reason != U9_R_FOREIGN);
}

/* The ranges between the cuts give what one reading of the whole gave. */
static void expect_same(const reading *whole, const char *log, uint64_t segment, const uint64_t *cuts, size_t count)
{
    reading parts = {0};
    for (size_t i = 0; i <= count; i++) {
        uint64_t begin = i ? cuts[i - 1] : 0;
        if (i < count && cuts[i] == begin) continue; /* an empty range; end 0 would be another */
        read_range(&parts, log, segment, begin, i < count ? cuts[i] : 0);
    }
    ck_assert_uint_eq(parts.count, whole->count);
    for (size_t i = 0; i < whole->count; i++) {
        ck_assert_uint_eq(parts.ordinals[i], whole->ordinals[i]);
        ck_assert_uint_eq(parts.frames[i], whole->frames[i]);
    }
    size_t at = 0;
    for (size_t i = 0; i < whole->damage_count; i++) {
        const u9_damage *a = &whole->damages[i];
        if (is_tail(a)) continue;
        ck_assert_uint_lt(at, parts.damage_count);
        const u9_damage *b = &parts.damages[at++];
        ck_assert_msg(a->verdict == b->verdict && a->reason == b->reason && a->begin == b->begin &&
                          a->end == b->end && a->lost == b->lost,
                      "%s [%llu,%llu) lost %lld; in ranges %s [%llu,%llu) lost %lld",
                      u9_reason_name(a->reason), (unsigned long long)a->begin,
                      (unsigned long long)a->end, (long long)a->lost, u9_reason_name(b->reason),
                      (unsigned long long)b->begin, (unsigned long long)b->end, (long long)b->lost);
    }
    ck_assert_uint_eq(at, parts.damage_count);
    drop(&parts);
}

/* Cuts at every step, alone and all together, and seeded random lists of them. */
static void expect_all_cuts(const char *log, uint64_t segment, uint64_t step)
{
    uint64_t size = file_size(segment_path(log, segment)), all[64];
    reading whole = {0};
    read_range(&whole, log, segment, 0, 0);
    for (uint64_t at = 16; at <= size + 16; at += step) expect_same(&whole, log, segment, &at, 1);
    for (unsigned n = 0; n < thorough(12, 40); n++) {
        size_t count = (size_t)rand() % 12 + 1;
        for (size_t i = 0; i < count; i++) all[i] = (uint64_t)rand() % (size + 100) + 1;
        for (size_t i = 0; i < count; i++)
            for (size_t k = i + 1; k < count; k++)
                if (all[k] < all[i]) {
                    uint64_t swap = all[i];
                    all[i] = all[k];
                    all[k] = swap;
                }
        expect_same(&whole, log, segment, all, count);
    }
    size_t count = 0;
    for (uint64_t at = 300; count < 64 && at < size; at += size / 64 + 1) all[count++] = at;
    expect_same(&whole, log, segment, all, count);
    drop(&whole);
}

/* A segment of some blocks with fill between them, two frames in each block. */
static forged_segment blocks(uint64_t p[8])
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (unsigned i = 0; i < 8; i++) {
        if (i % 2 == 0) forge_pad(&f);
        f.next.durable = f.end;
        p[i] = forge_records(&f, "r", 3);
    }
    return f;
}

/* [P-1] */
START_TEST(ranges_of_a_whole_segment_give_each_record_once)
{
    const char *log = at("log");
    uint64_t p[8];
    srand(3);
    forged_segment f = blocks(p);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    expect_all_cuts(log, 1, 16);
    forge_free(&f);
}
END_TEST

/* [P-1] Gaps at the start, in the middle, side by side and at the end; fill and padding. */
START_TEST(ranges_of_a_damaged_segment_tell_each_loss_once)
{
    const char *log = at("log");
    uint64_t p[8];
    srand(4);
    for (unsigned way = 0; way < 8; way++) {
        forged_segment f = blocks(p);
        uint64_t last = f.end;
        forge_end(&f, U9I_END_CLOSING);
        if (way == 0) f.bytes[60] ^= 1;
        if (way == 1) f.bytes[0] ^= 1;
        if (way == 2) f.bytes[p[3] + 80] ^= 1;
        if (way == 3) f.bytes[p[3] + 80] ^= 1, f.bytes[p[4] + 3] ^= 1, f.bytes[p[6] + 50] ^= 1;
        if (way == 4) f.bytes[p[4] - 100] = 1, f.bytes[last + 30] = 1;
        if (way == 5) memset(f.bytes + p[2], 0, BLOCK);
        if (way == 6) f.bytes[f.next.previous + 70] ^= 1; /* the u9end */
        if (way == 7) f.bytes[p[7] + 20] ^= 1, f.bytes[60] ^= 1;
        forge_save(&f, log);
        forget(look(log));
        expect_all_cuts(log, 1, 208);
        forge_free(&f);
    }
}
END_TEST

/* [P-2] An unclosed segment, torn or with frames beyond its end: they are in no range. */
START_TEST(ranges_of_a_torn_segment_end_where_it_ends)
{
    const char *log = at("log");
    uint64_t p[8];
    srand(5);
    for (unsigned way = 0; way < 5; way++) {
        forged_segment f = blocks(p);
        forge_pad(&f);
        if (way == 1) memset(f.bytes + p[7] + 100, 0, f.size - p[7] - 100);
        if (way == 2) f.size = p[7] + 99;
        if (way >= 3) { /* nothing is promised from p[4] on, so a hole there is the end */
            forge_free(&f);
            f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
            for (unsigned i = 0; i < 8; i++) p[i] = forge_records(&f, "r", 3);
            if (way == 4) f.next.durable = p[5] + 17; /* a promise that ends within the hole */
            if (way == 4) forge_frame(&f, NULL, 0, 0);
            memset(f.bytes + p[5], 0, way == 3 ? 64 : (size_t)(p[7] - p[5]));
            forge_pad(&f);
        }
        forge_save(&f, log);
        seen *s = look(log);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), way == 4);
        forget(s);
        expect_all_cuts(log, 1, 208);
        forge_free(&f);
    }
}
END_TEST

/* [P-1] Segments of a rolled log, read on their own: damaged ends, seals and all. */
START_TEST(ranges_of_each_segment_of_a_log_give_the_log)
{
    const char *log = at("log");
    srand(6);
    for (unsigned way = 0; way < 4; way++) {
        forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        for (unsigned i = 0; i < 6; i++) forge_records(&one, "one", 2);
        uint64_t last = one.next.previous;
        forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_ROLLED);
        forge_end(&one, U9I_END_SEALING);
        for (unsigned i = 0; i < 6; i++) forge_records(&two, "two", 2);
        forge_end(&two, U9I_END_CLOSING);
        if (way == 1) one.bytes[last + 65] ^= 1;
        if (way == 2) two.bytes[100] ^= 1;
        if (way == 3) one.size = last + 5;
        forge_save(&one, log);
        forge_save(&two, log);
        forget(look(log));
        expect_all_cuts(log, 1, 304);
        if (way != 2) expect_all_cuts(log, 2, 304);
        seen *s = look(log);
        reading r = {0};
        read_range(&r, log, 1, 0, 0);
        read_range(&r, log, 2, 0, 0);
        ck_assert_uint_eq(r.count, s->count);
        for (size_t i = 0; i < r.count; i++)
            ck_assert_uint_eq(r.ordinals[i], s->records[i].ordinal);
        forget(s);
        drop(&r);
        forge_free(&one);
        forge_free(&two);
        remove_log(log);
    }
}
END_TEST

/* A range has to be one, of a segment that is there. */
START_TEST(the_first_range_of_a_foreign_segment_tells_it_and_none_reads_it) /* [L-4] */
{
    const char *log = at("log"), *other = at("other");
    for (unsigned i = 0; i < 2; i++) session(i ? other : log, "a", 40, 5);
    size_t size;
    uint8_t *bytes = read_file(segment_path(other, 1), &size);
    write_file(segment_path(log, 3), bytes, size);
    free(bytes);
    uint64_t cuts[] = {32, 33, 400, BLOCK, BLOCK + 16, 1 << 20};
    reading whole = {0}, first = {0};
    read_range(&whole, log, 3, 0, 0);
    expect_same(&whole, log, 3, cuts, 6);
    drop(&whole);
    read_range(&first, log, 3, 0, 33);
    ck_assert_uint_eq(first.damage_count, 1);
    ck_assert_int_eq(first.damages[0].reason, U9_R_FOREIGN);
    drop(&first);
}
END_TEST

START_TEST(a_range_that_is_none_is_refused)
{
    const char *log = at("log");
    u9_cursor *c;
    session(log, "r", 3, 1);
    u9_log *handle = open_reader(log);
    u9_range range = {.size = sizeof range, .segment = 2};
    ck_assert_int_eq(u9_cursor_open(handle, &range, &c, NULL), U9_ARG);
    range = (u9_range){.size = sizeof range, .begin = 10, .end = 20};
    ck_assert_int_eq(u9_cursor_open(handle, &range, &c, NULL), U9_ARG);
    range = (u9_range){.size = sizeof range, .segment = 1, .begin = 20, .end = 10};
    ck_assert_int_eq(u9_cursor_open(handle, &range, &c, NULL), U9_ARG);
    range = (u9_range){.size = sizeof range - 1};
    ck_assert_int_eq(u9_cursor_open(handle, &range, &c, NULL), U9_ARG);
    close_log(handle);
}
END_TEST

Suite *suite_range(void)
{
    Suite *suite = suite_create("range");
    TCase *tc = tcase_create("range");
    tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, ranges_of_a_whole_segment_give_each_record_once);
    tcase_add_test(tc, ranges_of_a_damaged_segment_tell_each_loss_once);
    tcase_add_test(tc, ranges_of_a_torn_segment_end_where_it_ends);
    tcase_add_test(tc, ranges_of_each_segment_of_a_log_give_the_log);
    tcase_add_test(tc, the_first_range_of_a_foreign_segment_tells_it_and_none_reads_it);
    tcase_add_test(tc, a_range_that_is_none_is_refused);
    suite_add_tcase(suite, tc);
    return suite;
}
