/*
 * engine/read/view.c: see view.h.
 */
#include "engine/read/view.h"

#include "engine/read/beside.h"
#include "engine/read/cursor.h"
#include "engine/read/tabling.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { INDEX_MEMORY = 64 << 20, CACHE_MEMORY = 256 << 20, WATCHED_US = 1000000 };

enum { SEATS = 32, APART = 128 }; /* bytes: two lines of the processor's cache, which may come together */

typedef enum seat_state {
    SEAT_FREE,
    SEAT_TAKEN, /* `view` is who took it's */
    SEAT_STALE  /* the same, and it is let go of when the seat is freed: set under the lock */
} seat_state;

/* Where a thread sits that looks something up: see view.h. */
typedef struct u9i_seat {
    atomic_int state; /* a seat_state */
    u9i_view *view;   /* counted; NULL: none */
    uint8_t apart[APART - sizeof(atomic_int) - sizeof(void *)]; /* at least, from the next one */
} u9i_seat;

/* What the handle keeps for lookups. */
typedef struct u9i_lookups {
    pthread_mutex_t lock;    /* guards `view`; held by who makes the next one */
    _Atomic(u9i_view *) view;
    u9i_seat seats[SEATS];
    u9i_watch *watch;        /* tells what was done since it was last asked; NULL: nobody has asked, or there is none */
    bool watched;            /* it was tried to open it */
    u9i_indexed *written[2]; /* files of the handle's writer, of which only frames are kept; or NULL */
    u9i_kept *kept;          /* counted: a part */
    u9i_tabling tabling;     /* has its own lock, which is taken after this one */
} u9i_lookups;

/* Memory */

/* The whole (`whole` is NULL), or a part of it. */
static u9i_kept *make_kept(uint64_t limit, u9i_kept *whole)
{
    u9i_kept *k = (u9i_kept *)malloc(sizeof *k);
    if (k == NULL) return NULL;
    atomic_init(&k->references, 1);
    atomic_init(&k->ended, false);
    k->whole = whole;
    if (whole) {
        atomic_fetch_add(&whole->references, 1);
        u9i_budget_open_part(&k->budget, &whole->budget);
    } else {
        u9i_budget_open(&k->budget, limit);
    }
    return k;
}

/* A part of a new whole, which goes with the last of its parts. */
static u9i_kept *make_memory(uint64_t limit)
{
    u9i_kept *whole = make_kept(limit, NULL), *part = whole ? make_kept(0, whole) : NULL;
    u9i_kept_release(whole);
    return part;
}

void u9i_kept_release(u9i_kept *k)
{
    if (k == NULL || atomic_fetch_sub(&k->references, 1) != 1) return;
    u9i_budget_close(&k->budget);
    u9i_kept_release(k->whole); /* which is no part */
    free(k);
}

/* Segments */

static void free_indexed(u9i_indexed *s)
{
    u9i_index_close(&s->index);
    u9i_frames_close(&s->frames);
    u9i_segment_unref(s->segment);
    u9i_kept_release(s->kept);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void u9i_indexed_release(u9i_indexed *s)
{
    if (s && atomic_fetch_sub(&s->references, 1) == 1) free_indexed(s);
}

static u9i_indexed *new_indexed(u9i_segment *segment, uint64_t limit, u9i_kept *kept)
{
    static _Atomic(uint64_t) made;
    u9i_indexed *s = (u9i_indexed *)calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    s->id = atomic_fetch_add(&made, 1) + 1;
    atomic_init(&s->untabled, false);
    atomic_init(&s->references, 1);
    atomic_init(&s->state, U9I_INDEXED_NOT_YET);
    s->segment = u9i_segment_ref(segment);
    s->limit = limit;
    s->kept = kept;
    atomic_fetch_add(&kept->references, 1);
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

/* What stands where, of a plain seed file. */
static bool copy_firsts(u9i_frames *to, const u9i_frames *from)
{
    size_t bytes = from->firsts.count * sizeof *from->firsts.all;
    if (bytes == 0) return true;
    to->firsts.all = (u9i_first *)malloc(bytes);
    if (to->firsts.all == NULL) return false;
    memcpy(to->firsts.all, from->firsts.all, bytes);
    to->firsts.count = from->firsts.count;
    u9i_budget_add(to->budget, bytes);
    return true;
}

/* The same segment with its index, and none of its frames, which are of this part from now on. NULL: there is no memory. */
static u9i_indexed *without_frames(const u9i_indexed *s, u9i_kept *kept)
{
    int sys, state = atomic_load(&s->state);
    u9i_indexed *n = new_indexed(s->segment, s->limit, kept);
    const u9i_frames *f = &s->frames;
    if (n == NULL) return NULL;
    if (state == U9I_INDEXED) n->id = s->id;
    n->lost_before = s->lost_before;
    atomic_store(&n->untabled, atomic_load(&s->untabled));
    atomic_store(&n->state, state);
    if (f->segment == NULL) return n;
    if (state == U9I_INDEXED) u9i_index_share(&n->index, &s->index);
    if (u9i_frames_open(&n->frames, s->segment, f->windows, f->bound, &f->spec, f->keyed, &kept->budget, &sys) == U9_OK &&
        copy_firsts(&n->frames, f))
        return n;
    free_indexed(n);
    return NULL;
}

/* What is known of a segment, for a view whose frames are of this part. Who makes its index just now, goes on; counted. */
static u9i_indexed *take_over(u9i_indexed *s, u9i_kept *kept)
{
    u9i_indexed *n = NULL;
    if (s->kept != kept && pthread_mutex_trylock(&s->lock) == 0) {
        n = without_frames(s, kept);
        pthread_mutex_unlock(&s->lock);
    }
    if (n == NULL) atomic_fetch_add(&s->references, 1);
    return n ? n : s;
}

/* The view */

static void view_check(const u9i_view *v)
{
    for (size_t i = 0; i < v->count; i++) assert(v->segments[i] != NULL && v->segments[i]->limit > 0);
    assert(v->catalog != NULL && v->count <= v->catalog->count);
}

void u9i_view_release(u9i_view *v)
{
    if (v == NULL || atomic_fetch_sub(&v->references, 1) != 1) return;
    for (size_t i = 0; v->segments && i < v->count; i++) u9i_indexed_release(v->segments[i]);
    u9i_catalog_unref(v->catalog);
    u9i_tabled_free(atomic_load(&v->tabled));
    u9i_kept_release(v->kept);
    free(v->bins);
    free(v->segments);
    free(v->ranges);
    free(v->ranged);
    free(v);
}

/* Up to where records of the segment are not the writer's. 0: nowhere. */
static uint64_t limit_of(const u9_log *log, const u9i_facts *f, uint64_t written_from)
{
    if (!log->writing || f->number < written_from) return UINT64_MAX;
    const u9i_plan *p = &log->writer.plan;
    if (f->number > p->number || !p->goes_on || f->number > written_from) return 0;
    return p->end.offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
}

/* Nothing names the end of the segment in front of this one: what was lost there is told by who reads both. [L-4] */
static bool is_nameless(const u9i_facts *f)
{
    return !f->has_open && !f->plain && !f->first;
}

/* The segments of the run that is read for segment i are what they were when the view was made. */
static bool is_run_known(const u9i_view *before, const u9i_catalog *c, size_t i)
{
    for (size_t j = u9i_beside_run(c, i); j < i; j++) {
        size_t k = 0;
        while (k < before->catalog->count && before->catalog->segments[k] != c->segments[j]) k++;
        if (k == before->catalog->count) return false;
    }
    return true;
}

/* What the view before knew of a segment; NULL: nothing that counts. */
static u9i_indexed *known_before(const u9i_view *before, const u9i_segment *segment, uint64_t limit, u9i_kept *kept)
{
    for (size_t i = 0; i < before->count; i++) {
        u9i_indexed *s = before->segments[i];
        if (s->segment == segment && s->limit == limit) return take_over(s, kept);
    }
    return NULL;
}

/* Once all ranges are known. Segments without keys, and such as have hashes, are in no row. */
static void find_order(u9i_view *v)
{
    bool row = true;
    for (size_t i = 0; i < v->count; i++) {
        row &= !v->segments[i]->index.spec.hashed && !u9i_key_below(&v->ranges[i].high, &v->ranges[i].low);
        if (i > 0) row &= !u9i_key_below(&v->ranges[i].low, &v->ranges[i - 1].high);
    }
    if (row) v->bins = u9i_bins_make(v->ranges, v->count, sizeof v->ranges[0]);
    atomic_store(&v->order, row ? U9I_ORDER_ROW : U9I_ORDER_NONE);
}

static void set_range(u9i_view *v, size_t i)
{
    const u9i_index *x = &v->segments[i]->index;
    u9i_key_range *r = &v->ranges[i];
    if (x->frames.entries == 0 && x->records.entries == 0) {
        *r = (u9i_key_range){.low = {.hi = UINT64_MAX, .lo = UINT64_MAX}}; /* there is none */
    } else {
        bool frames = x->frames.entries > 0, records = x->records.entries > 0;
        r->low = frames ? x->frames.roots[0] : x->records.roots[0];
        r->high = frames ? x->frames.last : x->records.last;
        if (frames && records && u9i_key_below(&x->records.roots[0], &r->low)) r->low = x->records.roots[0];
        if (frames && records && u9i_key_below(&r->high, &x->records.last)) r->high = x->records.last;
    }
    if (v->segments[i]->lost_before > 0) atomic_store(&v->lossy, true);
    __atomic_store_n(&v->ranged[i], true, __ATOMIC_RELEASE);
    if (atomic_fetch_add(&v->ranged_count, 1) + 1 == v->count) find_order(v);
}

static u9_err fill_view(u9_log *log, u9i_view *v, const u9i_view *before, u9i_kept *kept)
{
    size_t room = v->catalog->count;
    v->kept = kept;
    atomic_fetch_add(&kept->references, 1);
    v->segments = (u9i_indexed **)calloc(room + 1, sizeof *v->segments);
    v->ranges = (u9i_key_range *)calloc(room + 1, sizeof *v->ranges);
    v->ranged = (bool *)calloc(room + 1, sizeof *v->ranged);
    if (v->segments == NULL || v->ranges == NULL || v->ranged == NULL) return U9_NOMEM;
    for (size_t i = 0; i < room; i++) {
        u9i_segment *segment = v->catalog->segments[i];
        uint64_t limit = limit_of(log, &segment->facts, v->written_from);
        if (!u9i_facts_on_row(&segment->facts) || limit == 0) continue;
        bool stands = before && (!is_nameless(&segment->facts) || is_run_known(before, v->catalog, i));
        u9i_indexed *s = stands ? known_before(before, segment, limit, kept) : NULL;
        if (s == NULL) s = new_indexed(segment, limit, kept);
        if (s == NULL) return U9_NOMEM;
        v->segments[v->count] = s;
        v->count++;
    }
    for (size_t i = 0; i < v->count; i++)
        if (atomic_load(&v->segments[i]->state) == U9I_INDEXED) set_range(v, i);
    view_check(v);
    return U9_OK;
}

/* Frames were too often not kept: the next view's begin anew. What the handle's writer wrote does at once. */
static void begin_anew_if_full(u9i_lookups *k)
{
    u9i_kept *next = u9i_budget_full(&k->kept->budget) ? make_kept(0, k->kept->whole) : NULL;
    if (next == NULL) return;
    for (unsigned i = 0; i < 2; i++) {
        u9i_indexed *s = k->written[i];
        if (s) k->written[i] = take_over(s, next);
        u9i_indexed_release(s);
    }
    atomic_store(&k->kept->ended, true);
    u9i_kept_release(k->kept);
    k->kept = next;
}

/* Nobody sits on a view that is not the handle's any more but who looks something up just now. The lock is held. */
static void clear_seat(u9i_seat *s)
{
    int state;
    do {
        state = SEAT_FREE;
        if (atomic_compare_exchange_strong(&s->state, &state, SEAT_TAKEN)) {
            u9i_view *v = s->view;
            s->view = NULL;
            atomic_store(&s->state, SEAT_FREE);
            u9i_view_release(v);
            return;
        }
    } while (state != SEAT_STALE && !atomic_compare_exchange_strong(&s->state, &state, SEAT_STALE));
}

/*
 * What the handle's own session changes of what stands in front of it: as it begins, and as soon as it is on the disk, there is a
 * u9open that says how that ends.
 */
static int session_stage(const u9_log *log)
{
    if (!log->writing || !u9i_writer_has_begun(&log->writer)) return 0;
    return u9i_writer_durable(&log->writer) > log->begins_at ? 2 : 1;
}

/* The next view, of the files as they are now, or (still so) the one before. */
static u9_err next_view(u9_log *log, u9i_lookups *k, u9_fault *fault)
{
    u9i_view *v = (u9i_view *)calloc(1, sizeof *v), *before = atomic_load(&k->view);
    if (v == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = log->source.path), "out of memory");
    atomic_init(&v->references, 1);
    v->checked_us = u9i_monotonic_us(log->source.dir->env);
    v->written_from = log->writing ? u9i_writer_keyed_from(&log->writer) : UINT64_MAX;
    atomic_init(&v->stage, session_stage(log)); /* before the files are looked at */
    u9_err err = u9i_source_catalog(&log->source, &v->catalog, fault);
    begin_anew_if_full(k);
    bool anew = before && before->kept != k->kept;
    if (err == U9_OK && before && before->catalog == v->catalog && before->written_from == v->written_from && !anew) {
        __atomic_store_n(&before->checked_us, v->checked_us, __ATOMIC_RELAXED);
        atomic_store(&before->stage, atomic_load(&v->stage));
        u9i_view_release(v);
        return U9_OK;
    }
    if (err == U9_OK) err = fill_view(log, v, before, k->kept);
    if (err == U9_NOMEM) err = u9i_fault(fault, err, U9I_AT(.path = log->source.path), "out of memory");
    if (err != U9_OK) {
        if (v->catalog) u9i_view_release(v);
        else free(v);
        return err;
    }
    u9i_tabling_attach(&k->tabling, v);
    atomic_store(&k->view, v);
    for (unsigned i = 0; i < SEATS; i++) clear_seat(&k->seats[i]);
    u9i_view_release(before);
    return U9_OK;
}

static u9i_lookups *lookups_of(u9_log *log)
{
    u9i_lookups *k = __atomic_load_n(&log->lookups, __ATOMIC_ACQUIRE);
    if (k) return k;
    k = (u9i_lookups *)calloc(1, sizeof *k);
    if (k == NULL) return NULL;
    k->kept = make_memory(log->options.cache_memory ? log->options.cache_memory : CACHE_MEMORY);
    if (k->kept == NULL) {
        free(k);
        return NULL;
    }
    pthread_mutex_init(&k->lock, NULL);
    u9i_tabling_open(&k->tabling);
    u9i_lookups *there = NULL;
    __atomic_store_n(&log->forget_lookups, u9i_view_forget, __ATOMIC_RELAXED); /* by whoever comes at the same time, too */
    if (__atomic_compare_exchange_n(&log->lookups, &there, k, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) return k;
    pthread_mutex_destroy(&k->lock);
    u9i_tabling_close(&k->tabling, false);
    u9i_kept_release(k->kept);
    free(k);
    return there;
}

/* It was seen not long ago that it is current, and what is written goes on where it did. */
static bool is_young(const u9_log *log, const u9i_view *v)
{
    if (v == NULL || atomic_load_explicit(&v->kept->ended, memory_order_relaxed) || u9i_budget_full(&v->kept->budget)) return false;
    if (log->writing) return v->written_from == u9i_writer_keyed_from(&log->writer) && atomic_load(&v->stage) == session_stage(log);
    return u9i_monotonic_us(log->source.dir->env) - __atomic_load_n(&v->checked_us, __ATOMIC_RELAXED) < U9I_VIEW_AGE_US;
}

/*
 * The files are as they were when the view was made: nothing was done there since. What no watch tells, as what another
 * machine does, is looked for when the view is older.
 */
static bool is_unchanged(const u9_log *log, u9i_lookups *k)
{
    u9i_dir *dir = log->source.dir;
    const u9i_view *v = atomic_load(&k->view);
    if (!k->watched) { /* before the view is made: what is done from here on is told */
        k->watched = true;
        if (u9i_watch_open(dir, NULL, true, &k->watch) != 0) k->watch = NULL;
        return false;
    }
    begin_anew_if_full(k);
    if (k->watch == NULL || v == NULL || log->writing || v->kept != k->kept) return false;
    uint64_t watched_us = dir->env->watch->look_us ? dir->env->watch->look_us : WATCHED_US;
    if (u9i_monotonic_us(dir->env) - __atomic_load_n(&v->checked_us, __ATOMIC_RELAXED) >= watched_us) return false;
    return u9i_watch_wait(k->watch, 0) == 0;
}

/*
 * Where a look at the files is a row of requests, and the watch tells what any machine does, no look is taken while it is
 * silent: a view that was looked at stays for so long.
 */
static bool may_stay(const u9_log *log, u9i_lookups *k)
{
    const u9i_view *v = atomic_load(&k->view);
    return is_young(log, v) || (v && log->source.dir->env->watch->look_us && is_unchanged(log, k));
}

u9_err u9i_view_take(u9_log *log, bool fresh, u9i_view **out, u9_fault *fault)
{
    u9i_lookups *k = lookups_of(log);
    if (k == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = log->source.path), "out of memory");
    pthread_mutex_lock(&k->lock);
    u9_err err = (fresh ? is_unchanged(log, k) : may_stay(log, k)) ? U9_OK : next_view(log, k, fault);
    if (err == U9_OK) {
        *out = atomic_load(&k->view);
        atomic_fetch_add(&(*out)->references, 1);
    }
    pthread_mutex_unlock(&k->lock);
    return err;
}

/* The calling thread's, or one that it has with others. */
static u9i_seat *seat_of(u9i_lookups *k)
{
    static atomic_uint threads;
    static _Thread_local unsigned mine; /* counted from 1 */
    if (mine == 0) mine = atomic_fetch_add(&threads, 1) % SEATS + 1;
    return &k->seats[mine - 1];
}

/* A seat that is taken gets the handle's view. */
static u9_err turn_seat(u9_log *log, u9i_lookups *k, u9i_seat *s, u9_fault *fault)
{
    u9i_view *before = NULL;
    pthread_mutex_lock(&k->lock);
    u9_err err = may_stay(log, k) ? U9_OK : next_view(log, k, fault);
    u9i_view *now = atomic_load(&k->view);
    if (err == U9_OK && s->view != now) {
        before = s->view;
        s->view = now;
        atomic_fetch_add(&now->references, 1);
    }
    if (err == U9_OK) atomic_store(&s->state, SEAT_TAKEN);
    pthread_mutex_unlock(&k->lock);
    u9i_view_release(before);
    return err;
}

u9_err u9i_view_sit(u9_log *log, u9i_seated *out, u9_fault *fault)
{
    u9i_lookups *k = lookups_of(log);
    u9i_seat *s = k ? seat_of(k) : NULL;
    int state = SEAT_FREE;
    *out = (u9i_seated){.view = NULL};
    if (s == NULL || !atomic_compare_exchange_strong_explicit(&s->state, &state, SEAT_TAKEN, memory_order_acquire, memory_order_relaxed))
        return u9i_view_take(log, false, &out->view, fault);
    out->seat = s;
    u9_err err = U9_OK;
    if (s->view != atomic_load_explicit(&k->view, memory_order_acquire) || !is_young(log, s->view)) err = turn_seat(log, k, s, fault);
    out->view = s->view;
    if (err != U9_OK) u9i_view_rise(out);
    return err;
}

void u9i_view_rise(const u9i_seated *seated)
{
    u9i_seat *s = seated->seat;
    int state = SEAT_TAKEN;
    u9i_view *v = seated->view;
    if (s && atomic_compare_exchange_strong_explicit(&s->state, &state, SEAT_FREE, memory_order_release, memory_order_relaxed)) return;
    if (s) {
        s->view = NULL;
        atomic_store(&s->state, SEAT_FREE);
    }
    u9i_view_release(v);
}

void u9i_view_go_on(u9_log *log, u9i_view *v)
{
    u9i_lookups *k = __atomic_load_n(&log->lookups, __ATOMIC_ACQUIRE); /* there, as the view is its */
    u9i_tabling_go_on(&k->tabling, v);
}

/* A file of the writer's, as a segment of which only frames are asked for. */
static u9_err open_written(u9_log *log, u9i_lookups *k, const u9i_written_spot *spot, u9i_indexed **out, int *sys)
{
    u9i_facts facts = {.number = spot->segment, .secret = spot->secret, .size = u9i_segment_size(&log->options)};
    u9i_segment_name(spot->segment, facts.name);
    u9i_segment *segment = u9i_segment_new(log->source.dir, &facts);
    u9i_indexed *s = segment ? new_indexed(segment, UINT64_MAX, k->kept) : NULL;
    if (segment) u9i_segment_unref(segment);
    if (s == NULL) return U9_NOMEM;
    u9_err err = u9i_frames_open(&s->frames, s->segment, &log->source.windows, U9_NOWHERE, &spot->spec, true, &k->kept->budget, sys);
    if (err == U9_OK) *out = s;
    else u9i_indexed_release(s);
    return err;
}

u9_err u9i_view_written(u9_log *log, const u9i_written_spot *spot, u9i_indexed **out, u9_fault *fault)
{
    u9i_lookups *k = lookups_of(log);
    u9_err err = k ? U9_OK : U9_NOMEM;
    int sys = 0;
    if (k) {
        pthread_mutex_lock(&k->lock);
        u9i_indexed **s = &k->written[spot->segment % 2];
        begin_anew_if_full(k);
        if (*s && (*s)->segment->facts.number != spot->segment) {
            u9i_indexed_release(*s);
            *s = NULL;
        }
        if (*s == NULL) err = open_written(log, k, spot, s, &sys);
        *out = *s;
        if (err == U9_OK) atomic_fetch_add(&(*s)->references, 1);
        pthread_mutex_unlock(&k->lock);
    }
    if (err == U9_OK) return err;
    return u9i_fault(fault, err, U9I_AT(.path = log->source.path, .segment = spot->segment, .sys = err == U9_IO ? sys : 0),
                     err == U9_IO ? "cannot open the segment" : "out of memory");
}

void u9i_view_forget(u9_log *log)
{
    u9i_lookups *k = log->lookups; /* who asks for this has seen it */
    for (unsigned i = 0; i < SEATS; i++) u9i_view_release(k->seats[i].view);
    u9i_view_release(atomic_load(&k->view));
    if (k->watch) u9i_watch_close(k->watch);
    for (unsigned i = 0; i < 2; i++) u9i_indexed_release(k->written[i]);
    if (!u9i_log_forked(log)) pthread_mutex_destroy(&k->lock);
    u9i_tabling_close(&k->tabling, u9i_log_forked(log));
    u9i_kept_release(k->kept);
    free(k);
    log->lookups = NULL;
}

/* Making an index */

/* One that is there: in the sealed file itself, or beside it. What the writer goes on in has none; a nameless one is read. */
static u9_err open_ready(u9_log *log, u9i_indexed *s)
{
    u9i_index_flaw flaw;
    if (s->limit != UINT64_MAX || s->segment->facts.plain || is_nameless(&s->segment->facts)) return U9_ABSENT;
    u9_err err = u9i_inside_open(log, s->segment, &s->kept->whole->budget, &s->index);
    if (err == U9_OK || err == U9_NOMEM) return err;
    err = u9i_beside_open(log, s->segment, &s->kept->whole->budget, &s->index, &s->lost_before, &flaw);
    if (err != U9_OK || s->lost_before == 0 || !log->options.mend) return err;
    u9i_index_close(&s->index); /* what was lost when it was made is perhaps mended now [Y-1] */
    s->lost_before = 0;
    return U9_ABSENT;
}

static size_t keys_memory(const u9_log *log)
{
    return log->options.index_memory ? (size_t)log->options.index_memory : INDEX_MEMORY;
}

/* What is gone through to make an index. */
typedef struct walked {
    u9i_keys keys;
    u9i_firsts firsts; /* of a plain seed file */
} walked;

/* Notes the frame of which this is the first record. */
static u9_err note_first(u9i_firsts *f, const u9_record *r)
{
    enum { ROOM = 64 }; /* it doubles */
    size_t n = f->count;
    if (n > 0 && f->all[n - 1].offset == r->frame) return U9_OK;
    if (n == 0 || (n >= ROOM && (n & (n - 1)) == 0)) {
        u9i_first *more = (u9i_first *)realloc(f->all, (n == 0 ? ROOM : n * 2) * sizeof *more);
        if (more == NULL) return U9_NOMEM;
        f->all = more;
    }
    f->all[f->count++] = (u9i_first){.offset = r->frame, .ordinal = r->ordinal};
    return U9_OK;
}

/* Adds the records behind the one that the cursor has shown, in its frame, without showing them. */
static void collect_rest(u9_cursor *c, const u9i_indexed *s, u9i_keys *keys)
{
    const u9i_body *body = &c->reader.body;
    u9i_record r;
    while (c->left > 0 && u9i_body_next_again(body, &c->next, &c->left, &r) == U9_OK) {
        uint64_t at = c->common.at | (uint64_t)(r.bytes - body->bytes);
        c->ordinal++;
        if (r.key_size > 0 && at < s->limit && !u9i_keys_add_next(keys, r.key, r.key_size, at))
            u9i_keys_add(keys, r.key, r.key_size, at, false);
    }
}

/* Adds each record of the segment that the cursor shows. */
static u9_err collect_keys(u9_cursor *c, u9i_indexed *s, walked *w)
{
    u9_record r;
    u9_err err;
    uint64_t number = s->segment->facts.number;
    s->lost_before = 0;
    while ((err = u9i_cursor_scan(c, &r)) == U9_OK && !w->keys.partial) {
        bool in_parts = c->reader.large > 0 || c->reader.body.bytes == c->reader.parts.bytes;
        if (c->lossy && r.segment == number) s->lost_before = r.at;
        c->lossy = false;
        if (r.segment != number || r.at >= s->limit) continue;
        if (r.key.size > 0) u9i_keys_add(&w->keys, r.key.data, r.key.size, r.at, in_parts);
        if (!in_parts) collect_rest(c, s, &w->keys);
        if (s->segment->facts.plain && note_first(&w->firsts, &r) != U9_OK)
            return u9i_fault(&c->fault, U9_NOMEM, U9I_AT(.path = c->log->source.path), "out of memory");
    }
    if (c->lossy) s->lost_before = UINT64_MAX;
    return err;
}

static u9_err walk_segment(u9_log *log, u9i_indexed *s, const u9i_keyspec *spec, walked *w, u9_fault *fault)
{
    u9_cursor *c;
    u9_err err = u9_cursor_open(log, NULL, &c, fault);
    if (err != U9_OK) return err;
    const u9i_catalog *catalog = c->reader.catalog;
    size_t i = 0;
    while (i < catalog->count && catalog->segments[i] != s->segment) i++;
    if (i == catalog->count) err = U9_AGAIN;
    else if (!u9i_keys_open(&w->keys, spec, keys_memory(log))) err = u9i_fault(&c->fault, U9_NOMEM, U9I_AT(.path = log->source.path), "out of memory");
    w->firsts.count = 0;
    if (err == U9_OK) {
        u9i_cursor_segments(c, u9i_beside_run(catalog, i), i);
        err = collect_keys(c, s, w);
    }
    return u9i_cursor_end(c, err, fault);
}

/* The keys of a segment that this handle's writer went through when it was opened. False: it has to be read. */
static bool keys_by_outline(const u9_log *log, const u9i_indexed *s, const u9i_keyspec *spec, u9i_keys *keys)
{
    bool fits = s->limit == UINT64_MAX && spec->width == 16 && !spec->hashed && !is_nameless(&s->segment->facts);
    u9i_outline *o = fits ? u9i_segment_outline(s->segment) : NULL;
    bool whole = o && u9i_keys_open(keys, spec, keys_memory(log));
    for (size_t i = 0; whole && i < o->count; i++) {
        const u9i_outline_frame *at = &o->frames[i];
        u9i_key_entry first = {.hi = at->first.hi, .lo = at->first.lo, .at = at->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT};
        u9i_key_entry last = {.hi = at->last.hi, .lo = at->last.lo, .at = first.at};
        whole = u9i_keys_add_frame(keys, &first, &last, at->count) && !keys->partial;
    }
    u9i_outline_unref(o);
    if (!whole) u9i_keys_close(keys);
    return whole;
}

/* One made by reading the segment. U9_ABSENT: its keys do not fit the memory for them. */
static u9_err make_by_walk(u9_log *log, u9i_indexed *s, const char *kind, u9i_firsts *firsts, u9_fault *fault)
{
    walked w = {.keys = {.count = 0}};
    uint64_t seed = u9i_get_be(s->segment->facts.secret.boundary, 8); /* nobody who draws keys can foresee it */
    u9i_keyspec spec = u9i_keyspec_of(kind, seed);
    u9_err err = keys_by_outline(log, s, &spec, &w.keys) ? U9_OK : walk_segment(log, s, &spec, &w, fault);
    if (err == U9_OK && w.keys.partial && !spec.hashed) { /* perhaps for keys that are none of the kind */
        u9i_keys_close(&w.keys);
        spec = (u9i_keyspec){.width = 8, .hashed = true, .seed = seed};
        err = walk_segment(log, s, &spec, &w, fault);
    }
    if (err == U9_OK && w.keys.partial) err = U9_ABSENT;
    if (err == U9_OK) u9i_keys_sort(&w.keys);
    if (err == U9_OK && u9i_index_make(&s->index, &w.keys, &s->kept->whole->budget) != U9_OK)
        err = u9i_fault(fault, U9_NOMEM, U9I_AT(.path = log->source.path), "out of memory");
    u9i_keys_close(&w.keys);
    *firsts = w.firsts;
    return err;
}

/* Records are mostly found by the frames in which they stand. */
static bool is_in_order(const u9i_index *x)
{
    enum { FEW = 16 };
    return x->frames.entries > FEW || (x->frames.entries > 0 && x->records.entries == 0);
}

static u9_err make_index(u9_log *log, u9i_view *v, u9i_indexed *s, u9_fault *fault)
{
    int sys;
    u9i_firsts firsts = {.count = 0};
    const u9i_facts *f = &s->segment->facts;
    u9_err err = open_ready(log, s);
    if (err == U9_NOMEM) return u9i_fault(fault, err, U9I_AT(.path = log->source.path), "out of memory");
    if (err != U9_OK) err = make_by_walk(log, s, u9i_kind_in(log, v->catalog), &firsts, fault);
    if (err != U9_OK) {
        free(firsts.all);
        return err;
    }
    uint64_t bound = f->named ? f->at.offset : U9_NOWHERE;
    err = u9i_frames_open(&s->frames, s->segment, &log->source.windows, bound, &s->index.spec,
                          is_in_order(&s->index), &s->kept->budget, &sys);
    if (err == U9_OK) {
        s->index.home = &s->frames;
        s->frames.firsts = firsts;
        u9i_budget_add(&s->kept->budget, firsts.count * sizeof *firsts.all);
        return err;
    }
    free(firsts.all);
    u9i_index_close(&s->index);
    if (err == U9_IO && u9i_no_file(-sys)) return U9_AGAIN; /* it was trimmed just now: a fresh view tells */
    return u9i_fault(fault, err, U9I_AT(.path = log->source.path, .segment = f->number, .sys = err == U9_IO ? sys : 0),
                     "cannot open the segment");
}

u9_err u9i_view_index(u9_log *log, u9i_view *v, size_t i, u9_fault *fault)
{
    u9i_indexed *s = v->segments[i];
    u9_err err = U9_OK;
    int state = atomic_load_explicit(&s->state, memory_order_acquire);
    if (state == U9I_INDEXED && __atomic_load_n(&v->ranged[i], __ATOMIC_RELAXED)) return U9_OK;
    if (state == U9I_INDEXED_NOT) return U9_ABSENT;
    pthread_mutex_lock(&s->lock);
    if (atomic_load(&s->state) == U9I_INDEXED_NOT_YET) {
        err = make_index(log, v, s, fault);
        if (err == U9_OK) atomic_store_explicit(&s->state, U9I_INDEXED, memory_order_release);
        else if (err == U9_ABSENT) atomic_store(&s->state, U9I_INDEXED_NOT);
    }
    if (err == U9_OK && !__atomic_load_n(&v->ranged[i], __ATOMIC_RELAXED)) set_range(v, i);
    pthread_mutex_unlock(&s->lock);
    return err;
}
