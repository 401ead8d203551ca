/*
 * tools/scan.c: see scan.h.
 *
 * Threads take ranges one after another, so that none waits long for the slowest. Each has totals of its own, which are
 * added up when it ends; a range's story is its reader's alone until then.
 */
#include "tools/scan.h"

#include "tools/args.h"
#include "tools/progress.h"
#include "tools/tool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    STEP = 1024, /* records between two reports of how far a thread is */
    SHARES = 4,  /* ranges for each */
    THREADS_MAX = 1024
};

/* What the threads of a scan share. */
typedef struct team {
    scan *scan;
    atomic_size_t next;     /* range to be taken */
    _Atomic uint64_t bytes; /* read so far */
    atomic_int no_memory;
    pthread_mutex_t lock; /* guards the scan's totals, and */
    pthread_cond_t ended;
    unsigned working;
} team;

static _Thread_local scan_story *own_story; /* of the range that the thread reads */

void scan_note_damage(void *ctx, const u9_damage *damage)
{
    (void)ctx;
    scan_story *s = own_story;
    if (s == NULL) return;
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 8;
        u9_damage *wider = realloc(s->damages, room * sizeof *wider);
        if (wider == NULL) return;
        s->damages = wider;
        s->room = room;
    }
    s->trimmed |= damage->reason == U9_R_TRIMMED;
    s->damages[s->count] = *damage;
    s->damages[s->count++].path = strdup(damage->path);
}

/* A fault that is the tool's own. */
static void fail(scan_story *s, u9_err err, const char *text)
{
    s->fault = (u9_fault){.err = err};
    snprintf(s->fault.text, sizeof s->fault.text, "%s", text);
}

/* Adds what a thread has read since it last said so. */
static void report(team *t, const u9_tally *tally, uint64_t *told)
{
    atomic_fetch_add_explicit(&t->bytes, tally->bytes - *told, memory_order_relaxed);
    *told = tally->bytes;
}

static void read_range(team *t, size_t i, u9_tally *tally, tool_counts *counts)
{
    const scan *s = t->scan;
    scan_story *story = own_story = &s->stories[i];
    u9_cursor *cursor;
    u9_record record;
    uint64_t told = tally->bytes;
    u9_err err = u9_range_open(s->log, &s->ranges[i], &cursor, &story->fault);
    if (err != U9_OK) return;
    while ((err = u9_cursor_next(cursor, &record)) == U9_OK || err == U9_LIMIT) {
        if (s->visit) {
            tally->records++;
            tally->bytes += record.size;
            if (!s->visit(s->ctx, i, &record)) break;
        } else if (u9_tally_record(tally, s->log, &record, &story->fault) != U9_OK) {
            break;
        }
        if (s->field && !tool_counts_record(counts, s->field, &record)) {
            fail(story, U9_NOMEM, "out of memory for the counts");
            break;
        }
        if (tally->records % STEP == 0) report(t, tally, &told);
    }
    if (err != U9_OK && err != U9_LIMIT && err != U9_END) u9_cursor_fault(cursor, &story->fault);
    report(t, tally, &told);
    u9_cursor_close(cursor);
    own_story = NULL;
}

static void *work(void *ctx)
{
    team *t = (team *)ctx;
    u9_tally tally = {0};
    tool_counts counts = {0};
    for (size_t i; (i = atomic_fetch_add(&t->next, 1)) < t->scan->count;) {
        read_range(t, i, &tally, &counts);
        if (t->scan->leave) t->scan->leave(t->scan->ctx, i);
    }
    pthread_mutex_lock(&t->lock);
    u9_tally_merge(&t->scan->tally, &tally);
    if (!tool_counts_merge(&t->scan->counts, &counts)) t->no_memory = 1;
    if (--t->working == 0) pthread_cond_signal(&t->ended);
    pthread_mutex_unlock(&t->lock);
    tool_counts_free(&counts);
    return NULL;
}

/* Tells how far they are, ten times a second, until all have ended. */
static void watch(team *t)
{
    tool_progress progress;
    tool_progress_begin(&progress, !t->scan->quiet);
    pthread_mutex_lock(&t->lock);
    while (t->working > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
        if (pthread_cond_timedwait(&t->ended, &t->lock, &until) == ETIMEDOUT)
            (void)tool_progress_tell(&progress, t->bytes, t->scan->bytes);
    }
    pthread_mutex_unlock(&t->lock);
    tool_progress_end(&progress);
}

/* With as many threads as there are to be had, one at least. */
static int run_team(team *t)
{
    unsigned threads = t->scan->threads < t->scan->count ? t->scan->threads : (unsigned)t->scan->count;
    pthread_t *ids = calloc(threads, sizeof *ids);
    unsigned made = 0;
    if (ids == NULL) return tool_nomem("the threads");
    t->working = threads;
    while (made < threads && pthread_create(&ids[made], NULL, work, t) == 0) made++;
    pthread_mutex_lock(&t->lock);
    t->working -= threads - made;
    pthread_mutex_unlock(&t->lock);
    if (made > 0) watch(t);
    for (unsigned i = 0; i < made; i++) pthread_join(ids[i], NULL);
    free(ids);
    if (made == 0) return tool_say(TOOL_IO, "no thread can be made: there are too many, or no memory for one");
    return t->no_memory ? tool_nomem("the counts") : TOOL_DONE;
}

static bool is_short(const u9_fault *fault)
{
    return fault->err == U9_NOMEM || (fault->err == U9_IO && fault->sys == ENOMEM);
}

/* What was told of a range, and the exit status that comes of it. That memory is short is news once (`told`). */
static int tell(const scan *s, const scan_story *story, bool *told)
{
    int status = TOOL_DONE;
    for (size_t i = 0; i < story->count; i++) tool_on_damage(&status, &story->damages[i]);
    bool again = is_short(&story->fault) && *told;
    *told |= is_short(&story->fault);
    if (again) return TOOL_IO;
    if (story->fault.err != U9_OK) return tool_read_fault(s->path, &story->fault);
    return story->trimmed && status == TOOL_DONE ? TOOL_REFUSED : status;
}

/* The gravest: what failed, before what was lost. */
static int graver(int one, int other)
{
    static const int rank[] = {[TOOL_DONE] = 0, [TOOL_LOST] = 1, [TOOL_REFUSED] = 2, [TOOL_USAGE] = 3, [TOOL_IO] = 4};
    return rank[one] >= rank[other] ? one : other;
}

int scan_run(scan *s)
{
    team t = {.scan = s, .lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
    s->stories = calloc(s->count, sizeof *s->stories);
    if (s->stories == NULL) return tool_nomem("the ranges");
    double began = tool_seconds();
    int status = run_team(&t);
    s->seconds = tool_seconds() - began;
    s->failed = status != TOOL_DONE;
    bool told = s->failed; /* of the team nothing else is told */
    for (size_t i = 0; i < s->count; i++) {
        status = graver(status, tell(s, &s->stories[i], &told));
        s->failed |= s->stories[i].fault.err != U9_OK;
    }
    return status;
}

int scan_all(scan *s, int (*begin)(void *ctx, size_t ranges))
{
    u9_fault fault;
    u9_split_range *plan;
    uint64_t ranges = s->threads > 1 ? SHARES * (uint64_t)s->threads : 1;
    s->failed = 1; /* until it is run */
    if (u9_log_split(s->log, ranges, 0, &plan, &s->count, &fault) != U9_OK) return tool_read_fault(s->path, &fault);
    s->ranges = plan;
    for (size_t i = 0; i < s->count; i++) s->bytes += plan[i].bytes;
    int status = begin ? begin(s->ctx, s->count) : TOOL_DONE;
    if (status == TOOL_DONE) status = scan_run(s);
    s->ranges = NULL;
    u9_split_free(plan);
    return status;
}

unsigned scan_processors(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 && processors < THREADS_MAX ? (unsigned)processors : 1;
}

unsigned scan_jobs(const char *arg)
{
    uint64_t n = tool_number("-j", arg);
    tool_within("-j", n, 0, THREADS_MAX, "");
    return n > 0 ? (unsigned)n : scan_processors();
}

void scan_free(scan *s)
{
    for (size_t i = 0; s->stories && i < s->count; i++) {
        for (size_t k = 0; k < s->stories[i].count; k++) free((char *)(uintptr_t)s->stories[i].damages[k].path);
        free(s->stories[i].damages);
    }
    free(s->stories);
    tool_counts_free(&s->counts);
}
