/*
 * u9/value_quick.h: the common cases of u9_build_ functions, inline. <u9/value.h> includes it.
 *
 * Where there is room and no array is open most values are a few stores, and a call would take as
 * long as these. So the functions below do that much and call the one whose name they have for the
 * rest, which writes the same bytes [V-7]. (u9_build_uint)(b, v), in parentheses, is the function
 * itself, and so is &u9_build_uint. U9_NO_QUICK leaves all of this out.
 *
 * Sizes and widths are found without branches where they vary from value to value, so up to 8 bytes
 * behind b->size, but none beyond b->edge, may be overwritten.
 */
#ifndef U9_VALUE_QUICK_H
#define U9_VALUE_QUICK_H

#include <u9/value.h>

#ifndef U9_NO_QUICK

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline void u9i_quick_init(u9_builder *b, void *bytes, size_t cap)
{
    b->bytes = (uint8_t *)bytes;
    b->cap = cap;
    b->size = 0;
    b->edge = cap;
    b->count = 0;
    b->grow = NULL;
    b->grow_ctx = NULL;
    b->depth = 0;
    b->open[0].base = 0;
    b->open[0].kind = 1; /* no container */
}

/* Writes v in 8 bytes, the highest first [V-1]. Compilers make one store of it. */
static inline void u9i_quick_be(uint8_t *p, uint64_t v)
{
    p[0] = (uint8_t)(v >> 56);
    p[1] = (uint8_t)(v >> 48);
    p[2] = (uint8_t)(v >> 40);
    p[3] = (uint8_t)(v >> 32);
    p[4] = (uint8_t)(v >> 24);
    p[5] = (uint8_t)(v >> 16);
    p[6] = (uint8_t)(v >> 8);
    p[7] = (uint8_t)v;
}

/* How many bytes may be written without a second look. */
static inline size_t u9i_quick_room(const u9_builder *b)
{
    return b->size < b->edge ? b->edge - b->size : 0;
}

/* Counts one more value of n bytes; where they go. */
static inline uint8_t *u9i_quick_take(u9_builder *b, size_t n)
{
    uint8_t *p = b->bytes + b->size;
    b->size += n;
    b->count++;
    return p;
}

/* The row of bytecodes from `code` on, in the least width that holds `range`; needs 9 bytes. */
static inline void u9i_quick_number(u9_builder *b, unsigned code, uint64_t range, uint64_t v)
{
    unsigned step = (unsigned)(range > UINT8_MAX) + (range > UINT16_MAX) + (range > UINT32_MAX);
    unsigned width = 1u << step;
    uint8_t *p = u9i_quick_take(b, 1 + width);
    p[0] = (uint8_t)(code + step);
    u9i_quick_be(p + 1, v << (64 - 8 * width));
}

static inline U9_MUST_CHECK u9_err u9i_quick_uint(u9_builder *b, uint64_t v)
{
    size_t room = u9i_quick_room(b);
    if (v <= 127 && room >= 1) {
        *u9i_quick_take(b, 1) = (uint8_t)(0x80 + v);
        return U9_OK;
    }
    if (room < 9) return u9_build_uint(b, v);
    u9i_quick_number(b, 0x00, v, v);
    return U9_OK;
}

static inline U9_MUST_CHECK u9_err u9i_quick_int(u9_builder *b, int64_t v)
{
    uint64_t bits = (uint64_t)v, sign = bits >> 63; /* below 0: 1, and a bit for it is needed */
    size_t room = u9i_quick_room(b);
    if (bits <= 127 && room >= 1) {
        *u9i_quick_take(b, 1) = (uint8_t)(0x80 + bits);
        return U9_OK;
    }
    if (room < 9) return u9_build_int(b, v);
    u9i_quick_number(b, (unsigned)sign << 2, (bits ^ (0 - sign)) << sign, bits);
    return U9_OK;
}

static inline U9_MUST_CHECK u9_err u9i_quick_float64(u9_builder *b, double v)
{
    uint64_t bits;
    if (u9i_quick_room(b) < 9) return u9_build_float64(b, v);
    memcpy(&bits, &v, sizeof bits);
    uint8_t *p = u9i_quick_take(b, 9);
    p[0] = 0x09;
    u9i_quick_be(p + 1, bits);
    return U9_OK;
}

/* 4 to 15 bytes as four overlapping words. */
static inline void u9i_quick_words(uint8_t *to, const uint8_t *from, size_t size)
{
    size_t last = size - 4, second = size >> 3 << 2, third = last - second;
    uint32_t w[4];
    memcpy(&w[0], from, 4);
    memcpy(&w[1], from + second, 4);
    memcpy(&w[2], from + third, 4);
    memcpy(&w[3], from + last, 4);
    memcpy(to, &w[0], 4);
    memcpy(to + second, &w[1], 4);
    memcpy(to + third, &w[2], 4);
    memcpy(to + last, &w[3], 4);
}

/* 16 to 64 bytes as four overlapping pieces. */
static inline void u9i_quick_pieces(uint8_t *to, const uint8_t *from, size_t size)
{
    struct u9i_quick_piece {
        uint64_t half[2];
    } w[4];
    size_t last = size - 16, second = last < 16 ? last : 16, third = last - second;
    memcpy(&w[0], from, 16);
    memcpy(&w[1], from + second, 16);
    memcpy(&w[2], from + third, 16);
    memcpy(&w[3], from + last, 16);
    memcpy(to, &w[0], 16);
    memcpy(to + second, &w[1], 16);
    memcpy(to + third, &w[2], 16);
    memcpy(to + last, &w[3], 16);
}

/* True if it was one of the two short forms, `fix` + size or `sized` with a byte of length, and
 * there was room. [V-2] [V-3] */
static inline int u9i_quick_blob(u9_builder *b, unsigned fix, unsigned sized, const void *data,
                                 size_t size)
{
    const uint8_t *from = (const uint8_t *)data;
    size_t room = u9i_quick_room(b);
    if (size <= 15) {
        if (room < 1 + size) return 0;
        uint8_t *p = u9i_quick_take(b, 1 + size);
        p[0] = (uint8_t)(fix + size);
        if (size >= 4) {
            u9i_quick_words(p + 1, from, size);
        } else if (size > 0) {
            p[1] = from[0];
            p[1 + size / 2] = from[size / 2];
            p[size] = from[size - 1];
        }
        return 1;
    }
    if (size > 64 || room < 2 + size) return 0;
    uint8_t *p = u9i_quick_take(b, 2 + size);
    p[0] = (uint8_t)sized;
    p[1] = (uint8_t)size;
    u9i_quick_pieces(p + 2, from, size);
    return 1;
}

static inline U9_MUST_CHECK u9_err u9i_quick_utf8(u9_builder *b, const void *text, size_t size)
{
    return u9i_quick_blob(b, 0x20, 0x18, text, size) ? U9_OK : u9_build_utf8(b, text, size);
}

static inline U9_MUST_CHECK u9_err u9i_quick_bytes(u9_builder *b, const void *bytes, size_t size)
{
    return u9i_quick_blob(b, 0x30, 0x1c, bytes, size) ? U9_OK : u9_build_bytes(b, bytes, size);
}

static inline U9_MUST_CHECK u9_err u9i_quick_tuple_open(u9_builder *b)
{
    if (b->depth == U9_DEPTH_MAX || u9i_quick_room(b) < 2) return u9_build_tuple_open(b);
    u9_builder_level *level = &b->open[++b->depth];
    level->at = b->size;
    level->base = ++b->count;
    level->kind = 0;
    b->size += 2;
    return U9_OK;
}

/* A tuple of up to 255 bytes, and so elements. For the fix form the room that was left is the header;
 * the other form needs one byte more. [V-3] [V-4] */
static inline U9_MUST_CHECK u9_err u9i_quick_tuple_close(u9_builder *b)
{
    const u9_builder_level *level = &b->open[b->depth];
    size_t at = level->at, body = b->size - at - 2;
    uint64_t count = b->count - level->base;
    if (level->kind != 0 || b->size >= b->cap || body > UINT8_MAX)
        return u9_build_tuple_close(b);
    b->count = level->base;
    b->depth--;
    uint8_t *p = b->bytes + at;
    if (count <= 7) {
        p[0] = (uint8_t)(0x48 + count);
        p[1] = (uint8_t)body;
    } else {
        b->size++;
        memmove(p + 3, p + 2, body);
        p[0] = 0x40;
        p[1] = (uint8_t)body;
        p[2] = (uint8_t)count;
    }
    return U9_OK;
}

#ifdef __cplusplus
}
#endif

#define u9_builder_init(...) u9i_quick_init(__VA_ARGS__)
#define u9_build_uint(...) u9i_quick_uint(__VA_ARGS__)
#define u9_build_int(...) u9i_quick_int(__VA_ARGS__)
#define u9_build_float64(...) u9i_quick_float64(__VA_ARGS__)
#define u9_build_utf8(...) u9i_quick_utf8(__VA_ARGS__)
#define u9_build_bytes(...) u9i_quick_bytes(__VA_ARGS__)
#define u9_build_tuple_open(...) u9i_quick_tuple_open(__VA_ARGS__)
#define u9_build_tuple_close(...) u9i_quick_tuple_close(__VA_ARGS__)

#endif
#endif
