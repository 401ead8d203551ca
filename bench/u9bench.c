/*
 * bench/u9bench.c: what the log does in a second, next to what the machine can do.
 *
 * Each row runs several times, rows in turn, so that a machine whose speed drifts slows all of them; the
 * table shows median, least and most. Ratios are of medians of one run. The floors that rows are compared
 * with are measured here too: SHA-256 of 64 KiB blocks, and a copy of the same records without a log.
 */
#include "bench/bench.h"

#include <argp.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RECORD_BYTES = 100, SHA_BLOCK = 65536 };

static struct {
    unsigned long records, commits, rounds;
    const char *dir;
    const char *io;
    const char *only;
    const char *lines;
} arg = {.records = 5000000, .commits = 2000, .rounds = 5, .dir = "."};

static char log_path[4096];
static uint8_t *sample; /* values of the records: pieces of text of RECORD_BYTES */
enum { SAMPLES = 1 << 14 };

void die(const char *what, const u9_fault *fault)
{
    char line[900];
    fprintf(stderr, "u9bench: %s: %s\n", what,
            fault ? u9_fault_line(fault, line, sizeof line) : strerror(errno));
    exit(4);
}

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double median_of(double *rates, unsigned long count)
{
    qsort(rates, count, sizeof rates[0], ascending);
    return rates[count / 2];
}

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

static double shown(const row *r, double rate)
{
    return r->scale < 0 ? -r->scale / rate : rate / r->scale;
}

static void print_rows(row *rows, unsigned count)
{
    printf("%-44s %10s %10s %10s\n", "row", "median", "least", "most");
    for (unsigned i = 0; i < count; i++) {
        row *r = &rows[i];
        double *rates = r->rates;
        double middle = shown(r, median_of(rates, arg.rounds));
        double first = shown(r, rates[0]), last = shown(r, rates[arg.rounds - 1]);
        printf("%-44s %10.1f %10.1f %10.1f %s\n", r->name, middle,
               first < last ? first : last, first < last ? last : first, r->unit);
    }
}

static void run_rows(row *rows, unsigned count)
{
    for (unsigned long round = 0; round < arg.rounds; round++)
        for (unsigned i = 0; i < count; i++) rows[i].rates[round] = rows[i].run();
    print_rows(rows, count);
}

static unsigned long number(const char *text, unsigned long most, struct argp_state *state)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*end != 0 || n == 0 || n > most) argp_error(state, "'%s' is not a number from 1 to %lu", text, most);
    return n;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    switch (key) {
    case 'n': arg.records = number(text, 1000000000, state); break;
    case 'c': arg.commits = number(text, 1000000000, state); break;
    case 'r': arg.rounds = number(text, ROUNDS_MAX, state); break;
    case 'd': arg.dir = text; break;
    case 'i': arg.io = text; break;
    case 'o':
        if (strcmp(text, "log") != 0 && strcmp(text, "ids") != 0 && strcmp(text, "values") != 0)
            argp_error(state, "'%s': log, ids or values", text);
        arg.only = text;
        break;
    case 'l': arg.lines = text; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option options[] = {
    {"records", 'n', "N", 0, "records of an append run (5000000)", 0},
    {"commits", 'c', "N", 0, "commits of a commit run (2000)", 0},
    {"rounds", 'r', "N", 0, "rounds; the median is of so many (5)", 0},
    {"dir", 'd', "DIR", 0, "where the log is made and removed (.)", 0},
    {"only", 'o', "WHAT", 0, "log, ids or values: only these rows", 0},
    {"lines", 'l', "DIR", 0, "values of the lines of DIR/*.log (made up)", 0},
    {"io", 'i', "TABLE", 0, "posix or uring", 0},
    {0}};

static void bench_log(void)
{
    make_samples();
    u9_log *log = open_log(U9_POLICY_NONE, 0);
    printf("u9bench: %lu records of %d + 16 bytes, %lu rounds, io %s\n", arg.records, RECORD_BYTES,
           arg.rounds, u9_log_io(log));
    close_log(log);
    run_rows(log_rows, LOG_ROWS);
    remove_log();
    free(sample);
    printf("check, warm / sha256: %.2f\n", median(&log_rows[ROW_CHECK]) / median(&log_rows[ROW_SHA]));
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("peak memory: %ld MiB\n", usage.ru_maxrss / 1024);
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse, NULL, "Measures u9 on this machine, next to what bounds it.", NULL, NULL, NULL};
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    snprintf(log_path, sizeof log_path, "%s/u9bench.%ld", arg.dir, (long)getpid());
    if (arg.only == NULL || strcmp(arg.only, "log") == 0) bench_log();
    if (arg.only == NULL || strcmp(arg.only, "ids") == 0) run_rows(id_rows, id_row_count);
    if (arg.only == NULL || strcmp(arg.only, "values") == 0) {
        bench_values(arg.lines, arg.rounds);
        bench_indexes(arg.rounds);
    }
    return 0;
}
