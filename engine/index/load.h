/*
 * engine/index/load.h: one frame of a segment, read, verified and opened: out of the mapping where the file is mapped,
 * else by a window that is lent for it. A mapping that breaks is read again by calls.
 *
 * Threads: any.
 */
#ifndef U9I_LOAD_H
#define U9I_LOAD_H

#include "engine/segment/segment.h"

#include <u9/log.h>

enum { U9I_FRAME_USUAL = U9I_FRAME_TARGET + U9I_BLOCK }; /* bytes of a frame, as a rule */

/* A verified frame and its opened body. */
typedef struct u9i_loaded {
    u9i_frame frame; /* its body borrows nothing that stays: see `body` */
    u9i_body body;   /* borrows the mapping, or `own` */
    uint8_t *own;    /* NULL: the body stands in the mapping */
} u9i_loaded;

/*
 * The frame at `offset`, which ends at or before `bound`, read from the file or its mapping; `about`: so many bytes it has,
 * perhaps, which are brought from the disk at once; 0: nobody knows. U9_CORRUPT: no valid frame
 * stands there, or its body is none; U9_IO: `*sys` is errno; U9_NOMEM. u9i_unload gives it back.
 */
U9_MUST_CHECK u9_err u9i_load(u9i_segment *segment, u9i_windows *windows, uint64_t offset, uint64_t bound, size_t about,
                              u9i_loaded *out, int *sys);
void u9i_unload(u9i_loaded *loaded);

#endif
