/*
 * engine/ahead.h: one read that runs while its owner does something else.
 *
 * A scan hashes one chunk while the next one is copied from the page cache or fetched from the disk. One
 * thread for each scan that reads far enough to gain by it; the host's signals never reach it. The owner is
 * one thread, and nobody may touch the buffer between post and take.
 */
#ifndef U9I_AHEAD_H
#define U9I_AHEAD_H

#include "engine/io.h"

typedef struct u9i_ahead u9i_ahead;

/* NULL if there is no thread or memory to be had: the owner then reads by itself. */
u9i_ahead *u9i_ahead_new(void);

/* Waits for a read that is under way, ends the thread and frees. NULL is fine. */
void u9i_ahead_free(u9i_ahead *ahead);

/* Begins to read n bytes at off into buf. Nothing may be under way. */
void u9i_ahead_post(u9i_ahead *ahead, u9i_file *file, uint64_t off, void *buf, size_t n);

/* Waits for what was posted: 0 and *got, or a negative errno. */
int u9i_ahead_take(u9i_ahead *ahead, size_t *got);

#endif
