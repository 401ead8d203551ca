/*
 * format/frame/mark.h: the slots of a log's mark, the file beside its segments that says how far they were
 * durable. [M-1] [M-2] [M-3]
 *
 *     0           32                         4096        4096 + 32              8192
 *     | disk header | frame: u9mark | zeros  | disk header | frame: u9mark | zeros |
 *
 * A slot is a plain file of one frame, by a secret of its own, all offsets counted from the slot. It is written
 * whole, and never while the other one is the only one that counts and not durable: one of the two is always whole.
 */
#ifndef U9I_MARK_SLOT_H
#define U9I_MARK_SLOT_H

#include "format/frame/control.h"

#include <u9/clause.h>

enum { U9I_MARK_SLOTS = 2, U9I_MARK_SIZE = U9I_MARK_SLOTS * U9I_BLOCK };

/* What a slot is. [M-2] */
typedef enum u9i_slot_state {
    U9I_SLOT_EMPTY, /* zeros, or not there */
    U9I_SLOT_VALID,
    U9I_SLOT_BAD
} u9i_slot_state;

typedef struct u9i_slot {
    u9i_slot_state state;
    u9i_mark_record mark; /* VALID */
    u9_clause clause;     /* BAD: which refuses it [M-11] */
} u9i_slot;

/* Fills a slot. U9_AGAIN: with another secret. */
U9_MUST_CHECK u9_err u9i_slot_encode(const u9i_mark_record *mark, const u9i_secret *secret,
                                     uint8_t out[U9I_BLOCK]);

/* The slot in these bytes; what is missing of it is given as zeros. */
void u9i_slot_decode(const uint8_t bytes[U9I_BLOCK], u9i_slot *out);

/* True if `a` says more than `b`: of a later segment, or of a later end in the same. [M-3] */
bool u9i_mark_beyond(const u9i_mark_record *a, const u9i_mark_record *b);

/* Which slot counts; -1: none is valid. [M-3] */
int u9i_slots_greater(const u9i_slot slots[U9I_MARK_SLOTS]);

#endif
