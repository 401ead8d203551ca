/*
 * engine/read/reader.h: a whole log, frame by frame: iterators over its segments in a row, bodies opened, and
 * everything that is wrong told as a u9_damage. Cursor, lookup, check, salvage and send stand on it.
 *
 * Room: engine/read
 * Sees: include format/id format/frame engine/os engine/segment engine/index engine/log
 *
 * The room owns the reading of a log: reader, cursor, follow, lookup.
 *
 * One thread. Memory: one frame, one decoded body, the catalog; none of it grows with the log.
 */
#ifndef U9I_READER_H
#define U9I_READER_H

#include "engine/log/catalog.h"
#include "engine/read/part_row.h"

#include <u9/check.h>

#include <assert.h>

/*
 * A place between two steps: in front of a unit, which is a segment of the catalog with all that is told of it (the
 * last unit has what is missing behind the segments); or behind its frame at `frame` and `since` damages that follow
 * that; or right before that frame, with all told that stands in front of it; or behind all of the unit.
 */
typedef struct u9i_spot {
    size_t unit;    /* index in the catalog */
    uint64_t frame; /* offset; 0: none of its frames was passed */
    unsigned since; /* damages told behind that frame, or, without one, of the unit */
    bool before;
    bool end;
} u9i_spot;

typedef struct u9i_trail u9i_trail; /* back.h */

/* What lies between two places of a catalog: [P-4] */
typedef struct u9i_slice {
    size_t first;           /* from the segment with this index on, */
    uint64_t begin;         /*   of it only the frames from here on; 0: also what stands in front of it; */
    size_t last;            /* up to this one, */
    uint64_t end;           /*   of it only the frames before this; at most 32: nothing of it */
    bool whole_end;         /* and what stands behind that is not read, up to the next one that is */
    uint64_t trimmed;       /* not 0: the number of the segment that it began in, which was trimmed since, */
    uint64_t trimmed_begin; /*   and where */
} u9i_slice;

typedef struct u9i_reader {
    u9i_source *source;   /* borrows */
    u9i_catalog *catalog; /* as it was when the reader was opened */
    size_t index;         /* the segment that is read, or comes next */
    size_t only;          /* the segment to stop before; the catalog's count: none */
    size_t missing;       /* the missing segment to be told next, and */
    size_t missing_end;   /*   the one that is told no more */
    bool reading;         /* `iterator` is on segments[index] */
    size_t first_unit;    /* that it begins with */
    u9i_spot place;       /* where it is, for who turns round: back.h */
    bool blind;           /* set by the user: bodies are not opened */
    bool backwards;       /* the last step was one back, and: */
    u9i_frame front;      /*   the frame that `place` is in front of; its body is not kept; offset 0: it was not loaded */
    u9i_trail *trail;     /*   what stands in front of that, as far as it was judged; NULL: nothing is known */
    unsigned announced;   /* how much of what is wrong with segments[index] as a whole was told */
    u9i_iterator iterator;
    bool ranged;          /* set by u9i_reader_range and u9i_reader_slice: only frames that begin */
    bool sliced;       /*   (by the second) */
    size_t range_first, range_last; /* in segments[first] from */
    uint64_t range_begin, range_end; /*   `begin` on and, in segments[last], before `end` */
    uint64_t trimmed, trimmed_begin; /* to be told first; 0: nothing */
    bool begun;           /* a segment was read: */
    u9i_position at;      /* where the log stands: behind the last segment read */
    bool knows_at;        /* at.ordinal is known */
    bool knows_chain;     /* at.chain is known */
    uint64_t passed;      /* bytes of the segments before `passed_index` */
    size_t passed_index;

    bool leans;           /* set by the user: bodies may be mapped, and the user asks u9i_reader_fell; and what was proven
                           * in a sealed segment is not walked again: first, last and keyless are then not filled */
    bool seals;           /* set by the user: also look behind the ends of rolled segments */
    bool sealed;          /* that of segments[index] is being looked behind */
    bool surveys;         /* set by the user: segments are not read; only what is wrong with them as a whole is told */
    bool rowless;         /* set by the user: no row of parts goes on into the range that is read */
    bool leaves;          /* set by the user: before each segment is left, at its end, there is a step LEAVE */
    bool leaving;         /*   which was told of this one */

    u9i_frame *frame;     /* FRAME: = &iterator.frame */
    u9i_body body;        /* FRAME: opened; borrows until the next step */
    uint32_t keyless;     /* FRAME: of its records (a plain seed file's values) those without a key */
    uint32_t count;       /* FRAME: records in it; if there are any: */
    u9i_record first, last; /* the first and the last one; they borrow the body */
    uint8_t *scratch;     /* U9I_BODY_MAX bytes of address space */
    u9i_part_row parts;      /* the row of parts that is being passed; as many bytes of its own */
    bool parts_known;     /* a range: what stands before it was looked at for a row that goes on in it */
    u9i_part_row parts_before; /*   leans: how both were before the frame */
    bool parts_known_before;
    u9i_spot place_before;
    bool again;           /* the frame's row could not be read: the next step is the same frame once more */
    uint64_t large;       /* FRAME: bytes of a record in parts that is larger than a body. Only its key is here,
                           * in first and last, and not the record. Else 0 */
    u9_damage damage;     /* DAMAGE: its path is `path` */
    int damage_sys;       /*   U9_R_UNREADABLE: errno */
    char path[4400];
    u9_verdict tail;      /* END: how the last segment ends */
    bool closed;
    uint64_t beyond;      /* END: records behind an unconfirmed end */
} u9i_reader;

/* True if the log is one file, which is there: it is the segment, whatever its name says. */
static inline bool u9i_reader_is_single(const u9i_source *source, const u9i_catalog *catalog)
{
    return source->dir->single[0] && catalog->count == 1;
}

/* Takes the catalog of what is there now. On failure nothing is held. */
U9_MUST_CHECK u9_err u9i_reader_open(u9i_reader *reader, u9i_source *source, u9_fault *fault);
/* The same on a catalog that is held already, of which it takes a reference of its own. */
U9_MUST_CHECK u9_err u9i_reader_open_on(u9i_reader *reader, u9i_source *source, u9i_catalog *catalog, u9_fault *fault);
void u9i_reader_release(u9i_reader *reader);

/*
 * Before the first step: skips segments that end before the record `from`, as far as their successors
 * say so.
 */
void u9i_reader_from(u9i_reader *reader, uint64_t from);

/* Starts anew: only the segments [first, last] of the catalog, and those that are missing in front of them. */
void u9i_reader_segments(u9i_reader *reader, size_t first, size_t last);

/* The segment with this number, of a single file that file: the one of the row, else any; else the catalog's count. */
size_t u9i_reader_unit(const u9i_reader *reader, uint64_t number);

/*
 * Before the first step: only the frames of segment `number` that begin in [begin, end). [P-1] [P-2]
 * U9_ARG: no such segment, or begin > end.
 */
U9_MUST_CHECK u9_err u9i_reader_range(u9i_reader *reader, uint64_t number, uint64_t begin,
                                      uint64_t end, u9_fault *fault);

/*
 * Before the first step: only what belongs to this slice. How the log stands in front of it is found out, for which
 * segments before it are read if nothing names their ends. U9_IO, U9_NOMEM. [P-4]
 */
U9_MUST_CHECK u9_err u9i_reader_slice(u9i_reader *reader, const u9i_slice *slice, u9_fault *fault);

/* The first segment of the catalog from `index` on that is of the row; its count if there is none. */
size_t u9i_reader_next_on_row(const u9i_reader *reader, size_t index);

/* The ordinal that the u9open of segments[index] says, if there is one that does; else U9_NOWHERE. */
uint64_t u9i_reader_opens_at(const u9i_reader *reader, size_t index);

/*
 * The next step, as u9i_iterator_step. U9_IO: the read may be tried again. U9_VERSION: a record of a later
 * version of the format; the next step is behind it.
 */
U9_MUST_CHECK u9_err u9i_reader_step(u9i_reader *reader, u9i_step *step, u9_fault *fault);

/*
 * For one that leans, after each use of what a FRAME borrows: true if bytes of it could not be read meanwhile, so that
 * zeros may have been seen, and `fault` says which. The next step is that frame once more, or its damage.
 */
void u9i_reader_leave_map(u9i_reader *reader, u9_fault *fault);

static inline bool u9i_reader_fell(u9i_reader *reader, u9_fault *fault)
{
    assert(reader->reading);
    bool fell = u9i_iterator_fell(&reader->iterator);
    if (fell) u9i_reader_leave_map(reader, fault);
    return fell;
}

/* Makes a DAMAGE of what is wrong with the segment of these facts. Returns U9_OK. */
u9_err u9i_reader_tell(u9i_reader *reader, u9i_step *step, const u9i_facts *facts, u9i_damage_site site);

/* What the step tells may have cost records. [K-3] */
static inline bool u9i_reader_loses(const u9i_reader *reader, u9i_step step)
{
    const u9_damage *d = &reader->damage;
    bool unconfirmed = d->verdict == U9_V_UNKNOWN && d->at_most; /* frames behind it may have been promised, too */
    return step == U9I_STEP_DAMAGE && d->verdict != U9_V_TORN && (d->lost != 0 || unconfirmed);
}

/* What holds of every reader between two steps. */
void u9i_reader_check(const u9i_reader *reader);

/* Opens the body of reader->frame, and tells what is wrong with it. reader->again: the same call may be tried again. */
U9_MUST_CHECK u9_err u9i_reader_open_body(u9i_reader *reader, u9i_step *step, u9_fault *fault);

/* Closes the segment that is read, or goes to unit `index` with what stood before it forgotten. */
void u9i_reader_leave(u9i_reader *reader);
void u9i_reader_restart(u9i_reader *reader, size_t index);

/* Reads the same catalog, and as much of it, as the other one of its source; from the start. */
void u9i_reader_share(u9i_reader *reader, const u9i_reader *other);

/* The first missing segment that stands before none of those in front of unit `index`. */
size_t u9i_reader_missing(const u9i_reader *reader, size_t index);
/* It is the next to be told, if any is. */
void u9i_reader_pass_missing(u9i_reader *reader, size_t index);

/* True if the segment of this unit was trimmed since the catalog was made. [L-10] */
bool u9i_reader_trimmed(u9i_reader *reader, size_t unit);
/* Where a reader stands, for another catalog. */
typedef struct u9i_stand {
    uint64_t number;      /* the segment */
    bool inside;          /* in it, whose boundary is */
    uint8_t boundary[U9I_HASH_SIZE]; /*   this, at */
    u9i_judge judge;      /*   this place; else behind it */
} u9i_stand;

/* Where it stands between two steps. */
void u9i_reader_stand(const u9i_reader *reader, u9i_stand *out);

/*
 * Goes on from there in this catalog, a later one of the same log, of which it takes over the reference: what comes
 * next is not read yet, but *told: it is told first, as `step`, that segments were trimmed. U9_IO, U9_NOMEM: the
 * same may be tried again, with another reference; the reader is on no segment meanwhile.
 */
U9_MUST_CHECK u9_err u9i_reader_switch(u9i_reader *reader, u9i_catalog *catalog, const u9i_stand *stand, u9i_step *step,
                                     bool *told, u9_fault *fault);

/* Before the first part that is joined: room for a record that stands in parts. U9_NOMEM: may be tried again. */
U9_MUST_CHECK u9_err u9i_reader_row_room(u9i_reader *reader, u9_fault *fault);

/*
 * The u9part in reader->body, of this frame, which is the next that is passed. Of a row's last one it makes the
 * record's body, or `large`. U9_TORN: parts are missing; U9_CORRUPT: not a part, or together not a record. [C-6]
 */
U9_MUST_CHECK u9_err u9i_reader_join(u9i_reader *reader, const u9i_frame *frame);

/*
 * The reader's frame holds this part, not its row's first, and is the first with one in a range: what stands before
 * the range is passed for the row. The reader's scratch is used. U9_IO, U9_NOMEM: may be tried again. [P-1]
 */
U9_MUST_CHECK u9_err u9i_reader_catch_up(u9i_reader *reader, const u9i_part_record *part, u9_fault *fault);

/* What is to be told of a frame whose row is not there as a whole: after U9_TORN. */
u9i_damage_site u9i_reader_lacks(const u9i_reader *reader, const u9i_frame *frame);

/* Walks the records of reader->body, which must be reader->count, as the trailer claims. [B-2] */
U9_MUST_CHECK u9_err u9i_reader_prove(u9i_reader *reader);

/* The facts of the segment that is read. */
static inline const u9i_facts *u9i_reader_facts(const u9i_reader *reader)
{
    return u9i_catalog_facts(reader->catalog, reader->index);
}

/* Bytes of the log's files that are read, and of all. */
uint64_t u9i_reader_passed(u9i_reader *reader);
uint64_t u9i_reader_bytes(const u9i_reader *reader);

#endif
