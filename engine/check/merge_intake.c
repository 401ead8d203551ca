/*
 * engine/check/merge_intake.c: one of the logs that are merged: see merge.h.
 */
#include "engine/check/damage_sum.h"
#include "engine/check/merge.h"
#include "engine/os/list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int u9i_key_order(const u9_key *a, const u9_key *b)
{
    size_t size = a->size < b->size ? a->size : b->size;
    int order = memcmp(a->data, b->data, size);
    return order != 0 ? order : u9i_order(a->size, b->size);
}

static void intake_check(const u9i_intake *s)
{
    assert(s->count <= s->room && s->next <= s->count && s->last_size <= sizeof s->last);
    assert(s->ended || s->now.key.size > 0);
}

static u9_err intake_no_memory(const u9i_intake *s, u9_fault *fault)
{
    return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = s->path), "out of memory");
}

static void count_damage(u9i_merging *m, const u9_damage *d)
{
    u9i_damage_sum(d, &m->report.verdict, &m->report.damages, &m->report.lost);
    if (m->options->on_damage) m->options->on_damage(m->options->ctx, d);
}

static void on_damage(void *ctx, const u9_damage *d)
{
    count_damage(ctx, d);
}

static void pass_by(void *ctx, const u9_damage *d)
{
    (void)ctx;
    (void)d;
}

static u9_err open_cursor(u9i_intake *s, u9_fault *fault)
{
    u9_cursor_close(s->cursor);
    s->cursor = NULL;
    return u9_cursor_open(s->log, NULL, &s->cursor, fault);
}

/* One step of the cursor: to the next record, or to the end. */
static u9_err step_intake(u9i_intake *s, u9_fault *fault)
{
    u9_err err = u9_cursor_next(s->cursor, &s->now);
    s->ended = err == U9_END || ((err == U9_OK || err == U9_LIMIT) && s->now.ordinal >= s->end);
    s->large = err == U9_LIMIT;
    if (s->ended || s->large || err == U9_OK) err = U9_OK;
    else u9_cursor_fault(s->cursor, fault);
    if (err == U9_OK && !s->ended && s->now.key.size == 0)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = s->path, .rule = "E-3"),
                         "value %llu has no key: such a file is not merged, salvage makes a log of it",
                         (unsigned long long)s->now.ordinal);
    return err;
}

/* True if this key is not below the one before, which it becomes. */
static bool key_follows(u9i_intake *s)
{
    u9_key last = {.data = s->last, .size = s->last_size};
    bool ok = !s->begun || u9i_key_order(&last, &s->now.key) <= 0;
    s->begun = true;
    s->last_size = s->now.key.size;
    memcpy(s->last, s->now.key.data, s->last_size);
    return ok;
}

/*
 * Goes through the log once: *ordered, up to which ordinal. What a writer appends later need not be. What is damaged is told
 * when it is read again.
 */
static u9_err look_for_order(u9i_intake *s, bool *ordered, uint64_t *end, u9_fault *fault)
{
    u9_err err = open_cursor(s, fault);
    *ordered = true;
    *end = 0;
    while (err == U9_OK && *ordered && (err = step_intake(s, fault)) == U9_OK && !s->ended) {
        *ordered = key_follows(s);
        *end = s->now.ordinal + 1;
    }
    return err;
}

/* Keeps the record at hand. */
static u9_err keep_in_memory(u9i_intake *s, u9i_merging *m, u9_fault *fault)
{
    u9i_sorted *more = u9i_grow(s->sorted, s->count, &s->room, sizeof *more);
    if (more == NULL) return intake_no_memory(s, fault);
    s->sorted = more;
    size_t size = s->large ? s->now.key.size : (size_t)s->now.size;
    m->memory += size + sizeof *s->sorted;
    if (m->memory > m->options->memory)
        return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = s->path, .rule = "A-5"),
                         "its keys are not in order, and to sort it takes more than the %llu bytes that are given",
                         (unsigned long long)m->options->memory);
    uint8_t *bytes = malloc(size);
    if (bytes == NULL) return intake_no_memory(s, fault);
    u9i_sorted *kept = &s->sorted[s->count++];
    *kept = (u9i_sorted){.record = s->now, .bytes = bytes};
    memcpy(bytes, s->large ? (const uint8_t *)s->now.key.data : s->now.bytes, size);
    kept->record.key.data = s->large ? bytes : bytes + ((const uint8_t *)s->now.key.data - s->now.bytes);
    kept->record.bytes = s->large ? NULL : bytes;
    return U9_OK;
}

static int order_of_keys(const void *a, const void *b)
{
    const u9_record *x = &((const u9i_sorted *)a)->record, *y = &((const u9i_sorted *)b)->record;
    int order = u9i_key_order(&x->key, &y->key);
    return order != 0 ? order : u9i_order(x->ordinal, y->ordinal);
}

static u9_err sort_all(u9i_intake *s, u9i_merging *m, u9_fault *fault)
{
    u9_err err = open_cursor(s, fault);
    while (err == U9_OK && (err = step_intake(s, fault)) == U9_OK && !s->ended) err = keep_in_memory(s, m, fault);
    if (err != U9_OK) return err;
    qsort(s->sorted, s->count, sizeof *s->sorted, order_of_keys);
    m->report.sorted++;
    return U9_OK;
}

u9_err u9i_intake_open(u9i_intake *s, u9i_merging *m, const char *path, u9_fault *fault)
{
    u9_options quiet = {.size = sizeof quiet, .mode = U9_READ, .io = m->options->io, .on_damage = pass_by};
    u9_options telling = quiet;
    bool ordered = true;
    *s = (u9i_intake){.path = path, .end = U9_NOWHERE};
    telling.on_damage = on_damage;
    telling.on_damage_ctx = m;
    u9_err err = u9_log_open(path, &telling, &s->log, fault);
    if (err == U9_OK && m->options->memory > 0) {
        u9i_intake look = {.path = path, .end = U9_NOWHERE};
        err = u9_log_open(path, &quiet, &look.log, fault);
        if (err == U9_OK) err = look_for_order(&look, &ordered, &s->end, fault);
        u9i_intake_close(&look);
    }
    if (!ordered) s->end = U9_NOWHERE;
    if (err == U9_OK) err = ordered ? open_cursor(s, fault) : sort_all(s, m, fault);
    return err == U9_OK ? u9i_intake_next(s, m, fault) : err;
}

void u9i_intake_close(u9i_intake *s)
{
    for (size_t i = 0; i < s->count; i++) free(s->sorted[i].bytes);
    free(s->sorted);
    u9_cursor_close(s->cursor);
    (void)u9_log_close(s->log, NULL);
    *s = (u9i_intake){.ended = true};
}

u9_err u9i_intake_next(u9i_intake *s, u9i_merging *m, u9_fault *fault)
{
    if (s->sorted) {
        s->ended = s->next == s->count;
        if (s->ended) return U9_OK;
        s->now = s->sorted[s->next++].record;
        s->large = s->now.bytes == NULL;
    } else {
        u9_err err = step_intake(s, fault);
        if (err != U9_OK || s->ended) return err;
        if (!key_follows(s))
            return u9i_fault(fault, U9_ARG, U9I_AT(.path = s->path, .rule = "A-5"),
                             "its keys are not in order: that of record %llu is below the one before; it can be "
                             "sorted first, within memory that is given", (unsigned long long)s->now.ordinal);
    }
    m->report.read++;
    intake_check(s);
    return U9_OK;
}

u9_err u9i_intake_tell_trimmed(const u9i_intake *s, u9i_merging *m)
{
    m->report.read--;
    count_damage(m, &(u9_damage){.verdict = U9_V_TORN, .reason = U9_R_TRIMMED, .segment = s->now.segment, .path = s->path,
                                 .ordinal = s->now.ordinal, .lost = 1});
    return U9_OK;
}
