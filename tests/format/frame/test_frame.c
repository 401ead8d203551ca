/*
 * tests/format/frame/test_frame.c: frames: layout, trailer, the valid-frame rule clause by clause, the
 * rule against false boundaries. verdict_on() proves for each forged frame besides that the verdict
 * does not depend on how many bytes were there at first.
 */
#include "format/frame/disk.h"
#include "tests/format/frame/forge.h"
#include "tests/format/stand_in.h"
#include "tests/suites.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <u9/value.h>

static const char letters[] = "the body of a frame, not looked at by the rule of valid frames ....";

enum { LETTERS = 64 }; /* bytes used of it: whole blocks, so that the trailer is aligned too */

static const u9i_trailer sample = {
    .ordinal = 0x0102030405060708,
    .count = 0x11121314,
    .offset = 0x2122232425262728,
    .previous = 0x3132333435363738,
    .durable = 0x4142434445464748,
    .time_us = 0x5152535455565758,
    .chain = {0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d,
              0x6e, 0x6f},
};

static const uint8_t sample_bytes[U9I_TRAILER_SIZE] = {
    0x40, 0x4d, 0x08, 0x0a, 0x75, 0x39, 0x66, 0x72, 0x61, 0x6d, 0x65, 0x00, 0x03, 0x01, 0x02, 0x03,
    0x04, 0x05, 0x06, 0x07, 0x08, 0x02, 0x11, 0x12, 0x13, 0x14, 0x03, 0x21, 0x22, 0x23, 0x24, 0x25,
    0x26, 0x27, 0x28, 0x03, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x03, 0x41, 0x42, 0x43,
    0x44, 0x45, 0x46, 0x47, 0x48, 0x03, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x1c, 0x10,
    0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f};

/* Whether byte `at` of a trailer is one of the fixed ones. [F-4] */
static bool is_fixed(size_t at)
{
    return at <= 12 || at == 21 || at == 26 || at == 35 || at == 44 || at == 53 || at == 62 ||
           at == 63;
}

static bool same_trailer(const u9i_trailer *a, const u9i_trailer *b)
{
    return a->ordinal == b->ordinal && a->count == b->count && a->offset == b->offset &&
           a->previous == b->previous && a->durable == b->durable && a->time_us == b->time_us &&
           memcmp(a->chain, b->chain, sizeof a->chain) == 0;
}

/* [F-4] */
START_TEST(a_trailer_has_the_bytes_of_the_table)
{
    uint8_t bytes[U9I_TRAILER_SIZE];
    u9i_trailer_encode(&sample, bytes);
    ck_assert_mem_eq(bytes, sample_bytes, sizeof bytes);
}
END_TEST

/* [F-4] */
START_TEST(a_trailer_is_decoded_to_what_was_encoded)
{
    u9i_trailer trailer = {.ordinal = 0};
    ck_assert(u9i_trailer_decode(sample_bytes, &trailer));
    ck_assert(same_trailer(&trailer, &sample));
}
END_TEST

/* [F-4] Forged: each fixed byte of the trailer, to each other value. */
START_TEST(a_trailer_with_another_bytecode_is_refused)
{
    for (size_t at = 0; at < U9I_TRAILER_SIZE; at++) {
        for (unsigned change = 1; is_fixed(at) && change <= 0xff; change++) {
            uint8_t bytes[U9I_TRAILER_SIZE];
            u9i_trailer trailer = {.ordinal = 99};
            memcpy(bytes, sample_bytes, sizeof bytes);
            bytes[at] = (uint8_t)(bytes[at] ^ change);
            ck_assert(!u9i_trailer_decode(bytes, &trailer));
            ck_assert_uint_eq(trailer.ordinal, 99);
            ck_assert_uint_eq(trailer.count, 0);
        }
    }
}
END_TEST

/* [F-4] */
START_TEST(every_other_byte_of_a_trailer_is_content)
{
    for (size_t at = 0; at < U9I_TRAILER_SIZE; at++) {
        uint8_t bytes[U9I_TRAILER_SIZE];
        u9i_trailer trailer;
        if (is_fixed(at)) continue;
        memcpy(bytes, sample_bytes, sizeof bytes);
        bytes[at] ^= 0xff;
        ck_assert(u9i_trailer_decode(bytes, &trailer));
        ck_assert(!same_trailer(&trailer, &sample));
    }
}
END_TEST

/* [F-1] */
START_TEST(a_frame_has_the_bytes_of_the_table)
{
    forged f;
    uint8_t sha[U9I_HASH_SIZE], sign[U9I_HASH_SIZE];
    make_frame(&f, letters, LETTERS);
    u9i_hash(f.bytes + 64, LETTERS + 80, sha);
    u9i_sign(sha, f.keys.bytes, sign);
    ck_assert_mem_eq(f.bytes, f.keys.boundary, 16);
    ck_assert_mem_eq(f.bytes + 16, sha, 16);
    ck_assert_mem_eq(f.bytes + 32, sign, 16);
    ck_assert_mem_eq(f.bytes + 48,
                     "\xff\xff"
                     "utf9f\0",
                     8);
    ck_assert_mem_eq(f.bytes + 56, "\0\0\0\0\0\0\0\x90", 8);
    ck_assert_mem_eq(f.bytes + 64, letters, LETTERS);
    u9i_trailer trailer;
    ck_assert(u9i_trailer_decode(f.bytes + 64 + LETTERS, &trailer));
    ck_assert(same_trailer(&trailer, &f.trailer));
}
END_TEST

/* [F-1] [F-2] [F-6] */
START_TEST(a_sealed_frame_is_valid_and_tells_what_was_sealed)
{
    for (size_t size = 0; size <= LETTERS; size++) {
        forged f;
        u9i_frame frame;
        make_frame(&f, letters, size);
        ck_assert_int_eq(verdict_on(&f, &frame), U9_R_NONE);
        ck_assert_uint_eq(frame.offset, FORGE_PLACE);
        ck_assert_uint_eq(frame.end, FORGE_PLACE + 64 + (size + 80 + 15) / 16 * 16);
        ck_assert_mem_eq(frame.sha, f.bytes + AT_SHA, U9I_HASH_SIZE);
        ck_assert(same_trailer(&frame.trailer, &f.trailer));
        ck_assert_ptr_eq(frame.body, f.bytes + 64);
        ck_assert_uint_eq(frame.body_size, size);
        ck_assert(frame.padding_ok);
    }
}
END_TEST

/* [F-2] */
START_TEST(padding_is_zero_bytes_up_to_the_next_multiple_of_16)
{
    for (size_t size = 0; size <= LETTERS; size++) {
        forged f;
        uint8_t *frame, sha[U9I_HASH_SIZE];
        make_frame(&f, letters, size);
        ck_assert_uint_eq(f.size % 16, 0);
        ck_assert_uint_eq(u9i_padding(size + 80), f.size - 64 - 80 - size);
        ck_assert_uint_lt(u9i_padding(size + 80), 16);

        frame = (uint8_t *)malloc(f.size); /* exactly: a byte more would be an error */
        memset(frame, 0xee, f.size);
        memcpy(frame + 64, letters, size);
        ck_assert_int_eq(u9i_frame_seal(&f.keys, &f.trailer, frame, size, sha), U9_OK);
        ck_assert_mem_eq(frame, f.bytes, f.size);
        free(frame);
    }
}
END_TEST

/* {F22} [F-2] Forged: each byte of the padding. */
START_TEST(padding_that_is_not_zero_is_told_and_does_not_make_a_frame_invalid)
{
    forged f;
    u9i_frame frame;
    make_frame(&f, letters, 1);
    ck_assert_uint_eq(u9i_padding(81), 15);
    for (size_t at = f.size - 15; at < f.size; at++) {
        flip_byte(&f, at);
        ck_assert_int_eq(verdict_on(&f, &frame), U9_R_NONE);
        ck_assert(!frame.padding_ok);
        flip_byte(&f, at);
    }
}
END_TEST

/* [F-3] */
START_TEST(a_reader_that_knows_only_values_can_walk_a_payload)
{
    uint8_t body[256];
    u9i_out out = u9i_out_init(body, sizeof body);
    put_record(&out, 1, "one");
    put_record(&out, 2, "two");
    forged f;
    make_frame(&f, body, out.size);

    u9_walk walk = u9_walk_bytes(f.bytes + AT_PAYLOAD, out.size + U9I_TRAILER_SIZE);
    u9_value value, name;
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(u9_walk_next(&walk, &value), U9_OK);
        ck_assert_int_eq(u9_value_check(value.start, value.encoded, NULL, NULL), U9_OK);
        ck_assert_int_eq(value.type, U9_TUPLE);
    }
    ck_assert_int_eq(u9_walk_next(&walk, &value), U9_END);
    ck_assert_uint_eq(value.encoded, U9I_TRAILER_SIZE);
    ck_assert_uint_eq(value.count, 8);
    ck_assert_int_eq(u9_value_decode(value.data, (size_t)value.size, &name), U9_OK);
    ck_assert_mem_eq(name.data, "u9frame", 8);
}
END_TEST

/* [F-6] a. Forged: the place. */
START_TEST(a_frame_at_a_place_that_16_does_not_divide_is_refused)
{
    for (unsigned shift = 1; shift < 16; shift++) {
        forged f;
        make_frame_at(&f, FORGE_PLACE + shift, letters, LETTERS);
        ck_assert_int_eq(verdict_on(&f, NULL), U9_R_BOUNDARY);
    }
}
END_TEST

/* [F-6] a. Forged: the place. */
START_TEST(a_frame_within_the_disk_header_is_refused)
{
    for (unsigned p = 0; p < U9I_DISK_HEADER_SIZE; p += 16) {
        forged f;
        make_frame_at(&f, p, letters, LETTERS);
        ck_assert_int_eq(verdict_on(&f, NULL), U9_R_BOUNDARY);
    }
}
END_TEST

/* [F-6] a, d. Forged: the bound. */
START_TEST(a_place_behind_the_end_of_the_file_is_refused)
{
    forged f;
    make_frame(&f, letters, LETTERS);
    f.bound = f.p;
    ck_assert_int_eq(verdict_on(&f, NULL), U9_R_BOUNDARY);
    f.bound = f.p - 16;
    ck_assert_int_eq(verdict_on(&f, NULL), U9_R_BOUNDARY);
    f.bound = 0;
    ck_assert_int_eq(verdict_on(&f, NULL), U9_R_BOUNDARY);
}
END_TEST

/* [F-6] b. Forged: bytes 0 to 15. */
START_TEST(a_wrong_boundary_byte_is_refused)
{
    forged f;
    make_frame(&f, letters, LETTERS);
    for (size_t at = 0; at < 16; at++) {
        flip_byte(&f, at);
        ck_assert_int_eq(verdict_on(&f, NULL), U9_R_BOUNDARY);
        flip_byte(&f, at);
    }
}
END_TEST

/* [F-6] c. Forged: bytes 48 to 55. */
START_TEST(a_wrong_magic_byte_is_refused)
{
    forged f;
    make_frame(&f, letters, LETTERS);
    for (size_t at = 48; at < 56; at++) {
        flip_byte(&f, at);
        ck_assert_int_eq(verdict_on(&f, NULL), U9_R_MAGIC);
        flip_byte(&f, at);
    }
}
END_TEST

/* [F-6] d, [F-5]. Forged: the length. */
START_TEST(a_length_that_no_trailer_fits_in_is_refused)
{
    forged f;
    make_frame(&f, letters, LETTERS);
    for (uint64_t length = 0; length < 80; length++) {
        forge_length(&f, length);
        mend_hash(&f);
        ck_assert_int_eq(verdict_on(&f, NULL), U9_R_LENGTH);
    }
}
END_TEST

/* [F-6] g, [L-5] */
START_TEST(records_whose_ordinals_would_run_out_are_refused)
{
    static const uint32_t counts[] = {0, 1, 2, UINT32_MAX};
    for (size_t i = 0; i < 4; i++)
        for (uint64_t room = 0; room < 3; room++) {
            forged f;
            make_frame(&f, letters, LETTERS);
            u9i_set_be(f.bytes + in_trailer(&f, 13), 8, UINT64_MAX - room);
            u9i_set_be(f.bytes + in_trailer(&f, 22), 4, counts[i]);
            mend_hash(&f);
            ck_assert_int_eq(verdict_on(&f, NULL), counts[i] <= room ? U9_R_NONE : U9_R_TRAILER);
        }
}
END_TEST

/* {F23} [F-6] d, [F-5]. Forged: the length, in a file of any size. */
START_TEST(a_length_beyond_the_cap_is_refused)
{
    static const uint64_t lengths[] = {(1 << 24) + 122,   (1 << 24) + 123, UINT64_C(1) << 32,
                                       UINT64_C(1) << 63, UINT64_MAX - 64, UINT64_MAX};
    forged f;
    make_frame(&f, letters, LETTERS);
    f.bound = UINT64_MAX;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        forge_length(&f, lengths[i]);
        ck_assert_int_eq(verdict_on(&f, NULL), U9_R_LENGTH);
    }
}
END_TEST

/* [F-5] */
START_TEST(a_length_at_the_cap_is_valid)
{
    size_t body_size = (1 << 24) + 41, size = u9i_frame_size(body_size);
    forged f;
    uint8_t *frame = (uint8_t *)calloc(1, size), sha[U9I_HASH_SIZE];
    u9i_frame out;
    make_frame(&f, letters, LETTERS);
    ck_assert_int_eq(u9i_frame_seal(&f.keys, &f.trailer, frame, body_size, sha), U9_OK);
    ck_assert_uint_eq(u9i_get_be(frame + AT_LENGTH, 8), (1 << 24) + 121);

    u9i_proof proof = {.need = 0};
    unsigned steps = 0;
    u9_err err;
    do { /* a reader that reads just what is wanted */
        err = u9i_frame_verify(&f.keys, f.p, f.p + size, frame, proof.need, &proof, &out);
        ck_assert_uint_le(proof.need, size);
        ck_assert_uint_lt(steps++, 100);
    } while (err == U9_AGAIN);
    ck_assert_int_eq(err, U9_OK);
    ck_assert_uint_eq(out.body_size, body_size);
    free(frame);
}
END_TEST

/* [F-6] b, c, d. Forged: the bound. What is cut off is judged by the clause that needs it first. */
START_TEST(a_frame_that_passes_the_end_of_the_file_is_refused)
{
    forged f;
    make_frame(&f, letters, LETTERS + 1);
    size_t padding = 15;
    for (size_t have = 0; have < f.size; have++) {
        u9_reason want = have < 16 ? U9_R_BOUNDARY : have < 56 ? U9_R_MAGIC : U9_R_LENGTH;
        f.bound = f.p + have;
        ck_assert_int_eq(verdict_on(&f, NULL), want);
    }
    ck_assert_uint_eq(u9i_padding(LETTERS + 81), padding); /* so the padding was cut off, too */
    f.bound = f.p + f.size;
    ck_assert_int_eq(verdict_on(&f, NULL), U9_R_NONE);
}
END_TEST

/* [F-6] e. Forged: each 16 bytes at a multiple of 16 behind the header, hashes mended. */
START_TEST(another_boundary_before_the_end_is_refused)
{
    forged good;
    make_frame(&good, letters, LETTERS + 1);
    for (size_t at = 16; at + 16 <= good.size; at += 16) {
        forged f = good;
        u9i_frame frame;
        u9i_proof proof = {.need = 0};
        if (at == AT_MAGIC) continue; /* that breaks clause c */
        memcpy(f.bytes + at, f.keys.boundary, 16);
        if (at > AT_MAGIC) mend_hash(&f);
        ck_assert_int_eq(verdict_on(&f, NULL), U9_R_OVERLAP);
        ck_assert_int_eq(u9i_frame_verify(&f.keys, f.p, f.bound, f.bytes, f.size, &proof, &frame),
                         U9_CORRUPT);
        ck_assert_uint_eq(proof.searched, at);
    }
}
END_TEST

/* [F-6] e. Forged: bytes of the body, hashes mended. */
START_TEST(a_boundary_that_is_not_aligned_is_no_boundary)
{
    for (size_t shift = 1; shift < 16; shift++) {
        forged f;
        make_frame(&f, letters, LETTERS);
        memcpy(f.bytes + AT_PAYLOAD + shift, f.keys.boundary, 16);
        mend_hash(&f);
        ck_assert_int_eq(verdict_on(&f, NULL), U9_R_NONE);
    }
}
END_TEST

/* [F-6] e */
START_TEST(a_boundary_where_the_frame_ends_is_the_next_frames)
{
    forged f;
    u9i_frame frame;
    u9i_proof proof = {.need = 0};
    make_frame(&f, letters, LETTERS);
    memcpy(f.bytes + f.size, f.keys.boundary, 16);
    f.bound = f.p + f.size + 16;
    ck_assert_int_eq(u9i_frame_verify(&f.keys, f.p, f.bound, f.bytes, f.size + 16, &proof, &frame),
                     U9_OK);
    ck_assert_uint_eq(frame.end, f.p + f.size);
}
END_TEST

/* [F-6] f. Forged: bytes 32 to 47. */
START_TEST(a_wrong_signature_byte_is_refused)
{
    forged f;
    make_frame(&f, letters, LETTERS);
    for (size_t at = 32; at < 48; at++) {
        flip_byte(&f, at);
        ck_assert_int_eq(verdict_on(&f, NULL), U9_R_SIGNATURE);
        flip_byte(&f, at);
    }
}
END_TEST

/* [F-6] f. Forged: bytes 16 to 31, which the signature covers. */
START_TEST(a_hash_that_was_not_signed_is_refused)
{
    forged f;
    make_frame(&f, letters, LETTERS);
    for (size_t at = 16; at < 32; at++) {
        flip_byte(&f, at);
        ck_assert_int_eq(verdict_on(&f, NULL), U9_R_SIGNATURE);
        flip_byte(&f, at);
    }
}
END_TEST

/* [F-6] g. Forged: each fixed byte of the trailer, hashes mended. */
START_TEST(a_payload_that_does_not_end_in_a_trailer_is_refused)
{
    forged good;
    make_frame(&good, letters, LETTERS);
    for (size_t at = 0; at < U9I_TRAILER_SIZE; at++) {
        forged f = good;
        flip_byte(&f, in_trailer(&f, at));
        mend_hash(&f);
        bool place = at >= 27 && at < 35;    /* another offset */
        bool previous = at >= 36 && at < 42; /* above p */
        bool durable = at >= 45 && at < 51;  /* above p */
        bool refused = is_fixed(at) || place || previous || durable;
        ck_assert_int_eq(verdict_on(&f, NULL), refused ? U9_R_TRAILER : U9_R_NONE);
    }
}
END_TEST

static u9_reason with_previous(uint64_t p, uint64_t previous)
{
    forged f;
    make_frame_at(&f, p, letters, LETTERS);
    u9i_set_be(f.bytes + in_trailer(&f, 36), 8, previous);
    mend_hash(&f);
    return verdict_on(&f, NULL);
}

/* {F24} [F-6] g. Forged: the trailer's offset. */
START_TEST(a_frame_that_was_made_for_another_place_is_refused)
{
    forged f;
    make_frame(&f, letters, LETTERS);
    f.p += 4096; /* copied, as it is, to another place */
    f.bound += 4096;
    ck_assert_int_eq(verdict_on(&f, NULL), U9_R_TRAILER);
}
END_TEST

/* [F-6] g. Forged: the trailer's previous. */
START_TEST(only_a_files_first_frame_has_no_previous)
{
    ck_assert_int_eq(with_previous(32, 0), U9_R_NONE);
    ck_assert_int_eq(with_previous(32, 1), U9_R_TRAILER);
    ck_assert_int_eq(with_previous(32, 16), U9_R_TRAILER);
    ck_assert_int_eq(with_previous(32, 32), U9_R_TRAILER);
    ck_assert_int_eq(with_previous(48, 0), U9_R_TRAILER);
    ck_assert_int_eq(with_previous(FORGE_PLACE, 0), U9_R_TRAILER);
}
END_TEST

/* [F-6] g. Forged: the trailer's previous. */
START_TEST(the_previous_frame_begins_behind_the_disk_header_and_before_this_one)
{
    ck_assert_int_eq(with_previous(FORGE_PLACE, 16), U9_R_TRAILER);
    ck_assert_int_eq(with_previous(FORGE_PLACE, 31), U9_R_TRAILER);
    ck_assert_int_eq(with_previous(FORGE_PLACE, 32), U9_R_NONE);
    ck_assert_int_eq(with_previous(FORGE_PLACE, FORGE_PLACE - 16), U9_R_NONE);
    ck_assert_int_eq(with_previous(FORGE_PLACE, FORGE_PLACE), U9_R_TRAILER);
    ck_assert_int_eq(with_previous(FORGE_PLACE, FORGE_PLACE + 16), U9_R_TRAILER);
    ck_assert_int_eq(with_previous(FORGE_PLACE, UINT64_MAX), U9_R_TRAILER);
}
END_TEST

/* [F-6] g. Forged: the trailer's durable. */
START_TEST(a_frame_promises_nothing_behind_its_own_place)
{
    static const uint64_t durable[] = {0, FORGE_PLACE, FORGE_PLACE + 1, UINT64_MAX};
    for (size_t i = 0; i < 4; i++) {
        forged f;
        make_frame(&f, letters, LETTERS);
        u9i_set_be(f.bytes + in_trailer(&f, 45), 8, durable[i]);
        mend_hash(&f);
        ck_assert_int_eq(verdict_on(&f, NULL), i < 2 ? U9_R_NONE : U9_R_TRAILER);
    }
}
END_TEST

/* [F-6] h. Forged: each byte of the payload that clause g does not look at. */
START_TEST(a_wrong_payload_byte_is_refused)
{
    forged f;
    make_frame(&f, letters, LETTERS);
    for (size_t at = 64; at < 64 + LETTERS + 80; at++) {
        size_t trailer = at - in_trailer(&f, 0);
        bool in_body = at < in_trailer(&f, 0), looked_at = trailer >= 27 && trailer <= 52;
        if (!in_body && (is_fixed(trailer) || looked_at)) continue;
        flip_byte(&f, at);
        ck_assert_int_eq(verdict_on(&f, NULL), U9_R_HASH);
        flip_byte(&f, at);
    }
}
END_TEST

/* [F-6] h. Forged: bytes 16 to 31, signature mended. */
START_TEST(a_signed_hash_of_other_bytes_is_refused)
{
    forged f;
    make_frame(&f, letters, LETTERS);
    for (size_t at = 16; at < 32; at++) {
        flip_byte(&f, at);
        u9i_sign(f.bytes + AT_SHA, f.keys.bytes, f.bytes + AT_SIGN);
        ck_assert_int_eq(verdict_on(&f, NULL), U9_R_HASH);
        flip_byte(&f, at);
    }
}
END_TEST

/* Breaks clauses of the rule and no other ones: `which` holds their letters, in any order. */
static void break_clauses(forged *f, const char *which)
{
    if (strchr(which, 'e')) memcpy(f->bytes + AT_PAYLOAD, f->keys.boundary, 16);
    if (strchr(which, 'g')) flip_byte(f, in_trailer(f, 3));
    mend_hash(f);
    if (strchr(which, 'h')) flip_byte(f, AT_PAYLOAD + 20);
    if (strchr(which, 'f')) flip_byte(f, AT_SIGN);
    if (strchr(which, 'd')) forge_length(f, 79);
    if (strchr(which, 'c')) flip_byte(f, AT_MAGIC);
    if (strchr(which, 'b')) flip_byte(f, 0);
    if (strchr(which, 'a')) f->p += 8;
}

/* [F-6] All clauses by twos. (a) and (b) are told alike: `boundary`. */
START_TEST(a_frame_broken_in_two_clauses_is_refused_for_the_first)
{
    static const char letter[] = "abcdefgh";
    static const u9_reason reason[] = {U9_R_BOUNDARY, U9_R_BOUNDARY,  U9_R_MAGIC,   U9_R_LENGTH,
                                       U9_R_OVERLAP,  U9_R_SIGNATURE, U9_R_TRAILER, U9_R_HASH};
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned k = i; k < 8; k++) {
            const char which[3] = {letter[i], letter[k], 0};
            forged f;
            make_frame(&f, letters, LETTERS);
            break_clauses(&f, which);
            ck_assert_msg(verdict_on(&f, NULL) == reason[i], "clauses %s", which);
        }
    }
}
END_TEST

/* [F-6] d. Forged: the bound, and a byte of each later clause. */
START_TEST(a_frame_passing_the_end_is_refused_before_its_payload_is_looked_at)
{
    for (const char *which = "efgh"; *which; which++) {
        const char one[2] = {*which, 0};
        forged f;
        make_frame(&f, letters, LETTERS);
        break_clauses(&f, one);
        f.bound -= 1;
        ck_assert_int_eq(verdict_on(&f, NULL), U9_R_LENGTH);
    }
}
END_TEST

/* [F-6] */
START_TEST(a_verdict_asks_first_for_the_header_and_never_for_more_than_the_frame)
{
    forged f;
    u9i_frame frame;
    u9i_proof proof = {.need = 0};
    make_frame(&f, letters, LETTERS);
    f.bound = UINT64_MAX;
    ck_assert_int_eq(u9i_frame_verify(&f.keys, f.p, f.bound, f.bytes, 0, &proof, &frame), U9_AGAIN);
    ck_assert_uint_eq(proof.need, 64);
    ck_assert_int_eq(u9i_frame_verify(&f.keys, f.p, f.bound, f.bytes, 64, &proof, &frame),
                     U9_AGAIN);
    ck_assert_uint_eq(proof.need, f.size);
    ck_assert_int_eq(u9i_frame_verify(&f.keys, f.p, f.bound, f.bytes, f.size, &proof, &frame),
                     U9_OK);

    f.bound = f.p + 20; /* a header cut off: no more is wanted than there is */
    proof = (u9i_proof){.need = 0};
    ck_assert_int_eq(u9i_frame_verify(&f.keys, f.p, f.bound, f.bytes, 0, &proof, &frame), U9_AGAIN);
    ck_assert_uint_eq(proof.need, 20);
}
END_TEST

/* [F-6] e. A search that was begun is not begun again. */
START_TEST(bytes_that_were_searched_are_not_searched_again)
{
    forged f;
    u9i_frame frame;
    u9i_proof proof = {.need = 0};
    make_frame(&f, letters, LETTERS);
    ck_assert_int_eq(u9i_frame_verify(&f.keys, f.p, f.bound, f.bytes, 127, &proof, &frame),
                     U9_AGAIN);
    ck_assert_uint_eq(proof.searched, 112);
    memcpy(f.bytes + 96, f.keys.boundary, 16); /* a mere probe: real bytes do not change */
    mend_hash(&f);
    ck_assert_int_eq(u9i_frame_verify(&f.keys, f.p, f.bound, f.bytes, f.size, &proof, &frame),
                     U9_OK);
}
END_TEST

static size_t find_slowly(const uint8_t *boundary, const uint8_t *bytes, size_t from, size_t size)
{
    for (size_t i = from; i + 16 <= size; i += 16)
        if (memcmp(bytes + i, boundary, 16) == 0) return i;
    return size;
}

/* [F-6] e, [F-7] */
START_TEST(a_search_finds_whole_aligned_boundaries_only)
{
    u9i_secret keys = fixed_keys();
    uint8_t bytes[128];
    for (size_t at = 0; at <= sizeof bytes - 16; at++) {
        for (size_t wrong = 0; wrong <= 16; wrong++) { /* 16: all bytes are right */
            memset(bytes, 0, sizeof bytes);
            memcpy(bytes + at, keys.boundary, 16);
            if (wrong < 16) bytes[at + wrong] ^= 1;
            for (size_t from = 0; from < 48; from += 16)
                ck_assert_uint_eq(u9i_boundary_find(keys.boundary, bytes, from, sizeof bytes),
                                  find_slowly(keys.boundary, bytes, from, sizeof bytes));
        }
    }
}
END_TEST

/* [F-6] e */
START_TEST(a_search_does_not_pass_its_end)
{
    u9i_secret keys = fixed_keys();
    for (size_t size = 0; size < 64; size++) {
        uint8_t *bytes = (uint8_t *)calloc(1, size);
        size_t at = size / 16 * 16;
        memcpy(bytes + at, keys.boundary, size - at); /* begun, and cut off */
        ck_assert_uint_eq(u9i_boundary_find(keys.boundary, bytes, 0, size), size);
        ck_assert_uint_eq(u9i_boundary_find(keys.boundary, bytes, at, size), size);
        free(bytes);
    }
}
END_TEST

/* A page whose end is the end of what can be read. */
static uint8_t *page_before_nothing(void)
{
    uint8_t *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    ck_assert_int_eq(mprotect(p + 4096, 4096, PROT_NONE), 0);
    return p;
}

static void expect_found(const uint8_t *boundary, const uint8_t *bytes, size_t from, size_t size)
{
    size_t want = find_slowly(boundary, bytes, from, size);
    ck_assert_uint_eq(u9i_boundary_find(boundary, bytes, from, size), want);
    ck_assert_uint_eq(u9i_boundary_find_plain(boundary, bytes, from, size), want);
}

/* [F-6] e. Beginnings at every alignment in memory; each ends where nothing can be read behind it. */
START_TEST(a_search_of_any_length_finds_what_is_there)
{
    u9i_secret keys = fixed_keys();
    uint8_t *page = page_before_nothing();
    for (size_t size = 0; size <= 1100; size++) {
        uint8_t *bytes = page + 4096 - size;
        memset(page, 0, 4096);
        for (size_t from = 0; from <= size; from += 16 + 48 * (size % 5)) expect_found(keys.boundary, bytes, from, size);
        if (size < 16) continue;
        size_t last = (size - 16) / 16 * 16, first = last > 512 ? last - 512 : 0;
        for (size_t at = first; at <= last; at += 16) { /* one, then two, of which the first counts */
            memcpy(bytes + at, keys.boundary, 16);
            expect_found(keys.boundary, bytes, 0, size);
            expect_found(keys.boundary, bytes, at, size);
            if (at + 16 <= size) expect_found(keys.boundary, bytes, at + 16, size);
            if (at % 64 == 0) memset(bytes + at, 0, 16);
        }
    }
    munmap(page, 8192);
}
END_TEST

/* [F-6] e. Bytes full of halves of the boundary, and of boundaries that are not aligned. */
START_TEST(a_search_is_not_misled_by_halves)
{
    u9i_secret keys = fixed_keys();
    uint8_t *page = page_before_nothing();
    for (size_t shift = 0; shift < 32; shift++)
        for (size_t size = 512; size <= 1024; size += 16 + shift) {
            uint8_t *bytes = page + 4096 - size;
            const uint8_t *of = keys.boundary + (shift < 24 ? 0 : 8); /* all of it, its first half, its second */
            for (size_t i = 0; i < size; i++) bytes[i] = of[(i + shift) % (shift < 16 ? 16 : 8)];
            expect_found(keys.boundary, bytes, 0, size);
            memcpy(bytes + (size - 16) / 16 * 16, keys.boundary, 16);
            expect_found(keys.boundary, bytes, 0, size);
        }
    munmap(page, 8192);
}
END_TEST

/* Frames one behind the other, some at the next block, as a file has them. */
typedef struct row {
    u9i_secret keys;
    uint8_t bytes[1 << 17];
    size_t size, count;
    size_t at[32];
} row;

static uint32_t lot(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

static row make_row(uint64_t *state)
{
    row r = {.keys = fixed_keys()};
    uint8_t sha[U9I_HASH_SIZE];
    uint64_t previous = 32;
    while (r.count < 32) {
        size_t body = lot(state, lot(state, 8) == 0 ? 20000 : 600), at = r.size;
        if (lot(state, 3) == 0) at += -at & 4095;
        if (at + u9i_frame_size(body) > sizeof r.bytes) break;
        u9i_trailer t = {.offset = FORGE_PLACE + at, .previous = previous};
        for (size_t i = 0; i < body; i++) r.bytes[at + 64 + i] = (uint8_t)lot(state, 256);
        ck_assert_int_eq(u9i_frame_seal(&r.keys, &t, r.bytes + at, body, sha), U9_OK);
        previous = t.offset;
        r.at[r.count++] = at;
        r.size = at + u9i_frame_size(body);
    }
    return r;
}

/* What becomes of the frame at `at`, with `avail` bytes there from it on. */
static u9_reason verify_in(const row *r, size_t at, size_t avail, u9i_head_start *head_start)
{
    u9i_proof proof = {.head_start = head_start};
    u9i_frame out;
    uint8_t *bytes = exact_copy(r->bytes + at, avail);
    u9_err err = u9i_frame_verify(&r->keys, FORGE_PLACE + at, FORGE_PLACE + r->size, bytes, avail,
                                  &proof, &out);
    free(bytes);
    ck_assert_int_ne(err, U9_AGAIN);
    return err == U9_OK ? U9_R_NONE : proof.why;
}

/* [F-6] Payloads hashed in part with the frame before say the same, damaged or not, in any order. */
START_TEST(a_mate_changes_no_verdict)
{
    uint64_t state = 7;
    for (unsigned round = 0; round < 60; round++) {
        row r = make_row(&state);
        u9i_head_start head_start = {0};
        (void)u9i_hash_force((u9i_hash_way)(round / 4 % 4)); /* a way that is not there leaves the one before */
        for (unsigned i = 0; i < round % 4; i++) /* in header, payload or fill */
            r.bytes[lot(&state, (uint32_t)r.size)] ^= (uint8_t)(1u << lot(&state, 8));
        for (unsigned i = 0; i < 100; i++) {
            size_t k = i < r.count ? i : lot(&state, (uint32_t)r.count), left = r.size - r.at[k];
            size_t least = k + 1 < r.count ? r.at[k + 1] - r.at[k] : left;
            size_t avail = least + lot(&state, (uint32_t)(left - least) + 1);
            if (lot(&state, 2) == 0) avail = left;
            u9_reason why = verify_in(&r, r.at[k], avail, NULL);
            ck_assert_int_eq(verify_in(&r, r.at[k], avail, &head_start), why);
        }
    }
    ck_assert(u9i_hash_force(U9I_HASH_ANY));
}
END_TEST

static uint64_t blocks_of(const row *r, size_t k)
{
    return u9i_get_be(r->bytes + r->at[k] + AT_LENGTH, 8) / 64;
}

/* What was hashed of frame k with the one before is not looked at once more: its bytes may be gone by then. */
static void expect_hashed(const row *r, size_t k, const u9i_head_start *made)
{
    row changed = *r;
    u9i_head_start head_start = *made;
    changed.bytes[r->at[k] + AT_PAYLOAD] ^= 1;
    size_t left = r->size - r->at[k];
    ck_assert_int_eq(verify_in(&changed, r->at[k], left, &head_start), U9_R_NONE);
    head_start = (u9i_head_start){0};
    ck_assert_int_eq(verify_in(&changed, r->at[k], left, &head_start), U9_R_HASH);
}

/* Checks frame k, and that `mates` of those behind were hashed beside it, no further than it goes. */
static void expect_mates(const row *r, size_t k, size_t mates, u9i_head_start *head_start)
{
    ck_assert_int_eq(verify_in(r, r->at[k], r->size - r->at[k], head_start), U9_R_NONE);
    for (size_t i = 0; i < U9I_AHEAD; i++) {
        const u9i_ahead *mate = &head_start->ahead[i];
        bool made = i < mates && k + 1 + i < r->count;
        ck_assert_uint_eq(mate->offset, made ? FORGE_PLACE + r->at[k + 1 + i] : 0);
        if (!made) continue;
        uint64_t first = blocks_of(r, k), blocks = blocks_of(r, k + 1 + i);
        ck_assert_uint_eq(mate->hasher.blocks, first < blocks ? first : blocks);
        if (mate->hasher.blocks > 0) expect_hashed(r, k + 1 + i, head_start);
    }
}

/* Who reads one frame alone is not kept waiting for more than one beside it, which costs nothing. */
START_TEST(a_mate_saves_the_work)
{
    uint64_t state = 3;
    row r = make_row(&state);
    for (size_t k = 0; k + 1 < r.count; k++) {
        u9i_head_start head_start = {0};
        expect_mates(&r, k, u9i_hash_width() > 1, &head_start);
    }
}
END_TEST

START_TEST(in_a_row_as_many_mates_go_along_as_pays)
{
    uint64_t state = 3;
    row r = make_row(&state);
    for (size_t k = 1; k + 1 < r.count; k++) {
        u9i_head_start head_start = {.row = FORGE_PLACE + r.at[k] - lot(&state, 4096)};
        expect_mates(&r, k, u9i_hash_width() - 1, &head_start);
    }
}
END_TEST

static bool is_same_start(const u9i_head_start *a, const u9i_head_start *b)
{
    bool same = true;
    for (size_t i = 0; i < U9I_AHEAD; i++)
        same &= a->ahead[i].offset == b->ahead[i].offset && a->ahead[i].hasher.blocks == b->ahead[i].hasher.blocks;
    return same;
}

/* One of every few frames of one length is hashed, and those behind it to the end beside it. */
START_TEST(mates_in_a_row_are_hashed_once)
{
    row r = {.keys = fixed_keys()};
    uint8_t sha[U9I_HASH_SIZE];
    for (uint64_t previous = 32; r.count < 32; r.count++) {
        u9i_trailer t = {.offset = FORGE_PLACE + r.size, .previous = previous};
        ck_assert_int_eq(u9i_frame_seal(&r.keys, &t, r.bytes + r.size, 1000, sha), U9_OK);
        r.at[r.count] = r.size;
        previous = t.offset;
        r.size += u9i_frame_size(1000);
    }
    u9i_head_start head_start = {.row = FORGE_PLACE};
    unsigned width = u9i_hash_width();
    for (size_t k = 0; k < r.count; k++) {
        u9i_head_start before = head_start;
        ck_assert_int_eq(verify_in(&r, r.at[k], r.size - r.at[k], &head_start), U9_R_NONE);
        bool leads = k % width == 0; /* else it was hashed with one that did, and moves nothing */
        ck_assert_int_eq(is_same_start(&before, &head_start), !leads || width == 1);
    }
}
END_TEST

/* A frame that is longer when it is hashed with the one before than when its turn comes. */
START_TEST(a_mate_with_more_blocks_than_the_payload_is_dropped)
{
    uint64_t state = 5;
    row r = make_row(&state);
    for (size_t i = 0; i < U9I_AHEAD; i++) {
        u9i_head_start head_start = {0};
        head_start.ahead[i] = (u9i_ahead){FORGE_PLACE + r.at[1], {.blocks = 1 << 20}};
        ck_assert_int_eq(verify_in(&r, r.at[1], r.size - r.at[1], &head_start), U9_R_NONE);
    }
}
END_TEST

/* A frame to be sealed in which the boundary stands somewhere behind the header. */
typedef struct seam {
    u9i_secret keys;
    u9i_trailer trailer;
    size_t body_size;
    uint8_t body[256];
} seam;

static u9_err seal_seam(const seam *s, const uint8_t *body, size_t size, uint8_t frame[1024])
{
    uint8_t sha[U9I_HASH_SIZE];
    memcpy(frame + AT_PAYLOAD, body, size);
    return u9i_frame_seal(&s->keys, &s->trailer, frame, size, sha);
}

/* [F-7] A writer must not write it, and the mask cures it. */
static void expect_masked(const seam *s)
{
    uint8_t frame[1024], body[512];
    const uint8_t mask[U9I_HASH_SIZE] = {0xa5, 0x3c, 0x11, 0x77, 0x01, 0xfe, 0x80, 0x42,
                                         0x19, 0xd3, 0x6b, 0x2e, 0xc8, 0x94, 0x5f, 0xe0};
    ck_assert_int_eq(seal_seam(s, s->body, s->body_size, frame), U9_AGAIN);

    memcpy(body, s->body, s->body_size);
    size_t size = u9i_mask_wrap(body, s->body_size, mask);
    ck_assert_uint_eq(size, s->body_size + U9I_MASK_HEAD);
    ck_assert_int_eq(seal_seam(s, body, size, frame), U9_OK);

    u9i_frame out;
    u9i_proof proof = {.need = 0};
    size_t total = u9i_frame_size(size);
    ck_assert_int_eq(
        u9i_frame_verify(&s->keys, FORGE_PLACE, FORGE_PLACE + total, frame, total, &proof, &out),
        U9_OK);
    ck_assert_uint_eq(out.body_size, size);
    for (size_t i = 0; i < s->body_size; i++)
        ck_assert_int_eq(out.body[U9I_MASK_HEAD + i] ^ mask[i % 16], s->body[i]);
}

static seam make_seam(u9i_secret keys, size_t body_size)
{
    seam s = {.keys = keys, .body_size = body_size};
    s.trailer = (u9i_trailer){.count = 1, .offset = FORGE_PLACE, .previous = 32};
    return s;
}

/* {F50} [F-7] */
START_TEST(a_body_that_is_all_boundaries_is_masked)
{
    for (size_t n = 1; n <= 12; n++) {
        seam s = make_seam(fixed_keys(), 16 * n);
        for (size_t i = 0; i < n; i++) memcpy(s.body + 16 * i, s.keys.boundary, 16);
        expect_masked(&s);
    }
}
END_TEST

/* {F53} [F-7] */
START_TEST(one_boundary_at_any_aligned_place_of_a_body_is_masked)
{
    for (size_t at = 0; at + 16 <= 160; at++) {
        seam s = make_seam(fixed_keys(), 160);
        uint8_t frame[1024];
        memcpy(s.body + at, s.keys.boundary, 16);
        if (at % 16 == 0) expect_masked(&s);
        else ck_assert_int_eq(seal_seam(&s, s.body, s.body_size, frame), U9_OK);
    }
}
END_TEST

/* {F50} [F-7] The boundary ends in the trailer's first bytes, `40` or `40 4d`. */
START_TEST(a_boundary_across_body_and_trailer_is_masked)
{
    static const uint8_t head[2] = {0x40, 0x4d};
    for (size_t n = 1; n <= 2; n++) {
        seam s = make_seam(keys_ending_in(head, n), 64 - n);
        memcpy(s.body + 48, s.keys.boundary, 16 - n);
        expect_masked(&s);
        s.body[48] ^= 1; /* and without its first byte it is none */
        uint8_t frame[1024];
        ck_assert_int_eq(seal_seam(&s, s.body, s.body_size, frame), U9_OK);
    }
}
END_TEST

/*
 * {F50} [F-7] That is seen before the frame has its place: no time that it may get changes the trailer's first bytes, so a
 * writer that only saw it then would try in vain.
 */
START_TEST(a_boundary_across_body_and_trailer_is_seen_before_there_is_a_trailer)
{
    static const uint8_t head[2] = {0x40, 0x4d};
    for (size_t n = 1; n <= 2; n++) {
        seam s = make_seam(keys_ending_in(head, n), 64 - n);
        uint8_t frame[1024];
        memcpy(s.body + 48, s.keys.boundary, 16 - n);
        memcpy(frame + AT_PAYLOAD, s.body, s.body_size);
        ck_assert(!u9i_frame_is_clear(&s.keys, 0, frame, s.body_size));
        frame[AT_PAYLOAD + 48] ^= 1;
        ck_assert(u9i_frame_is_clear(&s.keys, 0, frame, s.body_size));
    }
}
END_TEST

/* [F-7] The chain, the trailer's last bytes, begins the boundary, the padding's zeros end it. */
START_TEST(a_boundary_across_trailer_and_padding_is_masked)
{
    static const uint8_t zeros[2] = {0, 0};
    for (size_t n = 1; n <= 2; n++) {
        seam s = make_seam(keys_ending_in(zeros, n), 32 - n);
        ck_assert_uint_eq(u9i_padding(s.body_size + 80), n);
        memcpy(s.trailer.chain + n, s.keys.boundary, 16 - n);
        expect_masked(&s);
        s.trailer.chain[n] ^= 1;
        uint8_t frame[1024];
        ck_assert_int_eq(seal_seam(&s, s.body, s.body_size, frame), U9_OK);
    }
}
END_TEST

/* [F-7] Masking moves the trailer by 9 bytes. */
START_TEST(a_chain_that_is_the_boundary_is_masked)
{
    seam s = make_seam(fixed_keys(), 0);
    memcpy(s.trailer.chain, s.keys.boundary, 16);
    expect_masked(&s);
}
END_TEST

/* [F-7] Once in 2^128 frames. */
START_TEST(a_hash_or_signature_that_is_the_boundary_is_masked)
{
    seam s = make_seam(fixed_keys(), 16);
    uint8_t frame[1024] = {0}, sha[U9I_HASH_SIZE];
    memset(stand_in_hash_is, 0x11, 16);
    memset(stand_in_sign_is, 0x22, 16);
    ck_assert_int_eq(stand_in_frame_seal(&s.keys, &s.trailer, frame, 16, sha), U9_OK);
    memcpy(stand_in_hash_is, s.keys.boundary, 16);
    ck_assert_int_eq(stand_in_frame_seal(&s.keys, &s.trailer, frame, 16, sha), U9_AGAIN);
    memset(stand_in_hash_is, 0x11, 16);
    memcpy(stand_in_sign_is, s.keys.boundary, 16);
    ck_assert_int_eq(stand_in_frame_seal(&s.keys, &s.trailer, frame, 16, sha), U9_AGAIN);
}
END_TEST

/* [F-6] b c f, [F-5]. Forged: each byte of the header. */
START_TEST(a_header_is_whole_if_boundary_hashes_magic_and_length_can_be_believed)
{
    forged f;
    make_frame(&f, letters, LETTERS);
    uint64_t length = 0;
    ck_assert(u9i_frame_header_whole(&f.keys, f.bytes, 64, &length));
    ck_assert_uint_eq(length, LETTERS + 80);
    for (size_t at = 0; at < AT_LENGTH; at++) {
        flip_byte(&f, at);
        length = 5;
        ck_assert(!u9i_frame_header_whole(&f.keys, f.bytes, 64, &length));
        ck_assert_uint_eq(length, 5);
        flip_byte(&f, at);
    }
    flip_byte(&f, AT_PAYLOAD); /* the payload may be torn */
    ck_assert(u9i_frame_header_whole(&f.keys, f.bytes, f.size, &length));
}
END_TEST

/* [F-5] Forged: the length. */
START_TEST(a_header_with_a_length_out_of_range_is_not_whole)
{
    forged f;
    uint64_t length;
    make_frame(&f, letters, LETTERS);
    forge_length(&f, 79);
    ck_assert(!u9i_frame_header_whole(&f.keys, f.bytes, 64, &length));
    forge_length(&f, 80);
    ck_assert(u9i_frame_header_whole(&f.keys, f.bytes, 64, &length));
    forge_length(&f, (1 << 24) + 121);
    ck_assert(u9i_frame_header_whole(&f.keys, f.bytes, 64, &length));
    forge_length(&f, (1 << 24) + 122);
    ck_assert(!u9i_frame_header_whole(&f.keys, f.bytes, 64, &length));
    forge_length(&f, UINT64_MAX);
    ck_assert(!u9i_frame_header_whole(&f.keys, f.bytes, 64, &length));
}
END_TEST

START_TEST(a_header_that_is_cut_off_is_not_whole)
{
    forged f;
    uint64_t length;
    make_frame(&f, letters, LETTERS);
    for (size_t avail = 0; avail < 64; avail++) {
        uint8_t *bytes = exact_copy(f.bytes, avail);
        ck_assert(!u9i_frame_header_whole(&f.keys, bytes, avail, &length));
        free(bytes);
    }
}
END_TEST

/* The verdict on a frame that was found valid, by its two ends. */
static u9_err verdict_by_ends(const forged *f, u9i_frame *out)
{
    uint64_t total;
    u9_err err = u9i_frame_verify_ends(&f->keys, f->p, f->bound, f->bytes, NULL, &total, out);
    if (err != U9_AGAIN) return err;
    ck_assert_uint_eq(total, f->size);
    uint8_t *head = exact_copy(f->bytes, U9I_FRAME_HEADER_SIZE);
    uint8_t *tail = exact_copy(f->bytes + f->size - U9I_FRAME_TAIL, U9I_FRAME_TAIL);
    err = u9i_frame_verify_ends(&f->keys, f->p, f->bound, head, tail, &total, out);
    free(head);
    free(tail);
    return err;
}

/* [F-6] */
START_TEST(a_frame_that_was_found_valid_says_the_same_by_its_two_ends)
{
    for (size_t size = 0; size <= LETTERS; size++) {
        forged f;
        u9i_frame whole, ends;
        make_frame(&f, letters, size);
        ck_assert_int_eq(verdict_on(&f, &whole), U9_R_NONE);
        ck_assert_int_eq(verdict_by_ends(&f, &ends), U9_OK);
        ck_assert_uint_eq(ends.offset, whole.offset);
        ck_assert_uint_eq(ends.end, whole.end);
        ck_assert_mem_eq(ends.sha, whole.sha, U9I_HASH_SIZE);
        ck_assert(same_trailer(&ends.trailer, &whole.trailer));
        ck_assert_uint_eq(ends.body_size, size);
        ck_assert_ptr_null(ends.body);
        ck_assert(ends.padding_ok);
        for (size_t at = f.size - u9i_padding(size + U9I_TRAILER_SIZE); at < f.size; at++) {
            flip_byte(&f, at);
            ck_assert_int_eq(verdict_by_ends(&f, &ends), U9_OK);
            ck_assert(!ends.padding_ok);
            flip_byte(&f, at);
        }
    }
}
END_TEST

/* [F-6] b c d g. Forged: each byte of header and trailer that is fixed, the length, the place, the file's end. */
START_TEST(a_frame_whose_ends_are_not_what_they_were_is_refused)
{
    forged f;
    u9i_frame out = {.offset = 5};
    make_frame(&f, letters, LETTERS);
    for (size_t at = 0; at < AT_LENGTH; at++) {
        if (at >= AT_SHA && at < AT_MAGIC) continue; /* believed */
        flip_byte(&f, at);
        ck_assert_int_eq(verdict_by_ends(&f, &out), U9_CORRUPT);
        flip_byte(&f, at);
    }
    for (size_t at = 0; at < U9I_TRAILER_SIZE; at++) {
        if (!is_fixed(at)) continue;
        flip_byte(&f, in_trailer(&f, at));
        ck_assert_int_eq(verdict_by_ends(&f, &out), U9_CORRUPT);
        flip_byte(&f, in_trailer(&f, at));
    }
    f.p += 8;
    ck_assert_int_eq(verdict_by_ends(&f, &out), U9_CORRUPT);
    f.p = 16;
    ck_assert_int_eq(verdict_by_ends(&f, &out), U9_CORRUPT);
    f.p = f.bound + 16;
    ck_assert_int_eq(verdict_by_ends(&f, &out), U9_CORRUPT);
    f.p = FORGE_PLACE + 16; /* that of another place */
    f.bound += 16;
    ck_assert_int_eq(verdict_by_ends(&f, &out), U9_CORRUPT);
    f.p = FORGE_PLACE;
    f.bound -= 17;
    ck_assert_int_eq(verdict_by_ends(&f, &out), U9_CORRUPT);
    f.bound++;
    ck_assert_int_eq(verdict_by_ends(&f, &out), U9_OK);
    forge_length(&f, U9I_TRAILER_SIZE - 1);
    ck_assert_int_eq(verdict_by_ends(&f, &out), U9_CORRUPT);
}
END_TEST

/* [F-9] */
START_TEST(a_frame_follows_if_previous_ordinal_and_chain_fit)
{
    u9i_frame before = {.offset = 4096, .trailer = {.ordinal = 5, .count = 3}};
    u9i_frame next = {.offset = 8192, .trailer = {.ordinal = 8, .previous = 4096}};
    memset(before.sha, 0xab, sizeof before.sha);
    memset(next.trailer.chain, 0xab, sizeof before.sha);
    ck_assert(u9i_frame_follows(&before, &next));

    u9i_frame other = next;
    other.trailer.previous = 4096 - 16;
    ck_assert(!u9i_frame_follows(&before, &other));
    other = next;
    other.trailer.ordinal = 7;
    ck_assert(!u9i_frame_follows(&before, &other));
    other.trailer.ordinal = 9;
    ck_assert(!u9i_frame_follows(&before, &other));
    for (unsigned i = 0; i < U9I_HASH_SIZE; i++) {
        other = next;
        other.trailer.chain[i] ^= 1;
        ck_assert(!u9i_frame_follows(&before, &other));
    }
}
END_TEST

/* {F61} [F-9] The largest count does not wrap at 32 bits. */
START_TEST(ordinals_are_added_in_64_bits)
{
    u9i_frame before = {.offset = 4096, .trailer = {.ordinal = UINT32_MAX, .count = UINT32_MAX}};
    u9i_frame next = {.trailer = {.ordinal = UINT64_C(0x1fffffffe), .previous = 4096}};
    ck_assert(u9i_frame_follows(&before, &next));
    next.trailer.ordinal = 0xfffffffe;
    ck_assert(!u9i_frame_follows(&before, &next));
}
END_TEST

static TCase *layout_case(void)
{
    TCase *t = tcase_create("layout");
    tcase_add_test(t, a_trailer_has_the_bytes_of_the_table);
    tcase_add_test(t, a_trailer_is_decoded_to_what_was_encoded);
    tcase_add_test(t, a_trailer_with_another_bytecode_is_refused);
    tcase_add_test(t, every_other_byte_of_a_trailer_is_content);
    tcase_add_test(t, a_frame_has_the_bytes_of_the_table);
    tcase_add_test(t, a_sealed_frame_is_valid_and_tells_what_was_sealed);
    tcase_add_test(t, padding_is_zero_bytes_up_to_the_next_multiple_of_16);
    tcase_add_test(t, padding_that_is_not_zero_is_told_and_does_not_make_a_frame_invalid);
    tcase_add_test(t, a_reader_that_knows_only_values_can_walk_a_payload);
    return t;
}

static TCase *clause_case(void)
{
    TCase *t = tcase_create("valid frame");
    tcase_add_test(t, a_frame_at_a_place_that_16_does_not_divide_is_refused);
    tcase_add_test(t, a_frame_within_the_disk_header_is_refused);
    tcase_add_test(t, a_place_behind_the_end_of_the_file_is_refused);
    tcase_add_test(t, a_wrong_boundary_byte_is_refused);
    tcase_add_test(t, a_wrong_magic_byte_is_refused);
    tcase_add_test(t, a_length_that_no_trailer_fits_in_is_refused);
    tcase_add_test(t, records_whose_ordinals_would_run_out_are_refused);
    tcase_add_test(t, a_length_beyond_the_cap_is_refused);
    tcase_add_test(t, a_length_at_the_cap_is_valid);
    tcase_add_test(t, a_frame_that_passes_the_end_of_the_file_is_refused);
    tcase_add_test(t, another_boundary_before_the_end_is_refused);
    tcase_add_test(t, a_boundary_that_is_not_aligned_is_no_boundary);
    tcase_add_test(t, a_boundary_where_the_frame_ends_is_the_next_frames);
    tcase_add_test(t, a_wrong_signature_byte_is_refused);
    tcase_add_test(t, a_hash_that_was_not_signed_is_refused);
    tcase_add_test(t, a_payload_that_does_not_end_in_a_trailer_is_refused);
    tcase_add_test(t, a_frame_that_was_made_for_another_place_is_refused);
    tcase_add_test(t, only_a_files_first_frame_has_no_previous);
    tcase_add_test(t, the_previous_frame_begins_behind_the_disk_header_and_before_this_one);
    tcase_add_test(t, a_frame_promises_nothing_behind_its_own_place);
    tcase_add_test(t, a_wrong_payload_byte_is_refused);
    tcase_add_test(t, a_signed_hash_of_other_bytes_is_refused);
    tcase_add_test(t, a_frame_broken_in_two_clauses_is_refused_for_the_first);
    tcase_add_test(t, a_frame_passing_the_end_is_refused_before_its_payload_is_looked_at);
    tcase_add_test(t, a_verdict_asks_first_for_the_header_and_never_for_more_than_the_frame);
    tcase_add_test(t, bytes_that_were_searched_are_not_searched_again);
    return t;
}

static TCase *boundary_case(void)
{
    TCase *t = tcase_create("no false boundary");
    tcase_add_test(t, a_search_finds_whole_aligned_boundaries_only);
    tcase_add_test(t, a_search_does_not_pass_its_end);
    tcase_add_test(t, a_search_of_any_length_finds_what_is_there);
    tcase_add_test(t, a_search_is_not_misled_by_halves);
    tcase_add_test(t, a_body_that_is_all_boundaries_is_masked);
    tcase_add_test(t, one_boundary_at_any_aligned_place_of_a_body_is_masked);
    tcase_add_test(t, a_boundary_across_body_and_trailer_is_masked);
    tcase_add_test(t, a_boundary_across_body_and_trailer_is_seen_before_there_is_a_trailer);
    tcase_add_test(t, a_boundary_across_trailer_and_padding_is_masked);
    tcase_add_test(t, a_chain_that_is_the_boundary_is_masked);
    tcase_add_test(t, a_hash_or_signature_that_is_the_boundary_is_masked);
    return t;
}

Suite *suite_frame(void)
{
    Suite *s = suite_create("frame");
    TCase *t = tcase_create("header and succession");
    tcase_add_test(t, a_header_is_whole_if_boundary_hashes_magic_and_length_can_be_believed);
    tcase_add_test(t, a_header_with_a_length_out_of_range_is_not_whole);
    tcase_add_test(t, a_header_that_is_cut_off_is_not_whole);
    tcase_add_test(t, a_frame_that_was_found_valid_says_the_same_by_its_two_ends);
    tcase_add_test(t, a_frame_whose_ends_are_not_what_they_were_is_refused);
    tcase_add_test(t, a_frame_follows_if_previous_ordinal_and_chain_fit);
    tcase_add_test(t, ordinals_are_added_in_64_bits);
    tcase_add_test(t, a_mate_changes_no_verdict);
    tcase_add_test(t, a_mate_saves_the_work);
    tcase_add_test(t, in_a_row_as_many_mates_go_along_as_pays);
    tcase_add_test(t, mates_in_a_row_are_hashed_once);
    tcase_add_test(t, a_mate_with_more_blocks_than_the_payload_is_dropped);
    suite_add_tcase(s, layout_case());
    suite_add_tcase(s, clause_case());
    suite_add_tcase(s, boundary_case());
    suite_add_tcase(s, t);
    return s;
}
