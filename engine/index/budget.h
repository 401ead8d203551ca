/*
 * engine/index/budget.h: the memory that lookups keep, of all segments of a handle: how much it is, and what of it is
 * laid out in large pieces, as it is looked up all over.
 *
 *     whole: limit, used, missed           what indexes keep, tables of all segments
 *       '- part: kept, used, pieces        opened frames; one part after the other
 *
 * Nothing is given back one by one but counts: pieces go with their budget, and give back then what they were counted
 * for. Who finds that frames were not kept too often makes a new part, and lets go of the frames that are in the one
 * before (read/view.h); what the whole has stays. What cannot be kept is read when it is wanted, so that a budget that is
 * used up costs time, and never what was made with much work.
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
    struct u9i_budget *whole;    /* borrows: of which this is a part; NULL: of none */
    uint64_t limit;              /* bytes; a part has none of its own */
    _Atomic(uint64_t) used;
    _Atomic(uint64_t) kept;      /* frames that are */
    _Atomic(uint64_t) missed;    /* how often one was not for want of memory: in the whole, since its newest part was opened */
    pthread_mutex_t lock;        /* guards: */
    u9i_chunk *heads, *tables;   /* heads together: all of them fit the processor's cache */
} u9i_budget;

void u9i_budget_open(u9i_budget *budget, uint64_t limit);
void u9i_budget_open_part(u9i_budget *budget, u9i_budget *whole); /* which outlives it */
void u9i_budget_close(u9i_budget *budget);

/* Counts so many bytes, if there is room for them; else false, and a miss. u9i_budget_add counts them in any case. */
bool u9i_budget_take(u9i_budget *budget, uint64_t bytes);
/* The same if then at most one part in `share` of all there may be is used; no miss is counted. */
bool u9i_budget_take_within(u9i_budget *budget, uint64_t bytes, unsigned share);
void u9i_budget_add(u9i_budget *budget, uint64_t bytes);
void u9i_budget_give(u9i_budget *budget, uint64_t bytes);

/* Memory that stays until the budget is closed: of a line of the processor's cache, and of so many bytes, aligned to
 * one. NULL: there is none. */
void *u9i_budget_head(u9i_budget *budget);
void *u9i_budget_table(u9i_budget *budget, size_t bytes);

/* True if it is better to begin this part anew: there is something to be let go, and all was wanted that is not kept. */
static inline bool u9i_budget_full(u9i_budget *b)
{
    enum { FEW = 1000 };
    const u9i_budget *whole = b->whole ? b->whole : b;
    uint64_t kept = atomic_load_explicit(&b->kept, memory_order_relaxed);
    return kept > 0 && atomic_load_explicit(&whole->missed, memory_order_relaxed) > FEW + 2 * kept;
}

#endif
