/*
 * engine/check/salvage.c: saving what can be saved.
 *
 * The new log comes into being whole or not at all: filled as "<out>.partial", closed, read back, renamed.
 */
#include "engine/check/atomic_dir.h"
#include "engine/check/checker.h"
#include "engine/log/handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Appends the records of one frame as one batch. U9_ARG: no log takes them. */
static u9_err append_records(u9i_checker *c, const uint8_t *next, size_t left, uint32_t count,
                             u9_fault *fault)
{
    if (c->out == NULL || count == 0) return U9_OK;
    if (count > c->room) {
        u9_entry *more = realloc(c->entries, count * sizeof *more);
        if (more == NULL)
            return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = c->source->path), "out of memory");
        c->entries = more;
        c->room = count;
    }
    u9i_record r;
    size_t n = 0;
    while (n < count && u9i_record_next(&next, &left, &r) == U9_OK)
        c->entries[n++] = (u9_entry){.key = {.data = r.key, .size = r.key_size}, .values = r.values,
                                     .size = r.values_size};
    u9_err err = u9_log_append_batch(c->out, c->entries, n, NULL);
    if (err != U9_OK) u9_log_fault(c->out, fault ? fault : &(u9_fault){0});
    if (err == U9_OK) c->saved += n;
    return err;
}

/*
 * A record may be served and yet be none to append, with nested values that are not well-formed [B-2] or a key of
 * another kind: it is told as lost, and the rest is saved.
 */
u9_err u9i_checker_save(u9i_checker *c, u9_fault *fault)
{
    const u9i_reader *r = &c->reader;
    const u9i_facts *f = u9i_reader_facts(r);
    u9_err err = append_records(c, r->body.bytes, r->body.size, r->count, fault);
    if (err != U9_ARG) return err;
    char path[4400];
    u9i_damage_site site = {.verdict = U9_V_CORRUPT, .reason = U9_R_BODY, .begin = r->frame->offset,
                            .end = r->frame->end, .ordinal = r->frame->trailer.ordinal,
                            .lost = r->count};
    u9_damage d = u9i_source_damage(c->source, f, &site, path, sizeof path);
    u9i_checker_note(c, &d);
    return U9_OK;
}

u9_err u9i_checker_save_beyond(u9i_checker *c, u9i_segment *segment, uint64_t from, u9_fault *fault)
{
    u9i_iterator it; /* for its file and window only */
    u9_err err = u9i_source_iterate(c->source, segment, NULL, false, &it, fault);
    if (err != U9_OK) return err;
    u9i_frame f;
    u9i_reader *r = &c->reader;
    size_t need;
    while ((err = u9i_window_find(it.window, from, it.judge.size, &f)) == U9_OK) {
        from = f.end;
        r->count = f.trailer.count;
        if (u9i_body_open(&f, r->scratch, U9I_BODY_MAX, &need, &r->body) != U9_OK ||
            r->body.kind != U9I_BODY_RECORDS || u9i_reader_prove(r) != U9_OK)
            continue; /* the count is not believed before the body is proven */
        err = append_records(c, r->body.bytes, r->body.size, r->count, fault);
        if (err != U9_OK && err != U9_ARG) break;
    }
    if (err == U9_IO && it.window->sys) err = u9i_source_fault(c->source, &it, err, fault);
    u9i_iterator_close(&it);
    return err == U9_END ? U9_OK : err;
}

/* Reads the new log once more: what was saved must be there, and nothing else. */
static u9_err prove_salvaged(const char *out_path, const char *io, uint64_t saved, u9_fault *fault)
{
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = io};
    u9_err err = u9i_check_log(out_path, NULL, &o, &report, NULL, fault);
    if (err != U9_OK) return err;
    if (report.verdict == U9_V_CLEAN && report.records == saved && report.closed) return U9_OK;
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = out_path),
                     "the new log does not read back as it was written");
}

/* Fills `partial` with what can be saved, and proves it. */
static u9_err salvage_into(const char *path, const char *partial, const u9_options *o,
                           const u9_check_options *options, u9_report *report, uint64_t *saved,
                           u9_fault *fault)
{
    u9_log *out;
    u9_err err = u9_log_open(partial, o, &out, fault);
    if (err != U9_OK) return err;
    err = u9i_check_log(path, out, options, report, saved, fault);
    u9_err closed = u9_log_close(out, err == U9_OK ? fault : NULL);
    if (err == U9_OK) err = closed;
    return err == U9_OK ? prove_salvaged(partial, o->io, *saved, fault) : err;
}

/* The source's key kind, and its env; that it can be opened is asked before anything is made. */
static u9_err look_at_source(const char *path, const char *io, char kind[U9I_KIND_MAX + 1],
                             u9i_env **env, u9_fault *fault)
{
    u9_options reading = {.size = sizeof reading, .mode = U9_READ, .io = io};
    u9_log *source;
    u9_err err = u9_log_open(path, &reading, &source, fault);
    if (err != U9_OK) return err;
    memcpy(kind, source->kind, U9I_KIND_MAX + 1);
    *env = source->source.dir->env;
    return u9_log_close(source, NULL);
}

static u9_err refuse_existing(u9i_env *env, const char *out_path, u9_fault *fault)
{
    u9i_dir *there;
    if (out_path == NULL || out_path[0] == 0)
        return u9i_fault(fault, U9_ARG, U9I_AT(), "the path of the new log is empty");
    int sys = u9i_dir_open(env, out_path, false, &there);
    if (sys == -ENOENT) return U9_OK;
    if (sys == 0) u9i_dir_close(there);
    return u9i_fault(fault, U9_ARG, U9I_AT(.path = out_path, .sys = sys ? -sys : EEXIST),
                     "the new log must not exist yet");
}

u9_err u9_salvage(const char *path, const char *out_path, const u9_check_options *options,
                  u9_report *report, uint64_t *salvaged, u9_fault *fault)
{
    uint64_t saved = 0;
    char kind[U9I_KIND_MAX + 1];
    const char *io = u9i_check_io(options);
    u9i_env *env;
    u9_err err = look_at_source(path, io, kind, &env, fault);
    if (err == U9_OK) err = refuse_existing(env, out_path, fault);
    if (err != U9_OK) return err;
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .policy = U9_POLICY_NONE, .io = io,
                    .kind = kind};
    char *partial = u9i_atomic_dir_name(out_path);
    if (partial == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = out_path), "out of memory");
    err = u9i_atomic_dir_begin(env, partial, path, fault);
    if (err == U9_OK) err = salvage_into(path, partial, &o, options, report, &saved, fault);
    int sys = err == U9_OK ? u9i_atomic_dir_keep(env, partial) : 0;
    if (sys != 0)
        err = u9i_fault(fault, U9_IO, U9I_AT(.path = out_path, .sys = -sys),
                        "cannot give the new log its name");
    free(partial);
    if (salvaged) *salvaged = saved;
    return err;
}
