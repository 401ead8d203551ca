/*
 * engine/segment/verified.h: which frames of a file were found valid, so that they are hashed once.
 *
 * Two bytes for each block of 4096 name one frame that begins in it: nearly always there is no other, since each write
 * begins with a block and frames are filled to 64 KiB. Of several the last one to be noted is known, and the others are
 * verified again. What is named was found valid: never more.
 *
 * Threads: any, without a lock; init and release by one.
 */
#ifndef U9I_VERIFIED_H
#define U9I_VERIFIED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct u9i_verified {
    uint64_t blocks;                   /* of the file */
    _Atomic(_Atomic(uint16_t) *) made; /* one for each; NULL: nothing was noted yet */
} u9i_verified;

/* Of a file of `size` bytes; what lies behind them is never noted. */
void u9i_verified_init(u9i_verified *verified, uint64_t size);
void u9i_verified_release(u9i_verified *verified);

/* True if the frame that begins at this offset was noted. */
bool u9i_verified_has(const u9i_verified *verified, uint64_t offset);

/* Notes it; without memory that is not done. */
void u9i_verified_note(u9i_verified *verified, uint64_t offset);

/* The same of the records in it: that they were walked, and are as many as its trailer says. After it was noted. */
bool u9i_verified_has_body(const u9i_verified *verified, uint64_t offset);
void u9i_verified_note_body(u9i_verified *verified, uint64_t offset);

/* What was noted of the same file, as it was, elsewhere. That of `other` lives on. */
void u9i_verified_take_over(u9i_verified *verified, const u9i_verified *other);

/* Nothing was. What others note meanwhile may stay. */
void u9i_verified_clear(u9i_verified *verified);

#endif
