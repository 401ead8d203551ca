/*
 * rados/file.c: the calls on files: rows of objects. [RD-1] [RD-6] [RD-8]
 *
 * A file that is open has the size that its objects tell; once it is settled, its entry has it. Who writes it makes its
 * objects in order, the next when the one before is acknowledged, so that none is missing in the row: the first that is
 * not there ends it, and who makes that one has cut off whoever wrote before. An object that is cut stays there, empty:
 * were it removed, a writer that has lost the log could make it anew.
 */
#include "rados/rados.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static u9r_env *env_of(const u9r_file *f)
{
    return u9r_env_of(f->file.env);
}

static void file_check(const u9r_file *f)
{
    assert(f->dir != NULL && f->entry.inode != 0);
    assert(!f->writing || f->end <= (uint64_t)f->made * U9R_OBJECT);
}

void u9r_data_oid(uint64_t inode, uint32_t index, char out[U9R_OID_MAX])
{
    snprintf(out, U9R_OID_MAX, "f.%016llx.%08x", (unsigned long long)inode, index);
}

/* Which objects are there */

typedef struct found {
    bool any;
    int64_t last;  /* the last one that holds a byte; -1: none */
    uint64_t size; /* of that */
    time_t when;
} found;

/* Looks at U9R_WINDOW objects from `first` on. 0 or a negative errno. */
static int look(u9r_env *e, uint64_t inode, uint32_t first, found *out)
{
    uint64_t sizes[U9R_WINDOW];
    time_t when[U9R_WINDOW];
    int results[U9R_BATCH], err = 0;
    u9r_batch batch = {.count = 0};
    *out = (found){.last = -1};
    for (uint32_t i = 0; i < U9R_WINDOW && err == 0; i++) {
        char oid[U9R_OID_MAX];
        u9r_data_oid(inode, first + i, oid);
        rados_completion_t done = u9r_batch_next(&batch);
        err = done ? rados_aio_stat(e->io, oid, done, &sizes[i], &when[i]) : -ENOMEM;
        if (err != 0 && done) rados_aio_release(batch.done[--batch.count]);
    }
    unsigned count = batch.count;
    u9r_batch_wait(&batch, results);
    for (unsigned i = 0; i < count && err == 0; i++) {
        if (results[i] == 0) {
            out->any = true;
            if (sizes[i] == 0) continue;
            out->last = first + i;
            out->size = sizes[i];
            out->when = when[i];
        } else if (results[i] != -ENOENT) {
            err = results[i];
        }
    }
    char oid[U9R_OID_MAX];
    u9r_data_oid(inode, first, oid);
    return u9r_fail(e, oid, err, "asking for a size");
}

/* The first window, in steps of U9R_WINDOW, that has no object: all before have, all behind have not. */
static int first_empty(u9r_env *e, uint64_t inode, uint32_t hint, uint32_t *out, found *last)
{
    uint32_t full = 0, empty, step = 1; /* in windows; `full` is not counted before it was seen */
    found f;
    int err;
    for (empty = hint / U9R_WINDOW;; empty += step, step *= 2) {
        err = look(e, inode, empty * U9R_WINDOW, &f);
        if (err != 0 || !f.any) break;
        full = empty + 1;
        *last = f;
    }
    while (err == 0 && full < empty) {
        uint32_t middle = full + (empty - full) / 2;
        err = look(e, inode, middle * U9R_WINDOW, &f);
        if (f.any) full = middle + 1;
        else empty = middle;
        if (f.any) *last = f;
    }
    *out = full;
    return err;
}

int u9r_probe(u9r_env *e, uint64_t inode, uint32_t hint, uint64_t *size, uint64_t *changed_us)
{
    uint32_t windows;
    found f = {.last = -1};
    int err = first_empty(e, inode, hint, &windows, &f);
    while (err == 0 && windows > 0 && f.last < 0 && --windows > 0)
        err = look(e, inode, (windows - 1) * U9R_WINDOW, &f); /* those were made ahead */
    if (err != 0) return err;
    *size = f.last < 0 ? 0 : (uint64_t)f.last * U9R_OBJECT + f.size;
    if (changed_us) *changed_us = f.last < 0 ? 0 : (uint64_t)f.when * 1000000;
    return 0;
}

/* Fencing */

static int give_epoch(u9r_dir *d, const char *oid, bool make)
{
    char epoch[U9R_EPOCH + 1];
    u9r_epoch_text(d->epoch, epoch);
    rados_write_op_t op = rados_create_write_op();
    if (make) {
        rados_write_op_create(op, LIBRADOS_CREATE_EXCLUSIVE, NULL);
    } else {
        rados_write_op_assert_exists(op);
        rados_write_op_cmpxattr(op, "epoch", LIBRADOS_CMPXATTR_OP_GTE, epoch, U9R_EPOCH);
    }
    rados_write_op_setxattr(op, "epoch", epoch, U9R_EPOCH);
    int err = rados_write_op_operate(op, u9r_env_of_dir(d)->io, oid, NULL, LIBRADOS_OPERATION_FULL_FORCE);
    rados_release_write_op(op);
    return err;
}

/* Until it has the epoch, be it made by us or by the writer before. *was: it was there. */
static int fence_one(u9r_dir *d, uint64_t inode, uint32_t index, bool *was)
{
    char oid[U9R_OID_MAX];
    u9r_data_oid(inode, index, oid);
    int err;
    do {
        err = give_epoch(d, oid, false);
        *was = err == 0;
        if (err == -ENOENT) err = give_epoch(d, oid, true);
    } while (err == -EEXIST);
    if (err == -ECANCELED) return u9r_lease_lost(d, oid);
    return u9r_fail(u9r_env_of_dir(d), oid, err, "taking an object over");
}

/* The same for objects that are likely to be there, many at once. *end: behind the first that was not, if that was met. */
static int fence_window(u9r_dir *d, uint64_t inode, uint32_t first, uint32_t *end)
{
    u9r_env *e = u9r_env_of_dir(d);
    char epoch[U9R_EPOCH + 1], oid[U9R_OID_MAX];
    int results[U9R_BATCH], err = 0;
    u9r_batch batch = {.count = 0};
    u9r_epoch_text(d->epoch, epoch);
    for (uint32_t i = 0; i < U9R_WINDOW && err == 0; i++) {
        u9r_data_oid(inode, first + i, oid);
        rados_write_op_t op = rados_create_write_op();
        rados_write_op_assert_exists(op);
        rados_write_op_cmpxattr(op, "epoch", LIBRADOS_CMPXATTR_OP_GTE, epoch, U9R_EPOCH);
        rados_write_op_setxattr(op, "epoch", epoch, U9R_EPOCH);
        rados_completion_t done = u9r_batch_next(&batch);
        err = done ? rados_aio_write_op_operate(op, e->io, done, oid, NULL, LIBRADOS_OPERATION_FULL_FORCE) : -ENOMEM;
        if (err != 0 && done) rados_aio_release(batch.done[--batch.count]);
        rados_release_write_op(op);
    }
    unsigned count = batch.count;
    u9r_batch_wait(&batch, results);
    for (unsigned i = 0; i < count && err == 0 && *end == 0; i++) {
        bool was = results[i] == 0;
        if (results[i] == -ECANCELED) err = u9r_lease_lost(d, oid);
        else if (results[i] != 0) err = results[i] == -ENOENT ? fence_one(d, inode, first + i, &was) : results[i];
        if (!was) *end = first + i + 1;
    }
    return u9r_fail(e, oid, err, "taking an object over");
}

int u9r_fence(u9r_dir *d, uint64_t inode, uint64_t *size, uint32_t *objects)
{
    uint32_t end = 0;
    int err = 0;
    for (uint32_t next = 0; err == 0 && end == 0; next += U9R_WINDOW) err = fence_window(d, inode, next, &end);
    if (err != 0) return err;
    *objects = end;
    return u9r_probe(u9r_env_of_dir(d), inode, 0, size, NULL);
}

void u9r_remove_objects(u9r_env *e, const u9r_entry *entry)
{
    u9r_batch batch = {.count = 0};
    unsigned missing = 0;
    for (uint32_t next = 0; next < entry->objects || missing < U9R_WINDOW;) {
        int results[U9R_BATCH];
        for (unsigned i = 0; i < U9R_WINDOW; i++) {
            char oid[U9R_OID_MAX];
            u9r_data_oid(entry->inode, next + i, oid);
            rados_completion_t done = u9r_batch_next(&batch);
            if (done == NULL) break;
            if (rados_aio_remove(e->io, oid, done) != 0) rados_aio_release(batch.done[--batch.count]);
        }
        unsigned count = batch.count;
        u9r_batch_wait(&batch, results);
        if (count == 0) return;
        for (unsigned i = 0; i < count; i++) missing = results[i] == 0 ? 0 : missing + 1;
        next += U9R_WINDOW;
    }
}

/* Entries */

typedef struct seeking {
    uint64_t inode;
    u9r_entry *entry;
    char *name;
} seeking;

static int seek_inode(void *ctx, const char *name, const u9r_entry *entry)
{
    seeking *s = ctx;
    if (entry->inode != s->inode) return 0;
    *s->entry = *entry;
    memcpy(s->name, name, strlen(name) + 1);
    return 1;
}

/* Its entry as it is now, under whatever name. -ENOENT: it was removed. */
static int own_entry(u9r_file *f, u9r_entry *out, char name[U9R_NAME_MAX + 1])
{
    u9r_env *e = env_of(f);
    pthread_mutex_lock(&f->dir->lock);
    memcpy(name, f->name, sizeof f->name);
    pthread_mutex_unlock(&f->dir->lock);
    int err = name[0] ? u9r_entry_get(e, f->dir->oid, name, out) : -ENOENT;
    if (err == 0 && out->inode == f->entry.inode) return 0;
    if (err != 0 && err != -ENOENT) return err;
    seeking s = {f->entry.inode, out, name};
    err = u9r_entries(e, f->dir->oid, false, seek_inode, &s);
    return err == 1 ? 0 : err == 0 ? -ENOENT : err;
}

/* Changes its entry, whoever else does, too. */
static int change_entry(u9r_file *f, bool open)
{
    int err = -ECANCELED;
    for (unsigned i = 0; i < 100 && err == -ECANCELED && !f->dir->lost; i++) {
        u9r_entry old, changed;
        char name[U9R_NAME_MAX + 1];
        err = own_entry(f, &old, name);
        if (err != 0) return err;
        changed = old;
        changed.open = open;
        if (open && f->dir->epoch) changed.epoch = f->dir->epoch;
        if (!open) changed.size = f->end;
        if (!open) changed.objects = f->made;
        if (f->dirty) changed.changed_us = u9i_wall_us(f->file.env);
        err = u9r_dir_put(f->dir, name, &old, &changed, open ? "opening a file" : "settling a file");
        if (err == 0) f->entry = changed;
    }
    return err;
}

/* Opening and closing */

static int make_file(u9r_file *f)
{
    mode_t mask = umask(0);
    (void)umask(mask);
    f->entry = (u9r_entry){.kind = 'f', .open = true, .mode = 0600 & ~(uint32_t)mask, .inode = u9r_random(env_of(f)),
                           .epoch = f->dir->epoch, .changed_us = u9i_wall_us(f->file.env),
                           .owner = (uint64_t)getuid() << 32 | getgid()};
    f->proof = f->dir->epoch;
    f->dirty = true;
    int err = u9r_dir_put(f->dir, f->name, NULL, &f->entry, "making a file");
    return err == -ECANCELED && !f->dir->lost ? -EEXIST : err;
}

static int open_to_write(u9r_file *f)
{
    u9r_env *e = env_of(f);
    f->proof = u9r_lease_epoch(f->dir);
    int err = 0;
    f->end = f->entry.size;
    f->made = f->entry.objects;
    if (f->entry.open && f->dir->epoch) err = u9r_fence(f->dir, f->entry.inode, &f->end, &f->made); /* made without a lock */
    else if (f->entry.open) err = u9r_probe(e, f->entry.inode, 0, &f->end, NULL);
    if (f->made < (f->end + U9R_OBJECT - 1) / U9R_OBJECT) f->made = (uint32_t)((f->end + U9R_OBJECT - 1) / U9R_OBJECT);
    return err ? err : change_entry(f, true);
}

/* Which files are written is known to their directory: it answers for their names. */
static void enter_file(u9r_file *f)
{
    pthread_mutex_lock(&f->dir->lock);
    f->next = f->dir->writing;
    f->dir->writing = f;
    pthread_mutex_unlock(&f->dir->lock);
}

static void leave_file(u9r_file *f)
{
    pthread_mutex_lock(&f->dir->lock);
    u9r_file **at = &f->dir->writing;
    while (*at && *at != f) at = &(*at)->next;
    if (*at) *at = f->next;
    pthread_mutex_unlock(&f->dir->lock);
}

int u9r_open_file(u9i_dir *dir, const char *name, u9i_open_mode mode, u9i_file **out)
{
    u9r_dir *d = u9r_dir_of(dir);
    if (strlen(name) > U9R_NAME_MAX - 1) return -ENAMETOOLONG;
    u9r_file *f = calloc(1, sizeof *f);
    if (f == NULL) return -ENOMEM;
    f->file.env = dir->env;
    f->dir = d;
    f->writing = mode != U9I_OPEN_READ;
    memcpy(f->name, name, strlen(name) + 1);
    int err = mode == U9I_OPEN_CREATE ? make_file(f) : u9r_entry_get(u9r_env_of_dir(d), d->oid, name, &f->entry);
    if (err == 0 && f->entry.kind != 'f') err = -EINVAL;
    if (err == 0 && (mode == U9I_OPEN_WRITE || mode == U9I_OPEN_OWN)) err = open_to_write(f);
    if (err != 0) {
        free(f);
        return err;
    }
    pthread_mutex_init(&f->lock, NULL);
    file_check(f);
    if (f->writing) enter_file(f);
    *out = &f->file;
    return 0;
}

/* Of who has the log, its files are his. [RD-5] */
int u9r_file_lock(u9i_file *file)
{
    u9r_file *f = u9r_file_of(file);
    return f->dir->epoch != 0 || f->hold ? 0 : u9r_hold_take(f->dir, f->entry.inode, &f->hold);
}

void u9r_close_file(u9i_file *file)
{
    u9r_file *f = u9r_file_of(file);
    bool ours = f->dir->generation == u9r_host->forks();
    if (ours && f->hold) u9r_hold_end(f->hold);
    /* What fails here leaves it open: its objects tell its size. */
    if (ours && f->writing) leave_file(f);
    bool heard = !env_of(f)->silent;
    if (ours && f->writing && heard && !f->failed && !f->dir->lost && f->entry.open) (void)change_entry(f, false);
    if (ours) pthread_mutex_destroy(&f->lock);
    free(f);
}

/* Reading */

int u9r_file_extent(u9r_file *f, uint64_t *size)
{
    int err = 0;
    pthread_mutex_lock(&f->lock);
    u9r_entry entry = f->entry;
    uint32_t known = f->known;
    uint64_t end = f->end;
    pthread_mutex_unlock(&f->lock);
    if (f->writing) {
        *size = end;
        return 0;
    }
    char name[U9R_NAME_MAX + 1];
    if (entry.open) {
        u9r_entry now;
        err = own_entry(f, &now, name);
        if (err == 0) entry = now;
        if (err == -ENOENT) err = 0;
    }
    *size = entry.size;
    if (err == 0 && entry.open) err = u9r_probe(env_of(f), entry.inode, known, size, NULL);
    if (err != 0) return err;
    pthread_mutex_lock(&f->lock);
    f->entry = entry;
    if (*size > 0) f->known = (uint32_t)((*size - 1) / U9R_OBJECT);
    pthread_mutex_unlock(&f->lock);
    return 0;
}

uint64_t u9r_file_end(u9r_file *f)
{
    pthread_mutex_lock(&f->lock);
    uint64_t end = f->end;
    pthread_mutex_unlock(&f->lock);
    return end;
}

int u9r_file_size(u9i_file *file, uint64_t *out)
{
    return u9r_file_extent(u9r_file_of(file), out);
}

int u9r_missing(u9r_file *f, uint32_t index, bool settled)
{
    u9r_entry now;
    char name[U9R_NAME_MAX + 1], oid[U9R_OID_MAX];
    int err = own_entry(f, &now, name);
    u9r_data_oid(f->entry.inode, index, oid);
    if (err == -ENOENT) {
        char trash[24];
        u9r_trash_name(f->entry.inode, trash);
        err = u9r_entry_get(env_of(f), f->dir->oid, trash, &now);
        bool whole = err == 0 && now.kind == 'f'; /* none of its objects is gone yet: this one never was */
        if (err == -ENOENT || (err == 0 && !whole)) return u9r_fail(env_of(f), oid, -ESTALE, "the file was removed");
    }
    if (err == 0 && settled) err = -ENODATA;
    return err == -ENODATA ? u9r_fail(env_of(f), oid, err, "the object is not there") : err;
}

/* One batch of a read: up to U9R_BATCH objects; *asked bytes, zeros for what they do not hold. *missing: one that is not there. */
static int read_some(u9r_file *f, uint64_t off, char *buf, size_t n, size_t *asked, bool *is_short, int64_t *missing)
{
    u9r_env *e = env_of(f);
    u9r_batch batch = {.count = 0};
    int results[U9R_BATCH], err = 0;
    size_t sizes[U9R_BATCH], done = 0;
    char *to[U9R_BATCH];
    char oid[U9R_OID_MAX] = "";
    while (done < n && batch.count < U9R_BATCH && err == 0) {
        uint64_t at = off + done, in = at % U9R_OBJECT;
        size_t part = n - done < U9R_OBJECT - in ? n - done : (size_t)(U9R_OBJECT - in);
        u9r_data_oid(f->entry.inode, (uint32_t)(at / U9R_OBJECT), oid);
        rados_completion_t c = u9r_batch_next(&batch);
        err = c ? rados_aio_read(e->io, oid, c, buf + done, part, in) : -ENOMEM;
        if (err != 0 && c) rados_aio_release(batch.done[--batch.count]);
        if (err != 0) break;
        sizes[batch.count - 1] = part;
        to[batch.count - 1] = buf + done;
        done += part;
    }
    unsigned count = batch.count;
    u9r_batch_wait(&batch, results);
    for (unsigned i = 0; i < count && err == 0; i++) {
        if (results[i] == -ENOENT) *missing = (int64_t)(off / U9R_OBJECT) + i;
        else if (results[i] < 0) err = results[i];
        size_t came = results[i] > 0 ? (size_t)results[i] : 0;
        if (came < sizes[i]) {
            memset(to[i] + came, 0, sizes[i] - came);
            *is_short = true;
        }
    }
    *asked = done;
    return u9r_fail(e, oid, err, "reading");
}

int u9r_file_read(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got)
{
    u9r_file *f = u9r_file_of(file);
    bool is_short = false, settled = !f->entry.open;
    int64_t missing = -1;
    uint64_t size = UINT64_MAX;
    int err = 0;
    if (settled) size = f->entry.size; /* settled: it stays so */
    if (off >= size) n = 0;
    else if (size - off < n) n = (size_t)(size - off);
    for (unsigned tries = 0; tries < 2 && err == 0 && off < size; tries++) {
        if (size - off < n) n = (size_t)(size - off);
        for (size_t done = 0, some; done < n && err == 0; done += some)
            err = read_some(f, off + done, (char *)buf + done, n - done, &some, &is_short, &missing);
        if (err != 0 || !is_short || settled) break;
        /* What came since it was read is within this size: it is read once more, so that no zeros stand for it. */
        if (tries == 0) err = u9r_file_extent(f, &size);
    }
    if (err == 0 && missing >= 0) err = u9r_missing(f, (uint32_t)missing, settled);
    if (err != 0) return err;
    *got = off >= size ? 0 : size - off < n ? (size_t)(size - off) : n;
    return 0;
}

/* Writing */

int u9r_file_failed(u9r_file *f, uint32_t index, int err, const char *what)
{
    char oid[U9R_OID_MAX];
    u9r_data_oid(f->entry.inode, index, oid);
    f->failed = true;
    if (err == -ECANCELED || err == -EEXIST) {
        /* The object has another's epoch, or another made it: nobody does but who has taken the log over. */
        int lost = u9r_lease_prove(f->dir);
        return lost ? lost : u9r_fenced(env_of(f), oid, "another writer");
    }
    return u9r_fail(env_of(f), oid, err, what);
}

/* Begun with create, so that it fails where another has been. */
static rados_write_op_t making_op(const u9r_file *f)
{
    char epoch[U9R_EPOCH + 1];
    u9r_epoch_text(f->proof, epoch);
    rados_write_op_t op = rados_create_write_op();
    rados_write_op_create(op, LIBRADOS_CREATE_EXCLUSIVE, NULL);
    rados_write_op_setxattr(op, "epoch", epoch, U9R_EPOCH);
    return op;
}

static rados_write_op_t proving_op(const u9r_file *f)
{
    char epoch[U9R_EPOCH + 1];
    u9r_epoch_text(f->proof, epoch);
    rados_write_op_t op = rados_create_write_op();
    rados_write_op_assert_exists(op);
    rados_write_op_cmpxattr(op, "epoch", LIBRADOS_CMPXATTR_OP_GTE, epoch, U9R_EPOCH);
    return op;
}

/* Makes the objects below `index` that are not there. */
static int make_below(u9r_file *f, uint32_t index, int flags)
{
    int err = 0;
    while (err == 0 && f->made < index) {
        char oid[U9R_OID_MAX];
        u9r_data_oid(f->entry.inode, f->made, oid);
        rados_write_op_t op = making_op(f);
        err = rados_write_op_operate(op, env_of(f)->io, oid, NULL, flags);
        rados_release_write_op(op);
        if (err == 0) f->made++;
        else err = u9r_file_failed(f, f->made, err, "making an object");
    }
    return err;
}

rados_write_op_t u9r_file_op(u9r_file *f, uint32_t index, uint64_t end, int *flags, int *err)
{
    rados_write_op_t op = NULL;
    pthread_mutex_lock(&f->lock);
    *flags = end <= f->reserved ? LIBRADOS_OPERATION_FULL_FORCE : LIBRADOS_OPERATION_FULL_TRY;
    *err = f->dir->lost ? u9r_lease_lost(f->dir, f->dir->oid) : make_below(f, index + 1, *flags);
    if (*err == 0) {
        op = proving_op(f);
        if (f->end < end) f->end = end;
        f->dirty = true;
        file_check(f);
    } else {
        f->failed = true;
    }
    pthread_mutex_unlock(&f->lock);
    return op;
}

int u9r_file_reserve(u9i_file *file, uint64_t end)
{
    u9r_file *f = u9r_file_of(file);
    pthread_mutex_lock(&f->lock);
    int err = f->dir->lost ? u9r_lease_lost(f->dir, f->dir->oid) : 0;
    bool failed = f->failed;
    /* An object more is what a full pool refuses; that the next one can be made says that there is room. */
    if (err == 0 && (uint64_t)f->made * U9R_OBJECT < end) err = make_below(f, f->made + 1, LIBRADOS_OPERATION_FULL_TRY);
    if (err == -ENOSPC || err == -EDQUOT) f->failed = failed; /* it is as it was */
    if (err == 0 && f->reserved < end) f->reserved = end;
    pthread_mutex_unlock(&f->lock);
    return err;
}

static int cut_object(u9r_file *f, uint32_t index, uint64_t size)
{
    char oid[U9R_OID_MAX];
    u9r_data_oid(f->entry.inode, index, oid);
    rados_write_op_t op = proving_op(f);
    rados_write_op_truncate(op, size);
    int err = rados_write_op_operate(op, env_of(f)->io, oid, NULL, LIBRADOS_OPERATION_FULL_TRY);
    rados_release_write_op(op);
    return err ? u9r_file_failed(f, index, err, "setting a size") : 0;
}

/* From the end on, so that what a crash leaves is a file that is shorter. */
int u9r_file_truncate(u9i_file *file, uint64_t size)
{
    u9r_file *f = u9r_file_of(file);
    if (!f->writing) return -EBADF;
    uint32_t objects = (uint32_t)((size + U9R_OBJECT - 1) / U9R_OBJECT);
    pthread_mutex_lock(&f->lock);
    uint32_t used = (uint32_t)((f->end + U9R_OBJECT - 1) / U9R_OBJECT);
    int err = make_below(f, objects, LIBRADOS_OPERATION_FULL_TRY);
    while (err == 0 && used > objects) err = cut_object(f, --used, 0);
    if (err == 0 && objects > 0) err = cut_object(f, objects - 1, size - (uint64_t)(objects - 1) * U9R_OBJECT);
    if (err == 0) {
        f->end = size;
        f->reserved = f->reserved > size ? size : f->reserved;
        f->dirty = true;
    }
    pthread_mutex_unlock(&f->lock);
    return err;
}
