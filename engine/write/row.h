/*
 * engine/write/row.h: what a record in parts asks of the writer: a key before its first part, a frame for each
 * part, and that no other file is begun and no other such record until it is over. [C-6] [L-7]
 *
 * Who makes the parts is engine/log/large.c; the calls are serialised as all of the writer's are.
 *
 *     row_begin -> row_put, part 0 (a roll may come before) -> row_put ... (no roll) -> row_put, last -> over
 *              `----------------- row_leave ----------------------' -> over
 */
#ifndef U9I_ROW_H
#define U9I_ROW_H

#include "engine/write/writer.h"

enum { U9I_PART_BYTES = 1 << 20 }; /* of the record, in each part but the last */

/* A key, raw and as the value that stands in the record. */
typedef struct u9i_row_key {
    uint8_t raw[U9I_KEY_MAX], value[U9I_KEY_MAX + 16];
    size_t raw_size, value_size; /* 0: none */
} u9i_row_key;

/*
 * A record in parts begins. With `key` (its data NULL: a fresh one) that is checked or drawn, in a transaction of
 * its own, into `out`; without (NULL, as out is) the record brings one that is no matter of the writer's. U9_AGAIN:
 * one has begun already; else errors as u9_log_append.
 */
U9_MUST_CHECK u9_err u9i_writer_row_begin(u9i_writer *writer, const u9_key *key, u9i_row_key *out, u9_fault *fault);

/*
 * Puts a part into a frame of its own, at `*frame`; `rest` bytes of the record come behind it. With 0 it is the
 * last one: the record is appended, under the ordinal `*ordinal`, and the row is over. `key` is the record's, as it
 * stands in it. U9_AGAIN, U9_IO (no room), U9_LIMIT: nothing was put, and the same call may be tried again;
 * U9_POISONED.
 */
U9_MUST_CHECK u9_err u9i_writer_row_put(u9i_writer *writer, const u9i_part_record *part, uint64_t rest, u9i_span key,
                                        uint64_t *frame, uint64_t *ordinal, u9_fault *fault);

/* The row is given up: what stands of it in the file is nothing. [C-6] */
void u9i_writer_row_leave(u9i_writer *writer);

#endif
