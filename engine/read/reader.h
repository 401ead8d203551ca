/*
 * engine/read/reader.h: a whole log, frame by frame: the walks over its segments in a row, bodies opened, and
 * everything that is wrong told as a u9_damage. Cursor, check and salvage stand on it.
 *
 * One thread. Memory: one frame, one decoded body, the map; none of it grows with the log.
 */
#ifndef U9I_READER_H
#define U9I_READER_H

#include "engine/segment/judge.h"

#include <u9/check.h>

typedef struct u9i_reader {
    u9i_catalog map;
    size_t index;       /* the segment that is read, or comes next */
    size_t missing;     /* how many missing segments were told */
    bool walking;       /* `walk` is on segments[index] */
    bool announced;     /* what is wrong with segments[index] as a whole was told */
    u9i_judge walk;
    bool begun;         /* a segment was read: */
    u9i_position at;         /* where the log stands: behind the last segment read */
    bool knows_at;      /* at.ordinal is known */
    bool knows_chain;   /* at.chain is known */

    bool seals;         /* set by the user: also look behind the ends of rolled segments */
    bool sealed;        /* that of segments[index] is being looked behind */
    uint64_t only;      /* set by u9i_reader_seek: this segment only, 0: all */
    uint64_t stop;      /* frames that begin at or behind this offset are not wanted */

    u9i_frame *frame;   /* FRAME: = &walk.frame */
    u9i_body body;      /* FRAME: opened; borrows until the next step */
    uint32_t count;     /* FRAME: records in it; if there are any: */
    u9i_record first, last; /* the first and the last one; they borrow the body */
    uint8_t *scratch;   /* U9I_BODY_MAX bytes of address space */
    u9_damage damage;   /* DAMAGE: its path is `path` */
    char path[4400];
    u9_verdict tail;    /* END: how the last segment ends */
    bool closed;
    uint64_t beyond;    /* END: records behind an unconfirmed end */
} u9i_reader;

/* Takes the map of what is in `dir` now. On failure nothing is held. */
U9_MUST_CHECK u9_err u9i_reader_open(u9i_reader *reader, u9i_dir *dir, const char *path,
                                     u9_fault *fault);
void u9i_reader_release(u9i_reader *reader);

/*
 * Before the first step: skips segments that end before the record `from`, as far as their successors
 * say so.
 */
void u9i_reader_from(u9i_reader *reader, uint64_t from);

/*
 * Before the first step: only the frames of segment `number` that begin in [begin, end). [P-1] [P-2]
 * U9_ARG: no such segment, or begin > end.
 */
U9_MUST_CHECK u9_err u9i_reader_range(u9i_reader *reader, uint64_t number, uint64_t begin,
                                      uint64_t end, u9_fault *fault);

/*
 * The next step, as u9i_judge_step. U9_IO: the read may be tried again. U9_VERSION: a record of a later
 * version of the format; the next step is behind it.
 */
U9_MUST_CHECK u9_err u9i_reader_step(u9i_reader *reader, u9i_step *step, u9_fault *fault);

/* Walks the records of reader->body, which must be reader->count, as the trailer claims. [B-2] */
U9_MUST_CHECK u9_err u9i_reader_prove(u9i_reader *reader);

/* A walk's site as a u9_damage. */
u9_damage u9i_damage(const u9i_facts *segment, const char *path, const u9i_damage_site *site);

/* True if reading passes this segment by: void, or a creation cut short. [L-3] [L-4] */
bool u9i_segment_skipped(const u9i_facts *segment);

#endif
