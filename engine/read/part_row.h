/*
 * engine/read/part_row.h: the row of parts that a record too large for a body stands in, followed part by part as
 * they are passed. [C-6]
 *
 * Memory: one body's worth of the record's first bytes. Work: each part once. What a forged part claims (numbers,
 * totals up to 2^64-1, places) is compared with what was seen, and never gone to.
 */
#ifndef U9I_PART_ROW_H
#define U9I_PART_ROW_H

#include "format/frame/control.h"

typedef struct u9i_part_row {
    bool open;        /* a row was begun: */
    bool whole;       /* each of its parts up to here was there; else */
    uint64_t missing; /*   the number of the part that was not, */
    uint64_t missing_at; /* and where it must stand */
    uint64_t total;   /* bytes of the record, as its parts say */
    uint64_t seen;    /* bytes in the parts that were there */
    uint64_t next;    /* number of the part that comes next */
    uint64_t at;      /* frame of the part before, 0 for none */
    uint64_t first;   /* frame of the first of them that was there */
    uint8_t *bytes;   /* whole: the record's first `seen` bytes, U9I_BODY_MAX at most; borrows its room */
} u9i_part_row;

/* Forgets the row: where a segment begins. */
void u9i_part_row_reset(u9i_part_row *parts);

/* Takes the next part that is passed, which stands in this frame. */
void u9i_part_row_take(u9i_part_row *parts, const u9i_frame *frame, const u9i_part_record *part);

/* Behind the last part, which ends the row: true if all of the record is there; else `missing` tells what is not. */
U9_MUST_CHECK bool u9i_part_row_close(u9i_part_row *parts);

/* Bytes of the record that are missing. */
static inline uint64_t u9i_part_row_lacks(const u9i_part_row *parts)
{
    return parts->total > parts->seen ? parts->total - parts->seen : 0;
}

/* What holds of every row between two parts. */
void u9i_part_row_check(const u9i_part_row *parts);

#endif
