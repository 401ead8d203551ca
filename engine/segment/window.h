/*
 * engine/segment/window.h: valid frames of one file, found through a window that slides over it.
 *
 * Room: engine/segment
 * Sees: format/frame engine/os engine/log
 *
 * The room owns one file of a log: its bytes, and the judgement on them.
 *
 * The window holds the frame that is looked at and the chunk behind it; it grows to the largest frame
 * (20 MiB of address space, touched as needed), never with the file. A search hashes no byte twice, but
 * for what it hashed in vain beside a valid frame. [F-6]
 */
#ifndef U9I_SCAN_H
#define U9I_SCAN_H

#include "engine/segment/readahead.h"
#include "engine/os/env.h"
#include "format/frame/frame.h"

typedef struct u9i_window {
    u9i_file *file; /* borrows */
    u9i_secret secret;
    uint8_t *window; /* bytes [base, base + fill) of the file */
    uint64_t base;
    size_t fill;
    u9i_head_start head_start;    /* of the window's bytes */
    uint64_t streak;  /* bytes read in a row */
    u9i_readahead *ahead; /* reads the next chunk, once the streak is long; else NULL */
    bool coming;      /* it is at it: the chunk at base + fill */
    bool ended;       /* the last read was short: there is nothing ahead */
    int sys;          /* errno of the last failed read */
    uint64_t sys_at;  /* its offset */
    u9_reason why;    /* why the last u9i_window_at refused */
} u9i_window;

/* U9_NOMEM if there is no address space. */
U9_MUST_CHECK u9_err u9i_window_init(u9i_window *scan, u9i_file *file, const u9i_secret *secret);
void u9i_window_release(u9i_window *scan);

/* Turns to another file, window kept. */
void u9i_window_turn(u9i_window *scan, u9i_file *file, const u9i_secret *secret);

/* Forgets what was read: the next look is at the file. */
void u9i_window_forget(u9i_window *scan);

/*
 * Borrows up to `need` bytes from `p` on until the next call; *avail may be more than `need`, and is less
 * only at the end of the file. U9_IO: see scan->sys.
 */
U9_MUST_CHECK u9_err u9i_window_bytes(u9i_window *scan, uint64_t p, size_t need, const uint8_t **bytes,
                                    size_t *avail);

/*
 * The frame at `p`, if it is valid and ends at or before `bound`: U9_OK, and `out` borrows the window
 * until the next call. U9_CORRUPT: it is not, see scan->why. U9_IO.
 */
U9_MUST_CHECK u9_err u9i_window_at(u9i_window *scan, uint64_t p, uint64_t bound, u9i_frame *out);

/* The first valid frame that begins at or behind `from`; U9_END if there is none before `bound`. */
U9_MUST_CHECK u9_err u9i_window_find(u9i_window *scan, uint64_t from, uint64_t bound, u9i_frame *out);

/* What stands in a stretch of bytes. */
typedef struct u9i_zeros {
    uint64_t last;   /* offset behind the last byte that is not zero; `from` if all are */
    uint64_t sector; /* first aligned, all-zero sector that reaches behind `from`; U9_NOWHERE if none */
} u9i_zeros;

/* The first multiple of 16 in [from, to) at which the boundary stands; `to` if there is none. */
U9_MUST_CHECK u9_err u9i_window_boundary(u9i_window *scan, uint64_t from, uint64_t to, uint64_t *at);

/*
 * Looks for bytes that are not zero in [from, to), which may pass the end of the file. The sector in which
 * `from` lies counts if all of it is zero.
 */
U9_MUST_CHECK u9_err u9i_window_zeros(u9i_window *scan, uint64_t from, uint64_t to, u9i_zeros *out);

#endif
