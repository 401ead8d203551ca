/*
 * bench/log.c: rows on logs: appending, checking, reading, committing, beside SHA-256 of 64 KiB blocks, which
 * bounds checking.
 */
#include "bench/bench.h"
#include "bench/rows.h"

#include <u9.h>

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { RECORD_BYTES = 100, SHA_BLOCK = 65536 };

static bench_options arg;
static char log_path[4096];
static uint8_t *sample; /* values of the records: pieces of text of RECORD_BYTES */
enum { SAMPLES = 1 << 14 };

/* Lines that look like a log's: a time, a level, words, numbers. Deterministic. */
static void make_samples(void)
{
    static const char *words[] = {"open", "close", "session", "timeout", "user", "root",  "block",
                                  "from", "disk",  "failed",  "retry",   "node", "queue", "ready"};
    uint64_t seed = 88172645463325252u;
    sample = malloc((size_t)SAMPLES * RECORD_BYTES);
    if (sample == NULL) die("samples", NULL);
    for (int i = 0; i < SAMPLES; i++) {
        char line[2 * RECORD_BYTES];
        int n = snprintf(line, sizeof line, "{\"t\":%d,\"level\":\"%s\"", 1700000000 + i,
                         i % 7 ? "info" : "error");
        while (n < RECORD_BYTES) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            n += snprintf(line + n, sizeof line - (size_t)n, ",\"%s\":%u", words[seed % 14],
                          (unsigned)(seed >> 40));
        }
        memcpy(sample + (size_t)i * RECORD_BYTES, line, RECORD_BYTES);
    }
}

/* The value of record i, encoded: utf8 with an 8-bit length. */
static size_t value_of(unsigned long i, uint8_t out[RECORD_BYTES + 2])
{
    out[0] = 0x18;
    out[1] = RECORD_BYTES;
    memcpy(out + 2, sample + (i % SAMPLES) * RECORD_BYTES, RECORD_BYTES);
    return RECORD_BYTES + 2;
}

static u9_log *open_log(u9_policy policy, int lz4)
{
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .policy = policy, .lz4 = lz4, .io = arg.io};
    u9_fault fault;
    u9_log *log;
    if (u9_log_open(log_path, &o, &log, &fault) != U9_OK) die("open", &fault);
    return log;
}

static void close_log(u9_log *log)
{
    u9_fault fault;
    if (u9_log_close(log, &fault) != U9_OK) die("close", &fault);
}

static void remove_log(void)
{
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", log_path);
    if (system(command) != 0) die(log_path, NULL);
}

/* Rows return units per second. */

/* SHA-256 of 64 KiB, as `openssl speed -evp sha256 -bytes 65536` does it. */
static double row_sha(void)
{
    static uint8_t block[SHA_BLOCK];
    unsigned char digest[EVP_MAX_MD_SIZE];
    double start = now(), took;
    unsigned long n = 0;
    do {
        for (int i = 0; i < 200; i++, n++)
            if (!EVP_Digest(block, sizeof block, digest, NULL, EVP_sha256(), NULL)) die("sha", NULL);
        took = now() - start;
    } while (took < 0.5);
    return (double)n * SHA_BLOCK / took;
}

static double append(u9_policy policy, int lz4)
{
    remove_log();
    uint8_t value[RECORD_BYTES + 2];
    double start = now();
    u9_log *log = open_log(policy, lz4);
    for (unsigned long i = 0; i < arg.records; i++)
        if (u9_log_append(log, NULL, value, value_of(i, value), NULL) != U9_OK) {
            u9_fault fault;
            u9_log_fault(log, &fault);
            die("append", &fault);
        }
    close_log(log); /* the last sync counts */
    return (double)arg.records * (RECORD_BYTES + U9_MUID_SIZE) / (now() - start);
}

static double row_append_lz4(void)
{
    return append(U9_POLICY_NONE, 1);
}

static double row_append(void)
{
    return append(U9_POLICY_NONE, 0);
}

static double file_bytes(void)
{
    u9_report report = {.size = sizeof report};
    u9_fault fault;
    if (u9_check(log_path, NULL, &report, &fault) != U9_OK) die("check", &fault);
    if (report.verdict != U9_V_CLEAN || report.records != arg.records) die("check: not clean", NULL);
    return (double)report.bytes;
}

/* What `u9fsck` does with the log of the last append row, in bytes of its files: as the disk gives it. */
static double row_check_cold(void)
{
    double start = now(); /* direct writes left nothing in the page cache */
    double bytes = file_bytes();
    return bytes / (now() - start);
}

/* The same once more, out of the page cache. */
static double row_check(void)
{
    double start = now();
    double bytes = file_bytes();
    return bytes / (now() - start);
}

static double row_scan(void)
{
    u9_fault fault;
    u9_log *log;
    u9_cursor *cursor;
    u9_record r;
    u9_err err;
    uint64_t bytes = 0, sum = 0;
    double start = now();
    if (u9_log_open(log_path, NULL, &log, &fault) != U9_OK) die("open", &fault);
    if (u9_cursor_open(log, NULL, &cursor, &fault) != U9_OK) die("cursor", &fault);
    while ((err = u9_cursor_next(cursor, &r)) == U9_OK) {
        bytes += r.values_size - 2 + r.key.size;
        sum += r.values[r.values_size - 1];
    }
    u9_cursor_fault(cursor, &fault);
    if (err != U9_END || sum == 0) die("scan", &fault);
    u9_cursor_close(cursor);
    close_log(log);
    return (double)bytes / (now() - start);
}

/* One thread that waits for each record to be durable. */
static double row_commit(void)
{
    remove_log();
    uint8_t value[RECORD_BYTES + 2];
    u9_log *log = open_log(U9_POLICY_COMMIT, 0);
    double start = now();
    for (unsigned long i = 0; i < arg.commits; i++) {
        u9_place place;
        if (u9_log_append(log, NULL, value, value_of(i, value), &place) != U9_OK ||
            u9_log_commit(log, place.ordinal) != U9_OK) {
            u9_fault fault;
            u9_log_fault(log, &fault);
            die("commit", &fault);
        }
    }
    double rate = (double)arg.commits / (now() - start);
    close_log(log);
    return rate;
}

static row log_rows[] = {
    {"sha256, 64 KiB blocks, OpenSSL", "MB/s", 1e6, row_sha, {0}},
    {"append 100 B, 1 thread, policy none, lz4", "MB/s", 1e6, row_append_lz4, {0}},
    {"append 100 B, 1 thread, policy none", "MB/s", 1e6, row_append, {0}},
    {"check (u9fsck) of that log, cold", "MB/s", 1e6, row_check_cold, {0}},
    {"check (u9fsck) of that log, warm", "MB/s", 1e6, row_check, {0}},
    {"scan of that log, every record", "MB/s", 1e6, row_scan, {0}},
    {"commit 100 B, 1 thread, each durable", "1/s", 1, row_commit, {0}},
};

enum { LOG_ROWS = sizeof log_rows / sizeof log_rows[0], ROW_SHA = 0, ROW_CHECK = 4 };

static double median(const row *r)
{
    return r->rates[arg.rounds / 2];
}

void bench_log(const bench_options *options)
{
    arg = *options;
    snprintf(log_path, sizeof log_path, "%s/u9bench.%ld", arg.dir, (long)getpid());
    make_samples();
    u9_log *log = open_log(U9_POLICY_NONE, 0);
    printf("u9bench: %lu records of %d + 16 bytes, %lu rounds, io %s\n", arg.records, RECORD_BYTES,
           arg.rounds, u9_log_io(log));
    close_log(log);
    run_rows(log_rows, LOG_ROWS, arg.rounds);
    remove_log();
    free(sample);
    printf("check, warm / sha256: %.2f\n", median(&log_rows[ROW_CHECK]) / median(&log_rows[ROW_SHA]));
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("peak memory: %ld MiB\n", usage.ru_maxrss / 1024);
}
