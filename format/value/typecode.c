/*
 * format/value/typecode.c: see typecode.h. [V-10]
 *
 * A typecode is a row of arrays that ends in something else, so it is read from the outside in, in one
 * loop: what an array says of its elements' size is held until the next level proves it.
 */
#include "format/value/typecode.h"

#include "format/value/decode.h"

/* One level: what its bytecode and lengths say, whatever follows. */
static u9_err read_level(const uint8_t *p, size_t size, u9i_typecode *out)
{
    if (size == 0) return U9_TORN;
    unsigned code = p[0], width = u9i_packed_size(p[0]);
    size_t length = 1;
    uint64_t stride = width, count = 0;
    uint8_t type = u9i_shapes[code].type;
    if (width == 0) {
        bool blob = code >= 0x18 && code <= 0x1f, fixtuple = code >= 0x48 && code <= 0x4f;
        if (!blob && !fixtuple && (code < 0x40 || code > 0x47)) return U9_CORRUPT;
        unsigned step = fixtuple ? 1 : 1u << (code & 3);
        length += (type == U9_ARRAY ? 2 : 1) * step;
        if (length > size) return U9_TORN;
        stride = u9i_get_be(p + 1, step);
        if (fixtuple) count = code & 7;
        if (type == U9_ARRAY) count = u9i_get_be(p + 1 + step, step);
        if (type == U9_TUPLE && !fixtuple) { /* each element has a count of its own in front */
            width = step;
            if (stride > UINT64_MAX - width) return U9_CORRUPT;
            stride += width;
        }
    }
    out->code = p[0];
    out->type = out->leaf = type;
    out->width = (uint8_t)width;
    out->length = length;
    out->stride = stride;
    out->count = count;
    out->inner = p + length;
    out->depth = type == U9_TUPLE;
    out->empties = 1;
    return U9_OK;
}

/* True if n elements of z bytes take l bytes. */
static bool size_fits(uint64_t l, uint64_t n, uint64_t z)
{
    return z == 0 || n == 0 ? l == 0 : l % z == 0 && l / z == n;
}

u9_err u9i_typecode_read(const uint8_t *bytes, size_t size, u9i_typecode *out)
{
    u9i_typecode top, t;
    if (size == 0 || (bytes[0] & 0xfc) != 0x44) return read_level(bytes, size, out); /* no array */
    u9_err err = read_level(bytes, size, &top);
    if (err != U9_OK) return err;
    for (t = top; t.type == U9_ARRAY; top.leaf = t.type) {
        uint64_t l = t.stride, n = t.count;
        if (++top.depth == U9_DEPTH_MAX) return U9_LIMIT; /* [V-8] */
        err = read_level(bytes + top.length, size - top.length, &t);
        if (err != U9_OK) return err;
        if (!size_fits(l, n, t.stride)) return U9_CORRUPT;
        top.length += t.length;
        if (t.stride > 0 || n == 0) continue;
        if (n > U9_EMPTY_MAX / top.empties) return U9_LIMIT;
        top.empties *= n;
    }
    if (top.leaf == U9_TUPLE && ++top.depth == U9_DEPTH_MAX) return U9_LIMIT;
    *out = top;
    return U9_OK;
}

void u9i_element(const u9i_typecode *t, const uint8_t *p, u9_value *out)
{
    if (u9i_packed_size(t->code) > 0) {
        u9i_look_packed(t->code, p, out);
        return;
    }
    uint64_t skip = t->type == U9_TUPLE ? t->width : 0; /* a count in front */
    out->type = (u9_type)t->type;
    out->code = t->code;
    out->start = NULL;
    out->encoded = 0;
    out->data = p + skip;
    out->size = t->stride - skip;
    out->count = skip > 0 ? u9i_get_be(p, t->width) : t->count;
    out->u = 0;
    if (t->type == U9_ARRAY) out->typecode = t->inner;
}
