/*
 * tests/engine/read/test_tabling.c: one table for all segments whose keys come in no order: what is put in is found, and
 * lookups by it say what a model says, however segments come, go and are damaged. [K-2] [K-3]
 */
#include "tests/engine/read/model.h"
#include "tests/suites.h"

#include "engine/read/tabling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 5000, SEGMENTS = 9 };

static void setup(void)
{
    sim_begin(13);
}

static void teardown(void)
{
    sim_end();
}

/* Entry n: every third key stands in a segment twice or more, some in several. */
static u9i_key_entry entry_of(uint64_t n)
{
    uint64_t key = n % 3 ? n : n % 200;
    return (u9i_key_entry){.hi = key * UINT64_C(0x9e3779b97f4a7c15), .lo = key,
                           .at = (n / 50 + 2) * 5000 << U9I_VIRTUAL_SHIFT | n % 50 * 1300};
}

static size_t segment_of(uint64_t n)
{
    return (size_t)(n * SEGMENTS / ENTRIES);
}

START_TEST(all_entries_of_a_table_are_found_the_newest_first)
{
    u9i_table t;
    u9i_table_plan plan = {.entries = ENTRIES, .segment_max = 1 << 28, .segments = SEGMENTS, .place_bits = U9I_TABLE_PLACE_BITS,
                           .seed = 99};
    ck_assert(u9i_table_open(&t, &plan));
    ck_assert_uint_le(u9i_table_bytes(&plan), ENTRIES * 10 + 64);
    for (uint64_t n = 0; n < ENTRIES; n++) {
        u9i_key_entry e = entry_of(n);
        ck_assert(u9i_table_put(&t, &e, segment_of(n)));
    }
    for (uint64_t n = 0; n < ENTRIES; n++) {
        u9i_key_entry e = entry_of(n);
        uint64_t hash = u9i_table_hash(&t, &e), rank = UINT64_MAX, before;
        bool found = false;
        do {
            before = rank;
            rank = u9i_table_find(&t, hash, rank);
            ck_assert_uint_lt(rank, before);
            found |= rank != 0 && u9i_table_at(&t, rank) == e.at && u9i_table_segment(&t, rank) == segment_of(n);
        } while (rank != 0 && !found);
        ck_assert(found);
    }
    u9i_table_close(&t);
}
END_TEST

START_TEST(a_table_has_few_guesses_for_keys_that_it_has_not)
{
    u9i_table t;
    unsigned guesses = 0;
    u9i_table_plan plan = {.entries = ENTRIES, .segment_max = 1 << 28, .segments = SEGMENTS, .place_bits = U9I_TABLE_PLACE_BITS};
    ck_assert(u9i_table_open(&t, &plan));
    for (uint64_t n = 0; n < ENTRIES; n++) {
        u9i_key_entry e = {.hi = n, .lo = n << 40, .at = (n + 2) << U9I_VIRTUAL_SHIFT};
        ck_assert(u9i_table_put(&t, &e, 0));
    }
    for (uint64_t n = 0; n < ENTRIES; n++) {
        u9i_key_entry e = {.hi = n + ENTRIES, .lo = n << 40};
        guesses += u9i_table_find(&t, u9i_table_hash(&t, &e), UINT64_MAX) != 0;
    }
    ck_assert_uint_le(guesses, ENTRIES / 500);
    u9i_table_close(&t);
}
END_TEST

START_TEST(what_does_not_fit_a_table_is_refused)
{
    u9i_table t;
    u9i_table_plan plan = {.entries = 100, .segment_max = 1 << 20, .segments = 2, .place_bits = U9I_TABLE_PLACE_BITS};
    ck_assert(u9i_table_open(&t, &plan));
    u9i_key_entry e = {.hi = 1, .at = UINT64_C(2) << U9I_VIRTUAL_SHIFT | 1 << U9I_TABLE_PLACE_BITS};
    ck_assert(!u9i_table_put(&t, &e, 0)); /* a place in a large frame: with more bits it fits */
    ck_assert(t.wide);
    e.at = UINT64_C(1) << 40 << U9I_VIRTUAL_SHIFT;
    ck_assert(!u9i_table_put(&t, &e, 0)); /* behind the end of any file */
    e.at = 5;
    ck_assert(!u9i_table_put(&t, &e, 0)); /* no frame begins at 0 */
    e.at = UINT64_C(2) << U9I_VIRTUAL_SHIFT;
    ck_assert(!u9i_table_put(&t, &e, 1000));
    ck_assert(u9i_table_put(&t, &e, 1));
    ck_assert(u9i_table_put(&t, &e, 1));
    ck_assert_uint_eq(t.count, 1); /* the same once more */
    bool room = true;
    unsigned put = 0;
    for (; room && put < 1000; put++) {
        e.at += UINT64_C(1) << U9I_VIRTUAL_SHIFT;
        room = u9i_table_put(&t, &e, 1);
    }
    ck_assert(!room && put > 100); /* it is full */
    u9i_table_close(&t);
    plan = (u9i_table_plan){.entries = 100, .segment_max = UINT64_C(1) << 42, .segments = 1 << 20,
                            .place_bits = U9I_TABLE_PLACE_BITS_MAX};
    ck_assert_uint_eq(u9i_table_bytes(&plan), 0); /* no bits are left for a tag */
}
END_TEST

/* What the handle's lookups go by; asserts that there is a table. `*rest`: segments that are not in it. */
static size_t tabled_segments(u9_log *log, size_t *rest)
{
    u9i_view *v;
    ck_assert_int_eq(u9i_view_take(log, false, &v, NULL), U9_OK);
    const u9i_tabled_view *t = atomic_load(&v->tabled);
    ck_assert_msg(t != NULL, "no table was made");
    size_t count = v->count - t->rest_count;
    *rest = t->rest_count;
    u9i_view_release(v);
    return count;
}

/* Lookups until a table is made, and all of them by it. */
static void look_up_by_table(u9_log *log, const model *m)
{
    for (unsigned n = 0; n < 4; n++) model_look_up_all(log, m);
}

static void append_some(u9_log *w, model *m, unsigned count)
{
    for (unsigned n = 0; n < count; n++) model_append(w, m, (size_t)model_draw(KEYS * 3 / 4), false); /* the rest stay absent */
}

/* Keys in no order, of several kinds; most of them in several segments. */
START_TEST(a_table_of_all_segments_says_what_a_model_says)
{
    size_t rest;
    model *m = model_new(_i);
    m->lz4 = _i / 4 % 2;
    u9_log *w = model_open(m, U9_CREATE);
    append_some(w, m, 4000);
    close_log(w);
    u9_log *r = model_open(m, U9_READ);
    look_up_by_table(r, m);
    ck_assert_uint_ge(tabled_segments(r, &rest), 2);
    ck_assert_uint_le(rest, 3);
    look_up_by_table(r, m);
    close_log(r);
    free(m);
}
END_TEST

/* Segments come, while a table is used, and are in the next one. */
START_TEST(a_table_is_made_anew_when_the_log_grew)
{
    size_t rest, before;
    model *m = model_new(_i);
    u9_log *w = model_open(m, U9_CREATE);
    append_some(w, m, 2500);
    look_up_by_table(w, m);
    before = tabled_segments(w, &rest);
    for (unsigned n = 0; n < 12; n++) {
        append_some(w, m, 400);
        model_look_up_all(w, m);
    }
    look_up_by_table(w, m);
    ck_assert_uint_gt(tabled_segments(w, &rest), before);
    ck_assert_uint_le(rest, 4);
    close_log(w);
    model_look_anew(m);
    free(m);
}
END_TEST

START_TEST(a_table_takes_no_more_memory_than_it_may)
{
    model *m = model_new(1);
    u9i_view *v;
    u9_log *r;
    u9_log *w = model_open(m, U9_CREATE);
    append_some(w, m, 3000);
    close_log(w);
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = sim_io(), .cache_memory = 8192};
    ck_assert_int_eq(u9_log_open(LOG, &o, &r, NULL), U9_OK);
    look_up_by_table(r, m);
    ck_assert_int_eq(u9i_view_take(r, false, &v, NULL), U9_OK);
    ck_assert(atomic_load(&v->tabled) == NULL);
    u9i_view_release(v);
    close_log(r);
    free(m);
}
END_TEST

/* One frame with so large a record that those behind it begin where a table usually leads to no more. */
START_TEST(records_behind_a_large_one_in_their_frame_are_in_a_table_too)
{
    enum { RECORDS = 60, LARGE_SIZE = (1 << U9I_TABLE_PLACE_BITS) + 1000 };
    static uint8_t body[RECORDS * 100 + LARGE_SIZE], large[LARGE_SIZE];
    char key[RECORDS][17];
    size_t rest, size = 0;
    u9i_view *v;
    u9_log *r;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = sim_io()};
    forged_segment s = forge_begin(1, 5, NULL, U9I_TAIL_NONE);
    for (unsigned n = 0; n < RECORDS; n++) {
        u9_builder b;
        snprintf(key[n], sizeof key[n], "%016u", n * 37 % RECORDS);
        u9_builder_init(&b, body + size, sizeof body - size);
        ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
        ck_assert_int_eq(u9_build_bytes(&b, key[n], 16), U9_OK);
        ck_assert_int_eq(u9_build_bytes(&b, large, n == RECORDS / 2 ? LARGE_SIZE : 10), U9_OK);
        ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
        size += b.size;
    }
    (void)forge_frame(&s, body, size, RECORDS);
    forge_end(&s, U9I_END_CLOSING);
    sim_make_dir(LOG);
    forge_save(&s, LOG);
    ck_assert_int_eq(u9_log_open(LOG, &o, &r, NULL), U9_OK);
    for (unsigned n = 0; n < 1000; n++) {
        uint8_t buf[100];
        u9_record found;
        u9_err err = u9_log_get(r, &(u9_key){key[n % RECORDS], 16}, buf, sizeof buf, &found, NULL);
        ck_assert_int_eq(err, n % RECORDS == RECORDS / 2 ? U9_LIMIT : U9_OK);
        ck_assert_uint_eq(found.ordinal, n % RECORDS);
    }
    ck_assert_uint_eq(tabled_segments(r, &rest), 1);
    ck_assert_int_eq(u9i_view_take(r, false, &v, NULL), U9_OK);
    ck_assert_uint_eq(atomic_load(&v->tabled)->tabled->table.place_bits, U9I_TABLE_PLACE_BITS_MAX);
    u9i_view_release(v);
    close_log(r);
    forge_free(&s);
}
END_TEST

Suite *suite_tabling(void)
{
    Suite *s = suite_create("tabling");
    TCase *t = tcase_create("tabling");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, all_entries_of_a_table_are_found_the_newest_first);
    tcase_add_test(t, a_table_has_few_guesses_for_keys_that_it_has_not);
    tcase_add_test(t, what_does_not_fit_a_table_is_refused);
    tcase_add_loop_test(t, a_table_of_all_segments_says_what_a_model_says, 0, 8);
    tcase_add_loop_test(t, a_table_is_made_anew_when_the_log_grew, 0, 4);
    tcase_add_test(t, a_table_takes_no_more_memory_than_it_may);
    tcase_add_test(t, records_behind_a_large_one_in_their_frame_are_in_a_table_too);
    suite_add_tcase(s, t);
    return s;
}
