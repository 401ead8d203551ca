/*
 * engine/check/salvage.c: saving what can be saved. [G-1] to [G-5]
 *
 * The row is saved while it is checked (check.c), and with it what is valid behind ends that nobody confirms; then
 * come the branches, each into a log of its own. No log gets its name before all of them are there (saved.h).
 */
#include "engine/check/checker.h"
#include "engine/read/part_walk.h"
#include "engine/segment/boundary.h"

#include <u9/key.h>

#include <string.h>

static void note_site(u9i_checker *c, const u9i_facts *facts, const u9i_damage_site *site)
{
    char path[4400];
    u9_damage d = u9i_source_damage(c->source, facts, site, path, sizeof path);
    u9i_checker_note(c, &d);
}

/* The bytes of a record in parts into an append, part by part. U9_CORRUPT: they are not there any more. */
static u9_err copy_parts(u9i_checker *c, u9i_part_walk *walk, u9_append *append, u9_fault *fault)
{
    u9i_span piece;
    u9_err err = U9_OK;
    for (uint64_t at = 0; at < walk->total && err == U9_OK; at += piece.size) {
        err = u9i_part_walk_at(walk, at, &piece);
        if (err == U9_CORRUPT) return err;
        if (err != U9_OK)
            return u9i_fault(fault, err, U9I_AT(.path = c->source->path, .sys = walk->window->sys),
                             "cannot read the segment again");
        err = u9_append_write(append, piece.data, piece.size);
        if (err != U9_OK) u9_log_fault(c->saved->out, fault);
        if (err == U9_OK) err = u9i_checker_progress(c, fault);
    }
    return err;
}

/*
 * A record in parts that is larger than a body, which the reader has just passed: a part at a time, by a window of its
 * own, as the other one is at the frame behind which reading goes on. [C-6] [G-1]
 */
static u9_err save_large(u9i_checker *c, const u9i_window *at, const u9i_facts *facts, const u9i_frame *f,
                         u9_fault *fault)
{
    u9i_reader *r = &c->reader;
    u9i_part_walk walk;
    u9i_window *window;
    u9_append *append;
    u9_err err = u9i_windows_lend(&c->source->windows, &window);
    if (err != U9_OK) return u9i_fault(fault, err, U9I_AT(.path = c->source->path), "out of memory");
    u9i_window_turn(window, at->file, &facts->secret);
    u9i_part_walk_init(&walk, window, r->scratch, r->parts.first, f->offset, r->large);
    err = u9i_saved_begin(c->saved, c->source, facts, f, &r->first, r->large, &append, fault);
    if (err == U9_OK) {
        err = copy_parts(c, &walk, append, fault);
        if (err == U9_OK) err = u9i_saved_end_record(c->saved, facts, append, fault);
        else u9_append_abort(append);
    }
    u9i_windows_return(&c->source->windows, window);
    if (err != U9_CORRUPT) return err;
    u9i_damage_site site = {.verdict = U9_V_CORRUPT, .reason = U9_R_PART, .begin = f->offset, .end = f->end,
                            .ordinal = f->trailer.ordinal, .lost = 1, .part = walk.next.number,
                            .part_at = walk.next.frame, .part_lacks = walk.total - walk.next.begin,
                            .part_total = walk.total};
    note_site(c, facts, &site); /* it was there a moment ago: the disk decays */
    return U9_OK;
}

/* The entry that a plain file's value becomes: a key that is none of the log's stays in the value. [E-4] */
static u9_entry entry_of(const char *kind, const u9i_record *r)
{
    bool fits = r->key_size > 0 && u9_key_check(kind, r->key, r->key_size, NULL) == U9_OK;
    if (fits) return (u9_entry){.key = {.data = r->key, .size = r->key_size}, .values = r->values, .size = r->values_size};
    return (u9_entry){.values = r->bytes, .size = r->size};
}

/* The values of a plain frame, each for itself: what no log takes is told as lost, and only that. */
static u9_err save_plain(u9i_checker *c, u9_fault *fault)
{
    const u9i_reader *r = &c->reader;
    const u9i_facts *f = u9i_reader_facts(r);
    const uint8_t *next = r->body.bytes;
    size_t left = r->body.size;
    u9_err err = U9_OK;
    u9i_record record;
    u9i_damage_site site = {.verdict = U9_V_UNKNOWN, .reason = U9_R_BODY, .begin = r->frame->offset,
                            .end = r->frame->end, .ordinal = r->frame->trailer.ordinal, .lost = 1};
    for (; err == U9_OK && u9i_value_next(&next, &left, &record) == U9_OK; site.ordinal++) {
        u9_entry entry = entry_of(c->saved->kind, &record);
        err = u9i_saved_put_entry(c->saved, c->source, f, r->frame, &entry, fault);
        if (err != U9_ARG && err != U9_LIMIT) continue;
        note_site(c, f, &site);
        err = U9_OK;
    }
    return err;
}

/*
 * Appends the body of the reader's frame, as one batch and byte for byte: what readers serve is saved, also where
 * no append would take it, as a record whose values are nested too deep, or are not well-formed inside. [B-2] [G-1]
 */
u9_err u9i_checker_save(u9i_checker *c, u9_fault *fault)
{
    const u9i_reader *r = &c->reader;
    const u9i_facts *f = u9i_reader_facts(r);
    if (r->large > 0) return save_large(c, r->iterator.window, f, r->frame, fault);
    if (r->count == 0) return U9_OK;
    if (f->plain) return save_plain(c, fault);
    return u9i_saved_put(c->saved, c->source, f, r->frame, &r->body, &r->first, fault);
}

/* A valid frame off the row with a body that is none. */
static void tell_body(u9i_checker *c, const u9i_facts *facts, const u9i_frame *f)
{
    u9i_damage_site site = {.verdict = U9_V_CORRUPT, .reason = U9_R_BODY, .begin = f->offset, .end = f->end,
                            .ordinal = f->trailer.ordinal, .lost = f->trailer.count};
    note_site(c, facts, &site);
}

/* One that was put together again. [Y-6] */
static void note_mended(u9i_checker *c, const u9i_facts *facts, const u9i_window *window, const u9i_frame *f)
{
    const u9i_rejoined *mended = u9i_mended_at(window->file, f->offset);
    if (mended == NULL) return;
    u9i_damage_site site = {.verdict = U9_V_CORRUPT, .reason = mended->why, .begin = f->offset, .end = f->end,
                            .ordinal = f->trailer.ordinal, .mended = true};
    note_site(c, facts, &site);
}

/* Opens the body of a frame that is not on the reader's way. U9_ABSENT: there are no records in it; U9_NOMEM. */
static u9_err open_records(u9i_reader *r, const u9i_frame *f, u9_fault *fault)
{
    size_t need;
    r->count = f->trailer.count;
    r->large = 0;
    u9_err err = u9i_body_open(f, r->scratch, U9I_BODY_MAX, &need, &r->body);
    bool part = err == U9_OK && r->body.kind == U9I_BODY_PART;
    if (part) err = u9i_reader_row_room(r, fault);
    if (part && err == U9_OK) err = u9i_reader_join(r, f);
    if (err != U9_OK || r->large > 0) return err;
    return r->body.kind == U9I_BODY_RECORDS ? u9i_reader_prove(r) : U9_ABSENT; /* before it is counted */
}

/* True if the same frame stands at its place in another file of this boundary, whose frames are saved. */
static bool is_twin_of(u9i_window *saved, const u9i_frame *f)
{
    u9i_frame other;
    return saved && u9i_window_at(saved, f->offset, f->end, &other) == U9_OK &&
           memcmp(other.sha, f->sha, U9I_HASH_SIZE) == 0;
}

/* Frames of a segment that are to be saved. */
typedef struct stretch {
    u9i_window *window; /* on its file */
    const u9i_facts *facts;
    uint64_t from, to;
    bool beyond;       /* they are beyond an unconfirmed end */
    u9i_window *saved; /* NULL, or on a copy of the file that is saved */
} stretch;

/* Passes the frames of [from, to) for the row that goes on behind them. */
static u9_err follow_row_before(u9i_checker *c, const stretch *s, uint64_t from, uint64_t to)
{
    u9i_frame f;
    u9_fault unused;
    u9_err err = U9_OK;
    u9i_part_row_reset(&c->reader.parts);
    for (uint64_t p = from; p < to && (err = u9i_window_find(s->window, p, to, &f)) == U9_OK; p = f.end)
        if (f.trailer.count <= 1 && open_records(&c->reader, &f, &unused) == U9_NOMEM) return U9_NOMEM;
    return err == U9_END ? U9_OK : err;
}

/*
 * A stretch that does not begin with its file: if frame f holds its first part, and that is not its row's first, the
 * row is followed from where it began. U9_IO, U9_NOMEM. [C-6]
 */
static u9_err know_row_before(u9i_checker *c, const stretch *s, u9i_frame *f, bool *known)
{
    u9i_part_record part;
    uint64_t first, at = f->offset;
    if (f->body_size + U9I_TRAILER_SIZE < U9I_PART_FRONT || u9i_part_record_peek(f->body, &part) != U9_OK) return U9_OK;
    *known = true;
    u9_err err = u9i_part_walk_first(s->window, f, &part, &first);
    if (err == U9_CORRUPT || first == at) return U9_OK;
    if (err == U9_OK) err = follow_row_before(c, s, first, at);
    return err == U9_OK ? u9i_window_at(s->window, at, s->to, f) : err; /* the window has moved */
}

static u9_err save_frames(u9i_checker *c, const stretch *s, u9_fault *fault)
{
    u9i_frame f;
    u9i_reader *r = &c->reader;
    const u9i_facts *facts = s->facts;
    u9_err err;
    bool known = s->from <= U9I_DISK_HEADER_SIZE;
    for (uint64_t p = s->from; (err = u9i_window_find(s->window, p, s->to, &f)) == U9_OK; p = f.end) {
        if (is_twin_of(s->saved, &f)) continue;
        err = known ? U9_OK : know_row_before(c, s, &f, &known);
        if (err == U9_OK) err = open_records(r, &f, fault);
        if (err == U9_NOMEM) return err;
        if (err == U9_IO) break;
        if (err == U9_ABSENT || (err == U9_OK && r->count == 0)) continue;
        if (err != U9_OK && !s->beyond) tell_body(c, facts, &f); /* what is beyond the end was never in the log */
        if (err != U9_OK) continue;
        err = r->large > 0 ? save_large(c, s->window, facts, &f, fault)
                           : u9i_saved_put(c->saved, c->source, facts, &f, &r->body, &r->first, fault);
        if (err != U9_OK) return err;
        if (facts->secret.lost) c->report.unsigned_records += r->count;
        note_mended(c, facts, s->window, &f);
    }
    if (err == U9_END) return U9_OK;
    char path[4400];
    return u9i_fault(fault, err, U9I_AT_OFFSET(s->window->sys_at, .segment = facts->number, .rule = "R-11",
                     .path = u9i_source_path(c->source, facts->name, path, sizeof path), .sys = s->window->sys),
                     "cannot read the segment");
}

u9_err u9i_checker_save_beyond(u9i_checker *c, u9_fault *fault)
{
    const u9i_facts *f = u9i_reader_facts(&c->reader);
    const u9i_iterator *it = &c->reader.iterator;
    if (f->named || f->plain) return U9_OK; /* a later session made void what is there; a plain file has no such end */
    stretch s = {.window = it->window, .facts = f, .from = it->judge.end.offset, .to = it->judge.size, .beyond = true};
    return save_frames(c, &s, fault);
}

/* Turns to a segment, or to what it is under another boundary: for the file and the window only. */
static u9_err open_segment(u9i_checker *c, size_t index, u9i_iterator *it, u9_fault *fault)
{
    u9i_part_row_reset(&c->reader.parts);
    return u9i_source_iterate(c->source, c->reader.catalog->segments[index], NULL, false, it, fault);
}

/* Each boundary of a segment in which none is believed: its frames go into a log of their own. [G-3] */
static u9_err save_apart(u9i_checker *c, size_t index, u9_fault *fault)
{
    u9i_facts f = *u9i_catalog_facts(c->reader.catalog, index);
    u9i_iterator it;
    u9i_boundaries all;
    if (f.boundaries == 0 || f.secret.lost) return U9_OK;
    u9_err err = open_segment(c, index, &it, fault);
    if (err != U9_OK) return err;
    u9i_checker_note_unsigned(c, &f, it.judge.size, U9_NOWHERE);
    err = u9i_boundary_search(it.window, it.judge.size, &all);
    if (err != U9_OK) (void)u9i_source_fault(c->source, &it, err, fault);
    c->report.gave_up |= all.given_up;
    f.secret.lost = true;
    for (unsigned i = 0; i < all.count && err == U9_OK; i++) {
        memcpy(f.secret.boundary, all.found[i], U9I_HASH_SIZE);
        u9i_window_turn(it.window, it.window->file, &f.secret);
        u9i_part_row_reset(&c->reader.parts);
        stretch s = {.window = it.window, .facts = &f, .from = U9I_DISK_HEADER_SIZE, .to = it.judge.size};
        err = save_frames(c, &s, fault);
        if (err == U9_OK) err = u9i_saved_end(c->saved, fault);
    }
    u9i_iterator_close(&it);
    return err;
}

/* The segment that a branch leaves, if this one is a copy of it: what they share is saved once. */
static u9_err open_twin(u9i_checker *c, const u9i_branch *b, const u9i_facts *f, u9i_iterator *it, u9_fault *fault)
{
    const u9i_catalog *catalog = c->reader.catalog;
    it->segment = NULL;
    if (b->leaves == U9I_NOT_THERE) return U9_OK;
    const u9i_facts *left = u9i_catalog_facts(catalog, b->leaves);
    if (left == f || memcmp(left->secret.boundary, f->secret.boundary, U9I_HASH_SIZE) != 0) return U9_OK;
    return open_segment(c, b->leaves, it, fault);
}

static u9_err save_piece(u9i_checker *c, const u9i_branch *b, const u9i_piece *piece, u9_fault *fault)
{
    u9i_iterator it, twin;
    u9_err err = open_segment(c, piece->segment, &it, fault);
    if (err != U9_OK) return err;
    const u9i_facts *f = &it.segment->facts;
    stretch s = {.window = it.window, .facts = f, .from = piece->begin,
                 .to = piece->end < it.judge.size ? piece->end : it.judge.size};
    err = open_twin(c, b, f, &twin, fault);
    if (err == U9_OK) {
        s.saved = twin.segment ? twin.window : NULL;
        if (f->secret.lost) u9i_checker_note_unsigned(c, f, s.to, 0);
        err = save_frames(c, &s, fault);
    }
    u9i_iterator_close(&twin);
    u9i_iterator_close(&it);
    return err;
}

u9_err u9i_checker_save_branches(u9i_checker *c, u9_fault *fault)
{
    const u9i_catalog *catalog = c->reader.catalog;
    u9_err err = u9i_saved_end(c->saved, fault);
    for (size_t i = 0; i < catalog->branch_count && err == U9_OK; i++) {
        const u9i_branch *b = &catalog->branches[i];
        for (size_t k = 0; k < b->count && err == U9_OK; k++)
            err = save_piece(c, b, &catalog->pieces[b->first + k], fault);
        if (err == U9_OK) err = u9i_saved_end(c->saved, fault);
    }
    for (size_t i = 0; i < catalog->count && err == U9_OK; i++) err = save_apart(c, i, fault);
    return err;
}

/* Tells of all that was written. */
static void tell_outputs(u9i_checker *c)
{
    u9i_saved *s = c->saved;
    c->report.outputs = s->count;
    for (size_t i = 0; i < s->count && c->options.on_output; i++) {
        u9i_saved_log *l = &s->logs[i];
        l->told.path = l->path;
        l->told.from = l->from;
        c->options.on_output(c->options.ctx, &l->told);
    }
}

/*
 * The key kind of the log that a plain seed file becomes: the one that all its keys are of, else muid, whose fresh
 * keys any value can have. [E-4]
 */
static u9_err choose_kind(u9_log *source, char kind[U9I_KIND_MAX + 1], u9_fault *fault)
{
    u9i_reader r;
    u9i_step step = U9I_STEP_DAMAGE;
    u9i_record record;
    u9_err err = u9i_reader_open(&r, &source->source, fault);
    if (err != U9_OK) return err;
    bool plain = u9i_catalog_plain(r.catalog), fits = kind[0] != 0 && strcmp(kind, "muid") != 0;
    while (plain && fits && step != U9I_STEP_END && (err = u9i_reader_step(&r, &step, fault)) == U9_OK) {
        const uint8_t *next = r.body.bytes;
        size_t left = step == U9I_STEP_FRAME ? r.body.size : 0;
        while (fits && left > 0 && u9i_body_next(&r.body, &next, &left, &record) == U9_OK)
            fits = record.key_size > 0 && u9_key_check(kind, record.key, record.key_size, NULL) == U9_OK;
    }
    if (plain && !fits) memcpy(kind, "muid", sizeof "muid");
    u9i_reader_release(&r);
    return err;
}

static u9_err salvage_into(u9i_checker *c, u9_log *source, u9i_saved *saved, u9_fault *fault)
{
    c->saved = saved;
    u9_err err = choose_kind(source, saved->kind, fault);
    if (err == U9_OK) err = u9i_checker_run(c, &source->source, fault);
    if (err == U9_OK) err = u9i_saved_keep(saved, fault);
    if (err == U9_OK) tell_outputs(c);
    return err;
}

u9_err u9_salvage(const char *path, const char *out_path, const u9_check_options *options,
                  u9_report *report, uint64_t *salvaged, u9_fault *fault)
{
    u9i_checker c;
    u9_err err = u9i_checker_init(&c, path, options, report, fault);
    if (err != U9_OK) return err;
    u9_options reading = {.size = sizeof reading, .mode = U9_READ, .io = c.options.io, .verify = U9_VERIFY_ALWAYS};
    u9_log *source;
    err = u9i_log_open_mending(path, &reading, &source, fault);
    if (err != U9_OK) return err;
    u9i_saved saved;
    err = u9i_saved_init(&saved, source, out_path, c.options.io, fault);
    if (err == U9_OK) {
        err = salvage_into(&c, source, &saved, fault);
        if (salvaged) *salvaged = saved.records;
        u9i_checker_report(&c, report);
    }
    u9i_saved_release(&saved);
    (void)u9_log_close(source, NULL);
    return err;
}
