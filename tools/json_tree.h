/*
 * tools/json_tree.h: a JSON text (RFC 8259) as a tree that has lost nothing of it, by yajl.
 *
 * yajl cuts the text into tokens and judges their order. A number stays the text that it was, so no
 * digit is lost; members stay in order, and each of them is there, also where one key stands twice.
 * What yajl would replace without a word is refused here first: bytes that are no UTF-8, halves of
 * surrogate pairs. So is what values have no place for: deep nesting, keys with a NUL, and a key
 * that is there twice in an object.
 *
 * A tree is its nodes in the order of the text: what is in a container stands right behind it.
 */
#ifndef U9_TOOLS_JSON_TREE_H
#define U9_TOOLS_JSON_TREE_H

#include <stddef.h>
#include <stdint.h>

enum tree_kind {
    TREE_NULL,
    TREE_FALSE,
    TREE_TRUE,
    TREE_NUMBER, /* what is not a digit stands behind its text */
    TREE_STRING,
    TREE_ARRAY,
    TREE_OBJECT /* in it a TREE_STRING, the key, and the value, for each member */
};

struct tree_node {
    const char *text; /* of numbers, strings; not ended by a NUL */
    uint32_t size;    /* bytes of it; of an array: elements; of an object: members */
    uint32_t at;      /* offset in the text, of a string that has escapes: somewhere within it */
    uint32_t end;     /* index of the node behind it and all that is in it */
    enum tree_kind kind;
};

/* Deeper than values nest: what stands for one value may be an object with an array in it. */
enum { TREE_DEPTH_MAX = 80 };

/* All 0: empty. The nodes' room is kept from one text to the next. */
struct tree {
    struct tree_node *nodes; /* the first is the value itself */
    uint32_t count, room;
    char *copies; /* texts that do not stand in the JSON text as they are */
};

/* The sentence that stands for: out of memory. */
extern const char tool_no_memory[];

/*
 * Makes the tree of a text, which must stand as long as the tree is used. NULL, or a sentence that
 * says what is wrong, which stands until the next call, with the offset of the place in *at.
 */
const char *tool_tree_read(struct tree *tree, const char *text, size_t size, size_t *at);

/* Lets go of what belongs to the last text. */
void tool_tree_clear(struct tree *tree);

#endif
