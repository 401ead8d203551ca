/*
 * engine/os/process.c: see process.h.
 */
#include "engine/os/process.h"

#include <pthread.h>
#include <sys/mman.h>

void *u9i_pages(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void u9i_pages_free(void *pages, size_t size)
{
    if (pages) munmap(pages, size);
}

unsigned u9i_forks;

static void forked(void)
{
    u9i_forks++;
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, forked);
}

unsigned u9i_fork_generation(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    return u9i_forks;
}
