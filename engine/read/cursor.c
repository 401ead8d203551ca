/*
 * engine/read/cursor.c: the records of a log, one by one, and the lookup of a key by a scan. [R-1] [P-1]
 *
 * A cursor has its own map and windows: it shares nothing with the writer of the same handle but the
 * directory.
 */
#include "engine/log/handle.h"
#include "engine/read/reader.h"

#include <stdlib.h>
#include <string.h>

struct u9_cursor {
    u9_log *log;
    u9i_reader reader;
    uint64_t from;        /* first ordinal wanted */
    const uint8_t *next;  /* records of the current frame that are left */
    size_t left;
    uint64_t ordinal;     /* of the record at `next` */
    bool lossy;           /* damage was met that may have cost records */
    u9_fault fault;
};

/* Turns to what the range names. */
static u9_err take_range(u9_cursor *c, const u9_range *range, u9_fault *fault)
{
    if (range == NULL) return U9_OK;
    if (range->size != sizeof *range)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = c->log->path),
                         "range.size is not sizeof(u9_range)");
    c->from = range->from;
    uint64_t segment = range->segment;
    if (segment == 0 && c->log->dir->single[0] && c->reader.map.count == 1)
        segment = c->reader.map.segments[0].number;
    else if (segment == 0 && (range->begin != 0 || range->end != 0))
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = c->log->path),
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
        return u9i_fault(fault, U9_STATE, U9I_AT(.path = log->path),
                         "the handle belongs to the parent process");
    u9_cursor *c = calloc(1, sizeof *c);
    if (c == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = log->path), "out of memory");
    c->log = log;
    u9_err err = u9i_reader_open(&c->reader, log->dir, log->path, fault);
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

void u9_cursor_close(u9_cursor *c)
{
    if (c == NULL) return;
    u9i_reader_release(&c->reader);
    free(c);
}

/* True if all records of the frame are below `from`. A forged ordinal may be the last there is. */
static bool ends_before(const u9i_frame *f, uint64_t from)
{
    return f->trailer.ordinal < from && from - f->trailer.ordinal >= f->trailer.count;
}

/* Steps until there are records to hand out. U9_END, U9_CORRUPT (damage to tell), or an error. */
static u9_err next_frame(u9_cursor *c)
{
    const u9_options *o = &c->log->options;
    for (;;) {
        u9i_step step;
        u9_err err = u9i_reader_step(&c->reader, &step, &c->fault);
        if (err == U9_VERSION) c->lossy = true;
        if (err != U9_OK) return err;
        const u9_damage *d = &c->reader.damage;
        if (step == U9I_STEP_DAMAGE && d->verdict != U9_V_TORN && d->lost != 0) c->lossy = true;
        switch (step) {
        case U9I_STEP_END: return U9_END;
        case U9I_STEP_DAMAGE:
            if (o->on_damage) o->on_damage(o->on_damage_ctx, d);
            else if (d->verdict != U9_V_TORN)
                return u9i_fault(&c->fault, U9_CORRUPT,
                                 U9I_AT_OFFSET(d->begin, .path = d->path, .segment = d->segment,
                                               .rule = u9_reason_rule(d->reason)),
                                 "%s", u9_reason_text(d->reason));
            break;
        case U9I_STEP_FRAME:
            if (c->reader.count == 0 || ends_before(c->reader.frame, c->from)) break;
            c->next = c->reader.body.bytes;
            c->left = c->reader.body.size;
            c->ordinal = c->reader.frame->trailer.ordinal;
            return U9_OK;
        }
    }
}

u9_err u9_cursor_next(u9_cursor *c, u9_record *out)
{
    if (u9i_log_forked(c->log))
        return u9i_fault(&c->fault, U9_STATE, U9I_AT(.path = c->log->path),
                         "the handle belongs to the parent process");
    for (;;) {
        if (c->left == 0) {
            u9_err err = next_frame(c);
            if (err != U9_OK) return err;
        }
        u9i_record r;
        const uint8_t *start = c->reader.body.bytes;
        uint64_t at = (uint64_t)(c->next - start);
        if (u9i_record_next(&c->next, &c->left, &r) != U9_OK) return U9_CORRUPT; /* proven before */
        uint64_t ordinal = c->ordinal++;
        if (ordinal < c->from) continue;
        const u9i_frame *f = c->reader.frame;
        *out = (u9_record){
            .ordinal = ordinal, .time_us = f->trailer.time_us,
            .segment = c->reader.map.segments[c->reader.index].number, .frame = f->offset,
            .at = f->offset / U9I_ALIGN << 24 | at, /* [B-6] */
            .key = {.data = r.key, .size = r.key_size}, .bytes = r.bytes, .size = r.size,
            .values = r.values, .values_size = r.values_size};
        return U9_OK;
    }
}

const u9_damage *u9_cursor_damage(const u9_cursor *c)
{
    return &c->reader.damage;
}

void u9_cursor_fault(const u9_cursor *c, u9_fault *out)
{
    *out = c->fault;
}

/* A found record, moved into the caller's buffer. */
static void keep(const u9_record *r, void *buf, u9_record *out)
{
    *out = *r;
    memcpy(buf, r->bytes, r->size);
    out->bytes = buf;
    out->key.data = out->bytes + ((const uint8_t *)r->key.data - r->bytes);
    out->values = out->bytes + (r->values - r->bytes);
}

/* What a lookup has found so far. */
typedef struct lookup {
    const u9_key *key;
    uint8_t *buf;
    size_t cap;
    u9_record found; /* bytes NULL: nothing; else copied into buf if it fits */
    bool fits;
} lookup;

static void match(lookup *l, const u9_record *r)
{
    if (r->key.size != l->key->size || memcmp(r->key.data, l->key->data, r->key.size) != 0) return;
    l->found = *r;
    l->fits = r->size <= l->cap;
    if (l->fits) keep(r, l->buf, &l->found);
}

u9_err u9_log_get(u9_log *log, const u9_key *key, void *buf, size_t cap, u9_record *out,
                  u9_fault *fault)
{
    if (key == NULL || key->data == NULL || out == NULL)
        return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    u9_cursor *c;
    u9_err err = u9_cursor_open(log, NULL, &c, fault);
    if (err != U9_OK) return err;
    lookup l = {.key = key, .buf = buf, .cap = cap};
    u9_record r;
    while ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_CORRUPT || err == U9_VERSION)
        if (err == U9_OK) match(&l, &r);
    bool lossy = c->lossy;
    if (fault && err != U9_END) *fault = c->fault;
    u9_cursor_close(c);
    if (err != U9_END) return err;
    if (l.found.bytes == NULL && lossy)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = log->path),
                         "no record has this key, but records were lost to damage");
    if (l.found.bytes == NULL)
        return u9i_fault(fault, U9_ABSENT, U9I_AT(.path = log->path), "no record has this key");
    if (!l.fits) {
        out->size = l.found.size;
        return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = log->path), "the record has %zu bytes",
                         l.found.size);
    }
    *out = l.found;
    return U9_OK;
}
