/*
 * bench/floor_dsync.c: floors of a commit: a bare loop of pwritev2(RWF_DSYNC), 4 KiB a call, into space that was
 * written with zeros: all of it before the clock runs, or in the loop itself in steps of 1 MiB, each before the
 * first call that needs it.
 */
#include "bench/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COMMIT_BYTES = 4096, ZERO_STEP = 1 << 20 };

static int fd;
static uint8_t *commit_block, *zeros;

static const char *here(void)
{
    return "pwritev2";
}

static void put_at(const uint8_t *bytes, size_t size, uint64_t offset, int flags)
{
    struct iovec part = {(void *)(uintptr_t)bytes, size};
    if (pwritev2(fd, &part, 1, (off_t)offset, flags) != (ssize_t)size) die("pwritev2", NULL);
}

static void zero_step(uint64_t offset)
{
    put_at(zeros, ZERO_STEP, offset, RWF_DSYNC);
}

static void make_file(const job_spec *job, uint64_t prepared)
{
    char path[PATH_ROOM + 8];
    snprintf(path, sizeof path, "%s/raw", job->dir);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EINVAL)
        fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644); /* as u9 does */
    if (fd < 0) die(path, NULL);
    if (posix_memalign((void **)&commit_block, COMMIT_BYTES, COMMIT_BYTES) != 0 ||
        posix_memalign((void **)&zeros, COMMIT_BYTES, ZERO_STEP) != 0)
        die("memory", NULL);
    memset(zeros, 0, ZERO_STEP);
    memset(commit_block, 'u', COMMIT_BYTES);
    for (uint64_t at = 0; at < prepared; at += ZERO_STEP) zero_step(at);
}

static void commit_loop(const job_spec *job, result *out, bool ahead)
{
    static latencies took;
    make_file(job, ahead ? 0 : job->records * COMMIT_BYTES);
    double start = now();
    uint64_t before = now_ns(), first = before;
    while (out->records < job->records && (double)(before - first) < job->seconds_max * 1e9) {
        uint64_t at = out->records++ * COMMIT_BYTES;
        if (ahead && at % ZERO_STEP == 0) zero_step(at);
        memcpy(commit_block, &at, sizeof at);
        put_at(commit_block, COMMIT_BYTES, at, RWF_DSYNC);
        uint64_t after = now_ns();
        note_latency(&took, after - before);
        before = after;
    }
    out->seconds = now() - start;
    out->p50 = latency_at(&took, 0.5) / 1e9, out->p99 = latency_at(&took, 0.99) / 1e9;
    out->p999 = latency_at(&took, 0.999) / 1e9, out->most = latency_at(&took, 1) / 1e9;
    close(fd);
}

static void dsync(const job_spec *job, result *out)
{
    commit_loop(job, out, false);
}

static void dsync_ahead(const job_spec *job, result *out)
{
    commit_loop(job, out, true);
}

const engine floor_dsync = {
    .name = "dsync",
    .label = "pwritev2(RWF_DSYNC)",
    .side = SIDE_FLOOR,
    .config =
        "one thread, a direct write of 4 KiB a commit, into space that was zeroed before the clock ran",
    .version = here,
    .whole = dsync,
};

const engine floor_dsync_ahead = {
    .name = "dsync-ahead",
    .label = "pwritev2(RWF_DSYNC), zeroing ahead",
    .side = SIDE_FLOOR,
    .config = "the same, the space zeroed in the loop, 1 MiB ahead each time",
    .version = here,
    .whole = dsync_ahead,
};
