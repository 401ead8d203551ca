/*
 * tests/engine/index/test_index_parts.c: what an index is made of, each part by itself: ranges of losses, sorted runs,
 * pages of which nothing is kept, open frames of every sort.
 */
#include "engine/index/frames.h"
#include "engine/index/index_file.h"
#include "engine/index/index_out.h"
#include "engine/index/losses.h"
#include "engine/index/page.h"
#include "engine/index/runs.h"
#include "engine/log/handle.h"
#include "engine/segment/draw.h"
#include "tests/engine/fixture.h"
#include "tests/engine/scarce.h"
#include "tests/must.h"
#include "tests/sanitized.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <u9/cursor.h>
#include <u9/guard.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Losses [C-9] */

static void range(uint8_t *to, uint64_t begin, uint64_t end)
{
    u9i_set_be(to, 8, begin);
    u9i_set_be(to + 8, 8, end);
}

START_TEST(losses_are_ranges_in_order_of_which_none_touches_what_was_noted)
{
    u9i_losses l = {.count = 0};
    ck_assert(!u9i_losses_add(&l, 5, 5) && !u9i_losses_add(&l, 6, 5));
    ck_assert(u9i_losses_add(&l, 10, 20));
    ck_assert(u9i_losses_add(&l, 12, 18) && l.count == 1);
    ck_assert(u9i_losses_add(&l, 15, 30) && l.count == 2);
    ck_assert(u9i_losses_have(&l, 10, 20) && u9i_losses_have(&l, 21, 30) &&
              !u9i_losses_have(&l, 19, 21));
    ck_assert(!u9i_losses_have(&l, 30, 31) && !u9i_losses_have(&l, 9, 11));
    while (u9i_losses_add(&l, l.count * 100, l.count * 100 + 1)) MUST(l.count <= U9I_LOSSES_MAX);
    ck_assert_uint_eq(l.count, U9I_LOSSES_MAX);
    u9i_losses_free(&l);
    scarce_begin(SCARCE_MEMORY, 1, 0, false);
    ck_assert(!u9i_losses_add(&l, 1, 2));
    ck_assert_uint_eq(scarce_end(NULL), 1);
}
END_TEST

START_TEST(losses_of_a_root_that_cannot_be_are_refused)
{
    static uint8_t bytes[16 * (U9I_LOSSES_MAX + 1)];
    struct u9i_root_record root = {.lost = bytes, .lost_count = 4};
    u9i_losses l;
    range(bytes, 10, 20);
    range(bytes + 16, 20, 25);
    ck_assert_int_eq(u9i_losses_of(&l, &root), U9_OK);
    ck_assert_uint_eq(l.count, 2);
    u9i_losses_free(&l);
    range(bytes + 16, 19, 25);
    ck_assert_int_eq(u9i_losses_of(&l, &root), U9_CORRUPT);
    range(bytes + 16, 30, 30);
    ck_assert_int_eq(u9i_losses_of(&l, &root), U9_CORRUPT);
    root.lost_count = 2 * (U9I_LOSSES_MAX + 1);
    ck_assert_int_eq(u9i_losses_of(&l, &root), U9_CORRUPT);
    root.lost_count = 2;
    scarce_begin(SCARCE_MEMORY, 1, 0, false);
    ck_assert_int_eq(u9i_losses_of(&l, &root), U9_NOMEM);
    ck_assert_uint_eq(scarce_end(NULL), 1);
}
END_TEST

/* Runs, on a simulated disk */

typedef struct place {
    u9i_dir *dir;
    u9i_queue *queue;
} place;

static place open_place(void)
{
    place p;
    char path[3400];
    strcpy(path, at(""));
    MUST(u9i_dir_open(sim_env(), path, false, &p.dir) == 0);
    MUST(u9i_queue_open(sim_env(), NULL, 0, 0, &p.queue) == 0);
    return p;
}

static void close_place(place *p)
{
    u9i_queue_close(p->queue);
    u9i_dir_close(p->dir);
}

/* As many runs as cannot be merged at once; how many came out in order, or a negative errno. */
static int sort_many(const place *p, unsigned count)
{
    u9i_runs r = {.dir = p->dir, .name = "runs", .queue = p->queue, .memory = U9I_RUNS_MEMORY};
    u9i_key_entry e, before = {.hi = 0};
    int told = 0, more = u9i_runs_open(&r);
    if (more != 0) return more;
    for (unsigned i = 0; i < count; i++)
        u9i_runs_add(&r, &(u9i_key_entry){.hi = i * UINT64_C(0x9e3779b97f4a7c15) >> 52,
                                          .lo = i % 3,
                                          .at = i + 1});
    more = u9i_runs_sort(&r);
    while (more >= 0 && (more = u9i_runs_next(&r, &e)) > 0) {
        MUST(u9i_key_below(&before, &e) || (u9i_key_same(&before, &e) && before.at < e.at));
        before = e;
        told++;
    }
    MUST(more == 0 || u9i_runs_sort(&r) == more); /* an error stays */
    u9i_runs_close(&r);
    return more < 0 ? more : told;
}

START_TEST(runs_that_are_too_many_are_merged_and_a_failure_of_any_call_is_told)
{
    enum { MANY = 7 * 4 * U9I_RUNS_CHUNK + 100, FEW = 100 };
    place p = open_place();
    ck_assert_int_eq(sort_many(&p, 0), 0);
    ck_assert_int_eq(sort_many(&p, FEW), FEW);
    ck_assert_int_eq(sort_many(&p, MANY), MANY);
    for (unsigned n = 1, told = 0; told != MANY; n += n < 12 ? 1 : 5) {
        sim_fail(SIM_ANY, n, EIO, false);
        int got = sort_many(&p, MANY);
        MUST_SAY(got == MANY || got == -EIO, "%u: %d", n, got);
        told = got < 0 ? 0 : (unsigned)got;
        if (n == 1) told = 0; /* what a crash left may be there or not */
        sim_mend();
        MUST(n < 500);
    }
    for (unsigned n = 1, failed = 1; failed; n++) {
        scarce_begin(SCARCE_MEMORY, n, 0, false);
        int got = sort_many(&p, MANY);
        failed = scarce_end(NULL);
        MUST(got == (failed ? -ENOMEM : MANY));
    }
    close_place(&p);
}
END_TEST

/* What an index writes */

/* An index of so many entries; if none, not even begun. 0 or a negative errno, which is told again by all that follows. */
static int write_out(const place *p, uint64_t entries)
{
    u9i_index_out o = {.at.offset = U9I_BLOCK, .spec = {.width = 16}};
    (void)u9i_dir_remove(p->dir, "index");
    MUST(u9i_file_open(p->dir, "index", U9I_OPEN_CREATE, &o.file) == 0);
    MUST(u9i_secret_draw(sim_env(), &o.secret));
    int sys = u9i_index_out_open(&o);
    if (sys == 0 && entries > 0) sys = u9i_index_out_begin(&o, U9I_INDEX_RECORDS, entries);
    bool told = sys == 0 && entries > 0;
    for (uint64_t i = 1; told && i <= entries; i++) u9i_index_out_add(&o, &(u9i_key_entry){.hi = i, .at = i << U9I_VIRTUAL_SHIFT});
    if (told) sys = u9i_index_out_end(&o, NULL);
    if (o.buffer) MUST(u9i_index_out_finish(&o) == o.error && (sys == 0 || o.error == sys));
    if (sys == 0) sys = o.error;
    MUST(sys != 0 || (o.root != 0) == (entries > 0));
    u9i_index_out_close(&o);
    u9i_file_close(o.file);
    return sys;
}

START_TEST(an_index_that_cannot_be_written_says_so_whatever_failed)
{
    enum { MANY = 50000 }; /* more than is written at once */
    place p = open_place();
    ck_assert_int_eq(write_out(&p, 0), 0);
    ck_assert_int_eq(write_out(&p, MANY), 0);
    ck_assert_int_eq(write_out(&p, UINT64_C(1) << 50), -EFBIG);
    for (unsigned n = 1, failed = 1; failed; n++) {
        unsigned fired = sim_fired();
        sim_fail(SIM_WRITE, n, EIO, false);
        int sys = write_out(&p, MANY);
        failed = sim_fired() - fired;
        ck_assert_int_eq(sys, failed ? -EIO : 0);
        sim_mend();
    }
    for (unsigned n = 1, failed = 1; failed; n++) {
        scarce_begin(SCARCE_MEMORY, n, 0, _i);
        int sys = write_out(&p, MANY);
        failed = scarce_end(NULL);
        ck_assert_int_eq(sys, failed ? -ENOMEM : 0);
    }
    close_place(&p);
}
END_TEST

/* Pages */

enum { ENTRIES = 700 };

static uint64_t key_number(uint32_t i)
{
    return 1000 + i / 3 * 10; /* of three entries one key */
}

/* The file has keys and places in a row, as a page has them. */
static u9i_page page_in_file(unsigned width, uint8_t *bytes)
{
    memset(bytes, 0, (width + 8) * (size_t)ENTRIES);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        u9i_set_be(bytes + i * width, 8, key_number(i));
        u9i_set_be(bytes + ENTRIES * width + 8 * (size_t)i, 8, (i + 1) * 16);
    }
    return u9i_page_plan(bytes, bytes + ENTRIES * width, ENTRIES, width);
}

/* What is found in a page in memory, with its directory and without, and in one that is read, is the same. */
START_TEST(a_page_that_is_read_says_what_one_in_memory_says)
{
    static uint8_t bytes[ENTRIES * 24 + 4096];
    unsigned width = _i ? 16 : 8;
    place p = open_place();
    u9i_file *file;
    u9i_page plan = page_in_file(width, bytes + 4096);
    u9i_page *kept = u9i_page_make(&plan);
    plan.groups = 0;
    u9i_page *bare = u9i_page_make(&plan);
    write_file(at("page"), bytes, sizeof bytes);
    MUST(u9i_file_open(p.dir, "page", U9I_OPEN_READ, &file) == 0);
    bare->keys = bare->places = NULL;
    bare->keys_at = 4096;
    bare->places_at = 4096 + ENTRIES * width;
    for (uint64_t hi = 980; hi < 1010 + ENTRIES / 3 * 10; hi += 5) {
        u9i_key_entry e = {.hi = hi, .at = (hi - 1000) * 16}, a, b;
        bool first_a, first_b;
        u9_err err = u9i_page_last_before(kept, NULL, &e, &a);
        ck_assert_int_eq(u9i_page_last_before(bare, file, &e, &b), err);
        ck_assert_int_eq(err, hi < 1005 && !(hi == 1000 && e.at > 16) ? U9_CORRUPT : U9_OK);
        ck_assert(err != U9_OK || (u9i_key_same(&a, &b) && a.at == b.at && a.hi <= hi));
        ck_assert_int_eq(u9i_page_begins_before(kept, NULL, &e, &first_a), U9_OK);
        ck_assert_int_eq(u9i_page_begins_before(bare, file, &e, &first_b), U9_OK);
        ck_assert(first_a == first_b);
    }
    for (unsigned n = 1, failed = 1; failed; n++) {
        u9i_key_entry e = {.hi = 2000, .at = 5000 * 16}, out;
        unsigned fired = sim_fired();
        bool before;
        sim_fail(SIM_READ, n, EIO, false);
        u9_err err = u9i_page_last_before(bare, file, &e, &out);
        failed = sim_fired() - fired;
        ck_assert_int_eq(err, failed ? U9_IO : U9_OK);
        if (!failed) ck_assert_int_eq(u9i_page_begins_before(bare, file, &e, &before), U9_IO);
        sim_mend();
    }
    for (uint64_t size = 4097; size < 4096 + ENTRIES * width; size += 999) {
        u9i_key_entry e = {.hi = 2 * key_number(ENTRIES), .at = 1}, out;
        cut_file(at("page"), size);
        ck_assert_int_eq(u9i_page_last_before(bare, file, &e, &out), U9_CORRUPT);
    }
    u9i_file_close(file);
    u9i_page_free(kept);
    u9i_page_free(bare);
    close_place(&p);
}
END_TEST

/* Open frames */

enum { RECORDS_MAX = 1800 };

typedef struct told {
    uint64_t ordinal, frame, at;
    uint8_t key[16];
    size_t size;
} told;

static told records[RECORDS_MAX];
static size_t record_count;

typedef struct way {
    bool lz4, keyed, hashed, plenty; /* plenty: of memory for what is kept */
    u9_verify verify;
} way;

/* Frames of a few records, of very many small ones, and of large ones. */
static void write_records(const way *w)
{
    static uint8_t value[7000];
    u9_cursor *c;
    u9_record r;
    u9_options o = writer_options();
    o.lz4 = w->lz4;
    u9_log *log = open_writer(at("log"), &o);
    for (unsigned i = 0; i < 1700; i++) {
        memset(value, (int)i, 64);
        (void)append_bytes(log, value, i < 100 ? i % 40 : i < 1600 ? 2 : i % 3 ? 6900 : 3);
        if (i % 10 == 9 && (i < 100 || i > 1598)) ck_assert_int_eq(u9_log_sync(log), U9_OK);
    }
    close_log(log);
    log = open_reader(at("log"));
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    for (record_count = 0; u9_cursor_next(c, &r) == U9_OK; record_count++) {
        told *t = &records[record_count];
        *t = (told){.ordinal = r.ordinal, .frame = r.frame, .at = r.at, .size = r.size};
        memcpy(t->key, r.key.data, sizeof t->key);
    }
    ck_assert_uint_eq(record_count, 1700);
    u9_cursor_close(c);
    close_log(log);
}

static void expect_record(u9_err err, u9i_found *found, const told *t, const u9i_open_frame *f)
{
    ck_assert_int_eq(err, U9_OK);
    ck_assert_uint_eq(found->at, t->at);
    ck_assert_uint_eq(f->ordinal + found->number, t->ordinal);
    ck_assert_uint_eq(found->record.size, t->size);
    ck_assert_mem_eq(found->record.key, t->key, sizeof t->key);
    u9i_found_free(found);
}

/* Asked in every way for one record. */
static void ask_all(u9i_frames *fs, const told *t, bool fenced)
{
    const u9i_open_frame *f;
    u9i_open_frame *own;
    u9i_found found;
    u9i_key_entry e, there;
    uint8_t other_key[16];
    int sys;
    u9_key key = {t->key, sizeof t->key}, small = {t->key, 3},
           other = {other_key, sizeof other_key};
    uint64_t base = t->frame / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    memcpy(other_key, t->key, sizeof other_key);
    other_key[15] ^= 0x40;
    other_key[3] ^= 0x40;
    u9_err err = fenced ? u9i_frames_fenced_at(fs, t->frame, &f, &own, &sys)
                        : u9i_frames_at(fs, t->frame, &f, &own, &sys);
    ck_assert_int_eq(err, U9_OK);
    (void)u9i_open_frame_bring(fs, f, &key, 0);
    (void)u9i_open_frame_bring(fs, f, &key, t->at);
    expect_record(u9i_open_frame_record(fs, f, t->at, &found), &found, t, f);
    expect_record(u9i_open_frame_find(fs, f, &key, UINT64_MAX, &found), &found, t, f);
    expect_record(u9i_open_frame_find(fs, f, &key, t->at + 1, &found), &found, t, f);
    ck_assert_int_eq(u9i_open_frame_find(fs, f, &key, t->at, &found), U9_ABSENT);
    ck_assert_int_eq(u9i_open_frame_find(fs, f, &key, base, &found), U9_ABSENT);
    ck_assert_int_eq(u9i_open_frame_find(fs, f, &small, UINT64_MAX, &found), U9_ABSENT);
    ck_assert_int_eq(u9i_open_frame_find(fs, f, &other, UINT64_MAX, &found), U9_ABSENT);
    ck_assert_int_eq(u9i_open_frame_record(fs, f, t->at + 1, &found), U9_CORRUPT);
    ck_assert_int_eq(u9i_open_frame_record(fs, f, base + f->size, &found), U9_CORRUPT);
    ck_assert_int_eq(u9i_open_frame_key(fs, f, base + f->size + 9, &there), U9_CORRUPT);
    ck_assert_int_eq(u9i_open_frame_key(fs, f, t->at, &there), U9_OK);
    ck_assert(u9i_keyspec_entry(&fs->spec, t->key, sizeof t->key, &e) && u9i_key_same(&e, &there));
    err = u9i_open_frame_find_at_hand(f, &key, u9i_key_mix(&e, fs->seed), UINT64_MAX, &found);
    if (err == U9_OK) expect_record(err, &found, t, f);
    else ck_assert_int_eq(err, U9_AGAIN);
    err = u9i_open_frame_find_at_hand(f, &key, u9i_key_mix(&e, fs->seed), t->at, &found);
    ck_assert_int_eq(err, U9_AGAIN);
    const u9_key others[2] = {small, other}; /* of whose hash it is, too */
    for (unsigned i = 0; i < 2; i++) {
        err = u9i_open_frame_find_at_hand(f, &others[i], u9i_key_mix(&e, fs->seed), UINT64_MAX, &found);
        ck_assert(err == U9_ABSENT || err == U9_AGAIN);
        ck_assert(u9i_open_frame_bring(fs, f, &others[i], 0) == 0 || f->keyed);
    }
    ck_assert_uint_eq(u9i_open_frame_bring(fs, f, &key, base + f->size + 5), 0);
    u9i_frames_bring_record(fs, base + f->size + (UINT64_C(1) << 40));
    u9i_open_frame_free(own);
}

/* [K-2] Whether frames are kept, compressed, hashed each time, with tables of keys or of places: they say the same. */
START_TEST(a_frame_finds_its_records_however_it_is_opened)
{
    const way w = {.lz4 = _i & 1,
                   .keyed = _i & 2,
                   .hashed = _i & 4,
                   .plenty = _i & 8,
                   .verify = _i & 16 ? U9_VERIFY_ALWAYS : U9_VERIFY_FIRST};
    if (_i & 32) ck_assert_int_eq(u9_guard_install(), U9_OK); /* the file is mapped */
    u9i_catalog *catalog;
    u9i_budget budget;
    u9i_frames fs;
    int sys;
    write_records(&w);
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = sim_io(), .verify = w.verify};
    u9_log *log;
    ck_assert_int_eq(u9_log_open(at("log"), &o, &log, NULL), U9_OK);
    ck_assert_int_eq(u9i_source_catalog(&log->source, &catalog, NULL), U9_OK);
    u9i_segment *s = catalog->segments[0];
    u9i_keyspec spec = {.width = w.hashed ? 8 : 16, .hashed = w.hashed, .seed = 7};
    u9i_budget_open(&budget, w.plenty ? UINT64_MAX / 2 : 1);
    ck_assert_int_eq(
        u9i_frames_open(&fs, s, &log->source.windows, U9_NOWHERE, &spec, w.keyed, &budget, &sys),
        U9_OK);
    for (size_t i = 0; i < record_count; i += i < 105 || i > 1590 ? 3 : 97)
        ask_all(&fs, &records[i], i % 2 == 0);
    const u9i_open_frame *f;
    u9i_open_frame *own;
    ck_assert_int_eq(u9i_frames_at(&fs, records[20].frame + 16, &f, &own, &sys), U9_CORRUPT);
    ck_assert_int_eq(u9i_frames_at(&fs, s->facts.size + 4096, &f, &own, &sys), U9_CORRUPT);
    ck_assert_int_eq(u9i_frames_at(&fs, U9I_DISK_HEADER_SIZE, &f, &own, &sys),
                     U9_CORRUPT); /* no records */
    u9i_frames_close(&fs);
    u9i_budget_close(&budget);
    u9i_catalog_unref(catalog);
    close_log(log);
}
END_TEST

/* Forged frames */

/* A record with a key of this many letters, all `letter`, and a value of `size` bytes; returns its size. */
static size_t letter_record(uint8_t *out, char letter, size_t letters, size_t size)
{
    static uint8_t bytes[40000];
    u9_builder b;
    u9_builder_init(&b, out, size + letters + 64);
    memset(bytes, letter, letters);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    ck_assert_int_eq(u9_build_utf8(&b, bytes, letters), U9_OK);
    memset(bytes, 0, sizeof bytes);
    ck_assert_int_eq(u9_build_bytes(&b, bytes, size), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    return b.size;
}

typedef struct sort {
    const char *name;
    unsigned records, count; /* that stand there, and that the trailer says */
    size_t first, others;    /* bytes of their values */
    unsigned letters;        /* of every third key; 16: of all */
    u9_err err;
} sort;

static const sort sorts[] = {
    {"as they should be", 40, 40, 20, 20, 16, U9_OK},
    {"a large one and then small ones", 200, 200, 30000, 2, 16, U9_OK},
    {"more than most frames have", 1500, 1500, 20, 20, 16, U9_OK},
    {"keys of other sizes between", 40, 40, 20, 20, 5, U9_OK},
    {"fewer than it says", 3, 5, 20, 20, 16, U9_CORRUPT},
    {"more than it says", 5, 3, 20, 20, 16, U9_CORRUPT},
    {"none", 0, 0, 20, 20, 16, U9_CORRUPT},
};
enum { SORTS = sizeof sorts / sizeof *sorts, ROOM = 1 << 17 };

static uint64_t forge_sort(forged_segment *s, const sort *what)
{
    static uint8_t body[ROOM];
    size_t size = 0;
    for (unsigned i = 0; i < what->records; i++)
        size += letter_record(body + size, (char)('A' + i % 50), i % 3 == 0 ? what->letters : 16, i == 0 ? what->first : what->others);
    return forge_frame(s, body, size, what->count);
}

typedef struct asked {
    const u9i_frames *fs;
    const u9i_open_frame *f;
    uint64_t base;
    unsigned told;
} asked;

/* A record that the walk tells: it is found by its place, and where its key is one of the spec's by that, or a later one. */
static bool ask_for(void *ctx, const u9i_record *r, uint32_t at, uint32_t number)
{
    asked *a = ctx;
    u9i_found found;
    u9i_key_entry e;
    u9_key key = {.data = r->key, .size = r->key_size};
    bool fits = u9i_keyspec_entry(&a->fs->spec, r->key, r->key_size, &e), by_keys = a->f->keyed && a->f->table;
    u9_err err = u9i_open_frame_record(a->fs, a->f, a->base + at, &found);
    ck_assert_int_eq(err, fits || !by_keys ? U9_OK : U9_CORRUPT);
    if (err == U9_OK) ck_assert(found.number == number && found.record.size == r->size);
    if (err == U9_OK) u9i_found_free(&found);
    err = u9i_open_frame_find(a->fs, a->f, &key, UINT64_MAX, &found);
    ck_assert_int_eq(err, fits || !by_keys ? U9_OK : U9_ABSENT);
    if (err == U9_OK) ck_assert(found.number >= number && found.record.key_size == r->key_size);
    if (err == U9_OK) u9i_found_free(&found);
    ck_assert_int_eq(u9i_open_frame_key(a->fs, a->f, a->base + at, &e), fits ? U9_OK : U9_CORRUPT);
    a->told++;
    return false;
}

/* What is forged is a log's only segment, closed. */
static u9_log *open_forged(const forged_segment *s, u9_verify verify, u9i_catalog **catalog)
{
    u9_log *log;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = sim_io(), .verify = verify};
    forge_save(s, at("log"));
    ck_assert_int_eq(u9_log_open(at("log"), &o, &log, NULL), U9_OK);
    ck_assert_int_eq(u9i_source_catalog(&log->source, catalog, NULL), U9_OK);
    return log;
}

START_TEST(frames_of_every_sort_say_what_a_walk_says_or_nothing) /* [K-2] */
{
    bool keyed = _i & 1, plenty = _i & 2;
    if (_i & 8) ck_assert_int_eq(u9_guard_install(), U9_OK);
    uint64_t at_offset[SORTS];
    u9i_catalog *catalog;
    u9i_budget budget;
    u9i_frames fs;
    int sys;
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (unsigned i = 0; i < SORTS; i++) at_offset[i] = forge_sort(&s, &sorts[i]);
    if (keyed) s.frames = 0; /* so it says, which is not so */
    forge_end(&s, U9I_END_CLOSING);
    u9_log *log = open_forged(&s, _i & 4 ? U9_VERIFY_ALWAYS : U9_VERIFY_FIRST, &catalog);
    u9i_keyspec spec = {.width = 16, .seed = 7};
    for (unsigned i = 0; i < SORTS; i++) {
        asked a = {.fs = &fs, .base = at_offset[i] / U9I_ALIGN << U9I_VIRTUAL_SHIFT};
        u9i_open_frame *own;
        unsigned failed = 1;
        for (unsigned nth = 1; failed > 0; nth = next_call(nth)) { /* also without memory */
            size_t kept;
            u9i_budget_open(&budget, plenty ? UINT64_MAX / 2 : 1);
            ck_assert_int_eq(u9i_frames_open(&fs, catalog->segments[0], &log->source.windows, s.end, &spec, keyed, &budget, &sys), U9_OK);
            scarce_begin(SCARCE_MEMORY, nth, 0, false);
            u9_err err = u9i_frames_at(&fs, at_offset[i], &a.f, &own, &sys);
            failed = scarce_end(&kept);
            ck_assert_msg(err == sorts[i].err || (failed > 0 && err == U9_NOMEM), "%s: %s", sorts[i].name, u9_err_name(err));
            if (failed == 0 && err == U9_OK) {
                ck_assert_int_eq(u9i_open_frame_walk(&fs, a.f, ask_for, &a), U9_OK);
                ck_assert_uint_eq(a.told, sorts[i].records);
                ck_assert(u9i_open_frame_groups(a.f) == 0 || a.f->keyed);
            }
            if (err == U9_OK) u9i_open_frame_free(own);
            u9i_frames_close(&fs);
            u9i_budget_close(&budget);
        }
    }
    u9i_catalog_unref(catalog);
    close_log(log);
    forge_free(&s);
}
END_TEST

/* [K-2] Bytes of a value that would be a record, with a key of its own, are none: whatever leads there is refuted. */
START_TEST(a_record_within_a_value_is_none)
{
    bool keyed = _i & 1, plenty = _i & 2;
    uint8_t inner[128], body[512];
    size_t inner_size = letter_record(inner, 'i', 16, 20);
    u9_builder b;
    u9i_catalog *catalog;
    u9i_budget budget;
    u9i_frames fs;
    u9i_open_frame *own;
    u9i_found found;
    const u9i_open_frame *f;
    int sys;
    if (_i & 4) ck_assert_int_eq(u9_guard_install(), U9_OK);
    u9_builder_init(&b, body, sizeof body);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    ck_assert_int_eq(u9_build_utf8(&b, "a key of 16 byte", 16), U9_OK);
    ck_assert_int_eq(u9_build_bytes(&b, inner, inner_size), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    const uint8_t *within = memmem(body, b.size, inner, inner_size);
    ck_assert(within != NULL);
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    uint64_t offset = forge_frame(&s, body, b.size, 1), base = offset / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    forge_end(&s, U9I_END_CLOSING);
    u9_log *log = open_forged(&s, U9_VERIFY_FIRST, &catalog);
    u9i_keyspec spec = {.width = 16, .seed = 7};
    u9i_budget_open(&budget, plenty ? UINT64_MAX / 2 : 1);
    ck_assert_int_eq(u9i_frames_open(&fs, catalog->segments[0], &log->source.windows, s.end, &spec, keyed, &budget, &sys), U9_OK);
    ck_assert_int_eq(u9i_frames_at(&fs, offset, &f, &own, &sys), U9_OK);
    ck_assert_int_eq(u9i_open_frame_record(&fs, f, base + (uint64_t)(within - body), &found), U9_CORRUPT);
    ck_assert_int_eq(u9i_open_frame_record(&fs, f, base, &found), U9_OK);
    ck_assert_uint_eq(found.record.size, b.size);
    u9i_found_free(&found);
    u9i_open_frame_free(own);
    u9i_frames_close(&fs);
    u9i_budget_close(&budget);
    u9i_catalog_unref(catalog);
    close_log(log);
    forge_free(&s);
}
END_TEST

/* A record of this key of 16 bytes. */
static size_t twin_record(uint8_t *out, const uint64_t key[2])
{
    u9_builder b;
    u9_builder_init(&b, out, 128);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    ck_assert_int_eq(u9_build_bytes(&b, key, 16), U9_OK);
    ck_assert_int_eq(u9_build_utf8(&b, "value", 5), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    return b.size;
}

/*
 * [C-7] An index of hashes leads from one to all that have it, the newest one first: only a record with the very key counts.
 * One whose key has another hash was never meant [K-2]: then the index says nothing.
 */
START_TEST(a_key_is_found_behind_newer_ones_of_the_same_hash)
{
    enum { RECORDS = 3 };
    /* XXH3 multiplies the halves of 16 bytes after flipping these bits of them, here for seed 7; where one is zero then,
     * what it adds to that is the other: so the first two have one hash. */
    static const uint64_t flips[2] = {0x6782737bea4239c0, 0xaf56bc3b09965233}, half = 0x1122334455667788;
    const uint64_t all[RECORDS][2] = {{flips[0], half ^ flips[1]}, {__builtin_bswap64(half) ^ flips[0], flips[1]}, {1, 2}};
    static const struct {
        unsigned from, until; /* the records that the index leads to by the first one's hash */
        u9_err err;
    } cases[] = {{0, 2, U9_OK}, {0, 1, U9_OK}, {1, 2, U9_ABSENT}, {2, 3, U9_CORRUPT}, {0, 3, U9_CORRUPT}, {1, 3, U9_CORRUPT}};
    uint8_t body[512];
    uint64_t places[RECORDS + 1] = {0};
    u9i_catalog *catalog;
    u9i_budget budget;
    u9i_frames fs;
    u9i_keys keys;
    u9i_open_frame *own;
    u9i_found found;
    u9i_key_entry hash, twin;
    const u9i_open_frame *f;
    int sys;
    const u9_key key = {(const char *)all[0], 16};
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (unsigned i = 0; i < RECORDS; i++) places[i + 1] = places[i] + twin_record(body + places[i], all[i]);
    uint64_t base = forge_frame(&s, body, places[RECORDS], RECORDS) / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    forge_end(&s, U9I_END_CLOSING);
    u9_log *log = open_forged(&s, U9_VERIFY_FIRST, &catalog);
    u9i_keyspec spec = {.width = 8, .hashed = true, .seed = 7};
    ck_assert(u9i_keyspec_entry(&spec, all[0], 16, &hash) && u9i_keyspec_entry(&spec, all[1], 16, &twin));
    ck_assert(u9i_key_same(&hash, &twin));
    u9i_budget_open(&budget, UINT64_MAX / 2);
    ck_assert_int_eq(u9i_frames_open(&fs, catalog->segments[0], &log->source.windows, s.end, &spec, false, &budget, &sys), U9_OK);
    for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
        u9i_index x;
        ck_assert(u9i_keys_open(&keys, &spec, 1 << 20));
        for (unsigned i = cases[n].from; i < cases[n].until; i++) u9i_keys_add(&keys, key.data, key.size, base + places[i], false);
        u9i_keys_sort(&keys);
        ck_assert_int_eq(u9i_index_make(&x, &keys, &budget), U9_OK);
        ck_assert_int_eq(u9i_index_find(&x, &fs, &key, UINT64_MAX, &f, &found, &own), cases[n].err);
        if (cases[n].err == U9_OK) {
            ck_assert_uint_eq(found.at, base);
            ck_assert_mem_eq(found.record.key, key.data, key.size);
            u9i_found_free(&found);
            u9i_open_frame_free(own);
        }
        u9i_index_close(&x);
        u9i_keys_close(&keys);
    }
    u9i_frames_close(&fs);
    u9i_budget_close(&budget);
    u9i_catalog_unref(catalog);
    close_log(log);
    forge_free(&s);
}
END_TEST

/* [K-2] In the frame of a record in parts none is in order: an entry of form 1 that leads there says nothing. */
START_TEST(an_entry_of_form_1_does_not_lead_to_a_record_in_parts)
{
    const u9_key part = {"aaaaaaaaaaaaaaaa", 16}, key = {"bbbbbbbbbbbbbbbb", 16};
    uint8_t body[64];
    u9i_catalog *catalog;
    u9i_budget budget;
    u9i_frames fs;
    u9i_keys keys;
    u9i_index x;
    u9i_open_frame *own;
    u9i_found found;
    const u9i_open_frame *f;
    int sys;
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_frame(&s, body, letter_record(body, 'b', 16, 1), 1);
    uint64_t at = forge_part(&s, &(u9i_part_record){.number = 1, .total = U9I_BODY_MAX + 1000, .bytes = {body, sizeof body}}, 1);
    forge_end(&s, U9I_END_CLOSING);
    u9_log *log = open_forged(&s, U9_VERIFY_FIRST, &catalog);
    u9i_keyspec spec = {.width = 16, .seed = 7};
    u9i_budget_open(&budget, UINT64_MAX / 2);
    ck_assert_int_eq(u9i_frames_open(&fs, catalog->segments[0], &log->source.windows, s.end, &spec, false, &budget, &sys), U9_OK);
    ck_assert(u9i_keys_open(&keys, &spec, 1 << 20));
    u9i_keys_add(&keys, part.data, part.size, at / U9I_ALIGN << U9I_VIRTUAL_SHIFT, false);
    ck_assert(u9i_keyspec_entry(&spec, key.data, key.size, &keys.top)); /* and there are records behind it, it says */
    u9i_keys_sort(&keys);
    ck_assert_int_eq(u9i_index_make(&x, &keys, &budget), U9_OK);
    ck_assert_int_eq(u9i_index_find(&x, &fs, &key, UINT64_MAX, &f, &found, &own), U9_CORRUPT);
    u9i_index_close(&x);
    u9i_keys_close(&keys);
    u9i_frames_close(&fs);
    u9i_budget_close(&budget);
    u9i_catalog_unref(catalog);
    close_log(log);
    forge_free(&s);
}
END_TEST

/* The record of the key of this letter, and no other one's; or that it is damaged or not there. */
static u9_err find_or_say(const u9i_frames *fs, const u9i_open_frame *f, char letter)
{
    u9i_found found;
    char text[16];
    memset(text, letter, sizeof text);
    u9_err err = u9i_open_frame_find(fs, f, &(u9_key){text, sizeof text}, UINT64_MAX, &found);
    ck_assert(err == U9_OK || err == U9_CORRUPT || err == U9_ABSENT);
    if (err != U9_OK) return err;
    ck_assert_mem_eq(found.record.key, text, sizeof text);
    u9i_found_free(&found);
    return U9_OK;
}

/* A frame was proven, and its body not kept; now other bytes stand in the file. It says so, or what it was. [K-2] */
START_TEST(a_file_that_is_another_by_now_is_told)
{
    static const sort was = {"", 40, 40, 20, 20, 16, U9_OK}, is[] = {
        {"shorter", 20, 20, 20, 20, 16, U9_OK}, {"one that is no record's", 40, 40, 21, 20, 3, U9_OK}};
    u9i_catalog *catalog;
    u9i_budget budget;
    u9i_frames fs;
    const u9i_open_frame *f;
    u9i_open_frame *own;
    u9i_found found;
    u9i_key_entry e;
    int sys;
    u9i_keyspec spec = {.width = 16, .seed = 7};
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE), t = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    uint64_t p = forge_sort(&s, &was), base = p / U9I_ALIGN << U9I_VIRTUAL_SHIFT;
    (void)forge_sort(&t, &is[_i / 2]);
    forge_end(&s, U9I_END_CLOSING);
    forge_pad(&t);
    u9_log *log = open_forged(&s, U9_VERIFY_FIRST, &catalog);
    u9i_budget_open(&budget, UINT64_MAX / 2);
    ck_assert_int_eq(u9i_frames_open(&fs, catalog->segments[0], &log->source.windows, s.end, &spec, _i % 2, &budget, &sys), U9_OK);
    ck_assert_int_eq(u9i_frames_at(&fs, p, &f, &own, &sys), U9_OK);
    ck_assert(f->kept && f->bytes == NULL);
    put_bytes(segment_path(at("log"), 1), 0, t.bytes, t.size);
    for (char letter = 'A'; letter < 'A' + 40; letter++) (void)find_or_say(&fs, f, letter);
    for (uint32_t there = 0; there < f->size; there += 7)
        if (u9i_open_frame_record(&fs, f, base + there, &found) == U9_OK) u9i_found_free(&found);
    cut_file(segment_path(at("log"), 1), p + U9I_BLOCK / 16);
    ck_assert_int_eq(u9i_open_frame_key(&fs, f, base + f->size - 30, &e), U9_CORRUPT);
    u9_err err = find_or_say(&fs, f, 'A');
    ck_assert(err != U9_OK || sim_is_away()); /* a pool has zeros for what was cut off, and the first record stands in front of them */
    u9i_frames_close(&fs);
    u9i_budget_close(&budget);
    u9i_catalog_unref(catalog);
    close_log(log);
    forge_free(&s);
    forge_free(&t);
}
END_TEST

/* What was lost, of a segment */

/* Two ranges, of which the file ends in the second one: the hash of the hash of the first one, and of the rest. [C-9] */
START_TEST(the_hash_of_what_was_lost_is_that_of_the_bytes_that_stand_there_or_is_not_had)
{
    enum { BEGIN = 4096, PART = 100 };
    static uint8_t bytes[U9I_HASH_SIZE + PART];
    uint8_t hash[U9I_HASH_SIZE], none[U9I_HASH_SIZE] = {0};
    u9i_catalog *catalog;
    u9i_losses l = {.count = 0};
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    (void)forge_records(&s, "r", 200);
    forge_end(&s, U9I_END_CLOSING);
    u9_log *log = open_forged(&s, U9_VERIFY_FIRST, &catalog);
    u9i_segment *segment = catalog->segments[0];
    ck_assert(u9i_losses_add(&l, BEGIN, BEGIN + PART) && u9i_losses_add(&l, s.size - PART, s.size + 9));
    memcpy(bytes + U9I_HASH_SIZE, s.bytes + BEGIN, PART);
    u9i_hash(bytes, sizeof bytes, bytes);
    memcpy(bytes + U9I_HASH_SIZE, s.bytes + s.size - PART, PART);
    u9i_hash(bytes, sizeof bytes, bytes);
    ck_assert_int_eq(u9i_losses_hash(&l, segment, hash), U9_OK);
    ck_assert_mem_eq(hash, bytes, U9I_HASH_SIZE);
    memset(hash, 0, sizeof hash);
    for (unsigned what = 0; what < 4; what++) {
        if (what < 2) sim_fail(SIM_READ, what + 1, EIO, false);
        scarce_begin(what == 2 ? SCARCE_MEMORY : what == 3 ? SCARCE_SIGHT : SCARCE_NOTHING, 1, EIO, false);
        ck_assert_int_eq(u9i_losses_hash(&l, segment, hash), what == 2 ? U9_NOMEM : U9_IO);
        (void)scarce_end(NULL);
        sim_mend();
    }
    ck_assert_mem_eq(hash, none, sizeof hash);
    u9i_losses_free(&l);
    u9i_catalog_unref(catalog);
    close_log(log);
    forge_free(&s);
}
END_TEST

static uint64_t forge_page(forged_segment *s, const u9i_page_record *r)
{
    uint8_t body[1000];
    u9i_out out = u9i_out_init(body, sizeof body);
    u9i_page_record_encode(&out, r);
    ck_assert(!out.failed);
    return forge_frame(s, body, out.size, 0);
}

START_TEST(what_is_no_root_of_an_index_notes_no_losses) /* [K-5] */
{
    static const uint8_t key[16] = {1}, there[8] = {0, 0, 0, 0, 1};
    u9i_page_record page = {.keyspec = "k", .key_size = 16, .count = 1, .keys = key, .at = there}, odd = page, root = page;
    uint8_t lost[32], content[U9I_HASH_SIZE];
    range(lost, 100, 200);
    range(lost + 16, 300, 400);
    odd.keyspec[0] = 'x';
    root.has_root = true;
    root.root.form = U9I_INDEX_RECORDS;
    root.root.entries = root.root.records = 1;
    root.root.end.offset = 4096;
    root.root.last = (u9i_span){.data = key, .size = sizeof key};
    root.root.lost = lost;
    root.root.lost_count = 4;
    memset(root.root.content, 7, sizeof root.root.content);
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    struct {
        uint64_t at;
        u9_clause refused;
    } roots[] = {{forge_page(&s, &root), U9_CLAUSE_NONE},        {forge_records(&s, "r", 3), U9_CLAUSE_PAGE_KIND},
                 {forge_page(&s, &odd), U9_CLAUSE_PAGE_FORM},    {forge_page(&s, &page), U9_CLAUSE_ROOT_NONE},
                 {U9I_DISK_HEADER_SIZE + U9I_ALIGN, U9_CLAUSE_PAGE_PLACE}};
    forge_end(&s, U9I_END_CLOSING);
    u9i_catalog *catalog;
    u9_log *log = open_forged(&s, U9_VERIFY_FIRST, &catalog);
    for (unsigned i = 0; i < sizeof roots / sizeof *roots; i++) {
        u9i_index_file f = {.file = catalog->segments[0], .root = roots[i].at / U9I_ALIGN << U9I_VIRTUAL_SHIFT, .bound = s.size};
        unsigned failed = 1;
        for (unsigned nth = 1; failed > 0; nth = next_call(nth)) { /* also without memory */
            u9i_losses l = {.count = 0};
            scarce_begin(SCARCE_MEMORY, nth, 0, false);
            u9_err err = u9i_index_file_losses(&f, &log->source.windows, &l, content);
            failed = scarce_end(NULL);
            if (failed > 0 && err == U9_NOMEM) continue;
            ck_assert_int_eq(err, roots[i].refused == U9_CLAUSE_NONE ? U9_OK : U9_CORRUPT);
            ck_assert_int_eq(f.refused, roots[i].refused);
            ck_assert_uint_eq(l.count, err == U9_OK ? 2 : 0);
            if (err == U9_OK) ck_assert(u9i_losses_have(&l, 300, 400) && content[5] == 7);
            u9i_losses_free(&l);
        }
    }
    u9i_catalog_unref(catalog);
    close_log(log);
    forge_free(&s);
}
END_TEST

Suite *suite_index_parts(void)
{
    Suite *s = suite_create("index_parts");
    TCase *t = tcase_create("index_parts");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, losses_are_ranges_in_order_of_which_none_touches_what_was_noted);
    tcase_add_test(t, losses_of_a_root_that_cannot_be_are_refused);
    tcase_add_test(t, runs_that_are_too_many_are_merged_and_a_failure_of_any_call_is_told);
    tcase_add_loop_test(t, an_index_that_cannot_be_written_says_so_whatever_failed, 0, 2);
    tcase_add_loop_test(t, a_page_that_is_read_says_what_one_in_memory_says, 0, 2);
    tcase_add_loop_test(t, a_frame_finds_its_records_however_it_is_opened, 0, SANITIZED ? 32 : 64);
    tcase_add_loop_test(t, frames_of_every_sort_say_what_a_walk_says_or_nothing, 0, SANITIZED ? 8 : 16);
    tcase_add_loop_test(t, a_record_within_a_value_is_none, 0, SANITIZED ? 4 : 8);
    tcase_add_test(t, a_key_is_found_behind_newer_ones_of_the_same_hash);
    tcase_add_test(t, an_entry_of_form_1_does_not_lead_to_a_record_in_parts);
    tcase_add_loop_test(t, a_file_that_is_another_by_now_is_told, 0, 4);
    tcase_add_test(t, the_hash_of_what_was_lost_is_that_of_the_bytes_that_stand_there_or_is_not_had);
    tcase_add_test(t, what_is_no_root_of_an_index_notes_no_losses);
    suite_add_tcase(s, t);
    return s;
}
