/*
 * engine/os/uring.c: the env whose queues are rings: writes go O_DIRECT, from registered buffers where the
 * memory limit allows it. All else is the posix env's, and so is a queue for which no ring is to be had any more.
 *
 * A lone durable write needs no ring: its submitter waits for it anyhow, and pwritev2 is one call. There is no SQPOLL:
 * what is submitted is 1 MiB at a time, so calls are not what it costs, and its thread would take a processor. Files are
 * not registered: raw writes of 1 MiB made 1,043 MB/s, and 1,128 with buffers and file registered.
 *
 * Each operation has a slot that remembers how far it is: a short or interrupted completion is submitted
 * again from where it stopped, and only its end is told. Waiting threads are woken through an eventfd: a read
 * of it lies in the ring while somebody waits, and its completion is the wake.
 *
 *     submit: FREE -> BUSY     a completion: BUSY -> BUSY (goes on) or BUSY -> FREE (told)
 */
#include "engine/os/pool.h"
#include "engine/os/posix.h"
#include "engine/os/process.h"

#include <assert.h>
#include <errno.h>
#include <liburing.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    PIECE = 1 << 30, /* bytes of one request at most: their count has 32 bits */
    BULK = 1 << 19,  /* a write of so many bytes is one of many, as a rule */
    LOOK_US = 1000   /* between two looks for completions, where they cannot be waited for */
};

typedef struct slot {
    bool busy;
    u9i_op op;
    size_t done; /* bytes */
} slot;

typedef struct uring {
    u9i_queue queue;
    struct io_uring ring;
    unsigned generation; /* of forks, when it was opened */
    int error;           /* the ring has failed: nothing more is submitted */
    unsigned under_way;
    slot slots[U9I_QUEUE_DEPTH];
    bool told;           /* a write was done by its submission, which is to be told: */
    u9i_completion lone;

    bool asked;          /* whether the buffers can be registered, */
    bool registered;     /*   and they are: */
    uint8_t *buffers;
    size_t buffer_size;
    unsigned buffer_count;

    int wake_fd;
    atomic_bool called; /* it was written to, and no wait has ended for it */
    uint64_t wakes;     /* what the read of it fills */
    bool armed;         /* that read is under way */
    bool woken;         /* it is complete, and no wait has ended for it */
} uring;

bool u9i_uring_usable(void)
{
    static int known; /* 0 not asked, 1 yes, 2 no; a race asks twice and stores the same */
    int state = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (state == 0) {
        struct io_uring ring;
        state = io_uring_queue_init(2, &ring, 0) == 0 ? 1 : 2;
        if (state == 1) io_uring_queue_exit(&ring);
        __atomic_store_n(&known, state, __ATOMIC_RELAXED);
    }
    return state == 1;
}

static void uring_check(const uring *u)
{
    unsigned busy = 0;
    for (unsigned i = 0; i < U9I_QUEUE_DEPTH; i++) {
        busy += u->slots[i].busy;
        assert(!u->slots[i].busy || u->slots[i].op.file != NULL);
        assert(u->slots[i].done <= u->slots[i].op.n);
    }
    assert(busy == u->under_way && u->error <= 0);
    assert(!u->registered || (u->buffers != NULL && u->buffer_count <= U9I_QUEUE_DEPTH));
}

/* Pins them in memory: worth it for who writes much. */
static void register_buffers(uring *u)
{
    struct iovec vec[U9I_QUEUE_DEPTH];
    u->asked = true;
    if (u->buffers == NULL) return;
    for (unsigned i = 0; i < u->buffer_count; i++)
        vec[i] = (struct iovec){.iov_base = u->buffers + i * u->buffer_size, .iov_len = u->buffer_size};
    /* Refused under a small RLIMIT_MEMLOCK: requests are then not fixed ones, nothing else. */
    u->registered = io_uring_register_buffers(&u->ring, vec, u->buffer_count) == 0;
}

static int open_uring_queue(u9i_env *env, void *buffers, size_t size, unsigned count, u9i_queue **out)
{
    uring *u = calloc(1, sizeof *u);
    if (u == NULL) return -ENOMEM;
    u->queue.env = env;
    u->generation = u9i_fork_generation();
    u->wake_fd = u9i_posix_apart(eventfd(0, EFD_CLOEXEC));
    int err = u->wake_fd < 0 ? -errno : io_uring_queue_init(U9I_QUEUE_DEPTH, &u->ring, 0);
    if (err != 0) { /* a small RLIMIT_MEMLOCK may be used up by other rings */
        if (u->wake_fd >= 0) close(u->wake_fd);
        free(u);
        return u9i_queue_open(&u9i_env_posix, buffers, size, count, out);
    }
    assert(count <= U9I_QUEUE_DEPTH);
    u->buffers = buffers;
    u->buffer_size = size;
    u->buffer_count = count;
    *out = &u->queue;
    return 0;
}

/* Hands all that was prepared to the kernel. A failure here is the ring's end. */
static int push_slot(uring *u)
{
    while (u->error == 0 && io_uring_sq_ready(&u->ring) > 0) {
        int n = io_uring_submit(&u->ring);
        if (n < 0 && n != -EINTR && n != -EAGAIN && n != -EBUSY) u->error = n;
    }
    return u->error;
}

/* Which registered buffer holds these bytes; -1: none does. */
static int buffer_of(const uring *u, const uint8_t *bytes, size_t n)
{
    if (!u->registered || bytes < u->buffers) return -1;
    size_t at = (size_t)(bytes - u->buffers), which = at / u->buffer_size;
    return which < u->buffer_count && at + n <= (which + 1) * u->buffer_size ? (int)which : -1;
}

/* Puts what is left of a slot into the ring. */
static void prepare(uring *u, slot *s)
{
    const u9i_posix_file *file = (const u9i_posix_file *)s->op.file;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
    assert(sqe != NULL); /* no more than a batch is prepared at a time */
    uint8_t *bytes = s->op.buf ? (uint8_t *)s->op.buf + s->done : NULL;
    size_t left = s->op.n - s->done;
    unsigned n = left < PIECE ? (unsigned)left : PIECE;
    uint64_t off = s->op.off + s->done;
    if (!u->asked && s->op.kind == U9I_OP_WRITE && n >= BULK) register_buffers(u);
    int buffer = buffer_of(u, bytes, n);
    int to = u9i_posix_writing_fd(file);
    switch (s->op.kind) {
    case U9I_OP_READ:
        if (buffer >= 0) io_uring_prep_read_fixed(sqe, file->fd, bytes, n, off, buffer);
        else io_uring_prep_read(sqe, file->fd, bytes, n, off);
        break;
    case U9I_OP_WRITE:
        if (buffer >= 0) io_uring_prep_write_fixed(sqe, to, bytes, n, off, buffer);
        else io_uring_prep_write(sqe, to, bytes, n, off);
        if (s->op.durable) sqe->rw_flags = RWF_DSYNC;
        break;
    case U9I_OP_SYNC: io_uring_prep_fsync(sqe, file->fd, IORING_FSYNC_DATASYNC); break;
    }
    io_uring_sqe_set_data(sqe, s);
}

static int submit_uring(u9i_queue *queue, const u9i_op *ops, unsigned count)
{
    uring *u = (uring *)queue;
    if (u->error != 0) return u->error;
    if (count > U9I_QUEUE_DEPTH - u->under_way - u->told) return -EBUSY;
    if (count == 1 && ops->durable && u->under_way == 0 && !u->told) { /* who submits it waits for it, and so can we */
        u->told = true;
        u->lone = (u9i_completion){.tag = ops->tag, .result = u9i_posix_perform(ops)};
        return 0;
    }
    slot *s = u->slots;
    for (unsigned i = 0; i < count; i++, s++) {
        while (s->busy) s++;
        *s = (slot){.busy = true, .op = ops[i]};
        prepare(u, s);
    }
    u->under_way += count;
    uring_check(u);
    return push_slot(u);
}

/* Goes on with a slot. True: that cannot be. */
static bool stuck(uring *u, slot *s, int64_t *result)
{
    if (u->error == 0) prepare(u, s);
    *result = push_slot(u);
    return *result != 0;
}

/* What is left of a slot, by plain calls. */
static int64_t perform_rest(const slot *s)
{
    u9i_op rest = s->op;
    rest.off += s->done;
    rest.n -= s->done;
    if (s->done > 0) rest.buf = (uint8_t *)rest.buf + s->done;
    int64_t result = u9i_posix_perform(&rest);
    return result < 0 ? result : (int64_t)s->done + result;
}

/* True where plain calls through the page cache may well do what the ring refuses. */
static bool is_ring_only(const slot *s, int res)
{
    const u9i_posix_file *file = (const u9i_posix_file *)s->op.file;
    if (res == -EOPNOTSUPP) return s->op.durable; /* which is written and synced instead */
    /* The file system took the O_DIRECT flag but not the write. */
    if (res == -EINVAL) return s->op.kind == U9I_OP_WRITE && file->direct >= 0;
    /* The thread that submitted it has ended. Linux says EFAULT of a read that waited for the page cache. */
    return res == -ECANCELED || res == -EFAULT;
}

/* Takes one completion in. True: the operation is over, with *result. False: it goes on. */
static bool is_over(uring *u, slot *s, int res, int64_t *result)
{
    if (res == -EINTR || res == -EAGAIN) return stuck(u, s, result);
    if (is_ring_only(s, res)) {
        *result = perform_rest(s);
        return true;
    }
    *result = res;
    if (res < 0 || s->op.kind == U9I_OP_SYNC) return true;
    s->done += (size_t)res;
    *result = (int64_t)s->done;
    if (s->done == s->op.n) return true;
    if (res > 0) return stuck(u, s, result); /* a short one goes on where it stopped [F12] */
    if (s->op.kind == U9I_OP_WRITE) *result = -EIO;
    return true;
}

/* Takes in what is complete, up to `max` operations that are over. */
static unsigned take_ready(uring *u, u9i_completion *out, unsigned max)
{
    unsigned n = 0;
    struct io_uring_cqe *cqe;
    while (n < max && io_uring_peek_cqe(&u->ring, &cqe) == 0) {
        slot *s = io_uring_cqe_get_data(cqe);
        int res = cqe->res;
        io_uring_cqe_seen(&u->ring, cqe);
        if (s == NULL) {
            u->armed = false;
            u->woken |= res > 0; /* else the thread that waited has ended meanwhile */
        } else if (is_over(u, s, res, &out[n].result)) {
            out[n++].tag = s->op.tag;
            s->busy = false;
            u->under_way--;
        }
    }
    if (n > 0) uring_check(u);
    return n;
}

/* Lays the read of the eventfd into the ring. */
static int arm(uring *u)
{
    if (u->armed || u->error != 0) return u->error;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
    assert(sqe != NULL);
    io_uring_prep_read(sqe, u->wake_fd, &u->wakes, sizeof u->wakes, 0);
    io_uring_sqe_set_data(sqe, NULL);
    u->armed = true;
    return push_slot(u);
}

/* Waits for any completion. -ETIME: the deadline has come. */
static int wait_any(uring *u, uint64_t deadline_us)
{
    struct io_uring_cqe *cqe;
    int err;
    if (deadline_us == U9I_FOREVER) {
        err = io_uring_wait_cqe(&u->ring, &cqe);
    } else {
        uint64_t now = u9i_monotonic_us(u->queue.env), left = deadline_us > now ? deadline_us - now : 0;
        struct __kernel_timespec t = {.tv_sec = (int64_t)(left / 1000000),
                                      .tv_nsec = (long long)(left % 1000000) * 1000};
        err = left > 0 ? io_uring_wait_cqes(&u->ring, &cqe, 1, &t, NULL) : -ETIME;
    }
    return err == -EINTR || err == -EAGAIN ? 0 : err;
}

static int wait_uring_queue(u9i_queue *queue, u9i_completion *out, unsigned max, uint64_t deadline_us)
{
    uring *u = (uring *)queue;
    assert(max > 0);
    for (;;) {
        unsigned n = u->told;
        if (u->told) *out = u->lone;
        else n = take_ready(u, out, max);
        u->told = false;
        if (n > 0) return (int)n;
        if (deadline_us == 0) return u->error;
        if (u->woken) {
            u->woken = false;
            (void)atomic_exchange(&u->called, false); /* what the waker did before is seen by the waiter */
            return 0;
        }
        int err = arm(u);
        if (err == 0) err = wait_any(u, deadline_us);
        if (err != 0) return err == -ETIME ? 0 : err;
    }
}

static void wake_uring_queue(u9i_queue *queue)
{
    uring *u = (uring *)queue;
    uint64_t one = 1;
    if (atomic_exchange(&u->called, true)) return;
    (void)!write(u->wake_fd, &one, sizeof one); /* it does not wait: the count is at most one */
}

/* Operations that the kernel has: all but those that it refused to take, after which nothing is handed over. One that it had
 * before, and whose rest it refused, is over. */
static unsigned with_kernel(const uring *u)
{
    const struct io_uring_sq *sq = &u->ring.sq;
    unsigned n = u->under_way;
    for (unsigned i = *sq->khead; i != sq->sqe_tail; i++) {
        const slot *s = (const slot *)(uintptr_t)sq->sqes[i & sq->ring_mask].user_data;
        n -= s && s->busy;
    }
    return n;
}

/* In a child the buffers are its own, and the ring is the parent's. */
static void settle_uring_queue(u9i_queue *queue)
{
    uring *u = (uring *)queue;
    u9i_completion unused;
    u->told = false;
    if (u->generation != u9i_fork_generation()) return;
    while (with_kernel(u) > 0) /* their completions come into the ring, whether it can be waited at or not */
        if (take_ready(u, &unused, 1) == 0 && wait_any(u, U9I_FOREVER) != 0) u9i_sleep_us(u->queue.env, LOOK_US);
}

static void close_uring_queue(u9i_queue *queue)
{
    uring *u = (uring *)queue;
    settle_uring_queue(queue); /* the buffers may go when it is closed */
    io_uring_queue_exit(&u->ring);
    close(u->wake_fd);
    free(u);
}

static const u9i_queue_type queue_type = {
    .open = open_uring_queue,
    .close = close_uring_queue,
    .submit = submit_uring,
    .wait = wait_uring_queue,
    .settle = settle_uring_queue,
    .wake = wake_uring_queue};

u9i_env u9i_env_uring = {
    .name = "uring",
    .fs = &u9i_posix_ring_fs,
    .queue = &queue_type,
    .watch = &u9i_posix_watch_type,
    .clock = &u9i_posix_clock,
    .random = u9i_posix_random,
    .machine = u9i_posix_machine,
    .executor = &u9i_pool_executor,
};
