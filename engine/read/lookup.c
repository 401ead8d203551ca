/*
 * engine/read/lookup.c: records by their key: the newest one, all versions, many keys at once. [K-3]
 *
 *     what this handle writes    -> its keys, in memory (write/writer_find.c)
 *     the segments of the view,  -> no key outside of their range; their index; the frame that it leads to
 *       the last one first
 *     where an index says nothing -> a scan from the last segment backwards
 *
 * A scan reads segments in runs that begin with a u9open: what the first frame of one without must say depends on the
 * segments before it. [F-9]
 */
#include "engine/log/handle.h"
#include "engine/read/cursor.h"
#include "engine/read/lookup.h"
#include "engine/read/tabling.h"
#include "format/id/kind.h"

#include <u9/large.h>

#include <string.h>

/* A found record, moved into the caller's buffer. */
void u9i_lookup_keep(const u9_record *r, void *buf, u9_record *out)
{
    *out = *r;
    memcpy(buf, r->bytes, (size_t)r->size);
    out->bytes = buf;
    out->key.data = out->bytes + ((const uint8_t *)r->key.data - r->bytes);
    out->values = out->bytes + (r->values - r->bytes);
}

/* What a lookup has found so far. */
typedef struct lookup {
    const u9_key *key;
    uint8_t *buf;
    size_t cap;
    u9_record found; /* only where there: */
    bool there;
    bool copied;     /* it is in buf */
    bool lossy;      /* records were lost on the way: some may have had the key, and be newer than what was found */
    const u9i_indexed *in; /* found by its index; borrows the view */
    uint64_t kept_from; /* ordinal; not 0: those before it were trimmed */
} lookup;

/* A record that has the key. */
static void found_record(lookup *l, const u9_record *r)
{
    l->found = *r;
    l->there = true;
    l->copied = r->bytes != NULL && r->size <= l->cap;
    if (l->copied) u9i_lookup_keep(r, l->buf, &l->found);
}

bool u9i_lookup_same(const u9_key *key, const void *data, size_t size)
{
    return size > 0 && size == key->size && memcmp(data, key->data, size) == 0;
}

bool u9i_lookup_entry(const u9_log *log, const u9_key *key, u9i_key_entry *out)
{
    return !log->keyspec.hashed && u9i_keyspec_entry(&log->keyspec, key->data, key->size, out);
}

u9_err u9i_lookup_sync(u9_log *log, u9_fault *fault)
{
    return log->writing && u9i_writer_has_begun(&log->writer) ? u9i_writer_sync(&log->writer, fault) : U9_OK;
}

/* False: it has another key. */
static bool match_record(lookup *l, const u9_record *r)
{
    bool same = u9i_lookup_same(l->key, r->key.data, r->key.size);
    if (same) found_record(l, r);
    return same;
}

/* Reads the segments [first, last] to their end. */
static u9_err scan_run(u9_cursor *c, size_t first, size_t last, lookup *l)
{
    u9_record r;
    u9_err err;
    bool behind = c->lossy; /* what was lost in the runs behind this one */
    u9i_cursor_segments(c, first, last);
    while ((err = u9i_cursor_scan(c, &r)) == U9_OK)
        if (match_record(l, &r)) c->lossy = false;
    c->lossy |= behind;
    return err;
}

/* Reads run after run, the last one first, until one has the key. */
static u9_err scan_backwards(u9_cursor *c, lookup *l)
{
    const u9i_catalog *catalog = c->reader.catalog;
    u9_err err = U9_END;
    for (size_t end = catalog->count, first; err == U9_END && !l->there; end = first) {
        first = end > 0 ? end - 1 : 0;
        while (first > 0 && !u9i_catalog_facts(catalog, first)->has_open) first--;
        err = scan_run(c, first, end - 1, l); /* of no segment: what the mark misses */
        if (first == 0) break;
    }
    return err;
}

/* What no record can have is no key: as an append says. A log whose kind is not known may have any. [L-6] */
static u9_err check_key(const u9_log *log, const char *text, const u9_key *key, u9_fault *fault)
{
    u9i_kind kind;
    u9_id_reason why = U9_ID_FINE;
    if (u9i_kind_parse(text, strlen(text), &kind, NULL) != U9_OK ||
        u9i_kind_fits(&kind, key->data, key->size, &why) == U9_OK)
        return U9_OK;
    return u9i_fault(fault, U9_ARG, U9I_AT(.path = log->source.path, .rule = "L-6"),
                     "no key of kind '%.80s': %s", text, u9_id_reason_text(why));
}

const char *u9i_kind_in(const u9_log *log, const u9i_catalog *catalog)
{
    return log->kind[0] ? log->kind : catalog->kind;
}

bool u9i_key_lower(const u9_key *key, const u9_key *limit)
{
    int order = memcmp(key->data, limit->data, key->size < limit->size ? key->size : limit->size);
    return order != 0 ? order < 0 : key->size < limit->size;
}

u9_err u9i_cursor_check_key(const u9_cursor *c, const u9_key *key, u9_fault *fault)
{
    return check_key(c->log, u9i_kind_in(c->log, c->reader.catalog), key, fault);
}

/* All of the record that was found is in the buffer. */
static void show_buffer(lookup *l)
{
    u9_record *f = &l->found;
    f->bytes = l->buf;
    f->values = f->bytes + (f->size - f->values_size);
    f->key.data = f->values - f->key.size;
    l->copied = true;
}

/* A record that no cursor hands out at once, and for which there is room: read in pieces. [C-6] */
static u9_err fetch_large(u9_log *log, lookup *l, u9_fault *fault)
{
    size_t got;
    u9_reading *reading = NULL;
    u9_err err = u9_record_open(log, &l->found, &reading, fault);
    if (err == U9_OK) err = u9_record_read(reading, 0, l->buf, (size_t)l->found.size, &got, fault);
    u9_record_close(reading);
    if (err == U9_OK) show_buffer(l);
    return err;
}

/* What was found is the newest that is left. */
static u9_err tell_newer_lost(const u9_log *log, u9_fault *fault)
{
    return u9i_fault(fault, U9_CORRUPT, U9I_AT(.path = log->source.path), "newer records were lost to damage, and may have had this key");
}

/* There is no room for it: what it is, but for its bytes. */
static u9_err tell_size(const u9_log *log, const lookup *l, u9_record *out, u9_fault *fault)
{
    *out = l->found;
    out->bytes = out->values = NULL;
    out->key.data = l->key->data;
    if (l->lossy) return tell_newer_lost(log, fault);
    return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = log->source.path), "the record has %llu bytes", (unsigned long long)out->size);
}

/* All was scanned, and has no such key: of what was lost on the way the next one is told without a scan. */
static void note_scanned(u9_log *log, const u9_cursor *c)
{
    u9i_seated s;
    u9_fault unused;
    if (u9i_view_sit(log, &s, &unused) != U9_OK) return;
    if (s.view->catalog == c->reader.catalog) atomic_store(&s.view->scanned, c->lossy ? U9I_SCANNED_LOSSY : U9I_SCANNED_WHOLE);
    u9i_view_rise(&s);
}

/* By a scan of the whole log. */
static u9_err get_by_scan(u9_log *log, lookup *l, u9_fault *fault)
{
    u9_cursor *c;
    u9_err err = u9_cursor_open(log, NULL, &c, fault);
    if (err != U9_OK) return err;
    err = scan_backwards(c, l);
    if (err == U9_END && !l->there) note_scanned(log, c);
    l->lossy = c->lossy && (!l->there || strncmp(u9i_kind_in(log, c->reader.catalog), "rkey", 4) == 0); /* an identifier is made once */
    l->kept_from = c->reader.catalog->trim.ordinal;
    return u9i_cursor_end(c, err, fault);
}

/* By indexes */

bool u9i_lookup_newer_lost(const u9i_view *v, const u9i_indexed *s, uint64_t at)
{
    const u9i_catalog *c = v->catalog;
    size_t i = v->count, unit = 0;
    bool lost = atomic_load_explicit(&v->lossy, memory_order_acquire) || c->untold > 0;
    if (!lost || !s->index.spec.hashed) return false; /* an identifier is made once */
    while (i > 0 && v->segments[i - 1] != s)
        if (v->segments[--i]->lost_before > 0) return true;
    while (unit < c->count && c->segments[unit] != s->segment) unit++;
    return at < s->lost_before || c->untold > unit + 1;
}

/* All of a record in parts that has the key: in the buffer, if there is room. */
static u9_err take_parts(lookup *l, u9_reading *reading)
{
    size_t got;
    l->found.key.data = l->key->data;
    if (l->found.size > l->cap) return u9i_reading_prove(reading);
    u9_err err = u9_record_read(reading, 0, l->buf, (size_t)l->found.size, &got, NULL);
    if (err == U9_OK) show_buffer(l);
    return err;
}

/*
 * A record in parts, of which this is the last one: it counts if it has the key, and all of them are there. U9_CORRUPT: it
 * does not. [C-6]
 */
static u9_err match_parts(u9_log *log, lookup *l, uint64_t segment, const u9i_open_frame *f, uint64_t at)
{
    enum { FRONT = U9I_KEY_MAX + 32 };
    uint8_t front[FRONT];
    u9i_part_record part;
    u9i_record r;
    u9_reading *reading = NULL;
    size_t got = 0;
    if (u9i_part_record_decode(f->bytes, f->size, &part) != U9_OK) return U9_CORRUPT;
    u9_record whole = {.ordinal = f->ordinal, .time_us = f->time_us, .segment = segment, .frame = f->offset, .at = at,
                       .size = part.total};
    u9_err err = u9i_reading_open(log, &whole, false, &reading, NULL);
    if (err == U9_OK) err = u9_record_read(reading, 0, front, sizeof front, &got, NULL);
    if (err == U9_OK) err = u9i_record_front(front, got, part.total, &r);
    if (err == U9_OK) {
        whole.key = (u9_key){.data = r.key, .size = r.key_size};
        whole.values_size = whole.size - (uint64_t)(r.key + r.key_size - front);
        err = match_record(l, &whole) ? take_parts(l, reading) : U9_CORRUPT; /* another key of the same hash */
    }
    u9_record_close(reading);
    return err == U9_OK ? U9_OK : U9_CORRUPT;
}

u9_record u9i_lookup_record(uint64_t segment, const u9i_open_frame *f, const u9i_found *found)
{
    const u9i_record *r = &found->record;
    return (u9_record){.ordinal = f->ordinal + found->number, .time_us = f->time_us, .segment = segment, .frame = f->offset,
                       .at = found->at, .key = {.data = r->key, .size = r->key_size}, .bytes = r->bytes, .size = r->size,
                       .values = r->values, .values_size = r->values_size};
}

/* The newest one in segment i of the view. U9_ABSENT; U9_CORRUPT: its index says nothing. */
static u9_err get_in_segment(u9_log *log, u9i_view *v, size_t i, lookup *l, u9_fault *fault)
{
    const u9i_open_frame *f;
    u9i_open_frame *own;
    u9i_found found;
    u9i_indexed *s = v->segments[i];
    u9_err err = u9i_view_index(log, v, i, fault);
    if (err != U9_OK) return err == U9_ABSENT ? U9_CORRUPT : err;
    err = u9i_index_find(&s->index, &s->frames, l->key, s->limit, &f, &found, &own);
    if (err == U9_ABSENT && s->lost_before > 0) l->lossy = true;
    l->in = s;
    if (err != U9_OK) return err == U9_ABSENT ? err : U9_CORRUPT;
    if (f->kind == U9I_BODY_PART) {
        err = match_parts(log, l, s->segment->facts.number, f, found.at);
    } else {
        u9_record r = u9i_lookup_record(s->segment->facts.number, f, &found);
        found_record(l, &r);
    }
    if (u9i_open_frame_fell(&s->frames, f)) err = U9_CORRUPT;
    u9i_found_free(&found);
    u9i_open_frame_free(own);
    return err;
}

bool u9i_lookup_excludes(const u9i_view *v, size_t i, const u9i_key_entry *e)
{
    if (!__atomic_load_n(&v->ranged[i], __ATOMIC_ACQUIRE)) return false;
    return u9i_key_below(e, &v->ranges[i].low) || u9i_key_below(&v->ranges[i].high, e);
}

size_t u9i_lookup_last(const u9i_view *v, const u9i_key_entry *e)
{
    size_t low = 0, high = v->count; /* those before `low` begin at or below the key */
    if (v->bins) u9i_bins_at(v->bins, e->hi, &low, &high);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u9i_key_below(e, &v->ranges[middle].low)) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* Of a segment to which a key of this entry may belong, unless its range tells otherwise; as get_in_segment. */
static u9_err get_if_in_range(u9_log *log, u9i_view *v, size_t i, const u9i_key_entry *e, lookup *l, u9_fault *fault)
{
    const u9i_indexed *s = v->segments[i];
    if (e == NULL || !u9i_lookup_excludes(v, i, e) || s->index.spec.hashed) return get_in_segment(log, v, i, l, fault);
    l->lossy |= s->lost_before > 0;
    return U9_ABSENT;
}

/* By the pages of the view's indexes, one segment after the other. U9_ABSENT, U9_CORRUPT as get_in_segment. */
static u9_err get_by_pages(u9_log *log, u9i_view *v, const u9i_key_entry *e, lookup *l, u9_fault *fault)
{
    bool row = e && atomic_load_explicit(&v->order, memory_order_acquire) == U9I_ORDER_ROW;
    l->lossy = row && atomic_load(&v->lossy);
    for (size_t i = row ? u9i_lookup_last(v, e) : v->count; i-- > 0;) {
        if (row && u9i_key_below(&v->ranges[i].high, e)) break; /* those before it end earlier still */
        u9_err err = get_if_in_range(log, v, i, e, l, fault);
        if (err != U9_ABSENT) return err;
    }
    return U9_ABSENT;
}

/*
 * The record that was guessed, if it has the key. U9_ABSENT: it has not, and a right index may lead there all the same;
 * U9_CORRUPT: that is not what an index says.
 */
static u9_err match_guess(u9_log *log, lookup *l, const u9i_tabled_view *t, const u9i_guess *g, u9i_indexed *s)
{
    const u9i_open_frame *f;
    u9i_open_frame *own;
    u9i_found found;
    int sys;
    uint64_t segment = s->segment->facts.number;
    u9i_frames_bring_record(&s->frames, g->at);
    if (u9i_frames_at(&s->frames, (g->at >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN, &f, &own, &sys) != U9_OK) return U9_CORRUPT;
    u9_err err = U9_CORRUPT;
    if (f->kind == U9I_BODY_PART) {
        err = match_parts(log, l, segment, f, g->at);
    } else if (u9i_open_frame_record(&s->frames, f, g->at, &found) == U9_OK) {
        u9_record r = u9i_lookup_record(segment, f, &found);
        err = match_record(l, &r) ? U9_OK : u9i_tabled_mistakes(t, g, l->key, &r.key) ? U9_ABSENT : U9_CORRUPT;
        u9i_found_free(&found);
    }
    if (u9i_open_frame_fell(&s->frames, f)) err = U9_CORRUPT;
    u9i_open_frame_free(own);
    return err;
}

/* By the view's table, and by pages in segments that are not in it; the newest one first. As get_by_pages. */
static u9_err get_by_table(u9_log *log, u9i_view *v, const u9i_tabled_view *t, const u9i_key_entry *e, lookup *l, u9_fault *fault)
{
    u9i_guess g = {.rank = UINT64_MAX};
    size_t rest = t->rest_count;
    l->lossy = t->lossy;
    bool guessed;
    u9_err err;
    do {
        guessed = u9i_tabled_find(t, l->key, &g);
        for (; rest > 0 && (!guessed || t->rest[rest - 1] > g.i); rest--) {
            err = get_if_in_range(log, v, t->rest[rest - 1], e, l, fault);
            if (err != U9_ABSENT) return err;
        }
        if (guessed) l->in = v->segments[g.i];
        err = guessed ? match_guess(log, l, t, &g, v->segments[g.i]) : U9_ABSENT;
    } while (err == U9_ABSENT && guessed);
    return err;
}

/*
 * Where segments are in a row, and what is looked at is at hand: as most lookups go. U9_AGAIN: it is not, as with a
 * segment's least key, which the one before it may end with; no other key can be in two.
 */
static u9_err get_at_hand(const u9i_view *v, const u9i_key_entry *key, lookup *l)
{
    const u9i_open_frame *f;
    u9i_found found;
    u9i_key_entry e = *key;
    size_t end = u9i_lookup_last(v, &e);
    if (end == 0) return U9_AGAIN;
    const u9i_indexed *s = v->segments[end - 1];
    if (s->index.spec.width != l->key->size) return U9_AGAIN; /* no hashes: they are in no row */
    e.at = s->limit;
    u9_err err = u9i_index_find_at_hand(&s->index, l->key, &e, &f, &found);
    if (err == U9_ABSENT && atomic_load(&v->lossy)) return U9_AGAIN; /* one of those that were lost may have had it */
    if (err == U9_OK) {
        u9_record r = u9i_lookup_record(s->segment->facts.number, f, &found);
        found_record(l, &r);
        l->in = s;
    }
    bool beside = s->index.source != s->segment && s->index.source;
    bool broken = u9i_segment_broken(s->segment) || (beside && u9i_segment_broken(s->index.source));
    return broken ? U9_AGAIN : err; /* what was looked at may have been zeros */
}

/* By the view's indexes. U9_ABSENT, U9_CORRUPT as get_in_segment; U9_AGAIN: a fresh view is wanted. */
static u9_err get_in_view(u9_log *log, u9i_view *v, lookup *l, u9_fault *fault)
{
    u9i_key_entry entry;
    const u9i_key_entry *e = u9i_lookup_entry(log, l->key, &entry) ? &entry : NULL;
    const u9i_tabled_view *t = atomic_load_explicit(&v->tabled, memory_order_acquire);
    bool row = e && t == NULL && atomic_load_explicit(&v->order, memory_order_acquire) == U9I_ORDER_ROW;
    u9_err err = row ? get_at_hand(v, e, l) : U9_AGAIN;
    if (err == U9_OK) {
        l->lossy = u9i_lookup_newer_lost(v, l->in, l->found.at);
        return err;
    }
    if (err == U9_AGAIN) err = t ? get_by_table(log, v, t, e, l, fault) : U9_CORRUPT;
    if (err == U9_CORRUPT) *l = (lookup){.key = l->key, .buf = l->buf, .cap = l->cap};
    if (err == U9_CORRUPT) err = get_by_pages(log, v, e, l, fault);
    if (err == U9_OK) l->lossy = u9i_lookup_newer_lost(v, l->in, l->found.at);
    l->kept_from = v->catalog->trim.ordinal;
    u9i_view_go_on(log, v);
    if (err != U9_ABSENT || v->catalog->untold == 0) return err;
    int scanned = atomic_load_explicit(&v->scanned, memory_order_acquire);
    l->lossy |= scanned == U9I_SCANNED_LOSSY;
    return scanned == U9I_NOT_SCANNED ? U9_CORRUPT : U9_ABSENT; /* only a scan tells */
}

/* The record at one of these places, if it has the key. U9_ABSENT; U9_CORRUPT: something else stands there. */
static u9_err match_written(u9_log *log, lookup *l, u9i_indexed *s, uint64_t segment, uint64_t at, bool in_frame)
{
    const u9i_open_frame *f;
    u9i_open_frame *own;
    u9i_found found = {.own = NULL};
    int sys;
    u9_err err = u9i_frames_at(&s->frames, (at >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN, &f, &own, &sys);
    if (err != U9_OK) return U9_CORRUPT;
    if (!in_frame && f->kind == U9I_BODY_PART) {
        err = match_parts(log, l, segment, f, at);
    } else {
        err = in_frame ? u9i_open_frame_find(&s->frames, f, l->key, UINT64_MAX, &found)
                       : u9i_open_frame_record(&s->frames, f, at, &found);
        if (err == U9_OK) {
            u9_record r = u9i_lookup_record(segment, f, &found);
            if (!match_record(l, &r)) err = U9_CORRUPT; /* another key of the same hash */
            u9i_found_free(&found);
        }
    }
    u9i_open_frame_free(own);
    return err;
}

/* In a file that the handle's writer has written to: at one of the places that its keys tell. */
static u9_err get_written(u9_log *log, lookup *l, const u9i_written_spot *spot, u9_fault *fault)
{
    u9i_indexed *s;
    u9_err err = u9i_view_written(log, spot, &s, fault);
    if (err != U9_OK) return err;
    err = spot->frame != 0 ? match_written(log, l, s, spot->segment, spot->frame, true) : U9_ABSENT;
    uint64_t best = err == U9_OK ? l->found.at : 0;
    if ((err == U9_OK || err == U9_ABSENT) && spot->at > best) err = match_written(log, l, s, spot->segment, spot->at, false);
    u9i_indexed_release(s);
    return err == U9_OK || err == U9_ABSENT ? err : U9_CORRUPT;
}

/* What the handle's writer has: its record is in `l` then. U9_ABSENT; U9_CORRUPT: only a scan can say. */
static u9_err get_from_writer(u9_log *log, lookup *l, u9_fault *fault)
{
    u9_record r;
    u9i_written_spot spots[2];
    unsigned count;
    u9_err err = u9i_writer_find(&log->writer, l->key, l->buf, l->cap, &r, spots, &count);
    if (err == U9_LIMIT && r.frame == 0) { /* who reads it in pieces must know where it stands */
        u9_err placed = u9i_writer_find_written(&log->writer, l->key, spots, &count);
        if (placed != U9_CORRUPT) err = placed; /* U9_ABSENT: its file is sealed by now, and the view has it */
    }
    if (err == U9_AGAIN) {
        err = U9_ABSENT;
        for (unsigned i = 0; i < count && err == U9_ABSENT; i++) err = get_written(log, l, &spots[i], fault);
        return err;
    }
    if (err != U9_OK && err != U9_LIMIT) return err;
    l->found = r;
    l->there = true;
    l->copied = err == U9_OK;
    return U9_OK;
}

/* It is not in this view: nor in a fresh one, if that is another? As get_in_view. */
static u9_err get_in_fresh(u9_log *log, const u9i_view *stale, lookup *l, u9_fault *fault)
{
    u9i_seated s = {.seat = NULL};
    u9_err err = u9i_view_take(log, true, &s.view, fault);
    if (err != U9_OK) return err;
    err = U9_ABSENT;
    if (s.view != stale) {
        l->lossy = false;
        err = get_in_view(log, s.view, l, fault);
    }
    u9i_view_rise(&s);
    return err;
}

/* The newest one there is: its record is in `l` then. U9_ABSENT. */
static u9_err get_by_index(u9_log *log, lookup *l, u9_fault *fault)
{
    for (unsigned tries = 0; tries < 3; tries++) {
        u9i_seated s = {.seat = NULL};
        u9_err err = U9_ABSENT;
        if (log->writing && u9i_writer_has_begun(&log->writer)) err = get_from_writer(log, l, fault);
        if (err != U9_ABSENT) return err;
        err = tries > 0 ? u9i_view_take(log, true, &s.view, fault) : u9i_view_sit(log, &s, fault);
        if (err != U9_OK) return err;
        err = get_in_view(log, s.view, l, fault);
        if (err == U9_ABSENT && tries == 0 && !log->writing) err = get_in_fresh(log, s.view, l, fault);
        u9i_view_rise(&s);
        if (err != U9_AGAIN) return err;
    }
    return U9_CORRUPT;
}

/* Why there is none. */
static u9_err tell_absent(const u9_log *log, const lookup *l, u9_fault *fault)
{
    const u9i_where *at = U9I_AT(.path = log->source.path);
    if (l->lossy) return u9i_fault(fault, U9_CORRUPT, at, "no record has this key, but records were lost to damage");
    if (l->kept_from > 0)
        return u9i_fault(fault, U9_ABSENT, at, "no record that is kept has this key; records before %llu were trimmed",
                         (unsigned long long)l->kept_from);
    return u9i_fault(fault, U9_ABSENT, at, "no record has this key");
}

/* What the lookup came to; *out stays as it is where there is no record to show. */
static u9_err tell_found(u9_log *log, lookup *l, u9_record *out, u9_fault *fault)
{
    if (!l->there) return tell_absent(log, l, fault);
    if (l->found.size > l->cap) return tell_size(log, l, out, fault);
    u9_err err = l->copied ? U9_OK : fetch_large(log, l, fault);
    if (err != U9_OK) return err;
    *out = l->found;
    return l->lossy ? tell_newer_lost(log, fault) : U9_OK;
}

u9_err u9i_lookup_check(const u9_log *log, const u9_key *key, u9_fault *fault)
{
    if (log == NULL || key == NULL || key->data == NULL) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    if (!u9i_log_forked(log)) {
        if (log->keys.type == 0 || u9i_kind_fits(&log->keys, key->data, key->size, NULL) == U9_OK) return U9_OK;
        return check_key(log, log->kind, key, fault);
    }
    return u9i_fault(fault, U9_STATE, U9I_AT(.path = log->source.path), "the handle belongs to the parent process");
}

u9_err u9_log_get(u9_log *log, const u9_key *key, void *buf, size_t cap, u9_record *out,
                  u9_fault *fault)
{
    if (out == NULL || (buf == NULL && cap > 0)) return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    u9_err err = u9i_lookup_check(log, key, fault);
    if (err != U9_OK) return err;
    lookup l = {.key = key, .buf = buf, .cap = cap};
    err = get_by_index(log, &l, fault);
    if (err == U9_CORRUPT) {
        l = (lookup){.key = key, .buf = buf, .cap = cap};
        err = u9i_lookup_sync(log, fault);
        if (err == U9_OK) err = get_by_scan(log, &l, fault);
    }
    u9_record found = {.size = 0};
    if (err == U9_OK || err == U9_ABSENT) err = tell_found(log, &l, &found, fault);
    if (err == U9_OK || err == U9_LIMIT || err == U9_CORRUPT) *out = found;
    return err;
}
