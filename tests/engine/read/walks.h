/*
 * tests/engine/read/walks.h: what a cursor shows and tells, in the order in which that comes, either way.
 */
#ifndef TESTS_ENGINE_READ_WALKS_H
#define TESTS_ENGINE_READ_WALKS_H

#include "tests/engine/fixture.h"

/* A record that was shown, or a damage that was told. */
typedef struct event {
    bool damage;
    uint64_t ordinal, segment, at; /* a record: where it is; a damage: its ordinal and segment */
    uint64_t time_us, hash;        /* a record: of its frame; of its bytes */
    u9_verdict verdict;
    u9_reason reason;
    uint64_t begin, end, lost, part;
} event;

typedef struct events {
    event *all;
    size_t count, room;
} events;

void drop_events(events *e);
void note_record_event(events *e, const u9_record *r);
/* A u9_damage_fn whose ctx is an `events`. */
void note_damage_event(void *ctx, const u9_damage *d);

bool same_event(const event *a, const event *b);
const char *event_text(const event *e); /* valid until 4 more calls */

/* A reader that notes damages in `e`. */
u9_log *open_noting(const char *log, events *e);

/* Steps until U9_END: records and damages go to the log's `events`, which is `e`. */
void walk_on(u9_cursor *c, events *e);
void walk_back(u9_cursor *c, events *e);

/* The second is the first in reverse order. */
void expect_mirror(const events *on, const events *back);

#endif
