/*
 * engine/os/posix_queue.c: a queue without a ring: an operation is done when it is submitted, and its
 * completion kept, so that what stands above is the same for both envs. Nothing is ever under way.
 */
#include "engine/os/posix.h"

#include "engine/os/process.h"
#include "format/base/limits.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

typedef struct posix_queue {
    u9i_queue queue;
    unsigned generation;   /* of forks, when it was opened */
    unsigned first, count; /* completions that wait to be taken */
    u9i_completion done[U9I_QUEUE_DEPTH];
    pthread_mutex_t lock;
    pthread_cond_t told;
    bool woken;            /* under the lock: the next wait is over */
} posix_queue;

static void posix_queue_check(const posix_queue *q)
{
    assert(q->first < U9I_QUEUE_DEPTH && q->count <= U9I_QUEUE_DEPTH && q->queue.env != NULL);
}

static int open_posix_queue(u9i_env *env, void *buffers, size_t size, unsigned count, u9i_queue **out)
{
    (void)buffers;
    (void)size;
    (void)count;
    posix_queue *q = calloc(1, sizeof *q);
    if (q == NULL) return -ENOMEM;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&q->told, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&q->lock, NULL);
    q->queue.env = env;
    q->generation = u9i_fork_generation();
    *out = &q->queue;
    return 0;
}

static void close_posix_queue(u9i_queue *queue)
{
    posix_queue *q = (posix_queue *)queue;
    if (q->generation == u9i_fork_generation()) { /* in a child a thread waits on them forever */
        pthread_cond_destroy(&q->told);
        pthread_mutex_destroy(&q->lock);
    }
    free(q);
}

/* The rest of a write; a durable one past the page cache, if the file is open that way. */
static ssize_t write_some(const u9i_posix_file *file, const u9i_op *op, size_t done, bool durable)
{
    struct iovec rest = {.iov_base = (char *)op->buf + done, .iov_len = op->n - done};
    off_t off = (off_t)(op->off + done);
    if (!durable) return pwrite(file->fd, rest.iov_base, rest.iov_len, off);
    return pwritev2(done % U9I_BLOCK == 0 ? u9i_posix_writing_fd(file) : file->fd, &rest, 1, off, RWF_DSYNC);
}

static int sync_data(const u9i_posix_file *file)
{
    while (fdatasync(file->fd) != 0)
        if (errno != EINTR) return -errno;
    return 0;
}

static int write_all(const u9i_posix_file *file, const u9i_op *op)
{
    bool durable = op->durable; /* as long as kernel and file system have such writes */
    size_t done = 0;
    while (done < op->n) {
        ssize_t r = write_some(file, op, done, durable);
        if (r > 0) done += (size_t)r;
        else if (r == 0) return -EIO;
        else if (durable && (errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS)) durable = false;
        else if (errno != EINTR && errno != EAGAIN) return -errno;
    }
    return durable == op->durable ? 0 : sync_data(file);
}

int64_t u9i_posix_perform(const u9i_op *op)
{
    const u9i_posix_file *file = (const u9i_posix_file *)op->file;
    size_t done = op->kind == U9I_OP_SYNC ? 0 : op->n;
    int err = op->kind == U9I_OP_SYNC    ? sync_data(file)
              : op->kind == U9I_OP_WRITE ? write_all(file, op)
                                         : u9i_posix_read(op->file, op->off, op->buf, op->n, &done);
    return err ? err : (int64_t)done;
}

static int submit_posix(u9i_queue *queue, const u9i_op *ops, unsigned count)
{
    posix_queue *q = (posix_queue *)queue;
    if (count > U9I_QUEUE_DEPTH - q->count) return -EBUSY;
    for (unsigned i = 0; i < count; i++)
        q->done[(q->first + q->count++) % U9I_QUEUE_DEPTH] =
            (u9i_completion){.tag = ops[i].tag, .result = u9i_posix_perform(&ops[i])};
    posix_queue_check(q);
    return 0;
}

static void wait_until_woken(posix_queue *q, uint64_t deadline_us)
{
    struct timespec deadline = u9i_posix_timespec(deadline_us);
    int err = 0;
    pthread_mutex_lock(&q->lock);
    while (!q->woken && err == 0)
        err = deadline_us == U9I_FOREVER ? pthread_cond_wait(&q->told, &q->lock)
                                         : pthread_cond_timedwait(&q->told, &q->lock, &deadline);
    q->woken = false;
    pthread_mutex_unlock(&q->lock);
}

static int wait_posix_queue(u9i_queue *queue, u9i_completion *out, unsigned max, uint64_t deadline_us)
{
    posix_queue *q = (posix_queue *)queue;
    unsigned n = 0;
    assert(max > 0);
    if (q->count == 0 && deadline_us > 0) wait_until_woken(q, deadline_us);
    for (; n < max && q->count > 0; n++, q->count--) {
        out[n] = q->done[q->first];
        q->first = (q->first + 1) % U9I_QUEUE_DEPTH;
    }
    posix_queue_check(q);
    return (int)n;
}

/* Nothing is ever under way. */
static void settle_posix_queue(u9i_queue *queue)
{
    ((posix_queue *)queue)->count = 0;
}

static void wake_posix_queue(u9i_queue *queue)
{
    posix_queue *q = (posix_queue *)queue;
    pthread_mutex_lock(&q->lock);
    q->woken = true;
    pthread_cond_signal(&q->told);
    pthread_mutex_unlock(&q->lock);
}

const u9i_queue_type u9i_posix_queue_type = {
    .open = open_posix_queue,
    .close = close_posix_queue,
    .submit = submit_posix,
    .wait = wait_posix_queue,
    .settle = settle_posix_queue,
    .wake = wake_posix_queue};
