/*
 * engine/segment/judge.c: see walk.h. to [R-10] [F-8] [F-9]
 *
 * The promise P is known for a segment with a named end; elsewhere it grows with the frames read, and
 * only a gap makes the walk look ahead for later promises, with a window of its own, to the file's end.
 * So a whole file is hashed once, and the part behind the first gap of an unclosed one twice.
 *
 * A writer may be at work. What it writes becomes visible bit by bit and in any order, and each byte stays
 * zero until it is what it will be. So nothing is damaged before it was read again (look_again) when all that
 * makes it so was known: that it was promised, or that nobody writes any more.
 */
#include "engine/segment/judge.h"

#include <assert.h>
#include <string.h>

static bool bounded(const u9i_judge *w)
{
    return w->segment->named;
}

/* What the first frame of the segment must say. [F-9] */
static void expect_first(u9i_judge *w, const u9i_position *before, bool knows_chain)
{
    const u9i_position *end = w->segment->has_open ? &w->segment->open.end : before;
    if (end == NULL) return;
    w->ordinal = end->ordinal;
    w->knows_ordinal = true;
    w->knows_chain = knows_chain || w->segment->has_open;
    memcpy(w->chain, end->chain, sizeof w->chain);
}

u9_err u9i_judge_begin(u9i_judge *w, const u9i_catalog *map, const u9i_facts *segment,
                      const u9i_position *before, bool knows_chain, u9_fault *fault)
{
    char path[4400];
    memset(w, 0, sizeof *w);
    w->segment = segment;
    w->dir = map->dir;
    w->newest = segment == &map->segments[map->count - 1];
    u9i_catalog_path(map, segment, path, sizeof path);
    int sys = u9i_file_open(map->dir, segment->name, U9I_OPEN_READ, &w->file);
    if (sys == 0) {
        sys = u9i_file_size(w->file, &w->size);
        if (sys != 0) u9i_file_close(w->file);
    }
    if (sys != 0)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys), "cannot open the segment");
    u9_err err = u9i_window_init(&w->scan, w->file, &segment->secret);
    if (err != U9_OK) {
        u9i_file_close(w->file);
        return u9i_fault(fault, err, U9I_AT(.path = path), "out of memory");
    }
    w->bound = segment->named ? segment->at.offset : w->size;
    w->promise = segment->named ? segment->at.offset : 0;
    w->promise_final = segment->named;
    if (segment->sealed_before && w->promise == 0)
        w->promise = U9I_DISK_HEADER_SIZE + U9I_FRAME_HEADER_SIZE; /* */
    w->pos = U9I_DISK_HEADER_SIZE;
    if (map->segments[0].number == segment->number && segment->number == 1 && before == NULL) {
        static const u9i_position start; /* a log's first frame has ordinal 0 [L-5] */
        expect_first(w, &start, false);
    } else {
        expect_first(w, before, knows_chain);
    }
    return U9_OK;
}

void u9i_judge_release(u9i_judge *w)
{
    u9i_window_release(&w->scan); /* first: it may be reading ahead in the file */
    if (w->file) u9i_file_close(w->file);
    w->file = NULL;
}

/* it is the read that failed; the walk stands where it stood. */
u9_err u9i_judge_fault(const u9i_judge *w, const u9i_catalog *map, u9_err err, u9_fault *fault)
{
    char path[4400];
    u9i_catalog_path(map, w->segment, path, sizeof path);
    if (err != U9_IO) return u9i_fault(fault, err, U9I_AT(.path = path), "out of memory");
    return u9i_fault(fault, err, U9I_AT_OFFSET(w->scan.sys_at, .path = path, .sys = w->scan.sys,
                                               .segment = w->segment->number, .rule = "R-11"),
                     "cannot read the segment");
}

/* Looks at pos once more, at the file. */
static u9_err look_again(u9i_judge *w)
{
    w->reread = true;
    w->known = w->promise;
    u9i_window_forget(&w->scan);
    return U9_OK;
}

/*
 * True if what looks UNKNOWN is a writer's work in progress. If it is not, *again: it is to be looked at
 * again, for a writer may have finished it and gone in the meantime.
 */
static bool in_progress(u9i_judge *w, bool *again)
{
    bool busy = !w->deserted && u9i_dir_writer_active(w->dir);
    *again = !w->deserted && !busy;
    w->deserted = !busy;
    return busy;
}

static bool follows(const u9i_judge *w, const u9i_frame *f)
{
    return (w->frames == 0 ? f->offset == w->pos : f->trailer.previous == w->previous) && /* [F-9] */
           (!w->knows_ordinal || f->trailer.ordinal == w->ordinal) &&
           (!w->knows_chain || memcmp(f->trailer.chain, w->chain, U9I_HASH_SIZE) == 0);
}

/* Records from the one expected here up to `to`; numbers that run backwards tell nothing. */
static uint64_t count_lost(const u9i_judge *w, uint64_t to)
{
    return w->knows_ordinal && to >= w->ordinal ? to - w->ordinal : U9_NOWHERE;
}

static void tell(u9i_judge *w, u9i_damage_site site)
{
    assert(w->site_count < sizeof w->sites / sizeof w->sites[0]);
    site.ordinal = w->knows_ordinal ? w->ordinal : U9_NOWHERE;
    w->sites[(w->site_first + w->site_count++) % 4] = site;
}

/*
 * Looks at all valid frames from `from` on for promises, and counts their records. A promise is
 * at most its frame's offset, so the last frames decide; all are read.
 */
static u9_err look_ahead(u9i_judge *w, uint64_t from, uint64_t *records)
{
    u9i_window scan;
    u9i_frame f;
    u9_err err = u9i_window_init(&scan, w->file, &w->segment->secret);
    if (err != U9_OK) return err;
    *records = 0;
    for (uint64_t p = from; (err = u9i_window_find(&scan, p, w->bound, &f)) == U9_OK; p = f.end) {
        if (f.trailer.durable > w->promise) w->promise = f.trailer.durable;
        *records += f.trailer.count;
    }
    if (err == U9_IO) {
        w->scan.sys = scan.sys;
        w->scan.sys_at = scan.sys_at;
    }
    u9i_window_release(&scan);
    w->promise_final = true;
    return err == U9_END ? U9_OK : err;
}

/* CORRUPT if [.., end) was promised, else UNKNOWN; nothing is lost either way. */
static u9_err tell_candidate(u9i_judge *w, u9_reason reason, uint64_t begin, uint64_t end)
{
    if (w->promise < end && !w->promise_final) {
        uint64_t records;
        u9_err err = look_ahead(w, end, &records);
        if (err != U9_OK) return err;
    }
    tell(w, (u9i_damage_site){.verdict = end <= w->promise ? U9_V_CORRUPT : U9_V_UNKNOWN, .reason = reason,
                       .begin = begin, .end = end});
    return U9_OK;
}

/* What stands where the next frame is expected. */
typedef struct candidate {
    bool found;         /* a valid frame that follows: `frame` */
    u9i_frame frame;
    uint64_t at;        /* where it is, or should be: pos, or the next block [F-8]; d of */
    uint64_t fill_end;  /* behind the last skipped byte that is not zero; pos if all are */
    u9_reason why;      /* not found: what is wrong there */
} candidate;

/* Looks whether a valid frame that follows stands at `at`. */
static u9_err look_at(u9i_judge *w, uint64_t at, uint64_t bound, candidate *s)
{
    if (bound > w->size) bound = w->size; /* [F-6] d: a named end may lie behind the file's */
    u9_err err = u9i_window_at(&w->scan, at, bound, &s->frame);
    if (err != U9_OK && err != U9_CORRUPT) return err;
    s->found = err == U9_OK && follows(w, &s->frame);
    s->why = err == U9_OK ? U9_R_FOLLOW : w->scan.why;
    return U9_OK;
}

/* The frame at pos, or, where there is none, at the next block. [F-8] */
static u9_err look_at_pos(u9i_judge *w, uint64_t bound, candidate *s)
{
    *s = (candidate){.at = w->pos, .fill_end = w->pos};
    u9_err err = look_at(w, w->pos, bound, s);
    if (err != U9_OK || s->found || w->pos % U9I_BLOCK == 0) return err;
    uint64_t block = (w->pos / U9I_BLOCK + 1) * U9I_BLOCK;
    u9i_zeros z;
    err = u9i_window_zeros(&w->scan, w->pos, block < bound ? block : bound, &z);
    if (err != U9_OK) return err;
    candidate here = *s, there = {.at = block, .fill_end = z.last};
    err = look_at(w, block, bound, &there);
    if (err != U9_OK) return err;
    /* Bytes that are not zero at pos are the damaged frame itself, unless the row goes on behind. */
    if (there.found || z.last == w->pos) *s = there;
    else *s = here;
    return U9_OK;
}

static u9_err tell_padding(u9i_judge *w, const u9i_frame *f)
{
    uint64_t begin = f->end - u9i_padding(f->body_size + U9I_TRAILER_SIZE);
    u9_err err = tell_candidate(w, U9_R_PADDING, begin, f->end);
    if (err == U9_OK) w->sites[(w->site_first + w->site_count - 1) % 4].ordinal = f->trailer.ordinal;
    return err;
}

static u9_err hold(u9i_judge *w, const u9i_frame *f)
{
    w->frame = *f;
    w->held = true;
    return f->padding_ok ? U9_OK : tell_padding(w, f);
}

/* True if the frame closes or seals the file. [S-4] [S-6] */
static bool closes(const u9i_frame *f)
{
    uint8_t scratch[U9I_BLOCK];
    u9i_body body;
    u9i_end_record end;
    size_t need;
    return f->trailer.count == 0 && f->body_size > 0 &&
           u9i_body_open(f, scratch, sizeof scratch, &need, &body) == U9_OK &&
           body.kind == U9I_BODY_END &&
           u9i_end_record_decode(body.bytes, body.size, &end) == U9_OK;
}

/* Moves behind the frame that is handed out. */
static void advance(u9i_judge *w)
{
    const u9i_frame *f = &w->frame;
    w->frames++;
    w->pos = f->end;
    w->reread = w->deserted = false;
    w->previous = w->last = f->offset;
    w->ordinal = f->trailer.ordinal + f->trailer.count;
    w->knows_ordinal = w->knows_chain = true;
    memcpy(w->chain, f->sha, sizeof w->chain);
    w->time_us = f->trailer.time_us;
    w->last_closes = closes(f);
    if (f->trailer.durable > w->promise) w->promise = f->trailer.durable;
}

static void end_at(u9i_judge *w, uint64_t offset, uint64_t ordinal, u9_verdict tail)
{
    w->ended = true;
    w->end = (u9i_position){.offset = offset, .ordinal = ordinal};
    memcpy(w->end.chain, w->chain, sizeof w->end.chain);
    w->tail = tail;
}

/* The named end is reached, or cannot be. */
static void end_bounded(u9i_judge *w, u9_reason why)
{
    const u9i_position *at = &w->segment->at;
    bool fits = w->pos == at->offset && (!w->knows_ordinal || w->ordinal == at->ordinal) &&
                (!w->knows_chain || memcmp(w->chain, at->chain, U9I_HASH_SIZE) == 0);
    if (!fits)
        tell(w, (u9i_damage_site){.verdict = U9_V_CORRUPT, .reason = why, .begin = w->pos,
                           .end = at->offset, .lost = count_lost(w, at->ordinal)});
    end_at(w, at->offset, at->ordinal, U9_V_CLEAN);
    memcpy(w->end.chain, at->chain, sizeof w->end.chain);
}

/* How the damaged frame at d looks: torn by a crash, or not. Fills its extent's end. */
static u9_err judge(u9i_judge *w, uint64_t d, u9_verdict *verdict, uint64_t *end)
{
    const uint8_t *bytes;
    size_t avail;
    uint64_t length, extent, next;
    u9i_zeros z;
    u9_err err = u9i_window_bytes(&w->scan, d, U9I_FRAME_HEADER_SIZE, &bytes, &avail);
    if (err != U9_OK) return err;
    if (u9i_frame_header_whole(&w->segment->secret, bytes, avail, &length)) {
        extent = d + U9I_FRAME_HEADER_SIZE + length;
        next = (extent + U9I_SECTOR - 1) / U9I_SECTOR * U9I_SECTOR; /* its last sector is seen whole */
        err = u9i_window_zeros(&w->scan, d, next < w->size ? next : w->size, &z);
    } else {
        err = u9i_window_boundary(&w->scan, d + U9I_ALIGN, w->size, &next);
        if (err == U9_OK) err = u9i_window_zeros(&w->scan, d, next, &z);
        extent = z.last > d + U9I_FRAME_HEADER_SIZE ? z.last : d + U9I_FRAME_HEADER_SIZE;
    }
    if (err != U9_OK) return err;
    bool torn = extent > w->size || z.sector < extent; /* no sector: U9_NOWHERE */
    *verdict = torn ? U9_V_TORN : U9_V_UNKNOWN;
    *end = extent < w->size ? extent : w->size;
    return U9_OK;
}

/* True if the block of the last frame read is the file's last. [S-4] */
static bool in_last_block(const u9i_judge *w)
{
    return w->last % U9I_BLOCK == 0 && w->last + U9I_BLOCK == w->size;
}

/* The end of a segment that nobody names: closed, torn or unknown. `lost` counts up to what follows. */
static u9_err end_open(u9i_judge *w, const candidate *s, uint64_t lost)
{
    u9i_zeros z;
    bool last_block = w->last_closes && in_last_block(w);
    uint64_t d = last_block ? w->pos : s->at;
    u9_err err = u9i_window_zeros(&w->scan, d, w->size, &z);
    if (err != U9_OK) return err;
    u9i_damage_site site = {.verdict = U9_V_CLEAN, .reason = s->why, .begin = d, .end = z.last};
    bool unclosed = !last_block && z.last == d, again = false;
    if (last_block) { /* closed [S-4] */
        w->closed = true;
        if (z.last > d) site.verdict = U9_V_UNKNOWN, site.reason = U9_R_FILL; /* */
    } else if (!unclosed) {
        err = judge(w, d, &site.verdict, &site.end);
        if (err != U9_OK) return err;
        site.lost = site.verdict == U9_V_TORN ? 0 : lost;
        site.at_most = true;
        if (site.verdict == U9_V_UNKNOWN && w->newest) unclosed = in_progress(w, &again);
        if (again) return look_again(w);
    }
    if (unclosed)
        site = (u9i_damage_site){.verdict = U9_V_TORN, .reason = U9_R_UNCLOSED, .begin = w->pos,
                          .end = w->pos};
    if (site.verdict != U9_V_CLEAN) tell(w, site);
    end_at(w, w->pos, w->ordinal, site.verdict);
    return U9_OK;
}

/* No frame that was promised to follow is behind pos; `y` is one that was not, or NULL. */
static u9_err end_here(u9i_judge *w, const candidate *s, const u9i_frame *y)
{
    if (bounded(w)) {
        end_bounded(w, w->size < w->bound ? U9_R_CUT : s->why);
        return U9_OK;
    }
    uint64_t next = y ? y->trailer.ordinal : w->ordinal;
    uint64_t lost = y ? count_lost(w, next) : U9_NOWHERE;
    if (y) {
        u9_err err = look_ahead(w, y->offset, &w->beyond);
        if (err != U9_OK) return err;
    }
    if (w->pos >= w->promise) return end_open(w, s, lost);
    if (w->known < w->promise) return look_again(w);
    tell(w, (u9i_damage_site){.verdict = U9_V_CORRUPT, .reason = s->why, .begin = w->pos,
                       .end = w->promise, .lost = lost, .at_most = true});
    end_at(w, w->promise, next, U9_V_CORRUPT);
    w->knows_ordinal = y != NULL;
    w->knows_chain = false; /* the last frame before that end is not known */
    return U9_OK;
}

/* True if this promise makes the gap in front of y damage. */
static bool condemns(uint64_t promise, const u9i_frame *y)
{
    return y->trailer.previous < promise || promise >= y->offset;
}

/* No frame that follows stands at pos. */
static u9_err gap(u9i_judge *w, const candidate *s)
{
    u9i_frame y;
    u9_err err = u9i_window_find(&w->scan, w->pos, w->bound, &y);
    if (err == U9_END) return end_here(w, s, NULL);
    if (err != U9_OK) return err;
    if (y.trailer.durable > w->promise) w->promise = y.trailer.durable;
    if (!condemns(w->promise, &y) && !w->promise_final) {
        uint64_t records;
        err = look_ahead(w, y.offset, &records);
        if (err != U9_OK) return err;
    }
    if (!condemns(w->promise, &y)) return end_here(w, s, &y);
    if (!condemns(w->known, &y)) return look_again(w); /* ends: `known` grows, and stays below the size */
    tell(w, (u9i_damage_site){.verdict = U9_V_CORRUPT, .reason = s->why, .begin = w->pos, .end = y.offset,
                       .lost = count_lost(w, y.trailer.ordinal)});
    return hold(w, &y);
}

static u9_err look(u9i_judge *w)
{
    if (bounded(w) && w->pos >= w->bound) {
        end_bounded(w, U9_R_FOLLOW);
        return U9_OK;
    }
    candidate s;
    u9_err err = look_at_pos(w, w->bound, &s);
    if (err != U9_OK) return err;
    if (s.found) {
        if (s.fill_end > w->pos) err = tell_candidate(w, U9_R_FILL, w->pos, s.fill_end);
        return err == U9_OK ? hold(w, &s.frame) : err;
    }
    return w->reread ? gap(w, &s) : look_again(w);
}

/* One frame further behind the named end, or what stands there instead. */
static u9_err look_behind(u9i_judge *w)
{
    candidate s;
    u9_err err = look_at_pos(w, w->size, &s);
    if (err != U9_OK) return err;
    if (s.found && s.frame.trailer.count == 0) {
        if (s.fill_end > w->pos)
            tell(w, (u9i_damage_site){.verdict = U9_V_UNKNOWN, .reason = U9_R_SEAL, .begin = w->pos,
                               .end = s.fill_end});
        w->frame = s.frame;
        if (!s.frame.padding_ok) err = tell_padding(w, &s.frame); /* */
        advance(w);
        return err;
    }
    u9i_zeros z;
    bool sealed = in_last_block(w) && w->segment->has_end, again = false;
    uint64_t d = sealed ? w->pos : s.at;
    err = u9i_window_zeros(&w->scan, d, w->size, &z);
    if (err != U9_OK) return err;
    w->behind = z.last > d;
    if (!w->behind) return U9_OK;
    if (!w->reread) return look_again(w);
    u9i_damage_site site = {.verdict = U9_V_UNKNOWN, .reason = U9_R_SEAL, .begin = d, .end = z.last};
    if (!sealed) err = judge(w, d, &site.verdict, &site.end);
    if (err != U9_OK) return err;
    if (!sealed && site.verdict == U9_V_UNKNOWN && in_progress(w, &again)) site.verdict = U9_V_TORN;
    if (again) return look_again(w);
    tell(w, site);
    w->behind = false;
    return U9_OK;
}

u9_err u9i_judge_step(u9i_judge *w, u9i_step *step)
{
    for (;;) {
        if (w->site_count > 0) {
            w->site = w->sites[w->site_first];
            w->site_first = (w->site_first + 1) % 4;
            w->site_count--;
            *step = U9I_STEP_DAMAGE;
            return U9_OK;
        }
        if (w->held) {
            w->held = false;
            advance(w);
            *step = U9I_STEP_FRAME;
            return U9_OK;
        }
        if (w->ended && !w->behind) {
            *step = U9I_STEP_END;
            return U9_OK;
        }
        u9_err err = w->behind ? look_behind(w) : look(w);
        if (err != U9_OK) return err;
    }
}

u9_err u9i_judge_skip(u9i_judge *w, uint64_t from)
{
    u9i_frame f;
    u9_err err = u9i_window_find(&w->scan, from, w->bound, &f);
    if (err != U9_OK && err != U9_END) return err;
    if (err == U9_OK && f.offset == U9I_DISK_HEADER_SIZE) return U9_OK;
    w->pos = err == U9_OK ? f.offset : w->bound;
    w->knows_ordinal = w->knows_chain = false;
    return U9_OK;
}

void u9i_judge_seal(u9i_judge *w)
{
    assert(w->ended && bounded(w));
    w->behind = w->pos == w->bound; /* else the end itself is gone: nothing to chain to */
    w->reread = w->deserted = false;
}
