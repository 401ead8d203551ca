/*
 * u9/mark.h: the mark of a log as a line that is kept elsewhere, and proven against later (SPEC.md, M-7, M-8).
 *
 * A log's own mark stands beside its segments: who can rewrite these can rewrite it. A line of it that is kept
 * out of reach cannot be met by any other history: see u9_check_options.mark.
 */
#ifndef U9_MARK_H
#define U9_MARK_H

#include <u9/err.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a mark says, without secrets: it may be shown to anybody. Plain memory. */
typedef struct u9_mark {
    uint8_t log[16];        /* the log's id */
    uint64_t first_ordinal; /* of the first record that the log kept */
    uint64_t segment;       /* number of the segment that the end is in; not 0 */
    uint8_t boundary[16];   /* that segment's */
    uint64_t offset;        /* all before this offset of it was durable */
    uint64_t ordinal;       /* the ordinal there: of the next record */
    uint8_t chain[16];      /* hash of the last frame before it, and by that of all before */
    uint64_t time_us;       /* wall clock when it was marked, microseconds since 1970 */
} u9_mark;

#define U9_MARK_LINE_SIZE 224 /* room for any line and its NUL */

/* Fills `out` with the line that stands for `mark`, without a newline, and returns it. Thread-safe. [M-7] */
U9_API const char *u9_mark_format(const u9_mark *mark, char out[U9_MARK_LINE_SIZE]);

/*
 * Takes a line of `size` bytes apart; one newline at its end is passed over. Errors, with the byte and the field in
 * the fault: U9_ARG (not such a line, or damaged on its way), U9_VERSION (a later form of one). `*out` is untouched
 * then. Thread-safe. [M-7]
 */
U9_API U9_MUST_CHECK u9_err u9_mark_parse(const char *line, size_t size, u9_mark *out, u9_fault *fault);

/*
 * Reads the mark that counts of the log at `path`, as it is now; a writer may be at work. `io` is as u9_options.io,
 * NULL for the default. Reads the segments' first and last blocks, not the records: whether the log meets it, u9_check
 * tells. Errors: U9_ABSENT (no mark counts, and the fault says why: a single segment file, for one, has none), and what
 * u9_log_open returns for reading. Thread-safe. [M-3] [M-4]
 */
U9_API U9_MUST_CHECK u9_err u9_mark_read(const char *path, const char *io, u9_mark *out, u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
