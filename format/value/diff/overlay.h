/*
 * format/value/diff/overlay.h: the containers that a diff's patches went through, and the memory they lie in.
 *
 * Room: format/value/diff
 * Sees: include format/base format/value
 *
 * The room owns changes to a value that stays as it is: patches, and what reads with them in place.
 *
 * A node stands for one such container. Its elements are pieces in a row: runs of elements as they
 * were, borrowed where they lie, and single elements, replaced or with a node of their own. The
 * pieces of a node are at once a list, for walks, and a balanced tree by position, for everything
 * else, so that a position is found in O(log pieces). A piece without elements stays where it is
 * until all is dropped.
 *
 * Pointers are safe: the chunks of a diff's memory do not move.
 */
#ifndef U9I_DIFF_OVERLAY_H
#define U9I_DIFF_OVERLAY_H

#include <u9/value_diff.h>

#include "format/value/typecode.h"

typedef enum u9i_piece_kind {
    U9I_RUN,   /* elements of the container as it was */
    U9I_VALUE, /* one encoded value */
    U9I_NODE   /* one changed container */
} u9i_piece_kind;

typedef struct u9_piece {
    struct u9_piece *next;          /* in the row */
    struct u9_piece *up, *child[2]; /* in the tree: child[0] and all below are in front */
    uint64_t count, total;          /* elements; of all below as well */
    const uint8_t *bytes;           /* RUN: as they lie in the container; VALUE */
    size_t size;
    struct u9_node *node; /* NODE */
    uint8_t kind;         /* u9i_piece_kind */
    uint8_t height;
    bool misfit; /* the node's array cannot hold it [D-9] */
} u9_piece;

typedef struct u9_node {
    u9_value source;      /* what it was before: runs lie in its contents */
    u9i_typecode element; /* of an array */
    u9_piece head;        /* the first piece, always empty */
    u9_piece *top;        /* the root of the tree */
    struct u9_node *up;   /* the container that it is an element of, there in `slot` */
    u9_piece *slot;
    uint64_t misfits; /* pieces that have `misfit` */
} u9_node;

/* Makes sure that `size` bytes, each piece or node rounded up to U9I_GRAIN, can be taken. On
 * failure the diff is as before. */
U9_MUST_CHECK u9_err u9i_memory_reserve(u9_diff *d, size_t size);
/* Takes reserved memory. */
void *u9i_memory_take(u9_diff *d, size_t size);
/* What would be taken next, and how much there is of it in one piece. */
uint8_t *u9i_memory_rest(const u9_diff *d, size_t *room);

enum { U9I_GRAIN = 16 };

static inline size_t u9i_grains(size_t size)
{
    return (size + U9I_GRAIN - 1) & ~(size_t)(U9I_GRAIN - 1);
}

/* Bytes that a new piece takes, opening a container, and isolating one element of it. */
#define U9I_PIECE_ROOM u9i_grains(sizeof(u9_piece))
#define U9I_NODE_ROOM (u9i_grains(sizeof(u9_node)) + U9I_PIECE_ROOM)
#define U9I_CARVE_ROOM (2 * U9I_PIECE_ROOM)

/*
 * Makes a node of a tuple or array that is `slot` of `up`, or the whole (NULL, NULL). Its room, and
 * that of whatever the functions below say, has been reserved. `slot` becomes a U9I_NODE.
 */
u9_node *u9i_node_open(u9_diff *d, const u9_value *container, u9_node *up, u9_piece *slot);

/* The piece that has element k < count, and the element's place in it. */
const u9_piece *u9i_piece_find(const u9_node *n, uint64_t k, uint64_t *place);
/* A walk over the elements of a run. */
u9_walk u9i_piece_walk(const u9_node *n, const u9_piece *p);
/* Element `place` of a piece, as it now reads. */
U9_MUST_CHECK u9_err u9i_piece_element(const u9_node *n, const u9_piece *p, uint64_t place,
                                       u9_view *out);

/*
 * The piece that ends where position k <= count is, which takes a piece's room; one that has
 * element k < count and no other, which takes two's. Elements up to k have been read, so nothing
 * can be malformed.
 */
u9_piece *u9i_piece_before(u9_diff *d, u9_node *n, uint64_t k);
u9_piece *u9i_piece_carve(u9_diff *d, u9_node *n, uint64_t k);

/* A new piece, without elements, behind p. It takes a piece's room. */
u9_piece *u9i_piece_insert(u9_diff *d, u9_node *n, u9_piece *p);
/* Makes a piece of at most one element hold an encoded value; any piece hold nothing. */
void u9i_piece_put(u9_node *n, u9_piece *p, const uint8_t *value, size_t size);
void u9i_piece_drop(u9_node *n, u9_piece *p);

/* To be called for the innermost node that was changed: it may fit into the array it stands in no
 * more, or again, and so may that. [D-9] */
void u9i_node_refit(u9_node *n);

/* What a node reads as. */
u9_view u9i_node_view(const u9_node *n);

static inline bool u9i_is_container(u9_type type)
{
    return type == U9_TUPLE || type == U9_ARRAY;
}

static inline u9_view u9i_plain_view(const u9_value *v)
{
    return (u9_view){
        .type = v->type, .count = u9i_is_container(v->type) ? v->count : 0, .value = *v};
}

/*
 * Element k, found without an index: whoever splits containers believes only what he has walked. As
 * u9_view_at otherwise.
 */
U9_MUST_CHECK u9_err u9i_view_walk_to(const u9_view *container, uint64_t k, u9_view *out);
/* The place of the first element with this key, as u9_view_by_key but without an index. */
U9_MUST_CHECK u9_err u9i_view_find(const u9_view *container, const u9_value *key, uint64_t *k,
                                   u9_view *out);

#endif
