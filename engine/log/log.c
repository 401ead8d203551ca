/*
 * engine/log/log.c: the handle of a log: opening, making it, the lock around the writer, who waits, and the task
 * that syncs what nobody commits and marks what is durable. [W-1] [W-5] [M-5] [M-6]
 *
 * Threads: every call takes log->lock, and so does the ticker; the writer below knows no threads.
 */
#include "engine/log/handle.h"
#include "engine/log/resume.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SYNC_US = 1000000,         /* [W-5] oldest unsynced record */
    PROMISE_US = 500000,       /* [W-5] from a sync to the frame that promises it */
    MARK_US = 500000,          /* [M-5] from one mark to the next */
    TICK_US = 50000,           /* how finely these are watched */
    SYNC_BYTES = 32 << 20,     /* [W-5] */
    GRANTS_MAX = 3             /* [I-23] for one append */
};

/*
 * The last call of this thread that failed, and on which handle: see u9_log_fault. A thread has one, as it has one
 * errno, so nothing is to be freed when a handle, the thread or the library goes; a handle is known by its number,
 * as another may stand at its address later. The call writes it when all is over: what fails on the way to a
 * success is not told. (Where the library is loaded by dlopen, glibc takes the memory at a thread's first use and ends
 * the process if there is none: the price of errno's way of telling, paid by threads that fail only.)
 */
static _Thread_local struct {
    uint64_t id; /* u9_log.id; 0: the handle was NULL, or nothing has failed */
    u9_fault fault;
} last;

/* Tells `fault` as the detail of a call on `log` (may be NULL). */
static u9_err tell(const u9_log *log, u9_err err, const u9_fault *fault)
{
    last.id = log ? log->id : 0;
    last.fault = *fault;
    return err;
}

/* A host built with an earlier version has a shorter u9_options: what is not there is zero. */
bool u9i_options_known(const u9_options *o)
{
    return o->size == sizeof *o || o->size == offsetof(u9_options, keep_bytes) ||
           o->size == offsetof(u9_options, generator_given) ||
           o->size == offsetof(u9_options, kind);
}

static u9_err check_log_options(const char *path, const u9_options *o, u9_fault *fault)
{
    const char *wrong = NULL;
    if (path == NULL || path[0] == 0) wrong = "the path is empty";
    else if (!u9i_options_known(o))
        wrong = "options.size is not sizeof(u9_options)";
    else if (o->mode > U9_CREATE) wrong = "options.mode is none of u9_mode";
    else if (o->policy > U9_POLICY_NONE) wrong = "options.policy is none of u9_policy";
    else if (o->segment_size != 0 && o->segment_size < 65536)
        wrong = "options.segment_size is below 64 KiB";
    else if (o->size > offsetof(u9_options, medallion) && o->medallion >= U9_MUID_MEDALLION_MAX)
        wrong = "options.medallion is out of range";
    else if (o->segment_size >= U9I_SEGMENT_MAX / 2)
        wrong = "options.segment_size is above 2^42 bytes";
    return wrong ? u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "%s", wrong) : U9_OK;
}

static u9_err open_source(u9_log *log, const char *path, u9_fault *fault)
{
    u9i_env *env;
    u9_fault why;
    u9_err err = u9i_env_choose(log->options.io, &env, &why);
    if (err != U9_OK) return u9i_fault(fault, err, U9I_AT(.path = path), "%s", why.text);
    return u9i_source_open(&log->source, env, path, log->options.mode == U9_CREATE, fault);
}

/* Nothing in a catalog, or nothing in it that is a segment: no log. */
static u9_err refuse_no_log(const u9_log *log, const u9i_catalog *catalog, u9_fault *fault)
{
    const char *path = log->source.path;
    if (catalog->count == 0 && catalog->missing_count > 0) return U9_OK; /* its mark says that it is one */
    bool blank = !log->source.dir->single[0]; /* a creation cut short, and nothing else */
    for (size_t i = 0; i < catalog->count && blank; i++)
        blank = u9i_catalog_facts(catalog, i)->blank && u9i_facts_skipped(u9i_catalog_facts(catalog, i));
    if (blank)
        return u9i_fault(fault, U9_ABSENT, U9I_AT(.path = path, .rule = "M-6"),
                         "no log is here: the directory has no segments (*.u9), or none that was finished");
    const u9i_facts *f = u9i_catalog_facts(catalog, 0);
    if (log->source.dir->single[0] && f->wrong == U9_R_UNREADABLE && f->boundaries == 0)
        return u9i_fault(fault, U9_IO, U9I_AT_OFFSET(0, .path = path, .sys = f->unread, .rule = "R-11"),
                         "the file's header cannot be read, nor is there a copy of its secret");
    if (log->source.dir->single[0] && f->header != U9_OK && !f->has_open && (f->blank || f->barren) && f->boundaries == 0)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT_OFFSET(0, .path = path, .rule = "H-1"),
                         f->size == 0 ? "not a log: the file is empty"
                                      : "not a log: no segment's header, and no copy of its secret");
    return U9_OK;
}

static u9_err open_reading(u9_log *log, u9_fault *fault)
{
    u9i_catalog *catalog;
    u9_err err = u9i_source_catalog(&log->source, &catalog, fault);
    if (err != U9_OK) return err;
    err = refuse_no_log(log, catalog, fault);
    const char *asked = log->options.kind;
    if (err == U9_OK && asked && asked[0] && catalog->kind[0] && strcmp(asked, catalog->kind) != 0)
        err = u9i_fault(fault, U9_ARG, U9I_AT(.path = log->source.path, .rule = "L-6"),
                        "the log's keys are of kind '%.80s', not '%.80s'", catalog->kind, asked);
    memcpy(log->kind, catalog->kind, sizeof log->kind);
    u9i_catalog_unref(catalog);
    return err;
}

/* What holds of every handle while its lock is held. */
static void log_check(const u9_log *log)
{
    assert(log->source.dir != NULL && (log->writing || !log->ticking));
    assert(!log->writing || log->writer.dir == log->source.dir);
    assert(!log->ticking || log->writer.started);
}

/* What is due now: a sync of what is old enough, or the promise of the last one. */
static void tick_writer(u9_log *log)
{
    u9i_writer *w = &log->writer;
    uint64_t now = u9i_monotonic_us(w->env);
    u9_fault unused; /* a failure poisons the writer, and the next call tells */
    (void)!u9i_writer_poll(w, &unused);
    if (w->first_us != 0 && now - w->first_us >= SYNC_US)
        (void)!u9i_writer_sync_begin(w, &unused);
    else if (!w->stream.syncing && now - w->synced_us >= PROMISE_US)
        (void)!u9i_writer_promise(w, &unused);
}

/* Something durable is not marked yet, nor about to be. */
static bool wants_mark(const u9_log *log, u9i_mark_record *mark)
{
    return u9i_writer_mark(&log->writer, mark) && u9i_marker_wants(&log->marker, mark);
}

/* Goes on with the mark that is under way, or begins the next one if it is due. A failure is tried again. */
static void tick_mark(u9_log *log)
{
    u9i_mark_record mark;
    uint64_t now = u9i_monotonic_us(log->writer.env);
    u9i_marker_poll(&log->marker);
    if (log->marker.stage != U9I_MARKER_IDLE || !wants_mark(log, &mark)) return;
    if (log->marked_us != 0 && now - log->marked_us < MARK_US) return;
    log->marked_us = now;
    u9i_marker_begin(&log->marker, &mark);
}

/* The writer is at another segment, whose u9open is durable: marked at once. [M-5] */
static void mark_roll(u9_log *log)
{
    log->marked_segment = log->writer.out.number;
    log->marked_us = 0;
    tick_mark(log);
}

/* Submits the ticker if there is something to watch: from an append on, until all is durable, promised, marked. */
static void watch(u9_log *log)
{
    const u9i_writer *w = &log->writer;
    u9i_mark_record mark;
    bool busy = w->first_us != 0 || w->stream.syncing || u9i_writer_owes_promise(w) ||
                log->marker.stage != U9I_MARKER_IDLE || wants_mark(log, &mark) || u9i_retain_busy(log);
    log->ticking = busy && w->poison.err == U9_OK;
    if (log->ticking) u9i_task_submit(w->env, &log->ticker, u9i_monotonic_us(w->env) + TICK_US);
}

void u9i_log_watch(u9_log *log)
{
    if (!log->ticking) watch(log);
}

/* The name of the log's directory is durable in the one above: an earlier creation may not have come that far. */
static u9_err sync_parent(const u9_log *log, u9_fault *fault)
{
    char path[4400];
    u9i_dir *parent;
    snprintf(path, sizeof path, "%s/..", log->source.path);
    int sys = u9i_dir_open(log->source.dir->env, path, false, &parent);
    if (sys == 0) {
        sys = u9i_dir_sync(parent);
        u9i_dir_close(parent);
    }
    if (sys == 0 || sys == -EACCES) return U9_OK; /* nobody may: it was there before */
    return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys), "cannot sync the directory above");
}

/* Makes the log, which is empty then: its mark, its first segment, their names; and marks that. [M-6] */
static u9_err create_log(u9_log *log, u9_fault *fault)
{
    u9i_mark_record mark;
    u9_err err = u9i_marker_make(&log->marker, fault);
    if (err == U9_OK) err = u9i_writer_create(&log->writer, fault);
    if (err == U9_OK) err = sync_parent(log, fault);
    if (err != U9_OK) return err;
    bool durable = u9i_writer_mark(&log->writer, &mark);
    assert(durable);
    return u9i_marker_write(&log->marker, &mark, fault);
}

/* The session is ready: its mark, and the log itself if there is none. */
static u9_err begin_session(u9_log *log, const u9i_plan *plan, u9_fault *fault)
{
    u9i_mark mark;
    int sys = u9i_mark_read(log->source.dir, &mark);
    if (sys != 0)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = log->source.path, .sys = -sys, .rule = "M-3"),
                         "cannot read the log's mark");
    u9i_marker_init(&log->marker, log->source.dir, log->source.path, &mark, plan->log);
    log->marked_segment = plan->number;
    if (plan->before_segment != 0) return U9_OK;
    if (log->options.mode == U9_CREATE) return create_log(log, fault);
    return u9i_fault(fault, U9_ABSENT, U9I_AT(.path = log->source.path, .rule = "M-6"),
                     "no log is here: it can be made (U9_CREATE)");
}

static u9_err open_writing(u9_log *log, bool explains, u9_fault *fault)
{
    const char *path = log->source.path;
    const u9_options *o = &log->options;
    if (log->source.dir->single[0])
        return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = ENOTDIR),
                         "only a log directory can be written to");
    int sys = u9i_dir_lock(log->source.dir);
    if (sys == -EWOULDBLOCK)
        return u9i_fault(fault, U9_LOCKED, U9I_AT(.path = path, .rule = "W-1"),
                         "another writer has the log");
    if (sys != 0)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys), "cannot lock the log");
    u9i_plan plan;
    u9_err err = explains ? u9i_trim_explain(&log->source, fault) : U9_OK;
    if (err == U9_OK)
        err = u9i_resume_find(&plan, &log->source, u9i_segment_size(o), o->on_damage,
                              o->on_damage_ctx, fault);
    if (err == U9_OK) err = u9i_writer_open(&log->writer, log->source.dir, path, &plan, o, fault);
    if (err != U9_OK) return err;
    memcpy(log->kind, log->writer.plan.kind, sizeof log->kind);
    err = begin_session(log, &plan, fault);
    if (err == U9_OK) {
        u9i_retain_begin(log);
        watch(log); /* a log that was just made owes a promise [W-5] */
        return err;
    }
    u9i_marker_release(&log->marker);
    u9i_writer_release(&log->writer);
    return err;
}

static void run_ticker(void *ctx)
{
    u9_log *log = ctx;
    tick_writer(log);
    tick_mark(log);
    u9i_retain_tick(log);
    watch(log);
    log_check(log);
}

static void free_log(u9_log *log)
{
    if (log->source.dir) u9i_source_close(&log->source);
    if (!u9i_log_forked(log)) pthread_mutex_destroy(&log->lock); /* in a child somebody may hold it forever */
    free(log);
}

/* In which way a log is opened. */
typedef enum opening { PLAINLY, MENDING, EXPLAINING } opening;

static u9_err open_handle(const char *path, const u9_options *o, opening how, u9_log **out, u9_fault *fault)
{
    static uint64_t opened;
    if (out == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "an argument is NULL");
    u9_err err = check_log_options(path, o, fault);
    if (err != U9_OK) return err;
    u9_log *log = calloc(1, sizeof *log);
    if (log == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = path), "out of memory");
    pthread_mutex_init(&log->lock, NULL);
    memcpy(&log->options, o, o->size);
    if (o->mode == 0) log->options.mode = U9_READ;
    log->writing = log->options.mode != U9_READ;
    log->id = __atomic_add_fetch(&opened, 1, __ATOMIC_RELAXED);
    log->generation = u9i_fork_generation();
    log->ticker = (u9i_task){.run = run_ticker, .ctx = log, .guard = &log->lock};
    err = open_source(log, path, fault);
    log->source.mends = how == MENDING;
    if (err == U9_OK) err = log->writing ? open_writing(log, how == EXPLAINING, fault) : open_reading(log, fault);
    if (err != U9_OK) {
        free_log(log);
        return err;
    }
    *out = log;
    return U9_OK;
}

u9_err u9_log_open(const char *path, const u9_options *options, u9_log **out, u9_fault *fault)
{
    static const u9_options reading = {.size = sizeof reading, .mode = U9_READ};
    return open_handle(path, options ? options : &reading, PLAINLY, out, fault);
}

u9_err u9i_log_open_mending(const char *path, const u9_options *options, u9_log **out, u9_fault *fault)
{
    return open_handle(path, options, MENDING, out, fault);
}

u9_err u9i_log_open_explaining(const char *path, const u9_options *options, u9_log **out, u9_fault *fault)
{
    return open_handle(path, options, EXPLAINING, out, fault);
}

u9_err u9_log_close(u9_log *log, u9_fault *fault)
{
    if (log == NULL) return U9_OK;
    u9_err err = U9_OK;
    bool forked = u9i_log_forked(log);
    if (log->writing && forked) {
        u9i_writer_release(&log->writer);
        u9i_marker_release(&log->marker);
        u9i_trimming_free(&log->trimming);
        err = u9i_fault(fault, U9_STATE, U9I_AT(.path = log->source.path),
                        "the handle belongs to the parent process");
    } else if (log->writing) {
        u9i_task_cancel(log->writer.env, &log->ticker);
        u9i_mark_record mark;
        err = u9i_writer_close(&log->writer, fault);
        if (err == U9_OK && wants_mark(log, &mark)) err = u9i_marker_write(&log->marker, &mark, fault);
        if (err == U9_OK) err = u9i_retain_end(log, fault);
        u9i_trimming_free(&log->trimming);
        u9i_marker_release(&log->marker);
    }
    free_log(log);
    return err;
}

/* Enters a call that writes: takes the lock, or refuses. */
static u9_err enter(u9_log *log, u9_fault *fault)
{
    fault->err = U9_OK;
    if (log == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    bool forked = u9i_log_forked(log);
    if (forked || !log->writing)
        return u9i_fault(fault, U9_STATE, U9I_AT(.path = log->source.path),
                         forked ? "the handle belongs to the parent process"
                                : "the log was opened for reading");
    pthread_mutex_lock(&log->lock);
    return U9_OK;
}

/* Leaves it with `err`, of which `fault` tells if it is more than an ordinary outcome. */
static u9_err leave(u9_log *log, u9_err err, const u9_fault *fault)
{
    log_check(log);
    pthread_mutex_unlock(&log->lock);
    return err != U9_OK && fault->err != U9_OK ? tell(log, err, fault) : err;
}

/* What the policy asks of an append: who waits. */
static void keep_policy(u9_log *log)
{
    u9i_writer *w = &log->writer;
    u9_fault unused; /* a failure poisons: the record was accepted, the next call tells */
    if (w->out.number != log->marked_segment) mark_roll(log);
    if (!log->ticking) watch(log);
    if (u9i_writer_behind(w) < SYNC_BYTES) return;
    if (w->stream.syncing) (void)!u9i_writer_poll(w, &unused);
    bool wait = log->options.policy == U9_POLICY_INTERVAL;
    if (wait) (void)!u9i_writer_sync(w, &unused);
    else if (!w->stream.syncing) (void)!u9i_writer_sync_begin(w, &unused);
}

/* Sees to it that fresh keys can be made, if any are wanted. It may wait: so without the lock. [I-23] */
static u9_err ready_keys(u9_log *log, const u9_entry *entries, size_t count)
{
    u9_fault fault;
    size_t i = 0;
    if (log == NULL || !log->writing || u9i_log_forked(log)) return U9_OK; /* `enter` refuses */
    if (log->writer.keygen.uid8 == NULL || entries == NULL) return U9_OK;
    while (i < count && entries[i].key.data != NULL) i++;
    u9_err err = i < count ? u9i_uid8keys_ready(log->writer.keygen.uid8, log->source.path, &fault) : U9_OK;
    return err == U9_OK ? err : tell(log, err, &fault);
}

static u9_err append_once(u9_log *log, const u9_entry *entries, size_t count, u9_place *places, bool alone)
{
    u9_fault fault;
    u9_err err = enter(log, &fault);
    if (err != U9_OK) return tell(log, err, &fault);
    err = alone ? u9i_writer_append_alone(&log->writer, entries, count, &fault)
                : u9i_writer_append(&log->writer, entries, count, places, &fault);
    if (err == U9_OK) keep_policy(log);
    return leave(log, err, &fault);
}

/* A grant that was over before its keys were used is replaced. [I-23] */
static u9_err append_granted(u9_log *log, const u9_entry *entries, size_t count, u9_place *places, bool alone)
{
    for (int tries = 1;; tries++) {
        u9_err err = ready_keys(log, entries, count);
        if (err != U9_OK) return err;
        err = append_once(log, entries, count, places, alone);
        if (err != U9_AGAIN || tries == GRANTS_MAX || !u9i_keygen_wants_grant(&log->writer.keygen)) return err;
    }
}

u9_err u9_log_append_batch(u9_log *log, const u9_entry *entries, size_t count, u9_place *places)
{
    return append_granted(log, entries, count, places, false);
}

u9_err u9i_log_append_frame(u9_log *log, const u9_entry *entries, size_t count)
{
    return append_granted(log, entries, count, NULL, true);
}

u9_err u9i_log_append_body(u9_log *log, const uint8_t *body, size_t size, uint32_t count, bool lz4)
{
    u9_fault fault;
    u9_err err = enter(log, &fault);
    if (err != U9_OK) return tell(log, err, &fault);
    err = u9i_writer_append_body(&log->writer, body, size, count, lz4, &fault);
    if (err == U9_OK) keep_policy(log);
    return leave(log, err, &fault);
}

u9_err u9_log_append(u9_log *log, const u9_key *key, const void *values, size_t size, u9_place *place)
{
    u9_entry entry = {.key = key ? *key : (u9_key){NULL, 0}, .values = values, .size = size};
    return u9_log_append_batch(log, &entry, 1, place);
}

/* True if `interval` has fallen behind what it allows to be lost. */
static bool too_far_behind(const u9i_writer *w)
{
    return u9i_writer_behind(w) >= SYNC_BYTES ||
           (w->first_us != 0 && u9i_monotonic_us(w->env) - w->first_us >= SYNC_US);
}

u9_err u9_log_commit(u9_log *log, uint64_t ordinal)
{
    u9_fault fault;
    u9_err err = enter(log, &fault);
    if (err != U9_OK) return tell(log, err, &fault);
    u9i_writer *w = &log->writer;
    if (ordinal >= u9i_writer_next(w))
        return leave(log,
                     u9i_fault(&fault, U9_ARG, U9I_AT(.path = log->source.path),
                               "record %llu was not appended", (unsigned long long)ordinal),
                     &fault);
    err = u9i_writer_poll(w, &fault);
    bool waits = log->options.policy == U9_POLICY_COMMIT ||
                 (log->options.policy == U9_POLICY_INTERVAL && too_far_behind(w));
    if (err == U9_OK && ordinal >= w->durable.ordinal && waits)
        err = u9i_writer_sync(w, &fault);
    if (err == U9_OK && ordinal >= w->durable.ordinal) err = U9_AGAIN;
    return leave(log, err, &fault);
}

u9_err u9_log_sync(u9_log *log)
{
    u9_fault fault;
    u9_err err = enter(log, &fault);
    if (err != U9_OK) return tell(log, err, &fault);
    err = u9i_writer_sync(&log->writer, &fault);
    return leave(log, err, &fault);
}

uint64_t u9_log_durable(u9_log *log)
{
    u9_fault unused; /* nothing is told: 0 is an answer, and the next call that writes fails */
    if (enter(log, &unused) != U9_OK) return 0;
    (void)!u9i_writer_poll(&log->writer, &unused);
    uint64_t n = log->writer.durable.ordinal;
    (void)leave(log, U9_OK, &unused);
    return n;
}

uint64_t u9_log_next(u9_log *log)
{
    u9_fault unused;
    if (enter(log, &unused) != U9_OK) return 0;
    uint64_t n = u9i_writer_next(&log->writer);
    (void)leave(log, U9_OK, &unused);
    return n;
}

const char *u9_log_io(const u9_log *log)
{
    return log ? log->source.dir->env->name : "";
}

const char *u9_log_kind(const u9_log *log)
{
    return log ? log->kind : "";
}

void u9_log_fault(const u9_log *log, u9_fault *out)
{
    if (out == NULL) return;
    if (last.fault.err != U9_OK && last.id == (log ? log->id : 0)) *out = last.fault;
    else *out = (u9_fault){.segment = U9_NOWHERE, .offset = U9_NOWHERE};
}
