/*
 * engine/os/posix.c: the io table on plain system calls. write() and sync() do their work at once and
 * queue the completion, so that the writer above is the same for both tables.
 */
#include "engine/os/posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ASKED_MAX = 1000 }; /* tries, a millisecond apart, for a lock that readers ask about */

static int fd_of(u9i_file *file)
{
    return ((u9i_posix_file *)file)->fd;
}

/* fsync of a directory or file, through interruptions. */
static int sync_fd(int fd)
{
    while (fsync(fd) != 0)
        if (errno != EINTR) return -errno;
    return 0;
}

static int make_dir(const char *path)
{
    if (mkdir(path, 0777) != 0) return errno == EEXIST ? 0 : -errno;
    char *copy = strdup(path);
    if (copy == NULL) return -ENOMEM;
    int parent = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int err = parent < 0 ? -errno : sync_fd(parent); /* [W-4] */
    if (parent >= 0) close(parent);
    free(copy);
    return err;
}

/* The path is a file: its directory is mounted, and its name kept. */
static int open_single(u9i_posix *p, const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL) return -ENOMEM;
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    int err = 0;
    if (strlen(name) >= sizeof p->io.single) err = -ENAMETOOLONG;
    else if ((p->dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) err = -errno;
    else if ((p->lock = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0) err = -errno;
    else memcpy(p->io.single, name, strlen(name) + 1);
    free(copy);
    return err;
}

int u9i_posix_mount(const char *path, bool create, size_t size, u9i_io **out)
{
    int err = create ? make_dir(path) : 0;
    if (err != 0) return err;
    struct stat st;
    if (stat(path, &st) != 0) return -errno;
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) return -EINVAL;
    u9i_posix *p = calloc(1, size);
    if (p == NULL) return -ENOMEM;
    p->dir = p->lock = -1;
    if (S_ISREG(st.st_mode)) err = open_single(p, path);
    else if ((p->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) err = -errno;
    else p->lock = p->dir;
    if (err != 0) {
        u9i_posix_unmount(&p->io);
        return err;
    }
    *out = &p->io;
    return 0;
}

static int mount_posix(const char *path, bool create, u9i_io **out)
{
    int err = u9i_posix_mount(path, create, sizeof(u9i_posix), out);
    if (err == 0) (*out)->table = &u9i_io_posix;
    return err;
}

void u9i_posix_unmount(u9i_io *io)
{
    u9i_posix *p = (u9i_posix *)io;
    if (p->lock >= 0 && p->lock != p->dir) close(p->lock);
    if (p->dir >= 0) close(p->dir);
    free(p);
}

static int try_lock(int fd, int kind)
{
    while (flock(fd, kind | LOCK_NB) != 0)
        if (errno != EINTR) return -errno;
    return 0;
}

int u9i_posix_lock(u9i_io *io)
{
    u9i_posix *p = (u9i_posix *)io;
    int err;
    for (unsigned tries = 1; (err = try_lock(p->lock, LOCK_EX)) == -EWOULDBLOCK; tries++) {
        /* Readers that ask hold it shared for a moment: they alone are waited for. [W-1] */
        if (tries == ASKED_MAX || try_lock(p->lock, LOCK_SH) != 0) return -EWOULDBLOCK;
        (void)flock(p->lock, LOCK_UN);
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    p->locked = err == 0;
    return err;
}

bool u9i_posix_busy(u9i_io *io)
{
    u9i_posix *p = (u9i_posix *)io;
    if (p->locked) return p->started; /* to ask would give the lock away */
    int err = try_lock(p->dir, LOCK_SH); /* of a single file, too: its writer has the directory */
    if (err == 0) (void)flock(p->dir, LOCK_UN);
    return err == -EWOULDBLOCK;
}

static bool is_regular(int dir, const struct dirent *e)
{
    struct stat st;
    if (e->d_type == DT_REG) return true;
    if (e->d_type != DT_UNKNOWN && e->d_type != DT_LNK) return false;
    return fstatat(dir, e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode);
}

int u9i_posix_list(u9i_io *io, u9i_list_fn *each, void *ctx)
{
    int fd = openat(((u9i_posix *)io)->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -errno;
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        int err = -errno;
        close(fd);
        return err;
    }
    int err = 0;
    struct dirent *e;
    for (errno = 0; err == 0 && (e = readdir(dir)) != NULL; errno = 0)
        if (is_regular(fd, e)) err = each(ctx, e->d_name);
    if (err == 0 && errno != 0) err = -errno;
    closedir(dir);
    return err;
}

int u9i_posix_sync_dir(u9i_io *io)
{
    return sync_fd(((u9i_posix *)io)->dir);
}

static int start_posix(u9i_io *io, void *buffers, size_t size, unsigned count)
{
    (void)buffers;
    (void)size;
    (void)count;
    ((u9i_posix *)io)->started = true;
    return 0;
}

int u9i_posix_open(u9i_io *io, const char *name, u9i_open_mode mode, u9i_file **out)
{
    static const int flags[] = {
        [U9I_OPEN_READ] = O_RDONLY, [U9I_OPEN_WRITE] = O_RDWR,
        [U9I_OPEN_CREATE] = O_RDWR | O_CREAT | O_EXCL};
    u9i_posix_file *f = calloc(1, sizeof *f);
    if (f == NULL) return -ENOMEM;
    f->file.io = io;
    f->direct = -1;
    struct stat st;
    /* O_NONBLOCK: a FIFO in a segment's place must not hang the open. */
    f->fd = openat(((u9i_posix *)io)->dir, name, flags[mode] | O_CLOEXEC | O_NONBLOCK, 0600);
    int err = f->fd < 0 || fstat(f->fd, &st) != 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (err != 0) {
        u9i_posix_close(&f->file);
        return err;
    }
    *out = &f->file;
    return 0;
}

void u9i_posix_close(u9i_file *file)
{
    u9i_posix_file *f = (u9i_posix_file *)file;
    if (f->direct >= 0) close(f->direct);
    if (f->fd >= 0) close(f->fd);
    free(f);
}

int u9i_posix_size(u9i_file *file, uint64_t *out)
{
    struct stat st;
    if (fstat(fd_of(file), &st) != 0) return -errno;
    *out = (uint64_t)st.st_size;
    return 0;
}

int u9i_posix_read(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got)
{
    size_t done = 0;
    while (done < n) {
        ssize_t r = pread(fd_of(file), (char *)buf + done, n - done, (off_t)(off + done));
        if (r == 0) break;
        if (r > 0) done += (size_t)r;
        else if (errno != EINTR && errno != EAGAIN) return -errno;
    }
    *got = done;
    return 0;
}

int u9i_posix_reserve(u9i_file *file, uint64_t end)
{
    /* Asked first: a write beyond the limit would raise SIGXFSZ in the host. [W-6] */
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        end > limit.rlim_cur)
        return -EFBIG;
    uint64_t size;
    int err = u9i_posix_size(file, &size);
    if (err != 0 || end <= size) return err;
    while (fallocate(fd_of(file), 0, (off_t)size, (off_t)(end - size)) != 0) {
        if (errno == EOPNOTSUPP || errno == ENOSYS) return 0; /* no such promise on this file system */
        if (errno != EINTR) return -errno;
    }
    return 0;
}

int u9i_posix_cut(u9i_file *file, uint64_t size)
{
    while (ftruncate(fd_of(file), (off_t)size) != 0)
        if (errno != EINTR) return -errno;
    return 0;
}

int u9i_posix_settle(u9i_file *file)
{
    int err = sync_fd(fd_of(file));
    if (err != 0) return err;
    return -posix_fadvise(fd_of(file), 0, 0, POSIX_FADV_DONTNEED);
}

int u9i_posix_write_all(int fd, uint64_t off, const void *buf, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t r = pwrite(fd, (const char *)buf + done, n - done, (off_t)(off + done));
        if (r > 0) done += (size_t)r;
        else if (r == 0) return -EIO;
        else if (errno != EINTR && errno != EAGAIN) return -errno;
    }
    return 0;
}

/* True if one more completion would find no place: then nothing may be done. */
static bool full(const u9i_file *file)
{
    return ((u9i_posix *)file->io)->count == U9I_IO_DEPTH;
}

static int complete(u9i_io *io, uint64_t tag, int error)
{
    u9i_posix *p = (u9i_posix *)io;
    p->done[(p->first + p->count++) % U9I_IO_DEPTH] = (u9i_done){.tag = tag, .error = error};
    return 0;
}

static int write_posix(u9i_file *file, uint64_t off, const void *buf, size_t n, uint64_t tag)
{
    if (full(file)) return -EBUSY;
    return complete(file->io, tag, u9i_posix_write_all(fd_of(file), off, buf, n));
}

static int sync_posix(u9i_file *file, uint64_t tag)
{
    int err;
    if (full(file)) return -EBUSY;
    while ((err = fdatasync(fd_of(file)) == 0 ? 0 : -errno) == -EINTR) continue;
    return complete(file->io, tag, err);
}

static int reap_posix(u9i_io *io, bool wait, u9i_done *out)
{
    (void)wait; /* nothing is ever under way */
    u9i_posix *p = (u9i_posix *)io;
    if (p->count == 0) return -EAGAIN;
    *out = p->done[p->first];
    p->first = (p->first + 1) % U9I_IO_DEPTH;
    p->count--;
    return 0;
}

const u9i_io_table u9i_io_posix = {
    .name = "posix",
    .mount = mount_posix,
    .unmount = u9i_posix_unmount,
    .lock = u9i_posix_lock,
    .busy = u9i_posix_busy,
    .list = u9i_posix_list,
    .sync_dir = u9i_posix_sync_dir,
    .start = start_posix,
    .open = u9i_posix_open,
    .close = u9i_posix_close,
    .size = u9i_posix_size,
    .read = u9i_posix_read,
    .reserve = u9i_posix_reserve,
    .cut = u9i_posix_cut,
    .settle = u9i_posix_settle,
    .write = write_posix,
    .sync = sync_posix,
    .reap = reap_posix,
};
