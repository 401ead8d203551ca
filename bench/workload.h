/*
 * bench/workload.h: what u9bench runs, by name: the table of workloads, who runs each of them how, and the targets.
 */
#ifndef U9_BENCH_WORKLOAD_H
#define U9_BENCH_WORKLOAD_H

#include "bench/drive.h"
#include "bench/metric.h"

enum {
    CONTENDERS_MAX = 20,
    ONE_OPEN = ~0u >> 1 /* as a number of segments: one, which is not sealed */
};

/* A row of a workload: an engine, and how it differs from what the workload says. */
typedef struct contender {
    const char *id;    /* unique in the workload */
    const char *label; /* NULL: the engine's */
    const engine *engine;
    unsigned threads, batch; /* 0: the workload's */
    bool usual, cold, plain; /* plain: not compressed, not durable, whatever the workload says */
    bool holds;              /* as in job_spec */
    unsigned segments;       /* of u9: about so many; 0: as many as come; ONE_OPEN */
    double share;            /* of the workload's records, of a slow one; 0: all */
    void (*spoil)(const job_spec *job); /* as in job_spec */
} contender;

typedef struct workload {
    const char *name, *title, *what;
    deed deed;
    uint64_t records;  /* at full scale */
    size_t value_size; /* bytes; MIXED */
    unsigned threads;  /* 0: one */
    unsigned batch;
    bool durable, compressed;
    bool keyed, random; /* u9 is given its keys; keys are in no order */
    const char
        *pace; /* calls are due at half the rate of this row, which stands before u9; NULL: none */
    const char *place;  /* of a log there: runs with --dir of it alone ("rados:", "s3://"); NULL: in a folder */
    double seconds_max; /* of calls; then the run ends, and its row tells what was done; 0: 6 */
    metric shown;       /* what is plotted, and compared */
    bool has_latency;   /* p50, p99, p99.9 are plotted too */
    metric also[6];     /* told besides, as far as not 0 */
    const contender
        *contenders; /* ended by one without id; ratios are those of "u9" to the others */
} workload;

extern const workload workloads[];
extern const unsigned workload_count;

/* -1: there is none. */
int workload_named(const char *name);
int contender_named(const workload *w, const char *id);

unsigned contender_count(const workload *w);
unsigned also_count(const workload *w);
const char *contender_label(const contender *c);
const char *contender_config(const contender *c);

/* What is wanted of u9: a ratio of two rows of a workload in the same round, or a figure by itself. */
typedef struct target {
    const char *workload, *ours, *other; /* ids; other NULL: the figure of `ours` */
    metric of;
    bool at_most;
    double bound;      /* of the ratio ours / other, or of the figure in its unit */
    double bound_fast; /* instead where raw io_uring passes 2.2 GB/s; 0: the same */
} target;

#define FAST_DISK 2.2e9 /* bytes per second */

extern const target targets[];
extern const unsigned target_count;

#endif
