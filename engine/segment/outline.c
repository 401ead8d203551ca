/*
 * engine/segment/outline.c: see outline.h.
 */
#include "engine/segment/outline.h"

#include "engine/os/list.h"
#include "format/base/bytes.h"
#include "format/frame/body.h"

#include <stdlib.h>

enum { KEY_SIZE = 16 };

static bool is_key_below(const u9i_outline_key *a, const u9i_outline_key *b)
{
    return a->hi < b->hi || (a->hi == b->hi && a->lo < b->lo);
}

static bool append_outlined(u9i_outline *o, const u9i_outline_frame *f)
{
    if (o->count == o->room) {
        size_t room = o->room > 0 ? 2 * o->room : 64;
        u9i_outline_frame *more = room <= U9I_OUTLINE_MAX ? realloc(o->frames, room * sizeof *more) : NULL;
        if (more == NULL) return false;
        o->frames = more;
        o->room = room;
    }
    o->frames[o->count++] = *f;
    return true;
}

/*
 * False: its records are not as they usually are. Values of the most common records are not looked at: who reads one of them
 * reads its whole frame, which tells.
 */
static bool outline_records(u9i_outline *o, const u9i_frame *frame, const u9i_body *body)
{
    u9i_outline_frame f = {.offset = frame->offset};
    const uint8_t *next = body->bytes;
    size_t left = body->size;
    u9i_record r;
    for (; u9i_body_next_again(body, &next, &left, &r) == U9_OK && r.key_size == KEY_SIZE; f.count++) {
        u9i_outline_key key = {u9i_get_be(r.key, 8), u9i_get_be((const uint8_t *)r.key + 8, 8)};
        if (f.count == 0) f.first = key;
        else if (is_key_below(&key, &f.last)) return false;
        f.last = key;
    }
    return left == 0 && f.count == frame->trailer.count && append_outlined(o, &f);
}

static bool outline_body(u9i_outline *o, const u9i_frame *frame)
{
    size_t need = 0;
    u9i_body body;
    if (frame->body == NULL) return append_outlined(o, &(u9i_outline_frame){.offset = frame->offset});
    if (u9i_body_open(frame, NULL, 0, &need, &body) != U9_OK) return false;
    if (body.kind == U9I_BODY_RECORDS) return outline_records(o, frame, &body);
    return frame->trailer.count == 0 && body.kind != U9I_BODY_PART;
}

void u9i_outline_add(u9i_outline *o, const u9i_frame *frame)
{
    if (!o->spoiled && !outline_body(o, frame)) o->spoiled = true;
}

static int compare_frames(const void *a, const void *b)
{
    return u9i_order(((const u9i_outline_frame *)a)->offset, ((const u9i_outline_frame *)b)->offset);
}

void u9i_outline_join(u9i_outline *o, u9i_outline *other)
{
    size_t n = 0;
    o->spoiled |= other->spoiled;
    if (!o->spoiled && other->count > 0) qsort(other->frames, other->count, sizeof *other->frames, compare_frames);
    for (size_t i = 0; i < o->count && !o->spoiled; i++) {
        u9i_outline_frame *f = &o->frames[i];
        while (f->count == 0 && n < other->count && other->frames[n].offset < f->offset) n++;
        if (f->count == 0 && n < other->count && other->frames[n].offset == f->offset) *f = other->frames[n];
        o->spoiled = f->count == 0 || (i > 0 && is_key_below(&f->first, &o->frames[i - 1].last));
    }
    u9i_outline_free(other);
}

void u9i_outline_free(u9i_outline *o)
{
    free(o->frames);
    o->frames = NULL;
    o->count = o->room = 0;
}

u9i_outline *u9i_outline_share(u9i_outline *o)
{
    u9i_outline *shared = o->spoiled ? NULL : malloc(sizeof *shared);
    if (shared) {
        shared->frames = o->frames;
        shared->count = o->count;
        shared->room = o->room;
        shared->end = o->end;
        shared->spoiled = false;
        atomic_init(&shared->references, 1);
        o->frames = NULL;
    }
    u9i_outline_free(o);
    return shared;
}

u9i_outline *u9i_outline_ref(u9i_outline *shared)
{
    if (shared) atomic_fetch_add(&shared->references, 1);
    return shared;
}

void u9i_outline_unref(u9i_outline *shared)
{
    if (shared == NULL || atomic_fetch_sub(&shared->references, 1) > 1) return;
    u9i_outline_free(shared);
    free(shared);
}
