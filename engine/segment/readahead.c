/*
 * engine/segment/readahead.c: see readahead.h.
 */
#include "engine/segment/readahead.h"

#include "engine/os/process.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct u9i_readahead {
    u9i_task task;
    bool posted;
    unsigned generation; /* of forks, when it was */
    u9i_file *file;
    uint64_t off;
    void *buf;
    size_t n, got;
    int err;
};

static void readahead_check(const u9i_readahead *a)
{
    assert(!a->posted || (a->file != NULL && a->buf != NULL && a->n > 0));
    assert(a->posted || (!a->task.queued && !a->task.running));
}

static void read_it(void *ctx)
{
    u9i_readahead *a = ctx;
    a->err = u9i_file_read(a->file, a->off, a->buf, a->n, &a->got);
}

u9i_readahead *u9i_readahead_new(void)
{
    u9i_readahead *a = calloc(1, sizeof *a);
    if (a) a->task = (u9i_task){.run = read_it, .ctx = a};
    return a;
}

void u9i_readahead_free(u9i_readahead *a)
{
    size_t unused;
    if (a && a->posted) (void)u9i_readahead_take(a, &unused);
    free(a);
}

void u9i_readahead_post(u9i_readahead *a, u9i_file *file, uint64_t off, void *buf, size_t n)
{
    readahead_check(a);
    assert(!a->posted);
    a->posted = true;
    a->generation = u9i_fork_generation();
    a->file = file;
    a->off = off;
    a->buf = buf;
    a->n = n;
    a->got = 0;
    u9i_task_submit(file->env, &a->task, 0);
}

int u9i_readahead_take(u9i_readahead *a, size_t *got)
{
    assert(a->posted);
    a->posted = false;
    u9i_task_finish(a->file->env, &a->task);
    if (a->generation != u9i_fork_generation()) return -ECANCELED; /* the parent's, and perhaps half done */
    readahead_check(a);
    *got = a->got;
    return a->err;
}
