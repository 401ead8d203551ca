/*
 * engine/read/reader.c: see reader.h. [L-2] to [L-5] [R-8] [R-9] [P-1] [P-2]
 */
#include "engine/read/back.h"

#include "engine/os/process.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* What is told of a segment before it is read, in this order. */
typedef enum announcement {
    ANNOUNCE_ASIDE = 1, /* that it is not read */
    ANNOUNCE_NAME,
    ANNOUNCE_HEADER,
    ANNOUNCE_FORK,
    ANNOUNCED = ANNOUNCE_FORK
} announcement;

void u9i_reader_check(const u9i_reader *r)
{
    assert(r->index <= r->catalog->count && r->only <= r->catalog->count);
    assert(r->missing <= r->missing_end && r->missing_end <= r->catalog->missing_count);
    assert(r->reading == (r->iterator.segment != NULL));
    assert(!r->sealed || (r->reading && r->seals));
    assert(!r->again || r->reading);
    assert(!r->ranged || (r->range_first <= r->range_last && r->range_last <= r->catalog->count));
    assert(r->passed_index <= r->index || r->index == 0);
}

/* Takes over a reference to the catalog, also on failure. */
static u9_err open_catalog(u9i_reader *r, u9i_source *source, u9i_catalog *catalog, u9_fault *fault)
{
    memset(r, 0, sizeof *r);
    r->source = source;
    r->catalog = catalog;
    r->scratch = u9i_pages(U9I_BODY_MAX);
    if (r->scratch == NULL) {
        u9i_catalog_unref(r->catalog);
        return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = source->path), "out of memory");
    }
    r->only = r->catalog->count;
    r->missing_end = r->catalog->missing_count;
    r->frame = &r->iterator.frame;
    u9i_reader_check(r);
    return U9_OK;
}

u9_err u9i_reader_open(u9i_reader *r, u9i_source *source, u9_fault *fault)
{
    u9i_catalog *catalog;
    u9_err err = u9i_source_catalog(source, &catalog, fault);
    return err == U9_OK ? open_catalog(r, source, catalog, fault) : err;
}

u9_err u9i_reader_open_on(u9i_reader *r, u9i_source *source, u9i_catalog *catalog, u9_fault *fault)
{
    atomic_fetch_add(&catalog->references, 1);
    return open_catalog(r, source, catalog, fault);
}

void u9i_reader_leave(u9i_reader *r)
{
    u9i_iterator_close(&r->iterator);
    r->reading = r->sealed = r->leaving = r->again = false;
    r->announced = 0;
}

void u9i_reader_release(u9i_reader *r)
{
    u9i_reader_leave(r);
    u9i_trail_drop(r);
    u9i_pages_free(r->scratch, U9I_BODY_MAX);
    u9i_pages_free(r->parts.bytes, U9I_BODY_MAX);
    r->scratch = r->parts.bytes = NULL;
    u9i_catalog_unref(r->catalog);
    r->catalog = NULL;
}

size_t u9i_reader_missing(const u9i_reader *r, size_t index)
{
    size_t low = 0, high = r->catalog->missing_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->catalog->missing[middle].before < index) low = middle + 1;
        else high = middle;
    }
    return low;
}

void u9i_reader_pass_missing(u9i_reader *r, size_t index)
{
    size_t first = r->ranged ? r->missing_end : u9i_reader_missing(r, index);
    r->missing = first < r->missing_end ? first : r->missing_end;
}

void u9i_reader_from(u9i_reader *r, uint64_t from)
{
    for (size_t i = r->catalog->count; i > 1; i--) {
        const u9i_facts *f = u9i_catalog_facts(r->catalog, i - 1);
        if (!f->has_open || !u9i_facts_on_row(f) || f->open.end.ordinal > from) continue;
        r->index = r->first_unit = r->place.unit = i - 1;
        r->missing = u9i_reader_missing(r, r->index);
        return;
    }
}

void u9i_reader_restart(u9i_reader *r, size_t index)
{
    u9i_reader_leave(r);
    u9i_trail_drop(r);
    r->index = index;
    u9i_reader_pass_missing(r, index);
    r->announced = r->ranged && r->range_begin > U9I_DISK_HEADER_SIZE ? ANNOUNCED : 0; /* by the range of 32 [P-1] */
    r->begun = r->knows_at = r->knows_chain = r->backwards = false;
    r->passed = r->passed_index = 0;
    r->place = (u9i_spot){.unit = index};
    u9i_reader_check(r);
}

void u9i_reader_share(u9i_reader *r, const u9i_reader *other)
{
    u9i_reader_leave(r);
    atomic_fetch_add(&other->catalog->references, 1);
    u9i_catalog_unref(r->catalog);
    r->catalog = other->catalog;
    r->first_unit = other->first_unit;
    r->only = other->only;
    r->missing_end = other->missing_end;
    r->ranged = other->ranged;
    r->sliced = other->sliced;
    r->range_first = other->range_first;
    r->range_last = other->range_last;
    r->range_begin = other->range_begin;
    r->range_end = other->range_end;
    u9i_reader_restart(r, r->first_unit);
}

void u9i_reader_segments(u9i_reader *r, size_t first, size_t last)
{
    bool to_end = last + 1 == r->catalog->count;
    r->first_unit = first;
    r->only = last + 1;
    r->missing_end = to_end ? r->catalog->missing_count : u9i_reader_missing(r, last + 1);
    u9i_reader_restart(r, first);
}

u9_err u9i_reader_tell(u9i_reader *r, u9i_step *step, const u9i_facts *f, u9i_damage_site site)
{
    r->damage = u9i_source_damage(r->source, f, &site, r->path, sizeof r->path);
    r->damage_sys = site.sys ? site.sys : site.reason == U9_R_UNREADABLE ? f->unread : 0;
    *step = U9I_STEP_DAMAGE;
    return U9_OK;
}

/* The ordinal where the log stands, which is this one if nothing was read yet; U9_NOWHERE: it is not known. */
static uint64_t ordinal_here(const u9i_reader *r, uint64_t start)
{
    if (!r->begun) return start;
    return r->knows_at ? r->at.ordinal : U9_NOWHERE;
}

/* Records from one ordinal to another; U9_NOWHERE: one is not known, or that is not behind this. */
static uint64_t lost_between(uint64_t here, uint64_t there)
{
    return here <= there && there != U9_NOWHERE ? there - here : U9_NOWHERE;
}

uint64_t u9i_reader_opens_at(const u9i_reader *r, size_t index)
{
    const u9i_facts *f = index < r->catalog->count ? u9i_catalog_facts(r->catalog, index) : NULL;
    return f && f->has_open ? f->open.end.ordinal : U9_NOWHERE;
}

/*
 * Goes on at the next segment that counts: fills the ordinals that are lost up to where its u9open
 * says that the log stood, U9_NOWHERE if that, or where the log stands here, is not known. [L-4]
 */
static void skip_lost(u9i_reader *r, u9i_damage_site *site)
{
    uint64_t here = ordinal_here(r, r->catalog->trim.ordinal); /* 0 where nothing was trimmed */
    uint64_t next = u9i_reader_opens_at(r, u9i_reader_next_on_row(r, r->index));
    r->knows_at = here != U9_NOWHERE && next != U9_NOWHERE;
    if (r->knows_at) site->ordinal = here;
    site->lost = lost_between(here, next);
    r->at.ordinal = r->knows_at ? next : 0;
    r->begun = true;
    r->knows_chain = false;
}

/* The mark's segment is gone: what was lost up to the mark is known. [M-4] */
static void skip_marked(u9i_reader *r, u9i_damage_site *site)
{
    const u9i_mark_record *mark = u9i_mark_promise(&r->catalog->mark);
    const u9i_dir *dir = r->source->dir;
    bool tiered = dir->tiered_end > 0 && dir->tiered_ordinal < mark->first_ordinal;
    site->reason = U9_R_MARK;
    site->end = mark->end.offset;
    site->ordinal = ordinal_here(r, tiered ? dir->tiered_ordinal : mark->first_ordinal);
    site->lost = lost_between(site->ordinal, mark->end.ordinal);
    r->at = mark->end;
    r->begun = r->knows_at = r->knows_chain = true;
    r->tail = U9_V_CORRUPT;
    r->closed = false;
}

/* A segment that should stand before segments[index] is not there. [L-4] */
static u9_err tell_missing(u9i_reader *r, u9i_step *step)
{
    const u9i_missing *missing = &r->catalog->missing[r->missing++];
    u9i_facts gone = {.number = missing->number};
    u9i_segment_name(gone.number, gone.name);
    u9i_damage_site site = {.verdict = U9_V_CORRUPT, .reason = U9_R_MISSING, .ordinal = U9_NOWHERE};
    if (missing->marked) skip_marked(r, &site);
    else skip_lost(r, &site);
    return u9i_reader_tell(r, step, &gone, site);
}

/* The segment that a slice began in was trimmed before it was opened. [P-4] [L-10] */
static u9_err tell_trimmed(u9i_reader *r, u9i_step *step)
{
    u9i_facts gone = {.number = r->trimmed};
    u9i_segment_name(gone.number, gone.name);
    u9i_damage_site site = {.verdict = U9_V_TORN, .reason = U9_R_TRIMMED, .begin = r->trimmed_begin,
                            .end = r->trimmed_begin, .ordinal = U9_NOWHERE, .lost = U9_NOWHERE};
    r->trimmed = 0;
    return u9i_reader_tell(r, step, &gone, site);
}

size_t u9i_reader_unit(const u9i_reader *r, uint64_t number)
{
    size_t found = r->catalog->count;
    if (u9i_reader_is_single(r->source, r->catalog)) return 0;
    for (size_t i = 0; i < r->catalog->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(r->catalog, i);
        if (f->number != number) continue;
        if (found == r->catalog->count || u9i_facts_on_row(f)) found = i;
    }
    return found;
}

u9_err u9i_reader_range(u9i_reader *r, uint64_t number, uint64_t begin, uint64_t end,
                        u9_fault *fault)
{
    size_t i = u9i_reader_unit(r, number);
    if (i == r->catalog->count)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = r->source->path),
                         "there is no segment number %llu", (unsigned long long)number);
    if (begin > end)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = r->source->path),
                         "the range ends before it begins");
    r->ranged = true;
    r->sliced = false;
    r->range_first = r->range_last = i;
    r->range_begin = begin;
    r->range_end = end;
    u9i_reader_segments(r, i, i);
    if (end <= U9I_DISK_HEADER_SIZE) r->index = r->only; /* holds no frame and no gap */
    return U9_OK;
}

/* True if the range that is read begins in the midst of segments[index]. */
static bool begins_within(const u9i_reader *r)
{
    return r->ranged && r->index == r->range_first && r->range_begin > U9I_DISK_HEADER_SIZE;
}

size_t u9i_reader_next_on_row(const u9i_reader *r, size_t index)
{
    while (index < r->catalog->count && !u9i_facts_on_row(u9i_catalog_facts(r->catalog, index))) index++;
    return index;
}

/* Of segments[index] and those behind it, how many were removed, as the log says now that it trimmed them; and where it goes on. */
static size_t count_trimmed(u9i_reader *r, uint64_t *kept)
{
    u9i_catalog *now;
    size_t i = r->index;
    u9i_stamp stamp;
    if (r->source->dir->single[0] || u9i_source_catalog(r->source, &now, NULL) != U9_OK) return 0;
    while (i < r->only && u9i_catalog_facts(r->catalog, i)->number < now->trim.segment &&
           u9i_dir_stat(r->source->dir, u9i_catalog_facts(r->catalog, i)->name, &stamp) == -ENOENT)
        i++;
    if (i > r->index) *kept = u9i_catalog_kept(now, u9i_catalog_facts(r->catalog, i - 1)->number + 1);
    u9i_catalog_unref(now);
    return i - r->index;
}

bool u9i_reader_trimmed(u9i_reader *r, size_t unit)
{
    uint64_t kept;
    size_t index = r->index;
    r->index = unit;
    size_t gone = count_trimmed(r, &kept);
    r->index = index;
    return gone > 0;
}

/*
 * segments[index] could not be opened: if it was trimmed while this reader was on its way, that is told, and reading
 * goes on behind all that was, as far as the catalog goes. [L-10] False: it was not.
 */
static bool skip_trimmed(u9i_reader *r, u9i_step *step)
{
    const u9i_facts *f = u9i_reader_facts(r);
    uint64_t kept;
    size_t gone = count_trimmed(r, &kept);
    if (gone == 0) return false;
    u9i_facts first = *f;
    uint64_t here = ordinal_here(r, U9_NOWHERE);
    if (here == U9_NOWHERE) here = u9i_reader_opens_at(r, r->index);
    if (begins_within(r)) here = U9_NOWHERE;
    r->index = u9i_reader_next_on_row(r, r->index + gone);
    uint64_t there = u9i_reader_opens_at(r, r->index);
    if (there == U9_NOWHERE) there = kept;
    if (r->index > r->only) r->index = r->only;
    if (r->missing < u9i_reader_missing(r, r->index)) r->missing = u9i_reader_missing(r, r->index);
    r->at = (u9i_position){.ordinal = there};
    r->begun = r->knows_at = true;
    r->knows_chain = false;
    r->announced = 0;
    u9i_damage_site site = {.verdict = U9_V_TORN, .reason = U9_R_TRIMMED, .ordinal = here,
                            .lost = lost_between(here, there)};
    (void)u9i_reader_tell(r, step, &first, site);
    return true;
}

/* The iterator has left it. */
void u9i_reader_leave_map(u9i_reader *r, u9_fault *fault)
{
    r->parts = r->parts_before;
    r->parts_known = r->parts_known_before;
    r->place = r->place_before;
    r->again = false;
    if (fault) (void)u9i_source_fault(r->source, &r->iterator, U9_IO, fault);
}

/* What of segments[index] is in the range. [P-1] [P-4] */
static u9_err limit_segment(u9i_reader *r)
{
    u9i_iterator *it = &r->iterator;
    uint64_t begin = r->index == r->range_first ? r->range_begin : 0;
    uint64_t end = r->index == r->range_last ? r->range_end : U9_NOWHERE;
    if (r->sliced && begin <= U9I_DISK_HEADER_SIZE && end == U9_NOWHERE) return U9_OK; /* all, and how it ends */
    bool goes_on = r->index + 1 < r->only || r->missing < r->missing_end;
    it->tails = r->sliced;
    it->passes = r->sliced && goes_on && !u9i_reader_facts(r)->named && !u9i_reader_facts(r)->plain;
    return u9i_iterator_range(it, begin, end);
}

/* Begins to read segments[index]. */
static u9_err enter_segment(u9i_reader *r, u9_fault *fault)
{
    u9i_segment *s = r->catalog->segments[r->index];
    u9_err err = u9i_source_iterate(r->source, s, r->knows_at ? &r->at : NULL, r->knows_chain,
                                    &r->iterator, fault);
    if (err == U9_OK && r->leans) u9i_iterator_lean(&r->iterator);
    if (err == U9_OK && r->ranged) {
        err = limit_segment(r);
        if (err != U9_OK) (void)u9i_source_fault(r->source, &r->iterator, err, fault);
    }
    if (err != U9_OK) u9i_iterator_close(&r->iterator);
    r->reading = err == U9_OK;
    u9i_part_row_reset(&r->parts); /* a row ends with its segment [C-6] */
    r->parts_known = r->rowless || !begins_within(r);
    return err;
}

/* What is to be told of a segment as a whole, one after the other; false: nothing more. */
static bool announce(u9i_reader *r, u9i_step *step, const u9i_facts *f)
{
    static const u9_verdict aside[] = {[U9_R_FOREIGN] = U9_V_UNKNOWN, [U9_R_NAME] = U9_V_TORN,
                                       [U9_R_FORK] = U9_V_CORRUPT, [U9_R_UNREADABLE] = U9_V_CORRUPT};
    u9i_damage_site site = {.ordinal = U9_NOWHERE};
    while (r->announced < ANNOUNCED) {
        announcement what = ++r->announced;
        if (what == ANNOUNCE_ASIDE && f->wrong != U9_R_NONE) { /* [L-2] [L-4] [L-9] */
            site.verdict = aside[f->wrong];
            site.reason = f->wrong;
            site.begin = f->fork.begin;
            site.end = f->size;
            site.lost = f->wrong == U9_R_FORK ? f->fork.lost
                        : f->wrong == U9_R_UNREADABLE || (f->wrong == U9_R_FOREIGN && !f->has_open) ? U9_NOWHERE : 0;
            r->announced = ANNOUNCED;
        } else if (what == ANNOUNCE_NAME && f->misnamed) { /* [L-2] */
            site.verdict = U9_V_TORN;
            site.reason = U9_R_NAME;
        } else if (what == ANNOUNCE_HEADER && f->header != U9_OK) { /* [H-4] */
            site.verdict = f->plain ? U9_V_UNKNOWN : U9_V_CORRUPT; /* nothing was promised [E-3] */
            site.reason = f->unread && f->unread_at == 0 ? U9_R_UNREADABLE : U9_R_HEADER;
            site.end = U9I_DISK_HEADER_SIZE;
            site.lost = f->barren && !f->named && !f->marked ? U9_NOWHERE : 0;
        } else if (what == ANNOUNCE_FORK && f->fork.end != 0) { /* [L-9] */
            site = (u9i_damage_site){.verdict = U9_V_CORRUPT, .reason = U9_R_FORK, .begin = f->fork.begin,
                                     .end = f->fork.end, .ordinal = f->fork.ordinal, .lost = f->fork.lost};
        } else {
            continue;
        }
        (void)u9i_reader_tell(r, step, f, site);
        return true;
    }
    return false;
}

/* A segment that is not read: how the log stands behind it is known as far as its end is named. */
static void pass_over(u9i_reader *r, const u9i_facts *f)
{
    r->begun = true;
    r->knows_at = r->knows_chain = f->named;
    if (f->named) r->at = f->at;
}

/* Begins the next segment, or tells what is wrong with it as a whole. Sets *told if a step is ready. */
static u9_err begin_segment(u9i_reader *r, u9i_step *step, bool *told, u9_fault *fault)
{
    *told = true;
    if (r->place.unit != r->index) r->place = (u9i_spot){.unit = r->index};
    if (r->trimmed != 0) return tell_trimmed(r, step);
    if (r->missing < r->missing_end && r->catalog->missing[r->missing].before <= r->index)
        return tell_missing(r, step);
    if (r->index >= r->only) {
        *step = U9I_STEP_END;
        return U9_OK;
    }
    const u9i_facts *f = u9i_reader_facts(r);
    if (u9i_facts_skipped(f)) {
        *told = !f->is_void && !begins_within(r);
        r->index++;
        u9i_damage_site site = {.verdict = U9_V_TORN, .reason = U9_R_BLANK, .end = f->size,
                                .ordinal = U9_NOWHERE};
        return *told ? u9i_reader_tell(r, step, f, site) : U9_OK;
    }
    *told = !begins_within(r) && announce(r, step, f); /* by the range that holds offset 32 [P-1] */
    if (*told) return U9_OK;
    if (f->wrong == U9_R_NONE && !r->surveys) {
        u9_err err = enter_segment(r, fault);
        *told = err == U9_IO && (!r->ranged || r->sliced) && skip_trimmed(r, step);
        return *told ? U9_OK : err;
    }
    if (f->wrong == U9_R_NONE) pass_over(r, f);
    u9i_reader_leave(r);
    r->index++;
    return U9_OK;
}

/* The iterator is at its end: looks behind it, once, tells so, once, and turns to the next segment. True: it is told. */
static bool end_segment(u9i_reader *r, u9i_step *step)
{
    const u9i_facts *f = u9i_reader_facts(r);
    const u9i_judge *j = &r->iterator.judge;
    if (r->seals && !r->sealed && f->named && f->tail == U9I_TAIL_ROLLED) {
        r->sealed = true;
        u9i_iterator_seal(&r->iterator);
        return false;
    }
    if (r->leaves && !r->leaving) {
        r->leaving = true;
        *step = U9I_STEP_LEAVE;
        return true;
    }
    r->at = j->end;
    r->begun = true;
    r->knows_at = j->knows_ordinal || f->named;
    r->knows_chain = j->knows_chain || f->named;
    r->tail = j->tail;
    r->closed = j->closed;
    r->beyond += j->beyond;
    u9i_reader_leave(r);
    r->index++;
    return false;
}

/* The frame that the iterator came to, with its body; if that fell meanwhile, *told is unset. */
static u9_err show_frame(u9i_reader *r, u9i_step *step, bool *told, u9_fault *fault)
{
    *step = U9I_STEP_FRAME;
    u9_err err = u9i_reader_open_body(r, step, fault);
    *told = !r->leans || !u9i_reader_fell(r, NULL);
    return *told ? err : U9_OK;
}

/* The iterator's next step, or the end of its segment. *told: there is something to tell. */
static u9_err step_segment(u9i_reader *r, u9i_step *step, bool *told, u9_fault *fault)
{
    *told = true;
    if (r->leaving) {
        *told = end_segment(r, step);
        return U9_OK;
    }
    if (r->again) {
        r->again = false;
        return show_frame(r, step, told, fault);
    }
    u9_err err = u9i_iterator_step(&r->iterator, step);
    if (err != U9_OK) return u9i_source_fault(r->source, &r->iterator, err, fault);
    if (*step == U9I_STEP_END) {
        *told = end_segment(r, step);
    } else if (*step == U9I_STEP_FRAME) {
        r->parts_before = r->parts;
        r->parts_known_before = r->parts_known;
        r->place_before = r->place;
        r->place = (u9i_spot){.unit = r->index, .frame = r->frame->offset};
        err = show_frame(r, step, told, fault);
    } else {
        r->place.since++;
        err = u9i_reader_tell(r, step, u9i_reader_facts(r), r->iterator.site);
    }
    return err;
}

u9_err u9i_reader_step(u9i_reader *r, u9i_step *step, u9_fault *fault)
{
    u9_err err = r->backwards ? u9i_reader_turn(r, fault) : U9_OK;
    bool told = false;
    while (err == U9_OK && !told) {
        u9i_reader_check(r);
        if (r->reading) {
            err = step_segment(r, step, &told, fault);
            continue;
        }
        err = begin_segment(r, step, &told, fault);
        r->place.since += err == U9_OK && told && *step == U9I_STEP_DAMAGE;
    }
    return err;
}

uint64_t u9i_reader_passed(u9i_reader *r)
{
    for (; r->passed_index < r->index; r->passed_index++)
        r->passed += u9i_catalog_facts(r->catalog, r->passed_index)->size;
    return r->passed + (r->reading ? r->iterator.judge.pos : 0);
}

uint64_t u9i_reader_bytes(const u9i_reader *r)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < r->catalog->count; i++) bytes += u9i_catalog_facts(r->catalog, i)->size;
    return bytes;
}
