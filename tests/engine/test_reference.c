/*
 * tests/engine/test_reference.c: references between the records of a batch, and what an append costs the
 * heap. [I-5] [L-7]
 */
#include "tests/engine/fixture.h"

#include "tests/suites.h"

#include <stdlib.h>
#include <string.h>

/* A value of 16 bytes with a muid at offset 2: a reference. */
static size_t reference(uint8_t out[18], uint64_t timestamp, uint64_t medallion, int32_t offset)
{
    u9_muid ref = {timestamp, medallion, offset};
    out[0] = 0x1c;
    out[1] = 16;
    ck_assert_int_eq(u9_muid_pack(&ref, out + 2), U9_OK);
    return 18;
}

static const size_t at_2[] = {2};

static void expect_reference(const seen_record *r, const u9_muid *to)
{
    uint8_t packed[16];
    ck_assert_int_eq(u9_muid_pack(to, packed), U9_OK);
    ck_assert_uint_eq(r->text_size, 16);
    ck_assert_int_eq(memcmp(r->text, packed, 16), 0);
}

START_TEST(a_reference_back_in_a_batch_becomes_the_key_it_means) /* [I-5] [L-7] */
{
    uint8_t first[18], second[18], whole[18];
    u9_entry entries[4] = {
        {.values = "\x81", .size = 1},
        {.values = first, .size = reference(first, 0, 0, -1), .refs = at_2, .ref_count = 1},
        {.values = second, .size = reference(second, 0, 0, -2), .refs = at_2, .ref_count = 1},
        {.values = whole, .size = reference(whole, 0, 0, 0), .refs = at_2, .ref_count = 1}};
    u9_place places[4];
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_int_eq(u9_log_append_batch(w, entries, 4, places), U9_OK);
    close_log(w);
    u9_muid own;
    u9_muid_unpack(places[0].key, &own);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 4);
    expect_reference(&s->records[1], &own);
    expect_reference(&s->records[2], &own);
    own.offset = 0; /* the transaction itself */
    expect_reference(&s->records[3], &own);
    forget(s);
}
END_TEST

START_TEST(an_absolute_muid_stays_as_it_is)
{
    uint8_t value[18];
    u9_muid there = {1642579230975519, 1923190821165, 11};
    u9_entry e = {.values = value, .size = reference(value, there.timestamp, there.medallion, 11),
                  .refs = at_2, .ref_count = 1};
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_int_eq(u9_log_append_batch(w, &e, 1, NULL), U9_OK);
    close_log(w);
    seen *s = look(at("log"));
    expect_reference(&s->records[0], &there);
    forget(s);
}
END_TEST

START_TEST(a_reference_to_nothing_refuses_the_whole_batch)
{
    static const size_t outside[] = {3};
    uint8_t value[18];
    size_t size = reference(value, 0, 0, -2);
    u9_entry entries[2] = {{.values = "\x81", .size = 1},
                           {.values = value, .size = size, .refs = at_2, .ref_count = 1}};
    u9_log *w = open_writer(at("log"), NULL);
    u9_fault fault;
    ck_assert_int_eq(u9_log_append_batch(w, entries, 2, NULL), U9_ARG); /* before the first record */
    u9_log_fault(w, &fault);
    ck_assert_str_eq(fault.rule, "I-5");
    ck_assert_uint_eq(fault.offset, at_2[0]);
    ck_assert_ptr_nonnull(strstr(fault.text, "record 1 of the batch"));
    entries[1].refs = outside; /* passes the values by one byte */
    ck_assert_int_eq(u9_log_append_batch(w, entries, 2, NULL), U9_ARG);
    u9_log_fault(w, &fault);
    ck_assert_uint_eq(fault.offset, outside[0]);
    ck_assert_uint_eq(u9_log_next(w), 0);
    append_text(w, "goes on");
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 1);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

START_TEST(references_are_for_logs_keyed_by_muids)
{
    uint8_t value[18];
    u9_options o = writer_options();
    o.kind = "tid";
    u9_entry e = {.values = value, .size = reference(value, 0, 0, 0), .refs = at_2, .ref_count = 1};
    u9_log *w = open_writer(at("log"), &o);
    ck_assert_int_eq(u9_log_append_batch(w, &e, 1, NULL), U9_ARG);
    close_log(w);
}
END_TEST

Suite *suite_reference(void)
{
    Suite *suite = suite_create("reference");
    TCase *tc = tcase_create("batch");
    tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
    tcase_add_test(tc, a_reference_back_in_a_batch_becomes_the_key_it_means);
    tcase_add_test(tc, an_absolute_muid_stays_as_it_is);
    tcase_add_test(tc, a_reference_to_nothing_refuses_the_whole_batch);
    tcase_add_test(tc, references_are_for_logs_keyed_by_muids);
    suite_add_tcase(suite, tc);
    return suite;
}
