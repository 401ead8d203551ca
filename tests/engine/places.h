/*
 * tests/engine/places.h: from where the engine asks for something, memory or a call: the call and those that led there.
 *
 * Where each of a thousand calls could fail in turn, most of them are made in the same place, and tell what the first one
 * tells. So who lets them fail asks here which of them are the first of their place. What one test has tried the next
 * ones leave out, forked or not.
 */
#ifndef TESTS_ENGINE_PLACES_H
#define TESTS_ENGINE_PLACES_H

#include <stdbool.h>
#include <stddef.h>

/* Before tests are forked: they share what was tried from now on. */
void places_share(void);

/*
 * Calls are counted from now on, of this thread; `what` is to be done with them, a small number: each has places of its
 * own. `depth`: how many callers tell one place from another.
 */
void places_begin(unsigned what, unsigned depth);

/* Said by who stands where calls pass (tests/engine/scarce.c, sim_on_call), for each of them. */
void places_note(void);

/* Ends that: which calls, from 1, were the first ones of places that were not tried yet; good until the next beginning. */
const unsigned *places_end(size_t *count);

#endif
