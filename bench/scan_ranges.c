/*
 * bench/scan_ranges.c: see scan_ranges.h. A range for each thread, as a user would share a log out.
 */
#include "bench/scan_ranges.h"

#include "bench/engine.h"

#include <u9.h>

#include <pthread.h>

enum { SCANNERS_MAX = 64 };

typedef struct scanner {
    u9_log *log;
    const u9_split_range *range;
    uint64_t records;
    pthread_t thread;
} scanner;

static void *scan_one(void *ctx)
{
    scanner *s = ctx;
    u9_fault fault;
    u9_cursor *cursor;
    u9_record r;
    u9_err err;
    if (u9_range_open(s->log, s->range, &cursor, &fault) != U9_OK) die("range", &fault);
    while ((err = u9_cursor_next(cursor, &r)) == U9_OK) {
        see_bytes(r.values, r.values_size);
        s->records++;
    }
    u9_cursor_fault(cursor, &fault);
    if (err != U9_END) die("scan", &fault);
    u9_cursor_close(cursor);
    return NULL;
}

uint64_t scan_ranges(u9_log *log, unsigned threads)
{
    static scanner scanners[SCANNERS_MAX];
    u9_split_range *ranges;
    u9_fault fault;
    size_t count;
    uint64_t records = 0;
    if (threads > SCANNERS_MAX) die("so many threads", NULL);
    if (u9_log_split(log, threads, 0, &ranges, &count, &fault) != U9_OK) die("split", &fault);
    for (size_t i = 0; i < count; i++) {
        scanners[i] = (scanner){.log = log, .range = &ranges[i]};
        if (i > 0 && pthread_create(&scanners[i].thread, NULL, scan_one, &scanners[i]) != 0) die("threads", NULL);
    }
    scan_one(&scanners[0]);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) pthread_join(scanners[i].thread, NULL);
        records += scanners[i].records;
    }
    u9_split_free(ranges);
    return records;
}
