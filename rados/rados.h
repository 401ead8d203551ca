/*
 * rados/rados.h: what the files of libu9-rados share: a cluster, directories and files in its objects.
 *
 * Room: rados
 * Sees: include engine/os
 *
 *   address.c  options                                 store.c  what libu9 is given; the env
 *   cluster.c  connections, one a pool and namespace; what is known of a failure
 *   batch.c    requests to many objects at once
 *   entry.c    what a directory has of a name          dir.c    the calls on directories
 *   lease.c    the lock that expires, the epoch, taking over from a writer that is gone
 *   file.c     the calls on files                      queue.c  reads and writes that are under way
 *   watch.c    posts, and being told                  numbers.c  generator numbers, by leases of their own
 *
 * Layout and protocol are SPEC-rados.md's [RD-n]. A directory is one object `d.<inode>`, the first of them `root`; a
 * file a row of objects `f.<inode>.<index>` of 4 MiB. What changes is changed by one compound operation on one object,
 * which RADOS does whole or not at all.
 *
 * Locks: `lock` of u9r_env (the connection), of u9r_dir (the lease), of a queue; none is held during a request, but that
 * of u9r_env while it connects. A forked child has none of its parent's connection: it makes its own at the first open,
 * and may only close what it inherited.
 */
#ifndef U9R_RADOS_H
#define U9R_RADOS_H

#include "engine/os/store.h"

#include <pthread.h>
#include <rados/librados.h>
#include <stdatomic.h>

enum {
    U9R_OBJECT = 4 << 20, /* bytes of a data object [RD-1] */
    U9R_WINDOW = 16,      /* objects that are looked at in one go */
    U9R_NAME_MAX = 255,
    U9R_OID_MAX = 64,
    U9R_POOL_MAX = 128,
    U9R_EPOCH = 16,       /* hexadecimal digits */
    U9R_COOKIE = 40,
    U9R_OWNER = 160,
    U9R_BATCH = 64        /* requests that one batch has under way */
};

/* Cluster */

typedef struct u9r_env {
    u9i_env env;
    char pool[U9R_POOL_MAX], space[U9R_POOL_MAX], conf[512];
    unsigned timeout_s, lease_ms, wait_ms, grace_s;
    pthread_mutex_t lock;
    rados_t cluster;    /* NULL: not connected */
    rados_ioctx_t io;
    struct u9r_env *next; /* of those that were connected */
    atomic_uint users;  /* directories that are open, and numbers that are held */
    atomic_uint posters; /* of directories that are open, or whose last notices are under way */
    uint64_t identity;  /* of cluster, pool and namespace */
    unsigned generation; /* of forks, when it was connected */
    atomic_bool silent;  /* a request has timed out, and nothing was heard since: goodbyes are left out, the lease does as well */
} u9r_env;

extern const u9_store_host *u9r_host;
extern const u9i_fs u9r_fs;
extern const u9i_queue_type u9r_queue_type;
extern const u9i_watch_type u9r_watch_type;

static inline u9r_env *u9r_env_of(u9i_env *env)
{
    return (u9r_env *)env;
}

/* True in a forked child that has not connected by itself: the connection is its parent's. */
static inline bool u9r_is_foreign(const u9r_env *e)
{
    return e->generation != u9r_host->forks();
}

/* Connects, if that is not done; who did leaves it again, in the same process. 0 or a negative errno. */
int u9r_connect(u9r_env *e);
void u9r_leave(u9r_env *e);

/*
 * Notes what failed, for the sentence that will be made of it, and returns `err`; what is asked for and not there is
 * not noted. `object` NULL: the pool itself.
 */
int u9r_fail(u9r_env *e, const char *object, int err, const char *what);
/* The same for who has lost the log: who has it now is said in `owner`. Returns -ECANCELED. */
int u9r_fenced(const u9r_env *e, const char *object, const char *owner);
void u9r_explain(int sys, char *out, size_t size);

/* Addresses */

/* The env of an address and the path in it, both kept for the life of the process. False: `why` is a sentence. */
bool u9r_find(const char *path, u9i_env **env, const char **rest, char *why, size_t size);
/* `path` without prefix and pool, if it has them; -EXDEV: it is one of another env. */
int u9r_path_in(const u9r_env *e, const char *path, const char **in);

/* Requests to many objects */

typedef struct u9r_batch {
    rados_completion_t done[U9R_BATCH];
    unsigned count;
} u9r_batch;

/* A completion for the next request. NULL: out of memory, or there are U9R_BATCH. */
rados_completion_t u9r_batch_next(u9r_batch *b);
/* Waits for all; `results` (room for U9R_BATCH; may be NULL) gets what each returned. The batch is empty then. */
void u9r_batch_wait(u9r_batch *b, int *results);

/* Entries of a directory */

typedef struct u9r_entry {
    char kind;        /* 'd', 'f'; 'x': removed, and its objects are going, too */
    bool open;        /* its size is what its objects say */
    uint32_t mode;
    uint64_t inode, size, epoch, changed_us, owner;
    uint32_t objects; /* so many may be there: those that were fenced, or hold its size */
} u9r_entry;

enum { U9R_ENTRY_SIZE = 56 };

void u9r_entry_encode(const u9r_entry *entry, char out[U9R_ENTRY_SIZE]);
bool u9r_entry_decode(const char *bytes, size_t n, u9r_entry *out);

/* The entry of a name in the directory object `oid`: -ENOENT, -EBADMSG. */
int u9r_entry_get(u9r_env *e, const char *oid, const char *name, u9r_entry *out);

/* Each entry whose name is not below `from`, in order of names; stops when `each` returns non-zero. */
typedef int u9r_entry_fn(void *ctx, const char *name, const u9r_entry *entry);
int u9r_entries(u9r_env *e, const char *oid, bool trash, u9r_entry_fn *each, void *ctx);

/* Directories */

typedef struct u9r_hold u9r_hold;

typedef struct u9r_dir {
    u9i_dir dir;
    char oid[U9R_OID_MAX];
    unsigned generation;
    /* The lease, and what is written; under `lock`, but for `epoch`, which changes with `locked` alone. */
    pthread_mutex_t lock;
    pthread_cond_t told;
    pthread_t renewer;
    bool locked, ending;
    atomic_bool lost;          /* somebody else has the log */
    _Atomic uint64_t until_us; /* of the boot clock: nobody else can have the lock before */
    uint64_t epoch;            /* 0: not locked by this handle */
    char cookie[U9R_COOKIE], owner[U9R_OWNER];
    struct u9r_file *writing;  /* those that are open to be written */
    struct u9r_poster *poster; /* see watch.c */
} u9r_dir;

static inline u9r_dir *u9r_dir_of(u9i_dir *dir)
{
    return (u9r_dir *)dir;
}

static inline u9r_env *u9r_env_of_dir(const u9r_dir *d)
{
    return u9r_env_of(d->dir.env);
}

void u9r_epoch_text(uint64_t epoch, char out[U9R_EPOCH + 1]);
uint64_t u9r_random(u9r_env *e);

/* An operation on the directory's object, begun with the proof that the handle has the lock, if it ever had it. [RD-5] */
rados_write_op_t u9r_dir_op(const u9r_dir *d);
/*
 * Does it, and takes the op. -ECANCELED: something that it compares is not so; or the lock is lost (d->lost is set then, and noted).
 */
int u9r_dir_change(u9r_dir *d, rados_write_op_t op, const char *what);
/* Puts an entry in the place of `old` (NULL: of none), which it goes by. */
int u9r_dir_put(u9r_dir *d, const char *name, const u9r_entry *old, const u9r_entry *changed, const char *what);
/* The name in its directory's object of a file that was removed. */
void u9r_trash_name(uint64_t inode, char out[24]);
/* Removes the objects of what was removed, where that was long enough ago. */
void u9r_dir_sweep(u9r_dir *d, bool all);

/* The lease */

int u9r_lease_take(u9i_dir *dir);
void u9r_lease_end(u9r_dir *d);
bool u9r_lease_held_by_other(u9i_dir *dir, const char *name);
/* 0: what was acknowledged before this call is in the log, whoever has it now; else an errno, noted. [RD-7] */
int u9r_lease_prove(u9r_dir *d);
/* True while nobody else can have the lock: what is acknowledged needs no other proof. */
bool u9r_lease_is_sure(const u9r_dir *d);
/* The epoch of the handle, or (of one that has no lock) the directory's as it is now. */
uint64_t u9r_lease_epoch(u9r_dir *d);
/* Notes who has the log now; returns -ECANCELED. */
int u9r_lease_lost(u9r_dir *d, const char *object);

/*
 * A file is locked by a handle that has not the log, until it lets go, or (who is killed) for the time of the lease. -EWOULDBLOCK:
 * it is, by another, for as long as the address says that a log is waited for. [RD-12]
 */
int u9r_hold_take(u9r_dir *d, uint64_t inode, u9r_hold **out);
void u9r_hold_end(u9r_hold *h);

/* Microseconds of a clock that goes on while the machine sleeps. */
uint64_t u9r_boot_us(void);
/* The lock of this name on an object, which is made if need be, for the time of the lease. */
int u9r_lock(u9r_env *e, const char *oid, const char *name, const char *cookie, const char *owner, uint8_t flags);
/* Who we are, for people, and a word that nobody else draws. */
void u9r_name_owner(u9r_env *e, char owner[U9R_OWNER], char cookie[U9R_COOKIE]);
/* A thread that takes no signals. 0 or a negative errno. */
int u9r_begin_thread(pthread_t *thread, void *(*run)(void *), void *arg);
/* Waits for the time, or until the wait is ended: false then. `told` goes by the monotonic clock. */
void u9r_init_wait(pthread_mutex_t *lock, pthread_cond_t *told);
bool u9r_wait_to_renew(pthread_mutex_t *lock, pthread_cond_t *told, const bool *ending, uint64_t us);
void u9r_end_wait(pthread_mutex_t *lock, pthread_cond_t *told, bool *ending);

/* Files */

typedef struct u9r_file {
    u9i_file file;
    u9r_dir *dir; /* outlives it */
    struct u9r_file *next; /* of those of `dir` that are written, under its lock, as is `name` */
    char name[U9R_NAME_MAX + 1];
    bool writing;
    u9r_hold *hold; /* NULL: it is not locked */
    atomic_bool failed; /* a write did: what its objects hold is told by them alone */
    bool dirty;
    uint64_t proof;    /* writing: the epoch that its writes prove */
    pthread_mutex_t lock; /* of what follows */
    u9r_entry entry;   /* when it was opened, or looked at since */
    uint64_t end;      /* writing: behind the last byte that is there, or will be */
    uint64_t reserved; /* writing: there was room up to here */
    uint32_t made;     /* writing: all objects below are there */
    uint32_t known;    /* reading an open one: an object of this index was there */
} u9r_file;

static inline u9r_file *u9r_file_of(u9i_file *file)
{
    return (u9r_file *)file;
}

/* Of one that is written: behind its last byte. */
uint64_t u9r_file_end(u9r_file *f);

/* Of u9i_fs. */
int u9r_open_file(u9i_dir *dir, const char *name, u9i_open_mode mode, u9i_file **out);
void u9r_close_file(u9i_file *file);
int u9r_file_size(u9i_file *file, uint64_t *out);
int u9r_file_read(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got);
int u9r_file_reserve(u9i_file *file, uint64_t end);
int u9r_file_truncate(u9i_file *file, uint64_t size);
int u9r_file_lock(u9i_file *file);

void u9r_data_oid(uint64_t inode, uint32_t index, char out[U9R_OID_MAX]);
/* Size of an open file by its objects; `hint`: an index that is known to be there. `last` may be NULL. */
int u9r_probe(u9r_env *e, uint64_t inode, uint32_t hint, uint64_t *size, uint64_t *changed_us);
/* Gives all objects of a file the epoch of `d`, and makes the next one with it. `size` and `objects` are told. [RD-8] */
int u9r_fence(u9r_dir *d, uint64_t inode, uint64_t *size, uint32_t *objects);
void u9r_remove_objects(u9r_env *e, const u9r_entry *entry);
/*
 * What it means that this object was not there: in a file that was open when it was asked for, that it had not been made (0);
 * in a settled one, of which all were made, that it is lost: -ENODATA; or that the file is gone: -ESTALE. Both are noted.
 */
int u9r_missing(u9r_file *f, uint32_t index, bool settled);
int u9r_file_extent(u9r_file *f, uint64_t *size);
/*
 * An operation on an object of the file, begun with the proof that nobody has taken the log over [RD-6]; it makes the
 * object if need be. NULL: an object before it cannot be made, *err says why. `flags` is for the operation.
 */
rados_write_op_t u9r_file_op(u9r_file *f, uint32_t index, uint64_t end, int *flags, int *err);
/* What a failed operation on an object means, noted. */
int u9r_file_failed(u9r_file *f, uint32_t index, int err, const char *what);

/* Begins to tell those who watch the directory that something was done; waits for nobody. */
void u9r_tell(u9r_dir *d);
/* The same of a write: with what else is told, or in a moment. */
void u9r_tell_soon(u9r_dir *d);
int u9r_poster_open(u9r_dir *d);
void u9r_poster_close(u9r_dir *d);
int u9r_post(u9i_dir *dir, const char *name, const void *bytes, size_t n);
int u9r_posted(u9i_dir *dir, const char *name, void *bytes, size_t n, size_t *got);

#endif
