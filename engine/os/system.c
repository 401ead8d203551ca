/*
 * engine/os/system.c: see system.h.
 */
#include "engine/os/system.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

static uint64_t clock_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t u9i_wall_us(void)
{
    return clock_us(CLOCK_REALTIME);
}

uint64_t u9i_monotonic_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

bool u9i_random(void *out, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = getrandom((char *)out + done, size - done, 0);
        if (n > 0) done += (size_t)n;
        else if (errno != EINTR) return false;
    }
    return true;
}

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

static unsigned generation;

static void forked(void)
{
    generation++;
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, forked);
}

unsigned u9i_fork_generation(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    return generation;
}
