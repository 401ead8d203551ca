/*
 * engine/segment/readahead.c: see ahead.h.
 */
#include "engine/segment/readahead.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct u9i_readahead {
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t turn;  /* told when `posted`, `done` or `stop` changes */
    bool posted, done, stop;
    u9i_file *file;
    uint64_t off;
    void *buf;
    size_t n, got;
    int err;
};

static void *reads(void *arg)
{
    u9i_readahead *a = arg;
    pthread_mutex_lock(&a->lock);
    for (;;) {
        while (!a->stop && (!a->posted || a->done)) pthread_cond_wait(&a->turn, &a->lock);
        if (a->stop) break;
        pthread_mutex_unlock(&a->lock);
        size_t got = 0;
        int err = a->file->io->table->read(a->file, a->off, a->buf, a->n, &got);
        pthread_mutex_lock(&a->lock);
        a->err = err;
        a->got = got;
        a->done = true;
        pthread_cond_signal(&a->turn);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

u9i_readahead *u9i_readahead_new(void)
{
    u9i_readahead *a = calloc(1, sizeof *a);
    if (a == NULL) return NULL;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->turn, NULL);
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int err = pthread_create(&a->thread, NULL, reads, a);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err == 0) return a;
    pthread_cond_destroy(&a->turn);
    pthread_mutex_destroy(&a->lock);
    free(a);
    return NULL;
}

void u9i_readahead_free(u9i_readahead *a)
{
    if (a == NULL) return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_signal(&a->turn);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    pthread_cond_destroy(&a->turn);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

void u9i_readahead_post(u9i_readahead *a, u9i_file *file, uint64_t off, void *buf, size_t n)
{
    pthread_mutex_lock(&a->lock);
    assert(!a->posted);
    a->file = file;
    a->off = off;
    a->buf = buf;
    a->n = n;
    a->posted = true;
    a->done = false;
    pthread_cond_signal(&a->turn);
    pthread_mutex_unlock(&a->lock);
}

int u9i_readahead_take(u9i_readahead *a, size_t *got)
{
    pthread_mutex_lock(&a->lock);
    assert(a->posted);
    while (!a->done) pthread_cond_wait(&a->turn, &a->lock);
    a->posted = false;
    *got = a->got;
    int err = a->err;
    pthread_mutex_unlock(&a->lock);
    return err;
}
