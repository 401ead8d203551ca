/*
 * engine/check/snapshot.c: a consistent copy of a log while it is written: u9_log_snapshot. to
 *
 * The row is read from the first segment on that is new, and with it the last segment up to where its frames end now:
 * whatever was durable when this began is before that. What stands there is then made durable in the log, so that the
 * snapshot has nothing that the log may lose.
 */
#include "engine/check/snapshot.h"

#include "engine/check/atomic_dir.h"
#include "engine/check/damage_sum.h"
#include "engine/log/handle.h"
#include "engine/os/list.h"
#include "engine/os/store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRESS_US = 50000, TRIES = 1000 };

static void snapshot_check(const u9i_snapshot *s)
{
    assert(s->told_count <= s->told_room && s->trimmed_count <= s->trimmed_room);
    assert(s->catalog == NULL || (s->tip < s->catalog->count && s->first <= s->tip));
    assert(s->how != 0); /* the last segment is of the row: who has read to the log's end has left it */
}

/* What is told */

/* A path of its own for each, as what is told waits until all is read. */
static u9_err keep_damage(u9i_snapshot *s, const u9_damage *d, u9_fault *fault)
{
    u9_snapshot_report *r = &s->report;
    u9_damage *more = u9i_grow(s->told, s->told_count, &s->told_room, sizeof *more);
    if (more) s->told = more;
    char *path = more ? strdup(d->path) : NULL;
    if (path == NULL) return u9i_snapshot_fail(s, -ENOMEM, "note what is damaged", fault);
    s->told[s->told_count] = *d;
    s->told[s->told_count++].path = path;
    u9i_damage_sum(d, &r->verdict, &r->damages, &r->lost);
    s->unmet |= d->verdict == U9_V_CORRUPT && (d->reason == U9_R_MARK || d->reason == U9_R_FORK);
    return U9_OK;
}

static void forget_told(u9i_snapshot *s)
{
    for (size_t i = 0; i < s->told_count; i++) free((char *)(uintptr_t)s->told[i].path);
    s->told_count = 0;
}

static void tell_all(u9i_snapshot *s)
{
    for (size_t i = 0; i < s->told_count && s->options->on_damage; i++)
        s->options->on_damage(s->options->ctx, &s->told[i]);
    forget_told(s);
}

static u9_err tell_snapshot_progress(u9i_snapshot *s, u9_fault *fault)
{
    if (s->options->on_progress == NULL) return U9_OK;
    uint64_t now = u9i_monotonic_us(s->dir->env);
    if (now - s->progress_us < PROGRESS_US) return U9_OK;
    s->progress_us = now;
    if (s->options->on_progress(s->options->ctx, u9i_reader_passed(&s->reader), u9i_reader_bytes(&s->reader)) == 0)
        return U9_OK;
    return u9i_fault(fault, U9_STATE, U9I_AT(.path = s->source->path), "stopped as asked");
}

/* What is read */

static void keep_key(uint8_t *to, size_t *size, const u9i_record *r)
{
    *size = (size_t)(r->key - r->key_value) + r->key_size;
    memcpy(to, r->key_value, *size);
}

/* A frame of the last segment counts in the u9end that its copy gets. [C-4] */
static void count_frame(u9i_snapshot *s)
{
    u9i_reader *r = &s->reader;
    u9i_segment_out *o = &s->out;
    o->totals.frames++;
    if (r->count == 0) return;
    bool part = r->large > 0 || r->body.bytes == r->parts.bytes;
    o->totals.records += r->count;
    o->totals.bytes += part ? r->frame->body_size : r->body.size;
    if (o->totals.first_key.size == 0) keep_key(o->first_key, &o->totals.first_key.size, &r->first);
    keep_key(o->last_key, &o->totals.last_key.size, &r->last);
}

/* The reader is about to leave the last segment. */
static void note_tip_end(u9i_snapshot *s)
{
    const u9i_facts *f = u9i_reader_facts(&s->reader);
    const u9i_judge *j = &s->reader.iterator.judge;
    u9i_mark_record own = {.segment = f->number, .end = j->end};
    const u9i_catalog *c = s->catalog;
    s->end = *j;
    bool sealed = u9i_facts_sealed(f);
    bool damaged = j->tail > U9_V_TORN || !j->knows_ordinal || j->frames == 0 || j->end.offset < j->promise ||
                   s->unmet || (c->marks && u9i_mark_beyond(u9i_mark_promise(&c->mark), &own));
    bool keeps = s->whole_count > 0 && s->whole[s->whole_count - 1].index == s->tip;
    s->how = sealed ? U9I_TIP_SEALED : damaged ? U9I_TIP_WHOLE : keeps && !j->closed ? U9I_TIP_OPEN : U9I_TIP_CLOSE;
    s->out.number = s->out.totals.segment = f->number;
    s->out.secret = f->secret;
    s->out.end = j->end;
    s->out.previous = j->last;
    s->out.time_us = j->time_us;
    s->out.promised = j->promise;
}

static u9_err take_snapshot_step(u9i_snapshot *s, u9i_step step, u9_fault *fault)
{
    u9i_reader *r = &s->reader;
    bool tip = r->reading && r->index == s->tip;
    if (tip && step == U9I_STEP_FRAME) count_frame(s);
    if (tip && step == U9I_STEP_LEAVE) note_tip_end(s);
    if (step != U9I_STEP_DAMAGE) return U9_OK;
    s->gone |= r->damage.reason == U9_R_TRIMMED;
    u9_err err = keep_damage(s, &r->damage, fault);
    return err == U9_OK && r->reading ? u9i_snapshot_find_whole(s, r->index, &r->damage, fault) : err;
}

static const u9i_snapshot_state *state_left(const u9i_snapshot *s)
{
    return s->note.count > 0 ? &s->note.states[s->note.count - 1] : NULL;
}

/* What was damaged may be whole by now: of what comes some was missing, or was replaced. */
static bool fills_gap(const u9i_snapshot *s)
{
    const u9i_snapshot_state *left = state_left(s);
    return left && left->damaged && u9i_catalog_facts(s->catalog, s->first)->number < left->segment;
}

/* Reads all that is new, to the end. */
static u9_err read_new(u9i_snapshot *s, u9_fault *fault)
{
    u9i_reader *r = &s->reader;
    u9i_step step = U9I_STEP_DAMAGE;
    u9_err err = U9_OK;
    size_t from = s->options->verify_all || s->partial || fills_gap(s) ? 0 : s->first;
    while (from > 0 && !u9i_catalog_facts(s->catalog, from)->has_open) from--; /* where it begins, those in front of it say */
    r->leaves = r->seals = true;
    if (from > 0) u9i_reader_segments(r, from, s->catalog->count - 1);
    while (err == U9_OK && step != U9I_STEP_END && !s->gone) {
        err = u9i_reader_step(r, &step, fault);
        if (err == U9_OK) err = take_snapshot_step(s, step, fault);
        if (err == U9_OK) err = tell_snapshot_progress(s, fault);
    }
    s->report.damaged_before = from > 0 && state_left(s) && state_left(s)->damaged;
    return err;
}

/* Nothing of what was read will the log lose in a power cut. */
static u9_err make_durable(u9i_snapshot *s, u9_fault *fault)
{
    u9i_segment *segment = s->catalog->segments[s->tip];
    u9i_file *file;
    int sys = u9i_segment_open(segment, &file);
    if (sys == 0) {
        sys = u9i_file_sync_and_evict(file);
        u9i_segment_close(segment);
    }
    s->gone = sys == -ENOENT || sys == -ESTALE;
    if (sys == 0 || sys == -EINVAL || s->gone) return U9_OK; /* */
    return u9i_fault(fault, U9_IO, U9I_AT(.path = s->source->path, .segment = segment->facts.number, .sys = -sys),
                     "cannot make the log's last segment durable");
}

/* Which records there are. */
static void note_ordinals(u9i_snapshot *s)
{
    const u9i_catalog *c = s->catalog;
    const u9i_facts *first = u9i_catalog_facts(c, u9i_catalog_first(c));
    s->report.first_ordinal = first->has_open && first->number > 1 ? first->open.end.ordinal : 0;
    s->report.next_ordinal = s->end.end.ordinal;
    s->report.closed = s->how == U9I_TIP_CLOSE;
}

/* The log as it is now */

static u9_err find_last_segment(u9i_snapshot *s, u9_fault *fault)
{
    const u9i_catalog *c = s->reader.catalog;
    const char *why = u9i_catalog_plain(c) ? "plain seed files have no snapshot: copy them" : NULL;
    size_t tip = c->count;
    while (tip > 0 && !u9i_facts_on_row(u9i_catalog_facts(c, tip - 1))) tip--;
    if (why) return u9i_fault(fault, U9_ARG, U9I_AT(.path = s->source->path), "%s", why);
    if (tip == 0)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = s->source->path, .rule = "L-2"), "no segment of the log can "
                         "be read");
    s->tip = tip - 1;
    s->catalog = c;
    return U9_OK;
}

/* One time, of which nothing is left if a name was gone. */
static u9_err attempt(u9i_snapshot *s, u9_fault *fault)
{
    size_t size = s->report.size;
    forget_told(s);
    s->report = (u9_snapshot_report){.size = size};
    s->whole_count = 0;
    s->out = (u9i_segment_out){.number = 0};
    s->gone = s->unmet = s->altered = false;
    s->how = (u9i_snapshot_tip)0;
    u9_err err = find_last_segment(s, fault);
    if (err == U9_OK) err = u9i_snapshot_compare(s, fault);
    if (err == U9_OK && !s->gone) err = read_new(s, fault);
    if (err == U9_OK && !s->gone && s->options->verify_all && s->partial == NULL) err = u9i_snapshot_compare_copies(s, fault);
    if (err != U9_OK || s->gone) return err;
    note_ordinals(s);
    snapshot_check(s);
    if (s->options->strict && (s->report.damages > 0 || s->report.damaged_before))
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = s->source->path),
                         s->report.damages > 0 ? "the log is damaged: no snapshot was made, as asked"
                                               : "what the snapshot has is damaged: nothing was changed, as asked");
    err = make_durable(s, fault);
    return err == U9_OK && !s->gone ? u9i_snapshot_carry_out(s, fault) : err;
}

static u9_err run_snapshot(u9i_snapshot *s, u9_fault *fault)
{
    u9_err err = U9_OK;
    s->gone = true;
    for (unsigned tries = 0; s->gone && err == U9_OK && tries < TRIES; tries++) {
        err = u9i_reader_open(&s->reader, s->source, fault);
        if (err != U9_OK) return err;
        err = attempt(s, fault);
        u9i_reader_release(&s->reader);
        s->catalog = NULL;
    }
    if (err == U9_OK && s->gone)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = s->source->path, .sys = ENOENT),
                         "the log's files come and go faster than they can be taken");
    return err;
}

/* A host built with an earlier version has shorter ones: what is not there is zero. */
static bool is_snapshot_size(size_t size)
{
    return size == sizeof(u9_snapshot_options) || size == offsetof(u9_snapshot_options, keep_trimmed);
}

static bool is_snapshot_report(size_t size)
{
    return size == sizeof(u9_snapshot_report) || size == offsetof(u9_snapshot_report, whole);
}

static u9_err check_arguments(const u9_log *log, const char *dir, const u9_snapshot_options *o,
                              const u9_snapshot_report *report, u9_fault *fault)
{
    const char *wrong = NULL;
    if (log == NULL || report == NULL) wrong = "an argument is NULL";
    else if (dir == NULL || dir[0] == 0) wrong = "the path of the snapshot is empty";
    else if (!is_snapshot_report(report->size)) wrong = "report.size is not sizeof(u9_snapshot_report)";
    else if (o && !is_snapshot_size(o->size)) wrong = "options.size is not sizeof(u9_snapshot_options)";
    else if (log->source.dir->single[0]) wrong = "this is one segment file, not a log";
    if (wrong) return u9i_fault(fault, U9_ARG, U9I_AT(.path = dir), "%s", wrong);
    if (u9i_log_forked(log)) return u9i_fault(fault, U9_STATE, U9I_AT(.path = dir), "the handle is another process's");
    return U9_OK;
}

/* What is appended to a handle that writes is durable when it is taken. */
static u9_err sync_own(u9_log *log, u9_fault *fault)
{
    u9_err err = log->writing ? u9_log_sync(log) : U9_OK;
    if (err != U9_OK) u9_log_fault(log, fault);
    return err;
}

/* Nothing was made of it: what would grow goes, too. */
static void drop_empty(u9i_snapshot *s)
{
    u9i_dir_close(s->dir);
    s->dir = NULL;
    (void)u9i_atomic_dir_drop(s->source->dir->env, s->partial, s->source->path);
}

u9_err u9_log_snapshot(u9_log *log, const char *dir, const u9_snapshot_options *options, u9_snapshot_report *report,
                       u9_fault *fault)
{
    u9_snapshot_options own = {.size = sizeof own};
    u9_err err = check_arguments(log, dir, options, report, fault);
    if (err == U9_OK) err = u9i_env_beside(log->source.dir->env, &dir, fault);
    if (err == U9_OK) err = sync_own(log, fault);
    if (err != U9_OK) return err;
    if (options) memcpy(&own, options, options->size);
    u9i_snapshot s = {.source = &log->source, .options = &own, .path = dir,
                      .report.size = report->size};
    err = u9i_snapshot_open(&s, fault);
    bool opened = err == U9_OK;
    if (opened) err = run_snapshot(&s, fault);
    bool refused = opened && err == U9_CORRUPT && s.options->strict;
    if (err == U9_OK || refused) {
        memcpy(report, &s.report, report->size);
        tell_all(&s);
    }
    if (opened && (refused || err == U9_ARG) && s.partial) drop_empty(&s);
    forget_told(&s);
    free(s.told);
    u9i_snapshot_close(&s);
    return err;
}
