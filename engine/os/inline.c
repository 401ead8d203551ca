/*
 * engine/os/inline.c: see inline.h.
 */
#include "engine/os/inline.h"

#include <assert.h>

static void inline_check(const u9i_inline *x)
{
    for (const u9i_task *t = x->first; t; t = t->next) assert(t->queued && t->next != t);
}

/* Where the row points at a queued task. */
static u9i_task **task_place(u9i_inline *x, const u9i_task *task)
{
    u9i_task **at = &x->first;
    while (*at != task) at = &(*at)->next;
    return at;
}

static void unlink_task(u9i_inline *x, u9i_task *task)
{
    *task_place(x, task) = task->next;
    task->next = NULL;
    task->queued = false;
    inline_check(x);
}

static void run_inline(u9i_inline *x, u9i_task *task)
{
    unlink_task(x, task);
    task->running = true;
    if (task->guard) pthread_mutex_lock(task->guard);
    task->run(task->ctx);
    if (task->guard) pthread_mutex_unlock(task->guard);
    task->running = false;
}

/* It is not running, and its guard can be had. */
static bool can_run(const u9i_task *task)
{
    if (task->running) return false;
    if (task->guard == NULL) return true;
    if (pthread_mutex_trylock(task->guard) != 0) return false;
    pthread_mutex_unlock(task->guard);
    return true;
}

void u9i_inline_submit(u9i_inline *x, u9i_task *task, uint64_t due_us)
{
    assert(!task->queued);
    task->due_us = due_us;
    task->next = NULL;
    task->queued = true;
    *task_place(x, NULL) = task;
    inline_check(x);
}

void u9i_inline_finish(u9i_inline *x, u9i_task *task)
{
    assert(!task->running);
    while (task->queued) run_inline(x, task);
}

void u9i_inline_cancel(u9i_inline *x, u9i_task *task)
{
    assert(!task->running);
    if (task->queued) unlink_task(x, task);
}

unsigned u9i_inline_due(const u9i_inline *x, uint64_t now_us)
{
    unsigned count = 0;
    for (const u9i_task *task = x->first; task; task = task->next)
        count += task->due_us <= now_us && can_run(task);
    return count;
}

uint64_t u9i_inline_next(const u9i_inline *x)
{
    uint64_t first = U9I_FOREVER;
    for (const u9i_task *task = x->first; task; task = task->next)
        if (task->due_us < first && can_run(task)) first = task->due_us;
    return first;
}

void u9i_inline_run(u9i_inline *x, uint64_t now_us, unsigned nth)
{
    u9i_task *task = x->first;
    for (;; task = task->next) {
        assert(task != NULL);
        if (task->due_us <= now_us && can_run(task) && nth-- == 0) break;
    }
    run_inline(x, task);
}
