/*
 * tests/engine/read/test_ruined.c: logs of all shapes, whole and ruined, before they are read and under their readers: all
 * ways to read one agree, and nothing is shown that was in no file.
 */
#include "format/base/bytes.h"
#include "tests/engine/fixture.h"
#include "tests/engine/read/ruin.h"
#include "tests/engine/read/walks.h"
#include "tests/must.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <u9/cursor.h>
#include <u9/follow.h>
#include <u9/index.h>
#include <u9/lookup.h>

#include <stdlib.h>
#include <string.h>

enum { LOTS = 4, STEPS = 60 };

static uint64_t said; /* the seed that is tried */

/* One of this seed; of some a writer of ours makes it. */
static void make(uint64_t seed)
{
    said = seed;
    remove_log(at("log"));
    draw_from(seed);
    if (seed % 12 == 0) write_any(at("log"));
    else forge_any(at("log"));
}

/* False: it is no log any more. */
static bool opens(u9_log **log, u9_verify verify, events *e)
{
    u9_options o = {.size = sizeof o, .on_damage = note_damage_event, .on_damage_ctx = e, .io = io_of(at("log")), .verify = verify};
    u9_err err = u9_log_open(at("log"), &o, log, NULL);
    MUST_SAY(err == U9_OK || err == U9_CORRUPT || err == U9_ABSENT || err == U9_VERSION, "%s", u9_err_name(err));
    return err == U9_OK;
}

static u9_cursor *cursor_of(u9_log *log)
{
    u9_cursor *c;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    return c;
}

static u9_seek to(u9_seek_kind kind)
{
    return (u9_seek){.size = sizeof(u9_seek), .kind = kind};
}

/* The records of these, without what was told between them. */
static events records_of(const events *all)
{
    events e = {.all = calloc(all->count + 1, sizeof *e.all)};
    for (size_t i = 0; i < all->count; i++)
        if (!all->all[i].damage) e.all[e.count++] = all->all[i];
    return e;
}

static const event *find(const events *e, const event *sought)
{
    for (size_t i = 0; i < e->count; i++)
        if (same_event(&e->all[i], sought)) return &e->all[i];
    return NULL;
}

static void expect_same(const events *a, const events *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++)
        MUST_SAY(same_event(&a->all[i], &b->all[i]), "%zu: %s; %s", i, event_text(&a->all[i]), event_text(&b->all[i]));
    MUST_SAY(a->count == b->count, "%zu, %zu", a->count, b->count);
}

/* The next record, whatever is told in front of it. False: there is none. */
static bool next_record(u9_cursor *c, event *out)
{
    events e = {.all = NULL};
    u9_record r;
    u9_err err;
    do err = u9_cursor_next(c, &r);
    while (err == U9_VERSION);
    if (err == U9_END) return false;
    ck_assert(err == U9_OK || err == U9_LIMIT);
    note_record_event(&e, &r);
    *out = e.all[0];
    drop_events(&e);
    return true;
}

/* What follows is the record number i of all. */
static void expect_next(u9_cursor *c, const events *records, size_t i)
{
    event e;
    bool there = next_record(c, &e);
    MUST(there == (i < records->count));
    if (there) MUST_SAY(same_event(&e, &records->all[i]), "%s, not %s", event_text(&e), event_text(&records->all[i]));
}

static int is_at_or_behind(void *ctx, const u9_record *r)
{
    return r->ordinal >= *(const uint64_t *)ctx;
}

/* Back, by a follower, from saved places, and from where it was sent to. */
static void read_all_ways(u9_log *log, events *told)
{
    char text[U9_CURSOR_TEXT_SIZE];
    events on, back, records, followed;
    u9_cursor *c = cursor_of(log);
    walk_on(c, told);
    on = *told;
    *told = (events){.all = NULL};
    u9_seek end = to(U9_SEEK_END), start = to(U9_SEEK_START);
    ck_assert_int_eq(u9_cursor_seek(c, &end), U9_OK);
    walk_back(c, told);
    back = *told;
    *told = (events){.all = NULL};
    expect_mirror(&on, &back);
    records = records_of(&on);
    bool sorted = true;
    for (size_t i = 1; i < records.count; i++) sorted &= records.all[i - 1].ordinal < records.all[i].ordinal;
    for (unsigned n = 0; n < 6; n++) {
        size_t i = draw(records.count + 1);
        event unused;
        ck_assert_int_eq(u9_cursor_seek(c, &start), U9_OK);
        for (size_t k = 0; k < i; k++) ck_assert(next_record(c, &unused));
        ck_assert_int_eq(u9_cursor_save(c, text, sizeof text), U9_OK);
        u9_seek saved = {.size = sizeof saved, .kind = U9_SEEK_SAVED, .text = text};
        if (sorted) ck_assert_int_eq(u9_cursor_seek(c, &saved), U9_OK);
        expect_next(c, &records, i);
        if (i == records.count || !sorted) continue;
        uint64_t ordinal = records.all[i].ordinal;
        u9_seek number = {.size = sizeof number, .kind = U9_SEEK_ORDINAL, .number = ordinal};
        ck_assert_int_eq(u9_cursor_seek(c, &number), U9_OK);
        expect_next(c, &records, i);
        ck_assert_int_eq(u9_cursor_bisect(c, is_at_or_behind, &ordinal), U9_OK);
        expect_next(c, &records, i);
        u9_bounds bounds = {.size = sizeof bounds, .from = ordinal / 2, .to = ordinal, .until_us = U9_NOWHERE};
        ck_assert_int_eq(u9_cursor_within(c, &bounds), U9_OK);
        ck_assert_int_eq(u9_cursor_seek(c, &end), U9_OK);
        expect_next(c, &records, records.count);
        bounds = (u9_bounds){.size = sizeof bounds, .to = U9_NOWHERE, .until_us = U9_NOWHERE};
        ck_assert_int_eq(u9_cursor_within(c, &bounds), U9_OK);
    }
    u9_cursor_close(c);
    c = cursor_of(log);
    drop_events(told);
    ck_assert_int_eq(u9_cursor_follow(c, U9_SHOW_WRITTEN), U9_OK);
    walk_on(c, told);
    followed = records_of(told);
    expect_same(&records, &followed);
    u9_cursor_close(c);
    drop_events(&on);
    drop_events(&back);
    drop_events(&records);
    drop_events(&followed);
}

START_TEST(whatever_a_log_is_all_ways_to_read_it_agree)
{
    unsigned seeds = thorough(24, 2000), read = 0;
    if (getenv("U9_SEED")) seeds = 1, _i = atoi(getenv("U9_SEED"));
    for (uint64_t seed = (uint64_t)_i * seeds; seed < (uint64_t)(_i + 1) * seeds; seed++) {
        events told = {.all = NULL};
        u9_log *log;
        make(seed);
        for (uint64_t n = draw(4); n > 0; n--) ruin(at("log"));
        if (!opens(&log, U9_VERIFY_FIRST, &told)) continue;
        read++;
        read_all_ways(log, &told);
        close_log(log);
        drop_events(&told);
    }
    ck_assert_uint_gt(read, seeds / 2);
}
END_TEST

/* The next record, whatever is told in front of it. U9_END: there is none. */
static u9_err pass_all(u9_cursor *c, u9_record *r)
{
    u9_err err;
    do err = u9_cursor_next(c, r);
    while (err == U9_VERSION || err == U9_CORRUPT);
    return err;
}

static bool is_sorted(u9_cursor *c)
{
    u9_record r;
    uint64_t least = 0;
    bool sorted = true;
    while (pass_all(c, &r) != U9_END) {
        sorted &= r.ordinal >= least;
        least = r.ordinal + 1;
    }
    return sorted;
}

/* A cursor that goes back, and stops at each damage, can be saved wherever it is: what it showed last comes next there. */
START_TEST(a_cursor_that_goes_back_is_saved_where_it_is)
{
    unsigned seeds = thorough(24, 2000), stopped = 0;
    if (getenv("U9_SEED")) seeds = 1, _i = atoi(getenv("U9_SEED"));
    for (uint64_t seed = (uint64_t)_i * seeds; seed < (uint64_t)(_i + 1) * seeds; seed++) {
        char text[U9_CURSOR_TEXT_SIZE];
        u9_log *log;
        u9_record r, first = {.ordinal = U9_NOWHERE};
        u9_err err;
        make(seed);
        for (uint64_t n = draw(4); n > 0; n--) ruin(at("log"));
        u9_options o = {.size = sizeof o, .io = io_of(at("log"))};
        if (u9_log_open(at("log"), &o, &log, NULL) != U9_OK) continue;
        u9_cursor *c = cursor_of(log), *d = cursor_of(log);
        bool sorted = is_sorted(d);
        u9_seek end = to(U9_SEEK_END), saved = {.size = sizeof saved, .kind = U9_SEEK_SAVED, .text = text};
        ck_assert_int_eq(u9_cursor_seek(c, &end), U9_OK);
        do {
            err = u9_cursor_prev(c, &r);
            stopped += err == U9_CORRUPT;
            if (err == U9_OK || err == U9_LIMIT) first.ordinal = r.ordinal;
            u9_err kept = u9_cursor_save(c, text, sizeof text);
            MUST_SAY(kept == U9_OK, "seed %llu: %s", (unsigned long long)seed, u9_err_name(kept));
            if (!sorted || (err == U9_OK && draw(4) > 0)) continue;
            ck_assert_int_eq(u9_cursor_seek(d, &saved), U9_OK);
            kept = pass_all(d, &r);
            MUST_SAY(kept == U9_END ? first.ordinal == U9_NOWHERE : r.ordinal == first.ordinal, "seed %llu: %llu, not %llu",
                     (unsigned long long)seed, (unsigned long long)r.ordinal, (unsigned long long)first.ordinal);
        } while (err != U9_END);
        u9_cursor_close(c);
        u9_cursor_close(d);
        close_log(log);
    }
    ck_assert_uint_gt(stopped, seeds / 2);
}
END_TEST

/* What a reader shows of it as it is now. */
static void add_records(events *e)
{
    u9_log *log;
    if (!opens(&log, U9_VERIFY_ALWAYS, e)) return;
    u9_cursor *c = cursor_of(log);
    walk_on(c, e);
    u9_cursor_close(c);
    close_log(log);
}

/* A step of a cursor whose log is not what it was: any of its errors, in words, and only records that are known, if given. */
static void step_anyhow(u9_cursor *c, const events *known)
{
    char text[U9_CURSOR_TEXT_SIZE];
    u9_record r;
    u9_fault fault;
    events e = {.all = NULL};
    u9_err err;
    u9_seek any = {.size = sizeof any, .kind = (u9_seek_kind)(U9_SEEK_START + draw(4)), .number = draw(200)};
    bool shows = false;
    unsigned op = (unsigned)draw(20);
    switch (op) {
    case 0: err = u9_cursor_seek(c, &any); break;
    case 1: err = u9_cursor_save(c, text, sizeof text); break;
    case 2: err = u9_cursor_wait(c, 0); break;
    default: shows = true, err = draw(3) ? u9_cursor_prev(c, &r) : u9_cursor_next(c, &r);
    }
    u9_cursor_fault(c, &fault);
    MUST(err != U9_NOMEM && err != U9_STATE && err != U9_POISONED);
    if (err < 0) MUST_SAY(fault.err == err && fault.text[0] != 0, "seed %llu: %u: %s, %s", (unsigned long long)said, op, u9_err_name(err), fault.text);
    if (!shows || (err != U9_OK && err != U9_LIMIT)) return;
    note_record_event(&e, &r);
    if (known) MUST_SAY(find(known, &e.all[0]) != NULL, "seed %llu: nobody wrote %s", (unsigned long long)said, event_text(&e.all[0]));
    drop_events(&e);
}

/* Either way, while things happen to the files. */
static void go_anyhow(u9_log *log, bool proven, events *known)
{
    u9_cursor *c = cursor_of(log);
    u9_seek end = to(U9_SEEK_END);
    if (draw(2)) ck_assert_int_eq(u9_cursor_seek(c, &end), U9_OK);
    if (draw(3) == 0) ck_assert_int_eq(u9_cursor_follow(c, draw(2) ? U9_SHOW_WRITTEN : U9_SHOW_DURABLE), U9_OK);
    for (unsigned n = 0; n < STEPS; n++) {
        if (n % 10 == 9) ruin(at("log")), add_records(known);
        step_anyhow(c, proven ? known : NULL);
    }
    u9_cursor_close(c);
}

START_TEST(a_cursor_whose_log_is_ruined_shows_what_was_or_is_there)
{
    unsigned seeds = thorough(24, 2000), read = 0;
    if (getenv("U9_SEED")) seeds = 1, _i = atoi(getenv("U9_SEED"));
    for (uint64_t seed = (uint64_t)_i * seeds; seed < (uint64_t)(_i + 1) * seeds; seed++) {
        events known = {.all = NULL}, told = {.all = NULL};
        u9_log *log;
        make(seed);
        add_records(&known);
        for (uint64_t n = draw(3); n > 0; n--) ruin(at("log"));
        u9_verify verify = seed % 2 ? U9_VERIFY_ALWAYS : U9_VERIFY_FIRST;
        if (opens(&log, verify, &told)) {
            add_records(&known);
            go_anyhow(log, verify == U9_VERIFY_ALWAYS, &known);
            close_log(log);
            read++;
        }
        drop_events(&known);
        drop_events(&told);
    }
    ck_assert_uint_gt(read, seeds / 2);
}
END_TEST

enum { KEYS = 320, ROOM = 4096, AT_ONCE = 6 };

/* Keys as those of records that are forged; the last ones are in no log. */
static u9_key key_of(uint64_t n, uint8_t raw[16])
{
    memset(raw, 0x60, 8);
    u9i_set_be(raw + 8, 8, n);
    return (u9_key){.data = raw, .size = 16};
}

/* What a cursor shows of a key: the newest record, and how many there are. */
typedef struct keyed {
    event newest;
    unsigned count;
} keyed;

/* A key before something happened to the log, and now. An index may lead to what stood behind the damage, too. [K-4] */
typedef struct found {
    keyed was, is;
    bool lost;
} found;

static event event_of(const u9_record *r)
{
    events e = {.all = NULL};
    note_record_event(&e, r);
    event one = e.all[0];
    drop_events(&e);
    return one;
}

/* Of all keys. */
static void read_keys(u9_log *log, keyed all[KEYS])
{
    u9_record r;
    u9_err err;
    uint8_t raw[16];
    u9_cursor *c = cursor_of(log);
    memset(all, 0, KEYS * sizeof *all);
    while ((err = u9_cursor_next(c, &r)) != U9_END) {
        if (err != U9_OK || r.key.size != 16) continue;
        uint64_t n = u9i_get_be((const uint8_t *)r.key.data + 8, 8);
        if (n >= KEYS || memcmp(r.key.data, key_of(n, raw).data, 16) != 0) continue;
        all[n].newest = event_of(&r);
        all[n].count++;
    }
    u9_cursor_close(c);
}

/* Neither is what was there said to be absent, nor the other way round. */
static void expect_found(u9_err err, const u9_record *r, const found *f)
{
    bool may = err == U9_OK ? f->is.count + f->was.count > 0 : err == U9_CORRUPT || (err == U9_ABSENT && f->is.count == 0 && !f->lost);
    MUST_SAY(may, "seed %llu: %s", (unsigned long long)said, u9_err_name(err));
    if (err != U9_OK && (err != U9_CORRUPT || r->size == 0)) {
        MUST_SAY(f->is.count == 0, "seed %llu: %s of a key that is there", (unsigned long long)said, u9_err_name(err));
        return;
    }
    event e = event_of(r);
    MUST_SAY(same_event(&e, &f->is.newest) || same_event(&e, &f->was.newest), "seed %llu: %s, not %s", (unsigned long long)said,
             event_text(&e), event_text(&f->is.newest));
}

static int count_version(void *ctx, const u9_record *r)
{
    (void)r;
    ++*(unsigned *)ctx;
    return 0;
}

static void expect_versions(u9_log *log, const u9_key *key, const found *f)
{
    unsigned count = 0;
    u9_err err = u9_log_versions(log, key, count_version, &count, NULL);
    MUST_SAY(err == U9_CORRUPT || (err == (count ? U9_OK : U9_ABSENT) && (!f->lost || count >= f->was.count)), "seed %llu: %s",
             (unsigned long long)said, u9_err_name(err));
    MUST_SAY(count >= f->is.count && count <= f->is.count + f->was.count, "seed %llu: %u of %u", (unsigned long long)said, count,
             f->is.count);
}

static void look_up_all(u9_log *log, const found all[KEYS])
{
    static uint8_t rooms[AT_ONCE][ROOM];
    uint8_t raw[AT_ONCE][16];
    u9_lookup many[AT_ONCE];
    u9_record r;
    for (uint64_t n = 0; n < KEYS; n++) {
        u9_key key = key_of(n, raw[0]);
        expect_found(u9_log_get(log, &key, rooms[0], ROOM, &r, NULL), &r, &all[n]);
        if (n % 8 > 0) continue;
        expect_versions(log, &key, &all[n]);
        for (uint64_t i = 0; i < AT_ONCE; i++)
            many[i] = (u9_lookup){.key = key_of((n + 31 * i) % KEYS, raw[i]), .buf = rooms[i], .cap = ROOM};
        ck_assert_int_eq(u9_log_get_many(log, many, AT_ONCE, NULL), U9_OK);
        for (uint64_t i = 0; i < AT_ONCE; i++) expect_found(many[i].err, &many[i].record, &all[(n + 31 * i) % KEYS]);
    }
}

/* [K-1] */
START_TEST(whatever_a_log_is_its_keys_find_what_a_cursor_shows)
{
    unsigned seeds = thorough(12, 1000), read = 0;
    if (getenv("U9_SEED")) seeds = 1, _i = atoi(getenv("U9_SEED"));
    for (uint64_t seed = (uint64_t)_i * seeds; seed < (uint64_t)(_i + 1) * seeds; seed++) {
        u9_index_report report = {.size = sizeof report};
        u9_index_options indexing = {.size = sizeof indexing, .io = io_of(at("log"))};
        events told = {.all = NULL};
        keyed was[KEYS], is[KEYS];
        found all[KEYS];
        u9_log *log;
        bool lossy = false;
        make(seed);
        if (opens(&log, U9_VERIFY_FIRST, &told)) read_keys(log, was), close_log(log);
        for (uint64_t n = draw(3); n > 0; n--) ruin(at("log"));
        if (draw(2)) (void)!u9_indexes_build(at("log"), &indexing, &report, NULL);
        for (uint64_t n = draw(3); n > 0; n--) ruin(at("log"));
        drop_events(&told);
        if (!opens(&log, U9_VERIFY_FIRST, &told)) continue;
        read++;
        read_keys(log, is);
        for (size_t i = 0; i < told.count; i++) lossy |= told.all[i].verdict > U9_V_UNKNOWN && told.all[i].lost > 0;
        for (size_t n = 0; n < KEYS; n++) all[n] = (found){was[n], is[n], lossy && was[n].count > is[n].count};
        look_up_all(log, all);
        close_log(log);
        drop_events(&told);
    }
    ck_assert_uint_gt(read, seeds / 2);
}
END_TEST

/* A lookup's answer by a handle whose log is not what it was. */
static void expect_any(u9_err err, const u9_record *r, const events *known)
{
    bool may = err == U9_OK || err == U9_ABSENT || err == U9_CORRUPT || err == U9_LIMIT || err == U9_IO || err == U9_VERSION;
    MUST_SAY(may, "seed %llu: %s", (unsigned long long)said, u9_err_name(err));
    if (err != U9_OK || known == NULL) return;
    event e = event_of(r);
    MUST_SAY(find(known, &e) != NULL, "seed %llu: nobody wrote %s", (unsigned long long)said, event_text(&e));
}

static void look_up_anyhow(u9_log *log, const events *known)
{
    static uint8_t rooms[AT_ONCE][ROOM];
    uint8_t raw[AT_ONCE][16];
    u9_lookup many[AT_ONCE];
    u9_record r;
    u9_fault fault;
    unsigned count = 0;
    for (uint64_t i = 0; i < AT_ONCE; i++)
        many[i] = (u9_lookup){.key = key_of(draw(KEYS / 4), raw[i]), .buf = rooms[i], .cap = draw(9) ? ROOM : 30};
    for (uint64_t i = 0; i < AT_ONCE; i++)
        expect_any(u9_log_get(log, &many[i].key, rooms[i], many[i].cap, &r, &fault), &r, known);
    if (u9_log_get_many(log, many, AT_ONCE, &fault) == U9_OK)
        for (uint64_t i = 0; i < AT_ONCE; i++) expect_any(many[i].err, &many[i].record, known);
    u9_err err = u9_log_versions(log, &many[0].key, count_version, &count, &fault);
    MUST_SAY(err != U9_ABSENT || count == 0, "seed %llu: %u are absent", (unsigned long long)said, count);
}

/* By another handle: what comes of it is all the same. */
static void index_anyhow(void)
{
    static u9_err (*const each[])(const char *, const u9_index_options *, u9_index_report *, u9_fault *) = {
        u9_indexes_build, u9_indexes_build, u9_indexes_check, u9_indexes_drop};
    u9_index_report report = {.size = sizeof report};
    u9_index_options o = {.size = sizeof o, .io = io_of(at("log")), .memory = draw(2)};
    u9_fault fault = {.err = U9_OK};
    u9_err err = each[draw(4)](at("log"), &o, &report, &fault);
    MUST_SAY(err == U9_OK || (fault.err == err && fault.text[0] != 0), "seed %llu: %s, %s", (unsigned long long)said,
             u9_err_name(err), fault.text);
}

START_TEST(keys_of_a_log_that_is_ruined_find_what_was_or_is_there)
{
    unsigned seeds = thorough(12, 1000), read = 0;
    if (getenv("U9_SEED")) seeds = 1, _i = atoi(getenv("U9_SEED"));
    for (uint64_t seed = (uint64_t)_i * seeds; seed < (uint64_t)(_i + 1) * seeds; seed++) {
        events known = {.all = NULL}, told = {.all = NULL};
        u9_log *log;
        make(seed);
        add_records(&known);
        bool proven = draw(2);
        u9_options o = {.size = sizeof o, .on_damage = note_damage_event, .on_damage_ctx = &told, .io = io_of(at("log")),
                        .verify = proven ? U9_VERIFY_ALWAYS : U9_VERIFY_FIRST, .cache_memory = draw(2), .index_memory = draw(2) ? 1 << 20 : 0};
        if (draw(2)) index_anyhow();
        if (u9_log_open(at("log"), &o, &log, NULL) == U9_OK) {
            for (unsigned n = 0; n < STEPS; n++) {
                if (n % 10 == 9) ruin(at("log")), add_records(&known);
                if (n % 14 == 13) index_anyhow();
                look_up_anyhow(log, proven ? &known : NULL);
            }
            close_log(log);
            read++;
        }
        drop_events(&known);
        drop_events(&told);
    }
    ck_assert_uint_gt(read, seeds / 2);
}
END_TEST

Suite *suite_ruined(void)
{
    Suite *suite = suite_create("ruined");
    TCase *tc = tcase_create("ruined");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, whatever_a_log_is_all_ways_to_read_it_agree, 0, LOTS);
    tcase_add_loop_test(tc, a_cursor_that_goes_back_is_saved_where_it_is, 0, LOTS);
    tcase_add_loop_test(tc, a_cursor_whose_log_is_ruined_shows_what_was_or_is_there, 0, LOTS);
    TCase *keys = tcase_create("keys");
    tcase_add_checked_fixture(keys, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(keys, 60);
    tcase_add_loop_test(keys, whatever_a_log_is_its_keys_find_what_a_cursor_shows, 0, LOTS);
    tcase_add_loop_test(keys, keys_of_a_log_that_is_ruined_find_what_was_or_is_there, 0, LOTS);
    suite_add_tcase(suite, keys);
    suite_add_tcase(suite, tc);
    return suite;
}
