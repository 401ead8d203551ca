/*
 * engine/log/row_looks.c: see row_looks.h. [C-5] [L-2] [L-6] [L-9]
 */
#include "engine/log/row_looks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static u9_err refuse_file(u9i_row_looks *l, u9_err err, const u9i_facts *f, int sys, const char *what)
{
    char path[4400];
    return l->failed = u9i_fault(l->fault, err, U9I_AT(.path = u9i_source_path(l->source, f->name, path, sizeof path), .sys = sys),
                                 "cannot %s the segment", what);
}

/* The next valid frame at or behind `p`. False: there is none, or (l->failed) the read failed, which says nothing. */
static bool seek_frame(u9i_row_looks *l, u9i_window *window, const u9i_facts *f, uint64_t p, u9i_frame *out)
{
    u9_err err = u9i_window_find(window, p, f->size, out);
    if (err == U9_IO) (void)refuse_file(l, err, f, window->sys, "read");
    return err == U9_OK;
}

/* Turns the window to a segment's file. */
static bool turn_to(u9i_row_looks *l, u9i_window *window, const u9i_facts *f, u9i_file **file)
{
    int sys = u9i_file_open(l->source->dir, f->name, U9I_OPEN_READ, file);
    l->vanished |= sys == -ENOENT;
    if (sys == 0) u9i_window_turn(window, *file, &f->secret);
    else (void)refuse_file(l, U9_IO, f, -sys, "open");
    return sys == 0;
}

static void turn_away(u9i_window *window, u9i_file *file)
{
    u9i_window_turn(window, NULL, NULL);
    u9i_file_close(file);
}

/* Called for each frame of a segment; false: it has seen enough. */
typedef bool frame_fn(u9i_row_looks *l, const u9i_frame *frame);

static void read_frames(u9i_row_looks *l, u9i_facts *s, frame_fn *each)
{
    u9i_file *file;
    u9i_frame f;
    if (s->barren || s->stray || !turn_to(l, l->window, s, &file)) return;
    bool more = true;
    for (uint64_t p = 0; more && seek_frame(l, l->window, s, p, &f); p = f.end) more = each(l, &f);
    turn_away(l->window, file);
}

/* True if a control record stands alone in the frame. */
static bool open_lone_control(const u9i_frame *f, uint8_t scratch[U9I_BLOCK], u9i_body *out)
{
    size_t need;
    return f->trailer.count == 0 && f->body_size > 0 && u9i_body_open(f, scratch, U9I_BLOCK, &need, out) == U9_OK;
}

/* Keeps the u9trim with the highest number. [C-5] */
static bool trim_of_frame(u9i_row_looks *l, const u9i_frame *frame)
{
    uint8_t scratch[U9I_BLOCK];
    u9i_body body;
    u9i_trim_record trim;
    if (open_lone_control(frame, scratch, &body) && body.kind == U9I_BODY_TRIM &&
        u9i_trim_record_decode(body.bytes, body.size, &trim) == U9_OK && trim.segment > l->trim.segment)
        l->trim = trim;
    return true;
}

/* The highest of those that stand where writers put them, in second frames. [C-5] */
void u9i_row_note_trims(u9i_row_looks *l)
{
    for (size_t i = 0; i < l->row->count; i++) {
        const u9i_facts *f = &l->row->facts[i];
        if (f->wrong != U9_R_NONE || !f->has_trim || f->trim.segment <= l->trim.segment) continue;
        l->trim = f->trim;
        l->trim_marked = false;
    }
}

/*
 * The mark tells it, too: [L-10] where what does stand in a segment is lost with that, the log is as trimmed as it was,
 * and its next session says so again.
 */
static bool note_marked_trim(u9i_row_looks *l, const u9i_facts *behind)
{
    const u9i_mark_record *mark = l->row->mark;
    if (mark == NULL || behind == NULL || mark->segment < behind->number || behind->open.end.ordinal > mark->first_ordinal)
        return false;
    l->trim = (u9i_trim_record){.segment = behind->number, .ordinal = behind->open.end.ordinal};
    l->trim_marked = true;
    return true;
}

/* Where one is gone. Others are looked for only if those say nothing of it, as all that is there is read for that. */
static bool is_trimmed(void *ctx, uint64_t gone, const u9i_facts *behind)
{
    u9i_row_looks *l = ctx;
    const u9i_dir *dir = l->source->dir;
    if (dir->tiered_end > 0 && gone >= dir->tiered_from) return false; /* [TR-6] */
    u9i_row_note_trims(l);
    if (l->trim.segment > gone || note_marked_trim(l, behind)) return true;
    if (!l->trims_read)
        for (size_t i = 0; i < l->row->count; i++)
            if (l->row->facts[i].wrong == U9_R_NONE) read_frames(l, &l->row->facts[i], trim_of_frame);
    l->trims_read = true;
    return l->trim.segment > gone;
}

/* The kind that a frame's first record speaks for; "" for one that goes over several frames. False: out of memory. */
static bool like_of_frame(const u9i_frame *frame, const char **like)
{
    size_t need = 0;
    u9i_body body = {.bytes = NULL};
    u9i_record r;
    u9_err err = u9i_body_open(frame, NULL, 0, &need, &body);
    uint8_t *scratch = err == U9_AGAIN ? malloc(need) : NULL;
    if (err == U9_AGAIN && scratch == NULL) return false;
    if (err == U9_AGAIN) err = u9i_body_open(frame, scratch, need, &need, &body);
    const uint8_t *next = body.bytes;
    if (err == U9_OK && body.kind == U9I_BODY_RECORDS && u9i_record_next(&next, &body.size, &r) == U9_OK) *like = u9i_record_kind(&r);
    free(scratch);
    return true;
}

static bool kind_of_frame(u9i_row_looks *l, const u9i_frame *frame)
{
    uint8_t scratch[U9I_BLOCK];
    u9i_body body;
    u9i_open_record open;
    u9i_end_record end;
    u9i_span kind = {0};
    if (frame->trailer.count > 0 && l->like[0] == 0 && !like_of_frame(frame, &l->like)) {
        l->failed = u9i_fault(l->fault, U9_NOMEM, U9I_AT(.path = l->source->path), "out of memory");
        return false;
    }
    if (!open_lone_control(frame, scratch, &body)) return true;
    if (body.kind == U9I_BODY_OPEN && u9i_open_record_decode(body.bytes, body.size, &open) == U9_OK) kind = open.kind;
    if (body.kind == U9I_BODY_END && u9i_end_record_decode(body.bytes, body.size, &end) == U9_OK) kind = end.key_kind;
    memcpy(l->kind, kind.data ? kind.data : (const uint8_t *)"", kind.size);
    l->kind[kind.size] = 0;
    return kind.size == 0;
}

/* The keys' kind: what any u9open or u9end of the row says; those in first and last blocks are known. [C-3] [C-4] */
void u9i_row_find_kind(u9i_row_looks *l)
{
    size_t i = l->row->count;
    l->kind[0] = 0;
    l->like = "";
    while (i > 0 && (!u9i_facts_on_row(&l->row->facts[i - 1]) || l->row->facts[i - 1].kind[0] == 0)) i--;
    if (i > 0) memcpy(l->kind, l->row->facts[i - 1].kind, sizeof l->kind);
    for (i = l->row->count; i > 0 && l->kind[0] == 0 && !l->failed; i--)
        if (u9i_facts_on_row(&l->row->facts[i - 1])) read_frames(l, &l->row->facts[i - 1], kind_of_frame);
}

/* A frame that lies across an end which another names: the file went on otherwise. *from: where it begins. [L-9] */
static void look_across(u9i_row_looks *l, const u9i_facts *f, u9i_position *from)
{
    u9i_frame g;
    for (uint64_t p = U9I_DISK_HEADER_SIZE, end = from->offset; p < end && seek_frame(l, l->window, f, p, &g); p = g.end)
        if (g.offset < end && g.end > end) *from = (u9i_position){.offset = g.offset, .ordinal = g.trailer.ordinal};
}

static bool look_promised(void *ctx, u9i_facts *f, u9i_position *from, uint64_t *promise, uint64_t *records, bool *unread)
{
    u9i_row_looks *l = ctx;
    u9i_file *file;
    u9i_frame g;
    *records = 0;
    *unread = false;
    if (f->barren) return true; /* no frame is valid */
    if (!turn_to(l, l->window, f, &file)) return false;
    uint64_t at = from->offset;
    for (uint64_t p = at; seek_frame(l, l->window, f, p, &g); p = g.end)
        if (g.trailer.durable > *promise) *promise = g.trailer.durable;
    if (*promise > at) look_across(l, f, from);
    for (uint64_t p = from->offset; p < *promise && seek_frame(l, l->window, f, p, &g) && g.end <= *promise; p = g.end)
        *records += g.trailer.count;
    *unread = u9i_window_unread(l->window, at, f->size);
    turn_away(l->window, file);
    return l->failed == U9_OK;
}

static bool reach_end(void *ctx, const u9i_facts *f, const u9i_position *named, u9i_reach *out)
{
    u9i_row_looks *l = ctx;
    u9i_file *file;
    u9i_frame g;
    *out = (u9i_reach){.meets = false};
    if (!turn_to(l, l->window, f, &file)) return false;
    for (uint64_t p = U9I_DISK_HEADER_SIZE; seek_frame(l, l->window, f, p, &g); p = out->end = g.end) {
        out->meets |= named && g.end == named->offset && memcmp(g.sha, named->chain, U9I_HASH_SIZE) == 0;
        out->frames++;
        out->records += g.trailer.count;
    }
    turn_away(l->window, file);
    return l->failed == U9_OK;
}

static bool look_for_seal(void *ctx, u9i_facts *f)
{
    u9i_row_looks *l = ctx;
    u9i_file *file;
    if (!turn_to(l, l->window, f, &file)) return false;
    u9_err err = u9i_probe_seal(f, l->window);
    if (err != U9_OK) (void)refuse_file(l, err, f, l->window->sys, "read");
    turn_away(l->window, file);
    return err == U9_OK;
}

/* (9) Goes through both files: the better one is read through the load's window. */
static void find_own(u9i_row_looks *l, const u9i_facts *better, u9i_window *second, const u9i_facts *lesser, uint64_t promise,
                     u9i_span_lost *own)
{
    u9i_frame f, g;
    uint64_t common = U9I_DISK_HEADER_SIZE, end = common;
    bool more = seek_frame(l, l->window, better, U9I_DISK_HEADER_SIZE, &f);
    *own = (u9i_span_lost){.end = 0};
    for (; seek_frame(l, second, lesser, end, &g); end = g.end) {
        while (more && f.end <= g.offset) more = seek_frame(l, l->window, better, f.end, &f);
        if (more && f.offset == g.offset && memcmp(f.sha, g.sha, U9I_HASH_SIZE) == 0) {
            common = g.end;
        } else if (g.trailer.count > 0 && g.end <= promise) {
            if (own->end == 0) own->begin = common;
            own->end = g.end;
            own->lost += !more || f.offset < g.end ? g.trailer.count : 0;
        }
    }
    if (own->end > common) own->end = lesser->size; /* nothing in common comes behind */
}

static bool part(void *ctx, const u9i_facts *better, const u9i_facts *lesser, uint64_t promise, u9i_span_lost *own)
{
    u9i_row_looks *l = ctx;
    u9i_window *second;
    u9i_file *files[2];
    if (u9i_windows_lend(&l->source->windows, &second) != U9_OK) {
        l->failed = u9i_fault(l->fault, U9_NOMEM, U9I_AT(.path = l->source->path), "out of memory");
        return false;
    }
    bool first = turn_to(l, l->window, better, &files[0]), both = first && turn_to(l, second, lesser, &files[1]);
    if (both) find_own(l, better, second, lesser, promise, own);
    if (first) turn_away(l->window, files[0]);
    if (both) turn_away(second, files[1]);
    u9i_windows_return(&l->source->windows, second);
    return l->failed == U9_OK;
}

u9i_row_eyes u9i_row_eyes_of(u9i_row_looks *l)
{
    return (u9i_row_eyes){l, is_trimmed, look_promised, reach_end, look_for_seal, part};
}
