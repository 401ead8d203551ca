/*
 * engine/log/handle.h: what is behind a u9_log.
 *
 * Room: engine/log
 * Sees: include format/base format/value format/frame engine/os engine/segment engine/index engine/write
 *
 * The room owns a log as a whole: its handle, the segments in a row, and where it goes on.
 */
#ifndef U9I_HANDLE_H
#define U9I_HANDLE_H

#include "engine/index/keys.h"
#include "engine/log/trim.h"
#include "engine/os/process.h"
#include "engine/write/writer.h"

#include <u9/large.h>

#include <pthread.h>

struct u9_log {
    u9i_source source;
    u9_options options;
    unsigned generation; /* of forks, when it was opened: a child's calls are refused */
    char kind[U9I_KIND_MAX + 1];
    u9i_kind keys;       /* that, taken apart; type 0: it is not known */
    u9i_keyspec keyspec; /* what its keys are in an index, but for a seed */
    uint64_t id;         /* of this handle among all that this process ever opened, from 1 */

    bool writing;         /* opened for writing: */
    uint64_t begins_at;   /*   the first ordinal of its session */
    u9i_writer writer;    /*   has its own lock */
    bool ticking;         /* the ticker is submitted, as there is something to watch; set and asked atomically */
    u9i_task ticker;      /* keeps [W-5] [M-5] */
    int event_fd;         /* readable when something became durable; -1: nobody has asked; read atomically */
    pthread_mutex_t lock; /* guards what follows */
    u9i_marker marker;    /* follows what the writer made durable: */
    uint64_t marked_us;   /*   monotonic time when it was last begun; 0: it is due */
    u9_append *append;    /* the record in parts that is being written; NULL: none; set atomically */
    pthread_mutex_t trim_lock; /* guards what follows; is taken before the others and before the writer's driver's role, but by the
                           * driver, who does without where it is not to be had */
    u9i_trimming trimming; /* what the options do not keep, and is being removed in the background */
    struct u9i_lookups *lookups;      /* what lookups keep (read/view.h); NULL: nothing; set atomically, */
    void (*forget_lookups)(u9_log *); /*   and how that is let go of */
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

/*
 * As u9_log_open for writing, of a log that gets what others wrote: its frames have this time, and later ones that which
 * u9i_log_give_time said last; 0, and where that would be beyond it: the clock's.
 */
U9_MUST_CHECK u9_err u9i_log_open_copying(const char *path, const u9_options *options, uint64_t time_us, u9_log **out,
                                          u9_fault *fault);
void u9i_log_give_time(u9_log *log, uint64_t time_us);

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

/*
 * Does `work` with the handle's writer as an append is done: under the lock, alone, and then who is to wait, waits; with
 * `fresh` a key may be drawn. A failure of its is told as u9_log_fault has it. What `work` returns, or U9_STATE.
 */
typedef u9_err u9i_write_fn(u9i_writer *writer, void *ctx, u9_fault *fault);
U9_MUST_CHECK u9_err u9i_log_write(u9_log *log, u9i_write_fn *work, void *ctx, bool fresh);

/* Tells `fault` as the detail of the calling thread's failure on `log` (may be NULL), and returns `err`. */
u9_err u9i_log_tell(const u9_log *log, u9_err err, const u9_fault *fault);

/* True if this process did not open the handle. */
static inline bool u9i_log_forked(const u9_log *log)
{
    return log->generation != u9i_fork_generation_now();
}

#endif
