/*
 * engine/segment/verified.c: see verified.h.
 */
#include "engine/segment/verified.h"

#include "engine/os/process.h"
#include "format/base/limits.h"

typedef _Atomic(uint16_t) mark;

enum { BODY = 0x8000 }; /* beside the name: its records were walked, too */

void u9i_verified_init(u9i_verified *v, uint64_t size)
{
    v->blocks = size / U9I_BLOCK + (size % U9I_BLOCK != 0);
    atomic_init(&v->made, NULL);
}

static size_t bytes_of(const u9i_verified *v)
{
    return (size_t)v->blocks * sizeof(mark);
}

void u9i_verified_release(u9i_verified *v)
{
    u9i_pages_free(atomic_load(&v->made), bytes_of(v));
    atomic_store(&v->made, NULL);
}

/* Which of the places in its block where a frame can begin; never 0. */
static uint16_t place_in_block(uint64_t offset)
{
    return (uint16_t)(offset % U9I_BLOCK / U9I_ALIGN + 1);
}

/* What is noted of the block; 0: nothing. */
static uint16_t noted(const u9i_verified *v, uint64_t offset)
{
    mark *made = atomic_load_explicit(&v->made, memory_order_acquire);
    uint64_t block = offset / U9I_BLOCK;
    if (made == NULL || block >= v->blocks || offset % U9I_ALIGN != 0) return 0;
    return atomic_load_explicit(&made[block], memory_order_acquire);
}

bool u9i_verified_has(const u9i_verified *v, uint64_t offset)
{
    return (noted(v, offset) & ~BODY) == place_in_block(offset);
}

bool u9i_verified_has_body(const u9i_verified *v, uint64_t offset)
{
    return noted(v, offset) == (place_in_block(offset) | BODY);
}

/* The marks; those who make them at once agree on one's. NULL without memory. */
static mark *make(u9i_verified *v)
{
    mark *made = atomic_load_explicit(&v->made, memory_order_acquire), *mine;
    if (made != NULL || v->blocks > SIZE_MAX / sizeof(mark)) return made;
    mine = u9i_pages(bytes_of(v));
    if (mine == NULL || atomic_compare_exchange_strong(&v->made, &made, mine)) return mine;
    u9i_pages_free(mine, bytes_of(v));
    return made;
}

static void note_place(u9i_verified *v, uint64_t offset, uint16_t name)
{
    uint64_t block = offset / U9I_BLOCK;
    mark *made = block < v->blocks && offset % U9I_ALIGN == 0 ? make(v) : NULL;
    if (made) atomic_store_explicit(&made[block], name, memory_order_release);
}

void u9i_verified_note(u9i_verified *v, uint64_t offset)
{
    note_place(v, offset, place_in_block(offset));
}

void u9i_verified_note_body(u9i_verified *v, uint64_t offset)
{
    note_place(v, offset, (uint16_t)(place_in_block(offset) | BODY));
}

void u9i_verified_take_over(u9i_verified *v, const u9i_verified *other)
{
    mark *theirs = atomic_load_explicit(&other->made, memory_order_acquire), *ours = theirs ? make(v) : NULL;
    uint64_t blocks = v->blocks < other->blocks ? v->blocks : other->blocks;
    for (uint64_t i = 0; ours && i < blocks; i++) {
        uint16_t name = atomic_load_explicit(&theirs[i], memory_order_acquire);
        if (name != 0) atomic_store_explicit(&ours[i], name, memory_order_release);
    }
}

void u9i_verified_clear(u9i_verified *v)
{
    mark *made = atomic_load_explicit(&v->made, memory_order_acquire);
    for (uint64_t i = 0; made && i < v->blocks; i++)
        if (atomic_load_explicit(&made[i], memory_order_relaxed) != 0) atomic_store(&made[i], 0);
}
