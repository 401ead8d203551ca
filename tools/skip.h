/*
 * tools/skip.h: lines of input, or what else a verb takes one by one, that are refused: the first of them ends a verb, or with --skip-bad
 * they are counted, the first few shown, and all others taken.
 */
#ifndef U9_TOOLS_SKIP_H
#define U9_TOOLS_SKIP_H

#include <stdint.h>

enum { SKIPS_SHOWN = 5 };

typedef struct tool_skips {
    int on; /* --skip-bad */
    const char *what; /* is skipped; NULL: a line */
    uint64_t count;
} tool_skips;

/*
 * Says what is wrong with a line: TOOL_REFUSED. With --skip-bad it is said of the first few only,
 * and of each that is skipped: TOOL_DONE.
 */
int tool_skip(tool_skips *skips, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* At the end: how many were skipped. The exit status, which is `status` but where that is TOOL_DONE
 * and lines were skipped. */
int tool_skips_end(const tool_skips *skips, int status);

#endif
