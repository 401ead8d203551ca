/*
 * engine/write/segment_out.c: see segment_out.h.
 */
#include "engine/write/segment_out.h"

#include "engine/os/process.h"
#include "engine/segment/draw.h"
#include "engine/segment/probe.h"
#include "format/base/bytes.h"
#include "format/base/fault.h"
#include "format/frame/disk.h"
#include "format/frame/frame.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static void segment_out_check(const u9i_segment_out *o)
{
    assert(o->file == NULL || (o->number > 0 && o->end.offset <= o->reserved));
    assert(o->promised <= o->end.offset && o->zeroed <= o->reserved);
    assert(o->previous == 0 || o->previous < o->end.offset);
}

u9_err u9i_segment_out_reserve(u9i_segment_out *o, uint64_t end, u9_fault *fault)
{
    if (end <= o->reserved) return U9_OK;
    uint64_t least = (end + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    int sys;
    /* On a disk that is nearly full ever smaller steps are tried, and remembered. */
    for (;; o->step = o->step / 2 / U9I_BLOCK * U9I_BLOCK) {
        sys = u9i_file_reserve(o->file, least + o->step);
        if (sys == 0) o->reserved = least + o->step;
        if ((sys != -ENOSPC && sys != -EFBIG && sys != -EDQUOT) || o->step == 0) break;
    }
    if (sys == 0) return U9_OK;
    return u9i_fault(fault, U9_IO, U9I_AT(.path = o->path, .sys = -sys, .rule = "W-6"),
                     "there is no room for the record; it was not accepted");
}

int u9i_segment_out_zero(u9i_segment_out *o, uint64_t from, uint64_t to)
{
    if (o->zeroed < from) o->zeroed = from;
    if (to > o->reserved) return 0; /* what is reserved last */
    uint64_t end = o->zeroed + U9I_ZERO_STEP < o->reserved ? o->zeroed + U9I_ZERO_STEP : o->reserved;
    if (end < to) end = to;
    int err = u9i_file_zero(o->file, o->zeroed, end);
    if (err == 0) o->zeroed = end;
    segment_out_check(o);
    return err;
}

int u9i_segment_out_find_name(const u9i_segment_out *o)
{
    char name[20];
    uint64_t identity[2];
    u9i_segment_name(o->number, name);
    int sys = u9i_dir_identify(o->dir, name, identity);
    return sys == 0 && memcmp(identity, o->identity, sizeof identity) != 0 ? -ESTALE : sys;
}

void u9i_segment_out_close(u9i_segment_out *o)
{
    if (o->file) u9i_file_close(o->file);
    u9i_pages_free(o->block, U9I_BLOCK);
    o->file = NULL;
    o->block = NULL;
    o->reserved = o->zeroed = 0;
}

void u9i_segment_out_drop(u9i_segment_out *o)
{
    char name[20];
    u9i_segment_name(o->number, name);
    if (u9i_segment_out_find_name(o) == 0) (void)u9i_dir_remove(o->dir, name);
    u9i_segment_out_close(o);
}

void u9i_segment_out_drop_blank(u9i_segment_out *o)
{
    static const uint8_t zeros[U9I_SECTOR];
    uint8_t first[U9I_SECTOR]; /* where that is zero or absent, nobody was ever given anything of the file */
    size_t got;
    if (o->file && o->fresh && u9i_file_read(o->file, 0, first, sizeof first, &got) == 0 &&
        memcmp(first, zeros, got) == 0)
        u9i_segment_out_drop(o);
}

/* Locks the file [W-1], and keeps which one has its name. */
static u9_err hold_file(u9i_segment_out *o, const char *name, u9_fault *fault)
{
    u9i_stamp stamp;
    int sys = u9i_dir_stat(o->dir, name, &stamp);
    if (sys == 0) memcpy(o->identity, stamp.identity, sizeof o->identity);
    if (sys == 0) sys = u9i_file_lock(o->file);
    if (sys == 0) return U9_OK;
    return u9i_fault(fault, sys == -EWOULDBLOCK ? U9_LOCKED : U9_IO,
                     U9I_AT(.path = o->path, .sys = -sys, .rule = "W-1"), "cannot lock segment %s", name);
}

bool u9i_segment_out_ready(u9i_segment_out *o)
{
    assert(o->block == NULL);
    o->block = u9i_pages(U9I_BLOCK);
    return o->block != NULL;
}

u9_err u9i_segment_out_open(u9i_segment_out *o, const u9i_secret *continued, uint64_t end, u9_fault *fault)
{
    char name[20];
    assert(o->file == NULL);
    u9i_segment_name(o->number, name);
    if (continued) o->secret = *continued;
    else if (!u9i_secret_draw(o->dir->env, &o->secret))
        return u9i_fault(fault, U9_IO, U9I_AT(.path = o->path, .sys = errno, .rule = "H-3"),
                         "the system has no randomness");
    int sys = u9i_file_open(o->dir, name, continued ? U9I_OPEN_WRITE : U9I_OPEN_CREATE, &o->file);
    if (sys != 0)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = o->path, .sys = -sys), "cannot %s segment %s",
                         continued ? "open" : "make", name);
    o->fresh = o->unnamed = !continued;
    u9_err err = hold_file(o, name, fault); /* first: what is not known is not dropped */
    if (err == U9_OK && !u9i_segment_out_ready(o)) err = u9i_fault(fault, U9_NOMEM, U9I_AT(.path = o->path), "out of memory");
    if (err == U9_OK) err = u9i_segment_out_reserve(o, end, fault);
    if (err != U9_OK && !continued) u9i_segment_out_drop(o);
    else if (err != U9_OK) u9i_segment_out_close(o);
    if (err == U9_OK) segment_out_check(o);
    return err;
}

/* The frame of the u9end in the block that it gets. */
static size_t encode_end(u9i_segment_out *o, u9i_end_kind kind, const char *key_kind, uint8_t *block)
{
    static const uint8_t none[1] = {0x30};
    uint64_t at = (o->end.offset + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK, now = u9i_wall_us(o->dir->env);
    u9i_end_record end = o->totals;
    end.kind = kind;
    end.data_end = o->data_end ? o->data_end : o->end.offset;
    memcpy(end.secret, o->secret.bytes, sizeof end.secret);
    end.key_kind = (u9i_span){.data = (const uint8_t *)key_kind, .size = strlen(key_kind)};
    end.first_key.data = end.first_key.size ? o->first_key : none;
    end.last_key.data = end.last_key.size ? o->last_key : none;
    if (end.first_key.size == 0) end.first_key.size = 1;
    if (end.last_key.size == 0) end.last_key.size = 1;
    u9i_out out = u9i_out_init(block + U9I_FRAME_HEADER_SIZE, U9I_BLOCK - U9I_FRAME_HEADER_SIZE - U9I_TRAILER_SIZE);
    u9i_end_record_encode(&out, &end);
    assert(!out.failed && u9i_frame_size(out.size) <= U9I_BLOCK);
    u9i_trailer t = {.ordinal = o->end.ordinal, .offset = at, .previous = o->previous, .durable = o->end.offset,
                     .time_us = now > o->time_us ? now : o->time_us};
    memcpy(t.chain, o->end.chain, sizeof t.chain);
    u9i_frame_seal_in_time(&o->secret, &t, block, out.size, o->end.chain);
    o->previous = at;
    o->promised = t.durable;
    o->time_us = t.time_us;
    o->totals.frames++;
    return u9i_frame_size(out.size);
}

int u9i_segment_out_index(u9i_segment_out *o, u9i_queue *queue, const u9i_keys *earlier, const u9i_keys *keys)
{
    u9_fault unused;
    static const u9i_keys none;
    const u9i_keys *before = earlier ? earlier : &none;
    uint64_t count = before->count + keys->count;
    uint64_t bound = u9i_index_bound(&keys->spec, before->frame_count + keys->frame_count,
                                     before->record_count + keys->record_count);
    u9i_index_out x = {.file = o->file, .secret = o->secret, .at = o->end, .previous = o->previous,
                       .time_us = o->time_us, .durable = o->end.offset, .data = o->end, .records = count,
                       .spec = keys->spec};
    u9i_op sync = {.kind = U9I_OP_SYNC, .file = o->file};
    if (count == 0 || u9i_segment_out_reserve(o, o->end.offset + bound + 2 * U9I_BLOCK, &unused) != U9_OK) return 0;
    if (u9i_index_out_open(&x) != 0) return 0; /* no memory or queue for it: the next reader makes one */
    int64_t sys = u9i_index_out_keys(&x, earlier, keys);
    if (sys == 0) sys = u9i_index_out_finish(&x);
    if (sys == 0) sys = u9i_queue_do(queue, &sync);
    if (sys >= 0) {
        o->data_end = o->end.offset;
        o->end = x.at;
        o->previous = x.previous;
        o->time_us = x.time_us;
        o->totals.frames += x.frames;
        o->totals.root = x.root;
    }
    u9i_index_out_close(&x);
    return sys < 0 ? (int)sys : 0;
}

int u9i_segment_out_end(u9i_segment_out *o, u9i_queue *queue, u9i_end_kind kind, const char *key_kind)
{
    assert(o->block != NULL);
    size_t size = encode_end(o, kind, key_kind, o->block);
    uint64_t cut = o->previous + U9I_BLOCK;
    u9i_op write = {.kind = U9I_OP_WRITE, .file = o->file, .off = o->previous, .buf = o->block, .n = U9I_BLOCK};
    u9i_op sync = {.kind = U9I_OP_SYNC, .file = o->file};
    int64_t sys = u9i_queue_do(queue, &write);
    if (sys >= 0) sys = u9i_queue_do(queue, &sync);
    if (sys >= 0) sys = u9i_file_truncate(o->file, cut);
    if (sys >= 0) sys = u9i_queue_do(queue, &sync);
    if (sys < 0) return (int)sys;
    o->end.offset = o->previous + size;
    o->reserved = cut;
    if (o->zeroed > cut) o->zeroed = cut;
    segment_out_check(o);
    return 0;
}
