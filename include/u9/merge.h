/*
 * u9/merge.h: several logs into one, in the order of their keys (SPEC.md, A-5).
 */
#ifndef U9_MERGE_H
#define U9_MERGE_H

#include <u9/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A key of which several logs have different records. Borrows until the call returns. */
typedef void u9_conflict_fn(void *ctx, const u9_key *key);

/* Set `size` to sizeof(u9_merge_options), the rest to zero for the defaults. */
typedef struct u9_merge_options {
    size_t size;              /* sizeof(u9_merge_options) */
    uint64_t memory;          /* bytes in which a log whose keys are not in order may be sorted, all such logs together; 0:
                               * such a log is refused. What does not fit is refused (U9_LIMIT): sort it in pieces */
    int lz4;                  /* not 0: frames are compressed where that makes them smaller */
    uint64_t segment_size;    /* bytes at which a segment is rolled; 0: 256 MiB */
    int strict;               /* not 0: if a log is damaged, nothing is made: U9_CORRUPT */
    const char *io;           /* as u9_options.io */
    u9_damage_fn *on_damage;  /* told of each damage in a log; may be NULL */
    u9_conflict_fn *on_conflict; /* told of each key that several logs have different records of; may be NULL */
    u9_progress_fn *on_progress; /* now and then: records taken, 0 of all (not known); not 0 stops: U9_STATE. May be NULL */
    void *ctx;                /* their first argument */
} u9_merge_options;

/* What became of it. Set `size` before. */
typedef struct u9_merge_report {
    size_t size;          /* set by the caller: sizeof(u9_merge_report) */
    uint64_t read;        /* records of all logs */
    uint64_t records;     /* of the new log */
    uint64_t repeats;     /* left out: an earlier log has the same record, key and bytes */
    uint64_t conflicts;   /* keys that several logs have different records of: all are kept, in the order of the logs */
    uint64_t sorted;      /* logs whose keys were not in order, and that were sorted first */
    u9_verdict verdict;   /* the worst found in a log; TORN is a note */
    uint64_t damages;     /* places told, UNKNOWN or CORRUPT, */
    uint64_t lost;        /*   and records lost by them, as far as that is known */
} u9_merge_report;

/*
 * Makes the log `out`, which must not exist, of the records of the `count` logs at `paths` (directories or segment
 * files): by their keys, in the order of the bytes of their raw forms, which is that of time for muid, gid, tid and
 * uid8 of mode time-sequential; records of one key stand in the order of the logs, and within one as they stood there. A record that an
 * earlier log has as well, byte for byte, is a repeat: of each record there are as many as the log has that has the
 * most of them. So merging a log with a copy of itself changes nothing, nor does the newest record of a key when all
 * logs agree on it. Records are kept byte for byte; ordinals, frames and times are new. All logs have the same key
 * kind, and so has `out`.
 *
 * The logs are read as they stand, beside their writers (with options.memory, as they stood when it was looked
 * whether their keys are in order). What is damaged in one is told and left out. `out` grows under the name "<out>.partial", is closed, read once more, and then gets its name: it is there whole, or not at
 * all. Memory: a frame for each log, and some 100 bytes for each different record of the key at hand, if several logs
 * have it.
 *
 * Errors: U9_ARG (an argument is NULL, a size is another, no log is given; kinds differ; `out` is there; a log has
 * records without a key; a log's keys are not in order and options.memory is 0: the fault has its path and the first
 * ordinal out of order), U9_LIMIT (it does not fit options.memory), U9_CORRUPT (strict, and one is damaged), U9_STATE
 * (stopped), and what u9_log_open, u9_cursor_next and u9_log_append return. Thread-safe.
 */
U9_API U9_MUST_CHECK u9_err u9_merge(const char *out, const char *const *paths, size_t count,
                                     const u9_merge_options *options, u9_merge_report *report, u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
