/*
 * engine/check/tier.c: sealed segments go to another place: u9_tier. [TR-1] [TR-3] [TR-4]
 *
 *     compare with the lists -> say which place it is -> look what is damaged -> indexes beside those that have none
 *     -> each that is not there: copy, read back -> the mark there -> the list there -> the list here
 *     -> drop by trim
 *
 * Each step is durable before the next. What a run that was interrupted left at the place is a segment that is whole, and
 * is compared, or (where a place has files) a beginning of one, which is removed.
 */
#include "engine/check/tiering.h"

#include "engine/log/trim.h"
#include "engine/os/store.h"

#include <u9/index.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TELL_EVERY = 16 }; /* so many segments are copied before the lists say so */

static const char lock_name[] = ".tier.lock";

u9_err u9i_tiering_fail(const u9i_tiering *t, bool far, const char *name, int sys, const char *what, u9_fault *fault)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", far ? t->place : t->source.path, name);
    return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .sys = -sys), "%s", what);
}

/* Opening */

static u9_err open_lock(u9i_tiering *t, u9_fault *fault)
{
    u9i_dir *dir = t->source.dir;
    int sys = u9i_file_open(dir, lock_name, U9I_OPEN_WRITE, &t->lock);
    if (sys == -ENOENT) sys = u9i_file_open(dir, lock_name, U9I_OPEN_CREATE, &t->lock);
    if (sys == -EEXIST) sys = u9i_file_open(dir, lock_name, U9I_OPEN_WRITE, &t->lock);
    if (sys != 0) {
        t->lock = NULL;
        return u9i_tiering_fail(t, false, lock_name, sys, "cannot open the file that is locked", fault);
    }
    sys = u9i_file_lock(t->lock);
    if (sys == -EWOULDBLOCK)
        return u9i_fault(fault, U9_LOCKED, U9I_AT(.path = t->source.path, .rule = "TR-3"),
                         "its segments are being copied to their other place already");
    return sys ? u9i_tiering_fail(t, false, lock_name, sys, "cannot lock it", fault) : U9_OK;
}

/* A list that is there is read; *damaged: it cannot be. */
static u9_err read_list(u9i_tiering *t, bool far, u9i_tier_list *list, bool *damaged, u9_fault *fault)
{
    int sys = u9i_tier_list_read(far ? t->far : t->source.dir, list);
    *damaged = sys == -EBADMSG;
    if (sys == 0 || sys == -ENOENT || sys == -EBADMSG) return U9_OK;
    return u9i_tiering_fail(t, far, u9i_tier_name, sys, "cannot read the list of what is there", fault);
}

/* All that another list has and this one lacks. */
static u9_err add_lacking(u9i_tiering *t, u9i_tier_list *from, u9_fault *fault)
{
    for (size_t i = 0; i < from->count; i++) {
        u9i_tiered *s = &from->segments[i];
        if (u9i_tier_list_find(&t->list, s->number)) continue;
        u9i_tiered own = *s;
        s->keys = NULL;
        s->keys_size = 0;
        if (!u9i_tier_list_put(&t->list, &own)) return u9i_tiering_fail(t, false, u9i_tier_name, -ENOMEM, "out of memory", fault);
    }
    return U9_OK;
}

/* `damaged`: its list of its own cannot be read. */
static u9_err choose_place(u9i_tiering *t, const u9i_tier_list *own, bool damaged, u9_fault *fault)
{
    const char *asked = t->options.to, *has = own->place;
    const char *wrong = NULL;
    if (asked == NULL && damaged) wrong = "its file .tier is damaged, which says what its place is, and none is given";
    else if (asked == NULL && has == NULL) wrong = "where are its segments to go? It has no place yet, and none is given";
    else if (asked && asked[0] == 0) wrong = "the place is empty";
    else if (has && has[0] == 0) wrong = "this is such a place itself";
    else if (asked && has && strcmp(asked, has) != 0) wrong = "its segments go to another place already";
    if (has && has[0] && own->count == 0) wrong = NULL; /* a run that was interrupted before it copied anything */
    if (wrong && has && has[0])
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = t->source.path, .rule = "TR-2"), "%s: %.300s", wrong, has);
    if (wrong) return u9i_fault(fault, U9_ARG, U9I_AT(.path = t->source.path, .rule = "TR-2"), "%s", wrong);
    t->place = strdup(asked ? asked : has);
    return t->place ? U9_OK : u9i_fault(fault, U9_NOMEM, U9I_AT(.path = t->source.path), "out of memory");
}

/* What stands at the place already may be its own: not the log itself, and not another one, whose mark would be replaced. */
static u9_err check_place(u9i_tiering *t, u9_fault *fault)
{
    u9i_stamp here, there;
    u9i_mark mark;
    int sys = u9i_dir_stat(t->source.dir, ".", &here);
    if (sys != 0) return u9i_tiering_fail(t, false, ".", sys, "cannot look at the log's directory", fault);
    sys = u9i_dir_stat(t->far, ".", &there);
    if (sys != 0) return u9i_tiering_fail(t, true, ".", sys, "cannot look at the place", fault);
    if (memcmp(here.identity, there.identity, sizeof here.identity) == 0)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = t->place, .rule = "TR-1"), "the place is the log itself");
    sys = u9i_mark_read(t->far, &mark);
    if (sys != 0) return u9i_tiering_fail(t, true, u9i_mark_name, sys, "cannot read the mark there", fault);
    if (mark.counts < 0) return U9_OK;
    t->marked_segment = mark.slots[mark.counts].mark.segment;
    t->marked = mark.slots[mark.counts].mark.end;
    if (memcmp(mark.slots[mark.counts].mark.log, t->catalog->log, sizeof t->catalog->log) == 0) return U9_OK;
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = t->place, .rule = "TR-4"), "what stands there is another log");
}

/* True if the place is all that has one of the segments. */
static bool has_alone(const u9i_tiering *t, const u9i_tier_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (u9i_tiering_find(t->catalog, list->segments[i].number) == U9I_NOT_THERE) return true;
    return false;
}

/* It is made where it is not there, unless that would hide that it is gone. [TR-4] */
static u9_err open_tier_place(u9i_tiering *t, const u9i_tier_list *own, bool damaged, u9_fault *fault)
{
    bool gone = damaged ? t->catalog->trim.segment > 0 : has_alone(t, own);
    u9i_env *env;
    const char *in = t->place;
    u9_err err = u9i_env_of_place(t->source.dir->env, &in, &env, fault);
    if (err != U9_OK) return err;
    int sys = u9i_dir_open(env, in, !t->options.dry_run && !gone, &t->far);
    if (sys == 0) return check_place(t, fault);
    t->far = NULL;
    if (sys == -ENOENT && t->options.dry_run && !gone) return U9_OK;
    return u9i_fault(fault, U9_IO, U9I_AT(.path = t->place, .sys = -sys, .rule = "TR-4"), "cannot open the place%s",
                     gone ? " (it has, or may have, segments that are not here: is it mounted?)" : "");
}

static u9_err check_log(const u9i_tiering *t, const u9i_tier_list *list, const char *where, u9_fault *fault)
{
    if (list->count == 0 || memcmp(list->log, t->catalog->log, sizeof list->log) == 0) return U9_OK;
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = where, .rule = "TR-2"), "what stands there is another log");
}

/* What both lists say, that of the place first. */
static u9_err take_lists(u9i_tiering *t, u9i_tier_list *own, bool own_damaged, u9_fault *fault)
{
    bool damaged = false;
    u9_err err = t->far ? read_list(t, true, &t->list, &damaged, fault) : U9_OK;
    if (err == U9_OK && damaged && (own_damaged || own->place == NULL))
        err = u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = t->place, .rule = "TR-2"),
                        "the list of what stands there is damaged, and there is no other");
    if (err == U9_OK && own_damaged && t->list.count == 0 && t->catalog->trim.segment > 0)
        err = u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = t->place, .rule = "TR-4"),
                        "the log begins later than it did, its own list of what stands elsewhere is damaged, and there is none here: "
                        "is this the place, and is its disk mounted? Nothing was copied or dropped");
    if (err == U9_OK) err = check_log(t, &t->list, t->place, fault);
    if (err == U9_OK) err = check_log(t, own, t->source.path, fault);
    size_t had = t->list.count;
    t->unlisted = had == 0;
    if (err == U9_OK) err = add_lacking(t, own, fault);
    t->unnamed = own->place == NULL || strcmp(own->place, t->place) != 0;
    t->untold = damaged || own_damaged || t->unnamed || had != t->list.count || own->count != t->list.count;
    memcpy(t->list.log, t->catalog->log, sizeof t->list.log);
    snprintf(t->list.kind, sizeof t->list.kind, "%s", t->catalog->kind);
    return err;
}

/* Before anything is written beside them: that these are read, never written, is all that they promise. [E-3] */
static u9_err refuse_plain(u9i_tiering *t, u9_fault *fault)
{
    u9i_catalog *c;
    u9_err err = u9i_source_catalog(&t->source, &c, fault);
    if (err != U9_OK) return err;
    if (u9i_catalog_plain(c))
        err = u9i_fault(fault, U9_ARG, U9I_AT(.path = t->source.path), "plain seed files have no place: copy them");
    u9i_catalog_unref(c);
    return err;
}

static u9_err open_tiering(u9i_tiering *t, const char *path, u9_fault *fault)
{
    u9i_env *env;
    u9i_tier_list own;
    bool damaged;
    u9_err err = u9i_env_of(t->options.io, &path, &env, fault);
    if (err != U9_OK) return err;
    err = u9i_source_open(&t->source, env, path, false, fault);
    if (err != U9_OK) return err;
    t->opened = true;
    if (t->source.dir->single[0])
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "this is one file, not a log, which is a directory");
    err = refuse_plain(t, fault);
    if (err == U9_OK && !t->options.dry_run) err = open_lock(t, fault);
    if (err == U9_OK) err = u9i_source_catalog(&t->source, &t->catalog, fault);
    if (err != U9_OK) return err;
    if (t->catalog->count == 0)
        return u9i_fault(fault, U9_ABSENT, U9I_AT(.path = path, .rule = "M-6"), "no log is here");
    err = read_list(t, false, &own, &damaged, fault);
    if (err != U9_OK) return err;
    err = choose_place(t, &own, damaged, fault);
    if (err == U9_OK) err = open_tier_place(t, &own, damaged, fault);
    if (err == U9_OK) err = take_lists(t, &own, damaged, fault);
    u9i_tier_list_free(&own);
    return err;
}

static void close_tiering(u9i_tiering *t)
{
    if (t->catalog) u9i_catalog_unref(t->catalog);
    if (t->far) u9i_dir_close(t->far);
    if (t->lock) u9i_file_close(t->lock);
    if (t->opened) u9i_source_close(&t->source);
    u9i_tier_list_free(&t->list);
    free(t->steps);
    free(t->place);
}

/*
 * Before anything is copied the first time, both lists say which place it is: so a trim, also a writer's, drops nothing from now
 * on that is not there, and a run that is interrupted goes on. One that has begun before, and is still removing, has said so: the
 * catalog as it is now tells what goes with that.
 */
static u9_err name_place(u9i_tiering *t, u9_fault *fault)
{
    if (!t->unnamed) return U9_OK;
    u9_err err = u9i_tiering_put_list(t, true, fault);
    if (err == U9_OK) err = u9i_tiering_put_list(t, false, fault);
    u9i_catalog *now;
    if (err == U9_OK) err = u9i_source_catalog(&t->source, &now, fault);
    if (err != U9_OK) return err;
    u9i_catalog_unref(t->catalog);
    t->catalog = now;
    return U9_OK;
}

/* Copying */

/* The lowest number of the row that is not at the place. */
static uint64_t lowest_untiered(const u9i_tiering *t)
{
    for (size_t i = 0; i < t->catalog->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(t->catalog, i);
        if (u9i_tiering_is_due(t, f) && !u9i_tier_list_find(&t->list, f->number)) return f->number;
    }
    return U9_NOWHERE;
}

static void sum_up(u9i_tiering *t)
{
    u9_tiered *d = &t->done;
    uint64_t untiered = lowest_untiered(t);
    d->there = d->there_bytes = d->next_ordinal = 0;
    for (size_t i = 0; i < t->list.count; i++) {
        const u9i_tiered *s = &t->list.segments[i];
        if (s->lost && s->number < untiered) untiered = s->number;
        if (s->lost) continue;
        d->there++;
        d->there_bytes += s->size;
        if (s->number < untiered) d->next_ordinal = s->next;
    }
}

static u9_err tell_lists(u9i_tiering *t, u9_fault *fault)
{
    u9_err err = u9i_tiering_mark(t, fault);
    if (!t->untold) return err;
    if (err == U9_OK) err = u9i_tiering_put_list(t, true, fault);
    if (err == U9_OK) err = u9i_tiering_put_list(t, false, fault);
    t->untold &= err != U9_OK;
    return err;
}

static u9_err copy_one(u9i_tiering *t, size_t i, u9_fault *fault)
{
    u9_tiered *d = &t->done;
    uint64_t size = u9i_catalog_facts(t->catalog, i)->size;
    u9_err err = u9i_tiering_copy(t, i, fault);
    if (err != U9_OK) return err;
    t->untold = true;
    d->segments++;
    d->bytes += size;
    d->left--;
    d->left_bytes -= size;
    sum_up(t);
    if (t->options.on_progress && t->options.on_progress(t->options.ctx, d) != 0)
        return u9i_fault(fault, U9_STATE, U9I_AT(.path = t->source.path), "stopped as asked");
    if (d->segments % TELL_EVERY == 0) return tell_lists(t, fault);
    return t->marked_segment == 0 ? u9i_tiering_mark(t, fault) : U9_OK; /* without one nothing is whole that ends with a seal */
}

/*
 * A segment that was closed, not sealed, has no index in itself, and no other reads all of it there for its first lookup: one
 * is made beside it here, and goes with it. Where none can be made, that is no failure: none is needed.
 */
static void index_closed(const u9i_tiering *t, const char *path)
{
    const u9_index_options options = {.size = sizeof options, .io = t->options.io};
    u9_index_report made = {.size = sizeof made};
    bool lacks = false;
    for (size_t i = 0; i < t->catalog->count; i++) lacks |= t->steps[i].wanted && !u9i_segment_sealed(t->catalog->segments[i]);
    if (lacks) (void)!u9_indexes_build(path, &options, &made, NULL);
}

static u9_err copy_steps(u9i_tiering *t, const char *path, u9_fault *fault)
{
    u9_err err = u9i_tiering_make_sure(t, fault);
    if (err == U9_OK) index_closed(t, path);
    for (size_t i = 0; i < t->catalog->count && err == U9_OK; i++)
        if (t->steps[i].wanted) err = copy_one(t, i, fault);
    return err;
}

static u9_err copy_wanted(u9i_tiering *t, const char *path, u9_fault *fault)
{
    u9_fault why;
    u9_err err = copy_steps(t, path, fault);
    u9_err told = tell_lists(t, err == U9_OK ? fault : &why); /* also of what was copied before it failed */
    return err == U9_OK ? told : err;
}

/* Dropping */

static u9_err drop_from(u9i_tiering *t, u9_log *log, u9_fault *fault)
{
    u9_trimmed gone = {.size = sizeof gone};
    u9i_limits asked = {.keep_bytes = t->options.keep_bytes, .before_us = t->options.before_us};
    u9_err err = u9i_log_trim(log, asked, false, &gone, fault);
    if (err == U9_OK) t->done.dropped = gone.segments;
    if (err == U9_OK) t->done.dropped_bytes = gone.bytes;
    return err;
}

static u9_err drop_here(u9i_tiering *t, const char *path, u9_fault *fault)
{
    const u9_options writing = {.size = sizeof writing, .mode = U9_WRITE, .io = t->options.io};
    u9_log *log;
    u9_fault why;
    u9_err err = u9_log_open(path, &writing, &log, fault);
    if (err != U9_OK) return err;
    err = drop_from(t, log, fault);
    u9_err closed = u9_log_close(log, err == U9_OK ? fault : &why);
    return err == U9_OK ? closed : err;
}

/* A host built with an earlier version has shorter ones: what is not there is zero. */
static bool is_tier_size(size_t size)
{
    return size == sizeof(u9_tier_options) || size == offsetof(u9_tier_options, on_damage);
}

static bool is_tiered_size(size_t size)
{
    return size == sizeof(u9_tiered) || size == offsetof(u9_tiered, damages);
}

static u9_err check_tier(const char *path, const u9_tier_options *o, const u9_tiered *out, u9_fault *fault)
{
    const char *wrong = NULL;
    if (path == NULL || path[0] == 0) wrong = "the path is empty";
    else if (o == NULL || out == NULL) wrong = "an argument is NULL";
    else if (!is_tier_size(o->size)) wrong = "options.size is not sizeof(u9_tier_options)";
    else if (!is_tiered_size(out->size)) wrong = "out->size is not sizeof(u9_tiered)";
    return wrong ? u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "%s", wrong) : U9_OK;
}

u9_err u9_tier(const char *path, const u9_tier_options *options, u9_tiered *out, u9_fault *fault)
{
    u9_err err = check_tier(path, options, out, fault);
    if (err != U9_OK) return err;
    u9i_tiering t = {.done.size = out->size};
    memcpy(&t.options, options, options->size);
    err = open_tiering(&t, path, fault);
    if (err == U9_OK) {
        sum_up(&t);
        err = u9i_tiering_judge(&t, fault);
        if (err == U9_OK && !options->dry_run) err = name_place(&t, fault);
        if (err == U9_OK) err = u9i_tiering_plan(&t, fault);
        if (err == U9_OK && !options->dry_run) err = copy_wanted(&t, path, fault);
        sum_up(&t);
    }
    bool drops = !options->dry_run && (options->keep_bytes != 0 || options->before_us != 0);
    if (err == U9_OK && drops) err = drop_here(&t, path, fault);
    memcpy(out, &t.done, out->size);
    close_tiering(&t);
    return err;
}
