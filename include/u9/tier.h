/*
 * u9/tier.h: sealed segments of a log go to another place, and are read from there (SPEC-s3.md).
 *
 * A place is an S3 bucket (`s3://BUCKET/PREFIX`, with libu9-s3 added: u9/s3.h), or any other directory that this library
 * takes. What is there is the segments as they are, a mark, and a list of them: a log that can be read from there alone,
 * by any machine. The log itself gets a file `.tier` that names the place. A handle that reads the log finds the segments
 * of both as one log from then on, and damage of what is there like any other, with its place. A handle that writes has
 * only what is here.
 *
 * Segments are dropped here by u9_tier, or by a trim (u9/trim.h), also that of a writer by its options; only what the
 * place has by the list goes, and it is read from there all the same.
 */
#ifndef U9_TIER_H
#define U9_TIER_H

#include <u9/log.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct u9_tiered u9_tiered;

/* What to do. Set `size` to sizeof(u9_tier_options) and what is not wanted to zero. */
typedef struct u9_tier_options {
    size_t size;         /* sizeof(u9_tier_options) */
    const char *to;      /* the place; NULL: the one that the log has already. A relative path is one of each reader's */
    const char *io;      /* of the log, as u9_options.io; NULL: the default */
    uint64_t keep_bytes; /* not 0: drops the oldest here, as long as files of at least so many bytes stay */
    uint64_t before_us;  /* not 0: drops those whose records are all older, microseconds since 1970 */
    int verify;          /* not 0: each segment that is copied is read back whole, not only its end; those that are here and
                          * there are compared, and a copy that was altered comes anew */
    int dry_run;         /* not 0: nothing is copied or dropped, it is only told what would be copied */
    int (*on_progress)(void *ctx, const u9_tiered *so_far); /* after each segment; NULL: none. Not 0: stops there */
    void *ctx;
    u9_damage_fn *on_damage; /* told of each damage in what is copied, and of what is missing; may be NULL */
} u9_tier_options;

/* What was done, or would be. */
struct u9_tiered {
    size_t size;           /* set by the caller: sizeof(u9_tiered) */
    uint64_t segments;     /* copied, */
    uint64_t bytes;        /*   of so many bytes */
    uint64_t found;        /* of these were there by an earlier run that was interrupted: compared, not copied */
    uint64_t there;        /* the place has so many now, */
    uint64_t there_bytes;  /*   of so many bytes, */
    uint64_t next_ordinal; /*   and all records below this one that were not lost or trimmed here */
    uint64_t left, left_bytes; /* to be copied still; 0 at the end */
    uint64_t dropped;      /* segments that were dropped here, */
    uint64_t dropped_bytes;
    uint64_t damages; /* places in what is here of it, and segments that are neither here nor at the place, */
    uint64_t lost;    /*   and records lost by them, as far as that is known */
};

/*
 * Copies all segments of the log at `path` that are complete (sealed, or closed and gone on behind) and that the place has
 * not, the lowest first, damaged ones as they are, and tells of that; verifies each copy; says so at the place, then here;
 * then drops, if it is to, what the place has. A copy of what was damaged comes anew once it was mended here. A segment that
 * was closed, not sealed, has no index in itself: it gets one beside it (u9/index.h), which goes with it.
 * Interrupted anywhere, it goes on when called again: the first run begins by saying in both places which place it is, from
 * when on a trim drops nothing that is not there. The log may be written meanwhile, by another handle or process; to
 * drop, it is opened for writing.
 * `out` is filled also where it fails, with what was done by then.
 * Errors: U9_ARG (an argument is NULL, a size is another, no place is given and the log has none, it has another one, which
 * has segments of it, the place is the log itself, the path is a single file, these are plain seed files, the log is in a pool and the place a folder), U9_LOCKED (u9_tier is at
 * work on this log already; or all is copied, but a writer has the log, which therefore drops nothing: let it trim by
 * its options), U9_CORRUPT (the place has another log, or something else under a segment's name, went on otherwise,
 * or is ahead of the log here; it lacks what was dropped here, and its list; it has segments that are not here, and no list; it reads back other bytes; a
 * segment here and its copy differ, and it is not the copy that was altered, nor is it whole; a list is damaged in both places),
 * U9_STATE (on_progress stopped it), U9_IO (sys tells which, and the message whose), U9_NOMEM, and what u9_log_open and u9_log_trim return.
 * Thread-safe.
 */
U9_API U9_MUST_CHECK u9_err u9_tier(const char *path, const u9_tier_options *options, u9_tiered *out, u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
