/*
 * format/value/diff/view.c: reads a value through the patches over it, and writes what it reads as.
 * [D-2] [D-8] [D-9]
 *
 * What no patch went through is a plain u9_value, and all that value.h does with it is done there.
 * So only changed containers are walked here, piece by piece. No recursion: a stack of what is
 * open, at most as deep as paths are long.
 */
#include "format/value/diff/overlay.h"

#include <string.h>
#include <u9/value_index.h>

#include "format/value/build.h"
#include "format/value/decode.h"

u9_view_walk u9_view_elements(const u9_view *container)
{
    const u9_node *n = container->changed;
    if (n) return (u9_view_walk){.changed = n, .next = &n->head};
    return (u9_view_walk){.run = u9_walk_elements(&container->value), .left = container->count};
}

u9_err u9_view_next(u9_view_walk *walk, u9_view *out)
{
    u9_value v;
    if (walk->left == 0) {
        const u9_piece *p = walk->next;
        while (p && p->count == 0) p = p->next;
        walk->next = p ? p->next : NULL;
        if (!p) return U9_END;
        if (p->kind != U9I_RUN) return u9i_piece_element(walk->changed, p, 0, out);
        walk->run = u9i_piece_walk(walk->changed, p);
        walk->left = p->count;
    }
    u9_err err = u9_walk_next(&walk->run, &v);
    if (err) return err == U9_END ? U9_CORRUPT : err; /* [V-4] fewer than were claimed */
    walk->left--;
    *out = u9i_plain_view(&v);
    return U9_OK;
}

static u9_err changed_at(const u9_node *n, uint64_t k, u9_view *out)
{
    uint64_t place;
    if (k >= n->top->total) return U9_END;
    const u9_piece *p = u9i_piece_find(n, k, &place);
    return u9i_piece_element(n, p, place, out);
}

u9_err u9_view_at(const u9_view *container, uint64_t k, u9_view *out)
{
    u9_value v;
    if (container->changed) return changed_at(container->changed, k, out);
    u9_err err = u9_value_at(&container->value, k, &v);
    if (err == U9_OK) *out = u9i_plain_view(&v);
    return err;
}

u9_err u9i_view_walk_to(const u9_view *container, uint64_t k, u9_view *out)
{
    if (container->changed) return changed_at(container->changed, k, out);
    u9_value bare = u9_value_bare(&container->value), v;
    u9_err err = u9_value_at(&bare, k, &v);
    if (err == U9_END && k < bare.count) return U9_CORRUPT; /* [V-4] */
    if (err == U9_OK) *out = u9i_plain_view(&v);
    return err;
}

/* U9_OK if the element's key equals `key`, U9_END if not. */
static u9_err match_key(const u9_view *element, const u9_value *key)
{
    u9_view first;
    u9_view_walk walk = u9_view_elements(element);
    u9_err err = u9_view_next(&walk, &first);
    return err != U9_OK || u9_view_equals(&first, key) ? err : U9_END;
}

/*
 * The same for the elements of the run that the walk is in, up to the first that matches: without
 * views, which take longer to fill than an element to look at. U9_END: none did, and *k is behind
 * them.
 */
static u9_err match_run(u9_view_walk *walk, const u9_value *key, uint64_t *k, u9_value *element)
{
    for (; walk->left > 0; walk->left--, ++*k) {
        u9_value first;
        u9_err err = u9_walk_next(&walk->run, element);
        if (err) return err == U9_END ? U9_CORRUPT : err; /* [V-4] */
        if (!u9i_is_container(element->type) || element->count == 0) continue;
        u9_walk inner = u9_walk_elements(element);
        err = u9_walk_next(&inner, &first);
        if (err) return err == U9_END ? U9_CORRUPT : err;
        if (u9_value_compare(&first, key) == 0) return U9_OK;
    }
    return U9_END;
}

u9_err u9i_view_find(const u9_view *container, const u9_value *key, uint64_t *k, u9_view *out)
{
    u9_view element;
    u9_value v;
    u9_view_walk walk = u9_view_elements(container);
    uint64_t at = 0;
    if (!u9i_is_container(container->type)) return U9_ARG;
    for (;; at++) {
        u9_err err = match_run(&walk, key, &at, &v);
        if (err == U9_OK) element = u9i_plain_view(&v);
        if (err == U9_END) {
            err = u9_view_next(&walk, &element);
            if (err == U9_END) return U9_ABSENT;
            if (err == U9_OK) err = match_key(&element, key);
            if (err == U9_END) continue;
        }
        if (err) return err;
        *k = at;
        *out = element;
        return U9_OK;
    }
}

u9_err u9_view_by_key(const u9_view *container, const u9_value *key, u9_view *out)
{
    u9_value v;
    uint64_t k;
    if (container->changed || !u9i_is_index(container->value.code))
        return u9i_view_find(container, key, &k, out);
    u9_err err = u9_value_by_key(&container->value, key, &v);
    if (err == U9_OK) *out = u9i_plain_view(&v);
    return err;
}

int u9_view_equals(const u9_view *view, const u9_value *value)
{
    struct {
        u9_view_walk mine;
        u9_walk theirs;
    } open[U9_DEPTH_MAX];
    unsigned depth = 0;
    u9_view a = *view;
    u9_value b = *value;
    for (;;) {
        if (!a.changed) {
            if (u9_value_compare(&a.value, &b) != 0) return 0;
        } else if (!u9i_is_container(b.type) || depth == U9_DEPTH_MAX) {
            return 0;
        } else {
            open[depth].mine = u9_view_elements(&a);
            open[depth++].theirs = u9_walk_elements(&b);
        }
        for (;;) {
            if (depth == 0) return 1;
            u9_err here = u9_view_next(&open[depth - 1].mine, &a);
            u9_err there = u9_walk_next(&open[depth - 1].theirs, &b);
            if (here == U9_OK && there == U9_OK) break;
            if (here != U9_END || there != U9_END) return 0;
            depth--;
        }
    }
}

/* The elements of a run: as bytes where they may stand as they do, else one by one. */
static u9_err build_run(u9_builder *b, const u9_node *n, const u9_piece *p)
{
    u9_walk walk = u9i_piece_walk(n, p);
    u9_value v;
    u9_err err, full = U9_OK;
    if (n->source.type == U9_TUPLE || u9i_in_array(b)) {
        err = u9i_build_take(b, 0, p->size);
        if (err && err != U9_LIMIT) return err;
        b->count += p->count - 1;
        if (!err && p->size > 0) memcpy(b->bytes + b->size - p->size, p->bytes, p->size);
        return err;
    }
    while ((err = u9_walk_next(&walk, &v)) == U9_OK) {
        err = u9_build_value(b, &v);
        if (err && err != U9_LIMIT) return err;
        if (err) full = err;
    }
    return err == U9_END ? full : err;
}

static u9_err build_value(u9_builder *b, const u9_piece *p)
{
    u9_value v;
    u9_err err = u9_value_decode(p->bytes, p->size, &v);
    return err ? err : u9_build_value(b, &v);
}

/* Opens a changed container. U9_LIMIT: it is open, and only counted. */
static u9_err open_node(u9_builder *b, const u9_node *n, bool *opened)
{
    unsigned depth = b->depth;
    u9_err err = u9i_node_view(n).type == U9_TUPLE
                     ? u9_build_tuple_open(b)
                     : u9_build_array_open(b, n->source.typecode, n->element.length);
    *opened = b->depth > depth;
    return err;
}

static u9_err close_node(u9_builder *b, const u9_node *n)
{
    return u9i_node_view(n).type == U9_TUPLE ? u9_build_tuple_close(b) : u9_build_array_close(b);
}

/* A changed container that is being written. */
typedef struct node_level {
    const u9_node *node;
    const u9_piece *next;
} node_level;

/* Writes its next piece, or closes it and goes back to the one around it, or fills `enter` with one
 * in it. */
static u9_err build_next(u9_builder *b, node_level *open, unsigned *depth, const u9_node **enter)
{
    node_level *now = &open[*depth - 1];
    const u9_piece *p = now->next;
    if (!p) {
        --*depth;
        return close_node(b, now->node);
    }
    now->next = p->next;
    if (p->count == 0) return U9_OK;
    if (p->kind == U9I_RUN) return build_run(b, now->node, p);
    if (p->kind == U9I_VALUE) return build_value(b, p);
    *enter = p->node;
    return U9_OK;
}

u9_err u9_view_build(const u9_view *view, u9_builder *b)
{
    node_level open[U9_DEPTH_MAX];
    const u9_node *enter = view->changed;
    unsigned depth = 0;
    u9_err full = U9_OK; /* U9_LIMIT once there was no room: the builder goes on counting */
    if (!enter) return u9_build_value(b, &view->value);
    do {
        u9_err err = U9_OK;
        if (enter) {
            bool opened = false;
            if (depth < U9_DEPTH_MAX) err = open_node(b, enter, &opened);
            if (!opened) return err ? err : U9_LIMIT; /* [V-8] */
            open[depth++] = (node_level){.node = enter, .next = &enter->head};
            enter = NULL;
        } else {
            err = build_next(b, open, &depth, &enter);
        }
        if (err && err != U9_LIMIT) return err;
        if (err) full = err;
    } while (depth > 0);
    return full;
}
