/*
 * engine/read/beside.c: see beside.h. [K-1] [K-4]
 *
 * Whether an index is of the segment as it stands is asked of who knows its end: the segment that comes behind it, or the
 * mark; a u9end in its last block; else the file, in which the frame that the index ends with must stand where it did, and
 * behind it nothing that is read, and no end of which it is not known what was lost there.
 */
#include "engine/read/beside.h"

#include "engine/read/reader.h"

#include <string.h>

/* Behind a frame. */
static u9i_position position_behind(const u9i_frame *f)
{
    u9i_position p = {.offset = f->end, .ordinal = f->trailer.ordinal + f->trailer.count};
    memcpy(p.chain, f->sha, sizeof p.chain);
    return p;
}

/* The least virtual offset of a record in a frame that begins there or behind. */
static uint64_t first_behind(uint64_t offset)
{
    uint64_t frame = offset / U9I_ALIGN + (offset % U9I_ALIGN != 0);
    return frame > UINT64_MAX >> U9I_VIRTUAL_SHIFT ? UINT64_MAX : frame << U9I_VIRTUAL_SHIFT;
}

/* The frame at file->last stands there and ends at the end that the index is of. */
static u9_err ends_there(u9_log *log, u9i_segment *s, const u9i_index_file *file, bool *there)
{
    u9i_loaded l;
    int sys;
    u9_err err = u9i_load(s, &log->source.windows, file->last, s->facts.size, 0, &l, &sys);
    *there = false;
    if (err == U9_CORRUPT) return U9_OK;
    if (err != U9_OK) return err;
    u9i_position end = position_behind(&l.frame);
    *there = u9i_position_same(&end, &file->end);
    u9i_unload(&l);
    return U9_OK;
}

/* Nothing that is read, and no loss that is not noted, begins behind the frame at `last`. */
static u9_err ends_with(u9_log *log, const u9i_segment *s, uint64_t last, const u9i_losses *noted, bool *nothing)
{
    u9i_reader r;
    u9i_step step = U9I_STEP_FRAME;
    u9_err err = u9i_reader_open(&r, &log->source, NULL);
    if (err != U9_OK) return err;
    size_t unit = u9i_reader_unit(&r, s->facts.number);
    *nothing = unit < r.catalog->count;
    if (*nothing) err = u9i_reader_slice(&r, &(u9i_slice){.first = unit, .begin = last, .last = unit, .end = U9_NOWHERE}, NULL);
    *nothing &= err == U9_OK;
    while (*nothing && step != U9I_STEP_END) {
        err = u9i_reader_step(&r, &step, NULL);
        bool lost = u9i_reader_loses(&r, step) && !u9i_losses_have(noted, r.damage.begin, r.damage.end);
        bool more = step == U9I_STEP_FRAME && r.count > 0 && r.frame->offset > last;
        if (err != U9_OK || lost || more) *nothing = false;
    }
    u9i_reader_release(&r);
    return err == U9_IO || err == U9_NOMEM ? err : U9_OK;
}

/* Whether the index is of the segment's data, to their end. */
static u9_err ends_as_indexed(u9_log *log, u9i_segment *s, const u9i_index_file *file, const u9i_losses *noted, bool *current)
{
    const u9i_facts *f = &s->facts;
    if (f->named || (f->has_end && f->end.kind == U9I_END_CLOSING)) {
        u9i_position end = f->named ? f->at : position_behind(&f->end_frame);
        *current = u9i_position_same(&end, &file->end);
        return U9_OK;
    }
    u9_err err = ends_there(log, s, file, current);
    return err == U9_OK && *current ? ends_with(log, s, file->last, noted, current) : err;
}

/* Whether it is of the segment as it stands: what was lost when it was made, too, is as it was. */
static u9_err is_as_indexed(u9_log *log, u9i_segment *s, u9i_index_file *file, uint64_t *lost_before, bool *current)
{
    u9i_losses noted;
    uint8_t then[U9I_HASH_SIZE], now[U9I_HASH_SIZE];
    *current = false;
    u9_err err = u9i_index_file_losses(file, &log->source.windows, &noted, then);
    if (err != U9_OK) return err;
    *lost_before = first_behind(u9i_losses_end(&noted));
    err = ends_as_indexed(log, s, file, &noted, current);
    if (err == U9_OK && *current && noted.count > 0) {
        err = u9i_losses_hash(&noted, s, now);
        *current = err == U9_OK && memcmp(then, now, sizeof now) == 0;
    }
    u9i_losses_free(&noted);
    return err;
}

u9_err u9i_beside_open(u9_log *log, u9i_segment *s, u9i_budget *budget, u9i_index *out, uint64_t *lost_before, u9i_index_flaw *flaw)
{
    u9i_index_file file;
    bool current;
    uint64_t noted = 0;
    u9_err err = u9i_index_file_open(&file, s, &log->source.windows, flaw);
    if (err != U9_OK) return err;
    err = is_as_indexed(log, s, &file, &noted, &current);
    out->refused = file.refused;
    if (err == U9_OK && !current) {
        *flaw = U9I_FLAW_STALE;
        err = U9_ABSENT;
    }
    if (err == U9_OK) err = u9i_index_open(out, file.file, &log->source.windows, file.root, file.bound, &file.end, budget);
    if (err == U9_CORRUPT || err == U9_IO) {
        *flaw = U9I_FLAW_DAMAGED;
        err = U9_ABSENT;
    }
    if (err == U9_OK) *lost_before = noted;
    u9i_index_file_close(&file);
    return err;
}

u9_err u9i_inside_open(u9_log *log, u9i_segment *s, u9i_budget *budget, u9i_index *out)
{
    const u9i_facts *f = &s->facts;
    bool has = f->has_end && f->end.kind == U9I_END_SEALING && f->end.root != 0;
    if (!has || !(f->named || f->marked)) return U9_ABSENT;
    const u9i_position *end = f->named ? &f->at : &f->mark; /* of a log whose last one is sealed: a copy, a place [TR-3] */
    return u9i_index_open(out, s, &log->source.windows, f->end.root, f->end_frame.offset, end, budget);
}

size_t u9i_beside_run(const u9i_catalog *catalog, size_t i)
{
    while (i > 0 && !u9i_catalog_facts(catalog, i)->has_open) i--;
    return i;
}
