/*
 * bench/pool.h: `u9bench --dir rados:POOL/NAME?...`: stores that are made in a Ceph pool. Each run has a namespace of it to
 * itself, which is emptied behind it.
 */
#ifndef U9_BENCH_POOL_H
#define U9_BENCH_POOL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a directory is an address in a pool. */
bool is_pool(const char *dir);

/* Loads libu9-rados, so that u9 takes such addresses. Ends the program with one line if it cannot be had. */
void pool_load(void);

/* The address of the run's own log: below `dir`, in a namespace of this process. False: it does not fit. */
bool pool_address(const char *dir, char *out, size_t size);

/* Removes all objects of the namespace of such an address; in a process of its own, which has a connection then. */
void pool_clear(const char *address);

#endif
