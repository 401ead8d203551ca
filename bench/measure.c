/*
 * bench/measure.c: see measure.h.
 */
#include "bench/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void die(const char *what, const u9_fault *fault)
{
    char line[900];
    fprintf(stderr, "u9bench: %s: %s\n", what,
            fault ? u9_fault_line(fault, line, sizeof line) : strerror(errno));
    exit(4);
}

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double median_of(double *rates, unsigned long count)
{
    qsort(rates, count, sizeof rates[0], ascending);
    return count % 2 ? rates[count / 2] : (rates[count / 2 - 1] + rates[count / 2]) / 2;
}

void add_latencies(latencies *to, const latencies *from)
{
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) to->counts[i] += from->counts[i];
    to->total += from->total;
}

/* The greatest latency that falls into bucket `i`. */
static double bucket_top(unsigned i)
{
    unsigned row = i >> LATENCY_BITS, shift = row > 0 ? row - 1 : 0;
    uint64_t first = row > 0 ? (i & ((1u << LATENCY_BITS) - 1)) + (1u << LATENCY_BITS) : i;
    return (double)(((first + 1) << shift) - 1);
}

double latency_at(const latencies *l, double part)
{
    uint64_t seen = 0;
    for (unsigned i = 0; i < LATENCY_BUCKETS && l->total > 0; i++) {
        seen += l->counts[i];
        if (seen > 0 && (double)seen >= part * (double)l->total) return bucket_top(i);
    }
    return 0;
}
