/*
 * engine/os/overlay.h: a directory as it would be if some bytes and names in it were others: an env that reads from
 * another one, lays other bytes over what comes from there, and writes nothing. So a repair is judged before it is done.
 *
 * Threads: as an env. The changes do not change while something is open.
 */
#ifndef U9I_OVERLAY_H
#define U9I_OVERLAY_H

#include "engine/os/env.h"

enum { U9I_NAME_MAX = 255 };

/* Other bytes in a file, or (size 0) another name for it. */
typedef struct u9i_change {
    char name[U9I_NAME_MAX + 1]; /* of the file, in the directory */
    char to[U9I_NAME_MAX + 1];   /* size 0: the name that it is to have */
    uint64_t offset;             /* else these bytes, all within the file: */
    uint32_t size;
    uint8_t *before, *after;     /*   `size` each, in one piece of memory */
    int kind;                    /* the user's own */
} u9i_change;

typedef struct u9i_overlay {
    u9i_env env; /* what to hand down */
    u9i_dir *base; /* borrows: whatever path is opened, it is this one */
    const u9i_change *list; /* borrows */
    size_t count;
    bool bytes_only; /* set by the user: names are as they are */
} u9i_overlay;

/* The overlay stays where it is as long as something of it is open. */
void u9i_overlay_init(u9i_overlay *overlay, u9i_dir *base, const u9i_change *list, size_t count);

#endif
