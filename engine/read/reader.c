/*
 * engine/read/reader.c: see reader.h. [L-2] to [L-5] [R-8] [R-9] [P-1] [P-2]
 */
#include "engine/read/reader.h"

#include "engine/os/process.h"

#include <string.h>

u9_err u9i_reader_open(u9i_reader *r, u9i_dir *dir, const char *path, u9_fault *fault)
{
    memset(r, 0, sizeof *r);
    r->stop = U9_NOWHERE;
    u9_err err = u9i_catalog_load(&r->map, dir, path, fault);
    if (err != U9_OK) return err;
    r->scratch = u9i_pages(U9I_BODY_MAX);
    if (r->scratch == NULL) {
        u9i_catalog_release(&r->map);
        return u9i_fault(fault, U9_NOMEM, U9I_AT(.path = path), "out of memory");
    }
    r->frame = &r->walk.frame;
    return U9_OK;
}

void u9i_reader_release(u9i_reader *r)
{
    if (r->walking) u9i_judge_release(&r->walk);
    r->walking = false;
    u9i_pages_free(r->scratch, U9I_BODY_MAX);
    r->scratch = NULL;
    u9i_catalog_release(&r->map);
}

void u9i_reader_from(u9i_reader *r, uint64_t from)
{
    for (size_t i = r->map.count; i > 1; i--) {
        const u9i_facts *s = &r->map.segments[i - 1];
        if (!s->has_open || s->is_void || s->wrong || s->open.end.ordinal > from) continue;
        r->index = i - 1;
        while (r->missing < r->map.missing_count && r->map.missing[r->missing].before < r->index)
            r->missing++;
        return;
    }
}

bool u9i_segment_skipped(const u9i_facts *s)
{
    return s->is_void || (s->blank && !s->named);
}

u9_damage u9i_damage(const u9i_facts *segment, const char *path, const u9i_damage_site *h)
{
    return (u9_damage){.verdict = h->verdict, .reason = h->reason, .segment = segment->number,
                       .path = path, .begin = h->begin, .end = h->end, .ordinal = h->ordinal,
                       .lost = h->lost, .at_most = h->at_most};
}

static u9_err tell(u9i_reader *r, u9i_step *step, const u9i_facts *s, u9i_damage_site site)
{
    u9i_catalog_path(&r->map, s, r->path, sizeof r->path);
    r->damage = u9i_damage(s, r->path, &site);
    *step = U9I_STEP_DAMAGE;
    return U9_OK;
}

/*
 * Goes on at the next segment that counts: fills the ordinals that are lost up to where its u9open
 * says that the log stood, U9_NOWHERE if that, or where the log stands here, is not known. [L-4]
 */
static void skip_lost(u9i_reader *r, u9i_damage_site *site)
{
    size_t i = r->index;
    while (i < r->map.count && (u9i_segment_skipped(&r->map.segments[i]) || r->map.segments[i].wrong))
        i++;
    bool known = i < r->map.count && r->map.segments[i].has_open && (r->knows_at || !r->begun);
    uint64_t here = r->begun ? r->at.ordinal : r->map.trim.ordinal; /* 0 where nothing was trimmed */
    uint64_t next = known ? r->map.segments[i].open.end.ordinal : 0;
    if (known) site->ordinal = here;
    site->lost = known && next >= here ? next - here : U9_NOWHERE;
    r->at.ordinal = next;
    r->begun = true;
    r->knows_at = known;
    r->knows_chain = false;
}

/* A segment that should stand before segments[index] is not there. [L-4] */
static u9_err tell_missing(u9i_reader *r, u9i_step *step)
{
    u9i_facts gone = {.number = r->map.missing[r->missing++].number};
    u9i_segment_name(gone.number, gone.name);
    u9i_damage_site site = {.verdict = U9_V_CORRUPT, .reason = U9_R_MISSING, .ordinal = U9_NOWHERE};
    skip_lost(r, &site);
    return tell(r, step, &gone, site);
}

/*
 * Ranges need a segment's end before they begin: it is found by one walk if nothing confirms it, and
 * then counts as named. [P-2]
 */
static u9_err confirm_end(u9i_reader *r, u9i_facts *s, u9_fault *fault)
{
    if (s->named) return U9_OK;
    u9i_step step = U9I_STEP_FRAME;
    u9_err err = u9i_judge_begin(&r->walk, &r->map, s, NULL, false, fault);
    if (err != U9_OK) return err;
    while (err == U9_OK && step != U9I_STEP_END) err = u9i_judge_step(&r->walk, &step);
    if (err != U9_OK) (void)u9i_judge_fault(&r->walk, &r->map, err, fault);
    s->named = true;
    s->at = r->walk.end;
    s->tail = U9I_TAIL_NONE;
    u9i_judge_release(&r->walk);
    return err;
}

u9_err u9i_reader_range(u9i_reader *r, uint64_t number, uint64_t begin, uint64_t end,
                        u9_fault *fault)
{
    size_t i = 0;
    while (i < r->map.count && r->map.segments[i].number != number) i++;
    if (i == r->map.count && !(r->map.dir->single[0] && r->map.count == 1))
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = r->map.path),
                         "there is no segment number %llu", (unsigned long long)number);
    if (i == r->map.count) i = 0; /* a single file is the segment, whatever its name says */
    if (begin > end)
        return u9i_fault(fault, U9_ARG, U9I_AT(.path = r->map.path),
                         "the range ends before it begins");
    u9i_facts *s = &r->map.segments[i];
    r->index = i;
    r->missing = r->map.missing_count;
    r->only = i + 1;
    r->stop = end;
    r->announced = begin > U9I_DISK_HEADER_SIZE;
    if (end <= U9I_DISK_HEADER_SIZE) r->index = r->only; /* holds no frame and no gap */
    if (end <= U9I_DISK_HEADER_SIZE || u9i_segment_skipped(s)) return U9_OK;
    u9_err err = confirm_end(r, s, fault);
    if (err != U9_OK || begin <= U9I_DISK_HEADER_SIZE) return err;
    err = u9i_judge_begin(&r->walk, &r->map, s, NULL, false, fault);
    if (err != U9_OK) return err;
    r->walking = true;
    err = u9i_judge_skip(&r->walk, begin);
    return err == U9_OK ? U9_OK : u9i_judge_fault(&r->walk, &r->map, err, fault);
}

/* Begins the next segment, or tells what is wrong with it as a whole. Sets *told if a step is ready. */
static u9_err begin_segment(u9i_reader *r, u9i_step *step, bool *told, u9_fault *fault)
{
    *told = true;
    if (r->missing < r->map.missing_count && r->map.missing[r->missing].before <= r->index)
        return tell_missing(r, step);
    if (r->index >= r->map.count || (r->only && r->index >= r->only)) {
        *step = U9I_STEP_END;
        return U9_OK;
    }
    u9i_facts *s = &r->map.segments[r->index];
    u9i_damage_site site = {.verdict = U9_V_CORRUPT, .reason = s->wrong, .ordinal = U9_NOWHERE};
    if (u9i_segment_skipped(s)) {
        r->index++;
        if (s->is_void) {
            *told = false;
            return U9_OK;
        }
        return tell(r, step, s, (u9i_damage_site){.verdict = U9_V_TORN, .reason = U9_R_BLANK, .end = s->size,
                                           .ordinal = U9_NOWHERE});
    } else if (s->wrong != U9_R_NONE) {
        r->index++;
        skip_lost(r, &site);
        site.end = s->size;
        return tell(r, step, s, site);
    } else if (s->header != U9_OK && !r->announced) {
        r->announced = true;
        site.reason = U9_R_HEADER;
        site.end = U9I_DISK_HEADER_SIZE;
        site.lost = s->barren && !s->named ? U9_NOWHERE : 0; /* [H-4] */
        return tell(r, step, s, site);
    } else {
        u9_err err = u9i_judge_begin(&r->walk, &r->map, s, r->knows_at ? &r->at : NULL,
                                    r->knows_chain, fault);
        if (err != U9_OK) return err;
        r->walking = true;
    }
    *told = false;
    return U9_OK;
}

/* The walk is at its end: looks behind it, once, and turns to the next segment. */
static void end_segment(u9i_reader *r)
{
    const u9i_facts *s = &r->map.segments[r->index];
    u9i_judge *w = &r->walk;
    if (r->seals && !r->sealed && s->named && s->tail == U9I_TAIL_ROLLED) {
        r->sealed = true;
        u9i_judge_seal(w);
        return;
    }
    r->at = w->end;
    r->begun = true;
    r->knows_at = w->knows_ordinal || s->named;
    r->knows_chain = w->knows_chain || s->named;
    r->tail = w->tail;
    r->closed = w->closed;
    r->beyond += w->beyond;
    u9i_judge_release(w);
    r->walking = r->announced = r->sealed = false;
    r->index++;
}

u9_err u9i_reader_prove(u9i_reader *r)
{
    const uint8_t *next = r->body.bytes;
    size_t left = r->body.size;
    u9_err err = u9i_record_next(&next, &left, &r->first);
    r->last = r->first;
    uint32_t n = 0;
    for (; err == U9_OK; n++) err = u9i_record_next(&next, &left, &r->last);
    if (err != U9_END) return err;
    return n == r->count ? U9_OK : U9_CORRUPT;
}

/* A control record must be whole, and a u9open must say what its trailer says. [C-2] [C-3] */
static u9_err prove_control(const u9i_body *b, const u9i_frame *f)
{
    u9i_open_record open;
    u9i_end_record end;
    u9i_trim_record trim;
    u9i_part_record part;
    u9i_page_record page;
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
    case U9I_BODY_PART: err = u9i_part_record_decode(b->bytes, b->size, &part); break;
    case U9I_BODY_PAGE: err = u9i_page_record_decode(b->bytes, b->size, &page); break;
    case U9I_BODY_EMPTY:
    case U9I_BODY_RECORDS:
    case U9I_BODY_OTHER: break;
    }
    return err;
}

/* Opens the body of the frame that the walk found. */
static u9_err open_body(u9i_reader *r, u9i_step *step, u9_fault *fault)
{
    const u9i_frame *f = r->frame;
    const u9i_facts *s = &r->map.segments[r->index];
    size_t need;
    r->count = f->trailer.count;
    u9_err err = u9i_body_open(f, r->scratch, U9I_BODY_MAX, &need, &r->body);
    if (err == U9_OK && r->body.kind == U9I_BODY_RECORDS) err = u9i_reader_prove(r);
    else if (err == U9_OK) err = prove_control(&r->body, f);
    if (err == U9_OK && r->body.kind == U9I_BODY_PART && r->count > 0) err = U9_VERSION;
    if (err == U9_OK) return U9_OK;
    if (err == U9_VERSION) {
        u9i_catalog_path(&r->map, s, r->path, sizeof r->path);
        return u9i_fault(fault, err, U9I_AT_OFFSET(f->offset, .path = r->path, .rule = "B-3",
                                                   .segment = s->number),
                         "a record in a form that this version of the library does not read");
    }
    return tell(r, step, s,
                (u9i_damage_site){.verdict = U9_V_CORRUPT, .reason = U9_R_BODY, .begin = f->offset,
                           .end = f->end, .ordinal = f->trailer.ordinal, .lost = r->count});
}

u9_err u9i_reader_step(u9i_reader *r, u9i_step *step, u9_fault *fault)
{
    for (;;) {
        bool told = false;
        if (!r->walking) {
            u9_err err = begin_segment(r, step, &told, fault);
            if (err != U9_OK || told) return err;
            continue;
        }
        u9_err err = u9i_judge_step(&r->walk, step);
        if (err == U9_OK && *step == U9I_STEP_END) {
            end_segment(r);
            continue;
        }
        if (err != U9_OK) return u9i_judge_fault(&r->walk, &r->map, err, fault);
        const u9i_facts *s = &r->map.segments[r->index];
        if (*step == U9I_STEP_DAMAGE && r->walk.site.reason == U9_R_PADDING &&
            r->frame->offset >= r->stop)
            continue; /* told by the range that owns that frame */
        if (*step == U9I_STEP_DAMAGE) return tell(r, step, s, r->walk.site);
        if (r->frame->offset >= r->stop) { /* [P-1] */
            u9i_judge_release(&r->walk);
            r->walking = false;
            r->index++;
            continue;
        }
        return open_body(r, step, fault);
    }
}
