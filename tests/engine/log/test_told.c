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
    suite_add_tcase(suite, tc);
    return suite;
}
