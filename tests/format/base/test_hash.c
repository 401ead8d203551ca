/*
 * tests/format/base/test_hash.c: H, and hashers fed in lanes, against OpenSSL and the vectors of FIPS 180-4 and
 * of NIST's CAVP (SHA256ShortMsg), on every way that this processor has. Whatever is hashed beside a message, in
 * however many pieces, must not show in its hash. [F-1]
 */
#include "format/base/hash.h"
#include "tests/format/base/hex.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

enum { LANES = 6, BLOCK = U9I_HASH_BLOCK, MOST = 16 << 20 };

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* Each test runs once for every way; false: there is no such way here. */
static bool go(int way)
{
    state = 1;
    return u9i_hash_force((u9i_hash_way)way);
}

static void go_back(void)
{
    ck_assert(u9i_hash_force(U9I_HASH_ANY));
}

/* `size` random bytes in a heap block of exactly that size, `offset` bytes behind a multiple of 64; free() *base. */
static uint8_t *message(size_t size, size_t offset, void **base)
{
    uint8_t *p = NULL;
    ck_assert_int_eq(posix_memalign(base, BLOCK, offset + size + 1), 0);
    p = (uint8_t *)*base + offset;
    for (size_t i = 0; i < size; i++)
        p[i] = (uint8_t)(i % 512 < 64 || size < 10000 ? draw(256) : p[i - 64] + i);
    return p;
}

static void expect_hash(const uint8_t got[U9I_HASH_SIZE], const void *bytes, size_t size)
{
    uint8_t want[EVP_MAX_MD_SIZE];
    ck_assert_int_eq(EVP_Digest(bytes, size, want, NULL, EVP_sha256(), NULL), 1);
    ck_assert_mem_eq(got, want, U9I_HASH_SIZE);
}

typedef struct messages {
    unsigned count;
    size_t sizes[LANES], offsets[LANES];
} messages;

/* Hashes these messages in lanes, with hashers that were opened or not, and each by itself; and compares. */
static void hash_together(const messages *m, bool open)
{
    u9i_hasher hashers[LANES] = {{.blocks = 0}};
    u9i_lane lanes[LANES];
    uint8_t *bytes[LANES], out[U9I_HASH_SIZE];
    void *base[LANES];
    for (unsigned i = 0; i < m->count; i++) {
        bytes[i] = message(m->sizes[i], m->offsets[i], &base[i]);
        if (open) ck_assert(u9i_hasher_open(&hashers[i]));
        u9i_hasher_init(&hashers[i]);
        lanes[i] = (u9i_lane){&hashers[i], bytes[i], m->sizes[i] / BLOCK};
    }
    u9i_hash_lanes(lanes, m->count);
    for (unsigned i = 0; i < m->count; i++) {
        size_t whole = m->sizes[i] / BLOCK * BLOCK;
        ck_assert_uint_eq(lanes[i].blocks, 0);
        ck_assert_uint_eq(hashers[i].blocks, m->sizes[i] / BLOCK);
        u9i_hasher_finish(&hashers[i], bytes[i] + whole, m->sizes[i] - whole, out);
        u9i_hasher_close(&hashers[i]);
        expect_hash(out, bytes[i], m->sizes[i]);
        u9i_hash(bytes[i], m->sizes[i], out);
        expect_hash(out, bytes[i], m->sizes[i]);
        free(base[i]);
    }
}

typedef struct vector {
    const char *message, *want; /* hex */
} vector;

static const vector cavp[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb924"},
    {"d3", "28969cdfa74a12c82f3bad960b0b000a"},
    {"11af", "5ca7133fa735326081558ac312c620ee"},
    {"b4190e", "dff2e73091f6c05e528896c4c831b944"},
    {"74ba2521", "b16aa56be3880d18cd41e68384cf1ec8"},
    {"c299209682", "f0887fe961c9cd3beab957e8222494ab"},
    {"e1dc724d5621", "eca0a060b489636225b4fa64d267dabb"},
    {"06e076f5a442d5", "3fd877e27450e6bbd5d74bb82f9870c6"},
    {"5738c929c4f4ccb6", "963bb88f27f512777aab6c8b1a02c70e"},
    {"5a86b737eaea8ee976a0a24da63e7ed7eefad18a101c1211e2b3650c5187c2a8"
     "a650547208251f6d4237e661c7bf4c77f335390394c37fa1a9f9be836ac28509",
     "42e61e174fbb3897d6dd6cef3dd2802f"},
};

static void expect_vector(const void *bytes, size_t size, const char *hex)
{
    uint8_t want[U9I_HASH_SIZE], out[U9I_HASH_SIZE];
    u9i_hasher all = {.blocks = 0}, none = all;
    ck_assert_uint_eq(unhex(hex, want), sizeof want);
    u9i_hash(bytes, size, out);
    ck_assert_mem_eq(out, want, sizeof out);
    u9i_hasher_init(&none);
    u9i_hasher_finish(&none, bytes, size, out);
    ck_assert_mem_eq(out, want, sizeof out);
    ck_assert(u9i_hasher_open(&all));
    u9i_hasher_init(&all);
    u9i_hash_lanes(&(u9i_lane){&all, bytes, size / BLOCK}, 1);
    u9i_hasher_finish(&all, (const uint8_t *)bytes + size / BLOCK * BLOCK, size % BLOCK, out);
    u9i_hasher_close(&all);
    ck_assert_mem_eq(out, want, sizeof out);
}

START_TEST(the_vectors_of_the_standard_fit)
{
    if (!go(_i)) return;
    for (unsigned i = 0; i < sizeof cavp / sizeof cavp[0]; i++) {
        uint8_t bytes[BLOCK];
        expect_vector(bytes, unhex(cavp[i].message, bytes), cavp[i].want);
    }
    static char million[1000000];
    memset(million, 'a', sizeof million);
    expect_vector(TEXT("abc"), "ba7816bf8f01cfea414140de5dae2223");
    expect_vector(TEXT("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                  "248d6a61d20638b8e5c026930c3e6039");
    expect_vector(TEXT("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                       "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
                  "cf5b16a778af8380036ce59e7b049237");
    expect_vector(million, sizeof million, "cdc76e5c9914fb9281a1c7e284d73e67");
    uint8_t out[U9I_HASH_SIZE], want[U9I_HASH_SIZE];
    u9i_hash(NULL, 0, out);
    ck_assert_uint_eq(unhex(cavp[0].want, want), sizeof want);
    ck_assert_mem_eq(out, want, sizeof out);
}
END_TEST

START_TEST(messages_of_every_length_are_hashed_beside_others)
{
    if (!go(_i)) return;
    for (size_t n = 0; n <= 4096; n += n < 300 ? 1 : thorough(7, 1)) {
        messages m = {1 + (unsigned)(n / 64 + n) % LANES,
                      {n, 4096 - n, n / 2, n + 64, 300, n},
                      {n % 64, 1, 2, 3}};
        hash_together(&m, n % 2);
    }
}
END_TEST

START_TEST(messages_at_every_alignment_are_hashed)
{
    if (!go(_i)) return;
    for (size_t offset = 0; offset < 64; offset++)
        for (size_t size = 0; size <= 1024; size += size < 130 ? 1 : 447) {
            messages m = {4, {size, size, size, size}, {offset, 63 - offset, offset / 2, offset}};
            hash_together(&m, offset % 2);
        }
}
END_TEST

/* None to all of the lanes are empty, equal, or longer than others, wherever they stand. */
START_TEST(uneven_lanes_are_hashed_in_all_combinations)
{
    static const size_t blocks[] = {0, 1, 2, 5};
    if (!go(_i)) return;
    for (unsigned count = 0; count <= LANES; count++)
        for (unsigned k = 0; k < 1u << 2 * count; k++) {
            messages m = {.count = count};
            for (unsigned i = 0; i < count; i++) m.sizes[i] = blocks[k >> 2 * i & 3] * BLOCK;
            hash_together(&m, k % 2);
        }
}
END_TEST

START_TEST(messages_of_any_lengths_are_hashed_together)
{
    if (!go(_i)) return;
    for (unsigned i = 0; i < thorough(130, 400); i++) {
        messages m = {.count = 1 + draw(LANES)};
        for (unsigned k = 0; k < m.count; k++) {
            m.sizes[k] = draw(draw(4) == 0 ? 70000 : 400);
            m.offsets[k] = draw(64);
        }
        hash_together(&m, draw(2));
    }
    messages large = {2, {MOST, MOST - 1 - draw(MOST)}, {0, 7}};
    hash_together(&large, true);
    large = (messages){3, {draw(MOST), draw(MOST / 2), draw(MOST / 4)}, {0, 7, 16}};
    hash_together(&large, false);
}
END_TEST

/* Messages that go in piece by piece, every piece beside others. */
typedef struct pieces {
    u9i_hasher hashers[LANES];
    size_t sizes[LANES], done[LANES];
    uint8_t *bytes[LANES];
    void *base[LANES];
} pieces;

/* One more piece of some of them. */
static void hash_pieces(pieces *p)
{
    u9i_lane lanes[LANES];
    unsigned count = 0;
    for (unsigned i = 0; i < LANES; i++) {
        size_t left = (p->sizes[i] - p->done[i]) / BLOCK, some = draw((uint32_t)left + 1);
        if (draw(3) == 0) continue;
        lanes[count++] = (u9i_lane){&p->hashers[i], p->bytes[i] + p->done[i], some};
        p->done[i] += some * BLOCK;
    }
    u9i_hash_lanes(lanes, count);
}

/* The hashers are begun anew for each message, in the middle of one, too. */
START_TEST(a_message_may_come_in_pieces)
{
    static pieces p;
    if (!go(_i)) return;
    for (unsigned i = 0; i < LANES; i += 2) ck_assert(u9i_hasher_open(&p.hashers[i]));
    for (unsigned round = 0; round < 100; round++) {
        for (unsigned i = 0; i < LANES; i++) {
            p.sizes[i] = draw(5000);
            p.done[i] = 0;
            p.bytes[i] = message(p.sizes[i], 1, &p.base[i]);
            u9i_hasher_init(&p.hashers[i]);
        }
        for (unsigned turn = 0; turn < 10; turn++) hash_pieces(&p);
        for (unsigned i = 0; i < LANES; i++) {
            uint8_t out[U9I_HASH_SIZE];
            bool left = draw(8) == 0;
            if (!left)
                u9i_hasher_finish(&p.hashers[i], p.bytes[i] + p.done[i], p.sizes[i] - p.done[i],
                                  out);
            if (!left) expect_hash(out, p.bytes[i], p.sizes[i]);
            free(p.base[i]);
        }
    }
    for (unsigned i = 0; i < LANES; i += 2) u9i_hasher_close(&p.hashers[i]);
}
END_TEST

/* Beyond 2^32 bits, where the count of bits takes a second word. */
START_TEST(a_message_may_be_larger_than_half_a_gigabyte)
{
    enum { PIECE = 1 << 20, PIECES = 513 };
    if (!go(_i)) return;
    uint8_t *bytes = malloc(PIECE), out[U9I_HASH_SIZE], want[EVP_MAX_MD_SIZE];
    u9i_hasher one = {.blocks = 0}, two = one;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    ck_assert(u9i_hasher_open(&one));
    u9i_hasher_init(&one);
    u9i_hasher_init(&two);
    ck_assert_int_eq(EVP_DigestInit_ex(ctx, EVP_sha256(), NULL), 1);
    for (size_t i = 0; i < PIECE; i++) bytes[i] = (uint8_t)draw(256);
    for (unsigned i = 0; i < PIECES; i++) {
        u9i_lane lanes[2] = {{&one, bytes, PIECE / BLOCK},
                             {&two, bytes, u9i_hash_width() > 1 ? PIECE / BLOCK - 1 : 0}};
        u9i_hash_lanes(lanes, 2);
        ck_assert_int_eq(EVP_DigestUpdate(ctx, bytes, PIECE), 1);
    }
    ck_assert_int_eq(EVP_DigestFinal_ex(ctx, want, NULL), 1);
    u9i_hasher_finish(&one, NULL, 0, out);
    u9i_hasher_close(&one);
    ck_assert_mem_eq(out, want, sizeof out);
    EVP_MD_CTX_free(ctx);
    free(bytes);
}
END_TEST

static bool starved;

static void *meal(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return starved ? NULL : malloc(size);
}

static void *larger_meal(void *p, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return starved ? NULL : realloc(p, size);
}

static void eaten(void *p, const char *file, int line)
{
    (void)file, (void)line;
    free(p);
}

/* OpenSSL, which takes memory for each message, is gone without when it has none. */
START_TEST(without_memory_the_hash_is_the_same)
{
    enum { SIZE = 5000 };
    uint8_t out[U9I_HASH_SIZE], want[EVP_MAX_MD_SIZE];
    void *base;
    u9i_hasher open, shut;
    ck_assert(go(U9I_HASH_OPENSSL));
    /* Its memory can be changed only before it took any: not where all tests are one process. */
    bool ours = CRYPTO_set_mem_functions(meal, larger_meal, eaten) == 1;
    ck_assert(ours || (getenv("CK_FORK") && strcmp(getenv("CK_FORK"), "no") == 0));
    uint8_t *bytes = message(SIZE, 3, &base);
    ck_assert_int_eq(EVP_Digest(bytes, SIZE, want, NULL, EVP_sha256(), NULL), 1);
    ck_assert(u9i_hasher_open(&open));
    starved = true;
    ck_assert_int_eq(u9i_hasher_open(&shut), !ours);
    for (unsigned i = 0; i < 3; i++) {
        u9i_hash(bytes, SIZE, out);
        ck_assert_mem_eq(out, want, sizeof out);
        u9i_hasher *each[] = {&open, &shut};
        for (unsigned k = 0; k < 2; k++) {
            u9i_hasher_init(each[k]);
            u9i_hasher_finish(each[k], bytes, SIZE, out);
            ck_assert_mem_eq(out, want, sizeof out);
        }
        starved = i == 0; /* it comes back */
    }
    u9i_hasher_close(&open);
    u9i_hasher_close(&shut);
    free(base);
}
END_TEST

/* What is wide where there are SHA instructions, and the way back to it. */
START_TEST(a_way_can_be_forced)
{
    unsigned width = u9i_hash_width();
    ck_assert(width >= 1 && width <= U9I_HASH_WIDEST);
    ck_assert_int_eq(u9i_hash_force(U9I_HASH_SHA), width > 1);
    ck_assert_uint_eq(u9i_hash_width(), width);
    for (int way = U9I_HASH_OPENSSL; way <= U9I_HASH_PLAIN; way++) {
        ck_assert(u9i_hash_force((u9i_hash_way)way));
        ck_assert_uint_eq(u9i_hash_width(), 1);
    }
    go_back();
    ck_assert_uint_eq(u9i_hash_width(), width);
}
END_TEST

Suite *suite_hash(void)
{
    enum { FIRST = U9I_HASH_SHA, BEHIND = U9I_HASH_PLAIN + 1 };
    Suite *s = suite_create("hash");
    TCase *t = tcase_create("hash");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, NULL, go_back);
    tcase_add_test(t, without_memory_the_hash_is_the_same); /* first: see there */
    tcase_add_test(t, a_way_can_be_forced);
    tcase_add_loop_test(t, the_vectors_of_the_standard_fit, FIRST, BEHIND);
    tcase_add_loop_test(t, messages_of_every_length_are_hashed_beside_others, FIRST, BEHIND);
    tcase_add_loop_test(t, messages_at_every_alignment_are_hashed, FIRST, BEHIND);
    tcase_add_loop_test(t, uneven_lanes_are_hashed_in_all_combinations, FIRST, BEHIND);
    tcase_add_loop_test(t, messages_of_any_lengths_are_hashed_together, FIRST, BEHIND);
    tcase_add_loop_test(t, a_message_may_come_in_pieces, FIRST, BEHIND);
    tcase_add_loop_test(t, a_message_may_be_larger_than_half_a_gigabyte, FIRST,
                        (int)thorough(FIRST + 1, BEHIND));
    suite_add_tcase(s, t);
    return s;
}
