/*
 * engine/read/seek.c: a cursor is sent to a place: by what the catalog knows of the segments, then by bisection over the
 * frames of one.
 *
 * What is sought is where a test turns from false to true, and stays so. The last frame whose first record is in front
 * of that is looked for: in it, or behind it, the cursor stops. In a segment it is found by probing: from some offset on
 * the first valid frame with records is as good as any, so damage is no hindrance. What was found so is not believed: it is
 * entered as reading forwards would (back.h), and if that does not come there, the log is walked.
 */
#include "engine/log/handle.h"
#include "engine/read/back.h"
#include "engine/read/cursor.h"
#include "engine/read/cursor_line.h"

#include <u9/cursor.h>

#include <string.h>

enum { NEAR = 1 << 17 }; /* bytes of a segment that are gone through frame by frame */

/* What is sought. */
typedef struct sought {
    enum { BY_ORDINAL, BY_TIME, BY_KEY, BY_TEST, BY_OFFSET } by;
    uint64_t number; /* ordinal, time, or offset in: */
    size_t unit;
    const u9_key *key;
    u9_bisect_fn *test;
    void *ctx;
} sought;

/* What a segment has of it. */
typedef struct found {
    uint64_t frame; /* the last one found in front of it; 0: none */
    bool some;      /* there is one at or behind it */
} found;

static u9i_spot start_of(const u9_cursor *c)
{
    return (u9i_spot){.unit = c->reader.first_unit};
}

static u9i_spot end_of(const u9_cursor *c)
{
    const u9i_reader *r = &c->reader;
    return (u9i_spot){.unit = r->only, .end = r->only == r->catalog->count};
}

/* True if the record is what is sought, or behind it. */
static bool is_there(const u9_cursor *c, const sought *s, const u9_record *r)
{
    if (s->by == BY_ORDINAL) return r->ordinal >= s->number;
    if (s->by == BY_TIME) return r->time_us >= s->number;
    if (s->by == BY_KEY) return !u9i_key_lower(&r->key, s->key);
    if (s->by == BY_TEST) return s->test(s->ctx, r) != 0;
    return c->reader.index > s->unit || (c->reader.index == s->unit && r->frame >= s->number);
}

static bool is_frame_there(const u9_cursor *c, const sought *s, const u9i_frame *f)
{
    if (s->by == BY_ORDINAL) return f->trailer.ordinal >= s->number;
    if (s->by == BY_TIME) return f->trailer.time_us >= s->number;
    return c->reader.index > s->unit || (c->reader.index == s->unit && f->offset >= s->number);
}

/* The same of a frame's first record. U9_AGAIN: it has none, or cannot be asked so. */
static u9_err ask_frame(u9_cursor *c, const sought *s, const u9i_frame *f, bool *there)
{
    u9i_step step;
    u9_record r;
    if (f->trailer.count == 0) return U9_AGAIN;
    *there = is_frame_there(c, s, f);
    if (s->by != BY_KEY && s->by != BY_TEST) return U9_OK;
    u9_err err = u9i_reader_show(&c->reader, f, &step, &c->fault);
    if (err == U9_VERSION || (err == U9_OK && (step != U9I_STEP_FRAME || c->reader.count == 0))) return U9_AGAIN;
    if (err != U9_OK) return err;
    u9i_cursor_load(c, false);
    err = u9i_cursor_pass(c, &r);
    c->loaded = false;
    if (err != U9_OK && err != U9_LIMIT) return err;
    *there = is_there(c, s, &r);
    return U9_OK;
}

/* The first frame of the open segment from p on, and before `bound`, that can be asked. U9_END: there is none. */
static u9_err ask_from(u9_cursor *c, const sought *s, uint64_t p, uint64_t bound, uint64_t end, u9i_frame *f, bool *there)
{
    u9_err err = U9_AGAIN;
    for (; err == U9_AGAIN; p = f->end) {
        err = u9i_window_find(c->reader.iterator.window, p, end, f);
        if (err == U9_IO) return u9i_source_fault(c->reader.source, &c->reader.iterator, err, &c->fault);
        if (err == U9_OK && f->offset >= bound) return U9_END;
        if (err == U9_OK) err = ask_frame(c, s, f, there);
    }
    return err;
}

/* Opens a unit's segment. *end: no frame of it passes this; 0: it is gone, or none that is read. */
static u9_err open_sought(u9_cursor *c, size_t unit, uint64_t *end)
{
    u9i_reader *r = &c->reader;
    const u9i_facts *f = u9i_catalog_facts(r->catalog, unit);
    *end = 0;
    if (!u9i_facts_on_row(f)) return U9_OK;
    r->backwards = true;
    u9_err err = u9i_reader_open_unit(r, unit, &c->fault);
    if (err != U9_OK) return err == U9_IO && u9i_reader_trimmed(r, unit) ? U9_OK : err;
    if (f->named) *end = f->at.offset;
    else if (u9i_file_size(r->iterator.window->file, end) != 0) return u9i_source_fault(r->source, &r->iterator, U9_IO, &c->fault);
    return U9_OK;
}

/* Bisects a segment. */
static u9_err search_segment(u9_cursor *c, const sought *s, size_t unit, found *out)
{
    uint64_t end, low = U9I_DISK_HEADER_SIZE, high;
    u9i_frame f;
    bool there;
    *out = (found){.frame = 0};
    u9_err err = open_sought(c, unit, &end);
    const u9i_facts *facts = u9i_catalog_facts(c->reader.catalog, unit);
    bool seals = facts->has_end && facts->end.kind == U9I_END_SEALING && facts->end.data_end < end;
    if (seals) end = facts->end.data_end; /* behind it are no records, and a seal may be younger than the next segment's [S-6] */
    for (high = end; err == U9_OK && low < high;) {
        uint64_t middle = high - low > NEAR ? (low + (high - low) / 2) / U9I_ALIGN * U9I_ALIGN : low;
        err = ask_from(c, s, middle, high, end, &f, &there);
        if (err == U9_OK && !there) {
            out->frame = f.offset;
            low = f.end;
            continue;
        }
        if (err != U9_OK && err != U9_END) return err;
        out->some |= err == U9_OK;
        if (middle == low) break;
        high = middle;
        err = U9_OK;
    }
    return err == U9_END ? U9_OK : err;
}

/* What the catalog says of a unit: its first record is at or behind what is sought, or (-1) in front; 0: it does not say. */
static int ask_catalog(const u9_cursor *c, const sought *s, size_t unit)
{
    const u9i_facts *f = u9i_catalog_facts(c->reader.catalog, unit);
    if (!f->has_open || !u9i_facts_on_row(f)) return 0;
    if (s->by == BY_ORDINAL) return f->open.end.ordinal > s->number ? 1 : -1;
    if (s->by == BY_TIME) return f->open_us >= s->number ? 1 : -1;
    return 0;
}

/* The last unit that the catalog says to begin in front of what is sought; the first, if it says so of none. */
static size_t guess_unit(const u9_cursor *c, const sought *s)
{
    size_t unit = c->reader.first_unit;
    for (size_t i = unit; i < c->reader.only; i++)
        if (ask_catalog(c, s, i) < 0) unit = i;
    return unit;
}

/* The same by the first records of units. */
static u9_err bisect_units(u9_cursor *c, const sought *s, size_t *unit)
{
    size_t low = c->reader.first_unit, high = c->reader.only;
    *unit = low;
    while (low < high) {
        size_t middle = low + (high - low) / 2, i = middle;
        uint64_t end;
        u9i_frame f;
        bool there = true;
        u9_err err = U9_END;
        for (; i < high && err == U9_END; i++) {
            err = open_sought(c, i, &end);
            if (err == U9_OK) err = ask_from(c, s, U9I_DISK_HEADER_SIZE, end, end, &f, &there);
        }
        if (err != U9_OK && err != U9_END) return err;
        if (err == U9_END || there) high = middle;
        else *unit = i - 1, low = i;
    }
    return U9_OK;
}

/* Where the last frame in front of what is sought stands, or the unit behind which it comes. */
static u9_err find_spot(u9_cursor *c, const sought *s, size_t unit, u9i_spot *out)
{
    const u9i_reader *r = &c->reader;
    found here, next;
    u9_err err = search_segment(c, s, unit, &here);
    while (err == U9_OK && here.frame == 0 && unit > r->first_unit) /* in an earlier one */
        err = search_segment(c, s, --unit, &here);
    *out = (u9i_spot){.unit = unit, .frame = here.frame, .before = here.frame != 0};
    for (size_t i = unit + 1; err == U9_OK && !here.some && i < r->only && ask_catalog(c, s, i) <= 0; i++) {
        err = search_segment(c, s, i, &next);
        here.some = next.some;
        if (err == U9_OK && next.frame != 0) *out = (u9i_spot){.unit = i, .frame = next.frame, .before = true};
    }
    return err;
}

/* Goes over the records of the loaded frame up to what is sought. */
static u9_err pass_records(u9_cursor *c, const sought *s)
{
    u9_record r;
    u9_err err = U9_OK;
    while (err == U9_OK || err == U9_LIMIT) {
        const uint8_t *next = c->next;
        size_t left = c->left;
        err = u9i_cursor_pass(c, &r);
        if ((err != U9_OK && err != U9_LIMIT) || !is_there(c, s, &r)) continue;
        c->next = next;
        c->left = left;
        c->ordinal--;
        return U9_OK;
    }
    return err == U9_END ? U9_OK : err;
}

/*
 * Steps forwards from the place where the reader is, through what is in front of what is sought: but for damage that
 * stands right before it. `once`: to the frame that stands there; U9_CORRUPT: it does not any more, as it was trimmed, perhaps.
 */
static u9_err walk(u9_cursor *c, const sought *s, bool once)
{
    u9i_reader *r = &c->reader;
    u9i_spot front = r->place; /* of the first damage behind what was passed, if */
    bool damaged = false;      /*   there is any */
    u9i_step step = U9I_STEP_DAMAGE;
    u9_err err = U9_OK;
    while (err == U9_OK && step != U9I_STEP_END) {
        u9i_spot place = r->place;
        c->loaded = false;
        err = u9i_reader_step(r, &step, &c->fault);
        if (err == U9_OK && step == U9I_STEP_DAMAGE && !damaged) front = place, damaged = true;
        if (err == U9_VERSION) err = U9_OK;
        else if (err == U9_OK && step == U9I_STEP_FRAME && r->count > 0) {
            u9i_cursor_load(c, false);
            err = pass_records(c, s);
            bool there = c->ordinal - r->frame->trailer.ordinal < r->count;
            if (there && !(damaged && c->ordinal == r->frame->trailer.ordinal)) return err;
            if (there) break;
            damaged = false;
        }
        if (once) return err == U9_OK && damaged ? U9_CORRUPT : err;
    }
    if (err == U9_OK && damaged) u9i_cursor_go(c, front);
    return err;
}

static u9_err seek_to(u9_cursor *c, const sought *s)
{
    u9i_reader *r = &c->reader;
    u9i_spot place;
    u9_err err = U9_OK;
    size_t unit = r->first_unit;
    u9i_cursor_go(c, start_of(c));
    if (r->first_unit >= r->only) return U9_OK;
    if (!u9i_catalog_plain(r->catalog)) {
        if (s->by == BY_KEY || s->by == BY_TEST) err = bisect_units(c, s, &unit);
        else unit = s->by == BY_OFFSET ? s->unit : guess_unit(c, s);
        if (err == U9_OK) err = find_spot(c, s, unit, &place);
        if (err != U9_OK) return err;
        u9i_cursor_go(c, place);
        if (place.frame == 0) return U9_OK;
        err = walk(c, s, true);
        if (err != U9_CORRUPT) return err;
    }
    u9i_cursor_go(c, start_of(c)); /* what was found is not what is read */
    return walk(c, s, false);
}

static u9_err refuse_seek(u9_cursor *c, const char *why)
{
    return u9i_fault(&c->fault, U9_ARG, U9I_AT(.path = c->log->source.path, .rule = "Q-2"), "%s", why);
}

static u9_err seek_key(u9_cursor *c, const u9_key *key)
{
    const char *kind = u9i_kind_in(c->log, c->reader.catalog);
    sought s = {.by = BY_KEY, .key = key};
    if (key->data == NULL) return refuse_seek(c, "to.key is NULL");
    u9_err err = u9i_cursor_check_key(c, key, &c->fault);
    if (err != U9_OK) return err;
    if (strncmp(kind, "rkey", 4) == 0) return refuse_seek(c, "record keys are in no order");
    return seek_to(c, &s);
}

/* The unit of the segment with this number; the catalog's count: there is none. */
static size_t unit_of(const u9_cursor *c, uint64_t number)
{
    const u9i_catalog *catalog = c->reader.catalog;
    size_t i = 0;
    if (u9i_reader_is_single(&c->log->source, catalog)) return 0;
    while (i < catalog->count &&
           (!u9i_facts_on_row(u9i_catalog_facts(catalog, i)) || u9i_catalog_facts(catalog, i)->number != number))
        i++;
    return i;
}

static u9_err seek_offset(u9_cursor *c, uint64_t number, uint64_t offset)
{
    sought s = {.by = BY_OFFSET, .number = offset, .unit = unit_of(c, number)};
    if (s.unit < c->reader.first_unit || s.unit >= c->reader.only)
        return refuse_seek(c, "there is no such segment");
    return seek_to(c, &s);
}

/* The frame where the cursor was saved, if it stands there as it did. False: it does not. */
static bool find_saved(u9_cursor *c, const u9i_cursor_line *saved, u9i_spot *out)
{
    const u9i_catalog *catalog = c->reader.catalog;
    uint64_t end = 0;
    u9i_frame f;
    size_t i = 0;
    while (i < catalog->count && memcmp(u9i_catalog_facts(catalog, i)->secret.boundary, saved->boundary, U9I_HASH_SIZE) != 0) i++;
    if (saved->frame == 0 || i < c->reader.first_unit || i >= c->reader.only) return false;
    if (open_sought(c, i, &end) != U9_OK || saved->frame >= end ||
        u9i_window_at(c->reader.iterator.window, saved->frame, end, &f) != U9_OK)
        return false;
    *out = (u9i_spot){.unit = i, .frame = f.offset, .before = true};
    return f.trailer.ordinal <= saved->ordinal && saved->ordinal - f.trailer.ordinal <= f.trailer.count;
}

static u9_err seek_saved(u9_cursor *c, const char *text)
{
    const u9i_catalog *catalog = c->reader.catalog;
    u9i_cursor_line saved;
    u9i_spot place;
    u9_err err = u9i_cursor_line_parse(text, &saved, &c->fault);
    if (err != U9_OK) return err;
    if (memcmp(saved.log, catalog->log, sizeof saved.log) != 0) return refuse_seek(c, "the saved cursor is one of another log");
    sought s = {.by = BY_ORDINAL, .number = saved.ordinal};
    uint64_t kept = u9i_catalog_kept(catalog, 0);
    if (catalog->trim.segment != 0 && saved.ordinal < kept) {
        u9i_cursor_go(c, start_of(c));
        c->trimmed = (u9_damage){.verdict = U9_V_TORN, .reason = U9_R_TRIMMED, .ordinal = saved.ordinal,
                                 .lost = kept - saved.ordinal};
        return U9_OK;
    }
    bool stands = !u9i_catalog_plain(catalog) && find_saved(c, &saved, &place);
    if (stands) {
        u9i_cursor_go(c, place);
        err = walk(c, &s, true);
    }
    if (!stands || err == U9_CORRUPT) err = seek_to(c, &s);
    c->sent = saved.ordinal;
    return err;
}

/* True if the damage may have cost records in front of the bounds' end. */
static bool may_be_within(const u9_cursor *c)
{
    const u9_damage *d = &c->reader.damage;
    return d->ordinal == U9_NOWHERE || d->ordinal < c->to;
}

/* Passes the damage behind the last frame in front of the bounds' end: who goes back from there is told of it. */
static u9_err pass_damage(u9_cursor *c)
{
    u9i_reader *r = &c->reader;
    u9i_spot place = r->place;
    u9i_step step;
    u9_err err;
    if (c->loaded && c->ordinal - r->frame->trailer.ordinal < r->count) return U9_OK; /* the end is in a frame */
    while ((err = u9i_reader_step(r, &step, &c->fault)) == U9_OK) {
        if (step == U9I_STEP_FRAME ? r->count > 0 : step != U9I_STEP_DAMAGE || !may_be_within(c)) break;
        if (step == U9I_STEP_DAMAGE) place = r->place;
    }
    if (err == U9_OK || err == U9_VERSION) u9i_cursor_go(c, place);
    return err == U9_VERSION ? U9_OK : err;
}

/* To the end of the bounds, which lie before the log's. */
static u9_err seek_bound(u9_cursor *c)
{
    u9_err err = U9_OK;
    if (c->until_us != U9_NOWHERE) err = seek_to(c, &(sought){.by = BY_TIME, .number = c->until_us});
    bool inside = c->until_us != U9_NOWHERE && (!c->counts || c->ordinal <= c->to);
    if (err == U9_OK && !inside) err = seek_to(c, &(sought){.by = BY_ORDINAL, .number = c->to});
    return err == U9_OK ? pass_damage(c) : err;
}

/* To the end of the bounds. */
static u9_err seek_end(u9_cursor *c)
{
    if (c->until_us != U9_NOWHERE || c->to != U9_NOWHERE) return seek_bound(c);
    u9i_cursor_go(c, end_of(c));
    return U9_OK;
}

static u9_err seek_start(u9_cursor *c)
{
    u9_err err = U9_OK;
    if (c->since_us > 0) err = seek_to(c, &(sought){.by = BY_TIME, .number = c->since_us});
    bool inside = c->since_us > 0 && (!c->counts || c->ordinal >= c->from);
    if (err != U9_OK || inside) return err;
    if (c->from > 0 && !c->reader.ranged) return seek_to(c, &(sought){.by = BY_ORDINAL, .number = c->from});
    u9i_cursor_go(c, start_of(c));
    return U9_OK;
}

static u9_err seek_kind(u9_cursor *c, const u9_seek *to)
{
    bool limits = to->kind == U9_SEEK_START || to->kind == U9_SEEK_END;
    if (c->reader.ranged && !limits) return refuse_seek(c, "the cursor is one of a range of bytes");
    switch (to->kind) {
    case U9_SEEK_START: return seek_start(c);
    case U9_SEEK_END: return seek_end(c);
    case U9_SEEK_ORDINAL: return seek_to(c, &(sought){.by = BY_ORDINAL, .number = to->number});
    case U9_SEEK_TIME: return seek_to(c, &(sought){.by = BY_TIME, .number = to->number});
    case U9_SEEK_KEY: return seek_key(c, &to->key);
    case U9_SEEK_OFFSET: return seek_offset(c, to->segment, to->offset);
    case U9_SEEK_SAVED: return to->text ? seek_saved(c, to->text) : refuse_seek(c, "to.text is NULL");
    }
    return refuse_seek(c, "to.kind is none");
}

/* After an error the cursor is at its start. */
static u9_err settle_seek(u9_cursor *c, u9_err err)
{
    if (err != U9_OK) u9i_cursor_go(c, start_of(c));
    return err;
}

/* A follower goes by the log as it is now: what is sought may stand in a segment that was begun since it looked last. */
static u9_err look_anew(u9_cursor *c)
{
    u9i_reader now = {.catalog = NULL};
    if (c->follower == NULL) return U9_OK;
    u9_err err = u9i_source_catalog(&c->log->source, &now.catalog, &c->fault);
    if (err != U9_OK) return err;
    now.only = now.catalog->count;
    now.missing_end = now.catalog->missing_count;
    if (now.only > 0) u9i_reader_share(&c->reader, &now);
    u9i_catalog_unref(now.catalog);
    u9i_cursor_go(c, start_of(c));
    return U9_OK;
}

u9_err u9_cursor_seek(u9_cursor *c, const u9_seek *to)
{
    u9_err err = u9i_cursor_allow(c, to);
    if (c == NULL || err != U9_OK) return err;
    c->trimmed.reason = U9_R_NONE;
    c->fault.err = U9_OK;
    err = look_anew(c);
    if (err != U9_OK) return settle_seek(c, err);
    return settle_seek(c, to->size == sizeof *to ? seek_kind(c, to) : refuse_seek(c, "to.size is not sizeof(u9_seek)"));
}

u9_err u9_cursor_bisect(u9_cursor *c, u9_bisect_fn *test, void *ctx)
{
    u9_err err = u9i_cursor_allow(c, test ? c : NULL);
    if (c == NULL || err != U9_OK) return err;
    c->trimmed.reason = U9_R_NONE;
    if (c->reader.ranged) return settle_seek(c, refuse_seek(c, "the cursor is one of a range of bytes"));
    err = look_anew(c);
    if (err != U9_OK) return settle_seek(c, err);
    return settle_seek(c, seek_to(c, &(sought){.by = BY_TEST, .test = test, .ctx = ctx}));
}

u9_err u9_cursor_within(u9_cursor *c, const u9_bounds *b)
{
    u9_err err = u9i_cursor_allow(c, b);
    if (c == NULL || err != U9_OK) return err;
    if (b->size != sizeof *b) return refuse_seek(c, "bounds.size is not sizeof(u9_bounds)");
    if (b->from > b->to || b->since_us > b->until_us) return refuse_seek(c, "the bounds end before they begin");
    if (c->reader.ranged) return refuse_seek(c, "the cursor is one of a range of bytes");
    c->trimmed.reason = U9_R_NONE;
    c->from = b->from;
    c->to = b->to;
    c->since_us = b->since_us;
    c->until_us = b->until_us;
    c->run_end = 0;
    err = look_anew(c);
    return settle_seek(c, err == U9_OK ? seek_start(c) : err);
}

u9_err u9_log_seek(u9_log *log, const u9_seek *to, u9_cursor **out, u9_fault *fault)
{
    u9_cursor *c;
    if (out == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    u9_err err = u9_cursor_open(log, NULL, &c, fault);
    if (err != U9_OK) return err;
    err = u9_cursor_seek(c, to);
    if (err != U9_OK) return u9i_cursor_end(c, err, fault);
    *out = c;
    return U9_OK;
}

/* The ordinal of the record that comes next, of a cursor that stands in no frame: the record before tells. */
static u9_err count_before(u9_cursor *c, u9i_cursor_line *out)
{
    u9_cursor *other;
    u9_record r;
    out->ordinal = u9i_catalog_kept(c->reader.catalog, 0);
    u9_err err = u9_cursor_open(c->log, NULL, &other, &c->fault);
    if (err != U9_OK) return err;
    other->silent = true;
    u9i_reader_share(&other->reader, &c->reader);
    u9i_cursor_go(other, c->reader.place);
    other->ended = c->ended; /* behind what was the last record then, whatever came since */
    other->has_ended = c->has_ended;
    do err = u9_cursor_prev(other, &r);
    while (err == U9_VERSION);
    if (err == U9_OK || err == U9_LIMIT) out->ordinal = r.ordinal + 1;
    bool told = err == U9_OK || err == U9_LIMIT || err == U9_END;
    if (!told) c->fault = other->fault;
    u9_cursor_close(other);
    return told ? U9_OK : err;
}

/* In front of its bounds or behind them is at their start or end: what is saved knows of no bounds. */
static void keep_within(const u9_cursor *c, u9i_cursor_line *saved)
{
    uint64_t ordinal = saved->ordinal < c->from ? c->from : saved->ordinal > c->to ? c->to : saved->ordinal;
    if (ordinal == saved->ordinal) return;
    saved->ordinal = ordinal;
    saved->frame = 0;
    memset(saved->boundary, 0, sizeof saved->boundary);
}

u9_err u9_cursor_save(u9_cursor *c, char *text, size_t cap)
{
    u9i_cursor_line saved = {.ordinal = 0};
    u9_err err = u9i_cursor_allow(c, text);
    if (c == NULL || err != U9_OK) return err;
    if (cap < U9_CURSOR_TEXT_SIZE)
        return u9i_fault(&c->fault, U9_LIMIT, U9I_AT(.rule = "Q-3"), "a saved cursor takes %d bytes", U9_CURSOR_TEXT_SIZE);
    memcpy(saved.log, c->reader.catalog->log, sizeof saved.log);
    saved.ordinal = c->trimmed.reason != U9_R_NONE ? c->trimmed.ordinal : c->ordinal;
    if (c->loaded) {
        saved.frame = c->reader.frame->offset;
        memcpy(saved.boundary, u9i_reader_facts(&c->reader)->secret.boundary, sizeof saved.boundary);
    } else if (!c->counts && c->trimmed.reason == U9_R_NONE) {
        err = count_before(c, &saved);
    }
    if (c->trimmed.reason == U9_R_NONE) keep_within(c, &saved);
    if (err == U9_OK) u9i_cursor_line_format(&saved, text);
    return err;
}
