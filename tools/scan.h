/*
 * tools/scan.h: the ranges of a log, read by several threads: totals, counts, and what was damaged, in the order of
 * the log whoever came first.
 */
#ifndef U9_TOOLS_SCAN_H
#define U9_TOOLS_SCAN_H

#include "tools/count.h"
#include "tools/damage.h"

#include <u9/scan.h>

/* What of a range was told as damage, and what ended its reading before its end. */
typedef struct scan_story {
    u9_damage *damages; /* with paths of their own */
    size_t count, room;
    u9_fault fault;     /* err U9_OK: it was read to its end */
    int trimmed;        /* not 0: some of it was trimmed before */
} scan_story;

/* A scan: what it is of is set before, the rest is all zeros and filled by it. */
typedef struct scan {
    const char *path;
    const u9_split_range *ranges; /* borrows; of scan_all: none */
    size_t count;
    unsigned threads;
    const tool_field *field; /* what is counted; NULL: nothing */
    /*
     * Instead of totals: what is done with each record, by the thread that reads its range, and once a range is left.
     * visit returns 0: no more of this range is wanted. Both may be called of several ranges at once. NULL: none.
     */
    int (*visit)(void *ctx, size_t range, const u9_record *record);
    void (*leave)(void *ctx, size_t range);
    void *ctx;
    int quiet;               /* not 0: no progress is told */
    uint64_t bytes;          /* about so many are read, for the progress; 0: not known */

    u9_log *log;
    u9_tally tally;
    tool_counts counts;
    double seconds;
    scan_story *stories; /* one of each range */
    int failed;          /* not 0: not all was read that could be */
} scan;

/* A u9_damage_fn, to be set for the log that is scanned: notes it with the range that the calling thread reads. */
void scan_note_damage(void *ctx, const u9_damage *damage);

/*
 * Reads all of them. Says, in the order of the ranges, what is damaged and what failed. TOOL_DONE; TOOL_LOST if records
 * are lost; TOOL_REFUSED if something was trimmed that a range named; or the gravest of what failed.
 */
int scan_run(scan *scan);

/*
 * Plans ranges over all of scan->log, several for each of its threads, so that they end at about the same time, reads them as
 * scan_run does, and lets go of the plan. `begin` (may be NULL) is called in between, with how many they are: TOOL_DONE, or the
 * status that it ends with.
 */
int scan_all(scan *scan, int (*begin)(void *ctx, size_t ranges));

void scan_free(scan *scan);

/* Threads without -j: as many as there are processors; and the argument of -j, 0 being that. Else a usage error. */
unsigned scan_processors(void);
unsigned scan_jobs(const char *arg);

#define SCAN_JOBS_OPTION {"jobs", 'j', "N", 0, "Read with N threads; 0 or without it, as many as there are processors", 0}

#endif
