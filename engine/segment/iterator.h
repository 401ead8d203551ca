/*
 * engine/segment/iterator.h: the frames and damages of one segment, one by one: over what the segment
 * remembers, and at the frontier by judging one round further.
 *
 *     step -> FRAME   the next frame of the log
 *          -> DAMAGE  something is wrong here; it goes on
 *          -> END     the segment's data end; iterator->judge says where and how
 *
 * It may lean on a mapping of its segment. What a frame borrows of it can turn to zeros, where the disk fails or the
 * file is cut meanwhile: who has used it asks u9i_iterator_fell, and then believes nothing of it; the same frame comes
 * once more, by read calls, or what is to be said of its place.
 *
 * One thread. Holds the segment, a window of the pool and the file open while it lives.
 */
#ifndef U9I_ITERATOR_H
#define U9I_ITERATOR_H

#include "engine/segment/segment.h"

typedef struct u9i_iterator {
    u9i_segment *segment; /* NULL: it is on none */
    u9i_windows *windows; /* borrows */
    u9i_window *window;
    const u9i_mapping *map; /* NULL: it does not lean on one, or never again */
    u9i_judge judge;      /* how it stands; at END: where the data end, and how */
    u9i_judge before;     /* map: how it stood before the last round */
    unsigned retold;      /*   sites of the next round that were told already: it is the last one once more */
    u9i_damage_site told_before[U9I_SITES_MAX]; /*   these */
    unsigned generation;  /* of what the segment remembers */
    bool alone;           /* it goes by its own judgement, not by what the segment remembers */
    bool ranged;          /* only the frames that begin in [from, stop), and what such a range owns [P-1] */
    bool tails;           /*   and the end's damage, if the last frame is in it [P-4]; set before u9i_iterator_range */
    bool passes;          /*   and goes over all in front of it: how the log stands behind counts; set like it */
    uint64_t from, stop;
    size_t index;         /* of the extent that it is in, or comes to */
    u9i_round round;      /* the last one, of which */
    unsigned told;        /*   so many sites are handed out, */
    bool over;            /*   or all of it */
    bool finished;        /* the range is */
    u9i_frame frame;      /* of the last FRAME; borrows the window until the next step */
    u9i_damage_site site; /* of the last DAMAGE */
} u9i_iterator;

/*
 * Goes to the start of a segment, where the log stood at `before` (NULL: not known; its chain counts with
 * `knows_chain`). On failure nothing is held. U9_IO (`*sys`: errno), U9_NOMEM.
 */
U9_MUST_CHECK u9_err u9i_iterator_open(u9i_iterator *iterator, u9i_segment *segment,
                                       u9i_windows *windows, const u9i_position *before,
                                       bool knows_chain, int *sys);
void u9i_iterator_close(u9i_iterator *iterator); /* one that is on no segment is fine */

/* Before the first step: what it shows may be mapped, if the segment is sealed, closed or settled and there is a guard. */
void u9i_iterator_lean(u9i_iterator *iterator);

/*
 * True if bytes of the last FRAME could not be read while it was used: window->sys and sys_at say so. The next step is
 * the one that came to it, once more, from the file.
 */
bool u9i_iterator_leave_map(u9i_iterator *iterator);

static inline bool u9i_iterator_fell(u9i_iterator *iterator)
{
    return iterator->map != NULL && u9i_mapping_broken(iterator->map) && u9i_iterator_leave_map(iterator);
}

/* Before the first step: only [from, stop). [P-1] [P-2] U9_IO, U9_NOMEM. */
U9_MUST_CHECK u9_err u9i_iterator_range(u9i_iterator *iterator, uint64_t from, uint64_t stop);

/* Before the first step: goes on from the frame at `from` as who came there from the segment's start. U9_IO, U9_NOMEM. */
U9_MUST_CHECK u9_err u9i_iterator_from(u9i_iterator *iterator, uint64_t from);

/*
 * The same where all in front of that frame's end is known to have been promised, and the frame to be served: nothing
 * before it is looked at.
 */
U9_MUST_CHECK u9_err u9i_iterator_leap(u9i_iterator *iterator, uint64_t from);

/* True if all in front of the segment's end is known to have been promised, before it is read. U9_IO. */
U9_MUST_CHECK u9_err u9i_iterator_promised(const u9i_iterator *iterator, bool *promised);

/* The next step. U9_IO: see window->sys; U9_NOMEM. The same call may be tried again. */
U9_MUST_CHECK u9_err u9i_iterator_step(u9i_iterator *iterator, u9i_step *step);

/*
 * The file may have grown, and nothing of the last round is left to be told: the next step goes on behind the last
 * frame, END or not. U9_IO (window->sys).
 */
U9_MUST_CHECK u9_err u9i_iterator_reopen(u9i_iterator *iterator);

/* Before the first step: goes on where `judge`, another iterator's on the file, stood between two steps. */
void u9i_iterator_take_up(u9i_iterator *iterator, const u9i_judge *judge);

/* U9_OK: a valid frame stands where the next one may, as far as can be seen now; U9_CORRUPT: none; U9_IO. */
U9_MUST_CHECK u9_err u9i_iterator_peek(u9i_iterator *iterator);

/* After END: the next steps look behind it. See u9i_judge_seal. */
void u9i_iterator_seal(u9i_iterator *iterator);

#endif
