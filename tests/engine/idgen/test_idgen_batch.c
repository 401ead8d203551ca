/*
 * tests/engine/idgen/test_idgen_batch.c: what SPEC-values.md says of batches of fresh identifiers (I-21),
 * read as tests. Time is a simulated clock, randomness a row of bytes. Threads that take batches from
 * one generator are in test_idgen_race.c.
 */
#include "tests/suites.h"

#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <u9/idgen.h>
#include <unistd.h>

#define MUID_LAST (U9_MUID_TIMESTAMP_MAX - 1)

enum { ROOM = 1000 };

static const int64_t noon = INT64_C(1700000000000000); /* a whole millisecond */

static struct {
    int64_t now;
    bool stuck; /* not even sleeping moves it */
    int readings;
} sim;

static int64_t batch_now_us(void *ctx)
{
    (void)ctx;
    sim.readings++;
    return sim.now;
}

static void batch_sleep_us(void *ctx, uint64_t us)
{
    (void)ctx;
    if (!sim.stuck) sim.now += (int64_t)us;
}

static const u9_clock sim_clock = {batch_now_us, batch_sleep_us, NULL};

/* Each draw is one byte, repeated, one more than the one before; `left` draws until there are none. */
static struct {
    unsigned byte;
    int left;
} noise;

static int batch_fill(void *ctx, void *out, size_t size)
{
    (void)ctx;
    if (noise.left-- <= 0) return -1;
    memset(out, (int)(noise.byte++ & 0xff), size);
    return 0;
}

static const u9_random sim_random = {batch_fill, NULL};

static u9_muid muids[ROOM];
static u9_tid tids[ROOM];
static u9_gid gids[ROOM];
static u9_uid8 uid8s[ROOM];

/* Before each test. */
static void begin(void)
{
    memset(&sim, 0, sizeof sim);
    sim.now = noon;
    noise.byte = 1;
    noise.left = 1000000;
    memset(muids, 0, sizeof muids);
    memset(tids, 0, sizeof tids);
    memset(gids, 0, sizeof gids);
    memset(uid8s, 0, sizeof uid8s);
}

static u9_muidgen *open_muids(uint64_t seen)
{
    const u9_muidgen_options o = {.size = sizeof o, .clock = &sim_clock, .random = &sim_random, .seen = seen};
    u9_muidgen *gen = NULL;
    ck_assert_int_eq(u9_muidgen_new(&o, &gen, NULL), U9_OK);
    return gen;
}

static u9_tidgen *open_tids(uint64_t seen)
{
    const u9_tidgen_options o = {.size = sizeof o, .clock = &sim_clock, .random = &sim_random, .seen = seen};
    u9_tidgen *gen = NULL;
    ck_assert_int_eq(u9_tidgen_new(&o, &gen, NULL), U9_OK);
    return gen;
}

static u9_gidgen *open_gids(int monotonic, int wide, uint64_t seen_ms)
{
    const u9_gidgen_options o = {.size = sizeof o, .clock = &sim_clock, .random = &sim_random,
                                 .monotonic = monotonic, .wide = wide, .seen_ms = seen_ms};
    u9_gidgen *gen = NULL;
    ck_assert_int_eq(u9_gidgen_new(&o, &gen, NULL), U9_OK);
    return gen;
}

static u9_uid8gen *open_uid8s(uint64_t seen_ms)
{
    const u9_uid8gen_options o = {.size = sizeof o, .clock = &sim_clock, .generator = 5, .cluster = 3,
                                  .mode = U9_UID8_TIME_SEQUENTIAL, .seen_ms = seen_ms};
    u9_uid8gen *gen = NULL;
    ck_assert_int_eq(u9_uid8gen_new(&o, &gen, NULL), U9_OK);
    return gen;
}

static uint64_t low_bits(const u9_gid *gid)
{
    uint64_t low = 0;
    for (unsigned i = 1; i < U9_GID_RANDOM_SIZE; i++) low = low << 8 | gid->random[i];
    return low;
}

/* [I-21] */
START_TEST(a_batch_of_muids_is_a_transaction_each_of_consecutive_timestamps)
{
    u9_muidgen *gen = open_muids(0);
    u9_muid one;
    for (int round = 0; round < 3; round++) { /* the clock goes, stands, and is an hour back */
        uint64_t first = round == 0 ? (uint64_t)noon : muids[ROOM - 1].timestamp + 1;
        if (round == 2) sim.now -= INT64_C(3600000000);
        ck_assert_int_eq(u9_muidgen_next_n(gen, muids, ROOM), U9_OK);
        for (int i = 0; i < ROOM; i++) {
            ck_assert_uint_eq(muids[i].timestamp, first + (uint64_t)i);
            ck_assert_uint_eq(muids[i].medallion, muids[0].medallion);
            ck_assert_int_eq(muids[i].offset, 1);
        }
    }
    ck_assert_int_eq(sim.readings, 3);
    ck_assert_int_eq(u9_muidgen_next(gen, &one), U9_OK);
    ck_assert_uint_eq(one.timestamp, muids[ROOM - 1].timestamp + 1);
    sim.now = noon + 5000000;
    ck_assert_int_eq(u9_muidgen_next_n(gen, muids, 2), U9_OK);
    ck_assert_uint_eq(muids[0].timestamp, (uint64_t)noon + 5000000);
    u9_muidgen_free(gen);
}
END_TEST

/* [I-21] */
START_TEST(a_batch_of_tids_is_above_the_one_that_the_caller_names)
{
    u9_tidgen *gen = open_tids(0);
    const u9_tid prev = {(uint64_t)noon + 100, 0};
    ck_assert_int_eq(u9_tidgen_next_n(gen, NULL, tids, 10), U9_OK);
    for (int i = 0; i < 10; i++) ck_assert_uint_eq(tids[i].timestamp, (uint64_t)(noon + i));
    ck_assert_int_eq(u9_tidgen_next_n(gen, &prev, tids, ROOM), U9_OK);
    for (int i = 0; i < ROOM; i++) {
        ck_assert_uint_eq(tids[i].timestamp, (uint64_t)(noon + 101 + i));
        ck_assert_uint_eq(tids[i].clock_id, tids[0].clock_id);
    }
    u9_tidgen_free(gen);
}
END_TEST

/* [I-21] What is left is given out to whoever asks for no more. */
START_TEST(a_batch_that_does_not_fit_before_the_end_of_time_gives_out_nothing)
{
    u9_muidgen *m = open_muids(MUID_LAST - 3); /* three are left */
    u9_tidgen *t = open_tids(U9_TID_TIMESTAMP_MAX - 3);
    ck_assert_int_eq(u9_muidgen_next_n(m, muids, 4), U9_LIMIT);
    ck_assert_int_eq(u9_muidgen_next_n(m, muids, SIZE_MAX), U9_LIMIT);
    ck_assert_uint_eq(muids[0].timestamp, 0);
    ck_assert_int_eq(u9_muidgen_next_n(m, muids, 3), U9_OK);
    ck_assert_uint_eq(muids[2].timestamp, MUID_LAST);
    ck_assert_int_eq(u9_muidgen_next_n(m, muids, 1), U9_LIMIT);
    ck_assert_int_eq(u9_tidgen_next_n(t, NULL, tids, 4), U9_LIMIT);
    ck_assert_int_eq(u9_tidgen_next_n(t, NULL, tids, SIZE_MAX), U9_LIMIT);
    ck_assert_uint_eq(tids[0].timestamp, 0);
    ck_assert_int_eq(u9_tidgen_next_n(t, NULL, tids, 3), U9_OK);
    ck_assert_uint_eq(tids[2].timestamp, U9_TID_TIMESTAMP_MAX);
    ck_assert_int_eq(u9_tidgen_next_n(t, NULL, tids, 1), U9_LIMIT);
    u9_muidgen_free(m);
    u9_tidgen_free(t);
}
END_TEST

/* [I-21] */
START_TEST(a_batch_of_none_does_nothing)
{
    u9_muidgen *m = open_muids(0);
    u9_tidgen *t = open_tids(0);
    u9_gidgen *g = open_gids(0, 0, 0), *o = open_gids(1, 0, 0);
    u9_uid8gen *u = open_uid8s(0);
    size_t made = 7;
    noise.left = 0;
    ck_assert_int_eq(u9_muidgen_next_n(m, NULL, 0), U9_OK);
    ck_assert_int_eq(u9_tidgen_next_n(t, NULL, NULL, 0), U9_OK);
    ck_assert_int_eq(u9_gidgen_next_n(g, U9_GID_LOG, NULL, 0), U9_OK);
    ck_assert_int_eq(u9_gidgen_next_n(o, U9_GID_LOG, NULL, 0), U9_OK);
    ck_assert_int_eq(u9_uid8gen_next_n(u, NULL, 0, &made), U9_OK);
    ck_assert_uint_eq(made, 0);
    ck_assert_int_eq(sim.readings, 0);
    ck_assert_int_eq(u9_muidgen_next_n(m, muids, 1), U9_OK);
    ck_assert_uint_eq(muids[0].timestamp, (uint64_t)noon);
    u9_muidgen_free(m);
    u9_tidgen_free(t);
    u9_gidgen_free(g);
    u9_gidgen_free(o);
    u9_uid8gen_free(u);
}
END_TEST

/* [I-21] */
START_TEST(a_batch_of_gids_has_one_timestamp_and_a_draw_for_each)
{
    for (int wide = 0; wide <= 1; wide++) {
        u9_gidgen *gen = open_gids(0, wide, 0);
        noise.byte = 1;
        ck_assert_int_eq(u9_gidgen_next_n(gen, U9_GID_SEGMENT, gids, 200), U9_OK);
        for (unsigned i = 0; i < 200; i++) {
            ck_assert_uint_eq(gids[i].timestamp_ms, (uint64_t)noon / 1000);
            ck_assert_int_eq(gids[i].type, U9_GID_SEGMENT);
            ck_assert_uint_eq(gids[i].random[0], wide ? (0x80 | (i + 1)) & 0xff : 0xc0);
            ck_assert_uint_eq(gids[i].random[8], i + 1);
        }
        u9_gidgen_free(gen);
    }
    u9_gidgen *gen = open_gids(0, 0, 0);
    ck_assert_int_eq(u9_gidgen_next_n(gen, U9_GID_ANY, gids, 1), U9_ARG);
    sim.now = -1;
    ck_assert_int_eq(u9_gidgen_next_n(gen, U9_GID_LOG, gids, 1), U9_LIMIT);
    u9_gidgen_free(gen);
}
END_TEST

/* [I-21] */
START_TEST(a_batch_of_gids_that_runs_out_of_randomness_is_wiped)
{
    u9_gidgen *gen = open_gids(0, 0, 0), *monotonic = open_gids(1, 0, 0);
    uint8_t packed[U9_GID_SIZE];
    gids[5].timestamp_ms = 77;
    noise.left = 5;
    ck_assert_int_eq(u9_gidgen_next_n(gen, U9_GID_LOG, gids, 10), U9_IO);
    for (int i = 0; i < 5; i++) ck_assert_int_eq(u9_gid_pack(&gids[i], 0, packed), U9_ARG);
    ck_assert_uint_eq(gids[5].timestamp_ms, 77); /* untouched */
    ck_assert_int_eq(u9_gidgen_next_n(monotonic, U9_GID_LOG, gids + 5, 10), U9_IO);
    ck_assert_uint_eq(gids[5].timestamp_ms, 77);
    u9_gidgen_free(gen);
    u9_gidgen_free(monotonic);
}
END_TEST

/* [I-21] As single ones do: while the clock stands or is behind. */
START_TEST(monotonic_batches_count_up_from_the_last_gid)
{
    u9_gidgen *gen = open_gids(1, 0, 0);
    u9_gid one;
    ck_assert_int_eq(u9_gidgen_next(gen, U9_GID_LOG, &one), U9_OK);
    uint64_t last = low_bits(&one);
    for (int round = 0; round < 3; round++) {
        if (round == 2) sim.now -= 5000;
        ck_assert_int_eq(u9_gidgen_next_n(gen, U9_GID_LOG, gids, ROOM), U9_OK);
        for (int i = 0; i < ROOM; i++) {
            ck_assert_uint_eq(gids[i].timestamp_ms, (uint64_t)noon / 1000);
            ck_assert_uint_eq(low_bits(&gids[i]), ++last);
        }
    }
    sim.now = noon + 1000;
    ck_assert_int_eq(u9_gidgen_next_n(gen, U9_GID_LOG, gids, 2), U9_OK);
    ck_assert_uint_eq(gids[1].timestamp_ms, (uint64_t)noon / 1000 + 1);
    ck_assert_uint_eq(low_bits(&gids[1]), low_bits(&gids[0]) + 1);
    u9_gidgen_free(gen);
}
END_TEST

/* [I-21] All draws are ff: the bits end with them. */
START_TEST(a_monotonic_batch_that_does_not_fit_takes_the_next_millisecond_as_a_whole)
{
    for (int wide = 0; wide <= 1; wide++) {
        u9_gidgen *gen = open_gids(1, wide, 0);
        uint64_t ms = (uint64_t)noon / 1000;
        noise.byte = 0xff;
        ck_assert_int_eq(u9_gidgen_next_n(gen, U9_GID_LOG, gids, 1), U9_OK);
        ck_assert_uint_eq(low_bits(&gids[0]), UINT64_MAX);
        for (int round = 1; round < 4; round++) {
            noise.byte = 0xff;
            ck_assert_int_eq(u9_gidgen_next_n(gen, U9_GID_LOG, gids, 100), U9_OK);
            for (unsigned i = 0; i < 100; i++) {
                ck_assert_uint_eq(gids[i].timestamp_ms, ms + (uint64_t)round);
                ck_assert_uint_eq(low_bits(&gids[i]), UINT64_MAX - 99 + i);
                ck_assert_uint_eq(gids[i].random[0], wide ? 0xff : 0xa0);
            }
        }
        u9_gidgen_free(gen);
    }
}
END_TEST

static int fill_before_the_carry(void *ctx, void *out, size_t size)
{
    (void)ctx;
    memset(out, 0xff, size);
    ((uint8_t *)out)[size - 1] = 0x05; /* byte 7 */
    return 0;
}

/* [I-21] The seven bits of byte 7 take the carry. */
START_TEST(a_wide_monotonic_batch_carries_into_byte_7)
{
    const u9_random random = {fill_before_the_carry, NULL};
    const u9_gidgen_options o = {.size = sizeof o, .clock = &sim_clock, .random = &random,
                                 .monotonic = 1, .wide = 1};
    u9_gidgen *gen = NULL;
    ck_assert_int_eq(u9_gidgen_new(&o, &gen, NULL), U9_OK);
    ck_assert_int_eq(u9_gidgen_next_n(gen, U9_GID_LOG, gids, 10), U9_OK);
    for (unsigned i = 0; i < 10; i++) {
        ck_assert_uint_eq(gids[i].timestamp_ms, (uint64_t)noon / 1000);
        ck_assert_uint_eq(gids[i].random[0], i == 0 ? 0x85 : 0x86);
        ck_assert_uint_eq(low_bits(&gids[i]), UINT64_MAX + i);
    }
    u9_gidgen_free(gen);
}
END_TEST

/* [I-21] */
START_TEST(a_monotonic_batch_ends_with_the_last_millisecond)
{
    u9_gidgen *gen = open_gids(1, 0, U9_GID_TIMESTAMP_MAX - 1);
    noise.byte = 0xff;
    ck_assert_int_eq(u9_gidgen_next_n(gen, U9_GID_LOG, gids, 10), U9_OK);
    ck_assert_uint_eq(gids[0].timestamp_ms, U9_GID_TIMESTAMP_MAX);
    memset(gids, 0, sizeof gids);
    ck_assert_int_eq(u9_gidgen_next_n(gen, U9_GID_LOG, gids, 1), U9_LIMIT);
    ck_assert_uint_eq(gids[0].timestamp_ms, 0);
    u9_gidgen_free(gen);
}
END_TEST

/* [I-21] 64 in a millisecond; a nap of 400 us is not always enough. */
START_TEST(a_batch_of_eight_byte_identifiers_waits_for_one_millisecond_after_the_other)
{
    u9_uid8gen *gen = open_uid8s(0);
    size_t made = 0;
    u9_uid8 one;
    for (int i = 0; i < 10; i++) ck_assert_int_eq(u9_uid8gen_next(gen, &one), U9_OK);
    ck_assert_int_eq(u9_uid8gen_next_n(gen, uid8s, ROOM, &made), U9_OK);
    ck_assert_uint_eq(made, ROOM);
    for (unsigned i = 0; i < ROOM; i++) {
        ck_assert_uint_eq(uid8s[i].timestamp_ms, (uint64_t)noon / 1000 + (i + 10) / 64);
        ck_assert_uint_eq(uid8s[i].sequence, (i + 10) % 64);
        ck_assert_uint_eq(uid8s[i].generator, 5);
        ck_assert_uint_eq(uid8s[i].cluster, 3);
        if (i > 0) ck_assert_int_lt(u9_uid8_compare(&uid8s[i - 1], &uid8s[i]), 0);
    }
    u9_uid8gen_free(gen);
}
END_TEST

/* [I-21] */
START_TEST(a_clock_that_stands_cuts_a_batch_short_and_the_rest_can_be_had_later)
{
    u9_uid8gen *gen = open_uid8s(0);
    size_t made = 0;
    sim.stuck = true;
    ck_assert_int_eq(u9_uid8gen_next_n(gen, uid8s, 100, &made), U9_AGAIN);
    ck_assert_uint_eq(made, 64);
    ck_assert_int_eq(sim.readings, 1 + 11);
    ck_assert_uint_eq(uid8s[63].sequence, 63);
    ck_assert_uint_eq(uid8s[64].timestamp_ms, 0); /* untouched */
    ck_assert_int_eq(u9_uid8gen_next_n(gen, uid8s + 64, 36, &made), U9_AGAIN);
    ck_assert_uint_eq(made, 0);
    sim.now = noon - 7000; /* set back: waited for */
    ck_assert_int_eq(u9_uid8gen_next_n(gen, uid8s + 64, 36, &made), U9_AGAIN);
    sim.now = noon + 1000;
    ck_assert_int_eq(u9_uid8gen_next_n(gen, uid8s + 64, 36, &made), U9_OK);
    ck_assert_uint_eq(made, 36);
    for (unsigned i = 1; i < 100; i++) ck_assert_int_lt(u9_uid8_compare(&uid8s[i - 1], &uid8s[i]), 0);
    u9_uid8gen_free(gen);
}
END_TEST

/* [I-21] */
START_TEST(a_batch_of_eight_byte_identifiers_ends_in_2109)
{
    u9_uid8gen *gen = open_uid8s(U9_UID8_TIMESTAMP_MAX - 1);
    size_t made = 0;
    sim.now = (int64_t)U9_UID8_TIMESTAMP_MAX * 1000;
    ck_assert_int_eq(u9_uid8gen_next_n(gen, uid8s, 100, &made), U9_LIMIT);
    ck_assert_uint_eq(made, 64);
    ck_assert_uint_eq(uid8s[63].timestamp_ms, U9_UID8_TIMESTAMP_MAX);
    u9_uid8gen_free(gen);
}
END_TEST

/* [I-21] Exit status: a bit for what was not so. */
static int in_child(u9_muidgen *m, u9_gidgen *g, u9_uid8gen *u, uint64_t medallion, uint64_t last)
{
    size_t made = 7;
    int wrong = 0;
    if (u9_muidgen_next_n(m, muids, 10) != U9_OK || muids[0].medallion == medallion) wrong |= 1;
    if (u9_uid8gen_next_n(u, uid8s, 10, &made) != U9_STATE || made != 0) wrong |= 2;
    if (u9_gidgen_next_n(g, U9_GID_LOG, gids, 10) != U9_OK || low_bits(&gids[0]) == last + 1) wrong |= 4;
    return wrong;
}

/* [I-21] */
START_TEST(a_batch_in_a_forked_child_repeats_nothing_of_its_parent)
{
    u9_muidgen *m = open_muids(0);
    u9_gidgen *g = open_gids(1, 0, 0);
    u9_uid8gen *u = open_uid8s(0);
    size_t made;
    int status;
    ck_assert_int_eq(u9_muidgen_next_n(m, muids, 10), U9_OK);
    ck_assert_int_eq(u9_gidgen_next_n(g, U9_GID_LOG, gids, 10), U9_OK);
    ck_assert_int_eq(u9_uid8gen_next_n(u, uid8s, 10, &made), U9_OK);
    uint64_t medallion = muids[0].medallion, last = low_bits(&gids[9]);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) _exit(in_child(m, g, u, medallion, last));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    u9_muidgen_free(m);
    u9_gidgen_free(g);
    u9_uid8gen_free(u);
}
END_TEST

Suite *suite_idgen_batch(void)
{
    const TTest *const tests[] = {
        a_batch_of_muids_is_a_transaction_each_of_consecutive_timestamps,
        a_batch_of_tids_is_above_the_one_that_the_caller_names,
        a_batch_that_does_not_fit_before_the_end_of_time_gives_out_nothing,
        a_batch_of_none_does_nothing,
        a_batch_of_gids_has_one_timestamp_and_a_draw_for_each,
        a_batch_of_gids_that_runs_out_of_randomness_is_wiped,
        monotonic_batches_count_up_from_the_last_gid,
        a_monotonic_batch_that_does_not_fit_takes_the_next_millisecond_as_a_whole,
        a_wide_monotonic_batch_carries_into_byte_7,
        a_monotonic_batch_ends_with_the_last_millisecond,
        a_batch_of_eight_byte_identifiers_waits_for_one_millisecond_after_the_other,
        a_clock_that_stands_cuts_a_batch_short_and_the_rest_can_be_had_later,
        a_batch_of_eight_byte_identifiers_ends_in_2109,
        a_batch_in_a_forked_child_repeats_nothing_of_its_parent,
    };
    Suite *suite = suite_create("idgen_batch");
    TCase *tcase = tcase_create("idgen_batch");
    tcase_add_checked_fixture(tcase, begin, NULL);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
