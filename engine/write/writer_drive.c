/*
 * engine/write/writer_drive.c: the driver's work; who waits for what; what is durable. [W-2] [W-4] [W-5]
 *
 * A commit forms a group by itself: who finds the driver's role free leads, and takes with it all that was appended;
 * who comes meanwhile gathers behind, and one of these leads next. So a batch goes out when the disk is free. The
 * leader lets others go first, for a moment, if the last group had company.
 *
 * Measured (ext4 on a virtual disk, commits of one record, by 1 and 64 threads, as parts of a bare loop of durable
 * 4 KiB writes into zeros): one durable write 0.97 and 21; a write and fdatasync, linked or not, 0.65 to 0.97 and 18 to
 * 20; into space that is only reserved 0.5 and 13. Zeros ahead halve the speed of bulk appends. So small groups go out
 * in one durable write, under policy commit into zeros, and all else by writes and a sync.
 *
 * By file system, bare loops of one thread, durable direct writes of 4 KiB, medians of 3 to 5, as parts of those by
 * RWF_DSYNC into zeros; the others on a loop device upon the first, where equal runs differ up to tenfold, so that only
 * factors above three say anything:
 *
 *                              into zeros            reserved                growing
 *                          DSYNC fdatasync        DSYNC fdatasync        DSYNC fdatasync
 *     ext4, no journal      1      1.07            0.73    0.68           0.65    0.71
 *     tmpfs                 1      1.04            1.00    1.01           0.53    0.49
 *     ext4, journal         1      1.6             0.07    0.22           0.06    0.09
 *     xfs                   1      1.2, 1.3        0.2-0.4 0.15-0.36      0.1-0.7 0.1-0.8
 *     btrfs                 1      1.4             1.1     1.5            1.7     1.1
 *
 * Zeros gain on ext4 and xfs, nothing on tmpfs, and nothing on btrfs, which writes elsewhere each time. No file system
 * is asked for its name: where zeros gain nothing they cost a MiB in the background for each 256 commits. Whether one
 * durable write or two calls is no matter that shows, but on the loop device, which has no durable writes of its own.
 */
#include "engine/write/writer_parts.h"

#include "engine/write/sequencer.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
    SYNC_BYTES = 32 << 20, /* [W-5] */
    SYNC_STEP = SYNC_BYTES / 2, /* written since the last sync began: the next one is due */
    GROUP_MAX = 1 << 18,   /* bytes of a group that go out in one durable write */
    ZEROS_MAX = 1 << 16    /* and of one that zeros are written ahead for */
};

/* The lock, the gates, the role */

void u9i_writer_lock(u9i_writer *w)
{
    pthread_mutex_lock(&w->lock);
}

void u9i_writer_unlock(u9i_writer *w)
{
    uint32_t all = w->wake_all, one = w->wake_one & ~w->wake_all;
    w->wake_all = w->wake_one = 0;
    if (!w->only_filled) u9i_writer_check(w);
    w->only_filled = false;
    pthread_mutex_unlock(&w->lock);
    for (unsigned gate = 0; (all | one) >> gate; gate++)
        if ((all | one) >> gate & 1) u9i_gate_wake(&w->gates[gate], all >> gate & 1);
}

void u9i_writer_rest(u9i_writer *w)
{
    u9i_writer_unlock(w);
    u9i_writer_lock(w);
}

void u9i_writer_turn(u9i_writer *w, unsigned gate)
{
    if (!(w->waiting >> gate & 1)) return;
    u9i_gate_turn(&w->gates[gate]);
    w->waiting &= ~(1u << gate);
    w->wake_all |= 1u << gate;
}

/* Lets one of those who wait look again. */
static void call_one(u9i_writer *w, unsigned gate)
{
    if (!(w->waiting >> gate & 1)) return;
    u9i_gate_turn(&w->gates[gate]);
    w->wake_one |= 1u << gate;
}

/* Gives the lock back, and returns without it when the gate is turned. */
static void wait_outside(u9i_writer *w, unsigned gate)
{
    uint32_t seen = u9i_gate_read(&w->gates[gate]);
    w->waiting |= 1u << gate;
    u9i_writer_unlock(w);
    u9i_gate_wait(&w->gates[gate], seen);
}

void u9i_writer_wait(u9i_writer *w, unsigned gate)
{
    wait_outside(w, gate);
    u9i_writer_lock(w);
}

/* Something is to become durable for which nobody waits: what was asked for, or a new file [M-5]. */
static bool wants_committer(const u9i_writer *w)
{
    return w->poison.err == U9_OK && (w->async_below > w->durable.ordinal || w->crossing);
}

/* Submits the task that leads where nobody waits. */
static void call_committer(u9i_writer *w)
{
    if (w->asked || !wants_committer(w)) return;
    w->asked = true;
    u9i_task_submit(w->env, &w->committer, 0);
}

void u9i_writer_take_role(u9i_writer *w)
{
    while (w->driving) u9i_writer_wait(w, U9I_GATE_ROOM);
    w->driving = true;
}

void u9i_writer_give_role(u9i_writer *w)
{
    assert(w->driving);
    w->driving = false;
    u9i_writer_turn(w, U9I_GATE_ROOM);
    call_one(w, U9I_GATE_GROUP + w->group); /* somebody there is to lead */
    call_committer(w);
}

/* Failures */

u9_err u9i_writer_refuse(const u9i_writer *w, u9_fault *fault)
{
    if (w->poison.err != U9_OK && fault) *fault = w->poison;
    return w->poison.err;
}

u9_err u9i_writer_poison(u9i_writer *w, const u9i_segment_out *out, int sys, const char *what, u9_fault *fault)
{
    u9_fault poison;
    char path[4400], name[20];
    u9i_segment_name(out->number, name);
    size_t n = strlen(w->path);
    memcpy(path, w->path, n);
    path[n] = '/';
    memcpy(path + n + 1, name, sizeof name);
    (void)u9i_fault(&poison, U9_POISONED, U9I_AT(.path = path, .sys = -sys, .rule = "W-6"),
                    "%s failed: nothing more is accepted", what);
    u9i_writer_lock(w);
    if (w->poison.err == U9_OK) w->poison = poison;
    __atomic_store_n(&w->poisoned, true, __ATOMIC_RELEASE);
    for (unsigned gate = 0; gate < U9I_GATES; gate++) u9i_writer_turn(w, gate);
    (void)u9i_writer_refuse(w, fault);
    u9i_writer_unlock(w);
    return U9_POISONED;
}

/* Durability. In this part the driver has the role, and not the lock. */

/* Nothing is acknowledged into the void: true if the file is not where it was, or the directory; then it is poisoned. [W-6] */
static bool is_lost(u9i_writer *w, const u9i_segment_out *o)
{
    if (u9i_writer_is_found(w, o)) return false;
    int sys = u9i_segment_out_find_name(o), moved = u9i_writer_find_place(w);
    if (sys == 0 && moved == 0) return false;
    const char *what = moved != 0 ? "a sync in a directory whose name was removed or given to another"
                                  : "a sync of a file whose name was removed or given to another";
    int why = moved != 0 ? moved : sys;
    if (why != -ENOENT && why != -ENOTDIR && why != -ESTALE) what = "looking for the segment's name behind a sync";
    (void)u9i_writer_poison(w, o, why, what, NULL);
    return true;
}

/* What `syncing` says is on stable storage, but for the file's name. */
static void sync_done(u9i_writer *w)
{
    u9i_segment_out *o = u9i_writer_sinking(w);
    if (o->unnamed) {
        int failed = u9i_dir_sync(w->dir); /* [W-4] */
        if (failed != 0) {
            (void)u9i_writer_poison(w, o, failed, "syncing the directory", NULL);
            return;
        }
        o->unnamed = false;
    }
    if (is_lost(w, o)) return;
    o->fresh = false;
    uint64_t now = u9i_monotonic_us(w->env);
    u9i_writer_lock(w);
    w->durable = w->syncing;
    if (w->crossing) w->old_durable = w->durable.offset;
    if (w->crossing) w->durable.offset = 0; /* of the new file nothing is */
    w->stats.syncs++;
    w->synced_us = now;
    u9i_writer_unlock(w);
    if (w->posts) w->posts(w->told_ctx); /* who sees that a record is durable may look by another handle [M-10] */
    __atomic_store_n(&w->durable_ordinal, w->durable.ordinal, __ATOMIC_RELEASE);
    u9i_writer_give_back(w);
    u9i_writer_seal_old(w);
    if (w->told) w->told(w->told_ctx);
}

/* Frames that are written are told, and a sync of them is begun if it is due. */
static void note_written(u9i_writer *w)
{
    u9i_writer_lock(w);
    w->done = w->stream.done;
    w->stats.writes = w->stream.writes;
    w->stats.written_bytes = w->stream.bytes;
    w->stats.writes_under_way = w->stream.count;
    w->stats.writes_deepest = w->stream.deepest;
    if (u9i_slots_written(&w->slots, w->done, &w->written)) u9i_writer_turn(w, U9I_GATE_ROOM);
    bool due = w->written.offset >= w->sync_at && !w->stream.syncing && w->stream.error == 0;
    if (due) w->first_us = w->next > w->written.ordinal ? u9i_monotonic_us(w->env) : 0;
    u9i_writer_unlock(w);
    if (!due) return;
    w->syncing = w->written;
    w->sync_at = w->written.offset + SYNC_STEP;
    (void)u9i_stream_sync_begin(&w->stream);
}

/* What the stream has told meanwhile. */
static void take_news(u9i_writer *w)
{
    if (w->stream.error != 0 && !u9i_writer_is_poisoned(w))
        (void)u9i_writer_poison(w, u9i_writer_sinking(w), w->stream.error, "a write or sync", NULL);
    if (u9i_stream_took_sync(&w->stream) && !u9i_writer_is_poisoned(w)) sync_done(w);
    note_written(w);
    if (w->crossing && !u9i_writer_is_poisoned(w)) u9i_writer_cross(w);
}

/* The driver. From here on the lock is held on the way in and out. */

/* The next frame that can be given its place; NULL: none. Those of a new file wait until the old one is durable. [W-3] */
static u9i_frame_out *next_to_place(u9i_writer *w)
{
    return w->crossing ? NULL : u9i_slots_next(&w->slots);
}

/* Gives hashed frames their order, as many as there are. */
static void sequence_some(u9i_writer *w)
{
    u9i_frame_out *f;
    while (w->poison.err == U9_OK && (f = next_to_place(w)) != NULL) {
        uint64_t durable = w->durable.offset;
        u9i_writer_finish_zeros(w, w->stream.laid.pos + u9i_writer_bound(f->body_size));
        u9i_writer_unlock(w);
        bool laid = u9i_sequence(&w->out, &w->stream, f, durable) == 0;
        if (laid) u9i_writer_collect(w, f);
        (void)u9i_stream_poll(&w->stream);
        u9i_writer_lock(w);
        if (laid) {
            w->ahead -= u9i_writer_bound(f->body_size);
            w->placed = w->stream.laid.pos;
            u9i_slots_sequenced(&w->slots);
        }
        u9i_writer_unlock(w);
        take_news(w);
        u9i_writer_lock(w);
        w->out.reserved = w->reserved;
        u9i_writer_reserve_ahead(w);
    }
}

bool u9i_writer_step_now(u9i_writer *w)
{
    if (next_to_place(w)) {
        sequence_some(w);
        return true;
    }
    if (u9i_writer_hash_some(w)) return true;
    bool alone = w->slots.sequenced == w->slots.sealed, crossing = w->crossing;
    u9i_writer_unlock(w);
    uint64_t done = w->stream.done, sent = w->stream.sent.v;
    if (alone && w->stream.count == 0) (void)u9i_stream_submit(&w->stream, false); /* nothing comes to fill a chunk */
    (void)u9i_stream_poll(&w->stream);
    bool moved = w->stream.done != done || w->stream.sent.v != sent;
    take_news(w);
    u9i_writer_lock(w);
    return moved || w->crossing != crossing;
}

/* Frames wait to be hashed, or to be given their place, that can be. */
static bool has_unplaced(u9i_writer *w)
{
    u9i_slots_lock(&w->slots);
    bool waits = u9i_slots_waiting(&w->slots) > 0;
    u9i_slots_unlock(&w->slots);
    return waits || (!w->crossing && w->slots.sequenced < w->slots.sealed);
}

void u9i_writer_step(u9i_writer *w)
{
    if (u9i_writer_step_now(w)) return;
    if (has_unplaced(w)) {
        if (u9i_slots_await(&w->slots)) u9i_writer_wait(w, U9I_GATE_HASHED);
        return; /* or one was sealed or hashed since: the lock was given back */
    }
    u9i_writer_unlock(w);
    if (w->stream.count > 0 || (w->crossing && w->stream.syncing)) (void)u9i_stream_reap(&w->stream, true);
    take_news(w);
    u9i_writer_lock(w);
}

void u9i_writer_pad(u9i_writer *w)
{
    const u9i_frame_out *f = u9i_slots_filling(&w->slots);
    if (f && f->count == 0) u9i_slots_unopen(&w->slots); /* its record was refused */
    u9i_writer_seal(w, true);
    if (w->padded) return;
    if (w->slots.sequenced < w->slots.sealed) {
        u9i_slots_at(&w->slots, w->slots.sealed - 1)->pads = true;
    } else {
        u9i_stream_pad(&w->stream);
        w->placed = w->stream.laid.pos;
    }
    w->fill = u9i_stream_block(w->fill);
    w->padded = true;
}

void u9i_writer_lay_all(u9i_writer *w)
{
    u9i_writer_pad(w);
    uint64_t target = w->slots.sealed;
    while (w->poison.err == U9_OK && w->slots.sequenced < target) u9i_writer_step(w);
}

u9_err u9i_writer_push(u9i_writer *w, u9_fault *fault)
{
    u9i_writer_lay_all(w);
    u9i_writer_unlock(w);
    (void)u9i_stream_submit(&w->stream, false);
    take_news(w);
    u9i_writer_lock(w);
    return u9i_writer_refuse(w, fault);
}

/* True if all that is not durable goes out in one durable write. */
static bool goes_alone(const u9i_writer *w)
{
    const u9i_stream *s = &w->stream;
    uint64_t n = u9i_stream_waiting(s), durable = (w->durable.offset + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    return n > 0 && n <= GROUP_MAX && s->count == 0 && !s->syncing && durable > 0 && s->sent.pos == durable;
}

/* Submits what waits, and returns when everything is on stable storage. Without the lock. */
static void settle_all(u9i_writer *w)
{
    u9i_stream *s = &w->stream;
    bool alone = goes_alone(w);
    if (alone && w->policy == U9_POLICY_COMMIT && u9i_stream_waiting(s) <= ZEROS_MAX) {
        u9i_writer_lock(w);
        u9i_writer_zero_ahead(w, s->sent.pos, s->sent.pos + u9i_stream_waiting(s));
        u9i_writer_unlock(w);
    }
    (void)u9i_stream_submit(s, alone);
    (void)u9i_stream_drain(s);
    if (s->syncing) (void)u9i_stream_sync_end(s);
    (void)u9i_stream_took_sync(s); /* it is covered */
    w->sync_at = UINT64_MAX; /* none of its own */
    take_news(w);
    w->syncing = w->written;
    w->sync_at = w->written.offset + SYNC_STEP;
    if (!alone && u9i_stream_sync_begin(s) == 0) (void)u9i_stream_sync_end(s);
    (void)u9i_stream_took_sync(s);
    if (s->error == 0 && !u9i_writer_is_poisoned(w)) sync_done(w);
    else take_news(w);
}

u9_err u9i_writer_flush(u9i_writer *w, u9_fault *fault)
{
    w->first_us = 0;
    w->flushing = w->next;
    u9i_writer_lay_all(w);
    if (w->poison.err == U9_OK && w->durable.offset != w->out.end.offset) {
        u9i_writer_unlock(w);
        settle_all(w);
        u9i_writer_lock(w);
    }
    u9i_writer_turn(w, U9I_GATE_GROUP + (w->group ^ 1)); /* whose records were on their way */
    return u9i_writer_refuse(w, fault);
}

/* Groups */

/* Leads a group: what was appended up to now, by whomever, becomes durable. */
static void lead(u9i_writer *w)
{
    w->driving = true;
    if (w->company > 1) {
        u9i_writer_unlock(w);
        u9i_sleep_us(w->env, 0);
        u9i_sleep_us(w->env, 0);
        u9i_writer_lock(w);
    }
    w->company = w->committers + 1;
    w->stats.groups++;
    w->stats.grouped += w->company;
    w->committers = 0;
    w->group ^= 1;
    (void)!u9i_writer_flush(w, NULL);
    u9i_writer_give_role(w);
}

/* A commit that waited is over. Without the lock, which all of a group would have to queue up for. */
static u9_err note_commit(u9i_writer *w, uint64_t began_us, u9_err err)
{
    uint64_t us = u9i_monotonic_us(w->env) - began_us;
    uint64_t *most = &w->stats.commit_us_max, max = __atomic_load_n(most, __ATOMIC_RELAXED);
    unsigned which = 63 - (unsigned)__builtin_clzll(us | 1);
    (void)__atomic_add_fetch(&w->stats.commit_us[which < 32 ? which : 31], 1, __ATOMIC_RELAXED);
    while (us > max && !__atomic_compare_exchange_n(most, &max, us, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
    return err;
}

u9_err u9i_writer_commit(u9i_writer *w, uint64_t below, u9_fault *fault)
{
    bool gathered = false;
    u9_err err;
    if (u9i_writer_has(w, below)) return U9_OK;
    uint64_t began_us = u9i_monotonic_us(w->env);
    u9i_writer_lock(w);
    while ((err = u9i_writer_refuse(w, fault)) == U9_OK && u9i_writer_durable(w) < below) {
        if (!w->driving) {
            lead(w);
            continue;
        }
        bool on_its_way = below <= w->flushing;
        w->committers += !on_its_way && !gathered;
        gathered |= !on_its_way;
        wait_outside(w, U9I_GATE_GROUP + (on_its_way ? w->group ^ 1 : w->group));
        if (u9i_writer_durable(w) >= below) return note_commit(w, began_us, U9_OK);
        u9i_writer_lock(w);
    }
    u9i_writer_unlock(w);
    return note_commit(w, began_us, err);
}

void u9i_writer_run_committer(void *ctx)
{
    u9i_writer *w = ctx;
    w->asked = false;
    bool leads = !w->driving && wants_committer(w);
    if (leads && w->async_below > w->durable.ordinal) {
        lead(w);
    } else if (leads) {
        w->driving = true;
        (void)!u9i_writer_flush(w, NULL);
        u9i_writer_give_role(w);
    }
    u9i_writer_rest(w); /* where it was not free, who has the role calls again */
}

u9_err u9i_writer_commit_async(u9i_writer *w, uint64_t below, u9_fault *fault)
{
    u9i_writer_lock(w);
    u9_err err = u9i_writer_refuse(w, fault);
    if (w->async_below < below) w->async_below = below;
    if (!w->driving) call_committer(w);
    u9i_writer_unlock(w);
    return err;
}

u9_err u9i_writer_sync(u9i_writer *w, u9_fault *fault)
{
    u9i_writer_lock(w);
    uint64_t below = w->next;
    u9i_writer_unlock(w);
    return u9i_writer_commit(w, below, fault);
}

/* The tick */

/* Something durable is not yet promised by a frame. [W-5] */
static bool owes_promise(const u9i_writer *w)
{
    return w->started && w->durable.offset > w->out.promised;
}

/* An empty frame that carries the promise; records that wait may as well. */
static void promise(u9i_writer *w)
{
    if (u9i_slots_filling(&w->slots) == NULL) {
        if (!u9i_writer_has_room(w, 0)) return;
        (void)u9i_writer_begin_frame(w, 0, 0);
    }
    u9i_writer_seal(w, true);
    (void)!u9i_writer_push(w, NULL);
}

bool u9i_writer_tick(u9i_writer *w, uint64_t interval_us, uint64_t promise_us)
{
    bool more = w->started && w->poison.err == U9_OK;
    if (more && !w->driving) {
        w->driving = true;
        u9i_writer_unlock(w);
        (void)u9i_stream_poll(&w->stream);
        take_news(w);
        uint64_t now = u9i_monotonic_us(w->env);
        u9i_writer_lock(w);
        if (w->poison.err != U9_OK) more = false;
        else if (w->first_us != 0 && now - w->first_us >= interval_us) (void)!u9i_writer_flush(w, NULL);
        else if (owes_promise(w) && now - w->synced_us >= promise_us) promise(w);
        more = w->poison.err == U9_OK && (w->first_us != 0 || w->stream.count > 0 || w->stream.syncing || w->old.file ||
                                          owes_promise(w));
        u9i_writer_give_role(w);
    }
    return more;
}
