/*
 * engine/check/snapshot_state.h: what a snapshot keeps of itself in the file `.snapshot`: how it was left. By that it
 * is told from other directories, and from a snapshot that was written on.
 *
 *     u9snapshot1 HEX\n    one line; two while the snapshot is brought from the first to the second
 *
 * The file is replaced as a whole. It holds no secret.
 */
#ifndef U9I_SNAPSHOT_STATE_H
#define U9I_SNAPSHOT_STATE_H

#include "engine/os/env.h"
#include "format/base/hash.h"

typedef struct u9i_snapshot_state {
    uint8_t log[16];  /* the log's id */
    uint64_t segment; /* number in the name of its last segment's file, */
    uint64_t size;    /*   bytes of that file, */
    uint64_t offset;  /*   and where the data in it end */
    uint64_t last;    /* offset of the last frame before that, 0: there is none; */
    uint8_t chain[U9I_HASH_SIZE]; /* its frame_sha */
    bool damaged;     /* damage was told of what is in the snapshot */
} u9i_snapshot_state;

enum { U9I_SNAPSHOT_STATES = 2 };

typedef struct u9i_snapshot_note {
    u9i_snapshot_state states[U9I_SNAPSHOT_STATES]; /* how it was left; and to what it was on its way */
    unsigned count;                                 /* 0: there is no such file */
} u9i_snapshot_note;

extern const char u9i_snapshot_name[]; /* of the file */

/* 0, or a negative errno; -EINVAL: the file is not one of these. */
int u9i_snapshot_note_read(u9i_dir *dir, u9i_snapshot_note *out);

/* The state by which a file of this number and size was the snapshot's last segment; NULL. */
const u9i_snapshot_state *u9i_snapshot_state_of(const u9i_snapshot_note *note, uint64_t number, uint64_t size);

/* Replaces the file, durably. 0 or a negative errno. */
int u9i_snapshot_note_write(u9i_dir *dir, const u9i_snapshot_note *note);

#endif
