/*
 * tests/sim/fs.c: the calls on directories and files. Each is entered, done on the disk at once, and told.
 */
#include "tests/sim/world.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEVICE = 1 };

/* A handle of a killed process turns to a directory of its own, which is empty. */
static sim_dir *of_dir(u9i_dir *dir)
{
    sim_dir *d = (sim_dir *)dir;
    if (d->life == world.life) return d;
    d->life = world.life;
    sim_node_drop(d->locks);
    sim_node_drop(d->node);
    d->node = d->locks = sim_node_new(true);
    d->node->holds++;
    d->path = "killed";
    return d;
}

sim_file *sim_file_of(u9i_file *file)
{
    sim_file *f = (sim_file *)file;
    if (f->life == world.life) return f;
    f->life = world.life;
    sim_node *copy = sim_node_new(false);
    sim_image_copy(&copy->image, &f->node->image);
    sim_node_drop(f->node);
    f->node = copy;
    f->killed = true;
    f->path = "killed";
    return f;
}

static sim_file *of_file(u9i_file *file)
{
    return sim_file_of(file);
}

/* "<dir>/<name>", kept. */
static const char *path_in(const u9i_dir *dir, const char *name)
{
    char path[4400];
    const char *above = ((const sim_dir *)dir)->path;
    snprintf(path, sizeof path, "%s%s%s", above, above[0] ? "/" : "", name);
    return sim_keep(path);
}

/* Directories */

/* Makes the last directory of a path, if it is missing. */
static int make_dir(const char *path)
{
    sim_node *node, *parent;
    char name[256];
    if (sim_walk(path, &node) == 0) return 0;
    int err = sim_walk_parent(path, &parent, name);
    if (err != 0) return err;
    sim_node *made = sim_node_new(true);
    sim_add_entry(parent, name, made);
    sim_node_drop(made);
    return 0;
}

/* A handle on the directory at `path`, or on that of the file there. */
static int make_handle(u9i_env *env, const char *path, const char *above, u9i_dir **out)
{
    sim_node *node, *parent;
    char name[256];
    int err = sim_walk(path, &node);
    if (err != 0) return err;
    sim_dir *d = calloc(1, sizeof *d);
    assert(d);
    *d = (sim_dir){.dir.env = env, .node = node, .locks = node, .path = path, .owner = world.process,
                   .life = world.life};
    if (!node->is_dir) {
        err = sim_walk_parent(path, &parent, name);
        assert(err == 0);
        memcpy(d->dir.single, name, sizeof name);
        d->node = parent;
        d->path = above;
    }
    d->node->holds++;
    d->locks->holds++;
    *out = &d->dir;
    return 0;
}

static int open_dir_sim(u9i_env *env, const char *path, bool create, u9i_dir **out)
{
    sim_call call;
    char above[4400] = "";
    const char *slash = strrchr(path, '/'), *kept = sim_keep(path);
    snprintf(above, sizeof above, "%.*s", slash ? (int)(slash - path) : 0, path);
    const char *kept_above = sim_keep(above);
    int err = sim_enter(&call, SIM_OPEN_DIR, kept, 0, 0);
    if (err == 0 && create) err = make_dir(path);
    if (err == 0) err = make_handle(env, kept, kept_above, out);
    return sim_leave(&call, err);
}

static void drop_lock(sim_node *node, const void *handle)
{
    if (node->locked_by == handle && node->lock_life == world.life) node->locked_by = NULL;
}

static void close_dir_sim(u9i_dir *dir)
{
    sim_dir *d = of_dir(dir);
    pthread_mutex_lock(&world.lock);
    drop_lock(d->locks, d);
    sim_node_drop(d->locks);
    sim_node_drop(d->node);
    pthread_mutex_unlock(&world.lock);
    free(d);
}

static int take_lock(sim_node *node, const void *handle)
{
    if (sim_locked(node, handle)) return -EWOULDBLOCK;
    node->locked_by = handle;
    node->lock_life = world.life;
    return 0;
}

static int lock_sim(u9i_dir *dir)
{
    sim_call call;
    sim_dir *d = of_dir(dir);
    int err = sim_enter(&call, SIM_LOCK, d->path, 0, 0);
    if (err == 0) err = take_lock(d->locks, d);
    return sim_leave(&call, err);
}

static int lock_file_sim(u9i_file *file)
{
    sim_call call;
    sim_file *f = of_file(file);
    int err = sim_enter(&call, SIM_LOCK, f->path, 0, 0);
    if (err == 0) err = take_lock(f->node, f);
    return sim_leave(&call, err);
}

static bool locked_sim(u9i_dir *dir, const char *name)
{
    sim_call call;
    sim_dir *d = of_dir(dir);
    (void)sim_enter(&call, SIM_ASK, d->path, 0, 0);
    sim_asked();
    bool is = sim_locked(d->node, d); /* of a single file, too: its writer has the directory */
    const sim_entry *entry = sim_entry_of(d->node, name);
    if (entry) is |= sim_locked(entry->node, NULL);
    (void)sim_leave(&call, 0);
    return is;
}

/* The names of the regular files in an order drawn from the seed. */
static char **names_of(const sim_node *dir, size_t *count)
{
    char **names = calloc(dir->count + 1, sizeof *names);
    assert(names);
    *count = 0;
    for (size_t i = 0; i < dir->count; i++) {
        size_t at = (size_t)sim_draw(*count + 1);
        names[(*count)++] = names[at];
        names[at] = strdup(dir->entries[i].name);
    }
    return names;
}

static void call_list_hook(void)
{
    pthread_mutex_lock(&world.lock);
    void (*hook)(unsigned) = world.before_list;
    unsigned nth = hook ? ++world.lists : 0;
    pthread_mutex_unlock(&world.lock);
    if (hook) hook(nth);
}

static int list_sim(u9i_dir *dir, u9i_list_fn *each, void *ctx)
{
    sim_call call;
    size_t count = 0;
    char **names = NULL;
    call_list_hook();
    int err = sim_enter(&call, SIM_LIST, of_dir(dir)->path, 0, 0);
    if (err == 0) names = names_of(of_dir(dir)->node, &count);
    (void)sim_leave(&call, err);
    for (size_t i = 0; i < count; i++) {
        if (err == 0) err = each(ctx, names[i]);
        free(names[i]);
    }
    free(names);
    return err;
}

static int stat_sim(u9i_dir *dir, const char *name, u9i_stamp *out)
{
    sim_call call;
    int err = sim_enter(&call, SIM_STAT, path_in(dir, name), 0, 0);
    const sim_entry *entry = sim_entry_of(of_dir(dir)->node, name);
    const sim_node *node = strcmp(name, ".") == 0 ? of_dir(dir)->node : entry ? entry->node : NULL;
    if (err == 0 && node == NULL) err = -ENOENT;
    if (err == 0)
        *out = (u9i_stamp){.identity = {DEVICE, node->number},
                           .size = node->image.size,
                           .changed_us = node->changed_us,
                           .links = node->names,
                           .owner = node->owner,
                           .mode = node->mode};
    return sim_leave(&call, err);
}

static int identify_sim(u9i_dir *dir, const char *name, uint64_t identity[2])
{
    u9i_stamp stamp;
    int err = stat_sim(dir, name, &stamp);
    if (err == 0) memcpy(identity, stamp.identity, sizeof stamp.identity);
    return err;
}

/* Whether `from` may take the place of `to`. */
static int may_replace(const sim_node *from, const sim_node *to)
{
    if (from->is_dir != to->is_dir) return to->is_dir ? -EISDIR : -ENOTDIR;
    return to->count > 0 ? -ENOTEMPTY : 0;
}

static int rename_entry(sim_node *dir, const char *from, const char *to)
{
    sim_entry *old = sim_entry_of(dir, from), *there = sim_entry_of(dir, to);
    if (old == NULL) return -ENOENT;
    if (there && there->node == old->node) return 0;
    int err = there ? may_replace(old->node, there->node) : 0;
    if (err != 0) return err;
    sim_note_name(dir, from, to, old->node);
    if (there) sim_remove_entry(dir, there);
    sim_add_entry(dir, to, sim_entry_of(dir, from)->node);
    sim_touch(sim_entry_of(dir, from)->node);
    sim_remove_entry(dir, sim_entry_of(dir, from));
    return 0;
}

static int rename_sim(u9i_dir *dir, const char *from, const char *to)
{
    sim_call call;
    sim_check_owner(of_dir(dir)->owner);
    int err = sim_enter(&call, SIM_RENAME, path_in(dir, from), 0, 0);
    if (err == 0) err = rename_entry(of_dir(dir)->node, from, to);
    return sim_leave(&call, err);
}

static int link_entry(sim_node *dir, const char *name, sim_node *to, const char *new_name)
{
    sim_entry *entry = sim_entry_of(dir, name);
    if (entry == NULL) return -ENOENT;
    if (entry->node->is_dir) return -EPERM;
    if (sim_entry_of(to, new_name)) return -EEXIST;
    sim_touch(entry->node);
    sim_note_name(to, NULL, new_name, entry->node);
    sim_add_entry(to, new_name, entry->node);
    return 0;
}

static int link_sim(u9i_dir *dir, const char *name, u9i_dir *to, const char *new_name)
{
    sim_call call;
    if (to->env != dir->env) return -EXDEV;
    sim_check_owner(of_dir(to)->owner);
    int err = sim_enter(&call, SIM_LINK, path_in(to, new_name), 0, 0);
    if (err == 0) err = link_entry(of_dir(dir)->node, name, of_dir(to)->node, new_name);
    return sim_leave(&call, err);
}

static int remove_entry(sim_node *dir, const char *name)
{
    sim_entry *entry = sim_entry_of(dir, name);
    if (entry == NULL) return -ENOENT;
    if (entry->node->count > 0) return -ENOTEMPTY;
    sim_touch(entry->node);
    sim_note_name(dir, name, NULL, entry->node);
    sim_remove_entry(dir, entry);
    return 0;
}

static int dress_sim(u9i_dir *dir, const char *name, const u9i_stamp *like)
{
    sim_call call;
    sim_check_owner(of_dir(dir)->owner);
    int err = sim_enter(&call, SIM_DRESS, path_in(dir, name), 0, 0);
    const sim_entry *entry = sim_entry_of(of_dir(dir)->node, name);
    if (err == 0 && entry == NULL) err = -ENOENT;
    if (err == 0) {
        entry->node->owner = like->owner;
        entry->node->mode = like->mode;
        sim_touch(entry->node);
    }
    return sim_leave(&call, err);
}

static int remove_sim(u9i_dir *dir, const char *name)
{
    sim_call call;
    sim_check_owner(of_dir(dir)->owner);
    int err = sim_enter(&call, SIM_REMOVE, path_in(dir, name), 0, 0);
    if (err == 0) err = remove_entry(of_dir(dir)->node, name);
    return sim_leave(&call, err);
}

static int sync_dir_sim(u9i_dir *dir)
{
    sim_call call;
    sim_check_owner(of_dir(dir)->owner);
    int err = sim_enter(&call, SIM_SYNC_DIR, of_dir(dir)->path, 0, 0);
    if (err == 0) sim_note_names_synced(of_dir(dir)->node);
    return sim_leave(&call, err);
}

/* Files */

static int find_file(u9i_dir *dir, const char *name, u9i_open_mode mode, sim_node **out)
{
    sim_node *d = of_dir(dir)->node;
    sim_entry *entry = sim_entry_of(d, name);
    if (strlen(name) > 255) return -ENAMETOOLONG;
    if (mode == U9I_OPEN_CREATE && entry) return -EEXIST;
    if (mode != U9I_OPEN_CREATE && entry == NULL) return -ENOENT;
    if (entry && entry->node->is_dir) return mode == U9I_OPEN_READ ? -EINVAL : -EISDIR;
    *out = entry ? entry->node : sim_node_new(false);
    if (entry) (*out)->holds++;
    else sim_note_name(d, NULL, name, *out);
    if (entry == NULL) sim_add_entry(d, name, *out);
    return 0;
}

static int open_sim(u9i_dir *dir, const char *name, u9i_open_mode mode, u9i_file **out)
{
    sim_call call;
    sim_node *node = NULL;
    const char *path = path_in(dir, name);
    int err = sim_enter(&call, mode == U9I_OPEN_CREATE ? SIM_CREATE : SIM_OPEN, path, 0, 0);
    if (err == 0) err = find_file(dir, name, mode, &node);
    if (err == 0) {
        sim_file *f = calloc(1, sizeof *f);
        assert(f);
        *f = (sim_file){.file.env = dir->env, .node = node, .mode = mode, .path = path,
                        .owner = world.process, .life = world.life};
        *out = &f->file;
    }
    return sim_leave(&call, err);
}

static void close_sim(u9i_file *file)
{
    sim_file *f = of_file(file);
    pthread_mutex_lock(&world.lock);
    if (sim_uses(file)) sim_breach("a file is closed while something is under way on it", f->path, 0);
    drop_lock(f->node, f);
    sim_node_drop(f->node);
    pthread_mutex_unlock(&world.lock);
    free(f);
}

static int size_sim(u9i_file *file, uint64_t *out)
{
    sim_call call;
    int err = sim_enter(&call, SIM_SIZE, of_file(file)->path, 0, 0);
    if (err == 0) *out = of_file(file)->node->image.size;
    return sim_leave(&call, err);
}

static int read_sim(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got)
{
    sim_call call;
    const sim_file *f = of_file(file);
    int err = sim_enter(&call, SIM_READ, f->path, off, off + n);
    size_t there = err == 0 ? sim_image_read(&f->node->image, off, buf, n) : 0;
    if (err == 0) err = sim_show(f->node, off, buf, there);
    if (err == 0) *got = there;
    if (err == 0) sim_moved(&call, there);
    return sim_leave(&call, err);
}

static uint64_t data_sim(u9i_file *file, uint64_t off)
{
    sim_call call;
    (void)sim_enter(&call, SIM_DATA, of_file(file)->path, off, off);
    uint64_t at = sim_image_data(&of_file(file)->node->image, off);
    (void)sim_leave(&call, 0);
    return at;
}

/* Sets the size of a file that may be written. */
static int resize(sim_file *f, uint64_t size, int refusal)
{
    if (f->mode == U9I_OPEN_READ) return refusal;
    sim_image_resize(&f->node->image, size);
    sim_note_told(sim_note_effect(f->node, true, size, NULL, 0));
    sim_touch(f->node);
    return 0;
}

static int reserve_sim(u9i_file *file, uint64_t end)
{
    sim_call call;
    sim_file *f = of_file(file);
    int err = sim_enter(&call, SIM_RESERVE, f->path, 0, end);
    if (err == 0 && end > f->node->image.size) err = resize(f, end, -EBADF);
    return sim_leave(&call, err);
}

/* Zeros where nothing was written change no byte: it is a reservation to the diary. */
static int zero_sim(u9i_file *file, uint64_t from, uint64_t to)
{
    sim_call call;
    int err = sim_enter(&call, SIM_ZERO, of_file(file)->path, from, to);
    return sim_leave(&call, err);
}

static int truncate_sim(u9i_file *file, uint64_t size)
{
    sim_call call;
    sim_file *f = of_file(file);
    sim_check_owner(f->owner);
    int err = sim_enter(&call, SIM_TRUNCATE, f->path, 0, size);
    if (err == 0) err = resize(f, size, -EINVAL);
    return sim_leave(&call, err);
}

static int sync_and_evict_sim(u9i_file *file, uint64_t from)
{
    sim_call call;
    int err = sim_enter(&call, SIM_EVICT, of_file(file)->path, from, 0);
    if (err == 0) sim_note_synced(of_file(file)->node, U9I_FOREVER);
    return sim_leave(&call, err);
}

/* Maps */

/* A mapping whose pages raise SIGBUS behind `there` bytes, as those of a file of that size do; NULL: errno. */
static uint8_t *map_pages(void *at, size_t n, size_t there)
{
    int fd = memfd_create("sim", MFD_CLOEXEC);
    void *map = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)there) == 0)
        map = mmap(at, n, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
    int err = errno;
    if (fd >= 0) close(fd);
    errno = err;
    return map == MAP_FAILED ? NULL : map;
}

/* A copy of the bytes as they are now; pages that cannot be read have nothing behind them. */
static int map_copy(const sim_file *f, uint64_t off, size_t n, const void **out)
{
    const sim_image *image = &f->node->image;
    if (n == 0 || off % SIM_PAGE != 0) return -EINVAL;
    size_t there = off >= image->size     ? 0
                   : image->size - off < n ? (size_t)(image->size - off)
                                           : n;
    uint8_t *map = map_pages(NULL, n, there);
    if (map == NULL) return -errno;
    (void)sim_image_read(image, off, map, there);
    for (size_t p = 0; p < there; p += SIM_PAGE)
        if (sim_unreadable(f->node, off + p, off + p + SIM_PAGE) != 0)
            if (map_pages(map + p, SIM_PAGE, 0) == NULL) return -errno;
    (void)mprotect(map, n, PROT_READ);
    *out = map;
    return 0;
}

static int map_sim(u9i_file *file, uint64_t off, size_t n, const void **out)
{
    sim_call call;
    int err = sim_enter(&call, SIM_MAP, of_file(file)->path, off, off + n);
    if (err == 0) err = map_copy(of_file(file), off, n, out);
    if (err == 0) sim_moved(&call, n);
    return sim_leave(&call, err);
}

static void advise_sim(u9i_env *env, const void *map, size_t n, u9i_map_advice advice)
{
    (void)env, (void)map, (void)n, (void)advice; /* it is all in memory */
}

static void unmap_sim(u9i_env *env, const void *map, size_t n)
{
    (void)env;
    union {
        const void *in;
        void *out;
    } pages = {.in = map};
    (void)munmap(pages.out, n);
}

const u9i_fs sim_fs = {
    .open_dir = open_dir_sim,
    .close_dir = close_dir_sim,
    .lock = lock_sim,
    .locked = locked_sim,
    .list = list_sim,
    .stat = stat_sim,
    .identify = identify_sim,
    .rename = rename_sim,
    .link = link_sim,
    .dress = dress_sim,
    .remove = remove_sim,
    .sync_dir = sync_dir_sim,
    .post = sim_post,
    .posted = sim_posted,
    .open = open_sim,
    .close = close_sim,
    .lock_file = lock_file_sim,
    .size = size_sim,
    .read = read_sim,
    .data = data_sim,
    .reserve = reserve_sim,
    .zero = zero_sim,
    .truncate = truncate_sim,
    .sync_and_evict = sync_and_evict_sim,
    .map = map_sim,
    .advise = advise_sim,
    .unmap = unmap_sim,
};
