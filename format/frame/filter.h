/*
 * format/frame/filter.h: which keys an index of records may have: a split block Bloom filter, as it is known from
 * Apache Parquet, of about 16 bits a key. [C-10]
 *
 * A key is in one block of 256 bits, by the upper half of its hash; in each of the block's eight words one bit stands
 * for it, by the lower half. About one absent key in 700 seems to be there.
 *
 *     slice 0, of U9I_FILTER_SLICE bytes   slice 1 ...   the last one, perhaps shorter
 *     | block 0 | block 1 | ...           |             |
 */
#ifndef U9I_FILTER_H
#define U9I_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    U9I_FILTER_BLOCK = 32,                             /* bytes */
    U9I_FILTER_KEYS = 16,                              /* for so many keys there is a block */
    U9I_FILTER_SLICE = 1 << 20,                        /* bytes of a u9bits but the last */
    U9I_FILTER_SLICE_BLOCKS = U9I_FILTER_SLICE / U9I_FILTER_BLOCK
};

/* What a key is in an index of hashes: XXH3-64 of its raw bytes. [C-7] */
uint64_t u9i_key_hash(const uint8_t *key, size_t size, uint64_t seed);

/* Blocks for so many keys, at least 1. */
static inline uint64_t u9i_filter_blocks(uint64_t keys)
{
    return keys / U9I_FILTER_KEYS + 1;
}

/* The hash of a key, as the index has it: of `size` bytes, 8 or 16. */
uint64_t u9i_filter_hash(const uint8_t *key, size_t size);

/* The block that a key of this hash is in. `blocks` is below 2^32. */
static inline uint64_t u9i_filter_block(uint64_t hash, uint64_t blocks)
{
    return (hash >> 32) * blocks >> 32;
}

void u9i_filter_set(uint8_t block[U9I_FILTER_BLOCK], uint64_t hash);

/* False: no key of this hash was set. */
bool u9i_filter_has(const uint8_t block[U9I_FILTER_BLOCK], uint64_t hash);

#endif
