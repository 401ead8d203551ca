/*
 * engine/read/get_many.c: many keys at once. What they lead to and is not at hand is first called for together: reads
 * that overlap bring it into the page cache; then each is looked up as by itself. [K-3]
 */
#include "engine/read/lookup.h"

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
    f->count = 0;
}

static bool is_gathered(const fetching *f, const u9i_file *file, uint64_t off)
{
    for (unsigned i = 0; i < f->count; i++)
        if (f->ops[i].file == file && f->ops[i].off == off) return true;
    return false;
}

/* Gathers the frame at this place, if it is not open. */
static void call_frame(u9_log *log, fetching *f, u9i_indexed *s, uint64_t at)
{
    uint64_t offset = (at >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN;
    if (f->count == AT_ONCE || at == 0 || u9i_frames_has(&s->frames, offset)) return;
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

/* The frames that a key leads to in the view, as far as its indexes tell without reading. */
static void aim_at_key(u9_log *log, u9i_view *v, const u9_key *key, fetching *f)
{
    u9i_key_entry e;
    if (!u9i_keyspec_entry(&log->keyspec, key->data, key->size, &e)) return;
    for (size_t i = v->count; i-- > 0;) {
        uint64_t at[2];
        u9i_indexed *s = v->segments[i];
        if (u9i_lookup_excludes(v, i, &e) || u9i_view_index(log, v, i, NULL) != U9_OK) continue;
        if (u9i_index_aim(&s->index, key, s->limit, at) != U9_OK) continue;
        call_frame(log, f, s, at[0]);
        call_frame(log, f, s, at[1]);
        if (at[0] != 0) return; /* most likely it is there */
    }
}

static void call_for(u9_log *log, const u9_lookup *lookups, size_t count, fetching *f)
{
    u9i_view *v;
    u9_fault unused;
    if (u9i_view_take(log, false, &v, &unused) != U9_OK) return;
    for (size_t i = 0; i < count; i++) aim_at_key(log, v, &lookups[i].key, f);
    fetch(f);
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
