/*
 * engine/check/carve_mend.c: broken frames that are proven all the same, by a chain or a signature. See carving.h. [U-9]
 *
 * Such a frame counts as it stands, and nothing that begins inside of it does: what was found there is a record's bytes,
 * whatever it looks like, as is what was put together there before the frame was known.
 */
#include "engine/check/carving.h"

#include "engine/os/list.h"
#include "engine/segment/rejoin.h"
#include "format/base/bytes.h"

#include <stdlib.h>
#include <string.h>

enum { NEAR = 1 << 17 }; /* bytes in which a frame is looked for first: it seldom has more */

static int by_image(const void *a, const void *b)
{
    const u9i_image_span *x = a, *y = b;
    int order = u9i_order(x->image, y->image);
    return order ? order : u9i_order(x->from, y->from);
}

void u9i_carve_list_whole(u9i_carving *c, u9i_image_span *whole)
{
    c->whole = whole;
    c->whole_count = 0;
    for (size_t i = 0; i < c->kin_count; i++)
        for (size_t n = 0; n < c->kin[i].count; n++) {
            const u9i_fragment *f = &c->kin[i].frames[n];
            if (f->split == f->end) whole[c->whole_count++] = (u9i_image_span){f->image, f->at, f->at + (f->end - f->offset)};
        }
    if (c->whole_count > 1) qsort(whole, c->whole_count, sizeof *whole, by_image);
}

/* True if a frame of this kin began at this place, and is not whole: its boundary stands, or its signature. */
static bool begins_there(const u9i_carving *c, const u9i_kin *k, uint32_t image, uint64_t at, uint8_t header[U9I_FRAME_HEADER_SIZE])
{
    uint8_t sign[U9I_HASH_SIZE];
    const u9i_image_span place = {.image = image, .from = at};
    if (!u9i_carve_read(c, image, at, header, U9I_FRAME_HEADER_SIZE)) return false;
    if (memcmp(header, k->boundary, U9I_HASH_SIZE) == 0)
        return c->whole_count == 0 || bsearch(&place, c->whole, c->whole_count, sizeof place, by_image) == NULL;
    u9i_sign(header + 16, k->secret.bytes, sign);
    return k->proven && memcmp(header + 32, sign, sizeof sign) == 0;
}

uint64_t u9i_carve_behind(const u9i_carving *c, const u9i_kin *k, const u9i_fragment *f, uint8_t header[U9I_FRAME_HEADER_SIZE])
{
    uint64_t end = u9i_fragment_end(f), block = u9i_carve_block(end);
    if (begins_there(c, k, f->image, f->at + (end - f->offset), header)) return end;
    return begins_there(c, k, f->image, f->at + (block - f->offset), header) ? block : 0;
}

/* What a frame that is proven though it is damaged is made of. */
static u9_err take_broken(u9i_carving *c, u9i_kin *k, uint32_t image, uint64_t at, const u9i_frame *r)
{
    uint64_t end = r->offset + U9I_FRAME_HEADER_SIZE + r->body_size + U9I_TRAILER_SIZE;
    u9i_fragment f = {.offset = r->offset, .end = end, .at = at, .split = end, .image = image, .mended = true,
                      .previous = r->trailer.previous, .ordinal = r->trailer.ordinal};
    memcpy(f.sha, r->sha, sizeof f.sha);
    memcpy(f.chain, r->trailer.chain, sizeof f.chain);
    u9i_sign(r->sha, k->secret.bytes, f.signature);
    u9i_image_span *more = u9i_grow(c->mended, c->mended_count, &c->mended_room, sizeof *more);
    if (more == NULL) return u9i_carve_no_memory(c);
    c->mended = more;
    more[c->mended_count++] = (u9i_image_span){image, at, at + (r->end - r->offset)};
    return u9i_carve_add(k, &f) ? U9_OK : u9i_carve_no_memory(c);
}

/* Looks for the frame at hint->p, which stands at `at`, in the first `part` of `size` bytes. */
static u9_err look_within(u9i_carving *c, const u9i_hint *h, uint32_t image, uint64_t at, uint64_t part, uint64_t size, u9i_rejoined *r)
{
    uint64_t some = 2 * part < c->left / 2 ? 2 * part : c->left / 2;
    u9i_effort effort = {.looks = some, .guesses = some};
    if (!u9i_carve_read(c, image, at, c->frame, (size_t)part)) return U9_CORRUPT;
    u9_err err = u9i_rejoin(h, c->frame, (size_t)part, part < size, &effort, r);
    c->left -= 2 * some - effort.looks - effort.guesses;
    if (err == U9_LIMIT && some < 2 * part) c->report->gave_up = 1;
    return err;
}

/*
 * Puts the frame at hint->p together, which stands at `at` and has no more than `size` bytes. All of them are looked
 * through only if the first bring nothing, and count as hashed then, so that many such places cost no more than some readings.
 */
static bool put_together(u9i_carving *c, const u9i_hint *h, uint32_t image, uint64_t at, uint64_t size, u9i_rejoined *r)
{
    if (size > U9I_FRAME_HEADER_SIZE + U9I_PAYLOAD_MAX + U9I_BLOCK) return false;
    if (look_within(c, h, image, at, size < NEAR ? size : NEAR, size, r) == U9_OK) return true;
    if (size <= NEAR) return false;
    if (size > c->left) c->report->gave_up = 1;
    if (size > c->left) return false;
    c->left -= size;
    return look_within(c, h, image, at, size, size, r) == U9_OK;
}

/* The frames in front of one that are proven by its chain. [Y-3] */
static u9_err take_before(u9i_carving *c, const u9i_row_gap *gap)
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
        h.next_at = h.p;
        h.p = r.frame.trailer.previous;
        h.next_ordinal = r.frame.trailer.ordinal;
        memcpy(h.next_chain, r.frame.trailer.chain, sizeof h.next_chain);
    }
    return err;
}

/* Puts the frame behind f together, of which nothing may stand but the end that the next segment names. [Y-2] */
static bool find_behind(u9i_carving *c, const u9i_kin *k, const u9i_fragment *f, u9i_hint *h, u9i_rejoined *r, uint64_t *at)
{
    uint8_t header[U9I_FRAME_HEADER_SIZE];
    uint64_t end = u9i_fragment_end(f), most = U9I_FRAME_HEADER_SIZE + U9I_PAYLOAD_MAX;
    const u9i_named_end *e = NULL;
    h->p = u9i_carve_behind(c, k, f, header);
    if (h->p == 0 && (e = u9i_carve_named_behind(c, k, end)) == NULL) return false;
    if (e) {
        h->has_next = h->far = true;
        h->next_at = e->offset;
        h->next_ordinal = e->ordinal;
        memcpy(h->next_chain, e->sha, sizeof h->next_chain);
        h->p = end;
    }
    for (;; h->p = u9i_carve_block(end)) {
        *at = f->at + (h->p - f->offset);
        uint64_t there = *at < c->images[f->image].size ? c->images[f->image].size - *at : 0;
        uint64_t size = e ? (h->p < e->offset ? e->offset - h->p : 0) : there < most ? there : most;
        if (size > 0 && size <= there && put_together(c, h, f->image, *at, size, r)) return true;
        if (e == NULL || h->p >= u9i_carve_block(end)) return false;
    }
}

/* The frames behind the one with which a row ends, each of which follows. [Y-2] */
static u9_err take_behind(u9i_carving *c, const u9i_row_gap *gap)
{
    u9i_fragment f = gap->frame;
    u9i_secret secret = gap->kin->secret;
    u9i_rejoined r;
    u9_err err = U9_OK;
    u9i_trailer t;
    uint64_t at;
    while (err == U9_OK && u9i_carve_fetch(c, &f) && u9i_carve_trailer(c->frame + (f.end - f.offset) - U9I_TRAILER_SIZE, &t)) {
        u9i_hint h = {.secret = &secret, .placed = true, .has_front = true, .has_ordinal = true, .has_chain = true,
                      .previous = f.offset, .ordinal = t.ordinal + t.count, .front_end = u9i_fragment_end(&f),
                      .time_us = t.time_us, .durable = t.durable, .next_time_us = U9_NOWHERE, .next_durable = U9_NOWHERE};
        memcpy(h.chain, f.sha, sizeof h.chain);
        if (!find_behind(c, gap->kin, &f, &h, &r, &at)) break;
        err = take_broken(c, gap->kin, f.image, at, &r.frame);
        if (err == U9_OK) f = gap->kin->frames[gap->kin->count - 1];
    }
    return err;
}

/* The last frame that was put together, of those in order, that begins at or in front of a place; NULL: none does. */
static const u9i_image_span *mended_before(const u9i_carving *c, uint32_t image, uint64_t at)
{
    size_t low = 0, high = c->mended_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const u9i_image_span *m = &c->mended[middle];
        if (m->image < image || (m->image == image && m->from <= at)) low = middle + 1;
        else high = middle;
    }
    return low > 0 && c->mended[low - 1].image == image ? &c->mended[low - 1] : NULL;
}

/* Leaves of what was put together only what stands in nothing else that was: in order, none in another. */
static void join_mended(u9i_carving *c)
{
    size_t n = 0;
    if (c->mended_count > 1) qsort(c->mended, c->mended_count, sizeof *c->mended, by_image);
    for (size_t i = 0; i < c->mended_count; i++) {
        const u9i_image_span *last = n ? &c->mended[n - 1] : NULL, *m = &c->mended[i];
        if (last == NULL || last->image != m->image || m->from >= last->to) c->mended[n++] = *m;
    }
    c->mended_count = n;
}

/* Nothing counts that stands in what was put together, and none of its headers says anything. */
static void drop_inner(u9i_carving *c)
{
    join_mended(c);
    for (size_t i = 0; i < c->kin_count; i++) {
        u9i_kin *k = &c->kin[i];
        size_t kept = 0;
        for (size_t n = 0; n < k->count; n++) {
            const u9i_fragment *f = &k->frames[n];
            const u9i_image_span *m = mended_before(c, f->image, f->at);
            bool inner = m && f->at < m->to && (f->at > m->from || !f->mended);
            if (!inner) k->frames[kept++] = *f;
        }
        k->count = kept;
    }
    for (size_t i = 0; i < c->wound_count; i++) {
        u9i_wound *w = &c->wounds[i];
        const u9i_image_span *m = mended_before(c, w->image, w->at);
        if (m == NULL || w->at >= m->to) continue;
        if (w->at == m->from) w->known = true;
        else w->healed = true;
    }
}

/* The places where something is missing; then those where it is not, of which none is worth a word that it was not looked at. */
static u9_err look_at_gaps(u9i_carving *c, const u9i_row_gap *gaps, size_t count, bool known)
{
    u9_err err = U9_OK;
    int gave_up = c->report->gave_up;
    for (size_t i = 0; i < count && err == U9_OK; i++)
        if (gaps[i].known == known) err = gaps[i].low ? take_before(c, &gaps[i]) : take_behind(c, &gaps[i]);
    if (known) c->report->gave_up = gave_up;
    return err;
}

u9_err u9i_carve_mend(u9i_carving *c, const u9i_row_gap *gaps, size_t count, bool *any)
{
    c->mended_count = 0;
    u9_err err = look_at_gaps(c, gaps, count, false);
    if (err == U9_OK) err = look_at_gaps(c, gaps, count, true);
    *any = c->mended_count > 0;
    if (err == U9_OK && *any) drop_inner(c);
    return err;
}
