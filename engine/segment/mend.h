/*
 * engine/segment/mend.h: frames whose header, padding or trailer is damaged, put together again. [Y-1] to [Y-7]
 *
 * Between what is known in front of a gap and what is known behind it there is at most one row of frames that can be
 * proven: from the front, each where the frame before it ends, by the hashes in its header; from behind, each by the
 * chain of the one that comes next. Behind a hole in the first row it goes on at a boundary, where a frame must prove
 * itself. What is left stays lost. Nothing is written.
 *
 * Who asked for it reads the file as it would be, repaired (mended_file.h): so there is one judgement. Who repairs it
 * asks for the bytes to put back:
 *
 *     u9i_mender_init -> u9i_mend_file -> mender->frames, each -> u9i_mend_patches
 *
 * Cost: a mender hashes its file once, and beside that at most 6 times its bytes and 64 MiB [Y-5]; then it gives up and
 * says so, as it does when there are more than U9I_MENDED_MAX frames. Threads: one at a time; once made, any may read.
 */
#ifndef U9I_MEND_H
#define U9I_MEND_H

#include "engine/segment/probe.h"
#include "engine/segment/rejoin.h"

enum { U9I_MENDED_MAX = 1 << 16 };

typedef struct u9i_mender {
    u9i_effort effort; /* what is left of it */
    bool framed;       /* u9i_mend_start: a valid frame stands behind */
    bool gave_up;      /* that was not enough, or there is no room for more frames */
    u9i_rejoined *
        frames; /* owned; by offset; none is valid as it stands, and all follow valid ones or each other */
    size_t count, room;
} u9i_mender;

void u9i_mender_init(u9i_mender *mender, uint64_t file_size);
void u9i_mender_release(u9i_mender *mender);

/*
 * Puts together what it can of a whole file, `size` bytes of which are there, through a window on it. What is not
 * promised is left alone while a writer is at work on it (`live`). U9_IO (window->sys), U9_NOMEM.
 */
U9_MUST_CHECK u9_err u9i_mend_file(u9i_mender *mender, u9i_window *window, const u9i_facts *facts,
                                   uint64_t size, bool live);

/* The same only in front of the first valid frame. */
U9_MUST_CHECK u9_err u9i_mend_start(u9i_mender *mender, u9i_window *window, const u9i_facts *facts,
                                    uint64_t size);

/* A gap [begin, end) of a file, no valid frame in it, and what is known on both sides. */
typedef struct u9i_gap {
    uint64_t begin; /* where the frame before ends; 32 at a file's start */
    uint64_t end;   /* where the next valid frame begins, or the file's data, named or not, end */
    u9i_hint
        hint; /* secret, and all of front and next; `p`, `placed` and next_at are not looked at */
    bool
        has_previous; /* hint.has_next, and it is a frame, which begins at `end` and whose `previous` is: */
    uint64_t previous;
    bool idle; /* behind a named end: nothing that stands there is ever served */
} u9i_gap;

/* The same for one gap, behind all those before: adds what it finds. */
U9_MUST_CHECK u9_err u9i_mend_gap(u9i_mender *mender, u9i_window *window, const u9i_gap *gap);

/* Of its frames the first that ends behind p; NULL: none. */
const u9i_rejoined *u9i_mended_from(const u9i_mender *mender, uint64_t p);

/* What was read of [at, at + size) of the file, made what it should be. */
void u9i_mend_bytes(const u9i_mender *mender, const u9i_secret *secret, uint64_t at, uint8_t *bytes,
                    size_t size);

/* Bytes that stand in a file, and should be others. */
typedef struct u9i_mend_patch {
    uint64_t offset;
    size_t size;                     /* bytes */
    uint8_t bytes[U9I_TRAILER_SIZE]; /* that should be there */
} u9i_mend_patch;

enum { U9I_PATCHES_MAX = 3 }; /* header, trailer, padding */

/*
 * What has to be put where, by offset, so that this frame, mended or valid, stands in the window's file (as it is, not a
 * mended one) as it was written: only fields that differ, none if nothing does. U9_STATE: the secret is lost, and the
 * signature with it. U9_CORRUPT: the file is shorter. U9_IO.
 */
U9_MUST_CHECK u9_err u9i_mend_patches(const u9i_frame *frame, u9i_window *window,
                                      u9i_mend_patch patches[U9I_PATCHES_MAX], unsigned *count);

#endif
