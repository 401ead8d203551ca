/*
 * engine/check/in_place.c: mending a log in place, and undoing that: u9_repair, u9_undo. [U-1] to [U-5]
 *
 *     lock -> what was broken off is brought to its end -> what could be mended -> the log as it would be is judged
 *          -> the bytes before are saved -> the changes -> the lock goes -> which indexes will be made is saved, too -> indexes
 *          -> where none was made, and nothing changed, what was saved goes
 */
#include "engine/check/judged.h"
#include "engine/check/plan.h"
#include "engine/check/proposals.h"
#include "engine/log/catalog.h"
#include "engine/os/store.h"
#include "engine/read/beside.h"

#include <u9/repair.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 8 }; /* readings of the log in search of what can be mended */

static const char *const names[] = {
    [U9_REPAIR_HEADER] = "header", [U9_REPAIR_ZEROS] = "zeros", [U9_REPAIR_NAME] = "name",
    [U9_REPAIR_FRAME] = "frame", [U9_REPAIR_BIT] = "bit", [U9_REPAIR_INDEX] = "index",
};

const char *u9_repair_name(u9_repair_kind kind)
{
    size_t k = (size_t)kind;
    return k < sizeof names / sizeof *names && names[k] ? names[k] : "?";
}

typedef struct in_place {
    const char *path;
    u9_repair_options options;
    u9_repair_report report;
    u9i_source source; /* of a directory that is locked */
    u9i_changes changes;
    u9i_changes made;  /* indexes that are to be made */
    bool unnoted;      /* of one there was no memory to note it */
    u9_fault *fault;
} in_place;

static u9_err fail_in_place(const in_place *r, int sys, const char *what)
{
    u9_err err = sys == -ENOMEM        ? U9_NOMEM
                 : sys == -EWOULDBLOCK ? U9_LOCKED
                 : sys == -ESTALE      ? U9_STATE
                 : sys == -EBADMSG     ? U9_CORRUPT
                                       : U9_IO;
    char path[4400];
    const char *at = r->changes.where[0] ? u9i_source_path(&r->source, r->changes.where, path, sizeof path) : r->path;
    bool told = r->changes.why && (err == U9_STATE || err == U9_CORRUPT);
    return u9i_fault(r->fault, err, U9I_AT(.path = at, .sys = err == U9_IO ? -sys : 0, .rule = "U-3"), "%s%s",
                     told ? "" : "cannot ", told ? r->changes.why : what);
}

/* Nobody else writes, nor will meanwhile. [U-1] */
static u9_err lock_out(in_place *r)
{
    u9i_dir *dir = r->source.dir;
    int sys = 0;
    if (dir->single[0]) sys = u9i_dir_writer_active(dir, dir->single) ? -EWOULDBLOCK : 0;
    else sys = u9i_dir_lock(dir);
    if (sys == -EWOULDBLOCK)
        return u9i_fault(r->fault, U9_LOCKED, U9I_AT(.path = r->path, .rule = "U-1"),
                         "another writer has the log: it is not mended meanwhile");
    return sys ? fail_in_place(r, sys, "lock the log") : U9_OK;
}

static u9_err open_in_place(in_place *r, const char *io)
{
    u9i_env *env;
    if (r->path == NULL || r->path[0] == 0) return u9i_fault(r->fault, U9_ARG, U9I_AT(), "the path is empty");
    u9_err err = u9i_env_of(io, &r->path, &env, r->fault);
    if (err == U9_OK) err = u9i_source_open(&r->source, env, r->path, false, r->fault);
    if (err != U9_OK) return err;
    err = lock_out(r);
    if (err != U9_OK) u9i_source_close(&r->source);
    return err;
}

static void close_in_place(in_place *r)
{
    u9i_changes_release(&r->changes);
    u9i_source_close(&r->source);
}

/* What was trimmed since is not missed. Of a log that cannot be read nothing was. [L-10] */
static void note_kept(in_place *r)
{
    u9i_catalog *catalog;
    if (r->changes.count == 0 || r->source.dir->single[0]) return;
    if (u9i_source_catalog(&r->source, &catalog, NULL) != U9_OK) return;
    r->changes.kept = catalog->trim.segment;
    u9i_catalog_unref(catalog);
}

/* Nothing that has other names, that is a symbolic link, or that somebody writes to, is changed. */
static u9_err refuse_linked(in_place *r)
{
    char path[4400];
    if (u9i_changes_allowed(&r->changes, r->source.dir, r->options.linked != 0)) return U9_OK;
    return u9i_fault(r->fault, U9_STATE,
                     U9I_AT(.path = u9i_source_path(&r->source, r->changes.where, path, sizeof path), .rule = "U-1"),
                     "%s", r->changes.why);
}

/* An earlier run was broken off: it is brought to its end, in its own direction. */
static u9_err finish_earlier(in_place *r)
{
    int sys = u9i_changes_load(&r->changes, r->source.dir);
    if (!r->options.dry) u9i_changes_sweep(r->source.dir);
    if (sys == 0 && u9i_changes_unfinished(&r->changes) && r->options.dry)
        return u9i_fault(r->fault, U9_STATE, U9I_AT(.path = r->path, .rule = "U-3"),
                         "an earlier repair was broken off: a repair that changes something brings it to its end first, or an undo");
    if (sys == 0 && u9i_changes_unfinished(&r->changes)) {
        note_kept(r);
        u9_err err = refuse_linked(r);
        if (err != U9_OK) return err;
        sys = u9i_changes_going_back(&r->changes) ? u9i_changes_undo(&r->changes, r->source.dir)
                                                  : u9i_changes_apply(&r->changes, r->source.dir);
        r->report.finished = sys == 0;
    }
    if (sys != 0) return fail_in_place(r, sys, "bring the earlier repair to its end");
    u9i_changes_release(&r->changes);
    return U9_OK;
}

static u9_err refuse_nothing(in_place *r)
{
    u9i_catalog *catalog;
    u9_err err = u9i_source_catalog(&r->source, &catalog, r->fault);
    if (err != U9_OK) return err;
    if (catalog->count == 0)
        err = u9i_fault(r->fault, U9_CORRUPT, U9I_AT(.path = r->path, .rule = "M-6"),
                        "no log is here: the directory has no segments (*.u9)");
    u9i_catalog_unref(catalog);
    return err;
}

/* One more reading, of the log as it would be: what was hidden by what is mended now. */
static u9_err propose_more(in_place *r, u9i_proposals *p, bool *found)
{
    u9i_overlay overlay;
    u9i_source then;
    u9i_changes more = {.count = 0};
    u9i_overlay_init(&overlay, r->source.dir, r->changes.list, r->changes.count);
    overlay.bytes_only = true;
    u9_err err = u9i_source_open(&then, &overlay.env, r->path, false, r->fault);
    if (err != U9_OK) return err;
    p->source = &then;
    p->changes = &more;
    err = u9i_propose(p, r->fault);
    u9i_source_close(&then);
    *found = false;
    int sys = err == U9_OK ? u9i_changes_take(&r->changes, &more, U9_REPAIR_ZEROS, found) : 0;
    u9i_changes_release(&more);
    return sys ? fail_in_place(r, sys, "remember what is to be mended") : err;
}

static u9_err propose(in_place *r)
{
    u9i_env *env = r->source.dir->env;
    uint64_t begun = u9i_monotonic_us(env);
    u9i_proposals p = {.source = &r->source, .changes = &r->changes, .heals = r->options.heal_ms > 0,
                       .healing = {.env = env, .begun_us = begun, .until_us = begun + 1000 * r->options.heal_ms,
                                   .on_progress = r->options.on_progress, .ctx = r->options.ctx}};
    u9_err err = u9i_propose(&p, r->fault);
    r->report.tries = p.healing.tries;
    r->report.tries_us = p.healing.us;
    p.heals = false; /* each payload once */
    bool found = r->changes.count > 0;
    for (unsigned round = 1; err == U9_OK && found && round < ROUNDS_MAX; round++) err = propose_more(r, &p, &found);
    r->report.gave_up = p.healing.gave_up || p.gave_up;
    return err;
}

static void tell_step(in_place *r, const u9i_change *c)
{
    char path[4400];
    u9_repair_step step = {.kind = (u9_repair_kind)c->kind, .safe = u9i_kind_safe(c->kind),
                           .path = u9i_source_path(&r->source, c->name, path, sizeof path),
                           .to = c->size ? NULL : c->to, .segment = u9i_segment_number(c->name),
                           .begin = c->offset, .end = c->offset + c->size};
    if (r->options.on_step) r->options.on_step(r->options.ctx, &step);
}

/* Tells all, and keeps what is wanted. */
static void tell_steps(in_place *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->changes.count; i++) {
        tell_step(r, &r->changes.list[i]);
        if (!r->options.all && !u9i_kind_safe(r->changes.list[i].kind)) {
            free(r->changes.list[i].before);
            continue;
        }
        r->changes.sizes[kept] = r->changes.sizes[i];
        r->changes.list[kept++] = r->changes.list[i];
    }
    r->report.left = r->changes.count - kept;
    r->report.steps = r->changes.count = kept;
}

/* The log as it would be, against the log as it is. */
static u9_err judge_plan(in_place *r)
{
    u9i_overlay overlay;
    u9i_source then;
    u9i_judgement j;
    u9i_overlay_init(&overlay, r->source.dir, r->changes.list, r->changes.count);
    u9_err err = u9i_source_open(&then, &overlay.env, r->path, false, r->fault);
    if (err != U9_OK) return err;
    err = u9i_judge_change(&r->source, &then, &j, r->fault);
    u9i_source_close(&then);
    if (err != U9_OK) return err;
    r->report.records = j.records;
    r->report.regained = j.regained;
    r->report.before = j.before;
    r->report.then = j.then;
    r->report.damages_before = j.damages_before;
    r->report.damages_then = j.damages_then;
    if (j.fits && j.then <= j.before) return U9_OK;
    if (j.fits)
        return u9i_fault(r->fault, U9_CORRUPT, U9I_AT(.path = r->path, .rule = "U-1"),
                         "nothing was changed: the mended log would be worse damaged than it is now");
    return u9i_fault(r->fault, U9_CORRUPT, U9I_AT(.path = r->path, .rule = "U-1"),
                     "nothing was changed: the mended log would not have record %llu as it is now",
                     (unsigned long long)j.ordinal);
}

static u9_err carry_out_plan(in_place *r)
{
    u9_err err = refuse_linked(r);
    if (err != U9_OK) return err;
    int sys = u9i_changes_save(&r->changes, r->source.dir);
    if (sys != 0) return fail_in_place(r, sys, "save the bytes that are to be changed");
    memcpy(r->report.saved, r->changes.saved, strlen(r->changes.saved) + 1);
    sys = u9i_changes_apply(&r->changes, r->source.dir);
    return sys ? fail_in_place(r, sys, "change the log: run it again, or undo it") : U9_OK;
}

/* One that can be made: told, and noted. */
static void note_index(void *ctx, const u9_index_info *info)
{
    in_place *r = ctx;
    char path[4400 + U9I_INDEX_NAME], name[U9I_INDEX_NAME];
    if (info->place != U9_INDEX_NONE || info->why < U9_INDEX_MISSING || info->why > U9_INDEX_OWNER) return;
    const char *slash = strrchr(info->path, '/'), *base = slash ? slash + 1 : info->path;
    u9i_index_name(base, name);
    snprintf(path, sizeof path, "%.*s%s", (int)(base - info->path), info->path, name);
    u9_repair_step step = {.kind = U9_REPAIR_INDEX, .safe = 1, .path = path, .segment = info->segment};
    r->report.indexes++;
    if (r->options.on_step) r->options.on_step(r->options.ctx, &step);
    if (u9i_changes_made(&r->made, name, U9_REPAIR_INDEX) != 0) r->unnoted = true;
}

/* What is noted beside the log of this repair, and the indexes. */
static int save_made(in_place *r)
{
    int sys = r->report.saved[0] ? u9i_changes_load(&r->changes, r->source.dir) : 0;
    if (sys == 0 && r->report.saved[0] && strcmp(r->changes.saved, r->report.saved) != 0) return -ESTALE;
    for (size_t i = 0; i < r->made.count && sys == 0; i++)
        sys = u9i_changes_made(&r->changes, r->made.list[i].name, U9_REPAIR_INDEX);
    if (sys == 0) sys = u9i_changes_save_done(&r->changes, r->source.dir);
    if (sys == 0) memcpy(r->report.saved, r->changes.saved, strlen(r->changes.saved) + 1);
    return sys;
}

/* Before they are made, so that an undo knows of each. Who began to write meanwhile keeps them: nothing depends on them. */
static u9_err note_made(in_place *r)
{
    u9_err err = open_in_place(r, r->options.io);
    if (err == U9_LOCKED) return U9_OK;
    if (err != U9_OK) return err;
    int sys = r->unnoted ? -ENOMEM : save_made(r);
    if (sys != 0) err = fail_in_place(r, sys, "note which indexes are to be made: none is");
    close_in_place(r);
    return err;
}

/* None of them was made, and nothing else was done: there is nothing to be undone. */
static u9_err forget_made(in_place *r)
{
    u9_err err = open_in_place(r, r->options.io);
    if (err == U9_LOCKED) return U9_OK;
    if (err != U9_OK) return err;
    int sys = u9i_changes_load(&r->changes, r->source.dir);
    if (sys == 0 && strcmp(r->changes.saved, r->report.saved) == 0) sys = u9i_changes_undo(&r->changes, r->source.dir);
    if (sys == 0) r->report.saved[0] = 0;
    if (sys != 0) err = fail_in_place(r, sys, "remove what was noted of indexes, of which none was made");
    close_in_place(r);
    return err;
}

/* Without the lock, which would look like a writer. */
static u9_err make_indexes(in_place *r)
{
    u9_index_report made = {.size = sizeof made};
    u9_index_options o = {.size = sizeof o, .io = r->options.io, .on_segment = note_index, .ctx = r};
    u9_err err = u9i_indexes_plan(r->path, &o, &made, r->fault);
    bool any = r->made.count > 0 || r->unnoted;
    if (err == U9_OK && any && !r->options.dry) err = note_made(r);
    u9i_changes_release(&r->made);
    if (r->options.dry) return err;
    o.on_segment = NULL;
    made.made = 0;
    if (err == U9_OK) err = u9_indexes_build(r->path, &o, &made, r->fault);
    r->report.indexes = made.made;
    if (made.made > 0 || r->report.steps > 0 || r->report.saved[0] == 0) return err;
    u9_fault why, *fault = r->fault;
    if (err != U9_OK) r->fault = &why; /* which is told of is the first */
    u9_err forgotten = forget_made(r);
    r->fault = fault;
    return err == U9_OK ? forgotten : err;
}

static u9_err mend(in_place *r)
{
    u9_err err = finish_earlier(r);
    if (err == U9_OK) err = refuse_nothing(r);
    if (err == U9_OK) err = propose(r);
    if (err != U9_OK) return err;
    tell_steps(r);
    err = judge_plan(r);
    return err == U9_OK && r->changes.count > 0 && !r->options.dry ? carry_out_plan(r) : err;
}

/* A host built with an earlier version has a shorter one: what is not there is zero. */
static bool is_repair_size(size_t size)
{
    return size == sizeof(u9_repair_options) || size == offsetof(u9_repair_options, on_progress);
}

u9_err u9_repair(const char *path, const u9_repair_options *options, u9_repair_report *report, u9_fault *fault)
{
    in_place r = {.path = path, .fault = fault, .report = {.size = sizeof *report}};
    if (report == NULL || report->size != sizeof *report || (options && !is_repair_size(options->size)))
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "a size is none that this version knows, or report is NULL");
    if (options) memcpy(&r.options, options, options->size);
    u9_err err = open_in_place(&r, r.options.io);
    if (err != U9_OK) return err;
    err = mend(&r);
    if (err != U9_OK) r.report.steps = 0; /* how many were done is not known: all are done once more, or undone */
    close_in_place(&r);
    if (err == U9_OK && r.options.indexes) err = make_indexes(&r);
    *report = r.report;
    return err;
}

/* All that is undone: neither indexes that were made, nor what was in files that were trimmed since. */
static uint64_t count_steps(const in_place *r, uint64_t *trimmed)
{
    const u9i_changes *c = &r->changes;
    uint64_t steps = 0;
    *trimmed = 0;
    for (size_t i = 0; i < c->count; i++) {
        bool gone = u9i_changes_trimmed(c, r->source.dir, &c->list[i]);
        *trimmed += gone;
        steps += c->list[i].kind != U9_REPAIR_INDEX && !gone;
    }
    return steps;
}

u9_err u9_undo(const char *path, const char *io, int linked, uint64_t *steps, u9_fault *fault)
{
    in_place r = {.path = path, .fault = fault, .options.linked = linked};
    uint64_t trimmed;
    u9_err err = open_in_place(&r, io);
    if (err != U9_OK) return err;
    int sys = u9i_changes_load(&r.changes, r.source.dir);
    u9i_changes_sweep(r.source.dir);
    if (sys == 0) note_kept(&r);
    uint64_t count = r.changes.count, changed = count_steps(&r, &trimmed);
    if (sys == 0 && count == 0)
        err = u9i_fault(fault, U9_ABSENT, U9I_AT(.path = path, .rule = "U-3"), "nothing is saved that could be undone");
    if (sys == 0 && count > 0) err = refuse_linked(&r);
    if (sys == 0 && count > 0 && err == U9_OK) sys = u9i_changes_undo(&r.changes, r.source.dir);
    if (sys != 0) err = fail_in_place(&r, sys, "put the bytes back: run it again");
    close_in_place(&r);
    if (err != U9_OK) return err;
    if (steps) *steps = changed;
    if (trimmed == 0) return u9i_fault(fault, U9_OK, U9I_AT(.path = path), "%s", "");
    return u9i_fault(fault, U9_OK, U9I_AT(.path = path, .rule = "U-3"),
                     "%llu of the places that were mended went with segments that were trimmed since: nothing of them is put back",
                     (unsigned long long)trimmed);
}
