/*
 * tests/format/base/hex.h: small things that the tests of identifiers share.
 */
#ifndef U9T_HEX_H
#define U9T_HEX_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A text with its size; it may hold NULs. */
#define TEXT(literal) literal, sizeof(literal) - 1

static inline unsigned nibble(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Lower-case hex into bytes; how many. */
static inline size_t unhex(const char *hex, uint8_t *out)
{
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
    return size;
}

/* A copy of exactly `size` bytes, to be freed: reading past its end is seen. */
static inline void *exactly(const void *bytes, size_t size)
{
    void *copy = calloc(1, size);
    if (copy && size > 0) memcpy(copy, bytes, size);
    return copy;
}

#endif
