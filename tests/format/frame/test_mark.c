/*
 * tests/format/frame/test_mark.c: the slots of a log's mark: what one is, byte by byte, and which of the two
 * counts. [M-2] [M-3] [C-8]
 */
#include "format/base/bytes.h"
#include "format/frame/disk.h"
#include "format/frame/mark.h"
#include "tests/format/golden.h"
#include "tests/suites.h"

static uint8_t slot[U9I_BLOCK];
static u9i_mark_record mark;

static void make_slot(void)
{
    golden_mark_slot(slot, &mark);
}

static u9i_slot_state state_of(const uint8_t *bytes)
{
    u9i_slot s;
    u9i_slot_decode(bytes, &s);
    return s.state;
}

START_TEST(a_slot_tells_what_was_put_into_it)
{
    u9i_slot s;
    u9i_slot_decode(slot, &s);
    ck_assert_int_eq(s.state, U9I_SLOT_VALID);
    ck_assert_uint_eq(s.mark.segment, mark.segment);
    ck_assert_uint_eq(s.mark.first_ordinal, mark.first_ordinal);
    ck_assert_uint_eq(s.mark.time_us, mark.time_us);
    ck_assert_mem_eq(s.mark.log, mark.log, 16);
    ck_assert_mem_eq(s.mark.boundary, mark.boundary, 16);
    ck_assert_mem_eq(s.mark.secret, mark.secret, 16);
    ck_assert_uint_eq(s.mark.end.offset, mark.end.offset);
    ck_assert_uint_eq(s.mark.end.ordinal, mark.end.ordinal);
    ck_assert_mem_eq(s.mark.end.chain, mark.end.chain, 16);
}
END_TEST

START_TEST(zeros_are_an_empty_slot)
{
    uint8_t zeros[U9I_BLOCK] = {0};
    ck_assert_int_eq(state_of(zeros), U9I_SLOT_EMPTY);
}
END_TEST

/* {F20} */
START_TEST(any_flipped_bit_of_its_frame_makes_a_slot_bad_but_in_the_padding)
{
    size_t end = GOLDEN_SLOT_SIZE, data = U9I_DISK_HEADER_SIZE + U9I_FRAME_HEADER_SIZE +
                                          (size_t)u9i_get_be(slot + 88, 8);
    ck_assert_uint_le(end - data, 15);
    for (size_t i = 0; i < 8 * end; i++) {
        slot[i / 8] ^= (uint8_t)(1u << i % 8);
        ck_assert_int_eq(state_of(slot), i / 8 < data ? U9I_SLOT_BAD : U9I_SLOT_VALID);
        slot[i / 8] ^= (uint8_t)(1u << i % 8);
    }
}
END_TEST

START_TEST(a_slot_cut_anywhere_is_bad)
{
    for (size_t n = GOLDEN_SLOT_SIZE; n-- > 1;) {
        slot[n] = 0;
        u9i_slot s;
        u9i_slot_decode(slot, &s);
        if (n < GOLDEN_SLOT_SIZE - 16) ck_assert_int_eq(s.state, U9I_SLOT_BAD);
    }
    ck_assert_int_eq(slot[0], 0xff);
}
END_TEST

/* The same slot with a mark that was forged. */
static u9i_slot_state forged(const u9i_mark_record *m)
{
    uint8_t bytes[U9I_BLOCK], secret_bytes[U9I_SECRET_SIZE];
    u9i_secret secret;
    memset(secret_bytes, 0x5a, sizeof secret_bytes);
    ck_assert(u9i_secret_init(&secret, secret_bytes));
    ck_assert_int_eq(u9i_slot_encode(m, &secret, bytes), U9_OK);
    return state_of(bytes);
}

START_TEST(a_mark_that_no_frame_can_end_at_is_bad)
{
    static const uint64_t bad[] = {0, 32, 96, 160, 176 + 8, (UINT64_C(1) << 43) + 16, UINT64_MAX};
    ck_assert_int_eq(forged(&mark), U9I_SLOT_VALID);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        u9i_mark_record m = mark;
        m.end.offset = bad[i];
        ck_assert_int_eq(forged(&m), U9I_SLOT_BAD);
    }
    u9i_mark_record m = mark;
    m.segment = 0;
    ck_assert_int_eq(forged(&m), U9I_SLOT_BAD);
    m = mark;
    m.secret[3] ^= 1; /* not the boundary's */
    ck_assert_int_eq(forged(&m), U9I_SLOT_BAD);
}
END_TEST

START_TEST(a_frame_that_holds_something_else_is_a_bad_slot)
{
    uint8_t bytes[U9I_BLOCK] = {0};
    memcpy(bytes, slot, U9I_DISK_HEADER_SIZE);
    u9i_secret secret;
    uint8_t sha[U9I_HASH_SIZE];
    ck_assert_int_eq(u9i_disk_decode(bytes, &secret), U9_OK);
    u9i_trailer t = {.offset = U9I_DISK_HEADER_SIZE};
    u9i_hash(bytes, U9I_DISK_HEADER_SIZE, t.chain);
    ck_assert_int_eq(u9i_frame_seal(&secret, &t, bytes + U9I_DISK_HEADER_SIZE, 0, sha), U9_OK);
    ck_assert_int_eq(state_of(bytes), U9I_SLOT_BAD);
}
END_TEST

START_TEST(the_later_segment_counts_and_then_the_later_end)
{
    u9i_slot s[U9I_MARK_SLOTS] = {{.state = U9I_SLOT_VALID, .mark = mark}, {.state = U9I_SLOT_VALID, .mark = mark}};
    s[1].mark.end.offset += 16;
    ck_assert_int_eq(u9i_slots_greater(s), 1);
    s[0].mark.segment++;
    ck_assert_int_eq(u9i_slots_greater(s), 0);
    s[0].state = U9I_SLOT_BAD;
    ck_assert_int_eq(u9i_slots_greater(s), 1);
    s[1].state = U9I_SLOT_EMPTY;
    ck_assert_int_eq(u9i_slots_greater(s), -1);
}
END_TEST

Suite *suite_mark_slot(void)
{
    Suite *suite = suite_create("mark_slot");
    TCase *t = tcase_create("slot");
    tcase_add_checked_fixture(t, make_slot, NULL);
    tcase_add_test(t, a_slot_tells_what_was_put_into_it);
    tcase_add_test(t, zeros_are_an_empty_slot);
    tcase_add_test(t, any_flipped_bit_of_its_frame_makes_a_slot_bad_but_in_the_padding);
    tcase_add_test(t, a_slot_cut_anywhere_is_bad);
    tcase_add_test(t, a_mark_that_no_frame_can_end_at_is_bad);
    tcase_add_test(t, a_frame_that_holds_something_else_is_a_bad_slot);
    tcase_add_test(t, the_later_segment_counts_and_then_the_later_end);
    suite_add_tcase(suite, t);
    return suite;
}
