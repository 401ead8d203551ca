/*
 * format/frame/filter.c: see filter.h. [C-10]
 */
#include "format/frame/filter.h"

#include "format/base/bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { WORDS = 8 };

static const uint32_t salts[WORDS] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                      0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

uint64_t u9i_key_hash(const uint8_t *key, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(key, size, seed);
}

uint64_t u9i_filter_hash(const uint8_t *key, size_t size)
{
    return XXH3_64bits(key, size);
}

/* The one bit of a hash in this word, which stands there in big-endian order. */
static uint32_t word_bit(uint64_t hash, unsigned word)
{
    return UINT32_C(1) << ((uint32_t)hash * salts[word] >> 27);
}

void u9i_filter_set(uint8_t block[U9I_FILTER_BLOCK], uint64_t hash)
{
    for (unsigned i = 0; i < WORDS; i++)
        u9i_set_be(block + 4 * i, 4, u9i_get_be(block + 4 * i, 4) | word_bit(hash, i));
}

bool u9i_filter_has(const uint8_t block[U9I_FILTER_BLOCK], uint64_t hash)
{
    uint32_t missing = 0;
    for (unsigned i = 0; i < WORDS; i++) missing |= word_bit(hash, i) & ~(uint32_t)u9i_get_be(block + 4 * i, 4);
    return missing == 0;
}
