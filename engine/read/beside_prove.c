/*
 * engine/read/beside_prove.c: proving an index against its segment: each record that is read is found by it, and each of
 * its entries leads to a record with that key.
 *
 *     entries, sorted by place --.
 *                                +-> side by side, in the order of the file
 *     records, as they are read -'-> each looked up as a reader would
 */
#include "engine/read/beside.h"

#include "engine/read/reader.h"

#include <string.h>

typedef struct proving {
    u9i_beside *b;
    u9i_index *index;    /* borrows */
    u9i_frames frames;
    u9i_budget budget;
    u9i_runs entries;    /* of both forms, by place: see prove_place */
    u9i_key_entry next;  /* the next of them; at: its place */
    bool has_next;
    uint64_t count;      /* records that were read */
    uint64_t wrong;
    bool blind;          /* more was lost than is noted: an entry that leads nowhere may have been right */
    int sys;
} proving;

/* Sorted by (hi, lo, at): the place comes first. */
static u9_err prove_place(void *ctx, const u9i_key_entry *e)
{
    u9i_runs_add(&((proving *)ctx)->entries, &(u9i_key_entry){.hi = e->at, .lo = e->hi, .at = e->lo});
    return U9_OK;
}

static void take_next_place(proving *p)
{
    u9i_key_entry e;
    int more = u9i_runs_next(&p->entries, &e);
    p->has_next = more > 0;
    p->next = (u9i_key_entry){.hi = e.lo, .lo = e.at, .at = e.hi};
    if (more < 0) p->sys = more;
}

/* All entries, in the order of their places. What cannot be opened of them is wrong. */
static u9_err list_entries(proving *p)
{
    u9_err err = u9i_index_each(p->index, U9I_INDEX_FRAMES, prove_place, p);
    if (err == U9_OK) err = u9i_index_each(p->index, U9I_INDEX_RECORDS, prove_place, p);
    if (err == U9_NOMEM) return err;
    if (err != U9_OK) p->wrong++;
    p->sys = u9i_runs_sort(&p->entries);
    if (p->sys == 0) take_next_place(p);
    return U9_OK;
}

/* What an entry leads to may have been lost. */
static bool is_within_loss(const proving *p, uint64_t at)
{
    uint64_t offset = (at >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN;
    return p->blind || u9i_losses_have(&p->b->lost, offset, offset + 1);
}

/* The frame in order in which the key is looked for was: then the index rightly says nothing. [K-2] */
static bool leads_to_loss(const proving *p, const u9_key *key, uint64_t below)
{
    uint64_t at[2];
    return u9i_index_aim(p->index, key, below, at) == U9_OK && at[1] != 0 && is_within_loss(p, at[1]);
}

/* The next entry leads to no record, or to one of another key. Where records were lost, it may have been right. */
static void count_wrong(proving *p)
{
    p->wrong += !is_within_loss(p, p->next.at);
}

/* Those that lead to this record, or to none that was passed. True if one is the record's own. */
static bool pass_entries(proving *p, const u9i_key_entry *e)
{
    bool own = false;
    for (; p->has_next && p->next.at < e->at; take_next_place(p)) count_wrong(p);
    for (; p->has_next && p->next.at == e->at; take_next_place(p)) {
        bool same = u9i_key_same(&p->next, e);
        p->wrong += !same;
        own |= same;
    }
    return own;
}

/* Pages of records are opened at random: where they do not fit the memory that is allowed, each entry would be a read. */
static bool is_too_large(const proving *p)
{
    return p->index->records.entries * (p->index->spec.width + 8) > p->b->memory;
}

/* Frames are kept as long as there is room, and then anew: they come in the order of the file. */
static u9_err open_frames(proving *p)
{
    u9i_segment *s = p->b->catalog->segments[p->b->at];
    uint64_t bound = s->facts.named ? s->facts.at.offset : U9_NOWHERE;
    u9i_frames_close(&p->frames);
    if (p->budget.limit > 0) u9i_budget_close(&p->budget);
    u9i_budget_open(&p->budget, p->b->memory);
    return u9i_frames_open(&p->frames, s, &p->b->log->source.windows, bound, &p->index->spec,
                           p->index->frames.entries > 0, &p->budget, &p->sys);
}

static u9_err prove_record(proving *p, const u9i_record *r, uint64_t at)
{
    u9i_key_entry e;
    const u9i_open_frame *frame;
    u9i_open_frame *own;
    u9i_found found;
    u9_key key = {.data = r->key, .size = r->key_size};
    p->count++;
    if (!u9i_keyspec_entry(&p->index->spec, r->key, r->key_size, &e)) {
        p->wrong++;
        return U9_OK;
    }
    e.at = at;
    bool has_own = pass_entries(p, &e);
    if (has_own && is_too_large(p)) return U9_OK;
    u9_err err = atomic_load(&p->budget.missed) > 0 ? open_frames(p) : U9_OK;
    if (err != U9_OK) return err;
    err = u9i_index_find(p->index, &p->frames, &key, at + 1, &frame, &found, &own);
    if (err == U9_OK) {
        u9i_found_free(&found);
        u9i_open_frame_free(own);
    }
    if (err == U9_IO || err == U9_NOMEM) return err;
    if (err == U9_CORRUPT && leads_to_loss(p, &key, at + 1)) return U9_OK;
    p->wrong += err != U9_OK || found.at != at;
    return U9_OK;
}

static u9_err prove_keys_of(proving *p, const u9i_reader *r)
{
    uint64_t base = r->frame->offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    const uint8_t *next = r->body.bytes;
    size_t left = r->body.size;
    u9i_record record;
    if (r->large > 0) return prove_record(p, &r->first, base);
    u9_err err = U9_OK;
    while (err == U9_OK && u9i_body_next(&r->body, &next, &left, &record) == U9_OK)
        err = prove_record(p, &record, base + (uint64_t)(record.bytes - r->body.bytes));
    return err;
}

static u9_err fail_proving(const proving *p, u9_err err, u9_fault *fault)
{
    const u9i_facts *f = u9i_catalog_facts(p->b->catalog, p->b->at);
    return u9i_fault(fault, err, U9I_AT(.path = p->b->log->source.path, .segment = f->number, .sys = p->sys < 0 ? -p->sys : p->sys),
                     err == U9_NOMEM ? "out of memory" : "cannot prove the index of segment %s", f->name);
}

/* False without memory: what is not noted would make right entries wrong. So would more than can be noted. */
static bool note_lost(proving *p, const u9i_reader *r)
{
    u9i_losses *lost = &p->b->lost;
    p->b->lossy = true;
    if (r->index != p->b->at || r->damage.begin >= r->damage.end || u9i_losses_add(lost, r->damage.begin, r->damage.end))
        return true;
    p->blind = lost->count >= U9I_LOSSES_MAX;
    return p->blind;
}

static u9_err prove_all(proving *p, u9i_reader *r, u9_fault *fault)
{
    u9i_step step = U9I_STEP_FRAME;
    u9i_beside *b = p->b;
    while (step != U9I_STEP_END) {
        u9_err err = u9i_reader_step(r, &step, fault);
        if (err == U9_VERSION) b->lossy = true;
        else if (err != U9_OK) return err;
        if (u9i_reader_loses(r, step) && !note_lost(p, r)) return fail_proving(p, U9_NOMEM, fault);
        if (err == U9_OK && step == U9I_STEP_FRAME && r->index == b->at && r->count > 0) {
            err = prove_keys_of(p, r);
            if (err != U9_OK || p->sys < 0) return fail_proving(p, err == U9_OK ? U9_IO : err, fault);
        }
        if (b->each(b->ctx, u9i_reader_passed(r)) == 0)
            return u9i_fault(fault, U9_STATE, U9I_AT(.path = b->log->source.path), "stopped as asked");
    }
    return U9_OK;
}

static u9_err read_and_prove(proving *p, u9_fault *fault)
{
    u9i_reader r;
    u9i_beside *b = p->b;
    u9_err err = u9i_reader_open(&r, &b->log->source, fault);
    if (err != U9_OK) return err;
    bool same = b->at < r.catalog->count && r.catalog->segments[b->at] == b->catalog->segments[b->at];
    if (same) {
        u9i_reader_segments(&r, u9i_beside_run(r.catalog, b->at), b->at);
        r.missing = r.missing_end;
        err = prove_all(p, &r, fault);
    }
    u9i_reader_release(&r);
    if (err != U9_OK || !same) return err;
    for (; p->has_next; take_next_place(p)) count_wrong(p);
    if (p->sys < 0) return fail_proving(p, U9_IO, fault);
    if (!b->lossy && p->count != p->index->count) p->wrong++;
    return U9_OK;
}

u9_err u9i_beside_prove(u9i_beside *b, u9i_index *index, uint64_t *wrong, u9_fault *fault)
{
    char name[U9I_INDEX_NAME + 8];
    u9i_queue *queue;
    u9i_index_name(b->catalog->segments[b->at]->facts.name, name);
    memcpy(name + strlen(name), ".check", 7);
    proving p = {.b = b, .index = index};
    b->lossy = false;
    p.sys = u9i_queue_open(b->log->source.dir->env, NULL, 0, 0, &queue);
    if (p.sys != 0) return fail_proving(&p, U9_IO, fault);
    p.entries = (u9i_runs){.dir = b->log->source.dir, .name = name, .queue = queue,
                           .memory = b->memory < U9I_RUNS_MEMORY ? U9I_RUNS_MEMORY : b->memory};
    u9_err err = u9i_runs_open(&p.entries) == 0 ? open_frames(&p) : U9_NOMEM;
    if (err == U9_OK) err = list_entries(&p);
    if (err != U9_OK || p.sys < 0) err = fail_proving(&p, err == U9_OK ? U9_IO : err, fault);
    else err = read_and_prove(&p, fault);
    *wrong = p.wrong;
    u9i_queue_close(queue); /* first: what it writes is theirs until then */
    u9i_losses_free(&b->lost);
    u9i_runs_close(&p.entries);
    u9i_frames_close(&p.frames);
    if (p.budget.limit > 0) u9i_budget_close(&p.budget);
    return err;
}
