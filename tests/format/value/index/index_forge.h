/*
 * tests/format/value/index/index_forge.h: containers with indexes in front, from hex or from a builder, in
 * blocks of exactly their size, and what every lookup in them must agree with: a walk over all
 * elements.
 */
#ifndef U9T_INDEX_FORGE_H
#define U9T_INDEX_FORGE_H

#include <stdbool.h>

#include <u9/value_index.h>

/* A value and the block it is in, which drop_blocks() frees. */
typedef struct block {
    uint8_t *bytes;
    size_t size;
} block;

/* A copy; of NULL, room for that many. */
block hold(const void *bytes, size_t size);
void drop_blocks(void);

/* Bytes from hex, blanks where one likes. */
block unhex(const char *hex);

/* An index: `code` 0x51 to 0x57, its length, the symbol `ks`, and ka and ia in hex; then `rest`. */
block forge_index(unsigned code, const char *ks, const char *ka, const char *ia, block rest);

/* The view of a block, which is one value. */
u9_value view(block b);

/* Values of some types. */
u9_value number(uint64_t v);
u9_value negative(int64_t v);
u9_value text(const char *s);

/* A container with these indexes; asserts that it can be built, is well-formed and proved right. */
block build_indexed(const u9_value *container, const u9_index_spec *specs, size_t count);

/* How a lookup ends, and how many elements it finds before. They must be those that a walk
 * finds, in order, or the first of these. */
u9_err find_all(const u9_value *container, u9_by by, const u9_value *sought, unsigned *found);

/* Looks for each element, its key and its position, and for what stands beside them: each lookup
 * finds exactly what a walk finds. */
void expect_found_as_by_a_walk(const u9_value *container);

/* u9_index_check refuses it, at `offset`. */
void expect_wrong(block b, uint64_t offset, const char *rule);

#endif
