/*
 * rados/queue.c: reads and writes that are under way. [RD-6] [RD-7]
 *
 * An operation is one request for each object that it touches; the client's threads bring their results, and who waits
 * takes whole operations. A write that is acknowledged is on every copy: a sync has nothing left to do. It counts only
 * if the log is still ours: while the lease surely is (the clock says so), or by asking once more, behind it.
 *
 * A request that is alone is waited for by who wants it: the client wakes that one directly, and its own threads' call of
 * us, a change of threads later, finds nothing left to do (a lone commit: 1.2 x a bare write, where it was 1.4).
 */
#include "rados/rados.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    struct pending *owner;
    struct queue *queue;
    rados_completion_t completion;
    char *buf;
    size_t n;
    uint32_t index;
    bool waited, called, arrived; /* who takes operations waits for this one itself; the client's thread has been here; either has */
} request;

typedef struct pending {
    struct queue *queue;
    u9i_op op;
    unsigned left;      /* requests without a result */
    request *only;      /* until it has one: the only request of the operation */
    bool used, is_short, missing, settled; /* settled: the file was, when it began */
    int err;
    uint32_t failed_at, missing_at; /* the object */
} pending;

typedef struct queue {
    u9i_queue queue;
    unsigned generation;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t told;
    unsigned under_way;   /* submitted, and their completion not taken */
    unsigned calls;       /* that the client's threads are still to make */
    unsigned first, count;
    unsigned ready[U9I_QUEUE_DEPTH]; /* indexes of those that are complete */
    pending pending[U9I_QUEUE_DEPTH];
    bool woken;
} queue;

static void queue_check(const queue *q)
{
    assert(q->count <= q->under_way && q->under_way <= U9I_QUEUE_DEPTH);
}

static int open_queue(u9i_env *env, void *buffers, size_t size, unsigned count, u9i_queue **out)
{
    (void)buffers;
    (void)size;
    (void)count;
    queue *q = calloc(1, sizeof *q);
    if (q == NULL) return -ENOMEM;
    u9r_init_wait(&q->lock, &q->told);
    q->queue.env = env;
    q->generation = u9r_host->forks();
    *out = &q->queue;
    return 0;
}

/* The client answers each request, with an error where nobody else does. In a child its threads are not there. */
static void settle(u9i_queue *base)
{
    queue *q = (queue *)base;
    if (q->generation != u9r_host->forks()) return;
    pthread_mutex_lock(&q->lock);
    while (q->count < q->under_way || q->calls > 0) pthread_cond_wait(&q->told, &q->lock);
    for (unsigned i = 0; i < U9I_QUEUE_DEPTH; i++) q->pending[i].used = false;
    q->count = q->under_way = 0;
    pthread_mutex_unlock(&q->lock);
}

static void close_queue(u9i_queue *base)
{
    queue *q = (queue *)base;
    settle(base);
    if (q->generation == u9r_host->forks()) {
        pthread_cond_destroy(&q->told);
        pthread_mutex_destroy(&q->lock);
    }
    free(q);
}

/* The lock is held. */
static void complete(queue *q, pending *p)
{
    q->ready[(q->first + q->count++) % U9I_QUEUE_DEPTH] = (unsigned)(p - q->pending);
    queue_check(q);
    pthread_cond_broadcast(&q->told);
}

static void arrive(pending *p, const request *r, int result)
{
    if (p->op.kind == U9I_OP_READ && result == -ENOENT) {
        p->missing = true;
        p->missing_at = r->index;
        result = 0;
    }
    if (result < 0) {
        if (p->err == 0) p->failed_at = r->index;
        if (p->err == 0) p->err = result;
        if (p->op.kind == U9I_OP_WRITE) u9r_file_of(p->op.file)->failed = true; /* also where nobody takes the result */
    } else if (p->op.kind == U9I_OP_READ && (size_t)result < r->n) {
        memset(r->buf + result, 0, r->n - (size_t)result);
        p->is_short = true;
    }
}

static void free_request(request *r)
{
    rados_aio_release(r->completion);
    free(r);
}

/* The lock is held. It is done with its operation, which may be another's then. */
static void take_result(queue *q, request *r)
{
    pending *p = r->owner;
    if (r->arrived) return;
    r->arrived = true;
    p->only = NULL;
    arrive(p, r, rados_aio_get_return_value(r->completion));
    if (--p->left == 0) complete(q, p);
}

/* In one of the client's threads. */
static void on_result(rados_completion_t completion, void *arg)
{
    request *r = arg;
    queue *q = r->queue;
    (void)completion;
    pthread_mutex_lock(&q->lock);
    take_result(q, r);
    r->called = true;
    bool last = !r->waited;
    if (last) free_request(r);
    if (--q->calls == 0) pthread_cond_broadcast(&q->told);
    pthread_mutex_unlock(&q->lock);
}

static int ask(pending *p, request *r, uint64_t in)
{
    u9r_file *f = u9r_file_of(p->op.file);
    u9r_env *e = u9r_env_of(f->file.env);
    char oid[U9R_OID_MAX];
    int flags = 0, err = 0;
    u9r_data_oid(f->entry.inode, r->index, oid);
    if (p->op.kind == U9I_OP_READ) return rados_aio_read(e->io, oid, r->completion, r->buf, r->n, in);
    rados_write_op_t op = u9r_file_op(f, r->index, (uint64_t)r->index * U9R_OBJECT + in + r->n, &flags, &err);
    if (op == NULL) return err;
    rados_write_op_write(op, r->buf, r->n, in);
    err = rados_aio_write_op_operate(op, e->io, r->completion, oid, NULL, flags);
    rados_release_write_op(op);
    return err;
}

/* The request for what of an operation is in one object: it arrives at once if it cannot be made. */
static void request_one(pending *p, uint64_t off, size_t n)
{
    queue *q = p->queue;
    request *r = calloc(1, sizeof *r), none = {.owner = p, .index = (uint32_t)(off / U9R_OBJECT)};
    if (r) *r = (request){.owner = p, .queue = q, .buf = (char *)p->op.buf + (off - p->op.off), .n = n, .index = none.index};
    bool asked = false;
    int err = r && rados_aio_create_completion2(r, on_result, &r->completion) == 0 ? 0 : -ENOMEM;
    pthread_mutex_lock(&q->lock);
    p->left++;
    if (err == 0) q->calls++;
    if (n == p->op.n) p->only = err == 0 ? r : NULL;
    pthread_mutex_unlock(&q->lock);
    if (err == 0) {
        err = ask(p, r, off % U9R_OBJECT);
        if (err == 0) return;
        rados_aio_release(r->completion);
        asked = true;
    }
    free(r);
    pthread_mutex_lock(&q->lock);
    arrive(p, &none, err);
    p->left--;
    p->only = NULL;
    if (asked) q->calls--;
    pthread_mutex_unlock(&q->lock);
}

static void begin(queue *q, pending *p)
{
    p->left = 1; /* so that it is not complete before all is asked for */
    for (size_t done = 0, n; done < p->op.n && p->op.kind != U9I_OP_SYNC; done += n) {
        uint64_t off = p->op.off + done;
        n = U9R_OBJECT - off % U9R_OBJECT;
        if (n > p->op.n - done) n = p->op.n - done;
        request_one(p, off, n);
    }
    pthread_mutex_lock(&q->lock);
    if (--p->left == 0) complete(q, p);
    pthread_mutex_unlock(&q->lock);
}

static int submit(u9i_queue *base, const u9i_op *ops, unsigned count)
{
    queue *q = (queue *)base;
    pthread_mutex_lock(&q->lock);
    bool room = count <= U9I_QUEUE_DEPTH - q->under_way;
    if (room) q->under_way += count;
    pthread_mutex_unlock(&q->lock);
    if (!room) return -EBUSY;
    for (unsigned i = 0, at = 0; i < count; i++, at++) {
        while (q->pending[at].used) at++;
        q->pending[at] = (pending){.queue = q, .op = ops[i], .used = true, .settled = !u9r_file_of(ops[i].file)->entry.open};
        begin(q, &q->pending[at]);
    }
    return 0;
}

static int64_t result_of_read(pending *p)
{
    u9r_file *f = u9r_file_of(p->op.file);
    uint64_t size = UINT64_MAX;
    int err = p->err;
    char oid[U9R_OID_MAX];
    u9r_data_oid(f->entry.inode, p->failed_at, oid);
    if (err != 0) return u9r_fail(u9r_env_of(f->file.env), oid, err, "reading");
    if (p->is_short && !p->settled) { /* as it stands now */
        size_t got = 0;
        err = u9r_file_read(p->op.file, p->op.off, p->op.buf, p->op.n, &got);
        return err ? err : (int64_t)got;
    }
    if (p->is_short) err = u9r_file_extent(f, &size);
    if (err == 0 && p->missing && p->op.off < size) err = u9r_missing(f, p->missing_at, p->settled);
    if (err != 0) return err;
    return p->op.off >= size ? 0 : size - p->op.off < p->op.n ? (int64_t)(size - p->op.off) : (int64_t)p->op.n;
}

static int64_t result_of_write(pending *p)
{
    u9r_file *f = u9r_file_of(p->op.file);
    int err = p->err ? u9r_file_failed(f, p->failed_at, p->err, "writing") : 0;
    if (err == 0 && !u9r_lease_is_sure(f->dir)) err = u9r_lease_prove(f->dir);
    if (err != 0) f->failed = true;
    else u9r_tell_soon(f->dir);
    return err ? err : (int64_t)p->op.n;
}

static int64_t result_of(pending *p)
{
    if (p->op.kind == U9I_OP_READ) return result_of_read(p);
    return p->op.kind == U9I_OP_WRITE ? result_of_write(p) : 0;
}

/* The one request that is under way, if there is no other. The lock is held. */
static request *only_one(queue *q)
{
    if (q->under_way != 1 || q->count > 0) return NULL;
    pending *p = q->pending;
    while (!p->used) p++;
    return p->left == 1 ? p->only : NULL;
}

/* For that: it is had one change of threads earlier than by its call. Nobody can wake who waits so. The lock is held. */
static void wait_for_it(queue *q, request *r)
{
    assert(!r->waited); /* one thread waits */
    r->waited = true;
    pthread_mutex_unlock(&q->lock);
    rados_aio_wait_for_complete(r->completion);
    pthread_mutex_lock(&q->lock);
    take_result(q, r);
    r->waited = false;
    if (r->called) free_request(r);
}

/* Until something is complete, somebody wakes, or the deadline. The lock is held. */
static void wait_for_one(queue *q, uint64_t deadline_us)
{
    struct timespec at = {.tv_sec = (time_t)(deadline_us / 1000000), .tv_nsec = (long)(deadline_us % 1000000 * 1000)};
    int err = 0;
    while (q->count == 0 && !q->woken && err == 0)
        err = deadline_us == U9I_FOREVER ? pthread_cond_wait(&q->told, &q->lock)
                                         : pthread_cond_timedwait(&q->told, &q->lock, &at);
    if (q->count == 0) q->woken = false;
}

static int wait_queue(u9i_queue *base, u9i_completion *out, unsigned max, uint64_t deadline_us)
{
    queue *q = (queue *)base;
    unsigned n = 0;
    assert(max > 0);
    pthread_mutex_lock(&q->lock);
    request *only = deadline_us == U9I_FOREVER && !q->woken ? only_one(q) : NULL;
    if (only) wait_for_it(q, only);
    else if (q->count == 0 && deadline_us > 0) wait_for_one(q, deadline_us);
    while (n < max && q->count > 0) {
        pending *p = &q->pending[q->ready[q->first]];
        q->first = (q->first + 1) % U9I_QUEUE_DEPTH;
        q->count--;
        pthread_mutex_unlock(&q->lock); /* the client's threads go on while something is asked for here */
        out[n++] = (u9i_completion){.tag = p->op.tag, .result = result_of(p)};
        p->used = false;
        pthread_mutex_lock(&q->lock);
        q->under_way--;
        queue_check(q);
    }
    pthread_mutex_unlock(&q->lock);
    return (int)n;
}

static void wake(u9i_queue *base)
{
    queue *q = (queue *)base;
    pthread_mutex_lock(&q->lock);
    q->woken = true;
    pthread_cond_broadcast(&q->told);
    pthread_mutex_unlock(&q->lock);
}

const u9i_queue_type u9r_queue_type = {
    .open = open_queue, .close = close_queue, .submit = submit, .wait = wait_queue, .settle = settle, .wake = wake};
