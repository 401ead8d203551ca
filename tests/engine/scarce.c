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
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT_MAX = 1 << 14 };

static _Thread_local struct {
    bool on, sticky;
    scarcity what;
    int error;
    unsigned nth, seen, failed;
    size_t kept;
    void *blocks[KEPT_MAX];
} scarce;

/* True if this one is not to be had. */
static bool refuse(scarcity what)
{
    if (!scarce.on || scarce.what != what) return false;
    scarce.seen++;
    places_note();
    if (scarce.seen != scarce.nth && !(scarce.sticky && scarce.seen > scarce.nth)) return false;
    scarce.failed++;
    errno = what == SCARCE_MEMORY ? ENOMEM : scarce.error;
    return true;
}

static void *keep(void *p)
{
    if (!scarce.on || p == NULL) return p;
    MUST_SAY(scarce.kept < KEPT_MAX, "too much is allocated at once");
    scarce.blocks[scarce.kept++] = p;
    return p;
}

/* Mostly it is one of the last. */
static void drop(const void *p)
{
    for (size_t i = scarce.kept; scarce.on && p && i > 0; i--) {
        if (scarce.blocks[i - 1] != p) continue;
        scarce.blocks[i - 1] = scarce.blocks[--scarce.kept];
        return;
    }
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

#define LOOK(name, parameters, arguments)                                    \
    u9_err __real_u9i_window_##name parameters;                              \
    u9_err __wrap_u9i_window_##name parameters;                              \
    u9_err __wrap_u9i_window_##name parameters                               \
    {                                                                        \
        return sees_nothing(w) ? U9_IO : __real_u9i_window_##name arguments; \
    }

LOOK(bytes, (u9i_window * w, uint64_t p, size_t need, const uint8_t **bytes, size_t *avail),
     (w, p, need, bytes, avail))
LOOK(at, (u9i_window * w, uint64_t p, uint64_t bound, u9i_frame *out), (w, p, bound, out))
LOOK(find, (u9i_window * w, uint64_t from, uint64_t bound, u9i_frame *out), (w, from, bound, out))
LOOK(boundary, (u9i_window * w, uint64_t from, uint64_t to, uint64_t *at), (w, from, to, at))
LOOK(zeros, (u9i_window * w, uint64_t from, uint64_t to, u9i_zeros *out), (w, from, to, out))

int __real_u9i_segment_open(u9i_segment *segment, u9i_file **out);
int __wrap_u9i_segment_open(u9i_segment *segment, u9i_file **out);

int __wrap_u9i_segment_open(u9i_segment *segment, u9i_file **out)
{
    return refuse(SCARCE_SIGHT) ? -scarce.error : __real_u9i_segment_open(segment, out);
}

void scarce_begin(scarcity what, unsigned nth, int error, bool sticky)
{
    scarce.on = true;
    scarce.sticky = sticky;
    scarce.what = what;
    scarce.error = error;
    scarce.nth = nth;
    scarce.seen = scarce.failed = 0;
    scarce.kept = 0;
}

unsigned scarce_end(size_t *kept)
{
    scarce.on = false;
    if (kept) *kept = scarce.kept;
    return scarce.failed;
}
