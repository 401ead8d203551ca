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
#include "format/base/bytes.h"

#include <stdlib.h>
#include <string.h>

enum { NO_FRAME = UINT32_MAX, ROUNDS_MAX = 64 };

/* A frame in one piece, or a disk header, and where its segment would begin. */
typedef struct row_item {
    uint32_t kin, frame, image;
    uint64_t start; /* at less offset, modulo 2^64 */
    uint64_t at, end;
} row_item;

typedef struct holding {
    u9i_carving *c;
    row_item *items;
    u9i_image_span *reaches; /* what may be something's inside */
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
    const u9i_image_span *x = a, *y = b;
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
    u9i_image_span *last = h->reach_count ? &h->reaches[h->reach_count - 1] : NULL;
    if (last && last->image == image && last->from <= from && from <= last->to) {
        if (to > last->to) last->to = to;
        return;
    }
    if (from < to) h->reaches[h->reach_count++] = (u9i_image_span){image, from, to};
}

/* Joins those that touch, so that one look finds whether any is over a place. */
static void join_reaches(holding *h)
{
    size_t n = 0;
    if (h->reach_count > 1) qsort(h->reaches, h->reach_count, sizeof *h->reaches, by_from);
    for (size_t i = 0; i < h->reach_count; i++) {
        u9i_image_span *last = n ? &h->reaches[n - 1] : NULL, r = h->reaches[i];
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

static void list_reaches(holding *h)
{
    const u9i_carving *c = h->c;
    uint8_t header[U9I_FRAME_HEADER_SIZE];
    for (size_t i = 0; i < h->item_count; i++) {
        const row_item *b = &h->items[i], *next = i + 1 < h->item_count && same_row(b, b + 1) ? b + 1 : NULL;
        const u9i_kin *k = &c->kin[b->kin];
        if (next) add_reach(h, b->image, b->end, next->at);
        if (next || b->frame == NO_FRAME) continue;
        uint64_t p = u9i_carve_behind(c, k, &k->frames[b->frame], header);
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
        const u9i_image_span *r = &h->reaches[middle];
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

static bool is_copy(const u9i_fragment *f, const u9i_fragment *g)
{
    return f->offset == g->offset && memcmp(f->sha, g->sha, sizeof f->sha) == 0;
}

/* Frames in order of which no copy counts. */
static uint64_t count_held(const u9i_kin *k)
{
    uint64_t n = 0;
    bool counts = false;
    for (const u9i_fragment *f = k->frames, *end = f + k->count; f < end; f++) {
        counts = f->counts || (counts && is_copy(f, f - 1));
        n += !counts && (f + 1 == end || !is_copy(f, f + 1));
    }
    return n;
}

/* Held frames go, but for those that lead, chain by chain, to one that is not held, or that are named. */
static void drop_held(const u9i_carving *c, u9i_kin *k)
{
    size_t kept = 0;
    if (k->held || k->count == 0) return;
    u9i_carve_sort(k->frames, k->count);
    for (size_t i = k->count; i-- > 0;) {
        u9i_fragment *f = &k->frames[i];
        f->counts |= !f->held || u9i_carve_is_named(c, k, f);
        u9i_fragment *before = f->counts ? u9i_carve_find(k->frames, k->count, f->previous, f->chain) : NULL;
        for (; before && before < f && before->offset == f->previous && memcmp(before->sha, f->chain, sizeof f->chain) == 0; before++)
            before->counts = true;
    }
    if (k->proven && !k->aside) c->report->held += count_held(k);
    for (size_t i = 0; i < k->count; i++)
        if (k->frames[i].counts) k->frames[kept++] = k->frames[i];
    k->count = kept;
}

/* True if a frame that is not held follows this one, wherever it stands. [F-8] */
static bool is_followed(const u9i_kin *k, const u9i_fragment *f)
{
    uint64_t end = u9i_fragment_end(f), block = u9i_carve_block(end);
    size_t low = 0, high = k->count;
    while (low < high) { /* the first that is not in front of its end */
        size_t middle = low + (high - low) / 2;
        if (k->frames[middle].offset < end) low = middle + 1;
        else high = middle;
    }
    for (const u9i_fragment *g = k->frames + low; low < k->count && g->offset <= block; low++, g++)
        if ((g->offset == end || g->offset == block) && !g->held && memcmp(g->chain, f->sha, sizeof f->sha) == 0) return true;
    return false;
}

/* Where a row begins, what it follows is elsewhere; or damaged, up to the start of the segment. */
static size_t list_gaps(const holding *h, u9i_row_gap *out)
{
    size_t n = 0;
    for (size_t i = 0; i < h->item_count; i++) {
        const row_item *a = i > 0 ? &h->items[i - 1] : NULL, *b = &h->items[i];
        u9i_kin *k = &h->c->kin[b->kin];
        if (b->frame == NO_FRAME || !k->proven || k->frames[b->frame].held) continue;
        const u9i_fragment *f = &k->frames[b->frame];
        bool first = a == NULL || !same_row(a, b);
        if (first && u9i_carve_find(k->frames, k->count, f->previous, f->chain) == NULL) out[n++] = (u9i_row_gap){k, *f, U9I_DISK_HEADER_SIZE, false};
        if (!first && a->end < b->at) out[n++] = (u9i_row_gap){k, *f, a->end - a->start, false};
        bool last = i + 1 == h->item_count || !same_row(b, &h->items[i + 1]);
        if (last) out[n++] = (u9i_row_gap){k, *f, 0, is_followed(k, f)};
    }
    return n;
}

/* One look at what may be in what. *any: something is proven now that was broken, and reaches no further than it does. */
static u9_err hold_once(u9i_carving *c, bool *any)
{
    size_t most = c->kin_count + 1;
    u9_err err = u9i_carve_know(c); /* it drops frames, and puts those that stay in order: their places are taken down next */
    for (size_t i = 0; i < c->kin_count; i++) most += c->kin[i].count;
    holding h = {.c = c, .items = calloc(most, sizeof *h.items),
                 .reaches = calloc(2 * most + c->wound_count, sizeof *h.reaches)};
    u9i_row_gap *gaps = calloc(2 * most, sizeof *gaps);
    u9i_image_span *whole = calloc(most, sizeof *whole);
    if (err == U9_OK && !(h.items && h.reaches && gaps && whole)) err = u9i_carve_no_memory(c);
    if (err == U9_OK) {
        list_items(&h);
        u9i_carve_list_whole(c, whole);
        list_reaches(&h);
        mark_held(&h);
        err = u9i_carve_know(c);
    }
    if (err == U9_OK) err = u9i_carve_mend(c, gaps, list_gaps(&h, gaps), any);
    c->whole = NULL;
    c->whole_count = 0;
    free(whole);
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
    if (any) c->report->gave_up = 1;
    for (size_t i = 0; i < c->kin_count && err == U9_OK; i++) drop_held(c, &c->kin[i]);
    return err;
}
