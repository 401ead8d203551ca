/*
 * engine/write/writer_roll.c: the files of a session: begun, rolled, sealed. [S-1] [S-5] [S-6] [M-5] [W-3] [W-6]
 *
 * Order of a roll, which recovery relies on: the old file's data are durable; the new file's u9open, which names their
 * end, is durable, and so is its name; the mark names that; only then the old file is sealed.
 *
 *     make new, submit old | records gather, hashed, for the new file ...    | laid, submitted ...
 *                          | old: written -> synced (crossing)  --> turn --> | u9open, records: synced -> task: mark, u9end
 *
 * Nobody stands still for that: while it crosses, the driver gives no frame of the new file its place, of which the
 * first is its u9open. The committer, in the background, brings it on until the new file is durable, or whoever takes
 * completions in meanwhile. Only where files are so small that the one before is not sealed yet, a roll waits.
 */
#include "engine/write/earlier.h"
#include "engine/write/writer_parts.h"

#include "format/frame/disk.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { NAP_US = 200 }; /* until a mark that could not be tried is */

static u9i_open_record before_of(uint64_t number, const u9i_secret *secret, const u9i_position *end, u9i_tail tail)
{
    u9i_open_record open = {.before_segment = number, .end = *end, .tail = tail};
    if (number == 0) return open;
    memcpy(open.before_boundary, secret->boundary, sizeof open.before_boundary);
    memcpy(open.before_secret, secret->bytes, sizeof open.before_secret);
    return open;
}

/* Turns to the file, at its end; a new one gets its disk header. [S-1] Without the lock. */
static void turn_to_file(u9i_writer *w, bool log_begins)
{
    u9i_segment_out *o = &w->out;
    w->written = w->syncing = w->durable;
    w->sync_at = U9I_DISK_HEADER_SIZE; /* soon */
    u9i_stream_turn(&w->stream, o->file, (o->end.offset + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK);
    if (o->end.offset > 0) return;
    uint8_t *header = u9i_stream_at(&w->stream, w->stream.laid.v);
    u9i_disk_encode(&o->secret, header);
    if (log_begins) u9i_hash(header, U9I_DISK_HEADER_SIZE, o->end.chain); /* [F-4] */
    (void)u9i_stream_lay(&w->stream, w->stream.laid, U9I_DISK_HEADER_SIZE); /* a failure is sticky */
    o->end.offset = U9I_DISK_HEADER_SIZE;
}

/* The u9open as the next frame, the first that goes to the file from `fill` on. */
static void put_open(u9i_writer *w, const u9i_open_record *before, u9i_place fill)
{
    u9i_open_record open = *before;
    memcpy(open.log, w->plan.log, sizeof open.log);
    memcpy(open.session, w->session, sizeof open.session);
    open.segment = w->out.number;
    open.time_us = u9i_writer_now(w);
    open.medallion = w->medallion;
    u9i_writer_begin_keys(w);
    open.kind = (u9i_span){.data = (const uint8_t *)w->plan.kind, .size = strlen(w->plan.kind)};
    w->fill = fill;
    w->padded = w->fill.pos % U9I_BLOCK == 0;
    w->placed = w->fill.pos;
    w->done = w->stream.done;
    w->reserved = w->out.reserved;
    w->scarce = false;
    w->first_us = u9i_monotonic_us(w->env);
    u9i_frame_out *f = u9i_writer_begin_frame(w, U9I_BLOCK, 0);
    u9i_out out = u9i_out_init(f->frame + U9I_FRAME_HEADER_SIZE, U9I_BLOCK);
    u9i_open_record_encode(&out, &open);
    assert(!out.failed);
    f->body_size = out.size;
    u9i_writer_seal(w, false);
    if (w->out.previous == 0) u9i_writer_put_trim(w); /* in a new file */
    __atomic_store_n(&w->started, true, __ATOMIC_RELEASE);
}

void u9i_writer_take_plan(u9i_writer *w)
{
    const u9i_plan *p = &w->plan;
    w->out = (u9i_segment_out){.dir = w->dir, .path = w->path, .number = p->number, .end = p->end, .time_us = p->time_us,
                               .totals = {.segment = p->number}};
    __atomic_store_n(&w->keyed_from, p->number, __ATOMIC_RELEASE);
    w->out.step = w->segment_size < U9I_RESERVE_STEP ? w->segment_size / U9I_BLOCK * U9I_BLOCK : U9I_RESERVE_STEP;
    if (!p->goes_on) {
        w->out.end.offset = 0;
    } else {
        w->out.previous = p->previous;
        w->out.totals = p->totals;
        w->out.totals.frames++; /* the u9end itself */
        w->out.totals.first_key.size = p->keys.size[0];
        w->out.totals.last_key.size = p->keys.size[1];
        memcpy(w->out.first_key, p->keys.key[0], p->keys.size[0]);
        memcpy(w->out.last_key, p->keys.key[1], p->keys.size[1]);
    }
    w->next = p->end.ordinal;
    w->time_us = p->time_us;
    w->durable = w->out.end;
    __atomic_store_n(&w->durable_ordinal, p->end.ordinal, __ATOMIC_RELEASE);
}

u9_err u9i_writer_start(u9i_writer *w, u9_fault *fault)
{
    const u9i_plan *p = &w->plan;
    u9i_writer_unlock(w);
    u9_err err = u9i_segment_out_open(&w->out, p->goes_on ? &p->before : NULL, w->out.end.offset + U9I_WRITER_SLACK, fault);
    if (err == U9_OK) turn_to_file(w, p->before_segment == 0);
    u9i_writer_lock(w);
    if (err != U9_OK) return err;
    u9i_open_record open = before_of(p->before_segment, &p->before, &p->end, p->tail);
    open.accepted = p->accepted;
    if (p->before_segment == 0) memcpy(open.end.chain, w->out.end.chain, sizeof open.end.chain);
    put_open(w, &open, w->stream.laid);
    return U9_OK;
}

void u9i_writer_unstart(u9i_writer *w)
{
    assert(w->poison.err == U9_OK && w->next == w->plan.end.ordinal);
    u9i_slots_forget(&w->slots);
    u9i_writer_finish_reserving(w);
    __atomic_store_n(&w->started, false, __ATOMIC_RELEASE);
    w->first_us = w->ahead = 0;
    u9i_writer_unlock(w);
    u9i_stream_turn(&w->stream, NULL, 0);
    if (w->out.fresh) {
        u9i_segment_out_drop(&w->out);
    } else {
        (void)u9i_file_truncate(w->out.file, (w->plan.end.offset + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK);
        u9i_segment_out_close(&w->out);
    }
    u9i_writer_lock(w);
    u9i_writer_take_plan(w);
}

/* The old file */

/* Of the keys that the session has, and those that were there before it. */
static int index_keys(u9i_segment_out *old, u9i_queue *queue, u9i_file_keys *k, const u9i_keys *earlier)
{
    pthread_mutex_lock(&k->lock); /* who looks something up meanwhile waits for the sorting */
    u9i_keys_sort(&k->keys);
    pthread_mutex_unlock(&k->lock);
    return u9i_segment_out_index(old, queue, earlier, &k->keys); /* nobody changes them any more */
}

/* Its index, if all its keys are known or can be read, and there is room for it. 0 or a negative errno. */
static int index_file(u9i_writer *w, u9i_segment_out *old, u9i_queue *queue)
{
    u9i_keys earlier = {.count = 0};
    const u9i_plan *p = &w->plan;
    u9i_file_keys *k = &w->keys[w->keys_now ^ 1];
    bool known = !k->keys.partial && k->number == old->number;
    if (known && !k->whole) known = u9i_earlier_keys(old, &p->end, p->totals.records, &k->keys, k->keys.memory, &earlier);
    int sys = known ? index_keys(old, queue, k, k->whole ? NULL : &earlier) : 0;
    u9i_keys_close(&earlier);
    return sys;
}

/* The index and the u9end of the old file, which is closed. 0 or a negative errno. */
static int seal_file(u9i_writer *w, u9i_segment_out *old)
{
    u9i_queue *queue;
    if (u9i_queue_open(w->env, NULL, 0, 0, &queue) != 0) return 0; /* unsealed, as where no mark can be written */
    int sys = index_file(w, old, queue);
    if (sys == 0) sys = u9i_segment_out_end(old, queue, U9I_END_SEALING, w->plan.kind);
    u9i_queue_close(queue); /* which waits, should anything still be under way */
    if (sys == -ENOMEM) return 0; /* so is one of which the index was begun: what is behind the named end is passed */
    if (sys != 0) (void)u9i_writer_poison(w, old, sys, "closing the segment", NULL);
    return sys;
}

void u9i_writer_run_sealer(void *ctx)
{
    u9i_writer *w = ctx;
    u9i_mark_record mark;
    u9i_segment_out old = w->old;
    u9i_writer_unlock(w);
    u9_err named = u9i_writer_mark(w, &mark) && w->witness ? w->witness(w->witness_ctx, &mark) : U9_OK;
    if (named == U9_AGAIN) {
        u9i_sleep_us(w->env, NAP_US);
        u9i_task_submit(w->env, &w->sealer, 0);
        u9i_writer_lock(w);
        u9i_writer_rest(w);
        return;
    }
    /* Unsealed if no mark could name its successor: the row goes on there all the same. */
    if (named == U9_OK) (void)seal_file(w, &old);
    u9i_segment_out_close(&old);
    u9i_writer_keys_sealed(w);
    u9i_writer_lock(w);
    w->old.file = NULL;
    w->old.block = NULL;
    w->sealing = false;
    u9i_writer_turn(w, U9I_GATE_ROOM);
    u9i_writer_rest(w);
}

void u9i_writer_seal_old(u9i_writer *w)
{
    u9i_writer_lock(w);
    bool begins = w->old.file && !w->sealing && w->durable.offset > 0 && w->poison.err == U9_OK;
    if (begins) w->sealing = true;
    u9i_writer_unlock(w);
    if (begins) u9i_task_submit(w->env, &w->sealer, 0);
}

void u9i_writer_finish_old(u9i_writer *w)
{
    while (w->sealing) {
        u9i_writer_unlock(w);
        u9i_task_finish(w->env, &w->sealer);
        u9i_writer_lock(w);
    }
}

/* Where frames go on when the ring's next block begins the new file. */
static u9i_place next_fill(const u9i_writer *w)
{
    return (u9i_place){.v = w->stream.laid.v + U9I_DISK_HEADER_SIZE, .pos = U9I_DISK_HEADER_SIZE};
}

/* There are slots and a place in the ring for the first frames of the new file. All of the old one is submitted. */
static bool has_room_for_open(const u9i_writer *w)
{
    const u9i_stream *s = &w->stream;
    size_t n = 2 * (size_t)u9i_writer_bound(U9I_BODY_TARGET);
    u9i_place at = u9i_stream_place(s, next_fill(w), n, false);
    return w->slots.sealed + 2 <= w->slots.written + U9I_SLOTS && u9i_stream_has_room(s, at, n, s->done, s->count == 0);
}

/* Goes over to the next file, which is there: what is filled from here on is for that. All of the old one is submitted. */
static void enter_next(u9i_writer *w, const u9i_segment_out *next, const u9i_trim_record *trim)
{
    u9i_open_record open = before_of(w->out.number, &w->out.secret, &w->out.end, U9I_TAIL_ROLLED);
    w->stats.rolls++;
    w->old = w->out;
    u9i_writer_keys_rolled(w);
    w->out = *next;
    w->out.end = w->old.end;
    w->out.end.offset = 0;
    w->out.time_us = w->old.time_us;
    w->crossing = true;
    w->sync_at = UINT64_MAX; /* but for the last */
    w->old_durable = w->durable.offset;
    w->durable.offset = 0; /* no mark before the new file is durable, which says what goes */
    u9i_writer_take_trim(w, trim);
    put_open(w, &open, next_fill(w));
    u9i_writer_pad(w); /* it goes ahead of what comes, as the mark waits for it */
}

void u9i_writer_cross(u9i_writer *w)
{
    u9i_stream *s = &w->stream;
    if (s->count > 0 || s->syncing) return;
    assert(w->written.offset == w->old.end.offset);
    if (w->syncing.offset != w->written.offset) { /* what was synced last is not all */
        w->syncing = w->written;
        (void)u9i_stream_sync_begin(s);
        return;
    }
    turn_to_file(w, false);
    u9i_writer_lock(w);
    w->crossing = false;
    u9i_writer_unlock(w);
}

/* The old file's data are on their way; those of the one before it are sealed. */
static u9_err leave_file(u9i_writer *w, u9_fault *fault)
{
    u9_err err = U9_OK;
    if (w->old.file) err = u9i_writer_flush(w, fault); /* which has it sealed */
    else err = u9i_writer_push(w, fault);
    if (err == U9_OK) u9i_writer_finish_old(w);
    u9i_writer_finish_reserving(w);
    return err;
}

static u9_err go_over(u9i_writer *w, uint64_t room, const u9i_trim_record *trim, u9_fault *fault)
{
    u9i_trim_record kept = {.segment = 0};
    u9_err err = leave_file(w, fault);
    if (err != U9_OK) return err;
    uint64_t number = w->out.number < w->plan.fresh ? w->plan.fresh : w->out.number + 1; /* [W-3] */
    u9i_segment_out next = {.dir = w->dir, .path = w->path, .number = number, .step = w->out.step, .totals = {.segment = number}};
    u9i_writer_unlock(w);
    err = u9i_segment_out_open(&next, NULL, 2 * U9I_BLOCK + room, fault); /* header and u9open, and that */
    if (err == U9_OK && trim == NULL && w->retain) w->retain(w->retain_ctx, &kept);
    u9i_writer_lock(w);
    if (err != U9_OK) return err;
    while (w->poison.err == U9_OK && !has_room_for_open(w)) u9i_writer_step(w);
    if (w->poison.err == U9_OK) enter_next(w, &next, trim ? trim : &kept);
    else u9i_segment_out_drop(&next);
    return u9i_writer_refuse(w, fault);
}

u9_err u9i_writer_roll(u9i_writer *w, uint64_t room, const u9i_trim_record *trim, u9_fault *fault)
{
    w->rolling = true;
    u9_err err = go_over(w, room, trim, fault);
    w->rolling = false;
    return err;
}
