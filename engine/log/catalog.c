/*
 * engine/log/catalog.c: see catalog.h. [L-1] to [L-4]
 */
#include "engine/log/catalog.h"

#include "engine/log/row_looks.h"
#include "engine/os/list.h"
#include "engine/os/process.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void catalog_check(const u9i_catalog *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(c, i);
        assert(i == 0 || u9i_catalog_facts(c, i - 1)->number <= f->number);
    }
    for (size_t i = 0; i < c->missing_count; i++)
        assert(c->missing[i].before <= c->count &&
               (i == 0 || c->missing[i - 1].before <= c->missing[i].before));
    for (size_t i = 0; i < c->branch_count; i++)
        assert(c->branches[i].count > 0 && c->branches[i].first + c->branches[i].count <= c->piece_count);
    for (size_t i = 0; i < c->piece_count; i++) assert(c->pieces[i].segment < c->count);
}

void u9i_catalog_unref(u9i_catalog *c)
{
    if (c == NULL || atomic_fetch_sub(&c->references, 1) > 1) return;
    for (size_t i = 0; i < c->count; i++) u9i_segment_unref(c->segments[i]);
    free(c->segments);
    free(c->missing);
    free(c->branches);
    free(c->pieces);
    free(c);
}

u9_err u9i_source_open(u9i_source *s, u9i_env *env, const char *path, bool create, u9_fault *fault)
{
    memset(s, 0, sizeof *s);
    int sys = u9i_dir_open(env, path, create, &s->dir);
    if (sys == -EINVAL)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = path, .rule = "L-1"),
                         "not a log: neither a directory nor a regular file");
    if (sys != 0)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys),
                         "cannot open the log");
    s->path = strdup(path);
    if (s->path == NULL) {
        u9i_dir_close(s->dir);
        s->dir = NULL; /* nothing is open: whoever asked for it has nothing to close */
        return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = path), "out of memory");
    }
    u9i_windows_init(&s->windows, env);
    pthread_mutex_init(&s->lock, NULL);
    return U9_OK;
}

void u9i_source_accept(u9i_source *s)
{
    pthread_mutex_lock(&s->lock);
    s->accepts = true;
    u9i_catalog_unref(s->current);
    s->current = NULL;
    pthread_mutex_unlock(&s->lock);
}

void u9i_source_explain(u9i_source *s, const u9i_trim_record *trim)
{
    pthread_mutex_lock(&s->lock);
    s->explained = *trim;
    u9i_catalog_unref(s->current);
    s->current = NULL;
    pthread_mutex_unlock(&s->lock);
}

void u9i_source_close(u9i_source *s)
{
    u9i_catalog_unref(s->current);
    u9i_windows_release(&s->windows);
    if (s->windows.forks == u9i_fork_generation()) pthread_mutex_destroy(&s->lock);
    u9i_dir_close(s->dir);
    free(s->path);
}

void u9i_source_hold(u9i_source *s, u9i_held *held, u9i_segment *segment)
{
    u9i_segment *before = held->segment;
    if (before == segment) return;
    pthread_mutex_lock(&s->lock);
    u9i_held **from = &s->held;
    while (*from != NULL && *from != held) from = &(*from)->next;
    if (*from != NULL) *from = held->next;
    held->segment = segment ? u9i_segment_ref(segment) : NULL;
    held->next = s->held;
    if (segment != NULL) s->held = held;
    pthread_mutex_unlock(&s->lock);
    u9i_segment_unref(before);
}

u9i_segment *u9i_source_held(u9i_source *s, uint64_t number)
{
    pthread_mutex_lock(&s->lock);
    const u9i_held *held = s->held;
    while (held != NULL && held->segment->facts.number != number) held = held->next;
    u9i_segment *segment = held ? u9i_segment_ref(held->segment) : NULL;
    pthread_mutex_unlock(&s->lock);
    return segment;
}

/* What holds of every source while its lock is held. */
static void source_check(const u9i_source *s)
{
    assert(s->dir != NULL && s->path != NULL);
    assert(s->current == NULL || atomic_load(&s->current->references) > 0);
}

bool u9i_catalog_plain(const u9i_catalog *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(c, i);
        if (f->plain && f->wrong == U9_R_NONE) return true;
    }
    return false;
}

size_t u9i_catalog_first(const u9i_catalog *c)
{
    size_t i = 0;
    while (i < c->count && !u9i_facts_on_row(u9i_catalog_facts(c, i))) i++;
    return i;
}

uint64_t u9i_catalog_kept(const u9i_catalog *c, uint64_t number)
{
    size_t i = 0;
    while (i < c->count && (!u9i_facts_on_row(u9i_catalog_facts(c, i)) || u9i_catalog_facts(c, i)->number < number)) i++;
    return i < c->count && u9i_catalog_facts(c, i)->has_open ? u9i_catalog_facts(c, i)->open.end.ordinal : c->trim.ordinal;
}

bool u9i_catalog_begins_late(const u9i_catalog *c)
{
    size_t first = u9i_catalog_first(c);
    return c->missing_count == 1 && first < c->count && c->missing[0].before == first &&
           u9i_catalog_facts(c, first)->has_open && u9i_catalog_stand_in(c) == NULL;
}

const u9i_facts *u9i_catalog_stand_in(const u9i_catalog *c)
{
    const u9i_facts *found = NULL;
    size_t next = c->count, m = c->missing_count; /* the segment of the row above, and behind what is missing in front of it */
    for (size_t i = c->count; i > 0; i--) {
        const u9i_facts *f = u9i_catalog_facts(c, i - 1);
        if (u9i_facts_on_row(f)) next = i - 1;
        while (m > 0 && c->missing[m - 1].before > next) m--;
        bool missing = m > 0 && c->missing[m - 1].before == next;
        if (f->no_file && missing && f->in_name <= c->missing[m - 1].number) found = f;
    }
    return found;
}

u9_err u9i_source_refuse_stand_in(const u9i_source *s, const u9i_catalog *c, u9_fault *fault)
{
    char path[4400];
    const u9i_facts *f = u9i_catalog_stand_in(c);
    if (c->aside)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = s->path, .rule = "U-3"),
                         "a repair was broken off while it gave files other names: `u9fsck --repair -p` brings it to its end, "
                         "or --undo. Until then nothing is appended, and nothing given up");
    if (f == NULL) return U9_OK;
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = u9i_source_path(s, f->name, path, sizeof path), .rule = "L-4"),
                     "no file stands here, but a directory, a link to what is not there, or the like: put the segment back in "
                     "its place. Until then nothing is appended, and nothing given up");
}

const char *u9i_source_path(const u9i_source *s, const char *name, char *out, size_t size)
{
    if (s->dir->single[0]) snprintf(out, size, "%s", s->path);
    else if (!u9i_dir_where(s->dir, name, out, size)) snprintf(out, size, "%s/%s", s->path, name);
    return out;
}

u9_err u9i_source_fault(const u9i_source *s, const u9i_iterator *it, u9_err err, u9_fault *fault)
{
    char path[4400];
    const u9i_facts *f = &it->segment->facts;
    u9i_source_path(s, f->name, path, sizeof path);
    if (err != U9_IO) return u9i_fault(fault, err, U9I_AT(.path = path), "out of memory");
    return u9i_fault(fault, err, U9I_AT_OFFSET(it->window->sys_at, .path = path, .sys = it->window->sys,
                                               .segment = f->number, .rule = "R-11"),
                     "cannot read the segment");
}

u9_damage u9i_source_damage(const u9i_source *s, const u9i_facts *facts, const u9i_damage_site *site,
                            char *path, size_t size)
{
    return (u9_damage){.verdict = site->verdict, .reason = site->reason, .segment = facts->number,
                       .path = u9i_source_path(s, facts->name, path, size), .begin = site->begin,
                       .end = site->end, .ordinal = site->ordinal, .lost = site->lost,
                       .at_most = site->at_most, .mended = site->mended, .part = site->part, .part_at = site->part_at,
                       .part_lacks = site->part_lacks, .part_total = site->part_total};
}

u9_err u9i_source_iterate(u9i_source *s, u9i_segment *segment, const u9i_position *before,
                          bool knows_chain, u9i_iterator *out, u9_fault *fault)
{
    char path[4400];
    int sys = 0;
    u9_err err = u9i_iterator_open(out, segment, &s->windows, before, knows_chain, &sys);
    if (err == U9_OK) return err;
    u9i_source_path(s, segment->facts.name, path, sizeof path);
    return u9i_fault(fault, err, U9I_AT(.path = path, .sys = sys), "%s",
                     err == U9_IO ? "cannot open the segment" : "out of memory");
}

/* A copy of a segment's secret and its end, where they were found. [H-5] */
typedef struct spare {
    uint64_t number; /* of the segment that it is of, */
    uint64_t by;     /*   and of the one in which it is */
    u9i_spare copy;
} spare;

/* A catalog on its way. */
typedef struct load {
    u9i_source *source;
    const u9i_catalog *old; /* NULL, or what was known before */
    u9_fault *fault;
    u9i_row row;
    u9i_row_looks looks;
    size_t room;
    u9i_facts *last; /* of the load before this one, by name; NULL: there was none */
    size_t last_count;
    u9i_mark mark;
    u9i_live live;             /* as in the catalog */
    const u9i_segment **known; /* those of `old`, by name */
    spare *spares;             /* by number */
    spare **by_boundary;       /* the same */
    size_t spare_count;
    unsigned gone;             /* names that were listed, and are not any more */
    bool aside;                /* as in the catalog */
} load;

/* ".repair-7.0.name": what a repair calls a file between its old and its new name. [U-2] */
static bool is_aside(const char *name)
{
    size_t size = strlen(name);
    return strncmp(name, ".repair-", 8) == 0 && size > 13 && strcmp(name + size - 5, ".name") == 0;
}

static int add_name(void *ctx, const char *name)
{
    load *l = ctx;
    uint64_t number = 0;
    l->aside |= is_aside(name);
    if (!u9i_segment_named(name, &number) && !l->row.single) return 0;
    u9i_facts *more = u9i_grow(l->row.facts, l->row.count, &l->room, sizeof *more);
    if (more == NULL) return -ENOMEM;
    l->row.facts = more;
    u9i_facts *f = &l->row.facts[l->row.count++];
    memset(f, 0, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    f->number = f->in_name = number;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const u9i_facts *x = a, *y = b;
    return u9i_order(x->in_name, y->in_name);
}

/* A name that a listing gave twice, as one may while names change, is there once. */
static void drop_doubles(u9i_row *row)
{
    size_t n = row->count > 0;
    for (size_t i = 1; i < row->count; i++)
        if (row->facts[i].in_name != row->facts[n - 1].in_name) row->facts[n++] = row->facts[i];
    row->count = n;
}

/* Two looks at one file, unchanged. That of a file that was gone is all zeros. */
static bool same_file(const u9i_stamp *a, const u9i_stamp *b)
{
    static const u9i_stamp none;
    return memcmp(a, b, sizeof *a) == 0 && memcmp(a, &none, sizeof none) != 0;
}

/* What the load before this one knew under this name; NULL: nothing. */
static const u9i_facts *last_of(const load *l, const u9i_facts *f)
{
    return l->last_count ? bsearch(f, l->last, l->last_count, sizeof *f, by_name) : NULL;
}

/* What the load before this one sought in vain is not sought again in a file that is as it was. [Y-5] */
static void keep_vain(const load *l, u9i_facts *f)
{
    const u9i_facts *was = last_of(l, f);
    if (was && same_file(&was->stamp, &f->stamp)) memcpy(f->vain, was->vain, sizeof f->vain);
}

/* Which files there are, and what they are from outside. */
static u9_err list_files(load *l)
{
    u9i_dir *dir = l->source->dir;
    l->row.count = 0;
    l->row.single = dir->single[0] != 0;
    l->aside = false;
    int sys = l->row.single ? add_name(l, dir->single) : u9i_dir_list(dir, add_name, l);
    if (sys != 0)
        return u9i_fault(l->fault, U9_IO,
                         U9I_AT(.path = l->source->path, .sys = -sys), "cannot list the directory");
    if (l->row.count > 1) qsort(l->row.facts, l->row.count, sizeof *l->row.facts, by_name);
    drop_doubles(&l->row);
    for (size_t i = 0; i < l->row.count; i++) {
        u9i_facts *f = &l->row.facts[i];
        f->newest = i + 1 == l->row.count;
        f->mends_frames = l->source->mends_frames;
        /* A name that is gone by now: opening it tells. */
        if (u9i_dir_stat(dir, f->name, &f->stamp) != 0) memset(&f->stamp, 0, sizeof f->stamp);
        keep_vain(l, f);
    }
    return U9_OK;
}

static int by_known_name(const void *a, const void *b)
{
    return by_name(&(*(u9i_segment *const *)a)->facts, &(*(u9i_segment *const *)b)->facts);
}

/* The segments of the old catalog, by name. False: out of memory. */
static bool sort_known(load *l)
{
    size_t count = l->old ? l->old->count : 0;
    if (count == 0) return true;
    l->known = malloc(count * sizeof *l->known);
    if (l->known == NULL) return false;
    for (size_t i = 0; i < count; i++) l->known[i] = l->old->segments[i];
    qsort(l->known, count, sizeof *l->known, by_known_name);
    return true;
}

/*
 * Bytes may have come to a file that no look from outside tells: one that is written past the page cache changes when a write
 * begins, and its bytes do later. That they are there is posted. [M-10]
 */
static bool may_have_more(const load *l, const u9i_facts *f)
{
    return !f->named && memcmp(&l->old->live, &l->live, sizeof l->live) != 0;
}

/* What was known of a file that is as it was; NULL: nothing. */
static u9i_segment *known(const load *l, const u9i_facts *f)
{
    size_t low = 0, high = l->old ? l->old->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_name(&l->known[middle]->facts, f) < 0) low = middle + 1;
        else high = middle;
    }
    if (l->old == NULL || low == l->old->count) return NULL;
    const u9i_facts *g = &l->known[low]->facts;
    bool same = strcmp(g->name, f->name) == 0 && same_file(&g->stamp, &f->stamp) && !may_have_more(l, g);
    return same ? (u9i_segment *)(uintptr_t)l->known[low] : NULL;
}

/* True if nothing of a file depends on when it was looked at, and by what light. */
static bool is_settled(const u9i_facts *f)
{
    return f->unread == 0 && (f->stray || (f->has_open ? f->header == U9_OK : f->blank && f->is_void));
}

/* True if two readings of the mark promise the same. */
static bool same_mark(const u9i_mark *a, const u9i_mark *b)
{
    const u9i_mark_record *x = u9i_mark_promise(a), *y = u9i_mark_promise(b);
    if (x == NULL || y == NULL) return x == y;
    return memcmp(x, y, sizeof *x) == 0;
}

/* True if nothing changed since, and of nothing that is there it was in doubt what it is. */
static bool is_current(const load *l)
{
    if (l->old && !same_mark(&l->old->mark, &l->mark)) return false;
    if (l->old == NULL || l->old->count != l->row.count) return false;
    for (size_t i = 0; i < l->row.count; i++) {
        const u9i_segment *s = known(l, &l->row.facts[i]);
        bool may_stand_in = s && s->facts.no_file && l->old->missing_count > 0; /* where a file is to be there may be one by now */
        if (s == NULL || s->facts.unread || may_stand_in ||
            !(s->facts.has_open || s->facts.blank || s->facts.stray || s->facts.plain || s->facts.wrong == U9_R_NAME))
            return false;
    }
    return true;
}

/* The highest that names it first, the mark last. [L-2] [H-5] */
static int by_namer(const spare *x, const spare *y)
{
    return u9i_order(y->by, x->by);
}

static int by_spare_number(const void *a, const void *b)
{
    const spare *x = a, *y = b;
    int order = u9i_order(x->number, y->number);
    return order != 0 ? order : by_namer(x, y);
}

static int by_spare_boundary(const void *a, const void *b)
{
    const spare *x = *(spare *const *)a, *y = *(spare *const *)b;
    int order = memcmp(x->copy.boundary, y->copy.boundary, U9I_HASH_SIZE);
    return order != 0 ? order : by_namer(x, y);
}

/* Copies of secrets, from what u9opens and the mark say of others. False: out of memory. */
static bool list_spares(load *l)
{
    const u9i_mark_record *mark = l->row.mark;
    free(l->spares);
    free(l->by_boundary);
    l->spares = calloc(l->row.count + 1, sizeof *l->spares);
    l->by_boundary = calloc(l->row.count + 1, sizeof *l->by_boundary);
    l->spare_count = 0;
    if (l->spares == NULL || l->by_boundary == NULL) return false;
    if (mark) l->spares[l->spare_count++] = (spare){mark->segment, 0, {mark->boundary, mark->secret, &mark->end}};
    for (size_t i = 0; i < l->row.count; i++) {
        const u9i_open_record *open = &l->row.facts[i].open;
        if (!l->row.facts[i].has_open || open->before_segment == 0) continue;
        l->spares[l->spare_count++] = (spare){open->before_segment, open->segment,
                                              {open->before_boundary, open->before_secret, &open->end}};
    }
    qsort(l->spares, l->spare_count, sizeof *l->spares, by_spare_number);
    for (size_t i = 0; i < l->spare_count; i++) l->by_boundary[i] = &l->spares[i];
    qsort(l->by_boundary, l->spare_count, sizeof *l->by_boundary, by_spare_boundary);
    return true;
}

enum {
    SPARES_MAX = 8, /* that are tried on a file: more than one only in forks */
    GONE_LOOKS = 3  /* at names that are listed, and cannot be opened */
};

/* What the highest one that names this boundary says of it; NULL: nobody does. */
static const u9i_spare *spare_of(const load *l, const uint8_t boundary[U9I_HASH_SIZE])
{
    size_t low = 0, high = l->spare_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memcmp(l->by_boundary[middle]->copy.boundary, boundary, U9I_HASH_SIZE) < 0) low = middle + 1;
        else high = middle;
    }
    bool found = low < l->spare_count && memcmp(l->by_boundary[low]->copy.boundary, boundary, U9I_HASH_SIZE) == 0;
    return found ? &l->by_boundary[low]->copy : NULL;
}

/*
 * Those that may be of this file: by the boundary that stands in it, by its name's number, and, where frames are
 * mended, by the boundary of the secret that it has, for the end that is named.
 */
static size_t choose_spares(const load *l, const u9i_facts *f, u9i_spare *out)
{
    size_t n = 0, low = 0, high = l->spare_count;
    const u9i_spare *at_first = spare_of(l, f->at_first), *own = f->mends_frames ? spare_of(l, f->secret.boundary) : NULL;
    if (at_first) out[n++] = *at_first;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->spares[middle].number < f->in_name) low = middle + 1;
        else high = middle;
    }
    for (; low < l->spare_count && l->spares[low].number == f->in_name && n < SPARES_MAX - 1; low++)
        out[n++] = l->spares[low].copy;
    if (own && own != at_first) out[n++] = *own;
    return n;
}

/* Drops what other segments say. */
static void forget_others(u9i_facts *f)
{
    f->first = f->is_void = f->sealed_before = f->named = f->called = f->misnamed = f->marked = false;
    memset(&f->at, 0, sizeof f->at);
    memset(&f->mark, 0, sizeof f->mark);
    memset(&f->fork, 0, sizeof f->fork);
    f->tail = U9I_TAIL_NONE;
    f->wrong = U9_R_NONE;
}

/*
 * Keeps what is known of a file that is as it was, and says so. A damaged one depends on others: looked at again. What the
 * load before this one found is known, too: of a log that goes on as fast as it is looked at, only what is new is.
 */
static bool keep_facts(const load *l, u9i_facts *f)
{
    const u9i_segment *s = known(l, f);
    const u9i_facts *was = last_of(l, f);
    if (was == NULL || !same_file(&was->stamp, &f->stamp)) was = s ? &s->facts : NULL;
    if (was == NULL || !is_settled(was)) return false;
    bool newest = f->newest;
    *f = *was;
    f->newest = newest;
    forget_others(f);
    return true;
}

/* Opens the file of a segment. That it is no file, or gone, is told by `stray`. */
static u9_err open_listed(load *l, u9i_facts *f, u9i_file **out)
{
    char path[4400];
    int sys = u9i_file_open(l->source->dir, f->name, U9I_OPEN_READ, out);
    f->stray = f->no_file = u9i_no_file(sys) && !l->row.single;
    if (sys == 0 || f->stray) return U9_OK;
    return u9i_fault(l->fault, U9_IO,
                     U9I_AT(.path = u9i_source_path(l->source, f->name, path, sizeof path), .sys = -sys),
                     "cannot open the segment");
}

/* Probes one segment and turns failures into faults. */
static u9_err probe_file(load *l, u9i_facts *f, const u9i_spare *spares, size_t count)
{
    char path[4400];
    u9i_file *file;
    u9_err err = open_listed(l, f, &file);
    if (err != U9_OK || f->stray) return err;
    int sys = u9i_file_size(file, &f->size);
    u9i_window_turn(l->looks.window, file, NULL);
    err = sys ? U9_IO : u9i_probe(f, l->source->dir, l->looks.window, spares, count);
    if (sys == 0) sys = -l->looks.window->sys;
    u9i_window_turn(l->looks.window, NULL, NULL); /* before the file goes: it may be read ahead in */
    u9i_file_close(file);
    if (err == U9_OK) return err;
    u9i_source_path(l->source, f->name, path, sizeof path);
    return u9i_fault(l->fault, err, U9I_AT(.path = path, .sys = -sys), "cannot read the segment");
}

/* A file that opened nothing, once more, with what is known by now. */
static u9_err probe_anew(load *l, u9i_facts *f, bool mends, const u9i_spare *spares, size_t count)
{
    u9i_facts fresh = {.number = f->number, .in_name = f->in_name, .stamp = f->stamp, .newest = f->newest,
                       .mends = mends, .mends_frames = f->mends_frames, .vain = {f->vain[0], f->vain[1]}};
    memcpy(fresh.name, f->name, sizeof fresh.name);
    *f = fresh;
    return probe_file(l, f, spares, count);
}

/* By the copies of secrets that others have. [H-5] */
static u9_err probe_again(load *l, u9i_facts *f)
{
    u9i_spare spares[SPARES_MAX];
    size_t count = choose_spares(l, f, spares);
    return count ? probe_anew(l, f, f->mends, spares, count) : U9_OK;
}

/* Without a secret, where no copy of it is anywhere. [G-2] *more: one that was found so may have copies for others. */
static u9_err mend_all(load *l, bool *more)
{
    u9_err err = U9_OK;
    for (size_t i = l->row.count; i > 0 && err == U9_OK; i--) {
        u9i_facts *f = &l->row.facts[i - 1];
        bool lost = !f->has_open && !f->spared && !f->stray && (f->barren || f->wrong == U9_R_UNREADABLE);
        if (!lost || f->mends) continue;
        err = probe_anew(l, f, true, NULL, 0);
        *more |= f->has_open;
    }
    return err;
}

/* Of those that are no files (`f->no_file`), each whose name is still listed is no longer `gone`. */
static int keep_listed(void *ctx, const char *name)
{
    const load *l = ctx;
    u9i_facts sought = {.in_name = 0};
    if (!u9i_segment_named(name, &sought.in_name)) return 0;
    u9i_facts *f = l->row.count ? bsearch(&sought, l->row.facts, l->row.count, sizeof sought, by_name) : NULL;
    if (f) f->gone = false;
    return 0;
}

static bool find_gone(load *l)
{
    bool any = false;
    for (size_t i = 0; i < l->row.count; i++) any |= l->row.facts[i].gone = l->row.facts[i].no_file;
    return any;
}

/*
 * What went since it was listed, as what a writer makes goes again if there is no room for it, is as if it had not been
 * listed. What is listed and cannot be opened is looked at again: it may have come back.
 */
static u9_err drop_gone(load *l)
{
    u9_err err = U9_OK;
    for (unsigned looks = 0; looks < GONE_LOOKS && err == U9_OK && find_gone(l); looks++) {
        size_t kept = 0, count = l->row.count;
        int sys = u9i_dir_list(l->source->dir, keep_listed, l);
        if (sys != 0)
            return u9i_fault(l->fault, U9_IO, U9I_AT(.path = l->source->path, .sys = -sys), "cannot list the directory");
        for (size_t i = 0; i < count && err == U9_OK; i++) {
            u9i_facts *f = &l->row.facts[i];
            if (f->no_file && !f->gone) err = probe_file(l, f, NULL, 0);
            if (!f->gone) l->row.facts[kept++] = *f;
        }
        if (err != U9_OK) return err;
        l->gone += (unsigned)(count - kept);
        l->row.count = kept;
        if (kept == 0 || l->row.facts[kept - 1].newest) continue;
        l->row.facts[kept - 1].newest = true;
        err = probe_anew(l, &l->row.facts[kept - 1], false, NULL, 0);
    }
    return err;
}

/*
 * All files, one after the other, and those in need again: one that a copy opens has a copy for the one before it,
 * so the rounds go on as long as they bring something, and each goes from the highest name down.
 */
static u9_err probe_all(load *l)
{
    u9_err err = U9_OK;
    for (size_t i = l->row.count; i > 0 && err == U9_OK; i--) /* the last first: a writer may be about to leave it */
        if (!keep_facts(l, &l->row.facts[i - 1])) err = probe_file(l, &l->row.facts[i - 1], NULL, 0);
    if (err == U9_OK) err = drop_gone(l);
    for (bool more = true; more && err == U9_OK;) {
        more = false;
        if (!list_spares(l)) return u9i_fault(l->fault, U9_NOMEM, U9I_AT(.path = l->source->path), "out of memory");
        for (size_t i = l->row.count; i > 0 && err == U9_OK; i--) {
            u9i_facts *f = &l->row.facts[i - 1];
            bool had = f->has_open || f->spared;
            if (!had) err = probe_again(l, f);
            more |= !had && f->has_open;
        }
        if (err == U9_OK && !more && l->source->mends) err = mend_all(l, &more);
    }
    return err;
}

/* [H-4] */
static u9_err refuse_version(load *l)
{
    char path[4400];
    for (size_t i = 0; i < l->row.count; i++)
        if (l->row.facts[i].header == U9_VERSION && !l->row.facts[i].has_open &&
            l->row.facts[i].in_name < U9I_NUMBER_END) { /* the others are foreign [L-9] */
            u9i_source_path(l->source, l->row.facts[i].name, path, sizeof path);
            return u9i_fault(l->fault, U9_VERSION, U9I_AT_OFFSET(7, .path = path, .rule = "H-4"),
                             "the file is of a version of the format that this library does not read");
        }
    return U9_OK;
}

/* The row as it is now: everything about every segment. */
static u9_err load_row(load *l)
{
    bool lost;
    l->looks = (u9i_row_looks){.source = l->source, .row = &l->row, .fault = l->fault, .trim = l->source->explained};
    const u9i_row_eyes eyes = u9i_row_eyes_of(&l->looks);
    u9_err err = l->row.count ? u9i_windows_lend(&l->source->windows, &l->looks.window) : U9_OK;
    if (err != U9_OK)
        return u9i_fault(l->fault, err, U9I_AT(.path = l->source->path), "out of memory");
    l->row.eyes = &eyes;
    l->row.mark = u9i_mark_promise(&l->mark);
    l->row.doubtful = u9i_mark_bad_slots(&l->mark, &lost) > 0;
    l->row.accepts = l->source->accepts;
    err = probe_all(l);
    if (err == U9_OK) err = refuse_version(l);
    if (err == U9_OK && !u9i_row_link(&l->row) && !l->looks.failed)
        err = u9i_fault(l->fault, U9_NOMEM, U9I_AT(.path = l->source->path), "out of memory");
    if (err == U9_OK && !l->looks.failed) {
        u9i_row_note_trims(&l->looks);
        u9i_row_find_kind(&l->looks);
    }
    if (err == U9_OK) err = l->looks.failed;
    u9i_windows_return(&l->source->windows, l->looks.window);
    l->looks.window = NULL;
    return err;
}

/*
 * What a row of a log that is being written may show for a moment: files are listed and looked at one after
 * the other, while the writer makes the next one and seals. It counts if it is still there when everything
 * is read again.
 */
typedef struct doubts {
    uint64_t count;
    uint64_t which; /* a sum over what they are: another segment's is another doubt */
} doubts;

typedef enum doubt {
    DOUBT_MISSING = 1, /* a segment */
    DOUBT_UNOPENED,    /* a name of no valid u9open: what it holds is on its way; */
    DOUBT_DUE,         /*   which is known to be durable */
    DOUBT_GONE,        /* names that went since they were listed */
    DOUBT_OFF,         /* one off the row that holds something promised */
    DOUBT_OLDER,       /* the last one is sealed, and the next may be there by now */
    DOUBT_MARK,        /* the mark's was trimmed, and it may be about a later one by now */
    DOUBT_KINDS
} doubt;

static void add_doubt(doubts *d, doubt kind, uint64_t number)
{
    d->count++;
    d->which = (d->which ^ (number * DOUBT_KINDS + kind)) * UINT64_C(0x100000001b3);
}

static doubts doubts_of(const load *l)
{
    const u9i_row *row = &l->row;
    const u9i_mark_record *mark = u9i_mark_promise(&l->mark);
    doubts d = {.count = 0};
    for (size_t i = 0; i < row->missing_count; i++) add_doubt(&d, DOUBT_MISSING, row->missing[i].number);
    for (size_t i = 0; i < row->count; i++) {
        const u9i_facts *f = &row->facts[i];
        bool unopened = !f->has_open && !f->blank && !f->plain;
        if (unopened) add_doubt(&d, f->sealed_before ? DOUBT_DUE : DOUBT_UNOPENED, f->in_name);
        if (f->wrong == U9_R_FORK) add_doubt(&d, DOUBT_OFF, f->in_name);
    }
    if (l->gone) add_doubt(&d, DOUBT_GONE, l->gone);
    if (row->older) add_doubt(&d, DOUBT_OLDER, row->next);
    if (mark && row->mark == NULL && memcmp(mark->log, row->log, sizeof row->log) == 0) add_doubt(&d, DOUBT_MARK, mark->segment);
    return d;
}

enum { LOADS_MAX = 200 }; /* of a log that changes each time it is looked at, the last look counts */

static void drop_row(load *l)
{
    free(l->row.missing);
    free(l->row.branches);
    free(l->row.pieces);
    l->row.missing = NULL;
    l->row.branches = NULL;
    l->row.pieces = NULL;
    l->row.missing_count = l->row.missing_room = l->row.branch_count = l->row.piece_count = 0;
}

static u9_err load_mark(load *l)
{
    int sys = u9i_mark_read(l->source->dir, &l->mark);
    if (sys == 0) return U9_OK;
    return u9i_fault(l->fault, U9_IO, U9I_AT(.path = l->source->path, .sys = -sys, .rule = "M-3"),
                     "cannot read the log's mark");
}

/* The mark and, behind it, the names: what it promises is there by then. [M-3] */
static u9_err list_again(load *l)
{
    free(l->last);
    l->last = l->row.facts;
    l->last_count = l->row.count;
    if (l->last_count > 1) qsort(l->last, l->last_count, sizeof *l->last, by_name);
    l->row.facts = NULL;
    l->row.count = 0;
    l->room = 0;
    l->gone = 0;
    u9_err err = load_mark(l);
    return err == U9_OK ? list_files(l) : err;
}

/* Loads until nothing is in doubt, or what is was seen twice. The names are listed. A file that goes meanwhile is listed no
 * more the next time. */
static u9_err load_surely(load *l)
{
    doubts before = {0};
    for (unsigned loads = 1;; loads++) {
        u9_err err = load_row(l);
        bool vanished = err != U9_OK && l->looks.vanished;
        if ((err != U9_OK && !vanished) || loads == LOADS_MAX) return err;
        doubts now = vanished ? before : doubts_of(l);
        bool same = memcmp(&now, &before, sizeof now) == 0;
        if (!vanished && (same || now.count == 0)) return U9_OK;
        before = now;
        drop_row(l);
        err = list_again(l);
        if (err != U9_OK) return err;
    }
}

/*
 * A segment that stands as it stood keeps its object, and all that was judged of it; if others say something else of it
 * now, what was found valid in its file. NULL without memory.
 */
static u9i_segment *segment_for(const load *l, const u9i_facts *f)
{
    u9i_segment *s = known(l, f);
    if (s && u9i_facts_same(&s->facts, f)) return u9i_segment_ref(s);
    u9i_segment *made = u9i_segment_new(l->source->dir, f);
    if (made && s) u9i_segment_take_over(made, s);
    return made;
}

/* From where on the log is kept. What stands elsewhere is, whatever was trimmed here. [TR-6] */
static u9i_trim_record kept_from(const load *l)
{
    const u9i_dir *dir = l->source->dir;
    u9i_trim_record trim = l->looks.trim;
    if (dir->tiered_end == 0 || trim.segment <= dir->tiered_from) return trim;
    return dir->tiered_from == 1 ? (u9i_trim_record){0} : (u9i_trim_record){.segment = dir->tiered_from, .ordinal = dir->tiered_ordinal};
}

/* Where records may be lost of which no index tells. */
static void find_untold(u9i_catalog *c)
{
    c->untold = c->missing_count > 0 ? c->missing[c->missing_count - 1].before + 1 : 0;
    for (size_t i = 0; i < c->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(c, i);
        bool aside = f->fork.lost != 0 || f->wrong == U9_R_UNREADABLE || (f->wrong == U9_R_FOREIGN && !f->has_open); /* [L-4] [L-9] */
        if (aside && i + 2 > c->untold) c->untold = i + 2;
    }
}

static u9i_catalog *build_catalog(load *l)
{
    u9i_catalog *c = calloc(1, sizeof *c);
    if (c == NULL) return NULL;
    atomic_init(&c->references, 1);
    c->trim = kept_from(l);
    c->trim_marked = l->looks.trim_marked;
    c->mark = l->mark;
    c->live = l->live;
    c->marks = l->row.mark != NULL;
    c->older = l->row.older;
    c->aside = l->aside;
    memcpy(c->log, l->row.log, sizeof c->log);
    memcpy(c->kind, l->looks.kind, sizeof c->kind);
    c->like = l->looks.like;
    c->missing = l->row.missing;
    c->missing_count = l->row.missing_count;
    c->branches = l->row.branches;
    c->branch_count = l->row.branch_count;
    c->pieces = l->row.pieces;
    c->piece_count = l->row.piece_count;
    c->next = l->row.next;
    l->row.missing = NULL;
    l->row.branches = NULL;
    l->row.pieces = NULL;
    c->segments = calloc(l->row.count ? l->row.count : 1, sizeof *c->segments);
    while (c->segments && c->count < l->row.count &&
           (c->segments[c->count] = segment_for(l, &l->row.facts[c->count])) != NULL)
        c->count++;
    find_untold(c);
    if (c->segments && c->count == l->row.count) {
        catalog_check(c);
        return c;
    }
    u9i_catalog_unref(c);
    return NULL;
}

/* With the source's lock held. */
static u9_err bring_up_to_date(u9i_source *s, u9_fault *fault)
{
    load l = {.source = s, .old = s->current, .fault = fault};
    if (!s->dir->env->watch->look_us) (void)!u9i_live_read(s->dir, &l.live); /* before the files; where looks are requests, they tell it */
    u9_err err = load_mark(&l); /* first of what is read [M-3] */
    if (err == U9_OK)
        err = sort_known(&l) ? list_files(&l)
                             : u9i_fault(fault, U9_NOMEM, U9I_AT(.path = s->path), "out of memory");
    if (err == U9_OK && !is_current(&l)) {
        err = load_surely(&l);
        u9i_catalog *c = err == U9_OK ? build_catalog(&l) : NULL;
        if (err == U9_OK && c == NULL)
            err = u9i_fault(fault, U9_NOMEM, U9I_AT(.path = s->path), "out of memory");
        if (c) { /* in this order: a fork in between leaves the child one that is whole */
            u9i_catalog *old = s->current;
            s->current = c;
            u9i_catalog_unref(old);
        }
    }
    drop_row(&l);
    free(l.row.facts);
    free(l.last);
    free(l.known);
    free(l.spares);
    free(l.by_boundary);
    return err;
}

u9_err u9i_source_catalog(u9i_source *s, u9i_catalog **out, u9_fault *fault)
{
    u9_fault why; /* which may tell of a look that did not count */
    pthread_mutex_lock(&s->lock);
    u9_err err = bring_up_to_date(s, &why);
    if (err == U9_OK) {
        atomic_fetch_add(&s->current->references, 1);
        *out = s->current;
    } else if (fault) {
        *fault = why;
    }
    source_check(s);
    pthread_mutex_unlock(&s->lock);
    return err;
}
