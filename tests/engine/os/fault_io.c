/*
 * tests/engine/os/fault_io.c: see fault_io.h.
 */
#include "tests/engine/os/fault_io.h"

#include "engine/log/catalog.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PLANS_MAX = 8 };

typedef struct plan {
    fault_kind kind;
    unsigned nth, seen;
    int error;
    bool sticky, half;
} plan;

/* What is the same for all dirs. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    u9i_env *inner;
    fault_op *ops;
    size_t count, room;
    uint64_t tick;
    plan plans[PLANS_MAX];
    unsigned plan_count, fired;
    fault_order order;
    bool sync_for_real;
    bool held;
    fault_kind hold;
    unsigned hold_nth; /* calls until the one that stops; 0: none does */
} diary = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

typedef enum slot_state {
    SLOT_FREE,
    SLOT_INNER,   /* under way below; its tag there is the slot's number */
    SLOT_WAITING, /* to be done when it is told */
    SLOT_COMPLETE
} slot_state;

static u9i_env faulty_env;

typedef struct slot {
    slot_state state;
    uint64_t age;
    size_t entry; /* in the diary */
    u9i_op op;
    int64_t result;
} slot;

typedef struct faulty_queue {
    u9i_queue queue;
    u9i_queue *inner;
    pid_t owner;
    uint64_t age;
    slot slots[U9I_QUEUE_DEPTH];
} faulty_queue;

typedef struct faulty_dir {
    u9i_dir dir;
    u9i_dir *inner;
    pid_t owner;
} faulty_dir;

typedef struct faulty_file {
    u9i_file file;
    u9i_file *inner;
    pid_t owner;
    uint64_t segment;
} faulty_file;

static u9i_dir *inner_dir(u9i_dir *dir)
{
    return ((faulty_dir *)dir)->inner;
}

static u9i_file *inner_file(u9i_file *file)
{
    return ((faulty_file *)file)->inner;
}

static uint64_t segment_of(u9i_file *file)
{
    return ((faulty_file *)file)->segment;
}

/* The diary */

/* What a plan says of this call: 0 or a negative errno. */
static int ask_plans(fault_kind kind, bool *half)
{
    int err = 0;
    for (unsigned i = 0; i < diary.plan_count; i++) { /* all count the call; the first decides */
        plan *p = &diary.plans[i];
        if (p->kind != FAULT_ANY && p->kind != kind) continue;
        p->seen++;
        if (err != 0 || (p->seen != p->nth && !(p->sticky && p->seen > p->nth))) continue;
        diary.fired++;
        if (half) *half = p->half;
        err = -p->error;
    }
    return err;
}

/* Enters an operation; 0, or the error it shall have. */
static int enter(fault_kind kind, uint64_t segment, uint64_t begin, uint64_t end, size_t *op,
                 bool *half)
{
    pthread_mutex_lock(&diary.lock);
    if (diary.hold_nth > 0 && diary.hold == kind && --diary.hold_nth == 0) {
        diary.held = true;
        pthread_cond_broadcast(&diary.moved);
        while (diary.held) pthread_cond_wait(&diary.moved, &diary.lock);
    }
    if (diary.count == diary.room) {
        diary.room = diary.room ? 2 * diary.room : 256;
        diary.ops = realloc(diary.ops, diary.room * sizeof *diary.ops);
        assert(diary.ops);
    }
    *op = diary.count++;
    if (half) *half = false;
    diary.ops[*op] = (fault_op){.kind = kind, .segment = segment, .begin = begin, .end = end,
                                .began = ++diary.tick};
    int err = ask_plans(kind, half);
    pthread_mutex_unlock(&diary.lock);
    return err;
}

static int leave(size_t op, int error)
{
    pthread_mutex_lock(&diary.lock);
    if (op < diary.count) {
        diary.ops[op].error = error;
        diary.ops[op].ended = ++diary.tick;
    }
    pthread_mutex_unlock(&diary.lock);
    return error;
}

void fault_io_fail(fault_kind kind, unsigned nth, int error, bool sticky)
{
    pthread_mutex_lock(&diary.lock);
    assert(diary.plan_count < PLANS_MAX && nth > 0);
    diary.plans[diary.plan_count++] =
        (plan){.kind = kind, .nth = nth, .error = error, .sticky = sticky};
    pthread_mutex_unlock(&diary.lock);
}

void fault_io_fail_half(unsigned nth, int error)
{
    fault_io_fail(FAULT_WRITE, nth, error, false);
    pthread_mutex_lock(&diary.lock);
    diary.plans[diary.plan_count - 1].half = true;
    pthread_mutex_unlock(&diary.lock);
}

void fault_io_mend(void)
{
    pthread_mutex_lock(&diary.lock);
    diary.plan_count = 0;
    pthread_mutex_unlock(&diary.lock);
}

unsigned fault_io_fired(void)
{
    pthread_mutex_lock(&diary.lock);
    unsigned n = diary.fired;
    pthread_mutex_unlock(&diary.lock);
    return n;
}

void fault_io_order(fault_order order)
{
    pthread_mutex_lock(&diary.lock);
    diary.order = order;
    pthread_mutex_unlock(&diary.lock);
}

void fault_io_sync_for_real(bool real)
{
    pthread_mutex_lock(&diary.lock);
    diary.sync_for_real = real;
    pthread_mutex_unlock(&diary.lock);
}

void fault_io_hold(fault_kind kind, unsigned nth)
{
    pthread_mutex_lock(&diary.lock);
    diary.hold = kind;
    diary.hold_nth = nth;
    diary.held = false;
    pthread_mutex_unlock(&diary.lock);
}

void fault_io_wait_held(void)
{
    pthread_mutex_lock(&diary.lock);
    while (!diary.held) pthread_cond_wait(&diary.moved, &diary.lock);
    pthread_mutex_unlock(&diary.lock);
}

void fault_io_let_go(void)
{
    pthread_mutex_lock(&diary.lock);
    diary.hold_nth = 0;
    diary.held = false;
    pthread_cond_broadcast(&diary.moved);
    pthread_mutex_unlock(&diary.lock);
}

const fault_op *fault_io_ops(size_t *count)
{
    *count = diary.count;
    return diary.ops;
}

unsigned fault_io_count(fault_kind kind)
{
    unsigned n = 0;
    pthread_mutex_lock(&diary.lock);
    for (size_t i = 0; i < diary.count; i++) n += kind == FAULT_ANY || diary.ops[i].kind == kind;
    pthread_mutex_unlock(&diary.lock);
    return n;
}

const fault_op *fault_io_find(fault_kind kind, uint64_t segment, uint64_t at)
{
    for (size_t i = 0; i < diary.count; i++) {
        const fault_op *op = &diary.ops[i];
        if (op->kind == kind && op->segment == segment &&
            (at == UINT64_MAX || (op->begin <= at && at < op->end)))
            return op;
    }
    return NULL;
}

/* True if the file's name is on stable storage at this tick: made before, or its directory synced. */
static bool name_durable(uint64_t segment, uint64_t tick)
{
    const fault_op *made = fault_io_find(FAULT_CREATE, segment, UINT64_MAX);
    if (made == NULL) return true;
    for (size_t i = 0; i < diary.count; i++) {
        const fault_op *op = &diary.ops[i];
        if (op->kind == FAULT_SYNC_DIR && op->error == 0 && op->ended != 0 && op->ended <= tick &&
            op->began > made->ended)
            return true;
    }
    return false;
}

/* The last tick at which a sync of the file began that was told complete by `tick`; 0: none. */
static uint64_t last_sync(uint64_t segment, uint64_t tick)
{
    uint64_t began = 0;
    for (size_t i = 0; i < diary.count; i++) {
        const fault_op *op = &diary.ops[i];
        if ((op->kind == FAULT_SYNC || op->kind == FAULT_SETTLE) && op->segment == segment &&
            op->error == 0 && op->ended != 0 && op->ended <= tick && op->began > began)
            began = op->began;
    }
    return began;
}

uint64_t fault_io_durable(uint64_t segment, uint64_t tick)
{
    uint64_t sync = last_sync(segment, tick), end = 0;
    if (!name_durable(segment, tick)) return 0;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < diary.count; i++) {
            const fault_op *op = &diary.ops[i];
            if (op->kind == FAULT_WRITE && op->segment == segment && op->error == 0 &&
                op->ended != 0 && op->ended < sync && op->begin <= end && end < op->end)
                end = op->end, more = true;
        }
    }
    return end;
}

static void check_owner(pid_t owner)
{
    if (getpid() != owner) _exit(FAULT_WRONG_PROCESS);
}

/* What is done at once */

static int open_dir(u9i_env *env, const char *path, bool create, u9i_dir **out)
{
    size_t op;
    int err = enter(FAULT_MOUNT, 0, 0, 0, &op, NULL);
    if (err != 0) return leave(op, err);
    faulty_dir *f = calloc(1, sizeof *f);
    assert(f);
    err = u9i_dir_open(diary.inner, path, create, &f->inner);
    if (err != 0) {
        free(f);
        return leave(op, err);
    }
    f->dir.env = env;
    memcpy(f->dir.single, f->inner->single, sizeof f->dir.single);
    f->owner = getpid();
    *out = &f->dir;
    return leave(op, 0);
}

static void close_dir(u9i_dir *dir)
{
    u9i_dir_close(inner_dir(dir));
    free(dir);
}

static int lock_dir(u9i_dir *dir)
{
    size_t op;
    int err = enter(FAULT_LOCK, 0, 0, 0, &op, NULL);
    return leave(op, err ? err : u9i_dir_lock(inner_dir(dir)));
}

static bool locked(u9i_dir *dir)
{
    return u9i_dir_writer_active(inner_dir(dir));
}

static int list(u9i_dir *dir, u9i_list_fn *each, void *ctx)
{
    size_t op;
    int err = enter(FAULT_LIST, 0, 0, 0, &op, NULL);
    return leave(op, err ? err : u9i_dir_list(inner_dir(dir), each, ctx));
}

static int stat_name(u9i_dir *dir, const char *name, u9i_stamp *out)
{
    return u9i_dir_stat(inner_dir(dir), name, out);
}

static int rename_name(u9i_dir *dir, const char *from, const char *to)
{
    return u9i_dir_rename(inner_dir(dir), from, to);
}

static int link_name(u9i_dir *dir, const char *name, u9i_dir *to, const char *new_name)
{
    return u9i_dir_link(inner_dir(dir), name, inner_dir(to), new_name);
}

static int remove_name(u9i_dir *dir, const char *name)
{
    return u9i_dir_remove(inner_dir(dir), name);
}

static int sync_dir(u9i_dir *dir)
{
    size_t op;
    check_owner(((faulty_dir *)dir)->owner);
    int err = enter(FAULT_SYNC_DIR, 0, 0, 0, &op, NULL);
    if (err == 0 && diary.sync_for_real) err = u9i_dir_sync(inner_dir(dir));
    return leave(op, err);
}

static int open_file(u9i_dir *dir, const char *name, u9i_open_mode mode, u9i_file **out)
{
    size_t op;
    uint64_t segment = u9i_segment_number(name);
    int err = enter(mode == U9I_OPEN_CREATE ? FAULT_CREATE : FAULT_OPEN, segment, 0, 0, &op, NULL);
    if (err != 0) return leave(op, err);
    faulty_file *file = calloc(1, sizeof *file);
    assert(file);
    err = u9i_file_open(inner_dir(dir), name, mode, &file->inner);
    if (err != 0) {
        free(file);
        return leave(op, err);
    }
    file->file.env = dir->env;
    file->owner = ((faulty_dir *)dir)->owner;
    file->segment = segment;
    *out = &file->file;
    return leave(op, 0);
}

static void close_file(u9i_file *file)
{
    u9i_file_close(inner_file(file));
    free(file);
}

static int file_size(u9i_file *file, uint64_t *out)
{
    size_t op;
    int err = enter(FAULT_SIZE, segment_of(file), 0, 0, &op, NULL);
    return leave(op, err ? err : u9i_file_size(inner_file(file), out));
}

static int read_file(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got)
{
    size_t op;
    int err = enter(FAULT_READ, segment_of(file), off, off + n, &op, NULL);
    return leave(op, err ? err : u9i_file_read(inner_file(file), off, buf, n, got));
}

static int reserve(u9i_file *file, uint64_t end)
{
    size_t op;
    int err = enter(FAULT_RESERVE, segment_of(file), 0, end, &op, NULL);
    return leave(op, err ? err : u9i_file_reserve(inner_file(file), end));
}

static int set_size(u9i_file *file, uint64_t size)
{
    size_t op;
    check_owner(((faulty_file *)file)->owner);
    int err = enter(FAULT_CUT, segment_of(file), 0, size, &op, NULL);
    return leave(op, err ? err : u9i_file_truncate(inner_file(file), size));
}

static int sync_and_evict(u9i_file *file)
{
    size_t op;
    int err = enter(FAULT_SETTLE, segment_of(file), 0, 0, &op, NULL);
    if (err == 0 && diary.sync_for_real) err = u9i_file_sync_and_evict(inner_file(file));
    return leave(op, err);
}

static int map_file(u9i_file *file, uint64_t off, size_t n, const void **out)
{
    return u9i_file_map(inner_file(file), off, n, out);
}

static void unmap_file(u9i_file *file, const void *map, size_t n)
{
    u9i_file_unmap(inner_file(file), map, n);
}

/* What is started and completed apart */

static int open_queue(u9i_env *env, void *buffers, size_t size, unsigned count, u9i_queue **out)
{
    size_t op;
    int err = enter(FAULT_START, 0, 0, 0, &op, NULL);
    if (err != 0) return leave(op, err);
    faulty_queue *q = calloc(1, sizeof *q);
    assert(q);
    err = u9i_queue_open(diary.inner, buffers, size, count, &q->inner);
    if (err != 0) {
        free(q);
        return leave(op, err);
    }
    q->queue.env = env;
    q->owner = getpid();
    *out = &q->queue;
    return leave(op, 0);
}

/* Takes one completion from below into its slot. -EAGAIN: there was none by then. */
static int take_inner(faulty_queue *q, uint64_t deadline_us)
{
    u9i_completion c;
    int n = u9i_queue_wait(q->inner, &c, 1, deadline_us);
    if (n <= 0) return n < 0 ? n : -EAGAIN;
    assert(c.tag < U9I_QUEUE_DEPTH && q->slots[c.tag].state == SLOT_INNER);
    q->slots[c.tag].state = SLOT_COMPLETE;
    q->slots[c.tag].result = c.result;
    return 0;
}

/* Hands a slot's operation down. */
static void hand_down(faulty_queue *q, slot *s)
{
    u9i_op op = s->op;
    int err;
    op.file = inner_file(op.file);
    op.tag = (uint64_t)(s - q->slots);
    s->state = SLOT_INNER;
    if (op.kind == U9I_OP_SYNC && !diary.sync_for_real) {
        s->state = SLOT_COMPLETE;
        return;
    }
    while ((err = u9i_queue_submit(q->inner, &op, 1)) == -EBUSY) (void)take_inner(q, U9I_FOREVER);
    if (err != 0) s->state = SLOT_COMPLETE, s->result = err;
}

/* Does a slot's operation from beginning to end. */
static void do_now(faulty_queue *q, slot *s)
{
    hand_down(q, s);
    while (s->state == SLOT_INNER)
        if (take_inner(q, U9I_FOREVER) != 0) abort();
}

static void begin(faulty_queue *q, const u9i_op *op)
{
    static const fault_kind kinds[] = {
        [U9I_OP_READ] = FAULT_READ, [U9I_OP_WRITE] = FAULT_WRITE, [U9I_OP_SYNC] = FAULT_SYNC};
    bool half;
    slot *s = q->slots;
    while (s->state != SLOT_FREE) s++;
    *s = (slot){.op = *op, .age = ++q->age};
    int err = enter(kinds[op->kind], segment_of(op->file), op->off, op->off + op->n, &s->entry, &half);
    if (err != 0 && half) {
        s->op.n = op->n / 2 / 512 * 512;
        do_now(q, s);
    }
    if (err != 0) s->state = SLOT_COMPLETE, s->result = err;
    else if (diary.order == FAULT_PROMPT) hand_down(q, s);
    else s->state = SLOT_WAITING;
}

static int submit(u9i_queue *queue, const u9i_op *ops, unsigned count)
{
    faulty_queue *q = (faulty_queue *)queue;
    unsigned room = 0;
    check_owner(q->owner);
    for (unsigned i = 0; i < U9I_QUEUE_DEPTH; i++) room += q->slots[i].state == SLOT_FREE;
    if (count > room) return -EBUSY;
    for (unsigned i = 0; i < count; i++) begin(q, &ops[i]);
    return 0;
}

/* The slot whose turn it is to be told; NULL: all that is under way is below. */
static slot *whose_turn(faulty_queue *q)
{
    slot *turn = NULL;
    for (slot *s = q->slots; s < q->slots + U9I_QUEUE_DEPTH; s++) {
        if (s->state != SLOT_WAITING && s->state != SLOT_COMPLETE) continue;
        bool newest = diary.order == FAULT_REVERSED;
        if (turn == NULL || (newest ? s->age > turn->age : s->age < turn->age)) turn = s;
    }
    return turn;
}

/* Tells one completion, whatever `max`. */
static int wait_queue(u9i_queue *queue, u9i_completion *out, unsigned max, uint64_t deadline_us)
{
    faulty_queue *q = (faulty_queue *)queue;
    (void)max;
    check_owner(q->owner);
    if (diary.order != FAULT_PROMPT && deadline_us == 0) return 0;
    slot *s;
    while ((s = whose_turn(q)) == NULL) {
        int err = take_inner(q, deadline_us);
        if (err != 0) return err == -EAGAIN ? 0 : err;
    }
    if (s->state == SLOT_WAITING) do_now(q, s);
    *out = (u9i_completion){.tag = s->op.tag, .result = s->result};
    (void)leave(s->entry, s->result < 0 ? (int)s->result : 0);
    s->state = SLOT_FREE;
    return 1;
}

static void wake(u9i_queue *queue)
{
    u9i_queue_wake(((faulty_queue *)queue)->inner);
}

static void close_queue(u9i_queue *queue)
{
    faulty_queue *q = (faulty_queue *)queue;
    u9i_completion unused;
    for (unsigned i = 0; i < U9I_QUEUE_DEPTH && q->owner == getpid(); i++)
        while (q->slots[i].state != SLOT_FREE) (void)wait_queue(queue, &unused, 1, U9I_FOREVER);
    u9i_queue_close(q->inner);
    free(q);
}

static const u9i_fs faulty_fs = {
    .open_dir = open_dir, .close_dir = close_dir, .lock = lock_dir, .locked = locked, .list = list,
    .stat = stat_name, .rename = rename_name, .link = link_name, .remove = remove_name,
    .sync_dir = sync_dir, .open = open_file, .close = close_file, .size = file_size, .read = read_file,
    .reserve = reserve, .truncate = set_size, .sync_and_evict = sync_and_evict, .map = map_file,
    .unmap = unmap_file};

static const u9i_queue_type faulty_queue_type = {
    .open = open_queue, .close = close_queue, .submit = submit, .wait = wait_queue, .wake = wake};

static u9i_env faulty_env = {.name = "faulty", .fs = &faulty_fs, .queue = &faulty_queue_type};

void fault_io_reset(u9i_env *inner)
{
    pthread_mutex_lock(&diary.lock);
    free(diary.ops);
    diary.ops = NULL;
    diary.count = diary.room = 0;
    diary.tick = 0;
    diary.plan_count = diary.fired = 0;
    diary.order = FAULT_PROMPT;
    diary.sync_for_real = false;
    diary.hold_nth = 0;
    diary.held = false;
    diary.inner = inner;
    pthread_mutex_unlock(&diary.lock);
    if (inner == NULL && u9i_env_choose(NULL, &diary.inner, NULL) != U9_OK) abort();
    faulty_env.clock = diary.inner->clock;
    faulty_env.random = diary.inner->random;
    faulty_env.executor = diary.inner->executor;
    u9i_env_register(&faulty_env);
}

/* Randomness */

static unsigned random_nth; /* calls until the one that fails; 0: none */

void fault_random_fail(unsigned nth)
{
    __atomic_store_n(&random_nth, nth, __ATOMIC_RELAXED);
}

/* In the place of the C library's. */
ssize_t getrandom(void *buf, size_t size, unsigned flags)
{
    unsigned left = __atomic_load_n(&random_nth, __ATOMIC_RELAXED);
    if (left > 0) __atomic_store_n(&random_nth, left - 1, __ATOMIC_RELAXED);
    if (left == 1) {
        errno = ENOSYS;
        return -1;
    }
    return syscall(SYS_getrandom, buf, size, flags);
}
