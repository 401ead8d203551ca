/*
 * engine/read/cursor.h: what is behind a u9_cursor; lookups read through one.
 */
#ifndef U9I_CURSOR_H
#define U9I_CURSOR_H

#include "engine/read/reader.h"

#include <u9/log.h>

struct u9_cursor {
    u9_log *log;
    u9i_reader reader;
    uint64_t from, to;             /* ordinals wanted: [from, to) */
    uint64_t since_us, until_us;   /* and times: [since_us, until_us) */
    bool loaded;         /* the reader's last step is a frame, and the cursor in it: */
    const uint8_t *next; /*   records of the frame that are in front of it */
    size_t left;
    uint64_t ordinal;    /* of the record at `next`; not loaded: of the one that comes next, if none is lost */
    uint64_t run_end;    /*   those from there on and below this are wanted, whatever bounds there are; 0: not known */
    u9_record common;    /*   what the records of the frame have in common; `at`: of the first byte of its body */
    bool counts;         /*   which is known */
    bool resumes;        /* the frame fell under the cursor: it comes once more, and goes on at `ordinal` */
    uint32_t *starts;    /* where the frame's records begin in its body */
    size_t room;
    bool started;        /*   that is filled for this frame */
    uint64_t shown;      /* forwards: records below this were shown before a segment is read once more */
    uint64_t sent;       /* it was saved in front of this one, and nothing was shown since: what was trimmed before that is not told */
    u9_damage trimmed;   /* what was trimmed since the cursor was saved, to be told first; reason 0: nothing */
    u9i_spot ended;      /* where it came to the end, behind all that was there: who goes back from there goes from here, */
    bool has_ended;      /*   whatever came since */
    u9i_held held;       /* where a record stands that is read in pieces, and was the last one shown */
    bool silent;         /* damage is not told */
    bool lossy;          /* damage was met that may have cost records */
    u9_fault fault;
    struct u9i_follower *follower; /* NULL: the end is the end */
};

/* Starts the cursor anew: only the segments [first, last] of its catalog. */
void u9i_cursor_segments(u9_cursor *cursor, size_t first, size_t last);

/* Goes to a place of the reader; nothing is loaded. */
void u9i_cursor_go(u9_cursor *cursor, u9i_spot place);

/* The reader's last step is a frame with records: the cursor is before the first of them, or behind the last. */
void u9i_cursor_load(u9_cursor *cursor, bool behind);

/* Passes the record in front of the cursor, in its frame; U9_LIMIT: it is larger than what is handed out; U9_END: none is there. */
U9_MUST_CHECK u9_err u9i_cursor_pass(u9_cursor *cursor, u9_record *out);

/* Behind its frame, all of which was shown: what is looked at next may take the place of its bytes. U9_IO: as u9i_reader_fell. */
U9_MUST_CHECK u9_err u9i_cursor_leave(u9_cursor *cursor);

/* The next record, past all that is told on the way: what was lost is in `lossy`. U9_OK: also of one without its bytes, as it
 * is larger than what is handed out. U9_END, or an error. */
U9_MUST_CHECK u9_err u9i_cursor_scan(u9_cursor *cursor, u9_record *out);

/* Closes a cursor that came to `err`, which is returned, told to `fault`: of U9_END there is nothing to tell, it is U9_OK. */
U9_MUST_CHECK u9_err u9i_cursor_end(u9_cursor *cursor, u9_err err, u9_fault *fault);

/* U9_ARG: there is no cursor, or an argument that must be is not; U9_STATE: of a forked child. */
U9_MUST_CHECK u9_err u9i_cursor_allow(u9_cursor *cursor, const void *argument);

/* The kind of the log's keys, as the handle knows it, or as a later catalog does; "": nobody knows it. */
const char *u9i_kind_in(const u9_log *log, const u9i_catalog *catalog);

/* In the order of their bytes; of two that begin alike the shorter one is lower. */
bool u9i_key_lower(const u9_key *key, const u9_key *limit);

/* What no record can have is no key: as an append says. A log whose kind is not known may have any. [L-6] U9_ARG. */
U9_MUST_CHECK u9_err u9i_cursor_check_key(const u9_cursor *cursor, const u9_key *key, u9_fault *fault);

#endif
