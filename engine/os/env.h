/*
 * engine/os/env.h: the one door to the outside: file system, clock, randomness, the machine, executor.
 *
 * Room: engine/os
 * Sees: include format/base
 *
 * An env is handed down from every open; nothing outside this room calls the system. Two are built in,
 * `posix` and `uring`, which differ in how a queue does its work; tests register a simulated one, in
 * which every run can be repeated from a seed. The door is narrow enough for an object store to stand
 * behind it: whole names, block writes at increasing offsets, range reads, sync, lock.
 *
 * Every function that can fail returns 0 or a negative errno. EINTR, EAGAIN and short counts are dealt
 * with inside: what comes back is final. All times are microseconds.
 *
 * Threads: an env, a dir and a file may be used from any thread, but truncate, reserve, lock and what
 * changes names in a dir from one at a time; a queue from one at a time, its wake from any.
 */
#ifndef U9I_ENV_H
#define U9I_ENV_H

#include <u9/err.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct u9i_env u9i_env;

/* Directories and files */

/* An open directory; implementations embed it as their first member. */
typedef struct u9i_dir {
    u9i_env *env;
    char single[256]; /* not "": the path was a file, and this is its name in the directory */
    bool writing;     /* set by its owner: a writer of this very handle is at work */
    uint64_t tiered_from, tiered_end; /* segments of these numbers stand elsewhere; none from the first on was dropped [TR-6] */
    uint64_t tiered_ordinal;          /* of the first one's first record */
} u9i_dir;

typedef struct u9i_file {
    u9i_env *env;
} u9i_file;

typedef enum u9i_open_mode {
    U9I_OPEN_READ,
    U9I_OPEN_WRITE, /* an existing file, for writing and reading */
    U9I_OPEN_CREATE, /* a new file: -EEXIST if there is one; mode 0600 less umask */
    U9I_OPEN_OWN     /* as WRITE, and the directory's own: -ELOOP if the name is a symbolic link */
} u9i_open_mode;

/* What a name stands for, without opening it. Two looks at an unchanged file are equal in every field. */
typedef struct u9i_stamp {
    uint64_t identity[2]; /* device and inode */
    uint64_t size;
    uint64_t changed_us;  /* wall clock of the last change of bytes or attributes */
    uint64_t links;       /* names that it has, in whatever directories */
    uint64_t owner;       /* user and group */
    uint64_t mode;        /* its permissions */
} u9i_stamp;

/* How mapped bytes will be read. */
typedef enum u9i_map_advice {
    U9I_MAP_RANDOM, /* a few here and there: nothing is to be read ahead */
    U9I_MAP_SOON,   /* all of them, and soon: they are fetched at once, in one piece */
    U9I_MAP_DONE    /* no more for now: whole pages that lie in them count no more as the process's memory, but stay cached */
} u9i_map_advice;

/* Stops the listing when it returns non-zero. */
typedef int u9i_list_fn(void *ctx, const char *name);

typedef struct u9i_fs {
    int (*open_dir)(u9i_env *env, const char *path, bool create, u9i_dir **out);
    void (*close_dir)(u9i_dir *dir);
    int (*lock)(u9i_dir *dir);
    bool (*locked)(u9i_dir *dir, const char *name);
    int (*list)(u9i_dir *dir, u9i_list_fn *each, void *ctx);
    int (*stat)(u9i_dir *dir, const char *name, u9i_stamp *out); /* -ENOENT: the name is not there; -ELOOP: a link to nothing is */
    int (*identify)(u9i_dir *dir, const char *name, uint64_t identity[2]);
    int (*rename)(u9i_dir *dir, const char *from, const char *to);
    int (*link)(u9i_dir *dir, const char *name, u9i_dir *to, const char *new_name);
    int (*dress)(u9i_dir *dir, const char *name, const u9i_stamp *like);
    int (*remove)(u9i_dir *dir, const char *name);
    int (*sync_dir)(u9i_dir *dir);
    int (*post)(u9i_dir *dir, const char *name, const void *bytes, size_t n);
    int (*posted)(u9i_dir *dir, const char *name, void *bytes, size_t n, size_t *got);
    bool (*where)(u9i_dir *dir, const char *name, char *out, size_t size); /* NULL: all names are in it */

    int (*open)(u9i_dir *dir, const char *name, u9i_open_mode mode, u9i_file **out);
    void (*close)(u9i_file *file);
    int (*lock_file)(u9i_file *file);
    int (*size)(u9i_file *file, uint64_t *out);
    int (*read)(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got);
    uint64_t (*data)(u9i_file *file, uint64_t off);
    uint64_t (*written)(u9i_file *file, uint64_t off); /* NULL: as `data` */
    int (*reserve)(u9i_file *file, uint64_t end);
    int (*zero)(u9i_file *file, uint64_t from, uint64_t to);
    int (*truncate)(u9i_file *file, uint64_t size);
    int (*sync_and_evict)(u9i_file *file, uint64_t from);
    void (*fetch)(u9i_file *file, uint64_t from, uint64_t to); /* NULL: it is not */
    int (*map)(u9i_file *file, uint64_t off, size_t n, const void **out);
    void (*advise)(u9i_env *env, const void *map, size_t n, u9i_map_advice advice);
    void (*unmap)(u9i_env *env, const void *map, size_t n);
} u9i_fs;

/* Batches of reads and writes, begun and completed apart */

enum { U9I_QUEUE_DEPTH = 64 }; /* operations of one queue that are under way at most */

#define U9I_FOREVER UINT64_MAX /* a deadline that never comes */

typedef enum u9i_op_kind {
    U9I_OP_READ, /* n bytes at off into buf; result: how many, less only at the end of the file */
    U9I_OP_WRITE, /* n bytes of buf to off; result: n */
    U9I_OP_SYNC  /* covers the writes whose completion was taken before it was submitted; result: 0 */
} u9i_op_kind;

typedef struct u9i_op {
    u9i_op_kind kind;
    u9i_file *file; /* borrows until the completion is taken, and so buf */
    uint64_t off;
    void *buf;
    size_t n;
    uint64_t tag; /* comes back in the completion */
    bool durable; /* a write: complete, its bytes are on stable storage, and what is needed to read them */
} u9i_op;

typedef struct u9i_completion {
    uint64_t tag;
    int64_t result; /* of the kind, or a negative errno */
} u9i_completion;

typedef struct u9i_queue {
    u9i_env *env;
} u9i_queue;

typedef struct u9i_queue_type {
    int (*open)(u9i_env *env, void *buffers, size_t size, unsigned count, u9i_queue **out);
    void (*close)(u9i_queue *queue);
    int (*submit)(u9i_queue *queue, const u9i_op *ops, unsigned count);
    int (*wait)(u9i_queue *queue, u9i_completion *out, unsigned max, uint64_t deadline_us);
    void (*settle)(u9i_queue *queue);
    void (*wake)(u9i_queue *queue);
} u9i_queue_type;

/* Being told what others do in a directory */

typedef struct u9i_watch {
    u9i_env *env;
} u9i_watch;

typedef struct u9i_watch_type {
    int (*open)(u9i_dir *dir, const char *post, bool bytes, u9i_watch **out);
    void (*close)(u9i_watch *watch);
    int (*wait)(u9i_watch *watch, uint64_t deadline_us);
    int (*fd)(u9i_watch *watch);
    uint64_t look_us; /* so often who waits looks for what is not told; 0: each second */
} u9i_watch_type;

/* Clock, randomness, the machine */

typedef struct u9i_clock {
    uint64_t (*wall_us)(u9i_env *env);
    uint64_t (*monotonic_us)(u9i_env *env);
    void (*sleep_us)(u9i_env *env, uint64_t us);
} u9i_clock;

typedef bool u9i_random_fn(u9i_env *env, void *out, size_t size);

enum { U9I_MACHINE_SIZE = 16 };

typedef bool u9i_machine_fn(u9i_env *env, uint8_t id[U9I_MACHINE_SIZE]);

/* Work that is done beside the caller's */

typedef struct u9i_task {
    void (*run)(void *ctx);
    void *ctx;
    pthread_mutex_t *guard; /* held while it runs; NULL: none */
    /* The executor's own, zero at first: */
    struct u9i_task *next;
    uint64_t due_us;
    unsigned generation;  /* of forks, when it was submitted: a child has no part in it */
    bool queued, running; /* both: it has submitted itself again */
    bool barred;          /* somebody cancels it: it cannot be submitted */
} u9i_task;

typedef struct u9i_executor {
    void (*submit)(u9i_env *env, u9i_task *task, uint64_t due_us);
    void (*finish)(u9i_env *env, u9i_task *task);
    void (*cancel)(u9i_env *env, u9i_task *task);
    unsigned (*width)(u9i_env *env); /* NULL: 1 */
} u9i_executor;

struct u9i_env {
    const char *name;
    const u9i_fs *fs;
    const u9i_queue_type *queue;
    const u9i_watch_type *watch;
    const u9i_clock *clock;
    u9i_random_fn *random;
    u9i_machine_fn *machine;
    const u9i_executor *executor;
    struct u9i_env *host; /* of one that was put in front of another: that one; else NULL */
};

/* Which env */

extern u9i_env u9i_env_posix, u9i_env_uring;

/*
 * The env called `name`; NULL or "": what U9_IO says, else uring where the kernel has it, posix elsewhere.
 * U9_ARG: there is no such env, or it was asked for by name and cannot be used here.
 */
U9_MUST_CHECK u9_err u9i_env_choose(const char *name, u9i_env **out, u9_fault *fault);

/* Adds an env that is had by its name alone; NULL takes it away. For tests; not thread-safe. */
void u9i_env_register(u9i_env *env);

/* True if the kernel lets this process set up a ring. Asked once. */
bool u9i_uring_usable(void);

/* The calls, by what they are made on */

/*
 * Opens a directory, or the directory of a single file (dir->single). `create`: makes it if it is missing,
 * and makes that durable in its parent. -EINVAL: neither a directory nor a regular file.
 */
static inline int u9i_dir_open(u9i_env *env, const char *path, bool create, u9i_dir **out)
{
    return env->fs->open_dir(env, path, create, out);
}

/*
 * All its files are closed, and no task that uses them is under way. Gives the lock back. Not from within a
 * task.
 */
static inline void u9i_dir_close(u9i_dir *dir)
{
    dir->env->fs->close_dir(dir);
}

/* The exclusive lock on the directory (or single file): -EWOULDBLOCK if another has it. [W-1] */
static inline int u9i_dir_lock(u9i_dir *dir)
{
    return dir->env->fs->lock(dir);
}

/*
 * True if a writer is at work: this handle's own, another that has the directory's lock, or one that was killed
 * and whose last requests on the file of this name are still under way.
 */
static inline bool u9i_dir_writer_active(u9i_dir *dir, const char *name)
{
    return dir->writing || dir->env->fs->locked(dir, name);
}

/* Calls `each` for every name but "." and "..", of whatever it is, in any order; returns what `each` returned last. */
static inline int u9i_dir_list(u9i_dir *dir, u9i_list_fn *each, void *ctx)
{
    return dir->env->fs->list(dir, each, ctx);
}

/* The name "." stands for the directory itself. */
static inline int u9i_dir_stat(u9i_dir *dir, const char *name, u9i_stamp *out)
{
    return dir->env->fs->stat(dir, name, out);
}

/*
 * Only which file the name stands for: u9i_stamp.identity. Of a file that is being written this is cheaper: who has
 * asked for its times makes the next write change them, on the disk too (Linux 6.13).
 */
static inline int u9i_dir_identify(u9i_dir *dir, const char *name, uint64_t identity[2])
{
    return dir->env->fs->identify(dir, name, identity);
}

/* Gives a file or directory in `dir` another name there; a file of that name is replaced. */
static inline int u9i_dir_rename(u9i_dir *dir, const char *from, const char *to)
{
    return dir->env->fs->rename(dir, from, to);
}

/* Gives a file a second name in `to`. -EEXIST, -EXDEV, -EMLINK. */
static inline int u9i_dir_link(u9i_dir *dir, const char *name, u9i_dir *to, const char *new_name)
{
    return dir->env->fs->link(dir, name, to, new_name);
}

/* Gives a file in `dir` the owner and the mode that `like` tells. -EPERM: it is not one's to give away. */
static inline int u9i_dir_dress(u9i_dir *dir, const char *name, const u9i_stamp *like)
{
    return dir->env->fs->dress(dir, name, like);
}

/* Removes a file's name, or an empty directory (-ENOTEMPTY if it is not). */
static inline int u9i_dir_remove(u9i_dir *dir, const char *name)
{
    return dir->env->fs->remove(dir, name);
}

/* Makes the names in it durable. [W-4] */
static inline int u9i_dir_sync(u9i_dir *dir)
{
    return dir->env->fs->sync_dir(dir);
}

/*
 * Puts up to a page of bytes at the start of the file of this name, which is made if need be, for others to see at
 * once, and to be told of by a watch; nothing is made durable. One name a dir, by one thread at a time. Whoever looks
 * meanwhile may see some of both. n 0: takes the file away that this dir posted to, if it did.
 */
static inline int u9i_dir_post(u9i_dir *dir, const char *name, const void *bytes, size_t n)
{
    return dir->env->fs->post(dir, name, bytes, n);
}

/* What was put there: up to n bytes, as u9i_file_read; -ENOENT: nothing ever was. */
static inline int u9i_dir_posted(u9i_dir *dir, const char *name, void *bytes, size_t n, size_t *got)
{
    return dir->env->fs->posted(dir, name, bytes, n, got);
}

/* True if what has this name stands elsewhere than in the directory, and is missing there if it is: `out` is that path. */
static inline bool u9i_dir_where(u9i_dir *dir, const char *name, char *out, size_t size)
{
    return dir->env->fs->where && dir->env->fs->where(dir, name, out, size);
}

/* True if what opening a file returned says that no regular file stands there, or none any more: all else says nothing of it. */
bool u9i_no_file(int sys);

/* Never waits: -EINVAL where a FIFO or anything but a regular file stands. */
static inline int u9i_file_open(u9i_dir *dir, const char *name, u9i_open_mode mode, u9i_file **out)
{
    return dir->env->fs->open(dir, name, mode, out);
}

static inline void u9i_file_close(u9i_file *file)
{
    file->env->fs->close(file);
}

/*
 * The exclusive lock on a file that was opened to be written: -EWOULDBLOCK if another has it. It goes when the
 * file is closed, or the process has ended, and nothing that was submitted to it is under way any more. [W-1]
 */
static inline int u9i_file_lock(u9i_file *file)
{
    return file->env->fs->lock_file(file);
}

static inline int u9i_file_size(u9i_file *file, uint64_t *out)
{
    return file->env->fs->size(file, out);
}

/* Reads up to n bytes at off; *got is less only at the end of the file. */
static inline int u9i_file_read(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got)
{
    return file->env->fs->read(file, off, buf, n, got);
}

/* All n bytes at off; -ENODATA: they are not all there. */
U9_MUST_CHECK int u9i_read_exactly(u9i_file *file, uint64_t off, void *buf, size_t n);

/*
 * The first offset at or behind `off` that is not in a hole, where all is zeros; the file's size if none is. `off`
 * itself where the file system does not tell.
 */
static inline uint64_t u9i_file_data(u9i_file *file, uint64_t off)
{
    return file->env->fs->data(file, off);
}

/*
 * The same, and where the file system tells it also past what was reserved and never written, whether the zeros there are
 * cached or not. For that, what is written to the file meanwhile goes to the disk: not beside a writer at work. It is
 * believed only where some blocks of what it is said of hold zeros, too: see env.c.
 */
uint64_t u9i_file_written(u9i_file *file, uint64_t off);

/* Makes sure that blocks up to `end` can be written; -ENOSPC, -EDQUOT, -EFBIG if not: it is as it was then. [W-6] */
static inline int u9i_file_reserve(u9i_file *file, uint64_t end)
{
    return file->env->fs->reserve(file, end);
}

/*
 * Writes zeros over [from, to), whole blocks below the reserved end that nothing was written to: where space is
 * only reserved, a durable write has to settle that first. Returns when that is done, durable or not.
 */
static inline int u9i_file_zero(u9i_file *file, uint64_t from, uint64_t to)
{
    return file->env->fs->zero(file, from, to);
}

/* Sets the file's size. */
static inline int u9i_file_truncate(u9i_file *file, uint64_t size)
{
    return file->env->fs->truncate(file, size);
}

/* Syncs and drops cached pages, so that what is read next comes from the disk. [F41 of a crash] */
static inline int u9i_file_sync_and_evict(u9i_file *file)
{
    return file->env->fs->sync_and_evict(file, 0);
}

/* The same, but drops only what is cached from about `from` on: what stands in front of it was synced before. */
static inline int u9i_file_sync_and_evict_from(u9i_file *file, uint64_t from)
{
    return file->env->fs->sync_and_evict(file, from);
}

/* True if the system keeps what was read, so that a small read of that costs next to nothing; else each is a request. */
static inline bool u9i_file_is_cached(const u9i_file *file)
{
    return file->env->fs->fetch != NULL;
}

/* [from, to) will be read, soon and in whatever order: a hint. It comes from the disk while the caller does something else. */
static inline void u9i_file_fetch(u9i_file *file, uint64_t from, uint64_t to)
{
    if (file->env->fs->fetch) file->env->fs->fetch(file, from, to);
}

/*
 * Maps n bytes at off, a multiple of the block size, to be read; u9i_unmap gives them back, which the file need not
 * live to see. What is behind the end of the file, or cannot be read, is a SIGBUS: only for files that do not change,
 * and under the guard (engine/os/guard.h).
 */
static inline int u9i_file_map(u9i_file *file, uint64_t off, size_t n, const void **out)
{
    return file->env->fs->map(file, off, n, out);
}

/* Of some or all bytes of a mapping: a hint, on which nothing depends. U9I_MAP_RANDOM wants whole pages. */
static inline void u9i_map_advise(u9i_env *env, const void *map, size_t n, u9i_map_advice advice)
{
    env->fs->advise(env, map, n, advice);
}

static inline void u9i_unmap(u9i_env *env, const void *map, size_t n)
{
    env->fs->unmap(env, map, n);
}

/*
 * `buffers`: `count` of `size` bytes each, from which most will be written; may be NULL. A queue may take hold of
 * them (registration) once much is written from them, and so of their memory, until it is closed.
 */
static inline int u9i_queue_open(u9i_env *env, void *buffers, size_t size, unsigned count,
                                 u9i_queue **out)
{
    return env->queue->open(env, buffers, size, count, out);
}

/* Waits for what is under way, whose completions are lost; in a forked child it waits for nothing. */
static inline void u9i_queue_close(u9i_queue *queue)
{
    queue->env->queue->close(queue);
}

/* Begins all of a batch, or none: -EBUSY if more than U9I_QUEUE_DEPTH would be under way. */
static inline int u9i_queue_submit(u9i_queue *queue, const u9i_op *ops, unsigned count)
{
    return queue->env->queue->submit(queue, ops, count);
}

/*
 * Takes up to `max` completions, in any order, and returns how many; waits for the first one until
 * `deadline_us` of the monotonic clock (0: does not wait). 0: the deadline has come, or somebody called
 * u9i_queue_wake, also before. Negative: the queue itself has failed; what is under way still is.
 */
static inline int u9i_queue_wait(u9i_queue *queue, u9i_completion *out, unsigned max,
                                 uint64_t deadline_us)
{
    return queue->env->queue->wait(queue, out, max, deadline_us);
}

/*
 * Returns when nothing is under way any more, also where the queue has failed: from then on nobody reads or writes the
 * buffers, and the files may be closed. Completions that were not taken are lost. In a forked child it waits for nothing.
 */
static inline void u9i_queue_settle(u9i_queue *queue)
{
    queue->env->queue->settle(queue);
}

/* Does one operation on a queue that has nothing else under way. Its result; it is over, whatever that is. */
static inline int64_t u9i_queue_do(u9i_queue *queue, const u9i_op *op)
{
    u9i_completion done;
    int n = u9i_queue_submit(queue, op, 1);
    if (n != 0) return n;
    while ((n = u9i_queue_wait(queue, &done, 1, U9I_FOREVER)) == 0) continue;
    if (n > 0) return done.result;
    u9i_queue_settle(queue); /* the caller's next step is to free what it writes from */
    return n;
}

/*
 * Ends one wait that waits, the present one or the next; several wakes before it are one. Completions that
 * are there are taken first.
 */
static inline void u9i_queue_wake(u9i_queue *queue)
{
    queue->env->queue->wake(queue);
}

/*
 * From now on names that come and go in `dir`, and what is put into the file `post` (NULL: none), are told; with
 * `bytes` also what is written to any file there. It outlives no dir. One thread.
 */
static inline int u9i_watch_open(u9i_dir *dir, const char *post, bool bytes, u9i_watch **out)
{
    return dir->env->watch->open(dir, post, bytes, out);
}

static inline void u9i_watch_close(u9i_watch *watch)
{
    watch->env->watch->close(watch);
}

/*
 * 1: something was done since the last wait or the opening, or may have been; 0: nothing until `deadline_us` of the
 * monotonic clock (0: does not wait); -EINTR: a signal came. What another machine does is told by no watch.
 */
static inline int u9i_watch_wait(u9i_watch *watch, uint64_t deadline_us)
{
    return watch->env->watch->wait(watch, deadline_us);
}

/* A descriptor that can be read while u9i_watch_wait would return 1 at once; the watch's. -1: there is none. */
static inline int u9i_watch_fd(u9i_watch *watch)
{
    return watch->env->watch->fd(watch);
}

/* Since 1970. */
static inline uint64_t u9i_wall_us(u9i_env *env)
{
    return env->clock->wall_us(env);
}

/* Of a clock that is never set. */
static inline uint64_t u9i_monotonic_us(u9i_env *env)
{
    return env->clock->monotonic_us(env);
}

/* 0: lets other threads go first. A signal may cut it short. */
static inline void u9i_sleep_us(u9i_env *env, uint64_t us)
{
    env->clock->sleep_us(env, us);
}

/* Fills `out` from a cryptographic source. False if there is none. [H-3] */
U9_MUST_CHECK static inline bool u9i_random(u9i_env *env, void *out, size_t size)
{
    return env->random(env, out, size);
}

/* The id of this machine, which stays over restarts. False if it has none: then `id` is untouched. [I-22] */
U9_MUST_CHECK static inline bool u9i_machine(u9i_env *env, uint8_t id[U9I_MACHINE_SIZE])
{
    return env->machine(env, id);
}

/*
 * Runs task->run(task->ctx) once, on another thread or later on this one, not before `due_us` of the
 * monotonic clock (0: as soon as may be). The task is the caller's memory until finish or cancel has
 * returned, must not be queued, and may submit itself again from within; it never runs twice at a time. It
 * runs by itself only while a dir of the env is open and a thread can be had, elsewhere at its finish. In a
 * forked child nothing that the parent submitted runs, and finish and cancel return at once.
 *
 * Where there is one thread, tasks may run within any call on the env, but one whose guard is held waits: so a
 * task must take by itself no lock that anybody holds across such calls. Who finishes or cancels a task does
 * not hold its guard.
 */
static inline void u9i_task_submit(u9i_env *env, u9i_task *task, uint64_t due_us)
{
    env->executor->submit(env, task, due_us);
}

/*
 * Returns when the task has run: where it has not begun, it runs here, whatever its due time; one that submits
 * itself again, until it no longer does. Not from within the task itself.
 */
static inline void u9i_task_finish(u9i_env *env, u9i_task *task)
{
    env->executor->finish(env, task);
}

/*
 * Returns when the task neither runs nor will: where it has not begun, it never does, and what it submits of
 * itself meanwhile is dropped. Not from within the task itself.
 */
static inline void u9i_task_cancel(u9i_env *env, u9i_task *task)
{
    env->executor->cancel(env, task);
}

/* So many tasks may be busy for long without others having to wait for a thread: 1 at least. */
static inline unsigned u9i_task_width(u9i_env *env)
{
    return env->executor->width ? env->executor->width(env) : 1;
}

#endif
