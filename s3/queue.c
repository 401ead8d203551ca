/*
 * s3/queue.c: reads and writes that are under way: they are done by who waits for them, all reads together.
 */
#include "s3/s3.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct queue {
    u9i_queue queue;
    u9i_op ops[U9I_QUEUE_DEPTH]; /* not done yet, */
    unsigned count;
    u9i_completion done[U9I_QUEUE_DEPTH]; /*   done, and not taken */
    unsigned done_count;
    atomic_bool woken;
} queue;

static int open_queue(u9i_env *env, void *buffers, size_t size, unsigned count, u9i_queue **out)
{
    (void)buffers;
    (void)size;
    (void)count;
    queue *q = calloc(1, sizeof *q);
    if (q == NULL) return -ENOMEM;
    q->queue.env = env;
    *out = &q->queue;
    return 0;
}

static void close_queue(u9i_queue *base)
{
    free(base);
}

static int submit(u9i_queue *base, const u9i_op *ops, unsigned count)
{
    queue *q = (queue *)base;
    if (count > U9I_QUEUE_DEPTH - q->count - q->done_count) return -EBUSY;
    memcpy(q->ops + q->count, ops, count * sizeof *ops);
    q->count += count;
    return 0;
}

static int64_t do_one(const u9i_op *op)
{
    u9s_file *f = u9s_file_of(op->file);
    int err = op->kind == U9I_OP_WRITE ? u9s_upload_write(f, op->off, op->buf, op->n) : u9s_upload_finish(f);
    return err ? err : op->kind == U9I_OP_WRITE ? (int64_t)op->n : 0;
}

static void do_all(queue *q)
{
    u9s_range ranges[U9I_QUEUE_DEPTH];
    unsigned reads = 0, at = 0;
    for (unsigned i = 0; i < q->count; i++) {
        const u9i_op *op = &q->ops[i];
        if (op->kind == U9I_OP_READ)
            ranges[reads++] = (u9s_range){.file = u9s_file_of(op->file), .off = op->off, .buf = op->buf, .n = op->n};
    }
    if (reads > 0) u9s_read_ranges(ranges, reads);
    for (unsigned i = 0; i < q->count; i++) {
        const u9i_op *op = &q->ops[i];
        int64_t result = 0;
        if (op->kind != U9I_OP_READ) {
            result = do_one(op);
        } else {
            result = ranges[at].err ? ranges[at].err : (int64_t)ranges[at].got;
            at++;
        }
        q->done[q->done_count++] = (u9i_completion){.tag = op->tag, .result = result};
    }
    q->count = 0;
}

static int wait_queue(u9i_queue *base, u9i_completion *out, unsigned max, uint64_t deadline_us)
{
    queue *q = (queue *)base;
    unsigned n = 0;
    assert(max > 0);
    if (q->done_count == 0 && q->count > 0) do_all(q);
    while (q->done_count == 0 && !atomic_exchange(&q->woken, false)) { /* nothing is under way: until a wake or the deadline */
        uint64_t now = u9i_monotonic_us(base->env);
        if (now >= deadline_us) return 0;
        u9i_sleep_us(base->env, deadline_us - now < 1000 ? deadline_us - now : 1000);
    }
    while (n < max && q->done_count > 0) {
        out[n++] = q->done[0];
        memmove(q->done, q->done + 1, --q->done_count * sizeof *q->done);
    }
    return (int)n;
}

static void settle(u9i_queue *base)
{
    queue *q = (queue *)base;
    q->count = q->done_count = 0; /* what was not begun reads or writes nothing */
}

static void wake(u9i_queue *base)
{
    atomic_store(&((queue *)base)->woken, true);
}

const u9i_queue_type u9s_queue_type = {
    .open = open_queue, .close = close_queue, .submit = submit, .wait = wait_queue, .settle = settle, .wake = wake};
