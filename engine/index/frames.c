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
    CHUNK = 1 << 21,   /* bytes: a large page */
    LINE = 64,         /* bytes of the processor's cache that come together */
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
    u9i_segment_fetch(s, offset, bound - offset < USUAL ? bound - offset : USUAL);
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
    u9_err err = u9i_segment_mend(s, windows, &file, sys);
    if (err == U9_OK) err = u9i_windows_lend(windows, &w);
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

/*
 * A slot: 0, or from below the place of a record and one more (16 bits, wide 32), its number (12, wide 24), and the top
 * of its key's hash (4, wide 8).
 */
enum { PLACE_BITS = 16, NUMBER_BITS = 12, WIDE_PLACE_BITS = 32, WIDE_NUMBER_BITS = 24 };

static uint64_t slot_tag(const u9i_open_frame *f, uint64_t hash)
{
    unsigned shift = f->wide ? WIDE_PLACE_BITS + WIDE_NUMBER_BITS : PLACE_BITS + NUMBER_BITS;
    return hash >> (f->wide ? 56 : 60) << shift;
}

static uint64_t slot_get(const u9i_open_frame *f, uint32_t i)
{
    return f->wide ? ((const uint64_t *)f->slots)[i] : ((const uint32_t *)f->slots)[i];
}

static void slot_put(u9i_open_frame *f, uint32_t i, uint64_t value)
{
    if (f->wide) ((uint64_t *)f->slots)[i] = value;
    else ((uint32_t *)f->slots)[i] = (uint32_t)value;
}

/* Of several records of one key the last one comes first. */
static void put_in_table(u9i_open_frame *f, const u9i_keyspec *spec, uint32_t at, uint32_t number)
{
    const uint8_t *next = f->loaded.body.bytes + at;
    size_t left = f->loaded.body.size - at;
    u9i_record r;
    u9i_key_entry e;
    if (u9i_body_next(&f->loaded.body, &next, &left, &r) != U9_OK || !u9i_keyspec_entry(spec, r.key, r.key_size, &e)) return;
    uint64_t hash = mix(&e);
    uint32_t i = table_place(hash, f->slot_count);
    while (slot_get(f, i) != 0) i = i + 1 == f->slot_count ? 0 : i + 1;
    slot_put(f, i, slot_tag(f, hash) | (uint64_t)number << (f->wide ? WIDE_PLACE_BITS : PLACE_BITS) | (at + 1));
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

/* An open frame for what was loaded, with room for its steps and slots. */
static u9i_open_frame *new_open_frame(const u9i_loaded *l, bool tabled)
{
    bool records = l->body.kind == U9I_BODY_RECORDS;
    uint32_t count = l->frame.trailer.count;
    size_t steps = records ? l->body.size / STEP + 1 : 0;
    bool wide = l->body.size >= (1 << PLACE_BITS) - 1 || count >= 1 << NUMBER_BITS;
    size_t slots = records && tabled ? (size_t)count * LOAD_NUM / LOAD_DEN + 1 : 0;
    size_t bytes = sizeof(u9i_open_frame) + steps * sizeof(u9i_step_at) + slots * (wide ? sizeof(uint64_t) : sizeof(uint32_t));
    u9i_open_frame *f = (u9i_open_frame *)calloc(1, bytes);
    if (f == NULL) return NULL;
    f->loaded = *l;
    f->count = count;
    f->ordinal = l->frame.trailer.ordinal;
    f->time_us = l->frame.trailer.time_us;
    f->step_count = (uint32_t)steps;
    f->slot_count = (uint32_t)slots;
    f->wide = wide;
    f->slots = f->steps + steps;
    f->size = bytes;
    f->bytes = bytes + (l->own ? l->body.size : 0);
    return f;
}

static u9_err fill_tables(u9i_open_frame *f, const u9i_keyspec *spec)
{
    bool tabled = f->slot_count > 0;
    uint32_t *places = tabled ? (uint32_t *)malloc(f->count * sizeof *places) : NULL;
    if (tabled && places == NULL) return U9_NOMEM;
    u9_err err = walk_records(f, places) ? U9_OK : U9_CORRUPT;
    for (uint32_t n = f->count; err == U9_OK && tabled && n > 0; n--) put_in_table(f, spec, places[n - 1], n - 1);
    free(places);
    return err;
}

static u9_err open_frame(u9i_frames *fs, uint64_t offset, u9i_open_frame **out, int *sys)
{
    u9i_loaded l;
    u9_err err = u9i_load(fs->segment, fs->windows, offset, fs->bound, &l, sys);
    if (err != U9_OK) return err;
    bool records = l.body.kind == U9I_BODY_RECORDS;
    bool fits = l.frame.trailer.count > 0 && (records || l.body.kind == U9I_BODY_PART); /* else no index leads to it */
    u9i_open_frame *f = fits ? new_open_frame(&l, fs->tabled) : NULL;
    if (f == NULL) {
        u9i_unload(&l);
        return fits ? U9_NOMEM : U9_CORRUPT;
    }
    f->offset = offset;
    err = records ? fill_tables(f, &fs->spec) : U9_OK;
    if (err == U9_OK) *out = f;
    else u9i_open_frame_free(f);
    return err;
}

bool u9i_open_frame_record(const u9i_open_frame *f, uint64_t at, u9i_found *out)
{
    const u9i_body *b = &f->loaded.body;
    uint64_t place = at & ((UINT64_C(1) << U9I_VIRTUAL_SHIFT) - 1);
    if (f->step_count == 0 || place >= b->size) return false;
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

static bool record_has_key(const u9i_record *r, const u9_key *key)
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
        if (!record_has_key(&r, key)) continue;
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
    uint64_t hash = mix(&e), tag = slot_tag(f, hash);
    unsigned place_bits = f->wide ? WIDE_PLACE_BITS : PLACE_BITS, number_bits = f->wide ? WIDE_NUMBER_BITS : NUMBER_BITS;
    for (uint32_t i = table_place(hash, f->slot_count);; i = i + 1 == f->slot_count ? 0 : i + 1) {
        uint64_t value = slot_get(f, i);
        if (value == 0) return false;
        uint64_t at = (value & ((UINT64_C(1) << place_bits) - 1)) - 1;
        if (value >> (place_bits + number_bits) << (place_bits + number_bits) != tag || base + at >= below) continue;
        const uint8_t *next = f->loaded.body.bytes + at;
        size_t left = f->loaded.body.size - at;
        if (u9i_body_next(&f->loaded.body, &next, &left, &out->record) != U9_OK || !record_has_key(&out->record, key)) continue;
        out->at = base + at;
        out->number = (uint32_t)(value >> place_bits & ((UINT64_C(1) << number_bits) - 1));
        return true;
    }
}

/* Frames that are kept */

static void frames_check(const u9i_frames *fs)
{
    assert(fs->kept_rows > 0 && fs->row_bytes >= U9I_BLOCK && fs->segment != NULL);
}

/* About the bytes of one frame of a segment. */
static uint64_t usual_bytes(const u9i_facts *f)
{
    uint64_t bytes = U9I_FRAME_TARGET;
    if (f->has_end && f->end.frames > 0) bytes = f->size / f->end.frames;
    return bytes < U9I_BLOCK ? U9I_BLOCK : bytes > U9I_FRAME_TARGET ? U9I_FRAME_TARGET : bytes;
}

u9_err u9i_frames_open(u9i_frames *fs, u9i_segment *segment, u9i_windows *windows, uint64_t bound, const u9i_keyspec *spec,
                       bool tabled, u9i_budget *budget, int *sys)
{
    u9i_file *file;
    uint64_t size = segment->facts.size < bound ? segment->facts.size : bound;
    *fs = (u9i_frames){.windows = windows, .bound = bound, .spec = *spec, .tabled = tabled && !spec->hashed,
                       .budget = budget, .row_bytes = usual_bytes(&segment->facts)};
    fs->kept_rows = (size_t)(size / fs->row_bytes) + 1;
    *sys = -u9i_segment_open(segment, &file);
    if (*sys != 0) return U9_IO;
    fs->kept = (u9i_open_frame **)u9i_pages(fs->kept_rows * sizeof(u9i_open_frame *));
    if (fs->kept == NULL) {
        u9i_segment_close(segment);
        return U9_NOMEM;
    }
    fs->segment = u9i_segment_ref(segment);
    pthread_mutex_init(&fs->lock, NULL);
    frames_check(fs);
    return U9_OK;
}

static void give_back(u9i_frames *fs, uint64_t bytes)
{
    (void)__atomic_sub_fetch(&fs->budget->used, bytes, __ATOMIC_RELAXED);
}

void u9i_frames_close(u9i_frames *fs)
{
    if (fs->segment == NULL) return;
    for (size_t i = 0; i < fs->kept_rows; i++)
        for (u9i_open_frame *f = fs->kept[i], *next; f; f = next) {
            next = f->next;
            give_back(fs, f->bytes);
            if (f->chunked) u9i_unload(&f->loaded);
            else u9i_open_frame_free(f);
        }
    for (u9i_frame_chunk *c = fs->chunks, *next; c; c = next) {
        next = c->next;
        u9i_pages_free(c, CHUNK);
    }
    pthread_mutex_destroy(&fs->lock);
    u9i_pages_free(fs->kept, fs->kept_rows * sizeof(u9i_open_frame *));
    u9i_segment_close(fs->segment);
    u9i_segment_unref(fs->segment);
    memset(fs, 0, sizeof *fs);
}

/* The row that a frame is kept in; what stands behind the size that the file had is in the last one. */
static u9i_open_frame **row_of(const u9i_frames *fs, uint64_t offset)
{
    uint64_t i = offset / fs->row_bytes;
    return &fs->kept[i < fs->kept_rows ? i : fs->kept_rows - 1];
}

static u9i_open_frame *kept_in(u9i_open_frame *row, uint64_t offset)
{
    while (row && row->offset != offset) row = row->next;
    return row;
}

/* The frame in a chunk, if it is one of many; else as it is. Its pointers into itself move with it. */
static u9i_open_frame *move_to_chunk(u9i_frames *fs, u9i_open_frame *f, size_t bytes)
{
    size_t room = (bytes + LINE - 1) / LINE * LINE;
    if (room > CHUNK / 8) return f;
    pthread_mutex_lock(&fs->lock);
    if (fs->chunks == NULL || fs->chunks->used + room > CHUNK) {
        u9i_frame_chunk *c = (u9i_frame_chunk *)u9i_huge_pages(CHUNK);
        if (c) *c = (u9i_frame_chunk){.next = fs->chunks, .used = LINE};
        if (c) fs->chunks = c;
    }
    u9i_open_frame *there = NULL;
    if (fs->chunks && fs->chunks->used + room <= CHUNK) {
        there = (u9i_open_frame *)(void *)((uint8_t *)fs->chunks + fs->chunks->used);
        fs->chunks->used += room;
    }
    pthread_mutex_unlock(&fs->lock);
    if (there == NULL) return f;
    memcpy(there, f, bytes);
    there->slots = there->steps + there->step_count;
    there->chunked = true;
    free(f);
    return there;
}

/* Puts it where the others look. False: there is no room. Another may be there first: then `*f` is that one. */
static bool keep_frame(u9i_frames *fs, u9i_open_frame **f)
{
    u9i_open_frame **row = row_of(fs, (*f)->offset), *first = __atomic_load_n(row, __ATOMIC_ACQUIRE);
    uint64_t bytes = (*f)->bytes;
    if (__atomic_add_fetch(&fs->budget->used, bytes, __ATOMIC_RELAXED) > fs->budget->limit) {
        __atomic_store_n(&fs->budget->full, true, __ATOMIC_RELAXED);
        give_back(fs, bytes);
        return false;
    }
    *f = move_to_chunk(fs, *f, (*f)->size);
    do {
        u9i_open_frame *there = kept_in(first, (*f)->offset);
        if (there) { /* somebody was faster: what is in a chunk stays there, unused */
            give_back(fs, bytes);
            if ((*f)->chunked) u9i_unload(&(*f)->loaded);
            else u9i_open_frame_free(*f);
            *f = there;
            return true;
        }
        (*f)->next = first;
    } while (!__atomic_compare_exchange_n(row, &first, *f, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
    return true;
}

static u9i_open_frame *kept_at(const u9i_frames *fs, uint64_t offset)
{
    return kept_in(__atomic_load_n(row_of(fs, offset), __ATOMIC_ACQUIRE), offset);
}

bool u9i_frames_has(const u9i_frames *fs, uint64_t offset)
{
    return kept_at(fs, offset) != NULL;
}

u9_err u9i_frames_at(u9i_frames *fs, uint64_t offset, const u9i_open_frame **out, u9i_open_frame **own, int *sys)
{
    u9i_open_frame *f = kept_at(fs, offset);
    *own = NULL;
    if (f == NULL) {
        u9_err err = open_frame(fs, offset, &f, sys);
        if (err != U9_OK) return err;
        if (!keep_frame(fs, &f)) *own = f;
    }
    *out = f;
    return U9_OK;
}
