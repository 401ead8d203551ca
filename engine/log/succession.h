/*
 * engine/log/succession.h: what the segments of a row say of each other. [L-2] [L-3] [L-4] [S-6]
 */
#ifndef U9I_SUCCESSION_H
#define U9I_SUCCESSION_H

#include "engine/log/catalog.h"

/* The row as it is made: facts that are still to be completed by each other. */
typedef struct u9i_row {
    u9i_facts *facts; /* ascending numbers; all of u9i_facts but what other segments add */
    size_t count;
    u9i_missing *missing;
    size_t missing_count;
    uint8_t log[16];
    bool single; /* a file alone: what comes before is not looked at [L-8] */
    const u9i_mark_record *mark; /* what the log's mark promises; NULL: nothing [M-4] */
    /* True if a valid u9trim says that segment number `gone` is not kept. */
    bool (*is_trimmed)(void *ctx, uint64_t gone);
    void *ctx;
} u9i_row;

/* Completes the facts, finds the log's id and what is missing. False: out of memory. */
U9_MUST_CHECK bool u9i_row_link(u9i_row *row);

#endif
