/*
 * engine/read/cursor.c: the records of a log, one by one, either way. [R-1] [Q-1] [P-1]
 *
 * A cursor reads the catalog that was current when it was opened; it shares what is judged with all others on
 * its handle, and nothing with the handle's writer but the directory.
 */
#include "engine/read/cursor.h"

#include "engine/log/handle.h"
#include "engine/read/back.h"
#include "engine/read/follow.h"

#include <u9/cursor.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How many records of its frame are behind the cursor. */
static inline uint64_t passed(const u9_cursor *c)
{
    return c->ordinal - c->reader.frame->trailer.ordinal;
}

static void cursor_check(const u9_cursor *c)
{
    const u9i_body *b = &c->reader.body;
    if (!c->loaded) return;
    assert(passed(c) <= c->reader.count && c->counts);
    assert(c->reader.large > 0 || c->left == 0 || (c->next >= b->bytes && c->left <= b->size &&
                                                   c->next + c->left == b->bytes + b->size));
    assert(c->reader.large > 0 || (c->left == 0) == (passed(c) == c->reader.count));
    assert(c->run_end == 0 || (c->run_end <= c->to && c->run_end <= c->ordinal - passed(c) + c->reader.count));
}

/* Turns to what the range names. */
static u9_err take_range(u9_cursor *c, const u9_range *range, u9_fault *fault)
{
    if (range == NULL) return U9_OK;
    if (range->size != sizeof *range)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = c->log->source.path),
                         "range.size is not sizeof(u9_range)");
    c->from = range->from;
    bool some = range->begin != 0 || range->end != 0;
    if (range->segment == 0 && some && !u9i_reader_is_single(&c->log->source, c->reader.catalog))
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = c->log->source.path),
                         "a byte range is one of a segment: which?");
    if (range->segment == 0 && !some) {
        if (range->from > 0) u9i_reader_from(&c->reader, range->from);
        return U9_OK;
    }
    return u9i_reader_range(&c->reader, range->segment, range->begin, range->end ? range->end : U9_NOWHERE,
                            fault);
}

u9_err u9_cursor_open(u9_log *log, const u9_range *range, u9_cursor **out, u9_fault *fault)
{
    if (log == NULL || out == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    if (u9i_log_forked(log))
        return u9i_fault(fault, U9_STATE, U9I_AT(.path = log->source.path),
                         "the handle belongs to the parent process");
    u9_cursor *c = calloc(1, sizeof *c);
    if (c == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = log->source.path), "out of memory");
    c->log = log;
    c->to = c->until_us = U9_NOWHERE;
    u9_err err = u9i_reader_open(&c->reader, &log->source, fault);
    c->reader.leans = true;
    if (err == U9_OK) {
        err = take_range(c, range, fault);
        if (err != U9_OK) u9i_reader_release(&c->reader);
    }
    if (err != U9_OK) {
        free(c);
        return err;
    }
    *out = c;
    return U9_OK;
}

static void let_go(u9_cursor *c)
{
    if (c->held.segment != NULL && !u9i_log_forked(c->log)) u9i_source_hold(&c->log->source, &c->held, NULL);
}

void u9i_cursor_segments(u9_cursor *c, size_t first, size_t last)
{
    let_go(c);
    u9i_reader_segments(&c->reader, first, last);
    c->loaded = c->counts = false;
}

void u9_cursor_close(u9_cursor *c)
{
    if (c == NULL) return;
    let_go(c);
    if (c->follower) u9i_follower_release(c->follower);
    free(c->follower);
    u9i_reader_release(&c->reader);
    free(c->starts);
    free(c);
}

/* True if all records of the frame are below `from`. A forged ordinal may be the last there is. */
static bool ends_before(const u9i_frame *f, uint64_t from)
{
    return f->trailer.ordinal < from && from - f->trailer.ordinal >= f->trailer.count;
}

/* A record in parts that is larger than what is handed out: all but its bytes, which u9_record_read has. [C-6] U9_LIMIT. */
static u9_err show_large(u9_cursor *c, u9_record *out)
{
    const u9i_reader *r = &c->reader;
    u9i_source_hold(&c->log->source, &c->held, r->catalog->segments[r->index]);
    const u9i_frame *f = r->frame;
    const u9i_record *front = &r->first;
    const u9i_facts *s = u9i_reader_facts(r);
    char path[4400];
    *out = (u9_record){.ordinal = f->trailer.ordinal, .time_us = f->trailer.time_us, .segment = s->number,
                       .frame = f->offset, .at = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT, /* [B-6] */
                       .key = {.data = front->key, .size = front->key_size}, .size = r->large,
                       .values_size = r->large - (uint64_t)(front->key + front->key_size - front->bytes)};
    return u9i_fault(&c->fault, U9_LIMIT,
                     U9I_AT_OFFSET(f->offset, .rule = "C-6", .segment = s->number,
                                   .path = u9i_source_path(r->source, s->name, path, sizeof path)),
                     "record %llu has %llu bytes: more than is handed out at once",
                     (unsigned long long)out->ordinal, (unsigned long long)out->size);
}

/* Records that come next were trimmed before the cursor came to them. [L-10] */
static u9_err refuse_trimmed(u9_cursor *c, const u9_damage *d)
{
    const u9i_where *at = U9I_AT(.path = c->log->source.path, .segment = d->segment, .rule = "L-10");
    if (d->ordinal == U9_NOWHERE || d->lost == U9_NOWHERE)
        return u9i_fault(&c->fault, U9_ABSENT, at, "the records that come next were trimmed before they were read");
    return u9i_fault(&c->fault, U9_ABSENT, at, "records %llu to %llu were trimmed before they were read",
                     (unsigned long long)d->ordinal, (unsigned long long)(d->ordinal + d->lost - 1));
}

/* True if all that is lost is known to be in front of what is wanted, or behind it: bounds leave it out. */
static bool is_outside(const u9_cursor *c, const u9_damage *d)
{
    if (d->ordinal == U9_NOWHERE) return false;
    return d->ordinal >= c->to || (d->lost != U9_NOWHERE && d->ordinal < c->from && d->lost <= c->from - d->ordinal);
}

/* True if so is all that comes behind it, whatever is damaged there: who goes back from the bounds' end does not come to it. */
static bool is_behind_bounds(const u9_cursor *c, const u9_damage *d)
{
    return c->follower == NULL && d->ordinal != U9_NOWHERE && d->ordinal >= c->to;
}

/* Of what was trimmed, that which the cursor would have come to. */
static void leave_out_front(const u9_cursor *c, u9_damage *d)
{
    if (d->reason != U9_R_TRIMMED || d->ordinal == U9_NOWHERE || d->ordinal >= c->sent || d->lost == U9_NOWHERE) return;
    uint64_t behind = d->ordinal + d->lost;
    d->ordinal = c->sent;
    d->lost = behind > c->sent ? behind - c->sent : 0;
}

/* Tells of reader.damage. U9_AGAIN: there is nothing more to say. U9_CORRUPT (damage to tell), U9_ABSENT (trimmed). */
static u9_err tell_what(u9_cursor *c)
{
    const u9_options *o = &c->log->options;
    const u9_damage *d = &c->reader.damage;
    leave_out_front(c, &c->reader.damage);
    if (is_outside(c, d)) return U9_AGAIN;
    c->lossy |= u9i_reader_loses(&c->reader, U9I_STEP_DAMAGE);
    if (d->reason == U9_R_TRIMMED && d->lost == 0) return U9_AGAIN; /* there was none in them */
    if (c->silent) return U9_AGAIN;
    if (o->on_damage) o->on_damage(o->on_damage_ctx, d);
    else if (d->reason == U9_R_TRIMMED) return refuse_trimmed(c, d);
    else if (d->verdict != U9_V_TORN)
        return u9i_fault(&c->fault, U9_CORRUPT,
                         U9I_AT_OFFSET(d->begin, .path = d->path, .segment = d->segment, .sys = c->reader.damage_sys,
                                       .rule = u9_reason_rule(d->reason)),
                         "%s", u9_reason_text(d->reason));
    return U9_AGAIN;
}

void u9i_cursor_load(u9_cursor *c, bool behind)
{
    const u9i_reader *r = &c->reader;
    const u9i_frame *f = r->frame;
    c->loaded = c->counts = true;
    c->started = c->resumes = c->has_ended = false;
    c->run_end = 0;
    c->common = (u9_record){.time_us = f->trailer.time_us, .segment = u9i_reader_facts(r)->number, .frame = f->offset,
                            .at = f->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT}; /* [B-6] */
    c->next = r->body.bytes;
    c->left = r->large > 0 ? 0 : r->body.size;
    c->ordinal = f->trailer.ordinal;
    if (behind) {
        c->next += c->left;
        c->left = 0;
        c->ordinal += r->count;
    }
    cursor_check(c);
}

void u9i_cursor_go(u9_cursor *c, u9i_spot place)
{
    let_go(c);
    u9i_reader_go(&c->reader, place);
    c->loaded = c->counts = c->resumes = c->has_ended = false;
    c->shown = c->sent = 0;
    if (c->follower) u9i_follower_forget(c->follower);
}

static bool is_behind_all(const u9_cursor *c, u9i_spot place)
{
    return place.end || place.unit >= c->reader.only;
}

/* The reader stepped from there to the end of the log, as it is now. */
static u9_err note_cursor_end(u9_cursor *c, u9i_spot place, bool back)
{
    if (back || c->follower || is_behind_all(c, place)) return U9_END;
    c->ended = place.unit < c->reader.first_unit ? (u9i_spot){.unit = c->reader.first_unit} : place;
    c->has_ended = true;
    return U9_END;
}

/* Steps either way until there are records to hand out. U9_END, U9_CORRUPT (damage to tell), U9_ABSENT (trimmed), or an error. */
static u9_err step_frame(u9_cursor *c, bool back)
{
    u9i_reader *r = &c->reader;
    u9_err err = U9_AGAIN;
    let_go(c);
    if (back || c->loaded) c->sent = 0;
    if (c->loaded && back) u9i_reader_before(r);
    else if (c->loaded) u9i_reader_behind(r);
    c->loaded = false;
    if (back && c->has_ended && c->follower == NULL && is_behind_all(c, r->place)) u9i_reader_go(r, c->ended);
    while (err == U9_AGAIN) {
        u9i_step step;
        u9i_spot place = r->place;
        if (back && c->follower) u9i_follower_turn(c->follower);
        if (back) err = u9i_reader_back(r, &step, &c->fault);
        else err = c->follower ? u9i_follower_step(c->follower, &step, &c->fault) : u9i_reader_step(r, &step, &c->fault);
        if (err == U9_VERSION) c->lossy = true;
        if (err != U9_OK) return err;
        if (step == U9I_STEP_END) return note_cursor_end(c, place, back);
        err = U9_AGAIN;
        if (step == U9I_STEP_DAMAGE) {
            if (!back && is_behind_bounds(c, &r->damage)) {
                u9i_reader_go(r, place);
                return U9_END;
            }
            if (back) c->counts = false; /* what it cost comes next by now */
            err = tell_what(c);
            continue;
        }
        assert(step == U9I_STEP_FRAME); /* a follower keeps LEAVE to itself */
        if (r->count == 0 || (!back && ends_before(r->frame, c->from > c->shown ? c->from : c->shown))) continue;
        u9i_cursor_load(c, back);
        return U9_OK;
    }
    return err;
}

/* What was shown of the frame, or would be next, could not be read: reading goes on behind what was shown. */
static u9_err leave_frame(u9_cursor *c)
{
    c->loaded = false;
    c->resumes = true;
    return U9_IO;
}

/* Records that were proven once are none any more: the file is not what it was. The rest of the frame is passed. */
static u9_err leave_changed(u9_cursor *c)
{
    const u9i_facts *f = u9i_reader_facts(&c->reader);
    c->loaded = false;
    c->lossy = true;
    return u9i_fault(&c->fault, U9_CORRUPT,
                     U9I_AT_OFFSET(c->reader.frame->offset, .path = c->log->source.path, .segment = f->number, .rule = "R-9"),
                     "the records of the frame are not what they were");
}

static inline void show_record(const u9_cursor *c, uint64_t ordinal, const u9i_record *r, u9_record *out)
{
    const u9_record *f = &c->common;
    *out = (u9_record){
        .ordinal = ordinal, .time_us = f->time_us, .segment = f->segment, .frame = f->frame,
        .at = f->at | (uint64_t)(r->bytes - c->reader.body.bytes),
        .key = {.data = r->key, .size = r->key_size}, .bytes = r->bytes, .size = r->size,
        .values = r->values, .values_size = r->values_size};
}

/* The record that stands at `next`, of this ordinal. */
static u9_err take_next(u9_cursor *c, uint64_t ordinal, u9_record *out)
{
    u9i_record r;
    u9_err err = u9i_body_next_again(&c->reader.body, &c->next, &c->left, &r);
    if (u9i_reader_fell(&c->reader, &c->fault)) return leave_frame(c);
    if (err != U9_OK) return leave_changed(c);
    show_record(c, ordinal, &r, out);
    return U9_OK;
}

u9_err u9i_cursor_pass(u9_cursor *c, u9_record *out)
{
    if (passed(c) == c->reader.count) return U9_END;
    u9_err err = c->reader.large > 0 ? show_large(c, out) : take_next(c, c->ordinal, out);
    c->ordinal += err == U9_OK || err == U9_LIMIT;
    assert(!c->loaded || (c->left == 0) == (passed(c) == c->reader.count) || c->reader.large > 0);
    return err;
}

/* The frame is here once more: on to where the cursor was in it. */
static u9_err resume(u9_cursor *c, uint64_t ordinal)
{
    u9_record r;
    u9_err err = U9_OK;
    while (err == U9_OK && c->ordinal < ordinal) err = u9i_cursor_pass(c, &r);
    return err == U9_IO ? err : U9_OK;
}

/* True if a record of the loaded frame is behind all that is wanted, or before it. */
static inline bool is_behind(const u9_cursor *c, uint64_t ordinal)
{
    if (ordinal < c->to && c->until_us == U9_NOWHERE) return false;
    uint64_t time = c->reader.frame->trailer.time_us;
    return ordinal >= c->to || (c->until_us != U9_NOWHERE && (time == 0 || time >= c->until_us));
}

static inline bool is_before(const u9_cursor *c, uint64_t ordinal)
{
    return ordinal < c->from || c->reader.frame->trailer.time_us < c->since_us;
}

u9_err u9i_cursor_allow(u9_cursor *c, const void *argument)
{
    if (c == NULL) return U9_ARG;
    if (argument == NULL) return u9i_fault(&c->fault, U9_ARG, U9I_AT(), "an argument is NULL");
    if (!u9i_log_forked(c->log)) return U9_OK;
    return u9i_fault(&c->fault, U9_STATE, U9I_AT(.path = c->log->source.path), "the handle belongs to the parent process");
}

/* The record at `next` was wanted, and is passed: so are those behind it in its frame, up to the bound. */
static void know_run(u9_cursor *c)
{
    uint64_t end = c->ordinal - passed(c) + c->reader.count;
    c->run_end = c->reader.body.plain ? 0 : end < c->to ? end : c->to;
}

/*
 * Most records: one of the most common form, in a run. A scan spends its time here, waiting for memory: so what comes
 * is called for early. False: it takes the long way.
 */
static inline bool run_on(u9_cursor *c, u9_record *out)
{
    enum { SOON = 2048 };
    const uint8_t *p = c->next;
    if (!c->loaded || c->ordinal >= c->run_end) return false;
    size_t size = u9i_common_size(p, c->left);
    const u9i_mapping *map = c->reader.iterator.map;
    if (size == 0 || (map != NULL && u9i_mapping_broken(map))) return false;
    __builtin_prefetch(p + SOON);
    u9i_record r = u9i_common_record(p, size);
    show_record(c, c->ordinal, &r, out);
    c->next = p + size;
    c->left -= size;
    c->ordinal++;
    return true;
}

/* What was trimmed since the cursor was saved is told once. [L-10] */
static u9_err tell_trimmed_since(u9_cursor *c)
{
    u9i_reader *r = &c->reader;
    r->damage = c->trimmed;
    r->damage_sys = 0;
    r->damage.path = r->source->path;
    c->trimmed.reason = U9_R_NONE;
    return tell_what(c);
}

u9_err u9i_cursor_leave(u9_cursor *c)
{
    if (!c->loaded) return U9_OK;
    if (u9i_reader_fell(&c->reader, &c->fault)) return leave_frame(c);
    u9i_reader_behind(&c->reader);
    c->loaded = false;
    return U9_OK;
}

/* The next record, whatever is in its way. */
static u9_err next_by_steps(u9_cursor *c, u9_record *out)
{
    u9_err err = u9i_cursor_allow(c, out);
    if (err == U9_OK && c->trimmed.reason != U9_R_NONE) err = tell_trimmed_since(c);
    while (err == U9_OK || err == U9_AGAIN) {
        if (!c->loaded || passed(c) == c->reader.count) {
            if (c->loaded && u9i_reader_fell(&c->reader, &c->fault)) return leave_frame(c);
            uint64_t ordinal = c->ordinal;
            bool resumes = c->resumes;
            err = step_frame(c, false);
            if (err == U9_OK && resumes) err = resume(c, ordinal);
            if (err != U9_OK) return err;
            if (passed(c) == c->reader.count) continue;
        }
        if (is_behind(c, c->ordinal)) return U9_END;
        bool wanted = !is_before(c, c->ordinal) && c->ordinal >= c->shown;
        err = u9i_cursor_pass(c, out);
        if (wanted && err == U9_OK) know_run(c);
        if (wanted) return err;
        if (err == U9_LIMIT) err = U9_OK;
    }
    return err;
}

u9_err u9_cursor_next(u9_cursor *c, u9_record *out)
{
    if (c != NULL && out != NULL && !u9i_log_forked(c->log) && run_on(c, out)) return U9_OK;
    return next_by_steps(c, out);
}

u9_err u9i_cursor_scan(u9_cursor *c, u9_record *out)
{
    u9_err err;
    do err = u9_cursor_next(c, out);
    while (err == U9_CORRUPT || err == U9_VERSION || err == U9_ABSENT);
    return err == U9_LIMIT ? U9_OK : err;
}

u9_err u9i_cursor_end(u9_cursor *c, u9_err err, u9_fault *fault)
{
    if (fault && err < U9_OK) *fault = c->fault;
    u9_cursor_close(c);
    return err == U9_END ? U9_OK : err;
}

/* Where the records of the loaded frame begin, which only going through them tells. */
static u9_err find_starts(u9_cursor *c)
{
    const u9i_body *b = &c->reader.body;
    const uint8_t *next = b->bytes;
    size_t left = b->size, count = c->reader.count;
    u9i_record r;
    if (c->started) return U9_OK;
    if (count > c->room) {
        uint32_t *more = realloc(c->starts, count * sizeof *more);
        if (more == NULL) return u9i_fault(&c->fault, U9_NOMEM, U9I_AT(.path = c->log->source.path), "out of memory");
        c->starts = more;
        c->room = count;
    }
    for (size_t i = 0; i < count; i++) {
        c->starts[i] = (uint32_t)(next - b->bytes);
        (void)!u9i_body_next_again(b, &next, &left, &r); /* what is none is told when it is come to */
    }
    c->started = true;
    return U9_OK;
}

/* Moves in front of the record that the cursor is behind. */
static u9_err move_back(u9_cursor *c)
{
    const u9i_body *b = &c->reader.body;
    u9_err err = c->reader.large > 0 ? U9_OK : find_starts(c);
    if (err != U9_OK) return err;
    c->ordinal--;
    if (c->reader.large > 0) return U9_OK;
    c->next = b->bytes + c->starts[passed(c)];
    c->left = b->size - c->starts[passed(c)];
    return U9_OK;
}

/* The loaded frame is mapped: who goes back reads it, and goes on where the cursor is in it. */
static u9_err leave_map(u9_cursor *c)
{
    uint64_t ordinal = c->ordinal;
    u9i_reader_leave(&c->reader);
    u9i_reader_go(&c->reader, c->reader.place);
    c->loaded = false;
    u9_err err = step_frame(c, true);
    while (err == U9_OK && c->ordinal > ordinal && passed(c) > 0) err = move_back(c);
    return err;
}

u9_err u9_cursor_prev(u9_cursor *c, u9_record *out)
{
    u9_err err = u9i_cursor_allow(c, out);
    if (err == U9_OK && c->reader.sliced)
        err = u9i_fault(&c->fault, U9_ARG, U9I_AT(.path = c->log->source.path), "a range of a plan is read forwards");
    if (err == U9_OK) c->shown = c->run_end = 0;
    if (err == U9_OK && c->loaded && c->reader.iterator.map) err = leave_map(c);
    while (err == U9_OK) {
        if (!c->loaded || passed(c) == 0) {
            err = step_frame(c, true);
            if (err != U9_OK) return err;
        }
        if (is_before(c, c->ordinal - 1)) return U9_END;
        bool wanted = !is_behind(c, c->ordinal - 1);
        err = move_back(c);
        if (err != U9_OK) return err;
        const uint8_t *next = c->next;
        size_t left = c->left;
        err = c->reader.large > 0 ? show_large(c, out) : take_next(c, c->ordinal, out);
        c->next = next;
        c->left = left;
        cursor_check(c);
        if (wanted) return err;
        if (err == U9_LIMIT) err = U9_OK;
    }
    return err;
}

const u9_damage *u9_cursor_damage(const u9_cursor *c)
{
    return c ? &c->reader.damage : NULL;
}

void u9_cursor_fault(const u9_cursor *c, u9_fault *out)
{
    if (out == NULL) return;
    if (c) *out = c->fault;
    else (void)u9i_fault(out, U9_ARG, U9I_AT(), "an argument is NULL");
}
