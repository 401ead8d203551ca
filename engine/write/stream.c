/*
 * engine/write/stream.c: see stream.h. [S-3]
 */
#include "engine/write/stream.h"

#include "engine/os/process.h"
#include "format/base/limits.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { TAG_SYNC = U9I_STREAM_BUFFERS }; /* tags below are those of buffers */

/* What holds of every stream between two calls. */
static void stream_check(const u9i_stream *s)
{
    unsigned writes = 0;
    for (unsigned i = 0; i < U9I_STREAM_BUFFERS; i++) writes += s->under_way[i];
    assert(writes == s->writes && writes <= U9I_QUEUE_DEPTH);
    assert(s->sent <= s->fill && s->fill <= U9I_STREAM_BUFFER && s->current < U9I_STREAM_BUFFERS);
    assert(s->base % U9I_BLOCK == 0 && s->sent % U9I_BLOCK == 0);
    assert(!s->syncing || !s->synced);
}

int u9i_stream_init(u9i_stream *s, u9i_env *env)
{
    memset(s, 0, sizeof *s);
    s->buffers = u9i_pages((size_t)U9I_STREAM_BUFFERS * U9I_STREAM_BUFFER);
    if (s->buffers == NULL) return -ENOMEM;
    int err = u9i_queue_open(env, s->buffers, U9I_STREAM_BUFFER, U9I_STREAM_BUFFERS, &s->queue);
    if (err != 0) u9i_stream_release(s);
    return err;
}

static int fail_stream(u9i_stream *s, int err)
{
    if (s->error == 0) s->error = err;
    return s->error;
}

/* Takes one completion in. Without `wait` -EAGAIN if there is none yet. */
static int take_completion(u9i_stream *s, bool wait)
{
    u9i_completion c;
    int n;
    while ((n = u9i_queue_wait(s->queue, &c, 1, wait ? U9I_FOREVER : 0)) == 0)
        if (!wait) return -EAGAIN;
    if (n < 0) return n;
    if (c.tag == TAG_SYNC) {
        s->syncing = false;
        s->synced = c.result >= 0;
    } else {
        assert(c.tag < U9I_STREAM_BUFFERS && s->under_way[c.tag] > 0);
        s->under_way[c.tag]--;
        s->writes--;
    }
    stream_check(s);
    return c.result < 0 ? fail_stream(s, (int)c.result) : 0;
}

void u9i_stream_release(u9i_stream *s)
{
    if (s->queue) u9i_queue_close(s->queue); /* which waits: the buffers must not be freed before */
    s->queue = NULL;
    u9i_pages_free(s->buffers, (size_t)U9I_STREAM_BUFFERS * U9I_STREAM_BUFFER);
    s->buffers = NULL;
}

void u9i_stream_turn(u9i_stream *s, u9i_file *file, uint64_t offset)
{
    assert(s->writes == 0 && !s->syncing && offset % U9I_BLOCK == 0);
    s->file = file;
    s->base = offset;
    s->fill = s->sent = 0;
    stream_check(s);
}

/* Submits the whole blocks that wait, which are all that wait. */
static int submit_blocks(u9i_stream *s)
{
    assert(s->fill % U9I_BLOCK == 0);
    if (s->error != 0 || s->fill == s->sent) return s->error;
    u9i_op op = {.kind = U9I_OP_WRITE, .file = s->file, .off = s->base + s->sent,
                 .buf = s->buffers + (size_t)s->current * U9I_STREAM_BUFFER + s->sent,
                 .n = s->fill - s->sent, .tag = s->current};
    int err;
    while ((err = u9i_queue_submit(s->queue, &op, 1)) == -EBUSY)
        if ((err = take_completion(s, true)) != 0) break;
    if (err != 0) return fail_stream(s, err);
    s->under_way[s->current]++;
    s->writes++;
    s->sent = s->fill;
    stream_check(s);
    return 0;
}

/* Turns to the next buffer, when the disk is done with it. */
static int next_buffer(u9i_stream *s)
{
    unsigned next = (s->current + 1) % U9I_STREAM_BUFFERS;
    while (s->under_way[next] > 0) {
        int err = take_completion(s, true);
        if (err != 0) return fail_stream(s, err);
    }
    s->base += s->fill;
    s->fill = s->sent = 0;
    s->current = next;
    stream_check(s);
    return 0;
}

int u9i_stream_put(u9i_stream *s, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    while (n > 0 && s->error == 0) {
        size_t room = U9I_STREAM_BUFFER - s->fill;
        size_t some = n < room ? n : room;
        memcpy(s->buffers + (size_t)s->current * U9I_STREAM_BUFFER + s->fill, p, some);
        s->fill += some;
        p += some;
        n -= some;
        if (s->fill == U9I_STREAM_BUFFER && submit_blocks(s) == 0) (void)next_buffer(s);
    }
    return s->error;
}

int u9i_stream_pad(u9i_stream *s)
{
    size_t rest = -s->fill & (U9I_BLOCK - 1);
    memset(s->buffers + (size_t)s->current * U9I_STREAM_BUFFER + s->fill, 0, rest);
    s->fill += rest;
    if (submit_blocks(s) != 0) return s->error;
    /* A small rest of a buffer would make small writes: turn when half is used. */
    return s->fill >= U9I_STREAM_BUFFER / 2 ? next_buffer(s) : 0;
}

int u9i_stream_sync_begin(u9i_stream *s)
{
    if (u9i_stream_sync_end(s) != 0 || u9i_stream_pad(s) != 0) return s->error;
    while (s->writes > 0)
        if (take_completion(s, true) != 0) return fail_stream(s, -EIO);
    u9i_op op = {.kind = U9I_OP_SYNC, .file = s->file, .tag = TAG_SYNC};
    int err = u9i_queue_submit(s->queue, &op, 1);
    if (err != 0) return fail_stream(s, err);
    s->syncing = true;
    s->synced = false;
    stream_check(s);
    return 0;
}

int u9i_stream_sync_end(u9i_stream *s)
{
    while (s->syncing)
        if (take_completion(s, true) != 0) return fail_stream(s, -EIO);
    return s->error;
}

bool u9i_stream_took_sync(u9i_stream *s)
{
    bool synced = s->synced;
    s->synced = false;
    return synced;
}

int u9i_stream_poll(u9i_stream *s)
{
    int err;
    while ((err = take_completion(s, false)) == 0) continue;
    return err == -EAGAIN ? s->error : fail_stream(s, err);
}
