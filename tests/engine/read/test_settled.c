/*
 * tests/engine/read/test_settled.c: what a reader was given does not vanish in a power cut, though the writer died
 * before it was durable. {F70}
 */
#include "tests/engine/fixture.h"
#include "tests/engine/link/ship.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 30000 };

/* A log whose writer died: `synced` records are durable, many more were written. Returns how many were in all. */
static uint64_t abandon(const char *log, unsigned synced)
{
    u9_options o = small_options();
    u9_report report = {.size = sizeof report};
    uint8_t filler[200];
    memset(filler, 'f', sizeof filler);
    o.segment_size = 16 << 20;
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(log, &o);
    for (unsigned i = 0; i < synced; i++) append_bytes(w, filler, sizeof filler);
    if (synced) ck_assert_int_eq(u9_log_sync(w), U9_OK);
    for (unsigned i = 0; i < RECORDS; i++) append_bytes(w, filler, sizeof filler);
    crash(w, log);

    copy_log(log, at("control")); /* without a reader most of it is gone, as it must be for this to be a test */
    sim_cut_power(at("control"));
    if (synced > 0) {
        u9_check_options c = {.size = sizeof c, .io = sim_io()};
        ck_assert_int_eq(u9_check(at("control"), &c, &report, NULL), U9_OK);
    }
    ck_assert_uint_ge(report.records, synced);
    ck_assert_uint_lt(report.records, synced + RECORDS);
    remove_log(at("control"));
    return synced + RECORDS;
}

static uint64_t read_all(u9_log *r, u9_key *last, uint8_t key[16], unsigned *errors, u9_fault *fault)
{
    u9_cursor *c;
    u9_record record;
    u9_err err;
    uint64_t n = 0;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    while ((err = u9_cursor_next(c, &record)) != U9_END) {
        if (err != U9_OK) {
            ++*errors;
            u9_cursor_fault(c, fault);
            continue;
        }
        n++;
        memcpy(key, record.key.data, 16);
        *last = (u9_key){.data = key, .size = 16};
    }
    u9_cursor_close(c);
    return n;
}

static uint64_t records_of(const char *log)
{
    u9_log *r = open_reader(log);
    u9_key last;
    uint8_t key[16];
    unsigned errors = 0;
    u9_fault fault;
    uint64_t n = read_all(r, &last, key, &errors, &fault);
    ck_assert_uint_eq(errors, 0);
    close_log(r);
    return n;
}

/* The ways in which records are handed out. */
typedef enum way { BY_CURSOR, BY_KEY, BY_CHECK, BY_SALVAGE, BY_FILE, BY_RANGE, BY_SEND, WAYS } way;

/* Returns how many records are known to be there now. */
static uint64_t hand_out(const char *log, way which)
{
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = sim_io()};
    u9_range range = {.size = sizeof range, .segment = 1, .begin = 300000, .end = 400000};
    uint64_t n = 0;
    size_t size;
    u9_record record;
    u9_cursor *c;
    u9_log *r;
    switch (which) {
    case BY_CURSOR: return records_of(log);
    case BY_FILE: return records_of(segment_path(log, 1));
    case BY_CHECK: ck_assert_int_eq(u9_check(log, &o, &report, NULL), U9_OK); return report.records;
    case BY_SALVAGE:
        ck_assert_int_eq(u9_salvage(log, at("saved"), &o, &report, &n, NULL), U9_OK);
        return n;
    case BY_SEND: {
        uint8_t *stream = stream_of(log, 0, &size);
        side s = receive(at("copy"), stream, size);
        expect_fine(&s);
        free(stream);
        return records_of(at("copy"));
    }
    case BY_KEY:
    case BY_RANGE:
        r = open_reader(log);
        ck_assert_int_eq(u9_cursor_open(r, &range, &c, NULL), U9_OK);
        while (u9_cursor_next(c, &record) == U9_OK) n = record.ordinal + 1;
        u9_cursor_close(c);
        close_log(r);
        break;
    case WAYS: break;
    }
    return n;
}

/* The record of a key is looked up by a handle that has read nothing else. */
static uint64_t look_up(const char *log)
{
    u9_key last;
    uint8_t key[16], buf[4096];
    unsigned errors = 0;
    u9_fault fault;
    u9_record record;
    copy_log(log, at("twin")); /* to learn a key without having it handed out */
    u9_log *twin = open_reader(at("twin"));
    (void)read_all(twin, &last, key, &errors, &fault);
    close_log(twin);
    remove_log(at("twin"));
    u9_log *r = open_reader(log);
    ck_assert_int_eq(u9_log_get(r, &last, buf, sizeof buf, &record, NULL), U9_OK);
    close_log(r);
    return record.ordinal + 1;
}

/* {F09} {F70} */
START_TEST(what_was_handed_out_is_there_after_a_power_cut)
{
    char log[3200];
    snprintf(log, sizeof log, "%s", at("log"));
    unsigned synced = _i % 2 ? 5 : 0; /* 0: not even the file's name is durable */
    way which = (way)(_i / 2);
    uint64_t all = abandon(log, synced);
    uint64_t n = which == BY_KEY ? look_up(log) : hand_out(log, which);
    ck_assert_uint_gt(n, synced);
    ck_assert_uint_le(n, all);
    sim_cut_power(log);
    ck_assert_uint_ge(records_of(log), n);
    if (which != BY_SEND) return;
    session(log, "more", 3, 0); /* and the copy is not ahead: it takes what comes */
    size_t size;
    uint8_t *stream = stream_of(log, 0, &size);
    side s = receive(at("copy"), stream, size);
    expect_fine(&s);
    free(stream);
    ck_assert_uint_eq(records_of(at("copy")), records_of(log));
}
END_TEST

static unsigned syncs(void)
{
    return sim_count(SIM_EVICT) + sim_count(SIM_SYNC) + sim_count(SIM_SYNC_DIR);
}

START_TEST(a_closed_log_is_read_without_a_sync)
{
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = sim_io()};
    session(at("log"), "r", 100, 10);
    sim_forget_diary();
    ck_assert_uint_eq(records_of(at("log")), 100);
    ck_assert_uint_eq(records_of(segment_path(at("log"), 1)), 100);
    ck_assert_int_eq(u9_check(at("log"), &o, &report, NULL), U9_OK);
    ck_assert_uint_eq(syncs(), 0);
}
END_TEST

START_TEST(a_tail_is_synced_once_by_each_handle_and_beside_a_writer_by_none)
{
    u9_key last;
    uint8_t key[16];
    unsigned errors = 0;
    u9_fault fault;
    char log[3200];
    snprintf(log, sizeof log, "%s", at("log"));
    (void)abandon(log, 5);
    sim_take_lock(log); /* somebody is at it */
    u9_log *r = open_reader(log);
    sim_forget_diary();
    uint64_t n = read_all(r, &last, key, &errors, &fault);
    ck_assert_uint_eq(syncs(), 0);
    sim_drop_lock(log); /* and is gone: what was judged of it is judged anew, from the disk */
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_uint_eq(read_all(r, &last, key, &errors, &fault), n);
        ck_assert_uint_eq(sim_count(SIM_EVICT), 1);
        ck_assert_uint_eq(sim_count(SIM_SYNC_DIR), 1);
    }
    size_t count;
    const sim_op *ops = sim_ops(&count);
    uint64_t synced = sim_find(SIM_EVICT, 1, U9_NOWHERE)->ended, bytes = 0;
    for (size_t i = 0; i < count; i++)
        if (ops[i].kind == SIM_READ && ops[i].began > synced) bytes += ops[i].bytes;
    ck_assert_uint_gt(bytes, n * 200);
    ck_assert_uint_eq(errors, 0);
    close_log(r);
}
END_TEST

typedef struct reading {
    u9_log *log;
    uint64_t records;
    pthread_t thread;
} reading;

static void *read_beside_others(void *arg)
{
    reading *r = arg;
    u9_key last;
    uint8_t key[16];
    unsigned errors = 0;
    u9_fault fault;
    r->records = read_all(r->log, &last, key, &errors, &fault);
    return NULL;
}

START_TEST(threads_that_come_at_once_wait_for_one_sync)
{
    enum { THREADS = 4 };
    reading readers[THREADS];
    char log[3200];
    snprintf(log, sizeof log, "%s", at("log"));
    (void)abandon(log, 5);
    u9_log *r = open_reader(log);
    sim_forget_diary();
    sim_hold(SIM_EVICT, 1);
    for (unsigned i = 0; i < THREADS; i++) {
        readers[i] = (reading){.log = r};
        ck_assert_int_eq(pthread_create(&readers[i].thread, NULL, read_beside_others, &readers[i]), 0);
    }
    sim_wait_held();
    sim_let_go();
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(readers[i].thread, NULL);
        ck_assert_uint_gt(readers[i].records, 5);
        ck_assert_uint_eq(readers[i].records, readers[0].records);
    }
    ck_assert_uint_eq(sim_count(SIM_EVICT), 1);
    close_log(r);
}
END_TEST

/* {F41} Where it cannot be made durable, what is promised is served, and the rest is told. */
START_TEST(what_cannot_be_synced_is_not_served)
{
    static const sim_kind kinds[] = {SIM_EVICT, SIM_SYNC_DIR};
    u9_key last;
    uint8_t key[16];
    unsigned errors = 0;
    u9_fault fault = {0};
    char log[3200];
    snprintf(log, sizeof log, "%s", at("log"));
    u9_options o = small_options();
    o.segment_size = 16 << 20;
    u9_log *w = open_writer(log, &o);
    append_many(w, "promised", 10, 5);
    sim_task_chance(0);
    sim_advance(2000000); /* a frame carries the promise of it */
    for (unsigned i = 0; i < 100; i++) append_bytes(w, (uint8_t[40000]){0}, 40000);
    crash(w, log);
    u9_log *r = open_reader(log);
    sim_fail(kinds[_i], 1, EIO, true);
    ck_assert_uint_eq(read_all(r, &last, key, &errors, &fault), 10);
    ck_assert_uint_eq(errors, 1);
    ck_assert_int_eq(fault.sys, EIO);
    ck_assert_str_eq(fault.rule, "R-11");
    u9_log *second;
    o.mode = U9_WRITE;
    if (kinds[_i] == SIM_EVICT) ck_assert_int_eq(u9_log_open(log, &o, &second, &fault), U9_IO);
    sim_mend();
    ck_assert_uint_gt(read_all(r, &last, key, &errors, &fault), 10); /* and when it can, it is */
    ck_assert_uint_eq(errors, 1);
    close_log(r);
}
END_TEST

/* A file system that is read-only by nature has nothing to sync, and says EINVAL. */
START_TEST(a_file_system_that_knows_no_sync_is_read)
{
    char log[3200];
    snprintf(log, sizeof log, "%s", at("log"));
    (void)abandon(log, 5);
    sim_fail(SIM_EVICT, 1, EINVAL, true);
    sim_fail(SIM_SYNC_DIR, 1, EINVAL, true);
    ck_assert_uint_gt(records_of(log), 5);
    sim_mend();
    sim_fail(SIM_EVICT, 1, EROFS, true); /* that is said by one which was made read-only by an error */
    u9_log *r = open_reader(log);
    u9_key last;
    uint8_t key[16];
    unsigned errors = 0;
    u9_fault fault;
    ck_assert_uint_eq(read_all(r, &last, key, &errors, &fault), 5); /* what is promised */
    ck_assert_uint_eq(errors, 1);
    ck_assert_int_eq(fault.sys, EROFS);
    close_log(r);
}
END_TEST

/* What a frame near the end promises, the writer that died had synced: it need not come from the disk again. */
START_TEST(what_was_promised_stays_in_the_cache)
{
    uint8_t filler[200];
    memset(filler, 'f', sizeof filler);
    u9_options o = small_options();
    o.segment_size = 16 << 20;
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < RECORDS; i++) append_bytes(w, filler, sizeof filler);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    for (unsigned i = 0; i < RECORDS; i++) append_bytes(w, filler, sizeof filler);
    crash(w, at("log"));
    if (_i == 0) {
        ck_assert_uint_gt(records_of(at("log")), RECORDS);
    } else {
        o.segment_size = 0;
        close_log(open_writer(at("log"), &o));
    }
    const sim_op *op = sim_find(SIM_EVICT, 1, U9_NOWHERE);
    ck_assert_ptr_nonnull(op);
    ck_assert_uint_ge(op->begin, RECORDS * sizeof filler);
    ck_assert_uint_le(op->begin, sim_durable(1, op->began));
}
END_TEST

Suite *suite_settled(void)
{
    Suite *s = suite_create("settled");
    TCase *t = tcase_create("settled");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, what_was_handed_out_is_there_after_a_power_cut, 0, 2 * WAYS);
    tcase_add_test(t, a_closed_log_is_read_without_a_sync);
    tcase_add_loop_test(t, what_was_promised_stays_in_the_cache, 0, 2);
    tcase_add_test(t, a_tail_is_synced_once_by_each_handle_and_beside_a_writer_by_none);
    tcase_add_loop_test(t, what_cannot_be_synced_is_not_served, 0, 2);
    tcase_add_test(t, a_file_system_that_knows_no_sync_is_read);
    suite_add_tcase(s, t);
    TCase *threads = tcase_create("threads");
    tcase_add_checked_fixture(threads, fixture_setup_sim_threads, fixture_teardown);
    tcase_set_timeout(threads, 60);
    tcase_add_test(threads, threads_that_come_at_once_wait_for_one_sync);
    suite_add_tcase(s, threads);
    return s;
}
