/*
 * bench/segments.h: directories of very many files.
 */
#ifndef U9_BENCH_SEGMENTS_H
#define U9_BENCH_SEGMENTS_H

#include "bench/engine.h"

/* Makes a log of job->records files, of each kind that bench/segments.c tells. */
void files_there(const job_spec *job);
void files_missing(const job_spec *job);
void files_blank(const job_spec *job);
void files_void(const job_spec *job);
void files_stray(const job_spec *job);

#endif
