/*
 * bench/summary.h: medians and ratios of the rounds. A ratio is made within each round, then its median taken.
 */
#ifndef U9_BENCH_SUMMARY_H
#define U9_BENCH_SUMMARY_H

#include "bench/run.h"

typedef struct spread {
    unsigned count; /* of rounds in it; 0: nothing is known */
    double median, least, most;
} spread;

/* Of a row: the figure of all rounds that know it. */
spread figures(const outcome *o, unsigned w, unsigned c, metric m);

/* Of two rows of a workload: figure of `c` by that of `other`. */
spread ratios(const outcome *o, unsigned w, unsigned c, unsigned other, metric m);

/* How many times better u9 is than the row, by what the workload shows: above 1 it is u9 that is. */
spread advantage(const outcome *o, unsigned w, unsigned c);

/* The row that ratios of the workload are to: "u9"; -1: it has none. */
int our_row(unsigned w);

/* A target and what came of it. */
typedef struct verdict {
    const target *target;
    unsigned w;
    spread got;   /* a ratio, or a figure in its unit */
    double bound; /* that holds here */
    bool known, met;
} verdict;

verdict verdict_on(const outcome *o, const target *t);

/* How far it is past its bound: 1 is at it, above is better, for the median of what was got and its ends. */
spread past_bound(const verdict *v);

/* "append: u9 / raw io_uring, MB/s". Returns `out`. */
const char *target_text(const target *t, char out[200]);

#endif
