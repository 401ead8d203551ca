/*
 * rados/cluster.c: connections to clusters, and what is known of a failure.
 *
 * A connection is made when the first directory is opened, and stays until the process ends: making one takes some
 * milliseconds and a dozen threads. Every request ends by itself: `timeout` is given to the client for its requests to
 * monitors and to OSDs. [RD-3]
 *
 * exit() destroys what the client's library has in static memory, its table of options first, while its threads go on to
 * look options up. So a connection that nobody uses any more is shut down before that.
 */
#include "rados/rados.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUIET_MS = 500 };

static _Thread_local struct {
    int err;
    char text[200];
} note;

int u9r_fail(u9r_env *e, const char *object, int err, const char *what)
{
    if (err == -ETIMEDOUT) e->silent = true;
    if (err == 0 || err == -ENOENT || err == -EEXIST || err == -EWOULDBLOCK || err == -ENOTEMPTY) return err;
    note.err = err;
    snprintf(note.text, sizeof note.text, " (pool %.40s, object %.50s: %s%s)", e->pool, object ? object : "-", what,
             err == -ESHUTDOWN ? "; the cluster has shut this client out" : "");
    return err;
}

int u9r_fenced(const u9r_env *e, const char *object, const char *owner)
{
    note.err = -ECANCELED;
    snprintf(note.text, sizeof note.text, ": %.90s has the log now (pool %.30s, object %.40s)", owner, e->pool, object);
    return -ECANCELED;
}

void u9r_explain(int sys, char *out, size_t size)
{
    if (note.err != -sys) return;
    snprintf(out, size, "%s", note.text);
    note.err = 0;
}

static int configure(rados_t cluster, const u9r_env *e)
{
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%u", e->timeout_s);
    int err = rados_conf_read_file(cluster, e->conf[0] ? e->conf : NULL);
    static const char *const deadlines[] = {"client_mount_timeout", "rados_mon_op_timeout", "rados_osd_op_timeout"};
    for (unsigned i = 0; err == 0 && i < sizeof deadlines / sizeof *deadlines; i++)
        err = rados_conf_set(cluster, deadlines[i], seconds);
    return err;
}

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    return hash;
}

static void identify(u9r_env *e)
{
    char fsid[64] = "";
    (void)rados_cluster_fsid(e->cluster, fsid, sizeof fsid);
    e->identity = mix(mix(0xcbf29ce484222325u ^ (uint64_t)rados_ioctx_get_id(e->io), fsid), e->space);
}

static u9r_env *connected; /* under `connected_lock`; an env stays as long as the process */
static pthread_mutex_t connected_lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Not while something is under way: shutting down crashes over a notify that ends meanwhile. What was told last is waited for
 * a moment; where nobody answers, the connection is left as it is.
 */
static bool is_quiet(u9r_env *e)
{
    for (unsigned i = 0; i < QUIET_MS && e->posters > 0; i++) u9i_sleep_us(&e->env, 1000);
    return e->posters == 0 && !e->silent;
}

static void shut_down(u9r_env *e)
{
    if (pthread_mutex_trylock(&e->lock) != 0) return;
    if (e->cluster && !u9r_is_foreign(e) && e->users == 0 && is_quiet(e)) {
        rados_ioctx_destroy(e->io);
        rados_shutdown(e->cluster);
        e->cluster = NULL;
    }
    pthread_mutex_unlock(&e->lock);
}

static void shut_all_down(void)
{
    for (u9r_env *e = connected; e; e = e->next) shut_down(e);
}

/* Said behind each connection: what the client makes for it in static memory is destroyed later then. */
static void end_in_time(u9r_env *e)
{
    pthread_mutex_lock(&connected_lock);
    u9r_env *c = connected;
    while (c && c != e) c = c->next;
    if (c == NULL) {
        e->next = connected;
        connected = e;
    }
    pthread_mutex_unlock(&connected_lock);
    (void)!atexit(shut_all_down);
}

static int connect_now(u9r_env *e)
{
    rados_t cluster;
    const char *what = "the cluster's configuration";
    int err = rados_create(&cluster, NULL);
    if (err != 0) return u9r_fail(e, NULL, err, what);
    err = configure(cluster, e);
    if (err == -ENOENT) err = -ENODEV; /* no file: not to be taken for a log that is not there */
    if (err == 0) {
        what = "connecting to the cluster";
        err = rados_connect(cluster);
        if (err == -ENOENT) err = -ENODEV;
    }
    if (err == 0) {
        what = "there is no such pool";
        err = rados_ioctx_create(cluster, e->pool, &e->io);
        if (err == -ENOENT) err = -ENODEV;
    }
    if (err != 0) {
        rados_shutdown(cluster);
        return u9r_fail(e, NULL, err, what);
    }
    rados_ioctx_set_namespace(e->io, e->space);
    rados_set_pool_full_try(e->io); /* else requests to a pool that is full wait for room, the lock's too */
    e->cluster = cluster;
    e->users = e->posters = 0;
    end_in_time(e);
    e->generation = u9r_host->forks();
    identify(e);
    return 0;
}

int u9r_connect(u9r_env *e)
{
    pthread_mutex_lock(&e->lock);
    if (e->cluster && u9r_is_foreign(e)) e->cluster = NULL; /* a parent's: its threads are not here */
    int err = e->cluster ? 0 : connect_now(e);
    if (err == 0) e->users++;
    pthread_mutex_unlock(&e->lock);
    return err;
}

void u9r_leave(u9r_env *e)
{
    assert(e->users > 0);
    e->users--;
}
