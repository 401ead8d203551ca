/*
 * bench/drive_append.c: see drive_append.h.
 *
 * Threads take spans of records from one counter, so that keys grow nearly in order. In an open loop each call
 * is due at its time, whether the one before is done or not, and its latency counts from there: a writer that
 * stops for a moment is charged for all that had to wait.
 */
#include "bench/drive_append.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum { SPAN = 1000, TIMED_ONE_OF = 16, BATCH_TIMED = 64, ROLLS_MAX = 4096, THREADS_MAX = 1024 };
#define NEAR_ROLL 0.1 /* seconds */

static const job_spec *the_job;
static _Atomic uint64_t next_record;
static _Atomic bool late;
static uint64_t deadline; /* ns */

typedef struct appender {
    uint64_t records, calls;
    latencies took;
} appender;

/* A call of an open loop, by when it was due: kept until the rolls are known. */
typedef struct due_call {
    double due, latency; /* seconds */
} due_call;

static due_call *due_calls;
static uint64_t due_count;
static double epoch; /* the real time at which the clock of now() was 0 */

static void call(appender *a, uint64_t first, uint64_t count, bool timed)
{
    uint64_t begin = timed ? now_ns() : 0;
    the_job->engine->append(first, count);
    a->records += count;
    if (!timed) return;
    uint64_t end = now_ns();
    note_latency(&a->took, end - begin);
    if (end > deadline) late = true;
}

static void append_span(appender *a, uint64_t first, uint64_t end)
{
    unsigned batch = the_job->batch;
    bool all = the_job->durable || batch >= BATCH_TIMED;
    for (uint64_t i = first; i < end && !late; i += batch) {
        uint64_t count = end - i < batch ? end - i : batch;
        call(a, i, count, all || a->calls % TIMED_ONE_OF == 0);
        a->calls++;
    }
}

static void *append_spans(void *ctx)
{
    uint64_t batch = the_job->batch,
             span = the_job->durable || batch > SPAN ? batch : SPAN / batch * batch;
    for (;;) {
        uint64_t first = atomic_fetch_add(&next_record, span), end = first + span;
        if (first >= the_job->records || late) return NULL;
        append_span(ctx, first, end < the_job->records ? end : the_job->records);
    }
}

static double real_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_until(double when)
{
    struct timespec t = {.tv_sec = (time_t)when,
                         .tv_nsec = (long)((when - (double)(time_t)when) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
    }
}

/* Room for every call, touched: no page is to be mapped while the clock runs. */
static void make_due_calls(const job_spec *job)
{
    if (job->bytes_per_s <= 0) return;
    size_t size = (job->records / job->batch + 1) * sizeof *due_calls;
    due_calls = malloc(size);
    if (due_calls == NULL) die("memory for latencies", NULL);
    memset(due_calls, 1, size);
}

/* One thread. */
static void append_when_due(appender *a)
{
    double start = now(), bytes = 0;
    epoch = real_time() - start;
    prctl(PR_SET_TIMERSLACK, 1000);
    for (uint64_t i = 0; i < the_job->records && !late; i += the_job->batch) {
        double due = start + bytes / the_job->bytes_per_s;
        if (due > now()) sleep_until(due);
        uint64_t count =
            the_job->records - i < the_job->batch ? the_job->records - i : the_job->batch;
        call(a, i, count, false);
        a->calls++;
        double done = now();
        due_calls[due_count++] = (due_call){due, done - due};
        note_latency(&a->took, (uint64_t)((done - due) * 1e9));
        late = done * 1e9 > (double)deadline;
        for (uint64_t k = i; k < i + count; k++) bytes += KEY_SIZE + value_of(k)->size;
    }
}

static void run_threads(appender *appenders, unsigned threads)
{
    static pthread_t ids[THREADS_MAX];
    for (unsigned t = 1; t < threads; t++)
        if (pthread_create(&ids[t], NULL, append_spans, &appenders[t]) != 0) die("thread", NULL);
    append_spans(&appenders[0]);
    for (unsigned t = 1; t < threads; t++) pthread_join(ids[t], NULL);
}

void append_records(const job_spec *job, result *out)
{
    appender *appenders = calloc(job->threads, sizeof *appenders);
    if (appenders == NULL || job->threads > THREADS_MAX) die("threads", NULL);
    the_job = job;
    next_record = 0;
    deadline = now_ns() + (uint64_t)(job->seconds_max * 1e9);
    make_due_calls(job);
    if (job->bytes_per_s > 0) append_when_due(&appenders[0]);
    else run_threads(appenders, job->threads);
    for (unsigned t = 1; t < job->threads; t++) {
        appenders[0].records += appenders[t].records;
        appenders[0].calls += appenders[t].calls;
        add_latencies(&appenders[0].took, &appenders[t].took);
    }
    out->records = appenders[0].records;
    out->calls = appenders[0].calls;
    keep_latencies(&appenders[0].took, out);
    free(appenders);
}

void keep_latencies(const latencies *took, result *out)
{
    out->p50 = latency_at(took, 0.5) / 1e9;
    out->p99 = latency_at(took, 0.99) / 1e9;
    out->p999 = latency_at(took, 0.999) / 1e9;
    out->most = latency_at(took, 1) / 1e9;
}

static bool near_one(double when, const double *rolls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (when > rolls[i] - NEAR_ROLL && when < rolls[i] + NEAR_ROLL) return true;
    return false;
}

void keep_those_near_rolls(const job_spec *job, result *out)
{
    static double rolls[ROLLS_MAX];
    static latencies took;
    size_t count = job->engine->rolls ? job->engine->rolls(job, rolls, ROLLS_MAX) : 0;
    for (uint64_t i = 0; i < due_count; i++)
        if (near_one(due_calls[i].due + epoch, rolls, count))
            note_latency(&took, (uint64_t)(due_calls[i].latency * 1e9));
    out->rolls = (unsigned)count;
    keep_latencies(&took, out);
}
