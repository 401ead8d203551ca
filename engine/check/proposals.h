/*
 * engine/check/proposals.h: what of a log could be mended, found by reading it once. [U-4] [U-5]
 */
#ifndef U9I_PROPOSALS_H
#define U9I_PROPOSALS_H

#include "engine/check/heal.h"
#include "engine/check/plan.h"
#include "engine/log/catalog.h"

typedef struct u9i_proposals {
    u9i_source *source;    /* borrows */
    u9i_changes *changes;  /* what is found is added here */
    bool gave_up;          /* frames were not put together that might have been: too much was to be hashed */
    bool heals;            /* payloads are searched for a flipped bit, too: */
    u9i_healing healing;
} u9i_proposals;

/* Reads the log, and adds what can be mended in it. Errors as a reader's. */
U9_MUST_CHECK u9_err u9i_propose(u9i_proposals *proposals, u9_fault *fault);

/* The same of one segment, in which damage was told: frames that can be put together again. */
U9_MUST_CHECK u9_err u9i_propose_frames(u9i_proposals *proposals, const u9i_facts *facts, u9_fault *fault);

/* True if no record is read by such a change that was not read before. */
bool u9i_kind_safe(int kind);

#endif
