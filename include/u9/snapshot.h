/*
 * u9/snapshot.h: a copy of a log as it is now, while it is written (SPEC.md, A-*).
 *
 * A snapshot is a log like any other: a directory that is opened, read, checked, even written. It takes no room for
 * what is not going to change: of each segment but the last it has another name (a hard link). The last one is copied
 * up to where it is durable, and closed there. Made again it takes what is new since. It has a mark of its own, so
 * what is lost of it later is noticed.
 *
 * A link is no second copy of the bytes: what damages the disk there damages both. Who wants that copies
 * (options.copy), or has the snapshot on another file system.
 */
#ifndef U9_SNAPSHOT_H
#define U9_SNAPSHOT_H

#include <u9/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a segment comes to be in a snapshot. */
typedef enum u9_snapshot_how {
    U9_SNAPSHOT_KEPT = 1, /* it was there from an earlier time */
    U9_SNAPSHOT_LINKED,   /* its file has a second name now */
    U9_SNAPSHOT_COPIED,   /* its bytes were copied, and read back from the disk and compared */
    U9_SNAPSHOT_REMOVED   /* it was there, and is trimmed from the log by now */
} u9_snapshot_how;

/* Told of each segment's file. `name` ("0000000000000001.u9") borrows until the call returns. */
typedef struct u9_snapshot_segment {
    const char *name;
    u9_snapshot_how how;
    uint64_t bytes; /* copied */
    int sys;        /* copied: the errno for which it could not be linked: EXDEV, EMLINK ...; 0: it was not tried */
} u9_snapshot_segment;

typedef void u9_snapshot_fn(void *ctx, const u9_snapshot_segment *segment);

/* Set `size` to sizeof(u9_snapshot_options), the rest to zero for the defaults. */
typedef struct u9_snapshot_options {
    size_t size;                /* sizeof(u9_snapshot_options) */
    int copy;                   /* not 0: nothing is linked, all is copied; what was linked before, too */
    int strict;                 /* not 0: if anything that is read, or was before, is damaged, nothing is made or changed: U9_CORRUPT */
    int verify_all;             /* not 0: what is there from an earlier time is read and verified, too; a copy that was altered is
                                 * taken again, where the log is whole */
    u9_damage_fn *on_damage;    /* told of each damage in what is read, once; may be NULL */
    u9_snapshot_fn *on_segment; /* told of each file, as it comes or goes; may be NULL */
    u9_progress_fn *on_progress; /* now and then: bytes read of bytes to read; not 0 stops: U9_STATE. May be NULL */
    void *ctx;                  /* their first argument */
    int keep_trimmed;           /* not 0: what was trimmed from the log since stays in `dir`; 0: it goes from there, too */
} u9_snapshot_options;

/* What became of it. Set `size` before. */
typedef struct u9_snapshot_report {
    size_t size;            /* set by the caller: sizeof(u9_snapshot_report) */
    u9_verdict verdict;     /* the worst of what was read this time; a torn tail is TORN */
    uint64_t damages;       /* places told, UNKNOWN or CORRUPT, */
    uint64_t lost;          /*   and records lost by them, as far as that is known */
    int damaged_before;     /* not 0: damage was told of what is there from an earlier time and was not read now */
    uint64_t kept, linked, copied, removed; /* files */
    uint64_t copied_bytes;
    int link_sys;           /* the first errno for which a file was copied that was to be linked; 0: none */
    uint64_t next_ordinal;  /* the log's records below this are in the snapshot, but for what is lost, ... */
    uint64_t first_ordinal; /* ... from this one on: the first that the log has; with `keep_trimmed` earlier ones may be, too */
    int closed;             /* not 0: its last segment is copied up to its end, and a u9end stands there, its own or the log's;
                             * 0: it is linked, as it was sealed, or as it stands in the damaged log, or keeps what ... */
    uint64_t whole;         /* ... of `damages` is whole in the snapshot, which had it from an earlier time: so many places */
} u9_snapshot_report;

/*
 * Makes `dir` a snapshot of `log`: all records that were durable when this was called are in it (of a handle that
 * writes: all that were appended), and none that is not durable in the log. `dir` is missing, its parent directory is
 * there; or it is a snapshot of this log that was made before and was not written since: then it is brought up to
 * date, and holds, whenever this is interrupted, all that it held but for what was trimmed from the log: a snapshot is
 * the log as it is, so that goes from it, too (U9_SNAPSHOT_REMOVED), unless options.keep_trimmed. What is missing in the
 * log and was not trimmed is never removed here. (If the log was trimmed beyond all that the
 * snapshot has, it is shown as damaged, records missing, until the next run is over.) One that is made for the first
 * time grows under the name "<dir>.partial" and gets its own at the end, durably; what an interrupted run left there
 * is gone on with.
 *
 * The log is read from the first segment that is new to the snapshot on (from one in front of it, if that one has
 * lost where it begins), and verified: of what is damaged the snapshot is an exact copy, and tells the same; if its
 * end is, the last segment is copied whole and not closed. But what was damaged in the log since, and was in the
 * snapshot before, stays there as it was.
 * Files that are not of the log (U9_R_FOREIGN) stay behind. Writers of the log, in this process or others, go on
 * meanwhile, also to roll and trim. `*report` is filled with U9_OK, and with U9_CORRUPT of options.strict.
 *
 * The snapshot may be opened for writing: it goes on from there as a log of its own, which has nothing to do with what
 * the first one becomes, and is no snapshot any more (U9_ARG when it is to be brought up to date).
 *
 * Errors: U9_ARG (an argument is NULL, a size is another; `dir` is there and is no snapshot of this log, or was
 * written; or the log is an older state than that, or lost what that has; or it was trimmed beyond what keep_trimmed is
 * to keep; it is the log; the log is a single segment file, or of plain seed files), U9_LOCKED (a writer, or another
 * run, is at work in `dir`), U9_CORRUPT (strict, and something is damaged; or no segment of the log can be read),
 * U9_STATE (forked; stopped), U9_IO, with sys ENOSPC and others, U9_NOMEM, U9_VERSION, and of a handle that writes
 * those of u9_log_sync. Thread-safe.
 */
U9_API U9_MUST_CHECK u9_err u9_log_snapshot(u9_log *log, const char *dir, const u9_snapshot_options *options,
                                            u9_snapshot_report *report, u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
