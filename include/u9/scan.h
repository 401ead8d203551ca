/*
 * u9/scan.h: a log split into ranges that are read apart: by threads, processes or machines (SPEC.md, P-*).
 *
 *     u9_split_range *ranges;
 *     size_t count;
 *     u9_log_split(log, 8, 0, &ranges, &count, &fault);        at most 8 ranges, of about as many bytes each
 *     u9_split_format(&ranges[3], line);                       one line of text: send it to whom you like, who
 *     u9_split_parse(line, strlen(line), &range, &fault);
 *     u9_range_open(log, &range, &cursor, &fault);             reads it with u9_cursor_next
 *
 * Whatever was damaged, the ranges of a plan together are the whole scan: each record once, in the order of the
 * ranges, each loss told once. A plan names what was there when it was made: what is appended later is in none of its
 * ranges, what is trimmed meanwhile is told by the range that named it.
 */
#ifndef U9_SCAN_H
#define U9_SCAN_H

#include <u9/log.h>

#ifdef __cplusplus
extern "C" {
#endif

#define U9_SPLIT_MAX 65536 /* ranges of one plan */

/* A place in a log: in front of this byte of this segment. */
typedef struct u9_split_place {
    uint64_t segment;     /* its number; */
    uint8_t boundary[16]; /* which one of that number: H of its secret, as in u9_mark */
    uint64_t offset;      /* bytes */
} u9_split_place;

/* One range of a plan: all that lies from one place to another. Plain memory, holds no secret. */
typedef struct u9_split_range {
    uint8_t log[16]; /* the log's id; zeros: it has none (plain seed files) */
    uint64_t number; /* it is the number-th, from 1, */
    uint64_t count;  /*   of so many. The first also has what stands in front of it, the last what stands behind */
    u9_split_place from, to;
    uint64_t bytes;  /* about so many are in it; 0 if it was made of a line */
} u9_split_range;

/*
 * Plans ranges over all of the log as it is now: at most `ranges` of them (1 .. U9_SPLIT_MAX; `size` is 0 then) of about as
 * many bytes each or, with `ranges` 0, as many as it takes for about `size` bytes each (at least 4096). They are fewer where the
 * log is small: cuts lie 4096 bytes apart at least. `*out` is an array of `*count`, in the order of the log, to be freed
 * with u9_split_free. Reads no more than the first and last blocks of the segments, but of a log that was not closed
 * the last segment, to find where it ends. Thread-safe. Errors: U9_ARG (also more than U9_SPLIT_MAX ranges), U9_IO,
 * U9_NOMEM, U9_STATE (forked). [P-3]
 */
U9_API U9_MUST_CHECK u9_err u9_log_split(u9_log *log, uint64_t ranges, uint64_t size, u9_split_range **out,
                                         size_t *count, u9_fault *fault);
U9_API void u9_split_free(u9_split_range *ranges); /* NULL is fine */

#define U9_SPLIT_LINE_SIZE 320 /* room for any line and its NUL */

/* Fills `out` with the line that stands for `range`, without a newline, and returns it. Thread-safe. [P-5] */
U9_API const char *u9_split_format(const u9_split_range *range, char out[U9_SPLIT_LINE_SIZE]);

/*
 * Takes a line of `size` bytes apart; one newline at its end is passed over. Errors, with the byte and the word in the
 * fault: U9_ARG (not such a line, or damaged on its way), U9_VERSION (a later form of one). `*out` is untouched then.
 * Thread-safe. [P-5]
 */
U9_API U9_MUST_CHECK u9_err u9_split_parse(const char *line, size_t size, u9_split_range *out, u9_fault *fault);

/*
 * Opens a cursor on one range of this log, or of a copy of it, which is read forwards: u9_cursor_next, u9_cursor_damage and
 * what is said of a cursor hold, but u9_cursor_prev is refused; several cursors may be open at once, each used by one thread. Losses that belong to another range
 * are not told. What the range names and was trimmed since is told first: U9_ABSENT from u9_cursor_next, or
 * options.on_damage, with U9_R_TRIMMED and the place where the range begins; then it goes on with what is left.
 * Ordinals of a plain seed file are counted from 0 in the range. Errors: U9_ABSENT (a segment that the range names is
 * not there, was not trimmed, and no range that is read tells so), U9_ARG (a range of another log), and those of
 * u9_cursor_open. [P-4]
 */
U9_API U9_MUST_CHECK u9_err u9_range_open(u9_log *log, const u9_split_range *range, u9_cursor **out,
                                          u9_fault *fault);

/* What was read, in a form that does not depend on how it was shared out. All zeros: nothing yet. Plain memory. */
typedef struct u9_tally {
    uint64_t records;
    uint64_t bytes;            /* of their tuples */
    uint64_t low, high;        /* the sum, modulo 2^128, of the XXH3-128 hashes of their tuples */
} u9_tally;

/*
 * Adds a record that a cursor of `log` has just shown, also one of which it has no bytes (U9_LIMIT): that is read in
 * pieces. Errors: those of u9_record_open and u9_record_read; then nothing was added. [P-6]
 */
U9_API U9_MUST_CHECK u9_err u9_tally_record(u9_tally *tally, u9_log *log, const u9_record *record, u9_fault *fault);

/* Adds what another one counted. */
U9_API void u9_tally_merge(u9_tally *tally, const u9_tally *other);

#ifdef __cplusplus
}
#endif
#endif
