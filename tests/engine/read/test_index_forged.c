/*
 * tests/engine/read/test_index_forged.c: indexes that are whole by every hash and lie: what they lead to is looked at, so
 * that no answer is another than that of a scan, but for what they keep silent about. [C-7] [C-9] [C-10] [K-1] [K-2]
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include "engine/read/cursor.h"
#include "engine/segment/segment.h"
#include "format/base/bytes.h"
#include "format/frame/body.h"
#include "format/frame/filter.h"

#include <u9/index.h>
#include <u9/lookup.h>
#include <u9/trim.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 6, EACH = 50, KEYS = FRAMES * EACH, PAGE = 64, PAGES = (KEYS + PAGE - 1) / PAGE };

/* What is wrong with an index. Of what stands behind LIE_SILENT a lookup believes that a key is not there. */
typedef enum lie {
    LIE_NONE,
    LIE_NEXT,          /* each entry leads to the record behind its own, or to the frame, for which there is no entry then */
    LIE_BEYOND,        /* to where no file is */
    LIE_WITHIN,        /* into a record */
    LIE_INDEX,         /* to a page */
    LIE_OPEN,          /* to the u9open */
    LIE_VOID,          /* to records of the same keys behind the data end */
    LIE_ODD,           /* to 16 bytes behind where the frame begins */
    LIE_PAGE_ORDER,    /* keys of a page do not ascend */
    LIE_ROOT_ORDER,    /* nor those of the root */
    LIE_ROOT_SAME,     /* all of the root lead to its first page */
    LIE_ROOT_OVERLAP,  /* each page begins lower than its root says */
    LIE_ROOT_SELF,     /* to the root itself */
    LIE_ROOT_RECORDS,  /* to frames of records */
    LIE_ENTRIES,       /* there are 2^62 */
    LIE_ENTRIES_FEW,   /* fewer than pages */
    LIE_OTHER_SELF,    /* the other index is this one */
    LIE_OTHER_CYCLE,   /* the other's other is this one */
    LIE_OTHER_FORM,    /* the other one is of the same form */
    LIE_OTHER_END,     /* of another data end */
    LIE_OTHER_COUNT,   /* of another number of records */
    LIE_FILTER_PAGE,   /* a page for a filter */
    LIE_FILTER_SHORT,  /* no slices, though it has entries enough for some */
    LIE_FILTER_MANY,   /* more slices than there are bytes */
    LIE_END_ORDINAL,   /* of another data end */
    LIE_END_CHAIN,
    LIE_ROOT_PLACE,    /* no root is where the u9end says */
    LIE_OLDER,         /* whole, but of the data without their last frame */
    LIE_NOWHERE,       /* the first entry leads behind all that there can be */
    LIE_SHARED,        /* the first entry leads where the second does */
    LIE_ROOT_HIGH,     /* the last page begins above the greatest key, says the root */
    LIE_PAGE_FORM,     /* pages of keys that nobody knows */
    LIE_PAGE_EMPTY,    /* without an entry */
    LIE_PAGE_KEYSPEC,  /* of hashed keys */
    LIE_ROOT_NONE,     /* the u9end names a page that is no root */
    LIE_ROOT_EMPTY,    /* a root without pages */
    LIE_ROOT_HASHED,   /* of hashed keys */
    LIE_OTHER_KEYSPEC, /* the other one is of hashed keys */
    LIE_FILTER_PLACE,  /* the filter is where no file is */
    LIE_FILTER_FORM,   /* it is no whole number of blocks */
    LIE_FILTER_SIZE,   /* it has a block too many */
    LIE_MISFIT,        /* an entry leads to a record whose key is none that the index can hold */
    LIE_SILENT,
    LIE_FILTER_ZEROS = LIE_SILENT, /* nothing is there, it says */
    LIE_LAST,          /* nothing is above its first key */
    LIE_FORM,          /* it is of the other form, says the root */
    LIE_OMITS,         /* every third key is left out, and all is told to be there */
    LIES
} lie;

typedef struct forging {
    forged_segment s;
    lie lie;
    u9i_index_form form;
    uint8_t keys[KEYS][16];  /* of the entries */
    uint64_t places[KEYS];
    size_t count;            /* entries */
    uint8_t last[16];        /* the greatest key */
    uint64_t void_at;        /* a frame behind the data end */
    uint64_t misfit_at;      /* a record with a key of 8 bytes, the last one; 0: there is none */
    u9i_position end, older; /* where the data end, and where their last frame begins */
} forging;

static void setup(void)
{
    fixture_setup_sim();
}

static void key_of(uint64_t n, uint8_t out[16])
{
    memset(out, 0x60, 8);
    u9i_set_be(out + 8, 8, n);
}

static uint64_t virtual_of(uint64_t offset, uint64_t in_body)
{
    return offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT | in_body;
}

static u9i_position position_of(const forged_segment *s)
{
    u9i_position at = {.offset = s->end, .ordinal = s->next.ordinal};
    memcpy(at.chain, s->next.chain, sizeof at.chain);
    return at;
}

/* Frames of records; the entries that lead to them; and the same once more behind the data end. */
static void forge_data(forging *f)
{
    f->s = forge_begin(1, 5, NULL, U9I_TAIL_NONE);
    for (uint64_t frame = 0; frame < FRAMES; frame++) {
        f->older = position_of(&f->s);
        uint64_t at = forge_records(&f->s, "true", EACH);
        const uint8_t *body = f->s.bytes + at + U9I_FRAME_HEADER_SIZE, *next = body;
        size_t left = (size_t)u9i_get_be(f->s.bytes + at + 56, 8) - U9I_TRAILER_SIZE;
        u9i_record r;
        for (uint64_t n = 0; u9i_record_next(&next, &left, &r) == U9_OK; n++) {
            if (f->form == U9I_INDEX_FRAMES && n > 0) continue;
            memcpy(f->keys[f->count], r.key, 16);
            f->places[f->count++] = virtual_of(at, (uint64_t)(r.bytes - body));
        }
    }
    if (f->lie == LIE_MISFIT) {
        static const uint8_t key_and_value[10] = {0x03, 1, 2, 3, 4, 5, 6, 7, 8, 0x81};
        uint8_t misfit[32];
        size_t head = u9i_record_head(2, sizeof key_and_value, misfit);
        memcpy(misfit + head, key_and_value, sizeof key_and_value);
        f->misfit_at = virtual_of(forge_frame(&f->s, misfit, head + sizeof key_and_value, 1), 0);
    }
    f->end = position_of(&f->s);
}

/* What the entries say, once that is settled. */
static void bend_entries(forging *f)
{
    for (size_t i = 0; i < f->count; i++) {
        uint64_t at = f->places[i], next = f->places[(i + 1) % f->count];
        switch (f->lie) {
        case LIE_NEXT: f->places[i] = i + 1 < f->count ? next : at; break;
        case LIE_BEYOND: f->places[i] = UINT64_C(1) << 62 | i; break;
        case LIE_WITHIN: f->places[i] = at + 3; break;
        case LIE_OPEN: f->places[i] = virtual_of(U9I_DISK_HEADER_SIZE, i); break;
        case LIE_VOID: f->places[i] = virtual_of(f->void_at, f->form == U9I_INDEX_FRAMES ? 0 : at & 0xffffff); break;
        case LIE_ODD: f->places[i] = at + (UINT64_C(1) << U9I_VIRTUAL_SHIFT); break;
        case LIE_NOWHERE: f->places[i] = i > 0 ? at : UINT64_MAX; break;
        case LIE_SHARED: f->places[i] = i > 0 ? at : next; break;
        case LIE_MISFIT: f->places[i] = i + 1 < f->count ? at : f->misfit_at; break;
        case LIE_NONE: case LIE_INDEX: case LIE_PAGE_ORDER: case LIE_ROOT_ORDER: case LIE_ROOT_SAME: case LIE_ROOT_OVERLAP:
        case LIE_ROOT_SELF: case LIE_ROOT_RECORDS: case LIE_ENTRIES: case LIE_ENTRIES_FEW: case LIE_OTHER_SELF:
        case LIE_OTHER_CYCLE: case LIE_OTHER_FORM: case LIE_OTHER_END: case LIE_OTHER_COUNT: case LIE_FILTER_PAGE:
        case LIE_FILTER_SHORT: case LIE_FILTER_MANY: case LIE_END_ORDINAL: case LIE_END_CHAIN: case LIE_ROOT_PLACE:
        case LIE_PAGE_FORM: case LIE_PAGE_EMPTY: case LIE_PAGE_KEYSPEC:
        case LIE_ROOT_NONE: case LIE_ROOT_EMPTY: case LIE_ROOT_HASHED: case LIE_OTHER_KEYSPEC: case LIE_FILTER_PLACE:
        case LIE_FILTER_FORM: case LIE_FILTER_SIZE:
        case LIE_OLDER: case LIE_ROOT_HIGH: case LIE_FILTER_ZEROS: case LIE_LAST: case LIE_FORM: case LIE_OMITS: case LIES: break;
        }
    }
    while (f->lie == LIE_OLDER && f->places[f->count - 1] >= virtual_of(f->older.offset, 0)) f->count--;
    if (f->lie == LIE_NEXT && f->form == U9I_INDEX_FRAMES) f->count--; /* or two would lead to one [C-9] */
    if (f->lie != LIE_OMITS) return;
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (i % 3 == 1) continue;
        memmove(f->keys[kept], f->keys[i], 16);
        f->places[kept++] = f->places[i];
    }
    f->count = kept;
}

static uint64_t put_page(forging *f, const u9i_page_record *r)
{
    uint8_t *body = malloc(1 << 16);
    u9i_out out = u9i_out_init(body, 1 << 16);
    u9i_page_record_encode(&out, r);
    ck_assert(!out.failed);
    uint64_t at = forge_frame(&f->s, body, out.size, 0);
    free(body);
    return virtual_of(at, 0);
}

/* Of hashed keys. */
static void hash_keys(u9i_page_record *r)
{
    memcpy(r->keyspec, "u9kh\0\0\0", 8);
    r->key_size = 8;
    r->has_seed = r->has_root;
    r->root.last.size = 8;
}

/* The pages; the root's keys and places of them are filled. Returns how many. */
static uint32_t put_pages(forging *f, uint8_t (*root_keys)[16], uint8_t (*root_places)[8])
{
    static uint8_t places[PAGE][8];
    uint32_t pages = 0;
    uint64_t own = virtual_of(f->s.size, 0);
    for (size_t i = 0; i < f->count; i += PAGE) {
        uint32_t n = f->count - i < PAGE ? (uint32_t)(f->count - i) : PAGE;
        for (uint32_t k = 0; k < n; k++) u9i_set_be(places[k], 8, f->lie == LIE_INDEX ? own : f->places[i + k]);
        memcpy(root_keys[pages], f->keys[i], 16);
        if (f->lie == LIE_PAGE_ORDER && n > 2) memcpy(f->keys[i + 1], f->keys[i + n - 1], 16);
        if (f->lie == LIE_ROOT_OVERLAP) key_of(0, f->keys[i]);
        u9i_page_record page = {.keyspec = "k", .key_size = 16, .count = n, .keys = f->keys[i], .at = places[0]};
        if (f->lie == LIE_PAGE_FORM) page.keyspec[0] = 'x';
        if (f->lie == LIE_PAGE_EMPTY) page.count = 0;
        if (f->lie == LIE_PAGE_KEYSPEC) hash_keys(&page);
        u9i_set_be(root_places[pages++], 8, put_page(f, &page));
    }
    return pages;
}

/* A filter of all keys, or of none. Returns where it stands. */
static uint64_t put_filter(forging *f)
{
    uint64_t blocks = u9i_filter_blocks(f->count);
    uint8_t *bits = calloc(2, blocks * U9I_FILTER_BLOCK), *body = malloc(1 << 16);
    size_t odd = f->lie == LIE_FILTER_FORM ? 1 : f->lie == LIE_FILTER_SIZE ? U9I_FILTER_BLOCK : 0;
    for (size_t i = 0; i < f->count && f->lie != LIE_FILTER_ZEROS; i++) {
        uint64_t hash = u9i_filter_hash(f->keys[i], 16);
        u9i_filter_set(bits + u9i_filter_block(hash, blocks) * U9I_FILTER_BLOCK, hash);
    }
    u9i_out out = u9i_out_init(body, 1 << 16);
    u9i_bits_record_encode(&out, (u9i_span){.data = bits, .size = (size_t)(blocks * U9I_FILTER_BLOCK) + odd});
    uint64_t at = virtual_of(forge_frame(&f->s, body, out.size, 0), 0);
    free(bits);
    free(body);
    return at;
}

static void bend_root(const forging *f, u9i_page_record *r, uint8_t (*keys)[16], uint8_t (*places)[8], uint64_t own)
{
    uint8_t moved[16];
    switch (f->lie) {
    case LIE_ROOT_ORDER:
        memcpy(moved, keys[0], 16);
        memcpy(keys[0], keys[r->count - 1], 16);
        memcpy(keys[r->count - 1], moved, 16);
        break;
    case LIE_ROOT_SAME: for (uint32_t i = 1; i < r->count; i++) memcpy(places[i], places[0], 8); break;
    case LIE_ROOT_SELF: for (uint32_t i = 0; i < r->count; i++) u9i_set_be(places[i], 8, own); break;
    case LIE_ROOT_RECORDS:
        for (uint32_t i = 0; i < r->count; i++) u9i_set_be(places[i], 8, f->places[i] >> U9I_VIRTUAL_SHIFT << U9I_VIRTUAL_SHIFT);
        break;
    case LIE_ENTRIES: r->root.entries = UINT64_C(1) << 62; break;
    case LIE_ENTRIES_FEW: r->root.entries = 0; break;
    case LIE_OTHER_SELF: case LIE_OTHER_CYCLE: r->root.other = own; break;
    case LIE_END_ORDINAL: r->root.end.ordinal++; break;
    case LIE_END_CHAIN: r->root.end.chain[3] ^= 1; break;
    case LIE_FILTER_SHORT: r->root.slice_count = 0; break;
    case LIE_FORM: r->root.form = 3 - f->form; break;
    case LIE_ROOT_HIGH: memset(keys[r->count - 1], 0xff, 16); break;
    case LIE_ROOT_EMPTY: r->count = 0; break;
    case LIE_ROOT_HASHED: hash_keys(r); break;
    case LIE_NONE: case LIE_NEXT: case LIE_BEYOND: case LIE_WITHIN: case LIE_INDEX: case LIE_OPEN: case LIE_VOID: case LIE_ODD:
    case LIE_PAGE_ORDER: case LIE_ROOT_OVERLAP: case LIE_OTHER_FORM: case LIE_OTHER_END: case LIE_OTHER_COUNT:
    case LIE_FILTER_PAGE: case LIE_FILTER_MANY: case LIE_ROOT_PLACE: case LIE_OLDER: case LIE_NOWHERE: case LIE_SHARED:
    case LIE_PAGE_FORM: case LIE_PAGE_EMPTY: case LIE_PAGE_KEYSPEC: case LIE_ROOT_NONE: case LIE_OTHER_KEYSPEC:
    case LIE_FILTER_PLACE: case LIE_FILTER_FORM: case LIE_FILTER_SIZE: case LIE_MISFIT:
    case LIE_FILTER_ZEROS: case LIE_LAST: case LIE_OMITS: case LIES: break;
    }
}

/* Writes the index, with all that is wrong with it. Returns the last root. */
static uint64_t put_index(forging *f)
{
    static uint8_t root_keys[PAGES][16], root_places[PAGES][8], slices[64][8];
    bool filtered = f->form == U9I_INDEX_RECORDS;
    u9i_page_record r = {.keyspec = "k", .key_size = 16, .keys = root_keys[0], .at = root_places[0], .has_root = true};
    r.root = (struct u9i_root_record){.form = f->form, .entries = f->count, .records = KEYS, .end = f->end, .slices = slices[0],
                                      .last = {f->last, 16}};
    if (f->lie == LIE_OLDER) {
        r.root.end = f->older;
        r.root.records -= EACH;
    }
    key_of(f->lie == LIE_LAST ? 0 : r.root.records - 1, f->last);
    r.root.records += f->misfit_at > 0;
    uint64_t filter = filtered ? put_filter(f) : 0;
    r.count = put_pages(f, root_keys, root_places);
    if (f->lie == LIE_FILTER_PAGE) filter = u9i_get_be(root_places[0], 8);
    if (f->lie == LIE_FILTER_PLACE) filter = UINT64_C(1) << 40;
    if (filtered) r.root.slice_count = f->lie == LIE_FILTER_MANY ? 64 : 1;
    for (unsigned i = 0; i < 64; i++) u9i_set_be(slices[i], 8, filter);
    u9i_page_record other = r;
    if (f->lie == LIE_OTHER_END) other.root.end.offset -= 16;
    if (f->lie == LIE_OTHER_COUNT) other.root.records++;
    if (f->lie == LIE_OTHER_KEYSPEC) hash_keys(&other);
    bool has_other = (f->lie >= LIE_OTHER_FORM && f->lie <= LIE_OTHER_COUNT) || f->lie == LIE_OTHER_KEYSPEC;
    if (has_other) r.root.other = put_page(f, &other);
    if (has_other && f->lie != LIE_OTHER_FORM) {
        r.root.form = 3 - f->form;
        r.root.slice_count = r.root.form == U9I_INDEX_RECORDS;
    }
    uint64_t own = virtual_of(f->s.size, 0);
    bend_root(f, &r, root_keys, root_places, own);
    uint64_t root = put_page(f, &r);
    if (f->lie == LIE_OTHER_CYCLE) { /* a second one that leads to the first */
        r.root.other = root;
        r.root.form = 3 - f->form;
        r.root.slice_count = r.root.form == U9I_INDEX_RECORDS;
        root = put_page(f, &r);
    }
    if (f->lie == LIE_ROOT_NONE) return u9i_get_be(root_places[0], 8);
    return f->lie == LIE_ROOT_PLACE ? root + (UINT64_C(8) << U9I_VIRTUAL_SHIFT) : root;
}

static void put_seal(forging *f, uint64_t root)
{
    static const uint8_t none[1] = {0x30};
    uint8_t body[1024];
    forged_segment *s = &f->s;
    u9i_end_record end = {.kind = U9I_END_SEALING, .segment = s->number, .frames = s->frames, .records = s->records, .root = root,
                          .data_end = f->end.offset, .first_key = {none, 1}, .last_key = {none, 1},
                          .key_kind = {(const uint8_t *)s->kind, strlen(s->kind)}};
    memcpy(end.secret, s->secret.bytes, sizeof end.secret);
    u9i_out out = u9i_out_init(body, sizeof body);
    u9i_end_record_encode(&out, &end);
    s->next.durable = f->end.offset;
    forge_pad(s);
    (void)forge_frame(s, body, out.size, 0);
    forge_pad(s);
}

/* A log of one sealed segment with such an index, and one behind it that names its end, with or without records. */
static void forge_lie_in(forging *f, lie what, u9i_index_form form, bool records_behind)
{
    *f = (forging){.lie = what, .form = form};
    forge_data(f);
    forged_segment next = forge_begin(2, 5, &f->s, U9I_TAIL_ROLLED);
    if (records_behind) (void)forge_records(&next, "next", EACH);
    (void)forge_promise(&next);
    forge_pad(&f->s);
    if (what == LIE_VOID) { /* valid, and of the same keys, but not of the log */
        u9i_trailer was = f->s.next;
        f->s.next.ordinal = 0;
        f->void_at = forge_records(&f->s, "void", EACH);
        f->s.next.ordinal = was.ordinal;
        forge_pad(&f->s);
    }
    bend_entries(f);
    put_seal(f, put_index(f));
    forge_save(&f->s, at("log"));
    forge_save(&next, at("log"));
    forge_free(&next);
    forge_free(&f->s);
}

static void forge_lie(forging *f, lie what, u9i_index_form form)
{
    forge_lie_in(f, what, form, false);
}

/* How many of the keys a lookup finds, each with what it says; the others are told not to be there. */
static unsigned found_of(u9_log *log)
{
    unsigned found = 0;
    for (uint64_t n = 0; n < KEYS + 10; n++) {
        uint8_t key[16], buf[256], want[32];
        u9_record r;
        u9_value v;
        key_of(n, key);
        u9_err err = u9_log_get(log, &(u9_key){key, 16}, buf, sizeof buf, &r, NULL);
        ck_assert_msg(err == U9_OK || err == U9_ABSENT, "key %llu: %d", (unsigned long long)n, err);
        if (err != U9_OK) continue;
        ck_assert_uint_lt(n, KEYS);
        ck_assert_uint_eq(r.ordinal, n);
        ck_assert_uint_eq(r.segment, 1);
        ck_assert_int_eq(u9_value_decode(r.values, r.values_size, &v), U9_OK);
        int size = snprintf((char *)want, sizeof want, "true%llu", (unsigned long long)n);
        ck_assert_uint_eq(v.size, (uint64_t)size);
        ck_assert_mem_eq(v.data, want, (size_t)size);
        found++;
    }
    return found;
}

static int count_one(void *ctx, const u9_record *r)
{
    ck_assert_uint_eq(r->segment, 1);
    ++*(unsigned *)ctx;
    return 0;
}

static u9_index_report check_indexes(void)
{
    u9_index_report r = {.size = sizeof r};
    u9_index_options o = {.size = sizeof o, .io = sim_io()};
    ck_assert_int_eq(u9_indexes_check(at("log"), &o, &r, NULL), U9_OK);
    return r;
}

/* One that keeps nothing of an index: all of it is read in small pieces. */
static unsigned found_without_memory(void)
{
    u9_log *r;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = sim_io(), .cache_memory = 1};
    ck_assert_int_eq(u9_log_open(at("log"), &o, &r, NULL), U9_OK);
    unsigned found = found_of(r);
    close_log(r);
    return found;
}

START_TEST(what_an_index_leads_to_is_looked_at)
{
    forging f;
    lie what = (enum lie)(_i / 2);
    u9i_index_form form = _i % 2 ? U9I_INDEX_RECORDS : U9I_INDEX_FRAMES;
    forge_lie(&f, what, form);
    u9_log *r = open_reader(at("log"));
    unsigned found = found_of(r);
    for (unsigned again = 0; again < 3; again++) { /* by a table of all, too; which asks no filter */
        unsigned now = found_of(r);
        ck_assert_uint_ge(now, found);
        found = now;
    }
    if (what < LIE_SILENT) ck_assert_msg(found == KEYS, "lie %d, form %d: %u found", what, form, found);
    for (uint64_t n = 0; n < KEYS && what < LIE_SILENT; n += 37) {
        uint8_t key[16];
        unsigned count = 0;
        key_of(n, key);
        ck_assert_int_eq(u9_log_versions(r, &(u9_key){key, 16}, count_one, &count, NULL), U9_OK);
        ck_assert_uint_eq(count, 1);
    }
    if (what < LIE_SILENT) ck_assert_uint_eq(found_of(r), KEYS); /* whatever was looked up before */
    close_log(r);
    if (what < LIE_SILENT) ck_assert_uint_eq(found_without_memory(), KEYS);
    seen *s = look(at("log")); /* who reads the log is told everything, and of no damage, whatever the index says */
    ck_assert_uint_eq(s->count, KEYS + (f.misfit_at > 0));
    forget(s);
}
END_TEST

/* The same with keys in the segment behind it, too: so segments are in a row, and lookups go from fences to what is kept.
 * A key that is not found there is not believed to be absent for that. [K-2] */
START_TEST(what_fences_of_a_row_lead_to_is_looked_at)
{
    forging f;
    lie what = (enum lie)_i;
    forge_lie_in(&f, what, U9I_INDEX_FRAMES, true);
    ck_assert_int_eq(u9_guard_install(), U9_OK); /* what is kept is in memory then */
    u9_log *r = open_reader(at("log"));
    for (uint64_t n = 0; n < 3 * KEYS; n++) {
        uint8_t key[16], buf[256];
        u9_record record;
        key_of(n % KEYS, key);
        ck_assert_int_eq(u9_log_get(r, &(u9_key){key, 16}, buf, sizeof buf, &record, NULL), U9_OK);
        ck_assert_uint_eq(record.ordinal, n % KEYS);
    }
    close_log(r);
}
END_TEST

/* [K-2] That a key is not there an index does say: what it is silent about is missed by lookups, and told by a check. */
START_TEST(a_check_tells_of_each_lie)
{
    forging f;
    lie what = (enum lie)(_i / 2);
    u9i_index_form form = _i % 2 ? U9I_INDEX_RECORDS : U9I_INDEX_FRAMES;
    forge_lie(&f, what, form);
    u9_log *r = open_reader(at("log"));
    unsigned found = found_of(r);
    close_log(r);
    u9_index_report report = check_indexes();
    if (what == LIE_NONE) ck_assert_uint_eq(report.wrong, 0);
    if (what == LIE_NONE) ck_assert_uint_eq(report.inside, 1);
    unsigned hidden = form == U9I_INDEX_RECORDS ? 1 : EACH; /* that entry, what it should find, and the record that none can */
    if (what == LIE_MISFIT) ck_assert_uint_eq(report.wrong, 1 + hidden + 1);
    if (found < KEYS) ck_assert_uint_gt(report.wrong, 0); /* nothing is missed that a check would not find */
}
END_TEST

/* Which clause refuses a page, a root, a slice of a filter: one forged index each. [K-5] */
static const struct {
    lie what;
    u9i_index_form form;
    u9_clause clause;
} refusals[] = {
    {LIE_ROOT_RECORDS, U9I_INDEX_RECORDS, U9_CLAUSE_PAGE_KIND},
    {LIE_ROOT_PLACE, U9I_INDEX_FRAMES, U9_CLAUSE_PAGE_PLACE},
    {LIE_PAGE_FORM, U9I_INDEX_RECORDS, U9_CLAUSE_PAGE_FORM},
    {LIE_ROOT_SELF, U9I_INDEX_FRAMES, U9_CLAUSE_PAGE_ROOT},
    {LIE_PAGE_EMPTY, U9I_INDEX_FRAMES, U9_CLAUSE_PAGE_EMPTY},
    {LIE_PAGE_KEYSPEC, U9I_INDEX_RECORDS, U9_CLAUSE_PAGE_KEYSPEC},
    {LIE_PAGE_ORDER, U9I_INDEX_RECORDS, U9_CLAUSE_PAGE_ORDER},
    {LIE_NOWHERE, U9I_INDEX_FRAMES, U9_CLAUSE_PAGE_NOWHERE},
    {LIE_SHARED, U9I_INDEX_FRAMES, U9_CLAUSE_PAGE_FRAMES},
    {LIE_ROOT_OVERLAP, U9I_INDEX_RECORDS, U9_CLAUSE_PAGE_FIRST},
    {LIE_LAST, U9I_INDEX_FRAMES, U9_CLAUSE_PAGE_ABOVE},
    {LIE_ENTRIES, U9I_INDEX_FRAMES, U9_CLAUSE_PAGE_ENTRIES},
    {LIE_ROOT_NONE, U9I_INDEX_FRAMES, U9_CLAUSE_ROOT_NONE},
    {LIE_ROOT_EMPTY, U9I_INDEX_FRAMES, U9_CLAUSE_ROOT_EMPTY},
    {LIE_OTHER_FORM, U9I_INDEX_RECORDS, U9_CLAUSE_ROOT_TWICE},
    {LIE_ROOT_HASHED, U9I_INDEX_FRAMES, U9_CLAUSE_ROOT_HASHED},
    {LIE_FORM, U9I_INDEX_RECORDS, U9_CLAUSE_ROOT_FILTERED},
    {LIE_END_CHAIN, U9I_INDEX_RECORDS, U9_CLAUSE_ROOT_END},
    {LIE_ENTRIES_FEW, U9I_INDEX_RECORDS, U9_CLAUSE_ROOT_ENTRIES},
    {LIE_OTHER_KEYSPEC, U9I_INDEX_RECORDS, U9_CLAUSE_ROOT_KEYSPEC},
    {LIE_OTHER_COUNT, U9I_INDEX_RECORDS, U9_CLAUSE_ROOT_RECORDS},
    {LIE_ROOT_ORDER, U9I_INDEX_RECORDS, U9_CLAUSE_ROOT_ORDER},
    {LIE_ROOT_HIGH, U9I_INDEX_RECORDS, U9_CLAUSE_ROOT_LAST},
    {LIE_FILTER_MANY, U9I_INDEX_RECORDS, U9_CLAUSE_ROOT_SLICES},
    {LIE_FILTER_PLACE, U9I_INDEX_RECORDS, U9_CLAUSE_FILTER_PLACE},
    {LIE_FILTER_PAGE, U9I_INDEX_RECORDS, U9_CLAUSE_FILTER_KIND},
    {LIE_FILTER_FORM, U9I_INDEX_RECORDS, U9_CLAUSE_FILTER_FORM},
    {LIE_FILTER_SIZE, U9I_INDEX_RECORDS, U9_CLAUSE_FILTER_SIZE},
    {LIE_NONE, U9I_INDEX_FRAMES, U9_CLAUSE_NONE},
    {LIE_NONE, U9I_INDEX_RECORDS, U9_CLAUSE_NONE},
    {LIE_SILENT, U9I_INDEX_RECORDS, U9_CLAUSE_NONE}, /* what an index keeps silent about no clause refuses */
};

enum { REFUSALS = sizeof refusals / sizeof *refusals };

static void note_clause(void *ctx, const u9_index_info *info)
{
    if (info->segment == 1) *(u9_clause *)ctx = info->clause;
}

/* [K-5] */
START_TEST(a_check_says_which_clause_refuses_an_index)
{
    forging f;
    u9_clause told = U9_CLAUSE_SLOT_READ;
    u9_index_report r = {.size = sizeof r};
    u9_index_options o = {.size = sizeof o, .io = sim_io(), .on_segment = note_clause, .ctx = &told};
    forge_lie(&f, refusals[_i].what, refusals[_i].form);
    ck_assert_int_eq(u9_indexes_check(at("log"), &o, &r, NULL), U9_OK);
    ck_assert_str_eq(u9_clause_name(told), u9_clause_name(refusals[_i].clause));
}
END_TEST

/* [K-5] */
START_TEST(each_clause_of_an_index_has_one_that_is_refused_by_it)
{
    bool known[U9_CLAUSE_FILTER_SIZE + 2] = {[U9_CLAUSE_ROOT_LOST] = true}; /* of a file beside a segment: test_index_file.c */
    for (unsigned i = 0; i < REFUSALS; i++) known[refusals[i].clause] = true;
    for (unsigned c = U9_CLAUSE_PAGE_PLACE; c < U9_CLAUSE_FILTER_SIZE + 2; c++) {
        bool is_one = strcmp(u9_clause_name((u9_clause)c), "?") != 0;
        ck_assert_msg(known[c] == is_one, "%u: %s", c, u9_clause_name((u9_clause)c));
        ck_assert_int_eq(u9_clause_rule((u9_clause)c)[0] != '\0', is_one);
        ck_assert_int_eq(strcmp(u9_clause_text((u9_clause)c), "?") != 0, is_one);
    }
}
END_TEST

/* Keys of all forms, whatever the kind of the log, in forged segments. */

enum { ODD_KEYS = 160 };

typedef struct odd_key {
    uint8_t raw[24];
    size_t size;
    uint64_t ordinal; /* of the newest record that a scan shows */
    unsigned count;   /* of these */
} odd_key;

typedef struct odd_log {
    odd_key keys[ODD_KEYS];
    size_t count;
    const char *kind;
    bool later;          /* a record is in a form of a later version */
    bool lossy;          /* one was lost */

} odd_log;

static unsigned odds(unsigned below)
{
    return (unsigned)rand() % below;
}

/* A record with a key of 16 bytes, 8 bytes, or text, or of a form of tomorrow; returns its size. */
static size_t odd_record(uint8_t *out, unsigned form, uint64_t n)
{
    static const uint8_t heads[4][9] = {{0x1c, 16}, {0x03}, {0x25}, {0x0a, 'u', '9', 'l', 'a', 't', 'e', 'r', 0}};
    static const size_t head_sizes[4] = {2, 1, 1, 9}, key_sizes[4] = {16, 8, 5, 0};
    uint8_t key[24];
    key_of(n, key);
    if (form == 1) u9i_set_be(key, 8, n + 1);
    if (form == 2) snprintf((char *)key, sizeof key, "t%04u", (unsigned)n);
    size_t key_size = head_sizes[form] + key_sizes[form], size = u9i_record_head(2, key_size + 1, out);
    memcpy(out + size, heads[form], head_sizes[form]);
    memcpy(out + size + head_sizes[form], key, key_sizes[form]);
    out[size + key_size] = 0x81;
    return size + key_size + 1;
}

static const char *const odd_kinds[] = {"muid", "tid", "rkey", "none that is known"};

/* Three segments; most keys are of the log's kind, in order or not. */
static void forge_odd(odd_log *l, unsigned kind)
{
    static const unsigned own_form[] = {0, 1, 2, 0};
    static uint8_t body[1 << 16];
    forged_segment f[3];
    unsigned mixed = odds(3);
    bool sorted = odds(2);
    uint64_t n = 0;
    *l = (odd_log){.kind = odd_kinds[kind]};
    for (unsigned i = 0; i < 3; i++) {
        u9i_open_record open = forge_naming(i + 1, i ? &f[i - 1] : NULL, U9I_TAIL_ROLLED);
        open.kind = (u9i_span){.data = (const uint8_t *)l->kind, .size = strlen(l->kind)};
        f[i] = forge_with_open(i + 1, 5, &open);
        for (unsigned frame = 3 + odds(4); frame > 0; frame--) {
            size_t size = 0;
            uint32_t count = 1 + odds(i == 1 ? 200 : 20);
            for (uint32_t k = 0; k < count; k++, n++) {
                unsigned form = mixed > 0 && odds(40) == 0 ? odds(3) : own_form[kind];
                if (mixed == 2 && odds(400) == 0) form = 3;
                size += odd_record(body + size, form, sorted && odds(9) ? n / 8 : odds(ODD_KEYS / 4));
            }
            (void)forge_frame(&f[i], body, size, count);
        }
    }
    forge_end(&f[2], U9I_END_CLOSING);
    for (unsigned i = 0; i < 3; i++) {
        forge_save(&f[i], at("log"));
        forge_free(&f[i]);
    }
}

/* What a scan shows. */
static void scan_odd(odd_log *l, u9_log *log)
{
    u9_cursor *c;
    u9_record r;
    u9_err err;
    l->count = 0;
    l->later = l->lossy = false;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    while ((err = u9_cursor_next(c, &r)) != U9_END) {
        l->later |= err == U9_VERSION;
        l->lossy |= err == U9_CORRUPT;
        ck_assert(err == U9_OK || err == U9_VERSION || err == U9_CORRUPT);
        if (err != U9_OK) continue;
        size_t i = 0;
        while (i < l->count && (l->keys[i].size != r.key.size || memcmp(l->keys[i].raw, r.key.data, r.key.size) != 0)) i++;
        if (i == ODD_KEYS) continue;
        if (i == l->count) l->keys[l->count++] = (odd_key){.size = r.key.size};
        memcpy(l->keys[i].raw, r.key.data, r.key.size);
        l->keys[i].ordinal = r.ordinal;
        l->keys[i].count++;
    }
    u9_cursor_close(c);
}

static int count_any(void *ctx, const u9_record *r)
{
    (void)r;
    ++*(unsigned *)ctx;
    return 0;
}

static bool is_of_kind(const odd_log *l, const odd_key *k)
{
    size_t size = l->kind == odd_kinds[0] ? 16 : l->kind == odd_kinds[1] ? 8 : l->kind == odd_kinds[2] ? 5 : 0;
    return size == 0 || k->size == size;
}

/* Each key is found as the scan found it, by lookups of all sorts, so often that they make a table. */
static void look_up_odd(const odd_log *l, u9_log *log)
{
    static uint8_t bufs[ODD_KEYS][64];
    u9_lookup many[ODD_KEYS];
    unsigned wanted = 0;
    for (unsigned round = 0; round < 4; round++)
        for (size_t i = 0; i < l->count; i++) {
            const odd_key *k = &l->keys[i];
            u9_key key = {.data = k->raw, .size = k->size};
            u9_record r;
            unsigned count = 0;
            u9_err err = u9_log_get(log, &key, bufs[0], sizeof bufs[0], &r, NULL);
            if (!is_of_kind(l, k)) ck_assert_int_eq(err, U9_ARG);
            else ck_assert(err == U9_OK || (err == U9_CORRUPT && (l->lossy || l->later) && r.size > 0));
            if (err == U9_ARG) continue;
            ck_assert_uint_eq(r.ordinal, k->ordinal);
            if (round == 0) many[wanted] = (u9_lookup){.key = key, .buf = bufs[wanted], .cap = 64}, wanted++;
            if (round > 0 || i % 3 > 0) continue;
            err = u9_log_versions(log, &key, count_any, &count, NULL);
            ck_assert_int_eq(err, l->lossy || l->later ? U9_CORRUPT : U9_OK);
            ck_assert_uint_eq(count, k->count);
        }
    ck_assert_int_eq(u9_log_get_many(log, many, wanted, NULL), U9_OK);
    for (size_t i = 0, n = 0; i < l->count; i++) {
        if (!is_of_kind(l, &l->keys[i])) continue;
        ck_assert(many[n].err == U9_OK || (many[n].err == U9_CORRUPT && (l->lossy || l->later)));
        ck_assert_uint_eq(many[n++].record.ordinal, l->keys[i].ordinal);
    }
}

/* What a trim by a key would keep begins with the first segment in which a scan shows a key that is not lower. [L-10] */
static void expect_trim_before(u9_log *log, const u9_key *key, uint64_t last)
{
    u9_cursor *c;
    u9_record r;
    u9_err err;
    u9_trim what = {.size = sizeof what, .dry_run = 1, .before_key = *key};
    u9_trimmed out = {.size = sizeof out};
    bool later = false;
    uint64_t want = last, newest = last;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    while (want == newest && ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_VERSION)) {
        if (err == U9_VERSION) later |= u9_cursor_damage(c) != NULL;
        else if (!u9i_key_lower(&r.key, key)) want = r.segment, newest = 0;
    }
    u9_cursor_close(c);
    err = u9_log_trim(log, &what, &out, NULL);
    if (err == U9_VERSION) ck_assert(later);
    else ck_assert_int_eq(err, U9_OK);
    if (err == U9_OK) ck_assert_uint_eq(out.segments > 0 ? out.segment : 1, want);
}

/* [L-10] Keys of 8 bytes, which sealed segments name the first and the last of. */
START_TEST(a_trim_by_a_key_goes_by_what_a_scan_shows)
{
    static const uint8_t filler[5000] = {0};
    uint8_t value[5008];
    char key[16];
    u9_builder b;
    u9_options o = small_options();
    o.kind = _i ? "uid8" : "rkey";
    u9_log *log = open_writer(at("log"), &o);
    u9_builder_init(&b, value, sizeof value);
    ck_assert_int_eq(u9_build_bytes(&b, filler, sizeof filler), U9_OK);
    for (unsigned i = 0; i < 60; i++) {
        snprintf(key, sizeof key, "%08u", 1 + (i * 11 % 17 == 3 ? i * 7 % 20 : i / 2));
        ck_assert_int_eq(u9_log_append(log, &(u9_key){key, 8}, value, b.size, NULL), U9_OK);
    }
    close_log(log);
    log = open_reader(at("log"));
    for (unsigned i = 0; i < 34; i++) {
        snprintf(key, sizeof key, "%08u", i);
        expect_trim_before(log, &(u9_key){key, 8}, segments_in(at("log")));
    }
    close_log(log);
}
END_TEST

/* [K-2] [K-4] [L-6] */
START_TEST(whatever_keys_a_log_has_lookups_find_what_a_scan_shows)
{
    static odd_log l;
    for (unsigned round = 0; round < 8; round++) {
        srand((unsigned)_i * 8 + round);
        remove_log(at("log"));
        forge_odd(&l, (unsigned)_i);
        if (round % 3 == 2) flip_bit(segment_path(at("log"), 2), 600 + odds(2000), odds(8));
        for (unsigned beside = 0; beside < 2; beside++) {
            u9_log *log;
            u9_index_report r = {.size = sizeof r};
            u9_index_options io = {.size = sizeof io, .io = sim_io(), .memory = 1};
            u9_options o = {.size = sizeof o, .mode = U9_READ, .io = sim_io(), .cache_memory = odds(2), .index_memory = odds(2) ? 1 << 20 : 0};
            if (beside) ck_assert_int_eq(u9_indexes_build(at("log"), &io, &r, NULL), U9_OK);
            if (beside) ck_assert_uint_eq(check_indexes().wrong, 0);
            ck_assert_int_eq(u9_log_open(at("log"), &o, &log, NULL), U9_OK);
            scan_odd(&l, log);
            look_up_odd(&l, log);
            for (size_t i = 0; !l.lossy && i < l.count; i += 1 + l.count / 8)
                if (is_of_kind(&l, &l.keys[i])) expect_trim_before(log, &(u9_key){l.keys[i].raw, l.keys[i].size}, 3);
            close_log(log);
        }
    }
}
END_TEST

Suite *suite_index_forged(void)
{
    Suite *s = suite_create("index_forged");
    TCase *t = tcase_create("index_forged");
    tcase_add_checked_fixture(t, setup, fixture_teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, what_an_index_leads_to_is_looked_at, 0, 2 * LIES);
    tcase_add_loop_test(t, what_fences_of_a_row_lead_to_is_looked_at, 0, LIE_SILENT);
    tcase_add_loop_test(t, a_check_tells_of_each_lie, 0, 2 * LIES);
    tcase_add_loop_test(t, a_check_says_which_clause_refuses_an_index, 0, REFUSALS);
    tcase_add_test(t, each_clause_of_an_index_has_one_that_is_refused_by_it);
    tcase_add_loop_test(t, a_trim_by_a_key_goes_by_what_a_scan_shows, 0, 2);
    tcase_add_loop_test(t, whatever_keys_a_log_has_lookups_find_what_a_scan_shows, 0, sizeof odd_kinds / sizeof *odd_kinds);
    suite_add_tcase(s, t);
    return s;
}
