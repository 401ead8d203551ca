/*
 * engine/os/posix.h: what the envs on the system share: the parts of posix that uring takes over.
 */
#ifndef U9I_POSIX_H
#define U9I_POSIX_H

#include "engine/os/env.h"

#include <time.h>

typedef struct u9i_posix_dir {
    u9i_dir dir;
    int fd;              /* the directory */
    int lock;            /* what is locked: the directory or the single file */
    bool locked;         /* by this handle */
    int post;            /* the file that is posted to; -1: not yet */
    unsigned generation; /* of forks, when it was opened: see pool.h */
} u9i_posix_dir;

typedef struct u9i_posix_file {
    u9i_file file;
    int fd;              /* reads, and buffered writes */
    int direct;          /* O_DIRECT for writes by the ring, or -1 */
    bool locked;         /* by this handle */
    unsigned generation; /* of forks, when it was locked */
} u9i_posix_file;

/* The descriptor that a ring writes through: the file's lock is on it. [W-1] */
static inline int u9i_posix_writing_fd(const u9i_posix_file *file)
{
    return file->direct >= 0 ? file->direct : file->fd;
}

extern const u9i_fs u9i_posix_fs;
extern const u9i_fs u9i_posix_ring_fs; /* its files are made ready for a ring */
extern const u9i_queue_type u9i_posix_queue_type;
extern const u9i_watch_type u9i_posix_watch_type;
extern const u9i_clock u9i_posix_clock;
u9i_random_fn u9i_posix_random;
u9i_machine_fn u9i_posix_machine;

static inline struct timespec u9i_posix_timespec(uint64_t us)
{
    return (struct timespec){.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
}

/*
 * The descriptor, or the same above 2: a host that has closed 0, 1 or 2 may write there all the same, or have something else put
 * there. -1 (errno), as it was given or where there is no other.
 */
int u9i_posix_apart(int fd);

/* Reads up to n bytes, less only at the end of the file. */
int u9i_posix_read(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got);

/* The posts of u9i_fs. (posix_watch.c) */
int u9i_posix_post(u9i_dir *dir, const char *name, const void *bytes, size_t n);
int u9i_posix_posted(u9i_dir *dir, const char *name, void *bytes, size_t n, size_t *got);

/* Does an operation at once, through the page cache; returns its result. */
int64_t u9i_posix_perform(const u9i_op *op);

#endif
