/*
 * tests/engine/idgen/test_idgen.c: what SPEC-values.md says of fresh identifiers (I-15 to I-17), read as
 * tests.
 *
 * Time is a simulated clock that goes, stands, steps back and jumps as a test wants; randomness is
 * a row of bytes that it chooses. What many threads and processes do is in test_idgen_race.c.
 */
#include "tests/engine/scarce.h"
#include "tests/suites.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <u9/idgen.h>
#include <unistd.h>

#define MUID_LAST (U9_MUID_TIMESTAMP_MAX - 1)

static const int64_t noon = INT64_C(1700000000000000); /* a whole millisecond */

/* A clock that goes on by a nap, if it is not stuck, and else stands until a test sets it. */
typedef struct sim {
    _Atomic int64_t now;
    bool stuck;
    atomic_int readings, naps;
} sim;

static int64_t sim_now(void *ctx)
{
    sim *s = (sim *)ctx;
    s->readings++;
    return s->now;
}

static void sim_sleep(void *ctx, uint64_t us)
{
    sim *s = (sim *)ctx;
    s->naps++;
    ck_assert_uint_gt(us, 0);
    if (!s->stuck) s->now += (int64_t)us;
}

static sim time_source;
static const u9_clock sim_clock = {sim_now, sim_sleep, &time_source};

/* Each draw is one byte, repeated; `byte` goes on by `step`. */
static struct {
    unsigned byte, step;
    bool broken;
    int draws;
} noise;

static int fill_noise(void *ctx, void *out, size_t size)
{
    (void)ctx;
    if (noise.broken) return -1;
    memset(out, (int)(noise.byte & 0xff), size);
    noise.byte += noise.step;
    noise.draws++;
    return 0;
}

static const u9_random sim_random = {fill_noise, NULL};

/* Before each test. */
static void begin(void)
{
    memset(&time_source, 0, sizeof time_source);
    memset(&noise, 0, sizeof noise);
    time_source.now = noon;
}

static void set_clock(int64_t now)
{
    time_source.now = now;
}

static u9_muidgen_options muid_options(void)
{
    return (u9_muidgen_options){.size = sizeof(u9_muidgen_options), .clock = &sim_clock,
                                .random = &sim_random};
}

static u9_tidgen_options tid_options(void)
{
    return (u9_tidgen_options){.size = sizeof(u9_tidgen_options), .clock = &sim_clock,
                               .random = &sim_random};
}

static u9_gidgen_options gid_options(void)
{
    return (u9_gidgen_options){.size = sizeof(u9_gidgen_options), .clock = &sim_clock,
                               .random = &sim_random};
}

static u9_uid8gen_options uid8_options(void)
{
    return (u9_uid8gen_options){.size = sizeof(u9_uid8gen_options), .clock = &sim_clock};
}

static u9_muidgen *new_muidgen(const u9_muidgen_options *options)
{
    u9_muidgen *gen = NULL;
    ck_assert_int_eq(u9_muidgen_new(options, &gen, NULL), U9_OK);
    return gen;
}

static u9_tidgen *new_tidgen(const u9_tidgen_options *options)
{
    u9_tidgen *gen = NULL;
    ck_assert_int_eq(u9_tidgen_new(options, &gen, NULL), U9_OK);
    return gen;
}

static u9_gidgen *new_gidgen(const u9_gidgen_options *options)
{
    u9_gidgen *gen = NULL;
    ck_assert_int_eq(u9_gidgen_new(options, &gen, NULL), U9_OK);
    return gen;
}

static u9_uid8gen *new_uid8gen(const u9_uid8gen_options *options)
{
    u9_uid8gen *gen = NULL;
    ck_assert_int_eq(u9_uid8gen_new(options, &gen, NULL), U9_OK);
    return gen;
}

static uint64_t next_muid_time(u9_muidgen *gen)
{
    u9_muid muid;
    ck_assert_int_eq(u9_muidgen_next(gen, &muid), U9_OK);
    ck_assert_int_eq(muid.offset, 1);
    return muid.timestamp;
}

static uint64_t next_tid_time(u9_tidgen *gen)
{
    u9_tid tid;
    ck_assert_int_eq(u9_tidgen_next(gen, NULL, &tid), U9_OK);
    return tid.timestamp;
}

static u9_gid next_gid(u9_gidgen *gen, u9_gid_type type)
{
    u9_gid gid;
    uint8_t packed[U9_GID_SIZE];
    ck_assert_int_eq(u9_gidgen_next(gen, type, &gid), U9_OK);
    ck_assert_int_eq(gid.type, type);
    ck_assert_int_eq(u9_gid_pack(&gid, 0, packed), U9_OK);
    return gid;
}

static u9_uid8 next_uid8(u9_uid8gen *gen)
{
    u9_uid8 id;
    ck_assert_int_eq(u9_uid8gen_next(gen, &id), U9_OK);
    return id;
}

static void expect_fault(u9_err err, const u9_fault *fault, const char *rule)
{
    ck_assert_int_eq(err, U9_ARG);
    ck_assert_int_eq(fault->err, U9_ARG);
    ck_assert_str_eq(fault->rule, rule);
    ck_assert_uint_gt(strlen(fault->text), 0);
}

/* [I-15] */
START_TEST(timestamps_are_the_clocks_while_it_runs)
{
    const u9_muidgen_options m = muid_options();
    const u9_tidgen_options t = tid_options();
    u9_muidgen *muids = new_muidgen(&m);
    u9_tidgen *tids = new_tidgen(&t);
    for (int i = 0; i < 100; i++) {
        set_clock(noon + 7 * i);
        ck_assert_uint_eq(next_muid_time(muids), (uint64_t)(noon + 7 * i));
        ck_assert_uint_eq(next_tid_time(tids), (uint64_t)(noon + 7 * i));
    }
    u9_muidgen_free(muids);
    u9_tidgen_free(tids);
}
END_TEST

/* [I-15] */
START_TEST(timestamps_grow_by_one_while_the_clock_stands_or_is_behind)
{
    const u9_muidgen_options m = muid_options();
    const u9_tidgen_options t = tid_options();
    u9_muidgen *muids = new_muidgen(&m);
    u9_tidgen *tids = new_tidgen(&t);
    for (uint64_t i = 0; i < 1000; i++) { /* it stands */
        ck_assert_uint_eq(next_muid_time(muids), (uint64_t)noon + i);
        ck_assert_uint_eq(next_tid_time(tids), (uint64_t)noon + i);
    }
    set_clock(noon - INT64_C(3600000000)); /* an hour back */
    for (uint64_t i = 1000; i < 2000; i++) {
        ck_assert_uint_eq(next_muid_time(muids), (uint64_t)noon + i);
        ck_assert_uint_eq(next_tid_time(tids), (uint64_t)noon + i);
    }
    set_clock(noon + 1999); /* has just caught up */
    ck_assert_uint_eq(next_muid_time(muids), (uint64_t)noon + 2000);
    ck_assert_uint_eq(next_tid_time(tids), (uint64_t)noon + 2000);
    set_clock(noon + INT64_C(86400000000)); /* a day ahead */
    ck_assert_uint_eq(next_muid_time(muids), (uint64_t)noon + UINT64_C(86400000000));
    ck_assert_uint_eq(next_tid_time(tids), (uint64_t)noon + UINT64_C(86400000000));
    set_clock(noon);
    ck_assert_uint_eq(next_muid_time(muids), (uint64_t)noon + UINT64_C(86400000001));
    ck_assert_uint_eq(next_tid_time(tids), (uint64_t)noon + UINT64_C(86400000001));
    u9_muidgen_free(muids);
    u9_tidgen_free(tids);
}
END_TEST

/* [I-15] Timestamp 0 is none: in a reference it has another meaning [I-5]. */
START_TEST(a_clock_before_1970_is_behind)
{
    const u9_muidgen_options m = muid_options();
    const u9_tidgen_options t = tid_options();
    u9_muidgen *muids = new_muidgen(&m);
    u9_tidgen *tids = new_tidgen(&t);
    for (uint64_t i = 1; i < 10; i++) {
        set_clock(i % 2 ? INT64_MIN : -1);
        ck_assert_uint_eq(next_muid_time(muids), i);
        ck_assert_uint_eq(next_tid_time(tids), i);
    }
    u9_muidgen_free(muids);
    u9_tidgen_free(tids);
}
END_TEST

/* [I-15] */
START_TEST(after_a_restart_timestamps_are_above_those_seen)
{
    u9_muidgen_options m = muid_options();
    u9_tidgen_options t = tid_options();
    m.seen = t.seen = (uint64_t)noon + 5000; /* the clock was set back while nothing ran */
    u9_muidgen *muids = new_muidgen(&m);
    u9_tidgen *tids = new_tidgen(&t);
    ck_assert_uint_eq(next_muid_time(muids), (uint64_t)noon + 5001);
    ck_assert_uint_eq(next_tid_time(tids), (uint64_t)noon + 5001);
    ck_assert_int_eq(u9_muidgen_seen(muids, (uint64_t)noon + 9000), U9_OK);
    ck_assert_uint_eq(next_muid_time(muids), (uint64_t)noon + 9001);
    ck_assert_int_eq(u9_muidgen_seen(muids, (uint64_t)noon), U9_OK); /* never goes back */
    ck_assert_uint_eq(next_muid_time(muids), (uint64_t)noon + 9002);
    ck_assert_int_eq(u9_muidgen_seen(muids, MUID_LAST), U9_ARG);
    ck_assert_int_eq(u9_muidgen_seen(muids, UINT64_MAX), U9_ARG);
    ck_assert_uint_eq(next_muid_time(muids), (uint64_t)noon + 9003);
    u9_muidgen_free(muids);
    u9_tidgen_free(tids);
}
END_TEST

/* [I-15] */
START_TEST(a_transaction_has_one_timestamp_and_offsets_from_1)
{
    const u9_muidgen_options m = muid_options();
    u9_muidgen *muids = new_muidgen(&m);
    u9_muid first, change;
    ck_assert_int_eq(u9_muidgen_transaction(muids, &first), U9_OK);
    ck_assert_int_eq(first.offset, 0);
    change = first;
    for (int32_t offset = 1; offset <= 1000; offset++) {
        ck_assert_int_eq(u9_muid_advance(&change), U9_OK);
        ck_assert_int_eq(change.offset, offset);
        ck_assert_uint_eq(change.timestamp, first.timestamp);
        ck_assert_uint_eq(change.medallion, first.medallion);
    }
    ck_assert_int_eq(u9_muidgen_transaction(muids, &change), U9_OK);
    ck_assert_uint_gt(change.timestamp, first.timestamp);
    change.offset = INT32_MAX - 1;
    ck_assert_int_eq(u9_muid_advance(&change), U9_OK);
    ck_assert_int_eq(u9_muid_advance(&change), U9_LIMIT);
    ck_assert_int_eq(change.offset, INT32_MAX);
    change.offset = -1;
    ck_assert_int_eq(u9_muid_advance(&change), U9_ARG);
    ck_assert_int_eq(change.offset, -1);
    u9_muidgen_free(muids);
}
END_TEST

/* [I-15] 2^52 - 2 is the last: all ones are not a time. */
START_TEST(muids_end_in_2112)
{
    const u9_muidgen_options m = muid_options();
    u9_muidgen *muids = new_muidgen(&m);
    u9_muid muid = {7, 7, 7};
    set_clock((int64_t)MUID_LAST + 1);
    ck_assert_int_eq(u9_muidgen_next(muids, &muid), U9_LIMIT);
    set_clock(INT64_MAX);
    ck_assert_int_eq(u9_muidgen_transaction(muids, &muid), U9_LIMIT);
    ck_assert_uint_eq(muid.timestamp, 7); /* untouched */
    set_clock(noon);                      /* nothing was given out: all goes on */
    ck_assert_uint_eq(next_muid_time(muids), (uint64_t)noon);
    set_clock((int64_t)MUID_LAST - 1);
    ck_assert_uint_eq(next_muid_time(muids), MUID_LAST - 1);
    ck_assert_uint_eq(next_muid_time(muids), MUID_LAST);
    set_clock(noon);
    for (int i = 0; i < 3; i++) ck_assert_int_eq(u9_muidgen_next(muids, &muid), U9_LIMIT);
    u9_muidgen_free(muids);
}
END_TEST

/* [I-15] */
START_TEST(tids_end_with_53_bits)
{
    const u9_tidgen_options t = tid_options();
    u9_tidgen *tids = new_tidgen(&t);
    u9_tid tid = {7, 7};
    set_clock((int64_t)U9_TID_TIMESTAMP_MAX + 1);
    ck_assert_int_eq(u9_tidgen_next(tids, NULL, &tid), U9_LIMIT);
    ck_assert_uint_eq(tid.timestamp, 7);
    set_clock((int64_t)U9_TID_TIMESTAMP_MAX - 1);
    ck_assert_uint_eq(next_tid_time(tids), U9_TID_TIMESTAMP_MAX - 1);
    ck_assert_uint_eq(next_tid_time(tids), U9_TID_TIMESTAMP_MAX);
    set_clock(noon);
    ck_assert_int_eq(u9_tidgen_next(tids, NULL, &tid), U9_LIMIT);
    u9_tidgen_free(tids);
}
END_TEST

/* [I-15] */
START_TEST(a_tid_is_above_the_one_that_the_caller_names)
{
    const u9_tidgen_options t = tid_options();
    u9_tidgen *tids = new_tidgen(&t);
    const u9_tid below = {(uint64_t)noon - 1, 1023}, same = {(uint64_t)noon + 1, 1023};
    const u9_tid above = {(uint64_t)noon + 100, 0};
    const u9_tid last = {U9_TID_TIMESTAMP_MAX, 0}, beyond = {UINT64_MAX, 0};
    u9_tid tid;
    ck_assert_int_eq(u9_tidgen_next(tids, &below, &tid), U9_OK);
    ck_assert_uint_eq(tid.timestamp, (uint64_t)noon);
    ck_assert_int_eq(u9_tidgen_next(tids, &same, &tid), U9_OK);
    ck_assert_uint_eq(tid.timestamp, (uint64_t)noon + 2);
    ck_assert_int_eq(u9_tidgen_next(tids, &above, &tid), U9_OK);
    ck_assert_uint_eq(tid.timestamp, (uint64_t)noon + 101);
    ck_assert_uint_eq(next_tid_time(tids), (uint64_t)noon + 102);
    ck_assert_int_eq(u9_tidgen_next(tids, &last, &tid), U9_LIMIT);
    ck_assert_int_eq(u9_tidgen_next(tids, &beyond, &tid), U9_LIMIT);
    ck_assert_uint_eq(next_tid_time(tids), (uint64_t)noon + 103);
    u9_tidgen_free(tids);
}
END_TEST

/* [I-15] */
START_TEST(medallions_are_drawn_from_their_range_once)
{
    u9_muidgen_options m = muid_options();
    for (unsigned byte = 0; byte < 256; byte++) {
        u9_muid one, other;
        noise.byte = byte;
        u9_muidgen *muids = new_muidgen(&m);
        noise.byte = byte + 1;
        ck_assert_int_eq(u9_muidgen_next(muids, &one), U9_OK);
        ck_assert_int_eq(u9_muidgen_next(muids, &other), U9_OK);
        ck_assert_uint_eq(one.medallion,
                          (UINT64_C(1) << 40) + byte * UINT64_C(0x0101010101));
        ck_assert_uint_eq(other.medallion, one.medallion);
        u9_muidgen_free(muids);
    }
}
END_TEST

/* [I-15] */
START_TEST(clock_ids_are_drawn_from_their_range_once)
{
    u9_tidgen_options t = tid_options();
    for (unsigned byte = 0; byte < 256; byte++) {
        u9_tid one, other;
        noise.byte = byte;
        u9_tidgen *tids = new_tidgen(&t);
        ck_assert_int_eq(u9_tidgen_next(tids, NULL, &one), U9_OK);
        ck_assert_int_eq(u9_tidgen_next(tids, NULL, &other), U9_OK);
        ck_assert_uint_eq(one.clock_id, (byte << 8 | byte) & U9_TID_CLOCK_ID_MAX);
        ck_assert_uint_eq(other.clock_id, one.clock_id);
        u9_tidgen_free(tids);
    }
}
END_TEST

/* [I-15] */
START_TEST(given_medallions_and_clock_ids_are_kept)
{
    static const uint64_t medallions[] = {1, UINT64_C(1) << 41, U9_MUID_MEDALLION_MAX - 1};
    static const uint32_t clock_ids[] = {0, 31, 1023};
    for (size_t i = 0; i < 3; i++) {
        u9_muidgen_options m = muid_options();
        u9_tidgen_options t = tid_options();
        u9_muid muid;
        u9_tid tid;
        m.medallion = medallions[i];
        t.clock_id = clock_ids[i];
        t.clock_id_given = 1;
        u9_muidgen *muids = new_muidgen(&m);
        u9_tidgen *tids = new_tidgen(&t);
        ck_assert_int_eq(u9_muidgen_next(muids, &muid), U9_OK);
        ck_assert_int_eq(u9_tidgen_next(tids, NULL, &tid), U9_OK);
        ck_assert_uint_eq(muid.medallion, medallions[i]);
        ck_assert_uint_eq(tid.clock_id, clock_ids[i]);
        ck_assert_int_eq(noise.draws, 0);
        u9_muidgen_free(muids);
        u9_tidgen_free(tids);
    }
}
END_TEST

START_TEST(options_out_of_range_are_refused)
{
    static const u9_clock no_clock = {NULL, sim_sleep, NULL};
    static const u9_random no_random = {NULL, NULL};
    const u9_muidgen_options m = muid_options();
    const u9_tidgen_options t = tid_options();
    u9_muidgen_options bad_m[] = {m, m, m, m, m, m};
    u9_tidgen_options bad_t[] = {t, t, t, t, t};
    u9_muidgen *muids = NULL;
    u9_tidgen *tids = NULL;
    u9_fault fault;
    bad_m[0].size = bad_t[0].size = 0;
    bad_m[1].clock = bad_t[1].clock = &no_clock;
    bad_m[2].random = bad_t[2].random = &no_random;
    bad_m[3].seen = MUID_LAST;
    bad_m[4].medallion = U9_MUID_MEDALLION_MAX;
    bad_m[5].medallion = UINT64_MAX;
    bad_t[3].seen = U9_TID_TIMESTAMP_MAX;
    bad_t[4].clock_id = 1024;
    for (size_t i = 0; i < 6; i++)
        expect_fault(u9_muidgen_new(&bad_m[i], &muids, &fault), &fault, "I-15");
    for (size_t i = 0; i < 5; i++)
        expect_fault(u9_tidgen_new(&bad_t[i], &tids, &fault), &fault, "I-15");
    ck_assert_ptr_null(muids);
    ck_assert_ptr_null(tids);
    noise.broken = true;
    ck_assert_int_eq(u9_muidgen_new(&m, &muids, &fault), U9_IO);
    ck_assert_int_eq(u9_tidgen_new(&t, &tids, &fault), U9_IO);
    ck_assert_int_eq(fault.err, U9_IO);
    u9_muidgen_free(NULL);
    u9_tidgen_free(NULL);
}
END_TEST

/* [I-16] */
START_TEST(a_gid_is_the_clock_the_prefix_twice_and_64_random_bits)
{
    static const u9_gid_type types[] = {U9_GID_VOLUME, U9_GID_LOG, U9_GID_SEGMENT};
    const u9_gidgen_options o = gid_options();
    u9_gidgen *gids = new_gidgen(&o);
    noise.step = 1;
    for (unsigned i = 0; i < 600; i++) {
        set_clock(noon + 999 * (int64_t)i);
        u9_gid gid = next_gid(gids, types[i % 3]);
        uint8_t expected[U9_GID_RANDOM_SIZE];
        memset(expected, (int)(i & 0xff), sizeof expected);
        expected[0] = (uint8_t)types[i % 3];
        ck_assert_mem_eq(gid.random, expected, sizeof expected);
        ck_assert_uint_eq(gid.timestamp_ms, ((uint64_t)noon + 999 * i) / 1000);
    }
    u9_gidgen_free(gids);
}
END_TEST

/* [I-16] */
START_TEST(a_wide_gid_has_71_random_bits)
{
    u9_gidgen_options o = gid_options();
    o.wide = 1;
    u9_gidgen *gids = new_gidgen(&o);
    noise.step = 1;
    for (unsigned i = 0; i < 256; i++) {
        u9_gid gid = next_gid(gids, U9_GID_LOG);
        ck_assert_uint_eq(gid.random[0], (i & 0x7f) | 0x80);
        ck_assert_uint_eq(gid.random[1], i);
        ck_assert_uint_eq(gid.random[8], i);
    }
    u9_gidgen_free(gids);
}
END_TEST

/* [I-16] */
START_TEST(a_clock_that_no_gid_can_hold_is_refused)
{
    for (int monotonic = 0; monotonic < 2; monotonic++) {
        u9_gidgen_options o = gid_options();
        u9_gid gid = {.timestamp_ms = 7};
        o.monotonic = monotonic;
        u9_gidgen *gids = new_gidgen(&o);
        set_clock(-1);
        ck_assert_int_eq(u9_gidgen_next(gids, U9_GID_LOG, &gid), U9_LIMIT);
        set_clock(INT64_MIN);
        ck_assert_int_eq(u9_gidgen_next(gids, U9_GID_LOG, &gid), U9_LIMIT);
        set_clock(((int64_t)U9_GID_TIMESTAMP_MAX + 1) * 1000);
        ck_assert_int_eq(u9_gidgen_next(gids, U9_GID_LOG, &gid), U9_LIMIT);
        ck_assert_uint_eq(gid.timestamp_ms, 7); /* untouched */
        set_clock(0);
        ck_assert_uint_eq(next_gid(gids, U9_GID_LOG).timestamp_ms, 0);
        set_clock((int64_t)U9_GID_TIMESTAMP_MAX * 1000 + 999);
        ck_assert_uint_eq(next_gid(gids, U9_GID_LOG).timestamp_ms, U9_GID_TIMESTAMP_MAX);
        u9_gidgen_free(gids);
    }
}
END_TEST

/* [I-16] Stateless: what the clock says is what comes out. */
START_TEST(by_default_a_gid_follows_the_clock_back)
{
    const u9_gidgen_options o = gid_options();
    u9_gidgen *gids = new_gidgen(&o);
    ck_assert_uint_eq(next_gid(gids, U9_GID_LOG).timestamp_ms, (uint64_t)noon / 1000);
    set_clock(noon - 5000);
    ck_assert_uint_eq(next_gid(gids, U9_GID_LOG).timestamp_ms, (uint64_t)noon / 1000 - 5);
    ck_assert_int_eq(noise.draws, 2);
    u9_gidgen_free(gids);
}
END_TEST

static uint64_t low_bits(const u9_gid *gid)
{
    uint64_t low = 0;
    for (unsigned i = 1; i < U9_GID_RANDOM_SIZE; i++) low = low << 8 | gid->random[i];
    return low;
}

/* [I-16] */
START_TEST(a_monotonic_generator_counts_up_while_the_clock_stands_or_is_behind)
{
    u9_gidgen_options o = gid_options();
    o.monotonic = 1;
    u9_gidgen *gids = new_gidgen(&o);
    noise.byte = 0x11;
    uint64_t ms = (uint64_t)noon / 1000, start = UINT64_C(0x1111111111111111);
    for (unsigned i = 0; i < 1000; i++) {
        set_clock(i % 3 == 0 ? noon : i % 3 == 1 ? noon + 999 : noon - 123456);
        u9_gid gid = next_gid(gids, i % 2 ? U9_GID_LOG : U9_GID_VOLUME);
        ck_assert_uint_eq(gid.timestamp_ms, ms);
        ck_assert_uint_eq(low_bits(&gid), start + i);
        ck_assert_uint_eq(gid.random[0], (unsigned)gid.type);
    }
    ck_assert_int_eq(noise.draws, 1);
    set_clock(noon + 1000);
    u9_gid gid = next_gid(gids, U9_GID_LOG);
    ck_assert_uint_eq(gid.timestamp_ms, ms + 1);
    ck_assert_uint_eq(low_bits(&gid), start); /* drawn again */
    ck_assert_int_eq(noise.draws, 2);
    u9_gidgen_free(gids);
}
END_TEST

/* [I-16] */
START_TEST(a_monotonic_generator_takes_the_next_millisecond_when_the_bits_are_used_up)
{
    for (int wide = 0; wide < 2; wide++) {
        u9_gidgen_options o = gid_options();
        o.monotonic = 1;
        o.wide = wide;
        u9_gidgen *gids = new_gidgen(&o);
        uint64_t ms = (uint64_t)noon / 1000;
        noise.byte = 0xff;
        ck_assert_uint_eq(next_gid(gids, U9_GID_LOG).timestamp_ms, ms);
        noise.byte = 0x22;
        u9_gid gid = next_gid(gids, U9_GID_LOG);
        ck_assert_uint_eq(gid.timestamp_ms, ms + 1); /* ahead of the clock */
        ck_assert_uint_eq(low_bits(&gid), UINT64_C(0x2222222222222222));
        ck_assert_uint_eq(gid.random[0], wide ? 0xa2 : 0xa0);
        gid = next_gid(gids, U9_GID_LOG);
        ck_assert_uint_eq(gid.timestamp_ms, ms + 1);
        ck_assert_uint_eq(low_bits(&gid), UINT64_C(0x2222222222222223));
        u9_gidgen_free(gids);
    }
}
END_TEST

/* Draws 8 bytes of ff behind 7 bits that are not. */
static int fill_low_ones(void *ctx, void *out, size_t size)
{
    (void)ctx;
    memset(out, 0xff, size);
    if (size > 8) ((uint8_t *)out)[8] = 0x05;
    return 0;
}

/* [I-16] */
START_TEST(a_wide_monotonic_generator_carries_into_byte_7)
{
    static const u9_random low_ones = {fill_low_ones, NULL};
    u9_gidgen_options o = gid_options();
    o.monotonic = o.wide = 1;
    o.random = &low_ones;
    u9_gidgen *gids = new_gidgen(&o);
    u9_gid first = next_gid(gids, U9_GID_SEGMENT), second = next_gid(gids, U9_GID_SEGMENT);
    ck_assert_uint_eq(first.random[0], 0x85);
    ck_assert_uint_eq(low_bits(&first), UINT64_MAX);
    ck_assert_uint_eq(second.random[0], 0x86);
    ck_assert_uint_eq(low_bits(&second), 0);
    ck_assert_uint_eq(first.timestamp_ms, second.timestamp_ms);
    u9_gidgen_free(gids);
}
END_TEST

/* [I-16] */
START_TEST(the_last_millisecond_of_gids_can_be_used_up)
{
    u9_gidgen_options o = gid_options();
    u9_gid gid;
    o.monotonic = 1;
    u9_gidgen *gids = new_gidgen(&o);
    noise.byte = 0xff;
    set_clock((int64_t)U9_GID_TIMESTAMP_MAX * 1000);
    ck_assert_uint_eq(next_gid(gids, U9_GID_LOG).timestamp_ms, U9_GID_TIMESTAMP_MAX);
    ck_assert_int_eq(u9_gidgen_next(gids, U9_GID_LOG, &gid), U9_LIMIT);
    set_clock(noon);
    ck_assert_int_eq(u9_gidgen_next(gids, U9_GID_LOG, &gid), U9_LIMIT);
    u9_gidgen_free(gids);
}
END_TEST

/* [I-16] */
START_TEST(after_a_restart_monotonic_gids_are_above_those_seen)
{
    u9_gidgen_options o = gid_options();
    uint64_t ms = (uint64_t)noon / 1000;
    o.monotonic = 1;
    o.seen_ms = ms + 3;
    u9_gidgen *gids = new_gidgen(&o);
    ck_assert_uint_eq(next_gid(gids, U9_GID_LOG).timestamp_ms, ms + 4);
    ck_assert_uint_eq(next_gid(gids, U9_GID_LOG).timestamp_ms, ms + 4);
    set_clock(noon + 5000);
    ck_assert_uint_eq(next_gid(gids, U9_GID_LOG).timestamp_ms, ms + 5);
    u9_gidgen_free(gids);
}
END_TEST

START_TEST(without_randomness_there_are_no_gids)
{
    for (int monotonic = 0; monotonic < 2; monotonic++) {
        u9_gidgen_options o = gid_options();
        u9_gid gid = {.timestamp_ms = 7};
        o.monotonic = monotonic;
        u9_gidgen *gids = new_gidgen(&o);
        noise.broken = true;
        ck_assert_int_eq(u9_gidgen_next(gids, U9_GID_LOG, &gid), U9_IO);
        ck_assert_uint_eq(gid.timestamp_ms, 7);
        noise.broken = false;
        (void)next_gid(gids, U9_GID_LOG); /* and the lock is free */
        u9_gidgen_free(gids);
    }
}
END_TEST

/* A generator of each kind, which needs nothing; what was drawn from the system lasts for a while. */
static u9_err make_one(int kind, u9_fault *fault)
{
    u9_muidgen *muids = NULL;
    u9_tidgen *tids = NULL;
    u9_gidgen *gids = NULL;
    u9_uid8gen *uid8s = NULL;
    const u9_uid8gen_options o = {.size = sizeof o, .generator = 1};
    u9_err err = kind == 0   ? u9_muidgen_new(NULL, &muids, fault)
                 : kind == 1 ? u9_tidgen_new(NULL, &tids, fault)
                 : kind == 2 ? u9_gidgen_new(NULL, &gids, fault)
                             : u9_uid8gen_new(&o, &uid8s, fault);
    u9_muidgen_free(muids);
    u9_tidgen_free(tids);
    u9_gidgen_free(gids);
    u9_uid8gen_free(uid8s);
    return err;
}

START_TEST(without_memory_or_the_systems_randomness_no_generator_is_made)
{
    for (int kind = 0; kind < 4; kind++) {
        u9_fault fault;
        size_t kept;
        scarce_begin(SCARCE_MEMORY, 1, ENOMEM, true);
        ck_assert_int_eq(make_one(kind, &fault), U9_NOMEM);
        ck_assert_uint_eq(scarce_end(&kept), 1);
        ck_assert_uint_eq(kept, 0);
        if (kind > 1) continue; /* they draw later */
        u9_err err = U9_OK;
        scarce_begin(SCARCE_CALLS, 1, EIO, true);
        for (int i = 0; i < 1000 && err == U9_OK; i++) err = make_one(kind, &fault);
        ck_assert_uint_eq(scarce_end(&kept), 1);
        ck_assert_uint_eq(kept, 0);
        ck_assert_int_eq(err, U9_IO);
        scarce_begin(SCARCE_CALLS, 1, EINTR, false); /* that is no reason */
        for (int i = 0; i < 1000; i++) ck_assert_int_eq(make_one(kind, &fault), U9_OK);
        ck_assert_uint_eq(scarce_end(&kept), 1);
    }
}
END_TEST

START_TEST(gid_options_and_types_out_of_range_are_refused)
{
    static const u9_clock no_clock = {NULL, sim_sleep, NULL};
    static const u9_random no_random = {NULL, NULL};
    const u9_gidgen_options o = gid_options();
    u9_gidgen_options bad[] = {o, o, o, o};
    u9_gidgen *gids = NULL;
    u9_fault fault;
    u9_gid gid;
    bad[0].size = 0;
    bad[1].clock = &no_clock;
    bad[2].random = &no_random;
    bad[3].seen_ms = U9_GID_TIMESTAMP_MAX;
    for (size_t i = 0; i < 4; i++)
        expect_fault(u9_gidgen_new(&bad[i], &gids, &fault), &fault, "I-16");
    ck_assert_ptr_null(gids);
    gids = new_gidgen(&o);
    ck_assert_int_eq(u9_gidgen_next(gids, U9_GID_ANY, &gid), U9_ARG);
    ck_assert_int_eq(u9_gidgen_next(gids, (u9_gid_type)0xe0, &gid), U9_ARG);
    u9_gidgen_free(gids);
    u9_gidgen_free(NULL);
}
END_TEST

/* [I-17] */
START_TEST(a_sequence_begins_at_0_in_each_millisecond)
{
    u9_uid8gen_options o = uid8_options();
    o.mode = U9_UID8_TIME_SEQUENTIAL;
    o.generator = 1234;
    o.cluster = 9;
    u9_uid8gen *gen = new_uid8gen(&o);
    for (uint32_t ms = 0; ms < 100; ms++) {
        set_clock(noon + 1000 * (int64_t)ms);
        for (uint32_t sequence = 0; sequence <= ms % 64; sequence++) {
            u9_uid8 id = next_uid8(gen);
            ck_assert_uint_eq(id.timestamp_ms, (uint64_t)noon / 1000 + ms);
            ck_assert_uint_eq(id.sequence, sequence);
            ck_assert_uint_eq(id.generator, 1234);
            ck_assert_uint_eq(id.cluster, 9);
            ck_assert_int_eq(id.mode, U9_UID8_TIME_SEQUENTIAL);
        }
    }
    ck_assert_int_eq(time_source.naps, 0);
    u9_uid8gen_free(gen);
}
END_TEST

/* [I-17] */
START_TEST(behind_64_it_waits_for_the_next_millisecond)
{
    const u9_uid8gen_options o = uid8_options();
    u9_uid8gen *gen = new_uid8gen(&o);
    for (uint32_t i = 0; i < 1000; i++) {
        u9_uid8 id = next_uid8(gen);
        ck_assert_uint_eq(id.sequence, i % 64);
        ck_assert_uint_ge(id.timestamp_ms, (uint64_t)noon / 1000 + i / 64);
    }
    ck_assert_int_ge(time_source.naps, 15);
    ck_assert_int_le(time_source.naps, 15 * 3);
    u9_uid8gen_free(gen);
}
END_TEST

/* [I-17] */
START_TEST(behind_64_it_gives_up_on_a_clock_that_stands)
{
    u9_uid8gen_options o = uid8_options();
    u9_uid8 id = {.timestamp_ms = 7};
    time_source.stuck = true;
    for (unsigned tries = 0; tries < 4; tries++) {
        o.tries_max = tries; /* 0: 11 */
        u9_uid8gen *gen = new_uid8gen(&o);
        for (uint32_t i = 0; i < 64; i++) (void)next_uid8(gen);
        time_source.readings = time_source.naps = 0;
        ck_assert_int_eq(u9_uid8gen_next(gen, &id), U9_AGAIN);
        ck_assert_int_eq(time_source.readings, tries ? (int)tries : 11);
        ck_assert_int_eq(time_source.naps, tries ? (int)tries - 1 : 10);
        ck_assert_uint_eq(id.timestamp_ms, 7); /* untouched */
        set_clock(noon + 1000);
        ck_assert_uint_eq(next_uid8(gen).timestamp_ms, (uint64_t)noon / 1000 + 1);
        set_clock(noon);
        u9_uid8gen_free(gen);
    }
}
END_TEST

/* [I-17] */
START_TEST(a_clock_that_was_set_back_continues_the_millisecond_before)
{
    const u9_uid8gen_options o = uid8_options();
    u9_uid8gen *gen = new_uid8gen(&o);
    u9_uid8 id;
    uint64_t ms = (uint64_t)noon / 1000;
    for (uint32_t i = 0; i < 10; i++) (void)next_uid8(gen);
    for (uint32_t i = 10; i < 64; i++) {
        set_clock(i % 2 ? noon - 2000 : -1);
        id = next_uid8(gen);
        ck_assert_uint_eq(id.timestamp_ms, ms);
        ck_assert_uint_eq(id.sequence, i);
    }
    set_clock(noon - 60000000);
    ck_assert_int_eq(u9_uid8gen_next(gen, &id), U9_AGAIN); /* a minute is too long */
    set_clock(noon - 2000);
    id = next_uid8(gen); /* two milliseconds are not */
    ck_assert_uint_eq(id.timestamp_ms, ms + 1);
    ck_assert_uint_eq(id.sequence, 0);
    u9_uid8gen_free(gen);
}
END_TEST

/* [I-17] */
START_TEST(after_a_restart_the_milliseconds_seen_are_full)
{
    u9_uid8gen_options o = uid8_options();
    uint64_t ms = (uint64_t)noon / 1000;
    o.seen_ms = ms;
    u9_uid8gen *gen = new_uid8gen(&o);
    u9_uid8 id = next_uid8(gen);
    ck_assert_uint_eq(id.timestamp_ms, ms + 1);
    ck_assert_uint_eq(id.sequence, 0);
    ck_assert_int_eq(time_source.naps, 3);
    u9_uid8gen_free(gen);
}
END_TEST

/* [I-17] */
START_TEST(eight_byte_identifiers_end_in_2109)
{
    const u9_uid8gen_options o = uid8_options();
    u9_uid8gen *gen = new_uid8gen(&o);
    u9_uid8 id;
    set_clock(((int64_t)U9_UID8_TIMESTAMP_MAX + 1) * 1000);
    ck_assert_int_eq(u9_uid8gen_next(gen, &id), U9_LIMIT);
    set_clock((int64_t)U9_UID8_TIMESTAMP_MAX * 1000);
    for (uint32_t i = 0; i < 64; i++)
        ck_assert_uint_eq(next_uid8(gen).timestamp_ms, U9_UID8_TIMESTAMP_MAX);
    ck_assert_int_eq(u9_uid8gen_next(gen, &id), U9_LIMIT);
    set_clock(0);
    ck_assert_int_eq(u9_uid8gen_next(gen, &id), U9_LIMIT);
    u9_uid8gen_free(gen);
}
END_TEST

/* [I-11] [I-17] */
START_TEST(uid8_options_out_of_range_are_refused)
{
    static const u9_clock no_clock = {NULL, sim_sleep, NULL};
    const u9_uid8gen_options o = uid8_options();
    u9_uid8gen_options bad[] = {o, o, o, o, o, o, o, o, o};
    u9_uid8gen *gen = NULL;
    u9_fault fault;
    bad[0].size = 0;
    bad[1].clock = &no_clock;
    bad[2].seen_ms = U9_UID8_TIMESTAMP_MAX;
    bad[3].layout = 5;
    bad[4].generator = 2048;
    bad[5].cluster = 16;
    bad[6].mode = (u9_uid8_mode)2;
    bad[7].layout = 1;
    bad[7].generator = 64;
    bad[8].layout = 2;
    bad[8].mode = U9_UID8_TIME_SEQUENTIAL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_fault(u9_uid8gen_new(&bad[i], &gen, &fault), &fault, "I-17");
    expect_fault(u9_uid8gen_new(NULL, &gen, &fault), &fault, "I-17");
    ck_assert_ptr_null(gen);
    u9_uid8gen_free(NULL);
}
END_TEST

/* [I-15] [I-16] [I-17] */
START_TEST(the_default_clock_is_the_real_one)
{
    const u9_uid8gen_options o = {.size = sizeof o};
    u9_muidgen *muids = new_muidgen(NULL);
    u9_tidgen *tids = new_tidgen(NULL);
    u9_gidgen *gids = new_gidgen(NULL);
    u9_uid8gen *uid8s = new_uid8gen(&o);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t before = (uint64_t)now.tv_sec - 60, after = (uint64_t)now.tv_sec + 60;
    uint64_t seconds[] = {next_muid_time(muids) / 1000000, next_tid_time(tids) / 1000000,
                          next_gid(gids, U9_GID_LOG).timestamp_ms / 1000,
                          next_uid8(uid8s).timestamp_ms / 1000};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_gt(seconds[i], before);
        ck_assert_uint_lt(seconds[i], after);
    }
    for (int i = 0; i < 200; i++) (void)next_uid8(uid8s); /* really waits */
    u9_muidgen_free(muids);
    u9_tidgen_free(tids);
    u9_gidgen_free(gids);
    u9_uid8gen_free(uid8s);
}
END_TEST

/* A child's identity cannot be drawn again without randomness. */
START_TEST(a_forked_child_without_randomness_makes_nothing)
{
    const u9_muidgen_options m = muid_options();
    const u9_tidgen_options t = tid_options();
    u9_muidgen *muids = new_muidgen(&m);
    u9_tidgen *tids = new_tidgen(&t);
    pid_t child = fork();
    if (child == 0) {
        u9_muid muid;
        u9_tid tid;
        noise.broken = true;
        int failed = u9_muidgen_next(muids, &muid) != U9_IO;
        failed |= u9_tidgen_next(tids, NULL, &tid) != U9_IO;
        noise.broken = false; /* the same bits as in the parent make another number */
        failed |= u9_muidgen_next(muids, &muid) != U9_OK;
        failed |= muid.medallion != (UINT64_C(1) << 40) + 1;
        _exit(failed);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    u9_muidgen_free(muids);
    u9_tidgen_free(tids);
}
END_TEST

Suite *suite_idgen(void)
{
    const TTest *const tests[] = {
        timestamps_are_the_clocks_while_it_runs,
        timestamps_grow_by_one_while_the_clock_stands_or_is_behind,
        a_clock_before_1970_is_behind,
        after_a_restart_timestamps_are_above_those_seen,
        a_transaction_has_one_timestamp_and_offsets_from_1,
        muids_end_in_2112,
        tids_end_with_53_bits,
        a_tid_is_above_the_one_that_the_caller_names,
        medallions_are_drawn_from_their_range_once,
        clock_ids_are_drawn_from_their_range_once,
        given_medallions_and_clock_ids_are_kept,
        options_out_of_range_are_refused,
        a_gid_is_the_clock_the_prefix_twice_and_64_random_bits,
        a_wide_gid_has_71_random_bits,
        a_clock_that_no_gid_can_hold_is_refused,
        by_default_a_gid_follows_the_clock_back,
        a_monotonic_generator_counts_up_while_the_clock_stands_or_is_behind,
        a_monotonic_generator_takes_the_next_millisecond_when_the_bits_are_used_up,
        a_wide_monotonic_generator_carries_into_byte_7,
        the_last_millisecond_of_gids_can_be_used_up,
        after_a_restart_monotonic_gids_are_above_those_seen,
        without_randomness_there_are_no_gids,
        without_memory_or_the_systems_randomness_no_generator_is_made,
        gid_options_and_types_out_of_range_are_refused,
        a_sequence_begins_at_0_in_each_millisecond,
        behind_64_it_waits_for_the_next_millisecond,
        behind_64_it_gives_up_on_a_clock_that_stands,
        a_clock_that_was_set_back_continues_the_millisecond_before,
        after_a_restart_the_milliseconds_seen_are_full,
        eight_byte_identifiers_end_in_2109,
        uid8_options_out_of_range_are_refused,
        the_default_clock_is_the_real_one,
        a_forked_child_without_randomness_makes_nothing,
    };
    Suite *suite = suite_create("idgen");
    TCase *tcase = tcase_create("idgen");
    tcase_add_checked_fixture(tcase, begin, NULL);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
