/*
 * engine/log/resume.c: see resume.h. [R-4] [R-11] [S-5] [W-3]
 */
#include "engine/log/resume.h"

#include "engine/log/succession.h"
#include "engine/segment/promised.h"
#include "engine/segment/prover.h"

#include <errno.h>
#include <string.h>

/* What is sought, and who is told of damage. */
typedef struct search {
    u9i_source *source;
    u9i_catalog *catalog;
    u9_damage_fn *on_damage;
    void *ctx;
    u9_fault *fault;
    char *relied; /* fills the name of the segment that the end is in; "" if there is none */
} search;

/* What is known of the segment of this name; NULL: nothing. */
static const u9i_facts *find_facts(const u9i_catalog *c, const char *name)
{
    for (size_t i = 0; c && i < c->count; i++)
        if (strcmp(u9i_catalog_facts(c, i)->name, name) == 0) return u9i_catalog_facts(c, i);
    return NULL;
}

/*
 * Waits until nothing is under way on a segment, syncs it and drops what is cached of it behind its last promise, which
 * need not be read again: what is read next is what a power cut would leave. What was judged of it before is
 * dropped as well. The log is looked at before: by the file's lock this session would pass for another at work.
 */
static u9_err settle(u9i_source *source, const char *name, u9_fault *fault)
{
    u9i_file *file;
    u9i_catalog *c = NULL;
    if (u9i_source_catalog(source, &c, NULL) != U9_OK) c = NULL;
    int sys = u9i_file_open(source->dir, name, U9I_OPEN_WRITE, &file);
    if (sys != 0) {
        u9i_catalog_unref(c);
        return u9i_fault(fault, U9_IO, U9I_AT(.path = source->path, .sys = -sys),
                         "cannot open segment %s for writing", name);
    }
    sys = u9i_wait_landed(file); /* nothing comes after: the directory is locked [W-3] */
    if (sys == 0) sys = u9i_make_sure(find_facts(c, name), file, &source->windows);
    u9i_file_close(file);
    u9i_catalog_unref(c);
    if (sys == 0) return U9_OK;
    if (sys == -EWOULDBLOCK)
        return u9i_fault(fault, U9_LOCKED, U9I_AT(.path = source->path, .rule = "W-1"),
                         "a killed writer's last requests on segment %s are still under way", name);
    return u9i_fault(fault, U9_IO, U9I_AT(.path = source->path, .sys = -sys),
                     "cannot sync segment %s before going on behind it", name);
}

/* The same for the mark: what the session writes there must be the last. [W-1] That there is none is fine. */
static u9_err settle_mark(u9i_source *source, u9_fault *fault)
{
    u9i_file *file;
    int sys = u9i_file_open(source->dir, u9i_mark_name, U9I_OPEN_READ, &file);
    if (sys != 0) return U9_OK; /* it is made, or refused, where it is needed */
    sys = u9i_wait_landed(file);
    u9i_file_close(file);
    if (sys != -EWOULDBLOCK) return U9_OK;
    return u9i_fault(fault, U9_LOCKED, U9I_AT(.path = source->path, .rule = "W-1"),
                     "a killed writer's last requests on its mark are still under way");
}

/* Nothing is appended beside records that were promised and are off the row, nor behind what cannot be read. */
static u9_err refuse_segment(const search *s, const u9i_facts *f)
{
    char path[4400];
    u9i_source_path(s->source, f->name, path, sizeof path);
    if (f->fork.end != 0)
        return u9i_fault(s->fault, U9_CORRUPT, U9I_AT_OFFSET(f->fork.begin, .path = path, .rule = "L-9"),
                         "the log forks: promised records here are left out by the segments that go on. "
                         "Salvage writes each branch into a log of its own");
    if (f->wrong == U9_R_NONE && !u9i_facts_skipped(f) && f->barren && !f->named && !f->marked)
        return u9i_fault(s->fault, U9_CORRUPT, U9I_AT_OFFSET(0, .path = path, .rule = "H-4"),
                         "the segment's header is damaged, and no frame of it is valid: nothing is appended behind it. Salvage "
                         "looks for frames without the secret");
    return U9_OK;
}

/* What cannot be read is no end: nothing is appended to a log whose end may depend on it. */
static u9_err refuse_unread(const search *s, const u9i_facts *f, uint64_t at, int sys)
{
    char path[4400];
    return u9i_fault(s->fault, U9_IO,
                     U9I_AT_OFFSET(at, .path = u9i_source_path(s->source, f->name, path, sizeof path),
                                   .sys = sys, .segment = f->number, .rule = "R-11"),
                     "bytes of the segment cannot be read: the log's end is not sure, nothing is appended");
}

/* A mark that is not met tells of records that are gone: the next session's would hide that. [M-4] */
static u9_err refuse_denied(const search *s, const u9i_facts *f)
{
    char path[4400];
    return u9i_fault(s->fault, U9_CORRUPT,
                     U9I_AT_OFFSET(f->mark.offset, .path = u9i_source_path(s->source, f->name, path, sizeof path),
                                   .segment = f->number, .rule = "M-4"),
                     "the log went on otherwise than its mark says: nothing is appended, which would hide it. "
                     "u9_accept_loss gives up what the mark promises");
}

/* Nothing is appended to a log that is not whole as a row of segments. [L-4] [L-9] */
static u9_err refuse_broken(const search *s)
{
    const u9i_catalog *c = s->catalog;
    if (c->mark.sys != 0)
        return u9i_fault(s->fault, U9_IO, U9I_AT(.path = s->source->path, .sys = c->mark.sys, .rule = "M-3"),
                         "cannot read the log's mark");
    u9_err stands = u9i_source_refuse_stand_in(s->source, c, s->fault);
    if (stands != U9_OK) return stands;
    if (c->missing_count > 0) {
        char name[20];
        u9i_segment_name(c->missing[0].number, name);
        if (u9i_catalog_begins_late(c))
            return u9i_fault(s->fault, U9_CORRUPT, U9I_AT(.path = s->source->path, .rule = "L-4"),
                             "the oldest segments are missing, up to %s: put them back or, if they were deleted on purpose, "
                             "say so: `u9 trim --accept` (u9_accept_trim)",
                             name);
        return u9i_fault(s->fault, U9_CORRUPT, U9I_AT(.path = s->source->path, .rule = "L-4"),
                         "segment %s is missing: nothing is appended to a broken row. Put it back, or salvage what is left "
                         "into a new log",
                         name);
    }
    bool stray = c->count > 0; /* and nothing else */
    for (size_t i = 0; i < c->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(c, i);
        char path[4400];
        if (f->unread && !f->is_void && !(f->has_open && f->named))
            return refuse_unread(s, f, f->unread_at, f->unread);
        if (f->plain)
            return u9i_fault(s->fault, U9_ARG,
                             U9I_AT(.path = u9i_source_path(s->source, f->name, path, sizeof path), .rule = "E-4"),
                             "a plain seed file is never appended to");
        u9_err err = refuse_segment(s, f);
        if (err != U9_OK) return err;
        stray &= f->wrong == U9_R_FOREIGN && !f->has_open;
    }
    if (stray)
        return u9i_fault(s->fault, U9_CORRUPT, U9I_AT(.path = s->source->path, .rule = "L-4"),
                         "what is here is no segment: nothing is appended, and no log is made, beside it");
    if (c->next == 0)
        return u9i_fault(s->fault, U9_LIMIT, U9I_AT(.path = s->source->path, .rule = "L-9"),
                         "no number is left for a new segment");
    return U9_OK;
}

/* A frame that is served. One behind damage is not told: whoever looks for its records has to be told of that, too. */
static void note_frame(u9i_outline *outline, u9i_iterator *it, bool damaged)
{
    outline->spoiled |= damaged;
    u9i_outline_add(outline, &it->frame);
    if (u9i_iterator_fell(it)) outline->spoiled = true; /* it comes once more */
}

/* Goes through one segment to its end. `before` is where the log stood, NULL if that is not known. */
static u9_err read_to_end(const search *s, u9i_segment *segment, const u9i_position *before,
                          u9i_judge *out)
{
    u9i_iterator it;
    u9i_step step = U9I_STEP_FRAME;
    u9_err err = u9i_source_iterate(s->source, segment, before, before != NULL, &it, s->fault);
    if (err != U9_OK) return err;
    it.window->brief = u9i_file_is_cached(it.window->file);
    u9i_iterator_lean(&it);
    u9i_prover prover;
    u9i_prover_begin(&prover, segment, &s->source->windows, it.window->file, it.map);
    u9i_outline outline = {.spoiled = !prover.posted};
    bool damaged = false;
    while (err == U9_OK && step != U9I_STEP_END) {
        err = u9i_iterator_step(&it, &step);
        u9i_prover_follow(&prover, it.judge.pos);
        if (err == U9_OK && step == U9I_STEP_FRAME) note_frame(&outline, &it, damaged);
        if (err != U9_OK || step != U9I_STEP_DAMAGE) continue;
        damaged = true;
        if (s->on_damage == NULL) continue;
        char path[4400];
        u9_damage damage = u9i_source_damage(s->source, &segment->facts, &it.site, path, sizeof path);
        s->on_damage(s->ctx, &damage);
    }
    u9i_prover_end(&prover);
    u9i_outline_join(&outline, &prover.outline);
    if (err != U9_OK) (void)u9i_source_fault(s->source, &it, err, s->fault);
    else if (it.judge.unread != U9_NOWHERE)
        err = refuse_unread(s, &segment->facts, it.judge.unread, it.judge.unread_sys);
    else if (it.judge.mark_denied)
        err = refuse_denied(s, &segment->facts);
    *out = it.judge;
    outline.end = it.judge.end.offset;
    outline.spoiled |= err != U9_OK || it.judge.tail == U9_V_CORRUPT || (it.map && u9i_mapping_broken(it.map));
    u9i_segment_give_outline(segment, u9i_outline_share(&outline));
    u9i_iterator_close(&it);
    return err;
}

/* True if reading passes it by: it is not of the row. */
static bool is_passed(const u9i_facts *f)
{
    return f->wrong != U9_R_NONE || u9i_facts_skipped(f);
}

/*
 * Where the log stands in front of segment i, whose own u9open does not say it: at the end of those
 * below it, from the nearest on that does. [L-2] *known is false if none does.
 */
static u9_err find_before(const search *s, size_t i, u9i_position *end, bool *known)
{
    const u9i_catalog *c = s->catalog;
    size_t k = i;
    *known = false;
    while (k > 0 && (k == i || is_passed(u9i_catalog_facts(c, k)) || !u9i_catalog_facts(c, k)->has_open))
        k--;
    for (; k < i; k++) {
        const u9i_facts *f = u9i_catalog_facts(c, k);
        if (is_passed(f)) continue;
        u9i_judge j;
        u9_err err = read_to_end(s, c->segments[k], *known ? end : NULL, &j);
        if (err != U9_OK) return err;
        *end = j.end;
        *known = j.knows_ordinal;
    }
    return U9_OK;
}

static u9i_tail tail_of(const u9i_judge *j)
{
    static const u9i_tail tails[] = {[U9_V_CLEAN] = U9I_TAIL_CLOSED, [U9_V_TORN] = U9I_TAIL_TORN,
                                     [U9_V_UNKNOWN] = U9I_TAIL_UNKNOWN, [U9_V_CORRUPT] = U9I_TAIL_CORRUPT};
    return tails[j->tail];
}

/* True if nothing was promised behind the u9end that closes the segment. */
static bool is_closed(const u9i_facts *f)
{
    return f->has_end && f->end.kind == U9I_END_CLOSING && f->has_open &&
           !(f->marked && f->mark.offset > f->end_frame.end); /* [M-4] */
}

/*
 * Goes through the segment that the mark is of, if it is not gone through anyway, as the end is looked for in it:
 * does the log meet its mark? [M-4] As a rule a u9end stands there, and no more has to be read.
 */
static u9_err refuse_unmet(const search *s)
{
    for (size_t i = 0; i < s->catalog->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(s->catalog, i);
        if (!f->marked || is_passed(f) || (f->newest && !is_closed(f) && !u9i_facts_sealed(f))) continue;
        if (f->has_end && f->end_frame.end == f->mark.offset &&
            memcmp(f->end_frame.sha, f->mark.chain, U9I_HASH_SIZE) == 0)
            continue;
        search silent = *s;
        silent.on_damage = NULL;
        u9i_judge j;
        u9_err err = read_to_end(&silent, s->catalog->segments[i], NULL, &j);
        if (err != U9_OK) return err;
    }
    return U9_OK;
}

/* Reads first and last key of a closed segment once more. */
static u9_err read_end_keys(const search *s, u9i_segment *segment, u9i_end_keys *out)
{
    u9i_iterator it; /* for its window only */
    u9_err err = u9i_source_iterate(s->source, segment, NULL, false, &it, s->fault);
    if (err != U9_OK) return err;
    err = u9i_probe_end_keys(&segment->facts, it.window, out);
    if (err == U9_IO) (void)u9i_source_fault(s->source, &it, err, s->fault);
    else if (err != U9_OK)
        err = u9i_fault(s->fault, err, U9I_AT(.path = s->source->path, .rule = "S-4"),
                        "segment %s changed while it was opened", segment->facts.name);
    u9i_iterator_close(&it);
    return err;
}

/* The session goes on in the closed segment, or behind it in a new one. [S-5] */
static u9_err take_closed(const search *s, u9i_plan *p, u9i_segment *segment, bool goes_on)
{
    const u9i_facts *f = &segment->facts;
    p->end.offset = f->end_frame.end;
    p->end.ordinal = f->end_frame.trailer.ordinal;
    memcpy(p->end.chain, f->end_frame.sha, sizeof p->end.chain);
    p->tail = U9I_TAIL_CLOSED;
    p->time_us = f->end_frame.trailer.time_us;
    p->goes_on = goes_on;
    if (!goes_on) return U9_OK;
    p->number = f->number;
    p->offset = f->size;
    p->previous = f->end_frame.offset;
    p->totals = f->end;
    return read_end_keys(s, segment, &p->keys);
}

/* The end of the log stands in this segment, which is not closed, if anything of it is served. */
static u9_err take_unclosed(const search *s, u9i_plan *p, size_t i, bool *found)
{
    u9i_segment *segment = s->catalog->segments[i];
    u9i_judge j;
    u9i_position before;
    bool known = false;
    u9_err err = U9_OK;
    if (!segment->facts.has_open) err = find_before(s, i, &before, &known);
    if (err == U9_OK) err = read_to_end(s, segment, known ? &before : NULL, &j);
    if (err != U9_OK) return err;
    /* Nothing was promised, and nothing in it is served: void from now on. */
    if (!segment->facts.has_open && j.promise == 0 && j.frames == 0) return U9_OK;
    p->end = j.end;
    p->tail = tail_of(&j);
    p->time_us = j.time_us;
    *found = true;
    return U9_OK;
}

/* The data end of a sealed segment, which is the last: what the seal says of it, if that is there. [S-5] [M-9] */
static u9_err take_sealed(const search *s, u9i_plan *p, u9i_segment *segment, bool *found)
{
    const u9i_facts *f = &segment->facts;
    u9i_iterator it;
    u9i_step step = U9I_STEP_FRAME;
    u9_err err = u9i_source_iterate(s->source, segment, NULL, false, &it, s->fault);
    if (err != U9_OK) return err;
    while (err == U9_OK && step != U9I_STEP_END && !*found) {
        err = u9i_iterator_step(&it, &step);
        if (err != U9_OK || step != U9I_STEP_FRAME || it.frame.end != f->end.data_end) continue;
        p->end = (u9i_position){.offset = it.frame.end, .ordinal = it.frame.trailer.ordinal + it.frame.trailer.count};
        memcpy(p->end.chain, it.frame.sha, sizeof p->end.chain);
        p->tail = U9I_TAIL_ROLLED;
        p->time_us = f->end_frame.trailer.time_us;
        *found = true;
    }
    if (err != U9_OK) (void)u9i_source_fault(s->source, &it, err, s->fault);
    u9i_iterator_close(&it);
    return err;
}

/*
 * True if the file stands under its number, and no creation that was cut short stands above it: should that one
 * come back whole, it must find a session that leaves it out. [L-3]
 */
static bool is_last(const u9i_catalog *c, size_t i)
{
    bool last = !u9i_catalog_facts(c, i)->misnamed;
    while (++i < c->count && last) last = !u9i_catalog_facts(c, i)->blank;
    return last;
}

/* Looks at segment i, from the last one backwards. *found: it holds the end. */
static u9_err look_at_segment(const search *s, u9i_plan *p, size_t i, uint64_t segment_size,
                              bool *found)
{
    u9i_segment *segment = s->catalog->segments[i];
    const u9i_facts *f = &segment->facts;
    u9_err err = U9_OK;
    *found = false;
    if (is_passed(f)) return U9_OK;
    if (is_closed(f)) {
        *found = true;
        bool goes_on = !s->source->accepts && !s->catalog->trim_marked && is_last(s->catalog, i) && f->header == U9_OK && f->size < segment_size;
        err = take_closed(s, p, segment, goes_on);
    } else {
        if (u9i_facts_sealed(f)) err = take_sealed(s, p, segment, found);
        if (err == U9_OK && !*found) err = take_unclosed(s, p, i, found);
    }
    if (!*found) return err;
    p->before_segment = f->number;
    p->before = f->secret;
    memcpy(s->relied, f->name, sizeof f->name);
    return err;
}

/* What may be cut of a segment, once the session's u9open is durable. [S-7] */
static bool may_cut(const u9i_plan *p, const u9i_facts *f, uint64_t *keep)
{
    bool before = f->number == p->before_segment;
    *keep = before ? p->end.offset : f->named ? f->at.offset : 0;
    if (f->in_name >= U9I_NUMBER_END / 2) return false; /* no writer made it [L-9] */
    return f->has_spare && f->wrong == U9_R_NONE && (before || f->named || u9i_facts_skipped(f));
}

static void note_left(const u9i_catalog *c, u9i_plan *p)
{
    for (size_t i = c->count; i > 0 && p->left_count < U9I_LEFT_MAX; i--) {
        const u9i_facts *f = u9i_catalog_facts(c, i - 1);
        uint64_t keep;
        if (!may_cut(p, f, &keep)) continue;
        u9i_left *left = &p->left[p->left_count++];
        memcpy(left->name, f->name, sizeof left->name);
        left->keep = keep;
    }
}

static u9_err find_end(const search *s, u9i_plan *p, uint64_t segment_size)
{
    const u9i_catalog *c = s->catalog;
    u9_err err = refuse_broken(s);
    if (err == U9_OK) err = refuse_unmet(s);
    if (err != U9_OK) return err;
    memset(p, 0, sizeof *p);
    p->number = p->fresh = c->next; /* [W-3] */
    s->relied[0] = 0;
    memcpy(p->kind, c->kind, sizeof p->kind);
    p->like = c->like;
    memcpy(p->log, c->log, sizeof p->log);
    bool found = false;
    for (size_t i = c->count; i > 0 && !found && err == U9_OK; i--)
        err = look_at_segment(s, p, i - 1, segment_size, &found);
    if (c->trim.segment <= p->before_segment) { /* no writer makes another [C-5] */
        p->trim_segment = c->trim.segment;
        p->first_ordinal = c->trim.ordinal;
    }
    note_left(c, p);
    static const uint8_t none[sizeof p->log]; /* no u9open can be read, and no mark: the log's id is not known [L-2] */
    if (err == U9_OK && (!found || memcmp(p->log, none, sizeof none) == 0) &&
        !u9i_random(s->source->dir->env, p->log, sizeof p->log))
        return u9i_fault(s->fault, U9_IO, U9I_AT(.path = s->source->path, .sys = errno),
                         "the system has no randomness");
    return err;
}

/* What was judged before a segment was settled does not count; and it need not be settled again. */
static void note_settled(const u9i_catalog *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(u9i_catalog_facts(c, i)->name, name) == 0) u9i_segment_note_settled(c->segments[i]);
}

/* Which files a killed writer may still have been writing; "" where there is none. */
typedef struct last_names {
    char tip[256];   /* the row's last segment, where the end is looked for first */
    char begun[256]; /* one above it, of which nothing has arrived yet: a writer makes one at a time */
} last_names;

static u9_err name_last(u9i_source *source, last_names *out, u9_fault *fault)
{
    u9i_catalog *c;
    u9_err err = u9i_source_catalog(source, &c, fault);
    if (err != U9_OK) return err;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < c->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(c, i);
        if (f->newest && !is_passed(f)) memcpy(out->tip, f->name, sizeof f->name);
        if (f->blank && f->wrong == U9_R_NONE && !f->is_void && f->in_name < c->next)
            memcpy(out->begun, f->name, sizeof f->name);
    }
    u9i_catalog_unref(c);
    return U9_OK;
}

u9_err u9i_resume_find(u9i_plan *p, u9i_source *source, uint64_t segment_size,
                       u9_damage_fn *on_damage, void *ctx, u9_fault *fault)
{
    char settled[256] = "", relied[256];
    last_names last = {0};
    u9_err err = settle_mark(source, fault);
    if (err == U9_OK) err = name_last(source, &last, fault);
    if (err == U9_OK && last.begun[0]) {
        err = settle(source, last.begun, fault);
        if (err == U9_OK) err = name_last(source, &last, fault); /* it may be the tip now */
    }
    if (err == U9_OK && last.tip[0]) err = settle(source, last.tip, fault);
    memcpy(settled, last.tip, sizeof settled);
    while (err == U9_OK) {
        search s = {.source = source, .on_damage = on_damage, .ctx = ctx, .fault = fault, .relied = relied};
        err = u9i_source_catalog(source, &s.catalog, fault);
        if (err != U9_OK) break;
        note_settled(s.catalog, settled);
        err = find_end(&s, p, segment_size);
        u9i_catalog_unref(s.catalog);
        if (err != U9_OK || relied[0] == 0 || strcmp(relied, settled) == 0) break;
        memcpy(settled, relied, sizeof settled); /* the end is in another one: once more */
        err = settle(source, settled, fault);
        on_damage = NULL;
    }
    return err;
}
