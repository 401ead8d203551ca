/*
 * engine/log/mark.h: the file `.mark` beside the segments: what it promises, and keeping it. [M-1] to [M-6]
 *
 * A mark is a lower bound of what is durable, the only one outside of the segment that it is about. Read, it is
 * one more promise. Written by a marker, behind the writer's durable end and in nobody's way:
 *
 *     IDLE --write--> WRITING --told--> SYNCING --told--> IDLE     into the slot that counts less
 *       ^                 |                 |
 *       +---- failed -----+-----------------+   the slot is not to be trusted, the fault is kept, nothing else
 *
 * A slot is written when the other one is durable, or none is: so one of them always counts.
 *
 * Threads: a marker has no lock of its own: its owner (log.c) serialises all calls.
 */
#ifndef U9I_MARK_H
#define U9I_MARK_H

#include "engine/os/env.h"
#include "format/frame/mark.h"

/* What there is of a mark. */
typedef struct u9i_mark {
    bool there;                       /* the file is */
    bool linked;                      /* it has another name, perhaps in a copy: it promises nothing [M-4] */
    int sys;                          /* errno of a slot that could not be read, which is bad; 0: none */
    u9i_slot slots[U9I_MARK_SLOTS];
    int counts;                       /* the greater valid slot; -1: there is none [M-3] */
} u9i_mark;

extern const char u9i_mark_name[]; /* [M-1] */

/* Looks at the mark of a log; that there is none is no failure. 0 or a negative errno. */
int u9i_mark_read(u9i_dir *dir, u9i_mark *out);

/* What it promises by itself; NULL: nothing. Borrows. */
const u9i_mark_record *u9i_mark_promise(const u9i_mark *mark);

/* Bad slots; if no other one is valid, *lost is set. */
unsigned u9i_mark_bad_slots(const u9i_mark *mark, bool *lost);

typedef enum u9i_marker_stage { U9I_MARKER_IDLE, U9I_MARKER_WRITING, U9I_MARKER_SYNCING } u9i_marker_stage;

typedef struct u9i_marker {
    u9i_dir *dir;     /* borrows */
    const char *path; /* borrows: the log's, for messages */
    u9i_mark known;   /* what the slots hold; one that is on its way is bad */
    bool replace;     /* the file that is there is not this log's alone: another takes its place [M-4] */
    u9i_file *file;   /* NULL: not needed yet */
    u9i_queue *queue;
    uint8_t *block;
    u9i_marker_stage stage;
    unsigned slot;    /* that is on its way, */
    u9i_mark_record next; /* with this in it */
    u9_fault fault;   /* of the last write; err U9_OK: it is durable, or under way */
} u9i_marker;

/* Nothing is opened or made yet. `known`: what u9i_mark_read found in the log with this id. */
void u9i_marker_init(u9i_marker *marker, u9i_dir *dir, const char *path, const u9i_mark *known,
                     const uint8_t log[16]);

/* Makes the file if it is not there or to be replaced, zeroed and durable, by plain calls. [M-1] [M-4] */
U9_MUST_CHECK u9_err u9i_marker_make(u9i_marker *marker, u9_fault *fault);

/* True if this is not marked yet, nor on its way. */
bool u9i_marker_wants(const u9i_marker *marker, const u9i_mark_record *mark);

/* Begins to mark this; a failure is kept. The marker is idle. */
void u9i_marker_begin(u9i_marker *marker, const u9i_mark_record *mark);

/* Goes on with what is under way, without waiting. */
void u9i_marker_poll(u9i_marker *marker);

/* Waits for what is under way; what became of it. */
U9_MUST_CHECK u9_err u9i_marker_wait(u9i_marker *marker, u9_fault *fault);

/* Marks this, and waits until it is durable. */
U9_MUST_CHECK u9_err u9i_marker_write(u9i_marker *marker, const u9i_mark_record *mark, u9_fault *fault);

/*
 * Marks in place that the log is kept from this segment and ordinal on, and nothing else: in one slot after the other, as which
 * of them counts goes by the end, which stays. Durably. U9_STATE: there is no mark that could say so, and nothing was done.
 */
U9_MUST_CHECK u9_err u9i_marker_keep_from(u9i_marker *marker, uint64_t segment, uint64_t ordinal, u9_fault *fault);

/* Waits for what is under way, but in a forked child. Once more is fine. */
void u9i_marker_release(u9i_marker *marker);

#endif
