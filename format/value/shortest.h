/*
 * format/value/shortest.h: how wide the shortest form of a value is. [V-7]
 *
 * Bytecodes come in rows of four, one for each step: a number of step s has 1 << s bytes.
 */
#ifndef U9I_SHORTEST_H
#define U9I_SHORTEST_H

#include "format/base/bytes.h"

enum {
    U9I_FIX_INT_MAX = 127, /* [V-3] */
    U9I_FIX_BLOB_MAX = 15, /* [V-3] bytes of a fixutf8 or fixbytes */
    U9I_FIX_TUPLE_MAX = 7, /* [V-3] elements */
    U9I_FIX_TUPLE_HEAD = 2 /* bytes: bytecode and length */
};

/* The step whose width is the least that holds v; of two numbers, that of both: u9i_step_of(v | w). */
static inline unsigned u9i_step_of(uint64_t v)
{
    return (unsigned)(v > UINT8_MAX) + (v > UINT16_MAX) + (v > UINT32_MAX);
}

/* The step of a width of 1, 2, 4 or 8 bytes. */
static inline unsigned u9i_width_step(unsigned width)
{
    return (unsigned)(width > 1) + (width > 2) + (width > 4);
}

/* Bytes of a header with length and count of 1 << step bytes: 3, 5, 9, 17. */
static inline size_t u9i_head(unsigned step)
{
    return 1 + ((size_t)2 << step);
}

/* Writes it; `code` is the row's first bytecode. */
static inline void u9i_set_head(uint8_t *p, unsigned code, unsigned step, uint64_t length,
                                uint64_t count)
{
    p[0] = (uint8_t)(code + step);
    if (step == 0) { /* the most common */
        p[1] = (uint8_t)length;
        p[2] = (uint8_t)count;
        return;
    }
    u9i_set_be(p + 1, 1u << step, length);
    u9i_set_be(p + 1 + (1u << step), 1u << step, count);
}

static inline bool u9i_fix_tuple(uint64_t length, uint64_t count)
{
    return count <= U9I_FIX_TUPLE_MAX && length <= UINT8_MAX;
}

/* The bytecode of a tuple in its shortest form. */
static inline uint8_t u9i_tuple_code(uint64_t length, uint64_t count)
{
    if (u9i_fix_tuple(length, count)) return (uint8_t)(0x48 + count);
    return (uint8_t)(0x40 + u9i_step_of(length | count));
}

/* Bytes of its header. */
static inline size_t u9i_tuple_head(uint64_t length, uint64_t count)
{
    return u9i_fix_tuple(length, count) ? U9I_FIX_TUPLE_HEAD : u9i_head(u9i_step_of(length | count));
}

/* Writes it. */
static inline void u9i_set_tuple_head(uint8_t *p, uint64_t length, uint64_t count)
{
    if (!u9i_fix_tuple(length, count)) {
        u9i_set_head(p, 0x40, u9i_step_of(length | count), length, count);
        return;
    }
    p[0] = (uint8_t)(0x48 + count);
    p[1] = (uint8_t)length;
}

#endif
