/*
 * tests/sim/trouble.c: what is not as it was written: bytes that show late, bytes that cannot be read, a lock
 * that somebody else has.
 */
#include "tests/must.h"
#include "tests/sim/world.h"

#include <string.h>

static sim_node *file_at(const char *path)
{
    sim_node *node = NULL;
    MUST_SAY(sim_walk(path, &node) == 0, "%s: not there", path);
    return node;
}

static void add(const char *path, sim_trouble trouble)
{
    pthread_mutex_lock(&world.lock);
    sim_trouble *t = world.troubles;
    while (t < world.troubles + SIM_TROUBLES_MAX && t->node) t++;
    MUST_SAY(t < world.troubles + SIM_TROUBLES_MAX, "too many troubles");
    *t = trouble;
    t->node = file_at(path);
    t->node->holds++;
    world.trouble = t;
    pthread_mutex_unlock(&world.lock);
}

void sim_hide(const char *path, uint64_t from, uint64_t to, sim_until until)
{
    add(path, (sim_trouble){.from = from, .to = to, .until = until});
}

void sim_hide_for(const char *path, uint64_t from, uint64_t to, unsigned reads)
{
    if (reads > 0) add(path, (sim_trouble){.from = from, .to = to, .reads = reads});
}

void sim_spoil(const char *path, uint64_t from, uint64_t to, int error, unsigned reads)
{
    add(path, (sim_trouble){.from = from, .to = to, .error = -error, .reads = reads,
                            .until = SIM_NEVER});
}

void sim_delay(unsigned reads)
{
    pthread_mutex_lock(&world.lock);
    MUST_SAY(world.trouble && world.trouble->node, "no trouble was told");
    world.trouble->delay = reads;
    pthread_mutex_unlock(&world.lock);
}

static void end(sim_trouble *t)
{
    if (t->node) sim_node_drop(t->node);
    t->node = NULL;
}

void sim_clear(void)
{
    pthread_mutex_lock(&world.lock);
    for (unsigned i = 0; i < SIM_TROUBLES_MAX; i++) end(&world.troubles[i]);
    pthread_mutex_unlock(&world.lock);
}

unsigned sim_troubles(void)
{
    unsigned n = 0;
    pthread_mutex_lock(&world.lock);
    for (unsigned i = 0; i < SIM_TROUBLES_MAX; i++) n += world.troubles[i].node != NULL;
    pthread_mutex_unlock(&world.lock);
    return n;
}

static void hide(const sim_trouble *t, uint64_t off, uint8_t *buf, size_t got)
{
    uint64_t from = t->from > off ? t->from : off;
    uint64_t to = t->to < off + got ? t->to : off + got;
    if (from < to) memset(buf + (from - off), 0, (size_t)(to - from));
}

/* What one trouble makes of a read: 0, or its error. */
static int suffer(sim_trouble *t, uint64_t off, void *buf, size_t got)
{
    int err = 0;
    bool touched = off < t->to && t->from < off + got;
    if (touched && t->delay > 0) {
        t->delay--;
        return 0;
    }
    if (touched) {
        t->begun = true;
        err = t->error;
        if (err == 0) hide(t, off, buf, got);
    }
    bool counted = touched && t->reads > 0 && --t->reads == 0;
    bool behind = t->begun && t->reads == 0 && t->until == SIM_READ_BEHIND && off + got > t->to;
    if (counted || behind) end(t);
    return err;
}

int sim_show(const sim_node *node, uint64_t off, void *buf, size_t got)
{
    int err = 0;
    for (sim_trouble *t = world.troubles; t < world.troubles + SIM_TROUBLES_MAX; t++) {
        int its = t->node == node ? suffer(t, off, buf, got) : 0;
        if (its != 0) err = its;
    }
    return err;
}

int sim_unreadable(const sim_node *node, uint64_t from, uint64_t to)
{
    for (const sim_trouble *t = world.troubles; t < world.troubles + SIM_TROUBLES_MAX; t++)
        if (t->node == node && t->error != 0 && t->delay == 0 && from < t->to && t->from < to) return t->error;
    return 0;
}

bool sim_is_spoiled(const char *path, uint64_t from, uint64_t to)
{
    pthread_mutex_lock(&world.lock);
    int err = sim_unreadable(file_at(path), from, to);
    pthread_mutex_unlock(&world.lock);
    return err != 0;
}

void sim_asked(void)
{
    for (sim_trouble *t = world.troubles; t < world.troubles + SIM_TROUBLES_MAX; t++)
        if (t->node && t->begun && t->until == SIM_ASKED) end(t);
}

/* Who has the lock: an address that no handle has. */
static const char somebody_else[1] = {0};

bool sim_locked(const sim_node *node, const void *handle)
{
    if (node->locked_by == NULL || node->locked_by == somebody_else) return node->locked_by != NULL;
    return node->lock_life == world.life ? node->locked_by != handle : sim_has_late(node);
}

void sim_take_lock(const char *path)
{
    pthread_mutex_lock(&world.lock);
    sim_node *node = file_at(path);
    MUST_SAY(!sim_locked(node, NULL), "%s: locked already", path);
    node->locked_by = somebody_else;
    pthread_mutex_unlock(&world.lock);
}

void sim_drop_lock(const char *path)
{
    pthread_mutex_lock(&world.lock);
    sim_node *node = file_at(path);
    MUST_SAY(node->locked_by == somebody_else, "%s: not locked", path);
    node->locked_by = NULL;
    pthread_mutex_unlock(&world.lock);
}

void sim_before_list(void (*hook)(unsigned nth))
{
    pthread_mutex_lock(&world.lock);
    world.before_list = hook;
    world.lists = 0;
    pthread_mutex_unlock(&world.lock);
}
