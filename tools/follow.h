/*
 * tools/follow.h: a verb that goes on at the end of a log until it is stopped: by SIGINT or SIGTERM, or when nobody reads
 * its output any more. Either is its regular end.
 */
#ifndef U9_TOOLS_FOLLOW_H
#define U9_TOOLS_FOLLOW_H

#include <u9.h>

/* Once, before the log is opened: from now on the two signals are only noticed. */
void tool_follow_begin(void);

/* Not 0: it was stopped. */
int tool_follow_stopped(void);

/* Waits so many milliseconds. Not 0: it was stopped. */
int tool_follow_pause(int ms);

/* As u9_log_open, but where no log is yet, it is waited for: *came is not 0 then. U9_END: stopped before there was one. */
u9_err tool_follow_open(const char *path, const u9_options *options, u9_log **log, int *came, u9_fault *fault);

/* As u9_cursor_next, but at the end what was printed is flushed, and more is waited for. U9_END: stopped. */
u9_err tool_follow_next(u9_cursor *cursor, u9_record *record);

#endif
