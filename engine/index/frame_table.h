/*
 * engine/index/frame_table.h: the table of an open frame, by which one of its records is found.
 *
 * Of places: element n is where record n begins in the body; 2 bytes, wide 4. Of keys: groups of slots; a key's hash says
 * in which one it is, and where that is full in the next. A slot has 4 bytes, wide 8, and is 0, or from below the place of
 * a record and one more, its number, and as much as there is room for, 4 bits at least, of the top of its key's hash: the
 * more, the fewer records are looked at for nothing. So the number stands there as what it differs from where the record
 * would be if all were of one size: by `spread` at most.
 *
 * What a lookup does with a table stands here, as it is to be part of its caller; how one is made in frame_table.c.
 */
#ifndef U9I_FRAME_TABLE_H
#define U9I_FRAME_TABLE_H

#include "engine/index/keys.h"
#include "engine/index/open_frame.h"

#include <string.h>

enum { U9I_FRAME_TABLE_GROUP = 64 }; /* bytes of slots that are looked at together: one line of the processor's cache */
enum { U9I_FRAME_TABLE_LOAD_NUM = 10, U9I_FRAME_TABLE_LOAD_DEN = 9 }; /* a table has 10 slots for 9 records */

/* Where a record begins, and the hash of its key, if it is one of the spec. */
typedef struct u9i_seen_record {
    uint32_t place;
    bool keyed;
    uint64_t hash;
} u9i_seen_record;

/* Walks the records of the frame's body, into seen[0..count-1]: false if they are not what the trailer says. */
U9_MUST_CHECK bool u9i_frame_table_see(const u9i_keyspec *spec, uint64_t seed, const u9i_open_frame *frame, const u9i_body *body,
                                 u9i_seen_record *seen);

/* What its table will be like; then how many bytes it will have. */
void u9i_frame_table_measure(u9i_open_frame *frame, const u9i_seen_record *seen);
size_t u9i_frame_table_bytes(const u9i_open_frame *frame);

/* Fills frame->table, which is zeros. Where too many keys fall together it becomes one of places. */
void u9i_frame_table_fill(u9i_open_frame *frame, const u9i_seen_record *seen);

/* Of a table of places. Which record begins at this place of the body: false if none does. */
U9_MUST_CHECK bool u9i_frame_table_number_at(const u9i_open_frame *frame, uint32_t place, uint32_t *number);
/* How many begin before it. */
uint32_t u9i_frame_table_count_before(const u9i_open_frame *frame, uint64_t place);

static inline unsigned u9i_bits_of(uint64_t n)
{
    return n == 0 ? 0 : 64 - (unsigned)__builtin_clzll(n);
}

static inline uint32_t u9i_frame_table_group_slots(const u9i_open_frame *f)
{
    return f->wide ? U9I_FRAME_TABLE_GROUP / sizeof(uint64_t) : U9I_FRAME_TABLE_GROUP / sizeof(uint32_t);
}

static inline uint32_t u9i_frame_table_groups(const u9i_open_frame *f)
{
    uint64_t slots = (uint64_t)f->count * U9I_FRAME_TABLE_LOAD_NUM / U9I_FRAME_TABLE_LOAD_DEN;
    return (uint32_t)(slots / u9i_frame_table_group_slots(f) + 1);
}

/* Where a key of this hash is looked for first. */
static inline uint32_t u9i_frame_table_first_group(uint64_t hash, uint32_t groups)
{
    return (uint32_t)((hash & UINT32_MAX) * groups >> 32);
}

static inline uint32_t u9i_frame_table_even_number(const u9i_open_frame *f, uint32_t place)
{
    return (uint32_t)((uint64_t)place * f->count / f->size);
}

static inline unsigned u9i_frame_table_number_bits(const u9i_open_frame *f)
{
    return f->spread == UINT16_MAX ? u9i_bits_of(f->count) : u9i_bits_of(2u * f->spread);
}

static inline unsigned u9i_frame_table_tag_shift(const u9i_open_frame *f)
{
    return u9i_bits_of(f->size) + u9i_frame_table_number_bits(f);
}

static inline uint64_t u9i_slot_get(const u9i_open_frame *f, uint32_t i)
{
    return f->wide ? ((const uint64_t *)f->table)[i] : ((const uint32_t *)f->table)[i];
}

static inline uint32_t u9i_slot_place(const u9i_open_frame *f, uint64_t slot)
{
    return (uint32_t)(slot & ((UINT64_C(1) << u9i_bits_of(f->size)) - 1)) - 1;
}

static inline uint32_t u9i_slot_number(const u9i_open_frame *f, uint64_t slot)
{
    uint32_t told = (uint32_t)(slot >> u9i_bits_of(f->size) & ((UINT64_C(1) << u9i_frame_table_number_bits(f)) - 1));
    return f->spread == UINT16_MAX ? told : u9i_frame_table_even_number(f, u9i_slot_place(f, slot)) + told - f->spread;
}

static inline uint32_t u9i_frame_table_place(const u9i_open_frame *f, uint32_t n)
{
    return f->wide ? ((const uint32_t *)f->table)[n] : ((const uint16_t *)f->table)[n];
}

/* The records that may have a key, one after the other, the last one first. */
typedef struct u9i_slot_search {
    uint64_t tag;
    unsigned low;                  /* bits of a slot below its tag */
    uint32_t group, groups, alike; /* which ones are left of the group */
} u9i_slot_search;

/* Which slots of a group may be of a key of this tag: a bit each. */
static inline uint32_t u9i_frame_table_alike_wide(const u9i_open_frame *f, const u9i_slot_search *s)
{
    uint32_t alike = 0, each = u9i_frame_table_group_slots(f);
    for (uint32_t i = 0; i < each; i++)
        alike |= (uint32_t)(u9i_slot_get(f, s->group * each + i) >> s->low == s->tag) << i;
    return alike;
}

/* Four slots at a time. (Handed on by address: where a processor may be without vectors, gcc warns of any other way.) */
typedef uint32_t u9i_four_slots __attribute__((vector_size(16)));

static inline void u9i_frame_table_add_alike(u9i_four_slots *found, const uint32_t *slots, uint32_t tag, unsigned low,
                                             uint32_t bit)
{
    u9i_four_slots four;
    memcpy(&four, slots, sizeof four);
    *found |= (u9i_four_slots)(four >> low == tag) & (u9i_four_slots){bit, bit << 1, bit << 2, bit << 3};
}

static inline uint32_t u9i_frame_table_alike(const u9i_open_frame *f, const u9i_slot_search *s)
{
    if (f->wide) return u9i_frame_table_alike_wide(f, s);
    uint32_t tag = (uint32_t)s->tag;
    const uint32_t *slots = (const uint32_t *)f->table + (size_t)s->group * (U9I_FRAME_TABLE_GROUP / sizeof *slots);
    u9i_four_slots found = {0};
    u9i_frame_table_add_alike(&found, slots, tag, s->low, 1 << 0);
    u9i_frame_table_add_alike(&found, slots + 4, tag, s->low, 1 << 4);
    u9i_frame_table_add_alike(&found, slots + 8, tag, s->low, 1 << 8);
    u9i_frame_table_add_alike(&found, slots + 12, tag, s->low, 1 << 12);
    return found[0] | found[1] | found[2] | found[3];
}

static inline u9i_slot_search u9i_frame_table_search(const u9i_open_frame *f, uint64_t hash)
{
    u9i_slot_search s = {.low = u9i_frame_table_tag_shift(f), .groups = u9i_frame_table_groups(f)};
    s.tag = hash >> ((f->wide ? 0 : 32) + s.low);
    s.group = u9i_frame_table_first_group(hash, s.groups);
    s.alike = u9i_frame_table_alike(f, &s);
    return s;
}

/* The next slot of them; 0: there is none. A group with room is the last one: they are filled from the first on. */
static inline uint64_t u9i_frame_table_next(const u9i_open_frame *f, u9i_slot_search *s)
{
    uint32_t each = u9i_frame_table_group_slots(f);
    while (s->alike == 0) {
        if (u9i_slot_get(f, s->group * each + each - 1) == 0) return 0;
        s->group = s->group + 1 == s->groups ? 0 : s->group + 1;
        s->alike = u9i_frame_table_alike(f, s);
    }
    uint64_t slot = u9i_slot_get(f, s->group * each + (uint32_t)__builtin_ctz(s->alike));
    s->alike &= s->alike - 1;
    return slot;
}

#endif
