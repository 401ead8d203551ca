/*
 * tests/rados/appenders.c: see fixture.h: a process whose threads append and commit until it is told to stop, which says
 * what was acknowledged and how long a call took at most. tests/rados/test_failures.sh does things to the cluster meanwhile.
 */
#include "tests/rados/fixture.h"

#include <u9/rados.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 64, PAD = 500, FULL_US = 100000, SEGMENT = 1 << 20 };

static u9_log *the_log;
static _Atomic unsigned next_number;
static _Atomic uint64_t longest_us;
static atomic_bool failed, said_full;
static volatile sig_atomic_t stopped;

static void on_stop(int number)
{
    (void)number;
    stopped = 1;
}

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void note(uint64_t since_us)
{
    uint64_t took = now_us() - since_us, most = longest_us;
    while (took > most && !atomic_compare_exchange_weak(&longest_us, &most, took)) continue;
}

/* Once, of the first thread that fails. */
static void tell(atomic_bool *said, const char *what, const u9_fault *fault)
{
    char line[1024];
    if (atomic_exchange(said, true)) return;
    fprintf(stderr, "%s%s: %s\n", what, u9_err_name(fault->err), u9_fault_line(fault, line, sizeof line));
    fflush(stderr);
}

/* "N:xxx", appended and durable. */
static u9_err put(unsigned n, u9_fault *fault)
{
    uint8_t room[PAD + 64];
    char text[PAD + 1];
    u9_builder b;
    u9_place place;
    memset(text, 'x', PAD);
    text[snprintf(text, 16, "%u", n)] = ':';
    u9_builder_init(&b, room, sizeof room);
    u9_err err = u9_build_utf8(&b, text, PAD);
    if (err == U9_OK) err = u9_log_append(the_log, NULL, room, b.size, &place);
    if (err == U9_OK) err = u9_log_commit(the_log, place.ordinal);
    if (err != U9_OK) u9_log_fault(the_log, fault);
    if (err != U9_OK) fault->err = err;
    return err;
}

/* A pool that is full is an ordinary error: the same number is tried again until there is room. */
static void *append(void *ctx)
{
    (void)ctx;
    while (!stopped && !failed) {
        char line[16];
        unsigned n = next_number++;
        for (bool done = false; !done && !stopped && !failed;) {
            u9_fault fault = {0};
            uint64_t begin = now_us();
            u9_err err = put(n, &fault);
            note(begin);
            done = err == U9_OK;
            if (done) continue;
            bool full = err == U9_IO && (fault.sys == ENOSPC || fault.sys == EDQUOT);
            tell(full ? &said_full : &failed, full ? "full: " : "", &fault);
            if (full) usleep(FULL_US);
        }
        if (stopped || failed) break; /* it may be durable, and nobody was told */
        int size = snprintf(line, sizeof line, "%u\n", n);
        if (write(STDOUT_FILENO, line, (size_t)size) != size) break;
    }
    return NULL;
}

int run_appenders(const char *at, unsigned threads, unsigned first)
{
    pthread_t ids[THREADS_MAX];
    u9_fault fault = {0};
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .segment_size = SEGMENT};
    signal(SIGTERM, on_stop);
    next_number = first;
    u9_err err = u9_store_add(u9_rados_store, &fault);
    uint64_t begin = now_us();
    if (err == U9_OK) err = u9_log_open(at, &o, &the_log, &fault);
    if (err != U9_OK) tell(&failed, "", &fault);
    fprintf(stderr, "opened %.1f s\n", (double)(now_us() - begin) / 1e6);
    if (err != U9_OK) return 3;
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, append, NULL) != 0) return 3;
    for (unsigned i = 0; i < threads; i++) pthread_join(ids[i], NULL);
    begin = now_us();
    err = u9_log_close(the_log, &fault);
    if (err != U9_OK && err != U9_POISONED) tell(&failed, "close: ", &fault);
    fprintf(stderr, "longest %.1f s, closed %.1f s\n", (double)longest_us / 1e6, (double)(now_us() - begin) / 1e6);
    return failed ? 3 : 0;
}
