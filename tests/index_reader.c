/*
 * tests/index_reader.c: see index_reader.h.
 */
#include "tests/index_reader.h"

#include <u9/value.h>

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

unsigned index_reader_filtered;
uint64_t index_reader_seed;

/* One root. */
typedef struct root {
    int hashed;
    uint64_t seed, form, other, count;
    u9_value keys, places; /* ka, ia: bytes with a typecode in front */
    size_t width;
    u9_value filter;
} root;

static uint64_t big_endian(const uint8_t *p)
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) n = n << 8 | p[i];
    return n;
}

static u9_value element(const u9_value *tuple, uint64_t k)
{
    u9_value v;
    if (u9_value_at(tuple, k, &v) != U9_OK) abort();
    return v;
}

/* The body of the frame at a byte offset. [F-5] */
static const uint8_t *body_at(index_reader_file f, uint64_t offset, size_t *size)
{
    if (offset + 64 > f.size) abort();
    *size = (size_t)big_endian(f.bytes + offset + 56) - 80;
    return f.bytes + offset + 64;
}

/* The control record at a virtual offset. */
static u9_value control_at(index_reader_file f, uint64_t at)
{
    u9_value v;
    size_t size;
    const uint8_t *body = body_at(f, (at >> 24) * 16, &size);
    if (u9_value_decode(body, size, &v) != U9_OK) abort();
    return v;
}

/* Element i of an array without its typecode. */
static const uint8_t *at_index(const u9_value *array, uint64_t i)
{
    u9_span span;
    if (u9_array_span(array, &span) != U9_OK || i >= span.count) abort();
    return span.data + i * span.stride;
}

static size_t width_of(const u9_value *array)
{
    u9_span span;
    if (u9_array_span(array, &span) != U9_OK) abort();
    return (size_t)span.stride;
}

static root read_root(index_reader_file f, uint64_t at)
{
    u9_value page = control_at(f, at), name = element(&page, 1);
    root r = {.hashed = name.type == U9_SYMBOL && memcmp(name.data, "u9kh", 5) == 0};
    uint64_t k = 4;
    r.keys = element(&page, 2);
    r.places = element(&page, 3);
    r.width = width_of(&r.keys);
    r.count = r.keys.count;
    if (r.hashed) index_reader_seed = r.seed = element(&page, k++).u;
    r.form = element(&page, k).u;
    r.other = element(&page, k + 6).u;
    r.filter = element(&page, k + 7);
    return r;
}

/* What stands in ka for this key. */
static void key_element(const root *r, const void *key, size_t size, uint8_t *out)
{
    if (r->hashed) {
        uint64_t hash = XXH3_64bits_withSeed(key, size, r->seed);
        for (int i = 0; i < 8; i++) out[i] = (uint8_t)(hash >> (56 - 8 * i));
    } else {
        if (size != r->width) abort();
        memcpy(out, key, size);
    }
}

/* The blocks of the filter are one row over all slices. */
static int in_filter(index_reader_file f, const root *r, uint64_t entries, const uint8_t *key)
{
    static const uint32_t salts[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                      0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    uint64_t h = XXH3_64bits(key, r->width), blocks = entries / 16 + 1, block = (h >> 32) * blocks >> 32;
    if (r->filter.count == 0) return 1;
    u9_value slice = control_at(f, big_endian(at_index(&r->filter, block * 32 / 1048576))), bits = element(&slice, 1);
    const uint8_t *p = bits.data + block * 32 % 1048576;
    for (int i = 0; i < 8; i++, p += 4) {
        uint32_t word = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
        if (!(word >> ((uint32_t)h * salts[i] >> 27) & 1)) return 0;
    }
    return 1;
}

/* A record of a body: its key, and how long it is. 0: there are no more. */
static size_t record_at(const uint8_t *p, size_t left, u9_value *key)
{
    u9_value tuple;
    if (left == 0) return 0;
    if (u9_value_decode(p, left, &tuple) != U9_OK) abort();
    *key = element(&tuple, 0);
    return tuple.encoded;
}

static int is_key(const u9_value *v, const void *key, size_t size)
{
    return v->size == size && memcmp(v->data, key, size) == 0;
}

/* What was found: the highest place counts. */
typedef struct finding {
    index_reader_file segment, index;
    const void *key;
    size_t size;
    uint64_t best; /* virtual offset */
    const uint8_t *record;
    size_t record_size;
} finding;

static void take(finding *f, uint64_t at, const uint8_t *record, size_t size)
{
    if (f->record && at <= f->best) return;
    f->best = at;
    f->record = record;
    f->record_size = size;
}

/* A record of its own place. */
static void look_at_record(finding *f, uint64_t at)
{
    size_t left, n, offset = (size_t)(at & 0xffffff);
    u9_value key;
    const uint8_t *body = body_at(f->segment, (at >> 24) * 16, &left);
    n = record_at(body + offset, left - offset, &key);
    if (n > 0 && is_key(&key, f->key, f->size)) take(f, at, body + offset, n);
}

/* All records of a frame. */
static void look_in_frame(finding *f, uint64_t at)
{
    size_t left, n;
    u9_value key;
    uint64_t base = at >> 24 << 24;
    const uint8_t *begin = body_at(f->segment, (at >> 24) * 16, &left), *p = begin;
    for (; (n = record_at(p, left, &key)) > 0; p += n, left -= n)
        if (is_key(&key, f->key, f->size)) take(f, base + (uint64_t)(p - begin), p, n);
}

/* The entries of one index from the last whose key is not above on, as long as they may lead there. */
static void look_in_form(finding *f, const root *r, uint64_t entries)
{
    uint8_t key[256] = {0}; /* the hash is inlined for any length */
    key_element(r, f->key, f->size, key);
    if (r->form == 2 && !in_filter(f->index, r, entries, key)) {
        index_reader_filtered++;
        return;
    }
    for (uint64_t n = r->count; n-- > 0;) {
        if (memcmp(at_index(&r->keys, n), key, r->width) > 0) continue;
        u9_value page = control_at(f->index, big_endian(at_index(&r->places, n)));
        u9_value keys = element(&page, 2), places = element(&page, 3);
        for (uint64_t i = keys.count; i-- > 0;) {
            int order = memcmp(at_index(&keys, i), key, r->width);
            uint64_t at = big_endian(at_index(&places, i));
            if (order > 0) continue;
            if (r->form == 2 && order < 0) return;
            if (r->form == 2) look_at_record(f, at);
            else look_in_frame(f, at);
            if (order < 0) return;
        }
    }
}

int index_reader_find(index_reader_file segment, index_reader_file index, const void *key, size_t key_size,
                      const uint8_t **record, size_t *size)
{
    u9_value end;
    size_t left;
    finding f = {.segment = segment, .index = index, .key = key, .size = key_size};
    if (index.size < 8192 || index.size % 4096 != 0) return -1;
    const uint8_t *body = body_at(index, index.size - 4096, &left);
    if (left > 4096 || u9_value_decode(body, left, &end) != U9_OK || end.type != U9_TUPLE) return -1;
    u9_value name = element(&end, 0);
    if (name.type != U9_SYMBOL || memcmp(name.data, "u9end\0\0", 8) != 0) return -1;
    uint64_t at = element(&end, 7).u;
    if (at == 0) return -1;
    for (int forms = 0; at != 0 && forms < 2; forms++) {
        root r = read_root(index, at);
        u9_value page = control_at(index, at);
        look_in_form(&f, &r, element(&page, r.hashed ? 6 : 5).u);
        at = r.other;
    }
    *record = f.record;
    *size = f.record_size;
    return f.record != NULL;
}
