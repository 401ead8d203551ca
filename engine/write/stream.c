/*
 * engine/write/stream.c: see stream.h. [S-3]
 */
#include "engine/write/stream.h"

#include "engine/os/process.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { TAG_SYNC = U9I_QUEUE_DEPTH };

/* What holds of every stream between two calls. */
static void stream_check(const u9i_stream *s)
{
    assert(s->sent.v % U9I_BLOCK == 0 && s->sent.pos % U9I_BLOCK == 0);
    assert(s->laid.v % U9I_BLOCK == s->laid.pos % U9I_BLOCK);
    assert(s->done <= s->sent.v && s->sent.v <= s->laid.v && s->sent.pos <= s->laid.pos);
    assert(s->laid.v - s->sent.v == s->laid.pos - s->sent.pos); /* one lap holds what is not submitted */
    assert(s->first < U9I_QUEUE_DEPTH && s->count < U9I_QUEUE_DEPTH); /* and a sync */
    assert(s->count == 0 || !s->complete[s->first]);
    assert(!s->syncing || !s->synced);
}

int u9i_stream_init(u9i_stream *s, u9i_env *env, size_t lap)
{
    size_t largest = (U9I_FRAME_MAX / U9I_BLOCK + 3) * U9I_BLOCK;
    memset(s, 0, sizeof *s);
    s->lap = lap / U9I_BLOCK * U9I_BLOCK; /* a block begins where a ring does */
    s->size = s->lap > largest ? s->lap : largest;
    s->ring = u9i_pages(s->size);
    if (s->ring == NULL) return -ENOMEM;
    int err = u9i_queue_open(env, s->ring, s->lap, 1, &s->queue);
    if (err != 0) u9i_stream_release(s);
    return err;
}

void u9i_stream_release(u9i_stream *s)
{
    if (s->queue) u9i_queue_close(s->queue); /* which waits: the ring must not be freed before */
    s->queue = NULL;
    u9i_pages_free(s->ring, s->size);
    s->ring = NULL;
}

static int fail_stream(u9i_stream *s, int err)
{
    if (s->error == 0) s->error = err;
    return s->error;
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

u9i_place u9i_stream_block(u9i_place at)
{
    uint64_t rest = -at.pos & (U9I_BLOCK - 1);
    return (u9i_place){.v = at.v + rest, .pos = at.pos + rest};
}

u9i_place u9i_stream_place(const u9i_stream *s, u9i_place from, size_t n, bool idle)
{
    uint64_t at = from.v % s->size, lap = u9i_stream_is_large(s, n) ? s->size : s->lap;
    bool again = idle && from.pos % U9I_BLOCK == 0 && at > 0;
    assert(!u9i_stream_is_large(s, n) || idle);
    if (!again && at + n + U9I_BLOCK <= lap) return from;
    from.v = round_up(from.v, s->size) + from.v % U9I_BLOCK;
    return from;
}

void u9i_stream_turn(u9i_stream *s, u9i_file *file, uint64_t offset)
{
    assert(s->count == 0 && !s->syncing && offset % U9I_BLOCK == 0);
    s->file = file;
    s->laid = (u9i_place){.v = round_up(s->laid.v, U9I_BLOCK), .pos = offset};
    s->sent = s->laid;
    s->done = s->sent.v;
    stream_check(s);
}

/* The first of the writes under way are complete. */
static void move_done(u9i_stream *s)
{
    while (s->count > 0 && s->complete[s->first]) {
        s->done = s->ends[s->first];
        s->complete[s->first] = false;
        s->first = (s->first + 1) % U9I_QUEUE_DEPTH;
        s->count--;
    }
}

int u9i_stream_reap(u9i_stream *s, bool wait)
{
    u9i_completion c;
    int n;
    while ((n = u9i_queue_wait(s->queue, &c, 1, wait ? U9I_FOREVER : 0)) == 0)
        if (!wait) return -EAGAIN;
    if (n < 0) {
        u9i_queue_settle(s->queue); /* nothing more is told */
        s->count = 0;
        s->syncing = false;
        return fail_stream(s, n);
    }
    if (c.result < 0) (void)fail_stream(s, (int)c.result);
    if (c.tag == TAG_SYNC) {
        s->syncing = false;
        s->synced = c.result >= 0;
    } else {
        assert(c.tag < U9I_QUEUE_DEPTH && !s->complete[c.tag]);
        s->complete[c.tag] = true;
        move_done(s);
    }
    stream_check(s);
    return s->error;
}

int u9i_stream_poll(u9i_stream *s)
{
    int err = 0;
    while (err == 0 && (s->count > 0 || s->syncing)) err = u9i_stream_reap(s, false);
    return err == -EAGAIN ? s->error : err;
}

int u9i_stream_drain(u9i_stream *s)
{
    while (s->count > 0) (void)u9i_stream_reap(s, true);
    return s->error;
}

/* Submits n bytes from `sent` on. */
static int submit_some(u9i_stream *s, size_t n, bool durable)
{
    while (s->error == 0 && s->count + 2 >= U9I_QUEUE_DEPTH) (void)u9i_stream_reap(s, true);
    if (s->error != 0) return s->error;
    unsigned tag = (s->first + s->count) % U9I_QUEUE_DEPTH;
    u9i_op op = {.kind = U9I_OP_WRITE, .file = s->file, .off = s->sent.pos, .buf = u9i_stream_at(s, s->sent.v),
                 .n = n, .tag = tag, .durable = durable};
    int err = u9i_queue_submit(s->queue, &op, 1);
    if (err != 0) return fail_stream(s, err);
    s->sent.v += n;
    s->sent.pos += n;
    s->ends[tag] = s->sent.v;
    s->count++;
    s->writes++;
    s->bytes += n;
    if (s->count > s->deepest) s->deepest = s->count;
    return 0;
}

int u9i_stream_submit(u9i_stream *s, bool durable)
{
    for (size_t n; s->error == 0 && (n = (size_t)u9i_stream_waiting(s)) > 0;)
        (void)submit_some(s, durable || n < U9I_STREAM_CHUNK ? n : U9I_STREAM_CHUNK, durable);
    stream_check(s);
    return s->error;
}

/* Goes over to a new lap: the block that is not full moves there. */
static void begin_lap(u9i_stream *s, u9i_place at)
{
    size_t part = at.v % U9I_BLOCK;
    (void)u9i_stream_submit(s, false);
    if (s->error == 0) assert(s->laid.v - s->sent.v == part);
    if (part > 0) memcpy(u9i_stream_at(s, at.v - part), u9i_stream_at(s, s->laid.v - part), part);
    s->laid = at;
    s->sent = (u9i_place){.v = at.v - part, .pos = at.pos - part};
    if (s->count == 0 && part == 0) s->done = s->sent.v;
}

int u9i_stream_lay(u9i_stream *s, u9i_place at, size_t n)
{
    assert(at.pos == s->laid.pos && at.v >= s->laid.v);
    if (s->error != 0) return s->error;
    if (at.v != s->laid.v) begin_lap(s, at);
    s->laid.v += n;
    s->laid.pos += n;
    while (s->error == 0 && u9i_stream_waiting(s) >= U9I_STREAM_CHUNK) (void)submit_some(s, U9I_STREAM_CHUNK, false);
    stream_check(s);
    return s->error;
}

void u9i_stream_pad(u9i_stream *s)
{
    u9i_place to = u9i_stream_block(s->laid);
    memset(u9i_stream_at(s, s->laid.v), 0, (size_t)(to.v - s->laid.v));
    s->laid = to;
    stream_check(s);
}

int u9i_stream_sync_begin(u9i_stream *s)
{
    u9i_op op = {.kind = U9I_OP_SYNC, .file = s->file, .tag = TAG_SYNC};
    assert(!s->syncing);
    if (s->error != 0) return s->error;
    int err = u9i_queue_submit(s->queue, &op, 1);
    if (err != 0) return fail_stream(s, err);
    s->syncing = true;
    s->synced = false;
    stream_check(s);
    return 0;
}

int u9i_stream_sync_end(u9i_stream *s)
{
    while (s->syncing) (void)u9i_stream_reap(s, true);
    return s->error;
}

bool u9i_stream_took_sync(u9i_stream *s)
{
    bool synced = s->synced;
    s->synced = false;
    return synced;
}
