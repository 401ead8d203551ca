/*
 * engine/read/reader_body.c: what stands in a reader's frame, opened and proven. See reader.h. [R-9] [E-3]
 */
#include "engine/read/reader.h"

#include "engine/os/process.h"

#include <string.h>

u9_err u9i_reader_prove(u9i_reader *r)
{
    const uint8_t *next = r->body.bytes;
    size_t left = r->body.size;
    u9_err err = u9i_body_next(&r->body, &next, &left, &r->first);
    r->last = r->first;
    r->keyless = 0;
    uint32_t n = 0;
    for (; err == U9_OK; n++) {
        r->keyless += r->last.key_size == 0;
        err = u9i_body_next(&r->body, &next, &left, &r->last);
    }
    if (err != U9_END) return err;
    return n == r->count ? U9_OK : U9_CORRUPT;
}

/* Proves the records, once where that is remembered. */
static u9_err prove_body(u9i_reader *r, const u9i_frame *f)
{
    u9i_verified *verified = r->leans ? r->iterator.window->verified : NULL;
    if (verified && u9i_verified_has_body(verified, f->offset)) return U9_OK;
    u9_err err = u9i_reader_prove(r);
    if (err == U9_OK && verified && !(r->iterator.map && u9i_mapping_broken(r->iterator.map)))
        u9i_verified_note_body(verified, f->offset);
    return err;
}

/* A control record must be whole, and a u9open must say what its trailer says. [C-2] [C-3] */
static u9_err prove_control(const u9i_body *b, const u9i_frame *f)
{
    u9i_open_record open;
    u9i_end_record end;
    u9i_trim_record trim;
    u9i_page_record page;
    u9i_mark_record mark;
    u9i_span bits;
    u9_err err = U9_OK;
    switch (b->kind) {
    case U9I_BODY_OPEN:
        err = u9i_open_record_decode(b->bytes, b->size, &open);
        if (err == U9_OK && (open.end.ordinal != f->trailer.ordinal ||
                             memcmp(open.end.chain, f->trailer.chain, U9I_HASH_SIZE) != 0))
            err = U9_CORRUPT;
        break;
    case U9I_BODY_END: err = u9i_end_record_decode(b->bytes, b->size, &end); break;
    case U9I_BODY_TRIM: err = u9i_trim_record_decode(b->bytes, b->size, &trim); break;
    case U9I_BODY_PAGE: err = u9i_page_record_decode(b->bytes, b->size, &page); break;
    case U9I_BODY_BITS: err = u9i_bits_record_decode(b->bytes, b->size, &bits); break;
    case U9I_BODY_MARK: err = u9i_mark_record_decode(b->bytes, b->size, &mark); break;
    case U9I_BODY_EMPTY:
    case U9I_BODY_RECORDS:
    case U9I_BODY_PART:
    case U9I_BODY_OTHER: break;
    }
    return err;
}

u9_err u9i_reader_row_room(u9i_reader *r, u9_fault *fault)
{
    if (r->parts.bytes == NULL) r->parts.bytes = u9i_pages(U9I_BODY_MAX);
    if (r->parts.bytes) return U9_OK;
    return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = r->source->path), "out of memory");
}

/* The first part in a range: the row that it goes on with is looked up. U9_IO, U9_NOMEM: may be tried again. */
static u9_err know_row(u9i_reader *r, u9_fault *fault)
{
    const u9i_frame *f = r->frame;
    u9i_part_record part;
    size_t need;
    if (r->parts_known || u9i_part_record_decode(r->body.bytes, r->body.size, &part) != U9_OK)
        return U9_OK;
    u9_err err = part.number > 0 ? u9i_reader_catch_up(r, &part, fault) : U9_OK;
    r->again = err != U9_OK;
    if (r->again) return err;
    r->parts_known = true;
    return u9i_body_open(f, r->scratch, U9I_BODY_MAX, &need, &r->body); /* its scratch was used */
}

/* A plain frame's body is values as they stand. [E-3] */
static u9_err open_plain(u9i_reader *r, u9i_step *step)
{
    const u9i_frame *f = r->frame;
    r->body = (u9i_body){.kind = f->body_size > 0 ? U9I_BODY_RECORDS : U9I_BODY_EMPTY, .bytes = f->body,
                         .size = f->body_size, .plain = true};
    if (f->body_size == 0 || (f->body_size <= U9I_BODY_MAX && u9i_reader_prove(r) == U9_OK)) return U9_OK;
    return u9i_reader_tell(r, step, u9i_reader_facts(r),
                       (u9i_damage_site){.verdict = U9_V_UNKNOWN, .reason = U9_R_BODY, .begin = f->offset,
                                         .end = f->end, .ordinal = f->trailer.ordinal, .lost = U9_NOWHERE});
}

/* */
u9_err u9i_reader_open_body(u9i_reader *r, u9i_step *step, u9_fault *fault)
{
    const u9i_frame *f = r->frame;
    const u9i_facts *s = u9i_reader_facts(r);
    size_t need;
    r->count = f->trailer.count;
    r->large = 0;
    if (r->blind) return U9_OK;
    if (s->plain) return open_plain(r, step);
    u9_err err = u9i_body_open(f, r->scratch, U9I_BODY_MAX, &need, &r->body);
    if (err == U9_OK && r->body.kind == U9I_BODY_PART && r->backwards && r->count == 0) {
        u9i_part_record part; /* the row is joined where its last part is */
        err = u9i_part_record_decode(r->body.bytes, r->body.size, &part);
        if (err != U9_OK) err = U9_CORRUPT;
    } else if (err == U9_OK && r->body.kind == U9I_BODY_PART) {
        err = u9i_reader_row_room(r, fault);
        r->again = err != U9_OK;
        if (err == U9_OK) err = know_row(r, fault);
        if (r->again) return err;
        if (err == U9_OK) err = u9i_reader_join(r, f);
    } else if (err == U9_OK && r->body.kind == U9I_BODY_RECORDS) {
        err = prove_body(r, f);
    } else if (err == U9_OK) {
        err = prove_control(&r->body, f);
    }
    if (err == U9_OK) return U9_OK;
    if (err == U9_TORN) return u9i_reader_tell(r, step, s, u9i_reader_lacks(r, f));
    if (err == U9_VERSION) {
        u9i_source_path(r->source, s->name, r->path, sizeof r->path);
        return u9i_fault(fault, err, U9I_AT_OFFSET(f->offset, .path = r->path, .rule = "B-3",
                                                   .segment = s->number),
                         "a record in a form that this version of the library does not read");
    }
    return u9i_reader_tell(r, step, s,
                       (u9i_damage_site){.verdict = U9_V_CORRUPT, .reason = U9_R_BODY,
                                         .begin = f->offset, .end = f->end,
                                         .ordinal = f->trailer.ordinal, .lost = r->count});
}
