/*
 * format/value/build.h: what the two files of the builder share: build.c (buffer, atoms, tuples) and
 * array.c (arrays).
 *
 * Invariants of u9_builder:
 * - `size` never shrinks, and at each moment it is the exact number of bytes of what was built so
 *   far. Once size > cap the buffer is too small for good: each later call writes nothing, does not
 *   ask for growth, goes on counting and returns U9_LIMIT, and containers opened and closed then
 *   are counted as well.
 * - an open container holds room for the smallest header of its kind, or for the one asked for. The
 *   close moves what follows up where the header turns out larger, as only then length and count
 *   are known.
 * - `edge` is cap, or 0 where the innermost container is an array, whose elements are written
 *   without bytecodes: what lies between size and edge is for <u9/value_quick.h>.
 * - a call that returns anything but U9_OK and a U9_LIMIT for want of room has changed nothing.
 */
#ifndef U9I_BUILD_H
#define U9I_BUILD_H

#define U9_NO_QUICK /* the functions themselves are meant here */
#include <u9/value.h>

#include <stdbool.h>

/* u9_builder_level.kind. Arrays come last. */
enum {
    U9I_TUPLE, /* this and the next are known to <u9/value_quick.h> */
    U9I_BOTTOM,
    U9I_TUPLE_WIDE,
    U9I_TUPLE_ELEMENT, /* in an array: the typecode has its length, and a fix form's count */
    U9I_ARRAY,
    U9I_ARRAY_ELEMENT /* in an array: the typecode has it all */
};

/* The innermost open container, or the bottom. */
static inline const u9_builder_level *u9i_innermost(const u9_builder *b)
{
    return &b->open[b->depth];
}

/* How many elements that has so far. */
static inline uint64_t u9i_elements(const u9_builder *b)
{
    return b->count - u9i_innermost(b)->base;
}

/* True if the next value is an element of an array. */
static inline bool u9i_in_array(const u9_builder *b)
{
    return u9i_innermost(b)->kind >= U9I_ARRAY;
}

/* Counts one more value of `head` + `size` bytes, which are then the last ones up to b->size and
 * the caller's to fill. Where there is no room U9_LIMIT, and it is counted; or what the growing
 * function returned. */
u9_err u9i_build_take(u9_builder *b, size_t head, size_t size);

/* Opens `level`, whose `at` and `base` it sets, with `head` bytes that the caller and the close
 * fill. For want of room U9_LIMIT, and it is open; else what is not U9_OK opens nothing. */
u9_err u9i_build_open(u9_builder *b, u9_builder_level level, size_t head);

/* The innermost container is closed. U9_LIMIT if the buffer is too small. */
u9_err u9i_build_leave(u9_builder *b);

/* Closes the innermost container with a header of bytecode `code` + step, length and count: in the
 * width asked for, or with width 0 in the shortest form, for which `had` bytes were left. */
u9_err u9i_build_close(u9_builder *b, unsigned code, unsigned width, size_t had);

/* Writes one element of the innermost array. U9_ARG if it is not what the typecode says. */
u9_err u9i_build_element(u9_builder *b, const u9_value *v);

/* Opens and closes a tuple that is an element of an array. */
u9_err u9i_build_tuple_element_open(u9_builder *b);
u9_err u9i_build_tuple_element_close(u9_builder *b);

/* Writes an array from a view that has no bytes of its own. */
u9_err u9i_build_array_value(u9_builder *b, const u9_value *v);

#endif
