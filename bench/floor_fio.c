/*
 * bench/floor_fio.c: the floors once more by fio, a program that others wrote: the same pattern of writes, and
 * its own figures. What it does before and after (laying out the file, the last fsync) is not in them.
 */
#include "bench/engine.h"

#include <stdio.h>
#include <stdlib.h>

static const char *version_of_fio(void)
{
    static char line[64];
    FILE *f = popen("fio --version 2>/dev/null", "r");
    if (f == NULL) return NULL;
    bool ok = fgets(line, sizeof line, f) != NULL;
    pclose(f);
    line[strcspn(line, "\n")] = 0;
    return ok ? line : NULL;
}

/* Runs fio and keeps what it says as JSON of its writes. */
static const char *say_of(const char *command)
{
    enum { ROOM = 1 << 18 };
    static char text[ROOM];
    FILE *f = popen(command, "r");
    if (f == NULL) die("fio", NULL);
    size_t n = fread(text, 1, ROOM - 1, f);
    text[n] = 0;
    const char *writes = strstr(text, "\"write\" : {");
    if (pclose(f) != 0 || writes == NULL) {
        fprintf(stderr, "u9bench: fio failed: %.300s\n", text);
        exit(4);
    }
    return writes;
}

static double number_of(const char *text, const char *name)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\" : ", name);
    const char *at = strstr(text, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : 0;
}

static void bulk(const job_spec *job, result *out)
{
    char command[PATH_ROOM + 400];
    uint64_t bytes = (job->file_bytes ? job->file_bytes : data_bytes(job->records)) >> 20 << 20;
    if (bytes == 0) bytes = 1 << 20;
    snprintf(
        command, sizeof command,
        "fio --name=floor --filename='%s/raw' --rw=write --bs=1M --iodepth=8 --ioengine=io_uring --direct=1 "
        "--fallocate=native --end_fsync=1 --size=%llu --output-format=json 2>&1",
        job->dir, (unsigned long long)bytes);
    double rate = number_of(say_of(command), "bw_bytes");
    if (rate <= 0) die("fio: no figure", NULL);
    uint64_t wanted = job->file_bytes ? job->file_bytes : data_bytes(job->records);
    out->seconds = (double)wanted / rate;
    out->records = job->records;
}

static void commits(const job_spec *job, result *out)
{
    char command[PATH_ROOM + 400];
    snprintf(
        command, sizeof command,
        "fio --name=floor --filename='%s/raw' --rw=write --bs=4k --ioengine=pvsync2 --direct=1 --sync=dsync "
        "--overwrite=1 --zero_buffers=1 --size=%lluk --runtime=%d --percentile_list=50:99:99.9 "
        "--output-format=json 2>&1",
        job->dir, (unsigned long long)job->records * 4, (int)job->seconds_max + 1);
    const char *said = say_of(command), *tail = strstr(said, "\"clat_ns\"");
    double rate = number_of(said, "iops");
    if (rate <= 0) die("fio: no figure", NULL);
    out->records = (uint64_t)number_of(said, "total_ios");
    out->seconds = (double)out->records / rate;
    if (tail == NULL) return;
    out->p50 = number_of(tail, "50.000000") / 1e9;
    out->p99 = number_of(tail, "99.000000") / 1e9;
    out->p999 = number_of(tail, "99.900000") / 1e9;
}

const engine floor_fio = {
    .name = "fio",
    .label = "fio, io_uring",
    .side = SIDE_FLOOR,
    .elsewhere = true,
    .config =
        "the bytes of u9's files in whole MiB: direct writes of 1 MiB, 8 under way, all space by fallocate "
        "before; its own figure, in which the end's fsync is not",
    .version = version_of_fio,
    .whole = bulk,
};

const engine floor_fio_dsync = {
    .name = "fio-dsync",
    .label = "fio, pwritev2(RWF_DSYNC)",
    .side = SIDE_FLOOR,
    .elsewhere = true,
    .config =
        "direct writes of 4 KiB, each durable, over a file that was written before; its own figure",
    .version = version_of_fio,
    .whole = commits,
};
