/*
 * tests/tools/test_progress.c: the line of progress fits the terminal that it is written over and over on.
 */
#include "tools/progress.h"

#include "tests/suites.h"
#include "tools/tool.h"

#include <string.h>

START_TEST(a_line_of_progress_is_narrower_than_its_terminal)
{
    char line[TOOL_PROGRESS_SIZE];
    static const uint64_t sizes[] = {0, 1, 999, 123456789, UINT64_C(999900000000000), UINT64_MAX};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    for (unsigned columns = 1; columns < 200; columns++)
        for (unsigned i = 0; i < SIZES * SIZES; i++) {
            tool_progress_line(sizes[i % SIZES], sizes[i / SIZES], 0.001, columns, line);
            ck_assert_uint_lt(strlen(line), columns);
        }
}
END_TEST

START_TEST(the_last_parts_are_left_out_first)
{
    char line[TOOL_PROGRESS_SIZE];
    static const struct {
        unsigned columns;
        const char *line;
    } rows[] = {
        {0, "u9: 50.0 MB of 100.0 MB, 50%, 25.0 MB/s, ETA 0:00:02"},
        {80, "u9: 50.0 MB of 100.0 MB, 50%, 25.0 MB/s, ETA 0:00:02"},
        {53, "u9: 50.0 MB of 100.0 MB, 50%, 25.0 MB/s, ETA 0:00:02"},
        {52, "u9: 50.0 MB of 100.0 MB, 50%, 25.0 MB/s"},
        {36, "u9: 50.0 MB of 100.0 MB, 50%"},
        {20, "u9: 50.0 MB"},
        {5, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_str_eq(tool_progress_line(50000000, 100000000, 2, rows[i].columns, line),
                         rows[i].line);
    ck_assert_str_eq(tool_progress_line(1000, 0, 2, 0, line), "u9: 1.0 kB, 500 bytes/s");
}
END_TEST

Suite *suite_progress(void)
{
    Suite *suite = suite_create("progress");
    TCase *tc = tcase_create("line");
    tcase_add_test(tc, a_line_of_progress_is_narrower_than_its_terminal);
    tcase_add_test(tc, the_last_parts_are_left_out_first);
    suite_add_tcase(suite, tc);
    return suite;
}
