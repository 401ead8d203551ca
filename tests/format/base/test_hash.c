/*
 * tests/format/base/test_hash.c: H, and hashers fed in lanes, against OpenSSL and the vectors of FIPS
 * 180-4. Whatever is hashed beside a message, in however many pieces, must not show in its hash. [F-1]
 */
#include "format/base/hash.h"
#include "tests/suites.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 4, BLOCK = U9I_HASH_BLOCK };

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* `size` bytes in a heap block of exactly that size, at an odd address; free() *base. */
static uint8_t *message(size_t size, void **base)
{
    uint8_t *p = malloc(size + 1);
    ck_assert(p != NULL);
    *base = p;
    for (size_t i = 1; i <= size; i++) p[i] = (uint8_t)draw(256);
    return p + 1;
}

static void expect_hash(const uint8_t got[U9I_HASH_SIZE], const void *bytes, size_t size)
{
    uint8_t want[EVP_MAX_MD_SIZE];
    ck_assert_int_eq(EVP_Digest(bytes, size, want, NULL, EVP_sha256(), NULL), 1);
    ck_assert_mem_eq(got, want, U9I_HASH_SIZE);
}

START_TEST(the_vectors_of_the_standard_fit)
{
    static const struct {
        const char *text;
        uint8_t want[U9I_HASH_SIZE];
    } vectors[] = {
        {"", {0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f,
              0xb9, 0x24}},
        {"abc", {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae,
                 0x22, 0x23}},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         {0x24, 0x8d, 0x6a, 0x61, 0xd2, 0x06, 0x38, 0xb8, 0xe5, 0xc0, 0x26, 0x93, 0x0c, 0x3e, 0x60,
          0x39}},
    };
    uint8_t out[U9I_HASH_SIZE];
    u9i_hasher empty;
    u9i_hasher_init(&empty);
    for (unsigned i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        u9i_hash(vectors[i].text, strlen(vectors[i].text), out);
        ck_assert_mem_eq(out, vectors[i].want, sizeof out);
        u9i_hasher_finish(&empty, vectors[i].text, strlen(vectors[i].text), out);
        ck_assert_mem_eq(out, vectors[i].want, sizeof out);
    }
    static const uint8_t million[U9I_HASH_SIZE] = {0xcd, 0xc7, 0x6e, 0x5c, 0x99, 0x14, 0xfb, 0x92,
                                                   0x81, 0xa1, 0xc7, 0xe2, 0x84, 0xd7, 0x3e, 0x67};
    uint8_t *a = malloc(1000000);
    memset(a, 'a', 1000000);
    u9i_hasher one = empty, two = empty;
    u9i_lane lanes[2] = {{&one, a, 1000000 / BLOCK}, {&two, a, 1000000 / BLOCK}};
    u9i_hash_lanes(lanes, 2);
    u9i_hasher_finish(&one, a, 1000000 % BLOCK, out);
    ck_assert_mem_eq(out, million, sizeof out);
    u9i_hasher_finish(&two, a, 1000000 % BLOCK, out);
    ck_assert_mem_eq(out, million, sizeof out);
    free(a);
}
END_TEST

/* Hashes `count` messages of these sizes in lanes, and compares. */
static void hash_together(const size_t *sizes, unsigned count)
{
    u9i_hasher hashers[LANES];
    u9i_lane lanes[LANES];
    uint8_t *bytes[LANES], out[U9I_HASH_SIZE];
    void *base[LANES];
    for (unsigned i = 0; i < count; i++) {
        bytes[i] = message(sizes[i], &base[i]);
        u9i_hasher_init(&hashers[i]);
        lanes[i] = (u9i_lane){&hashers[i], bytes[i], sizes[i] / BLOCK};
    }
    u9i_hash_lanes(lanes, count);
    for (unsigned i = 0; i < count; i++) {
        size_t whole = sizes[i] / BLOCK * BLOCK;
        ck_assert_uint_eq(lanes[i].blocks, 0);
        ck_assert_uint_eq(hashers[i].blocks, sizes[i] / BLOCK);
        u9i_hasher_finish(&hashers[i], bytes[i] + whole, sizes[i] - whole, out);
        expect_hash(out, bytes[i], sizes[i]);
        u9i_hash(bytes[i], sizes[i], out);
        expect_hash(out, bytes[i], sizes[i]);
        free(base[i]);
    }
}

START_TEST(messages_of_every_length_are_hashed_beside_another)
{
    for (size_t n = 0; n <= 300; n++)
        for (unsigned count = 1; count <= LANES; count++) {
            size_t sizes[LANES] = {n, 300 - n, n / 2, 2 * n};
            hash_together(sizes, count);
        }
}
END_TEST

START_TEST(messages_of_any_lengths_are_hashed_together)
{
    for (size_t a = 0; a < 12; a++)
        for (size_t b = 0; b < 12; b++) hash_together((size_t[]){a * BLOCK, b * BLOCK}, 2);
    for (unsigned i = 0; i < 400; i++) {
        size_t sizes[LANES];
        for (unsigned k = 0; k < LANES; k++) sizes[k] = draw(draw(4) == 0 ? 20000 : 400);
        hash_together(sizes, 1 + draw(LANES));
    }
}
END_TEST

/* Each message goes in piece by piece, every piece beside others. */
START_TEST(a_message_may_come_in_pieces)
{
    for (unsigned round = 0; round < 100; round++) {
        size_t sizes[LANES], done[LANES] = {0};
        uint8_t *bytes[LANES], out[U9I_HASH_SIZE];
        void *base[LANES];
        u9i_hasher hashers[LANES];
        for (unsigned i = 0; i < LANES; i++) {
            sizes[i] = draw(5000);
            bytes[i] = message(sizes[i], &base[i]);
            u9i_hasher_init(&hashers[i]);
        }
        for (unsigned turn = 0; turn < 10; turn++) {
            u9i_lane lanes[LANES];
            unsigned count = 0;
            for (unsigned i = 0; i < LANES; i++) {
                size_t left = (sizes[i] - done[i]) / BLOCK, some = draw((uint32_t)left + 1);
                if (draw(3) == 0) continue;
                lanes[count++] = (u9i_lane){&hashers[i], bytes[i] + done[i], some};
                done[i] += some * BLOCK;
            }
            u9i_hash_lanes(lanes, count);
        }
        for (unsigned i = 0; i < LANES; i++) {
            u9i_hasher_finish(&hashers[i], bytes[i] + done[i], sizes[i] - done[i], out);
            expect_hash(out, bytes[i], sizes[i]);
            free(base[i]);
        }
    }
}
END_TEST

/* Beyond 2^32 bits, where the count of bits takes a second word. */
START_TEST(a_message_may_be_larger_than_half_a_gigabyte)
{
    enum { PIECE = 1 << 20, PIECES = 513 };
    uint8_t *bytes = malloc(PIECE), out[U9I_HASH_SIZE], want[EVP_MAX_MD_SIZE];
    u9i_hasher one, two;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    u9i_hasher_init(&one);
    u9i_hasher_init(&two);
    ck_assert_int_eq(EVP_DigestInit_ex(ctx, EVP_sha256(), NULL), 1);
    for (size_t i = 0; i < PIECE; i++) bytes[i] = (uint8_t)draw(256);
    for (unsigned i = 0; i < PIECES; i++) {
        u9i_lane lanes[2] = {{&one, bytes, PIECE / BLOCK}, {&two, bytes, PIECE / BLOCK - 1}};
        u9i_hash_lanes(lanes, 2);
        ck_assert_int_eq(EVP_DigestUpdate(ctx, bytes, PIECE), 1);
    }
    ck_assert_int_eq(EVP_DigestFinal_ex(ctx, want, NULL), 1);
    u9i_hasher_finish(&one, NULL, 0, out);
    ck_assert_mem_eq(out, want, sizeof out);
    EVP_MD_CTX_free(ctx);
    free(bytes);
}
END_TEST

Suite *suite_hash(void)
{
    Suite *s = suite_create("hash");
    TCase *t = tcase_create("hash");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, the_vectors_of_the_standard_fit);
    tcase_add_test(t, messages_of_every_length_are_hashed_beside_another);
    tcase_add_test(t, messages_of_any_lengths_are_hashed_together);
    tcase_add_test(t, a_message_may_come_in_pieces);
    tcase_add_test(t, a_message_may_be_larger_than_half_a_gigabyte);
    suite_add_tcase(s, t);
    return s;
}
