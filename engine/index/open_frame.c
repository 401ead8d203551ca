/*
 * engine/index/open_frame.c: see open_frame.h.
 */
#include "engine/index/open_frame.h"

#include "engine/index/frame_table.h"
#include "engine/index/frames.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PEEK = 256 }; /* bytes of a record that are read before it is known how many it has */

_Static_assert(sizeof(u9i_open_frame) == U9I_FRAME_TABLE_GROUP || sizeof(void *) < 8,
               "asked at each lookup: one line, behind which a table of keys begins");

void u9i_open_frame_free(u9i_open_frame *f)
{
    if (f == NULL) return;
    if (f->owned) free((void *)(uintptr_t)f->bytes);
    free(f);
}

void u9i_found_free(u9i_found *found)
{
    free(found->own);
    found->own = NULL;
}

/* Reads [at, at + size) of the body from the file, in which it stands as it is. */
static u9_err read_body(const u9i_frames *fs, const u9i_open_frame *f, uint32_t at, uint8_t *buf, size_t size)
{
    size_t got;
    int err = u9i_file_read(fs->segment->file, f->offset + U9I_FRAME_HEADER_SIZE + at, buf, size, &got);
    return err != 0 ? U9_IO : got == size ? U9_OK : U9_CORRUPT;
}

/* The record at this place of a body that is not in memory: into out->own. */
static u9_err read_record(const u9i_frames *fs, const u9i_open_frame *f, uint32_t at, u9i_found *out)
{
    u9i_body b = {.kind = U9I_BODY_RECORDS, .plain = f->plain};
    size_t all = f->size - at, size = all < PEEK ? all : PEEK;
    for (;; size = size * 8 < all ? size * 8 : all) {
        uint8_t *bytes = (uint8_t *)malloc(size + 1);
        if (bytes == NULL) return U9_NOMEM;
        const uint8_t *next = bytes;
        size_t left = size;
        u9_err err = read_body(fs, f, at, bytes, size);
        if (err == U9_OK && u9i_body_next(&b, &next, &left, &out->record) == U9_OK) {
            out->own = bytes;
            return U9_OK;
        }
        free(bytes);
        if (err != U9_OK || size == all) return err != U9_OK ? err : U9_CORRUPT;
    }
}

/* The record that begins at this place of a body in memory. All were walked before. */
static inline u9_err record_in(const u9i_open_frame *f, uint32_t at, u9i_record *out)
{
    u9i_body b = {.kind = U9I_BODY_RECORDS, .plain = f->plain};
    const uint8_t *next = f->bytes + at;
    size_t left = f->size - at;
    return u9i_body_next_again(&b, &next, &left, out) == U9_OK ? U9_OK : U9_CORRUPT;
}

/* The same of any body. */
static u9_err record_at(const u9i_frames *fs, const u9i_open_frame *f, uint32_t at, u9i_found *out)
{
    out->own = NULL;
    if (at >= f->size) return U9_CORRUPT;
    if (f->bytes == NULL || u9i_open_frame_fell(fs, f)) return read_record(fs, f, at, out);
    return record_in(f, at, &out->record);
}

/* The same by a table of keys: where that of the record leads to. */
static bool number_by_keys(const u9i_frames *fs, const u9i_open_frame *f, const u9i_record *r, uint32_t at, uint32_t *number)
{
    u9i_key_entry e;
    if (!u9i_keyspec_entry(&fs->spec, r->key, r->key_size, &e)) return false;
    u9i_slot_search s = u9i_frame_table_search(f, u9i_key_mix(&e, fs->seed));
    for (uint64_t slot; (slot = u9i_frame_table_next(f, &s)) != 0;) {
        if (u9i_slot_place(f, slot) != at) continue;
        *number = u9i_slot_number(f, slot);
        return true;
    }
    return false;
}

/* Goes through the records of a frame that has no table: one that was not kept, so that its body is in memory. */
static void walk_open(const u9i_open_frame *f, u9i_walk_fn *each, void *ctx)
{
    u9i_body b = {.kind = U9I_BODY_RECORDS, .plain = f->plain};
    const uint8_t *next = f->bytes;
    size_t left = f->size;
    u9i_record r;
    assert(f->bytes != NULL);
    for (uint32_t n = 0; n < f->count && u9i_body_next_again(&b, &next, &left, &r) == U9_OK; n++)
        if (each(ctx, &r, (uint32_t)(r.bytes - f->bytes), n)) return;
}

typedef struct key_sought {
    const u9_key *key;
    uint32_t at;     /* where it is, or before which it is looked for */
    uint32_t number;
    bool there;
} key_sought;

static bool stands_at(void *ctx, const u9i_record *r, uint32_t at, uint32_t number)
{
    key_sought *s = (key_sought *)ctx;
    (void)r;
    s->there = at == s->at;
    s->number = number;
    return at >= s->at;
}

u9_err u9i_open_frame_walk(const u9i_frames *fs, const u9i_open_frame *f, u9i_walk_fn *each, void *ctx)
{
    u9i_loaded l;
    int sys;
    if (f->bytes && !u9i_open_frame_fell(fs, f)) {
        walk_open(f, each, ctx);
        return U9_OK;
    }
    u9_err err = u9i_load(fs->segment, fs->windows, f->offset, fs->bound, U9I_FRAME_HEADER_SIZE + f->size, &l, &sys);
    if (err != U9_OK) return err;
    u9i_open_frame again = *f;
    again.bytes = l.body.bytes;
    if (l.body.kind == U9I_BODY_RECORDS && l.body.size == f->size) walk_open(&again, each, ctx);
    else err = U9_CORRUPT;
    u9i_unload(&l);
    return err;
}

u9_err u9i_open_frame_key(const u9i_frames *fs, const u9i_open_frame *f, uint64_t at, u9i_key_entry *out)
{
    u9i_found found;
    u9_err err = record_at(fs, f, (uint32_t)(at & ((UINT64_C(1) << U9I_VIRTUAL_SHIFT) - 1)), &found);
    if (err != U9_OK) return err;
    if (!u9i_keyspec_entry(&fs->spec, found.record.key, found.record.key_size, out)) err = U9_CORRUPT;
    u9i_found_free(&found);
    return err;
}

u9_err u9i_open_frame_record(const u9i_frames *fs, const u9i_open_frame *f, uint64_t at, u9i_found *out)
{
    uint32_t place = (uint32_t)(at & ((UINT64_C(1) << U9I_VIRTUAL_SHIFT) - 1));
    key_sought s = {.at = place};
    if (f->kind != U9I_BODY_RECORDS || place >= f->size) return U9_CORRUPT;
    if (f->bytes && f->table) u9i_bring(f->bytes + place);
    if (f->table == NULL) walk_open(f, stands_at, &s);
    else if (!f->keyed) s.there = u9i_frame_table_number_at(f, place, &s.number);
    if (!s.there && (f->table == NULL || !f->keyed)) return U9_CORRUPT;
    u9_err err = record_at(fs, f, place, out);
    if (err != U9_OK) return err;
    if (!s.there && !number_by_keys(fs, f, &out->record, place, &s.number)) {
        u9i_found_free(out);
        return U9_CORRUPT;
    }
    out->at = at;
    out->number = s.number;
    return U9_OK;
}

static bool record_has_key(const u9i_record *r, const u9_key *key)
{
    return r->key_size > 0 && r->key_size == key->size && memcmp(r->key, key->data, key->size) == 0;
}

static bool is_of_key(void *ctx, const u9i_record *r, uint32_t at, uint32_t number)
{
    key_sought *s = (key_sought *)ctx;
    if (at >= s->at) return true;
    if (record_has_key(r, s->key)) s->there = true, s->number = number;
    return false;
}

/* By going through all of them. */
static u9_err find_by_walk(const u9i_open_frame *f, const u9_key *key, uint64_t below, u9i_found *out)
{
    u9i_body b = {.kind = U9I_BODY_RECORDS, .plain = f->plain};
    uint64_t base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    const uint8_t *next = f->bytes;
    size_t left = f->size;
    key_sought s = {.key = key, .at = below - base < f->size ? (uint32_t)(below - base) : f->size};
    walk_open(f, is_of_key, &s);
    if (!s.there) return U9_ABSENT;
    for (uint32_t n = 0; n <= s.number; n++)
        if (u9i_body_next_again(&b, &next, &left, &out->record) != U9_OK) return U9_CORRUPT;
    out->own = NULL;
    out->number = s.number;
    out->at = base + (uint64_t)(out->record.bytes - f->bytes);
    return U9_OK;
}

/* Of a body that is not kept: it is gone through at once, as a call for each record would take longer. */
static u9_err find_by_load(const u9i_frames *fs, const u9i_open_frame *f, const u9_key *key, uint64_t below, u9i_found *out)
{
    uint64_t base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    key_sought s = {.key = key, .at = below - base < f->size ? (uint32_t)(below - base) : f->size};
    u9_err err = u9i_open_frame_walk(fs, f, is_of_key, &s);
    if (err != U9_OK || !s.there) return err == U9_OK ? U9_ABSENT : err;
    out->at = base + u9i_frame_table_place(f, s.number);
    out->number = s.number;
    return record_at(fs, f, u9i_frame_table_place(f, s.number), out);
}

/* By a table of places: each record, the last one first. */
static u9_err find_by_places(const u9i_frames *fs, const u9i_open_frame *f, const u9_key *key, uint64_t below, u9i_found *out)
{
    uint64_t base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    if (f->bytes == NULL) return find_by_load(fs, f, key, below, out);
    for (uint32_t n = u9i_frame_table_count_before(f, below - base); n-- > 0;) {
        uint32_t at = u9i_frame_table_place(f, n);
        u9_err err = record_at(fs, f, at, out);
        out->at = base + at;
        out->number = n;
        if (err != U9_OK || record_has_key(&out->record, key)) return err;
        u9i_found_free(out);
    }
    return U9_ABSENT;
}

u9_err u9i_open_frame_at_slot(const u9i_frames *fs, const u9i_open_frame *f, const u9_key *key, uint64_t slot, u9i_found *out)
{
    uint32_t at = u9i_slot_place(f, slot);
    if (f->bytes) u9i_bring(f->bytes + at);
    u9_err err = record_at(fs, f, at, out);
    out->at = (f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT) + at;
    out->number = u9i_slot_number(f, slot);
    if (err != U9_OK || record_has_key(&out->record, key)) return err;
    u9i_found_free(out);
    return U9_ABSENT;
}

static u9_err find_by_keys(const u9i_frames *fs, const u9i_open_frame *f, const u9_key *key, uint64_t below, u9i_found *out)
{
    u9i_key_entry e;
    uint64_t base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    if (!u9i_keyspec_entry(&fs->spec, key->data, key->size, &e)) return U9_ABSENT;
    u9i_slot_search s = u9i_frame_table_search(f, u9i_key_mix(&e, fs->seed));
    for (uint64_t slot; (slot = u9i_frame_table_next(f, &s)) != 0;) {
        u9_err err = base + u9i_slot_place(f, slot) < below ? u9i_open_frame_at_slot(fs, f, key, slot, out) : U9_ABSENT;
        if (err != U9_ABSENT) return err;
    }
    return U9_ABSENT;
}

u9_err u9i_open_frame_find(const u9i_frames *fs, const u9i_open_frame *f, const u9_key *key, uint64_t below, u9i_found *out)
{
    uint64_t base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    if (f->kind != U9I_BODY_RECORDS || below <= base) return U9_ABSENT;
    if (f->table == NULL) return find_by_walk(f, key, below, out);
    return f->keyed ? find_by_keys(fs, f, key, below, out) : find_by_places(fs, f, key, below, out);
}

uint64_t u9i_open_frame_bring(const u9i_frames *fs, const u9i_open_frame *f, const u9_key *key, uint64_t at)
{
    u9i_key_entry e;
    uint32_t place = (uint32_t)(at & ((UINT64_C(1) << U9I_VIRTUAL_SHIFT) - 1));
    if (f->table == NULL) return 0;
    if (at != 0) {
        if (f->bytes && place < f->size) u9i_bring(f->bytes + place);
        size_t element = f->wide ? sizeof(uint32_t) : sizeof(uint16_t);
        if (!f->keyed) u9i_bring((const uint8_t *)f->table + u9i_frame_table_even_number(f, place) * element);
        return 0;
    }
    if (!f->keyed || f->bytes == NULL || !u9i_keyspec_entry(&fs->spec, key->data, key->size, &e)) return 0;
    u9i_slot_search s = u9i_frame_table_search(f, u9i_key_mix(&e, fs->seed));
    uint64_t slot = u9i_frame_table_next(f, &s);
    if (slot != 0) u9i_bring(f->bytes + u9i_slot_place(f, slot));
    return slot;
}

/* The same size as a key of 16 bytes, which most are, without a call. */
static inline bool same_key(const u9i_record *r, const u9_key *key)
{
    if (r->key_size != 16 || key->size != 16) return record_has_key(r, key);
    uint64_t a[2], b[2];
    memcpy(a, r->key, sizeof a);
    memcpy(b, key->data, sizeof b);
    return a[0] == b[0] && a[1] == b[1];
}

u9_err u9i_open_frame_find_at_hand(const u9i_open_frame *f, const u9_key *key, uint64_t hash, uint64_t below, u9i_found *out)
{
    uint64_t slot, base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    if (f->table == NULL || !f->keyed || f->bytes == NULL) return U9_AGAIN;
    out->own = NULL;
    for (u9i_slot_search s = u9i_frame_table_search(f, hash); (slot = u9i_frame_table_next(f, &s)) != 0;) {
        uint32_t at = u9i_slot_place(f, slot);
        if (base + at >= below) return U9_AGAIN;
        u9i_bring(f->bytes + at);
        if (record_in(f, at, &out->record) != U9_OK) return U9_AGAIN;
        if (!same_key(&out->record, key)) continue;
        out->at = base + at;
        out->number = u9i_slot_number(f, slot);
        return U9_OK;
    }
    return U9_ABSENT;
}

uint32_t u9i_open_frame_groups(const u9i_open_frame *f)
{
    return f->keyed && f->table ? u9i_frame_table_groups(f) : 0;
}

void u9i_open_frame_bring_slots(const u9i_open_frame *f, uint32_t groups, uint64_t hash)
{
    __builtin_prefetch(f, 0, 3);
    size_t first = (size_t)u9i_frame_table_first_group(hash, groups) * U9I_FRAME_TABLE_GROUP;
    if (groups > 0) __builtin_prefetch((const uint8_t *)(f + 1) + first, 0, 3);
}
