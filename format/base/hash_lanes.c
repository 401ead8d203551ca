/*
 * format/base/hash_lanes.c: SHA-256 of two runs of blocks at once. [F-1]
 *
 * The SHA instructions of x86 wait on each other within one hash; a second one beside it fills the
 * gaps. Where the processor has them not, each run goes through OpenSSL.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "format/base/hash.h"

#include <openssl/sha.h>
#include <string.h>

/* A state in OpenSSL's dress, to go on with. */
static SHA256_CTX context_of(const u9i_hasher *h)
{
    SHA256_CTX ctx;
    SHA256_Init(&ctx);
    for (unsigned i = 0; i < 8; i++) ctx.h[i] = h->state[i];
    ctx.Nl = (SHA_LONG)(h->blocks << 9);
    ctx.Nh = (SHA_LONG)(h->blocks >> 23);
    return ctx;
}

void u9i_hasher_init(u9i_hasher *h)
{
    SHA256_CTX ctx;
    SHA256_Init(&ctx);
    for (unsigned i = 0; i < 8; i++) h->state[i] = ctx.h[i];
    h->blocks = 0;
}

void u9i_hasher_finish(const u9i_hasher *h, const void *rest, size_t size,
                       uint8_t out[U9I_HASH_SIZE])
{
    uint8_t full[SHA256_DIGEST_LENGTH];
    SHA256_CTX ctx = context_of(h);
    SHA256_Update(&ctx, rest, size);
    SHA256_Final(full, &ctx);
    memcpy(out, full, U9I_HASH_SIZE);
}

static void step_lane(u9i_lane *lane, size_t blocks)
{
    lane->bytes += blocks * U9I_HASH_BLOCK;
    lane->blocks -= blocks;
    lane->hasher->blocks += blocks;
}

/* One run of blocks through OpenSSL. */
static void run_one(u9i_lane *lane)
{
    SHA256_CTX ctx = context_of(lane->hasher);
    SHA256_Update(&ctx, lane->bytes, lane->blocks * U9I_HASH_BLOCK);
    for (unsigned i = 0; i < 8; i++) lane->hasher->state[i] = ctx.h[i];
}

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#include <immintrin.h>

#define SHA_CODE __attribute__((target("sha,sse4.1")))

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/* One hash in registers: the state as the instructions want it, and 16 words of the message. */
typedef struct side {
    __m128i abef, cdgh, w[4];
} side;

SHA_CODE static inline __m128i load_vector(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

SHA_CODE static inline void load_state(side *s, const uint32_t state[8])
{
    __m128i cdab = _mm_shuffle_epi32(load_vector(state), 0xb1);
    __m128i efgh = _mm_shuffle_epi32(load_vector(state + 4), 0x1b);
    s->abef = _mm_alignr_epi8(cdab, efgh, 8);
    s->cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
}

SHA_CODE static inline void store_state(const side *s, uint32_t state[8])
{
    __m128i feba = _mm_shuffle_epi32(s->abef, 0x1b);
    __m128i dchg = _mm_shuffle_epi32(s->cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

SHA_CODE static inline void load_block(side *s, const uint8_t *block)
{
    const __m128i turn = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    for (unsigned i = 0; i < 4; i++)
        s->w[i] = _mm_shuffle_epi8(load_vector(block + 16 * i), turn);
}

/* Rounds 4 g to 4 g + 3 of one side; g is known when this is compiled. */
SHA_CODE static inline void rounds(side *s, unsigned g)
{
    __m128i *w = s->w;
    if (g >= 4) {
        __m128i before = _mm_alignr_epi8(w[(g + 3) % 4], w[(g + 2) % 4], 4);
        w[g % 4] = _mm_add_epi32(_mm_sha256msg1_epu32(w[g % 4], w[(g + 1) % 4]), before);
        w[g % 4] = _mm_sha256msg2_epu32(w[g % 4], w[(g + 3) % 4]);
    }
    __m128i k = _mm_add_epi32(w[g % 4], load_vector(round_constants + 4 * g));
    s->cdgh = _mm_sha256rnds2_epu32(s->cdgh, s->abef, k);
    s->abef = _mm_sha256rnds2_epu32(s->abef, s->cdgh, _mm_shuffle_epi32(k, 0x0e));
}

#define BOTH(g) (rounds(&x, g), rounds(&y, g))

SHA_CODE static void run_pair(u9i_lane *a, u9i_lane *b, size_t blocks)
{
    side x, y;
    load_state(&x, a->hasher->state);
    load_state(&y, b->hasher->state);
    for (size_t i = 0; i < blocks; i++) {
        __m128i x0 = x.abef, x1 = x.cdgh, y0 = y.abef, y1 = y.cdgh;
        load_block(&x, a->bytes + i * U9I_HASH_BLOCK);
        load_block(&y, b->bytes + i * U9I_HASH_BLOCK);
        BOTH(0), BOTH(1), BOTH(2), BOTH(3), BOTH(4), BOTH(5), BOTH(6), BOTH(7);
        BOTH(8), BOTH(9), BOTH(10), BOTH(11), BOTH(12), BOTH(13), BOTH(14), BOTH(15);
        x.abef = _mm_add_epi32(x.abef, x0);
        x.cdgh = _mm_add_epi32(x.cdgh, x1);
        y.abef = _mm_add_epi32(y.abef, y0);
        y.cdgh = _mm_add_epi32(y.cdgh, y1);
    }
    store_state(&x, a->hasher->state);
    store_state(&y, b->hasher->state);
}

bool u9i_hash_paired(void)
{
    static int known; /* 0 not asked, 1 yes, 2 no; a race asks twice */
    int state = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (state == 0) {
        unsigned eax, ebx, ecx, edx;
        bool sse41 = __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_SSE4_1);
        bool sha = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & bit_SHA);
        state = sse41 && sha ? 1 : 2;
        __atomic_store_n(&known, state, __ATOMIC_RELAXED);
    }
    return state == 1;
}

/* Two at a time, as long as there are two. */
static void run_pairs(u9i_lane *lanes, unsigned count)
{
    u9i_lane *left = lanes; /* the one that has blocks still */
    for (u9i_lane *next = lanes + 1; next < lanes + count; next++) {
        size_t both = left->blocks < next->blocks ? left->blocks : next->blocks;
        if (both > 0) run_pair(left, next, both);
        step_lane(left, both);
        step_lane(next, both);
        if (left->blocks == 0) left = next;
    }
}

#else

bool u9i_hash_paired(void)
{
    return false;
}

static void run_pairs(u9i_lane *lanes, unsigned count)
{
    (void)lanes, (void)count;
}

#endif

void u9i_hash_lanes(u9i_lane *lanes, unsigned count)
{
    if (u9i_hash_paired()) run_pairs(lanes, count);
    for (u9i_lane *lane = lanes; lane < lanes + count; lane++) {
        if (lane->blocks > 0) run_one(lane);
        step_lane(lane, lane->blocks);
    }
}
