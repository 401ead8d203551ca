/*
 * s3/ahead.c: what is about to be read is asked for, and nobody waits. [TR-9]
 *
 * Pieces of objects are on their way into the cache, PIECES of a directory at most. One thread a directory has them under
 * way; it begins with the first piece, and is over when the directory is closed. Who wants a block of such a piece waits for
 * it, and then looks into the cache: where it is not there, since the request failed, he asks by himself, and is told what
 * fails by that. So nothing that fails here is told, nor tried again, and for a while nothing is asked for ahead.
 */
#include "s3/s3.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 16, QUIET_US = 1000000 };

typedef struct piece {
    enum { FREE, WANTED, UNDER_WAY, DROPPED } state; /* dropped: it is still under way */
    const u9s_file *by; /* who asked for it; only compared */
    u9s_file file;      /* of what: key and entry */
    u9s_request request;
} piece;

typedef struct u9s_ahead {
    pthread_t thread;
    u9s_transfers *transfers; /* of the thread, but to wake it */
    pthread_mutex_t lock;     /* of what follows; in a request that is under way it is the thread's */
    pthread_cond_t told;      /* a piece is over */
    pthread_cond_t wanted;    /* there is one to be begun, or to be ended */
    bool ending;
    uint64_t quiet_until_us;
    piece pieces[PIECES];
} u9s_ahead;

static void end_piece(u9s_ahead *a, piece *p)
{
    u9s_request_free(&p->request);
    p->state = FREE;
    pthread_cond_broadcast(&a->told);
}

/* Begins and ends what is to be. How many are under way. The lock is held. */
static unsigned bring_about(u9s_ahead *a)
{
    unsigned under_way = 0;
    for (piece *p = a->pieces; p < a->pieces + PIECES; p++) {
        if (p->state == WANTED && u9s_transfers_begin(a->transfers, &p->request)) p->state = UNDER_WAY;
        else if (p->state == WANTED) end_piece(a, p);
        if (p->state == DROPPED) {
            u9s_transfers_stop(a->transfers, &p->request);
            end_piece(a, p);
        }
        under_way += p->state == UNDER_WAY;
    }
    return under_way;
}

static void *fetch(void *arg)
{
    u9s_ahead *a = arg;
    pthread_mutex_lock(&a->lock);
    while (!a->ending) {
        if (bring_about(a) == 0) {
            pthread_cond_wait(&a->wanted, &a->lock);
            continue;
        }
        pthread_mutex_unlock(&a->lock);
        u9s_request *came = u9s_transfers_next(a->transfers);
        piece *p = came ? (piece *)(void *)((char *)came - offsetof(piece, request)) : NULL;
        if (p) u9s_keep(&p->file, came, U9S_BLOCK);
        pthread_mutex_lock(&a->lock);
        if (p && came->err != 0) a->quiet_until_us = u9i_monotonic_us(p->file.file.env) + QUIET_US;
        if (p) end_piece(a, p);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

static u9s_ahead *new_ahead(u9s_env *e)
{
    sigset_t all, before;
    u9s_ahead *a = calloc(1, sizeof *a);
    if (a == NULL) return NULL;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->told, NULL);
    pthread_cond_init(&a->wanted, NULL);
    a->transfers = u9s_transfers_new(e);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool runs = a->transfers && pthread_create(&a->thread, NULL, fetch, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (runs) return a;
    if (a->transfers) u9s_transfers_free(a->transfers);
    free(a);
    return NULL;
}

/* That of a directory. NULL: there is none; in a forked child its thread would not be there. */
static u9s_ahead *ahead_of(u9s_dir *d, bool make)
{
    if (d->generation != u9s_host->forks()) return NULL;
    pthread_mutex_lock(&d->lock);
    if (d->ahead == NULL && make) d->ahead = new_ahead(u9s_env_of(d->dir.env));
    u9s_ahead *a = d->ahead;
    pthread_mutex_unlock(&d->lock);
    return a;
}

/* The lock is held. */
static void call_thread(u9s_ahead *a)
{
    pthread_cond_signal(&a->wanted);
    u9s_transfers_wake(a->transfers);
}

/* The piece that brings the block which begins there. The lock is held. */
static piece *find_piece(u9s_ahead *a, const u9s_file *f, uint64_t off)
{
    for (piece *p = a->pieces; p < a->pieces + PIECES; p++) {
        bool brings = (p->state == WANTED || p->state == UNDER_WAY) && p->request.from <= off && off < p->request.to;
        if (brings && strcmp(p->file.key, f->key) == 0 && strcmp(p->file.entry.etag, f->entry.etag) == 0) return p;
    }
    return NULL;
}

/* The lock is held. */
static bool want(u9s_ahead *a, const u9s_file *f, const u9s_file *by, uint64_t from, uint64_t to)
{
    piece *p = a->pieces;
    while (p < a->pieces + PIECES && p->state != FREE) p++;
    if (p == a->pieces + PIECES || u9i_monotonic_us(f->file.env) < a->quiet_until_us) return false;
    p->by = by;
    p->file.file.env = f->file.env;
    p->file.entry = f->entry;
    memcpy(p->file.key, f->key, sizeof p->file.key);
    p->request = (u9s_request){.method = "GET", .key = p->file.key, .from = from, .to = to, .what = "reading ahead",
                               .optional = true, .untold = true};
    p->state = WANTED;
    call_thread(a);
    return true;
}

bool u9s_ahead_ask(const u9s_file *f, const u9s_file *by, uint64_t from, uint64_t to)
{
    u9s_ahead *a = ahead_of(by->dir, true);
    if (a == NULL) return false;
    pthread_mutex_lock(&a->lock);
    bool fine = find_piece(a, f, from) || want(a, f, by, from, to);
    pthread_mutex_unlock(&a->lock);
    return fine;
}

bool u9s_ahead_wait(const u9s_file *f, uint64_t off)
{
    u9s_ahead *a = ahead_of(f->dir, false);
    bool waited = false;
    if (a == NULL) return false;
    pthread_mutex_lock(&a->lock);
    while (find_piece(a, f, off)) {
        waited = true;
        pthread_cond_wait(&a->told, &a->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return waited;
}

void u9s_ahead_drop(const u9s_file *f)
{
    u9s_ahead *a = ahead_of(f->dir, false);
    if (a == NULL) return;
    bool some = false;
    pthread_mutex_lock(&a->lock);
    for (piece *p = a->pieces; p < a->pieces + PIECES; p++) {
        if (p->by != f || strcmp(p->file.key, f->key) != 0 || p->state == FREE) continue;
        p->state = p->state == WANTED ? FREE : DROPPED;
        some = true;
    }
    if (some) pthread_cond_broadcast(&a->told);
    if (some) call_thread(a);
    pthread_mutex_unlock(&a->lock);
}

void u9s_ahead_close(u9s_dir *d)
{
    u9s_ahead *a = d->ahead;
    if (a == NULL) return;
    pthread_mutex_lock(&a->lock);
    a->ending = true;
    call_thread(a);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    u9s_transfers_free(a->transfers);
    for (piece *p = a->pieces; p < a->pieces + PIECES; p++) u9s_request_free(&p->request);
    pthread_cond_destroy(&a->wanted);
    pthread_cond_destroy(&a->told);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
