/*
 * engine/check/saved.h: the new logs that a salvage writes, OUT, OUT.fork-2, OUT.fork-3 ...: filled one after the
 * other, each closed and read back; all get their names at the end, or none does. [G-1] [G-5]
 */
#ifndef U9I_SAVED_H
#define U9I_SAVED_H

#include "engine/log/handle.h"
#include "engine/read/reader.h"

typedef struct u9i_saved_log {
    u9_output told; /* its texts are ours */
    char *path, *partial, *from;
} u9i_saved_log;

typedef struct u9i_saved {
    u9i_env *env;
    const char *source, *out_path, *io; /* borrow */
    char kind[U9I_KIND_MAX + 1];        /* of the source; "" if not known */
    u9i_saved_log *logs;
    size_t count;
    bool begun;       /* the last one is being filled; else the next record begins another */
    u9_log *out;      /*   with this, once there is a record */
    uint64_t records; /* in all of them */
} u9i_saved;

/* Begins OUT. U9_ARG: something is there already, or in the way. The strings outlive it. */
U9_MUST_CHECK u9_err u9i_saved_init(u9i_saved *saved, u9_log *source, const char *out_path, const char *io,
                                    u9_fault *fault);
void u9i_saved_release(u9i_saved *saved); /* what is not kept stays unfinished */

/*
 * Appends the records of a frame that was read and proven, and whose first one is `first`, as one batch, to the log
 * that is filled; if none is, a new one is begun. U9_ARG: something else stands in the way of it; U9_IO, U9_NOMEM ...
 */
U9_MUST_CHECK u9_err u9i_saved_put(u9i_saved *saved, const u9i_source *source, const u9i_facts *facts,
                                   const u9i_frame *frame, const u9i_body *body, const u9i_record *first,
                                   u9_fault *fault);

/* One record of such a frame, as u9_log_append takes it; that may refuse it (U9_ARG, U9_LIMIT). */
U9_MUST_CHECK u9_err u9i_saved_put_entry(u9i_saved *saved, const u9i_source *source, const u9i_facts *facts,
                                         const u9i_frame *frame, const u9_entry *entry, u9_fault *fault);

/*
 * Begins a record of `total` bytes that was read and proven, in parts, and is written as it stands: by u9_append_write,
 * then u9i_saved_end_record, which frees `append` in any case, or u9_append_abort.
 */
U9_MUST_CHECK u9_err u9i_saved_begin(u9i_saved *saved, const u9i_source *source, const u9i_facts *facts,
                                     const u9i_frame *frame, const u9i_record *first, uint64_t total, u9_append **out,
                                     u9_fault *fault);
U9_MUST_CHECK u9_err u9i_saved_end_record(u9i_saved *saved, const u9i_facts *facts, u9_append *append, u9_fault *fault);

/* Closes the log that is filled, if any, and reads it once more: what was saved must be there, and nothing else. */
U9_MUST_CHECK u9_err u9i_saved_end(u9i_saved *saved, u9_fault *fault);

/* Reads a log that was made, and closed, once more. U9_CORRUPT: it is not clean, or has not so many records. */
U9_MUST_CHECK u9_err u9i_saved_prove(const char *path, const char *io, uint64_t records, u9_fault *fault);

/* Gives all logs their names, OUT last: when that is there, all are. */
U9_MUST_CHECK u9_err u9i_saved_keep(u9i_saved *saved, u9_fault *fault);

#endif
