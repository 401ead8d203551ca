/*
 * engine/idgen/gidgen.c: makes fresh GIDs.
 *
 * Owns: u9_gidgen. Rules: [I-16], [I-21].
 *
 * By default a GID is the clock and 64 fresh random bits (71 if wide), and nothing is remembered.
 * A monotonic generator remembers the last one: in the same millisecond, or behind it, it goes on
 * by adding one to the random bits; a batch takes a run of them at once. That is more than fits a compare-and-swap, so there is a lock,
 * held for some 20 instructions and at times for fetching randomness. It is a word that names the
 * fork generation of its holder: a lock that was held when the process forked is free in the child,
 * which then begins with a millisecond of its own.
 *
 * Threads: any. Not from signal handlers.
 */
#include "engine/idgen/idgen.h"
#include "format/base/fault.h"
#include "engine/os/env.h"
#include "engine/os/process.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What stands behind the timestamp. */
typedef struct noise {
    uint64_t high; /* 7 bits, if wide; else 0 */
    uint64_t low;
} noise;

struct u9_gidgen {
    u9_clock clock;
    u9_random random;
    bool monotonic, wide;
    /* Of a monotonic one, under the lock: */
    _Atomic uint64_t lock; /* 0, or 1 + the fork generation of its holder */
    uint64_t next_ms;      /* behind the millisecond that is being filled */
    bool filling;          /* there is such a one, and `last` was given out in it */
    unsigned generation;   /* in which `last` was */
    noise last;
};

static const char *check_gid_options(const u9_gidgen_options *o, u9_clock *clock)
{
    if (o->size != sizeof *o) return "options.size is not sizeof(u9_gidgen_options)";
    if (!u9i_clock_take(o->clock, clock)) return "options.clock has no now_us";
    if (o->random && !o->random->fill) return "options.random has no fill";
    if (o->seen_ms >= U9_GID_TIMESTAMP_MAX) return "options.seen_ms leaves no GID";
    return NULL;
}

u9_err u9_gidgen_new(const u9_gidgen_options *options, u9_gidgen **out, u9_fault *fault)
{
    const u9_gidgen_options defaults = {.size = sizeof defaults};
    const u9_gidgen_options *o = options ? options : &defaults;
    u9_clock clock;
    const char *wrong = check_gid_options(o, &clock);
    if (wrong) return u9i_fault(fault, U9_ARG, U9I_AT(.rule = "I-16"), "%s", wrong);
    u9_gidgen *gen = (u9_gidgen *)u9i_gen_new(sizeof *gen, fault);
    if (!gen) return U9_NOMEM;
    gen->clock = clock;
    if (o->random) gen->random = *o->random;
    gen->monotonic = o->monotonic != 0;
    gen->wide = o->wide != 0;
    gen->next_ms = o->seen_ms > 0 ? o->seen_ms + 1 : 0;
    gen->generation = u9i_fork_generation();
    atomic_init(&gen->lock, 0);
    *out = gen;
    return U9_OK;
}

void u9_gidgen_free(u9_gidgen *gen)
{
    free(gen);
}

static u9_err draw_noise(const u9_gidgen *gen, noise *out)
{
    uint8_t bytes[U9_GID_RANDOM_SIZE] = {0};
    if (!u9i_draw(&gen->random, bytes, sizeof out->low + gen->wide)) return U9_IO;
    memcpy(&out->low, bytes, sizeof out->low);
    out->high = bytes[8] & 0x7f;
    return U9_OK;
}

/* Adds `by`. False if that does not fit. */
static bool count_up(noise *n, bool wide, uint64_t by)
{
    n->low += by;
    if (n->low >= by) return true;
    return wide && ++n->high <= 0x7f;
}

/* Lowers what was drawn so far that `more` can be added: a run that begins at the end of the bits. */
static void leave_room(noise *n, bool wide, uint64_t more)
{
    noise end = *n;
    if (count_up(&end, wide, more)) return;
    n->low = UINT64_MAX - more; /* its highest bits are as they were: all set, if wide */
}

static void take_lock(u9_gidgen *gen, unsigned generation)
{
    uint64_t mine = (uint64_t)generation + 1;
    for (;;) {
        uint64_t holder = atomic_load_explicit(&gen->lock, memory_order_relaxed);
        if (holder != mine && atomic_compare_exchange_weak(&gen->lock, &holder, mine)) return;
        u9i_sleep_us(&u9i_env_posix, 0);
    }
}

/* What holds of a monotonic generator while its lock is held. */
static void gidgen_check(const u9_gidgen *gen)
{
    assert(gen->monotonic && gen->next_ms <= U9_GID_TIMESTAMP_MAX + 1);
    assert(gen->last.high <= 0x7f && (gen->wide || gen->last.high == 0));
}

/* The step of a monotonic generator, under its lock: the first of `count`, which is at least 1. */
static u9_err step(u9_gidgen *gen, unsigned generation, uint64_t count, uint64_t *ms, noise *out)
{
    bool same = gen->filling && gen->generation == generation && *ms < gen->next_ms;
    noise n = gen->last, end = gen->last;
    if (same && count_up(&end, gen->wide, count)) {
        (void)count_up(&n, gen->wide, 1); /* fits, for `count` do */
        *ms = gen->next_ms - 1;
    } else {
        if (*ms < gen->next_ms) *ms = gen->next_ms; /* behind the clock, or the noise is used up */
        if (*ms > U9_GID_TIMESTAMP_MAX) return U9_LIMIT;
        u9_err err = draw_noise(gen, &n);
        if (err != U9_OK) return err;
        leave_room(&n, gen->wide, count - 1);
        end = n;
        (void)count_up(&end, gen->wide, count - 1); /* fits: there is room */
    }
    gen->next_ms = *ms + 1;
    gen->filling = true;
    gen->generation = generation;
    gen->last = end;
    *out = n;
    gidgen_check(gen);
    return U9_OK;
}

/* The first noise of a run of `count`, and its millisecond. */
static u9_err take_run(u9_gidgen *gen, uint64_t count, uint64_t *ms, noise *out)
{
    unsigned generation = u9i_fork_generation();
    take_lock(gen, generation);
    u9_err err = step(gen, generation, count, ms, out);
    atomic_store_explicit(&gen->lock, 0, memory_order_release);
    return err;
}

static void put_noise(const u9_gidgen *gen, noise n, u9_gid *gid)
{
    gid->random[0] = gen->wide ? (uint8_t)(0x80 | n.high) : (uint8_t)gid->type;
    for (unsigned i = 1; i < U9_GID_RANDOM_SIZE; i++)
        gid->random[i] = (uint8_t)(n.low >> (8 * (U9_GID_RANDOM_SIZE - 1 - i)));
}

static void fill_run(const u9_gidgen *gen, u9_gid like, noise n, u9_gid *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_noise(gen, n, &like);
        out[i] = like;
        (void)count_up(&n, gen->wide, 1); /* behind the last: unused */
    }
}

/* What was begun is wiped if the randomness ends; a single one was not begun. */
static u9_err fill_drawn(const u9_gidgen *gen, u9_gid like, u9_gid *out, size_t count)
{
    noise n;
    for (size_t i = 0; i < count; i++) {
        u9_err err = draw_noise(gen, &n);
        if (err != U9_OK) {
            memset(out, 0, i * sizeof *out);
            return err;
        }
        put_noise(gen, n, &like);
        out[i] = like;
    }
    return U9_OK;
}

u9_err u9_gidgen_next(u9_gidgen *gen, u9_gid_type type, u9_gid *out)
{
    return u9_gidgen_next_n(gen, type, out, 1);
}

u9_err u9_gidgen_next_n(u9_gidgen *gen, u9_gid_type type, u9_gid *out, size_t n)
{
    u9_gid like = {.type = type};
    noise first;
    if (type != U9_GID_VOLUME && type != U9_GID_LOG && type != U9_GID_SEGMENT) return U9_ARG;
    if (n == 0) return U9_OK;
    int64_t now = gen->clock.now_us(gen->clock.ctx);
    if (now < 0) return U9_LIMIT;
    like.timestamp_ms = (uint64_t)now / 1000;
    if (like.timestamp_ms > U9_GID_TIMESTAMP_MAX) return U9_LIMIT;
    if (!gen->monotonic) return fill_drawn(gen, like, out, n);
    u9_err err = take_run(gen, n, &like.timestamp_ms, &first);
    if (err == U9_OK) fill_run(gen, like, first, out, n);
    return err;
}
