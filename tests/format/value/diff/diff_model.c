/*
 * tests/format/value/diff/diff_model.c: see diff_model.h. Recursive and wasteful on purpose: it is to be read.
 */
#include "tests/format/value/diff/diff_model.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };

static void must(bool holds)
{
    if (!holds) abort();
}

static bool is_container(const u9_value *v)
{
    return v->type == U9_TUPLE || v->type == U9_ARRAY;
}

static void add_kid(item *it, uint64_t k, item *kid)
{
    it->kids = realloc(it->kids, (it->count + 1) * sizeof *it->kids);
    must(it->kids != NULL);
    memmove(it->kids + k + 1, it->kids + k, (it->count - k) * sizeof *it->kids);
    it->kids[k] = kid;
    it->count++;
}

item *item_of(const u9_value *v)
{
    item *it = calloc(1, sizeof *it);
    must(it != NULL);
    it->container = is_container(v);
    if (it->container) {
        u9_walk walk = u9_walk_elements(v);
        u9_value element;
        while (u9_walk_next(&walk, &element) == U9_OK) add_kid(it, it->count, item_of(&element));
        must(it->count == v->count);
        return it;
    }
    u9_builder b;
    u9_builder_init(&b, NULL, 0);
    must(u9_build_value(&b, v) == U9_LIMIT);
    it->size = b.size;
    it->bytes = malloc(b.size);
    must(it->bytes != NULL);
    u9_builder_init(&b, it->bytes, it->size);
    must(u9_build_value(&b, v) == U9_OK);
    return it;
}

void item_free(item *it)
{
    for (uint64_t k = 0; k < it->count; k++) item_free(it->kids[k]);
    free(it->kids);
    free(it->bytes);
    free(it);
}

void item_build(const item *it, u9_builder *b)
{
    if (!it->container) {
        must(u9_build_raw(b, it->bytes, it->size) == U9_OK);
        return;
    }
    must(u9_build_tuple_open(b) == U9_OK);
    for (uint64_t k = 0; k < it->count; k++) item_build(it->kids[k], b);
    must(u9_build_tuple_close(b) == U9_OK);
}

static bool equals(const item *it, const u9_value *v)
{
    static uint8_t room[ROOM];
    u9_builder b;
    u9_value mine;
    u9_builder_init(&b, room, sizeof room);
    item_build(it, &b);
    must(u9_value_decode(room, b.size, &mine) == U9_OK);
    return u9_value_compare(&mine, v) == 0;
}

static bool has_key(const item *it, const u9_value *key)
{
    return it->container && it->count > 0 && equals(it->kids[0], key);
}

static unsigned depth_of(const item *it)
{
    unsigned deepest = 0;
    for (uint64_t k = 0; k < it->count; k++) {
        unsigned d = depth_of(it->kids[k]);
        if (d > deepest) deepest = d;
    }
    return it->container ? deepest + 1 : 0;
}

/* Where a step leads in `it`: *k < it->count, or the count where an element could be appended. */
static u9_err take_step(const item *it, const u9_value *step, uint64_t *k, bool *key)
{
    u9_value sought;
    *key = is_container(step) && step->count == 1;
    bool position = step->type == U9_UINT || (step->type == U9_INT && step->i >= 0);
    if (!*key && !position) return U9_ARG;
    if (!it->container) return U9_ABSENT;
    if (position) {
        *k = step->u;
        return *k <= it->count ? U9_OK : U9_ABSENT;
    }
    must(u9_value_at(step, 0, &sought) == U9_OK);
    for (*k = 0; *k < it->count && !has_key(it->kids[*k], &sought);) ++*k;
    return U9_OK;
}

typedef struct place {
    item **slot;  /* what the path leads to; NULL: it would be appended */
    item *parent; /* NULL: the whole */
    uint64_t k;
    bool key;
    unsigned steps;
} place;

static u9_err follow(item **whole, const u9_value *path, place *out)
{
    *out = (place){.slot = whole};
    u9_walk walk = u9_walk_elements(path);
    u9_value step;
    for (; u9_walk_next(&walk, &step) == U9_OK; out->steps++) {
        if (out->steps == U9_DEPTH_MAX) return U9_LIMIT;
        if (!out->slot) return U9_ABSENT;
        out->parent = *out->slot;
        u9_err err = take_step(out->parent, &step, &out->k, &out->key);
        if (err) return err;
        out->slot = out->k < out->parent->count ? &out->parent->kids[out->k] : NULL;
    }
    return U9_OK;
}

static bool integer(const u9_value *v)
{
    return v->type == U9_UINT || v->type == U9_INT;
}

static bool floating(const u9_value *v)
{
    return v->type == U9_FLOAT32 || v->type == U9_FLOAT64;
}

static u9_err add(place *at, const u9_value *by)
{
    uint8_t room[16];
    u9_builder b;
    u9_value old;
    if ((*at->slot)->container) return U9_ARG;
    must(u9_value_decode((*at->slot)->bytes, (*at->slot)->size, &old) == U9_OK);
    u9_builder_init(&b, room, sizeof room);
    if (integer(&old) && integer(by)) {
        __int128 sum = (old.type == U9_INT ? (__int128)old.i : (__int128)old.u) +
                       (by->type == U9_INT ? (__int128)by->i : (__int128)by->u);
        if (sum < INT64_MIN || sum > UINT64_MAX) return U9_LIMIT;
        u9_err err = sum < 0 ? u9_build_int(&b, (int64_t)sum) : u9_build_uint(&b, (uint64_t)sum);
        must(err == U9_OK);
    } else if (floating(&old) && floating(by)) {
        double sum = old.f + by->f;
        u9_err err =
            old.type == U9_FLOAT32 ? u9_build_float32(&b, (float)sum) : u9_build_float64(&b, sum);
        must(err == U9_OK);
    } else {
        return U9_ARG;
    }
    u9_value v;
    must(u9_value_decode(room, b.size, &v) == U9_OK);
    item_free(*at->slot);
    *at->slot = item_of(&v);
    return U9_OK;
}

/* What a value of the model is as it stands in a patch: a tuple for each container. */
static u9_value encoded(const item *it, uint8_t room[ROOM])
{
    u9_builder b;
    u9_value v;
    u9_builder_init(&b, room, ROOM);
    item_build(it, &b);
    must(u9_value_decode(room, b.size, &v) == U9_OK);
    return v;
}

static void replace(place *at, const u9_value *v)
{
    item *it = item_of(v);
    item_free(*at->slot);
    *at->slot = it;
}

/* The domains that have a least value and a greatest. */
static int domain(const u9_value *v)
{
    if (integer(v)) return 1;
    if (floating(v)) return 2;
    if (v->type >= U9_ALPHA && v->type <= U9_TAU) return 3;
    return 10 + (int)v->type;
}

static u9_err keep_one(place *at, bool greater, const u9_value *v)
{
    uint8_t room[ROOM];
    u9_value old = encoded(*at->slot, room);
    if (is_container(v) || is_container(&old) || domain(v) != domain(&old)) return U9_ARG;
    int c = u9_value_compare(v, &old);
    if (greater ? c > 0 : c < 0) replace(at, v);
    return U9_OK;
}

static __int128 number(const u9_value *v)
{
    return v->type == U9_INT ? (__int128)v->i : (__int128)v->u;
}

static u9_err combine(place *at, char op, const u9_value *v)
{
    static uint8_t room[ROOM], out[ROOM], value[ROOM];
    u9_value old = encoded(*at->slot, room);
    u9_builder b;
    u9_builder_init(&b, value, sizeof value);
    if (integer(&old) && integer(v)) {
        __int128 x = number(&old), y = number(v);
        __int128 z = op == 'a' ? x & y : op == 'o' ? x | y : x ^ y;
        if (z < INT64_MIN || z > UINT64_MAX) return U9_LIMIT;
        must((z < 0 ? u9_build_int(&b, (int64_t)z) : u9_build_uint(&b, (uint64_t)z)) == U9_OK);
    } else if (old.type == U9_BYTES && v->type == U9_BYTES && old.size == v->size) {
        for (size_t i = 0; i < v->size; i++) {
            uint8_t x = old.data[i], y = v->data[i];
            out[i] = (uint8_t)(op == 'a' ? x & y : op == 'o' ? x | y : x ^ y);
        }
        must(u9_build_bytes(&b, out, (size_t)v->size) == U9_OK);
    } else {
        return U9_ARG;
    }
    u9_value made;
    must(u9_value_decode(value, b.size, &made) == U9_OK);
    replace(at, &made);
    return U9_OK;
}

static bool blob(const u9_value *v)
{
    return v->type == U9_UTF8 || v->type == U9_BYTES;
}

static void replace_blob(place *at, u9_type type, const uint8_t *bytes, size_t size)
{
    static uint8_t value[ROOM];
    u9_builder b;
    u9_value made;
    u9_builder_init(&b, value, sizeof value);
    must((type == U9_UTF8 ? u9_build_utf8(&b, bytes, size) : u9_build_bytes(&b, bytes, size)) == U9_OK);
    must(u9_value_decode(value, b.size, &made) == U9_OK);
    replace(at, &made);
}

static u9_err concat(place *at, const u9_value *v)
{
    static uint8_t room[ROOM], out[ROOM];
    item *it = *at->slot;
    if (is_container(v) && it->container) {
        u9_walk walk = u9_walk_elements(v);
        u9_value element;
        while (u9_walk_next(&walk, &element) == U9_OK) add_kid(it, it->count, item_of(&element));
        return U9_OK;
    }
    if (it->container) return U9_ARG;
    u9_value old = encoded(it, room);
    if (!blob(v) || old.type != v->type) return U9_ARG;
    if (old.size > 0) memcpy(out, old.data, (size_t)old.size);
    if (v->size > 0) memcpy(out + old.size, v->data, (size_t)v->size);
    replace_blob(at, v->type, out, (size_t)(old.size + v->size));
    return U9_OK;
}

static bool in_character(const u9_value *v, uint64_t k)
{
    return v->type == U9_UTF8 && k < v->size && v->data[k] >= 0x80 && v->data[k] < 0xc0;
}

static u9_err cut(place *at, const u9_value *a, const u9_value *b)
{
    static uint8_t room[ROOM], out[ROOM];
    item *it = *at->slot;
    u9_value old = encoded(it, room);
    uint64_t size = it->container ? it->count : old.size, n = 0;
    if (!it->container && !blob(&old)) return U9_ARG;
    if (!integer(a) || !integer(b) || number(a) < 0 || number(a) > number(b) ||
        number(b) > (__int128)size)
        return U9_ARG;
    if (a->u == b->u) return U9_OK;
    if (!it->container) {
        if (in_character(&old, a->u) || in_character(&old, b->u)) return U9_ARG;
        for (uint64_t k = 0; k < size; k++)
            if (k < a->u || k >= b->u) out[n++] = old.data[k];
        replace_blob(at, old.type, out, (size_t)n);
        return U9_OK;
    }
    for (uint64_t k = 0; k < size; k++) {
        if (k < a->u || k >= b->u) it->kids[n++] = it->kids[k];
        else item_free(it->kids[k]);
    }
    it->count = n;
    return U9_OK;
}

static bool contains(const item *it, const item *sought)
{
    bool found = it == sought;
    for (uint64_t k = 0; k < it->count && !found; k++) found = contains(it->kids[k], sought);
    return found;
}

static u9_err move(item **whole, const place *at, const u9_value *path)
{
    place to;
    if (!is_container(path)) return U9_ARG;
    item *moved = *at->slot, *parent = at->parent;
    u9_err err = follow(whole, path, &to);
    if (err) return err;
    if (to.steps == 0) return U9_ARG;
    if (!to.slot && to.key) return U9_ABSENT;
    if (contains(moved, to.parent)) return U9_ARG;
    uint64_t from = at->k + (to.parent == parent && to.k <= at->k);
    add_kid(to.parent, to.k, moved);
    memmove(parent->kids + from, parent->kids + from + 1, (parent->count - from - 1) * sizeof moved);
    parent->count--;
    return U9_OK;
}

static u9_err merge(item *into, const u9_value *map)
{
    u9_walk walk = u9_walk_elements(map);
    u9_value element, key;
    if (!into->container || !is_container(map)) return U9_ARG;
    while (u9_walk_next(&walk, &element) == U9_OK)
        if (!is_container(&element) || element.count == 0) return U9_ARG;
    walk = u9_walk_elements(map);
    while (u9_walk_next(&walk, &element) == U9_OK) {
        uint64_t k = 0;
        must(u9_value_at(&element, 0, &key) == U9_OK);
        while (k < into->count && !has_key(into->kids[k], &key)) k++;
        if (k == into->count) {
            add_kid(into, k, item_of(&element));
        } else {
            item_free(into->kids[k]);
            into->kids[k] = item_of(&element);
        }
    }
    return U9_OK;
}

static u9_err put_all(item *into, uint64_t k, const u9_value *patch, u9_walk args)
{
    u9_value v;
    if (patch->count < 3 || !into->container) return U9_ARG;
    while (u9_walk_next(&args, &v) == U9_OK) add_kid(into, k++, item_of(&v));
    return U9_OK;
}

static bool is(const u9_value *op, const char *name)
{
    return strncmp((const char *)op->data, name, 8) == 0;
}

static u9_err apply(item **whole, const u9_value *patch)
{
    u9_value op, path, arg;
    place at;
    u9_walk walk = u9_walk_elements(patch);
    if (patch->type != U9_TUPLE || u9_walk_next(&walk, &op) || op.type != U9_SYMBOL ||
        u9_walk_next(&walk, &path) || !is_container(&path))
        return U9_ARG;
    char law = is(&op, "and") || is(&op, "&")   ? 'a'
               : is(&op, "or") || is(&op, "|")  ? 'o'
               : is(&op, "xor") || is(&op, "^") ? 'x'
                                                : 0;
    bool sum = is(&op, "add") || is(&op, "+"), least = is(&op, "min") || is(&op, "max");
    bool identity = sum || least || law || is(&op, "concat");
    bool one = identity || is(&op, "set") || is(&op, "merge") || is(&op, "move"),
         two = is(&op, "cut") || is(&op, "cas"), none = is(&op, "delete"),
         more = is(&op, "insert") || is(&op, "append") || is(&op, "prepend");
    if ((!one || patch->count != 3) && (!none || patch->count != 2) && (!more || patch->count < 3) &&
        (!two || patch->count != 4))
        return U9_ARG;
    u9_err err = follow(whole, &path, &at);
    if (err) return err;
    bool insert = is(&op, "insert");
    if ((none || insert || is(&op, "move")) && at.steps == 0) return U9_ARG;
    if (!at.slot && identity && !at.key) {
        must(u9_walk_next(&walk, &arg) == U9_OK);
        bool fits = sum     ? integer(&arg) || floating(&arg)
                    : least ? !is_container(&arg)
                    : law   ? integer(&arg) || arg.type == U9_BYTES
                            : is_container(&arg) || blob(&arg);
        if (fits) add_kid(at.parent, at.k, item_of(&arg));
        return fits ? U9_OK : U9_ARG;
    }
    if (!at.slot && (!insert || at.key)) return U9_ABSENT;
    if (insert) return put_all(at.parent, at.k, patch, walk);
    if (is(&op, "append")) return put_all(*at.slot, (*at.slot)->count, patch, walk);
    if (is(&op, "prepend")) return put_all(*at.slot, 0, patch, walk);
    if (none) {
        item_free(*at.slot);
        memmove(at.slot, at.slot + 1, (--at.parent->count - at.k) * sizeof *at.slot);
        return U9_OK;
    }
    must(u9_walk_next(&walk, &arg) == U9_OK);
    if (sum) return add(&at, &arg);
    if (least) return keep_one(&at, is(&op, "max"), &arg);
    if (law) return combine(&at, law, &arg);
    if (is(&op, "concat")) return concat(&at, &arg);
    if (is(&op, "move")) return move(whole, &at, &arg);
    if (two) {
        u9_value second;
        must(u9_walk_next(&walk, &second) == U9_OK);
        if (is(&op, "cut")) return cut(&at, &arg, &second);
        if (!equals(*at.slot, &arg)) return U9_AGAIN;
        arg = second;
    }
    if (is(&op, "merge")) return merge(*at.slot, &arg);
    item_free(*at.slot);
    *at.slot = item_of(&arg);
    return U9_OK;
}

static item *copy_of(const item *it)
{
    item *copy = calloc(1, sizeof *copy);
    must(copy != NULL);
    copy->container = it->container;
    copy->size = it->size;
    if (it->bytes) {
        copy->bytes = malloc(it->size);
        must(copy->bytes != NULL);
        memcpy(copy->bytes, it->bytes, it->size);
    }
    for (uint64_t k = 0; k < it->count; k++) add_kid(copy, k, copy_of(it->kids[k]));
    return copy;
}

u9_err item_apply(item **it, const u9_value *patch)
{
    item *next = copy_of(*it);
    u9_err err = apply(&next, patch);
    if (!err && depth_of(next) > U9_DEPTH_MAX) err = U9_LIMIT;
    if (!err) {
        item *old = *it;
        *it = next;
        next = old;
    }
    item_free(next);
    return err;
}
