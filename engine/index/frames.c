/*
 * engine/index/frames.c: see frames.h.
 */
#include "engine/index/frames.h"

#include "engine/os/process.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP = 1024,       /* bytes of a body for which one record is remembered */
    LOAD_NUM = 5,      /* a table has 5 slots for 3 records */
    LOAD_DEN = 3,
    SMALL_BODY = 65535, /* bytes: places in it fit 16 bits */
    USUAL = U9I_FRAME_TARGET + U9I_BLOCK /* bytes of a frame, as a rule */
};

/* One frame */

/* Opens the body of a frame whose bytes go with a window: into memory of its own. */
static u9_err own_body(u9i_loaded *l)
{
    size_t need = 0, size = l->frame.body_size;
    u9i_body body;
    u9_err err = u9i_body_open(&l->frame, NULL, 0, &need, &body);
    if (err == U9_AGAIN) size = need;
    else if (err != U9_OK) return err;
    l->own = (uint8_t *)malloc(size + 1);
    if (l->own == NULL) return U9_NOMEM;
    if (err == U9_AGAIN) return u9i_body_open(&l->frame, l->own, need, &need, &l->body);
    memcpy(l->own, body.bytes, body.size);
    l->body = body;
    l->body.bytes = l->own;
    return U9_OK;
}

static u9_err load_by_window(u9i_segment *s, u9i_window *w, u9i_file *file, uint64_t offset, uint64_t bound,
                             u9i_loaded *out, int *sys)
{
    u9i_window_turn(w, file, &s->facts.secret);
    w->plain = s->facts.plain;
    w->until = offset; /* no more is read than the frame */
    u9_err err = u9i_window_at(w, offset, bound, &out->frame);
    *sys = w->sys;
    return err == U9_OK ? own_body(out) : err;
}

/* The frame where the file is mapped: its body stands there, if it is not wrapped. */
static u9_err load_by_map(u9i_segment *s, const uint8_t *bytes, uint64_t size, uint64_t offset, uint64_t bound, u9i_loaded *out)
{
    bool known = u9i_segment_is_verified(s, offset);
    u9i_proof proof = {.trust = known ? U9I_TRUST_FRAME : U9I_TRUST_NOTHING, .plain = s->facts.plain};
    if (bound > size) bound = size;
    if (offset % U9I_ALIGN != 0 || offset >= bound) return U9_CORRUPT;
    if (!known) u9i_segment_fetch(s, offset, bound - offset < USUAL ? bound - offset : USUAL);
    u9_err err = u9i_frame_verify(&s->facts.secret, offset, bound, bytes + offset, (size_t)(bound - offset), &proof, &out->frame);
    if (err != U9_OK) return U9_CORRUPT;
    if (!known && !u9i_segment_broken(s)) u9i_segment_set_verified(s, offset);
    size_t need = 0;
    err = u9i_body_open(&out->frame, NULL, 0, &need, &out->body);
    if (err != U9_AGAIN) return err;
    out->own = (uint8_t *)malloc(need + 1);
    return out->own ? u9i_body_open(&out->frame, out->own, need, &need, &out->body) : U9_NOMEM;
}

u9_err u9i_load(u9i_segment *s, u9i_windows *windows, uint64_t offset, uint64_t bound, u9i_loaded *out, int *sys)
{
    u9i_window *w;
    u9i_file *file;
    uint64_t size;
    memset(out, 0, sizeof *out);
    const uint8_t *bytes = u9i_segment_map(s, &size);
    if (bytes) {
        u9_err found = load_by_map(s, bytes, size, offset, bound, out);
        if (found == U9_OK && !u9i_segment_broken(s)) return found;
        u9i_unload(out);
        if (!u9i_segment_broken(s)) return found;
        memset(out, 0, sizeof *out); /* read calls tell what is there */
    }
    *sys = -u9i_segment_open(s, &file);
    if (*sys != 0) return U9_IO;
    u9_err err = u9i_windows_lend(windows, &w);
    if (err == U9_OK) {
        err = load_by_window(s, w, file, offset, bound, out, sys);
        u9i_windows_return(windows, w);
    }
    u9i_segment_close(s);
    if (err != U9_OK) u9i_unload(out);
    return err;
}

void u9i_unload(u9i_loaded *l)
{
    free(l->own);
    l->own = NULL;
}

/* Open frames */

void u9i_open_frame_free(u9i_open_frame *f)
{
    if (f == NULL) return;
    u9i_unload(&f->loaded);
    free(f->steps);
    free(f->slots);
    free(f);
}

static uint64_t mix(const u9i_key_entry *e)
{
    uint64_t h = (e->hi ^ (e->lo * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 32;
}

static uint32_t table_place(uint64_t hash, uint32_t count)
{
    return (uint32_t)((uint64_t)(uint32_t)hash * count >> 32);
}

static bool is_small(const u9i_open_frame *f)
{
    return f->loaded.body.size < SMALL_BODY;
}

/* What a slot holds: 0, or the place of a record and one more below, and of its key's hash above. */
static uint64_t slot_value(const u9i_open_frame *f, uint64_t hash, uint64_t at)
{
    return is_small(f) ? (uint64_t)(uint16_t)(hash >> 48) << 16 | (at + 1) : (hash >> 32) << 32 | (at + 1);
}

static uint64_t slot_get(const u9i_open_frame *f, uint32_t i)
{
    return is_small(f) ? ((const uint32_t *)f->slots)[i] : ((const uint64_t *)f->slots)[i];
}

static void slot_put(u9i_open_frame *f, uint32_t i, uint64_t value)
{
    if (is_small(f)) ((uint32_t *)f->slots)[i] = (uint32_t)value;
    else ((uint64_t *)f->slots)[i] = value;
}

/* Of several records of one key the last one comes first. */
static void put_in_table(u9i_open_frame *f, const u9i_keyspec *spec, uint32_t at)
{
    const uint8_t *next = f->loaded.body.bytes + at;
    size_t left = f->loaded.body.size - at;
    u9i_record r;
    u9i_key_entry e;
    if (u9i_body_next(&f->loaded.body, &next, &left, &r) != U9_OK || !u9i_keyspec_entry(spec, r.key, r.key_size, &e)) return;
    uint64_t hash = mix(&e);
    uint32_t i = table_place(hash, f->slot_count);
    while (slot_get(f, i) != 0) i = i + 1 == f->slot_count ? 0 : i + 1;
    slot_put(f, i, slot_value(f, hash, at));
}

/* Walks the records: false if they are not what the trailer says. */
static bool walk_records(u9i_open_frame *f, uint32_t *places)
{
    const u9i_body *b = &f->loaded.body;
    const uint8_t *next = b->bytes;
    size_t left = b->size;
    u9i_record r;
    uint32_t n = 0, step = 0;
    for (; n < f->count && u9i_body_next(b, &next, &left, &r) == U9_OK; n++) {
        uint32_t at = (uint32_t)(r.bytes - b->bytes);
        if (places) places[n] = at;
        for (; step < f->step_count && (uint64_t)step * STEP <= at; step++)
            f->steps[step] = (u9i_step_at){.at = at, .number = n};
    }
    for (; step < f->step_count; step++) f->steps[step] = (u9i_step_at){.at = (uint32_t)b->size, .number = n};
    return n == f->count && left == 0;
}

static u9_err fill_tables(u9i_open_frame *f, const u9i_keyspec *spec, bool tabled)
{
    size_t size = f->loaded.body.size, slot = size < SMALL_BODY ? sizeof(uint32_t) : sizeof(uint64_t);
    f->step_count = (uint32_t)(size / STEP + 1);
    f->slot_count = tabled ? (uint32_t)((uint64_t)f->count * LOAD_NUM / LOAD_DEN + 1) : 0;
    f->steps = (u9i_step_at *)malloc(f->step_count * sizeof *f->steps);
    f->slots = tabled ? calloc(f->slot_count, slot) : NULL;
    uint32_t *places = tabled ? (uint32_t *)malloc(f->count * sizeof *places) : NULL;
    bool there = f->steps && (!tabled || (f->slots && places));
    u9_err err = !there ? U9_NOMEM : walk_records(f, places) ? U9_OK : U9_CORRUPT;
    for (uint32_t n = f->count; err == U9_OK && tabled && n > 0; n--) put_in_table(f, spec, places[n - 1]);
    free(places);
    f->bytes = sizeof *f + f->step_count * sizeof *f->steps + f->slot_count * slot + (f->loaded.own ? size : 0);
    return err;
}

static u9_err open_frame(u9i_frames *fs, uint64_t offset, u9i_open_frame **out, int *sys)
{
    u9i_open_frame *f = (u9i_open_frame *)calloc(1, sizeof *f);
    if (f == NULL) return U9_NOMEM;
    u9_err err = u9i_load(fs->segment, fs->windows, offset, fs->bound, &f->loaded, sys);
    f->offset = offset;
    f->ordinal = f->loaded.frame.trailer.ordinal;
    f->time_us = f->loaded.frame.trailer.time_us;
    f->count = f->loaded.frame.trailer.count;
    if (err == U9_OK && f->count == 0) err = U9_CORRUPT; /* nothing that an index leads to */
    if (err == U9_OK && f->loaded.body.kind == U9I_BODY_RECORDS) err = fill_tables(f, &fs->spec, fs->tabled);
    else if (err == U9_OK && f->loaded.body.kind != U9I_BODY_PART) err = U9_CORRUPT;
    if (err == U9_OK) *out = f;
    else u9i_open_frame_free(f);
    return err;
}

bool u9i_open_frame_record(const u9i_open_frame *f, uint64_t at, u9i_found *out)
{
    const u9i_body *b = &f->loaded.body;
    uint64_t place = at & ((UINT64_C(1) << U9I_VIRTUAL_SHIFT) - 1);
    if (f->steps == NULL || place >= b->size) return false;
    u9i_step_at from = f->steps[place / STEP];
    if (from.at > place) { /* the last one that begins in the KiB before */
        if (place < STEP) return false;
        from = f->steps[place / STEP - 1];
    }
    const uint8_t *next = b->bytes + from.at;
    size_t left = b->size - from.at;
    for (;; from.number++) {
        if (u9i_body_next(b, &next, &left, &out->record) != U9_OK) return false;
        uint64_t begin = (uint64_t)(out->record.bytes - b->bytes);
        if (begin > place) return false;
        if (begin < place) continue;
        out->at = at;
        out->number = from.number;
        return true;
    }
}

static bool has_key(const u9i_record *r, const u9_key *key)
{
    return r->key_size > 0 && r->key_size == key->size && memcmp(r->key, key->data, key->size) == 0;
}

/* By going through all of it. */
static bool find_by_walk(const u9i_open_frame *f, const u9_key *key, uint64_t below, u9i_found *out)
{
    const u9i_body *b = &f->loaded.body;
    const uint8_t *next = b->bytes;
    size_t left = b->size;
    u9i_record r;
    bool found = false;
    uint64_t base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    for (uint32_t n = 0; n < f->count && u9i_body_next(b, &next, &left, &r) == U9_OK; n++) {
        uint64_t at = base + (uint64_t)(r.bytes - b->bytes);
        if (at >= below) break;
        if (!has_key(&r, key)) continue;
        *out = (u9i_found){.record = r, .at = at, .number = n};
        found = true;
    }
    return found;
}

bool u9i_open_frame_find(const u9i_frames *fs, const u9i_open_frame *f, const u9_key *key, uint64_t below, u9i_found *out)
{
    u9i_key_entry e;
    uint64_t base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    if (f->loaded.body.kind != U9I_BODY_RECORDS || below <= base) return false;
    if (f->slot_count == 0) return find_by_walk(f, key, below, out);
    if (!u9i_keyspec_entry(&fs->spec, key->data, key->size, &e)) return false;
    uint64_t hash = mix(&e), wanted = slot_value(f, hash, 0) - 1, mask = is_small(f) ? 0xffff : 0xffffffff;
    for (uint32_t i = table_place(hash, f->slot_count);; i = i + 1 == f->slot_count ? 0 : i + 1) {
        uint64_t value = slot_get(f, i);
        if (value == 0) return false;
        uint64_t at = (value & mask) - 1;
        if ((value & ~mask) != wanted || base + at >= below) continue;
        if (u9i_open_frame_record(f, base + at, out) && has_key(&out->record, key)) return true;
    }
}

/* Frames that are kept */

static void frames_check(const u9i_frames *fs)
{
    assert(fs->kept_room > 0 && (fs->kept_room & (fs->kept_room - 1)) == 0 && fs->segment != NULL);
}

u9_err u9i_frames_open(u9i_frames *fs, u9i_segment *segment, u9i_windows *windows, uint64_t bound, const u9i_keyspec *spec,
                       bool tabled, u9i_budget *budget, int *sys)
{
    u9i_file *file;
    *fs = (u9i_frames){.windows = windows, .bound = bound, .spec = *spec, .tabled = tabled && !spec->hashed,
                       .budget = budget, .kept_room = 64};
    uint64_t size = segment->facts.size < bound ? segment->facts.size : bound;
    while (fs->kept_room < size / U9I_BLOCK * 2) fs->kept_room *= 2;
    *sys = -u9i_segment_open(segment, &file);
    if (*sys != 0) return U9_IO;
    fs->kept = (u9i_open_frame **)u9i_pages(fs->kept_room * sizeof(u9i_open_frame *));
    if (fs->kept == NULL) {
        u9i_segment_close(segment);
        return U9_NOMEM;
    }
    fs->segment = u9i_segment_ref(segment);
    frames_check(fs);
    return U9_OK;
}

static void unkeep(u9i_frames *fs, uint64_t bytes)
{
    (void)__atomic_sub_fetch(&fs->kept_count, 1, __ATOMIC_RELAXED);
    (void)__atomic_sub_fetch(&fs->budget->used, bytes, __ATOMIC_RELAXED);
}

void u9i_frames_close(u9i_frames *fs)
{
    if (fs->segment == NULL) return;
    for (size_t i = 0; i < fs->kept_room && fs->kept_count > 0; i++) {
        if (fs->kept[i] == NULL) continue;
        uint64_t bytes = fs->kept[i]->bytes;
        u9i_open_frame_free(fs->kept[i]);
        unkeep(fs, bytes);
    }
    u9i_pages_free(fs->kept, fs->kept_room * sizeof(u9i_open_frame *));
    u9i_segment_close(fs->segment);
    u9i_segment_unref(fs->segment);
    memset(fs, 0, sizeof *fs);
}

static size_t kept_slot(const u9i_frames *fs, uint64_t offset)
{
    return (size_t)(offset / U9I_ALIGN * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (fs->kept_room - 1);
}

/* Puts it where the others look. False: there is no room. Another may be there first: then `*f` is that one. */
static bool keep_frame(u9i_frames *fs, u9i_open_frame **f)
{
    u9i_budget *b = fs->budget;
    uint64_t bytes = (*f)->bytes;
    bool room = __atomic_add_fetch(&b->used, bytes, __ATOMIC_RELAXED) <= b->limit;
    room &= __atomic_add_fetch(&fs->kept_count, 1, __ATOMIC_RELAXED) <= fs->kept_room / 2;
    if (!room) {
        __atomic_store_n(&b->full, true, __ATOMIC_RELAXED);
        unkeep(fs, bytes);
        return false;
    }
    for (size_t i = kept_slot(fs, (*f)->offset);; i = (i + 1) & (fs->kept_room - 1)) {
        u9i_open_frame *there = NULL;
        if (__atomic_compare_exchange_n(&fs->kept[i], &there, *f, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) return true;
        if (there->offset != (*f)->offset) continue;
        unkeep(fs, bytes);
        u9i_open_frame_free(*f);
        *f = there;
        return true;
    }
}

static u9i_open_frame *kept_at(const u9i_frames *fs, uint64_t offset)
{
    u9i_open_frame *f;
    for (size_t i = kept_slot(fs, offset); (f = __atomic_load_n(&fs->kept[i], __ATOMIC_ACQUIRE)) != NULL;
         i = (i + 1) & (fs->kept_room - 1))
        if (f->offset == offset) return f;
    return NULL;
}

bool u9i_frames_has(const u9i_frames *fs, uint64_t offset)
{
    return kept_at(fs, offset) != NULL;
}

u9_err u9i_frames_at(u9i_frames *fs, uint64_t offset, const u9i_open_frame **out, u9i_open_frame **own, int *sys)
{
    u9i_open_frame *f;
    *own = NULL;
    f = kept_at(fs, offset);
    if (f) {
        *out = f;
        return U9_OK;
    }
    u9_err err = open_frame(fs, offset, &f, sys);
    if (err != U9_OK) return err;
    if (!keep_frame(fs, &f)) *own = f;
    *out = f;
    return U9_OK;
}
