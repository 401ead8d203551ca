/*
 * bench/bench.h: rows of u9bench. A row does something for a while and returns its rate.
 *
 * Room: bench
 * Sees: include
 *
 * The room is u9bench: what u9 does in a second, next to peers and floors.
 */
#ifndef U9_BENCH_H
#define U9_BENCH_H

#include <u9.h>

enum { ROUNDS_MAX = 99 };

typedef struct row {
    const char *name, *unit;
    double scale;          /* the printed figure is rate / scale; below 0: -scale / rate */
    double (*run)(void);   /* units per second */
    double rates[ROUNDS_MAX];
} row;

/* Ends the program with one line. `fault` may be NULL: errno is told then. */
_Noreturn void die(const char *what, const u9_fault *fault);

/* Seconds that only grow. */
double now(void);

/* Seconds that this thread has worked: what others do on the machine does not count. */
double thread_seconds(void);

/* Of so many rates, which it sorts. */
double median_of(double *rates, unsigned long count);

/* The rows of bench/ids.c. */
extern row id_rows[];
extern const unsigned id_row_count;

/* Prints from which size on an index pays. */
void bench_indexes(unsigned long rounds);

/* Runs and prints the rows of bench/values.c, on the lines of *.log files in `dir`; NULL: made up. */
void bench_values(const char *dir, unsigned long rounds);

#endif
