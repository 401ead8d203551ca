/*
 * tests/format/frame/test_mark_line.c: the line of a mark: the example of SPEC.md, what is refused of a line, and the
 * field that is named then. [M-7]
 */
#include "tests/format/golden.h"
#include "tests/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <u9/mark.h>

static u9_mark mark;
static char line[U9_MARK_LINE_SIZE];
static u9_fault fault;

/* The mark of the slot that SPEC.md shows. */
static void make_line(void)
{
    uint8_t slot[U9I_BLOCK];
    u9i_mark_record m;
    golden_mark_slot(slot, &m);
    mark = (u9_mark){.first_ordinal = m.first_ordinal, .segment = m.segment, .offset = m.end.offset,
                     .ordinal = m.end.ordinal, .time_us = m.time_us};
    memcpy(mark.log, m.log, 16);
    memcpy(mark.boundary, m.boundary, 16);
    memcpy(mark.chain, m.end.chain, 16);
    u9_mark_format(&mark, line);
}

static u9_err parse(const char *text)
{
    u9_mark out, before;
    memset(&out, 0x55, sizeof out);
    before = out;
    u9_err err = u9_mark_parse(text, strlen(text), &out, &fault);
    if (err != U9_OK) ck_assert_mem_eq(&out, &before, sizeof out);
    if (err == U9_OK) ck_assert_mem_eq(&out, &mark, sizeof out);
    return err;
}

START_TEST(the_example_of_the_specification_is_the_line_of_its_slot)
{
    static char text[8192];
    FILE *file = fopen("SPEC.md", "r");
    ck_assert_ptr_nonnull(file);
    bool found = false;
    while (!found && fgets(text, sizeof text, file)) found = strncmp(text, "u9mark1 ", 8) == 0;
    fclose(file);
    ck_assert(found);
    text[strcspn(text, "\n")] = 0;
    ck_assert_str_eq(text, line);
    ck_assert_int_eq(parse(text), U9_OK);
}
END_TEST

START_TEST(a_line_has_room_whatever_the_numbers)
{
    memset(&mark, 0xff, sizeof mark);
    ck_assert_uint_lt(strlen(u9_mark_format(&mark, line)), U9_MARK_LINE_SIZE);
    mark = (u9_mark){.segment = 1, .offset = UINT64_C(1) << 43, .ordinal = UINT64_MAX, .first_ordinal = UINT64_MAX,
                     .time_us = UINT64_MAX};
    ck_assert_int_eq(parse(u9_mark_format(&mark, line)), U9_OK);
}
END_TEST

START_TEST(one_newline_at_its_end_is_passed_over)
{
    char text[U9_MARK_LINE_SIZE + 2];
    snprintf(text, sizeof text, "%s\n", line);
    ck_assert_int_eq(parse(text), U9_OK);
    snprintf(text, sizeof text, "%s\n\n", line);
    ck_assert_int_eq(parse(text), U9_ARG);
    snprintf(text, sizeof text, "%s ", line);
    ck_assert_int_eq(parse(text), U9_ARG);
    snprintf(text, sizeof text, " %s", line);
    ck_assert_int_eq(parse(text), U9_ARG);
}
END_TEST

START_TEST(a_line_cut_anywhere_or_with_any_byte_changed_is_refused)
{
    size_t size = strlen(line);
    for (size_t i = 0; i < size; i++) {
        u9_mark out;
        ck_assert_int_eq(u9_mark_parse(line, i, &out, &fault), U9_ARG);
        for (unsigned bit = 0; bit < 8; bit++) {
            line[i] ^= (char)(1u << bit);
            u9_err err = u9_mark_parse(line, size, &out, &fault);
            ck_assert(err == U9_ARG || (i == 6 && err == U9_VERSION));
            ck_assert_str_eq(fault.rule, "M-7");
            line[i] ^= (char)(1u << bit);
        }
    }
}
END_TEST

START_TEST(a_later_form_of_the_line_is_a_version)
{
    ck_assert_int_eq(parse("u9mark2 of whatever form"), U9_VERSION);
    ck_assert_int_eq(parse("u9mark10 0"), U9_VERSION);
    ck_assert_int_eq(parse("u9mart1 0"), U9_ARG);
    ck_assert_int_eq(parse(""), U9_ARG);
}
END_TEST

/* Puts another text in place of the nth field; the fault names this one. */
static void refused(unsigned nth, const char *text, const char *name)
{
    char forged[2 * U9_MARK_LINE_SIZE];
    const char *at = line;
    for (unsigned i = 0; i < nth; i++) at = strchr(at, ' ') + 1;
    snprintf(forged, sizeof forged, "%.*s%s%s", (int)(at - line), line, text, at + strcspn(at, " "));
    ck_assert_int_eq(parse(forged), U9_ARG);
    ck_assert_msg(strstr(fault.text, name) != NULL, "%s", fault.text);
    ck_assert_uint_eq(fault.offset, (uint64_t)(at - line));
}

START_TEST(each_field_has_one_form_and_is_named_where_it_has_another)
{
    static const struct {
        unsigned nth;
        const char *name;
        bool hex;
    } fields[] = {{1, "log id", true},      {2, "first ordinal", false}, {3, "segment", false}, {4, "boundary", true},
                  {5, "end offset", false}, {6, "end ordinal", false},   {7, "chain", true},    {8, "time", false}};
    static const char *const numbers[] = {"", "00", "01", "+1", "-1", "0x10", "1.", "18446744073709551616", "x"};
    static const char *const hexes[] = {"", "0", "A0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0", "a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a",
                                        "a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a00", "g0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *const *texts = fields[i].hex ? hexes : numbers;
        size_t count = fields[i].hex ? sizeof hexes / sizeof *hexes : sizeof numbers / sizeof *numbers;
        for (size_t k = 0; k < count; k++) refused(fields[i].nth, texts[k], fields[i].name);
    }
    refused(9, "00000000", "check");
    refused(9, "", "check");
}
END_TEST

START_TEST(a_line_that_no_mark_can_have_is_refused_with_its_check_right)
{
    static const u9_mark wrong[] = {{.segment = 0, .offset = 176},
                                    {.segment = 1, .offset = 160},
                                    {.segment = 1, .offset = 177},
                                    {.segment = 1, .offset = (UINT64_C(1) << 43) + 16},
                                    {.segment = 1, .offset = 176, .first_ordinal = 2, .ordinal = 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_int_eq(parse(u9_mark_format(&wrong[i], line)), U9_ARG);
}
END_TEST

Suite *suite_mark_line(void)
{
    Suite *suite = suite_create("mark_line");
    TCase *t = tcase_create("mark_line");
    tcase_add_checked_fixture(t, make_line, NULL);
    tcase_add_test(t, the_example_of_the_specification_is_the_line_of_its_slot);
    tcase_add_test(t, a_line_has_room_whatever_the_numbers);
    tcase_add_test(t, one_newline_at_its_end_is_passed_over);
    tcase_add_test(t, a_line_cut_anywhere_or_with_any_byte_changed_is_refused);
    tcase_add_test(t, a_later_form_of_the_line_is_a_version);
    tcase_add_test(t, each_field_has_one_form_and_is_named_where_it_has_another);
    tcase_add_test(t, a_line_that_no_mark_can_have_is_refused_with_its_check_right);
    suite_add_tcase(suite, t);
    return suite;
}
