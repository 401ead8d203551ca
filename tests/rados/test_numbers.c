/*
 * tests/rados/test_numbers.c: generator numbers from a cluster: no two who use one at a time make one identifier, whatever
 * becomes of them. [RD-10] [RD-11] [I-23]
 */
#include "tests/rados/fixture.h"

#include <u9/idgen.h>
#include <u9/rados.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rados/librados.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static u9_rados_numbers *source(const char *at, uint32_t count)
{
    const u9_rados_numbers_options o = {.size = sizeof o, .cluster = 3, .first = 7, .count = count};
    u9_rados_numbers *n;
    u9_fault fault = {0};
    const char *any = at;
    (void)env_at(&any);
    ck_assert_msg(u9_rados_numbers_new(at, &o, &n, &fault) == U9_OK, "%s", fault.text);
    return n;
}

static u9_grant take(const u9_generator *g)
{
    u9_grant grant;
    u9_fault fault = {0};
    u9_err err = g->acquire(g->ctx, &grant, &fault);
    ck_assert_msg(err == U9_OK, "%s: %s", u9_err_name(err), fault.text);
    ck_assert_uint_eq(grant.cluster, 3);
    return grant;
}

/* Each log of one source has another number; one is free again when its log is closed. */
START_TEST(each_grant_is_another_number_until_all_are_had)
{
    u9_rados_numbers *n = source(address("numbers/few", ""), 3);
    const u9_generator g = u9_rados_numbers_generator(n);
    u9_grant grants[3], more;
    u9_fault fault = {0};
    unsigned seen = 0;
    for (unsigned i = 0; i < 3; i++) {
        grants[i] = take(&g);
        ck_assert(grants[i].generator >= 7 && grants[i].generator < 10);
        seen |= 1u << (grants[i].generator - 7);
        ck_assert_int_eq(g.renew(g.ctx, &grants[i], now_ms(), &fault), U9_OK);
    }
    ck_assert_uint_eq(seen, 7);
    ck_assert_int_eq(g.acquire(g.ctx, &more, &fault), U9_AGAIN);
    ck_assert_msg(strstr(fault.text, "are in use") && strstr(fault.path, "rados:u9/numbers/few"), "%s %s", fault.path, fault.text);
    g.release(g.ctx, &grants[1], now_ms());
    more = take(&g);
    ck_assert_uint_eq(more.generator, grants[1].generator);
    g.release(g.ctx, &more, 0);
    g.release(g.ctx, &grants[0], 0);
    g.release(g.ctx, &grants[2], 0);
    u9_rados_numbers_free(n);
}
END_TEST

/* Also where the clock of the one before is ahead of ours. */
START_TEST(who_has_a_number_next_begins_above_all_that_was_made)
{
    u9_rados_numbers *n = source(address("numbers/bound", ""), 1);
    const u9_generator g = u9_rados_numbers_generator(n);
    u9_fault fault = {0};
    u9_grant first = take(&g);
    uint64_t ahead = now_ms() + 3600 * 1000;
    ck_assert_int_eq(g.renew(g.ctx, &first, ahead, &fault), U9_OK);
    g.release(g.ctx, &first, ahead);
    u9_grant second = take(&g);
    ck_assert_uint_eq(second.seen_ms, ahead);
    g.release(g.ctx, &second, 0); /* it made none: the bound stays */
    u9_grant third = take(&g);
    ck_assert_uint_eq(third.seen_ms, ahead);
    g.release(g.ctx, &third, 0);
    u9_rados_numbers_free(n);
}
END_TEST

/* The next write of another thread waits until one of this thread is done, or, where that waits for it, half a second. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t told;
    pthread_t own;
    bool holds, held, passed, done;
    rados_ioctx_t io;
    char oid[64];
} hold = {.lock = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};

static void pass_held(rados_ioctx_t io, const char *oid)
{
    struct timespec until;
    hold.holds = false;
    hold.held = true;
    hold.io = io;
    snprintf(hold.oid, sizeof hold.oid, "%s", oid);
    pthread_cond_broadcast(&hold.told);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 500000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!hold.passed && pthread_cond_timedwait(&hold.told, &hold.lock, &until) == 0) continue;
}

/* In the place of librados's. */
int rados_write_op_operate(rados_write_op_t op, rados_ioctx_t io, const char *oid, time_t *mtime, int flags)
{
    int (*real)(rados_write_op_t, rados_ioctx_t, const char *, time_t *, int);
    void *found = dlsym(RTLD_NEXT, "rados_write_op_operate");
    memcpy(&real, &found, sizeof real);
    pthread_mutex_lock(&hold.lock);
    bool ours = pthread_equal(hold.own, pthread_self()), held = hold.holds && !ours;
    if (held) pass_held(io, oid);
    pthread_mutex_unlock(&hold.lock);
    int err = real(op, io, oid, mtime, flags);
    pthread_mutex_lock(&hold.lock);
    if (ours) hold.passed = true;
    if (held) hold.done = true;
    pthread_cond_broadcast(&hold.told);
    pthread_mutex_unlock(&hold.lock);
    return err;
}

static void wait_for(const bool *what)
{
    while (!*what) pthread_cond_wait(&hold.told, &hold.lock);
}

/* By who renews the number, and by who makes identifiers far ahead of the clock, at once. */
START_TEST(a_bound_that_was_acknowledged_never_goes_back)
{
    u9_rados_numbers *n = source(address("numbers/back", "&lease=5"), 1);
    const u9_generator g = u9_rados_numbers_generator(n);
    u9_fault fault = {0};
    char text[17] = "";
    u9_grant grant = take(&g);
    pthread_mutex_lock(&hold.lock);
    hold.own = pthread_self();
    hold.holds = true;
    wait_for(&hold.held);
    pthread_mutex_unlock(&hold.lock);
    uint64_t ahead = now_ms() + 3600 * 1000;
    ck_assert_int_eq(g.renew(g.ctx, &grant, ahead, &fault), U9_OK);
    pthread_mutex_lock(&hold.lock);
    wait_for(&hold.done);
    pthread_mutex_unlock(&hold.lock);
    ck_assert_int_gt(rados_getxattr(hold.io, hold.oid, "bound", text, 16), 0);
    ck_assert_uint_ge(strtoull(text, NULL, 16), ahead);
    g.release(g.ctx, &grant, ahead);
    u9_rados_numbers_free(n);
}
END_TEST

/* The cluster does not answer: nobody could tell us in time, so our own clock does. */
START_TEST(a_lease_that_cannot_be_renewed_ends_its_number_before_it_runs_out)
{
    u9_rados_numbers *n = source(address("numbers/lost", ""), 1);
    const u9_generator g = u9_rados_numbers_generator(n);
    u9_fault fault = {0};
    u9_grant grant = take(&g);
    rados_signal(SIGSTOP);
    uint64_t begin = now_ms();
    u9_err err;
    while ((err = g.renew(g.ctx, &grant, now_ms(), &fault)) == U9_OK && now_ms() - begin < 20000) usleep(10000);
    uint64_t took = now_ms() - begin;
    rados_signal(SIGCONT);
    ck_assert_int_eq(err, U9_AGAIN);
    ck_assert_msg(strstr(fault.text, "is over") != NULL, "%s", fault.text);
    ck_assert_uint_le(took, LEASE_S * 1000);
    g.release(g.ctx, &grant, now_ms());
    u9_rados_numbers_free(n);
}
END_TEST

static u9_log *open_log(const char *at, const u9_generator *g)
{
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .kind = "uid8", .numbers = g};
    u9_fault fault = {0};
    u9_log *log;
    ck_assert_msg(u9_log_open(at, &o, &log, &fault) == U9_OK, "%s", fault.text);
    return log;
}

static u9_uid8 append_key(u9_log *log)
{
    static const uint8_t value[] = {0x81};
    u9_place place;
    u9_uid8 id;
    ck_assert_int_eq(u9_log_append(log, NULL, value, 1, &place), U9_OK);
    ck_assert_int_eq(u9_uid8_unpack(place.key, 8, U9_UID8_LAYOUT_MAX, &id, NULL), U9_OK);
    return id;
}

START_TEST(logs_make_their_keys_under_such_numbers)
{
    u9_rados_numbers *n = source(address("numbers/logs", "&wait=4"), 2);
    const u9_generator g = u9_rados_numbers_generator(n);
    u9_log *a = open_log(address("numbers.a", ""), &g), *b = open_log(address("numbers.b", ""), &g);
    u9_uid8 of_a = append_key(a), of_b = append_key(b);
    ck_assert_uint_ne(of_a.generator, of_b.generator);
    ck_assert_uint_eq(of_a.cluster, 3);
    ck_assert_int_eq(u9_log_close(a, NULL), U9_OK);
    a = open_log(address("numbers.a", ""), &g);
    u9_uid8 again = append_key(a);
    ck_assert(again.generator != of_b.generator && again.timestamp_ms > of_a.timestamp_ms);
    ck_assert_int_eq(u9_log_close(a, NULL), U9_OK);
    ck_assert_int_eq(u9_log_close(b, NULL), U9_OK);
    u9_rados_numbers_free(n);
}
END_TEST

enum { IDS_MAX = 40000 };

static char ids[IDS_MAX][24];
static unsigned id_count;

/* What it has printed and nobody has read yet, for so long. */
static void drain(writer *w, unsigned ms)
{
    int flags = fcntl(fileno(w->said), F_GETFL);
    (void)fcntl(fileno(w->said), F_SETFL, flags | O_NONBLOCK);
    for (unsigned i = 0; i <= ms / 10; i++, usleep(10000)) {
        while (id_count < IDS_MAX && fgets(ids[id_count], sizeof ids[0], w->said)) id_count++;
        clearerr(w->said);
    }
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Of processes that share one number: each waits for it, makes identifiers, and is stopped past its lease; then it goes on. */
START_TEST(processes_that_are_stopped_and_killed_make_no_identifier_twice)
{
    enum { ROUNDS = 4, MANY = 1000000, KEEP = 400 };
    const char *at = address("numbers/shared", "&wait=6");
    writer before = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        writer w = begin_numbers(at, MANY);
        for (unsigned i = 0; i < KEEP; i++) ck_assert_ptr_nonnull(fgets(ids[id_count++], sizeof ids[0], w.said));
        if (before.pid) {
            drain(&before, 0);
            kill(before.pid, SIGCONT); /* another has its number */
            drain(&before, 300);
            kill(before.pid, SIGKILL);
            drain(&before, 0);
            (void)end_writer(&before);
        }
        kill(w.pid, SIGSTOP);
        before = w;
    }
    kill(before.pid, SIGKILL);
    (void)end_writer(&before);
    qsort(ids, id_count, sizeof ids[0], compare_ids);
    ck_assert_uint_ge(id_count, ROUNDS * KEEP);
    for (unsigned i = 1; i < id_count; i++) ck_assert_msg(strcmp(ids[i - 1], ids[i]) != 0, "%s", ids[i]);
}
END_TEST

START_TEST(options_and_addresses_that_make_no_sense_are_refused)
{
    const u9_rados_numbers_options bad[] = {{.size = 1}, {.size = sizeof *bad, .cluster = 16},
                                            {.size = sizeof *bad, .first = 2048},
                                            {.size = sizeof *bad, .first = 2000, .count = 49}};
    static const char *const wrong[] = {"", "rados:", "rados:u9", "rados:u9/", "here", "rados:u9/a?colour=red",
                                        "rados:u9/a-name-that-is-longer-than-a-name-may-be"};
    u9_rados_numbers *n = NULL;
    u9_fault fault = {0};
    const char *at = address("numbers/x", ""), *any = at;
    (void)env_at(&any);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(u9_rados_numbers_new(at, &bad[i], &n, &fault), U9_ARG);
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(u9_rados_numbers_new(wrong[i], NULL, &n, &fault) == U9_ARG && fault.text[0], "taken: %s", wrong[i]);
    ck_assert_ptr_null(n);
    u9_rados_numbers_free(NULL);
}
END_TEST

Suite *suite_rados_numbers(void)
{
    Suite *s = suite_create("rados_numbers");
    TCase *tc = tcase_create("numbers");
    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, each_grant_is_another_number_until_all_are_had);
    tcase_add_test(tc, who_has_a_number_next_begins_above_all_that_was_made);
    tcase_add_test(tc, a_bound_that_was_acknowledged_never_goes_back);
    tcase_add_test(tc, a_lease_that_cannot_be_renewed_ends_its_number_before_it_runs_out);
    tcase_add_test(tc, logs_make_their_keys_under_such_numbers);
    tcase_add_test(tc, processes_that_are_stopped_and_killed_make_no_identifier_twice);
    tcase_add_test(tc, options_and_addresses_that_make_no_sense_are_refused);
    suite_add_tcase(s, tc);
    return s;
}
