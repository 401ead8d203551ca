/*
 * tests/format/frame/test_body.c: what a frame's body may be, its two wrappings, its records.
 */
#include "format/frame/body.h"
#include "format/frame/control.h"
#include "tests/format/frame/forge.h"
#include "tests/suites.h"

#include <lz4.h>
#include <stdlib.h>
#include <u9/value.h>

enum { ROOM = 4096 };

static const uint8_t mask[U9I_HASH_SIZE] = {0x5a, 0xa5, 0x0f, 0xf0, 0x11, 0x22, 0x33, 0x44,
                                            0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc};

/* (u9later 1), a control record that this version does not know. */
static const uint8_t later[12] = {0x4a, 0x0a, 0x0a, 'u', '9', 'l', 'a', 't', 'e', 'r', 0, 0x81};

/* Bytes that are put together piece by piece. */
typedef struct bag {
    size_t size;
    uint8_t bytes[ROOM];
} bag;

static void add(bag *b, const void *bytes, size_t size)
{
    ck_assert_uint_le(b->size + size, sizeof b->bytes);
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
}

static bag records(unsigned count, const char *text)
{
    bag b = {.size = 0};
    u9i_out out = u9i_out_init(b.bytes, sizeof b.bytes);
    for (unsigned i = 0; i < count; i++) put_record(&out, (uint8_t)(i + 1), text);
    b.size = out.size;
    return b;
}

static bag trim_record(void)
{
    bag b = {.size = 0};
    u9i_trim_record r = {.segment = 1, .ordinal = 0};
    u9i_out out = u9i_out_init(b.bytes, sizeof b.bytes);
    u9i_trim_record_encode(&out, &r);
    b.size = out.size;
    return b;
}

static bag part_record(void)
{
    bag b = {.size = 0};
    u9i_part_record r = {.number = 1, .total = 6, .before = 32, .bytes = {(const uint8_t *)"part", 4}};
    u9i_out out = u9i_out_init(b.bytes, sizeof b.bytes);
    u9i_part_record_encode(&out, &r);
    b.size = out.size;
    return b;
}

static bag lz4_of(const bag *plain)
{
    bag b = {.size = 0};
    ck_assert_uint_le(u9i_lz4_bound(plain->size), sizeof b.bytes);
    b.size = u9i_lz4_wrap(plain->bytes, plain->size, b.bytes);
    ck_assert_uint_gt(b.size, 0);
    return b;
}

static bag mask_of(const bag *plain)
{
    bag b = *plain;
    b.size = u9i_mask_wrap(b.bytes, b.size, mask);
    return b;
}

static u9_err verdict(const bag *b, uint32_t count)
{
    return body_verdict(b->bytes, b->size, count);
}

static void expect_body(const bag *stored, uint32_t count, u9i_body_kind kind, const bag *plain)
{
    opened o;
    ck_assert_int_eq(open_body(&o, stored->bytes, stored->size, count), U9_OK);
    ck_assert_int_eq(o.body.kind, kind);
    ck_assert_uint_eq(o.body.size, plain->size);
    if (plain->size > 0) ck_assert_mem_eq(o.body.bytes, plain->bytes, plain->size);
    close_body(&o);
}

/* [B-1] [B-3] */
START_TEST(an_empty_body_is_empty)
{
    bag nothing = {.size = 0};
    expect_body(&nothing, 0, U9I_BODY_EMPTY, &nothing);
    ck_assert_int_eq(verdict(&nothing, 1), U9_CORRUPT); /* a record is claimed */
}
END_TEST

/* [B-1] [B-2] */
START_TEST(a_body_of_records_is_handed_out_where_it_lies)
{
    bag b = records(3, "text");
    opened o;
    ck_assert_int_eq(open_body(&o, b.bytes, b.size, 3), U9_OK);
    ck_assert_int_eq(o.body.kind, U9I_BODY_RECORDS);
    ck_assert_ptr_eq(o.body.bytes, o.stored);
    ck_assert_uint_eq(o.body.size, b.size);
    ck_assert(!o.body.lz4 && !o.body.masked);
    ck_assert_uint_eq(o.need, 0);
    close_body(&o);
}
END_TEST

/* [B-3] Forged: the trailer's count. */
START_TEST(records_in_a_frame_of_count_zero_are_refused)
{
    bag b = records(1, "text");
    ck_assert_int_eq(verdict(&b, 0), U9_CORRUPT);
}
END_TEST

/* [B-1] Forged: the first byte of the body. */
START_TEST(a_body_that_is_no_tuple_is_refused)
{
    static const uint8_t first[] = {0x81, 0x03, 0x0a, 0x10, 0x22, 0x1c, 0x44, 0x58, 0x51};
    bag b = records(1, "text");
    for (size_t i = 0; i < sizeof first; i++) {
        b.bytes[0] = first[i];
        ck_assert_int_eq(verdict(&b, 1), U9_CORRUPT);
        ck_assert_int_eq(verdict(&b, 0), U9_CORRUPT);
    }
}
END_TEST

/* [B-1] Forged: the end of the body. */
START_TEST(a_body_cut_within_its_first_record_is_refused)
{
    bag b = records(1, "text");
    for (size_t size = 1; size < b.size; size++)
        ck_assert_int_eq(body_verdict(b.bytes, size, 1), U9_CORRUPT);
}
END_TEST

/* [B-2] */
START_TEST(a_tuple_of_nothing_is_no_record)
{
    ck_assert_int_eq(body_verdict("\x48\x00", 2, 1), U9_CORRUPT);
    ck_assert_int_eq(body_verdict("\x40\x00\x00", 3, 0), U9_CORRUPT);
}
END_TEST

/* [B-2] Forged: the name. A key is never a symbol. */
START_TEST(a_symbol_that_does_not_begin_with_u9_is_neither_record_nor_control)
{
    bag b = {.size = 0};
    add(&b, later, sizeof later);
    for (size_t at = 3; at <= 4; at++) {
        b.bytes[at] ^= 1;
        ck_assert_int_eq(verdict(&b, 0), U9_CORRUPT);
        ck_assert_int_eq(verdict(&b, 1), U9_CORRUPT);
        b.bytes[at] ^= 1;
    }
}
END_TEST

static u9_err named(const char *name, uint32_t count, u9i_body_kind *kind)
{
    bag b = {.size = 0};
    opened o;
    add(&b, "\x49\x09\x0a", 3);
    uint8_t padded[8] = {0};
    memcpy(padded, name, strlen(name));
    add(&b, padded, 8);
    u9_err err = open_body(&o, b.bytes, b.size, count);
    *kind = o.body.kind;
    close_body(&o);
    return err;
}

/* [B-1] [B-3] */
START_TEST(control_records_stand_alone_in_frames_of_count_zero)
{
    static const char *const names[] = {"u9open", "u9end", "u9trim", "u9page", "u9part"};
    static const u9i_body_kind kinds[] = {U9I_BODY_OPEN, U9I_BODY_END, U9I_BODY_TRIM, U9I_BODY_PAGE,
                                          U9I_BODY_PART};
    for (size_t i = 0; i < 5; i++) {
        u9i_body_kind kind;
        ck_assert_int_eq(named(names[i], 0, &kind), U9_OK);
        ck_assert_int_eq(kind, kinds[i]);
    }
}
END_TEST

/* [B-3] Forged: the trailer's count. */
START_TEST(control_records_in_a_frame_of_records_are_refused)
{
    static const char *const names[] = {"u9open", "u9end", "u9trim", "u9page"};
    for (size_t i = 0; i < 4; i++) {
        u9i_body_kind kind;
        ck_assert_int_eq(named(names[i], 1, &kind), U9_CORRUPT);
        ck_assert_int_eq(named(names[i], 2, &kind), U9_CORRUPT);
    }
}
END_TEST

/* [B-2] [C-6] Forged: the trailer's count. */
START_TEST(only_a_last_part_counts_and_it_counts_one)
{
    bag b = part_record();
    expect_body(&b, 0, U9I_BODY_PART, &b);
    expect_body(&b, 1, U9I_BODY_PART, &b);
    ck_assert_int_eq(verdict(&b, 2), U9_CORRUPT);
}
END_TEST

/* [B-3] */
START_TEST(an_unknown_control_record_is_skipped_only_in_a_frame_of_count_zero)
{
    bag b = {.size = 0};
    add(&b, later, sizeof later);
    expect_body(&b, 0, U9I_BODY_OTHER, &b);
    ck_assert_int_eq(verdict(&b, 1), U9_VERSION);
    ck_assert_int_eq(verdict(&b, 7), U9_VERSION);
}
END_TEST

/* [B-1] [B-3] Forged: a second value. */
START_TEST(a_control_record_with_company_is_refused)
{
    bag one = trim_record(), company[3] = {trim_record(), records(1, "x"), {.size = 0}};
    add(&company[2], later, sizeof later);
    for (size_t i = 0; i < 3; i++) {
        bag b = one, part = part_record(), other = {.size = 0};
        add(&b, company[i].bytes, company[i].size);
        ck_assert_int_eq(verdict(&b, 0), U9_CORRUPT);
        ck_assert_int_eq(verdict(&b, 1), U9_CORRUPT);
        add(&part, company[i].bytes, company[i].size);
        ck_assert_int_eq(verdict(&part, 0), U9_CORRUPT);
        ck_assert_int_eq(verdict(&part, 1), U9_CORRUPT);
        add(&other, later, sizeof later);
        add(&other, company[i].bytes, company[i].size);
        ck_assert_int_eq(verdict(&other, 0), U9_CORRUPT);
        ck_assert_int_eq(verdict(&other, 1), U9_VERSION);
    }
}
END_TEST

/* [B-2] [B-3] */
START_TEST(a_control_record_among_records_is_told_when_it_is_reached)
{
    bag b = records(2, "x"), unknown = b, trim = trim_record();
    uint32_t count;
    add(&unknown, later, sizeof later);
    ck_assert_int_eq(count_records(unknown.bytes, unknown.size, &count), U9_VERSION);
    ck_assert_uint_eq(count, 2);
    add(&b, trim.bytes, trim.size);
    ck_assert_int_lt(count_records(b.bytes, b.size, &count), 0);
    ck_assert_uint_eq(count, 2);
}
END_TEST

/* [F-5] [B-1] */
START_TEST(a_plain_body_beyond_the_cap_is_refused)
{
    size_t cap = (size_t)U9I_BODY_MAX;
    uint8_t *body = (uint8_t *)calloc(1, cap + 1);
    u9i_out out = u9i_out_init(body, cap);
    put_record(&out, 1, "first");
    u9i_frame frame = {.body = body, .body_size = cap, .trailer = {.count = 1}};
    u9i_body opened_body;
    size_t need;
    ck_assert_int_eq(u9i_body_open(&frame, NULL, 0, &need, &opened_body), U9_OK);
    frame.body_size = cap + 1;
    ck_assert_int_eq(u9i_body_open(&frame, NULL, 0, &need, &opened_body), U9_CORRUPT);
    free(body);
}
END_TEST

/* [B-4] */
START_TEST(a_compressed_body_is_opened_to_what_was_wrapped)
{
    for (unsigned count = 1; count <= 20; count++) {
        bag plain = records(count, "again and again and again and again and again and again");
        bag stored = lz4_of(&plain);
        ck_assert_uint_lt(stored.size, plain.size);
        expect_body(&stored, count, U9I_BODY_RECORDS, &plain);
    }
}
END_TEST

/* [B-4] */
START_TEST(a_compressed_body_has_the_bytes_of_the_rule)
{
    bag plain = records(9, "again and again"), stored = lz4_of(&plain);
    u9_value v;
    ck_assert_mem_eq(stored.bytes + 5, "\0\0\0\3\x0au9lz4\0\0\0\x03", 14);
    ck_assert_uint_eq(stored.bytes[0], 0x42);
    ck_assert_uint_eq(u9i_get_be(stored.bytes + 1, 4), stored.size - 9);
    ck_assert_uint_eq(u9i_get_be(stored.bytes + 19, 8), plain.size);
    ck_assert_uint_eq(stored.bytes[27], 0x1e);
    ck_assert_uint_eq(u9i_get_be(stored.bytes + 28, 4), stored.size - 32);
    ck_assert_int_eq(u9_value_check(stored.bytes, stored.size, NULL, NULL), U9_OK);
    ck_assert_int_eq(u9_value_decode(stored.bytes, stored.size, &v), U9_OK);
    ck_assert_uint_eq(v.encoded, stored.size);
}
END_TEST

/* [B-4] */
START_TEST(a_body_that_does_not_get_smaller_is_not_wrapped)
{
    uint8_t noise[512], out[1024];
    uint64_t x = 88172645463325252;
    for (size_t i = 0; i < sizeof noise; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        noise[i] = (uint8_t)(x >> 32);
    }
    ck_assert_uint_le(u9i_lz4_bound(sizeof noise), sizeof out);
    for (size_t size = 0; size <= sizeof noise; size++)
        ck_assert_uint_eq(u9i_lz4_wrap(noise, size, out), 0);
}
END_TEST

/* [B-4] [F-5] Room for the whole cap; a wrap writes no byte beyond its bound. */
START_TEST(a_body_at_the_cap_is_compressed_and_opened)
{
    size_t cap = (size_t)U9I_BODY_MAX, need = 0;
    uint8_t *plain = (uint8_t *)malloc(cap), *again = (uint8_t *)malloc(cap);
    uint8_t *stored = (uint8_t *)malloc(u9i_lz4_bound(cap));
    memset(plain, 0xee, cap); /* one record: a tuple with a 32-bit length, a key, one long value */
    memcpy(plain, "\x42\x00\xff\xff\xf7\0\0\0\2\x21k\x1e\x00\xff\xff\xf0", 16);
    size_t size = u9i_lz4_wrap(plain, cap, stored);
    ck_assert_uint_gt(size, 0);

    u9i_frame frame = {.body = stored, .body_size = size, .trailer = {.count = 1}};
    u9i_body body;
    ck_assert_int_eq(u9i_body_open(&frame, NULL, 0, &need, &body), U9_AGAIN);
    ck_assert_uint_eq(need, cap);
    ck_assert_int_eq(u9i_body_open(&frame, again, cap, &need, &body), U9_OK);
    ck_assert(body.lz4 && body.size == cap && memcmp(again, plain, cap) == 0);
    uint32_t count;
    ck_assert_int_eq(count_records(again, cap, &count), U9_END);
    ck_assert_uint_eq(count, 1);
    free(plain);
    free(again);
    free(stored);
}
END_TEST

static u9_err with_decoded(uint64_t decoded)
{
    bag plain = records(9, "again and again"), stored = lz4_of(&plain);
    u9i_set_be(stored.bytes + 19, 8, decoded);
    return verdict(&stored, 9);
}

/* {F56} [B-4] Forged: the decoded length. */
START_TEST(a_decoded_length_that_is_not_the_blocks_is_refused)
{
    bag plain = records(9, "again and again");
    uint64_t right = plain.size;
    ck_assert_int_eq(with_decoded(right), U9_OK);
    for (uint64_t n = 0; n < 2 * right; n++)
        if (n != right) ck_assert_int_eq(with_decoded(n), U9_CORRUPT);
}
END_TEST

/* {F56} [B-4] Forged: the decoded length. Checked before memory is taken: nothing is asked for. */
START_TEST(a_decoded_length_beyond_the_cap_is_refused)
{
    static const uint64_t lengths[] = {0,
                                       (1 << 24) + 1,
                                       UINT32_MAX,
                                       UINT64_C(1) << 32,
                                       (UINT64_C(1) << 32) + 100,
                                       UINT64_C(1) << 63,
                                       UINT64_MAX};
    bag plain = records(9, "again and again"), stored = lz4_of(&plain);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        opened o;
        u9i_set_be(stored.bytes + 19, 8, lengths[i]);
        ck_assert_int_eq(open_body(&o, stored.bytes, stored.size, 9), U9_CORRUPT);
        ck_assert_uint_eq(o.need, 0);
        close_body(&o);
    }
    ck_assert_int_eq(with_decoded(1 << 24), U9_CORRUPT); /* at the cap, and not true */
}
END_TEST

static void put_lz4_head(bag *b, size_t block, uint64_t decoded)
{
    add(b, "\x42", 1);
    b->size += 4;
    add(b, "\0\0\0\3\x0au9lz4\0\0\0\x03", 14);
    b->size += 8;
    add(b, "\x1e", 1);
    b->size += 4;
    u9i_set_be(b->bytes + 1, 4, U9I_LZ4_HEAD + block - 9);
    u9i_set_be(b->bytes + 19, 8, decoded);
    u9i_set_be(b->bytes + 28, 4, block);
}

/* [B-4] Forged: a whole block that decodes to nothing. */
START_TEST(nothing_compressed_is_refused)
{
    bag b = {.size = 0};
    put_lz4_head(&b, 1, 0);
    add(&b, "\0", 1);
    ck_assert_int_eq(verdict(&b, 0), U9_CORRUPT);
    ck_assert_int_eq(verdict(&b, 1), U9_CORRUPT);
}
END_TEST

/* {F56} [B-4] Forged: a block that decodes to far more than it says. */
START_TEST(a_bomb_is_refused)
{
    enum { RUN = 1996, BLOCK = RUN + 11, DECODED = 1 + 19 + 255 * RUN + 5 };
    bag b = {.size = 0};
    put_lz4_head(&b, BLOCK, 100);
    add(&b, "\x1f\x00\x01\x00", 4); /* one literal, then a match of 19 bytes and more */
    memset(b.bytes + b.size, 0xff, RUN);
    b.size += RUN;
    add(&b, "\x00\x50\0\0\0\0\0", 7);

    char *room = (char *)malloc(DECODED); /* it is a block, and that large */
    const char *block = (const char *)b.bytes + U9I_LZ4_HEAD;
    ck_assert_int_eq(LZ4_decompress_safe(block, room, BLOCK, DECODED), DECODED);
    free(room);
    ck_assert_uint_eq(b.size, U9I_LZ4_HEAD + BLOCK);
    ck_assert_int_eq(verdict(&b, 1), U9_CORRUPT);
}
END_TEST

/* [B-4] Forged: each byte of the block. Whatever comes out, it stays within the buffers. */
START_TEST(a_damaged_block_is_refused_or_decodes_to_the_length)
{
    bag plain = records(9, "again and again"), stored = lz4_of(&plain);
    for (size_t at = 32; at < stored.size; at++) {
        for (unsigned change = 1; change <= 0xff; change++) {
            bag b = stored;
            b.bytes[at] = (uint8_t)(b.bytes[at] ^ change);
            opened o;
            if (open_body(&o, b.bytes, b.size, 9) == U9_OK)
                ck_assert_uint_eq(o.body.size, plain.size);
            close_body(&o);
        }
    }
}
END_TEST

/* Forged: each byte of a wrapping's head, to each other value. It is then no wrapping: refused, or
 * at most a record whose first element is another key (byte 9). */
static void expect_head_guarded(const bag *stored, size_t head, size_t free_from, size_t free_size)
{
    for (size_t at = 0; at < head; at++) {
        for (unsigned change = 1; change <= 0xff; change++) {
            bag b = *stored;
            if (at >= free_from && at < free_from + free_size) continue;
            b.bytes[at] = (uint8_t)(b.bytes[at] ^ change);
            opened o;
            u9_err err = open_body(&o, b.bytes, b.size, 9);
            if (at == 9 && err == U9_OK) ck_assert(!o.body.lz4 && !o.body.masked);
            else ck_assert_int_lt(err, 0);
            if (at != 9 && (at < 10 || at > 17)) ck_assert_int_eq(err, U9_CORRUPT);
            close_body(&o);
        }
    }
}

/* [B-4] Forged: bytes 0 to 31. */
START_TEST(a_compressed_body_with_another_head_is_refused)
{
    bag plain = records(9, "again and again"), stored = lz4_of(&plain);
    expect_head_guarded(&stored, U9I_LZ4_HEAD, 0, 0);
}
END_TEST

/* [B-5] Forged: bytes 0 to 40, but for the mask. */
START_TEST(a_masked_body_with_another_head_is_refused)
{
    bag plain = records(9, "again and again"), stored = mask_of(&plain);
    expect_head_guarded(&stored, U9I_MASK_HEAD, 20, 16);
}
END_TEST

/* Forged: the end of a wrapped body, and the tuple's length with it. */
static void expect_cuts_refused(const bag *stored)
{
    for (size_t size = 1; size < stored->size; size++) {
        bag b = *stored;
        b.size = size;
        ck_assert_int_lt(verdict(&b, 9), 0);
        if (size < 18) continue;
        u9i_set_be(b.bytes + 1, 4, size - 9);
        ck_assert_int_eq(verdict(&b, 9), U9_CORRUPT);
    }
}

/* [B-4] [B-5] */
START_TEST(a_wrapped_body_cut_at_any_byte_is_refused)
{
    bag plain = records(9, "again and again"), lz4 = lz4_of(&plain), masked = mask_of(&plain);
    expect_cuts_refused(&lz4);
    expect_cuts_refused(&masked);
}
END_TEST

/* [B-4] [B-5] Forged: a byte behind the wrapped body. */
START_TEST(a_wrapped_body_with_company_is_refused)
{
    bag plain = records(9, "again and again"), lz4 = lz4_of(&plain), masked = mask_of(&plain);
    add(&lz4, plain.bytes, 24);
    add(&masked, plain.bytes, 24);
    ck_assert_int_eq(verdict(&lz4, 10), U9_CORRUPT);
    ck_assert_int_eq(verdict(&masked, 10), U9_CORRUPT);
}
END_TEST

/* [B-1] [B-4] */
START_TEST(a_compressed_control_record_is_refused)
{
    bag part = {.size = 0};
    uint8_t zeros[200] = {0};
    u9i_part_record r = {.total = 200, .bytes = {zeros, sizeof zeros}};
    u9i_out out = u9i_out_init(part.bytes, sizeof part.bytes);
    u9i_part_record_encode(&out, &r);
    part.size = out.size;
    bag stored = lz4_of(&part);
    ck_assert_int_eq(verdict(&stored, 0), U9_CORRUPT);
    ck_assert_int_eq(verdict(&stored, 1), U9_CORRUPT);

    bag unknown = {.size = 0}; /* not compressible, so as one run of literals */
    put_lz4_head(&unknown, 1 + sizeof later, sizeof later);
    add(&unknown, "\xc0", 1);
    add(&unknown, later, sizeof later);
    ck_assert_int_eq(verdict(&unknown, 0), U9_CORRUPT);
    ck_assert_int_lt(verdict(&unknown, 1), 0);
}
END_TEST

/* [B-4] Forged: the trailer's count. */
START_TEST(compressed_records_in_a_frame_of_count_zero_are_refused)
{
    bag plain = records(9, "again and again"), stored = lz4_of(&plain);
    ck_assert_int_eq(verdict(&stored, 0), U9_CORRUPT);
}
END_TEST

/* [B-5] */
START_TEST(a_masked_body_has_the_bytes_of_the_rule)
{
    bag plain = records(2, "text"), stored = mask_of(&plain);
    ck_assert_uint_eq(stored.size, plain.size + 41);
    ck_assert_uint_eq(stored.bytes[0], 0x42);
    ck_assert_uint_eq(u9i_get_be(stored.bytes + 1, 4), stored.size - 9);
    ck_assert_mem_eq(stored.bytes + 5, "\0\0\0\3\x0au9mask\0\0\x1c\x10", 15);
    ck_assert_mem_eq(stored.bytes + 20, mask, 16);
    ck_assert_uint_eq(stored.bytes[36], 0x1e);
    ck_assert_uint_eq(u9i_get_be(stored.bytes + 37, 4), plain.size);
    for (size_t i = 0; i < plain.size; i++)
        ck_assert_uint_eq(stored.bytes[41 + i], plain.bytes[i] ^ mask[i % 16]);
    ck_assert_int_eq(u9_value_check(stored.bytes, stored.size, NULL, NULL), U9_OK);
}
END_TEST

/* [B-1] [B-5] */
START_TEST(a_masked_body_is_opened_to_what_was_wrapped)
{
    bag nothing = {.size = 0}, some = records(5, "text");
    bag trim = trim_record(), part = part_record();
    bag stored = mask_of(&nothing);
    expect_body(&stored, 0, U9I_BODY_EMPTY, &nothing);
    ck_assert_int_eq(verdict(&stored, 1), U9_CORRUPT);
    stored = mask_of(&some);
    expect_body(&stored, 5, U9I_BODY_RECORDS, &some);
    ck_assert_int_eq(verdict(&stored, 0), U9_CORRUPT);
    stored = mask_of(&trim);
    expect_body(&stored, 0, U9I_BODY_TRIM, &trim);
    stored = mask_of(&part);
    expect_body(&stored, 1, U9I_BODY_PART, &part);
}
END_TEST

/* [B-5] */
START_TEST(how_a_body_was_stored_is_told)
{
    bag plain = records(9, "again and again"), lz4 = lz4_of(&plain), masked = mask_of(&plain);
    opened o;
    ck_assert_int_eq(open_body(&o, lz4.bytes, lz4.size, 9), U9_OK);
    ck_assert(o.body.lz4 && !o.body.masked && o.need == plain.size);
    close_body(&o);
    ck_assert_int_eq(open_body(&o, masked.bytes, masked.size, 9), U9_OK);
    ck_assert(o.body.masked && !o.body.lz4 && o.need == plain.size);
    close_body(&o);
}
END_TEST

/* [B-5] The mask is drawn again until F-7 holds. */
START_TEST(a_mask_drawn_again_is_as_if_it_had_been_the_first)
{
    bag plain = records(7, "text"), want = mask_of(&plain), b = plain;
    uint8_t first[U9I_HASH_SIZE];
    memset(first, 0xf3, sizeof first);
    b.size = u9i_mask_wrap(b.bytes, b.size, first);
    u9i_mask_again(b.bytes, b.size, mask);
    ck_assert_uint_eq(b.size, want.size);
    ck_assert_mem_eq(b.bytes, want.bytes, want.size);
}
END_TEST

/* [B-5] Forged: what is masked. */
START_TEST(a_mask_around_a_wrapped_body_is_refused)
{
    bag plain = records(9, "again and again"), lz4 = lz4_of(&plain), masked = mask_of(&plain);
    bag of_lz4 = mask_of(&lz4), of_mask = mask_of(&masked);
    for (uint32_t count = 0; count <= 9; count += 9) {
        ck_assert_int_eq(verdict(&of_lz4, count), U9_CORRUPT);
        ck_assert_int_eq(verdict(&of_mask, count), U9_CORRUPT);
    }
}
END_TEST

/* [B-4] [B-5] [C-1] Forged: the form of the tuple. The names belong to one form each. */
START_TEST(a_wrapping_in_another_form_is_refused)
{
    static const char *const names[] = {"u9lz4", "u9mask"};
    for (size_t i = 0; i < 2; i++) {
        u9i_body_kind kind;
        ck_assert_int_eq(named(names[i], 0, &kind), U9_CORRUPT);
        ck_assert_int_eq(named(names[i], 1, &kind), U9_CORRUPT);
    }
    bag b = {.size = 0}; /* (u9lz4 1 ..) with an element more, masked */
    add(&b, "\x42\0\0\0\x0d\0\0\0\4\x0au9lz4\0\0\0\x81\x82\x83", 21);
    b.bytes[4] = (uint8_t)(b.size - 9);
    ck_assert_int_eq(verdict(&b, 0), U9_CORRUPT);
    b = mask_of(&b);
    ck_assert_int_eq(verdict(&b, 0), U9_CORRUPT);
}
END_TEST

/* [B-5] [F-5] Forged: a masked body of one byte too many. */
START_TEST(a_masked_body_beyond_the_cap_is_refused)
{
    size_t cap = (size_t)U9I_BODY_MAX, need = 0;
    uint8_t *body = (uint8_t *)calloc(1, cap + 1 + U9I_MASK_HEAD);
    u9i_frame frame = {.body = body, .trailer = {.count = 1}};
    u9i_body out;
    frame.body_size = u9i_mask_wrap(body, cap + 1, mask);
    ck_assert_int_eq(u9i_body_open(&frame, NULL, 0, &need, &out), U9_CORRUPT);
    ck_assert_uint_eq(need, 0);
    memset(body, 0, cap + 1 + U9I_MASK_HEAD);
    frame.body_size = u9i_mask_wrap(body, cap, mask);
    ck_assert_int_eq(u9i_body_open(&frame, NULL, 0, &need, &out), U9_AGAIN);
    ck_assert_uint_eq(need, cap);
    free(body);
}
END_TEST

/* [B-2] */
START_TEST(records_are_walked_to_the_end)
{
    uint32_t count;
    for (unsigned n = 0; n <= 10; n++) {
        bag b = records(n, "text");
        ck_assert_int_eq(count_records(b.bytes, b.size, &count), U9_END);
        ck_assert_uint_eq(count, n);
    }
}
END_TEST

/* [B-2] */
START_TEST(a_record_is_told_with_its_key_and_its_values)
{
    bag b = records(2, "text");
    const uint8_t *next = b.bytes;
    size_t left = b.size;
    u9i_record r;
    ck_assert_int_eq(u9i_record_next(&next, &left, &r), U9_OK);
    ck_assert_ptr_eq(r.bytes, b.bytes);
    ck_assert_uint_eq(r.size, b.size / 2);
    ck_assert_ptr_eq(r.key_value, b.bytes + 2);
    ck_assert_ptr_eq(r.key, b.bytes + 4);
    ck_assert_uint_eq(r.key_size, 16);
    ck_assert_uint_eq(r.values_size, 6);
    ck_assert_mem_eq(r.values, "\x18\x04text", 6);
    ck_assert_ptr_eq(next, b.bytes + b.size / 2);
    ck_assert_uint_eq(left, b.size / 2);
}
END_TEST

/* The index `i` over two elements, at 0 and 1: 25 bytes. */
#define INDEX_I "\x54\x17\x0ai\0\0\0\0\0\0\0\x44\x03\x02\0\0\1\x44\x05\x02\5\0\0\0\1"

/* What is said of the bytes as a record. */
static u9_err as_record(const void *bytes, size_t size, u9i_record *r)
{
    const uint8_t *next = (const uint8_t *)bytes;
    size_t left = size;
    return u9i_record_next(&next, &left, r);
}

/* [B-2] */
START_TEST(a_tuple_with_an_index_in_front_is_no_record)
{
    u9i_record r;
    ck_assert_int_eq(as_record("\x4a\x05\x23key\x81", 7, &r), U9_OK);
    ck_assert_int_eq(as_record(INDEX_I "\x4a\x05\x23key\x81", 32, &r), U9_CORRUPT);
}
END_TEST

/* [B-2] An element counts by its length: an index belongs to its container, an array may be none. */
START_TEST(elements_of_a_record_are_counted_by_their_lengths)
{
    u9i_record r;
    ck_assert_int_eq(as_record("\x4a\x21\x23key" INDEX_I "\x4a\x02\x81\x82", 35, &r), U9_OK);
    ck_assert_uint_eq(r.values_size, 29);
    ck_assert_int_eq(as_record("\x4a\x1e\x23key" INDEX_I "\x81", 32, &r), U9_CORRUPT);
    ck_assert_int_eq(as_record("\x4a\x1d\x23key" INDEX_I, 31, &r), U9_CORRUPT);
    ck_assert_int_eq(as_record("\x4a\x08\x23key\x44\x01\x09\x10", 10, &r), U9_OK); /* no typecode */
    ck_assert_uint_eq(r.values_size, 4);
}
END_TEST

/* One record (key, 1): what is said of it, and its key in raw form. */
static u9_err with_key(const void *key, size_t size, bag *raw)
{
    bag b = {.size = 0};
    uint8_t head[17];
    add(&b, head, u9i_record_head(2, size + 1, head));
    add(&b, key, size);
    add(&b, "\x81", 1);
    uint8_t *body = exact_copy(b.bytes, b.size);
    const uint8_t *next = body;
    size_t left = b.size;
    u9i_record r = {.size = 12345};
    u9_err err = u9i_record_next(&next, &left, &r);
    raw->size = 0;
    if (err == U9_OK) add(raw, r.key, r.key_size);
    else ck_assert(r.size == 12345 && next == body && left == b.size);
    free(body);
    return err;
}

/* [B-2] with the key forms of L-6 */
START_TEST(keys_are_bytes_utf8_or_uint64)
{
    bag raw;
    ck_assert_int_eq(with_key("\x1c\x10ghijklmnopqrstuv", 18, &raw), U9_OK);
    ck_assert(raw.size == 16 && memcmp(raw.bytes, "ghijklmnopqrstuv", 16) == 0);
    ck_assert_int_eq(with_key("\x03\1\2\3\4\5\6\7\x08", 9, &raw), U9_OK);
    ck_assert(raw.size == 8 && memcmp(raw.bytes, "\1\2\3\4\5\6\7\x08", 8) == 0);
    ck_assert_int_eq(with_key("\x23key", 4, &raw), U9_OK);
    ck_assert(raw.size == 3 && memcmp(raw.bytes, "key", 3) == 0);

    uint8_t longest[3 + 512] = {0x19, 0x02, 0x00};
    ck_assert_int_eq(with_key(longest, sizeof longest, &raw), U9_OK);
    ck_assert_uint_eq(raw.size, 512);
}
END_TEST

/* [B-2] Forged: the key. */
START_TEST(a_record_whose_key_is_of_no_kind_is_refused)
{
    static const struct {
        const char *key;
        size_t size;
    } bad[] = {
        {"\x85", 1},                 /* fixint */
        {"\x00\x01", 2},             /* uint8 */
        {"\x02\0\0\0\1", 5},         /* uint32 */
        {"\x07\0\0\0\0\0\0\0\1", 9}, /* int64 */
        {"\x08\0\0\0\0", 5},         /* float32 */
        {"\x0b\0\0\0\1\0\0\0\1", 9}, /* pidfd */
        {"\x10", 1},                 /* alpha */
        {"\x15\0\0", 3},             /* tau */
        {"\x20", 1},                 /* no text */
        {"\x30", 1},                 /* no bytes */
        {"\x49\x01\x81", 3},         /* tuple */
        {"\x44\x02\x01\x00\x07", 5}, /* array */
        {"\x0aname\0\0\0\0", 9},     /* symbol */
        {"\x58", 1},                 /* reserved */
        {"\x51\0\0", 3},             /* index */
        {"\x1c\x7f", 2},             /* passes its tuple */
    };
    bag raw;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_int_eq(with_key(bad[i].key, bad[i].size, &raw), U9_CORRUPT);
    uint8_t too_long[3 + 513] = {0x19, 0x02, 0x01};
    ck_assert_int_eq(with_key(too_long, sizeof too_long, &raw), U9_CORRUPT);
}
END_TEST

/* [B-2] [B-3] Forged: the first element. */
START_TEST(a_record_named_u9_something_is_of_another_version)
{
    bag raw;
    ck_assert_int_eq(with_key("\x0au9later\0", 9, &raw), U9_VERSION);
    ck_assert_int_eq(with_key("\x0au9\0\0\0\0\0\0", 9, &raw), U9_VERSION);
    ck_assert_int_eq(with_key("\x0au8later\0", 9, &raw), U9_CORRUPT);
}
END_TEST

/* [B-2] Forged: the end of the body, and the second record's first byte. */
START_TEST(a_body_that_breaks_off_or_holds_something_else_is_refused_there)
{
    bag b = records(2, "text");
    uint32_t count;
    for (size_t size = b.size / 2 + 1; size < b.size; size++) {
        ck_assert_int_eq(count_records(b.bytes, size, &count), U9_CORRUPT);
        ck_assert_uint_eq(count, 1);
    }
    static const uint8_t first[] = {0x81, 0x0a, 0x22, 0x30, 0x44, 0x50, 0x51, 0x48};
    for (size_t i = 0; i < sizeof first; i++) {
        b.bytes[b.size / 2] = first[i];
        ck_assert_int_eq(count_records(b.bytes, b.size, &count), U9_CORRUPT);
        ck_assert_uint_eq(count, 1);
    }
}
END_TEST

/* [B-2] Forged: the tuple's count. */
START_TEST(a_record_whose_elements_do_not_fill_it_is_refused)
{
    uint8_t body[3 + 18 + 5] = {0x40, 23, 2, 0x1c, 0x10}; /* (muid "text") */
    memcpy(body + 21, "\x24text", 5);
    for (unsigned n = 0; n <= 0xff; n++) {
        uint32_t count;
        body[2] = (uint8_t)n;
        ck_assert_int_eq(count_records(body, sizeof body, &count), n == 2 ? U9_END : U9_CORRUPT);
    }
}
END_TEST

/* [B-2] Forged: the last element. */
START_TEST(a_record_whose_last_element_passes_it_is_refused)
{
    bag b = records(2, "text");
    uint32_t count;
    b.bytes[b.size / 2 - 5] = 5; /* the text's length */
    ck_assert_int_eq(count_records(b.bytes, b.size, &count), U9_CORRUPT);
    ck_assert_uint_eq(count, 0);
    b.bytes[b.size / 2 - 5] = 3;
    ck_assert_int_eq(count_records(b.bytes, b.size, &count), U9_CORRUPT);
    ck_assert_uint_eq(count, 0);
}
END_TEST

/* [B-2] */
START_TEST(what_is_nested_in_an_element_is_not_looked_into)
{
    uint8_t body[] = {0x4a, 0x07, 0x21, 'k', 0x49, 0x03, 0x58, 0xff, 0xff};
    uint32_t count;
    ck_assert_int_eq(count_records(body, sizeof body, &count), U9_END);
    ck_assert_uint_eq(count, 1);
}
END_TEST

/* [B-2] */
START_TEST(the_head_of_a_record_is_the_shortest)
{
    static const struct {
        uint64_t count, size;
        size_t head;
        uint8_t bytes[17];
    } list[] = {
        {1, 0, 2, {0x49, 0x00}},
        {7, 255, 2, {0x4f, 0xff}},
        {8, 255, 3, {0x40, 0xff, 0x08}},
        {255, 255, 3, {0x40, 0xff, 0xff}},
        {1, 256, 5, {0x41, 0x01, 0x00, 0x00, 0x01}},
        {256, 256, 5, {0x41, 0x01, 0x00, 0x01, 0x00}},
        {2, 65535, 5, {0x41, 0xff, 0xff, 0x00, 0x02}},
        {2, 65536, 9, {0x42, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02}},
        {2, UINT32_MAX, 9, {0x42, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x02}},
        {2, UINT64_C(1) << 32, 17, {0x43, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        uint8_t head[17];
        ck_assert_uint_eq(u9i_record_head(list[i].count, list[i].size, head), list[i].head);
        ck_assert_mem_eq(head, list[i].bytes, list[i].head);
    }
}
END_TEST

/* [B-2] */
START_TEST(a_head_and_a_builder_agree)
{
    for (size_t size = 0; size < 300; size++) {
        uint8_t built[600], head[17];
        static const uint8_t zeros[300];
        u9_builder b;
        u9_builder_init(&b, built, sizeof built);
        ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
        ck_assert_int_eq(u9_build_bytes(&b, zeros, size), U9_OK);
        ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
        u9_value v;
        ck_assert_int_eq(u9_value_decode(built, b.size, &v), U9_OK);
        size_t n = u9i_record_head(1, v.size, head);
        ck_assert_uint_eq(n + v.size, b.size);
        ck_assert_mem_eq(built, head, n);
    }
}
END_TEST

static TCase *kind_case(void)
{
    TCase *t = tcase_create("kinds");
    tcase_add_test(t, an_empty_body_is_empty);
    tcase_add_test(t, a_body_of_records_is_handed_out_where_it_lies);
    tcase_add_test(t, records_in_a_frame_of_count_zero_are_refused);
    tcase_add_test(t, a_body_that_is_no_tuple_is_refused);
    tcase_add_test(t, a_body_cut_within_its_first_record_is_refused);
    tcase_add_test(t, a_tuple_of_nothing_is_no_record);
    tcase_add_test(t, a_tuple_with_an_index_in_front_is_no_record);
    tcase_add_test(t, elements_of_a_record_are_counted_by_their_lengths);
    tcase_add_test(t, a_symbol_that_does_not_begin_with_u9_is_neither_record_nor_control);
    tcase_add_test(t, control_records_stand_alone_in_frames_of_count_zero);
    tcase_add_test(t, control_records_in_a_frame_of_records_are_refused);
    tcase_add_test(t, only_a_last_part_counts_and_it_counts_one);
    tcase_add_test(t, an_unknown_control_record_is_skipped_only_in_a_frame_of_count_zero);
    tcase_add_test(t, a_control_record_with_company_is_refused);
    tcase_add_test(t, a_control_record_among_records_is_told_when_it_is_reached);
    tcase_add_test(t, a_plain_body_beyond_the_cap_is_refused);
    return t;
}

static TCase *lz4_case(void)
{
    TCase *t = tcase_create("lz4");
    tcase_add_test(t, a_compressed_body_is_opened_to_what_was_wrapped);
    tcase_add_test(t, a_compressed_body_has_the_bytes_of_the_rule);
    tcase_add_test(t, a_body_that_does_not_get_smaller_is_not_wrapped);
    tcase_add_test(t, a_body_at_the_cap_is_compressed_and_opened);
    tcase_add_test(t, a_decoded_length_that_is_not_the_blocks_is_refused);
    tcase_add_test(t, a_decoded_length_beyond_the_cap_is_refused);
    tcase_add_test(t, nothing_compressed_is_refused);
    tcase_add_test(t, a_bomb_is_refused);
    tcase_add_test(t, a_damaged_block_is_refused_or_decodes_to_the_length);
    tcase_add_test(t, a_compressed_body_with_another_head_is_refused);
    tcase_add_test(t, a_wrapped_body_cut_at_any_byte_is_refused);
    tcase_add_test(t, a_wrapped_body_with_company_is_refused);
    tcase_add_test(t, a_compressed_control_record_is_refused);
    tcase_add_test(t, compressed_records_in_a_frame_of_count_zero_are_refused);
    return t;
}

static TCase *mask_case(void)
{
    TCase *t = tcase_create("mask");
    tcase_add_test(t, a_masked_body_has_the_bytes_of_the_rule);
    tcase_add_test(t, a_masked_body_is_opened_to_what_was_wrapped);
    tcase_add_test(t, a_masked_body_with_another_head_is_refused);
    tcase_add_test(t, how_a_body_was_stored_is_told);
    tcase_add_test(t, a_mask_drawn_again_is_as_if_it_had_been_the_first);
    tcase_add_test(t, a_mask_around_a_wrapped_body_is_refused);
    tcase_add_test(t, a_wrapping_in_another_form_is_refused);
    tcase_add_test(t, a_masked_body_beyond_the_cap_is_refused);
    return t;
}

Suite *suite_body(void)
{
    Suite *s = suite_create("body");
    TCase *t = tcase_create("records");
    tcase_add_test(t, records_are_walked_to_the_end);
    tcase_add_test(t, a_record_is_told_with_its_key_and_its_values);
    tcase_add_test(t, keys_are_bytes_utf8_or_uint64);
    tcase_add_test(t, a_record_whose_key_is_of_no_kind_is_refused);
    tcase_add_test(t, a_record_named_u9_something_is_of_another_version);
    tcase_add_test(t, a_body_that_breaks_off_or_holds_something_else_is_refused_there);
    tcase_add_test(t, a_record_whose_elements_do_not_fill_it_is_refused);
    tcase_add_test(t, a_record_whose_last_element_passes_it_is_refused);
    tcase_add_test(t, what_is_nested_in_an_element_is_not_looked_into);
    tcase_add_test(t, the_head_of_a_record_is_the_shortest);
    tcase_add_test(t, a_head_and_a_builder_agree);
    suite_add_tcase(s, kind_case());
    suite_add_tcase(s, lz4_case());
    suite_add_tcase(s, mask_case());
    suite_add_tcase(s, t);
    return s;
}
