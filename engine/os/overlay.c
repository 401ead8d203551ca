/*
 * engine/os/overlay.c: see overlay.h. Directories and files are wrapped; clock, randomness and executor are the base's.
 */
#include "engine/os/overlay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct overlay_dir {
    u9i_dir dir;
    u9i_dir *base;
} overlay_dir;

typedef struct overlay_file {
    u9i_file file;
    u9i_file *base;
    char name[U9I_NAME_MAX + 1]; /* in the base */
} overlay_file;

static u9i_dir *base_dir(const u9i_dir *dir)
{
    return ((const overlay_dir *)(const void *)dir)->base;
}

static u9i_file *base_file(const u9i_file *file)
{
    return ((const overlay_file *)(const void *)file)->base;
}

static const u9i_overlay *overlay_of(const u9i_env *env)
{
    return (const u9i_overlay *)(const void *)env;
}

/* What the base calls the file of this name; NULL: it is there no more under that name. */
static const char *name_in_base(const u9i_env *env, const char *name)
{
    const u9i_overlay *o = overlay_of(env);
    bool moved = false;
    for (size_t i = 0; i < o->count; i++) {
        if (o->list[i].size > 0 || o->bytes_only) continue;
        if (strcmp(o->list[i].to, name) == 0) return o->list[i].name;
        moved |= strcmp(o->list[i].name, name) == 0;
    }
    return moved ? NULL : name;
}

static int overlay_open_dir(u9i_env *env, const char *path, bool create, u9i_dir **out)
{
    (void)path;
    overlay_dir *d = create ? NULL : calloc(1, sizeof *d);
    if (d == NULL) return create ? -EROFS : -ENOMEM;
    d->base = overlay_of(env)->base;
    d->dir.env = env;
    memcpy(d->dir.single, d->base->single, sizeof d->dir.single);
    *out = &d->dir;
    return 0;
}

static void overlay_close_dir(u9i_dir *dir)
{
    free(dir);
}

static int overlay_refuse_dir(u9i_dir *dir)
{
    (void)dir;
    return -EROFS;
}

/* A reader settles what it is to rely on: that changes nothing. */
static int overlay_sync_dir(u9i_dir *dir)
{
    return u9i_dir_sync(base_dir(dir));
}

static bool overlay_locked(u9i_dir *dir, const char *name)
{
    const char *base = name_in_base(dir->env, name);
    return base && u9i_dir_writer_active(base_dir(dir), base);
}

typedef struct overlay_listing {
    const u9i_overlay *overlay;
    u9i_list_fn *each;
    void *ctx;
} overlay_listing;

static int overlay_name(void *ctx, const char *name)
{
    const overlay_listing *l = ctx;
    for (size_t i = 0; i < l->overlay->count; i++) {
        const u9i_change *p = &l->overlay->list[i];
        if (p->size > 0 || l->overlay->bytes_only || strcmp(p->name, name) != 0) continue;
        name = p->to;
        break;
    }
    return l->each(l->ctx, name);
}

static int overlay_list(u9i_dir *dir, u9i_list_fn *each, void *ctx)
{
    overlay_listing l = {.overlay = overlay_of(dir->env), .each = each, .ctx = ctx};
    return u9i_dir_list(base_dir(dir), overlay_name, &l);
}

static int overlay_stat(u9i_dir *dir, const char *name, u9i_stamp *out)
{
    const char *base = name_in_base(dir->env, name);
    return base ? u9i_dir_stat(base_dir(dir), base, out) : -ENOENT;
}

static int overlay_identify(u9i_dir *dir, const char *name, uint64_t identity[2])
{
    const char *base = name_in_base(dir->env, name);
    return base ? u9i_dir_identify(base_dir(dir), base, identity) : -ENOENT;
}

static int overlay_rename(u9i_dir *dir, const char *from, const char *to)
{
    (void)from;
    (void)to;
    return overlay_refuse_dir(dir);
}

static int overlay_link(u9i_dir *dir, const char *name, u9i_dir *to, const char *new_name)
{
    (void)name;
    (void)to;
    (void)new_name;
    return overlay_refuse_dir(dir);
}

static int overlay_dress(u9i_dir *dir, const char *name, const u9i_stamp *like)
{
    (void)name;
    (void)like;
    return overlay_refuse_dir(dir);
}

static int overlay_remove(u9i_dir *dir, const char *name)
{
    (void)name;
    return overlay_refuse_dir(dir);
}

static int overlay_post(u9i_dir *dir, const char *name, const void *bytes, size_t n)
{
    (void)name;
    (void)bytes;
    (void)n;
    return overlay_refuse_dir(dir);
}

static int overlay_posted(u9i_dir *dir, const char *name, void *bytes, size_t n, size_t *got)
{
    return u9i_dir_posted(base_dir(dir), name, bytes, n, got);
}

static int overlay_open(u9i_dir *dir, const char *name, u9i_open_mode mode, u9i_file **out)
{
    const char *base = name_in_base(dir->env, name);
    if (mode != U9I_OPEN_READ) return -EROFS;
    if (base == NULL) return -ENOENT;
    overlay_file *f = calloc(1, sizeof *f);
    if (f == NULL) return -ENOMEM;
    int err = u9i_file_open(base_dir(dir), base, mode, &f->base);
    if (err != 0) {
        free(f);
        return err;
    }
    f->file.env = dir->env;
    memcpy(f->name, base, strlen(base) + 1);
    *out = &f->file;
    return 0;
}

static void overlay_close(u9i_file *file)
{
    u9i_file_close(base_file(file));
    free(file);
}

static int overlay_refuse_file(u9i_file *file)
{
    (void)file;
    return -EROFS;
}

static int overlay_sync(u9i_file *file, uint64_t from)
{
    return u9i_file_sync_and_evict_from(base_file(file), from);
}

static int overlay_size(u9i_file *file, uint64_t *out)
{
    return u9i_file_size(base_file(file), out);
}

/* Lays what of a patch lies in [off, off + n) over the bytes of it. */
static void lay_patch(const u9i_change *p, uint64_t off, uint8_t *bytes, size_t n)
{
    uint64_t from = p->offset > off ? p->offset : off;
    uint64_t to = p->offset + p->size < off + n ? p->offset + p->size : off + n;
    if (from < to) memcpy(bytes + (from - off), p->after + (from - p->offset), (size_t)(to - from));
}

static int overlay_read(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got)
{
    const overlay_file *f = (const overlay_file *)(const void *)file;
    const u9i_overlay *o = overlay_of(file->env);
    int err = u9i_file_read(f->base, off, buf, n, got);
    for (size_t i = 0; i < o->count && err == 0; i++)
        if (o->list[i].size > 0 && strcmp(o->list[i].name, f->name) == 0) lay_patch(&o->list[i], off, buf, *got);
    return err;
}

/* A hole that is patched is none. */
static uint64_t overlay_data(u9i_file *file, uint64_t off)
{
    const overlay_file *f = (const overlay_file *)(const void *)file;
    const u9i_overlay *o = overlay_of(file->env);
    uint64_t data = u9i_file_data(f->base, off);
    for (size_t i = 0; i < o->count; i++) {
        const u9i_change *p = &o->list[i];
        if (p->size == 0 || p->offset + p->size <= off || strcmp(p->name, f->name) != 0) continue;
        uint64_t first = p->offset > off ? p->offset : off;
        if (first < data) data = first;
    }
    return data;
}

static int overlay_reserve(u9i_file *file, uint64_t end)
{
    (void)end;
    return overlay_refuse_file(file);
}

static int overlay_zero(u9i_file *file, uint64_t from, uint64_t to)
{
    (void)from;
    (void)to;
    return overlay_refuse_file(file);
}

/* Nothing is mapped, and so nothing is advised of or unmapped: who would, reads. */
static int overlay_map(u9i_file *file, uint64_t off, size_t n, const void **out)
{
    (void)file;
    (void)off;
    (void)n;
    (void)out;
    return -ENODEV;
}

static const u9i_fs overlay_fs = {
    .open_dir = overlay_open_dir,
    .close_dir = overlay_close_dir,
    .lock = overlay_refuse_dir,
    .locked = overlay_locked,
    .list = overlay_list,
    .stat = overlay_stat,
    .identify = overlay_identify,
    .rename = overlay_rename,
    .link = overlay_link,
    .dress = overlay_dress,
    .remove = overlay_remove,
    .sync_dir = overlay_sync_dir,
    .post = overlay_post,
    .posted = overlay_posted,
    .open = overlay_open,
    .close = overlay_close,
    .lock_file = overlay_refuse_file,
    .size = overlay_size,
    .read = overlay_read,
    .data = overlay_data,
    .reserve = overlay_reserve,
    .zero = overlay_zero,
    .truncate = overlay_reserve,
    .sync_and_evict = overlay_sync,
    .map = overlay_map, /* which makes none to advise, or to unmap */
};

/* Operations of a queue would go to files of the base. */
static int overlay_open_queue(u9i_env *env, void *buffers, size_t size, unsigned count, u9i_queue **out)
{
    (void)env;
    (void)buffers;
    (void)size;
    (void)count;
    (void)out;
    return -EROFS;
}

static int overlay_open_watch(u9i_dir *dir, const char *post, bool bytes, u9i_watch **out)
{
    (void)post;
    (void)bytes;
    (void)out;
    return overlay_refuse_dir(dir);
}

static const u9i_queue_type overlay_queue = {.open = overlay_open_queue};
static const u9i_watch_type overlay_watch = {.open = overlay_open_watch};

void u9i_overlay_init(u9i_overlay *o, u9i_dir *base, const u9i_change *list, size_t count)
{
    *o = (u9i_overlay){.env = *base->env, .base = base, .list = list, .count = count};
    o->env.fs = &overlay_fs;
    o->env.queue = &overlay_queue;
    o->env.watch = &overlay_watch;
}
