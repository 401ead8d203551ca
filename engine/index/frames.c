/*
 * engine/index/frames.c: see frames.h.
 */
#include "engine/index/frames.h"

#include "engine/index/frame_table.h"
#include "engine/os/list.h"
#include "engine/os/process.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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
    size_t bytes = u9i_frame_table_bytes(f);
    uint64_t all = sizeof *f + bytes + (with_body ? f->size : 0);
    if (fs->windows->verify == U9_VERIFY_ALWAYS || !u9i_budget_take(fs->budget, all)) return NULL;
    u9i_open_frame *k = (u9i_open_frame *)(f->keyed ? u9i_budget_table(fs->budget, sizeof *k + bytes)
                                                    : u9i_budget_head(fs->budget));
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
    u9i_seen_record usual[USUAL_COUNT];
    u9i_seen_record *seen = f->count <= USUAL_COUNT ? usual : (u9i_seen_record *)malloc(f->count * sizeof *seen);
    if (seen == NULL) return U9_NOMEM;
    bool whole = u9i_frame_table_see(&fs->spec, fs->seed, f, body, seen);
    if (whole) u9i_frame_table_measure(f, seen);
    u9i_open_frame *k = whole ? kept_frame(fs, f, with_body) : NULL;
    if (k) u9i_frame_table_fill(k, seen);
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
    return (size_t)(fs->row_bytes < U9I_FRAME_TARGET / 2 ? fs->row_bytes : U9I_FRAME_USUAL);
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
    if (m && there < m->size) u9i_bring(m->bytes + there);
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
