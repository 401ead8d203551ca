/*
 * engine/log/succession.h: which segments are the log, and in which order: the ten steps of [L-2] [L-3] [L-4]
 * [L-9], over what stands inside the files and is known of them by now. No file is read here but through the
 * row's eyes, and then only where something is off the row; time is that of sorting.
 *
 * One thread.
 */
#ifndef U9I_SUCCESSION_H
#define U9I_SUCCESSION_H

#include "engine/log/catalog.h"

/* Numbers from here on are no segment's: a log has room above its last one. [L-9] */
#define U9I_NUMBER_END (UINT64_C(1) << 63)

/* What the valid frames of a file are worth, beside those of another of its boundary. */
typedef struct u9i_reach {
    bool meets;   /* one ends at the named end, with its chain */
    uint64_t end; /* of the last one */
    uint64_t frames, records;
} u9i_reach;

/* How the row looks into files. False: it cannot, and the row is not linked. */
typedef struct u9i_row_eyes {
    void *ctx;
    /*
     * True if it is said that segment number `gone` is not kept: by a u9trim or, of the one that the u9open of `behind`
     * (NULL: not asked) names, by the mark.
     */
    bool (*is_trimmed)(void *ctx, uint64_t gone, const u9i_facts *behind);
    /*
     * Raises *promise to the largest that a valid frame at or behind `from` makes, and fills *records with how
     * many records stand in valid frames that end behind `from`, and at or before it; *unread: of what it looked through
     * bytes cannot be read. If one of these frames lies across `from`, that is set to where it begins.
     */
    bool (*look)(void *ctx, u9i_facts *facts, u9i_position *from, uint64_t *promise, uint64_t *records, bool *unread);
    /* Fills *out; `named` may be NULL. */
    bool (*reach)(void *ctx, const u9i_facts *facts, const u9i_position *named, u9i_reach *out);
    /* Looks for a seal behind which something stands: see u9i_probe_seal. */
    bool (*seal)(void *ctx, u9i_facts *facts);
    /*
     * Of two files of one boundary, what `lesser` has of records, promised up to `promise`, and the other has not: fills
     * *own; end 0: nothing. Lost are those that do not stand in a gap of the other one, which tells of them.
     */
    bool (*part)(void *ctx, const u9i_facts *better, const u9i_facts *lesser, uint64_t promise, u9i_span_lost *own);
} u9i_row_eyes;

/* The row as it is made. What it allocates is the caller's. */
typedef struct u9i_row {
    u9i_facts *facts; /* in: what was probed, in any order; out: ascending numbers, completed by each other */
    size_t count;
    u9i_missing *missing;
    size_t missing_count, missing_room;
    u9i_branch *branches;
    size_t branch_count;
    u9i_piece *pieces;
    size_t piece_count;
    uint8_t log[16];
    uint64_t next; /* the number of a new segment; 0: there is none left */
    bool single;   /* a file alone: what comes before is not looked at [L-8] */
    const u9i_mark_record *mark; /* what the log's mark promises, NULL: nothing; NULL after if it is another log's */
    bool doubtful; /* in: the mark's other slot is bad, and may have promised more [L-2] */
    bool older;    /* out: the tip is sealed, and its seal misses nothing: this is a state of before the seal [L-2] */
    bool accepts;  /* what is lost at the end is given up: the mark says whose log it is, and no more [M-9] */
    const u9i_row_eyes *eyes;
} u9i_row;

/* Plays the ten steps. False: out of memory, or the eyes failed. */
U9_MUST_CHECK bool u9i_row_link(u9i_row *row);

#endif
