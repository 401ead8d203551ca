/*
 * engine/check/snapshot_dir.c: the directory of a snapshot: what is there, against what the log has; and bringing it to
 * that. to
 *
 * Whatever stands there and is not known, byte for byte or as a link, to be the log's is left alone, and the snapshot
 * refused: only in a directory that is still growing it is replaced.
 */
#include "engine/check/atomic_dir.h"
#include "engine/check/snapshot.h"

#include "engine/os/list.h"
#include "engine/os/process.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char new_name[] = ".segment.new"; /* a file that is on its way */
static const char new_tip[] = ".tip.new";      /* the last segment, until all others are there */

#define NONE U9I_NOT_THERE

u9_err u9i_snapshot_fail(const u9i_snapshot *s, int sys, const char *what, u9_fault *fault)
{
    return u9i_fault(fault, U9_IO, U9I_AT(.path = s->path, .sys = -sys), "cannot %s", what);
}

static u9_err refuse_dir(const u9i_snapshot *s, const char *name, const char *why, u9_fault *fault)
{
    return u9i_fault(fault, U9_ARG, U9I_AT(.path = s->path, .rule = "A-3"), "%s%s%s: nothing was changed; take "
                     "another directory", name ? name : "", name ? " " : "", why);
}

/* Which directory */

/* One that is there must be a snapshot, and not the log. */
static u9_err open_old(u9i_snapshot *s, u9_fault *fault)
{
    u9i_stamp here, log;
    int sys = s->dir->single[0] ? -ENOTDIR : u9i_dir_stat(s->dir, ".", &here);
    if (sys == 0) sys = u9i_dir_stat(s->source->dir, ".", &log);
    if (sys == 0 && memcmp(here.identity, log.identity, sizeof here.identity) == 0)
        return refuse_dir(s, NULL, "this is the log itself", fault);
    if (sys == 0) sys = u9i_snapshot_note_read(s->dir, &s->note);
    if (sys == -EINVAL || (sys == 0 && s->note.count == 0))
        return refuse_dir(s, NULL, "this is there already, and is no snapshot", fault);
    return sys == 0 ? U9_OK : u9i_snapshot_fail(s, sys, "read what the snapshot says of itself", fault);
}

static u9_err open_snapshot_dir(u9i_snapshot *s, u9_fault *fault)
{
    int sys = u9i_dir_open(s->source->dir->env, s->path, false, &s->dir);
    if (sys == 0) return open_old(s, fault);
    if (sys != -ENOENT) return u9i_snapshot_fail(s, sys, "open the snapshot's directory", fault);
    s->partial = u9i_atomic_dir_name(s->path);
    if (s->partial == NULL) return u9i_snapshot_fail(s, -ENOMEM, "make a name", fault);
    u9_err err = u9i_atomic_dir_resume(s->source->dir->env, s->partial, s->source->path, &s->dir, fault);
    if (err != U9_OK) return err;
    sys = u9i_snapshot_note_read(s->dir, &s->note);
    return sys == 0 || sys == -EINVAL ? U9_OK : u9i_snapshot_fail(s, sys, "read what an earlier run left", fault);
}

u9_err u9i_snapshot_open(u9i_snapshot *s, u9_fault *fault)
{
    u9_err err = open_snapshot_dir(s, fault);
    if (err != U9_OK) return err;
    int sys = u9i_dir_lock(s->dir);
    if (sys == -EWOULDBLOCK)
        return u9i_fault(fault, U9_LOCKED, U9I_AT(.path = s->path, .rule = "W-1"),
                         "a writer, or another snapshot, is at work there");
    if (sys == 0) sys = u9i_queue_open(s->dir->env, NULL, 0, 0, &s->queue);
    return sys == 0 ? U9_OK : u9i_snapshot_fail(s, sys, "begin the snapshot", fault);
}

void u9i_snapshot_close(u9i_snapshot *s)
{
    if (s->queue) u9i_queue_close(s->queue);
    if (s->dir) u9i_dir_close(s->dir);
    free(s->partial);
    free(s->fates);
    free(s->trimmed);
    free(s->whole);
}

/* What is there */

/* Files that are not of the log stay behind; what may be a ruin of one of its segments does not. */
static bool is_wanted(const u9i_facts *f)
{
    return !u9i_facts_skipped(f) && (f->wrong != U9_R_FOREIGN || f->stray);
}

/* The block behind a named end: what stands there is needed by nobody. */
static uint64_t block_behind(const u9i_facts *f)
{
    return (f->at.offset + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
}

/* Bytes of a copy of a segment that is not the last. */
static uint64_t copied_size(const u9i_facts *f, uint64_t size)
{
    return f->named && !u9i_facts_sealed(f) && block_behind(f) < size ? block_behind(f) : size;
}

static size_t find_name(const u9i_snapshot *s, const char *name)
{
    for (size_t i = 0; i < s->catalog->count; i++)
        if (s->fates[i] != U9I_FATE_LEAVE && strcmp(u9i_catalog_facts(s->catalog, i)->name, name) == 0) return i;
    return NONE;
}

/* True if the snapshot, as it was left, went on behind this one: nobody wrote to it since. The log may have other files. */
static bool is_below_last(const u9i_snapshot *s, uint64_t number)
{
    return s->partial == NULL && number < s->note.states[0].segment;
}

/* True if the file there begins as the segment's does: with the same secret. That this is gone is noted. */
static bool same_header(u9i_snapshot *s, size_t i)
{
    const u9i_facts *f = u9i_catalog_facts(s->catalog, i);
    uint8_t bytes[2][U9I_DISK_HEADER_SIZE];
    size_t got[2] = {0, 0};
    u9i_dir *dirs[2] = {s->source->dir, s->dir};
    for (unsigned k = 0; k < 2; k++) {
        u9i_file *file;
        int err = u9i_file_open(dirs[k], f->name, U9I_OPEN_READ, &file);
        if (k == 0) s->gone = err == -ENOENT || err == -ESTALE; /* it was trimmed just now */
        if (err != 0) return false;
        err = u9i_file_read(file, 0, bytes[k], sizeof bytes[k], &got[k]);
        u9i_file_close(file);
        if (err != 0) return false;
    }
    return got[0] == got[1] && memcmp(bytes[0], bytes[1], got[0]) == 0;
}

/*
 * A file that is there and of which the log has the name: kept, or replaced. It is the log's, by a link; or what was
 * the snapshot's last segment; or a copy of one that was not the last, which got its name when it was whole.
 */
static u9_err compare_file(u9i_snapshot *s, size_t i, const char *name, const u9i_stamp *stamp, u9_fault *fault)
{
    const u9i_facts *f = u9i_catalog_facts(s->catalog, i);
    const u9i_snapshot_state *state = u9i_snapshot_state_of(&s->note, u9i_segment_number(name), stamp->size);
    bool linked = memcmp(stamp->identity, f->stamp.identity, sizeof stamp->identity) == 0;
    if (state && (s->was == NULL || s->was < state)) s->was = state;
    if (linked && i != s->tip && !s->options->copy) s->fates[i] = U9I_FATE_KEEP;
    if (linked || state) return U9_OK;
    bool sized = stamp->size == f->size || (f->named && stamp->size == block_behind(f)); /* then it was not sealed yet */
    sized |= f->named && stamp->size >= f->at.offset && is_below_last(s, u9i_segment_number(name));
    bool copied = i != s->tip && sized && same_header(s, i);
    if (copied) s->fates[i] = U9I_FATE_KEEP;
    if (copied || s->partial || s->gone) return U9_OK;
    if (is_below_last(s, u9i_segment_number(name)))
        return refuse_dir(s, name, "is another in the log, which is an older state than this snapshot, or was changed", fault);
    return refuse_dir(s, name, "is not as the last run left it: the snapshot was written to", fault);
}

static u9_err note_trimmed(u9i_snapshot *s, uint64_t number, u9_fault *fault)
{
    uint64_t *more = u9i_grow(s->trimmed, s->trimmed_count, &s->trimmed_room, sizeof *more);
    if (more == NULL) return u9i_snapshot_fail(s, -ENOMEM, "note what was trimmed", fault);
    s->trimmed = more;
    s->trimmed[s->trimmed_count++] = number;
    return U9_OK;
}

/* One that the log has not, or not any more. What it did not trim itself may be here alone. */
static u9_err compare_other(u9i_snapshot *s, const char *name, const u9i_stamp *stamp, u9_fault *fault)
{
    const u9i_catalog *c = s->catalog;
    uint64_t number = u9i_segment_number(name), last = 0;
    for (unsigned i = 0; i < s->note.count; i++)
        if (s->note.states[i].segment > last) last = s->note.states[i].segment;
    if (s->partial) return note_trimmed(s, number, fault);
    if (number > last)
        return refuse_dir(s, name, "is no file of the log: the snapshot was written to, or is of another log", fault);
    if (number == last && u9i_snapshot_state_of(&s->note, number, stamp->size) == NULL)
        return refuse_dir(s, name, "is not as the last run left it: the snapshot was written to", fault);
    if (number < c->trim.segment) return note_trimmed(s, number, fault);
    for (size_t i = 0; i < c->count; i++)
        if (u9i_catalog_facts(c, i)->number == number)
            return refuse_dir(s, name, "has another name in the log: `u9fsck --repair -p` gives it that of its number", fault);
    if (number > u9i_segment_number(u9i_catalog_facts(c, s->tip)->name))
        return refuse_dir(s, name, "is not in the log, which is an older state than this snapshot", fault);
    return refuse_dir(s, name, "is missing in the log, which did not trim it (it can be put back from here)", fault);
}

/* Of a snapshot that grows they are what an earlier run took, and nobody has seen. */
static bool keeps_trimmed(const u9i_snapshot *s)
{
    return s->options->keep_trimmed && s->partial == NULL;
}

/* The snapshot's last segment was taken before all of it was there. */
static bool is_taken_before(const u9i_snapshot *s, uint64_t number, uint64_t end)
{
    char name[20];
    u9i_stamp stamp;
    u9i_segment_name(number, name);
    const u9i_snapshot_state *was =
        u9i_dir_stat(s->dir, name, &stamp) == 0 ? u9i_snapshot_state_of(&s->note, number, stamp.size) : NULL;
    return was && was->offset < end;
}

/* True if what was trimmed leads to where the log begins now. */
static bool trimmed_leads_on(const u9i_snapshot *s)
{
    const u9i_facts *f = u9i_catalog_facts(s->catalog, u9i_catalog_first(s->catalog)); /* there is one: the tip, at least */
    return s->trimmed_count > 0 && f->has_open && f->open.before_segment == s->trimmed[s->trimmed_count - 1];
}

/* What stays of what the log has trimmed must lead to where that begins: else there would be a hole. */
static u9_err join_trimmed(const u9i_snapshot *s, u9_fault *fault)
{
    const u9i_facts *f = u9i_catalog_facts(s->catalog, u9i_catalog_first(s->catalog));
    if (!keeps_trimmed(s) || s->trimmed_count == 0) return U9_OK;
    if (trimmed_leads_on(s) && !is_taken_before(s, f->open.before_segment, f->open.end.offset)) return U9_OK;
    return refuse_dir(s, NULL, "the log was trimmed beyond all that this has, to which nothing of it leads", fault);
}

typedef struct listing {
    char (*names)[20];
    size_t count, room;
} listing;

static int list_segment(void *ctx, const char *name)
{
    listing *l = ctx;
    uint64_t number;
    if (!u9i_segment_named(name, &number)) return 0;
    char(*more)[20] = u9i_grow(l->names, l->count, &l->room, sizeof *more);
    if (more == NULL) return -ENOMEM;
    l->names = more;
    memcpy(l->names[l->count++], name, 20);
    return 0;
}

static int order_of_names(const void *a, const void *b)
{
    return memcmp(a, b, 20);
}

/* What the log has must still lead to how the snapshot was left: else it was put back to what it was before. */
static u9_err compare_history(u9i_snapshot *s, u9_fault *fault)
{
    for (unsigned i = 0; i < s->note.count; i++) {
        const u9i_snapshot_state *state = &s->note.states[i];
        char name[20];
        u9i_iterator it; /* for its window only */
        u9i_frame frame;
        if (memcmp(state->log, s->catalog->log, sizeof state->log) != 0)
            return refuse_dir(s, NULL, "this is a snapshot of another log", fault);
        u9i_segment_name(state->segment, name);
        size_t at = find_name(s, name);
        if (at == NONE || state->last == 0) continue;
        u9i_segment *segment = s->catalog->segments[at];
        u9_fault why = {.err = U9_OK};
        u9_err err = u9i_source_iterate(s->source, segment, NULL, false, &it, &why);
        s->gone = err == U9_IO && (why.sys == ENOENT || why.sys == ESTALE);
        if (s->gone) return U9_OK;
        if (err != U9_OK && fault) *fault = why;
        if (err != U9_OK) return err;
        err = u9i_window_at(it.window, state->last, segment->facts.size, &frame);
        bool unread = err == U9_IO || err == U9_NOMEM;
        if (unread) (void)u9i_source_fault(s->source, &it, err, fault);
        bool same = err == U9_OK && memcmp(frame.sha, state->chain, sizeof frame.sha) == 0;
        u9i_iterator_close(&it);
        if (unread) return err;
        if (!same)
            return refuse_dir(s, name, "has not in the log what the snapshot ends with: the log is an older state than "
                              "this, went on otherwise, or is damaged there", fault);
    }
    return U9_OK;
}

static u9_err compare_names(u9i_snapshot *s, const listing *l, u9_fault *fault)
{
    u9_err err = U9_OK;
    for (size_t k = 0; k < l->count && err == U9_OK && !s->gone; k++) {
        u9i_stamp stamp;
        size_t i = find_name(s, l->names[k]);
        int sys = u9i_dir_stat(s->dir, l->names[k], &stamp);
        if (sys != 0) return u9i_snapshot_fail(s, sys, "look at the snapshot's files", fault);
        err = i == NONE ? compare_other(s, l->names[k], &stamp, fault) : compare_file(s, i, l->names[k], &stamp, fault);
    }
    return err == U9_OK && !s->gone ? join_trimmed(s, fault) : err;
}

u9_err u9i_snapshot_compare(u9i_snapshot *s, u9_fault *fault)
{
    listing l = {.count = 0};
    size_t count = s->catalog->count;
    s->trimmed_count = 0;
    free(s->fates);
    s->fates = malloc((count + 1) * sizeof *s->fates);
    if (s->fates == NULL) return u9i_snapshot_fail(s, -ENOMEM, "begin the snapshot", fault);
    for (size_t i = 0; i < count; i++)
        s->fates[i] = is_wanted(u9i_catalog_facts(s->catalog, i)) ? U9I_FATE_TAKE : U9I_FATE_LEAVE;
    s->was = s->partial == NULL ? &s->note.states[0] : NULL;
    u9_err err = s->partial == NULL ? compare_history(s, fault) : U9_OK;
    if (s->gone) return U9_OK;
    int sys = err == U9_OK ? u9i_dir_list(s->dir, list_segment, &l) : 0;
    if (sys != 0) err = u9i_snapshot_fail(s, sys, "list the snapshot's files", fault);
    if (l.count > 0) qsort(l.names, l.count, sizeof *l.names, order_of_names); /* the lowest first */
    if (err == U9_OK) err = compare_names(s, &l, fault);
    free(l.names);
    for (s->first = 0; s->first < s->tip && s->fates[s->first] != U9I_FATE_TAKE;) s->first++;
    return err;
}

/* Of the log's file, if that is what could not be read; else the snapshot's, and nothing is said against the log. */
static u9_err fail_segment(const u9i_snapshot *s, const u9i_facts *f, int sys, bool unread, u9_fault *fault)
{
    char path[4400];
    if (unread) u9i_source_path(s->source, f->name, path, sizeof path);
    else snprintf(path, sizeof path, "%s/%s", s->partial ? s->partial : s->path, f->name);
    return u9i_fault(fault, U9_IO, U9I_AT(.path = path, .segment = f->number, .sys = -sys),
                     unread ? "cannot read the segment for the snapshot" : "cannot make this file of the snapshot");
}

static int compare_with_copy(u9i_file *a, u9i_file *b, uint64_t size, bool *same)
{
    enum { STEP = 1 << 18 };
    uint8_t *bytes = malloc(2 * STEP);
    int err = bytes ? 0 : -ENOMEM;
    *same = true;
    for (uint64_t at = 0; at < size && err == 0 && *same; at += STEP) {
        size_t n = size - at < STEP ? (size_t)(size - at) : STEP;
        err = u9i_read_exactly(a, at, bytes, n);
        if (err == 0 && u9i_read_exactly(b, at, bytes + STEP, n) != 0) *same = false; /* it is taken again */
        else if (err == 0) *same = memcmp(bytes, bytes + STEP, n) == 0;
    }
    free(bytes);
    return err;
}

/* *same: the copy there has the first `end` bytes of the log's file. */
static u9_err look_at_copy(u9i_snapshot *s, size_t i, uint64_t end, bool *same, u9_fault *fault)
{
    const u9i_facts *f = u9i_catalog_facts(s->catalog, i);
    u9i_file *log, *here = NULL;
    int sys = u9i_file_open(s->dir, f->name, U9I_OPEN_READ, &here);
    if (sys != 0) return u9i_snapshot_fail(s, sys, "read what the snapshot has", fault);
    sys = u9i_segment_open(s->catalog->segments[i], &log);
    if (sys == 0) {
        sys = compare_with_copy(log, here, end, same);
        u9i_segment_close(s->catalog->segments[i]);
    }
    u9i_file_close(here);
    s->gone |= sys == -ENOENT || sys == -ESTALE;
    return sys == 0 || s->gone ? U9_OK : fail_segment(s, f, sys, true, fault);
}

static bool is_told_damaged(const u9i_snapshot *s, uint64_t number)
{
    bool any = false;
    for (size_t k = 0; k < s->told_count; k++) any |= s->told[k].segment == number;
    return any;
}

u9_err u9i_snapshot_compare_copies(u9i_snapshot *s, u9_fault *fault)
{
    u9_err err = U9_OK;
    for (size_t i = 0; i <= s->tip && err == U9_OK && !s->gone; i++) {
        const u9i_facts *f = u9i_catalog_facts(s->catalog, i);
        u9i_stamp stamp;
        bool there = (i == s->tip || s->fates[i] == U9I_FATE_KEEP) && u9i_dir_stat(s->dir, f->name, &stamp) == 0, same = true;
        if (!there || memcmp(stamp.identity, f->stamp.identity, sizeof stamp.identity) == 0 || is_told_damaged(s, f->number)) continue;
        uint64_t end = i == s->tip ? s->end.end.offset : f->named ? f->at.offset : f->size;
        err = look_at_copy(s, i, end < stamp.size ? end : stamp.size, &same, fault);
        if (i == s->tip) s->altered = !same;
        else if (!same) s->fates[i] = U9I_FATE_TAKE;
    }
    return err;
}

/* Bringing it there */

static void tell(u9i_snapshot *s, const char *name, u9_snapshot_how how, uint64_t bytes, int sys)
{
    u9_snapshot_report *r = &s->report;
    r->kept += how == U9_SNAPSHOT_KEPT;
    r->linked += how == U9_SNAPSHOT_LINKED;
    r->copied += how == U9_SNAPSHOT_COPIED;
    r->removed += how == U9_SNAPSHOT_REMOVED;
    r->copied_bytes += bytes;
    if (r->link_sys == 0) r->link_sys = sys;
    if (s->options->on_segment)
        s->options->on_segment(s->options->ctx,
                               &(u9_snapshot_segment){.name = name, .how = how, .bytes = bytes, .sys = sys});
}

/* The file that was made gets its name; of a snapshot that is there, durably before the next: no hole shows. */
static int give_name(u9i_snapshot *s, const char *from, const char *name)
{
    int err = u9i_dir_rename(s->dir, from, name);
    return err == 0 && s->partial == NULL ? u9i_dir_sync(s->dir) : err;
}

/* True if copying may succeed where linking did not. */
static bool may_copy(int sys)
{
    return sys != -ENOSPC && sys != -EDQUOT && sys != -EIO && sys != -EROFS && sys != -ENOENT && sys != -ENOMEM;
}

/* A second name for the file, the very one that was read. 0; -ENOENT: it is gone; others: it is to be copied. */
static int link_file(u9i_snapshot *s, const u9i_facts *f)
{
    u9i_stamp now;
    int err = u9i_dir_remove(s->dir, new_name);
    if (err == 0 || err == -ENOENT) err = u9i_dir_link(s->source->dir, f->name, s->dir, new_name);
    if (err != 0) return err;
    if (u9i_dir_stat(s->dir, new_name, &now) == 0 &&
        memcmp(now.identity, f->stamp.identity, sizeof now.identity) == 0)
        return 0;
    err = u9i_dir_remove(s->dir, new_name); /* another file by now, or the link that the name is */
    return err != 0 ? err : -EXDEV;
}

/* What the snapshot has whole of this segment. NULL: nothing. */
static const u9i_kept_stretch *kept_of(const u9i_snapshot *s, size_t i, size_t *count)
{
    size_t k = 0;
    while (k < s->whole_count && s->whole[k].index < i) k++;
    for (*count = 0; k + *count < s->whole_count && s->whole[k + *count].index == i;) ++*count;
    return *count > 0 ? s->whole + k : NULL;
}

/* Makes the copy of a segment's file, with what the snapshot has whole of it. */
static int make_copy(u9i_snapshot *s, size_t i, u9i_segment_copy *copy, uint64_t *size)
{
    copy->kept = kept_of(s, i, &copy->kept_count);
    if (copy->kept == NULL) return u9i_segment_copy_make(copy, size);
    int err = u9i_file_open(s->dir, u9i_catalog_facts(s->catalog, i)->name, U9I_OPEN_READ, &copy->old);
    if (err != 0) return err;
    err = u9i_segment_copy_make(copy, size);
    u9i_file_close(copy->old);
    return err;
}

/* *unread: it is the log's file that could not be read. */
static int copy_file(u9i_snapshot *s, size_t i, uint64_t *size, bool *unread)
{
    u9i_file *file;
    uint64_t all;
    u9i_segment *segment = s->catalog->segments[i];
    *unread = true;
    int err = u9i_segment_open(segment, &file);
    if (err != 0) return err;
    err = u9i_file_size(file, &all);
    if (err == 0) {
        u9i_segment_copy copy = {.from = file, .to = s->dir, .path = s->path, .name = new_name, .queue = s->queue,
                                 .bytes = copied_size(&segment->facts, all)};
        copy.size = copy.bytes;
        err = make_copy(s, i, &copy, size);
        *unread = copy.unread;
    }
    u9i_segment_close(segment);
    return err;
}

/* A segment that is not copied aside gets its place. */
static u9_err take_segment(u9i_snapshot *s, size_t i, u9_fault *fault)
{
    const u9i_facts *f = u9i_catalog_facts(s->catalog, i);
    uint64_t size = 0;
    size_t kept;
    bool unread = false, asked = s->options->copy || kept_of(s, i, &kept);
    int tried = asked ? -EXDEV : link_file(s, f), sys = tried;
    bool copies = tried != 0 && may_copy(tried);
    if (copies) sys = copy_file(s, i, &size, &unread);
    if (f->stray && sys != 0) return U9_OK; /* a directory or its like */
    if (sys == 0) sys = give_name(s, new_name, f->name);
    s->gone = sys == -ENOENT || sys == -ESTALE;
    if (s->gone) return U9_OK;
    if (sys != 0) return fail_segment(s, f, sys, unread, fault);
    tell(s, f->name, copies ? U9_SNAPSHOT_COPIED : U9_SNAPSHOT_LINKED, size, copies && !asked ? -tried : 0);
    return U9_OK;
}

/* The last segment, aside. */
static u9_err copy_tip(u9i_snapshot *s, u9_fault *fault)
{
    u9i_segment *segment = s->catalog->segments[s->tip];
    u9i_file *file;
    uint64_t all = 0;
    bool unread = true;
    int sys = u9i_segment_open(segment, &file);
    s->gone = sys == -ENOENT || sys == -ESTALE;
    if (s->gone) return U9_OK;
    if (sys == 0) {
        sys = u9i_file_size(file, &all);
        bool whole = s->how == U9I_TIP_WHOLE;
        uint64_t end = s->end.end.offset;
        u9i_segment_copy copy = {.from = file, .to = s->dir, .path = s->path, .name = new_tip, .queue = s->queue,
                                 .bytes = whole ? all : end, .kind = s->catalog->kind,
                                 .size = whole ? all : (end + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK,
                                 .out = s->how == U9I_TIP_CLOSE && !s->end.closed ? &s->out : NULL};
        if (sys == 0) {
            sys = make_copy(s, s->tip, &copy, &s->tip_size);
            unread = copy.unread;
        }
        s->tip_bytes = copy.bytes;
        u9i_segment_close(segment);
    }
    return sys == 0 ? U9_OK : fail_segment(s, &segment->facts, sys, unread, fault);
}

/* Damage was told of what is in it, now or by an earlier run that read what this one did not. */
static bool is_damaged(const u9i_snapshot *s)
{
    return s->report.damages > s->report.whole || s->report.damaged_before;
}

static u9i_snapshot_state state_now(const u9i_snapshot *s)
{
    const u9i_facts *f = u9i_catalog_facts(s->catalog, s->tip);
    u9i_snapshot_state state = {.segment = u9i_segment_number(f->name), .offset = s->end.end.offset,
                                .size = s->tip_size, .last = s->end.last,
                                .damaged = is_damaged(s)};
    memcpy(state.log, s->catalog->log, sizeof state.log);
    memcpy(state.chain, s->end.chain, sizeof state.chain); /* of the last frame, where what was promised behind it is gone, too */
    return state;
}

/* The last segment is there as it would be made. */
static bool is_tip_there(u9i_snapshot *s)
{
    const u9i_facts *f = u9i_catalog_facts(s->catalog, s->tip);
    u9i_stamp stamp;
    if (s->partial || s->altered || s->note.count != 1 || s->how == U9I_TIP_WHOLE ||
        u9i_dir_stat(s->dir, f->name, &stamp) != 0)
        return false;
    const u9i_snapshot_state *state = u9i_snapshot_state_of(&s->note, u9i_segment_number(f->name), stamp.size);
    if (state == NULL || state->offset != s->end.end.offset ||
        memcmp(state->chain, s->end.chain, sizeof state->chain) != 0)
        return false;
    bool linked = memcmp(stamp.identity, f->stamp.identity, sizeof stamp.identity) == 0;
    s->tip_size = stamp.size;
    return linked == (s->how == U9I_TIP_SEALED && !s->options->copy);
}

/* What the snapshot's mark is to say; false: nothing. [M-5] */
static bool mark_of(const u9i_snapshot *s, u9i_mark_record *out)
{
    const u9i_catalog *c = s->catalog;
    const u9i_facts *f = u9i_catalog_facts(c, s->tip);
    if (s->how == U9I_TIP_WHOLE || s->how == U9I_TIP_SEALED) {
        if (c->marks) *out = *u9i_mark_promise(&c->mark);
        return c->marks;
    }
    *out = (u9i_mark_record){.segment = f->number, .end = s->end.end, .time_us = u9i_wall_us(s->dir->env),
                             .first_ordinal = c->trim.segment ? c->trim.ordinal : 0};
    if (c->marks && u9i_mark_promise(&c->mark)->first_ordinal > out->first_ordinal)
        out->first_ordinal = u9i_mark_promise(&c->mark)->first_ordinal; /* as the log has it: a loss is not explained */
    memcpy(out->log, c->log, sizeof out->log);
    memcpy(out->boundary, f->secret.boundary, sizeof out->boundary);
    memcpy(out->secret, f->secret.bytes, sizeof out->secret);
    return true;
}

static u9_err write_own_mark(u9i_snapshot *s, u9_fault *fault)
{
    u9i_mark_record record;
    u9i_mark known;
    u9i_marker marker;
    if (!mark_of(s, &record)) return U9_OK;
    int sys = u9i_mark_read(s->dir, &known);
    if (sys != 0) return u9i_snapshot_fail(s, sys, "read the snapshot's mark", fault);
    u9i_marker_init(&marker, s->dir, s->path, &known, s->catalog->log);
    u9_err err = u9i_marker_write(&marker, &record, fault);
    u9i_marker_release(&marker);
    return err;
}

/* The lowest first, one by one, so that no hole shows. [L-10] */
static u9_err remove_trimmed(u9i_snapshot *s, u9_fault *fault)
{
    for (size_t k = 0; k < s->trimmed_count && !keeps_trimmed(s); k++) {
        char name[20];
        u9i_segment_name(s->trimmed[k], name);
        int sys = u9i_dir_remove(s->dir, name);
        if (sys == 0 && s->partial == NULL) sys = u9i_dir_sync(s->dir);
        if (sys != 0) return u9i_snapshot_fail(s, sys, "remove what was trimmed from the log", fault);
        tell(s, name, U9_SNAPSHOT_REMOVED, 0, 0);
    }
    return U9_OK;
}

static u9_err write_note(u9i_snapshot *s, const u9i_snapshot_state *was, u9_fault *fault)
{
    u9i_snapshot_note note = {.count = 0};
    if (was) note.states[note.count++] = *was;
    note.states[note.count++] = state_now(s);
    int sys = u9i_snapshot_note_write(s->dir, &note);
    if (sys == 0) s->note = note; /* where all begins anew, it is as if another run had been broken off there */
    return sys == 0 ? U9_OK : u9i_snapshot_fail(s, sys, "note how the snapshot is left", fault);
}

/* All but the last segment. */
static u9_err take_segments(u9i_snapshot *s, u9_fault *fault)
{
    u9_err err = U9_OK;
    for (size_t k = 0; k < s->trimmed_count && keeps_trimmed(s); k++) {
        char name[20];
        u9i_segment_name(s->trimmed[k], name);
        tell(s, name, U9_SNAPSHOT_KEPT, 0, 0);
    }
    for (size_t i = 0; i < s->catalog->count && err == U9_OK && !s->gone; i++) {
        if (i == s->tip) continue;
        if (s->fates[i] == U9I_FATE_TAKE) err = take_segment(s, i, fault);
        else if (s->fates[i] == U9I_FATE_KEEP) tell(s, u9i_catalog_facts(s->catalog, i)->name, U9_SNAPSHOT_KEPT, 0, 0);
    }
    return err;
}

static u9_err take_tip(u9i_snapshot *s, u9_fault *fault)
{
    const u9i_facts *f = u9i_catalog_facts(s->catalog, s->tip);
    if (s->fates[s->tip] == U9I_FATE_KEEP) {
        tell(s, f->name, U9_SNAPSHOT_KEPT, 0, 0);
        return U9_OK;
    }
    if (s->how == U9I_TIP_SEALED) {
        u9_err err = take_segment(s, s->tip, fault);
        s->tip_size = f->size;
        return err;
    }
    int sys = give_name(s, new_tip, f->name);
    if (sys != 0) return u9i_snapshot_fail(s, sys, "give the last segment its name", fault);
    tell(s, f->name, U9_SNAPSHOT_COPIED, s->tip_bytes, 0);
    return U9_OK;
}

/* A new one gets its name, and is there. */
static u9_err appear(u9i_snapshot *s, u9_fault *fault)
{
    int sys = u9i_dir_sync(s->dir);
    if (sys == 0) sys = u9i_atomic_dir_keep(s->dir->env, s->partial);
    return sys == 0 ? U9_OK : u9i_snapshot_fail(s, sys, "give the snapshot its name", fault);
}

static bool is_changed(const u9i_snapshot *s)
{
    bool changed = (s->trimmed_count > 0 && !keeps_trimmed(s)) || s->note.count != 1 || s->partial;
    changed |= s->note.count == 1 && s->note.states[0].damaged != is_damaged(s); /* all was read again */
    for (size_t i = 0; i < s->catalog->count; i++) changed |= s->fates[i] == U9I_FATE_TAKE;
    return changed;
}

u9_err u9i_snapshot_carry_out(u9i_snapshot *s, u9_fault *fault)
{
    u9_err err = U9_OK;
    if (is_tip_there(s)) s->fates[s->tip] = U9I_FATE_KEEP;
    bool changed = is_changed(s), tip = s->fates[s->tip] == U9I_FATE_TAKE;
    bool apart = !trimmed_leads_on(s); /* beside a last segment that says so they would be branches [L-9] */
    if (tip && s->how != U9I_TIP_SEALED) err = copy_tip(s, fault);
    if (tip && s->how == U9I_TIP_SEALED) s->tip_size = u9i_catalog_facts(s->catalog, s->tip)->size;
    if (err != U9_OK || s->gone) return err;
    if (changed) err = write_note(s, s->was, fault);
    if (err == U9_OK) err = take_segments(s, fault);
    if (err == U9_OK && !s->gone && apart) err = remove_trimmed(s, fault);
    if (err == U9_OK && !s->gone) err = take_tip(s, fault);
    if (err != U9_OK || s->gone || !changed) return err;
    if (s->partial) {
        int sys = u9i_dir_sync(s->dir); /* names before the mark [M-5] */
        if (sys != 0) return u9i_snapshot_fail(s, sys, "make the snapshot's names durable", fault);
    }
    err = write_own_mark(s, fault);
    if (err == U9_OK && !apart) err = remove_trimmed(s, fault);
    if (err == U9_OK) err = write_note(s, NULL, fault);
    return err == U9_OK && s->partial ? appear(s, fault) : err;
}
