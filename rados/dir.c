/*
 * rados/dir.c: the calls on directories: names, and what they stand for. [RD-2] [RD-4]
 *
 * A change of names is one operation on the directory's object, which compares what it replaces. What is removed moves
 * to a name of its own first, and its objects go later: who reads it meanwhile may finish.
 */
#include "rados/rados.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTS_MAX = 64, TRIES = 100 };

static const char root[] = "root";

uint64_t u9r_random(u9r_env *e)
{
    uint64_t n = 0;
    while (n == 0)
        if (!u9i_random(&e->env, &n, sizeof n)) return 0;
    return n;
}

static void dir_oid(uint64_t inode, char out[U9R_OID_MAX])
{
    if (inode == 0) snprintf(out, U9R_OID_MAX, "%s", root);
    else snprintf(out, U9R_OID_MAX, "d.%016llx", (unsigned long long)inode);
}

static uint64_t inode_of(const char *oid)
{
    return oid[0] == 'd' ? strtoull(oid + 2, NULL, 16) : 0;
}

/* Paths */

typedef struct path_parts {
    char text[4096];
    const char *part[PARTS_MAX];
    unsigned count;
} path_parts;

/* "a/./b/../c" is a and c: there are no links that would have a say. */
static int split(const char *path, path_parts *p)
{
    char *rest = p->text;
    p->count = 0;
    if (strlen(path) >= sizeof p->text) return -ENAMETOOLONG;
    memcpy(p->text, path, strlen(path) + 1);
    for (char *part; (part = strtok_r(rest, "/", &rest)) != NULL;) {
        if (strcmp(part, ".") == 0) continue;
        if (strcmp(part, "..") == 0) {
            p->count -= p->count > 0;
            continue;
        }
        if (strlen(part) > U9R_NAME_MAX - 1 || part[0] == 1 || p->count == PARTS_MAX) return -ENAMETOOLONG;
        p->part[p->count++] = part;
    }
    return 0;
}

/*
 * Goes down to the last part: `oid` is the directory that it stands in, `name` its name there (NULL: it is the root
 * itself), `entry` what it is. -ENOENT with `name`: only that is missing.
 */
static int walk(u9r_env *e, const path_parts *p, char oid[U9R_OID_MAX], const char **name, u9r_entry *entry)
{
    int err = 0;
    *entry = (u9r_entry){.kind = 'd'};
    *name = NULL;
    dir_oid(0, oid);
    for (unsigned i = 0; i < p->count && err == 0; i++) {
        if (entry->kind != 'd') return -ENOTDIR;
        dir_oid(entry->inode, oid);
        err = u9r_entry_get(e, oid, p->part[i], entry);
        if (err == 0 || i + 1 == p->count) *name = p->part[i];
    }
    return err;
}

static int create_object(u9r_env *e, const char *oid)
{
    char epoch[U9R_EPOCH + 1];
    u9r_epoch_text(0, epoch);
    rados_write_op_t op = rados_create_write_op();
    rados_write_op_create(op, LIBRADOS_CREATE_EXCLUSIVE, NULL);
    rados_write_op_setxattr(op, "epoch", epoch, U9R_EPOCH);
    int err = rados_write_op_operate(op, e->io, oid, NULL, LIBRADOS_OPERATION_FULL_TRY);
    rados_release_write_op(op);
    return u9r_fail(e, oid, err, "creating a directory");
}

static int stands(u9r_env *e, const char *oid)
{
    uint64_t size;
    time_t when;
    return u9r_fail(e, oid, rados_stat(e->io, oid, &size, &when), "looking at a directory");
}

static uint64_t own_user(void)
{
    return (uint64_t)getuid() << 32 | getgid();
}

/* A change that is none of a handle's. */
static int put_name(u9r_env *e, const char *oid, const char *name, const u9r_entry *entry)
{
    u9r_dir plain = {.dir.env = &e->env};
    snprintf(plain.oid, sizeof plain.oid, "%s", oid);
    return u9r_dir_put(&plain, name, NULL, entry, "making a directory");
}

static int make_one(u9r_env *e, const char *parent, const char *name, u9r_entry *out)
{
    u9r_entry made = {.kind = 'd', .mode = 0700, .inode = u9r_random(e), .changed_us = u9i_wall_us(&e->env),
                      .owner = own_user()};
    char oid[U9R_OID_MAX];
    dir_oid(made.inode, oid);
    int err = strcmp(parent, root) == 0 ? create_object(e, root) : 0;
    if (err == 0 || err == -EEXIST) err = create_object(e, oid);
    if (err != 0) return err;
    err = put_name(e, parent, name, &made);
    if (err != 0) (void)rados_remove(e->io, oid);
    if (err == 0) *out = made;
    return err == -ECANCELED ? -EEXIST : err;
}

static int resolve(u9r_env *e, const path_parts *p, bool create, char oid[U9R_OID_MAX], const char **name,
                   u9r_entry *entry)
{
    int err = walk(e, p, oid, name, entry);
    if (err == -ENOENT && create && *name) {
        err = make_one(e, oid, *name, entry);
        if (err == -EEXIST) err = walk(e, p, oid, name, entry);
    }
    if (err == 0 && p->count == 0) {
        if (create) err = create_object(e, root);
        err = err == 0 || err == -EEXIST ? stands(e, root) : err;
    }
    return err;
}

static int open_dir(u9i_env *env, const char *path, bool create, u9i_dir **out)
{
    u9r_env *e = u9r_env_of(env);
    path_parts *p = malloc(sizeof *p);
    u9r_dir *d = calloc(1, sizeof *d);
    const char *name, *in;
    u9r_entry entry;
    int err = p == NULL || d == NULL ? -ENOMEM : u9r_path_in(e, path, &in);
    if (err == 0) err = split(in, p);
    if (err == 0) err = u9r_connect(e);
    bool is_user = err == 0;
    if (err == 0) err = resolve(e, p, create, d->oid, &name, &entry);
    if (err == 0 && entry.kind == 'd') dir_oid(entry.inode, d->oid);
    else if (err == 0) snprintf(d->dir.single, sizeof d->dir.single, "%s", name);
    free(p);
    if (d) d->dir.env = env;
    if (err == 0) err = u9r_poster_open(d);
    if (err != 0) {
        if (is_user) u9r_leave(e);
        free(d);
        return err;
    }
    d->generation = u9r_host->forks();
    u9r_init_wait(&d->lock, &d->told);
    u9r_host->acquire();
    *out = &d->dir;
    return 0;
}

static void close_dir(u9i_dir *dir)
{
    u9r_dir *d = u9r_dir_of(dir);
    if (d->generation == u9r_host->forks()) { /* in a child neither the threads nor the pool are there */
        u9r_lease_end(d);
        u9r_poster_close(d);
        pthread_cond_destroy(&d->told);
        pthread_mutex_destroy(&d->lock);
        u9r_leave(u9r_env_of_dir(d));
        u9r_host->release();
    }
    free(d);
}

/* Changes */

rados_write_op_t u9r_dir_op(const u9r_dir *d)
{
    char epoch[U9R_EPOCH + 1];
    rados_write_op_t op = rados_create_write_op();
    rados_write_op_assert_exists(op);
    if (d->epoch == 0) return op;
    u9r_epoch_text(d->epoch, epoch);
    rados_write_op_cmpxattr(op, "epoch", LIBRADOS_CMPXATTR_OP_EQ, epoch, U9R_EPOCH);
    return op;
}

int u9r_dir_change(u9r_dir *d, rados_write_op_t op, const char *what)
{
    u9r_env *e = u9r_env_of_dir(d);
    int err = d->lost ? -ECANCELED : rados_write_op_operate(op, e->io, d->oid, NULL, LIBRADOS_OPERATION_FULL_TRY);
    rados_release_write_op(op);
    if (err == -ECANCELED) {
        int lost = d->epoch ? u9r_lease_prove(d) : 0;
        return lost ? lost : -ECANCELED;
    }
    if (err == 0) e->silent = false;
    if (err == 0) u9r_tell(d);
    return u9r_fail(e, d->oid, err, what);
}

static void compare_entry(rados_write_op_t op, const char *name, const u9r_entry *old)
{
    char bytes[U9R_ENTRY_SIZE];
    if (old) u9r_entry_encode(old, bytes);
    /* What is not there compares as empty. */
    rados_write_op_omap_cmp2(op, name, LIBRADOS_CMPXATTR_OP_EQ, bytes, strlen(name), old ? sizeof bytes : 0, NULL);
}

static void set_entry(rados_write_op_t op, const char *name, const u9r_entry *entry)
{
    char bytes[U9R_ENTRY_SIZE];
    const char *value = bytes;
    size_t length = strlen(name), size = sizeof bytes;
    u9r_entry_encode(entry, bytes);
    rados_write_op_omap_set2(op, &name, &value, &length, &size, 1);
}

static void drop_entry(rados_write_op_t op, const char *name)
{
    size_t length = strlen(name);
    rados_write_op_omap_rm_keys2(op, &name, &length, 1);
}

int u9r_dir_put(u9r_dir *d, const char *name, const u9r_entry *old, const u9r_entry *changed, const char *what)
{
    rados_write_op_t op = u9r_dir_op(d);
    compare_entry(op, name, old);
    set_entry(op, name, changed);
    return u9r_dir_change(d, op, what);
}

void u9r_trash_name(uint64_t inode, char out[24])
{
    snprintf(out, 24, "\1%016llx", (unsigned long long)inode);
}

/* The name of what was removed. It tells how many objects there may be. */
static void trash(u9r_dir *d, rados_write_op_t op, const u9r_entry *entry)
{
    char name[24];
    u9r_entry gone = *entry;
    uint64_t size = entry->size;
    gone.changed_us = u9i_wall_us(d->dir.env);
    if (entry->open) (void)u9r_probe(u9r_env_of_dir(d), entry->inode, 0, &size, NULL);
    uint64_t objects = size / U9R_OBJECT + 1;
    if (gone.objects < objects) gone.objects = (uint32_t)objects;
    u9r_trash_name(entry->inode, name);
    set_entry(op, name, &gone);
}

/* What a writer has open goes by its epoch alone. [RD-5] */
static bool is_anothers(const u9r_dir *d, const u9r_entry *entry)
{
    return d->epoch == 0 && entry->kind == 'f' && entry->open && entry->epoch > 0;
}

/* The file of this name that this handle writes, if it has the log; else NULL. The lock is held. */
static u9r_file *written_here(u9r_dir *d, const char *name)
{
    if (d->epoch == 0 || !u9r_lease_is_sure(d)) return NULL;
    u9r_file *f = d->writing;
    while (f && strcmp(f->name, name) != 0) f = f->next;
    return f;
}

/* `to` NULL: it has none any more. */
static void note_name(u9r_dir *d, const char *from, const char *to)
{
    pthread_mutex_lock(&d->lock);
    for (u9r_file *f = d->writing; f; f = f->next)
        if (strcmp(f->name, from) == 0) snprintf(f->name, sizeof f->name, "%s", to ? to : "");
    pthread_mutex_unlock(&d->lock);
}

static int rename_once(u9r_dir *d, const char *from, const char *to)
{
    u9r_entry moved, replaced;
    u9r_env *e = u9r_env_of_dir(d);
    int err = u9r_entry_get(e, d->oid, from, &moved);
    if (err != 0 || strcmp(from, to) == 0) return err;
    err = u9r_entry_get(e, d->oid, to, &replaced);
    if (err != 0 && err != -ENOENT) return err;
    bool replaces = err == 0;
    if (is_anothers(d, &moved) || (replaces && is_anothers(d, &replaced))) return -EBUSY;
    if (replaces && (moved.kind != 'f' || replaced.kind != 'f')) return moved.kind == replaced.kind ? -ENOTEMPTY : -EISDIR;
    rados_write_op_t op = u9r_dir_op(d);
    compare_entry(op, from, &moved);
    compare_entry(op, to, replaces ? &replaced : NULL);
    drop_entry(op, from);
    set_entry(op, to, &moved);
    if (replaces) trash(d, op, &replaced);
    return u9r_dir_change(d, op, "renaming");
}

static int rename_name(u9i_dir *dir, const char *from, const char *to)
{
    u9r_dir *d = u9r_dir_of(dir);
    int err = -ECANCELED;
    for (unsigned i = 0; i < TRIES && err == -ECANCELED && !d->lost; i++) err = rename_once(d, from, to);
    if (err == 0) note_name(d, to, NULL);
    if (err == 0) note_name(d, from, to);
    return err;
}

static int stop_at_first(void *ctx, const char *name, const u9r_entry *entry)
{
    (void)ctx;
    (void)name;
    (void)entry;
    return 1;
}

static int sweep_one(void *ctx, const char *name, const u9r_entry *entry);

typedef struct sweeping {
    u9r_dir *d;
    bool all;
    uint64_t before_us;
} sweeping;

static int remove_dir(u9r_dir *d, const char *name, const u9r_entry *entry)
{
    u9r_dir gone = {.dir.env = d->dir.env};
    u9r_env *e = u9r_env_of_dir(d);
    dir_oid(entry->inode, gone.oid);
    int err = u9r_entries(e, gone.oid, false, stop_at_first, NULL);
    if (err != 0 && err != -ENOENT) return err > 0 ? -ENOTEMPTY : err;
    sweeping s = {&gone, true, 0};
    err = u9r_entries(e, gone.oid, true, sweep_one, &s);
    if (err != 0 && err != -ENOENT) return err;
    rados_write_op_t op = u9r_dir_op(d);
    compare_entry(op, name, entry);
    drop_entry(op, name);
    err = u9r_dir_change(d, op, "removing a directory");
    if (err == 0) (void)rados_remove(e->io, gone.oid);
    return err;
}

static int remove_once(u9r_dir *d, const char *name)
{
    u9r_entry entry;
    int err = u9r_entry_get(u9r_env_of_dir(d), d->oid, name, &entry);
    if (err != 0) return err;
    if (entry.kind == 'd') return remove_dir(d, name, &entry);
    if (is_anothers(d, &entry)) return -EBUSY;
    rados_write_op_t op = u9r_dir_op(d);
    compare_entry(op, name, &entry);
    drop_entry(op, name);
    trash(d, op, &entry);
    return u9r_dir_change(d, op, "removing");
}

static int remove_name(u9i_dir *dir, const char *name)
{
    u9r_dir *d = u9r_dir_of(dir);
    int err = -ECANCELED;
    for (unsigned i = 0; i < TRIES && err == -ECANCELED && !d->lost; i++) err = remove_once(d, name);
    if (err == 0) note_name(d, name, NULL);
    if (err == 0 && d->epoch) u9r_dir_sweep(d, false);
    return err;
}

static int sweep_one(void *ctx, const char *name, const u9r_entry *entry)
{
    sweeping *s = ctx;
    if (!s->all && entry->changed_us > s->before_us) return 0;
    u9r_entry going = *entry;
    going.kind = 'x'; /* said before the first object goes: who reads it makes up no zeros */
    int err = entry->kind == 'x' ? 0 : u9r_dir_put(s->d, name, entry, &going, "sweeping");
    if (err != 0) return err;
    u9r_remove_objects(u9r_env_of_dir(s->d), entry);
    rados_write_op_t op = u9r_dir_op(s->d);
    drop_entry(op, name);
    return u9r_dir_change(s->d, op, "sweeping");
}

void u9r_dir_sweep(u9r_dir *d, bool all)
{
    u9r_env *e = u9r_env_of_dir(d);
    uint64_t grace = (uint64_t)e->grace_s * 1000000, now = u9i_wall_us(&e->env);
    sweeping s = {d, all, now > grace ? now - grace : 0};
    (void)u9r_entries(e, d->oid, true, sweep_one, &s); /* what is left goes with the next */
}

/* What is there */

typedef struct listing {
    u9i_list_fn *each;
    void *ctx;
} listing;

static int list_one(void *ctx, const char *name, const u9r_entry *entry)
{
    listing *l = ctx;
    (void)entry;
    return l->each(l->ctx, name);
}

static int list(u9i_dir *dir, u9i_list_fn *each, void *ctx)
{
    u9r_dir *d = u9r_dir_of(dir);
    listing l = {each, ctx};
    return u9r_entries(u9r_env_of_dir(d), d->oid, false, list_one, &l);
}

/* The size of a file that this handle writes: its objects need not be asked. False: it is none. */
static bool size_here(u9r_dir *d, const char *name, u9r_entry *entry)
{
    pthread_mutex_lock(&d->lock);
    u9r_file *f = written_here(d, name);
    if (f && f->entry.inode == entry->inode) entry->size = u9r_file_end(f);
    else f = NULL;
    pthread_mutex_unlock(&d->lock);
    return f != NULL;
}

static int stat_name(u9i_dir *dir, const char *name, u9i_stamp *out)
{
    u9r_dir *d = u9r_dir_of(dir);
    u9r_env *e = u9r_env_of_dir(d);
    u9r_entry entry = {.kind = 'd', .mode = 0700, .inode = inode_of(d->oid), .owner = own_user()};
    int err = strcmp(name, ".") == 0 ? stands(e, d->oid) : u9r_entry_get(e, d->oid, name, &entry);
    uint64_t objects_us = 0;
    if (err == 0 && entry.open && !size_here(d, name, &entry)) err = u9r_probe(e, entry.inode, 0, &entry.size, &objects_us);
    if (err != 0) return err;
    *out = (u9i_stamp){.identity = {e->identity, entry.inode}, .size = entry.size,
                       .changed_us = entry.changed_us > objects_us ? entry.changed_us : objects_us, .links = 1,
                       .owner = entry.owner, .mode = entry.mode};
    return 0;
}

/* Of what this handle writes nobody is asked: no other can change its name while the epoch is ours. */
static int identify_name(u9i_dir *dir, const char *name, uint64_t identity[2])
{
    u9r_dir *d = u9r_dir_of(dir);
    u9r_entry entry;
    pthread_mutex_lock(&d->lock);
    const u9r_file *f = written_here(d, name);
    if (f) entry.inode = f->entry.inode;
    pthread_mutex_unlock(&d->lock);
    int err = f ? 0 : u9r_entry_get(u9r_env_of_dir(d), d->oid, name, &entry);
    if (err != 0) return err;
    identity[0] = u9r_env_of_dir(d)->identity;
    identity[1] = entry.inode;
    return 0;
}

static int link_name(u9i_dir *dir, const char *name, u9i_dir *to, const char *new_name)
{
    (void)dir;
    (void)name;
    (void)to;
    (void)new_name;
    return -EXDEV; /* a file has one name */
}

static int dress_name(u9i_dir *dir, const char *name, const u9i_stamp *like)
{
    u9r_dir *d = u9r_dir_of(dir);
    u9r_entry old, changed;
    int err = -ECANCELED;
    for (unsigned i = 0; i < TRIES && err == -ECANCELED && !d->lost; i++) {
        err = u9r_entry_get(u9r_env_of_dir(d), d->oid, name, &old);
        if (err != 0) return err;
        changed = old;
        changed.owner = like->owner;
        changed.mode = (uint32_t)like->mode;
        err = u9r_dir_put(d, name, &old, &changed, "giving a file its mode");
    }
    return err;
}

static int sync_dir(u9i_dir *dir)
{
    (void)dir;
    return 0; /* a change of names that is acknowledged is durable */
}

static uint64_t data_behind(u9i_file *file, uint64_t off)
{
    (void)file;
    return off;
}

static int zero(u9i_file *file, uint64_t from, uint64_t to)
{
    (void)file;
    (void)from;
    (void)to;
    return 0; /* what was never written is zeros, and costs a durable write nothing */
}

static int sync_and_evict(u9i_file *file, uint64_t from)
{
    (void)file;
    (void)from;
    return 0;
}

static int map(u9i_file *file, uint64_t off, size_t n, const void **out)
{
    (void)file;
    (void)off;
    (void)n;
    (void)out;
    return -ENODEV;
}

const u9i_fs u9r_fs = {
    .open_dir = open_dir, .close_dir = close_dir, .lock = u9r_lease_take, .locked = u9r_lease_held_by_other,
    .list = list, .stat = stat_name, .identify = identify_name, .rename = rename_name, .link = link_name,
    .dress = dress_name, .remove = remove_name, .sync_dir = sync_dir, .post = u9r_post, .posted = u9r_posted,
    .open = u9r_open_file, .close = u9r_close_file, .lock_file = u9r_file_lock, .size = u9r_file_size,
    .read = u9r_file_read, .data = data_behind, .reserve = u9r_file_reserve, .zero = zero,
    .truncate = u9r_file_truncate, .sync_and_evict = sync_and_evict, .map = map};
