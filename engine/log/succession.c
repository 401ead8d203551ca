/*
 * engine/log/succession.c: see succession.h. The steps have the numbers of [L-2], [L-3], [L-4] and [L-9].
 *
 * No step compares all with all: segments are found by number and by boundary in sorted lists, and what holds of
 * a segment's ancestry is worked out from the lowest number up.
 */
#include "engine/log/succession.h"

#include "engine/os/list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BOUNDARY = U9I_HASH_SIZE };

#define NONE U9I_NOT_THERE

/* A segment under a key by which it is found. */
typedef struct entry {
    const uint8_t *key; /* a boundary or a log's id; borrows the facts */
    size_t index;
} entry;

typedef struct linker {
    u9i_row *row;
    entry *by_boundary;  /* all that may be of the row, by their own boundary */
    entry *by_named;     /* those with a u9open, by the boundary that it names */
    size_t known, naming;
    size_t *before;      /* of each: the one that its u9open names; NONE */
    size_t *below;       /* of each: the highest one up to it that belongs; NONE */
    bool *passes;        /* of each: its ancestry leaves out what the mark promises */
    bool *served;
    size_t *anchor;      /* of each off the row: the nearest ancestor on the row or with a fork; NONE */
    size_t *leaver;      /*   and the one that names it */
    size_t *child;       /* of each with a fork: the one that goes on behind it in its branch; NONE */
    uint64_t *taken;     /* of each of the row: up to where branches have what is behind its end */
    size_t tip;
} linker;

static int by_key(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = memcmp(x->key, y->key, BOUNDARY);
    return order ? order : u9i_order(x->index, y->index);
}

/* The first entry with this key, in `count`, or `count`. */
static size_t find_key(const entry *list, size_t count, const uint8_t *key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memcmp(list[middle].key, key, BOUNDARY) < 0) low = middle + 1;
        else high = middle;
    }
    return low < count && memcmp(list[low].key, key, BOUNDARY) == 0 ? low : count;
}

static size_t with_boundary(const linker *l, const uint8_t *boundary)
{
    size_t i = find_key(l->by_boundary, l->known, boundary);
    return i < l->known ? l->by_boundary[i].index : NONE;
}

/* Something of a segment is there: not only a name. */
static bool has_identity(const u9i_facts *f)
{
    return f->wrong == U9_R_NONE && (f->has_open || f->spared || !f->blank);
}

static void sort_keys(linker *l)
{
    const u9i_row *row = l->row;
    l->known = l->naming = 0;
    for (size_t i = 0; i < row->count; i++) {
        const u9i_facts *f = &row->facts[i];
        if (!has_identity(f)) continue;
        l->by_boundary[l->known++] = (entry){f->secret.boundary, i};
        if (f->has_open && f->open.before_segment != 0)
            l->by_named[l->naming++] = (entry){f->open.before_boundary, i};
    }
    if (l->known) qsort(l->by_boundary, l->known, sizeof(entry), by_key);
    if (l->naming) qsort(l->by_named, l->naming, sizeof(entry), by_key);
}

static int by_log(const void *a, const void *b)
{
    const u9i_facts *x = *(const u9i_facts *const *)a, *y = *(const u9i_facts *const *)b;
    int order = memcmp(x->open.log, y->open.log, sizeof x->open.log);
    return order ? order : memcmp(x->secret.boundary, y->secret.boundary, BOUNDARY);
}

/* What speaks for a log's id. */
typedef struct vote {
    size_t segments;
    uint64_t number, name; /* the lowest */
} vote;

static bool is_stronger(const vote *a, const vote *b)
{
    if (a->segments != b->segments) return a->segments > b->segments;
    if (a->number != b->number) return a->number < b->number;
    return a->name < b->name;
}

/* (3) The log's id: the mark's if it is here at all, else the one that most segments have; the lowest number wins. */
static bool choose_log(linker *l)
{
    u9i_row *row = l->row;
    const u9i_facts **list = malloc((row->count + 1) * sizeof *list);
    size_t count = 0;
    vote best = {0};
    bool marked = false;
    if (list == NULL) return false;
    for (size_t i = 0; i < row->count; i++)
        if (row->facts[i].has_open) list[count++] = &row->facts[i];
    if (count) qsort(list, count, sizeof *list, by_log);
    for (size_t i = 0, j; i < count; i = j) {
        vote v = {.number = U9_NOWHERE, .name = U9_NOWHERE};
        for (j = i; j < count && memcmp(list[j]->open.log, list[i]->open.log, sizeof row->log) == 0; j++) {
            v.segments += j == i || memcmp(list[j]->secret.boundary, list[j - 1]->secret.boundary, BOUNDARY) != 0;
            if (list[j]->number < v.number) v.number = list[j]->number;
            if (list[j]->in_name < v.name) v.name = list[j]->in_name;
        }
        marked |= row->mark && memcmp(row->mark->log, list[i]->open.log, sizeof row->log) == 0;
        if (!is_stronger(&v, &best)) continue;
        best = v;
        memcpy(row->log, list[i]->open.log, sizeof row->log);
    }
    free(list);
    if (row->mark && count > 0 && !marked) row->mark = NULL;
    if (row->mark) memcpy(row->log, row->mark->log, sizeof row->log);
    return true;
}

/* (3) Of another log, no segment, or one that no log has room for. */
static bool is_foreign(const u9i_row *row, const u9i_facts *f)
{
    if (!f->has_open) return f->stray;
    return memcmp(row->log, f->open.log, sizeof row->log) != 0 || f->number >= U9I_NUMBER_END ||
           f->open.before_segment >= f->number;
}

/* [L-9] Nobody has called it otherwise than its name does, and no segment has that number. */
static bool is_numberless(const u9i_facts *f)
{
    bool unopened = f->wrong == U9_R_NONE && !f->has_open && !f->blank && !f->spared;
    return unopened && (f->number == 0 || f->number >= U9I_NUMBER_END);
}

/* (2) Two files of one boundary: which reads better. */
typedef struct twin {
    u9i_facts *facts;
    u9i_reach reach;
} twin;

static bool is_better(const twin *a, const twin *b)
{
    const u9i_reach *x = &a->reach, *y = &b->reach;
    if (x->meets != y->meets) return x->meets;
    if (x->end != y->end) return x->end > y->end;
    if (x->records != y->records) return x->records > y->records;
    if (x->frames != y->frames) return x->frames > y->frames;
    bool whole = a->facts->header == U9_OK;
    if (whole != (b->facts->header == U9_OK)) return whole;
    bool named = a->facts->in_name == a->facts->number;
    if (named != (b->facts->in_name == b->facts->number)) return named;
    return a->facts->in_name < b->facts->in_name;
}

/* (2) (9) What the lesser one has for itself, if it was promised, is a branch. */
static bool set_twin_aside(linker *l, const twin *better, twin *lesser)
{
    const u9i_row_eyes *eyes = l->row->eyes;
    u9i_facts *f = lesser->facts;
    u9i_position from = {.offset = U9I_DISK_HEADER_SIZE};
    uint64_t promise = 0, records = 0;
    bool unread;
    f->wrong = U9_R_NAME;
    f->blank = false; /* it is known whose it is */
    if (!eyes->look(eyes->ctx, f, &from, &promise, &records, &unread) ||
        !eyes->part(eyes->ctx, better->facts, f, promise, &f->fork))
        return false;
    if (f->fork.end != 0) f->wrong = U9_R_FORK;
    return true;
}

/* (2) The files [first, end) of by_boundary are of one boundary: one of them counts. */
static bool settle_twins(linker *l, size_t first, size_t end)
{
    u9i_row *row = l->row;
    const u9i_position *named = NULL;
    uint64_t highest = 0;
    for (size_t i = find_key(l->by_named, l->naming, l->by_boundary[first].key);
         i < l->naming && memcmp(l->by_named[i].key, l->by_boundary[first].key, BOUNDARY) == 0; i++) {
        const u9i_facts *k = &row->facts[l->by_named[i].index];
        if (k->number < highest) continue;
        named = &k->open.end;
        highest = k->number;
    }
    twin best = {0};
    for (size_t i = first; i < end; i++) {
        twin t = {.facts = &row->facts[l->by_boundary[i].index]};
        if (!row->eyes->reach(row->eyes->ctx, t.facts, named, &t.reach)) return false;
        bool better = best.facts == NULL || is_better(&t, &best);
        if (best.facts && !set_twin_aside(l, better ? &t : &best, better ? &best : &t)) return false;
        if (better) best = t;
    }
    return true;
}

static bool find_twins(linker *l)
{
    for (size_t i = 0, j; i < l->known; i = j) {
        for (j = i + 1; j < l->known && memcmp(l->by_boundary[i].key, l->by_boundary[j].key, BOUNDARY) == 0;)
            j++;
        if (j - i > 1 && !settle_twins(l, i, j)) return false;
    }
    return true;
}

/* (4) A segment without a u9open has the number by which it is called, by a u9open or the mark. */
static void call(linker *l, const uint8_t *boundary, uint64_t number)
{
    size_t i = with_boundary(l, boundary);
    if (i == NONE) return;
    u9i_facts *f = &l->row->facts[i];
    if (!f->has_open && (!f->called || number > f->number)) f->number = number;
    f->called = true;
    f->blank = false;
}

static void call_all(linker *l)
{
    u9i_row *row = l->row;
    for (size_t i = 0; i < l->naming; i++)
        call(l, l->by_named[i].key, row->facts[l->by_named[i].index].open.before_segment);
    if (row->mark == NULL || row->accepts) return;
    call(l, row->mark->boundary, row->mark->segment);
    size_t i = with_boundary(l, row->mark->boundary);
    if (i == NONE) return;
    row->facts[i].marked = true;
    row->facts[i].mark = row->mark->end;
}

/* (4) */
static bool belongs(const u9i_facts *f)
{
    return f->wrong == U9_R_NONE && (f->has_open || f->called || !f->blank);
}

static int by_number(const void *a, const void *b)
{
    const u9i_facts *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    if (belongs(x) != belongs(y)) return belongs(y) ? -1 : 1; /* what counts comes last */
    if (x->has_open && y->has_open && x->open.time_us != y->open.time_us)
        return x->open.time_us < y->open.time_us ? -1 : 1; /* (5) */
    return (x->in_name > y->in_name) - (x->in_name < y->in_name);
}

/*
 * Plain seed files are read in a row of their own; among the segments of a log they are foreign. A file in which nothing is
 * whole says of neither kind that it was of it. [E-4]
 */
static void place_plain(u9i_row *row)
{
    bool log = false;
    for (size_t i = 0; i < row->count; i++) {
        const u9i_facts *f = &row->facts[i];
        log |= !f->plain && !f->blank && !f->stray && !f->bare && f->wrong != U9_R_UNREADABLE;
    }
    for (size_t i = 0; i < row->count && log; i++)
        if (row->facts[i].plain) row->facts[i].wrong = U9_R_FOREIGN;
}

/* Names, numbers, what is foreign or there twice: all that is known before the row is looked for. */
static bool take_in(linker *l)
{
    u9i_row *row = l->row;
    for (size_t i = 0; i < row->count; i++) {
        u9i_facts *f = &row->facts[i];
        f->number = f->has_open ? f->open.segment : f->in_name; /* (2) */
    }
    if (!choose_log(l)) return false;
    for (size_t i = 0; i < row->count; i++)
        if (is_foreign(row, &row->facts[i])) {
            row->facts[i].wrong = U9_R_FOREIGN;
            row->facts[i].number = row->facts[i].in_name; /* what it says inside is no number of this log */
        }
    place_plain(row);
    sort_keys(l);
    if (!find_twins(l)) return false;
    sort_keys(l);
    call_all(l);
    for (size_t i = 0; i < row->count; i++)
        if (is_numberless(&row->facts[i])) row->facts[i].wrong = U9_R_FOREIGN;
    if (row->count) qsort(row->facts, row->count, sizeof *row->facts, by_number);
    sort_keys(l);
    for (size_t i = 0; i < row->count; i++) {
        u9i_facts *f = &row->facts[i];
        f->misnamed = belongs(f) && f->number != f->in_name;
        l->below[i] = belongs(f) ? i : i > 0 ? l->below[i - 1] : NONE;
        l->before[i] = l->anchor[i] = l->leaver[i] = l->child[i] = NONE;
        if (!belongs(f) || !f->has_open || f->open.before_segment == 0) continue;
        size_t before = with_boundary(l, f->open.before_boundary);
        if (before < i && row->facts[before].number < f->number) l->before[i] = before;
    }
    return true;
}

/* The highest one that belongs below this number. */
static size_t highest_below(const linker *l, uint64_t number)
{
    size_t low = 0, high = l->row->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->row->facts[middle].number < number) low = middle + 1;
        else high = middle;
    }
    return low > 0 ? l->below[low - 1] : NONE;
}

/* (6) (7) The one before segment k in a row that holds k; NONE: the row begins with k, as far as is known here. */
static size_t step_down(const linker *l, size_t k)
{
    const u9i_facts *f = &l->row->facts[k];
    if (l->before[k] != NONE) return l->before[k];
    if (!f->has_open) return highest_below(l, f->number);
    return f->open.before_segment ? highest_below(l, f->open.before_segment) : NONE;
}

/* (5) True if a row with k as its tip ends the mark's segment below the mark, or goes past it. */
static bool passes_mark(const linker *l, size_t k)
{
    const u9i_mark_record *mark = l->row->mark;
    const u9i_facts *f = &l->row->facts[k];
    if (f->marked || f->number < mark->segment) return false;
    if (f->has_open && f->open.before_segment != 0 &&
        memcmp(f->open.before_boundary, mark->boundary, BOUNDARY) == 0)
        return f->open.end.offset < mark->end.offset;
    size_t down = step_down(l, k);
    if (l->before[k] != NONE && l->row->facts[down].number < mark->segment) return true;
    if (down == NONE) return f->has_open && f->open.before_segment == 0;
    return l->passes[down];
}

/* (5) The highest one that does not leave out what the mark promises, else the highest. */
static void find_tip(linker *l)
{
    u9i_row *row = l->row;
    size_t highest = row->count ? l->below[row->count - 1] : NONE;
    l->tip = highest;
    if (row->mark == NULL || row->accepts || highest == NONE) return;
    for (size_t k = 0; k < row->count; k++) l->passes[k] = belongs(&row->facts[k]) && passes_mark(l, k);
    for (size_t k = row->count; k > 0; k--) {
        if (!belongs(&row->facts[k - 1]) || l->passes[k - 1]) continue;
        l->tip = k - 1;
        return;
    }
}

static bool add_missing(u9i_row *row, u9i_missing missing)
{
    u9i_missing *more = u9i_grow(row->missing, row->missing_count, &row->missing_room, sizeof *more);
    if (more == NULL) return false;
    row->missing = more;
    row->missing[row->missing_count++] = missing;
    return true;
}

/* How an end was judged. One that was unknown, and was accepted since, is told no more than a torn one. */
static u9i_tail judged_tail(u9i_tail tail, bool accepted)
{
    return tail == U9I_TAIL_UNKNOWN && accepted ? U9I_TAIL_TORN : tail;
}

/* (6) (7) From the tip down. */
static bool walk_down(linker *l)
{
    u9i_row *row = l->row;
    uint64_t accepted = 0;
    for (size_t k = l->tip; k != NONE;) {
        const u9i_facts *f = &row->facts[k];
        size_t down = step_down(l, k);
        l->served[k] = true;
        if (f->has_open && f->open.accepted > accepted) accepted = f->open.accepted;
        if (l->before[k] != NONE) {
            u9i_facts *before = &row->facts[down];
            before->named = true;
            before->at = f->open.end;
            before->tail = judged_tail(f->open.tail, before->number <= accepted);
        } else if (f->has_open && f->open.before_segment != 0) {
            if (row->eyes->is_trimmed(row->eyes->ctx, f->open.before_segment, f)) return true;
            if (!add_missing(row, (u9i_missing){.number = f->open.before_segment, .before = k}))
                return false;
        }
        assert(down == NONE || down < k);
        k = down;
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    const u9i_missing *x = a, *y = b;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    return u9i_order(x->number, y->number);
}

/*
 * (8) A segment is sealed when the mark names its successor [S-6]: a mark that does not yet was read before the seal
 * was written, and what is here beside them may be as old as the mark is.
 */
static bool seal_proves(const u9i_row *row, const u9i_facts *f)
{
    return row->mark == NULL || row->doubtful || row->mark->segment > f->number;
}

/*
 * (8) Looks whether segment i is sealed, which proves something, and something else stands behind its seal. It matters
 * of the tip, and in front of a segment without u9open.
 */
static bool find_seal(linker *l, size_t i, const u9i_facts *above)
{
    u9i_row *row = l->row;
    u9i_facts *f = &row->facts[i];
    bool matters = above ? !above->has_open : i == l->tip;
    return f->has_end || !matters || !seal_proves(row, f) || row->eyes->seal(row->eyes->ctx, f);
}

static bool find_seals(linker *l)
{
    const u9i_facts *above = NULL;
    for (size_t i = l->row->count; i > 0; i--) {
        if (!l->served[i - 1]) continue;
        if (!find_seal(l, i - 1, above)) return false;
        above = &l->row->facts[i - 1];
    }
    return true;
}

/* (8) A seal proves that the next segment's u9open was durable; behind the tip, that it is missing. */
static bool read_seals(linker *l)
{
    u9i_row *row = l->row;
    const u9i_facts *sealed = NULL, *tip = l->tip == NONE ? NULL : &row->facts[l->tip];
    if (!find_seals(l)) return false;
    for (size_t i = 0; i < row->count; i++) {
        u9i_facts *f = &row->facts[i];
        if (f->wrong == U9_R_UNREADABLE) sealed = NULL; /* that may be it */
        if (!l->served[i]) continue;
        f->sealed_before = sealed != NULL;
        sealed = u9i_facts_sealed(f) && seal_proves(row, f) ? f : NULL;
    }
    row->older = tip && u9i_facts_sealed(tip) && !seal_proves(row, tip);
    return sealed == NULL || row->accepts ||
           add_missing(row, (u9i_missing){.number = sealed->number + 1, .before = row->count});
}

/* (7) (8) The mark's segment is not there: the row should have it. */
static bool miss_marked(linker *l)
{
    u9i_row *row = l->row;
    const u9i_mark_record *mark = row->mark;
    if (mark == NULL || row->accepts || with_boundary(l, mark->boundary) != NONE) return true;
    size_t lowest = 0, before = 0;
    while (lowest < row->count && !l->served[lowest]) lowest++;
    if (lowest < row->count && mark->segment < row->facts[lowest].number &&
        row->eyes->is_trimmed(row->eyes->ctx, mark->segment, NULL)) {
        row->mark = NULL; /* it promises nothing any more */
        return true;
    }
    while (before < row->count && row->facts[before].number <= mark->segment) before++;
    while (before < row->count && !l->served[before]) before++;
    for (size_t i = 0; i < row->missing_count; i++) {
        u9i_missing *m = &row->missing[i];
        bool sealed = m->before == row->count && before == row->count;
        if (m->number != mark->segment && !sealed) continue;
        m->number = mark->segment; /* what the seal misses is in front of it, and lost with it */
        m->marked = before == row->count;
        return true;
    }
    return add_missing(row, (u9i_missing){.number = mark->segment, .before = before, .marked = before == row->count});
}

/* What u9opens and the mark promise of a segment: the largest end that they name. */
static u9i_position named_end(const linker *l, size_t k)
{
    const u9i_row *row = l->row;
    const u9i_facts *f = &row->facts[k];
    u9i_position end = {0};
    for (size_t i = find_key(l->by_named, l->naming, f->secret.boundary);
         i < l->naming && memcmp(l->by_named[i].key, f->secret.boundary, BOUNDARY) == 0; i++) {
        const u9i_position *at = &row->facts[l->by_named[i].index].open.end;
        if (at->offset > end.offset) end = *at;
    }
    return f->marked && f->mark.offset > end.offset ? f->mark : end;
}

/* True if the file ends there, or what a u9end tells of the end of its data leaves nothing behind it but index frames. */
static bool ends_as_named(const u9i_facts *f)
{
    return f->size <= f->at.offset || (f->has_end && f->end_frame.trailer.ordinal == f->at.ordinal);
}

/* (9) Promised records behind the named end of a segment of the row, or in a frame that lies across it. */
static bool look_past_end(linker *l, size_t k)
{
    u9i_facts *f = &l->row->facts[k];
    u9i_position end = named_end(l, k), from = f->at;
    uint64_t records = 0;
    bool unread;
    if (!ends_as_named(f) && !l->row->eyes->look(l->row->eyes->ctx, f, &from, &end.offset, &records, &unread)) return false;
    if (end.offset <= f->at.offset) return true;
    if (end.ordinal > f->at.ordinal && end.ordinal - f->at.ordinal > records)
        records = end.ordinal - f->at.ordinal; /* some of them are gone */
    if (records > 0) f->fork = (u9i_span_lost){from.offset, end.offset, records, from.ordinal};
    return true;
}

/* (9) Promised records in a segment off the row. */
static bool look_aside(linker *l, size_t k)
{
    u9i_facts *f = &l->row->facts[k];
    u9i_position end = named_end(l, k), from = {.offset = U9I_DISK_HEADER_SIZE};
    uint64_t records = 0, first = f->has_open ? f->open.end.ordinal : U9_NOWHERE;
    bool unread;
    if (!l->row->eyes->look(l->row->eyes->ctx, f, &from, &end.offset, &records, &unread))
        return false;
    if (end.ordinal > first && end.ordinal - first > records) records = end.ordinal - first;
    bool fork = records > 0 || unread || (f->barren && !f->blank); /* that may have promised something, and cannot be read */
    f->is_void = !fork; /* (10) */
    if (fork) f->wrong = U9_R_FORK;
    if (fork) f->fork = (u9i_span_lost){.end = f->size, .lost = records ? records : U9_NOWHERE};
    return true;
}

/* (9) (10) */
static bool look_around(linker *l)
{
    u9i_row *row = l->row;
    for (size_t k = 0; k < row->count; k++) {
        u9i_facts *f = &row->facts[k];
        bool fine = true;
        if (l->served[k]) fine = !f->named || look_past_end(l, k);
        else if (belongs(f)) fine = look_aside(l, k);
        else if (f->wrong == U9_R_NONE) f->is_void = l->tip != NONE && k < l->tip; /* blank */
        if (!fine) return false;
        f->newest = k == l->tip;
    }
    return true;
}

/* Of each fork off the row, what it goes on from: an ancestor that is on the row or a fork as well. */
static void find_anchors(linker *l)
{
    for (size_t k = 0; k < l->row->count; k++) {
        size_t before = l->before[k];
        if (l->served[k] || before == NONE) continue;
        bool holds = l->served[before] || l->row->facts[before].wrong == U9_R_FORK;
        l->anchor[k] = holds ? before : l->anchor[before];
        l->leaver[k] = holds ? k : l->leaver[before];
    }
    for (size_t k = l->row->count; k > 0; k--) {
        size_t anchor = l->anchor[k - 1];
        if (l->row->facts[k - 1].wrong != U9_R_FORK || anchor == NONE || l->served[anchor]) continue;
        if (l->child[anchor] == NONE) l->child[anchor] = k - 1;
    }
}

static void add_piece(u9i_row *row, size_t segment, uint64_t begin, uint64_t end)
{
    row->pieces[row->piece_count++] = (u9i_piece){segment, begin, end};
    row->branches[row->branch_count - 1].count++;
}

/* Where what stands behind the named end of a segment of the row leaves it. */
static u9i_position fork_place(const u9i_facts *f)
{
    return (u9i_position){.offset = f->fork.begin, .ordinal = f->fork.ordinal};
}

static void begin_branch(u9i_row *row, size_t leaves, u9i_position at)
{
    row->branches[row->branch_count++] = (u9i_branch){.first = row->piece_count, .leaves = leaves, .at = at};
}

/* (9) The branch that begins with segment k. */
static void follow_branch(linker *l, size_t k)
{
    u9i_row *row = l->row;
    size_t anchor = l->anchor[k];
    u9i_position at = anchor == NONE ? (u9i_position){0} : row->facts[l->leaver[k]].open.end;
    bool behind = anchor != NONE && l->served[anchor] && row->facts[anchor].fork.end != 0 &&
                  at.offset > row->facts[anchor].at.offset;
    begin_branch(row, anchor, behind ? fork_place(&row->facts[anchor]) : at);
    if (behind) {
        add_piece(row, anchor, row->facts[anchor].fork.begin, at.offset);
        if (at.offset > l->taken[anchor]) l->taken[anchor] = at.offset;
    }
    for (size_t next; k != NONE; k = next) {
        u9i_facts *f = &row->facts[k];
        next = l->child[k];
        add_piece(row, k, U9I_DISK_HEADER_SIZE, next == NONE ? U9_NOWHERE : row->facts[l->leaver[next]].open.end.offset);
        if (next == NONE) continue;
        f->named = true;
        f->at = row->facts[l->leaver[next]].open.end;
        f->tail = row->facts[l->leaver[next]].open.tail;
    }
}

/* The other one of a file that is there twice, and parts from it. [L-2] */
static void branch_twin(linker *l, size_t k)
{
    const u9i_facts *f = &l->row->facts[k];
    begin_branch(l->row, with_boundary(l, f->secret.boundary), (u9i_position){.offset = f->fork.begin});
    add_piece(l->row, k, f->fork.begin, f->fork.end);
}

static bool is_twin(const u9i_facts *f)
{
    return f->wrong == U9_R_FORK && f->fork.begin != 0;
}

/* (9) All branches; none is within another. */
static bool list_branches(linker *l)
{
    u9i_row *row = l->row;
    size_t forks = 0;
    for (size_t k = 0; k < row->count; k++) forks += row->facts[k].fork.end != 0;
    if (forks == 0) return true;
    row->branches = calloc(forks, sizeof *row->branches);
    row->pieces = calloc(2 * forks, sizeof *row->pieces);
    if (row->branches == NULL || row->pieces == NULL) return false;
    find_anchors(l);
    for (size_t k = row->count; k > 0; k--) {
        const u9i_facts *f = &row->facts[k - 1];
        size_t anchor = l->anchor[k - 1];
        if (f->wrong != U9_R_FORK) continue;
        if (is_twin(f)) branch_twin(l, k - 1);
        else if (anchor == NONE || l->served[anchor] || l->child[anchor] != k - 1) follow_branch(l, k - 1);
    }
    for (size_t k = row->count; k > 0; k--) { /* what is behind an end, and in none of them */
        const u9i_facts *f = &row->facts[k - 1];
        if (!l->served[k - 1] || f->fork.end <= l->taken[k - 1]) continue;
        begin_branch(row, k - 1, fork_place(f));
        add_piece(row, k - 1, f->fork.begin, f->fork.end);
    }
    assert(row->branch_count <= forks && row->piece_count <= 2 * forks);
    return true;
}

static int by_value(const void *a, const void *b)
{
    return u9i_order(*(const uint64_t *)a, *(const uint64_t *)b);
}

/*
 * Above all that is there, and what a seal at the end says was there, if a stray name does not reach so high that the
 * log would soon have no room; and free.
 */
static void choose_next(linker *l)
{
    u9i_row *row = l->row;
    uint64_t *names = l->taken; /* done with */
    uint64_t top = 0, own = 0;
    if (l->tip != NONE && u9i_facts_sealed(&row->facts[l->tip])) own = row->facts[l->tip].number + 1;
    if (row->mark && row->mark->segment > own) own = row->mark->segment;
    for (size_t i = 0; i < row->count; i++) {
        const u9i_facts *f = &row->facts[i];
        bool copy = f->wrong == U9_R_NAME && !f->has_open; /* its number is its name's: none is inside */
        bool ours = f->wrong != U9_R_FOREIGN && !f->blank && !copy;
        names[i] = f->in_name;
        if (f->in_name < U9I_NUMBER_END / 2 && f->in_name > top) top = f->in_name;
        if (ours && f->number > own) own = f->number;
    }
    qsort(names, row->count, sizeof *names, by_value);
    uint64_t next = (own > top ? own : top) + 1;
    for (size_t i = 0; i < row->count; i++) next += names[i] == next;
    row->next = next < U9I_NUMBER_END ? next : 0;
}

/* What holds of every row that was linked. */
static void row_check(const linker *l)
{
    const u9i_row *row = l->row;
    for (size_t k = 0; k < row->count; k++) {
        const u9i_facts *f = &row->facts[k];
        assert(k == 0 || row->facts[k - 1].number <= f->number);
        assert(!l->served[k] || (f->wrong == U9_R_NONE && !f->is_void && k <= l->tip));
        assert(l->served[k] || f->wrong != U9_R_NONE || f->is_void || f->blank);
    }
    assert(l->tip == NONE || l->served[l->tip]);
}

static bool link_row(linker *l)
{
    u9i_row *row = l->row;
    if (!take_in(l)) return false;
    find_tip(l);
    if (!walk_down(l) || !read_seals(l) || !miss_marked(l)) return false;
    if (row->missing_count > 1) qsort(row->missing, row->missing_count, sizeof *row->missing, by_place);
    size_t first = 0;
    while (first < row->count && !l->served[first]) first++;
    if (first < row->count) row->facts[first].first = row->facts[first].number == 1; /* [L-5] */
    if (!look_around(l)) return false;
    row_check(l);
    if (!list_branches(l)) return false;
    choose_next(l);
    return true;
}

static void free_linker(linker *l)
{
    free(l->by_boundary);
    free(l->by_named);
    free(l->before);
    free(l->below);
    free(l->passes);
    free(l->served);
    free(l->anchor);
    free(l->leaver);
    free(l->child);
    free(l->taken);
}

bool u9i_row_link(u9i_row *row)
{
    size_t n = row->count + 1;
    if (row->single) {
        row->facts[0].number = row->facts[0].in_name;
        row->facts[0].first = row->facts[0].number == 1;
        row->facts[0].newest = true;
        if (row->facts[0].has_open) memcpy(row->log, row->facts[0].open.log, sizeof row->log);
        return true;
    }
    linker l = {.row = row, .by_boundary = calloc(n, sizeof(entry)), .by_named = calloc(n, sizeof(entry)),
                .before = calloc(n, sizeof(size_t)), .below = calloc(n, sizeof(size_t)),
                .passes = calloc(n, sizeof(bool)), .served = calloc(n, sizeof(bool)),
                .anchor = calloc(n, sizeof(size_t)), .leaver = calloc(n, sizeof(size_t)),
                .child = calloc(n, sizeof(size_t)), .taken = calloc(n, sizeof(uint64_t)), .tip = NONE};
    bool fine = l.by_boundary && l.by_named && l.before && l.below && l.passes && l.served && l.anchor &&
                l.leaver && l.child && l.taken && link_row(&l);
    free_linker(&l);
    return fine;
}
