/*
 * format/value_look.h: looks at one value: the innermost loop of every scan, inline for the rooms that
 * walk values. [V-1] to [V-6] [V-8]
 *
 * One table says for each bytecode how many bytes stand in front of the contents and which number gives
 * their length, and exactly two comparisons guard all reads: head against buffer, contents against what is
 * left. A length is never added to anything before the second one has passed, so nothing overflows,
 * whatever a 64-bit length claims. Arrays and indexes, which take more, are looked at out of line.
 */
#ifndef U9I_VALUE_LOOK_H
#define U9I_VALUE_LOOK_H

#include <u9/value.h>

#include "format/bytes.h"

/* What stands behind a bytecode. */
typedef struct u9i_shape {
    uint8_t type;  /* a u9_type; 0: no value begins with this bytecode */
    uint8_t head;  /* bytes in front of the contents, bytecode included */
    uint8_t width; /* bytes of the number right behind the bytecode: 0, 1, 2, 4 or 8 */
    uint8_t sized; /* 1: that number is the length of the contents */
    uint8_t fixed; /* else this is */
} u9i_shape;

enum { U9I_FIXINT = 0x80 }; /* [V-3] the last row: it stands for all bytecodes from here on */

extern const u9i_shape u9i_shapes[U9I_FIXINT + 1];

/* [V-1] A big-endian number of `width` bytes (1, 2, 4, 8) at p, of which `left` may be read. */
static inline uint64_t u9i_number_at(const uint8_t *p, size_t left, unsigned width)
{
    if (left < 8) return u9i_get_be(p, width);
    uint64_t wide = (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 |
                    (uint64_t)p[3] << 32 | (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 |
                    (uint64_t)p[6] << 8 | (uint64_t)p[7];
    return wide >> (64 - 8 * width);
}

static inline int64_t u9i_sign_extend(uint64_t number, unsigned width)
{
    uint64_t sign = UINT64_C(1) << (8 * width - 1);
    number = (number ^ sign) - sign;
    int64_t v; /* memcpy: converting a large unsigned value is not portable */
    memcpy(&v, &number, sizeof v);
    return v;
}

static inline double u9i_float32_of(uint64_t number)
{
    uint32_t bits = (uint32_t)number;
    float v;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

static inline double u9i_float64_of(uint64_t number)
{
    double v;
    memcpy(&v, &number, sizeof v);
    return v;
}

/* [V-4] [V-5] The count: behind the length and as wide; of a fixtuple, in its bytecode. */
static inline uint64_t u9i_count_at(const uint8_t *p, size_t size, const u9i_shape *s)
{
    if (p[0] >= 0x48) return p[0] & 7;
    return u9i_number_at(p + 1 + s->width, size - 1 - s->width, s->width);
}

/* Fills what depends on the type; head and contents are known to be within `size` bytes. */
static inline void u9i_value_fill(u9_value *out, uint64_t number, size_t size, const u9i_shape *s)
{
    const uint8_t *contents = out->start + s->head;
    switch (out->type) {
    case U9_UINT:
    case U9_TAU: out->u = number; break;
    case U9_INT: out->i = u9i_sign_extend(number, s->width); break;
    case U9_FLOAT32: out->f = u9i_float32_of(number); break;
    case U9_FLOAT64: out->f = u9i_float64_of(number); break;
    case U9_PIDFD:
        out->pidfd.pid = (uint32_t)(number >> 32);
        out->pidfd.fd = (uint32_t)number;
        break;
    case U9_SYMBOL:
    case U9_UTF8:
    case U9_BYTES: out->data = contents; break;
    case U9_TUPLE:
    case U9_ARRAY:
        out->data = contents;
        out->count = u9i_count_at(out->start, size, s);
        break;
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0: break;
    }
}

/* Finds the elements of an array whose typecode and elements are the bytes at out->data. [V-5] */
U9_MUST_CHECK u9_err u9i_look_array(u9_value *out);

/* What begins with a bytecode that no shape is for: an index with its container, or nothing. */
U9_MUST_CHECK u9_err u9i_look_indexed(const uint8_t *p, size_t size, u9_value *out);

/*
 * The value at p, of which `size` bytes may be read; those of containers are not entered. `proved`: by
 * u9_value_check, so that lengths need not be compared.
 */
static inline u9_err u9i_look_as(bool proved, const uint8_t *p, size_t size, u9_value *out)
{
    if (!proved && size == 0) return U9_TORN;
    const u9i_shape *s = &u9i_shapes[p[0] < U9I_FIXINT ? p[0] : U9I_FIXINT];
    if (s->type == 0) return u9i_look_indexed(p, size, out);
    if (!proved && s->head > size) return U9_TORN; /* [V-8] */
    uint64_t number = s->width > 0 ? u9i_number_at(p + 1, size - 1, s->width) : p[0] & 0x7f;
    uint64_t body = s->sized ? number : s->fixed;
    if (!proved && body > size - s->head) return U9_TORN; /* [V-8] */
    u9_value v = {.type = (u9_type)s->type,
                  .code = p[0],
                  .start = p,
                  .encoded = s->head + (size_t)body,
                  .size = body};
    u9i_value_fill(&v, number, size, s);
    if (v.type == U9_ARRAY) {
        u9_err err = u9i_look_array(&v);
        if (err != U9_OK) return err;
    }
    *out = v;
    return U9_OK;
}

static inline u9_err u9i_look(const uint8_t *p, size_t size, u9_value *out)
{
    return u9i_look_as(false, p, size, out);
}

/* u9_value_check of a value that is to stand inside `outer` containers, at most U9_DEPTH_MAX. [V-8] */
U9_MUST_CHECK u9_err u9i_value_check_inside(unsigned outer, const void *bytes, size_t size,
                                            uint64_t *bad_utf8, u9_fault *fault);

/* True for the bytecodes of indexes. */
static inline bool u9i_is_index(uint8_t code)
{
    return code >= 0x51 && code <= 0x57;
}

/* Bytes of the length behind an index's bytecode. */
static inline unsigned u9i_index_width(uint8_t code)
{
    return code <= 0x53 ? 2u << (code - 0x51) : 1u << (code - 0x54);
}

#endif
