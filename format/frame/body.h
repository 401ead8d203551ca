/*
 * format/frame/body.h: what a frame's body is, and the two wrappings around it. [B-1] to [B-6]
 *
 * Writing: records are appended to a body, which is then perhaps compressed (u9i_lz4_wrap) or masked
 * (u9i_mask_wrap). Reading: u9i_body_open undoes either and says what the body holds;
 * u9i_record_next walks its records.
 */
#ifndef U9I_BODY_H
#define U9I_BODY_H

#include "format/frame/frame.h"

typedef enum u9i_body_kind {
    U9I_BODY_EMPTY = 1,
    U9I_BODY_RECORDS,
    U9I_BODY_OPEN,
    U9I_BODY_END,
    U9I_BODY_TRIM,
    U9I_BODY_PART,
    U9I_BODY_PAGE,
    U9I_BODY_MARK,
    U9I_BODY_BITS,
    U9I_BODY_OTHER /* a control record of a later version, alone in a frame of count 0: skipped */
} u9i_body_kind;

typedef struct u9i_body {
    u9i_body_kind kind;
    const uint8_t *bytes; /* decoded; borrows the frame or the scratch buffer */
    size_t size;          /* bytes */
    bool lz4, masked;     /* how it was stored */
    bool plain;           /* of a plain seed file: RECORDS are values of any kind [E-3] */
} u9i_body;

/*
 * Opens the body of a valid frame. `scratch` of `cap` bytes takes the decoded form of wrapped bodies.
 * U9_OK; U9_AGAIN: `*need` bytes of scratch are wanted (at most U9I_BODY_MAX); U9_CORRUPT: not what
 * [B-1] allows; U9_VERSION: a control record of a later version where records must be. [B-3]
 */
U9_MUST_CHECK u9_err u9i_body_open(const u9i_frame *frame, uint8_t *scratch, size_t cap, size_t *need,
                                   u9i_body *out);

/*
 * Compresses `size` bytes into `out`, head included. Returns the bytes of the wrapped body, 0 if it
 * would not be smaller than the plain one. [B-4]
 */
size_t u9i_lz4_wrap(const uint8_t *body, size_t size, uint8_t *out);

/* Room that u9i_lz4_wrap needs at `out` for a body of `size` bytes. */
size_t u9i_lz4_bound(size_t size);

/* Masks in place: `body` has room for U9I_MASK_HEAD more bytes. Returns the new size. [B-5] */
size_t u9i_mask_wrap(uint8_t *body, size_t size, const uint8_t mask[U9I_HASH_SIZE]);

/* Draws a new mask for a body that u9i_mask_wrap made of `size` bytes. */
void u9i_mask_again(uint8_t *body, size_t size, const uint8_t mask[U9I_HASH_SIZE]);

/*
 * The first `size` bytes of the body that may be wrapped by a u9mask, of which U9I_MASK_HEAD + size bytes are at
 * `stored`; of a body that is not wrapped so, the first `size` of these.
 */
void u9i_mask_peek(const uint8_t *stored, uint8_t *out, size_t size);

/* One record of a body. The pointers borrow the body. */
typedef struct u9i_record {
    const uint8_t *bytes; /* the tuple */
    size_t size;
    const uint8_t *key; /* raw form [L-6] */
    size_t key_size;
    const uint8_t *key_value; /* the key as the utf9 value that stands there */
    const uint8_t *values;    /* what follows the key */
    size_t values_size;
} u9i_record;

/*
 * Takes the record at `*next` and moves on. U9_END when `*left` is 0; U9_CORRUPT: not a record [B-2];
 * U9_VERSION: a control record among records [B-3].
 */
U9_MUST_CHECK u9_err u9i_record_next(const uint8_t **next, size_t *left, u9i_record *out);

/*
 * Takes the value at `*next` of a plain seed file: a record, or else a value without a key, which has key_size 0 and
 * its own bytes for `values`. U9_END; U9_CORRUPT: no value stands there. [E-3]
 */
U9_MUST_CHECK u9_err u9i_value_next(const uint8_t **next, size_t *left, u9i_record *out);

/* Either, as the body is. */
static inline u9_err u9i_body_next(const u9i_body *body, const uint8_t **next, size_t *left, u9i_record *out)
{
    return body->plain ? u9i_value_next(next, left, out) : u9i_record_next(next, left, out);
}

/* Bytes of a record of the most common form, a fixtuple whose key is 16 bytes; 0: it is another. Its values are not looked at. */
static inline size_t u9i_common_size(const uint8_t *p, size_t left)
{
    size_t size = left >= 20 ? 2 + (size_t)p[1] : 0;
    return size >= 20 && size <= left && (p[0] & 0xf8) == 0x48 && p[2] == 0x1c && p[3] == 16 ? size : 0;
}

/* The record of that form and size. */
static inline u9i_record u9i_common_record(const uint8_t *p, size_t size)
{
    return (u9i_record){.bytes = p, .size = size, .key = p + 4, .key_size = 16, .key_value = p + 2,
                        .values = p + 20, .values_size = size - 20};
}

/*
 * As u9i_body_next, but does not look at the values of a record of the most common form: for who walked all of them before, or
 * wants keys alone.
 */
U9_MUST_CHECK static inline u9_err u9i_body_next_again(const u9i_body *body, const uint8_t **next, size_t *left,
                                                       u9i_record *out)
{
    size_t size = body->plain ? 0 : u9i_common_size(*next, *left);
    if (size == 0) return u9i_body_next(body, next, left, out);
    *out = u9i_common_record(*next, size);
    *next += size;
    *left -= size;
    return U9_OK;
}

/*
 * As u9i_record_next, for a record of `total` bytes of which only the first `size` are here: its head and key are
 * proven, its other elements not looked at, and only the key is filled. U9_CORRUPT. [C-6]
 */
U9_MUST_CHECK u9_err u9i_record_front(const uint8_t *bytes, size_t size, uint64_t total,
                                      u9i_record *out);

/* A key kind that a record's key may be of: "muid" (16 bytes), "tid", "rkey"; "": no kind's keys have its form, or it has none. */
const char *u9i_record_kind(const u9i_record *record);

/*
 * Writes the head of a record tuple whose `count` elements have `size` bytes together, in its shortest
 * form, into `out`; returns its length. [B-2] [V-7]
 */
size_t u9i_record_head(uint64_t count, uint64_t size, uint8_t out[17]);

#endif
