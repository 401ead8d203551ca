/*
 * engine/read/join.c: records that stand in parts: joined as a reader passes their parts, and looked back for where
 * a range begins in the midst of one. [C-6] [P-1]
 */
#include "engine/read/reader.h"

/* The record that the row's parts are, now that the last one is there. */
static u9_err make_record(u9i_reader *r)
{
    const u9i_part_row *p = &r->parts;
    if (p->total <= U9I_BODY_MAX) {
        r->body = (u9i_body){.kind = U9I_BODY_RECORDS, .bytes = p->bytes, .size = (size_t)p->total};
        return u9i_reader_prove(r) == U9_OK ? U9_OK : U9_CORRUPT;
    }
    if (u9i_record_front(p->bytes, U9I_BODY_MAX, p->total, &r->first) != U9_OK) return U9_CORRUPT;
    r->last = r->first;
    r->large = p->total;
    return U9_OK;
}

u9_err u9i_reader_join(u9i_reader *r, const u9i_frame *f)
{
    u9i_part_record part;
    r->large = 0;
    if (u9i_part_record_decode(r->body.bytes, r->body.size, &part) != U9_OK) return U9_CORRUPT;
    u9i_part_row_take(&r->parts, f, &part);
    if (f->trailer.count == 0) return U9_OK;
    return u9i_part_row_close(&r->parts) ? make_record(r) : U9_TORN;
}

u9i_damage_site u9i_reader_lacks(const u9i_reader *r, const u9i_frame *f)
{
    const u9i_part_row *p = &r->parts;
    return (u9i_damage_site){.verdict = U9_V_CORRUPT, .reason = U9_R_PART, .begin = f->offset,
                             .end = f->end, .ordinal = f->trailer.ordinal, .lost = f->trailer.count,
                             .part = p->missing, .part_at = p->missing_at,
                             .part_lacks = u9i_part_row_lacks(p), .part_total = p->total};
}

/*
 * Where the row begins that goes on in frame f, which no iterator has to pass to find it: its part 0, by what the
 * parts name, each of which is before the one that names it. The segment's start if they lead to none.
 */
static u9_err find_row(u9i_window *window, const u9i_frame *f, const u9i_part_record *part,
                       uint8_t *scratch, uint64_t *start)
{
    u9i_frame g = {.offset = f->offset};
    u9i_part_record p = *part;
    u9i_body body;
    size_t need;
    *start = U9I_DISK_HEADER_SIZE;
    while (p.number > 0) {
        u9_err err = p.before < g.offset ? u9i_window_at(window, p.before, g.offset, &g) : U9_CORRUPT;
        if (err == U9_IO) return err;
        uint32_t number = p.number;
        if (err != U9_OK || u9i_body_open(&g, scratch, U9I_BODY_MAX, &need, &body) != U9_OK ||
            body.kind != U9I_BODY_PART ||
            u9i_part_record_decode(body.bytes, body.size, &p) != U9_OK || p.number != number - 1)
            return U9_OK;
    }
    *start = g.offset;
    return U9_OK;
}

/* Passes the frames of [start, f) for the row that goes on in f. */
static u9_err follow_row(u9i_reader *r, u9i_iterator *it, uint64_t start, const u9i_frame *f)
{
    u9i_step step = U9I_STEP_DAMAGE;
    size_t need;
    u9_err err = u9i_iterator_range(it, start, f->offset);
    while (err == U9_OK && (err = u9i_iterator_step(it, &step)) == U9_OK && step != U9I_STEP_END)
        if (step == U9I_STEP_FRAME &&
            u9i_body_open(&it->frame, r->scratch, U9I_BODY_MAX, &need, &r->body) == U9_OK &&
            r->body.kind == U9I_BODY_PART)
            (void)!u9i_reader_join(r, &it->frame);
    return err;
}

u9_err u9i_reader_catch_up(u9i_reader *r, const u9i_part_record *part, u9_fault *fault)
{
    const u9i_frame *f = r->frame;
    u9i_iterator it;
    uint64_t start;
    u9_err err = u9i_source_iterate(r->source, r->catalog->segments[r->index], NULL, false, &it, fault);
    if (err != U9_OK) return err;
    u9i_part_row_reset(&r->parts);
    err = find_row(it.window, f, part, r->scratch, &start);
    if (err == U9_OK) err = follow_row(r, &it, start, f);
    if (err != U9_OK) (void)u9i_source_fault(r->source, &it, err, fault);
    u9i_iterator_close(&it);
    return err;
}
