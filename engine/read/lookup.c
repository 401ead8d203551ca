/*
 * engine/read/lookup.c: the newest record of a key, by a scan from the last segment backwards.
 *
 * Segments are read in runs that begin with a u9open: what the first frame of one without must say depends on
 * the segments before it. [F-9]
 */
#include "engine/log/handle.h"
#include "engine/read/cursor.h"
#include "format/id/kind.h"

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
    u9_record found; /* bytes NULL: nothing; else copied into buf if it fits */
    bool fits;
} lookup;

static void match_record(lookup *l, const u9_record *r)
{
    if (r->key.size == 0 || r->key.size != l->key->size || memcmp(r->key.data, l->key->data, r->key.size) != 0) return;
    l->found = *r;
    l->fits = r->size <= l->cap;
    if (l->fits) keep_record(r, l->buf, &l->found);
}

/* Reads the segments [first, last] to their end. */
static u9_err scan_run(u9_cursor *c, size_t first, size_t last, lookup *l)
{
    u9_record r;
    u9_err err;
    u9i_cursor_segments(c, first, last);
    while ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_CORRUPT || err == U9_VERSION ||
           err == U9_ABSENT)
        if (err == U9_OK) match_record(l, &r);
    return err == U9_END ? U9_OK : err;
}

/* Reads run after run, the last one first, until one has the key. */
static u9_err scan_backwards(u9_cursor *c, lookup *l)
{
    const u9i_catalog *catalog = c->reader.catalog;
    u9_err err = U9_OK;
    for (size_t end = catalog->count, first; end > 0 && err == U9_OK && !l->found.bytes; end = first) {
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
    if (l.found.bytes == NULL && lossy)
        return u9i_fault(fault, U9_CORRUPT, at,
                         "no record has this key, but records were lost to damage");
    if (l.found.bytes == NULL && kept_from > 0)
        return u9i_fault(fault, U9_ABSENT, at, "no record that is kept has this key; records before %llu were trimmed",
                         (unsigned long long)kept_from);
    if (l.found.bytes == NULL) return u9i_fault(fault, U9_ABSENT, at, "no record has this key");
    if (!l.fits) {
        out->size = l.found.size;
        return u9i_fault(fault, U9_LIMIT, at, "the record has %zu bytes", l.found.size);
    }
    *out = l.found;
    return U9_OK;
}
