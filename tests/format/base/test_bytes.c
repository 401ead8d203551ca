/*
 * tests/format/base/test_bytes.c: the bounded cursor of format/base/bytes.h.
 */
#include "format/base/bytes.h"
#include "tests/format/frame/forge.h"
#include "tests/suites.h"

#include <stdlib.h>

static const uint8_t nine[9] = {0x81, 2, 3, 4, 5, 6, 7, 8, 9};

START_TEST(integers_are_read_big_endian_at_each_width)
{
    static const uint64_t want[] = {0,
                                    0x81,
                                    0x8102,
                                    0x810203,
                                    0x81020304,
                                    0x8102030405,
                                    0x810203040506,
                                    0x81020304050607,
                                    0x8102030405060708};
    for (unsigned width = 1; width <= 8; width++) {
        uint8_t *bytes = exact_copy(nine, width);
        u9i_in in = u9i_in_init(bytes, width);
        ck_assert_uint_eq(u9i_in_uint(&in, width), want[width]);
        ck_assert(!in.failed);
        ck_assert_uint_eq(in.left, 0);
        free(bytes);
    }
}
END_TEST

START_TEST(integers_are_written_as_they_are_read)
{
    uint8_t bytes[16];
    for (unsigned width = 1; width <= 8; width++) {
        u9i_out out = u9i_out_init(bytes, sizeof bytes);
        u9i_out_uint(&out, width, u9i_get_be(nine, width));
        ck_assert_uint_eq(out.size, width);
        ck_assert_mem_eq(bytes, nine, width);
    }
}
END_TEST

START_TEST(a_read_passing_the_end_yields_zero_and_fails_for_good)
{
    u9i_in in = u9i_in_init(nine, 3);
    ck_assert_uint_eq(u9i_in_uint(&in, 4), 0);
    ck_assert(in.failed);
    ck_assert_uint_eq(in.left, 3);
    ck_assert_uint_eq(u9i_in_uint(&in, 1), 0);
    ck_assert_ptr_null(u9i_in_span(&in, 0));
}
END_TEST

START_TEST(a_span_may_end_where_the_bytes_end_and_be_empty_there)
{
    u9i_in in = u9i_in_init(nine, sizeof nine);
    ck_assert_ptr_eq(u9i_in_span(&in, sizeof nine), nine);
    ck_assert_ptr_eq(u9i_in_span(&in, 0), nine + sizeof nine);
    ck_assert(!in.failed);
    ck_assert_ptr_null(u9i_in_span(&in, 1));
}
END_TEST

START_TEST(the_largest_length_does_not_wrap)
{
    u9i_in in = u9i_in_init(nine, sizeof nine);
    ck_assert_uint_eq(u9i_in_uint(&in, 1), 0x81);
    ck_assert_ptr_null(u9i_in_span(&in, UINT64_MAX));
    ck_assert(in.failed);

    uint8_t room[4];
    u9i_out out = u9i_out_init(room, sizeof room);
    u9i_out_uint(&out, 1, 1);
    ck_assert_ptr_null(u9i_out_span(&out, SIZE_MAX));
    ck_assert(out.failed);
}
END_TEST

START_TEST(no_bytes_at_all_are_read_without_touching_them)
{
    u9i_in in = u9i_in_init(NULL, 0);
    ck_assert_uint_eq(u9i_in_uint(&in, 1), 0);
    ck_assert(in.failed);
    u9i_out out = u9i_out_init(NULL, 0);
    u9i_out_uint(&out, 1, 1);
    ck_assert(out.failed);
    ck_assert_uint_eq(out.size, 0);
}
END_TEST

START_TEST(a_write_that_does_not_fit_writes_nothing_and_fails_for_good)
{
    uint8_t room[4] = {0xee, 0xee, 0xee, 0xee};
    u9i_out out = u9i_out_init(room, 3);
    u9i_out_uint(&out, 2, 0x0102);
    u9i_out_uint(&out, 2, 0x0304);
    ck_assert(out.failed);
    ck_assert_uint_eq(out.size, 2);
    u9i_out_uint(&out, 1, 5); /* would fit */
    u9i_out_copy(&out, nine, 1);
    ck_assert_uint_eq(out.size, 2);
    ck_assert_int_eq(room[2], 0xee);
    ck_assert_int_eq(room[3], 0xee);
}
END_TEST

START_TEST(a_buffer_can_be_filled_to_its_last_byte)
{
    uint8_t *room = (uint8_t *)malloc(9);
    u9i_out out = u9i_out_init(room, 9);
    u9i_out_copy(&out, nine, 9);
    u9i_out_copy(&out, NULL, 0);
    ck_assert(!out.failed);
    ck_assert_mem_eq(room, nine, 9);
    free(room);
}
END_TEST

Suite *suite_bytes(void)
{
    Suite *s = suite_create("bytes");
    TCase *t = tcase_create("cursor");
    tcase_add_test(t, integers_are_read_big_endian_at_each_width);
    tcase_add_test(t, integers_are_written_as_they_are_read);
    tcase_add_test(t, a_read_passing_the_end_yields_zero_and_fails_for_good);
    tcase_add_test(t, a_span_may_end_where_the_bytes_end_and_be_empty_there);
    tcase_add_test(t, the_largest_length_does_not_wrap);
    tcase_add_test(t, no_bytes_at_all_are_read_without_touching_them);
    tcase_add_test(t, a_write_that_does_not_fit_writes_nothing_and_fails_for_good);
    tcase_add_test(t, a_buffer_can_be_filled_to_its_last_byte);
    suite_add_tcase(s, t);
    return s;
}
