/*
 * tests/format/frame/test_disk.c: the disk header, and the secret that everything hangs from.
 */
#include "format/frame/disk.h"
#include "tests/format/frame/forge.h"
#include "tests/format/stand_in.h"
#include "tests/suites.h"

#include <stdlib.h>

static void make_header(uint8_t header[U9I_DISK_HEADER_SIZE])
{
    u9i_secret keys = fixed_keys();
    u9i_disk_encode(&keys, header);
}

static u9_err decode(const uint8_t header[U9I_DISK_HEADER_SIZE], u9i_secret *keys)
{
    uint8_t *copy = exact_copy(header, U9I_DISK_HEADER_SIZE);
    u9_err err = u9i_disk_decode(copy, keys);
    free(copy);
    return err;
}

/* A damaged header still yields the secret as it stands and the boundary that goes with it. */
static void expect_keys_of(const u9i_secret *keys, const uint8_t header[U9I_DISK_HEADER_SIZE])
{
    uint8_t boundary[U9I_HASH_SIZE];
    u9i_hash(header + 8, U9I_SECRET_SIZE, boundary);
    ck_assert_mem_eq(keys->bytes, header + 8, U9I_SECRET_SIZE);
    ck_assert_mem_eq(keys->boundary, boundary, U9I_HASH_SIZE);
}

/* [H-1] */
START_TEST(a_header_is_magic_secret_and_zero)
{
    static const uint8_t want[U9I_DISK_HEADER_SIZE] = {
        0xff, 0xff, 0x75, 0x74, 0x66, 0x39, 0x00, 0x01, 0, 1, 2, 3, 4, 5, 6, 7,
        8,    9,    10,   11,   12,   13,   14,   15,   0, 0, 0, 0, 0, 0, 0, 0};
    uint8_t header[U9I_DISK_HEADER_SIZE];
    make_header(header);
    ck_assert_mem_eq(header, want, sizeof want);
}
END_TEST

/* [H-1] [H-2] */
START_TEST(a_header_is_decoded_to_the_keys_that_made_it)
{
    uint8_t header[U9I_DISK_HEADER_SIZE];
    u9i_secret keys = {.bytes = {0}}, want = fixed_keys();
    make_header(header);
    ck_assert_int_eq(decode(header, &keys), U9_OK);
    ck_assert_mem_eq(&keys, &want, sizeof want);
}
END_TEST

/* [H-2] The numbers are those of coreutils' sha256sum. */
START_TEST(the_boundary_is_the_first_half_of_the_secrets_sha256)
{
    static const uint8_t want[U9I_HASH_SIZE] = {0xbe, 0x45, 0xcb, 0x26, 0x05, 0xbf, 0x36, 0xbe,
                                                0xbd, 0xe6, 0x84, 0x84, 0x1a, 0x28, 0xf0, 0xfd};
    u9i_secret keys = fixed_keys();
    ck_assert_mem_eq(keys.boundary, want, sizeof want);
}
END_TEST

/* [F-1] */
START_TEST(a_signature_is_the_hash_of_hash_and_secret_mixed)
{
    uint8_t mixed[U9I_HASH_SIZE], sha[U9I_HASH_SIZE], want[U9I_HASH_SIZE], sign[U9I_HASH_SIZE];
    u9i_secret keys = fixed_keys();
    u9i_hash("payload", 7, sha);
    for (unsigned i = 0; i < U9I_HASH_SIZE; i++) mixed[i] = sha[i] ^ keys.bytes[i];
    u9i_hash(mixed, sizeof mixed, want);
    u9i_sign(sha, keys.bytes, sign);
    ck_assert_mem_eq(sign, want, sizeof want);
}
END_TEST

/* [H-3] */
START_TEST(a_secret_with_a_zero_boundary_is_drawn_again)
{
    u9i_secret keys;
    const uint8_t secret[U9I_SECRET_SIZE] = {1};
    memset(stand_in_hash_is, 0, U9I_HASH_SIZE);
    ck_assert(!stand_in_keys_init(&keys, secret));
    for (unsigned i = 0; i < U9I_HASH_SIZE; i++) {
        memset(stand_in_hash_is, 0, U9I_HASH_SIZE);
        stand_in_hash_is[i] = 1;
        ck_assert(stand_in_keys_init(&keys, secret));
    }
}
END_TEST

static void expect_drawn_again(const uint8_t magic[8])
{
    u9i_secret keys;
    const uint8_t secret[U9I_SECRET_SIZE] = {1};
    memset(stand_in_hash_is, 0x55, U9I_HASH_SIZE);
    memcpy(stand_in_hash_is, magic, 8);
    ck_assert(!stand_in_keys_init(&keys, secret));
    for (unsigned i = 0; i < 8; i++) {
        stand_in_hash_is[i] ^= 0x10;
        ck_assert(stand_in_keys_init(&keys, secret));
        stand_in_hash_is[i] ^= 0x10;
    }
}

/* [H-3] */
START_TEST(a_secret_whose_boundary_begins_with_a_magic_is_drawn_again)
{
    expect_drawn_again(u9i_disk_magic);
    expect_drawn_again(u9i_frame_magic);
}
END_TEST

/* [H-4] */
START_TEST(another_last_magic_byte_is_another_version)
{
    for (unsigned version = 0; version <= 0xff; version++) {
        uint8_t header[U9I_DISK_HEADER_SIZE];
        u9i_secret keys;
        make_header(header);
        header[7] = (uint8_t)version;
        ck_assert_int_eq(decode(header, &keys), version == 1 ? U9_OK : U9_VERSION);
        expect_keys_of(&keys, header);
    }
}
END_TEST

/* [H-4] Forged: bytes 0 to 6. */
START_TEST(any_other_wrong_magic_byte_is_damage)
{
    for (unsigned at = 0; at < 7; at++) {
        uint8_t header[U9I_DISK_HEADER_SIZE];
        u9i_secret keys;
        make_header(header);
        header[at] ^= 1;
        ck_assert_int_eq(decode(header, &keys), U9_CORRUPT);
        expect_keys_of(&keys, header);
        header[7] = 2; /* a second difference: not just another version */
        ck_assert_int_eq(decode(header, &keys), U9_CORRUPT);
    }
}
END_TEST

/* [H-4] Forged: bytes 24 to 31. */
START_TEST(zero_bytes_that_are_not_zero_are_damage)
{
    for (unsigned at = 24; at < U9I_DISK_HEADER_SIZE; at++) {
        uint8_t header[U9I_DISK_HEADER_SIZE];
        u9i_secret keys;
        make_header(header);
        header[at] = 0x80;
        ck_assert_int_eq(decode(header, &keys), U9_CORRUPT);
        expect_keys_of(&keys, header);
    }
}
END_TEST

/* [H-4] Forged: bytes 8 to 23. Nothing tells a wrong secret here: no frame will fit it. */
START_TEST(a_wrong_secret_byte_gives_another_boundary)
{
    u9i_secret right = fixed_keys();
    for (unsigned at = 8; at < 24; at++) {
        uint8_t header[U9I_DISK_HEADER_SIZE];
        u9i_secret keys;
        make_header(header);
        header[at] ^= 0x40;
        ck_assert_int_eq(decode(header, &keys), U9_OK);
        expect_keys_of(&keys, header);
        ck_assert_mem_ne(keys.boundary, right.boundary, U9I_HASH_SIZE);
    }
}
END_TEST

Suite *suite_disk(void)
{
    Suite *s = suite_create("disk");
    TCase *t = tcase_create("header");
    tcase_add_test(t, a_header_is_magic_secret_and_zero);
    tcase_add_test(t, a_header_is_decoded_to_the_keys_that_made_it);
    tcase_add_test(t, the_boundary_is_the_first_half_of_the_secrets_sha256);
    tcase_add_test(t, a_signature_is_the_hash_of_hash_and_secret_mixed);
    tcase_add_test(t, a_secret_with_a_zero_boundary_is_drawn_again);
    tcase_add_test(t, a_secret_whose_boundary_begins_with_a_magic_is_drawn_again);
    tcase_add_test(t, another_last_magic_byte_is_another_version);
    tcase_add_test(t, any_other_wrong_magic_byte_is_damage);
    tcase_add_test(t, zero_bytes_that_are_not_zero_are_damage);
    tcase_add_test(t, a_wrong_secret_byte_gives_another_boundary);
    suite_add_tcase(s, t);
    return s;
}
