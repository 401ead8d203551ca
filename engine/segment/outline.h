/*
 * engine/segment/outline.h: which frames a segment has, and the first and last key of each: noted while they are gone through
 * to find its end, so that who looks a key up then need not go through it again.
 *
 * Only of what is usual: all records have keys of 16 bytes, none below the one before it, and stand as they are, whole. What
 * else there is spoils the outline, which is all that happens: the segment is read again.
 *
 * One thread at a time; any number, once it is shared: it does not change any more.
 */
#ifndef U9I_OUTLINE_H
#define U9I_OUTLINE_H

#include "format/frame/frame.h"

#include <stdatomic.h>

typedef struct u9i_outline_key {
    uint64_t hi, lo; /* compare as the key's bytes do */
} u9i_outline_key;

typedef struct u9i_outline_frame {
    uint64_t offset;
    uint32_t count; /* records; 0: another outline has them */
    u9i_outline_key first, last;
} u9i_outline_frame;

typedef struct u9i_outline {
    u9i_outline_frame *frames; /* those with records */
    size_t count, room;
    uint64_t end; /* of the data that are outlined */
    bool spoiled; /* it says nothing */
    atomic_uint references; /* once it is shared */
} u9i_outline;

enum { U9I_OUTLINE_MAX = 1 << 18 }; /* frames: 12 MiB; more spoil it */

/* Notes a valid frame; one without its body is noted as one that another outline has. */
void u9i_outline_add(u9i_outline *outline, const u9i_frame *frame);

/* Fills in what the other one has, which is in any order and is freed. Whether it is in order as a whole is seen here. */
void u9i_outline_join(u9i_outline *outline, u9i_outline *other);

void u9i_outline_free(u9i_outline *outline); /* it is empty again */

/* What it has, in memory of its own, with one reference. NULL: it is spoiled, or there is no memory; it is empty then, too. */
u9i_outline *u9i_outline_share(u9i_outline *outline);
u9i_outline *u9i_outline_ref(u9i_outline *shared); /* NULL is fine, as for unref */
void u9i_outline_unref(u9i_outline *shared);

#endif
