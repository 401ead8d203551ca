/*
 * zk/uid8.c: eight-byte identifiers under a claim.
 *
 * In this order, since each of the others can give one identifier to two processes: have a number,
 * then read the clock (a number may take minutes to come), then make sure that the number was held
 * all the time. Each claim has a generator of its own, which begins behind everything that the
 * handle gave out before: the same number may come back, and the clock may have been set back.
 *
 * A log that has a claim for its source does the same by itself; so while it has the number nobody else makes
 * identifiers here, and each side begins behind what the other gave out.
 */
#include "zk/claim.h"

#include <unistd.h>

void u9i_zk_uid8_end(u9_zk_claim *c)
{
    u9_uid8gen_free(c->gen);
    c->gen = NULL;
}

/* Makes the generator for a new grant. With `uid8_lock` held. */
static u9_err renew(u9_zk_claim *c, const u9_zk_grant *grant, u9_fault *fault)
{
    const u9_uid8gen_options options = {.size = sizeof options,
                                        .layout = c->options.layout,
                                        .mode = c->options.mode,
                                        .generator = grant->generator,
                                        .cluster = grant->cluster,
                                        .seen_ms = c->uid8_seen_ms};
    u9_uid8gen *gen = NULL;
    u9_err err = u9_uid8gen_new(&options, &gen, fault);
    if (err != U9_OK) return err;
    u9i_zk_uid8_end(c);
    c->gen = gen;
    c->uid8_serial = grant->serial;
    return U9_OK;
}

/* An identifier under `grant`, which may be void by now: then it is not to be used. */
static u9_err make(u9_zk_claim *c, const u9_zk_grant *grant, u9_uid8 *out, u9_fault *fault)
{
    u9_err err = U9_OK;
    pthread_mutex_lock(&c->uid8_lock);
    if (c->lent) err = u9i_zk_fault(fault, U9_STATE, 0, c->base, "the claim's number is lent to a log");
    else if (grant->serial > c->uid8_serial) err = renew(c, grant, fault);
    /* Another thread may be ahead of us with a newer claim: what comes out then is not used. */
    if (err == U9_OK && grant->serial == c->uid8_serial) {
        err = u9_uid8gen_next(c->gen, out);
        if (err != U9_OK)
            u9i_zk_fault(fault, err, 0, c->base, "no identifier: %s",
                         err == U9_AGAIN ? "the clock stands still or was set back"
                                         : "the clock is out of range");
        else if (out->timestamp_ms > c->uid8_seen_ms)
            c->uid8_seen_ms = out->timestamp_ms;
    }
    pthread_mutex_unlock(&c->uid8_lock);
    return err;
}

u9_err u9_zk_next(u9_zk_claim *c, u9_uid8 *out, u9_fault *fault)
{
    if (c == NULL || out == NULL)
        return u9i_zk_fault(fault, U9_ARG, 0, NULL, "claim or out is NULL");
    int64_t deadline = u9i_zk_now_ms() + c->options.wait_ms_max;
    do {
        u9_zk_grant grant;
        u9_uid8 id = {0};
        u9_err err = u9_zk_get(c, &grant, fault);
        if (err == U9_OK) err = make(c, &grant, &id, fault);
        if (err != U9_OK) return err;
        if (u9_zk_held(c, &grant)) {
            *out = id;
            return U9_OK;
        }
    } while (u9i_zk_now_ms() < deadline);
    return u9i_zk_fault(fault, U9_AGAIN, 0, c->base, "no claim lasted for one identifier");
}

static bool set_lent(u9_zk_claim *c, bool lent, uint64_t *seen_ms)
{
    pthread_mutex_lock(&c->uid8_lock);
    bool was = c->lent;
    c->lent = lent;
    if (c->uid8_seen_ms < *seen_ms) c->uid8_seen_ms = *seen_ms;
    *seen_ms = c->uid8_seen_ms;
    pthread_mutex_unlock(&c->uid8_lock);
    return was;
}

static u9_err lend(void *claim, u9_grant *out, u9_fault *fault)
{
    u9_zk_claim *c = claim;
    uint64_t seen_ms = 0;
    u9_zk_grant grant;
    if (c->pid != getpid())
        return u9i_zk_fault(fault, U9_STATE, 0, c->base, "the claim belongs to the parent process");
    if (set_lent(c, true, &seen_ms))
        return u9i_zk_fault(fault, U9_STATE, 0, c->base, "the claim's number is lent to another log");
    u9_err err = u9_zk_get(c, &grant, fault);
    if (err == U9_OK)
        *out = (u9_grant){.generator = grant.generator, .cluster = grant.cluster, .seen_ms = seen_ms,
                          .serial = grant.serial};
    else
        (void)set_lent(c, false, &seen_ms);
    return err;
}

static u9_err lend_longer(void *claim, const u9_grant *grant, uint64_t last_ms, u9_fault *fault)
{
    u9_zk_claim *c = claim;
    const u9_zk_grant held = {grant->generator, grant->cluster, grant->serial};
    (void)last_ms;
    if (u9_zk_held(c, &held)) return U9_OK;
    return u9i_zk_fault(fault, U9_AGAIN, 0, c->base, "the claim of number %u is over", (unsigned)grant->generator);
}

static void take_back(void *claim, const u9_grant *grant, uint64_t last_ms)
{
    u9_zk_claim *c = claim;
    (void)grant; /* nobody else could claim under this handle while it was lent */
    u9_zk_release(c);
    (void)set_lent(c, false, &last_ms);
}

u9_generator u9_zk_generator(u9_zk_claim *claim)
{
    return (u9_generator){.size = sizeof(u9_generator), .ctx = claim, .acquire = lend, .renew = lend_longer,
                          .release = take_back};
}
