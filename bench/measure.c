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
    return rates[count / 2];
}
