/*
 * engine/segment/prover.h: who proves frames from the end of a long file while another goes over it from its start.
 *
 * Only the judge says what the frames mean, in order; but whether each is valid can be found in any order, and is most of
 * the work. So a task of the env's executor goes over the file by pieces, the last one first, and notes what it finds valid
 * where windows look before they hash (verified.h), until it meets the front.
 */
#ifndef U9I_PROVER_H
#define U9I_PROVER_H

#include "engine/segment/segment.h"

typedef struct u9i_prover {
    u9i_segment *segment; /* borrows, as what follows */
    u9i_windows *windows;
    u9i_file *file;
    uint64_t size;
    _Atomic(uint64_t) front; /* the other is there; U9_NOWHERE: no more is wanted */
    const u9i_mapping *map; /* what it leans on; NULL: nothing */
    u9i_outline outline;    /* of what it proved: to be used, or freed, once it has ended */
    u9i_task task;
    bool posted;
} u9i_prover;

/*
 * Begins, if the file is long and there are threads for it: between an open and a close of the segment by the caller, who
 * ends it in between. Where frames are always hashed by who reads them it does nothing, and its outline is spoiled. It leans
 * on the mapping, if there is one: who ends it asks whether that broke.
 */
void u9i_prover_begin(u9i_prover *prover, u9i_segment *segment, u9i_windows *windows,
                      u9i_file *file, const u9i_mapping *map);

/* The caller has come so far: now and then. */
void u9i_prover_follow(u9i_prover *prover, uint64_t front);

/* Waits until it is done with the frame that it is at. */
void u9i_prover_end(u9i_prover *prover);

#endif
