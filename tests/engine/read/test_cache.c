/*
 * tests/engine/read/test_cache.c: lookups with little memory (options.cache_memory): they say the same, keep no more than
 * they may, and each costs a few reads, however little that is: nothing that was made or proven once is made or hashed
 * again. [K-2] [K-3]
 */
#include "tests/engine/read/model.h"
#include "tests/engine/scarce.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include "engine/os/guard.h"
#include "engine/read/view.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 100000, DOUBLE = 2000, FRAME = 65536 + 8192, VALUE = 2 + 200, BATCH = 200, SEGMENTS = 8, LARGE = 1 << 22 };

static void setup(void)
{
    sim_begin(17);
}

static void setup_threads(void)
{
    sim_begin_threads(17);
}

static void teardown(void)
{
    sim_end();
}

/* The key of record n; the last DOUBLE records have those of the first. They come in no order, or in order. */
static void key_of(uint64_t n, bool ordered, uint8_t out[8])
{
    uint64_t key = n % (RECORDS - DOUBLE) + 1, hash = key * UINT64_C(0x9e3779b97f4a7c15);
    if (!ordered) key = hash ^ hash >> 29;
    for (unsigned i = 0; i < 8; i++) out[i] = (uint8_t)(key >> (56 - 8 * i));
}

static u9_log *open_with(uint64_t cache_memory, u9_mode mode, u9_verify verify)
{
    u9_log *log;
    u9_fault fault;
    u9_options o = {.size = sizeof o, .mode = mode, .io = sim_io(), .segment_size = LARGE, .kind = "uid8", .verify = verify,
                    .policy = U9_POLICY_NONE, .cache_memory = cache_memory};
    ck_assert_msg(u9_log_open(LOG, &o, &log, &fault) == U9_OK, "%s", fault.text);
    return log;
}

static void append_numbers(u9_log *w, uint64_t first, uint64_t count, bool ordered)
{
    static const uint8_t value[VALUE] = {0x1c, VALUE - 2}; /* so many bytes */
    u9_entry *entries = calloc(count, sizeof *entries);
    uint8_t(*keys)[8] = calloc(count, sizeof *keys);
    ck_assert(entries != NULL && keys != NULL);
    for (uint64_t i = 0; i < count; i++) {
        key_of(first + i, ordered, keys[i]);
        entries[i] = (u9_entry){.key = {keys[i], 8}, .values = value, .size = VALUE};
    }
    ck_assert_int_eq(u9_log_append_batch(w, entries, count, NULL), U9_OK);
    free(entries);
    free(keys);
}

/* Sealed segments with indexes, and one behind them that has none. */
static void write_numbers(uint64_t count, bool ordered)
{
    u9_log *w = open_with(0, U9_CREATE, U9_VERIFY_FIRST);
    for (uint64_t n = 0; n < count; n += BATCH) append_numbers(w, n, BATCH, ordered);
    close_log(w);
}

static u9_err get_number(u9_log *log, uint64_t n, bool ordered, u9_record *r)
{
    static _Thread_local uint8_t buf[2 * VALUE];
    uint8_t key[8];
    key_of(n, ordered, key);
    return u9_log_get(log, &(u9_key){key, 8}, buf, sizeof buf, r, NULL);
}

/* Of `count` records: the newest one with the key of record n is found. */
static void expect_number(u9_log *log, uint64_t n, uint64_t count, bool ordered)
{
    u9_record r;
    uint64_t newest = n + RECORDS - DOUBLE < count ? n + RECORDS - DOUBLE : n;
    ck_assert_int_eq(get_number(log, n, ordered, &r), U9_OK);
    ck_assert_uint_eq(r.ordinal, newest);
}

/* Bytes that the handle keeps by its own count. */
static uint64_t kept_by(u9_log *log)
{
    u9i_view *v;
    ck_assert_int_eq(u9i_view_take(log, false, &v, NULL), U9_OK);
    uint64_t used = atomic_load(&v->segments[0]->kept->whole->budget.used);
    u9i_view_release(v);
    return used;
}

/* What lookups read: the worst one, and all. */
typedef struct costs {
    unsigned reads_most;
    uint64_t bytes_most, reads, bytes, opens;
} costs;

static costs cost_of(u9_log *log, uint64_t count, unsigned lookups, bool ordered)
{
    costs c = {.reads = 0};
    for (unsigned i = 0; i < lookups; i++) {
        sim_forget_diary();
        expect_number(log, model_draw(count), count, ordered);
        unsigned reads = sim_count(SIM_READ);
        uint64_t bytes = sim_bytes(SIM_READ);
        if (c.reads_most < reads) c.reads_most = reads;
        if (c.bytes_most < bytes) c.bytes_most = bytes;
        c.reads += reads;
        c.bytes += bytes;
        c.opens += sim_count(SIM_OPEN);
    }
    return c;
}

/* From one that is enough for all to one that is enough for nothing. */
enum { MEMORIES = 4 };
static const uint64_t memories[MEMORIES] = {2 << 20, 300000, 20000, 1};

START_TEST(a_lookup_costs_a_few_reads_however_little_memory_there_is)
{
    enum { WARM_UP = 2500 };
    unsigned lookups = thorough(600, 1500);
    bool ordered = _i % 2;
    uint64_t memory = memories[_i / 2];
    write_numbers(RECORDS, ordered);
    model_drawn = 71;
    u9_log *r = open_with(memory, U9_READ, U9_VERIFY_FIRST);
    (void)cost_of(r, RECORDS, WARM_UP, ordered); /* what has no index is read for its keys, and all is proven */
    costs c = cost_of(r, RECORDS, lookups, ordered);
    ck_assert_uint_le(kept_by(r), memory);
    /* Where nothing fits, one frame of each segment, too: that in which the first few keys came in order. */
    bool all = _i / 2 == 0, some = _i / 2 == 1;
    ck_assert_msg(c.reads_most <= 5 * SEGMENTS, "%u reads for one record", c.reads_most);
    ck_assert_msg(c.bytes_most <= (all || some ? 3 : SEGMENTS + 1) * FRAME, "%llu bytes for one record", (unsigned long long)c.bytes_most);
    ck_assert_msg(c.reads <= (all ? 2 : some ? 8 : 25) * (uint64_t)lookups, "%llu reads", (unsigned long long)c.reads);
    ck_assert_msg(c.bytes <= (uint64_t)(all ? 1024 : some ? FRAME : SEGMENTS * FRAME) * lookups, "%llu bytes", (unsigned long long)c.bytes);
    ck_assert_uint_le(c.opens, 8); /* not of segments: the view is looked after */
    close_log(r);
}
END_TEST

START_TEST(with_any_memory_lookups_say_what_a_model_says)
{
    model *m = model_new(_i % 4);
    u9_log *w = model_open(m, U9_CREATE), *r;
    for (unsigned n = 0; n < 3000; n++) {
        size_t i = (size_t)model_draw(KEYS * 3 / 4); /* the rest stay absent */
        model_append(w, m, i, _i % 4 == 0 && !m->keys[i].there);
    }
    close_log(w);
    bool always = _i / 4 >= MEMORIES; /* with the most and the least */
    uint64_t memory = memories[always ? (_i / 4 - MEMORIES) * (MEMORIES - 1) : _i / 4];
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = sim_io(), .cache_memory = memory,
                    .verify = always ? U9_VERIFY_ALWAYS : U9_VERIFY_FIRST};
    ck_assert_int_eq(u9_log_open(LOG, &o, &r, NULL), U9_OK);
    for (unsigned n = 0; n < thorough(2, 3); n++) model_look_up_all(r, m);
    for (size_t i = 0; i < KEYS; i += 25) {
        told t = {.count = 0};
        u9_key key = {.data = m->keys[i].raw, .size = m->keys[i].size};
        ck_assert_int_eq(u9_log_versions(r, &key, model_count_version, &t, NULL), m->keys[i].there ? U9_OK : U9_ABSENT);
        ck_assert_uint_eq(t.count, m->keys[i].versions);
    }
    ck_assert_uint_le(kept_by(r), memory);
    close_log(r);
    free(m);
}
END_TEST

/* Where frames are let go of and begin anew, and there is no memory for that, an answer is what it was, or that is told. */
START_TEST(frames_that_cannot_begin_anew_for_want_of_memory_change_no_answer)
{
    enum { COUNT = RECORDS / 5, MEMORY = 20000 };
    write_numbers(COUNT, false);
    for (unsigned nth = 1, failed = 1; failed > 0; nth++) {
        u9i_view *v;
        u9_record found;
        u9_log *r = open_with(MEMORY, U9_READ, U9_VERIFY_FIRST);
        expect_number(r, 0, COUNT, false);
        ck_assert_int_eq(u9i_view_take(r, false, &v, NULL), U9_OK);
        for (uint64_t n = 0; !u9i_budget_full(&v->kept->budget); n += 4999) expect_number(r, n % COUNT, COUNT, false);
        u9i_view_release(v);
        scarce_begin(SCARCE_MEMORY, nth, 0, false);
        u9_err err = get_number(r, nth, false, &found);
        failed = scarce_end(NULL);
        ck_assert(err == U9_OK || (failed > 0 && err == U9_NOMEM));
        if (err == U9_OK) ck_assert_uint_eq(found.ordinal, nth);
        expect_number(r, nth, COUNT, false);
        ck_assert_uint_le(kept_by(r), MEMORY);
        close_log(r);
    }
}
END_TEST

/* The hashes of all frames of the first segment's data are wrong from now on. */
static void spoil_hashes(void)
{
    enum { FRAMES = 64 };
    static seen_frame frames[FRAMES];
    char path[64];
    uint8_t byte;
    snprintf(path, sizeof path, "%s/%016x.u9", LOG, 1);
    size_t size = (size_t)sim_size(path), count;
    uint8_t *bytes = malloc(size);
    ck_assert(bytes != NULL);
    ck_assert_uint_eq(sim_read(path, 0, bytes, size), size);
    count = list_frames(bytes, size, frames, FRAMES);
    free(bytes);
    for (size_t i = 0; i < count; i++) {
        if (frames[i].count == 0) continue;
        sim_read(path, frames[i].offset + 20, &byte, 1);
        byte ^= 1;
        sim_write(path, frames[i].offset + 20, &byte, 1);
    }
}

START_TEST(what_was_proven_is_not_hashed_again_where_nothing_can_be_kept)
{
    enum { SOME = 200 };
    u9_record found;
    bool always = _i;
    write_numbers(RECORDS / 4, false);
    u9_log *r = open_with(1, U9_READ, always ? U9_VERIFY_ALWAYS : U9_VERIFY_FIRST);
    for (uint64_t n = 0; n < RECORDS / 4; n += 11) expect_number(r, n, RECORDS / 4, false);
    sim_advance(2 * U9I_VIEW_AGE_US);
    expect_number(r, 1, RECORDS / 4, false); /* the view is young again: nobody looks at the file's times */
    spoil_hashes();
    for (uint64_t n = 1; n < SOME; n++) {
        u9_err err = get_number(r, n, false, &found); /* of the first segment */
        ck_assert_int_eq(err, always && !u9i_guard_ready() ? U9_CORRUPT : U9_OK);
        if (always) break; /* which scans the log */
    }
    close_log(r);
}
END_TEST

/* What was written just now, by the handle that wrote it: no file is opened again and again. */
START_TEST(a_writer_finds_its_own_records_with_a_few_reads)
{
    enum { WRITTEN = 8000, LOOKUPS = 1500 };
    model_drawn = 5;
    u9_log *w = open_with(memories[_i], U9_CREATE, U9_VERIFY_FIRST);
    for (uint64_t n = 0; n < WRITTEN; n += BATCH) append_numbers(w, n, BATCH, false);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    (void)cost_of(w, WRITTEN, 100, false);
    costs c = cost_of(w, WRITTEN, LOOKUPS, false);
    ck_assert_uint_le(c.bytes_most, 2 * FRAME);
    ck_assert_uint_le(c.reads_most, 8);
    ck_assert_uint_le(c.opens, 8); /* where frames begin anew */
    close_log(w);
}
END_TEST

typedef struct looking {
    pthread_t thread;
    u9_log *log;
    uint64_t seed;
} looking;

static void *look_up_some(void *ctx)
{
    enum { LOOKUPS = 2500 };
    const looking *l = (const looking *)ctx;
    u9_record r;
    for (uint64_t i = 0, n = l->seed; i < LOOKUPS; i++, n = (n * 7919 + 13) % (RECORDS / 2))
        if (get_number(l->log, n, false, &r) != U9_OK || r.ordinal != n) return l->log;
    return NULL;
}

START_TEST(threads_look_up_while_frames_are_let_go)
{
    enum { THREADS = 3 };
    looking all[THREADS];
    write_numbers(RECORDS / 2, false);
    u9_log *r = open_with(memories[2], U9_READ, U9_VERIFY_FIRST);
    for (uint64_t n = 0; n < RECORDS / 2; n += 500) expect_number(r, n, RECORDS / 2, false); /* all have an index now */
    u9i_view *before, *after;
    ck_assert_int_eq(u9i_view_take(r, false, &before, NULL), U9_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        all[i] = (looking){.log = r, .seed = i * 1000 + 1};
        ck_assert_int_eq(pthread_create(&all[i].thread, NULL, look_up_some, &all[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *wrong;
        ck_assert_int_eq(pthread_join(all[i].thread, &wrong), 0);
        ck_assert(wrong == NULL);
    }
    ck_assert_uint_le(kept_by(r), memories[2]);
    ck_assert_int_eq(u9i_view_take(r, false, &after, NULL), U9_OK);
    bool same = after->segments[0]->kept == before->segments[0]->kept;
    ck_assert(!same); /* frames went, and the index did not */
    ck_assert_ptr_eq(after->segments[0]->index.common, before->segments[0]->index.common);
    u9i_view_release(before);
    u9i_view_release(after);
    close_log(r);
}
END_TEST

Suite *suite_cache(void)
{
    Suite *s = suite_create("cache");
    TCase *t = tcase_create("cache");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, a_lookup_costs_a_few_reads_however_little_memory_there_is, 0, 2 * MEMORIES);
    tcase_add_loop_test(t, with_any_memory_lookups_say_what_a_model_says, 0, 4 * (MEMORIES + 2));
    tcase_add_loop_test(t, what_was_proven_is_not_hashed_again_where_nothing_can_be_kept, 0, 2);
    tcase_add_test(t, frames_that_cannot_begin_anew_for_want_of_memory_change_no_answer);
    tcase_add_loop_test(t, a_writer_finds_its_own_records_with_a_few_reads, 0, MEMORIES);
    suite_add_tcase(s, t);
    return s;
}

Suite *suite_cache_threads(void)
{
    Suite *s = suite_create("cache_threads");
    TCase *t = tcase_create("cache_threads");
    tcase_add_checked_fixture(t, setup_threads, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, threads_look_up_while_frames_are_let_go);
    suite_add_tcase(s, t);
    return s;
}
