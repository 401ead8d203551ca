/*
 * engine/index/budget.c: see budget.h.
 */
#include "engine/index/budget.h"

#include "engine/os/process.h"

#include <assert.h>
#include <string.h>

enum {
    LINE = 64,          /* bytes of the processor's cache that come together */
    SMALL = 1 << 16,    /* bytes of a first piece: a small log needs no more; each is twice as large as the one before, */
    LARGE = 1 << 21     /*   up to this: a large page */
};

static void chunk_check(const u9i_chunk *c)
{
    assert(c == NULL || (c->used >= LINE && c->used <= c->size && c->used % LINE == 0));
}

void u9i_budget_open(u9i_budget *b, uint64_t limit)
{
    memset(b, 0, sizeof *b);
    b->limit = limit;
    pthread_mutex_init(&b->lock, NULL);
}

void u9i_budget_open_part(u9i_budget *b, u9i_budget *whole)
{
    assert(whole->whole == NULL);
    u9i_budget_open(b, 0);
    b->whole = whole;
    atomic_store(&whole->missed, 0);
}

static void free_chunks(u9i_chunk *c)
{
    for (u9i_chunk *next; c; c = next) {
        next = c->next;
        chunk_check(c);
        u9i_pages_free(c, c->size);
    }
}

void u9i_budget_close(u9i_budget *b)
{
    free_chunks(b->heads);
    free_chunks(b->tables);
    if (b->whole) atomic_fetch_sub(&b->whole->used, atomic_load(&b->used));
    pthread_mutex_destroy(&b->lock);
}

/* What is counted, and how much of that there may be. */
static u9i_budget *whole_of(u9i_budget *b)
{
    return b->whole ? b->whole : b;
}

static bool take_up_to(u9i_budget *b, uint64_t bytes, uint64_t limit)
{
    if (atomic_fetch_add(&whole_of(b)->used, bytes) + bytes > limit) {
        atomic_fetch_sub(&whole_of(b)->used, bytes);
        return false;
    }
    if (b->whole) atomic_fetch_add(&b->used, bytes);
    return true;
}

bool u9i_budget_take(u9i_budget *b, uint64_t bytes)
{
    if (take_up_to(b, bytes, whole_of(b)->limit)) return true;
    atomic_fetch_add(&whole_of(b)->missed, 1);
    return false;
}

bool u9i_budget_take_within(u9i_budget *b, uint64_t bytes, unsigned share)
{
    return take_up_to(b, bytes, whole_of(b)->limit / share);
}

void u9i_budget_add(u9i_budget *b, uint64_t bytes)
{
    atomic_fetch_add(&b->used, bytes);
    if (b->whole) atomic_fetch_add(&b->whole->used, bytes);
}

void u9i_budget_give(u9i_budget *b, uint64_t bytes)
{
    atomic_fetch_sub(&b->used, bytes);
    if (b->whole) atomic_fetch_sub(&b->whole->used, bytes);
}

/* Room in the first piece, or in a new one. */
static void *take_room(u9i_chunk **chunks, size_t bytes)
{
    u9i_chunk *c = *chunks;
    size_t room = (bytes + LINE - 1) / LINE * LINE, size = c == NULL ? SMALL : c->size < LARGE / 2 ? c->size * 2 : LARGE;
    if (c == NULL || c->used + room > c->size) {
        if (room > size - LINE) size = room + LINE; /* one of its own */
        c = (u9i_chunk *)(size == LARGE ? u9i_huge_pages(size) : u9i_pages(size));
        if (c == NULL) return NULL;
        *c = (u9i_chunk){.next = *chunks, .used = LINE, .size = size};
        *chunks = c;
    }
    void *there = (uint8_t *)c + c->used;
    c->used += room;
    chunk_check(c);
    return there;
}

void *u9i_budget_head(u9i_budget *b)
{
    pthread_mutex_lock(&b->lock);
    void *there = take_room(&b->heads, LINE);
    pthread_mutex_unlock(&b->lock);
    return there;
}

void *u9i_budget_table(u9i_budget *b, size_t bytes)
{
    pthread_mutex_lock(&b->lock);
    void *there = take_room(&b->tables, bytes);
    pthread_mutex_unlock(&b->lock);
    return there;
}
