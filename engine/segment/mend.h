/*
 * engine/segment/mend.h: frames whose header, padding or trailer is damaged, put together again. [N-1] to [N-6]
 *
 * Between what is known in front of a gap and what is known behind it there is at most one row of frames that can be
 * proven: from the front, each where the frame before it ends, by the hashes in its header; from behind, each by the
 * chain of the one that comes next. What is left between the two rows stays lost. Nothing is written: who repairs a
 * file asks for the bytes to put back.
 *
 *     u9i_mender_init -> u9i_mend_gap -> mender->frames -> u9i_mend_open   to read one
 *                                                       -> u9i_mend_patches  to put it back
 *
 * Cost: a mender hashes at most 4 times its file and 64 MiB, then it gives up and says so. Threads: one.
 */
#ifndef U9I_MEND_H
#define U9I_MEND_H

#include "engine/segment/rejoin.h"
#include "engine/segment/window.h"

/* A gap [begin, end) of a file, no valid frame in it, and what is known on both sides. */
typedef struct u9i_gap {
    uint64_t begin; /* where the frame before ends; 32 at a file's start */
    uint64_t end;   /* where the next valid frame begins, or the file's data, named or not, end */
    u9i_hint hint;  /* secret, and all of front and next; `p`, `placed` and next_at are not looked at */
    bool has_previous; /* hint.has_next, and it is a frame, which begins at `end` and whose `previous` is: */
    uint64_t previous;
} u9i_gap;

typedef struct u9i_mender {
    uint64_t left;   /* bytes that may still be hashed */
    bool gave_up;    /* that was not enough */
    uint64_t begin, end; /* the last gap, in which stand, by offset, */
    u9i_rejoined *frames; /* owned */
    size_t count, room;
} u9i_mender;

void u9i_mender_init(u9i_mender *mender, uint64_t file_size);
void u9i_mender_release(u9i_mender *mender);

/*
 * Puts together what it can of a gap, through a window on the file: fills mender->frames, none if nothing can be
 * proven. U9_IO (window->sys), U9_NOMEM.
 */
U9_MUST_CHECK u9_err u9i_mend_gap(u9i_mender *mender, u9i_window *window, const u9i_gap *gap);

/* The first of its frames that begins at or behind p and ends at or before `bound`; NULL: none. */
const u9i_rejoined *u9i_mended_from(const u9i_mender *mender, uint64_t p, uint64_t bound);

/*
 * The frame, with its body, which borrows the window until its next use. U9_CORRUPT: it is not there any more. U9_IO.
 */
U9_MUST_CHECK u9_err u9i_mend_open(const u9i_rejoined *mended, u9i_window *window, u9i_frame *out);

/* Bytes that stand in a file, and should be others. */
typedef struct u9i_patch {
    uint64_t offset;
    size_t size; /* bytes */
    uint8_t bytes[U9I_TRAILER_SIZE]; /* that should be there */
} u9i_patch;

enum { U9I_PATCHES_MAX = 3 }; /* header, trailer, padding */

/*
 * What has to be put where, by offset, so that this frame, mended or valid, of a file with this secret stands as it
 * was written: only what differs, none if nothing does. U9_STATE: the secret is lost, and its signature with it. U9_IO.
 */
U9_MUST_CHECK u9_err u9i_mend_patches(const u9i_frame *frame, u9i_window *window, u9i_patch patches[U9I_PATCHES_MAX],
                                      unsigned *count);

#endif
