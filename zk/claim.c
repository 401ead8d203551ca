/*
 * zk/claim.c: the public face of a claim: open, get, held, release, close.
 *
 * Nothing here talks to the ensemble: calls leave their wish under the lock and wait until the
 * worker has fulfilled it. See claim.h for the protocol and the invariants.
 */
#include "zk/claim.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int64_t u9i_zk_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

u9_err u9i_zk_fault(u9_fault *fault, u9_err err, int sys, const char *path, const char *format, ...)
{
    if (fault == NULL) return err;
    memset(fault, 0, sizeof *fault);
    fault->err = err;
    fault->sys = sys;
    fault->segment = fault->offset = U9_NOWHERE;
    if (path) {
        size_t n = strlen(path), max = sizeof fault->path - 1;
        snprintf(fault->path, sizeof fault->path, "%s", path + (n > max ? n - max : 0));
    }
    va_list args;
    va_start(args, format);
    vsnprintf(fault->text, sizeof fault->text, format, args);
    va_end(args);
    return err;
}

/* A port that ends at a comma or the end. Returns what is behind it, NULL if there is none. */
static const char *skip_port(const char *s, const char *end)
{
    unsigned port = 0;
    const char *begin = s;
    while (s < end && *s >= '0' && *s <= '9' && s - begin < 5)
        port = port * 10 + (unsigned)(*s++ - '0');
    return s > begin && port >= 1 && port <= 65535 && (s == end || *s == ',') ? s : NULL;
}

/* "HOST:PORT[,HOST:PORT...]"; a host is anything but separators, or [an address]. */
static bool hosts_are_fine(const char *s, const char *end)
{
    for (;;) {
        const char *host = s;
        if (s < end && *s == '[') {
            while (s < end && *s != ']') s++;
            s += s < end;
        } else {
            while (s < end && *s > ' ' && *s < 127 && *s != ':' && *s != ',') s++;
        }
        if (s == host || s == end || *s != ':') return false;
        s = skip_port(s + 1, end);
        if (s == NULL) return false;
        if (s == end) return true;
        s++;
    }
}

/* What ZooKeeper takes for a path, less what it would take and people would regret. */
static bool path_is_fine(const char *s)
{
    while (*s == '/') {
        const char *name = ++s;
        while (*s != 0 && *s != '/' && (unsigned char)*s > ' ' && *s != 127) s++;
        size_t n = (size_t)(s - name);
        if (n == 0 || (n <= 2 && memcmp(name, "..", n) == 0)) return false;
    }
    return *s == 0;
}

static const char *read_address(u9_zk_claim *c, const char *address)
{
    const char *path = strchr(address, '/');
    if (path == NULL) return "the address has no path: HOST:PORT/PATH";
    size_t hosts = (size_t)(path - address), base = strlen(path);
    if (hosts > U9_ZK_HOSTS_MAX) return "the hosts are longer than 511 characters";
    if (base > U9_ZK_PATH_MAX) return "the path is longer than 255 characters";
    if (!hosts_are_fine(address, path)) return "the hosts are not HOST:PORT[,HOST:PORT...]";
    if (!path_is_fine(path)) return "the path is not /NAME[/NAME...]";
    memcpy(c->hosts, address, hosts);
    memcpy(c->base, path, base);
    return NULL;
}

static const char *read_options(u9_zk_claim *c, const u9_zk_options *options)
{
    static const uint32_t pool_sizes[] = {64, 256, 256, U9I_ZK_POOL_MAX};
    u9_zk_options *o = &c->options;
    o->size = sizeof *o;
    if (options) *o = *options;
    if (o->size != sizeof *o) return "options.size is not sizeof(u9_zk_options)";
    if (o->layout > U9_UID8_LAYOUT_MAX) return "options.layout is not 1 to 4";
    if (o->layout == 0) o->layout = 1;
    if (o->mode != U9_UID8_SPREAD && (o->mode != U9_UID8_TIME_SEQUENTIAL || o->layout < 3))
        return "options.mode is none of this layout";
    if (o->session_timeout_ms == 0) o->session_timeout_ms = 10000;
    if (o->session_timeout_ms < 500 || o->session_timeout_ms > 600000)
        return "options.session_timeout_ms is not 500 to 600000";
    if (o->wait_ms_max == 0) o->wait_ms_max = 600000;
    if (o->hold_ms == 0) o->hold_ms = 30000;
    if (o->give_back_ms == 0) o->give_back_ms = 2000;
    c->pool_size = pool_sizes[o->layout - 1];
    return NULL;
}

/* All signals are for the program's threads: none of ours, nor of the client, takes one. */
static int start_worker(u9_zk_claim *c)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int err = pthread_create(&c->worker, NULL, u9i_zk_work, c);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return err;
}

static void init_locks(u9_zk_claim *c)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->turn, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->uid8_lock, NULL);
}

static void free_claim(u9_zk_claim *c)
{
    u9i_zk_uid8_end(c);
    pthread_mutex_destroy(&c->uid8_lock);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->turn);
    free(c);
}

u9_err u9_zk_open(const char *address, const u9_zk_options *options, u9_zk_claim **out,
                  u9_fault *fault)
{
    if (address == NULL || out == NULL)
        return u9i_zk_fault(fault, U9_ARG, 0, NULL, "address or out is NULL");
    u9_zk_claim *c = calloc(1, sizeof *c);
    if (c == NULL) return u9i_zk_fault(fault, U9_NOMEM, ENOMEM, address, "no memory for a claim");
    const char *wrong = read_address(c, address);
    if (wrong == NULL) wrong = read_options(c, options);
    if (wrong) {
        free(c);
        return u9i_zk_fault(fault, U9_ARG, 0, address, "%s", wrong);
    }
    c->pid = getpid();
    c->cluster = -1;
    c->waits_for = "a connection";
    init_locks(c);
    int err = start_worker(c);
    if (err != 0) {
        free_claim(c);
        return u9i_zk_fault(fault, U9_IO, err, address, "no thread for a claim");
    }
    *out = c;
    return U9_OK;
}

/* Called with `lock` held, at the end of a wait. */
static u9_err tell_wait(u9_zk_claim *c, u9_fault *fault)
{
    unsigned ms = c->options.wait_ms_max;
    if (!c->connected)
        return u9i_zk_fault(fault, U9_IO, ETIMEDOUT, c->hosts, "no connection within %u ms", ms);
    return u9i_zk_fault(fault, U9_AGAIN, 0, c->base, "no number within %u ms: waited for %s", ms,
                        c->waits_for);
}

u9_err u9_zk_get(u9_zk_claim *c, u9_zk_grant *out, u9_fault *fault)
{
    if (c == NULL || out == NULL)
        return u9i_zk_fault(fault, U9_ARG, 0, NULL, "claim or out is NULL");
    if (c->pid != getpid())
        return u9i_zk_fault(fault, U9_STATE, 0, c->base, "the claim belongs to the parent process");
    u9_err err = U9_OK;
    pthread_mutex_lock(&c->lock);
    if (!u9i_zk_standing(c)) {
        int64_t deadline = u9i_zk_now_ms() + c->options.wait_ms_max;
        uint64_t mine = ++c->asked;
        c->waiters++;
        pthread_cond_broadcast(&c->turn);
        while (!u9i_zk_standing(c) && c->answered < mine && u9i_zk_now_ms() < deadline)
            u9i_zk_sleep(c, deadline);
        if (--c->waiters == 0) pthread_cond_broadcast(&c->turn);
        if (!u9i_zk_standing(c)) {
            bool refused = c->answered >= mine;
            err = refused ? c->refusal.err : tell_wait(c, fault);
            if (refused && fault) *fault = c->refusal;
        }
    }
    if (err == U9_OK) *out = c->grant;
    pthread_mutex_unlock(&c->lock);
    return err;
}

int u9_zk_held(u9_zk_claim *c, const u9_zk_grant *grant)
{
    if (c == NULL || grant == NULL || c->pid != getpid()) return 0;
    pthread_mutex_lock(&c->lock);
    bool held = u9i_zk_standing(c) && c->grant.serial == grant->serial;
    pthread_mutex_unlock(&c->lock);
    return held;
}

void u9_zk_release(u9_zk_claim *c)
{
    if (c == NULL || c->pid != getpid()) return;
    pthread_mutex_lock(&c->lock);
    u9i_zk_void(c);
    pthread_mutex_unlock(&c->lock);
}

void u9_zk_close(u9_zk_claim *c)
{
    if (c == NULL) return;
    if (c->pid != getpid()) {
        /* The locks may be held by threads that do not exist here, and the client's handle would
           end the parent's session: both are left alone. */
        u9i_zk_uid8_end(c);
        free(c);
        return;
    }
    pthread_mutex_lock(&c->lock);
    u9i_zk_void(c);
    c->stop = true;
    pthread_cond_broadcast(&c->turn);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->worker, NULL);
    free_claim(c);
}
