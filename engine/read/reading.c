/*
 * engine/read/reading.c: one record, by the place where it was shown, in pieces. [B-6] [C-6]
 *
 * A record within a frame is held in the window; of one in parts a part at a time (part_walk.h). What is served was
 * judged by whoever showed the record; here its bytes are proven once more.
 */
#include "engine/log/handle.h"
#include "engine/os/process.h"
#include "engine/read/lookup.h"
#include "engine/read/part_walk.h"
#include "engine/read/reader.h"

#include <u9/large.h>

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct u9_reading {
    u9_log *log;
    u9i_iterator it;  /* for its window and file */
    uint8_t *scratch; /* U9I_BODY_MAX bytes */
    uint64_t size;    /* bytes of the record */
    uint64_t ordinal;
    bool shown; /* to the caller: what was proven before is proven again */
    bool in_parts;
    u9i_part_walk walk;   /* in_parts; else */
    const uint8_t *bytes; /*   all of them, in window or scratch */
};

static void reading_check(const u9_reading *r)
{
    assert(r->log != NULL && r->it.segment != NULL && r->scratch != NULL);
    assert(r->in_parts == (r->bytes == NULL));
}

/* Where in the log's files something of the record is not as it must be. */
static u9_err refuse_reading(u9_reading *r, uint64_t offset, const char *rule, u9_fault *fault)
{
    char path[4400];
    const u9i_facts *s = &r->it.segment->facts;
    return u9i_fault(
        fault, U9_CORRUPT,
        U9I_AT_OFFSET(offset, .rule = rule, .segment = s->number,
                      .path = u9i_source_path(&r->log->source, s->name, path, sizeof path)),
        "no such record stands here");
}

/* The segment that the record stands in, also one that was trimmed while a cursor is at the record. A reference; NULL: none. */
static u9i_segment *find_its_segment(const u9i_catalog *catalog, u9i_source *source, uint64_t number)
{
    if (u9i_reader_is_single(source, catalog)) return u9i_segment_ref(catalog->segments[0]);
    for (size_t i = 0; i < catalog->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(catalog, i);
        if (f->number == number && u9i_facts_on_row(f)) return u9i_segment_ref(catalog->segments[i]);
    }
    return u9i_source_held(source, number);
}

static u9_err open_its_segment(u9_reading *r, uint64_t number, u9_fault *fault)
{
    u9i_source *source = &r->log->source;
    u9i_catalog *catalog;
    u9_fault why = {.sys = ENOENT};
    u9_err err = u9i_source_catalog(source, &catalog, fault);
    if (err != U9_OK) return err;
    u9i_segment *segment = find_its_segment(catalog, source, number);
    err = segment ? u9i_source_iterate(source, segment, NULL, false, &r->it, &why) : U9_IO;
    if (err == U9_IO && why.sys == ENOENT)
        err = u9i_fault(&why, U9_ABSENT, U9I_AT(.path = source->path, .segment = number), "the record's segment is not there");
    if (err != U9_OK && fault) *fault = why;
    u9i_segment_unref(segment);
    /* Its bytes are asked for again, after they were shown: what decayed meanwhile is told. */
    if (err == U9_OK && r->shown) u9i_window_remember(r->it.window, NULL, U9_VERIFY_ALWAYS);
    u9i_catalog_unref(catalog);
    return err;
}

/* The record in a body: where its virtual offset says. [B-6] */
static u9_err find_in_body(u9_reading *r, const u9i_body *body, const u9_record *record)
{
    size_t at = (size_t)(record->at & (U9I_BODY_MAX - 1));
    u9i_record found;
    if (at >= body->size) return U9_CORRUPT;
    const uint8_t *next = body->bytes + at;
    size_t left = body->size - at;
    if (u9i_body_next(body, &next, &left, &found) != U9_OK || found.size != record->size)
        return U9_CORRUPT;
    r->bytes = found.bytes;
    return U9_OK;
}

/* The record in parts, whose last one is in frame f. */
static u9_err find_in_parts(u9_reading *r, const u9i_frame *f, const u9i_body *body)
{
    u9i_part_record part;
    uint64_t first;
    u9_err err = u9i_part_record_decode(body->bytes, body->size, &part);
    if (err == U9_OK && part.total != r->size) err = U9_CORRUPT;
    if (err == U9_OK) err = u9i_part_walk_first(r->it.window, f, &part, &first);
    if (err != U9_OK) return err;
    r->in_parts = true;
    u9i_part_walk_init(&r->walk, r->it.window, r->scratch, first, f->offset, part.total);
    return U9_OK;
}

static u9_err find_record(u9_reading *r, const u9_record *record)
{
    u9i_frame f;
    u9i_body body = {.kind = U9I_BODY_RECORDS, .plain = true};
    size_t need;
    const u9i_facts *s = &r->it.segment->facts;
    uint64_t bound = s->named ? s->at.offset : U9_NOWHERE;
    u9_err err =
        record->frame < bound ? u9i_window_at(r->it.window, record->frame, bound, &f) : U9_CORRUPT;
    if (err != U9_OK) return err;
    body.bytes = f.body;
    body.size = f.body_size;
    if (!s->plain) err = u9i_body_open(&f, r->scratch, U9I_BODY_MAX, &need, &body);
    if (err != U9_OK) return U9_CORRUPT;
    if (body.kind == U9I_BODY_PART && f.trailer.count == 1) return find_in_parts(r, &f, &body);
    return body.kind == U9I_BODY_RECORDS ? find_in_body(r, &body, record) : U9_CORRUPT;
}

/* The record where it is said to stand. U9_CORRUPT, U9_ABSENT: it does not. */
static u9_err open_record_at(u9_reading *r, const u9_record *record, u9_fault *fault)
{
    u9_err err = open_its_segment(r, record->segment, fault);
    if (err != U9_OK) return err;
    err = find_record(r, record);
    if (err == U9_CORRUPT) return refuse_reading(r, record->frame, "B-6", fault);
    return err == U9_OK ? err : u9i_source_fault(&r->log->source, &r->it, err, fault);
}

u9_err u9i_reading_open(u9_log *log, const u9_record *record, bool shown, u9_reading **out, u9_fault *fault)
{
    const u9i_where *at = U9I_AT(.path = log->source.path);
    u9_reading *r = calloc(1, sizeof *r);
    if (r) r->scratch = u9i_pages(U9I_BODY_MAX);
    if (r == NULL || r->scratch == NULL) {
        free(r);
        return u9i_fault(fault, U9_NOMEM, at, "out of memory");
    }
    r->log = log;
    r->size = record->size;
    r->ordinal = record->ordinal;
    r->shown = shown;
    u9_err err = open_record_at(r, record, fault);
    if (log->writing && (err == U9_CORRUPT || err == U9_ABSENT)) { /* a lookup may have shown it before it was written */
        u9i_iterator_close(&r->it);
        err = u9i_lookup_sync(log, fault);
        if (err == U9_OK) err = open_record_at(r, record, fault);
    }
    if (err != U9_OK) {
        u9_record_close(r);
        return err;
    }
    reading_check(r);
    *out = r;
    return U9_OK;
}

u9_err u9_record_open(u9_log *log, const u9_record *record, u9_reading **out, u9_fault *fault)
{
    if (log == NULL || record == NULL || out == NULL)
        return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    if (u9i_log_forked(log))
        return u9i_fault(fault, U9_STATE, U9I_AT(.path = log->source.path), "the handle belongs to the parent process");
    return u9i_reading_open(log, record, true, out, fault);
}

/* Which part it is, and from which of the record's bytes on, that is not there. */
static u9_err tell_gap(u9_reading *r, u9_fault *fault)
{
    const u9i_stop *next = &r->walk.next;
    char path[4400];
    const u9i_facts *s = &r->it.segment->facts;
    return u9i_fault(
        fault, U9_CORRUPT,
        U9I_AT_OFFSET(next->frame, .rule = "C-6", .segment = s->number,
                      .path = u9i_source_path(&r->log->source, s->name, path, sizeof path)),
        "record %llu: part %u is damaged or gone, with its bytes from %llu on, of %llu",
        (unsigned long long)r->ordinal, (unsigned)next->number, (unsigned long long)next->begin,
        (unsigned long long)r->size);
}

u9_err u9_record_read(u9_reading *r, uint64_t offset, void *buf, size_t size, size_t *got,
                      u9_fault *fault)
{
    if (r == NULL || got == NULL || (buf == NULL && size > 0))
        return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    *got = 0;
    if (u9i_log_forked(r->log))
        return u9i_fault(fault, U9_STATE, U9I_AT(.path = r->log->source.path),
                         "the handle belongs to the parent process");
    if (offset >= r->size) return U9_END;
    u9_err err = U9_OK;
    for (uint64_t left = r->size - offset; size > 0 && left > 0 && err == U9_OK;) {
        u9i_span piece = {.data = r->bytes ? r->bytes + offset : NULL, .size = (size_t)left};
        if (r->in_parts) err = u9i_part_walk_at(&r->walk, offset, &piece);
        if (err != U9_OK) break;
        size_t n = piece.size < size ? piece.size : size;
        memcpy((uint8_t *)buf + *got, piece.data, n);
        *got += n;
        offset += n;
        left -= n;
        size -= n;
    }
    reading_check(r);
    if (err == U9_CORRUPT) return tell_gap(r, fault);
    return err == U9_OK ? err : u9i_source_fault(&r->log->source, &r->it, err, fault);
}

u9_err u9i_reading_prove(u9_reading *r)
{
    u9i_span piece;
    u9_err err = U9_OK;
    for (uint64_t at = 0; err == U9_OK && r->in_parts && at < r->size; at += piece.size)
        err = u9i_part_walk_at(&r->walk, at, &piece);
    return err;
}

void u9_record_close(u9_reading *r)
{
    if (r == NULL) return;
    u9i_iterator_close(&r->it);
    u9i_pages_free(r->scratch, U9I_BODY_MAX);
    free(r);
}
