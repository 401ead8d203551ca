/*
 * engine/os/system.h: what the engine takes from the system besides files: clocks, randomness, memory.
 */
#ifndef U9I_SYSTEM_H
#define U9I_SYSTEM_H

#include <u9/err.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t u9i_wall_us(void);      /* microseconds since 1970 */
uint64_t u9i_monotonic_us(void); /* microseconds of a clock that is never set */

/* Fills `out` from the system's cryptographic source. False if there is none. [H-3] */
U9_MUST_CHECK bool u9i_random(void *out, size_t size);

/* Zeroed pages, touched as used; NULL if there is no room. Aligned to pages. */
void *u9i_pages(size_t size);
void u9i_pages_free(void *pages, size_t size);

/* Counts forks: it differs between parent and child. */
unsigned u9i_fork_generation(void);

#endif
