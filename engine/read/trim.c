/*
 * engine/read/trim.c: u9_log_trim: the oldest segments go, up to a key if that is asked for. [L-10]
 *
 * Keys are in no order that could be relied on: given ones come as their givers like. So a segment whose first and last
 * key are below the one that is asked for is read, and only one in which all are goes.
 */
#include "engine/log/handle.h"
#include "engine/read/cursor.h"

#include <u9/trim.h>
#include <u9/value.h>

static bool is_below(const u9i_record *r, const u9_key *limit)
{
    return u9i_key_lower(&(u9_key){.data = r->key, .size = r->key_size}, limit);
}

/* All records of the reader's frame have lower keys. A record in parts that is not here is there with its key. [C-6] */
static bool is_frame_below(const u9i_reader *r, const u9_key *limit)
{
    const uint8_t *next = r->body.bytes;
    size_t left = r->body.size;
    u9i_record record = r->first;
    bool below = true;
    if (r->large > 0) return is_below(&record, limit);
    while (below && u9i_body_next(&r->body, &next, &left, &record) == U9_OK)
        below = is_below(&record, limit);
    return below;
}

/* A key as it stands in a record, in raw form; size 0: there is none. [L-6] */
static u9_key raw_key(const uint8_t *bytes, size_t size)
{
    u9_value v;
    if (size == 9 && bytes[0] == 0x03) return (u9_key){bytes + 1, 8};
    if (u9_value_decode(bytes, size, &v) != U9_OK || (v.type != U9_BYTES && v.type != U9_UTF8)) return (u9_key){NULL, 0};
    return (u9_key){v.data, (size_t)v.size};
}

/* What its u9end says of the first and the last key. [C-4] *kept: one of them is not lower, which is enough. */
static u9_err look_at_ends(u9i_reader *r, size_t i, const u9_key *limit, bool *kept, u9_fault *fault)
{
    u9i_segment *segment = r->catalog->segments[i];
    u9i_end_keys keys;
    u9i_iterator it; /* for its window only */
    if (!segment->facts.has_end || segment->facts.end.records == 0) return U9_OK;
    u9_err err = u9i_source_iterate(r->source, segment, NULL, false, &it, fault);
    if (err != U9_OK) return err;
    err = u9i_probe_end_keys(&segment->facts, it.window, &keys);
    if (err == U9_IO) (void)u9i_source_fault(r->source, &it, err, fault);
    for (unsigned k = 0; k < 2 && err == U9_OK && !*kept; k++) {
        u9_key raw = raw_key(keys.key[k], keys.size[k]);
        *kept = raw.size > 0 && !u9i_key_lower(&raw, limit);
    }
    u9i_iterator_close(&it);
    return err == U9_CORRUPT ? U9_OK : err; /* reading tells */
}

/* Reads segment i to the first key that is not lower. */
static u9_err look_through(u9i_reader *r, size_t i, const u9_key *limit, bool *kept, u9_fault *fault)
{
    u9i_step step = U9I_STEP_DAMAGE;
    u9_err err = U9_OK;
    u9i_reader_segments(r, i, i);
    while (err == U9_OK && step != U9I_STEP_END && !*kept) {
        err = u9i_reader_step(r, &step, fault);
        if (err == U9_OK && step == U9I_STEP_FRAME && r->count > 0) *kept = !is_frame_below(r, limit);
    }
    return err;
}

/* The number of the row's first segment in which a key is that is not lower than this; the last one's if there is none. */
static u9_err find_kept(u9i_reader *r, const u9_key *limit, uint64_t *number, u9_fault *fault)
{
    bool kept = false;
    u9_err err = U9_OK;
    for (size_t i = u9i_reader_next_on_row(r, 0); i < r->catalog->count && !kept && err == U9_OK; i = u9i_reader_next_on_row(r, i + 1)) {
        const u9i_facts *f = u9i_catalog_facts(r->catalog, i);
        *number = f->number;
        err = look_at_ends(r, i, limit, &kept, fault);
        if (err == U9_OK && !kept && !f->newest) err = look_through(r, i, limit, &kept, fault);
    }
    return err;
}

static u9_err segment_of_key(u9_log *log, const u9_key *limit, uint64_t *number, u9_fault *fault)
{
    u9_cursor *c;
    u9_err err = u9_cursor_open(log, NULL, &c, fault);
    if (err != U9_OK) return err;
    err = u9i_cursor_check_key(c, limit, fault);
    if (err == U9_OK) err = find_kept(&c->reader, limit, number, fault);
    u9_cursor_close(c);
    return err;
}

static u9_err check_trim(const u9_log *log, const u9_trim *what, const u9_trimmed *out, u9_fault *fault)
{
    const char *wrong = NULL;
    if (log == NULL || what == NULL || out == NULL) wrong = "an argument is NULL";
    else if (what->size != sizeof *what) wrong = "what.size is not sizeof(u9_trim)";
    else if (out->size != sizeof *out) wrong = "out->size is not sizeof(u9_trimmed)";
    if (wrong) return u9i_fault(fault, U9_ARG, U9I_AT(.path = log ? log->source.path : NULL), "%s", wrong);
    bool forked = u9i_log_forked(log);
    if (!forked && (log->writing || what->dry_run)) return U9_OK;
    return u9i_fault(fault, U9_STATE, U9I_AT(.path = log->source.path),
                     forked ? "the handle belongs to the parent process" : "the log was opened for reading");
}

u9_err u9_log_trim(u9_log *log, const u9_trim *what, u9_trimmed *out, u9_fault *fault)
{
    u9_err err = check_trim(log, what, out, fault);
    if (err != U9_OK) return err;
    u9i_limits limits = {.keep_bytes = what->keep_bytes, .before_us = what->before_us, .before = what->before};
    if (what->before_key.data) err = segment_of_key(log, &what->before_key, &limits.segment, fault);
    return err == U9_OK ? u9i_log_trim(log, limits, what->dry_run != 0, out, fault) : err;
}
