/*
 * engine/segment/rejoin.h: one frame put together again from what is left of it and what its neighbours say. [Y-1] to [Y-4]
 *
 * Pure: bytes in, a frame out. Nothing is believed that is not proven by SHA-256:
 *
 *     link    H(payload) is the `chain` of what comes next: the frame behind, a named end, the mark. It proves all.
 *     sign    H(H(payload) XOR secret) is the signed_sha that stands in the header: only where a frame is to begin
 *     sha     H(payload) is the frame_sha that stands there: the same, and only where the boundary stands, too
 *
 * Of a lone one, in front of which nothing is known, the last two, and only behind its boundary.
 *
 * A record can hold whatever its writer likes, but neither the boundary at a place where it counts [F-7] nor the hash
 * of its own frame. So which bytes are a frame is decided by hashes that stand outside of it.
 */
#ifndef U9I_REJOIN_H
#define U9I_REJOIN_H

#include "format/frame/frame.h"

/* What is known of the frame at p before it is looked at. */
typedef struct u9i_hint {
    const u9i_secret *secret;
    uint64_t p;
    bool placed;       /* the frame before ends here: what stands in the header counts [Y-2] */
    bool lone;         /* it counts here, too, but only behind its boundary, which says that a frame begins [Y-7] */
    bool has_front;    /* the frame before is known: */
    uint64_t previous; /*   where it begins, 0 if there is none */
    bool has_ordinal, has_chain;
    uint64_t ordinal;
    uint8_t chain[U9I_HASH_SIZE];
    uint64_t front_end, time_us, durable; /* where it ends, and of it; 0: not known */
    bool has_next;                        /* what comes next says which frame this is: */
    bool far;                             /*   or one behind it, as others may stand between */
    uint64_t next_at;                     /*   where it stands; U9_NOWHERE: not known */
    uint64_t next_ordinal;
    uint8_t next_chain[U9I_HASH_SIZE];
    uint64_t next_time_us, next_durable; /* U9_NOWHERE: not known */
} u9i_hint;

/* How a frame was proven, and what of it was not as it should be. */
typedef enum u9i_mend_proof { U9I_MEND_LINK = 1, U9I_MEND_SIGN, U9I_MEND_SHA } u9i_mend_proof;

typedef struct u9i_rejoined {
    u9i_frame frame; /* its body is not kept, padding_ok is as it stands */
    u9i_mend_proof proof;
    bool bounded;  /* its boundary stands */
    bool follows;  /* it follows what is known in front of it [F-9] */
    u9_reason why; /* set by mend.c: why it is not valid as it stands */
} u9i_rejoined;

/* Bytes that may still be hashed. */
typedef struct u9i_effort {
    uint64_t looks;   /* to prove what stands there, */
    uint64_t guesses; /* and to find what does not */
} u9i_effort;

/*
 * The frame at hint->p, of which `bytes` are what stands from there on: up to what comes next, or to the next
 * boundary, which no frame reaches [F-7]; `partial`: these are not all, and only a frame with a trailer among them is
 * looked for. U9_CORRUPT: there is none that can be proven. U9_LIMIT: nor can that be
 * said, since more bytes would have to be hashed than `effort` has left; what was, is taken off it.
 */
U9_MUST_CHECK u9_err u9i_rejoin(const u9i_hint *hint, const uint8_t *bytes, size_t avail,
                                bool partial, u9i_effort *effort, u9i_rejoined *out);

/* The last place before `end` in `bytes` at which a trailer with the fixed bytes of F-4 begins; SIZE_MAX if none does. */
size_t u9i_trailer_before(const uint8_t *bytes, size_t end);

#endif
