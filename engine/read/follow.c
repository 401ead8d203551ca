/*
 * engine/read/follow.c: see follow.h.
 */
#include "engine/read/follow.h"

#include "engine/log/live.h"
#include "engine/os/store.h"
#include "engine/read/back.h"
#include "engine/read/cursor.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKS_MAX = 16 };    /* in one step: of what cannot be looked at each look may say something else */
enum { LOOK_US = 1000000 }; /* so often it is looked for what no watch tells: another machine's work, a kill, a mark */

static uint64_t look_us(const u9i_env *env)
{
    return env->watch->look_us ? env->watch->look_us : LOOK_US;
}

static void follower_check(const u9i_follower *f)
{
    assert(f->log != NULL && f->reader->leaves);
    assert(!f->astray || !f->reader->reading);
    assert(!f->held || f->reader->reading);
}

u9_err u9i_follower_init(u9i_follower *f, u9_log *log, u9i_reader *reader, u9_fault *fault)
{
    const char *wrong = NULL;
    if (log->source.dir->single[0]) wrong = "a single file is not followed: its log is";
    else if (reader->ranged) wrong = "a part of a log is not followed: all of it is";
    else if (u9i_catalog_plain(reader->catalog)) wrong = "plain seed files are not followed: a log is";
    if (wrong) return u9i_fault(fault, U9_ARG, U9I_AT(.path = log->source.path), "%s", wrong);
    *f = (u9i_follower){.log = log, .reader = reader};
    reader->leaves = true;
    follower_check(f);
    return U9_OK;
}

void u9i_follower_forget(u9i_follower *f)
{
    f->astray = f->held = f->judging = f->judged = false;
    f->author = U9I_AUTHOR_NOBODY;
    f->durable = f->stuck = f->idle_us = 0;
    follower_check(f);
}

void u9i_follower_turn(u9i_follower *f)
{
    f->astray = f->held = f->judging = f->judged = false;
    f->stuck = 0; /* the end that it came to is in front of it again */
}

void u9i_follower_release(u9i_follower *f)
{
    if (f->watch) u9i_watch_close(f->watch);
    f->watch = NULL;
}

/* The segment that is read is the last of the row, and nobody names its end. */
static bool at_tip(const u9i_reader *r)
{
    if (!r->reading || u9i_reader_facts(r)->named) return false;
    if (r->missing < r->missing_end) return false; /* the log says that there is more */
    for (size_t i = r->index + 1; i < r->only; i++)
        if (u9i_facts_on_row(u9i_catalog_facts(r->catalog, i))) return false;
    return true;
}

/* Who writes */

/* An end of data that somebody says is durable: it counts for the tip if it is in it. False: it says nothing of it. */
static bool take_word(u9i_follower *f, uint64_t number, const uint8_t *boundary, uint64_t end)
{
    const u9i_facts *facts = u9i_reader_facts(f->reader);
    bool here = number == facts->number && memcmp(boundary, facts->secret.boundary, U9I_HASH_SIZE) == 0;
    if (number > facts->number) f->author = U9I_AUTHOR_LATER;
    else if (here && end > f->durable) f->durable = end;
    return here || number > facts->number;
}

/* What the log's mark says: of writers that say nothing else, or where a post is lost. */
static void ask_mark(u9i_follower *f)
{
    u9i_mark mark;
    if (u9i_mark_read(f->log->source.dir, &mark) != 0) return;
    const u9i_mark_record *m = u9i_mark_promise(&mark);
    if (m) (void)take_word(f, m->segment, m->boundary, m->end.offset);
}

/* Looks who writes at the tip, and how far that is durable; `all`: asks the mark in any case. */
static void ask_author(u9i_follower *f, bool all)
{
    u9i_dir *dir = f->log->source.dir;
    uint64_t number, end;
    uint8_t boundary[U9I_HASH_SIZE];
    u9i_live live;
    f->author = U9I_AUTHOR_NOBODY;
    f->durable = f->reader->iterator.judge.promise; /* what the frames themselves say */
    if (f->log->writing) {
        if (!u9i_writer_has_begun(&f->log->writer)) return;
        f->author = U9I_AUTHOR_HERE;
        if (u9i_writer_reached(&f->log->writer, &number, boundary, &end)) (void)take_word(f, number, boundary, end);
        return;
    }
    if (!u9i_dir_writer_active(dir, u9i_reader_facts(f->reader)->name)) return;
    f->author = U9I_AUTHOR_HERE;
    bool told = u9i_live_read(dir, &live) && take_word(f, live.segment, live.boundary, live.end);
    if (all || !told) ask_mark(f);
}

/* HERE: a step finds more than was found wanting. */
static bool has_more(u9i_follower *f)
{
    u9i_iterator *it = &f->reader->iterator;
    if (it->judge.pos < f->durable && f->durable != f->stuck) return true;
    return f->written && u9i_iterator_reopen(it) == U9_OK && u9i_iterator_peek(it) == U9_OK;
}

/* What was read is made durable by its reader. */
static bool settle_read(const u9i_follower *f)
{
    int sys = u9i_file_sync_and_evict(f->reader->iterator.segment->file);
    return sys == 0 || sys == -EINVAL;
}

/* The frame that was read may be shown. */
static bool may_show(u9i_follower *f)
{
    const u9i_reader *r = f->reader;
    const u9i_facts *facts = u9i_reader_facts(r);
    if (f->written || !at_tip(r) || r->frame->end <= f->durable) return true;
    if (f->judging) /* it was settled; but one who came meanwhile may have written it */
        return !u9i_dir_writer_active(f->log->source.dir, facts->name) || settle_read(f);
    ask_author(f, false);
    if (r->frame->end <= f->durable || f->author == U9I_AUTHOR_LATER) return true;
    return f->author == U9I_AUTHOR_NOBODY && settle_read(f);
}

/* Catalogs */

/* Of a log that lacks a segment, or in which one cannot be told, each look makes a catalog: it may say what the last one did. */
static bool says_the_same(const u9i_catalog *a, const u9i_catalog *b)
{
    if (a == b) return true;
    if (a->count != b->count || a->missing_count != b->missing_count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->segments[i] != b->segments[i]) return false; /* what stands as it stood keeps its object */
    for (size_t i = 0; i < a->missing_count; i++)
        if (a->missing[i].number != b->missing[i].number || a->missing[i].before != b->missing[i].before) return false;
    return true;
}

/* The catalog of now, if it says something else than the reader's; else NULL. */
static u9_err new_catalog(u9i_follower *f, u9i_catalog **out, u9_fault *fault)
{
    u9i_catalog *now;
    *out = NULL;
    u9_err err = u9i_source_catalog(&f->log->source, &now, fault);
    if (err != U9_OK) return err;
    if (now->count == 0 && f->reader->catalog->count > 0) {
        u9i_catalog_unref(now);
        return u9i_fault(fault, U9_IO, U9I_AT(.path = f->log->source.path, .sys = ENOENT), "the log was removed");
    }
    if (says_the_same(now, f->reader->catalog)) u9i_catalog_unref(now);
    else *out = now;
    return U9_OK;
}

/* Goes on in this catalog, whose reference it takes. */
static u9_err take_catalog(u9i_follower *f, u9i_catalog *catalog, u9i_step *step, bool *told, u9_fault *fault)
{
    if (!f->astray) u9i_reader_stand(f->reader, &f->stand);
    u9_err err = u9i_reader_switch(f->reader, catalog, &f->stand, step, told, fault);
    f->astray = err != U9_OK;
    f->judged = f->judging = false;
    f->stuck = f->durable = 0;
    f->author = U9I_AUTHOR_NOBODY;
    return err;
}

/* Goes on with what the tip's file has by now; what is not durable yet is not read: that would be a read of its own. */
static u9_err reopen(u9i_follower *f, u9_fault *fault)
{
    bool here = f->author == U9I_AUTHOR_HERE && !f->written;
    u9_err err = u9i_iterator_reopen(&f->reader->iterator);
    f->reader->iterator.window->until = here ? f->durable : U9_NOWHERE;
    return err == U9_OK ? err : u9i_source_fault(&f->log->source, &f->reader->iterator, err, fault);
}

/* In this catalog: U9_OK: the reader's next step is wanted; U9_END: not now. */
static u9_err begin_again(u9i_follower *f, u9i_catalog *catalog, u9i_step *step, bool *told, u9_fault *fault)
{
    u9_err err = take_catalog(f, catalog, step, told, fault);
    if (err != U9_OK || *told || !at_tip(f->reader)) return err;
    ask_author(f, false);
    f->judging = f->author == U9I_AUTHOR_NOBODY;
    if (f->author == U9I_AUTHOR_LATER || (f->author == U9I_AUTHOR_HERE && !has_more(f))) return U9_END;
    return reopen(f, fault);
}

/*
 * At the tip, or behind all: U9_OK: the reader's next step is wanted; U9_END: nothing may be shown now. With *told there
 * is a step to tell.
 */
static u9_err find_more(u9i_follower *f, u9i_step *step, bool *told, u9_fault *fault)
{
    u9i_reader *r = f->reader;
    u9i_catalog *now;
    bool tip = !f->astray && at_tip(r);
    *told = false;
    if (tip && f->author == U9I_AUTHOR_HERE && r->iterator.judge.pos < f->durable && f->durable != f->stuck) return U9_OK;
    if (tip) {
        ask_author(f, false);
        if (f->author == U9I_AUTHOR_HERE && has_more(f)) return reopen(f, fault);
        if (f->author == U9I_AUTHOR_HERE && f->durable != f->stuck && !f->other) return U9_END;
    }
    f->other = false;
    u9_err err = new_catalog(f, &now, fault);
    if (err != U9_OK) return err;
    if (now == NULL) {
        if (!f->astray && !(tip && f->author == U9I_AUTHOR_NOBODY && !f->judged)) return U9_END;
        now = r->catalog; /* once more: nobody writes any more, and what is there is settled first */
        atomic_fetch_add(&now->references, 1);
    }
    return begin_again(f, now, step, told, fault);
}

/* A segment could not be opened. True: the log is another by now, in which that one is no more, perhaps. */
static bool has_changed(u9i_follower *f)
{
    u9i_catalog *now;
    u9_fault unused;
    if (!f->astray || new_catalog(f, &now, &unused) != U9_OK || now == NULL) return false;
    u9i_catalog_unref(now);
    return true;
}

/* Damage at the tip's end: not that it is open, and nothing twice. */
static bool is_new(u9i_follower *f)
{
    const u9_damage *d = &f->reader->damage;
    if (!at_tip(f->reader)) return true;
    if (d->reason == U9_R_UNCLOSED) return false;
    bool same = f->told == d->reason && f->told_at == d->begin;
    f->told = d->reason;
    f->told_at = d->begin;
    return !same;
}

/* The reader is at the end of a segment. If that is the tip it stays there, and looks again later. */
static u9_err stay_at_tip(u9i_follower *f, u9_fault *fault)
{
    u9i_reader *r = f->reader;
    if (!at_tip(r)) return U9_OK;
    r->leaving = false;
    f->judged = f->judging;
    if (!f->judging) f->stuck = f->durable;
    f->judging = false;
    return reopen(f, fault);
}

/* Before the reader's next step it is asked whether that may be. */
static bool asks(const u9i_follower *f)
{
    const u9i_reader *r = f->reader;
    if (r->backwards) return false; /* it has yet to turn round */
    if (f->astray || (!r->reading && r->index >= r->only && r->missing >= r->missing_end)) return true;
    return !f->judging && at_tip(r) && !r->leaving && !r->again && r->iterator.over;
}

/* The reader was sent somewhere, or went back: it readies itself to go on. At the end that is behind the last frame there. */
static u9_err face_forwards(u9i_reader *r, u9_fault *fault)
{
    u9i_step step = U9I_STEP_DAMAGE;
    u9_err err = U9_OK;
    while (r->place.end && (err == U9_VERSION || (err == U9_OK && step == U9I_STEP_DAMAGE))) err = u9i_reader_back(r, &step, fault);
    if (err == U9_OK && step == U9I_STEP_FRAME) u9i_reader_behind(r);
    return err == U9_OK ? u9i_reader_turn(r, fault) : err;
}

u9_err u9i_follower_step(u9i_follower *f, u9i_step *step, u9_fault *fault)
{
    if (f->held) {
        *step = U9I_STEP_FRAME;
        f->held = !may_show(f);
        return f->held ? U9_END : U9_OK;
    }
    for (unsigned looks = 0;;) {
        bool told = false;
        follower_check(f);
        u9_err err = f->reader->backwards ? face_forwards(f->reader, fault) : U9_OK;
        if (err != U9_OK) return err;
        if (asks(f)) err = looks++ < LOOKS_MAX ? find_more(f, step, &told, fault) : U9_END;
        if (err == U9_IO && has_changed(f)) continue;
        if (err != U9_OK || told) return err;
        err = u9i_reader_step(f->reader, step, fault);
        if (err != U9_OK) return err;
        if (*step == U9I_STEP_FRAME) {
            f->held = !may_show(f);
            return f->held ? U9_END : U9_OK;
        }
        if (*step == U9I_STEP_DAMAGE && is_new(f)) return U9_OK;
        if (*step == U9I_STEP_LEAVE && (err = stay_at_tip(f, fault)) != U9_OK) return err;
    }
}

/* Waiting */

/* U9_OK: a step may find more; U9_AGAIN. `all`: also what no watch tells is looked for. */
static u9_err find_news(u9i_follower *f, bool all, u9_fault *fault)
{
    u9i_catalog *now;
    if (f->held) return may_show(f) ? U9_OK : U9_AGAIN;
    if (f->astray || !asks(f)) return U9_OK;
    if (at_tip(f->reader)) {
        ask_author(f, all);
        if (f->author == U9I_AUTHOR_HERE && has_more(f)) return U9_OK;
        if (f->author == U9I_AUTHOR_HERE && f->durable != f->stuck && !all) return U9_AGAIN;
        if (f->author == U9I_AUTHOR_NOBODY && !f->judged) return U9_OK;
    }
    u9_err err = new_catalog(f, &now, fault);
    if (err != U9_OK) return err;
    if (now == NULL) return U9_AGAIN;
    u9i_catalog_unref(now); /* the next step takes it */
    f->other = true;
    return U9_OK;
}

static u9_err ready_watch(u9i_follower *f, u9_fault *fault)
{
    if (f->watch) return U9_OK;
    int sys = u9i_watch_open(f->log->source.dir, u9i_live_name, f->written, &f->watch);
    if (sys == 0) return U9_OK;
    return u9i_fault(fault, U9_IO, U9I_AT(.path = f->log->source.path, .sys = -sys),
                     "cannot watch the log");
}

/* Where the watch tells what any machine does, who asks again and again is told nothing without asking there. */
static bool knows_of_nothing(const u9i_follower *f, u9i_env *env)
{
    return env->watch->look_us && f->idle_us && !f->log->writing && u9i_monotonic_us(env) - f->idle_us < env->watch->look_us;
}

u9_err u9i_follower_wait(u9i_follower *f, uint64_t deadline_us, u9_fault *fault)
{
    u9i_env *env = f->log->source.dir->env;
    u9_err err = ready_watch(f, fault); /* first: what is done from here on is told */
    if (err == U9_OK && deadline_us == 0) { /* the descriptor is not readable any more */
        if (u9i_watch_wait(f->watch, 0) == 0 && knows_of_nothing(f, env)) return U9_AGAIN;
    }
    for (bool all = false; err == U9_OK;) {
        err = find_news(f, all, fault);
        uint64_t now = u9i_monotonic_us(env);
        f->idle_us = err == U9_AGAIN ? now : 0;
        if (err != U9_AGAIN || now >= deadline_us) break;
        int told = u9i_watch_wait(f->watch, deadline_us - now < look_us(env) ? deadline_us : now + look_us(env));
        if (told < 0) break;
        all = told == 0;
        err = U9_OK;
    }
    follower_check(f);
    return err;
}

uint64_t u9i_follower_next(const u9i_follower *f)
{
    const u9i_reader *r = f->reader;
    if (f->held) return r->frame->trailer.ordinal;
    return r->reading ? r->iterator.judge.ordinal : r->at.ordinal;
}

int u9i_follower_fd(u9i_follower *f)
{
    return ready_watch(f, NULL) == U9_OK ? u9i_watch_fd(f->watch) : -1;
}

/* The public face */

static u9_err refuse_forked(u9_cursor *c)
{
    return u9i_fault(&c->fault, U9_STATE, U9I_AT(.path = c->log->source.path), "the handle belongs to the parent process");
}

/*
 * A cursor that was at its end goes back to the begin of the segment that it ended in, and shows nothing of it once more:
 * where the next frame is to stand in there was not kept. Not where the log lacks what came behind it: that was told.
 */
static void return_to_tip(u9_cursor *c)
{
    u9i_reader *r = &c->reader;
    size_t i = r->catalog->count;
    if (r->reading || r->index < r->only || !r->begun) return;
    while (i > 0 && !u9i_facts_on_row(u9i_catalog_facts(r->catalog, i - 1))) i--;
    if (i == 0 || u9i_catalog_facts(r->catalog, i - 1)->named || u9i_reader_missing(r, i) < r->missing_end) return;
    if (r->knows_at) c->shown = r->at.ordinal;
    u9i_reader_segments(r, i - 1, r->catalog->count - 1);
    r->missing = r->missing_end; /* they were told */
}

u9_err u9_cursor_follow(u9_cursor *c, u9_shown shows)
{
    if (c == NULL) return U9_ARG;
    if (u9i_log_forked(c->log)) return refuse_forked(c);
    if (shows != U9_SHOW_DURABLE && shows != U9_SHOW_WRITTEN)
        return u9i_fault(&c->fault, U9_ARG, U9I_AT(.path = c->log->source.path), "`shows` is none of u9_shown");
    if (c->follower == NULL) {
        u9i_follower *f = malloc(sizeof *f);
        if (f == NULL) return u9i_fault(&c->fault, U9_NOMEM, U9I_AT(.path = c->log->source.path), "out of memory");
        u9_err err = u9i_follower_init(f, c->log, &c->reader, &c->fault);
        if (err != U9_OK) {
            free(f);
            return err;
        }
        c->follower = f;
        return_to_tip(c);
    }
    c->follower->written = shows == U9_SHOW_WRITTEN;
    u9i_follower_release(c->follower); /* it may have to watch other things */
    return U9_OK;
}

/* `ms` from now, never 0. */
static uint64_t deadline_of(u9i_env *env, uint64_t ms)
{
    uint64_t now = u9i_monotonic_us(env);
    return ms < (U9I_FOREVER - now) / 1000 ? now + ms * 1000 : U9I_FOREVER;
}

u9_err u9_cursor_wait(u9_cursor *c, uint64_t timeout_ms)
{
    if (c == NULL) return U9_ARG;
    if (u9i_log_forked(c->log)) return refuse_forked(c);
    u9_err err = c->follower ? U9_OK : u9_cursor_follow(c, U9_SHOW_DURABLE);
    if (err != U9_OK) return err;
    if (c->loaded && c->ordinal - c->reader.frame->trailer.ordinal < c->reader.count) return U9_OK;
    err = u9i_cursor_leave(c);
    if (err != U9_OK) return err;
    return u9i_follower_wait(c->follower, timeout_ms ? deadline_of(c->log->source.dir->env, timeout_ms) : 0, &c->fault);
}

int u9_cursor_event_fd(u9_cursor *c)
{
    if (c == NULL || c->follower == NULL || u9i_log_forked(c->log)) return -1;
    return u9i_follower_fd(c->follower);
}

/* Nothing is there yet that could be opened. */
static bool is_absent(u9_err err, const u9_fault *fault)
{
    return err == U9_ABSENT || (err == U9_IO && fault->sys == ENOENT);
}

/* The directory, or the one above it if it is not there. */
static int open_place(u9i_env *env, const char *path, u9i_dir **out)
{
    char above[4096];
    int sys = u9i_dir_open(env, path, false, out);
    if (sys != -ENOENT || strlen(path) >= sizeof above) return sys;
    memcpy(above, path, strlen(path) + 1);
    size_t n = strlen(above);
    while (n > 1 && above[n - 1] == '/') above[--n] = 0;
    char *slash = strrchr(above, '/');
    if (slash) slash[slash == above] = 0;
    return u9i_dir_open(env, slash ? above : ".", false, out);
}

/* One try. U9_OK: a log is there; else why not. */
static u9_err try_open(const char *path, const u9_options *o, u9_fault *fault)
{
    u9_log *log;
    u9_err err = u9_log_open(path, o, &log, fault);
    return err == U9_OK ? u9_log_close(log, fault) : err;
}

/* Tries, and where there is nothing waits until something is done there, or this deadline. */
static u9_err try_and_wait(u9i_env *env, const char *path, const u9_options *o, uint64_t deadline_us, bool *signalled,
                           u9_fault *fault)
{
    u9i_dir *dir = NULL;
    u9i_watch *watch = NULL;
    if (open_place(env, path, &dir) == 0) (void)u9i_watch_open(dir, NULL, false, &watch); /* before it is tried */
    u9_err err = try_open(path, o, fault);
    if (is_absent(err, fault) && watch) {
        *signalled = u9i_watch_wait(watch, deadline_us) < 0;
    } else if (is_absent(err, fault)) {
        uint64_t now = u9i_monotonic_us(env);
        if (now < deadline_us) u9i_sleep_us(env, deadline_us - now);
    }
    if (watch) u9i_watch_close(watch);
    if (dir) u9i_dir_close(dir);
    return err;
}

u9_err u9_log_await(const char *path, const u9_options *options, uint64_t timeout_ms, u9_fault *fault)
{
    u9_options o = {.size = sizeof o};
    u9_fault own;
    u9i_env *env;
    bool signalled = false;
    if (fault == NULL) fault = &own;
    if (path == NULL || path[0] == 0 || (options && !u9i_options_known(options)))
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "the path is empty, or options.size is not sizeof(u9_options)");
    if (options) o.io = options->io;
    o.mode = U9_READ;
    u9_err err = u9i_env_of(o.io, &path, &env, fault);
    if (err != U9_OK) return err;
    uint64_t deadline = deadline_of(env, timeout_ms);
    for (;;) {
        uint64_t now = u9i_monotonic_us(env);
        uint64_t next = now < deadline && deadline - now > LOOK_US ? now + LOOK_US : deadline;
        err = try_and_wait(env, path, &o, next, &signalled, fault);
        if (!is_absent(err, fault)) return err;
        if (signalled || u9i_monotonic_us(env) >= deadline) return U9_AGAIN;
    }
}
