/*
 * engine/write/writer.h: appends records to a log. [W-1] to [W-6] [S-3] to [S-6] [L-7]
 *
 * Room: engine/write
 * Sees: include format/base format/value format/frame engine/os engine/segment engine/idgen
 *
 * The room owns the way of a record to the disk.
 *
 *     append -> the frame being filled -> seal: [lz4 | mask], trailer, hash -> stream -> disk
 *            -> sync -> the durable mark moves -> later frames carry it as their promise
 *
 * A writer is a session. It writes nothing before its first append. It has no lock of its own: its
 * owner (engine/log/log.c) serialises all calls.
 */
#ifndef U9I_WRITER_H
#define U9I_WRITER_H

#include "engine/idgen/keygen.h"
#include "engine/write/plan.h"
#include "engine/write/stream.h"

#include <u9/log.h>

/* One file being written. */
typedef struct u9i_output {
    u9i_file *file; /* NULL: not made yet */
    uint64_t number;
    u9i_secret secret;
    uint64_t reserved; /* blocks below this offset are there to be written */
    uint64_t identity[2]; /* of the file, when it got its name */
    bool fresh;        /* the session made it, and nothing of it is durable */
    unsigned halved;   /* how often the step of reserving was halved for want of space */
} u9i_output;

typedef struct u9i_writer {
    u9i_dir *dir; /* borrows */
    u9i_env *env; /* its */
    char path[4096];
    bool lz4;
    uint64_t segment_size;
    uint64_t medallion;
    uint8_t session[16];
    u9i_plan plan; /* what the session's u9open says */
    u9i_keygen keygen;

    bool started; /* the u9open is written */
    u9i_output out, next;
    u9i_stream stream;

    uint8_t *frame;   /* header room, body, trailer: the frame being filled */
    uint8_t *packed;  /* the same, compressed */
    size_t body_size; /* bytes in it */
    uint32_t count;   /* records in it */
    uint64_t stamp;   /* timestamp of its muids [L-7] */
    uint64_t seen_us; /* the latest time in a key, given or made */
    uint64_t first_us; /* monotonic time of the oldest record not under a sync; 0: none */

    u9i_position end;       /* behind the last frame that was sealed */
    uint64_t previous; /* its offset */
    uint64_t time_us;  /* its time */
    u9i_position syncing;   /* what the sync under way covers */
    u9i_position durable;   /* what is known to be durable; its offset is in the current file [W-2] */
    uint64_t promised; /* the largest `durable` that a frame of this file carries */
    bool names_dirty;  /* the file's name is not yet durable [W-4] */
    uint64_t synced_us; /* monotonic time of the last sync's end */

    u9i_end_record totals; /* of this file */
    uint8_t first_key[U9I_KEY_MAX + 16], last_key[U9I_KEY_MAX + 16]; /* as values */

    void (*retain)(void *ctx); /* asked at each roll: may call u9i_writer_keep_from. NULL: nothing is trimmed [L-10] */
    void *retain_ctx;

    u9_fault poison; /* err != U9_OK: the first failure of a write or sync [W-6] */
} u9i_writer;

/* Readies a session on the locked directory, by this plan. U9_ARG, U9_IO, U9_NOMEM. On failure nothing is held. */
U9_MUST_CHECK u9_err u9i_writer_open(u9i_writer *writer, u9i_dir *dir, const char *path,
                                     const u9i_plan *plan, const u9_options *options,
                                     u9_fault *fault);

/* Bytes at which a segment is rolled, by these options. */
static inline uint64_t u9i_segment_size(const u9_options *options)
{
    return options->segment_size ? options->segment_size : UINT64_C(1) << 28;
}

/* Appends a batch into one frame. Errors as u9_log_append_batch. */
U9_MUST_CHECK u9_err u9i_writer_append(u9i_writer *writer, const u9_entry *entries, size_t count,
                                       u9_place *places, u9_fault *fault);

/* The same, into a frame that holds nothing else. */
U9_MUST_CHECK u9_err u9i_writer_append_alone(u9i_writer *writer, const u9_entry *entries, size_t count,
                                             u9_fault *fault);

/*
 * Appends the records of a body that was read and proven [B-2], byte for byte, into a frame that holds nothing
 * else. Nothing in them is looked into, and their keys may be of any kind. Compressed if `lz4` and the
 * writer's options have it. U9_LIMIT, U9_IO, U9_POISONED.
 */
U9_MUST_CHECK u9_err u9i_writer_append_body(u9i_writer *writer, const uint8_t *body, size_t size,
                                            uint32_t count, bool lz4, u9_fault *fault);

/* Where everything before is durable, as a mark says it; false: nowhere yet in the present file. [M-5] */
bool u9i_writer_mark(const u9i_writer *writer, u9i_mark_record *out);

/* Begins the session at once, durably: a log that is made. [M-6] */
U9_MUST_CHECK u9_err u9i_writer_create(u9i_writer *writer, u9_fault *fault);

/*
 * Each file that is begun from here on says that segments below `trim->segment` are not kept. What it said before is
 * never taken back. [C-5]
 */
void u9i_writer_keep_from(u9i_writer *writer, const u9i_trim_record *trim);

/*
 * Says so, durably, in a new file, which the session begins or goes over to. Everything appended is durable then, too.
 * U9_IO: there is no room, nothing changed. U9_POISONED. [L-10]
 */
U9_MUST_CHECK u9_err u9i_writer_trim(u9i_writer *writer, const u9i_trim_record *trim, u9_fault *fault);

/* The ordinal of the next record. */
static inline uint64_t u9i_writer_next(const u9i_writer *w)
{
    return w->end.ordinal + w->count;
}

/* Makes everything appended durable. */
U9_MUST_CHECK u9_err u9i_writer_sync(u9i_writer *writer, u9_fault *fault);

/* Starts a sync of everything appended, without waiting for it. */
U9_MUST_CHECK u9_err u9i_writer_sync_begin(u9i_writer *writer, u9_fault *fault);

/* Takes in what is complete, without waiting. */
U9_MUST_CHECK u9_err u9i_writer_poll(u9i_writer *writer, u9_fault *fault);

/* True if something durable is not yet promised by a frame. [W-5] */
bool u9i_writer_owes_promise(const u9i_writer *writer);

/* Writes an empty frame that carries the promise; does not wait. [W-5] */
U9_MUST_CHECK u9_err u9i_writer_promise(u9i_writer *writer, u9_fault *fault);

/* Bytes appended and not yet durable. */
uint64_t u9i_writer_behind(const u9i_writer *writer);

/* Ends the session: everything durable, the file closed. Then frees. [S-4] */
u9_err u9i_writer_close(u9i_writer *writer, u9_fault *fault);

/* Frees without writing; in a forked child, whose parent goes on, also without waiting. */
void u9i_writer_release(u9i_writer *writer);

#endif
