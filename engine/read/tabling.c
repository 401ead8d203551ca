/*
 * engine/read/tabling.c: see tabling.h.
 */
#include "engine/read/tabling.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATIENCE = 256,      /* lookups that go by pages before anything is done about it */
    LOOK = 16,           /* so many more, between two looks at whether there is something to do */
    FRAMES_MAX = 16,     /* frames of records in order that a segment may have beside the others */
    REST_MAX = 4,        /* segments that are not in the table, before the next one is made; */
    REST_SHARE = 4,      /*   or one part in so many of what is in it */
    BUDGET_SHARE = 2     /* one part in so many of the memory for lookups is for a table */
};

#define NOWHERE UINT32_MAX

static void tabled_check(const u9i_tabled *t)
{
    assert(t->count > 0 && t->spec_count > 0 && t->spec_count <= t->count && t->kept != NULL);
    for (size_t i = 0; i < t->count; i++) assert(t->spec_of[i] < t->spec_count);
}

/* Tables */

static void release_tabled(u9i_tabled *t)
{
    if (t == NULL || atomic_fetch_sub(&t->references, 1) != 1) return;
    if (t->table.slots) u9i_budget_give(&t->kept->budget, t->bytes);
    u9i_table_close(&t->table);
    u9i_kept_release(t->kept);
    free(t->ids);
    free(t->spec_of);
    free(t->specs);
    free(t);
}

/* Its records mostly have entries of their own, and nothing was found that speaks against it. */
static bool is_fit(u9i_indexed *s)
{
    if (atomic_load_explicit(&s->state, memory_order_acquire) != U9I_INDEXED || atomic_load(&s->untabled)) return false;
    return s->index.records.entries > 0 && s->index.frames.entries <= FRAMES_MAX;
}

static uint32_t spec_number(u9i_tabled *t, const u9i_keyspec *spec)
{
    for (size_t i = 0; i < t->spec_count; i++)
        if (t->specs[i].width == spec->width && t->specs[i].hashed == spec->hashed &&
            (!spec->hashed || t->specs[i].seed == spec->seed))
            return (uint32_t)i;
    t->specs[t->spec_count] = *spec;
    return (uint32_t)t->spec_count++;
}

/* So many at most are put in, of frames of the usual size. */
static uint64_t entries_to_table(const u9i_index *x)
{
    enum { OF_FRAME = 1024 };
    uint64_t entries = x->records.entries + x->frames.entries * OF_FRAME;
    return entries < x->count ? entries : x->count;
}

/* Names the segments that are fit for it. */
static bool name_segments(u9i_tabled *t, const u9i_view *v, u9i_table_plan *plan)
{
    t->ids = (uint64_t *)calloc(v->count, sizeof *t->ids);
    t->spec_of = (uint32_t *)calloc(v->count, sizeof *t->spec_of);
    t->specs = (u9i_keyspec *)calloc(v->count, sizeof *t->specs);
    if (t->ids == NULL || t->spec_of == NULL || t->specs == NULL) return false;
    for (size_t i = 0; i < v->count; i++) {
        u9i_indexed *s = v->segments[i];
        uint64_t size = s->segment->facts.size;
        if (!is_fit(s)) continue;
        t->ids[t->count] = s->id;
        t->spec_of[t->count++] = spec_number(t, &s->index.spec);
        plan->entries += entries_to_table(&s->index);
        if (plan->segment_max < size) plan->segment_max = size;
        plan->seed ^= u9i_get_be(s->segment->facts.secret.boundary + 8, 8);
    }
    plan->segments = t->count;
    return t->count > 0;
}

/* An empty one for the segments of a view. NULL: there is no memory for it, or nothing to be put in. */
static u9i_tabled *new_tabled(u9i_tabling *x, const u9i_view *v, unsigned place_bits)
{
    u9i_table_plan plan = {.place_bits = place_bits};
    u9i_tabled *t = (u9i_tabled *)calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    atomic_init(&t->references, 1);
    t->kept = v->segments[0]->kept->whole;
    atomic_fetch_add(&t->kept->references, 1);
    bool fits = name_segments(t, v, &plan) && (t->bytes = u9i_table_bytes(&plan)) > 0 &&
                t->bytes <= t->kept->budget.limit / BUDGET_SHARE && u9i_budget_take_within(&t->kept->budget, t->bytes, 1);
    if (fits && !u9i_table_open(&t->table, &plan)) {
        u9i_budget_give(&t->kept->budget, t->bytes);
        fits = false;
    }
    if (fits) {
        tabled_check(t);
        return t;
    }
    x->refused = plan.entries;
    release_tabled(t);
    return NULL;
}

/* What is in the table of a view */

void u9i_tabled_free(u9i_tabled_view *t)
{
    for (u9i_tabled_view *older; t; t = older) {
        older = t->older;
        release_tabled(t->tabled);
        free(t->places);
        free(t->rest);
        free(t);
    }
}

/* Which of its segments are where in the view; both are in the order of the log. Returns how many are there. */
static size_t place_segments(u9i_tabled_view *tv, const u9i_view *v)
{
    const u9i_tabled *t = tv->tabled;
    size_t there = 0, i = 0;
    for (size_t n = 0; n < t->count; n++) {
        size_t j = i;
        while (t->ids[n] != 0 && j < v->count && v->segments[j]->id != t->ids[n]) j++;
        bool has = t->ids[n] != 0 && j < v->count;
        tv->places[n] = has ? (uint32_t)j : NOWHERE;
        if (!has) continue;
        for (; i < j; i++) tv->rest[tv->rest_count++] = (uint32_t)i;
        tv->lossy |= v->segments[i++]->lost_before > 0;
        there++;
    }
    for (; i < v->count; i++) tv->rest[tv->rest_count++] = (uint32_t)i;
    return there;
}

/* The view looks up by the table that is ready, from now on. The lock is held. */
static void attach(u9i_tabling *x, u9i_view *v)
{
    u9i_tabled_view *tv = (u9i_tabled_view *)calloc(1, sizeof *tv);
    if (tv == NULL) return;
    tv->places = (uint32_t *)malloc(x->ready->count * sizeof *tv->places);
    tv->rest = (uint32_t *)malloc((v->count + 1) * sizeof *tv->rest);
    if (tv->places && tv->rest) {
        tv->tabled = x->ready;
        atomic_fetch_add(&x->ready->references, 1);
        if (place_segments(tv, v) > 0) {
            tv->older = atomic_load(&v->tabled);
            atomic_store_explicit(&v->tabled, tv, memory_order_release);
            return;
        }
        release_tabled(x->ready); /* nobody needs it any more */
        x->ready = NULL;
    }
    u9i_tabled_free(tv);
}

void u9i_tabling_attach(u9i_tabling *x, u9i_view *v)
{
    pthread_mutex_lock(&x->lock);
    if (x->ready) attach(x, v);
    pthread_mutex_unlock(&x->lock);
}

/* Making one */

void u9i_tabling_open(u9i_tabling *x)
{
    memset(x, 0, sizeof *x);
    pthread_mutex_init(&x->lock, NULL);
    atomic_init(&x->asked, 0);
}

void u9i_tabling_close(u9i_tabling *x, bool forked)
{
    release_tabled(x->ready);
    release_tabled(x->making);
    x->ready = x->making = NULL;
    if (!forked) pthread_mutex_destroy(&x->lock);
}

static void begin_tabling(u9i_tabling *x, size_t segment)
{
    x->segment = segment;
    x->page = 0;
    x->told = 0;
    x->holds = false;
}

static void begin_table(u9i_tabling *x, const u9i_view *v, unsigned place_bits)
{
    release_tabled(x->making);
    x->making = new_tabled(x, v, place_bits);
    begin_tabling(x, 0);
}

/* Of what a view's segments have that are fit and not in its table there is so much that the next one is worth it. */
static bool wants_table(const u9i_tabling *x, const u9i_view *v)
{
    const u9i_tabled_view *tv = atomic_load(&v->tabled);
    uint64_t entries = 0, count = 0, all = 0;
    for (size_t n = 0, i; n < (tv ? tv->rest_count : v->count); n++) {
        i = tv ? tv->rest[n] : n;
        if (!is_fit(v->segments[i])) continue;
        entries += v->segments[i]->index.records.entries;
        count++;
    }
    all = entries + (tv ? tv->tabled->table.count : 0);
    if (count == 0 || (x->refused != 0 && all >= x->refused)) return false;
    return tv == NULL || count >= REST_MAX || entries > all / REST_SHARE;
}

static u9_err put_held(u9i_tabling *x)
{
    bool put = !x->holds || u9i_table_put(&x->making->table, &x->held, x->segment);
    x->holds = false;
    return put ? U9_OK : U9_LIMIT;
}

/* Of a key that has several records the last one goes in; and of a hash, though it may be of another key: see
 * u9i_tabled_mistakes. */
static u9_err table_entry(void *ctx, const u9i_key_entry *e)
{
    u9i_tabling *x = (u9i_tabling *)ctx;
    u9_err err = x->holds && u9i_key_same(&x->held, e) ? U9_OK : put_held(x);
    x->held = *e;
    x->holds = true;
    return err;
}

/* A frame with records in order: each goes in. */
typedef struct fenced_frame {
    u9i_tabling *tabling;
    u9i_indexed *segment;
    const u9i_key_entry *fence;
    uint64_t base; /* virtual offset of the frame */
    bool fits;     /* what was walked did go in */
    bool there;    /* the record that the entry leads to has its key [K-2] */
} fenced_frame;

static bool table_record(void *ctx, const u9i_record *r, uint32_t at, uint32_t number)
{
    fenced_frame *f = (fenced_frame *)ctx;
    u9i_key_entry e;
    (void)number;
    if (!u9i_keyspec_entry(&f->segment->index.spec, r->key, r->key_size, &e)) return false;
    e.at = f->base + at;
    if (e.at >= f->segment->limit) return true;
    if (e.at == f->fence->at && u9i_key_same(&e, f->fence)) f->there = true;
    f->fits = u9i_table_put(&f->tabling->making->table, &e, f->tabling->segment);
    return !f->fits;
}

typedef struct fenced_segment {
    u9i_tabling *tabling;
    u9i_indexed *segment;
} fenced_segment;

static u9_err table_frame(void *ctx, const u9i_key_entry *fence)
{
    const fenced_segment *fs = (const fenced_segment *)ctx;
    const u9i_open_frame *f;
    u9i_open_frame *own;
    int sys;
    fenced_frame walk = {.tabling = fs->tabling, .segment = fs->segment, .fence = fence, .fits = true,
                         .base = fence->at >> U9I_VIRTUAL_SHIFT << U9I_VIRTUAL_SHIFT};
    u9_err err = u9i_frames_fenced_at(&fs->segment->frames, (fence->at >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN, &f, &own, &sys);
    if (err != U9_OK) return err;
    err = f->kind == U9I_BODY_RECORDS ? u9i_open_frame_walk(&fs->segment->frames, f, table_record, &walk) : U9_CORRUPT;
    if (err == U9_OK && u9i_open_frame_fell(&fs->segment->frames, f)) err = U9_CORRUPT;
    u9i_open_frame_free(own);
    if (err != U9_OK) return err;
    return !walk.fits ? U9_LIMIT : walk.there ? U9_OK : U9_CORRUPT;
}

/* One page of a segment's index, and with the first one its frames. U9_END: that was the last one. */
static u9_err table_page(u9i_tabling *x, u9i_indexed *s)
{
    u9i_index *index = &s->index;
    fenced_segment fs = {.tabling = x, .segment = s};
    u9_err err = x->page == 0 ? u9i_index_each(index, U9I_INDEX_FRAMES, table_frame, &fs) : U9_OK;
    if (err == U9_OK) err = u9i_index_pass(index, U9I_INDEX_RECORDS, x->page, table_entry, x, &x->told);
    if (err == U9_OK && index->source && u9i_segment_broken(index->source)) err = U9_CORRUPT; /* it may have been zeros */
    if (err != U9_OK || ++x->page < index->records.page_count) return err;
    err = put_held(x);
    if (err == U9_OK && x->told != index->records.entries) err = U9_CORRUPT;
    return err == U9_OK ? U9_END : err;
}

/* The segment of the view that is taken in now. NULL: it went meanwhile. */
static u9i_indexed *segment_now(const u9i_tabling *x, const u9i_view *v)
{
    uint64_t id = x->making->ids[x->segment];
    for (size_t i = 0; id != 0 && i < v->count; i++)
        if (v->segments[i]->id == id) return v->segments[i];
    return NULL;
}

/* A segment is in, or left out. */
static void pass_segment(u9i_tabling *x, u9i_view *v, bool in)
{
    if (!in) x->making->ids[x->segment] = 0;
    begin_tabling(x, x->segment + 1);
    if (x->segment < x->making->count) return;
    tabled_check(x->making);
    release_tabled(x->ready);
    x->ready = x->making;
    x->making = NULL;
    attach(x, v);
}

static void table_some(u9i_tabling *x, u9i_view *v)
{
    u9i_indexed *s = segment_now(x, v);
    u9_err err = s ? table_page(x, s) : U9_ABSENT;
    u9i_table *t = &x->making->table;
    if (err == U9_LIMIT && t->wide && t->place_bits < U9I_TABLE_PLACE_BITS_MAX) {
        begin_table(x, v, U9I_TABLE_PLACE_BITS_MAX);
        return;
    }
    if (s && err != U9_OK && err != U9_END) atomic_store(&s->untabled, true);
    if (err != U9_OK) pass_segment(x, v, err == U9_END);
}

/* What there is to do for a view whose table none is being made of. */
static void look_at_view(u9i_tabling *x, u9i_view *v)
{
    const u9i_tabled_view *tv = atomic_load(&v->tabled);
    bool known = true;
    if (x->ready && (tv == NULL || tv->tabled != x->ready)) attach(x, v);
    if (wants_table(x, v)) {
        begin_table(x, v, U9I_TABLE_PLACE_BITS);
        return;
    }
    for (size_t i = 0; i < v->count; i++) known &= atomic_load(&v->segments[i]->state) != U9I_INDEXED_NOT_YET;
    if (known) atomic_store_explicit(&v->settled, true, memory_order_relaxed);
}

void u9i_tabling_go_on(u9i_tabling *x, u9i_view *v)
{
    if (atomic_load_explicit(&v->settled, memory_order_relaxed)) return;
    if (atomic_load_explicit(&x->asked, memory_order_relaxed) < PATIENCE) {
        atomic_fetch_add_explicit(&x->asked, 1, memory_order_relaxed);
        return;
    }
    if (pthread_mutex_trylock(&x->lock) != 0) return; /* somebody else is at it */
    if (x->making) table_some(x, v);
    else if (x->looks++ % LOOK == 0) look_at_view(x, v);
    pthread_mutex_unlock(&x->lock);
}

/* Looking up */

bool u9i_tabled_find(const u9i_tabled_view *tv, const u9_key *key, u9i_guess *guess)
{
    const u9i_tabled *t = tv->tabled;
    uint64_t best = 0;
    for (uint32_t n = 0; n < t->spec_count; n++) {
        u9i_key_entry e;
        if (!u9i_keyspec_entry(&t->specs[n], key->data, key->size, &e)) continue;
        uint64_t hash = u9i_table_hash(&t->table, &e), rank = guess->rank;
        while ((rank = u9i_table_find(&t->table, hash, rank)) > best) {
            size_t segment = u9i_table_segment(&t->table, rank);
            if (segment >= t->count || t->spec_of[segment] != n || tv->places[segment] == NOWHERE) continue;
            best = rank;
            break;
        }
    }
    if (best == 0) return false;
    *guess = (u9i_guess){.rank = best, .i = tv->places[u9i_table_segment(&t->table, best)], .at = u9i_table_at(&t->table, best)};
    return true;
}

bool u9i_tabled_mistakes(const u9i_tabled_view *tv, const u9i_guess *guess, const u9_key *key, const u9_key *other)
{
    u9i_key_entry sought, there;
    const u9i_tabled *t = tv->tabled;
    const u9i_keyspec *spec = &t->specs[t->spec_of[u9i_table_segment(&t->table, guess->rank)]];
    if (!u9i_keyspec_entry(spec, key->data, key->size, &sought) || !u9i_keyspec_entry(spec, other->data, other->size, &there))
        return false;
    if (u9i_key_same(&sought, &there)) return false; /* another key of the same hash: pages tell all of it */
    return u9i_table_alike(&t->table, u9i_table_hash(&t->table, &sought), u9i_table_hash(&t->table, &there));
}

void u9i_tabled_bring(const u9i_tabled_view *tv, const u9_key *key)
{
    u9i_key_entry e;
    const u9i_tabled *t = tv->tabled;
    for (size_t n = 0; n < t->spec_count; n++)
        if (u9i_keyspec_entry(&t->specs[n], key->data, key->size, &e)) u9i_table_bring(&t->table, u9i_table_hash(&t->table, &e));
}
