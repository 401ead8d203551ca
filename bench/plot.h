/*
 * bench/plot.h: pictures of an outcome, as SVG elements that stand in a page; colours are those of plot_style.
 */
#ifndef U9_BENCH_PLOT_H
#define U9_BENCH_PLOT_H

#include "bench/report.h"

/* CSS for what is drawn, by light and by dark. */
extern const char plot_style[];

enum { PLOT_WIDTH = 900 };

/* For each workload, how many times better u9 is than floors and peers: a dot each, on one logarithmic scale.
 * `alone`: a file by itself, with its style in it. */
void plot_standing(FILE *f, const outcome *o, bool alone);

/* What the workload shows, a bar for each row, with the spread of the rounds, and u9's advantage in words. */
void plot_bars(FILE *f, const outcome *o, unsigned w);

/* p50, p99 and p99.9 of each row. */
void plot_latencies(FILE *f, const outcome *o, unsigned w);

/* A target: how far what was got is past the bound, from a quarter of it to four times it; right is better. */
void plot_verdict(FILE *f, const verdict *v);

#endif
