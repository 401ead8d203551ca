/*
 * bench/pool.h: `u9bench --dir rados:POOL/NAME?...` and `--dir s3://BUCKET/PREFIX?...`: stores that are made in a Ceph pool, or
 * in S3. Each run has a namespace of the pool, or a prefix of the bucket, to itself, which is emptied behind it.
 */
#ifndef U9_BENCH_POOL_H
#define U9_BENCH_POOL_H

#include <stdbool.h>
#include <stddef.h>

#define POOL "rados:"
#define BUCKET "s3://"

/* POOL or BUCKET, of such an address; NULL: it is a folder. */
const char *place_of(const char *dir);
bool is_place(const char *a, const char *b);

/* Loads libu9-rados, or libu9-s3, so that u9 takes such addresses. Ends the program with one line if it cannot be had. */
void pool_load(const char *dir);

/* The address of the run's own log: below `dir`, in a namespace or prefix of this process. False: it does not fit. */
bool pool_address(const char *dir, char *out, size_t size);

/* Removes a store: a folder, or all objects at such an address. */
void remove_store(const char *dir);

#endif
