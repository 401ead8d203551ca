/*
 * u9/carve.h: logs out of what is no log any more: disk images, renamed files, files in one another (SPEC.md, U-6 to U-8).
 */
#ifndef U9_CARVE_H
#define U9_CARVE_H

#include <u9/check.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A log that was carved out. Plain memory but for `path`, which borrows until the callback returns. */
typedef struct u9_carved {
    const char *path;    /* of its directory: it is there, durable */
    int proven;          /* not 0: its secrets are known, and each frame bears their signature */
    uint64_t segments;
    uint64_t frames;
    uint64_t rejoined;   /* frames of these that stood in two pieces */
    uint64_t records;    /* as u9_check reads them; 0 where `checked` is 0 */
    uint64_t damages;
    uint64_t lost;
    u9_verdict verdict;  /* as u9_check says */
    int checked;         /* not 0: u9_check took it for a log; without secrets it does not: u9_salvage may help */
} u9_carved;

/* Told of each log, when it is there. */
typedef void u9_carved_fn(void *ctx, const u9_carved *carved);

/* Zero is the default of everything but `size`. */
typedef struct u9_carve_options {
    size_t size;                 /* sizeof(u9_carve_options) */
    const char *io;              /* as u9_options.io */
    u9_carved_fn *on_carved;     /* may be NULL */
    u9_progress_fn *on_progress; /* bytes looked through of all; may be NULL */
    void *ctx;                   /* first argument of both */
} u9_carve_options;

typedef struct u9_carve_report {
    size_t size;       /* set by the caller: sizeof(u9_carve_report) */
    uint64_t files;    /* that were looked through, */
    uint64_t bytes;    /*   and bytes in them */
    uint64_t unread;   /* bytes of these that could not be read */
    uint64_t logs;     /* that were written, or had been by an earlier call that was broken off */
    uint64_t segments, frames, rejoined;
    uint64_t broken;   /* places where a header of one of these logs stands, and no frame could be put together, of bytes that could be read */
    int gave_up;       /* not 0: there was more to be hashed, or more lines of one segment, than a log can give cause for: there may be more */
    uint64_t held;     /* whole frames, signed as of one of these logs, that were left out, as they may be a record's bytes (U-9) */
} u9_carve_report;

/*
 * Looks through the file at `path`, or through all regular files in the directory `path`, from the first byte to the
 * last, for segments of logs, wherever they begin and however they are called, and writes each log into a directory of
 * its own below `out_path`: OUT/<its id in hex>; what cannot be proven to be of a log, into OUT/unsigned-<boundary> and
 * OUT/segment-<boundary>. Where copies of one segment went on each by itself, what the first one does not have goes into
 * OUT/<id>.fork-2, OUT/<id>.fork-3 ... up to 16, with what they share in front; the first is the one whose end the next
 * segment names, else the longest. Nothing of what is read is changed. A frame is taken where it is whole, or where what
 * stands beside it proves it (as it stands: u9_repair mends it); one that stands in two pieces, as in an image of a
 * fragmented disk, is put together if the frame behind it has its hash. What may be a record's bytes is left out: frames
 * behind a header whose own could not be put together, as far as that reached, unless others prove them (U-9);
 * report->held counts them.
 * OUT must not be there, but for what an earlier call left that was broken off, which is completed.
 * Memory: about 300 bytes for each frame, 400 for each disk header, and 40 MiB. Errors: U9_ARG (out_path is in the way, a
 * size is wrong), U9_ABSENT (no segment is there; OUT is not made), U9_IO, U9_NOMEM, U9_STATE (on_progress asked to stop).
 * Thread-safe.
 */
U9_API U9_MUST_CHECK u9_err u9_carve(const char *path, const char *out_path, const u9_carve_options *options,
                                     u9_carve_report *report, u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
