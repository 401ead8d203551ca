/*
 * tests/engine/read/model.h: a model of a log that remembers what each key's newest record is, and holds lookups against
 * it; on the simulated disk.
 */
#ifndef TESTS_ENGINE_READ_MODEL_H
#define TESTS_ENGINE_READ_MODEL_H

#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"

#include <u9/lookup.h>

enum { SEGMENT = 65536, KEYS = 500, ROOM = 4096 };

#define LOG "log"

/* Random numbers below `n`, the same each time for a test that sets `model_drawn`, to anything but 0. */
extern uint64_t model_drawn;
uint64_t model_draw(uint64_t n);

/* What the log must hold: of each key the ordinal of its newest record and what that says. */
typedef struct model {
    const char *kind;
    struct {
        uint8_t raw[64];
        size_t size;
        bool there;
        uint64_t ordinal;
        uint32_t value;
        unsigned versions;
    } keys[KEYS];
    size_t count;
    uint64_t next; /* ordinal */
    uint32_t values;
    bool lz4;
} model;

/* Of the kind number i, of which the first is one whose keys may come in order, with all keys drawn. free() it. */
extern const char *const model_kinds[4];
model *model_new(int i);
/* Draws all keys of the model's kind. */
void model_draw_keys(model *m);

u9_log *model_open(const model *m, u9_mode mode);
/* Appends a record with the key i; `fresh`: the log draws that key, in order. */
void model_append(u9_log *w, model *m, size_t i, bool fresh);
/* What a lookup must say of this key, of all, and of all by a handle that knows nothing yet. */
void model_look_up(u9_log *log, const model *m, size_t i);
void model_look_up_all(u9_log *log, const model *m);
void model_look_anew(const model *m);

/* A u9_version_fn: versions come with ascending ordinals, the newest one last. */
typedef struct told {
    unsigned count;
    uint64_t last;
} told;

int model_count_version(void *ctx, const u9_record *r);

#endif
