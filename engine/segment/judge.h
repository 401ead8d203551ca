/*
 * engine/segment/judge.h: the rule of recovery: one segment, frame by frame, with a verdict on everything
 * that is not a frame. to [R-8] [F-8] [F-9]
 *
 * All that reads a log (cursor, check, salvage, opening for writing) goes by this judge, so that there is
 * one judgement. A judge is plain memory: a copy of it goes on by itself. What it found so far is kept by
 * the segment (segment.h), so that it is found once.
 *
 *     next -> a round: what is wrong here, at most U9I_SITES_MAX sites, and then
 *             FRAME   the next frame of the log
 *             END     the segment's data end; judge->end says where
 *             DAMAGE  nothing more: ask again
 */
#ifndef U9I_JUDGE_H
#define U9I_JUDGE_H

#include "engine/segment/probe.h"

typedef enum u9i_step { U9I_STEP_FRAME = 1, U9I_STEP_DAMAGE, U9I_STEP_END, U9I_STEP_LEAVE } u9i_step;

/* One damaged place, before it is dressed up as a u9_damage. */
typedef struct u9i_damage_site {
    u9_verdict verdict;
    u9_reason reason;
    uint64_t begin, end;
    uint64_t ordinal, lost; /* U9_NOWHERE: not known */
    bool at_most;
    bool mended;    /* the frame that stands there is one that was mended: nothing is lost [Y-6] */
    uint64_t owner; /* a byte range that holds this offset tells of it [P-1] */
    int sys;        /* U9_R_UNREADABLE: errno */
    uint64_t part, part_at, part_lacks, part_total; /* U9_R_PART: as in u9_damage */
} u9i_damage_site;

enum { U9I_SITES_MAX = 4 };

typedef struct u9i_round {
    u9i_damage_site sites[U9I_SITES_MAX]; /* to be told, in order */
    unsigned count;
    u9i_step then;
    u9i_frame frame; /* FRAME: borrows the window until its next use */
} u9i_round;

typedef struct u9i_judge {
    const u9i_facts *facts; /* borrows */
    u9i_dir *dir;           /* borrows: asked whether a writer is at work */
    u9i_windows *windows;   /* borrows: lends a second one for a look ahead */
    uint64_t size;  /* of the file, when the judge began */
    uint64_t bound; /* the named end, or size */

    uint64_t pos;       /* where the next frame is expected */
    bool reread;        /* the bytes at pos and behind were read again */
    uint64_t known;     /*   P, as far as it was known before that */
    bool deserted;      /*   nobody was writing any more before that */
    uint64_t frames;    /* passed so far; 0: nothing stands before pos */
    uint64_t previous;  /* offset of the frame before */
    bool knows_ordinal; /* what the next frame must say: */
    bool knows_chain;
    uint64_t ordinal;
    uint8_t chain[U9I_HASH_SIZE];

    bool mark_passed;   /* of a marked segment: a frame that ends at or behind the mark was passed [M-4] */
    bool mark_denied;   /* and it was not the one that the mark names */
    uint64_t promise;   /* P as far as known */
    bool promise_final; /* the rest of the file was looked at for it */

    int held_back;      /* errno: what nothing promises could not be made durable, and is not served */

    bool ended;
    bool behind;         /* what stands behind the named end is being looked at */
    u9i_position end;    /* where data end; its chain is that of the last frame read */
    u9_verdict tail;     /* CLEAN: confirmed by a named end or a closing u9end */
    bool closed;         /* the last frame holds a u9end, and nothing stands behind it */
    uint64_t beyond;     /* records in valid frames behind the end */
    uint64_t last;       /* offset of the last frame passed, 0 if none */
    bool last_closes;    /* it holds a u9end, */
    bool last_seals;     /*   of kind 2: nothing was ever written behind it [S-6] */
    uint64_t time_us;    /* its time */
    uint64_t unread;     /* the first offset that could not be read, of what it judged by; U9_NOWHERE: none */
    int unread_sys;      /*   errno */
} u9i_judge;

/*
 * Begins at offset 32 of a file of `size` bytes. `before` is the end at which the log stood before this
 * segment, NULL if that is not known; its chain counts only with `knows_chain`.
 */
void u9i_judge_init(u9i_judge *judge, const u9i_facts *facts, u9i_dir *dir, u9i_windows *windows,
                    uint64_t size, const u9i_position *before, bool knows_chain);

/* A byte range of a segment whose end is known: goes to the first valid frame at or behind `from`. [P-1] */
U9_MUST_CHECK u9_err u9i_judge_skip(u9i_judge *judge, u9i_window *window, uint64_t from);

/* Before the first round: serves nothing that lies behind the last promise, for this reason (errno). */
void u9i_judge_hold_back(u9i_judge *judge, int sys);

/* Goes on at `pos`, with nothing known of what stands before it. */
void u9i_judge_jump(u9i_judge *judge, uint64_t pos);

/*
 * A file that may have grown: what it said of the end is taken back, and it goes on at pos, in `size` bytes. The file
 * has no named end, or the judge has not come there.
 */
void u9i_judge_reopen(u9i_judge *judge, uint64_t size);

/* Before the first round: goes on where `other`, of the same file as it was earlier, stood between two rounds; at the named end,
 * if that stood behind it, past frames without records. */
void u9i_judge_take_up(u9i_judge *judge, const u9i_judge *other);

/*
 * The next round, through a window that is on the segment's file. U9_IO: see window->sys; U9_NOMEM: the same
 * call may be tried again, and the round is void.
 */
U9_MUST_CHECK u9_err u9i_judge_next(u9i_judge *judge, u9i_window *window, u9i_round *round);

/*
 * The frame that was judged to stand at judge->pos or at the next block, before `bound`; passes it. U9_CORRUPT:
 * it does not stand there any more.
 */
U9_MUST_CHECK u9_err u9i_judge_pass(u9i_judge *judge, u9i_window *window, uint64_t bound,
                                    u9i_frame *frame);

/*
 * After END of a segment whose successor says "rolled": the next rounds look at index frames and seal
 * behind the end, tell what is damaged there, and END once more.
 */
void u9i_judge_seal(u9i_judge *judge);

/* True if the file has an end that a later segment names. */
static inline bool u9i_judge_bounded(const u9i_judge *judge)
{
    return judge->facts->named;
}

/* u9i_judge_next for a plain seed file. */
U9_MUST_CHECK u9_err u9i_plain_next(u9i_judge *judge, u9i_window *window, u9i_round *round);

/* What holds of every judge between two rounds. */
void u9i_judge_check(const u9i_judge *judge);

#endif
