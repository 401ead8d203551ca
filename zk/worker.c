/*
 * zk/worker.c: the thread that does all the work: it keeps the session, claims, proves, gives back.
 *
 * A loop that looks at the state of the handle, picks the first thing that is to be done now, does
 * it without the lock, and looks again. While it waits in the queue it does not come back here, but
 * u9i_zk_await gives back meanwhile what falls due; there is no claim to prove then. On stop it
 * stays until everything that is ours has been given back, but not longer than the connection.
 */
#include "zk/claim.h"

#include <stdio.h>
#include <string.h>

enum { CLOSE_MS = 5000 }; /* how long stop may take beyond give_back_ms */

typedef enum task { REST, BEGIN, SWEEP, PROVE, CLAIM, LEAVE } task;

/* A proof a lease's third old is renewed. */
static int64_t proof_due(const u9_zk_claim *c)
{
    return c->proven_ms + c->session_ms / 8;
}

static void sooner(int64_t *due_ms, int64_t ms)
{
    if (ms < *due_ms) *due_ms = ms;
}

static bool wants_number(const u9_zk_claim *c)
{
    return !c->stop && !c->held && c->waiters > 0 && c->asked > c->answered &&
           c->own_count + U9I_ZK_OWN_ATTEMPT <= U9I_ZK_OWN_MAX;
}

/* What to do now, or until when to rest. With `lock` held. */
static task next_task(u9_zk_claim *c, int64_t stop_due_ms, int64_t *due_ms)
{
    int64_t now = u9i_zk_now_ms();
    *due_ms = U9I_ZK_NEVER;
    if (c->held && !u9i_zk_standing(c)) u9i_zk_void(c);
    if (c->stop) {
        if (c->own_count == 0 || !c->connected || now >= stop_due_ms) return LEAVE;
        sooner(due_ms, stop_due_ms);
    }
    if (now < c->pause_until_ms) {
        sooner(due_ms, c->pause_until_ms);
        return REST;
    }
    if (c->zk == NULL || c->expired) return BEGIN;
    if (!c->connected) return REST;
    if (u9i_zk_own_due(c) <= now) return SWEEP;
    if (c->held && proof_due(c) <= now) return PROVE;
    if (wants_number(c)) return CLAIM;
    sooner(due_ms, u9i_zk_own_due(c));
    if (c->held) {
        sooner(due_ms, proof_due(c));
        sooner(due_ms, c->held_until_ms);
    }
    return REST;
}

static u9i_zk_result prove(u9_zk_claim *c)
{
    int64_t before = u9i_zk_now_ms();
    u9i_zk_result result = u9i_zk_judge(c, u9i_zk_barrier(c), "confirm the session", c->base);
    pthread_mutex_lock(&c->lock);
    if (result == U9I_ZK_DONE)
        c->proven_ms = before;
    else if (result == U9I_ZK_REFUSED)
        u9i_zk_void(c); /* then better none */
    pthread_mutex_unlock(&c->lock);
    return result;
}

/* The node of `number` is ours: watches it, and lets the claim begin. */
static u9i_zk_result begin_claim(u9_zk_claim *c, uint32_t number, int64_t proven_ms)
{
    char name[16], data[1];
    int size = sizeof data;
    snprintf(name, sizeof name, "%u", number);
    pthread_mutex_lock(&c->lock);
    (void)u9i_zk_path(c, "pool", name, c->node);
    c->gone = false;
    pthread_mutex_unlock(&c->lock);
    int rc = zoo_wget(c->zk, c->node, u9i_zk_on_node, c, data, &size, NULL);
    u9i_zk_result result = u9i_zk_judge(c, rc, "watch a number", c->node);
    if (result == U9I_ZK_DONE) result = u9i_zk_going(c);
    if (result == U9I_ZK_BROKEN) return result;
    pthread_mutex_lock(&c->lock);
    if (!c->gone && c->breaks == c->attempt_breaks && result == U9I_ZK_DONE) {
        c->held = true;
        c->grant = (u9_zk_grant){number, (uint32_t)c->cluster, c->grant.serial + 1};
        c->session_ms = zoo_recv_timeout(c->zk);
        c->proven_ms = proven_ms;
        c->held_until_ms = u9i_zk_now_ms() + c->options.hold_ms;
        pthread_cond_broadcast(&c->turn);
    }
    pthread_mutex_unlock(&c->lock);
    return result;
}

/* Steps 1 to 6. Whatever comes of it, nothing of ours stays that we do not know of. */
static u9i_zk_result claim_number(u9_zk_claim *c)
{
    uint32_t number = 0;
    int64_t proven_ms = 0;
    pthread_mutex_lock(&c->lock);
    uint64_t serving = c->asked;
    c->attempt_breaks = c->breaks;
    c->waits_for = "an answer";
    pthread_mutex_unlock(&c->lock);
    u9i_zk_result result = u9i_zk_tree(c);
    if (result == U9I_ZK_DONE) result = u9i_zk_queue(c);
    if (result == U9I_ZK_DONE) result = u9i_zk_pool(c, &number, &proven_ms);
    if (result == U9I_ZK_DONE) result = begin_claim(c, number, proven_ms);
    pthread_mutex_lock(&c->lock);
    if (!c->held) u9i_zk_own_end(c);
    if (result == U9I_ZK_REFUSED) c->answered = serving;
    pthread_cond_broadcast(&c->turn);
    pthread_mutex_unlock(&c->lock);
    return result;
}

static void work(u9_zk_claim *c, task what)
{
    u9i_zk_result result = U9I_ZK_DONE;
    switch (what) {
    case BEGIN: u9i_zk_session_begin(c); break;
    case SWEEP: result = u9i_zk_sweep(c); break;
    case PROVE: result = prove(c); break;
    case CLAIM: result = claim_number(c); break;
    case REST:
    case LEAVE: break;
    }
    if (result == U9I_ZK_BROKEN) c->pause_until_ms = u9i_zk_now_ms() + U9I_ZK_PAUSE_MS;
}

void *u9i_zk_work(void *claim)
{
    u9_zk_claim *c = claim;
    int64_t stop_due_ms = U9I_ZK_NEVER, due_ms;
    task what = REST;
    while (what != LEAVE) {
        pthread_mutex_lock(&c->lock);
        if (c->stop && stop_due_ms == U9I_ZK_NEVER)
            stop_due_ms = u9i_zk_now_ms() + c->options.give_back_ms + CLOSE_MS;
        what = next_task(c, stop_due_ms, &due_ms);
        if (what == REST) u9i_zk_sleep(c, due_ms);
        pthread_mutex_unlock(&c->lock);
        work(c, what);
    }
    u9i_zk_session_end(c);
    return NULL;
}
