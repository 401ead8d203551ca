/*
 * tests/engine/read/test_lookup.c: records by their key: what a lookup says against a model that remembers all, over
 * sealed segments, the one that is written, sessions, damage; on the simulated disk. [C-9] [C-10] [K-1] [K-2] [K-3]
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include "engine/log/handle.h"
#include "engine/segment/probe.h"

#include <u9/large.h>
#include <u9/lookup.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENT = 65536, KEYS = 600, ROOM = 4096 };

static const char *const LOG = "log";

static void setup(void)
{
    sim_begin(11);
}

static void teardown(void)
{
    sim_end();
}

static uint64_t drawn = 1;

static uint64_t draw(uint64_t n)
{
    drawn ^= drawn << 13;
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    return drawn % n;
}

/* What the log must hold: of each key the ordinal of its newest record and what that says. */
typedef struct model {
    const char *kind;
    struct {
        uint8_t raw[64];
        size_t size;
        bool there;
        uint64_t ordinal;
        uint32_t value;
        unsigned versions;
    } keys[KEYS];
    size_t count;
    uint64_t next; /* ordinal */
    uint32_t values;
    bool lz4;
} model;

static u9_log *open_it(const model *m, u9_mode mode)
{
    u9_log *log;
    u9_fault fault;
    u9_options o = {.size = sizeof o, .mode = mode, .io = "sim", .segment_size = SEGMENT, .kind = m->kind,
                    .policy = U9_POLICY_NONE, .lz4 = m->lz4};
    ck_assert_msg(u9_log_open(LOG, &o, &log, &fault) == U9_OK, "%s", fault.text);
    return log;
}

/* A key that may be given: of 16 bytes, 8 or text. */
static void draw_key(model *m, size_t i)
{
    bool text = strncmp(m->kind, "rkey", 4) == 0;
    m->keys[i].size = text ? 8 + draw(40) : strcmp(m->kind, "uid8") == 0 ? 8 : 16;
    for (size_t n = 0; n < m->keys[i].size; n++)
        m->keys[i].raw[n] = text ? (uint8_t)('a' + draw(26)) : (uint8_t)draw(256);
    if (!text && m->keys[i].size == 16) {
        u9_muid id = {.timestamp = 1 + draw(1000000), .medallion = 1 + draw(1000), .offset = (int32_t)(1 + draw(3))};
        ck_assert_int_eq(u9_muid_pack(&id, m->keys[i].raw), U9_OK);
    }
}

static void append_one(u9_log *w, model *m, size_t i, bool fresh)
{
    uint8_t value[5 + 400] = {0x02};
    u9_place place;
    u9_key key = {.data = fresh ? NULL : m->keys[i].raw, .size = m->keys[i].size};
    u9_entry e = {.key = key, .values = value, .size = 5};
    uint32_t v = ++m->values;
    for (unsigned n = 0; n < 4; n++) value[1 + n] = (uint8_t)(v >> (24 - 8 * n));
    if (draw(2)) { /* also larger ones */
        value[5] = 0x1d, value[6] = 1, value[7] = (uint8_t)draw(120);
        e.size = (size_t)(5 + 3 + 256 + value[7]);
    }
    ck_assert_int_eq(u9_log_append(w, &e.key, e.values, e.size, &place), U9_OK);
    if (fresh) {
        m->keys[i].size = place.key_size;
        memcpy(m->keys[i].raw, place.key, place.key_size);
    }
    m->keys[i].there = true;
    m->keys[i].versions++;
    m->keys[i].ordinal = place.ordinal;
    m->keys[i].value = v;
    m->next = place.ordinal + 1;
}

/* What a lookup must say of this key. */
static void look_up(u9_log *log, const model *m, size_t i)
{
    uint8_t buf[ROOM];
    u9_record r;
    u9_fault fault = {.text = ""};
    u9_key key = {.data = m->keys[i].raw, .size = m->keys[i].size};
    u9_err err = u9_log_get(log, &key, buf, sizeof buf, &r, &fault);
    if (!m->keys[i].there) {
        ck_assert_msg(err == U9_ABSENT, "key %zu: %d, %s", i, err, fault.text);
        return;
    }
    ck_assert_msg(err == U9_OK, "key %zu, record %llu of %llu: %d, %s", i, (unsigned long long)m->keys[i].ordinal,
                  (unsigned long long)m->next, err, fault.text);
    ck_assert_uint_eq(r.ordinal, m->keys[i].ordinal);
    ck_assert_uint_eq(r.key.size, key.size);
    ck_assert_mem_eq(r.key.data, key.data, key.size);
    u9_value v;
    ck_assert_int_eq(u9_value_decode(r.values, r.values_size, &v), U9_OK);
    ck_assert_uint_eq(v.u, m->keys[i].value);
}

/* Versions come with ascending ordinals, the newest one last. */
typedef struct told {
    unsigned count;
    uint64_t last;
} told;

static int count_version(void *ctx, const u9_record *r)
{
    told *t = ctx;
    ck_assert(t->count == 0 || r->ordinal > t->last);
    t->last = r->ordinal;
    t->count++;
    return 0;
}

static void look_up_versions(u9_log *log, const model *m, size_t i)
{
    told t = {.count = 0};
    u9_fault fault = {.text = ""};
    u9_key key = {.data = m->keys[i].raw, .size = m->keys[i].size};
    u9_err err = u9_log_versions(log, &key, count_version, &t, &fault);
    ck_assert_msg(err == (m->keys[i].there ? U9_OK : U9_ABSENT), "%d: %s", err, fault.text);
    ck_assert_uint_eq(t.count, m->keys[i].versions);
    if (m->keys[i].there) ck_assert_uint_eq(t.last, m->keys[i].ordinal);
}

static void look_up_many(u9_log *log, const model *m)
{
    enum { MANY = 150, CAP = 800 };
    static uint8_t bufs[MANY][CAP];
    u9_lookup l[MANY];
    size_t keys[MANY];
    for (size_t n = 0; n < MANY; n++) {
        keys[n] = (size_t)draw(m->count);
        l[n] = (u9_lookup){.key = {.data = m->keys[keys[n]].raw, .size = m->keys[keys[n]].size}, .buf = bufs[n], .cap = CAP};
    }
    ck_assert_int_eq(u9_log_get_many(log, l, MANY, NULL), U9_OK);
    for (size_t n = 0; n < MANY; n++) {
        ck_assert_int_eq(l[n].err, m->keys[keys[n]].there ? U9_OK : U9_ABSENT);
        if (l[n].err == U9_OK) ck_assert_uint_eq(l[n].record.ordinal, m->keys[keys[n]].ordinal);
    }
}

static void look_up_all(u9_log *log, const model *m)
{
    look_up_many(log, m);
    for (size_t i = 0; i < m->count; i++) look_up(log, m, i);
    for (unsigned n = 0; n < 20; n++) look_up_versions(log, m, (size_t)draw(m->count));
}

static void look_anew(const model *m)
{
    u9_log *r = open_it(m, U9_READ);
    look_up_all(r, m);
    close_log(r);
}

/* Sessions of appends, some keys again and again; lookups in between, of what was appended just now as well. */
static void tell(model *m, unsigned sessions, unsigned appends, bool fresh)
{
    m->count = KEYS;
    for (size_t i = 0; i < KEYS; i++) draw_key(m, i);
    for (unsigned s = 0; s < sessions; s++) {
        u9_log *w = open_it(m, U9_CREATE);
        for (unsigned n = 0; n < appends; n++) {
            size_t i = (size_t)draw(KEYS * 3 / 4); /* the rest stay absent */
            append_one(w, m, i, fresh && !m->keys[i].there && draw(4) > 0);
            if (draw(8) == 0) look_up(w, m, (size_t)draw(KEYS));
            if (draw(40) == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
            look_up(w, m, i);
        }
        look_up_all(w, m);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        look_anew(m);
        close_log(w);
        look_anew(m);
    }
}

static const char *const kinds[] = {"muid", "muid", "uid8", "rkey"};

START_TEST(a_lookup_says_what_a_model_says)
{
    model *m = calloc(1, sizeof *m);
    drawn = (uint64_t)_i * 77 + 5;
    m->kind = kinds[_i % 4];
    m->lz4 = _i / 4 % 2;
    tell(m, 3, 900, _i % 4 == 0);
    free(m);
}
END_TEST

/* Segments that hold an index. */
static unsigned indexed(void)
{
    u9_log *r = NULL;
    u9_options o = {.size = sizeof o, .io = "sim"};
    u9i_catalog *catalog;
    unsigned n = 0;
    ck_assert_int_eq(u9_log_open(LOG, &o, &r, NULL), U9_OK);
    ck_assert_int_eq(u9i_source_catalog(&r->source, &catalog, NULL), U9_OK);
    for (size_t i = 0; i < catalog->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(catalog, i);
        n += f->has_end && f->end.root != 0;
    }
    u9i_catalog_unref(catalog);
    close_log(r);
    return n;
}

START_TEST(sealed_segments_hold_an_index_and_are_not_read_for_a_lookup)
{
    model *m = calloc(1, sizeof *m);
    m->kind = "muid";
    m->count = KEYS;
    drawn = 9;
    for (size_t i = 0; i < KEYS; i++) draw_key(m, i);
    u9_log *w = open_it(m, U9_CREATE);
    for (size_t i = 0; i < KEYS - 1; i++) append_one(w, m, i, true);
    close_log(w);
    ck_assert_uint_ge(indexed(), 1);
    u9_log *r = open_it(m, U9_READ);
    look_up(r, m, 3); /* the newest segment, which has no index, was read for that */
    sim_forget_diary();
    look_up(r, m, 3);
    ck_assert_uint_eq(sim_count(SIM_READ), 0);
    look_up(r, m, 4);
    ck_assert_uint_eq(sim_count(SIM_READ), 0); /* the same frame */
    close_log(r);
    free(m);
}
END_TEST

/* Damages one byte of the first segment that holds an index, behind its data. */
static void damage_index(uint64_t nth)
{
    u9_log *r;
    u9_options o = {.size = sizeof o, .io = "sim"};
    u9i_catalog *catalog;
    ck_assert_int_eq(u9_log_open(LOG, &o, &r, NULL), U9_OK);
    ck_assert_int_eq(u9i_source_catalog(&r->source, &catalog, NULL), U9_OK);
    for (size_t i = 0; i < catalog->count; i++) {
        const u9i_facts *f = u9i_catalog_facts(catalog, i);
        if (!f->has_end || f->end.root == 0) continue;
        uint64_t at = (f->end.data_end + 4095) / 4096 * 4096, size = f->end_frame.offset - at;
        uint8_t byte;
        char path[300];
        snprintf(path, sizeof path, "%s/%s", LOG, f->name);
        ck_assert_uint_eq(sim_read(path, at + nth % size, &byte, 1), 1);
        byte ^= 0x10;
        sim_write(path, at + nth % size, &byte, 1);
        break;
    }
    u9i_catalog_unref(catalog);
    close_log(r);
}

/* {F20} */
START_TEST(a_damaged_index_changes_no_answer)
{
    model *m = calloc(1, sizeof *m);
    m->kind = kinds[_i % 4];
    drawn = (uint64_t)_i + 3;
    tell(m, 1, 900, _i % 4 == 0);
    ck_assert_uint_ge(indexed(), 1);
    for (unsigned n = 0; n < 12; n++) {
        damage_index(draw(1 << 20));
        look_anew(m);
    }
    free(m);
}
END_TEST

START_TEST(a_reader_sees_what_a_writer_beside_it_commits)
{
    model *m = calloc(1, sizeof *m);
    m->kind = "uid8";
    m->count = KEYS;
    drawn = 21;
    for (size_t i = 0; i < KEYS; i++) draw_key(m, i);
    u9_log *w = open_it(m, U9_CREATE), *r = open_it(m, U9_READ);
    for (size_t i = 0; i < KEYS / 2; i++) {
        look_up(r, m, i);
        append_one(w, m, i, false);
        if (i % 7 == 0) {
            ck_assert_int_eq(u9_log_sync(w), U9_OK);
            look_up(r, m, i); /* about to say ABSENT it looks once more */
        }
    }
    close_log(w);
    sim_advance(1000000);
    look_up_all(r, m);
    close_log(r);
    free(m);
}
END_TEST

START_TEST(a_record_in_parts_is_found_by_its_key_at_once_and_later)
{
    enum { BYTES = 3 << 20 };
    model *m = calloc(1, sizeof *m);
    m->kind = "muid";
    m->lz4 = _i;
    u9_log *w = open_it(m, U9_CREATE);
    u9_append *a;
    u9_place before, large;
    uint8_t *bytes = calloc(1, BYTES), head[5] = {0x1e, BYTES >> 24, BYTES >> 16 & 0xff, BYTES >> 8 & 0xff, BYTES & 0xff};
    memset(bytes, 'b', BYTES);
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, 5 + BYTES, &a, &large), U9_OK);
    ck_assert_int_eq(u9_append_write(a, head, 5), U9_OK);
    ck_assert_int_eq(u9_log_append(w, NULL, "\x81", 1, &before), U9_OK);
    ck_assert_int_eq(u9_append_write(a, bytes, BYTES), U9_OK);
    ck_assert_int_eq(u9_append_end(a, &large), U9_OK);
    uint8_t *buf = malloc(BYTES + 100);
    u9_record r;
    for (unsigned n = 0; n < 3; n++) {
        u9_key key = {.data = large.key, .size = 16}, other = {.data = before.key, .size = 16};
        ck_assert_int_eq(u9_log_get(w, &key, buf, BYTES + 100, &r, NULL), U9_OK);
        ck_assert_uint_eq(r.ordinal, large.ordinal);
        ck_assert_uint_eq(r.values_size, BYTES + 5);
        ck_assert_mem_eq(r.values + 5, bytes, BYTES);
        ck_assert_int_eq(u9_log_get(w, &key, buf, 10, &r, NULL), U9_LIMIT);
        ck_assert_int_eq(u9_log_get(w, &other, buf, BYTES, &r, NULL), U9_OK);
        ck_assert_uint_eq(r.ordinal, before.ordinal);
        if (n == 0) {
            for (unsigned i = 0; i < 8; i++) ck_assert_int_eq(u9_log_append(w, NULL, "\x81", 1, NULL), U9_OK);
            ck_assert_int_eq(u9_log_sync(w), U9_OK); /* the segment is rolled */
        } else if (n == 1) {
            close_log(w);
            w = open_it(m, U9_READ);
        }
    }
    close_log(w);
    free(buf);
    free(bytes);
    free(m);
}
END_TEST

Suite *suite_lookup(void)
{
    Suite *s = suite_create("lookup");
    TCase *t = tcase_create("lookup");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, a_lookup_says_what_a_model_says, 0, 8);
    tcase_add_test(t, sealed_segments_hold_an_index_and_are_not_read_for_a_lookup);
    tcase_add_loop_test(t, a_damaged_index_changes_no_answer, 0, 4);
    tcase_add_test(t, a_reader_sees_what_a_writer_beside_it_commits);
    tcase_add_loop_test(t, a_record_in_parts_is_found_by_its_key_at_once_and_later, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
