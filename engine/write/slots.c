/*
 * engine/write/slots.c: see slots.h.
 */
#include "engine/write/slots.h"

#include "engine/os/process.h"
#include "format/frame/body.h"

#include <assert.h>
#include <string.h>

/* Memory of its own of a slot: the frame, and the frame compressed. Both begin as direct I/O would have it. */
#define ROOM(body) ((((body) + U9I_FRAME_HEADER_SIZE + U9I_MASK_HEAD + U9I_TRAILER_SIZE + U9I_ALIGN) / U9I_BLOCK + 1) * U9I_BLOCK)
#define PACKED_ROOM(body) (ROOM(body) + ((body) / 128 / U9I_BLOCK + 1) * U9I_BLOCK)

static const size_t own_room = ROOM(U9I_FRAME_TARGET), own_both = ROOM(U9I_FRAME_TARGET) + PACKED_ROOM(U9I_FRAME_TARGET);
static const size_t large_room = ROOM(U9I_BODY_MAX), large_both = ROOM(U9I_BODY_MAX) + PACKED_ROOM(U9I_BODY_MAX);

void u9i_slots_lock(u9i_slots *s)
{
    pthread_mutex_lock(&s->lock);
}

/* What holds of every row of slots while its lock is held. */
static void slots_check(u9i_slots *s)
{
    assert(s->written <= s->sequenced && s->sequenced <= s->taken && s->taken <= s->sealed);
    assert(s->sealed + s->filling - s->written <= U9I_SLOTS);
    assert(!s->own || s->sealed + s->filling - s->sequenced <= U9I_SLOTS_OWN);
    assert(s->waiting_bytes == 0 || s->taken < s->sealed);
    assert(s->taken == s->sealed || u9i_slots_at(s, s->taken)->state == U9I_OUT_SEALED);
    assert(s->sequenced == s->taken || u9i_slots_at(s, s->sequenced)->state == U9I_OUT_HASHING ||
           u9i_slots_at(s, s->sequenced)->state == U9I_OUT_HASHED);
    assert(s->written == s->sequenced || u9i_slots_at(s, s->written)->state == U9I_OUT_SEQUENCED);
    assert(!s->filling || u9i_slots_at(s, s->sealed)->state == U9I_OUT_FILLING);
}

void u9i_slots_unlock(u9i_slots *s)
{
    slots_check(s);
    pthread_mutex_unlock(&s->lock);
}

bool u9i_slots_init(u9i_slots *s, bool own)
{
    memset(s, 0, sizeof *s);
    s->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    for (unsigned i = 0; i < U9I_SLOTS; i++) (void)u9i_hasher_open(&s->slots[i].hasher);
    if (!own) return true;
    s->own = u9i_pages(U9I_SLOTS_OWN * own_both);
    s->large = u9i_pages(large_both);
    if (s->own && s->large) return true;
    u9i_slots_release(s);
    return false;
}

void u9i_slots_release(u9i_slots *s)
{
    for (unsigned i = 0; i < U9I_SLOTS; i++) u9i_hasher_close(&s->slots[i].hasher);
    u9i_pages_free(s->own, U9I_SLOTS_OWN * own_both);
    u9i_pages_free(s->large, large_both);
    s->own = s->large = NULL;
}

bool u9i_slots_can_open(const u9i_slots *s, size_t body_size)
{
    if (s->sealed - s->written == U9I_SLOTS) return false;
    if (s->own == NULL) return true;
    return s->sealed - s->sequenced < U9I_SLOTS_OWN && !(body_size > U9I_FRAME_TARGET && s->large_used);
}

u9i_frame_out *u9i_slots_open(u9i_slots *s, size_t body_size)
{
    u9i_frame_out *f = u9i_slots_at(s, s->sealed);
    u9i_slots_lock(s);
    assert(!s->filling && u9i_slots_can_open(s, body_size) && f->state == U9I_OUT_FREE);
    *f = (u9i_frame_out){.state = U9I_OUT_FILLING, .hasher = f->hasher};
    s->filling = true;
    if (s->own && body_size > U9I_FRAME_TARGET) {
        f->large = s->large_used = true;
        f->frame = s->large;
        f->packed = s->large + large_room;
    } else if (s->own) {
        f->frame = s->own + s->sealed % U9I_SLOTS_OWN * own_both;
        f->packed = f->frame + own_room;
    }
    u9i_slots_unlock(s);
    return f;
}

void u9i_slots_unopen(u9i_slots *s)
{
    u9i_frame_out *f = u9i_slots_filling(s);
    u9i_slots_lock(s);
    if (f->large) s->large_used = false;
    f->state = U9I_OUT_FREE;
    s->filling = false;
    u9i_slots_unlock(s);
}

void u9i_slots_forget(u9i_slots *s)
{
    u9i_slots_lock(s);
    for (unsigned i = 0; i < U9I_SLOTS; i++) s->slots[i].state = U9I_OUT_FREE;
    s->written = s->sequenced = s->taken = s->sealed;
    s->waiting_bytes = 0;
    s->filling = s->large_used = false;
    u9i_slots_unlock(s);
}

void u9i_slots_seal(u9i_slots *s)
{
    u9i_frame_out *f = u9i_slots_filling(s);
    u9i_slots_lock(s);
    f->state = U9I_OUT_SEALED;
    s->waiting_bytes += f->body_size;
    s->filling = false;
    s->sealed++;
    u9i_slots_unlock(s);
}

unsigned u9i_slots_take(u9i_slots *s, u9i_frame_out **out, unsigned max)
{
    unsigned n = 0;
    for (; n < max && s->taken < s->sealed; n++) {
        out[n] = u9i_slots_at(s, s->taken++);
        out[n]->state = U9I_OUT_HASHING;
        s->waiting_bytes -= out[n]->body_size;
    }
    return n;
}

void u9i_slots_hashed(u9i_slots *s, u9i_frame_out *f)
{
    (void)s;
    assert(f->state == U9I_OUT_HASHING);
    f->state = U9I_OUT_HASHED;
}

bool u9i_slots_took_wait(u9i_slots *s)
{
    bool awaited = s->awaited;
    s->awaited = false;
    return awaited;
}

/* The next one to be sequenced is in this state. Its lock is held. */
static bool next_slot_is(u9i_slots *s, u9i_out_state state)
{
    return s->sequenced < s->taken && u9i_slots_at(s, s->sequenced)->state == state;
}

bool u9i_slots_await(u9i_slots *s)
{
    u9i_slots_lock(s);
    bool hashing = next_slot_is(s, U9I_OUT_HASHING);
    s->awaited |= hashing;
    u9i_slots_unlock(s);
    return hashing;
}

u9i_frame_out *u9i_slots_next(u9i_slots *s)
{
    u9i_slots_lock(s);
    bool hashed = next_slot_is(s, U9I_OUT_HASHED);
    u9i_slots_unlock(s);
    return hashed ? u9i_slots_at(s, s->sequenced) : NULL;
}

void u9i_slots_sequenced(u9i_slots *s)
{
    u9i_slots_lock(s);
    u9i_frame_out *f = u9i_slots_at(s, s->sequenced);
    assert(next_slot_is(s, U9I_OUT_HASHED));
    f->state = U9I_OUT_SEQUENCED;
    if (f->large) s->large_used = false;
    s->sequenced++;
    u9i_slots_unlock(s);
}

bool u9i_slots_written(u9i_slots *s, uint64_t done, u9i_position *end)
{
    uint64_t before = s->written;
    u9i_slots_lock(s);
    for (; s->written < s->sequenced && u9i_slots_at(s, s->written)->end_v <= done; s->written++) {
        *end = u9i_slots_at(s, s->written)->end;
        u9i_slots_at(s, s->written)->state = U9I_OUT_FREE;
    }
    u9i_slots_unlock(s);
    return s->written > before;
}
