/*
 * engine/os/posix.h: the parts of the posix table that the uring table takes over.
 */
#ifndef U9I_IO_POSIX_H
#define U9I_IO_POSIX_H

#include "engine/os/env.h"

typedef struct u9i_posix {
    u9i_io io;
    int dir;    /* the directory's descriptor */
    int lock;   /* what is locked: the directory or the single file */
    bool locked;  /* by this mount */
    bool started; /* its write side is ready */
    unsigned first, count; /* ring of completions that wait to be reaped */
    u9i_done done[U9I_IO_DEPTH];
} u9i_posix;

typedef struct u9i_posix_file {
    u9i_file file;
    int fd;     /* reads, and buffered writes */
    int direct; /* O_DIRECT for writes by the ring, or -1 */
} u9i_posix_file;

int u9i_posix_mount(const char *path, bool create, size_t size, u9i_io **out);
void u9i_posix_unmount(u9i_io *io);
int u9i_posix_lock(u9i_io *io);
bool u9i_posix_busy(u9i_io *io);
int u9i_posix_list(u9i_io *io, u9i_list_fn *each, void *ctx);
int u9i_posix_sync_dir(u9i_io *io);
int u9i_posix_open(u9i_io *io, const char *name, u9i_open_mode mode, u9i_file **out);
void u9i_posix_close(u9i_file *file);
int u9i_posix_size(u9i_file *file, uint64_t *out);
int u9i_posix_read(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got);
int u9i_posix_reserve(u9i_file *file, uint64_t end);
int u9i_posix_cut(u9i_file *file, uint64_t size);
int u9i_posix_settle(u9i_file *file);
/* Writes all n bytes through the page cache, at once. */
int u9i_posix_write_all(int fd, uint64_t off, const void *buf, size_t n);

#endif
