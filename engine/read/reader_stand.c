/*
 * engine/read/reader_stand.c: a reader that goes on in a later catalog of its log. See reader.h.
 */
#include "engine/read/back.h"

#include <string.h>

void u9i_reader_stand(const u9i_reader *r, u9i_stand *out)
{
    memset(out, 0, sizeof *out);
    out->inside = r->reading;
    for (size_t i = r->index + r->reading; i > 0 && out->number == 0; i--) /* what is off the row may come to be on it */
        if (u9i_facts_on_row(u9i_catalog_facts(r->catalog, i - 1))) out->number = u9i_catalog_facts(r->catalog, i - 1)->number;
    if (!r->reading) return;
    memcpy(out->boundary, u9i_reader_facts(r)->secret.boundary, sizeof out->boundary);
    out->judge = r->iterator.judge;
}

/* The segment of the row that it stands in; the catalog's count: it is not there any more. */
static size_t find_stand(const u9i_reader *r, const u9i_stand *stand)
{
    for (size_t i = u9i_reader_next_on_row(r, 0); stand->inside && i < r->catalog->count; i = u9i_reader_next_on_row(r, i + 1)) {
        const u9i_facts *f = u9i_catalog_facts(r->catalog, i);
        if (f->number == stand->number && memcmp(f->secret.boundary, stand->boundary, sizeof stand->boundary) == 0) return i;
    }
    return r->catalog->count;
}

/* Behind a segment that is gone, or was left: at the next of the row. True: those between were trimmed, which is told. */
static bool turn_behind(u9i_reader *r, const u9i_stand *stand, u9i_step *step)
{
    const u9i_catalog *c = r->catalog;
    size_t i = u9i_reader_next_on_row(r, 0);
    while (i < c->count && u9i_catalog_facts(c, i)->number <= stand->number) i = u9i_reader_next_on_row(r, i + 1);
    uint64_t here = r->at.ordinal, there = u9i_catalog_kept(c, stand->number + 1);
    size_t first = u9i_reader_missing(r, i);
    r->index = i;
    if (c->trim.segment <= stand->number || !r->knows_at || there <= here) {
        r->missing = i < c->count ? first : c->missing_count;
        return false;
    }
    r->missing = first;
    u9i_facts gone = {.number = stand->number + 1};
    u9i_segment_name(gone.number, gone.name);
    u9i_damage_site site = {.verdict = U9_V_TORN, .reason = U9_R_TRIMMED, .ordinal = here, .lost = there - here};
    r->at = (u9i_position){.ordinal = there};
    r->knows_chain = false;
    (void)u9i_reader_tell(r, step, &gone, site);
    return true;
}

/* It begins with the same segment as before, or with the next one that is there. */
static void begin_with(u9i_reader *r, uint64_t number)
{
    r->first_unit = 0;
    while (r->first_unit < r->index && u9i_catalog_facts(r->catalog, r->first_unit)->number < number) r->first_unit++;
}

u9_err u9i_reader_switch(u9i_reader *r, u9i_catalog *catalog, const u9i_stand *stand, u9i_step *step, bool *told,
                       u9_fault *fault)
{
    const u9i_judge *j = &stand->judge;
    uint64_t first = r->first_unit > 0 && r->first_unit < r->catalog->count ? u9i_catalog_facts(r->catalog, r->first_unit)->number : 0;
    *told = false;
    u9i_reader_leave(r);
    u9i_catalog_unref(r->catalog);
    r->catalog = catalog;
    r->only = catalog->count;
    size_t i = find_stand(r, stand);
    r->backwards = r->leaving = r->again = false;
    u9i_trail_drop(r);
    r->missing_end = catalog->missing_count;
    r->passed = r->passed_index = 0;
    if (stand->inside) {
        r->at = (u9i_position){.offset = j->pos, .ordinal = j->ordinal};
        memcpy(r->at.chain, j->chain, sizeof r->at.chain);
        r->begun = true;
        r->knows_at = j->knows_ordinal;
        r->knows_chain = j->knows_chain;
    }
    if (i == catalog->count) {
        *told = turn_behind(r, stand, step);
        begin_with(r, first);
        r->place = (u9i_spot){.unit = r->index};
        u9i_reader_check(r);
        return U9_OK;
    }
    r->index = i;
    begin_with(r, first);
    r->place = (u9i_spot){.unit = i, .frame = r->place.frame, .since = r->place.since};
    r->missing = u9i_reader_missing(r, i + 1);
    u9_err err = u9i_source_iterate(r->source, catalog->segments[i], NULL, false, &r->iterator, fault);
    if (err != U9_OK) return err;
    u9i_iterator_take_up(&r->iterator, j);
    r->reading = true;
    u9i_reader_check(r);
    return U9_OK;
}
