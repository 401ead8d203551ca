/*
 * tests/engine/log/test_told.c: what is told of a log stays true: a seal counts whatever stands behind it; what was
 * unknown stays so; what is told as lost is not read, and what is not read is told.
 */
#include "tests/engine/fixture.h"
#include "tests/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 };

/* A rolled log of `count` segments with four records each, all sealed, or the last one closed; it has no mark. */
static void make_row(const char *log, uint64_t count, bool all_sealed)
{
    forged_segment before = {0};
    for (uint64_t i = 1; i <= count; i++) {
        forged_segment s = forge_begin(i, 1, i > 1 ? &before : NULL, U9I_TAIL_ROLLED);
        if (i > 1) {
            forge_end(&before, U9I_END_SEALING);
            forge_save(&before, log);
            forge_free(&before);
        }
        forge_records(&s, "r", 3);
        forge_records(&s, "r", 1);
        before = s;
    }
    forge_end(&before, all_sealed ? U9I_END_SEALING : U9I_END_CLOSING);
    forge_save(&before, log);
    forge_free(&before);
}

/* Puts `size` bytes behind a file: zeros, but for the last `rest`. Returns where they begin. */
static uint64_t put_behind(const char *path, size_t size, size_t rest)
{
    size_t before;
    uint8_t *bytes = read_file(path, &before), *more = calloc(1, before + size);
    memcpy(more, bytes, before);
    memset(more + before + size - rest, 0x5a, rest);
    write_file(path, more, before + size);
    free(bytes);
    free(more);
    return before;
}

static const size_t stray_sizes[][2] = {{1, 1}, {3, 3}, {100, 100}, {512, 512}, {4095, 1}, {4096, 4096}, {4096, 7},
                                        {5000, 1}, {70000, 70000}, {2500000, 3}};

/* {F30} [S-6] [L-2] The seal says that the next segment is missing, and nothing is appended. */
START_TEST(stray_bytes_behind_a_seal_hide_no_missing_segment)
{
    for (size_t i = 0; i < sizeof stray_sizes / sizeof stray_sizes[0]; i++) {
        const char *log = at("log"), *last = segment_path(log, 3);
        make_row(log, 3, true);
        uint64_t size = put_behind(last, stray_sizes[i][0], stray_sizes[i][1]);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 12);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MISSING), 1);
        ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_FILL), 1); /* */
        ck_assert_uint_eq(s->damage_count, 2);
        ck_assert_uint_lt(s->damages[0].begin, size);
        ck_assert_uint_eq(s->damages[0].end, size + stray_sizes[i][0]);
        ck_assert_uint_eq(s->damages[0].lost, 0);
        ck_assert(!s->report.closed && !s->report.confirmed); /* the log goes on in what is missing */
        forget(s);
        u9_options o = writer_options();
        u9_log *w;
        u9_fault fault;
        ck_assert_int_eq(u9_log_open(log, &o, &w, &fault), U9_CORRUPT);
        ck_assert_str_eq(fault.rule, "L-4");
        remove_log(log);
    }
}
END_TEST

/* [R-6] [S-7] Zeros alone are what was reserved: the segment is as sealed as without them. */
START_TEST(zeros_behind_a_seal_are_no_damage_and_hide_no_missing_segment)
{
    static const size_t sizes[] = {1, 512, 4096, 3000000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const char *log = at("log");
        make_row(log, 2, true);
        (void)put_behind(segment_path(log, 2), sizes[i], 0);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 8);
        ck_assert_uint_eq(s->damage_count, 1);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MISSING), 1);
        forget(s);
        remove_log(log);
    }
}
END_TEST

/* Where the successor is there nothing is missing, and what stands behind the seal is no torn write. */
START_TEST(stray_bytes_behind_a_seal_are_unknown_beside_its_successor)
{
    for (size_t i = 0; i < sizeof stray_sizes / sizeof stray_sizes[0]; i++) {
        const char *log = at("log");
        make_row(log, 3, false);
        uint64_t size = put_behind(segment_path(log, 2), stray_sizes[i][0], stray_sizes[i][1]);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 12);
        ck_assert_uint_eq(s->damage_count, 1);
        ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_SEAL), 1);
        ck_assert_uint_eq(s->damages[0].end, size + stray_sizes[i][0]);
        forget(s);
        session(log, "more", 1, 1);
        s = look(log);
        ck_assert_uint_eq(s->count, 13);
        ck_assert_uint_eq(s->records[12].ordinal, 12);
        ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_SEAL), 1);
        forget(s);
        remove_log(log);
    }
}
END_TEST

/* [R-2] [S-6] Such a seal still says that the u9open behind it was durable. */
START_TEST(stray_bytes_behind_a_seal_excuse_no_first_frame)
{
    const char *log = at("log");
    make_row(log, 2, false);
    (void)put_behind(segment_path(log, 1), 3, 3);
    size_t size;
    uint8_t *bytes = read_file(segment_path(log, 2), &size);
    memset(bytes + 32, 0, size - 32);
    write_file(segment_path(log, 2), bytes, size);
    free(bytes);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 4);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_BOUNDARY), 1);
    forget(s);
}
END_TEST

/* [L-8] A file alone is confirmed by its seal; what stands behind it is told. */
START_TEST(a_sealed_segment_alone_is_confirmed_with_stray_bytes_behind_it)
{
    const char *log = at("log");
    make_row(log, 2, true);
    (void)put_behind(segment_path(log, 2), 5, 5);
    seen *s = look(segment_path(log, 2));
    ck_assert_uint_eq(s->count, 4);
    ck_assert_uint_eq(s->damage_count, 1);
    ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_FILL), 1);
    ck_assert_int_eq(s->report.confirmed, true);
    forget(s);
}
END_TEST

/* A log's first segment, of four records, with this tail behind them; *end is where they end. */
static void make_tailed(const char *log, const uint8_t *tail, size_t size, uint64_t *end)
{
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&s, "r", 3);
    forge_records(&s, "r", 1);
    *end = s.end;
    memcpy(s.bytes + s.size, tail, size);
    s.size += size;
    forge_save(&s, log);
    forge_free(&s);
}

/* A frame of two records of a log with another secret, as it stands there. */
static size_t foreign_frame(uint8_t *out)
{
    forged_segment s = forge_begin(1, 77, NULL, U9I_TAIL_NONE);
    uint64_t p = forge_records(&s, "foreign", 2);
    size_t size = s.end - p;
    memcpy(out, s.bytes + p, size);
    forge_free(&s);
    return size;
}

/* What is told of the tail of segment 1: once, as unknown, from `end` on. */
static u9_damage tail_told(const seen *s, uint64_t end)
{
    const u9_damage *found = NULL;
    for (size_t i = 0; i < s->damage_count; i++)
        if (s->damages[i].verdict == U9_V_UNKNOWN && s->damages[i].begin == end && s->damages[i].segment == 1) {
            ck_assert_ptr_null(found);
            found = &s->damages[i];
        }
    ck_assert_ptr_nonnull(found);
    return *found;
}

/* {F01} Whoever goes on behind it, and however often: nobody knows what it was. */
START_TEST(a_tail_that_was_unknown_is_told_for_good)
{
    uint8_t tail[2000];
    for (unsigned way = 0; way < 3; way++) {
        const char *log = at("log");
        size_t size = way == 0 ? 700 : way == 1 ? foreign_frame(tail) : 2000;
        if (way != 1) memset(tail, way == 0 ? 0x5a : 1, size);
        uint64_t end;
        make_tailed(log, tail, size, &end);
        seen *s = look(log);
        ck_assert_uint_eq(s->damage_count, 1);
        u9_damage before = tail_told(s, end);
        ck_assert_uint_eq(before.lost, U9_NOWHERE);
        forget(s);
        for (unsigned sessions = 1; sessions <= 3; sessions++) {
            session(log, "more", 2, 1);
            s = look(log);
            ck_assert_uint_eq(s->count, 4 + 2 * sessions);
            u9_damage after = tail_told(s, end);
            ck_assert_int_eq(after.reason, before.reason);
            ck_assert_uint_eq(after.end, before.end);
            ck_assert_uint_eq(after.ordinal, U9_NOWHERE); /* the next session gave it again */
            ck_assert_int_eq(s->report.verdict, U9_V_UNKNOWN);
            forget(s);
        }
        /* Also when the bytes are gone: the u9open says that there were some. */
        cut_file(segment_path(log, 1), end);
        s = look(log);
        u9_damage gone = tail_told(s, end);
        ck_assert_uint_eq(gone.end, end);
        ck_assert_uint_eq(gone.lost, U9_NOWHERE);
        forget(s);
        remove_log(log);
    }
}
END_TEST

/* At most the records up to the valid frame behind it, which nothing promised to follow. */
START_TEST(a_tail_that_was_unknown_lost_no_more_than_before)
{
    const char *log = at("log");
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&s, "r", 3);
    uint64_t end = s.end, p = forge_records(&s, "lost", 5);
    forge_records(&s, "beyond", 2);
    s.bytes[p + 70] ^= 1;
    forge_save(&s, log);
    forge_free(&s);
    for (unsigned sessions = 0; sessions < 3; sessions++) {
        seen *now = look(log);
        u9_damage d = tail_told(now, end);
        ck_assert_uint_eq(now->count, 3 + 2 * sessions);
        ck_assert_int_eq(d.reason, U9_R_HASH);
        ck_assert_uint_eq(d.lost, 5);
        ck_assert(d.at_most);
        forget(now);
        session(log, "more", 2, 1);
    }
}
END_TEST

/* One that a crash tore stays what it was: nothing. */
START_TEST(a_tail_that_was_torn_is_passed_over_in_silence)
{
    const char *log = at("log");
    uint8_t tail[1536] = {0};
    uint64_t end;
    memset(tail, 0x5a, 100);
    memset(tail + 1500, 0x5a, 36);
    make_tailed(log, tail, sizeof tail, &end);
    seen *s = look(log);
    ck_assert_int_eq(s->report.verdict, U9_V_TORN);
    forget(s);
    session(log, "more", 2, 1);
    s = look(log);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

/* Each of `total` records is either read, or told as lost, and none is both. {I1} */
static void expect_agreed(const seen *s, uint64_t total, const char *what)
{
    unsigned told[64] = {0};
    ck_assert_uint_le(total, 64);
    for (size_t i = 0; i < s->count; i++) told[s->records[i].ordinal]++;
    for (size_t i = 0; i < s->damage_count; i++) {
        const u9_damage *d = &s->damages[i];
        if (d->lost == 0 || d->verdict == U9_V_UNKNOWN) continue; /* perhaps nothing */
        ck_assert_msg(d->lost != U9_NOWHERE || s->count < total, "%s: all are read, and %s says that some are lost", what,
                      u9_reason_name(d->reason));
        if (d->lost == U9_NOWHERE || d->ordinal == U9_NOWHERE) return; /* it may be any */
        for (uint64_t k = d->ordinal; k < d->ordinal + d->lost; k++) told[k]++;
    }
    for (uint64_t k = 0; k < total; k++)
        ck_assert_msg(told[k] == 1, "%s: record %llu is %s", what, (unsigned long long)k,
                      told[k] ? "told as lost, and read" : "neither read nor told");
}

/* What may happen to a file of a row. */
typedef struct harm {
    const char *name;
    size_t begin, end; /* bytes that are flipped; end 0: all */
    bool zeros;        /* or made zero */
} harm;

static const harm harms[] = {{"header", 0, 32, false},        {"magic", 0, 8, false},
                             {"secret", 8, 24, false},        {"one bit of the secret", 9, 10, false},
                             {"version", 7, 8, false},        {"header of zeros", 0, 32, true},
                             {"u9open", 100, 101, false},     {"header and u9open", 0, 200, false},
                             {"first block", 0, 4096, true},  {"first sector", 0, 512, true},
                             {"a record", 450, 460, false},   {"a frame's header", 352, 400, false},
                             {"second frame", 560, 660, false}, {"seal", 4100, 4110, false},
                             {"data", 32, 4096, true},        {"everything", 0, 0, true},
                             {"all of it", 0, 0, false}};

static void hurt(const char *path, const harm *h)
{
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    size_t end = h->end ? h->end : size;
    for (size_t i = h->begin; i < end && i < size; i++) bytes[i] = h->zeros ? 0 : (uint8_t)~bytes[i];
    write_file(path, bytes, size);
    free(bytes);
}

static void copy(const char *log, uint64_t from, uint64_t to)
{
    size_t size;
    uint8_t *bytes = read_file(segment_path(log, from), &size);
    write_file(segment_path(log, to), bytes, size);
    free(bytes);
}

/* {F30} [L-2] The copy of a segment whose own file is damaged has its records: none of them is told as lost. */
START_TEST(what_is_read_from_a_copy_is_not_told_as_lost)
{
    static const uint64_t names[][2] = {{1, 9}, {2, 9}, {2, 5}, {3, 0x77}, {4, 9}, {4, 5}};
    for (size_t i = 0; i < sizeof harms / sizeof harms[0]; i++)
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            for (unsigned way = 0; way < 2; way++) {
                const char *log = at("log");
                char what[200];
                snprintf(what, sizeof what, "%s of %s %llu, which is %llu as well", harms[i].name, way ? "the copy of" : "segment",
                         (unsigned long long)names[k][0], (unsigned long long)names[k][1]);
                make_row(log, 4, false);
                copy(log, names[k][0], names[k][1]);
                hurt(segment_path(log, names[k][way]), &harms[i]);
                seen *s = look(log);
                expect_agreed(s, 16, what);
                ck_assert_msg(s->count == 16, "%s: %zu of 16 records are read", what, s->count);
                forget(s);
                remove_log(log);
            }
}
END_TEST

/* {F30} [L-9] Both files are damaged, each elsewhere: what only the lesser one has is a fork, and told once, by the gap. */
START_TEST(copies_that_are_both_damaged_tell_each_loss_once)
{
    for (unsigned way = 0; way < 2; way++) {
        const char *log = at("log");
        make_row(log, 4, false);
        copy(log, 2, 9);
        seen_frame f[4];
        ck_assert_uint_eq(frames_in(segment_path(log, 2), f, 4), 4);
        hurt(segment_path(log, way ? 9 : 2), &(harm){"three records", f[1].offset + 70, f[1].offset + 71, false});
        hurt(segment_path(log, way ? 2 : 9), &(harm){"one record", f[2].offset + 70, f[2].offset + 71, false});
        seen *s = look(log);
        expect_agreed(s, 16, "both");
        ck_assert_uint_eq(s->count, 13); /* the one that ends as it is named counts [L-2] */
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_FORK), 1);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HASH), 1);
        forget(s);
        u9_options o = writer_options();
        u9_log *w;
        u9_fault fault;
        ck_assert_int_eq(u9_log_open(log, &o, &w, &fault), U9_CORRUPT);
        ck_assert_str_eq(fault.rule, "L-9");
        remove_log(log);
    }
}
END_TEST

/* {F21} Whatever happens to one file of a log that has no copy of it. */
START_TEST(what_is_lost_of_a_segment_is_told)
{
    for (size_t i = 0; i < sizeof harms / sizeof harms[0]; i++)
        for (uint64_t number = 1; number < 4; number++) { /* of the last one not all was promised */
            const char *log = at("log");
            char what[100];
            snprintf(what, sizeof what, "%s of segment %llu", harms[i].name, (unsigned long long)number);
            make_row(log, 4, false);
            hurt(segment_path(log, number), &harms[i]);
            seen *s = look(log);
            expect_agreed(s, 16, what);
            forget(s);
            remove_log(log);
        }
}
END_TEST

/* Nor do they differ by whether somebody names the end of the data. */
START_TEST(frames_are_counted_alike_whatever_stands_beside_a_segment)
{
    const char *log = at("log");
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    while (!exists(segment_path(log, 3))) append_many(w, "as much as a segment has room for ", 200, 50);
    close_log(w);
    seen *s = look(log);
    u9_report whole = s->report, sum = {.frames = 0};
    ck_assert_uint_ge(whole.segments, 3);
    forget(s);
    for (uint64_t number = 1; number <= whole.segments; number++) {
        s = look(segment_path(log, number));
        sum.frames += s->report.frames;
        sum.lz4_frames += s->report.lz4_frames;
        sum.mask_frames += s->report.mask_frames;
        ck_assert_uint_ge(s->report.last_time_us, sum.last_time_us);
        sum.last_time_us = s->report.last_time_us;
        forget(s);
    }
    ck_assert_uint_eq(sum.frames, whole.frames);
    ck_assert_uint_eq(sum.lz4_frames, whole.lz4_frames);
    ck_assert_uint_eq(sum.mask_frames, whole.mask_frames);
    ck_assert_uint_eq(sum.last_time_us, whole.last_time_us);
}
END_TEST

Suite *suite_told(void)
{
    Suite *suite = suite_create("told");
    TCase *tc = tcase_create("told");
    tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, stray_bytes_behind_a_seal_hide_no_missing_segment);
    tcase_add_test(tc, zeros_behind_a_seal_are_no_damage_and_hide_no_missing_segment);
    tcase_add_test(tc, stray_bytes_behind_a_seal_are_unknown_beside_its_successor);
    tcase_add_test(tc, stray_bytes_behind_a_seal_excuse_no_first_frame);
    tcase_add_test(tc, a_sealed_segment_alone_is_confirmed_with_stray_bytes_behind_it);
    tcase_add_test(tc, a_tail_that_was_unknown_is_told_for_good);
    tcase_add_test(tc, a_tail_that_was_unknown_lost_no_more_than_before);
    tcase_add_test(tc, a_tail_that_was_torn_is_passed_over_in_silence);
    tcase_add_test(tc, what_is_read_from_a_copy_is_not_told_as_lost);
    tcase_add_test(tc, copies_that_are_both_damaged_tell_each_loss_once);
    tcase_add_test(tc, what_is_lost_of_a_segment_is_told);
    tcase_add_test(tc, frames_are_counted_alike_whatever_stands_beside_a_segment);
    suite_add_tcase(suite, tc);
    return suite;
}
