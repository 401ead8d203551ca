/*
 * engine/check/saved.c: see saved.h. [G-1] [G-5]
 */
#include "engine/check/saved.h"

#include "engine/check/atomic_dir.h"
#include "engine/log/large.h"
#include "engine/os/store.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What holds between two calls. */
static void saved_check(const u9i_saved *s)
{
    assert(s->count > 0 || !s->begun);
    assert(s->out == NULL || s->begun);
}

static u9_err no_memory(const u9i_saved *s, u9_fault *fault)
{
    return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = s->out_path), "out of memory");
}

static u9_err refuse_existing(u9i_env *env, const char *path, u9_fault *fault)
{
    u9i_dir *there;
    int sys = u9i_dir_open(env, path, false, &there);
    if (sys == -ENOENT) return U9_OK;
    if (sys == -ENOMEM) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = path), "out of memory");
    if (sys == 0) u9i_dir_close(there);
    return u9i_fault(fault, U9_ARG, U9I_AT(.path = path, .sys = sys ? -sys : EEXIST),
                     "the new log must not exist yet");
}

/* "<out>" or "<out>.fork-<number>", without the slashes that `out` may end in. */
static char *name_of(const char *out, unsigned number)
{
    size_t n = u9i_path_length(out);
    char *name = malloc(n + 24);
    if (name == NULL) return NULL;
    memcpy(name, out, n);
    name[n] = 0;
    if (number > 1) snprintf(name + n, 24, ".fork-%u", number);
    return name;
}

/* Begins the next log: its directory, marked as unfinished. */
static u9_err begin_saved(u9i_saved *s, u9_fault *fault)
{
    u9i_saved_log *more = realloc(s->logs, (s->count + 1) * sizeof *more);
    if (more == NULL) return no_memory(s, fault);
    s->logs = more;
    u9i_saved_log *l = &more[s->count++];
    *l = (u9i_saved_log){.told = {.number = (unsigned)s->count}};
    l->path = name_of(s->out_path, l->told.number);
    l->partial = l->path ? u9i_atomic_dir_name(l->path) : NULL;
    if (l->partial == NULL) return no_memory(s, fault);
    u9_err err = refuse_existing(s->env, l->path, fault);
    if (err == U9_OK) err = u9i_atomic_dir_begin(s->env, l->partial, &s->source, 1, fault);
    s->begun = err == U9_OK;
    return err;
}

u9_err u9i_saved_init(u9i_saved *s, u9_log *source, const char *out_path, const char *io, u9_fault *fault)
{
    *s = (u9i_saved){.env = source->source.dir->env, .source = source->source.path, .out_path = out_path,
                     .io = io};
    memcpy(s->kind, source->kind, sizeof s->kind);
    if (out_path == NULL || out_path[0] == 0)
        return u9i_fault(fault, U9_ARG, U9I_AT(), "the path of the new log is empty");
    u9_err err = u9i_env_beside(s->env, &s->out_path, fault);
    return err == U9_OK ? begin_saved(s, fault) : err;
}

void u9i_saved_release(u9i_saved *s)
{
    if (s->out) (void)u9_log_close(s->out, NULL);
    for (size_t i = 0; i < s->count; i++) {
        free(s->logs[i].path);
        free(s->logs[i].partial);
        free(s->logs[i].from);
    }
    free(s->logs);
    *s = (u9i_saved){.count = 0};
}

/* Its frames have the times of those that are saved. [G-1] */
static u9_err open_out(u9i_saved *s, uint64_t time_us, const u9i_record *first, u9_fault *fault)
{
    const char *like = first ? u9i_record_kind(first) : ""; /* where it is not known [L-6]; lz4: only what was compressed is */
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .policy = U9_POLICY_NONE, .lz4 = 1, .io = s->io,
                    .kind = s->kind[0] ? s->kind : like};
    return u9i_log_open_copying(s->logs[s->count - 1].partial, &o, time_us, &s->out, fault);
}

/* Notes where the first record of a log stood. */
static u9_err note_origin(u9i_saved_log *l, const u9i_source *source, const u9i_facts *facts,
                          const u9i_frame *frame, u9_fault *fault)
{
    char path[4400];
    l->from = strdup(u9i_source_path(source, facts->name, path, sizeof path));
    if (l->from == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = path), "out of memory");
    l->told.segment = facts->number;
    l->told.begin = frame->offset;
    l->told.ordinal = frame->trailer.ordinal;
    return U9_OK;
}

/* Sees to it that there is a log to append to, which knows where its first record stood. */
static u9_err make_ready(u9i_saved *s, const u9i_source *source, const u9i_facts *facts, const u9i_frame *frame,
                         const u9i_record *first, u9_fault *fault)
{
    u9_err err = s->begun ? U9_OK : begin_saved(s, fault);
    if (err == U9_OK && s->out == NULL) err = open_out(s, frame->trailer.time_us, first, fault);
    if (err == U9_OK) u9i_log_give_time(s->out, frame->trailer.time_us);
    u9i_saved_log *l = &s->logs[s->count - 1];
    if (err == U9_OK && l->from == NULL) err = note_origin(l, source, facts, frame, fault);
    return err;
}

/* What an append returned, taken in. */
static u9_err took(u9i_saved *s, const u9i_facts *facts, uint32_t count, u9_err err, u9_fault *fault)
{
    u9i_saved_log *l = &s->logs[s->count - 1];
    if (err != U9_OK) {
        u9_log_fault(s->out, fault);
        return err;
    }
    l->told.records += count;
    s->records += count;
    if (facts->secret.lost) l->told.unsigned_records += count;
    saved_check(s);
    return U9_OK;
}

u9_err u9i_saved_put(u9i_saved *s, const u9i_source *source, const u9i_facts *facts, const u9i_frame *frame,
                     const u9i_body *body, const u9i_record *first, u9_fault *fault)
{
    uint32_t count = frame->trailer.count;
    u9_err err = make_ready(s, source, facts, frame, first, fault);
    if (err != U9_OK) return err;
    return took(s, facts, count, u9i_log_append_body(s->out, body->bytes, body->size, count, body->lz4), fault);
}

u9_err u9i_saved_put_entry(u9i_saved *s, const u9i_source *source, const u9i_facts *facts, const u9i_frame *frame,
                           const u9_entry *entry, u9_fault *fault)
{
    u9_err err = make_ready(s, source, facts, frame, NULL, fault);
    if (err != U9_OK) return err;
    return took(s, facts, 1, u9_log_append_batch(s->out, entry, 1, NULL), fault);
}

u9_err u9i_saved_begin(u9i_saved *s, const u9i_source *source, const u9i_facts *facts, const u9i_frame *frame,
                       const u9i_record *first, uint64_t total, u9_append **out, u9_fault *fault)
{
    u9_err err = make_ready(s, source, facts, frame, first, fault);
    return err == U9_OK ? took(s, facts, 0, u9i_append_begin_whole(s->out, total, out), fault) : err;
}

u9_err u9i_saved_end_record(u9i_saved *s, const u9i_facts *facts, u9_append *append, u9_fault *fault)
{
    u9_err err = took(s, facts, 1, u9_append_end(append, NULL), fault);
    if (err != U9_OK) u9_append_abort(append);
    return err;
}

u9_err u9i_saved_prove(const char *path, const char *io, uint64_t records, u9_fault *fault)
{
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = io};
    u9_err err = u9_check(path, &o, &report, fault);
    if (err != U9_OK) return err;
    if (report.verdict == U9_V_CLEAN && report.records == records && report.closed) return U9_OK;
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = path), "the new log does not read back as it was written");
}

u9_err u9i_saved_end(u9i_saved *s, u9_fault *fault)
{
    if (!s->begun) return U9_OK;
    u9_err err = s->out ? U9_OK : open_out(s, 0, NULL, fault);
    if (err == U9_OK) err = u9_log_close(s->out, fault);
    s->out = NULL;
    s->begun = false;
    saved_check(s);
    const u9i_saved_log *l = &s->logs[s->count - 1];
    if (err != U9_OK || l->told.records == 0) return err; /* a session without records writes no file [W-1] */
    return u9i_saved_prove(l->partial, s->io, l->told.records, fault);
}

/* What an earlier run, which came to more branches, left unfinished behind the last one of this. */
static void drop_older(u9i_saved *s)
{
    bool more = true;
    for (unsigned number = (unsigned)s->count + 1; more; number++) {
        char *path = name_of(s->out_path, number), *partial = path ? u9i_atomic_dir_name(path) : NULL;
        more = partial && u9i_atomic_dir_drop(s->env, partial, s->source);
        free(partial);
        free(path);
    }
}

u9_err u9i_saved_keep(u9i_saved *s, u9_fault *fault)
{
    assert(!s->begun && s->count > 0);
    for (size_t i = s->count; i > 0; i--) {
        int sys = u9i_atomic_dir_keep(s->env, s->logs[i - 1].partial);
        if (sys == -ENOMEM) return no_memory(s, fault);
        if (sys != 0)
            return u9i_fault(fault, U9_IO, U9I_AT(.path = s->logs[i - 1].path, .sys = -sys),
                             "cannot give the new log its name");
    }
    drop_older(s);
    return U9_OK;
}
