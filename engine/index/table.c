/*
 * engine/index/table.c: see table.h.
 */
#include "engine/index/table.h"

#include "engine/os/process.h"

#include <assert.h>
#include <string.h>

enum {
    LOAD_NUM = 4,  /* entries take so many slots */
    LOAD_DEN = 5,  /*   of so many */
    CROWD = 64,    /* groups that are looked through for one key, at most */
    TAG_BITS_MIN = 6
};

static unsigned bits_for(uint64_t n)
{
    return n == 0 ? 1 : 64 - (unsigned)__builtin_clzll(n);
}

static unsigned rank_bits(const u9i_table *t)
{
    return t->segment_bits + t->frame_bits + t->place_bits;
}

static void table_check(const u9i_table *t)
{
    assert(t->slots != NULL && t->groups > 0 && rank_bits(t) + TAG_BITS_MIN <= 64);
    assert(t->count <= t->groups * U9I_TABLE_GROUP);
}

/* All but its memory. */
static u9i_table table_of(const u9i_table_plan *p)
{
    return (u9i_table){.groups = p->entries * LOAD_DEN / LOAD_NUM / U9I_TABLE_GROUP + 1, .seed = p->seed,
                       .place_bits = p->place_bits, .frame_bits = bits_for(p->segment_max / U9I_ALIGN),
                       .segment_bits = bits_for(p->segments)};
}

static size_t bytes_of_groups(const u9i_table *t)
{
    return (size_t)t->groups * U9I_TABLE_GROUP * sizeof *t->slots;
}

uint64_t u9i_table_bytes(const u9i_table_plan *p)
{
    u9i_table t = table_of(p);
    return rank_bits(&t) + TAG_BITS_MIN <= 64 && t.groups >> 32 == 0 ? bytes_of_groups(&t) : 0;
}

bool u9i_table_open(u9i_table *t, const u9i_table_plan *p)
{
    *t = table_of(p);
    t->slots = (uint64_t *)u9i_huge_pages(bytes_of_groups(t));
    if (t->slots == NULL) return false;
    table_check(t);
    return true;
}

void u9i_table_close(u9i_table *t)
{
    if (t->slots) u9i_pages_free(t->slots, bytes_of_groups(t));
    memset(t, 0, sizeof *t);
}

/* Not of the bits that say the group. */
static uint64_t tag_of(const u9i_table *t, uint64_t hash)
{
    return hash << rank_bits(t);
}

bool u9i_table_put(u9i_table *t, const u9i_key_entry *e, size_t segment)
{
    uint64_t frame = e->at >> U9I_VIRTUAL_SHIFT, place = e->at & ((UINT64_C(1) << U9I_VIRTUAL_SHIFT) - 1);
    uint64_t hash = u9i_table_hash(t, e), group = u9i_table_home(t, hash);
    if (place >> t->place_bits) t->wide = true;
    if (place >> t->place_bits || frame == 0 || frame >> t->frame_bits || segment >> t->segment_bits) return false;
    uint64_t entry = tag_of(t, hash) | ((uint64_t)segment << t->frame_bits | frame) << t->place_bits | place;
    for (unsigned n = 0; n < CROWD; n++, group = group + 1 == t->groups ? 0 : group + 1) {
        uint64_t *slot = t->slots + group * U9I_TABLE_GROUP;
        for (unsigned i = 0; i < U9I_TABLE_GROUP; i++) {
            if (slot[i] == entry) return true; /* put before */
            if (slot[i] != 0) continue;
            slot[i] = entry;
            t->count++;
            return true;
        }
    }
    return false;
}

uint64_t u9i_table_find(const u9i_table *t, uint64_t hash, uint64_t below)
{
    uint64_t group = u9i_table_home(t, hash), tag = tag_of(t, hash), best = 0;
    unsigned bits = rank_bits(t);
    for (unsigned n = 0; n < CROWD; n++, group = group + 1 == t->groups ? 0 : group + 1) {
        const uint64_t *slot = t->slots + group * U9I_TABLE_GROUP;
        for (unsigned i = 0; i < U9I_TABLE_GROUP; i++) {
            uint64_t rank = slot[i] ^ tag; /* of the tag alike: nothing above the rank is left */
            if (rank >> bits == 0 && rank > best && rank < below) best = rank;
        }
        if (slot[U9I_TABLE_GROUP - 1] == 0) break; /* they are filled from the first one on */
    }
    return best;
}

bool u9i_table_alike(const u9i_table *t, uint64_t hash, uint64_t other)
{
    uint64_t a = u9i_table_home(t, hash), b = u9i_table_home(t, other), apart = a < b ? b - a : a - b;
    return tag_of(t, hash) == tag_of(t, other) && (apart < CROWD || t->groups - apart < CROWD);
}
