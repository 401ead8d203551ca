/*
 * tests/sim/power.c: what is durable, and what a power cut leaves.
 *
 * A file has two images, what is written and what is durable, and between them the list of its effects: writes and
 * new sizes, in the order in which they were done. A sync takes from that list what had been told when it began.
 * A directory has its names, those that are durable, and between these what was made, renamed and removed. A power
 * cut that is told what to leave leaves what is durable; one that is drawn from the seed leaves of all the rest
 * some:
 *
 *     of a file      nothing, all, what came first (the last of it torn), some, or some sectors of each write;
 *                    a write whose sectors are lost may still have made the file longer
 *     of names       nothing, all, what came first, or some; a rename is done or not
 *     under way      the same as if it had been done last, in a drawn order
 */
#include "tests/must.h"
#include "tests/sim/world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512 };

/* Files */

sim_effect *sim_note_effect(sim_node *file, bool resize, uint64_t off, const void *bytes, size_t n)
{
    world.writes++;
    sim_effect *e = malloc(sizeof *e + n);
    assert(e);
    *e = (sim_effect){.resize = resize, .off = off, .n = n};
    if (n > 0) memcpy(e->bytes, bytes, n);
    if (file->last_effect) file->last_effect->next = e;
    else file->effects = e;
    file->last_effect = e;
    return e;
}

void sim_note_told(sim_effect *effect)
{
    effect->told = world.tick;
}

void sim_play_effect(sim_image *image, const sim_effect *e)
{
    if (e->resize) sim_image_resize(image, e->off);
    else sim_image_write(image, e->off, e->bytes, e->n);
}

static bool was_told(const sim_effect *e, uint64_t by)
{
    return e->told != 0 && e->told < by;
}

void sim_note_synced(sim_node *file, uint64_t began)
{
    sim_effect **at = &file->effects, *last = NULL;
    bool all = true;
    for (const sim_effect *e = file->effects; e && all; e = e->next) all = was_told(e, began);
    if (all) sim_image_copy(&file->durable, &file->image);
    while (*at) {
        sim_effect *e = *at;
        if (was_told(e, began)) {
            if (!all) sim_play_effect(&file->durable, e);
            *at = e->next;
            free(e);
        } else {
            last = e;
            at = &e->next;
        }
    }
    file->last_effect = last;
}

void sim_note_durable(sim_node *file, uint64_t began, uint64_t off, const void *bytes, size_t n)
{
    sim_effect **at = &file->effects, *last = NULL;
    while (*at) {
        sim_effect *e = *at;
        if (e->resize && was_told(e, began)) {
            sim_play_effect(&file->durable, e);
            *at = e->next;
            free(e);
        } else {
            last = e;
            at = &e->next;
        }
    }
    file->last_effect = last;
    sim_image_write(&file->durable, off, bytes, n);
}

void sim_drop_effects(sim_node *file)
{
    while (file->effects) {
        sim_effect *e = file->effects;
        file->effects = e->next;
        if (e->told == 0) sim_forget_effect(e);
        free(e);
    }
    file->last_effect = NULL;
}

/* Names */

void sim_add_kept(sim_node *kept, const char *name, sim_node *node)
{
    sim_add_entry(kept, name, node);
    node->names--; /* it is no name that anybody sees */
}

static void lose(sim_node *kept, const char *name)
{
    sim_entry *entry = sim_entry_of(kept, name);
    if (entry == NULL) return;
    entry->node->names++;
    sim_remove_entry(kept, entry);
}

void sim_note_name(sim_node *dir, const char *from, const char *to, sim_node *node)
{
    world.renames++;
    if (dir->kept == NULL) {
        dir->kept = sim_node_new(true);
        for (size_t i = 0; i < dir->count; i++)
            sim_add_kept(dir->kept, dir->entries[i].name, dir->entries[i].node);
    }
    sim_name_op **at = &dir->name_ops, *op = malloc(sizeof *op);
    assert(op);
    *op = (sim_name_op){
        .from = from ? strdup(from) : NULL, .to = to ? strdup(to) : NULL, .node = node};
    node->holds++;
    while (*at) at = &(*at)->next;
    *at = op;
}

void sim_note_names_synced(sim_node *dir)
{
    if (dir->kept) sim_node_drop(dir->kept);
    dir->kept = NULL;
    while (dir->name_ops) {
        sim_name_op *op = dir->name_ops;
        dir->name_ops = op->next;
        sim_node_drop(op->node);
        free(op->from);
        free(op->to);
        free(op);
    }
}

void sim_keep_name(sim_node *dir, const char *name, sim_node *node)
{
    if (dir->kept == NULL) return;
    lose(dir->kept, name);
    if (node) sim_add_kept(dir->kept, name, node);
}

void sim_copy_kept(const sim_node *dir, sim_node *copy)
{
    if (dir->kept == NULL) return;
    sim_note_names_synced(copy);
    copy->kept = sim_node_new(true);
    for (size_t i = 0; i < copy->count; i++) {
        const char *name = copy->entries[i].name;
        sim_entry *now = sim_entry_of((sim_node *)(uintptr_t)dir, name),
                  *then = sim_entry_of(dir->kept, name);
        bool as_it_was =
            now ? then && then->node == now->node : true; /* it may be the copy's own */
        if (as_it_was) sim_add_kept(copy->kept, name, copy->entries[i].node);
    }
}

/* A cut */

/* How much is left of a list of things that were done and are not durable. */
typedef enum left { LEFT_NONE, LEFT_ALL, LEFT_FIRST, LEFT_SOME, LEFT_SECTORS } left;

typedef struct choice {
    left left;
    uint64_t first; /* LEFT_FIRST: how many; the one behind them by sectors */
} choice;

static choice choose(uint64_t count, left most)
{
    choice c = {.left = (left)sim_draw((uint64_t)most + 1)};
    if (c.left == LEFT_FIRST) c.first = sim_draw(count + 1);
    return c;
}

/* Whether the nth is left as a whole. */
static bool is_left(const choice *c, uint64_t nth)
{
    switch (c->left) {
    case LEFT_NONE: return false;
    case LEFT_ALL: return true;
    case LEFT_FIRST: return nth < c->first;
    case LEFT_SOME: return sim_draw(2) == 0;
    case LEFT_SECTORS: break;
    }
    return false;
}

void sim_play_part(sim_image *image, const sim_effect *e, size_t from, size_t to)
{
    sim_image_write(image, e->off + from, e->bytes + from, to - from);
    if (image->size < e->off + e->n) sim_image_resize(image, e->off + e->n);
}

/* Some sectors of a write; the file may have been made longer also where they are lost. */
static void play_sectors(sim_image *image, const sim_effect *e)
{
    uint64_t end = e->off + e->n;
    bool any = sim_draw(2) == 0;
    for (uint64_t at = e->off, next; at < end; at = next) {
        next = at / SECTOR * SECTOR + SECTOR < end ? at / SECTOR * SECTOR + SECTOR : end;
        if (sim_draw(2) == 0) continue;
        sim_image_write(image, at, e->bytes + (at - e->off), (size_t)(next - at));
        any = true;
    }
    if (any && image->size < end) sim_image_resize(image, end);
}

static void cut_file(sim_node *file, bool drawn)
{
    uint64_t count = 0, nth = 0;
    for (const sim_effect *e = file->effects; e; e = e->next) count++;
    choice c = drawn && file->effects ? choose(count, LEFT_SECTORS) : (choice){.left = LEFT_NONE};
    for (const sim_effect *e = file->effects; e; e = e->next, nth++) {
        bool torn = c.left == LEFT_SECTORS || (c.left == LEFT_FIRST && nth == c.first);
        if (is_left(&c, nth) || (torn && e->resize && sim_draw(2))) sim_play_effect(&file->durable, e);
        else if (torn && !e->resize) play_sectors(&file->durable, e);
    }
    sim_drop_effects(file);
    sim_image_copy(&file->image, &file->durable);
    sim_touch(file);
}

/* What was done to a name is done to those that are durable, if it still can be. */
void sim_play_name(sim_node *kept, const sim_name_op *op)
{
    if (op->from && op->to && sim_entry_of(kept, op->from) == NULL) return;
    if (op->from) lose(kept, op->from);
    if (op->to) lose(kept, op->to);
    if (op->to) sim_add_kept(kept, op->to, op->node);
}

static void cut_names(sim_node *dir, bool drawn)
{
    uint64_t count = 0, nth = 0;
    if (dir->kept == NULL) return;
    for (const sim_name_op *op = dir->name_ops; op; op = op->next) count++;
    choice c = drawn ? choose(count, LEFT_SOME) : (choice){.left = LEFT_NONE};
    for (const sim_name_op *op = dir->name_ops; op; op = op->next) /* all draw */
        if (is_left(&c, nth++)) sim_play_name(dir->kept, op);
    while (dir->count > 0) sim_remove_entry(dir, &dir->entries[dir->count - 1]);
    for (size_t i = 0; i < dir->kept->count; i++)
        sim_add_entry(dir, dir->kept->entries[i].name, dir->kept->entries[i].node);
    sim_note_names_synced(dir);
}

static void cut(sim_node *dir, bool drawn)
{
    cut_names(dir, drawn);
    dir->posted_size = 0;
    for (size_t i = 0; i < dir->count; i++) {
        sim_node *node = dir->entries[i].node;
        if (!node->is_dir) cut_file(node, drawn);
        else if (drawn) cut(node, true);
    }
}

void sim_cut_power(const char *path)
{
    sim_node *dir = NULL;
    pthread_mutex_lock(&world.lock);
    MUST_SAY(sim_walk(path, &dir) == 0 && dir->is_dir, "%s: not a directory", path);
    cut(dir, false);
    pthread_mutex_unlock(&world.lock);
}

static void note_pending(sim_node *node, const u9i_op *op)
{
    (void)sim_note_effect(node, false, op->off, op->buf, op->n);
}

/* What a killed process left under way does not land, but perhaps in part. */
static void end_late(void)
{
    while (world.late) {
        sim_late *l = world.late;
        (void)sim_note_effect(l->node, false, l->off, l->bytes, l->n);
        world.late = l->next;
        sim_node_drop(l->node);
        free(l);
    }
}

static void power_goes(void)
{
    assert(!world.threads);
    end_late();
    sim_each_pending(note_pending);
    if (!world.freezes) cut(world.root, true);
    world.freezes = false;
    world.life++;
    world.kill_nth = world.power_nth = 0;
}

void sim_lose_power(void)
{
    pthread_mutex_lock(&world.lock);
    power_goes();
    pthread_mutex_unlock(&world.lock);
}

void sim_lose_power_at(unsigned nth)
{
    world.power_nth = nth;
    world.freezes = false;
}

void sim_freeze_at(unsigned nth)
{
    world.power_nth = nth;
    world.freezes = nth > 0;
}

unsigned sim_deaths(void)
{
    return world.life;
}

void sim_count_power(void)
{
    if (world.power_nth > 0 && --world.power_nth == 0) power_goes();
}
