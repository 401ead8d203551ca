/*
 * bench/pool_objects.h: the client of RADOS, as the floors use it.
 */
#ifndef U9_BENCH_POOL_OBJECTS_H
#define U9_BENCH_POOL_OBJECTS_H

/* All of the namespace that an address names. Nothing where u9bench was built without librados. */
void remove_objects(const char *address);

#endif
