/*
 * u9/repair.h: mending a log in place (SPEC.md, U-*).
 *
 * What is changed is only what can be proven: disk headers by the boundary that their secret hashes to, bytes that must
 * be zero, names of segments by the number inside, frames by their hashes and their place in the row. The repaired log
 * is judged in memory before anything is written: every record that is read now is read then, with its number, and no
 * number twice. The bytes before are saved in a file beside the log, by which u9_undo puts them back.
 *
 * Each call is on its own; any thread. Nobody else writes to the log meanwhile: they are refused, as is a repair of a
 * log that somebody writes to.
 */
#ifndef U9_REPAIR_H
#define U9_REPAIR_H

#include <u9/check.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum u9_repair_kind {
    U9_REPAIR_HEADER = 1, /* the disk header: secret and magic */
    U9_REPAIR_ZEROS = 2,  /* padding and fill that are not zero; what is damaged behind a segment's data (index, seal) */
    U9_REPAIR_NAME = 3,   /* a segment's file gets the name that its number has */
    U9_REPAIR_FRAME = 4,  /* header or trailer of a frame, put together from the rest */
    U9_REPAIR_BIT = 5,    /* a flipped bit in a payload, found by search */
    U9_REPAIR_INDEX = 6   /* a file beside a segment is made anew: nothing of the log itself */
} u9_repair_kind;

U9_API const char *u9_repair_name(u9_repair_kind kind); /* "header": one word, stable */

/* One thing to be mended. Plain memory; the texts borrow until the callback returns. */
typedef struct u9_repair_step {
    u9_repair_kind kind;
    int safe;         /* not 0: no record that is not read now is read then */
    const char *path; /* the file, as it is called before */
    const char *to;   /* NAME: what it is called then; else NULL */
    uint64_t segment; /* its number, 0 where it is not known */
    uint64_t begin;   /* bytes [begin, end) in it that are changed */
    uint64_t end;
} u9_repair_step;

/* Told of each thing that can be mended, in the order of the log, before anything is changed; then of indexes that can be
 * made, before the first one is, with begin and end 0. */
typedef void u9_repair_fn(void *ctx, const u9_repair_step *step);

/* Zero is the default of everything but `size`. */
typedef struct u9_repair_options {
    size_t size;           /* sizeof(u9_repair_options) */
    const char *io;        /* as u9_options.io */
    u9_repair_fn *on_step; /* may be NULL */
    void *ctx;             /* its first argument */
    int dry;               /* not 0: nothing is changed, but all is found and judged */
    int all;               /* not 0: also what brings records back; 0: only steps that are safe */
    int indexes;           /* not 0: where an index is missing, or cannot be used, the file beside the segment is made anew */
    int linked;            /* not 0: also files that have other names (hard links), all of which are changed with it, and
                            * symbolic links, by which what they lead to is */
    uint64_t heal_ms;      /* look for flipped bits in payloads for so long at most; 0: not at all */
    u9_progress_fn *on_progress; /* now and then while it does: milliseconds of that, of heal_ms; not 0 stops: U9_STATE,
                                  * and nothing was changed. May be NULL */
} u9_repair_options;

typedef struct u9_repair_report {
    size_t size;             /* set by the caller: sizeof(u9_repair_report) */
    uint64_t steps;          /* that were done, all of them durably, or would be (dry); indexes are not among them */
    uint64_t left;           /* that could be done with `all` */
    uint64_t records;        /* that are read before, and then: all but those that a mended u9open proves to be void */
    uint64_t regained;       /* that are read then, and were not */
    u9_verdict before, then; /* the worst that is told of the log */
    uint64_t damages_before, damages_then; /* how often UNKNOWN or CORRUPT is */
    uint64_t indexes;        /* files beside segments that were made, or (dry) could be */
    uint64_t tries;          /* bits that were flipped in a search, */
    uint64_t tries_us;       /*   and how long that took */
    int gave_up;             /* not 0: the time for that was over before all was tried, or frames are so many that not
                              * all were put together that might have been */
    int finished;            /* not 0: an earlier call was broken off, and was brought to its end first */
    char saved[256];         /* the file in the log's directory with the bytes before, and which indexes were made; "": there
                              * is none, as nothing was changed or made. A repair that only makes indexes has one, too */
} u9_repair_report;

/*
 * Mends the log (or single segment file) at `path` in place. After a failure or a crash at any point the log is as it
 * was, as it should be, or some of both; the next call brings it to its end. A file of saved bytes stays until u9_undo.
 * *report is filled also where it fails once the log was opened: steps that are not 0 were done, and only an index could
 * not be made, or noted.
 * Errors: U9_LOCKED (somebody writes to the log), U9_STATE (a file has other names or is a
 * symbolic link, and options.linked is 0; or a log
 * whose repair was broken off was changed since, or is to be finished first, and options.dry is not 0; nothing was
 * changed, and the fault says where; or stopped), U9_CORRUPT (nothing
 * here is a log; or the repaired log would not hold all that it holds now: nothing was changed), U9_IO, U9_NOMEM, U9_ARG,
 * U9_VERSION. [U-1] to [U-5]
 */
U9_API U9_MUST_CHECK u9_err u9_repair(const char *path, const u9_repair_options *options, u9_repair_report *report,
                                      u9_fault *fault);

/*
 * Puts back what the last repair changed that was not undone yet, byte for byte, and removes its file of saved bytes.
 * Indexes that it made go with that; one that could not be used and was replaced does not come back. *steps (may be
 * NULL) is how many changes were undone, indexes not among them. In segments that were trimmed since there is nothing to
 * undo: the rest is, and *fault (err U9_OK, text not empty) says how many changes that leaves out. Errors: U9_ABSENT (nothing
 * is saved), U9_STATE (a file was changed since, has other names,
 * which would be changed with it, or is a symbolic link, and `linked` is 0: nothing was done), U9_LOCKED, U9_CORRUPT (the saved bytes are
 * damaged), U9_IO, U9_NOMEM, U9_ARG. [U-3]
 */
U9_API U9_MUST_CHECK u9_err u9_undo(const char *path, const char *io, int linked, uint64_t *steps, u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
