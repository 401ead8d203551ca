/*
 * engine/index/keys.c: see keys.h.
 */
#include "engine/index/keys.h"

#include "engine/os/process.h"
#include "format/frame/body.h"
#include "format/frame/filter.h"

#include <assert.h>
#include <string.h>

enum {
    TABLE_SHARE = 5,     /* one part in so many of the memory is for the table, */
    FRAME_SHARE = 8,     /*   and of the rest for frames */
    STRAYS = 64,         /* keys out of order that are always borne with, */
    STRAYS_PART = 8,     /*   and one record in so many */
    SPARE = 1 << 13,     /* entries: a few frames of small records */
    FEW = 32,            /* records are few: one in so many slots of the table, at most */
    SMALL = 24           /* entries that are sorted by insertion */
};

u9i_keyspec u9i_keyspec_of(const char *text, uint64_t seed)
{
    u9i_kind kind;
    u9i_keyspec hashed = {.width = 8, .hashed = true, .seed = seed};
    if (u9i_kind_parse(text, strlen(text), &kind, NULL) != U9_OK) return hashed;
    switch (kind.type) {
    case U9I_KIND_MUID:
    case U9I_KIND_GID: return (u9i_keyspec){.width = 16, .seed = seed};
    case U9I_KIND_TID:
    case U9I_KIND_UID8: return (u9i_keyspec){.width = 8, .seed = seed};
    case U9I_KIND_RKEY: break;
    }
    return hashed;
}

const char *u9i_keyspec_name(const u9i_keyspec *spec)
{
    return spec->hashed ? "u9kh" : "k";
}

bool u9i_keyspec_entry(const u9i_keyspec *spec, const void *raw, size_t size, u9i_key_entry *out)
{
    const uint8_t *p = (const uint8_t *)raw;
    if (size == 0 || (!spec->hashed && size != spec->width)) return false;
    out->hi = spec->hashed ? u9i_key_hash(p, size, spec->seed) : u9i_get_be(p, 8);
    out->lo = spec->width == 16 ? u9i_get_be(p + 8, 8) : 0;
    return true;
}

void u9i_keys_check(const u9i_keys *k)
{
    assert(k->frame_count <= k->frame_room && k->record_count <= k->record_room);
    assert(k->frames != NULL && (k->spec.width == 8 || k->spec.width == 16));
    assert(k->record_count <= k->count || k->partial);
}

bool u9i_keys_open(u9i_keys *k, const u9i_keyspec *spec, size_t memory)
{
    size_t room = memory / TABLE_SHARE * (TABLE_SHARE - 1) / sizeof(u9i_key_entry);
    *k = (u9i_keys){.spec = *spec, .memory = memory, .frame_room = room / FRAME_SHARE, .table_room = 1024};
    while (k->table_room * 2 * sizeof *k->table <= memory / TABLE_SHARE) k->table_room *= 2;
    k->record_room = room - k->frame_room;
    if (k->record_room > k->table_room / 4 * 3) k->record_room = k->table_room / 4 * 3;
    k->frames = (u9i_key_entry *)u9i_pages(k->memory);
    if (k->frames == NULL) return false;
    k->records = k->frames + k->frame_room;
    k->table = (uint32_t *)(k->records + k->record_room);
    u9i_keys_check(k);
    return true;
}

void u9i_keys_close(u9i_keys *k)
{
    if (k->frames) u9i_pages_free(k->frames, k->memory);
    memset(k, 0, sizeof *k);
}

/*
 * Few records have their slots emptied, and all else of the table, which is megabytes, is left alone. A record's slot is
 * in the row that begins where it is looked for first, and nothing is taken out of a row but this way, from some slot to
 * its end.
 */
static void empty_table(u9i_keys *k)
{
    if (k->record_count > k->table_room / FEW) {
        memset(k->table, 0, k->table_room * sizeof *k->table);
        return;
    }
    for (size_t n = 0; n < k->record_count; n++) {
        size_t i = (size_t)(u9i_key_mix(&k->records[n], k->spec.seed) >> 32);
        while (k->table[i & (k->table_room - 1)] != 0) k->table[i++ & (k->table_room - 1)] = 0;
    }
}

void u9i_keys_reset(u9i_keys *k, const u9i_keyspec *spec)
{
    empty_table(k);
    k->spec = *spec;
    k->frame_count = k->record_count = 0;
    k->count = 0;
    k->top = (u9i_key_entry){.hi = 0};
    k->disordered = k->partial = k->sorted = false;
}

/* A frame that is not yet known, by the first key in order that stands in it. */
static void add_in_order(u9i_keys *k, const u9i_key_entry *e)
{
    uint64_t begin = e->at >> U9I_VIRTUAL_SHIFT;
    k->top = *e;
    if (k->frame_count > 0 && k->frames[k->frame_count - 1].at >> U9I_VIRTUAL_SHIFT == begin) return;
    if (k->frame_count == k->frame_room) k->partial = true;
    else k->frames[k->frame_count++] = *e;
}

/* Where the table names the newest record of this key, or would. */
static uint32_t *table_slot(const u9i_keys *k, const u9i_key_entry *e)
{
    for (size_t i = (size_t)(u9i_key_mix(e, k->spec.seed) >> 32);; i++) {
        uint32_t *slot = &k->table[i & (k->table_room - 1)];
        if (*slot == 0 || u9i_key_same(&k->records[*slot - 1], e)) return slot;
    }
}

static void add_alone(u9i_keys *k, const u9i_key_entry *e)
{
    if (k->record_count == k->record_room) {
        k->partial = true;
        return;
    }
    k->records[k->record_count++] = *e;
    *table_slot(k, e) = (uint32_t)k->record_count;
    if (k->record_count > STRAYS && k->record_count > k->count / STRAYS_PART) k->disordered = true;
}

void u9i_keys_add(u9i_keys *k, const void *raw, size_t size, uint64_t at, bool alone)
{
    u9i_key_entry e = {.at = at};
    if (u9i_keyspec_entry(&k->spec, raw, size, &e)) u9i_keys_add_entry(k, &e, alone);
    else k->partial = true;
}

void u9i_keys_add_entry(u9i_keys *k, const u9i_key_entry *e, bool alone)
{
    assert(!k->sorted);
    k->count++;
    if (alone || k->spec.hashed || k->disordered || u9i_key_below(e, &k->top)) add_alone(k, e);
    else add_in_order(k, e);
}

bool u9i_keys_add_frame(u9i_keys *k, const u9i_key_entry *first, const u9i_key_entry *last, uint64_t count)
{
    if (k->spec.hashed || k->disordered || u9i_key_below(first, &k->top)) return false;
    add_in_order(k, first);
    k->top = *last;
    k->count += count;
    return true;
}

/* How many of the sorted entries have a key that is not above this one. */
static size_t count_upto(const u9i_key_entry *e, size_t count, const u9i_key_entry *key)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (u9i_key_below(key, &e[middle])) count = middle;
        else low = middle + 1;
    }
    return low;
}

bool u9i_keys_find(const u9i_keys *k, const u9i_key_entry *key, uint64_t *at, uint64_t *frame)
{
    *at = *frame = 0;
    size_t n = u9i_key_below(&k->top, key) ? 0 : count_upto(k->frames, k->frame_count, key);
    if (n > 0) *frame = k->frames[n - 1].at;
    if (k->sorted) {
        n = count_upto(k->records, k->record_count, key);
        if (n > 0 && u9i_key_same(&k->records[n - 1], key)) *at = k->records[n - 1].at;
    } else if (k->record_count > 0) {
        uint32_t entry = *table_slot(k, key);
        if (entry > 0) *at = k->records[entry - 1].at;
    }
    return *at != 0 || *frame != 0;
}

void u9i_keys_add_body(u9i_keys *k, uint64_t offset, const uint8_t *body, size_t size, uint32_t count, bool made)
{
    const uint8_t *next = body;
    size_t left = size;
    u9i_record r;
    uint64_t at = offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    while (u9i_record_next(&next, &left, &r) == U9_OK) {
        u9i_keys_add(k, r.key, r.key_size, at + (uint64_t)(r.bytes - body), false);
        if (!made || k->disordered || k->spec.hashed) continue;
        k->count += count - 1;
        k->top.lo += count - 1; /* muids of one transaction are numbered [L-7] */
        break;
    }
}

uint64_t u9i_keys_left(const u9i_keys *k)
{
    size_t left = k->record_room - k->record_count;
    if (k->frame_count + SPARE / FRAME_SHARE > k->frame_room || left <= SPARE) return 0;
    return k->disordered || k->spec.hashed ? left - SPARE : UINT64_MAX;
}

/* Sorting: in place, by one byte of the key after the other. */

static bool comes_before(const u9i_key_entry *a, const u9i_key_entry *b)
{
    return u9i_key_below(a, b) || (a->hi == b->hi && a->lo == b->lo && a->at < b->at);
}

static void sort_small(u9i_key_entry *e, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        u9i_key_entry moved = e[i];
        size_t j = i;
        for (; j > 0 && comes_before(&moved, &e[j - 1]); j--) e[j] = e[j - 1];
        e[j] = moved;
    }
}

/* Byte `depth` of key and place in a row, from 0. */
static unsigned byte_of(const u9i_key_entry *e, unsigned depth)
{
    uint64_t word = depth < 8 ? e->hi : depth < 16 ? e->lo : e->at;
    return (unsigned)(word >> (56 - 8 * (depth % 8))) & 0xff;
}

/* Brings each entry to where those of its byte stand, by exchanges; `end` of each byte's is filled. */
static void part_by_byte(u9i_key_entry *e, size_t count, unsigned depth, size_t end[256])
{
    size_t next[256] = {0}, at = 0;
    for (size_t i = 0; i < count; i++) next[byte_of(&e[i], depth)]++;
    for (unsigned b = 0; b < 256; b++) {
        size_t n = next[b];
        next[b] = at;
        end[b] = at += n;
    }
    for (unsigned b = 0; b < 256; b++)
        while (next[b] < end[b]) {
            unsigned to = byte_of(&e[next[b]], depth);
            if (to == b) {
                next[b]++;
                continue;
            }
            u9i_key_entry moved = e[next[b]];
            e[next[b]] = e[next[to]];
            e[next[to]++] = moved;
        }
}

static void sort_entries(u9i_key_entry *e, size_t count, unsigned depth)
{
    enum { DEPTHS = 24 };
    size_t end[256], begin = 0;
    if (count <= SMALL) {
        sort_small(e, count);
        return;
    }
    if (depth == DEPTHS) return; /* equal in all */
    part_by_byte(e, count, depth, end);
    for (unsigned b = 0; b < 256; begin = end[b++])
        if (end[b] - begin > 1) sort_entries(e + begin, end[b] - begin, depth + 1);
}

void u9i_key_entries_sort(u9i_key_entry *entries, size_t count)
{
    sort_entries(entries, count, 0);
}

void u9i_keys_sort(u9i_keys *k)
{
    u9i_key_entries_sort(k->records, k->record_count);
    k->sorted = true;
}
