/*
 * rados/numbers.c: generator numbers for eight-byte identifiers, lent by a cluster. [RD-10] [RD-11] [I-23]
 *
 *     lock (made with its object; expires) -> `holder` is our cookie -> `bound` is read, and raised
 *     each third of the lease: the lock is renewed, and the bound raised to a lease ahead of the clock
 *
 * An identifier is used only below the bound that was acknowledged, and the bound is raised only by who is the holder;
 * who claims the number next is the holder before it reads the bound, and begins above it. So no two make one identifier,
 * whatever becomes of the lock and however late one of them finds out. The lock decides who may try, and by its time a
 * holder stops before anybody else can have the number.
 */
#include "rados/rados.h"

#include <u9/rados.h>

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBERS = 2048, CLUSTERS = 16, NAME_MAX_SIZE = 36, LOOK_US = 200000 };

static const char lock_name[] = "u9", holder_name[] = "holder", bound_name[] = "bound";

struct u9_rados_numbers {
    u9r_env *env;
    uint32_t cluster, first, count;
    char name[NAME_MAX_SIZE + 1];
};

/* A number that is held. */
typedef struct claim {
    const u9_rados_numbers *source;
    char oid[U9R_OID_MAX], cookie[U9R_COOKIE], owner[U9R_OWNER];
    uint64_t began_ms; /* the bound as it was found */
    unsigned generation;
    pthread_t renewer;
    pthread_mutex_t raising; /* one at a time, so that a bound never goes back */
    pthread_mutex_t lock; /* of the wait between renewals */
    pthread_cond_t told;
    bool ending;
    atomic_bool lost;          /* somebody else is the holder */
    _Atomic uint64_t until_us; /* of the boot clock: nobody else can have the lock before */
    _Atomic uint64_t bound_ms; /* that was acknowledged */
} claim;

static void claim_check(const claim *c)
{
    assert(c->source != NULL && c->oid[0] != 0 && c->cookie[0] != 0 && c->bound_ms >= c->began_ms);
}

static rados_ioctx_t io_of(const claim *c)
{
    return c->source->env->io;
}

static u9_err refuse(const u9_rados_numbers *n, u9_err err, int sys, u9_fault *fault, const char *what)
{
    char more[200] = "";
    if (fault == NULL) return err;
    *fault = (u9_fault){.err = err, .sys = sys, .segment = U9_NOWHERE, .offset = U9_NOWHERE, .rule = "I-23"};
    if (sys != 0) u9r_explain(sys, more, sizeof more);
    if (n) snprintf(fault->path, sizeof fault->path, "rados:%.100s/%.100s", n->env->pool, n->name);
    snprintf(fault->text, sizeof fault->text, "%.80s%.170s", what, more);
    return err;
}

/* The attribute as a number; 0: it has none. */
static int get_bound(const claim *c, uint64_t *out)
{
    char text[U9R_EPOCH + 1] = "";
    int n = rados_getxattr(io_of(c), c->oid, bound_name, text, U9R_EPOCH);
    *out = n > 0 ? strtoull(text, NULL, 16) : 0;
    return n == -ENODATA || n > 0 ? 0 : n;
}

/* By the holder alone: -ECANCELED says that it is another. */
static int set_bound(claim *c, uint64_t ms)
{
    char text[U9R_EPOCH + 1];
    u9r_epoch_text(ms, text);
    rados_write_op_t op = rados_create_write_op();
    rados_write_op_assert_exists(op);
    rados_write_op_cmpxattr(op, holder_name, LIBRADOS_CMPXATTR_OP_EQ, c->cookie, strlen(c->cookie));
    rados_write_op_setxattr(op, bound_name, text, U9R_EPOCH);
    int err = rados_write_op_operate(op, io_of(c), c->oid, NULL, LIBRADOS_OPERATION_FULL_TRY);
    rados_release_write_op(op);
    if (err == -ECANCELED) c->lost = true;
    return u9r_fail(c->source->env, c->oid, err, "raising a bound");
}

static int raise_bound(claim *c, uint64_t above_ms)
{
    u9r_env *e = c->source->env;
    uint64_t to = u9i_wall_us(&e->env) / 1000;
    if (to < above_ms) to = above_ms;
    to += e->lease_ms;
    pthread_mutex_lock(&c->raising);
    int err = to <= c->bound_ms ? 0 : set_bound(c, to);
    if (err == 0 && to > c->bound_ms) c->bound_ms = to;
    pthread_mutex_unlock(&c->raising);
    return err;
}

/* A tenth of the lease is left for clocks that do not run equally fast. */
static int lock_number(claim *c, uint8_t flags, uint64_t *until)
{
    u9r_env *e = c->source->env;
    uint64_t sent = u9r_boot_us();
    int err = u9r_lock(e, c->oid, lock_name, c->cookie, c->owner, flags);
    *until = sent + (uint64_t)e->lease_ms * 900;
    if (err == 0) e->silent = false;
    return err;
}

/*
 * Once a third of the lease. One that ran out is taken anew, where nobody did meanwhile: the bound is only raised while
 * we are the holder. Other failures are tried again: by the clock the claim is over in time.
 */
static void renew_once(claim *c)
{
    uint64_t until;
    int err = lock_number(c, LIBRADOS_LOCK_FLAG_MUST_RENEW, &until);
    if (err == -ENOENT) err = lock_number(c, 0, &until);
    if (err == -EBUSY) c->lost = true;
    if (err == 0) err = raise_bound(c, 0);
    if (err == 0) c->until_us = until;
    claim_check(c);
}

static void *renew_claim(void *arg)
{
    claim *c = arg;
    uint64_t each_us = (uint64_t)c->source->env->lease_ms * 1000 / 3;
    while (!c->lost && u9r_wait_to_renew(&c->lock, &c->told, &c->ending, each_us)) renew_once(c);
    return NULL;
}

/* Of an object whose lock we have: the holder first, then the bound. */
static int begin_claim(claim *c)
{
    u9r_env *e = c->source->env;
    int err = rados_setxattr(io_of(c), c->oid, holder_name, c->cookie, strlen(c->cookie));
    if (err == 0) err = get_bound(c, &c->began_ms);
    c->bound_ms = c->began_ms;
    if (err == 0) err = raise_bound(c, c->began_ms);
    if (err == 0) err = u9r_begin_thread(&c->renewer, renew_claim, c);
    if (err != 0) (void)rados_unlock(e->io, c->oid, lock_name, c->cookie);
    return u9r_fail(e, c->oid, err, "claiming a number");
}

static void free_claim(claim *c)
{
    pthread_cond_destroy(&c->told);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->raising);
    free(c);
}

static claim *new_claim(const u9_rados_numbers *n)
{
    claim *c = calloc(1, sizeof *c);
    if (c == NULL) return NULL;
    c->source = n;
    c->generation = u9r_host->forks();
    pthread_mutex_init(&c->raising, NULL);
    u9r_init_wait(&c->lock, &c->told);
    u9r_name_owner(n->env, c->owner, c->cookie);
    return c;
}

/* Goes through all numbers once, from one drawn on, so that those who begin together meet seldom. -EBUSY: all are had. */
static int claim_any(claim *c, uint32_t *number)
{
    const u9_rados_numbers *n = c->source;
    uint32_t begin = (uint32_t)(u9r_random(n->env) % n->count);
    int err = -EBUSY;
    for (uint32_t i = 0; i < n->count && err == -EBUSY; i++) {
        uint64_t until;
        *number = n->first + (begin + i) % n->count;
        snprintf(c->oid, sizeof c->oid, "n.%s.%02u.%04u", n->name, (unsigned)n->cluster, (unsigned)*number);
        err = lock_number(c, 0, &until);
        c->until_us = until;
    }
    if (err == -EBUSY) return err;
    return err ? u9r_fail(n->env, c->oid, err, "locking a number") : begin_claim(c);
}

static u9_err acquire_number(void *ctx, u9_grant *out, u9_fault *fault)
{
    const u9_rados_numbers *n = ctx;
    u9r_env *e = n->env;
    uint64_t begin = u9r_boot_us();
    uint32_t number = 0;
    claim *c = new_claim(n);
    if (c == NULL) return refuse(n, U9_NOMEM, ENOMEM, fault, "no memory for a claim");
    int err = u9r_connect(e);
    bool is_user = err == 0;
    while (err == 0 && (err = claim_any(c, &number)) == -EBUSY && u9r_boot_us() - begin < (uint64_t)e->wait_ms * 1000) {
        u9i_sleep_us(&e->env, LOOK_US);
        err = 0;
    }
    if (err != 0) {
        free_claim(c);
        if (is_user) u9r_leave(e);
        if (err == -EBUSY) return refuse(n, U9_AGAIN, 0, fault, "all generator numbers of this range are in use");
        return refuse(n, err == -ENOMEM ? U9_NOMEM : U9_IO, -err, fault, "no generator number can be claimed");
    }
    claim_check(c);
    *out = (u9_grant){.generator = number, .cluster = n->cluster, .seen_ms = c->began_ms,
                      .serial = (uint64_t)(uintptr_t)c};
    return U9_OK;
}

static u9_err renew_number(void *ctx, const u9_grant *grant, uint64_t last_ms, u9_fault *fault)
{
    claim *c = (claim *)(uintptr_t)grant->serial;
    /* Far ahead of the clock, as when that was set back: the bound has to follow at once. */
    int err = !c->lost && last_ms > c->bound_ms ? raise_bound(c, last_ms) : 0;
    if (c->lost || u9r_boot_us() >= c->until_us)
        return refuse(ctx, U9_AGAIN, 0, fault, "the lease of the generator number is over");
    return err ? refuse(ctx, U9_IO, -err, fault, "the bound of a generator number cannot be raised") : U9_OK;
}

/* The next one begins behind what was used. What fails here costs it the time that the bound is ahead of the clock. */
static void release_number(void *ctx, const u9_grant *grant, uint64_t last_ms)
{
    claim *c = (claim *)(uintptr_t)grant->serial;
    (void)ctx;
    if (c->generation != u9r_host->forks()) return;
    u9r_end_wait(&c->lock, &c->told, &c->ending);
    pthread_join(c->renewer, NULL);
    bool heard = !c->source->env->silent; /* [RD-3] */
    bool sure = heard && !c->lost && u9r_boot_us() < c->until_us; /* else it is long another's, or will be */
    if (sure) (void)set_bound(c, last_ms > c->began_ms ? last_ms : c->began_ms);
    if (sure) (void)rados_unlock(io_of(c), c->oid, lock_name, c->cookie);
    u9r_leave(c->source->env);
    free_claim(c);
}

static const char *check_options(const u9_rados_numbers_options *o)
{
    if (o->size != sizeof *o) return "options.size is not sizeof(u9_rados_numbers_options)";
    if (o->cluster >= CLUSTERS) return "options.cluster is above 15";
    if (o->first >= NUMBERS || o->count > NUMBERS - o->first) return "options.first and count pass 2047";
    return NULL;
}

/* "rados:POOL/A/B" is A/B. False: it is empty, or longer than the name of an object has room for. */
static bool take_name(const u9r_env *e, const char *path, char out[NAME_MAX_SIZE + 1])
{
    const char *in;
    if (u9r_path_in(e, path, &in) != 0) return false;
    while (*in == '/') in++;
    size_t n = strlen(in);
    while (n > 0 && in[n - 1] == '/') n--;
    if (n == 0 || n > NAME_MAX_SIZE) return false;
    memcpy(out, in, n);
    out[n] = 0;
    return true;
}

u9_err u9_rados_numbers_new(const char *address, const u9_rados_numbers_options *options, u9_rados_numbers **out,
                            u9_fault *fault)
{
    static const u9_rados_numbers_options none = {.size = sizeof none};
    u9i_env *env;
    char why[160] = "";
    const char *rest, *wrong = check_options(options ? options : &none);
    if (u9r_host == NULL) return refuse(NULL, U9_STATE, 0, fault, "u9_store_add(u9_rados_store) comes first");
    if (address == NULL || strncmp(address, "rados:", 6) != 0) wrong = "an address is rados:POOL/NAME";
    if (wrong) return refuse(NULL, U9_ARG, 0, fault, wrong);
    if (!u9r_find(address, &env, &rest, why, sizeof why))
        return why[0] ? refuse(NULL, U9_ARG, 0, fault, why) : refuse(NULL, U9_NOMEM, ENOMEM, fault, "no memory for an address");
    const u9_rados_numbers_options *o = options ? options : &none;
    u9_rados_numbers *n = calloc(1, sizeof *n);
    if (n == NULL) return refuse(NULL, U9_NOMEM, ENOMEM, fault, "no memory for a source");
    *n = (u9_rados_numbers){.env = u9r_env_of(env), .cluster = o->cluster, .first = o->first,
                            .count = o->count ? o->count : NUMBERS - o->first};
    if (!take_name(n->env, rest, n->name)) {
        free(n);
        return refuse(NULL, U9_ARG, 0, fault, "the NAME of rados:POOL/NAME has 1 to 36 characters here");
    }
    *out = n;
    return U9_OK;
}

void u9_rados_numbers_free(u9_rados_numbers *numbers)
{
    free(numbers);
}

u9_generator u9_rados_numbers_generator(u9_rados_numbers *numbers)
{
    return (u9_generator){.size = sizeof(u9_generator), .ctx = numbers, .acquire = acquire_number,
                          .renew = renew_number, .release = release_number};
}
