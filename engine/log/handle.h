/*
 * engine/log/handle.h: what is behind a u9_log.
 *
 * Room: engine/log
 * Sees: include format/base format/frame engine/os engine/segment engine/write
 *
 * The room owns a log as a whole: its handle, the segments in a row, and where it goes on.
 */
#ifndef U9I_HANDLE_H
#define U9I_HANDLE_H

#include "engine/log/trim.h"
#include "engine/os/process.h"
#include "engine/write/writer.h"

#include <pthread.h>

struct u9_log {
    u9i_source source;
    u9_options options;
    unsigned generation; /* of forks, when it was opened: a child's calls are refused */
    char kind[U9I_KIND_MAX + 1];
    uint64_t id;         /* of this handle among all that this process ever opened, from 1 */

    pthread_mutex_t lock; /* guards what follows */
    bool writing;         /* opened for writing: */
    u9i_writer writer;
    u9i_marker marker;    /* follows what the writer made durable: */
    uint64_t marked_us;   /*   monotonic time when it was last begun; 0: it is due */
    uint64_t marked_segment; /*   the segment that the writer was at then */
    u9i_task ticker;      /* keeps [W-5] [M-5]: */
    bool ticking;         /*   it is submitted, as there is something to watch */
    u9i_trimming trimming; /* what the options do not keep, and is being removed in the background */
    u9_fault retained;    /* of the last time that they were looked to; err U9_OK: all is as they say */
};

/* As u9_log_open for reading, and the boundary of a segment whose secret is lost is found without it. [G-2] */
U9_MUST_CHECK u9_err u9i_log_open_mending(const char *path, const u9_options *options, u9_log **out,
                                          u9_fault *fault);

/*
 * As u9_log_open for writing, of a log whose oldest segments were removed by hand: its source explains that. [L-10]
 */
U9_MUST_CHECK u9_err u9i_log_open_explaining(const char *path, const u9_options *options, u9_log **out,
                                             u9_fault *fault);

/* Something was written: what is to follow by itself does. Lock. */
void u9i_log_watch(u9_log *log);

/*
 * As u9_log_append_batch, and the batch gets a frame of its own: so a log that is copied frame by frame keeps
 * its frames.
 */
U9_MUST_CHECK u9_err u9i_log_append_frame(u9_log *log, const u9_entry *entries, size_t count);

/* True if `o` has a size that some version of u9_options had. */
bool u9i_options_known(const u9_options *o);

/* As u9i_writer_append_body. */
U9_MUST_CHECK u9_err u9i_log_append_body(u9_log *log, const uint8_t *body, size_t size, uint32_t count,
                                         bool lz4);

/* True if this process did not open the handle. */
static inline bool u9i_log_forked(const u9_log *log)
{
    return log->generation != u9i_fork_generation();
}

#endif
