/*
 * engine/check/atomic_dir.c: see atomic_dir.h.
 */
#include "engine/check/atomic_dir.h"

#include "engine/log/catalog.h"
#include "engine/log/live.h"
#include "engine/os/list.h"
#include "format/base/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char suffix[] = ".partial";
static const char unfinished[] = ".u9-unfinished"; /* the name of the file, which is empty */

size_t u9i_path_length(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    return n;
}

char *u9i_atomic_dir_name(const char *path)
{
    size_t n = u9i_path_length(path);
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

/* What the path stands for, links followed. 0 or a negative errno. */
static int stamp_of(u9i_env *env, const char *path, u9i_stamp *out)
{
    u9i_dir *parent;
    const char *name;
    int err = open_parent(env, path, &parent, &name);
    if (err != 0) return err;
    err = u9i_dir_stat(parent, name[0] ? name : ".", out);
    u9i_dir_close(parent);
    return err;
}

/* 1: the path stands for what the stamp is of; 0: for something else, or nothing; -ENOMEM. */
static int same_place(u9i_env *env, const char *path, const u9i_stamp *stamp)
{
    u9i_stamp other;
    int err = stamp_of(env, path, &other);
    if (err != 0) return err == -ENOMEM ? err : 0;
    return memcmp(other.identity, stamp->identity, sizeof other.identity) == 0;
}

/* 1: `source` is what the stamp is of, or stands in it; 0: neither; -ENOMEM. */
static int holds_source(u9i_env *env, const char *source, const u9i_stamp *stamp)
{
    char *path = strdup(source);
    if (path == NULL) return -ENOMEM;
    path[u9i_path_length(path)] = 0;
    int holds = same_place(env, path, stamp);
    char *slash = strrchr(path, '/');
    if (slash) slash[slash == path] = 0;
    if (holds == 0) holds = same_place(env, slash ? path : ".", stamp);
    free(path);
    return holds;
}

/* What a directory has. */
typedef struct contents {
    uint64_t *segments;
    size_t count, room;
    bool marked; /* as unfinished */
    bool mark;   /* the log's own [M-1] */
    bool live;   /* what a killed session told last [M-10] */
    bool other;  /* something else */
} contents;

static int note_name(void *ctx, const char *name)
{
    contents *c = ctx;
    uint64_t number = u9i_segment_number(name);
    if (strcmp(name, unfinished) == 0) c->marked = true;
    else if (strcmp(name, u9i_mark_name) == 0) c->mark = true;
    else if (strcmp(name, u9i_live_name) == 0) c->live = true;
    else if (number == 0) c->other = true;
    if (number == 0) return 0;
    uint64_t *more = u9i_grow(c->segments, c->count, &c->room, sizeof *more);
    if (more == NULL) return -ENOMEM;
    c->segments = more;
    c->segments[c->count++] = number;
    return 0;
}

static bool is_empty(const contents *c)
{
    return !(c->marked || c->count > 0 || c->mark || c->live || c->other);
}

/*
 * Removes what an interrupted run left: nothing, if it was cut off before its mark was there. -EEXIST: it is not known to be
 * that. The mark goes last.
 */
static int clear_unfinished(u9i_dir *dir)
{
    contents c = {0};
    int err = u9i_dir_list(dir, note_name, &c);
    if (err == 0 && is_empty(&c)) return 0;
    if (err == 0 && (!c.marked || c.other)) err = -EEXIST;
    for (size_t i = 0; i < c.count && err == 0; i++) {
        char name[20];
        u9i_segment_name(c.segments[i], name);
        err = u9i_dir_remove(dir, name);
    }
    if (err == 0 && c.live) err = u9i_dir_remove(dir, u9i_live_name);
    if (err == 0 && c.mark) err = u9i_dir_remove(dir, u9i_mark_name);
    if (err == 0) err = u9i_dir_remove(dir, unfinished);
    free(c.segments);
    return err;
}

static int mark_unfinished(u9i_dir *dir)
{
    u9i_file *file;
    int err = u9i_file_open(dir, unfinished, U9I_OPEN_CREATE, &file);
    if (err == 0) u9i_file_close(file);
    return err == 0 || err == -EEXIST ? u9i_dir_sync(dir) : err; /* before anything else is there by a power cut */
}

static int make_marked(u9i_env *env, const char *partial)
{
    u9i_dir *dir;
    int err = u9i_dir_open(env, partial, true, &dir);
    if (err != 0) return err;
    err = mark_unfinished(dir);
    u9i_dir_close(dir);
    return err;
}

/* Empties the directory at `partial`. 0, -EEXIST: it is not known to be ours; or a negative errno. */
static int clear_partial(u9i_env *env, const char *partial)
{
    u9i_dir *dir;
    int err = u9i_dir_open(env, partial, false, &dir);
    if (err != 0) return err;
    err = dir->single[0] ? -EEXIST : clear_unfinished(dir);
    u9i_dir_close(dir);
    return err;
}

bool u9i_atomic_dir_drop(u9i_env *env, const char *partial, const char *source)
{
    u9i_stamp stamp;
    u9i_dir *parent;
    const char *name;
    if (stamp_of(env, partial, &stamp) != 0 || holds_source(env, source, &stamp) != 0) return false;
    if (clear_partial(env, partial) != 0 || open_parent(env, partial, &parent, &name) != 0) return false;
    int err = u9i_dir_remove(parent, name);
    u9i_dir_close(parent);
    return err == 0;
}

/* Why nothing can begin there; above 0: it holds a source. */
static u9_err fail_partial(const char *partial, int err, const char *what, u9_fault *fault)
{
    if (err > 0)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = partial),
                         "this is what is to be read, and the new log's name until it is whole: choose another");
    if (err == -EEXIST || err == -EINVAL)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = partial, .sys = EEXIST),
                         "this stands where the new log grows, and is not known to be an unfinished one; "
                         "nothing of it was touched");
    return u9i_fault(fault, U9_IO, U9I_AT(.path = partial, .sys = -err), "%s", what);
}

u9_err u9i_atomic_dir_begin(u9i_env *env, const char *partial, const char *const *sources, size_t count,
                            u9_fault *fault)
{
    u9i_stamp stamp;
    int err = stamp_of(env, partial, &stamp);
    for (size_t i = 0; i < count && err == 0; i++) err = holds_source(env, sources[i], &stamp);
    if (err == 0) err = clear_partial(env, partial);
    if (err != 0 && err != -ENOENT && err != -ENAMETOOLONG)
        return fail_partial(partial, err, "cannot replace what an earlier run left here", fault);
    err = make_marked(env, partial);
    return err ? fail_partial(partial, err, "cannot make the new log here", fault) : U9_OK;
}

/* An unfinished one of ours, or empty. */
static int may_resume(u9i_dir *dir)
{
    contents c = {0};
    int err = dir->single[0] ? -EEXIST : u9i_dir_list(dir, note_name, &c);
    if (err == 0 && !c.marked && !is_empty(&c)) err = -EEXIST;
    free(c.segments);
    return err;
}

u9_err u9i_atomic_dir_resume(u9i_env *env, const char *partial, const char *source, u9i_dir **out, u9_fault *fault)
{
    u9i_stamp stamp;
    u9i_dir *dir;
    int err = stamp_of(env, partial, &stamp);
    if (err == 0) err = holds_source(env, source, &stamp);
    if (err == 0 || err == -ENOENT) err = u9i_dir_open(env, partial, true, &dir);
    if (err == 0) {
        err = may_resume(dir);
        if (err == 0) err = mark_unfinished(dir);
        if (err == 0) *out = dir;
        else u9i_dir_close(dir);
    }
    return err ? fail_partial(partial, err, "cannot make the new log here", fault) : U9_OK;
}

int u9i_atomic_dir_keep(u9i_env *env, const char *partial)
{
    char *path = strdup(partial);
    u9i_dir *parent, *dir;
    const char *name;
    if (path == NULL) return -ENOMEM;
    path[strlen(path) - (sizeof suffix - 1)] = 0;
    const char *slash = strrchr(path, '/'), *final = slash ? slash + 1 : path;
    int err = open_parent(env, partial, &parent, &name);
    if (err == 0) {
        err = u9i_dir_rename(parent, name, final);
        if (err == 0) {
            err = u9i_dir_sync(parent);
            if (err != 0) (void)u9i_dir_rename(parent, final, name); /* who is told of a failure finds no log */
        }
        u9i_dir_close(parent);
    }
    if (err == 0 && u9i_dir_open(env, path, false, &dir) == 0) {
        (void)u9i_dir_remove(dir, unfinished); /* under that name it tells nobody anything */
        u9i_dir_close(dir);
    }
    free(path);
    return err;
}
