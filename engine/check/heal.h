/*
 * engine/check/heal.h: the one flipped bit in a payload whose hash is known: by trying all, SHA-256 being the judge. [U-5]
 *
 * A try hashes only what stands behind the bit: what is in front of its block of 64 bytes has gone in once. So the end
 * is tried first, where tries are cheapest, and several are hashed at once.
 */
#ifndef U9I_HEAL_H
#define U9I_HEAL_H

#include "engine/os/env.h"
#include "format/base/hash.h"

#include <u9/check.h>

enum { U9I_HEAL_MAX = 256 * 1024 }; /* bytes of a payload that is searched */

typedef struct u9i_healing {
    u9i_env *env;
    uint64_t begun_us, until_us; /* monotonic: no try begins later */
    u9_progress_fn *on_progress; /* milliseconds of these; NULL: nobody asks */
    void *ctx;
    uint64_t told_us;  /* when it was called last */
    uint64_t tries;    /* so far, of all searches */
    uint64_t us;       /* that they took */
    bool gave_up;      /* the time was over in one of them */
} u9i_healing;

/*
 * Flips the bit in `payload` by which it hashes to `sha`, and says which: *bit, from the lowest of its first byte on.
 * U9_ABSENT: no bit does, or the time was over; U9_STATE: on_progress said to stop; U9_NOMEM. The payload is then as it was.
 */
U9_MUST_CHECK u9_err u9i_heal(u9i_healing *healing, uint8_t *payload, size_t size, const uint8_t sha[U9I_HASH_SIZE],
                              uint64_t *bit);

#endif
