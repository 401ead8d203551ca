/*
 * engine/idgen/idgen.h: what the generators of identifiers share: clocks and randomness.
 *
 * Room: engine/idgen
 * Sees: include format/base format/id engine/os
 *
 * The room owns the making of identifiers and keys.
 */
#ifndef U9I_IDGEN_H
#define U9I_IDGEN_H

#include <u9/idgen.h>

#include <stdbool.h>

/* Completes `*clock` from what the caller gave (or NULL). False if that cannot be read. */
bool u9i_clock_take(const u9_clock *given, u9_clock *clock);

/* Before 1970 is 0: behind everything. */
uint64_t u9i_clock_us(const u9_clock *clock);

/*
 * Fills `out`. Without `random->fill` that is from the system, fetched in blocks for each thread,
 * of which nothing is used in a forked child. False: there is none; `size` is at most 64.
 */
bool u9i_draw(const u9_random *random, void *out, size_t size);

/* Zeroed memory; NULL, and `fault` (U9_NOMEM), if there is none. */
void *u9i_gen_new(size_t size, u9_fault *fault);

#endif
