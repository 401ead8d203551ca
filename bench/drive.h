/*
 * bench/drive.h: one run, in the process that it has to itself.
 */
#ifndef U9_BENCH_DRIVE_H
#define U9_BENCH_DRIVE_H

#include "bench/engine.h"

/* What is done and timed. Before those that read or open, the records are appended, untimed. */
typedef enum deed {
    DO_APPEND,  /* the records, one call behind another or when they are due, and a final sync */
    DO_SCAN,    /* every record, from an open store */
    DO_VERIFY,  /* the store as a whole */
    DO_GET,     /* single records, all over the store */
    DO_RECOVER, /* opens the store, for writing, that a killed process left, and looks one record up */
    DO_OPEN,    /* opens the store that was closed; u9's has segments as small as they can be */
    DO_GET_COLD, /* the first hundred, from the disk */
    DO_SCAN_AGAIN, /* a second scan by the same handle */
    DO_CARVE,   /* looks for stores in an image */
    DO_FILES,   /* opens and checks a directory of so many files */
    DO_ROLL     /* appends by the clock; latencies are those within 100 ms of a roll */
} deed;

/* Ends the process (die) if it cannot be done. */
void drive(deed what, const job_spec *job, result *out);

/* Kilobytes of process `pid` (0: this one) under `name` of its status file, such as "RssAnon:"; 0 if it has none. */
uint64_t status_kb(long pid, const char *name);

/* Of processors, by this process and those that it has waited for. */
double cpu_seconds(void);

/* Sums over the files below `dir`: their sizes and their allocated bytes. */
void directory_bytes(const char *dir, uint64_t *size, uint64_t *allocated);

#endif
