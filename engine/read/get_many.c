/*
 * engine/read/get_many.c: many keys at once. What they lead to and is not at hand is first called for together: reads
 * that overlap bring it into the page cache; and what stands in memory is asked of the processor, for all of them at
 * each step. Then each is looked up as by itself. [K-3]
 */
#include "engine/read/lookup.h"
#include "engine/read/tabling.h"

#include "engine/os/process.h"

#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = U9I_QUEUE_DEPTH, READ = U9I_FRAME_TARGET + U9I_BLOCK };

/* Reads that are on their way: what they bring is not looked at. */
typedef struct fetching {
    u9i_queue *queue; /* NULL: not opened */
    uint8_t *buffers; /* AT_ONCE of READ bytes */
    u9i_op ops[AT_ONCE];
    unsigned count;
} fetching;

static void end_fetching(fetching *f)
{
    if (f->queue) u9i_queue_close(f->queue);
    if (f->buffers) u9i_pages_free(f->buffers, (size_t)AT_ONCE * READ);
}

/* Submits what was gathered and waits for it. A failure is told by who reads it next. */
static void fetch(fetching *f)
{
    u9i_completion done[AT_ONCE];
    unsigned left = f->count;
    if (f->count > 1 && u9i_queue_submit(f->queue, f->ops, f->count) == 0)
        while (left > 0) {
            int n = u9i_queue_wait(f->queue, done, AT_ONCE, U9I_FOREVER);
            if (n < 0) break;
            left -= (unsigned)n;
        }
    if (left > 0 && f->count > 1) u9i_queue_settle(f->queue); /* the files are let go next */
    f->count = 0;
}

static bool is_gathered(const fetching *f, const u9i_file *file, uint64_t off)
{
    for (unsigned i = 0; i < f->count; i++)
        if (f->ops[i].file == file && f->ops[i].off == off) return true;
    return false;
}

/* Gathers the frame that stands there. */
static void call_frame(u9_log *log, fetching *f, u9i_indexed *s, uint64_t offset)
{
    if (f->count == AT_ONCE) return;
    if (f->queue == NULL) {
        f->buffers = (uint8_t *)u9i_pages((size_t)AT_ONCE * READ);
        if (f->buffers == NULL || u9i_queue_open(log->source.dir->env, NULL, 0, 0, &f->queue) != 0) return;
    }
    u9i_file *file = s->segment->file; /* open: s->frames has it so */
    offset = offset / U9I_BLOCK * U9I_BLOCK;
    if (is_gathered(f, file, offset)) return;
    f->ops[f->count] = (u9i_op){.kind = U9I_OP_READ, .file = file, .off = offset, .n = READ, .tag = f->count,
                                .buf = f->buffers + (size_t)f->count * READ};
    f->count++;
}

/* A kept frame that a key leads to. */
typedef struct kept_aim {
    const u9_key *key;
    const u9i_frames *frames;
    const u9i_open_frame *frame;
    uint64_t at; /* as of u9i_open_frame_bring */
} kept_aim;

typedef struct aims {
    kept_aim kept[2 * AT_ONCE];
    unsigned count;
    fetching *fetching;
} aims;

/* A frame that is not kept is gathered. `at`: a place that is not 0, which is the record's own or (`own` false) not. */
static void aim_at(u9_log *log, aims *a, u9i_indexed *s, const u9_key *key, uint64_t at, bool own)
{
    uint64_t offset = (at >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN;
    const u9i_open_frame *f = u9i_frames_kept(&s->frames, offset);
    if (f == NULL) call_frame(log, a->fetching, s, offset);
    if (f == NULL || a->count == 2 * AT_ONCE) return;
    a->kept[a->count] = (kept_aim){.key = key, .frames = &s->frames, .frame = f, .at = own ? at : 0};
    u9i_open_frame_bring(&s->frames, f, key, a->kept[a->count++].at, 0);
}

/* The frames that a key leads to in the view, as far as its indexes tell without reading. */
static void aim_at_key(u9_log *log, u9i_view *v, const u9_key *key, aims *a)
{
    u9i_key_entry e;
    if (!u9i_keyspec_entry(&log->keyspec, key->data, key->size, &e)) return;
    bool row = atomic_load_explicit(&v->order, memory_order_acquire) == U9I_ORDER_ROW;
    for (size_t i = row ? u9i_lookup_last(v, &e) : v->count; i-- > 0;) {
        uint64_t at[2];
        u9i_indexed *s = v->segments[i];
        if (row && u9i_key_below(&v->ranges[i].high, &e)) return;
        if (u9i_lookup_excludes(v, i, &e) || u9i_view_index(log, v, i, NULL) != U9_OK) continue;
        if (u9i_index_aim(&s->index, key, s->limit, at) != U9_OK) continue;
        if (at[0] != 0) aim_at(log, a, s, key, at[0], true);
        if (at[1] != 0) aim_at(log, a, s, key, at[1], false);
        if (at[0] != 0 || row) return; /* most likely it is there */
    }
}

/* The frame that the view's table guesses for a key. False: none is guessed. */
static bool aim_by_table(u9_log *log, u9i_view *v, const u9i_tabled_view *t, const u9_key *key, aims *a)
{
    u9i_guess g = {.rank = UINT64_MAX};
    if (!u9i_tabled_find(t, key, &g)) return false;
    aim_at(log, a, v->segments[g.i], key, g.at, true);
    return true;
}

static void aim_at_all(u9_log *log, u9i_view *v, const u9_lookup *lookups, size_t count, aims *a)
{
    const u9i_tabled_view *t = atomic_load_explicit(&v->tabled, memory_order_acquire);
    for (size_t i = 0; t && i < count; i++) u9i_tabled_bring(t, &lookups[i].key);
    for (size_t i = 0; i < count && a->count + 2 <= 2 * AT_ONCE; i++) {
        bool guessed = t && aim_by_table(log, v, t, &lookups[i].key, a);
        if (!guessed && (t == NULL || t->rest_count > 0)) aim_at_key(log, v, &lookups[i].key, a);
    }
}

static void call_for(u9_log *log, const u9_lookup *lookups, size_t count, fetching *f)
{
    u9i_view *v;
    u9_fault unused;
    aims a = {.fetching = f};
    if (u9i_view_take(log, false, &v, &unused) != U9_OK) return;
    aim_at_all(log, v, lookups, count, &a);
    fetch(f);
    for (unsigned step = 1; step < U9I_BRING_STEPS; step++)
        for (unsigned i = 0; i < a.count; i++)
            u9i_open_frame_bring(a.kept[i].frames, a.kept[i].frame, a.kept[i].key, a.kept[i].at, step);
    u9i_view_release(v);
}

u9_err u9_log_get_many(u9_log *log, u9_lookup *lookups, size_t count, u9_fault *fault)
{
    fetching f = {.count = 0};
    u9_err err = U9_OK;
    if (lookups == NULL && count > 0) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    for (size_t i = 0; i < count && err == U9_OK; i++) err = u9i_lookup_check(log, &lookups[i].key, fault);
    for (size_t i = 0; i < count && err == U9_OK; i++) {
        u9_lookup *l = &lookups[i];
        u9_fault why;
        if (i % AT_ONCE == 0) call_for(log, l, count - i < AT_ONCE ? count - i : AT_ONCE, &f);
        l->err = u9_log_get(log, &l->key, l->buf, l->cap, &l->record, &why);
        bool answered = l->err == U9_OK || l->err == U9_ABSENT || l->err == U9_LIMIT || l->err == U9_CORRUPT;
        if (answered) continue;
        err = l->err;
        if (fault) *fault = why;
        for (size_t n = i; n < count; n++) lookups[n].err = err;
    }
    end_fetching(&f);
    return err;
}
