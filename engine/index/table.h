/*
 * engine/index/table.h: where the newest record of a key may be, of several segments in which keys come in no order: one
 * line of the processor's cache for each lookup, however many segments there are.
 *
 *     | group 0: 8 slots | group 1 ... |      a slot: | tag | segment | frame | place |, or 0
 *
 * A key's hash says in which group it is; those for which that has no room stand in one of the next few. As many upper
 * bits of a slot as are left are of the hash. What is found is a guess: who looks there sees whether the record has the
 * key. What is not found was not put in.
 *
 * Threads: one that fills it; then it does not change, and any may look.
 */
#ifndef U9I_TABLE_H
#define U9I_TABLE_H

#include "engine/index/keys.h"

enum {
    U9I_TABLE_GROUP = 8,          /* slots: one line of the processor's cache */
    U9I_TABLE_PLACE_BITS = 17,    /* places of records in frames, as a rule: those of a frame of the usual size */
    U9I_TABLE_PLACE_BITS_MAX = 24 /* of any frame */
};

typedef struct u9i_table {
    uint64_t *slots; /* zeroed pages */
    uint64_t groups;  /* below 2^32 */
    uint64_t count;  /* entries that were put */
    uint64_t seed;
    unsigned place_bits, frame_bits, segment_bits;
    bool wide;       /* a place did not fit: with U9I_TABLE_PLACE_BITS_MAX it does */
} u9i_table;

/* What it will be asked to hold. */
typedef struct u9i_table_plan {
    uint64_t entries;
    uint64_t segment_max; /* bytes of the largest segment */
    size_t segments;
    unsigned place_bits;
    uint64_t seed;        /* nobody who draws keys can foresee it */
} u9i_table_plan;

/* Bytes of such a table; 0: there would be too few bits for tags, or too many groups. */
uint64_t u9i_table_bytes(const u9i_table_plan *plan);

/* False: there is no memory. Of a plan for which u9i_table_bytes is not 0. */
U9_MUST_CHECK bool u9i_table_open(u9i_table *table, const u9i_table_plan *plan);
void u9i_table_close(u9i_table *table); /* one that was never opened, zeroed, is fine */

/* The hash of a key under which its entries stand. */
static inline uint64_t u9i_table_hash(const u9i_table *t, const u9i_key_entry *e)
{
    uint64_t h = (e->hi ^ t->seed) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 32 ^ e->lo) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 29) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 32;
}

/* False: there is no room near where it belongs, or its place does not fit (then `wide` is set). */
U9_MUST_CHECK bool u9i_table_put(u9i_table *table, const u9i_key_entry *entry, size_t segment);

/*
 * The last entry, by segment and place, that may be of a key of this hash and stands before `below`, the rank of one
 * that was found before or UINT64_MAX. Returns its rank; 0: there is none.
 */
uint64_t u9i_table_find(const u9i_table *table, uint64_t hash, uint64_t below);

static inline size_t u9i_table_segment(const u9i_table *t, uint64_t rank)
{
    return (size_t)(rank >> (t->frame_bits + t->place_bits));
}

/* The virtual offset. */
static inline uint64_t u9i_table_at(const u9i_table *t, uint64_t rank)
{
    uint64_t frame = rank >> t->place_bits & ((UINT64_C(1) << t->frame_bits) - 1);
    return frame << U9I_VIRTUAL_SHIFT | (rank & ((UINT64_C(1) << t->place_bits) - 1));
}

/* True if entries of both hashes could be taken for one another. */
bool u9i_table_alike(const u9i_table *table, uint64_t hash, uint64_t other);

/* The group that it belongs into. */
static inline uint64_t u9i_table_home(const u9i_table *t, uint64_t hash)
{
    return (hash >> 32) * t->groups >> 32;
}

/* Asks the processor for what a lookup of this hash will look at first. */
static inline void u9i_table_bring(const u9i_table *t, uint64_t hash)
{
    __builtin_prefetch(t->slots + u9i_table_home(t, hash) * U9I_TABLE_GROUP, 0, 3);
}

#endif
