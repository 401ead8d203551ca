/*
 * bench/metric.h: the figures that are told of a run.
 */
#ifndef U9_BENCH_METRIC_H
#define U9_BENCH_METRIC_H

#include "bench/engine.h"

typedef enum metric {
    M_BYTES,   /* keys and texts in a second */
    M_RECORDS, /* records in a second */
    M_CALLS,   /* calls in a second */
    M_P50,
    M_P99,
    M_P999,
    M_MOST, /* of a call */
    M_CPU,  /* seconds of processors */
    M_RSS,
    M_ANON,        /* peaks */
    M_DISK,        /* bytes on disk for each byte of keys and texts */
    M_DISK_RECORD, /* bytes on disk for each record */
    M_SECONDS,     /* of the clock */
    M_SYNC,
    M_OPEN,
    M_CLOSE, /* parts of that, and beside it */
    M_FIRST,  /* seconds of a first lookup */
    M_ABSENT, /* lookups in a second of keys that are not there, */
    M_MANY,   /*   of many at a time */
    M_INDEX,  /* bytes of index for each record */
    M_INDEX_SHARE, /* of index for each byte of the store */
    M_MEMORY, /* anonymous memory for each record */
    METRICS
} metric;

typedef struct metric_info {
    const char *name;    /* in JSON */
    const char *heading; /* in tables */
    const char *unit;
    double scale; /* the figure in its unit is value * scale */
    bool lower_is_better;
    double (*of)(const result *r); /* 0: not known */
} metric_info;

extern const metric_info metrics[METRICS];

/* A figure in its unit, with as many digits as are worth reading; "-" for 0. Returns `out`. */
const char *metric_text(metric m, double value, char out[32]);

/* A number with about three digits, thousands grouped. Returns `out`. */
const char *number_text(double value, char out[32]);

#endif
