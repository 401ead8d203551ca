/*
 * tests/engine/os/fault_io.h: a disk that keeps a diary and fails on request: the env "faulty", chosen by
 * options.io. It stands on the env of the run (U9_IO), or on any other.
 *
 * Every operation is recorded with two ticks of one clock, when it began and when it was told complete, so
 * that tests can speak of order without speaking of time. A failing operation is not done at all, or, a
 * write, half done. Completions come promptly, late (only when waited for) or late and in reverse; a late
 * operation is really done when it is told.
 *
 * Syncs are recorded but not done unless asked for: no test here cuts the power, and they cost most of
 * the time. The diary and the plans may be used from any thread; they belong to the process: a forked child
 * that writes or reaps exits with FAULT_WRONG_PROCESS.
 */
#ifndef TESTS_ENGINE_FAULT_IO_H
#define TESTS_ENGINE_FAULT_IO_H

#include "engine/os/env.h"

enum { FAULT_WRONG_PROCESS = 99 };

typedef enum fault_kind {
    FAULT_MOUNT,
    FAULT_LOCK,
    FAULT_LIST,
    FAULT_START,
    FAULT_OPEN,
    FAULT_CREATE,
    FAULT_SIZE,
    FAULT_READ,
    FAULT_RESERVE,
    FAULT_CUT,
    FAULT_SETTLE,
    FAULT_WRITE,
    FAULT_SYNC,
    FAULT_SYNC_DIR,
    FAULT_KINDS,
    FAULT_ANY = FAULT_KINDS /* in a plan: whatever comes */
} fault_kind;

typedef struct fault_op {
    fault_kind kind;
    uint64_t segment;      /* number of the file, 0: the directory, or another name */
    uint64_t begin, end;   /* write, read: the range; reserve, cut: [0, end) */
    int error;             /* what was told: 0 or a negative errno */
    uint64_t began, ended; /* ticks; ended 0: never told */
} fault_op;

typedef enum fault_order { FAULT_PROMPT, FAULT_LATE, FAULT_REVERSED } fault_order;

/* Registers the env on top of `inner` (NULL: the env of the run), with an empty diary and no plans. */
void fault_io_reset(u9i_env *inner);

/* Plans: the nth call (from 1, counted from now) of this kind fails with `error`; sticky: all later too. */
void fault_io_fail(fault_kind kind, unsigned nth, int error, bool sticky);
/* The same for writes, of which the first half reaches the file. */
void fault_io_fail_half(unsigned nth, int error);
/* Drops all plans. */
void fault_io_mend(void);
/* How many calls failed by a plan since the reset. */
unsigned fault_io_fired(void);

void fault_io_order(fault_order order);
void fault_io_sync_for_real(bool real);

/* The nth call of this kind (from 1, counted from now) stops before it is done, until fault_io_let_go. */
void fault_io_hold(fault_kind kind, unsigned nth);
void fault_io_wait_held(void); /* until somebody stands there */
void fault_io_let_go(void);

/* The diary; the array is good while no log is open on the env. */
const fault_op *fault_io_ops(size_t *count);
/* How many operations of this kind (FAULT_ANY: all) it holds. */
unsigned fault_io_count(fault_kind kind);
/* The first operation of this kind on this file that covers `at` (any: U9_NOWHERE); NULL if none. */
const fault_op *fault_io_find(fault_kind kind, uint64_t segment, uint64_t at);

/*
 * Up to where the file is on stable storage at this tick, by the diary: writes told complete before a sync
 * began that was told complete, without holes; 0 before the name is. [W-2] [W-4]
 */
uint64_t fault_io_durable(uint64_t segment, uint64_t tick);

/* The nth call of getrandom in this process fails from now on, 0: none does. */
void fault_random_fail(unsigned nth);

#endif
