/*
 * engine/write/writer_find.c: the keys of what a session writes, until their file is sealed with an index of them; and
 * what is found by them. [K-2] [K-3]
 *
 *     | keys of the frames that are sequenced | slots that are not yet written, looked through record by record |
 *
 * A frame that is sequenced and not yet written is in both; one that was filled in memory of its own has lent that to others
 * by then, so it is found by its keys alone, and written first. The keys of a file that was rolled stay until it is sealed:
 * then readers find its index in it.
 */
#include "engine/write/writer_parts.h"

#include "format/frame/body.h"
#include "format/value/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Collecting: the driver, without the lock */

/* The body of a slot as it was filled; `*own` is to be freed. NULL: no memory. */
static const uint8_t *plain_body(const u9i_frame_out *f, uint8_t **own)
{
    const uint8_t *body = f->frame + U9I_FRAME_HEADER_SIZE;
    *own = NULL;
    if (f->state < U9I_OUT_SEALED || f->stored != f->frame || f->stored_size == f->body_size) return body;
    *own = (uint8_t *)malloc(f->body_size + 1); /* it was masked where it stands */
    if (*own) u9i_mask_peek(body, *own, f->body_size);
    return *own;
}

void u9i_writer_collect(u9i_writer *w, const u9i_frame_out *f)
{
    uint8_t *own;
    u9i_file_keys *k = &w->keys[w->keys_now];
    if (f->count == 0) return;
    pthread_mutex_lock(&k->lock);
    if (f->part_key.at != 0) {
        u9i_keys_add_entry(&k->keys, &(u9i_key_entry){.hi = f->part_key.hi, .lo = f->part_key.lo,
                                                      .at = f->at.pos / U9I_ALIGN << U9I_VIRTUAL_SHIFT}, true);
    } else {
        const uint8_t *body = plain_body(f, &own);
        if (body) u9i_keys_add_body(&k->keys, f->at.pos, body, f->body_size, f->count, !f->given && w->keygen.kind.type == U9I_KIND_MUID);
        else k->keys.partial = true;
        free(own);
    }
    __atomic_store_n(&w->keys_left, u9i_keys_left(&k->keys), __ATOMIC_RELAXED);
    pthread_mutex_unlock(&k->lock);
}

void u9i_writer_begin_keys(u9i_writer *w)
{
    u9i_file_keys *k = &w->keys[w->keys_now];
    u9i_keyspec spec = u9i_keyspec_of(w->plan.kind, u9i_get_be(w->out.secret.boundary, 8));
    pthread_mutex_lock(&k->lock);
    u9i_keys_reset(&k->keys, &spec);
    k->number = w->out.number;
    k->secret = w->out.secret;
    k->whole = w->out.previous == 0; /* of a file that is continued it has only what comes now */
    __atomic_store_n(&w->keys_left, u9i_keys_left(&k->keys), __ATOMIC_RELAXED);
    pthread_mutex_unlock(&k->lock);
}

void u9i_writer_keys_rolled(u9i_writer *w)
{
    w->keys_now ^= 1;
    w->keys[w->keys_now ^ 1].old = true;
}

void u9i_writer_keys_sealed(u9i_writer *w)
{
    u9i_file_keys *k = &w->keys[w->keys_now ^ 1];
    u9i_writer_lock(w);
    k->old = false;
    __atomic_store_n(&w->keyed_from, w->out.number, __ATOMIC_RELEASE);
    u9i_writer_unlock(w);
    pthread_mutex_lock(&k->lock); /* now, as at the next roll appends would wait for it */
    u9i_keyspec spec = k->keys.spec;
    u9i_keys_reset(&k->keys, &spec);
    pthread_mutex_unlock(&k->lock);
}

bool u9i_writer_open_keys(u9i_writer *w, size_t memory)
{
    u9i_keyspec spec = u9i_keyspec_of(w->plan.kind, 0);
    for (unsigned i = 0; i < 2; i++) pthread_mutex_init(&w->keys[i].lock, NULL);
    for (unsigned i = 0; i < 2; i++)
        if (!u9i_keys_open(&w->keys[i].keys, &spec, memory)) return false;
    return true;
}

void u9i_writer_release_keys(u9i_writer *w)
{
    for (unsigned i = 0; i < 2; i++) u9i_keys_close(&w->keys[i].keys);
}

/* Finding: any thread */

/* What a lookup is after, and where its record goes. */
typedef struct key_search {
    const u9_key *key;
    uint8_t *buf;
    size_t cap;
    u9_record *out;
} key_search;

/* Where a frame is to stand that is filled elsewhere is not known yet. */
static void show_slot(const key_search *s, const u9i_frame_out *f, uint64_t segment, const u9i_record *r, uint32_t number,
                 const uint8_t *body)
{
    uint64_t at = f->packed ? 0 : f->at.pos / U9I_ALIGN << U9I_VIRTUAL_SHIFT | (uint64_t)(r->bytes - body);
    *s->out = (u9_record){.ordinal = f->ordinal + number, .time_us = f->time_us, .segment = segment,
                          .frame = (at >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN, .at = at, .size = r->size, .key = *s->key,
                          .values_size = r->values_size};
    if (r->size > s->cap) return;
    memcpy(s->buf, r->bytes, r->size);
    s->out->bytes = s->buf;
    s->out->key.data = s->buf + (r->key - r->bytes);
    s->out->values = s->buf + (r->values - r->bytes);
}

/* The last record of this key in a slot. The lock is held. */
static bool find_in_slot(const key_search *s, const u9i_frame_out *f, uint64_t segment)
{
    uint8_t *own;
    const uint8_t *body = plain_body(f, &own), *next = body;
    size_t left = body ? f->body_size : 0;
    u9i_record r, last = {.size = 0};
    uint32_t n = 0, number = 0;
    if (f->part_key.at != 0) left = 0; /* a part: see is_in_parts */
    for (; u9i_record_next(&next, &left, &r) == U9_OK; n++) {
        if (r.key_size != s->key->size || memcmp(r.key, s->key->data, r.key_size) != 0) continue;
        last = r;
        number = n;
    }
    if (last.size > 0) show_slot(s, f, segment, &last, number, body);
    free(own);
    return last.size > 0;
}

/* The number of the file that a slot's frame goes to: at a roll two are on their way. */
static uint64_t file_of(const u9i_writer *w, const u9i_frame_out *f)
{
    return w->crossing && f->ordinal < w->old.end.ordinal ? w->old.number : w->out.number;
}

/* Takes the slots' lock when nobody is at a frame, who may be masking it, so that nobody takes it to do so. */
static void lock_settled(u9i_writer *w, const u9i_frame_out *f)
{
    u9i_slots_lock(&w->slots);
    while (f->packed && f->state == U9I_OUT_HASHING && w->poison.err == U9_OK) {
        w->slots.awaited = true;
        u9i_slots_unlock(&w->slots);
        u9i_writer_wait(w, U9I_GATE_HASHED);
        u9i_slots_lock(&w->slots);
    }
}

/* The record in parts of this key, the last one of which is in the slot. */
static bool is_in_parts(const u9i_writer *w, const key_search *s, const u9i_frame_out *f)
{
    u9i_key_entry e;
    u9i_keyspec spec = w->keys[w->keys_now].keys.spec;
    return f->part_key.at != 0 && u9i_keyspec_entry(&spec, s->key->data, s->key->size, &e) && u9i_key_same(&e, &f->part_key);
}

/* Frames from there on are on their way to the file, and no slot has their bytes any more. `segment` 0: there are none. */
typedef struct lent_from {
    uint64_t segment, pos;
} lent_from;

static bool is_lent(const lent_from *from, const u9i_written_spot *spot)
{
    uint64_t last = (spot->at > spot->frame ? spot->at : spot->frame) >> U9I_VIRTUAL_SHIFT;
    return from->segment != 0 && (spot->segment > from->segment || (spot->segment == from->segment && last * U9I_ALIGN >= from->pos));
}

/* The first that is not yet written of those that are sequenced. The lock is held. */
static lent_from first_lent(const u9i_writer *w)
{
    const u9i_slots *slots = &w->slots;
    const u9i_frame_out *first = &slots->slots[slots->written % U9I_SLOTS];
    if (slots->written == slots->sequenced) return (lent_from){.segment = 0};
    return (lent_from){.segment = file_of(w, first), .pos = first->at.pos};
}

/* In what is not yet written, the newest first. `*parts`: it is there in parts, and is to be written first. */
static bool find_in_slots(u9i_writer *w, const key_search *s, bool *parts, lent_from *lent)
{
    *parts = false;
    *lent = (lent_from){.segment = 0};
    const u9i_slots *slots = &w->slots;
    const u9i_frame_out *filling = u9i_slots_filling(&w->slots);
    if (filling && find_in_slot(s, filling, file_of(w, filling))) return true;
    for (uint64_t n = slots->sealed; n > slots->written; n--) {
        const u9i_frame_out *f = u9i_slots_at(&w->slots, n - 1);
        lock_settled(w, f);
        bool gone = n - 1 < slots->written; /* since: it is in the file, and among the keys */
        if (!gone && f->packed && n - 1 < slots->sequenced) {
            *lent = first_lent(w);
            gone = true;
        }
        *parts = !gone && is_in_parts(w, s, f);
        bool found = *parts || (!gone && find_in_slot(s, f, file_of(w, f)));
        u9i_slots_unlock(&w->slots);
        if (gone || found) return found && !*parts;
    }
    return false;
}

/* In the keys of one file. */
static u9_err find_in_keys(u9i_file_keys *k, const u9_key *key, u9i_written_spot *out)
{
    u9i_key_entry e;
    pthread_mutex_lock(&k->lock);
    u9_err err = U9_ABSENT;
    if (k->keys.partial) {
        err = U9_CORRUPT;
    } else if (k->keys.count > 0 && u9i_keyspec_entry(&k->keys.spec, key->data, key->size, &e)) {
        *out = (u9i_written_spot){.segment = k->number, .secret = k->secret, .spec = k->keys.spec};
        if (u9i_keys_find(&k->keys, &e, &out->at, &out->frame)) err = U9_OK;
    }
    pthread_mutex_unlock(&k->lock);
    return err;
}

/* By the keys of frames that have their place, `now` and, if there is one, the old file's. */
static u9_err find_placed(u9i_writer *w, const u9_key *key, unsigned now, bool old, const lent_from *lent, u9i_written_spot spots[2],
                          unsigned *count)
{
    u9_err err = find_in_keys(&w->keys[now], key, &spots[0]);
    *count = err == U9_OK;
    if (err != U9_CORRUPT && old) err = find_in_keys(&w->keys[now ^ 1], key, &spots[*count]);
    if (err == U9_CORRUPT) return err;
    if (old) *count += err == U9_OK;
    for (unsigned i = 0; i < *count; i++)
        if (is_lent(lent, &spots[i]) && u9i_writer_sync(w, NULL) != U9_OK) return U9_CORRUPT;
    return *count > 0 ? U9_AGAIN : U9_ABSENT;
}

u9_err u9i_writer_find_written(u9i_writer *w, const u9_key *key, u9i_written_spot spots[2], unsigned *count)
{
    if (u9i_writer_sync(w, NULL) != U9_OK) return U9_CORRUPT;
    u9i_writer_lock(w);
    lent_from lent = first_lent(w);
    unsigned now = w->keys_now;
    bool old = w->keys[now ^ 1].old;
    u9i_writer_unlock(w);
    return find_placed(w, key, now, old, &lent, spots, count);
}

u9_err u9i_writer_find(u9i_writer *w, const u9_key *key, void *buf, size_t cap, u9_record *out, u9i_written_spot spots[2],
                       unsigned *count)
{
    key_search s = {.key = key, .buf = (uint8_t *)buf, .cap = cap, .out = out};
    bool parts;
    lent_from lent;
    u9i_writer_lock(w);
    bool found = find_in_slots(w, &s, &parts, &lent);
    unsigned now = w->keys_now;
    bool old = w->keys[now ^ 1].old;
    u9i_writer_unlock(w);
    if (parts) return u9i_writer_find_written(w, key, spots, count);
    if (found) return out->bytes ? U9_OK : U9_LIMIT;
    return find_placed(w, key, now, old, &lent, spots, count);
}
