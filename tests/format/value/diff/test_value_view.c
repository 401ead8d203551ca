/*
 * tests/format/value/diff/test_value_view.c: what SPEC-values.md says of reading through patches and of
 * reducing (D-8, D-9), and what happens where the value is malformed or memory ends.
 */
#include "tests/format/value/diff/diff_fixture.h"
#include "tests/suites.h"

/* [D-8] */
START_TEST(changed_containers_are_written_in_their_shortest_form_and_others_as_they_are)
{
    expect_change("<41 000b 0002 42 00000001 00000001 81 82>", "(set (1) 5)",
                  "(<42 00000001 00000001 81> 5)");
    expect_change("<41 0010 0002 42 00000001 00000001 81 41 0001 0001 82>", "(set (1 0) 5)",
                  "(<42 00000001 00000001 81> (5))");
    expect_change("<41 0002 0002 81 82>", "(merge () ())", "<41 0002 0002 81 82>");
    expect_change("<47 0000000000000003 0000000000000002 04 01 02>", "(set (0) 5)",
                  "<44 03 02 04 05 02>");
}
END_TEST

/* [D-8] */
START_TEST(an_index_goes_when_its_container_is_changed)
{
    expect_change("<" INDEX "4a 02 81 82>", "(set (1) 5)", "(1 5)");
    expect_change("<" INDEX "44 03 02 00 01 02>", "(append () 5)", "<44 04 03 00 01 02 05>");
    expect_change("(<" INDEX "4a 02 81 82> 3)", "(set (1) 5)", "(<" INDEX "4a 02 81 82> 5)");
    expect_change("(<" INDEX "4a 02 81 82> 3)", "(set (0 1) 5)", "((1 5) 3)");
    expect_change("<" INDEX INDEX "4a 02 81 82>", "(delete (0))", "(2)");
    expect_change("(1)", "(append () <" INDEX "4a 02 81 82>)", "(1 <" INDEX "4a 02 81 82>)");
    fixture f;
    begin(&f, "(1)");
    fine(patch(&f, "(append () <" INDEX "4a 02 81 82>)"));
    fine(patch(&f, "(add (1 1) 5)"));
    expect(&f, "(1 (1 7))");
    finish(&f);
}
END_TEST

/* [D-8] */
START_TEST(what_was_changed_and_changed_back_is_still_changed)
{
    fixture f;
    begin(&f, "<41 0002 0002 81 82>");
    fine(patch(&f, "(insert (0) 7)"));
    fine(patch(&f, "(delete (0))"));
    expect(&f, "(1 2)");
    finish(&f);
}
END_TEST

/* [D-9] Rows: typecode and two elements, a value that fits and the packed form of it, ones that do
 * not. */
static const struct {
    const char *name, *typecode, *a, *b, *fit, *packed, *misfit[4];
    unsigned element; /* bytes */
} typed[] = {
    {"uint8", "00", "01", "02", "255", "ff", {"256", "-1", "1.0", "\"x\""}, 1},
    {"uint16", "01", "0001", "0002", "<07 0000000000000100>", "0100", {"65536", "-1"}, 2},
    {"uint32", "02", "00000001", "00000002", "4294967295", "ffffffff", {"4294967296", "-1"}, 4},
    {"uint64",
     "03",
     "0000000000000001",
     "0000000000000002",
     "18446744073709551615",
     "ffffffffffffffff",
     {"-1", "1.0"},
     8},
    {"int8", "04", "01", "fe", "-128", "80", {"128", "-129", "1.0f"}, 1},
    {"int8 top", "04", "01", "fe", "127", "7f", {"200"}, 1},
    {"int16", "05", "0001", "fffe", "-32768", "8000", {"32768", "-32769"}, 2},
    {"int32",
     "06",
     "00000001",
     "fffffffe",
     "-2147483648",
     "80000000",
     {"2147483648", "-2147483649"},
     4},
    {"int64",
     "07",
     "0000000000000001",
     "fffffffffffffffe",
     "<07 8000000000000000>",
     "8000000000000000",
     {"9223372036854775808"},
     8},
    {"float32", "08", "3fc00000", "bfc00000", "1.5f", "3fc00000", {"1.5", "1"}, 4},
    {"float64",
     "09",
     "3ff8000000000000",
     "bff8000000000000",
     "1.5",
     "3ff8000000000000",
     {"1.5f", "1"},
     8},
    {"symbol",
     "0a",
     "6100000000000000",
     "6200000000000000",
     "c",
     "6300000000000000",
     {"\"c\"", "1"},
     8},
    {"pidfd",
     "0b",
     "0000000100000002",
     "0000000300000004",
     "<0b 00000005 00000006>",
     "0000000500000006",
     {"1"},
     8},
    {"tau16",
     "15",
     "0001",
     "0002",
     "<17 000000000000ffff>",
     "ffff",
     {"<16 00010000>", "1", "<14>"},
     2},
    {"tau32", "16", "00000001", "00000002", "<15 0003>", "00000003", {"<17 0000000100000000>"}, 4},
    {"tau64",
     "17",
     "0000000000000001",
     "0000000000000002",
     "<15 0003>",
     "0000000000000003",
     {"1"},
     8},
    {"utf8",
     "18 02",
     "6161",
     "6262",
     "<19 0002 6363>",
     "6363",
     {"\"c\"", "\"ccc\"", "<32 6363>"},
     2},
    {"bytes", "1c 02", "6161", "6262", "<32 6363>", "6363", {"<31 63>", "\"cc\""}, 2},
    {"tuple",
     "40 03",
     "02 81 21 61",
     "03 81 82 83",
     "(<04 05> 1)",
     "02 04 05 81",
     {"(1)", "(1 2 3 4)", "<44 03 02 00 01 02>", "<" INDEX "4a 03 81 00 02>"},
     4},
    {"fixtuple",
     "4a 04",
     "81 22 6f6e",
     "82 22 7570",
     "<41 0004 0002 83 22 7570>",
     "83 22 7570",
     {"(1 2)", "(1 2 3 4)", "(1)", "<" INDEX "4a 04 83 22 7570>"},
     4},
    {"array",
     "44 02 02 00",
     "01 02",
     "03 04",
     "<45 0003 0002 00 05 06>",
     "05 06",
     {"(5 6)", "<44 03 02 04 05 06>", "<44 04 03 00 05 06 07>", "<" INDEX "44 03 02 00 05 06>"},
     2},
};

enum { TYPED = sizeof typed / sizeof typed[0] };

/* `<array>` of the given elements, some of which may be NULL. */
static const char *array_of(size_t i, const char *x, const char *y, const char *z)
{
    static char text[8][512];
    static unsigned turn;
    char *t = text[turn++ % 8];
    unsigned count = (x ? 1u : 0) + (y ? 1u : 0) + (z ? 1u : 0);
    size_t digits = 0;
    for (const char *c = typed[i].typecode; *c; c++) digits += *c != ' ';
    snprintf(t, sizeof text[0], "<44 %02x %02x %s %s %s %s>",
             (unsigned)digits / 2 + count * typed[i].element, count, typed[i].typecode, x ? x : "",
             y ? y : "", z ? z : "");
    return t;
}

/* [D-9] */
START_TEST(a_changed_array_stays_one_while_all_its_elements_fit)
{
    char text[256];
    for (size_t i = 0; i < TYPED; i++) {
        const char *base = array_of(i, typed[i].a, typed[i].b, NULL);
        expect_change(base, "(delete (0))", array_of(i, typed[i].b, NULL, NULL));
        snprintf(text, sizeof text, "(set (0) %s)", typed[i].fit);
        expect_change(base, text, array_of(i, typed[i].packed, typed[i].b, NULL));
        snprintf(text, sizeof text, "(insert (1) %s)", typed[i].fit);
        expect_change(base, text, array_of(i, typed[i].a, typed[i].packed, typed[i].b));
        snprintf(text, sizeof text, "(append () %s)", typed[i].fit);
        expect_change(base, text, array_of(i, typed[i].a, typed[i].b, typed[i].packed));
    }
}
END_TEST

/* [D-9] */
START_TEST(a_changed_array_is_a_tuple_while_an_element_does_not_fit)
{
    char text[256];
    for (size_t i = 0; i < TYPED; i++) {
        const char *base = array_of(i, typed[i].a, typed[i].b, NULL);
        for (size_t k = 0; k < 4 && typed[i].misfit[k]; k++) {
            fixture f;
            begin(&f, base);
            snprintf(text, sizeof text, "(insert (1) %s)", typed[i].misfit[k]);
            fine(patch(&f, text));
            block got = reduce(&f);
            u9_value v = value_of(got), element;
            u9_view root = u9_diff_root(&f.diff);
            ck_assert_msg(v.type == U9_TUPLE && v.count == 3, "%s: %s", typed[i].name,
                          typed[i].misfit[k]);
            expect_reads_as(&root, &v);
            fine(u9_value_at(&v, 1, &element));
            expect_bytes(block_of(element.start, element.encoded), say(typed[i].misfit[k]));
            fine(patch(&f, "(delete (1))"));
            expect(&f, base);
            finish(&f);
        }
    }
}
END_TEST

/* [D-9] [V-7] */
START_TEST(elements_of_an_array_that_becomes_a_tuple_stand_in_their_shortest_form)
{
    expect_change("<44 07 03 05 0001 ff80 0080>", "(append () \"x\")", "(1 -128 128 \"x\")");
    expect_change("<44 0a 02 4a 04 81 22 6f6e 82 22 7570>", "(append () 1)",
                  "(<4a 04 81 22 6f6e> <4a 04 82 22 7570> 1)");
    expect_change("<44 0a 02 40 03 02 81 21 61 03 81 82 83>", "(append () 1)",
                  "((1 \"a\") (1 2 3) 1)");
    expect_change("<44 14 02 44 08 04 05 0001 0002 0003 0004 fffe fffd fffc fffb>", "(set (0) 1)",
                  "(1 <44 09 04 05 fffe fffd fffc fffb>)");
    expect_change("<44 04 02 18 01 61 62>", "(set (0) 1)", "(1 \"b\")");
}
END_TEST

/* [D-9] */
START_TEST(an_array_in_an_array_stays_one_while_it_is_as_long_as_the_others)
{
    fixture f;
    begin(&f, "<44 10 03 44 04 02 05 0001 0002 0003 0004 0005 0006>");
    fine(patch(&f, "(set (1 1) -9)"));
    expect(&f, "<44 10 03 44 04 02 05 0001 0002 0003 fff7 0005 0006>");
    fine(patch(&f, "(append (1) 7)"));
    expect(&f, "(<44 05 02 05 0001 0002> <44 07 03 05 0003 fff7 0007> <44 05 02 05 0005 0006>)");
    fine(patch(&f, "(delete (1 0))"));
    expect(&f, "<44 10 03 44 04 02 05 0001 0002 fff7 0007 0005 0006>");
    fine(patch(&f, "(set (1 0) \"x\")"));
    expect(&f, "(<44 05 02 05 0001 0002> (\"x\" 7) <44 05 02 05 0005 0006>)");
    fine(patch(&f, "(set (1) <44 05 02 05 0008 0009>)"));
    expect(&f, "<44 10 03 44 04 02 05 0001 0002 0008 0009 0005 0006>");
    fine(patch(&f, "(add (1 0) 1)"));
    expect(&f, "<44 10 03 44 04 02 05 0001 0002 0009 0009 0005 0006>");
    fine(patch(&f, "(delete (0))"));
    expect(&f, "<44 0c 02 44 04 02 05 0009 0009 0005 0006>");
    finish(&f);
}
END_TEST

/* [D-9] */
START_TEST(a_tuple_in_an_array_fits_no_more_once_it_is_changed)
{
    expect_change("<44 0a 02 4a 04 81 22 6f6e 82 22 7570>", "(set (0 0) 7)",
                  "((7 \"on\") <4a 04 82 22 7570>)");
}
END_TEST

/* [D-9] [V-10] */
START_TEST(an_array_has_no_more_empty_elements_than_readers_accept)
{
    fixture f;
    begin(&f, "<44 02 fe 18 00>");
    fine(patch(&f, "(append () \"\")"));
    expect(&f, "<44 02 ff 18 00>");
    fine(patch(&f, "(append () \"\")"));
    block got = reduce(&f);
    ck_assert_int_eq(value_of(got).type, U9_TUPLE);
    ck_assert_uint_eq(value_of(got).count, 256);
    fine(patch(&f, "(delete (255))"));
    expect(&f, "<44 02 ff 18 00>");
    finish(&f);
    begin(&f, "<44 05 33 44 00 05 18 00>"); /* 51 arrays of 5 empty texts */
    fine(patch(&f, "(append () <44 02 05 18 00>)"));
    got = reduce(&f);
    ck_assert_int_eq(value_of(got).type, U9_TUPLE);
    ck_assert_uint_eq(value_of(got).count, 52);
    fine(patch(&f, "(delete (0))"));
    expect(&f, "<44 05 33 44 00 05 18 00>");
    finish(&f);
}
END_TEST

/* [D-2] */
START_TEST(what_is_read_through_patches_is_read_like_a_value)
{
    fixture f;
    u9_view view, root;
    u9_value key = value_of(say("b"));
    begin(&f, "((a 1) (b (2 3)) \"text\" <44 03 02 04 01 fe>)");
    expect_at(&f, "(2)", "\"text\"");
    fine(patch(&f, "(insert (0) 7 (8))"));
    fine(patch(&f, "(add ((b) 1 0) 10)"));
    fine(patch(&f, "(append (5) 4)"));
    expect_at(&f, "()", "(7 (8) (a 1) (b (12 3)) \"text\" <44 04 03 04 01 fe 04>)");
    expect_at(&f, "(1 0)", "8");
    expect_at(&f, "((b) 1)", "(12 3)");
    expect_at(&f, "((b) 1 1)", "3");
    expect_at(&f, "((a) 1)", "1");
    expect_at(&f, "(5 1)", "-2");
    expect_at(&f, "(5 2)", "4");
    root = u9_diff_root(&f.diff);
    ck_assert_uint_eq(root.count, 6);
    fine(u9_view_by_key(&root, &key, &view));
    ck_assert(view.changed != NULL && view.type == U9_TUPLE && view.count == 2);
    fine(u9_view_at(&root, 5, &view));
    ck_assert(view.changed != NULL && view.type == U9_ARRAY && view.count == 3);
    fine(u9_view_at(&root, 4, &view));
    ck_assert(view.changed == NULL && view.type == U9_UTF8);
    expect_bytes(block_of(view.value.start, view.value.encoded), say("\"text\""));
    finish(&f);
}
END_TEST

/* ((1 10) (2 20)) behind an index by key that knows but the first. */
#define FORGETFUL \
    "<51 0014 0a 6b00000000000000 44 02 01 00 01 44 03 01 05 0000 4a 08 4a 02 81 8a 4a 02 82 94>"

/* [D-2] [D-8] An index that is wrong shows who uses it. */
START_TEST(reading_goes_by_an_index_while_it_is_there_and_patches_never_do)
{
    fixture f;
    u9_view view;
    begin(&f, FORGETFUL);
    expect_at(&f, "((1) 1)", "10");
    ck_assert_int_eq(get(&f, "((2) 1)", &view), U9_ABSENT);
    ck_assert_int_eq(patch(&f, "(add ((3) 1) 1)"), U9_ABSENT);
    fine(patch(&f, "(add ((2) 1) 1)"));
    expect_at(&f, "((2) 1)", "21");
    expect(&f, "((1 10) (2 21))");
    finish(&f);
}
END_TEST

/* [D-2] */
START_TEST(what_is_not_there_is_not_read)
{
    fixture f;
    u9_view root, view = {.count = 77};
    u9_value key = value_of(say("c"));
    begin(&f, "((a 1) 2)");
    for (unsigned changed = 0; changed < 2; changed++) {
        ck_assert_int_eq(get(&f, "(2)", &view), U9_ABSENT);
        ck_assert_int_eq(get(&f, "((c))", &view), U9_ABSENT);
        ck_assert_int_eq(get(&f, "(1 0)", &view), U9_ABSENT);
        ck_assert_int_eq(get(&f, "(-1)", &view), U9_ARG);
        ck_assert_int_eq(get(&f, "\"a\"", &view), U9_ARG);
        root = u9_diff_root(&f.diff);
        ck_assert_int_eq(u9_view_at(&root, 2, &view), U9_END);
        ck_assert_int_eq(u9_view_by_key(&root, &key, &view), U9_ABSENT);
        ck_assert_uint_eq(view.count, 77);
        u9_view number;
        fine(u9_view_at(&root, 1, &number));
        ck_assert_int_eq(u9_view_at(&number, 0, &view), U9_ARG);
        ck_assert_int_eq(u9_view_by_key(&number, &key, &view), U9_ARG);
        u9_view_walk walk = u9_view_elements(&number);
        ck_assert_int_eq(u9_view_next(&walk, &view), U9_END);
        fine(patch(&f, "(set ((a) 1) 5)"));
    }
    finish(&f);
}
END_TEST

START_TEST(a_changed_container_taken_for_a_value_is_an_empty_tuple)
{
    fixture f;
    u9_value element;
    begin(&f, "<44 03 02 00 01 02>");
    fine(patch(&f, "(append () 3)"));
    u9_view root = u9_diff_root(&f.diff);
    u9_walk walk = u9_walk_elements(&root.value);
    ck_assert_int_eq(u9_walk_next(&walk, &element), U9_END);
    ck_assert_int_eq(u9_value_at(&root.value, 0, &element), U9_END);
    finish(&f);
}
END_TEST

START_TEST(views_are_equal_to_the_values_that_they_read_as_and_to_no_others)
{
    static const char *const others[] = {
        "(1 (2 4) 6)", "(1 (2 4) 5 6)", "(1 (2) 5)", "(1 2 5)", "1", "()"};
    fixture f;
    begin(&f, "(1 (2 3) 5)");
    fine(patch(&f, "(set (1 1) 4)"));
    u9_view root = u9_diff_root(&f.diff);
    u9_value v = value_of(say("(1 <44 03 02 00 02 04> <01 0005>)"));
    ck_assert(u9_view_equals(&root, &v));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        v = value_of(say(others[i]));
        ck_assert_msg(!u9_view_equals(&root, &v), "%s", others[i]);
    }
    finish(&f);
}
END_TEST

/* [D-8] */
START_TEST(a_part_of_the_value_is_reduced_alone)
{
    fixture f;
    u9_view view;
    begin(&f, "(1 (2 (3)) 5)");
    fine(patch(&f, "(append (1 1) 4)"));
    fine(get(&f, "(1)", &view));
    expect_bytes(reduce_view(&view), say("(2 (3 4))"));
    fine(get(&f, "(0)", &view));
    expect_bytes(reduce_view(&view), say("1"));
    finish(&f);
}
END_TEST

/* [D-8] */
START_TEST(a_view_is_built_into_what_is_open)
{
    uint8_t room[64];
    fixture f;
    u9_builder b;
    begin(&f, "<44 03 02 00 01 02>");
    fine(patch(&f, "(set (0) 7)"));
    u9_view root = u9_diff_root(&f.diff);
    u9_builder_init(&b, room, sizeof room);
    fine(u9_build_tuple_open(&b));
    fine(u9_view_build(&root, &b));
    fine(u9_build_array_open(&b, "\x44\x02\x02\x00", 4));
    fine(u9_view_build(&root, &b));
    fine(u9_build_array_close(&b));
    fine(u9_build_tuple_close(&b));
    expect_bytes(block_of(room, b.size), say("(<44 03 02 00 07 02> <44 06 01 44 02 02 00 07 02>)"));
    u9_builder_init(&b, room, sizeof room);
    fine(u9_build_array_open(&b, "\x44\x03\x03\x00", 4));
    ck_assert_int_eq(u9_view_build(&root, &b), U9_ARG); /* it wants arrays of three */
    finish(&f);
}
END_TEST

/* [D-8] */
START_TEST(a_base_may_be_a_view_that_has_no_bytes_of_its_own)
{
    fixture f;
    u9_value v, element;
    begin(&f, "<44 08 02 44 02 02 00 01 05 02 06>");
    fine(u9_value_decode(f.base.bytes, f.base.size, &v));
    fine(u9_value_at(&v, 1, &element));
    u9_diff_init(&f.diff, &element, NULL, 0, u9_grow_heap, NULL);
    expect(&f, "<44 03 02 00 02 06>");
    fine(patch(&f, "(append () 7)"));
    expect(&f, "<44 04 03 00 02 06 07>");
    finish(&f);
}
END_TEST

/* [V-8] */
START_TEST(a_view_is_not_built_deeper_than_values_are_read)
{
    static uint8_t room[512];
    fixture f;
    u9_builder b;
    begin(&f, nested(3));
    fine(patch(&f, "(append (0 0) 7)"));
    u9_view root = u9_diff_root(&f.diff);
    for (unsigned open = 61; open <= 62; open++) {
        u9_builder_init(&b, room, sizeof room);
        for (unsigned k = 0; k < open; k++) fine(u9_build_tuple_open(&b));
        ck_assert_int_eq(u9_view_build(&root, &b), open == 61 ? U9_OK : U9_LIMIT);
    }
    finish(&f);
}
END_TEST

/* [V-4] The base is not checked when the diff begins, and what is wrong with it shows where it is
 * touched. */
START_TEST(a_malformed_base_is_refused_where_it_is_touched)
{
    static const struct {
        const char *base, *patch;
        u9_err want;
    } rows[] = {
        {"<4a 02 50 81>", "(set (0) 5)", U9_CORRUPT},
        {"<4a 02 50 81>", "(set ((1)) 5)", U9_CORRUPT},
        {"<4a 02 50 81>", "(merge () ((a)))", U9_CORRUPT},
        {"<4a 02 50 81>", "(append () 1)", U9_OK},
        {"<4c 02 81 82>", "(set (3) 5)", U9_CORRUPT},
        {"<4c 02 81 82>", "(append () 5)", U9_CORRUPT},
        {"<4c 02 81 82>", "(set (0) 5)", U9_CORRUPT},
        {"<4a 06 81 05 0102 0304>", "(set (1) 5)", U9_OK},
        {"<4b 04 81 05 0001>", "(merge () ((a 1)))", U9_CORRUPT},
        {"<4b 04 81 05 0001>", "(insert (2) 5)", U9_CORRUPT},
        {"<4b 04 81 05 0001>", "(insert (1) 5)", U9_OK},
        {"<49 02 1a 00>", "(add (0) 5)", U9_TORN},
        {"<43 0000000000000002 ffffffffffffffff 81 82>", "(append () 1)", U9_CORRUPT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture f;
        u9_builder b;
        uint8_t room[256];
        begin(&f, rows[i].base);
        u9_err err = patch(&f, rows[i].patch);
        ck_assert_msg(err == rows[i].want, "row %zu: %s", i, u9_err_name(err));
        u9_view root = u9_diff_root(&f.diff);
        u9_builder_init(&b, room, sizeof room);
        fine(u9_view_build(&root, &b));
        if (err) expect_bytes(block_of(room, b.size), f.base);
        if (err) ck_assert_str_eq(f.fault.rule, "V-4");
        finish(&f);
    }
}
END_TEST

/* [V-4] */
START_TEST(fewer_elements_than_claimed_are_corrupt_and_bytes_behind_the_last_are_left_out)
{
    fixture f;
    u9_view view;
    uint8_t room[64];
    u9_builder b;
    begin(&f, "<4c 04 81 82 00 05>"); /* 3 elements, not 4 */
    fine(patch(&f, "(set (0) 7)"));
    u9_view root = u9_diff_root(&f.diff);
    fine(u9_view_at(&root, 2, &view));
    ck_assert_int_eq(u9_view_at(&root, 3, &view), U9_CORRUPT);
    u9_view_walk walk = u9_view_elements(&root);
    for (unsigned k = 0; k < 3; k++) fine(u9_view_next(&walk, &view));
    ck_assert_int_eq(u9_view_next(&walk, &view), U9_CORRUPT);
    ck_assert_int_eq(patch(&f, "(set (3) 7)"), U9_CORRUPT);
    finish(&f);
    begin(&f, "<4a 06 81 05 0102 0304>"); /* 3 elements, not 2 */
    fine(patch(&f, "(set (1) 5)"));
    root = u9_diff_root(&f.diff);
    u9_builder_init(&b, room, sizeof room);
    fine(u9_view_build(&root, &b));
    expect_bytes(block_of(room, b.size), say("(1 5)"));
    finish(&f);
}
END_TEST

/* [D-6] */
START_TEST(without_memory_a_patch_changes_nothing)
{
    static char big[6][5000];
    static const char *const forms[] = {"(set (0) \"%s\")",    "(append () 1 \"%s\")",
                                        "(insert (1) \"%s\")", "(merge () ((a \"%s\")))",
                                        "(wrap (0) \"%s\")",   "(set () \"%s\")"};
    char text[4000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (unsigned i = 0; i < 6; i++) snprintf(big[i], sizeof big[i], forms[i], text);
    unsigned failed = 0;
    for (unsigned allowed = 0; allowed < 6; allowed++) {
        fixture f;
        call c;
        miser m = {.allowed = allowed};
        begin_with_reducers(&f, "((1) 2)", &c);
        f.diff.grow = grow_miser;
        f.diff.grow_ctx = &m;
        for (unsigned i = 0; i < 6; i++) {
            block before = reduce(&f);
            u9_err err = patch(&f, big[i]);
            ck_assert(err == U9_OK || err == U9_NOMEM);
            if (err) expect_bytes(reduce(&f), before);
            if (err) ck_assert(f.fault.err == U9_NOMEM);
            failed += err != U9_OK;
        }
        finish(&f);
    }
    ck_assert_uint_gt(failed, 6);
}
END_TEST

START_TEST(a_callers_memory_is_used_first_and_alone_if_nothing_grows)
{
    uint8_t memory[3001];
    fixture f;
    u9_value v;
    unsigned applied = 0;
    begin(&f, "(1)");
    fine(u9_value_decode(f.base.bytes, f.base.size, &v));
    u9_diff_init(&f.diff, &v, memory + 1, sizeof memory - 1, NULL, NULL);
    u9_err err;
    while ((err = patch(&f, "(append () \"fifteen letters\")")) == U9_OK) applied++;
    ck_assert_int_eq(err, U9_NOMEM);
    ck_assert_uint_gt(applied, 10);
    u9_view root = u9_diff_root(&f.diff);
    ck_assert_uint_eq(root.count, 1 + applied);
    f.diff.grow = u9_grow_heap;
    for (unsigned k = 0; k < 100; k++) fine(patch(&f, "(append () \"fifteen letters\")"));
    ck_assert_uint_eq(f.diff.chunks, 3);
    root = u9_diff_root(&f.diff);
    ck_assert_uint_eq(root.count, 101 + applied);
    finish(&f);
}
END_TEST

/* [D-6] The room that is reserved is what is taken. */
START_TEST(whatever_memory_there_is_a_patch_goes_through_or_does_not_begin)
{
    static const char *const patches[] = {
        "(set (0 1 1 1) \"text\")",
        "(delete (0 1 1 1))",
        "(insert (0 1 1 1) 1 2 3 4 5)",
        "(append (0 1 1) 1 2 3 4 5)",
        "(add (0 1 1 1) 5)",
        "(merge (0 1 1) ((1 1) (2 2) (3 3) (4 4) (x)))",
        "(wrap (0 1 1 1) 5 6)",
        "(wrap (0 1 1 9))",
        "(merge (0 1 1) ((x) (y) (z)))",
        "(append () 1 2 3 4 5 6 7)",
        "(append () 1)",
        "(merge () ((x)))",
    };
    static uint8_t memory[6000];
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
        unsigned applied = 0;
        for (size_t size = 0; size < sizeof memory; size += 8) {
            fixture f;
            call c;
            u9_value v;
            begin_with_reducers(&f, "((1 (2 ((1) 0 (2) (3) (4) 0 0 0 0) 3) 4) 5)", &c);
            fine(u9_value_decode(f.base.bytes, f.base.size, &v));
            const u9_reducer *list = f.diff.reducers;
            u9_diff_init(&f.diff, &v, memory, size, NULL, NULL);
            fine(u9_diff_register(&f.diff, list, 7));
            u9_err err = patch(&f, patches[i]);
            ck_assert(err == U9_OK || err == U9_NOMEM);
            if (err == U9_NOMEM) ck_assert_uint_eq(applied, 0);
            if (err == U9_NOMEM) ck_assert(f.diff.used == 0 && f.diff.patches == 0);
            applied += err == U9_OK;
            finish(&f);
            forget_blocks();
        }
        ck_assert_uint_gt(applied, 0);
    }
}
END_TEST

START_TEST(a_reset_diff_uses_its_memory_again)
{
    fixture f;
    u9_value v;
    begin(&f, "(1)");
    fine(u9_value_decode(f.base.bytes, f.base.size, &v));
    unsigned chunks = 0;
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned k = 0; k < 200; k++) fine(patch(&f, "(append () 5)"));
        if (round == 0) chunks = f.diff.chunks;
        ck_assert_uint_eq(f.diff.chunks, chunks);
        ck_assert_uint_eq(f.diff.patches, 200);
        u9_diff_reset(&f.diff, &v);
        ck_assert_uint_eq(f.diff.patches, 0);
        expect(&f, "(1)");
    }
    ck_assert_uint_gt(chunks, 1);
    finish(&f);
}
END_TEST

START_TEST(views_stay_safe_while_patches_come)
{
    fixture f;
    u9_view old, element;
    begin(&f, "(1 2)");
    fine(patch(&f, "(set (0) \"a text that lies in the memory of the diff\")"));
    fine(get(&f, "(0)", &old));
    for (unsigned k = 0; k < 1000; k++) fine(patch(&f, "(insert (0) (5 6))"));
    fine(patch(&f, "(delete (1000))"));
    u9_value v = value_of(say("\"a text that lies in the memory of the diff\""));
    ck_assert(u9_view_equals(&old, &v));
    u9_view root = u9_diff_root(&f.diff);
    fine(u9_view_at(&root, 1000, &element));
    ck_assert_uint_eq(element.value.u, 2);
    finish(&f);
}
END_TEST

Suite *suite_value_view(void)
{
    Suite *s = suite_create("value_view");
    TCase *t = tcase_create("views");
    tcase_add_checked_fixture(t, NULL, forget_blocks);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, changed_containers_are_written_in_their_shortest_form_and_others_as_they_are);
    tcase_add_test(t, an_index_goes_when_its_container_is_changed);
    tcase_add_test(t, what_was_changed_and_changed_back_is_still_changed);
    tcase_add_test(t, a_changed_array_stays_one_while_all_its_elements_fit);
    tcase_add_test(t, a_changed_array_is_a_tuple_while_an_element_does_not_fit);
    tcase_add_test(t, elements_of_an_array_that_becomes_a_tuple_stand_in_their_shortest_form);
    tcase_add_test(t, an_array_in_an_array_stays_one_while_it_is_as_long_as_the_others);
    tcase_add_test(t, a_tuple_in_an_array_fits_no_more_once_it_is_changed);
    tcase_add_test(t, an_array_has_no_more_empty_elements_than_readers_accept);
    tcase_add_test(t, what_is_read_through_patches_is_read_like_a_value);
    tcase_add_test(t, reading_goes_by_an_index_while_it_is_there_and_patches_never_do);
    tcase_add_test(t, what_is_not_there_is_not_read);
    tcase_add_test(t, a_changed_container_taken_for_a_value_is_an_empty_tuple);
    tcase_add_test(t, views_are_equal_to_the_values_that_they_read_as_and_to_no_others);
    tcase_add_test(t, a_part_of_the_value_is_reduced_alone);
    tcase_add_test(t, a_view_is_built_into_what_is_open);
    tcase_add_test(t, a_base_may_be_a_view_that_has_no_bytes_of_its_own);
    tcase_add_test(t, a_view_is_not_built_deeper_than_values_are_read);
    tcase_add_test(t, a_malformed_base_is_refused_where_it_is_touched);
    tcase_add_test(t,
                   fewer_elements_than_claimed_are_corrupt_and_bytes_behind_the_last_are_left_out);
    tcase_add_test(t, without_memory_a_patch_changes_nothing);
    tcase_add_test(t, a_callers_memory_is_used_first_and_alone_if_nothing_grows);
    tcase_add_test(t, whatever_memory_there_is_a_patch_goes_through_or_does_not_begin);
    tcase_add_test(t, a_reset_diff_uses_its_memory_again);
    tcase_add_test(t, views_stay_safe_while_patches_come);
    suite_add_tcase(s, t);
    return s;
}
