/*
 * bench/bench.h: rows of u9bench. A row does something for a while and returns its rate.
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

/* The rows of bench/ids.c. */
extern row id_rows[];
extern const unsigned id_row_count;

#endif
