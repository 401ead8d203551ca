/*
 * tests/sim/script.c: steps of a script: drawn, told, read, shrunk. Nothing here knows of the engine.
 */
#include "tests/sim/script.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define SCRIPT_NAME(verb, text) text,
    SCRIPT_VERBS(SCRIPT_NAME)
#undef SCRIPT_NAME
};

/* Drawing */

typedef struct drawing {
    script *out;
    uint64_t rng;
} drawing;

static unsigned draw(drawing *d, unsigned n)
{
    d->rng = d->rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((d->rng >> 33) % n);
}

static void add(drawing *d, script_verb verb, unsigned a, unsigned b, unsigned c)
{
    if (d->out->count < SCRIPT_STEPS_MAX) d->out->steps[d->out->count++] = (script_step){verb, {a, b, c}};
}

/* Most records are short; some fill a block, and a few a part of a segment. */
static unsigned draw_size(drawing *d)
{
    unsigned what = draw(d, 32);
    return what < 22 ? draw(d, 120) : what < 29 ? draw(d, 4000) : draw(d, 24000);
}

static void draw_deed(drawing *d)
{
    unsigned what = draw(d, 42);
    if (what < 15) add(d, DO_APPEND, 1 + draw(d, 4), draw_size(d), 0);
    else if (what < 20) add(d, DO_BATCH, 1 + draw(d, 6), draw_size(d), 0);
    else if (what < 27) add(d, DO_COMMIT, 0, 0, 0);
    else if (what < 29) add(d, DO_ASYNC, 0, 0, 0);
    else if (what < 31) add(d, DO_SYNC, 0, 0, 0);
    else if (what < 35) add(d, DO_PASS, draw(d, draw(d, 3) ? 3000 : 2500000), 0, 0);
    else if (what < 37) add(d, DO_READ, 0, 0, 0);
    else if (what < 39) add(d, DO_GET, draw(d, 1000), 0, 0);
    else if (what < 40) add(d, DO_TRIM, draw(d, 100), 0, 0);
    else add(d, what < 41 || draw(d, 3) ? DO_INDEX : DO_DROP, 0, 0, 0);
}

static void draw_trouble(drawing *d, script_kind kind)
{
    unsigned what = draw(d, 8);
    if (kind == SCRIPT_FAULTS && what < 5) add(d, DO_FAIL, draw(d, 100), 1 + draw(d, 40), draw(d, 10));
    else if (kind == SCRIPT_FAULTS && what < 6) add(d, DO_HALF, 1 + draw(d, 12), 0, 0);
    else if (kind == SCRIPT_FAULTS && what < 7) add(d, DO_STUCK, draw(d, 100), 1 + draw(d, 40), draw(d, 10));
    else if (kind == SCRIPT_LIES && what < 3) add(d, DO_LOSE, 1 + draw(d, 12), 0, 0);
    else if (kind == SCRIPT_LIES && what < 5) add(d, DO_STRAY, 1 + draw(d, 12), 1 + draw(d, 4), 0);
    else if (kind == SCRIPT_LIES && what < 7) add(d, DO_ROT, 1 + draw(d, 12), draw(d, 40000), 0);
    else if (kind == SCRIPT_LIES) add(d, DO_DEAF, 1 + draw(d, 6), 0, 0);
}

static void draw_session(drawing *d, script_kind kind)
{
    unsigned ending = draw(d, 10), deeds = 2 + draw(d, 16), trouble = draw(d, deeds);
    add(d, DO_OPEN, draw(d, 16), draw(d, 12), 0);
    if (ending < 5) add(d, DO_POWER, 1 + draw(d, draw(d, 3) ? 120 : 900), 0, 0);
    if (ending == 5) add(d, DO_KILLAT, 1 + draw(d, 30), 0, 0);
    for (unsigned i = 0; i < deeds; i++) {
        if (i == trouble && draw(d, 3)) draw_trouble(d, kind);
        draw_deed(d);
    }
    if (ending == 6) add(d, DO_KILL, draw(d, 2) * draw(d, 3000), 0, 0);
    else if (ending == 7) add(d, DO_POWER, 0, 0, 0);
    else add(d, DO_CLOSE, 0, 0, 0);
}

void script_draw(script *s, uint64_t seed)
{
    drawing d = {.out = s, .rng = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    script_kind kind = draw(&d, 10) < 6 ? SCRIPT_CRASHES : draw(&d, 2) ? SCRIPT_FAULTS : SCRIPT_LIES;
    s->seed = seed;
    s->count = 0;
    for (unsigned sessions = 1 + draw(&d, 5); sessions > 0; sessions--) draw_session(&d, kind);
}

script_kind script_kind_of(const script *s)
{
    script_kind kind = SCRIPT_CRASHES;
    for (unsigned i = 0; i < s->count; i++) {
        script_verb v = s->steps[i].verb;
        if (v == DO_FAIL || v == DO_STUCK || v == DO_HALF) kind = kind == SCRIPT_LIES ? kind : SCRIPT_FAULTS;
        if (v == DO_LOSE || v == DO_STRAY || v == DO_ROT || v == DO_DEAF) kind = SCRIPT_LIES;
    }
    return kind;
}

/* Text */

void script_tell(const script *s, char out[SCRIPT_TEXT_MAX])
{
    size_t n = 0;
    out[0] = 0;
    for (unsigned i = 0; i < s->count && n + 60 < SCRIPT_TEXT_MAX; i++) {
        const script_step *step = &s->steps[i];
        unsigned args = step->arg[2] ? 3 : step->arg[1] ? 2 : step->arg[0] ? 1 : 0;
        n += (size_t)sprintf(out + n, "%s%s", i ? " " : "", names[step->verb]);
        for (unsigned k = 0; k < args; k++) n += (size_t)sprintf(out + n, "%c%u", k ? ',' : ' ', step->arg[k]);
    }
}

static bool read_step(const char **text, script_step *step)
{
    size_t length = strcspn(*text, " ");
    *step = (script_step){.verb = SCRIPT_VERB_COUNT};
    for (unsigned v = 0; v < SCRIPT_VERB_COUNT; v++)
        if (strlen(names[v]) == length && memcmp(names[v], *text, length) == 0) step->verb = (script_verb)v;
    *text += length;
    *text += strspn(*text, " ");
    for (unsigned k = 0; k < 3 && isdigit((unsigned char)**text); k++) {
        char *behind;
        step->arg[k] = (unsigned)strtoul(*text, &behind, 10);
        *text = behind + (*behind == ',');
    }
    *text += strspn(*text, " ");
    return step->verb != SCRIPT_VERB_COUNT;
}

bool script_read(script *s, uint64_t seed, const char *text)
{
    *s = (script){.seed = seed};
    text += strspn(text, " ");
    while (*text)
        if (s->count == SCRIPT_STEPS_MAX || !read_step(&text, &s->steps[s->count++])) return false;
    return true;
}

/* Shrinking */

typedef struct shrinking {
    script_fails *fails;
    void *ctx;
    unsigned asked;
} shrinking;

static bool take_if_it_fails(shrinking *k, script *s, const script *candidate)
{
    k->asked++;
    bool fails = k->fails(k->ctx, candidate);
    if (fails) *s = *candidate;
    return fails;
}

static bool leave_out(shrinking *k, script *s, unsigned at, unsigned n)
{
    script c = *s;
    memmove(&c.steps[at], &c.steps[at + n], (c.count - at - n) * sizeof *c.steps);
    c.count -= n;
    return take_if_it_fails(k, s, &c);
}

static bool shrink_steps(shrinking *k, script *s)
{
    bool any = false;
    for (unsigned n = s->count / 2; n > 0; n /= 2)
        for (unsigned at = 0; at + n <= s->count;) {
            bool gone = leave_out(k, s, at, n);
            any |= gone;
            if (!gone) at += n;
        }
    return any;
}

static bool shrink_number(shrinking *k, script *s, unsigned at, unsigned arg)
{
    static const unsigned by[] = {0, 1, 2, 4, 8, 0};
    unsigned now = s->steps[at].arg[arg];
    for (unsigned i = 0; i < (now < 64 ? 6 : 5); i++) {
        script c = *s;
        unsigned less = i < 2 ? by[i] : by[i] ? now - now / by[i] : now - 1;
        if (less >= now) continue;
        c.steps[at].arg[arg] = less;
        if (take_if_it_fails(k, s, &c)) return true;
    }
    return false;
}

static bool shrink_numbers(shrinking *k, script *s)
{
    bool any = false;
    for (unsigned at = 0; at < s->count; at++)
        for (unsigned arg = 0; arg < 3; arg++)
            while (shrink_number(k, s, at, arg)) any = true;
    return any;
}

unsigned script_shrink(script *s, script_fails *fails, void *ctx)
{
    shrinking k = {.fails = fails, .ctx = ctx};
    while (shrink_steps(&k, s) || shrink_numbers(&k, s)) continue;
    return k.asked;
}
