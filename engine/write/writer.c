/*
 * engine/write/writer.c: see writer.h: the session, and appending. [W-1] [W-6]
 */
#include "engine/write/writer_parts.h"

#include "engine/os/process.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    SYNC_BYTES = 32 << 20, /* [W-5] */
    KEYS_MEMORY = 64 << 20, /* for the keys of a file: touched as they come */
    MEMORY = 32 << 20      /* of which the stream touches half; compressing takes some of the rest */
};

void u9i_writer_check(u9i_writer *w)
{
    if (w->poison.err != U9_OK) return; /* it stands as the failure left it */
    u9i_frame_out *f = u9i_slots_filling(&w->slots);
    assert(f == NULL || f->ordinal + f->count == w->next || f->count == 0);
    assert(w->durable.ordinal <= w->next && w->flushing <= w->next);
    assert(w->started || (w->next == w->plan.end.ordinal && !w->old.file));
    assert(w->slots.own || w->fill.v % U9I_BLOCK == w->fill.pos % U9I_BLOCK);
    assert(!w->sealing || (w->old.file && !w->crossing));
    assert(!w->crossing || (w->old.file && w->durable.offset == 0 && w->slots.sequenced < w->slots.sealed));
    assert(!w->reserving || (w->started && (w->reserving_to > w->reserved || w->zeroing_to > 0)));
    assert(w->zeroing_to == 0 || w->reserving);
    assert(!w->row.barred || (w->row.open && w->started));
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

/* True if keys of the kind have the form of those of `like`. */
static bool is_keyed_like(const char *kind, const char *like)
{
    bool number = strcmp(kind, "tid") == 0 || strcmp(kind, "uid8") == 0, text = strncmp(kind, "rkey", 4) == 0;
    return strcmp(like, number ? "tid" : text ? "rkey" : "muid") == 0;
}

/* The log's key kind: what it has, or for a new one, and one that does not tell, what is asked for. [L-6] */
static u9_err take_kind(u9i_writer *w, const u9_options *o, u9_fault *fault)
{
    const char *asked = o->kind && o->kind[0] ? o->kind : NULL, *taken = asked ? asked : "muid", *like = w->plan.like;
    assert(asked == NULL || u9_kind_check(asked, strlen(asked), NULL) == U9_OK);
    if (w->plan.kind[0] == 0 && like[0] && !is_keyed_like(taken, like))
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = w->path, .rule = "L-6"),
                         "no u9open is left that names the log's key kind; its keys look like those of '%s', not of '%.80s': "
                         "give the kind that it had", like, taken);
    if (w->plan.kind[0] == 0) snprintf(w->plan.kind, sizeof w->plan.kind, "%s", taken);
    if (asked && strcmp(w->plan.kind, asked) != 0)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = w->path, .rule = "L-6"),
                         "the log's keys are of kind '%.80s', not '%.80s'", w->plan.kind, asked);
    return u9i_keygen_init(&w->keygen, w->env, w->plan.kind, w->plan.time_us, o, fault);
}

/* Who finds it taken looks again for a moment before he sleeps: it is held for less time than that takes. */
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
static const pthread_mutex_t fresh_lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
#else
static const pthread_mutex_t fresh_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

u9_err u9i_writer_open(u9i_writer *w, u9i_dir *dir, const char *path, const u9i_plan *plan,
                       const u9_options *options, u9_fault *fault)
{
    memset(w, 0, sizeof *w);
    w->dir = dir;
    w->env = dir->env;
    w->lz4 = options->lz4 != 0;
    w->no_wait = options->no_wait != 0;
    w->policy = options->policy;
    w->segment_size = u9i_segment_size(options);
    w->plan = *plan;
    u9i_writer_open_hashers(w);
    w->committer = (u9i_task){.run = u9i_writer_run_committer, .ctx = w, .guard = &w->lock};
    w->reserver = (u9i_task){.run = u9i_writer_run_reserver, .ctx = w, .guard = &w->lock};
    w->sealer = (u9i_task){.run = u9i_writer_run_sealer, .ctx = w, .guard = &w->lock};
    if (strlen(path) >= sizeof w->path)
        return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = path), "the path is too long");
    memcpy(w->path, path, strlen(path) + 1);
    u9i_writer_note_place(w);
    u9_err err = take_kind(w, options, fault);
    if (err != U9_OK) return err;
    w->fresh_size = u9i_kind_value_size(&w->keygen.kind, w->keygen.size);
    w->lock = fresh_lock;
    if (!take_medallion(w, options->medallion) || !u9i_random(w->env, w->session, sizeof w->session) ||
        !u9i_random(w->env, w->mask_seed, sizeof w->mask_seed)) {
        u9i_writer_release(w);
        return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = errno),
                         "the system has no randomness");
    }
    u9i_writer_take_plan(w);
    int sys = u9i_slots_init(&w->slots, w->lz4) ? u9i_stream_init(&w->stream, w->env, (size_t)(options->memory ? options->memory : MEMORY) / 2)
                                              : -ENOMEM;
    if (sys == 0 && !u9i_writer_open_keys(w, (size_t)(options->index_memory ? options->index_memory : KEYS_MEMORY))) sys = -ENOMEM;
    dir->writing = sys == 0;
    if (sys == 0) return U9_OK;
    u9i_writer_release(w);
    return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys),
                     "cannot set up writing");
}

void u9i_writer_release(u9i_writer *w)
{
    u9i_writer_close_hashers(w);
    u9i_task_cancel(w->env, &w->committer);
    u9i_task_cancel(w->env, &w->sealer);
    u9i_task_cancel(w->env, &w->reserver);
    u9i_stream_release(&w->stream);
    u9i_segment_out_close(&w->out);
    u9i_segment_out_close(&w->old);
    u9i_keygen_release(&w->keygen);
    u9i_slots_release(&w->slots);
    u9i_writer_release_keys(w);
}

uint64_t u9i_writer_next(u9i_writer *w)
{
    u9i_writer_lock(w);
    uint64_t next = w->next;
    u9i_writer_unlock(w);
    return next;
}

/* Where the next frame will stand, or a bit before that. The lock is held. */
static uint64_t position(const u9i_writer *w)
{
    return w->slots.own ? w->placed + w->ahead : w->fill.pos;
}

bool u9i_writer_waits(u9i_writer *w)
{
    u9i_writer_lock(w);
    bool waits = w->first_us != 0 && w->poison.err == U9_OK;
    u9i_writer_unlock(w);
    return waits;
}

bool u9i_writer_is_behind(u9i_writer *w, uint64_t interval_us)
{
    u9i_writer_lock(w);
    bool behind = w->started && position(w) - w->durable.offset >= SYNC_BYTES;
    if (!behind && w->first_us != 0) behind = u9i_monotonic_us(w->env) - w->first_us >= interval_us;
    u9i_writer_unlock(w);
    return behind;
}

uint64_t u9i_writer_tip(u9i_writer *w, uint64_t *bytes)
{
    u9i_writer_lock(w);
    uint64_t number = w->started ? w->out.number : 0;
    *bytes = w->started ? position(w) : 0;
    u9i_writer_unlock(w);
    return number;
}

bool u9i_writer_mark_at(const u9i_writer *w, uint64_t now_us, u9i_mark_record *out)
{
    *out = (u9i_mark_record){.first_ordinal = w->plan.first_ordinal, .segment = w->out.number,
                             .end = w->durable, .time_us = now_us};
    memcpy(out->log, w->plan.log, sizeof out->log);
    memcpy(out->boundary, w->out.secret.boundary, sizeof out->boundary);
    memcpy(out->secret, w->out.secret.bytes, sizeof out->secret);
    return w->started && w->durable.offset > 0;
}

bool u9i_writer_mark(u9i_writer *w, u9i_mark_record *out)
{
    uint64_t now_us = u9i_wall_us(w->env);
    u9i_writer_lock(w);
    bool there = u9i_writer_mark_at(w, now_us, out);
    u9i_writer_unlock(w);
    return there;
}

bool u9i_writer_reached(u9i_writer *w, uint64_t *number, uint8_t *boundary, uint64_t *end)
{
    u9i_writer_lock(w);
    bool here = w->durable.offset > 0, rolled = !here && w->old.file;
    const u9i_secret *secret = here ? &w->out.secret : rolled ? &w->old.secret : &w->plan.before;
    *number = here ? w->out.number : rolled ? w->old.number : w->plan.before_segment;
    *end = here ? w->durable.offset : rolled ? w->old_durable : w->plan.end.offset;
    memcpy(boundary, secret->boundary, sizeof secret->boundary);
    bool there = w->started && *number != 0;
    u9i_writer_unlock(w);
    return there;
}

void u9i_writer_stats(u9i_writer *w, u9_stats *out)
{
    u9i_writer_lock(w);
    u9i_slots_lock(&w->slots);
    memcpy(out, &w->stats, offsetof(u9_stats, commit_us));
    u9i_slots_unlock(&w->slots);
    u9i_writer_unlock(w);
    out->size = sizeof *out;
    for (unsigned i = 0; i < sizeof out->commit_us / sizeof out->commit_us[0]; i++)
        out->commit_us[i] = __atomic_load_n(&w->stats.commit_us[i], __ATOMIC_RELAXED);
    out->commit_us_max = __atomic_load_n(&w->stats.commit_us_max, __ATOMIC_RELAXED);
}

u9_err u9i_writer_create(u9i_writer *w, u9_fault *fault)
{
    u9i_writer_lock(w);
    u9i_writer_take_role(w);
    u9_err err = u9i_writer_start(w, fault);
    if (err == U9_OK) err = u9i_writer_flush(w, fault);
    u9i_writer_give_role(w);
    u9i_writer_unlock(w);
    return err;
}

/* Appending. The lock is held; `driver`: by who has the role, too. */

/* The caller asked not to wait. Not AGAIN, which means to look again here. */
static u9_err refuse_to_wait(const u9i_writer *w, u9_fault *fault)
{
    (void)u9i_fault(fault, U9_AGAIN, U9I_AT(.path = w->path), "the writer's memory is in use: the record was not accepted");
    return U9_END;
}

/* Makes room in memory, or waits for some. AGAIN: look again. */
static u9_err make_room(u9i_writer *w, bool driver, uint64_t body_size, u9_fault *fault)
{
    bool takes = !driver && !w->driving;
    w->stats.waits++;
    if (!driver && !takes) {
        if (u9i_writer_hash_some(w)) return U9_AGAIN;
        if (w->no_wait) return refuse_to_wait(w, fault);
        u9i_writer_wait(w, U9I_GATE_ROOM);
        return U9_AGAIN;
    }
    w->driving = true;
    if (u9i_writer_is_large(w, body_size)) (void)!u9i_writer_push(w, NULL); /* it begins at a block */
    bool waits = !u9i_writer_has_room(w, body_size) && !u9i_writer_step_now(w);
    if (waits && !w->no_wait) u9i_writer_step(w);
    if (takes) u9i_writer_give_role(w);
    return waits && w->no_wait && !u9i_writer_has_room(w, body_size) ? refuse_to_wait(w, fault) : U9_AGAIN;
}

/* The file has no space for a frame with such a body; or not for a usual one, which was not yet asked for in vain. */
static bool wants_space(const u9i_writer *w, uint64_t body_size)
{
    uint64_t at = position(w);
    return at + u9i_writer_space_for(body_size) > w->reserved || (!w->tight && at + u9i_writer_space_for(U9I_BODY_TARGET) > w->reserved);
}

/* The keys of what was accepted for this file, and is not among them yet, find room there. */
static bool has_room_for_keys(const u9i_writer *w)
{
    uint64_t left = __atomic_load_n(&w->keys_left, __ATOMIC_RELAXED), pending = 0;
    const u9i_slots *s = &w->slots;
    if (s->sequenced < s->sealed || s->filling) pending = w->next - s->slots[s->sequenced % U9I_SLOTS].ordinal;
    return left > pending;
}

/*
 * A roll is due. Not while a record in parts is written, which stays in one file [C-6]: then what would not fit any more
 * beside what is to come of it is refused [S-2].
 */
static bool is_full(const u9i_writer *w, uint64_t body_size)
{
    bool whole = position(w) + u9i_writer_space_for(body_size) + w->row.needs > U9I_SEGMENT_MAX;
    if (w->rolling) return true; /* whoever is not the driver waits until that is done */
    bool enough = position(w) >= w->segment_size || !has_room_for_keys(w);
    return whole || (!w->row.barred && enough);
}

static u9_err refuse_beside_row(const u9i_writer *w, u9_fault *fault)
{
    (void)u9i_fault(fault, U9_AGAIN, U9I_AT(.path = w->path, .rule = "S-2"),
                    "the segment has no more room beside the record in parts that is being written");
    return U9_END;
}

/* Does what only the driver may for the next frame: a roll, or space in the file. AGAIN: look again. */
static u9_err make_space(u9i_writer *w, bool driver, uint64_t body_size, u9_fault *fault)
{
    u9_err err = U9_AGAIN;
    if (!driver && w->driving) {
        if (w->no_wait) return refuse_to_wait(w, fault);
        u9i_writer_wait(w, U9I_GATE_ROOM);
        return U9_AGAIN;
    }
    w->driving = true;
    bool full = is_full(w, body_size);
    if (full && w->slots.own && w->ahead > 0) { /* how far is it really? */
        (void)!u9i_writer_push(w, NULL);
    } else if (full && w->row.barred) {
        err = refuse_beside_row(w, fault);
    } else if (full) {
        u9_err rolled = u9i_writer_roll(w, u9i_writer_space_for(body_size), NULL, fault);
        if (rolled != U9_OK) err = rolled;
    } else {
        u9i_writer_finish_reserving(w);
        uint64_t least = position(w) + u9i_writer_space_for(body_size), best = position(w) + u9i_writer_space_for(U9I_BODY_TARGET);
        u9i_writer_unlock(w);
        bool tight = best > least && u9i_segment_out_reserve(&w->out, best, fault) != U9_OK;
        u9_err reserved = u9i_segment_out_reserve(&w->out, least, fault);
        u9i_writer_lock(w);
        if (reserved != U9_OK) err = reserved;
        w->tight = tight;
        w->reserved = w->out.reserved;
    }
    if (!driver) u9i_writer_give_role(w);
    return err;
}

/* Bytes that the body of the next frame may get, in the space that is reserved; `total` at least. */
static uint64_t room_for(const u9i_writer *w, uint64_t total)
{
    uint64_t space = w->reserved - position(w) - U9I_WRITER_SLACK, head = u9i_writer_bound(0);
    uint64_t most = space < U9I_BODY_TARGET + head ? space - head : U9I_BODY_TARGET;
    return total > most ? total : most;
}

u9_err u9i_writer_admit(u9i_writer *w, bool driver, uint64_t total, u9i_frame_out **out, u9_fault *fault)
{
    for (;;) {
        u9i_frame_out *f = u9i_slots_filling(&w->slots);
        u9_err err = u9i_writer_refuse(w, fault);
        if (err != U9_OK) return err;
        if (f && u9i_writer_fits(f, total)) {
            *out = f;
            return f->count == 0 ? u9i_writer_begin_stamp(w, fault) : U9_OK;
        } else if (f && f->count > 0) {
            u9i_writer_seal(w, false);
        } else if (f) { /* a record was refused, for which it was opened */
            u9i_slots_unopen(&w->slots);
        } else if (is_full(w, total) || wants_space(w, total)) {
            err = make_space(w, driver, total, fault);
        } else if (!u9i_writer_has_room(w, total)) {
            err = make_room(w, driver, total, fault);
        } else {
            (void)u9i_writer_begin_frame(w, total, room_for(w, total));
        }
        if (err != U9_OK && err != U9_AGAIN) return err == U9_END ? U9_AGAIN : err;
    }
}

u9_err u9i_writer_admit_alone(u9i_writer *w, bool driver, uint64_t total, u9i_frame_out **out, u9_fault *fault)
{
    u9_err err;
    do {
        u9i_writer_seal_records(w);
        err = u9i_writer_admit(w, driver, total, out, fault);
    } while (err == U9_OK && (*out)->count > 0); /* while it waited somebody filled one */
    return err;
}

u9_err u9i_writer_begin_append(u9i_writer *w, uint64_t count, bool *driver, u9_fault *fault)
{
    *driver = false;
    u9_err err = u9i_writer_refuse(w, fault);
    if (err == U9_OK) err = u9i_writer_count_up(w, count, fault);
    if (err != U9_OK || w->started) return err;
    u9i_writer_take_role(w);
    *driver = true;
    return w->started ? U9_OK : u9i_writer_start(w, fault);
}

void u9i_writer_end_append(u9i_writer *w, bool driver, u9_err err, uint64_t frames)
{
    bool first = driver && w->started && w->next == w->plan.end.ordinal;
    if (err != U9_OK && first && w->poison.err == U9_OK && w->stream.writes == 0) u9i_writer_unstart(w);
    if (err == U9_OK && w->first_us == 0) w->first_us = u9i_monotonic_us(w->env);
    if (driver) u9i_writer_give_role(w);
    if (err == U9_OK && w->slots.sealed != frames) u9i_writer_go_on(w);
    bool waits = w->policy == U9_POLICY_INTERVAL && position(w) - w->durable.offset >= SYNC_BYTES && w->started;
    uint64_t below = w->next;
    w->only_filled = err == U9_OK && !driver && w->slots.sealed == frames;
    u9i_writer_unlock(w);
    if (waits) (void)!u9i_writer_commit(w, below, NULL); /* a failure is told by the next call */
}

/* The frame that takes so many bytes of records just as it is; NULL: more is to be done for them. */
static u9i_frame_out *frame_with_room(u9i_writer *w, uint64_t count, uint64_t total)
{
    u9i_frame_out *f = u9i_slots_filling(&w->slots);
    bool takes = f && f->count > 0 && u9i_writer_fits(f, total) && w->poison.err == U9_OK && count <= UINT64_MAX - w->next;
    return takes ? f : NULL;
}

static u9_err append_entries(u9i_writer *w, const u9_entry *entries, size_t count, u9_place *places, bool alone,
                     u9_fault *fault)
{
    uint64_t total, frames;
    u9i_measure kept[U9I_WRITER_BATCH];
    bool driver = false;
    u9_err err = u9i_writer_measure(w, entries, count, kept, &total, fault);
    if (err != U9_OK) return err;
    u9i_writer_lock(w);
    u9i_frame_out *f = alone ? NULL : frame_with_room(w, count, total);
    if (f == NULL) err = u9i_writer_begin_append(w, count, &driver, fault);
    frames = w->slots.sealed;
    if (err == U9_OK && f == NULL)
        err = alone ? u9i_writer_admit_alone(w, driver, total, &f, fault) : u9i_writer_admit(w, driver, total, &f, fault);
    if (err == U9_OK) err = u9i_writer_put(w, f, entries, count, kept, places, fault);
    if (err == U9_OK && (alone || f->body_size >= U9I_BODY_TARGET)) u9i_writer_seal(w, false);
    u9i_writer_end_append(w, driver, err, frames);
    return err;
}

u9_err u9i_writer_append(u9i_writer *w, const u9_entry *entries, size_t count, u9_place *places,
                         u9_fault *fault)
{
    return append_entries(w, entries, count, places, false, fault);
}

u9_err u9i_writer_append_alone(u9i_writer *w, const u9_entry *entries, size_t count, u9_fault *fault)
{
    return append_entries(w, entries, count, NULL, true, fault);
}

u9_err u9i_writer_append_body(u9i_writer *w, const uint8_t *body, size_t size, uint32_t count, bool lz4,
                              u9_fault *fault)
{
    u9i_frame_out *f;
    bool driver;
    u9i_writer_lock(w);
    u9_err err = u9i_writer_begin_append(w, count, &driver, fault);
    uint64_t frames = w->slots.sealed;
    if (err == U9_OK) err = u9i_writer_admit_alone(w, driver, size, &f, fault);
    if (err == U9_OK) {
        u9i_writer_put_body(w, f, body, size);
        assert(f->count == count);
        f->lz4 = f->lz4 && lz4;
        u9i_writer_seal(w, false);
    }
    u9i_writer_end_append(w, driver, err, frames);
    return err;
}

/* The end */

/* Everything is durable; the u9end. The lock is held, and the role. */
static u9_err end_session(u9i_writer *w, u9_fault *fault)
{
    u9_err err = u9i_writer_flush(w, fault);
    if (err != U9_OK) return err;
    u9i_writer_finish_old(w);
    u9i_writer_finish_reserving(w);
    err = u9i_writer_refuse(w, fault);
    if (err != U9_OK) return err;
    u9i_writer_unlock(w);
    int sys = u9i_segment_out_end(&w->out, w->stream.queue, U9I_END_CLOSING, w->plan.kind);
    if (sys != 0) err = u9i_writer_poison(w, &w->out, sys, "closing the segment", fault);
    u9i_writer_lock(w);
    if (err == U9_OK) w->durable = w->out.end;
    return err;
}

u9_err u9i_writer_close(u9i_writer *w, u9_fault *fault)
{
    u9i_writer_lock(w);
    u9i_writer_take_role(w);
    u9_err err = u9i_writer_refuse(w, fault);
    if (err == U9_OK && w->started) err = end_session(w, fault);
    u9i_writer_finish_old(w);
    u9i_writer_finish_reserving(w);
    u9i_writer_give_role(w);
    u9i_writer_unlock(w);
    u9i_writer_close_hashers(w);
    u9i_stream_release(&w->stream);
    if (err != U9_OK) {
        u9i_segment_out_drop_blank(&w->out);
        u9i_segment_out_drop_blank(&w->old);
    }
    u9i_writer_release(w);
    return err;
}
