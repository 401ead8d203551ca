/*
 * format/value/index/index.h: what lookups, the proof and the builder of container indexes share.
 *
 * Room: format/value/index
 * Sees: include format/base format/value
 *
 * The room owns the indexes in front of containers, and with them every search for an element.
 */
#ifndef U9I_VALUE_INDEX_H
#define U9I_VALUE_INDEX_H

#include <u9/value_index.h>

#include <stdbool.h>

/* What of an element is indexed: the element itself, or its key. False: it has none. */
bool u9i_index_subject(u9_keyspec keyspec, const u9_value *element, u9_value *out);

/* What stands in ka for that: the element's position, `width` bytes of its hash, or itself.
 * [X-3] */
void u9i_index_aspect(u9_keyspec keyspec, unsigned width, uint64_t position,
                      const u9_value *subject, u9_value *out);

/* True if ka is of a type that the keyspec has. */
bool u9i_index_keys_fit(const u9_index *index);

/* Key `entry`, below index->keys.count. */
u9_value u9i_index_key(const u9_index *index, uint64_t entry);

/* How key `entry` compares with `aspect`: below 0, 0, above 0. */
int u9i_index_side(const u9_index *index, uint64_t entry, const u9_value *aspect);

/* Offset `entry`. */
int64_t u9i_index_offset(const u9_index *index, uint64_t entry);

/* Where `entry` leads: a walk that begins with that element. U9_CORRUPT: to none. */
U9_MUST_CHECK u9_err u9i_index_follow(const u9_value *container, const u9_index *index,
                                      uint64_t entry, u9_walk *out);

#endif
