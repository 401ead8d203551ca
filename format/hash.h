/*
 * format/hash.h: the two hashes that everything rests on, H(x) and the signature. [H-2] [F-1]
 */
#ifndef U9I_HASH_H
#define U9I_HASH_H

#include "format/limits.h"

#include <stddef.h>
#include <stdint.h>

/* What a file's frames are proven with. */
typedef struct u9i_keys {
    uint8_t secret[U9I_SECRET_SIZE];
    uint8_t boundary[U9I_HASH_SIZE]; /* H(secret) [H-2] */
} u9i_keys;

/* The first 16 bytes of SHA-256 of `size` bytes. */
void u9i_hash(const void *bytes, size_t size, uint8_t out[U9I_HASH_SIZE]);

/* signed_sha = H(frame_sha XOR secret) [F-1] */
void u9i_sign(const uint8_t sha[U9I_HASH_SIZE], const uint8_t secret[U9I_SECRET_SIZE],
              uint8_t out[U9I_HASH_SIZE]);

#endif
