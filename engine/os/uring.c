/*
 * engine/os/uring.c: the io table on a ring: writes go O_DIRECT from registered buffers where the file
 * system and the memory limit allow it, plain otherwise. All else is the posix table's.
 *
 * Each operation has a slot that remembers what is left of it: a short or interrupted completion is
 * submitted again from where it stopped, and only its end is told to the writer.
 */
#include "engine/os/posix.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct slot {
    bool busy;
    bool is_sync;
    u9i_posix_file *file;
    uint64_t off;
    const uint8_t *buf;
    size_t left;
    uint64_t tag;
} slot;

typedef struct uring {
    u9i_posix posix;
    bool registered; /* the buffers are; posix.started: the ring is set up */
    struct io_uring ring;
    const uint8_t *buffers;
    size_t buffer_size;
    unsigned buffer_count;
    slot slots[U9I_IO_DEPTH];
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

static int mount_uring(const char *path, bool create, u9i_io **out)
{
    int err = u9i_posix_mount(path, create, sizeof(uring), out);
    if (err == 0) (*out)->table = &u9i_io_uring;
    return err;
}

static void unmount_uring(u9i_io *io)
{
    uring *u = (uring *)io;
    if (u->posix.started) io_uring_queue_exit(&u->ring);
    u9i_posix_unmount(io);
}

static int start_uring(u9i_io *io, void *buffers, size_t size, unsigned count)
{
    uring *u = (uring *)io;
    struct iovec vec[U9I_IO_DEPTH];
    assert(count <= U9I_IO_DEPTH && !u->posix.started);
    int err = io_uring_queue_init(U9I_IO_DEPTH, &u->ring, 0);
    if (err != 0) return err;
    u->posix.started = true;
    u->buffers = buffers;
    u->buffer_size = size;
    u->buffer_count = count;
    for (unsigned i = 0; i < count; i++)
        vec[i] = (struct iovec){.iov_base = (char *)buffers + i * size, .iov_len = size};
    /* Refused under a small RLIMIT_MEMLOCK: the writes are then not fixed ones, nothing else. */
    u->registered = io_uring_register_buffers(&u->ring, vec, count) == 0;
    return 0;
}

static int open_uring(u9i_io *io, const char *name, u9i_open_mode mode, u9i_file **out)
{
    int err = u9i_posix_open(io, name, mode, out);
    if (err != 0 || mode == U9I_OPEN_READ) return err;
    u9i_posix_file *f = (u9i_posix_file *)*out;
    f->direct = openat(((u9i_posix *)io)->dir, name, O_WRONLY | O_DIRECT | O_CLOEXEC);
    return 0; /* without direct I/O the page cache does */
}

/* Puts what is left of a slot into the ring and submits it. */
static int submit(uring *u, slot *s)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
    if (sqe == NULL) return -EBUSY;
    int fd = s->file->direct >= 0 && !s->is_sync ? s->file->direct : s->file->fd;
    size_t at = (size_t)(s->buf - u->buffers);
    if (s->is_sync)
        io_uring_prep_fsync(sqe, fd, IORING_FSYNC_DATASYNC);
    else if (u->registered && s->buf >= u->buffers && at < u->buffer_size * u->buffer_count)
        io_uring_prep_write_fixed(sqe, fd, s->buf, (unsigned)s->left, s->off,
                                  (int)(at / u->buffer_size));
    else
        io_uring_prep_write(sqe, fd, s->buf, (unsigned)s->left, s->off);
    io_uring_sqe_set_data(sqe, s);
    int n;
    while ((n = io_uring_submit(&u->ring)) < 0)
        if (n != -EINTR && n != -EAGAIN) return n;
    return 0;
}

static int begin(u9i_file *file, const slot *work)
{
    uring *u = (uring *)file->io;
    assert(u->posix.started);
    slot *s = u->slots;
    while (s < u->slots + U9I_IO_DEPTH && s->busy) s++;
    if (s == u->slots + U9I_IO_DEPTH) return -EBUSY;
    *s = *work;
    s->busy = true;
    int err = submit(u, s);
    if (err != 0) s->busy = false;
    return err;
}

static int write_uring(u9i_file *file, uint64_t off, const void *buf, size_t n, uint64_t tag)
{
    return begin(file, &(slot){.file = (u9i_posix_file *)file, .off = off, .buf = buf, .left = n,
                               .tag = tag});
}

static int sync_uring(u9i_file *file, uint64_t tag)
{
    return begin(file, &(slot){.file = (u9i_posix_file *)file, .is_sync = true, .tag = tag});
}

/* Takes one completion in. True: the operation is over, with *error. False: it goes on. */
static bool settle_slot(uring *u, slot *s, int res, int *error)
{
    *error = 0;
    if (res == -EINTR || res == -EAGAIN) {
        *error = submit(u, s);
        return *error != 0;
    }
    if (res == -EINVAL && !s->is_sync && s->file->direct >= 0) {
        /* The file system took the O_DIRECT flag but not the write: through the page cache. */
        *error = u9i_posix_write_all(s->file->fd, s->off, s->buf, s->left);
        return true;
    }
    if (res < 0 || s->is_sync) {
        *error = res < 0 ? res : 0;
        return true;
    }
    if (res == 0 && s->left > 0) {
        *error = -EIO;
        return true;
    }
    s->off += (uint64_t)res;
    s->buf += res;
    s->left -= (size_t)res;
    if (s->left == 0) return true;
    *error = submit(u, s); /* a short write goes on where it stopped [F12] */
    return *error != 0;
}

static int reap_uring(u9i_io *io, bool wait, u9i_done *out)
{
    uring *u = (uring *)io;
    for (;;) {
        struct io_uring_cqe *cqe = NULL;
        int err = wait ? io_uring_wait_cqe(&u->ring, &cqe) : io_uring_peek_cqe(&u->ring, &cqe);
        if (err == -EINTR || (err == -EAGAIN && wait)) continue;
        if (err != 0) return err;
        slot *s = io_uring_cqe_get_data(cqe);
        int res = cqe->res;
        io_uring_cqe_seen(&u->ring, cqe);
        if (settle_slot(u, s, res, &out->error)) {
            out->tag = s->tag;
            s->busy = false;
            return 0;
        }
    }
}

const u9i_io_table u9i_io_uring = {
    .name = "uring",
    .mount = mount_uring,
    .unmount = unmount_uring,
    .lock = u9i_posix_lock,
    .busy = u9i_posix_busy,
    .list = u9i_posix_list,
    .sync_dir = u9i_posix_sync_dir,
    .start = start_uring,
    .open = open_uring,
    .close = u9i_posix_close,
    .size = u9i_posix_size,
    .read = u9i_posix_read,
    .reserve = u9i_posix_reserve,
    .cut = u9i_posix_cut,
    .settle = u9i_posix_settle,
    .write = write_uring,
    .sync = sync_uring,
    .reap = reap_uring,
};
