/*
 * bench/report.h: what is said of an outcome: a table, JSON, one HTML page, Markdown, one plot.
 */
#ifndef U9_BENCH_REPORT_H
#define U9_BENCH_REPORT_H

#include "bench/summary.h"

#include <stdio.h>

void report_table(FILE *f, const outcome *o);
void report_json(FILE *f, const outcome *o);
void report_html(FILE *f, const outcome *o);

/* `plot`: the name of the picture that report_plot makes, beside it; NULL: none. */
void report_markdown(FILE *f, const outcome *o, const char *plot);

/* Where u9 stands, as an SVG file by itself. */
void report_plot(FILE *f, const outcome *o);

/* The machine and the run, a line each: name and text. Filled at first use. */
typedef struct fact {
    const char *name;
    char text[200];
} fact;

enum { FACTS = 8 };
const fact *facts_of(const outcome *o);

/* Text as HTML and XML want it, and a string of JSON. */
void put_text(FILE *f, const char *text);
void put_json_text(FILE *f, const char *text);

/* "2.34 x", and with the spread "2.34 x (2.20 - 2.51)"; "-" if it is not known. Returns `out`. */
const char *ratio_text(spread s, char out[64]);
const char *ratio_spread_text(spread s, char out[64]);

/* What was got of a target: a ratio, or a figure in the unit of its metric. Returns `out`. */
const char *got_text(const verdict *v, char out[64]);

/* What the row has instead of figures: "not built", "failed"; NULL: it has figures. */
const char *absence_text(const outcome *o, unsigned w, unsigned c);

/* Whether the workload has a row that ran. */
bool has_rows(const outcome *o, unsigned w);

/* Records that the row appended in the median, and "" or a word on why that is fewer than others. */
double records_done(const outcome *o, unsigned w, unsigned c);
const char *shortfall_text(const outcome *o, unsigned w, unsigned c);

#endif
