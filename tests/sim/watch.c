/*
 * tests/sim/watch.c: what is posted in a directory, and being told of it. Posts are in no diary, fail by no plan and
 * are no files: what a writer does to the disk is the same with and without them. A power cut takes them.
 *
 * A watch is told of all that is done in the world. Who waits lets what is due run, task after task, until something
 * was done or the deadline has come; with threads, it looks again and again.
 */
#include "tests/sim/world.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_US = 200 }; /* with threads */

typedef struct sim_watch {
    u9i_watch watch;
    bool bytes;
    uint64_t seen;
} sim_watch;

int sim_post(u9i_dir *dir, const char *name, const void *bytes, size_t n)
{
    sim_dir *d = (sim_dir *)dir;
    (void)name;
    pthread_mutex_lock(&world.lock);
    sim_node *node = d->life == world.life && d->owner == world.process ? d->node : NULL; /* else it was killed */
    assert(n <= sizeof node->posted);
    if (node && (n > 0 || node->posted_by == d)) {
        if (n > 0) memcpy(node->posted, bytes, n);
        node->posted_size = n;
        node->posted_by = n > 0 ? d : NULL;
        world.posts++;
    }
    pthread_mutex_unlock(&world.lock);
    return 0;
}

int sim_posted(u9i_dir *dir, const char *name, void *bytes, size_t n, size_t *got)
{
    const sim_node *node = ((sim_dir *)dir)->node;
    (void)name;
    pthread_mutex_lock(&world.lock);
    *got = node->posted_size < n ? node->posted_size : n;
    memcpy(bytes, node->posted, *got);
    pthread_mutex_unlock(&world.lock);
    return *got > 0 ? 0 : -ENOENT;
}

static uint64_t news(const sim_watch *w)
{
    pthread_mutex_lock(&world.lock);
    uint64_t n = world.posts + world.renames + (w->bytes ? world.writes : 0);
    pthread_mutex_unlock(&world.lock);
    return n;
}

static int open_watch_sim(u9i_dir *dir, const char *post, bool bytes, u9i_watch **out)
{
    sim_watch *w = calloc(1, sizeof *w);
    (void)post;
    assert(w);
    w->watch.env = dir->env;
    w->bytes = bytes;
    w->seen = news(w);
    *out = &w->watch;
    return 0;
}

static void close_watch_sim(u9i_watch *watch)
{
    free(watch);
}

/* What is due next runs, or time passes up to the deadline. */
static void let_pass(uint64_t deadline_us)
{
    if (world.threads) {
        u9i_sleep_us(&u9i_env_posix, LOOK_US);
        return;
    }
    uint64_t next = u9i_inline_next(&world.tasks), soon = world.now_us + 1;
    if (next < soon) next = soon;
    sim_run_tasks(next < deadline_us ? next : deadline_us);
}

static int wait_watch_sim(u9i_watch *watch, uint64_t deadline_us)
{
    sim_watch *w = (sim_watch *)watch;
    while (news(w) == w->seen && sim_now() < deadline_us) let_pass(deadline_us);
    uint64_t now = news(w);
    bool told = now != w->seen;
    w->seen = now;
    return told;
}

static int fd_of_watch_sim(u9i_watch *watch)
{
    (void)watch;
    return -1;
}

const u9i_watch_type sim_watch_type = {
    .open = open_watch_sim, .close = close_watch_sim, .wait = wait_watch_sim, .fd = fd_of_watch_sim};
