/*
 * engine/check/snapshot.h: a snapshot on its way. to
 *
 *     open the directory -> compare with what is there -> read what is new, verify it -> the last segment's end is made
 *     durable in the log -> copy that segment aside -> note where this goes -> the others, the lowest first -> the last
 *     one gets its name -> mark -> what was trimmed goes -> note that this is there -> the directory gets its name
 *
 * Each step leaves a directory that is what it was, or more. Where a name of the log is gone meanwhile, as it was
 * trimmed, all begins anew with what is there.
 *
 *   snapshot.c       the steps in their order; what is read
 *   snapshot_dir.c   what is there, against what should be; and what is done about it
 *   snapshot_whole.c what is damaged in the log, and not there
 */
#ifndef U9I_SNAPSHOT_H
#define U9I_SNAPSHOT_H

#include "engine/check/segment_copy.h"
#include "engine/check/snapshot_state.h"
#include "engine/read/reader.h"

#include <u9/snapshot.h>

/* What becomes of the log's last segment. */
typedef enum u9i_snapshot_tip {
    U9I_TIP_CLOSE = 1, /* copied up to its end, and closed, if it is not */
    U9I_TIP_OPEN,      /* copied up to its end, and not closed: frames stay in it that the log has not, and nobody counted */
    U9I_TIP_WHOLE,     /* copied as it stands, as its end is damaged, with the log's own mark, if that counts */
    U9I_TIP_SEALED     /* sealed, so linked like the others, with that mark */
} u9i_snapshot_tip;

/* What is to be done about one of the log's files. */
typedef enum u9i_snapshot_fate {
    U9I_FATE_LEAVE = 1, /* not for a snapshot: void, or another log's */
    U9I_FATE_KEEP,      /* it is there */
    U9I_FATE_TAKE,      /* it is not, or in part */
} u9i_snapshot_fate;

typedef struct u9i_snapshot {
    u9i_source *source; /* borrows, */
    const u9_snapshot_options *options; /* and this */
    u9_snapshot_report report;
    const char *path;   /* of the snapshot; borrows */
    char *partial;      /* it grows here; NULL: it is there and is brought up to date */
    u9i_dir *dir;       /* locked */
    u9i_queue *queue;
    u9i_snapshot_note note; /* how it was left, */
    const u9i_snapshot_state *was; /* and which of these it is, by its last segment. NULL: none, it grows */
    bool gone;          /* a name of the log was gone: all begins anew */

    u9i_reader reader;  /* open with: */
    const u9i_catalog *catalog;
    u9i_snapshot_fate *fates; /* of each of its segments */
    uint64_t *trimmed;  /* numbers of files that are there and were trimmed, ascending: they go, if not asked to stay; */
    size_t trimmed_count, trimmed_room;
    size_t first;       /* index of the first segment that is read */
    size_t tip;         /* of the last in the row */
    u9i_judge end;      /* how it was read; only plain numbers of it are used */
    u9i_segment_out out; /* what a u9end will say */
    bool unmet;         /* the log's mark is not met [M-4] */
    bool altered;       /* the last segment is there, with other bytes than the log's */
    u9i_snapshot_tip how;
    u9i_kept_stretch *whole; /* damaged in the log, and proven in the snapshot; ascending */
    size_t whole_count, whole_room;
    uint64_t tip_bytes, tip_size; /* of its file in the snapshot: copied, and all */
    u9_damage *told;    /* what is damaged, with paths of its own */
    size_t told_count, told_room;
    uint64_t progress_us;
} u9i_snapshot;

/* Opens what is to be the snapshot: one that is there, or a new one that grows. Locks it. */
U9_MUST_CHECK u9_err u9i_snapshot_open(u9i_snapshot *s, u9_fault *fault);
/* Lets go of it; what was made stays for the next run. Fine behind a failed open. */
void u9i_snapshot_close(u9i_snapshot *s);

/* Compares what is there with the catalog, but for the last segment, and finds the first one that is to be read. */
U9_MUST_CHECK u9_err u9i_snapshot_compare(u9i_snapshot *s, u9_fault *fault);

/* Where all is to be verified: what is there, as a copy, and is not as in the log, which is whole there, is taken again. */
U9_MUST_CHECK u9_err u9i_snapshot_compare_copies(u9i_snapshot *s, u9_fault *fault);

/* Told of a damage in this segment: notes if the snapshot has whole what is damaged there. It stays. */
U9_MUST_CHECK u9_err u9i_snapshot_find_whole(u9i_snapshot *s, size_t index, const u9_damage *d, u9_fault *fault);

/* All was read, and s->how is chosen: brings the directory to that. s->gone: a name was gone, and all begins anew. */
U9_MUST_CHECK u9_err u9i_snapshot_carry_out(u9i_snapshot *s, u9_fault *fault);

/* A failure of the system in the snapshot's directory. */
u9_err u9i_snapshot_fail(const u9i_snapshot *s, int sys, const char *what, u9_fault *fault);

#endif
