/*
 * engine/segment/readahead.h: one read that runs while its owner does something else.
 *
 * A scan hashes one chunk while the next one is copied from the page cache or fetched from the disk, as a task
 * of the env's executor; one that has not begun when it is wanted is done by the owner. The owner is one
 * thread, and nobody may touch the buffer between post and take.
 */
#ifndef U9I_READAHEAD_H
#define U9I_READAHEAD_H

#include "engine/os/env.h"

typedef struct u9i_readahead u9i_readahead;

/* NULL if there is no memory to be had: the owner then reads by itself. */
u9i_readahead *u9i_readahead_new(void);

/* Waits for a read that is under way, and frees. NULL is fine. */
void u9i_readahead_free(u9i_readahead *ahead);

/* Begins to read n bytes at off into buf. Nothing may be under way. */
void u9i_readahead_post(u9i_readahead *ahead, u9i_file *file, uint64_t off, void *buf, size_t n);

/* Waits for what was posted: 0 and *got, or a negative errno: -ECANCELED in a forked child. */
int u9i_readahead_take(u9i_readahead *ahead, size_t *got);

#endif
