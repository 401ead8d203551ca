/*
 * engine/index/index_out.c: see index_out.h.
 */
#include "engine/index/index_out.h"

#include "engine/os/process.h"
#include "format/base/bytes.h"
#include "format/frame/body.h"
#include "format/frame/disk.h"
#include "format/frame/filter.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_ENTRIES = 2048,      /* of a page */
    ROOT_ENTRIES = 1 << 18,   /* of a root, at most: of larger indexes pages are larger */
    RECORD_HEAD = 128,        /* what a page or a slice of the filter has beside its arrays, without a root's elements */
    FLUSH = 1 << 20,          /* bytes that are written at once, about */
    FRAME_COST = RECORD_HEAD + U9I_MASK_HEAD + U9I_FRAME_HEADER_SIZE + U9I_TRAILER_SIZE + U9I_ALIGN
};

static size_t entry_size(const u9i_keyspec *spec)
{
    return spec->width + 8;
}

static size_t page_entries(uint64_t entries)
{
    uint64_t n = entries / ROOT_ENTRIES + 1;
    return n > PAGE_ENTRIES ? (size_t)n : PAGE_ENTRIES;
}

static uint64_t slices(uint64_t blocks)
{
    return (blocks + U9I_FILTER_SLICE_BLOCKS - 1) / U9I_FILTER_SLICE_BLOCKS;
}

/* Of one form, with its filter if it has one. */
static uint64_t form_bound(const u9i_keyspec *spec, uint64_t entries, bool filtered)
{
    if (entries == 0) return 0;
    uint64_t pages = (entries - 1) / page_entries(entries) + 1;
    uint64_t blocks = filtered ? u9i_filter_blocks(entries) : 0;
    return (entries + pages) * entry_size(spec) + (pages + 1) * FRAME_COST + blocks * U9I_FILTER_BLOCK +
           slices(blocks) * (FRAME_COST + 8);
}

uint64_t u9i_index_bound(const u9i_keyspec *spec, uint64_t frames, uint64_t records)
{
    return form_bound(spec, frames, false) + form_bound(spec, records, true) + (uint64_t)2 * U9I_BLOCK;
}

/* Room in the buffer for one frame's body of so many bytes. */
static bool grow_buffer(u9i_index_out *o, size_t body)
{
    size_t need = o->fill + u9i_frame_size(body + U9I_MASK_HEAD) + U9I_BLOCK;
    if (need <= o->buffer_room) return true;
    assert(o->error == 0); /* else a write of the buffer may still be under way */
    uint8_t *more = (uint8_t *)u9i_pages(need + FLUSH);
    if (more == NULL) return false;
    if (o->fill > 0) memcpy(more, o->buffer, o->fill);
    u9i_pages_free(o->buffer, o->buffer_room);
    o->buffer = more;
    o->buffer_room = need + FLUSH;
    return true;
}

int u9i_index_out_open(u9i_index_out *o)
{
    assert(o->buffer == NULL && o->at.offset > U9I_DISK_HEADER_SIZE);
    o->base = o->at.offset = (o->at.offset + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    if (!grow_buffer(o, RECORD_HEAD)) return -ENOMEM;
    int sys = u9i_queue_open(o->file->env, NULL, 0, 0, &o->queue);
    if (sys != 0) {
        o->queue = NULL;
        u9i_index_out_close(o);
        return sys;
    }
    return 0;
}

static void forget_form(u9i_index_out *o)
{
    free(o->keys);
    free(o->root_keys);
    free(o->filter);
    o->keys = o->places = o->root_keys = o->root_places = o->filter = NULL;
    o->count = o->pages = 0;
}

void u9i_index_out_close(u9i_index_out *o)
{
    if (o->queue) u9i_queue_close(o->queue); /* first: the buffer is its until then */
    o->queue = NULL;
    forget_form(o);
    u9i_pages_free(o->buffer, o->buffer_room);
    o->buffer = NULL;
}

static int fail_out(u9i_index_out *o, int error)
{
    if (o->error == 0) o->error = error;
    return o->error;
}

/* Writes the buffer's whole blocks, and keeps the rest. */
static void write_blocks(u9i_index_out *o)
{
    size_t whole = o->fill / U9I_BLOCK * U9I_BLOCK;
    if (whole == 0 || o->error != 0) return;
    u9i_op write = {.kind = U9I_OP_WRITE, .file = o->file, .off = o->base, .buf = o->buffer, .n = whole};
    int64_t sys = u9i_queue_do(o->queue, &write);
    if (sys < 0) (void)fail_out(o, (int)sys);
    memmove(o->buffer, o->buffer + whole, o->fill - whole);
    o->base += whole;
    o->fill -= whole;
}

/* The body that was encoded at its place becomes a frame. [F-7] Returns its virtual offset. */
static uint64_t put_frame(u9i_index_out *o, const u9i_out *body)
{
    uint8_t *frame = o->buffer + o->fill;
    size_t size = body->size;
    if (body->failed) {
        (void)fail_out(o, -ENOMEM);
        return 0;
    }
    u9i_trailer t = {.ordinal = o->at.ordinal, .offset = o->at.offset, .previous = o->previous, .durable = o->durable,
                     .time_us = o->time_us};
    memcpy(t.chain, o->at.chain, sizeof t.chain);
    while (u9i_frame_seal(&o->secret, &t, frame, size, o->at.chain) != U9_OK) {
        uint8_t mask[U9I_HASH_SIZE] = {0}; /* the time makes the next one another */
        if (size == body->size) size = u9i_mask_wrap(frame + U9I_FRAME_HEADER_SIZE, size, mask);
        u9i_hash((const uint8_t *)&t, sizeof t, mask);
        u9i_mask_again(frame + U9I_FRAME_HEADER_SIZE, size, mask);
        t.time_us++;
    }
    uint64_t begin = o->at.offset;
    o->previous = begin;
    o->time_us = t.time_us;
    o->fill += u9i_frame_size(size);
    o->at.offset = o->base + o->fill;
    o->frames++;
    if (o->fill >= FLUSH) write_blocks(o);
    return begin / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
}

/* Room for a body of the next frame; failed if there is none. */
static u9i_out begin_body(u9i_index_out *o, size_t size)
{
    u9i_out out = u9i_out_init(NULL, 0);
    if (!grow_buffer(o, size)) out.failed = true;
    else out = u9i_out_init(o->buffer + o->fill + U9I_FRAME_HEADER_SIZE, size);
    return out;
}

static u9i_page_record page_of(const u9i_index_out *o, const uint8_t *keys, const uint8_t *places, uint32_t count)
{
    u9i_page_record r = {.key_size = o->spec.width, .count = count, .keys = keys, .at = places};
    memcpy(r.keyspec, u9i_keyspec_name(&o->spec), strlen(u9i_keyspec_name(&o->spec)));
    return r;
}

int u9i_index_out_begin(u9i_index_out *o, u9i_index_form form, uint64_t entries)
{
    assert(o->keys == NULL && entries > 0);
    size_t width = o->spec.width;
    o->form = form;
    o->entries = entries;
    o->told = 0;
    o->page_room = page_entries(entries);
    uint64_t pages = (entries - 1) / o->page_room + 1;
    o->blocks = form == U9I_INDEX_RECORDS && !o->unfiltered ? u9i_filter_blocks(entries) : 0;
    assert(pages <= ROOT_ENTRIES);
    if (o->blocks > UINT32_MAX) return fail_out(o, -EFBIG);
    o->root_room = (uint32_t)pages;
    o->keys = (uint8_t *)malloc(o->page_room * (width + 8));
    o->root_keys = (uint8_t *)malloc((size_t)pages * (width + 8));
    o->filter = o->blocks ? (uint8_t *)calloc((size_t)o->blocks, U9I_FILTER_BLOCK) : NULL;
    if (o->keys == NULL || o->root_keys == NULL || (o->blocks && o->filter == NULL)) {
        forget_form(o);
        return fail_out(o, -ENOMEM);
    }
    o->places = o->keys + o->page_room * width;
    o->root_places = o->root_keys + (size_t)pages * width;
    return o->error;
}

static void put_entry_key(uint8_t *out, size_t width, const u9i_key_entry *e)
{
    u9i_set_be(out, 8, e->hi);
    if (width == 16) u9i_set_be(out + 8, 8, e->lo);
}

static void end_page(u9i_index_out *o)
{
    size_t width = o->spec.width;
    u9i_page_record r = page_of(o, o->keys, o->places, o->count);
    u9i_out body = begin_body(o, o->count * (width + 8) + RECORD_HEAD);
    u9i_page_record_encode(&body, &r);
    uint64_t at = put_frame(o, &body);
    assert(o->pages < o->root_room);
    memcpy(o->root_keys + o->pages * width, o->keys, width);
    u9i_set_be(o->root_places + (size_t)o->pages * 8, 8, at);
    o->pages++;
    o->count = 0;
}

void u9i_index_out_add(u9i_index_out *o, const u9i_key_entry *e)
{
    size_t width = o->spec.width;
    uint8_t *key = o->keys + o->count * width;
    if (o->error != 0) return;
    put_entry_key(key, width, e);
    u9i_set_be(o->places + (size_t)o->count * 8, 8, e->at);
    if (o->filter) {
        uint64_t hash = u9i_filter_hash(key, width);
        u9i_filter_set(o->filter + u9i_filter_block(hash, o->blocks) * U9I_FILTER_BLOCK, hash);
    }
    o->last = *e;
    o->told++;
    if (++o->count == o->page_room) end_page(o);
}

/* The filter in slices; their places are written to `places`. */
static void put_filter(u9i_index_out *o, uint8_t *places)
{
    uint64_t left = o->blocks * U9I_FILTER_BLOCK;
    for (const uint8_t *p = o->filter; left > 0 && o->error == 0; places += 8) {
        size_t n = left < U9I_FILTER_SLICE ? (size_t)left : U9I_FILTER_SLICE;
        u9i_out body = begin_body(o, n + RECORD_HEAD);
        u9i_bits_record_encode(&body, (u9i_span){.data = p, .size = n});
        u9i_set_be(places, 8, put_frame(o, &body));
        p += n;
        left -= n;
    }
}

int u9i_index_out_end(u9i_index_out *o, const u9i_key_entry *last)
{
    uint8_t greatest[16];
    size_t width = o->spec.width, count = (size_t)slices(o->blocks);
    assert(o->error != 0 || o->told == o->entries);
    if (o->error == 0 && o->count > 0) end_page(o);
    uint8_t *places = (uint8_t *)malloc(count * 8 + 1);
    if (places == NULL) (void)fail_out(o, -ENOMEM);
    if (o->error == 0) put_filter(o, places);
    u9i_page_record r = page_of(o, o->root_keys, o->root_places, o->pages);
    r.has_seed = o->spec.hashed;
    r.seed = o->spec.hashed ? o->spec.seed : 0;
    r.has_root = true;
    r.root.form = o->form;
    r.root.entries = o->entries;
    r.root.records = o->records;
    r.root.end = o->data;
    r.root.other = o->root;
    put_entry_key(greatest, width, last ? last : &o->last);
    r.root.last = (u9i_span){.data = greatest, .size = width};
    r.root.slices = places;
    r.root.slice_count = (uint32_t)count;
    size_t lost = o->lost ? (size_t)o->lost->count * 2 : 0;
    if (lost > 0) {
        r.root.lost = o->lost->ranges;
        r.root.lost_count = (uint32_t)lost;
        memcpy(r.root.content, o->content, sizeof r.root.content);
    }
    if (o->error == 0) {
        u9i_out body = begin_body(o, o->pages * (width + 8) + (count + lost) * 8 + 2 * RECORD_HEAD);
        u9i_page_record_encode(&body, &r);
        o->root = put_frame(o, &body);
    }
    free(places);
    forget_form(o);
    return o->error;
}

/* Entries in a row, of which each is sorted; all of `a` stand in front of those of `b` in the file. */
typedef struct entry_rows {
    const u9i_key_entry *a, *b;
    size_t a_count, b_count;
} entry_rows;

static const u9i_key_entry *take_entry(entry_rows *r)
{
    bool first = r->b_count == 0 || (r->a_count > 0 && !u9i_key_below(r->b, r->a));
    if (first) r->a_count--;
    else r->b_count--;
    return first ? r->a++ : r->b++;
}

static int put_entries(u9i_index_out *o, u9i_index_form form, entry_rows rows, const u9i_key_entry *last)
{
    size_t count = rows.a_count + rows.b_count;
    if (count == 0) return o->error;
    int sys = u9i_index_out_begin(o, form, count);
    for (size_t i = 0; i < count && sys == 0; i++) u9i_index_out_add(o, take_entry(&rows));
    return sys == 0 ? u9i_index_out_end(o, last) : sys;
}

int u9i_index_out_keys(u9i_index_out *o, const u9i_keys *earlier, const u9i_keys *keys)
{
    entry_rows frames = {.b = keys->frames, .b_count = keys->frame_count};
    entry_rows records = {.b = keys->records, .b_count = keys->record_count};
    const u9i_key_entry *top = &keys->top;
    assert(!keys->partial);
    if (earlier) {
        assert(!earlier->partial && earlier->sorted);
        frames.a = earlier->frames, frames.a_count = earlier->frame_count;
        records.a = earlier->records, records.a_count = earlier->record_count;
        if (keys->frame_count == 0) top = &earlier->top;
        assert(frames.a_count == 0 || frames.b_count == 0 || !u9i_key_below(frames.b, &earlier->top));
    }
    int sys = put_entries(o, U9I_INDEX_FRAMES, frames, top);
    return sys == 0 ? put_entries(o, U9I_INDEX_RECORDS, records, NULL) : sys;
}

int u9i_index_out_finish(u9i_index_out *o)
{
    size_t rest = o->fill % U9I_BLOCK;
    if (rest > 0) {
        memset(o->buffer + o->fill, 0, U9I_BLOCK - rest);
        o->fill += U9I_BLOCK - rest;
    }
    write_blocks(o);
    return o->error;
}
