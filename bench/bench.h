/*
 * bench/bench.h: the subjects of u9bench that are tables of their own: each runs for so many rounds and prints
 * its table.
 */
#ifndef U9_BENCH_H
#define U9_BENCH_H

/* What was asked for on the command line. */
typedef struct bench_options {
    unsigned long rounds;
    const char *dir;   /* where logs are made and removed */
    const char *io;    /* "posix" or "uring"; NULL: as the library likes */
    const char *lines; /* a folder of *.log files, whose lines are values; NULL: made up */
} bench_options;

void bench_segments(const bench_options *options);
void bench_ids(const bench_options *options);

/* Values, then from which size on an index pays. */
void bench_values(const bench_options *options);
void bench_indexes(const bench_options *options);

#endif
