/*
 * engine/check/tier_look.c: see tiering.h: what is damaged of what goes to the place is told, and goes as it is; and what
 * the place lost. [TR-3]
 */
#include "engine/check/damage_sum.h"
#include "engine/check/tiering.h"

#include "engine/read/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first segment of the catalog, which is in the order of numbers, with this number or a higher one. */
static size_t find_from(const u9i_catalog *c, uint64_t number)
{
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u9i_catalog_facts(c, middle)->number < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

size_t u9i_tiering_find(const u9i_catalog *c, uint64_t number)
{
    size_t i = find_from(c, number);
    return i < c->count && u9i_catalog_facts(c, i)->number == number ? i : U9I_NOT_THERE;
}

static void note_damaged(u9i_tiering *t, uint64_t number)
{
    size_t i = u9i_tiering_find(t->catalog, number);
    if (i != U9I_NOT_THERE) t->steps[i].damaged = true;
}

static u9_err read_range(u9i_tiering *t, u9i_reader *r, size_t end, u9_fault *fault)
{
    u9_verdict worst = U9_V_CLEAN;
    u9i_step step = U9I_STEP_DAMAGE;
    u9_err err = U9_OK;
    while ((err = u9i_reader_step(r, &step, fault)) == U9_OK && step != U9I_STEP_END && !(r->reading && r->index == end)) {
        if (step != U9I_STEP_DAMAGE || r->damage.verdict < U9_V_UNKNOWN) continue;
        note_damaged(t, r->damage.segment);
        u9i_damage_sum(&r->damage, &worst, &t->done.damages, &t->done.lost);
        if (t->options.on_damage) t->options.on_damage(t->options.ctx, &r->damage);
    }
    return err;
}

u9_err u9i_tiering_look(u9i_tiering *t, uint64_t from, uint64_t to, u9_fault *fault)
{
    u9i_reader r; /* lists the log anew: a writer may have rolled or trimmed meanwhile */
    u9_err err = u9i_reader_open(&r, &t->source, fault);
    if (err != U9_OK) return err;
    size_t first = find_from(r.catalog, from), end = find_from(r.catalog, to);
    if (first < end && end < r.catalog->count) {
        u9i_reader_segments(&r, first, end); /* the last one for what is missing in front of it */
        err = read_range(t, &r, end, fault);
    }
    u9i_reader_release(&r);
    return err;
}

/* What the place lost */

static void tell_lost(u9i_tiering *t, const u9i_tiered *s)
{
    char path[4400], name[20];
    u9_verdict worst = U9_V_CLEAN;
    u9i_segment_name(s->number, name);
    snprintf(path, sizeof path, "%s/%s", t->place, name);
    u9_damage d = {.verdict = U9_V_CORRUPT, .reason = U9_R_MISSING, .segment = s->number, .path = path, .ordinal = s->first,
                   .lost = s->next >= s->first ? s->next - s->first : U9_NOWHERE};
    u9i_damage_sum(&d, &worst, &t->done.damages, &t->done.lost);
    if (t->options.on_damage) t->options.on_damage(t->options.ctx, &d);
}

u9_err u9i_tiering_find_lost(u9i_tiering *t, u9_fault *fault)
{
    if (t->far == NULL) return U9_OK;
    bool *there = calloc(t->list.count + 1, sizeof *there);
    if (there == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = t->source.path), "out of memory");
    int sys = u9i_tier_list_present(&t->list, t->far, there);
    for (size_t k = 0; k < t->list.count && sys == 0; k++) {
        u9i_tiered *s = &t->list.segments[k];
        s->lost = !there[k] && u9i_tiering_find(t->catalog, s->number) == U9I_NOT_THERE;
        if (s->lost) tell_lost(t, s);
    }
    free(there);
    return sys ? u9i_tiering_fail(t, true, ".", sys, "cannot list the place", fault) : U9_OK;
}
