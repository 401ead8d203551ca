/*
 * engine/check/stretch.c: see stretch.h.
 */
#include "engine/check/stretch.h"

#include <string.h>

static void copy_key(uint8_t out[U9I_KEY_MAX], size_t *size, const u9i_record *record)
{
    memcpy(out, record->key, record->key_size);
    *size = record->key_size;
}

bool u9i_stretch_keep_keys(u9i_reader *r, u9i_kept_keys *keys)
{
    if (r->iterator.map == NULL) return true;
    if (r->count > 0) {
        memcpy(keys->first, r->first.key, r->first.key_size);
        memcpy(keys->last, r->last.key, r->last.key_size);
        r->first.key = keys->first;
        r->last.key = keys->last;
    }
    return !u9i_reader_fell(r, NULL);
}

static void begin_run(u9i_intact *run, const u9i_reader *r)
{
    const u9i_facts *f = u9i_reader_facts(r);
    const u9i_trailer *t = &r->frame->trailer;
    run->open = true;
    run->index = r->index;
    run->it = (u9_stretch){.kind = U9_STRETCH_FRAMES,
                           .segment = f->number,
                           .size = f->size,
                           .begin = r->frame->offset,
                           .end = r->frame->offset,
                           .ordinal = t->ordinal};
}

bool u9i_intact_goes_on(const u9i_intact *run, const u9i_reader *r)
{
    return run->open && run->index == r->index && r->frame->offset - run->it.end < U9I_BLOCK;
}

void u9i_intact_add(u9i_intact *run, const u9i_reader *r)
{
    const u9i_frame *f = r->frame;
    if (!run->open) begin_run(run, r);
    run->it.end = f->end;
    run->it.frames++;
    if (r->count == 0) return;
    run->it.last_time_us = f->trailer.time_us;
    if (run->it.records == 0) {
        run->it.first_time_us = f->trailer.time_us;
        copy_key(run->first_key, &run->it.first_key_size, &r->first);
    }
    copy_key(run->last_key, &run->it.last_key_size, &r->last);
    run->it.records += r->count;
}

void u9i_intact_join(const u9i_intact *run, u9i_intact *behind)
{
    const u9_stretch *a = &run->it;
    u9_stretch *b = &behind->it;
    b->begin = a->begin;
    b->ordinal = a->ordinal;
    b->frames += a->frames;
    if (a->records > 0) {
        b->first_time_us = a->first_time_us;
        memcpy(behind->first_key, run->first_key, a->first_key_size);
        b->first_key_size = a->first_key_size;
        if (b->records == 0) {
            b->last_time_us = a->last_time_us;
            memcpy(behind->last_key, run->last_key, a->last_key_size);
            b->last_key_size = a->last_key_size;
        }
    }
    b->records += a->records;
}

unsigned u9i_stretch_behind(const u9i_reader *r, u9_stretch out[2])
{
    const u9i_facts *f = u9i_reader_facts(r);
    const u9i_judge *j = &r->iterator.judge;
    uint64_t end = j->end.offset, sealed = j->pos > end ? j->pos : end;
    unsigned n = 0;
    u9_stretch it = {.segment = f->number, .size = f->size, .ordinal = j->end.ordinal};
    if (sealed > end) {
        it.kind = U9_STRETCH_INDEX, it.begin = end, it.end = sealed;
        out[n++] = it;
    }
    if (f->size > sealed) {
        it.kind = U9_STRETCH_RESERVED, it.begin = sealed, it.end = f->size;
        out[n++] = it;
    }
    return n;
}
