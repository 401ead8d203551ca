/*
 * engine/index/frames.c: see frames.h.
 */
#include "engine/index/frames.h"

#include "engine/os/list.h"
#include "engine/os/process.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP = 64,   /* bytes of slots that are looked at together: one line of the processor's cache */
    LOAD_NUM = 10, /* a table has 10 slots for 9 records */
    LOAD_DEN = 9,
    USUAL = U9I_FRAME_TARGET + U9I_BLOCK, /* bytes of a frame, as a rule */
    CROWD = 32, /* groups that are passed for one record, at most */
    PEEK = 256 /* bytes of a record that are read before it is known how many it has */
};

_Static_assert(sizeof(u9i_open_frame) == GROUP || sizeof(void *) < 8,
               "asked at each lookup: one line, behind which a table of keys begins");

/* One frame */

/* As u9i_body_open; of a plain seed file the body is values as they stand. [E-3] */
static u9_err open_loaded(const u9i_segment *s, const u9i_frame *f, uint8_t *scratch, size_t cap, size_t *need, u9i_body *out)
{
    if (!s->facts.plain) return u9i_body_open(f, scratch, cap, need, out);
    *out = (u9i_body){.kind = U9I_BODY_RECORDS, .bytes = f->body, .size = f->body_size, .plain = true};
    return f->body_size <= U9I_BODY_MAX ? U9_OK : U9_CORRUPT;
}

/* Opens the body of a frame whose bytes go with a window: into memory of its own. */
static u9_err own_body(const u9i_segment *s, u9i_loaded *l)
{
    size_t need = 0, size = l->frame.body_size;
    u9i_body body;
    u9_err err = open_loaded(s, &l->frame, NULL, 0, &need, &body);
    if (err == U9_AGAIN) size = need;
    else if (err != U9_OK) return err;
    l->own = (uint8_t *)malloc(size + 1);
    if (l->own == NULL) return U9_NOMEM;
    if (err == U9_AGAIN) return u9i_body_open(&l->frame, l->own, need, &need, &l->body);
    memcpy(l->own, body.bytes, body.size);
    l->body = body;
    l->body.bytes = l->own;
    return U9_OK;
}

static u9_err load_by_window(u9i_segment *s, u9i_window *w, u9_verify verify, u9i_file *file, uint64_t offset, uint64_t bound,
                             size_t about, u9i_loaded *out, int *sys)
{
    size_t seen;
    const uint8_t *bytes;
    u9i_window_turn(w, file, &s->facts.secret);
    u9i_window_remember(w, &s->verified, verify == U9_VERIFY_ALWAYS ? U9_VERIFY_ALWAYS : U9_VERIFY_FIRST);
    w->plain = s->facts.plain;
    w->until = offset; /* no more is read than the frame */
    if (about > bound - offset) about = offset < bound ? (size_t)(bound - offset) : 0;
    if (about > 0) (void)!u9i_window_bytes(w, offset, about, &bytes, &seen); /* what cannot be read is told below */
    u9_err err = u9i_window_at(w, offset, bound, &out->frame);
    *sys = w->sys;
    return err == U9_OK ? own_body(s, out) : err;
}

/* The frame where the file is mapped: its body stands there, if it is not wrapped. */
static u9_err load_by_map(u9i_segment *s, const uint8_t *bytes, uint64_t size, uint64_t offset, uint64_t bound, size_t about,
                          u9i_loaded *out)
{
    bool known = u9i_segment_is_verified(s, offset);
    u9i_proof proof = {.trust = known ? U9I_TRUST_FRAME : U9I_TRUST_NOTHING, .plain = s->facts.plain};
    if (bound > size) bound = size;
    if (offset >= bound) return U9_CORRUPT;
    if (about == 0) about = USUAL;
    u9i_segment_fetch(s, offset, bound - offset < about ? bound - offset : about);
    u9_err err = u9i_frame_verify(&s->facts.secret, offset, bound, bytes + offset, (size_t)(bound - offset), &proof, &out->frame);
    if (err != U9_OK) return U9_CORRUPT;
    if (!known && !u9i_segment_broken(s)) u9i_segment_set_verified(s, offset);
    size_t need = 0;
    err = open_loaded(s, &out->frame, NULL, 0, &need, &out->body);
    if (err != U9_AGAIN) return err;
    out->own = (uint8_t *)malloc(need + 1);
    return out->own ? u9i_body_open(&out->frame, out->own, need, &need, &out->body) : U9_NOMEM;
}

u9_err u9i_load(u9i_segment *s, u9i_windows *windows, uint64_t offset, uint64_t bound, size_t about, u9i_loaded *out, int *sys)
{
    u9i_window *w;
    u9i_file *file;
    uint64_t size;
    assert(offset % U9I_ALIGN == 0);
    memset(out, 0, sizeof *out);
    const uint8_t *bytes = u9i_segment_map(s, &size);
    if (bytes) {
        u9_err found = load_by_map(s, bytes, size, offset, bound, about, out);
        bool broke = u9i_segment_broken(s); /* read calls tell what is there */
        if (broke || found != U9_OK) u9i_unload(out);
        if (!broke) return found;
        memset(out, 0, sizeof *out);
    }
    *sys = -u9i_segment_open(s, &file);
    if (*sys != 0) return U9_IO;
    u9_err err = u9i_segment_mend(s, windows, &file, sys);
    if (err == U9_OK) err = u9i_windows_lend(windows, &w);
    if (err == U9_OK) {
        err = load_by_window(s, w, windows->verify, file, offset, bound, about, out, sys);
        u9i_windows_return(windows, w);
    }
    u9i_segment_close(s);
    if (err != U9_OK) u9i_unload(out);
    return err;
}

void u9i_unload(u9i_loaded *l)
{
    free(l->own);
    l->own = NULL;
}

/*
 * Tables
 *
 * Of places: element n is where record n begins in the body; 2 bytes, wide 4. Of keys: groups of slots; a key's hash says
 * in which one it is, and where that is full in the next. A slot has 4 bytes, wide 8, and is 0, or from below the place of
 * a record and one more, its number, and as much as there is room for, 4 bits at least, of the top of its key's hash: the
 * more, the fewer records are looked at for nothing. So the number stands there as what it differs from where the record
 * would be if all were of one size: by `spread` at most.
 */
enum { TAG_BITS_MIN = 4 };

static unsigned bits_of(uint64_t n)
{
    return n == 0 ? 0 : 64 - (unsigned)__builtin_clzll(n);
}

static uint32_t slots_in_group(const u9i_open_frame *f)
{
    return f->wide ? GROUP / sizeof(uint64_t) : GROUP / sizeof(uint32_t);
}

static uint32_t group_count(const u9i_open_frame *f)
{
    return (uint32_t)((uint64_t)f->count * LOAD_NUM / LOAD_DEN / slots_in_group(f) + 1);
}

/* Where a key of this hash is looked for first. */
static uint32_t first_group(uint64_t hash, uint32_t groups)
{
    return (uint32_t)((hash & UINT32_MAX) * groups >> 32);
}

static uint32_t number_if_even(const u9i_open_frame *f, uint32_t place)
{
    return (uint32_t)((uint64_t)place * f->count / f->size);
}

static unsigned number_bits(const u9i_open_frame *f)
{
    return f->spread == UINT16_MAX ? bits_of(f->count) : bits_of(2u * f->spread);
}

static unsigned tag_shift(const u9i_open_frame *f)
{
    return bits_of(f->size) + number_bits(f);
}

/* As it stands in a slot above the rest. */
static uint64_t slot_tag(const u9i_open_frame *f, uint64_t hash)
{
    return hash >> ((f->wide ? 0 : 32) + tag_shift(f));
}

static uint64_t slot_get(const u9i_open_frame *f, uint32_t i)
{
    return f->wide ? ((const uint64_t *)f->table)[i] : ((const uint32_t *)f->table)[i];
}

static uint32_t slot_place(const u9i_open_frame *f, uint64_t slot)
{
    return (uint32_t)(slot & ((UINT64_C(1) << bits_of(f->size)) - 1)) - 1;
}

static uint32_t slot_number(const u9i_open_frame *f, uint64_t slot)
{
    uint32_t told = (uint32_t)(slot >> bits_of(f->size) & ((UINT64_C(1) << number_bits(f)) - 1));
    return f->spread == UINT16_MAX ? told : number_if_even(f, slot_place(f, slot)) + told - f->spread;
}

static uint64_t packed_slot(const u9i_open_frame *f, uint64_t hash, uint32_t place, uint32_t number)
{
    uint64_t told = f->spread == UINT16_MAX ? number : number + f->spread - number_if_even(f, place);
    return slot_tag(f, hash) << tag_shift(f) | told << bits_of(f->size) | (place + 1);
}

static uint32_t place_get(const u9i_open_frame *f, uint32_t n)
{
    return f->wide ? ((const uint32_t *)f->table)[n] : ((const uint16_t *)f->table)[n];
}

static size_t table_bytes(const u9i_open_frame *f)
{
    if (f->kind != U9I_BODY_RECORDS) return 0;
    return f->keyed ? (size_t)group_count(f) * GROUP : f->count * (f->wide ? sizeof(uint32_t) : sizeof(uint16_t));
}

/* Where a record begins, and the hash of its key, if it is one of the spec. */
typedef struct seen_record {
    uint32_t place;
    bool keyed;
    uint64_t hash;
} seen_record;

/* Walks the records: false if they are not what the trailer says. */
static bool walk_records(const u9i_frames *fs, const u9i_open_frame *f, const u9i_body *b, seen_record *seen)
{
    const uint8_t *next = b->bytes;
    size_t left = b->size;
    u9i_record r;
    u9i_key_entry e;
    uint32_t n = 0;
    for (; n < f->count && u9i_body_next(b, &next, &left, &r) == U9_OK; n++) {
        bool keyed = f->keyed && u9i_keyspec_entry(&fs->spec, r.key, r.key_size, &e);
        seen[n] = (seen_record){.place = (uint32_t)(r.bytes - b->bytes), .keyed = keyed, .hash = keyed ? u9i_key_mix(&e, fs->seed) : 0};
    }
    return n == f->count && left == 0;
}

static uint16_t spread_of(const u9i_open_frame *f, const seen_record *seen)
{
    uint32_t most = 0;
    for (uint32_t n = 0; n < f->count; n++) {
        uint32_t even = number_if_even(f, seen[n].place), by = even < n ? n - even : even - n;
        if (most < by) most = by;
    }
    return most < UINT16_MAX && most < f->count / 2 ? (uint16_t)most : UINT16_MAX;
}

/* Of several records of one key the last one comes first. False: too many fall together, mostly for being of one key. */
static bool put_keys(u9i_open_frame *f, const seen_record *seen)
{
    uint32_t groups = group_count(f), each = slots_in_group(f), slots = groups * each;
    for (uint32_t n = f->count; n-- > 0;) {
        if (!seen[n].keyed) continue;
        uint64_t slot = packed_slot(f, seen[n].hash, seen[n].place, n);
        uint32_t i = first_group(seen[n].hash, groups) * each;
        for (unsigned steps = 0; slot_get(f, i) != 0; i = i + 1 == slots ? 0 : i + 1)
            if (++steps == CROWD * each) return false;
        if (f->wide) ((uint64_t *)f->table)[i] = slot;
        else ((uint32_t *)f->table)[i] = (uint32_t)slot;
    }
    return true;
}

static void put_places(u9i_open_frame *f, const seen_record *seen)
{
    for (uint32_t n = 0; n < f->count; n++) {
        if (f->wide) ((uint32_t *)f->table)[n] = seen[n].place;
        else ((uint16_t *)f->table)[n] = (uint16_t)seen[n].place;
    }
}

/* Open frames */

void u9i_open_frame_free(u9i_open_frame *f)
{
    if (f == NULL) return;
    if (f->owned) free((void *)(uintptr_t)f->bytes);
    free(f);
}

/* What is loaded, as an open frame without a table. It has the body's own memory then. */
static u9i_open_frame frame_of(uint64_t offset, bool keyed, u9i_loaded *l)
{
    uint32_t count = l->frame.trailer.count, size = (uint32_t)l->body.size;
    u9i_open_frame f = {.bytes = l->body.bytes,
                        .offset = offset,
                        .ordinal = l->frame.trailer.ordinal,
                        .time_us = l->frame.trailer.time_us,
                        .size = size,
                        .count = count,
                        .kind = (uint8_t)l->body.kind,
                        .plain = l->body.plain,
                        .keyed = keyed,
                        .wide = size > UINT16_MAX,
                        .spread = UINT16_MAX,
                        .owned = l->own != NULL};
    l->own = NULL;
    return f;
}

/* The caller's own. */
static u9_err make_own(u9i_open_frame *f, u9i_open_frame **own)
{
    *own = (u9i_open_frame *)malloc(sizeof **own);
    if (*own == NULL) return U9_NOMEM;
    **own = *f;
    f->owned = false;
    return U9_OK;
}

/* A body that is not kept stands in the file as it is, behind the frame's header. */
static bool is_read_again(const u9i_open_frame *f, const u9i_loaded *l)
{
    return f->owned && f->kind == U9I_BODY_RECORDS && !l->body.lz4 && !l->body.masked;
}

/* Memory for a frame that is kept, counted; its table zeroed. NULL: there is none. */
static u9i_open_frame *kept_frame(u9i_frames *fs, const u9i_open_frame *f, bool with_body)
{
    size_t bytes = table_bytes(f);
    uint64_t all = sizeof *f + bytes + (with_body ? f->size : 0);
    if (fs->windows->verify == U9_VERIFY_ALWAYS || !u9i_budget_take(fs->budget, all)) return NULL;
    u9i_open_frame *k = (u9i_open_frame *)(f->keyed ? u9i_budget_table(fs->budget, sizeof *k + bytes) : u9i_budget_head(fs->budget));
    void *table = k == NULL || bytes == 0 ? NULL : f->keyed ? (void *)(k + 1) : u9i_budget_table(fs->budget, bytes);
    if (k == NULL || (bytes > 0 && table == NULL)) {
        u9i_budget_give(fs->budget, all);
        return NULL;
    }
    *k = *f;
    k->table = table;
    k->kept = true;
    return k;
}

/* Puts it where the others look. Another may be there first: then it is that one, and memory of this stays unused. */
static const u9i_open_frame *keep(u9i_frames *fs, u9i_open_frame *f);

/* Proves the records of a loaded frame, and keeps it if it can be: then `*out` is not NULL. */
static u9_err prove_and_keep(u9i_frames *fs, u9i_open_frame *f, const u9i_body *body, bool with_body, u9i_open_frame **out)
{
    enum { USUAL_COUNT = 1024 };
    seen_record usual[USUAL_COUNT];
    seen_record *seen = f->count <= USUAL_COUNT ? usual : (seen_record *)malloc(f->count * sizeof *seen);
    if (seen == NULL) return U9_NOMEM;
    bool whole = walk_records(fs, f, body, seen);
    if (whole && f->keyed) f->spread = spread_of(f, seen);
    f->wide |= f->keyed && tag_shift(f) > 32 - TAG_BITS_MIN;
    u9i_open_frame *k = whole ? kept_frame(fs, f, with_body) : NULL;
    if (k && k->keyed) k->keyed = put_keys(k, seen);
    if (k && !k->keyed) put_places(k, seen); /* a table of keys is no smaller */
    if (seen != usual) free(seen);
    *out = k;
    return whole ? U9_OK : U9_CORRUPT;
}

static int compare_firsts(const void *a, const void *b)
{
    return u9i_order(((const u9i_first *)a)->offset, ((const u9i_first *)b)->offset);
}

/* A frame of a plain seed file bears no trailer: it has as many records as can be gone through, of which the first one's
 * ordinal was told. [E-3] */
static void number_plain(const u9i_frames *fs, u9i_open_frame *f, const u9i_body *b)
{
    const u9i_first sought = {.offset = f->offset}, *first = NULL;
    const uint8_t *next = b->bytes;
    size_t left = b->size;
    u9i_record r;
    if (fs->firsts.count > 0)
        first = (const u9i_first *)bsearch(&sought, fs->firsts.all, fs->firsts.count, sizeof sought, compare_firsts);
    if (first == NULL) return;
    f->ordinal = first->ordinal;
    while (u9i_body_next(b, &next, &left, &r) == U9_OK) f->count++;
}

/* What most frames have, as far as that is known: where frames are filled, all have about as much. */
static size_t most_bytes(const u9i_frames *fs)
{
    if (!fs->segment->facts.has_end) return 0;
    return (size_t)(fs->row_bytes < U9I_FRAME_TARGET / 2 ? fs->row_bytes : USUAL);
}

/* Opens a frame: it is kept, and `*own` NULL, or the caller's. */
static u9_err open_frame(u9i_frames *fs, uint64_t offset, bool keyed, const u9i_open_frame **out, u9i_open_frame **own, int *sys)
{
    u9i_loaded l;
    u9i_open_frame *k = NULL;
    u9_err err = u9i_load(fs->segment, fs->windows, offset, fs->bound, most_bytes(fs), &l, sys);
    if (err != U9_OK) return err;
    u9i_open_frame f = frame_of(offset, keyed, &l);
    if (f.plain) number_plain(fs, &f, &l.body);
    bool records = f.kind == U9I_BODY_RECORDS, again = is_read_again(&f, &l);
    if (f.count == 0) err = U9_CORRUPT; /* no index leads to it */
    f.wide |= again && keyed; /* a record that is looked at for nothing is a read */
    if (err == U9_OK && records) err = prove_and_keep(fs, &f, &l.body, f.owned && !again, &k);
    else if (err == U9_OK && !f.owned) k = kept_frame(fs, &f, false);
    if (err == U9_OK && k == NULL) err = make_own(&f, own);
    if (f.owned && (err != U9_OK || (k && again))) free((void *)(uintptr_t)f.bytes);
    if (k && again) k->bytes = NULL, k->owned = false;
    if (err == U9_OK) *out = k ? keep(fs, k) : *own;
    return err;
}

static void bring(const void *at)
{
    __builtin_prefetch(at, 0, 3);
    __builtin_prefetch((const uint8_t *)at + 64, 0, 3); /* the rest of the element, of the record */
    __builtin_prefetch((const uint8_t *)at + 128, 0, 3);
}

/* Records of open frames */

void u9i_found_free(u9i_found *found)
{
    free(found->own);
    found->own = NULL;
}

/* Reads [at, at + size) of the body from the file, in which it stands as it is. */
static u9_err read_body(const u9i_frames *fs, const u9i_open_frame *f, uint32_t at, uint8_t *buf, size_t size)
{
    size_t got;
    int err = u9i_file_read(fs->segment->file, f->offset + U9I_FRAME_HEADER_SIZE + at, buf, size, &got);
    return err != 0 ? U9_IO : got == size ? U9_OK : U9_CORRUPT;
}

/* The record at this place of a body that is not in memory: into out->own. */
static u9_err read_record(const u9i_frames *fs, const u9i_open_frame *f, uint32_t at, u9i_found *out)
{
    u9i_body b = {.kind = U9I_BODY_RECORDS, .plain = f->plain};
    size_t all = f->size - at, size = all < PEEK ? all : PEEK;
    for (;; size = size * 8 < all ? size * 8 : all) {
        uint8_t *bytes = (uint8_t *)malloc(size + 1);
        if (bytes == NULL) return U9_NOMEM;
        const uint8_t *next = bytes;
        size_t left = size;
        u9_err err = read_body(fs, f, at, bytes, size);
        if (err == U9_OK && u9i_body_next(&b, &next, &left, &out->record) == U9_OK) {
            out->own = bytes;
            return U9_OK;
        }
        free(bytes);
        if (err != U9_OK || size == all) return err != U9_OK ? err : U9_CORRUPT;
    }
}

/* The record that begins at this place of a body in memory. All were walked before. */
static inline u9_err record_in(const u9i_open_frame *f, uint32_t at, u9i_record *out)
{
    u9i_body b = {.kind = U9I_BODY_RECORDS, .plain = f->plain};
    const uint8_t *next = f->bytes + at;
    size_t left = f->size - at;
    return u9i_body_next_again(&b, &next, &left, out) == U9_OK ? U9_OK : U9_CORRUPT;
}

/* The same of any body. */
static u9_err record_at(const u9i_frames *fs, const u9i_open_frame *f, uint32_t at, u9i_found *out)
{
    out->own = NULL;
    if (at >= f->size) return U9_CORRUPT;
    if (f->bytes == NULL || u9i_open_frame_fell(fs, f)) return read_record(fs, f, at, out);
    return record_in(f, at, &out->record);
}

/* Which record begins at this place, by a table of places: about where it would be if all were of one size. */
static bool number_by_places(const u9i_open_frame *f, uint32_t at, uint32_t *number)
{
    uint32_t n = number_if_even(f, at), low = 0, high = f->count, step = 1;
    if (place_get(f, n) <= at) {
        for (low = n; n + step < high && place_get(f, n + step) <= at; step *= 2) low = n + step;
        if (n + step < high) high = n + step;
    } else {
        for (high = n; step < n && place_get(f, n - step) > at; step *= 2) high = n - step;
        if (step < n) low = n - step;
    }
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (place_get(f, middle) <= at) low = middle;
        else high = middle;
    }
    *number = low;
    return place_get(f, low) == at;
}

/* The records that may have a key, one after the other, the last one first. */
typedef struct slot_search {
    uint64_t tag;
    unsigned low;                  /* bits of a slot below its tag */
    uint32_t group, groups, alike; /* which ones are left of the group */
} slot_search;

/* Which slots of a group may be of a key of this tag: a bit each. */
static uint32_t alike_in_wide(const u9i_open_frame *f, const slot_search *s)
{
    uint32_t alike = 0, each = slots_in_group(f);
    for (uint32_t i = 0; i < each; i++) alike |= (uint32_t)(slot_get(f, s->group * each + i) >> s->low == s->tag) << i;
    return alike;
}

/* Four slots at a time. (Handed on by address: where a processor may be without vectors, gcc warns of any other way.) */
typedef uint32_t four_slots __attribute__((vector_size(16)));

static inline void add_alike(four_slots *found, const uint32_t *slots, uint32_t tag, unsigned low, uint32_t bit)
{
    four_slots four;
    memcpy(&four, slots, sizeof four);
    *found |= (four_slots)(four >> low == tag) & (four_slots){bit, bit << 1, bit << 2, bit << 3};
}

static inline uint32_t alike_in_group(const u9i_open_frame *f, const slot_search *s)
{
    if (f->wide) return alike_in_wide(f, s);
    const uint32_t *slots = (const uint32_t *)f->table + (size_t)s->group * (GROUP / sizeof *slots), tag = (uint32_t)s->tag;
    four_slots found = {0};
    add_alike(&found, slots, tag, s->low, 1 << 0);
    add_alike(&found, slots + 4, tag, s->low, 1 << 4);
    add_alike(&found, slots + 8, tag, s->low, 1 << 8);
    add_alike(&found, slots + 12, tag, s->low, 1 << 12);
    return found[0] | found[1] | found[2] | found[3];
}

static inline slot_search search_slots(const u9i_open_frame *f, uint64_t hash)
{
    slot_search s = {.low = tag_shift(f), .groups = group_count(f)};
    s.tag = hash >> ((f->wide ? 0 : 32) + s.low);
    s.group = first_group(hash, s.groups);
    s.alike = alike_in_group(f, &s);
    return s;
}

/* The next slot of them; 0: there is none. A group with room is the last one: they are filled from the first on. */
static inline uint64_t next_slot(const u9i_open_frame *f, slot_search *s)
{
    uint32_t each = slots_in_group(f);
    while (s->alike == 0) {
        if (slot_get(f, s->group * each + each - 1) == 0) return 0;
        s->group = s->group + 1 == s->groups ? 0 : s->group + 1;
        s->alike = alike_in_group(f, s);
    }
    uint64_t slot = slot_get(f, s->group * each + (uint32_t)__builtin_ctz(s->alike));
    s->alike &= s->alike - 1;
    return slot;
}

/* The same by a table of keys: where that of the record leads to. */
static bool number_by_keys(const u9i_frames *fs, const u9i_open_frame *f, const u9i_record *r, uint32_t at, uint32_t *number)
{
    u9i_key_entry e;
    if (!u9i_keyspec_entry(&fs->spec, r->key, r->key_size, &e)) return false;
    slot_search s = search_slots(f, u9i_key_mix(&e, fs->seed));
    for (uint64_t slot; (slot = next_slot(f, &s)) != 0;) {
        if (slot_place(f, slot) != at) continue;
        *number = slot_number(f, slot);
        return true;
    }
    return false;
}

/* Goes through the records of a frame that has no table: one that was not kept, so that its body is in memory. */
static void walk_open(const u9i_open_frame *f, u9i_walk_fn *each, void *ctx)
{
    u9i_body b = {.kind = U9I_BODY_RECORDS, .plain = f->plain};
    const uint8_t *next = f->bytes;
    size_t left = f->size;
    u9i_record r;
    assert(f->bytes != NULL);
    for (uint32_t n = 0; n < f->count && u9i_body_next_again(&b, &next, &left, &r) == U9_OK; n++)
        if (each(ctx, &r, (uint32_t)(r.bytes - f->bytes), n)) return;
}

typedef struct key_sought {
    const u9_key *key;
    uint32_t at;     /* where it is, or before which it is looked for */
    uint32_t number;
    bool there;
} key_sought;

static bool stands_at(void *ctx, const u9i_record *r, uint32_t at, uint32_t number)
{
    key_sought *s = (key_sought *)ctx;
    (void)r;
    s->there = at == s->at;
    s->number = number;
    return at >= s->at;
}

u9_err u9i_open_frame_walk(const u9i_frames *fs, const u9i_open_frame *f, u9i_walk_fn *each, void *ctx)
{
    u9i_loaded l;
    int sys;
    if (f->bytes && !u9i_open_frame_fell(fs, f)) {
        walk_open(f, each, ctx);
        return U9_OK;
    }
    u9_err err = u9i_load(fs->segment, fs->windows, f->offset, fs->bound, U9I_FRAME_HEADER_SIZE + f->size, &l, &sys);
    if (err != U9_OK) return err;
    u9i_open_frame again = *f;
    again.bytes = l.body.bytes;
    if (l.body.kind == U9I_BODY_RECORDS && l.body.size == f->size) walk_open(&again, each, ctx);
    else err = U9_CORRUPT;
    u9i_unload(&l);
    return err;
}

u9_err u9i_open_frame_key(const u9i_frames *fs, const u9i_open_frame *f, uint64_t at, u9i_key_entry *out)
{
    u9i_found found;
    u9_err err = record_at(fs, f, (uint32_t)(at & ((UINT64_C(1) << U9I_VIRTUAL_SHIFT) - 1)), &found);
    if (err != U9_OK) return err;
    if (!u9i_keyspec_entry(&fs->spec, found.record.key, found.record.key_size, out)) err = U9_CORRUPT;
    u9i_found_free(&found);
    return err;
}

u9_err u9i_open_frame_record(const u9i_frames *fs, const u9i_open_frame *f, uint64_t at, u9i_found *out)
{
    uint32_t place = (uint32_t)(at & ((UINT64_C(1) << U9I_VIRTUAL_SHIFT) - 1));
    key_sought s = {.at = place};
    if (f->kind != U9I_BODY_RECORDS || place >= f->size) return U9_CORRUPT;
    if (f->bytes && f->table) bring(f->bytes + place);
    if (f->table == NULL) walk_open(f, stands_at, &s);
    else if (!f->keyed) s.there = number_by_places(f, place, &s.number);
    if (!s.there && (f->table == NULL || !f->keyed)) return U9_CORRUPT;
    u9_err err = record_at(fs, f, place, out);
    if (err != U9_OK) return err;
    if (!s.there && !number_by_keys(fs, f, &out->record, place, &s.number)) {
        u9i_found_free(out);
        return U9_CORRUPT;
    }
    out->at = at;
    out->number = s.number;
    return U9_OK;
}

static bool record_has_key(const u9i_record *r, const u9_key *key)
{
    return r->key_size > 0 && r->key_size == key->size && memcmp(r->key, key->data, key->size) == 0;
}

static bool is_of_key(void *ctx, const u9i_record *r, uint32_t at, uint32_t number)
{
    key_sought *s = (key_sought *)ctx;
    if (at >= s->at) return true;
    if (record_has_key(r, s->key)) s->there = true, s->number = number;
    return false;
}

/* By going through all of them. */
static u9_err find_by_walk(const u9i_open_frame *f, const u9_key *key, uint64_t below, u9i_found *out)
{
    u9i_body b = {.kind = U9I_BODY_RECORDS, .plain = f->plain};
    uint64_t base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    const uint8_t *next = f->bytes;
    size_t left = f->size;
    key_sought s = {.key = key, .at = below - base < f->size ? (uint32_t)(below - base) : f->size};
    walk_open(f, is_of_key, &s);
    if (!s.there) return U9_ABSENT;
    for (uint32_t n = 0; n <= s.number; n++)
        if (u9i_body_next_again(&b, &next, &left, &out->record) != U9_OK) return U9_CORRUPT;
    out->own = NULL;
    out->number = s.number;
    out->at = base + (uint64_t)(out->record.bytes - f->bytes);
    return U9_OK;
}

/* How many records begin before this place. */
static uint32_t count_places(const u9i_open_frame *f, uint64_t below)
{
    uint32_t low = 0, high = f->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (place_get(f, middle) < below) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Of a body that is not kept: it is gone through at once, as a call for each record would take longer. */
static u9_err find_by_load(const u9i_frames *fs, const u9i_open_frame *f, const u9_key *key, uint64_t below, u9i_found *out)
{
    uint64_t base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    key_sought s = {.key = key, .at = below - base < f->size ? (uint32_t)(below - base) : f->size};
    u9_err err = u9i_open_frame_walk(fs, f, is_of_key, &s);
    if (err != U9_OK || !s.there) return err == U9_OK ? U9_ABSENT : err;
    out->at = base + place_get(f, s.number);
    out->number = s.number;
    return record_at(fs, f, place_get(f, s.number), out);
}

/* By a table of places: each record, the last one first. */
static u9_err find_by_places(const u9i_frames *fs, const u9i_open_frame *f, const u9_key *key, uint64_t below, u9i_found *out)
{
    uint64_t base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    if (f->bytes == NULL) return find_by_load(fs, f, key, below, out);
    for (uint32_t n = count_places(f, below - base); n-- > 0;) {
        uint32_t at = place_get(f, n);
        u9_err err = record_at(fs, f, at, out);
        out->at = base + at;
        out->number = n;
        if (err != U9_OK || record_has_key(&out->record, key)) return err;
        u9i_found_free(out);
    }
    return U9_ABSENT;
}

u9_err u9i_open_frame_at_slot(const u9i_frames *fs, const u9i_open_frame *f, const u9_key *key, uint64_t slot, u9i_found *out)
{
    uint32_t at = slot_place(f, slot);
    if (f->bytes) bring(f->bytes + at);
    u9_err err = record_at(fs, f, at, out);
    out->at = (f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT) + at;
    out->number = slot_number(f, slot);
    if (err != U9_OK || record_has_key(&out->record, key)) return err;
    u9i_found_free(out);
    return U9_ABSENT;
}

static u9_err find_by_keys(const u9i_frames *fs, const u9i_open_frame *f, const u9_key *key, uint64_t below, u9i_found *out)
{
    u9i_key_entry e;
    uint64_t base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    if (!u9i_keyspec_entry(&fs->spec, key->data, key->size, &e)) return U9_ABSENT;
    slot_search s = search_slots(f, u9i_key_mix(&e, fs->seed));
    for (uint64_t slot; (slot = next_slot(f, &s)) != 0;) {
        u9_err err = base + slot_place(f, slot) < below ? u9i_open_frame_at_slot(fs, f, key, slot, out) : U9_ABSENT;
        if (err != U9_ABSENT) return err;
    }
    return U9_ABSENT;
}

u9_err u9i_open_frame_find(const u9i_frames *fs, const u9i_open_frame *f, const u9_key *key, uint64_t below, u9i_found *out)
{
    uint64_t base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    if (f->kind != U9I_BODY_RECORDS || below <= base) return U9_ABSENT;
    if (f->table == NULL) return find_by_walk(f, key, below, out);
    return f->keyed ? find_by_keys(fs, f, key, below, out) : find_by_places(fs, f, key, below, out);
}

uint64_t u9i_open_frame_bring(const u9i_frames *fs, const u9i_open_frame *f, const u9_key *key, uint64_t at)
{
    u9i_key_entry e;
    uint32_t place = (uint32_t)(at & ((UINT64_C(1) << U9I_VIRTUAL_SHIFT) - 1));
    if (f->table == NULL) return 0;
    if (at != 0) {
        if (f->bytes && place < f->size) bring(f->bytes + place);
        if (!f->keyed) bring((const uint8_t *)f->table + (size_t)number_if_even(f, place) * (f->wide ? sizeof(uint32_t) : sizeof(uint16_t)));
        return 0;
    }
    if (!f->keyed || f->bytes == NULL || !u9i_keyspec_entry(&fs->spec, key->data, key->size, &e)) return 0;
    slot_search s = search_slots(f, u9i_key_mix(&e, fs->seed));
    uint64_t slot = next_slot(f, &s);
    if (slot != 0) bring(f->bytes + slot_place(f, slot));
    return slot;
}

/* The same size as a key of 16 bytes, which most are, without a call. */
static inline bool same_key(const u9i_record *r, const u9_key *key)
{
    if (r->key_size != 16 || key->size != 16) return record_has_key(r, key);
    uint64_t a[2], b[2];
    memcpy(a, r->key, sizeof a);
    memcpy(b, key->data, sizeof b);
    return a[0] == b[0] && a[1] == b[1];
}

u9_err u9i_open_frame_find_at_hand(const u9i_open_frame *f, const u9_key *key, uint64_t hash, uint64_t below, u9i_found *out)
{
    uint64_t slot, base = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    if (f->table == NULL || !f->keyed || f->bytes == NULL) return U9_AGAIN;
    out->own = NULL;
    for (slot_search s = search_slots(f, hash); (slot = next_slot(f, &s)) != 0;) {
        uint32_t at = slot_place(f, slot);
        if (base + at >= below) return U9_AGAIN;
        bring(f->bytes + at);
        if (record_in(f, at, &out->record) != U9_OK) return U9_AGAIN;
        if (!same_key(&out->record, key)) continue;
        out->at = base + at;
        out->number = slot_number(f, slot);
        return U9_OK;
    }
    return U9_ABSENT;
}

/* Frames that are kept */

static void frames_check(const u9i_frames *fs)
{
    assert(fs->kept_rows > 0 && fs->row_bytes >= U9I_BLOCK && fs->segment != NULL);
}

/* About the bytes of one frame of a segment. */
static uint64_t usual_bytes(const u9i_facts *f)
{
    uint64_t bytes = U9I_FRAME_TARGET;
    if (f->has_end && f->end.frames > 0) bytes = f->size / f->end.frames;
    return bytes < U9I_BLOCK ? U9I_BLOCK : bytes > U9I_FRAME_TARGET ? U9I_FRAME_TARGET : bytes;
}

u9_err u9i_frames_open(u9i_frames *fs, u9i_segment *segment, u9i_windows *windows, uint64_t bound, const u9i_keyspec *spec,
                       bool keyed, u9i_budget *budget, int *sys)
{
    u9i_file *file;
    uint64_t size = segment->facts.size < bound ? segment->facts.size : bound;
    *fs = (u9i_frames){.windows = windows, .bound = bound, .spec = *spec, .keyed = keyed && !spec->hashed,
                       .budget = budget, .row_bytes = usual_bytes(&segment->facts),
                       .seed = u9i_get_be(segment->facts.secret.boundary + 8, 8)};
    fs->kept_rows = (size_t)(size / fs->row_bytes) + 1;
    *sys = -u9i_segment_open(segment, &file);
    if (*sys != 0) return U9_IO;
    fs->kept = (u9i_kept_row *)u9i_pages(fs->kept_rows * sizeof *fs->kept);
    if (fs->kept == NULL) {
        u9i_segment_close(segment);
        return U9_NOMEM;
    }
    fs->segment = u9i_segment_ref(segment);
    frames_check(fs);
    return U9_OK;
}

void u9i_frames_close(u9i_frames *fs)
{
    if (fs->segment == NULL) return;
    for (size_t i = 0; i < fs->kept_rows; i++)
        for (u9i_open_frame *f = fs->kept[i].first; f; f = f->next)
            if (f->owned) {
                u9i_budget_give(fs->budget, f->size);
                free((void *)(uintptr_t)f->bytes);
            }
    free(fs->firsts.all);
    u9i_pages_free(fs->kept, fs->kept_rows * sizeof *fs->kept);
    u9i_segment_close(fs->segment);
    u9i_segment_unref(fs->segment);
    memset(fs, 0, sizeof *fs);
}

/* The row that a frame is kept in; what stands behind the size that the file had is in the last one. */
static u9i_kept_row *row_of(const u9i_frames *fs, uint64_t offset)
{
    uint64_t i = offset / fs->row_bytes;
    return &fs->kept[i < fs->kept_rows ? i : fs->kept_rows - 1];
}

static u9i_open_frame *kept_in(u9i_open_frame *row, uint64_t offset)
{
    while (row && row->offset != offset) row = row->next;
    return row;
}

uint32_t u9i_open_frame_groups(const u9i_open_frame *f)
{
    return f->keyed && f->table ? group_count(f) : 0;
}

static const u9i_open_frame *keep(u9i_frames *fs, u9i_open_frame *f)
{
    u9i_kept_row *row = row_of(fs, f->offset);
    u9i_open_frame *first = __atomic_load_n(&row->first, __ATOMIC_ACQUIRE);
    do {
        const u9i_open_frame *there = kept_in(first, f->offset);
        if (there) {
            if (f->owned) free((void *)(uintptr_t)f->bytes);
            return there;
        }
        f->next = first;
    } while (!__atomic_compare_exchange_n(&row->first, &first, f, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
    __atomic_store_n(&row->groups, u9i_open_frame_groups(f), __ATOMIC_RELAXED);
    atomic_fetch_add(&fs->budget->kept, 1);
    return f;
}

static u9i_open_frame *kept_at(const u9i_frames *fs, uint64_t offset)
{
    return kept_in(__atomic_load_n(&row_of(fs, offset)->first, __ATOMIC_ACQUIRE), offset);
}

void u9i_frames_bring(const u9i_frames *fs, uint64_t offset, const u9i_key_entry *key)
{
    const u9i_kept_row *row = row_of(fs, offset);
    const u9i_open_frame *f = __atomic_load_n(&row->first, __ATOMIC_RELAXED);
    uint32_t groups = __atomic_load_n(&row->groups, __ATOMIC_RELAXED);
    if (f) u9i_open_frame_bring_slots(f, groups, u9i_key_mix(key, fs->seed));
}

void u9i_open_frame_bring_slots(const u9i_open_frame *f, uint32_t groups, uint64_t hash)
{
    __builtin_prefetch(f, 0, 3);
    if (groups > 0) __builtin_prefetch((const uint8_t *)(f + 1) + (size_t)first_group(hash, groups) * GROUP, 0, 3);
}

const u9i_open_frame *u9i_frames_kept(const u9i_frames *fs, uint64_t offset)
{
    return kept_at(fs, offset);
}

void u9i_frames_bring_record(const u9i_frames *fs, uint64_t at)
{
    uint64_t offset = (at >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN;
    uint64_t there = offset + U9I_FRAME_HEADER_SIZE + (at & ((UINT64_C(1) << U9I_VIRTUAL_SHIFT) - 1));
    const u9i_open_frame *f = __atomic_load_n(&row_of(fs, offset)->first, __ATOMIC_RELAXED);
    const u9i_mapping *m = atomic_load_explicit(&fs->segment->maps[U9I_MAP_LOOKUP], memory_order_acquire);
    if (f == NULL) return; /* nor is anything else of it at hand */
    __builtin_prefetch(f, 0, 3);
    if (m && there < m->size) bring(m->bytes + there);
}

u9_err u9i_frames_at(u9i_frames *fs, uint64_t offset, const u9i_open_frame **out, u9i_open_frame **own, int *sys)
{
    *own = NULL;
    *out = kept_at(fs, offset);
    return *out ? U9_OK : open_frame(fs, offset, fs->keyed, out, own, sys);
}

u9_err u9i_frames_fenced_at(u9i_frames *fs, uint64_t offset, const u9i_open_frame **out, u9i_open_frame **own, int *sys)
{
    *own = NULL;
    *out = kept_at(fs, offset);
    return *out ? U9_OK : open_frame(fs, offset, !fs->spec.hashed, out, own, sys);
}
