/*
 * zk/session.c: the session with the ensemble, what of it is ours, and how long the claim stands.
 *
 * Two halves. The callbacks run in threads of the client: they take the lock, note, wake, and
 * never call ZooKeeper. The rest is called by the worker, the only thread that does. Implements
 * step 7 and invariants 1 to 4 of claim.h.
 *
 * Why two fifths of the session's timeout: the leader of the ensemble counts it from the last sign
 * of life that it was told of. That may be older than our proof by the pause between two reports
 * of the server that we talk to, half a tick, and by the pause between two pings of the client
 * before that, a third of the timeout. The timeout is at least two ticks, so what is left is at
 * least 1 - 1/4 - 1/3 = 5/12 of it.
 */
#include "zk/claim.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>

bool u9i_zk_standing(const u9_zk_claim *c)
{
    int64_t now = u9i_zk_now_ms();
    return c->held && now < c->held_until_ms && now < c->proven_ms + c->session_ms * 2 / 5;
}

void u9i_zk_sleep(u9_zk_claim *c, int64_t due_ms)
{
    if (due_ms == U9I_ZK_NEVER) {
        pthread_cond_wait(&c->turn, &c->lock);
        return;
    }
    int64_t left = due_ms - u9i_zk_now_ms();
    if (left <= 0) return;
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    int64_t ns = at.tv_nsec + left % 1000 * 1000000;
    at.tv_sec += (time_t)(left / 1000 + ns / 1000000000);
    at.tv_nsec = (long)(ns % 1000000000);
    pthread_cond_timedwait(&c->turn, &c->lock, &at);
}

static u9i_zk_node *find_own(u9_zk_claim *c, const char *path)
{
    for (size_t i = 0; i < c->own_count; i++)
        if (strcmp(c->own[i].path, path) == 0) return &c->own[i];
    return NULL;
}

static void forget_own(u9_zk_claim *c, const char *path)
{
    u9i_zk_node *node = find_own(c, path);
    if (node) *node = c->own[--c->own_count];
}

int64_t u9i_zk_own_due(const u9_zk_claim *c)
{
    int64_t due = U9I_ZK_NEVER;
    for (size_t i = 0; i < c->own_count; i++)
        if (c->own[i].due_ms < due) due = c->own[i].due_ms;
    return due;
}

void u9i_zk_own_end(u9_zk_claim *c)
{
    for (size_t i = 0; i < c->own_count; i++)
        if (c->own[i].due_ms == U9I_ZK_NEVER) c->own[i].due_ms = 0;
}

void u9i_zk_void(u9_zk_claim *c)
{
    if (!c->held) return;
    c->held = false;
    u9i_zk_node *node = find_own(c, c->node);
    if (node) node->due_ms = u9i_zk_now_ms() + c->options.give_back_ms;
    pthread_cond_broadcast(&c->turn);
}

static void on_session(zhandle_t *zk, int type, int state, const char *path, void *claim)
{
    (void)zk, (void)path;
    u9_zk_claim *c = claim;
    if (type != ZOO_SESSION_EVENT) return;
    pthread_mutex_lock(&c->lock);
    c->connected = state == ZOO_CONNECTED_STATE;
    if (!c->connected) {
        c->breaks++;
        u9i_zk_void(c);
    }
    if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
        c->expired = true;
        c->own_count = 0; /* they went with the session */
    }
    c->events++;
    pthread_cond_broadcast(&c->turn);
    pthread_mutex_unlock(&c->lock);
}

void u9i_zk_on_event(zhandle_t *zk, int type, int state, const char *path, void *claim)
{
    (void)zk, (void)type, (void)state, (void)path;
    u9_zk_claim *c = claim;
    pthread_mutex_lock(&c->lock);
    c->events++;
    pthread_cond_broadcast(&c->turn);
    pthread_mutex_unlock(&c->lock);
}

void u9i_zk_on_node(zhandle_t *zk, int type, int state, const char *path, void *claim)
{
    (void)zk, (void)state;
    u9_zk_claim *c = claim;
    if (type == ZOO_SESSION_EVENT || path == NULL) return;
    /* Deleted, or touched by somebody who has no business there; after this nothing watches. It
       stays in `own` and is looked at when it is due: this may be late news of an older claim. */
    pthread_mutex_lock(&c->lock);
    if (strcmp(path, c->node) == 0) {
        c->gone = true;
        u9i_zk_void(c);
    }
    pthread_mutex_unlock(&c->lock);
}

/* The client would write its log to standard error. */
static void say_nothing(const char *message)
{
    (void)message;
}

void u9i_zk_session_end(u9_zk_claim *c)
{
    pthread_mutex_lock(&c->lock);
    u9i_zk_void(c);
    pthread_mutex_unlock(&c->lock);
    if (c->zk) (void)zookeeper_close(c->zk); /* no callback comes after this */
    c->zk = NULL;
    pthread_mutex_lock(&c->lock);
    c->connected = c->expired = false;
    c->own_count = 0;
    c->breaks++;
    pthread_mutex_unlock(&c->lock);
}

void u9i_zk_session_begin(u9_zk_claim *c)
{
    u9i_zk_session_end(c);
    c->zk = zookeeper_init2(c->hosts, on_session, (int)c->options.session_timeout_ms, NULL, c, 0,
                            say_nothing);
    int err = errno;
    /* After a failure, and after a session that died at once, not again in a hurry. */
    c->pause_until_ms = u9i_zk_now_ms() + (c->zk ? U9I_ZK_PAUSE_MS : 10 * U9I_ZK_PAUSE_MS);
    if (c->zk) return;
    pthread_mutex_lock(&c->lock);
    if (err == ENOENT) /* so the client calls what no resolver knows; it is no file */
        u9i_zk_fault(&c->refusal, U9_IO, 0, c->hosts, "no session: no host of this name is known");
    else
        u9i_zk_fault(&c->refusal, U9_IO, err, c->hosts, "no session: the hosts cannot be found, or memory is short");
    c->answered = c->asked;
    pthread_cond_broadcast(&c->turn);
    pthread_mutex_unlock(&c->lock);
}

static int errno_of(int rc)
{
    switch (rc) {
    case ZNOAUTH: return EACCES;
    case ZNONODE: return ENOENT;
    case ZSYSTEMERROR: return EIO;
    default: return EPROTO;
    }
}

u9i_zk_result u9i_zk_judge(u9_zk_claim *c, int rc, const char *what, const char *path)
{
    switch (rc) {
    case ZOK: return U9I_ZK_DONE;
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZSESSIONEXPIRED:
    case ZSESSIONMOVED:
    case ZINVALIDSTATE:
    case ZCLOSING: return U9I_ZK_BROKEN;
    case ZNONODE: /* somebody cleared the tree */
        c->planted = false;
        return U9I_ZK_BROKEN;
    default: break;
    }
    pthread_mutex_lock(&c->lock);
    u9i_zk_fault(&c->refusal, U9_IO, errno_of(rc), path, "cannot %s: %s", what, zerror(rc));
    pthread_mutex_unlock(&c->lock);
    return U9I_ZK_REFUSED;
}

static void on_barrier(int rc, const char *value, const void *claim)
{
    (void)value;
    u9_zk_claim *c = (u9_zk_claim *)(uintptr_t)claim;
    pthread_mutex_lock(&c->lock);
    c->barrier_rc = rc;
    pthread_cond_broadcast(&c->turn);
    pthread_mutex_unlock(&c->lock);
}

int u9i_zk_barrier(u9_zk_claim *c)
{
    pthread_mutex_lock(&c->lock);
    c->barrier_rc = 1;
    pthread_mutex_unlock(&c->lock);
    int rc = zoo_async(c->zk, c->base, on_barrier, c);
    if (rc != ZOK) return rc;
    pthread_mutex_lock(&c->lock);
    /* The client always calls back: while a request is open it sends no pings, so a server that
       does not answer loses the connection, and that answers all. */
    while (c->barrier_rc > 0) u9i_zk_sleep(c, U9I_ZK_NEVER);
    rc = c->barrier_rc;
    pthread_mutex_unlock(&c->lock);
    return rc;
}

static void enter_own(u9_zk_claim *c, const char *path)
{
    pthread_mutex_lock(&c->lock);
    u9i_zk_node *node = find_own(c, path); /* there only if others deleted it */
    if (node == NULL) {
        assert(c->own_count < U9I_ZK_OWN_MAX); /* the worker began the attempt with enough room */
        node = &c->own[c->own_count++];
        strcpy(node->path, path);
    }
    node->due_ms = U9I_ZK_NEVER;
    pthread_mutex_unlock(&c->lock);
}

static void leave_own(u9_zk_claim *c, const char *path)
{
    pthread_mutex_lock(&c->lock);
    forget_own(c, path);
    pthread_mutex_unlock(&c->lock);
}

u9i_zk_result u9i_zk_make(u9_zk_claim *c, const char *path, const char *what)
{
    enter_own(c, path);
    int rc = zoo_create(c->zk, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0);
    if (rc == ZOK) return U9I_ZK_DONE;
    u9i_zk_result result = rc == ZNODEEXISTS ? U9I_ZK_TAKEN : u9i_zk_judge(c, rc, what, path);
    /* When the connection broke it may have been made all the same: it stays in `own`. */
    if (result != U9I_ZK_BROKEN || rc == ZNONODE) leave_own(c, path);
    return result;
}

u9i_zk_result u9i_zk_drop(u9_zk_claim *c, const char *path)
{
    struct Stat stat;
    int rc = zoo_exists(c->zk, path, 0, &stat);
    if (rc == ZOK && stat.ephemeralOwner == zoo_client_id(c->zk)->client_id)
        rc = zoo_delete(c->zk, path, -1);
    if (rc != ZOK && rc != ZNONODE) {
        u9i_zk_result result = u9i_zk_judge(c, rc, "delete a node of our own", path);
        if (result != U9I_ZK_DONE) return result;
    }
    leave_own(c, path);
    return U9I_ZK_DONE;
}

static bool find_due(u9_zk_claim *c, char path[U9I_ZK_NODE_SIZE])
{
    bool found = false;
    pthread_mutex_lock(&c->lock);
    int64_t now = u9i_zk_now_ms();
    for (size_t i = 0; i < c->own_count && !found; i++) {
        found = c->own[i].due_ms <= now;
        if (found) strcpy(path, c->own[i].path);
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

u9i_zk_result u9i_zk_sweep(u9_zk_claim *c)
{
    char path[U9I_ZK_NODE_SIZE];
    /* Without this a server that lags behind might not know yet what we made on another one. */
    u9i_zk_result result = u9i_zk_judge(c, u9i_zk_barrier(c), "confirm the session", c->base);
    while (result == U9I_ZK_DONE && find_due(c, path)) {
        result = u9i_zk_drop(c, path);
        if (result != U9I_ZK_REFUSED) continue;
        leave_own(c, path); /* it stays until the session ends: no use in trying for ever */
        result = U9I_ZK_DONE;
    }
    return result;
}

/* With `lock` held. */
static u9i_zk_result going(const u9_zk_claim *c)
{
    if (!c->connected || c->breaks != c->attempt_breaks) return U9I_ZK_BROKEN;
    return c->stop || c->waiters == 0 ? U9I_ZK_OVER : U9I_ZK_DONE;
}

u9i_zk_result u9i_zk_going(u9_zk_claim *c)
{
    pthread_mutex_lock(&c->lock);
    u9i_zk_result result = going(c);
    pthread_mutex_unlock(&c->lock);
    return result;
}

uint64_t u9i_zk_events(u9_zk_claim *c)
{
    pthread_mutex_lock(&c->lock);
    uint64_t events = c->events;
    pthread_mutex_unlock(&c->lock);
    return events;
}

u9i_zk_result u9i_zk_await(u9_zk_claim *c, uint64_t seen, const char *waits_for)
{
    u9i_zk_result result;
    bool sweeps;
    do {
        pthread_mutex_lock(&c->lock);
        c->waits_for = waits_for;
        int64_t due = u9i_zk_own_due(c);
        while ((result = going(c)) == U9I_ZK_DONE && c->events == seen && u9i_zk_now_ms() < due)
            u9i_zk_sleep(c, due);
        sweeps = result == U9I_ZK_DONE && c->events == seen;
        pthread_mutex_unlock(&c->lock);
        if (sweeps) result = u9i_zk_sweep(c);
    } while (sweeps && result == U9I_ZK_DONE);
    return result;
}
