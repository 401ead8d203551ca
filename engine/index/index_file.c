/*
 * engine/index/index_file.c: see index_file.h. [K-4]
 */
#include "engine/index/index_file.h"

#include "engine/os/process.h"
#include "engine/segment/draw.h"
#include "format/base/bytes.h"
#include "format/frame/disk.h"
#include "format/frame/filter.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Reading */

static void index_file_check(const u9i_index_file *f)
{
    assert(f->file != NULL && f->root != 0 && f->bound <= f->file->facts.size);
    assert(u9i_segment_sealed(f->file));
}

/* Reads first and last block: what the file says that it is. */
static u9_err probe_index(u9i_facts *x, u9i_dir *dir, u9i_windows *windows)
{
    u9i_file *file;
    u9i_window *w;
    static const u9i_secret none;
    int sys = u9i_file_open(dir, x->name, U9I_OPEN_READ, &file);
    if (sys != 0) return u9i_no_file(sys) || sys == -EACCES ? U9_ABSENT : U9_IO;
    u9_err err = u9i_windows_lend(windows, &w);
    if (err == U9_OK) {
        u9i_window_turn(w, file, &none);
        err = u9i_probe(x, dir, w, NULL, 0);
        u9i_window_turn(w, NULL, NULL);
        u9i_windows_return(windows, w);
    }
    u9i_file_close(file);
    return err;
}

static bool is_whole(const u9i_facts *x)
{
    return x->header == U9_OK && x->has_open && x->has_end && x->end.kind == U9I_END_SEALING && x->end.root != 0 &&
           x->wrong == U9_R_NONE && !x->plain;
}

static u9i_index_flaw flaw_of(const u9i_facts *x, const u9i_segment *of)
{
    static const uint8_t none[16];
    if (!is_whole(x)) return U9I_FLAW_DAMAGED;
    const u9i_open_record *open = &x->open;
    bool ours = memcmp(open->log, none, sizeof none) == 0 && open->before_segment != 0 &&
                memcmp(open->before_boundary, of->facts.secret.boundary, U9I_HASH_SIZE) == 0;
    return ours ? U9I_FLAW_NONE : U9I_FLAW_FOREIGN;
}

u9_err u9i_index_file_open(u9i_index_file *out, u9i_segment *of, u9i_windows *windows, u9i_index_flaw *flaw)
{
    const u9i_facts *f = &of->facts;
    u9i_facts x = {.number = f->number};
    u9i_stamp now;
    *out = (u9i_index_file){.file = NULL};
    *flaw = U9I_FLAW_MISSING;
    u9i_index_name(f->name, x.name);
    int sys = u9i_dir_stat(of->dir, x.name, &x.stamp);
    if (sys != 0) return U9_ABSENT;
    if (u9i_dir_stat(of->dir, f->name, &now) != 0) return U9_ABSENT;
    x.size = x.stamp.size;
    *flaw = U9I_FLAW_OWNER;
    if (x.stamp.owner != now.owner || x.stamp.mode != now.mode) return U9_ABSENT;
    *flaw = U9I_FLAW_DAMAGED;
    u9_err err = probe_index(&x, of->dir, windows);
    if (err != U9_OK) return err == U9_NOMEM ? err : U9_ABSENT;
    *flaw = flaw_of(&x, of);
    if (*flaw != U9I_FLAW_NONE) return U9_ABSENT;
    out->file = u9i_segment_new(of->dir, &x);
    if (out->file == NULL) return U9_NOMEM;
    out->end = x.open.end;
    out->last = x.end.data_end;
    out->root = x.end.root;
    out->bound = x.end_frame.offset;
    index_file_check(out);
    return U9_OK;
}

static u9_clause root_in(const u9i_loaded *l, u9i_page_record *r)
{
    if (l->body.kind != U9I_BODY_PAGE) return U9_CLAUSE_PAGE_KIND;
    if (u9i_page_record_decode(l->body.bytes, l->body.size, r) != U9_OK) return U9_CLAUSE_PAGE_FORM;
    return r->has_root ? U9_CLAUSE_NONE : U9_CLAUSE_ROOT_NONE;
}

u9_err u9i_index_file_losses(u9i_index_file *f, u9i_windows *windows, u9i_losses *out, uint8_t content[U9I_HASH_SIZE])
{
    u9i_loaded l;
    u9i_page_record r;
    int sys;
    u9_err err = u9i_load(f->file, windows, (f->root >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN, f->bound, 0, &l, &sys);
    if (err == U9_CORRUPT) f->refused = U9_CLAUSE_PAGE_PLACE;
    if (err != U9_OK) return err;
    f->refused = root_in(&l, &r);
    err = f->refused == U9_CLAUSE_NONE ? u9i_losses_of(out, &r.root) : U9_CORRUPT;
    if (err == U9_CORRUPT && f->refused == U9_CLAUSE_NONE) f->refused = U9_CLAUSE_ROOT_LOST;
    if (err == U9_OK) memcpy(content, r.root.content, U9I_HASH_SIZE);
    u9i_unload(&l);
    return err;
}

void u9i_index_file_close(u9i_index_file *f)
{
    u9i_segment_unref(f->file);
    f->file = NULL;
}

/* Making */

/* A new file of that name, locked; what a crash left of it goes. */
static int take_u9x_name(u9i_index_making *m)
{
    u9i_file *old;
    int sys = u9i_file_open(m->dir, m->partial, U9I_OPEN_CREATE, &m->file);
    if (sys == -EEXIST) {
        sys = u9i_file_open(m->dir, m->partial, U9I_OPEN_WRITE, &old);
        if (sys != 0) return sys;
        sys = u9i_file_lock(old);
        if (sys == 0) (void)u9i_dir_remove(m->dir, m->partial);
        u9i_file_close(old);
        if (sys == 0) sys = u9i_file_open(m->dir, m->partial, U9I_OPEN_CREATE, &m->file);
    }
    if (sys != 0) m->file = NULL;
    return sys;
}

int u9i_index_making_begin(u9i_index_making *m)
{
    char name[U9I_INDEX_NAME];
    u9i_index_name(m->of->facts.name, name);
    snprintf(m->partial, sizeof m->partial, "%s.partial", name);
    int sys = take_u9x_name(m);
    if (sys == 0 && (sys = u9i_file_lock(m->file)) != 0) { /* somebody took it in between */
        u9i_file_close(m->file);
        m->file = NULL;
    }
    return sys;
}

void u9i_index_making_drop(u9i_index_making *m)
{
    if (m->file == NULL) return;
    (void)u9i_dir_remove(m->dir, m->partial);
    u9i_file_close(m->file);
    m->file = NULL;
}

/* 1: of a file whose number nobody knows. */
static uint64_t number_of(const u9i_index_making *m)
{
    return m->of->facts.number ? m->of->facts.number : 1;
}

static u9i_open_record opening_of(const u9i_index_making *m, const u9i_position *end, uint64_t now)
{
    const u9i_facts *f = &m->of->facts;
    uint64_t number = number_of(m);
    u9i_open_record open = {.segment = number, .time_us = now, .before_segment = number, .end = *end,
                            .tail = U9I_TAIL_ROLLED};
    memcpy(open.before_boundary, f->secret.boundary, sizeof open.before_boundary);
    open.kind = (u9i_span){.data = (const uint8_t *)f->kind, .size = strlen(f->kind)};
    return open;
}

/* The first block: header and u9open; `o` goes on behind it. */
static int write_open(const u9i_index_making *m, u9i_index_out *o, const u9i_position *end, uint8_t *block)
{
    uint64_t now = u9i_wall_us(m->dir->env);
    u9i_open_record open = opening_of(m, end, now);
    uint8_t *frame = block + U9I_DISK_HEADER_SIZE;
    u9i_out body = u9i_out_init(frame + U9I_FRAME_HEADER_SIZE, U9I_BLOCK / 2);
    memset(block, 0, U9I_BLOCK);
    u9i_disk_encode(&o->secret, block);
    u9i_open_record_encode(&body, &open);
    assert(!body.failed);
    u9i_trailer t = {.ordinal = end->ordinal, .offset = U9I_DISK_HEADER_SIZE, .time_us = now};
    memcpy(t.chain, end->chain, sizeof t.chain);
    u9i_frame_seal_in_time(&o->secret, &t, frame, body.size, o->at.chain);
    o->at.offset = U9I_DISK_HEADER_SIZE + u9i_frame_size(body.size);
    o->at.ordinal = end->ordinal;
    o->previous = U9I_DISK_HEADER_SIZE;
    o->time_us = t.time_us;
    u9i_op write = {.kind = U9I_OP_WRITE, .file = m->file, .off = 0, .buf = block, .n = U9I_BLOCK};
    int64_t sys = u9i_queue_do(m->queue, &write);
    return sys < 0 ? (int)sys : 0;
}

/* The last block: the u9end. */
static int write_end(u9i_index_making *m, const u9i_index_out *o, uint64_t last, uint8_t *block)
{
    static const uint8_t none[1] = {0x30};
    const u9i_facts *f = &m->of->facts;
    uint64_t at = (o->at.offset + U9I_BLOCK - 1) / U9I_BLOCK * U9I_BLOCK;
    u9i_end_record end = {.kind = U9I_END_SEALING, .segment = number_of(m), .frames = o->frames + 2,
                          .records = o->records, .data_end = last, .root = o->root,
                          .first_key = {none, sizeof none}, .last_key = {none, sizeof none}};
    end.key_kind = (u9i_span){.data = (const uint8_t *)f->kind, .size = strlen(f->kind)};
    memcpy(end.secret, o->secret.bytes, sizeof end.secret);
    memset(block, 0, U9I_BLOCK);
    u9i_out body = u9i_out_init(block + U9I_FRAME_HEADER_SIZE, U9I_BLOCK / 2);
    u9i_end_record_encode(&body, &end);
    assert(!body.failed);
    u9i_trailer t = {.ordinal = o->at.ordinal, .offset = at, .previous = o->previous, .durable = o->at.offset,
                     .time_us = o->time_us};
    uint8_t sha[U9I_HASH_SIZE];
    memcpy(t.chain, o->at.chain, sizeof t.chain);
    u9i_frame_seal_in_time(&o->secret, &t, block, body.size, sha);
    u9i_op write = {.kind = U9I_OP_WRITE, .file = m->file, .off = at, .buf = block, .n = U9I_BLOCK};
    int64_t sys = u9i_queue_do(m->queue, &write);
    m->size = at + U9I_BLOCK;
    return sys < 0 ? (int)sys : u9i_file_truncate(m->file, m->size);
}

/* The entries of one form, which are sorted. */
static int put_runs(u9i_index_out *o, u9i_index_form form, u9i_runs *runs, const u9i_key_entry *last)
{
    u9i_key_entry e;
    int more;
    if (runs->total == 0) return 0;
    int sys = u9i_index_out_begin(o, form, runs->total);
    if (sys != 0) return sys;
    while ((more = u9i_runs_next(runs, &e)) > 0) u9i_index_out_add(o, &e);
    return more < 0 ? more : u9i_index_out_end(o, last);
}

static int write_index(u9i_index_making *m, u9i_index_out *o, u9i_runs *frames, u9i_runs *records,
                       const u9i_key_entry *top)
{
    u9i_op sync = {.kind = U9I_OP_SYNC, .file = m->file};
    int sys = u9i_index_out_open(o);
    if (sys != 0) return sys;
    sys = put_runs(o, U9I_INDEX_FRAMES, frames, top);
    if (sys == 0) sys = put_runs(o, U9I_INDEX_RECORDS, records, NULL);
    if (sys == 0) sys = u9i_index_out_finish(o);
    int64_t synced = sys == 0 ? u9i_queue_do(m->queue, &sync) : sys;
    u9i_index_out_close(o);
    return synced < 0 ? (int)synced : 0;
}

/* It is whole: durable, as the segment's file is owned, and named. */
static int name_index(u9i_index_making *m)
{
    char name[U9I_INDEX_NAME];
    u9i_stamp like;
    u9i_op sync = {.kind = U9I_OP_SYNC, .file = m->file};
    u9i_index_name(m->of->facts.name, name);
    int sys = u9i_dir_stat(m->dir, m->of->facts.name, &like);
    if (sys == 0) sys = u9i_dir_dress(m->dir, m->partial, &like);
    int64_t synced = sys == 0 ? u9i_queue_do(m->queue, &sync) : sys;
    if (synced < 0) return (int)synced;
    sys = u9i_dir_rename(m->dir, m->partial, name);
    if (sys != 0) return sys;
    u9i_file_close(m->file);
    m->file = NULL;
    return u9i_dir_sync(m->dir);
}

int u9i_index_making_end(u9i_index_making *m, u9i_runs *frames, u9i_runs *records, const u9i_position *end,
                         uint64_t last, uint64_t count, const u9i_key_entry *top, uint64_t filter_room)
{
    u9i_index_out o = {.file = m->file, .data = *end, .records = count, .spec = m->spec, .lost = m->lost};
    memcpy(o.content, m->content, sizeof o.content);
    assert(m->block == NULL);
    m->block = (uint8_t *)u9i_pages(U9I_BLOCK);
    if (m->block == NULL) return -ENOMEM;
    o.unfiltered = u9i_filter_blocks(records->total) * U9I_FILTER_BLOCK > filter_room;
    int sys = u9i_secret_draw(m->dir->env, &o.secret) ? 0 : -EIO;
    if (sys == 0) sys = write_open(m, &o, end, m->block);
    if (sys == 0) sys = write_index(m, &o, frames, records, top);
    if (sys == 0) sys = write_end(m, &o, last, m->block);
    if (sys == 0) sys = name_index(m);
    return sys;
}
