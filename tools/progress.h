/*
 * tools/progress.h: how far a tool has come, on a line that is written over and over.
 */
#ifndef U9_TOOLS_PROGRESS_H
#define U9_TOOLS_PROGRESS_H

#include <stdint.h>

/* Seconds that only grow. */
double tool_seconds(void);

/* Progress on standard error if that is a terminal; else, or if `on` is 0, nothing. */
typedef struct tool_progress {
    int on;
    double began;
    double told;
} tool_progress;

enum { TOOL_PROGRESS_SIZE = 160 };
/*
 * The line, as many of its parts as leave the last of `columns` free (0: not known): one that is wider would be
 * wrapped, and only its end written over. `spent` is in seconds, above 0. Fills `line`, returns it.
 */
const char *tool_progress_line(uint64_t done, uint64_t all, double spent, unsigned columns,
                               char line[TOOL_PROGRESS_SIZE]);

void tool_progress_begin(tool_progress *progress, int on);
/* A u9_progress_fn. `all` 0: not known. */
int tool_progress_tell(void *progress, uint64_t done, uint64_t all);
void tool_progress_end(tool_progress *progress);

#endif
