/*
 * tests/engine/test_api.c: what hosts were compiled against does not move: numbers, names, sizes of structs.
 */
#include "tests/engine/fixture.h"
#include "tests/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

START_TEST(the_numbers_of_errors_are_pinned)
{
    static const struct {
        u9_err err;
        int number;
        const char *name;
    } rows[] = {
        {U9_OK, 0, "OK"},           {U9_END, 1, "END"},         {U9_AGAIN, 2, "AGAIN"},
        {U9_ABSENT, 3, "ABSENT"},   {U9_ARG, -1, "ARG"},        {U9_NOMEM, -2, "NOMEM"},
        {U9_IO, -3, "IO"},          {U9_CORRUPT, -4, "CORRUPT"}, {U9_TORN, -5, "TORN"},
        {U9_VERSION, -6, "VERSION"}, {U9_LIMIT, -7, "LIMIT"},   {U9_LOCKED, -8, "LOCKED"},
        {U9_STATE, -9, "STATE"},    {U9_POISONED, -10, "POISONED"},
    };
    for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
        ck_assert_int_eq(rows[i].err, rows[i].number);
        ck_assert_str_eq(u9_err_name(rows[i].err), rows[i].name);
    }
    ck_assert_str_eq(u9_err_name((u9_err)4), "?");
    ck_assert_str_eq(u9_err_name((u9_err)-11), "?");
    ck_assert(U9_NOWHERE == UINT64_MAX);
}
END_TEST

START_TEST(the_numbers_of_verdicts_are_pinned)
{
    static const char *const names[] = {"clean", "torn", "unknown", "corrupt"};
    static const u9_verdict verdicts[] = {U9_V_CLEAN, U9_V_TORN, U9_V_UNKNOWN, U9_V_CORRUPT};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(verdicts[i], i);
        ck_assert_str_eq(u9_verdict_name(verdicts[i]), names[i]);
    }
    ck_assert_str_eq(u9_verdict_name((u9_verdict)4), "?");
}
END_TEST

START_TEST(the_numbers_of_reasons_are_pinned)
{
    static const struct {
        u9_reason reason;
        const char *name, *rule;
    } rows[] = {
        {U9_R_NONE, "none", ""},           {U9_R_HEADER, "header", "H-4"},
        {U9_R_BOUNDARY, "boundary", "F-6"}, {U9_R_MAGIC, "magic", "F-6"},
        {U9_R_LENGTH, "length", "F-6"},    {U9_R_OVERLAP, "overlap", "F-6"},
        {U9_R_SIGNATURE, "signature", "F-6"}, {U9_R_TRAILER, "trailer", "F-6"},
        {U9_R_HASH, "hash", "F-6"},        {U9_R_FOLLOW, "follow", "F-9"},
        {U9_R_PADDING, "padding", "F-2"},  {U9_R_FILL, "fill", "F-8"},
        {U9_R_BODY, "body", "B-1"},        {U9_R_CUT, "cut", "R-5"},
        {U9_R_MISSING, "missing", "L-4"},  {U9_R_FOREIGN, "foreign", "L-4"},
        {U9_R_UNCLOSED, "unclosed", "R-6"}, {U9_R_SEAL, "seal", "R-8"},
        {U9_R_BLANK, "blank", "L-4"},       {U9_R_FORK, "fork", "L-9"},
        {U9_R_MARK, "mark", "M-4"},         {U9_R_UNREADABLE, "unreadable", "R-11"},
        {U9_R_PART, "part", "C-6"},         {U9_R_NAME, "name", "L-2"},
        {U9_R_UNSIGNED, "unsigned", "G-3"}, {U9_R_TRIMMED, "trimmed", "L-10"},
    };
    ck_assert_int_eq(U9_R_TRIMMED, 25);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_int_eq((int)rows[i].reason, (int)i);
        ck_assert_str_eq(u9_reason_name(rows[i].reason), rows[i].name);
        ck_assert_str_eq(u9_reason_rule(rows[i].reason), rows[i].rule);
        ck_assert_uint_gt(strlen(u9_reason_text(rows[i].reason)), 10);
    }
    for (int i = -1; i < 40; i += i < 0 ? 27 : 1) {
        ck_assert_str_eq(u9_reason_name((u9_reason)i), "?");
        ck_assert_str_eq(u9_reason_text((u9_reason)i), "?");
        ck_assert_str_eq(u9_reason_rule((u9_reason)i), "");
    }
}
END_TEST

START_TEST(the_numbers_of_modes_policies_and_limits_are_pinned)
{
    ck_assert_int_eq(U9_READ, 1);
    ck_assert_int_eq(U9_WRITE, 2);
    ck_assert_int_eq(U9_CREATE, 3);
    ck_assert_int_eq(U9_POLICY_COMMIT, 0);
    ck_assert_int_eq(U9_POLICY_INTERVAL, 1);
    ck_assert_int_eq(U9_POLICY_NONE, 2);
    ck_assert_uint_eq(U9_RECORD_MAX, 16777216);
    ck_assert_int_eq(U9_DEPTH_MAX, 64);
    ck_assert_int_eq(U9_MUID_SIZE, 16);
    ck_assert_int_eq(U9_MUID_TEXT_SIZE, 34);
}
END_TEST

START_TEST(structs_that_a_host_fills_have_the_sizes_they_had) /* where pointers have 8 bytes */
{
    if (sizeof(void *) != 8) return;
    ck_assert_uint_eq(sizeof(u9_options), 184);
    ck_assert_uint_eq(offsetof(u9_options, verify), 152);
    ck_assert_uint_eq(offsetof(u9_options, keep_bytes), 96);
    ck_assert_uint_eq(offsetof(u9_options, interval_ms), 112);
    ck_assert_uint_eq(sizeof(u9_stats), 384);
    ck_assert_uint_eq(sizeof(u9_grant), 24);
    ck_assert_uint_eq(sizeof(u9_generator), 40);
    ck_assert_uint_eq(sizeof(u9_check_options), 72);
    ck_assert_uint_eq(sizeof(u9_output), 64);
    ck_assert_uint_eq(sizeof(u9_report), 1896);
    ck_assert_uint_eq(offsetof(u9_report, trim_segment), 1872);
    ck_assert_uint_eq(offsetof(u9_report, keyless), 1784);
    ck_assert_uint_eq(sizeof(u9_mark), 88);
    ck_assert_uint_eq(sizeof(u9_loss), 160);
    ck_assert_uint_eq(sizeof(u9_trim), 56);
    ck_assert_uint_eq(sizeof(u9_trimmed), 64);
    ck_assert_uint_eq(sizeof(u9_range), 40);
    ck_assert_uint_eq(sizeof(u9_fault), 544);
    ck_assert_uint_eq(sizeof(u9_damage), 104);
    ck_assert_uint_eq(offsetof(u9_damage, part), 64); /* only lent: it may grow */
    ck_assert_uint_eq(sizeof(u9_key), 16);
    ck_assert_uint_eq(sizeof(u9_entry), 48);
    ck_assert_uint_eq(sizeof(u9_place), 32);
    ck_assert_uint_eq(sizeof(u9_record), 88);
    ck_assert_uint_eq(sizeof(u9_value), 56);
    ck_assert_uint_eq(sizeof(u9_muid), 24);
    ck_assert_uint_eq(offsetof(u9_options, on_damage_ctx), 48);
    ck_assert_uint_eq(offsetof(u9_check_options, io), 32);
    ck_assert_uint_eq(offsetof(u9_check_options, on_output), 40);
    ck_assert_uint_eq(offsetof(u9_check_options, on_stretch), 56);
    ck_assert_int_eq(U9_LINE_GONE, 4);
    ck_assert_int_eq(U9_LOSS_DAMAGE, 3);
}
END_TEST

START_TEST(a_check_takes_the_options_of_an_earlier_version)
{
    u9_check_options o = {.io = "carrier pigeon"};
    u9_report report = {.size = sizeof report};
    u9_fault fault;
    uint64_t saved;
    const char *log = at("log");
    session(log, "a", 3, 0);
    for (o.size = 0; o.size < sizeof o + 8; o.size++) {
        bool earlier = o.size == offsetof(u9_check_options, io); /* it is not there */
        bool one = o.size == sizeof o || o.size == offsetof(u9_check_options, on_output) ||
                   o.size == offsetof(u9_check_options, on_stretch);
        u9_err err = u9_check(log, &o, &report, &fault);
        ck_assert_int_eq(err, earlier ? U9_OK : U9_ARG);
        if (!earlier) ck_assert_ptr_nonnull(strstr(fault.text, one ? "carrier pigeon" : "options.size"));
    }
    o.size = sizeof o;
    ck_assert_int_eq(u9_salvage(log, at("out"), &o, &report, &saved, &fault), U9_ARG);
    ck_assert_ptr_nonnull(strstr(fault.text, "carrier pigeon"));
    o.io = "posix";
    ck_assert_int_eq(u9_check(log, &o, &report, &fault), U9_OK);
    ck_assert_uint_eq(report.records, 3);
    ck_assert_int_eq(u9_salvage(log, at("out"), &o, &report, &saved, &fault), U9_OK);
    ck_assert_uint_eq(saved, 3);
    report = (u9_report){.size = offsetof(u9_report, keyless), .outputs = 7};
    ck_assert_int_eq(u9_check(log, NULL, &report, &fault), U9_OK);
    ck_assert_uint_eq(report.records, 3);
    ck_assert_uint_eq(report.outputs, 7); /* an earlier host has none */
    ck_assert_uint_eq(report.size, offsetof(u9_report, keyless));
    report = (u9_report){.size = offsetof(u9_report, trim_segment), .trim_segment = 7};
    ck_assert_int_eq(u9_check(log, NULL, &report, &fault), U9_OK);
    ck_assert_uint_eq(report.outputs, 0);
    ck_assert_uint_eq(report.trim_segment, 7);
}
END_TEST

static void expect_line(const u9_fault *fault, const char *line)
{
    char out[800];
    ck_assert_ptr_eq(u9_fault_line(fault, out, sizeof out), out);
    ck_assert_str_eq(out, line);
}

START_TEST(a_fault_is_told_in_one_line)
{
    u9_fault f = {.err = U9_IO, .segment = U9_NOWHERE, .offset = U9_NOWHERE};
    strcpy(f.text, "a write failed");
    expect_line(&f, "a write failed");
    strcpy(f.path, "log");
    expect_line(&f, "log: a write failed");
    f.offset = 4096;
    expect_line(&f, "log: offset 4096: a write failed");
    f.sys = ENOSPC;
    expect_line(&f, "log: offset 4096: a write failed: No space left on device");
    strcpy(f.rule, "W-6");
    expect_line(&f, "log: offset 4096: a write failed: No space left on device [W-6]");
    char small[10];
    ck_assert_str_eq(u9_fault_line(&f, small, sizeof small), "log: offs");
}
END_TEST

START_TEST(the_version_is_told_in_the_header_and_by_the_library)
{
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", U9_VERSION_MAJOR, U9_VERSION_MINOR, U9_VERSION_PATCH);
    ck_assert_str_eq(U9_VERSION_TEXT, text);
    ck_assert_str_eq(u9_version(), text);
    ck_assert_int_eq(U9_VERSION_NUMBER / 1000000, U9_VERSION_MAJOR);
    ck_assert_int_eq(U9_VERSION_NUMBER / 1000 % 1000, U9_VERSION_MINOR);
    ck_assert_int_eq(U9_VERSION_NUMBER % 1000, U9_VERSION_PATCH);
}
END_TEST

Suite *suite_api(void)
{
    Suite *suite = suite_create("api");
    TCase *pinned = tcase_create("pinned");
    tcase_add_test(pinned, the_numbers_of_errors_are_pinned);
    tcase_add_test(pinned, the_numbers_of_verdicts_are_pinned);
    tcase_add_test(pinned, the_numbers_of_reasons_are_pinned);
    tcase_add_test(pinned, the_numbers_of_modes_policies_and_limits_are_pinned);
    tcase_add_test(pinned, structs_that_a_host_fills_have_the_sizes_they_had);
    TCase *earlier = tcase_create("earlier");
    tcase_add_checked_fixture(earlier, fixture_setup, fixture_teardown);
    tcase_add_test(earlier, a_check_takes_the_options_of_an_earlier_version);
    suite_add_tcase(suite, earlier);
    tcase_add_test(pinned, a_fault_is_told_in_one_line);
    tcase_add_test(pinned, the_version_is_told_in_the_header_and_by_the_library);
    suite_add_tcase(suite, pinned);
    return suite;
}
