/*
 * format/link/hello.h: what a log on the move says besides its records. [T-9] [T-11]
 *
 * Room: format/link
 * Sees: include format/base
 *
 * The room owns what goes over a pipe or a socket: the frames of a stream, the side band, and what a log
 * says before it is sent.
 *
 *     (u9log version kind log first mark)   in front of the records
 *     (u9next ordinal)                      the receiver's: which record is wanted next
 *     (u9part number total bytes)           a piece of a record that no frame holds
 */
#ifndef U9I_HELLO_H
#define U9I_HELLO_H

#include "format/base/hash.h"

#include <u9/value.h>

#include <stdbool.h>

enum { U9I_SHIP_VERSION = 1 };

typedef struct u9i_hello {
    const char *kind;  /* borrows */
    size_t kind_size;  /* 1 to U9I_KIND_MAX */
    uint8_t log[16];   /* the log's id, zero if it is not known */
    uint64_t first;    /* ordinal of the first record to come */
    bool has_mark;     /* the mark of the record before that: */
    uint8_t mark[U9I_HASH_SIZE];
} u9i_hello;

U9_MUST_CHECK u9_err u9i_hello_build(u9_builder *b, const u9i_hello *ship);

/* Takes a well-formed value apart; `out` borrows it. U9_CORRUPT; U9_VERSION: a later version. */
U9_MUST_CHECK u9_err u9i_hello_read(const u9_value *value, u9i_hello *out);

U9_MUST_CHECK u9_err u9i_next_build(u9_builder *b, uint64_t ordinal);
U9_MUST_CHECK u9_err u9i_next_read(const u9_value *value, uint64_t *ordinal);

/* What tells one record from another, whatever the encoding of its key. [T-9] */
void u9i_hello_mark(const void *key, size_t key_size, const void *values, size_t values_size,
                    uint8_t out[U9I_HASH_SIZE]);

/* The same where the values come in pieces. */
typedef struct u9i_tally {
    u9i_hasher values;
    uint8_t rest[U9I_HASH_BLOCK]; /* of them, behind the last whole block */
    size_t fill;
    uint8_t key[U9I_HASH_SIZE];
} u9i_tally;

void u9i_tally_start(u9i_tally *tally, const void *key, size_t key_size);
void u9i_tally_take(u9i_tally *tally, const void *values, size_t size);
void u9i_tally_finish(const u9i_tally *tally, uint8_t out[U9I_HASH_SIZE]);

/* A piece of a record of `total` bytes. [T-13] */
typedef struct u9i_sent_piece {
    uint64_t number, total;
    const uint8_t *bytes; /* borrows */
    size_t size;
} u9i_sent_piece;

enum { U9I_PIECE_HEAD = 64 }; /* what it takes beside its bytes, at most */

U9_MUST_CHECK u9_err u9i_piece_build(u9_builder *b, const u9i_sent_piece *piece);

/* U9_CORRUPT: it is none. */
U9_MUST_CHECK u9_err u9i_piece_read(const u9_value *value, u9i_sent_piece *out);

#endif
