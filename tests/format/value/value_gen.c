/*
 * tests/format/value/value_gen.c: makes random trees, breadth first. gen_encode.c encodes them.
 */
#include "tests/format/value/value_gen.h"

#include <string.h>

enum { ANY_SIZE = 0xff };

uint64_t rng_next(rng *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t rng_below(rng *r, uint64_t n)
{
    return rng_next(r) % n;
}

/* Numbers of all magnitudes, those at the edges of the widths often. */
static uint64_t some_number(rng *r)
{
    uint64_t kind = rng_below(r, 3), shift = rng_below(r, 64), v = rng_next(r);
    if (kind == 0) return v % 130;
    return kind == 1 ? (UINT64_C(1) << shift) - v % 3 : v >> shift;
}

static uint64_t some_float(rng *r)
{
    static const uint64_t edges[] = {
        UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000001), /* 0, the smallest */
        UINT64_C(0x3ff0000000000000), UINT64_C(0x3ff8000000000000), /* 1, 1.5 */
        UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000), /* infinity, NaN */
        UINT64_C(0x7ff0000000000001), UINT64_C(0x36a0000000000000), /* NaN, smallest float32 */
        UINT64_C(0x47efffffe0000000), UINT64_C(0x7fefffffffffffff), /* largest ones */
    };
    uint64_t sign = rng_next(r) & UINT64_C(1) << 63;
    switch (rng_below(r, 3)) {
    case 0: return sign | edges[rng_below(r, sizeof edges / sizeof edges[0])];
    case 1: { /* one that float32 holds */
        unsigned shift = (unsigned)rng_below(r, 24);
        float f = (float)(rng_next(r) >> 40 >> shift) / 64; /* 24 bits at most: exact */
        double d = (double)f;
        uint64_t bits;
        memcpy(&bits, &d, sizeof bits);
        return sign ^ bits;
    }
    default: return rng_next(r);
    }
}

static void some_text(rng *r, gen_node *v, bool utf8, unsigned size)
{
    static const char letters[] = "ab\0z~";
    static const char *wide[] = {"\xcf\x84", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    if (size == ANY_SIZE) size = (unsigned)rng_below(r, rng_below(r, 4) ? 6 : GEN_TEXT + 1);
    v->size = (uint8_t)size;
    for (unsigned i = 0; i < size; i++)
        v->bytes[i] = utf8 ? (uint8_t)letters[rng_below(r, 5)] : (uint8_t)rng_next(r);
    const char *letter = wide[rng_below(r, 3)];
    if (utf8 && strlen(letter) <= size && rng_below(r, 3) == 0)
        memcpy(v->bytes + rng_below(r, size - strlen(letter) + 1), letter, strlen(letter));
}

static void fill_atom(rng *r, gen_node *v)
{
    unsigned size = v->mold.set ? v->mold.size : ANY_SIZE;
    v->number = 0;
    v->negative = false;
    switch (v->kind) {
    case GEN_INT:
        v->number = some_number(r);
        v->negative = rng_below(r, 2) && v->number - 1 < UINT64_C(1) << 63;
        if (v->negative) v->number = 0 - v->number;
        break;
    case GEN_FLOAT: v->number = some_float(r); break;
    case GEN_SYMBOL:
        memset(v->bytes, 0, 8);
        v->size = 8;
        for (uint64_t i = 0, n = 1 + rng_below(r, 8); i < n; i++)
            v->bytes[i] = (uint8_t)("abkhiu9_"[rng_below(r, 8)]);
        break;
    case GEN_PIDFD: v->number = some_number(r); break;
    case GEN_GREEK: v->number = rng_below(r, 5); break;
    case GEN_TAU: v->number = some_number(r); break;
    case GEN_UTF8: some_text(r, v, true, size); break;
    case GEN_BYTES: some_text(r, v, false, size); break;
    case GEN_SEQ: break;
    }
}

/* What all the elements of a sequence are to be, half of the time. */
static gen_mold some_mold(rng *r)
{
    gen_mold m = {.set = rng_below(r, 2)};
    m.kind = (uint8_t)rng_below(r, GEN_SEQ);
    m.size = (uint8_t)(rng_below(r, 4) ? rng_below(r, 5) : rng_below(r, GEN_TEXT + 1));
    m.dims = (uint8_t)(rng_below(r, 3) ? 0 : 1 + rng_below(r, 3));
    for (unsigned k = 0; k < 3; k++) m.n[k] = (uint8_t)rng_below(r, 5);
    m.row = rng_below(r, 4) ? 0 : rng_next(r);
    return m;
}

static gen_mold element_mold(const gen_mold *own, const gen_mold *others, unsigned k)
{
    gen_mold m = *own;
    if (own->set && own->dims > 0) {
        m.dims--;
        memmove(m.n, m.n + 1, sizeof m.n - 1);
        return m;
    }
    if (!own->set || own->row == 0) return *others;
    rng column = {own->row + k};
    m = (gen_mold){.set = true, .kind = (uint8_t)rng_below(&column, GEN_SEQ)};
    m.size = (uint8_t)rng_below(&column, 5);
    return m;
}

static unsigned some_count(rng *r, const gen_mold *m)
{
    if (m->set && m->dims > 0) return m->n[0];
    if (m->set && m->row) return 1 + (unsigned)(m->row % 9);
    return (unsigned)rng_below(r, rng_below(r, 32) ? 9 : 300);
}

static void fill_node(rng *r, gen_tree *t, gen_node *v, unsigned nodes, unsigned depth, bool deep)
{
    const gen_mold *own = &v->mold;
    bool sequence = own->set ? own->dims > 0 || own->row : v == t->nodes || !rng_below(r, 4);
    v->kind = own->set ? (gen_kind)own->kind : (gen_kind)rng_below(r, GEN_SEQ);
    if ((!sequence && !deep) || v->depth == depth) {
        fill_atom(r, v);
        return;
    }
    v->kind = GEN_SEQ;
    v->count = deep ? 1 + (unsigned)rng_below(r, 2) : some_count(r, own);
    if (v->count > nodes - t->count) v->count = nodes - t->count;
    v->first = t->count;
    gen_mold others = deep ? (gen_mold){.set = false} : some_mold(r);
    for (unsigned k = 0; k < v->count; k++)
        t->nodes[t->count++] =
            (gen_node){.depth = v->depth + 1, .mold = element_mold(own, &others, k)};
}

void gen_tree_make(rng *r, gen_tree *t, unsigned nodes, unsigned depth)
{
    bool deep = rng_below(r, 32) == 0; /* a sequence in a sequence in a sequence */
    t->count = 1;
    t->nodes[0] = (gen_node){.depth = 0};
    for (unsigned i = 0; i < t->count; i++) {
        bool last = i + 1 == t->count;
        fill_node(r, t, &t->nodes[i], nodes, rng_below(r, 8) || i ? depth : 0, deep && last);
    }
}

void gen_tree_vary(rng *r, gen_tree *t)
{
    gen_node *v = &t->nodes[rng_below(r, t->count)];
    if (v->kind == GEN_SEQ) return;
    if ((v->kind == GEN_UTF8 || v->kind == GEN_BYTES) && v->size > 0) {
        uint8_t *byte = &v->bytes[rng_below(r, v->size)];
        if (rng_below(r, 2)) *byte = (uint8_t)(*byte + 1);
        else v->size--;
        return;
    }
    fill_atom(r, v);
}

size_t value_gen(rng *r, uint8_t *buf, size_t cap, unsigned depth)
{
    static gen_tree t;
    unsigned most_nodes = 1u << rng_below(r, 10); /* up to GEN_NODES */
    for (; most_nodes > 0; most_nodes /= 2) {
        gen_tree_make(r, &t, most_nodes, depth);
        size_t size = gen_tree_encode(r, &t, buf, cap);
        if (size > 0) return size;
    }
    buf[0] = 0x80;
    return 1;
}
