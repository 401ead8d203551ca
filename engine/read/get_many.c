/*
 * engine/read/get_many.c: many keys at once. What they lead to and is not at hand is first called for together: reads
 * that overlap bring it into the page cache; and what stands in memory is asked of the processor, for all of them at
 * each step. A record that is seen then to be its key's newest is answered; the others are looked up as by themselves.
 * [K-3]
 *
 *     fences or table -> head of the frame, and its slots -> the record -> the answer
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
    u9i_file *file = s->segment->file; /* open: s->frames has it so */
    if (f->count == AT_ONCE || u9i_mended_reads(file)) return;
    if (f->queue == NULL) {
        if (f->buffers == NULL) f->buffers = (uint8_t *)u9i_pages((size_t)AT_ONCE * READ);
        if (f->buffers == NULL || u9i_queue_open(log->source.dir->env, NULL, 0, 0, &f->queue) != 0) return;
    }
    offset = offset / U9I_BLOCK * U9I_BLOCK;
    if (is_gathered(f, file, offset)) return;
    f->ops[f->count] = (u9i_op){.kind = U9I_OP_READ, .file = file, .off = offset, .n = READ, .tag = f->count,
                                .buf = f->buffers + (size_t)f->count * READ};
    f->count++;
}

/* A frame that a key leads to. */
typedef struct aimed {
    u9_lookup *lookup;
    u9i_indexed *segment;
    const u9i_open_frame *frame; /* NULL: it is not kept */
    uint64_t offset;
    uint64_t at, slot; /* as of u9i_open_frame_bring */
    bool newest; /* a record of the key there is the newest one */
} aimed;

typedef struct aims {
    aimed all[2 * AT_ONCE];
    unsigned count;
} aims;

/* `at`: a place that is not 0, which is the record's own or (`own` false) not. `kept`: its frame, which was asked for; or
 * NULL. */
static void aim_at(aims *a, u9_lookup *l, u9i_indexed *s, uint64_t at, bool own, bool newest, const u9i_open_frame *kept)
{
    u9i_key_entry e;
    uint64_t offset = (at >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN;
    if (a->count == 2 * AT_ONCE) return;
    a->all[a->count++] = (aimed){.lookup = l, .segment = s, .frame = kept, .offset = offset, .at = own ? at : 0, .newest = newest};
    if (kept == NULL && u9i_keyspec_entry(&s->index.spec, l->key.data, l->key.size, &e)) u9i_frames_bring(&s->frames, offset, &e);
}

/* Asks the processor for what is first looked at where keys come in order. */
static void bring_fences(const u9_log *log, const u9i_view *v, const u9_key *key)
{
    u9i_key_entry e;
    if (!u9i_lookup_entry(log, key, &e)) return;
    size_t end = u9i_lookup_last(v, &e);
    if (end > 0) u9i_index_bring(&v->segments[end - 1]->index, &e);
}

/* The frames that a key leads to in the view, as far as its indexes tell without reading. */
static void aim_at_key(u9_log *log, u9i_view *v, u9_lookup *l, aims *a)
{
    u9i_key_entry e;
    if (!u9i_keyspec_entry(&log->keyspec, l->key.data, l->key.size, &e)) return;
    bool row = atomic_load_explicit(&v->order, memory_order_acquire) == U9I_ORDER_ROW;
    for (size_t i = row ? u9i_lookup_last(v, &e) : v->count; i-- > 0;) {
        uint64_t at[2];
        const u9i_open_frame *kept;
        u9i_indexed *s = v->segments[i];
        if (row && u9i_key_below(&v->ranges[i].high, &e)) return;
        if (u9i_lookup_excludes(v, i, &e) || u9i_view_index(log, v, i, NULL) != U9_OK) continue;
        if (u9i_index_aim_kept(&s->index, &l->key, s->limit, at, &kept) != U9_OK) continue;
        if (at[0] != 0) aim_at(a, l, s, at[0], true, false, NULL);
        if (at[1] != 0) aim_at(a, l, s, at[1], false, row && at[0] == 0, kept); /* no segment behind this one begins below the key */
        if (at[0] != 0 || row) return; /* most likely it is there */
    }
}

/* The frame that the view's table guesses for a key. False: none is guessed. */
static bool aim_by_table(u9i_view *v, const u9i_tabled_view *t, u9_lookup *l, aims *a)
{
    u9i_guess g = {.rank = UINT64_MAX};
    if (!u9i_tabled_find(t, &l->key, &g)) return false;
    aim_at(a, l, v->segments[g.i], g.at, true, t->rest_count == 0, NULL);
    return true;
}

static void aim_at_all(u9_log *log, u9i_view *v, u9_lookup *lookups, size_t count, aims *a)
{
    const u9i_tabled_view *t = atomic_load_explicit(&v->tabled, memory_order_acquire);
    bool row = atomic_load_explicit(&v->order, memory_order_acquire) == U9I_ORDER_ROW;
    for (size_t i = 0; t && i < count; i++) u9i_tabled_bring(t, &lookups[i].key);
    for (size_t i = 0; row && i < count; i++) bring_fences(log, v, &lookups[i].key);
    for (size_t i = 0; i < count && a->count + 2 <= 2 * AT_ONCE; i++) {
        bool guessed = t && aim_by_table(v, t, &lookups[i], a);
        if (!guessed && (t == NULL || t->rest_count > 0)) aim_at_key(log, v, &lookups[i], a);
    }
}

/* Frames that are not kept are gathered. */
static void find_frames(u9_log *log, aims *a, fetching *f)
{
    for (unsigned i = 0; i < a->count; i++) {
        aimed *m = &a->all[i];
        if (m->frame == NULL) m->frame = u9i_frames_kept(&m->segment->frames, m->offset);
        if (m->frame) m->slot = u9i_open_frame_bring(&m->segment->frames, m->frame, &m->lookup->key, m->at);
        else call_frame(log, f, m->segment, m->offset);
    }
}

/* The record, if it has the key, there is room for it and nothing newer was lost. Else it is looked for once more, by itself. */
static bool answer(const u9i_view *v, const aimed *m)
{
    u9i_found found;
    u9_lookup *l = m->lookup;
    const u9i_indexed *s = m->segment;
    u9_err err = m->at != 0     ? u9i_open_frame_record(&s->frames, m->frame, m->at, &found)
                 : m->slot != 0 ? u9i_open_frame_at_slot(&s->frames, m->frame, &l->key, m->slot, &found)
                                : u9i_open_frame_find(&s->frames, m->frame, &l->key, s->limit, &found);
    if (err != U9_OK) return false;
    u9_record r = u9i_lookup_record(s->segment->facts.number, m->frame, &found);
    bool same = m->at == 0 || u9i_lookup_same(&l->key, r.key.data, r.key.size);
    bool fits = found.at < s->limit && r.size <= l->cap && same && !u9i_lookup_newer_lost(v, s, found.at);
    if (fits) u9i_lookup_keep(&r, l->buf, &l->record);
    u9i_found_free(&found);
    return fits && !u9i_open_frame_fell(&s->frames, m->frame);
}

/* The handle's writer has no record of this key: asked before the view is taken, so that none is missed that goes over. */
static bool is_unwritten(u9_log *log, u9_lookup *l)
{
    u9_record r;
    u9i_written_spot spots[2];
    unsigned count;
    return !log->writing || !u9i_writer_has_begun(&log->writer) || u9i_writer_find(&log->writer, &l->key, NULL, 0, &r, spots, &count) == U9_ABSENT;
}

/* Answers what can be: of these `err` is U9_OK, of the others U9_AGAIN. */
static void answer_some(u9_log *log, u9_lookup *lookups, size_t count, fetching *f)
{
    u9i_seated s;
    u9_fault unused;
    aims a;
    a.count = 0;
    for (size_t i = 0; i < count; i++) lookups[i].err = is_unwritten(log, &lookups[i]) ? U9_ABSENT : U9_AGAIN;
    if (u9i_view_sit(log, &s, &unused) == U9_OK) {
        aim_at_all(log, s.view, lookups, count, &a);
        find_frames(log, &a, f);
        for (unsigned i = 0; i < a.count; i++) {
            const aimed *m = &a.all[i];
            if (m->frame && m->newest && m->lookup->err == U9_ABSENT && answer(s.view, m)) m->lookup->err = U9_OK;
        }
        fetch(f);
        u9i_view_rise(&s);
    }
    for (size_t i = 0; i < count; i++)
        if (lookups[i].err != U9_OK) lookups[i].err = U9_AGAIN;
}

u9_err u9_log_get_many(u9_log *log, u9_lookup *lookups, size_t count, u9_fault *fault)
{
    fetching f = {.count = 0};
    u9_err err = U9_OK;
    if (lookups == NULL && count > 0) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    for (size_t i = 0; i < count && err == U9_OK; i++) err = u9i_lookup_check(log, &lookups[i].key, fault);
    for (size_t i = 0; i < count && err != U9_OK; i++) lookups[i].err = err; /* none is answered */
    for (size_t i = 0; i < count && err == U9_OK; i++) {
        u9_lookup *l = &lookups[i];
        u9_fault why;
        if (i % AT_ONCE == 0) answer_some(log, l, count - i < AT_ONCE ? count - i : AT_ONCE, &f);
        if (l->err == U9_OK) continue;
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
