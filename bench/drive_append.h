/*
 * bench/drive_append.h: the appending that runs do, and what is kept of its latencies.
 */
#ifndef U9_BENCH_DRIVE_APPEND_H
#define U9_BENCH_DRIVE_APPEND_H

#include "bench/engine.h"

/*
 * Appends the job's records to the open engine from the job's threads; sets records, calls and latencies. Calls
 * that are durable or of many records are all timed, of others one of 16: looking at the clock costs as much
 * as appending a record.
 */
void append_records(const job_spec *job, result *out);

void keep_latencies(const latencies *took, result *out);

/* Of a job with bytes_per_s, after append_records and close: instead of all latencies those of calls that were due
 * within 100 ms of a roll, and how many rolls there were. */
void keep_those_near_rolls(const job_spec *job, result *out);

#endif
