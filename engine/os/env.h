/*
 * engine/os/env.h: the one place where the library touches the outside: a table of functions over one
 * directory. Two implementations, `posix` and `uring`; tests add a simulated disk.
 *
 * Room: engine/os
 * Sees: include
 *
 * The room owns every call of the system.
 *
 * The table is narrow enough for an object store to stand behind it: whole names, block writes at
 * increasing offsets, range reads, sync, lock. Every function returns 0 or a negative errno. EINTR,
 * EAGAIN and short counts are dealt with inside: what comes back is final.
 *
 * Writes and syncs are started and completed apart: write() and sync() start one with a tag, reap()
 * tells of one that is complete, in any order. A buffer belongs to the table until its write was
 * reaped. At most U9I_IO_DEPTH operations may be under way. A sync covers the writes that were
 * reaped before it was started, no others.
 *
 * Threads: list, open, size, read and close on different files may be called from any thread; all
 * that writes, from one thread at a time.
 */
#ifndef U9I_IO_H
#define U9I_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { U9I_IO_DEPTH = 32 };

struct u9i_io_table;

/* A mounted directory; implementations embed it as their first member. */
typedef struct u9i_io {
    const struct u9i_io_table *table;
    char single[256]; /* not "": the path was a file, and this is its name in the directory */
} u9i_io;

typedef struct u9i_file {
    u9i_io *io;
} u9i_file;

typedef enum u9i_open_mode {
    U9I_OPEN_READ,
    U9I_OPEN_WRITE,  /* an existing file, for writing and reading */
    U9I_OPEN_CREATE  /* a new file: -EEXIST if there is one; mode 0600 less umask */
} u9i_open_mode;

typedef struct u9i_done {
    uint64_t tag;
    int error; /* 0 or a negative errno */
} u9i_done;

typedef int u9i_list_fn(void *ctx, const char *name);

typedef struct u9i_io_table {
    const char *name;

    /* Opens a directory (or the directory of a single file). `create`: makes it if it is missing, and
     * makes that durable in its parent. */
    int (*mount)(const char *path, bool create, u9i_io **out);
    void (*unmount)(u9i_io *io);

    /* The exclusive lock on the directory (or single file): -EWOULDBLOCK if another has it. [W-1] */
    int (*lock)(u9i_io *io);
    /* True if a writer is at work: this mount's own, once it was started, or another that has the lock. */
    bool (*busy)(u9i_io *io);
    /* Calls `each` for the name of every regular file; stops when it returns non-zero, and returns that. */
    int (*list)(u9i_io *io, u9i_list_fn *each, void *ctx);
    /* Makes created names durable. [W-4] */
    int (*sync_dir)(u9i_io *io);
    /* Readies the write side; `buffers` are all that will be written from (for registration). */
    int (*start)(u9i_io *io, void *buffers, size_t size, unsigned count);

    int (*open)(u9i_io *io, const char *name, u9i_open_mode mode, u9i_file **out);
    void (*close)(u9i_file *file);
    int (*size)(u9i_file *file, uint64_t *out);
    /* Reads up to n bytes at off; *got is less only at the end of the file. */
    int (*read)(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got);
    /* Makes sure that blocks up to `end` can be written: -ENOSPC, -EFBIG if not. */
    int (*reserve)(u9i_file *file, uint64_t end);
    /* Sets the file's size. */
    int (*cut)(u9i_file *file, uint64_t size);
    /* Syncs and drops cached pages, so that what is read next comes from the disk. [F41 of a crash] */
    int (*settle)(u9i_file *file);

    int (*write)(u9i_file *file, uint64_t off, const void *buf, size_t n, uint64_t tag);
    int (*sync)(u9i_file *file, uint64_t tag);
    /* The next completion; without `wait` -EAGAIN if there is none yet. */
    int (*reap)(u9i_io *io, bool wait, u9i_done *out);
} u9i_io_table;

extern const u9i_io_table u9i_io_posix;
extern const u9i_io_table u9i_io_uring;

/*
 * The table called `name`; NULL or "": what U9_IO says, else uring where the kernel has it, posix
 * elsewhere. NULL if there is no such table, or it was asked for by name and cannot be used here.
 */
const u9i_io_table *u9i_io_choose(const char *name);

/* Adds a table that is chosen by its name: the simulated and the failing disks of the tests. */
void u9i_io_offer(const u9i_io_table *table);

/* True if the kernel lets this process set up a ring. Asked once. */
bool u9i_uring_usable(void);

#endif
