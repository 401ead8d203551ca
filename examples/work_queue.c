/*
 * examples/work_queue.c: a log as a queue of jobs: any number of programs put jobs in one after another, and a worker
 * does them in order, wherever and however often it is started again.
 *
 *     work_queue put LOG JOB...          a job is a line of text; "queued" means that it is durable
 *     work_queue work LOG CURSOR [N]     does jobs as they come, N of them, or until it is killed
 *
 * How far the worker has come is a line of text in the file CURSOR, replaced at one stroke when a job is done. Killed
 * between the two, it does that job once more: each job is done at least once, and in order. The saved cursor stays good
 * over restarts, rolls and trims of the log, so that what is done can be dropped: u9 trim LOG --keep 1G.
 *
 * Built with: cc work_queue.c $(pkg-config --cflags --libs u9)
 * Exit status: 0 done, 1 something failed, which standard error tells.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <u9.h>
#include <unistd.h>

enum { JOB_MAX = 1000 };

static int fail(const u9_fault *fault)
{
    char text[1024];
    fprintf(stderr, "work_queue: %s\n", u9_fault_line(fault, text, sizeof text));
    return 1;
}

static int fail_at(const char *path)
{
    fprintf(stderr, "work_queue: %s: %s\n", path, strerror(errno));
    return 1;
}

static u9_err put_one(u9_log *log, const char *job)
{
    uint8_t bytes[JOB_MAX + 10];
    u9_builder b;
    u9_place place;
    u9_builder_init(&b, bytes, sizeof bytes);
    u9_err err = u9_build_utf8(&b, job, strnlen(job, JOB_MAX));
    if (err == U9_OK) err = u9_log_append(log, NULL, bytes, b.size, &place);
    return err == U9_OK ? u9_log_commit(log, place.ordinal) : err;
}

static int put(const char *path, char **jobs)
{
    u9_options options = {.size = sizeof options, .mode = U9_CREATE};
    u9_fault fault;
    u9_log *log;
    int failed = 0;
    if (u9_log_open(path, &options, &log, &fault) != U9_OK) return fail(&fault);
    for (; *jobs && !failed; jobs++) {
        if (put_one(log, *jobs) != U9_OK) u9_log_fault(log, &fault), failed = fail(&fault);
        else printf("queued %s\n", *jobs);
    }
    return u9_log_close(log, &fault) == U9_OK ? failed : fail(&fault);
}

/* Here a job is only said. It may be the one that was done last before a kill. */
static void do_job(const u9_record *record)
{
    u9_value v;
    if (u9_value_decode(record->values, (size_t)record->values_size, &v) != U9_OK || v.type != U9_UTF8)
        return;
    printf("done %.*s\n", (int)v.size, (const char *)v.data);
    fflush(stdout);
}

/* The whole line or the old one, whatever happens: written beside it, synced, renamed. */
static int save(u9_cursor *cursor, const char *path)
{
    char text[U9_CURSOR_TEXT_SIZE], beside[4096];
    u9_fault fault;
    if (u9_cursor_save(cursor, text, sizeof text) != U9_OK)
        return u9_cursor_fault(cursor, &fault), fail(&fault);
    snprintf(beside, sizeof beside, "%s.new", path);
    FILE *f = fopen(beside, "w");
    if (f == NULL) return fail_at(beside);
    int bad = fprintf(f, "%s\n", text) < 0 || fflush(f) != 0 || fsync(fileno(f)) != 0;
    if (fclose(f) != 0 || bad || rename(beside, path) != 0) return fail_at(path);
    return 0;
}

/* Where the last one stopped; without a file at the start. */
static int go_on(u9_log *log, const char *path, u9_cursor **cursor)
{
    char text[U9_CURSOR_TEXT_SIZE] = "";
    u9_fault fault;
    u9_seek to = {.size = sizeof to, .kind = U9_SEEK_START};
    FILE *f = fopen(path, "r");
    if (f == NULL && errno != ENOENT) return fail_at(path);
    if (f && fgets(text, sizeof text, f))
        to = (u9_seek){.size = sizeof to, .kind = U9_SEEK_SAVED, .text = text};
    if (f) fclose(f);
    return u9_log_seek(log, &to, cursor, &fault) == U9_OK ? 0 : fail(&fault);
}

static int do_jobs(u9_cursor *cursor, const char *saved, unsigned long left)
{
    u9_record record;
    u9_fault fault;
    u9_err err = u9_cursor_follow(cursor, U9_SHOW_DURABLE);
    while (left > 0 && err == U9_OK) {
        while (left > 0 && (err = u9_cursor_next(cursor, &record)) == U9_OK) {
            do_job(&record);
            if (save(cursor, saved) != 0) return 1;
            left--;
        }
        if (err == U9_END) err = u9_cursor_wait(cursor, U9_NO_TIMEOUT);
    }
    if (err == U9_OK) return 0;
    u9_cursor_fault(cursor, &fault); /* of damage too: what it cost is jobs that nobody will do */
    return fail(&fault);
}

static int work(const char *path, const char *saved, unsigned long jobs)
{
    u9_fault fault;
    u9_log *log;
    u9_cursor *cursor;
    if (u9_log_await(path, NULL, U9_NO_TIMEOUT, &fault) != U9_OK)
        return fail(&fault); /* nobody has put one in yet */
    if (u9_log_open(path, NULL, &log, &fault) != U9_OK) return fail(&fault);
    int failed = go_on(log, saved, &cursor);
    if (!failed) failed = do_jobs(cursor, saved, jobs), u9_cursor_close(cursor);
    return u9_log_close(log, &fault) == U9_OK ? failed : fail(&fault);
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "put") == 0) return put(argv[2], argv + 3);
    if ((argc == 4 || argc == 5) && strcmp(argv[1], "work") == 0)
        return work(argv[2], argv[3], argc == 5 ? strtoul(argv[4], NULL, 10) : ~0ul);
    fprintf(stderr, "usage: work_queue put LOG JOB... | work_queue work LOG CURSOR [N]\n");
    return 2;
}
