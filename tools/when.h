/*
 * tools/when.h: points in time as people write them: of today and yesterday, so long ago, by the clock on the wall.
 */
#ifndef U9_TOOLS_WHEN_H
#define U9_TOOLS_WHEN_H

#include <stddef.h>
#include <stdint.h>

/*
 * Microseconds since 1970 of a time, as seen at `now`:
 *
 *     now  today  yesterday  tomorrow            the last three are midnights; a clock time may follow
 *     2 hours ago  1 day 30min ago  -90s  +1h    s sec, m min, h hr, d day, w week; so long ago, or from now on
 *     2026-01-31  2026-01-31 23:59[:59.5]        or with a T between; the date alone is its midnight
 *     23:59[:59.5]                               today
 *     ... Z  ... UTC  ... +02:00                 behind a clock time; without, the local zone (TZ) holds
 *     @1700000000.5                              seconds since 1970
 *
 * NULL, or what is wrong: *bad, of `size` bytes, borrows the text: what was not understood.
 */
const char *tool_when_parse(const char *text, uint64_t now_us, uint64_t *out, const char **bad, size_t *size);

/*
 * Decimals of seconds behind a dot, if one is there: those behind the sixth are cut off. Moves *text behind them. 0: no digit
 * is behind the dot.
 */
int tool_micros_parse(const char **text, uint64_t *micros);

/* The argument of an option as such a time, seen now; anything else is a usage error that says why. */
uint64_t tool_when(const char *option, const char *text);

#endif
