/*
 * format/value/diff/ops.c: what the ops do that every program knows. [D-3] [D-4] [D-5]
 *
 * Each proves that it can be done, reserves memory, and then does it: see patch.h.
 */
#include "format/value/diff/patch.h"

#include <assert.h>

#include "format/base/bytes.h"

/* The first argument; there is one. The whole patch was proved, so nothing fails here. */
static u9_value first_arg(const u9i_patch *p)
{
    u9_value v;
    u9_err err = u9_value_decode(p->args.data, (size_t)p->args.size, &v);
    assert(err == U9_OK);
    return v;
}

static u9_err refuse_args(const u9i_patch *p, u9_err err, const char *rule, const char *text)
{
    return u9i_patch_refuse(p, err, p->args.data, rule, text);
}

/* The path's containers without a node, the one that it leads to included. */
static unsigned all_closed(const u9i_patch *p)
{
    return p->closed + (p->old.changed == NULL);
}

static u9_err op_set(u9i_patch *p)
{
    u9_value v = first_arg(p);
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

/* Inserts all arguments at position k of the container that `steps` steps lead to. */
static u9_err insert_args(const u9i_patch *p, unsigned steps, unsigned closed, uint64_t k)
{
    u9_diff *d = p->diff;
    u9_walk walk = u9_walk_elements(&p->args);
    u9_value v;
    u9_err err = U9_OK;
    while (!err && u9_walk_next(&walk, &v) == U9_OK) err = u9i_patch_want_depth(p, &v, steps + 1);
    size_t size = (size_t)p->args.size;
    if (!err)
        err =
            u9i_patch_reserve(p, closed, u9i_grains(size) + (size_t)p->args.count * U9I_PIECE_ROOM);
    if (err) return err;
    uint8_t *copy = u9i_memory_take(d, size);
    memcpy(copy, p->args.data, size);
    u9_node *n = u9i_patch_open(p, steps);
    u9_piece *at = u9i_piece_before(d, n, k);
    walk = u9_walk_bytes(copy, size);
    while (u9_walk_next(&walk, &v) == U9_OK) {
        at = u9i_piece_insert(d, n, at);
        u9i_piece_put(n, at, v.start, v.encoded);
    }
    u9i_patch_close(p, n);
    return U9_OK;
}

static u9_err op_insert(u9i_patch *p)
{
    u9_err err = u9i_patch_want_step(p);
    if (!err && p->by_key) err = u9i_patch_want_old(p);
    return err ? err : insert_args(p, p->steps - 1, p->closed, p->position[p->steps - 1]);
}

static u9_err op_append(u9i_patch *p)
{
    u9_err err = u9i_patch_want_container(p);
    return err ? err : insert_args(p, p->steps, all_closed(p), p->old.count);
}

/* An integer: as large as both kinds of them together. */
typedef struct integer {
    bool below_0;
    uint64_t size; /* without the sign */
} integer;

static integer integer_of(const u9_value *v)
{
    bool below_0 = v->type == U9_INT && v->i < 0;
    return (integer){.below_0 = below_0, .size = below_0 ? -v->u : v->u};
}

/* [D-4] False if the sum is outside -2^63 .. 2^64 - 1. */
static bool add_integers(integer a, integer b, integer *sum)
{
    if (a.below_0 == b.below_0) {
        if (a.size > UINT64_MAX - b.size) return false;
        *sum = (integer){.below_0 = a.below_0, .size = a.size + b.size};
    } else if (a.size > b.size) {
        *sum = (integer){.below_0 = a.below_0, .size = a.size - b.size};
    } else {
        *sum = (integer){.below_0 = b.below_0, .size = b.size - a.size};
    }
    return !sum->below_0 || sum->size <= UINT64_C(1) << 63;
}

static u9_err build_integer(u9_builder *b, integer v)
{
    int64_t below_0; /* memcpy: converting a large unsigned value is not portable */
    uint64_t bits = -v.size;
    memcpy(&below_0, &bits, sizeof below_0);
    return v.below_0 ? u9_build_int(b, below_0) : u9_build_uint(b, v.size);
}

/* [D-4] All NaNs are one. */
static u9_err build_float(u9_builder *b, double sum, bool narrow)
{
    float small = (float)sum;
    if (sum != sum) {
        uint32_t nan32 = UINT32_C(0x7fc00000);
        uint64_t nan64 = UINT64_C(0x7ff8000000000000);
        memcpy(&small, &nan32, sizeof small);
        memcpy(&sum, &nan64, sizeof sum);
    }
    return narrow ? u9_build_float32(b, small) : u9_build_float64(b, sum);
}

static bool is_integer(u9_type type)
{
    return type == U9_UINT || type == U9_INT;
}

static bool is_float(u9_type type)
{
    return type == U9_FLOAT32 || type == U9_FLOAT64;
}

static u9_err op_add(u9i_patch *p)
{
    u9_value by = first_arg(p), old;
    u9_builder b;
    uint8_t room[9];
    integer sum;
    u9_err err = u9i_patch_want_old(p);
    if (err) return err;
    old = p->old.value;
    u9_builder_init(&b, room, sizeof room);
    if (is_integer(p->old.type) && is_integer(by.type)) {
        if (!add_integers(integer_of(&old), integer_of(&by), &sum))
            return refuse_args(p, U9_LIMIT, "D-4", "the sum is outside -2^63 .. 2^64 - 1");
        err = build_integer(&b, sum);
    } else if (is_float(p->old.type) && is_float(by.type)) {
        err = build_float(&b, old.f + by.f, old.type == U9_FLOAT32);
    } else {
        return refuse_args(p, U9_ARG, "D-4", "only two integers or two floats add up");
    }
    assert(err == U9_OK);
    return u9i_patch_put_copy(p, room, b.size);
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
        return refuse_args(p, U9_ARG, "D-5", "a map is a tuple or array");
    u9_walk walk = u9_walk_elements(map);
    u9_builder_init(&counter, NULL, 0);
    while (u9_walk_next(&walk, &element) == U9_OK) {
        if (!u9i_key_of(&element, &key))
            return refuse_args(p, U9_ARG, "D-5",
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
    u9_value map = first_arg(p), element;
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
    {"delete", 0, 0, op_delete},
    {"insert", 1, UINT64_MAX, op_insert},
    {"append", 1, UINT64_MAX, op_append},
    {"add", 1, 1, op_add},
    {"merge", 1, 1, op_merge},
};

enum { OPS = sizeof ops / sizeof ops[0] };

const u9i_patch_op *u9i_op_find(const uint8_t symbol[U9I_SYMBOL_SIZE])
{
    for (size_t i = 0; i < OPS; i++)
        if (memcmp(ops[i].name, symbol, U9I_SYMBOL_SIZE) == 0) return &ops[i];
    return NULL;
}
