/*
 * engine/write/writer.c: see writer.h: the session, and what is durable. [W-1] [W-2] [W-4] [W-5]
 */
#include "engine/write/writer_parts.h"

#include "engine/os/process.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

void u9i_writer_check(const u9i_writer *w)
{
    if (w->poison.err != U9_OK) return; /* it stands as the failure left it */
    assert(w->count > 0 || w->body_size == 0);
    assert(w->durable.ordinal <= w->end.ordinal);
    if (!w->started) {
        assert(w->out.file == NULL || w->count == 0);
        return;
    }
    assert(w->out.file != NULL && w->out.file != w->next.file); /* a second one only during a roll */
    assert(w->end.offset == u9i_stream_position(&w->stream) || w->end.offset % U9I_BLOCK != 0);
    assert(w->durable.offset <= w->end.offset && w->promised <= w->durable.offset);
    assert(w->previous < w->end.offset && w->end.offset <= w->out.reserved);
    assert(!w->stream.syncing || w->syncing.offset <= w->end.offset);
}

u9_err u9i_writer_poison(u9i_writer *w, int sys, const char *what, u9_fault *fault)
{
    if (w->poison.err == U9_OK) {
        char path[4400], name[20];
        u9i_segment_name(w->out.number, name);
        size_t n = strlen(w->path);
        memcpy(path, w->path, n);
        path[n] = '/';
        memcpy(path + n + 1, name, sizeof name);
        (void)u9i_fault(&w->poison, U9_POISONED, U9I_AT(.path = path, .sys = -sys, .rule = "W-6"),
                        "%s failed: nothing more is accepted", what);
    }
    if (fault) *fault = w->poison;
    return U9_POISONED;
}

/* The caller's, else that of the log where it lies, else one for this session alone. [I-22] */
static bool take_medallion(u9i_writer *w, uint64_t given)
{
    uint8_t machine[U9I_MACHINE_SIZE];
    u9i_stamp place;
    uint64_t r = 0;
    w->medallion = given;
    if (given != 0) return true;
    if (u9i_machine(w->env, machine) && u9i_dir_stat(w->dir, ".", &place) == 0) {
        w->medallion = u9i_keygen_medallion(w->plan.log, machine, place.identity);
        return true;
    }
    if (!u9i_random(w->env, &r, sizeof r)) return false;
    w->medallion = (UINT64_C(1) << 40) + (r & ((UINT64_C(1) << 40) - 1)); /* [2^40, 2^41) */
    return true;
}

void u9i_writer_take_plan(u9i_writer *w)
{
    const u9i_plan *p = &w->plan;
    w->end = p->end;
    w->durable = p->end;
    w->time_us = p->time_us;
    w->out.number = p->number;
    w->totals = (u9i_end_record){.segment = p->number};
    if (!p->goes_on) {
        w->end.offset = w->durable.offset = 0;
        return;
    }
    w->previous = p->previous;
    w->totals = p->totals;
    w->totals.frames++; /* the u9end itself */
    w->totals.first_key.size = p->keys.size[0];
    w->totals.last_key.size = p->keys.size[1];
    memcpy(w->first_key, p->keys.key[0], p->keys.size[0]);
    memcpy(w->last_key, p->keys.key[1], p->keys.size[1]);
}

/* The log's key kind: what it has, or for a new one what is asked for. [L-6] */
static u9_err take_kind(u9i_writer *w, const u9_options *o, u9_fault *fault)
{
    const char *asked = o->kind && o->kind[0] ? o->kind : NULL;
    if (w->plan.kind[0] == 0 && strlen(asked ? asked : "muid") < sizeof w->plan.kind)
        memcpy(w->plan.kind, asked ? asked : "muid", strlen(asked ? asked : "muid") + 1);
    u9_err err = asked ? u9_kind_check(asked, strlen(asked), NULL) : U9_OK;
    if (err != U9_OK)
        return u9i_fault(fault, err, U9I_AT(.path = w->path, .rule = "L-6"),
                         "'%.100s' is no key kind", asked);
    if (asked && strcmp(w->plan.kind, asked) != 0)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = w->path, .rule = "L-6"),
                         "the log's keys are of kind '%.80s', not '%.80s'", w->plan.kind, asked);
    return u9i_keygen_init(&w->keygen, w->env, w->plan.kind, w->plan.time_us, o, fault);
}

u9_err u9i_writer_open(u9i_writer *w, u9i_dir *dir, const char *path, const u9i_plan *plan,
                       const u9_options *options, u9_fault *fault)
{
    memset(w, 0, sizeof *w);
    w->dir = dir;
    w->env = dir->env;
    w->lz4 = options->lz4 != 0;
    w->segment_size = u9i_segment_size(options);
    w->plan = *plan;
    if (strlen(path) >= sizeof w->path)
        return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = path), "the path is too long");
    memcpy(w->path, path, strlen(path) + 1);
    u9_err err = take_kind(w, options, fault);
    if (err != U9_OK) return err;
    if (!take_medallion(w, options->medallion) || !u9i_random(w->env, w->session, sizeof w->session)) {
        u9i_keygen_release(&w->keygen);
        return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = errno),
                         "the system has no randomness");
    }
    u9i_writer_take_plan(w);
    w->frame = u9i_pages(U9I_FRAME_ROOM);
    w->packed = w->lz4 ? u9i_pages(U9I_PACKED_ROOM) : NULL;
    int sys = w->frame == NULL || (w->lz4 && w->packed == NULL) ? -ENOMEM
                                                                : u9i_stream_init(&w->stream, w->env);
    dir->writing = sys == 0;
    if (sys == 0) return U9_OK;
    u9i_writer_release(w);
    return u9i_fault(fault, sys == -ENOMEM ? U9_NOMEM : U9_IO, U9I_AT(.path = path, .sys = -sys),
                     "cannot set up writing");
}

void u9i_writer_release(u9i_writer *w)
{
    u9i_stream_release(&w->stream);
    if (w->out.file) u9i_file_close(w->out.file);
    if (w->next.file) u9i_file_close(w->next.file);
    u9i_keygen_release(&w->keygen);
    u9i_pages_free(w->frame, U9I_FRAME_ROOM);
    u9i_pages_free(w->packed, U9I_PACKED_ROOM);
    w->frame = w->packed = NULL;
    w->out.file = w->next.file = NULL;
}

/* Seals the frame if there are records in it. */
static u9_err seal_records(u9i_writer *w, u9_fault *fault)
{
    return w->count > 0 ? u9i_writer_seal(w, fault) : U9_OK;
}

/* What the finished sync covered is durable now. */
static u9_err sync_done(u9i_writer *w, u9_fault *fault)
{
    if (w->names_dirty) {
        int failed = u9i_dir_sync(w->dir); /* [W-4] */
        if (failed != 0) return u9i_writer_poison(w, failed, "syncing the directory", fault);
        w->names_dirty = false;
    }
    int sys = u9i_writer_find_name(w, &w->out); /* nothing is acknowledged into the void [W-6] */
    if (sys != 0)
        return u9i_writer_poison(w, sys, "a sync of a file whose name was removed or given to another", fault);
    w->durable = w->syncing;
    w->out.fresh = false;
    u9i_writer_give_back(w);
    w->synced_us = u9i_monotonic_us(w->env);
    u9i_writer_check(w);
    return U9_OK;
}

/* Waits for the sync under way, if any. */
static u9_err sync_wait(u9i_writer *w, u9_fault *fault)
{
    int sys = u9i_stream_sync_end(&w->stream);
    if (sys != 0) return u9i_writer_poison(w, sys, "a write or sync", fault);
    return u9i_stream_took_sync(&w->stream) ? sync_done(w, fault) : U9_OK;
}

u9_err u9i_writer_sync_begin(u9i_writer *w, u9_fault *fault)
{
    if (w->poison.err != U9_OK) return u9i_writer_poison(w, 0, "", fault);
    if (!w->started || (w->count == 0 && w->first_us == 0)) return U9_OK;
    u9_err err = sync_wait(w, fault);
    if (err == U9_OK) err = seal_records(w, fault);
    if (err != U9_OK) return err;
    int sys = u9i_stream_sync_begin(&w->stream);
    if (sys != 0) return u9i_writer_poison(w, sys, "a write or sync", fault);
    w->syncing = w->end;
    w->first_us = 0;
    u9i_writer_check(w);
    return U9_OK;
}

u9_err u9i_writer_sync(u9i_writer *w, u9_fault *fault)
{
    u9_err err = u9i_writer_sync_begin(w, fault);
    return err == U9_OK ? sync_wait(w, fault) : err;
}

u9_err u9i_writer_sync_frames(u9i_writer *w, u9_fault *fault)
{
    u9_err err = u9i_writer_sync(w, fault);
    if (err != U9_OK || w->durable.offset == w->end.offset) return err;
    w->first_us = u9i_monotonic_us(w->env);
    return u9i_writer_sync(w, fault);
}

u9_err u9i_writer_poll(u9i_writer *w, u9_fault *fault)
{
    if (w->poison.err != U9_OK) return u9i_writer_poison(w, 0, "", fault);
    if (!w->started) return U9_OK;
    int sys = u9i_stream_poll(&w->stream);
    if (sys != 0) return u9i_writer_poison(w, sys, "a write or sync", fault);
    return u9i_stream_took_sync(&w->stream) ? sync_done(w, fault) : U9_OK;
}

bool u9i_writer_owes_promise(const u9i_writer *w)
{
    return w->started && w->poison.err == U9_OK && w->durable.offset > w->promised;
}

u9_err u9i_writer_promise(u9i_writer *w, u9_fault *fault)
{
    if (!u9i_writer_owes_promise(w)) return U9_OK;
    u9_err err = u9i_writer_seal(w, fault); /* records that wait may as well carry it */
    if (err != U9_OK) return err;
    int sys = u9i_stream_pad(&w->stream);
    return sys ? u9i_writer_poison(w, sys, "a write", fault) : U9_OK;
}

uint64_t u9i_writer_behind(const u9i_writer *w)
{
    return w->started ? w->end.offset + w->body_size - w->durable.offset : 0;
}

bool u9i_writer_mark(const u9i_writer *w, u9i_mark_record *out)
{
    if (!w->started || w->durable.offset == 0) return false;
    *out = (u9i_mark_record){.first_ordinal = w->plan.first_ordinal, .segment = w->out.number,
                             .end = w->durable, .time_us = u9i_wall_us(w->env)};
    memcpy(out->log, w->plan.log, sizeof out->log);
    memcpy(out->boundary, w->out.secret.boundary, sizeof out->boundary);
    memcpy(out->secret, w->out.secret.bytes, sizeof out->secret);
    return true;
}

u9_err u9i_writer_create(u9i_writer *w, u9_fault *fault)
{
    u9_err err = u9i_writer_start(w, fault);
    return err == U9_OK ? u9i_writer_sync(w, fault) : err;
}

/* A frame, a file and space for `total` more bytes of records in one frame. */
static u9_err make_room(u9i_writer *w, uint64_t total, u9_fault *fault)
{
    u9_err err = U9_OK;
    uint64_t alone = u9i_frame_size((size_t)total + U9I_MASK_HEAD) + U9I_WRITER_SLACK;
    if (!w->started) err = u9i_writer_start(w, fault);
    if (err == U9_OK && w->count > 0 && w->body_size + total > U9I_BODY_TARGET) err = u9i_writer_seal(w, fault);
    if (err == U9_OK && w->count == 0 && u9i_stream_position(&w->stream) >= w->segment_size)
        err = u9i_writer_roll(w, alone, fault);
    if (err == U9_OK)
        err = u9i_writer_reserve(w, &w->out,
                      u9i_stream_position(&w->stream) +
                          u9i_frame_size(w->body_size + (size_t)total + U9I_MASK_HEAD) + U9I_WRITER_SLACK,
                      fault);
    if (err == U9_OK && w->count == 0) err = u9i_writer_begin_frame(w, fault);
    return err;
}

u9_err u9i_writer_append(u9i_writer *w, const u9_entry *entries, size_t count, u9_place *places,
                         u9_fault *fault)
{
    uint64_t total;
    if (w->poison.err != U9_OK) return u9i_writer_poison(w, 0, "", fault);
    u9_err err = u9i_writer_measure(w, entries, count, &total, fault);
    if (err != U9_OK) return err;
    bool first = !w->started;
    err = make_room(w, total, fault);
    if (err == U9_OK && w->first_us == 0) w->first_us = u9i_monotonic_us(w->env);
    if (err == U9_OK) err = u9i_writer_put(w, entries, count, places, fault);
    if (err != U9_OK && first && w->poison.err == U9_OK && w->stream.sent == 0) {
        u9i_writer_unstart(w); /* [W-6] */
        u9i_writer_take_plan(w);
    }
    u9i_writer_check(w);
    if (err != U9_OK || w->body_size < U9I_BODY_TARGET) return err;
    /* The records are in; a failure from here on poisons, and is told by the next call. */
    u9_fault later;
    (void)!u9i_writer_seal(w, &later);
    return U9_OK;
}

u9_err u9i_writer_append_alone(u9i_writer *w, const u9_entry *entries, size_t count, u9_fault *fault)
{
    u9_fault later; /* of a failure behind the append, as above */
    if (w->poison.err != U9_OK) return u9i_writer_poison(w, 0, "", fault);
    u9_err err = seal_records(w, fault);
    if (err == U9_OK) err = u9i_writer_append(w, entries, count, NULL, fault);
    if (err == U9_OK) (void)!seal_records(w, &later);
    return err;
}

u9_err u9i_writer_append_body(u9i_writer *w, const uint8_t *body, size_t size, uint32_t count, bool lz4,
                              u9_fault *fault)
{
    u9_fault later; /* of a failure behind the append, as above */
    if (w->poison.err != U9_OK) return u9i_writer_poison(w, 0, "", fault);
    u9_err err = u9i_writer_count_up(w, count, fault);
    if (err == U9_OK) err = seal_records(w, fault);
    if (err == U9_OK) err = make_room(w, size, fault);
    if (err != U9_OK) return err;
    if (w->first_us == 0) w->first_us = u9i_monotonic_us(w->env);
    u9i_writer_put_body(w, body, size);
    assert(w->count == count);
    w->lz4 = lz4 && w->packed != NULL;
    (void)!u9i_writer_seal(w, &later);
    w->lz4 = w->packed != NULL;
    u9i_writer_check(w);
    return U9_OK;
}

u9_err u9i_writer_close(u9i_writer *w, u9_fault *fault)
{
    u9_err err = U9_OK;
    if (w->poison.err != U9_OK) err = u9i_writer_poison(w, 0, "", fault);
    else if (w->started) {
        err = u9i_writer_sync_frames(w, fault);
        if (err == U9_OK) err = u9i_writer_end(w, U9I_END_CLOSING, fault);
    }
    u9i_stream_release(&w->stream);
    if (w->poison.err != U9_OK) u9i_writer_drop_blank(w);
    u9i_writer_release(w);
    return err;
}
