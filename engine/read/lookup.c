/*
 * engine/read/lookup.c: the newest record of a key, by a scan from the last segment backwards.
 *
 * Segments are read in runs that begin with a u9open: what the first frame of one without must say depends on
 * the segments before it. [F-9]
 */
#include "engine/log/handle.h"
#include "engine/read/cursor.h"
#include "format/id/kind.h"

#include <u9/large.h>

#include <string.h>

/* A found record, moved into the caller's buffer. */
static void keep_record(const u9_record *r, void *buf, u9_record *out)
{
    *out = *r;
    memcpy(buf, r->bytes, r->size);
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
} lookup;

static void match_record(lookup *l, const u9_record *r)
{
    if (r->key.size == 0 || r->key.size != l->key->size || memcmp(r->key.data, l->key->data, r->key.size) != 0) return;
    l->found = *r;
    l->there = true;
    l->copied = r->bytes != NULL && r->size <= l->cap;
    if (l->copied) keep_record(r, l->buf, &l->found);
}

/* Reads the segments [first, last] to their end. */
static u9_err scan_run(u9_cursor *c, size_t first, size_t last, lookup *l)
{
    u9_record r;
    u9_err err;
    u9i_cursor_segments(c, first, last);
    while ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_CORRUPT || err == U9_VERSION || err == U9_LIMIT ||
           err == U9_ABSENT)
        if (err == U9_OK || err == U9_LIMIT) match_record(l, &r);
    return err == U9_END ? U9_OK : err;
}

/* Reads run after run, the last one first, until one has the key. */
static u9_err scan_backwards(u9_cursor *c, lookup *l)
{
    const u9i_catalog *catalog = c->reader.catalog;
    u9_err err = U9_OK;
    for (size_t end = catalog->count, first; end > 0 && err == U9_OK && !l->there; end = first) {
        first = end - 1;
        while (first > 0 && !u9i_catalog_facts(catalog, first)->has_open) first--;
        err = scan_run(c, first, end - 1, l);
    }
    return err;
}

u9_err u9i_cursor_check_key(const u9_cursor *c, const u9_key *key, u9_fault *fault)
{
    const char *text = c->log->kind[0] ? c->log->kind : c->reader.catalog->kind;
    u9i_kind kind;
    u9_id_reason why = U9_ID_FINE;
    if (u9i_kind_parse(text, strlen(text), &kind, NULL) != U9_OK ||
        u9i_kind_fits(&kind, key->data, key->size, &why) == U9_OK)
        return U9_OK;
    return u9i_fault(fault, U9_ARG, U9I_AT(.path = c->log->source.path, .rule = "L-6"),
                     "no key of kind '%.80s': %s", text, u9_id_reason_text(why));
}

/* A record that no cursor hands out at once, and for which there is room: read in pieces. [C-6] */
static u9_err fetch_large(u9_log *log, lookup *l, u9_fault *fault)
{
    u9_reading *reading;
    size_t got;
    u9_record *f = &l->found;
    u9_err err = u9_record_open(log, f, &reading, fault);
    if (err != U9_OK) return err;
    err = u9_record_read(reading, 0, l->buf, f->size, &got, fault);
    u9_record_close(reading);
    if (err != U9_OK) return err;
    f->bytes = l->buf;
    f->values = f->bytes + (f->size - f->values_size);
    f->key.data = f->values - f->key.size;
    return U9_OK;
}

/* There is no room for it: what it is, but for its bytes. */
static u9_err tell_size(const u9_log *log, const lookup *l, u9_record *out, u9_fault *fault)
{
    *out = l->found;
    out->bytes = out->values = NULL;
    out->key.data = l->key->data;
    return u9i_fault(fault, U9_LIMIT, U9I_AT(.path = log->source.path), "the record has %zu bytes", out->size);
}

u9_err u9_log_get(u9_log *log, const u9_key *key, void *buf, size_t cap, u9_record *out,
                  u9_fault *fault)
{
    if (key == NULL || key->data == NULL || out == NULL || (buf == NULL && cap > 0))
        return u9i_fault(fault, U9_ARG, U9I_AT(), "an argument is NULL");
    u9_cursor *c;
    u9_err err = u9_cursor_open(log, NULL, &c, fault);
    if (err != U9_OK) return err;
    lookup l = {.key = key, .buf = buf, .cap = cap};
    err = u9i_cursor_check_key(c, key, &c->fault);
    if (err == U9_OK) err = scan_backwards(c, &l);
    bool lossy = c->lossy;
    uint64_t kept_from = c->reader.catalog->trim.ordinal;
    if (fault && err != U9_OK) *fault = c->fault;
    u9_cursor_close(c);
    if (err != U9_OK) return err;
    const u9i_where *at = U9I_AT(.path = log->source.path);
    if (!l.there && lossy)
        return u9i_fault(fault, U9_CORRUPT, at,
                         "no record has this key, but records were lost to damage");
    if (!l.there && kept_from > 0)
        return u9i_fault(fault, U9_ABSENT, at, "no record that is kept has this key; records before %llu were trimmed",
                         (unsigned long long)kept_from);
    if (!l.there) return u9i_fault(fault, U9_ABSENT, at, "no record has this key");
    if (l.found.size > cap) return tell_size(log, &l, out, fault);
    if (!l.copied) err = fetch_large(log, &l, fault);
    if (err == U9_OK) *out = l.found;
    return err;
}
