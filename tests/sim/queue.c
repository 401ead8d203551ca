/*
 * tests/sim/queue.c: operations under way. An operation is done when it is submitted (SIM_PROMPT) or when its
 * completion is taken, and told when that is; one that a plan lets fail is not done, or, a write, by half.
 *
 * SIM_WILD: each has two moments drawn from the seed, when it is done and when that can be told. What a sync
 * makes durable is what had been told when it was submitted, and no more, as the door says.
 */
#include "tests/sim/world.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_US = 20 }; /* what it takes until a late operation is done */

typedef enum slot_state {
    SLOT_FREE,
    SLOT_WAITING, /* to be done when it is told */
    SLOT_DONE
} slot_state;

typedef struct slot {
    slot_state state;
    u9i_op op;
    sim_call call;
    uint64_t age;
    uint64_t done_us, due_us; /* SIM_WILD: when it is done, and told */
    uint64_t began;           /* the tick */
    sim_effect *effect;       /* of a write that is done; NULL: none, or it is over */
    sim_lie_plan lie;         /* what is told of it is not so */
    uint64_t sum;             /* of what it writes */
    int64_t result;
} slot;

typedef struct queue {
    u9i_queue queue;
    struct queue *next; /* of world.queues */
    pid_t owner;
    bool woken;
    uint64_t age;
    unsigned under_way;
    slot slots[U9I_QUEUE_DEPTH];
} queue;

static queue *of_queue(u9i_queue *q)
{
    return (queue *)q;
}

static int open_queue(u9i_env *env, void *buffers, size_t size, unsigned count, u9i_queue **out)
{
    sim_call call;
    (void)buffers;
    (void)size;
    (void)count;
    int err = sim_enter(&call, SIM_OPEN_QUEUE, "", 0, 0);
    if (err == 0) {
        queue *q = calloc(1, sizeof *q);
        assert(q);
        q->queue.env = env;
        q->owner = world.process;
        q->next = world.queues;
        world.queues = q;
        *out = &q->queue;
    }
    return sim_leave(&call, err);
}

/* Doing */

static const sim_file *file_of(const u9i_op *op)
{
    return sim_file_of(op->file);
}

static int64_t do_read(slot *s)
{
    const sim_file *f = file_of(&s->op);
    size_t got = sim_image_read(&f->node->image, s->op.off, s->op.buf, s->op.n);
    int err = sim_show(f->node, s->op.off, s->op.buf, got);
    if (err == 0) sim_moved(&s->call, got);
    return err != 0 ? err : (int64_t)got;
}

static int64_t do_write(slot *s, size_t n)
{
    const sim_file *f = file_of(&s->op);
    if (f->mode == U9I_OPEN_READ) return -EBADF;
    sim_image_write(&f->node->image, s->op.off, s->op.buf, n);
    if (s->op.durable && n == s->op.n) sim_note_durable(f->node, s->began, s->op.off, s->op.buf, n);
    else s->effect = sim_note_effect(f->node, false, s->op.off, s->op.buf, n);
    sim_touch(f->node);
    sim_moved(&s->call, n);
    return (int64_t)n;
}

static int64_t do_lie(slot *s)
{
    const sim_file *f = file_of(&s->op);
    if (s->op.kind == U9I_OP_WRITE) s->effect = sim_do_lie(&s->lie, f->node, &s->op);
    return s->op.kind == U9I_OP_WRITE ? (int64_t)s->op.n : 0;
}

static int64_t do_op(slot *s)
{
    if (s->lie.nth > 0) return do_lie(s);
    switch (s->op.kind) {
    case U9I_OP_READ: return do_read(s);
    case U9I_OP_WRITE: return do_write(s, s->op.n);
    case U9I_OP_SYNC: sim_note_synced(file_of(&s->op)->node, s->began); return 0;
    }
    return -EINVAL;
}

/* Submitting */

static sim_kind kind_of(const u9i_op *op)
{
    return op->kind == U9I_OP_READ ? SIM_READ : op->kind == U9I_OP_WRITE ? SIM_WRITE : SIM_SYNC;
}

/* Mostly soon; some are late, and a few very late: others that began after them are told long before. */
static uint64_t draw_delay(void)
{
    uint64_t kind = sim_draw(64);
    return 1 + sim_draw(kind == 0 ? 200000 : kind < 8 ? 5000 : 60);
}

static void begin(queue *q, const u9i_op *op)
{
    slot *s = q->slots;
    while (s->state != SLOT_FREE) s++; /* there is one: see submit */
    *s = (slot){.op = *op, .age = ++q->age};
    if (world.order == SIM_WILD) s->done_us = sim_now() + draw_delay();
    if (world.order == SIM_WILD) s->due_us = s->done_us + (sim_draw(2) ? 0 : draw_delay());
    uint64_t n = op->kind == U9I_OP_SYNC ? 0 : op->n;
    int err = sim_note(&s->call, kind_of(op), file_of(op)->path, n ? op->off : 0,
                       n ? op->off + n : 0);
    world.ops[s->call.op].durable = op->durable;
    if (op->kind == U9I_OP_WRITE) {
        s->sum = sim_sum(op);
        if (err == 0) sim_look_at_promises(file_of(op), op);
    }
    if (err == 0) s->lie = sim_ask_lies(op);
    q->under_way++;
    s->began = world.tick;
    if (err != 0 && s->call.half) (void)do_write(s, op->n / 2 / 512 * 512);
    s->state = err != 0 || world.order == SIM_PROMPT ? SLOT_DONE : SLOT_WAITING;
    if (err != 0) s->result = err;
    else if (s->state == SLOT_DONE) s->result = do_op(s);
    if (op->kind == U9I_OP_WRITE && world.kill_nth > 0 && --world.kill_nth == 0) sim_kill_now();
    sim_count_power();
}

/* SIM_WILD: of all queues, the one that is done next, if that is by then. */
static slot *next_done(uint64_t by_us)
{
    slot *next = NULL;
    for (queue *q = world.queues; q; q = q->next)
        for (slot *s = q->slots; s < q->slots + U9I_QUEUE_DEPTH; s++)
            if (s->state == SLOT_WAITING && s->done_us <= by_us && (next == NULL || s->done_us < next->done_us))
                next = s;
    return next;
}

static void finish_slot(slot *s)
{
    s->result = do_op(s);
    s->state = SLOT_DONE;
}

void sim_progress(void)
{
    if (world.order != SIM_WILD) return;
    for (slot *s; (s = next_done(world.now_us)) != NULL;) finish_slot(s);
}

void sim_forget_effect(const sim_effect *effect)
{
    for (queue *q = world.queues; q; q = q->next)
        for (slot *s = q->slots; s < q->slots + U9I_QUEUE_DEPTH; s++)
            if (s->effect == effect) s->effect = NULL;
}

bool sim_uses(const u9i_file *file)
{
    for (queue *q = world.queues; q; q = q->next)
        for (slot *s = q->slots; s < q->slots + U9I_QUEUE_DEPTH; s++)
            if (s->state == SLOT_WAITING && s->op.file == file && q->owner == world.process) return true;
    return false;
}

bool sim_is_under_way(const sim_node *node, uint64_t end)
{
    for (queue *q = world.queues; q; q = q->next)
        for (slot *s = q->slots; s < q->slots + U9I_QUEUE_DEPTH; s++)
            if (s->state == SLOT_WAITING && s->op.kind == U9I_OP_WRITE && s->op.off < end &&
                ((const sim_file *)s->op.file)->node == node)
                return true;
    return false;
}

void sim_each_pending(void (*each)(sim_node *node, const u9i_op *op))
{
    slot *list[256];
    size_t count = 0;
    for (queue *q = world.queues; q; q = q->next)
        for (slot *s = q->slots; s < q->slots + U9I_QUEUE_DEPTH && count < 256; s++) {
            const sim_file *f = s->state == SLOT_WAITING ? (const sim_file *)s->op.file : NULL;
            if (f == NULL || s->op.kind != U9I_OP_WRITE || f->life != world.life) continue;
            size_t at = (size_t)sim_draw(count + 1);
            list[count++] = list[at];
            list[at] = s;
        }
    for (size_t i = 0; i < count; i++) each(((const sim_file *)list[i]->op.file)->node, &list[i]->op);
}

void sim_collect_late(void)
{
    for (queue *q = world.queues; q; q = q->next)
        for (slot *s = q->slots; s < q->slots + U9I_QUEUE_DEPTH; s++) {
            const sim_file *f = s->state == SLOT_WAITING ? (const sim_file *)s->op.file : NULL;
            if (f && s->op.kind == U9I_OP_WRITE && f->life == world.life) sim_add_late(f->node, &s->op);
        }
}

static int submit(u9i_queue *handle, const u9i_op *ops, unsigned count)
{
    queue *q = of_queue(handle);
    sim_check_owner(q->owner);
    if (!world.threads && count > 0) sim_let_a_task_run();
    pthread_mutex_lock(&world.lock);
    world.now_us++;
    int err = q->under_way + count > U9I_QUEUE_DEPTH ? -EBUSY : 0;
    if (err == 0) err = sim_note_failure(SIM_SUBMIT, "");
    for (unsigned i = 0; err == 0 && i < count; i++) begin(q, &ops[i]);
    pthread_mutex_unlock(&world.lock);
    return err;
}

/* Waiting */

/* The slot whose turn it is to be told; NULL: none is under way. */
static slot *whose_turn(queue *q)
{
    slot *turn = NULL;
    uint64_t drawn = world.order == SIM_DRAWN && q->under_way > 0 ? sim_draw(q->under_way) : 0;
    for (slot *s = q->slots; s < q->slots + U9I_QUEUE_DEPTH; s++) {
        if (s->state == SLOT_FREE) continue;
        if (world.order == SIM_DRAWN && drawn-- == 0) return s;
        bool newest = world.order == SIM_REVERSED;
        if (turn == NULL || (newest ? s->age > turn->age : s->age < turn->age)) turn = s;
    }
    return turn;
}

/* SIM_WILD: the slot that can be told next, if that is by then; NULL: none. */
static slot *next_due(queue *q, uint64_t by_us)
{
    slot *next = NULL;
    for (slot *s = q->slots; s < q->slots + U9I_QUEUE_DEPTH; s++)
        if (s->state != SLOT_FREE && s->due_us <= by_us && (next == NULL || s->due_us < next->due_us)) next = s;
    return next;
}

/* Takes what may be told now: all that is done, or one that is waited for. Returns how many. */
static unsigned take(queue *q, u9i_completion *out, unsigned max, uint64_t by_us)
{
    unsigned n = 0;
    for (slot *s; n < max && (s = world.order == SIM_WILD ? next_due(q, by_us) : whose_turn(q)) != NULL;) {
        if (s->state == SLOT_WAITING) finish_slot(s);
        if (s->op.kind == U9I_OP_WRITE && sim_sum(&s->op) != s->sum)
            sim_breach("a buffer has changed while it was written", ((const sim_file *)s->op.file)->path, s->op.off);
        sim_tell(&s->call, s->result);
        if (s->effect) sim_note_told(s->effect);
        out[n++] = (u9i_completion){.tag = s->op.tag, .result = s->result};
        s->state = SLOT_FREE;
        q->under_way--;
        sim_count_power();
        if (world.order != SIM_PROMPT && world.order != SIM_WILD) break;
    }
    return n;
}

/* Waits for a wake, or the deadline: the lock is given back meanwhile. */
static void wait_woken(queue *q, uint64_t deadline_us)
{
    struct timespec t = {.tv_sec = (time_t)(deadline_us / 1000000),
                         .tv_nsec = (long)(deadline_us % 1000000) * 1000};
    int err = 0;
    while (!q->woken && err == 0)
        err = deadline_us == U9I_FOREVER
                  ? pthread_cond_wait(&world.moved, &world.lock)
                  : pthread_cond_clockwait(&world.moved, &world.lock, CLOCK_MONOTONIC, &t);
}

/* The same in one thread: time passes from one task to the next. */
static void pass_until_woken(queue *q, uint64_t deadline_us)
{
    pthread_mutex_unlock(&world.lock);
    while (!q->woken && world.now_us < deadline_us) {
        uint64_t next = world.in_task ? U9I_FOREVER : u9i_inline_next(&world.tasks);
        assert(next != U9I_FOREVER || deadline_us != U9I_FOREVER); /* nobody would ever wake it */
        sim_run_tasks(next < deadline_us ? next : deadline_us);
    }
    pthread_mutex_lock(&world.lock);
}

/* SIM_WILD: time passes until something can be told, somebody wakes it, or the deadline has come. */
static unsigned await_wild(queue *q, u9i_completion *out, unsigned max, uint64_t deadline_us)
{
    for (;;) {
        sim_progress();
        unsigned n = take(q, out, max, world.now_us);
        if (n > 0 || deadline_us <= world.now_us) return n;
        const slot *next = next_due(q, deadline_us);
        if (q->woken || (next == NULL && q->under_way == 0)) break;
        pthread_mutex_unlock(&world.lock);
        sim_run_tasks(next ? next->due_us : deadline_us);
        pthread_mutex_lock(&world.lock);
    }
    if (!q->woken) pass_until_woken(q, deadline_us);
    q->woken = false;
    return 0;
}

/* The completions that a wait gets; it waits if it may and nothing is under way. */
static unsigned await(queue *q, u9i_completion *out, unsigned max, uint64_t deadline_us)
{
    bool waits = deadline_us > sim_now(), prompt = world.order == SIM_PROMPT;
    if (world.order == SIM_WILD) return await_wild(q, out, max, deadline_us);
    if (q->under_way > 0 && prompt) return take(q, out, max, 0);
    if (!waits) return 0;
    if (q->under_way > 0 && !q->woken) {
        world.now_us += WAIT_US;
        return take(q, out, max, 0);
    }
    if (world.threads) wait_woken(q, deadline_us);
    else pass_until_woken(q, deadline_us);
    q->woken = false;
    return 0;
}

static int wait_queue(u9i_queue *handle, u9i_completion *out, unsigned max, uint64_t deadline_us)
{
    queue *q = of_queue(handle);
    sim_check_owner(q->owner);
    pthread_mutex_lock(&world.lock);
    int n = sim_note_failure(SIM_WAIT, "");
    if (n == 0) n = (int)await(q, out, max, deadline_us);
    pthread_mutex_unlock(&world.lock);
    return n;
}

static void wake(u9i_queue *handle)
{
    pthread_mutex_lock(&world.lock);
    of_queue(handle)->woken = true;
    pthread_cond_broadcast(&world.moved);
    pthread_mutex_unlock(&world.lock);
}

/* In a forked child, what is under way is the parent's. */
static void settle_locked(queue *q)
{
    u9i_completion unused;
    while (world.process == q->owner && take(q, &unused, 1, U9I_FOREVER) > 0) continue;
}

static void settle(u9i_queue *handle)
{
    pthread_mutex_lock(&world.lock);
    settle_locked(of_queue(handle));
    pthread_mutex_unlock(&world.lock);
}

static void close_queue(u9i_queue *handle)
{
    queue *q = of_queue(handle);
    pthread_mutex_lock(&world.lock);
    settle_locked(q);
    struct queue **at = &world.queues;
    while (*at && *at != q) at = &(*at)->next;
    if (*at) *at = q->next;
    pthread_mutex_unlock(&world.lock);
    free(q);
}

const u9i_queue_type sim_queue_type = {
    .open = open_queue,
    .close = close_queue,
    .submit = submit,
    .wait = wait_queue,
    .settle = settle,
    .wake = wake,
};
