/*
 * tests/engine/read/test_lookup.c: records by their key: what a lookup says against a model that remembers all, over
 * sealed segments, the one that is written, sessions, damage; on the simulated disk. [C-9] [C-10] [K-1] [K-2] [K-3]
 */
#include "tests/engine/log/trimmed.h"
#include "tests/engine/read/model.h"
#include "tests/plain_file.h"
#include "tests/suites.h"

#include "engine/log/handle.h"
#include "engine/os/guard.h"
#include "engine/segment/probe.h"
#include "format/base/bytes.h"

#include <u9/cursor.h>
#include <u9/guard.h>
#include <u9/index.h>
#include <u9/large.h>
#include <u9/lookup.h>
#include <u9/trim.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void setup(void)
{
    sim_begin(11);
}

static void teardown(void)
{
    sim_end();
}

static void look_up_versions(u9_log *log, const model *m, size_t i)
{
    told t = {.count = 0};
    u9_fault fault = {.text = ""};
    u9_key key = {.data = m->keys[i].raw, .size = m->keys[i].size};
    u9_err err = u9_log_versions(log, &key, model_count_version, &t, &fault);
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
        keys[n] = (size_t)model_draw(m->count);
        l[n] = (u9_lookup){.key = {.data = m->keys[keys[n]].raw, .size = m->keys[keys[n]].size}, .buf = bufs[n], .cap = CAP};
    }
    ck_assert_int_eq(u9_log_get_many(log, l, MANY, NULL), U9_OK);
    for (size_t n = 0; n < MANY; n++) {
        ck_assert_int_eq(l[n].err, m->keys[keys[n]].there ? U9_OK : U9_ABSENT);
        if (l[n].err == U9_OK) ck_assert_uint_eq(l[n].record.ordinal, m->keys[keys[n]].ordinal);
    }
}

static void look_up_in_all_ways(u9_log *log, const model *m)
{
    look_up_many(log, m);
    model_look_up_all(log, m);
    for (unsigned n = 0; n < 20; n++) look_up_versions(log, m, (size_t)model_draw(m->count));
}

static void look_in_all_ways_anew(const model *m)
{
    u9_log *r = model_open(m, U9_READ);
    look_up_in_all_ways(r, m);
    close_log(r);
}

/* Sessions of appends, some keys again and again; lookups in between, of what was appended just now as well. */
static void tell(model *m, unsigned sessions, unsigned appends, bool fresh)
{
    model_draw_keys(m);
    for (unsigned s = 0; s < sessions; s++) {
        u9_log *w = model_open(m, U9_CREATE);
        for (unsigned n = 0; n < appends; n++) {
            size_t i = (size_t)model_draw(KEYS * 3 / 4); /* the rest stay absent */
            model_append(w, m, i, fresh && !m->keys[i].there && model_draw(4) > 0);
            if (model_draw(8) == 0) model_look_up(w, m, (size_t)model_draw(KEYS));
            if (model_draw(40) == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
            model_look_up(w, m, i);
        }
        look_up_in_all_ways(w, m);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        look_in_all_ways_anew(m);
        close_log(w);
        look_in_all_ways_anew(m);
    }
}

START_TEST(a_lookup_says_what_a_model_says)
{
    model *m = calloc(1, sizeof *m);
    model_drawn = (uint64_t)_i * 77 + 5;
    m->kind = model_kinds[_i % 4];
    m->lz4 = _i / 4 % 2;
    tell(m, 3, 900, _i % 4 == 0);
    free(m);
}
END_TEST

/* Segments that hold an index. */
static unsigned indexed(void)
{
    u9_log *r = NULL;
    u9_options o = {.size = sizeof o, .io = sim_io()};
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
    model_drawn = 9;
    model_draw_keys(m);
    u9_log *w = model_open(m, U9_CREATE);
    for (size_t i = 0; i < KEYS - 1; i++) model_append(w, m, i, true);
    close_log(w);
    ck_assert_uint_ge(indexed(), 1);
    u9_log *r = model_open(m, U9_READ);
    model_look_up(r, m, 3); /* the newest segment, which has no index, was read for that */
    sim_forget_diary();
    model_look_up(r, m, 3);
    ck_assert_uint_lt(sim_bytes(SIM_READ), 4096); /* a record, no frame */
    sim_forget_diary();
    model_look_up(r, m, 4);
    ck_assert(u9i_guard_ready() || sim_count(SIM_READ) > 0);
    ck_assert_uint_lt(sim_bytes(SIM_READ), 4096); /* of the same frame */
    close_log(r);
    free(m);
}
END_TEST

/* Damages one byte of the first segment that holds an index, behind its data. */
static void damage_index(uint64_t nth)
{
    u9_log *r;
    u9_options o = {.size = sizeof o, .io = sim_io()};
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
    m->kind = model_kinds[_i % 4];
    model_drawn = (uint64_t)_i + 3;
    tell(m, 1, 900, _i % 4 == 0);
    ck_assert_uint_ge(indexed(), 1);
    for (unsigned n = 0; n < 12; n++) {
        damage_index(model_draw(1 << 20));
        look_in_all_ways_anew(m);
    }
    free(m);
}
END_TEST

START_TEST(a_reader_sees_what_a_writer_beside_it_commits)
{
    sim_needed("a reader that is told at once");
    model *m = calloc(1, sizeof *m);
    m->kind = "uid8";
    model_drawn = 21;
    model_draw_keys(m);
    u9_log *w = model_open(m, U9_CREATE), *r = model_open(m, U9_READ);
    for (size_t i = 0; i < KEYS / 2; i++) {
        model_look_up(r, m, i);
        model_append(w, m, i, false);
        if (i % 7 == 0) {
            ck_assert_int_eq(u9_log_sync(w), U9_OK);
            model_look_up(r, m, i); /* about to say ABSENT it looks once more */
        }
    }
    close_log(w);
    sim_advance(1000000);
    look_up_in_all_ways(r, m);
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
    u9_log *w = model_open(m, U9_CREATE);
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
        for (unsigned i = 0; i < 16; i += 15) { /* the key but for one byte, in either half of it */
            uint8_t near[16];
            memcpy(near, large.key, sizeof near);
            near[i] ^= 0x10;
            ck_assert_int_eq(u9_log_get(w, &(u9_key){near, sizeof near}, buf, BYTES + 100, &r, NULL), U9_ABSENT);
        }
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
            w = model_open(m, U9_READ);
        }
    }
    close_log(w);
    free(buf);
    free(bytes);
    free(m);
}
END_TEST

/* [L-10] A segment that is gone at any one look at it, as after a trim, is looked for anew: that is no failure to read. */
START_TEST(a_segment_that_goes_while_it_is_looked_up_is_no_failure)
{
    model *m = calloc(1, sizeof *m);
    m->kind = "muid";
    model_drawn = 9;
    model_draw_keys(m);
    u9_log *w = model_open(m, U9_CREATE);
    for (size_t i = 0; i < KEYS - 1; i++) model_append(w, m, i, true);
    close_log(w);
    u9_index_report report = {.size = sizeof report};
    u9_index_options io = {.size = sizeof io, .io = sim_io()};
    ck_assert_int_eq(u9_indexes_build(LOG, &io, &report, NULL), U9_OK);
    unsigned fired = sim_fired(), n = 0;
    do {
        uint8_t buf[ROOM];
        u9_record r;
        u9_fault fault = {.text = ""};
        u9_log *log = model_open(m, U9_READ);
        fired = sim_fired();
        sim_fail(SIM_OPEN, ++n, ENOENT, false);
        u9_err err = u9_log_get(log, &(u9_key){m->keys[0].raw, m->keys[0].size}, buf, sizeof buf, &r, &fault);
        sim_mend();
        ck_assert_msg(err == U9_OK, "open %u: %d %s", n, err, fault.text);
        close_log(log);
    } while (sim_fired() > fired);
    ck_assert_uint_gt(n, 2);
    free(m);
}
END_TEST

/* The same bytes in another file. */
static void put_a_copy_in_place(unsigned nth)
{
    (void)nth;
    sim_remove(segment_path(LOG, 1));
    sim_copy("copy", segment_path(LOG, 1));
}

/* [K-3] However often a segment is another file by the next look at it: then a scan tells what there is. */
START_TEST(a_segment_that_is_another_at_each_look_is_scanned)
{
    uint8_t buf[100];
    u9_record r;
    told t = {.count = 0};
    u9_log *log;
    u9_key key = {"twice", 5};
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "rkey"};
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    for (unsigned i = 0; i < 2; i++) ck_assert_int_eq(u9_log_append(log, &key, "\x81", 1, NULL), U9_OK);
    close_log(log);
    sim_copy(segment_path(LOG, 1), "copy");
    o.mode = U9_READ;
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    sim_before_list(put_a_copy_in_place);
    if (_i == 0) ck_assert_int_eq(u9_log_get(log, &key, buf, sizeof buf, &r, NULL), U9_OK);
    else ck_assert_int_eq(u9_log_versions(log, &key, model_count_version, &t, NULL), U9_OK);
    sim_before_list(NULL);
    ck_assert_uint_eq(_i == 0 ? r.ordinal : t.last, 1);
    ck_assert_uint_eq(t.count, _i == 0 ? 0 : 2);
    close_log(log);
}
END_TEST

/* The same for a record that goes over many frames, for which there is room. [C-6] */
START_TEST(a_large_record_that_is_scanned_for_is_copied_whole)
{
    enum { SIZE = 17 << 20 };
    uint8_t *bytes = calloc(1, SIZE), *buf = malloc(SIZE + 100), head[9];
    u9_record r;
    u9_append *a;
    u9_log *log;
    u9_key key = {"large", 5};
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "rkey"};
    size_t n = u9_value_head(U9_BYTES, SIZE, head);
    ck_assert(bytes && buf);
    for (size_t i = 0; i < SIZE; i += 1000) bytes[i] = (uint8_t)(i / 1000);
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    ck_assert_int_eq(u9_append_begin(log, &key, 1, n + SIZE, &a, NULL), U9_OK);
    ck_assert_int_eq(u9_append_write(a, head, n), U9_OK);
    ck_assert_int_eq(u9_append_write(a, bytes, SIZE), U9_OK);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    close_log(log);
    sim_copy(segment_path(LOG, 1), "copy");
    o.mode = U9_READ;
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    sim_before_list(put_a_copy_in_place);
    ck_assert_int_eq(u9_log_get(log, &key, buf, SIZE + 100, &r, NULL), U9_OK);
    sim_before_list(NULL);
    ck_assert_uint_eq(r.values_size, n + SIZE);
    ck_assert_mem_eq(r.values, head, n);
    ck_assert(memcmp(r.values + n, bytes, SIZE) == 0);
    close_log(log);
    free(bytes);
    free(buf);
}
END_TEST

/*
 * [K-3] Frames that are compressed have memory of their own, which others get when they have their place, before they are
 * written: what is found is the newest record all the same, and itself.
 */
START_TEST(what_is_compressed_is_found_until_it_is_written_and_then)
{
    enum { NAMES = 6, MOST = 200000 };
    uint8_t *value = malloc(MOST + 16), *buf = malloc(MOST + 64);
    uint64_t newest[NAMES], sizes[NAMES] = {0};
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "rkey", .lz4 = 1, .memory = 4 << 20,
                    .policy = U9_POLICY_NONE};
    u9_log *w;
    model_drawn = (uint64_t)_i + 5;
    ck_assert_int_eq(u9_log_open(LOG, &o, &w, NULL), U9_OK);
    if (_i % 2) sim_set_order(SIM_LATE);
    for (unsigned n = 0; n < 300; n++) {
        u9_builder b;
        u9_place place;
        u9_record r;
        size_t name = (size_t)model_draw(NAMES), size = (size_t)(model_draw(3) ? model_draw(2000) : model_draw(MOST));
        for (size_t i = 0; i < size; i++) buf[i] = (uint8_t)(model_draw(256));
        u9_builder_init(&b, value, MOST + 16);
        ck_assert_int_eq(u9_build_bytes(&b, buf, size), U9_OK);
        char key[] = {(char)('a' + name), 0};
        ck_assert_int_eq(u9_log_append(w, &(u9_key){key, 1}, value, b.size, &place), U9_OK);
        newest[name] = place.ordinal;
        sizes[name] = b.size;
        for (size_t k = 0; k < NAMES; k++) {
            if (sizes[k] == 0) continue;
            key[0] = (char)('a' + k);
            ck_assert_int_eq(u9_log_get(w, &(u9_key){key, 1}, buf, MOST + 64, &r, NULL), U9_OK);
            ck_assert_uint_eq(r.ordinal, newest[k]);
            ck_assert_uint_eq(r.values_size, sizes[k]);
            if (k == name) ck_assert_mem_eq(r.values, value, b.size);
        }
    }
    sim_set_order(SIM_PROMPT);
    close_log(w);
    free(value);
    free(buf);
}
END_TEST

/* [K-3] What is too long for the buffer is read in pieces, though it was not yet written when it was found. */
START_TEST(what_does_not_fit_the_buffer_is_opened_before_anybody_wrote_it)
{
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "rkey", .lz4 = _i, .policy = U9_POLICY_NONE};
    u9_key key = {"a", 1};
    u9_log *w;
    u9_record r;
    u9_reading *reading;
    uint8_t got[64], values[] = {0x83, 0x31, 'x', 0x85};
    size_t n;
    ck_assert_int_eq(u9_log_open(LOG, &o, &w, NULL), U9_OK);
    for (unsigned i = 0; i < 20; i++) {
        values[0] = (uint8_t)(0x80 + i);
        ck_assert_int_eq(u9_log_append(w, &key, values, sizeof values, NULL), U9_OK);
        ck_assert_int_eq(u9_log_get(w, &key, NULL, 0, &r, NULL), U9_LIMIT);
        ck_assert_uint_eq(r.ordinal, i);
        ck_assert_int_eq(u9_record_open(w, &r, &reading, NULL), U9_OK);
        ck_assert_int_eq(u9_record_read(reading, r.size - r.values_size, got, sizeof got, &n, NULL), U9_OK);
        ck_assert_uint_eq(n, sizeof values);
        ck_assert_mem_eq(got, values, n);
        u9_record_close(reading);
    }
    close_log(w);
}
END_TEST

static void append_small(u9_log *w, unsigned i)
{
    char text[8];
    snprintf(text, sizeof text, "k%04u", i);
    ck_assert_int_eq(u9_log_append(w, &(u9_key){text, 5}, "\x81", 1, NULL), U9_OK);
}

static void append_large(u9_log *w, const char *name, const uint8_t *bytes, size_t size)
{
    u9_append *a;
    uint8_t head[9];
    size_t n = u9_value_head(U9_BYTES, size, head);
    ck_assert_int_eq(u9_append_begin(w, &(u9_key){name, strlen(name)}, 1, n + size, &a, NULL), U9_OK);
    ck_assert_int_eq(u9_append_write(a, head, n), U9_OK);
    ck_assert_int_eq(u9_append_write(a, bytes, size), U9_OK);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
}

static int is_behind_large(void *ctx, const u9_record *r)
{
    return r->ordinal > *(const uint64_t *)ctx;
}

static int count_one(void *ctx, const u9_record *r)
{
    (void)r;
    ++*(unsigned *)ctx;
    return 0;
}

/* [C-6] It is larger than a cursor hands out, and in each way found, passed, and shown as what it is. */
START_TEST(a_record_larger_than_is_handed_out_is_found_in_all_ways)
{
    enum { BYTES = 17 << 20, SMALL = 120 };
    uint8_t *bytes = malloc(BYTES), *buf = malloc(BYTES + 64);
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "rkey", .segment_size = 64 << 20};
    u9_key key = {"large", 5};
    u9_log *log;
    u9_cursor *c;
    u9_record r;
    u9_index_report report = {.size = sizeof report};
    u9_index_options io = {.size = sizeof io, .io = sim_io()};
    memset(bytes, 'b', BYTES);
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    for (unsigned i = 0; i < SMALL; i++) append_small(log, i * 7 % SMALL);
    append_large(log, "large", bytes, BYTES);
    append_small(log, SMALL);
    ck_assert_int_eq(u9_log_get(log, &key, NULL, 0, &r, NULL), U9_LIMIT); /* by who writes it */
    close_log(log);
    o.mode = U9_READ;
    for (unsigned beside = 0; beside < 2; beside++) {
        if (beside) ck_assert_int_eq(u9_indexes_build(LOG, &io, &report, NULL), U9_OK);
        if (beside) ck_assert_int_eq(u9_indexes_check(LOG, &io, &report, NULL), U9_OK);
        ck_assert_uint_eq(report.wrong, 0);
        ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
        for (unsigned n = 0; n < 3 * SMALL; n++) { /* so often that a table is made */
            char text[8];
            snprintf(text, sizeof text, "k%04u", n % SMALL);
            ck_assert_int_eq(u9_log_get(log, &(u9_key){text, 5}, buf, 64, &r, NULL), U9_OK);
            if (n % 50 == 0) ck_assert_int_eq(u9_log_get(log, &key, NULL, 0, &r, NULL), U9_LIMIT);
        }
        unsigned count = 0;
        u9_lookup many[2] = {{.key = key, .buf = buf, .cap = 64}, {.key = {"k0001", 5}, .buf = bytes, .cap = 64}};
        ck_assert_int_eq(u9_log_get(log, &key, buf, BYTES + 64, &r, NULL), U9_OK);
        ck_assert_uint_eq(r.ordinal, SMALL);
        ck_assert_int_eq(r.values[r.values_size - 1], 'b');
        ck_assert_int_eq(u9_log_get_many(log, many, 2, NULL), U9_OK);
        ck_assert_int_eq(many[0].err, U9_LIMIT);
        ck_assert_int_eq(many[1].err, U9_OK);
        many[1].key.size = 0; /* no key is empty: none is answered */
        ck_assert_int_eq(u9_log_get_many(log, many, 2, NULL), U9_ARG);
        ck_assert_int_eq(many[0].err, U9_ARG);
        ck_assert_int_eq(many[1].err, U9_ARG);
        ck_assert_int_eq(u9_log_versions(log, &key, count_one, &count, NULL), U9_OK);
        ck_assert_uint_eq(count, 1);
        close_log(log);
    }
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    uint64_t ordinal = SMALL;
    u9_bounds bounds = {.size = sizeof bounds, .from = SMALL + 1, .to = U9_NOWHERE, .until_us = U9_NOWHERE};
    u9_seek to = {.size = sizeof to, .kind = U9_SEEK_ORDINAL, .number = SMALL};
    ck_assert_int_eq(u9_log_seek(log, &to, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_LIMIT);
    ck_assert_uint_eq(r.key.size, 5);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
    ck_assert_uint_eq(r.ordinal, SMALL + 1);
    ck_assert_int_eq(u9_cursor_prev(c, &r), U9_OK);
    ck_assert_int_eq(u9_cursor_prev(c, &r), U9_LIMIT);
    ck_assert_uint_eq(r.ordinal, SMALL);
    ck_assert_int_eq(u9_cursor_bisect(c, is_behind_large, &ordinal), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
    ck_assert_uint_eq(r.ordinal, SMALL + 1);
    ck_assert_int_eq(u9_cursor_within(c, &bounds), U9_OK);
    ck_assert_int_eq(u9_cursor_prev(c, &r), U9_END);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
        ck_assert_uint_eq(r.ordinal, SMALL + 1);
        ck_assert_int_eq(u9_cursor_seek(c, &to), U9_OK); /* in front of the bounds */
    }
    bounds = (u9_bounds){.size = sizeof bounds, .to = U9_NOWHERE, .since_us = r.time_us + 1, .until_us = U9_NOWHERE};
    ck_assert_int_eq(u9_cursor_within(c, &bounds), U9_OK);
    ck_assert_int_eq(u9_cursor_seek(c, &to), U9_OK); /* it is passed by its time */
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_END);
    bounds = (u9_bounds){.size = sizeof bounds, .to = SMALL, .until_us = U9_NOWHERE};
    to.number = SMALL + 1;
    ck_assert_int_eq(u9_cursor_within(c, &bounds), U9_OK);
    ck_assert_int_eq(u9_cursor_seek(c, &to), U9_OK); /* behind the bounds */
    ck_assert_int_eq(u9_cursor_prev(c, &r), U9_OK);
    ck_assert_uint_eq(r.ordinal, SMALL - 1);
    u9_cursor_close(c);
    u9_trim trim = {.size = sizeof trim, .dry_run = 1, .before_key = {"m", 1}};
    u9_trimmed trimmed = {.size = sizeof trimmed};
    ck_assert_int_eq(u9_log_trim(log, &trim, &trimmed, NULL), U9_OK);
    ck_assert_uint_eq(trimmed.segments, 0); /* the newest stays */
    close_log(log);
    free(buf);
    free(bytes);
}
END_TEST

static int count_ascending(void *ctx, const u9_record *r)
{
    told *t = ctx;
    ck_assert_uint_eq(r->ordinal, t->count);
    t->count++;
    return 0;
}

START_TEST(a_frame_full_of_records_of_one_key_costs_no_more_than_others)
{
    enum { RECORDS = 400000 };
    model *m = calloc(1, sizeof *m);
    u9_entry *entries = calloc(RECORDS, sizeof *entries);
    static const uint8_t keys[2][8] = {{1}, {2}};
    u9_record r;
    uint8_t buf[ROOM];
    told t = {.count = 0};
    m->kind = "uid8";
    u9_log *w = model_open(m, U9_CREATE);
    for (unsigned i = 0; i < RECORDS; i++) entries[i] = (u9_entry){.key = {keys[0], 8}, .values = "\x81", .size = 1};
    ck_assert_int_eq(u9_log_append_batch(w, entries, RECORDS, NULL), U9_OK);
    entries[0].key.data = keys[1];
    ck_assert_int_eq(u9_log_append_batch(w, entries, 1, NULL), U9_OK);
    close_log(w);
    w = model_open(m, U9_READ);
    ck_assert_int_eq(u9_log_get(w, &(u9_key){keys[0], 8}, buf, sizeof buf, &r, NULL), U9_OK);
    ck_assert_uint_eq(r.ordinal, RECORDS - 1);
    ck_assert_int_eq(u9_log_versions(w, &(u9_key){keys[0], 8}, count_ascending, &t, NULL), U9_OK);
    ck_assert_uint_eq(t.count, RECORDS);
    close_log(w);
    free(entries);
    free(m);
}
END_TEST

/* How many reads of the diary were under way at the same time, at most. */
static unsigned reads_together(void)
{
    size_t count;
    unsigned most = 0;
    const sim_op *ops = sim_ops(&count);
    for (size_t i = 0; i < count; i++) {
        unsigned together = 0;
        for (size_t n = 0; n < count && ops[i].kind == SIM_READ; n++)
            together += ops[n].kind == SIM_READ && ops[n].began <= ops[i].began && ops[i].began < ops[n].ended;
        if (together > most) most = together;
    }
    return most;
}

START_TEST(get_many_reads_what_it_lacks_together)
{
    enum { MANY = 64, CAP = 800 };
    static uint8_t bufs[MANY][CAP];
    if (u9i_guard_ready()) return; /* what is mapped is not read */
    model *m = calloc(1, sizeof *m);
    u9_lookup l[MANY];
    m->kind = model_kinds[_i];
    model_drawn = 21;
    model_draw_keys(m);
    u9_log *w = model_open(m, U9_CREATE);
    for (unsigned n = 0; n < 4000; n++) model_append(w, m, (size_t)model_draw(KEYS - 1), false);
    close_log(w);
    sim_set_order(SIM_LATE); /* what is submitted stays under way until somebody waits for it */
    for (unsigned together = 0; together < 2; together++) {
        u9_log *r = model_open(m, U9_READ);
        model_look_up(r, m, KEYS - 1); /* not there: each segment's index is opened */
        sim_forget_diary();
        for (size_t n = 0; n < MANY; n++) {
            l[n] = (u9_lookup){.key = {.data = m->keys[n * 7].raw, .size = m->keys[n * 7].size}, .buf = bufs[n], .cap = CAP};
            if (!together) ck_assert_int_eq(u9_log_get(r, &l[n].key, bufs[n], CAP, &l[n].record, NULL), U9_OK);
        }
        if (together) ck_assert_int_eq(u9_log_get_many(r, l, MANY, NULL), U9_OK);
        for (size_t n = 0; n < MANY; n++) ck_assert_uint_eq(l[n].record.ordinal, m->keys[n * 7].ordinal);
        ck_assert_uint_ge(sim_count(SIM_READ), 4);
        if (together) ck_assert_uint_ge(reads_together(), 4);
        else ck_assert_uint_eq(reads_together(), 1);
        close_log(r);
    }
    free(m);
}
END_TEST

/* Once it was read for its keys. A writer that goes on in it changes nothing of what is mapped. */
START_TEST(records_of_a_closed_segment_are_looked_up_without_reads)
{
    model *m = model_new(_i);
    ck_assert_int_eq(u9_guard_install(), U9_OK);
    u9_log *w = model_open(m, U9_CREATE);
    for (size_t i = 0; i < KEYS / 4; i++) model_append(w, m, i, false);
    close_log(w);
    for (unsigned mode = 0; mode < 2; mode++) {
        u9_log *r = model_open(m, mode ? U9_CREATE : U9_READ);
        for (size_t i = 0; i < KEYS / 4; i++) model_look_up(r, m, i);
        sim_forget_diary();
        for (size_t i = 0; i < KEYS / 4; i++) model_look_up(r, m, i);
        ck_assert_uint_eq(sim_count(SIM_READ), 0);
        for (size_t i = 0; mode && i < KEYS / 2; i += 3) model_append(r, m, i, false);
        if (mode) model_look_up_all(r, m);
        if (mode) ck_assert_int_eq(u9_log_sync(r), U9_OK);
        if (mode) model_look_anew(m);
        close_log(r);
    }
    model_look_anew(m);
    free(m);
}
END_TEST

/* A log of many segments, which has the first half of the keys: the others are nowhere. */
static model *make_half(void)
{
    model *m = calloc(1, sizeof *m);
    m->kind = "uid8";
    model_drawn = 33;
    model_draw_keys(m);
    u9_log *w = model_open(m, U9_CREATE);
    for (unsigned n = 0; n < 8000; n++) model_append(w, m, (size_t)model_draw(KEYS / 2), false);
    close_log(w);
    ck_assert_uint_ge(indexed(), 20);
    return m;
}

START_TEST(a_key_that_is_nowhere_costs_about_no_read_however_many_segments_there_are)
{
    model *m = make_half();
    u9_log *r = model_open(m, U9_READ);
    for (unsigned n = 0; n < 2; n++) /* filters are read, and frames between whose keys they fall; lookups make a table */
        for (size_t i = KEYS / 2; i < KEYS; i++) model_look_up(r, m, i);
    sim_forget_diary();
    for (size_t i = KEYS / 2; i < KEYS; i++) model_look_up(r, m, i);
    ck_assert_uint_le(sim_count(SIM_READ), KEYS / 2 / 5); /* of all segments together */
    sim_forget_diary();
    for (size_t i = 0; i < 100; i++) model_look_up(r, m, i); /* and one that is there about one frame */
    ck_assert_uint_le(sim_count(SIM_READ), 100 * 3);
    close_log(r);
    free(m);
}
END_TEST

static int open_no_queue(u9i_env *env, void *buffers, size_t size, unsigned count, u9i_queue **out)
{
    (void)env, (void)buffers, (void)size, (void)count, (void)out;
    return -EMFILE;
}

/* Bytes of memory that the process has mapped. */
static uint64_t mapped_bytes(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    ck_assert(f != NULL && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    return (uint64_t)pages * 4096;
}

/* Reads that go together are for speed alone: where there is no queue for them all is found, and memory is not kept for each. */
START_TEST(many_keys_are_found_without_a_queue)
{
    static const u9i_queue_type none = {.open = open_no_queue};
    model *m = calloc(1, sizeof *m);
    m->kind = "rkey";
    model_drawn = 31;
    model_draw_keys(m);
    u9_log *w = model_open(m, U9_CREATE);
    for (size_t i = 0; i < KEYS - 1; i++) model_append(w, m, i, false);
    close_log(w);
    u9_log *r = model_open(m, U9_READ);
    model_look_up(r, m, 3);
    uint64_t before = mapped_bytes();
    sim_env()->queue = &none;
    look_up_many(r, m);
    ck_assert_uint_lt(mapped_bytes(), before + ((uint64_t)64 << 20));
    close_log(r);
    free(m);
}
END_TEST

/* [K-3] Whatever is kept, mapped or written: many at once are answered as each by itself, into room of any size. */
START_TEST(many_keys_are_answered_as_each_by_itself)
{
    enum { MANY = 130, CAP = 900 };
    static uint8_t bufs[MANY][CAP], own[CAP];
    static const size_t caps[] = {CAP, 0, 20, CAP, CAP};
    model *m = model_new(_i % 4 == 3 ? 3 : 0);
    m->lz4 = _i % 2;
    bool ordered = _i < 3;
    if (_i % 4 == 2) ck_assert_int_eq(u9_guard_install(), U9_OK);
    u9_log *w = model_open(m, U9_CREATE);
    for (size_t i = 0; i < KEYS - 20; i++) model_append(w, m, i, ordered);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    for (unsigned how = 0; how < 3; how++) {
        u9_options o = {.size = sizeof o, .mode = U9_READ, .io = sim_io(), .cache_memory = how == 2};
        u9_log *log = w;
        if (how == 1) close_log(w);
        if (how > 0) ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
        for (unsigned round = 0; round < 3; round++) {
            u9_lookup l[MANY];
            for (size_t n = 0; n < MANY; n++) {
                size_t i = (size_t)model_draw(KEYS);
                if (n % 10 == 9) i = KEYS - 1; /* again and again, and never there */
                l[n] = (u9_lookup){.key = {m->keys[i].raw, m->keys[i].size}, .buf = bufs[n], .cap = caps[n % 5]};
            }
            ck_assert_int_eq(u9_log_get_many(log, l, MANY, NULL), U9_OK);
            for (size_t n = 0; n < MANY; n++) {
                u9_record r = {.ordinal = 0};
                u9_err err = u9_log_get(log, &l[n].key, own, l[n].cap, &r, NULL);
                ck_assert_int_eq(l[n].err, err);
                if (err == U9_ABSENT) continue;
                ck_assert_uint_eq(l[n].record.ordinal, r.ordinal);
                if (err == U9_OK) ck_assert_mem_eq(l[n].record.bytes, r.bytes, r.size);
            }
        }
        if (how > 0) close_log(log);
    }
    free(m);
}
END_TEST

/* Keys that come in order, a segment's all below the next one's: what is between two, below all, or above, is absent, by what
 * is kept of the frames as by reading them. Where records were lost, it may have been one of these. */
START_TEST(a_key_between_those_that_are_there_is_absent)
{
    enum { EACH = 300, SEGMENTS = 3 };
    static uint8_t keys[SEGMENTS * EACH][16];
    bool lost = _i % 2;
    uint8_t buf[64];
    u9_record r;
    u9_log *log;
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "muid", .segment_size = 1 << 20};
    if (_i / 2) ck_assert_int_eq(u9_guard_install(), U9_OK); /* from mappings, too */
    for (unsigned i = 0; i < SEGMENTS * EACH; i++) {
        u9_place place;
        if (i % EACH == 0) ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
        ck_assert_int_eq(u9_log_append(log, NULL, "\x81", 1, &place), U9_OK);
        memcpy(keys[i], place.key, sizeof keys[i]);
        if (i % 50 == 0) ck_assert_int_eq(u9_log_sync(log), U9_OK);
        if (i % EACH < EACH - 1) continue;
        close_log(log);
    }
    if (lost) {
        uint8_t byte;
        char path[64];
        snprintf(path, sizeof path, "%s/%016x.u9", LOG, 1);
        sim_read(path, 8300, &byte, 1);
        byte ^= 4;
        sim_write(path, 8300, &byte, 1);
    }
    o.mode = U9_READ;
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    unsigned gone = 0;
    for (unsigned turn = 0; turn < 2; turn++)
        for (unsigned i = 0; i < SEGMENTS * EACH; i += 7) {
            u9_err err = u9_log_get(log, &(u9_key){keys[i], 16}, buf, sizeof buf, &r, NULL);
            ck_assert(err == U9_OK || (lost && err == U9_CORRUPT));
            if (err == U9_OK) ck_assert_uint_eq(r.ordinal, i);
            gone += err != U9_OK;
            for (unsigned how = 0; how < 2; how++) {
                uint8_t other[16];
                memcpy(other, keys[i], sizeof other);
                if (how) other[15] ^= 1;
                else other[0] ^= i % 2 ? 0x40 : 0x20;
                for (unsigned n = 0; n < SEGMENTS * EACH && memcmp(other, keys[n], 16) != 0; n++)
                    if (n + 1 == SEGMENTS * EACH)
                        ck_assert_int_eq(u9_log_get(log, &(u9_key){other, 16}, buf, sizeof buf, &r, NULL), lost ? U9_CORRUPT : U9_ABSENT);
            }
        }
    ck_assert_int_eq(gone > 0, lost);
    close_log(log);
}
END_TEST

static int stop_at_once(void *ctx, const u9_record *r)
{
    (void)r;
    ++*(unsigned *)ctx;
    return 1;
}

/* By a reader, a writer that has written nothing, and one that has; and where no index tells. */
START_TEST(who_has_seen_enough_versions_is_shown_no_more)
{
    u9_log *log;
    u9_key key = {"often", 5}, none = {"never", 5};
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "rkey", .segment_size = SEGMENT};
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    for (unsigned i = 0; i < 40; i++) {
        ck_assert_int_eq(u9_log_append(log, &key, "\x81", 1, NULL), U9_OK);
        ck_assert_int_eq(u9_log_sync(log), U9_OK);
    }
    if (_i == 3) sim_remove("log/0000000000000001.u9"); /* what it had only a scan tells */
    unsigned shown = 0;
    for (unsigned n = 0; n < 2; n++) {
        u9_err lacks = _i == 3 ? U9_CORRUPT : U9_ABSENT;
        if (n == 1 || _i == 3) {
            close_log(log);
            o.mode = _i == 0 || _i == 3 ? U9_READ : U9_WRITE;
            ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
        }
        if (n == 1 && _i == 2) ck_assert_int_eq(u9_log_append(log, &key, "\x81", 1, NULL), U9_OK);
        shown = 0;
        ck_assert_int_eq(u9_log_versions(log, &key, stop_at_once, &shown, NULL), U9_OK);
        ck_assert_uint_eq(shown, 1);
        ck_assert_int_eq(u9_log_versions(log, &none, stop_at_once, &shown, NULL), lacks);
        ck_assert_uint_eq(shown, 1);
    }
    ck_assert_int_eq(u9_log_versions(log, &key, count_one, &shown, NULL), _i == 3 ? U9_CORRUPT : U9_OK);
    if (_i < 3) ck_assert_uint_eq(shown, 1 + 40 + (_i == 2));
    close_log(log);
}
END_TEST

START_TEST(a_key_that_is_sought_where_the_mark_alone_is_left_may_have_been_there) /* [K-3] [L-4] */
{
    u9_log *log;
    u9_record r;
    uint8_t buf[64];
    unsigned shown = 0;
    u9_key key = {"once", 4};
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "rkey"};
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    ck_assert_int_eq(u9_log_append(log, &key, "\x81", 1, NULL), U9_OK);
    close_log(log);
    sim_remove("log/0000000000000001.u9");
    o.mode = U9_READ;
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    ck_assert_int_eq(u9_log_get(log, &key, buf, sizeof buf, &r, NULL), U9_CORRUPT);
    ck_assert_int_eq(u9_log_versions(log, &key, count_one, &shown, NULL), U9_CORRUPT);
    ck_assert_uint_eq(shown, 0);
    close_log(log);
}
END_TEST

/* Which only a scan tells; and that is told once, as long as the log is what it is. */
START_TEST(what_is_lost_with_a_missing_segment_is_not_scanned_for_by_each_lookup) /* [K-3] [L-2] */
{
    model *m = make_half();
    move_file(segment_path(LOG, 7), "seven");
    u9_log *r = model_open(m, U9_READ);
    uint64_t reads = 0;
    for (size_t i = KEYS / 2; i < KEYS; i++) {
        uint8_t buf[4096];
        u9_record record;
        u9_key key = {.data = m->keys[i].raw, .size = m->keys[i].size};
        if (i == KEYS / 2 + 20) reads = sim_bytes(SIM_READ);
        ck_assert_int_eq(u9_log_get(r, &key, buf, sizeof buf, &record, NULL), U9_CORRUPT);
        ck_assert_uint_eq(record.size, 0);
    }
    ck_assert_uint_le(sim_bytes(SIM_READ) - reads, (uint64_t)KEYS / 2 * 16 * 4096); /* a scan reads each segment */
    move_file("seven", segment_path(LOG, 7));
    sim_advance(2000000); /* the watch does not tell what a test does */
    for (size_t i = KEYS / 2; i < KEYS; i++) model_look_up(r, m, i); /* now it is known that there is none */
    close_log(r);
    free(m);
}
END_TEST

/* Nobody names the segment in front of one whose u9open is damaged: it may be missing, and what was in it lost. */
START_TEST(a_key_of_a_segment_that_nobody_names_any_more_may_be_lost) /* [K-3] [L-2] */
{
    u9_log *log;
    u9_record r;
    uint8_t buf[64];
    char key[8];
    unsigned shown = 0;
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "rkey", .segment_size = SEGMENT};
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    for (unsigned i = 0; i < 400; i++) {
        snprintf(key, sizeof key, "%u", i);
        ck_assert_int_eq(u9_log_append(log, &(u9_key){key, strlen(key)}, "\x81", 1, NULL), U9_OK);
        ck_assert_int_eq(u9_log_sync(log), U9_OK);
    }
    close_log(log);
    uint64_t lost = first_in(LOG, 2);
    sim_remove("log/0000000000000002.u9");
    fill_bytes("log/0000000000000003.u9", 90, 1, 0x55);
    o.mode = U9_READ;
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    snprintf(key, sizeof key, "%u", (unsigned)lost);
    ck_assert_int_eq(u9_log_get(log, &(u9_key){key, strlen(key)}, buf, sizeof buf, &r, NULL), U9_CORRUPT);
    ck_assert_int_eq(u9_log_versions(log, &(u9_key){key, strlen(key)}, count_one, &shown, NULL), U9_CORRUPT);
    ck_assert_int_eq(u9_log_get(log, &(u9_key){"399", 3}, buf, sizeof buf, &r, NULL), U9_OK);
    close_log(log);
}
END_TEST

/*
 * [K-3] [L-5] Only the u9open of segment 2 is damaged, of which no record is lost: none is told to be, of a key that is
 * there or not. But then segment 1 is what it was before, and closed: that there was more the next one tells.
 */
START_TEST(where_only_a_name_is_damaged_no_record_may_be_lost)
{
    u9_log *log;
    u9_record r;
    uint8_t buf[64];
    unsigned shown = 0;
    u9_key old = {"old", 3}, none = {"none", 4};
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "rkey", .segment_size = SEGMENT};
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    ck_assert_int_eq(u9_log_append(log, &old, "\x81", 1, NULL), U9_OK);
    close_log(log);
    sim_copy(segment_path(LOG, 1), "copy");
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    for (unsigned i = 0; i < 400; i++) {
        ck_assert_int_eq(u9_log_append(log, &(u9_key){"other", 5}, "\x81", 1, NULL), U9_OK);
        ck_assert_int_eq(u9_log_sync(log), U9_OK);
    }
    close_log(log);
    o.mode = U9_READ;
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    fill_bytes(segment_path(LOG, 2), 90, 1, 0x55);
    for (unsigned i = 0; i < 2; i++) {
        u9_err lost = i == 0 ? U9_OK : U9_CORRUPT;
        ck_assert_int_eq(u9_log_get(log, &none, buf, sizeof buf, &r, NULL), i == 0 ? U9_ABSENT : U9_CORRUPT);
        ck_assert_int_eq(u9_log_get(log, &old, buf, sizeof buf, &r, NULL), lost);
        ck_assert_uint_eq(r.ordinal, 0);
        ck_assert_int_eq(u9_log_get(log, &(u9_key){"other", 5}, buf, sizeof buf, &r, NULL), U9_OK);
        ck_assert_int_eq(u9_log_versions(log, &old, count_one, &shown, NULL), lost);
        ck_assert_uint_eq(shown, i + 1);
        if (i > 0) break;
        put_a_copy_in_place(0);
        sim_advance(1000000);
    }
    close_log(log);
}
END_TEST

/*
 * [K-3] [L-4] What segment 1 loses at its end, which nobody names any more, only that shows which reads segment 2 behind it: this
 * one is what it was when it was read before.
 */
START_TEST(what_is_lost_in_front_of_a_segment_that_names_nobody_is_seen_when_that_is_lost)
{
    u9_record r;
    uint8_t buf[64], raw[16] = {0};
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    sim_make_dir(LOG);
    (void)forge_records(&one, "r", 4);
    forge_save(&one, LOG);
    move_file(segment_path(LOG, 1), "early");
    (void)forge_records(&one, "r", 4);
    forge_save(&one, LOG);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_TORN);
    (void)forge_records(&two, "r", 4);
    forge_end(&two, U9I_END_CLOSING);
    forge_save(&two, LOG);
    fill_bytes(segment_path(LOG, 2), 90, 1, 0x55); /* its u9open */
    u9_log *log = open_reader(LOG);
    memset(raw, 0x60, 8);
    for (unsigned lost = 0; lost < 2; lost++) {
        for (unsigned i = 0; i < 13; i++) {
            u9i_set_be(raw + 8, 8, i);
            u9_err want = i == 12 || (lost && i / 4 == 1) ? U9_ABSENT : U9_OK;
            if (lost && want == U9_ABSENT) want = U9_CORRUPT;
            u9_err err = u9_log_get(log, &(u9_key){raw, sizeof raw}, buf, sizeof buf, &r, NULL);
            ck_assert_msg(err == want, "%u %u: %d", lost, i, err);
        }
        sim_remove(segment_path(LOG, 1));
        sim_copy("early", segment_path(LOG, 1));
        sim_advance(2000000);
    }
    close_log(log);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

static void forge_plain(const char *path)
{
    uint8_t body[100];
    plain_file p = plain_begin(3);
    (void)plain_frame(&p, body, record_bytes(body, 5, "foreign", 7));
    write_file(path, p.bytes, p.size);
    plain_free(&p);
}

/* What stands in no row a scan tells as lost, a whole segment of a fork or one that nobody can place: so does a lookup. */
START_TEST(a_key_of_a_segment_that_is_not_in_the_row_may_be_lost) /* [K-3] [L-4] [L-9] */
{
    u9_record r;
    uint8_t buf[64], raw[16];
    unsigned shown = 0;
    forged_segment lost = forge_begin(1, 1, NULL, U9I_TAIL_NONE), other = forge_begin(3, 9, NULL, U9I_TAIL_NONE);
    sim_make_dir(LOG);
    (void)forge_records(&lost, "lost", 7);
    (void)forge_records(&other, "other", 3);
    forge_end(&lost, U9I_END_CLOSING);
    forge_end(&other, U9I_END_CLOSING);
    forge_save(&lost, LOG);
    if (_i) forge_plain(segment_path(LOG, 1));
    forge_save(&other, LOG);
    u9_log *log = open_reader(LOG);
    memset(raw, 0x60, 8);
    for (unsigned i = 0; i < 7; i++) {
        u9i_set_be(raw + 8, 8, i);
        const u9_key key = {raw, sizeof raw};
        ck_assert_int_eq(u9_log_get(log, &key, buf, sizeof buf, &r, NULL), i < 3 ? U9_OK : U9_CORRUPT);
        ck_assert_int_eq(u9_log_versions(log, &key, count_one, &shown, NULL), U9_CORRUPT);
    }
    ck_assert_uint_eq(shown, 3);
    close_log(log);
    forge_free(&lost);
    forge_free(&other);
}
END_TEST

/* [K-2] More keys than the memory for them takes: each lookup goes through the segment, and says the same. */
START_TEST(a_segment_whose_keys_do_not_fit_the_memory_is_looked_up_all_the_same)
{
    enum { RECORDS = 70000 };
    static uint8_t keys[RECORDS][8];
    static u9_entry entries[RECORDS];
    u9_log *log;
    u9_record r;
    uint8_t buf[64];
    unsigned versions = 0;
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "uid8"};
    model_drawn = 3;
    for (unsigned i = 0; i < RECORDS; i++) {
        u9i_set_be(keys[i], 8, model_draw(UINT64_C(1) << 62) << 1);
        entries[i] = (u9_entry){.key = {keys[i], 8}, .values = "\x81", .size = 1};
    }
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    ck_assert_int_eq(u9_log_append_batch(log, entries, RECORDS, NULL), U9_OK);
    close_log(log);
    o = (u9_options){.size = sizeof o, .mode = U9_READ, .io = sim_io(), .index_memory = 1 << 20};
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    for (unsigned i = 0; i < RECORDS; i += RECORDS / 3) {
        ck_assert_int_eq(u9_log_get(log, &(u9_key){keys[i], 8}, buf, sizeof buf, &r, NULL), U9_OK);
        ck_assert_uint_eq(r.ordinal, i);
    }
    keys[0][7] |= 1; /* none has that */
    ck_assert_int_eq(u9_log_get(log, &(u9_key){keys[0], 8}, buf, sizeof buf, &r, NULL), U9_ABSENT);
    ck_assert_int_eq(u9_log_versions(log, &(u9_key){keys[1], 8}, count_one, &versions, NULL), U9_OK);
    ck_assert_uint_eq(versions, 1);
    close_log(log);
}
END_TEST

static int fail_the_next_read(void *ctx, const u9_record *r)
{
    (void)r;
    if (++((told *)ctx)->count == 1) sim_fail(SIM_READ, 1, ESTALE, true);
    return 0;
}

/* A version that cannot be read behind one that was shown: no scan can begin anew, and the fault says what happened. */
START_TEST(a_version_that_cannot_be_read_is_told_in_words)
{
    u9_log *log;
    u9_fault fault = {.text = ""};
    told t = {.count = 0};
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = "rkey"};
    u9_key key = {"twice", 5};
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(u9_log_append(log, &key, "\x81", 1, NULL), U9_OK);
        ck_assert_int_eq(u9_log_sync(log), U9_OK); /* a frame each */
    }
    close_log(log);
    o = (u9_options){.size = sizeof o, .mode = U9_READ, .io = sim_io(), .cache_memory = 1, .verify = U9_VERIFY_ALWAYS};
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    ck_assert_int_eq(u9_log_versions(log, &key, fail_the_next_read, &t, &fault), U9_IO);
    ck_assert_uint_eq(t.count, 1);
    ck_assert_int_eq(fault.err, U9_IO);
    ck_assert_int_eq(fault.sys, ESTALE);
    ck_assert_ptr_nonnull(strstr(fault.text, "cannot be read"));
    close_log(log);
}
END_TEST

enum { OLD_KEYS = 24, OLD_RECORDS = 480, OLD_VALUE = 400 };

/* The key number i: record numbers, or names. */
static void key_of_old(bool ascending, unsigned i, uint8_t out[8])
{
    char text[9];
    snprintf(text, sizeof text, "key%05u", i);
    memcpy(out, text, 8);
    if (ascending) u9i_set_be(out, 8, (uint64_t)i << 20);
}

/* A frame for each record: keys in order, each once, or some again and again. */
static void write_old(bool ascending, uint64_t segment_size)
{
    u9_log *log;
    uint8_t values[OLD_VALUE], key[8];
    memset(values, 0x81, sizeof values);
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .kind = ascending ? "uid8" : "rkey", .segment_size = segment_size};
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    for (unsigned i = 0; i < OLD_RECORDS; i++) {
        key_of_old(ascending, ascending ? i : i * 7 % OLD_KEYS, key);
        ck_assert_int_eq(u9_log_append(log, &(u9_key){key, 8}, values, sizeof values, NULL), U9_OK);
        ck_assert_int_eq(u9_log_sync(log), U9_OK);
    }
    close_log(log);
}

/* What a walk shows of a key: its newest record, and whether records were lost behind that. */
typedef struct left_of_key {
    uint64_t ordinal; /* U9_NOWHERE: there is none */
    bool lost;
} left_of_key;

static void walk_old(u9_log *log, bool ascending, left_of_key *left, unsigned count)
{
    u9_cursor *c;
    u9_record r;
    u9_err err;
    for (unsigned i = 0; i < count; i++) left[i] = (left_of_key){.ordinal = U9_NOWHERE};
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    while ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_CORRUPT) {
        unsigned n = err == U9_OK ? (unsigned)r.ordinal * (ascending ? 1 : 7) % count : 0;
        if (err == U9_OK) left[n] = (left_of_key){.ordinal = r.ordinal};
        for (unsigned i = 0; i < count && err == U9_CORRUPT; i++) left[i].lost |= u9_cursor_damage(c)->lost > 0;
    }
    ck_assert_int_eq(err, U9_END);
    for (unsigned i = 0; i < count; i++) left[i].lost &= !ascending || left[i].ordinal == U9_NOWHERE; /* an identifier is made once */
    u9_cursor_close(c);
}

/* `indexed`: that no lost record had this key may be known by an index that was made before. */
static void expect_left(const left_of_key *left, uint64_t newest, bool indexed, u9_err err, const u9_record *r)
{
    if (err == U9_OK) ck_assert_uint_eq(r->ordinal, newest); /* whatever was lost */
    if (err == U9_CORRUPT) ck_assert(left->lost);
    if (!indexed) ck_assert_int_eq(err, left->lost ? U9_CORRUPT : U9_OK);
    ck_assert(err == U9_OK || err == U9_CORRUPT);
    if (left->ordinal == U9_NOWHERE) {
        ck_assert_uint_eq(r->size, 0);
        return;
    }
    ck_assert_uint_eq(r->ordinal, left->ordinal);
    ck_assert_uint_gt(r->size, OLD_VALUE);
}

/* All keys, one by one and together, so often that a table is made; and where there is no room for the record. */
static void look_up_old(bool ascending, bool indexed, u9_log *log, const left_of_key *left, unsigned count)
{
    static uint8_t keys[OLD_RECORDS][8];
    static uint8_t rooms[OLD_RECORDS][2 * OLD_VALUE];
    static u9_lookup l[OLD_RECORDS];
    unsigned older = 0;
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < count; i++) {
            u9_record r = {.size = 1};
            u9_fault fault = {.text = ""};
            key_of_old(ascending, i, keys[i]);
            l[i] = (u9_lookup){.key = {keys[i], 8}, .buf = rooms[i], .cap = round == 3 ? 0 : sizeof rooms[i], .record.size = 1};
            u9_err err = u9_log_get(log, &l[i].key, rooms[i], sizeof rooms[i], &r, &fault);
            uint64_t newest = i;
            for (uint64_t n = i; !ascending && n < OLD_RECORDS; n++)
                if (n * 7 % OLD_KEYS == i) newest = n;
            expect_left(&left[i], newest, indexed, err, &r);
            if (err == U9_CORRUPT) ck_assert_ptr_nonnull(strstr(fault.text, "lost"));
            if (err == U9_CORRUPT && r.size > 0) ck_assert(r.bytes == rooms[i] && memcmp(r.key.data, keys[i], 8) == 0);
            u9_err tight = u9_log_get(log, &l[i].key, NULL, 0, &r, NULL);
            ck_assert_int_eq(tight, err == U9_OK ? U9_LIMIT : err);
            ck_assert_ptr_null(r.bytes);
            ck_assert_uint_eq(r.ordinal, left[i].ordinal == U9_NOWHERE ? 0 : left[i].ordinal);
            older += err == U9_CORRUPT && r.size > 0;
        }
        ck_assert_int_eq(u9_log_get_many(log, l, count, NULL), U9_OK);
        for (unsigned i = 0; i < count && round < 3; i++) {
            u9_record r;
            expect_left(&left[i], left[i].ordinal, indexed, l[i].err, &l[i].record);
            ck_assert_int_eq(l[i].err, u9_log_get(log, &l[i].key, rooms[i], sizeof rooms[i], &r, NULL));
        }
    }
    ck_assert(ascending || older > 0);
}

/* One of a key's records that was lost may be newer than the one that is left: whatever finds this, that is told with it. */
START_TEST(a_record_is_found_with_the_word_that_newer_ones_were_lost) /* [K-3] */
{
    static left_of_key left[OLD_RECORDS];
    enum { WALKED, BESIDE, SEALED, MISSING, ROW, ROW_MISSING, FRONT };
    const int how = _i;
    bool ascending = how == ROW || how == ROW_MISSING, one = how == WALKED || how == BESIDE;
    unsigned keys = ascending ? OLD_RECORDS : OLD_KEYS;
    u9_index_report report = {.size = sizeof report};
    u9_index_options indexing = {.size = sizeof indexing, .io = sim_io()};
    u9_log *log;
    u9_cursor *c;
    u9_record r;
    write_old(ascending, one ? 0 : SEGMENT);
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = sim_io()};
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    uint64_t victim = how == FRONT ? 1 : ascending ? OLD_RECORDS - 3 : OLD_RECORDS - 20;
    ck_assert_int_eq(u9_log_seek(log, &(u9_seek){.size = sizeof(u9_seek), .kind = U9_SEEK_ORDINAL, .number = victim}, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
    if (how == MISSING || how == ROW_MISSING) sim_remove(segment_path(LOG, r.segment - (how == ROW_MISSING)));
    else fill_bytes(segment_path(LOG, r.segment), r.frame + 200, 1, 0x55);
    u9_cursor_close(c);
    close_log(log);
    if (how == BESIDE) ck_assert_int_eq(u9_indexes_build(LOG, &indexing, &report, NULL), U9_OK);
    if (how == BESIDE) ck_assert_uint_eq(report.made, 1);
    ck_assert_int_eq(u9_log_open(LOG, &o, &log, NULL), U9_OK);
    walk_old(log, ascending, left, keys);
    unsigned lost = 0;
    for (unsigned i = 0; i < keys; i++) lost += left[i].lost;
    if (how == FRONT) ck_assert_uint_eq(lost, 0);
    else look_up_old(ascending, how == SEALED, log, left, keys);
    for (unsigned i = 0; i < keys && how == FRONT; i++) {
        uint8_t key[8], room[2 * OLD_VALUE];
        key_of_old(false, i, key);
        ck_assert_int_eq(u9_log_get(log, &(u9_key){key, 8}, room, sizeof room, &r, NULL), U9_OK);
    }
    close_log(log);
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
    tcase_add_test(t, a_segment_that_goes_while_it_is_looked_up_is_no_failure);
    tcase_add_loop_test(t, a_segment_that_is_another_at_each_look_is_scanned, 0, 2);
    tcase_add_test(t, a_large_record_that_is_scanned_for_is_copied_whole);
    tcase_add_loop_test(t, what_does_not_fit_the_buffer_is_opened_before_anybody_wrote_it, 0, 2);
    tcase_add_loop_test(t, what_is_compressed_is_found_until_it_is_written_and_then, 0, 4);
    tcase_add_test(t, a_record_larger_than_is_handed_out_is_found_in_all_ways);
    tcase_add_loop_test(t, get_many_reads_what_it_lacks_together, 0, 4);
    tcase_add_loop_test(t, records_of_a_closed_segment_are_looked_up_without_reads, 0, 4);
    tcase_add_test(t, a_key_that_is_nowhere_costs_about_no_read_however_many_segments_there_are);
    tcase_add_test(t, what_is_lost_with_a_missing_segment_is_not_scanned_for_by_each_lookup);
    tcase_add_test(t, a_frame_full_of_records_of_one_key_costs_no_more_than_others);
    tcase_add_test(t, many_keys_are_found_without_a_queue);
    tcase_add_loop_test(t, many_keys_are_answered_as_each_by_itself, 0, 8);
    tcase_add_test(t, a_version_that_cannot_be_read_is_told_in_words);
    tcase_add_loop_test(t, a_key_between_those_that_are_there_is_absent, 0, 4);
    tcase_add_loop_test(t, who_has_seen_enough_versions_is_shown_no_more, 0, 4);
    tcase_add_test(t, a_key_of_a_segment_that_nobody_names_any_more_may_be_lost);
    tcase_add_test(t, where_only_a_name_is_damaged_no_record_may_be_lost);
    tcase_add_test(t, what_is_lost_in_front_of_a_segment_that_names_nobody_is_seen_when_that_is_lost);
    tcase_add_loop_test(t, a_key_of_a_segment_that_is_not_in_the_row_may_be_lost, 0, 2);
    tcase_add_test(t, a_key_that_is_sought_where_the_mark_alone_is_left_may_have_been_there);
    tcase_add_loop_test(t, a_record_is_found_with_the_word_that_newer_ones_were_lost, 0, 7);
    tcase_add_test(t, a_segment_whose_keys_do_not_fit_the_memory_is_looked_up_all_the_same);
    suite_add_tcase(s, t);
    return s;
}
