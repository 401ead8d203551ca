/*
 * format/value/decode.h: looks at one value: the innermost loop of every scan, inline for the rooms that
 * walk values. [V-1] to [V-6] [V-8]
 *
 * Room: format/value
 * Sees: include format/base
 *
 * The room owns utf9 values: one looked at, many walked, built, proved and compared.
 *
 * One table says for each bytecode what its value is and which form the bytes behind it have, and
 * exactly two comparisons guard all reads: head against buffer, contents against what is left. A length
 * is never added to anything before the second one has passed, so nothing overflows, whatever a 64-bit
 * length claims. Arrays and indexes, which take more, are looked at out of line.
 */
#ifndef U9I_DECODE_H
#define U9I_DECODE_H

#include <u9/value.h>

#include "format/base/bytes.h"

/* What stands behind a bytecode. [V-2] to [V-5] */
typedef enum u9i_form {
    U9I_FORM_NONE,    /* no value begins so, or an index does */
    U9I_FORM_BARE,    /* nothing */
    U9I_FORM_FIXINT,  /* nothing: the number is in the bytecode */
    U9I_FORM_1,       /* a number of 1, 2, 4, 8 bytes */
    U9I_FORM_2,
    U9I_FORM_4,
    U9I_FORM_8,       /* or an int or a float of 8 */
    U9I_FORM_INT_1,   /* an int below 8 bytes: its sign is extended */
    U9I_FORM_INT_2,
    U9I_FORM_INT_4,
    U9I_FORM_FLOAT32,
    U9I_FORM_PIDFD,
    U9I_FORM_SYMBOL,  /* contents of 8 bytes; all from here on have contents */
    U9I_FORM_FIX,     /* contents, whose length is in the bytecode */
    U9I_FORM_SIZED_1, /* length, contents */
    U9I_FORM_SIZED_2,
    U9I_FORM_SIZED_4,
    U9I_FORM_SIZED_8,
    U9I_FORM_FIXTUPLE,  /* length, elements; the count is in the bytecode */
    U9I_FORM_COUNTED_1, /* length, count, elements */
    U9I_FORM_COUNTED_2,
    U9I_FORM_COUNTED_4,
    U9I_FORM_COUNTED_8
} u9i_form;

typedef struct u9i_shape {
    uint8_t type; /* a u9_type; 0: U9I_FORM_NONE */
    uint8_t form; /* a u9i_form */
    uint8_t head; /* bytes in front of the contents, bytecode included */
} u9i_shape;

enum { U9I_FIXINT = 0x80 }; /* [V-3] the first of them */

extern const u9i_shape u9i_shapes[256]; /* by bytecode */

/* [V-10] Bytes of each element of an array whose typecode is `code` and no more; 0: none is. */
static inline unsigned u9i_packed_size(uint8_t code)
{
    const u9i_shape *s = &u9i_shapes[code];
    if (s->form == U9I_FORM_SYMBOL) return 8;
    return s->form >= U9I_FORM_1 && s->form < U9I_FORM_SYMBOL ? s->head - 1u : 0;
}

/* A value taken apart. */
typedef struct u9i_parts {
    unsigned type;           /* a u9_type; 0: nothing that has a shape */
    size_t head;             /* bytes in front of the contents, bytecode included */
    uint64_t body;           /* bytes of contents */
    const uint8_t *contents; /* NULL if it has none */
    uint64_t count;          /* of a container */
    uint64_t number;         /* what u9_value.u, i, f or pidfd holds, as it stands in memory */
} u9i_parts;

/* [V-1] */
static inline uint64_t u9i_be16(const uint8_t *p)
{
    return (uint64_t)p[0] << 8 | p[1];
}

static inline uint64_t u9i_be32(const uint8_t *p)
{
    return (uint64_t)p[0] << 24 | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 8 | p[3];
}

static inline uint64_t u9i_be64(const uint8_t *p)
{
    return u9i_be32(p) << 32 | u9i_be32(p + 4);
}

/* Two's complement of `width` bytes in 64 bits. */
static inline uint64_t u9i_sign_extend(uint64_t number, unsigned width)
{
    uint64_t sign = UINT64_C(1) << (8 * width - 1);
    return (number ^ sign) - sign;
}

/* A float32's bits as those of a double. */
static inline uint64_t u9i_widen(uint64_t number)
{
    uint32_t bits = (uint32_t)number;
    float narrow;
    memcpy(&narrow, &bits, sizeof narrow);
    double wide = (double)narrow;
    memcpy(&number, &wide, sizeof number);
    return number;
}

static inline uint64_t u9i_pair(const uint8_t *p)
{
    uint32_t pidfd[2] = {(uint32_t)u9i_be32(p), (uint32_t)u9i_be32(p + 4)};
    uint64_t number;
    memcpy(&number, pidfd, sizeof number);
    return number;
}

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

/* Bytes of the indexes that stand one behind the other at p, by their lengths; above `size`: they pass it. */
static inline size_t u9i_pass_indexes(const uint8_t *p, size_t size)
{
    size_t at = 0;
    while (at < size && u9i_is_index(p[at])) {
        unsigned width = u9i_index_width(p[at]);
        size_t left = size - at - 1;
        uint64_t l = width <= left ? u9i_get_be(p + at + 1, width) : 0;
        if (width > left || l > left - width) return size + 1; /* [V-8] */
        at += 1 + width + (size_t)l;
    }
    return at;
}

/* What is inlined wherever it is called, so that what a caller does not ask for is not computed. */
#if defined(__GNUC__)
#define U9I_INLINE static inline __attribute__((always_inline))
#else
#define U9I_INLINE static inline
#endif

/*
 * Takes the value at p apart, of which there are `size` bytes, 1 at least (its head stands at p); `code` is its bytecode,
 * p[0]. `proved`: by u9_value_check, so that lengths need not be compared. Each form's head is a number
 * here and not the table's, so that a processor that guesses the form knows where the next value begins
 * before it has seen the table.
 */
U9I_INLINE u9_err u9i_take_apart(bool proved, uint8_t code, const uint8_t *p, uint64_t size,
                                 u9i_parts *out)
{
    const u9i_shape *s = &u9i_shapes[code];
    size_t head = 1;
    uint64_t number = 0, body = 0, count = 0;
    if (!proved && s->head > size) return U9_TORN; /* [V-8] */
    switch (s->form) {
    case U9I_FORM_FIXINT: number = code & 0x7f; break;
    case U9I_FORM_1: head = 2; number = p[1]; break;
    case U9I_FORM_2: head = 3; number = u9i_be16(p + 1); break;
    case U9I_FORM_4: head = 5; number = u9i_be32(p + 1); break;
    case U9I_FORM_8: head = 9; number = u9i_be64(p + 1); break;
    case U9I_FORM_INT_1: head = 2; number = u9i_sign_extend(p[1], 1); break;
    case U9I_FORM_INT_2: head = 3; number = u9i_sign_extend(u9i_be16(p + 1), 2); break;
    case U9I_FORM_INT_4: head = 5; number = u9i_sign_extend(u9i_be32(p + 1), 4); break;
    case U9I_FORM_FLOAT32: head = 5; number = u9i_widen(u9i_be32(p + 1)); break;
    case U9I_FORM_PIDFD: head = 9; number = u9i_pair(p + 1); break;
    case U9I_FORM_SYMBOL: body = 8; break;
    case U9I_FORM_FIX: body = code & 15; break;
    case U9I_FORM_SIZED_1: head = 2; body = p[1]; break;
    case U9I_FORM_SIZED_2: head = 3; body = u9i_be16(p + 1); break;
    case U9I_FORM_SIZED_4: head = 5; body = u9i_be32(p + 1); break;
    case U9I_FORM_SIZED_8: head = 9; body = u9i_be64(p + 1); break;
    case U9I_FORM_FIXTUPLE: head = 2; body = p[1]; count = code & 7; break;
    case U9I_FORM_COUNTED_1: head = 3; body = p[1]; count = p[2]; break;
    case U9I_FORM_COUNTED_2: head = 5; body = u9i_be16(p + 1); count = u9i_be16(p + 3); break;
    case U9I_FORM_COUNTED_4: head = 9; body = u9i_be32(p + 1); count = u9i_be32(p + 5); break;
    case U9I_FORM_COUNTED_8: head = 17; body = u9i_be64(p + 1); count = u9i_be64(p + 9); break;
    default: break; /* nothing behind the bytecode, or nothing known */
    }
    if (!proved && body > size - head) return U9_TORN; /* [V-8] */
    out->type = s->type;
    out->head = head;
    out->body = body;
    out->contents = s->form >= U9I_FORM_SYMBOL ? p + head : NULL;
    out->count = count;
    out->number = number;
    return U9_OK;
}

U9I_INLINE void u9i_fill(uint8_t code, const uint8_t *start, const u9i_parts *v, u9_value *out)
{
    out->type = (u9_type)v->type;
    out->code = code;
    out->start = start;
    out->encoded = v->head + (size_t)v->body;
    out->data = v->contents;
    out->size = v->body;
    out->count = v->count;
    out->u = v->number;
}

/* The number that a packed element of this form is; a symbol is none. */
U9I_INLINE uint64_t u9i_packed_number(unsigned form, const uint8_t *p)
{
    switch (form) {
    case U9I_FORM_1: return p[0];
    case U9I_FORM_2: return u9i_be16(p);
    case U9I_FORM_4: return u9i_be32(p);
    case U9I_FORM_8: return u9i_be64(p);
    case U9I_FORM_INT_1: return u9i_sign_extend(p[0], 1);
    case U9I_FORM_INT_2: return u9i_sign_extend(u9i_be16(p), 2);
    case U9I_FORM_INT_4: return u9i_sign_extend(u9i_be32(p), 4);
    case U9I_FORM_FLOAT32: return u9i_widen(u9i_be32(p));
    case U9I_FORM_PIDFD: return u9i_pair(p);
    default: return 0;
    }
}

/* [V-10] Fills `out` with such an element at p: it is what stands behind `code` in a value of its own. */
U9I_INLINE void u9i_look_packed(uint8_t code, const uint8_t *p, u9_value *out)
{
    const u9i_shape *s = &u9i_shapes[code];
    bool symbol = s->form == U9I_FORM_SYMBOL;
    out->type = (u9_type)s->type;
    out->code = code;
    out->start = NULL;
    out->encoded = 0;
    out->data = symbol ? p : NULL;
    out->size = symbol ? 8 : 0;
    out->count = 0;
    out->u = u9i_packed_number(s->form, p);
}

/* Fills `out` with the array at p, taken apart, if its typecode and its size are right. [V-5] */
U9_MUST_CHECK u9_err u9i_look_array(const uint8_t *p, size_t head, uint64_t body, uint64_t count,
                                    u9_value *out);

/* What begins with a bytecode that no shape is for: an index with its container, or nothing. */
U9_MUST_CHECK u9_err u9i_look_indexed(const uint8_t *p, size_t size, u9_value *out);

/* The value at p, of which `size` bytes may be read; those of containers are not entered. */
U9I_INLINE u9_err u9i_look_as(bool proved, const uint8_t *p, size_t size, u9_value *out)
{
    u9i_parts v;
    if (!proved && size == 0) return U9_TORN;
    u9_err err = u9i_take_apart(proved, p[0], p, size, &v);
    if (err) return err;
    if (v.type == 0) return u9i_look_indexed(p, size, out);
    if (v.type == U9_ARRAY) return u9i_look_array(p, v.head, v.body, v.count, out);
    u9i_fill(p[0], p, &v, out);
    return U9_OK;
}

static inline u9_err u9i_look(const uint8_t *p, size_t size, u9_value *out)
{
    return u9i_look_as(false, p, size, out);
}

/* The same for who only wants to know how many bytes the value takes; `size` is 1 at least. */
U9I_INLINE u9_err u9i_skip(const uint8_t *p, size_t size, size_t *encoded)
{
    u9i_parts v;
    u9_value other;
    u9_err err = u9i_take_apart(false, p[0], p, size, &v);
    if (err) return err;
    *encoded = v.head + (size_t)v.body;
    if (v.type != 0 && v.type != U9_ARRAY) return U9_OK;
    err = u9_value_decode(p, size, &other);
    if (err == U9_OK) *encoded = other.encoded;
    return err;
}

/* The number of the domain that values of this type are in. [O-1] */
unsigned u9i_domain_of(u9_type type);

/* u9_value_check of a value that is to stand inside `outer` containers, at most U9_DEPTH_MAX. [V-8] */
U9_MUST_CHECK u9_err u9i_value_check_inside(unsigned outer, const void *bytes, size_t size,
                                            uint64_t *bad_utf8, u9_fault *fault);

#endif
