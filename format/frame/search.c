/*
 * format/frame/search.c: where the boundary stands in a row of bytes. [F-6] e [F-7]
 *
 * Every byte that is written or read is searched. Where there is AVX2, 256 bytes are compared in one
 * go, and looked at one by one only where half of a boundary stands in them: 116 GB/s in the second
 * cache of an AMD EPYC (Zen 4), against 20 to 29 without, as the compiler happened to lay it out;
 * AVX-512 came to the same. What is left at the end is never read past.
 */
#include "format/base/bytes.h"
#include "format/base/cpu.h"
#include "format/frame/disk.h"
#include "format/frame/frame.h"

size_t u9i_boundary_find_plain(const uint8_t boundary[U9I_HASH_SIZE], const uint8_t *bytes,
                               size_t from, size_t size)
{
    uint64_t b0, b1;
    memcpy(&b0, boundary, 8);
    memcpy(&b1, boundary + 8, 8);
    for (size_t i = from; size >= U9I_ALIGN && i <= size - U9I_ALIGN; i += U9I_ALIGN) {
        uint64_t x0, x1;
        memcpy(&x0, bytes + i, 8);
        memcpy(&x1, bytes + i + 8, 8);
        if (x0 == b0 && x1 == b1) return i;
    }
    return size;
}

/* What magics of H-1 and F-1 have in common: "ff ff u t f 9". */
static size_t magic_find_plain(const uint8_t *bytes, size_t from, size_t size)
{
    for (size_t i = from; size >= 8 && i <= size - 8; i++)
        if (bytes[i + 2] == 'u' && bytes[i + 5] == '9' && memcmp(bytes + i, u9i_frame_magic, 6) == 0) return i;
    return size;
}

#if U9I_X86

#include <immintrin.h>

enum { VECTOR = 32, ONE_GO = 8 * VECTOR };

#define AVX2_CODE __attribute__((target("avx2")))

/* Which halves of boundaries stand in the two vectors at p: all ones. */
AVX2_CODE static inline __m256i halves_at(__m256i boundary, const uint8_t *p)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(p + VECTOR));
    return _mm256_or_si256(_mm256_cmpeq_epi64(a, boundary), _mm256_cmpeq_epi64(b, boundary));
}

/* The first stretch of ONE_GO bytes that is worth a look, or what is left and shorter. */
AVX2_CODE static size_t pass_strangers(const uint8_t *boundary, const uint8_t *bytes, size_t from,
                                       size_t size)
{
    __m128i one = _mm_loadu_si128((const __m128i *)(const void *)boundary);
    __m256i b = _mm256_broadcastsi128_si256(one);
    size_t i = from;
    for (; i <= size && size - i >= ONE_GO; i += ONE_GO) {
        const uint8_t *p = bytes + i;
        __m256i any = _mm256_or_si256(
            _mm256_or_si256(halves_at(b, p), halves_at(b, p + 2 * VECTOR)),
            _mm256_or_si256(halves_at(b, p + 4 * VECTOR), halves_at(b, p + 6 * VECTOR)));
        if (!_mm256_testz_si256(any, any)) break;
    }
    return i;
}

size_t u9i_boundary_find(const uint8_t boundary[U9I_HASH_SIZE], const uint8_t *bytes, size_t from,
                         size_t size)
{
    size_t i = from;
    if (i <= size && size - i >= U9I_ALIGN && memcmp(bytes + i, boundary, U9I_HASH_SIZE) == 0) return i; /* as in a row of frames */
    if (!u9i_cpu_has_avx2()) return u9i_boundary_find_plain(boundary, bytes, from, size);
    for (;; i += ONE_GO) {
        i = pass_strangers(boundary, bytes, i, size);
        if (i > size || size - i < ONE_GO) return u9i_boundary_find_plain(boundary, bytes, i, size);
        size_t hit = u9i_boundary_find_plain(boundary, bytes, i, i + ONE_GO);
        if (hit < i + ONE_GO) return hit;
    }
}

/* The first stretch of ONE_GO bytes in which, three apart, a 'u' and a '9' stand; 8 bytes behind it are there. */
AVX2_CODE static size_t pass_no_magic(const uint8_t *bytes, size_t from, size_t size)
{
    const __m256i u = _mm256_set1_epi8('u'), nine = _mm256_set1_epi8('9');
    size_t i = from;
    for (; i <= size && size - i >= ONE_GO + 8; i += ONE_GO) {
        __m256i any = _mm256_setzero_si256();
        for (unsigned k = 0; k < ONE_GO; k += VECTOR) {
            const uint8_t *p = bytes + i + k;
            __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(p + 2));
            __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(p + 5));
            any = _mm256_or_si256(any, _mm256_and_si256(_mm256_cmpeq_epi8(a, u), _mm256_cmpeq_epi8(b, nine)));
        }
        if (!_mm256_testz_si256(any, any)) break;
    }
    return i;
}

size_t u9i_magic_find(const uint8_t *bytes, size_t from, size_t size)
{
    size_t i = from;
    if (!u9i_cpu_has_avx2()) return magic_find_plain(bytes, from, size);
    for (;; i += ONE_GO) {
        i = pass_no_magic(bytes, i, size);
        if (i > size || size - i < ONE_GO + 8) return magic_find_plain(bytes, i, size);
        size_t hit = magic_find_plain(bytes, i, i + ONE_GO + 7);
        if (hit < i + ONE_GO) return hit;
    }
}

#else

size_t u9i_magic_find(const uint8_t *bytes, size_t from, size_t size)
{
    return magic_find_plain(bytes, from, size);
}

size_t u9i_boundary_find(const uint8_t boundary[U9I_HASH_SIZE], const uint8_t *bytes, size_t from,
                         size_t size)
{
    return u9i_boundary_find_plain(boundary, bytes, from, size);
}

#endif
