/*
 * tools/nearest.h: which word was meant by one that is none: of the tools, and of u9bench.
 */
#ifndef U9_TOOLS_NEAREST_H
#define U9_TOOLS_NEAREST_H

#include <argp.h>
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

enum { TOOL_OPTION_SIZE = 64 };
/*
 * Goes through the words of a command line, up to `--`, for a long option that is none of these (nor --help, --usage,
 * --version), nor the beginning of one: the name of the one that was likely meant by the first such word; NULL: there is
 * none. Fills `said` with that word, without its dashes and argument.
 */
const char *tool_meant_option(const struct argp_option *options, char **argv, char said[TOOL_OPTION_SIZE]);

#endif
