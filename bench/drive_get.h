/*
 * bench/drive_get.h: the lookups that runs do.
 */
#ifndef U9_BENCH_DRIVE_GET_H
#define U9_BENCH_DRIVE_GET_H

#include "bench/engine.h"

enum { MANY = 64 };

/*
 * Of the job's records, all over the open store (a log of ours is scanned before): how long one of the first takes; once a
 * million were looked up (or some seconds are over): how many in a second, and their latencies; the same of keys that
 * are not there, and of MANY in one call.
 */
void look_up(const job_spec *job, result *out);

/* The first hundred, with nothing done before. */
void look_up_cold(const job_spec *job, result *out);

#endif
