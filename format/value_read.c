/*
 * format/value_read.c: looks at utf9 values where they lie.
 *
 * Owns: the decoder of one value, the walk over values back to back, the proof that bytes are one
 * well-formed value, the UTF-8 check. Rules: [V-1] to [V-6], [V-8]; a symbol's 8 bytes [V-9] are
 * handed out as they are.
 *
 * The decoder does not use the cursor of bytes.h: it is the innermost loop of every scan. Instead
 * one table says for each bytecode how many bytes stand in front of the contents and which number
 * gives their length, and exactly two comparisons guard all reads: head against buffer, contents
 * against what is left. A length is never added to anything before the second one has passed, so
 * nothing overflows, whatever a 64-bit length claims.
 *
 * Invariants: no byte outside the caller's buffer is read; no recursion, no allocation; an
 * out-parameter is written only on success. Pure functions, any thread.
 */
#include <u9/value.h>

#include "format/bytes.h"

_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "[V-2] floats are IEEE 754");

/* What stands behind a bytecode. */
typedef struct shape {
    uint8_t type;  /* a u9_type; 0: no value begins with this bytecode */
    uint8_t head;  /* bytes in front of the contents, bytecode included */
    uint8_t width; /* bytes of the number right behind the bytecode: 0, 1, 2, 4 or 8 */
    uint8_t sized; /* 1: that number is the length of the contents */
    uint8_t fixed; /* else this is */
} shape;

#define NUMBER(t, w) {.type = (t), .head = 1 + (w), .width = (w)}
#define BARE(t) {.type = (t), .head = 1}
#define SIZED(t, w) {.type = (t), .head = 1 + (w), .width = (w), .sized = 1}
#define COUNTED(t, w) {.type = (t), .head = 1 + 2 * (w), .width = (w), .sized = 1}
#define FIX(t, n) {.type = (t), .head = 1, .fixed = (n)}
#define FIX_4(t, n) FIX(t, n), FIX(t, (n) + 1), FIX(t, (n) + 2), FIX(t, (n) + 3)
#define FIX_16(t) FIX_4(t, 0), FIX_4(t, 4), FIX_4(t, 8), FIX_4(t, 12)

enum { FIXINT = 0x80 }; /* [V-3] the last row: it stands for all bytecodes from here on */

/* [V-2] [V-3] [V-4] [V-5] Rows left out are reserved or container indexes [V-6]. */
static const shape shapes[FIXINT + 1] = {
    [0x00] = NUMBER(U9_UINT, 1), NUMBER(U9_UINT, 2), NUMBER(U9_UINT, 4), NUMBER(U9_UINT, 8),
    [0x04] = NUMBER(U9_INT, 1), NUMBER(U9_INT, 2), NUMBER(U9_INT, 4), NUMBER(U9_INT, 8),
    [0x08] = NUMBER(U9_FLOAT32, 4),
    [0x09] = NUMBER(U9_FLOAT64, 8),
    [0x0a] = FIX(U9_SYMBOL, 8),
    [0x0b] = NUMBER(U9_PIDFD, 8),
    [0x10] = BARE(U9_ALPHA),
    [0x11] = BARE(U9_OMEGA),
    [0x12] = BARE(U9_IOTA),
    [0x13] = BARE(U9_KAPPA),
    [0x14] = BARE(U9_TAU0),
    [0x15] = NUMBER(U9_TAU, 2), NUMBER(U9_TAU, 4), NUMBER(U9_TAU, 8),
    [0x18] = SIZED(U9_UTF8, 1), SIZED(U9_UTF8, 2), SIZED(U9_UTF8, 4), SIZED(U9_UTF8, 8),
    [0x1c] = SIZED(U9_BYTES, 1), SIZED(U9_BYTES, 2), SIZED(U9_BYTES, 4), SIZED(U9_BYTES, 8),
    [0x20] = FIX_16(U9_UTF8),
    [0x30] = FIX_16(U9_BYTES),
    [0x40] = COUNTED(U9_TUPLE, 1), COUNTED(U9_TUPLE, 2), COUNTED(U9_TUPLE, 4),
    [0x43] = COUNTED(U9_TUPLE, 8),
    [0x44] = COUNTED(U9_ARRAY, 1), COUNTED(U9_ARRAY, 2), COUNTED(U9_ARRAY, 4),
    [0x47] = COUNTED(U9_ARRAY, 8),
    [0x48] = SIZED(U9_TUPLE, 1), SIZED(U9_TUPLE, 1), SIZED(U9_TUPLE, 1), SIZED(U9_TUPLE, 1),
    [0x4c] = SIZED(U9_TUPLE, 1), SIZED(U9_TUPLE, 1), SIZED(U9_TUPLE, 1), SIZED(U9_TUPLE, 1),
    [FIXINT] = BARE(U9_UINT),
};

/* [V-1] A big-endian number of `width` bytes (1, 2, 4, 8) at p, of which `left` may be read. */
static inline uint64_t number_at(const uint8_t *p, size_t left, unsigned width)
{
    if (left < 8) return u9i_get_be(p, width);
    uint64_t wide = (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 |
                    (uint64_t)p[3] << 32 | (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 |
                    (uint64_t)p[6] << 8 | (uint64_t)p[7];
    return wide >> (64 - 8 * width);
}

static inline int64_t sign_extend(uint64_t number, unsigned width)
{
    uint64_t sign = UINT64_C(1) << (8 * width - 1);
    number = (number ^ sign) - sign;
    int64_t v; /* memcpy: converting a large unsigned value is not portable */
    memcpy(&v, &number, sizeof v);
    return v;
}

static inline double float32_of(uint64_t number)
{
    uint32_t bits = (uint32_t)number;
    float v;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

static inline double float64_of(uint64_t number)
{
    double v;
    memcpy(&v, &number, sizeof v);
    return v;
}

/* [V-4] [V-5] The count: behind the length and as wide; of a fixtuple, in its bytecode. */
static inline uint64_t count_at(const uint8_t *p, size_t size, const shape *s)
{
    if (p[0] >= 0x48) return p[0] & 7;
    return number_at(p + 1 + s->width, size - 1 - s->width, s->width);
}

/* Fills what depends on the type; head and contents are known to be within `size` bytes. */
static inline void fill(u9_value *out, uint64_t number, size_t size, const shape *s)
{
    const uint8_t *contents = out->start + s->head;
    switch (out->type) {
    case U9_UINT:
    case U9_TAU: out->u = number; break;
    case U9_INT: out->i = sign_extend(number, s->width); break;
    case U9_FLOAT32: out->f = float32_of(number); break;
    case U9_FLOAT64: out->f = float64_of(number); break;
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
        out->count = count_at(out->start, size, s);
        break;
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0: break;
    }
}

static inline u9_err look(const uint8_t *p, size_t size, u9_value *out)
{
    if (size == 0) return U9_TORN;
    const shape *s = &shapes[p[0] < FIXINT ? p[0] : FIXINT];
    if (s->type == 0) return p[0] >= 0x51 && p[0] <= 0x57 ? U9_VERSION : U9_CORRUPT; /* [V-6] */
    if (s->head > size) return U9_TORN; /* [V-8] */
    uint64_t number = s->width > 0 ? number_at(p + 1, size - 1, s->width) : p[0] & 0x7f;
    uint64_t body = s->sized ? number : s->fixed;
    if (body > size - s->head) return U9_TORN; /* [V-8] */
    *out = (u9_value){.type = (u9_type)s->type,
                      .code = p[0],
                      .start = p,
                      .encoded = s->head + (size_t)body,
                      .size = body};
    fill(out, number, size, s);
    return U9_OK;
}

u9_err u9_value_decode(const void *bytes, size_t size, u9_value *out)
{
    return look((const uint8_t *)bytes, size, out);
}

u9_walk u9_walk_bytes(const void *bytes, size_t size)
{
    return (u9_walk){.next = (const uint8_t *)bytes, .left = size};
}

u9_walk u9_walk_elements(const u9_value *tuple)
{
    if (tuple->type != U9_TUPLE) return u9_walk_bytes(NULL, 0); /* nothing to walk */
    return u9_walk_bytes(tuple->data, (size_t)tuple->size);
}

u9_err u9_walk_next(u9_walk *walk, u9_value *out)
{
    if (walk->left == 0) return U9_END;
    u9_err err = look(walk->next, walk->left, out);
    if (err) return err;
    walk->next += out->encoded;
    walk->left -= out->encoded;
    return U9_OK;
}

static u9_err refuse(u9_fault *fault, u9_err err, size_t at, const char *rule, const char *text)
{
    if (fault) {
        *fault = (u9_fault){.err = err, .segment = U9_NOWHERE, .offset = at};
        memcpy(fault->rule, rule, strlen(rule));
        memcpy(fault->text, text, strlen(text));
    }
    return err;
}

/* A run of values that must end exactly at `end`: the buffer itself, or one tuple's elements. */
typedef struct level {
    size_t end;
    uint64_t due; /* values still to come */
} level;

/* Names what look() refused at `at`. A value that is torn inside a whole tuple is no torn input. */
static u9_err refuse_value(u9_fault *fault, u9_err err, size_t at, size_t end, unsigned depth)
{
    if (err == U9_VERSION)
        return refuse(fault, err, at, "V-6", "a container index, which this version does not read");
    if (err == U9_CORRUPT) return refuse(fault, err, at, "V-6", "a reserved bytecode");
    if (depth == 0)
        return refuse(fault, U9_TORN, at, "V-8", "the value passes the end of the bytes");
    if (at == end)
        return refuse(fault, U9_CORRUPT, at, "V-4", "a tuple ends before its last element");
    return refuse(fault, U9_CORRUPT, at, "V-4", "an element passes the end of its tuple");
}

static u9_err refuse_rest(u9_fault *fault, size_t at, unsigned depth)
{
    if (depth == 0) return refuse(fault, U9_CORRUPT, at, "V-8", "bytes behind the value");
    return refuse(fault, U9_CORRUPT, at, "V-4", "bytes behind a tuple's last element");
}

u9_err u9_value_check(const void *bytes, size_t size, uint64_t *bad_utf8, u9_fault *fault)
{
    const uint8_t *p = (const uint8_t *)bytes;
    level parents[U9_DEPTH_MAX];
    level now = {.end = size, .due = 1};
    unsigned depth = 0; /* open tuples: how many of `parents` are in use */
    uint64_t bad = U9_NOWHERE;
    size_t at = 0;
    if (size == 0) return refuse_value(fault, U9_TORN, 0, 0, 0);
    for (;;) {
        while (now.due == 0) {
            if (at != now.end) return refuse_rest(fault, at, depth);
            if (depth == 0) {
                if (bad_utf8) *bad_utf8 = bad;
                return U9_OK;
            }
            now = parents[--depth];
        }
        now.due--;
        u9_value v;
        u9_err err = look(p + at, now.end - at, &v);
        if (err) return refuse_value(fault, err, at, now.end, depth);
        if ((v.type == U9_TUPLE || v.type == U9_ARRAY) && depth == U9_DEPTH_MAX)
            return refuse(fault, U9_LIMIT, at, "V-8", "containers are nested too deeply");
        if (v.type == U9_UTF8 && bad_utf8 && bad == U9_NOWHERE &&
            !u9_utf8_valid(v.data, (size_t)v.size))
            bad = at;
        at += v.encoded;
        if (v.type == U9_TUPLE) { /* enter it; an array stays closed [V-5] */
            parents[depth++] = now;
            now = (level){.end = at, .due = v.count};
            at -= (size_t)v.size;
        }
    }
}

/* The size of the UTF-8 sequence at p, 0 if it is none. RFC 3629, section 4. */
static size_t utf8_sequence(const uint8_t *p, size_t left)
{
    uint8_t lead = p[0], low = 0x80, high = 0xbf; /* bounds of the second byte */
    size_t size;
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0; /* a tail byte, overlong, or above U+10FFFF */
    if (lead < 0xe0) {
        size = 2;
    } else if (lead < 0xf0) {
        size = 3;
        if (lead == 0xe0) low = 0xa0;  /* below: overlong */
        if (lead == 0xed) high = 0x9f; /* above: surrogates */
    } else {
        size = 4;
        if (lead == 0xf0) low = 0x90;  /* below: overlong */
        if (lead == 0xf4) high = 0x8f; /* above: beyond U+10FFFF */
    }
    if (left < size || p[1] < low || p[1] > high) return 0;
    for (size_t i = 2; i < size; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    return size;
}

int u9_utf8_valid(const void *bytes, size_t size)
{
    const uint8_t *p = (const uint8_t *)bytes;
    size_t at = 0;
    while (at < size) {
        uint64_t eight = 0;
        if (size - at >= 8) memcpy(&eight, p + at, 8);
        if (size - at >= 8 && (eight & UINT64_C(0x8080808080808080)) == 0) {
            at += 8; /* all ASCII, the common case */
            continue;
        }
        size_t step = utf8_sequence(p + at, size - at);
        if (step == 0) return 0;
        at += step;
    }
    return 1;
}
