/*
 * tests/sim/calls.c: what every call of the engine goes through: it may be held, it is entered in the
 * diary, and a plan may make it fail.
 */
#include "tests/sim/world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Through a call */

/* What a plan says of this call: 0 or a negative errno. */
static int ask_plans(sim_kind kind, const char *path, bool *half)
{
    int err = 0;
    const char *slash = strrchr(path, '/');
    *half = false;
    const char *name = slash ? slash + 1 : path;
    if (world.spared && strcmp(name, world.spared) == 0) return 0;
    if (world.aimed && strcmp(name, world.aimed) != 0) return 0;
    if (world.on_call) world.on_call(kind);
    for (unsigned i = 0; i < world.plan_count; i++) { /* all count the call; the first decides */
        sim_plan *p = &world.plans[i];
        if (p->kind != SIM_ANY && p->kind != kind) continue;
        p->seen++;
        if (err != 0 || (p->seen != p->nth && !(p->sticky && p->seen > p->nth))) continue;
        world.fired++;
        *half = p->half;
        err = -p->error;
    }
    return err;
}

static void hold_here(sim_kind kind)
{
    if (world.hold_nth == 0 || world.hold != kind || --world.hold_nth > 0) return;
    world.held = true;
    pthread_cond_broadcast(&world.moved);
    while (world.held) pthread_cond_wait(&world.moved, &world.lock);
}

static size_t new_op(sim_kind kind, const char *path, uint64_t begin, uint64_t end)
{
    if (world.op_count == world.op_room) {
        world.op_room = world.op_room ? 2 * world.op_room : 256;
        world.ops = realloc(world.ops, world.op_room * sizeof *world.ops);
        assert(world.ops);
    }
    world.ops[world.op_count] = (sim_op){.kind = kind, .path = path, .begin = begin, .end = end,
                                         .segment = sim_segment_of(path), .began = ++world.tick};
    return world.op_count++;
}

int sim_note(sim_call *call, sim_kind kind, const char *path, uint64_t begin, uint64_t end)
{
    sim_land_due(sim_now());
    sim_progress();
    hold_here(kind);
    call->op = new_op(kind, path, begin, end);
    call->half = false;
    return kind == SIM_ASK || kind == SIM_DATA ? 0 : ask_plans(kind, path, &call->half);
}

int sim_note_failure(sim_kind kind, const char *path)
{
    bool unused;
    int err = ask_plans(kind, path, &unused);
    if (err == 0) return 0;
    sim_call call = {.op = new_op(kind, path, 0, 0)};
    sim_tell(&call, err);
    return err;
}

void sim_moved(const sim_call *call, uint64_t bytes)
{
    if (call->op < world.op_count) world.ops[call->op].bytes = bytes;
}

/* A diary may have been forgotten meanwhile. */
void sim_tell(const sim_call *call, int64_t result)
{
    if (call->op >= world.op_count) return;
    world.ops[call->op].error = result < 0 ? (int)result : 0;
    world.ops[call->op].ended = ++world.tick;
}

/* With a chance, one of the tasks that are due runs before the call. */
void sim_let_a_task_run(void)
{
    if (world.threads || world.in_task || world.task_chance == 0) return;
    if (sim_draw(100) < world.task_chance) (void)sim_run_task();
}

/* Whoever stands before each call, but not within itself, nor within a task, for which it may wait. */
static void call_before(sim_kind kind)
{
    if (world.threads || world.before_call == NULL || world.is_before || world.in_task) return;
    world.is_before = true;
    world.before_call(kind);
    world.is_before = false;
}

int sim_enter(sim_call *call, sim_kind kind, const char *path, uint64_t begin, uint64_t end)
{
    /* In a world of one thread, another could not be repeated. */
    assert(world.threads || pthread_equal(pthread_self(), world.thread));
    call_before(kind);
    sim_let_a_task_run();
    pthread_mutex_lock(&world.lock);
    world.now_us++;
    return sim_note(call, kind, path, begin, end);
}

int sim_leave(sim_call *call, int error)
{
    sim_tell(call, error);
    sim_count_power();
    pthread_mutex_unlock(&world.lock);
    return error;
}

void sim_check_owner(pid_t owner)
{
    if (world.process != owner) _exit(SIM_WRONG_PROCESS);
}

uint64_t sim_segment_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char *behind;
    if (strlen(name) != 19 || strspn(name, "0123456789abcdef") != 16) return 0;
    uint64_t number = strtoull(name, &behind, 16);
    return strcmp(behind, ".u9") == 0 ? number : 0;
}

/* Plans */

static void add_plan(sim_plan plan)
{
    pthread_mutex_lock(&world.lock);
    assert(world.plan_count < SIM_PLANS_MAX && plan.nth > 0);
    world.plans[world.plan_count++] = plan;
    pthread_mutex_unlock(&world.lock);
}

void sim_fail(sim_kind kind, unsigned nth, int error, bool sticky)
{
    add_plan((sim_plan){.kind = kind, .nth = nth, .error = error, .sticky = sticky});
}

void sim_fail_half(unsigned nth, int error)
{
    add_plan((sim_plan){.kind = SIM_WRITE, .nth = nth, .error = error, .half = true});
}

void sim_spare(const char *name)
{
    pthread_mutex_lock(&world.lock);
    world.spared = name;
    pthread_mutex_unlock(&world.lock);
}

void sim_aim(const char *name)
{
    pthread_mutex_lock(&world.lock);
    world.aimed = name;
    pthread_mutex_unlock(&world.lock);
}

void sim_fail_no_more(sim_kind kind)
{
    unsigned left = 0;
    pthread_mutex_lock(&world.lock);
    for (unsigned i = 0; i < world.plan_count; i++)
        if (world.plans[i].kind != kind) world.plans[left++] = world.plans[i];
    world.plan_count = left;
    pthread_mutex_unlock(&world.lock);
}

void sim_mend(void)
{
    pthread_mutex_lock(&world.lock);
    world.plan_count = 0;
    memset(world.lies, 0, sizeof world.lies);
    pthread_mutex_unlock(&world.lock);
}

void sim_on_call(void (*hook)(sim_kind kind))
{
    pthread_mutex_lock(&world.lock);
    world.on_call = hook;
    pthread_mutex_unlock(&world.lock);
}

void sim_before_call(void (*hook)(sim_kind kind))
{
    world.before_call = hook;
}

unsigned sim_fired(void)
{
    pthread_mutex_lock(&world.lock);
    unsigned n = world.fired;
    pthread_mutex_unlock(&world.lock);
    return n;
}

void sim_set_order(sim_order order)
{
    pthread_mutex_lock(&world.lock);
    world.order = order;
    pthread_mutex_unlock(&world.lock);
}

void sim_hold(sim_kind kind, unsigned nth)
{
    assert(world.threads);
    pthread_mutex_lock(&world.lock);
    world.hold = kind;
    world.hold_nth = nth;
    world.held = false;
    pthread_mutex_unlock(&world.lock);
}

void sim_wait_held(void)
{
    pthread_mutex_lock(&world.lock);
    while (!world.held) pthread_cond_wait(&world.moved, &world.lock);
    pthread_mutex_unlock(&world.lock);
}

void sim_let_go(void)
{
    pthread_mutex_lock(&world.lock);
    world.hold_nth = 0;
    world.held = false;
    pthread_cond_broadcast(&world.moved);
    pthread_mutex_unlock(&world.lock);
}
