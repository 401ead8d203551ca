/*
 * tests/format/value/diff/diff_model.h: what patches do to a value (SPEC-values.md, D-1 to D-6), done the
 * simple way.
 *
 * A value is a tree on the heap; a patch is applied by changing the tree. Nothing is shared with
 * the library's diffs, only values are read and compared by it. Tests and the fuzzer hold both
 * against each other.
 */
#ifndef U9T_DIFF_MODEL_H
#define U9T_DIFF_MODEL_H

#include <stdbool.h>

#include <u9/value.h>

typedef struct item {
    bool container;
    uint8_t *bytes; /* else an encoded value */
    size_t size;
    struct item **kids;
    uint64_t count;
} item;

/* Of a well-formed value; to be freed. */
item *item_of(const u9_value *v);
void item_free(item *it);

/* Writes it, with tuples for all containers. */
void item_build(const item *it, u9_builder *b);

/* Applies a well-formed value as a patch. What u9_diff_apply returns; unchanged if it is not U9_OK.
 * Of reducers it knows none. */
u9_err item_apply(item **it, const u9_value *patch);

#endif
