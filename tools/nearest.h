/*
 * tools/nearest.h: which word was meant by one that is none.
 */
#ifndef U9_TOOLS_NEAREST_H
#define U9_TOOLS_NEAREST_H

#include <stddef.h>

/*
 * Characters that have to be put in, left out, changed, or swapped with the next one, to make `b` of `a`; case does not
 * count. At most the length of the longer one; words of over 63 bytes are far from any other.
 */
size_t tool_distance(const char *a, const char *b);

/*
 * Whether `name` is likely meant by `word`: at most a third of the characters of the longer one are wrong, or `word`, of
 * 2 characters or more, is how it begins. `*best` is the distance of the best one so far, SIZE_MAX at first; 1 if this
 * one is nearer, which then is in `*best`.
 */
int tool_is_nearer(const char *word, const char *name, size_t *best);

#endif
