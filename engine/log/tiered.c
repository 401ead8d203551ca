/*
 * engine/log/tiered.c: see tiered.h. [TR-5] [TR-6]
 *
 * The segments that are there are listed once, when the directory is opened, and again when `.tier` has changed, or has come:
 * they do not change, and what is lost meanwhile fails when it is opened.
 */
#include "engine/log/tiered.h"

#include "engine/log/tier_list.h"
#include "engine/os/store.h"
#include "engine/segment/probe.h"
#include "format/base/fault.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tiered_dir {
    u9i_dir dir;
    u9i_env env; /* of the base, but for what is told below */
    u9i_watch_type watch;
    u9i_dir *base;
    _Atomic(u9i_dir *) far; /* NULL: all of it is in the base, which has no place, or is it. Once it is there it stays, as do */
    char *place;            /*   its words; NULL: not known yet */
    pthread_mutex_t lock;  /* of what follows */
    u9i_stamp stamp;       /* of the list, when it was read */
    u9i_tier_list list;
    bool *there;           /* of each of its segments: the place has it */
} tiered_dir;

static tiered_dir *tiered_of(const u9i_dir *dir)
{
    return (tiered_dir *)(uintptr_t)dir;
}

static const tiered_dir *tiered_of_env(const u9i_env *env)
{
    return (const tiered_dir *)(const void *)((const uint8_t *)env - offsetof(tiered_dir, env));
}

static u9i_dir *base_of(const u9i_dir *dir)
{
    return tiered_of(dir)->base;
}

static u9i_env *base_env(const u9i_env *env)
{
    return tiered_of_env(env)->base->env;
}

/* The index in the list of a segment that the place has; -1: it is none of those. The lock is held. */
static ptrdiff_t index_of(const tiered_dir *t, const char *name)
{
    uint64_t number;
    if (!u9i_segment_named(name, &number)) return -1;
    const u9i_tiered *s = u9i_tier_list_find(&t->list, number);
    return s && t->there[s - t->list.segments] ? s - t->list.segments : -1;
}

static bool is_far(const u9i_dir *dir, const char *name)
{
    tiered_dir *t = tiered_of(dir);
    if (t->far == NULL) return false;
    pthread_mutex_lock(&t->lock);
    bool there = index_of(t, name) >= 0;
    pthread_mutex_unlock(&t->lock);
    return there;
}

/* The name of a segment whose index stands beside it under this one. False: it is none. */
static bool names_index(const char *name, char segment[U9I_INDEX_NAME])
{
    uint64_t number;
    size_t n = strlen(name);
    if (n == 0 || n > U9I_INDEX_NAME || name[n - 1] != 'x') return false;
    memcpy(segment, name, n - 1);
    segment[n - 1] = 0;
    return u9i_segment_named(segment, &number);
}

/* The list and what there is of it */

/* 0 or a negative errno; of a place that is none here `why` says more. */
static int open_far(tiered_dir *t, const char *place, u9_fault *why)
{
    u9i_env *env;
    u9i_dir *far = NULL;
    const char *in = place;
    why->err = U9_OK;
    char *words = strdup(place);
    if (words == NULL) return -ENOMEM;
    if (place[0] != 0 && u9i_env_of_place(t->base->env, &in, &env, why) != U9_OK) {
        free(words);
        return -ENODEV;
    }
    int sys = place[0] != 0 ? u9i_dir_open(env, in, false, &far) : 0;
    if (sys != 0) {
        free(words);
        return sys == -ENOENT ? -ENODEV : sys; /* not to be taken for a log that is not there */
    }
    t->place = words;
    atomic_store(&t->far, far);
    return 0;
}

/*
 * Which of the listed segments the place has; 0 or a negative errno. -ENODEV: neither one of them nor a list, and not all are
 * here: it is another folder, as the one that its disk is mounted on.
 */
static int look_far(const tiered_dir *t, const u9i_tier_list *list, bool *there)
{
    u9i_stamp stamp;
    char name[20];
    bool lacks = false;
    int err = u9i_tier_list_present(list, t->far, there);
    for (size_t i = 0; i < list->count && err == 0; i++) {
        if (there[i]) return 0;
        u9i_segment_name(list->segments[i].number, name);
        lacks |= u9i_dir_stat(t->base, name, &stamp) == -ENOENT;
    }
    return err == 0 && lacks && u9i_dir_stat(t->far, u9i_tier_name, &stamp) == -ENOENT ? -ENODEV : err;
}

/* Reads the list anew, if it has changed. The lock is held. */
static int read_list_again(tiered_dir *t)
{
    u9i_stamp stamp;
    u9i_tier_list list;
    u9_fault why;
    int err = u9i_dir_stat(t->base, u9i_tier_name, &stamp);
    if (err == -ENOENT && t->place == NULL) return 0;
    if (err != 0 || memcmp(&stamp, &t->stamp, sizeof stamp) == 0) return err;
    err = u9i_tier_list_read(t->base, &list);
    if (err != 0) return err;
    if (t->place == NULL && list.count == 0) { /* it has no place before something is there */
        u9i_tier_list_free(&list);
        return 0;
    }
    if (t->place == NULL) err = open_far(t, list.place, &why);
    bool *there = calloc(list.count + 1, sizeof *there);
    if (err == 0) err = there == NULL ? -ENOMEM : t->far ? look_far(t, &list, there) : 0;
    if (err != 0) {
        u9i_tier_list_free(&list);
        free(there);
        return err;
    }
    u9i_tier_list_free(&t->list);
    free(t->there);
    t->list = list;
    t->there = there;
    t->stamp = stamp;
    t->dir.tiered_from = list.count ? list.segments[0].number : 0;
    t->dir.tiered_ordinal = list.count ? list.segments[0].first : 0;
    t->dir.tiered_end = list.count ? list.segments[list.count - 1].number + 1 : 0;
    return 0;
}

/* It went there, perhaps since the list was read. */
static bool went_far(const u9i_dir *dir, const char *name)
{
    tiered_dir *t = tiered_of(dir);
    uint64_t number;
    if (is_far(dir, name)) return true;
    if (!u9i_segment_named(name, &number)) return false;
    pthread_mutex_lock(&t->lock);
    (void)read_list_again(t); /* what fails now fails when it is listed */
    pthread_mutex_unlock(&t->lock);
    return is_far(dir, name);
}

/* What is not here is to be looked for there: a segment, or the index of one that is not here either. */
static bool goes_far(const u9i_dir *dir, const char *name)
{
    char segment[U9I_INDEX_NAME];
    u9i_stamp stamp;
    if (!names_index(name, segment)) return went_far(dir, name);
    return is_far(dir, segment) && u9i_dir_stat(base_of(dir), segment, &stamp) == -ENOENT;
}

/* Directories */

static int tiered_open_dir(u9i_env *env, const char *path, bool create, u9i_dir **out)
{
    return u9i_dir_open(base_env(env), path, create, out);
}

/* All but the base. */
static void drop_tiered(tiered_dir *t)
{
    if (t->far) u9i_dir_close(t->far);
    u9i_tier_list_free(&t->list);
    pthread_mutex_destroy(&t->lock);
    free(t->there);
    free(t->place);
    free(t);
}

static void tiered_close_dir(u9i_dir *dir)
{
    tiered_dir *t = tiered_of(dir);
    u9i_dir *base = t->base;
    drop_tiered(t);
    u9i_dir_close(base);
}

static int tiered_lock(u9i_dir *dir)
{
    return u9i_dir_lock(base_of(dir));
}

static bool tiered_locked(u9i_dir *dir, const char *name)
{
    return !is_far(dir, name) && u9i_dir_writer_active(base_of(dir), name);
}

typedef struct tiered_listing {
    u9i_list_fn *each;
    void *ctx;
    const tiered_dir *t;
    bool *here; /* of each in the list: the base has it */
} tiered_listing;

static int list_base(void *ctx, const char *name)
{
    tiered_listing *l = ctx;
    ptrdiff_t i = l->t->far ? index_of(l->t, name) : -1;
    if (i >= 0) l->here[i] = true;
    return l->each(l->ctx, name);
}

static int list_both(tiered_dir *t, u9i_list_fn *each, void *ctx)
{
    char name[20];
    tiered_listing l = {.each = each, .ctx = ctx, .t = t, .here = calloc(t->list.count + 1, sizeof(bool))};
    if (l.here == NULL) return -ENOMEM;
    int err = u9i_dir_list(t->base, list_base, &l);
    for (size_t i = 0; i < t->list.count && err == 0 && t->far; i++) {
        if (l.here[i] || !t->there[i]) continue;
        u9i_segment_name(t->list.segments[i].number, name);
        err = each(ctx, name);
    }
    free(l.here);
    return err;
}

static int tiered_list(u9i_dir *dir, u9i_list_fn *each, void *ctx)
{
    tiered_dir *t = tiered_of(dir);
    pthread_mutex_lock(&t->lock);
    int err = read_list_again(t);
    if (err == 0) err = list_both(t, each, ctx);
    pthread_mutex_unlock(&t->lock);
    return err;
}

static int tiered_stat(u9i_dir *dir, const char *name, u9i_stamp *out)
{
    int err = u9i_dir_stat(base_of(dir), name, out);
    return err == -ENOENT && goes_far(dir, name) ? u9i_dir_stat(tiered_of(dir)->far, name, out) : err;
}

static int tiered_identify(u9i_dir *dir, const char *name, uint64_t identity[2])
{
    int err = u9i_dir_identify(base_of(dir), name, identity);
    return err == -ENOENT && goes_far(dir, name) ? u9i_dir_identify(tiered_of(dir)->far, name, identity) : err;
}

static int tiered_rename(u9i_dir *dir, const char *from, const char *to)
{
    return u9i_dir_rename(base_of(dir), from, to);
}

/* What is there has no other name here. */
static int tiered_link(u9i_dir *dir, const char *name, u9i_dir *to, const char *new_name)
{
    int err = u9i_dir_link(base_of(dir), name, to, new_name);
    return err == -ENOENT && is_far(dir, name) ? -EXDEV : err;
}

static int tiered_dress(u9i_dir *dir, const char *name, const u9i_stamp *like)
{
    return u9i_dir_dress(base_of(dir), name, like);
}

static int tiered_remove(u9i_dir *dir, const char *name)
{
    return u9i_dir_remove(base_of(dir), name);
}

static int tiered_sync_dir(u9i_dir *dir)
{
    return u9i_dir_sync(base_of(dir));
}

static int tiered_post(u9i_dir *dir, const char *name, const void *bytes, size_t n)
{
    return u9i_dir_post(base_of(dir), name, bytes, n);
}

static int tiered_posted(u9i_dir *dir, const char *name, void *bytes, size_t n, size_t *got)
{
    return u9i_dir_posted(base_of(dir), name, bytes, n, got);
}

static int tiered_open_file(u9i_dir *dir, const char *name, u9i_open_mode mode, u9i_file **out)
{
    int err = u9i_file_open(base_of(dir), name, mode, out);
    bool away = err == -ENOENT && mode == U9I_OPEN_READ && goes_far(dir, name);
    return away ? u9i_file_open(tiered_of(dir)->far, name, mode, out) : err;
}

static bool tiered_where(u9i_dir *dir, const char *name, char *out, size_t size)
{
    const tiered_dir *t = tiered_of(dir);
    u9i_stamp stamp;
    uint64_t number;
    bool listed = u9i_segment_named(name, &number) && number >= dir->tiered_from && number < dir->tiered_end;
    if (t->far == NULL || !listed || u9i_dir_stat(t->base, name, &stamp) != -ENOENT) return false;
    snprintf(out, size, "%s/%s", t->place, name);
    return true;
}

/* No file has this env, and no map of one: what is called on these is not here. */
static const u9i_fs tiered_fs = {
    .open_dir = tiered_open_dir, .close_dir = tiered_close_dir, .lock = tiered_lock, .locked = tiered_locked,
    .list = tiered_list, .stat = tiered_stat, .identify = tiered_identify, .rename = tiered_rename,
    .link = tiered_link, .dress = tiered_dress, .remove = tiered_remove, .sync_dir = tiered_sync_dir,
    .post = tiered_post, .posted = tiered_posted, .where = tiered_where, .open = tiered_open_file,
};

/* A queue for files of both: one of each, of which the second is made when it is first needed */

typedef struct tiered_queue {
    u9i_queue queue;
    u9i_queue *near, *far; /* far NULL: not needed yet */
    unsigned near_ops, far_ops; /* under way */
} tiered_queue;

static int open_tiered_queue(u9i_env *env, void *buffers, size_t size, unsigned count, u9i_queue **out)
{
    const tiered_dir *t = tiered_of_env(env);
    tiered_queue *q = calloc(1, sizeof *q);
    if (q == NULL) return -ENOMEM;
    int err = u9i_queue_open(t->base->env, buffers, size, count, &q->near);
    if (err != 0) {
        free(q);
        return err;
    }
    q->queue.env = (u9i_env *)(uintptr_t)env;
    *out = &q->queue;
    return 0;
}

static void close_tiered_queue(u9i_queue *queue)
{
    tiered_queue *q = (tiered_queue *)queue;
    u9i_queue_close(q->near);
    if (q->far) u9i_queue_close(q->far);
    free(q);
}

/* All of a batch, or none: what is here and what is there go apart, so one of them is tried first. */
static int submit_tiered(u9i_queue *queue, const u9i_op *ops, unsigned count)
{
    tiered_queue *q = (tiered_queue *)queue;
    const u9i_dir *there = tiered_of_env(queue->env)->far;
    u9i_op away[U9I_QUEUE_DEPTH], here[U9I_QUEUE_DEPTH];
    unsigned n = 0, m = 0;
    if (count > U9I_QUEUE_DEPTH - q->near_ops - q->far_ops) return -EBUSY;
    for (unsigned i = 0; i < count; i++)
        if (there && ops[i].file->env == there->env) away[n++] = ops[i];
        else here[m++] = ops[i];
    int err = n > 0 && q->far == NULL ? u9i_queue_open(there->env, NULL, 0, 0, &q->far) : 0;
    if (err == 0 && m > 0) err = u9i_queue_submit(q->near, here, m);
    if (err != 0) return err;
    q->near_ops += m;
    err = n > 0 ? u9i_queue_submit(q->far, away, n) : 0;
    if (err == 0) q->far_ops += n;
    return err;
}

static int wait_tiered(u9i_queue *queue, u9i_completion *out, unsigned max, uint64_t deadline_us)
{
    tiered_queue *q = (tiered_queue *)queue;
    bool both = q->far_ops > 0 && q->near_ops > 0;
    int n = both || q->far_ops == 0 ? u9i_queue_wait(q->near, out, max, both ? 0 : deadline_us) : 0;
    if (n > 0) q->near_ops -= (unsigned)n;
    if (n != 0 || q->far_ops == 0) return n;
    n = u9i_queue_wait(q->far, out, max, deadline_us);
    if (n > 0) q->far_ops -= (unsigned)n;
    return n;
}

static void settle_tiered(u9i_queue *queue)
{
    tiered_queue *q = (tiered_queue *)queue;
    u9i_queue_settle(q->near);
    if (q->far) u9i_queue_settle(q->far);
    q->near_ops = q->far_ops = 0;
}

static void wake_tiered(u9i_queue *queue)
{
    tiered_queue *q = (tiered_queue *)queue;
    u9i_queue_wake(q->near);
    if (q->far) u9i_queue_wake(q->far);
}

static const u9i_queue_type tiered_queue_type = {
    .open = open_tiered_queue, .close = close_tiered_queue, .submit = submit_tiered, .wait = wait_tiered,
    .settle = settle_tiered, .wake = wake_tiered};

/* What others do is done here. */
static int open_tiered_watch(u9i_dir *dir, const char *post, bool bytes, u9i_watch **out)
{
    return u9i_watch_open(base_of(dir), post, bytes, out);
}

/* Opening */

static u9_err refuse_list(const char *path, int err, u9_fault *fault)
{
    if (err == -ENOMEM) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = path), "out of memory");
    if (err == -EBADMSG)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = path, .rule = "TR-2"),
                         "its file .tier, which says where its oldest segments are, is damaged: `u9 tier LOG --to PLACE` "
                         "makes it anew");
    if (err == -EPROTONOSUPPORT)
        return u9i_fault(fault, U9_VERSION, U9I_AT(.path = path, .rule = "TR-2"),
                         "its file .tier is of a version that this library does not read");
    return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -err), "cannot read its file .tier");
}

static tiered_dir *new_tiered(u9i_dir *base)
{
    tiered_dir *t = calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    t->base = base;
    t->env = *base->env;
    t->env.fs = &tiered_fs;
    t->env.host = base->env;
    t->env.queue = &tiered_queue_type;
    t->watch = (u9i_watch_type){.open = open_tiered_watch, .look_us = base->env->watch->look_us};
    t->env.watch = &t->watch;
    t->dir.env = &t->env;
    pthread_mutex_init(&t->lock, NULL);
    return t;
}

/* The place that the list names. */
static u9_err enter_place(tiered_dir *t, const char *path, const char *place, u9_fault *fault)
{
    u9_fault why;
    int sys = open_far(t, place, &why);
    if (sys == -ENOMEM) return refuse_list(path, sys, fault);
    if (sys != 0 && why.err != U9_OK)
        return u9i_fault(fault, why.err, U9I_AT(.path = path), "its oldest segments are at %.200s: %s", place, why.text);
    if (sys != 0)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys),
                         "its oldest segments are at %.200s, which cannot be opened", place);
    sys = read_list_again(t);
    if (sys == 0) return U9_OK;
    if (sys == -ENODEV)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .rule = "TR-5"),
                         "its oldest segments are at %.200s, which has none of them: is it mounted? Without the log's file "
                         ".tier only what is here is read", place);
    return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys),
                     "its oldest segments are at %.200s, which cannot be listed", place);
}

u9_err u9i_tiered_open(u9i_dir **dir, const char *path, u9_fault *fault)
{
    u9i_tier_list list = {.count = 0};
    u9i_stamp stamp;
    if ((*dir)->single[0]) return U9_OK;
    bool none = u9i_dir_stat(*dir, u9i_tier_name, &stamp) == -ENOENT;
    int sys = none ? 0 : u9i_tier_list_read(*dir, &list);
    if (sys != 0) return refuse_list(path, sys, fault);
    tiered_dir *t = new_tiered(*dir);
    u9_err err = t ? U9_OK : refuse_list(path, -ENOMEM, fault);
    if (err == U9_OK && list.count > 0) err = enter_place(t, path, list.place, fault); /* else it has none yet */
    u9i_tier_list_free(&list);
    if (err == U9_OK) *dir = &t->dir;
    else if (t) drop_tiered(t);
    return err;
}
