/*
 * tests/engine/write/test_commits.c: who waits for stable storage, and how who does not wait is told: groups, commits
 * without waiting, the callback and the descriptor, the interval, memory that is in use, what a writer has done.
 * [W-4] [W-5] [W-6]
 */
#include "tests/engine/fixture.h"
#include "tests/engine/scarce.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include "engine/log/handle.h"

#include <u9/lookup.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECOND = 1000000 };

static const uint8_t value[] = {0x85};

static uint64_t put(u9_log *w)
{
    u9_place place;
    ck_assert_int_eq(u9_log_append(w, NULL, value, sizeof value, &place), U9_OK);
    return place.ordinal;
}

static u9_stats stats_of(u9_log *w)
{
    u9_stats s = {.size = sizeof s};
    ck_assert_int_eq(u9_log_stats(w, &s), U9_OK);
    return s;
}

static unsigned syncs(void)
{
    size_t n;
    unsigned count = 0;
    const sim_op *ops = sim_ops(&n);
    for (size_t i = 0; i < n; i++)
        count += ops[i].segment != 0 && (ops[i].kind == SIM_SYNC || (ops[i].kind == SIM_WRITE && ops[i].durable));
    return count;
}

/* Small commits */

START_TEST(a_lone_commit_is_one_durable_write_of_one_block) /* [S-3] */
{
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_int_eq(u9_log_commit(w, put(w)), U9_OK);
    sim_forget_diary();
    for (unsigned i = 0; i < 20; i++) ck_assert_int_eq(u9_log_commit(w, put(w)), U9_OK);
    size_t n;
    const sim_op *ops = sim_ops(&n);
    unsigned writes = 0, zeros = 0;
    for (size_t i = 0; i < n; i++) {
        if (ops[i].segment == 0) continue;
        zeros += ops[i].kind == SIM_ZERO;
        ck_assert_int_ne(ops[i].kind, SIM_SYNC);
        if (ops[i].kind != SIM_WRITE) continue;
        ck_assert(ops[i].durable);
        ck_assert_uint_eq(ops[i].end - ops[i].begin, 4096);
        writes++;
    }
    ck_assert_uint_eq(writes, 20);
    ck_assert_uint_le(zeros, 1);
    close_log(w);
}
END_TEST

/* No zeros were written over anything that was written before. Returns how often some were. */
static unsigned expect_zeros_before_data(void)
{
    size_t n;
    unsigned zeros = 0;
    const sim_op *ops = sim_ops(&n);
    for (size_t i = 0; i < n; i++) {
        if (ops[i].kind != SIM_ZERO) continue;
        zeros++;
        ck_assert_uint_eq(ops[i].begin % 4096, 0);
        for (size_t k = 0; k < i; k++)
            if (ops[k].segment == ops[i].segment && (ops[k].kind == SIM_WRITE || ops[k].kind == SIM_ZERO))
                ck_assert(ops[k].end <= ops[i].begin || ops[i].end <= ops[k].begin);
    }
    return zeros;
}

START_TEST(zeros_are_there_before_data_and_never_over_it) /* [S-3] */
{
    u9_log *w = open_writer(at("log"), NULL);
    uint8_t *big = calloc(1, 300000);
    for (unsigned i = 0; i < 700; i++) {
        if (i % 100 == 99) append_bytes(w, big, 300000); /* no zeros for such */
        ck_assert_int_eq(u9_log_commit(w, put(w)), U9_OK);
    }
    free(big);
    close_log(w);
    ck_assert_uint_gt(expect_zeros_before_data(), 1);
}
END_TEST

/* However many commits there were when much comes that passes where zeros are under way, or are about to be. */
START_TEST(what_passes_zeros_under_way_waits_for_them) /* [S-3] */
{
    uint8_t *big = calloc(1, 700000);
    unsigned more = 0;
    for (unsigned commits = 120; commits < 140; commits++) {
        char name[16];
        snprintf(name, sizeof name, "log%u", commits);
        sim_forget_diary();
        u9_log *w = open_writer(at(name), NULL);
        for (unsigned i = 0; i < commits; i++) ck_assert_int_eq(u9_log_commit(w, put(w)), U9_OK);
        for (unsigned i = 0; i < 3; i++) append_bytes(w, big, 700000);
        close_log(w);
        more += expect_zeros_before_data() > 1;
    }
    free(big);
    ck_assert_uint_gt(more, 0); /* they were asked for before that came, in some */
}
END_TEST

START_TEST(no_zeros_are_written_where_nobody_commits) /* [S-3] */
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < 1000; i++) (void)put(w);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    close_log(w);
    ck_assert_uint_eq(sim_count(SIM_ZERO), 0);
}
END_TEST

START_TEST(a_zero_that_cannot_be_written_is_nobodys_error)
{
    u9_log *w = open_writer(at("log"), NULL);
    sim_fail(SIM_ZERO, 1, EIO, true);
    for (unsigned i = 0; i < 5; i++) ck_assert_int_eq(u9_log_commit(w, put(w)), U9_OK);
    close_log(w);
    ck_assert_uint_gt(sim_fired(), 0);
}
END_TEST

/* Who does not wait */

typedef struct told {
    unsigned calls;
    uint64_t durable;
} told;

static void note_durable(void *ctx, uint64_t durable)
{
    told *t = ctx;
    t->calls++;
    if (t->durable < durable) t->durable = durable;
}

START_TEST(a_commit_without_waiting_is_told_later)
{
    told t = {0};
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    o.on_durable = note_durable;
    o.on_durable_ctx = &t;
    sim_task_chance(0);
    u9_log *w = open_writer(at("log"), &o);
    struct pollfd watched = {.fd = u9_log_event_fd(w), .events = POLLIN};
    ck_assert_int_ge(watched.fd, 0);
    ck_assert_int_eq(u9_log_event_fd(w), watched.fd);
    uint64_t last = put(w);
    ck_assert_int_eq(u9_log_commit(w, last), U9_AGAIN);
    ck_assert_int_eq(poll(&watched, 1, 0), 0);
    sim_needed("a second that does not end");
    ck_assert_int_eq(u9_log_commit_async(w, last), U9_OK);
    ck_assert_uint_eq(u9_log_durable(w), 0);
    sim_advance(1000);
    ck_assert_uint_eq(u9_log_durable(w), last + 1);
    ck_assert_uint_eq(t.durable, last + 1);
    uint64_t times;
    ck_assert_int_eq(poll(&watched, 1, 0), 1);
    ck_assert_int_eq(read(watched.fd, &times, sizeof times), sizeof times);
    ck_assert_int_eq(poll(&watched, 1, 0), 0);
    unsigned calls = t.calls, before = syncs();
    ck_assert_int_eq(u9_log_commit_async(w, last), U9_OK); /* it is durable */
    sim_advance(1000);
    ck_assert_uint_eq(t.calls, calls);
    ck_assert_uint_eq(syncs(), before);
    ck_assert_int_eq(u9_log_commit_async(w, last + 1), U9_ARG);
    close_log(w);
}
END_TEST

START_TEST(commits_without_waiting_go_out_together)
{
    sim_task_chance(0);
    u9_log *w = open_writer(at("log"), NULL);
    unsigned before = syncs();
    for (unsigned i = 0; i < 100; i++) ck_assert_int_eq(u9_log_commit_async(w, put(w)), U9_OK);
    sim_advance(1000);
    ck_assert_uint_eq(u9_log_durable(w), 100);
    ck_assert_uint_eq(syncs(), before + 1);
    close_log(w);
}
END_TEST

START_TEST(a_failure_behind_a_commit_without_waiting_is_told_by_the_next_call) /* [W-6] */
{
    sim_task_chance(0);
    u9_log *w = open_writer(at("log"), NULL);
    uint64_t last = put(w);
    ck_assert_int_eq(u9_log_commit_async(w, last), U9_OK);
    sim_fail(SIM_WRITE, 1, EIO, true);
    sim_advance(1000);
    ck_assert_uint_eq(u9_log_durable(w), 0);
    ck_assert_int_eq(u9_log_commit_async(w, last), U9_POISONED);
    ck_assert_int_eq(u9_log_append(w, NULL, value, sizeof value, NULL), U9_POISONED);
    ck_assert_int_eq(u9_log_close(w, NULL), U9_POISONED);
}
END_TEST

START_TEST(an_interval_syncs_what_is_so_old) /* [W-5] */
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_INTERVAL;
    o.interval_ms = 20;
    u9_log *w = open_writer(at("log"), &o);
    sim_advance(2 * SECOND);
    for (unsigned i = 0; i < 5; i++) {
        uint64_t last = put(w);
        ck_assert_int_eq(u9_log_commit(w, last), U9_AGAIN);
        sim_advance(50000);
        ck_assert_uint_eq(u9_log_durable(w), last + 1);
    }
    close_log(w);
}
END_TEST

/* Memory */

START_TEST(who_asked_not_to_wait_is_told_that_memory_is_in_use)
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    o.memory = 4 << 20;
    o.no_wait = 1;
    sim_set_order(SIM_LATE); /* nothing is complete before somebody waits for it */
    u9_log *w = open_writer(at("log"), &o);
    uint8_t *bytes = calloc(1, 65536);
    u9_builder b;
    u9_err err = U9_OK;
    unsigned n = 0;
    uint8_t *room = malloc(65536 + 16);
    u9_builder_init(&b, room, 65536 + 16);
    ck_assert_int_eq(u9_build_bytes(&b, bytes, 60000), U9_OK);
    for (; n < 10000 && err == U9_OK; n += err == U9_OK) err = u9_log_append(w, NULL, room, b.size, NULL);
    ck_assert_int_eq(err, U9_AGAIN);
    if (err == U9_AGAIN) {
        u9_fault fault;
        u9_log_fault(w, &fault);
        ck_assert_int_eq(fault.err, U9_AGAIN);
        ck_assert_uint_eq(u9_log_next(w), n); /* it was not accepted */
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_int_eq(u9_log_append(w, NULL, room, b.size, NULL), U9_OK);
    free(bytes);
    free(room);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, n + 1);
    forget(s);
}
END_TEST

START_TEST(records_of_any_size_pass_through_little_memory)
{
    for (int lz4 = 0; lz4 < 2; lz4++) {
        const char *log = lz4 ? at("lz4") : at("plain");
        u9_options o = writer_options();
        o.policy = U9_POLICY_NONE;
        o.memory = 4 << 20;
        o.lz4 = lz4;
        sim_set_order(lz4 ? SIM_REVERSED : SIM_DRAWN);
        u9_log *w = open_writer(log, &o);
        uint8_t *bytes = malloc(16 << 20);
        static const size_t sizes[] = {1, 100, 5000, 65000, 66000, 300000, 600000, 3 << 20, (16 << 20) - 100};
        unsigned n = 0;
        for (unsigned i = 0; i < 60; i++) {
            size_t size = sizes[i * 7 % (i < 50 ? 7 : 9)];
            for (size_t k = 0; k < size; k++) bytes[k] = (uint8_t)(k * i >> (i % 5));
            append_bytes(w, bytes, size);
            n++;
        }
        close_log(w);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, n);
        ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
        for (unsigned i = 0; i < n; i++) {
            size_t size = sizes[i * 7 % (i < 50 ? 7 : 9)];
            ck_assert_uint_eq(s->records[i].text_size, size);
            for (size_t k = 0; k < size; k += 997)
                ck_assert_int_eq(((const uint8_t *)s->records[i].text)[k], (uint8_t)(k * i >> (i % 5)));
        }
        forget(s);
        free(bytes);
    }
}
END_TEST

/* What a writer has done */

START_TEST(the_statistics_add_up)
{
    sim_needed("completions in a known order");
    u9_options o = writer_options();
    o.segment_size = 65536;
    u9_log *w = open_writer(at("log"), &o);
    u9_stats was = stats_of(w);
    uint8_t bytes[3000] = {0};
    for (unsigned i = 0; i < 100; i++) append_bytes(w, bytes, sizeof bytes);
    ck_assert_int_eq(u9_log_commit(w, 99), U9_OK);
    u9_stats s = stats_of(w);
    ck_assert_uint_eq(s.records - was.records, 100);
    ck_assert_uint_ge(s.bytes - was.bytes, 100 * sizeof bytes);
    ck_assert_uint_le(s.bytes - was.bytes, 100 * (sizeof bytes + 40));
    ck_assert_uint_ge(s.written_bytes - was.written_bytes, s.bytes - was.bytes);
    ck_assert_uint_ge(s.rolls, 3);
    ck_assert_uint_gt(s.writes, was.writes);
    ck_assert_uint_ge(s.syncs, was.syncs + 3);
    ck_assert_uint_gt(s.frames, was.frames);
    ck_assert_uint_eq(s.groups, was.groups + 1);
    ck_assert_uint_eq(s.grouped, was.grouped + 1);
    uint64_t commits = 0;
    for (unsigned i = 0; i < 32; i++) commits += s.commit_us[i];
    ck_assert_uint_eq(commits, 1);
    ck_assert_uint_gt(s.commit_us_max, 0);
    close_log(w);
    ck_assert_int_eq(u9_log_stats(NULL, &s), U9_ARG);
    u9_log *r = open_reader(at("log"));
    ck_assert_int_eq(u9_log_stats(r, &s), U9_STATE);
    ck_assert_int_eq(u9_log_commit_async(r, 0), U9_STATE);
    ck_assert_int_eq(u9_log_event_fd(r), -1);
    close_log(r);
}
END_TEST

START_TEST(what_does_not_shrink_is_not_tried_for_a_while) /* [B-4] */
{
    u9_options o = writer_options();
    o.lz4 = 1;
    u9_log *w = open_writer(at("log"), &o);
    uint8_t bytes[60000];
    uint32_t x = 1;
    for (unsigned i = 0; i < 300; i++) {
        for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
        append_bytes(w, bytes, sizeof bytes);
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    u9_stats s = stats_of(w);
    ck_assert_uint_eq(s.lz4_kept, 0);
    ck_assert_uint_ge(s.lz4_tried, 8);
    ck_assert_uint_lt(s.lz4_tried, 100); /* of 300 */
    memset(bytes, 'a', sizeof bytes);
    for (unsigned i = 0; i < 100; i++) append_bytes(w, bytes, sizeof bytes);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_uint_gt(stats_of(w).lz4_kept, 20); /* what does is found out again */
    close_log(w);
    seen *all = look(at("log"));
    ck_assert_uint_eq(all->count, 400);
    forget(all);
}
END_TEST

/* Threads */

enum { THREADS = 8, EACH = 300 };

typedef struct committer {
    pthread_t thread;
    u9_log *log;
    unsigned number;
    bool fine;
} committer;

static void *commit_each(void *arg)
{
    committer *me = arg;
    me->fine = true;
    for (unsigned i = 0; i < EACH && me->fine; i++) {
        u9_place places[3];
        u9_entry batch[3] = {{.values = value, .size = 1}, {.values = value, .size = 1}, {.values = value, .size = 1}};
        me->fine = u9_log_append_batch(me->log, batch, 1 + i % 3, places) == U9_OK;
        if (i % 5 == me->number % 5) continue; /* somebody else's commit will take it along */
        uint64_t last = places[i % 3].ordinal;
        me->fine = me->fine && u9_log_commit(me->log, last) == U9_OK && u9_log_durable(me->log) > last;
    }
    return NULL;
}

START_TEST(many_committers_share_syncs_and_each_gets_what_it_waited_for) /* [W-4] */
{
    committer c[THREADS];
    uint64_t records = 0;
    u9_options o = writer_options();
    o.segment_size = 1 << 18;
    o.lz4 = _i;
    o.interval_ms = _i ? 1 : 0;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < THREADS; i++) {
        c[i] = (committer){.log = w, .number = i};
        ck_assert_int_eq(pthread_create(&c[i].thread, NULL, commit_each, &c[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(c[i].thread, NULL);
        ck_assert(c[i].fine);
    }
    for (unsigned i = 0; i < EACH; i++) records += THREADS * (1 + i % 3);
    ck_assert_uint_eq(u9_log_next(w), records);
    u9_stats s = stats_of(w);
    ck_assert_uint_ge(s.grouped, s.groups);
    close_log(w);
    seen *seen_ = look(at("log"));
    ck_assert_uint_eq(seen_->count, records);
    ck_assert_int_eq(seen_->report.verdict, U9_V_CLEAN);
    forget(seen_);
}
END_TEST

START_TEST(a_commit_beside_the_flush_of_an_interval_is_not_forgotten)
{
    u9_options o = writer_options();
    o.interval_ms = 1;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t last = put(w);
        if (i % 3 == 0) usleep(i % 700);
        ck_assert_int_eq(u9_log_commit(w, last), U9_OK);
    }
    close_log(w);
}
END_TEST

static void *append_each(void *arg)
{
    committer *me = arg;
    uint8_t bytes[500];
    memset(bytes, (int)me->number, sizeof bytes);
    uint8_t room[600];
    u9_builder b;
    u9_builder_init(&b, room, sizeof room);
    me->fine = u9_build_bytes(&b, bytes, sizeof bytes) == U9_OK;
    for (unsigned i = 0; i < 20 * EACH && me->fine; i++)
        me->fine = u9_log_append(me->log, NULL, room, b.size, NULL) == U9_OK;
    return NULL;
}

START_TEST(many_appenders_fill_frames_together)
{
    committer c[THREADS];
    u9_options o = writer_options();
    o.policy = _i % 2 ? U9_POLICY_INTERVAL : U9_POLICY_NONE;
    o.segment_size = 1 << 22;
    o.lz4 = _i / 2;
    o.memory = 4 << 20;
    u9_log *w = open_writer(at("log"), &o);
    w->writer.hashers_most = U9I_HASHERS; /* however few processors there are */
    for (unsigned i = 0; i < THREADS; i++) {
        c[i] = (committer){.log = w, .number = i};
        ck_assert_int_eq(pthread_create(&c[i].thread, NULL, append_each, &c[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(c[i].thread, NULL);
        ck_assert(c[i].fine);
    }
    close_log(w);
    u9_report report = {.size = sizeof report};
    ck_assert_int_eq(u9_check(at("log"), NULL, &report, NULL), U9_OK);
    ck_assert_uint_eq(report.records, THREADS * 20 * EACH);
    ck_assert_int_eq(report.verdict, U9_V_CLEAN);
}
END_TEST

static unsigned hashers_called(u9_log *w)
{
    unsigned n = 0;
    for (unsigned i = 0; i < U9I_HASHERS; i++) n += w->writer.hashers[i].submitted;
    return n;
}

/* Tasks, which do not run by themselves here, are called as more is to be hashed: as many as run at once, and no more. */
START_TEST(what_is_to_be_hashed_is_shared_out_among_tasks)
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    o.lz4 = _i % 2;
    uint8_t bytes[20000];
    unsigned most = 1 + (unsigned)_i / 2;
    sim_task_chance(0);
    sim_set_width(most);
    u9_log *w = open_writer(at("log"), &o);
    ck_assert_uint_eq(hashers_called(w), 0);
    unsigned records = 0, called = 0;
    for (; called < most && records < 500; records++) {
        memset(bytes, (int)records, sizeof bytes);
        append_bytes(w, bytes, sizeof bytes);
        ck_assert_uint_le(hashers_called(w) - called, 1); /* one after the other */
        called = hashers_called(w);
    }
    ck_assert_uint_eq(called, most);
    for (unsigned more = 0; more < 200; more++, records++) append_bytes(w, bytes, sizeof bytes);
    ck_assert_uint_eq(hashers_called(w), most); /* who appends helps, and waits for none of them */
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, records);
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    forget(s);
}
END_TEST

/* Who appends does not stand still */

static void append_mib(u9_log *w, unsigned mib)
{
    static const uint8_t bytes[1 << 16];
    for (unsigned i = 0; i < mib * 16; i++) append_bytes(w, bytes, sizeof bytes);
}

START_TEST(appends_go_on_while_space_ahead_is_reserved) /* [W-6] */
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(at("log"), &o);
    sim_hold(SIM_RESERVE, 1); /* it is not done before it is let go, whoever asks for it */
    append_mib(w, 10);
    sim_wait_held();
    append_mib(w, 3); /* of the 16 that are there */
    sim_let_go();
    close_log(w);
}
END_TEST

static u9_log *open_packing(void)
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    o.lz4 = 1;
    return open_writer(at("log"), &o);
}

static u9i_writer *slow; /* who waits for this one's compressor */
static atomic_bool compressing, found;
static pthread_t finder;

/* Goes on once somebody waits for that, or need not. Who finds compresses himself where no other thread came to it. */
static void compress_slowly(void)
{
    if (pthread_equal(pthread_self(), finder)) {
        scarce_before_lz4(compress_slowly);
        return;
    }
    atomic_store(&compressing, true);
    for (bool awaited = false; !awaited && !atomic_load(&found); usleep(100)) {
        pthread_mutex_lock(&slow->slots.lock);
        awaited = slow->slots.awaited;
        pthread_mutex_unlock(&slow->slots.lock);
    }
}

START_TEST(a_record_is_found_while_its_frame_is_compressed)
{
    static const uint8_t bytes[1 << 16];
    uint8_t room[100];
    u9_place place;
    u9_record r;
    u9_log *w = open_packing();
    slow = &w->writer;
    finder = pthread_self();
    scarce_before_lz4(compress_slowly);
    ck_assert_int_eq(u9_log_append(w, NULL, value, sizeof value, &place), U9_OK);
    for (; !atomic_load(&compressing); usleep(500)) append_bytes(w, bytes, sizeof bytes);
    ck_assert_int_eq(u9_log_get(w, &(u9_key){place.key, place.key_size}, room, sizeof room, &r, NULL), U9_OK);
    atomic_store(&found, true);
    ck_assert_uint_eq(r.ordinal, 0);
    ck_assert_uint_eq(r.values_size, sizeof value);
    close_log(w);
}
END_TEST

/* What the nth reservation adds to the log's one file: [begin, end); false: no more. */
static bool find_reserve(unsigned nth, uint64_t *begin, uint64_t *end)
{
    size_t n;
    const sim_op *ops = sim_ops(&n);
    uint64_t from = 0;
    for (size_t i = 0; i < n; i++) {
        if (ops[i].kind != SIM_RESERVE || ops[i].segment != 1 || ops[i].error != 0) continue;
        if (nth-- == 0) {
            *begin = from;
            *end = ops[i].end;
            return true;
        }
        from = ops[i].end;
    }
    return false;
}

/* Each call drains what is under way, on some file systems. */
START_TEST(space_is_reserved_in_steps_that_grow_with_the_file) /* [S-7] */
{
    enum { MIB = 1 << 20 };
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(at("log"), &o);
    uint64_t begin, end;
    unsigned n = 0;
    append_mib(w, 100);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    for (; find_reserve(n, &begin, &end); n++) {
        ck_assert_uint_ge(end - begin, 15 * MIB);
        ck_assert_uint_le(end - begin, begin <= 17 * MIB ? 17 * MIB : begin); /* not more than there is */
        ck_assert_uint_le(end - begin, 64 * MIB);
    }
    ck_assert_uint_ge(end, 100 * MIB);
    ck_assert_uint_lt(n, 6);
    close_log(w);
}
END_TEST

START_TEST(where_a_large_step_finds_no_room_a_small_one_may)
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(at("log"), &o);
    uint64_t begin = 0, end = 0, least = UINT64_MAX;
    append_mib(w, 60);
    unsigned reserved = 0;
    while (find_reserve(reserved, &begin, &end)) reserved++;
    sim_fail(SIM_RESERVE, 1, ENOSPC, false);
    append_mib(w, 60);
    ck_assert_uint_eq(sim_fired(), 1);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    for (unsigned n = reserved; find_reserve(n, &begin, &end); n++)
        if (end - begin < least) least = end - begin;
    ck_assert_uint_eq(least, 16 << 20);
    ck_assert_uint_ge(end, 120 << 20);
    close_log(w);
}
END_TEST

/* Frames of one record each; nothing is told to be written before somebody waits for it. Returns slots in use at the roll. */
static uint64_t roll_among_frames(const char *path, uint64_t segment_size, unsigned frames)
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    o.segment_size = segment_size;
    u9_log *w = open_writer(path, &o);
    const u9i_slots *slots = &w->writer.slots;
    const u9_entry entry = {.values = value, .size = sizeof value};
    append_text(w, "one");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    uint64_t rolls = stats_of(w).rolls, used = 0, before = 0;
    for (unsigned i = 0; i < frames; i++) {
        if (stats_of(w).rolls == rolls) before = slots->sealed - slots->written;
        ck_assert_int_eq(u9i_log_append_frame(w, &entry, 1), U9_OK);
        if (stats_of(w).rolls != rolls && used == 0) used = before;
    }
    close_log(w);
    seen *s = look(path);
    ck_assert_uint_eq(s->count, frames + 1);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
    return used;
}

START_TEST(a_roll_with_any_number_of_slots_in_use_is_whole) /* [S-6] */
{
    unsigned full = 0;
    sim_set_order(SIM_LATE);
    sim_task_chance(0);
    for (unsigned more = 0; more < 16; more++) {
        char name[16];
        snprintf(name, sizeof name, "log%u", more);
        uint64_t used = roll_among_frames(at(name), 95500 + more * 200, 700);
        full += used > U9I_SLOTS - 4;
    }
    ck_assert_uint_gt(full, 0); /* some with nearly all */
}
END_TEST

START_TEST(appends_go_on_into_a_new_file_while_the_old_one_is_synced) /* [S-6] [W-3] */
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    o.segment_size = 1 << 20;
    u9_log *w = open_writer(at("log"), &o);
    append_text(w, "one");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    sim_set_order(SIM_LATE); /* nothing is told before somebody waits for it, */
    sim_task_chance(0);      /*   and nobody else does */
    unsigned rolls = (unsigned)stats_of(w).rolls, synced = syncs();
    append_mib(w, 2);
    ck_assert_uint_eq(stats_of(w).rolls, rolls + 1);
    ck_assert_uint_eq(u9_log_durable(w), 1);
    ck_assert_uint_eq(syncs(), synced);
    ck_assert_ptr_null(sim_find(SIM_WRITE, 2, U9_NOWHERE));
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_uint_eq(u9_log_durable(w), u9_log_next(w));
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 33);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

Suite *suite_commits(void)
{
    Suite *s = suite_create("commits");
    TCase *alone = tcase_create("alone");
    tcase_add_checked_fixture(alone, fixture_setup_sim, fixture_teardown);
    tcase_add_test(alone, a_lone_commit_is_one_durable_write_of_one_block);
    tcase_add_test(alone, zeros_are_there_before_data_and_never_over_it);
    tcase_add_test(alone, what_passes_zeros_under_way_waits_for_them);
    tcase_add_test(alone, no_zeros_are_written_where_nobody_commits);
    tcase_add_test(alone, a_zero_that_cannot_be_written_is_nobodys_error);
    tcase_add_test(alone, a_commit_without_waiting_is_told_later);
    tcase_add_test(alone, commits_without_waiting_go_out_together);
    tcase_add_test(alone, a_failure_behind_a_commit_without_waiting_is_told_by_the_next_call);
    tcase_add_test(alone, an_interval_syncs_what_is_so_old);
    tcase_add_test(alone, who_asked_not_to_wait_is_told_that_memory_is_in_use);
    tcase_add_test(alone, records_of_any_size_pass_through_little_memory);
    tcase_add_test(alone, what_does_not_shrink_is_not_tried_for_a_while);
    tcase_add_loop_test(alone, what_is_to_be_hashed_is_shared_out_among_tasks, 0, 6);
    tcase_add_test(alone, the_statistics_add_up);
    tcase_add_test(alone, space_is_reserved_in_steps_that_grow_with_the_file);
    tcase_add_test(alone, where_a_large_step_finds_no_room_a_small_one_may);
    tcase_add_test(alone, appends_go_on_into_a_new_file_while_the_old_one_is_synced);
    tcase_add_test(alone, a_roll_with_any_number_of_slots_in_use_is_whole);
    suite_add_tcase(s, alone);
    TCase *threads = tcase_create("threads");
    tcase_add_checked_fixture(threads, fixture_setup, fixture_teardown);
    tcase_set_timeout(threads, 60);
    tcase_add_loop_test(threads, many_committers_share_syncs_and_each_gets_what_it_waited_for, 0, 2);
    tcase_add_test(threads, a_commit_beside_the_flush_of_an_interval_is_not_forgotten);
    tcase_add_loop_test(threads, many_appenders_fill_frames_together, 0, 4);
    suite_add_tcase(s, threads);
    TCase *beside = tcase_create("beside");
    tcase_add_checked_fixture(beside, fixture_setup_sim_threads, fixture_teardown);
    tcase_set_timeout(beside, 20);
    tcase_add_test(beside, appends_go_on_while_space_ahead_is_reserved);
    tcase_add_test(beside, a_record_is_found_while_its_frame_is_compressed);
    suite_add_tcase(s, beside);
    return s;
}
