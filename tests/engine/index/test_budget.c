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

Suite *suite_budget(void)
{
    Suite *s = suite_create("budget");
    TCase *t = tcase_create("budget");
    tcase_add_test(t, no_more_is_taken_than_was_allowed);
    tcase_add_test(t, what_must_be_had_leaves_less_for_the_rest);
    suite_add_tcase(s, t);
    return s;
}
