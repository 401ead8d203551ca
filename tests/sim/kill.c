/*
 * tests/sim/kill.c: a process that is killed while its writes are under way. What it does from then on, it does
 * to copies; its locks go, but those of files, which last until its writes have landed. [W-1]
 */
#include "tests/sim/world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool sim_has_late(const sim_node *node)
{
    for (const sim_late *l = world.late; l; l = l->next)
        if (l->node == node) return true;
    return false;
}

void sim_add_late(sim_node *node, const u9i_op *op)
{
    sim_late *l = malloc(sizeof *l + op->n);
    assert(l);
    *l = (sim_late){.node = node, .off = op->off, .n = op->n, .due_us = U9I_FOREVER};
    memcpy(l->bytes, op->buf, op->n);
    node->holds++;
    sim_late **at = &world.late; /* somewhere among those that are there */
    for (uint64_t skip = sim_draw(8); skip > 0 && *at; skip--) at = &(*at)->next;
    l->next = *at;
    *at = l;
}

void sim_kill_now(void)
{
    assert(!world.threads);
    sim_collect_late();
    world.life++;
    world.kill_nth = 0;
}

void sim_kill(void)
{
    pthread_mutex_lock(&world.lock);
    sim_kill_now();
    pthread_mutex_unlock(&world.lock);
}

void sim_kill_at_write(unsigned nth)
{
    world.kill_nth = nth;
}

bool sim_killed(void)
{
    return world.life > 0;
}

void sim_land_due(uint64_t now_us)
{
    while (world.late && (world.late->due_us <= now_us || now_us == U9I_FOREVER)) {
        sim_late *l = world.late;
        sim_image_write(&l->node->image, l->off, l->bytes, l->n);
        sim_note_told(sim_note_effect(l->node, false, l->off, l->bytes, l->n));
        sim_touch(l->node);
        world.late = l->next;
        sim_node_drop(l->node);
        free(l);
    }
}

void sim_land(uint64_t step_us)
{
    uint64_t due_us = sim_now();
    pthread_mutex_lock(&world.lock);
    for (sim_late *l = world.late; l; l = l->next) l->due_us = due_us += step_us;
    sim_land_due(sim_now());
    pthread_mutex_unlock(&world.lock);
}

unsigned sim_late_writes(void)
{
    unsigned n = 0;
    for (const sim_late *l = world.late; l; l = l->next) n++;
    return n;
}
