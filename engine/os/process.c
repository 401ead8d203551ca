/*
 * engine/os/process.c: see process.h.
 */
#include "engine/os/process.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

void *u9i_pages(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void *u9i_huge_pages(size_t size)
{
    enum { HUGE = 1 << 21 };
    uint8_t *more = (uint8_t *)u9i_pages(size + HUGE);
    if (more == NULL) return NULL;
    size_t skip = HUGE - ((uintptr_t)more & (HUGE - 1)); /* they begin at a multiple of their size */
    munmap(more, skip);
    if (skip < HUGE) munmap(more + skip + size, HUGE - skip);
    (void)madvise(more + skip, size, MADV_HUGEPAGE);
    return more + skip;
}

void u9i_pages_free(void *pages, size_t size)
{
    if (pages) munmap(pages, size);
}

atomic_bool u9i_forks_watched;
unsigned u9i_forks;

static void forked(void)
{
    u9i_forks++;
}

static void watch_once(void)
{
    (void)pthread_atfork(NULL, NULL, forked);
    atomic_store_explicit(&u9i_forks_watched, true, memory_order_release);
}

void u9i_watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_once);
}
