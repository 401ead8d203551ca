/*
 * format/value/build.c: fills a caller's buffer, or a growing one, with utf9 values in their
 * shortest form: room, atoms, tuples and copies. Arrays are in array.c.
 *
 * Owns: u9_builder, whose invariants are in build.h. Rules: [V-7] on top of the tables [V-1] to
 * [V-4]; symbols [V-9]; depth [V-8].
 *
 * These functions take every case. The common ones are inline in <u9/value_quick.h>, which calls
 * these for the rest. No recursion, no allocation but by the caller's function. One builder belongs
 * to one thread at a time.
 */
#include "format/value/build.h"
#include "format/value/shortest.h"

void u9_builder_init(u9_builder *b, void *bytes, size_t cap)
{
    b->bytes = (uint8_t *)bytes;
    b->cap = cap;
    b->grow = NULL;
    b->grow_ctx = NULL;
    u9_builder_clear(b);
}

void u9_builder_init_growing(u9_builder *b, u9_grow_fn *grow, void *ctx)
{
    u9_builder_init(b, NULL, 0);
    b->grow = grow;
    b->grow_ctx = ctx;
}

void u9_builder_clear(u9_builder *b)
{
    b->size = 0;
    b->edge = b->cap;
    b->count = 0;
    b->depth = 0;
    b->open[0] = (u9_builder_level){.kind = U9I_BOTTOM};
}

size_t u9_builder_missing(const u9_builder *b)
{
    return b->size > b->cap ? b->size - b->cap : 0;
}

static void set_edge(u9_builder *b)
{
    b->edge = u9i_in_array(b) ? 0 : b->cap;
}

/* Adds n bytes to the size if there is room, or it can be made. U9_LIMIT: there is none, and they
 * are added nevertheless; else nothing is. */
static u9_err add_bytes(u9_builder *b, size_t n)
{
    size_t at = b->size;
    size_t need = n > SIZE_MAX - at ? SIZE_MAX : at + n; /* must not wrap and look small again */
    if (need > b->cap && b->grow && at <= b->cap && need < SIZE_MAX) {
        u9_err err = b->grow(b->grow_ctx, &b->bytes, &b->cap, need);
        if (err && err != U9_LIMIT) return err;
        set_edge(b);
    }
    b->size = need;
    return need <= b->cap && need < SIZE_MAX ? U9_OK : U9_LIMIT;
}

u9_err u9i_build_take(u9_builder *b, size_t head, size_t size)
{
    u9_err err = add_bytes(b, size > SIZE_MAX - head ? SIZE_MAX : head + size);
    if (!err || err == U9_LIMIT) b->count++;
    return err;
}

u9_err u9i_build_open(u9_builder *b, u9_builder_level level, size_t head)
{
    if (b->depth == U9_DEPTH_MAX) return U9_LIMIT; /* [V-8] no reader would take it */
    level.at = b->size;
    u9_err err = u9i_build_take(b, head, 0);
    if (err && err != U9_LIMIT) return err;
    level.base = b->count;
    b->open[++b->depth] = level;
    set_edge(b);
    return err;
}

u9_err u9i_build_leave(u9_builder *b)
{
    b->count = u9i_innermost(b)->base; /* what was within counts no more */
    b->depth--;
    set_edge(b);
    return b->size > b->cap ? U9_LIMIT : U9_OK;
}

u9_err u9i_build_close(u9_builder *b, unsigned code, unsigned width, size_t had)
{
    unsigned asked = u9i_width_step(width);
    if (width > 0) had = u9i_head(asked);
    size_t at = u9i_innermost(b)->at, body = b->size - at - had;
    uint64_t count = u9i_elements(b);
    unsigned step = u9i_step_of(body | count);
    if (width > 0 && step > asked) return U9_LIMIT;
    if (width > 0) step = asked;
    size_t head = u9i_head(step);
    u9_err err = add_bytes(b, head - had);
    if (err && err != U9_LIMIT) return err;
    err = u9i_build_leave(b);
    if (err) return err;
    uint8_t *p = b->bytes + at;
    if (head > had) memmove(p + head, p + had, body);
    u9i_set_head(p, code, step, body, count);
    return U9_OK;
}

/* Writes a bytecode, a number of `width` bytes (0: none) and contents. */
static u9_err put_form(u9_builder *b, unsigned code, unsigned width, uint64_t number, const void *data,
                       size_t size)
{
    u9_err err = u9i_build_take(b, 1 + (size_t)width, size);
    if (err) return err;
    uint8_t *contents = b->bytes + b->size - size, *p = contents - width - 1;
    p[0] = (uint8_t)code;
    u9i_set_be(p + 1, width, number);
    if (size > 0) memcpy(contents, data, size);
    return U9_OK;
}

/* A number, in 1 << step bytes behind a bytecode where it stands in no array. */
static u9_err put_number(u9_builder *b, u9_type type, unsigned code, unsigned step, uint64_t number)
{
    if (u9i_in_array(b)) return u9i_build_element(b, &(u9_value){.type = type, .u = number});
    return put_form(b, code, 1u << step, number, NULL, 0);
}

/* Contents, behind a bytecode and `width` bytes of their length where they stand in no array. */
static u9_err put_contents(u9_builder *b, u9_type type, unsigned code, unsigned width,
                           const void *data, size_t size)
{
    u9_value v = {.type = type, .data = (const uint8_t *)data, .size = size};
    if (u9i_in_array(b)) return u9i_build_element(b, &v);
    return put_form(b, code, width, size, data, size);
}

u9_err u9_build_uint(u9_builder *b, uint64_t v)
{
    unsigned step = u9i_step_of(v);
    if (v > U9I_FIX_INT_MAX || u9i_in_array(b)) return put_number(b, U9_UINT, 0x00 + step, step, v);
    return put_form(b, 0x80 + (unsigned)v, 0, 0, NULL, 0);
}

/* [V-7] What an int below 0 needs room for: the shift makes that for the sign. */
static uint64_t below_0(int64_t v)
{
    return ~(uint64_t)v << 1;
}

u9_err u9_build_int(u9_builder *b, int64_t v)
{
    if (v >= 0) return u9_build_uint(b, (uint64_t)v);
    unsigned step = u9i_step_of(below_0(v));
    return put_number(b, U9_INT, 0x04 + step, step, (uint64_t)v);
}

u9_err u9_build_float32(u9_builder *b, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (u9i_in_array(b)) return u9i_build_element(b, &(u9_value){.type = U9_FLOAT32, .f = v});
    return put_form(b, 0x08, 4, bits, NULL, 0);
}

u9_err u9_build_float64(u9_builder *b, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (u9i_in_array(b)) return u9i_build_element(b, &(u9_value){.type = U9_FLOAT64, .f = v});
    return put_form(b, 0x09, 8, bits, NULL, 0);
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
    return put_contents(b, U9_SYMBOL, 0x0a, 0, padded, sizeof padded);
}

u9_err u9_build_pidfd(u9_builder *b, uint32_t pid, uint32_t fd)
{
    if (u9i_in_array(b))
        return u9i_build_element(b, &(u9_value){.type = U9_PIDFD, .pidfd = {pid, fd}});
    return put_form(b, 0x0b, 8, (uint64_t)pid << 32 | fd, NULL, 0);
}

u9_err u9_build_greek(u9_builder *b, u9_type type)
{
    if (type < U9_ALPHA || type > U9_TAU0) return U9_ARG;
    if (u9i_in_array(b)) return U9_ARG; /* [V-10] no typecode is theirs */
    return put_form(b, 0x10 + (unsigned)type - U9_ALPHA, 0, 0, NULL, 0);
}

u9_err u9_build_tau(u9_builder *b, uint64_t x)
{
    unsigned step = u9i_step_of(x | 0x100); /* there is no tau of 8 bits */
    return put_number(b, U9_TAU, 0x14 + step, step, x);
}

/* utf8 or bytes. [V-7] */
static u9_err put_blob(u9_builder *b, u9_type type, unsigned fix, unsigned sized, const void *data,
                       size_t size)
{
    if (size <= U9I_FIX_BLOB_MAX) return put_contents(b, type, fix + (unsigned)size, 0, data, size);
    unsigned step = u9i_step_of(size);
    return put_contents(b, type, sized + step, 1u << step, data, size);
}

u9_err u9_build_utf8(u9_builder *b, const void *text, size_t size)
{
    return put_blob(b, U9_UTF8, 0x20, 0x18, text, size);
}

u9_err u9_build_bytes(u9_builder *b, const void *bytes, size_t size)
{
    return put_blob(b, U9_BYTES, 0x30, 0x1c, bytes, size);
}

/* The step of a width that was asked for, if it holds v. */
static bool wide_step(unsigned width, uint64_t v, unsigned *step)
{
    if (width != 1 && width != 2 && width != 4 && width != 8) return false;
    *step = u9i_width_step(width);
    return u9i_step_of(v) <= *step;
}

u9_err u9_build_uint_wide(u9_builder *b, uint64_t v, unsigned width)
{
    unsigned step;
    if (!wide_step(width, v, &step)) return U9_ARG;
    return put_number(b, U9_UINT, 0x00 + step, step, v);
}

u9_err u9_build_int_wide(u9_builder *b, int64_t v, unsigned width)
{
    unsigned step;
    if (v >= 0) return u9_build_uint_wide(b, (uint64_t)v, width);
    if (!wide_step(width, below_0(v), &step)) return U9_ARG;
    return put_number(b, U9_INT, 0x04 + step, step, (uint64_t)v);
}

u9_err u9_build_utf8_wide(u9_builder *b, const void *text, size_t size, unsigned width)
{
    unsigned step;
    if (!wide_step(width, size, &step)) return U9_ARG;
    return put_contents(b, U9_UTF8, 0x18 + step, width, text, size);
}

u9_err u9_build_bytes_wide(u9_builder *b, const void *bytes, size_t size, unsigned width)
{
    unsigned step;
    if (!wide_step(width, size, &step)) return U9_ARG;
    return put_contents(b, U9_BYTES, 0x1c + step, width, bytes, size);
}

u9_err u9_build_tuple_open(u9_builder *b)
{
    if (u9i_in_array(b)) return u9i_build_tuple_element_open(b);
    return u9i_build_open(b, (u9_builder_level){.kind = U9I_TUPLE}, U9I_FIX_TUPLE_HEAD);
}

u9_err u9_build_tuple_open_wide(u9_builder *b, unsigned width)
{
    unsigned step;
    if (!wide_step(width, 0, &step)) return U9_ARG;
    if (u9i_in_array(b)) return u9i_build_tuple_element_open(b);
    u9_builder_level level = {.kind = U9I_TUPLE_WIDE, .width = (uint8_t)width};
    return u9i_build_open(b, level, u9i_head(step));
}

u9_err u9_build_tuple_close(u9_builder *b)
{
    const u9_builder_level *level = u9i_innermost(b);
    if (level->kind == U9I_TUPLE_ELEMENT) return u9i_build_tuple_element_close(b);
    if (level->kind == U9I_TUPLE_WIDE) return u9i_build_close(b, 0x40, level->width, 0);
    if (level->kind != U9I_TUPLE) return U9_STATE;
    size_t at = level->at, body = b->size - at - U9I_FIX_TUPLE_HEAD;
    uint64_t count = u9i_elements(b);
    if (!u9i_fix_tuple(body, count)) return u9i_build_close(b, 0x40, 0, U9I_FIX_TUPLE_HEAD);
    u9_err err = u9i_build_leave(b);
    if (!err) u9i_set_tuple_head(b->bytes + at, body, count);
    return err;
}

u9_err u9_build_raw(u9_builder *b, const void *value, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)value;
    if (size == 0) return U9_ARG; /* no value is empty, and it would be counted as an element */
    if (u9i_in_array(b)) {
        u9_value v;
        if (u9_value_decode(bytes, size, &v) != U9_OK || v.encoded != size) return U9_ARG;
        return u9i_build_element(b, &v);
    }
    bool container = bytes[0] >= 0x40 && bytes[0] <= 0x57;
    if (container && b->depth == U9_DEPTH_MAX) return U9_LIMIT; /* [V-8] */
    u9_err err = u9i_build_take(b, 0, size);
    if (!err) memcpy(b->bytes + b->size - size, bytes, size);
    return err;
}

/* A tuple from a view that has no bytes of its own. */
static u9_err put_tuple(u9_builder *b, const u9_value *v)
{
    size_t size = (size_t)v->size, head = u9i_tuple_head(size, v->count);
    if (b->depth == U9_DEPTH_MAX) return U9_LIMIT; /* [V-8] */
    u9_err err = u9i_build_take(b, head, size);
    if (err) return err;
    uint8_t *elements = b->bytes + b->size - size;
    u9i_set_tuple_head(elements - head, size, v->count);
    if (size > 0) memcpy(elements, v->data, size);
    return U9_OK;
}

u9_err u9_build_value(u9_builder *b, const u9_value *v)
{
    if (u9i_in_array(b)) return u9i_build_element(b, v);
    if (v->start) return u9_build_raw(b, v->start, v->encoded);
    switch (v->type) {
    case U9_UINT: return u9_build_uint(b, v->u);
    case U9_INT: return u9_build_int(b, v->i);
    case U9_FLOAT32: return u9_build_float32(b, (float)v->f);
    case U9_FLOAT64: return u9_build_float64(b, v->f);
    case U9_SYMBOL: return put_contents(b, U9_SYMBOL, 0x0a, 0, v->data, 8);
    case U9_PIDFD: return u9_build_pidfd(b, v->pidfd.pid, v->pidfd.fd);
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0: return u9_build_greek(b, v->type);
    case U9_TAU: return u9_build_tau(b, v->u);
    case U9_UTF8: return u9_build_utf8(b, v->data, (size_t)v->size);
    case U9_BYTES: return u9_build_bytes(b, v->data, (size_t)v->size);
    case U9_TUPLE: return put_tuple(b, v);
    case U9_ARRAY: return u9i_build_array_value(b, v);
    }
    return U9_ARG;
}
