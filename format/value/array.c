/*
 * format/value/array.c: the builder's arrays: elements of one type, written without their bytecodes.
 * [V-5] [V-10]
 *
 * The other half of build.c; invariants in build.h. A typecode is proved when its array is
 * opened; what the elements of most types need of it is kept in the level.
 *
 * `most` of an open array is how many elements it may have: of an array in an array exactly as
 * many; of one whose elements have no bytes, as many as readers take; else there is no bound.
 */
#include "format/value/build.h"
#include "format/value/shortest.h"
#include "format/value/typecode.h"

/* Reads a typecode that has been proved; U9_ARG if it is one no more. */
static u9_err read_typecode(const uint8_t *bytes, u9i_typecode *t)
{
    return u9i_typecode_read(bytes, SIZE_MAX, t) == U9_OK ? U9_OK : U9_ARG;
}

static u9_builder_level level_of(const u9i_typecode *t, const uint8_t *typecode)
{
    return (u9_builder_level){.kind = U9I_ARRAY, .typecode = typecode, .stride = t->stride,
                              .type = t->type, .most = UINT64_MAX};
}

/* U9_OK if one more element may stand in the innermost array. */
static u9_err one_more(const u9_builder *b)
{
    const u9_builder_level *level = u9i_innermost(b);
    if (u9i_elements(b) < level->most) return U9_OK;
    return level->kind == U9I_ARRAY_ELEMENT ? U9_ARG : U9_LIMIT;
}

/* True if `bytes` are the typecode within `outer`, which `t` is. */
static bool same_inner(const u9i_typecode *t, const uint8_t *outer, const uint8_t *bytes,
                       size_t size)
{
    size_t inner = t->length - (size_t)(t->inner - outer);
    return size == inner && memcmp(bytes, t->inner, inner) == 0;
}

/* An array that is an element of the innermost one. */
static u9_err open_element(u9_builder *b, const uint8_t *typecode, size_t size)
{
    const u9_builder_level *outer = u9i_innermost(b);
    u9i_typecode t, inner;
    if (outer->type != U9_ARRAY) return U9_ARG;
    u9_err err = read_typecode(outer->typecode, &t);
    if (!err) err = read_typecode(t.inner, &inner);
    if (!err && typecode && !same_inner(&t, outer->typecode, typecode, size)) err = U9_ARG;
    if (!err) err = one_more(b);
    if (err) return err;
    u9_builder_level level = level_of(&inner, t.inner);
    level.kind = U9I_ARRAY_ELEMENT;
    level.most = t.count;
    return u9i_build_open(b, level, 0);
}

static u9_err open_typed_array(u9_builder *b, const void *typecode, size_t size, unsigned width)
{
    const uint8_t *bytes = (const uint8_t *)typecode;
    u9i_typecode t;
    if (u9i_in_array(b)) return open_element(b, bytes, size);
    if (!bytes) return U9_ARG;
    u9_err err = u9i_typecode_read(bytes, size, &t);
    if (err) return err == U9_LIMIT ? U9_LIMIT : U9_ARG;
    if (t.length != size) return U9_ARG;
    if (t.depth >= U9_DEPTH_MAX - b->depth) return U9_LIMIT; /* [V-8] */
    u9_builder_level level = level_of(&t, bytes);
    level.width = (uint8_t)width;
    if (t.stride == 0) level.most = U9_EMPTY_MAX / t.empties; /* [V-10] */
    err = u9i_build_open(b, level, u9i_head(u9i_width_step(width)) + size);
    if (!err) memcpy(b->bytes + b->size - size, bytes, size);
    return err;
}

u9_err u9_build_array_open(u9_builder *b, const void *typecode, size_t size)
{
    return open_typed_array(b, typecode, size, 0);
}

u9_err u9_build_array_open_wide(u9_builder *b, const void *typecode, size_t size, unsigned width)
{
    if (width != 1 && width != 2 && width != 4 && width != 8) return U9_ARG;
    return open_typed_array(b, typecode, size, width);
}

u9_err u9_build_array_close(u9_builder *b)
{
    if (!u9i_in_array(b)) return U9_STATE;
    const u9_builder_level *level = u9i_innermost(b);
    if (level->kind == U9I_ARRAY) return u9i_build_close(b, 0x44, level->width, u9i_head(0));
    if (u9i_elements(b) != level->most) return U9_ARG; /* [V-10] */
    return u9i_build_leave(b);
}

u9_err u9i_build_tuple_element_open(u9_builder *b)
{
    const u9_builder_level *array = u9i_innermost(b);
    u9i_typecode t;
    if (array->type != U9_TUPLE) return U9_ARG;
    u9_err err = read_typecode(array->typecode, &t);
    if (!err) err = one_more(b);
    if (err) return err;
    u9_builder_level level = {.kind = U9I_TUPLE_ELEMENT, .width = t.width};
    return u9i_build_open(b, level, t.width);
}

u9_err u9i_build_tuple_element_close(u9_builder *b)
{
    const u9_builder_level *level = u9i_innermost(b), *array = level - 1;
    size_t at = level->at;
    uint64_t count = u9i_elements(b);
    u9i_typecode t;
    u9_err err = read_typecode(array->typecode, &t);
    if (err) return err;
    if (b->size - at != t.stride) return U9_ARG; /* [V-10] */
    if (t.width == 0 && count != t.count) return U9_ARG;
    err = u9i_build_leave(b);
    if (!err) u9i_set_be(b->bytes + at, t.width, count);
    return err;
}

/* The largest unsigned number that an element holds. */
static uint64_t largest(const u9_builder_level *level)
{
    return UINT64_MAX >> (64 - 8 * level->stride);
}

/* An integer is below 0 only if its typecode can be. */
static bool integer_fits(const u9_builder_level *level, const u9_value *v)
{
    uint64_t max = largest(level) >> (level->type == U9_INT);
    if (v->type == U9_UINT || v->i >= 0) return v->u <= max;
    return level->type == U9_INT && ~v->u <= max;
}

/* A tuple or array is copied as it is, so it must be laid out just as the typecode says. */
static bool container_fits(const u9_builder_level *level, const u9_value *v, uint64_t *number)
{
    u9i_typecode t, other;
    if (read_typecode(level->typecode, &t) != U9_OK) return false;
    if (v->type == U9_ARRAY)
        return v->count == t.count && v->size == t.stride &&
               read_typecode(v->typecode, &other) == U9_OK &&
               same_inner(&t, level->typecode, v->typecode, other.length);
    *number = v->count;
    if (v->size != t.stride - t.width) return false;
    return t.width > 0 ? v->count <= v->size : v->count == t.count;
}

/*
 * True if `v` is what the elements of the array at `level` are. Then *number is what stands in
 * front of its contents, or alone. Integers of all types are one domain: their value decides. [V-2]
 */
static bool element_fits(const u9_builder_level *level, const u9_value *v, uint64_t *number)
{
    float narrow;
    uint32_t bits;
    bool integer = v->type == U9_UINT || v->type == U9_INT;
    *number = v->u;
    if (integer && (level->type == U9_UINT || level->type == U9_INT)) return integer_fits(level, v);
    if (v->type != level->type) return false;
    switch (v->type) {
    case U9_FLOAT32:
        narrow = (float)v->f;
        memcpy(&bits, &narrow, sizeof bits);
        *number = bits;
        return true;
    case U9_FLOAT64: memcpy(number, &v->f, sizeof *number); return true;
    case U9_PIDFD: *number = (uint64_t)v->pidfd.pid << 32 | v->pidfd.fd; return true;
    case U9_TAU: return v->u <= largest(level);
    case U9_SYMBOL: return true;
    case U9_UTF8:
    case U9_BYTES: return v->size == level->stride;
    case U9_TUPLE:
    case U9_ARRAY: return container_fits(level, v, number);
    case U9_UINT:
    case U9_INT:
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0: break;
    }
    return false;
}

u9_err u9i_build_element(u9_builder *b, const u9_value *v)
{
    const u9_builder_level *level = u9i_innermost(b);
    uint64_t number;
    if (!element_fits(level, v, &number)) return U9_ARG;
    bool holds = level->type == U9_SYMBOL || level->type >= U9_UTF8; /* else it is a number alone */
    size_t stride = (size_t)level->stride, size = holds ? (size_t)v->size : 0;
    u9_err err = one_more(b);
    if (!err) err = u9i_build_take(b, 0, stride);
    if (err) return err;
    uint8_t *p = b->bytes + b->size - stride;
    u9i_set_be(p, (unsigned)(stride - size), number);
    if (size > 0) memcpy(p + stride - size, v->data, size);
    return U9_OK;
}

/* Takes the room of a whole array and fills its header; the elements are the last `size` bytes. */
static u9_err take_array_room(u9_builder *b, const uint8_t *typecode, size_t length, uint64_t count,
                              size_t size)
{
    uint64_t l = (uint64_t)length + size;
    unsigned step = u9i_step_of(l | count);
    size_t head = u9i_head(step) + length;
    u9_err err = u9i_build_take(b, head, size);
    if (err) return err;
    uint8_t *p = b->bytes + b->size - size - head;
    u9i_set_head(p, 0x44, step, l, count);
    memcpy(p + head - length, typecode, length);
    return U9_OK;
}

u9_err u9i_build_array_value(u9_builder *b, const u9_value *v)
{
    u9i_typecode t;
    size_t size = (size_t)v->size;
    u9_err err = read_typecode(v->typecode, &t);
    if (!err && t.depth >= U9_DEPTH_MAX - b->depth) err = U9_LIMIT; /* [V-8] */
    if (!err) err = take_array_room(b, v->typecode, t.length, v->count, size);
    if (!err && size > 0) memcpy(b->bytes + b->size - size, v->data, size);
    return err;
}

static inline bool little_endian(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* Swaps the bytes of four 16-bit numbers at once. */
static inline uint64_t swap_four(uint64_t v)
{
    const uint64_t low = UINT64_C(0x00ff00ff00ff00ff);
    return (v >> 8 & low) | (v & low) << 8;
}

static inline uint32_t swap_32(uint32_t v)
{
    return v >> 24 | (v >> 8 & 0xff00) | (v << 8 & 0xff0000) | v << 24;
}

static inline uint64_t swap_64(uint64_t v)
{
    return (uint64_t)swap_32((uint32_t)v) << 32 | swap_32((uint32_t)(v >> 32));
}

/* Copies native numbers as big-endian ones [V-1]: loops that compilers vectorise. */
#define COPY_SWAPPED(name, word, swap)                                    \
    static void name(uint8_t *to, const uint8_t *from, size_t count)      \
    {                                                                     \
        for (size_t i = 0; i < count; i++) {                              \
            word v;                                                       \
            memcpy(&v, from + i * sizeof v, sizeof v);                    \
            v = swap(v);                                                  \
            memcpy(to + i * sizeof v, &v, sizeof v);                      \
        }                                                                 \
    }
COPY_SWAPPED(copy_fours, uint64_t, swap_four)
COPY_SWAPPED(copy_32, uint32_t, swap_32)
COPY_SWAPPED(copy_64, uint64_t, swap_64)

static void copy_16(uint8_t *to, const uint8_t *from, size_t count)
{
    copy_fours(to, from, count / 4);
    for (size_t i = count & ~(size_t)3; i < count; i++) {
        to[2 * i] = from[2 * i + 1];
        to[2 * i + 1] = from[2 * i];
    }
}

static void copy_numbers(uint8_t *to, const void *numbers, unsigned width, size_t count)
{
    const uint8_t *from = (const uint8_t *)numbers;
    if (count == 0) return;
    if (width == 1 || !little_endian()) memcpy(to, from, count * width);
    else if (width == 2) copy_16(to, from, count);
    else if (width == 4) copy_32(to, from, count);
    else copy_64(to, from, count);
}

/* U9_OK if the next element of the innermost array is an array of `count` numbers of `code`. */
static u9_err numbers_fit(const u9_builder *b, uint8_t code, size_t count)
{
    const u9_builder_level *level = u9i_innermost(b);
    u9i_typecode t;
    if (level->type != U9_ARRAY) return U9_ARG;
    u9_err err = read_typecode(level->typecode, &t);
    if (!err && (t.count != count || !same_inner(&t, level->typecode, &code, 1))) err = U9_ARG;
    return err ? err : one_more(b);
}

u9_err u9_build_numbers(u9_builder *b, uint8_t code, const void *numbers, size_t count)
{
    static const uint8_t widths[] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
    u9_err err;
    if (code >= sizeof widths) return U9_ARG;
    unsigned width = widths[code];
    size_t size = count > SIZE_MAX / width ? SIZE_MAX : count * width;
    if (u9i_in_array(b)) {
        err = numbers_fit(b, code, count);
        if (!err) err = u9i_build_take(b, 0, size);
    } else {
        if (b->depth == U9_DEPTH_MAX) return U9_LIMIT; /* [V-8] */
        err = take_array_room(b, &code, 1, count, size);
    }
    if (!err) copy_numbers(b->bytes + b->size - size, numbers, width, count);
    return err;
}
