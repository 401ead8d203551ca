/*
 * engine/segment/window.h: the bytes of one file, and the valid frames in them, through a window that slides.
 *
 * Room: engine/segment
 * Sees: include format/base format/frame engine/os
 *
 * The room owns one file: its facts (probe), its bytes (window), what is to be said of them (judge), and the
 * counted object that remembers that (segment) for all who go over it (iterator).
 *
 * The window holds the frame that is looked at and the chunk behind it; it grows to the largest frame
 * (20 MiB of address space, touched as needed), never with the file. A search hashes no byte twice, but
 * for what it hashed in vain beside a valid frame. [F-6] What the file system knows to be a hole is not read, nor, of
 * a file that nobody writes, what it knows to be reserved and never written.
 * Windows are dear to make: they are lent.
 *
 * A range that the disk cannot give is read again in blocks of 4096; a block that stays unreadable is dark: no
 * frame that reaches into it is valid, its bytes are never taken for zeros, and reading goes on behind it.
 *
 * Of a sealed or closed segment it may instead show the bytes where they are mapped, without a call and without a copy;
 * what lies far from what is looked at is given back, so that it takes as little memory then. A
 * mapping that breaks, or that the file has outgrown where one comes to its end, is left for good, and what was looked at in it is looked at again by read calls: so nothing is judged
 * otherwise. What is still borrowed from it stays memory, of zeros perhaps: see iterator.h.
 *
 * Threads: a window belongs to one; the pool to all.
 */
#ifndef U9I_WINDOW_H
#define U9I_WINDOW_H

#include "engine/os/env.h"
#include "engine/segment/mapping.h"
#include "engine/segment/readahead.h"
#include "engine/segment/verified.h"
#include "format/frame/frame.h"

#include <u9/log.h>

#include <pthread.h>

typedef struct u9i_stretch {
    uint64_t begin, end;
} u9i_stretch;

typedef struct u9i_window {
    u9i_file *file; /* borrows */
    u9i_secret secret;
    uint8_t *bytes;   /* [base, base + fill) of the file */
    const u9i_mapping *map; /* borrows; NULL: what is shown is read into `bytes` */
    uint64_t near, far;     /* what of it was looked at and not given back lies between them */
    u9i_verified *verified; /* borrows; NULL: it is not known which frames were found valid */
    u9_verify verify;
    bool plain;       /* frames are those of a plain seed file [E-2]; turning to a file unsets it */
    bool brief;       /* of frames that are known to be valid only the ends are read: of those with records there is no body */
    bool still;       /* nobody writes the file: what was only reserved of it is asked for; turning unsets all three */
    uint64_t base;
    size_t fill;
    uint64_t until;   /* what is at or behind this offset is read only for a frame that reaches there */
    u9i_head_start head_start; /* of the window's bytes */
    uint64_t streak;  /* bytes read in a row */
    u9i_readahead *ahead; /* reads the next chunk, once the streak is long; else NULL */
    bool coming;      /* it is at it: the chunk at base + fill */
    bool ended;       /* the last read was short: there is nothing ahead */
    u9i_stretch *dark; /* of the window's bytes: zeros stand there; ascending */
    size_t dark_count, dark_room;
    u9i_stretch unread; /* spans all that was dark since the last turn or forget; end 0: nothing was */
    int unread_sys;   /*   errno */
    int sys;          /* errno of the last failed read */
    uint64_t sys_at;  /* its offset */
    u9_reason why;    /* why the last u9i_window_at refused */
    struct u9i_window *next; /* in the pool */
} u9i_window;

/* Windows that are lent to whoever reads. */
typedef struct u9i_windows {
    u9i_env *env;
    u9_verify verify;     /* how often frames of sealed segments are hashed; set before the first is lent */
    unsigned forks;       /* generation of forks, when the pool was made */
    pthread_mutex_t lock; /* guards what follows */
    u9i_window *idle;
    unsigned idle_count;
    unsigned lent;
    unsigned made; /* since the pool was */
} u9i_windows;

void u9i_windows_init(u9i_windows *windows, u9i_env *env);
void u9i_windows_release(u9i_windows *windows); /* all are back, but those of a forking parent's threads */

/* U9_NOMEM if there is no address space. It is on no file yet: u9i_window_turn. */
U9_MUST_CHECK u9_err u9i_windows_lend(u9i_windows *windows, u9i_window **out);
void u9i_windows_return(u9i_windows *windows, u9i_window *window); /* NULL is fine */

/* Turns to a file, or (NULL) away from one before it is closed. Nothing of what was read is kept. */
void u9i_window_turn(u9i_window *window, u9i_file *file, const u9i_secret *secret);

/* From now on frames that `verified` knows are not hashed again, and others are noted there, as `verify` says. */
void u9i_window_remember(u9i_window *window, u9i_verified *verified, u9_verify verify);

/* From now on it shows the bytes of a mapping of its file, which outlives what is borrowed. NULL: it reads. */
void u9i_window_lean(u9i_window *window, const u9i_mapping *map);

/* Nothing is looked at for a while: what was looked at in a mapping takes no memory. */
void u9i_window_rest(u9i_window *window);

/* Forgets what was read: the next look is at the file. */
void u9i_window_forget(u9i_window *window);

/* True if bytes between these offsets may have been dark since the last turn or forget: it is a span. */
static inline bool u9i_window_unread(const u9i_window *window, uint64_t from, uint64_t to)
{
    return window->unread.begin < to && window->unread.end > from;
}

/* What another window found dark on the same file counts here, too. */
void u9i_window_share_unread(u9i_window *window, const u9i_window *other);

/*
 * Borrows up to `need` bytes from `p` on, which are read and not mapped, until the next call; *avail may be more than `need`, and is less
 * only at the end of the file and in front of dark bytes. U9_IO: see window->sys.
 */
U9_MUST_CHECK u9_err u9i_window_bytes(u9i_window *window, uint64_t p, size_t need,
                                      const uint8_t **bytes, size_t *avail);

/*
 * The frame at `p`, if it is valid and ends at or before `bound`: U9_OK, and `out` borrows the window
 * until the next call. U9_CORRUPT: it is not, see window->why. U9_IO.
 */
U9_MUST_CHECK u9_err u9i_window_at(u9i_window *window, uint64_t p, uint64_t bound, u9i_frame *out);

/* The first valid frame that begins at or behind `from`; U9_END if there is none before `bound`. */
U9_MUST_CHECK u9_err u9i_window_find(u9i_window *window, uint64_t from, uint64_t bound,
                                     u9i_frame *out);

/* The next multiple of 16 behind `p`, one too, where a frame may begin: holes are passed. */
uint64_t u9i_window_step(u9i_window *window, uint64_t p);

/* What stands in a stretch of bytes. */
typedef struct u9i_zeros {
    uint64_t last;   /* offset behind the last byte that is not zero; `from` if all are */
    uint64_t sector; /* first aligned, all-zero sector that reaches behind `from`; U9_NOWHERE if none */
} u9i_zeros;

/* The first multiple of 16 in [from, to) at which the boundary stands; `to` if there is none. */
U9_MUST_CHECK u9_err u9i_window_boundary(u9i_window *window, uint64_t from, uint64_t to, uint64_t *at);

/*
 * Looks for bytes that are not zero in [from, to), which may pass the end of the file; dark ones are not. The
 * sector in which `from` lies counts if all of it is zero.
 */
U9_MUST_CHECK u9_err u9i_window_zeros(u9i_window *window, uint64_t from, uint64_t to, u9i_zeros *out);

/* What holds of every window between two calls. */
void u9i_window_check(const u9i_window *window);

#endif
