/*
 * engine/write/segment_out.h: one file being written: made or continued, its space, where it ends, and its u9end.
 * [S-1] [S-4] [S-6] [W-4] [W-6] Two live at once during a roll: the new one, and the old one until it is sealed.
 *
 * Threads: one at a time.
 */
#ifndef U9I_SEGMENT_OUT_H
#define U9I_SEGMENT_OUT_H

#include "engine/index/index_out.h"
#include "engine/os/env.h"
#include "format/frame/control.h"
#include "format/id/kind.h"

enum {
    U9I_RESERVE_STEP = 1 << 24, /* bytes of space taken at once, */
    U9I_ZERO_STEP = 1 << 20     /*   and of zeros written ahead */
};

typedef struct u9i_segment_out {
    u9i_dir *dir;      /* borrows, */
    const char *path;  /*   and this: the log's, for messages */
    u9i_file *file;    /* NULL: not made yet, or closed */
    uint64_t number;
    u9i_secret secret;
    uint64_t identity[2]; /* of the file, when it got its name */
    uint64_t reserved; /* blocks below this offset are there to be written */
    uint64_t zeroed;   /* below this they hold zeros, or what was submitted: zeros are there before data [S-3] */
    uint64_t step;     /* what is reserved ahead, at most; halved for want of space */
    bool fresh;        /* the session made it, and nothing of it is durable */
    bool unnamed;      /* its name is not yet durable [W-4] */
    uint8_t *block;    /* for its u9end: there before anything is written, as no file is left without an end for want of
                        * memory, and kept until the file is closed: a write may be under way */

    u9i_position end;  /* behind the last frame that was sequenced */
    uint64_t data_end; /* not 0: index frames follow that, and `end` is behind them */
    uint64_t previous; /* its offset */
    uint64_t time_us;  /* its time */
    uint64_t promised; /* the largest promise in its frames */
    u9i_end_record totals; /* without its spans */
    uint8_t first_key[U9I_KEY_MAX + 16], last_key[U9I_KEY_MAX + 16]; /* as values; their sizes are in totals */
} u9i_segment_out;

/* Gets the memory that its end takes, if that is still to be done. False: there is none. */
bool u9i_segment_out_ready(u9i_segment_out *out);

/*
 * Makes the file by a new secret, or opens the one that is continued by its own (else NULL), locks it [W-1], and
 * reserves space up to `end`. Refused, it is not there, and nothing is held. [W-6]
 * It is ready then.
 */
U9_MUST_CHECK u9_err u9i_segment_out_open(u9i_segment_out *out, const u9i_secret *continued, uint64_t end,
                                          u9_fault *fault);

/* Sees to it that the file has blocks up to `end`, and some ahead. U9_IO: there is no room. [W-6] */
U9_MUST_CHECK u9_err u9i_segment_out_reserve(u9i_segment_out *out, uint64_t end, u9_fault *fault);

/* Zeros written ahead for small durable writes: those of [from, to) come next. 0 or a negative errno. [S-3] */
int u9i_segment_out_zero(u9i_segment_out *out, uint64_t from, uint64_t to);

/* 0 if the name still stands for the file that is written; -ENOENT, -ESTALE (for another). [W-6] */
int u9i_segment_out_find_name(const u9i_segment_out *out);

/* Lets go of a file that the session made and that nobody needs: a name that stays is of a blank one. [L-4] */
void u9i_segment_out_drop(u9i_segment_out *out);

/* The same, if nothing has reached it. Nothing is under way. [W-6] */
void u9i_segment_out_drop_blank(u9i_segment_out *out);

/* No operation on the file is under way. */
void u9i_segment_out_close(u9i_segment_out *out);

/*
 * Writes the index of these keys, behind the file's data, and syncs: they are sorted, and all of the file's but for
 * those of `earlier`, as u9i_index_out_keys has it. Where there is no room for it, none is written. 0 or a negative
 * errno. [S-6]
 */
int u9i_segment_out_index(u9i_segment_out *out, u9i_queue *queue, const u9i_keys *earlier, const u9i_keys *keys);

/*
 * Of one that is ready: writes the u9end into a block of its own, cuts the file behind it, and syncs: by `queue`, which has nothing under
 * way. All before it is durable. `end` is behind it then. 0 or a negative errno. [S-4] [S-6]
 */
int u9i_segment_out_end(u9i_segment_out *out, u9i_queue *queue, u9i_end_kind kind, const char *key_kind);

#endif
