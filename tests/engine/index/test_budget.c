/*
 * tests/engine/index/test_budget.c: what lookups keep in memory ends where the options say (cache_memory).
 */
#include "tests/suites.h"

#include "engine/index/budget.h"

#include <stdatomic.h>

START_TEST(no_more_is_taken_than_was_allowed)
{
    u9i_budget b;
    u9i_budget_open(&b, 1000);
    ck_assert(u9i_budget_take(&b, 600));
    ck_assert(!u9i_budget_take(&b, 401));
    ck_assert_uint_eq(atomic_load(&b.used), 600); /* what was refused is not counted */
    ck_assert_uint_eq(atomic_load(&b.missed), 1);
    ck_assert(u9i_budget_take(&b, 400));
    ck_assert(!u9i_budget_take(&b, 1));
    u9i_budget_give(&b, 1);
    ck_assert(u9i_budget_take(&b, 1));
    u9i_budget_close(&b);
}
END_TEST

START_TEST(what_must_be_had_leaves_less_for_the_rest)
{
    u9i_budget b;
    u9i_budget_open(&b, 1000);
    u9i_budget_add(&b, 5000);
    ck_assert(!u9i_budget_take(&b, 1));
    u9i_budget_give(&b, 4500);
    ck_assert(!u9i_budget_take(&b, 501));
    ck_assert(u9i_budget_take(&b, 500));
    u9i_budget_close(&b);
}
END_TEST

START_TEST(a_part_counts_in_the_whole_and_gives_all_back)
{
    u9i_budget b, part, next;
    u9i_budget_open(&b, 1000);
    ck_assert(u9i_budget_take(&b, 300));
    u9i_budget_open_part(&part, &b);
    ck_assert(u9i_budget_take(&part, 600));
    ck_assert(!u9i_budget_take(&part, 101));
    ck_assert_uint_eq(atomic_load(&b.used), 900);
    u9i_budget_add(&part, 50);
    u9i_budget_give(&part, 20);
    ck_assert_uint_eq(atomic_load(&b.used), 930);
    u9i_budget_open_part(&next, &b); /* while the other one is still in use */
    ck_assert_uint_eq(atomic_load(&b.missed), 0);
    ck_assert(!u9i_budget_take(&next, 71));
    ck_assert(u9i_budget_take(&next, 70));
    u9i_budget_close(&part);
    ck_assert_uint_eq(atomic_load(&b.used), 370);
    ck_assert(u9i_budget_take(&next, 630));
    u9i_budget_close(&next);
    ck_assert_uint_eq(atomic_load(&b.used), 300);
    u9i_budget_close(&b);
}
END_TEST

START_TEST(what_may_have_a_share_leaves_the_rest_to_others)
{
    u9i_budget b;
    u9i_budget_open(&b, 1000);
    ck_assert(u9i_budget_take_within(&b, 250, 4));
    ck_assert(!u9i_budget_take_within(&b, 1, 4));
    ck_assert(u9i_budget_take_within(&b, 250, 2));
    ck_assert(!u9i_budget_take_within(&b, 1, 2));
    ck_assert_uint_eq(atomic_load(&b.missed), 0);
    ck_assert(u9i_budget_take(&b, 500));
    u9i_budget_close(&b);
}
END_TEST

/* Not where nothing would be let go, nor for a few. */
START_TEST(a_part_begins_anew_when_more_was_missed_than_kept)
{
    u9i_budget b, part;
    u9i_budget_open(&b, 1000);
    u9i_budget_open_part(&part, &b);
    for (unsigned i = 0; i < 3000; i++) ck_assert(!u9i_budget_take(&part, 1001));
    ck_assert(!u9i_budget_full(&part));
    atomic_store(&part.kept, 1000);
    ck_assert(!u9i_budget_full(&part));
    ck_assert(!u9i_budget_take(&part, 1001));
    ck_assert(u9i_budget_full(&part));
    u9i_budget_close(&part);
    u9i_budget_close(&b);
}
END_TEST

Suite *suite_budget(void)
{
    Suite *s = suite_create("budget");
    TCase *t = tcase_create("budget");
    tcase_add_test(t, no_more_is_taken_than_was_allowed);
    tcase_add_test(t, what_must_be_had_leaves_less_for_the_rest);
    tcase_add_test(t, a_part_counts_in_the_whole_and_gives_all_back);
    tcase_add_test(t, what_may_have_a_share_leaves_the_rest_to_others);
    tcase_add_test(t, a_part_begins_anew_when_more_was_missed_than_kept);
    suite_add_tcase(s, t);
    return s;
}
