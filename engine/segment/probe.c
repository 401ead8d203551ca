/*
 * engine/segment/probe.c: see probe.h. [H-4] [H-5] [S-1] [S-4] [L-4]
 */
#include "engine/segment/mend.h"

#include "engine/segment/boundary.h"
#include "format/base/hash.h"
#include "format/frame/disk.h"
#include "format/frame/mark.h"

#include <u9/value.h>

#include <stdio.h>
#include <string.h>

void u9i_segment_name(uint64_t number, char out[20])
{
    snprintf(out, 20, "%016llx.u9", (unsigned long long)number);
}

void u9i_index_name(const char *segment, char out[U9I_INDEX_NAME])
{
    size_t n = strlen(segment);
    bool plain = n > 3 && strcmp(segment + n - 3, ".u9") == 0;
    snprintf(out, U9I_INDEX_NAME, "%.250s%s", segment, plain ? "x" : ".u9x");
}

bool u9i_segment_named(const char *name, uint64_t *number)
{
    uint64_t n = 0;
    if (strlen(name) != 19 || strcmp(name + 16, ".u9") != 0) return false;
    for (unsigned i = 0; i < 16; i++) {
        const char *digit = strchr("0123456789abcdef", name[i]);
        if (digit == NULL) return false;
        n = n << 4 | (uint64_t)(digit - "0123456789abcdef");
    }
    *number = n;
    return true;
}

uint64_t u9i_segment_number(const char *name)
{
    uint64_t number;
    return u9i_segment_named(name, &number) ? number : 0;
}

bool u9i_facts_sealed(const u9i_facts *f)
{
    return f->has_end && f->end.kind == U9I_END_SEALING;
}

bool u9i_facts_skipped(const u9i_facts *f)
{
    return f->is_void || (f->blank && !f->named && !f->marked);
}

bool u9i_facts_on_row(const u9i_facts *f)
{
    return f->wrong == U9_R_NONE && !u9i_facts_skipped(f);
}

/* The end that a gap without a frame behind it is mended by. [Y-1] */
static u9i_position end_by_others(const u9i_facts *f)
{
    return f->named ? f->at : f->marked ? f->mark : (u9i_position){.offset = 0};
}

bool u9i_facts_vain(const u9i_facts *f, const u9i_secret *secret)
{
    u9i_position end = end_by_others(f);
    for (const u9i_vain *v = f->vain; v < f->vain + 2; v++)
        if (v->tried && memcmp(v->boundary, secret->boundary, sizeof v->boundary) == 0 &&
            (v->framed || u9i_position_same(&v->end, &end)))
            return true;
    return false;
}

static void note_vain(u9i_facts *f, const u9i_secret *secret, bool framed)
{
    u9i_vain v = {.tried = true, .framed = framed, .end = end_by_others(f)};
    memcpy(v.boundary, secret->boundary, sizeof v.boundary);
    f->vain[v.end.offset != 0] = v;
}

/* By its own bytes, and the light that they were seen by. */
static bool same_inside(const u9i_facts *a, const u9i_facts *b)
{
    return a->size == b->size && a->header == b->header && a->mends == b->mends && a->mends_frames == b->mends_frames &&
           memcmp(a->secret.bytes, b->secret.bytes, sizeof a->secret.bytes) == 0 &&
           memcmp(a->secret.boundary, b->secret.boundary, sizeof a->secret.boundary) == 0 &&
           a->secret.lost == b->secret.lost && a->bare == b->bare && a->barren == b->barren && a->boundaries == b->boundaries &&
           a->blank == b->blank && a->plain == b->plain && a->stray == b->stray && a->no_file == b->no_file && a->spared == b->spared &&
           a->has_open == b->has_open && a->has_trim == b->has_trim && a->has_end == b->has_end &&
           a->has_spare == b->has_spare && a->unread == b->unread && a->unread_at == b->unread_at &&
           strcmp(a->kind, b->kind) == 0;
}

/* By what other segments and the mark say. */
static bool same_beside(const u9i_facts *a, const u9i_facts *b)
{
    return a->number == b->number && a->first == b->first && a->newest == b->newest && a->is_void == b->is_void &&
           a->called == b->called && a->misnamed == b->misnamed && a->sealed_before == b->sealed_before &&
           a->named == b->named && u9i_position_same(&a->at, &b->at) && a->tail == b->tail && a->wrong == b->wrong &&
           a->fork.begin == b->fork.begin && a->fork.end == b->fork.end && a->fork.lost == b->fork.lost &&
           a->fork.ordinal == b->fork.ordinal &&
           a->marked == b->marked && u9i_position_same(&a->mark, &b->mark);
}

bool u9i_facts_same(const u9i_facts *a, const u9i_facts *b)
{
    return same_inside(a, b) && same_beside(a, b);
}

static void keep_kind(char *kind, u9i_span from)
{
    if (kind[0] != 0) return;
    memcpy(kind, from.data, from.size);
    kind[from.size] = 0;
}

/* Keeps that the frame in question could not be read: what it says is not known. */
static void note_unread(u9i_facts *f, const u9i_window *window)
{
    if (window->why != U9_R_UNREADABLE) return;
    f->unread = window->unread_sys;
    f->unread_at = window->unread.begin;
}

/*
 * Reads the u9trim that may follow the u9open in the first block. [C-5] A larger frame there, one of records as a rule,
 * is not hashed.
 */
static u9_err read_trim(u9i_facts *f, u9i_window *window, const u9i_frame *open)
{
    const uint64_t at = open->end, bound = f->size < U9I_BLOCK ? f->size : U9I_BLOCK;
    uint8_t scratch[U9I_BLOCK];
    u9i_frame frame;
    u9i_body body;
    size_t need;
    if (at >= bound) return U9_OK;
    u9_err err = u9i_window_at(window, at, bound, &frame);
    if (err == U9_IO) return err;
    if (err != U9_OK || frame.trailer.previous != U9I_DISK_HEADER_SIZE ||
        frame.trailer.ordinal != f->open.end.ordinal || memcmp(frame.trailer.chain, open->sha, sizeof open->sha) != 0)
        return U9_OK;
    f->has_trim = u9i_body_open(&frame, scratch, sizeof scratch, &need, &body) == U9_OK && body.kind == U9I_BODY_TRIM &&
                  u9i_trim_record_decode(body.bytes, body.size, &f->trim) == U9_OK &&
                  f->trim.segment <= f->open.segment;
    return U9_OK;
}

/* The first frame, if its header or trailer is damaged and it can be mended. [Y-1] */
static u9_err mend_first(u9i_facts *f, u9i_window *window, u9i_frame *out)
{
    u9i_mender m;
    const uint8_t *bytes;
    size_t avail, total;
    if (u9i_facts_vain(f, &window->secret)) return U9_CORRUPT;
    u9i_mender_init(&m, f->size);
    u9_err err = u9i_mend_start(&m, window, f, f->size);
    if (err == U9_OK) err = m.count > 0 && m.frames[0].frame.offset == U9I_DISK_HEADER_SIZE ? U9_OK : U9_CORRUPT;
    if (err == U9_OK) *out = m.frames[0].frame;
    if (err == U9_CORRUPT && m.count == 0) note_vain(f, &window->secret, m.framed);
    u9i_mender_release(&m);
    if (err != U9_OK) return err;
    total = (size_t)(out->end - out->offset);
    err = u9i_window_bytes(window, out->offset, total, &bytes, &avail);
    if (err == U9_OK && avail < total) err = U9_CORRUPT;
    if (err == U9_OK) out->body = bytes + U9I_FRAME_HEADER_SIZE;
    return err;
}

/* Reads the u9open that must be the first frame. [S-1] [C-3] */
static u9_err read_open(u9i_facts *f, u9i_window *window)
{
    u9i_frame frame;
    u9i_body body;
    uint8_t scratch[U9I_BLOCK];
    size_t need;
    window->secret = f->secret;
    u9_err err = u9i_window_at(window, U9I_DISK_HEADER_SIZE, f->size, &frame);
    if (err == U9_CORRUPT && f->mends_frames) err = mend_first(f, window, &frame);
    if (err == U9_IO || err == U9_NOMEM) return err;
    note_unread(f, window);
    if (err != U9_OK || u9i_body_open(&frame, scratch, sizeof scratch, &need, &body) != U9_OK ||
        body.kind != U9I_BODY_OPEN ||
        u9i_open_record_decode(body.bytes, body.size, &f->open) != U9_OK)
        return U9_OK;
    if (frame.trailer.ordinal != f->open.end.ordinal ||
        memcmp(frame.trailer.chain, f->open.end.chain, U9I_HASH_SIZE) != 0)
        return U9_OK; /* [C-3]: the judge reports it */
    f->has_open = true;
    f->open_us = frame.trailer.time_us;
    keep_kind(f->kind, f->open.kind);
    f->open.kind = (u9i_span){0};
    return read_trim(f, window, &frame);
}

static bool may_have_end(const u9i_facts *f)
{
    return f->size >= 2 * U9I_BLOCK && f->size % U9I_BLOCK == 0;
}

/* The u9end in the block at `at`, if it is one. It borrows `scratch`, of a block's size, or the window. */
static u9_err decode_end(u9i_window *window, uint64_t at, uint8_t *scratch, u9i_frame *frame, u9i_end_record *end,
                         bool *found)
{
    u9i_body body;
    size_t need;
    u9_err err = u9i_window_at(window, at, at + U9I_BLOCK, frame);
    if (err == U9_IO) return err;
    *found = err == U9_OK && u9i_body_open(frame, scratch, U9I_BLOCK, &need, &body) == U9_OK &&
             body.kind == U9I_BODY_END &&
             u9i_end_record_decode(body.bytes, body.size, end) == U9_OK;
    return U9_OK;
}

/* Keeps the u9end that was decoded last. */
static void keep_end(u9i_facts *f)
{
    keep_kind(f->kind, f->end.key_kind);
    f->end.first_key = f->end.last_key = f->end.key_kind = (u9i_span){0};
    f->end_frame.body = NULL;
}

static u9_err look_spare(u9i_facts *f, u9i_window *window)
{
    u9i_zeros zeros;
    u9_err err = u9i_window_zeros(window, f->size - U9I_BLOCK, f->size, &zeros);
    f->has_spare = err == U9_OK && zeros.last == f->size - U9I_BLOCK;
    return err;
}

/* Reads the u9end that may be the last block. [S-4] */
static u9_err read_end(u9i_facts *f, u9i_window *window)
{
    uint8_t scratch[U9I_BLOCK];
    if (!may_have_end(f)) return U9_OK;
    u9_err err = decode_end(window, f->size - U9I_BLOCK, scratch, &f->end_frame, &f->end, &f->has_end);
    if (err == U9_OK && !f->has_end && f->unread == 0) err = look_spare(f, window);
    if (err == U9_OK && f->unread == 0) note_unread(f, window);
    if (err == U9_OK && f->has_end) keep_end(f);
    return err;
}

/* The last valid frame in [begin, end). U9_END: there is none. */
static u9_err last_within(u9i_window *window, uint64_t begin, uint64_t end, u9i_frame *out)
{
    u9i_frame f;
    u9_err err, found = U9_END;
    for (uint64_t p = begin; (err = u9i_window_find(window, p, end, &f)) == U9_OK; p = f.end) {
        *out = f;
        found = U9_OK;
    }
    return err == U9_END ? found : err;
}

u9_err u9i_probe_seal(u9i_facts *f, u9i_window *window)
{
    enum { PIECE = 1 << 20 }; /* of whole blocks, of which a u9end is in one */
    uint8_t scratch[U9I_BLOCK];
    u9i_frame last, across;
    bool found = false;
    u9_err err = U9_END;
    if (f->plain || f->barren || f->stray) return U9_OK;
    for (uint64_t begin, end = f->size; end > 0 && err == U9_END; end = begin) {
        begin = (end - 1) / PIECE * PIECE;
        window->until = end;
        err = last_within(window, begin, end, &last);
    }
    window->until = U9_NOWHERE;
    if (err == U9_END || (err == U9_OK && last.offset % U9I_BLOCK != 0)) return U9_OK;
    if (err == U9_OK) err = u9i_window_find(window, last.end, f->size, &across);
    if (err != U9_END) return err;
    u9i_end_record end;
    err = decode_end(window, last.offset, scratch, &last, &end, &found);
    if (err != U9_OK || !found || end.kind != U9I_END_SEALING) return err;
    f->has_end = true;
    f->end_frame = last;
    f->end = end;
    keep_end(f);
    return U9_OK;
}

u9_err u9i_probe_end_keys(const u9i_facts *f, u9i_window *window, u9i_end_keys *out)
{
    uint8_t scratch[U9I_BLOCK];
    u9i_frame frame;
    u9i_end_record end;
    bool found = false;
    u9_err err = decode_end(window, f->end_frame.offset, scratch, &frame, &end, &found);
    if (err != U9_OK) return err;
    if (!found) return U9_CORRUPT;
    const u9i_span keys[2] = {end.first_key, end.last_key};
    for (unsigned i = 0; i < 2; i++) {
        out->size[i] = keys[i].size;
        memcpy(out->key[i], keys[i].data, keys[i].size);
    }
    return U9_OK;
}

/* A secret counts if its boundary is the one that stands at `boundary`. */
static bool secret_fits(const uint8_t bytes[U9I_SECRET_SIZE], const uint8_t *boundary, u9i_secret *out)
{
    u9i_secret secret;
    u9i_secret_init(&secret, bytes);
    if (memcmp(secret.boundary, boundary, U9I_HASH_SIZE) != 0) return false;
    *out = secret;
    return true;
}

/* The copy in the u9end of the last block, whose frame cannot be proven yet. */
static u9_err secret_from_end(const u9i_facts *f, u9i_window *window, u9i_secret *out, bool *found)
{
    const uint8_t *p;
    size_t avail;
    if (!may_have_end(f)) return U9_OK;
    u9_err err = u9i_window_bytes(window, f->size - U9I_BLOCK, U9I_BLOCK, &p, &avail);
    if (err != U9_OK || avail < U9I_BLOCK) return err;
    /* By its own length, not by the frame's: nothing of that frame is proven. */
    const uint8_t *body = p + U9I_FRAME_HEADER_SIZE;
    u9_value tuple;
    u9i_end_record end;
    if (u9_value_decode(body, U9I_BLOCK - U9I_FRAME_HEADER_SIZE, &tuple) == U9_OK &&
        u9i_end_record_decode(body, tuple.encoded, &end) == U9_OK)
        *found = secret_fits(end.secret, p, out);
    return U9_OK;
}

/* The secret with one bit flipped, against the boundary of the first frame. */
static u9_err secret_from_flips(const u9i_facts *f, u9i_window *window, u9i_secret *out, bool *found)
{
    const uint8_t *p;
    size_t avail;
    u9_err err = u9i_window_bytes(window, U9I_DISK_HEADER_SIZE, U9I_HASH_SIZE, &p, &avail);
    if (err != U9_OK || avail < U9I_HASH_SIZE) return err;
    for (unsigned bit = 0; bit < 8 * U9I_SECRET_SIZE && !*found; bit++) {
        uint8_t bytes[U9I_SECRET_SIZE];
        memcpy(bytes, f->secret.bytes, sizeof bytes);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        *found = secret_fits(bytes, p, out);
    }
    return U9_OK;
}

/* True if it is the boundary that stands where the first frame begins, or a valid frame of it stands anywhere. */
static u9_err is_proven(const u9i_facts *f, u9i_window *window, const u9i_secret *secret, bool *proven)
{
    u9i_frame frame;
    *proven = memcmp(secret->boundary, f->at_first, U9I_HASH_SIZE) == 0;
    if (*proven) return U9_OK;
    window->secret = *secret;
    u9_err err = u9i_window_find(window, U9I_DISK_HEADER_SIZE, f->size, &frame);
    *proven = err == U9_OK;
    return err == U9_END ? U9_OK : err;
}

/* Of what others know: one that is proven, or (not `proven`) the first that is a secret. */
static u9_err secret_from_others(const u9i_facts *f, u9i_window *window, const u9i_spare *spares, size_t count, bool proven,
                                 u9i_secret *out, bool *found)
{
    u9_err err = U9_OK;
    for (size_t i = 0; i < count && !*found && err == U9_OK; i++) {
        *found = secret_fits(spares[i].secret, spares[i].boundary, out);
        if (*found && proven) err = is_proven(f, window, out, found);
    }
    return err;
}

/* A header that opens nothing: the spare copies of the secret, in this order. [H-5] */
static u9_err find_spare(u9i_facts *f, u9i_window *window, const u9i_spare *spares, size_t count)
{
    u9i_secret secret;
    bool found = false, own = false, fits = false;
    u9_err err = secret_from_others(f, window, spares, count, true, &secret, &found);
    if (err == U9_OK && !found) err = secret_from_end(f, window, &secret, &own);
    if (err == U9_OK && !found && !own) err = secret_from_flips(f, window, &secret, &own);
    if (err == U9_OK && !found && !own) {
        err = secret_from_others(f, window, spares, count, false, &secret, &found);
        if (err == U9_OK && found && !f->blank) err = is_proven(f, window, &f->secret, &fits); /* the header's */
        found = found && !fits;
    }
    f->spared = found;
    if (err != U9_OK) return err;
    found |= own;
    if (!found && f->unread != 0 && f->unread_at == 0) f->wrong = U9_R_UNREADABLE;
    if (!found || memcmp(secret.bytes, f->secret.bytes, sizeof secret.bytes) == 0) return U9_OK;
    f->secret = secret;
    if (f->header == U9_OK) f->header = U9_CORRUPT;
    return U9_OK;
}

/*
 * True if a frame that carries a promise stands at p, whole but for its boundary and signature. Frames
 * of an honest file do not share a byte: once `*left` bytes were hashed, as many as the file has, more of
 * them are forged, and taken for promises, so that no file costs more than its size.
 */
static bool unsigned_promise(u9i_window *window, uint64_t p, uint64_t size, uint64_t *left)
{
    u9i_unsigned f;
    u9_err err = u9i_unsigned_at(window, p, size, left, &f);
    return err == U9_OK ? f.trailer.durable != 0 : err != U9_CORRUPT && err != U9_TORN; /* a torn one never was */
}

/*
 * A creation cut short: the first sector never reached the disk, or a writer is still at it, and
 * nothing in the file was ever a promise. [L-4] Without the first sector there is no secret, so frames are
 * known by their magic. The frame at 32 was just looked at.
 */
static u9_err look_blank(u9i_facts *f, u9i_dir *dir, u9i_window *window)
{
    bool unfinished = f->newest && window->why != U9_R_NONE;
    u9i_zeros zeros;
    uint64_t left = f->size;
    if (f->size < U9I_DISK_HEADER_SIZE + U9I_FRAME_HEADER_SIZE) {
        f->blank = true;
        return U9_OK;
    }
    if (f->unread) return U9_OK; /* who knows what is there */
    u9_err err = u9i_window_zeros(window, 0, U9I_SECTOR, &zeros);
    if (err != U9_OK) return err;
    if (zeros.last != 0 && !(unfinished && u9i_dir_writer_active(dir, f->name))) return U9_OK;
    f->blank = true;
    for (uint64_t p = U9I_DISK_HEADER_SIZE; p < f->size && f->blank; p = u9i_window_step(window, p)) {
        const uint8_t *bytes;
        size_t avail;
        err = u9i_window_bytes(window, p, U9I_FRAME_HEADER_SIZE, &bytes, &avail);
        if (err != U9_OK) return err;
        if (avail < U9I_FRAME_HEADER_SIZE) break;
        if (bytes[48] == 0xff && unsigned_promise(window, p, f->size, &left)) f->blank = false;
    }
    if (window->unread.end > 0) f->blank = false; /* dark: a promise may stand there */
    return U9_OK;
}

/* A frame's header at 32 whose boundary is not that of the secret: the secret is damaged. [H-4] */
static u9_err look_secret(u9i_facts *f, u9i_window *window)
{
    const uint8_t *p;
    size_t avail;
    u9_err err = u9i_window_bytes(window, U9I_DISK_HEADER_SIZE, U9I_FRAME_HEADER_SIZE, &p, &avail);
    if (err != U9_OK) return err;
    bool other = avail >= U9I_FRAME_HEADER_SIZE && memcmp(p + 48, u9i_frame_magic, 8) == 0 &&
                 memcmp(p, f->secret.boundary, U9I_HASH_SIZE) != 0;
    if (!other && f->header == U9_OK) return U9_OK;
    u9i_frame frame; /* unless other frames are there by this secret: then it is that boundary */
    if (!f->bare) err = u9i_window_find(window, U9I_DISK_HEADER_SIZE, f->size, &frame);
    if (!f->bare && err != U9_END) return err;
    f->barren = true;
    if (other && f->header == U9_OK) f->header = U9_CORRUPT;
    return U9_OK;
}

/* The header opens nothing, and there is no copy of the secret: by the frames themselves. [G-2] */
static u9_err find_boundary(u9i_facts *f, u9i_window *window)
{
    u9i_boundaries all;
    u9_err err = u9i_boundary_search(window, f->size, &all);
    if (err != U9_OK) return err;
    const uint8_t *boundary = u9i_boundary_elected(&all);
    f->boundaries = all.count;
    if (boundary == NULL) return U9_OK;
    memcpy(f->secret.boundary, boundary, U9I_HASH_SIZE);
    f->secret.lost = true;
    f->bare = f->barren = false;
    f->wrong = U9_R_NONE;
    return read_open(f, window);
}

/* The key kind that the records' keys speak for. [E-4] */
static void guess_kind(const u9i_frame *frame, char *kind)
{
    const uint8_t *next = frame->body;
    size_t left = frame->body_size;
    u9i_record r;
    while (kind[0] == 0 && u9i_value_next(&next, &left, &r) == U9_OK) {
        const char *found = u9i_record_kind(&r);
        memcpy(kind, found, strlen(found) + 1);
    }
}

/* A file whose first whole frame bears no trailer is none of a log's. [E-1] */
static u9_err look_plain(u9i_facts *f, u9i_window *window)
{
    u9i_frame frame;
    u9i_trailer trailer;
    if (f->blank || f->header == U9_VERSION) return U9_OK;
    window->plain = true;
    u9_err err = u9i_window_find(window, U9I_DISK_HEADER_SIZE, f->size, &frame);
    window->plain = false;
    f->bare = err == U9_END;
    if (err != U9_OK) return f->bare ? U9_OK : err;
    f->plain = frame.body_size < U9I_TRAILER_SIZE ||
               !u9i_trailer_decode(frame.body + frame.body_size - U9I_TRAILER_SIZE, &trailer);
    if (f->plain) guess_kind(&frame, f->kind);
    return U9_OK;
}

/* Another version's magic, and yet a frame by a boundary that a segment of this version names: the byte is damaged. [H-4] */
static u9_err look_version(u9i_facts *f, u9i_window *window)
{
    u9i_frame frame;
    if (f->header != U9_VERSION || f->has_open || !f->spared) return U9_OK;
    u9_err err = u9i_window_find(window, U9I_DISK_HEADER_SIZE, f->size, &frame);
    if (err == U9_OK) f->header = U9_CORRUPT;
    return err == U9_END ? U9_OK : err;
}

/* A mark that got a segment's name: it begins with a slot that is whole. [M-2] */
static u9_err look_mark(u9i_facts *f, u9i_window *window)
{
    const uint8_t *bytes;
    size_t avail;
    u9i_slot slot = {.state = U9I_SLOT_EMPTY};
    u9_err err = u9i_window_bytes(window, 0, U9I_BLOCK, &bytes, &avail);
    if (err == U9_OK && avail >= U9I_BLOCK) u9i_slot_decode(bytes, &slot);
    f->stray = slot.state == U9I_SLOT_VALID;
    return err;
}

/* Neither a disk header nor, anywhere, a frame's magic, or a mark: whatever this is, it is no segment. [L-4] */
static u9_err look_stray(u9i_facts *f, u9i_window *window, const uint8_t magic[8])
{
    if (f->has_open || f->blank) return U9_OK;
    if (memcmp(magic, u9i_disk_magic, 7) == 0) return look_mark(f, window);
    for (uint64_t p = U9I_DISK_HEADER_SIZE; p < f->size; p = u9i_window_step(window, p)) {
        const uint8_t *bytes;
        size_t avail;
        u9_err err = u9i_window_bytes(window, p, U9I_FRAME_HEADER_SIZE, &bytes, &avail);
        if (err != U9_OK) return err;
        if (avail < U9I_FRAME_HEADER_SIZE) continue; /* dark, or the end */
        if (bytes[48] == 0xff && memcmp(bytes + 48, u9i_frame_magic, 8) == 0) return U9_OK;
    }
    f->stray = window->unread.end == 0;
    return U9_OK;
}

/* While a first frame is to be mended, the end that is named for its file may prove it. [Y-1] */
static u9_err read_open_by(u9i_facts *f, u9i_window *window, const u9i_spare *spares, size_t count)
{
    for (size_t i = 0; i < count && f->mends_frames && !f->named; i++)
        if (memcmp(spares[i].boundary, f->secret.boundary, U9I_HASH_SIZE) == 0) {
            f->named = true;
            f->at = *spares[i].end;
        }
    u9_err err = read_open(f, window);
    f->named = false; /* the catalog says so */
    memset(&f->at, 0, sizeof f->at);
    return err;
}

u9_err u9i_probe(u9i_facts *f, u9i_dir *dir, u9i_window *window, const u9i_spare *spares,
                 size_t spare_count)
{
    const uint8_t *bytes;
    size_t avail;
    window->until = U9I_BLOCK; /* of most files the first block and the last one say all: no more is read */
    u9_err err = u9i_window_bytes(window, 0, U9I_BLOCK, &bytes, &avail);
    if (err != U9_OK) return err;
    uint8_t header[U9I_DISK_HEADER_SIZE] = {0};
    memcpy(header, bytes, avail < sizeof header ? avail : sizeof header);
    f->header = u9i_disk_decode(header, &f->secret);
    if (avail < sizeof u9i_disk_magic || (avail < sizeof header && f->header == U9_OK))
        f->header = U9_CORRUPT; /* half a magic is of no version, half a header is none */
    if (avail >= U9I_DISK_HEADER_SIZE + sizeof f->at_first)
        memcpy(f->at_first, bytes + U9I_DISK_HEADER_SIZE, sizeof f->at_first);
    err = read_open_by(f, window, spares, spare_count);
    if (err == U9_OK && !f->has_open) {
        window->until = U9_NOWHERE;
        err = look_blank(f, dir, window);
        if (err == U9_OK) err = find_spare(f, window, spares, spare_count); /* a blank one may be named, and is none then */
        if (err == U9_OK) err = read_open_by(f, window, spares, spare_count);
        if (err == U9_OK && !f->has_open && !f->wrong) err = look_plain(f, window);
        if (err == U9_OK && !f->has_open && !f->wrong && !f->plain) err = look_secret(f, window);
        if (err == U9_OK && !f->spared && !f->wrong) err = look_stray(f, window, header);
        bool closed = f->barren || f->wrong == U9_R_UNREADABLE;
        if (err == U9_OK && closed && f->mends && !f->blank && !f->stray) err = find_boundary(f, window);
    }
    if (err == U9_OK) err = look_version(f, window);
    window->until = U9I_BLOCK;
    if (err == U9_OK && !f->plain) err = read_end(f, window);
    window->until = U9_NOWHERE;
    return err;
}
