/*
 * engine/write/row.c: see row.h.
 */
#include "engine/write/row.h"
#include "engine/write/writer_parts.h"

#include <u9/value.h>

#include <assert.h>
#include <string.h>

/* What a part takes in the file beside the record's bytes: its frame, a block's rest, a promise in between. */
enum { PART_HEAD = 46, PART_COST = PART_HEAD + U9I_MASK_HEAD + U9I_FRAME_HEADER_SIZE + U9I_TRAILER_SIZE + 3 * U9I_BLOCK };

/* A key of its own transaction: the frame that comes next has a later one. [L-7] The lock is held. */
static u9_err draw_key(u9i_writer *w, const u9_key *key, u9i_row_key *out, u9_fault *fault)
{
    u9i_writer_seal_records(w);
    u9_err err = u9i_writer_begin_stamp(w, fault);
    if (err != U9_OK) return err;
    err = u9i_writer_key(w, 0, key, out->raw, &out->raw_size);
    if (err != U9_OK)
        return u9i_fault(fault, err, U9I_AT(.path = w->path, .rule = "L-6"), "no fresh key of kind '%.80s' can be made now",
                         w->keygen.text);
    if (key->data == NULL) err = u9i_keygen_confirm(&w->keygen, fault);
    if (err != U9_OK) return err;
    if (key->data == NULL && w->seen_us < w->stamp) w->seen_us = w->stamp;
    out->value_size = u9i_kind_value_size(&w->keygen.kind, out->raw_size);
    u9i_kind_encode(&w->keygen.kind, out->raw, out->raw_size, out->value);
    return U9_OK;
}

u9_err u9i_writer_row_begin(u9i_writer *w, const u9_key *key, u9i_row_key *out, u9_fault *fault)
{
    uint64_t unused;
    u9i_measure measures[U9I_WRITER_BATCH];
    u9_entry entry = {.key = key ? *key : (u9_key){NULL, 0}};
    u9_err err = key ? u9i_writer_measure(w, &entry, 1, measures, &unused, fault) : U9_OK; /* refuses what is no key here */
    if (err != U9_OK) return err;
    u9i_writer_lock(w);
    err = u9i_writer_refuse(w, fault);
    if (err == U9_OK && w->row.open)
        err = u9i_fault(fault, U9_AGAIN, U9I_AT(.path = w->path, .rule = "C-6"),
                        "another record in parts is being written");
    if (err == U9_OK && key) err = draw_key(w, key, out, fault);
    if (err == U9_OK) w->row = (u9i_writer_row){.open = true};
    u9i_writer_unlock(w);
    return err;
}

/* The part as a frame of its own, which is sealed. The lock is held. */
static void put_part(u9i_writer *w, u9i_frame_out *f, const u9i_part_record *part, bool last)
{
    u9i_out out = u9i_out_init(f->frame + U9I_FRAME_HEADER_SIZE, PART_HEAD + U9I_PART_BYTES);
    u9i_part_record_encode(&out, part);
    assert(!out.failed);
    f->body_size = out.size;
    f->count = last;
    f->lz4 = false; /* [B-4] wraps records only */
    w->next += last;
    w->stats.records += last;
    w->stats.bytes += part->bytes.size;
    u9i_writer_seal(w, false);
}

/* Where the frame that was sealed last stands; its place may not be known before it is sequenced. The lock is held. */
static uint64_t part_place(u9i_writer *w, bool driver, const u9i_frame_out *f)
{
    uint64_t number = w->slots.sealed - 1;
    while (f->packed && w->slots.sequenced <= number && w->poison.err == U9_OK) {
        if (!driver && w->driving) {
            u9i_writer_wait(w, U9I_GATE_ROOM);
            continue;
        }
        w->driving = true;
        u9i_writer_step(w);
        if (!driver) u9i_writer_give_role(w);
    }
    return f->at.pos; /* no other frame has taken the slot: it would have to be written first, and its ring to come round */
}

/* The record's key, by which the index leads to this last part of it. */
static void keep_part_key(const u9i_writer *w, u9i_frame_out *f, u9i_span key)
{
    u9_value v;
    u9_err err = u9_value_decode(key.data, key.size, &v);
    assert(err == U9_OK);
    size_t raw = v.type == U9_UINT ? U9_UID8_SIZE : (size_t)v.size;
    bool there = u9i_keyspec_entry(&w->keys[w->keys_now].keys.spec, key.data + key.size - raw, raw, &f->part_key);
    assert(there);
    f->part_key.at = 1; /* not 0: it is one */
}

u9_err u9i_writer_row_put(u9i_writer *w, const u9i_part_record *part, uint64_t rest, u9i_span key, uint64_t *frame,
                          uint64_t *ordinal, u9_fault *fault)
{
    u9i_frame_out *f;
    bool driver;
    assert(part->bytes.size <= U9I_PART_BYTES);
    u9i_writer_lock(w);
    u9_err err = u9i_writer_begin_append(w, rest == 0, &driver, fault);
    uint64_t frames = w->slots.sealed;
    assert(w->row.open);
    w->row.needs = rest + (rest / U9I_PART_BYTES + 1) * PART_COST;
    if (err == U9_OK) err = u9i_writer_admit_alone(w, driver, PART_HEAD + part->bytes.size, &f, fault);
    if (err == U9_OK) {
        *ordinal = f->ordinal;
        w->row.barred = true;
        put_part(w, f, part, rest == 0);
        if (rest == 0) {
            u9i_writer_keep_keys(w, key, key);
            keep_part_key(w, f, key);
            w->row = (u9i_writer_row){.open = false};
        } else {
            *frame = part_place(w, driver, f);
        }
    }
    u9i_writer_end_append(w, driver, err, frames);
    return err;
}

void u9i_writer_row_leave(u9i_writer *w)
{
    u9i_writer_lock(w);
    w->row = (u9i_writer_row){.open = false};
    u9i_writer_unlock(w);
}
