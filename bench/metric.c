/*
 * bench/metric.c: see metric.h.
 */
#include "bench/metric.h"

#include <stdio.h>

static double ratio_of(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static double bytes_rate(const result *r) { return ratio_of((double)r->bytes, r->seconds); }
static double record_rate(const result *r) { return ratio_of((double)r->records, r->seconds); }
static double call_rate(const result *r) { return ratio_of((double)r->calls, r->seconds); }
static double p50(const result *r) { return r->p50; }
static double p99(const result *r) { return r->p99; }
static double p999(const result *r) { return r->p999; }
static double most(const result *r) { return r->most; }
static double cpu(const result *r) { return r->cpu_seconds; }
static double rss(const result *r) { return (double)r->rss_peak; }
static double anon(const result *r) { return (double)r->anon_peak; }
static double disk(const result *r) { return ratio_of((double)r->disk_bytes, (double)r->stored_bytes); }
static double disk_record(const result *r) { return ratio_of((double)r->disk_bytes, (double)r->stored); }
static double seconds(const result *r) { return r->seconds; }
static double sync_part(const result *r) { return r->sync_seconds; }
static double opening(const result *r) { return r->open_seconds; }
static double closing(const result *r) { return r->close_seconds; }
static double first(const result *r) { return r->first; }
static double absent(const result *r) { return r->absent; }
static double many(const result *r) { return r->many; }
static double index_record(const result *r) { return ratio_of((double)r->index_bytes, (double)r->stored); }
static double index_share(const result *r) { return ratio_of((double)r->index_bytes, (double)r->file_bytes); }
static double memory(const result *r) { return ratio_of((double)r->anon_peak, (double)r->stored); }

const metric_info metrics[METRICS] = {
    [M_BYTES] = {"mb_per_s", "MB/s", "MB/s", 1e-6, false, bytes_rate},
    [M_RECORDS] = {"records_per_s", "records/s", "/s", 1, false, record_rate},
    [M_CALLS] = {"calls_per_s", "calls/s", "/s", 1, false, call_rate},
    [M_P50] = {"p50_us", "p50 µs", "µs", 1e6, true, p50},
    [M_P99] = {"p99_us", "p99 µs", "µs", 1e6, true, p99},
    [M_P999] = {"p999_us", "p99.9 µs", "µs", 1e6, true, p999},
    [M_MOST] = {"most_us", "most µs", "µs", 1e6, true, most},
    [M_CPU] = {"cpu_s", "CPU s", "s", 1, true, cpu},
    [M_RSS] = {"rss_peak_mib", "RSS MiB", "MiB", 1.0 / 1048576, true, rss},
    [M_ANON] = {"anon_peak_mib", "anon MiB", "MiB", 1.0 / 1048576, true, anon},
    [M_DISK] = {"disk_per_byte", "disk/byte", "", 1, true, disk},
    [M_DISK_RECORD] = {"disk_per_record", "disk/record", "B", 1, true, disk_record},
    [M_SECONDS] = {"seconds", "seconds", "s", 1, true, seconds},
    [M_SYNC] = {"sync_s", "sync s", "s", 1, true, sync_part},
    [M_OPEN] = {"open_s", "open s", "s", 1, true, opening},
    [M_CLOSE] = {"close_s", "close s", "s", 1, true, closing},
    [M_FIRST] = {"first_us", "first µs", "µs", 1e6, true, first},
    [M_ABSENT] = {"absent_per_s", "absent/s", "/s", 1, false, absent},
    [M_MANY] = {"many_per_s", "64 at a time/s", "/s", 1, false, many},
    [M_INDEX] = {"index_per_record", "index/record", "B", 1, true, index_record},
    [M_INDEX_SHARE] = {"index_share", "index, % of data", "%", 100, true, index_share},
    [M_MEMORY] = {"memory_per_record", "memory/record", "B", 1, true, memory},
};

/* Puts a comma before each three digits of the whole part. */
static void group(char *text, size_t cap)
{
    size_t size = strlen(text);
    for (size_t at = size; at > 3 && size + 2 < cap;) {
        at -= 3;
        memmove(text + at + 1, text + at, size - at + 1);
        text[at] = ',';
        size++;
    }
}

const char *number_text(double value, char out[32])
{
    if (value >= 100 || value == (double)(unsigned)value) {
        snprintf(out, 32, "%.0f", value);
        group(out, 32);
    } else {
        snprintf(out, 32, value >= 10 ? "%.1f" : value >= 0.1 ? "%.2f" : value >= 0.001 ? "%.4f" : "%.2g", value);
    }
    return out;
}

const char *metric_text(metric m, double value, char out[32])
{
    if (value <= 0) return strcpy(out, "-");
    return number_text(value * metrics[m].scale, out);
}
