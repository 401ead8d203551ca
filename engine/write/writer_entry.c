/*
 * engine/write/writer_entry.c: records are measured and checked, get their keys, and are copied into the frame that is
 * filled. [B-2] [F-5] [I-5] [L-5] [L-6] [L-7]
 */
#include "engine/write/writer_parts.h"

#include "format/value/decode.h"
#include "format/value/shortest.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { AHEAD = 16 }; /* records whose values are asked for before they are looked at */

#define FAR_FUTURE_US (UINT64_C(86400) * 1000000) /* a given key this far ahead is not followed */

/* How many values stand there one behind the other, which are well-formed. [V-8] */
static u9_err count_elements(const uint8_t *p, size_t left, uint64_t *count)
{
    for (size_t size; left > 0; p += size, left -= size, ++*count) {
        u9i_parts v;
        u9_value whole;
        if (u9i_take_apart(false, p[0], p, left, &v) != U9_OK) return U9_ARG;
        size = v.head + (size_t)v.body;
        if (v.type != 0 && v.type < U9_TUPLE) continue;
        if (u9i_look(p, left, &whole) != U9_OK) return U9_ARG;
        size = whole.encoded;
        if (whole.type >= U9_TUPLE && u9i_value_check_inside(1, p, size, NULL, NULL) != U9_OK) return U9_ARG;
    }
    return U9_OK;
}

static u9_err measure(const u9i_writer *w, const u9_entry *e, u9i_measure *out, u9_id_reason *why)
{
    uint64_t elements = 1;
    size_t key_size = w->fresh_size;
    if (count_elements((const uint8_t *)e->values, e->size, &elements) != U9_OK) return U9_ARG;
    const u9i_keygen *m = &w->keygen;
    if (e->key.data != NULL && u9i_kind_fits(&m->kind, e->key.data, e->key.size, why) != U9_OK)
        return U9_ARG;
    if (e->key.data != NULL) key_size = u9i_kind_value_size(&m->kind, e->key.size);
    if ((e->key.data ? e->key.size : m->size) == 0) {
        *why = U9_RKEY_EMPTY;
        return U9_ARG;
    }
    out->elements = elements;
    out->content = key_size + e->size;
    out->size = u9i_tuple_head(out->content, elements) + out->content;
    return U9_OK;
}

/*
 * Which byte of the caller's it is that makes values not well-formed. The fault has no path: its offset is one
 * in those bytes.
 */
static u9_err refuse_values(const u9_entry *e, const char *of, u9_fault *fault)
{
    u9_walk walk = u9_walk_bytes(e->values, e->size);
    u9_value v;
    u9_fault why = {.offset = 0, .rule = "B-2", .text = "they are not well-formed"};
    const uint8_t *p;
    u9_err err;
    do {
        p = walk.next;
        size_t left = walk.left;
        err = u9_walk_next(&walk, &v);
        if (err == U9_OK) left -= walk.left;
        if (u9i_value_check_inside(1, p, left, NULL, &why) != U9_OK) err = U9_ARG;
    } while (err == U9_OK);
    why.offset += (uint64_t)(p - (const uint8_t *)e->values);
    return u9i_fault(fault, U9_ARG, U9I_AT_OFFSET(why.offset, .rule = why.rule), "in the values of %s: %s",
                     of, why.text);
}

/* One sentence on why an entry is refused. */
static u9_err refuse(const u9i_writer *w, size_t i, size_t count, const u9_entry *e, u9_id_reason why,
                     u9_fault *fault)
{
    const u9i_where *at = U9I_AT(.path = w->path, .rule = "L-6");
    char of[48] = "the record";
    if (count > 1) snprintf(of, sizeof of, "record %zu of the batch", i);
    if (why == U9_ID_FINE) return refuse_values(e, of, fault);
    if (e->key.data == NULL)
        return u9i_fault(fault, U9_ARG, at, "%s has no key, and keys of kind '%.80s' are not made", of,
                         w->keygen.text);
    return u9i_fault(fault, U9_ARG, at, "%s: no key of kind '%.80s': %s", of, w->keygen.text,
                     u9_id_reason_text(why));
}

u9_err u9i_writer_count_up(const u9i_writer *w, uint64_t count, u9_fault *fault)
{
    if (count <= UINT64_MAX - w->next) return U9_OK;
    return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = w->path, .rule = "L-5"),
                     "the log's ordinals are used up");
}

u9_err u9i_writer_measure(const u9i_writer *w, const u9_entry *entries, size_t count, u9i_measure *kept,
                          uint64_t *total, u9_fault *fault)
{
    *total = 0;
    if (count == 0 || count > UINT32_MAX)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = w->path), "a batch has 1 to 2^32-1 records");
    for (size_t i = 0; i < count; i++) {
        u9i_measure m;
        if (entries == NULL || (entries[i].values == NULL && entries[i].size > 0) ||
            (entries[i].refs == NULL && entries[i].ref_count > 0))
            return u9i_fault(fault, U9_ARG, U9I_AT(.path = w->path), "an argument is NULL");
        if (i + AHEAD < count) __builtin_prefetch(entries[i + AHEAD].values); /* they come from memory */
        u9_id_reason why = U9_ID_FINE;
        if (entries[i].size > U9_RECORD_MAX)
            return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = w->path, .rule = "F-5"),
                             "record %zu of the batch has over 2^24 bytes", i);
        if (measure(w, &entries[i], &m, &why) != U9_OK)
            return refuse(w, i, count, &entries[i], why, fault);
        if (i < U9I_WRITER_BATCH) kept[i] = m;
        *total += m.size;
        if (*total > U9I_BODY_MAX)
            return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = w->path, .rule = "F-5"),
                             "the batch has over 2^24 bytes");
    }
    return U9_OK;
}

/* Fresh keys are to be above a given one, unless that is from the far future. [L-7] */
static void mind(u9i_writer *w, uint64_t stamp_us)
{
    if (stamp_us > w->seen_us && stamp_us < u9i_wall_us(w->env) + FAR_FUTURE_US) w->seen_us = stamp_us;
}

u9_err u9i_writer_key(u9i_writer *w, uint32_t count, const u9_key *given, uint8_t raw[U9I_KEY_MAX], size_t *size)
{
    uint64_t stamp_us = 0;
    u9_err err = U9_OK;
    *size = given->data ? given->size : w->keygen.size;
    if (given->data) {
        memcpy(raw, given->data, *size);
        stamp_us = u9i_keygen_stamp(&w->keygen, raw);
    } else if (w->keygen.kind.type == U9I_KIND_MUID) {
        u9_muid made = {.timestamp = w->stamp, .medallion = w->medallion,
                        .offset = (int32_t)(count + 1)}; /* [L-7] */
        return u9_muid_pack(&made, raw);
    } else {
        err = u9i_keygen_next(&w->keygen, raw, &stamp_us);
    }
    if (err == U9_OK && stamp_us > w->stamp) mind(w, stamp_us);
    return err;
}

void u9i_writer_keep_keys(u9i_writer *w, u9i_span first, u9i_span last)
{
    u9i_segment_out *o = &w->out;
    if (o->totals.first_key.size == 0) {
        memcpy(o->first_key, first.data, first.size);
        o->totals.first_key.size = first.size;
    }
    memcpy(o->last_key, last.data, last.size);
    o->totals.last_key.size = last.size;
}

/* Why a record's references are refused: with the place of one, or of the first. */
typedef struct bad_ref {
    uint64_t at; /* in its values; U9_NOWHERE: none of them */
    const char *why;
} bad_ref;

/*
 * Makes the references in a record's values absolute. [I-5] U9_ARG: `bad` says why not. What stands where no reference does may
 * be a value's head: the values are proven once more. `elements`: of the record.
 */
static u9_err resolve(const u9i_writer *w, const u9_entry *e, uint64_t elements, const uint8_t *raw, uint8_t *values, bad_ref *bad)
{
    u9_muid context, ref;
    uint64_t found = 1;
    *bad = (bad_ref){U9_NOWHERE, "references are for keys that are muids"};
    if (w->keygen.kind.type != U9I_KIND_MUID) return U9_ARG;
    u9_muid_unpack(raw, &context);
    bad->why = "a reference names nothing before it";
    for (size_t i = 0; i < e->ref_count; i++) {
        bad->at = e->refs[i];
        if (e->size < U9_MUID_SIZE || e->refs[i] > e->size - U9_MUID_SIZE) return U9_ARG;
        u9_muid_unpack(values + e->refs[i], &ref);
        if (u9_muid_resolve(&ref, &context, &ref, NULL) != U9_OK ||
            u9_muid_pack(&ref, values + e->refs[i]) != U9_OK)
            return U9_ARG;
    }
    *bad = (bad_ref){e->refs[0], "a reference is to be where no muid stands: this one, or one behind it"};
    return count_elements(values, e->size, &found) == U9_OK && found == elements ? U9_OK : U9_ARG;
}

/* Writes a record's key as a value at p, `size` bytes of it. */
static u9_err put_own_key(u9i_writer *w, u9i_frame_out *f, const u9_key *given, uint8_t *p, size_t size, u9_place *place)
{
    uint8_t own[U9I_KEY_MAX], *raw = own;
    size_t raw_size;
    bool common = given->data == NULL && w->keygen.kind.type == U9I_KIND_MUID; /* made where it stands */
    if (common) raw = p + size - U9_MUID_SIZE;
    u9_err err = u9i_writer_key(w, f->count, given, raw, &raw_size);
    if (err != U9_OK) return err;
    if (common) memcpy(p, (uint8_t[2]){0x1c, U9_MUID_SIZE}, 2); /* [L-6] */
    else (void)u9i_kind_encode(&w->keygen.kind, raw, raw_size, p);
    if (place == NULL) return U9_OK;
    place->ordinal = f->ordinal + f->count;
    place->key_size = raw_size <= sizeof place->key ? (uint32_t)raw_size : 0;
    memcpy(place->key, raw, place->key_size);
    return U9_OK;
}

/* Copies one record into the frame. There is room. `key` is where its key stands there, `bad` a reference that is refused. */
static u9_err put_record(u9i_writer *w, u9i_frame_out *f, const u9_entry *e, const u9i_measure *m, u9_place *place,
                         u9i_span *key, bad_ref *bad)
{
    uint8_t *p = f->frame + U9I_FRAME_HEADER_SIZE + f->body_size;
    size_t key_size = (size_t)m->content - e->size;
    u9i_set_tuple_head(p, m->content, m->elements);
    p += m->size - m->content;
    u9_err err = put_own_key(w, f, &e->key, p, key_size, place);
    if (err != U9_OK) return err;
    if (e->size > 0) memcpy(p + key_size, e->values, e->size);
    if (e->ref_count > 0) err = resolve(w, e, m->elements, p + 2, p + key_size, bad);
    if (err != U9_OK) return err;
    *key = (u9i_span){.data = p, .size = key_size};
    f->body_size += (size_t)m->size;
    f->count++;
    return U9_OK;
}

u9_err u9i_writer_put(u9i_writer *w, u9i_frame_out *f, const u9_entry *entries, size_t count,
                      const u9i_measure *kept, u9_place *places, u9_fault *fault)
{
    size_t body_size = f->body_size;
    uint32_t before = f->count;
    u9_err err = U9_OK;
    bool fresh = false, given = false;
    u9i_span first = {0}, last = {0};
    bad_ref bad = {.at = U9_NOWHERE};
    size_t i = 0;
    u9_id_reason unused;
    for (; i < count && err == U9_OK; i++) {
        u9i_measure m;
        if (i < U9I_WRITER_BATCH) m = kept[i];
        else err = measure(w, &entries[i], &m, &unused);
        if (err == U9_OK) err = put_record(w, f, &entries[i], &m, places ? &places[i] : NULL, &last, &bad);
        if (i == 0) first = last;
        fresh |= entries[i].key.data == NULL;
        given |= entries[i].key.data != NULL;
    }
    u9_err lost = err == U9_OK && fresh ? u9i_keygen_confirm(&w->keygen, fault) : U9_OK;
    if (err == U9_OK && lost == U9_OK) {
        u9i_writer_keep_keys(w, first, last);
        f->given |= given;
        w->next += count;
        w->stats.records += count;
        w->stats.bytes += f->body_size - body_size;
        return U9_OK;
    }
    f->body_size = body_size; /* a batch is whole or not there */
    f->count = before;
    if (lost != U9_OK) return lost;
    if (err == U9_ARG)
        return u9i_fault(fault, err, U9I_AT_OFFSET(bad.at, .rule = "I-5"), "in the values of record %zu of the batch: %s",
                         i - 1, bad.why);
    return u9i_fault(fault, err, U9I_AT(.path = w->path, .rule = "L-6"),
                     "no fresh key of kind '%.80s' can be made now", w->keygen.text);
}

void u9i_writer_put_body(u9i_writer *w, u9i_frame_out *f, const uint8_t *body, size_t size)
{
    uint8_t *next = f->frame + U9I_FRAME_HEADER_SIZE;
    const uint8_t *at = next;
    size_t left = size;
    u9i_record r;
    u9i_span first = {0}, last = {0};
    assert(f->count == 0 && f->body_size == 0);
    memcpy(next, body, size);
    for (; u9i_record_next(&at, &left, &r) == U9_OK; f->count++) {
        last = (u9i_span){.data = r.key_value, .size = (size_t)(r.values - r.key_value)};
        if (f->count == 0) first = last;
        uint64_t stamp_us = r.key_size == w->keygen.size ? u9i_keygen_stamp(&w->keygen, r.key) : 0;
        if (stamp_us > w->stamp) mind(w, stamp_us); /* [L-7] */
    }
    assert(left == 0);
    if (f->count > 0) u9i_writer_keep_keys(w, first, last);
    f->body_size = size;
    f->given = true;
    w->next += f->count;
    w->stats.records += f->count;
    w->stats.bytes += size;
}
