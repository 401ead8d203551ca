/*
 * engine/os/pool.c: see pool.h. A task's life, all of it under the lock but the run itself:
 *
 *     idle --submit--> queued --a thread, or finish--> running --end--> idle, or queued if it was submitted
 *       ^                 |                                             meanwhile
 *       +-----cancel------+
 *
 * Queued tasks stand in a row by due time, and in the order of submission where that is the same. A thread is
 * started when something is queued and none is idle, up to a bound; they end with the last open dir. Of the
 * idle ones one watches the clock for the first task in the row, the others wait to be told.
 *
 * Where no thread can be had, a task runs at its finish, in its finisher's thread; one that nobody finishes
 * waits until a later call of submit can start a thread.
 *
 * Forks: the lock is held across a fork, so a child finds it free, and begins with an empty pool. What the
 * parent had queued or was running is left where it is: such a task is known by its fork generation.
 *
 * The host's signals are blocked in the threads, but for those of what a thread does itself: pages of mapped files may be
 * gone (guard.h). Nothing here is called from a signal handler.
 */
#include "engine/os/pool.h"

#include "engine/os/posix.h"
#include "engine/os/process.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS_MIN = 2, THREADS_MAX = 64 }; /* and between them, as many as there are processors */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;  /* idle threads but the one that watches wait for this */
    pthread_cond_t alarm; /* the one that watches waits for this, or for the time */
    pthread_cond_t moved; /* a task has ended, or the pool has stopped */
    unsigned users;       /* open dirs */
    u9i_task *first;      /* the row */
    pthread_t threads[THREADS_MAX];
    unsigned count, count_max;
    unsigned idle;        /* threads that wait: */
    bool watched;         /*   one of them for the first task's due time */
    bool stopping;        /* the last user waits for the threads to end */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The process */

static void init_conditions(void)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&pool.work, &attr);
    pthread_cond_init(&pool.alarm, &attr);
    pthread_cond_init(&pool.moved, &attr);
    pthread_condattr_destroy(&attr);
}

static void before_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&pool.lock);
}

static void in_child(void)
{
    init_conditions(); /* the parent's threads may stand in the old ones */
    pool.first = NULL;
    pool.users = pool.count = pool.idle = 0;
    pool.watched = pool.stopping = false;
    pthread_mutex_unlock(&pool.lock);
}

static void prepare_process(void)
{
    (void)u9i_fork_generation(); /* counted before the pool is emptied */
    init_conditions();
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    pool.count_max = n < THREADS_MIN ? THREADS_MIN : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

static void lock_pool(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_process);
    pthread_mutex_lock(&pool.lock);
}

/* What holds of the pool while its lock is held. */
static void pool_check(void)
{
    assert(pool.count <= pool.count_max && pool.idle <= pool.count_max);
    assert(!pool.watched || pool.idle > 0);
    assert(pool.users > 0 || pool.count == 0 || pool.stopping);
    for (const u9i_task *t = pool.first; t; t = t->next)
        assert(t->queued && !t->running && (t->next == NULL || t->due_us <= t->next->due_us));
}

static void unlock_pool(void)
{
    pool_check();
    pthread_mutex_unlock(&pool.lock);
}

/* The row */

static void enqueue(u9i_task *task)
{
    u9i_task **at = &pool.first;
    while (*at && (*at)->due_us <= task->due_us) at = &(*at)->next;
    task->next = *at;
    *at = task;
}

static void dequeue(u9i_task *task)
{
    u9i_task **at = &pool.first;
    while (*at != task) at = &(*at)->next;
    *at = task->next;
    task->next = NULL;
    task->queued = false;
}

/* Runs a task that is in no row; gives the lock back meanwhile. */
static void run_on_thread(u9i_task *task)
{
    task->running = true;
    unlock_pool();
    if (task->guard) pthread_mutex_lock(task->guard);
    task->run(task->ctx);
    if (task->guard) pthread_mutex_unlock(task->guard);
    lock_pool();
    task->running = false;
    if (task->queued) enqueue(task);
    pthread_cond_broadcast(&pool.moved);
}

/* The threads */

/* Takes the first task, if it is due. */
static u9i_task *take_due(void)
{
    u9i_task *task = pool.first;
    if (task == NULL || (task->due_us > 0 && task->due_us > u9i_monotonic_us(&u9i_env_posix))) return NULL;
    dequeue(task);
    return task;
}

static void wait_for_work(void)
{
    pool.idle++;
    if (pool.first != NULL && !pool.watched) {
        struct timespec due = u9i_posix_timespec(pool.first->due_us);
        pool.watched = true;
        (void)pthread_cond_timedwait(&pool.alarm, &pool.lock, &due);
        pool.watched = false;
    } else {
        (void)pthread_cond_wait(&pool.work, &pool.lock);
    }
    pool.idle--;
}

static void *work(void *unused);

static void start_thread(void)
{
    static const int its_own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP};
    sigset_t all, old;
    if (pool.users == 0 || pool.stopping || pool.count == pool.count_max) return;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof its_own / sizeof *its_own; i++) sigdelset(&all, its_own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (pthread_create(&pool.threads[pool.count], NULL, work, NULL) == 0) pool.count++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/*
 * Sees to it that somebody takes what is first in the row, or watches it: an idle thread, or a new one. If
 * there is none, one that is at work looks when it is done.
 */
static void call_thread(void)
{
    if (pool.first == NULL) return;
    bool waits = pool.idle > pool.watched; /* one that does not watch */
    if (waits && (pool.first->due_us == 0 || !pool.watched)) pthread_cond_signal(&pool.work);
    else if (pool.watched) pthread_cond_signal(&pool.alarm);
    else start_thread();
}

static void *work(void *unused)
{
    lock_pool();
    while (!pool.stopping) {
        u9i_task *task = take_due();
        if (task == NULL) {
            wait_for_work();
            continue;
        }
        call_thread(); /* for what stands behind it */
        run_on_thread(task);
        if (pool.first == task && pool.watched) pthread_cond_signal(&pool.alarm);
    }
    unlock_pool();
    return unused;
}

void u9i_pool_acquire(void)
{
    lock_pool();
    while (pool.stopping) pthread_cond_wait(&pool.moved, &pool.lock);
    pool.users++;
    unlock_pool();
}

void u9i_pool_release(void)
{
    lock_pool();
    assert(pool.users > 0 && !pool.stopping);
    if (--pool.users > 0) {
        unlock_pool();
        return;
    }
    pool.stopping = true;
    pthread_cond_broadcast(&pool.work);
    pthread_cond_broadcast(&pool.alarm);
    unlock_pool();
    for (unsigned i = 0; i < pool.count; i++) pthread_join(pool.threads[i], NULL);
    lock_pool();
    pool.count = 0;
    pool.stopping = false;
    pthread_cond_broadcast(&pool.moved);
    unlock_pool();
}

/* The executor */

/* What the parent of a forked child submitted is none of the child's. */
static void leave_to_parent(u9i_task *task)
{
    unsigned generation = u9i_fork_generation();
    if (task->generation == generation) return;
    task->generation = generation;
    task->queued = task->running = task->barred = false;
}

static void submit_task(u9i_env *env, u9i_task *task, uint64_t due_us)
{
    (void)env;
    lock_pool();
    leave_to_parent(task);
    if (!task->barred) {
        assert(!task->queued);
        task->queued = true;
        task->due_us = due_us;
        if (!task->running) {
            enqueue(task);
            call_thread();
        }
    }
    unlock_pool();
}

static void finish(u9i_env *env, u9i_task *task)
{
    (void)env;
    lock_pool();
    leave_to_parent(task);
    while (task->queued || task->running) {
        if (task->running) {
            pthread_cond_wait(&pool.moved, &pool.lock);
        } else {
            dequeue(task);
            run_on_thread(task);
        }
    }
    unlock_pool();
}

static void cancel(u9i_env *env, u9i_task *task)
{
    (void)env;
    lock_pool();
    leave_to_parent(task);
    task->barred = true;
    if (task->queued && !task->running) dequeue(task);
    task->queued = false;
    while (task->running) pthread_cond_wait(&pool.moved, &pool.lock);
    task->barred = false;
    unlock_pool();
}

/* One thread is left for others; and the submitter has a processor, too. */
static unsigned width(u9i_env *env)
{
    (void)env;
    lock_pool();
    unsigned n = pool.count_max - 1;
    unlock_pool();
    return n;
}

const u9i_executor u9i_pool_executor = {.submit = submit_task, .finish = finish, .cancel = cancel, .width = width};
