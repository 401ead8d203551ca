/*
 * bench/rows.c: see rows.h.
 */
#include "bench/rows.h"

#include <stdio.h>

static double shown(const row *r, double rate)
{
    return r->scale < 0 ? -r->scale / rate : rate / r->scale;
}

static void print_rows(row *rows, unsigned count, unsigned long rounds)
{
    printf("%-44s %10s %10s %10s\n", "row", "median", "least", "most");
    for (unsigned i = 0; i < count; i++) {
        row *r = &rows[i];
        double *rates = r->rates;
        double middle = shown(r, median_of(rates, rounds));
        double first = shown(r, rates[0]), last = shown(r, rates[rounds - 1]);
        printf("%-44s %10.1f %10.1f %10.1f %s\n", r->name, middle,
               first < last ? first : last, first < last ? last : first, r->unit);
    }
}

void run_rows(row *rows, unsigned count, unsigned long rounds)
{
    for (unsigned long round = 0; round < rounds; round++)
        for (unsigned i = 0; i < count; i++) rows[i].rates[round] = rows[i].run();
    print_rows(rows, count, rounds);
}
