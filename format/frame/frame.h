/*
 * format/frame/frame.h: frames, the unit of integrity and of atomicity. [F-1] to [F-9]
 *
 * Room: format/frame
 * Sees: include format/base format/value
 *
 * The room owns what stands in a file, from its first byte on: disk header, frames, bodies, records and
 * control records.
 *
 *     p        p+16       p+32        p+48   p+56    p+64              p+64+length-80    16-aligned
 *     boundary frame_sha  signed_sha  magic  length  body ............ trailer           padding
 *                                            payload = body + trailer [F-3]
 *
 * u9i_frame_seal makes one in a caller's buffer, u9i_frame_verify proves one in a reader's window.
 */
#ifndef U9I_FRAME_H
#define U9I_FRAME_H

#include "format/base/hash.h"

#include <u9/check.h>
#include <u9/err.h>

#include <stdbool.h>

/* [F-4] */
typedef struct u9i_trailer {
    uint64_t ordinal;
    uint32_t count;
    uint64_t offset;
    uint64_t previous;
    uint64_t durable;
    uint64_t time_us;
    uint8_t chain[U9I_HASH_SIZE];
} u9i_trailer;

void u9i_trailer_encode(const u9i_trailer *trailer, uint8_t out[U9I_TRAILER_SIZE]);

/* False if the fixed bytes of [F-4] are not there; `out` is then untouched. */
U9_MUST_CHECK bool u9i_trailer_decode(const uint8_t in[U9I_TRAILER_SIZE], u9i_trailer *out);

/* A frame that was proven valid. */
typedef struct u9i_frame {
    uint64_t offset; /* p */
    uint64_t end;    /* behind the padding [F-2] */
    uint8_t sha[U9I_HASH_SIZE];
    u9i_trailer trailer;
    const uint8_t *body; /* as stored; borrows the verified bytes */
    size_t body_size;    /* bytes */
    bool padding_ok;     /* the padding is zero */
} u9i_frame;

/* Zero padding behind a payload of `length` bytes. [F-2] */
static inline uint64_t u9i_padding(uint64_t length)
{
    return -length & (U9I_ALIGN - 1);
}

/*
 * The first offset >= `from` (a multiple of 16) at which the boundary stands in `bytes`, which begin
 * aligned; `size` if there is none. Linear, about the speed of memory.
 */
size_t u9i_boundary_find(const uint8_t boundary[U9I_HASH_SIZE], const uint8_t *bytes, size_t from,
                         size_t size);

/* The same in C alone: for tests, and where the processor has nothing better. */
size_t u9i_boundary_find_plain(const uint8_t boundary[U9I_HASH_SIZE], const uint8_t *bytes, size_t from,
                               size_t size);

/*
 * The first offset >= `from`, a multiple of nothing, at which 8 bytes stand that begin as the magic of a disk header and
 * that of a frame do; `size` if there is none. About as fast.
 */
size_t u9i_magic_find(const uint8_t *bytes, size_t from, size_t size);

enum { U9I_AHEAD = U9I_HASH_WIDEST - 1 };

/* How far the payload of the frame at `offset` has gone in. */
typedef struct u9i_ahead {
    uint64_t offset; /* 0: none */
    u9i_hasher hasher; /* not opened */
} u9i_ahead;

/*
 * What the last frame to be hashed has left for the next ones: several payloads are hashed at once, and
 * this is how far that came with those behind it. It tells of the bytes it was made from: zero it when
 * they may be others.
 */
typedef struct u9i_head_start {
    uint64_t row; /* where the last frame ends: who reads on there reads a row of them */
    u9i_ahead ahead[U9I_AHEAD];
} u9i_head_start;

/* What is known of a frame before it is looked at. */
typedef enum u9i_trust {
    U9I_TRUST_NOTHING = 0,
    U9I_TRUST_PAYLOAD, /* that its payload has its hash, or nobody wants to know: clause h is left out */
    U9I_TRUST_FRAME    /* that it was found valid: e and f, too */
} u9i_trust;

/* Where a verification stands when it asked for more bytes. Zero it for each new p. */
typedef struct u9i_proof {
    size_t need;     /* U9_AGAIN: bytes wanted from p on, never beyond `bound` */
    size_t searched; /* no boundary stands in [p + 16, p + searched) */
    u9_reason why;   /* U9_CORRUPT: the clause that failed */
    u9i_head_start *head_start;  /* set by the caller: used, and made for what stands behind; or NULL */
    u9i_trust trust; /* set by the caller */
    bool plain;      /* set by the caller: a frame of a plain seed file, which bears no trailer [E-2] */
} u9i_proof;

/*
 * The valid-frame rule [F-6], clause by clause, in its order. `bytes` are the `avail` bytes from
 * offset `p` on, all that are there; the file (or its named end) ends at `bound`. Returns U9_OK and
 * fills `out`; U9_AGAIN with proof->need: call again with at least that many bytes; U9_CORRUPT with
 * proof->why. With U9_R_OVERLAP, p + proof->searched is where the other boundary stands. A plain frame's body is
 * its whole payload, and of its trailer only `offset` is filled. Bytes that change meanwhile make a wrong answer, but
 * nothing outside of `avail` is touched, nor told of.
 */
U9_MUST_CHECK u9_err u9i_frame_verify(const u9i_secret *secret, uint64_t p, uint64_t bound,
                                      const uint8_t *bytes, size_t avail, u9i_proof *proof,
                                      u9i_frame *out);

enum { U9I_FRAME_TAIL = U9I_TRAILER_SIZE + U9I_ALIGN }; /* its last bytes, among which are trailer and padding */

/*
 * The same of a frame that was found valid, by its two ends: U9I_FRAME_HEADER_SIZE bytes at `head`, and at `tail` the last
 * U9I_FRAME_TAIL of the *total bytes that it has; NULL: they are to be brought, U9_AGAIN. U9_CORRUPT: it is not what it was,
 * for whatever reason. A frame of a log; out->body is NULL.
 */
U9_MUST_CHECK u9_err u9i_frame_verify_ends(const u9i_secret *secret, uint64_t p, uint64_t bound, const uint8_t *head,
                                           const uint8_t *tail, uint64_t *total, u9i_frame *out);

/*
 * True if a header stands at `bytes` whose boundary, magic and signature hold and whose length is
 * within the cap: the length can be believed when a tail is judged.
 */
bool u9i_frame_header_whole(const u9i_secret *secret, const uint8_t *bytes, size_t avail,
                            uint64_t *length);

/* True if `next` follows `before` in the same file. [F-9] */
bool u9i_frame_follows(const u9i_frame *before, const u9i_frame *next);

/* Bytes of a whole frame with a body of `body_size`. */
static inline size_t u9i_frame_size(size_t body_size)
{
    size_t length = body_size + U9I_TRAILER_SIZE;
    return U9I_FRAME_HEADER_SIZE + length + (size_t)u9i_padding(length);
}

/*
 * The same as u9i_frame_seal in steps, so that bodies are hashed several at once and in any order: only the last
 * step needs what stands before the frame, all of which comes at the payload's end. [F-4]
 *
 *     u9i_frame_is_clear -> u9i_frame_lane, u9i_hash_lanes -> u9i_frame_finish
 *
 * True if the boundary stands neither in the body nor across its end: else it is to be masked. Writes the first bytes
 * of the trailer behind the body. [F-7]
 */
U9_MUST_CHECK bool u9i_frame_is_clear(const u9i_secret *secret, uint64_t ordinal, uint8_t *frame,
                                      size_t body_size);

/* What of the body goes into a hasher at once, which is begun anew. Borrows both. */
u9i_lane u9i_frame_lane(u9i_hasher *hasher, const uint8_t *frame, size_t body_size);

/*
 * Trailer, padding, the rest of the hash, which uses the hasher up, header. U9_AGAIN: the boundary stands there, by a
 * chance of 2^-100: the body is hashed again, and another time in the trailer makes other bytes.
 */
U9_MUST_CHECK u9_err u9i_frame_finish(const u9i_secret *secret, const u9i_trailer *trailer, uint8_t *frame,
                                      size_t body_size, u9i_hasher *hasher, uint8_t sha[U9I_HASH_SIZE]);

/*
 * Makes a frame of the `body_size` bytes that stand at frame + 64: writes trailer, padding, hashes and
 * header around them. `frame` has room for u9i_frame_size(body_size) bytes; `sha` is filled with the
 * frame_sha. U9_AGAIN: the boundary would stand inside the frame; nothing is usable, mask the body and
 * call again. [F-7]
 */
U9_MUST_CHECK u9_err u9i_frame_seal(const u9i_secret *secret, const u9i_trailer *trailer, uint8_t *frame,
                                    size_t body_size, uint8_t sha[U9I_HASH_SIZE]);

#endif
