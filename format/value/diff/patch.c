/*
 * format/value/diff/patch.c: where a patch leads, what it may not do, and how what it changes is written
 * down. See patch.h. [D-2] [D-6]
 *
 * Places are found by walking, never by an index, and so exactly as the second half of a patch
 * finds them again.
 */
#include "format/value/diff/patch.h"

#include "format/base/fault.h"
#include "format/value/decode.h"

#include <assert.h>

u9_err u9i_patch_refuse(const u9i_patch *p, u9_err err, const uint8_t *at, const char *rule,
                        const char *text)
{
    return u9i_refuse(p->fault, err, at ? (uint64_t)(at - p->bytes) : U9_NOWHERE, rule, text);
}

u9_err u9i_patch_refuse_base(const u9i_patch *p, u9_err err)
{
    return u9i_patch_refuse(p, err, NULL, "V-4",
                            "the value under the patches is malformed on the way");
}

u9_err u9i_patch_refuse_args(const u9i_patch *p, u9_err err, const char *rule, const char *text)
{
    return u9i_patch_refuse(p, err, p->args.data, rule, text);
}

/* The whole patch was proved, so nothing fails here. */
u9_value u9i_patch_arg(const u9i_patch *p, unsigned k)
{
    u9_walk walk = u9_walk_elements(&p->args);
    u9_value v;
    u9_err err;
    do err = u9_walk_next(&walk, &v);
    while (err == U9_OK && k-- > 0);
    assert(err == U9_OK);
    return v;
}

static u9_err refuse_absent(const u9i_patch *p, const uint8_t *at)
{
    return u9i_patch_refuse(p, U9_ABSENT, at, "D-2", "the path leads to nothing: no such element");
}

/* By a walk: an index in front may be wrong. */
bool u9i_key_of(const u9_value *container, u9_value *key)
{
    u9_walk walk = u9_walk_elements(container);
    return u9i_is_container(container->type) && u9_walk_next(&walk, key) == U9_OK;
}

/* True if the step is a key; then `key` is it. [D-2] */
static bool is_key(const u9_value *step, u9_value *key)
{
    return step->count == 1 && u9i_key_of(step, key);
}

static bool is_position(const u9_value *step)
{
    return step->type == U9_UINT || (step->type == U9_INT && step->i >= 0);
}

u9_err u9i_patch_range(const u9i_patch *p, uint64_t size, uint64_t *from, uint64_t *to)
{
    u9_value begin = u9i_patch_arg(p, 0), end = u9i_patch_arg(p, 1);
    *from = begin.u;
    *to = end.u;
    if (is_position(&begin) && is_position(&end) && begin.u <= end.u && end.u <= size) return U9_OK;
    return u9i_patch_refuse_args(p, U9_ARG, "D-11", "what is cut does not lie within the value");
}

u9_err u9i_take_step(const u9_view *in, const u9_value *step, bool exactly, uint64_t *k,
                     u9_view *out)
{
    u9_value key;
    u9_err err;
    bool position = is_position(step);
    if (!position && !is_key(step, &key)) return U9_ARG;
    *k = U9_NOWHERE;
    if (!u9i_is_container(in->type)) return U9_ABSENT;
    if (position) {
        err = exactly ? u9i_view_walk_to(in, step->u, out) : u9_view_at(in, step->u, out);
        if (err == U9_OK || (err == U9_END && step->u == in->count)) *k = step->u;
        return err == U9_END ? U9_ABSENT : err;
    }
    if (!exactly) return u9_view_by_key(in, &key, out);
    err = u9i_view_find(in, &key, k, out);
    if (err == U9_ABSENT) *k = in->count;
    return err;
}

/* A container that is to be split: a malformed one must not claim more elements than bytes.
 * [V-4] */
static bool claims_too_much(const u9_view *v)
{
    return !v->changed && v->type == U9_TUPLE && v->count > v->value.size;
}

u9_err u9i_patch_follow(u9i_patch *p)
{
    u9_walk walk = u9_walk_elements(&p->path);
    u9_value step;
    u9_view next;
    p->old = p->diff->root;
    while (u9_walk_next(&walk, &step) == U9_OK) {
        const uint8_t *at = step.start ? step.start : p->path.start;
        if (p->steps == U9_DEPTH_MAX)
            return u9i_patch_refuse(p, U9_LIMIT, at, "D-1", "a path of more than 64 steps");
        if (p->absent) return refuse_absent(p, at);
        p->parent = p->old;
        p->closed += p->parent.changed == NULL;
        uint64_t *k = &p->position[p->steps++];
        u9_err err = u9i_take_step(&p->parent, &step, true, k, &next);
        if (err == U9_ARG)
            return u9i_patch_refuse(p, err, at, "D-2",
                                    "a step that is neither a position nor a key in a tuple");
        if (err == U9_ABSENT && *k == U9_NOWHERE) return refuse_absent(p, at);
        if (err != U9_OK && err != U9_ABSENT) return u9i_patch_refuse_base(p, err);
        if (claims_too_much(&p->parent)) return u9i_patch_refuse_base(p, U9_CORRUPT);
        p->absent = err == U9_ABSENT;
        p->by_key = !is_position(&step);
        if (!p->absent) p->old = next;
    }
    return U9_OK;
}

u9_err u9i_patch_want_old(const u9i_patch *p)
{
    return p->absent ? refuse_absent(p, p->path.start) : U9_OK;
}

u9_err u9i_patch_want_step(const u9i_patch *p)
{
    if (p->steps > 0) return U9_OK;
    return u9i_patch_refuse(p, U9_ARG, p->path.start, "D-3",
                            "a path without a step: that is the whole value");
}

u9_err u9i_patch_want_container(const u9i_patch *p)
{
    u9_err err = u9i_patch_want_old(p);
    if (err) return err;
    if (!u9i_is_container(p->old.type))
        return u9i_patch_refuse(p, U9_ARG, p->path.start, "D-3",
                                "the path leads to no tuple or array");
    if (p->steps == U9_DEPTH_MAX)
        return u9i_patch_refuse(p, U9_LIMIT, p->path.start, "V-8",
                                "containers are nested too deeply");
    return claims_too_much(&p->old) ? u9i_patch_refuse_base(p, U9_CORRUPT) : U9_OK;
}

/* Enters the first index in front of v, whose container or next index `walk` then yields. */
static u9_walk walk_into_index(u9_walk *walk, const u9_value *v)
{
    unsigned width = u9i_index_width(*v->start);
    size_t head = 1 + (size_t)width, l = (size_t)u9i_get_be(v->start + 1, width);
    walk->next = v->start + head + l;
    walk->left += v->encoded - head - l;
    return u9_walk_bytes(v->start + head, l);
}

/* How deep the containers of a well-formed value are nested; 0: it is none. [V-8] */
static unsigned nesting(const u9_value *value)
{
    u9_walk open[U9_DEPTH_MAX + 1];
    unsigned depth = 0, deepest = 0;
    u9_value v;
    open[0] = u9_walk_bytes(value->start, value->encoded);
    for (;;) {
        if (u9_walk_next(&open[depth], &v) != U9_OK) {
            if (depth-- == 0) return deepest;
            continue;
        }
        if (!u9i_is_container(v.type)) continue;
        unsigned here = depth + 1;
        u9i_typecode t = {.leaf = U9_TUPLE};
        if (v.start && u9i_is_index(*v.start)) {
            open[here] = walk_into_index(&open[depth], &v);
        } else {
            open[here] = u9_walk_elements(&v);
            if (v.type == U9_ARRAY && u9i_typecode_read(v.typecode, SIZE_MAX, &t))
                return U9_DEPTH_MAX;
        }
        if (here + t.depth > deepest) deepest = here + t.depth;
        if (t.leaf == U9_TUPLE) depth = here; /* else nothing deeper is in it */
    }
}

u9_err u9i_patch_want_depth(const u9i_patch *p, const u9_value *value, unsigned outer)
{
    unsigned deep = nesting(value);
    if (deep == 0 || outer + deep <= U9_DEPTH_MAX) return U9_OK;
    return u9i_patch_refuse(p, U9_LIMIT, p->args.data, "V-8",
                            "containers would be nested too deeply");
}

u9_err u9i_patch_reserve(const u9i_patch *p, unsigned closed, size_t more)
{
    size_t opening = closed * (U9I_NODE_ROOM + U9I_CARVE_ROOM);
    u9_err err = u9i_memory_reserve(p->diff, opening + U9I_CARVE_ROOM + more + U9I_GRAIN);
    return err ? u9i_patch_refuse(p, err, NULL, "D-6", "no memory for what the patch changes")
               : U9_OK;
}

u9_node *u9i_patch_open(const u9i_patch *p, unsigned steps)
{
    u9_diff *d = p->diff;
    if (!d->top) d->top = u9i_node_open(d, &d->root.value, NULL, NULL);
    u9_node *n = d->top;
    for (unsigned k = 0; k < steps; k++) {
        u9_piece *slot = u9i_piece_carve(d, n, p->position[k]);
        u9_view v;
        u9_err err = u9i_piece_element(n, slot, 0, &v);
        assert(err == U9_OK && u9i_is_container(v.type)); /* u9i_patch_follow() was here */
        n = slot->kind == U9I_NODE ? slot->node : u9i_node_open(d, &v.value, n, slot);
    }
    return n;
}

void u9i_patch_close(const u9i_patch *p, u9_node *n)
{
    u9i_node_refit(n);
    p->diff->root = u9i_node_view(p->diff->top);
}

void u9i_patch_put(const u9i_patch *p, const uint8_t *value, size_t size)
{
    u9_diff *d = p->diff;
    u9_value v;
    if (p->steps == 0) {
        u9_err err = u9_value_decode(value, size, &v);
        assert(err == U9_OK); /* it was proved */
        d->root = u9i_plain_view(&v);
        d->top = NULL;
        return;
    }
    u9_node *n = u9i_patch_open(p, p->steps - 1);
    uint64_t k = p->position[p->steps - 1];
    u9_piece *slot =
        p->absent ? u9i_piece_insert(d, n, u9i_piece_before(d, n, k)) : u9i_piece_carve(d, n, k);
    u9i_piece_put(n, slot, value, size);
    u9i_patch_close(p, n);
}

u9_err u9i_patch_put_copy(const u9i_patch *p, const uint8_t *value, size_t size)
{
    u9_err err = u9i_patch_reserve(p, p->closed, size);
    if (err) return err;
    uint8_t *copy = u9i_memory_take(p->diff, size);
    memcpy(copy, value, size);
    u9i_patch_put(p, copy, size);
    return U9_OK;
}

u9_err u9i_patch_drop(const u9i_patch *p)
{
    u9_err err = u9i_patch_reserve(p, p->closed, 0);
    if (err) return err;
    u9_node *n = u9i_patch_open(p, p->steps - 1);
    u9i_piece_drop(n, u9i_piece_carve(p->diff, n, p->position[p->steps - 1]));
    u9i_patch_close(p, n);
    return U9_OK;
}
