/*
 * engine/segment/judge.h: the rule of recovery: one segment, frame by frame, with a verdict on everything that
 * is not a frame. to [R-8] [F-8] [F-9]
 *
 * All that reads a log (cursor, check, salvage, opening for writing) goes through this walk, so that
 * there is one judgement.
 *
 *     step -> FRAME   the next frame of the log
 *          -> DAMAGE  something is wrong here; the walk goes on
 *          -> END     the segment's data end; walk->end says where
 */
#ifndef U9I_WALK_H
#define U9I_WALK_H

#include "engine/log/catalog.h"

typedef enum u9i_step { U9I_STEP_FRAME = 1, U9I_STEP_DAMAGE, U9I_STEP_END } u9i_step;

/* One damaged place, before it is dressed up as a u9_damage. */
typedef struct u9i_damage_site {
    u9_verdict verdict;
    u9_reason reason;
    uint64_t begin, end;
    uint64_t ordinal, lost; /* U9_NOWHERE: not known */
    bool at_most;
} u9i_damage_site;

typedef struct u9i_judge {
    const u9i_facts *segment; /* borrows */
    u9i_dir *dir; /* borrows */
    u9i_file *file;
    u9i_window scan;
    bool newest;    /* the log's last segment: a writer may be at it */
    uint64_t size;  /* of the file, when the walk began */
    uint64_t bound; /* the named end, or size */

    uint64_t pos;       /* where the next frame is expected */
    bool reread;        /* the bytes at pos and behind were read again */
    uint64_t known;     /*   P, as far as it was known before that */
    bool deserted;      /*   nobody was writing any more before that */
    uint64_t frames;    /* read so far; 0: nothing stands before pos */
    uint64_t previous;  /* offset of the frame before */
    bool knows_ordinal; /* what the next frame must say: */
    bool knows_chain;
    uint64_t ordinal;
    uint8_t chain[U9I_HASH_SIZE];

    uint64_t promise;   /* P as far as known */
    bool promise_final; /* the rest of the file was looked at for it */

    u9i_frame frame;     /* of the last FRAME step; borrows the window */
    bool held;           /* it is found, but damage before it is told first */
    u9i_damage_site sites[4];   /* to be told, in order */
    unsigned site_first, site_count;
    u9i_damage_site site;       /* of the last DAMAGE step */

    bool ended;
    bool behind;         /* what stands behind the named end is being looked at */
    u9i_position end;         /* where data end; its chain is that of the last frame read */
    u9_verdict tail;     /* CLEAN: confirmed by a named end or a closing u9end */
    bool closed;         /* the last frame holds a u9end, and nothing stands behind it */
    uint64_t beyond;     /* records in valid frames behind the end */
    uint64_t last;       /* offset of the last frame read, 0 if none */
    bool last_closes;    /* it holds a u9end */
    uint64_t time_us;    /* its time */
} u9i_judge;

/*
 * Begins at offset 32 of `segment`. `before` is the end at which the log stood before this segment, NULL
 * if that is not known; its chain counts only with `knows_chain`. On failure nothing is held.
 */
U9_MUST_CHECK u9_err u9i_judge_begin(u9i_judge *walk, const u9i_catalog *map, const u9i_facts *segment,
                                    const u9i_position *before, bool knows_chain, u9_fault *fault);

/* As above for a byte range: begins at the first valid frame at or behind `from`. [P-1] */
U9_MUST_CHECK u9_err u9i_judge_skip(u9i_judge *walk, uint64_t from);

/* The next step. U9_IO: see walk->scan.sys; U9_NOMEM. The same call may be tried again. */
U9_MUST_CHECK u9_err u9i_judge_step(u9i_judge *walk, u9i_step *step);

/*
 * After END of a segment whose successor says "rolled": the next steps look at index frames and seal
 * behind the end, tell what is damaged there, and END once more.
 */
void u9i_judge_seal(u9i_judge *walk);

void u9i_judge_release(u9i_judge *walk);

/* Fills a u9_fault after U9_IO or U9_NOMEM of a step. Returns err. */
u9_err u9i_judge_fault(const u9i_judge *walk, const u9i_catalog *map, u9_err err, u9_fault *fault);

#endif
