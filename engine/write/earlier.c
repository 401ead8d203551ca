/*
 * engine/write/earlier.c: see earlier.h.
 */
#include "engine/write/earlier.h"

#include "engine/segment/window.h"
#include "format/frame/body.h"

#include <stdlib.h>
#include <string.h>

typedef struct earlier {
    u9i_keys *keys;
    const u9i_key_entry *bar; /* keys above this are not in order; NULL: there is none */
    u9i_window *window;
    uint8_t *scratch;         /* for bodies that are wrapped, */
    size_t room;              /*   bytes */
    uint64_t previous;        /* the last frame: where it begins, */
    uint64_t pos;             /*   ends, */
    uint8_t chain[U9I_HASH_SIZE]; /* and its frame_sha */
    uint64_t records;
    u9i_key_entry part;       /* the key of the record whose parts are passed; at: of its first one, 0: none */
} earlier;

static bool add_key(earlier *e, const u9i_record *r, uint64_t at)
{
    u9i_key_entry entry;
    if (!u9i_keyspec_entry(&e->keys->spec, r->key, r->key_size, &entry)) return false;
    entry.at = at;
    e->records++;
    u9i_keys_add_entry(e->keys, &entry, e->bar && u9i_key_below(e->bar, &entry));
    return true;
}

/* One part: the first has the key, which leads to the last. [C-6] */
static bool pass_part(earlier *e, const u9i_frame *f, const u9i_body *body, uint64_t base)
{
    u9i_part_record part;
    u9i_record r;
    if (u9i_part_record_decode(body->bytes, body->size, &part) != U9_OK) return false;
    if (part.number == 0) {
        if (u9i_record_front(part.bytes.data, part.bytes.size, part.total, &r) != U9_OK ||
            !u9i_keyspec_entry(&e->keys->spec, r.key, r.key_size, &e->part))
            return false;
        e->part.at = 1;
    }
    if (f->trailer.count == 0) return true;
    if (e->part.at == 0) return false;
    e->part.at = base;
    u9i_keys_add_entry(e->keys, &e->part, true);
    e->part.at = 0;
    e->records++;
    return true;
}

static bool add_earlier_records(earlier *e, const u9i_frame *f, const u9i_body *body, uint64_t base)
{
    const uint8_t *next = body->bytes;
    size_t left = body->size;
    u9i_record r;
    uint32_t count = 0;
    for (; u9i_record_next(&next, &left, &r) == U9_OK; count++)
        if (!add_key(e, &r, base + (uint64_t)(r.bytes - body->bytes))) return false;
    return left == 0 && count == f->trailer.count;
}

static bool open_body(earlier *e, const u9i_frame *f, u9i_body *body)
{
    size_t need = 0;
    u9_err err = u9i_body_open(f, e->scratch, e->room, &need, body);
    if (err != U9_AGAIN) return err == U9_OK;
    uint8_t *more = (uint8_t *)realloc(e->scratch, need);
    if (more == NULL) return false;
    e->scratch = more;
    e->room = need;
    return u9i_body_open(f, e->scratch, e->room, &need, body) == U9_OK;
}

/* The frame behind the last one: what is whole and follows by its chain. */
static bool pass_frame(earlier *e, uint64_t bound)
{
    u9i_frame f;
    u9i_body body;
    if (u9i_window_find(e->window, e->pos, bound, &f) != U9_OK || u9i_window_at(e->window, f.offset, bound, &f) != U9_OK)
        return false;
    bool chained = f.trailer.previous == e->previous && memcmp(f.trailer.chain, e->chain, sizeof e->chain) == 0;
    bool follows = e->previous == 0 ? f.offset == U9I_DISK_HEADER_SIZE : chained;
    if (!follows || !open_body(e, &f, &body)) return false;
    e->previous = f.offset;
    e->pos = f.end;
    memcpy(e->chain, f.sha, sizeof e->chain);
    uint64_t base = f.offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    if (body.kind == U9I_BODY_RECORDS) return add_earlier_records(e, &f, &body, base);
    if (body.kind == U9I_BODY_PART) return pass_part(e, &f, &body, base);
    return f.trailer.count == 0;
}

static bool pass_all(earlier *e, const u9i_position *end)
{
    while (e->pos < end->offset)
        if (!pass_frame(e, end->offset) || e->keys->partial) return false;
    return memcmp(e->chain, end->chain, sizeof e->chain) == 0;
}

bool u9i_earlier_keys(const u9i_segment_out *o, const u9i_position *end, uint64_t records, const u9i_keys *later,
                      size_t memory, u9i_keys *keys)
{
    u9i_windows windows;
    earlier e = {.keys = keys, .pos = U9I_DISK_HEADER_SIZE, .bar = later->frame_count ? later->frames : NULL};
    if (!u9i_keys_open(keys, &later->spec, memory)) return false;
    u9i_windows_init(&windows, o->dir->env);
    bool whole = u9i_windows_lend(&windows, &e.window) == U9_OK;
    if (whole) {
        u9i_window_turn(e.window, o->file, &o->secret);
        whole = pass_all(&e, end) && e.records == records;
        u9i_window_turn(e.window, NULL, &o->secret);
        u9i_windows_return(&windows, e.window);
    }
    u9i_windows_release(&windows);
    free(e.scratch);
    if (whole) u9i_keys_sort(keys);
    return whole;
}
