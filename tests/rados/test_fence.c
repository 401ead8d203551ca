/*
 * tests/rados/test_fence.c: one writer has the log: who is stopped or cut off past its lease is followed by another, and
 * then changes nothing any more. [RD-5] [RD-6] [RD-7] [RD-8]
 */
#include "rados/rados.h"
#include "tests/rados/fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char wait_for_it[] = "&wait=3"; /* TAKEN_WITHIN_S */

/* Requests of the thread that renews: as of one that is cut off, and of one whose look at the epoch gets no answer, once. */
static struct {
    pthread_t own; /* whose requests go through */
    atomic_bool on, no_locks, no_look;
} cut;

/* In the place of librados's. */
int rados_lock_exclusive(rados_ioctx_t io, const char *oid, const char *name, const char *cookie, const char *desc,
                         struct timeval *duration, uint8_t flags)
{
    int (*real)(rados_ioctx_t, const char *, const char *, const char *, const char *, struct timeval *, uint8_t);
    void *found = dlsym(RTLD_NEXT, "rados_lock_exclusive");
    memcpy(&real, &found, sizeof real);
    bool others = cut.on && !pthread_equal(cut.own, pthread_self());
    return others && cut.no_locks ? -ETIMEDOUT : real(io, oid, name, cookie, desc, duration, flags);
}

int rados_getxattr(rados_ioctx_t io, const char *oid, const char *name, char *buf, size_t size)
{
    int (*real)(rados_ioctx_t, const char *, const char *, char *, size_t);
    void *found = dlsym(RTLD_NEXT, "rados_getxattr");
    memcpy(&real, &found, sizeof real);
    bool others = cut.on && !pthread_equal(cut.own, pthread_self());
    return others && atomic_exchange(&cut.no_look, false) ? -ETIMEDOUT : real(io, oid, name, buf, size);
}

static u9i_dir *dir_of(const char *name)
{
    const char *path = address(name, wait_for_it);
    u9i_dir *dir;
    u9i_env *env = env_at(&path);
    ck_assert_int_eq(u9i_dir_open(env, path, true, &dir), 0);
    return dir;
}

/* Else who was cut off, while another had the log, would take what it writes then for acknowledged. [RD-5] [RD-7] */
START_TEST(a_lock_that_is_taken_anew_counts_once_the_epoch_was_seen)
{
    u9i_dir *first = dir_of("anew"), *second = dir_of("anew");
    ck_assert_int_eq(u9i_dir_lock(first), 0);
    cut.own = pthread_self();
    cut.no_locks = cut.no_look = cut.on = true;
    ck_assert_int_eq(u9i_dir_lock(second), 0); /* as soon as the first one's lease is over */
    u9i_dir_close(second);
    cut.no_locks = false;
    for (unsigned i = 0; i < 200 && !u9r_dir_of(first)->lost; i++) u9i_sleep_us(first->env, 50000);
    ck_assert(!cut.no_look); /* it has tried */
    ck_assert(u9r_dir_of(first)->lost);
    ck_assert(!u9r_lease_is_sure(u9r_dir_of(first)));
    cut.on = false;
    u9i_dir_close(first);
}
END_TEST

static unsigned rounds(unsigned few)
{
    const char *asked = getenv("U9_RADOS_ROUNDS");
    return asked ? (unsigned)strtoul(asked, NULL, 10) : few;
}

START_TEST(a_log_that_another_has_is_locked)
{
    const char *a = address("locked", "");
    char why[512] = "";
    writer first = begin_writer(a, 0, 1000000);
    ck_assert_int_eq(next_commit(&first, NULL), 0);
    writer second = begin_writer(a, 0, 1);
    ck_assert_int_eq(next_commit(&second, why), -1);
    ck_assert_msg(strncmp(why, "LOCKED", 6) == 0, "%s", why);
    (void)end_writer(&second);
    kill(first.pid, SIGKILL);
    (void)end_writer(&first);
}
END_TEST

/* While the next writer is at work (0), or when it has gone again (1). */
START_TEST(a_writer_that_was_stopped_past_its_lease_writes_nothing_that_anyone_sees)
{
    for (unsigned round = 0; round < rounds(2); round++) {
        char name[40], why[512] = "", pid[40], told[40];
        snprintf(name, sizeof name, "stopped.%d.%u", _i, round);
        const char *a = address(name, "");
        writer first = begin_writer(a, 0, 1000000);
        long done = -1, n;
        for (unsigned i = 0; i < 20 + 13 * round; i++) done = next_commit(&first, NULL);
        ck_assert_int_ge(done, 19);
        kill(first.pid, SIGSTOP);
        writer second = begin_writer(address(name, wait_for_it), 2000000, _i == 0 ? 1000000 : 50);
        for (unsigned i = 0; i < 50; i++) ck_assert_int_eq(next_commit(&second, why), 2000000 + i);
        if (_i == 1) ck_assert_int_eq(end_writer(&second), 0);
        kill(first.pid, SIGCONT);
        while ((n = next_commit(&first, why)) >= 0) done = n; /* what it had said before it was stopped */
        (void)end_writer(&first);
        ck_assert_msg(strncmp(why, "POISONED", 8) == 0, "%s", why);
        snprintf(pid, sizeof pid, "process %d on ", (int)second.pid);
        snprintf(told, sizeof told, "has the log now");
        ck_assert_msg(strstr(why, pid) && strstr(why, told) && strstr(why, "pool u9"), "%s", why);
        if (_i == 0) kill(second.pid, SIGTERM);
        if (_i == 0) (void)end_writer(&second);
        (void)expect_numbers(a, 0, (unsigned)done + 1);
        (void)expect_numbers(a, 2000000, 2000050);
    }
}
END_TEST

START_TEST(of_a_writer_that_is_killed_at_any_time_nothing_committed_is_lost)
{
    const char *a = address("killed", wait_for_it);
    unsigned next = 0;
    for (unsigned round = 0; round < rounds(4); round++) {
        writer w = begin_writer(a, next, 1000000);
        unsigned many = (round * 37 + 5) % 90;
        long n, done = -1;
        char why[512] = "";
        for (unsigned i = 0; i <= many; i++) {
            done = next_commit(&w, why);
            ck_assert_msg(done >= 0, "%s", why);
        }
        kill(w.pid, SIGKILL);
        while ((n = next_commit(&w, NULL)) >= 0) done = n;
        (void)end_writer(&w);
        next = (unsigned)done + 1;
        (void)expect_numbers(a, 0, next);
    }
}
END_TEST

/* Between the lock and the log: whoever takes it over next counts, and nothing that was acknowledged is lost. */
START_TEST(writers_that_all_want_the_log_follow_each_other)
{
    const char *a = address("many", "&wait=60");
    writer w[4];
    unsigned done = 0;
    for (unsigned i = 0; i < 4; i++) w[i] = begin_writer(a, i * 1000, 30);
    for (unsigned i = 0; i < 4; i++) {
        char why[512] = "";
        for (unsigned k = 0; k < 30; k++) {
            long n = next_commit(&w[i], why);
            ck_assert_msg(n == (long)(i * 1000 + k), "%ld %s", n, why);
            done++;
        }
        ck_assert_int_eq(end_writer(&w[i]), 0);
        (void)expect_numbers(a, i * 1000, i * 1000 + 30);
    }
    ck_assert_uint_eq(expect_numbers(a, 0, 30), done);
}
END_TEST

/* The daemon that has the objects does not answer. [RD-3] */
START_TEST(a_daemon_that_is_slow_is_waited_for_and_the_lease_is_had_again)
{
    char why[512] = "";
    const char *a = address("slow", "");
    writer w = begin_writer(a, 0, 1000000);
    for (long i = 0; i < 20; i++) ck_assert_int_eq(next_commit(&w, NULL), i);
    rados_signal(SIGSTOP);
    sleep(LEASE_S + 2);
    rados_signal(SIGCONT);
    for (long i = 20; i < 400; i++) ck_assert_msg(next_commit(&w, why) == i, "%s", why);
    kill(w.pid, SIGKILL);
    long n, done = 399;
    while ((n = next_commit(&w, NULL)) >= 0) done = n;
    (void)end_writer(&w);
    (void)expect_numbers(a, 0, (unsigned)done + 1);
}
END_TEST

START_TEST(a_daemon_that_does_not_answer_within_the_deadline_is_an_error_that_names_pool_and_object)
{
    char why[512] = "";
    const char *a = address("gone", "&timeout=2");
    writer w = begin_writer(a, 0, 1000000);
    long n, done = -1;
    for (unsigned i = 0; i < 20; i++) done = next_commit(&w, NULL);
    rados_signal(SIGSTOP);
    while ((n = next_commit(&w, why)) >= 0) done = n;
    rados_signal(SIGCONT);
    (void)end_writer(&w);
    ck_assert_msg(strncmp(why, "POISONED", 8) == 0 && strstr(why, "pool u9") && strstr(why, "object f."), "%s", why);
    ck_assert_msg(strstr(why, strerror(110)) != NULL, "%s", why); /* ETIMEDOUT */
    (void)expect_numbers(a, 0, (unsigned)done + 1);
}
END_TEST

Suite *suite_rados_fence(void)
{
    Suite *s = suite_create("rados_fence");
    TCase *tc = tcase_create("fence");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, a_log_that_another_has_is_locked);
    tcase_add_test(tc, a_lock_that_is_taken_anew_counts_once_the_epoch_was_seen);
    tcase_add_loop_test(tc, a_writer_that_was_stopped_past_its_lease_writes_nothing_that_anyone_sees, 0, 2);
    tcase_add_test(tc, of_a_writer_that_is_killed_at_any_time_nothing_committed_is_lost);
    tcase_add_test(tc, writers_that_all_want_the_log_follow_each_other);
    tcase_add_test(tc, a_daemon_that_is_slow_is_waited_for_and_the_lease_is_had_again);
    tcase_add_test(tc, a_daemon_that_does_not_answer_within_the_deadline_is_an_error_that_names_pool_and_object);
    suite_add_tcase(s, tc);
    return s;
}
