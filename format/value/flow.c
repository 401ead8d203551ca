/*
 * format/value/flow.c: see flow.h.
 */
#include "format/value/flow.h"

#include "format/base/fault.h"
#include "format/value/decode.h"
#include "format/value/typecode.h"

#include <u9/value_index.h>

#include <assert.h>

static void flow_check(const u9i_flow *f)
{
    assert(f->depth <= f->depth_max && f->depth_max <= U9_DEPTH_MAX);
    assert(f->kept <= f->want && f->want <= f->cap);
    assert(f->skip == 0 || f->kept == 0);
}

void u9i_flow_init(u9i_flow *f, unsigned outer, uint64_t count, uint64_t total, uint8_t *room,
                   size_t cap)
{
    assert(cap >= U9I_FLOW_ROOM && outer <= U9_DEPTH_MAX);
    *f = (u9i_flow){.room = room, .cap = cap, .depth_max = U9_DEPTH_MAX - outer};
    f->open[0] = (u9i_flow_level){.end = total, .due = count};
}

static u9_err refuse_flow(u9i_flow *f, u9_err err, const char *rule, const char *text,
                          u9_fault *fault)
{
    f->refused = true;
    return u9i_refuse(fault, err, f->at, rule, text);
}

/* Leaves the containers that are over. */
static u9_err leave_levels(u9i_flow *f, u9_fault *fault)
{
    while (f->open[f->depth].due == 0) {
        if (f->at != f->open[f->depth].end)
            return f->depth > 0
                       ? refuse_flow(f, U9_CORRUPT, "V-4", "bytes behind a tuple's last element",
                                     fault)
                       : refuse_flow(f, U9_CORRUPT, "V-8", "bytes behind the last value", fault);
        if (f->depth == 0) return U9_END;
        f->depth--;
    }
    return U9_OK;
}

/* More of the value is wanted, in the room. */
static u9_err want_more(u9i_flow *f, uint64_t want, u9_fault *fault)
{
    /* A value's front always fits; two bytes stay free behind an index. */
    if (want > f->cap - 2)
        return refuse_flow(f, U9_NOMEM, "V-8",
                           "an index, or an array of tuples, that is too large to come in pieces",
                           fault);
    f->want = (size_t)want;
    return U9_AGAIN;
}

/* An index, which is looked at when it is whole, in the room. */
static u9_err flow_index(u9i_flow *f, const uint8_t *p, size_t avail, uint64_t left, size_t *used,
                         u9_fault *fault)
{
    unsigned width = u9i_index_width(p[0]);
    if (left - 1 >= width && avail < 1 + width) return want_more(f, 1 + width, fault);
    uint64_t l = left - 1 >= width ? u9i_get_be(p + 1, width) : 0;
    if (left - 1 < width || l > left - 1 - width)
        return refuse_flow(f, U9_CORRUPT, "X-1", "an index passes the end of its tuple", fault);
    uint64_t whole = 1 + width + l;
    if (avail < whole || p != f->room) return want_more(f, whole, fault);
    f->room[whole] =
        0x48; /* the shortest container: an index alone is none of the values that can be proved */
    f->room[whole + 1] = 0;
    u9_fault why = {.offset = 0};
    u9_err err = u9i_value_check_inside(U9_DEPTH_MAX - f->depth_max + f->depth, f->room,
                                        (size_t)whole + 2, NULL, &why);
    if (err != U9_OK)
        return refuse_flow(f, err == U9_LIMIT ? err : U9_CORRUPT, "X-1",
                           "an index that is not well-formed", fault);
    f->open[f->depth].indexed = true;
    *used = (size_t)whole;
    return U9_OK;
}

/* Enters a tuple. */
static u9_err enter_tuple(u9i_flow *f, const u9i_parts *v, u9_fault *fault)
{
    if (f->depth == f->depth_max)
        return refuse_flow(f, U9_LIMIT, "V-8", "containers are nested too deeply", fault);
    f->open[++f->depth] = (u9i_flow_level){.end = f->at + v->head + v->body, .due = v->count};
    return U9_OK;
}

/* An array: passed by its size, or, one of tuples, looked at when it is whole, in the room. [V-5] */
static u9_err flow_array(u9i_flow *f, const uint8_t *p, size_t avail, const u9i_parts *v,
                         size_t *used, u9_fault *fault)
{
    u9i_typecode t;
    u9_value array;
    size_t here = avail - v->head < v->body ? avail - v->head : (size_t)v->body;
    u9_err err = u9i_typecode_read(p + v->head, here, &t);
    if (err == U9_TORN && here < v->body) return want_more(f, avail + 1, fault);
    if (err == U9_OK) err = u9i_look_array(p, v->head, v->body, v->count, &array);
    if (err == U9_LIMIT)
        return refuse_flow(f, err, "V-10", "too many empty elements, or arrays nested too deeply",
                           fault);
    if (err != U9_OK)
        return refuse_flow(f, U9_CORRUPT, "V-5", "an array's length, count and typecode do not fit",
                           fault);
    if (f->depth + 1 + t.depth > f->depth_max)
        return refuse_flow(f, U9_LIMIT, "V-8", "containers are nested too deeply", fault);
    if (t.leaf != U9_TUPLE || v->count == 0) {
        *used = v->head + t.length;
        f->skip = v->body - t.length;
        return U9_OK;
    }
    uint64_t whole = v->head + v->body;
    if (avail < whole) return want_more(f, whole, fault);
    err = u9i_value_check_inside(U9_DEPTH_MAX - f->depth_max + f->depth, p, (size_t)whole, NULL,
                                 NULL);
    if (err != U9_OK)
        return refuse_flow(f, err == U9_LIMIT ? err : U9_CORRUPT, "V-10",
                           "an array's tuples are not well-formed", fault);
    *used = (size_t)whole;
    return U9_OK;
}

/* The value that begins at p, of which `avail` bytes are here. U9_AGAIN: f->want of them are wanted, in the room. */
static u9_err flow_value(u9i_flow *f, const uint8_t *p, size_t avail, size_t *used, u9_fault *fault)
{
    u9i_flow_level *now = &f->open[f->depth];
    const u9i_shape *s = &u9i_shapes[p[0]];
    uint64_t left = now->end - f->at;
    u9i_parts v;
    if (left == 0)
        return refuse_flow(f, U9_CORRUPT, "V-4", "a tuple ends before its last element", fault);
    if (u9i_is_index(p[0])) return flow_index(f, p, avail, left, used, fault);
    if (now->indexed && s->type != U9_TUPLE && s->type != U9_ARRAY)
        return refuse_flow(f, U9_CORRUPT, "V-6", "an index without a container behind it", fault);
    if (s->type == 0) return refuse_flow(f, U9_CORRUPT, "V-6", "a reserved bytecode", fault);
    if (avail < s->head && s->head <= left) return want_more(f, s->head, fault);
    if (u9i_take_apart(false, p[0], p, left, &v) != U9_OK)
        return refuse_flow(f, U9_CORRUPT, "V-4", "a value passes the end of what it is in", fault);
    *used = v.head;
    u9_err err = U9_OK;
    if (v.type == U9_TUPLE) err = enter_tuple(f, &v, fault);
    else if (v.type == U9_ARRAY) err = flow_array(f, p, avail, &v, used, fault);
    else f->skip = v.body;
    if (err != U9_OK) return err;
    now->due--;
    now->indexed = false;
    return U9_OK;
}

/* Puts so many of the bytes into the room that what is wanted is there, or they are used up. */
static void keep_front(u9i_flow *f, const uint8_t **p, size_t *size)
{
    size_t n = f->want - f->kept < *size ? f->want - f->kept : *size;
    memcpy(f->room + f->kept, *p, n);
    f->kept += n;
    *p += n;
    *size -= n;
}

/* Takes one value, or as much of it as is here. */
static u9_err take_one(u9i_flow *f, const uint8_t **p, size_t *size, u9_fault *fault)
{
    size_t used = 0;
    bool in_room = f->want > 0;
    if (in_room) keep_front(f, p, size);
    if (in_room && f->kept < f->want) return U9_OK;
    u9_err err = flow_value(f, in_room ? f->room : *p, in_room ? f->kept : *size, &used, fault);
    if (err == U9_AGAIN) return U9_OK; /* the next round puts it there */
    if (err != U9_OK) return err;
    assert(!in_room || used == f->kept);
    if (!in_room) *p += used;
    if (!in_room) *size -= used;
    f->at += used;
    f->kept = f->want = 0;
    return U9_OK;
}

u9_err u9i_flow_take(u9i_flow *f, const void *bytes, size_t size, u9_fault *fault)
{
    const uint8_t *p = bytes;
    if (f->refused) return refuse_flow(f, U9_CORRUPT, "V-8", "the values were refused", fault);
    while (size > 0) {
        if (f->skip > 0) {
            size_t n = f->skip < size ? (size_t)f->skip : size;
            f->skip -= n;
            f->at += n;
            p += n;
            size -= n;
            continue;
        }
        u9_err err = f->want > 0 ? U9_OK : leave_levels(f, fault);
        if (err == U9_END)
            return refuse_flow(f, U9_CORRUPT, "V-8", "bytes behind the last value", fault);
        if (err == U9_OK) err = take_one(f, &p, &size, fault);
        if (err != U9_OK) return err;
        flow_check(f);
    }
    return U9_OK;
}

u9_err u9i_flow_end(u9i_flow *f, u9_fault *fault)
{
    if (f->refused) return refuse_flow(f, U9_CORRUPT, "V-8", "the values were refused", fault);
    if (f->skip > 0 || f->want > 0 || f->at < f->open[0].end)
        return u9i_refuse(fault, U9_TORN, f->at, "V-8", "there are bytes to come");
    u9_err err = leave_levels(f, fault);
    if (err == U9_END) return U9_OK;
    return err == U9_OK ? refuse_flow(f, U9_CORRUPT, "V-4", "fewer values than were to come", fault)
                        : err;
}
