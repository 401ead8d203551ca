/*
 * engine/check/carve_join.c: what was found, made into segments. See carving.h. [U-6] [U-7]
 */
#include "engine/check/carving.h"

#include "engine/os/list.h"
#include "engine/segment/probe.h"
#include "format/base/bytes.h"
#include "format/base/fault.h"
#include "format/frame/body.h"
#include "format/frame/disk.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOKED_AT = 1 << 16, /* bytes of a frame in which a control record is looked for */
    ROUNDS_MAX = 8,      /* passes in search of trailers */
    SPLITS_MAX = 1 << 30 /* bytes that are hashed for one frame in two pieces */
};

static const uint8_t no_log[16];

/* What the frames say */

/* Opens the body of a frame with a control record. */
static bool open_said(const u9i_carving *c, const u9i_fragment *f, uint8_t scratch[U9I_BLOCK], u9i_body *body)
{
    size_t need, size = (size_t)(f->end - f->offset);
    u9i_frame frame = {.offset = f->offset};
    if (size > LOOKED_AT || !u9i_carve_fetch(c, f)) return false;
    frame.body = c->frame + U9I_FRAME_HEADER_SIZE;
    frame.body_size = size - U9I_FRAME_HEADER_SIZE - U9I_TRAILER_SIZE;
    return u9i_trailer_decode(frame.body + frame.body_size, &frame.trailer) && frame.trailer.count == 0 &&
           u9i_body_open(&frame, scratch, U9I_BLOCK, &need, body) == U9_OK;
}

/* A copy of a secret, wherever it stood: it proves itself. [H-5] */
static void take_spare(u9i_carving *c, const uint8_t bytes[U9I_SECRET_SIZE])
{
    u9i_secret secret;
    if (!u9i_secret_init(&secret, bytes)) return;
    u9i_kin *k = u9i_carve_kin(c, secret.boundary, false);
    if (k == NULL || k->proven) return;
    k->proven = true;
    k->secret = secret;
}

/* A disk header where the segment of this frame would begin, whatever stands between the two. */
static void know_by_place(u9i_carving *c, const u9i_kin *k, const u9i_fragment *f)
{
    uint8_t bytes[U9I_SECRET_SIZE];
    if (!k->proven && f->at >= f->offset && u9i_carve_read(c, f->image, f->at - f->offset + 8, bytes, sizeof bytes))
        take_spare(c, bytes);
}

static void know_first(u9i_carving *c, u9i_kin *k, const u9i_fragment *f)
{
    uint8_t scratch[U9I_BLOCK];
    u9i_body body;
    u9i_mark_record mark;
    if (!open_said(c, f, scratch, &body)) return;
    if (body.kind == U9I_BODY_MARK) {
        k->aside = true;
        if (u9i_mark_record_decode(body.bytes, body.size, &mark) == U9_OK) take_spare(c, mark.secret);
    }
    if (body.kind != U9I_BODY_OPEN || u9i_open_record_decode(body.bytes, body.size, &k->open) != U9_OK) return;
    k->open.kind = (u9i_span){0};
    k->has_open = true;
    k->aside = memcmp(k->open.log, no_log, sizeof no_log) == 0; /* an index beside a segment [K-4] */
    if (!k->aside) take_spare(c, k->open.before_secret);
}

static void know_last(u9i_carving *c, const u9i_fragment *f, u9i_kin *k)
{
    uint8_t scratch[U9I_BLOCK];
    u9i_body body;
    u9i_end_record end;
    if (!open_said(c, f, scratch, &body) || body.kind != U9I_BODY_END ||
        u9i_end_record_decode(body.bytes, body.size, &end) != U9_OK)
        return;
    if (k->number == 0) k->number = end.segment;
    take_spare(c, end.secret);
}

/* The 32 bytes in front of a first frame are a header with one bit flipped, or with another magic. [H-5] */
static void know_by_flips(u9i_carving *c, const u9i_kin *k, const u9i_fragment *f)
{
    uint8_t bytes[U9I_SECRET_SIZE];
    if (k->proven || f->at < U9I_DISK_HEADER_SIZE || !u9i_carve_read(c, f->image, f->at - 24, bytes, sizeof bytes)) return;
    take_spare(c, bytes);
    for (unsigned bit = 0; bit < 8 * U9I_SECRET_SIZE && !k->proven; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        take_spare(c, bytes);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* Of which log a segment is, if not by its own word then by that of the one behind it. */
static void know_log(u9i_carving *c)
{
    for (size_t i = 0; i < c->kin_count; i++) {
        u9i_kin *k = &c->kin[i];
        if (!k->has_open || k->aside || !k->proven || k->held) continue;
        k->has_log = true;
        memcpy(k->log, k->open.log, sizeof k->log);
        k->number = k->open.segment;
    }
    for (size_t i = 0; i < c->kin_count; i++) {
        const u9i_kin *k = &c->kin[i];
        u9i_kin *before = k->has_log ? u9i_carve_kin(c, k->open.before_boundary, false) : NULL;
        if (before == NULL || before->has_log || before->aside || !before->proven || before->held) continue;
        before->has_log = true;
        memcpy(before->log, k->log, sizeof k->log);
        before->number = k->open.before_segment;
    }
}

/* Under a known secret what it did not sign is none of its frames. [F-6] f */
static void drop_unsigned(u9i_kin *k)
{
    size_t kept = 0;
    for (size_t i = 0; i < k->count; i++) {
        uint8_t signature[U9I_HASH_SIZE];
        u9i_sign(k->frames[i].sha, k->secret.bytes, signature);
        if (memcmp(signature, k->frames[i].signature, sizeof signature) == 0) k->frames[kept++] = k->frames[i];
    }
    k->count = kept;
}

static int by_boundary(const void *a, const void *b)
{
    const u9i_named_end *x = a, *y = b;
    int order = memcmp(x->boundary, y->boundary, sizeof x->boundary);
    return order ? order : memcmp(x->sha, y->sha, sizeof x->sha);
}

static u9_err know_ends(u9i_carving *c)
{
    c->end_count = 0;
    u9i_named_end *ends = realloc(c->ends, (c->kin_count + 1) * sizeof *ends);
    if (ends == NULL) return u9i_carve_no_memory(c);
    c->ends = ends;
    for (size_t i = 0; i < c->kin_count; i++) {
        const u9i_kin *k = &c->kin[i];
        if (!k->has_open || k->held) continue;
        u9i_named_end *e = &ends[c->end_count++];
        *e = (u9i_named_end){.offset = k->open.end.offset, .ordinal = k->open.end.ordinal};
        memcpy(e->boundary, k->open.before_boundary, sizeof e->boundary);
        memcpy(e->sha, k->open.end.chain, sizeof e->sha);
    }
    qsort(ends, c->end_count, sizeof *ends, by_boundary);
    return U9_OK;
}

bool u9i_carve_is_named(const u9i_carving *c, const u9i_kin *k, const u9i_fragment *f)
{
    u9i_named_end end;
    memcpy(end.boundary, k->boundary, sizeof end.boundary);
    memcpy(end.sha, f->sha, sizeof end.sha);
    return bsearch(&end, c->ends, c->end_count, sizeof end, by_boundary) != NULL;
}

const u9i_named_end *u9i_carve_named_behind(const u9i_carving *c, const u9i_kin *k, uint64_t offset)
{
    size_t low = 0, high = c->end_count;
    while (low < high) { /* the first of its boundary */
        size_t middle = low + (high - low) / 2;
        if (memcmp(c->ends[middle].boundary, k->boundary, U9I_HASH_SIZE) < 0) low = middle + 1;
        else high = middle;
    }
    while (low < c->end_count && c->ends[low].offset <= offset) low++;
    return low < c->end_count && memcmp(c->ends[low].boundary, k->boundary, U9I_HASH_SIZE) == 0 ? &c->ends[low] : NULL;
}

/*
 * Of several frames in a segment's first place that one's word counts which another follows: what it names, and of which
 * log it is. The secrets in all of them prove themselves.
 */
static void know_by_first(u9i_carving *c, u9i_kin *k)
{
    const u9i_fragment *first = NULL;
    for (size_t n = 0; n < k->count && first == NULL; n++)
        if (k->frames[n].previous == U9I_DISK_HEADER_SIZE && !(k->frames[n].held && !k->held))
            first = u9i_carve_find(k->frames, k->count, U9I_DISK_HEADER_SIZE, k->frames[n].chain);
    if (first == NULL) return;
    k->has_open = k->aside = false;
    know_first(c, k, first);
}

u9_err u9i_carve_know(u9i_carving *c)
{
    for (size_t i = 0; i < c->kin_count; i++) c->kin[i].has_open = c->kin[i].aside = c->kin[i].has_log = false;
    for (size_t i = 0; i < c->kin_count; i++) {
        u9i_kin *k = &c->kin[i];
        u9i_carve_sort(k->frames, k->count);
        for (size_t n = 0; n < k->count; n++) {
            if (k->frames[n].held && !k->held) continue;
            know_by_place(c, k, &k->frames[n]);
            if (k->frames[n].offset == U9I_DISK_HEADER_SIZE) {
                know_by_flips(c, k, &k->frames[n]);
                know_first(c, k, &k->frames[n]);
            } else if (k->frames[n].end - k->frames[n].offset < U9I_BLOCK) {
                know_last(c, &k->frames[n], k);
            }
        }
        know_by_first(c, k);
    }
    for (size_t i = 0; i < c->kin_count; i++)
        if (c->kin[i].proven) drop_unsigned(&c->kin[i]);
    know_log(c);
    return know_ends(c);
}

/* Frames in two pieces */

/* So many bytes more are hashed or compared. False: that was all; many headers of one frame would have it take forever. */
static bool may_try(u9i_carving *c, uint64_t bytes)
{
    bool may = bytes <= c->tries;
    if (may) c->tries -= bytes;
    else c->report->gave_up = 1;
    return may;
}

/* The frame of this kin that comes behind the one with this hash. */
static const u9i_fragment *find_next(u9i_carving *c, const u9i_kin *k, const uint8_t sha[U9I_HASH_SIZE])
{
    if (!may_try(c, k->count * U9I_HASH_SIZE)) return NULL;
    for (size_t i = 0; i < k->count; i++)
        if (memcmp(k->frames[i].chain, sha, U9I_HASH_SIZE) == 0) return &k->frames[i];
    return NULL;
}

/*
 * Tries all places at which the frame can be broken, where a block of a file system ends: in front of them it goes on
 * behind its header, from there on it stands in front of the next frame. c->frame holds the second way to begin with,
 * and the first is laid over it, step by step.
 */
static bool find_split(u9i_carving *c, const uint8_t *header, u9i_fragment *f, uint64_t step)
{
    size_t size = (size_t)(f->end - f->offset);
    uint8_t *whole = c->frame, *first = c->frame + (17 << 20), sha[U9I_HASH_SIZE];
    uint64_t hashed = 0;
    for (uint64_t split = (f->offset + U9I_FRAME_HEADER_SIZE + step - 1) / step * step; split < f->end; split += step) {
        uint64_t back = f->end - split; /* bytes of it in front of rest + back */
        size_t in = (size_t)(split - f->offset);
        if (f->rest < back || !u9i_carve_read(c, f->image, f->at, first, in)) continue;
        if (!u9i_carve_read(c, f->rest_image, f->rest - back, whole + in, (size_t)back)) continue;
        memcpy(whole, first, in);
        if ((hashed += size) > SPLITS_MAX || !may_try(c, size)) break;
        u9i_hash(whole + U9I_FRAME_HEADER_SIZE, size - U9I_FRAME_HEADER_SIZE, sha);
        if (memcmp(sha, header + 16, sizeof sha) != 0) continue;
        f->split = split;
        f->rest -= back;
        return true;
    }
    return false;
}

/* None of the headers in (from, to) is one. */
static void drop_wounds(u9i_carving *c, uint32_t image, uint64_t from, uint64_t to)
{
    size_t low = 0, high = c->wound_count;
    while (low < high) { /* the first of them: they are in order */
        size_t middle = low + (high - low) / 2;
        const u9i_wound *w = &c->wounds[middle];
        if (w->image < image || (w->image == image && w->at <= from)) low = middle + 1;
        else high = middle;
    }
    for (; low < c->wound_count && c->wounds[low].image == image && c->wounds[low].at < to; low++) c->wounds[low].healed = true;
}

/* What stands inside of a frame is none of anybody's: it was looked at only as the frame was broken. */
void u9i_carve_drop(u9i_carving *c, uint32_t image, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < c->kin_count; i++) {
        u9i_kin *k = &c->kin[i];
        size_t kept = 0;
        for (size_t n = 0; n < k->count; n++) {
            const u9i_fragment *f = &k->frames[n];
            if (f->image != image || f->at < from || f->at >= to) k->frames[kept++] = *f;
        }
        k->count = kept;
    }
    drop_wounds(c, image, from, to);
}

/* A header that its kin signed, with a length that may be. */
static u9i_kin *signed_header(u9i_carving *c, const u9i_wound *w, uint8_t header[U9I_FRAME_HEADER_SIZE], uint64_t *length)
{
    uint8_t signature[U9I_HASH_SIZE];
    u9i_kin *k;
    if (w->healed || !u9i_carve_read(c, w->image, w->at, header, U9I_FRAME_HEADER_SIZE) ||
        (k = u9i_carve_kin(c, header, false)) == NULL || !k->proven)
        return NULL;
    u9i_sign(header + 16, k->secret.bytes, signature);
    *length = u9i_get_be(header + 56, 8);
    return memcmp(signature, header + 32, sizeof signature) == 0 && *length >= U9I_TRAILER_SIZE && *length <= U9I_PAYLOAD_MAX
               ? k
               : NULL;
}

/* The frame of a header: it begins at f->offset and its payload ends at f->rest of an image, if a split is found. */
static u9_err rejoin(u9i_carving *c, u9i_wound *w, u9i_kin *k, const uint8_t *header, u9i_fragment *f, bool *joined)
{
    u9i_trailer t;
    bool in_place = !w->dark && f->rest_image == f->image && f->rest == f->at + (f->end - f->offset); /* it was looked at, and is damaged */
    if (in_place || (w->tried == f->rest && w->tried_image == f->rest_image)) return U9_OK;
    w->tried = f->rest;
    w->tried_image = f->rest_image;
    u9_err err = u9i_carve_tell(c, c->all); /* it may take its time */
    if (err != U9_OK) return err;
    if (!find_split(c, header, f, U9I_BLOCK) && !find_split(c, header, f, U9I_SECTOR)) return U9_OK;
    if (!u9i_carve_fetch(c, f) ||
        !u9i_carve_trailer(c->frame + (size_t)(f->end - f->offset) - U9I_TRAILER_SIZE, &t) || t.offset != f->offset)
        return U9_OK;
    f->previous = t.previous;
    f->ordinal = t.ordinal;
    memcpy(f->sha, header + 16, U9I_HASH_SIZE);
    memcpy(f->signature, header + 32, U9I_HASH_SIZE);
    memcpy(f->chain, t.chain, U9I_HASH_SIZE);
    w->healed = *joined = true;
    u9i_carve_drop(c, f->image, f->at, f->at + (f->split - f->offset));
    u9i_carve_drop(c, f->rest_image, f->rest, f->rest + (f->end - f->split));
    k->rejoined++;
    return u9i_carve_add(k, f) ? U9_OK : u9i_carve_no_memory(c);
}

/* Behind a signed header, somewhere else, the frame that has its hash: what is between them is put together. */
static u9_err rejoin_with_next(u9i_carving *c, u9i_wound *w, bool *joined)
{
    uint8_t header[U9I_FRAME_HEADER_SIZE];
    uint64_t length;
    u9i_kin *k = signed_header(c, w, header, &length);
    const u9i_fragment *next = k ? find_next(c, k, header + 16) : NULL;
    if (next == NULL) return U9_OK;
    u9i_fragment f = {.offset = next->previous, .at = w->at, .image = w->image, .rest_image = next->image};
    f.end = f.offset + U9I_FRAME_HEADER_SIZE + length;
    if (f.end > next->offset || next->at < next->offset - f.end) return U9_OK;
    f.rest = next->at - (next->offset - f.end);
    w->offset = f.offset; /* if it goes on elsewhere */
    return rejoin(c, w, k, header, &f, joined);
}

/* Where in its segment a header stands, by what stands in front of it, or by the end that the next segment names. */
static uint64_t find_offset(u9i_carving *c, const u9i_wound *w, const u9i_kin *k, const uint8_t *header, uint64_t length)
{
    uint8_t secret[U9I_SECRET_SIZE]; /* of a disk header, whose last 24 bytes it begins */
    if (w->offset > 0) return w->offset;
    if (!may_try(c, (k->count + c->kin_count) * U9I_HASH_SIZE)) return 0;
    if (w->at >= U9I_DISK_HEADER_SIZE && u9i_carve_read(c, w->image, w->at - 24, secret, sizeof secret) &&
        memcmp(secret, k->secret.bytes, sizeof secret) == 0)
        return U9I_DISK_HEADER_SIZE;
    for (size_t i = 0; i < k->count; i++) {
        const u9i_fragment *f = &k->frames[i];
        uint64_t last = f->split < f->end ? f->rest + (f->end - f->split) : f->at + (f->end - f->offset);
        uint64_t padded = u9i_fragment_end(f), block = u9i_carve_block(padded);
        uint32_t image = f->split < f->end ? f->rest_image : f->image;
        if (image != w->image || w->at < last) continue;
        if (w->at - last == padded - f->end) return padded;
        if (w->at - last == block - f->end) return block;
    }
    for (size_t i = 0; i < c->kin_count; i++) {
        const u9i_kin *n = &c->kin[i];
        uint64_t size = U9I_FRAME_HEADER_SIZE + length + u9i_padding(length);
        if (n->has_open && memcmp(n->open.before_boundary, k->boundary, U9I_HASH_SIZE) == 0 &&
            memcmp(n->open.end.chain, header + 16, U9I_HASH_SIZE) == 0 && n->open.end.offset > size)
            return n->open.end.offset - size;
    }
    return 0;
}

/* A trailer that says where its frame begins: there a header stands that is not whole. */
static u9_err rejoin_with_trailer(u9i_carving *c, uint32_t image, uint64_t at, const u9i_trailer *t)
{
    uint8_t header[U9I_FRAME_HEADER_SIZE];
    uint64_t length;
    bool joined = false;
    u9_err err = U9_OK;
    if (!may_try(c, c->wound_count * U9I_HASH_SIZE)) return U9_OK;
    for (size_t i = 0; i < c->wound_count && err == U9_OK && !joined; i++) {
        u9i_wound *w = &c->wounds[i];
        if (w->healed || w->offset != t->offset) continue;
        u9i_kin *k = signed_header(c, w, header, &length);
        if (k == NULL) continue;
        u9i_fragment f = {.offset = t->offset, .end = t->offset + U9I_FRAME_HEADER_SIZE + length, .at = w->at,
                          .image = w->image, .rest_image = image, .rest = at + U9I_TRAILER_SIZE};
        err = rejoin(c, w, k, header, &f, &joined);
    }
    return err;
}

/* True if there is a header of which the offset is known, and the frame not there. */
static bool place_wounds(u9i_carving *c)
{
    uint8_t header[U9I_FRAME_HEADER_SIZE];
    uint64_t length;
    bool any = false;
    for (size_t i = 0; i < c->wound_count; i++) {
        u9i_wound *w = &c->wounds[i];
        const u9i_kin *k = signed_header(c, w, header, &length);
        if (k) w->offset = find_offset(c, w, k, header, length);
        any |= k != NULL && w->offset > 0;
    }
    return any;
}

/* From behind: each frame tells where the one before it stands. */
static u9_err join_rows(u9i_carving *c)
{
    u9_err err = U9_OK;
    for (bool joined = true; joined && err == U9_OK;) {
        joined = false;
        for (size_t i = c->wound_count; i-- > 0 && err == U9_OK;)
            if (!c->wounds[i].healed) err = rejoin_with_next(c, &c->wounds[i], &joined);
    }
    return err;
}

static size_t count_healed(const u9i_carving *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->wound_count; i++) n += c->wounds[i].healed;
    return n;
}

/* Each kin's frames in order, and what the first of them says. */
static u9_err settle_once(u9i_carving *c)
{
    for (size_t i = 0; i < c->kin_count; i++) {
        u9i_kin *k = &c->kin[i];
        u9i_fragment *list = malloc((k->count + k->others + 1) * sizeof *list);
        if (list == NULL) return u9i_carve_no_memory(c);
        u9i_carve_settle(c, k, list);
        free(list);
        k->has_open = k->aside = k->has_log = false;
        if (k->count > 0 && k->frames[0].offset == U9I_DISK_HEADER_SIZE) know_first(c, k, &k->frames[0]);
    }
    know_log(c);
    return know_ends(c);
}

/* Twice, since which frames count hangs on what is named, and what is named on which first frames count. */
static u9_err settle_kin(u9i_carving *c)
{
    u9_err err = settle_once(c);
    if (err == U9_OK) err = settle_once(c);
    return err == U9_OK ? u9i_carve_part(c) : err;
}

u9_err u9i_carve_join(u9i_carving *c)
{
    u9_err err = join_rows(c);
    for (unsigned round = 0; err == U9_OK && round < ROUNDS_MAX && place_wounds(c); round++) {
        size_t before = count_healed(c);
        err = u9i_carve_trailers(c, rejoin_with_trailer);
        if (err == U9_OK) err = join_rows(c);
        if (count_healed(c) == before) break;
    }
    if (err == U9_OK) err = u9i_carve_hold(c);
    if (err == U9_OK) err = u9i_carve_know(c); /* by what is left */
    if (err == U9_OK) err = settle_kin(c);
    if (err != U9_OK) return err;
    bool unread = c->report->unread > 0; /* else what a frame's bytes were asked for in vain is told by nothing but this */
    for (size_t i = 0; i < c->wound_count; i++) {
        uint8_t header[U9I_FRAME_HEADER_SIZE];
        uint64_t length;
        c->report->broken += !(c->wounds[i].dark && unread) && signed_header(c, &c->wounds[i], header, &length) != NULL;
    }
    for (size_t i = 0; i < c->image_count && !unread; i++) c->report->unread += c->images[i].missed; /* read at first, and not again */
    return U9_OK;
}
