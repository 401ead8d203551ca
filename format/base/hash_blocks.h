/*
 * format/base/hash_blocks.h: what is within hash.h: the compression function of SHA-256 (FIPS
 * 180-4, 6.2.2).
 */
#ifndef U9I_HASH_BLOCKS_H
#define U9I_HASH_BLOCKS_H

#include "format/base/hash.h"

/* The constants K of its 64 rounds. */
extern const uint32_t u9i_hash_rounds[64];

/* Takes in blocks, in C. */
void u9i_hash_blocks(uint32_t state[8], const uint8_t *bytes, size_t blocks);

/* The same with SHA instructions: `blocks` of each of `count` lanes, 1 to u9i_sha_width(). */
void u9i_sha_blocks(u9i_lane *const *lanes, unsigned count, size_t blocks);

/* 0: there are no such instructions. */
unsigned u9i_sha_width(void);

#endif
