/*
 * rados/lease.c: one writer: a lock that expires, an epoch that every write proves, and taking over from a writer that
 * is gone. [RD-5] to [RD-8]
 *
 *     lock (expires) -> epoch + 1, owner -> each open file of the writer before: every object gets the epoch,
 *     U9R_WINDOW behind its end are made with it -> its size is settled -> the log is opened and recovered as any
 *
 * The lock decides who may try; the epoch decides whose writes count, and that is compared by the OSD that does them. So
 * it does not matter how late the one finds out that the other has taken over, nor whether their clocks agree.
 */
#include "rados/rados.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char lock_name[] = "u9";

enum { LOOK_US = 200000, TRIES = 100 };

void u9r_epoch_text(uint64_t epoch, char out[U9R_EPOCH + 1])
{
    snprintf(out, U9R_EPOCH + 1, "%016llx", (unsigned long long)epoch);
}

/* Goes on while the machine sleeps. */
uint64_t u9r_boot_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void lease_check(const u9r_dir *d)
{
    assert(d->oid[0] != 0 && (!d->locked || (d->epoch != 0 && d->cookie[0] != 0)));
}

static int get_text(u9r_env *e, const char *oid, const char *name, char *out, size_t size)
{
    int n = rados_getxattr(e->io, oid, name, out, size - 1);
    if (n == -ENODATA) n = 0;
    if (n < 0) return n;
    out[n] = 0;
    return 0;
}

static int get_epoch(u9r_dir *d, uint64_t *out)
{
    char text[U9R_EPOCH + 1] = "";
    int err = get_text(u9r_env_of_dir(d), d->oid, "epoch", text, sizeof text);
    if (err == 0) *out = strtoull(text, NULL, 16);
    return err;
}

int u9r_lease_lost(u9r_dir *d, const char *object)
{
    char owner[U9R_OWNER] = "";
    u9r_env *e = u9r_env_of_dir(d);
    d->lost = true;
    if (get_text(e, d->oid, "owner", owner, sizeof owner) != 0 || owner[0] == 0 || strcmp(owner, d->owner) == 0)
        snprintf(owner, sizeof owner, "another writer");
    return u9r_fenced(e, object, owner);
}

int u9r_lease_prove(u9r_dir *d)
{
    uint64_t now = 0;
    if (d->epoch == 0) return 0;
    if (d->lost) return u9r_lease_lost(d, d->oid);
    int err = get_epoch(d, &now);
    if (err == 0 && now != d->epoch) return u9r_lease_lost(d, d->oid);
    return err == 0 ? 0 : u9r_fail(u9r_env_of_dir(d), d->oid, err == -ENOENT ? -ESTALE : err, "asking who has the log");
}

bool u9r_lease_is_sure(const u9r_dir *d)
{
    return d->epoch == 0 || (!d->lost && u9r_boot_us() < d->until_us);
}

uint64_t u9r_lease_epoch(u9r_dir *d)
{
    uint64_t epoch = d->epoch;
    if (epoch == 0) (void)get_epoch(d, &epoch);
    return epoch;
}

/* The lock */

int u9r_lock(u9r_env *e, const char *oid, const char *name, const char *cookie, const char *owner, uint8_t flags)
{
    struct timeval lasts = {e->lease_ms / 1000, e->lease_ms % 1000 * 1000};
    return rados_lock_exclusive(e->io, oid, name, cookie, owner, &lasts, flags);
}

/* `until`: nobody else can have the lock before, by the boot clock. */
static int try_lock(u9r_dir *d, uint8_t flags, uint64_t *until)
{
    u9r_env *e = u9r_env_of_dir(d);
    uint64_t sent = u9r_boot_us();
    int err = u9r_lock(e, d->oid, lock_name, d->cookie, d->owner, flags);
    *until = sent + (uint64_t)e->lease_ms * 1000;
    if (err == 0) e->silent = false;
    return err;
}

void u9r_name_owner(u9r_env *e, char owner[U9R_OWNER], char cookie[U9R_COOKIE])
{
    char host[64] = "?";
    struct tm utc;
    time_t now = time(NULL);
    (void)gethostname(host, sizeof host - 1);
    gmtime_r(&now, &utc);
    snprintf(owner, U9R_OWNER, "process %ld on %s, since %04d-%02d-%02dT%02d:%02d:%02dZ,", (long)getpid(), host,
             utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
    snprintf(cookie, U9R_COOKIE, "%016llx", (unsigned long long)u9r_random(e));
}

/* What is done beside a lease: waiting, renewing, being told that it ends */

void u9r_init_wait(pthread_mutex_t *lock, pthread_cond_t *told)
{
    pthread_condattr_t attr;
    pthread_mutex_init(lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(told, &attr);
    pthread_condattr_destroy(&attr);
}

bool u9r_wait_to_renew(pthread_mutex_t *lock, pthread_cond_t *told, const bool *ending, uint64_t us)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    uint64_t due = (uint64_t)at.tv_sec * 1000000 + (uint64_t)at.tv_nsec / 1000 + us;
    at = (struct timespec){.tv_sec = (time_t)(due / 1000000), .tv_nsec = (long)(due % 1000000 * 1000)};
    pthread_mutex_lock(lock);
    while (!*ending && pthread_cond_timedwait(told, lock, &at) == 0) continue;
    bool go_on = !*ending;
    pthread_mutex_unlock(lock);
    return go_on;
}

void u9r_end_wait(pthread_mutex_t *lock, pthread_cond_t *told, bool *ending)
{
    pthread_mutex_lock(lock);
    *ending = true;
    pthread_cond_broadcast(told);
    pthread_mutex_unlock(lock);
}

int u9r_begin_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -err;
}

/*
 * A lease that ran out while nobody wanted it is taken anew: the epoch tells that nobody did. Ends when somebody has the
 * log, or it is given back; other failures are tried again: writes prove the epoch meanwhile (u9r_lease_prove).
 */
static void *renew(void *arg)
{
    u9r_dir *d = arg;
    uint64_t each = (uint64_t)u9r_env_of_dir(d)->lease_ms * 1000 / 3;
    bool anew = false; /* it was taken so, and the epoch has not been seen since */
    while (!d->lost && u9r_wait_to_renew(&d->lock, &d->told, &d->ending, each)) {
        uint64_t until, epoch = d->epoch;
        int err = try_lock(d, LIBRADOS_LOCK_FLAG_MUST_RENEW, &until);
        if (err == -ENOENT) {
            anew = true;
            err = try_lock(d, 0, &until);
        }
        if (err == 0 && anew) {
            err = get_epoch(d, &epoch);
            anew = err != 0;
        }
        if (err == -EBUSY || epoch != d->epoch) d->lost = true;
        else if (err == 0) d->until_us = until;
    }
    return NULL;
}

/* Taking over */

static int raise_epoch(u9r_dir *d)
{
    char before[U9R_EPOCH + 1], after[U9R_EPOCH + 1];
    uint64_t epoch = 0;
    int err = get_epoch(d, &epoch);
    if (err != 0) return err;
    u9r_epoch_text(epoch, before);
    u9r_epoch_text(epoch + 1, after);
    rados_write_op_t op = rados_create_write_op();
    rados_write_op_assert_exists(op);
    rados_write_op_cmpxattr(op, "epoch", LIBRADOS_CMPXATTR_OP_EQ, before, U9R_EPOCH);
    rados_write_op_setxattr(op, "epoch", after, U9R_EPOCH);
    rados_write_op_setxattr(op, "owner", d->owner, strlen(d->owner));
    err = rados_write_op_operate(op, u9r_env_of_dir(d)->io, d->oid, NULL, LIBRADOS_OPERATION_FULL_TRY);
    rados_release_write_op(op);
    if (err == 0) d->epoch = epoch + 1;
    return err == -ECANCELED ? -EWOULDBLOCK : err; /* somebody was faster: this lock was lost meanwhile */
}

/* A file that a writer before left open: its objects get the epoch, then it has the size that it has. */
static int settle_one(void *ctx, const char *name, const u9r_entry *entry)
{
    u9r_dir *d = ctx;
    if (entry->kind != 'f' || !entry->open || entry->epoch == 0) return 0;
    u9r_entry settled = *entry;
    int err = u9r_fence(d, entry->inode, &settled.size, &settled.objects);
    settled.open = false;
    settled.epoch = d->epoch;
    return err ? err : u9r_dir_put(d, name, entry, &settled, "settling a file");
}

static int take_over(u9r_dir *d)
{
    int err = raise_epoch(d);
    d->locked = err == 0; /* its changes prove the new epoch from here on */
    if (err == 0) err = u9r_entries(u9r_env_of_dir(d), d->oid, false, settle_one, d);
    if (err == 0) u9r_dir_sweep(d, false);
    return err == -ECANCELED ? -EWOULDBLOCK : err;
}

static int lock_within(u9r_dir *d)
{
    u9r_env *e = u9r_env_of_dir(d);
    uint64_t begin = u9r_boot_us();
    uint64_t until;
    int err;
    while ((err = try_lock(d, 0, &until)) == -EBUSY && u9r_boot_us() - begin < (uint64_t)e->wait_ms * 1000)
        u9i_sleep_us(&e->env, LOOK_US);
    if (err == -EBUSY || err == -EEXIST) return -EWOULDBLOCK;
    if (err == 0) d->until_us = until;
    return u9r_fail(e, d->oid, err, "locking the log");
}

int u9r_lease_take(u9i_dir *dir)
{
    u9r_dir *d = u9r_dir_of(dir);
    u9r_env *e = u9r_env_of_dir(d);
    if (d->locked) return 0;
    u9r_name_owner(e, d->owner, d->cookie);
    d->lost = false;
    int err = lock_within(d);
    if (err != 0) return err;
    d->ending = false;
    err = u9r_begin_thread(&d->renewer, renew, d);
    if (err == 0) {
        d->epoch = 0;
        err = take_over(d);
        if (err != 0) {
            d->locked = true; /* so that all is given back */
            u9r_lease_end(d);
        }
    } else {
        (void)rados_unlock(e->io, d->oid, lock_name, d->cookie);
    }
    lease_check(d);
    return u9r_fail(e, d->oid, err, "taking the log over");
}

void u9r_lease_end(u9r_dir *d)
{
    if (!d->locked) return;
    u9r_end_wait(&d->lock, &d->told, &d->ending);
    pthread_join(d->renewer, NULL);
    d->locked = false;
    d->epoch = 0;
    u9r_env *e = u9r_env_of_dir(d);
    if (!d->lost && !e->silent) (void)rados_unlock(e->io, d->oid, lock_name, d->cookie);
}

bool u9r_lease_held_by_other(u9i_dir *dir, const char *name)
{
    u9r_dir *d = u9r_dir_of(dir);
    int exclusive = 0;
    char tag[8], clients[512], cookies[256], addresses[512];
    size_t tags = sizeof tag, client_size = sizeof clients, cookie_size = sizeof cookies, address_size = sizeof addresses;
    (void)name;
    if (d->locked) return d->lost;
    ssize_t n = rados_list_lockers(u9r_env_of_dir(d)->io, d->oid, lock_name, &exclusive, tag, &tags, clients, &client_size,
                                   cookies, &cookie_size, addresses, &address_size);
    return n > 0;
}

/* Files that are locked by who has not the log: an index that is made, segments that are copied */

struct u9r_hold {
    u9r_dir *dir;
    char name[U9R_OID_MAX], cookie[U9R_COOKIE], owner[U9R_OWNER];
    pthread_t renewer;
    pthread_mutex_t lock; /* of the wait between renewals */
    pthread_cond_t told;
    bool ending;
};

static int try_hold(u9r_hold *h, uint8_t flags)
{
    return u9r_lock(u9r_env_of_dir(h->dir), h->dir->oid, h->name, h->cookie, h->owner, flags);
}

static void *renew_hold(void *arg)
{
    u9r_hold *h = arg;
    uint64_t each = (uint64_t)u9r_env_of_dir(h->dir)->lease_ms * 1000 / 3;
    while (u9r_wait_to_renew(&h->lock, &h->told, &h->ending, each))
        if (try_hold(h, LIBRADOS_LOCK_FLAG_MUST_RENEW) == -ENOENT) (void)try_hold(h, 0);
    return NULL;
}

static int hold_within(u9r_hold *h)
{
    u9r_env *e = u9r_env_of_dir(h->dir);
    uint64_t begin = u9r_boot_us();
    int err;
    while ((err = try_hold(h, 0)) == -EBUSY && u9r_boot_us() - begin < (uint64_t)e->wait_ms * 1000) u9i_sleep_us(&e->env, LOOK_US);
    return err == -EBUSY ? -EWOULDBLOCK : u9r_fail(e, h->dir->oid, err, "locking a file");
}

int u9r_hold_take(u9r_dir *d, uint64_t inode, u9r_hold **out)
{
    u9r_env *e = u9r_env_of_dir(d);
    u9r_hold *h = calloc(1, sizeof *h);
    if (h == NULL) return -ENOMEM;
    h->dir = d;
    snprintf(h->name, sizeof h->name, "f.%016llx", (unsigned long long)inode);
    u9r_name_owner(e, h->owner, h->cookie);
    u9r_init_wait(&h->lock, &h->told);
    int err = hold_within(h);
    if (err == 0 && (err = u9r_begin_thread(&h->renewer, renew_hold, h)) != 0)
        (void)rados_unlock(e->io, d->oid, h->name, h->cookie);
    if (err == 0) {
        *out = h;
        return 0;
    }
    pthread_cond_destroy(&h->told);
    pthread_mutex_destroy(&h->lock);
    free(h);
    return err;
}

void u9r_hold_end(u9r_hold *h)
{
    u9r_env *e = u9r_env_of_dir(h->dir);
    u9r_end_wait(&h->lock, &h->told, &h->ending);
    pthread_join(h->renewer, NULL);
    if (!e->silent) (void)rados_unlock(e->io, h->dir->oid, h->name, h->cookie); /* [RD-3] */
    pthread_cond_destroy(&h->told);
    pthread_mutex_destroy(&h->lock);
    free(h);
}
