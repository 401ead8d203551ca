/*
 * tools/args.h: what stands in arguments: numbers, sizes, policies, times. Of u9 only: u9fsck has none.
 */
#ifndef U9_TOOLS_ARGS_H
#define U9_TOOLS_ARGS_H

#include <u9/log.h>

#include <stdint.h>

/* A size: digits, then nothing or one of K M G T (powers of 1024), also as KiB. 0: not a size. */
int tool_size_parse(const char *text, uint64_t *out);

/* The argument of --segment-size, bytes, and of --sync; anything else is a usage error that says why. */
uint64_t tool_segment_size(const char *text);

/* The argument of --index-memory, in bytes; else a usage error. */
uint64_t tool_index_memory(const char *text);
u9_policy tool_policy(const char *text);

/* The same as the argument of an option; anything else is a usage error that says why. */
uint64_t tool_size(const char *option, const char *text);

/* A whole decimal number up to 2^64 - 1, nothing around it. 0: not a number. */
int tool_number_parse(const char *text, uint64_t *out);

/* The argument of an option as such a number; anything else is a usage error that says why. */
uint64_t tool_number(const char *option, const char *text);

/* The same for a time, as microseconds since 1970: 2026-01-31 (midnight), RFC 3339, @seconds; UTC
 * if no zone is given. */
uint64_t tool_time(const char *option, const char *text);

/* Such a time. 0: not a time. */
int tool_time_parse(const char *text, uint64_t *out);

/* How old something may be: 45s, 30m, 12h, 7d, 2w, as microseconds; anything else is a usage error that says why. */
uint64_t tool_age(const char *option, const char *text);

/* A time as tool_when takes it, or so long ago as tool_age takes it. */
uint64_t tool_time_or_age(const char *option, const char *text);

/* `N` or `N,CLUSTER`: the two numbers, and whether the second is there. Usage errors name `option`. */
int tool_generator(const char *option, const char *text, uint64_t *generator, uint64_t *cluster);

/* The last generator number of a layout, 1 to 4. */
uint32_t tool_generator_max(unsigned layout);

/* A usage error unless the number goes from `min` to `max`. `note` stands behind, in brackets, if it is not "". */
void tool_within(const char *option, uint64_t number, uint64_t min, uint64_t max, const char *note);

/* A muid's medallion, in decimal or, behind 0x, in hex. */
uint64_t tool_medallion(const char *option, const char *text);

#endif
