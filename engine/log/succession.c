/*
 * engine/log/succession.c: see succession.h.
 */
#include "engine/log/succession.h"

#include <stdlib.h>
#include <string.h>

static bool add_missing(u9i_row *row, uint64_t number, size_t before)
{
    u9i_missing *more = realloc(row->missing, (row->missing_count + 1) * sizeof *more);
    if (more == NULL) return false;
    row->missing = more;
    row->missing[row->missing_count++] = (u9i_missing){.number = number, .before = before};
    return true;
}

static u9i_facts *find_number(u9i_row *row, uint64_t number, size_t below)
{
    for (size_t i = below; i > 0; i--)
        if (row->facts[i - 1].number == number) return &row->facts[i - 1];
    return NULL;
}

/*
 * Is segment k what its name says, and of this log? If so, what its u9open says of the one before it counts.
 * Later segments are asked first: a foreign one has no say. [L-4]
 */
static void prove_place(u9i_row *row, size_t k)
{
    u9i_facts *f = &row->facts[k];
    const u9i_open_record *open = &f->open;
    if (open->segment != f->number || open->before_segment >= f->number ||
        memcmp(row->log, open->log, 16) != 0)
        f->wrong = U9_R_FOREIGN;
    u9i_facts *before = f->wrong ? NULL : find_number(row, open->before_segment, k);
    if (before && memcmp(before->secret.boundary, open->before_boundary, U9I_HASH_SIZE) != 0)
        before->wrong = U9_R_FOREIGN;
}

/* What the u9open of segment k says of those before it. [L-2] [L-3] [L-4] */
static bool succeed(u9i_row *row, size_t k)
{
    u9i_facts *f = &row->facts[k];
    const u9i_open_record *open = &f->open;
    if (f->wrong != U9_R_NONE) return true;
    for (size_t j = k; j > 0 && row->facts[j - 1].number > open->before_segment; j--)
        row->facts[j - 1].is_void = true;
    if (open->before_segment == 0) return true;
    u9i_facts *before = find_number(row, open->before_segment, k);
    if (before == NULL)
        return row->is_trimmed(row->ctx, open->before_segment) ||
               add_missing(row, open->before_segment, k);
    if (before->named) return true;
    before->named = true;
    before->at = open->end;
    before->tail = open->tail;
    return true;
}

/* True for a creation cut short: it is blank, and no other segment names it, nor the mark. [L-4] */
static bool cut_short(const u9i_row *row, const u9i_facts *f)
{
    const u9i_facts *end = row->facts + row->count;
    for (const u9i_facts *k = f + 1; f->blank && k < end; k++)
        if (k->has_open && k->open.before_segment == f->number) return false;
    return f->blank && !f->marked;
}

/* Two files with one boundary are one file twice: the one whose number is wrong is foreign. [L-4] */
static void find_twins(u9i_row *row)
{
    for (size_t i = 1; i < row->count; i++)
        for (size_t j = 0; j < i; j++) {
            u9i_facts *a = &row->facts[j], *b = &row->facts[i];
            if (memcmp(a->secret.boundary, b->secret.boundary, U9I_HASH_SIZE) != 0 ||
                cut_short(row, a) || cut_short(row, b))
                continue;
            if (a->has_open && a->open.segment == a->number) b->wrong = U9_R_FOREIGN;
            else if (b->has_open && b->open.segment == b->number) a->wrong = U9_R_FOREIGN;
            else b->wrong = U9_R_FOREIGN;
        }
}

/* A seal proves that the next segment's u9open was durable; behind the last one, that it is missing. */
static bool read_seals(u9i_row *row)
{
    const u9i_facts *sealed = NULL;
    for (size_t i = 0; i < row->count; i++) {
        u9i_facts *f = &row->facts[i];
        if (u9i_facts_skipped(f)) continue;
        f->sealed_before = sealed != NULL;
        sealed = f->has_end && f->end.kind == U9I_END_SEALING ? f : NULL;
    }
    return sealed == NULL || add_missing(row, sealed->number + 1, row->count); /* [L-4] */
}

/* True if the mark is not this log's: no u9open that can be read has its log id. */
static bool mark_is_foreign(const u9i_row *row)
{
    bool any = false;
    for (size_t i = 0; i < row->count; i++) {
        const u9i_facts *f = &row->facts[i];
        if (f->has_open && memcmp(f->open.log, row->mark->log, sizeof f->open.log) == 0) return false;
        any |= f->has_open;
    }
    return any;
}

/* Which segment the mark is about, by its boundary. A foreign mark, or one of a trimmed segment, promises nothing. [M-4] */
static void place_mark(u9i_row *row)
{
    u9i_facts *at = NULL;
    if (row->mark && mark_is_foreign(row)) row->mark = NULL;
    if (row->mark == NULL) return;
    for (size_t i = 0; i < row->count; i++) {
        u9i_facts *f = &row->facts[i];
        bool fits = memcmp(f->secret.boundary, row->mark->boundary, U9I_HASH_SIZE) == 0;
        if (fits && (at == NULL || f->number == row->mark->segment)) at = f;
    }
    if (at == NULL && row->count > 0 && row->mark->segment < row->facts[0].number &&
        row->is_trimmed(row->ctx, row->mark->segment))
        row->mark = NULL;
    if (at == NULL) return;
    at->marked = true;
    at->mark = row->mark->end;
}

/* The mark's segment is gone: the mark can tell what was in it, and in those that a seal says must follow. [M-4] */
static bool miss_marked(u9i_row *row)
{
    size_t before = 0;
    if (row->mark == NULL) return true;
    for (size_t i = 0; i < row->count; i++) {
        if (row->facts[i].marked) return true;
        before += row->facts[i].number <= row->mark->segment;
    }
    u9i_missing *last = row->missing_count ? &row->missing[row->missing_count - 1] : NULL;
    bool sealed = last && last->before == row->count && before == row->count;
    if (sealed) last->number = row->mark->segment;
    else if (last && last->number == row->mark->segment) return true; /* a later u9open says what it was */
    else if (!add_missing(row, row->mark->segment, before)) return false;
    row->missing[row->missing_count - 1].marked = true;
    return true;
}

bool u9i_row_link(u9i_row *row)
{
    if (!row->single) place_mark(row);
    if (row->count == 0) return miss_marked(row);
    row->facts[0].first = row->facts[0].number == 1;
    row->facts[row->count - 1].newest = true;
    if (row->single) return true;
    find_twins(row);
    for (size_t k = row->count; k > 0; k--)
        if (row->facts[k - 1].has_open) memcpy(row->log, row->facts[k - 1].open.log, 16);
    for (size_t k = row->count; k > 0; k--)
        if (row->facts[k - 1].has_open) prove_place(row, k - 1);
    for (size_t k = 0; k < row->count; k++)
        if (row->facts[k].has_open && !succeed(row, k)) return false;
    return read_seals(row) && miss_marked(row);
}
