/*
 * engine/write/writer_frame.c: frames are opened, sealed, and hashed, several at once. [B-4] [B-5] [F-4] [F-7]
 *
 * Where frames are filled in the stream, sealing one decides whether it is masked, as the next one's place hangs on
 * that. Where they are compressed, in memory of their own, whoever hashes them decides it.
 *
 * Of what appending takes where frames are compressed, LZ4 is two thirds. Its faster ways, by frames of 64 KiB, one core:
 *
 *     acceleration            1 (used)       2              3              4
 *     JSON log lines          0.324, 945     0.331, 990     0.333, 1016    0.343, 1033 MB/s
 *     source and prose        0.416, 575     0.425, 583     0.433, 590     0.446, 601 MB/s
 *
 * They gain a twentieth of the time for as much in size, but on lines that are all alike; so none is used.
 */
#include "engine/write/writer_parts.h"

#include "format/base/bytes.h"
#include "format/frame/body.h"

#include <assert.h>
#include <string.h>

enum {
    LANES = U9I_HASH_WIDEST, /* frames that one thread takes to hash, if there are as many: as many wait for it, */
    BACKLOG = 2 * LANES, /*   and if so many do, the appender hashes, too */
    PACK_BACKLOG = 6,    /* where they are compressed, which takes longer than to fill them, one is worth it, and so many */
    PACK_SHARE = 2,      /*   that some are left for the hasher while the appender is busy with these */
    SHRINKLESS_MAX = 8,  /* frames in a row that did not get smaller: then none is tried for a while, */
    LZ4_REST = 64        /*   so many [B-4] */
};

uint64_t u9i_writer_bound(uint64_t body_size)
{
    return u9i_frame_size((size_t)body_size + U9I_MASK_HEAD) + U9I_BLOCK;
}

bool u9i_writer_is_large(const u9i_writer *w, uint64_t body_size)
{
    return u9i_stream_is_large(&w->stream, u9i_writer_bound(body_size));
}

/* Nothing is filled, hashed, under way, or waits to be submitted. */
static bool is_idle(const u9i_writer *w)
{
    return u9i_slots_idle(&w->slots) && w->padded;
}

/* Where frames are filled in the stream: of the next one. */
static u9i_place next_place(const u9i_writer *w, uint64_t body_size)
{
    return u9i_stream_place(&w->stream, w->fill, (size_t)u9i_writer_bound(body_size), is_idle(w));
}

bool u9i_writer_has_room(const u9i_writer *w, uint64_t body_size)
{
    if (body_size < U9I_BODY_TARGET) body_size = U9I_BODY_TARGET;
    if (!u9i_slots_can_open(&w->slots, (size_t)body_size)) return false;
    if (w->slots.own) return true;
    if (u9i_writer_is_large(w, body_size) && !is_idle(w)) return false;
    return u9i_stream_has_room(&w->stream, next_place(w, body_size), (size_t)u9i_writer_bound(body_size), w->done, is_idle(w));
}

u9i_frame_out *u9i_writer_begin_frame(u9i_writer *w, uint64_t body_size, uint64_t room)
{
    if (body_size < U9I_BODY_TARGET) body_size = U9I_BODY_TARGET;
    u9i_place at = w->slots.own ? w->fill : next_place(w, body_size);
    u9i_frame_out *f = u9i_slots_open(&w->slots, (size_t)body_size);
    if (!w->slots.own) {
        f->at = at;
        f->frame = f->stored = u9i_stream_at(&w->stream, at.v);
    }
    f->ordinal = w->next;
    f->lz4 = w->lz4;
    f->room = room;
    return f;
}

bool u9i_writer_fits(const u9i_frame_out *f, uint64_t more)
{
    return f->body_size + more <= f->room;
}

uint64_t u9i_writer_now(const u9i_writer *w)
{
    uint64_t now = u9i_wall_us(w->env);
    return w->given_us && w->given_us < now ? w->given_us : now;
}

u9_err u9i_writer_begin_stamp(u9i_writer *w, u9_fault *fault)
{
    uint64_t now = u9i_writer_now(w);
    uint64_t seen = w->time_us > w->seen_us ? w->time_us : w->seen_us;
    w->stamp = now > seen || w->given_us ? now : seen + 1; /* where times are given, keys are */
    if (w->stamp < U9_MUID_TIMESTAMP_MAX) return U9_OK;
    return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = w->path, .rule = "I-1"),
                     "the clock is beyond the last muid");
}

/* Masks the body in place until no boundary stands inside the frame. [F-7] [B-5] */
static void mask_body(const uint8_t seed[U9I_HASH_SIZE], uint64_t *masks, const u9i_secret *secret, u9i_frame_out *f)
{
    uint8_t from[U9I_HASH_SIZE + 8], mask[U9I_HASH_SIZE] = {0}, *body = f->frame + U9I_FRAME_HEADER_SIZE;
    f->stored_size = u9i_mask_wrap(body, f->body_size, mask);
    do { /* a mask fails once in 2^100 */
        memcpy(from, seed, U9I_HASH_SIZE);
        u9i_set_be(from + U9I_HASH_SIZE, 8, __atomic_fetch_add(masks, 1, __ATOMIC_RELAXED));
        u9i_hash(from, sizeof from, mask);
        u9i_mask_again(body, f->stored_size, mask);
    } while (!u9i_frame_is_clear(secret, f->ordinal, f->frame, f->stored_size));
}

/* The body as it is, or masked. */
static void store_plain(u9i_writer *w, u9i_frame_out *f)
{
    f->stored = f->frame;
    f->stored_size = f->body_size;
    if (!u9i_frame_is_clear(&w->out.secret, f->ordinal, f->frame, f->body_size))
        mask_body(w->mask_seed, &w->masks, &w->out.secret, f);
}

/* The body compressed, if that is smaller and has no boundary in it. */
static bool store_packed(const u9i_writer *w, u9i_frame_out *f)
{
    size_t n = u9i_lz4_wrap(f->frame + U9I_FRAME_HEADER_SIZE, f->body_size, f->packed + U9I_FRAME_HEADER_SIZE);
    if (n == 0 || !u9i_frame_is_clear(&w->out.secret, f->ordinal, f->packed, n)) return false;
    f->stored = f->packed;
    f->stored_size = n;
    return true;
}

/* One more frame is to be compressed: not for a while, after some that did not get smaller. */
static bool tries_lz4(u9i_writer *w, const u9i_frame_out *f)
{
    if (!f->lz4 || f->count == 0) return false;
    u9i_slots_lock(&w->slots);
    bool rests = w->lz4_rest > 0;
    w->lz4_rest -= rests;
    u9i_slots_unlock(&w->slots);
    return !rests;
}

void u9i_writer_seal(u9i_writer *w, bool pads)
{
    u9i_frame_out *f = u9i_slots_filling(&w->slots);
    if (f == NULL) return;
    uint64_t now = u9i_writer_now(w);
    if (now < w->time_us) now = w->time_us; /* [F-4] */
    if (f->count > 0 && now < w->stamp) now = w->stamp; /* [L-7] */
    if (now < w->seen_us) now = w->seen_us;
    f->time_us = w->time_us = now;
    f->pads = w->padded = pads;
    if (w->slots.own) {
        f->lz4 = tries_lz4(w, f);
    } else {
        store_plain(w, f);
        size_t n = u9i_frame_size(f->stored_size);
        w->fill = (u9i_place){.v = f->at.v + n, .pos = f->at.pos + n};
        if (pads) w->fill = u9i_stream_block(w->fill);
    }
    w->ahead += u9i_writer_bound(f->body_size);
    w->stats.frames++;
    u9i_slots_seal(&w->slots);
}

void u9i_writer_seal_records(u9i_writer *w)
{
    const u9i_frame_out *f = u9i_slots_filling(&w->slots);
    if (f && f->count > 0) u9i_writer_seal(w, false);
}

/* What a frame is stored as, where that is not decided yet. */
static void decide(u9i_writer *w, u9i_frame_out *f)
{
    if (f->packed && !(f->lz4 && store_packed(w, f))) store_plain(w, f);
}

/* What was learned of compressing. The slots' lock is held. */
static void note_lz4(u9i_writer *w, const u9i_frame_out *f)
{
    if (!f->lz4) return;
    w->stats.lz4_tried++;
    w->stats.lz4_kept += f->stored == f->packed;
    w->shrinkless = f->stored == f->packed ? 0 : w->shrinkless + 1;
    if (w->shrinkless < SHRINKLESS_MAX) return;
    w->shrinkless = 0;
    w->lz4_rest = LZ4_REST;
}

/*
 * As much waits to be hashed as n usual frames, or to be compressed as about `packed`. Of large ones half as many, but
 * not one: hashed in lanes they take half the time. The slots' lock is held.
 */
static bool as_many_wait(const u9i_writer *w, unsigned n, unsigned packed)
{
    uint64_t bytes = w->slots.waiting_bytes, usual = U9I_BODY_TARGET;
    if (w->slots.own && bytes + usual / 2 >= packed * usual) return true;
    unsigned waiting = u9i_slots_waiting(&w->slots);
    return waiting >= n || (waiting >= n / 2 && bytes >= n * usual);
}

/* What a thread takes to hash: fewer frames where each of them is to be compressed, which is better shared out. */
static unsigned take_some(u9i_writer *w, u9i_frame_out *taken[LANES])
{
    return u9i_slots_take(&w->slots, taken, w->slots.own ? PACK_SHARE : LANES);
}

/* Compresses and hashes n frames that were taken. Without a lock. */
static void hash_taken(u9i_writer *w, u9i_frame_out **taken, unsigned n)
{
    u9i_lane lanes[LANES];
    for (unsigned i = 0; i < n; i++) {
        decide(w, taken[i]);
        lanes[i] = u9i_frame_lane(&taken[i]->hasher, taken[i]->stored, taken[i]->stored_size);
    }
    u9i_hash_lanes(lanes, n);
    u9i_slots_lock(&w->slots);
    for (unsigned i = 0; i < n; i++) {
        u9i_slots_hashed(&w->slots, taken[i]);
        note_lz4(w, taken[i]);
    }
    bool awaited = u9i_slots_took_wait(&w->slots);
    u9i_slots_unlock(&w->slots);
    if (!awaited) return;
    u9i_writer_lock(w);
    u9i_writer_turn(w, U9I_GATE_HASHED);
    u9i_writer_unlock(w);
}

bool u9i_writer_hash_some(u9i_writer *w)
{
    u9i_frame_out *taken[LANES];
    u9i_slots_lock(&w->slots);
    unsigned n = take_some(w, taken);
    u9i_slots_unlock(&w->slots);
    if (n == 0) return false;
    u9i_writer_unlock(w);
    hash_taken(w, taken, n);
    u9i_writer_lock(w);
    return true;
}

static void run_hasher(void *ctx)
{
    u9i_hash_task *h = ctx;
    u9i_writer *w = h->writer;
    u9i_frame_out *taken[LANES];
    u9i_slots_lock(&w->slots);
    h->begun = true;
    while (as_many_wait(w, LANES, 1)) {
        unsigned n = take_some(w, taken);
        u9i_slots_unlock(&w->slots);
        hash_taken(w, taken, n);
        u9i_slots_lock(&w->slots);
    }
    h->submitted = h->begun = false;
    u9i_slots_unlock(&w->slots);
}

void u9i_writer_open_hashers(u9i_writer *w)
{
    unsigned width = u9i_task_width(w->env);
    w->hashers_most = width < U9I_HASHERS ? width : U9I_HASHERS;
    for (unsigned i = 0; i < U9I_HASHERS; i++)
        w->hashers[i] = (u9i_hash_task){.task = {.run = run_hasher, .ctx = &w->hashers[i]}, .writer = w};
}

void u9i_writer_close_hashers(u9i_writer *w)
{
    for (unsigned i = 0; i < U9I_HASHERS; i++) u9i_task_cancel(w->env, &w->hashers[i].task);
}

/*
 * A task to be submitted, as more waits than those take that were and have not looked yet; NULL: none. `helps`: all are
 * at work, and still so much waits that the caller is to hash, too. The slots' lock is held.
 */
static u9i_hash_task *call_hasher(u9i_writer *w, bool *helps)
{
    unsigned coming = 1;
    u9i_hash_task *idle = NULL;
    for (u9i_hash_task *h = w->hashers; h < w->hashers + w->hashers_most; h++) {
        coming += h->submitted && !h->begun;
        if (!h->submitted) idle = h;
    }
    *helps = idle == NULL && as_many_wait(w, BACKLOG, PACK_BACKLOG);
    if (idle == NULL || !as_many_wait(w, LANES * coming, coming)) return NULL;
    idle->submitted = true;
    return idle;
}

void u9i_writer_go_on(u9i_writer *w)
{
    u9i_slots_lock(&w->slots);
    bool helps;
    u9i_hash_task *called = call_hasher(w, &helps);
    u9i_slots_unlock(&w->slots);
    if (called) {
        u9i_writer_unlock(w);
        u9i_task_submit(w->env, &called->task, 0);
        u9i_writer_lock(w);
    } else if (helps) {
        (void)u9i_writer_hash_some(w);
    }
    if (!w->driving && u9i_slots_next(&w->slots)) {
        w->driving = true;
        (void)u9i_writer_step_now(w);
        u9i_writer_give_role(w);
    }
}
