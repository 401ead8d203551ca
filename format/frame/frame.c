/*
 * format/frame/frame.c: sealing and proving frames. [F-1] to [F-9]
 *
 * Nothing here believes a length: it is compared with the cap and with the file before a byte is
 * looked at, the boundary search ends at the next boundary, and hashing is the last clause. So a
 * hostile file costs no more than one pass, and what is hashed in vain beside it, at the same time.
 */
#include "format/frame/frame.h"

#include "format/base/bytes.h"
#include "format/frame/disk.h"

/* The fixed bytes of the trailer, zeros where its fields stand. [F-4] */
static const uint8_t trailer_form[U9I_TRAILER_SIZE] = {
    [0] = 0x40, [1] = 0x4d, [2] = 0x08, [3] = 0x0a,  [4] = 'u',   [5] = '9',   [6] = 'f',
    [7] = 'r',  [8] = 'a',  [9] = 'm',  [10] = 'e',  [12] = 0x03, [21] = 0x02, [26] = 0x03,
    [35] = 0x03, [44] = 0x03, [53] = 0x03, [62] = 0x1c, [63] = 0x10,
};

void u9i_trailer_encode(const u9i_trailer *t, uint8_t out[U9I_TRAILER_SIZE])
{
    memcpy(out, trailer_form, U9I_TRAILER_SIZE);
    u9i_set_be(out + 13, 8, t->ordinal);
    u9i_set_be(out + 22, 4, t->count);
    u9i_set_be(out + 27, 8, t->offset);
    u9i_set_be(out + 36, 8, t->previous);
    u9i_set_be(out + 45, 8, t->durable);
    u9i_set_be(out + 54, 8, t->time_us);
    memcpy(out + 64, t->chain, U9I_HASH_SIZE);
}

bool u9i_trailer_decode(const uint8_t in[U9I_TRAILER_SIZE], u9i_trailer *out)
{
    u9i_trailer t = {
        .ordinal = u9i_get_be(in + 13, 8),
        .count = (uint32_t)u9i_get_be(in + 22, 4),
        .offset = u9i_get_be(in + 27, 8),
        .previous = u9i_get_be(in + 36, 8),
        .durable = u9i_get_be(in + 45, 8),
        .time_us = u9i_get_be(in + 54, 8),
    };
    memcpy(t.chain, in + 64, U9I_HASH_SIZE);
    uint8_t again[U9I_TRAILER_SIZE];
    u9i_trailer_encode(&t, again);
    if (memcmp(again, in, U9I_TRAILER_SIZE) != 0) return false;
    *out = t;
    return true;
}

static u9_err refuse_frame(u9i_proof *proof, u9_reason why)
{
    proof->why = why;
    return U9_CORRUPT;
}

static u9_err want(u9i_proof *proof, uint64_t need)
{
    proof->need = (size_t)need;
    return U9_AGAIN;
}

/* Clauses b, c and d: the header. Fills `*length`, which is read once, and `*total`, the frame's size. */
static u9_err verify_header(const u9i_secret *secret, uint64_t room, const uint8_t *bytes, size_t avail,
                            u9i_proof *proof, uint64_t *length, uint64_t *total)
{
    uint64_t head = room < U9I_FRAME_HEADER_SIZE ? room : U9I_FRAME_HEADER_SIZE;
    if (avail < head) return want(proof, head);
    if (head < U9I_HASH_SIZE || memcmp(bytes, secret->boundary, U9I_HASH_SIZE) != 0)
        return refuse_frame(proof, U9_R_BOUNDARY); /* [F-6] b */
    if (head < 56 || memcmp(bytes + 48, u9i_frame_magic, sizeof u9i_frame_magic) != 0)
        return refuse_frame(proof, U9_R_MAGIC); /* [F-6] c */
    if (head < U9I_FRAME_HEADER_SIZE) return refuse_frame(proof, U9_R_LENGTH);
    *length = u9i_get_be(bytes + 56, 8);
    if ((*length < U9I_TRAILER_SIZE && !proof->plain) || *length > U9I_PAYLOAD_MAX) /* [F-5] [E-2] */
        return refuse_frame(proof, U9_R_LENGTH);
    *total = U9I_FRAME_HEADER_SIZE + *length + u9i_padding(*length);
    return *total <= room ? U9_OK : refuse_frame(proof, U9_R_LENGTH); /* [F-6] d */
}

/* Clause e: searches as far as bytes are there, and asks for more in steps. */
static u9_err verify_alone(const u9i_secret *secret, const uint8_t *bytes, size_t avail, uint64_t total,
                           u9i_proof *proof)
{
    size_t have = avail < total ? avail - avail % U9I_ALIGN : (size_t)total;
    size_t from = proof->searched > U9I_ALIGN ? proof->searched : U9I_ALIGN;
    if (proof->trust == U9I_TRUST_FRAME) return have == total ? U9_OK : want(proof, total);
    size_t hit = u9i_boundary_find(secret->boundary, bytes, from, have);
    proof->searched = hit > from ? hit : from;
    if (hit < have) return refuse_frame(proof, U9_R_OVERLAP); /* [F-6] e */
    if (have == total) return U9_OK;
    uint64_t more = have + (UINT64_C(1) << 18);
    return want(proof, more < total ? more : total);
}

/*
 * How much is there of the payload of the frame at `at`, or at the next block [F-8]; *at is then its
 * place. Nothing of that frame is proven: what is hashed of it counts only once it is.
 */
static size_t payload_behind(const u9i_secret *secret, uint64_t p, const uint8_t *bytes, size_t avail,
                             size_t *at)
{
    for (unsigned i = 0; i < 2 && *at < avail && avail - *at > U9I_FRAME_HEADER_SIZE; i++) {
        const uint8_t *head = bytes + *at;
        size_t there = avail - *at - U9I_FRAME_HEADER_SIZE;
        uint64_t length = u9i_get_be(head + 56, 8);
        if (memcmp(head, secret->boundary, U9I_HASH_SIZE) == 0)
            return length < there ? (size_t)length : there;
        *at += (size_t)(-(p + *at) & (U9I_BLOCK - 1));
    }
    return 0;
}

/* The hasher of the payload at `offset`, as far as it came; anew if it did not, or passed its end. */
static u9i_hasher begun_for(const u9i_head_start *h, uint64_t offset, size_t size)
{
    u9i_hasher fresh = {.blocks = 0};
    for (unsigned i = 0; i < U9I_AHEAD; i++)
        if (h->ahead[i].offset == offset && h->ahead[i].hasher.blocks <= size / U9I_HASH_BLOCK)
            return h->ahead[i].hasher;
    u9i_hasher_init(&fresh);
    return fresh;
}

/* What of a payload, of which `size` bytes are there, has not gone in yet; `most` blocks at most. */
static u9i_lane lane_of(u9i_hasher *hasher, const uint8_t *payload, size_t size, size_t most)
{
    size_t left = size / U9I_HASH_BLOCK - (size_t)hasher->blocks;
    return (u9i_lane){.hasher = hasher, .bytes = payload + hasher->blocks * U9I_HASH_BLOCK,
                      .blocks = left < most ? left : most};
}

/*
 * How many payloads go in at once, with the one at p. A second costs next to no time; more do, and are
 * worth it only to who comes to them, in a row of frames.
 */
static unsigned lanes_for(const u9i_head_start *h, uint64_t p)
{
    unsigned width = u9i_hash_width();
    bool in_row = p >= h->row && p - h->row < U9I_BLOCK; /* [F-8] */
    return in_row || width < 2 ? width : 2;
}

/* H(payload) of the frame at p, as far as that is not done, and beside it as much of those behind. */
static void hash_with_head_start(const u9i_secret *secret, uint64_t p, const uint8_t *bytes, size_t avail,
                                 size_t length, u9i_head_start *head_start, uint8_t sha[U9I_HASH_SIZE])
{
    const uint8_t *payload = bytes + U9I_FRAME_HEADER_SIZE;
    size_t at = u9i_frame_size(length - U9I_TRAILER_SIZE), whole = length - length % U9I_HASH_BLOCK;
    unsigned width = lanes_for(head_start, p), count = 1;
    u9i_head_start before = *head_start;
    u9i_hasher own = begun_for(&before, p, length);
    u9i_lane lanes[1 + U9I_AHEAD] = {lane_of(&own, payload, length, SIZE_MAX)};
    size_t most = lanes[0].blocks;
    head_start->row = p + at;
    while (most > 0 && count < width) {
        size_t there = payload_behind(secret, p, bytes, avail, &at);
        if (there < U9I_HASH_BLOCK) break;
        u9i_ahead *next = &head_start->ahead[count - 1];
        *next = (u9i_ahead){p + at, begun_for(&before, p + at, there)};
        lanes[count++] = lane_of(&next->hasher, bytes + at + U9I_FRAME_HEADER_SIZE, there, most);
        /* If it is not all there, this is the end. */
        at += U9I_FRAME_HEADER_SIZE + there + (size_t)u9i_padding(there);
    }
    u9i_hash_lanes(lanes, count);
    u9i_hasher_finish(&own, payload + whole, length - whole, sha);
}

/* The header's signature fits its hash, as far as that can be known. [F-6] f [G-2] */
static bool is_signed(const u9i_secret *secret, const uint8_t *header)
{
    uint8_t sign[U9I_HASH_SIZE];
    u9i_sign(header + 16, secret->bytes, sign);
    return secret->lost || memcmp(sign, header + 32, U9I_HASH_SIZE) == 0;
}

/* Clause g. */
static bool has_trailer(const uint8_t *bytes, uint64_t p, u9i_trailer *t)
{
    if (!u9i_trailer_decode(bytes, t) || t->offset != p || t->durable > p) return false; /* [F-6] g */
    if (t->ordinal > UINT64_MAX - t->count) return false; /* [L-5] */
    return p == U9I_DISK_HEADER_SIZE ? t->previous == 0
                                     : t->previous >= U9I_DISK_HEADER_SIZE && t->previous < p;
}

u9_err u9i_frame_verify(const u9i_secret *secret, uint64_t p, uint64_t bound, const uint8_t *bytes,
                        size_t avail, u9i_proof *proof, u9i_frame *out)
{
    if (p % U9I_ALIGN != 0 || p < U9I_DISK_HEADER_SIZE || p > bound) /* [F-6] a */
        return refuse_frame(proof, U9_R_BOUNDARY);
    uint64_t size = 0, total = 0;
    u9_err err = verify_header(secret, bound - p, bytes, avail, proof, &size, &total);
    if (err == U9_OK) err = verify_alone(secret, bytes, avail, total, proof);
    if (err != U9_OK) return err;

    u9i_frame f = {.offset = p, .end = p + total, .padding_ok = true};
    uint8_t sha[U9I_HASH_SIZE];
    memcpy(f.sha, bytes + 16, U9I_HASH_SIZE);
    if (proof->trust < U9I_TRUST_FRAME && !is_signed(secret, bytes)) return refuse_frame(proof, U9_R_SIGNATURE); /* [F-6] f */

    size_t length = (size_t)size;
    const uint8_t *payload = bytes + U9I_FRAME_HEADER_SIZE;
    f.body = payload;
    f.body_size = proof->plain ? length : length - U9I_TRAILER_SIZE;
    f.trailer.offset = p;
    if (!proof->plain && !has_trailer(payload + f.body_size, p, &f.trailer))
        return refuse_frame(proof, U9_R_TRAILER);

    if (proof->trust != U9I_TRUST_NOTHING) memcpy(sha, f.sha, U9I_HASH_SIZE);
    else if (proof->head_start && u9i_hash_width() > 1) hash_with_head_start(secret, p, bytes, avail, length, proof->head_start, sha);
    else u9i_hash(payload, length, sha);
    if (memcmp(sha, f.sha, U9I_HASH_SIZE) != 0) return refuse_frame(proof, U9_R_HASH); /* [F-6] h */

    for (size_t i = U9I_FRAME_HEADER_SIZE + length; i < total; i++)
        if (bytes[i] != 0) f.padding_ok = false;
    *out = f;
    return U9_OK;
}

u9_err u9i_frame_verify_ends(const u9i_secret *secret, uint64_t p, uint64_t bound, const uint8_t *head, const uint8_t *tail,
                             uint64_t *total, u9i_frame *out)
{
    u9i_proof proof = {.need = 0};
    uint64_t length;
    if (p % U9I_ALIGN != 0 || p < U9I_DISK_HEADER_SIZE || p > bound) return U9_CORRUPT; /* [F-6] a */
    u9_err err = verify_header(secret, bound - p, head, U9I_FRAME_HEADER_SIZE, &proof, &length, total);
    if (err != U9_OK || tail == NULL) return err == U9_OK ? U9_AGAIN : err;
    u9i_frame f = {.offset = p, .end = p + *total, .body_size = (size_t)length - U9I_TRAILER_SIZE, .padding_ok = true};
    size_t padding = (size_t)u9i_padding(length);
    memcpy(f.sha, head + 16, U9I_HASH_SIZE);
    if (!has_trailer(tail + U9I_ALIGN - padding, p, &f.trailer)) return U9_CORRUPT;
    for (size_t i = U9I_FRAME_TAIL - padding; i < U9I_FRAME_TAIL; i++)
        if (tail[i] != 0) f.padding_ok = false;
    *out = f;
    return U9_OK;
}

bool u9i_frame_header_whole(const u9i_secret *secret, const uint8_t *bytes, size_t avail,
                            uint64_t *length)
{
    if (avail < U9I_FRAME_HEADER_SIZE) return false;
    uint64_t n = u9i_get_be(bytes + 56, 8);
    if (memcmp(bytes, secret->boundary, U9I_HASH_SIZE) != 0 ||
        memcmp(bytes + 48, u9i_frame_magic, sizeof u9i_frame_magic) != 0 ||
        !is_signed(secret, bytes) || n < U9I_TRAILER_SIZE || n > U9I_PAYLOAD_MAX)
        return false;
    *length = n;
    return true;
}

bool u9i_frame_follows(const u9i_frame *before, const u9i_frame *next)
{
    return next->trailer.previous == before->offset && /* [F-9] */
           next->trailer.ordinal == before->trailer.ordinal + before->trailer.count &&
           memcmp(next->trailer.chain, before->sha, U9I_HASH_SIZE) == 0;
}

/* Fills in the header; U9_AGAIN if a hash in it is the boundary, once in 2^128 frames. [F-1] [F-7] */
static u9_err write_header(const u9i_secret *secret, const uint8_t sha[U9I_HASH_SIZE], uint64_t length, uint8_t *frame)
{
    memcpy(frame, secret->boundary, U9I_HASH_SIZE);
    memcpy(frame + 16, sha, U9I_HASH_SIZE);
    u9i_sign(sha, secret->bytes, frame + 32);
    memcpy(frame + 48, u9i_frame_magic, sizeof u9i_frame_magic);
    u9i_set_be(frame + 56, 8, length);
    size_t hit = u9i_boundary_find(secret->boundary, frame, U9I_ALIGN, U9I_FRAME_HEADER_SIZE);
    return hit < U9I_FRAME_HEADER_SIZE ? U9_AGAIN : U9_OK;
}

bool u9i_frame_is_clear(const u9i_secret *secret, uint64_t ordinal, uint8_t *frame, size_t body_size)
{
    size_t end = U9I_FRAME_HEADER_SIZE + body_size;
    size_t seam = end + (-body_size & (U9I_ALIGN - 1)); /* what begins in the body ends before this */
    memcpy(frame + end, trailer_form, U9I_ALIGN);
    u9i_set_be(frame + end + 13, 3, ordinal >> 40); /* as far as the seam can go */
    return u9i_boundary_find(secret->boundary, frame, U9I_FRAME_HEADER_SIZE, seam) == seam;
}

u9i_lane u9i_frame_lane(u9i_hasher *hasher, const uint8_t *frame, size_t body_size)
{
    u9i_hasher_init(hasher);
    return (u9i_lane){.hasher = hasher, .bytes = frame + U9I_FRAME_HEADER_SIZE, .blocks = body_size / U9I_HASH_BLOCK};
}

u9_err u9i_frame_finish(const u9i_secret *secret, const u9i_trailer *trailer, uint8_t *frame, size_t body_size,
                        u9i_hasher *hasher, uint8_t sha[U9I_HASH_SIZE])
{
    size_t length = body_size + U9I_TRAILER_SIZE, total = u9i_frame_size(body_size);
    size_t hashed = body_size / U9I_HASH_BLOCK * U9I_HASH_BLOCK;
    uint8_t *payload = frame + U9I_FRAME_HEADER_SIZE;
    u9i_trailer_encode(trailer, payload + body_size);
    memset(payload + length, 0, (size_t)u9i_padding(length));
    size_t behind = U9I_FRAME_HEADER_SIZE + body_size / U9I_ALIGN * U9I_ALIGN;
    if (u9i_boundary_find(secret->boundary, frame, behind, total) < total) return U9_AGAIN;
    u9i_hasher_finish(hasher, payload + hashed, length - hashed, sha);
    return write_header(secret, sha, length, frame);
}

u9_err u9i_frame_seal(const u9i_secret *secret, const u9i_trailer *trailer, uint8_t *frame, size_t body_size,
                      uint8_t sha[U9I_HASH_SIZE])
{
    u9i_hasher hasher = {.blocks = 0};
    if (!u9i_frame_is_clear(secret, trailer->ordinal, frame, body_size)) return U9_AGAIN;
    u9i_lane lane = u9i_frame_lane(&hasher, frame, body_size);
    u9i_hash_lanes(&lane, 1);
    return u9i_frame_finish(secret, trailer, frame, body_size, &hasher, sha);
}
