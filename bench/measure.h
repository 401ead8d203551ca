/*
 * bench/measure.h: what all measuring needs: clocks, medians, latencies, and an end when something fails.
 *
 * Room: bench
 * Sees: include tools
 *
 * The room is u9bench: what u9 does in a second, next to peers and floors. Includes run downwards:
 *
 *   measure.h          clocks, medians, latencies
 *   data.h             the records that are appended
 *   engine.h           what u9, a peer or a floor can do, and what comes of a run; engine_*.c, floor_*.c
 *   drive.h            one run, in the process that it has to itself
 *   workload.h         the tables: workloads, their rows, the targets
 *   run.h              rounds of runs, each in its child process
 *   summary.h          medians and ratios of the rounds
 *   plot.h, report.h   what is said of them; report_*.c
 *   rows.h, values.h   tables of their own: ids.c, segments.c, values*.c
 *   u9bench.c          the command line
 */
#ifndef U9_BENCH_MEASURE_H
#define U9_BENCH_MEASURE_H

#include <u9/err.h>

#include <stdint.h>

enum { ROUNDS_MAX = 99 };

/* Ends the program with one line. `fault` may be NULL: errno is told then. */
_Noreturn void die(const char *what, const u9_fault *fault);

/* Ends the program unless `err` is U9_OK. Inline: it stands in what is measured. */
static inline void check(u9_err err)
{
    if (err != U9_OK) die(u9_err_name(err), NULL);
}

/* Seconds, and nanoseconds, that only grow. */
double now(void);
uint64_t now_ns(void);

/* Seconds that this thread has worked: what others do on the machine does not count. */
double thread_seconds(void);

/* Of so many rates, which it sorts. */
double median_of(double *rates, unsigned long count);

/* How often something took how long: counts by power of two and the next six bits, so that each latency
 * is known to a 64th. */
enum { LATENCY_BITS = 6, LATENCY_BUCKETS = (64 - LATENCY_BITS + 1) << LATENCY_BITS };

typedef struct latencies {
    uint64_t total;
    uint64_t counts[LATENCY_BUCKETS];
} latencies;

static inline unsigned latency_bucket(uint64_t ns)
{
    unsigned shift = ns >> LATENCY_BITS ? 63 - LATENCY_BITS - (unsigned)__builtin_clzll(ns) : 0;
    return (shift << LATENCY_BITS) + (unsigned)(ns >> shift);
}

static inline void note_latency(latencies *l, uint64_t ns)
{
    l->counts[latency_bucket(ns)]++;
    l->total++;
}

void add_latencies(latencies *to, const latencies *from);

/* Nanoseconds that the share `part` (0 to 1) of all took at most, 0 if there are none. */
double latency_at(const latencies *l, double part);

#endif
