/*
 * engine/check/check.c: the verdict on a whole log. to
 */
#include "engine/check/damage_sum.h"
#include "engine/check/pieces.h"
#include "engine/check/repair.h"

#include "engine/log/handle.h"

#include <string.h>

enum { PROGRESS_US = 50000 }; /* at most so often it is told */

/* A host built with an earlier version has shorter structs: what is not there is zero. */
static bool is_options_size(size_t size)
{
    return size == sizeof(u9_check_options) || size == offsetof(u9_check_options, io) ||
           size == offsetof(u9_check_options, on_output) || size == offsetof(u9_check_options, on_stretch);
}

static bool is_report_size(size_t size)
{
    return size == sizeof(u9_report) || size == offsetof(u9_report, trim_segment) ||
           size == offsetof(u9_report, keyless);
}

void u9i_checker_note(u9i_checker *c, const u9_damage *d)
{
    u9i_damage_sum(d, &c->report.verdict, &c->report.damages, &c->report.lost);
    u9i_witness_damage(&c->witness, d);
    if (c->options.on_damage) c->options.on_damage(c->options.ctx, d);
}

u9_err u9i_checker_tell(u9i_checker *c, uint64_t done, u9_fault *fault)
{
    uint64_t now = u9i_monotonic_us(c->source->dir->env);
    if (now - c->progress_us < PROGRESS_US) return U9_OK;
    c->progress_us = now;
    if (c->options.on_progress(c->options.ctx, done < c->bytes ? done : c->bytes, c->bytes) == 0)
        return U9_OK;
    return u9i_fault(fault, U9_STATE, U9I_AT(.path = c->source->path), "stopped as asked");
}

u9_err u9i_checker_progress(u9i_checker *c, u9_fault *fault)
{
    return c->options.on_progress ? u9i_checker_tell(c, u9i_reader_passed(&c->reader), fault) : U9_OK;
}

void u9i_checker_stretch(u9i_checker *c, size_t index, u9_stretch *s)
{
    char path[4400];
    s->path = u9i_source_path(c->source, u9i_catalog_facts(c->reader.catalog, index)->name, path, sizeof path);
    c->options.on_stretch(c->options.ctx, s);
}

void u9i_checker_run_ends(u9i_checker *c, u9i_intact *run)
{
    if (!run->open) return;
    run->open = false;
    run->it.first_key = run->first_key;
    run->it.last_key = run->last_key;
    u9i_checker_stretch(c, run->index, &run->it);
}

static void note_key(uint8_t out[U9I_KEY_MAX], size_t *size, const u9i_record *record)
{
    memcpy(out, record->key, record->key_size);
    *size = record->key_size;
}

static void note_records(u9_report *r, const u9i_reader *reader)
{
    if (r->records == 0) {
        r->first_ordinal = reader->frame->trailer.ordinal;
        note_key(r->first_key, &r->first_key_size, &reader->first);
    }
    note_key(r->last_key, &r->last_key_size, &reader->last);
    r->records += reader->count;
    r->keyless += reader->body.plain ? reader->keyless : 0;
    r->body_bytes += reader->large > 0 ? reader->large : reader->body.size;
}

/* True if it is of what seals a file: behind the data, whether a segment names their end or not. */
static bool is_behind_data(const u9i_body *b)
{
    u9i_end_record end;
    return b->kind == U9I_BODY_PAGE || b->kind == U9I_BODY_BITS ||
           (b->kind == U9I_BODY_END && u9i_end_record_decode(b->bytes, b->size, &end) == U9_OK &&
            end.kind == U9I_END_SEALING);
}

void u9i_report_frame(u9_report *r, const u9i_reader *reader)
{
    const u9i_trailer *t = &reader->frame->trailer;
    if (is_behind_data(&reader->body)) return;
    r->frames++;
    r->lz4_frames += reader->body.lz4;
    r->mask_frames += reader->body.masked;
    if (r->first_time_us == 0) r->first_time_us = t->time_us;
    r->last_time_us = t->time_us;
    if (reader->count > 0 || reader->body.kind == U9I_BODY_PART) r->stored_bytes += reader->frame->body_size;
    if (reader->count > 0) note_records(r, reader);
}

/* True if what comes behind the last segment is missing: the log does not end where that one does. [L-4] */
static bool misses_end(const u9i_catalog *c)
{
    return c->missing_count > 0 && c->missing[c->missing_count - 1].before == c->count;
}

static void note_end(u9_report *r, const u9i_reader *reader)
{
    r->next_ordinal = !reader->knows_at && misses_end(reader->catalog) ? U9_NOWHERE : reader->at.ordinal;
    r->confirmed = reader->closed && !misses_end(reader->catalog);
    r->closed = r->confirmed && !r->older;
    r->beyond = reader->beyond;
}

void u9i_checker_note_unsigned(u9i_checker *c, const u9i_facts *facts, uint64_t end, uint64_t lost)
{
    char path[4400];
    u9i_damage_site site = {.verdict = U9_V_CORRUPT, .reason = U9_R_UNSIGNED, .begin = U9I_DISK_HEADER_SIZE,
                            .end = end, .ordinal = U9_NOWHERE, .lost = lost};
    u9_damage d = u9i_source_damage(c->source, facts, &site, path, sizeof path);
    u9i_checker_note(c, &d);
}

/* Salvage: a segment whose boundary was found without the secret is told, once. */
static void note_unsigned(u9i_checker *c)
{
    const u9i_reader *r = &c->reader;
    if (!r->reading || c->unsigned_told > r->index || !u9i_reader_facts(r)->secret.lost) return;
    c->unsigned_told = r->index + 1;
    u9i_checker_note_unsigned(c, u9i_reader_facts(r), r->iterator.judge.bound, 0);
}

void u9i_checker_witness(u9i_witness *w, const u9i_reader *r, u9i_step step)
{
    if (step == U9I_STEP_FRAME || (step == U9I_STEP_DAMAGE && r->damage.reason == U9_R_BODY))
        u9i_witness_frame(w, u9i_reader_facts(r), r->frame);
    if (step != U9I_STEP_DAMAGE || r->damage.reason != U9_R_TRIMMED) return;
    bool ends = r->index == r->catalog->count;
    bool within = r->ranged && u9i_catalog_facts(r->catalog, r->range_first)->number == r->damage.segment;
    u9i_witness_trimmed(w, r->damage.segment, within ? r->range_begin : 0, ends ? U9_NOWHERE : u9i_reader_facts(r)->number);
}

/* The frame goes to the run that it continues, or begins one. */
static void note_intact(u9i_checker *c, const u9i_reader *r)
{
    if (!u9i_intact_goes_on(&c->run, r)) u9i_checker_run_ends(c, &c->run);
    u9i_intact_add(&c->run, r);
}

static void note_behind(u9i_checker *c, const u9i_reader *r)
{
    u9_stretch behind[2];
    u9i_checker_run_ends(c, &c->run);
    unsigned n = u9i_stretch_behind(r, behind);
    for (unsigned i = 0; i < n; i++) u9i_checker_stretch(c, r->index, &behind[i]);
}

/* One step of the reader, which is not at its end. */
static u9_err take_step(u9i_checker *c, u9i_step step, u9_fault *fault)
{
    u9i_reader *r = &c->reader;
    note_unsigned(c);
    if (step == U9I_STEP_DAMAGE) {
        u9i_checker_run_ends(c, &c->run);
        u9i_checker_note(c, &r->damage);
        return U9_OK;
    }
    if (step == U9I_STEP_LEAVE) { /* only salvage asks for it, and who wants stretches */
        if (c->saved) return u9i_checker_save_beyond(c, fault);
        note_behind(c, r);
        return U9_OK;
    }
    u9i_report_frame(&c->report, r);
    if (c->options.on_stretch && c->saved == NULL) note_intact(c, r);
    if (u9i_reader_facts(r)->secret.lost) c->report.unsigned_records += r->count;
    return c->saved ? u9i_checker_save(c, fault) : U9_OK;
}

/* What became of the line that the log was to meet. [M-8] `last`: the segment that was read last. */
static void tell_line(u9i_checker *c, const u9i_reader *reader, const u9i_segment *last)
{
    const u9i_catalog *catalog = reader->catalog;
    u9_report *r = &c->report;
    r->line = u9i_witness_state(&c->witness, catalog, c->source->dir->single[0] != 0);
    r->proven_from = r->line == U9_LINE_MET ? c->witness.proven : U9_NOWHERE;
    if (r->line != U9_LINE_UNMET && r->line != U9_LINE_FOREIGN) return;
    char path[4400];
    u9i_facts facts;
    u9i_damage_site site;
    size_t at = 0;
    while (at < catalog->count && catalog->segments[at] != last) at++;
    if (!u9i_witness_site(&c->witness, catalog, at, &reader->at, &facts, &site)) return;
    u9_damage d = u9i_source_damage(c->source, &facts, &site, path, sizeof path);
    u9i_checker_note(c, &d);
}

void u9i_checker_finish(u9i_checker *c, const u9i_reader *reader, const u9i_segment *last)
{
    note_end(&c->report, reader);
    tell_line(c, reader, last);
}

/* The steps of the reader, one after the other. */
static u9_err run_check(u9i_checker *c, u9_fault *fault)
{
    u9i_reader *r = &c->reader;
    u9i_segment *last = NULL;
    for (;;) {
        u9i_step step;
        u9_err err = u9i_reader_step(r, &step, fault);
        if (err == U9_OK && step == U9I_STEP_END) break;
        if (err == U9_OK && step == U9I_STEP_FRAME && !u9i_stretch_keep_keys(r, &c->keys)) continue;
        if (err == U9_OK && r->reading) last = r->catalog->segments[r->index];
        if (err == U9_OK) u9i_checker_witness(&c->witness, r, step);
        if (err == U9_OK) err = take_step(c, step, fault);
        if (err == U9_OK) err = u9i_checker_progress(c, fault);
        if (err != U9_OK) return err;
    }
    u9i_checker_finish(c, r, last);
    return c->saved ? u9i_checker_save_branches(c, fault) : U9_OK;
}

u9_mark_state u9i_mark_state_of(const u9i_catalog *catalog)
{
    const u9i_mark *m = &catalog->mark;
    bool all;
    if (m->counts < 0) return u9i_mark_bad_slots(m, &all) > 0 ? U9_MARK_DAMAGED : U9_MARK_NONE;
    return catalog->marks ? U9_MARK_COUNTS : m->linked ? U9_MARK_SHARED : U9_MARK_FOREIGN;
}

static void note_mark(u9_report *r, const u9i_catalog *catalog)
{
    r->mark = u9i_mark_state_of(catalog);
    r->older = catalog->older;
    if (r->mark != U9_MARK_COUNTS) return;
    const u9i_mark_record *mark = u9i_mark_promise(&catalog->mark);
    r->mark_segment = mark->segment;
    r->mark_offset = mark->end.offset;
    r->mark_ordinal = mark->end.ordinal;
    r->mark_time_us = mark->time_us;
}

/* A slot that is damaged is a note; both: what the mark said is not known. No record is lost by it. [M-3] */
static void tell_bad_slots(u9i_checker *c)
{
    const u9i_mark *m = &c->reader.catalog->mark;
    bool all;
    if (u9i_mark_bad_slots(m, &all) == 0) return;
    for (unsigned i = 0; i < U9I_MARK_SLOTS; i++) {
        if (m->slots[i].state != U9I_SLOT_BAD) continue;
        char path[4400];
        u9i_facts file = {.number = 0};
        memcpy(file.name, u9i_mark_name, strlen(u9i_mark_name) + 1);
        u9i_damage_site site = {.verdict = all ? U9_V_UNKNOWN : U9_V_TORN, .reason = U9_R_MARK,
                                .begin = i * U9I_BLOCK, .end = (i + 1) * U9I_BLOCK,
                                .ordinal = U9_NOWHERE};
        u9_damage d = u9i_source_damage(c->source, &file, &site, path, sizeof path);
        d.clause = m->slots[i].clause;
        u9i_checker_note(c, &d);
    }
}

static u9_err begin_check(u9i_checker *c, u9_fault *fault)
{
    u9_report *r = &c->report;
    r->proven_from = U9_NOWHERE;
    c->witness.line = c->options.mark;
    u9_err err = u9i_reader_open(&c->reader, c->source, fault);
    if (err != U9_OK) return err;
    c->reader.seals = true;
    c->reader.leaves = c->saved != NULL || c->options.on_stretch != NULL;
    c->reader.leans = c->saved == NULL; /* what is saved is read by calls: it is looked at long after it was hashed */
    r->bytes = c->bytes = u9i_reader_bytes(&c->reader);
    r->segments = c->reader.catalog->count;
    r->plain = u9i_catalog_plain(c->reader.catalog);
    memcpy(r->kind, c->reader.catalog->kind, strlen(c->reader.catalog->kind) + 1);
    r->trim_segment = c->reader.catalog->trim.segment;
    r->trim_ordinal = c->reader.catalog->trim.ordinal;
    r->begins_late = u9i_catalog_begins_late(c->reader.catalog) && c->source->dir->tiered_end == 0; /* else its place lacks them [TR-6] */
    note_mark(r, c->reader.catalog);
    tell_bad_slots(c);
    return U9_OK;
}

u9_err u9i_checker_init(u9i_checker *c, const char *path, const u9_check_options *options,
                        const u9_report *report, u9_fault *fault)
{
    const char *wrong = NULL;
    memset(c, 0, sizeof *c);
    c->report.first_ordinal = U9_NOWHERE;
    if (path == NULL || path[0] == 0) wrong = "the path is empty";
    else if (report == NULL) wrong = "report is NULL";
    else if (!is_report_size(report->size)) wrong = "report.size is not sizeof(u9_report)";
    else if (options && !is_options_size(options->size)) wrong = "options.size is not sizeof(u9_check_options)";
    if (wrong) return u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "%s", wrong);
    if (options) memcpy(&c->options, options, options->size);
    return U9_OK;
}

void u9i_checker_report(const u9i_checker *c, u9_report *out)
{
    size_t size = out->size;
    memcpy(out, &c->report, size);
    out->size = size;
}

u9_err u9i_checker_run(u9i_checker *c, u9i_source *source, u9_fault *fault)
{
    c->source = source;
    u9_err err = begin_check(c, fault);
    if (err != U9_OK) return err;
    bool pieces = c->saved == NULL && (c->threads > 1 || c->piece > 0);
    err = pieces ? u9i_pieces_run(c, fault) : run_check(c, fault);
    u9i_reader_release(&c->reader);
    return err;
}

u9_err u9i_check_in_pieces(const char *path, const u9_check_options *options, uint64_t piece, u9_report *report,
                           u9_fault *fault)
{
    u9i_checker c;
    u9_err err = u9i_checker_init(&c, path, options, report, fault);
    if (err != U9_OK) return err;
    c.threads = c.options.threads < U9I_CHECK_THREADS_MAX ? c.options.threads : U9I_CHECK_THREADS_MAX;
    c.piece = piece;
    /* A log that can be opened, or that at least has segments: else there is nothing to judge. */
    u9_options reading = {.size = sizeof reading, .mode = U9_READ, .io = c.options.io, .verify = U9_VERIFY_ALWAYS};
    u9_log *log;
    err = u9_log_open(path, &reading, &log, fault);
    if (err != U9_OK) return err;
    err = u9i_checker_run(&c, &log->source, fault);
    u9i_checker_report(&c, report);
    (void)u9_log_close(log, NULL);
    return err;
}

u9_err u9_check(const char *path, const u9_check_options *options, u9_report *report, u9_fault *fault)
{
    return u9i_check_in_pieces(path, options, 0, report, fault);
}
