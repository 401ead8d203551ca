/*
 * tools/stop.h: SIGINT and SIGTERM, which a verb only notices, so that it can end as at the end of its input. A second one
 * ends the tool at once. Verbs that wait for more have follow.h.
 */
#ifndef U9_TOOLS_STOP_H
#define U9_TOOLS_STOP_H

#include <stdbool.h>

/* From now on. `restarts`: system calls go on behind them; else they end with EINTR. */
void tool_notice_stops(bool restarts);

/* The signal that came; 0: none. */
int tool_stopped(void);

/* Its name, for messages. */
const char *tool_stop_name(void);

/* Waits until `fd` can be read, or is at its end: true; false: it was stopped, be it right before. */
bool tool_stop_wait(int fd);

#endif
