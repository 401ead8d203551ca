/*
 * engine/read/cursor.h: what is behind a u9_cursor; lookups read through one.
 */
#ifndef U9I_CURSOR_H
#define U9I_CURSOR_H

#include "engine/read/reader.h"

#include <u9/log.h>

struct u9_cursor {
    u9_log *log;
    u9i_reader reader;
    uint64_t from;       /* first ordinal wanted */
    const uint8_t *next; /* records of the current frame that are left */
    size_t left;
    uint64_t ordinal;    /* of the record at `next` */
    bool lossy;          /* damage was met that may have cost records */
    u9_fault fault;
    struct u9i_follower *follower; /* NULL: the end is the end */
};

/* Starts the cursor anew: only the segments [first, last] of its catalog. */
void u9i_cursor_segments(u9_cursor *cursor, size_t first, size_t last);

/* What no record can have is no key: as an append says. A log whose kind is not known may have any. [L-6] U9_ARG. */
U9_MUST_CHECK u9_err u9i_cursor_check_key(const u9_cursor *cursor, const u9_key *key, u9_fault *fault);

#endif
