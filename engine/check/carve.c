/*
 * engine/check/carve.c: what was found of segments, written as logs: u9_carve. See carving.h. [U-8]
 *
 * OUT holds a file of its own name while it is unfinished. Each log grows beside its name and gets it when it is whole
 * (atomic_dir.h), so a call that goes on after one that was broken off finds what that one had finished.
 */
#include "engine/check/atomic_dir.h"
#include "engine/check/carving.h"
#include "engine/os/list.h"
#include "engine/os/process.h"
#include "engine/os/store.h"
#include "engine/segment/probe.h"
#include "format/base/fault.h"
#include "format/frame/disk.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 1 << 20 }; /* bytes written at once */

static const char unfinished[] = ".u9-unfinished";

/* Writing one segment */

/* A file that is written from its start to its end, in large pieces. */
typedef struct out_file {
    u9i_file *file;
    u9i_queue *queue;
    uint8_t *piece; /* the bytes of [begin, begin + STEP) */
    uint64_t begin;
    bool any; /* there are some: what has none stays a hole */
} out_file;

static int flush_piece(out_file *o, uint64_t begin, size_t n)
{
    u9i_op write = {.kind = U9I_OP_WRITE, .file = o->file, .off = o->begin, .buf = o->piece, .n = n};
    int64_t done = o->any ? u9i_queue_do(o->queue, &write) : 0;
    if (o->any) memset(o->piece, 0, STEP);
    o->begin = begin;
    o->any = false;
    return done < 0 ? (int)done : 0;
}

static int put_bytes(out_file *o, uint64_t offset, const uint8_t *bytes, size_t n)
{
    int err = 0;
    while (n > 0 && err == 0) {
        if (offset >= o->begin + STEP) err = flush_piece(o, offset / STEP * STEP, STEP);
        size_t at = (size_t)(offset - o->begin), some = STEP - at < n ? STEP - at : n;
        memcpy(o->piece + at, bytes, some);
        o->any = true;
        offset += some;
        bytes += some;
        n -= some;
    }
    return err;
}

/* What stands between two neighbours, as it stands: a broken frame may be put together there, by who reads it. */
static int put_between(const u9i_carving *c, const u9i_fragment *f, const u9i_fragment *g, out_file *o)
{
    uint64_t at = u9i_fragment_end(f), image_at = f->at + (at - f->offset);
    bool near = f->split == f->end && g->split == g->end && f->image == g->image && g->at - g->offset == f->at - f->offset;
    int err = 0;
    while (near && at < g->offset && err == 0) {
        size_t n = g->offset - at < STEP ? (size_t)(g->offset - at) : STEP;
        if (u9i_carve_read(c, f->image, image_at, c->frame, n)) err = put_bytes(o, at, c->frame, n);
        at += n;
        image_at += n;
    }
    return err;
}

static int put_frames(const u9i_carving *c, const u9i_kin *k, out_file *o)
{
    uint8_t header[U9I_DISK_HEADER_SIZE] = {0};
    if (k->proven) u9i_disk_encode(&k->secret, header);
    int err = put_bytes(o, 0, header, sizeof header);
    for (size_t i = 0; i < k->count && err == 0; i++) {
        const u9i_fragment *f = &k->frames[i];
        if (i > 0) err = put_between(c, f - 1, f, o);
        if (err == 0) err = u9i_carve_fetch(c, f) ? put_bytes(o, f->offset, c->frame, (size_t)(f->end - f->offset)) : -ENODATA;
    }
    uint64_t size = u9i_carve_block(u9i_fragment_end(&k->frames[k->count - 1]));
    if (err == 0) err = flush_piece(o, 0, (size_t)(size - o->begin));
    return err == 0 ? u9i_file_truncate(o->file, size) : err;
}

static int write_segment(const u9i_carving *c, const u9i_kin *k, u9i_dir *dir, const char *name)
{
    out_file o = {.piece = u9i_pages(STEP)};
    if (o.piece == NULL) return -ENOMEM;
    int err = u9i_queue_open(c->env, NULL, 0, 0, &o.queue);
    if (err == 0) {
        err = u9i_file_open(dir, name, U9I_OPEN_CREATE, &o.file);
        if (err == 0) {
            err = put_frames(c, k, &o);
            if (err == 0) err = u9i_file_sync_and_evict(o.file);
            u9i_file_close(o.file);
        }
        u9i_queue_close(o.queue);
    }
    u9i_pages_free(o.piece, STEP);
    return err;
}

/* Writing one log */

static bool is_written(const u9i_kin *k)
{
    return k->count > 0 && !k->aside;
}

static int carved_order(const void *a, const void *b)
{
    const u9i_kin *x = *(u9i_kin *const *)a, *y = *(u9i_kin *const *)b;
    int order = u9i_order(y->has_log, x->has_log);
    if (order == 0 && x->has_log) order = memcmp(x->log, y->log, 16);
    if (order == 0 && x->has_log) order = u9i_order(x->line, y->line);
    if (order == 0 && x->has_log) order = u9i_order(x->number, y->number);
    if (order == 0) order = memcmp(x->boundary, y->boundary, 16);
    return order ? order : u9i_order(x->line, y->line);
}

/* So many of these are one log, or one other line of its. */
static size_t count_log(u9i_kin *const *kin, size_t count)
{
    size_t n = 1;
    while (kin[0]->has_log && n < count && kin[n]->has_log && kin[n]->line == kin[0]->line &&
           memcmp(kin[0]->log, kin[n]->log, 16) == 0)
        n++;
    return n;
}

/* "OUT/id", or by its boundary what has none; and which line it is, as salvage calls it. free() it. */
static char *name_log(const char *out, const u9i_kin *k)
{
    size_t n = u9i_path_length(out);
    unsigned digits = 0;
    char *path = malloc(n + 80);
    if (path == NULL) return NULL;
    memcpy(path, out, n);
    snprintf(path + n, 16, "/%s", k->has_log ? "" : k->proven ? "segment-" : "unsigned-");
    const uint8_t *id = k->has_log ? k->log : k->boundary;
    for (n = strlen(path); digits < 32; digits++)
        path[n + digits] = "0123456789abcdef"[digits % 2 ? id[digits / 2] & 15 : id[digits / 2] >> 4];
    path[n + digits] = 0;
    if (k->line > 0) snprintf(path + n + digits, 24, ".fork-%u", k->line + 1);
    return path;
}

/* Of several with one number (the log was copied, and both went on) all but one get another name. [L-2] [L-9] */
static uint64_t number_for(u9i_kin *const *kin, size_t count, size_t i, uint64_t *spare)
{
    uint64_t number = kin[i]->number;
    bool taken = number == 0 || number > UINT64_C(1) << 62;
    for (size_t n = 0; n < i; n++) taken |= kin[n]->number == number;
    if (!taken) return number;
    for (bool again = true; again;) {
        again = false;
        ++*spare;
        for (size_t n = 0; n < count; n++) again |= kin[n]->number == *spare;
    }
    return *spare;
}

/* -ENODATA: of what was found something is not there any more. */
static u9_err fail_write(const u9i_carving *c, const char *path, int sys)
{
    if (sys == -ENODATA)
        return u9i_fault(c->fault, U9_IO, U9I_AT(.path = c->path, .sys = EIO, .rule = "U-8"), "cannot read again what was found");
    return u9i_fault(c->fault, U9_IO, U9I_AT(.path = path, .sys = -sys, .rule = "U-8"),
                     "cannot write what was found");
}

static u9_err fill_log(const u9i_carving *c, u9i_kin *const *kin, size_t count, const char *partial)
{
    u9i_dir *dir;
    uint64_t spare = 0;
    u9_err err = u9i_atomic_dir_begin(c->env, partial, &c->path, 1, c->fault);
    if (err != U9_OK) return err;
    int sys = u9i_dir_open(c->env, partial, false, &dir);
    if (sys != 0) return fail_write(c, partial, sys);
    for (size_t i = 0; i < count && sys == 0; i++) {
        char name[20];
        u9i_segment_name(number_for(kin, count, i, &spare), name);
        sys = write_segment(c, kin[i], dir, name);
    }
    if (sys == 0) sys = u9i_dir_sync(dir);
    u9i_dir_close(dir);
    if (sys == 0) sys = u9i_atomic_dir_keep(c->env, partial);
    return sys ? fail_write(c, partial, sys) : U9_OK;
}

/* What is there now, as a reader sees it. */
static void tell_log(const u9i_carving *c, u9i_kin *const *kin, size_t count, const char *path)
{
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = c->options->io};
    u9_carved told = {.path = path, .proven = kin[0]->proven, .segments = count};
    for (size_t i = 0; i < count; i++) {
        told.frames += kin[i]->count;
        told.rejoined += kin[i]->rejoined;
    }
    c->report->logs++;
    c->report->segments += count;
    c->report->frames += told.frames;
    c->report->rejoined += told.rejoined;
    if (c->options->on_carved == NULL) return;
    told.checked = u9_check(path, &o, &report, NULL) == U9_OK && told.proven;
    if (told.checked) {
        told.records = report.records;
        told.damages = report.damages;
        told.lost = report.lost;
        told.verdict = report.verdict;
    }
    c->options->on_carved(c->options->ctx, &told);
}

static u9_err write_log(const u9i_carving *c, u9i_kin *const *kin, size_t count, const char *out)
{
    u9i_dir *there;
    char *path = name_log(out, kin[0]), *partial = path ? u9i_atomic_dir_name(path) : NULL;
    u9_err err = partial ? U9_OK : u9i_carve_no_memory(c);
    if (err == U9_OK && u9i_dir_open(c->env, path, false, &there) == 0) { /* an earlier call's, which perhaps just got its name */
        (void)u9i_dir_remove(there, unfinished);
        u9i_dir_close(there);
    } else if (err == U9_OK) err = fill_log(c, kin, count, partial);
    if (err == U9_OK) tell_log(c, kin, count, path);
    free(partial);
    free(path);
    return err;
}

/* All of them */

typedef struct out_names {
    bool own; /* it is marked as unfinished */
    bool any; /* something is in it */
} out_names;

static int note_own(void *ctx, const char *name)
{
    out_names *names = ctx;
    names->own |= strcmp(name, unfinished) == 0;
    names->any = true;
    return 0;
}

/* Makes OUT, marked as unfinished; what an earlier call left is fine, also before the mark was there. */
static u9_err begin_out(const u9i_carving *c, const char *out)
{
    u9i_dir *dir;
    u9i_file *file;
    out_names names = {.own = false};
    int sys = u9i_dir_open(c->env, out, false, &dir);
    bool there = sys == 0;
    if (sys == -ENOENT) sys = u9i_dir_open(c->env, out, true, &dir);
    if (sys != 0) return fail_write(c, out, sys);
    if (there) sys = dir->single[0] ? -EEXIST : u9i_dir_list(dir, note_own, &names);
    if (sys == 0 && names.any && !names.own) sys = -EEXIST;
    if (sys == 0 && !names.own) {
        sys = u9i_file_open(dir, unfinished, U9I_OPEN_CREATE, &file);
        if (sys == 0) u9i_file_close(file);
        if (sys == 0) sys = u9i_dir_sync(dir);
    }
    u9i_dir_close(dir);
    if (sys == -EEXIST)
        return u9i_fault(c->fault, U9_ARG, U9I_AT(.path = out, .sys = EEXIST), "already exists: logs are carved into a new directory");
    return sys ? fail_write(c, out, sys) : U9_OK;
}

static u9_err end_out(const u9i_carving *c, const char *out)
{
    u9i_dir *dir;
    int sys = u9i_dir_open(c->env, out, false, &dir);
    if (sys != 0) return fail_write(c, out, sys);
    sys = u9i_dir_sync(dir);
    if (sys == 0) sys = u9i_dir_remove(dir, unfinished);
    u9i_dir_close(dir);
    return sys ? fail_write(c, out, sys) : U9_OK;
}

static u9_err write_logs(u9i_carving *c, const char *out)
{
    size_t count = 0;
    u9i_kin **kin = calloc(c->kin_count + 1, sizeof *kin);
    if (kin == NULL) return u9i_carve_no_memory(c);
    for (size_t i = 0; i < c->kin_count; i++)
        if (is_written(&c->kin[i])) kin[count++] = &c->kin[i];
    qsort(kin, count, sizeof *kin, carved_order);
    u9_err err = count > 0 ? begin_out(c, out)
                           : u9i_fault(c->fault, U9_ABSENT, U9I_AT(.path = c->path), "no frame of a log is in there");
    for (size_t i = 0, n; i < count && err == U9_OK; i += n) {
        n = count_log(kin + i, count - i);
        err = write_log(c, kin + i, n, out);
    }
    free(kin);
    return err == U9_OK ? end_out(c, out) : err;
}

/* A host built with an earlier version has a shorter one. */
static bool is_carve_report(size_t size)
{
    return size == sizeof(u9_carve_report) || size == offsetof(u9_carve_report, held);
}

u9_err u9_carve(const char *path, const char *out_path, const u9_carve_options *options, u9_carve_report *report,
                u9_fault *fault)
{
    static const u9_carve_options plain = {.size = sizeof plain};
    u9_carve_report own = {.size = report ? report->size : 0};
    u9i_carving c = {.options = options ? options : &plain, .report = &own, .fault = fault, .path = path};
    if (path == NULL || path[0] == 0 || out_path == NULL || out_path[0] == 0 || report == NULL ||
        !is_carve_report(report->size) || c.options->size != sizeof plain)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "a path is empty, or a size is none that this version knows");
    u9_err err = u9i_env_of(c.options->io, &c.path, &c.env, fault);
    if (err == U9_OK) err = u9i_env_beside(c.env, &out_path, fault);
    memcpy(report, &own, own.size);
    if (err != U9_OK) return err;
    err = u9i_carve_open(&c);
    if (err == U9_OK) err = u9i_carve_scan(&c);
    if (err == U9_OK) err = u9i_carve_know(&c);
    if (err == U9_OK) err = u9i_carve_join(&c);
    if (err == U9_OK) err = write_logs(&c, out_path);
    u9i_carve_release(&c);
    memcpy(report, &own, own.size);
    return err;
}
