/*
 * tests/engine/read/walks.c: see walks.h.
 */
#include "tests/engine/read/walks.h"

#include "tests/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static event *new_event(events *e)
{
    if (e->count == e->room) {
        e->room = e->room ? 2 * e->room : 64;
        e->all = realloc(e->all, e->room * sizeof *e->all);
        MUST(e->all != NULL);
    }
    event *new = &e->all[e->count++];
    memset(new, 0, sizeof *new);
    return new;
}

void drop_events(events *e)
{
    free(e->all);
    *e = (events){.all = NULL};
}

void note_record_event(events *e, const u9_record *r)
{
    event *new = new_event(e);
    new->ordinal = r->ordinal;
    new->segment = r->segment;
    new->at = r->at;
    new->time_us = r->time_us;
    new->hash = r->size;
    for (size_t i = 0; r->bytes && i < r->size; i++) new->hash = new->hash * 31 + r->bytes[i];
}

void note_damage_event(void *ctx, const u9_damage *d)
{
    event *new = new_event(ctx);
    *new = (event){.damage = true, .ordinal = d->ordinal, .segment = d->segment, .verdict = d->verdict, .reason = d->reason,
                   .begin = d->begin, .end = d->end, .lost = d->lost, .part = d->part};
    for (const char *p = d->path; *p; p++) new->hash = new->hash * 31 + (uint8_t)*p;
}

bool same_event(const event *a, const event *b)
{
    return a->damage == b->damage && a->ordinal == b->ordinal && a->segment == b->segment && a->at == b->at &&
           a->time_us == b->time_us && a->hash == b->hash && a->verdict == b->verdict && a->reason == b->reason &&
           a->begin == b->begin && a->end == b->end && a->lost == b->lost && a->part == b->part;
}

const char *event_text(const event *e)
{
    static char texts[4][200];
    static unsigned turn;
    char *text = texts[turn++ % 4];
    if (e->damage)
        snprintf(text, sizeof texts[0], "%s %s %llu [%llu,%llu) at %lld lost %lld", u9_verdict_name(e->verdict),
                 u9_reason_name(e->reason), (unsigned long long)e->segment, (unsigned long long)e->begin,
                 (unsigned long long)e->end, (long long)e->ordinal, (long long)e->lost);
    else
        snprintf(text, sizeof texts[0], "record %llu in %llu at %llx", (unsigned long long)e->ordinal,
                 (unsigned long long)e->segment, (unsigned long long)e->at);
    return text;
}

u9_log *open_noting(const char *log, events *e)
{
    u9_log *handle;
    u9_options o = {.size = sizeof o, .on_damage = note_damage_event, .on_damage_ctx = e, .io = io_of(log)};
    u9_fault fault = {0};
    u9_err err = u9_log_open(log, &o, &handle, &fault);
    MUST_SAY(err == U9_OK, "%s", fault.text);
    return handle;
}

static void walk(u9_cursor *c, events *e, u9_err (*step)(u9_cursor *, u9_record *))
{
    u9_record r;
    u9_err err;
    while ((err = step(c, &r)) == U9_OK || err == U9_LIMIT || err == U9_VERSION)
        if (err != U9_VERSION) note_record_event(e, &r);
    u9_fault fault;
    u9_cursor_fault(c, &fault);
    MUST_SAY(err == U9_END, "%s", fault.text);
}

void walk_on(u9_cursor *c, events *e)
{
    walk(c, e, u9_cursor_next);
}

void walk_back(u9_cursor *c, events *e)
{
    walk(c, e, u9_cursor_prev);
}

void expect_mirror(const events *on, const events *back)
{
    size_t least = on->count < back->count ? on->count : back->count;
    for (size_t i = 0; i < least; i++) {
        const event *a = &on->all[on->count - 1 - i], *b = &back->all[i];
        MUST_SAY(same_event(a, b), "%zu from the end: %s; back: %s", i, event_text(a), event_text(b));
    }
    MUST_SAY(on->count == back->count, "%zu on, %zu back", on->count, back->count);
}
