/*
 * engine/check/carve_hold.c: frames that may stand inside of others. See carving.h. [U-9]
 *
 * What stands inside a whole frame was never looked at. But a frame whose header is damaged holds its record all the
 * same, and a record can hold frames, true or forged. A *row* is what has one boundary and stands in an image as in its
 * segment: in one piece, but for what is broken in between. It is *held* if all of it stands where another thing may
 * reach: between two neighbours of another row, or behind a broken header, up to the length in that. What is held is
 * believed only if a frame that is not has its hash; a segment of which all is held stands apart.
 */
#include "engine/check/carving.h"

#include "engine/os/list.h"
#include "engine/segment/rejoin.h"
#include "format/base/bytes.h"

#include <stdlib.h>
#include <string.h>

enum { NO_FRAME = UINT32_MAX, ROUNDS_MAX = 4 };

/* A frame in one piece, or a disk header, and where its segment would begin. */
typedef struct row_item {
    uint32_t kin, frame, image;
    uint64_t start; /* at less offset, modulo 2^64 */
    uint64_t at, end;
} row_item;

/* Bytes of an image that may be something's inside. */
typedef struct held_span {
    uint32_t image;
    uint64_t from, to;
} held_span;

typedef struct holding {
    u9i_carving *c;
    row_item *items;
    held_span *reaches;
    size_t item_count, reach_count;
} holding;

static int by_row(const void *a, const void *b)
{
    const row_item *x = a, *y = b;
    int order = u9i_order(x->kin, y->kin);
    if (order == 0) order = u9i_order(x->image, y->image);
    if (order == 0) order = u9i_order(x->start, y->start);
    return order ? order : u9i_order(x->at, y->at);
}

static int by_from(const void *a, const void *b)
{
    const held_span *x = a, *y = b;
    int order = u9i_order(x->image, y->image);
    return order ? order : u9i_order(x->from, y->from);
}

static bool same_row(const row_item *a, const row_item *b)
{
    return a->kin == b->kin && a->image == b->image && a->start == b->start;
}

static void list_items(holding *h)
{
    const u9i_carving *c = h->c;
    for (size_t i = 0; i < c->kin_count; i++) {
        const u9i_kin *k = &c->kin[i];
        if (k->has_header)
            h->items[h->item_count++] = (row_item){(uint32_t)i, NO_FRAME, k->header_image, k->header_at, k->header_at,
                                               k->header_at + U9I_DISK_HEADER_SIZE};
        for (size_t n = 0; n < k->count; n++) {
            const u9i_fragment *f = &k->frames[n];
            if (f->split < f->end) continue; /* in two pieces: its hash is another's chain, or its place was known */
            h->items[h->item_count++] = (row_item){(uint32_t)i, (uint32_t)n, f->image, f->at - f->offset, f->at,
                                               f->at + (u9i_fragment_end(f) - f->offset)};
        }
    }
    qsort(h->items, h->item_count, sizeof *h->items, by_row);
}

static void add_reach(holding *h, uint32_t image, uint64_t from, uint64_t to)
{
    held_span *last = h->reach_count ? &h->reaches[h->reach_count - 1] : NULL;
    if (last && last->image == image && last->from <= from && from <= last->to) {
        if (to > last->to) last->to = to;
        return;
    }
    if (from < to) h->reaches[h->reach_count++] = (held_span){image, from, to};
}

/* Joins those that touch, so that one look finds whether any is over a place. */
static void join_reaches(holding *h)
{
    size_t n = 0;
    if (h->reach_count > 1) qsort(h->reaches, h->reach_count, sizeof *h->reaches, by_from);
    for (size_t i = 0; i < h->reach_count; i++) {
        held_span *last = n ? &h->reaches[n - 1] : NULL, r = h->reaches[i];
        if (last && last->image == r.image && r.from <= last->to) last->to = r.to > last->to ? r.to : last->to;
        else h->reaches[n++] = r;
    }
    h->reach_count = n;
}

/* A header's word on how far its frame goes. */
static void add_header_reach(holding *h, uint32_t image, uint64_t at, const uint8_t *header)
{
    uint64_t length = u9i_get_be(header + 56, 8);
    if (length >= U9I_TRAILER_SIZE && length <= U9I_PAYLOAD_MAX)
        add_reach(h, image, at + 1, at + U9I_FRAME_HEADER_SIZE + length);
}

/* True if a frame of this kin began at this place: its boundary stands, or its signature. */
static bool begins_there(const u9i_carving *c, const u9i_kin *k, uint32_t image, uint64_t at, uint8_t header[U9I_FRAME_HEADER_SIZE])
{
    uint8_t sign[U9I_HASH_SIZE];
    if (!u9i_carve_read(c, image, at, header, U9I_FRAME_HEADER_SIZE)) return false;
    if (memcmp(header, k->boundary, U9I_HASH_SIZE) == 0) return true;
    u9i_sign(header + 16, k->secret.bytes, sign);
    return k->proven && memcmp(header + 32, sign, sizeof sign) == 0;
}

/* Where a broken frame stands behind one with which its row ends, at its end or the next block; 0: at neither. [F-8] */
static uint64_t behind_row(const u9i_carving *c, const u9i_kin *k, const u9i_fragment *f, uint8_t header[U9I_FRAME_HEADER_SIZE])
{
    uint64_t end = u9i_fragment_end(f), block = (end + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    if (begins_there(c, k, f->image, f->at + (end - f->offset), header)) return end;
    return begins_there(c, k, f->image, f->at + (block - f->offset), header) ? block : 0;
}

static void list_reaches(holding *h)
{
    const u9i_carving *c = h->c;
    uint8_t header[U9I_FRAME_HEADER_SIZE];
    for (size_t i = 0; i < h->item_count; i++) {
        const row_item *b = &h->items[i], *next = i + 1 < h->item_count && same_row(b, b + 1) ? b + 1 : NULL;
        const u9i_kin *k = &c->kin[b->kin];
        if (next) add_reach(h, b->image, b->end, next->at);
        if (next || b->frame == NO_FRAME) continue;
        uint64_t p = behind_row(c, k, &k->frames[b->frame], header);
        if (p > 0) add_header_reach(h, b->image, b->start + p, header);
    }
    for (size_t i = 0; i < c->wound_count; i++) {
        const u9i_wound *w = &c->wounds[i];
        if (!w->healed && !w->known && u9i_carve_read(c, w->image, w->at, header, sizeof header))
            add_header_reach(h, w->image, w->at, header);
    }
    join_reaches(h);
}

static bool is_reached(const holding *h, const row_item *item)
{
    size_t low = 0, high = h->reach_count;
    while (low < high) { /* the first that ends behind it */
        size_t middle = low + (high - low) / 2;
        const held_span *r = &h->reaches[middle];
        if (r->image < item->image || (r->image == item->image && r->to <= item->at)) low = middle + 1;
        else high = middle;
    }
    return low < h->reach_count && h->reaches[low].image == item->image && h->reaches[low].from <= item->at;
}

/* Of each row whether all of it is held. */
static void mark_held(holding *h)
{
    u9i_carving *c = h->c;
    for (size_t i = 0; i < c->kin_count; i++) c->kin[i].held = c->kin[i].count > 0;
    for (size_t i = 0, n; i < h->item_count; i += n) {
        bool held = true;
        u9i_kin *k = &c->kin[h->items[i].kin];
        for (n = 0; i + n < h->item_count && same_row(&h->items[i], &h->items[i + n]); n++)
            held = held && is_reached(h, &h->items[i + n]);
        for (size_t m = 0; m < n; m++)
            if (h->items[i + m].frame != NO_FRAME) k->frames[h->items[i + m].frame].held = held;
        k->held = k->held && held;
    }
}

static int by_offset_down(const void *a, const void *b)
{
    const u9i_fragment *x = a, *y = b;
    int order = u9i_order(y->offset, x->offset);
    return order ? order : u9i_order(x->held, y->held);
}

/* Held frames go, but for those that lead, chain by chain, to one that is not held. */
static void drop_held(const u9i_carving *c, u9i_kin *k)
{
    size_t kept = 0;
    const u9i_fragment *next = NULL;
    if (k->held || k->count == 0) return;
    qsort(k->frames, k->count, sizeof *k->frames, by_offset_down);
    for (size_t i = 0; i < k->count; i++) {
        const u9i_fragment *f = &k->frames[i];
        bool led = next && next->previous == f->offset && memcmp(next->chain, f->sha, U9I_HASH_SIZE) == 0;
        if (f->held && !led && !u9i_carve_is_named(c, k, f)) continue;
        k->frames[kept++] = *f;
        next = &k->frames[kept - 1];
    }
    k->count = kept;
}

/* What stands at this place, if it is a broken header, is one of a frame that is known. */
static void know_wound(u9i_carving *c, uint32_t image, uint64_t at)
{
    size_t low = 0, high = c->wound_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const u9i_wound *w = &c->wounds[middle];
        if (w->image < image || (w->image == image && w->at < at)) low = middle + 1;
        else high = middle;
    }
    if (low < c->wound_count && c->wounds[low].image == image && c->wounds[low].at == at) c->wounds[low].known = true;
}

/* A frame that is proven though it is damaged: it is one of its segment's, and what stands in it a record's bytes. */
static u9_err take_broken(u9i_carving *c, u9i_kin *k, uint32_t image, uint64_t at, const u9i_frame *r)
{
    uint64_t end = r->offset + U9I_FRAME_HEADER_SIZE + r->body_size + U9I_TRAILER_SIZE;
    u9i_fragment f = {.offset = r->offset, .end = end, .at = at, .split = end, .image = image,
                      .previous = r->trailer.previous, .ordinal = r->trailer.ordinal};
    memcpy(f.sha, r->sha, sizeof f.sha);
    memcpy(f.chain, r->trailer.chain, sizeof f.chain);
    u9i_sign(r->sha, k->secret.bytes, f.signature);
    u9i_carve_drop(c, image, at, at + (r->end - r->offset));
    know_wound(c, image, at);
    return u9i_carve_add(k, &f) ? U9_OK : u9i_carve_no_memory(c);
}

/* Puts the frame at hint->p together, which stands at `at` and has no more than `size` bytes, by what may still be hashed. */
static bool put_together(u9i_carving *c, const u9i_hint *h, uint32_t image, uint64_t at, uint64_t size, u9i_rejoined *r)
{
    uint64_t some = 2 * size < c->left / 2 ? 2 * size : c->left / 2;
    u9i_effort effort = {.looks = some, .guesses = some};
    if (size > U9I_FRAME_HEADER_SIZE + U9I_PAYLOAD_MAX + U9I_BLOCK || !u9i_carve_read(c, image, at, c->frame, (size_t)size))
        return false;
    u9_err err = u9i_rejoin(h, c->frame, (size_t)size, false, &effort, r);
    c->left -= 2 * some - effort.looks - effort.guesses;
    if (err == U9_LIMIT && some < 2 * size) c->report->gave_up = 1;
    return err == U9_OK;
}

/* A place in a row with nothing of it in between. */
typedef struct row_gap {
    u9i_kin *kin;
    u9i_fragment frame;
    uint64_t low; /* 0: behind the frame, where the row ends; else in front of it, down to this offset */
} row_gap;

/* The frames in front of one that are proven by its chain. [Y-3] */
static u9_err take_before(u9i_carving *c, const row_gap *gap, bool *any)
{
    const u9i_fragment *g = &gap->frame;
    u9i_secret secret = gap->kin->secret;
    u9i_hint h = {.secret = &secret, .p = g->previous, .has_next = true, .next_at = g->offset,
                  .next_ordinal = g->ordinal, .next_time_us = U9_NOWHERE, .next_durable = U9_NOWHERE};
    u9i_rejoined r;
    u9_err err = U9_OK;
    memcpy(h.next_chain, g->chain, sizeof h.next_chain);
    while (err == U9_OK && h.p >= gap->low && h.p < h.next_at) {
        uint64_t back = g->offset - h.p, at = g->at - back;
        if (back > g->at || !put_together(c, &h, g->image, at, h.next_at - h.p, &r)) break;
        err = take_broken(c, gap->kin, g->image, at, &r.frame);
        *any = true;
        h.next_at = h.p;
        h.p = r.frame.trailer.previous;
        h.next_ordinal = r.frame.trailer.ordinal;
        memcpy(h.next_chain, r.frame.trailer.chain, sizeof h.next_chain);
    }
    return err;
}

/* The frames behind the one with which a row ends, each of which follows. [Y-2] */
static u9_err take_behind(u9i_carving *c, const row_gap *gap, bool *any)
{
    u9i_fragment f = gap->frame;
    u9i_secret secret = gap->kin->secret;
    uint8_t header[U9I_FRAME_HEADER_SIZE];
    u9i_rejoined r;
    u9_err err = U9_OK;
    u9i_trailer t;
    while (err == U9_OK && u9i_carve_fetch(c, &f) && u9i_carve_trailer(c->frame + (f.end - f.offset) - U9I_TRAILER_SIZE, &t)) {
        u9i_hint h = {.secret = &secret, .placed = true, .has_front = true, .has_ordinal = true, .has_chain = true,
                      .previous = f.offset, .ordinal = t.ordinal + t.count, .front_end = u9i_fragment_end(&f),
                      .time_us = t.time_us, .durable = t.durable, .next_time_us = U9_NOWHERE, .next_durable = U9_NOWHERE};
        memcpy(h.chain, f.sha, sizeof h.chain);
        h.p = behind_row(c, gap->kin, &f, header);
        uint64_t at = f.at + (h.p - f.offset), size = c->images[f.image].size - at,
                 most = U9I_FRAME_HEADER_SIZE + U9I_PAYLOAD_MAX;
        if (h.p == 0 || !put_together(c, &h, f.image, at, size < most ? size : most, &r)) break;
        err = take_broken(c, gap->kin, f.image, at, &r.frame);
        *any = true;
        if (err == U9_OK) f = gap->kin->frames[gap->kin->count - 1];
    }
    return err;
}

/* Where a row begins, what it follows is elsewhere; or damaged, up to the start of the segment. */
static size_t list_gaps(const holding *h, row_gap *out)
{
    size_t n = 0;
    for (size_t i = 0; i < h->item_count; i++) {
        const row_item *a = i > 0 ? &h->items[i - 1] : NULL, *b = &h->items[i];
        u9i_kin *k = &h->c->kin[b->kin];
        if (b->frame == NO_FRAME || !k->proven || k->frames[b->frame].held) continue;
        const u9i_fragment *f = &k->frames[b->frame];
        bool first = a == NULL || !same_row(a, b);
        if (first && u9i_carve_find(k->frames, k->count, f->previous, f->chain) == NULL) out[n++] = (row_gap){k, *f, U9I_DISK_HEADER_SIZE};
        if (!first && a->end < b->at) out[n++] = (row_gap){k, *f, a->end - a->start};
        if (i + 1 == h->item_count || !same_row(b, &h->items[i + 1])) out[n++] = (row_gap){k, k->frames[b->frame], 0};
    }
    return n;
}

/* What is broken, and can be proven all the same. */
static u9_err take_gaps(holding *h, row_gap *gaps, bool *any)
{
    u9_err err = U9_OK;
    size_t count = list_gaps(h, gaps);
    for (size_t i = 0; i < count && err == U9_OK; i++)
        err = gaps[i].low ? take_before(h->c, &gaps[i], any) : take_behind(h->c, &gaps[i], any);
    return err;
}

/* One look at what may be in what. *any: something is proven now that was broken, and reaches no further than it does. */
static u9_err hold_once(u9i_carving *c, bool *any)
{
    size_t most = c->kin_count + 1;
    u9_err err = u9i_carve_know(c); /* it may drop frames, whose places are taken down next */
    for (size_t i = 0; i < c->kin_count; i++) {
        most += c->kin[i].count;
        u9i_carve_sort(c->kin[i].frames, c->kin[i].count);
    }
    holding h = {.c = c, .items = calloc(most, sizeof *h.items),
                 .reaches = calloc(2 * most + c->wound_count, sizeof *h.reaches)};
    row_gap *gaps = calloc(2 * most, sizeof *gaps);
    if (err == U9_OK && !(h.items && h.reaches && gaps)) err = u9i_carve_no_memory(c);
    if (err == U9_OK) {
        list_items(&h);
        list_reaches(&h);
        mark_held(&h);
        err = u9i_carve_know(c);
    }
    if (err == U9_OK) err = take_gaps(&h, gaps, any);
    free(gaps);
    free(h.items);
    free(h.reaches);
    return err;
}

u9_err u9i_carve_hold(u9i_carving *c)
{
    u9_err err = U9_OK;
    bool any = true;
    for (unsigned round = 0; any && err == U9_OK && round < ROUNDS_MAX; round++) {
        any = false;
        err = hold_once(c, &any);
    }
    for (size_t i = 0; i < c->kin_count && err == U9_OK; i++) drop_held(c, &c->kin[i]);
    return err;
}
