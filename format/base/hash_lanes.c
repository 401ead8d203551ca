/*
 * format/base/hash_lanes.c: SHA-256 of up to four runs of blocks at once, with the SHA instructions
 * of x86. [F-1]
 *
 * Within one hash these instructions wait on each other; others beside it fill the gaps. Measured
 * on one core of an AMD EPYC (Zen 4), 64 KiB messages in the cache, GB/s, the best of 200 turns:
 *
 *     lanes                       1      2      3      4    16, AVX-512
 *     this code, gcc 12 -O2     1.83   3.44   3.69   3.75   3.1
 *     this code, clang 14 -O2   1.82   3.60   3.78   2.25   3.7
 *     OpenSSL 3.0               1.75
 *
 * On Zen 5, which does operations of 512 bits whole: 1.70, 2.50, 2.90, 3.15, and with 16 lanes 3.6
 * (gcc) or 4.15 (clang).
 *
 * From three on the unit that does the rounds is busy all the time. Four have more words than there
 * are registers: gcc's code hides that, clang's does not, so it is given three. The 16 lanes are
 * those of a kernel with the message transposed, one lane in each 32-bit part of a register: no
 * gain over four of these where 512-bit operations are done in halves, a small one elsewhere, and it
 * wants 16 frames of a length at hand; so it was not kept.
 *
 * What comes soon is asked for on the way: the processor does so by itself within a page alone, and
 * waited at each page of each lane (4 to 9 % of a check of mapped files, on Zen 5).
 */
#include "format/base/hash_blocks.h"

#include "format/base/cpu.h"

#include <assert.h>

#if U9I_X86

#include <immintrin.h>

#if defined(__clang__)
enum { LANES = 3 };
#else
enum { LANES = 4 };
#endif

/* Bytes ahead of what is hashed. Behind the end it asks for what may not be there, which does nothing. */
enum { SOON = 2048 };

#define SHA_CODE __attribute__((target("sha,sse4.1")))
#define SHA_PART SHA_CODE __attribute__((always_inline)) static inline

/* One hash in registers: the state as the instructions want it, and 16 words of the message. */
typedef struct side {
    __m128i abef, cdgh, w[4];
} side;

SHA_PART __m128i load_vector(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

SHA_PART void bring(const uint8_t *bytes, size_t ahead)
{
    _mm_prefetch((const void *)((uintptr_t)bytes + ahead), _MM_HINT_T0);
}

SHA_PART void load_state(side *s, const uint32_t state[8])
{
    __m128i cdab = _mm_shuffle_epi32(load_vector(state), 0xb1);
    __m128i efgh = _mm_shuffle_epi32(load_vector(state + 4), 0x1b);
    s->abef = _mm_alignr_epi8(cdab, efgh, 8);
    s->cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
}

SHA_PART void store_state(const side *s, uint32_t state[8])
{
    __m128i feba = _mm_shuffle_epi32(s->abef, 0x1b);
    __m128i dchg = _mm_shuffle_epi32(s->cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

/* Words 4 g to 4 g + 3 of the message, from the block or from the 16 before them. */
SHA_PART void next_words(side *s, unsigned g, const uint8_t *block)
{
    const __m128i turn = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i *w = s->w;
    if (g < 4) {
        w[g] = _mm_shuffle_epi8(load_vector(block + 16 * g), turn);
        return;
    }
    __m128i before = _mm_alignr_epi8(w[(g + 3) % 4], w[(g + 2) % 4], 4);
    w[g % 4] = _mm_add_epi32(_mm_sha256msg1_epu32(w[g % 4], w[(g + 1) % 4]), before);
    w[g % 4] = _mm_sha256msg2_epu32(w[g % 4], w[(g + 3) % 4]);
}

/* Code of the sides is not mixed further, so that their states stay in registers. */
#define KEEP_IN_TURN(a, b) __asm__("" : "+x"(a), "+x"(b))

/* Rounds 4 g to 4 g + 3 of one side; g is known when this is compiled. */
SHA_PART void four_rounds(side *s, unsigned g, const uint8_t *block)
{
    next_words(s, g, block);
    __m128i k = _mm_add_epi32(s->w[g % 4], load_vector(u9i_hash_rounds + 4 * g));
    s->cdgh = _mm_sha256rnds2_epu32(s->cdgh, s->abef, k);
    s->abef = _mm_sha256rnds2_epu32(s->abef, s->cdgh, _mm_shuffle_epi32(k, 0x0e));
    KEEP_IN_TURN(s->abef, s->cdgh);
}

/* For each of n sides; n is known when this is compiled. */
#define SIDES(what)         \
    do {                    \
        what(0);            \
        if (n > 1) what(1); \
        if (n > 2) what(2); \
        if (n > 3) what(3); \
    } while (0)
#define LOAD(i) load_state(&s[i], lanes[i]->hasher->state)
#define KEEP(i) (abef[i] = s[i].abef, cdgh[i] = s[i].cdgh)
#define BRING(i) bring(lanes[i]->bytes, at + SOON)
#define TURN(i) four_rounds(&s[i], g, lanes[i]->bytes + at)
#define ADD(i) \
    (s[i].abef = _mm_add_epi32(s[i].abef, abef[i]), s[i].cdgh = _mm_add_epi32(s[i].cdgh, cdgh[i]))
#define STORE(i) store_state(&s[i], lanes[i]->hasher->state)

SHA_PART void run_sides(u9i_lane *const *lanes, unsigned n, size_t blocks)
{
    side s[U9I_HASH_WIDEST];
    SIDES(LOAD);
    for (size_t at = 0; at < blocks * U9I_HASH_BLOCK; at += U9I_HASH_BLOCK) {
        __m128i abef[U9I_HASH_WIDEST], cdgh[U9I_HASH_WIDEST];
        SIDES(KEEP);
        SIDES(BRING);
#pragma GCC unroll 16
        for (unsigned g = 0; g < 16; g++) SIDES(TURN);
        SIDES(ADD);
    }
    SIDES(STORE);
}

SHA_CODE void u9i_sha_blocks(u9i_lane *const *lanes, unsigned count, size_t blocks)
{
    switch (count) {
    case 1: run_sides(lanes, 1, blocks); break;
    case 2: run_sides(lanes, 2, blocks); break;
    case 3: run_sides(lanes, 3, blocks); break;
#if !defined(__clang__)
    case 4: run_sides(lanes, 4, blocks); break;
#endif
    default: assert(false);
    }
}

unsigned u9i_sha_width(void)
{
    return u9i_cpu_has_sha() ? LANES : 0;
}

#else

void u9i_sha_blocks(u9i_lane *const *lanes, unsigned count, size_t blocks)
{
    (void)lanes, (void)count, (void)blocks;
    assert(false);
}

unsigned u9i_sha_width(void)
{
    return 0;
}

#endif
