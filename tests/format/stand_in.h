/*
 * tests/format/stand_in.h: format/frame/disk.c and format/frame/frame.c over hashes that the test chooses. Some
 * branches guard against what SHA-256 does once in 2^64 or 2^128 tries; here it does it at will.
 */
#ifndef U9T_STAND_IN_H
#define U9T_STAND_IN_H

#include "format/frame/frame.h"

/* What H(x) and the signature are for every x. */
extern uint8_t stand_in_hash_is[U9I_HASH_SIZE];
extern uint8_t stand_in_sign_is[U9I_HASH_SIZE];

bool stand_in_keys_init(u9i_secret *keys, const uint8_t secret[U9I_SECRET_SIZE]);
u9_err stand_in_frame_seal(const u9i_secret *keys, const u9i_trailer *trailer, uint8_t *frame,
                           size_t body_size, uint8_t sha[U9I_HASH_SIZE]);

#endif
