/*
 * engine/os/clock.c: the clock, the randomness and the machine of the two envs that stand on the system.
 */
#include "engine/os/posix.h"

#include "format/base/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

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

/* 32 digits as in machine-id(5), not all 0. An image that was not started yet has another text there, or none. */
static bool parse_machine(const char *text, uint8_t id[U9I_MACHINE_SIZE])
{
    uint8_t bytes[U9I_MACHINE_SIZE], any = 0;
    for (unsigned i = 0; i < U9I_MACHINE_SIZE; i++) {
        int high = u9i_hex_digit(text[2 * i]), low = u9i_hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = (uint8_t)(high << 4 | low);
        any |= bytes[i];
    }
    if (any != 0) memcpy(id, bytes, sizeof bytes);
    return any != 0;
}

bool u9i_posix_machine(u9i_env *env, uint8_t id[U9I_MACHINE_SIZE])
{
    char text[2 * U9I_MACHINE_SIZE + 2] = "";
    (void)env;
    int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text);
    close(fd);
    bool whole = n == 2 * U9I_MACHINE_SIZE || (n == 2 * U9I_MACHINE_SIZE + 1 && text[n - 1] == '\n');
    return whole && parse_machine(text, id);
}
