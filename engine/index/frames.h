/*
 * engine/index/frames.h: verified frames of one segment, opened and kept for lookups: each is read, proven and walked
 * once, and then shared by all threads.
 *
 * What is kept of a frame is where its records are: of a segment in which keys come in order a table of the keys in it,
 * else the places of its records. Its body stands where the file is mapped, or in memory of its own if it is wrapped;
 * else it is not kept: the one record that is wanted is read from the file.
 *
 * Nothing is taken out one by one: memory is counted in a budget, and where it is used up frames are the caller's own,
 * for one lookup. Who finds that this was so too often lets go of all (read/view.h).
 *
 * Threads: any. A kept frame never changes.
 */
#ifndef U9I_FRAMES_H
#define U9I_FRAMES_H

#include "engine/index/budget.h"
#include "engine/index/keys.h"
#include "engine/segment/segment.h"

#include <u9/log.h>


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

/* What is asked of a frame at each lookup: one line of the processor's cache. */
typedef struct u9i_open_frame {
    struct u9i_open_frame *next; /* kept beside it */
    const uint8_t *bytes;  /* the body: in the mapping, or its own; NULL: it is read, record by record */
    void *table;           /* of keys, or of places: see frames.c; NULL: it is walked */
    uint64_t offset;
    uint64_t ordinal;      /* of its first record */
    uint64_t time_us;
    uint32_t size;         /* bytes of the body */
    uint32_t count;        /* records in it */
    uint8_t kind;          /* a u9i_body_kind: RECORDS, or PART: a record in parts, of which this is the last one */
    bool plain : 1;        /* as the body */
    bool keyed : 1;        /* the table is one of keys */
    bool wide : 1;         /* its table has wider elements */
    bool owned : 1;        /* `bytes` are its own memory */
    bool kept : 1;
    uint16_t spread;       /* of a table of keys: see frames.c */
    uint32_t fenced;       /* of a kept one: the page, counted from 1, whose entry was found to say the truth of it; 0: none.
                            * Set and asked atomically */
} u9i_open_frame;

/* A record within an open frame. */
typedef struct u9i_found {
    u9i_record record; /* borrows the frame, or `own` */
    uint64_t at;       /* virtual offset */
    uint32_t number;   /* in the frame */
    uint8_t *own;      /* to be freed, by u9i_found_free; NULL: there is none */
} u9i_found;
void u9i_found_free(u9i_found *found);

/* Frames that are kept, of one part of the file: mostly one. Loaded and set atomically. */
typedef struct u9i_kept_row {
    u9i_open_frame *first;
    uint32_t groups; /* of a table of keys that stands behind it, or 0; only to be asked of the processor: perhaps of another */
} u9i_kept_row;

/* Of frames that have records where each begins, and the ordinal of its first record; ascending. Memory from malloc. */
typedef struct u9i_first {
    uint64_t offset, ordinal;
} u9i_first;
typedef struct u9i_firsts {
    u9i_first *all;
    size_t count;
} u9i_firsts;

typedef struct u9i_frames {
    u9i_segment *segment; /* counted, and kept open where it is not mapped */
    u9i_windows *windows; /* borrows */
    uint64_t bound;       /* frames end at or before this offset */
    u9i_keyspec spec;
    uint64_t seed;        /* of tables of keys */
    bool keyed;           /* frames get a table of keys; else of places, unless they are asked for as fenced */
    u9i_budget *budget;   /* borrows */
    u9i_kept_row *kept;   /* by place */
    size_t kept_rows;
    u9i_firsts firsts;    /* own; of a plain seed file: set once it is open, by who has gone through it */
    uint64_t row_bytes;   /* of the file, whose frames are in one row: about those of one frame */
} u9i_frames;

/* U9_IO (`*sys`), U9_NOMEM: nothing is held. */
U9_MUST_CHECK u9_err u9i_frames_open(u9i_frames *frames, u9i_segment *segment, u9i_windows *windows, uint64_t bound,
                                     const u9i_keyspec *spec, bool keyed, u9i_budget *budget, int *sys);
void u9i_frames_close(u9i_frames *frames); /* one that was never opened, zeroed, is fine */

/*
 * The frame at this offset. `*own` is not NULL if it could not be kept: the caller gives it back by
 * u9i_open_frame_free. Errors as u9i_load.
 */
U9_MUST_CHECK u9_err u9i_frames_at(u9i_frames *frames, uint64_t offset, const u9i_open_frame **out, u9i_open_frame **own,
                                   int *sys);
/* The same, of one in which records in order will be looked for by their keys. */
U9_MUST_CHECK u9_err u9i_frames_fenced_at(u9i_frames *frames, uint64_t offset, const u9i_open_frame **out,
                                          u9i_open_frame **own, int *sys);
/* The same if it is kept; NULL: it is not. */
const u9i_open_frame *u9i_frames_kept(const u9i_frames *frames, uint64_t offset);
/* Asks the processor for what a lookup of this key looks at in it, if it is kept: its head, and what is first in its table. */
void u9i_frames_bring(const u9i_frames *frames, uint64_t offset, const u9i_key_entry *key);
/* The same of one that is known to be kept, with so many groups, and of a key of this hash: u9i_key_mix by frames->seed. */
void u9i_open_frame_bring_slots(const u9i_open_frame *frame, uint32_t groups, uint64_t hash);
/* Of a kept one; what it is to be brought by. */
uint32_t u9i_open_frame_groups(const u9i_open_frame *frame);
/* The same of the record that begins at this virtual offset: its frame's head, and it itself if the file is mapped and its
 * body not wrapped. */
void u9i_frames_bring_record(const u9i_frames *frames, uint64_t at);
void u9i_open_frame_free(u9i_open_frame *frame); /* NULL is fine */

/*
 * The newest record of this key in the frame that stands before `below`, a virtual offset. U9_ABSENT: none does.
 * U9_IO, U9_NOMEM; U9_CORRUPT: the file is not what it was.
 */
U9_MUST_CHECK u9_err u9i_open_frame_find(const u9i_frames *frames, const u9i_open_frame *frame, const u9_key *key,
                                         uint64_t below, u9i_found *out);

/*
 * The same of a kept frame, of a key of this hash, as far as it is at hand: where keys are looked up most. U9_AGAIN: it is
 * not, ask the other one. Who uses what was found asks u9i_open_frame_fell.
 */
U9_MUST_CHECK u9_err u9i_open_frame_find_at_hand(const u9i_open_frame *frame, const u9_key *key, uint64_t hash, uint64_t below,
                                                 u9i_found *out);

/*
 * True if what was taken from the frame may have been zeros: it stands in a mapping, which broke. Who has used its bytes
 * asks, and looks once more: then the file is read.
 */
static inline bool u9i_open_frame_fell(const u9i_frames *frames, const u9i_open_frame *frame)
{
    return frame->bytes && !frame->owned && u9i_segment_broken(frames->segment);
}

/*
 * Asks the processor for the record that a lookup of this key will look at in a kept frame whose head and slots are at
 * hand. `at`: a virtual offset at which it begins, or 0: then it is that of the slot that is returned, unless that is 0.
 */
uint64_t u9i_open_frame_bring(const u9i_frames *frames, const u9i_open_frame *frame, const u9_key *key, uint64_t at);

/* The record of that slot. U9_ABSENT: it has another key, and the frame may have a record of this one all the same; U9_IO,
 * U9_NOMEM, U9_CORRUPT as u9i_open_frame_find. */
U9_MUST_CHECK u9_err u9i_open_frame_at_slot(const u9i_frames *frames, const u9i_open_frame *frame, const u9_key *key,
                                            uint64_t slot, u9i_found *out);

/* Told of each record, in order, where it begins in the body, and its number; true ends it. */
typedef bool u9i_walk_fn(void *ctx, const u9i_record *record, uint32_t at, uint32_t number);

/* Goes through a frame of RECORDS. U9_CORRUPT, U9_IO, U9_NOMEM: its body is not kept, and cannot be read again. */
U9_MUST_CHECK u9_err u9i_open_frame_walk(const u9i_frames *frames, const u9i_open_frame *frame, u9i_walk_fn *each, void *ctx);

/* The key of the record that begins at this virtual offset, which may be a guess. U9_CORRUPT: no record of such a key. */
U9_MUST_CHECK u9_err u9i_open_frame_key(const u9i_frames *frames, const u9i_open_frame *frame, uint64_t at, u9i_key_entry *out);

/* The record that begins at this virtual offset in the frame. U9_CORRUPT: none does. U9_IO, U9_NOMEM. */
U9_MUST_CHECK u9_err u9i_open_frame_record(const u9i_frames *frames, const u9i_open_frame *frame, uint64_t at, u9i_found *out);

#endif
