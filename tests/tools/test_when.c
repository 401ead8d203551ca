/*
 * tests/tools/test_when.c: points in time as people write them, and what is said of those that are none.
 */
#include "tools/when.h"

#include "tests/suites.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Friday, 2026-01-30 12:34:56.789012 UTC */
#define NOW (UINT64_C(1769776496789012))
#define MICROS UINT64_C(1000000)

static void live_in(const char *zone)
{
    ck_assert_int_eq(setenv("TZ", zone, 1), 0);
    tzset();
}

static uint64_t when(const char *text)
{
    const char *bad;
    size_t size;
    uint64_t out = 0;
    const char *why = tool_when_parse(text, NOW, &out, &bad, &size);
    ck_assert_msg(why == NULL, "%s: %s", text, why);
    return out;
}

typedef struct row {
    const char *text;
    uint64_t seconds;
    uint64_t micros;
} row;

static void expect_all(const row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(when(rows[i].text) == rows[i].seconds * MICROS + rows[i].micros, "%s: %llu",
                      rows[i].text, (unsigned long long)when(rows[i].text));
}

START_TEST(spans_are_counted_from_now)
{
    static const row rows[] = {
        {"now", 1769776496, 789012},          {" NOW ", 1769776496, 789012},
        {"2 hours ago", 1769769296, 789012},  {"2h ago", 1769769296, 789012},
        {"-2h", 1769769296, 789012},          {"1 day 30min ago", 1769688296, 789012},
        {"90 s ago", 1769776406, 789012},     {"0.5s ago", 1769776496, 289012},
        {"1w ago", 1769171696, 789012},       {"+ 1 minute", 1769776556, 789012},
        {"1d1h1m1s ago", 1769686435, 789012}, {"1.5 hr ago", 1769771096, 789012},
    };
    live_in("UTC");
    expect_all(rows, sizeof rows / sizeof *rows);
}
END_TEST

START_TEST(days_and_clocks_are_those_of_the_local_zone)
{
    static const row utc[] = {
        {"today", 1769731200, 0},
        {"yesterday", 1769644800, 0},
        {"tomorrow", 1769817600, 0},
        {"yesterday 14:00", 1769695200, 0},
        {"12:34", 1769776440, 0},
        {"12:34:56.5", 1769776496, 500000},
        {"12:34:56.1234567899999999999999", 1769776496, 123456}, /* what is finer is cut off */
        {"2026-01-30", 1769731200, 0},
        {"2026-01-30 12:34", 1769776440, 0},
        {"2026-01-30T12:34:56.789012Z", 1769776496, 789012},
        {"2026-01-30 12:34:56 UTC", 1769776496, 0},
        {"2026-01-30T12:34:56+02:00", 1769769296, 0},
        {"2016-12-31T23:59:60Z", 1483228800, 0},
        {"@1.000001", 1, 1},
        {"@0", 0, 0},
    };
    static const row east[] = {
        /* there it is 21:34 */
        {"today", 1769698800, 0},
        {"yesterday", 1769612400, 0},
        {"21:34", 1769776440, 0},
        {"2026-01-30", 1769698800, 0},
        {"2026-01-30 21:34:56", 1769776496, 0},
        {"2026-01-30T12:34:56Z", 1769776496, 0},
        {"today 12:00 UTC", 1769774400, 0},
    };
    static const row summer[] = {
        /* clocks are put forward on 2025-03-30, and this midnight is in winter */
        {"2025-03-30", 1743289200, 0},
        {"2025-03-31", 1743372000, 0},
        {"2025-07-01 12:00", 1751364000, 0},
    };
    live_in("UTC");
    expect_all(utc, sizeof utc / sizeof *utc);
    live_in("EAST-9");
    expect_all(east, sizeof east / sizeof *east);
    live_in("CET-1CEST,M3.5.0,M10.5.0/3");
    expect_all(summer, sizeof summer / sizeof *summer);
    live_in("UTC");
}
END_TEST

START_TEST(what_was_not_understood_is_named)
{
    static const struct {
        const char *text, *bad, *why;
    } rows[] = {
        {"", "", "nothing is given"},
        {"noon", "noon", "not understood"},
        {"2 hurs ago", "hurs", "not a unit of time: s, min, h, d or w"},
        {"2 hours", "", "'ago' is missing behind it"},
        {"2 hours before", "before", "not 'ago'"},
        {"2 hours ago or so", "or", "not understood"},
        {"60000d ago", "", "before 1970"},
        {"999999999999w ago", "ago", "too far away"},
        {"2026-02-30", "2026-02-30", "there is no such day"},
        {"2026-13-01", "2026-13-01", "not a date like 2026-01-31"},
        {"2026-1-1", "2026-1-1", "not a date like 2026-01-31"},
        {"2026-01-01T", "", "no time of day is behind the T"},
        {"2026-01-01 1:00", "1:00", "not a time of day like 23:59"},
        {"2026-01-01 25:00", "25:00", "not a time of day like 23:59"},
        {"2026-01-01 12:60", "12:60", "not a time of day like 23:59"},
        {"2026-01-01 12:00:61", "12:00:61", "not a time of day like 23:59"},
        {"2026-01-01 12:00:00.", ".", "no digit is behind the point"},
        {"2026-01-01 12:00+1", "1", "not a zone like +02:00"},
        {"2026-01-01 12:00 CET", "CET", "not understood"},
        {"1960-01-01", "", "before 1970"},
        {"today 12", "12", "not a time of day like 23:59"},
        {"@", "", "not a number of seconds since 1970"},
        {"@1x", "x", "not understood"},
    };
    live_in("UTC");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *bad = NULL, *why;
        size_t size;
        uint64_t out = 7;
        why = tool_when_parse(rows[i].text, NOW, &out, &bad, &size);
        ck_assert_msg(why != NULL, "%s", rows[i].text);
        ck_assert_msg(strcmp(why, rows[i].why) == 0, "%s: %s", rows[i].text, why);
        ck_assert_msg(size == strlen(rows[i].bad) && memcmp(bad, rows[i].bad, size) == 0,
                      "%s: '%.*s'", rows[i].text, (int)size, bad);
        ck_assert_uint_eq(out, 7);
    }
}
END_TEST

Suite *suite_when(void)
{
    Suite *suite = suite_create("when");
    TCase *tc = tcase_create("when");
    tcase_add_test(tc, spans_are_counted_from_now);
    tcase_add_test(tc, days_and_clocks_are_those_of_the_local_zone);
    tcase_add_test(tc, what_was_not_understood_is_named);
    suite_add_tcase(suite, tc);
    return suite;
}
