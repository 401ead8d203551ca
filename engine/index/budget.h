/*
 * engine/index/budget.h: the memory that lookups keep, of all segments of a handle: how much it is, and what of it is
 * laid out in large pieces, as it is looked up all over.
 *
 * Nothing is given back one by one but counts: pieces go with the budget. Who finds that frames were not kept too often
 * makes a new one, and lets go of all (read/view.h).
 *
 * Threads: any; opened and closed by one.
 */
#ifndef U9I_BUDGET_H
#define U9I_BUDGET_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct u9i_chunk {
    struct u9i_chunk *next;
    size_t used, size; /* bytes, with this head */
} u9i_chunk;

typedef struct u9i_budget {
    uint64_t limit;              /* bytes */
    _Atomic(uint64_t) used;
    _Atomic(uint64_t) kept, missed; /* frames that are, and how often one was not for want of memory */
    pthread_mutex_t lock;        /* guards: */
    u9i_chunk *heads, *tables;   /* heads together: all of them fit the processor's cache */
} u9i_budget;

void u9i_budget_open(u9i_budget *budget, uint64_t limit);
void u9i_budget_close(u9i_budget *budget);

/* Counts so many bytes, if there is room for them; else false, and a miss. u9i_budget_add counts them in any case. */
bool u9i_budget_take(u9i_budget *budget, uint64_t bytes);
void u9i_budget_add(u9i_budget *budget, uint64_t bytes);
void u9i_budget_give(u9i_budget *budget, uint64_t bytes);

/* Memory that stays until the budget is closed: of a line of the processor's cache, and of so many bytes, aligned to
 * one. NULL: there is none. */
void *u9i_budget_head(u9i_budget *budget);
void *u9i_budget_table(u9i_budget *budget, size_t bytes);

/* True if it is better to begin anew. */
static inline bool u9i_budget_full(u9i_budget *b)
{
    enum { FEW = 1000 };
    return atomic_load_explicit(&b->missed, memory_order_relaxed) >
           FEW + 2 * atomic_load_explicit(&b->kept, memory_order_relaxed);
}

#endif
