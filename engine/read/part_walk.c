/*
 * engine/read/part_walk.c: see part_walk.h. [C-6]
 */
#include "engine/read/part_walk.h"

#include <assert.h>
#include <string.h>

void u9i_part_walk_check(const u9i_part_walk *w)
{
    assert(w->count > 0 && w->count <= U9I_STOPS && w->stride > 0);
    assert(w->next.begin <= w->total && w->begin <= w->next.begin);
    assert(w->part.data == NULL || w->begin + w->part.size == w->next.begin);
    for (unsigned i = 0; i < w->count; i++) assert(w->stops[i].number == i * w->stride);
}

void u9i_part_walk_init(u9i_part_walk *w, u9i_window *window, uint8_t *scratch, uint64_t first,
                        uint64_t last, uint64_t total)
{
    *w = (u9i_part_walk){.window = window,
                         .scratch = scratch,
                         .total = total,
                         .last = last,
                         .next = {.frame = first},
                         .count = 1,
                         .stride = 1};
    w->stops[0] = w->next;
    u9i_part_walk_check(w);
}

/* Remembers the part that comes next, if it is one of those; of too many every second one goes. */
static void keep_stop(u9i_part_walk *w)
{
    const u9i_stop *last = &w->stops[w->count - 1];
    if (w->next.number <= last->number || w->next.number % w->stride != 0) return;
    if (w->count == U9I_STOPS) {
        w->count = U9I_STOPS / 2;
        w->stride *= 2;
        for (unsigned i = 0; i < w->count; i++) w->stops[i] = w->stops[2 * i];
        if (w->next.number % w->stride != 0) return;
    }
    w->stops[w->count++] = w->next;
}

/* Goes back to the nearest part that is remembered and does not begin behind `offset`. */
static void go_back(u9i_part_walk *w, uint64_t offset)
{
    unsigned i = w->count;
    while (w->stops[i - 1].begin > offset) i--; /* the first begins at 0 */
    w->next = w->stops[i - 1];
    w->part = (u9i_span){0};
    w->begin = w->next.begin;
}

/* True if this is the part that comes next. */
static bool is_next(const u9i_part_walk *w, const u9i_frame *f, const u9i_part_record *part)
{
    uint64_t left = w->total - w->next.begin;
    bool ends = f->offset == w->last;
    return part->number == w->next.number && part->total == w->total &&
           part->before == w->next.before && part->bytes.size <= left &&
           ends == (f->trailer.count == 1) && (!ends || part->bytes.size == left);
}

/* The next part that stands behind `w->next`, up to the last one's frame. */
static u9_err find_part(u9i_part_walk *w, u9i_frame *f, u9i_part_record *part)
{
    size_t need;
    u9i_body body;
    u9_err err;
    for (uint64_t p = w->next.frame; p <= w->last; p = f->end) {
        err = u9i_window_find(w->window, p, w->last + U9I_FRAME_MAX, f);
        if (err != U9_OK) return err == U9_END ? U9_CORRUPT : err;
        if (f->offset > w->last || f->trailer.count > 1) continue;
        if (u9i_body_open(f, w->scratch, U9I_BODY_MAX, &need, &body) == U9_OK &&
            body.kind == U9I_BODY_PART)
            return u9i_part_record_decode(body.bytes, body.size, part);
    }
    return U9_CORRUPT;
}

/* Turns to the part that comes next. */
static u9_err turn_to_next(u9i_part_walk *w)
{
    u9i_frame f;
    u9i_part_record part;
    u9_err err = U9_CORRUPT;
    w->part = (u9i_span){0};
    for (unsigned tries = 0; err == U9_CORRUPT && tries < 2;
         tries++) { /* what counts is read once more */
        if (tries > 0) u9i_window_forget(w->window);
        err = find_part(w, &f, &part);
        if (err == U9_OK && !is_next(w, &f, &part)) err = U9_CORRUPT;
    }
    if (err != U9_OK) return err;
    w->part = part.bytes;
    w->begin = w->next.begin;
    w->next = (u9i_stop){.frame = f.end,
                         .before = f.offset,
                         .begin = w->begin + part.bytes.size,
                         .number = part.number + 1};
    keep_stop(w);
    u9i_part_walk_check(w);
    return U9_OK;
}

u9_err u9i_part_walk_at(u9i_part_walk *w, uint64_t offset, u9i_span *out)
{
    assert(offset < w->total);
    if (offset < w->begin || (w->part.data == NULL && offset < w->next.begin)) go_back(w, offset);
    while (w->part.data == NULL || offset >= w->next.begin) {
        u9_err err = w->next.begin < w->total ? turn_to_next(w) : U9_CORRUPT;
        if (err != U9_OK) return err;
    }
    size_t skip = (size_t)(offset - w->begin);
    *out = (u9i_span){w->part.data + skip, w->part.size - skip};
    return U9_OK;
}

/* The claims of the part that may stand in the frame at p, by a look at its front. */
static u9_err peek(u9i_window *w, uint64_t p, u9i_part_record *out)
{
    uint8_t front[U9I_FRAME_HEADER_SIZE + U9I_PART_FRONT];
    size_t got;
    int sys = u9i_file_read(w->file, p, front, sizeof front, &got);
    if (sys != 0) {
        w->sys = -sys;
        w->sys_at = p;
        return U9_IO;
    }
    bool there = got == sizeof front && memcmp(front, w->secret.boundary, U9I_HASH_SIZE) == 0;
    return there ? u9i_part_record_peek(front + U9I_FRAME_HEADER_SIZE, out) : U9_CORRUPT;
}

u9_err u9i_part_walk_first(u9i_window *w, const u9i_frame *last, const u9i_part_record *part,
                           uint64_t *first)
{
    uint64_t at = last->offset;
    u9i_part_record p = *part;
    while (p.number > 0) {
        uint32_t number = p.number;
        if (p.before >= at || p.before < U9I_DISK_HEADER_SIZE) return U9_CORRUPT;
        at = p.before;
        u9_err err = peek(w, at, &p);
        if (err != U9_OK) return err;
        if (p.number != number - 1 || p.total != part->total) return U9_CORRUPT;
    }
    *first = at;
    return U9_OK;
}
