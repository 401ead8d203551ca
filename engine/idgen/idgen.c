/*
 * engine/idgen/idgen.c: makes fresh muids and TIDs, and has what all generators share.
 *
 * Owns: u9_muidgen, u9_tidgen, the pools of randomness. Rules: [I-15], [I-21].
 *
 * What a generator has given out is one number that only grows, `next`: the lowest timestamp that
 * is still free. Whoever moves it up by compare-and-swap owns what lies between, so there is no
 * lock, and a clock that stands still or steps back is harmless.
 *
 * Forks: whatever must differ in a child stands next to the fork generation in which it was drawn,
 * and is not used in another.
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

enum {
    POOL_SIZE = 1024, /* bytes of randomness fetched at once */
    NUMBER_BITS = 44  /* of an identity's word */
};

#define NUMBER_MASK ((UINT64_C(1) << NUMBER_BITS) - 1)
#define MUID_LAST (U9_MUID_TIMESTAMP_MAX - 1) /* all ones is no time [I-1] */

/* A number that only this process has: a medallion, a clock id. */
typedef struct identity {
    _Atomic uint64_t word; /* fork generation, and the number drawn in it below */
    uint64_t base, mask;   /* drawn are base + (random bits & mask) */
    bool given;            /* not drawn but the caller's */
} identity;

static int64_t system_now_us(void *ctx)
{
    (void)ctx;
    return (int64_t)u9i_wall_us(&u9i_env_posix);
}

static void system_sleep_us(void *ctx, uint64_t us)
{
    (void)ctx;
    u9i_sleep_us(&u9i_env_posix, us); /* cut short by a signal: the clock is read again all the same */
}

bool u9i_clock_take(const u9_clock *given, u9_clock *clock)
{
    *clock = given ? *given : (u9_clock){.now_us = system_now_us};
    if (!clock->sleep_us) clock->sleep_us = system_sleep_us;
    return clock->now_us != NULL;
}

uint64_t u9i_clock_us(const u9_clock *clock)
{
    int64_t now = clock->now_us(clock->ctx);
    return now > 0 ? (uint64_t)now : 0;
}

static bool draw_from_pool(void *out, size_t size)
{
    static _Thread_local struct {
        uint8_t bytes[POOL_SIZE];
        size_t left;
        unsigned generation;
    } pool;
    unsigned generation = u9i_fork_generation();
    if (pool.left < size || pool.generation != generation) {
        pool.left = 0;
        if (!u9i_random(&u9i_env_posix, pool.bytes, sizeof pool.bytes)) return false;
        pool.left = sizeof pool.bytes;
        pool.generation = generation;
    }
    pool.left -= size;
    memcpy(out, pool.bytes + pool.left, size);
    return true;
}

bool u9i_draw(const u9_random *random, void *out, size_t size)
{
    return random->fill ? random->fill(random->ctx, out, size) == 0 : draw_from_pool(out, size);
}

static u9_err no_randomness(u9_fault *fault)
{
    return u9i_fault(fault, U9_IO, U9I_AT(.sys = 0), "no randomness can be had");
}

void *u9i_gen_new(size_t size, u9_fault *fault)
{
    void *gen = calloc(1, size);
    if (!gen) (void)u9i_fault(fault, U9_NOMEM, U9I_AT(.sys = 0), "out of memory");
    return gen;
}

/* Draws a number that is not `old`. */
static bool draw_number(const identity *id, const u9_random *random, uint64_t old, uint64_t *out)
{
    uint64_t bits;
    if (!u9i_draw(random, &bits, sizeof bits)) return false;
    uint64_t number = id->base + (bits & id->mask);
    *out = number == old ? number ^ 1 : number;
    return true;
}

static uint64_t generation_bits(void)
{
    return (uint64_t)u9i_fork_generation() << NUMBER_BITS;
}

static void identity_check(const identity *id, uint64_t number)
{
    assert(number <= NUMBER_MASK);
    assert(id->given || ((number - id->base) & ~id->mask) == 0);
}

/* The number, drawn again in a forked child. When threads race there, the first one's stands. */
static u9_err read_identity(identity *id, const u9_random *random, uint64_t *out)
{
    uint64_t here = generation_bits(), word = atomic_load(&id->word);
    if ((word & ~NUMBER_MASK) != here) {
        uint64_t number;
        if (id->given) return U9_STATE;
        if (!draw_number(id, random, word & NUMBER_MASK, &number)) return U9_IO;
        if (atomic_compare_exchange_strong(&id->word, &word, here | number)) word = here | number;
    }
    *out = word & NUMBER_MASK;
    identity_check(id, *out);
    return U9_OK;
}

/* Completes `id`, whose base, mask and given are set. */
static u9_err begin_identity(identity *id, const u9_random *random, uint64_t given)
{
    uint64_t number = given;
    if (!id->given && !draw_number(id, random, UINT64_MAX, &number)) return U9_IO;
    atomic_init(&id->word, generation_bits() | number);
    return U9_OK;
}

/* [I-15] [I-21] `n` from max(now, *next) on, all or none, which are then taken. `n` is at least 1. */
static u9_err take_timestamps(_Atomic uint64_t *next, uint64_t now, uint64_t last, uint64_t n, uint64_t *out)
{
    uint64_t time, free = atomic_load(next);
    assert(n > 0);
    do {
        time = now > free ? now : free;
        if (time > last || n - 1 > last - time) return U9_LIMIT;
    } while (!atomic_compare_exchange_weak(next, &free, time + n));
    *out = time;
    return U9_OK;
}

struct u9_muidgen {
    u9_clock clock;
    u9_random random;
    identity medallion;
    _Atomic uint64_t next; /* the lowest timestamp that is free */
};

static const char *check_muid_options(const u9_muidgen_options *o, u9_clock *clock)
{
    if (o->size != sizeof *o) return "options.size is not sizeof(u9_muidgen_options)";
    if (!u9i_clock_take(o->clock, clock)) return "options.clock has no now_us";
    if (o->random && !o->random->fill) return "options.random has no fill";
    if (o->seen >= MUID_LAST) return "options.seen leaves no muid";
    if (o->medallion >= U9_MUID_MEDALLION_MAX) return "options.medallion is out of range";
    return NULL;
}

u9_err u9_muidgen_new(const u9_muidgen_options *options, u9_muidgen **out, u9_fault *fault)
{
    const u9_muidgen_options defaults = {.size = sizeof defaults};
    const u9_muidgen_options *o = options ? options : &defaults;
    u9_clock clock;
    const char *wrong = check_muid_options(o, &clock);
    if (wrong) return u9i_fault(fault, U9_ARG, U9I_AT(.rule = "I-15"), "%s", wrong);
    u9_muidgen *gen = (u9_muidgen *)u9i_gen_new(sizeof *gen, fault);
    if (!gen) return U9_NOMEM;
    gen->clock = clock;
    if (o->random) gen->random = *o->random;
    gen->medallion.base = UINT64_C(1) << 40;
    gen->medallion.mask = gen->medallion.base - 1;
    gen->medallion.given = o->medallion != 0;
    atomic_init(&gen->next, o->seen + 1);
    if (begin_identity(&gen->medallion, &gen->random, o->medallion) != U9_OK) {
        free(gen);
        return no_randomness(fault);
    }
    *out = gen;
    return U9_OK;
}

void u9_muidgen_free(u9_muidgen *gen)
{
    free(gen);
}

/* The first of `n` transactions. */
static u9_err take_transactions(u9_muidgen *gen, uint64_t n, u9_muid *out)
{
    u9_muid made = {.offset = 0};
    u9_err err = read_identity(&gen->medallion, &gen->random, &made.medallion);
    if (err == U9_OK)
        err = take_timestamps(&gen->next, u9i_clock_us(&gen->clock), MUID_LAST, n, &made.timestamp);
    if (err == U9_OK) *out = made;
    return err;
}

u9_err u9_muidgen_transaction(u9_muidgen *gen, u9_muid *out)
{
    return take_transactions(gen, 1, out);
}

u9_err u9_muid_advance(u9_muid *muid)
{
    if (muid->offset < 0) return U9_ARG;
    if (muid->offset == INT32_MAX) return U9_LIMIT;
    muid->offset++;
    return U9_OK;
}

u9_err u9_muidgen_next(u9_muidgen *gen, u9_muid *out)
{
    u9_err err = u9_muidgen_transaction(gen, out);
    return err == U9_OK ? u9_muid_advance(out) : err;
}

u9_err u9_muidgen_next_n(u9_muidgen *gen, u9_muid *out, size_t n)
{
    u9_muid made;
    if (n == 0) return U9_OK;
    u9_err err = take_transactions(gen, n, &made);
    if (err != U9_OK) return err;
    made.offset = 1;
    for (size_t i = 0; i < n; i++, made.timestamp++) out[i] = made;
    return U9_OK;
}

u9_err u9_muidgen_seen(u9_muidgen *gen, uint64_t timestamp)
{
    if (timestamp >= MUID_LAST) return U9_ARG;
    uint64_t free = atomic_load(&gen->next);
    while (free <= timestamp)
        if (atomic_compare_exchange_weak(&gen->next, &free, timestamp + 1)) break;
    return U9_OK;
}

struct u9_tidgen {
    u9_clock clock;
    u9_random random;
    identity clock_id;
    _Atomic uint64_t next; /* the lowest timestamp that is free */
};

static const char *check_tid_options(const u9_tidgen_options *o, u9_clock *clock)
{
    if (o->size != sizeof *o) return "options.size is not sizeof(u9_tidgen_options)";
    if (!u9i_clock_take(o->clock, clock)) return "options.clock has no now_us";
    if (o->random && !o->random->fill) return "options.random has no fill";
    if (o->seen >= U9_TID_TIMESTAMP_MAX) return "options.seen leaves no TID";
    if (o->clock_id > U9_TID_CLOCK_ID_MAX) return "options.clock_id is out of range";
    return NULL;
}

u9_err u9_tidgen_new(const u9_tidgen_options *options, u9_tidgen **out, u9_fault *fault)
{
    const u9_tidgen_options defaults = {.size = sizeof defaults};
    const u9_tidgen_options *o = options ? options : &defaults;
    u9_clock clock;
    const char *wrong = check_tid_options(o, &clock);
    if (wrong) return u9i_fault(fault, U9_ARG, U9I_AT(.rule = "I-15"), "%s", wrong);
    u9_tidgen *gen = (u9_tidgen *)u9i_gen_new(sizeof *gen, fault);
    if (!gen) return U9_NOMEM;
    gen->clock = clock;
    if (o->random) gen->random = *o->random;
    gen->clock_id.mask = U9_TID_CLOCK_ID_MAX;
    gen->clock_id.given = o->clock_id_given != 0;
    atomic_init(&gen->next, o->seen + 1);
    if (begin_identity(&gen->clock_id, &gen->random, o->clock_id) != U9_OK) {
        free(gen);
        return no_randomness(fault);
    }
    *out = gen;
    return U9_OK;
}

void u9_tidgen_free(u9_tidgen *gen)
{
    free(gen);
}

u9_err u9_tidgen_next(u9_tidgen *gen, const u9_tid *prev, u9_tid *out)
{
    return u9_tidgen_next_n(gen, prev, out, 1);
}

u9_err u9_tidgen_next_n(u9_tidgen *gen, const u9_tid *prev, u9_tid *out, size_t n)
{
    if (n == 0) return U9_OK;
    uint64_t clock_id, time, now = u9i_clock_us(&gen->clock);
    if (prev && prev->timestamp >= U9_TID_TIMESTAMP_MAX) return U9_LIMIT;
    if (prev && now <= prev->timestamp) now = prev->timestamp + 1;
    u9_err err = read_identity(&gen->clock_id, &gen->random, &clock_id);
    if (err == U9_OK) err = take_timestamps(&gen->next, now, U9_TID_TIMESTAMP_MAX, n, &time);
    if (err != U9_OK) return err;
    for (size_t i = 0; i < n; i++)
        out[i] = (u9_tid){.timestamp = time + i, .clock_id = (uint32_t)clock_id};
    return U9_OK;
}
