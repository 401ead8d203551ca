/*
 * bench/measure.h: what all measuring needs: clocks, medians, and an end when something fails.
 *
 * Room: bench
 * Sees: include
 *
 * The room is u9bench: what u9 does in a second, next to peers and floors. Includes run downwards:
 * measure.h, then rows.h and values.h, then one file for each subject, then u9bench.c.
 */
#ifndef U9_BENCH_MEASURE_H
#define U9_BENCH_MEASURE_H

#include <u9/err.h>

enum { ROUNDS_MAX = 99 };

/* Ends the program with one line. `fault` may be NULL: errno is told then. */
_Noreturn void die(const char *what, const u9_fault *fault);

/* Ends the program unless `err` is U9_OK. Inline: it stands in what is measured. */
static inline void check(u9_err err)
{
    if (err != U9_OK) die(u9_err_name(err), NULL);
}

/* Seconds that only grow. */
double now(void);

/* Seconds that this thread has worked: what others do on the machine does not count. */
double thread_seconds(void);

/* Of so many rates, which it sorts. */
double median_of(double *rates, unsigned long count);

#endif
