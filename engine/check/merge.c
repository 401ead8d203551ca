/*
 * engine/check/merge.c: several logs into one by key order: u9_merge.
 *
 * All records of one key are taken together, log by log. What tells repeats apart from other records of that key is H
 * of their bytes, so memory goes with how many a key has, not with how large they are.
 */
#include "engine/check/merge.h"

#include "engine/check/atomic_dir.h"
#include "engine/check/saved.h"
#include "engine/log/large.h"
#include "engine/os/store.h"
#include "format/base/bytes.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME = 1 << 16, PIECE = 1 << 16, PROGRESS_RECORDS = 1 << 14, HASH_BLOCK = 64 };

/* One of the different records of the key at hand: a place in a table that goes by their hashes. */
typedef struct variant {
    uint64_t turn; /* the number of the key that it is of; of any other the place is free */
    uint8_t hash[U9I_HASH_SIZE];
    size_t stream; /* the log that had it last, */
    uint64_t seen;    /*   and how often; */
    uint64_t written; /* so many are in the new log */
} variant;

typedef struct merge {
    u9i_merging common;
    u9i_env *env;
    const char *path;
    char *partial;
    u9i_intake *intakes;
    size_t count;
    u9_log *out;
    char kind[U9I_KIND_MAX + 1];
    uint8_t *body; /* records for the next frame, FRAME bytes and the one that does not fit; */
    size_t used;
    uint32_t records;
    uint8_t *piece; /* PIECE bytes of a large record */
    variant *variants; /* of the key at hand; the room is a power of 2, at most half of it taken */
    size_t variant_count, variant_room;
    uint64_t turn;
    uint8_t key[512]; /*   which is here */
    u9_key at;
} merge;

static void merge_check(const merge *m)
{
    assert((m->used == 0) == (m->records == 0) && m->used <= FRAME + U9_RECORD_MAX);
    assert(2 * m->variant_count <= m->variant_room);
    assert(m->common.report.records + m->common.report.repeats <= m->common.report.read);
}

static u9_err merge_no_memory(const merge *m, u9_fault *fault)
{
    return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = m->path), "out of memory");
}

/* The new log */

static u9_err merge_told(merge *m, u9_err err, u9_fault *fault)
{
    if (err != U9_OK) u9_log_fault(m->out, fault);
    return err;
}

static u9_err write_frame(merge *m, u9_fault *fault)
{
    if (m->records == 0) return U9_OK;
    u9_err err = u9i_log_append_body(m->out, m->body, m->used, m->records, m->common.options->lz4 != 0);
    m->used = 0;
    m->records = 0;
    return merge_told(m, err, fault);
}

typedef u9_err piece_fn(void *ctx, size_t size, u9_fault *fault); /* of m->piece */

/* Reads the record at hand piece by piece: all are whole but the last. */
static u9_err pass_large(merge *m, u9i_intake *s, piece_fn *take, void *ctx, u9_fault *fault)
{
    u9_reading *reading;
    size_t got;
    u9_err err = u9_record_open(s->log, &s->now, &reading, fault);
    if (err != U9_OK) return err;
    for (uint64_t at = 0; at < s->now.size && err == U9_OK; at += got) {
        err = u9_record_read(reading, at, m->piece, PIECE, &got, fault);
        if (err == U9_OK) err = take(ctx, got, fault);
    }
    u9_record_close(reading);
    return err;
}

typedef struct writing {
    merge *m;
    u9_append *append;
} writing;

static u9_err write_piece(void *ctx, size_t size, u9_fault *fault)
{
    writing *w = ctx;
    return merge_told(w->m, u9_append_write(w->append, w->m->piece, size), fault);
}

typedef struct hashing {
    const merge *m;
    u9i_hasher hasher;
    size_t rest; /* bytes at the end of the last piece that fill no block */
    size_t rest_at;
} hashing;

static u9_err hash_piece(void *ctx, size_t size, u9_fault *fault)
{
    (void)fault;
    hashing *h = ctx;
    assert(h->rest == 0);
    u9i_hasher_take(&h->hasher, h->m->piece, size / HASH_BLOCK);
    h->rest = size % HASH_BLOCK;
    h->rest_at = size - h->rest;
    return U9_OK;
}

static u9_err write_large(merge *m, u9i_intake *s, u9_fault *fault)
{
    writing w = {.m = m};
    u9_err err = write_frame(m, fault);
    if (err == U9_OK) err = merge_told(m, u9i_append_begin_whole(m->out, s->now.size, &w.append), fault);
    if (err != U9_OK) return err;
    err = pass_large(m, s, write_piece, &w, fault);
    if (err == U9_OK) err = merge_told(m, u9_append_end(w.append, NULL), fault);
    if (err != U9_OK) u9_append_abort(w.append);
    m->common.report.records += err == U9_OK;
    return err;
}

static u9_err write_record(merge *m, u9i_intake *s, u9_fault *fault)
{
    if (s->large) return write_large(m, s, fault);
    u9_err err = m->used > 0 && m->used + (size_t)s->now.size > FRAME ? write_frame(m, fault) : U9_OK;
    if (err != U9_OK) return err;
    memcpy(m->body + m->used, s->now.bytes, (size_t)s->now.size);
    m->used += (size_t)s->now.size;
    m->records++;
    m->common.report.records++;
    return U9_OK;
}

/* The key at hand */

static u9_err hash_record(merge *m, u9i_intake *s, uint8_t hash[U9I_HASH_SIZE], u9_fault *fault)
{
    if (!s->large) {
        u9i_hash(s->now.bytes, (size_t)s->now.size, hash);
        return U9_OK;
    }
    hashing h = {.m = m};
    (void)u9i_hasher_open(&h.hasher);
    u9i_hasher_init(&h.hasher);
    u9_err err = pass_large(m, s, hash_piece, &h, fault);
    u9i_hasher_finish(&h.hasher, m->piece + h.rest_at, h.rest, hash);
    u9i_hasher_close(&h.hasher);
    return err;
}

/* Where a variant with this hash is, or may be put. */
static variant *place_of_variant(variant *table, size_t room, uint64_t turn, const uint8_t hash[U9I_HASH_SIZE])
{
    size_t i = (size_t)u9i_get_be(hash, 8) & (room - 1);
    while (table[i].turn == turn && memcmp(table[i].hash, hash, U9I_HASH_SIZE) != 0) i = (i + 1) & (room - 1);
    return &table[i];
}

static bool make_variant_room(merge *m)
{
    size_t room = m->variant_room ? 2 * m->variant_room : 64;
    variant *more = calloc(room, sizeof *more);
    if (more == NULL) return false;
    for (size_t i = 0; i < m->variant_room; i++)
        if (m->variants[i].turn == m->turn)
            *place_of_variant(more, room, m->turn, m->variants[i].hash) = m->variants[i];
    free(m->variants);
    m->variants = more;
    m->variant_room = room;
    return true;
}

/* The variant with this hash, made if there is none. NULL without memory. */
static variant *variant_of(merge *m, const uint8_t hash[U9I_HASH_SIZE])
{
    if (2 * (m->variant_count + 1) > m->variant_room && !make_variant_room(m)) return NULL;
    variant *v = place_of_variant(m->variants, m->variant_room, m->turn, hash);
    if (v->turn == m->turn) return v;
    m->variant_count++;
    *v = (variant){.turn = m->turn};
    memcpy(v->hash, hash, U9I_HASH_SIZE);
    return v;
}

/* A record of the key at hand: a repeat, or written. *added: written, though an earlier log has the key. */
static u9_err take_or_drop(merge *m, u9i_intake *s, bool *added, u9_fault *fault)
{
    uint8_t hash[U9I_HASH_SIZE];
    size_t index = (size_t)(s - m->intakes);
    u9_err err = hash_record(m, s, hash, fault);
    if (err != U9_OK) return err;
    variant *v = variant_of(m, hash);
    if (v == NULL) return merge_no_memory(m, fault);
    if (v->stream != index) v->seen = 0;
    v->stream = index;
    if (++v->seen <= v->written) {
        m->common.report.repeats++;
        return U9_OK;
    }
    err = write_record(m, s, fault);
    v->written += err == U9_OK;
    *added |= err == U9_OK;
    return err;
}

static bool has_key(const merge *m, const u9i_intake *s)
{
    return !s->ended && u9i_key_order(&s->now.key, &m->at) == 0;
}

/* All that one log has of the key at hand; `alone`: no other has it, so nothing is a repeat. */
static u9_err take_intake(merge *m, u9i_intake *s, bool alone, bool *added, u9_fault *fault)
{
    u9_err err = U9_OK;
    while (err == U9_OK && has_key(m, s)) {
        err = alone ? write_record(m, s, fault) : take_or_drop(m, s, added, fault);
        if (err == U9_ABSENT) err = u9i_intake_tell_trimmed(s, &m->common); /* one that is read where it stands */
        if (err == U9_OK) err = u9i_intake_next(s, &m->common, fault);
    }
    return err;
}

static u9_err tell_merge_progress(merge *m, uint64_t before, u9_fault *fault)
{
    const u9_merge_options *o = m->common.options;
    uint64_t now = m->common.report.read;
    if (o->on_progress == NULL || now / PROGRESS_RECORDS == before / PROGRESS_RECORDS) return U9_OK;
    if (o->on_progress(o->ctx, now, 0) == 0) return U9_OK;
    return u9i_fault(fault, U9_STATE, U9I_AT(.path = m->path), "stopped as asked");
}

/* Finds the lowest key of all logs, and how many have it. 0: all are at their end. */
static size_t find_lowest(merge *m)
{
    const u9i_intake *lowest = NULL;
    size_t have = 0;
    for (size_t i = 0; i < m->count; i++) {
        const u9i_intake *s = &m->intakes[i];
        int order = s->ended ? 1 : lowest ? u9i_key_order(&s->now.key, &lowest->now.key) : -1;
        have = order < 0 ? 1 : have + (order == 0);
        if (order < 0) lowest = s;
    }
    if (lowest == NULL) return 0;
    memcpy(m->key, lowest->now.key.data, lowest->now.key.size);
    m->at = (u9_key){.data = m->key, .size = lowest->now.key.size};
    return have;
}

/* The lowest key of all logs, and what they have of it. U9_END: there is none. */
static u9_err take_lowest(merge *m, u9_fault *fault)
{
    const u9_merge_options *o = m->common.options;
    uint64_t before = m->common.report.read;
    size_t have = find_lowest(m);
    bool differs = false, taken = false;
    u9_err err = have == 0 ? U9_END : U9_OK;
    m->variant_count = 0;
    m->turn++;
    for (size_t i = 0; i < m->count && err == U9_OK; i++) {
        bool added = false;
        if (!has_key(m, &m->intakes[i])) continue;
        err = take_intake(m, &m->intakes[i], have == 1, &added, fault);
        differs |= added && taken;
        taken = true;
    }
    m->common.report.conflicts += differs;
    if (differs && o->on_conflict) o->on_conflict(o->ctx, &m->at);
    if (err == U9_OK) err = tell_merge_progress(m, before, fault);
    merge_check(m);
    return err;
}

/* All of it */

static u9_err same_kind(merge *m, const u9i_intake *s, u9_fault *fault)
{
    if (s == m->intakes) memcpy(m->kind, s->log->kind, sizeof m->kind);
    if (strcmp(m->kind, s->log->kind) == 0 && m->kind[0] != 0) return U9_OK;
    if (m->kind[0] == 0)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = s->path, .rule = "L-6"),
                         "of what kind its keys are is not known");
    return u9i_fault(fault, U9_ARG, U9I_AT(.path = s->path, .rule = "L-6"),
                     "its keys are of kind '%.80s', those of %s of kind '%.80s'", s->log->kind, m->intakes[0].path,
                     m->kind);
}

static u9_err open_intakes(merge *m, const char *const *paths, size_t count, u9_fault *fault)
{
    u9_err err = U9_OK;
    m->intakes = calloc(count, sizeof *m->intakes);
    if (m->intakes == NULL) return merge_no_memory(m, fault);
    for (size_t i = 0; i < count && err == U9_OK; i++) {
        m->count = i + 1; /* closed in any case */
        err = u9i_intake_open(&m->intakes[i], &m->common, paths[i], fault);
        if (err == U9_OK) err = same_kind(m, &m->intakes[i], fault);
    }
    return err;
}

static u9_err open_merged(merge *m, const char *const *paths, size_t count, u9_fault *fault)
{
    const u9_merge_options *mo = m->common.options;
    u9i_dir *there;
    int sys = u9i_dir_open(m->env, m->path, false, &there);
    if (sys == 0) u9i_dir_close(there);
    if (sys == -ENOMEM) return merge_no_memory(m, fault);
    if (sys != -ENOENT)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = m->path, .sys = sys ? -sys : EEXIST),
                         "the new log must not exist yet");
    m->partial = u9i_atomic_dir_name(m->path);
    m->body = malloc(FRAME + U9_RECORD_MAX);
    m->piece = malloc(PIECE);
    if (m->partial == NULL || m->body == NULL || m->piece == NULL) return merge_no_memory(m, fault);
    u9_err err = u9i_atomic_dir_begin(m->env, m->partial, paths, count, fault);
    if (err != U9_OK) return err;
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .policy = U9_POLICY_NONE, .lz4 = mo->lz4 != 0, .io = mo->io,
                    .kind = m->kind, .segment_size = mo->segment_size};
    return u9_log_open(m->partial, &o, &m->out, fault);
}

/* Closes the new log, reads it once more, and gives it its name. */
static u9_err keep_merged(merge *m, u9_fault *fault)
{
    u9_err err = write_frame(m, fault);
    if (err == U9_OK) {
        err = u9_log_close(m->out, fault);
        m->out = NULL;
    }
    if (err == U9_OK) err = u9i_saved_prove(m->partial, m->common.options->io, m->common.report.records, fault);
    if (err != U9_OK) return err;
    int sys = u9i_atomic_dir_keep(m->env, m->partial);
    if (sys == -ENOMEM) return merge_no_memory(m, fault);
    if (sys == 0) return U9_OK;
    return u9i_fault(fault, U9_IO, U9I_AT(.path = m->path, .sys = -sys), "cannot give the new log its name");
}

static u9_err run_merge(merge *m, const char *const *paths, size_t count, u9_fault *fault)
{
    u9_err err = u9i_env_of(m->common.options->io, &m->path, &m->env, fault);
    if (err == U9_OK) err = open_intakes(m, paths, count, fault);
    if (err == U9_OK) err = open_merged(m, paths, count, fault);
    while (err == U9_OK) err = take_lowest(m, fault);
    if (err == U9_END) err = U9_OK;
    if (err == U9_OK && m->common.options->strict && m->common.report.damages > 0)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = m->path), "a log is damaged: no log was made, as asked");
    return err == U9_OK ? keep_merged(m, fault) : err;
}

/* What is not kept goes; of a crash it is what the next run replaces. */
static void release(merge *m, const char *first, bool kept)
{
    if (m->out) (void)u9_log_close(m->out, NULL);
    for (size_t i = 0; i < m->count; i++) u9i_intake_close(&m->intakes[i]);
    if (m->partial && !kept) (void)u9i_atomic_dir_drop(m->env, m->partial, first);
    free(m->partial);
    free(m->intakes);
    free(m->variants);
    free(m->body);
    free(m->piece);
}

u9_err u9_merge(const char *out, const char *const *paths, size_t count, const u9_merge_options *options,
                u9_merge_report *report, u9_fault *fault)
{
    static const u9_merge_options defaults = {.size = sizeof defaults};
    const char *wrong = NULL;
    if (out == NULL || out[0] == 0) wrong = "the path of the new log is empty";
    else if (report == NULL || report->size != sizeof *report) wrong = "report.size is not sizeof(u9_merge_report)";
    else if (options && options->size != sizeof *options) wrong = "options.size is not sizeof(u9_merge_options)";
    else if (paths == NULL || count == 0) wrong = "no log is given";
    if (wrong) return u9i_fault(fault, U9_ARG, U9I_AT(.path = out), "%s", wrong);
    merge m = {.common = {.options = options ? options : &defaults, .report.size = sizeof *report}, .path = out};
    u9_err err = run_merge(&m, paths, count, fault);
    if (err == U9_OK || (err == U9_CORRUPT && m.common.options->strict)) *report = m.common.report;
    release(&m, paths[0], err == U9_OK);
    return err;
}
