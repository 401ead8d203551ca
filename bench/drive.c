/*
 * bench/drive.c: see drive.h. The parts that every run has; appending is in drive_append.c, looking up in drive_get.c.
 */
#include "bench/drive.h"
#include "bench/drive_append.h"
#include "bench/drive_get.h"
#include "bench/hostile.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILL_SECONDS = 300 };

uint64_t status_kb(long pid, const char *name)
{
    char path[64], line[200];
    unsigned long long kb = 0;
    if (pid > 0) snprintf(path, sizeof path, "/proc/%ld/status", pid);
    else snprintf(path, sizeof path, "/proc/self/status");
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0) kb = strtoull(line + strlen(name), NULL, 10);
    if (f) fclose(f);
    return kb;
}

typedef void on_file(const char *path, void *ctx);

static void each_file(const char *dir, on_file *what, void *ctx)
{
    char path[PATH_ROOM + 300];
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (e->d_type != DT_DIR) what(path, ctx);
    }
    if (d) closedir(d);
}

static void add_sizes(const char *path, void *ctx)
{
    uint64_t *sums = ctx;
    struct stat st;
    if (stat(path, &st) != 0) return;
    sums[0] += (uint64_t)st.st_size;
    sums[1] += (uint64_t)st.st_blocks * 512;
}

void directory_bytes(const char *dir, uint64_t *size, uint64_t *allocated)
{
    uint64_t sums[2] = {0, 0};
    each_file(dir, add_sizes, sums);
    *size = sums[0], *allocated = sums[1];
}

/* Into the page cache, or, if `*ctx`, out of it. */
static void warm_or_cool(const char *path, void *ctx)
{
    static char block[1 << 20];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    fdatasync(fd); /* else the kernel writes it meanwhile, on a processor that is measured */
    if (*(bool *)ctx) posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    else
        while (read(fd, block, sizeof block) > 0) {
        }
    close(fd);
}

double cpu_seconds(void)
{
    double sum = 0;
    for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
        struct rusage u;
        getrusage(who, &u);
        sum += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
               (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
    }
    return sum;
}

static void open_timed(const job_spec *job, result *out)
{
    double start = now();
    job->engine->open(job);
    out->open_seconds = now() - start;
    if (job->engine->detail) snprintf(out->detail, sizeof out->detail, "%s", job->engine->detail());
}

static void close_timed(const job_spec *job, result *out)
{
    double start = now();
    job->engine->close();
    out->close_seconds = now() - start;
}

/* What the process has now is not the engine's. */
static void begin(result *out)
{
    touch_data();
    out->anon_before = status_kb(0, "RssAnon:") * 1024;
    out->rss_peak = status_kb(0, "VmRSS:") * 1024;
    out->cpu_seconds = cpu_seconds();
}

static uint64_t above(uint64_t value, uint64_t base)
{
    return value > base ? value - base : 0;
}

static void finish(const job_spec *job, result *out)
{
    out->cpu_seconds = cpu_seconds() - out->cpu_seconds;
    out->rss_peak = above(status_kb(0, "VmHWM:") * 1024, out->rss_peak);
    if (out->anon_end == 0) out->anon_end = status_kb(0, "RssAnon:") * 1024;
    out->bytes = data_bytes(out->records);
    if (out->stored == 0) out->stored = out->records;
    out->stored_bytes = data_bytes(out->stored);
    directory_bytes(job->dir, &out->file_bytes, &out->disk_bytes);
}

static void append_and_sync(const job_spec *job, result *out)
{
    begin(out);
    open_timed(job, out);
    double start = now();
    append_records(job, out);
    double synced = now();
    job->engine->sync();
    out->sync_seconds = now() - synced;
    out->seconds = now() - start;
    directory_bytes(job->dir, &out->file_bytes, &out->disk_bytes_synced);
    out->anon_end = status_kb(0, "RssAnon:") * 1024;
    close_timed(job, out);
    finish(job, out);
}

static void append_and_roll(const job_spec *job, result *out)
{
    append_and_sync(job, out);
    keep_those_near_rolls(job, out);
}

/* In a process of its own, which is killed at the end if that is wanted. */
static void append_store(const job_spec *job, bool killed)
{
    pid_t writer = fork();
    int status;
    if (writer == 0) {
        result unused = {0};
        job_spec filling = *job;
        filling.fills = true;
        filling.seconds_max = FILL_SECONDS;
        filling.threads = 1; /* threads are those that read */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        job->engine->open(&filling);
        append_records(&filling, &unused);
        job->engine->sync();
        if (unused.records < job->records) die("the store could not be filled in time", NULL);
        if (killed) kill(getpid(), SIGKILL);
        job->engine->close();
        _exit(0);
    }
    if (writer < 0 || waitpid(writer, &status, 0) < 0) die("fork", NULL);
    if (killed ? !WIFSIGNALED(status) : status != 0) die("filling the store", NULL);
}

/* The store that a reading run reads: one that another run has left, or a new one. */
static void fill_store(const job_spec *job, bool killed)
{
    if (!job->kept[0] || rename(job->kept, job->dir) != 0) append_store(job, killed);
    each_file(job->dir, warm_or_cool, &(bool){job->cold});
}

static void scan_after(const job_spec *job, result *out, unsigned scans_before)
{
    fill_store(job, false);
    begin(out);
    open_timed(job, out);
    for (unsigned i = 0; i < scans_before; i++) job->engine->scan();
    double start = now();
    bool shared = job->threads > 1 && job->engine->scan_shared;
    out->records = shared ? job->engine->scan_shared(job->threads) : job->engine->scan();
    out->seconds = now() - start;
    close_timed(job, out);
    finish(job, out);
    if (out->records != job->records) die("scan: not all records are there", NULL);
}

static void scan(const job_spec *job, result *out)
{
    scan_after(job, out, 0);
}

static void scan_again(const job_spec *job, result *out)
{
    scan_after(job, out, 1);
}

/* Apart: the pages that it maps are not the engine's. */
static void spoil(const job_spec *job)
{
    pid_t spoiler = fork();
    if (spoiler == 0) {
        job->spoil(job);
        _exit(0);
    }
    int status;
    if (spoiler < 0 || waitpid(spoiler, &status, 0) < 0 || status != 0) die("the store could not be spoiled", NULL);
}

static void timed(const job_spec *job, result *out, void (*what)(const job_spec *))
{
    begin(out);
    double start = now();
    what(job);
    out->seconds = now() - start;
    out->records = job->records;
    finish(job, out);
}

static void verify(const job_spec *job, result *out)
{
    fill_store(job, false);
    if (job->spoil) spoil(job);
    timed(job, out, job->engine->verify);
}

/* The image lies in the page cache, as it was just written. */
static void carve(const job_spec *job, result *out)
{
    if (job->spoil) fill_store(job, false), spoil(job);
    else make_garbage(job);
    timed(job, out, job->engine->carve);
}

static void look_at_files(const job_spec *job, result *out)
{
    spoil(job);
    timed(job, out, job->engine->look);
}

static void get(const job_spec *job, result *out)
{
    fill_store(job, false);
    begin(out);
    open_timed(job, out);
    if (job->cold) look_up_cold(job, out);
    else look_up(job, out);
    out->stored = job->records;
    close_timed(job, out);
    finish(job, out);
    if (job->engine->index_bytes) out->index_bytes = job->engine->index_bytes(job);
}

/* The store is closed again, or (a killed one) left as it is: closing may write what was filled into memory. */
static void reopen(const job_spec *job, result *out, bool killed)
{
    fill_store(job, killed);
    begin(out);
    open_timed(job, out);
    double opened = now();
    if (killed && job->engine->get && !job->engine->get(job->records / 3))
        die("get: a record is not there", NULL);
    out->first = killed ? now() - opened : 0;
    out->seconds = out->open_seconds + out->first;
    out->records = job->records;
    if (!killed) close_timed(job, out);
    finish(job, out);
}

static void recover(const job_spec *job, result *out)
{
    reopen(job, out, true);
}

static void open_closed(const job_spec *job, result *out)
{
    reopen(job, out, false);
}

static void run_whole(const job_spec *job, result *out)
{
    begin(out);
    job->engine->whole(job, out);
    finish(job, out);
}

static void (*const deeds[])(const job_spec *, result *) = {
    [DO_APPEND] = append_and_sync, [DO_SCAN] = scan,
    [DO_VERIFY] = verify,          [DO_GET] = get,
    [DO_RECOVER] = recover,        [DO_ROLL] = append_and_roll,
    [DO_SCAN_AGAIN] = scan_again,  [DO_OPEN] = open_closed,
    [DO_GET_COLD] = get,           [DO_CARVE] = carve,
    [DO_FILES] = look_at_files,
};

void drive(deed what, const job_spec *job, result *out)
{
    keys_are_random = job->random;
    if (job->engine->whole) run_whole(job, out);
    else deeds[what](job, out);
    out->ok = true;
}
