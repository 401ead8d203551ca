/*
 * tests/engine/scarce.h: memory that the engine asks for and does not get, memory that it has not given back, and calls
 * of the system that come to nothing; and, within the engine, a window that is not lent, or through which nothing is seen:
 * a small file is read at once, and any look at a large one may be the one that reads.
 *
 * The linker leads what the engine and the tests call through here (Makefile: --wrap); what the C library calls itself,
 * and the simulated world (tests/sim/world.h), is not meant. It holds for the thread that began it, one at a time.
 */
#ifndef TESTS_ENGINE_SCARCE_H
#define TESTS_ENGINE_SCARCE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum scarcity {
    SCARCE_NOTHING, /* what is allocated and kept is counted all the same */
    SCARCE_MEMORY,  /* allocations, and pages */
    SCARCE_CALLS,   /* calls on files, directories and descriptors; randomness */
    SCARCE_SIGHT,   /* looks through a window at a file's bytes, read already or not, and files that a segment opens */
    SCARCE_TRUTH    /* looks for a frame: it is none any more */
} scarcity;

/* From now on the nth of these (from 1; 0: none) fails with `error` (memory: ENOMEM); sticky: all later, too. */
void scarce_begin(scarcity what, unsigned nth, int error, bool sticky);

/* True if the call that is about to be made is the one that fails, with errno set: for calls that are led elsewhere. */
bool scarce_refuses(void);

/* The same, but before the nth is made `then` is called, once, and none fails: what another does in that moment. */
void scarce_amid(scarcity what, unsigned nth, void (*then)(void));

/* Whichever thread compresses a frame next calls this first, once; NULL: nobody does. */
void scarce_before_lz4(void (*then)(void));

/* True between these two, where it is this that fails. */
bool scarce_is(scarcity what);

/* Ends that. Returns how many failed; `*count` (may be NULL): how many blocks are not given back by now. */
unsigned scarce_end(size_t *count);

/* Who opens the file `from` gets `to` instead; NULL: ends that. Borrows both. */
void scarce_lead(const char *from, const char *to);

#endif
