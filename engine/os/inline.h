/*
 * engine/os/inline.h: the executor of one thread: tasks run when the caller says so, one after the other,
 * in an order that the caller picks. For envs in which every run must be repeatable.
 *
 * Threads: none; whoever shares one locks around it.
 */
#ifndef U9I_INLINE_H
#define U9I_INLINE_H

#include "engine/os/env.h"

typedef struct u9i_inline {
    u9i_task *first; /* queued, in the order of submission */
} u9i_inline;

void u9i_inline_submit(u9i_inline *executor, u9i_task *task, uint64_t due_us);
void u9i_inline_finish(u9i_inline *executor, u9i_task *task);
void u9i_inline_cancel(u9i_inline *executor, u9i_task *task);

/* How many tasks are due at `now_us` and can run: nobody holds their guards. */
unsigned u9i_inline_due(const u9i_inline *executor, uint64_t now_us);

/* When the first one that can run is due; U9I_FOREVER: there is none. */
uint64_t u9i_inline_next(const u9i_inline *executor);

/* Runs the nth (from 0) of these. */
void u9i_inline_run(u9i_inline *executor, uint64_t now_us, unsigned nth);

#endif
