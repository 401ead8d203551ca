/*
 * engine/read/versions.c: all records of one key, the oldest first. [K-2] [K-3]
 *
 * Indexes tell the frames, the newest one first; the places in these are kept, in order, and each is read once more to be
 * shown.
 * Where an index says nothing, the whole log is scanned instead.
 */
#include "engine/os/list.h"
#include "engine/read/cursor.h"
#include "engine/read/lookup.h"

#include <stdlib.h>
#include <string.h>

/* A place where a record of the key stands. */
typedef struct version_at {
    size_t segment; /* in the view */
    uint64_t at;
} version_at;

typedef struct versions {
    u9_log *log;
    const u9_key *key;
    u9_version_fn *each;
    void *ctx;
    version_at *places; /* the newest one first */
    size_t count, room;
    bool lossy, ended, any;
    int sys; /* of the last place that was read; 0: no call failed */
} versions;

static u9_err add_place(versions *v, size_t segment, uint64_t at)
{
    version_at *more = (version_at *)u9i_grow(v->places, v->count, &v->room, sizeof *more);
    if (more == NULL) return U9_NOMEM;
    v->places = more;
    v->places[v->count++] = (version_at){.segment = segment, .at = at};
    return U9_OK;
}

/* What a frame is gone through for. */
typedef struct places_in {
    versions *v;
    size_t segment;
    uint64_t base, below;
    u9_err err;
} places_in;

static bool add_if_wanted(void *ctx, const u9i_record *r, uint32_t at, uint32_t number)
{
    places_in *p = (places_in *)ctx;
    (void)number;
    if (p->base + at >= p->below) return true;
    if (u9i_lookup_same(p->v->key, r->key, r->key_size)) p->err = add_place(p->v, p->segment, p->base + at);
    return p->err != U9_OK;
}

/* All of this frame before `below`, by going through it once: where one is, there are often many. */
static u9_err add_places_of(versions *v, size_t segment, const u9i_frames *frames, const u9i_open_frame *f, uint64_t below)
{
    places_in p = {.v = v, .segment = segment, .base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT, .below = below};
    size_t first = v->count;
    u9_err err = u9i_open_frame_walk(frames, f, add_if_wanted, &p);
    for (size_t a = first, z = v->count; a + 1 < z; a++) { /* the newest one first */
        version_at moved = v->places[a];
        v->places[a] = v->places[--z];
        v->places[z] = moved;
    }
    return err == U9_OK ? p.err : err;
}

/* The places in segment i, by its index: a frame at a time. U9_CORRUPT: it says nothing. */
static u9_err find_places(versions *v, u9i_view *view, size_t i, u9_fault *fault)
{
    u9i_indexed *s = view->segments[i];
    uint64_t below = s->limit;
    u9_err err = u9i_view_index(v->log, view, i, fault);
    while (err == U9_OK) {
        const u9i_open_frame *f;
        u9i_open_frame *own;
        u9i_found found;
        err = u9i_index_find(&s->index, &s->frames, v->key, below, &f, &found, &own);
        if (err != U9_OK) break;
        err = f->kind == U9I_BODY_PART ? U9_CORRUPT : add_places_of(v, i, &s->frames, f, below);
        below = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
        u9i_found_free(&found);
        u9i_open_frame_free(own);
    }
    if (s->lost_before > 0) v->lossy = true;
    return err == U9_ABSENT && atomic_load(&s->state) == U9I_INDEXED ? U9_OK : err == U9_AGAIN || err == U9_NOMEM ? err : U9_CORRUPT;
}

static u9_err show_place(versions *v, const u9i_view *view, const version_at *place)
{
    const u9i_open_frame *f;
    u9i_open_frame *own;
    u9i_found found;
    u9i_indexed *s = view->segments[place->segment];
    v->sys = 0;
    u9_err err = u9i_frames_at(&s->frames, (place->at >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN, &f, &own, &v->sys);
    if (err != U9_OK) return err;
    err = u9i_open_frame_record(&s->frames, f, place->at, &found);
    if (err == U9_OK) {
        u9_record r = u9i_lookup_record(s->segment->facts.number, f, &found);
        v->any = true;
        v->ended = v->each(v->ctx, &r) != 0;
        if (u9i_open_frame_fell(&s->frames, f)) err = U9_CORRUPT;
        u9i_found_free(&found);
    }
    u9i_open_frame_free(own);
    return err;
}

/* By the indexes of a fresh view. U9_CORRUPT: nothing was told yet, and a scan is wanted. */
static u9_err by_index(versions *v, u9i_view *view, u9_fault *fault)
{
    u9i_key_entry e;
    u9_err err = U9_OK;
    bool ranged = u9i_lookup_entry(v->log, v->key, &e);
    if (view->catalog->untold > 0) return U9_CORRUPT;
    for (size_t i = view->count; i-- > 0 && err == U9_OK;) {
        bool excluded = ranged && u9i_lookup_excludes(view, i, &e) && !view->segments[i]->index.spec.hashed;
        if (excluded && view->segments[i]->lost_before > 0) v->lossy = true;
        if (!excluded) err = find_places(v, view, i, fault);
    }
    for (size_t n = v->count; n-- > 0 && err == U9_OK && !v->ended;) {
        err = show_place(v, view, &v->places[n]);
        if (err == U9_CORRUPT && v->any) err = U9_IO; /* it stood there a moment ago */
        if (err == U9_IO)
            (void)u9i_fault(fault, err, U9I_AT(.path = v->log->source.path, .sys = v->sys, .rule = "R-11"),
                            "a record that was found cannot be read");
    }
    return err;
}

/* By a scan: of all, or (`from` not 0) of the segments from that number on. */
static u9_err by_scan(versions *v, uint64_t from, u9_fault *fault)
{
    u9_cursor *c;
    u9_record r;
    u9_err err = u9_cursor_open(v->log, NULL, &c, fault);
    if (err != U9_OK) return err;
    size_t first = 0, count = c->reader.catalog->count;
    while (first < count && u9i_catalog_facts(c->reader.catalog, first)->number < from) first++;
    if (from > 0) u9i_cursor_segments(c, first, count - 1); /* none, if it has written nothing */
    while (!v->ended && (err = u9i_cursor_scan(c, &r)) == U9_OK) {
        if (r.segment < from || !u9i_lookup_same(v->key, r.key.data, r.key.size)) continue;
        v->any = true;
        v->ended = v->each(v->ctx, &r) != 0;
    }
    v->lossy |= c->lossy;
    return u9i_cursor_end(c, err, fault);
}

/* The handle's writer's own segments: by a scan, behind all that the view has. */
static u9_err by_both(versions *v, u9_fault *fault)
{
    u9i_view *view;
    u9_err err = u9i_lookup_sync(v->log, fault);
    if (err != U9_OK) return err;
    for (unsigned tries = 0; tries < 3; tries++) {
        err = u9i_view_take(v->log, true, &view, fault);
        if (err != U9_OK) return err;
        uint64_t from = view->written_from;
        bool continued = v->log->writing && v->log->writer.plan.goes_on && from == v->log->writer.plan.number;
        v->count = 0;
        err = continued ? U9_CORRUPT : by_index(v, view, fault);
        u9i_view_release(view);
        if (err == U9_AGAIN) continue;
        if (err == U9_CORRUPT) return by_scan(v, 0, fault);
        if (err == U9_OK && v->log->writing && !v->ended) err = by_scan(v, from, fault);
        return err;
    }
    return by_scan(v, 0, fault);
}

u9_err u9_log_versions(u9_log *log, const u9_key *key, u9_version_fn *each, void *ctx, u9_fault *fault)
{
    if (each == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    u9_err err = u9i_lookup_check(log, key, fault);
    if (err != U9_OK) return err;
    versions v = {.log = log, .key = key, .each = each, .ctx = ctx};
    err = by_both(&v, fault);
    free(v.places);
    const u9i_where *at = U9I_AT(.path = log->source.path);
    if (err == U9_NOMEM) return u9i_fault(fault, err, at, "out of memory");
    if (err != U9_OK || v.ended) return err;
    if (v.lossy) return u9i_fault(fault, U9_CORRUPT, at, "records were lost to damage, and may have had this key");
    return v.any ? U9_OK : u9i_fault(fault, U9_ABSENT, at, "no record has this key");
}
