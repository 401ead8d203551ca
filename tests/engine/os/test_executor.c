/*
 * tests/engine/os/test_executor.c: tasks that are run, finished and cancelled, by threads and by the one thread of
 * engine/os/inline.h.
 */
#include "engine/os/inline.h"
#include "tests/engine/fixture.h"
#include "tests/engine/os/envs.h"
#include "tests/sanitized.h"
#include "tests/suites.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct job {
    u9i_task task;
    u9i_env *env;
    atomic_uint runs, inside;
    unsigned again; /* times that it submits itself again; UINT_MAX: always */
    uint64_t every_us, began_us;
    atomic_bool held; /* it stays inside as long as this is set */
    atomic_uint *order;
    unsigned place;
} job;

static void run_job(void *ctx)
{
    job *j = ctx;
    ck_assert_uint_eq(atomic_fetch_add(&j->inside, 1), 0); /* never twice at a time */
    j->began_us = u9i_monotonic_us(j->env);
    if (j->order) j->place = atomic_fetch_add(j->order, 1);
    while (atomic_load(&j->held)) u9i_sleep_us(j->env, MS);
    if (j->again > 0) {
        if (j->again != UINT_MAX) j->again--;
        u9i_task_submit(j->env, &j->task, j->every_us ? u9i_monotonic_us(j->env) + j->every_us : 0);
    }
    atomic_fetch_add(&j->runs, 1);
    atomic_fetch_sub(&j->inside, 1);
}

static void begin_job(job *j, u9i_env *env, uint64_t due_us)
{
    j->task.run = run_job;
    j->task.ctx = j;
    j->env = env;
    u9i_task_submit(env, &j->task, due_us);
}

static void wait_for_runs(job *j, unsigned runs)
{
    while (atomic_load(&j->runs) < runs) u9i_sleep_us(j->env, MS);
}

static void wait_until_inside(job *j)
{
    while (atomic_load(&j->inside) == 0) u9i_sleep_us(j->env, MS);
}

START_TEST(a_finished_task_has_run_once)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    enum { JOBS = 200 };
    job *jobs = calloc(JOBS, sizeof *jobs);
    u9i_dir *dir = open_new(env, at("dir"));
    for (unsigned times = 1; times <= 3; times++) { /* a task is used again */
        for (unsigned i = 0; i < JOBS; i++) begin_job(&jobs[i], env, 0);
        for (unsigned i = JOBS; i > 0; i--) {
            u9i_task_finish(env, &jobs[i - 1].task);
            ck_assert_uint_eq(atomic_load(&jobs[i - 1].runs), times);
        }
    }
    u9i_task_finish(env, &jobs[0].task); /* there is nothing to wait for */
    u9i_dir_close(dir);
    free(jobs);
}
END_TEST

START_TEST(a_task_is_finished_where_nobody_else_runs_it)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    job j = {.again = 2};
    begin_job(&j, env, 0); /* no dir is open */
    u9i_task_finish(env, &j.task);
    ck_assert_uint_eq(atomic_load(&j.runs), 3); /* it has submitted itself twice */
}
END_TEST

START_TEST(a_cancelled_task_does_not_run)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    job far = {0}, near = {0};
    u9i_task_cancel(env, &far.task); /* was never submitted */
    begin_job(&far, env, u9i_monotonic_us(env) + 20 * MS);
    begin_job(&near, env, u9i_monotonic_us(env) + 10 * MS);
    u9i_task_cancel(env, &near.task);
    u9i_task_cancel(env, &far.task);
    unsigned far_ran = atomic_load(&far.runs), near_ran = atomic_load(&near.runs); /* on a machine that stood still */
    u9i_sleep_us(env, 40 * MS);
    ck_assert_uint_eq(atomic_load(&far.runs), far_ran);
    ck_assert_uint_eq(atomic_load(&near.runs), near_ran);
    begin_job(&near, env, 0); /* and may be used again */
    u9i_task_finish(env, &near.task);
    ck_assert_uint_eq(atomic_load(&near.runs), near_ran + 1);
    u9i_dir_close(dir);
}
END_TEST

typedef struct guarded {
    u9i_task task;
    pthread_mutex_t lock;
    unsigned runs; /* guarded by it */
} guarded;

static void run_guarded(void *ctx)
{
    guarded *g = ctx;
    ck_assert_int_eq(pthread_mutex_trylock(&g->lock), EBUSY);
    g->runs++;
}

START_TEST(a_task_waits_for_its_guard_and_holds_it)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    guarded g = {.lock = PTHREAD_MUTEX_INITIALIZER};
    g.task = (u9i_task){.run = run_guarded, .ctx = &g, .guard = &g.lock};
    pthread_mutex_lock(&g.lock);
    u9i_task_submit(env, &g.task, 0);
    for (unsigned i = 0; i < 10; i++) { /* calls in which it may run, and time for it */
        ck_assert_int_eq(u9i_dir_sync(dir), 0);
        u9i_sleep_us(env, MS);
    }
    ck_assert_uint_eq(g.runs, 0);
    pthread_mutex_unlock(&g.lock);
    u9i_task_finish(env, &g.task);
    ck_assert_uint_eq(g.runs, 1);
    u9i_dir_close(dir);
}
END_TEST

/* Tasks that run by themselves */

START_TEST(a_task_runs_by_itself_but_not_before_its_time)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    job now = {0}, later = {0};
    uint64_t start = u9i_monotonic_us(env);
    begin_job(&later, env, start + 50 * MS);
    begin_job(&now, env, 0);
    wait_for_runs(&now, 1);
    wait_for_runs(&later, 1);
    u9i_task_finish(env, &now.task);
    u9i_task_cancel(env, &later.task);
    ck_assert_uint_ge(later.began_us, start + 50 * MS);
    ck_assert_uint_eq(atomic_load(&later.runs), 1);
    u9i_dir_close(dir);
}
END_TEST

/* All are due already, and one thread has time for them: the others are held. */
START_TEST(tasks_run_in_the_order_in_which_they_are_due)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    enum { JOBS = 4, MOST = 16 };
    static const unsigned due_us[JOBS] = {3, 1, 4, 2}, expected[JOBS] = {2, 0, 3, 1};
    u9i_dir *dir = open_new(env, at("dir"));
    unsigned threads = u9i_task_width(env) + 1;
    atomic_uint order = 0;
    job held[MOST] = {0}, jobs[JOBS] = {0};
    ck_assert_uint_le(threads, MOST);
    for (unsigned i = 0; i < threads; i++) {
        atomic_store(&held[i].held, true);
        begin_job(&held[i], env, 0);
        wait_until_inside(&held[i]);
    }
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i].order = &order;
        begin_job(&jobs[i], env, due_us[i]);
    }
    atomic_store(&held[0].held, false);
    for (unsigned i = 0; i < JOBS; i++) wait_for_runs(&jobs[i], 1);
    for (unsigned i = 0; i < JOBS; i++) {
        u9i_task_cancel(env, &jobs[i].task);
        ck_assert_uint_eq(jobs[i].place, expected[i]);
    }
    for (unsigned i = 0; i < threads; i++) atomic_store(&held[i].held, false);
    for (unsigned i = 0; i < threads; i++) u9i_task_finish(env, &held[i].task);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_task_that_submits_itself_runs_until_it_is_cancelled)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    for (unsigned timed = 0; timed < 2; timed++)
        for (unsigned i = 0; i < 20; i++) {
            job j = {.again = UINT_MAX, .every_us = timed ? MS : 0};
            begin_job(&j, env, 0);
            wait_for_runs(&j, 5);
            u9i_task_cancel(env, &j.task);
            unsigned runs = atomic_load(&j.runs);
            ck_assert_uint_eq(atomic_load(&j.inside), 0);
            u9i_sleep_us(env, 2 * MS);
            ck_assert_uint_eq(atomic_load(&j.runs), runs);
        }
    u9i_dir_close(dir);
}
END_TEST

static void *let_go_later(void *arg)
{
    usleep(20000);
    atomic_store(&((job *)arg)->held, false);
    return NULL;
}

START_TEST(a_task_is_waited_for_while_it_runs)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    for (unsigned cancelled = 0; cancelled < 2; cancelled++) {
        job first = {.held = true}, other = {0};
        pthread_t thread;
        begin_job(&first, env, 0);
        wait_until_inside(&first);
        begin_job(&other, env, 0); /* another thread takes it meanwhile */
        wait_for_runs(&other, 1);
        u9i_task_finish(env, &other.task);
        ck_assert_uint_eq(atomic_load(&first.runs), 0);
        ck_assert_int_eq(pthread_create(&thread, NULL, let_go_later, &first), 0);
        if (cancelled) u9i_task_cancel(env, &first.task);
        else u9i_task_finish(env, &first.task);
        ck_assert_uint_eq(atomic_load(&first.runs), 1);
        ck_assert_uint_eq(atomic_load(&first.inside), 0);
        pthread_join(thread, NULL);
    }
    u9i_dir_close(dir);
}
END_TEST

/* All threads are at work, and more tasks come: each is run in its time, by them or by who finishes it. */
START_TEST(more_tasks_than_threads_all_run)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    enum { HELD = 6 };
    u9i_dir *dir = open_new(env, at("dir"));
    job held[HELD] = {0}, ticking = {.again = UINT_MAX, .every_us = MS}, late = {0};
    begin_job(&ticking, env, 0);
    for (unsigned i = 0; i < HELD; i++) {
        atomic_store(&held[i].held, true);
        begin_job(&held[i], env, 0);
    }
    wait_until_inside(&held[0]);
    begin_job(&late, env, 0);
    u9i_task_finish(env, &late.task); /* runs here */
    ck_assert_uint_eq(atomic_load(&late.runs), 1);
    for (unsigned i = 0; i < HELD; i++) atomic_store(&held[i].held, false);
    for (unsigned i = 0; i < HELD; i++) wait_for_runs(&held[i], 1);
    wait_for_runs(&ticking, atomic_load(&ticking.runs) + 3);
    for (unsigned i = 0; i < HELD; i++) u9i_task_finish(env, &held[i].task);
    u9i_task_cancel(env, &ticking.task);
    u9i_dir_close(dir);
}
END_TEST

static unsigned threads_here(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* The system may list one for a moment that was waited for. */
static void wait_for_threads(unsigned n)
{
    while (threads_here() > n) usleep(1000);
    ck_assert_uint_eq(threads_here(), n);
}

START_TEST(threads_are_had_while_a_dir_is_open)
{
    u9i_env *env = env_row(_i);
    if (env == NULL || SANITIZED) return; /* sanitizers have threads of their own */
    unsigned before = threads_here();
    for (unsigned times = 0; times < 3; times++) {
        u9i_dir *dir = open_new(env, at("dir")), *other = open_new(env, at("other"));
        job jobs[20] = {0};
        ck_assert_uint_eq(threads_here(), before);
        for (unsigned i = 0; i < 20; i++) begin_job(&jobs[i], env, 0);
        for (unsigned i = 0; i < 20; i++) wait_for_runs(&jobs[i], 1);
        for (unsigned i = 0; i < 20; i++) u9i_task_finish(env, &jobs[i].task);
        u9i_dir_close(dir);
        ck_assert_uint_gt(threads_here(), before);
        ck_assert_uint_le(threads_here(), before + 4);
        u9i_dir_close(other);
        wait_for_threads(before);
    }
}
END_TEST

START_TEST(where_no_thread_can_be_had_a_task_runs_at_its_finish)
{
    u9i_env *env = env_row(_i);
    if (env == NULL || SANITIZED) return; /* they want address space */
    pid_t pid = fork_child();
    if (pid == 0) {
        u9i_dir *dir;
        struct rlimit limit, none;
        job plain = {0}, timed = {0}, more = {0};
        CHILD_EXPECT(u9i_dir_open(env, at("dir"), true, &dir) == 0);
        CHILD_EXPECT(getrlimit(RLIMIT_AS, &limit) == 0);
        none = limit;
        none.rlim_cur = 0; /* no stack for one */
        CHILD_EXPECT(setrlimit(RLIMIT_AS, &none) == 0);
        begin_job(&timed, env, 1);
        begin_job(&plain, env, 0);
        CHILD_EXPECT(threads_here() == 1);
        u9i_task_finish(env, &plain.task);
        CHILD_EXPECT(atomic_load(&plain.runs) == 1 && atomic_load(&timed.runs) == 0);
        CHILD_EXPECT(setrlimit(RLIMIT_AS, &limit) == 0);
        begin_job(&more, env, 0); /* one can be had again, and takes all that is there */
        wait_for_runs(&more, 1);
        wait_for_runs(&timed, 1);
        u9i_task_finish(env, &more.task);
        u9i_task_finish(env, &timed.task);
        u9i_dir_close(dir);
        _exit(0);
    }
    expect_child(pid);
}
END_TEST

typedef struct seen_mask {
    sigset_t mask;
    atomic_bool there;
} seen_mask;

static void read_mask(void *ctx)
{
    seen_mask *its = ctx;
    pthread_sigmask(SIG_SETMASK, NULL, &its->mask);
    atomic_store(&its->there, true);
}

/* {F31} But what a thread has done itself does: mapped files are read there, under the guard of SIGBUS. */
START_TEST(the_hosts_signals_do_not_reach_the_threads)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    sigset_t mine;
    seen_mask its = {.there = false};
    u9i_task task = {.run = read_mask, .ctx = &its};
    pthread_sigmask(SIG_SETMASK, NULL, &mine);
    u9i_task_submit(env, &task, 0);
    while (!atomic_load(&its.there)) u9i_sleep_us(env, MS);
    u9i_task_finish(env, &task);
    ck_assert_int_eq(sigismember(&its.mask, SIGUSR1), 1);
    ck_assert_int_eq(sigismember(&its.mask, SIGTERM), 1);
    ck_assert_int_eq(sigismember(&mine, SIGTERM), 0);
    ck_assert_int_eq(sigismember(&its.mask, SIGBUS), 0);
    ck_assert_int_eq(sigismember(&its.mask, SIGSEGV), 0);
    u9i_dir_close(dir);
}
END_TEST

/* In a child: tasks that run by themselves. The thread sanitizer lets a child of threads have none. */
static void run_own_tasks(u9i_env *env)
{
    if (SANITIZED) return;
    job own = {.again = 10, .every_us = 100};
    begin_job(&own, env, 0);
    wait_for_runs(&own, 11);
    u9i_task_finish(env, &own.task);
    CHILD_EXPECT(threads_here() > 1);
}

START_TEST(a_child_has_tasks_of_its_own_and_leaves_those_of_its_parent)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    job held = {.held = true}, ticking = {.again = UINT_MAX, .every_us = MS}, far = {0};
    begin_job(&held, env, 0);
    begin_job(&ticking, env, 0);
    begin_job(&far, env, u9i_monotonic_us(env) + 100000 * MS);
    wait_for_runs(&ticking, 3);
    wait_until_inside(&held);
    pid_t pid = fork_child();
    if (pid == 0) {
        unsigned runs = atomic_load(&ticking.runs);
        u9i_dir *mine;
        CHILD_EXPECT(u9i_dir_open(env, at("mine"), true, &mine) == 0);
        run_own_tasks(env);
        CHILD_EXPECT(atomic_load(&ticking.runs) == runs);
        u9i_task_finish(env, &held.task); /* it runs in the parent, and is waited for there */
        u9i_task_cancel(env, &far.task);
        CHILD_EXPECT(atomic_load(&held.runs) == 0 && atomic_load(&far.runs) == 0);
        u9i_dir_close(dir); /* the parent's: its threads are waited for by nobody here */
        pid_t grandchild = fork();
        if (grandchild == 0) {
            u9i_dir_close(mine);
            _exit(0);
        }
        int status;
        CHILD_EXPECT(waitpid(grandchild, &status, 0) == grandchild && status == 0);
        u9i_dir_close(mine);
        while (threads_here() > 1 && !SANITIZED) usleep(1000);
        _exit(0);
    }
    expect_child(pid);
    atomic_store(&held.held, false);
    u9i_task_finish(env, &held.task);
    u9i_task_cancel(env, &ticking.task);
    u9i_task_cancel(env, &far.task);
    ck_assert_uint_eq(atomic_load(&held.runs), 1);
    u9i_dir_close(dir);
}
END_TEST

/* The executor of one thread */

typedef struct step {
    u9i_task task;
    u9i_inline *executor;
    char name, *trace; /* each run adds the name */
    uint64_t again_us; /* when it submits itself; 0: it does not */
} step;

static void run_step(void *ctx)
{
    step *s = ctx;
    strncat(s->trace, &s->name, 1);
    if (s->again_us) u9i_inline_submit(s->executor, &s->task, s->again_us);
}

START_TEST(tasks_of_one_thread_run_as_the_caller_picks)
{
    u9i_inline x = {0};
    char trace[20] = "";
    step s[4];
    for (unsigned i = 0; i < 4; i++) {
        s[i] = (step){.task = {.run = run_step, .ctx = &s[i]}, .executor = &x, .name = (char)('a' + i),
                      .trace = trace};
        u9i_inline_submit(&x, &s[i].task, i == 2 ? 50 : 0);
    }
    s[1].again_us = 20;
    ck_assert_uint_eq(u9i_inline_due(&x, 10), 3);
    ck_assert_uint_eq(u9i_inline_next(&x), 0);
    u9i_inline_run(&x, 10, 2);
    ck_assert_str_eq(trace, "d");
    u9i_inline_run(&x, 10, 1); /* b, which is due again at 20 */
    ck_assert_uint_eq(u9i_inline_due(&x, 10), 1);
    ck_assert_uint_eq(u9i_inline_due(&x, 20), 2);
    u9i_inline_finish(&x, &s[0].task);
    u9i_inline_finish(&x, &s[0].task);
    ck_assert_str_eq(trace, "dba");
    u9i_inline_cancel(&x, &s[1].task);
    u9i_inline_cancel(&x, &s[1].task);
    ck_assert_uint_eq(u9i_inline_due(&x, 100), 1);
    ck_assert_uint_eq(u9i_inline_next(&x), 50);
    u9i_inline_run(&x, 50, 0);
    ck_assert_str_eq(trace, "dbac");
    ck_assert_ptr_null(x.first);
}
END_TEST

Suite *suite_executor(void)
{
    const TTest *const anywhere[] = {a_finished_task_has_run_once,
                                            a_task_is_finished_where_nobody_else_runs_it,
                                            a_cancelled_task_does_not_run,
                                            a_task_waits_for_its_guard_and_holds_it};
    const TTest *const on_the_host[] = {
        a_task_runs_by_itself_but_not_before_its_time, tasks_run_in_the_order_in_which_they_are_due,
        a_task_that_submits_itself_runs_until_it_is_cancelled, a_task_is_waited_for_while_it_runs,
        more_tasks_than_threads_all_run, threads_are_had_while_a_dir_is_open,
        where_no_thread_can_be_had_a_task_runs_at_its_finish, the_hosts_signals_do_not_reach_the_threads,
        a_child_has_tasks_of_its_own_and_leaves_those_of_its_parent};
    const TTest *const once[] = {tasks_of_one_thread_run_as_the_caller_picks};
    Suite *suite = suite_create("executor");
    TCase *first = tcase_create("anywhere"), *second = tcase_create("threads"), *third = tcase_create("inline");
    add_rows(first, anywhere, sizeof anywhere / sizeof anywhere[0], ENV_ROWS);
    add_rows(second, on_the_host, sizeof on_the_host / sizeof on_the_host[0], ENV_HOST_ROWS);
    add_rows(third, once, 1, 1);
    suite_add_tcase(suite, first);
    suite_add_tcase(suite, second);
    suite_add_tcase(suite, third);
    return suite;
}
