/*
 * engine/check/witness.h: proves a log against a line of its mark that was kept elsewhere. [M-8]
 *
 * Each frame holds the hash of the one before it, across segments, and its own hash is over that: so the frame that
 * the line names stands for all before it, back to where this row of hashes is broken or begins. The witness follows
 * that row by itself, whatever is judged of the frames.
 */
#ifndef U9I_WITNESS_H
#define U9I_WITNESS_H

#include "engine/log/catalog.h"

#include <u9/check.h>
#include <u9/mark.h>

typedef struct u9i_witness {
    const u9_mark *line; /* borrows; NULL: nothing is to be proven */
    bool begun;          /* a frame was seen: */
    uint8_t last[U9I_HASH_SIZE]; /* the hash of the last one, */
    uint64_t from;       /*   and the ordinal of the first one from which hashes lead here */
    uint8_t before[U9I_HASH_SIZE]; /* what the first one names as the hash before it */
    bool broken;         /* some frame behind the first one does not name the one before it */
    bool met;            /* the line's frame was seen: */
    uint64_t proven;     /*   `from` was this, */
    bool proven_whole;   /*   the first frame's */
    bool trimmed;        /* its place was, before it was read */
    bool excused;        /* damage was told that says why it is not met */
} u9i_witness;

/* The next frame of the log, valid and in its place. */
void u9i_witness_frame(u9i_witness *witness, const u9i_facts *facts, const u9i_frame *frame);

/*
 * What stands behind offset `begin` of segment number `first`, up to segment number `next` (U9_NOWHERE: the end), was trimmed
 * before it was read. [L-10]
 */
void u9i_witness_trimmed(u9i_witness *witness, uint64_t first, uint64_t begin, uint64_t next);

/* What another one saw of the frames behind: as if this one had seen them, too. */
void u9i_witness_join(u9i_witness *witness, const u9i_witness *behind);

/* Damage that is told. */
void u9i_witness_damage(u9i_witness *witness, const u9_damage *damage);

/* All was seen: what becomes of the line. */
u9_line_state u9i_witness_state(const u9i_witness *witness, const u9i_catalog *catalog, bool single);

/*
 * What is to be told of a line that is not met, or foreign; false: it was told. `at` is where the log's data end, in
 * the segment `last` of the catalog (its count: none). *facts is the segment that the line is about.
 */
bool u9i_witness_site(const u9i_witness *witness, const u9i_catalog *catalog, size_t last, const u9i_position *at,
                      u9i_facts *facts, u9i_damage_site *site);

#endif
