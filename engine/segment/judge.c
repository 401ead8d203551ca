/*
 * engine/segment/judge.c: see judge.h. to [R-11] [R-14] [F-8] [F-9]
 *
 * The promise P is known for a segment with a named end; elsewhere it grows with the frames read, and
 * only a gap makes the judge look ahead for later promises, with a window of its own, to the file's end.
 * So a whole file is hashed once, and the part behind the first gap of an unclosed one twice.
 *
 * A writer may be at work. What it writes becomes visible bit by bit and in any order, and each byte stays
 * zero until it is what it will be. So nothing is damaged before it was read again (look_again) when all that
 * makes it so was known: that it was promised, or that nobody writes any more.
 *
 * What cannot be read is damage, and never the end: reading goes on behind it, promised or not.
 */
#include "engine/segment/judge.h"

#include "engine/segment/mended_file.h"

#include <assert.h>
#include <string.h>

void u9i_judge_check(const u9i_judge *j)
{
    assert(j->pos >= U9I_DISK_HEADER_SIZE && j->bound <= (u9i_judge_bounded(j) ? j->bound : j->size));
    assert(!u9i_judge_bounded(j) || (j->bound == j->facts->at.offset && j->promise_final));
    assert(!j->reread || j->known <= j->promise);
    assert((j->frames == 0) == (j->last == 0) && j->last < j->pos);
    assert(j->frames == 0 || (j->knows_ordinal && j->knows_chain) || j->ended);
    assert(!j->behind || (j->ended && u9i_judge_bounded(j)));
}

/* What the first frame of the segment must say. [F-9] */
static void expect_first(u9i_judge *j, const u9i_position *before, bool knows_chain)
{
    static const u9i_position start; /* a log's first frame has ordinal 0 [L-5] */
    const u9i_facts *f = j->facts;
    if ((f->first || f->plain) && before == NULL) {
        before = &start;
        knows_chain = false;
    }
    const u9i_position *end = f->has_open ? &f->open.end : before;
    if (end == NULL) return;
    j->ordinal = end->ordinal;
    j->knows_ordinal = true;
    j->knows_chain = knows_chain || f->has_open;
    memcpy(j->chain, end->chain, sizeof j->chain);
}

void u9i_judge_init(u9i_judge *j, const u9i_facts *facts, u9i_dir *dir, u9i_windows *windows,
                    uint64_t size, const u9i_position *before, bool knows_chain)
{
    *j = (u9i_judge){.facts = facts, .dir = dir, .windows = windows, .size = size, .bound = size,
                     .pos = U9I_DISK_HEADER_SIZE, .unread = U9_NOWHERE};
    if (facts->named) {
        j->bound = j->promise = facts->at.offset;
        j->promise_final = true;
    } else if (facts->has_end) {
        j->promise = facts->end_frame.trailer.durable;
    }
    if (facts->marked && !facts->named && facts->mark.offset > j->promise)
        j->promise = facts->mark.offset; /* [M-4] */
    if (facts->sealed_before && j->promise == 0)
        j->promise = U9I_DISK_HEADER_SIZE + U9I_FRAME_HEADER_SIZE; /* */
    expect_first(j, before, knows_chain);
    u9i_judge_check(j);
}

void u9i_judge_hold_back(u9i_judge *j, int sys)
{
    j->held_back = sys;
}

/* Looks at pos once more, at the file. */
static void look_again(u9i_judge *j, u9i_window *window)
{
    j->reread = true;
    j->known = j->promise;
    u9i_window_forget(window);
}

/*
 * True if what looks UNKNOWN is a writer's work in progress. If it is not, *again: it is to be looked at
 * again, for a writer may have finished it and gone in the meantime.
 */
static bool in_progress(u9i_judge *j, bool *again)
{
    bool active = !j->deserted && u9i_dir_writer_active(j->dir, j->facts->name);
    *again = !j->deserted && !active;
    j->deserted = !active;
    return active;
}

/* True if some of [from, to), which was just looked at, cannot be read. */
static bool unread_in(u9i_judge *j, const u9i_window *window, uint64_t from, uint64_t to)
{
    if (!u9i_window_unread(window, from, to)) return false;
    if (window->unread.begin < j->unread) j->unread = window->unread.begin;
    j->unread_sys = window->unread_sys;
    return true;
}

static bool follows(const u9i_judge *j, const u9i_frame *f)
{
    return (j->frames == 0 ? f->offset == j->pos : f->trailer.previous == j->previous) && /* [F-9] */
           (!j->knows_ordinal || f->trailer.ordinal == j->ordinal) &&
           (!j->knows_chain || memcmp(f->trailer.chain, j->chain, U9I_HASH_SIZE) == 0);
}

/* Records from the one expected here up to `to`; numbers that run backwards tell nothing. */
static uint64_t count_lost(const u9i_judge *j, uint64_t to)
{
    return j->knows_ordinal && to >= j->ordinal ? to - j->ordinal : U9_NOWHERE;
}

static void tell_site(const u9i_judge *j, u9i_round *round, u9i_damage_site site)
{
    assert(round->count < U9I_SITES_MAX);
    site.ordinal = j->knows_ordinal ? j->ordinal : U9_NOWHERE;
    site.owner = j->last ? j->last : U9I_DISK_HEADER_SIZE;
    if (site.reason == U9_R_UNREADABLE) site.sys = j->unread_sys;
    round->sites[round->count++] = site;
}

/*
 * Looks at all valid frames from `from` on for promises, and counts their records. A promise is
 * at most its frame's offset, so the last frames decide; all are read.
 */
static u9_err look_ahead(u9i_judge *j, u9i_window *window, uint64_t from, uint64_t *records)
{
    u9i_window *ahead;
    u9i_frame f;
    u9_err err = u9i_windows_lend(j->windows, &ahead);
    if (err != U9_OK) return err;
    u9i_window_turn(ahead, window->file, &window->secret);
    *records = 0;
    for (uint64_t p = from; (err = u9i_window_find(ahead, p, j->bound, &f)) == U9_OK; p = f.end) {
        if (f.trailer.durable > j->promise) j->promise = f.trailer.durable;
        *records += f.trailer.count;
    }
    if (err == U9_IO) {
        window->sys = ahead->sys;
        window->sys_at = ahead->sys_at;
    }
    u9i_window_share_unread(window, ahead);
    j->promise_final = err == U9_END && ahead->unread.end == 0;
    u9i_windows_return(j->windows, ahead);
    return err == U9_END ? U9_OK : err;
}

/* Holds back what no frame of the file promises: from now on it ends there. */
static u9_err end_at_promise(u9i_judge *j, u9i_window *window)
{
    uint64_t records;
    u9_err err = look_ahead(j, window, U9I_DISK_HEADER_SIZE, &records);
    if (err != U9_OK) return err;
    j->promise_final = true;
    j->bound = j->promise > j->pos ? j->promise : j->pos;
    return U9_OK;
}

/* CORRUPT if [.., end) was promised, else UNKNOWN; nothing is lost either way. */
static u9_err tell_zeros_wanted(u9i_judge *j, u9i_window *window, u9i_round *round, u9_reason reason,
                                uint64_t begin, uint64_t end)
{
    if (j->promise < end && !j->promise_final) {
        uint64_t records;
        u9_err err = look_ahead(j, window, end, &records);
        if (err != U9_OK) return err;
    }
    tell_site(j, round, (u9i_damage_site){.verdict = end <= j->promise ? U9_V_CORRUPT : U9_V_UNKNOWN,
                                          .reason = reason, .begin = begin, .end = end});
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
static u9_err look_for_frame(u9i_judge *j, u9i_window *window, uint64_t at, uint64_t bound,
                             candidate *c)
{
    if (bound > j->size) bound = j->size; /* [F-6] d: a named end may lie behind the file's */
    u9_err err = u9i_window_at(window, at, bound, &c->frame);
    if (err != U9_OK && err != U9_CORRUPT) return err;
    c->found = err == U9_OK && follows(j, &c->frame);
    c->why = err == U9_OK ? U9_R_FOLLOW : window->why;
    return U9_OK;
}

/* The frame at pos, or, where there is none, at the next block. [F-8] */
static u9_err look_at_pos(u9i_judge *j, u9i_window *window, uint64_t bound, candidate *c)
{
    *c = (candidate){.at = j->pos, .fill_end = j->pos};
    u9_err err = look_for_frame(j, window, j->pos, bound, c);
    if (err != U9_OK || c->found || j->pos % U9I_BLOCK == 0) return err;
    uint64_t block = (j->pos / U9I_BLOCK + 1) * U9I_BLOCK;
    u9i_zeros z;
    err = u9i_window_zeros(window, j->pos, block < bound ? block : bound, &z);
    if (err != U9_OK) return err;
    candidate here = *c, there = {.at = block, .fill_end = z.last};
    err = look_for_frame(j, window, block, bound, &there);
    if (err != U9_OK) return err;
    /* Bytes that are not zero at pos are the damaged frame itself, unless the row goes on behind. */
    *c = there.found || z.last == j->pos ? there : here;
    return U9_OK;
}

static u9_err tell_padding(u9i_judge *j, u9i_window *window, u9i_round *round, const u9i_frame *f)
{
    uint64_t begin = f->end - u9i_padding(f->body_size + U9I_TRAILER_SIZE);
    u9_err err = tell_zeros_wanted(j, window, round, U9_R_PADDING, begin, f->end);
    if (err != U9_OK) return err;
    round->sites[round->count - 1].ordinal = f->trailer.ordinal;
    round->sites[round->count - 1].owner = f->offset;
    return U9_OK;
}

/* Whether the frame closes or seals the file. [S-4] [S-6] */
static void note_close(u9i_judge *j, const u9i_frame *f)
{
    uint8_t scratch[U9I_BLOCK];
    u9i_body body;
    u9i_end_record end;
    size_t need;
    j->last_closes = f->trailer.count == 0 && f->body_size > 0 &&
                     u9i_body_open(f, scratch, sizeof scratch, &need, &body) == U9_OK &&
                     body.kind == U9I_BODY_END &&
                     u9i_end_record_decode(body.bytes, body.size, &end) == U9_OK;
    j->last_seals = j->last_closes && end.kind == U9I_END_SEALING && f->offset % U9I_BLOCK == 0 &&
                    f->end - f->offset <= U9I_BLOCK;
}

/* Moves behind a frame. */
static void advance(u9i_judge *j, const u9i_frame *f)
{
    j->frames++;
    j->pos = f->end;
    j->reread = j->deserted = false;
    j->previous = j->last = f->offset;
    j->ordinal = f->trailer.ordinal + f->trailer.count;
    j->knows_ordinal = j->knows_chain = true;
    memcpy(j->chain, f->sha, sizeof j->chain);
    j->time_us = f->trailer.time_us;
    note_close(j, f);
    j->mark_passed |= j->facts->marked && f->end >= j->facts->mark.offset;
    if (f->trailer.durable > j->promise) j->promise = f->trailer.durable;
}

/*
 * The first frame to end at or behind the mark must be the one that the mark names; else the log went on otherwise
 * than was marked. A mark that a gap in front of the frame has swallowed says nothing more. [M-4]
 */
static void meet_mark(u9i_judge *j, u9i_round *round, const u9i_frame *f, bool gap)
{
    const u9i_position *mark = &j->facts->mark;
    if (!j->facts->marked || j->mark_passed || f->end < mark->offset) return;
    bool begins = j->frames == 0 && f->offset > U9I_DISK_HEADER_SIZE; /* nothing is known in front of it */
    if ((gap || begins) && f->offset >= mark->offset) return;
    if (f->end == mark->offset && f->trailer.ordinal + f->trailer.count == mark->ordinal &&
        memcmp(f->sha, mark->chain, U9I_HASH_SIZE) == 0)
        return;
    j->mark_denied = true;
    tell_site(j, round, (u9i_damage_site){.verdict = U9_V_CORRUPT, .reason = U9_R_FORK,
                                          .begin = mark->offset, .end = mark->offset,
                                          .lost = U9_NOWHERE});
    round->sites[round->count - 1].ordinal = mark->ordinal;
    if (f->offset < mark->offset) round->sites[round->count - 1].owner = f->offset; /* else it is as a gap behind the last one */
}

/* A frame that was put together again. [Y-6] */
static u9_err tell_mended(u9i_judge *j, u9i_window *window, u9i_round *round, const u9i_frame *f, u9_reason why)
{
    u9_err err = tell_zeros_wanted(j, window, round, why, f->offset, f->end);
    if (err != U9_OK) return err;
    round->sites[round->count - 1].ordinal = f->trailer.ordinal;
    round->sites[round->count - 1].owner = f->offset;
    round->sites[round->count - 1].mended = true;
    return U9_OK;
}

/* Of a frame that is there: whether it was as it should be. */
static u9_err tell_harm(u9i_judge *j, u9i_window *window, u9i_round *round, const u9i_frame *f)
{
    const u9i_rejoined *mended = u9i_mended_at(window->file, f->offset);
    if (mended) return tell_mended(j, window, round, f, mended->why);
    return f->padding_ok ? U9_OK : tell_padding(j, window, round, f);
}

/* The round ends with this frame, with or without a gap in front of it. */
static u9_err take_frame(u9i_judge *j, u9i_window *window, u9i_round *round, const u9i_frame *f, bool gap)
{
    u9_err err = tell_harm(j, window, round, f);
    if (err != U9_OK) return err;
    meet_mark(j, round, f, gap);
    round->then = U9I_STEP_FRAME;
    round->frame = *f;
    advance(j, f);
    return U9_OK;
}

static void end_at(u9i_judge *j, u9i_round *round, uint64_t offset, uint64_t ordinal, u9_verdict tail)
{
    round->then = U9I_STEP_END;
    j->ended = true;
    j->end = (u9i_position){.offset = offset, .ordinal = ordinal};
    memcpy(j->end.chain, j->chain, sizeof j->end.chain);
    j->tail = tail;
}

/* How the damaged frame at d looks: torn by a crash, or not. Fills its extent's end. */
static u9_err judge_tail(u9i_judge *j, u9i_window *window, uint64_t d, u9_verdict *verdict,
                         uint64_t *end)
{
    const uint8_t *bytes;
    size_t avail;
    uint64_t length, extent, next;
    u9i_zeros z;
    u9_err err = u9i_window_bytes(window, d, U9I_FRAME_HEADER_SIZE, &bytes, &avail);
    if (err != U9_OK) return err;
    if (u9i_frame_header_whole(&j->facts->secret, bytes, avail, &length)) {
        extent = d + U9I_FRAME_HEADER_SIZE + length;
        next = (extent + U9I_SECTOR - 1) / U9I_SECTOR * U9I_SECTOR; /* its last sector is seen whole */
        err = u9i_window_zeros(window, d, next < j->size ? next : j->size, &z);
    } else {
        err = u9i_window_boundary(window, d + U9I_ALIGN, j->size, &next);
        if (err == U9_OK) err = u9i_window_zeros(window, d, next, &z);
        extent = z.last > d + U9I_FRAME_HEADER_SIZE ? z.last : d + U9I_FRAME_HEADER_SIZE;
    }
    if (err != U9_OK) return err;
    bool torn = extent > j->size || z.sector < extent; /* no sector: U9_NOWHERE */
    *verdict = torn ? U9_V_TORN : U9_V_UNKNOWN;
    *end = extent < j->size ? extent : j->size;
    return U9_OK;
}

/*
 * The session that goes on behind a named end could not tell what stood there, and nobody can now: it is void, and told.
 * Its numbers were given again.
 */
static u9_err tell_unknown(u9i_judge *j, u9i_window *window, u9i_round *round)
{
    uint64_t d = j->pos, block = (d + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    u9i_damage_site site = {.verdict = U9_V_UNKNOWN, .begin = d, .end = d, .lost = U9_NOWHERE, .at_most = true};
    u9_verdict tail;
    u9i_frame f;
    u9i_zeros z;
    u9_err err = u9i_window_zeros(window, d, block, &z);
    if (err == U9_OK && z.last == d) d = block;
    if (err == U9_OK) err = u9i_window_at(window, d, j->size, &f);
    site.reason = err == U9_OK ? U9_R_FOLLOW : window->why;
    if (err == U9_OK || err == U9_CORRUPT) err = u9i_window_zeros(window, d, j->size, &z);
    bool unread = err == U9_OK && unread_in(j, window, d, j->size);
    if (unread) {
        site.reason = U9_R_UNREADABLE;
        site.begin = d;
        site.end = z.last > window->unread.end ? z.last : window->unread.end;
    } else if (err == U9_OK && z.last > d) {
        site.begin = d;
        err = judge_tail(j, window, d, &tail, &site.end);
        if (err == U9_OK) err = u9i_window_find(window, j->pos, j->size, &f);
        if (err == U9_OK) site.lost = count_lost(j, f.trailer.ordinal);
    }
    if (err != U9_OK && err != U9_END) return err;
    tell_site(j, round, site);
    round->sites[round->count - 1].ordinal = U9_NOWHERE;
    return U9_OK;
}

/* The named end is reached, or cannot be. Frames that lead to it, or past it, otherwise than named are of another line. */
static u9_err end_bounded(u9i_judge *j, u9i_window *window, u9i_round *round, u9_reason why)
{
    const u9i_position *at = &j->facts->at;
    bool otherwise = j->pos == at->offset;
    bool fits = j->pos == at->offset && (!j->knows_ordinal || j->ordinal == at->ordinal) &&
                (!j->knows_chain || memcmp(j->chain, at->chain, U9I_HASH_SIZE) == 0);
    u9_err err = fits && j->facts->tail == U9I_TAIL_UNKNOWN ? tell_unknown(j, window, round) : U9_OK;
    if (err != U9_OK) return err;
    if (!fits)
        tell_site(j, round, (u9i_damage_site){.verdict = U9_V_CORRUPT, .reason = why, .begin = j->pos,
                                              .end = at->offset,
                                              .lost = otherwise ? U9_NOWHERE : count_lost(j, at->ordinal)});
    end_at(j, round, at->offset, at->ordinal, U9_V_CLEAN);
    memcpy(j->end.chain, at->chain, sizeof j->end.chain);
    return U9_OK;
}

/* True if the last frame read is a u9end behind which nothing is to be: in the file's last block [S-4], or a seal. [S-6] */
static bool none_behind(const u9i_judge *j)
{
    return j->last_seals || (j->last_closes && j->last % U9I_BLOCK == 0 && j->last + U9I_BLOCK == j->size);
}

/*
 * True if what stands from d on, of which the last byte that is not zero is in front of `last`, decides nothing: it
 * cannot be read, or not be made sure.
 */
static bool cannot_read(u9i_judge *j, const u9i_window *window, uint64_t d, uint64_t last)
{
    bool unread = unread_in(j, window, d, j->size);
    if (!j->held_back || last == d) return unread;
    if (d < j->unread) j->unread = d;
    j->unread_sys = j->held_back;
    return true;
}

/* The end of a segment that nobody names: closed, torn or unknown. `lost` counts up to what follows. */
static u9_err end_open(u9i_judge *j, u9i_window *window, u9i_round *round, const candidate *c,
                       uint64_t lost)
{
    u9i_zeros z;
    bool closed = none_behind(j);
    uint64_t d = closed ? j->pos : c->at;
    u9_err err = u9i_window_zeros(window, d, j->size, &z);
    if (err != U9_OK) return err;
    u9i_damage_site site = {.verdict = U9_V_CLEAN, .reason = c->why, .begin = d, .end = z.last};
    bool unread = !closed && cannot_read(j, window, d, z.last), again = false;
    bool unclosed = !closed && !unread && z.last == d;
    if (closed) {
        j->closed = true;
        if (z.last > d) site.verdict = U9_V_UNKNOWN, site.reason = U9_R_FILL; /* */
    } else if (unread) {
        site = (u9i_damage_site){.verdict = U9_V_UNKNOWN, .reason = U9_R_UNREADABLE, .begin = d,
                                 .end = z.last, .lost = U9_NOWHERE};
        if (site.end < window->unread.end) site.end = window->unread.end;
    } else if (!unclosed) {
        err = judge_tail(j, window, d, &site.verdict, &site.end);
        if (err != U9_OK) return err;
        site.lost = site.verdict == U9_V_TORN ? 0 : lost;
        site.at_most = true;
        if (site.verdict == U9_V_UNKNOWN && j->facts->newest) unclosed = in_progress(j, &again);
        if (again) {
            look_again(j, window);
            return U9_OK;
        }
    }
    if (unclosed)
        site = (u9i_damage_site){.verdict = U9_V_TORN, .reason = U9_R_UNCLOSED, .begin = j->pos,
                                 .end = j->pos};
    if (site.verdict != U9_V_CLEAN) tell_site(j, round, site);
    end_at(j, round, j->pos, j->ordinal, site.verdict);
    return U9_OK;
}

/* Data end before the mark, which says where the log stood there. [M-4] */
static void end_at_mark(u9i_judge *j, u9i_round *round, u9_reason reason)
{
    const u9i_position *mark = &j->facts->mark;
    tell_site(j, round, (u9i_damage_site){.verdict = U9_V_CORRUPT, .reason = reason, .begin = j->pos,
                                          .end = mark->offset,
                                          .lost = count_lost(j, mark->ordinal)});
    end_at(j, round, mark->offset, mark->ordinal, U9_V_CORRUPT);
    memcpy(j->end.chain, mark->chain, sizeof j->end.chain);
    j->knows_ordinal = j->knows_chain = true;
}

/* Why the named end is not reached, by what stands at pos: a frame that follows, and passes that end, parts from it. */
static u9_err why_not_reached(u9i_judge *j, u9i_window *window, const candidate *c, u9_reason *why)
{
    candidate past;
    *why = j->size < j->bound ? U9_R_CUT : unread_in(j, window, j->pos, j->bound) ? U9_R_UNREADABLE : c->why;
    if (*why != c->why) return U9_OK;
    u9_err err = look_at_pos(j, window, j->size, &past);
    if (err == U9_OK && past.found && past.frame.end > j->bound) *why = U9_R_FORK;
    return err;
}

/* No frame that was promised to follow is behind pos; `y` is the first one that was not, of `beyond` records, or NULL. */
static u9_err end_here(u9i_judge *j, u9i_window *window, u9i_round *round, const candidate *c,
                       const u9i_frame *y, uint64_t beyond)
{
    if (u9i_judge_bounded(j)) {
        u9_reason why;
        u9_err err = why_not_reached(j, window, c, &why);
        return err == U9_OK ? end_bounded(j, window, round, why) : err;
    }
    uint64_t next = y ? y->trailer.ordinal : j->ordinal;
    uint64_t lost = y ? count_lost(j, next) : U9_NOWHERE;
    j->beyond = beyond;
    if (j->pos >= j->promise) return end_open(j, window, round, c, lost);
    if (j->known < j->promise) {
        look_again(j, window);
        return U9_OK;
    }
    (void)unread_in(j, window, j->promise, j->size); /* a later promise may stand there */
    bool unread = unread_in(j, window, j->pos, j->promise);
    if (j->facts->marked && j->promise == j->facts->mark.offset) {
        end_at_mark(j, round, unread ? U9_R_UNREADABLE : U9_R_MARK);
        return U9_OK;
    }
    u9_reason reason = unread ? U9_R_UNREADABLE : c->why;
    tell_site(j, round, (u9i_damage_site){.verdict = U9_V_CORRUPT, .reason = reason, .begin = j->pos,
                                          .end = j->promise, .lost = lost, .at_most = true});
    end_at(j, round, j->promise, next, U9_V_CORRUPT);
    j->knows_ordinal = y != NULL;
    j->knows_chain = false; /* the last frame before that end is not known */
    return U9_OK;
}

/* True if this promise makes the gap in front of y damage. */
static bool condemns(uint64_t promise, const u9i_frame *y)
{
    return y->trailer.previous < promise || promise >= y->offset;
}

/* No frame that follows stands at pos. */
static u9_err judge_gap(u9i_judge *j, u9i_window *window, u9i_round *round, const candidate *c)
{
    u9i_frame y;
    uint64_t beyond = 0;
    u9_err err = u9i_window_find(window, j->pos, j->bound, &y);
    if (err == U9_END) return end_here(j, window, round, c, NULL, 0);
    if (err != U9_OK) return err;
    if (y.trailer.durable > j->promise) j->promise = y.trailer.durable;
    if (!condemns(j->promise, &y)) err = look_ahead(j, window, y.offset, &beyond);
    if (err != U9_OK) return err;
    bool unread = unread_in(j, window, j->pos, y.offset), corrupt = condemns(j->promise, &y);
    if (!corrupt && !unread) return end_here(j, window, round, c, &y, beyond);
    if (corrupt && !condemns(j->known, &y)) { /* ends: `known` grows, and stays below the size */
        look_again(j, window);
        return U9_OK;
    }
    tell_site(j, round, (u9i_damage_site){.verdict = corrupt ? U9_V_CORRUPT : U9_V_UNKNOWN,
                                          .reason = unread ? U9_R_UNREADABLE : c->why,
                                          .begin = j->pos, .end = y.offset,
                                          .lost = count_lost(j, y.trailer.ordinal)});
    return take_frame(j, window, round, &y, true);
}

/* One look at what stands at pos; round->then stays 0 if it is to be looked at again. */
static u9_err look(u9i_judge *j, u9i_window *window, u9i_round *round)
{
    if (u9i_judge_bounded(j) && j->pos >= j->bound) return end_bounded(j, window, round, U9_R_FORK);
    candidate c;
    u9_err err = look_at_pos(j, window, j->bound, &c);
    if (err != U9_OK) return err;
    if (c.found) {
        if (c.fill_end > j->pos)
            err = tell_zeros_wanted(j, window, round, U9_R_FILL, j->pos, c.fill_end);
        return err == U9_OK ? take_frame(j, window, round, &c.frame, false) : err;
    }
    if (j->reread) return judge_gap(j, window, round, &c);
    look_again(j, window);
    return U9_OK;
}

/* One frame further behind the named end, or what stands there instead. */
static u9_err look_behind(u9i_judge *j, u9i_window *window, u9i_round *round)
{
    candidate c;
    u9_err err = look_at_pos(j, window, j->size, &c);
    if (err != U9_OK) return err;
    if (c.found && c.frame.trailer.count == 0) {
        if (c.fill_end > j->pos)
            tell_site(j, round, (u9i_damage_site){.verdict = U9_V_UNKNOWN, .reason = U9_R_SEAL,
                                                  .begin = j->pos, .end = c.fill_end});
        err = tell_harm(j, window, round, &c.frame); /* */
        if (err == U9_OK) advance(j, &c.frame);
        return err;
    }
    u9i_zeros z;
    bool sealed = none_behind(j), again = false;
    uint64_t d = sealed || (c.found && c.fill_end > j->pos) ? j->pos : c.at; /* fill that is not zero is told with it */
    err = u9i_window_zeros(window, d, j->size, &z);
    if (err != U9_OK) return err;
    if (z.last == d) {
        j->behind = false;
        return U9_OK;
    }
    if (!j->reread) {
        look_again(j, window);
        return U9_OK;
    }
    u9i_damage_site site = {.verdict = U9_V_UNKNOWN, .reason = U9_R_SEAL, .begin = d, .end = z.last};
    if (unread_in(j, window, d, j->size)) site.reason = U9_R_UNREADABLE;
    else if (!sealed) err = judge_tail(j, window, d, &site.verdict, &site.end);
    if (err != U9_OK) return err;
    if (!sealed && site.reason == U9_R_SEAL && site.verdict == U9_V_UNKNOWN && in_progress(j, &again))
        site.verdict = U9_V_TORN;
    if (again) {
        look_again(j, window);
        return U9_OK;
    }
    tell_site(j, round, site);
    j->behind = false;
    return U9_OK;
}

u9_err u9i_judge_next(u9i_judge *j, u9i_window *window, u9i_round *round)
{
    round->count = 0;
    round->then = (u9i_step)0;
    if (j->facts->plain) return u9i_plain_next(j, window, round);
    while (round->then == 0) {
        if (j->ended && !j->behind) {
            round->then = U9I_STEP_END;
            break;
        }
        u9_err err = j->held_back && !j->promise_final ? end_at_promise(j, window) : U9_OK;
        if (err == U9_OK) err = j->behind ? look_behind(j, window, round) : look(j, window, round);
        if (err != U9_OK) return err;
        if (j->ended && round->count > 0 && round->then == 0) round->then = U9I_STEP_DAMAGE;
    }
    u9i_judge_check(j);
    return U9_OK;
}

u9_err u9i_judge_pass(u9i_judge *j, u9i_window *window, uint64_t bound, u9i_frame *frame)
{
    u9_err err = u9i_window_at(window, j->pos, bound, frame);
    if (err == U9_CORRUPT && j->pos % U9I_BLOCK != 0)
        err = u9i_window_at(window, (j->pos / U9I_BLOCK + 1) * U9I_BLOCK, bound, frame);
    if (err == U9_OK) advance(j, frame);
    return err;
}

void u9i_judge_jump(u9i_judge *j, uint64_t pos)
{
    j->pos = pos;
    j->frames = j->previous = j->last = 0;
    j->knows_ordinal = j->facts->plain; /* counted from here [E-3] */
    j->ordinal = j->knows_ordinal ? 0 : j->ordinal;
    j->knows_chain = j->last_closes = j->last_seals = false;
}

u9_err u9i_judge_skip(u9i_judge *j, u9i_window *window, uint64_t from)
{
    u9i_frame f;
    u9_err err = u9i_window_find(window, from, j->bound, &f);
    if (err != U9_OK && err != U9_END) return err;
    if (err == U9_OK && f.offset == U9I_DISK_HEADER_SIZE) return U9_OK;
    u9i_judge_jump(j, err == U9_OK ? f.offset : j->bound > j->pos ? j->bound : j->pos);
    return U9_OK;
}

void u9i_judge_seal(u9i_judge *j)
{
    assert(j->ended && u9i_judge_bounded(j));
    j->behind = j->pos == j->bound; /* else the end itself is gone: nothing to chain to */
    j->reread = j->deserted = false;
}

void u9i_judge_reopen(u9i_judge *j, uint64_t size)
{
    j->ended = j->closed = j->reread = j->deserted = false;
    j->beyond = 0;
    j->tail = U9_V_CLEAN;
    if (j->frames > 0) j->knows_ordinal = j->knows_chain = true; /* of pos: the end was perhaps behind what is not there */
    if (size > j->size && !u9i_judge_bounded(j)) {
        j->bound = size;
        j->promise_final = false;
    }
    if (size > j->size) j->size = size;
    u9i_judge_check(j);
}

/*
 * What was passed behind the end that is named by now were frames without records, as a roll leaves them there. That end is
 * gone back to: they are looked at once more behind it, by its chain. [R-8] [S-6]
 */
static void return_to_end(u9i_judge *j)
{
    const u9i_position *at = &j->facts->at;
    if (!u9i_judge_bounded(j) || j->last < at->offset || j->ordinal != at->ordinal) return;
    u9i_judge_jump(j, at->offset);
    j->ordinal = at->ordinal;
    j->knows_ordinal = j->knows_chain = true;
    memcpy(j->chain, at->chain, sizeof j->chain);
}

void u9i_judge_take_up(u9i_judge *j, const u9i_judge *other)
{
    j->pos = other->pos;
    j->frames = other->frames;
    j->previous = other->previous;
    j->knows_ordinal = other->knows_ordinal;
    j->knows_chain = other->knows_chain;
    j->ordinal = other->ordinal;
    memcpy(j->chain, other->chain, sizeof j->chain);
    j->mark_passed = other->mark_passed || (j->facts->marked && j->pos >= j->facts->mark.offset);
    j->mark_denied = other->mark_denied;
    j->last = other->last;
    j->last_closes = other->last_closes;
    j->last_seals = other->last_seals;
    j->time_us = other->time_us;
    if (!u9i_judge_bounded(j) && other->promise > j->promise) j->promise = other->promise;
    return_to_end(j);
    u9i_judge_check(j);
}
