/*
 * engine/segment/iterator.c: see iterator.h. [P-1] [P-2]
 */
#include "engine/segment/iterator.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static void iterator_check(const u9i_iterator *it)
{
    assert(it->window != NULL && it->window->file == it->segment->file);
    assert(it->told <= it->round.count && it->from <= it->stop);
    assert(it->alone || it->over || it->judge.facts == &it->segment->facts);
    assert(it->map != NULL || it->window->map == NULL);
}

/*
 * What nothing promises, and nobody is about to promise, is made durable before it is served: what was handed out
 * does not vanish in a power cut. 0, or why that cannot be.
 */
static int settle_tail(u9i_segment *segment, u9i_windows *windows)
{
    const u9i_facts *f = &segment->facts;
    const u9i_trailer *end = &f->end_frame.trailer;
    bool promised = f->named || (f->has_end && end->durable > end->previous);
    return promised || u9i_dir_writer_active(segment->dir, f->name) ? 0 : u9i_segment_settle(segment, windows);
}

/* A tail that a crash has torn is told by its hashes: they are left out only where there is none. */
static u9_verify verify_in(const u9i_segment *segment, u9_verify wanted)
{
    return wanted == U9_VERIFY_NEVER && !u9i_segment_sealed(segment) ? U9_VERIFY_FIRST : wanted;
}

u9_err u9i_iterator_open(u9i_iterator *it, u9i_segment *segment, u9i_windows *windows,
                         const u9i_position *before, bool knows_chain, int *sys)
{
    u9i_file *file;
    uint64_t size;
    memset(it, 0, sizeof *it);
    *sys = -u9i_segment_open(segment, &file);
    if (*sys != 0) return *sys == ENOMEM ? U9_NOMEM : U9_IO;
    int unsettled = -settle_tail(segment, windows);
    u9i_segment_look(segment);
    u9_err err = u9i_segment_mend(segment, windows, &file, sys);
    if (err == U9_OK) *sys = -u9i_file_size(file, &size);
    if (*sys) err = U9_IO;
    if (err == U9_OK) err = u9i_windows_lend(windows, &it->window);
    if (err != U9_OK) {
        u9i_segment_close(segment);
        return err;
    }
    u9i_window_turn(it->window, file, &segment->facts.secret);
    it->window->plain = segment->facts.plain;
    it->window->still = u9i_segment_is_settled(segment);
    u9i_window_remember(it->window, &segment->verified, verify_in(segment, windows->verify));
    it->segment = u9i_segment_ref(segment);
    it->windows = windows;
    it->stop = U9_NOWHERE;
    it->over = true;
    /* What a first frame must say is in the u9open, or else depends on who asks. [F-9] */
    it->alone = !segment->facts.has_open && !(segment->facts.first && before == NULL);
    it->alone |= unsettled != 0;
    it->alone |= segment->facts.plain;
    if (it->alone)
        u9i_judge_init(&it->judge, &segment->facts, segment->dir, windows, size, before, knows_chain);
    else it->generation = u9i_segment_begin(segment, windows, size, &it->judge);
    u9i_judge_hold_back(&it->judge, unsettled);
    iterator_check(it);
    return U9_OK;
}

void u9i_iterator_lean(u9i_iterator *it)
{
    it->map = u9i_segment_mapping(it->segment, U9I_MAP_SCAN);
    u9i_window_lean(it->window, it->map);
    iterator_check(it);
}

/* The mapping broke: true if it did under the last frame. */
bool u9i_iterator_leave_map(u9i_iterator *it)
{
    const u9i_frame *f = &it->frame;
    uint64_t at;
    bool mapped = it->round.then == U9I_STEP_FRAME && it->over && (uintptr_t)f->body >= (uintptr_t)it->map->bytes &&
                  (uintptr_t)f->body < (uintptr_t)it->map->bytes + it->map->size;
    if (!mapped || !u9i_mapping_broken_in(it->map, f->offset, f->end, &at)) return false;
    u9i_window_lean(it->window, NULL);
    it->map = NULL;
    it->window->sys = EIO;
    it->window->sys_at = at;
    it->judge = it->before;
    it->alone = true;
    it->retold = it->round.count;
    memcpy(it->told_before, it->round.sites, sizeof it->told_before);
    it->finished = false;
    iterator_check(it);
    return true;
}

void u9i_iterator_close(u9i_iterator *it)
{
    if (it->segment == NULL) return;
    u9i_windows_return(it->windows, it->window); /* first: it may be reading ahead in the file */
    u9i_segment_close(it->segment);
    u9i_segment_unref(it->segment);
    it->segment = NULL;
    it->window = NULL;
}

u9_err u9i_iterator_promised(const u9i_iterator *it, bool *promised)
{
    const u9i_facts *f = &it->segment->facts;
    const u9i_trailer *t = &f->end_frame.trailer;
    *promised = f->named;
    if (f->named || !f->has_end || t->durable <= t->previous) return U9_OK;
    u9i_zeros z; /* no frame stands between what its u9end promises and the u9end */
    u9_err err = u9i_window_zeros(it->window, t->durable, f->end_frame.offset, &z);
    *promised = err == U9_OK && z.last == t->durable;
    return err;
}

u9_err u9i_iterator_range(u9i_iterator *it, uint64_t from, uint64_t stop)
{
    it->ranged = true;
    it->from = from;
    it->stop = it->window->until = stop;
    if (from <= U9I_DISK_HEADER_SIZE || it->passes) return U9_OK;
    bool skips = it->segment->facts.plain;
    u9_err err = skips ? U9_OK : u9i_iterator_promised(it, &skips);
    if (err != U9_OK || !skips) return err;
    it->alone = true; /* each gap is damage, wherever one comes from; else that depends on all that stands before */
    return u9i_judge_skip(&it->judge, it->window, from);
}

u9_err u9i_iterator_from(u9i_iterator *it, uint64_t from)
{
    it->tails = true;
    return u9i_iterator_range(it, from, U9_NOWHERE);
}

u9_err u9i_iterator_leap(u9i_iterator *it, uint64_t from)
{
    it->ranged = it->tails = it->alone = true;
    it->from = from;
    return u9i_judge_skip(&it->judge, it->window, from);
}

/*
 * True if the range tells of this site. The end belongs to no range of a segment that is read alone, but what was
 * promised and is not there. [P-2] What is held back now may be shown to who reads the range beside it: so each that
 * it reaches into tells of it. [P-4]
 */
static bool owns(const u9i_iterator *it, const u9i_damage_site *site)
{
    if (!it->ranged) return true;
    if (it->round.then == U9I_STEP_END && site->verdict != U9_V_CORRUPT && !it->tails) return false;
    if (it->judge.held_back && site->verdict == U9_V_UNKNOWN && site->begin < it->stop && it->from < site->end) return true;
    return it->from <= site->owner && site->owner < it->stop; /* [P-1] */
}

/* Hands out what is left of the round; false if nothing of it is for this range. */
static bool hand_out(u9i_iterator *it, u9i_step *step)
{
    while (it->told < it->round.count) {
        it->site = it->round.sites[it->told++];
        *step = U9I_STEP_DAMAGE;
        if (owns(it, &it->site)) return true;
    }
    it->over = true;
    *step = it->round.then;
    it->frame = it->round.frame;
    if (*step != U9I_STEP_FRAME) return *step == U9I_STEP_END;
    if (it->frame.offset >= it->stop) {
        *step = U9I_STEP_END;
        it->finished = true;
    }
    return it->frame.offset >= it->from;
}

/* Goes by its own judgement from here on. */
static u9_err go_alone(u9i_iterator *it)
{
    it->alone = true;
    return U9_AGAIN;
}

/* Passes a run of frames; what lies before the range is left out. */
static u9_err recall_frames(u9i_iterator *it, const u9i_extent *e, bool grows)
{
    uint64_t pos = it->judge.pos;
    if (e->end <= it->from || pos >= e->end) {
        if (pos < e->end) u9i_judge_jump(&it->judge, e->end);
        if (!grows) it->index++;
        return U9_AGAIN;
    }
    if (pos < e->begin) {
        u9i_judge_jump(&it->judge, e->begin);
        return U9_AGAIN;
    }
    if (pos < it->from) {
        u9i_frame f;
        u9_err err = u9i_window_find(it->window, it->from, e->end, &f);
        if (err == U9_IO) return err;
        u9i_judge_jump(&it->judge, err == U9_OK ? f.offset : e->end);
        return U9_AGAIN;
    }
    it->round.then = U9I_STEP_FRAME;
    u9_err err = u9i_judge_pass(&it->judge, it->window, e->end, &it->round.frame);
    if (err != U9_CORRUPT) return err;
    u9i_segment_forget(it->segment); /* the bytes are not what they were */
    return go_alone(it);
}

/* Judges one round at the frontier, and tells the segment. U9_AGAIN: somebody else was faster. */
static u9_err judge_further(u9i_iterator *it)
{
    u9i_segment *s = it->segment;
    u9i_extent e;
    u9i_judge frontier;
    pthread_mutex_lock(&s->judging);
    u9_err err = U9_AGAIN;
    if (u9i_segment_recall(s, it->generation, it->index, it->judge.pos, &e, &frontier) ==
        U9I_KNOWN_FRONTIER) {
        it->judge = frontier;
        err = u9i_judge_next(&it->judge, it->window, &it->round);
        if (err == U9_OK)
            it->alone = !u9i_segment_remember(s, it->generation, &it->judge, &it->round, &it->index);
    }
    pthread_mutex_unlock(&s->judging);
    return err;
}

/* The next round from what the segment remembers, or a new one for it to remember. U9_AGAIN: not yet. */
static u9_err recall(u9i_iterator *it)
{
    u9i_extent e;
    u9i_judge frontier;
    it->round.count = 0;
    switch (u9i_segment_recall(it->segment, it->generation, it->index, it->judge.pos, &e, &frontier)) {
    case U9I_KNOWN_STALE: return go_alone(it);
    case U9I_KNOWN_FRONTIER: return judge_further(it);
    case U9I_KNOWN_GROWING: return recall_frames(it, &e, true);
    case U9I_KNOWN_EXTENT: break;
    }
    if (e.kind == U9I_EXTENT_FRAMES) return recall_frames(it, &e, false);
    it->round.then = U9I_STEP_DAMAGE;
    if (e.kind == U9I_EXTENT_DAMAGE) {
        it->index++;
        it->round.sites[it->round.count++] = e.site;
        return U9_OK;
    }
    it->judge = frontier;
    it->round.then = U9I_STEP_END;
    return U9_OK;
}

/*
 * What was told in front of a frame that fell is not told again. If more is gone now than the frame, so that the last
 * of it reaches further, the rest of it is.
 */
static void pass_retold(u9i_iterator *it)
{
    for (it->told = 0; it->told < it->retold && it->told < it->round.count; it->told++) {
        const u9i_damage_site *before = &it->told_before[it->told];
        u9i_damage_site *now = &it->round.sites[it->told];
        if (now->begin != before->begin || now->end <= before->end) continue;
        bool counted = now->lost != U9_NOWHERE && before->lost != U9_NOWHERE && now->lost >= before->lost;
        if (counted) now->lost -= before->lost;
        if (counted && now->ordinal != U9_NOWHERE) now->ordinal += before->lost;
        now->begin = before->end;
        break;
    }
    it->retold = 0;
}

u9_err u9i_iterator_step(u9i_iterator *it, u9i_step *step)
{
    for (;;) {
        if (it->finished) {
            *step = U9I_STEP_END;
            return U9_OK;
        }
        if (!it->over && hand_out(it, step)) return U9_OK;
        if (it->map) it->before = it->judge;
        u9_err err = it->alone ? u9i_judge_next(&it->judge, it->window, &it->round) : recall(it);
        if (err != U9_OK && err != U9_AGAIN) return err;
        pass_retold(it);
        it->over = err == U9_AGAIN;
        iterator_check(it);
    }
}

void u9i_iterator_seal(u9i_iterator *it)
{
    it->alone = true;
    u9i_judge_seal(&it->judge);
}

u9_err u9i_iterator_reopen(u9i_iterator *it)
{
    uint64_t size;
    assert(it->over || it->told == it->round.count);
    int sys = -u9i_file_size(it->segment->file, &size);
    if (sys != 0) {
        it->window->sys = sys;
        it->window->sys_at = it->judge.pos;
        return U9_IO;
    }
    it->alone = it->over = true;
    u9i_judge_reopen(&it->judge, size);
    u9i_window_forget(it->window); /* what was read there were zeros */
    iterator_check(it);
    return U9_OK;
}

void u9i_iterator_take_up(u9i_iterator *it, const u9i_judge *judge)
{
    it->alone = true;
    u9i_judge_take_up(&it->judge, judge);
}

u9_err u9i_iterator_peek(u9i_iterator *it)
{
    u9i_frame f;
    const u9i_judge *j = &it->judge;
    u9_err err = u9i_window_at(it->window, j->pos, j->bound, &f);
    if (err == U9_CORRUPT && j->pos % U9I_BLOCK != 0)
        err = u9i_window_at(it->window, (j->pos / U9I_BLOCK + 1) * U9I_BLOCK, j->bound, &f);
    return err;
}
