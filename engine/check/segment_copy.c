/*
 * engine/check/segment_copy.c: see segment_copy.h. [A-2] [S-3] [S-4]
 */
#include "engine/check/segment_copy.h"

#include "engine/check/small_file.h"
#include "engine/os/process.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { STEP = 1 << 20 }; /* bytes copied at once */

static uint64_t up_to_block(uint64_t offset)
{
    return (offset + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
}

/* Of what is copied, whose fault it is then. */
static int read_from(u9i_segment_copy *c, uint64_t at, uint8_t *buf, size_t n)
{
    int err = u9i_read_exactly(c->from, at, buf, n);
    c->unread |= err != 0;
    for (size_t k = 0; k < c->kept_count && err == 0; k++) {
        uint64_t begin = c->kept[k].begin > at ? c->kept[k].begin : at;
        uint64_t end = c->kept[k].end < at + n ? c->kept[k].end : at + n;
        if (begin < end) err = u9i_read_exactly(c->old, begin, buf + (begin - at), (size_t)(end - begin));
    }
    return err;
}

static size_t step_at(const u9i_segment_copy *c, uint64_t at)
{
    return c->bytes - at < STEP ? (size_t)(c->bytes - at) : STEP;
}

static int write_bytes(u9i_segment_copy *c, u9i_file *file, uint8_t *buf)
{
    int64_t err = 0;
    for (uint64_t at = 0; at < c->bytes && err >= 0; at += STEP) {
        size_t n = step_at(c, at), whole = (size_t)up_to_block(n);
        err = read_from(c, at, buf, n);
        memset(buf + n, 0, whole - n);
        u9i_op write = {.kind = U9I_OP_WRITE, .file = file, .off = at, .buf = buf, .n = whole};
        if (err == 0) err = u9i_queue_do(c->queue, &write);
    }
    return err < 0 ? (int)err : 0;
}

/* What was written is what is read now. */
static int compare_copy(u9i_segment_copy *c, u9i_file *file, uint8_t *buf, uint8_t *other)
{
    int err = 0;
    for (uint64_t at = 0; at < c->bytes && err == 0; at += STEP) {
        size_t n = step_at(c, at);
        err = read_from(c, at, buf, n);
        if (err == 0) err = u9i_read_exactly(file, at, other, n);
        if (err == 0 && memcmp(buf, other, n) != 0) err = -EIO;
    }
    return err;
}

static int close_copy(const u9i_segment_copy *c, u9i_file *file)
{
    u9i_segment_out *o = c->out;
    assert(o->end.offset == c->bytes);
    o->file = file;
    o->dir = c->to;
    o->path = c->path;
    o->reserved = up_to_block(c->bytes) + U9I_BLOCK;
    int err = u9i_segment_out_ready(o) ? u9i_segment_out_end(o, c->queue, U9I_END_CLOSING, c->kind) : -ENOMEM;
    o->file = NULL; /* not its to close */
    u9i_segment_out_close(o);
    return err;
}

/* All that becomes of the file once it is made. */
static int fill_copy(u9i_segment_copy *c, u9i_file *file, uint8_t *buf, uint64_t *size)
{
    u9i_op sync = {.kind = U9I_OP_SYNC, .file = file};
    int64_t done;
    int err = u9i_file_reserve(file, up_to_block(c->bytes) + (c->out ? U9I_BLOCK : 0));
    if (err == 0) err = write_bytes(c, file, buf);
    if (err == 0 && c->out == NULL) err = u9i_file_truncate(file, c->size);
    if (err == 0 && (done = u9i_queue_do(c->queue, &sync)) < 0) err = (int)done;
    if (err == 0 && c->out) err = close_copy(c, file); /* all before the u9end is durable [S-4] */
    if (err == 0) err = u9i_file_sync_and_evict(file);
    if (err == 0) err = compare_copy(c, file, buf, buf + STEP);
    return err == 0 ? u9i_file_size(file, size) : err;
}

int u9i_segment_copy_make(u9i_segment_copy *c, uint64_t *size)
{
    u9i_file *file;
    assert(c->out || c->size >= c->bytes);
    c->unread = false;
    uint8_t *buf = u9i_pages(2 * STEP);
    if (buf == NULL) return -ENOMEM;
    int err = u9i_dir_remove(c->to, c->name); /* what an earlier run left */
    if (err == 0 || err == -ENOENT) err = u9i_file_open(c->to, c->name, U9I_OPEN_CREATE, &file);
    if (err == 0) {
        err = fill_copy(c, file, buf, size);
        u9i_file_close(file);
        if (err != 0) (void)u9i_dir_remove(c->to, c->name);
    }
    u9i_pages_free(buf, 2 * STEP);
    return err;
}
