/*
 * format/base/hash.h: the two hashes that everything rests on, H(x) and the signature. [H-2] [F-1]
 *
 * Three ways lead to the same SHA-256. On x86 with SHA instructions a kernel of our own hashes
 * several messages at once (hash_lanes.c). Elsewhere OpenSSL does, which has good code for every
 * processor; but it takes memory from the heap and can fail for want of it, and nothing here can.
 * So what it does not take, plain C does: short messages, which OpenSSL would be longer in
 * preparing than in hashing, hashers that nobody has opened, and whatever it refuses. OpenSSL's
 * midstates are its own (all that could read or set them is deprecated): a hasher that is to go
 * through it holds a context, made when it is opened.
 *
 * Any thread may call; a hasher belongs to one at a time.
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

enum {
    U9I_HASH_BLOCK = 64, /* bytes that SHA-256 takes in at once */
    U9I_HASH_WIDEST = 4  /* u9i_hash_width is never more */
};

/*
 * A SHA-256 on its way: whole blocks have gone in. It is all zeros, or opened, before it is first
 * begun.
 */
typedef struct u9i_hasher {
    uint32_t state[8];
    uint64_t blocks;
    void *context; /* of OpenSSL, owned by who opened the hasher; else NULL */
    bool outside;  /* this message goes through it, and not through `state` */
} u9i_hasher;

/* Blocks that are to go into a hasher; borrows both. */
typedef struct u9i_lane {
    u9i_hasher *hasher;
    const uint8_t *bytes;
    size_t blocks;
} u9i_lane;

/*
 * For a hasher that lives long and hashes much: readies it for u9i_hasher_init, once. False without
 * memory; it can be used all the same. Where there are SHA instructions, it does nothing, and needs
 * nothing closed. One that was never opened is as good, but slow (about 0.3 GB/s) where there are
 * none. An opened one is not to be copied.
 */
bool u9i_hasher_open(u9i_hasher *hasher);
void u9i_hasher_close(u9i_hasher *hasher); /* all zeros: fine */

/*
 * Begins anew. Takes no memory; OpenSSL may, within an opened hasher, and does without if there is
 * none.
 */
void u9i_hasher_init(u9i_hasher *hasher);

/* How many lanes at once pay here: up to U9I_HASH_WIDEST on x86 with SHA instructions, else 1. */
unsigned u9i_hash_width(void);

/*
 * Takes in the blocks of `count` lanes, each with a hasher of its own, as many at once as pays.
 * Equal ones go best together. The lanes are used up: `blocks` is 0 then.
 */
void u9i_hash_lanes(u9i_lane *lanes, unsigned count);

/* The same for one, which may be none. */
void u9i_hasher_take(u9i_hasher *hasher, const uint8_t *bytes, size_t blocks);

/*
 * H of all that went in and `size` bytes of `rest`. The hasher is used up, until it is begun anew.
 */
void u9i_hasher_finish(u9i_hasher *hasher, const void *rest, size_t size,
                       uint8_t out[U9I_HASH_SIZE]);

/* signed_sha = H(frame_sha XOR secret) [F-1] */
void u9i_sign(const uint8_t sha[U9I_HASH_SIZE], const uint8_t secret[U9I_SECRET_SIZE],
              uint8_t out[U9I_HASH_SIZE]);

/* The ways to hash, the best first. */
typedef enum u9i_hash_way {
    U9I_HASH_ANY, /* the first of these that there is */
    U9I_HASH_SHA, /* x86's instructions */
    U9I_HASH_OPENSSL,
    U9I_HASH_PLAIN /* C alone */
} u9i_hash_way;

/*
 * For tests: from now on hash this way, in all threads; false if this processor cannot. Hashers are
 * opened and begun after it.
 */
bool u9i_hash_force(u9i_hash_way way);

#endif
