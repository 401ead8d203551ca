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
#include "engine/index/load.h"
#include "engine/index/open_frame.h"

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

struct u9i_frames {
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
};

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
/* The same of the record that begins at this virtual offset: its frame's head, and it itself if the file is mapped and its
 * body not wrapped. */
void u9i_frames_bring_record(const u9i_frames *frames, uint64_t at);

/*
 * True if what was taken from the frame may have been zeros: it stands in a mapping, which broke. Who has used its bytes
 * asks, and looks once more: then the file is read.
 */
static inline bool u9i_open_frame_fell(const u9i_frames *frames, const u9i_open_frame *frame)
{
    return frame->bytes && !frame->owned && u9i_segment_broken(frames->segment);
}

#endif
