/*
 * engine/idgen/uid8gen.c: makes fresh eight-byte identifiers.
 *
 * Owns: u9_uid8gen. Rules: [I-17], [I-21].
 *
 * A millisecond has 64 slots, so time is a row of slots, numbered timestamp * 64 + sequence, and
 * `next` is the lowest that is still free. A slot may be taken up to the end of the millisecond
 * that the clock shows or that was last begun, whichever is later: a clock that was set back is
 * waited for. No lock: who moves `next` up by compare-and-swap owns the slot.
 *
 * The generator's number is a claim that one process holds, so a forked child has none.
 *
 * Threads: any. Not from signal handlers.
 */
#include "engine/idgen/idgen.h"
#include "format/base/fault.h"
#include "engine/os/process.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SLOTS = 64, NAP_US = 400, TRIES_DEFAULT = 11 };

struct u9_uid8gen {
    u9_clock clock;
    u9_uid8 like; /* mode, generator and cluster of all */
    unsigned tries_max;
    unsigned generation;   /* of the process that may use it */
    _Atomic uint64_t next; /* the lowest slot that is free */
};

static const char *check_uid8_options(const u9_uid8gen_options *o, u9_clock *clock)
{
    if (!o) return "eight-byte identifiers need a generator's number";
    if (o->size != sizeof *o) return "options.size is not sizeof(u9_uid8gen_options)";
    if (!u9i_clock_take(o->clock, clock)) return "options.clock has no now_us";
    if (o->seen_ms >= U9_UID8_TIMESTAMP_MAX) return "options.seen_ms leaves no identifier";
    if (o->layout > U9_UID8_LAYOUT_MAX) return "there are layouts 1 to 4";
    const u9_uid8 like = {.generator = o->generator, .cluster = o->cluster, .mode = o->mode};
    uint8_t packed[U9_UID8_SIZE];
    u9_id_reason why = U9_ID_FINE;
    unsigned layout = o->layout ? o->layout : U9_UID8_LAYOUT_MAX;
    return u9_uid8_pack(&like, layout, packed, &why) == U9_OK ? NULL : u9_id_reason_text(why);
}

u9_err u9_uid8gen_new(const u9_uid8gen_options *options, u9_uid8gen **out, u9_fault *fault)
{
    const u9_uid8gen_options *o = options;
    u9_clock clock;
    const char *wrong = check_uid8_options(o, &clock);
    if (wrong) return u9i_fault(fault, U9_ARG, U9I_AT(.rule = "I-17"), "%s", wrong);
    u9_uid8gen *gen = (u9_uid8gen *)u9i_gen_new(sizeof *gen, fault);
    if (!gen) return U9_NOMEM;
    gen->clock = clock;
    gen->like = (u9_uid8){.generator = o->generator, .cluster = o->cluster, .mode = o->mode};
    gen->tries_max = o->tries_max ? o->tries_max : TRIES_DEFAULT;
    gen->generation = u9i_fork_generation();
    atomic_init(&gen->next, o->seen_ms ? (o->seen_ms + 1) * SLOTS : 0);
    *out = gen;
    return U9_OK;
}

void u9_uid8gen_free(u9_uid8gen *gen)
{
    free(gen);
}

static void uid8gen_check(const u9_uid8gen *gen)
{
    assert(gen->tries_max > 0 && gen->clock.now_us != NULL && gen->clock.sleep_us != NULL);
    assert(atomic_load(&gen->next) <= (U9_UID8_TIMESTAMP_MAX + 1) * SLOTS);
}

/*
 * Up to `n` slots of one millisecond, the first in `*out`; `*taken` says how many. U9_AGAIN: the
 * millisecond is full, and the clock has not reached the next.
 */
static u9_err take_slots(u9_uid8gen *gen, uint64_t now_ms, size_t n, uint64_t *out, size_t *taken)
{
    uint64_t first = now_ms * SLOTS, slot, count, free = atomic_load(&gen->next);
    do {
        slot = first > free ? first : free;
        if (slot / SLOTS > U9_UID8_TIMESTAMP_MAX) return U9_LIMIT;
        if (slot > first && slot % SLOTS == 0) return U9_AGAIN;
        count = SLOTS - slot % SLOTS;
        if (count > n) count = n;
    } while (!atomic_compare_exchange_weak(&gen->next, &free, slot + count));
    *out = slot;
    *taken = (size_t)count;
    return U9_OK;
}

/* [I-17] Takes slots as soon as the clock lets it, or gives up. */
static u9_err wait_for_slots(u9_uid8gen *gen, size_t n, uint64_t *slot, size_t *taken)
{
    u9_err err = U9_AGAIN;
    for (unsigned tries = 0; tries < gen->tries_max && err == U9_AGAIN; tries++) {
        if (tries > 0) gen->clock.sleep_us(gen->clock.ctx, NAP_US);
        uint64_t now_ms = u9i_clock_us(&gen->clock) / 1000;
        err = now_ms > U9_UID8_TIMESTAMP_MAX ? U9_LIMIT : take_slots(gen, now_ms, n, slot, taken);
    }
    return err;
}

u9_err u9_uid8gen_next(u9_uid8gen *gen, u9_uid8 *out)
{
    size_t made;
    return u9_uid8gen_next_n(gen, out, 1, &made);
}

/* [I-21] A millisecond's share at a time. */
u9_err u9_uid8gen_next_n(u9_uid8gen *gen, u9_uid8 *out, size_t n, size_t *made)
{
    *made = 0;
    while (*made < n) {
        uint64_t slot = 0;
        size_t taken = 0;
        if (u9i_fork_generation() != gen->generation) return U9_STATE;
        u9_err err = wait_for_slots(gen, n - *made, &slot, &taken);
        if (err != U9_OK) return err;
        uid8gen_check(gen);
        assert(taken > 0 && taken <= n - *made);
        for (; taken > 0; taken--, slot++) {
            u9_uid8 *id = &out[(*made)++];
            *id = gen->like;
            id->timestamp_ms = slot / SLOTS;
            id->sequence = (uint32_t)(slot % SLOTS);
        }
    }
    return U9_OK;
}
