/*
 * tests/sim/diary.c: what the diary tells: how often, where, in which order, and what is durable by it.
 */
#include "tests/sim/world.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[SIM_KINDS] = {
    [SIM_OPEN_DIR] = "open_dir", [SIM_LOCK] = "lock",
    [SIM_ASK] = "ask",           [SIM_LIST] = "list",
    [SIM_STAT] = "stat",         [SIM_RENAME] = "rename",
    [SIM_LINK] = "link",         [SIM_DRESS] = "dress",   [SIM_REMOVE] = "remove",
    [SIM_SYNC_DIR] = "sync_dir", [SIM_OPEN] = "open",
    [SIM_CREATE] = "create",     [SIM_SIZE] = "size",
    [SIM_READ] = "read",         [SIM_RESERVE] = "reserve", [SIM_ZERO] = "zero",
    [SIM_TRUNCATE] = "truncate", [SIM_DATA] = "data", [SIM_EVICT] = "evict",
    [SIM_MAP] = "map",           [SIM_OPEN_QUEUE] = "open_queue",
    [SIM_SUBMIT] = "submit",     [SIM_WAIT] = "wait",
    [SIM_WRITE] = "write",       [SIM_SYNC] = "sync",
    [SIM_RANDOM] = "random",
};

const sim_op *sim_ops(size_t *count)
{
    *count = world.op_count;
    return world.ops;
}

static bool is_kind(const sim_op *op, sim_kind kind)
{
    return kind == SIM_ANY || op->kind == kind;
}

unsigned sim_count(sim_kind kind)
{
    unsigned n = 0;
    pthread_mutex_lock(&world.lock);
    for (size_t i = 0; i < world.op_count; i++) n += is_kind(&world.ops[i], kind);
    pthread_mutex_unlock(&world.lock);
    return n;
}

unsigned sim_count_of(sim_kind kind, const char *path)
{
    unsigned n = 0;
    pthread_mutex_lock(&world.lock);
    for (size_t i = 0; i < world.op_count; i++)
        n += is_kind(&world.ops[i], kind) && strcmp(world.ops[i].path, path) == 0;
    pthread_mutex_unlock(&world.lock);
    return n;
}

uint64_t sim_bytes(sim_kind kind)
{
    uint64_t n = 0;
    pthread_mutex_lock(&world.lock);
    for (size_t i = 0; i < world.op_count; i++)
        if (is_kind(&world.ops[i], kind)) n += world.ops[i].bytes;
    pthread_mutex_unlock(&world.lock);
    return n;
}

void sim_forget_diary(void)
{
    pthread_mutex_lock(&world.lock);
    world.op_count = 0;
    pthread_mutex_unlock(&world.lock);
}

char *sim_diary(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert(out);
    pthread_mutex_lock(&world.lock);
    for (size_t i = 0; i < world.op_count; i++) {
        const sim_op *op = &world.ops[i];
        fprintf(out, "%" PRIu64 "-%" PRIu64 " %s %s [%" PRIu64 ",%" PRIu64 ") %" PRIu64 " %d\n",
                op->began, op->ended, kind_names[op->kind], op->path, op->begin, op->end, op->bytes,
                op->error);
    }
    pthread_mutex_unlock(&world.lock);
    fclose(out);
    return text;
}

const sim_op *sim_find(sim_kind kind, uint64_t segment, uint64_t at)
{
    for (size_t i = 0; i < world.op_count; i++) {
        const sim_op *op = &world.ops[i];
        if (op->kind == kind && op->segment == segment &&
            (at == UINT64_MAX || (op->begin <= at && at < op->end)))
            return op;
    }
    return NULL;
}

/* True if the operation was done, and that was told by this tick. */
static bool told_by(const sim_op *op, uint64_t tick)
{
    return op->error == 0 && op->ended != 0 && op->ended <= tick;
}

/* True if the file's name is on stable storage at this tick: made before, or its directory synced. */
static bool name_durable(uint64_t segment, uint64_t tick)
{
    const sim_op *made = sim_find(SIM_CREATE, segment, UINT64_MAX);
    if (made == NULL) return true;
    for (size_t i = 0; i < world.op_count; i++) {
        const sim_op *op = &world.ops[i];
        if (op->kind == SIM_SYNC_DIR && told_by(op, tick) && op->began > made->ended) return true;
    }
    return false;
}

/* The last tick at which a sync of the file began that was told complete by `tick`; 0: none. */
static uint64_t last_sync(uint64_t segment, uint64_t tick)
{
    uint64_t began = 0;
    for (size_t i = 0; i < world.op_count; i++) {
        const sim_op *op = &world.ops[i];
        if ((op->kind == SIM_SYNC || op->kind == SIM_EVICT) && op->segment == segment &&
            told_by(op, tick) && op->began > began)
            began = op->began;
    }
    return began;
}

uint64_t sim_durable(uint64_t segment, uint64_t tick)
{
    uint64_t sync = last_sync(segment, tick), end = 0;
    if (!name_durable(segment, tick)) return 0;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < world.op_count; i++) {
            const sim_op *op = &world.ops[i];
            bool durable = (sync > 0 && told_by(op, sync - 1)) || (op->durable && told_by(op, tick));
            if (op->kind == SIM_WRITE && op->segment == segment && durable && op->begin <= end && end < op->end)
                end = op->end, more = true;
        }
    }
    return end;
}
