/*
 * engine/os/posix.c: the file system by plain system calls, for both envs that stand on it, and the env that
 * has nothing else.
 *
 * A lock is a flock(2) of the directory, or of the single file: it is given back by who has it, but not by a forked child,
 * and goes else with the last descriptor of it, a child's included; that of a segment is on the descriptor which it is
 * written with, and as a ring's requests keep that open, it outlives a killed process until they have landed. Nothing here
 * keeps state but the descriptors.
 */
#include "engine/os/posix.h"

#include "engine/os/pool.h"
#include "engine/os/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { ASKED_MAX = 1000, ASKED_US = 1000 }; /* tries for a lock that readers ask about */

static u9i_posix_dir *of_dir(u9i_dir *dir)
{
    return (u9i_posix_dir *)dir;
}

static int fd_of(const u9i_file *file)
{
    return ((const u9i_posix_file *)file)->fd;
}

int u9i_posix_apart(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), err = errno;
    close(fd);
    errno = err;
    return above;
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

/* The path is a file: its directory is opened, and its name kept. */
static int open_single(u9i_posix_dir *d, const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL) return -ENOMEM;
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    int err = 0;
    if (strlen(name) >= sizeof d->dir.single) err = -ENAMETOOLONG;
    else if ((d->fd = u9i_posix_apart(open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC))) < 0) err = -errno;
    else if ((d->lock = u9i_posix_apart(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))) < 0) err = -errno;
    else memcpy(d->dir.single, name, strlen(name) + 1);
    free(copy);
    return err;
}

static void free_dir(u9i_posix_dir *d)
{
    if (d->post >= 0) close(d->post);
    if (d->lock >= 0 && d->lock != d->fd) close(d->lock);
    if (d->fd >= 0) close(d->fd);
    free(d);
}

static int open_dir(u9i_env *env, const char *path, bool create, u9i_dir **out)
{
    int err = create ? make_dir(path) : 0;
    if (err != 0) return err;
    struct stat st;
    if (stat(path, &st) != 0) return -errno;
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) return -EINVAL;
    u9i_posix_dir *d = calloc(1, sizeof *d);
    if (d == NULL) return -ENOMEM;
    d->dir.env = env;
    d->fd = d->lock = d->post = -1;
    if (S_ISREG(st.st_mode)) err = open_single(d, path);
    else if ((d->fd = u9i_posix_apart(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))) < 0) err = -errno;
    else d->lock = d->fd;
    if (err != 0) {
        free_dir(d);
        return err;
    }
    u9i_pool_acquire();
    d->generation = u9i_fork_generation();
    *out = &d->dir;
    return 0;
}

static void close_dir(u9i_dir *dir)
{
    bool ours = of_dir(dir)->generation == u9i_fork_generation(); /* else the pool is the parent's, and so is the lock */
    if (ours && of_dir(dir)->locked) (void)flock(of_dir(dir)->lock, LOCK_UN); /* a child has the descriptor, too, perhaps */
    free_dir(of_dir(dir));
    if (ours) u9i_pool_release();
}

static int try_lock(int fd, int kind)
{
    while (flock(fd, kind | LOCK_NB) != 0)
        if (errno != EINTR) return -errno;
    return 0;
}

static int lock_fd(u9i_env *env, int fd)
{
    int err;
    for (unsigned tries = 1; (err = try_lock(fd, LOCK_EX)) == -EWOULDBLOCK; tries++) {
        /* Readers that ask hold it shared for a moment: they alone are waited for. [W-1] */
        if (tries == ASKED_MAX || try_lock(fd, LOCK_SH) != 0) return -EWOULDBLOCK;
        (void)flock(fd, LOCK_UN);
        u9i_sleep_us(env, ASKED_US);
    }
    return err;
}

static int lock_dir(u9i_dir *dir)
{
    u9i_posix_dir *d = of_dir(dir);
    int err = lock_fd(dir->env, d->lock);
    d->locked = err == 0;
    return err;
}

static int lock_file(u9i_file *file)
{
    u9i_posix_file *f = (u9i_posix_file *)file;
    int err = lock_fd(file->env, u9i_posix_writing_fd(f));
    f->locked |= err == 0;
    f->generation = u9i_fork_generation();
    return err;
}

static bool is_locked(int fd)
{
    int err = try_lock(fd, LOCK_SH);
    if (err == 0) (void)flock(fd, LOCK_UN);
    return err == -EWOULDBLOCK;
}

static bool locked(u9i_dir *dir, const char *name)
{
    u9i_posix_dir *d = of_dir(dir);
    /* Of a single file, too: its writer has the directory. One's own lock would be given away by asking. */
    if (!d->locked && is_locked(d->fd)) return true;
    int fd = openat(d->fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool by_file = fd >= 0 && is_locked(fd);
    if (fd >= 0) close(fd);
    return by_file;
}

static int list(u9i_dir *dir, u9i_list_fn *each, void *ctx)
{
    int fd = openat(of_dir(dir)->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -errno;
    DIR *names = fdopendir(fd);
    if (names == NULL) {
        int err = -errno;
        close(fd);
        return err;
    }
    int err = 0;
    struct dirent *e;
    for (errno = 0; err == 0 && (e = readdir(names)) != NULL; errno = 0)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) err = each(ctx, e->d_name);
    if (err == 0 && errno != 0) err = -errno;
    closedir(names);
    return err;
}

static uint64_t stamp_us(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_nsec / 1000;
}

static int stat_name(u9i_dir *dir, const char *name, u9i_stamp *out)
{
    struct stat st;
    if (fstatat(of_dir(dir)->fd, name, &st, 0) != 0) {
        int err = -errno;
        if (err == -ENOENT && fstatat(of_dir(dir)->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) err = -ELOOP; /* a link to nothing */
        return err;
    }
    uint64_t bytes_us = stamp_us(&st.st_mtim), attributes_us = stamp_us(&st.st_ctim);
    *out = (u9i_stamp){.identity = {st.st_dev, st.st_ino}, .size = (uint64_t)st.st_size,
                       .changed_us = bytes_us > attributes_us ? bytes_us : attributes_us,
                       .links = st.st_nlink,
                       .owner = (uint64_t)st.st_uid << 32 | st.st_gid, .mode = st.st_mode & 07777};
    return 0;
}

static int identify_name(u9i_dir *dir, const char *name, uint64_t identity[2])
{
    struct statx st;
    if (statx(of_dir(dir)->fd, name, 0, STATX_INO, &st) != 0) return -errno;
    identity[0] = makedev(st.stx_dev_major, st.stx_dev_minor);
    identity[1] = st.stx_ino;
    return 0;
}

static int rename_name(u9i_dir *dir, const char *from, const char *to)
{
    int fd = of_dir(dir)->fd;
    return renameat(fd, from, fd, to) != 0 ? -errno : 0;
}

static int link_name(u9i_dir *dir, const char *name, u9i_dir *to, const char *new_name)
{
    if (to->env->fs->link != link_name) return -EXDEV;
    return linkat(of_dir(dir)->fd, name, of_dir(to)->fd, new_name, 0) != 0 ? -errno : 0;
}

static int dress_name(u9i_dir *dir, const char *name, const u9i_stamp *like)
{
    int fd = of_dir(dir)->fd;
    u9i_stamp now;
    int err = stat_name(dir, name, &now);
    if (err == 0 && now.owner != like->owner &&
        fchownat(fd, name, (uid_t)(like->owner >> 32), (gid_t)like->owner, AT_SYMLINK_NOFOLLOW) != 0)
        err = -errno;
    return err == 0 && fchmodat(fd, name, (mode_t)like->mode, 0) != 0 ? -errno : err;
}

static int remove_name(u9i_dir *dir, const char *name)
{
    int fd = of_dir(dir)->fd;
    if (unlinkat(fd, name, 0) == 0) return 0;
    if (errno != EISDIR) return -errno;
    return unlinkat(fd, name, AT_REMOVEDIR) != 0 ? -errno : 0;
}

static int sync_dir(u9i_dir *dir)
{
    return sync_fd(of_dir(dir)->fd);
}

static void close_file(u9i_file *file)
{
    u9i_posix_file *f = (u9i_posix_file *)file;
    if (f->locked && f->generation == u9i_fork_generation()) (void)flock(u9i_posix_writing_fd(f), LOCK_UN);
    if (f->direct >= 0) close(f->direct);
    if (f->fd >= 0) close(f->fd);
    free(f);
}

static int open_file(u9i_dir *dir, const char *name, u9i_open_mode mode, u9i_file **out)
{
    static const int flags[] = {
        [U9I_OPEN_READ] = O_RDONLY, [U9I_OPEN_WRITE] = O_RDWR,
        [U9I_OPEN_CREATE] = O_RDWR | O_CREAT | O_EXCL, [U9I_OPEN_OWN] = O_RDWR | O_NOFOLLOW};
    u9i_posix_file *f = calloc(1, sizeof *f);
    if (f == NULL) return -ENOMEM;
    f->file.env = dir->env;
    f->direct = -1;
    struct stat st;
    /* O_NONBLOCK: a FIFO in a segment's place must not hang the open. */
    f->fd = u9i_posix_apart(openat(of_dir(dir)->fd, name, flags[mode] | O_CLOEXEC | O_NONBLOCK, 0600));
    int err = f->fd < 0 || fstat(f->fd, &st) != 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (err != 0) {
        close_file(&f->file);
        return err;
    }
    *out = &f->file;
    return 0;
}

/*
 * For a ring: writes go past the page cache where the file system has that. Left as it is, O_NONBLOCK would
 * make a ring give up with EAGAIN on file systems that cannot tell whether they would wait.
 */
static int open_for_ring(u9i_dir *dir, const char *name, u9i_open_mode mode, u9i_file **out)
{
    int err = open_file(dir, name, mode, out);
    if (err != 0) return err;
    u9i_posix_file *f = (u9i_posix_file *)*out;
    (void)fcntl(f->fd, F_SETFL, 0);
    if (mode != U9I_OPEN_READ)
        f->direct = u9i_posix_apart(
            openat(of_dir(dir)->fd, name, O_WRONLY | O_DIRECT | O_CLOEXEC | (mode == U9I_OPEN_OWN ? O_NOFOLLOW : 0)));
    return 0; /* without direct I/O the page cache does */
}

static int file_size(u9i_file *file, uint64_t *out)
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

static int set_size(u9i_file *file, uint64_t size)
{
    while (ftruncate(fd_of(file), (off_t)size) != 0)
        if (errno != EINTR) return -errno;
    return 0;
}

/* The descriptor's own position, which this moves, is nobody's. */
static uint64_t data_behind(u9i_file *file, uint64_t off)
{
    off_t at = lseek(fd_of(file), (off_t)off, SEEK_DATA);
    if (at >= 0) return (uint64_t)at;
    uint64_t size = 0;
    bool rest = errno == ENXIO && file_size(file, &size) == 0 && size > off; /* of the file is one hole */
    return rest ? size : off;
}

/*
 * Where a row of extents ends that were reserved and never written, `off` if it is in none. What is written to them stands
 * in the page cache at first, of which the map of extents knows nothing: it is synced before that is asked.
 */
static uint64_t reserved_end(int fd, uint64_t off)
{
    enum { EXTENTS = 16 };
    union {
        struct fiemap map;
        uint8_t room[sizeof(struct fiemap) + EXTENTS * sizeof(struct fiemap_extent)];
    } asked = {.map = {.fm_start = off, .fm_length = FIEMAP_MAX_OFFSET - off, .fm_flags = FIEMAP_FLAG_SYNC,
                       .fm_extent_count = EXTENTS}};
    if (ioctl(fd, FS_IOC_FIEMAP, &asked.map) != 0) return off;
    for (uint32_t i = 0; i < asked.map.fm_mapped_extents; i++) {
        const struct fiemap_extent *e = &asked.map.fm_extents[i];
        if (!(e->fe_flags & FIEMAP_EXTENT_UNWRITTEN) || e->fe_logical > off) break;
        off = e->fe_logical + e->fe_length;
    }
    return off;
}

static uint64_t written_behind(u9i_file *file, uint64_t off)
{
    uint64_t size = 0, end;
    if (file_size(file, &size) != 0) return off;
    while (off < size && ((end = data_behind(file, off)) > off || (end = reserved_end(fd_of(file), off)) > off))
        off = end < size ? end : size;
    return off;
}

static int reserve(u9i_file *file, uint64_t end)
{
    /* Asked first: a write beyond the limit would raise SIGXFSZ in the host. [W-6] */
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    (void)getrlimit(RLIMIT_FSIZE, &limit);
    if (end > limit.rlim_cur) return -EFBIG; /* no number is above infinity */
    uint64_t size = 0;
    int err = file_size(file, &size);
    if (err != 0 || end <= size) return err;
    while (fallocate(fd_of(file), 0, (off_t)size, (off_t)(end - size)) != 0) {
        if (errno == EOPNOTSUPP || errno == ENOSYS) return 0; /* no such promise on this file system */
        if (errno == EINTR) continue;
        err = -errno;
        (void)set_size(file, size); /* some file systems keep what they had found */
        return err;
    }
    return 0;
}

static int write_zeros(u9i_file *file, uint64_t from, uint64_t to)
{
    static const _Alignas(4096) uint8_t zeros[1 << 17];
    int fd = u9i_posix_writing_fd((const u9i_posix_file *)file);
    while (from < to) {
        ssize_t n = pwrite(fd, zeros, to - from < sizeof zeros ? (size_t)(to - from) : sizeof zeros, (off_t)from);
        if (n > 0) from += (uint64_t)n;
        else if (n < 0 && errno == EINVAL && fd != fd_of(file)) fd = fd_of(file); /* it takes no direct ones */
        else if (n == 0 || errno != EINTR) return n == 0 ? -EIO : -errno;
    }
    return 0;
}

static int sync_and_evict(u9i_file *file, uint64_t from)
{
    enum { PAGE_MOST = 65536 }; /* a page of which a part is not asked for stays */
    int err = sync_fd(fd_of(file));
    if (err != 0) return err;
    return -posix_fadvise(fd_of(file), (off_t)(from / PAGE_MOST * PAGE_MOST), 0, POSIX_FADV_DONTNEED);
}

/* A kernel takes as much of one such hint as it reads ahead at most, and forgets the rest. */
static void fetch_range(u9i_file *file, uint64_t from, uint64_t to)
{
    enum { AHEAD_LEAST = 1 << 17 };
    for (; from < to; from += AHEAD_LEAST) (void)posix_fadvise(fd_of(file), (off_t)from, AHEAD_LEAST, POSIX_FADV_WILLNEED);
}

static int map_file(u9i_file *file, uint64_t off, size_t n, const void **out)
{
    void *map = mmap(NULL, n, PROT_READ, MAP_SHARED, fd_of(file), (off_t)off);
    if (map == MAP_FAILED) return -errno;
    *out = map;
    return 0;
}

static void advise_map(u9i_env *env, const void *map, size_t n, u9i_map_advice advice)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)map / page * page;
    (void)env;
    if (advice == U9I_MAP_DONE) {
        from = ((uintptr_t)map + page - 1) / page * page;
        uintptr_t to = ((uintptr_t)map + n) / page * page;
        if (to > from) (void)madvise((void *)from, to - from, MADV_DONTNEED);
        return;
    }
    size_t size = (uintptr_t)map + n - from;
    (void)madvise((void *)from, size, advice == U9I_MAP_RANDOM ? MADV_RANDOM : MADV_WILLNEED);
#ifdef MADV_POPULATE_READ
    if (advice == U9I_MAP_SOON) (void)madvise((void *)from, size, MADV_POPULATE_READ); /* one call, not a fault a page */
#endif
}

static void unmap_file(u9i_env *env, const void *map, size_t n)
{
    (void)env;
    (void)munmap((void *)(uintptr_t)map, n);
}

#define FILE_SYSTEM(open_)                                                                          \
    {                                                                                               \
        .open_dir = open_dir, .close_dir = close_dir, .lock = lock_dir, .locked = locked,           \
        .list = list, .stat = stat_name, .identify = identify_name, .rename = rename_name, .link = link_name,                  \
        .dress = dress_name, .remove = remove_name, .sync_dir = sync_dir, .open = (open_), .close = close_file,          \
        .post = u9i_posix_post, .posted = u9i_posix_posted,                                         \
        .lock_file = lock_file, .size = file_size, .read = u9i_posix_read, .data = data_behind,     \
        .written = written_behind, .reserve = reserve, .zero = write_zeros, .truncate = set_size, .sync_and_evict = sync_and_evict,                 \
        .fetch = fetch_range,                                                                       \
        .map = map_file, .advise = advise_map, .unmap = unmap_file                                  \
    }

const u9i_fs u9i_posix_fs = FILE_SYSTEM(open_file);
const u9i_fs u9i_posix_ring_fs = FILE_SYSTEM(open_for_ring);

u9i_env u9i_env_posix = {
    .name = "posix",
    .fs = &u9i_posix_fs,
    .queue = &u9i_posix_queue_type,
    .watch = &u9i_posix_watch_type,
    .clock = &u9i_posix_clock,
    .random = u9i_posix_random,
    .machine = u9i_posix_machine,
    .executor = &u9i_pool_executor,
};
