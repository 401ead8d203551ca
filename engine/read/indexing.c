/*
 * engine/read/indexing.c: the indexes of a whole log: what there is, making what is missing, removing it. [K-1] [K-4]
 */
#include "engine/read/beside.h"
#include "engine/read/cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRESS_US = 50000, MEMORY = 256 << 20 };

typedef enum indexing_task { TASK_LOOK, TASK_PLAN, TASK_BUILD, TASK_CHECK, TASK_DROP } indexing_task;

typedef struct indexing {
    indexing_task task;
    u9_index_options options;
    u9_index_report report;
    u9_log *log;
    u9i_catalog *catalog;
    u9_index_info *infos; /* of each segment of the catalog */
    uint64_t done, all;   /* bytes of the segments to be read */
    uint64_t told_us;     /* monotonic time, when progress was told */
} indexing;

const char *u9_index_why_text(u9_index_why why)
{
    switch (why) {
    case U9_INDEX_FINE: return "it is fine";
    case U9_INDEX_MISSING: return "none was made";
    case U9_INDEX_DAMAGED: return "it is damaged";
    case U9_INDEX_FOREIGN: return "it is of another segment";
    case U9_INDEX_STALE: return "it is stale: the segment went on";
    case U9_INDEX_OWNER: return "it has another owner or other permissions than the segment";
    case U9_INDEX_EMPTY: return "the segment holds no records";
    case U9_INDEX_WRITING: return "the segment is being written";
    case U9_INDEX_LOSSY: return "records of the segment were lost to damage";
    case U9_INDEX_PLAIN: return "it is a plain seed file, or its secret is lost";
    }
    return "it is not known why";
}

static u9_index_why why_of(u9i_index_flaw flaw)
{
    static const u9_index_why whys[] = {[U9I_FLAW_NONE] = U9_INDEX_FINE, [U9I_FLAW_MISSING] = U9_INDEX_MISSING,
                                        [U9I_FLAW_OWNER] = U9_INDEX_OWNER, [U9I_FLAW_DAMAGED] = U9_INDEX_DAMAGED,
                                        [U9I_FLAW_FOREIGN] = U9_INDEX_FOREIGN, [U9I_FLAW_STALE] = U9_INDEX_STALE};
    return whys[flaw];
}

static bool is_unfinished(const u9i_source *source, const u9i_facts *f)
{
    return !f->named && !f->has_end && u9i_dir_writer_active(source->dir, f->name);
}

static void describe_index(u9_index_info *info, u9_index_place place, const u9i_index *x)
{
    const u9i_facts *file = &x->source->facts;
    info->place = place;
    info->index_bytes = place == U9_INDEX_INSIDE ? file->size - U9I_BLOCK - file->end.data_end : file->size;
    info->records = x->count;
    info->entries = x->frames.entries + x->records.entries;
    info->filtered = x->records.blocks > 0;
}

static u9_err pass_entry(void *ctx, const u9i_key_entry *entry)
{
    (void)ctx;
    (void)entry;
    return U9_OK;
}

/* Where indexes are made, one beside a segment is one only with all of its pages. */
static u9_err pass_pages(const indexing *x, u9i_index *index)
{
    if (x->task != TASK_BUILD) return U9_OK;
    u9_err err = u9i_index_each(index, U9I_INDEX_FRAMES, pass_entry, NULL);
    return err == U9_OK ? u9i_index_each(index, U9I_INDEX_RECORDS, pass_entry, NULL) : err;
}

/* What there is of segment i. */
static u9_err look_at(indexing *x, size_t i)
{
    u9i_segment *s = x->catalog->segments[i];
    u9_index_info *info = &x->infos[i];
    u9i_budget budget = {.limit = 0};
    u9i_index index = {.refused = U9_CLAUSE_NONE};
    u9i_index_flaw flaw;
    *info = (u9_index_info){.segment = s->facts.number, .bytes = s->facts.size, .why = U9_INDEX_PLAIN};
    if (s->facts.plain || s->facts.secret.lost) return U9_OK;
    u9_err err = u9i_inside_open(x->log, s, &budget, &index);
    if (err == U9_OK) {
        describe_index(info, U9_INDEX_INSIDE, &index);
        u9i_index_close(&index);
        info->why = U9_INDEX_FINE;
        return U9_OK;
    }
    if (err == U9_NOMEM) return err;
    uint64_t lost_before;
    u9_clause inside = index.refused, beside;
    index.refused = U9_CLAUSE_NONE;
    err = u9i_beside_open(x->log, s, &budget, &index, &lost_before, &flaw);
    beside = index.refused;
    info->why = err != U9_OK ? why_of(flaw) : lost_before > 0 ? U9_INDEX_LOSSY : U9_INDEX_FINE;
    if (err == U9_OK) {
        err = pass_pages(x, &index);
        if (err == U9_OK) describe_index(info, U9_INDEX_BESIDE, &index);
        else info->why = U9_INDEX_DAMAGED;
        beside = index.refused;
        u9i_index_close(&index);
    } else if (is_unfinished(&x->log->source, &s->facts)) {
        info->why = U9_INDEX_WRITING;
    } else if (s->facts.barren) {
        info->why = U9_INDEX_LOSSY; /* no frame is in it: none can be made */
    }
    info->clause = inside != U9_CLAUSE_NONE ? inside : beside;
    return err == U9_NOMEM ? err : U9_OK;
}

static bool is_to_be_made(const u9_index_info *info)
{
    return info->place == U9_INDEX_NONE && info->why != U9_INDEX_PLAIN && info->why != U9_INDEX_WRITING;
}

/* Progress within a segment that is read. */
static int tell_done(void *ctx, uint64_t done)
{
    indexing *x = (indexing *)ctx;
    if (x->options.on_progress == NULL) return 1;
    uint64_t now = u9i_monotonic_us(x->log->source.dir->env);
    if (now - x->told_us < PROGRESS_US) return 1;
    x->told_us = now;
    done = x->done + done;
    return x->options.on_progress(x->options.ctx, done < x->all ? done : x->all, x->all) == 0;
}

static size_t memory_of(const indexing *x)
{
    return x->options.memory ? (size_t)x->options.memory : MEMORY;
}

/* It was trimmed meanwhile. */
static bool is_removed(const indexing *x, size_t i)
{
    u9i_stamp stamp;
    return u9i_dir_stat(x->log->source.dir, x->catalog->segments[i]->facts.name, &stamp) == -ENOENT;
}

static u9_err make_at(indexing *x, size_t i, u9_fault *fault)
{
    u9_index_info *info = &x->infos[i];
    u9i_beside b = {.log = x->log, .catalog = x->catalog, .at = i, .each = tell_done, .ctx = x, .memory = memory_of(x)};
    u9_err err = u9i_beside_make(&b, fault);
    x->done += info->bytes;
    if (err == U9_ABSENT || (err == U9_IO && is_removed(x, i))) {
        info->why = b.lossy ? U9_INDEX_LOSSY : U9_INDEX_EMPTY;
        return U9_OK;
    }
    if (err != U9_OK) return err;
    err = look_at(x, i); /* as a reader sees it */
    if (err != U9_OK) return u9i_fault(fault, err, U9I_AT(.path = x->log->source.path), "out of memory");
    if (info->place == U9_INDEX_BESIDE) info->place = U9_INDEX_MADE;
    return err;
}

static u9_err prove_at(indexing *x, size_t i, u9_fault *fault)
{
    u9i_segment *s = x->catalog->segments[i];
    u9_index_info *info = &x->infos[i];
    u9i_budget budget = {.limit = memory_of(x)};
    u9i_index index;
    u9i_index_flaw flaw;
    uint64_t lost_before;
    u9i_beside b = {.log = x->log, .catalog = x->catalog, .at = i, .each = tell_done, .ctx = x, .memory = memory_of(x)};
    u9_err err = info->place == U9_INDEX_INSIDE ? u9i_inside_open(x->log, s, &budget, &index)
                                                : u9i_beside_open(x->log, s, &budget, &index, &lost_before, &flaw);
    if (err == U9_NOMEM) return u9i_fault(fault, err, U9I_AT(.path = x->log->source.path), "out of memory");
    bool there = err == U9_OK;
    if (there) {
        err = u9i_beside_prove(&b, &index, &info->wrong, fault);
        if (index.refused != U9_CLAUSE_NONE) info->clause = index.refused;
        u9i_index_close(&index);
        x->done += info->bytes;
        there = err != U9_IO || !is_removed(x, i);
    }
    if (there) return err;
    *info = (u9_index_info){.segment = info->segment, .bytes = info->bytes, .why = U9_INDEX_MISSING}; /* it went just now */
    return U9_OK;
}

/* A segment in which no record is found has nothing to be indexed: why that is. */
static u9_err tell_why_none(indexing *x, size_t i, u9_fault *fault)
{
    u9_cursor *c;
    u9_record r;
    u9_index_info *info = &x->infos[i];
    u9_err err = u9_cursor_open(x->log, NULL, &c, fault);
    if (err != U9_OK) return err;
    if (i < c->reader.catalog->count && c->reader.catalog->segments[i] == x->catalog->segments[i]) {
        u9i_cursor_segments(c, u9i_beside_run(x->catalog, i), i);
        do err = u9i_cursor_scan(c, &r);
        while (err == U9_OK && r.segment != info->segment);
        if (err == U9_END) info->why = c->lossy ? U9_INDEX_LOSSY : U9_INDEX_EMPTY;
    }
    return u9i_cursor_end(c, err, fault);
}

static u9_err check_at(indexing *x, size_t i, u9_fault *fault)
{
    const u9_index_info *info = &x->infos[i];
    if (info->place != U9_INDEX_NONE) return prove_at(x, i, fault);
    return info->why == U9_INDEX_MISSING ? tell_why_none(x, i, fault) : U9_OK;
}

static u9_err drop_name(indexing *x, const char *name, u9_fault *fault)
{
    int sys = u9i_dir_remove(x->log->source.dir, name);
    if (sys == 0) x->report.dropped++;
    if (sys == 0 || sys == -ENOENT) return U9_OK;
    return u9i_fault(fault, U9_IO, U9I_AT(.path = x->log->source.path, .sys = -sys, .rule = "K-4"), "cannot remove %s", name);
}

static u9_err drop_at(indexing *x, size_t i, u9_fault *fault)
{
    char name[U9I_INDEX_NAME];
    u9_index_info *info = &x->infos[i];
    u9i_index_name(x->catalog->segments[i]->facts.name, name);
    u9_err err = drop_name(x, name, fault);
    if (err == U9_OK && info->place == U9_INDEX_BESIDE) *info = (u9_index_info){.segment = info->segment, .bytes = info->bytes, .why = U9_INDEX_MISSING};
    return err;
}

static u9_err do_task(indexing *x, size_t i, u9_fault *fault)
{
    if (x->task == TASK_CHECK) return check_at(x, i, fault);
    if (x->task == TASK_DROP) return drop_at(x, i, fault);
    if (x->task == TASK_LOOK || !is_to_be_made(&x->infos[i])) return U9_OK;
    return x->task == TASK_PLAN ? tell_why_none(x, i, fault) : make_at(x, i, fault);
}

static void tell_segment(indexing *x, size_t i)
{
    char path[4400];
    u9_index_info *info = &x->infos[i];
    u9_index_report *r = &x->report;
    r->segments++;
    r->inside += info->place == U9_INDEX_INSIDE;
    r->beside += info->place == U9_INDEX_BESIDE;
    r->made += info->place == U9_INDEX_MADE;
    r->none += info->place == U9_INDEX_NONE;
    r->unused += info->why >= U9_INDEX_DAMAGED && info->why <= U9_INDEX_OWNER;
    r->entries += info->entries;
    r->wrong += info->wrong;
    info->path = u9i_source_path(&x->log->source, u9i_catalog_facts(x->catalog, i)->name, path, sizeof path);
    if (x->options.on_segment) x->options.on_segment(x->options.ctx, info);
}

static bool is_indexed(const indexing *x, size_t i)
{
    return u9i_facts_on_row(u9i_catalog_facts(x->catalog, i));
}

static u9_err run_task(indexing *x, u9_fault *fault)
{
    u9_err err = U9_OK;
    size_t count = x->catalog->count;
    for (size_t i = 0; i < count && err == U9_OK; i++) {
        if (!is_indexed(x, i)) continue;
        err = look_at(x, i);
        if (err != U9_OK) (void)u9i_fault(fault, err, U9I_AT(.path = x->log->source.path), "out of memory");
        bool read = x->task == TASK_CHECK ? x->infos[i].place != U9_INDEX_NONE : is_to_be_made(&x->infos[i]);
        if (read) x->all += x->infos[i].bytes;
    }
    for (size_t i = 0; i < count && err == U9_OK; i++) {
        if (!is_indexed(x, i)) continue;
        err = do_task(x, i, fault);
        if (err == U9_OK) tell_segment(x, i);
    }
    return err;
}

static u9_err run_on_log(indexing *x, u9_fault *fault)
{
    u9_err err = u9i_source_catalog(&x->log->source, &x->catalog, fault);
    if (err != U9_OK) return err;
    x->infos = (u9_index_info *)calloc(x->catalog->count + 1, sizeof *x->infos);
    if (x->infos) err = run_task(x, fault);
    else err = u9i_fault(fault, U9_NOMEM, U9I_AT(.path = x->log->source.path), "out of memory");
    free(x->infos);
    u9i_catalog_unref(x->catalog);
    return err;
}

static u9_err start_task(indexing_task task, const char *path, const u9_index_options *options, u9_index_report *report,
                         u9_fault *fault)
{
    indexing x = {.task = task, .options = {.size = sizeof x.options}, .report = {.size = sizeof x.report}};
    const char *wrong = NULL;
    if (path == NULL || path[0] == 0) wrong = "the path is empty";
    else if (report == NULL || report->size != sizeof *report) wrong = "report is NULL, or its size is not sizeof(u9_index_report)";
    else if (options && options->size != sizeof *options) wrong = "options.size is not sizeof(u9_index_options)";
    if (wrong) return u9i_fault(fault, U9_ARG, U9I_AT(.path = path), "%s", wrong);
    if (options) x.options = *options;
    u9_options reading = {.size = sizeof reading, .mode = U9_READ, .io = x.options.io};
    u9_err err = u9_log_open(path, &reading, &x.log, fault);
    if (err != U9_OK) return err;
    err = run_on_log(&x, fault);
    *report = x.report;
    (void)u9_log_close(x.log, NULL);
    return err;
}

u9_err u9_indexes_look(const char *path, const u9_index_options *options, u9_index_report *report, u9_fault *fault)
{
    return start_task(TASK_LOOK, path, options, report, fault);
}

u9_err u9i_indexes_plan(const char *path, const u9_index_options *options, u9_index_report *report, u9_fault *fault)
{
    return start_task(TASK_PLAN, path, options, report, fault);
}

u9_err u9_indexes_build(const char *path, const u9_index_options *options, u9_index_report *report, u9_fault *fault)
{
    return start_task(TASK_BUILD, path, options, report, fault);
}

u9_err u9_indexes_drop(const char *path, const u9_index_options *options, u9_index_report *report, u9_fault *fault)
{
    return start_task(TASK_DROP, path, options, report, fault);
}

u9_err u9_indexes_check(const char *path, const u9_index_options *options, u9_index_report *report, u9_fault *fault)
{
    return start_task(TASK_CHECK, path, options, report, fault);
}
