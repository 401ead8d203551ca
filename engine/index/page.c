/*
 * engine/index/page.c: see page.h.
 */
#include "engine/index/page.h"

#include "engine/index/fences.h"
#include "format/base/bytes.h"

#include <assert.h>
#include <stdlib.h>

enum {
    TOGETHER = 8, /* entries that a directory leads to, about */
    SEEN = 128,   /* entries that are read at once; where more come into question, halves are told apart by one first */
    WIDTH_MAX = 16
};

static void page_check(const u9i_page *p)
{
    assert(p->count > 0 && (p->width == 8 || p->width == WIDTH_MAX));
    assert((p->keys == NULL) == (p->places == NULL) && (p->keys != NULL || (p->keys_at != 0 && p->own == NULL)));
    assert(p->groups == 0 || (p->groups == (p->span >> p->shift) + 1 && p->directory[p->groups] == p->count));
}

static uint64_t key_at(const uint8_t *keys, unsigned width, size_t i)
{
    return u9i_get_be(keys + i * width, 8);
}

u9i_key_entry u9i_page_entry(const uint8_t *keys, const uint8_t *places, unsigned width, size_t i)
{
    const uint8_t *key = keys + i * width;
    return (u9i_key_entry){.hi = u9i_get_be(key, 8), .lo = width == WIDTH_MAX ? u9i_get_be(key + 8, 8) : 0,
                           .at = u9i_get_be(places + 8 * i, 8)};
}

u9i_page u9i_page_plan(const uint8_t *keys, const uint8_t *places, uint32_t count, unsigned width)
{
    uint64_t first = key_at(keys, width, 0), span = key_at(keys, width, count - 1) - first;
    unsigned shift = 0;
    while (span >> shift > 1 + count / TOGETHER) shift++; /* at most 63 times */
    return (u9i_page){.keys = keys, .places = places, .first = first, .span = span, .count = count, .width = width,
                      .shift = shift, .groups = (uint32_t)(span >> shift) + 1};
}

size_t u9i_page_directory_bytes(const u9i_page *page)
{
    return page->groups ? (page->groups + (size_t)1) * sizeof page->directory[0] : 0;
}

u9i_page *u9i_page_make(const u9i_page *plan)
{
    u9i_page *page = (u9i_page *)malloc(sizeof *page + u9i_page_directory_bytes(plan));
    if (page == NULL) return NULL;
    *page = *plan;
    uint32_t group = 0;
    for (uint32_t i = 0; page->groups && i < page->count; i++)
        for (; group <= (key_at(page->keys, page->width, i) - page->first) >> page->shift; group++) page->directory[group] = i;
    if (page->groups) page->directory[page->groups] = page->count;
    page_check(page);
    return page;
}

void u9i_page_free(u9i_page *page)
{
    if (page) u9i_fences_free(page->fences);
    if (page) free(page->own);
    free(page);
}

u9_err u9i_page_read(u9i_file *file, uint64_t at, uint8_t *out, size_t size)
{
    size_t got;
    int sys = u9i_file_read(file, at, out, size, &got);
    return sys != 0 ? U9_IO : got == size ? U9_OK : U9_CORRUPT;
}

/* Entries of a page, from the one with this number on. */
typedef struct entries {
    const uint8_t *keys, *places;
    size_t from;
    uint8_t read[SEEN * (WIDTH_MAX + 8)];
} entries;

/* So many of them, SEEN at most; where they stand in memory, all there are. */
static u9_err see_entries(const u9i_page *page, u9i_file *file, size_t from, size_t count, entries *out)
{
    uint8_t *places = out->read + SEEN * WIDTH_MAX;
    out->from = page->keys ? 0 : from;
    out->keys = page->keys ? page->keys : out->read;
    out->places = page->keys ? page->places : places;
    if (page->keys || count == 0) return U9_OK;
    assert(count <= SEEN && from + count <= page->count);
    u9_err err = u9i_page_read(file, page->keys_at + from * page->width, out->read, count * page->width);
    return err == U9_OK ? u9i_page_read(file, page->places_at + from * 8, places, count * 8) : err;
}

/* True if (key, place) of an entry is below that of `e`. */
static bool stands_before(const uint8_t *key, const uint8_t *place, unsigned width, const u9i_key_entry *e)
{
    u9i_key_entry there = {.hi = u9i_get_be(key, 8)};
    if (there.hi != e->hi) return there.hi < e->hi;
    if (width == WIDTH_MAX) there.lo = u9i_get_be(key + 8, 8);
    if (there.lo != e->lo) return there.lo < e->lo;
    return u9i_get_be(place, 8) < e->at;
}

static bool seen_before(const entries *in, unsigned width, size_t i, const u9i_key_entry *e)
{
    return stands_before(in->keys + (i - in->from) * width, in->places + (i - in->from) * 8, width, e);
}

/* The same of one that is perhaps read: of its place only where the keys are the same. */
static u9_err one_before(const u9i_page *page, u9i_file *file, size_t i, const u9i_key_entry *e, bool *out)
{
    uint8_t key[WIDTH_MAX], place[8] = {0};
    *out = false;
    if (page->keys) {
        *out = stands_before(page->keys + i * page->width, page->places + i * 8, page->width, e);
        return U9_OK;
    }
    u9_err err = u9i_page_read(file, page->keys_at + i * page->width, key, page->width);
    if (err != U9_OK) return err;
    u9i_key_entry there = u9i_page_entry(key, place, page->width, 0);
    if (u9i_key_same(&there, e)) err = u9i_page_read(file, page->places_at + i * 8, place, sizeof place);
    *out = stands_before(key, place, page->width, e);
    return err;
}

/* From *low to *high entries stand before `e`, by what the head of the page and its directory say. */
static void bound_rank(const u9i_page *page, const u9i_key_entry *e, size_t *low, size_t *high)
{
    uint64_t above = e->hi - page->first;
    bool before = e->hi < page->first, behind = !before && above > page->span;
    *low = behind ? page->count : 0;
    *high = before ? 0 : page->count;
    if (before || behind || page->groups == 0) return;
    *low = page->directory[above >> page->shift];
    *high = page->directory[(above >> page->shift) + 1];
}

/* How many entries stand before `e`; `in` then has the last one of these. */
static u9_err rank_in_page(const u9i_page *page, u9i_file *file, const u9i_key_entry *e, entries *in, size_t *rank)
{
    size_t low, high;
    bool before;
    u9_err err = U9_OK;
    bound_rank(page, e, &low, &high);
    while (page->keys == NULL && high - low >= SEEN && err == U9_OK) {
        size_t middle = low + (high - low) / 2;
        err = one_before(page, file, middle, e, &before);
        if (err == U9_OK && before) low = middle + 1;
        else high = middle;
    }
    if (err == U9_OK) err = see_entries(page, file, low - (low > 0), high - low + (low > 0), in);
    while (err == U9_OK && low < high) {
        size_t middle = low + (high - low) / 2;
        if (seen_before(in, page->width, middle, e)) low = middle + 1;
        else high = middle;
    }
    *rank = low;
    return err;
}

u9_err u9i_page_begins_before(const u9i_page *page, u9i_file *file, const u9i_key_entry *e, bool *out)
{
    return one_before(page, file, 0, e, out);
}

u9_err u9i_page_last_before(const u9i_page *page, u9i_file *file, const u9i_key_entry *e, u9i_key_entry *out)
{
    entries in;
    size_t rank;
    u9_err err = rank_in_page(page, file, e, &in, &rank);
    if (err != U9_OK) return err;
    if (rank == 0 || !seen_before(&in, page->width, rank - 1, e)) return U9_CORRUPT;
    *out = u9i_page_entry(in.keys, in.places, page->width, rank - 1 - in.from);
    return U9_OK;
}
