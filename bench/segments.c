/*
 * bench/segments.c: what each file of a log's directory costs to open and to check a log, among a thousand and
 * among ten thousand: it should be the same. Of each kind: there, missing, and beside one segment that is there
 * blank above it, void below it, and no segment at all.
 */
#include "bench/segments.h"

#include "bench/bench.h"

#include <u9.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENT = 65536 };

static const char *io;
static char dir_path[4096];

static const char *name_of(unsigned long number)
{
    static char path[4200];
    snprintf(path, sizeof path, "%s/%016lx.u9", dir_path, number);
    return path;
}

static void remove_all(void)
{
    DIR *d = opendir(dir_path);
    char path[4400];
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", dir_path, e->d_name);
        unlink(path); /* all but . and .. */
    }
    if (d) closedir(d);
    rmdir(dir_path);
}

/* Appends records until the log has `segments` of them, or one record if it is 0. */
static void append(unsigned long segments)
{
    static uint8_t value[SEGMENT / 2] = {0x1d, (SEGMENT / 2 - 3) >> 8, (SEGMENT / 2 - 3) & 0xff};
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .policy = U9_POLICY_NONE, .segment_size = SEGMENT, .io = io};
    u9_fault fault;
    u9_log *log;
    u9_place place = {0};
    if (u9_log_open(dir_path, &o, &log, &fault) != U9_OK) die("open", &fault);
    do check(u9_log_append(log, NULL, value, sizeof value, &place));
    while (access(name_of(segments), F_OK) != 0 && segments > 0);
    check(u9_log_close(log, NULL));
}

static void put(unsigned long number, const char *text)
{
    FILE *f = fopen(name_of(number), "w");
    if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0) die(name_of(number), NULL);
}

typedef enum kind { THERE, MISSING, BLANK, PASSED, STRAY, KINDS } kind;

static const char *const kinds[KINDS] = {"there, 64 KiB each", "every second one missing", "blank",
                                         "void", "no segments"};

static void make_files(kind what, unsigned long count)
{
    append(what == THERE || what == MISSING ? count : 0);
    for (unsigned long n = 2; n <= count; n++) {
        if (what == MISSING && n % 2 == 0) unlink(name_of(n));
        if (what == BLANK || what == PASSED) put(n, "");
        if (what == STRAY) put(n, "what is this?\n");
    }
    if (what == PASSED) append(0);
}

static void make_for(const job_spec *job, kind what)
{
    io = job->io;
    snprintf(dir_path, sizeof dir_path, "%s", job->dir);
    make_files(what, (unsigned long)job->records);
}

void files_there(const job_spec *job)
{
    make_for(job, THERE);
}

void files_missing(const job_spec *job)
{
    make_for(job, MISSING);
}

void files_blank(const job_spec *job)
{
    make_for(job, BLANK);
}

void files_void(const job_spec *job)
{
    make_for(job, PASSED);
}

void files_stray(const job_spec *job)
{
    make_for(job, STRAY);
}

static void measure(kind what, unsigned long count)
{
    u9_options reading = {.size = sizeof reading, .mode = U9_READ, .io = io};
    u9_check_options o = {.size = sizeof o, .io = io};
    u9_report report = {.size = sizeof report};
    u9_log *log;
    make_files(what, count);
    double start = now();
    check(u9_log_open(dir_path, &reading, &log, NULL));
    double opened = now() - start;
    check(u9_log_close(log, NULL));
    start = now();
    check(u9_check(dir_path, &o, &report, NULL));
    double checked = now() - start;
    printf("%-28s %8lu %12.1f %12.1f\n", kinds[what], count, 1e6 * opened / (double)count,
           1e6 * checked / (double)count);
    fflush(stdout);
    remove_all();
}

void bench_segments(const bench_options *options)
{
    io = options->io;
    snprintf(dir_path, sizeof dir_path, "%s/u9bench-segments.%ld", options->dir, (long)getpid());
    printf("\n%-28s %8s %12s %12s\n", "files of a log", "count", "open, us/file", "check");
    for (kind what = THERE; what < KINDS; what++)
        for (unsigned long count = 1000; count <= 10000; count *= 10) measure(what, count);
}
