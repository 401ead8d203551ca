/*
 * format/base/hash.h: the two hashes that everything rests on, H(x) and the signature. [H-2] [F-1]
 */
#ifndef U9I_HASH_H
#define U9I_HASH_H

#include "format/base/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file's secret: what its frames are proven with. */
typedef struct u9i_secret {
    uint8_t bytes[U9I_SECRET_SIZE];
    uint8_t boundary[U9I_HASH_SIZE]; /* H(secret) [H-2] */
    bool lost; /* it is; the boundary was found without it, and signatures prove nothing [G-2] */
} u9i_secret;

/* The first 16 bytes of SHA-256 of `size` bytes. */
void u9i_hash(const void *bytes, size_t size, uint8_t out[U9I_HASH_SIZE]);

enum { U9I_HASH_BLOCK = 64 }; /* bytes that SHA-256 takes in at once */

/* A SHA-256 on its way: whole blocks have gone in. */
typedef struct u9i_hasher {
    uint32_t state[8];
    uint64_t blocks;
} u9i_hasher;

/* Blocks that are to go into a hasher; borrows both. */
typedef struct u9i_lane {
    u9i_hasher *hasher;
    const uint8_t *bytes;
    size_t blocks;
} u9i_lane;

void u9i_hasher_init(u9i_hasher *hasher);

/* True if two lanes at once take little longer than one: x86 with SHA instructions. */
bool u9i_hash_paired(void);

/*
 * Takes in the blocks of `count` lanes, each with a hasher of its own, two lanes at a time if
 * u9i_hash_paired. The lanes are used up: `blocks` is 0 then.
 */
void u9i_hash_lanes(u9i_lane *lanes, unsigned count);

/* H of all that went in and `size` bytes of `rest`. The hasher stays as it is. */
void u9i_hasher_finish(const u9i_hasher *hasher, const void *rest, size_t size,
                       uint8_t out[U9I_HASH_SIZE]);

/* signed_sha = H(frame_sha XOR secret) [F-1] */
void u9i_sign(const uint8_t sha[U9I_HASH_SIZE], const uint8_t secret[U9I_SECRET_SIZE],
              uint8_t out[U9I_HASH_SIZE]);

#endif
