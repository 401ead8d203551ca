/*
 * tests/engine/scarce.c: see scarce.h.
 */
#include "tests/engine/scarce.h"

#include "engine/segment/segment.h"
#include "tests/engine/places.h"
#include "tests/must.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

enum { KEPT_MAX = 1 << 14 };

static _Thread_local struct {
    bool on, sticky;
    scarcity what;
    int error;
    unsigned nth, seen, failed;
    const char *from, *to; /* of scarce_lead */
    void (*then)(void);    /* of scarce_amid; NULL: it is done, or there is none */
} scarce;

static _Atomic(void (*)(void)) before_lz4;

/* What that thread was given; it may be given back by any. */
static struct {
    pthread_mutex_t lock;
    atomic_bool on;
    size_t count;
    void *blocks[KEPT_MAX];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What it calls is not counted. */
static bool do_amid(void)
{
    void (*then)(void) = scarce.then;
    if (scarce.seen != scarce.nth) return false;
    scarce.then = NULL;
    scarce.nth = 0;
    scarce.on = false;
    then();
    scarce.on = true;
    return false;
}

/* True if this one is not to be had. */
static bool refuse(scarcity what)
{
    if (!scarce_is(what)) return false;
    scarce.seen++;
    places_note();
    if (scarce.then) return do_amid();
    if (scarce.seen != scarce.nth && !(scarce.sticky && scarce.seen > scarce.nth)) return false;
    scarce.failed++;
    errno = what == SCARCE_MEMORY ? ENOMEM : scarce.error;
    return true;
}

bool scarce_is(scarcity what)
{
    return scarce.on && scarce.what == what;
}

bool scarce_refuses(void)
{
    return refuse(SCARCE_CALLS);
}

static void *keep(void *p)
{
    if (!scarce.on || p == NULL) return p;
    pthread_mutex_lock(&kept.lock);
    MUST_SAY(kept.count < KEPT_MAX, "too much is allocated at once");
    kept.blocks[kept.count++] = p;
    pthread_mutex_unlock(&kept.lock);
    return p;
}

/* Mostly it is one of the last. */
static void drop(const void *p)
{
    if (p == NULL || !atomic_load(&kept.on)) return;
    pthread_mutex_lock(&kept.lock);
    for (size_t i = kept.count; i > 0; i--) {
        if (kept.blocks[i - 1] != p) continue;
        kept.blocks[i - 1] = kept.blocks[--kept.count];
        break;
    }
    pthread_mutex_unlock(&kept.lock);
}

/* Memory */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *p);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t off);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *p);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t off);

void *__wrap_malloc(size_t size)
{
    return refuse(SCARCE_MEMORY) ? NULL : keep(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return refuse(SCARCE_MEMORY) ? NULL : keep(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
    if (refuse(SCARCE_MEMORY)) return NULL;
    drop(p);
    return keep(__real_realloc(p, size));
}

char *__wrap_strdup(const char *text)
{
    return refuse(SCARCE_MEMORY) ? NULL : keep(__real_strdup(text));
}

void __wrap_free(void *p)
{
    drop(p);
    __real_free(p);
}

/* Pages are refused, but not remembered. */
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t off)
{
    return refuse(SCARCE_MEMORY) ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd, off);
}

/* Calls: each with what it returns when it fails. */

#define CALL(type, name, failure, parameters, arguments)                   \
    type __real_##name parameters;                                         \
    type __wrap_##name parameters;                                         \
    type __wrap_##name parameters                                          \
    {                                                                      \
        return refuse(SCARCE_CALLS) ? (failure) : __real_##name arguments; \
    }

CALL(int, stat, -1, (const char *path, struct stat *out), (path, out))
CALL(int, fstat, -1, (int fd, struct stat *out), (fd, out))
CALL(int, fstatat, -1, (int dir, const char *name, struct stat *out, int flags),
     (dir, name, out, flags))
CALL(int, flock, -1, (int fd, int kind), (fd, kind))
CALL(int, fsync, -1, (int fd), (fd))
CALL(int, ftruncate, -1, (int fd, off_t size), (fd, size))
CALL(int, fallocate, -1, (int fd, int mode, off_t from, off_t size), (fd, mode, from, size))
CALL(int, mkdir, -1, (const char *path, mode_t mode), (path, mode))
CALL(int, renameat, -1, (int from_dir, const char *from, int to_dir, const char *to),
     (from_dir, from, to_dir, to))
CALL(int, linkat, -1, (int from_dir, const char *from, int to_dir, const char *to, int flags),
     (from_dir, from, to_dir, to, flags))
CALL(int, unlinkat, -1, (int dir, const char *name, int flags), (dir, name, flags))
CALL(int, fchmodat, -1, (int dir, const char *name, mode_t mode, int flags),
     (dir, name, mode, flags))
CALL(DIR *, fdopendir, NULL, (int fd), (fd))
CALL(struct dirent *, readdir, NULL, (DIR * names), (names))
CALL(int, inotify_init1, -1, (int flags), (flags))
CALL(int, inotify_add_watch, -1, (int fd, const char *path, uint32_t mask), (fd, path, mask))
CALL(int, statx, -1, (int dir, const char *path, int flags, unsigned mask, struct statx *out),
     (dir, path, flags, mask, out))
CALL(int, fchownat, -1, (int dir, const char *name, uid_t user, gid_t group, int flags),
     (dir, name, user, group, flags))
CALL(int, posix_fadvise, scarce.error, (int fd, off_t from, off_t size, int advice),
     (fd, from, size, advice))
CALL(int, eventfd, -1, (unsigned first, int flags), (first, flags))
CALL(int, timerfd_create, -1, (int clock, int flags), (clock, flags))
CALL(int, poll, -1, (struct pollfd *fds, nfds_t count, int ms), (fds, count, ms))
CALL(int, ppoll, -1,
     (struct pollfd *fds, nfds_t count, const struct timespec *most, const sigset_t *mask),
     (fds, count, most, mask))
CALL(ssize_t, read, -1, (int fd, void *bytes, size_t size), (fd, bytes, size))
CALL(ssize_t, writev, -1, (int fd, const struct iovec *parts, int count), (fd, parts, count))
CALL(ssize_t, sendmsg, -1, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
CALL(ssize_t, getrandom, -1, (void *bytes, size_t size, unsigned flags), (bytes, size, flags))

CALL(off_t, lseek, -1, (int fd, off_t off, int from), (fd, off, from))
CALL(int, sigaction, -1, (int signal, const struct sigaction *to, struct sigaction *was), (signal, to, was))

int __real_ioctl(int fd, unsigned long what, ...);
int __wrap_ioctl(int fd, unsigned long what, ...);

int __wrap_ioctl(int fd, unsigned long what, ...)
{
    va_list more;
    va_start(more, what);
    void *with = va_arg(more, void *);
    va_end(more);
    return refuse(SCARCE_CALLS) ? -1 : __real_ioctl(fd, what, with);
}

int __real_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...);

int __wrap_fcntl(int fd, int what, ...)
{
    va_list more;
    va_start(more, what);
    void *with = va_arg(more, void *); /* or a number, which comes in the same way */
    va_end(more);
    return refuse(SCARCE_CALLS) ? -1 : __real_fcntl(fd, what, with);
}

int __real_open(const char *path, int flags, ...);
int __real_openat(int dir, const char *name, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_openat(int dir, const char *name, int flags, ...);

static mode_t mode_of(int flags, va_list more)
{
    return flags & O_CREAT ? va_arg(more, mode_t) : 0;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = mode_of(flags, more);
    va_end(more);
    if (scarce.from && strcmp(path, scarce.from) == 0) path = scarce.to;
    return refuse(SCARCE_CALLS) ? -1 : __real_open(path, flags, mode);
}

int __wrap_openat(int dir, const char *name, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = mode_of(flags, more);
    va_end(more);
    return refuse(SCARCE_CALLS) ? -1 : __real_openat(dir, name, flags, mode);
}

/* Within the engine */

u9_err __real_u9i_windows_lend(u9i_windows *windows, u9i_window **out);
u9_err __wrap_u9i_windows_lend(u9i_windows *windows, u9i_window **out);

u9_err __wrap_u9i_windows_lend(u9i_windows *windows, u9i_window **out)
{
    return refuse(SCARCE_MEMORY) ? U9_NOMEM : __real_u9i_windows_lend(windows, out);
}

/* As a read that fails would have it. */
static bool sees_nothing(u9i_window *w)
{
    if (!refuse(SCARCE_SIGHT)) return false;
    w->sys = scarce.error;
    w->sys_at = w->base + w->fill;
    return true;
}

/* As a frame whose bytes have changed would have it. */
static bool sees_another(u9i_window *w)
{
    if (!refuse(SCARCE_TRUTH)) return false;
    w->why = U9_R_HASH;
    return true;
}

#define LOOK(name, parameters, arguments, changed)                          \
    u9_err __real_u9i_window_##name parameters;                             \
    u9_err __wrap_u9i_window_##name parameters;                             \
    u9_err __wrap_u9i_window_##name parameters                              \
    {                                                                       \
        if (sees_nothing(w)) return U9_IO;                                  \
        return changed ? (changed) : __real_u9i_window_##name arguments;    \
    }

LOOK(bytes, (u9i_window * w, uint64_t p, size_t need, const uint8_t **bytes, size_t *avail),
     (w, p, need, bytes, avail), U9_OK)
LOOK(at, (u9i_window * w, uint64_t p, uint64_t bound, u9i_frame *out), (w, p, bound, out), sees_another(w) ? U9_CORRUPT : U9_OK)
LOOK(find, (u9i_window * w, uint64_t from, uint64_t bound, u9i_frame *out), (w, from, bound, out), sees_another(w) ? U9_END : U9_OK)
LOOK(boundary, (u9i_window * w, uint64_t from, uint64_t to, uint64_t *at), (w, from, to, at), U9_OK)
LOOK(zeros, (u9i_window * w, uint64_t from, uint64_t to, u9i_zeros *out), (w, from, to, out), U9_OK)

int __real_u9i_segment_open(u9i_segment *segment, u9i_file **out);
int __wrap_u9i_segment_open(u9i_segment *segment, u9i_file **out);

int __wrap_u9i_segment_open(u9i_segment *segment, u9i_file **out)
{
    return refuse(SCARCE_SIGHT) ? -scarce.error : __real_u9i_segment_open(segment, out);
}

size_t __real_u9i_lz4_wrap(const uint8_t *body, size_t size, uint8_t *out);
size_t __wrap_u9i_lz4_wrap(const uint8_t *body, size_t size, uint8_t *out);

size_t __wrap_u9i_lz4_wrap(const uint8_t *body, size_t size, uint8_t *out)
{
    void (*then)(void) = atomic_exchange(&before_lz4, NULL);
    if (then) then();
    return __real_u9i_lz4_wrap(body, size, out);
}

void scarce_before_lz4(void (*then)(void))
{
    atomic_store(&before_lz4, then);
}

void scarce_amid(scarcity what, unsigned nth, void (*then)(void))
{
    scarce_begin(what, nth, 0, false);
    scarce.then = then;
}

void scarce_begin(scarcity what, unsigned nth, int error, bool sticky)
{
    scarce.on = true;
    scarce.sticky = sticky;
    scarce.what = what;
    scarce.error = error;
    scarce.nth = nth;
    scarce.seen = scarce.failed = 0;
    scarce.then = NULL;
    kept.count = 0;
    atomic_store(&kept.on, true);
}

unsigned scarce_end(size_t *count)
{
    scarce.on = false;
    atomic_store(&kept.on, false);
    if (count) *count = kept.count;
    return scarce.failed;
}

void scarce_lead(const char *from, const char *to)
{
    scarce.from = from;
    scarce.to = to;
}
