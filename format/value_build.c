/*
 * format/value_build.c: fills a caller's buffer with utf9 values in their shortest form.
 *
 * Owns: u9_builder. Rules: [V-7] on top of the tables [V-1] to [V-4]; symbols [V-9].
 *
 * Invariants:
 * - `size` never shrinks, and at each moment it is the exact number of bytes of what was built so
 *   far. So once size > cap the buffer is too small for good: each later call writes nothing, goes
 *   on counting and returns U9_LIMIT, and tuples opened and closed then are counted as well.
 * - an open tuple holds room for the smallest header (2 bytes: fixtuple). The close moves the
 *   elements up where the header turns out larger, as only then length and count are known.
 * - the two other refusals of U9_LIMIT and U9_ARG (too deep, bad argument) change nothing at all.
 *
 * No recursion, no allocation. One builder belongs to one thread at a time.
 */
#include <u9/value.h>

#include "format/bytes.h"

enum {
    FIX_BLOB_MAX = 15,  /* [V-3] bytes of a fixutf8 or fixbytes */
    FIX_INT_MAX = 127,  /* [V-3] */
    FIX_TUPLE_MAX = 7,  /* [V-3] elements */
    FIX_TUPLE_HEAD = 2, /* bytes: bytecode and length */
    HEAD_MAX = 9        /* bytes in front of any atomic value's contents */
};

void u9_builder_init(u9_builder *b, void *bytes, size_t cap)
{
    b->bytes = (uint8_t *)bytes;
    b->cap = cap;
    b->size = 0;
    b->depth = 0;
}

/*
 * Counts n more bytes. Returns where they go, NULL if they do not fit. The count stops at SIZE_MAX:
 * it must not wrap and look small again.
 */
static uint8_t *grow(u9_builder *b, size_t n)
{
    size_t at = b->size;
    if (n > SIZE_MAX - at) {
        b->size = SIZE_MAX;
        return NULL;
    }
    b->size = at + n;
    return b->size <= b->cap ? b->bytes + at : NULL;
}

static void count_element(u9_builder *b)
{
    if (b->depth > 0) b->open[b->depth - 1].count++;
}

/* One value: bytecode, a big-endian number of `width` bytes (0: none), contents. */
static u9_err put(u9_builder *b, unsigned code, unsigned width, uint64_t number,
                  const void *contents, size_t size)
{
    count_element(b);
    uint8_t *p = grow(b, size > SIZE_MAX - HEAD_MAX ? SIZE_MAX : 1 + width + size);
    if (!p) return U9_LIMIT;
    p[0] = (uint8_t)code;
    u9i_set_be(p + 1, width, number);
    if (size > 0) memcpy(p + 1 + width, contents, size);
    return U9_OK;
}

static u9_err put_number(u9_builder *b, unsigned code, unsigned width, uint64_t number)
{
    return put(b, code, width, number, NULL, 0);
}

/* [V-7] The step whose width, 1 << step bytes, is the least that holds v. Bytecodes come in rows
 * of four, one for each step. */
static unsigned step_of(uint64_t v)
{
    if (v <= UINT8_MAX) return 0;
    if (v <= UINT16_MAX) return 1;
    return v <= UINT32_MAX ? 2 : 3;
}

u9_err u9_build_uint(u9_builder *b, uint64_t v)
{
    if (v <= FIX_INT_MAX) return put_number(b, 0x80 + (unsigned)v, 0, 0);
    unsigned step = step_of(v);
    return put_number(b, 0x00 + step, 1u << step, v);
}

u9_err u9_build_int(u9_builder *b, int64_t v)
{
    if (v >= 0) return u9_build_uint(b, (uint64_t)v);
    unsigned step = step_of(~(uint64_t)v << 1); /* the shift is the room for the sign */
    return put_number(b, 0x04 + step, 1u << step, (uint64_t)v);
}

u9_err u9_build_float32(u9_builder *b, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return put_number(b, 0x08, 4, bits);
}

u9_err u9_build_float64(u9_builder *b, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return put_number(b, 0x09, 8, bits);
}

u9_err u9_build_symbol(u9_builder *b, const char *name)
{
    uint8_t padded[8] = {0};
    size_t size = 0;
    if (!name) return U9_ARG;
    for (; name[size] != '\0'; size++) {
        uint8_t c = (uint8_t)name[size];
        if (size == sizeof padded || c > 0x7f) return U9_ARG; /* [V-9] */
        padded[size] = c;
    }
    if (size == 0) return U9_ARG; /* [V-9] */
    return put(b, 0x0a, 0, 0, padded, sizeof padded);
}

u9_err u9_build_pidfd(u9_builder *b, uint32_t pid, uint32_t fd)
{
    return put_number(b, 0x0b, 8, (uint64_t)pid << 32 | fd);
}

u9_err u9_build_greek(u9_builder *b, u9_type type)
{
    if (type < U9_ALPHA || type > U9_TAU0) return U9_ARG;
    return put_number(b, 0x10 + (unsigned)type - U9_ALPHA, 0, 0);
}

u9_err u9_build_tau(u9_builder *b, uint64_t x)
{
    unsigned step = step_of(x);
    if (step == 0) step = 1; /* there is no tau of 8 bits */
    return put_number(b, 0x14 + step, 1u << step, x);
}

static u9_err put_blob(u9_builder *b, unsigned fix, unsigned sized, const void *data, size_t size)
{
    if (size <= FIX_BLOB_MAX) return put(b, fix + (unsigned)size, 0, 0, data, size);
    unsigned step = step_of(size);
    return put(b, sized + step, 1u << step, size, data, size);
}

u9_err u9_build_utf8(u9_builder *b, const void *text, size_t size)
{
    return put_blob(b, 0x20, 0x18, text, size);
}

u9_err u9_build_bytes(u9_builder *b, const void *bytes, size_t size)
{
    return put_blob(b, 0x30, 0x1c, bytes, size);
}

u9_err u9_build_raw(u9_builder *b, const void *value, size_t size)
{
    if (size == 0) return U9_ARG; /* no value is empty, and it would be counted as an element */
    count_element(b);
    uint8_t *p = grow(b, size);
    if (!p) return U9_LIMIT;
    memcpy(p, value, size);
    return U9_OK;
}

u9_err u9_build_tuple_open(u9_builder *b)
{
    if (b->depth == U9_DEPTH_MAX) return U9_LIMIT; /* [V-8] no reader would take it */
    count_element(b);
    b->open[b->depth].at = b->size;
    b->open[b->depth].count = 0;
    b->depth++;
    uint8_t *p = grow(b, FIX_TUPLE_HEAD);
    if (!p) return U9_LIMIT;
    memset(p, 0, FIX_TUPLE_HEAD); /* the close fills it */
    return U9_OK;
}

u9_err u9_build_tuple_close(u9_builder *b)
{
    if (b->depth == 0) return U9_STATE;
    b->depth--;
    size_t at = b->open[b->depth].at;
    uint64_t count = b->open[b->depth].count;
    size_t body = b->size - at - FIX_TUPLE_HEAD;
    bool fix = count <= FIX_TUPLE_MAX && body <= UINT8_MAX;
    unsigned step = step_of(body > count ? body : count);
    unsigned width = 1u << step;
    size_t head = fix ? FIX_TUPLE_HEAD : 1 + 2 * width;
    if (!grow(b, head - FIX_TUPLE_HEAD)) return U9_LIMIT;
    uint8_t *p = b->bytes + at;
    if (fix) {
        p[0] = (uint8_t)(0x48 + count);
        p[1] = (uint8_t)body;
        return U9_OK;
    }
    memmove(p + head, p + FIX_TUPLE_HEAD, body);
    p[0] = (uint8_t)(0x40 + step);
    u9i_set_be(p + 1, width, body);
    u9i_set_be(p + 1 + width, width, count);
    return U9_OK;
}
