/*
 * engine/index/frames.h: verified frames of one segment, opened and kept for lookups: each is read, proven and walked
 * once, and then shared by all threads.
 *
 * A frame's body stands where the file is mapped, else in memory of its own. Beside it is kept, for each KiB of it,
 * which record begins there and its number; and, of a segment in which keys come in order, a table of the keys in it.
 *
 * Nothing is taken out one by one: memory is counted in a budget, and who finds it used up lets go of all (read/view.h).
 * Frames that find no room are the caller's own, for one lookup.
 *
 * Threads: any. A kept frame never changes.
 */
#ifndef U9I_FRAMES_H
#define U9I_FRAMES_H

#include "engine/index/keys.h"
#include "engine/segment/segment.h"

#include <u9/log.h>

#include <pthread.h>

/* A verified frame and its opened body. */
typedef struct u9i_loaded {
    u9i_frame frame; /* its body borrows nothing that stays: see `body` */
    u9i_body body;   /* borrows the mapping, or `own` */
    uint8_t *own;    /* NULL: the body stands in the mapping */
} u9i_loaded;

/*
 * The frame at `offset`, which ends at or before `bound`, read from the file or its mapping. U9_CORRUPT: no valid frame
 * stands there, or its body is none; U9_IO: `*sys` is errno; U9_NOMEM. u9i_unload gives it back.
 */
U9_MUST_CHECK u9_err u9i_load(u9i_segment *segment, u9i_windows *windows, uint64_t offset, uint64_t bound,
                              u9i_loaded *out, int *sys);
void u9i_unload(u9i_loaded *loaded);

/* Where a record begins in a body, and how many are before it. */
typedef struct u9i_step_at {
    uint32_t at, number;
} u9i_step_at;

typedef struct u9i_open_frame {
    struct u9i_open_frame *next; /* kept beside it */
    uint64_t offset;
    uint64_t ordinal;  /* of its first record */
    uint64_t time_us;
    uint32_t count;    /* records in it */
    u9i_loaded loaded; /* count 1 and a body that is a part: a record in parts, of which this is the last one */
    uint32_t step_count; /* 0: there are none */
    uint32_t slot_count; /* of the table of keys; 0: there is none */
    bool wide;         /* its slots are uint64_t: a body of 64 KiB or 4096 records and more; else uint32_t */
    bool chunked;      /* it stands in a chunk of those that are kept */
    size_t size;       /* bytes of it, steps and slots with it, */
    size_t bytes;      /*   and of its body, if that is its own */
    void *slots;       /* behind the steps, in the same memory */
    u9i_step_at steps[]; /* element i: the first record that begins at or behind i KiB */
} u9i_open_frame;

/* A record within an open frame; borrows it. */
typedef struct u9i_found {
    u9i_record record;
    uint64_t at;      /* virtual offset */
    uint32_t number;  /* in the frame */
} u9i_found;

/* Memory that lookups may keep. */
typedef struct u9i_budget {
    uint64_t used, limit; /* bytes; used is added to atomically */
    bool full;            /* something was not kept; set and asked atomically */
} u9i_budget;

/* Memory for kept frames, in large pieces: they are looked up all over. */
typedef struct u9i_frame_chunk {
    struct u9i_frame_chunk *next;
    size_t used; /* bytes, with this head */
} u9i_frame_chunk;

typedef struct u9i_frames {
    u9i_segment *segment; /* counted, and kept open where it is not mapped */
    u9i_windows *windows; /* borrows */
    uint64_t bound;       /* frames end at or before this offset */
    u9i_keyspec spec;
    bool tabled;          /* frames get a table of keys */
    u9i_budget *budget;   /* borrows */
    u9i_open_frame **kept; /* by place, in rows; loaded and set atomically */
    size_t kept_rows;
    pthread_mutex_t lock; /* guards: */
    u9i_frame_chunk *chunks;
    uint64_t row_bytes;   /* of the file, whose frames are in one row: about those of one frame */
} u9i_frames;

/* U9_IO (`*sys`), U9_NOMEM: nothing is held. */
U9_MUST_CHECK u9_err u9i_frames_open(u9i_frames *frames, u9i_segment *segment, u9i_windows *windows, uint64_t bound,
                                     const u9i_keyspec *spec, bool tabled, u9i_budget *budget, int *sys);
void u9i_frames_close(u9i_frames *frames); /* one that was never opened, zeroed, is fine */

/*
 * The frame at this offset. `*own` is not NULL if it could not be kept: the caller gives it back by
 * u9i_open_frame_free. Errors as u9i_load.
 */
U9_MUST_CHECK u9_err u9i_frames_at(u9i_frames *frames, uint64_t offset, const u9i_open_frame **out, u9i_open_frame **own,
                                   int *sys);
/* True if it is open and kept. */
bool u9i_frames_has(const u9i_frames *frames, uint64_t offset);
void u9i_open_frame_free(u9i_open_frame *frame); /* NULL is fine */

/* The newest record of this key in the frame that stands before `below`, a virtual offset. False: none does. */
U9_MUST_CHECK bool u9i_open_frame_find(const u9i_frames *frames, const u9i_open_frame *frame, const u9_key *key,
                                       uint64_t below, u9i_found *out);

/* The record that begins at this virtual offset in the frame. False: none does. */
U9_MUST_CHECK bool u9i_open_frame_record(const u9i_open_frame *frame, uint64_t at, u9i_found *out);

#endif
