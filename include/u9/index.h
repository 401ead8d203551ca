/*
 * u9/index.h: the indexes of a log, by which records are found by their keys (SPEC.md, K-*).
 *
 * A writer puts an index into each segment that it seals. Segments without one (the newest, those of a session that
 * broke off) are read once by each handle that looks something up in them; or they get an index
 * in a file beside them, NUMBER.u9x, made by these functions. An index is never believed and never needed: whatever
 * becomes of it, it changes how fast a record is found, and no answer.
 *
 * Nothing of the log itself is changed. A writer may be at work. Each call is on its own; any thread.
 */
#ifndef U9_INDEX_H
#define U9_INDEX_H

#include <u9/check.h>
#include <u9/clause.h>
#include <u9/err.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a segment's index is. */
typedef enum u9_index_place {
    U9_INDEX_NONE = 0,
    U9_INDEX_INSIDE = 1, /* in the sealed segment */
    U9_INDEX_BESIDE = 2, /* in the file beside it */
    U9_INDEX_MADE = 3    /* the same, and made just now */
} u9_index_place;

/* What is wrong with the file beside a segment, or why it gets none. */
typedef enum u9_index_why {
    U9_INDEX_FINE = 0,
    U9_INDEX_MISSING = 1, /* there is no such file */
    U9_INDEX_DAMAGED = 2, /* it is not whole */
    U9_INDEX_FOREIGN = 3, /* it is of another segment */
    U9_INDEX_STALE = 4,   /* the segment went on since */
    U9_INDEX_OWNER = 5,   /* it has another owner or other permissions than the segment: somebody else may have made it */
    U9_INDEX_EMPTY = 6,   /* the segment holds no records */
    U9_INDEX_WRITING = 7, /* it is being written: an index would be stale at once */
    U9_INDEX_LOSSY = 8,   /* records of it were lost to damage: an index that is there notes them; else they cannot be noted */
    U9_INDEX_PLAIN = 9    /* it is a plain seed file, or its secret is lost */
} u9_index_why;

U9_API const char *u9_index_why_text(u9_index_why why); /* a sentence; static */

/* One segment. Plain memory but for `path`, which borrows until the callback returns. */
typedef struct u9_index_info {
    uint64_t segment;     /* its number */
    const char *path;     /* its file */
    u9_index_place place;
    u9_index_why why;     /* NONE: why there is none; else FINE, or LOSSY: lookups that find nothing say that records were lost */
    uint64_t bytes;       /* of the segment's file */
    uint64_t records;     /* that the index leads to */
    uint64_t entries;     /* of its pages */
    int filtered;         /* not 0: it has a filter, for keys that are not there */
    uint64_t wrong;       /* a check: entries that do not lead to their record, and records that it does not lead to */
    uint64_t index_bytes; /* of its frames, or of the file beside the segment */
    u9_clause clause;     /* which refuses the index in the segment, else the one beside it, else, when they are checked, the
                           * first of its pages or of the slices of its filter that is refused; NONE: none does */
} u9_index_info;

typedef void u9_index_fn(void *ctx, const u9_index_info *info);

/* Zero is the default of everything but `size`. */
typedef struct u9_index_options {
    size_t size;              /* sizeof(u9_index_options) */
    const char *io;           /* as u9_options.io */
    uint64_t memory;          /* bytes for keys, at least 64 KiB; 0: 256 MiB. What does not fit is sorted in a file
                               * without a name in the log's directory; a filter that takes more is left out */
    u9_index_fn *on_segment;  /* told of each, in order; may be NULL */
    u9_progress_fn *on_progress; /* bytes read of those to be read; may be NULL */
    void *ctx;                /* first argument of both */
} u9_index_options;

typedef struct u9_index_report {
    size_t size;       /* set by the caller: sizeof(u9_index_report) */
    uint64_t segments; /* that are read */
    uint64_t inside, beside, made, none; /* of these, by place */
    uint64_t dropped;  /* files that were removed */
    uint64_t unused;   /* files beside segments that cannot be used */
    uint64_t entries;  /* of all indexes */
    uint64_t wrong;    /* a check: see u9_index_info */
} u9_index_report;

/* Says what there is. `path`: a log, or one segment's file. Errors as u9_indexes_build. */
U9_API U9_MUST_CHECK u9_err u9_indexes_look(const char *path, const u9_index_options *options,
                                          u9_index_report *report, u9_fault *fault);

/*
 * Makes what is missing, and anew what cannot be used. Errors: U9_IO (also a directory that cannot be written: what was
 * made so far stays), U9_LOCKED (somebody else is making one), U9_CORRUPT (nothing here is a log), U9_NOMEM, U9_VERSION,
 * U9_STATE (on_progress asked to stop), U9_ARG. In any case nothing half made is left behind, nor used.
 */
U9_API U9_MUST_CHECK u9_err u9_indexes_build(const char *path, const u9_index_options *options,
                                           u9_index_report *report, u9_fault *fault);

/*
 * Proves what there is, inside of segments and beside them: that each record that is read is found, and that each entry
 * leads to a record with its key. What is wrong is counted in the report, and is no error. Errors as u9_indexes_build.
 */
U9_API U9_MUST_CHECK u9_err u9_indexes_check(const char *path, const u9_index_options *options,
                                           u9_index_report *report, u9_fault *fault);

/* Removes the files beside segments, never anything of a segment. Errors as u9_indexes_build. */
U9_API U9_MUST_CHECK u9_err u9_indexes_drop(const char *path, const u9_index_options *options,
                                          u9_index_report *report, u9_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
