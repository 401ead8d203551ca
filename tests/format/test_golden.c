/*
 * tests/format/test_golden.c: the golden segment file: its bytes never change, its frames follow
 * one another, and each is made again, byte by byte, from what was decoded.
 *
 * U9_TESTS is the folder tests/ (default: tests). With U9_GOLDEN_WRITE=1 the file is written
 * instead of compared, and with it the seeds of fuzz/fuzz_frame.c, into the folder U9_FUZZ
 * (default: fuzz).
 */
#include "tests/format/golden.h"

#include "format/frame/disk.h"
#include "tests/format/frame/forge.h"
#include "tests/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <u9/value.h>

enum { RECORD_ROOM = 1024 };

static golden g;
static u9i_frame frames[GOLDEN_FRAMES]; /* verified */

static void from_environment(char path[512], const char *variable, const char *otherwise,
                             const char *rest)
{
    const char *folder = getenv(variable);
    int n = snprintf(path, 512, "%s/%s", folder && *folder ? folder : otherwise, rest);
    ck_assert(n > 0 && n < 512);
}

static bool writing(void)
{
    const char *flag = getenv("U9_GOLDEN_WRITE");
    return flag && strcmp(flag, "1") == 0;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_msg(file != NULL, "cannot write %s", path);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

/* The first GOLDEN_ROOM bytes of a file. */
static size_t read_file(const char *path, uint8_t *bytes)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    size_t size = fread(bytes, 1, GOLDEN_ROOM, file);
    ck_assert_int_eq(fclose(file), 0);
    return size;
}

static u9_err verify_at(size_t p, u9i_frame *out)
{
    u9i_proof proof = {.need = 0};
    return u9i_frame_verify(&g.keys, p, g.size, g.bytes + p, g.size - p, &proof, out);
}

static void make_file(void)
{
    golden_make(&g);
    for (unsigned i = 0; i < GOLDEN_FRAMES; i++)
        ck_assert_int_eq(verify_at(g.at[i], &frames[i]), U9_OK);
}

/* The decoded body of a frame; `scratch` has RECORD_ROOM bytes. */
static u9i_body body_of(golden_frame which, uint8_t *scratch)
{
    u9i_body body;
    size_t need;
    ck_assert_int_eq(u9i_body_open(&frames[which], scratch, RECORD_ROOM, &need, &body), U9_OK);
    return body;
}

START_TEST(the_golden_file_has_the_bytes_it_always_had)
{
    static uint8_t stored[GOLDEN_ROOM];
    char path[512];
    from_environment(path, "U9_TESTS", "tests", "golden/every_frame.u9");
    if (writing()) {
        write_file(path, g.bytes, g.size);
        return;
    }
    ck_assert_uint_eq(read_file(path, stored), g.size);
    ck_assert_mem_eq(stored, g.bytes, g.size);
}
END_TEST

static bool is_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0) return false;
    return true;
}

/* [F-8] */
static size_t next_place(const u9i_frame *before)
{
    u9i_frame next;
    size_t end = (size_t)before->end, block = (end + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    if (verify_at(end, &next) == U9_OK && u9i_frame_follows(before, &next)) return end;
    return block;
}

/* [F-6] [F-8] [F-9] */
START_TEST(the_frames_follow_one_another_from_offset_32_to_the_end)
{
    size_t p = U9I_DISK_HEADER_SIZE;
    for (unsigned i = 0; i < GOLDEN_FRAMES; i++) {
        u9i_frame frame;
        ck_assert_uint_eq(p, g.at[i]);
        ck_assert_int_eq(verify_at(p, &frame), U9_OK);
        ck_assert(frame.padding_ok);
        if (i > 0) {
            ck_assert(u9i_frame_follows(&frames[i - 1], &frame));
            ck_assert_uint_ge(frame.trailer.time_us, frames[i - 1].trailer.time_us);
            ck_assert_uint_le(frame.trailer.durable, frames[i - 1].end);
        }
        p = next_place(&frame);
        ck_assert(is_zero(g.bytes + frame.end, p - (size_t)frame.end));
    }
    ck_assert_uint_eq(p, g.size);
}
END_TEST

/* [F-6] e, [F-7] */
START_TEST(an_aligned_boundary_is_the_start_of_a_frame)
{
    unsigned found = 0;
    for (size_t at = 0; at < g.size; at += 16) {
        at = u9i_boundary_find(g.keys.boundary, g.bytes, at, g.size);
        if (at == g.size) break;
        ck_assert_uint_lt(found, GOLDEN_FRAMES);
        ck_assert_uint_eq(at, g.at[found]);
        found++;
    }
    ck_assert_uint_eq(found, GOLDEN_FRAMES);
}
END_TEST

/* [F-3] */
START_TEST(every_payload_is_values_back_to_back_and_a_trailer_last)
{
    for (unsigned i = 0; i < GOLDEN_FRAMES; i++) {
        u9_walk walk = u9_walk_bytes(frames[i].body, frames[i].body_size + U9I_TRAILER_SIZE);
        u9_value v = {.start = NULL};
        u9_err err;
        while ((err = u9_walk_next(&walk, &v)) == U9_OK)
            ck_assert_int_eq(u9_value_check(v.start, v.encoded, NULL, NULL), U9_OK);
        ck_assert_int_eq(err, U9_END);
        ck_assert_ptr_eq(v.start, frames[i].body + frames[i].body_size);
        ck_assert_uint_eq(v.encoded, U9I_TRAILER_SIZE);
    }
}
END_TEST

/* [B-1] */
START_TEST(every_body_is_what_it_was_made_as)
{
    static const u9i_body_kind kinds[GOLDEN_FRAMES] = {
        [GOLDEN_OPEN] = U9I_BODY_OPEN,   [GOLDEN_PLAIN] = U9I_BODY_RECORDS,
        [GOLDEN_LZ4] = U9I_BODY_RECORDS, [GOLDEN_MASK] = U9I_BODY_RECORDS,
        [GOLDEN_EMPTY] = U9I_BODY_EMPTY, [GOLDEN_TRIM] = U9I_BODY_TRIM,
        [GOLDEN_PART_0] = U9I_BODY_PART, [GOLDEN_PART_1] = U9I_BODY_PART,
        [GOLDEN_LATER] = U9I_BODY_OTHER, [GOLDEN_PAGE] = U9I_BODY_PAGE,
        [GOLDEN_ROOT] = U9I_BODY_PAGE,   [GOLDEN_HASH_ROOT] = U9I_BODY_PAGE,
        [GOLDEN_END] = U9I_BODY_END,
    };
    for (golden_frame i = GOLDEN_OPEN; i < GOLDEN_FRAMES; i++) {
        uint8_t scratch[RECORD_ROOM];
        u9i_body body = body_of(i, scratch);
        ck_assert_int_eq(body.kind, kinds[i]);
        ck_assert_int_eq(body.lz4, i == GOLDEN_LZ4);
        ck_assert_int_eq(body.masked, i == GOLDEN_MASK);
    }
}
END_TEST

static void put_records_again(u9i_out *out, const u9i_body *body)
{
    const uint8_t *next = body->bytes;
    size_t left = body->size;
    u9i_record r;
    while (u9i_record_next(&next, &left, &r) == U9_OK) {
        uint8_t head[17];
        u9_value tuple;
        ck_assert_int_eq(u9_value_decode(r.bytes, r.size, &tuple), U9_OK);
        u9i_out_copy(out, head, u9i_record_head(tuple.count, tuple.size, head));
        u9i_out_copy(out, r.key_value, (size_t)(r.values - r.key_value));
        u9i_out_copy(out, r.values, r.values_size);
    }
    ck_assert_uint_eq(left, 0);
}

#define PUT_AGAIN(type, decode, encode)                               \
    do {                                                              \
        type r;                                                       \
        ck_assert_int_eq(decode(body->bytes, body->size, &r), U9_OK); \
        encode(out, &r);                                              \
    } while (0)

static void put_bits(u9i_out *out, const u9i_span *bits)
{
    u9i_bits_record_encode(out, *bits);
}

static void put_body_again(u9i_out *out, const u9i_body *body)
{
    switch (body->kind) {
    case U9I_BODY_EMPTY: break;
    case U9I_BODY_RECORDS: put_records_again(out, body); break;
    case U9I_BODY_OPEN: PUT_AGAIN(u9i_open_record, u9i_open_record_decode, u9i_open_record_encode); break;
    case U9I_BODY_END: PUT_AGAIN(u9i_end_record, u9i_end_record_decode, u9i_end_record_encode); break;
    case U9I_BODY_TRIM: PUT_AGAIN(u9i_trim_record, u9i_trim_record_decode, u9i_trim_record_encode); break;
    case U9I_BODY_MARK: PUT_AGAIN(u9i_mark_record, u9i_mark_record_decode, u9i_mark_record_encode); break;
    case U9I_BODY_PART: PUT_AGAIN(u9i_part_record, u9i_part_record_decode, u9i_part_record_encode); break;
    case U9I_BODY_PAGE: PUT_AGAIN(u9i_page_record, u9i_page_record_decode, u9i_page_record_encode); break;
    case U9I_BODY_BITS: PUT_AGAIN(u9i_span, u9i_bits_record_decode, put_bits); break;
    case U9I_BODY_OTHER: u9i_out_copy(out, body->bytes, body->size); break;
    }
    ck_assert(!out->failed);
}

/* [F-1] [F-4] [B-5] [C-1] */
START_TEST(every_frame_is_made_again_from_what_was_decoded)
{
    static uint8_t again[GOLDEN_ROOM];
    u9i_secret keys;
    ck_assert_int_eq(u9i_disk_decode(g.bytes, &keys), U9_OK);
    u9i_disk_encode(&keys, again);
    for (golden_frame i = GOLDEN_OPEN; i < GOLDEN_FRAMES; i++) {
        uint8_t scratch[RECORD_ROOM], sha[U9I_HASH_SIZE];
        u9i_body body = body_of(i, scratch);
        uint8_t *frame = again + frames[i].trailer.offset;
        u9i_out out = u9i_out_init(frame + U9I_FRAME_HEADER_SIZE, RECORD_ROOM);
        put_body_again(&out, &body);
        ck_assert_uint_eq(out.size, body.size);
        if (body.size > 0) ck_assert_mem_eq(out.bytes, body.bytes, body.size);
        if (body.masked) out.size = u9i_mask_wrap(out.bytes, out.size, frames[i].body + 20);
        if (body.lz4) { /* how LZ4 compresses may change: only what it makes is settled */
            memcpy(out.bytes, frames[i].body, frames[i].body_size);
            out.size = frames[i].body_size;
        }
        ck_assert_int_eq(u9i_frame_seal(&keys, &frames[i].trailer, frame, out.size, sha), U9_OK);
        ck_assert_mem_eq(sha, frames[i].sha, sizeof sha);
    }
    ck_assert_mem_eq(again, g.bytes, g.size);
}
END_TEST

/* [C-3] [F-4] [F-9] */
START_TEST(the_first_frame_opens_a_log_where_nothing_was_before)
{
    static const uint8_t none[16];
    uint8_t header_sha[U9I_HASH_SIZE];
    u9i_open_record open;
    const u9i_trailer *t = &frames[GOLDEN_OPEN].trailer;
    ck_assert_int_eq(
        u9i_open_record_decode(frames[GOLDEN_OPEN].body, frames[GOLDEN_OPEN].body_size, &open), U9_OK);
    u9i_hash(g.bytes, U9I_DISK_HEADER_SIZE, header_sha);
    ck_assert_uint_eq(open.before_segment, 0);
    ck_assert_mem_eq(open.before_boundary, none, 16);
    ck_assert_mem_eq(open.before_secret, none, 16);
    ck_assert_int_eq(open.tail, U9I_TAIL_NONE);
    ck_assert_uint_eq(open.end.offset, 0);
    ck_assert_uint_eq(open.end.ordinal, t->ordinal);
    ck_assert_mem_eq(open.end.chain, t->chain, U9I_HASH_SIZE);
    ck_assert_mem_eq(t->chain, header_sha, U9I_HASH_SIZE);
    ck_assert_uint_eq(t->previous, 0);
}
END_TEST

/* [B-2] [B-4] [B-5] */
START_TEST(a_frame_holds_as_many_records_as_it_counts)
{
    static const golden_frame which[] = {GOLDEN_PLAIN, GOLDEN_LZ4, GOLDEN_MASK};
    for (unsigned i = 0; i < 3; i++) {
        uint8_t scratch[RECORD_ROOM];
        uint32_t count;
        u9i_body body = body_of(which[i], scratch);
        ck_assert_int_eq(count_records(body.bytes, body.size, &count), U9_END);
        ck_assert_uint_eq(count, frames[which[i]].trailer.count);
    }
    uint8_t want[RECORD_ROOM], scratch[RECORD_ROOM];
    u9i_body body = body_of(GOLDEN_LZ4, scratch);
    ck_assert_uint_eq(golden_lz4_records(want, sizeof want), body.size);
    ck_assert_mem_eq(body.bytes, want, body.size);
    body = body_of(GOLDEN_MASK, scratch);
    ck_assert_uint_eq(golden_mask_record(&g, want, sizeof want), body.size);
    ck_assert_mem_eq(body.bytes, want, body.size);
}
END_TEST

/* [C-6] */
START_TEST(the_parts_in_order_are_the_record)
{
    uint8_t joined[RECORD_ROOM], want[RECORD_ROOM];
    u9i_out out = u9i_out_init(joined, sizeof joined);
    uint64_t before = 0;
    for (unsigned i = 0; i < 2; i++) {
        const u9i_frame *frame = &frames[GOLDEN_PART_0 + i];
        u9i_part_record part;
        ck_assert_int_eq(u9i_part_record_decode(frame->body, frame->body_size, &part), U9_OK);
        ck_assert_uint_eq(part.number, i);
        ck_assert_uint_eq(part.before, before);
        ck_assert_uint_eq(frame->trailer.count, i);
        u9i_out_copy(&out, part.bytes.data, part.bytes.size);
        if (i == 1) ck_assert_uint_eq(part.total, out.size);
        before = frame->offset;
    }
    ck_assert_uint_eq(golden_large_record(want, sizeof want), out.size);
    ck_assert_mem_eq(joined, want, out.size);
}
END_TEST

/* The frame that a virtual offset names. [B-6] */
static golden_frame frame_named(uint64_t place)
{
    for (golden_frame i = GOLDEN_OPEN; i < GOLDEN_FRAMES; i++)
        if (g.at[i] == place >> 24 << 4) return i;
    ck_abort_msg("no frame is at %llx", (unsigned long long)place);
    return GOLDEN_FRAMES;
}

/* The record at a virtual offset begins with this key. */
static void expect_key_at(uint64_t place, const uint8_t key[16])
{
    uint8_t scratch[RECORD_ROOM];
    u9i_record r;
    u9i_body body = body_of(frame_named(place), scratch);
    if (body.kind == U9I_BODY_PART) { /* its record stands in parts */
        body.bytes = scratch;
        body.size = golden_large_record(scratch, sizeof scratch);
    }
    uint64_t at = place & 0xffffff;
    ck_assert_uint_lt(at, body.size);
    const uint8_t *next = body.bytes + at;
    size_t left = body.size - (size_t)at;
    ck_assert_int_eq(u9i_record_next(&next, &left, &r), U9_OK);
    ck_assert_uint_eq(r.key_size, 16);
    ck_assert_mem_eq(r.key, key, 16);
}

static u9i_page_record page_at(golden_frame which)
{
    u9i_page_record page;
    ck_assert_int_eq(u9i_page_record_decode(frames[which].body, frames[which].body_size, &page), U9_OK);
    return page;
}

/* [B-6] [C-7] */
START_TEST(virtual_offsets_lead_to_the_records_with_the_keys)
{
    u9i_page_record page = page_at(GOLDEN_PAGE), root = page_at(GOLDEN_ROOT);
    ck_assert_uint_eq(page.count, 4);
    for (uint32_t i = 0; i < page.count; i++) {
        const uint8_t *key = page.keys + 16 * i;
        expect_key_at(u9i_get_be(page.at + 8 * i, 8), key);
        if (i > 0) ck_assert_int_gt(memcmp(key, key - 16, 16), 0);
    }
    ck_assert_uint_eq(root.count, 1);
    ck_assert_mem_eq(root.keys, page.keys, 16);
    ck_assert_int_eq(frame_named(u9i_get_be(root.at, 8)), GOLDEN_PAGE);
    u9i_page_record hashes = page_at(GOLDEN_HASH_ROOT);
    ck_assert(hashes.has_seed && hashes.key_size == 8);
}
END_TEST

/* [C-4] */
START_TEST(the_end_tells_the_totals)
{
    u9i_end_record end;
    const u9i_frame *frame = &frames[GOLDEN_END];
    uint64_t records = 0, bytes = 0;
    for (golden_frame i = GOLDEN_OPEN; i < GOLDEN_END; i++) {
        uint8_t scratch[RECORD_ROOM];
        records += frames[i].trailer.count;
        if (frames[i].trailer.count > 0) bytes += body_of(i, scratch).size;
    }
    ck_assert_int_eq(u9i_end_record_decode(frame->body, frame->body_size, &end), U9_OK);
    ck_assert_int_eq(end.kind, U9I_END_CLOSING);
    ck_assert_uint_eq(end.frames, GOLDEN_END);
    ck_assert_uint_eq(end.records, records);
    ck_assert_uint_eq(end.records, frame->trailer.ordinal);
    ck_assert_uint_eq(end.bytes, bytes);
    ck_assert_uint_eq(end.data_end, frames[GOLDEN_LATER].end);
    ck_assert_int_eq(frame_named(end.root), GOLDEN_ROOT);
    ck_assert_mem_eq(end.first_key.data + 2, page_at(GOLDEN_PAGE).keys, 16);
    ck_assert_mem_eq(end.last_key.data + 2, page_at(GOLDEN_PAGE).keys + 48, 16);
}
END_TEST

/* [C-4] [F-8] [S-4] */
START_TEST(the_end_has_the_last_block_for_itself)
{
    ck_assert_uint_eq(g.size % U9I_BLOCK, 0);
    ck_assert_uint_eq(g.at[GOLDEN_END], g.size - U9I_BLOCK);
    ck_assert(is_zero(g.bytes + frames[GOLDEN_END].end, g.size - (size_t)frames[GOLDEN_END].end));
    ck_assert_uint_eq(frames[GOLDEN_END].trailer.durable, frames[GOLDEN_HASH_ROOT].end);
}
END_TEST

/* [H-5] */
START_TEST(the_last_block_has_a_spare_copy_of_the_secret)
{
    const uint8_t *block = g.bytes + g.size - U9I_BLOCK; /* unproven: no secret is known */
    size_t length = (size_t)u9i_get_be(block + 56, 8);
    u9i_end_record end;
    u9i_secret keys;
    ck_assert_uint_lt(length, U9I_BLOCK - 64);
    ck_assert_int_eq(u9i_end_record_decode(block + 64, length - U9I_TRAILER_SIZE, &end), U9_OK);
    ck_assert(u9i_secret_init(&keys, end.secret));
    ck_assert_mem_eq(keys.boundary, block, U9I_HASH_SIZE);
    ck_assert_mem_eq(&keys, &g.keys, sizeof keys);
}
END_TEST

/* [H-5] Forged: each bit of the secret. */
START_TEST(one_wrong_bit_of_a_secret_is_found_by_the_boundary_at_32)
{
    for (unsigned bit = 0; bit < 128; bit++) {
        uint8_t wrong[U9I_SECRET_SIZE];
        unsigned fits = 0;
        memcpy(wrong, g.keys.bytes, sizeof wrong);
        wrong[bit / 8] ^= (uint8_t)(1u << bit % 8);
        for (unsigned flip = 0; flip < 128; flip++) {
            u9i_secret keys;
            wrong[flip / 8] ^= (uint8_t)(1u << flip % 8);
            if (u9i_secret_init(&keys, wrong) && memcmp(keys.boundary, g.bytes + 32, 16) == 0) {
                ck_assert_uint_eq(flip, bit);
                fits++;
            }
            wrong[flip / 8] ^= (uint8_t)(1u << flip % 8);
        }
        ck_assert_uint_eq(fits, 1);
    }
}
END_TEST

/* [F-6] Forged: every byte of the file, one bit. No frame but the one that holds it is lost. */
START_TEST(a_damaged_byte_costs_the_frame_that_holds_it_and_no_other)
{
    for (size_t at = U9I_DISK_HEADER_SIZE; at < g.size; at++) {
        g.bytes[at] ^= 0x04;
        for (unsigned i = 0; i < GOLDEN_FRAMES; i++) {
            bool within = at >= frames[i].offset && at < frames[i].end;
            bool near = at + 64 >= frames[i].offset && at < frames[i].end + 64;
            u9i_frame frame;
            if (!near) continue;
            u9_err err = verify_at(g.at[i], &frame);
            size_t payload = 64 + frames[i].body_size + U9I_TRAILER_SIZE;
            if (within && at - frames[i].offset < payload) ck_assert_int_eq(err, U9_CORRUPT);
            else ck_assert_int_eq(err, U9_OK);
            if (within && err == U9_OK) ck_assert(!frame.padding_ok); /* [F-2] */
        }
        g.bytes[at] ^= 0x04;
    }
}
END_TEST

/* Not a check: writes the seeds of the fuzz target, each frame sealed for the place there. */
START_TEST(seeds_are_written_if_asked_for)
{
    static const char *const names[GOLDEN_FRAMES] = {
        "open",      "plain", "lz4",  "mask", "empty",     "trim", "part",
        "last_part", "later", "page", "root", "hash_root", "end"};
    for (unsigned i = 0; writing() && i < GOLDEN_FRAMES; i++) {
        char path[512], rest[64];
        uint8_t seed[1 + RECORD_ROOM + 256], sha[U9I_HASH_SIZE];
        u9i_trailer t = frames[i].trailer;
        t.offset = i == GOLDEN_OPEN ? 32 : 4096;
        t.previous = i == GOLDEN_OPEN ? 0 : 32;
        t.durable = t.previous;
        seed[0] = (uint8_t)((i != GOLDEN_OPEN) | i << 4);
        memcpy(seed + 1 + U9I_FRAME_HEADER_SIZE, frames[i].body, frames[i].body_size);
        ck_assert_int_eq(u9i_frame_seal(&g.keys, &t, seed + 1, frames[i].body_size, sha), U9_OK);
        snprintf(rest, sizeof rest, "corpus/frame/%s", names[i]);
        from_environment(path, "U9_FUZZ", "fuzz", rest);
        write_file(path, seed, 1 + u9i_frame_size(frames[i].body_size));
    }
    if (!writing()) return;
    uint8_t slot[U9I_BLOCK]; /* and of a mark's slot, with the secret that the target has */
    char path[512];
    u9i_mark_record mark;
    golden_mark_slot(slot, &mark);
    ck_assert_int_eq(u9i_slot_encode(&mark, &g.keys, slot), U9_OK);
    slot[U9I_DISK_HEADER_SIZE - 1] = 0x10; /* the mode, in front of the frame */
    from_environment(path, "U9_FUZZ", "fuzz", "corpus/frame/mark");
    write_file(path, slot + U9I_DISK_HEADER_SIZE - 1, 1 + GOLDEN_SLOT_SIZE - U9I_DISK_HEADER_SIZE);
}
END_TEST

Suite *suite_golden(void)
{
    Suite *s = suite_create("golden");
    TCase *t = tcase_create("every_frame.u9");
    tcase_add_checked_fixture(t, make_file, NULL);
    tcase_add_test(t, the_golden_file_has_the_bytes_it_always_had);
    tcase_add_test(t, the_frames_follow_one_another_from_offset_32_to_the_end);
    tcase_add_test(t, an_aligned_boundary_is_the_start_of_a_frame);
    tcase_add_test(t, every_payload_is_values_back_to_back_and_a_trailer_last);
    tcase_add_test(t, every_body_is_what_it_was_made_as);
    tcase_add_test(t, every_frame_is_made_again_from_what_was_decoded);
    tcase_add_test(t, the_first_frame_opens_a_log_where_nothing_was_before);
    tcase_add_test(t, a_frame_holds_as_many_records_as_it_counts);
    tcase_add_test(t, the_parts_in_order_are_the_record);
    tcase_add_test(t, virtual_offsets_lead_to_the_records_with_the_keys);
    tcase_add_test(t, the_end_tells_the_totals);
    tcase_add_test(t, the_end_has_the_last_block_for_itself);
    tcase_add_test(t, the_last_block_has_a_spare_copy_of_the_secret);
    tcase_add_test(t, one_wrong_bit_of_a_secret_is_found_by_the_boundary_at_32);
    tcase_add_test(t, a_damaged_byte_costs_the_frame_that_holds_it_and_no_other);
    tcase_add_test(t, seeds_are_written_if_asked_for);
    suite_add_tcase(s, t);
    return s;
}
