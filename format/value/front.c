/*
 * format/value/front.c: the front of a value whose contents are elsewhere: read and written. [V-2] to [V-5] [V-7]
 */
#include "format/value/decode.h"
#include "format/value/shortest.h"
#include "format/value/typecode.h"

u9_err u9_value_front(const void *bytes, size_t size, uint64_t left, u9_value *out)
{
    const uint8_t *p = bytes;
    u9i_parts v;
    u9i_typecode t;
    u9_err err;
    if (left == 0) return U9_TORN;
    if (size == 0) return U9_AGAIN;
    const u9i_shape *s = &u9i_shapes[p[0]];
    if (u9i_is_index(p[0])) return U9_LIMIT;
    if (s->type == 0) return U9_CORRUPT; /* [V-6] */
    if (s->head > left) return U9_TORN;
    if (s->head > size) return U9_AGAIN;
    if (u9i_take_apart(false, p[0], p, left, &v) != U9_OK) return U9_TORN;
    size_t here = size - v.head < v.body ? size - v.head : (size_t)v.body;
    if (v.type != U9_ARRAY) u9i_fill(p[0], p, &v, out);
    else if (u9i_typecode_read(p + v.head, here, &t) == U9_TORN && here < v.body) return U9_AGAIN;
    else if ((err = u9i_look_array(p, v.head, v.body, v.count, out)) != U9_OK) return err;
    if (v.body > SIZE_MAX - v.head) out->encoded = SIZE_MAX;
    return U9_OK;
}

size_t u9_value_head(u9_type type, uint64_t size, uint8_t out[9])
{
    if (type != U9_UTF8 && type != U9_BYTES) return 0;
    if (size <= U9I_FIX_BLOB_MAX) {
        out[0] = (uint8_t)((type == U9_UTF8 ? 0x20 : 0x30) + size);
        return 1;
    }
    unsigned step = u9i_step_of(size), width = 1u << step;
    out[0] = (uint8_t)((type == U9_UTF8 ? 0x18 : 0x1c) + step);
    u9i_set_be(out + 1, width, size);
    return 1 + width;
}
