/*
 * engine/log/log.c: the handle of a log: opening, making it, who waits, and the task that syncs what nobody commits
 * and marks what is durable. [W-1] [W-5] [M-5] [M-6]
 *
 * Threads: the writer has its own lock, which is never held while one waits for log->lock; that guards the marker.
 */
#include "engine/log/handle.h"
#include "engine/log/large.h"
#include "engine/log/live.h"
#include "engine/log/resume.h"
#include "engine/log/tiered.h"
#include "engine/os/event.h"
#include "engine/os/store.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INTERVAL_MS_MAX = 1000,    /* [W-5] oldest unsynced record */
    MEMORY_MIN = 4 << 20,
    MEMORY_MAX = 1 << 30,
    INDEX_MEMORY_MIN = 1 << 20,
    PROMISE_US = 500000,       /* [W-5] from a sync to the frame that promises it */
    MARK_US = 500000,          /* [M-5] from one mark to the next */
    TICK_US = 50000,           /* how finely these are watched */
    GRANTS_MAX = 3             /* [I-23] for one append */
};

#define INDEX_MEMORY_MAX (UINT64_C(16) << 30)

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

u9_err u9i_log_tell(const u9_log *log, u9_err err, const u9_fault *fault)
{
    last.id = log ? log->id : 0;
    last.fault = *fault;
    return err;
}

/* A host built with an earlier version has a shorter u9_options: what is not there is zero. */
bool u9i_options_known(const u9_options *o)
{
    return o->size == sizeof *o || o->size == offsetof(u9_options, verify) || o->size == offsetof(u9_options, keep_bytes) ||
           o->size == offsetof(u9_options, generator_given) ||
           o->size == offsetof(u9_options, kind);
}

static const char *wrong_in(const u9_options *o)
{
    if (o->mode > U9_CREATE) return "options.mode is none of u9_mode";
    if (o->policy > U9_POLICY_NONE) return "options.policy is none of u9_policy";
    if (o->segment_size != 0 && o->segment_size < 65536) return "options.segment_size is below 64 KiB";
    if (o->segment_size >= U9I_SEGMENT_MAX / 2) return "options.segment_size is above 2^42 bytes";
    if (o->medallion >= U9_MUID_MEDALLION_MAX) return "options.medallion is out of range";
    if (o->interval_ms > INTERVAL_MS_MAX) return "options.interval_ms is above 1000";
    if (o->memory != 0 && (o->memory < MEMORY_MIN || o->memory > MEMORY_MAX)) return "options.memory is not 4 MiB to 1 GiB";
    if (o->verify > U9_VERIFY_NEVER) return "options.verify is none of u9_verify";
    if (o->index_memory != 0 && (o->index_memory < INDEX_MEMORY_MIN || o->index_memory > INDEX_MEMORY_MAX))
        return "options.index_memory is not 1 MiB to 16 GiB";
    if (o->mend != 0 && o->mode > U9_READ) return "options.mend is for readers";
    bool asks = o->mode > U9_READ && o->kind && o->kind[0];
    return asks && u9_kind_check(o->kind, strlen(o->kind), NULL) != U9_OK ? "options.kind is no key kind" : NULL;
}

/* Nothing is made, nor looked at, by options that cannot be. *out: all of them. */
static u9_err take_log_options(const char *path, const u9_options *o, u9_options *out, u9_fault *fault)
{
    const char *wrong = path == NULL || path[0] == 0 ? "the path is empty"
                        : !u9i_options_known(o)     ? "options.size is not sizeof(u9_options)"
                                                      : NULL;
    memset(out, 0, sizeof *out);
    if (wrong == NULL) memcpy(out, o, o->size);
    if (wrong == NULL) wrong = wrong_in(out);
    if (wrong) return u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "%s", wrong);
    if (out->mode == 0) out->mode = U9_READ;
    wrong = out->mode > U9_READ ? u9i_keygen_wrong(out) : NULL;
    return wrong ? u9i_fault(fault, U9_ARG, U9I_AT(.path = path, .rule = "I-23"), "%s", wrong) : U9_OK;
}

static u9_err open_source(u9_log *log, const char *path, u9_fault *fault)
{
    u9i_env *env;
    u9_fault why;
    u9_err err = u9i_env_of(log->options.io, &path, &env, &why);
    if (err != U9_OK) return u9i_fault(fault, err, U9I_AT(.path = path), "%s", why.text);
    err = u9i_source_open(&log->source, env, path, log->options.mode == U9_CREATE, fault);
    log->source.windows.verify = log->options.verify;
    return err == U9_OK && log->options.mode == U9_READ ? u9i_tiered_open(&log->source.dir, path, fault) : err;
}

/* Nothing in a catalog, or nothing in it that is a segment: no log. */
static u9_err refuse_no_log(const u9_log *log, const u9i_catalog *catalog, u9_fault *fault)
{
    const char *path = log->source.path;
    if (!log->source.dir->single[0] && catalog->missing_count > 0) return U9_OK; /* its mark, or a segment, says that it is one */
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

static bool is_ticking(const u9_log *log)
{
    return __atomic_load_n(&log->ticking, __ATOMIC_SEQ_CST);
}

/* What holds of every handle while its lock is held. */
static void log_check(const u9_log *log)
{
    assert(log->source.dir != NULL && (log->writing || !is_ticking(log)));
    assert(!log->writing || log->writer.dir == log->source.dir);
}

/* Something durable is not marked yet, nor about to be. */
static bool wants_mark(u9_log *log, u9i_mark_record *mark)
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

/* [W-5] What nobody commits is synced when it is so old. */
static uint64_t interval_us(const u9_log *log)
{
    return (log->options.interval_ms ? log->options.interval_ms : INTERVAL_MS_MAX) * 1000;
}

/* When the ticker is to look again. */
static uint64_t next_tick(const u9_log *log)
{
    uint64_t us = interval_us(log) < TICK_US ? interval_us(log) : TICK_US;
    return u9i_monotonic_us(log->writer.env) + us;
}

/* What is durable has moved: other handles can see it, */
static void post_durable(void *ctx)
{
    u9i_live_post(ctx);
}

/* and who asked for it is told. */
static void tell_durable(void *ctx)
{
    u9_log *log = ctx;
    int fd = __atomic_load_n(&log->event_fd, __ATOMIC_ACQUIRE);
    if (fd >= 0) u9i_event_signal(fd);
    if (log->options.on_durable) log->options.on_durable(log->options.on_durable_ctx, u9i_writer_durable(&log->writer));
}

/* The writer's witness: its new segment is durable, and marked before the old one is sealed. [M-5] */
static u9_err mark_now(void *ctx, const u9i_mark_record *mark)
{
    u9_log *log = ctx;
    if (pthread_mutex_trylock(&log->lock) != 0) return U9_AGAIN; /* a task waits for no lock that is held over calls */
    u9_err err = U9_OK;
    if (u9i_marker_wants(&log->marker, mark)) err = u9i_marker_write(&log->marker, mark, NULL);
    else err = u9i_marker_wait(&log->marker, NULL);
    log->marked_us = u9i_monotonic_us(log->writer.env);
    pthread_mutex_unlock(&log->lock);
    return err;
}

/* Submits the ticker, from an append on. */
static void watch(u9_log *log)
{
    if (!is_ticking(log) && !__atomic_exchange_n(&log->ticking, true, __ATOMIC_SEQ_CST))
        u9i_task_submit(log->writer.env, &log->ticker, next_tick(log));
}

void u9i_log_watch(u9_log *log)
{
    watch(log);
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
    return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys),
                     "cannot sync the directory above");
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
        return u9i_fault(fault, U9_IO,
                         U9I_AT(.path = log->source.path, .sys = -sys, .rule = "M-3"),
                         "cannot read the log's mark");
    u9i_marker_init(&log->marker, log->source.dir, log->source.path, &mark, plan->log);
    log->writer.witness = mark_now;
    log->writer.witness_ctx = log;
    log->writer.posts = post_durable;
    log->writer.told = tell_durable;
    log->writer.told_ctx = log;
    if (plan->before_segment != 0) return U9_OK;
    if (log->options.mode == U9_CREATE) return create_log(log, fault);
    return u9i_fault(fault, U9_ABSENT, U9I_AT(.path = log->source.path, .rule = "M-6"),
                     "no log is here, and it was opened to go on with one, not to make one");
}

static u9_err open_writing(u9_log *log, bool explains, uint64_t time_us, u9_fault *fault)
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
    log->writer.given_us = time_us;
    log->begins_at = plan.end.ordinal;
    err = begin_session(log, &plan, fault);
    if (err == U9_OK) {
        u9i_retain_begin(log);
        if (log->writer.started) watch(log); /* a log that was just made owes a promise [W-5] */
        return err;
    }
    u9i_live_end(log);
    u9i_marker_release(&log->marker);
    u9i_writer_release(&log->writer);
    return err;
}

/* Goes on with the mark; true if there is more to come. */
static bool tick_marker(u9_log *log)
{
    u9i_mark_record mark;
    if (pthread_mutex_trylock(&log->lock) != 0) return true; /* it is marked just now */
    tick_mark(log);
    bool more = log->marker.stage != U9I_MARKER_IDLE || wants_mark(log, &mark);
    log_check(log);
    pthread_mutex_unlock(&log->lock);
    return more;
}

/* Watches until all is durable, promised, marked. The writer's lock is its guard. */
static void run_ticker(void *ctx)
{
    u9_log *log = ctx;
    u9i_writer *w = &log->writer;
    bool more = u9i_writer_tick(w, interval_us(log), PROMISE_US);
    u9i_writer_unlock(w);
    more |= tick_marker(log);
    more |= u9i_retain_tick(log);
    if (!more) { /* who appends from here on submits it; who did meanwhile is seen */
        __atomic_store_n(&log->ticking, false, __ATOMIC_SEQ_CST);
        more = u9i_writer_waits(w) && !__atomic_exchange_n(&log->ticking, true, __ATOMIC_SEQ_CST);
    }
    if (more) u9i_task_submit(w->env, &log->ticker, next_tick(log));
    u9i_writer_lock(w);
    u9i_writer_rest(w);
}

static void free_log(u9_log *log)
{
    if (log->lookups) log->forget_lookups(log);
    if (log->source.dir) u9i_source_close(&log->source);
    if (log->event_fd >= 0) u9i_event_close(log->event_fd);
    if (!u9i_log_forked(log)) { /* in a child somebody may hold them forever */
        pthread_mutex_destroy(&log->lock);
        pthread_mutex_destroy(&log->trim_lock);
        pthread_mutex_destroy(&log->writer.lock);
    }
    free(log);
}

/* In which way a log is opened. */
typedef enum opening { PLAINLY, MENDING, EXPLAINING, COPYING } opening;

/* COPYING: `time_us` is the time of its first frame. */
static u9_err open_handle(const char *path, const u9_options *o, opening how, uint64_t time_us, u9_log **out, u9_fault *fault)
{
    static uint64_t opened;
    if (out == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "an argument is NULL");
    u9_options all;
    u9_err err = take_log_options(path, o, &all, fault);
    if (err != U9_OK) return err;
    u9_log *log = calloc(1, sizeof *log);
    if (log == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = path), "out of memory");
    pthread_mutex_init(&log->lock, NULL);
    pthread_mutex_init(&log->trim_lock, NULL);
    log->options = all;
    log->writing = log->options.mode != U9_READ;
    log->event_fd = -1;
    log->id = __atomic_add_fetch(&opened, 1, __ATOMIC_RELAXED);
    log->generation = u9i_fork_generation();
    log->ticker = (u9i_task){.run = run_ticker, .ctx = log, .guard = &log->writer.lock};
    err = open_source(log, path, fault);
    log->source.mends = how == MENDING;
    log->source.mends_frames = how == MENDING || log->options.mend != 0;
    if (err == U9_OK) err = log->writing ? open_writing(log, how == EXPLAINING, time_us, fault) : open_reading(log, fault);
    if (err != U9_OK) {
        free_log(log);
        return err;
    }
    if (u9i_kind_parse(log->kind, strlen(log->kind), &log->keys, NULL) != U9_OK) log->keys = (u9i_kind){.type = 0};
    log->keyspec = u9i_keyspec_of(log->kind, 0);
    *out = log;
    return U9_OK;
}

u9_err u9_log_open(const char *path, const u9_options *options, u9_log **out, u9_fault *fault)
{
    static const u9_options reading = {.size = sizeof reading, .mode = U9_READ};
    return open_handle(path, options ? options : &reading, PLAINLY, 0, out, fault);
}

u9_err u9i_log_open_mending(const char *path, const u9_options *options, u9_log **out, u9_fault *fault)
{
    return open_handle(path, options, MENDING, 0, out, fault);
}

u9_err u9i_log_open_explaining(const char *path, const u9_options *options, u9_log **out, u9_fault *fault)
{
    return open_handle(path, options, EXPLAINING, 0, out, fault);
}

u9_err u9i_log_open_copying(const char *path, const u9_options *options, uint64_t time_us, u9_log **out, u9_fault *fault)
{
    return open_handle(path, options, COPYING, time_us, out, fault);
}

void u9i_log_give_time(u9_log *log, uint64_t time_us)
{
    u9i_writer_lock(&log->writer);
    log->writer.given_us = time_us;
    u9i_writer_unlock(&log->writer);
}

u9_err u9_log_close(u9_log *log, u9_fault *fault)
{
    if (log == NULL) return U9_OK;
    u9_err err = U9_OK;
    bool forked = u9i_log_forked(log);
    u9i_append_leave(log);
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
        u9i_live_end(log);
        u9i_trimming_free(&log->trimming);
        u9i_marker_release(&log->marker);
    }
    free_log(log);
    return err;
}

/* A call that writes begins: refuses what is not the caller's to ask. */
static u9_err enter(const u9_log *log, u9_fault *fault)
{
    fault->err = U9_OK;
    if (log == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    bool forked = u9i_log_forked(log);
    if (!forked && log->writing) return U9_OK;
    return u9i_fault(fault, U9_STATE, U9I_AT(.path = log->source.path),
                     forked ? "the handle belongs to the parent process" : "the log was opened for reading");
}

/* It ends with `err`, of which `fault` tells if it is more than an ordinary outcome. */
static u9_err leave(const u9_log *log, u9_err err, const u9_fault *fault)
{
    return err != U9_OK && fault->err != U9_OK ? u9i_log_tell(log, err, fault) : err;
}

/* True if its fresh keys are of a number that others grant. */
static bool needs_grants(const u9_log *log)
{
    return log != NULL && log->writing && log->writer.keygen.uid8 != NULL;
}

/* Sees to it that fresh keys can be made, if any are wanted. It may wait: so without the lock. [I-23] */
static u9_err ready_keys(u9_log *log, const u9_entry *entries, size_t count)
{
    u9_fault fault;
    size_t i = 0;
    if (u9i_log_forked(log) || entries == NULL) return U9_OK; /* which is refused */
    while (i < count && entries[i].key.data != NULL) i++;
    u9_err err = i < count ? u9i_uid8keys_ready(log->writer.keygen.uid8, log->source.path, &fault) : U9_OK;
    return err == U9_OK ? err : u9i_log_tell(log, err, &fault);
}

static u9_err append_once(u9_log *log, const u9_entry *entries, size_t count, u9_place *places, bool alone)
{
    u9_fault fault;
    u9_err err = enter(log, &fault);
    if (err != U9_OK) return u9i_log_tell(log, err, &fault);
    err = alone ? u9i_writer_append_alone(&log->writer, entries, count, &fault)
                : u9i_writer_append(&log->writer, entries, count, places, &fault);
    if (err == U9_OK) watch(log);
    return leave(log, err, &fault);
}

/* A grant that was over before its keys were used is replaced. [I-23] */
static u9_err append_granted(u9_log *log, const u9_entry *entries, size_t count, u9_place *places, bool alone)
{
    if (!needs_grants(log)) return append_once(log, entries, count, places, alone);
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
    if (err != U9_OK) return u9i_log_tell(log, err, &fault);
    err = u9i_writer_append_body(&log->writer, body, size, count, lz4, &fault);
    if (err == U9_OK) watch(log);
    return leave(log, err, &fault);
}

/* One piece of work of another file's, as an append is done. */
static u9_err write_once(u9_log *log, u9i_write_fn *work, void *ctx)
{
    u9_fault fault;
    u9_err err = enter(log, &fault);
    if (err != U9_OK) return u9i_log_tell(log, err, &fault);
    err = work(&log->writer, ctx, &fault);
    if (err == U9_OK) watch(log);
    return leave(log, err, &fault);
}

u9_err u9i_log_write(u9_log *log, u9i_write_fn *work, void *ctx, bool fresh)
{
    static const u9_entry wants = {.size = 0};
    for (int tries = 1;; tries++) {
        u9_err err = fresh && needs_grants(log) ? ready_keys(log, &wants, 1) : U9_OK;
        if (err == U9_OK) err = write_once(log, work, ctx);
        if (err != U9_AGAIN || !fresh || tries == GRANTS_MAX || !u9i_keygen_wants_grant(&log->writer.keygen)) return err;
    }
}

u9_err u9_log_append(u9_log *log, const u9_key *key, const void *values, size_t size, u9_place *place)
{
    u9_entry entry = {.key = key ? *key : (u9_key){NULL, 0}, .values = values, .size = size};
    return append_granted(log, &entry, 1, place, false);
}

/* A commit of this ordinal, which must have been appended. */
static u9_err check_appended(u9_log *log, uint64_t ordinal, u9_fault *fault)
{
    if (ordinal < u9i_writer_next(&log->writer)) return U9_OK;
    return u9i_fault(fault, U9_ARG, U9I_AT(.path = log->source.path), "record %llu was not appended",
                     (unsigned long long)ordinal);
}

u9_err u9_log_commit(u9_log *log, uint64_t ordinal)
{
    u9_fault fault;
    u9_err err = enter(log, &fault);
    if (err != U9_OK) return u9i_log_tell(log, err, &fault);
    u9i_writer *w = &log->writer;
    if (ordinal < UINT64_MAX && u9i_writer_has(w, ordinal + 1)) return U9_OK;
    err = check_appended(log, ordinal, &fault);
    if (err != U9_OK) return u9i_log_tell(log, err, &fault);
    bool waits = log->options.policy == U9_POLICY_COMMIT ||
                 (log->options.policy == U9_POLICY_INTERVAL && u9i_writer_is_behind(w, interval_us(log)));
    if (!waits && !u9i_writer_is_poisoned(w)) return U9_AGAIN;
    return leave(log, u9i_writer_commit(w, ordinal + 1, &fault), &fault);
}

u9_err u9_log_commit_async(u9_log *log, uint64_t ordinal)
{
    u9_fault fault;
    u9_err err = enter(log, &fault);
    if (err == U9_OK) err = check_appended(log, ordinal, &fault);
    if (err == U9_OK) err = u9i_writer_commit_async(&log->writer, ordinal + 1, &fault);
    return err == U9_OK ? err : u9i_log_tell(log, err, &fault);
}

u9_err u9_log_stats(u9_log *log, u9_stats *out)
{
    u9_fault fault;
    u9_err err = enter(log, &fault);
    if (err == U9_OK && (out == NULL || out->size != sizeof *out))
        err = u9i_fault(&fault, U9_ARG, U9I_AT(.path = log->source.path),
                        "out is NULL, or out->size is not sizeof(u9_stats)");
    if (err != U9_OK) return u9i_log_tell(log, err, &fault);
    u9i_writer_stats(&log->writer, out);
    return U9_OK;
}

int u9_log_event_fd(u9_log *log)
{
    u9_fault unused;
    if (enter(log, &unused) != U9_OK) return -1;
    pthread_mutex_lock(&log->lock);
    if (log->event_fd < 0) {
        int fd = u9i_event_open();
        if (fd >= 0) __atomic_store_n(&log->event_fd, fd, __ATOMIC_RELEASE);
    }
    int fd = log->event_fd;
    pthread_mutex_unlock(&log->lock);
    return fd;
}

u9_err u9_log_sync(u9_log *log)
{
    u9_fault fault;
    u9_err err = enter(log, &fault);
    if (err != U9_OK) return u9i_log_tell(log, err, &fault);
    return leave(log, u9i_writer_sync(&log->writer, &fault), &fault);
}

uint64_t u9_log_durable(u9_log *log)
{
    u9_fault unused; /* nothing is told: 0 is an answer, and the next call that writes fails */
    return enter(log, &unused) == U9_OK ? u9i_writer_durable(&log->writer) : 0;
}

uint64_t u9_log_next(u9_log *log)
{
    u9_fault unused;
    return enter(log, &unused) == U9_OK ? u9i_writer_next(&log->writer) : 0;
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
