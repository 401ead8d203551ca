/*
 * engine/os/clock.c: the clock and the randomness of the two envs that stand on the system.
 */
#include "engine/os/posix.h"

#include <errno.h>
#include <sched.h>
#include <sys/random.h>
#include <time.h>

static uint64_t clock_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t wall_us(u9i_env *env)
{
    (void)env;
    return clock_us(CLOCK_REALTIME);
}

static uint64_t monotonic_us(u9i_env *env)
{
    (void)env;
    return clock_us(CLOCK_MONOTONIC);
}

static void sleep_us(u9i_env *env, uint64_t us)
{
    struct timespec t = u9i_posix_timespec(us);
    (void)env;
    if (us == 0) sched_yield();
    else (void)nanosleep(&t, NULL);
}

const u9i_clock u9i_posix_clock = {.wall_us = wall_us, .monotonic_us = monotonic_us, .sleep_us = sleep_us};

bool u9i_posix_random(u9i_env *env, void *out, size_t size)
{
    (void)env;
    for (size_t done = 0; done < size;) {
        ssize_t n = getrandom((char *)out + done, size - done, 0);
        if (n > 0) done += (size_t)n;
        else if (errno != EINTR) return false;
    }
    return true;
}
