/*
 * engine/idgen/uid8keys.c: see uid8keys.h.
 *
 * In this order, since each other one can give one key to two writers: have the number, then read the clock,
 * make keys, have it confirmed that the number was held all the while. Each grant has a generator of its own,
 * which begins above the millisecond in which it was acquired: whoever had the number before made no later key.
 */
#include "engine/idgen/uid8keys.h"

#include "engine/idgen/idgen.h"
#include "engine/os/process.h"
#include "format/base/fault.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct u9i_uid8keys {
    u9_generator source; /* acquire NULL: there is none */
    u9_grant given;      /* what the source that is no source gives */
    u9_clock clock;
    unsigned generation; /* of forks: a child has no part in a grant */

    pthread_mutex_t turn; /* held while a grant is asked for */
    pthread_mutex_t lock; /* guards what follows */
    bool held;
    u9_grant grant;
    u9_uid8gen *gen;  /* for it */
    uint64_t last_ms; /* of the newest key under it; 0: none */
    uint64_t used_ms; /* of the newest one that was confirmed */
    uint64_t seen_ms; /* of the newest key that this log has, or ever made */
};

static u9_err acquire_given(void *ctx, u9_grant *out, u9_fault *fault)
{
    (void)fault;
    *out = ((const u9i_uid8keys *)ctx)->given;
    return U9_OK;
}

static u9_err renew_given(void *ctx, const u9_grant *grant, uint64_t last_ms, u9_fault *fault)
{
    (void)ctx, (void)grant, (void)last_ms, (void)fault;
    return U9_OK;
}

static void release_given(void *ctx, const u9_grant *grant, uint64_t last_ms)
{
    (void)ctx, (void)grant, (void)last_ms;
}

static const char *check_number(const u9_grant *grant)
{
    const u9_uid8 like = {.generator = grant->generator, .cluster = grant->cluster};
    uint8_t packed[U9_UID8_SIZE];
    u9_id_reason why = U9_ID_FINE;
    if (u9_uid8_pack(&like, U9_UID8_LAYOUT_MAX, packed, &why) == U9_OK) return NULL;
    return why == U9_UID8_GENERATOR ? "options.generator is above 2047" : "options.cluster is above 15";
}

const char *u9i_uid8keys_wrong(const u9_generator *source, const u9_grant *given)
{
    if (source && given) return "options.numbers is given, and options.generator too";
    if (given) return check_number(given);
    if (!source) return NULL;
    if (source->size != sizeof *source) return "options.numbers->size is not sizeof(u9_generator)";
    bool whole = source->acquire && source->renew && source->release;
    return whole ? NULL : "options.numbers lacks a function";
}

u9_err u9i_uid8keys_new(const u9_generator *source, const u9_grant *given, const u9_clock *clock,
                        uint64_t seen_ms, u9i_uid8keys **out, u9_fault *fault)
{
    assert(u9i_uid8keys_wrong(source, given) == NULL);
    u9i_uid8keys *k = (u9i_uid8keys *)u9i_gen_new(sizeof *k, fault);
    if (!k) return U9_NOMEM;
    if (source) k->source = *source;
    if (given) {
        k->given = *given;
        k->source = (u9_generator){.ctx = k, .acquire = acquire_given, .renew = renew_given,
                                   .release = release_given};
    }
    k->clock = *clock;
    k->generation = u9i_fork_generation();
    k->seen_ms = seen_ms;
    pthread_mutex_init(&k->turn, NULL);
    pthread_mutex_init(&k->lock, NULL);
    *out = k;
    return U9_OK;
}

/* The grant is over. With `lock` held, or alone. */
static void drop(u9i_uid8keys *k)
{
    if (!k->held) return;
    k->held = false;
    u9_uid8gen_free(k->gen);
    k->gen = NULL;
    if (k->generation == u9i_fork_generation()) k->source.release(k->source.ctx, &k->grant, k->used_ms);
}

void u9i_uid8keys_free(u9i_uid8keys *k)
{
    if (!k) return;
    drop(k);
    if (k->generation == u9i_fork_generation()) { /* in a child somebody may hold them forever */
        pthread_mutex_destroy(&k->turn);
        pthread_mutex_destroy(&k->lock);
    }
    free(k);
}

/* What the source says, in its own words if it has any. */
static u9_err tell_source(u9_err err, const u9_fault *why, const char *what, u9_fault *fault)
{
    if (err > U9_OK && err != U9_AGAIN) err = U9_STATE; /* END and ABSENT are no answers */
    if (!why->text[0]) return u9i_fault(fault, err, U9I_AT(.rule = "I-23"), "%s", what);
    if (fault) {
        *fault = *why;
        fault->err = err;
    }
    return err;
}

static void uid8keys_check(const u9i_uid8keys *k)
{
    assert(k->held == (k->gen != NULL) && k->used_ms <= k->last_ms);
    assert(k->last_ms <= k->seen_ms && (!k->held || check_number(&k->grant) == NULL));
}

bool u9i_uid8keys_wants_grant(u9i_uid8keys *k)
{
    pthread_mutex_lock(&k->lock);
    bool wants = !k->held;
    pthread_mutex_unlock(&k->lock);
    return wants;
}

/* With `turn` held, so that `held` stays false and nobody makes keys. */
static u9_err acquire(u9i_uid8keys *k, u9_fault *fault)
{
    u9_fault why = {.segment = U9_NOWHERE, .offset = U9_NOWHERE};
    u9_grant grant = {0};
    u9_uid8gen *gen = NULL;
    u9_err err = k->source.acquire(k->source.ctx, &grant, &why);
    if (err != U9_OK) return tell_source(err, &why, "no generator number is to be had", fault);
    uint64_t seen_ms = u9i_clock_us(&k->clock) / 1000;
    if (seen_ms < grant.seen_ms) seen_ms = grant.seen_ms;
    if (seen_ms < k->seen_ms) seen_ms = k->seen_ms;
    const u9_uid8gen_options options = {.size = sizeof options, .clock = &k->clock, .seen_ms = seen_ms,
                                        .generator = grant.generator, .cluster = grant.cluster};
    err = u9_uid8gen_new(&options, &gen, fault);
    if (err != U9_OK) {
        k->source.release(k->source.ctx, &grant, 0);
        return err;
    }
    pthread_mutex_lock(&k->lock);
    k->grant = grant;
    k->gen = gen;
    k->last_ms = k->used_ms = 0;
    k->held = true;
    uid8keys_check(k);
    pthread_mutex_unlock(&k->lock);
    return U9_OK;
}

u9_err u9i_uid8keys_ready(u9i_uid8keys *k, const char *path, u9_fault *fault)
{
    if (!k->source.acquire)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = path, .rule = "I-23"),
                         "keys of kind 'uid8' are made under a generator number, and there is none: give "
                         "options.numbers (a lock file or ZooKeeper, u9/generator.h), options.generator "
                         "with generator_given, or the keys");
    pthread_mutex_lock(&k->turn);
    u9_err err = u9i_uid8keys_wants_grant(k) ? acquire(k, fault) : U9_OK;
    pthread_mutex_unlock(&k->turn);
    return err;
}

u9_err u9i_uid8keys_next(u9i_uid8keys *k, u9_uid8 *out)
{
    pthread_mutex_lock(&k->lock);
    u9_err err = k->held ? u9_uid8gen_next(k->gen, out) : U9_AGAIN;
    if (err == U9_OK) {
        k->last_ms = out->timestamp_ms;
        if (k->seen_ms < k->last_ms) k->seen_ms = k->last_ms;
        uid8keys_check(k);
    }
    pthread_mutex_unlock(&k->lock);
    return err;
}

u9_err u9i_uid8keys_confirm(u9i_uid8keys *k, u9_fault *fault)
{
    u9_fault why = {.segment = U9_NOWHERE, .offset = U9_NOWHERE};
    pthread_mutex_lock(&k->lock);
    u9_err err = k->held ? k->source.renew(k->source.ctx, &k->grant, k->last_ms, &why) : U9_AGAIN;
    if (err == U9_OK) k->used_ms = k->last_ms;
    else drop(k);
    uid8keys_check(k);
    pthread_mutex_unlock(&k->lock);
    return err == U9_OK ? err : tell_source(err, &why, "the generator number was lost", fault);
}
