/*
 * engine/check/plan.h: what a repair is to change, and the file beside the log that holds the bytes before and after.
 * [U-2] [U-3]
 *
 *     saved --> bytes --> names aside --> names --> DONE --> names aside --> old names --> old bytes, file removed
 *       SAVED             ASIDE           NAMED            BACK_ASIDE      BACK_NAMED
 *
 * The stage stands in the file's first block and is durable before what it allows begins. Each step leaves what the
 * one before it left where it is done twice: so whoever finds the file goes on from its stage, back or forth. Names aside
 * are for files that exchange theirs: one that alone gets another goes to that at once.
 */
#ifndef U9I_CHECK_PLAN_H
#define U9I_CHECK_PLAN_H

#include "engine/os/overlay.h"

typedef enum u9i_plan_stage {
    U9I_PLAN_NEW = 0,        /* nothing is saved */
    U9I_PLAN_SAVED = 1,      /* bytes are being changed */
    U9I_PLAN_ASIDE = 2,      /* they are; files get a name aside */
    U9I_PLAN_NAMED = 3,      /* they have; they get the new one */
    U9I_PLAN_DONE = 4,
    U9I_PLAN_BACK_ASIDE = 5, /* undone: files get a name aside */
    U9I_PLAN_BACK_NAMED = 6, /* they have; they get the old one */
    U9I_PLAN_BACK_BYTES = 7  /* they have; bytes are put back, and then the file goes */
} u9i_plan_stage;

typedef struct u9i_changes {
    u9i_change *list; /* those of bytes do not overlap */
    uint64_t *sizes;    /* of each one's file, before */
    size_t count, room;
    u9i_plan_stage stage;
    bool linked; /* also what a symbolic link leads to is changed */
    char saved[U9I_NAME_MAX + 1]; /* the file's name, once there is one */
    uint64_t kept;      /* number of the first segment that is kept: of a lower one a file that is not here was trimmed, and nothing
                         * is to be done in it; 0: none was [L-10] */
    const char *why;    /* of a refusal: a sentence; static */
    char where[U9I_NAME_MAX + 1]; /*   and the file that it is about */
} u9i_changes;

void u9i_changes_release(u9i_changes *changes);

/*
 * Adds other bytes, of which `after` is copied and `before` read, or (to: not NULL) another name; nothing if they are
 * there already. 0, -ENOMEM, -ENODATA: they are not within the file; -EEXIST: another change has some of them.
 */
int u9i_changes_add(u9i_changes *changes, u9i_dir *dir, const char *name, uint64_t offset, const void *after,
                    uint32_t size, int kind);
int u9i_changes_rename(u9i_changes *changes, const char *name, const char *to, int kind);

/* Adds a file that was made, an index beside a segment: it was not there before. 0 or -ENOMEM. */
int u9i_changes_made(u9i_changes *changes, const char *name, int kind);

/* True if bytes of [begin, end) of the file are changed. Drops the changes of which that is so. */
bool u9i_changes_within(const u9i_changes *changes, const char *name, uint64_t begin, uint64_t end);
void u9i_changes_drop(u9i_changes *changes, const char *name, uint64_t begin, uint64_t end);

/*
 * Takes the bytes that another list, of the file as this one makes it, changes; it is empty then. Of bytes that both change
 * this one's stay, but where zeros (`zeros` is their kind) come over them. *any: something was taken. 0 or -ENOMEM.
 */
int u9i_changes_take(u9i_changes *changes, u9i_changes *more, int zeros, bool *any);

/*
 * True if no file that is to be changed has another name or is a symbolic link, unless `linked`, and nobody has it locked;
 * else `why`. Renaming alone does not count. Without this no symbolic link is followed where bytes are changed.
 */
bool u9i_changes_allowed(u9i_changes *changes, u9i_dir *dir, bool linked);

/* Saves them under a new name, durably. 0 or a negative errno. Nothing of the log is changed. */
int u9i_changes_save(u9i_changes *changes, u9i_dir *dir);

/* Saves them once more, by the same name or a new one, now that all of it is done. 0 or a negative errno. */
int u9i_changes_save_done(u9i_changes *changes, u9i_dir *dir);

/* Removes what a call that was broken off had begun to save, or an index that it was making, and which nothing names. */
void u9i_changes_sweep(u9i_dir *dir);

/* The newest that is saved beside this log; count 0: none. -EBADMSG: it is damaged. */
int u9i_changes_load(u9i_changes *changes, u9i_dir *dir);

/*
 * Goes from its stage to DONE, or undoes it all, durably. Before the first byte all of them are compared: -ESTALE,
 * and `why`: a file is neither as it was nor as it is to be, sector by sector. Again after an interruption.
 */
int u9i_changes_apply(u9i_changes *changes, u9i_dir *dir);
int u9i_changes_undo(u9i_changes *changes, u9i_dir *dir);

/* True if the file of a change was trimmed since. */
bool u9i_changes_trimmed(const u9i_changes *changes, u9i_dir *dir, const u9i_change *change);

/* True if it was broken off while it was done, or undone. */
static inline bool u9i_changes_unfinished(const u9i_changes *changes)
{
    return changes->stage != U9I_PLAN_NEW && changes->stage != U9I_PLAN_DONE;
}

static inline bool u9i_changes_going_back(const u9i_changes *changes)
{
    return changes->stage > U9I_PLAN_DONE;
}

#endif
