/*
 * engine/write/stream.h: bytes in a row, onto a file, in whole blocks, each submitted once. [S-3]
 *
 * Memory is a ring of bytes that direct I/O takes. A frame is built where it will be written from: its place is
 * known before it is filled, and a place is an offset in the file with an address whose distance from a block's
 * start is the same. Addresses are counted on and on (`v`, of which the ring's size is taken away), so that what was
 * laid later always has the greater one:
 *
 *        done              sent             laid
 *     free | under way      | not submitted  | frames that are being filled and hashed ...  free |
 *
 * A lap ends where a frame does not fit any more: what stands of the last block is then copied to the ring's start.
 * Usual frames go round in the first `lap` bytes, which bounds the memory that is touched; a large one, begun at a block
 * and alone, may have all. An idle writer begins again at the ring's start, and touches no more than it needs.
 *
 * One thread at a time, but for the functions that only count. Failures are sticky: the first is kept, and
 * nothing is submitted after it.
 */
#ifndef U9I_STREAM_H
#define U9I_STREAM_H

#include "engine/os/env.h"
#include "format/base/limits.h"

enum { U9I_STREAM_CHUNK = 1 << 20 }; /* what a write has, if nobody waits for it */

typedef struct u9i_place {
    uint64_t v;   /* address in the ring, counted on */
    uint64_t pos; /* offset in the file; its distance from a block's start is that of v */
} u9i_place;

typedef struct u9i_stream {
    u9i_queue *queue;
    u9i_file *file; /* borrows */
    uint8_t *ring;
    size_t size;    /* bytes of it: the largest frame fits */
    size_t lap;     /* of these, for usual frames */
    u9i_place laid; /* behind what is final */
    u9i_place sent; /* behind what is submitted, at a block's start */
    uint64_t done;  /* v below which all is written */
    uint64_t ends[U9I_QUEUE_DEPTH]; /* of the writes under way, in the order of submission: v behind each, */
    bool complete[U9I_QUEUE_DEPTH]; /*   and whether it is complete, while one before it is not */
    unsigned first, count;
    bool syncing;   /* a sync is under way */
    bool synced;    /* one is complete, and nobody has asked yet */
    int error;      /* the first failure, a negative errno; sticky */
    uint64_t writes, bytes; /* submitted, so far */
    unsigned deepest; /* writes under way, at most at any time */
} u9i_stream;

/* Takes memory, `lap` bytes of which are touched by usual frames, and opens a queue. 0 or a negative errno. */
int u9i_stream_init(u9i_stream *stream, u9i_env *env, size_t lap);

/* Waits for what is under way, but in a forked child. Once more is fine. */
void u9i_stream_release(u9i_stream *stream);

/* Turns to `file` at `offset`, a multiple of the block size, from the next block of the ring on. Nothing may be under way, or waits to be. */
void u9i_stream_turn(u9i_stream *stream, u9i_file *file, uint64_t offset);

static inline uint8_t *u9i_stream_at(const u9i_stream *stream, uint64_t v)
{
    return stream->ring + v % stream->size;
}

/* True if n bytes are a large frame. From any thread, as the next two, which read nothing that changes. */
static inline bool u9i_stream_is_large(const u9i_stream *stream, uint64_t n)
{
    return n > stream->lap / 4;
}

/* Where n bytes behind `from` go; `idle`: nothing is laid, filled or under way behind what is written. */
u9i_place u9i_stream_place(const u9i_stream *stream, u9i_place from, size_t n, bool idle);

/* True if n bytes there touch nothing that is not written, all below `done` being so. */
static inline bool u9i_stream_has_room(const u9i_stream *stream, u9i_place at, size_t n, uint64_t done, bool idle)
{
    return idle || at.v + n + U9I_BLOCK <= done + stream->size;
}

/* n bytes at `at`, which u9i_stream_place gave, are final. Submits what makes chunks. */
int u9i_stream_lay(u9i_stream *stream, u9i_place at, size_t n);

/* Fills up to the next block with zeros. */
void u9i_stream_pad(u9i_stream *stream);

/* Where the next block begins behind a place. */
u9i_place u9i_stream_block(u9i_place at);

/* Bytes that could be submitted now, in whole blocks. */
static inline uint64_t u9i_stream_waiting(const u9i_stream *stream)
{
    return (stream->laid.pos - stream->sent.pos) / U9I_BLOCK * U9I_BLOCK;
}

/* Submits all whole blocks. `durable`: in one write that is durable when it is complete. */
int u9i_stream_submit(u9i_stream *stream, bool durable);

/* Takes a completion in. Without `wait` -EAGAIN if there is none. */
int u9i_stream_reap(u9i_stream *stream, bool wait);

/* Takes in what is complete, without waiting. */
int u9i_stream_poll(u9i_stream *stream);

/* Waits until all writes are complete. */
int u9i_stream_drain(u9i_stream *stream);

/* Begins a sync, which covers all writes that are known to be complete. None is under way. */
int u9i_stream_sync_begin(u9i_stream *stream);

/* Waits until the sync under way, if any, is complete. */
int u9i_stream_sync_end(u9i_stream *stream);

/* True once for each sync that is complete: whoever takes completions in may be the one that meets it. */
bool u9i_stream_took_sync(u9i_stream *stream);

#endif
