/*
 * bench/follow_u9.c: from a commit to who follows. One thread commits record after record, a moment apart; a cursor
 * waits for each, in a thread of the same process or in another process. A latency is the time from the return of the
 * commit until the cursor has handed the record out: what it takes beyond the commit, 0 where it was there before.
 */
#include "bench/engine.h"

#include <u9.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { APART_NS = 200000, START_MS = 20000 };

/* What both sides note; shared memory. */
typedef struct notes {
    _Atomic uint64_t seen; /* records */
    struct {
        uint64_t committed, seen; /* ns */
    } at[];
} notes;

static notes *noted;
static size_t noted_size;
static u9_log *writer;
static const job_spec *the_job;

static const char *version_of_cursor(void)
{
    return U9_VERSION_TEXT;
}

static u9_log *open_log(u9_mode mode)
{
    u9_log *log;
    u9_fault fault;
    u9_options o = {.size = sizeof o, .mode = mode, .policy = U9_POLICY_COMMIT, .io = the_job->io};
    if (u9_log_open(the_job->dir, &o, &log, &fault) != U9_OK) die("open", &fault);
    return log;
}

/* Takes every record as it comes. */
static void follow_all(u9_log *log)
{
    u9_cursor *cursor;
    u9_fault fault;
    u9_record r;
    u9_err err;
    if (u9_cursor_open(log, NULL, &cursor, &fault) != U9_OK) die("cursor", &fault);
    check(u9_cursor_follow(cursor, U9_SHOW_DURABLE));
    for (uint64_t next = 0; next < the_job->records;) {
        err = u9_cursor_next(cursor, &r);
        if (err == U9_END) err = u9_cursor_wait(cursor, START_MS);
        else if (err == U9_OK) {
            if (r.ordinal != next) die("a follower missed a record", NULL);
            noted->at[next++].seen = now_ns();
            noted->seen = next;
        }
        u9_cursor_fault(cursor, &fault);
        if (err == U9_AGAIN) die("nothing came to the follower", NULL);
        if (err != U9_OK) die("follow", &fault);
    }
    u9_cursor_close(cursor);
}

static void *follow_inside(void *unused)
{
    follow_all(writer);
    return unused;
}

static void commit_all(const job_spec *job, result *out)
{
    struct timespec apart = {.tv_nsec = APART_NS};
    for (uint64_t i = 0; i < job->records; i++) {
        const datum *v = value_of(i);
        u9_place place;
        check(u9_log_append(writer, NULL, v->text - v->head, v->head + v->size, &place));
        check(u9_log_commit(writer, place.ordinal));
        noted->at[i].committed = now_ns();
        out->records++;
        nanosleep(&apart, NULL);
    }
}

static void keep(const job_spec *job, result *out)
{
    static latencies took;
    for (uint64_t i = 0; i < job->records; i++) {
        uint64_t committed = noted->at[i].committed, seen = noted->at[i].seen;
        note_latency(&took, seen > committed ? seen - committed : 0);
    }
    out->p50 = latency_at(&took, 0.5) / 1e9, out->p99 = latency_at(&took, 0.99) / 1e9;
    out->p999 = latency_at(&took, 0.999) / 1e9, out->most = latency_at(&took, 1) / 1e9;
    munmap(noted, noted_size);
}

static void begin(const job_spec *job)
{
    the_job = job;
    noted_size = sizeof *noted + job->records * sizeof noted->at[0];
    noted = mmap(NULL, noted_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (noted == MAP_FAILED) die("memory", NULL);
}

static void within(const job_spec *job, result *out)
{
    pthread_t thread;
    begin(job);
    writer = open_log(U9_CREATE);
    if (pthread_create(&thread, NULL, follow_inside, NULL) != 0) die("thread", NULL);
    double start = now();
    commit_all(job, out);
    out->seconds = now() - start;
    pthread_join(thread, NULL);
    check(u9_log_close(writer, NULL));
    keep(job, out);
}

static void between(const job_spec *job, result *out)
{
    int status;
    begin(job);
    pid_t follower = fork();
    if (follower < 0) die("fork", NULL);
    if (follower == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        check(u9_log_await(job->dir, NULL, START_MS, NULL));
        u9_log *log = open_log(U9_READ);
        follow_all(log);
        check(u9_log_close(log, NULL));
        _exit(0);
    }
    writer = open_log(U9_CREATE);
    double start = now();
    commit_all(job, out);
    out->seconds = now() - start;
    if (waitpid(follower, &status, 0) < 0 || status != 0) die("the follower failed", NULL);
    check(u9_log_close(writer, NULL));
    keep(job, out);
}

const engine follow_within = {
    .name = "follow-within",
    .label = "u9, in the process",
    .side = SIDE_U9,
    .config = "a cursor in a thread of the writer's process, on its handle; policy commit, 200 us between commits",
    .version = version_of_cursor,
    .whole = within,
};

const engine follow_between = {
    .name = "follow-between",
    .label = "u9, another process",
    .side = SIDE_U9,
    .config = "the same, the cursor in another process",
    .version = version_of_cursor,
    .whole = between,
};
