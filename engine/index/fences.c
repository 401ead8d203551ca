/*
 * engine/index/fences.c: see fences.h.
 */
#include "engine/index/fences.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void bins_check(const u9i_bins *b)
{
    assert(b->count > 0 && b->starts[0] == 0 && b->starts[(b->span >> b->shift) + 1] == b->count);
}

static uint64_t number_at(const void *elements, size_t i, size_t size)
{
    uint64_t number;
    memcpy(&number, (const uint8_t *)elements + i * size, sizeof number);
    return number;
}

u9i_bins *u9i_bins_make(const void *elements, size_t count, size_t size)
{
    uint64_t first = number_at(elements, 0, size), span = number_at(elements, count - 1, size) - first;
    unsigned shift = 0;
    while (span >> shift > 1 + count) shift++; /* one or two in each, if they are spread evenly */
    size_t bins = (size_t)(span >> shift) + 1, bin = 0;
    u9i_bins *b = (u9i_bins *)malloc(sizeof *b + (bins + 1) * sizeof b->starts[0]);
    if (b == NULL) return NULL;
    *b = (u9i_bins){.first = first, .span = span, .shift = shift, .count = count};
    for (size_t i = 0; i < count; i++)
        for (; bin <= (number_at(elements, i, size) - first) >> shift; bin++) b->starts[bin] = (uint32_t)i;
    b->starts[bins] = (uint32_t)count;
    bins_check(b);
    return b;
}

size_t u9i_bins_bytes(const u9i_bins *b)
{
    return sizeof *b + ((size_t)(b->span >> b->shift) + 2) * sizeof b->starts[0];
}

static void fences_check(const u9i_fences *f)
{
    assert(f->count > 0 && f->bins != NULL && f->bins->count == f->count);
}

u9i_fences *u9i_fences_make(const uint8_t *keys, const uint8_t *places, uint32_t count, unsigned width)
{
    u9i_fences *f = (u9i_fences *)calloc(1, sizeof *f + count * sizeof f->all[0]);
    if (f == NULL) return NULL;
    f->count = count;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *key = keys + (size_t)i * width;
        f->all[i] = (u9i_fence){.hi = u9i_get_be(key, 8), .lo = width == 16 ? u9i_get_be(key + 8, 8) : 0,
                                .at = u9i_get_be(places + 8 * (size_t)i, 8)};
    }
    f->bins = u9i_bins_make(f->all, count, sizeof f->all[0]);
    if (f->bins == NULL) {
        free(f);
        return NULL;
    }
    fences_check(f);
    return f;
}

void u9i_fences_free(u9i_fences *f)
{
    if (f) free(f->bins);
    free(f);
}

size_t u9i_fences_bytes(const u9i_fences *f)
{
    return sizeof *f + f->count * sizeof f->all[0] + u9i_bins_bytes(f->bins);
}

static bool stands_below(const u9i_fence *f, const u9i_key_entry *e)
{
    if (f->hi != e->hi) return f->hi < e->hi;
    return f->lo != e->lo ? f->lo < e->lo : f->at < e->at;
}

size_t u9i_fences_rank(const u9i_fences *f, const u9i_key_entry *e)
{
    enum { FEW = 4 }; /* are gone through in a row: what is not foreseen then is where that ends, once */
    size_t low, high;
    u9i_bins_at(f->bins, e->hi, &low, &high);
    while (high - low > FEW) {
        size_t middle = low + (high - low) / 2;
        if (stands_below(&f->all[middle], e)) low = middle + 1;
        else high = middle;
    }
    while (low < high && stands_below(&f->all[low], e)) low++;
    return low;
}

const uint8_t *u9i_fences_guess(const u9i_fences *f, const u9i_fence *fence, const u9i_key_entry *e)
{
    const uint8_t *bytes = __atomic_load_n(&fence->bytes, __ATOMIC_RELAXED);
    uint32_t size = __atomic_load_n(&fence->size, __ATOMIC_RELAXED);
    bool last = fence + 1 == f->all + f->count;
    if (bytes == NULL || last || e->hi < fence->hi || e->hi >= fence[1].hi) return bytes;
    double part = (double)(e->hi - fence->hi) / (double)(fence[1].hi - fence->hi);
    return bytes + (uint32_t)(part * (double)size);
}

void u9i_fences_bring(const u9i_fences *f, const u9i_key_entry *e)
{
    size_t low, high;
    u9i_bins_at(f->bins, e->hi, &low, &high);
    if (low > 0) low--; /* that may be the one which is sought */
    const uint8_t *at = (const uint8_t *)&f->all[low], *end = (const uint8_t *)&f->all[high < low + 4 ? high : low + 4];
    for (; at < end; at += 64) __builtin_prefetch(at, 0, 3);
}
