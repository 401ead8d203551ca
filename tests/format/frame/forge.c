/*
 * tests/format/frame/forge.c: see forge.h.
 */
#include "tests/format/frame/forge.h"

#include "format/frame/disk.h"

#include <check.h>
#include <stdlib.h>

u9i_secret fixed_keys(void)
{
    uint8_t secret[U9I_SECRET_SIZE];
    u9i_secret keys;
    for (unsigned i = 0; i < sizeof secret; i++) secret[i] = (uint8_t)i;
    ck_assert(u9i_secret_init(&keys, secret));
    return keys;
}

u9i_secret keys_ending_in(const uint8_t *tail, size_t size)
{
    u9i_secret keys;
    uint8_t secret[U9I_SECRET_SIZE] = {0};
    uint64_t n = 0;
    do {
        u9i_set_be(secret + 8, 8, n++);
        ck_assert(u9i_secret_init(&keys, secret));
    } while (memcmp(keys.boundary + U9I_HASH_SIZE - size, tail, size) != 0);
    return keys;
}

void make_frame_at(forged *f, uint64_t p, const void *body, size_t size)
{
    uint8_t sha[U9I_HASH_SIZE];
    f->keys = fixed_keys();
    f->p = p;
    f->body_size = size;
    f->size = u9i_frame_size(size);
    f->bound = p + f->size;
    ck_assert_uint_le(f->size, sizeof f->bytes);
    f->trailer = (u9i_trailer){.ordinal = 7,
                               .count = 2,
                               .offset = p,
                               .previous = p == U9I_DISK_HEADER_SIZE ? 0 : U9I_DISK_HEADER_SIZE,
                               .durable = p < 4096 ? 0 : 4096,
                               .time_us = 1700000000000000};
    memset(f->trailer.chain, 0xcc, sizeof f->trailer.chain);
    memset(f->bytes, 0, sizeof f->bytes);
    if (size > 0) memcpy(f->bytes + AT_PAYLOAD, body, size);
    ck_assert_int_eq(u9i_frame_seal(&f->keys, &f->trailer, f->bytes, size, sha), U9_OK);
}

void make_frame(forged *f, const void *body, size_t size)
{
    make_frame_at(f, FORGE_PLACE, body, size);
}

size_t in_trailer(const forged *f, size_t at)
{
    return AT_PAYLOAD + f->body_size + at;
}

void forge_byte(forged *f, size_t at, uint8_t value)
{
    ck_assert_uint_lt(at, f->size);
    f->bytes[at] = value;
}

void flip_byte(forged *f, size_t at)
{
    ck_assert_uint_lt(at, f->size);
    f->bytes[at] ^= 1;
}

void forge_length(forged *f, uint64_t length)
{
    u9i_set_be(f->bytes + AT_LENGTH, 8, length);
}

void mend_hash(forged *f)
{
    uint64_t length = u9i_get_be(f->bytes + AT_LENGTH, 8);
    ck_assert_uint_le(length, f->size - AT_PAYLOAD);
    u9i_hash(f->bytes + AT_PAYLOAD, (size_t)length, f->bytes + AT_SHA);
    u9i_sign(f->bytes + AT_SHA, f->keys.bytes, f->bytes + AT_SIGN);
}

uint8_t *exact_copy(const void *bytes, size_t size)
{
    uint8_t *copy = (uint8_t *)malloc(size);
    ck_assert(copy != NULL || size == 0);
    if (size > 0) memcpy(copy, bytes, size);
    return copy;
}

static u9_err verify(const forged *f, size_t avail, u9i_proof *proof, u9i_frame *out)
{
    size_t searched = proof->searched;
    uint8_t *bytes = exact_copy(f->bytes, avail);
    u9i_frame frame = {.offset = UINT64_MAX};
    u9_err err = u9i_frame_verify(&f->keys, f->p, f->bound, bytes, avail, proof, &frame);
    free(bytes);
    ck_assert_uint_ge(proof->searched, searched);
    if (err == U9_AGAIN) {
        ck_assert_uint_gt(proof->need, avail);
        ck_assert_uint_le(proof->need, f->bound - f->p);
    }
    if (err == U9_OK) {
        frame.body = f->bytes + AT_PAYLOAD;
        *out = frame;
    } else {
        ck_assert_uint_eq(frame.offset, UINT64_MAX);
    }
    return err;
}

static void same_frame(const u9i_frame *a, const u9i_frame *b)
{
    ck_assert_uint_eq(a->offset, b->offset);
    ck_assert_uint_eq(a->end, b->end);
    ck_assert_mem_eq(a->sha, b->sha, sizeof a->sha);
    ck_assert_mem_eq(a->trailer.chain, b->trailer.chain, sizeof a->trailer.chain);
    ck_assert_uint_eq(a->trailer.ordinal, b->trailer.ordinal);
    ck_assert_ptr_eq(a->body, b->body);
    ck_assert_uint_eq(a->body_size, b->body_size);
    ck_assert_int_eq(a->padding_ok, b->padding_ok);
}

u9_reason verdict_on(const forged *f, u9i_frame *out)
{
    u9i_frame whole = {0}, grown = {0};
    u9i_proof proof = {0}, again = {0};
    size_t room =
        f->p <= f->bound && f->bound - f->p < f->size ? (size_t)(f->bound - f->p) : f->size;
    u9_err err = verify(f, room, &proof, &whole);
    ck_assert(err == U9_OK || err == U9_CORRUPT);

    u9_err last = U9_AGAIN;
    for (size_t avail = 0; avail <= room && last == U9_AGAIN; avail++)
        last = verify(f, avail, &again, &grown);
    ck_assert_int_eq(last, err);
    ck_assert_int_eq(again.why, proof.why);
    if (err == U9_CORRUPT) {
        ck_assert_int_ne(proof.why, U9_R_NONE);
        if (proof.why == U9_R_OVERLAP) ck_assert_uint_eq(again.searched, proof.searched);
        return proof.why;
    }
    same_frame(&whole, &grown);
    if (out) *out = whole;
    return U9_R_NONE;
}

u9_err open_body(opened *o, const void *stored, size_t size, uint32_t count)
{
    *o = (opened){.stored = exact_copy(stored, size)};
    u9i_frame frame = {.body = o->stored, .body_size = size, .trailer.count = count};
    u9_err err = u9i_body_open(&frame, NULL, 0, &o->need, &o->body);
    if (err != U9_AGAIN) return err;
    ck_assert_uint_ge(o->need, 1);
    ck_assert_uint_le(o->need, U9I_BODY_MAX);
    size_t asked = o->need, need = 0;
    o->scratch = (uint8_t *)malloc(asked);
    ck_assert_ptr_nonnull(o->scratch);
    ck_assert_int_eq(u9i_body_open(&frame, o->scratch, asked - 1, &need, &o->body), U9_AGAIN);
    ck_assert_uint_eq(need, asked);
    err = u9i_body_open(&frame, o->scratch, asked, &need, &o->body);
    ck_assert_int_ne(err, U9_AGAIN);
    return err;
}

void close_body(opened *o)
{
    free(o->stored);
    free(o->scratch);
    *o = (opened){0};
}

u9_err body_verdict(const void *stored, size_t size, uint32_t count)
{
    opened o;
    u9_err err = open_body(&o, stored, size, count);
    close_body(&o);
    return err;
}

void put_record(u9i_out *out, uint8_t n, const char *text)
{
    size_t size = strlen(text);
    uint8_t head[17];
    ck_assert_uint_le(size, 200);
    u9i_out_copy(out, head, u9i_record_head(2, 18 + 2 + size, head));
    u9i_out_uint(out, 2, 0x1c10);
    for (unsigned i = 0; i < 16; i++) u9i_out_uint(out, 1, n);
    u9i_out_uint(out, 1, 0x18);
    u9i_out_uint(out, 1, size);
    u9i_out_copy(out, text, size);
    ck_assert(!out->failed);
}

u9_err count_records(const void *body, size_t size, uint32_t *count)
{
    uint8_t *copy = exact_copy(body, size);
    const uint8_t *next = copy;
    size_t left = size;
    u9_err err;
    for (*count = 0;; ++*count) {
        u9i_record r;
        err = u9i_record_next(&next, &left, &r);
        if (err != U9_OK) break;
        ck_assert(r.bytes + r.size == next && r.values + r.values_size == next);
        ck_assert_uint_eq((size_t)(next - copy) + left, size);
    }
    free(copy);
    return err;
}
