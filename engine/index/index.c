/*
 * engine/index/index.c: see index.h.
 */
#include "engine/index/index.h"

#include "format/frame/filter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_ENTRIES = 2048, /* of a page in memory */
    AROUND = 256,        /* bytes that a frame has beside its arrays, about */
    WHOLE_SHARE = 4,     /* one part in so many of the budget may be used where whole pages of records are kept; */
    DIRECTED_SHARE = 2   /*   directories and the filter */
};

#define SLICE_SIZE(part, i)                                                                                     \
    ((i) + 1 < (part)->slice_count ? (uint64_t)U9I_FILTER_SLICE                                                  \
                                   : (part)->blocks * U9I_FILTER_BLOCK - (uint64_t)(i)*U9I_FILTER_SLICE)

static void index_check(const u9i_index *x)
{
    assert(x->spec.width == 8 || x->spec.width == 16);
    assert((x->source == NULL) == (x->windows == NULL) && x->common != NULL);
    assert((x->frames.entries == 0) == (x->frames.page_count == 0) && x->frames.blocks == 0);
    assert((x->records.entries == 0) == (x->records.page_count == 0));
}

/* Opening */

static u9i_key_entry entry_at(const u9i_index *x, const uint8_t *keys, const uint8_t *places, size_t i)
{
    return u9i_page_entry(keys, places, x->spec.width, i);
}

/* Memory for a part's pages, which are not yet there. */
static u9_err make_part(u9i_index_part *p, uint64_t entries, uint32_t pages, uint32_t slices)
{
    p->entries = entries;
    p->page_count = pages;
    p->slice_count = slices;
    p->roots = (u9i_key_entry *)malloc(pages * sizeof *p->roots);
    p->pages = (u9i_page **)calloc(pages, sizeof *p->pages);
    p->slices = (u9i_filter_slice *)calloc(slices + (size_t)1, sizeof *p->slices);
    return p->roots && p->pages && p->slices ? U9_OK : U9_NOMEM;
}

static void free_part(u9i_index_part *p)
{
    for (uint32_t i = 0; p->pages && i < p->page_count; i++) u9i_page_free(p->pages[i]);
    for (uint32_t i = 0; p->slices && i < p->slice_count; i++) free((uint8_t *)(uintptr_t)p->slices[i].bits);
    free(p->roots);
    free(p->pages);
    free(p->slices);
}

static u9_err make_common(u9i_index *x)
{
    u9i_index_common *c = (u9i_index_common *)malloc(sizeof *c);
    if (c == NULL) return U9_NOMEM;
    atomic_init(&c->references, 1);
    atomic_init(&c->counted, 0);
    pthread_mutex_init(&c->lock, NULL);
    x->common = c;
    return U9_OK;
}

static void free_common(u9i_index *x)
{
    free_part(&x->frames);
    free_part(&x->records);
    free(x->memory);
    if (x->source) u9i_segment_close(x->source);
    u9i_segment_unref(x->source);
    u9i_budget_give(x->budget, atomic_load(&x->common->counted));
    pthread_mutex_destroy(&x->common->lock);
    free(x->common);
}

void u9i_index_close(u9i_index *x)
{
    if (x->common && atomic_fetch_sub(&x->common->references, 1) == 1) free_common(x);
    memset(x, 0, sizeof *x);
}

void u9i_index_share(u9i_index *x, const u9i_index *of)
{
    index_check(of);
    atomic_fetch_add(&of->common->references, 1);
    *x = (u9i_index){.spec = of->spec, .frames = of->frames, .records = of->records, .common = of->common,
                     .source = of->source, .windows = of->windows, .bound = of->bound, .budget = of->budget,
                     .count = of->count, .memory = of->memory,
                     .refused = __atomic_load_n(&of->refused, __ATOMIC_RELAXED)};
}

/* Counts what is kept, if there is room for it beside the rest. */
static bool count_kept(u9i_index *x, uint64_t bytes, unsigned share)
{
    if (!u9i_budget_take_within(x->budget, bytes, share)) return false;
    atomic_fetch_add(&x->common->counted, bytes);
    return true;
}

/* What is refused first is remembered. [K-5] */
static u9_err refuse_clause(u9i_index *x, u9_clause clause)
{
    u9_clause none = U9_CLAUSE_NONE;
    if (clause == U9_CLAUSE_NONE) return U9_OK;
    (void)__atomic_compare_exchange_n(&x->refused, &none, clause, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return U9_CORRUPT;
}

/* A frame of this file at a virtual offset, opened, with what holds its body, of so many bytes, about. `else_clause`: what is
 * refused if there is none. */
static u9_err load_at(u9i_index *x, uint64_t at, uint64_t about, u9_clause else_clause, u9i_loaded *out)
{
    int sys;
    if (at & ((UINT64_C(1) << U9I_VIRTUAL_SHIFT) - 1)) return refuse_clause(x, else_clause);
    u9_err err = u9i_load(x->source, x->windows, (at >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN, x->bound, (size_t)about, out, &sys);
    return err == U9_CORRUPT ? refuse_clause(x, else_clause) : err;
}

/* The frame of a page. All but the last one have as many entries as ours have, or as these pages must have. */
static u9_err load_page(u9i_index *x, const u9i_index_part *p, uint32_t n, u9i_loaded *out)
{
    uint64_t even = p->entries / p->page_count + 1, each = p->entries < PAGE_ENTRIES ? p->entries : PAGE_ENTRIES;
    uint64_t about = (each < even ? even : each) * (x->spec.width + 8) + AROUND;
    return load_at(x, p->roots[n].at, about < U9I_PAYLOAD_MAX ? about : 0, U9_CLAUSE_PAGE_PLACE, out);
}

/* The page in it. */
static u9_err page_in(u9i_index *x, const u9i_loaded *l, u9i_page_record *out)
{
    if (l->body.kind != U9I_BODY_PAGE) return refuse_clause(x, U9_CLAUSE_PAGE_KIND);
    return u9i_page_record_decode(l->body.bytes, l->body.size, out) == U9_OK ? U9_OK : refuse_clause(x, U9_CLAUSE_PAGE_FORM);
}

static uint64_t place_at(const u9i_page_record *r, uint32_t i)
{
    return u9i_get_be(r->at + (size_t)i * 8, 8);
}

/* Keys ascend, and of a page (not of a root) equal ones by place. [C-9] */
static bool keys_ascend(const u9i_index *x, const u9i_page_record *r)
{
    for (uint32_t i = 1; i < r->count; i++) {
        int order = memcmp(r->keys + (size_t)(i - 1) * x->spec.width, r->keys + (size_t)i * x->spec.width, x->spec.width);
        if (order > 0 || (order == 0 && !r->has_root && place_at(r, i - 1) >= place_at(r, i))) return false;
    }
    return true;
}

/* Its places can be; of form 1 each is in a frame behind that of the one before. [C-9] */
static u9_clause refuse_places(const u9i_page_record *r, bool in_order)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (place_at(r, i) == UINT64_MAX) return U9_CLAUSE_PAGE_NOWHERE;
        if (in_order && i > 0 && place_at(r, i - 1) >> U9I_VIRTUAL_SHIFT >= place_at(r, i) >> U9I_VIRTUAL_SHIFT)
            return U9_CLAUSE_PAGE_FRAMES;
    }
    return U9_CLAUSE_NONE;
}

/* Which clause refuses it as the root of a part by itself; `end`: that of the data. */
static u9_clause refuse_root(const u9i_index_part *p, const u9i_page_record *r, bool hashed, const u9i_position *end)
{
    bool in_order = r->root.form == U9I_INDEX_FRAMES;
    if (!r->has_root) return U9_CLAUSE_ROOT_NONE;
    if (r->count == 0) return U9_CLAUSE_ROOT_EMPTY;
    if (p->entries > 0) return U9_CLAUSE_ROOT_TWICE;
    if (in_order && hashed) return U9_CLAUSE_ROOT_HASHED;
    if (in_order && r->root.slice_count > 0) return U9_CLAUSE_ROOT_FILTERED;
    if (!u9i_position_same(&r->root.end, end)) return U9_CLAUSE_ROOT_END;
    return r->root.entries < r->count ? U9_CLAUSE_ROOT_ENTRIES : U9_CLAUSE_NONE;
}

/* Or beside the other one. */
static u9_clause refuse_pair(const u9i_index *x, const u9i_page_record *r, bool hashed)
{
    if (x->spec.width != r->key_size || x->spec.hashed != hashed || x->spec.seed != r->seed) return U9_CLAUSE_ROOT_KEYSPEC;
    if (x->count != r->root.records) return U9_CLAUSE_ROOT_RECORDS;
    return keys_ascend(x, r) ? U9_CLAUSE_NONE : U9_CLAUSE_ROOT_ORDER;
}

/* Takes one root in; `*other` is where the next one stands. */
static u9_err adopt_root(u9i_index *x, const u9i_page_record *r, const u9i_position *end, uint64_t *other)
{
    bool hashed = r->keyspec[0] == 'u', first = x->spec.width == 0;
    u9i_index_part *p = r->root.form == U9I_INDEX_FRAMES ? &x->frames : &x->records;
    u9_err err = refuse_clause(x, refuse_root(p, r, hashed, end));
    if (err == U9_OK && first) {
        x->spec = (u9i_keyspec){.width = r->key_size, .hashed = hashed, .seed = r->seed};
        x->count = r->root.records;
    }
    if (err == U9_OK) err = refuse_clause(x, refuse_pair(x, r, hashed));
    if (err != U9_OK) return err;
    err = make_part(p, r->root.entries, r->count, r->root.slice_count);
    for (uint32_t i = 0; err == U9_OK && i < r->count; i++) p->roots[i] = entry_at(x, r->keys, r->at, i);
    for (uint32_t i = 0; err == U9_OK && i < r->root.slice_count; i++)
        p->slices[i].place = u9i_get_be(r->root.slices + (size_t)8 * i, 8);
    p->blocks = r->root.slice_count ? u9i_filter_blocks(r->root.entries) : 0;
    p->last = (u9i_key_entry){.hi = u9i_get_be(r->root.last.data, 8),
                              .lo = r->key_size == 16 ? u9i_get_be(r->root.last.data + 8, 8) : 0};
    *other = r->root.other;
    if (err == U9_OK && u9i_key_below(&p->last, &p->roots[r->count - 1])) err = refuse_clause(x, U9_CLAUSE_ROOT_LAST);
    bool fits = (p->blocks + U9I_FILTER_SLICE_BLOCKS - 1) / U9I_FILTER_SLICE_BLOCKS == r->root.slice_count;
    return err == U9_OK && !fits ? refuse_clause(x, U9_CLAUSE_ROOT_SLICES) : err;
}

/* Both roots, the last one first. */
static u9_err adopt_roots(u9i_index *x, uint64_t root, const u9i_position *end)
{
    u9_err err = root == 0 ? refuse_clause(x, U9_CLAUSE_PAGE_PLACE) : U9_OK;
    for (unsigned forms = 0; err == U9_OK && root != 0; forms++) {
        u9i_loaded l;
        u9i_page_record r;
        err = forms < 2 ? load_at(x, root, 0, U9_CLAUSE_PAGE_PLACE, &l) : refuse_clause(x, U9_CLAUSE_ROOT_TWICE);
        if (err != U9_OK) break;
        err = page_in(x, &l, &r);
        if (err == U9_OK) err = adopt_root(x, &r, end, &root);
        u9i_unload(&l);
    }
    return err;
}

u9_err u9i_index_open(u9i_index *x, u9i_segment *source, u9i_windows *windows, uint64_t root, uint64_t bound,
                      const u9i_position *end, u9i_budget *budget)
{
    u9i_file *file;
    *x = (u9i_index){.windows = windows, .bound = bound, .budget = budget};
    u9_err err = make_common(x);
    if (err == U9_OK && u9i_segment_open(source, &file) != 0) err = U9_IO;
    if (err == U9_OK) {
        x->source = u9i_segment_ref(source);
        err = adopt_roots(x, root, end);
    }
    if (err == U9_OK) {
        index_check(x);
        return U9_OK;
    }
    u9_clause refused = x->refused;
    u9i_index_close(x);
    x->refused = refused;
    return err;
}

/* In memory: pages of the entries, laid out as on the disk. */
static u9_err copy_entries(u9i_index *x, u9i_index_part *p, const u9i_key_entry *entries, size_t count, uint8_t *at)
{
    size_t width = x->spec.width;
    if (count == 0) return U9_OK;
    u9_err err = make_part(p, count, (uint32_t)((count - 1) / PAGE_ENTRIES + 1), 0);
    for (uint32_t n = 0; err == U9_OK && n < p->page_count; n++) {
        size_t first = (size_t)n * PAGE_ENTRIES, left = count - first;
        uint32_t n_here = (uint32_t)(left < PAGE_ENTRIES ? left : PAGE_ENTRIES);
        for (uint32_t i = 0; i < n_here; i++) {
            u9i_set_be(at + i * width, 8, entries[first + i].hi);
            if (width == 16) u9i_set_be(at + i * width + 8, 8, entries[first + i].lo);
            u9i_set_be(at + n_here * width + (size_t)8 * i, 8, entries[first + i].at);
        }
        p->roots[n] = entries[first];
        u9i_page plan = u9i_page_plan(at, at + n_here * width, n_here, (unsigned)width);
        p->pages[n] = u9i_page_make(&plan);
        if (p->pages[n] && p == &x->frames)
            p->pages[n]->fences = u9i_fences_make(plan.keys, plan.places, n_here, (unsigned)width);
        if (p->pages[n] && p == &x->frames && p->pages[n]->fences == NULL) return U9_NOMEM;
        if (p->pages[n] == NULL) return U9_NOMEM;
        at += n_here * (width + 8);
    }
    return err;
}

u9_err u9i_index_make(u9i_index *x, const u9i_keys *keys, u9i_budget *budget)
{
    size_t entry = keys->spec.width + 8;
    assert(!keys->partial);
    *x = (u9i_index){.spec = keys->spec, .count = keys->count, .budget = budget};
    u9_err err = make_common(x);
    if (err == U9_OK) x->memory = (uint8_t *)malloc((keys->frame_count + keys->record_count) * entry + 1);
    if (err == U9_OK && x->memory == NULL) err = U9_NOMEM;
    if (err == U9_OK) err = copy_entries(x, &x->frames, keys->frames, keys->frame_count, x->memory);
    if (err == U9_OK)
        err = copy_entries(x, &x->records, keys->records, keys->record_count, x->memory + keys->frame_count * entry);
    x->frames.last = keys->top;
    if (keys->record_count > 0) x->records.last = keys->records[keys->record_count - 1];
    if (err == U9_OK) index_check(x);
    else u9i_index_close(x);
    return err;
}

/* Looking up */

/* Its keys and its first entry are as its root says, and the last one is not above what comes next: which clause refuses it. */
static u9_clause refuse_page(const u9i_index *x, const u9i_index_part *p, uint32_t n, const u9i_page_record *r)
{
    bool hashed = r->keyspec[0] == 'u';
    if (r->has_root) return U9_CLAUSE_PAGE_ROOT;
    if (r->count == 0) return U9_CLAUSE_PAGE_EMPTY;
    if (r->key_size != x->spec.width || hashed != x->spec.hashed) return U9_CLAUSE_PAGE_KEYSPEC;
    if (!keys_ascend(x, r)) return U9_CLAUSE_PAGE_ORDER;
    u9_clause places = refuse_places(r, p == &x->frames);
    if (places != U9_CLAUSE_NONE) return places;
    u9i_key_entry first = entry_at(x, r->keys, r->at, 0), last = entry_at(x, r->keys, r->at, r->count - 1);
    if (!u9i_key_same(&first, &p->roots[n])) return U9_CLAUSE_PAGE_FIRST;
    bool above = u9i_key_below(n + 1 < p->page_count ? &p->roots[n + 1] : &p->last, &last);
    return above ? U9_CLAUSE_PAGE_ABOVE : U9_CLAUSE_NONE;
}

/* What stands in a loaded frame as it does in the file, and need not be hashed whenever it is read. */
static bool stands_as_read(const u9i_index *x, const u9i_loaded *l)
{
    return !l->body.lz4 && !l->body.masked && x->windows->verify != U9_VERIFY_ALWAYS;
}

static uint64_t offset_in_file(const u9i_loaded *l, const uint8_t *at)
{
    return l->frame.offset + U9I_FRAME_HEADER_SIZE + (uint64_t)(at - l->body.bytes);
}

/* Fences of a page of form 1; NULL: there is no room for them. */
static u9i_fences *fences_of(u9i_index *x, const u9i_page_record *r)
{
    u9i_fences *f = u9i_fences_make(r->keys, r->at, r->count, x->spec.width);
    if (f == NULL || count_kept(x, u9i_fences_bytes(f), 1)) return f;
    u9i_fences_free(f);
    return NULL;
}

/* The page that was loaded, as it is kept: all of it where that is mapped, or there is room for a copy; else where its
 * entries are read. What must be hashed each time is lent. */
static u9_err keep_page(u9i_index *x, const u9i_index_part *p, u9i_loaded *l, const u9i_page_record *r, u9i_page **out)
{
    u9i_page plan = u9i_page_plan(r->keys, r->at, r->count, x->spec.width);
    bool whole = l->own == NULL || count_kept(x, l->body.size, p == &x->frames ? 1 : WHOLE_SHARE);
    bool read = !whole && stands_as_read(x, l);
    plan.lent = !whole && !read;
    plan.fences = plan.lent || p != &x->frames ? NULL : fences_of(x, r);
    if (plan.lent || plan.fences || !count_kept(x, u9i_page_directory_bytes(&plan), DIRECTED_SHARE)) plan.groups = 0;
    u9i_page *page = u9i_page_make(&plan);
    if (page == NULL) {
        u9i_fences_free(plan.fences);
        return U9_NOMEM;
    }
    if (read) {
        page->keys_at = offset_in_file(l, r->keys);
        page->places_at = offset_in_file(l, r->at);
        page->keys = page->places = NULL;
    } else {
        page->own = l->own;
        l->own = NULL;
    }
    *out = page;
    return U9_OK;
}

static u9_err open_and_keep(u9i_index *x, const u9i_index_part *p, uint32_t n, u9i_page **out)
{
    u9i_loaded l;
    u9i_page_record r;
    u9_err err = load_page(x, p, n, &l);
    if (err != U9_OK) return err;
    err = page_in(x, &l, &r);
    if (err == U9_OK) err = refuse_clause(x, refuse_page(x, p, n, &r));
    if (err == U9_OK) err = keep_page(x, p, &l, &r, out);
    u9i_unload(&l);
    return err;
}

/* The page, opened if it was not; leave_page gives it back. */
static u9_err page_at(u9i_index *x, u9i_index_part *p, uint32_t n, u9i_page **out)
{
    *out = __atomic_load_n(&p->pages[n], __ATOMIC_ACQUIRE);
    if (*out) return U9_OK;
    pthread_mutex_lock(&x->common->lock);
    *out = p->pages[n];
    u9_err err = *out ? U9_OK : open_and_keep(x, p, n, out);
    if (err == U9_OK && !(*out)->lent) __atomic_store_n(&p->pages[n], *out, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&x->common->lock);
    return err;
}

static void leave_page(u9i_page *page)
{
    if (page->lent) u9i_page_free(page);
}

static u9_clause refuse_slice(const u9i_index_part *p, uint32_t n, const u9i_loaded *l, u9i_span *bits)
{
    if (l->body.kind != U9I_BODY_BITS) return U9_CLAUSE_FILTER_KIND;
    if (u9i_bits_record_decode(l->body.bytes, l->body.size, bits) != U9_OK) return U9_CLAUSE_FILTER_FORM;
    return bits->size == SLICE_SIZE(p, n) ? U9_CLAUSE_NONE : U9_CLAUSE_FILTER_SIZE;
}

/* A copy of the bits, if there is room for one; else where they stand. */
static void keep_slice(u9i_index *x, u9i_filter_slice *s, const u9i_loaded *l, const u9i_span *bits)
{
    uint8_t *copy = count_kept(x, bits->size, DIRECTED_SHARE) ? (uint8_t *)malloc(bits->size) : NULL;
    if (copy) memcpy(copy, bits->data, bits->size);
    __atomic_store_n(&s->bits, copy, __ATOMIC_RELEASE);
    __atomic_store_n(&s->bits_at, stands_as_read(x, l) ? offset_in_file(l, bits->data) : U9_NOWHERE, __ATOMIC_RELEASE);
}

static void open_slice(u9i_index *x, u9i_index_part *p, uint32_t n)
{
    u9i_loaded l;
    u9i_span bits;
    u9i_filter_slice *s = &p->slices[n];
    pthread_mutex_lock(&x->common->lock);
    u9_err err = s->bits_at ? U9_OK : load_at(x, s->place, SLICE_SIZE(p, n) + AROUND, U9_CLAUSE_FILTER_PLACE, &l);
    if (err == U9_OK && s->bits_at == 0) {
        err = refuse_clause(x, refuse_slice(p, n, &l, &bits));
        if (err == U9_OK) keep_slice(x, s, &l, &bits);
        u9i_unload(&l);
    }
    if (err == U9_CORRUPT) __atomic_store_n(&s->bits_at, U9_NOWHERE, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&x->common->lock);
}

/* The filter's block of this hash, perhaps in `room`; NULL: it cannot be had. */
static const uint8_t *block_at(u9i_index *x, u9i_index_part *p, uint64_t hash, uint8_t room[U9I_FILTER_BLOCK])
{
    uint64_t block = u9i_filter_block(hash, p->blocks);
    uint32_t n = (uint32_t)(block / U9I_FILTER_SLICE_BLOCKS);
    uint64_t at = block % U9I_FILTER_SLICE_BLOCKS * U9I_FILTER_BLOCK;
    u9i_filter_slice *s = &p->slices[n];
    if (__atomic_load_n(&s->bits_at, __ATOMIC_ACQUIRE) == 0) open_slice(x, p, n);
    uint64_t from = __atomic_load_n(&s->bits_at, __ATOMIC_ACQUIRE);
    const uint8_t *bits = __atomic_load_n(&s->bits, __ATOMIC_ACQUIRE);
    if (bits) return bits + at;
    return from != 0 && from != U9_NOWHERE && u9i_page_read(x->source->file, from + at, room, U9I_FILTER_BLOCK) == U9_OK
               ? room
               : NULL;
}

static bool filtered_out(u9i_index *x, const u9i_key_entry *e)
{
    uint8_t key[16], room[U9I_FILTER_BLOCK];
    if (x->records.blocks == 0) return false;
    u9i_set_be(key, 8, e->hi);
    u9i_set_be(key + 8, 8, e->lo);
    uint64_t hash = u9i_filter_hash(key, x->spec.width);
    const uint8_t *block = block_at(x, &x->records, hash, room);
    return block && !u9i_filter_has(block, hash);
}

/* Where an entry is. */
typedef struct spot {
    uint32_t page;
    u9i_fence *fence; /* NULL: of form 2 */
} spot;

/* How many of the first `count` roots have a key below that of `e`, or (`same`) not above it. */
static uint32_t count_roots(const u9i_index_part *p, uint32_t count, const u9i_key_entry *e, bool same)
{
    uint32_t low = 0;
    while (low < count) {
        uint32_t middle = low + (count - low) / 2;
        if (same ? u9i_key_below(e, &p->roots[middle]) : !u9i_key_below(&p->roots[middle], e)) count = middle;
        else low = middle + 1;
    }
    return low;
}

/* Where what is not in memory is read; NULL: nowhere. */
static u9i_file *file_of_index(const u9i_index *x)
{
    return x->source ? x->source->file : NULL;
}

/*
 * How many pages begin before `e`. Of those that begin with its very key, of which there are many where one key has very
 * many records, that is seen in the pages, and by halves.
 */
static u9_err count_pages(u9i_index *x, u9i_index_part *p, const u9i_key_entry *e, uint32_t *out)
{
    uint32_t high = count_roots(p, p->page_count, e, true);
    uint32_t low = high > 0 && u9i_key_same(&p->roots[high - 1], e) ? count_roots(p, high, e, false) : high;
    for (bool first = true; low < high; first = false) {
        uint32_t middle = first ? high - 1 : low + (high - low) / 2; /* mostly the newest one is asked for */
        bool before;
        u9i_page *page;
        u9_err err = page_at(x, p, middle, &page);
        if (err != U9_OK) return err;
        err = u9i_page_begins_before(page, file_of_index(x), e, &before);
        leave_page(page);
        if (err != U9_OK) return err;
        if (before) low = middle + 1;
        else high = middle;
    }
    *out = low;
    return U9_OK;
}

/* The last one that stands before `e`. */
static u9_err find_fence(u9i_fences *fences, const u9i_key_entry *e, u9i_fence **fence, u9i_key_entry *out)
{
    size_t rank = u9i_fences_rank(fences, e);
    if (rank == 0) return U9_CORRUPT; /* the page is not taken to begin before `e` then */
    *fence = &fences->all[rank - 1];
    *out = u9i_fence_entry(*fence);
    return U9_OK;
}

/* The last entry whose key is at most that of `e` and that stands before it. False: none does. */
static u9_err find_not_above(u9i_index *x, u9i_index_part *p, const u9i_key_entry *e, spot *s, u9i_key_entry *out, bool *there)
{
    u9i_page *page;
    uint32_t pages;
    u9_err err = count_pages(x, p, e, &pages);
    *there = false;
    if (err == U9_OK && pages > 0) err = page_at(x, p, pages - 1, &page);
    if (err != U9_OK || pages == 0) return err;
    s->fence = NULL;
    if (page->fences) err = find_fence(page->fences, e, &s->fence, out);
    else err = u9i_page_last_before(page, file_of_index(x), e, out);
    leave_page(page);
    s->page = pages - 1;
    *there = err == U9_OK;
    return err;
}

/* Opens the frame that an entry leads to. What an index leads to and is not there makes it say nothing. */
static u9_err open_at(u9i_frames *frames, uint64_t at, const u9i_open_frame **frame, u9i_open_frame **own)
{
    int sys;
    return u9i_frames_at(frames, (at >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN, frame, own, &sys);
}

/*
 * The record that an entry of form 1 leads to has its key: else the index says nothing of what is in that frame. [K-2]
 * Of a page only one entry leads to a frame.
 */
static bool is_as_it_says(const u9i_frames *frames, const u9i_open_frame *f, const u9i_key_entry *fence, uint32_t page)
{
    u9i_key_entry there;
    if (f->kind == U9I_BODY_PART) return false; /* that has none in order */
    if (__atomic_load_n(&f->fenced, __ATOMIC_RELAXED) == page + 1) return true;
    if (u9i_open_frame_key(frames, f, fence->at, &there) != U9_OK || !u9i_key_same(&there, fence)) return false;
    if (f->kept) __atomic_store_n(&((u9i_open_frame *)(uintptr_t)f)->fenced, page + 1, __ATOMIC_RELAXED);
    return true;
}

/* The kept frame that an entry of form 1 leads to, as noted beside it, of which what is looked at first is asked for. NULL:
 * it is not known. */
static const u9i_open_frame *noted_frame(const u9i_index *x, const u9i_frames *frames, const u9i_fence *fence, const u9i_key_entry *e)
{
    const u9i_open_frame *f = fence && frames && frames == x->home ? u9i_fence_frame(fence) : NULL;
    if (f) u9i_open_frame_bring_slots(f, __atomic_load_n(&fence->groups, __ATOMIC_RELAXED), u9i_key_mix(e, frames->seed));
    return f;
}

/* The frame that an entry of form 1 leads to. */
static u9_err open_fenced(const u9i_index *x, u9i_frames *frames, const spot *s, const u9i_key_entry *fence,
                          const u9i_key_entry *e, const u9i_open_frame **out, u9i_open_frame **own)
{
    int sys;
    uint64_t offset = (fence->at >> U9I_VIRTUAL_SHIFT) * U9I_ALIGN;
    *own = NULL;
    *out = noted_frame(x, frames, s->fence, e);
    if (*out) return U9_OK;
    u9i_frames_bring(frames, offset, e);
    u9_err err = u9i_frames_fenced_at(frames, offset, out, own, &sys);
    if (err == U9_OK && s->fence && (*out)->kept && frames == x->home) u9i_fence_note(s->fence, *out);
    return err;
}

/* The newest one in order. */
static u9_err find_in_frames(u9i_index *x, u9i_frames *frames, const u9_key *key, u9i_key_entry e,
                             const u9i_open_frame **frame, u9i_found *out, u9i_open_frame **own)
{
    spot s;
    u9i_key_entry fence;
    bool there;
    if (x->frames.entries == 0 || u9i_key_below(&x->frames.last, &e)) return U9_ABSENT;
    u9_err err = find_not_above(x, &x->frames, &e, &s, &fence, &there);
    if (err != U9_OK || !there) return err == U9_OK ? U9_ABSENT : err;
    err = open_fenced(x, frames, &s, &fence, &e, frame, own);
    if (err != U9_OK) return err;
    if ((*frame)->kind == U9I_BODY_PART && u9i_key_same(&fence, &e)) {
        *out = (u9i_found){.at = fence.at}; /* its key is looked at by who reads it */
        return U9_OK;
    }
    err = u9i_open_frame_find(frames, *frame, key, e.at, out);
    if (err == U9_OK) return U9_OK;
    bool says = is_as_it_says(frames, *frame, &fence, s.page);
    u9i_open_frame_free(*own);
    *own = NULL;
    return err != U9_ABSENT || says ? err : U9_CORRUPT;
}

static bool has_key_of(const u9i_index *x, const u9i_record *r, const u9i_key_entry *e)
{
    u9i_key_entry there;
    return u9i_keyspec_entry(&x->spec, r->key, r->key_size, &there) && u9i_key_same(&there, e);
}

/* The newest one that has an entry of its own. */
static u9_err find_in_records(u9i_index *x, u9i_frames *frames, const u9_key *key, u9i_key_entry e,
                              const u9i_open_frame **frame, u9i_found *out, u9i_open_frame **own)
{
    spot s;
    u9i_key_entry entry;
    bool there;
    if (x->records.entries == 0 || u9i_key_below(&x->records.last, &e) || filtered_out(x, &e)) return U9_ABSENT;
    for (;; e.at = entry.at) {
        u9_err err = find_not_above(x, &x->records, &e, &s, &entry, &there);
        if (err != U9_OK || !there || !u9i_key_same(&entry, &e)) return err == U9_OK ? U9_ABSENT : err;
        err = open_at(frames, entry.at, frame, own);
        if (err != U9_OK) return err;
        if ((*frame)->kind == U9I_BODY_PART) {
            *out = (u9i_found){.at = entry.at}; /* its key is looked at by who reads it */
            return U9_OK;
        }
        err = u9i_open_frame_record(frames, *frame, entry.at, out);
        if (err == U9_OK && out->record.key_size == key->size && memcmp(out->record.key, key->data, key->size) == 0)
            return U9_OK;
        bool says = err == U9_OK && x->spec.hashed && has_key_of(x, &out->record, &e); /* another key of this hash */
        if (err == U9_OK) u9i_found_free(out);
        u9i_open_frame_free(*own);
        *own = NULL;
        if (err == U9_IO || err == U9_NOMEM) return err;
        if (!says) return U9_CORRUPT; /* another record than it says */
    }
}

/* The newer one of the two forms. */
static u9_err find_in_both(u9i_index *x, u9i_frames *frames, const u9_key *key, const u9i_key_entry *e,
                           const u9i_open_frame **frame, u9i_found *out, u9i_open_frame **own)
{
    const u9i_open_frame *other;
    u9i_found found;
    u9i_open_frame *other_own = NULL;
    if (x->records.entries == 0) return find_in_frames(x, frames, key, *e, frame, out, own);
    u9_err err = find_in_records(x, frames, key, *e, frame, out, own);
    if (err != U9_OK && err != U9_ABSENT) return err;
    u9_err in_order = find_in_frames(x, frames, key, *e, &other, &found, &other_own);
    if (in_order == U9_ABSENT) return err;
    bool older = in_order == U9_OK && err == U9_OK && out->at > found.at;
    if (older) {
        u9i_found_free(&found);
        u9i_open_frame_free(other_own);
        return U9_OK;
    }
    if (err == U9_OK) {
        u9i_found_free(out);
        u9i_open_frame_free(*own);
        *own = NULL;
    }
    if (in_order != U9_OK) return in_order;
    *frame = other;
    *out = found;
    *own = other_own;
    return U9_OK;
}

u9_err u9i_index_find(u9i_index *x, u9i_frames *frames, const u9_key *key, uint64_t below, const u9i_open_frame **frame,
                      u9i_found *out, u9i_open_frame **own)
{
    u9i_key_entry e;
    *own = NULL;
    out->own = NULL;
    if (!u9i_keyspec_entry(&x->spec, key->data, key->size, &e)) return U9_ABSENT;
    e.at = below;
    u9_err err = find_in_both(x, frames, key, &e, frame, out, own);
    if (x->source == NULL || !u9i_segment_broken(x->source)) return err;
    if (err == U9_OK) { /* its pages may have been zeros */
        u9i_found_free(out);
        u9i_open_frame_free(*own);
        *own = NULL;
    }
    return err == U9_NOMEM ? err : U9_CORRUPT;
}

u9_err u9i_index_aim_kept(u9i_index *x, const u9_key *key, uint64_t below, uint64_t at[2], const u9i_open_frame **kept)
{
    spot s;
    u9i_key_entry e, found;
    bool there = false;
    u9_err err = U9_OK;
    at[0] = at[1] = 0;
    *kept = NULL;
    if (!u9i_keyspec_entry(&x->spec, key->data, key->size, &e)) return U9_OK;
    e.at = below;
    if (x->records.entries > 0 && !u9i_key_below(&x->records.last, &e) && !filtered_out(x, &e))
        err = find_not_above(x, &x->records, &e, &s, &found, &there);
    if (err == U9_OK && there && u9i_key_same(&found, &e)) at[0] = found.at;
    if (err != U9_OK || x->frames.entries == 0 || u9i_key_below(&x->frames.last, &e)) return err;
    err = find_not_above(x, &x->frames, &e, &s, &found, &there);
    if (err != U9_OK || !there) return err;
    at[1] = found.at;
    *kept = noted_frame(x, x->home, s.fence, &e);
    return err;
}

u9_err u9i_index_aim(u9i_index *x, const u9_key *key, uint64_t below, uint64_t at[2])
{
    const u9i_open_frame *kept;
    return u9i_index_aim_kept(x, key, below, at, &kept);
}

/* The page of form 1, if it is open, that has the last entry at or below a key; `*n`: which one. */
static const u9i_page *open_page(const u9i_index_part *p, const u9i_key_entry *e, uint32_t *n)
{
    *n = count_roots(p, p->page_count, e, true);
    if (*n == 0 || u9i_key_same(&p->roots[*n - 1], e)) return NULL; /* such a key may be in the page before, too */
    return __atomic_load_n(&p->pages[*n - 1], __ATOMIC_ACQUIRE);
}

/*
 * Lookups of this thread in a row that found nothing, up to VAIN. Where the last ones did the next one is taken to do so,
 * too: a record is not asked for then before it is known to be there, since that holds up the lookup for a moment.
 */
enum { VAIN = 2 };
static _Thread_local unsigned in_vain;

u9_err u9i_index_find_at_hand(const u9i_index *x, const u9_key *key, const u9i_key_entry *e, const u9i_open_frame **frame, u9i_found *out)
{
    uint32_t n;
    const u9i_page *page = x->home && x->records.entries == 0 && !u9i_key_below(&x->frames.last, e) ? open_page(&x->frames, e, &n) : NULL;
    size_t rank = page && page->fences ? u9i_fences_rank(page->fences, e) : 0;
    const u9i_fence *fence = rank > 0 ? &page->fences->all[rank - 1] : NULL;
    const u9i_open_frame *f = fence ? u9i_fence_frame(fence) : NULL;
    if (f == NULL) return U9_AGAIN;
    uint64_t hash = u9i_key_mix(e, x->home->seed);
    u9i_open_frame_bring_slots(f, __atomic_load_n(&fence->groups, __ATOMIC_RELAXED), hash);
    if (in_vain < VAIN) __builtin_prefetch(u9i_fences_guess(page->fences, fence, e), 0, 3);
    u9_err err = u9i_open_frame_find_at_hand(f, key, hash, e->at, out);
    *frame = f;
    if (err == U9_OK) in_vain = 0;
    if (err != U9_ABSENT) return err;
    if (in_vain < VAIN) in_vain++;
    return u9i_key_same(e, &(u9i_key_entry){.hi = fence->hi, .lo = fence->lo}) || __atomic_load_n(&f->fenced, __ATOMIC_RELAXED) != n ? U9_AGAIN : err;
}

void u9i_index_bring(const u9i_index *x, const u9i_key_entry *e)
{
    uint32_t n;
    const u9i_page *page = open_page(&x->frames, e, &n);
    if (page && page->fences) u9i_fences_bring(page->fences, e);
}

/* The entries of a page that is not in memory: nor is it kept, so that memory does not grow with the index. */
static u9_err pass_page(u9i_index *x, const u9i_index_part *p, uint32_t n, u9i_index_fn *each, void *ctx, uint64_t *told)
{
    u9i_loaded l;
    u9i_page_record r;
    u9_err err = load_page(x, p, n, &l);
    if (err != U9_OK) return err;
    err = page_in(x, &l, &r);
    if (err == U9_OK) err = refuse_clause(x, refuse_page(x, p, n, &r));
    for (uint32_t i = 0; err == U9_OK && i < r.count; i++) {
        u9i_key_entry e = entry_at(x, r.keys, r.at, i);
        err = each(ctx, &e);
    }
    if (err == U9_OK) *told += r.count;
    u9i_unload(&l);
    return err;
}

u9_err u9i_index_pass(u9i_index *x, u9i_index_form form, uint32_t n, u9i_index_fn *each, void *ctx, uint64_t *told)
{
    u9_err err = U9_OK;
    u9i_index_part *p = form == U9I_INDEX_FRAMES ? &x->frames : &x->records;
    const u9i_page *page = __atomic_load_n(&p->pages[n], __ATOMIC_ACQUIRE);
    if (page == NULL || page->keys == NULL) return pass_page(x, p, n, each, ctx, told);
    for (uint32_t i = 0; err == U9_OK && i < page->count; i++) {
        u9i_key_entry e = entry_at(x, page->keys, page->places, i);
        err = each(ctx, &e);
    }
    if (err == U9_OK) *told += page->count;
    return err;
}

u9_err u9i_index_each(u9i_index *x, u9i_index_form form, u9i_index_fn *each, void *ctx)
{
    const u9i_index_part *p = form == U9I_INDEX_FRAMES ? &x->frames : &x->records;
    uint64_t told = 0;
    u9_err err = U9_OK;
    for (uint32_t n = 0; n < p->page_count && err == U9_OK; n++) err = u9i_index_pass(x, form, n, each, ctx, &told);
    return err == U9_OK && told != p->entries ? refuse_clause(x, U9_CLAUSE_PAGE_ENTRIES) : err;
}
