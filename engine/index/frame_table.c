/*
 * engine/index/frame_table.c: see frame_table.h.
 */
#include "engine/index/frame_table.h"

enum {
    CROWD = 32,      /* groups that are passed for one record, at most */
    TAG_BITS_MIN = 4 /* of a slot; where there are fewer, slots are wide */
};

bool u9i_frame_table_see(const u9i_keyspec *spec, uint64_t seed, const u9i_open_frame *f, const u9i_body *b,
                         u9i_seen_record *seen)
{
    const uint8_t *next = b->bytes;
    size_t left = b->size;
    u9i_record r;
    u9i_key_entry e;
    uint32_t n = 0;
    for (; n < f->count && u9i_body_next(b, &next, &left, &r) == U9_OK; n++) {
        bool keyed = f->keyed && u9i_keyspec_entry(spec, r.key, r.key_size, &e);
        seen[n] = (u9i_seen_record){.place = (uint32_t)(r.bytes - b->bytes), .keyed = keyed};
        if (keyed) seen[n].hash = u9i_key_mix(&e, seed);
    }
    return n == f->count && left == 0;
}

static uint16_t spread_of(const u9i_open_frame *f, const u9i_seen_record *seen)
{
    uint32_t most = 0;
    for (uint32_t n = 0; n < f->count; n++) {
        uint32_t even = u9i_frame_table_even_number(f, seen[n].place), by = even < n ? n - even : even - n;
        if (most < by) most = by;
    }
    return most < UINT16_MAX && most < f->count / 2 ? (uint16_t)most : UINT16_MAX;
}

void u9i_frame_table_measure(u9i_open_frame *f, const u9i_seen_record *seen)
{
    if (!f->keyed) return;
    f->spread = spread_of(f, seen);
    f->wide |= u9i_frame_table_tag_shift(f) > 32 - TAG_BITS_MIN;
}

size_t u9i_frame_table_bytes(const u9i_open_frame *f)
{
    if (f->kind != U9I_BODY_RECORDS) return 0;
    if (f->keyed) return (size_t)u9i_frame_table_groups(f) * U9I_FRAME_TABLE_GROUP;
    return f->count * (f->wide ? sizeof(uint32_t) : sizeof(uint16_t));
}

/* As it stands in a slot above the rest. */
static uint64_t slot_tag(const u9i_open_frame *f, uint64_t hash)
{
    return hash >> ((f->wide ? 0 : 32) + u9i_frame_table_tag_shift(f));
}

static uint64_t packed_slot(const u9i_open_frame *f, uint64_t hash, uint32_t place, uint32_t number)
{
    uint64_t told = f->spread == UINT16_MAX ? number : number + f->spread - u9i_frame_table_even_number(f, place);
    return slot_tag(f, hash) << u9i_frame_table_tag_shift(f) | told << u9i_bits_of(f->size) | (place + 1);
}

/* Of several records of one key the last one comes first. False: too many fall together, mostly for being of one key. */
static bool put_keys(u9i_open_frame *f, const u9i_seen_record *seen)
{
    uint32_t groups = u9i_frame_table_groups(f), each = u9i_frame_table_group_slots(f), slots = groups * each;
    for (uint32_t n = f->count; n-- > 0;) {
        if (!seen[n].keyed) continue;
        uint64_t slot = packed_slot(f, seen[n].hash, seen[n].place, n);
        uint32_t i = u9i_frame_table_first_group(seen[n].hash, groups) * each;
        for (unsigned steps = 0; u9i_slot_get(f, i) != 0; i = i + 1 == slots ? 0 : i + 1)
            if (++steps == CROWD * each) return false;
        if (f->wide) ((uint64_t *)f->table)[i] = slot;
        else ((uint32_t *)f->table)[i] = (uint32_t)slot;
    }
    return true;
}

static void put_places(u9i_open_frame *f, const u9i_seen_record *seen)
{
    for (uint32_t n = 0; n < f->count; n++) {
        if (f->wide) ((uint32_t *)f->table)[n] = seen[n].place;
        else ((uint16_t *)f->table)[n] = (uint16_t)seen[n].place;
    }
}

void u9i_frame_table_fill(u9i_open_frame *f, const u9i_seen_record *seen)
{
    if (f->keyed) f->keyed = put_keys(f, seen);
    if (!f->keyed) put_places(f, seen); /* a table of keys is no smaller */
}

/* It is looked for from where it would be if all were of one size. */
bool u9i_frame_table_number_at(const u9i_open_frame *f, uint32_t at, uint32_t *number)
{
    uint32_t n = u9i_frame_table_even_number(f, at), low = 0, high = f->count, step = 1;
    if (u9i_frame_table_place(f, n) <= at) {
        for (low = n; n + step < high && u9i_frame_table_place(f, n + step) <= at; step *= 2) low = n + step;
        if (n + step < high) high = n + step;
    } else {
        for (high = n; step < n && u9i_frame_table_place(f, n - step) > at; step *= 2) high = n - step;
        if (step < n) low = n - step;
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (u9i_frame_table_place(f, middle) <= at) low = middle;
        else high = middle;
    }
    *number = low;
    return u9i_frame_table_place(f, low) == at;
}

uint32_t u9i_frame_table_count_before(const u9i_open_frame *f, uint64_t below)
{
    uint32_t low = 0, high = f->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (u9i_frame_table_place(f, middle) < below) low = middle + 1;
        else high = middle;
    }
    return low;
}
