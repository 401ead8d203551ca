/*
 * format/value_read.c: looks at utf9 values where they lie: decoding one, walking many, elements of
 * containers. The decoder itself is in value_look.h. [V-2] to [V-6] [V-10]
 *
 * Invariants: no byte outside the caller's buffer is read; no recursion, no allocation; an out-parameter
 * is written only on success. Pure functions, any thread.
 */
#include "format/typecode.h"
#include "format/value_look.h"

_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "[V-2] floats are IEEE 754");

#define NUMBER(t, w) {.type = (t), .head = 1 + (w), .width = (w)}
#define BARE(t) {.type = (t), .head = 1}
#define SIZED(t, w) {.type = (t), .head = 1 + (w), .width = (w), .sized = 1}
#define COUNTED(t, w) {.type = (t), .head = 1 + 2 * (w), .width = (w), .sized = 1}
#define FIX(t, n) {.type = (t), .head = 1, .fixed = (n)}
#define FIX_4(t, n) FIX(t, n), FIX(t, (n) + 1), FIX(t, (n) + 2), FIX(t, (n) + 3)
#define FIX_16(t) FIX_4(t, 0), FIX_4(t, 4), FIX_4(t, 8), FIX_4(t, 12)

/* [V-2] [V-3] [V-4] [V-5] Rows left out are reserved or container indexes [V-6]. */
const u9i_shape u9i_shapes[U9I_FIXINT + 1] = {
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
    [U9I_FIXINT] = BARE(U9_UINT),
};

u9_err u9i_look_array(u9_value *out)
{
    u9i_typecode t;
    u9_err err = u9i_typecode_read(out->data, (size_t)out->size, &t);
    if (err != U9_OK) return err == U9_TORN ? U9_CORRUPT : err; /* torn within a whole array */
    uint64_t rest = out->size - t.length;
    if (t.stride == 0 || out->count == 0 ? rest != 0
                                         : rest % t.stride != 0 || rest / t.stride != out->count)
        return U9_CORRUPT; /* [V-5] */
    if (t.stride == 0 && out->count > U9_EMPTY_MAX / t.empties) return U9_LIMIT; /* [V-10] */
    out->typecode = out->data;
    out->data += t.length;
    out->size = rest;
    return U9_OK;
}

u9_err u9i_look_indexed(const uint8_t *p, size_t size, u9_value *out)
{
    size_t at = 0;
    if (!u9i_is_index(p[0])) return U9_CORRUPT; /* [V-6] */
    while (at < size && u9i_is_index(p[at])) {
        unsigned width = u9i_index_width(p[at]);
        size_t left = size - at - 1;
        if (width > left) return U9_TORN;
        uint64_t l = u9i_get_be(p + at + 1, width);
        if (l > left - width) return U9_TORN; /* [V-8] */
        at += 1 + width + (size_t)l;
    }
    if (at == size) return U9_TORN;
    if (p[at] < 0x40 || p[at] > 0x4f) return U9_CORRUPT; /* [V-6]: no container */
    u9_value v;
    u9_err err = u9i_look(p + at, size - at, &v);
    if (err != U9_OK) return err;
    v.start = p;
    v.code = p[0];
    v.encoded += at;
    *out = v;
    return U9_OK;
}

u9_err u9_value_decode(const void *bytes, size_t size, u9_value *out)
{
    return u9i_look((const uint8_t *)bytes, size, out);
}

u9_value u9_value_bare(const u9_value *value)
{
    u9_value bare = *value;
    if (value->start == NULL) return bare;
    while (u9i_is_index(*bare.start)) {
        unsigned width = u9i_index_width(*bare.start);
        size_t size = 1 + width + (size_t)u9i_get_be(bare.start + 1, width);
        bare.start += size;
        bare.encoded -= size;
    }
    bare.code = *bare.start;
    return bare;
}

u9_walk u9_walk_bytes(const void *bytes, size_t size)
{
    return (u9_walk){.next = (const uint8_t *)bytes, .left = size};
}

u9_walk u9_walk_elements(const u9_value *container)
{
    u9_walk walk = u9_walk_bytes(container->data, (size_t)container->size);
    if (container->type == U9_ARRAY) {
        walk.typecode = container->typecode;
        walk.due = container->count;
    } else if (container->type != U9_TUPLE) {
        walk.left = 0; /* nothing to walk */
    }
    return walk;
}

/* What the elements of an array are: proved when the array was looked at. */
static u9i_typecode typecode_of(const uint8_t *bytes)
{
    u9i_typecode t = {0};
    (void)!u9i_typecode_read(bytes, SIZE_MAX, &t);
    return t;
}

/* The next element of an array: its typecode and size were proved when the array was looked at. */
static u9_err next_element(u9_walk *walk, u9_value *out)
{
    if (walk->due == 0) return U9_END;
    u9i_typecode t = typecode_of(walk->typecode);
    u9i_element(&t, walk->next, out);
    walk->next += t.stride;
    walk->left -= (size_t)t.stride;
    walk->due--;
    return U9_OK;
}

static inline u9_err next(bool proved, u9_walk *walk, u9_value *out)
{
    if (walk->typecode) return next_element(walk, out);
    if (walk->left == 0) return U9_END;
    u9_err err = u9i_look_as(proved, walk->next, walk->left, out);
    if (err) return err;
    walk->next += out->encoded;
    walk->left -= out->encoded;
    return U9_OK;
}

u9_err u9_walk_next(u9_walk *walk, u9_value *out)
{
    return next(false, walk, out);
}

u9_err u9_walk_next_checked(u9_walk *walk, u9_value *out)
{
    return next(true, walk, out);
}

u9_err u9_value_at(const u9_value *container, uint64_t k, u9_value *out)
{
    if (container->type != U9_TUPLE && container->type != U9_ARRAY) return U9_ARG;
    if (k >= container->count) return U9_END;
    if (container->type == U9_ARRAY) {
        u9i_typecode t = typecode_of(container->typecode);
        u9i_element(&t, container->data + k * t.stride, out);
        return U9_OK;
    }
    u9_walk walk = u9_walk_elements(container);
    u9_value v;
    u9_err err = u9_walk_next(&walk, &v);
    for (; err == U9_OK && k > 0; k--) err = u9_walk_next(&walk, &v);
    if (err == U9_OK) *out = v;
    return err;
}

u9_err u9_array_span(const u9_value *array, u9_span *out)
{
    if (array->type != U9_ARRAY) return U9_ARG;
    u9i_typecode t = typecode_of(array->typecode);
    *out = (u9_span){.data = array->data, .count = array->count, .stride = t.stride,
                     .type = (u9_type)t.type, .code = t.code};
    return U9_OK;
}
