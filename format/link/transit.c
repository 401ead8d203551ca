/*
 * format/link/transit.c: frames out of a stream, whatever pieces it comes in. [T-1] [T-2]
 *
 * Owns: the head of a frame, and the reader that is pushed bytes. A frame that lies whole in one piece is
 * handed out where it lies; any other is gathered in the caller's room.
 *
 * Invariants: no byte is looked at before those in front of it are right, so that a refusal depends on the
 * stream alone, not on its pieces; no length is believed beyond the room; a refusal is for good. No I/O, no
 * heap; any thread.
 */
#include <u9/transit.h>

#include "format/base/bytes.h"
#include "format/base/fault.h"

enum { MAGIC_SIZE = 4, LENGTH_SIZE = 8 };

static const uint8_t magic[MAGIC_SIZE] = {0xff, 'u', '9', 0x00}; /* [T-1] */

_Static_assert(MAGIC_SIZE + LENGTH_SIZE == U9_TRANSIT_HEAD, "[T-1]");

void u9_transit_head(uint64_t length, uint8_t head[U9_TRANSIT_HEAD])
{
    memcpy(head, magic, MAGIC_SIZE);
    u9i_set_be(head + MAGIC_SIZE, LENGTH_SIZE, length);
}

void u9_transit_init(u9_transit *reader, void *room, size_t cap)
{
    *reader = (u9_transit){.room = (uint8_t *)room, .cap = cap};
}

static u9_err refuse_transit(u9_transit *r, u9_fault *fault, u9_err err, uint64_t at, const char *text)
{
    r->failed = err;
    return u9i_refuse(fault, err, at, "T-2", text);
}

/* Takes bytes of the head, each one judged as it comes. */
static u9_err take_head(u9_transit *r, const uint8_t **next, size_t *left, u9_fault *fault)
{
    while (r->have < U9_TRANSIT_HEAD) {
        if (*left == 0) return U9_AGAIN;
        r->head[r->have] = *(*next)++;
        --*left;
        if (r->have < MAGIC_SIZE && r->head[r->have] != magic[r->have])
            return refuse_transit(r, fault, U9_CORRUPT, r->at + r->have, "no frame begins here");
        r->have++;
    }
    r->length = u9i_get_be(r->head + MAGIC_SIZE, LENGTH_SIZE);
    if (r->length == 0)
        return refuse_transit(r, fault, U9_CORRUPT, r->at + MAGIC_SIZE, "a frame without values");
    if (r->length > r->cap)
        return refuse_transit(r, fault, U9_LIMIT, r->at + MAGIC_SIZE,
                              "a frame is longer than is accepted");
    return U9_OK;
}

/* Gathers bytes of the values; NULL until all are there. */
static const uint8_t *take_values(u9_transit *r, const uint8_t **next, size_t *left)
{
    size_t size = (size_t)r->length, have = r->have - U9_TRANSIT_HEAD;
    size_t step = size - have < *left ? size - have : *left;
    const uint8_t *here = *next;
    *next += step;
    *left -= step;
    r->have += step;
    if (step == size) return here;
    if (step > 0) memcpy(r->room + have, here, step);
    return have + step == size ? r->room : NULL;
}

/* [T-2] Exactly values, each of them well-formed. */
static u9_err prove_values(u9_transit *r, const uint8_t *bytes, size_t size, u9_fault *fault)
{
    for (size_t at = 0; at < size;) {
        uint64_t place = r->at + U9_TRANSIT_HEAD + at;
        u9_fault inner;
        u9_value v;
        u9_err err = u9_value_decode(bytes + at, size - at, &v);
        if (err == U9_OK) {
            err = u9_value_check(v.start, v.encoded, NULL, &inner);
            if (err == U9_OK) {
                at += v.encoded;
                continue;
            }
            if (fault) *fault = inner;
            if (fault) fault->offset += place;
            return r->failed = err;
        }
        if (err == U9_TORN)
            return refuse_transit(r, fault, U9_CORRUPT, place, "a value passes the end of its frame");
        return refuse_transit(r, fault, err, place, "no value begins here");
    }
    return U9_OK;
}

u9_err u9_transit_push(u9_transit *r, const void *bytes, size_t size, size_t *used, u9_walk *values,
                       u9_fault *fault)
{
    const uint8_t *next = (const uint8_t *)bytes, *whole;
    size_t left = size;
    *used = 0;
    if (r->failed != U9_OK) return u9_transit_end(r, fault);
    u9_err err = take_head(r, &next, &left, fault);
    if (err != U9_OK) {
        if (err == U9_AGAIN) *used = size;
        return err;
    }
    whole = take_values(r, &next, &left);
    *used = size - left;
    if (whole == NULL) return U9_AGAIN;
    err = prove_values(r, whole, (size_t)r->length, fault);
    if (err != U9_OK) return err;
    *values = u9_walk_bytes(whole, (size_t)r->length);
    r->at += U9_TRANSIT_HEAD + r->length;
    r->have = 0;
    return U9_OK;
}

u9_err u9_transit_end(const u9_transit *r, u9_fault *fault)
{
    if (r->failed != U9_OK)
        return u9i_refuse(fault, r->failed, r->at, "T-2", "the stream was refused before");
    if (r->have == 0) return U9_OK;
    return u9i_refuse(fault, U9_TORN, r->at, "T-2", "the stream ends within a frame");
}
