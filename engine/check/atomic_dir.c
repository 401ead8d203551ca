/*
 * engine/check/atomic_dir.c: see atomic_dir.h.
 */
#include "engine/check/atomic_dir.h"

#include "engine/log/catalog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char suffix[] = ".partial";

char *u9i_atomic_dir_name(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    char *name = malloc(n + sizeof suffix);
    if (name == NULL) return NULL;
    memcpy(name, path, n);
    memcpy(name + n, suffix, sizeof suffix);
    return name;
}

/* Opens the directory that `path` stands in; *name borrows its last part. */
static int open_parent(u9i_env *env, const char *path, u9i_dir **out, const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    if (slash == NULL) return u9i_dir_open(env, ".", false, out);
    if (slash == path) return u9i_dir_open(env, "/", false, out);
    char *parent = strdup(path);
    if (parent == NULL) return -ENOMEM;
    parent[slash - path] = 0;
    int err = u9i_dir_open(env, parent, false, out);
    free(parent);
    return err;
}

/* Which segments a directory has. */
typedef struct numbers {
    uint64_t *all;
    size_t count, room;
} numbers;

static int note_segment(void *ctx, const char *name)
{
    numbers *n = ctx;
    uint64_t number = u9i_segment_number(name);
    if (number == 0) return 0;
    if (n->count == n->room) {
        size_t room = n->room ? 2 * n->room : 64;
        uint64_t *more = realloc(n->all, room * sizeof *more);
        if (more == NULL) return -ENOMEM;
        n->all = more;
        n->room = room;
    }
    n->all[n->count++] = number;
    return 0;
}

static int remove_segments(u9i_dir *dir)
{
    numbers n = {0};
    int err = u9i_dir_list(dir, note_segment, &n);
    for (size_t i = 0; i < n.count && err == 0; i++) {
        char name[20];
        u9i_segment_name(n.all[i], name);
        err = u9i_dir_remove(dir, name);
    }
    free(n.all);
    return err;
}

int u9i_atomic_dir_clear(u9i_env *env, const char *partial)
{
    u9i_dir *dir, *parent;
    const char *name;
    int err = u9i_dir_open(env, partial, false, &dir);
    if (err != 0) return err == -ENOENT ? 0 : err;
    err = dir->single[0] ? -ENOTDIR : remove_segments(dir);
    u9i_dir_close(dir);
    if (err == 0) err = open_parent(env, partial, &parent, &name);
    if (err != 0) return err;
    err = u9i_dir_remove(parent, name);
    u9i_dir_close(parent);
    return err;
}

int u9i_atomic_dir_keep(u9i_env *env, const char *partial)
{
    char final[256];
    u9i_dir *parent;
    const char *name;
    int err = open_parent(env, partial, &parent, &name);
    if (err != 0) return err;
    size_t n = strlen(name) - (sizeof suffix - 1);
    if (n >= sizeof final) {
        err = -ENAMETOOLONG;
    } else {
        memcpy(final, name, n);
        final[n] = 0;
        err = u9i_dir_rename(parent, name, final);
    }
    if (err == 0) err = u9i_dir_sync(parent);
    u9i_dir_close(parent);
    return err;
}
