/*
 * bench/run.h: rounds of runs. Each run is a process of its own, so that its memory and its processor time are
 * its own, in an empty directory that is removed after it; but a store that is only read is kept for the next run that
 * reads the same, until all rounds are done.
 *
 * A round runs every row of every workload once, those of a workload one right after another: a machine whose
 * speed drifts drifts for all of them, and ratios are made within a round. Odd rounds go through a workload's
 * rows backwards, so that it is not always the same one that runs behind the same other.
 */
#ifndef U9_BENCH_RUN_H
#define U9_BENCH_RUN_H

#include "bench/workload.h"

enum { WORKLOADS_MAX = 40 };

/* What was asked for on the command line. */
typedef struct plan {
    bool wanted[WORKLOADS_MAX]; /* by number in the table */
    const char *engines;        /* names with commas between; NULL: all */
    unsigned rounds;
    double scale;   /* of the workloads' records */
    double minutes; /* a round that would take longer than that, all in all, is not begun; 0: any */
    const char *dir, *io, *data; /* data: a file of lines; NULL: made up */
    size_t value_size;           /* instead of the workloads'; 0: theirs */
    unsigned threads, batch;     /* of u9 and peers; 0: theirs */
    int policy;                  /* -1: theirs */
    bool quiet;
} plan;

typedef enum row_state { ROW_LEFT_OUT, ROW_NOT_BUILT, ROW_FAILED, ROW_RAN } row_state;

/* What came of it. */
typedef struct outcome {
    const plan *plan;
    unsigned rounds; /* done */
    double seconds;  /* that all of it took */
    result *results; /* by workload, contender, round: see result_of */
} outcome;

/* Runs the plan. The outcome is to be freed with free_outcome. */
void run_plan(const plan *p, outcome *out);
void free_outcome(outcome *out);

const result *result_of(const outcome *o, unsigned w, unsigned c, unsigned round);

/* RAN: in at least one round. */
row_state state_of(const outcome *o, unsigned w, unsigned c);

bool any_failed(const outcome *o);

/* What a row runs: records, threads and so on, as the plan has it. */
void job_of(const plan *p, unsigned w, unsigned c, job_spec *out);

#endif
