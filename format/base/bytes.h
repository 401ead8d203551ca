/*
 * format/base/bytes.h: the bounded cursor that all parsing and encoding goes through.
 *
 * Room: format/base
 * Sees: include
 *
 * The room owns what all of the format is made of: bytes, the numbers that bound them, the two hashes,
 * and how a refusal is told.
 *
 * A u9i_in reads big-endian integers and spans from a caller's bytes; a u9i_out fills a caller's
 * buffer. Both carry a sticky failure: after a read or write that does not fit, every later one
 * yields zeros or nothing, and the parser checks once at its end. So a parser reads like the table
 * in SPEC.md, and no length is used before it was compared with what is there.
 */
#ifndef U9I_BYTES_H
#define U9I_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of 8 bytes, as one load: written out, for that is what compilers know. */
static inline uint64_t u9i_get_be64(const uint8_t p[8])
{
    return (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 | (uint64_t)p[3] << 32 |
           (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 | (uint64_t)p[6] << 8 | (uint64_t)p[7];
}

static inline uint64_t u9i_get_be(const uint8_t *p, unsigned width)
{
    uint64_t v = 0;
    if (width == 8) return u9i_get_be64(p);
    for (unsigned i = 0; i < width; i++) v = v << 8 | p[i];
    return v;
}

static inline void u9i_set_be(uint8_t *p, unsigned width, uint64_t v)
{
    while (width > 0) {
        p[--width] = (uint8_t)v;
        v >>= 8;
    }
}

/* The same of 8 bytes, without a loop: for what is done for each record. */
static inline void u9i_set_be64(uint8_t p[8], uint64_t v)
{
    p[0] = (uint8_t)(v >> 56);
    p[1] = (uint8_t)(v >> 48);
    p[2] = (uint8_t)(v >> 40);
    p[3] = (uint8_t)(v >> 32);
    p[4] = (uint8_t)(v >> 24);
    p[5] = (uint8_t)(v >> 16);
    p[6] = (uint8_t)(v >> 8);
    p[7] = (uint8_t)v;
}

/* What a hex digit of either case stands for; below 0: it is none. */
static inline int u9i_hex_digit(int c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

typedef struct u9i_in {
    const uint8_t *next; /* borrows */
    size_t left;         /* bytes */
    bool failed;         /* a read passed the end; sticky */
} u9i_in;

static inline u9i_in u9i_in_init(const void *bytes, size_t size)
{
    return (u9i_in){.next = (const uint8_t *)bytes, .left = size, .failed = false};
}

/* Borrows the next n bytes; NULL (and sticky failure) if there are fewer. */
static inline const uint8_t *u9i_in_span(u9i_in *in, uint64_t n)
{
    if (in->failed || n > in->left) {
        in->failed = true;
        return NULL;
    }
    const uint8_t *p = in->next;
    in->next += n;
    in->left -= (size_t)n;
    return p;
}

/* An unsigned big-endian integer of 1 to 8 bytes; 0 on failure. */
static inline uint64_t u9i_in_uint(u9i_in *in, unsigned width)
{
    const uint8_t *p = u9i_in_span(in, width);
    return p ? u9i_get_be(p, width) : 0;
}

typedef struct u9i_out {
    uint8_t *bytes; /* borrows */
    size_t cap;     /* bytes */
    size_t size;    /* bytes written */
    bool failed;    /* a write did not fit; sticky */
} u9i_out;

static inline u9i_out u9i_out_init(void *bytes, size_t cap)
{
    return (u9i_out){.bytes = (uint8_t *)bytes, .cap = cap, .size = 0, .failed = false};
}

/* Reserves n bytes to be filled by the caller; NULL (and sticky failure) if they do not fit. */
static inline uint8_t *u9i_out_span(u9i_out *out, size_t n)
{
    if (out->failed || n > out->cap - out->size) {
        out->failed = true;
        return NULL;
    }
    uint8_t *p = out->bytes + out->size;
    out->size += n;
    return p;
}

static inline void u9i_out_uint(u9i_out *out, unsigned width, uint64_t v)
{
    uint8_t *p = u9i_out_span(out, width);
    if (p) u9i_set_be(p, width, v);
}

static inline void u9i_out_copy(u9i_out *out, const void *bytes, size_t n)
{
    uint8_t *p = u9i_out_span(out, n);
    if (p && n > 0) memcpy(p, bytes, n);
}

#endif
