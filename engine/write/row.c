/*
 * engine/write/row.c: see row.h.
 */
#include "engine/write/row.h"
#include "engine/write/writer_parts.h"

#include <assert.h>
#include <string.h>

/* What a part takes in the file beside the record's bytes: its frame, a block's rest, a promise in between. */
enum {
    PART_HEAD = 46,
    PART_COST = PART_HEAD + U9I_MASK_HEAD + U9I_FRAME_HEADER_SIZE + U9I_TRAILER_SIZE + 3 * U9I_BLOCK
};

/* Seals the records that wait: what comes is in frames of its own. */
static u9_err seal_waiting(u9i_writer *w, u9_fault *fault)
{
    return w->count > 0 ? u9i_writer_seal(w, fault) : U9_OK;
}

/* A key of its own transaction: the frame that comes next has a later one. [L-7] */
static u9_err draw_key(u9i_writer *w, const u9_key *key, u9i_row_key *out, u9_fault *fault)
{
    uint64_t unused;
    u9_entry entry = {.key = *key};
    u9_err err =
        u9i_writer_measure(w, &entry, 1, &unused, fault); /* refuses what is no key of the log's */
    if (err == U9_OK) err = seal_waiting(w, fault);
    if (err == U9_OK) err = u9i_writer_begin_frame(w, fault);
    if (err != U9_OK) return err;
    err = u9i_writer_key(w, key, out->raw, &out->raw_size);
    if (err != U9_OK)
        return u9i_fault(fault, err, U9I_AT(.path = w->path, .rule = "L-6"),
                         "no fresh key of kind '%.80s' can be made now", w->keygen.text);
    if (key->data == NULL) err = u9i_keygen_confirm(&w->keygen, fault);
    if (err != U9_OK) return err;
    if (key->data == NULL && w->seen_us < w->stamp) w->seen_us = w->stamp;
    out->value_size = u9i_kind_value_size(&w->keygen.kind, out->raw_size);
    u9i_kind_encode(&w->keygen.kind, out->raw, out->raw_size, out->value);
    return U9_OK;
}

u9_err u9i_writer_row_begin(u9i_writer *w, const u9_key *key, u9i_row_key *out, u9_fault *fault)
{
    if (w->poison.err != U9_OK) return u9i_writer_poison(w, 0, "", fault);
    if (w->row.open)
        return u9i_fault(fault, U9_AGAIN, U9I_AT(.path = w->path, .rule = "C-6"),
                         "another record in parts is being written");
    u9_err err = key ? draw_key(w, key, out, fault) : U9_OK;
    w->row = (u9i_writer_row){.open = err == U9_OK};
    u9i_writer_check(w);
    return err;
}

/* Room for the part's frame; for the first one in a segment that the whole row fits. */
static u9_err make_part_room(u9i_writer *w, const u9i_part_record *part, uint64_t rest,
                             u9_fault *fault)
{
    bool first = !w->started;
    w->row.needs = rest + (rest / U9I_PART_BYTES + 1) * PART_COST;
    u9_err err = u9i_writer_make_room(w, PART_HEAD + part->bytes.size, fault);
    if (err != U9_OK && first) u9i_writer_take_back(w);
    return err;
}

u9_err u9i_writer_row_put(u9i_writer *w, const u9i_part_record *part, uint64_t rest, u9i_span key,
                          uint64_t *frame, uint64_t *ordinal, u9_fault *fault)
{
    assert(w->row.open && part->bytes.size <= U9I_PART_BYTES);
    if (w->poison.err != U9_OK) return u9i_writer_poison(w, 0, "", fault);
    u9_err err = rest == 0 ? u9i_writer_count_up(w, 1, fault) : U9_OK;
    if (err == U9_OK) err = seal_waiting(w, fault);
    if (err == U9_OK) err = make_part_room(w, part, rest, fault);
    if (err != U9_OK) return err;
    u9i_out out = u9i_out_init(w->frame + U9I_FRAME_HEADER_SIZE, PART_HEAD + U9I_PART_BYTES);
    u9i_part_record_encode(&out, part);
    assert(!out.failed);
    w->body_size = out.size;
    w->count = rest == 0;
    if (w->first_us == 0) w->first_us = u9i_monotonic_us(w->env);
    *frame = u9i_stream_position(&w->stream);
    *ordinal = w->end.ordinal;
    bool lz4 = w->lz4;
    w->lz4 = false; /* [B-4] wraps records only */
    err = u9i_writer_seal(w, fault);
    w->lz4 = lz4;
    if (err != U9_OK) return err;
    w->row.barred = true;
    if (rest == 0) {
        u9i_writer_keep_keys(w, key, key);
        u9i_writer_row_leave(w);
    }
    u9i_writer_check(w);
    return U9_OK;
}

void u9i_writer_row_leave(u9i_writer *w)
{
    w->row = (u9i_writer_row){.open = false};
}
