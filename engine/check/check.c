/*
 * engine/check/check.c: the verdict on a whole log, and saving what can be saved. to
 */
#include "engine/log/handle.h"
#include "engine/check/atomic_dir.h"
#include "engine/read/reader.h"

#include <u9/log.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct checker {
    u9i_dir *dir;
    const char *path;
    const u9_check_options *options;
    u9_report *report;
    u9i_reader reader;
    uint64_t progress_us; /* when progress was last told */
    uint64_t done;        /* bytes of the segments that are finished */
    size_t index;         /* the segment that `done` does not yet count */
    u9_log *out;          /* salvage: the new log */
    u9_entry *entries;    /* salvage: one frame's records; grows to the largest batch */
    size_t room;
    uint64_t saved;
} checker;

static void note_damage(checker *c, const u9_damage *d)
{
    u9_report *r = c->report;
    if (d->verdict > r->verdict) r->verdict = d->verdict;
    if (d->verdict >= U9_V_UNKNOWN) {
        r->damages++;
        if (d->lost != U9_NOWHERE) r->lost += d->lost;
    }
    if (c->options->on_damage) c->options->on_damage(c->options->ctx, d);
}

static u9_err progress(checker *c, u9_fault *fault)
{
    const u9i_reader *r = &c->reader;
    if (c->options->on_progress == NULL) return U9_OK;
    for (; c->index < r->index; c->index++) c->done += r->map.segments[c->index].size;
    uint64_t now = u9i_monotonic_us(c->dir->env);
    if (now - c->progress_us < 50000) return U9_OK;
    c->progress_us = now;
    uint64_t here = r->walking ? r->walk.pos : 0;
    if (c->options->on_progress(c->options->ctx, c->done + here, c->report->bytes) == 0) return U9_OK;
    return u9i_fault(fault, U9_STATE, U9I_AT(.path = c->path), "stopped as asked");
}

static void note_key(uint8_t out[U9I_KEY_MAX], size_t *size, const u9i_record *record)
{
    memcpy(out, record->key, record->key_size);
    *size = record->key_size;
}

static void note_records(u9_report *r, const u9i_reader *reader)
{
    if (r->records == 0) {
        r->first_ordinal = reader->frame->trailer.ordinal;
        note_key(r->first_key, &r->first_key_size, &reader->first);
    }
    note_key(r->last_key, &r->last_key_size, &reader->last);
    r->records += reader->count;
    r->body_bytes += reader->body.size;
    r->stored_bytes += reader->frame->body_size;
}

static void note_frame(u9_report *r, const u9i_reader *reader)
{
    const u9i_trailer *t = &reader->frame->trailer;
    r->frames++;
    r->lz4_frames += reader->body.lz4;
    r->mask_frames += reader->body.masked;
    if (r->first_time_us == 0) r->first_time_us = t->time_us;
    r->last_time_us = t->time_us;
    if (reader->count > 0) note_records(r, reader);
}

/* Salvage: appends the records of one frame as one batch. U9_ARG: no log takes them. */
static u9_err save(checker *c, const uint8_t *next, size_t left, uint32_t count, u9_fault *fault)
{
    if (c->out == NULL || count == 0) return U9_OK;
    if (count > c->room) {
        u9_entry *more = realloc(c->entries, count * sizeof *more);
        if (more == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = c->path), "out of memory");
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
 * Salvage: the same for the reader's frame. A record may be served and yet be none to append, with nested
 * values that are not well-formed [B-2] or a key of another kind: it is told as lost, and the rest is saved.
 */
static u9_err save_frame(checker *c, u9_fault *fault)
{
    const u9i_reader *r = &c->reader;
    const u9i_facts *s = &r->map.segments[r->index];
    u9_err err = save(c, r->body.bytes, r->body.size, r->count, fault);
    if (err != U9_ARG) return err;
    char path[4400];
    u9i_damage_site site = {.verdict = U9_V_CORRUPT, .reason = U9_R_BODY, .begin = r->frame->offset,
                     .end = r->frame->end, .ordinal = r->frame->trailer.ordinal, .lost = r->count};
    u9_damage d = u9i_damage(s, u9i_catalog_path(&r->map, s, path, sizeof path), &site);
    note_damage(c, &d);
    return U9_OK;
}

/* Valid frames behind the unconfirmed end of the last segment. */
static u9_err save_beyond(checker *c, const u9i_facts *s, uint64_t from, u9_fault *fault)
{
    u9i_judge w; /* for its file and window only */
    u9_err err = u9i_judge_begin(&w, &c->reader.map, s, NULL, false, fault);
    if (err != U9_OK) return err;
    u9i_frame f;
    u9i_reader *r = &c->reader;
    size_t need;
    while ((err = u9i_window_find(&w.scan, from, w.size, &f)) == U9_OK) {
        from = f.end;
        r->count = f.trailer.count;
        if (u9i_body_open(&f, r->scratch, U9I_BODY_MAX, &need, &r->body) != U9_OK ||
            r->body.kind != U9I_BODY_RECORDS || u9i_reader_prove(r) != U9_OK)
            continue; /* the count is not believed before the body is proven */
        err = save(c, r->body.bytes, r->body.size, r->count, fault);
        if (err != U9_OK && err != U9_ARG) break;
    }
    if (err == U9_IO && w.scan.sys) err = u9i_judge_fault(&w, &c->reader.map, err, fault);
    u9i_judge_release(&w);
    return err == U9_END ? U9_OK : err;
}

/* The steps of the reader, one after the other. */
static u9_err run(checker *c, u9_fault *fault)
{
    u9i_reader *r = &c->reader;
    const u9i_facts *last = NULL;
    for (;;) {
        u9i_step step;
        u9_err err = u9i_reader_step(r, &step, fault);
        if (err == U9_OK && r->walking) last = &r->map.segments[r->index];
        if (err == U9_OK && step == U9I_STEP_END) break;
        if (err == U9_OK && step == U9I_STEP_DAMAGE) note_damage(c, &r->damage);
        if (err == U9_OK && step == U9I_STEP_FRAME) {
            note_frame(c->report, r);
            err = save_frame(c, fault);
        }
        if (err == U9_OK) err = progress(c, fault);
        if (err != U9_OK) return err;
    }
    c->report->next_ordinal = r->at.ordinal;
    c->report->closed = r->closed;
    c->report->confirmed = r->closed;
    c->report->beyond = r->beyond;
    if (c->out && last && !last->named && r->beyond > 0)
        return save_beyond(c, last, r->at.offset, fault);
    return U9_OK;
}

static u9_err begin(checker *c, u9_fault *fault)
{
    u9_report *r = c->report;
    if (r->size != sizeof *r)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = c->path),
                         "report.size is not sizeof(u9_report)");
    memset(r, 0, sizeof *r);
    r->size = sizeof *r;
    r->first_ordinal = U9_NOWHERE;
    u9_err err = u9i_reader_open(&c->reader, c->dir, c->path, fault);
    if (err != U9_OK) return err;
    c->reader.seals = true;
    const u9i_catalog *map = &c->reader.map;
    for (size_t i = 0; i < map->count; i++) r->bytes += map->segments[i].size;
    r->segments = map->count;
    memcpy(r->kind, map->kind, strlen(map->kind) + 1);
    return U9_OK;
}

/* A host built with the first version has a shorter u9_check_options: what is not there is zero. */
#define OPTIONS_FIRST offsetof(u9_check_options, io)

static u9_err take_options(const char *path, const u9_check_options *given, const u9_report *report,
                           u9_check_options *out, u9_fault *fault)
{
    *out = (u9_check_options){.size = sizeof *out};
    if (path == NULL || report == NULL ||
        (given && given->size != OPTIONS_FIRST && given->size != sizeof *given))
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "an argument is NULL, or options.size "
                                                              "is not sizeof(u9_check_options)");
    if (given) memcpy(out, given, given->size);
    return U9_OK;
}

/* A log that can be opened, or that at least has segments: else there is nothing to judge. Fills its kind. */
static u9_err look_at_log(const char *path, const char *io, char kind[U9I_KIND_MAX + 1], u9_fault *fault)
{
    u9_options reading = {.size = sizeof reading, .mode = U9_READ, .io = io};
    u9_log *log;
    u9_err err = u9_log_open(path, &reading, &log, fault);
    if (err != U9_OK) return err;
    memcpy(kind, log->kind, U9I_KIND_MAX + 1);
    return u9_log_close(log, NULL);
}

/* Checks, and salvages into c->out if there is one. */
static u9_err check(const char *path, u9_log *out, const u9_check_options *options, u9_report *report,
                    uint64_t *saved, u9_fault *fault)
{
    char unused[U9I_KIND_MAX + 1];
    u9i_env *env;
    u9_err err = look_at_log(path, options->io, unused, fault);
    if (err == U9_OK) err = u9i_env_choose(options->io, &env, fault);
    if (err != U9_OK) return err;
    checker c = {.path = path, .options = options, .report = report, .out = out};
    int sys = u9i_dir_open(env, path, false, &c.dir);
    if (sys != 0)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys), "cannot open the log");
    err = begin(&c, fault);
    if (err == U9_OK) {
        err = run(&c, fault);
        u9i_reader_release(&c.reader);
    }
    u9i_dir_close(c.dir);
    free(c.entries);
    if (saved) *saved = c.saved;
    return err;
}

u9_err u9_check(const char *path, const u9_check_options *options, u9_report *report, u9_fault *fault)
{
    u9_check_options o;
    u9_err err = take_options(path, options, report, &o, fault);
    return err == U9_OK ? check(path, NULL, &o, report, NULL, fault) : err;
}

/* Reads the new log once more: what was saved must be there, and nothing else. */
static u9_err prove(const char *out_path, const char *io, uint64_t saved, u9_fault *fault)
{
    u9_check_options o = {.size = sizeof o, .io = io};
    u9_report report = {.size = sizeof report};
    if (saved == 0) return U9_OK; /* a session without records writes no file [W-1] */
    u9_err err = check(out_path, NULL, &o, &report, NULL, fault);
    if (err != U9_OK) return err;
    if (report.verdict == U9_V_CLEAN && report.records == saved && report.closed) return U9_OK;
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = out_path),
                     "the new log does not read back as it was written");
}

/* Fills `partial` with what can be saved, and proves it. */
static u9_err salvage_into(const char *path, u9i_env *env, const char *partial, const char *kind,
                           const u9_check_options *options, u9_report *report, uint64_t *saved,
                           u9_fault *fault)
{
    int sys = u9i_atomic_dir_clear(env, partial);
    if (sys != 0)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = partial, .sys = -sys),
                         "cannot replace what an earlier run left here");
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .policy = U9_POLICY_NONE, .kind = kind,
                    .io = options->io};
    u9_log *out;
    u9_err err = u9_log_open(partial, &o, &out, fault);
    if (err != U9_OK) return err;
    err = check(path, out, options, report, saved, fault);
    u9_err closed = u9_log_close(out, err == U9_OK ? fault : NULL);
    if (err == U9_OK) err = closed;
    return err == U9_OK ? prove(partial, options->io, *saved, fault) : err;
}

/* The new log must not exist yet. */
static u9_err refuse_existing(u9i_env *env, const char *out_path, u9_fault *fault)
{
    if (out_path == NULL || out_path[0] == 0)
        return u9i_fault(fault, U9_ARG, U9I_AT(), "the path of the new log is empty");
    u9i_dir *there;
    int sys = u9i_dir_open(env, out_path, false, &there);
    if (sys == 0) u9i_dir_close(there);
    if (sys == -ENOENT) return U9_OK;
    return u9i_fault(fault, U9_ARG, U9I_AT(.path = out_path, .sys = sys ? -sys : EEXIST),
                     "the new log must not exist yet");
}

u9_err u9_salvage(const char *path, const char *out_path, const u9_check_options *options,
                  u9_report *report, uint64_t *salvaged, u9_fault *fault)
{
    uint64_t saved = 0;
    u9_check_options o;
    char kind[U9I_KIND_MAX + 1];
    u9i_env *env;
    u9_err err = take_options(path, options, report, &o, fault);
    if (err == U9_OK) err = look_at_log(path, o.io, kind, fault); /* before anything is made */
    if (err == U9_OK) err = u9i_env_choose(o.io, &env, fault);
    if (err == U9_OK) err = refuse_existing(env, out_path, fault);
    if (err != U9_OK) return err;
    char *partial = u9i_atomic_dir_name(out_path);
    if (partial == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = out_path), "out of memory");
    err = salvage_into(path, env, partial, kind, &o, report, &saved, fault);
    int sys = err == U9_OK ? u9i_atomic_dir_keep(env, partial) : 0;
    if (sys != 0)
        err = u9i_fault(fault, U9_IO, U9I_AT(.path = out_path, .sys = -sys),
                        "cannot give the new log its name");
    free(partial);
    if (salvaged) *salvaged = saved;
    return err;
}
