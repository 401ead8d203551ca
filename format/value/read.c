/*
 * format/value/read.c: looks at utf9 values where they lie: decoding one, walking many, arrays as
 * memory. The decoder itself is in decode.h. [V-2] to [V-6] [V-10]
 *
 * Invariants: no byte outside the caller's buffer is read; no recursion, no allocation; an out-parameter
 * is written only on success. Pure functions, any thread.
 */
#include "format/value/decode.h"
#include "format/value/typecode.h"

_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "[V-2] floats are IEEE 754");

#define BARE(t) {(t), U9I_FORM_BARE, 1}
#define NUMBERS(t, form, sized) \
    {(t), (form), 2}, {(t), (form) + 1, 3}, {(t), (form) + 2, 5}, {(t), (sized), 9}
#define SIZED(t) NUMBERS(t, U9I_FORM_SIZED_1, U9I_FORM_SIZED_8)
#define COUNTED(t)                                                                                 \
    {(t), U9I_FORM_COUNTED_1, 3}, {(t), U9I_FORM_COUNTED_2, 5}, {(t), U9I_FORM_COUNTED_4, 9},      \
        {(t), U9I_FORM_COUNTED_8, 17}
#define TIMES_8(shape) shape, shape, shape, shape, shape, shape, shape, shape
#define FIX(t) {(t), U9I_FORM_FIX, 1}
#define FIXTUPLE {U9_TUPLE, U9I_FORM_FIXTUPLE, 2}
#define FIXINT {U9_UINT, U9I_FORM_FIXINT, 1}

/* [V-2] [V-3] [V-4] [V-5] Rows left out are reserved or container indexes [V-6]. */
const u9i_shape u9i_shapes[256] = {
    [0x00] = NUMBERS(U9_UINT, U9I_FORM_1, U9I_FORM_8),
    [0x04] = NUMBERS(U9_INT, U9I_FORM_INT_1, U9I_FORM_8),
    [0x08] = {U9_FLOAT32, U9I_FORM_FLOAT32, 5},
    [0x09] = {U9_FLOAT64, U9I_FORM_8, 9},
    [0x0a] = {U9_SYMBOL, U9I_FORM_SYMBOL, 1},
    [0x0b] = {U9_PIDFD, U9I_FORM_PIDFD, 9},
    [0x10] = BARE(U9_ALPHA), BARE(U9_OMEGA), BARE(U9_IOTA), BARE(U9_KAPPA), BARE(U9_TAU0),
    [0x15] = {U9_TAU, U9I_FORM_2, 3}, {U9_TAU, U9I_FORM_4, 5}, {U9_TAU, U9I_FORM_8, 9},
    [0x18] = SIZED(U9_UTF8),
    [0x1c] = SIZED(U9_BYTES),
    [0x20] = TIMES_8(FIX(U9_UTF8)), TIMES_8(FIX(U9_UTF8)),
    [0x30] = TIMES_8(FIX(U9_BYTES)), TIMES_8(FIX(U9_BYTES)),
    [0x40] = COUNTED(U9_TUPLE),
    [0x44] = COUNTED(U9_ARRAY),
    [0x48] = TIMES_8(FIXTUPLE),
    [U9I_FIXINT] = TIMES_8(TIMES_8(FIXINT)), TIMES_8(TIMES_8(FIXINT)),
};

u9_err u9i_look_array(const uint8_t *p, size_t head, uint64_t body, uint64_t count, u9_value *out)
{
    u9i_typecode t;
    u9_err err = u9i_typecode_read(p + head, body < SIZE_MAX ? (size_t)body : SIZE_MAX, &t);
    if (err != U9_OK) return err == U9_TORN ? U9_CORRUPT : err; /* torn within a whole array */
    uint64_t rest = body - t.length;
    if (t.stride == 0 || count == 0 ? rest != 0 : rest % t.stride != 0 || rest / t.stride != count)
        return U9_CORRUPT; /* [V-5] */
    if (t.stride == 0 && count > U9_EMPTY_MAX / t.empties) return U9_LIMIT; /* [V-10] */
    *out = (u9_value){.type = U9_ARRAY,
                      .code = p[0],
                      .start = p,
                      .encoded = head + (size_t)body,
                      .data = p + head + t.length,
                      .size = rest,
                      .count = count,
                      .typecode = p + head};
    return U9_OK;
}

u9_err u9i_look_indexed(const uint8_t *p, size_t size, u9_value *out)
{
    if (!u9i_is_index(p[0])) return U9_CORRUPT; /* [V-6] */
    size_t at = u9i_pass_indexes(p, size);
    if (at >= size) return U9_TORN;
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

/* The next element of an array: its typecode and size were proved when the array was looked at. */
static u9_err next_element(u9_walk *walk, u9_value *out)
{
    if (walk->due == 0) return U9_END;
    size_t stride = u9i_packed_size(*walk->typecode);
    if (stride > 0) {
        u9i_look_packed(*walk->typecode, walk->next, out);
    } else {
        u9i_typecode t = u9i_typecode_of(walk->typecode);
        u9i_element(&t, walk->next, out);
        stride = (size_t)t.stride;
    }
    walk->next += stride;
    walk->left -= stride;
    walk->due--;
    return U9_OK;
}

U9I_INLINE u9_err next_value(bool proved, u9_walk *walk, u9_value *out)
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
    return next_value(false, walk, out);
}

u9_err u9_walk_next_checked(u9_walk *walk, u9_value *out)
{
    return next_value(true, walk, out);
}

u9_err u9_array_span(const u9_value *array, u9_span *out)
{
    if (array->type != U9_ARRAY) return U9_ARG;
    uint8_t code = *array->typecode;
    unsigned packed = u9i_packed_size(code);
    if (packed > 0) {
        *out = (u9_span){array->data, array->count, packed, (u9_type)u9i_shapes[code].type, code};
        return U9_OK;
    }
    u9i_typecode t = u9i_typecode_of(array->typecode);
    *out = (u9_span){.data = array->data, .count = array->count, .stride = t.stride,
                     .type = (u9_type)t.type, .code = t.code};
    return U9_OK;
}
