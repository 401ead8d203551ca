/*
 * engine/read/back.c: see back.h.
 */
#include "engine/read/back.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES = 1024, SPAN = 1 << 16, FAR = 1 << 25 };

/* What the second reader passed. */
typedef struct note {
    u9i_spot at;         /* in front of it */
    char *path;           /* a damage: its own; NULL: a run of frames */
    u9_damage damage;
    int sys;
    uint64_t first, last; /* a run: its first and its last frame */
    u9i_trailer plain;    /*   of a plain seed file, one frame: its numbers, by counting [E-3] */
} note;

struct u9i_trail {
    size_t unit; /* the lowest one that the notes are of */
    note *notes; /* room for NOTES */
    size_t count;
    bool more;   /* there was more in front of them */
    bool marked; /* they begin with the frame that the mark names */
};

static void trail_check(const u9i_trail *t)
{
    assert(t->count <= NOTES);
    for (size_t i = 0; i < t->count; i++) assert(t->notes[i].path || t->notes[i].first <= t->notes[i].last);
}

static void drop_note(note *n)
{
    free(n->path);
    n->path = NULL;
}

static void free_trail(u9i_trail *t)
{
    if (t == NULL) return;
    for (size_t i = 0; i < t->count; i++) drop_note(&t->notes[i]);
    free(t->notes);
    free(t);
}

void u9i_trail_drop(u9i_reader *r)
{
    free_trail(r->trail);
    r->trail = NULL;
}

static u9i_trail *new_trail(size_t unit)
{
    u9i_trail *t = calloc(1, sizeof *t);
    if (t) t->notes = calloc(NOTES, sizeof *t->notes);
    if (t && t->notes) {
        t->unit = unit;
        return t;
    }
    free(t);
    return NULL;
}

/* Room for one more note: the older half goes. */
static note *new_note(u9i_trail *t)
{
    if (t->count == NOTES) {
        for (size_t i = 0; i < NOTES / 2; i++) drop_note(&t->notes[i]);
        memmove(t->notes, t->notes + NOTES / 2, NOTES / 2 * sizeof *t->notes);
        t->count = NOTES / 2;
        t->more = true;
    }
    note *n = &t->notes[t->count++];
    *n = (note){.path = NULL};
    return n;
}

static bool note_damage(u9i_trail *t, const u9i_reader *s, u9i_spot at)
{
    char *path = strdup(s->path);
    if (path == NULL) return false;
    note *n = new_note(t);
    n->at = at;
    n->path = path;
    n->damage = s->damage;
    n->sys = s->damage_sys;
    if (at.unit < t->unit) t->unit = at.unit; /* what was trimmed is told at once, of several units [L-10] */
    return true;
}

/* A frame goes on a run, if it stands behind it with nothing between them. */
static void note_passed(u9i_trail *t, const u9i_reader *s, u9i_spot at)
{
    note *n = t->count ? &t->notes[t->count - 1] : NULL;
    const u9i_frame *f = s->frame;
    if (n == NULL || n->path || u9i_reader_facts(s)->plain) {
        n = new_note(t);
        n->at = at;
        n->first = f->offset;
        n->plain = f->trailer;
    }
    n->last = f->offset;
}

static u9_err refuse_changed(const u9i_reader *r, u9_fault *fault)
{
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = r->source->path, .rule = "Q-1"),
                     "the log's files are not what they were a moment ago");
}

static u9_err refuse_memory(const u9i_reader *r, u9_fault *fault)
{
    return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = r->source->path), "out of memory");
}

static bool same_spot(const u9i_spot *a, const u9i_spot *b)
{
    return a->unit == b->unit && a->frame == b->frame && a->since == b->since && a->before == b->before && a->end == b->end;
}

/* True if a reader that tells nothing but this unit need not begin before it; fills where the log stands there. */
static bool begins_alone(const u9i_reader *r, size_t unit, const u9i_facts **named)
{
    *named = NULL;
    if (unit == r->first_unit || r->ranged) return true;
    const u9i_facts *f = u9i_catalog_facts(r->catalog, unit - 1);
    if (!u9i_facts_on_row(f) || !f->named) return false;
    *named = f;
    return true;
}

/* Goes to the nearest unit, from `unit` down, at whose start it is known where the log stands. */
static void begin_near(u9i_reader *s, size_t unit)
{
    const u9i_facts *named;
    size_t base = unit;
    while (!begins_alone(s, base, &named)) base--;
    u9i_reader_restart(s, base);
    if (named == NULL) return;
    s->at = named->at;
    s->begun = s->knows_at = s->knows_chain = true;
}

/* The reader has just stepped, to the place (U9_OK), past it (U9_END), or is on its way (U9_AGAIN). */
static u9_err compare_place(const u9i_reader *s, u9i_step step, const u9i_spot *to)
{
    bool near = to->before && s->place.unit == to->unit && step == U9I_STEP_FRAME;
    if (near && s->place.frame >= to->frame) return s->place.frame == to->frame ? U9_OK : U9_END;
    if (step == U9I_STEP_END || s->place.unit > to->unit) return to->end ? U9_OK : U9_END;
    return U9_AGAIN;
}

/*
 * Steps forwards up to a place, and notes what is passed of its unit (trail NULL: nothing). U9_END: the place was not
 * met; of one that is the end of its unit, or in front of a frame, that is only so if it is not there.
 */
static u9_err reach(u9i_reader *s, const u9i_spot *to, u9i_trail *trail, u9_fault *fault)
{
    while (!same_spot(&s->place, to)) {
        u9i_spot at = s->place;
        u9i_step step;
        u9_err err = u9i_reader_step(s, &step, fault);
        if (err != U9_OK) return err;
        if (same_spot(&s->place, to) && step == U9I_STEP_END) return U9_OK;
        err = compare_place(s, step, to);
        if (err != U9_AGAIN) return err;
        if (at.unit != s->place.unit) at = (u9i_spot){.unit = s->place.unit};
        bool crosses = step == U9I_STEP_DAMAGE && s->damage.reason == U9_R_TRIMMED && s->index > to->unit;
        if (trail == NULL || (s->place.unit < to->unit && !crosses)) continue;
        if (step == U9I_STEP_FRAME) note_passed(trail, s, at);
        else if (!note_damage(trail, s, at)) return refuse_memory(s, fault);
        if (crosses) break;
    }
    return U9_OK;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A second reader of the same catalog, which ends with a unit. */
static void open_scout(u9i_reader *s, const u9i_reader *r, size_t unit)
{
    memset(s, 0, sizeof *s);
    s->source = r->source;
    s->catalog = r->catalog;
    s->frame = &s->iterator.frame;
    s->first_unit = r->first_unit;
    s->ranged = r->ranged;
    s->range_first = r->range_first;
    s->range_last = r->range_last;
    s->range_begin = r->range_begin;
    s->range_end = r->range_end;
    s->blind = true;
    s->only = least(unit + 1, r->only);
    s->missing_end = least(u9i_reader_missing(r, unit + 1), r->missing_end);
}

u9_err u9i_reader_open_unit(u9i_reader *r, size_t unit, u9_fault *fault)
{
    if (r->reading && r->index == unit && r->iterator.map == NULL) return U9_OK;
    u9i_reader_leave(r);
    r->index = unit;
    r->passed = r->passed_index = 0;
    u9_err err = u9i_source_iterate(r->source, r->catalog->segments[unit], NULL, false, &r->iterator, fault);
    r->reading = err == U9_OK;
    return err;
}

/* Finds what stands in front of the place, within its unit. U9_END: the place is not there. */
static u9_err lay_to_place(u9i_reader *r, u9_fault *fault)
{
    u9i_reader s;
    u9i_trail *t = new_trail(r->place.unit);
    if (t == NULL) return refuse_memory(r, fault);
    open_scout(&s, r, r->place.unit);
    begin_near(&s, r->place.unit);
    u9_err err = reach(&s, &r->place, t, fault);
    bool trimmed = t->count > 0 && t->notes[0].path && t->notes[0].damage.reason == U9_R_TRIMMED;
    if (trimmed && err == U9_OK && s.first_unit < t->unit) { /* so was all before it: told at once */
        free_trail(t);
        t = new_trail(r->place.unit);
        u9i_reader_restart(&s, s.first_unit);
        err = t ? reach(&s, &r->place, t, fault) : refuse_memory(r, fault);
    }
    u9i_reader_leave(&s);
    if (err != U9_OK) {
        free_trail(t);
        return err;
    }
    trail_check(t);
    u9i_trail_drop(r);
    r->trail = t;
    return U9_OK;
}

/*
 * The place is not there any more. If its frame is, what was told behind that is not so now, as of an end that was none yet:
 * the place is right behind the frame. Else the disk has taken that: the place is by what is told instead, in front of it, or
 * (back) behind it.
 */
static u9_err give_way(const u9i_reader *r, u9i_spot *place, bool back, u9_fault *fault)
{
    u9i_reader s;
    u9i_step step;
    u9i_spot at = {.unit = place->unit};
    u9_err err;
    open_scout(&s, r, place->unit);
    begin_near(&s, place->unit);
    while ((err = u9i_reader_step(&s, &step, fault)) == U9_OK) {
        if (step == U9I_STEP_END) at = (u9i_spot){.unit = place->unit, .end = true};
        if (step == U9I_STEP_END) break;
        if (s.place.unit < place->unit) continue;
        bool tells = step == U9I_STEP_DAMAGE, itself = !tells && s.place.frame == place->frame && !place->before;
        bool there = tells ? s.damage.end > place->frame : s.place.frame >= place->frame;
        if (!there || itself || (back && tells)) at = s.place;
        if (there) break;
    }
    u9i_reader_leave(&s);
    if (err == U9_OK) *place = at;
    return err;
}

static u9_err lay_trail(u9i_reader *r, u9_fault *fault)
{
    u9_err err = lay_to_place(r, fault);
    if (err == U9_END && (err = give_way(r, &r->place, true, fault)) == U9_OK) err = lay_to_place(r, fault);
    return err == U9_END ? refuse_changed(r, fault) : err;
}

/* The valid frame at p, which ends at or before `bound`; what stands before it comes into the window with it. U9_CORRUPT: none. */
static u9_err load_frame(u9i_reader *r, uint64_t p, uint64_t bound, u9i_frame *f, u9_fault *fault)
{
    u9i_window *w = r->iterator.window;
    const uint8_t *bytes;
    size_t avail;
    u9_err err = U9_OK;
    bool held = p >= w->base && p < w->base + w->fill;
    if (!held && bound != U9_NOWHERE) {
        uint64_t from = ((bound > SPAN ? bound - SPAN : 0) + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
        err = u9i_window_bytes(w, from < p ? from : p, U9I_ALIGN, &bytes, &avail);
    }
    if (err == U9_OK) err = u9i_window_at(w, p, bound, f);
    return err == U9_IO ? u9i_source_fault(r->source, &r->iterator, err, fault) : err;
}

u9_err u9i_reader_show(u9i_reader *r, const u9i_frame *f, u9i_step *step, u9_fault *fault)
{
    u9i_spot was = r->place;
    r->iterator.frame = *f;
    r->front = *f;
    r->place = (u9i_spot){.unit = r->index, .frame = f->offset, .before = true};
    u9i_part_row_reset(&r->parts);
    r->parts_known = false;
    *step = U9I_STEP_FRAME;
    u9_err err = u9i_reader_open_body(r, step, fault);
    if (r->again) r->place = was;
    r->again = false;
    return err;
}

/* True if nothing is told of a unit as a whole, before it is read. */
static bool is_quiet(const u9i_reader *r, size_t unit)
{
    size_t next = u9i_reader_missing(r, unit);
    if (next < r->missing_end && r->catalog->missing[next].before <= unit) return false;
    if (unit >= r->catalog->count) return true;
    const u9i_facts *f = u9i_catalog_facts(r->catalog, unit);
    if (u9i_facts_skipped(f)) return f->is_void;
    return f->wrong == U9_R_NONE && !f->misnamed && f->header == U9_OK && f->fork.end == 0;
}

/* True if frames of the unit may be gone to straight. */
static bool is_straight(const u9i_reader *r, size_t unit)
{
    return !r->ranged && unit < r->catalog->count && u9i_facts_on_row(u9i_catalog_facts(r->catalog, unit)) &&
           !u9i_catalog_facts(r->catalog, unit)->plain;
}

/* True if reading forwards tells of the mark where it comes to f, having passed `ends` bytes before. [M-4] */
static bool is_marked_otherwise(const u9i_facts *s, const u9i_frame *f, uint64_t ends)
{
    if (!s->marked || ends >= s->mark.offset || f->end < s->mark.offset) return false;
    return f->end != s->mark.offset || f->trailer.ordinal + f->trailer.count != s->mark.ordinal ||
           memcmp(f->sha, s->mark.chain, U9I_HASH_SIZE) != 0;
}

/* True if nothing is told of the frame itself. [R-7] [Y-6] */
static bool is_unharmed(const u9i_reader *r, const u9i_frame *f)
{
    return f->padding_ok && u9i_mended_at(r->iterator.window->file, f->offset) == NULL;
}

/* True if f, the segment's first frame, is what its u9open says, and nothing is told of either. [F-9] */
static bool fits_first(const u9i_reader *r, const u9i_frame *f)
{
    const u9i_facts *s = u9i_reader_facts(r);
    return is_unharmed(r, f) && s->has_open && f->trailer.ordinal == s->open.end.ordinal &&
           memcmp(f->trailer.chain, s->open.end.chain, U9I_HASH_SIZE) == 0 && !is_marked_otherwise(s, f, 0) &&
           is_quiet(r, r->index);
}

/* Looks whether g stands right before f, at its end or a block further behind zeros. [F-8] [F-9] */
static u9_err fits(u9i_reader *r, const u9i_frame *g, const u9i_frame *f, bool *fit, u9_fault *fault)
{
    uint64_t block = (g->end + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    u9i_zeros z = {.last = g->end};
    u9_err err = U9_OK;
    *fit = is_unharmed(r, f) && (g->end == f->offset || block == f->offset) &&
           g->trailer.ordinal + g->trailer.count == f->trailer.ordinal &&
           memcmp(g->sha, f->trailer.chain, U9I_HASH_SIZE) == 0 && !is_marked_otherwise(u9i_reader_facts(r), f, g->end);
    if (*fit && g->end < f->offset) err = u9i_window_zeros(r->iterator.window, g->end, f->offset, &z);
    *fit &= z.last == g->end;
    return err == U9_IO ? u9i_source_fault(r->source, &r->iterator, err, fault) : err;
}

/* Loads the frame before f, if it fits. U9_CORRUPT: it does not. */
static u9_err load_before(u9i_reader *r, const u9i_frame *f, u9i_frame *g, u9_fault *fault)
{
    bool fit;
    uint64_t p = f->trailer.previous;
    u9_err err = load_frame(r, p, f->offset, g, fault);
    if (err == U9_OK) err = fits(r, g, f, &fit, fault);
    if (err != U9_OK || !fit) return err == U9_OK ? U9_CORRUPT : err;
    return load_frame(r, p, f->offset, g, fault); /* the look between them may have moved the window */
}

/* The frame that ends at `end`, by a search from before it. U9_CORRUPT: none of the last 32 MiB. */
static u9_err find_ending(u9i_reader *r, uint64_t end, u9i_frame *f, u9_fault *fault)
{
    uint64_t most = end - U9I_DISK_HEADER_SIZE < FAR ? end - U9I_DISK_HEADER_SIZE : FAR;
    u9_err err = U9_CORRUPT;
    for (uint64_t span = SPAN; err == U9_CORRUPT; span *= 8) {
        uint64_t p = end - (span < most ? span : most);
        f->end = 0;
        while ((err = u9i_window_find(r->iterator.window, p, end, f)) == U9_OK && f->end != end) p = f->end;
        if (err == U9_END) err = U9_CORRUPT;
        if (span >= most) break;
    }
    return err == U9_IO ? u9i_source_fault(r->source, &r->iterator, err, fault) : err;
}

/* The last frame in front of a named end, if it fits. */
static u9_err load_named(u9i_reader *r, u9i_frame *f, u9_fault *fault)
{
    const u9i_position *at = &u9i_reader_facts(r)->at;
    bool tells = u9i_reader_facts(r)->tail == U9I_TAIL_UNKNOWN; /* of what stands behind it */
    if (tells || at->offset <= U9I_DISK_HEADER_SIZE) return U9_CORRUPT;
    u9_err err = find_ending(r, at->offset, f, fault);
    if (err != U9_OK) return err;
    bool fit = f->trailer.ordinal + f->trailer.count == at->ordinal && memcmp(f->sha, at->chain, U9I_HASH_SIZE) == 0;
    return fit ? U9_OK : U9_CORRUPT;
}

/*
 * The end of a log that is not closed, from the mark on: all in front of that was promised, and the frame that ends there
 * with its ordinal and chain is served. [M-4] U9_CORRUPT: it does not stand there; the segment is judged from its start.
 */
static u9_err lay_from_mark(u9i_reader *r, u9_fault *fault)
{
    const u9i_facts *facts = u9i_catalog_facts(r->catalog, r->place.unit);
    u9i_reader s;
    u9i_frame f;
    if (!is_straight(r, r->place.unit) || facts->named || !facts->marked || !facts->has_open) return U9_CORRUPT;
    open_scout(&s, r, r->place.unit);
    u9i_reader_restart(&s, r->place.unit);
    u9_err err = u9i_reader_open_unit(&s, r->place.unit, fault);
    if (err == U9_OK && s.iterator.judge.held_back) err = U9_CORRUPT;
    if (err == U9_OK) err = find_ending(&s, facts->mark.offset, &f, fault);
    if (err == U9_OK && (!is_unharmed(&s, &f) || f.offset <= U9I_DISK_HEADER_SIZE || is_marked_otherwise(facts, &f, f.offset)))
        err = U9_CORRUPT;
    if (err == U9_OK) err = u9i_iterator_leap(&s.iterator, f.offset);
    u9i_trail *t = err == U9_OK ? new_trail(r->place.unit) : NULL;
    if (err == U9_OK) err = t ? reach(&s, &r->place, t, fault) : refuse_memory(r, fault);
    u9i_reader_leave(&s);
    if (err == U9_OK) {
        t->marked = true;
        u9i_trail_drop(r);
        r->trail = t;
        return U9_OK;
    }
    free_trail(t);
    return err == U9_NOMEM ? err : U9_CORRUPT;
}

/* The u9end that closes the file, if nothing behind it is to be told. */
static u9_err load_closing(u9i_reader *r, u9i_frame *f, u9_fault *fault)
{
    const u9i_facts *s = u9i_reader_facts(r);
    bool promised;
    uint64_t size;
    u9i_zeros z;
    u9_err err = u9i_iterator_promised(&r->iterator, &promised);
    if (err == U9_OK && (!promised || u9i_file_size(r->iterator.window->file, &size) != 0 || size != s->size ||
                         (s->marked && s->mark.offset > s->end_frame.end)))
        return U9_CORRUPT;
    if (err == U9_OK) err = u9i_window_zeros(r->iterator.window, s->end_frame.end, size, &z);
    if (err == U9_OK && z.last > s->end_frame.end) return U9_CORRUPT;
    if (err == U9_OK) err = u9i_window_at(r->iterator.window, s->end_frame.offset, size, f);
    return err == U9_IO ? u9i_source_fault(r->source, &r->iterator, err, fault) : err;
}

/* From the end of a unit, straight. U9_CORRUPT: that does not go. */
static u9_err step_from_end(u9i_reader *r, u9i_step *step, u9_fault *fault)
{
    u9i_frame f;
    if (!is_straight(r, r->place.unit)) return U9_CORRUPT;
    u9_err err = u9i_reader_open_unit(r, r->place.unit, fault);
    if (err == U9_IO) return U9_CORRUPT; /* perhaps it was trimmed: the trail tells, or fails again */
    if (err != U9_OK) return err;
    const u9i_facts *s = u9i_reader_facts(r);
    err = s->named ? load_named(r, &f, fault) : s->has_end ? load_closing(r, &f, fault) : U9_CORRUPT;
    if (err == U9_OK) return u9i_reader_show(r, &f, step, fault);
    if (err == U9_CORRUPT) err = lay_from_mark(r, fault);
    return err == U9_OK ? U9_AGAIN : err;
}

/* The reader is in front of a unit. False: it is the first. */
static bool leave_unit(u9i_reader *r, size_t unit)
{
    u9i_trail_drop(r);
    if (unit <= r->first_unit) {
        r->place = (u9i_spot){.unit = r->first_unit};
        return false;
    }
    r->place = (u9i_spot){.unit = unit - 1, .end = true};
    return true;
}

/* The step before the place, without a trail. U9_CORRUPT: a trail is needed. U9_AGAIN: nothing is told there. */
static u9_err step_straight(u9i_reader *r, u9i_step *step, u9_fault *fault)
{
    u9i_spot *p = &r->place;
    u9i_frame g;
    if (p->end && !(p->unit < r->catalog->count && u9i_facts_on_row(u9i_catalog_facts(r->catalog, p->unit))) &&
        is_quiet(r, p->unit)) {
        *p = (u9i_spot){.unit = p->unit};
        return U9_AGAIN;
    }
    if (p->end) return step_from_end(r, step, fault);
    if (p->since > 0 || !is_straight(r, p->unit) || (p->before && r->front.offset != p->frame)) return U9_CORRUPT;
    u9_err err = u9i_reader_open_unit(r, p->unit, fault);
    if (err != U9_OK) return err == U9_IO ? U9_CORRUPT : err;
    if (p->before && p->frame == U9I_DISK_HEADER_SIZE) {
        if (!fits_first(r, &r->front)) return U9_CORRUPT;
        *p = (u9i_spot){.unit = p->unit};
        return U9_AGAIN;
    }
    err = p->before ? load_before(r, &r->front, &g, fault) : load_frame(r, p->frame, U9_NOWHERE, &g, fault);
    return err == U9_OK ? u9i_reader_show(r, &g, step, fault) : err;
}

static void tell_note(u9i_reader *r, note *n, u9i_step *step)
{
    memcpy(r->path, n->path, strlen(n->path) + 1); /* it was a reader's */
    r->damage = n->damage;
    r->damage.path = r->path;
    r->damage_sys = n->sys;
    r->place = n->at;
    r->front.offset = 0;
    *step = U9I_STEP_DAMAGE;
}

/* The last frame of a run. U9_CORRUPT: it is not there any more. */
static u9_err step_in_run(u9i_reader *r, note *n, bool *done, u9i_step *step, u9_fault *fault)
{
    u9i_frame f;
    u9_err err = u9i_reader_open_unit(r, r->place.unit, fault);
    if (err == U9_IO) return U9_CORRUPT; /* perhaps it was trimmed */
    if (err == U9_OK) err = load_frame(r, n->last, r->place.before ? r->place.frame : U9_NOWHERE, &f, fault);
    if (err != U9_OK) return err;
    *done = n->first == n->last;
    if (u9i_reader_facts(r)->plain) f.trailer = n->plain;
    if (!*done && f.trailer.previous < n->first) return U9_CORRUPT;
    n->last = f.trailer.previous;
    return u9i_reader_show(r, &f, step, fault);
}

/* The last note of the trail. U9_AGAIN: there is none left. */
static u9_err follow_trail(u9i_reader *r, u9i_step *step, u9_fault *fault)
{
    u9i_trail *t = r->trail;
    bool done = true;
    u9_err err = U9_OK;
    if (t->count == 0 && t->more) err = lay_trail(r, fault);
    if (err != U9_OK) return err;
    t = r->trail;
    if (t->count == 0 && t->marked) { /* straight on from there */
        u9i_trail_drop(r);
        return U9_AGAIN;
    }
    if (t->count == 0) {
        r->place = (u9i_spot){.unit = t->unit};
        u9i_trail_drop(r);
        return U9_AGAIN;
    }
    note *n = &t->notes[t->count - 1];
    uint64_t last = n->last;
    if (n->path) tell_note(r, n, step);
    else err = step_in_run(r, n, &done, step, fault);
    bool stays = err != U9_OK && err != U9_VERSION;
    if (stays && !n->path) n->last = last;
    if (stays || !done) return err;
    drop_note(n);
    t->count--;
    trail_check(t);
    return err;
}

void u9i_reader_behind(u9i_reader *r)
{
    if (!r->backwards) return;
    r->place.before = false;
    u9i_trail_drop(r);
}

void u9i_reader_before(u9i_reader *r)
{
    assert(!r->backwards || r->place.before);
    if (r->backwards) return;
    r->front = *r->frame;
    r->place = (u9i_spot){.unit = r->index, .frame = r->frame->offset, .before = true};
    r->backwards = true;
}

void u9i_reader_go(u9i_reader *r, u9i_spot place)
{
    u9i_trail_drop(r);
    r->again = false;
    r->place = place;
    r->front.offset = 0;
    r->backwards = true;
}

u9_err u9i_reader_back(u9i_reader *r, u9i_step *step, u9_fault *fault)
{
    bool relaid = false;
    if (!r->backwards && r->again) r->place.before = true, r->front = *r->frame;
    r->again = r->leaving = false;
    r->backwards = true;
    for (;;) {
        const u9i_spot *p = &r->place;
        if (r->trail == NULL && p->frame == 0 && p->since == 0 && !p->end && !leave_unit(r, p->unit)) {
            *step = U9I_STEP_END;
            return U9_OK;
        }
        u9_err err = r->trail ? follow_trail(r, step, fault) : step_straight(r, step, fault);
        if (err == U9_AGAIN) continue;
        if (err != U9_CORRUPT) return err;
        if (r->trail && relaid) return refuse_changed(r, fault);
        if (r->trail && r->reading) u9i_window_forget(r->iterator.window); /* it may hold zeros where frames stand by now */
        relaid |= r->trail != NULL;
        err = lay_trail(r, fault);
        if (err != U9_OK) return err;
    }
}

/* Goes to the frame of the place by the segment's own steps. U9_END: they do not come there. */
static u9_err enter_at(u9i_reader *r, const u9i_spot *to, u9_fault *fault)
{
    u9i_step step = U9I_STEP_DAMAGE;
    u9i_iterator *it = &r->iterator;
    u9i_reader_leave(r);
    u9_err err = u9i_reader_open_unit(r, to->unit, fault);
    if (err != U9_OK) return err;
    err = r->ranged ? u9i_iterator_range(it, to->frame, r->range_end) : u9i_iterator_from(it, to->frame);
    while (err == U9_OK && step == U9I_STEP_DAMAGE) err = u9i_iterator_step(it, &step);
    if (err == U9_OK && (step != U9I_STEP_FRAME || it->frame.offset != to->frame)) return U9_END;
    for (unsigned i = 0; i < to->since && err == U9_OK; i++) {
        err = u9i_iterator_step(it, &step);
        if (err == U9_OK && step != U9I_STEP_DAMAGE) return U9_END;
    }
    if (err != U9_OK) return u9i_source_fault(r->source, it, err, fault);
    if (r->leans && !to->before) u9i_iterator_lean(it);
    u9i_reader_pass_missing(r, to->unit + 1);
    u9i_part_row_reset(&r->parts);
    r->parts_known = false;
    return U9_OK;
}

/* Goes to the place from the start of its unit, or from before that. */
static u9_err walk_there(u9i_reader *r, const u9i_spot *to, u9_fault *fault)
{
    bool blind = r->blind;
    size_t only = r->only, missing_end = r->missing_end;
    begin_near(r, to->unit);
    if (same_spot(&r->place, to)) return U9_OK;
    if (to->frame == 0 && to->since == 0) { /* what is told of the unit is not passed */
        r->only = to->unit;
        r->missing_end = least(u9i_reader_missing(r, to->unit), missing_end);
    }
    r->blind = true;
    u9_err err = reach(r, to, NULL, fault);
    r->blind = blind;
    r->only = only;
    r->missing_end = missing_end;
    if (err == U9_OK && to->frame != 0) r->parts_known = false;
    return err;
}

/* U9_END: the place is not there. */
static u9_err go_there(u9i_reader *r, const u9i_spot *to, bool straight, u9_fault *fault)
{
    u9_err err = straight ? enter_at(r, to, fault) : U9_END;
    return err == U9_END ? walk_there(r, to, fault) : err;
}

u9_err u9i_reader_turn(u9i_reader *r, u9_fault *fault)
{
    u9i_spot to = r->place;
    if (to.end) to = (u9i_spot){.unit = to.unit + 1};
    bool straight = to.frame != 0 && u9i_catalog_facts(r->catalog, to.unit)->has_open;
    if (to.unit > r->catalog->count) { /* behind all */
        u9i_reader_restart(r, r->only);
        r->missing = r->missing_end;
        r->place = (u9i_spot){.unit = r->only, .end = true};
        return U9_OK;
    }
    u9_err err = go_there(r, &to, straight, fault);
    bool gone = err == U9_IO && !r->reading && u9i_reader_trimmed(r, to.unit);
    if (gone) begin_near(r, to.unit); /* which is told then [L-10] */
    if (err == U9_END && (err = give_way(r, &to, false, fault)) == U9_OK) {
        if (to.end) to = (u9i_spot){.unit = to.unit + 1};
        err = go_there(r, &to, straight && to.frame != 0, fault);
    }
    if (err == U9_END) err = refuse_changed(r, fault);
    if (err != U9_OK && !gone) {
        u9i_reader_leave(r);
        u9i_reader_go(r, to);
        return err;
    }
    r->backwards = false;
    u9i_trail_drop(r);
    if (gone) return U9_OK;
    r->again = to.before;
    r->place = to;
    r->place.before = false;
    return U9_OK;
}
