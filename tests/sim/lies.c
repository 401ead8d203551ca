/*
 * tests/sim/lies.c: a disk that says done and has not done it, or elsewhere, or otherwise; and the watch over who
 * writes. {F07} {F14}
 *
 * A watch knows nothing of the engine: it finds promises in the bytes of a write, by the fixed bytes of a trailer
 * [F-4], a u9open [C-3] and a mark [C-8], and asks the disk whether what they promise is durable. [R-2] [M-5] One that
 * stands across two writes is not found; those in files that are neither segment nor mark, or not yet, count for
 * nobody.
 */
#include "tests/sim/world.h"

#include "format/base/bytes.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Lies */

void sim_lie(sim_lie_kind kind, unsigned nth, uint64_t arg)
{
    pthread_mutex_lock(&world.lock);
    sim_lie_plan *l = world.lies;
    while (l < world.lies + SIM_PLANS_MAX && l->nth > 0) l++;
    assert(nth > 0 && l < world.lies + SIM_PLANS_MAX);
    *l = (sim_lie_plan){.kind = kind, .nth = nth, .arg = arg};
    pthread_mutex_unlock(&world.lock);
}

unsigned sim_lies(void)
{
    pthread_mutex_lock(&world.lock);
    unsigned n = world.lied;
    pthread_mutex_unlock(&world.lock);
    return n;
}

sim_lie_plan sim_ask_lies(const u9i_op *op)
{
    sim_lie_plan told = {.nth = 0};
    const sim_file *f = sim_file_of(op->file);
    const char *slash = strrchr(f->path, '/'), *name = slash ? slash + 1 : f->path;
    bool told_of = world.aimed ? strcmp(name, world.aimed) == 0 : sim_segment_of(f->path) != 0;
    if (op->kind == U9I_OP_READ || !told_of) return told;
    for (sim_lie_plan *l = world.lies; l < world.lies + SIM_PLANS_MAX; l++) {
        bool syncs = op->kind == U9I_OP_SYNC || op->durable;
        if (l->nth == 0 || !(l->kind == SIM_DEAF ? syncs : op->kind == U9I_OP_WRITE) || --l->nth > 0) continue;
        told = *l;
        told.nth = 1;
        world.lied++;
    }
    return told;
}

sim_effect *sim_do_lie(const sim_lie_plan *lie, sim_node *file, const u9i_op *op)
{
    uint64_t off = op->off + (lie->kind == SIM_STRAY ? lie->arg : 0);
    if (lie->kind == SIM_LOST || op->n == 0) return NULL;
    uint8_t *bytes = malloc(op->n);
    assert(bytes);
    memcpy(bytes, op->buf, op->n);
    if (lie->kind == SIM_ROT) bytes[lie->arg / 8 % op->n] ^= (uint8_t)(1 << lie->arg % 8);
    sim_image_write(&file->image, off, bytes, op->n);
    sim_touch(file);
    sim_effect *effect = sim_note_effect(file, false, off, bytes, op->n);
    free(bytes);
    return effect;
}

/* The watch */

void sim_breach(const char *what, const char *path, uint64_t off)
{
    fprintf(stderr, "sim: %s: %s at %llu\n", path, what, (unsigned long long)off);
    abort();
}

uint64_t sim_sum(const u9i_op *op)
{
    return XXH3_64bits(op->buf, op->n);
}

void sim_watch_promises(void)
{
    world.watches = true;
}

unsigned sim_promises(void)
{
    return world.promised;
}

/* All before `end`, and a name. What is done and not synced is open, told or not. */
static bool is_durable(sim_node *dir, const sim_node *file, uint64_t end)
{
    for (const sim_effect *e = file->effects; e; e = e->next)
        if (!e->resize && e->off < end) return false;
    if (file->durable.size < end || sim_is_under_way(file, end)) return false;
    if (dir == NULL || dir->kept == NULL) return true;
    for (size_t i = 0; i < dir->kept->count; i++) {
        const sim_entry *kept = &dir->kept->entries[i], *now = sim_entry_of(dir, kept->name);
        if (kept->node == file && now && now->node == file) return true;
    }
    return false;
}

static void look_at_promise(const char *what, const sim_file *from, const sim_node *file, uint64_t end, uint64_t off)
{
    sim_node *dir = NULL;
    char name[256];
    if (end == 0 || file == NULL) return;
    world.promised++;
    (void)sim_walk_parent(from->path, &dir, name);
    if (!is_durable(dir, file, end)) sim_breach(what, from->path, off);
}

/* The segment of that number beside a file; NULL: there is none of that name. */
static const sim_node *segment_beside(const sim_file *file, uint64_t number)
{
    sim_node *dir = NULL;
    char own[256], name[32];
    if (sim_walk_parent(file->path, &dir, own) != 0) return NULL;
    snprintf(name, sizeof name, "%016llx.u9", (unsigned long long)number);
    const sim_entry *entry = sim_entry_of(dir, name);
    return entry ? entry->node : NULL;
}

/* The next place at or behind `at` where these bytes stand, with room for `whole` of them; NULL: nowhere. */
static const uint8_t *next(const u9i_op *op, const uint8_t *at, const char *bytes, size_t n, size_t whole)
{
    const uint8_t *end = (const uint8_t *)op->buf + op->n;
    at = memmem(at, (size_t)(end - at), bytes, n);
    return at && (size_t)(end - at) >= whole ? at : NULL;
}

void sim_look_at_promises(const sim_file *file, const u9i_op *op)
{
    const uint8_t *from = op->buf, *at;
    const char *slash = strrchr(file->path, '/');
    bool counts = sim_segment_of(file->path) != 0 || strcmp(slash ? slash + 1 : file->path, ".mark") == 0;
    if (!world.watches || world.lied > 0 || file->killed || !counts) return;
    for (at = from; (at = next(op, at, "\x40\x4d\x08\x0au9frame\0", 12, 80)) != NULL; at++)
        look_at_promise("a frame promises what is not durable", file, file->node, u9i_get_be(at + 45, 8),
                        op->off + (uint64_t)(at - from));
    for (at = from; (at = next(op, at, "\x0au9open\0\0", 9, 126)) != NULL; at++)
        look_at_promise("a u9open names an end that is not durable", file, segment_beside(file, u9i_get_be(at + 73, 8)),
                        u9i_get_be(at + 118, 8), op->off + (uint64_t)(at - from));
    for (at = from; (at = next(op, at, "\x0au9mark\0\0", 9, 90)) != NULL; at++)
        look_at_promise("a mark names an end that is not durable", file, segment_beside(file, u9i_get_be(at + 37, 8)),
                        u9i_get_be(at + 82, 8), op->off + (uint64_t)(at - from));
}
