/*
 * engine/log/catalog.c: see catalog.h. [L-1] to [L-4]
 */
#include "engine/log/catalog.h"

#include "engine/log/succession.h"
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
        assert(i == 0 || u9i_catalog_facts(c, i - 1)->number < f->number);
        assert(f->newest == (i + 1 == c->count));
    }
    for (size_t i = 0; i < c->missing_count; i++) assert(c->missing[i].before <= c->count);
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
        return u9i_fault(fault, sys == -ENOMEM ? U9_NOMEM : U9_IO, U9I_AT(.path = path, .sys = -sys),
                         "cannot open the log");
    s->path = strdup(path);
    if (s->path == NULL) {
        u9i_dir_close(s->dir);
        return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = path), "out of memory");
    }
    u9i_windows_init(&s->windows, env);
    pthread_mutex_init(&s->lock, NULL);
    return U9_OK;
}

void u9i_source_close(u9i_source *s)
{
    u9i_catalog_unref(s->current);
    u9i_windows_release(&s->windows);
    if (s->windows.forks == u9i_fork_generation()) pthread_mutex_destroy(&s->lock);
    u9i_dir_close(s->dir);
    free(s->path);
}

/* What holds of every source while its lock is held. */
static void source_check(const u9i_source *s)
{
    assert(s->dir != NULL && s->path != NULL);
    assert(s->current == NULL || atomic_load(&s->current->references) > 0);
}

const char *u9i_source_path(const u9i_source *s, const char *name, char *out, size_t size)
{
    if (s->dir->single[0]) snprintf(out, size, "%s", s->path);
    else snprintf(out, size, "%s/%s", s->path, name);
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
                       .at_most = site->at_most};
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

/* A catalog on its way. */
typedef struct load {
    u9i_source *source;
    const u9i_catalog *old; /* NULL, or what was known before */
    u9i_window *window;
    u9_fault *fault;
    u9i_row row;
    size_t room;
    u9i_mark mark;
    u9i_trim_record trim;
    bool trims_read;
    char kind[U9I_KIND_MAX + 1];
} load;

static int add_name(void *ctx, const char *name)
{
    load *l = ctx;
    uint64_t number = u9i_segment_number(name);
    if (number == 0 && !l->row.single) return 0;
    if (l->row.count == l->room) {
        size_t room = l->room ? l->room * 2 : 16;
        u9i_facts *more = realloc(l->row.facts, room * sizeof *more);
        if (more == NULL) return -ENOMEM;
        l->row.facts = more;
        l->room = room;
    }
    u9i_facts *f = &l->row.facts[l->row.count++];
    memset(f, 0, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    f->number = number;
    return 0;
}

static int by_number(const void *a, const void *b)
{
    const u9i_facts *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* A name that a listing gave twice, as one may while names change, is there once. */
static void drop_doubles(u9i_row *row)
{
    size_t n = row->count > 0;
    for (size_t i = 1; i < row->count; i++)
        if (row->facts[i].number != row->facts[n - 1].number) row->facts[n++] = row->facts[i];
    row->count = n;
}

/* Which files there are, and what they are from outside. */
static u9_err list_files(load *l)
{
    u9i_dir *dir = l->source->dir;
    l->row.count = 0;
    l->row.single = dir->single[0] != 0;
    int sys = l->row.single ? add_name(l, dir->single) : u9i_dir_list(dir, add_name, l);
    if (sys != 0)
        return u9i_fault(l->fault, sys == -ENOMEM ? U9_NOMEM : U9_IO,
                         U9I_AT(.path = l->source->path, .sys = -sys), "cannot list the directory");
    if (l->row.count > 1) qsort(l->row.facts, l->row.count, sizeof *l->row.facts, by_number);
    drop_doubles(&l->row);
    for (size_t i = 0; i < l->row.count; i++) {
        u9i_facts *f = &l->row.facts[i];
        f->newest = i + 1 == l->row.count;
        /* A name that is gone by now: opening it tells. */
        if (u9i_dir_stat(dir, f->name, &f->stamp) != 0) f->stamp = (u9i_stamp){.identity = {0, 0}};
    }
    return U9_OK;
}

static bool same_file(const u9i_stamp *a, const u9i_stamp *b)
{
    return a->identity[0] == b->identity[0] && a->identity[1] == b->identity[1] &&
           a->size == b->size && a->changed_us == b->changed_us &&
           (a->identity[0] != 0 || a->identity[1] != 0);
}

/* What was known of a file that is as it was; NULL: nothing. */
static u9i_segment *known(const u9i_catalog *old, const u9i_facts *f)
{
    size_t low = 0, high = old ? old->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u9i_catalog_facts(old, middle)->number < f->number) low = middle + 1;
        else high = middle;
    }
    if (old == NULL || low == old->count) return NULL;
    const u9i_facts *g = u9i_catalog_facts(old, low);
    bool same = g->number == f->number && strcmp(g->name, f->name) == 0 &&
                same_file(&g->stamp, &f->stamp);
    return same ? old->segments[low] : NULL;
}

/* True if two readings of the mark promise the same. */
static bool same_mark(const u9i_mark *a, const u9i_mark *b)
{
    const u9i_mark_record *x = u9i_mark_promise(a), *y = u9i_mark_promise(b);
    if (x == NULL || y == NULL) return x == y;
    return x->segment == y->segment && x->end.offset == y->end.offset &&
           x->end.ordinal == y->end.ordinal && memcmp(x->log, y->log, sizeof x->log) == 0 &&
           memcmp(x->boundary, y->boundary, sizeof x->boundary) == 0 &&
           memcmp(x->end.chain, y->end.chain, sizeof x->end.chain) == 0;
}

/* True if nothing changed since, and nothing was in doubt. */
static bool is_current(const load *l)
{
    if (l->old && !same_mark(&l->old->mark, &l->mark)) return false;
    if (l->old == NULL || l->old->count != l->row.count || l->old->missing_count > 0) return false;
    for (size_t i = 0; i < l->row.count; i++) {
        const u9i_segment *s = known(l->old, &l->row.facts[i]);
        if (s == NULL || (!s->facts.has_open && !s->facts.blank)) return false;
    }
    return true;
}

/* Copies of the secret of segment i in the u9opens of those behind it, and in the mark. NULL without memory. */
static u9i_spare *list_spares(const load *l, size_t i, size_t *count)
{
    u9i_spare *spares = NULL;
    *count = 0;
    for (size_t k = i + 1; k < l->row.count; k++) {
        const u9i_facts *f = &l->row.facts[k];
        if (!f->has_open || f->open.before_segment != l->row.facts[i].number) continue;
        u9i_spare *more = realloc(spares, (*count + 1) * sizeof *more);
        if (more == NULL) break;
        spares = more;
        spares[(*count)++] = (u9i_spare){f->open.before_boundary, f->open.before_secret};
    }
    const u9i_mark_record *mark = l->row.mark;
    if (mark == NULL || mark->segment != l->row.facts[i].number) return spares;
    u9i_spare *more = realloc(spares, (*count + 1) * sizeof *more);
    if (more == NULL) return spares;
    more[(*count)++] = (u9i_spare){mark->boundary, mark->secret};
    spares = more;
    return spares;
}

/* Keeps what is known of a file that is as it was, and says so. A damaged one depends on others: looked at again. */
static bool keep_facts(const load *l, u9i_facts *f)
{
    const u9i_segment *s = known(l->old, f);
    if (s == NULL || !s->facts.has_open || s->facts.header != U9_OK) return false;
    bool newest = f->newest;
    *f = s->facts;
    f->newest = newest;
    f->first = f->is_void = f->sealed_before = f->named = f->marked = false;
    memset(&f->at, 0, sizeof f->at);
    memset(&f->mark, 0, sizeof f->mark);
    f->tail = U9I_TAIL_NONE;
    f->wrong = U9_R_NONE;
    return true;
}

/* Probes one segment and turns failures into faults. */
static u9_err probe_file(load *l, size_t i)
{
    u9i_facts *f = &l->row.facts[i];
    u9i_dir *dir = l->source->dir;
    char path[4400];
    u9i_file *file;
    u9i_source_path(l->source, f->name, path, sizeof path);
    int sys = u9i_file_open(dir, f->name, U9I_OPEN_READ, &file);
    if (sys != 0)
        return u9i_fault(l->fault, U9_IO, U9I_AT(.path = path, .sys = -sys),
                         "cannot open the segment");
    size_t count;
    u9i_spare *spares = list_spares(l, i, &count);
    sys = u9i_file_size(file, &f->size);
    u9i_window_turn(l->window, file, NULL);
    u9_err err = sys ? U9_IO : u9i_probe(f, dir, l->window, spares, count, l->kind);
    if (sys == 0) sys = -l->window->sys;
    u9i_window_turn(l->window, NULL, NULL); /* before the file goes: it may be read ahead in */
    u9i_file_close(file);
    free(spares);
    if (err != U9_OK)
        return u9i_fault(l->fault, err, U9I_AT(.path = path, .sys = -sys), "cannot read the segment");
    if (f->header == U9_VERSION && !f->has_open)
        return u9i_fault(l->fault, U9_VERSION, U9I_AT_OFFSET(7, .path = path, .rule = "H-4"),
                         "the file is of a version of the format that this library does not read");
    return U9_OK;
}

/* Reads the u9trim records of one segment; keeps the one with the highest number. [C-5] */
static void read_trims(load *l, const u9i_facts *s)
{
    u9i_file *file;
    u9i_frame f;
    if (u9i_file_open(l->source->dir, s->name, U9I_OPEN_READ, &file) != 0) return;
    u9i_window_turn(l->window, file, &s->secret);
    for (uint64_t p = 0; u9i_window_find(l->window, p, s->size, &f) == U9_OK; p = f.end) {
        u9i_body body;
        u9i_trim_record trim;
        uint8_t scratch[U9I_BLOCK];
        size_t need;
        if (f.trailer.count == 0 &&
            u9i_body_open(&f, scratch, sizeof scratch, &need, &body) == U9_OK &&
            body.kind == U9I_BODY_TRIM &&
            u9i_trim_record_decode(body.bytes, body.size, &trim) == U9_OK &&
            trim.segment > l->trim.segment)
            l->trim = trim;
    }
    u9i_window_turn(l->window, NULL, NULL);
    u9i_file_close(file);
}

/* Looked for only where one is gone. */
static bool is_trimmed(void *ctx, uint64_t gone)
{
    load *l = ctx;
    if (!l->trims_read)
        for (size_t i = 0; i < l->row.count; i++) read_trims(l, &l->row.facts[i]);
    l->trims_read = true;
    return l->trim.segment > gone;
}

/* The row as it is now: everything about every segment. */
static u9_err load_row(load *l)
{
    u9_err err = l->row.count ? u9i_windows_lend(&l->source->windows, &l->window) : U9_OK;
    if (err != U9_OK)
        return u9i_fault(l->fault, err, U9I_AT(.path = l->source->path), "out of memory");
    l->row.is_trimmed = is_trimmed;
    l->row.ctx = l;
    l->row.mark = u9i_mark_promise(&l->mark);
    if (l->old) memcpy(l->kind, l->old->kind, sizeof l->kind);
    for (size_t i = l->row.count; i > 0 && err == U9_OK; i--) /* successors first: they hold spares */
        if (!keep_facts(l, &l->row.facts[i - 1])) err = probe_file(l, i - 1);
    if (err == U9_OK && !u9i_row_link(&l->row))
        err = u9i_fault(l->fault, U9_NOMEM, U9I_AT(.path = l->source->path), "out of memory");
    u9i_windows_return(&l->source->windows, l->window);
    l->window = NULL;
    return err;
}

/*
 * What a row of a log that is being written may show for a moment: files are listed and looked at one after
 * the other, while the writer makes the next one and seals. It counts if it is still there when everything
 * is read again.
 */
typedef struct doubts {
    uint64_t missing, last; /* how many segments, and the number of the last */
    uint64_t unopened;      /* segments that hold something, and no valid u9open */
    uint64_t due;           /* of these, those whose u9open is known to be durable */
} doubts;

static doubts doubts_of(const u9i_row *row)
{
    doubts d = {.missing = row->missing_count};
    if (d.missing > 0) d.last = row->missing[d.missing - 1].number;
    for (size_t i = 0; i < row->count; i++) {
        const u9i_facts *f = &row->facts[i];
        d.unopened += !f->has_open && !f->blank;
        d.due += !f->has_open && !f->blank && f->sealed_before;
    }
    return d;
}

static void drop_missing(load *l)
{
    free(l->row.missing);
    l->row.missing = NULL;
    l->row.missing_count = 0;
    l->trims_read = false;
    memset(&l->trim, 0, sizeof l->trim);
}

/* Loads until nothing is in doubt, or what is was seen twice. The names are listed. */
static u9_err load_surely(load *l)
{
    doubts before = {0};
    for (;;) {
        u9_err err = load_row(l);
        if (err != U9_OK) return err;
        doubts now = doubts_of(&l->row);
        if (now.missing + now.unopened == 0 || memcmp(&now, &before, sizeof now) == 0) return U9_OK;
        before = now;
        drop_missing(l);
        err = list_files(l);
        if (err != U9_OK) return err;
    }
}

/* A segment that stands as it stood keeps its object, and all that was judged of it. NULL without memory. */
static u9i_segment *segment_for(const load *l, const u9i_facts *f)
{
    u9i_segment *s = known(l->old, f);
    if (s && memcmp(&s->facts, f, sizeof *f) == 0) return u9i_segment_ref(s);
    return u9i_segment_new(l->source->dir, f);
}

static u9i_catalog *build_catalog(load *l)
{
    u9i_catalog *c = calloc(1, sizeof *c);
    if (c == NULL) return NULL;
    atomic_init(&c->references, 1);
    c->trim = l->trim;
    c->mark = l->mark;
    c->marks = l->row.mark != NULL;
    memcpy(c->log, l->row.log, sizeof c->log);
    memcpy(c->kind, l->kind, sizeof c->kind);
    c->missing = l->row.missing;
    c->missing_count = l->row.missing_count;
    l->row.missing = NULL;
    c->segments = calloc(l->row.count ? l->row.count : 1, sizeof *c->segments);
    while (c->segments && c->count < l->row.count &&
           (c->segments[c->count] = segment_for(l, &l->row.facts[c->count])) != NULL)
        c->count++;
    if (c->segments && c->count == l->row.count) {
        catalog_check(c);
        return c;
    }
    u9i_catalog_unref(c);
    return NULL;
}

static u9_err load_mark(load *l)
{
    int sys = u9i_mark_read(l->source->dir, &l->mark);
    if (sys == 0) return U9_OK;
    return u9i_fault(l->fault, U9_IO, U9I_AT(.path = l->source->path, .sys = -sys, .rule = "M-3"),
                     "cannot read the log's mark");
}

/* With the source's lock held. */
static u9_err bring_up_to_date(u9i_source *s, u9_fault *fault)
{
    load l = {.source = s, .old = s->current, .fault = fault};
    u9_err err = load_mark(&l); /* first: what it promises is there by then [M-3] */
    if (err == U9_OK) err = list_files(&l);
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
    free(l.row.facts);
    free(l.row.missing);
    return err;
}

u9_err u9i_source_catalog(u9i_source *s, u9i_catalog **out, u9_fault *fault)
{
    pthread_mutex_lock(&s->lock);
    u9_err err = bring_up_to_date(s, fault);
    if (err == U9_OK) {
        atomic_fetch_add(&s->current->references, 1);
        *out = s->current;
    }
    source_check(s);
    pthread_mutex_unlock(&s->lock);
    return err;
}
