/*
 * engine/check/witness.c: see witness.h. [M-8]
 */
#include "engine/check/witness.h"

#include <string.h>

void u9i_witness_frame(u9i_witness *w, const u9i_facts *facts, const u9i_frame *f)
{
    const u9_mark *line = w->line;
    const u9i_trailer *t = &f->trailer;
    if (line == NULL) return;
    bool leads = w->begun && memcmp(t->chain, w->last, sizeof w->last) == 0;
    if (!leads) w->from = t->ordinal;
    w->broken |= w->begun && !leads;
    if (!w->begun) memcpy(w->before, t->chain, sizeof w->before);
    w->begun = true;
    memcpy(w->last, f->sha, sizeof w->last);
    if (f->end != line->offset || t->ordinal + t->count != line->ordinal ||
        memcmp(f->sha, line->chain, sizeof line->chain) != 0 ||
        memcmp(facts->secret.boundary, line->boundary, sizeof line->boundary) != 0)
        return;
    w->met = true;
    w->proven = w->from;
    w->proven_whole = !w->broken;
}

void u9i_witness_trimmed(u9i_witness *w, uint64_t first, uint64_t begin, uint64_t next)
{
    const u9_mark *line = w->line;
    if (line == NULL || line->segment < first || line->segment >= next) return;
    w->trimmed |= line->segment > first || line->offset > begin;
}

void u9i_witness_join(u9i_witness *w, const u9i_witness *b)
{
    w->trimmed |= b->trimmed;
    if (!b->begun) return;
    bool first = !w->begun, leads = w->begun && memcmp(b->before, w->last, sizeof w->last) == 0;
    if (b->met) {
        w->proven = leads && b->proven_whole ? w->from : b->proven;
        w->proven_whole = b->proven_whole && (first || (leads && !w->broken));
    }
    w->met |= b->met;
    if (!leads || b->broken) w->from = b->from;
    w->broken |= b->broken || (!first && !leads);
    if (first) memcpy(w->before, b->before, sizeof w->before);
    w->begun = true;
    memcpy(w->last, b->last, sizeof w->last);
}

/* The place of the line, or records before it, are lost by this: that is why it is not met. */
void u9i_witness_damage(u9i_witness *w, const u9_damage *d)
{
    const u9_mark *line = w->line;
    if (line == NULL || d->verdict < U9_V_UNKNOWN) return;
    bool records = d->ordinal != U9_NOWHERE && d->lost != U9_NOWHERE && d->ordinal < line->ordinal &&
                   line->ordinal - d->ordinal <= d->lost;
    bool place = d->begin < line->offset && line->offset <= d->end;
    bool whole = d->reason == U9_R_MISSING || d->reason == U9_R_FOREIGN;
    bool otherwise = d->reason == U9_R_FORK && d->begin == line->offset;
    w->excused |= records || (d->segment == line->segment && (place || whole || otherwise));
}

/* The segment with the line's boundary, else the catalog's count. */
static size_t find_marked(const u9i_witness *w, const u9i_catalog *c)
{
    size_t i = 0;
    while (i < c->count && memcmp(u9i_catalog_facts(c, i)->secret.boundary, w->line->boundary, U9I_HASH_SIZE) != 0) i++;
    return i;
}

static bool of_another_log(const u9i_witness *w, const u9i_catalog *c)
{
    static const uint8_t none[sizeof c->log];
    return memcmp(c->log, w->line->log, sizeof c->log) != 0 && memcmp(c->log, none, sizeof none) != 0;
}

u9_line_state u9i_witness_state(const u9i_witness *w, const u9i_catalog *c, bool single)
{
    if (w->line == NULL) return U9_LINE_NONE;
    if (of_another_log(w, c)) return U9_LINE_FOREIGN;
    if (w->met) return U9_LINE_MET;
    bool gone = single || c->trim.segment > w->line->segment;
    return w->trimmed || (gone && find_marked(w, c) == c->count) ? U9_LINE_GONE : U9_LINE_UNMET;
}

bool u9i_witness_site(const u9i_witness *w, const u9i_catalog *c, size_t last, const u9i_position *at,
                      u9i_facts *facts, u9i_damage_site *site)
{
    const u9_mark *line = w->line;
    size_t i = find_marked(w, c);
    bool foreign = of_another_log(w, c);
    if (w->excused && !foreign) return false;
    *facts = (u9i_facts){.number = line->segment};
    if (i < c->count) *facts = *u9i_catalog_facts(c, i);
    else u9i_segment_name(line->segment, facts->name);
    *site = (u9i_damage_site){.verdict = U9_V_CORRUPT, .reason = U9_R_FORK, .begin = line->offset,
                              .end = line->offset, .ordinal = line->ordinal, .lost = U9_NOWHERE};
    if (foreign) {
        *site = (u9i_damage_site){.verdict = U9_V_CORRUPT, .reason = U9_R_FOREIGN, .ordinal = U9_NOWHERE,
                                  .lost = U9_NOWHERE};
    } else if (at->ordinal < line->ordinal) { /* the log ends before it */
        site->reason = U9_R_MARK;
        site->begin = i == c->count ? 0 : i == last && at->offset < line->offset ? at->offset : line->offset;
        site->ordinal = at->ordinal;
        site->lost = line->ordinal - at->ordinal;
    }
    return true;
}
