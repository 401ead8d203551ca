/*
 * rados/watch.c: posts, which are attributes of the directory's object, and being told, by RADOS's watch and notify.
 * [RD-9]
 *
 * Nobody waits for a post or for those who are told: the newest bytes go with the next request, and a few notices may be
 * under way while somebody who watches does not answer. While nobody watches, which the answers tell, both go out now and
 * then only, so that a commit is one request. The poster outlives its directory until the last result is in.
 */
#include "rados/rados.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { POST_MAX = 4096, NOTICES_MAX = 8, ANSWER_MS = 3000, WATCH_S = 30,        PAUSE_US = 20000 /* while nobody watches, and behind a write: what is durable is posted anyway */,
       LOOK_US = 10000000 /* all machines tell; who was killed does not */ };

/* One that is under way. */
typedef struct notice {
    struct u9r_poster *poster;
    bool used;
    char *reply;
    size_t size;
} notice;

typedef struct u9r_poster {
    pthread_mutex_t lock;
    u9r_env *env;
    char oid[U9R_OID_MAX];
    bool proves, closed, left, posting; /* left: its directory has no part in it any more */
    bool wants_post, wants_notice; /* that have not gone out yet */
    bool soon;                     /* something was written: a notice, when `task` looks, if none went out since */
    bool heard;                    /* somebody answered the last notice that had a result */
    bool timed;                    /* `task` will look again */
    u9i_task task;
    uint64_t gone_us;          /* when something went out last */
    char epoch[U9R_EPOCH + 1]; /* that a post proves */
    notice notices[NOTICES_MAX];
    unsigned under_way; /* notices */
    char name[U9R_NAME_MAX + 8];
    size_t n;
    char bytes[POST_MAX];
} poster;

static void poster_check(const poster *p)
{
    assert(p->env != NULL && p->n <= POST_MAX && p->under_way <= NOTICES_MAX);
}

static void free_poster(poster *p)
{
    u9r_env *e = p->env;
    pthread_mutex_destroy(&p->lock);
    free(p);
    e->posters--;
}

/* Unlocks; the last one who has it frees it. */
static void leave(poster *p)
{
    bool last = p->left && !p->posting && p->under_way == 0;
    poster_check(p);
    pthread_mutex_unlock(&p->lock);
    if (last) free_poster(p);
}

static void send_out(poster *p);

static bool was_heard(const notice *n)
{
    struct notify_ack_t *acks = NULL;
    struct notify_timeout_t *late = NULL;
    size_t ack_count = 0, late_count = 0;
    if (n->reply == NULL || rados_decode_notify_response(n->reply, n->size, &acks, &ack_count, &late, &late_count) != 0)
        return false;
    rados_free_notify_response(acks, ack_count, late);
    return ack_count + late_count > 0;
}

static void on_notice(rados_completion_t completion, void *arg)
{
    notice *n = arg;
    poster *p = n->poster;
    rados_aio_release(completion);
    pthread_mutex_lock(&p->lock);
    p->heard = was_heard(n);
    if (n->reply) rados_buffer_free(n->reply);
    n->used = false;
    p->under_way--;
    send_out(p);
    leave(p);
}

/* The lock is held, as in what follows. */
static void begin_notice(poster *p)
{
    rados_completion_t done;
    notice *n = p->notices;
    while (n->used) n++;
    if (rados_aio_create_completion2(n, on_notice, &done) != 0) return;
    *n = (notice){.poster = p, .used = true};
    p->under_way++;
    p->soon = false;
    if (rados_aio_notify(p->env->io, p->oid, done, NULL, 0, ANSWER_MS, &n->reply, &n->size) == 0) return;
    n->used = false;
    p->under_way--;
    rados_aio_release(done);
}

static void on_post(rados_completion_t completion, void *arg)
{
    poster *p = arg;
    rados_aio_release(completion);
    pthread_mutex_lock(&p->lock);
    p->posting = false;
    p->wants_notice = false;
    if (!p->closed && p->under_way < NOTICES_MAX) begin_notice(p);
    else p->wants_notice = true;
    send_out(p);
    leave(p);
}

static void begin_post(poster *p)
{
    rados_completion_t done;
    if (rados_aio_create_completion2(p, on_post, &done) != 0) return;
    rados_write_op_t op = rados_create_write_op();
    rados_write_op_assert_exists(op);
    if (p->proves) rados_write_op_cmpxattr(op, "epoch", LIBRADOS_CMPXATTR_OP_EQ, p->epoch, U9R_EPOCH);
    rados_write_op_setxattr(op, p->name, p->bytes, p->n);
    p->posting = rados_aio_write_op_operate(op, p->env->io, done, p->oid, NULL, LIBRADOS_OPERATION_FULL_FORCE) == 0;
    rados_release_write_op(op);
    if (!p->posting) rados_aio_release(done);
}

static void on_time(void *ctx)
{
    poster *p = ctx;
    pthread_mutex_lock(&p->lock);
    p->timed = false;
    p->wants_notice |= p->soon;
    send_out(p);
    pthread_mutex_unlock(&p->lock); /* closing waits for it */
}

/* The task looks again then, if not before. */
static void look_at(poster *p, uint64_t us)
{
    if (!p->timed && !p->closed) u9i_task_submit(&p->env->env, &p->task, us);
    p->timed = true;
}

/* What is wanted, as far as it may go out now; a post is followed by a notice. */
static void send_out(poster *p)
{
    bool post = p->wants_post && !p->posting, tell = p->wants_notice && p->under_way < NOTICES_MAX;
    if (p->closed || (!post && !tell)) return;
    uint64_t now = u9i_monotonic_us(&p->env->env), due = p->gone_us + PAUSE_US;
    if (!p->heard && now < due) {
        look_at(p, due);
        return;
    }
    p->gone_us = now;
    if (post) p->wants_post = false;
    if (tell) p->wants_notice = false;
    if (post) begin_post(p);
    else begin_notice(p);
}

int u9r_poster_open(u9r_dir *d)
{
    poster *p = calloc(1, sizeof *p);
    if (p == NULL) return -ENOMEM;
    pthread_mutex_init(&p->lock, NULL);
    p->env = u9r_env_of_dir(d);
    p->task = (u9i_task){.run = on_time, .ctx = p};
    memcpy(p->oid, d->oid, sizeof p->oid);
    d->poster = p;
    p->env->posters++;
    return 0;
}

/* Who began to watch meanwhile is told. */
void u9r_poster_close(u9r_dir *d)
{
    poster *p = d->poster;
    pthread_mutex_lock(&p->lock);
    if ((p->wants_notice || p->soon) && p->under_way < NOTICES_MAX && !p->env->silent) begin_notice(p);
    p->closed = true; /* nothing is submitted from here on */
    pthread_mutex_unlock(&p->lock);
    u9i_task_cancel(&p->env->env, &p->task);
    pthread_mutex_lock(&p->lock);
    p->left = true;
    leave(p);
}

void u9r_tell(u9r_dir *d)
{
    poster *p = d->poster;
    if (p == NULL) return;
    pthread_mutex_lock(&p->lock);
    p->wants_notice = true;
    send_out(p);
    pthread_mutex_unlock(&p->lock);
}

void u9r_tell_soon(u9r_dir *d)
{
    poster *p = d->poster;
    if (p == NULL) return;
    pthread_mutex_lock(&p->lock);
    p->soon = true;
    look_at(p, u9i_monotonic_us(&p->env->env) + PAUSE_US);
    pthread_mutex_unlock(&p->lock);
}

static int end_post(u9r_dir *d, const char *name)
{
    poster *p = d->poster;
    pthread_mutex_lock(&p->lock);
    bool had = p->n > 0;
    p->n = 0;
    p->wants_post = false;
    pthread_mutex_unlock(&p->lock);
    if (!had || u9r_env_of_dir(d)->silent) return 0;
    rados_write_op_t op = u9r_dir_op(d);
    rados_write_op_rmxattr(op, name); /* behind what is under way: RADOS keeps the order */
    return u9r_dir_change(d, op, "taking a post away");
}

int u9r_post(u9i_dir *dir, const char *name, const void *bytes, size_t n)
{
    u9r_dir *d = u9r_dir_of(dir);
    poster *p = d->poster;
    char key[U9R_NAME_MAX + 8];
    snprintf(key, sizeof key, "post%s", name);
    if (n == 0) return end_post(d, key);
    if (n > POST_MAX) return -EINVAL;
    pthread_mutex_lock(&p->lock);
    memcpy(p->name, key, sizeof key);
    memcpy(p->bytes, bytes, n);
    p->n = n;
    p->proves = d->epoch != 0;
    u9r_epoch_text(d->epoch, p->epoch);
    p->wants_post = true;
    send_out(p);
    pthread_mutex_unlock(&p->lock);
    return 0;
}

int u9r_posted(u9i_dir *dir, const char *name, void *bytes, size_t n, size_t *got)
{
    u9r_dir *d = u9r_dir_of(dir);
    char key[U9R_NAME_MAX + 8], all[POST_MAX];
    snprintf(key, sizeof key, "post%s", name);
    int came = rados_getxattr(u9r_env_of_dir(d)->io, d->oid, key, all, sizeof all);
    if (came == -ENODATA) return -ENOENT;
    if (came < 0) return u9r_fail(u9r_env_of_dir(d), d->oid, came, "reading a post");
    *got = (size_t)came < n ? (size_t)came : n;
    memcpy(bytes, all, *got);
    return 0;
}

/*
 * Watches: the client keeps one up by itself, over daemons that come and go. It is asked for and not waited for, but by who
 * opens it, and by that one only for `timeout`: the client gives such a request no deadline of its own. Who closes a watch
 * that has no answer yet leaves it to the answer. One that was refused is nothing any more: its cookie leads nowhere.
 */
typedef struct watch {
    u9i_watch watch;
    u9r_dir *dir;
    unsigned generation;
    uint64_t cookie;
    int fd;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t told;
    bool asked, broken, closed; /* there is no answer yet; the OSD has forgotten it; nobody waits any more */
    int err;                    /* the last answer */
} watch;

static void signal_watch(watch *w)
{
    uint64_t one = 1;
    while (write(w->fd, &one, sizeof one) < 0 && errno == EINTR) continue;
}

static void free_watch(watch *w)
{
    close(w->fd);
    pthread_cond_destroy(&w->told);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static void on_told(void *arg, uint64_t id, uint64_t cookie, uint64_t who, void *data, size_t n)
{
    watch *w = arg;
    (void)who;
    (void)data;
    (void)n;
    pthread_mutex_lock(&w->lock);
    bool left = w->closed; /* its directory may be gone */
    if (!left) signal_watch(w);
    pthread_mutex_unlock(&w->lock);
    if (left) return;
    (void)rados_notify_ack(u9r_env_of_dir(w->dir)->io, w->dir->oid, id, cookie, NULL, 0);
}

static void on_broken(void *arg, uint64_t cookie, int err)
{
    watch *w = arg;
    (void)cookie;
    (void)err;
    pthread_mutex_lock(&w->lock);
    w->broken = true;
    if (!w->closed) signal_watch(w);
    pthread_mutex_unlock(&w->lock);
}

/* Nobody waits for it. */
static void drop_watch(u9i_env *env, uint64_t cookie)
{
    rados_completion_t done;
    if (rados_aio_create_completion2(NULL, NULL, &done) != 0) return;
    (void)rados_aio_unwatch(u9r_env_of(env)->io, cookie, done);
    rados_aio_release(done);
}

/*
 * What was told meanwhile is not known: so who waits looks once more. One that is had when nobody waits any more is ended, and
 * stays, as calls of it may be under way.
 */
static void on_watching(rados_completion_t completion, void *arg)
{
    watch *w = arg;
    int err = rados_aio_get_return_value(completion);
    rados_aio_release(completion);
    pthread_mutex_lock(&w->lock);
    bool last = w->closed;
    w->asked = false;
    w->err = err < 0 ? err : 0;
    w->broken = err < 0;
    if (!last) signal_watch(w);
    uint64_t cookie = w->cookie;
    pthread_cond_broadcast(&w->told);
    pthread_mutex_unlock(&w->lock);
    if (last && err < 0) free_watch(w);
    else if (last) drop_watch(w->watch.env, cookie);
}

/* The lock is held. */
static int ask_to_watch(watch *w)
{
    rados_completion_t done;
    int err = rados_aio_create_completion2(w, on_watching, &done);
    if (err != 0) return err;
    w->asked = true;
    w->broken = false;
    err = rados_aio_watch2(u9r_env_of_dir(w->dir)->io, w->dir->oid, done, &w->cookie, on_told, on_broken, WATCH_S, w);
    if (err == 0) return 0;
    w->asked = false;
    w->broken = true;
    w->err = err;
    rados_aio_release(done);
    return err;
}

static int begin_watch(watch *w)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += u9r_env_of_dir(w->dir)->timeout_s;
    pthread_mutex_lock(&w->lock);
    int err = ask_to_watch(w), waited = 0;
    while (err == 0 && w->asked && waited == 0) waited = pthread_cond_timedwait(&w->told, &w->lock, &until);
    if (err == 0) err = w->asked ? -ETIMEDOUT : w->err;
    pthread_mutex_unlock(&w->lock);
    return err;
}

static void close_watch(u9i_watch *base)
{
    watch *w = (watch *)base;
    u9r_dir *d = w->dir;
    if (w->generation != u9r_host->forks()) { /* the client's threads are not here */
        close(w->fd);
        free(w);
        return;
    }
    pthread_mutex_lock(&w->lock);
    bool asked = w->closed = w->asked, had = !asked && w->err == 0; /* asked: it is the answer's from here on */
    uint64_t cookie = w->cookie;
    pthread_mutex_unlock(&w->lock);
    if (had && u9r_env_of_dir(d)->silent) drop_watch(base->env, cookie);
    else if (had) (void)rados_unwatch2(u9r_env_of_dir(d)->io, cookie);
    (void)rados_watch_flush(u9r_env_of_dir(d)->cluster); /* no call of ours is under way behind this */
    if (!asked) free_watch(w);
}

static int open_watch(u9i_dir *dir, const char *post, bool bytes, u9i_watch **out)
{
    (void)post;
    (void)bytes; /* all that is told is told to all */
    watch *w = calloc(1, sizeof *w);
    if (w == NULL) return -ENOMEM;
    w->watch.env = dir->env;
    w->dir = u9r_dir_of(dir);
    w->generation = u9r_host->forks();
    u9r_init_wait(&w->lock, &w->told);
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int err = w->fd < 0 ? -errno : begin_watch(w);
    if (err == 0) {
        *out = &w->watch;
        return 0;
    }
    if (w->fd < 0) free_watch(w);
    else close_watch(&w->watch);
    return u9r_fail(u9r_env_of(dir->env), u9r_dir_of(dir)->oid, err, "watching");
}

/* A watch that broke is asked for again, now and then, until it is had; whoever waits is told each time, and looks. */
static void mend_watch(watch *w)
{
    pthread_mutex_lock(&w->lock);
    bool again = w->broken && !w->asked, refused = again && w->err != 0;
    if (again && !refused) drop_watch(w->watch.env, w->cookie);
    if (again && ask_to_watch(w) != 0) {
        w->err = -EIO;
        signal_watch(w);
    }
    pthread_mutex_unlock(&w->lock);
    if (refused) u9i_sleep_us(w->watch.env, 100000);
}

static int wait_watch(u9i_watch *base, uint64_t deadline_us)
{
    watch *w = (watch *)base;
    struct pollfd fd = {.fd = w->fd, .events = POLLIN};
    uint64_t now = deadline_us ? u9i_monotonic_us(base->env) : 0, told;
    uint64_t left = deadline_us == U9I_FOREVER ? UINT64_MAX : deadline_us > now ? deadline_us - now : 0;
    struct timespec most = {.tv_sec = (time_t)(left / 1000000), .tv_nsec = (long)(left % 1000000 * 1000)};
    int n = ppoll(&fd, 1, left == UINT64_MAX ? NULL : &most, NULL);
    if (n < 0) return -errno;
    if (n == 0 || read(w->fd, &told, sizeof told) < 0) return 0;
    mend_watch(w);
    return 1;
}

static int fd_of_watch(u9i_watch *base)
{
    return ((watch *)base)->fd;
}

const u9i_watch_type u9r_watch_type = {.open = open_watch, .close = close_watch, .wait = wait_watch, .fd = fd_of_watch,
                                      .look_us = LOOK_US};
