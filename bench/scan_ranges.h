/*
 * bench/scan_ranges.h: every record of a log of ours, its ranges shared out among threads.
 */
#ifndef U9_BENCH_SCAN_RANGES_H
#define U9_BENCH_SCAN_RANGES_H

#include <u9/log.h>

/* Sees every byte of every record; returns how many records. Ends the process (die) if that cannot be done. */
uint64_t scan_ranges(u9_log *log, unsigned threads);

#endif
