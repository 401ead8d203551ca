/*
 * engine/write/stream.c: see stream.h. [S-3]
 */
#include "engine/write/stream.h"

#include "engine/os/system.h"
#include "format/base/limits.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { TAG_SYNC = U9I_STREAM_BUFFERS }; /* tags below are those of buffers */

int u9i_stream_init(u9i_stream *s, u9i_io *io)
{
    memset(s, 0, sizeof *s);
    s->io = io;
    s->buffers = u9i_pages((size_t)U9I_STREAM_BUFFERS * U9I_STREAM_BUFFER);
    if (s->buffers == NULL) return -ENOMEM;
    int err = io->table->start(io, s->buffers, U9I_STREAM_BUFFER, U9I_STREAM_BUFFERS);
    if (err != 0) u9i_stream_release(s);
    return err;
}

static int fail(u9i_stream *s, int err)
{
    if (s->error == 0) s->error = err;
    return s->error;
}

/* Takes one completion in. */
static int reap(u9i_stream *s, bool wait)
{
    u9i_done done;
    int err = s->io->table->reap(s->io, wait, &done);
    if (err != 0) return err;
    if (done.tag == TAG_SYNC) {
        s->syncing = false;
        s->synced = done.error == 0;
    } else {
        assert(done.tag < U9I_STREAM_BUFFERS && s->under_way[done.tag] > 0);
        s->under_way[done.tag]--;
        s->writes--;
    }
    return done.error ? fail(s, done.error) : 0;
}

/* Waits for everything under way, whatever comes of it: the buffers must not be freed before. */
static void quiesce(u9i_stream *s)
{
    while (s->writes > 0 || s->syncing) {
        unsigned before = s->writes + s->syncing;
        if (reap(s, true) != 0 && s->writes + s->syncing == before) break; /* the ring itself is gone */
    }
}

void u9i_stream_release(u9i_stream *s)
{
    quiesce(s);
    u9i_pages_free(s->buffers, (size_t)U9I_STREAM_BUFFERS * U9I_STREAM_BUFFER);
    s->buffers = NULL;
}

void u9i_stream_turn(u9i_stream *s, u9i_file *file, uint64_t offset)
{
    assert(s->writes == 0 && !s->syncing && offset % U9I_BLOCK == 0);
    s->file = file;
    s->base = offset;
    s->fill = s->sent = 0;
}

/* Submits the whole blocks that wait, which are all that wait. */
static int submit(u9i_stream *s)
{
    assert(s->fill % U9I_BLOCK == 0);
    if (s->error != 0 || s->fill == s->sent) return s->error;
    const uint8_t *from = s->buffers + (size_t)s->current * U9I_STREAM_BUFFER + s->sent;
    int err;
    while ((err = s->io->table->write(s->file, s->base + s->sent, from, s->fill - s->sent,
                                      s->current)) == -EBUSY)
        if ((err = reap(s, true)) != 0) break;
    if (err != 0) return fail(s, err);
    s->under_way[s->current]++;
    s->writes++;
    s->sent = s->fill;
    return 0;
}

/* Turns to the next buffer, when the disk is done with it. */
static int next_buffer(u9i_stream *s)
{
    unsigned next = (s->current + 1) % U9I_STREAM_BUFFERS;
    while (s->under_way[next] > 0) {
        int err = reap(s, true);
        if (err != 0) return fail(s, err);
    }
    s->base += s->fill;
    s->fill = s->sent = 0;
    s->current = next;
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
        if (s->fill == U9I_STREAM_BUFFER && submit(s) == 0) (void)next_buffer(s);
    }
    return s->error;
}

int u9i_stream_pad(u9i_stream *s)
{
    size_t rest = -s->fill & (U9I_BLOCK - 1);
    memset(s->buffers + (size_t)s->current * U9I_STREAM_BUFFER + s->fill, 0, rest);
    s->fill += rest;
    if (submit(s) != 0) return s->error;
    /* A small rest of a buffer would make small writes: turn when half is used. */
    return s->fill >= U9I_STREAM_BUFFER / 2 ? next_buffer(s) : 0;
}

int u9i_stream_sync_begin(u9i_stream *s)
{
    if (u9i_stream_sync_end(s) != 0 || u9i_stream_pad(s) != 0) return s->error;
    while (s->writes > 0)
        if (reap(s, true) != 0) return fail(s, -EIO);
    int err = s->io->table->sync(s->file, TAG_SYNC);
    if (err != 0) return fail(s, err);
    s->syncing = true;
    s->synced = false;
    return 0;
}

int u9i_stream_sync_end(u9i_stream *s)
{
    while (s->syncing)
        if (reap(s, true) != 0) return fail(s, -EIO);
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
    while ((err = reap(s, false)) == 0) continue;
    return err == -EAGAIN ? s->error : fail(s, err);
}
