/*
 * engine/log/trim.c: see trim.h. [L-10]
 */
#include "engine/log/trim.h"

#include "engine/log/handle.h"
#include "engine/log/tier_list.h"
#include "engine/os/process.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { REMOVE_US = 10000 }; /* for so long the background removes at a time */

#define NONE U9I_NOT_THERE

static void trimming_check(const u9i_trimming *t)
{
    assert(t->gone <= t->count && (t->count == 0 || t->victims != NULL));
    assert(t->count == 0 || (t->trim.segment > 1 && t->trim.segment == t->what.segment));
}

void u9i_trimming_free(u9i_trimming *t)
{
    free(t->victims);
    *t = (u9i_trimming){.count = 0};
}

/* The ordinal of a segment's first record; U9_NOWHERE if its u9open does not say. */
static uint64_t first_record_of(const u9i_facts *f)
{
    return f->has_open ? f->open.end.ordinal : U9_NOWHERE;
}

/* True if a segment of the row may hold records. `above`: the one behind it, NULL if it is the last. */
static bool holds_records(const u9i_facts *f, const u9i_facts *above, const u9i_limits *l)
{
    uint64_t end = above                   ? first_record_of(above)
                   : l->next != U9_NOWHERE ? l->next
                   : f->has_end            ? f->end_frame.trailer.ordinal
                                           : U9_NOWHERE;
    return end == U9_NOWHERE || first_record_of(f) == U9_NOWHERE || end > first_record_of(f);
}

/* True if something says that all in front of `f` go. From it on are `bytes`; no record before it is newer than that. */
static bool may_go(const u9i_limits *l, const u9i_facts *f, uint64_t bytes, uint64_t last_us)
{
    if (!f->has_open || f->header != U9_OK) return false; /* a log does not begin with what is not sure */
    return (l->keep_bytes != 0 && bytes >= l->keep_bytes) || (l->before_us != 0 && last_us < l->before_us) ||
           (l->before != 0 && first_record_of(f) <= l->before) || (l->segment != 0 && f->number <= l->segment);
}

/* What its place has of a tiered log; nothing where it has none. *tiered: it has one. */
static u9_err read_tiered(const u9i_source *source, u9i_tier_list *list, bool *tiered, u9_fault *fault)
{
    int sys = u9i_tier_list_read(source->dir, list);
    *tiered = sys == 0;
    if (sys == 0 || sys == -ENOENT) return U9_OK;
    if (sys == -EBADMSG)
        return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = source->path, .rule = "TR-2"),
                         "its file .tier, which says what may go, is damaged: nothing was trimmed, and `u9 tier LOG --to PLACE` "
                         "makes it anew");
    return u9i_fault(fault, sys == -ENOMEM ? U9_NOMEM : U9_IO, U9I_AT(.path = source->path, .sys = -sys, .rule = "TR-2"),
                     "cannot read its file .tier, which says what may go: nothing was trimmed");
}

/*
 * The lowest number of the row that the place has not, by the list: it and all above stay. U9_NOWHERE: it has all. What was
 * trimmed before the log had a place stands below the place's first yet, and may go. [TR-3] [TR-4]
 */
static uint64_t find_untiered(const u9i_catalog *c, const u9i_tier_list *list)
{
    uint64_t first = list->count > 0 ? list->segments[0].number : 0, begins = first < c->trim.segment ? first : c->trim.segment;
    for (size_t i = 0; i < c->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(c, i);
        const u9i_tiered *there = u9i_tier_list_find(list, f->number);
        if (u9i_facts_on_row(f) && f->number >= begins && (there == NULL || !u9i_tiered_is(there, f))) return f->number;
    }
    return U9_NOWHERE;
}

/* It stands at the place of a tiered log, and no more here. */
static bool is_away(const u9i_source *source, const u9i_facts *f)
{
    char place[4400];
    return u9i_dir_where(source->dir, f->name, place, sizeof place);
}

/*
 * The first segment that is kept, the highest one that may be; NONE: nothing goes. The newest that holds records stays.
 * No frame is older than the one before it, [F-4] so what is known of a segment's last time holds of all below it.
 */
static size_t find_cut(const u9i_source *source, const u9i_catalog *c, const u9i_limits *l, uint64_t untiered, uint64_t *last_us)
{
    const u9i_facts *above = NULL;
    size_t above_at = NONE;
    uint64_t bytes = 0;
    bool held = false;
    *last_us = UINT64_MAX;
    for (size_t i = c->count; i > 0; i--) {
        const u9i_facts *f = u9i_catalog_facts(c, i - 1);
        if (!u9i_facts_on_row(f) || is_away(source, f)) continue;
        if (f->has_end) *last_us = f->end_frame.trailer.time_us;
        if (held && above->number <= untiered && may_go(l, above, bytes, *last_us)) return above_at;
        bytes += f->number == l->tip && l->tip_bytes < f->size ? l->tip_bytes : f->size;
        held |= holds_records(f, above, l);
        above = f;
        above_at = i - 1;
    }
    return NONE;
}

/*
 * Lowers *untiered to the lowest number of those in front of the cut that were damaged when they were copied and are not what
 * was copied any more: mended since, the one here may be the better one. [TR-4]
 */
static u9_err find_mended(const u9i_source *source, const u9i_catalog *c, const u9i_tier_list *list, size_t cut, uint64_t *untiered,
                          u9_fault *fault)
{
    bool same = true;
    for (size_t i = 0; i < cut && same; i++) {
        const u9i_facts *f = u9i_catalog_facts(c, i);
        const u9i_tiered *there = u9i_tier_list_find(list, f->number);
        if (there == NULL || !there->damaged || !u9i_facts_on_row(f) || is_away(source, f)) continue;
        int sys = u9i_tiered_compare(there, source->dir, f->name, &same);
        if (sys != 0)
            return u9i_fault(fault, sys == -ENOMEM ? U9_NOMEM : U9_IO, U9I_AT(.path = source->path, .sys = -sys, .rule = "TR-4"),
                             "cannot read segment %s, of which the place has a damaged copy: nothing was trimmed", f->name);
        if (!same) *untiered = f->number;
    }
    return U9_OK;
}

/* The first segment that is kept, as find_cut; what a place must have before it goes here is seen to. */
static u9_err choose_cut(u9i_trimming *t, const u9i_source *source, const u9i_catalog *c, const u9i_limits *l, size_t *cut,
                         uint64_t *last_us, u9_fault *fault)
{
    u9i_tier_list list;
    u9_err err = read_tiered(source, &list, &t->settled, fault);
    if (err != U9_OK) return err;
    uint64_t listed = t->settled ? find_untiered(c, &list) : U9_NOWHERE, untiered = listed;
    *cut = find_cut(source, c, l, untiered, last_us);
    if (t->settled && *cut != NONE) err = find_mended(source, c, &list, *cut, &untiered, fault);
    if (untiered != listed) *cut = find_cut(source, c, l, untiered, last_us);
    u9i_tier_list_free(&list);
    return err;
}

/* Tells of one that goes; the first one is the first to be told. */
static void describe(u9i_trimming *t, const u9i_facts *f)
{
    if (t->what.segments++ == 0) {
        t->what.first_time_us = f->has_open ? f->open.time_us : 0;
        uint64_t first = f->number == 1 ? 0 : first_record_of(f);
        t->what.records = first <= t->trim.ordinal ? t->trim.ordinal - first : U9_NOWHERE;
    }
    t->what.bytes += f->size;
}

/* Which file it is; asked once more where nothing could be learnt of it when the files were listed. 0 or a negative errno. */
static int identify(u9i_dir *dir, const u9i_facts *f, uint64_t out[2])
{
    memcpy(out, f->stamp.identity, sizeof f->stamp.identity);
    return out[0] != 0 || out[1] != 0 ? 0 : u9i_dir_identify(dir, f->name, out);
}

/* A copy of a segment that goes, behind the cut by its name's number, as its u9open is damaged: alone it would be the segment. [L-2] */
static bool is_stray_copy(const u9i_catalog *c, size_t cut, const u9i_facts *f)
{
    if (f->wrong != U9_R_NAME) return false;
    for (size_t i = 0; i < cut; i++) {
        const u9i_facts *of = u9i_catalog_facts(c, i);
        if (u9i_facts_on_row(of) && memcmp(of->secret.boundary, f->secret.boundary, U9I_HASH_SIZE) == 0) return true;
    }
    return false;
}

static bool is_victim(const u9i_trimming *t, const u9i_source *source, const u9i_facts *f)
{
    bool whose = f->wrong == U9_R_NONE || f->wrong == U9_R_UNREADABLE || f->wrong == U9_R_NAME;
    return whose && f->number < t->trim.segment && !is_away(source, f);
}

static u9_err add_victim(u9i_trimming *t, const u9i_source *source, const u9i_facts *f, u9_fault *fault)
{
    u9i_victim *v = &t->victims[t->count];
    int sys = f->wrong == U9_R_UNREADABLE ? -f->unread : identify(source->dir, f, v->identity);
    if (sys == -ENOENT) return U9_OK;
    if (sys != 0)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = source->path, .sys = -sys, .rule = "L-10"),
                         "cannot look at segment %s, which is to go: nothing was trimmed", f->name);
    memcpy(v->name, f->name, sizeof v->name);
    t->count++;
    if (u9i_facts_on_row(f)) describe(t, f);
    return U9_OK;
}

/*
 * All of the log's files in front of the cut: what is void there goes as well, and copies do, each in front of what it is
 * one of, as it would be the segment without that. One that cannot be looked at would stay, behind a hole, and what it
 * promised be a fork once it can be read again: then nothing goes.
 */
static u9_err list_victims(u9i_trimming *t, const u9i_source *source, const u9i_catalog *c, size_t cut, u9_fault *fault)
{
    u9_err err = U9_OK;
    t->victims = calloc(c->count, sizeof *t->victims);
    if (t->victims == NULL) return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = source->path), "out of memory");
    for (size_t i = cut; i < c->count && err == U9_OK; i++)
        if (is_stray_copy(c, cut, u9i_catalog_facts(c, i))) err = add_victim(t, source, u9i_catalog_facts(c, i), fault);
    for (size_t i = 0; i < cut && err == U9_OK; i++)
        if (is_victim(t, source, u9i_catalog_facts(c, i))) err = add_victim(t, source, u9i_catalog_facts(c, i), fault);
    return err;
}

/* Which segments of a catalog go. */
static u9_err plan_trim(u9i_trimming *t, const u9i_source *source, const u9i_catalog *c, const u9i_limits *l, u9_fault *fault)
{
    uint64_t last_us;
    size_t cut;
    *t = (u9i_trimming){.what.size = sizeof t->what};
    u9_err err = choose_cut(t, source, c, l, &cut, &last_us, fault);
    if (err != U9_OK) return err;
    size_t first = cut == NONE ? u9i_catalog_first(c) : cut;
    if (first == c->count) return U9_OK;
    t->what.segment = u9i_catalog_facts(c, first)->number;
    t->what.ordinal = first_record_of(u9i_catalog_facts(c, first));
    if (cut == NONE) return U9_OK;
    t->trim = (u9i_trim_record){.segment = t->what.segment, .ordinal = t->what.ordinal};
    err = list_victims(t, source, c, cut, fault);
    t->what.last_time_us = last_us == UINT64_MAX ? 0 : last_us;
    if (err == U9_OK) trimming_check(t);
    return err;
}

/* What the log knows of itself. */
static void add_own(u9_log *log, u9i_limits *l)
{
    l->next = u9i_writer_next(&log->writer);
    l->tip = u9i_writer_tip(&log->writer, &l->tip_bytes);
}

static u9_err plan_now(u9_log *log, const u9i_limits *l, u9i_trimming *t, u9_fault *fault)
{
    u9i_catalog *c;
    *t = (u9i_trimming){.count = 0};
    u9_err err = u9i_source_catalog(&log->source, &c, fault);
    if (err != U9_OK) return err;
    err = plan_trim(t, &log->source, c, l, fault);
    u9i_catalog_unref(c);
    if (err != U9_OK) u9i_trimming_free(t);
    return err;
}

/* The mark says that the log is kept from there on, or later. */
static bool is_marked(u9_log *log, uint64_t ordinal)
{
    const u9i_marker *m = &log->marker;
    pthread_mutex_lock(&log->lock);
    bool marked = m->stage == U9I_MARKER_IDLE && m->known.counts >= 0 && !m->replace &&
           m->known.slots[m->known.counts].mark.first_ordinal >= ordinal;
    pthread_mutex_unlock(&log->lock);
    return marked;
}

/* Marks this, durably. */
static u9_err write_mark_of(u9_log *log, const u9i_mark_record *mark, u9_fault *fault)
{
    pthread_mutex_lock(&log->lock);
    u9_err err = u9i_marker_write(&log->marker, mark, fault);
    pthread_mutex_unlock(&log->lock);
    return err;
}

/* The log says that it is kept from there on: in a new segment, and by its mark. Durably. Lock. */
static u9_err say_trimmed(u9_log *log, const u9i_trim_record *trim, u9_fault *fault)
{
    u9i_mark_record mark;
    u9_err err = u9i_writer_trim(&log->writer, trim, &mark, fault);
    return err == U9_OK ? write_mark_of(log, &mark, fault) : err;
}

/* Nothing of the log's is to be had for a new segment. */
static bool lacks_room(u9_err err, int sys)
{
    return err == U9_IO && (sys == ENOSPC || sys == EDQUOT);
}

/* By its mark alone, for now, which takes no room. U9_STATE: that cannot be. Lock. */
static u9_err mark_trimmed(u9_log *log, const u9i_trim_record *trim)
{
    if (u9i_writer_is_poisoned(&log->writer)) return U9_STATE;
    pthread_mutex_lock(&log->lock);
    u9_err err = u9i_marker_keep_from(&log->marker, trim->segment, trim->ordinal, NULL);
    if (err == U9_OK) u9i_writer_keep_from(&log->writer, trim); /* as the marks and segments behind it do */
    pthread_mutex_unlock(&log->lock);
    return err;
}

/* True if it has said so already: an earlier trim came so far. Lock. */
static bool is_said(u9_log *log, const u9i_trim_record *trim)
{
    return u9i_writer_kept_from(&log->writer) >= trim->segment && is_marked(log, trim->ordinal);
}

/* The index beside it goes first: what a crash leaves of it is of no use, and of no harm. [K-4] */
static void drop_index(u9i_dir *dir, const char *segment)
{
    char name[U9I_INDEX_NAME];
    u9i_stamp stamp;
    u9i_index_name(segment, name);
    if (u9i_dir_stat(dir, name, &stamp) == 0) (void)u9i_dir_remove(dir, name);
}

/*
 * The log has said what goes: whoever gives it a place from now on knows that, and copies none of it. [TR-3] If it has got one
 * since this was planned, what goes may be on its way to there: all of it stays, and goes with a later trim. Lock.
 */
static u9_err settle_by_place(u9_log *log, u9i_trimming *t, u9_fault *fault)
{
    u9i_tier_list list;
    bool named;
    if (t->settled) return U9_OK;
    u9_err err = read_tiered(&log->source, &list, &named, fault);
    if (err != U9_OK) return err;
    u9i_tier_list_free(&list);
    t->settled = true;
    if (!named) return U9_OK;
    t->count = 0;
    t->what = (u9_trimmed){.size = t->what.size, .segment = t->what.segment, .ordinal = t->what.ordinal};
    return U9_OK;
}

/* Removes the lowest that is left, durably: a higher one never goes before a lower one. Lock. */
static u9_err remove_lowest(u9_log *log, u9i_trimming *t, u9_fault *fault)
{
    u9_err err = settle_by_place(log, t, fault);
    if (err != U9_OK || t->gone == t->count) return err;
    const u9i_victim *v = &t->victims[t->gone];
    u9i_dir *dir = log->source.dir;
    u9i_stamp stamp;
    int sys = u9i_dir_stat(dir, v->name, &stamp);
    bool there = sys == 0 && memcmp(stamp.identity, v->identity, sizeof stamp.identity) == 0;
    if (there) drop_index(dir, v->name);
    if (there) sys = u9i_dir_remove(dir, v->name);
    if (there && sys == 0) sys = u9i_dir_sync(dir);
    if (sys != 0 && sys != -ENOENT)
        return u9i_fault(fault, U9_IO, U9I_AT(.path = log->source.path, .sys = -sys, .rule = "L-10"),
                         "cannot remove segment %s, which was trimmed", v->name);
    t->gone++;
    trimming_check(t);
    return U9_OK;
}

/*
 * Says what is trimmed; where there is no room to say it in, what goes makes it: the mark says so first, alone, and then one
 * after the other goes until there is. Lock.
 */
static u9_err say_or_make_room(u9_log *log, u9i_trimming *t, u9_fault *fault)
{
    u9_fault why = {.err = U9_OK};
    bool marked = false;
    u9_err err = say_trimmed(log, &t->trim, &why);
    while (lacks_room(err, why.sys) && t->gone < t->count) {
        if (!marked && mark_trimmed(log, &t->trim) != U9_OK) break;
        marked = true;
        err = remove_lowest(log, t, &why);
        if (err == U9_OK) err = say_trimmed(log, &t->trim, &why);
    }
    if (lacks_room(err, why.sys))
        return u9i_fault(fault, U9_IO, U9I_AT(.path = log->source.path, .sys = why.sys, .rule = "L-10"),
                         marked ? "there is no room for a segment that says what was trimmed; the log's mark says it"
                                : "there is no room for a segment that says what is trimmed, nor could its mark: nothing was trimmed");
    if (err != U9_OK && fault) *fault = why;
    return err;
}

/* What was planned is done. The lock is taken for each step, and let go of between them. */
static u9_err carry_out(u9_log *log, u9i_trimming *t, u9_fault *fault)
{
    pthread_mutex_lock(&log->trim_lock);
    u9_err err = is_said(log, &t->trim) ? U9_OK : say_or_make_room(log, t, fault);
    u9i_log_watch(log);
    pthread_mutex_unlock(&log->trim_lock);
    while (err == U9_OK && t->gone < t->count) {
        pthread_mutex_lock(&log->trim_lock);
        err = remove_lowest(log, t, fault);
        pthread_mutex_unlock(&log->trim_lock);
    }
    return err;
}

u9_err u9i_log_trim(u9_log *log, u9i_limits limits, bool dry, u9_trimmed *out, u9_fault *fault)
{
    u9i_trimming t;
    limits.next = U9_NOWHERE;
    if (log->writing) add_own(log, &limits);
    u9_err err = plan_now(log, &limits, &t, fault);
    if (err != U9_OK) return err;
    if (!dry && t.count > 0) err = carry_out(log, &t, fault);
    if (err == U9_OK) *out = t.what;
    u9i_trimming_free(&t);
    return err;
}

/* What the options keep: by how much is there, and how old it is now. Lock. */
static u9i_limits kept_by_options(u9_log *log)
{
    uint64_t age_us = log->options.keep_age_us, now = u9i_wall_us(log->source.dir->env);
    u9i_limits l = {.keep_bytes = log->options.keep_bytes, .before_us = age_us != 0 && age_us < now ? now - age_us : 0};
    add_own(log, &l);
    return l;
}

/* A failure hinders nobody: it is told by the close, if nothing does better before. */
static void note_outcome(u9_log *log, u9_err err, const u9_fault *why)
{
    log->retained.err = U9_OK;
    if (err == U9_OK) return;
    (void)u9i_fault(&log->retained, err == U9_NOMEM ? err : U9_IO, U9I_AT(.path = log->source.path, .sys = why->sys, .rule = "L-10"),
                    "the log was not trimmed as its options say: %s", why->text);
}

/* Lock: files are still to be removed. */
static bool is_trimming(const u9_log *log)
{
    return log->trimming.gone < log->trimming.count;
}

/* Removes what may be by now, so long as it does not take longer than that. Lock. */
static void remove_said(u9_log *log, uint64_t most_us)
{
    u9i_env *env = log->source.dir->env;
    u9_fault why;
    u9_err err = U9_OK;
    if (!is_trimming(log) || u9i_writer_is_poisoned(&log->writer) || !is_said(log, &log->trimming.trim)) return;
    uint64_t began = u9i_monotonic_us(env);
    do err = remove_lowest(log, &log->trimming, &why);
    while (err == U9_OK && is_trimming(log) && u9i_monotonic_us(env) - began < most_us);
    note_outcome(log, err, &why);
    if (err != U9_OK || !is_trimming(log)) u9i_trimming_free(&log->trimming);
}

/* What went at the last roll is still there: who rolls faster than it is marked and removed waits for that. Lock. */
static void catch_up(u9_log *log)
{
    u9i_mark_record mark;
    if (!is_trimming(log)) return;
    if (!is_said(log, &log->trimming.trim) && u9i_writer_mark(&log->writer, &mark))
        (void)!write_mark_of(log, &mark, NULL); /* a failure is the marker's to tell */
    remove_said(log, U9I_FOREVER);
}

/* What is to go at a roll. Lock. */
static void plan_at_roll(u9_log *log, u9i_trim_record *out)
{
    u9_fault why;
    catch_up(log);
    if (is_trimming(log)) return; /* without a mark nothing is removed, and no more is said */
    u9i_limits l = kept_by_options(log);
    u9_err err = plan_now(log, &l, &log->trimming, &why);
    note_outcome(log, err, &why);
    if (err != U9_OK) return;
    if (log->trimming.count > 0) *out = log->trimming.trim;
    else u9i_trimming_free(&log->trimming);
}

/* The writer is about to go over to a new segment, which can say what goes: if nobody else trims just now. */
static void retain_at_roll(void *ctx, u9i_trim_record *out)
{
    u9_log *log = ctx;
    if (pthread_mutex_trylock(&log->trim_lock) != 0) return;
    plan_at_roll(log, out);
    pthread_mutex_unlock(&log->trim_lock);
}

void u9i_retain_begin(u9_log *log)
{
    u9_fault why;
    u9i_trimming t;
    if (log->options.keep_bytes == 0 && log->options.keep_age_us == 0) return;
    log->writer.retain = retain_at_roll;
    log->writer.retain_ctx = log;
    u9i_limits l = kept_by_options(log);
    u9_err err = plan_now(log, &l, &t, &why);
    if (err == U9_OK && t.count > 0 && !is_said(log, &t.trim)) err = say_or_make_room(log, &t, &why);
    while (err == U9_OK && t.gone < t.count) err = remove_lowest(log, &t, &why);
    note_outcome(log, err, &why);
    u9i_trimming_free(&t);
}

bool u9i_retain_tick(u9_log *log)
{
    if (pthread_mutex_trylock(&log->trim_lock) != 0) return true;
    remove_said(log, REMOVE_US);
    bool more = is_trimming(log);
    pthread_mutex_unlock(&log->trim_lock);
    return more;
}

u9_err u9i_retain_end(u9_log *log, u9_fault *fault)
{
    remove_said(log, U9I_FOREVER);
    u9i_trimming_free(&log->trimming);
    if (log->retained.err != U9_OK && fault) *fault = log->retained;
    return log->retained.err;
}

/* Where a log begins whose oldest segments are missing, and what is gone; segments 0: that is not what is missing. */
static void late_begin(const u9i_catalog *c, u9_trimmed *out)
{
    size_t first = u9i_catalog_first(c);
    *out = (u9_trimmed){.size = sizeof *out};
    if (first == c->count) return;
    const u9i_facts *f = u9i_catalog_facts(c, first);
    out->segment = f->number;
    out->ordinal = first_record_of(f);
    if (!u9i_catalog_begins_late(c)) return;
    out->segments = 1;
    out->records = out->ordinal >= c->trim.ordinal ? out->ordinal - c->trim.ordinal : U9_NOWHERE;
}

static u9_err look_late(u9i_source *source, u9_trimmed *out, u9_fault *fault)
{
    u9i_catalog *c;
    u9_err err = u9i_source_catalog(source, &c, fault);
    if (err != U9_OK) return err;
    err = u9i_source_refuse_stand_in(source, c, fault);
    late_begin(c, out);
    u9i_catalog_unref(c);
    return err;
}

u9_err u9i_trim_explain(u9i_source *source, u9_fault *fault)
{
    u9_trimmed late;
    u9_err err = look_late(source, &late, fault);
    if (err == U9_OK && late.segments > 0)
        u9i_source_explain(source, &(u9i_trim_record){.segment = late.segment, .ordinal = late.ordinal});
    return err;
}

/* A session of its own says that they were trimmed, if they still are missing. */
static u9_err accept_late(const char *path, const char *io, u9_trimmed *out, u9_fault *fault)
{
    u9_options writing = {.size = sizeof writing, .mode = U9_WRITE, .io = io};
    u9_log *log;
    u9_err err = u9i_log_open_explaining(path, &writing, &log, fault);
    if (err != U9_OK) return err;
    pthread_mutex_lock(&log->trim_lock);
    if (log->source.explained.segment != 0) err = say_trimmed(log, &log->source.explained, fault);
    else out->segments = 0;
    pthread_mutex_unlock(&log->trim_lock);
    u9_err closed = u9_log_close(log, err == U9_OK ? fault : NULL);
    return err == U9_OK ? closed : err;
}

u9_err u9_accept_trim(const char *path, int accept, const char *io, u9_trimmed *out, u9_fault *fault)
{
    u9_options reading = {.size = sizeof reading, .mode = U9_READ, .io = io};
    u9_trimmed late;
    u9_log *log;
    if (path == NULL || out == NULL || out->size != sizeof *out)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = path),
                         "an argument is NULL, or out->size is not sizeof(u9_trimmed)");
    u9_err err = u9_log_open(path, &reading, &log, fault);
    if (err != U9_OK) return err;
    err = look_late(&log->source, &late, fault);
    (void)u9_log_close(log, NULL);
    if (err == U9_OK && late.segments > 0 && accept) err = accept_late(path, io, &late, fault);
    if (err == U9_OK) *out = late;
    return err;
}
