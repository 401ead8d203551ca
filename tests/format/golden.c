/*
 * tests/format/golden.c: see golden.h. Nothing here may depend on the time, on chance, or on which
 * version of LZ4 is installed: the compressed block is written down.
 */
#include "tests/format/golden.h"

#include "format/frame/disk.h"
#include "tests/format/frame/forge.h"

#include <check.h>
#include <u9/id.h>
#include <u9/value.h>

enum { RECORD_ROOM = 512, FIRST_PART = 40 };

#define TIME_US UINT64_C(1700000000000000) /* 2023-11-14 22:13:20 UTC */
#define MEDALLION UINT64_C(0x123456789ab)
#define HASH_SEED UINT64_C(0x0123456789abcdef)

static const uint8_t mask[U9I_HASH_SIZE] = {0xf0, 0xe1, 0xd2, 0xc3, 0xb4, 0xa5, 0x96, 0x87,
                                            0x78, 0x69, 0x5a, 0x4b, 0x3c, 0x2d, 0x1e, 0x0f};

/* golden_lz4_records() as LZ4 1.9.4 compresses it. */
static const uint8_t lz4_block[] = {
    0xff, 0x14, 0x4a, 0x39, 0x1c, 0x10, 0x60, 0xa2, 0x41, 0x81, 0xe4, 0x7d, 0x01, 0x23, 0x45,
    0x67, 0x89, 0xab, 0x00, 0x00, 0x00, 0x01, 0x18, 0x25, 0x61, 0x70, 0x70, 0x65, 0x6e, 0x64,
    0x20, 0x6f, 0x6e, 0x6c, 0x79, 0x2c, 0x20, 0x0d, 0x00, 0x05, 0x0f, 0x3b, 0x00, 0x00, 0x1f,
    0x02, 0x3b, 0x00, 0x27, 0x1f, 0x03, 0x3b, 0x00, 0x0f, 0x50, 0x20, 0x6f, 0x6e, 0x6c, 0x79};

static uint64_t time_of(golden_frame which)
{
    return TIME_US + 1000 * (uint64_t)which;
}

/* The key of a frame's record `offset`, counted from 1. */
static void make_key(golden_frame which, int offset, uint8_t key[16])
{
    u9_muid muid = {.timestamp = time_of(which), .medallion = MEDALLION, .offset = offset};
    ck_assert_int_eq(u9_muid_pack(&muid, key), U9_OK);
}

static void begin_record(u9_builder *b, golden_frame which, int offset)
{
    uint8_t key[16];
    make_key(which, offset, key);
    ck_assert_int_eq(u9_build_tuple_open(b), U9_OK);
    ck_assert_int_eq(u9_build_bytes(b, key, sizeof key), U9_OK);
}

static size_t end_record(u9_builder *b)
{
    ck_assert_int_eq(u9_build_tuple_close(b), U9_OK);
    return b->size;
}

static size_t plain_records(uint8_t *out, size_t cap)
{
    u9_builder b;
    u9_builder_init(&b, out, cap);
    begin_record(&b, GOLDEN_PLAIN, 1);
    ck_assert_int_eq(u9_build_utf8(&b, "first", 5), U9_OK);
    end_record(&b);
    begin_record(&b, GOLDEN_PLAIN, 2);
    ck_assert_int_eq(u9_build_uint(&b, 42), U9_OK);
    ck_assert_int_eq(u9_build_int(&b, -1000), U9_OK);
    ck_assert_int_eq(u9_build_float64(&b, 0.5), U9_OK);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    ck_assert_int_eq(u9_build_symbol(&b, "nested"), U9_OK);
    ck_assert_int_eq(u9_build_bytes(&b, "\x00\xff", 2), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    return end_record(&b);
}

size_t golden_lz4_records(uint8_t *out, size_t cap)
{
    static const char text[] = "append only, append only, append only";
    u9_builder b;
    u9_builder_init(&b, out, cap);
    for (int i = 1; i <= 3; i++) {
        begin_record(&b, GOLDEN_LZ4, i);
        ck_assert_int_eq(u9_build_utf8(&b, text, sizeof text - 1), U9_OK);
        end_record(&b);
    }
    return b.size;
}

/* Holds the file's own boundary at a multiple of 16 within the frame. [F-7] */
size_t golden_mask_record(const golden *g, uint8_t *out, size_t cap)
{
    uint8_t value[26] = "own secret";
    u9_builder b;
    memcpy(value + 10, g->keys.boundary, 16);
    u9_builder_init(&b, out, cap);
    begin_record(&b, GOLDEN_MASK, 1);
    ck_assert_int_eq(u9_build_bytes(&b, value, sizeof value), U9_OK);
    return end_record(&b);
}

size_t golden_large_record(uint8_t *out, size_t cap)
{
    static const char text[] = "as if this record did not fit into one body";
    u9_builder b;
    u9_builder_init(&b, out, cap);
    begin_record(&b, GOLDEN_PART_1, 1);
    ck_assert_int_eq(u9_build_utf8(&b, text, sizeof text - 1), U9_OK);
    return end_record(&b);
}

/* Where the body of the next frame goes. */
static u9i_out next_body(golden *g)
{
    size_t at = g->size + U9I_FRAME_HEADER_SIZE;
    return u9i_out_init(g->bytes + at, sizeof g->bytes - at);
}

static u9_err try_seal(golden *g, golden_frame which, uint32_t count, size_t body_size)
{
    u9i_trailer t = {.ordinal = g->ordinal,
                     .count = count,
                     .offset = g->size,
                     .previous = which == GOLDEN_OPEN ? 0 : g->at[which - 1],
                     .durable = g->durable,
                     .time_us = time_of(which)};
    memcpy(t.chain, g->sha, sizeof t.chain);
    return u9i_frame_seal(&g->keys, &t, g->bytes + g->size, body_size, g->sha);
}

static void seal(golden *g, golden_frame which, uint32_t count, size_t body_size)
{
    ck_assert_uint_le(g->size + u9i_frame_size(body_size), sizeof g->bytes);
    ck_assert_int_eq(try_seal(g, which, count, body_size), U9_OK);
    g->at[which] = g->size;
    g->body_size[which] = body_size;
    g->size += u9i_frame_size(body_size);
    g->ordinal += count;
}

/* Seals a control record that an encoder has put where the next body goes. */
static void seal_control(golden *g, golden_frame which, uint32_t count, const u9i_out *out)
{
    ck_assert(!out->failed);
    seal(g, which, count, out->size);
}

/* For totals and index: a frame's records, the first of which begins its decoded body. */
static void note_records(golden *g, golden_frame which, uint32_t count, size_t decoded)
{
    static const golden_frame entries[4] = {GOLDEN_PLAIN, GOLDEN_LZ4, GOLDEN_MASK, GOLDEN_PART_1};
    for (unsigned i = 0; i < 4; i++) {
        if (entries[i] != which) continue;
        make_key(which, 1, g->key[i]);
        u9i_set_be(g->place[i], 8, (uint64_t)g->at[which] / 16 << 24); /* [B-6] */
    }
    g->records += count;
    g->record_bytes += decoded;
    g->last_key[0] = 0x1c;
    g->last_key[1] = 0x10;
    make_key(which, (int)count, g->last_key + 2);
    if (g->records == count) {
        memcpy(g->first_key, g->last_key, sizeof g->first_key);
        make_key(which, 1, g->first_key + 2);
    }
}

static void make_open(golden *g)
{
    u9i_open_record r = {.segment = 1,
                  .time_us = time_of(GOLDEN_OPEN),
                  .medallion = MEDALLION,
                  .tail = U9I_TAIL_NONE,
                  .kind = {(const uint8_t *)"muid", 4}};
    for (unsigned i = 0; i < 16; i++) {
        r.log[i] = (uint8_t)(0x70 + i);
        r.session[i] = (uint8_t)(0x90 + i);
    }
    memcpy(r.end.chain, g->sha, sizeof r.end.chain);
    u9i_out out = next_body(g);
    u9i_open_record_encode(&out, &r);
    seal_control(g, GOLDEN_OPEN, 0, &out);
}

static void make_records(golden *g)
{
    u9i_out out = next_body(g);
    size_t size = plain_records(out.bytes, out.cap);
    seal(g, GOLDEN_PLAIN, 2, size);
    note_records(g, GOLDEN_PLAIN, 2, size);

    uint8_t plain[RECORD_ROOM];
    size = golden_lz4_records(plain, sizeof plain);
    out = next_body(g);
    u9i_out_uint(&out, 1, 0x42); /* [B-4] */
    u9i_out_uint(&out, 4, U9I_LZ4_HEAD - 9 + sizeof lz4_block);
    u9i_out_uint(&out, 4, 3);
    u9i_out_copy(&out, "\x0au9lz4\0\0\0\x03", 10);
    u9i_out_uint(&out, 8, size);
    u9i_out_uint(&out, 1, 0x1e);
    u9i_out_uint(&out, 4, sizeof lz4_block);
    u9i_out_copy(&out, lz4_block, sizeof lz4_block);
    seal_control(g, GOLDEN_LZ4, 3, &out);
    note_records(g, GOLDEN_LZ4, 3, size);

    out = next_body(g);
    size = golden_mask_record(g, out.bytes, out.cap);
    uint8_t before[U9I_HASH_SIZE];
    memcpy(before, g->sha, sizeof before);
    ck_assert_int_eq(try_seal(g, GOLDEN_MASK, 1, size), U9_AGAIN); /* [F-7] */
    ck_assert_mem_eq(g->sha, before, sizeof before);
    seal(g, GOLDEN_MASK, 1, u9i_mask_wrap(out.bytes, size, mask));
    note_records(g, GOLDEN_MASK, 1, size);
}

static void make_parts(golden *g)
{
    uint8_t record[RECORD_ROOM];
    size_t size = golden_large_record(record, sizeof record);
    u9i_part_record part = {.number = 0, .total = size, .bytes = {record, FIRST_PART}};
    u9i_out out = next_body(g);
    u9i_part_record_encode(&out, &part);
    seal_control(g, GOLDEN_PART_0, 0, &out);

    part = (u9i_part_record){.number = 1,
                      .total = size,
                      .before = g->at[GOLDEN_PART_0],
                      .bytes = {record + FIRST_PART, size - FIRST_PART}};
    out = next_body(g);
    u9i_part_record_encode(&out, &part);
    seal_control(g, GOLDEN_PART_1, 1, &out);
    note_records(g, GOLDEN_PART_1, 1, out.size);
}

static void make_page(golden *g, golden_frame which, const u9i_page_record *page)
{
    u9i_out out = next_body(g);
    u9i_page_record_encode(&out, page);
    seal_control(g, which, 0, &out);
}

static void make_index(golden *g)
{
    uint8_t leaf[8];
    u9i_page_record page = {
        .keyspec = "k", .key_size = 16, .count = 4, .keys = g->key[0], .at = g->place[0]};
    make_page(g, GOLDEN_PAGE, &page);
    u9i_set_be(leaf, 8, (uint64_t)g->at[GOLDEN_PAGE] / 16 << 24);
    page.count = 1;
    page.at = leaf;
    make_page(g, GOLDEN_ROOT, &page);

    static const uint8_t hash[8] = {0x8d, 0x53, 0x0b, 0xe2, 0x77, 0x41, 0xc6, 0x9a};
    page = (u9i_page_record){.keyspec = "u9kh",
                      .key_size = 8,
                      .count = 1,
                      .keys = hash,
                      .at = leaf,
                      .has_seed = true,
                      .seed = HASH_SEED};
    make_page(g, GOLDEN_HASH_ROOT, &page);
}

static void make_end(golden *g)
{
    u9i_end_record r = {.kind = U9I_END_CLOSING,
                   .segment = 1,
                   .frames = GOLDEN_END,
                   .records = g->records,
                   .bytes = g->record_bytes,
                   .data_end = g->at[GOLDEN_PAGE],
                   .root = (uint64_t)g->at[GOLDEN_ROOT] / 16 << 24,
                   .key_kind = {(const uint8_t *)"muid", 4},
                   .first_key = {g->first_key, sizeof g->first_key},
                   .last_key = {g->last_key, sizeof g->last_key}};
    memcpy(r.secret, g->keys.bytes, sizeof r.secret);
    g->durable = g->size;
    g->size = (g->size + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    size_t end = g->size + U9I_BLOCK;
    ck_assert_uint_le(end, sizeof g->bytes);
    u9i_out out = next_body(g);
    u9i_end_record_encode(&out, &r);
    seal_control(g, GOLDEN_END, 0, &out);
    g->size = end;
}

void golden_make(golden *g)
{
    *g = (golden){.keys = fixed_keys(), .size = U9I_DISK_HEADER_SIZE};
    u9i_disk_encode(&g->keys, g->bytes);
    u9i_hash(g->bytes, U9I_DISK_HEADER_SIZE, g->sha); /* [F-4] the chain of a log's first frame */
    make_open(g);
    make_records(g);
    g->durable = g->size; /* the empty frame carries a promise */
    seal(g, GOLDEN_EMPTY, 0, 0);

    u9i_trim_record trim = {.segment = 1, .ordinal = 0};
    u9i_out out = next_body(g);
    u9i_trim_record_encode(&out, &trim);
    seal_control(g, GOLDEN_TRIM, 0, &out);
    make_parts(g);

    out = next_body(g);
    u9i_out_copy(&out, "\x4b\x0f\x0au9later\0\x87\x24news", 17);
    seal_control(g, GOLDEN_LATER, 0, &out);
    make_index(g);
    make_end(g);
}

const uint8_t *golden_body(const golden *g, golden_frame which)
{
    return g->bytes + g->at[which] + U9I_FRAME_HEADER_SIZE;
}

void golden_empty_frame(uint8_t out[GOLDEN_EMPTY_SIZE])
{
    u9i_secret keys = fixed_keys();
    u9i_trailer t = {.offset = U9I_DISK_HEADER_SIZE, .time_us = TIME_US};
    uint8_t header[U9I_DISK_HEADER_SIZE], sha[U9I_HASH_SIZE];
    u9i_disk_encode(&keys, header);
    u9i_hash(header, sizeof header, t.chain);
    ck_assert_int_eq(u9i_frame_seal(&keys, &t, out, 0, sha), U9_OK);
}

void golden_mark_slot(uint8_t out[U9I_BLOCK], u9i_mark_record *mark)
{
    u9i_secret keys = fixed_keys(), own;
    uint8_t bytes[U9I_SECRET_SIZE];
    for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(0x10 + i);
    ck_assert(u9i_secret_init(&own, bytes));
    *mark = (u9i_mark_record){.segment = 1, .end = {.offset = 0x310, .ordinal = 3}, .time_us = TIME_US};
    memset(mark->log, 0xa0, sizeof mark->log);
    memcpy(mark->boundary, keys.boundary, sizeof mark->boundary);
    memcpy(mark->secret, keys.bytes, sizeof mark->secret);
    memset(mark->end.chain, 0xc0, sizeof mark->end.chain);
    ck_assert_int_eq(u9i_slot_encode(mark, &own, out), U9_OK);
}
