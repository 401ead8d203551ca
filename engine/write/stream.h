/*
 * engine/write/stream.h: bytes in a row, onto a file, in whole blocks, each submitted once. [S-3]
 *
 * Frames are copied into a ring of aligned buffers; a full buffer is submitted and the next free one
 * taken, so that writing goes on while the disk works. A sync may be under way at the same time.
 *
 *     base              base + fill           the position: where the next byte goes
 *     | submitted ..... | waiting | free ... |
 *
 * One thread at a time. All failures are sticky: the first is kept, and nothing is written after it.
 */
#ifndef U9I_STREAM_H
#define U9I_STREAM_H

#include "engine/os/env.h"

enum { U9I_STREAM_BUFFERS = 8, U9I_STREAM_BUFFER = 1 << 20 };

typedef struct u9i_stream {
    u9i_queue *queue;
    u9i_file *file;   /* borrows */
    uint8_t *buffers; /* U9I_STREAM_BUFFERS of them */
    unsigned under_way[U9I_STREAM_BUFFERS]; /* writes not yet complete, by buffer */
    unsigned writes;  /* the same, in all */
    unsigned current; /* the buffer that is filled */
    uint64_t base;    /* file offset of its first byte */
    size_t fill;      /* bytes in it */
    size_t sent;      /* of which these are submitted */
    bool syncing;     /* a sync is under way */
    bool synced;      /* one is complete, and nobody has asked yet */
    int error;        /* the first failure, a negative errno; sticky */
} u9i_stream;

/* Takes memory and opens a queue. 0 or a negative errno. */
int u9i_stream_init(u9i_stream *stream, u9i_env *env);

/* Waits for what is under way, but in a forked child. Once more is fine. */
void u9i_stream_release(u9i_stream *stream);

/* Turns to `file` at `offset`, a multiple of the block size. Nothing may be under way. */
void u9i_stream_turn(u9i_stream *stream, u9i_file *file, uint64_t offset);

static inline uint64_t u9i_stream_position(const u9i_stream *stream)
{
    return stream->base + stream->fill;
}

/* Copies n bytes to the position. The buffers may be reused when the call returns. */
int u9i_stream_put(u9i_stream *stream, const void *bytes, size_t n);

/* Fills up to the next block with zeros and submits everything. */
int u9i_stream_pad(u9i_stream *stream);

/* Pads, waits until all writes are complete, and starts a sync that covers them. */
int u9i_stream_sync_begin(u9i_stream *stream);

/* Waits until the sync under way, if any, is complete. */
int u9i_stream_sync_end(u9i_stream *stream);

/*
 * True once for each sync that is complete: whoever takes completions in, also a put that waits for a
 * buffer, may be the one that meets it.
 */
bool u9i_stream_took_sync(u9i_stream *stream);

/* Takes in what is complete, without waiting. */
int u9i_stream_poll(u9i_stream *stream);

#endif
