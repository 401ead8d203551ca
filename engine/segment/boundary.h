/*
 * engine/segment/boundary.h: frames of a file whose secret is lost, and the boundary that they have. [G-2]
 *
 * Without the secret there is no boundary to look for and no signature to prove. What is left is the frame's
 * magic, its trailer, which names its own place, and the hash of its payload.
 */
#ifndef U9I_BOUNDARY_H
#define U9I_BOUNDARY_H

#include "engine/segment/window.h"

/* A frame that is whole but for its boundary and signature, which prove nothing. */
typedef struct u9i_unsigned {
    uint8_t boundary[U9I_HASH_SIZE]; /* whatever stands there */
    u9i_trailer trailer;
    uint64_t end; /* behind the padding */
} u9i_unsigned;

/*
 * The frame at `p` by F-6 c, d, g and h. U9_OK; U9_TORN: all but its payload's hash fits; U9_CORRUPT: none; U9_LIMIT:
 * it has more bytes than `*left`, which each that is hashed makes less; U9_AGAIN: its trailer cannot be read; U9_IO.
 */
U9_MUST_CHECK u9_err u9i_unsigned_at(u9i_window *window, uint64_t p, uint64_t size, uint64_t *left,
                                     u9i_unsigned *out);

enum { U9I_BOUNDARIES_MAX = 16 };

/* The boundaries of all whole frames that stand in no other. */
typedef struct u9i_boundaries {
    uint8_t found[U9I_BOUNDARIES_MAX][U9I_HASH_SIZE]; /* in the order of their first frames */
    unsigned count;
    bool contested; /* a damaged frame has another boundary than the first */
    bool given_up;  /* there may be more: as many were found, or 4 times the file was hashed */
} u9i_boundaries;

/* Looks through the whole file, of `size` bytes. U9_IO. */
U9_MUST_CHECK u9_err u9i_boundary_search(u9i_window *window, uint64_t size, u9i_boundaries *out);

/* The one that is believed, or NULL. */
const uint8_t *u9i_boundary_elected(const u9i_boundaries *boundaries);

#endif
