/*
 * engine/log/resume.c: see resume.h. [R-4] [S-5] [W-3]
 */
#include "engine/log/resume.h"

#include "engine/read/reader.h"

#include <errno.h>
#include <string.h>

/* What has been told to the host, and what is sought. */
typedef struct search {
    u9i_catalog map;
    u9_damage_fn *on_damage;
    void *ctx;
    u9_fault *fault;
} search;

/* Syncs a segment and drops its cached pages: what is read next is what a power cut would leave. */
static u9_err settle(u9i_dir *dir, const char *path, const char *name, u9_fault *fault)
{
    u9i_file *file;
    int sys = u9i_file_open(dir, name, U9I_OPEN_WRITE, &file);
    if (sys != 0)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys),
                         "cannot open segment %s for writing", name);
    sys = u9i_file_sync_and_evict(file);
    u9i_file_close(file);
    if (sys == 0) return U9_OK;
    return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys),
                     "cannot sync segment %s before going on behind it", name);
}

static int keep_last(void *ctx, const char *name)
{
    char *last = ctx;
    if (u9i_segment_number(name) != 0 && strcmp(name, last) > 0) memcpy(last, name, 20);
    return 0;
}

/* Nothing is appended to a log that is not whole as a row of segments. [L-4] */
static u9_err refuse_broken(const search *f)
{
    const u9i_catalog *map = &f->map;
    if (map->missing_count > 0) {
        char name[20];
        u9i_segment_name(map->missing[0].number, name);
        return u9i_fault(f->fault, U9_CORRUPT, U9I_AT(.path = map->path, .rule = "L-4"),
                         "segment %s is missing: nothing is appended to a broken row", name);
    }
    for (size_t i = 0; i < map->count; i++) {
        const u9i_facts *s = &map->segments[i];
        char path[4400];
        u9i_catalog_path(map, s, path, sizeof path);
        if (s->wrong != U9_R_NONE && !s->is_void)
            return u9i_fault(f->fault, U9_CORRUPT, U9I_AT(.path = path, .rule = "L-4"),
                             "the segment belongs to another log or another place");
        if (!u9i_segment_skipped(s) && s->barren && !s->named)
            return u9i_fault(f->fault, U9_CORRUPT, U9I_AT_OFFSET(0, .path = path, .rule = "H-4"),
                             "the segment's header is damaged beyond help, or it is no segment");
    }
    return U9_OK;
}

/* Walks one segment to its end. `before` is where the log stood, NULL if that is not known. */
static u9_err walk_to_end(const search *f, const u9i_facts *s, const u9i_position *before, u9i_judge *w)
{
    char path[4400];
    u9i_catalog_path(&f->map, s, path, sizeof path);
    u9i_step step = U9I_STEP_FRAME;
    u9_err err = u9i_judge_begin(w, &f->map, s, before, before != NULL, f->fault);
    if (err != U9_OK) return err;
    while (err == U9_OK && step != U9I_STEP_END) {
        err = u9i_judge_step(w, &step);
        if (err != U9_OK || step != U9I_STEP_DAMAGE || f->on_damage == NULL) continue;
        u9_damage damage = u9i_damage(s, path, &w->site);
        f->on_damage(f->ctx, &damage);
    }
    if (err != U9_OK) (void)u9i_judge_fault(w, &f->map, err, f->fault);
    u9i_judge_release(w);
    return err;
}

/*
 * Where the log stands in front of segment i, whose own u9open does not say it: at the end of those
 * below it, from the nearest on that does. [L-2] *known is false if none does.
 */
static u9_err find_before(const search *f, size_t i, u9i_position *end, bool *known)
{
    const u9i_facts *all = f->map.segments;
    size_t j = i;
    *known = false;
    while (j > 0 && (j == i || u9i_segment_skipped(&all[j]) || !all[j].has_open)) j--;
    for (; j < i; j++) {
        if (u9i_segment_skipped(&all[j])) continue;
        if (all[j].named) {
            *end = all[j].at;
            *known = true;
            continue;
        }
        u9i_judge w;
        u9_err err = walk_to_end(f, &all[j], *known ? end : NULL, &w);
        if (err != U9_OK) return err;
        *end = w.end;
        *known = w.knows_ordinal;
    }
    return U9_OK;
}

static u9i_tail tail_of(const u9i_judge *w)
{
    switch (w->tail) {
    case U9_V_CLEAN: return U9I_TAIL_CLOSED;
    case U9_V_TORN: return U9I_TAIL_TORN;
    case U9_V_UNKNOWN: return U9I_TAIL_UNKNOWN;
    case U9_V_CORRUPT: break;
    }
    return U9I_TAIL_CORRUPT;
}

/* The session goes on in the closed segment `s`, or behind it in a new one. [S-5] */
static void take_closed(u9i_resume *r, const u9i_catalog *map, const u9i_facts *s, bool goes_on)
{
    r->end.offset = s->end_frame.end;
    r->end.ordinal = s->end_frame.trailer.ordinal;
    memcpy(r->end.chain, s->end_frame.sha, sizeof r->end.chain);
    r->tail = U9I_TAIL_CLOSED;
    r->time_us = s->end_frame.trailer.time_us;
    r->goes_on = goes_on;
    if (!goes_on) return;
    r->number = s->number;
    r->offset = s->size;
    r->previous = s->end_frame.offset;
    r->totals = s->end;
    memcpy(r->first_key, map->end_key[0], map->end_key_size[0]);
    r->totals.first_key = (u9i_span){.data = r->first_key, .size = map->end_key_size[0]};
    memcpy(r->last_key, map->end_key[1], map->end_key_size[1]);
    r->totals.last_key = (u9i_span){.data = r->last_key, .size = map->end_key_size[1]};
}

/* Looks at segment i, from the last one backwards. *found: it holds the end. */
static u9_err look_at(const search *f, u9i_resume *r, size_t i, uint64_t segment_size, bool *found)
{
    const u9i_facts *s = &f->map.segments[i];
    *found = false;
    if (u9i_segment_skipped(s)) return U9_OK;
    bool closed = s->has_end && s->end.kind == U9I_END_CLOSING && s->has_open;
    if (!closed) {
        u9i_judge w;
        u9i_position before;
        bool known = false;
        u9_err err = s->has_open ? U9_OK : find_before(f, i, &before, &known);
        if (err == U9_OK) err = walk_to_end(f, s, known ? &before : NULL, &w);
        if (err != U9_OK) return err;
        /* Nothing was promised, and nothing in it is served: void from now on. */
        if (!s->has_open && w.promise == 0 && w.frames == 0) return U9_OK;
        r->end = w.end;
        r->tail = tail_of(&w);
        r->time_us = w.time_us;
    } else {
        bool last = i + 1 == f->map.count;
        take_closed(r, &f->map, s, last && s->header == U9_OK && s->size < segment_size);
    }
    r->before_segment = s->number;
    r->before = s->secret;
    *found = true;
    return U9_OK;
}

static u9_err find_end(const search *f, u9i_resume *r, uint64_t segment_size)
{
    const u9i_catalog *map = &f->map;
    u9_err err = refuse_broken(f);
    if (err != U9_OK) return err;
    memset(r, 0, sizeof *r);
    r->number = map->count ? map->segments[map->count - 1].number + 1 : 1;
    memcpy(r->kind, map->kind, sizeof r->kind);
    memcpy(r->log, map->log, sizeof r->log);
    bool found = false;
    for (size_t i = map->count; i > 0 && !found && err == U9_OK; i--)
        err = look_at(f, r, i - 1, segment_size, &found);
    bool named = false; /* the log's id stands in some u9open */
    for (size_t i = 0; i < map->count; i++) named |= map->segments[i].has_open;
    if (err == U9_OK && !(found && named) && !u9i_random(map->dir->env, r->log, sizeof r->log))
        return u9i_fault(f->fault, U9_IO, U9I_AT(.path = map->path, .sys = errno),
                         "the system has no randomness");
    return err;
}

u9_err u9i_resume_find(u9i_resume *r, u9i_dir *dir, const char *path, uint64_t segment_size,
                       u9_damage_fn *on_damage, void *ctx, u9_fault *fault)
{
    char settled[20] = "";
    int sys = u9i_dir_list(dir, keep_last, settled);
    if (sys != 0)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys), "cannot list the directory");
    u9_err err = settled[0] ? settle(dir, path, settled, fault) : U9_OK;
    while (err == U9_OK) {
        search f = {.on_damage = on_damage, .ctx = ctx, .fault = fault};
        err = u9i_catalog_load(&f.map, dir, path, fault);
        if (err != U9_OK) break;
        err = find_end(&f, r, segment_size);
        u9i_catalog_release(&f.map);
        char name[20];
        u9i_segment_name(r->before_segment, name);
        if (err != U9_OK || r->before_segment == 0 || strcmp(name, settled) == 0) break;
        memcpy(settled, name, sizeof settled); /* the end is in an earlier one: once more */
        err = settle(dir, path, settled, fault);
        on_damage = NULL;
    }
    return err;
}
