/*
 * format/value/index/index_build.c: makes indexes of an encoded container, and writes them in front of
 * it. to
 *
 * One walk over the container gathers the entries in the caller's scratch room, 16 bytes each
 * whatever the keys are, and settles the narrowest typecode that holds all keys. Then they are
 * sorted where they lie, by key and offset, so that the order is total and the sort need not be
 * stable, and written.
 */
#include "format/value/build.h"
#include "format/base/bytes.h"
#include "format/value/shortest.h"
#include "format/value/index/index.h"

/* An index that is being made. */
typedef struct plan {
    u9_keyspec keyspec;
    uint64_t every;      /* 0: complete */
    unsigned hash_width; /* bytes */
    u9_value container;  /* without indexes */
    u9_index_entry *entries;
    uint64_t room, count;
    u9_type type;        /* of keys: UINT for all integers, FLOAT64 for both floats; 0: none yet */
    bool negative, huge; /* integers below 0, above INT64_MAX */
    bool wide;           /* a float64 */
    uint64_t most;       /* of integers, ~v for one below 0 */
    uint64_t length;     /* of each text, bytes */
    uint8_t typecode[9];
    size_t typecode_size, stride;
    unsigned ia_step; /* offsets take 2 << ia_step bytes */
} plan;

/* The hash width that leaves few elements the same: 16 times as many hashes as elements. */
static unsigned hash_width(uint64_t elements)
{
    if (elements <= UINT64_C(1) << 4) return 1;
    if (elements <= UINT64_C(1) << 12) return 2;
    return elements <= UINT64_C(1) << 28 ? 4 : 8;
}

enum { NAN_TOP = 0x7ff8 };

/* A float as an unsigned number in the same order: NaNs are one, the last; -0 is 0. [O-2] */
static uint64_t rank_of_float(double f)
{
    uint64_t bits, sign = UINT64_C(1) << 63;
    if (f == 0) f = 0;
    memcpy(&bits, &f, sizeof bits);
    if (f != f) bits = (uint64_t)NAN_TOP << 48;
    return bits & sign ? ~bits : bits | sign;
}

static uint64_t float_bits(uint64_t rank, bool wide)
{
    uint64_t sign = UINT64_C(1) << 63, bits = rank & sign ? rank ^ sign : ~rank;
    uint32_t narrow;
    double f;
    if (wide) return bits;
    memcpy(&f, &bits, sizeof f);
    float half = (float)f;
    memcpy(&narrow, &half, sizeof narrow);
    return narrow;
}

/* Takes a key as a number that sorts like it, for texts the place where it stands. False: it
 * fits no typecode that the ones before it fit. */
static bool take_index_key(plan *p, const u9_value *key, uint64_t *out)
{
    u9_type type = key->type == U9_INT ? U9_UINT : key->type == U9_FLOAT32 ? U9_FLOAT64 : key->type;
    bool negative = key->type == U9_INT && key->i < 0;
    if (p->count > 0 && type != p->type) return false;
    p->type = type;
    if (type == U9_UINT) {
        uint64_t magnitude = negative ? ~key->u : key->u;
        if (negative) p->negative = true;
        if (magnitude > INT64_MAX) p->huge = true;
        if (magnitude > p->most) p->most = magnitude;
        *out = key->u;
        return !(p->negative && p->huge);
    }
    if (type == U9_FLOAT64) {
        if (key->type == U9_FLOAT64) p->wide = true;
        *out = rank_of_float(key->f);
        return true;
    }
    if (type == U9_SYMBOL) {
        *out = u9i_get_be(key->data, 8);
        return true;
    }
    if (type != U9_UTF8 && type != U9_BYTES) return false;
    if (p->count == 0) p->length = key->size;
    *out = (uint64_t)(key->data - p->container.data);
    return key->size == p->length && (key->size > 0 || p->count < U9_EMPTY_MAX); /* [V-10] */
}

/* Fills the scratch room with the entries, in the order of the elements. */
static u9_err gather(plan *p)
{
    u9_walk walk = u9_walk_elements(&p->container);
    u9_value element, subject, aspect, last;
    uint64_t position = 0;
    u9_err err;
    for (;; position++) {
        uint64_t offset = (uint64_t)(walk.next - p->container.data);
        err = u9_walk_next(&walk, &element);
        if (err) break;
        if (!u9i_index_subject(p->keyspec, &element, &subject)) return U9_ARG; /* */
        u9i_index_aspect(p->keyspec, p->hash_width, position, &subject, &aspect);
        if (p->every > 0 && position > 0 && u9_value_compare(&last, &aspect) > 0)
            return U9_ARG; /* */
        last = aspect;
        if (p->every > 0 && position % p->every != 0) continue;
        if (p->count == p->room || !take_index_key(p, &aspect, &p->entries[p->count].key))
            return U9_ARG;
        p->entries[p->count++].offset = offset;
    }
    return err == U9_END && position == p->container.count ? U9_OK : U9_CORRUPT;
}

static bool is_text(const plan *p)
{
    return p->type == U9_UTF8 || p->type == U9_BYTES;
}

/* Settles the forms of keys and offsets, now that all are known. */
static void settle_forms(plan *p)
{
    uint64_t last =
        p->count > 0 ? p->entries[p->count - 1].offset : 0; /* they are not sorted yet */
    unsigned step = u9i_step_of(last << 1);                    /* the shift is the room for the sign */
    p->ia_step = step > 0 ? step : 1;                       /* there is no int8 */
    if (p->hash_width > 0) p->most = UINT64_MAX >> (64 - 8 * p->hash_width);
    step = u9i_step_of(is_text(p) ? p->length : p->negative ? p->most << 1 : p->most);
    p->typecode_size = 1;
    p->stride = (size_t)1 << step;
    p->typecode[0] = (uint8_t)((p->negative ? 0x04 : 0x00) + step);
    if (p->type == U9_FLOAT64) {
        p->typecode[0] = p->wide ? 0x09 : 0x08;
        p->stride = p->wide ? 8 : 4;
    } else if (p->type == U9_SYMBOL) {
        p->typecode[0] = 0x0a;
        p->stride = 8;
    } else if (is_text(p)) {
        p->typecode[0] = (uint8_t)((p->type == U9_UTF8 ? 0x18 : 0x1c) + step);
        u9i_set_be(p->typecode + 1, 1u << step, p->length);
        p->typecode_size += (size_t)1 << step;
        p->stride = (size_t)p->length;
    }
}

/* By key, then by offset. */
static bool is_less(const plan *p, const u9_index_entry *a, const u9_index_entry *b)
{
    uint64_t flip = p->negative ? UINT64_C(1) << 63 : 0, x = a->key ^ flip, y = b->key ^ flip;
    int side = x < y ? -1 : x > y;
    if (is_text(p))
        side = memcmp(p->container.data + a->key, p->container.data + b->key, (size_t)p->length);
    return side != 0 ? side < 0 : a->offset < b->offset;
}

/* Moves the entry at `top` down to where none below it is larger. */
static void sift(const plan *p, uint64_t top, uint64_t count)
{
    u9_index_entry *e = p->entries, moved = e[top];
    for (uint64_t child; (child = 2 * top + 1) < count; top = child) {
        if (child + 1 < count && is_less(p, &e[child], &e[child + 1])) child++;
        if (!is_less(p, &moved, &e[child])) break;
        e[top] = e[child];
    }
    e[top] = moved;
}

/* Heapsort: in place, O(n log n) whatever the keys are; often they are in order as they come. */
static void sort(const plan *p)
{
    u9_index_entry *e = p->entries;
    uint64_t sorted = 1;
    while (sorted < p->count && is_less(p, &e[sorted - 1], &e[sorted])) sorted++;
    if (sorted >= p->count) return;
    for (uint64_t top = p->count / 2; top > 0; top--) sift(p, top - 1, p->count);
    for (uint64_t count = p->count - 1; count > 0; count--) {
        u9_index_entry largest = e[0];
        e[0] = e[count];
        e[count] = largest;
        sift(p, 0, count);
    }
}

/* Bytes of an array with a typecode of t bytes and n elements of z; the step of its header.
 * [V-7] */
static size_t array_size(size_t t, uint64_t n, size_t z, unsigned *step)
{
    size_t l = t + (size_t)n * z;
    *step = u9i_step_of(l > n ? l : n);
    return 1 + ((size_t)2 << *step) + l;
}

static void put_array_head(u9i_out *out, unsigned step, uint64_t l, uint64_t n)
{
    u9i_out_uint(out, 1, 0x44 + step);
    u9i_out_uint(out, 1u << step, l);
    u9i_out_uint(out, 1u << step, n);
}

static void put_key(const plan *p, u9i_out *out, uint64_t key)
{
    if (p->type == U9_FLOAT64) key = float_bits(key, p->wide);
    if (is_text(p)) u9i_out_copy(out, p->container.data + key, p->stride);
    else u9i_out_uint(out, (unsigned)p->stride, key);
}

/* Writes one index; it is no element of its own, the container behind it is. */
static u9_err put_index(u9_builder *b, plan *p)
{
    static const char symbols[][9] = {
        [U9_KEYSPEC_I] = "i", [U9_KEYSPEC_H] = "h", [U9_KEYSPEC_K] = "k", [U9_KEYSPEC_KH] = "kh"};
    unsigned ka_step, ia_step, least = p->every > 0 ? 0 : 1; /* no cidx has a length in [1] */
    size_t stride = (size_t)1 << p->ia_step;
    /* No sum overflows: each entry took as much scratch room, or its text stands in the
     * container. */
    size_t l = 9 + array_size(p->typecode_size, p->count, p->stride, &ka_step) +
               array_size(1, p->count, stride, &ia_step);
    unsigned step = u9i_step_of(l) > least ? u9i_step_of(l) : least;
    size_t size = 1 + ((size_t)1 << step) + l;
    u9_err err = u9i_build_take(b, size, 0);
    if (err == U9_OK || err == U9_LIMIT) b->count--;
    if (err) return err;
    sort(p);
    u9i_out out = u9i_out_init(b->bytes + b->size - size, size);
    u9i_out_uint(&out, 1, (p->every > 0 ? 0x54 : 0x50) + step);
    u9i_out_uint(&out, 1u << step, l);
    u9i_out_uint(&out, 1, 0x0a);
    u9i_out_copy(&out, symbols[p->keyspec], 8);
    put_array_head(&out, ka_step, p->typecode_size + p->count * p->stride, p->count);
    u9i_out_copy(&out, p->typecode, p->typecode_size);
    for (uint64_t e = 0; e < p->count; e++) put_key(p, &out, p->entries[e].key);
    put_array_head(&out, ia_step, 1 + p->count * stride, p->count);
    u9i_out_uint(&out, 1, 0x04 + p->ia_step);
    for (uint64_t e = 0; e < p->count; e++)
        u9i_out_uint(&out, (unsigned)stride, p->entries[e].offset);
    return U9_OK;
}

/* Makes one index of a container without indexes. */
static u9_err build_index(u9_builder *b, const u9_value *bare, const u9_index_spec *spec,
                          u9_index_entry *scratch, uint64_t room)
{
    plan p = {.keyspec = spec->keyspec,
              .every = spec->every,
              .container = *bare,
              .entries = scratch,
              .room = room};
    if (spec->keyspec < U9_KEYSPEC_I || spec->keyspec > U9_KEYSPEC_KH) return U9_ARG;
    if (spec->keyspec == U9_KEYSPEC_H || spec->keyspec == U9_KEYSPEC_KH) {
        p.hash_width = spec->hash_bits > 0 ? spec->hash_bits / 8 : hash_width(bare->count);
        bool power = (p.hash_width & (p.hash_width - 1)) == 0;
        if (spec->hash_bits % 8 != 0 || p.hash_width > 8 || !power) return U9_ARG;
    }
    u9_err err = gather(&p);
    if (err) return err;
    settle_forms(&p);
    return put_index(b, &p);
}

static uint64_t entries_of(const u9_value *container, const u9_index_spec *spec)
{
    uint64_t most = container->size; /* bytes; each element has one at least */
    uint64_t count = container->count < most ? container->count : most;
    return spec->every > 1 ? count / spec->every + (count % spec->every != 0) : count;
}

uint64_t u9_index_scratch(const u9_value *container, const u9_index_spec *specs, size_t count)
{
    uint64_t most = 0;
    if (container->type != U9_TUPLE && container->type != U9_ARRAY) return 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t entries = entries_of(container, &specs[i]);
        if (entries > most) most = entries;
    }
    return most;
}

u9_err u9_build_indexed(u9_builder *b, const u9_value *container, const u9_index_spec *specs,
                        size_t count, u9_index_entry *scratch, uint64_t entries)
{
    if (container->type != U9_TUPLE && container->type != U9_ARRAY) return U9_ARG;
    if (container->size == 0 && container->count > 0 && count > 0) return U9_ARG; /* */
    if (u9i_in_array(b)) return U9_ARG;
    u9_value bare = u9_value_bare(container);
    size_t size = b->size;
    u9_err err = U9_OK;
    for (size_t i = 0; i < count && (err == U9_OK || err == U9_LIMIT); i++)
        err = build_index(b, &bare, &specs[i], scratch, entries);
    if (err == U9_OK || err == U9_LIMIT) err = u9_build_value(b, &bare);
    if (err && err != U9_LIMIT) b->size = size;
    return err;
}
