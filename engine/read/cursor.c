/*
 * engine/read/cursor.c: the records of a log, one by one. [R-1] [P-1]
 *
 * A cursor reads the catalog that was current when it was opened; it shares what is judged with all others on
 * its handle, and nothing with the handle's writer but the directory.
 */
#include "engine/read/cursor.h"

#include "engine/log/handle.h"
#include "engine/read/follow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void cursor_check(const u9_cursor *c)
{
    const u9i_body *b = &c->reader.body;
    assert(c->left == 0 || (c->next >= b->bytes && c->left <= b->size &&
                            c->next + c->left == b->bytes + b->size));
}

/* Turns to what the range names. */
static u9_err take_range(u9_cursor *c, const u9_range *range, u9_fault *fault)
{
    if (range == NULL) return U9_OK;
    if (range->size != sizeof *range)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = c->log->source.path),
                         "range.size is not sizeof(u9_range)");
    c->from = range->from;
    uint64_t segment = range->segment;
    if (segment == 0 && c->log->source.dir->single[0] && c->reader.catalog->count == 1)
        segment = u9i_catalog_facts(c->reader.catalog, 0)->number;
    else if (segment == 0 && (range->begin != 0 || range->end != 0))
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = c->log->source.path),
                         "a byte range is one of a segment: which?");
    if (range->segment == 0 && range->begin == 0 && range->end == 0) {
        if (range->from > 0) u9i_reader_from(&c->reader, range->from);
        return U9_OK;
    }
    return u9i_reader_range(&c->reader, segment, range->begin, range->end ? range->end : U9_NOWHERE,
                            fault);
}

u9_err u9_cursor_open(u9_log *log, const u9_range *range, u9_cursor **out, u9_fault *fault)
{
    if (log == NULL || out == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    if (u9i_log_forked(log))
        return u9i_fault(fault, U9_STATE, U9I_AT(.path = log->source.path),
                         "the handle belongs to the parent process");
    u9_cursor *c = calloc(1, sizeof *c);
    if (c == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = log->source.path), "out of memory");
    c->log = log;
    u9_err err = u9i_reader_open(&c->reader, &log->source, fault);
    if (err == U9_OK) {
        err = take_range(c, range, fault);
        if (err != U9_OK) u9i_reader_release(&c->reader);
    }
    if (err != U9_OK) {
        free(c);
        return err;
    }
    *out = c;
    return U9_OK;
}

void u9i_cursor_segments(u9_cursor *c, size_t first, size_t last)
{
    u9i_reader_segments(&c->reader, first, last);
    c->left = 0;
}

void u9_cursor_close(u9_cursor *c)
{
    if (c == NULL) return;
    if (c->follower) u9i_follower_release(c->follower);
    free(c->follower);
    u9i_reader_release(&c->reader);
    free(c);
}

/* True if all records of the frame are below `from`. A forged ordinal may be the last there is. */
static bool ends_before(const u9i_frame *f, uint64_t from)
{
    return f->trailer.ordinal < from && from - f->trailer.ordinal >= f->trailer.count;
}

/* A record in parts that is larger than what is handed out: all but its bytes, which u9_record_read has. [C-6] */
static u9_err show_large(u9_cursor *c, u9_record *out)
{
    const u9i_reader *r = &c->reader;
    const u9i_frame *f = r->frame;
    const u9i_record *front = &r->first;
    const u9i_facts *s = u9i_reader_facts(r);
    char path[4400];
    if (r->large > SIZE_MAX) return U9_LIMIT;
    size_t size = (size_t)r->large;
    *out = (u9_record){.ordinal = f->trailer.ordinal, .time_us = f->trailer.time_us, .segment = s->number,
                       .frame = f->offset, .at = f->offset / U9I_ALIGN << 24, /* [B-6] */
                       .key = {.data = front->key, .size = front->key_size}, .size = size,
                       .values_size = size - (size_t)(front->key + front->key_size - front->bytes)};
    return u9i_fault(&c->fault, U9_LIMIT,
                     U9I_AT_OFFSET(f->offset, .rule = "C-6", .segment = s->number,
                                   .path = u9i_source_path(r->source, s->name, path, sizeof path)),
                     "record %llu has %llu bytes: more than is handed out at once",
                     (unsigned long long)out->ordinal, (unsigned long long)size);
}

/* Records that come next were trimmed before the cursor came to them. [L-10] */
static u9_err refuse_trimmed(u9_cursor *c, const u9_damage *d)
{
    const u9i_where *at = U9I_AT(.path = c->log->source.path, .segment = d->segment, .rule = "L-10");
    if (d->ordinal == U9_NOWHERE || d->lost == U9_NOWHERE)
        return u9i_fault(&c->fault, U9_ABSENT, at, "the records that come next were trimmed before they were read");
    return u9i_fault(&c->fault, U9_ABSENT, at, "records %llu to %llu were trimmed before they were read",
                     (unsigned long long)d->ordinal, (unsigned long long)(d->ordinal + d->lost - 1));
}

/* Steps until there are records to hand out. U9_END, U9_CORRUPT (damage to tell), U9_ABSENT (trimmed), or an error. */
static u9_err next_frame(u9_cursor *c)
{
    const u9_options *o = &c->log->options;
    for (;;) {
        u9i_step step;
        u9_err err = c->follower ? u9i_follower_step(c->follower, &step, &c->fault)
                                 : u9i_reader_step(&c->reader, &step, &c->fault);
        if (err == U9_VERSION) c->lossy = true;
        if (err != U9_OK) return err;
        const u9_damage *d = &c->reader.damage;
        if (step == U9I_STEP_DAMAGE && d->verdict != U9_V_TORN && d->lost != 0) c->lossy = true;
        switch (step) {
        case U9I_STEP_END: return U9_END;
        case U9I_STEP_LEAVE: break; /* not asked for */
        case U9I_STEP_DAMAGE:
            if (d->reason == U9_R_TRIMMED && d->lost == 0) break; /* there was none in them */
            if (o->on_damage) o->on_damage(o->on_damage_ctx, d);
            else if (d->reason == U9_R_TRIMMED) return refuse_trimmed(c, d);
            else if (d->verdict != U9_V_TORN)
                return u9i_fault(&c->fault, U9_CORRUPT,
                                 U9I_AT_OFFSET(d->begin, .path = d->path, .segment = d->segment,
                                               .sys = c->reader.damage_sys,
                                               .rule = u9_reason_rule(d->reason)),
                                 "%s", u9_reason_text(d->reason));
            break;
        case U9I_STEP_FRAME:
            if (c->reader.count == 0 || ends_before(c->reader.frame, c->from)) break;
            c->next = c->reader.body.bytes;
            c->left = c->reader.large > 0 ? 0 : c->reader.body.size;
            c->ordinal = c->reader.frame->trailer.ordinal;
            return U9_OK;
        }
    }
}

u9_err u9_cursor_next(u9_cursor *c, u9_record *out)
{
    if (c == NULL) return U9_ARG;
    if (out == NULL) return u9i_fault(&c->fault, U9_ARG, U9I_AT(), "an argument is NULL");
    if (u9i_log_forked(c->log))
        return u9i_fault(&c->fault, U9_STATE, U9I_AT(.path = c->log->source.path),
                         "the handle belongs to the parent process");
    for (;;) {
        if (c->left == 0) {
            u9_err err = next_frame(c);
            if (err != U9_OK) return err;
            if (c->reader.large > 0) return show_large(c, out);
        }
        u9i_record r;
        const uint8_t *start = c->reader.body.bytes;
        uint64_t at = (uint64_t)(c->next - start);
        if (u9i_body_next(&c->reader.body, &c->next, &c->left, &r) != U9_OK) return U9_CORRUPT; /* proven before */
        uint64_t ordinal = c->ordinal++;
        cursor_check(c);
        if (ordinal < c->from) continue;
        const u9i_frame *f = c->reader.frame;
        *out = (u9_record){
            .ordinal = ordinal, .time_us = f->trailer.time_us,
            .segment = u9i_reader_facts(&c->reader)->number, .frame = f->offset,
            .at = f->offset / U9I_ALIGN << 24 | at, /* [B-6] */
            .key = {.data = r.key, .size = r.key_size}, .bytes = r.bytes, .size = r.size,
            .values = r.values, .values_size = r.values_size};
        return U9_OK;
    }
}

const u9_damage *u9_cursor_damage(const u9_cursor *c)
{
    return c ? &c->reader.damage : NULL;
}

void u9_cursor_fault(const u9_cursor *c, u9_fault *out)
{
    if (out == NULL) return;
    if (c) *out = c->fault;
    else (void)u9i_fault(out, U9_ARG, U9I_AT(), "an argument is NULL");
}
