/*
 * engine/read/slice.c: a reader of what lies between two places of a log, and only of that. [P-4]
 *
 * What is read and told in a segment depends, where its u9open is damaged or a segment is missing, on where the log
 * stood in front of it. So a reader that begins in the midst of a log finds that out: what names the end of the segment
 * before says it, and where nothing does, that segment is read.
 */
#include "engine/read/reader.h"

/* The nearest segment in front of `index` whose records are read; false: there is none. */
static bool find_read_before(const u9i_catalog *catalog, size_t index, size_t *before)
{
    while (index-- > 0)
        if (u9i_facts_on_row(u9i_catalog_facts(catalog, index))) {
            *before = index;
            return true;
        }
    return false;
}

/* The first unit in front of which a missing segment is the slice's to tell: in front of segments[first] it goes with its
 * offset 32. */
static size_t first_told(const u9i_slice *s)
{
    return s->begin > U9I_DISK_HEADER_SIZE ? s->first + 1 : s->first;
}

/* True if it matters where the log stood in front of the slice, though nothing names that. */
static bool depends(const u9i_reader *r, const u9i_slice *s)
{
    size_t i = u9i_reader_next_on_row(r, s->first);
    if (u9i_reader_missing(r, first_told(s)) < u9i_reader_missing(r, i + 1)) return true;
    if (i == r->catalog->count) return false;
    const u9i_facts *f = u9i_catalog_facts(r->catalog, i);
    return !f->has_open && !f->plain; /* ordinals of plain files are counted in the range [E-3] */
}

/* Where to begin, so that it is known how the log stands in front of the slice. */
static size_t find_start(u9i_reader *r, const u9i_slice *s)
{
    size_t at = s->first, before;
    bool wanted = depends(r, s);
    while (find_read_before(r->catalog, at, &before)) {
        const u9i_facts *f = u9i_catalog_facts(r->catalog, before);
        if (f->named) {
            r->at = f->at;
            r->begun = r->knows_at = r->knows_chain = true;
            return before + 1;
        }
        if (!wanted) return s->first;
        at = before;
        if (f->has_open) break; /* how it ends depends on nothing else */
    }
    return at;
}

/* Goes from there to the slice, and tells nothing of what is on the way. */
static u9_err bring_up(u9i_reader *r, const u9i_slice *s, u9_fault *fault)
{
    u9i_step step = U9I_STEP_DAMAGE;
    u9_err err;
    r->index = find_start(r, s);
    r->only = s->first;
    r->missing = u9i_reader_missing(r, r->index);
    r->missing_end = u9i_reader_missing(r, first_told(s));
    do err = u9i_reader_step(r, &step, fault);
    while (err == U9_VERSION || (err == U9_OK && step != U9I_STEP_END));
    return err;
}

u9_err u9i_reader_slice(u9i_reader *r, const u9i_slice *s, u9_fault *fault)
{
    u9_err err = bring_up(r, s, fault);
    if (err != U9_OK) return err;
    size_t stop = s->end <= U9I_DISK_HEADER_SIZE ? s->last : s->last + 1;
    if (s->whole_end) stop = u9i_reader_next_on_row(r, stop);
    bool all = s->whole_end && stop == r->catalog->count;
    r->index = s->first;
    r->only = stop;
    r->missing_end = all ? r->catalog->missing_count : u9i_reader_missing(r, stop);
    u9i_reader_pass_missing(r, first_told(s));
    r->ranged = r->sliced = true;
    r->range_first = s->first;
    r->range_last = s->last;
    r->range_begin = s->begin;
    r->range_end = s->end;
    r->trimmed = s->trimmed;
    r->trimmed_begin = s->trimmed_begin;
    r->passed = 0;
    r->passed_index = s->first;
    return U9_OK;
}
