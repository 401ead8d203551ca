/*
 * engine/os/process.h: what the engine takes from the process itself: pages of memory, and whether it is
 * still the process that it was.
 */
#ifndef U9I_PROCESS_H
#define U9I_PROCESS_H

#include <stddef.h>

/* Zeroed pages, touched as used; NULL if there is no room. Aligned to pages. */
void *u9i_pages(size_t size);
void u9i_pages_free(void *pages, size_t size);

/* Counts forks: it differs between parent and child. */
unsigned u9i_fork_generation(void);

extern unsigned u9i_forks; /* what it counts in */

/* The same, for who holds a generation: so somebody has asked already. One load. */
static inline unsigned u9i_fork_generation_now(void)
{
    return u9i_forks;
}

#endif
