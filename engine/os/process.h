/*
 * engine/os/process.h: what the engine takes from the process itself: pages of memory, and whether it is
 * still the process that it was.
 */
#ifndef U9I_PROCESS_H
#define U9I_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Zeroed pages, touched as used; NULL if there is no room. Aligned to pages. */
void *u9i_pages(size_t size);
/* The same for much that is looked up all over: in large pages, where the system has them. */
void *u9i_huge_pages(size_t size);
void u9i_pages_free(void *pages, size_t size);

extern atomic_bool u9i_forks_watched;
extern unsigned u9i_forks; /* counted since they are watched */
void u9i_watch_forks(void);

/* Counts forks: it differs between parent and child. */
static inline unsigned u9i_fork_generation(void)
{
    if (!atomic_load_explicit(&u9i_forks_watched, memory_order_acquire)) u9i_watch_forks();
    return u9i_forks;
}

/* The same, for who holds a generation: so somebody has asked already. One load. */
static inline unsigned u9i_fork_generation_now(void)
{
    return u9i_forks;
}

#endif
