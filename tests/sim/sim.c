/*
 * tests/sim/sim.c: the world itself: its begin and end, what is drawn from its seed, its clock, and the
 * executor, which runs tasks one after the other on the only thread there is.
 */
#include "tests/sim/world.h"

#include <assert.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

sim_world world = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

enum {
    BEGIN_US = 1000000,   /* of the monotonic clock: 0 means "none" to many */
    TASK_CHANCE = 25,     /* percent */
    AGAIN_MAX = 1000, /* tasks that nap and come again, for what the caller waits for */
    TASK_RUNS_MAX = 10000000 /* in one piece of time: more never end */
};

static const uint64_t WALL_US = UINT64_C(1700000000000000);

/* Drawn from the seed */

static uint64_t draw(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t sim_draw(uint64_t n)
{
    return draw(&world.choices) % n;
}

/* For the engine it is a cryptographic source; whoever reads this line has broken it. */
static bool random_sim(u9i_env *env, void *out, size_t size)
{
    (void)env;
    sim_call call;
    int err = sim_enter(&call, SIM_RANDOM, "", 0, size);
    for (size_t i = 0; err == 0 && i < size; i++) ((uint8_t *)out)[i] = (uint8_t)draw(&world.secrets);
    (void)sim_leave(&call, err);
    errno = -err;
    return err == 0;
}

void sim_be_machine(unsigned number)
{
    world.machine = number;
}

static bool machine_sim(u9i_env *env, uint8_t id[U9I_MACHINE_SIZE])
{
    (void)env;
    if (world.machine == 0) return false;
    memset(id, (int)world.machine, U9I_MACHINE_SIZE);
    return true;
}

/* Clock */

uint64_t sim_now(void)
{
    return world.threads ? u9i_monotonic_us(&u9i_env_posix) : world.now_us;
}

static uint64_t monotonic_sim(u9i_env *env)
{
    (void)env;
    return world.threads ? sim_now() : ++world.now_us;
}

static uint64_t wall_sim(u9i_env *env)
{
    return monotonic_sim(env) + world.wall_ahead_us;
}

static void sleep_sim(u9i_env *env, uint64_t us)
{
    (void)env;
    if (world.threads) u9i_sleep_us(&u9i_env_posix, us);
    else sim_run_tasks(world.now_us + us);
}

void sim_set_wall(uint64_t us)
{
    world.wall_ahead_us = us - sim_now();
}

void sim_advance(uint64_t us)
{
    assert(world.in_use && !world.threads);
    sim_run_tasks(world.now_us + us);
}

/* Executor */

bool sim_run_task(void)
{
    unsigned due = world.in_task ? 0 : u9i_inline_due(&world.tasks, world.now_us);
    if (due == 0) return false;
    world.in_task = true;
    u9i_inline_run(&world.tasks, world.now_us, (unsigned)sim_draw(due));
    world.in_task = false;
    return true;
}

void sim_run_tasks(uint64_t until_us)
{
    for (unsigned runs = 0; !world.in_task; runs++) {
        uint64_t next = u9i_inline_next(&world.tasks);
        assert(runs < TASK_RUNS_MAX);
        if (next > until_us || (runs > AGAIN_MAX && world.now_us > until_us)) break;
        if (next > world.now_us) world.now_us = next;
        (void)sim_run_task();
        world.now_us++;
    }
    if (world.now_us < until_us) world.now_us = until_us;
}

static void submit_sim(u9i_env *env, u9i_task *task, uint64_t due_us)
{
    (void)env;
    if (world.threads) u9i_task_submit(&u9i_env_posix, task, due_us);
    else u9i_inline_submit(&world.tasks, task, due_us);
}

static unsigned width_sim(u9i_env *env)
{
    (void)env;
    return world.width > 0 ? world.width : world.threads ? 3 : 1;
}

void sim_set_width(unsigned width)
{
    world.width = width;
}

static void finish_sim(u9i_env *env, u9i_task *task)
{
    (void)env;
    if (world.threads) {
        u9i_task_finish(&u9i_env_posix, task);
        return;
    }
    bool within = world.in_task;
    world.in_task = true;
    u9i_inline_finish(&world.tasks, task);
    world.in_task = within;
}

static void cancel_sim(u9i_env *env, u9i_task *task)
{
    (void)env;
    if (world.threads) u9i_task_cancel(&u9i_env_posix, task);
    else u9i_inline_cancel(&world.tasks, task);
}

void sim_task_chance(unsigned percent)
{
    world.task_chance = percent;
}

unsigned sim_tasks(void)
{
    unsigned n = 0;
    for (const u9i_task *t = world.tasks.first; t; t = t->next) n++;
    return n;
}

/* Begin and end */

static u9i_env env_sim = {
    .name = "sim",
    .fs = &sim_fs,
    .queue = &sim_queue_type,
    .watch = &sim_watch_type,
    .clock = &(const u9i_clock){.wall_us = wall_sim, .monotonic_us = monotonic_sim,
                                .sleep_us = sleep_sim},
    .random = random_sim,
    .machine = machine_sim,
    .executor = &(const u9i_executor){.submit = submit_sim, .finish = finish_sim,
                                      .cancel = cancel_sim, .width = width_sim},
};

bool sim_in_use(void)
{
    return world.in_use;
}

u9i_env *sim_env(void)
{
    return &env_sim;
}

static void before_fork(void)
{
    pthread_mutex_lock(&world.lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&world.lock);
}

static void in_child(void)
{
    world.process = getpid();
    world.thread = pthread_self();
    pthread_mutex_unlock(&world.lock);
}

/* Everything but the lock and what belongs to it. */
static void reset(void)
{
    sim_world fresh = {.in_use = false};
    fresh.lock = world.lock;
    fresh.moved = world.moved;
    world = fresh;
}

static void begin(uint64_t seed, bool threads)
{
    static bool watched;
    if (!watched) pthread_atfork(before_fork, in_parent, in_child);
    watched = true;
    sim_end();
    world.in_use = true;
    world.threads = threads;
    world.thread = pthread_self();
    world.process = getpid();
    world.machine = 1;
    world.secrets = seed;
    world.choices = ~seed;
    world.now_us = BEGIN_US;
    world.wall_ahead_us = WALL_US;
    world.task_chance = TASK_CHANCE;
    if (threads) world.wall_ahead_us = u9i_wall_us(&u9i_env_posix) - sim_now();
    /* Its tasks run while a directory of it is open. */
    int err = threads ? u9i_dir_open(&u9i_env_posix, "/", false, &world.posix_root) : 0;
    assert(err == 0);
    world.root = sim_node_new(true);
    u9i_env_register(&env_sim);
}

void sim_begin(uint64_t seed)
{
    begin(seed, false);
}

void sim_begin_threads(uint64_t seed)
{
    begin(seed, true);
}

static bool away;

void sim_stay_away(void)
{
    away = true;
}

bool sim_is_away(void)
{
    return away;
}

const char *sim_io(void)
{
    return away ? NULL : env_sim.name;
}

/* Without what libraries do at an exit: their threads may be at work. */
void sim_needed(const char *what)
{
    if (!away) return;
    fprintf(stderr, "ended here: a store has none of this: %s\n", what);
    _exit(0);
}

void sim_end(void)
{
    if (!world.in_use) return;
    assert(world.tasks.first == NULL); /* its owner is gone, or soon will be */
    u9i_env_register(NULL);
    if (world.posix_root) u9i_dir_close(world.posix_root);
    sim_clear();
    sim_land_due(U9I_FOREVER);
    sim_node_drop(world.root);
    tdestroy(world.texts, free);
    free(world.ops);
    reset();
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

const char *sim_keep(const char *text)
{
    pthread_mutex_lock(&world.lock);
    char *const *found = tfind(text, &world.texts, by_text);
    if (found == NULL) found = tsearch(strdup(text), &world.texts, by_text);
    pthread_mutex_unlock(&world.lock);
    assert(found);
    return *found;
}
