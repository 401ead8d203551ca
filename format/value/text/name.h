/*
 * format/value/text/name.h: the names of the text notation, and typecodes, which are written with them.
 * [N-5] [N-6]
 */
#ifndef U9I_NAME_H
#define U9I_NAME_H

#include "format/value/shortest.h"
#include "format/value/text/scanner.h"
#include "format/value/typecode.h"

typedef enum u9i_what {
    U9I_NAME_ALONE = 1, /* greek: the name is all */
    U9I_NAME_WHOLE,     /* uint8 ... int64 */
    U9I_NAME_REAL,      /* float32, float64 */
    U9I_NAME_SYMBOL,    /* as a typecode only */
    U9I_NAME_PIDFD,
    U9I_NAME_TAU,
    U9I_NAME_UTF8,
    U9I_NAME_BYTES,
    U9I_NAME_TUPLE,
    U9I_NAME_ARRAY,
    U9I_NAME_INDEX
} u9i_what;

/* What a name stands for: a bytecode, or a row of them. */
typedef struct u9i_name {
    const char *text;
    u9i_what what;
    uint8_t code;  /* the bytecode; of a row the first */
    uint8_t width; /* bytes of its number or length */
    uint8_t row;   /* bytecodes in the row, each twice as wide as the last; 1: takes no `.w` */
} u9i_name;

/* Finds `word`, which may end in `.w`; then `width` is w in bytes, else 0. NULL: there is no such
 * name. */
const u9i_name *u9i_name_find(u9i_word word, unsigned *width);

/* The bytecode of a row for numbers of `width` bytes. */
unsigned u9i_name_code(const u9i_name *name, unsigned width);

/* The bytes, 1, 2, 4 or 8, that hold v. */
static inline unsigned u9i_narrowest(uint64_t v)
{
    return 1u << u9i_step_of(v);
}

/* The same for a tuple's or array's length and count; 0: the fix form, which only tuples have.
 * [V-7] */
static inline unsigned u9i_narrowest_container(bool tuple, uint64_t length, uint64_t count)
{
    return tuple && u9i_fix_tuple(length, count) ? 0 : 1u << u9i_step_of(length | count);
}

/* The same for an index's length; a `cidx` has no form of 8 bits. */
static inline unsigned u9i_narrowest_index(bool complete, uint64_t length)
{
    return complete && length <= UINT8_MAX ? 2 : 1u << u9i_step_of(length);
}

/* True if `width` bytes hold the number. */
static inline bool u9i_holds(unsigned width, uint64_t number)
{
    return width == 8 || number >> (8 * width) == 0;
}

/* Reads a typecode: its bytes to `out`, where there is room for U9_TYPECODE_MAX, and what it says
 * to `t`. */
U9_MUST_CHECK u9_err u9i_scanner_typecode(u9i_scanner *s, uint8_t *out, u9i_typecode *t);

#endif
