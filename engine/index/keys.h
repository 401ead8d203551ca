/*
 * engine/index/keys.h: the keys of one segment's records as they come, in memory: what its index is made of. [C-7]
 * [C-9]
 *
 * Room: engine/index
 * Sees: include format/base format/id format/frame engine/os engine/segment
 *
 * The room owns how a record is found by its key within a segment: keys as they are collected, the pages that are made
 * of them, and pages that are read.
 *
 *     add -> in order: one entry a frame, with the first key in it         -> an iidx of frames
 *         -> not:      an entry of the record's own                        -> a cidx of records
 *
 * A key that is not below any before it is in order. The first few that are not become records of their own, and the
 * others go on in order (a large record's key was drawn long before it is written); where they become many, all that
 * follow do.
 *
 * Memory is taken when it is opened, as address space, and touched as it is used. One thread at a time.
 */
#ifndef U9I_KEYS_H
#define U9I_KEYS_H

#include "format/base/bytes.h"
#include "format/frame/control.h"
#include "format/id/kind.h"

/* What a key is in an index: itself, of 8 or 16 bytes, or its hash. */
typedef struct u9i_keyspec {
    unsigned width; /* bytes: 8 or 16 */
    bool hashed;    /* u9kh: */
    uint64_t seed;  /* of the hash; else only of what is made of keys in memory, and told nowhere */
} u9i_keyspec;

/* The spec for keys of a kind: its own if they all have the same size; else, or if that is not known, hashes. The seed is
 * one that nobody who draws keys can foresee. */
u9i_keyspec u9i_keyspec_of(const char *kind, uint64_t seed);

/* "k" or "u9kh", as it stands in pages. */
const char *u9i_keyspec_name(const u9i_keyspec *spec);

/* A key of an index as two numbers that compare as its bytes do, and what it leads to. */
typedef struct u9i_key_entry {
    uint64_t hi, lo; /* lo is 0 where the width is 8 */
    uint64_t at;     /* virtual offset */
} u9i_key_entry;

/* False: a raw key that such an index cannot hold. */
U9_MUST_CHECK bool u9i_keyspec_entry(const u9i_keyspec *spec, const void *raw, size_t size, u9i_key_entry *out);

static inline bool u9i_key_below(const u9i_key_entry *a, const u9i_key_entry *b)
{
    return a->hi < b->hi || (a->hi == b->hi && a->lo < b->lo);
}

static inline bool u9i_key_same(const u9i_key_entry *a, const u9i_key_entry *b)
{
    return a->hi == b->hi && a->lo == b->lo;
}

/* The two halves of a product of 128 bits, one upon the other. */
static inline uint64_t u9i_key_fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), high = (a >> 32) * (b >> 32);
    uint64_t one = (a & UINT32_MAX) * (b >> 32), other = (a >> 32) * (b & UINT32_MAX);
    uint64_t middle = (low >> 32) + (one & UINT32_MAX) + (other & UINT32_MAX);
    return (middle << 32 | (low & UINT32_MAX)) ^ (high + (one >> 32) + (other >> 32) + (middle >> 32));
#endif
}

/*
 * A hash of a key for tables in memory: who draws keys and does not know the seed cannot draw many that fall together.
 * All its bits depend on all those of the key.
 */
static inline uint64_t u9i_key_mix(const u9i_key_entry *e, uint64_t seed)
{
    uint64_t folded = u9i_key_fold(e->hi ^ seed ^ UINT64_C(0x9e3779b97f4a7c15),
                                   e->lo ^ ((seed << 32 | seed >> 32) * UINT64_C(0xff51afd7ed558ccd)) ^ UINT64_C(0xc4ceb9fe1a85ec53));
    return (folded ^ folded >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

typedef struct u9i_keys {
    u9i_keyspec spec;
    u9i_key_entry *frames;  /* ascending; memory of the whole object */
    u9i_key_entry *records; /* as they came, until they are sorted */
    size_t frame_count, frame_room;
    size_t record_count, record_room;
    uint32_t *table;        /* of records, by hash of the key: which entry is the newest, and one more; 0: none */
    size_t table_room;      /* a power of two */
    size_t memory;          /* bytes of address space */
    uint64_t count;         /* records that were added */
    u9i_key_entry top;      /* the greatest key in order */
    bool disordered;        /* no more keys are taken to be in order */
    bool sorted;            /* records are; the table is not used any more */
    bool partial;           /* something could not be held: no index can be made of this */
} u9i_keys;

/* False: there is no memory. `memory`: bytes, at least 64 KiB. */
U9_MUST_CHECK bool u9i_keys_open(u9i_keys *keys, const u9i_keyspec *spec, size_t memory);
void u9i_keys_close(u9i_keys *keys); /* one that was never opened, zeroed, is fine */

/* Empty again, for another segment. */
void u9i_keys_reset(u9i_keys *keys, const u9i_keyspec *spec);

/* A record at this virtual offset, which is above all before; `alone` as below. */
void u9i_keys_add(u9i_keys *keys, const void *raw, size_t size, uint64_t at, bool alone);

/*
 * The same of what most records have, a key of 16 bytes that is in order, in a frame that has an entry. False: this is none,
 * and not added.
 */
static inline bool u9i_keys_add_next(u9i_keys *k, const uint8_t *raw, size_t size, uint64_t at)
{
    if (size != 16 || k->spec.width != 16 || k->spec.hashed || k->disordered || k->frame_count == 0) return false;
    u9i_key_entry e = {.hi = u9i_get_be(raw, 8), .lo = u9i_get_be(raw + 8, 8), .at = at};
    if (u9i_key_below(&e, &k->top) || k->frames[k->frame_count - 1].at >> U9I_VIRTUAL_SHIFT != at >> U9I_VIRTUAL_SHIFT)
        return false;
    k->top = e;
    k->count++;
    return true;
}

/*
 * `count` records of the frame at `offset`, with a proven body; `made`: their keys are muids that were made for this
 * frame, numbered in a row [L-7]: only the first one is looked at.
 */
void u9i_keys_add_body(u9i_keys *keys, uint64_t offset, const uint8_t *body, size_t size, uint32_t count, bool made);

/*
 * `count` records of one frame, whose keys are in order from `first`, which has the place of the first record, to `last`, and
 * not below those of the frames before. False, and nothing is added: keys of the spec are not in order.
 */
U9_MUST_CHECK bool u9i_keys_add_frame(u9i_keys *keys, const u9i_key_entry *first, const u9i_key_entry *last, uint64_t count);

/* The same of an entry; its key is of the spec. `alone`: it is not taken to be in order, as one in parts is not. [K-2] */
void u9i_keys_add_entry(u9i_keys *keys, const u9i_key_entry *entry, bool alone);

/*
 * What there is of a key: `*at` is the place of the newest record of it that has an entry (0: none has), `*frame` that of
 * the frame in which it stands if it came in order (0: in none). False: neither. Of a key that came more than once in
 * order the last one is in that frame.
 */
U9_MUST_CHECK bool u9i_keys_find(const u9i_keys *keys, const u9i_key_entry *key, uint64_t *at, uint64_t *frame);

/*
 * How many more records can be held for certain; UINT64_MAX: as long as they come in order, any number. 0: it is time to
 * begin another segment.
 */
uint64_t u9i_keys_left(const u9i_keys *keys);

/* Sorts the records by key and, of one key, by place. */
void u9i_keys_sort(u9i_keys *keys);

/* Sorts any entries so. */
void u9i_key_entries_sort(u9i_key_entry *entries, size_t count);

/* What holds of all keys between two calls. */
void u9i_keys_check(const u9i_keys *keys);

#endif
