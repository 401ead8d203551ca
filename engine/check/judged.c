/*
 * engine/check/judged.c: see judged.h. [U-1]
 *
 * Two readers go judged_side by judged_side over the frames with records. Those that the log has now must come in the changed one,
 * in the same order, each with its own number, hash and place, unless they are void there; others may come between, if
 * their numbers do.
 */
#include "engine/check/judged.h"

#include "engine/read/reader.h"

#include <stdlib.h>
#include <string.h>

typedef struct judged_side {
    u9i_reader reader;
    u9i_step step; /* FRAME: one with records; END */
    u9_verdict worst;
    uint64_t damages;
} judged_side;

/* The next frame with records. */
static u9_err next_frame(judged_side *s, u9_fault *fault)
{
    u9i_reader *r = &s->reader;
    do {
        u9_err err = u9i_reader_step(r, &s->step, fault);
        if (err != U9_OK) return err;
        if (s->step != U9I_STEP_DAMAGE) continue;
        if (r->damage.verdict > s->worst) s->worst = r->damage.verdict;
        s->damages += r->damage.verdict >= U9_V_UNKNOWN;
    } while (s->step != U9I_STEP_END && (s->step != U9I_STEP_FRAME || r->count == 0));
    return U9_OK;
}

/* `b` is at a frame. What the hash is of says its number and its length. */
static bool same_frame(const judged_side *a, const judged_side *b)
{
    const u9i_frame *f = a->reader.frame, *g = b->reader.frame;
    return a->step == U9I_STEP_FRAME && f->offset == g->offset && memcmp(f->sha, g->sha, sizeof f->sha) == 0 &&
           memcmp(u9i_reader_facts(&a->reader)->secret.boundary, u9i_reader_facts(&b->reader)->secret.boundary,
                  U9I_HASH_SIZE) == 0;
}

/*
 * The frame of `b` is one that the changed log proves to be void: a u9open that is no more damaged there, and is valid by
 * its hashes, ends the segment in front of it, where nothing ends it now; and nothing behind that end was promised. [L-3]
 */
static bool is_void_then(const judged_side *b, const judged_side *t)
{
    const u9i_facts *now = u9i_reader_facts(&b->reader);
    if (now->named) return false;
    for (size_t i = 0; i < t->reader.catalog->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(t->reader.catalog, i);
        bool same = u9i_facts_on_row(f) && memcmp(f->secret.boundary, now->secret.boundary, U9I_HASH_SIZE) == 0;
        if (same && f->named && b->reader.frame->offset >= f->at.offset && f->fork.end == 0) return true;
    }
    return false;
}

/* The next frame with records that is to come in the changed log, too. */
static u9_err next_kept(judged_side *b, const judged_side *t, u9_fault *fault)
{
    u9_err err;
    do err = next_frame(b, fault);
    while (err == U9_OK && b->step == U9I_STEP_FRAME && is_void_then(b, t));
    return err;
}

static u9_err compare_sides(judged_side *b, judged_side *t, u9i_judgement *out, u9_fault *fault)
{
    uint64_t next = 0;   /* the first number that none before has */
    bool regained = false; /* the frame before is one that comes back */
    u9_err err = next_kept(b, t, fault);
    out->fits = true;
    while (err == U9_OK && out->fits && (err = next_frame(t, fault)) == U9_OK && t->step == U9I_STEP_FRAME) {
        uint64_t ordinal = t->reader.frame->trailer.ordinal;
        bool same = same_frame(b, t);
        out->fits = ordinal >= next || (same && !regained); /* what runs backwards now may do so then */
        if (!out->fits) out->ordinal = ordinal;
        next = ordinal + t->reader.count;
        regained = !same;
        if (same) out->records += t->reader.count;
        else out->regained += t->reader.count;
        if (same) err = next_kept(b, t, fault);
    }
    if (err == U9_OK && out->fits && b->step == U9I_STEP_FRAME) {
        out->fits = false;
        out->ordinal = b->reader.frame->trailer.ordinal;
    }
    return err;
}

/* A damaged slot of the mark: no record is lost by it, but it is told of the log. [M-3] */
static void add_bad_slots(judged_side *s)
{
    bool all;
    unsigned bad = u9i_mark_bad_slots(&s->reader.catalog->mark, &all);
    u9_verdict v = bad == 0 ? U9_V_CLEAN : all ? U9_V_UNKNOWN : U9_V_TORN;
    if (v > s->worst) s->worst = v;
    if (v >= U9_V_UNKNOWN) s->damages += bad;
}

u9_err u9i_judge_change(u9i_source *before, u9i_source *then, u9i_judgement *out, u9_fault *fault)
{
    judged_side *sides = calloc(2, sizeof *sides); /* large */
    if (sides == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = before->path), "out of memory");
    judged_side *b = &sides[0], *t = &sides[1];
    *out = (u9i_judgement){.fits = false};
    u9_err err = u9i_reader_open(&b->reader, before, fault);
    if (err == U9_OK) {
        err = u9i_reader_open(&t->reader, then, fault);
        if (err == U9_OK) {
            b->reader.seals = t->reader.seals = true;
            add_bad_slots(b);
            add_bad_slots(t);
            err = compare_sides(b, t, out, fault);
            u9i_reader_release(&t->reader);
        }
        u9i_reader_release(&b->reader);
    }
    out->before = b->worst;
    out->then = t->worst;
    out->damages_before = b->damages;
    out->damages_then = t->damages;
    free(sides);
    return err;
}
