/*
 * format/typecode.c: see typecode.h. [V-10]
 *
 * A typecode is a row of arrays that ends in something else, so it is read from the outside in, in one
 * loop: what an array says of its elements' size is held until the next level proves it.
 */
#include "format/typecode.h"

#include "format/bytes.h"

/* One level: what its bytecode and lengths say, whatever follows. */
static u9_err read_level(const uint8_t *p, size_t size, u9i_typecode *out)
{
    static const uint8_t atoms[] = {
        [0x00] = U9_UINT,    [0x01] = U9_UINT,    [0x02] = U9_UINT,   [0x03] = U9_UINT,
        [0x04] = U9_INT,     [0x05] = U9_INT,     [0x06] = U9_INT,    [0x07] = U9_INT,
        [0x08] = U9_FLOAT32, [0x09] = U9_FLOAT64, [0x0a] = U9_SYMBOL, [0x0b] = U9_PIDFD,
        [0x15] = U9_TAU,     [0x16] = U9_TAU,     [0x17] = U9_TAU,
    };
    static const uint8_t widths[] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 8};
    if (size == 0) return U9_TORN;
    unsigned code = p[0];
    u9i_typecode t = {.code = p[0], .length = 1};
    if (code < sizeof atoms && atoms[code] != 0) {
        t.type = atoms[code];
        t.width = code < sizeof widths ? widths[code] : (uint8_t)(2u << (code - 0x15));
        t.stride = t.width;
        *out = t;
        return U9_OK;
    }
    bool blob = code >= 0x18 && code <= 0x1f, tuple = code >= 0x40 && code <= 0x43,
         array = code >= 0x44 && code <= 0x47, fixtuple = code >= 0x48 && code <= 0x4f;
    if (!blob && !tuple && !array && !fixtuple) return U9_CORRUPT;
    unsigned width = fixtuple ? 1 : 1u << (code & 3);
    t.length = 1 + (array ? 2 : 1) * width;
    if (t.length > size) return U9_TORN;
    t.stride = u9i_get_be(p + 1, width);
    t.type = blob ? (code < 0x1c ? U9_UTF8 : U9_BYTES) : array ? U9_ARRAY : U9_TUPLE;
    if (fixtuple) t.count = code & 7;
    if (array) t.count = u9i_get_be(p + 1 + width, width);
    if (tuple) { /* each element has a count of its own in front */
        t.width = (uint8_t)width;
        if (t.stride > UINT64_MAX - width) return U9_CORRUPT;
        t.stride += width;
    }
    *out = t;
    return U9_OK;
}

/* True if n elements of z bytes take l bytes. */
static bool fits(uint64_t l, uint64_t n, uint64_t z)
{
    return z == 0 || n == 0 ? l == 0 : l % z == 0 && l / z == n;
}

u9_err u9i_typecode_read(const uint8_t *bytes, size_t size, u9i_typecode *out)
{
    u9i_typecode top, t;
    u9_err err = read_level(bytes, size, &top);
    if (err != U9_OK) return err;
    top.empties = 1;
    top.leaf = top.type;
    top.inner = bytes + top.length;
    for (t = top; t.type == U9_ARRAY; top.leaf = t.type) {
        uint64_t l = t.stride, n = t.count;
        if (++top.depth == U9_DEPTH_MAX) return U9_LIMIT; /* [V-8] */
        err = read_level(bytes + top.length, size - top.length, &t);
        if (err != U9_OK) return err;
        if (!fits(l, n, t.stride)) return U9_CORRUPT;
        top.length += t.length;
        if (t.stride > 0 || n == 0) continue;
        if (n > U9_EMPTY_MAX / top.empties) return U9_LIMIT;
        top.empties *= n;
    }
    if (top.leaf == U9_TUPLE && ++top.depth == U9_DEPTH_MAX) return U9_LIMIT;
    *out = top;
    return U9_OK;
}

static double float_at(const uint8_t *p, unsigned width)
{
    uint64_t wide = u9i_get_be(p, width);
    uint32_t narrow = (uint32_t)wide;
    double d;
    float f;
    memcpy(&d, &wide, sizeof d);
    memcpy(&f, &narrow, sizeof f);
    return width == 4 ? (double)f : d;
}

static int64_t signed_at(const uint8_t *p, unsigned width)
{
    uint64_t sign = UINT64_C(1) << (8 * width - 1), v = (u9i_get_be(p, width) ^ sign) - sign;
    int64_t i; /* memcpy: converting a large unsigned value is not portable */
    memcpy(&i, &v, sizeof i);
    return i;
}

void u9i_element(const u9i_typecode *t, const uint8_t *p, u9_value *out)
{
    u9_value v = {.type = (u9_type)t->type, .code = t->code};
    switch (v.type) {
    case U9_UINT:
    case U9_TAU: v.u = u9i_get_be(p, t->width); break;
    case U9_INT: v.i = signed_at(p, t->width); break;
    case U9_FLOAT32:
    case U9_FLOAT64: v.f = float_at(p, t->width); break;
    case U9_PIDFD:
        v.pidfd.pid = (uint32_t)u9i_get_be(p, 4);
        v.pidfd.fd = (uint32_t)u9i_get_be(p + 4, 4);
        break;
    case U9_SYMBOL:
    case U9_UTF8:
    case U9_BYTES:
        v.data = p;
        v.size = t->stride;
        break;
    case U9_TUPLE:
        v.data = p + t->width;
        v.size = t->stride - t->width;
        v.count = t->width > 0 ? u9i_get_be(p, t->width) : t->count;
        break;
    case U9_ARRAY:
        v.data = p;
        v.size = t->stride;
        v.count = t->count;
        v.typecode = t->inner;
        break;
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0: break; /* no typecodes */
    }
    *out = v;
}
