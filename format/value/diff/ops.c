/*
 * format/value/diff/ops.c: the ops that every program knows: their names, and what they do to
 * containers. [D-3] [D-5] [D-11] [D-13] [D-14]
 *
 * Each proves that it can be done, reserves memory, and then does it: see patch.h.
 */
#include "format/value/diff/patch.h"

#include <assert.h>

/* The path's containers without a node, the one that it leads to included. */
static unsigned all_closed(const u9i_patch *p)
{
    return p->closed + (p->old.changed == NULL);
}

static u9_err op_set(u9i_patch *p)
{
    u9_value v = u9i_patch_arg(p, 0);
    u9_err err = u9i_patch_want_old(p);
    if (!err) err = u9i_patch_want_depth(p, &v, p->steps);
    return err ? err : u9i_patch_put_copy(p, v.start, v.encoded);
}

static u9_err op_delete(u9i_patch *p)
{
    u9_err err = u9i_patch_want_step(p);
    if (!err) err = u9i_patch_want_old(p);
    return err ? err : u9i_patch_drop(p);
}

/* What the elements of a proved container take, written one by one: each has a bytecode then. */
static size_t size_of_elements(const u9_value *container)
{
    u9_builder counter;
    u9_value v;
    u9_builder_init(&counter, NULL, 0);
    u9_walk walk = u9_walk_elements(container);
    while (u9_walk_next(&walk, &v) == U9_OK) {
        u9_err err = u9_build_value(&counter, &v);
        assert(err == U9_LIMIT);
    }
    return counter.size;
}

/* Inserts the elements of `from` at position k of the container that `steps` steps lead to. */
static u9_err insert_elements(const u9i_patch *p, unsigned steps, unsigned closed, uint64_t k,
                              const u9_value *from)
{
    u9_diff *d = p->diff;
    u9_walk walk = u9_walk_elements(from);
    u9_builder b;
    u9_value v;
    u9_err err = U9_OK;
    while (!err && u9_walk_next(&walk, &v) == U9_OK) err = u9i_patch_want_depth(p, &v, steps + 1);
    if (err || from->count == 0) return err;
    size_t size = size_of_elements(from);
    err = u9i_patch_reserve(p, closed, u9i_grains(size) + (size_t)from->count * U9I_PIECE_ROOM);
    if (err) return err;
    u9_builder_init(&b, u9i_memory_take(d, size), size);
    u9_node *n = u9i_patch_open(p, steps);
    u9_piece *at = u9i_piece_before(d, n, k);
    walk = u9_walk_elements(from);
    while (u9_walk_next(&walk, &v) == U9_OK) {
        size_t begin = b.size;
        err = u9_build_value(&b, &v);
        assert(err == U9_OK); /* its size was counted */
        at = u9i_piece_insert(d, n, at);
        u9i_piece_put(n, at, b.bytes + begin, b.size - begin);
    }
    u9i_patch_close(p, n);
    return U9_OK;
}

static u9_err op_insert(u9i_patch *p)
{
    u9_err err = u9i_patch_want_step(p);
    if (!err && p->by_key) err = u9i_patch_want_old(p);
    return err ? err
               : insert_elements(p, p->steps - 1, p->closed, p->position[p->steps - 1], &p->args);
}

static u9_err op_append(u9i_patch *p)
{
    u9_err err = u9i_patch_want_container(p);
    return err ? err : insert_elements(p, p->steps, all_closed(p), p->old.count, &p->args);
}

static u9_err op_prepend(u9i_patch *p)
{
    u9_err err = u9i_patch_want_container(p);
    return err ? err : insert_elements(p, p->steps, all_closed(p), 0, &p->args);
}

/* [D-11] Texts and bytes are joined; behind the elements of a container come those of another. */
static u9_err op_concat(u9i_patch *p)
{
    u9_value v = u9i_patch_arg(p, 0);
    if (!u9i_is_container(v.type)) return u9i_op_join(p);
    if (u9i_patch_takes_identity(p)) {
        u9_err err = u9i_patch_want_depth(p, &v, p->steps);
        return err ? err : u9i_patch_put_copy(p, v.start, v.encoded);
    }
    u9_err err = u9i_patch_want_container(p);
    return err ? err : insert_elements(p, p->steps, all_closed(p), p->old.count, &v);
}

/* [D-11] */
static u9_err op_cut(u9i_patch *p)
{
    u9_diff *d = p->diff;
    uint64_t from, to;
    u9_err err = u9i_patch_want_old(p);
    if (err) return err;
    if (!u9i_is_container(p->old.type)) return u9i_op_cut_text(p);
    err = u9i_patch_want_container(p);
    if (!err) err = u9i_patch_range(p, p->old.count, &from, &to);
    if (err || from == to) return err;
    u9_view read; /* what is split must have been */
    if (from > 0) err = u9i_view_walk_to(&p->old, from - 1, &read);
    if (!err) err = u9i_view_walk_to(&p->old, to - 1, &read);
    if (err) return u9i_patch_refuse_base(p, err);
    err = u9i_patch_reserve(p, all_closed(p), 2 * U9I_PIECE_ROOM);
    if (err) return err;
    u9_node *n = u9i_patch_open(p, p->steps);
    u9_piece *at = u9i_piece_before(d, n, from), *end = u9i_piece_before(d, n, to);
    while (at != end) {
        at = at->next;
        if (at->count > 0) u9i_piece_drop(n, at);
    }
    u9i_patch_close(p, n);
    return U9_OK;
}

/* [D-13] */
static u9_err op_cas(u9i_patch *p)
{
    u9_value expected = u9i_patch_arg(p, 0), v = u9i_patch_arg(p, 1);
    u9_err err = u9i_patch_want_old(p);
    if (err) return err;
    if (!u9_view_equals(&p->old, &expected))
        return u9i_patch_refuse_args(p, U9_AGAIN, "D-13", "another value is there than the one expected");
    err = u9i_patch_want_depth(p, &v, p->steps);
    return err ? err : u9i_patch_put_copy(p, v.start, v.encoded);
}

/* True if the first `steps` steps of both paths are the same. */
static bool same_way(const u9i_patch *a, const u9i_patch *b, unsigned steps)
{
    for (unsigned k = 0; k < steps; k++)
        if (a->position[k] != b->position[k]) return false;
    return true;
}

/* [D-14] Where a value is to move. */
static u9_err find_target(const u9i_patch *p, u9i_patch *to)
{
    *to = (u9i_patch){.diff = p->diff, .bytes = p->bytes, .fault = p->fault, .path = u9i_patch_arg(p, 0)};
    if (!u9i_is_container(to->path.type))
        return u9i_patch_refuse_args(p, U9_ARG, "D-14", "the place to move to is no path");
    u9_err err = u9i_patch_follow(to);
    if (!err) err = u9i_patch_want_step(to);
    if (!err && to->by_key) err = u9i_patch_want_old(to);
    if (err) return err;
    if (to->steps > p->steps && same_way(p, to, p->steps))
        return u9i_patch_refuse_args(p, U9_ARG, "D-14", "a value does not move into itself");
    return U9_OK;
}

/* Puts what was built in front of the target, and drops it where it was. All was reserved. */
static void move_built(u9i_patch *p, const u9i_patch *to, const u9_builder *b)
{
    u9_diff *d = p->diff;
    unsigned last = to->steps - 1;
    u9_node *n = u9i_patch_open(to, last);
    u9i_piece_put(n, u9i_piece_insert(d, n, u9i_piece_before(d, n, to->position[last])), b->bytes, b->size);
    u9i_patch_close(to, n);
    /* What stands behind the new element, or in such a one, is one further now. */
    if (p->steps > last && same_way(p, to, last) && p->position[last] >= to->position[last])
        p->position[last]++;
    n = u9i_patch_open(p, p->steps - 1);
    u9i_piece_drop(n, u9i_piece_carve(d, n, p->position[p->steps - 1]));
    u9i_patch_close(p, n);
}

static u9_err op_move(u9i_patch *p)
{
    u9_diff *d = p->diff;
    u9i_patch to;
    u9_builder b;
    u9_value v;
    u9_err err = u9i_patch_want_step(p);
    if (!err) err = u9i_patch_want_old(p);
    if (!err) err = find_target(p, &to);
    if (err) return err;
    u9_builder_init(&b, NULL, 0);
    err = u9_view_build(&p->old, &b);
    if (err != U9_LIMIT) return u9i_patch_refuse_base(p, err); /* no room, and so counted */
    size_t size = b.size;
    err = u9i_patch_reserve(p, p->closed + to.closed,
                            u9i_grains(size) + U9I_CARVE_ROOM + U9I_PIECE_ROOM);
    if (err) return err;
    size_t used = d->used;
    u9_builder_init(&b, u9i_memory_take(d, size), size);
    err = u9_view_build(&p->old, &b);
    if (!err) err = u9_value_check(b.bytes, b.size, NULL, NULL);
    if (!err) err = u9_value_decode(b.bytes, b.size, &v);
    err = err ? u9i_patch_refuse_base(p, err) : u9i_patch_want_depth(p, &v, to.steps);
    if (err) d->used = used;
    else move_built(p, &to, &b);
    return err;
}

/* Reads each element of the container that is merged into as far as looking for keys reads it. */
static u9_err read_keys(const u9_view *container)
{
    u9_view_walk walk = u9_view_elements(container);
    u9_view element, key;
    u9_err err;
    while ((err = u9_view_next(&walk, &element)) == U9_OK) {
        u9_view_walk inner = u9_view_elements(&element);
        err = u9_view_next(&inner, &key);
        if (err != U9_OK && err != U9_END) return err;
    }
    return err == U9_END ? U9_OK : err;
}

/* [D-5] Proves that each of the map's elements has a key; *size: the bytes of all of them. */
static u9_err read_map(const u9i_patch *p, const u9_value *map, size_t *size)
{
    u9_builder counter;
    u9_value element, key;
    if (!u9i_is_container(map->type))
        return u9i_patch_refuse_args(p, U9_ARG, "D-5", "a map is a tuple or array");
    u9_walk walk = u9_walk_elements(map);
    u9_builder_init(&counter, NULL, 0);
    while (u9_walk_next(&walk, &element) == U9_OK) {
        if (!u9i_key_of(&element, &key))
            return u9i_patch_refuse_args(p, U9_ARG, "D-5",
                               "an element of a map is a tuple or array that begins with its key");
        u9_err err = u9_build_value(&counter, &element);
        assert(err == U9_LIMIT);
    }
    *size = counter.size;
    return U9_OK;
}

/* Puts an element in the place of the one that has its key, or behind all others. */
static void merge_one(const u9i_patch *p, u9_node *n, const u9_value *element, const uint8_t *value,
                      size_t size)
{
    u9_view in = u9i_node_view(n), found;
    u9_value key;
    uint64_t k;
    bool keyed = u9i_key_of(element, &key);
    assert(keyed);
    u9_err err = u9i_view_find(&in, &key, &k, &found);
    assert(err == U9_OK || err == U9_ABSENT); /* all was read before */
    u9_piece *slot = err == U9_OK
                         ? u9i_piece_carve(p->diff, n, k)
                         : u9i_piece_insert(p->diff, n, u9i_piece_before(p->diff, n, in.count));
    u9i_piece_put(n, slot, value, size);
}

static u9_err op_merge(u9i_patch *p)
{
    u9_value map = u9i_patch_arg(p, 0), element;
    u9_builder b;
    size_t size = 0;
    u9_err err = u9i_patch_want_container(p);
    if (!err) err = read_map(p, &map, &size);
    if (!err) err = u9i_patch_want_depth(p, &map, p->steps);
    if (err || map.count == 0) return err;
    err = read_keys(&p->old);
    if (err) return u9i_patch_refuse_base(p, err);
    err =
        u9i_patch_reserve(p, all_closed(p), u9i_grains(size) + (size_t)map.count * U9I_CARVE_ROOM);
    if (err) return err;
    u9_builder_init(&b, u9i_memory_take(p->diff, size), size);
    u9_node *n = u9i_patch_open(p, p->steps);
    u9_walk walk = u9_walk_elements(&map);
    while (u9_walk_next(&walk, &element) == U9_OK) {
        size_t at = b.size;
        err = u9_build_value(&b, &element);
        assert(err == U9_OK); /* its size was counted */
        merge_one(p, n, &element, b.bytes + at, b.size - at);
    }
    u9i_patch_close(p, n);
    return U9_OK;
}

static const u9i_patch_op ops[] = {
    {"set", 1, 1, op_set},
    {"cas", 2, 2, op_cas},
    {"delete", 0, 0, op_delete},
    {"insert", 1, UINT64_MAX, op_insert},
    {"append", 1, UINT64_MAX, op_append},
    {"prepend", 1, UINT64_MAX, op_prepend},
    {"concat", 1, 1, op_concat},
    {"cut", 2, 2, op_cut},
    {"move", 1, 1, op_move},
    {"merge", 1, 1, op_merge},
    {"add", 1, 1, u9i_op_add},
    {"+", 1, 1, u9i_op_add},
    {"min", 1, 1, u9i_op_min},
    {"max", 1, 1, u9i_op_max},
    {"and", 1, 1, u9i_op_and},
    {"&", 1, 1, u9i_op_and},
    {"or", 1, 1, u9i_op_or},
    {"|", 1, 1, u9i_op_or},
    {"xor", 1, 1, u9i_op_xor},
    {"^", 1, 1, u9i_op_xor},
};

enum { OPS = sizeof ops / sizeof ops[0] };

const u9i_patch_op *u9i_op_find(const uint8_t symbol[U9I_SYMBOL_SIZE])
{
    for (size_t i = 0; i < OPS; i++)
        if (memcmp(ops[i].name, symbol, U9I_SYMBOL_SIZE) == 0) return &ops[i];
    return NULL;
}
