/*
 * bench/ring.h: a raw io_uring writer of one file, under the floors: direct writes of 1 MiB, 8 under way at
 * most, space reserved by fallocate in steps of 16 MiB, a sync at the end.
 */
#ifndef U9_BENCH_RING_H
#define U9_BENCH_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RING_WRITE = 1 << 20, RING_DEPTH = 8, RING_STEP = 16 << 20, RING_STEP_MAX = 64 << 20, RING_ALIGN = 4096 };

/* Whether a ring can be had here: NULL if not. */
const char *ring_version(void);

/* Makes the file `path`. `registered`: the ring knows the buffers and the file beforehand. */
void ring_open(const char *path, bool registered);

/* All buffers, RING_DEPTH * RING_WRITE bytes, to be filled before the first write if that is to be done once. */
uint8_t *ring_memory(void);

/* A buffer of RING_WRITE bytes to fill, which no write is using; the one that ring_write writes next. */
uint8_t *ring_buffer(void);

void ring_write(size_t size);

/* Waits for all, cuts the file to what was written, syncs and closes it. Returns the seconds of the sync. */
double ring_close(void);

#endif
