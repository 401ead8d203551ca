/*
 * format/value/diff/overlay.c: see overlay.h. [D-8] [D-9]
 *
 * Invariants:
 * - the elements of a node are those of its pieces, row and tree alike; `total` and `height` are
 *   right in the tree, which is an AVL tree: of n pieces it is at most 1.45 log2(n) high.
 * - runs lie in the source's contents in its order, do not overlap and are as long as their
 *   elements.
 * - node->up and node->slot lead back to the root, and a changed container stands only in changed
 *   ones.
 * - what takes memory takes it from what was reserved, so that a change goes through or does not
 *   begin.
 */
#include "format/value/diff/overlay.h"

#include <assert.h>

#include "format/base/bytes.h"

enum { CHUNK_MIN = 4096, CHUNK_DOUBLED_MAX = 18 /* times: 1 GiB */ };

/* Bytes by which the address is short of a multiple of U9I_GRAIN. */
static size_t misaligned(const uint8_t *p)
{
    return (size_t)(-(uintptr_t)p & (U9I_GRAIN - 1));
}

/* Bytes that are left in a chunk, of which `used` are taken. */
static size_t room_in(const u9_diff *d, unsigned chunk, size_t used)
{
    size_t waste = d->chunk[chunk].bytes ? misaligned(d->chunk[chunk].bytes + used) : 0;
    size_t left = d->chunk[chunk].cap - used;
    return left > waste ? left - waste : 0;
}

/* Gets one more chunk: each is twice as large as the one before, or as large as it must be. */
static u9_err add_chunk(u9_diff *d, size_t size)
{
    unsigned doubled = d->chunks < CHUNK_DOUBLED_MAX ? d->chunks : CHUNK_DOUBLED_MAX;
    size_t need = (size_t)CHUNK_MIN << doubled, cap = 0;
    uint8_t *bytes = NULL;
    if (!d->grow || d->chunks == U9_DIFF_CHUNKS || size > SIZE_MAX - U9I_GRAIN) return U9_NOMEM;
    if (need < size + U9I_GRAIN) need = size + U9I_GRAIN;
    u9_err err = d->grow(d->grow_ctx, &bytes, &cap, need);
    if (err) return err;
    assert(bytes != NULL && cap >= need); /* what a u9_grow_fn promises */
    d->chunk[d->chunks].bytes = bytes;
    d->chunk[d->chunks].cap = cap;
    d->chunks++;
    return U9_OK;
}

u9_err u9i_memory_reserve(u9_diff *d, size_t size)
{
    if (d->chunks > 0 && room_in(d, d->now, d->used) >= size) return U9_OK;
    unsigned k = d->chunks > 0 ? d->now + 1 : 0;
    while (k < d->chunks && room_in(d, k, 0) < size) k++;
    if (k == d->chunks) {
        u9_err err = add_chunk(d, size);
        if (err) return err;
    }
    d->now = k;
    d->used = 0;
    return U9_OK;
}

void *u9i_memory_take(u9_diff *d, size_t size)
{
    assert(d->chunks > 0 && room_in(d, d->now, d->used) >= size);
    uint8_t *chunk = d->chunk[d->now].bytes;
    size_t at = d->used + misaligned(chunk + d->used);
    d->used = at + size;
    return chunk + at;
}

uint8_t *u9i_memory_rest(const u9_diff *d, size_t *room)
{
    uint8_t *at = d->chunk[d->now].bytes + d->used;
    *room = room_in(d, d->now, d->used);
    return at + misaligned(at);
}

static unsigned height(const u9_piece *p)
{
    return p ? p->height : 0;
}

static void renew(u9_piece *p)
{
    const u9_piece *a = p->child[0], *b = p->child[1];
    p->height = (uint8_t)(1 + (height(a) > height(b) ? height(a) : height(b)));
    p->total = p->count + (a ? a->total : 0) + (b ? b->total : 0);
}

/* p goes down to `side`, its child of the other side comes up. Returns that. */
static u9_piece *rotate(u9_node *n, u9_piece *p, int side)
{
    u9_piece *child = p->child[!side], *middle = child->child[side];
    child->up = p->up;
    if (p->up) p->up->child[p->up->child[1] == p] = child;
    else n->top = child;
    p->child[!side] = middle;
    if (middle) middle->up = p;
    child->child[side] = p;
    p->up = child;
    renew(p);
    renew(child);
    return child;
}

/* Mends the tree after a change at p: there and in all that p is below. */
static void rebalance(u9_node *n, u9_piece *p)
{
    for (; p; p = p->up) {
        renew(p);
        int lean = (int)height(p->child[1]) - (int)height(p->child[0]);
        if (lean >= -1 && lean <= 1) continue;
        int heavy = lean > 0;
        u9_piece *child = p->child[heavy];
        if (height(child->child[!heavy]) > height(child->child[heavy])) rotate(n, child, heavy);
        p = rotate(n, p, !heavy);
    }
}

u9_piece *u9i_piece_insert(u9_diff *d, u9_node *n, u9_piece *p)
{
    u9_piece *q = u9i_memory_take(d, sizeof *q), *up = p;
    int side = 1;
    if (p->child[1]) { /* in front of all that is behind p */
        for (up = p->child[1]; up->child[0]; up = up->child[0]) {
        }
        side = 0;
    }
    *q = (u9_piece){.next = p->next, .up = up, .kind = U9I_RUN};
    p->next = q;
    up->child[side] = q;
    rebalance(n, q);
    return q;
}

u9_node *u9i_node_open(u9_diff *d, const u9_value *container, u9_node *up, u9_piece *slot)
{
    u9_node *n = u9i_memory_take(d, sizeof *n);
    *n = (u9_node){.source = *container, .up = up, .slot = slot};
    n->head.kind = U9I_RUN;
    n->top = &n->head;
    renew(&n->head);
    if (n->source.type == U9_ARRAY) { /* its typecode was proved when it was looked at */
        u9_err err = u9i_typecode_read(n->source.typecode, SIZE_MAX, &n->element);
        assert(err == U9_OK);
    }
    u9_piece *all = u9i_piece_insert(d, n, &n->head);
    all->bytes = n->source.data;
    all->size = (size_t)n->source.size;
    all->count = n->source.count;
    rebalance(n, all);
    if (slot) {
        slot->kind = U9I_NODE;
        slot->node = n;
    }
    return n;
}

static u9_piece *find_piece(const u9_node *n, uint64_t k, uint64_t *place)
{
    assert(k < n->top->total);
    for (u9_piece *p = n->top;;) {
        uint64_t front = p->child[0] ? p->child[0]->total : 0;
        if (k < front) {
            p = p->child[0];
        } else if (k - front < p->count) {
            *place = k - front;
            return p;
        } else {
            k -= front + p->count;
            p = p->child[1];
        }
    }
}

const u9_piece *u9i_piece_find(const u9_node *n, uint64_t k, uint64_t *place)
{
    return find_piece(n, k, place);
}

u9_walk u9i_piece_walk(const u9_node *n, const u9_piece *p)
{
    u9_walk walk = u9_walk_bytes(p->bytes, p->size);
    if (n->source.type == U9_ARRAY) {
        walk.typecode = n->source.typecode;
        walk.due = p->count;
    }
    return walk;
}

/* The next value of a walk that has one. */
static u9_err must_next(u9_walk *walk, u9_value *out)
{
    u9_err err = u9_walk_next(walk, out);
    return err == U9_END ? U9_CORRUPT : err; /* fewer than the container claims [V-4] */
}

u9_err u9i_piece_element(const u9_node *n, const u9_piece *p, uint64_t place, u9_view *out)
{
    u9_value v;
    u9_err err = U9_OK;
    if (p->kind == U9I_NODE) {
        *out = u9i_node_view(p->node);
        return U9_OK;
    }
    if (p->kind == U9I_VALUE) {
        err = u9_value_decode(p->bytes, p->size, &v);
    } else if (n->source.type == U9_ARRAY) {
        u9i_element(&n->element, p->bytes + place * n->element.stride, &v);
    } else {
        u9_walk walk = u9i_piece_walk(n, p);
        do err = must_next(&walk, &v);
        while (err == U9_OK && place-- > 0);
    }
    if (err == U9_OK) *out = u9i_plain_view(&v);
    return err;
}

/* Cuts a run in front of its element `place`. Returns the second half. */
static u9_piece *split_run(u9_diff *d, u9_node *n, u9_piece *p, uint64_t place)
{
    u9_walk walk = u9i_piece_walk(n, p);
    u9_value v;
    size_t size;
    if (n->source.type == U9_ARRAY) {
        size = (size_t)(place * n->element.stride);
    } else {
        for (uint64_t k = 0; k < place; k++) {
            u9_err err = u9_walk_next(&walk, &v);
            assert(err == U9_OK); /* it was read before */
        }
        size = p->size - walk.left;
    }
    u9_piece *q = u9i_piece_insert(d, n, p);
    q->bytes = p->bytes + size;
    q->size = p->size - size;
    q->count = p->count - place;
    p->size = size;
    p->count = place;
    rebalance(n, q);
    rebalance(n, p);
    return q;
}

u9_piece *u9i_piece_before(u9_diff *d, u9_node *n, uint64_t k)
{
    uint64_t place;
    if (k == 0) return &n->head;
    u9_piece *p = find_piece(n, k - 1, &place);
    if (place + 1 < p->count) (void)split_run(d, n, p, place + 1);
    return p;
}

u9_piece *u9i_piece_carve(u9_diff *d, u9_node *n, uint64_t k)
{
    uint64_t place;
    u9_piece *p = find_piece(n, k, &place);
    if (place > 0) p = split_run(d, n, p, place);
    if (p->count > 1) (void)split_run(d, n, p, 1);
    return p;
}

/* True if the typecode at `bytes`, of `size` bytes, is that of the arrays that are t's elements. */
static bool is_inner(const u9i_typecode *t, const uint8_t *typecode, const uint8_t *bytes,
                     size_t size)
{
    size_t inner = t->length - (size_t)(t->inner - typecode);
    return size == inner && memcmp(bytes, t->inner, size) == 0;
}

static bool number_fits(const u9i_typecode *t, const u9_value *v)
{
    unsigned bits = 8u * t->width;
    if (v->type == U9_INT && v->i < 0)
        return t->type == U9_INT && (bits == 64 || v->i >= -(INT64_C(1) << (bits - 1)));
    if (t->type == U9_INT) bits--;
    return bits == 64 || v->u >> bits == 0;
}

/* [D-9] True if v can be an element of n, an array, without becoming another value. */
static bool fits_node(const u9_node *n, const u9_value *v)
{
    const u9i_typecode *t = &n->element;
    switch ((u9_type)t->type) {
    case U9_UINT:
    case U9_INT: return (v->type == U9_UINT || v->type == U9_INT) && number_fits(t, v);
    case U9_TAU: return v->type == U9_TAU && number_fits(t, v);
    case U9_UTF8:
    case U9_BYTES: return v->type == (u9_type)t->type && v->size == t->stride;
    case U9_TUPLE: /* an index in front has another code */
        if (v->type != U9_TUPLE || v->size != t->stride - t->width) return false;
        if (v->code < 0x40 || v->code > 0x4f) return false;
        if (t->width == 0) return v->count == t->count;
        return t->width == 8 || v->count >> 8 * t->width == 0;
    case U9_ARRAY:
        return v->type == U9_ARRAY && v->code >= 0x44 && v->code <= 0x47 && v->count == t->count &&
               is_inner(t, n->source.typecode, v->typecode, (size_t)(v->data - v->typecode));
    case U9_FLOAT32:
    case U9_FLOAT64:
    case U9_SYMBOL:
    case U9_PIDFD:
    case U9_ALPHA:
    case U9_OMEGA:
    case U9_IOTA:
    case U9_KAPPA:
    case U9_TAU0: break;
    }
    return v->type == (u9_type)t->type;
}

/* [D-9] True if it is written as an array. Of elements without bytes there can be but a few
 * [V-10]. */
static bool is_array(const u9_node *n)
{
    return n->source.type == U9_ARRAY && n->misfits == 0 &&
           (n->element.stride > 0 || n->top->total <= U9_EMPTY_MAX / n->element.empties);
}

/* [D-9] The same for a changed container: only an array that still is one can be an element. */
static bool node_fits(const u9_node *n, const u9_node *child)
{
    return n->element.type == U9_ARRAY && is_array(child) &&
           child->top->total == n->element.count &&
           is_inner(&n->element, n->source.typecode, child->source.typecode, child->element.length);
}

static void set_misfit(u9_node *n, u9_piece *p, bool misfit)
{
    n->misfits += (uint64_t)misfit - (uint64_t)p->misfit;
    p->misfit = misfit;
}

void u9i_piece_put(u9_node *n, u9_piece *p, const uint8_t *value, size_t size)
{
    u9_value v;
    u9_err err = u9_value_decode(value, size, &v);
    assert(err == U9_OK && v.encoded == size); /* a patch's, which was proved */
    p->kind = U9I_VALUE;
    p->bytes = value;
    p->size = size;
    p->count = 1;
    rebalance(n, p);
    set_misfit(n, p, n->source.type == U9_ARRAY && !fits_node(n, &v));
}

void u9i_piece_drop(u9_node *n, u9_piece *p)
{
    p->kind = U9I_RUN;
    p->count = p->size = 0;
    rebalance(n, p);
    set_misfit(n, p, false);
}

void u9i_node_refit(u9_node *n)
{
    for (; n->up; n = n->up)
        if (n->up->source.type == U9_ARRAY) set_misfit(n->up, n->slot, !node_fits(n->up, n));
}

u9_view u9i_node_view(const u9_node *n)
{
    u9_view view = {
        .type = is_array(n) ? U9_ARRAY : U9_TUPLE, .count = n->top->total, .changed = n};
    view.value.type = U9_TUPLE; /* for whoever takes it for a value: an empty tuple */
    return view;
}
