/*
 * engine/log/large.h: records in parts on their way into a log, for who stands above the handle. [C-6]
 */
#ifndef U9I_LARGE_H
#define U9I_LARGE_H

#include "engine/log/handle.h"

/*
 * As u9_append_begin for a record of `total` bytes that was read and proven, which comes as it stands, head and key and
 * all: nothing in it is looked into. By u9_append_write, _end and _abort it is written like any other. [G-1]
 */
U9_MUST_CHECK u9_err u9i_append_begin_whole(u9_log *log, uint64_t total, u9_append **out);

/* The log is closed: what is being written is given up, and no longer the log's. */
void u9i_append_leave(u9_log *log);

#endif
