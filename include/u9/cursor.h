/*
 * u9/cursor.h: a cursor that goes both ways, is sent anywhere in its log, and is saved as a line of text
 * (SPEC.md, Q-*).
 *
 * A cursor stands between two records: u9_cursor_next (u9/log.h) hands out the one behind it and moves over it,
 * u9_cursor_prev the one in front of it. So next after prev is the same record. One that has come to the end (U9_END) stands
 * behind the record that was the last then, whatever is appended. A cursor knows the segments that there were when it was
 * opened; one that follows (u9/follow.h) knows those that come, too. The backward walk is the exact mirror of
 * the forward one: the same records, the same damages, in reverse order.
 *
 * Threads: a cursor is one thread's at a time. Errors' details: u9_cursor_fault.
 */
#ifndef U9_CURSOR_H
#define U9_CURSOR_H

#include <u9/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The record before, verified; otherwise as u9_cursor_next: `out` borrows until the next call, U9_CORRUPT and U9_ABSENT
 * tell what stands in front (and the next call goes on in front of that), U9_VERSION and U9_LIMIT likewise. U9_END: the
 * cursor is before the first record. U9_CORRUPT with the rule Q-1, of either: the files changed under the cursor.
 * Where the log is whole a few frames are read, in a segment however large; in a damaged segment, and in the last one
 * while it is written, what stands in front is judged first, from the segment's start. A cursor with range.from ends at
 * that record, and tells no damage in front of it.
 */
U9_API U9_MUST_CHECK u9_err u9_cursor_prev(u9_cursor *cursor, u9_record *out);

typedef enum u9_seek_kind {
    U9_SEEK_START = 1, /* before the first record, or the first within the bounds of u9_cursor_within */
    U9_SEEK_END,       /* behind the last, and behind damage that may have cost records below the bounds' end; of a log that
                          goes on, and without bounds, behind the one that is the last when the cursor moves from there */
    U9_SEEK_ORDINAL,   /* before the record `number`, or, where it is not there, the first one above */
    U9_SEEK_TIME,      /* before the first record whose frame was written at or after `number`, microseconds since 1970 */
    U9_SEEK_KEY,       /* before the first record whose key is `key`, or above it */
    U9_SEEK_OFFSET,    /* before the first record of a frame that begins at or behind byte `offset` of segment `segment` */
    U9_SEEK_SAVED      /* where a cursor was that u9_cursor_save wrote as `text`, which ends with NUL or a newline */
} u9_seek_kind;

/* Where to. Set `size` to sizeof(u9_seek), and what the kind asks for; the rest to zero. Borrows for the call. */
typedef struct u9_seek {
    size_t size;      /* sizeof(u9_seek) */
    u9_seek_kind kind;
    uint64_t number;  /* ordinal, or time */
    u9_key key;       /* raw form */
    uint64_t segment; /* its number; a single file needs none */
    uint64_t offset;  /* bytes; 0: the segment's start */
    const char *text;
} u9_seek;

/*
 * Sends the cursor there. What lies between is not read, but a few frames on the way, by bisection; only in plain
 * seed files, and where a place is not met as expected, by a walk. Damages that are passed are not told; those that stand
 * right before the record that is sought are told by u9_cursor_next: what was lost there may have been what is sought.
 *
 * U9_SEEK_KEY goes by the order of keys as the bytes of their raw form have it: where keys were given in another order,
 * it is some record that is found. Logs of kind rkey have no order: U9_ARG. U9_SEEK_SAVED: if records that would come
 * next were trimmed, u9_cursor_next tells that first (U9_ABSENT, U9_R_TRIMMED), and goes on at the first that is kept.
 *
 * Errors: U9_ARG (an argument is NULL, or not as said; no such segment; a key that is not of the log's kind; a text that
 * is no saved cursor, or one of another log; a cursor of a byte range, but to its start and end), U9_VERSION (a saved
 * cursor of a later form), U9_IO, U9_NOMEM, U9_STATE (forked). After an error the cursor is at its start.
 */
U9_API U9_MUST_CHECK u9_err u9_cursor_seek(u9_cursor *cursor, const u9_seek *to);

/* u9_cursor_open of the whole log, and then u9_cursor_seek: both of their errors, in `fault`. Close with u9_cursor_close. */
U9_API U9_MUST_CHECK u9_err u9_log_seek(u9_log *log, const u9_seek *to, u9_cursor **out, u9_fault *fault);

/*
 * Not 0 if the cursor is to stand before `record`, or before one in front of it; so from some record on it must be not 0
 * for all. A record over U9_RECORD_MAX bytes has key and size, and no bytes. The record borrows for the call, which must
 * not use the cursor.
 */
typedef int u9_bisect_fn(void *ctx, const u9_record *record);

/* Sends the cursor before the first record for which `test` is not 0. Errors and the rest as u9_cursor_seek. */
U9_API U9_MUST_CHECK u9_err u9_cursor_bisect(u9_cursor *cursor, u9_bisect_fn *test, void *ctx);

/* What of a log a cursor walks: records of [from, to), of frames written in [since_us, until_us). */
typedef struct u9_bounds {
    size_t size;       /* sizeof(u9_bounds) */
    uint64_t from, to; /* ordinals; to U9_NOWHERE: no bound */
    uint64_t since_us; /* microseconds since 1970; 0: no bound */
    uint64_t until_us; /* U9_NOWHERE: no bound */
} u9_bounds;

/*
 * From now on the cursor stays within the bounds: u9_cursor_next says U9_END behind them and u9_cursor_prev before, as
 * often as it is asked. Damage is told unless all records that are lost to it are known to lie before `from`, or not before
 * `to`. It is sent to their start. Records without a time (plain seed files) are in no bounds of time.
 * Errors as u9_cursor_seek; U9_ARG also for bounds that end before they begin.
 */
U9_API U9_MUST_CHECK u9_err u9_cursor_within(u9_cursor *cursor, const u9_bounds *bounds);

#define U9_CURSOR_TEXT_SIZE 160 /* room for any saved cursor and its NUL */

/*
 * Fills `text`, of `cap` bytes, with one line, without a newline: where the cursor is, between which records. It is good
 * for U9_SEEK_SAVED in any process, on any machine that has the log or a copy of it, after restarts, rolls and trims.
 * U9_LIMIT: `cap` is below U9_CURSOR_TEXT_SIZE; U9_IO, U9_NOMEM: of a cursor that has read nothing yet, or went back
 * over damage, the record before it may have to be read.
 */
U9_API U9_MUST_CHECK u9_err u9_cursor_save(u9_cursor *cursor, char *text, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
