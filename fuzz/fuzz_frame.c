/*
 * fuzz/fuzz_frame.c: hostile frames. Input: one mode byte, then a file's bytes from a frame on.
 *
 *     mode  bit 0     the frame is at offset 4096, not 32
 *           bit 1     the file goes on behind the input
 *           bits 4-7  the pieces in which it is read: 2^n bytes
 *
 * Checks that a verdict does not depend on the pieces, that what is valid can be sealed again, that
 * bodies and records stay within their bytes, that control records are encoded as they were, and the same of a
 * mark's slot.
 *
 * Hashes cannot be guessed, so the mutator changes bodies and fields and mends what guards them.
 */
#include "format/base/bytes.h"
#include "format/frame/control.h"
#include "format/frame/disk.h"
#include "format/frame/mark.h"

#include <lz4.h>
#include <stdlib.h>
#include <u9/value.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

enum { PLACE = 4096, MORE = 512, OVERHEAD = U9I_FRAME_HEADER_SIZE + U9I_TRAILER_SIZE };

static u9i_secret the_keys(void)
{
    uint8_t secret[U9I_SECRET_SIZE];
    u9i_secret keys;
    for (unsigned i = 0; i < sizeof secret; i++) secret[i] = (uint8_t)i;
    CHECK(u9i_secret_init(&keys, secret));
    return keys;
}

static void *take(size_t size)
{
    void *bytes = malloc(size > 0 ? size : 1);
    CHECK(bytes != NULL);
    return bytes;
}

/* A file in memory: its bytes from the frame on, in a block of exactly that size. */
typedef struct file {
    u9i_secret keys;
    uint64_t p, bound;
    const uint8_t *bytes;
    size_t size;
} file;

static u9_err verify(const file *f, size_t avail, u9i_proof *proof, u9i_frame *out)
{
    size_t searched = proof->searched;
    u9_err err = u9i_frame_verify(&f->keys, f->p, f->bound, f->bytes, avail, proof, out);
    CHECK(proof->searched >= searched);
    CHECK(err == U9_OK || err == U9_AGAIN || err == U9_CORRUPT);
    if (err == U9_AGAIN) CHECK(proof->need > avail && proof->need <= f->bound - f->p);
    if (err == U9_CORRUPT) CHECK(proof->why != U9_R_NONE);
    return err;
}

/* The same verdict whole and in pieces; true if the frame is valid. */
static bool verify_twice(const file *f, size_t piece, u9i_frame *out)
{
    u9i_head_start head_start = {0};
    u9i_proof whole = {.need = 0}, pieces = {.head_start = &head_start};
    u9i_frame again = {.offset = 0};
    u9_err err = verify(f, f->size, &whole, out), last = U9_AGAIN;
    for (size_t avail = 0; last == U9_AGAIN; avail += piece) {
        if (avail > f->size) avail = f->size;
        last = verify(f, avail, &pieces, &again);
        if (avail == f->size) break;
    }
    CHECK(last == err);
    CHECK(pieces.why == whole.why);
    if (whole.why == U9_R_OVERLAP) {
        CHECK(pieces.searched == whole.searched);
        CHECK(memcmp(f->bytes + whole.searched, f->keys.boundary, U9I_HASH_SIZE) == 0);
    }
    if (err != U9_OK) return false;
    CHECK(again.offset == out->offset && again.end == out->end && again.body == out->body);
    CHECK(again.body_size == out->body_size && again.padding_ok == out->padding_ok);
    CHECK(out->end - out->offset <= f->size);
    return true;
}

/* A valid frame is what the writer makes of its body and trailer, but for the padding. */
static void seal_again(const file *f, const u9i_frame *frame)
{
    size_t size = u9i_frame_size(frame->body_size);
    uint8_t *bytes = (uint8_t *)take(size), sha[U9I_HASH_SIZE];
    uint64_t length;
    memcpy(bytes + U9I_FRAME_HEADER_SIZE, frame->body, frame->body_size);
    CHECK(u9i_frame_seal(&f->keys, &frame->trailer, bytes, frame->body_size, sha) == U9_OK);
    CHECK(memcmp(bytes, f->bytes, OVERHEAD + frame->body_size) == 0);
    CHECK(memcmp(sha, frame->sha, sizeof sha) == 0);
    CHECK(u9i_frame_header_whole(&f->keys, f->bytes, f->size, &length));
    CHECK(length == frame->body_size + U9I_TRAILER_SIZE);
    free(bytes);
}

static void walk_records(const u9i_body *body)
{
    const uint8_t *next = body->bytes, *end = body->bytes + body->size;
    size_t left = body->size;
    u9i_record r;
    u9_err err;
    while ((err = u9i_record_next(&next, &left, &r)) == U9_OK) {
        CHECK(next + left == end && r.size > 0 && r.bytes + r.size == next);
        CHECK(r.key > r.bytes && r.key_size > 0 && r.key_size <= U9I_KEY_MAX);
        CHECK(r.key_value <= r.key && r.key + r.key_size == r.values);
        CHECK(r.values + r.values_size == next);
    }
    CHECK(err == U9_END ? left == 0 : err == U9_CORRUPT || err == U9_VERSION);
}

/* How many elements the tuple at the body's beginning claims. */
static uint64_t claimed(const u9i_body *body)
{
    u9_value v;
    CHECK(u9_value_decode(body->bytes, body->size, &v) == U9_OK);
    return v.count;
}

#define RECODE(type, decode, encode, elements)                   \
    do {                                                         \
        type r;                                                  \
        if (decode(body->bytes, body->size, &r) != U9_OK) break; \
        encode(&out, &r);                                        \
        CHECK(!out.failed && out.size <= body->size);            \
        if (claimed(body) != (elements)) break;                  \
        CHECK(out.size == body->size);                           \
        CHECK(memcmp(out.bytes, body->bytes, out.size) == 0);    \
    } while (0)

static void encode_bits(u9i_out *out, const u9i_span *bits)
{
    u9i_bits_record_encode(out, *bits);
}

static void recode(const u9i_body *body)
{
    u9i_out out = u9i_out_init(take(body->size), body->size);
    switch (body->kind) {
    case U9I_BODY_OPEN: RECODE(u9i_open_record, u9i_open_record_decode, u9i_open_record_encode, 14u + (r.accepted > 0)); break;
    case U9I_BODY_END: RECODE(u9i_end_record, u9i_end_record_decode, u9i_end_record_encode, 12); break;
    case U9I_BODY_TRIM: RECODE(u9i_trim_record, u9i_trim_record_decode, u9i_trim_record_encode, 3); break;
    case U9I_BODY_PART: RECODE(u9i_part_record, u9i_part_record_decode, u9i_part_record_encode, 5); break;
    case U9I_BODY_MARK: RECODE(u9i_mark_record, u9i_mark_record_decode, u9i_mark_record_encode, 10); break;
    case U9I_BODY_PAGE:
        RECODE(u9i_page_record, u9i_page_record_decode, u9i_page_record_encode,
               4u + r.has_seed + (r.has_root ? 9u : 0u));
        break;
    case U9I_BODY_BITS: RECODE(u9i_span, u9i_bits_record_decode, encode_bits, 2); break;
    case U9I_BODY_RECORDS: walk_records(body); break;
    case U9I_BODY_EMPTY: CHECK(body->size == 0); break;
    case U9I_BODY_OTHER: break;
    }
    free(out.bytes);
}

/* What a part claims is told alike by its front as stored, whatever else that may be. */
static void look_at_front(const u9i_frame *frame, const u9i_body *body, u9_err err)
{
    uint8_t front[U9I_PART_FRONT] = {0};
    u9i_part_record whole, r;
    memcpy(front, frame->body, frame->body_size < sizeof front ? frame->body_size : sizeof front);
    u9_err seen = u9i_part_record_peek(front, &r);
    bool part = err == U9_OK && body->kind == U9I_BODY_PART &&
                u9i_part_record_decode(body->bytes, body->size, &whole) == U9_OK;
    if (!part) return;
    CHECK(seen == U9_OK && r.number == whole.number && r.total == whole.total && r.before == whole.before &&
          r.bytes.size == whole.bytes.size);
}

static void open_body(const u9i_frame *frame)
{
    u9i_body body;
    uint8_t *scratch = NULL;
    size_t need = 0;
    u9_err err = u9i_body_open(frame, NULL, 0, &need, &body);
    if (err == U9_AGAIN) {
        CHECK(need > 0 && need <= U9I_BODY_MAX);
        scratch = (uint8_t *)take(need);
        err = u9i_body_open(frame, scratch, need, &need, &body);
        CHECK(err != U9_AGAIN);
    }
    CHECK(err == U9_OK || err == U9_CORRUPT || err == U9_VERSION);
    if (err == U9_OK) recode(&body);
    look_at_front(frame, &body, err);
    free(scratch);
}

/* The bytes as the slot of a mark: a valid one says the same when it is made again. [M-2] */
static void read_slot(const file *f)
{
    uint8_t bytes[U9I_BLOCK] = {0}, again[U9I_BLOCK];
    size_t room = sizeof bytes - U9I_DISK_HEADER_SIZE;
    u9i_slot slot, made;
    u9i_disk_encode(&f->keys, bytes);
    memcpy(bytes + U9I_DISK_HEADER_SIZE, f->bytes, f->size < room ? f->size : room);
    u9i_slot_decode(bytes, &slot);
    CHECK(slot.state != U9I_SLOT_EMPTY);
    if (slot.state != U9I_SLOT_VALID) return;
    CHECK(u9i_slot_encode(&slot.mark, &f->keys, again) == U9_OK);
    u9i_slot_decode(again, &made);
    CHECK(made.state == U9I_SLOT_VALID && memcmp(&made.mark, &slot.mark, sizeof slot.mark) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    uint8_t *bytes = (uint8_t *)take(size - 1);
    memcpy(bytes, data + 1, size - 1);
    file f = {.keys = the_keys(),
              .p = data[0] & 1 ? PLACE : U9I_DISK_HEADER_SIZE,
              .bytes = bytes,
              .size = size - 1};
    if (f.p == U9I_DISK_HEADER_SIZE) read_slot(&f);
    f.bound = f.p + f.size + (data[0] & 2 ? MORE : 0);
    u9i_frame frame;
    if (verify_twice(&f, (size_t)1 << (data[0] >> 4), &frame)) {
        seal_again(&f, &frame);
        open_body(&frame);
    }
    free(bytes);
    return 0;
}

/* A small generator of its own: the mutator must do the same for the same seed. */
static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % below;
}

/* Makes the lengths of a wrapping or control record fit the body's size, so that what is within can
 * be reached. */
static void mend_lengths(uint8_t *body, size_t size)
{
    bool wide = size > 9 && body[0] == 0x42;
    if (wide) u9i_set_be(body + 1, 4, size - 9);
    else if (size > 5 && body[0] == 0x41) u9i_set_be(body + 1, 2, size - 5);
    else if (size > 2 && body[0] >= 0x48 && body[0] <= 0x4f) body[1] = (uint8_t)(size - 2);
    if (wide && size > U9I_LZ4_HEAD && memcmp(body + 10, "u9lz4", 6) == 0)
        u9i_set_be(body + 28, 4, size - U9I_LZ4_HEAD);
    if (wide && size > U9I_MASK_HEAD && memcmp(body + 10, "u9mask", 7) == 0)
        u9i_set_be(body + 37, 4, size - U9I_MASK_HEAD);
}

/* Wraps a body in place, which has room for `max` bytes; returns its new size. */
static size_t wrap(uint8_t *body, size_t size, size_t max, unsigned *seed)
{
    if (draw(seed, 2) && size + U9I_MASK_HEAD <= max) {
        uint8_t mask[U9I_HASH_SIZE];
        for (unsigned i = 0; i < sizeof mask; i++) mask[i] = (uint8_t)draw(seed, 256);
        return u9i_mask_wrap(body, size, mask);
    }
    uint8_t *packed = (uint8_t *)take(u9i_lz4_bound(size));
    size_t n = u9i_lz4_wrap(body, size, packed);
    if (n > 0 && n <= max) memcpy(body, packed, n);
    free(packed);
    return n > 0 && n <= max ? n : size;
}

/* Writes header and trailer of a valid frame around a body of `size` bytes at frame + 64. */
static void mend_frame(uint8_t *frame, size_t size, uint64_t p, const u9i_trailer *before)
{
    u9i_secret keys = the_keys();
    u9i_trailer t = *before;
    uint8_t sha[U9I_HASH_SIZE];
    t.offset = p;
    t.previous = p == U9I_DISK_HEADER_SIZE ? 0 : U9I_DISK_HEADER_SIZE;
    if (t.durable > p) t.durable %= p;
    (void)!u9i_frame_seal(&keys, &t, frame, size, sha); /* with a false boundary: left unsealed */
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    size_t room = 1 + OVERHEAD + U9I_ALIGN;
    if (size < 1 + OVERHEAD || max_size < room + 64 || draw(&seed, 16) == 0)
        return LLVMFuzzerMutate(data, size, max_size); /* as it is, unmended */

    /* Body and trailer as the length has them, or as if the input were all. */
    uint8_t *frame = data + 1, *body = frame + U9I_FRAME_HEADER_SIZE;
    uint64_t length = u9i_get_be(frame + 56, 8), most = size - 1 - U9I_FRAME_HEADER_SIZE;
    if (length < U9I_TRAILER_SIZE || length > most) length = most;
    size_t body_size = (size_t)length - U9I_TRAILER_SIZE, body_max = max_size - room;
    u9i_trailer trailer = {.count = draw(&seed, 3)};
    (void)!u9i_trailer_decode(body + body_size, &trailer);

    if (draw(&seed, 8) == 0) trailer.count = draw(&seed, 4);
    if (body_size > body_max) body_size = body_max;
    body_size = LLVMFuzzerMutate(body, body_size, body_max);
    if (draw(&seed, 2)) mend_lengths(body, body_size);
    if (draw(&seed, 16) == 0) body_size = wrap(body, body_size, body_max, &seed);
    data[0] = (uint8_t)(draw(&seed, 8) ? data[0] : draw(&seed, 256));
    mend_frame(frame, body_size, data[0] & 1 ? PLACE : U9I_DISK_HEADER_SIZE, &trailer);

    size_t whole = u9i_frame_size(body_size);
    if (draw(&seed, 8) == 0) { /* and one byte of header, trailer or padding wrong */
        size_t at = draw(&seed, (unsigned)(whole - body_size));
        frame[at < U9I_FRAME_HEADER_SIZE ? at : at + body_size] ^= (uint8_t)(1u << draw(&seed, 8));
    }
    return 1 + whole;
}
