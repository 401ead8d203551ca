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

/* What is the same for all mounts. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    const u9i_io_table *inner;
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

static const u9i_io_table fault_io_table;

struct faulty_file;

typedef struct slot {
    slot_state state;
    uint64_t age;
    size_t op;
    struct faulty_file *file;
    bool is_sync;
    uint64_t off, tag;
    const void *buf;
    size_t n;
    int error;
} slot;

typedef struct faulty {
    u9i_io io;
    u9i_io *inner;
    pid_t owner;
    uint64_t age;
    slot slots[U9I_IO_DEPTH];
} faulty;

typedef struct faulty_file {
    u9i_file file;
    u9i_file *inner;
    uint64_t segment;
} faulty_file;

static faulty *of_io(u9i_io *io)
{
    return (faulty *)io;
}

static faulty_file *of_file(u9i_file *file)
{
    return (faulty_file *)file;
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

/* The table: what is done at once */

static int mount_faulty(const char *path, bool create, u9i_io **out)
{
    size_t op;
    int err = enter(FAULT_MOUNT, 0, 0, 0, &op, NULL);
    if (err != 0) return leave(op, err);
    faulty *f = calloc(1, sizeof *f);
    assert(f);
    err = diary.inner->mount(path, create, &f->inner);
    if (err != 0) {
        free(f);
        return leave(op, err);
    }
    f->io.table = &fault_io_table;
    memcpy(f->io.single, f->inner->single, sizeof f->io.single);
    f->owner = getpid();
    *out = &f->io;
    return leave(op, 0);
}

static void unmount_faulty(u9i_io *io)
{
    faulty *f = of_io(io);
    f->inner->table->unmount(f->inner);
    free(f);
}

static void check_owner(const faulty *f)
{
    if (getpid() != f->owner) _exit(FAULT_WRONG_PROCESS);
}

static int lock_faulty(u9i_io *io)
{
    size_t op;
    int err = enter(FAULT_LOCK, 0, 0, 0, &op, NULL);
    u9i_io *inner = of_io(io)->inner;
    return leave(op, err ? err : inner->table->lock(inner));
}

static bool busy_faulty(u9i_io *io)
{
    u9i_io *inner = of_io(io)->inner;
    return inner->table->busy(inner);
}

static int list_faulty(u9i_io *io, u9i_list_fn *each, void *ctx)
{
    size_t op;
    int err = enter(FAULT_LIST, 0, 0, 0, &op, NULL);
    u9i_io *inner = of_io(io)->inner;
    return leave(op, err ? err : inner->table->list(inner, each, ctx));
}

static int sync_dir_faulty(u9i_io *io)
{
    size_t op;
    check_owner(of_io(io));
    int err = enter(FAULT_SYNC_DIR, 0, 0, 0, &op, NULL);
    u9i_io *inner = of_io(io)->inner;
    if (err == 0 && diary.sync_for_real) err = inner->table->sync_dir(inner);
    return leave(op, err);
}

static int start_faulty(u9i_io *io, void *buffers, size_t size, unsigned count)
{
    size_t op;
    int err = enter(FAULT_START, 0, 0, 0, &op, NULL);
    u9i_io *inner = of_io(io)->inner;
    return leave(op, err ? err : inner->table->start(inner, buffers, size, count));
}

static int open_faulty(u9i_io *io, const char *name, u9i_open_mode mode, u9i_file **out)
{
    size_t op;
    uint64_t segment = u9i_segment_number(name);
    int err = enter(mode == U9I_OPEN_CREATE ? FAULT_CREATE : FAULT_OPEN, segment, 0, 0, &op, NULL);
    if (err != 0) return leave(op, err);
    faulty_file *file = calloc(1, sizeof *file);
    assert(file);
    u9i_io *inner = of_io(io)->inner;
    err = inner->table->open(inner, name, mode, &file->inner);
    if (err != 0) {
        free(file);
        return leave(op, err);
    }
    file->file.io = io;
    file->segment = segment;
    *out = &file->file;
    return leave(op, 0);
}

static void close_faulty(u9i_file *file)
{
    u9i_file *inner = of_file(file)->inner;
    inner->io->table->close(inner);
    free(file);
}

static int size_faulty(u9i_file *file, uint64_t *out)
{
    size_t op;
    int err = enter(FAULT_SIZE, of_file(file)->segment, 0, 0, &op, NULL);
    u9i_file *inner = of_file(file)->inner;
    return leave(op, err ? err : inner->io->table->size(inner, out));
}

static int read_faulty(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got)
{
    size_t op;
    int err = enter(FAULT_READ, of_file(file)->segment, off, off + n, &op, NULL);
    u9i_file *inner = of_file(file)->inner;
    return leave(op, err ? err : inner->io->table->read(inner, off, buf, n, got));
}

static int reserve_faulty(u9i_file *file, uint64_t end)
{
    size_t op;
    int err = enter(FAULT_RESERVE, of_file(file)->segment, 0, end, &op, NULL);
    u9i_file *inner = of_file(file)->inner;
    return leave(op, err ? err : inner->io->table->reserve(inner, end));
}

static int cut_faulty(u9i_file *file, uint64_t size)
{
    size_t op;
    check_owner(of_io(file->io));
    int err = enter(FAULT_CUT, of_file(file)->segment, 0, size, &op, NULL);
    u9i_file *inner = of_file(file)->inner;
    return leave(op, err ? err : inner->io->table->cut(inner, size));
}

static int settle_faulty(u9i_file *file)
{
    size_t op;
    int err = enter(FAULT_SETTLE, of_file(file)->segment, 0, 0, &op, NULL);
    u9i_file *inner = of_file(file)->inner;
    if (err == 0 && diary.sync_for_real) err = inner->io->table->settle(inner);
    return leave(op, err);
}

/* The table: what is started and completed apart */

/* Takes one completion from below into its slot. */
static int take_inner(faulty *f, bool wait)
{
    u9i_done done;
    int err = f->inner->table->reap(f->inner, wait, &done);
    if (err != 0) return err;
    assert(done.tag < U9I_IO_DEPTH && f->slots[done.tag].state == SLOT_INNER);
    f->slots[done.tag].state = SLOT_COMPLETE;
    f->slots[done.tag].error = done.error;
    return 0;
}

/* Hands a slot's operation down. */
static void hand_down(faulty *f, slot *s)
{
    const u9i_io_table *t = f->inner->table;
    u9i_file *file = s->file->inner;
    uint64_t tag = (uint64_t)(s - f->slots);
    int err;
    s->state = SLOT_INNER;
    if (s->is_sync && !diary.sync_for_real) {
        s->state = SLOT_COMPLETE;
        return;
    }
    while ((err = s->is_sync ? t->sync(file, tag) : t->write(file, s->off, s->buf, s->n, tag)) ==
           -EBUSY)
        (void)take_inner(f, true);
    if (err != 0) s->state = SLOT_COMPLETE, s->error = err;
}

/* Does a slot's operation from beginning to end. */
static void do_now(faulty *f, slot *s)
{
    hand_down(f, s);
    while (s->state == SLOT_INNER)
        if (take_inner(f, true) != 0) abort();
}

static int begin(u9i_file *file, const slot *work)
{
    faulty *f = of_io(file->io);
    bool half;
    check_owner(f);
    slot *s = f->slots;
    while (s < f->slots + U9I_IO_DEPTH && s->state != SLOT_FREE) s++;
    if (s == f->slots + U9I_IO_DEPTH) return -EBUSY;
    *s = *work;
    s->file = of_file(file);
    s->age = ++f->age;
    s->error = enter(s->is_sync ? FAULT_SYNC : FAULT_WRITE, s->file->segment, s->off, s->off + s->n,
                     &s->op, &half);
    int err = s->error;
    if (err != 0 && half) {
        s->n = s->n / 2 / 512 * 512;
        do_now(f, s);
        s->error = err;
    }
    if (err != 0) s->state = SLOT_COMPLETE;
    else if (diary.order == FAULT_PROMPT) hand_down(f, s);
    else s->state = SLOT_WAITING;
    return 0;
}

static int write_faulty(u9i_file *file, uint64_t off, const void *buf, size_t n, uint64_t tag)
{
    return begin(file, &(slot){.off = off, .buf = buf, .n = n, .tag = tag});
}

static int sync_faulty(u9i_file *file, uint64_t tag)
{
    return begin(file, &(slot){.is_sync = true, .tag = tag});
}

/* The slot whose turn it is to be told; NULL: all that is under way is below. */
static slot *whose_turn(faulty *f)
{
    slot *turn = NULL;
    for (slot *s = f->slots; s < f->slots + U9I_IO_DEPTH; s++) {
        if (s->state != SLOT_WAITING && s->state != SLOT_COMPLETE) continue;
        bool newest = diary.order == FAULT_REVERSED;
        if (turn == NULL || (newest ? s->age > turn->age : s->age < turn->age)) turn = s;
    }
    return turn;
}

static int reap_faulty(u9i_io *io, bool wait, u9i_done *out)
{
    faulty *f = of_io(io);
    check_owner(f);
    if (diary.order != FAULT_PROMPT && !wait) return -EAGAIN;
    slot *s;
    while ((s = whose_turn(f)) == NULL) {
        int err = take_inner(f, wait);
        if (err != 0) return err;
    }
    if (s->state == SLOT_WAITING) do_now(f, s);
    *out = (u9i_done){.tag = s->tag, .error = leave(s->op, s->error)};
    s->state = SLOT_FREE;
    return 0;
}

static const u9i_io_table fault_io_table = {
    .name = "faulty",
    .mount = mount_faulty,
    .unmount = unmount_faulty,
    .lock = lock_faulty,
    .busy = busy_faulty,
    .list = list_faulty,
    .sync_dir = sync_dir_faulty,
    .start = start_faulty,
    .open = open_faulty,
    .close = close_faulty,
    .size = size_faulty,
    .read = read_faulty,
    .reserve = reserve_faulty,
    .cut = cut_faulty,
    .settle = settle_faulty,
    .write = write_faulty,
    .sync = sync_faulty,
    .reap = reap_faulty,
};

void fault_io_reset(const u9i_io_table *inner)
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
    diary.inner = inner ? inner : u9i_io_choose(NULL);
    pthread_mutex_unlock(&diary.lock);
    assert(diary.inner);
    u9i_io_offer(&fault_io_table);
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
