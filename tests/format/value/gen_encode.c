/*
 * tests/format/value/gen_encode.c: encodes the trees of value_gen.h. No code of the library is used, so
 * that what is read back was not written by what is tested.
 *
 * A tree is encoded from its last node to its first: elements come before the sequence that needs
 * them, and nothing recurses. Each node gets its bytes as an element of a tuple and a plan: the
 * typecode that it could be an element of. A sequence whose elements' plans agree may become an
 * array.
 */
#include "tests/format/value/value_gen.h"

#include <string.h>

#include <u9/value.h>

enum { ARENA = 1 << 20, DIMS_MAX = 8 };

#define INFINITE UINT64_C(0x7ff0000000000000) /* a float64's bits */

typedef struct span {
    size_t at, size; /* in the arena */
} span;

/* The array of which a node could be an element: dims of n, and the innermost elements. */
typedef struct plan {
    bool fits;
    unsigned dims, n[DIMS_MAX];
    gen_kind kind;            /* GEN_SEQ: a tuple */
    unsigned as_uint, as_int; /* INT, TAU: least width; 0: cannot be */
    bool as_float32;
    size_t size;     /* UTF8, BYTES: size; tuple: bytes of its elements */
    unsigned count;  /* tuple: of elements, the largest */
    bool same_count; /* tuple: all have as many */
} plan;

typedef struct coder {
    rng *r;
    const gen_tree *t;
    uint64_t packed; /* bit k: sequences at depth k are arrays within arrays, else tuples */
    bool even;       /* equal kinds take equally many bytes, as far as that goes */
    bool full;       /* the arena did not hold it all */
    size_t used;
    uint8_t arena[ARENA];
    span whole[GEN_NODES];    /* as an element of a tuple, or on its own */
    span elements[GEN_NODES]; /* of a sequence, back to back */
    plan plans[GEN_NODES];
} coder;

static void put(coder *c, const void *bytes, size_t size)
{
    c->full = c->full || size > ARENA - c->used;
    if (c->full) return;
    memcpy(c->arena + c->used, bytes, size);
    c->used += size;
}

static void put_number(coder *c, uint64_t v, unsigned width)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < width; i++) bytes[i] = (uint8_t)(v >> 8 * (width - 1 - i));
    put(c, bytes, width);
}

static void put_code(coder *c, unsigned code)
{
    put_number(c, code, 1);
}

static void put_span(coder *c, span s)
{
    put(c, c->arena + s.at, s.size);
}

static unsigned least_width(uint64_t v)
{
    return v >> 8 == 0 ? 1 : v >> 16 == 0 ? 2 : v >> 32 == 0 ? 4 : 8;
}

/* 0 to 3 for a width of 1, 2, 4, 8. */
static unsigned log_width(unsigned width)
{
    return width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3;
}

/* A width of at least `least`; the least one half of the time. */
static unsigned some_width(coder *c, unsigned least)
{
    unsigned low = log_width(least);
    if (c->even) return least;
    return 1u << (rng_below(c->r, 2) ? low : low + rng_below(c->r, 4 - low));
}

static unsigned most(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* Least width as an unsigned and as a signed integer; 0: cannot be. */
static unsigned uint_width(const gen_node *v)
{
    return v->negative ? 0 : least_width(v->number);
}

static unsigned int_width(const gen_node *v)
{
    if (!v->negative && v->number >> 63) return 0;
    uint64_t magnitude = v->negative ? ~v->number : v->number;
    return least_width(magnitude << 1);
}

static bool is_nan(uint64_t bits)
{
    return bits << 1 > INFINITE << 1;
}

static bool holds_float32(uint64_t bits, uint32_t *out)
{
    const double largest = 3.4028234663852886e38;
    double d, back;
    uint64_t again;
    if (is_nan(bits)) {
        *out = (uint32_t)(bits >> 63) << 31 | 0x7f800001 | ((uint32_t)bits & 0x7fffff);
        return true;
    }
    memcpy(&d, &bits, sizeof d);
    if (bits << 1 != INFINITE << 1 && (d > largest || d < -largest)) return false;
    float f = (float)d;
    back = (double)f;
    memcpy(&again, &back, sizeof again);
    memcpy(out, &f, sizeof f);
    return again == bits;
}

/* Both zeros are one value and so are all NaNs: any of them. */
static uint64_t some_face(coder *c, uint64_t bits)
{
    if (bits << 1 == 0) return rng_next(c->r) & UINT64_C(1) << 63;
    if (is_nan(bits)) return bits ^ (rng_next(c->r) & UINT64_C(0x8007ffffffff0000));
    return bits;
}

static void put_float(coder *c, uint64_t bits, unsigned width)
{
    uint32_t narrow = 0;
    bits = some_face(c, bits);
    if (width == 4) (void)holds_float32(bits, &narrow);
    put_number(c, width == 4 ? narrow : bits, width);
}

/* Its bytes without a bytecode, numbers in `width` bytes. */
static void put_contents(coder *c, const gen_node *v, unsigned width)
{
    switch (v->kind) {
    case GEN_INT:
    case GEN_TAU:
    case GEN_PIDFD: put_number(c, v->number, width); break;
    case GEN_FLOAT: put_float(c, v->number, width); break;
    case GEN_SYMBOL:
    case GEN_UTF8:
    case GEN_BYTES: put(c, v->bytes, v->size); break;
    case GEN_GREEK:
    case GEN_SEQ: break;
    }
}

/* Draws how a number is encoded; fills its bytecode, which is its typecode too. */
static unsigned number_form(coder *c, const plan *p, unsigned *code)
{
    unsigned width = 8;
    switch (p->kind) {
    case GEN_INT: {
        bool as_int = p->as_int && (!p->as_uint || (!c->even && rng_below(c->r, 2)));
        width = some_width(c, c->even ? 8 : as_int ? p->as_int : p->as_uint);
        *code = (as_int ? 0x04 : 0x00) + log_width(width);
        break;
    }
    case GEN_FLOAT:
        width = p->as_float32 && rng_below(c->r, 2) ? 4 : 8;
        *code = width == 4 ? 0x08 : 0x09;
        break;
    case GEN_TAU:
        width = some_width(c, c->even ? 8 : most(p->as_uint, 2));
        *code = 0x14 + log_width(width);
        break;
    case GEN_SYMBOL: *code = 0x0a; break;
    case GEN_PIDFD: *code = 0x0b; break;
    case GEN_GREEK:
    case GEN_UTF8:
    case GEN_BYTES:
    case GEN_SEQ: break;
    }
    return width;
}

static void encode_atom(coder *c, const gen_node *v, const plan *p)
{
    unsigned code = 0, text = v->kind == GEN_UTF8 ? 0x18 : 0x1c;
    if (v->kind == GEN_GREEK) {
        put_code(c, 0x10 + (unsigned)v->number);
    } else if (v->kind == GEN_UTF8 || v->kind == GEN_BYTES) {
        if (v->size < 16 && (c->even || rng_below(c->r, 2))) {
            put_code(c, (v->kind == GEN_UTF8 ? 0x20u : 0x30u) + v->size);
        } else {
            unsigned width = some_width(c, 1);
            put_code(c, text + log_width(width));
            put_number(c, v->size, width);
        }
        put(c, v->bytes, v->size);
    } else if (v->kind == GEN_INT && !v->negative && v->number < 128 && !c->even &&
               rng_below(c->r, 2)) {
        put_code(c, 0x80 + (unsigned)v->number);
    } else {
        unsigned width = number_form(c, p, &code);
        put_code(c, code);
        put_contents(c, v, width);
    }
}

static plan plan_atom(const gen_node *v)
{
    plan p = {.fits = v->kind != GEN_GREEK, .kind = v->kind, .size = v->size};
    uint32_t narrow;
    if (v->kind == GEN_INT) p.as_uint = uint_width(v), p.as_int = int_width(v);
    if (v->kind == GEN_TAU) p.as_uint = least_width(v->number);
    if (v->kind == GEN_FLOAT) p.as_float32 = holds_float32(v->number, &narrow);
    return p;
}

/* A plan that serves both. */
static void plan_merge(plan *p, const plan *q)
{
    p->fits = p->fits && q->fits && p->kind == q->kind && p->dims == q->dims &&
              memcmp(p->n, q->n, sizeof p->n) == 0;
    p->as_uint = p->as_uint && q->as_uint ? most(p->as_uint, q->as_uint) : 0;
    p->as_int = p->as_int && q->as_int ? most(p->as_int, q->as_int) : 0;
    p->as_float32 = p->as_float32 && q->as_float32;
    p->same_count = p->same_count && q->same_count && p->count == q->count;
    p->count = most(p->count, q->count);
    if (p->kind == GEN_INT) p->fits = p->fits && (p->as_uint || p->as_int);
    if (p->kind == GEN_UTF8 || p->kind == GEN_BYTES || p->kind == GEN_SEQ)
        p->fits = p->fits && p->size == q->size;
}

/* What the elements of a sequence have in common. */
static plan plan_elements(coder *c, const gen_node *v)
{
    plan p = {.fits = true, .kind = (gen_kind)rng_below(c->r, GEN_GREEK), .as_uint = 1};
    if (v->count > 0) p = c->plans[v->first];
    for (unsigned k = 1; k < v->count; k++) plan_merge(&p, &c->plans[v->first + k]);
    return p;
}

/* Bytes that each innermost element takes as such; 0 where the typecode does not say yet. */
static size_t leaf_size(const plan *p, unsigned width, unsigned tuple_code)
{
    if (p->kind == GEN_UTF8 || p->kind == GEN_BYTES) return p->size;
    if (p->kind != GEN_SEQ) return width;
    return p->size + (tuple_code < 0x48 ? width : 0);
}

static unsigned put_leaf_typecode(coder *c, const plan *p, unsigned *code)
{
    unsigned width = 0, length_width = some_width(c, least_width(p->size));
    if (p->kind == GEN_UTF8 || p->kind == GEN_BYTES) {
        *code = (p->kind == GEN_UTF8 ? 0x18 : 0x1c) + log_width(length_width);
    } else if (p->kind != GEN_SEQ) {
        width = number_form(c, p, code);
        put_code(c, *code);
        return width;
    } else if (p->same_count && p->count < 8 && p->size < 256 && rng_below(c->r, 2)) {
        *code = 0x48 + p->count;
        length_width = 1;
    } else {
        width = length_width = some_width(c, most(least_width(p->size), least_width(p->count)));
        *code = 0x40 + log_width(width);
    }
    put_code(c, *code);
    put_number(c, p->size, length_width);
    return width;
}

/* The typecode of the elements of `p` at the arena's end. Written from the inside out, each behind
 * the last one; the outermost is what counts. */
static span put_typecode(coder *c, const plan *p, unsigned *width, unsigned *code, size_t *stride)
{
    span t = {.at = c->used};
    *width = put_leaf_typecode(c, p, code);
    *stride = leaf_size(p, *width, *code);
    t.size = c->used - t.at;
    for (unsigned k = p->dims; k-- > 0;) {
        span outer = {.at = c->used};
        *stride *= p->n[k];
        unsigned w = some_width(c, most(least_width(*stride), least_width(p->n[k])));
        put_code(c, 0x44 + log_width(w));
        put_number(c, *stride, w);
        put_number(c, p->n[k], w);
        put_span(c, t);
        outer.size = c->used - outer.at;
        t = outer;
    }
    return t;
}

/* The innermost elements of an array stand next to each other in the tree. */
static void put_packed(coder *c, const gen_node *v, const plan *p, unsigned width, unsigned code)
{
    unsigned from = v->first;
    uint64_t count = v->count;
    for (unsigned k = 0; k < p->dims && count > 0; k++) {
        count *= p->n[k];
        from = c->t->nodes[from].first;
    }
    for (unsigned i = from; i < from + count; i++) {
        const gen_node *leaf = &c->t->nodes[i];
        if (leaf->kind != GEN_SEQ) {
            put_contents(c, leaf, width);
            continue;
        }
        if (code < 0x48) put_number(c, leaf->count, width);
        put_span(c, c->elements[i]);
    }
}

static span encode_array(coder *c, const gen_node *v, const plan *p)
{
    unsigned width, code;
    size_t stride;
    span typecode = put_typecode(c, p, &width, &code, &stride), whole = {.at = 0};
    uint64_t size = typecode.size + (uint64_t)stride * v->count;
    unsigned w = some_width(c, most(least_width(size), least_width(v->count)));
    whole.at = c->used;
    put_code(c, 0x44 + log_width(w));
    put_number(c, size, w);
    put_number(c, v->count, w);
    put_span(c, typecode);
    put_packed(c, v, p, width, code);
    whole.size = c->used - whole.at;
    return whole;
}

static span encode_tuple(coder *c, const gen_node *v, span elements)
{
    span whole = {.at = c->used};
    if (v->count < 8 && elements.size < 256 && (c->even || rng_below(c->r, 2))) {
        put_code(c, 0x48 + v->count);
        put_number(c, elements.size, 1);
    } else {
        unsigned w = some_width(c, most(least_width(elements.size), least_width(v->count)));
        put_code(c, 0x40 + log_width(w));
        put_number(c, elements.size, w);
        put_number(c, v->count, w);
    }
    put_span(c, elements);
    whole.size = c->used - whole.at;
    return whole;
}

/* [V-10] Elements without bytes: at most U9_EMPTY_MAX, those of arrays in arrays multiplied. */
static bool accepted(const gen_node *v, const plan *p)
{
    uint64_t count = v->count;
    bool empty = p->size == 0 && p->kind >= GEN_UTF8;
    for (unsigned k = 0; k < p->dims; k++) {
        empty = empty || p->n[k] == 0;
        count *= p->n[k] ? p->n[k] : 1;
    }
    return p->fits && (!empty || count <= U9_EMPTY_MAX);
}

static void encode_sequence(coder *c, unsigned i)
{
    const gen_node *v = &c->t->nodes[i];
    plan p = plan_elements(c, v), *own = &c->plans[i];
    c->elements[i].at = c->used;
    for (unsigned k = 0; k < v->count; k++) put_span(c, c->whole[v->first + k]);
    c->elements[i].size = c->used - c->elements[i].at;
    bool array = accepted(v, &p);
    if (array && p.dims < DIMS_MAX && c->packed >> v->depth % 64 & 1) {
        *own = p;
        memmove(own->n + 1, own->n, sizeof own->n - sizeof own->n[0]);
        own->n[0] = v->count;
        own->dims++;
    } else {
        *own = (plan){.fits = true,
                      .kind = GEN_SEQ,
                      .size = c->elements[i].size,
                      .count = v->count,
                      .same_count = true};
    }
    c->whole[i] =
        array && rng_below(c->r, 2) ? encode_array(c, v, &p) : encode_tuple(c, v, c->elements[i]);
}

size_t gen_tree_encode(rng *r, const gen_tree *t, uint8_t *buf, size_t cap)
{
    static coder c;
    c.r = r;
    c.t = t;
    c.packed = rng_next(r);
    c.even = rng_below(r, 3) == 0;
    c.full = false;
    c.used = 0;
    for (unsigned i = t->count; i-- > 0 && !c.full;) {
        const gen_node *v = &t->nodes[i];
        if (v->kind == GEN_SEQ) {
            encode_sequence(&c, i);
            continue;
        }
        c.plans[i] = plan_atom(v);
        c.whole[i].at = c.used;
        encode_atom(&c, v, &c.plans[i]);
        c.whole[i].size = c.used - c.whole[i].at;
    }
    if (c.full || c.whole[0].size > cap) return 0;
    memcpy(buf, c.arena + c.whole[0].at, c.whole[0].size);
    return c.whole[0].size;
}
