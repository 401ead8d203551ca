/*
 * bench/pool_objects.h: the clients of RADOS and S3, as the floors use them.
 */
#ifndef U9_BENCH_POOL_OBJECTS_H
#define U9_BENCH_POOL_OBJECTS_H

/* All of the namespace that an address names. Nothing where u9bench was built without librados. */
void remove_objects(const char *address);

/* All below the prefix that an address names. Nothing where u9bench was built without libcurl. */
void remove_keys(const char *address);

#endif
