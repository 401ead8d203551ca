/*
 * engine/read/split.c: a log as ranges that are read apart: u9/scan.h. [P-3] [P-4]
 *
 * A plan is made of the catalog: how long each segment is stands in what names its end, or in its last block. Only
 * where a last segment that was not closed ends must be judged. A range goes from one place to another, both named by
 * segment and boundary; who opens it looks for these in the catalog as it is then, and two ranges that share a place
 * come to the same answer: so nothing between them is read twice or by nobody, whatever has happened meanwhile.
 */
#include "engine/log/handle.h"
#include "engine/read/cursor.h"

#include <u9/scan.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CUT = 4096 }; /* cuts lie at its multiples */

/* A segment of the row, as a plan sees it. */
typedef struct piece {
    const u9i_facts *facts;
    uint64_t begin, end; /* where its bytes stand among those of all */
} piece;

/* All of them. */
typedef struct lengths {
    piece *pieces;
    size_t count;
    uint64_t bytes;
    uint8_t log[16];
} lengths;

static void lengths_check(const lengths *p)
{
    assert(p->count == 0 || p->pieces[p->count - 1].end == p->bytes);
    for (size_t i = 0; i < p->count; i++)
        assert(p->pieces[i].begin <= p->pieces[i].end && (i == 0 || p->pieces[i].begin == p->pieces[i - 1].end));
}

/* Where the data of the last segment end, which nobody names: it is read up to there. What cannot be judged now may be later:
 * then that is no end. */
static u9_err find_data_end(u9i_reader *r, size_t index, uint64_t *end, u9_fault *fault)
{
    u9i_slice all = {.first = index, .last = index, .end = U9_NOWHERE};
    u9i_step step = U9I_STEP_DAMAGE;
    u9_err err = u9i_reader_slice(r, &all, fault);
    while (err == U9_VERSION || (err == U9_OK && step != U9I_STEP_END)) err = u9i_reader_step(r, &step, fault);
    *end = r->begun && r->at.offset > U9I_DISK_HEADER_SIZE ? r->at.offset : U9I_DISK_HEADER_SIZE + 1; /* it holds 32 */
    if (r->tail == U9_V_UNKNOWN) *end = u9i_catalog_facts(r->catalog, index)->size;
    return err;
}

/* Bytes of a segment that are there: up to its end, if that is known; else all of the file. */
static u9_err measure_segment(u9i_reader *r, size_t index, bool last, uint64_t *bytes, u9_fault *fault)
{
    const u9i_facts *f = u9i_catalog_facts(r->catalog, index);
    *bytes = f->named && f->at.offset < f->size ? f->at.offset : f->size;
    return last && !f->named && !f->has_end && !f->plain ? find_data_end(r, index, bytes, fault) : U9_OK;
}

static u9_err take_lengths(u9i_reader *r, lengths *p, u9_fault *fault)
{
    const u9i_catalog *c = r->catalog;
    uint64_t bytes = 0;
    u9_err err = U9_OK;
    memcpy(p->log, c->log, sizeof p->log);
    p->pieces = calloc(c->count + 1, sizeof *p->pieces);
    if (p->pieces == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = r->source->path), "out of memory");
    for (size_t i = u9i_reader_next_on_row(r, 0); i < c->count && err == U9_OK;) {
        size_t next = u9i_reader_next_on_row(r, i + 1);
        err = measure_segment(r, i, next == c->count, &bytes, fault);
        p->pieces[p->count++] =
            (piece){.facts = u9i_catalog_facts(c, i), .begin = p->bytes, .end = p->bytes + bytes};
        p->bytes += bytes;
        i = next;
    }
    lengths_check(p);
    return err;
}

static u9_split_place place_in(const piece *p, uint64_t offset)
{
    u9_split_place place = {.segment = p->facts->number, .offset = offset};
    memcpy(place.boundary, p->facts->secret.boundary, sizeof place.boundary);
    return place;
}

/*
 * The cut nearest to where `at` of all bytes lie: a multiple of CUT in a segment, or a segment's first frame; *where is
 * how many bytes are in front of it. False: it would be the log's end.
 */
static bool cut_at(const lengths *p, uint64_t at, u9_split_place *out, uint64_t *where)
{
    size_t low = 0, high = p->count; /* the last piece that begins at or before `at` */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (p->pieces[middle].begin <= at) low = middle;
        else high = middle;
    }
    const piece *in = &p->pieces[low];
    uint64_t offset = (at - in->begin + CUT / 2) / CUT * CUT;
    if (offset + CUT > in->end - in->begin && offset > 0) {
        if (++low == p->count) return false;
        in = &p->pieces[low];
        offset = 0;
    }
    *where = in->begin + offset;
    *out = place_in(in, offset > 0 ? offset : U9I_DISK_HEADER_SIZE);
    return true;
}

/* The k-th of n parts of all bytes ends there; no product passes 64 bits. */
static uint64_t share(uint64_t bytes, uint64_t k, uint64_t n)
{
    return bytes / n * k + bytes % n * k / n;
}

/* Fills `out` with up to `n` ranges; how many. */
static size_t share_out(const lengths *p, uint64_t n, u9_split_range *out)
{
    size_t count = 0;
    u9_split_range next = {.number = 0};
    uint64_t began = 0, where;
    memcpy(next.log, p->log, sizeof next.log);
    if (p->count > 0) next.from = place_in(&p->pieces[0], 0);
    for (uint64_t k = 1; k < n && p->count > 0; k++) {
        if (!cut_at(p, share(p->bytes, k, n), &next.to, &where)) break;
        if (where <= began) continue;
        next.bytes = where - began;
        out[count++] = next;
        next.from = next.to;
        began = where;
    }
    if (p->count > 0) {
        const piece *last = &p->pieces[p->count - 1];
        next.to = place_in(last, last->end - last->begin);
    }
    next.bytes = p->bytes - began;
    out[count++] = next;
    for (size_t i = 0; i < count; i++) {
        out[i].number = i + 1;
        out[i].count = count;
    }
    return count;
}

static u9_err split(u9i_reader *r, uint64_t n, uint64_t size, u9_split_range **out, size_t *count, u9_fault *fault)
{
    const u9i_where *at = U9I_AT(.path = r->source->path, .rule = "P-3");
    lengths p = {.count = 0};
    u9_split_range *ranges = NULL;
    u9_err err = take_lengths(r, &p, fault);
    if (err == U9_OK && n == 0) n = p.bytes < size ? 1 : p.bytes / size + (p.bytes % size > size / 2);
    if (err == U9_OK && n > U9_SPLIT_MAX)
        err = u9i_fault(fault, U9_ARG, at, "these would be %llu ranges: at most %d", (unsigned long long)n, U9_SPLIT_MAX);
    if (err == U9_OK && (ranges = calloc((size_t)n, sizeof *ranges)) == NULL)
        err = u9i_fault(fault, U9_NOMEM, at, "out of memory");
    if (err == U9_OK) {
        *count = share_out(&p, n, ranges);
        *out = ranges;
    }
    free(p.pieces);
    return err;
}

u9_err u9_log_split(u9_log *log, uint64_t n, uint64_t size, u9_split_range **out, size_t *count, u9_fault *fault)
{
    u9i_reader r;
    if (log == NULL || out == NULL || count == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    const u9i_where *at = U9I_AT(.path = log->source.path, .rule = "P-3");
    if (u9i_log_forked(log)) return u9i_fault(fault, U9_STATE, at, "the handle belongs to the parent process");
    if ((n == 0) == (size == 0))
        return u9i_fault(fault, U9_ARG, at, "a plan is for so many ranges, or for ranges of such a size");
    if (n == 0 && size < CUT) return u9i_fault(fault, U9_ARG, at, "ranges of less than %d bytes", CUT);
    if (n > U9_SPLIT_MAX) return u9i_fault(fault, U9_ARG, at, "at most %d ranges", U9_SPLIT_MAX);
    u9_err err = u9i_reader_open(&r, &log->source, fault);
    if (err != U9_OK) return err;
    err = split(&r, n, size, out, count, fault);
    u9i_reader_release(&r);
    return err;
}

void u9_split_free(u9_split_range *ranges)
{
    free(ranges);
}

/* Where a place is in a catalog. */
typedef struct cut_found {
    bool there;
    size_t index; /* not there: of the first segment with a higher number, or this one */
} cut_found;

static cut_found look_for_place(const u9i_catalog *c, const u9_split_place *place)
{
    cut_found f = {.index = c->count};
    for (size_t i = 0; i < c->count; i++) {
        const u9i_facts *s = u9i_catalog_facts(c, i);
        if (f.index == c->count && s->number >= place->segment) f.index = i;
        bool same = s->number == place->segment &&
                    memcmp(s->secret.boundary, place->boundary, sizeof place->boundary) == 0;
        if (!same || (f.there && !u9i_facts_on_row(s))) continue;
        f = (cut_found){.there = true, .index = i};
        if (u9i_facts_on_row(s)) break;
    }
    return f;
}

/* True if the log says that it trimmed this segment. [C-5] */
static bool was_trimmed(const u9i_catalog *c, uint64_t segment)
{
    return segment < c->trim.segment;
}

/* True if whoever reads there tells that this segment is missing. */
static bool is_told(const u9i_catalog *c, uint64_t segment)
{
    for (size_t i = 0; i < c->missing_count; i++)
        if (c->missing[i].number == segment) return true;
    return false;
}

static u9_err refuse_gone(const u9i_source *source, uint64_t segment, u9_fault *fault)
{
    return u9i_fault(fault, U9_ABSENT, U9I_AT(.path = source->path, .segment = segment, .rule = "P-4"),
                     "segment %llu, which the range names, is not there", (unsigned long long)segment);
}

/* Makes of a range what it is in this catalog. [P-4] */
static u9_err locate(const u9i_source *source, const u9i_catalog *c, const u9_split_range *range, u9i_slice *s,
                     u9_fault *fault)
{
    bool first = range->number == 1, last = range->number == range->count;
    cut_found from = look_for_place(c, &range->from), to = look_for_place(c, &range->to);
    *s = (u9i_slice){.first = from.index, .begin = from.there ? range->from.offset : 0, .last = to.index,
                       .end = to.there ? range->to.offset : 0, .whole_end = last};
    bool none = range->from.segment == 0 && range->to.segment == 0 && range->to.offset == 0; /* there was no segment */
    bool empty = s->first > s->last || (s->first == s->last && s->end <= U9I_DISK_HEADER_SIZE && !last);
    const u9_split_place *places[] = {&range->from, &range->to};
    const cut_found *where[] = {&from, &to};
    for (unsigned i = 0; i < 2 && !none; i++) {
        uint64_t number = places[i]->segment;
        if (where[i]->there || was_trimmed(c, number)) continue;
        if (empty || !is_told(c, number)) return refuse_gone(source, number, fault);
    }
    if (!from.there && was_trimmed(c, range->from.segment)) {
        s->trimmed = range->from.segment;
        s->trimmed_begin = range->from.offset;
    }
    if (s->last < s->first) s->last = s->first, s->end = 0;
    if (first) s->first = 0, s->begin = 0;
    return U9_OK;
}

static bool is_zero(const uint8_t id[16])
{
    static const uint8_t zero[16];
    return memcmp(id, zero, sizeof zero) == 0;
}

static u9_err check_range(const u9i_source *source, const u9i_catalog *c, const u9_split_range *r, u9_fault *fault)
{
    const u9i_where *at = U9I_AT(.path = source->path, .rule = "P-4");
    bool reversed = r->from.segment > r->to.segment ||
                    (r->from.segment == r->to.segment && r->from.offset > r->to.offset);
    if (r->number == 0 || r->number > r->count || reversed)
        return u9i_fault(fault, U9_ARG, at, "the range ends before it begins, or is not one of its plan");
    if (is_zero(r->log) || is_zero(c->log) || memcmp(r->log, c->log, sizeof r->log) == 0) return U9_OK;
    return u9i_fault(fault, U9_ARG, at, "the range is of another log");
}

u9_err u9_range_open(u9_log *log, const u9_split_range *range, u9_cursor **out, u9_fault *fault)
{
    u9_cursor *c;
    u9i_slice slice;
    if (range == NULL || out == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    u9_err err = u9_cursor_open(log, NULL, &c, fault);
    if (err != U9_OK) return err;
    const u9i_catalog *catalog = c->reader.catalog;
    err = check_range(&log->source, catalog, range, fault);
    if (err == U9_OK) err = locate(&log->source, catalog, range, &slice, fault);
    if (err == U9_OK) err = u9i_reader_slice(&c->reader, &slice, fault);
    if (err != U9_OK) {
        u9_cursor_close(c);
        return err;
    }
    *out = c;
    return U9_OK;
}
