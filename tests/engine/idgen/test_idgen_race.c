/*
 * tests/engine/idgen/test_idgen_race.c: fresh identifiers (SPEC-values.md, I-15 to I-17, I-21) made by several
 * at once: parents and forked children, and eight threads that make ten million of each kind (fewer
 * under a sanitizer). One thread and a simulated clock are in test_idgen.c.
 */
#include "tests/sanitized.h"
#include "tests/suites.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <u9/idgen.h>
#include <unistd.h>

#if SANITIZED
enum { MANY = 100000 };
#else
enum { MANY = 1000000 };
#endif

enum { THREADS = 8, SHARE = MANY / THREADS, TIMEOUT_S = 120 };

static uint64_t low_bits(const u9_gid *gid)
{
    uint64_t low = 0;
    for (unsigned i = 1; i < U9_GID_RANDOM_SIZE; i++) low = low << 8 | gid->random[i];
    return low;
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

#define NOON_US INT64_C(1700000000000000)

static int64_t standing_us(void *ctx)
{
    (void)ctx;
    return NOON_US;
}

enum { AFTER_FORK = 200 };

/* What parent and child make after a fork, for comparison. */
typedef struct made {
    uint64_t medallion, clock_id;
    uint64_t random[AFTER_FORK], monotonic[AFTER_FORK];
    u9_err errors[5]; /* muid, tid and uid8 with given numbers; muid and tid with drawn ones */
} made;

static struct {
    u9_muidgen *muids, *given_muids;
    u9_tidgen *tids, *given_tids;
    u9_gidgen *gids, *monotonic;
    u9_uid8gen *uid8s;
} all;

static void make_all(made *m)
{
    u9_muid muid;
    u9_tid tid;
    u9_gid gid;
    u9_uid8 id;
    m->errors[3] = u9_muidgen_next(all.muids, &muid);
    m->errors[4] = u9_tidgen_next(all.tids, NULL, &tid);
    m->medallion = muid.medallion;
    m->clock_id = tid.clock_id;
    for (int i = 0; i < AFTER_FORK; i++) {
        m->random[i] = u9_gidgen_next(all.gids, U9_GID_LOG, &gid) == U9_OK ? low_bits(&gid) : 0;
        m->monotonic[i] =
            u9_gidgen_next(all.monotonic, U9_GID_LOG, &gid) == U9_OK ? low_bits(&gid) : 0;
    }
    m->errors[0] = u9_muidgen_next(all.given_muids, &muid);
    m->errors[1] = u9_tidgen_next(all.given_tids, NULL, &tid);
    m->errors[2] = u9_uid8gen_next(all.uid8s, &id);
}

static bool among(uint64_t number, const uint64_t *numbers)
{
    for (int i = 0; i < AFTER_FORK; i++)
        if (numbers[i] == number) return true;
    return false;
}

static void open_all(void)
{
    const u9_muidgen_options m = {.size = sizeof m, .medallion = 5};
    const u9_tidgen_options t = {.size = sizeof t, .clock_id_given = 1, .clock_id = 5};
    const u9_clock clock = {standing_us, NULL, NULL}; /* or each process had its own millisecond */
    const u9_gidgen_options g = {.size = sizeof g, .clock = &clock, .monotonic = 1};
    const u9_uid8gen_options u = {.size = sizeof u};
    all.muids = new_muidgen(NULL);
    all.given_muids = new_muidgen(&m);
    all.tids = new_tidgen(NULL);
    all.given_tids = new_tidgen(&t);
    all.gids = new_gidgen(NULL);
    all.monotonic = new_gidgen(&g);
    all.uid8s = new_uid8gen(&u);
}

static void close_all(void)
{
    u9_muidgen_free(all.muids);
    u9_muidgen_free(all.given_muids);
    u9_tidgen_free(all.tids);
    u9_tidgen_free(all.given_tids);
    u9_gidgen_free(all.gids);
    u9_gidgen_free(all.monotonic);
    u9_uid8gen_free(all.uid8s);
}

/* Makes all in a forked child, into `*out`. */
static void make_all_in_child(made *out)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        static made m;
        alarm(60);
        make_all(&m);
        _exit(write(ends[1], &m, sizeof m) == sizeof m ? 0 : 1);
    }
    close(ends[1]);
    size_t got = 0;
    ssize_t n;
    while (got < sizeof *out && (n = read(ends[0], (char *)out + got, sizeof *out - got)) > 0)
        got += (size_t)n;
    close(ends[0]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(got, sizeof *out);
}

/* [I-15] [I-16] [I-17] */
START_TEST(a_forked_child_never_repeats_its_parent)
{
    static made first, parent, child, sibling;
    open_all();
    make_all(&first); /* fills the pool of randomness */
    make_all_in_child(&child);
    make_all_in_child(&sibling);
    make_all(&parent);
    ck_assert_uint_eq(parent.medallion, first.medallion);
    ck_assert_uint_eq(parent.clock_id, first.clock_id);
    ck_assert_uint_ne(child.medallion, parent.medallion);
    ck_assert_uint_ne(sibling.medallion, parent.medallion);
    ck_assert_uint_ne(sibling.medallion, child.medallion);
    ck_assert_uint_ne(child.clock_id, parent.clock_id);
    ck_assert_uint_ge(child.medallion, UINT64_C(1) << 40);
    ck_assert_uint_lt(child.medallion, UINT64_C(1) << 41);
    for (int i = 0; i < AFTER_FORK; i++) {
        ck_assert(!among(child.random[i], parent.random));
        ck_assert(!among(child.random[i], first.random));
        ck_assert(!among(child.random[i], sibling.random));
        ck_assert(!among(child.monotonic[i], parent.monotonic));
        ck_assert(!among(child.monotonic[i], first.monotonic));
        ck_assert(!among(child.monotonic[i], sibling.monotonic));
    }
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(parent.errors[i], U9_OK);
        ck_assert_int_eq(child.errors[i], i < 3 ? U9_STATE : U9_OK);
    }
    close_all();
}
END_TEST

static atomic_bool stop;

static void *hammer(void *ctx)
{
    u9_gid gid;
    bool failed = false;
    while (!stop && !failed) failed = u9_gidgen_next(all.monotonic, U9_GID_LOG, &gid) != U9_OK;
    return failed ? ctx : NULL;
}

/* [I-16] The child has no thread that would open the lock again. */
START_TEST(a_lock_that_is_held_in_the_parent_does_not_stop_the_child)
{
    static made child;
    pthread_t threads[4];
    void *failed;
    open_all();
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, hammer, &all);
    for (int i = 0; i < 50; i++) make_all_in_child(&child);
    stop = true;
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    close_all();
}
END_TEST

/* One thread's share of the identifiers, each as a number. */
typedef struct share {
    uint64_t *numbers;
    void *gen;
    bool (*make)(void *gen, uint64_t *out);
    bool ordered; /* they only grow */
    bool failed;
} share;

static bool make_muid(void *gen, uint64_t *out)
{
    u9_muid muid;
    if (u9_muidgen_next((u9_muidgen *)gen, &muid) != U9_OK) return false;
    *out = muid.timestamp; /* one medallion: these must be distinct */
    return true;
}

static bool make_tid(void *gen, uint64_t *out)
{
    u9_tid tid;
    if (u9_tidgen_next((u9_tidgen *)gen, NULL, &tid) != U9_OK) return false;
    *out = tid.timestamp;
    return true;
}

/* Of 10^7 numbers of 64 bits two are the same once in 370000 runs. */
static bool make_gid(void *gen, uint64_t *out)
{
    u9_gid gid;
    if (u9_gidgen_next((u9_gidgen *)gen, U9_GID_LOG, &gid) != U9_OK) return false;
    *out = low_bits(&gid);
    return true;
}

static bool make_uid8(void *gen, uint64_t *out)
{
    u9_uid8 id;
    uint8_t packed[U9_UID8_SIZE];
    u9_err err = U9_AGAIN;
    while (err == U9_AGAIN) err = u9_uid8gen_next((u9_uid8gen *)gen, &id);
    if (err != U9_OK || u9_uid8_pack(&id, 4, packed, NULL) != U9_OK) return false;
    *out = 0;
    for (unsigned i = 0; i < sizeof packed; i++) *out = *out << 8 | packed[i];
    return true;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void *make_share(void *ctx)
{
    share *s = (share *)ctx;
    for (size_t i = 0; i < SHARE; i++) {
        if (!s->make(s->gen, &s->numbers[i])) s->failed = true;
        if (s->ordered && i > 0 && s->numbers[i] <= s->numbers[i - 1]) s->failed = true;
        if (s->failed) return NULL;
    }
    if (!s->ordered) qsort(s->numbers, SHARE, sizeof *s->numbers, compare);
    return NULL;
}

/* Merges the shares: each number must be above the one before. */
static bool all_distinct(share shares[THREADS])
{
    size_t at[THREADS] = {0};
    uint64_t last = 0;
    for (size_t i = 0; i < (size_t)SHARE * THREADS; i++) {
        unsigned least = THREADS;
        for (unsigned t = 0; t < THREADS; t++) {
            if (at[t] == SHARE) continue;
            if (least == THREADS || shares[t].numbers[at[t]] < shares[least].numbers[at[least]])
                least = t;
        }
        uint64_t number = shares[least].numbers[at[least]++];
        if (i > 0 && number <= last) return false;
        last = number;
    }
    return true;
}

static void expect_distinct(void *gen, bool (*make)(void *gen, uint64_t *out), bool ordered)
{
    share shares[THREADS];
    pthread_t threads[THREADS];
    uint64_t *numbers = (uint64_t *)malloc(sizeof *numbers * SHARE * THREADS);
    ck_assert_ptr_nonnull(numbers);
    for (unsigned t = 0; t < THREADS; t++) {
        shares[t] = (share){numbers + (size_t)t * SHARE, gen, make, ordered, false};
        ck_assert_int_eq(pthread_create(&threads[t], NULL, make_share, &shares[t]), 0);
    }
    for (unsigned t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        ck_assert(!shares[t].failed);
    }
    ck_assert(all_distinct(shares));
    free(numbers);
}

/* [I-15] */
START_TEST(eight_threads_never_make_a_muid_twice)
{
    u9_muidgen *gen = new_muidgen(NULL);
    expect_distinct(gen, make_muid, true);
    u9_muidgen_free(gen);
}
END_TEST

/* [I-15] */
START_TEST(eight_threads_never_make_a_tid_twice)
{
    u9_tidgen *gen = new_tidgen(NULL);
    expect_distinct(gen, make_tid, true);
    u9_tidgen_free(gen);
}
END_TEST

/* [I-16] */
START_TEST(eight_threads_never_make_a_gid_twice)
{
    u9_gidgen *gen = new_gidgen(NULL);
    expect_distinct(gen, make_gid, false);
    u9_gidgen_free(gen);
}
END_TEST

static int fill_ones(void *ctx, void *out, size_t size)
{
    (void)ctx;
    memset(out, 0x11, size);
    return 0;
}

static int64_t going_us(void *ctx)
{
    return atomic_fetch_add((_Atomic int64_t *)ctx, 12);
}

static void go(void *ctx, uint64_t us)
{
    atomic_fetch_add((_Atomic int64_t *)ctx, (int64_t)us);
}

/* [I-16] The clock stands: all are in one millisecond, and only the random bits count up. */
START_TEST(eight_threads_never_make_a_monotonic_gid_twice)
{
    const u9_clock clock = {standing_us, NULL, NULL};
    const u9_random random = {fill_ones, NULL};
    const u9_gidgen_options o = {.size = sizeof o, .clock = &clock, .random = &random,
                                 .monotonic = 1};
    u9_gidgen *gen = new_gidgen(&o);
    expect_distinct(gen, make_gid, true);
    u9_gidgen_free(gen);
}
END_TEST

/* [I-17] The clock goes on with each reading, for real time has 64 of them in a millisecond. */
START_TEST(eight_threads_never_make_an_eight_byte_identifier_twice)
{
    _Atomic int64_t now = NOON_US;
    const u9_clock clock = {going_us, go, &now};
    const u9_uid8gen_options o = {.size = sizeof o, .clock = &clock, .generator = 2047,
                                  .mode = U9_UID8_TIME_SEQUENTIAL};
    u9_uid8gen *gen = new_uid8gen(&o);
    expect_distinct(gen, make_uid8, true);
    u9_uid8gen_free(gen);
}
END_TEST

/* A thread's batch, of which one is taken after the other; each begins with the thread. */
enum { BATCH_MAX = 97 };

static _Thread_local struct {
    size_t next, size, rounds;
    u9_muid muids[BATCH_MAX];
    u9_tid tids[BATCH_MAX];
    u9_gid gids[BATCH_MAX];
    u9_uid8 uid8s[BATCH_MAX];
} batch;

/* True if the batch is used up: then its next size, now and then 1. */
static bool batch_is_empty(void)
{
    if (batch.next < batch.size) return false;
    batch.next = 0;
    batch.size = batch.rounds++ * 31 % BATCH_MAX + 1;
    return true;
}

/* [I-21] What another thread was given does not stand between those of a batch. */
static bool make_muid_of_batch(void *gen, uint64_t *out)
{
    if (batch_is_empty() && u9_muidgen_next_n((u9_muidgen *)gen, batch.muids, batch.size) != U9_OK)
        return false;
    *out = batch.muids[batch.next].timestamp;
    return *out == batch.muids[0].timestamp + batch.next++;
}

static bool make_tid_of_batch(void *gen, uint64_t *out)
{
    if (batch_is_empty() && u9_tidgen_next_n((u9_tidgen *)gen, NULL, batch.tids, batch.size) != U9_OK)
        return false;
    *out = batch.tids[batch.next].timestamp;
    return *out == batch.tids[0].timestamp + batch.next++;
}

static bool make_gid_of_batch(void *gen, uint64_t *out)
{
    if (batch_is_empty() &&
        u9_gidgen_next_n((u9_gidgen *)gen, U9_GID_LOG, batch.gids, batch.size) != U9_OK)
        return false;
    *out = low_bits(&batch.gids[batch.next++]);
    return true;
}

static bool make_monotonic_gid_of_batch(void *gen, uint64_t *out)
{
    if (!make_gid_of_batch(gen, out)) return false;
    return *out == low_bits(&batch.gids[0]) + batch.next - 1;
}

static bool make_uid8_of_batch(void *gen, uint64_t *out)
{
    uint8_t packed[U9_UID8_SIZE];
    while (batch_is_empty()) { /* of a batch that was cut short, what there is */
        u9_err err = u9_uid8gen_next_n((u9_uid8gen *)gen, batch.uid8s, batch.size, &batch.size);
        if (err != U9_OK && err != U9_AGAIN) return false;
    }
    if (u9_uid8_pack(&batch.uid8s[batch.next++], 4, packed, NULL) != U9_OK) return false;
    *out = 0;
    for (unsigned i = 0; i < sizeof packed; i++) *out = *out << 8 | packed[i];
    return true;
}

/* [I-21] */
START_TEST(eight_threads_that_take_batches_never_get_a_muid_twice)
{
    u9_muidgen *gen = new_muidgen(NULL);
    expect_distinct(gen, make_muid_of_batch, true);
    u9_muidgen_free(gen);
}
END_TEST

/* [I-21] */
START_TEST(eight_threads_that_take_batches_never_get_a_tid_twice)
{
    u9_tidgen *gen = new_tidgen(NULL);
    expect_distinct(gen, make_tid_of_batch, true);
    u9_tidgen_free(gen);
}
END_TEST

/* [I-21] */
START_TEST(eight_threads_that_take_batches_never_get_a_gid_twice)
{
    u9_gidgen *gen = new_gidgen(NULL);
    expect_distinct(gen, make_gid_of_batch, false);
    u9_gidgen_free(gen);
}
END_TEST

/* [I-21] The clock stands: all are in one millisecond. */
START_TEST(eight_threads_that_take_batches_never_get_a_monotonic_gid_twice)
{
    const u9_clock clock = {standing_us, NULL, NULL};
    const u9_random random = {fill_ones, NULL};
    const u9_gidgen_options o = {.size = sizeof o, .clock = &clock, .random = &random,
                                 .monotonic = 1};
    u9_gidgen *gen = new_gidgen(&o);
    expect_distinct(gen, make_monotonic_gid_of_batch, true);
    u9_gidgen_free(gen);
}
END_TEST

/* [I-21] */
START_TEST(eight_threads_that_take_batches_never_get_an_eight_byte_identifier_twice)
{
    _Atomic int64_t now = NOON_US;
    const u9_clock clock = {going_us, go, &now};
    const u9_uid8gen_options o = {.size = sizeof o, .clock = &clock, .generator = 2047,
                                  .mode = U9_UID8_TIME_SEQUENTIAL};
    u9_uid8gen *gen = new_uid8gen(&o);
    expect_distinct(gen, make_uid8_of_batch, true);
    u9_uid8gen_free(gen);
}
END_TEST

Suite *suite_idgen_race(void)
{
    const TTest *const tests[] = {
        a_forked_child_never_repeats_its_parent,
        a_lock_that_is_held_in_the_parent_does_not_stop_the_child,
        eight_threads_never_make_a_muid_twice,
        eight_threads_never_make_a_tid_twice,
        eight_threads_never_make_a_gid_twice,
        eight_threads_never_make_a_monotonic_gid_twice,
        eight_threads_never_make_an_eight_byte_identifier_twice,
        eight_threads_that_take_batches_never_get_a_muid_twice,
        eight_threads_that_take_batches_never_get_a_tid_twice,
        eight_threads_that_take_batches_never_get_a_gid_twice,
        eight_threads_that_take_batches_never_get_a_monotonic_gid_twice,
        eight_threads_that_take_batches_never_get_an_eight_byte_identifier_twice,
    };
    Suite *suite = suite_create("idgen_race");
    TCase *tcase = tcase_create("idgen_race");
    tcase_set_timeout(tcase, TIMEOUT_S);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
