/*
 * format/value/text/float_text.h: floats as decimal text and back, exactly. [N-4]
 *
 * The C library's own ways ask for the locale and do not find the fewest digits. Here the
 * arithmetic is whole numbers of any size on the stack: no rounding but the last one. Pure
 * functions, any thread.
 */
#ifndef U9I_FLOAT_TEXT_H
#define U9I_FLOAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { U9I_FLOAT_SIZE = 32 }; /* room for any finite number as text */

/*
 * Prints a finite number, given as its bits in IEEE 754 of `width` bytes (4 or 8): the fewest
 * digits that read back to the same bits, of those the nearest to the number. Always with a `.` or
 * an `e`. Returns the text's size; it has no NUL.
 */
size_t u9i_float_print(uint64_t bits, unsigned width, char out[U9I_FLOAT_SIZE]);

/*
 * Reads a number that is known to have the form -? digits (. digits)? (e [+-]? digits)?; `e` may be
 * `E`. Gives the bits of the nearest float of `width` bytes, of two as near the even one. False: it
 * is too large for any finite one.
 */
bool u9i_float_parse(const char *text, size_t size, unsigned width, uint64_t *bits);

#endif
