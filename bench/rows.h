/*
 * bench/rows.h: rows of the tables on logs and identifiers. A row does something for a while and returns
 * its rate.
 */
#ifndef U9_BENCH_ROWS_H
#define U9_BENCH_ROWS_H

#include "bench/measure.h"

typedef struct row {
    const char *name, *unit;
    double scale;          /* the printed figure is rate / scale; below 0: -scale / rate */
    double (*run)(void);   /* units per second */
    double rates[ROUNDS_MAX];
} row;

/*
 * Runs each row `rounds` times, rows in turn, so that a machine whose speed drifts slows all of them, and
 * prints the table. The rates of each are sorted then.
 */
void run_rows(row *rows, unsigned count, unsigned long rounds);

#endif
