/*
 * engine/check/repair.c: giving up what a log's mark promises and is not there: u9_accept_loss [M-9]; and what stood behind
 * ends that were unknown: u9_accept_tails.
 *
 *     lock -> is the mark met? -> where the log goes on without it -> the old mark is kept beside
 *          -> a segment of a higher number names that end, durably -> the mark names that segment
 *
 * The mark of a higher number counts from the moment that it is durable, and not before: so a crash leaves the log as
 * it was, with a void segment and a copy of its mark at most, or as it should be. No slot is cleared for that.
 * Unknown ends are the same but for the mark, which is met: what says that they are accepted is the new segment's u9open.
 */
#include "engine/check/repair.h"

#include "engine/check/checker.h"
#include "engine/check/small_file.h"
#include "engine/log/handle.h"
#include "engine/log/resume.h"
#include "engine/os/list.h"
#include "engine/os/process.h"
#include "engine/write/writer.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_MAX = 10000 }; /* old marks that are kept beside a log */

/* A segment in which records are read, and up to where. */
typedef struct shown {
    char name[256];
    uint64_t end;
} shown;

typedef struct repair {
    const char *path;
    u9i_source *source; /* borrows: of a handle that reads, whose directory is locked */
    u9_loss *loss;
    u9_fault *fault;
    unsigned told;    /* damages that giving up would end */
    shown *shown;     /* of the row as it is */
    size_t shown_count, shown_room;
    bool no_memory;
    u9i_plan plan;
    u9i_writer writer;
    u9i_marker marker;
} repair;

static u9_err fail_repair(const repair *r, int sys, const char *what)
{
    return u9i_fault(r->fault, U9_IO, U9I_AT(.path = r->path, .sys = -sys, .rule = "M-9"),
                     "cannot %s", what);
}

static u9_err lock_log(repair *r)
{
    int sys = u9i_dir_lock(r->source->dir);
    if (sys == -EWOULDBLOCK)
        return u9i_fault(r->fault, U9_LOCKED, U9I_AT(.path = r->path, .rule = "W-1"), "another writer has the log");
    return sys ? fail_repair(r, sys, "lock the log") : U9_OK;
}

/* The log's data end before the mark, or passed it otherwise. [M-4] */
static void note_loss(void *ctx, const u9_damage *d)
{
    repair *r = ctx;
    r->told += d->verdict == U9_V_CORRUPT && (d->reason == U9_R_MARK || d->reason == U9_R_FORK);
}

static void note_shown(void *ctx, const u9_stretch *s)
{
    repair *r = ctx;
    const char *name = strrchr(s->path, '/') ? strrchr(s->path, '/') + 1 : s->path;
    if (s->kind != U9_STRETCH_FRAMES || s->records == 0 || r->no_memory) return;
    bool more = r->shown_count == 0 || strcmp(r->shown[r->shown_count - 1].name, name) != 0;
    shown *list = more ? u9i_grow(r->shown, r->shown_count, &r->shown_room, sizeof *list) : r->shown;
    r->no_memory = list == NULL;
    if (r->no_memory) return;
    r->shown = list;
    r->shown_count += more;
    snprintf(list[r->shown_count - 1].name, sizeof list->name, "%s", name);
    list[r->shown_count - 1].end = s->end;
}

/* Whether the log meets its own mark, which is read for that as a line would be. */
static u9_err look_at_mark(repair *r)
{
    u9i_catalog *catalog;
    u9_err err = u9i_source_catalog(r->source, &catalog, r->fault);
    if (err != U9_OK) return err;
    err = u9i_mark_of(r->source, catalog, &r->loss->mark, r->fault);
    u9i_catalog_unref(catalog);
    if (err != U9_OK) return err;
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .on_damage = note_loss, .on_stretch = note_shown, .ctx = r, .mark = &r->loss->mark};
    u9i_checker c;
    err = u9i_checker_init(&c, r->path, &o, &report, r->fault);
    if (err == U9_OK) err = u9i_checker_run(&c, r->source, r->fault);
    if (err == U9_OK && r->no_memory) err = u9i_fault(r->fault, U9_NOMEM, U9I_AT(.path = r->path), "out of memory");
    if (err == U9_OK)
        r->loss->state = c.report.line == U9_LINE_MET ? U9_LOSS_NONE : r->told > 0 ? U9_LOSS_FOUND : U9_LOSS_DAMAGE;
    return err;
}

/* What the mark promises may be where a link leads to. [L-4] */
static u9_err look_for_stand_in(repair *r)
{
    u9i_catalog *catalog;
    u9_err err = u9i_source_catalog(r->source, &catalog, r->fault);
    if (err != U9_OK) return err;
    err = u9i_source_refuse_stand_in(r->source, catalog, r->fault);
    u9i_catalog_unref(catalog);
    return err;
}

/* Whether what is read of segments[i], up to `end`, stands in front of `at`, behind which nothing will be. */
static u9_err look_beyond(repair *r, const u9i_catalog *row, size_t i, uint64_t at, uint64_t end, bool *all)
{
    u9i_iterator it;
    u9i_frame f;
    u9_err err = end <= at ? U9_END : u9i_source_iterate(r->source, row->segments[i], NULL, false, &it, r->fault);
    *all = true;
    if (err != U9_OK) return err == U9_END ? U9_OK : err;
    for (uint64_t p = U9I_DISK_HEADER_SIZE; *all && (err = u9i_window_find(it.window, p, end, &f)) == U9_OK; p = f.end)
        *all = f.trailer.count == 0 || f.end <= at;
    if (err != U9_OK && err != U9_END) (void)u9i_source_fault(r->source, &it, err, r->fault);
    u9i_iterator_close(&it);
    return err == U9_END ? U9_OK : err;
}

static size_t find_shown(const u9i_catalog *row, const shown *s)
{
    size_t i = 0;
    while (i < row->count && strcmp(u9i_catalog_facts(row, i)->name, s->name) != 0) i++;
    return i;
}

/* Whether in that row all of this is read as well. */
static u9_err look_in_row(repair *r, const u9i_catalog *row, const shown *s, bool *all)
{
    size_t i = find_shown(row, s);
    const u9i_facts *f = i < row->count ? u9i_catalog_facts(row, i) : NULL;
    *all = f && u9i_facts_on_row(f);
    return *all && f->named ? look_beyond(r, row, i, f->at.offset, s->end, all) : U9_OK;
}

/* Whether a session that goes on as planned leaves all in the log that is read now. */
static u9_err look_at_plan(repair *r, const u9i_plan *p, bool *all)
{
    u9i_catalog *row;
    u9_err err = u9i_source_catalog(r->source, &row, r->fault);
    if (err != U9_OK) return err;
    *all = true;
    for (size_t n = 0; n < r->shown_count && err == U9_OK && *all; n++) {
        size_t i = find_shown(row, &r->shown[n]);
        uint64_t number = i < row->count ? u9i_catalog_facts(row, i)->number : 0;
        if (number >= p->before_segment) err = look_beyond(r, row, i, number == p->before_segment ? p->end.offset : 0, r->shown[n].end, all);
    }
    u9i_catalog_unref(row);
    return err;
}

/* Without its mark the log may be another row, which leaves out what is read now: no record goes out of reach by giving up. */
static u9_err accept_row(repair *r)
{
    u9i_catalog *row;
    char path[4400];
    u9i_source_accept(r->source);
    u9_err err = u9i_source_catalog(r->source, &row, r->fault);
    if (err != U9_OK) return err;
    for (size_t i = 0; i < r->shown_count && err == U9_OK; i++) {
        bool all;
        err = look_in_row(r, row, &r->shown[i], &all);
        if (err != U9_OK || all) continue;
        err = u9i_fault(r->fault, U9_CORRUPT,
                        U9I_AT(.path = u9i_source_path(r->source, r->shown[i].name, path, sizeof path), .rule = "M-9"),
                        "without the mark another line of the log would be read, and records of this one no more. Salvage "
                        "writes each line into a log of its own; or move the other one's segments away");
    }
    u9i_catalog_unref(row);
    return err;
}

static u9_err refuse_shorter(const repair *r)
{
    return u9i_fault(r->fault, U9_CORRUPT, U9I_AT(.path = r->path, .rule = "M-9"),
                     "without the mark records behind damage would be read no more. Salvage writes them into a new log");
}

/* The plan's end is behind the last frame that is there of those between `from` and what the mark promises. */
static u9_err end_at_last(repair *r, uint64_t from, u9i_plan *p)
{
    u9i_catalog *row;
    u9i_iterator it;
    u9i_frame f;
    size_t i = 0;
    u9_err err = u9i_source_catalog(r->source, &row, r->fault);
    if (err != U9_OK) return err;
    while (i < row->count && (u9i_catalog_facts(row, i)->number != p->before_segment || !u9i_facts_on_row(u9i_catalog_facts(row, i)))) i++;
    if (i < row->count) err = u9i_source_iterate(r->source, row->segments[i], NULL, false, &it, r->fault);
    else err = refuse_shorter(r);
    u9i_catalog_unref(row);
    if (err != U9_OK) return err;
    for (uint64_t end = p->end.offset; (err = u9i_window_find(it.window, from, end, &f)) == U9_OK; from = f.end) {
        p->end.offset = f.end;
        p->end.ordinal = f.trailer.ordinal + f.trailer.count;
        memcpy(p->end.chain, f.sha, sizeof p->end.chain);
        p->time_us = f.trailer.time_us;
    }
    if (err != U9_END) (void)u9i_source_fault(r->source, &it, err, r->fault);
    u9i_iterator_close(&it);
    return err == U9_END ? U9_OK : err;
}

/*
 * Where the log goes on without what its mark promises, which is durable then. What only the mark has said of a gap is not
 * known any more, and the log may seem to end there: then it goes on behind the last frame that is there in front of where it
 * would with the mark, `known` (NULL: nowhere).
 */
static u9_err find_end_without(repair *r, const u9i_plan *known)
{
    bool all = true;
    u9_err err = u9i_resume_find(&r->plan, r->source, 0, NULL, NULL, r->fault);
    if (err == U9_OK && r->plan.before_segment > 0) err = look_at_plan(r, &r->plan, &all);
    if (err != U9_OK || all) return err;
    if (known && known->before_segment >= r->plan.before_segment) {
        uint64_t from = known->before_segment == r->plan.before_segment ? r->plan.end.offset : U9I_DISK_HEADER_SIZE;
        r->plan = *known;
        err = end_at_last(r, from, &r->plan);
        if (err == U9_OK) err = look_at_plan(r, &r->plan, &all);
    }
    return err == U9_OK && !all ? refuse_shorter(r) : err;
}

static u9_err find_rest(repair *r)
{
    u9_loss *loss = r->loss;
    u9i_plan known;
    u9_err err = look_for_stand_in(r);
    if (err != U9_OK) return err;
    bool knows = u9i_resume_find(&known, r->source, 0, NULL, NULL, NULL) == U9_OK && !known.goes_on; /* else it is refused */
    err = accept_row(r);
    if (err == U9_OK) err = find_end_without(r, knows ? &known : NULL);
    if (err != U9_OK) return err;
    if (r->plan.before_segment == 0)
        return u9i_fault(r->fault, U9_ABSENT, U9I_AT(.path = r->path, .rule = "M-9"),
                         "nothing is left of the log but its mark: there is no end to go on from. Put its segments back, or begin a "
                         "new log in another directory (or in this one, once .mark is moved away)");
    if (r->plan.number <= loss->mark.segment) /* somebody without the lock was at it */
        return u9i_fault(r->fault, U9_STATE, U9I_AT(.path = r->path, .rule = "M-9"), "the log changed meanwhile");
    loss->next_ordinal = r->plan.end.ordinal;
    loss->lost = loss->mark.ordinal > loss->next_ordinal ? loss->mark.ordinal - loss->next_ordinal : 0;
    return U9_OK;
}

/* The first name that no old mark has. */
static int make_beside(repair *r, u9i_file **file)
{
    int sys = -EEXIST;
    for (unsigned n = 1; sys == -EEXIST && n <= KEPT_MAX; n++) {
        snprintf(r->loss->kept, sizeof r->loss->kept, "%s.old-%u", u9i_mark_name, n);
        sys = u9i_file_open(r->source->dir, r->loss->kept, U9I_OPEN_CREATE, file);
    }
    return sys;
}

static int read_old_mark(repair *r, uint8_t *bytes)
{
    u9i_file *file;
    size_t got = 0;
    int sys = u9i_file_open(r->source->dir, u9i_mark_name, U9I_OPEN_READ, &file);
    if (sys != 0) return sys;
    sys = u9i_file_read(file, 0, bytes, U9I_MARK_SIZE, &got);
    u9i_file_close(file);
    return sys;
}

/* The old mark is told to whoever looks for it, whatever comes of the new one. */
static u9_err keep_beside(repair *r)
{
    uint8_t *bytes = u9i_pages(U9I_MARK_SIZE); /* zeros */
    u9i_file *file;
    if (bytes == NULL) return fail_repair(r, -ENOMEM, "keep the old mark");
    int sys = read_old_mark(r, bytes);
    if (sys == 0) sys = make_beside(r, &file);
    if (sys == 0) {
        sys = u9i_write_and_sync(file, 0, bytes, U9I_MARK_SIZE);
        u9i_file_close(file);
    }
    if (sys == 0) sys = u9i_dir_sync(r->source->dir);
    u9i_pages_free(bytes, U9I_MARK_SIZE);
    return sys ? fail_repair(r, sys, "keep a copy of the old mark") : U9_OK;
}

/* Marks what the session has made durable. */
static u9_err mark_session(repair *r)
{
    u9i_mark_record mark;
    bool durable = u9i_writer_mark(&r->writer, &mark);
    assert(durable && mark.segment > r->loss->mark.segment);
    return u9i_marker_write(&r->marker, &mark, r->fault);
}

/* A session of its own, which only says where the log goes on. */
static u9_err begin_anew(repair *r)
{
    u9_options o = {.size = sizeof o, .mode = U9_WRITE, .policy = U9_POLICY_COMMIT,
                    .generator = 1}; /* which a log of uid8 keys asks for: none is made */
    u9i_mark known;
    int sys = u9i_mark_read(r->source->dir, &known);
    if (sys != 0) return fail_repair(r, sys, "read the log's mark");
    u9_err err = u9i_writer_open(&r->writer, r->source->dir, r->path, &r->plan, &o, r->fault);
    if (err != U9_OK) return err;
    u9i_marker_init(&r->marker, r->source->dir, r->path, &known, r->plan.log);
    err = u9i_writer_create(&r->writer, r->fault);
    if (err == U9_OK) err = mark_session(r);
    if (err == U9_OK) {
        err = u9i_writer_close(&r->writer, r->fault);
        if (err == U9_OK) err = mark_session(r);
    } else {
        u9i_writer_release(&r->writer);
    }
    u9i_marker_release(&r->marker);
    return err;
}

static u9_err give_up(repair *r)
{
    u9_err err = keep_beside(r);
    if (err == U9_OK) err = begin_anew(r);
    if (err != U9_OK) return err;
    r->loss->segment = r->plan.number;
    r->loss->state = U9_LOSS_ACCEPTED;
    return U9_OK;
}

/* Opens the log for reading, and locks it. On failure nothing is held. */
static u9_err open_locked(repair *r, const char *io, u9_log **log)
{
    u9_options reading = {.size = sizeof reading, .mode = U9_READ, .io = io, .verify = U9_VERIFY_ALWAYS};
    u9_err err = u9_log_open(r->path, &reading, log, r->fault);
    if (err != U9_OK) return err;
    r->source = &(*log)->source;
    err = lock_log(r);
    if (err != U9_OK) (void)u9_log_close(*log, NULL);
    return err;
}

/* Ends of the row behind which sessions went on, and that are told of as unknown. */
static u9_err count_passed(repair *r, uint64_t *count)
{
    u9i_catalog *c;
    u9_err err = u9i_source_catalog(r->source, &c, r->fault);
    if (err != U9_OK) return err;
    for (size_t i = 0; i < c->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(c, i);
        *count += u9i_facts_on_row(f) && f->named && f->tail == U9I_TAIL_UNKNOWN;
    }
    u9i_catalog_unref(c);
    return U9_OK;
}

/* These, and the log's own end, behind which the next session goes on: in a new segment, as no size is room enough. */
static u9_err find_tails(repair *r, u9_tails *tails)
{
    u9_err err = u9i_resume_find(&r->plan, r->source, 0, NULL, NULL, r->fault);
    if (err == U9_OK) err = count_passed(r, &tails->count);
    if (err == U9_OK) tails->count += r->plan.tail == U9I_TAIL_UNKNOWN;
    return err;
}

static u9_err accept_tails(repair *r, u9_tails *tails)
{
    r->plan.accepted = r->plan.before_segment;
    u9_err err = begin_anew(r);
    if (err == U9_OK) tails->segment = r->plan.number;
    return err;
}

u9_err u9_accept_tails(const char *path, int accept, const char *io, u9_tails *out, u9_fault *fault)
{
    u9_loss none = {.size = sizeof none};
    u9_tails tails = {.size = sizeof tails};
    repair r = {.path = path, .loss = &none, .fault = fault};
    u9_log *log;
    if (path == NULL || out == NULL || out->size != sizeof *out)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = path),
                         "an argument is NULL, or out->size is not sizeof(u9_tails)");
    u9_err err = open_locked(&r, io, &log);
    if (err != U9_OK) return err;
    if (log->source.dir->single[0] == 0) err = find_tails(&r, &tails); /* nobody goes on behind a file alone */
    if (err == U9_OK && tails.count > 0 && accept) err = accept_tails(&r, &tails);
    (void)u9_log_close(log, NULL);
    if (err == U9_OK) *out = tails;
    return err;
}

u9_err u9_accept_loss(const char *path, int accept, const char *io, u9_loss *out, u9_fault *fault)
{
    u9_loss loss = {.size = sizeof loss};
    repair r = {.path = path, .loss = &loss, .fault = fault};
    u9_log *log;
    if (path == NULL || out == NULL || out->size != sizeof *out)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = path),
                         "an argument is NULL, or out->size is not sizeof(u9_loss)");
    u9_err err = open_locked(&r, io, &log);
    if (err != U9_OK) return err;
    err = look_at_mark(&r);
    if (err == U9_OK && loss.state == U9_LOSS_FOUND) err = find_rest(&r);
    if (err == U9_OK && loss.state == U9_LOSS_FOUND && accept) err = give_up(&r);
    free(r.shown);
    (void)u9_log_close(log, NULL);
    if (err == U9_OK) *out = loss;
    return err;
}
