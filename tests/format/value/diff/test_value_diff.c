/*
 * tests/format/value/diff/test_value_diff.c: what SPEC-values.md says of patches (D-1 to D-7): their form,
 * where they lead, what they do, what is refused.
 */
#include "tests/format/value/diff/diff_fixture.h"
#include "tests/suites.h"

/* [D-1] */
START_TEST(a_patch_is_a_tuple_of_op_and_path_and_arguments)
{
    expect_refused("(1)", "7", U9_ARG, "D-1");
    expect_refused("(1)", "()", U9_ARG, "D-1");
    expect_refused("(1)", "(set)", U9_ARG, "D-1");
    expect_refused("(1)", "(\"set\" () 1)", U9_ARG, "D-1");
    expect_refused("(1)", "(set 0 1)", U9_ARG, "D-1");
    expect_refused("(1)", "<44 11 02 0a 7365740000000000 7365740000000000>", U9_ARG, "D-1");
}
END_TEST

/* [D-1] */
START_TEST(an_op_that_nobody_has_registered_is_refused)
{
    expect_refused("(1)", "(Set () 1)", U9_ARG, "D-1");
    expect_refused("(1)", "(sets () 1)", U9_ARG, "D-1");
    expect_refused("(1)", "(se () 1)", U9_ARG, "D-1");
}
END_TEST

/* [D-1] [V-8] */
START_TEST(a_patch_is_proved_before_it_is_used)
{
    block whole = say("(set (0) (5 6))");
    for (size_t cut = 0; cut < whole.size; cut++)
        expect_refused_bytes("(1)", block_of(whole.bytes, cut), U9_TORN, "V-8");
    block long_arg = say("(set (0) (5 6))");
    long_arg.bytes[long_arg.size - 3]++; /* the length of (5 6) */
    expect_refused_bytes("(1)", long_arg, U9_CORRUPT, "V-4");
    uint8_t two[64];
    memcpy(two, whole.bytes, whole.size);
    two[whole.size] = 0x85;
    expect_refused_bytes("(1)", block_of(two, whole.size + 1), U9_CORRUPT, "V-8");
}
END_TEST

/* [D-1] */
START_TEST(a_path_has_at_most_64_steps)
{
    fixture f;
    u9_view view;
    block path;
    u9_value v;
    expect_refused(nested(64), deep_patch("set", 65, "1"), U9_LIMIT, "D-1");
    expect_change(nested(64), deep_patch("insert", 64, "1"), nest(64, "1"));
    begin(&f, nested(64));
    path = say(deep_patch("x", 65, ""));
    v = value_of(path);
    fine(u9_value_at(&v, 1, &v));
    ck_assert_int_eq(u9_diff_get(&f.diff, &v, &view), U9_ABSENT);
    finish(&f);
}
END_TEST

/* [D-2] */
START_TEST(a_step_is_a_position)
{
    expect_change("(1 2 3)", "(set (0) 9)", "(9 2 3)");
    expect_change("(1 2 3)", "(set (2) 9)", "(1 2 9)");
    expect_change("(1 (2 (3 4)) 5)", "(set (1 1 0) 9)", "(1 (2 (9 4)) 5)");
    expect_change("(1 2 3)", "(set (<04 01>) 9)", "(1 9 3)");
    expect_change("(1 (2 (3 4)) 5)", "(set <44 04 03 00 01 01 00> 9)", "(1 (2 (9 4)) 5)");
}
END_TEST

/* [D-2] [O-2] */
START_TEST(a_step_is_a_key_in_a_tuple_or_array)
{
    expect_change("((a 1) (b 2))", "(set ((b) 1) 9)", "((a 1) (b 9))");
    expect_change("(7 \"b\" (b 2))", "(set ((b)) 9)", "(7 \"b\" 9)");
    expect_change("(() (3 1) (3 2))", "(set ((3) 1) 9)", "(() (3 9) (3 2))");
    expect_change("((3 1))", "(set (<44 09 01 07 0000000000000003> 1) 9)", "((3 9))");
    expect_change("((<01 0003> 1))", "(set ((<04 03>) 1) 9)", "((<01 0003> 9))");
    expect_change("(((1 2) 5))", "(set ((<44 03 02 00 01 02>) 1) 9)", "(((1 2) 9))");
    expect_change("(<44 03 02 00 07 08>)", "(set ((7)) 9)", "(9)");
}
END_TEST

/* [D-2] */
START_TEST(keys_are_looked_for_in_what_the_patches_have_left)
{
    fixture f;
    begin(&f, "((a 1) (b 2) ((x y) 3))");
    fine(patch(&f, "(set ((a) 0) c)"));
    ck_assert_int_eq(patch(&f, "(set ((a) 1) 9)"), U9_ABSENT);
    fine(patch(&f, "(set ((c) 1) 9)"));
    fine(patch(&f, "(set (2 0 1) z)"));
    fine(patch(&f, "(set (((x z)) 1) 8)"));
    ck_assert_int_eq(patch(&f, "(set (((x y)) 1) 8)"), U9_ABSENT);
    ck_assert_int_eq(patch(&f, "(set (((x z z)) 1) 8)"), U9_ABSENT);
    expect(&f, "((c 9) (b 2) ((x z) 8))");
    finish(&f);
}
END_TEST

/* [D-2] */
/* The index says that element 0 is behind the last byte. [D-2] [V-6] */
START_TEST(a_wrong_index_in_front_of_a_key_step_means_nothing)
{
    static const uint8_t set[] = {
        0x4b, 0x3c, 0x0a, 0x73, 0x65, 0x74, 0x00, 0x00, 0x00, 0x00, 0x00, 0x49, 0x30, 0x53, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x23, 0x0a, 0x69, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x44,
        0x09, 0x01, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46, 0x00, 0x00, 0x00, 0x05,
        0x00, 0x00, 0x00, 0x01, 0x06, 0xff, 0xff, 0xff, 0xff, 0x40, 0x01, 0x01, 0x83, 0x8a};
    fixture f;
    begin(&f, "((3))");
    fine(u9_diff_apply(&f.diff, set, sizeof set, &f.fault));
    expect_bytes(reduce(&f), say("(10)"));
    finish(&f);
}
END_TEST

START_TEST(what_is_neither_position_nor_key_is_no_step)
{
    expect_refused("(1 2)", "(set (-1) 9)", U9_ARG, "D-2");
    expect_refused("(1 2)", "(set (\"1\") 9)", U9_ARG, "D-2");
    expect_refused("(1 2)", "(set (1.0) 9)", U9_ARG, "D-2");
    expect_refused("(1 2)", "(set (()) 9)", U9_ARG, "D-2");
    expect_refused("(1 2)", "(set ((1 2)) 9)", U9_ARG, "D-2");
    expect_refused("(1 2)", "(set (1 a) 9)", U9_ARG, "D-2");
}
END_TEST

/* [D-2] */
START_TEST(a_path_that_leads_to_nothing_is_refused)
{
    static const char *const patches[] = {
        "(set (2) 9)",      "(set (3) 9)",      "(set (18446744073709551615) 9)",
        "(set ((b)) 9)",    "(set (0 0) 9)",    "(set (0 (a)) 9)",
        "(set (2 0) 9)",    "(set ((b) 1) 9)",  "(delete (2))",
        "(delete (1 2))",   "(add (3) 1)",      "(append (2) 1)",
        "(insert (3) 9)",   "(insert ((b)) 9)", "(insert (0 0) 9)",
        "(merge (2) ())",   "(insert (2 0) 9)", "(insert ((b) 0) 9)",
        "(merge ((b)) ())", "(add ((b)) 1)",    "(min ((b)) 1)",
        "(or ((b)) 1)",     "(concat ((b)) 1)", "(concat ((b)) ())",
        "(cut (2) 0 0)",    "(cas (2) 1 1)",    "(prepend (2) 1)",
        "(move (2) (0))",   "(move (0) (3))",   "(move (0) ((b)))",
    };
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++)
        expect_refused("(1 (a 2))", patches[i], U9_ABSENT, "D-2");
}
END_TEST

/* [D-3] */
START_TEST(set_replaces)
{
    expect_change("(1 2 3)", "(set (1) (4 5))", "(1 (4 5) 3)");
    expect_change("(1 2 3)", "(set () 7)", "7");
    expect_change("7", "(set () (1 2))", "(1 2)");
}
END_TEST

/* [D-3] */
START_TEST(delete_removes)
{
    expect_change("(1 2 3)", "(delete (0))", "(2 3)");
    expect_change("(1 2 3)", "(delete (1))", "(1 3)");
    expect_change("(1 2 3)", "(delete (2))", "(1 2)");
    expect_change("(1)", "(delete (0))", "()");
    expect_change("(1 (2 3))", "(delete (1 0))", "(1 (3))");
    expect_change("((a 1) (b 2))", "(delete ((b)))", "((a 1))");
    expect_refused("(1)", "(delete ())", U9_ARG, "D-3");
}
END_TEST

/* [D-3] */
START_TEST(insert_puts_in_front)
{
    expect_change("(1 2 3)", "(insert (0) 9)", "(9 1 2 3)");
    expect_change("(1 2 3)", "(insert (1) 8 9)", "(1 8 9 2 3)");
    expect_change("(1 2 3)", "(insert (3) 9)", "(1 2 3 9)");
    expect_change("()", "(insert (0) 9)", "(9)");
    expect_change("((a 1) (b 2))", "(insert ((b)) 9)", "((a 1) 9 (b 2))");
    expect_change("((a 1) (b 2))", "(insert ((b) 1) 9)", "((a 1) (b 9 2))");
    expect_refused("(1)", "(insert () 9)", U9_ARG, "D-3");
}
END_TEST

/* [D-3] */
START_TEST(append_puts_behind_the_last_element)
{
    expect_change("(1 2)", "(append () 3)", "(1 2 3)");
    expect_change("()", "(append () 3 4)", "(3 4)");
    expect_change("(1 (2))", "(append (1) (3) 4)", "(1 (2 (3) 4))");
    expect_refused("(1)", "(append (0) 2)", U9_ARG, "D-3");
    expect_refused("\"x\"", "(append () 2)", U9_ARG, "D-3");
}
END_TEST

/* [D-3] */
START_TEST(an_op_has_its_number_of_arguments)
{
    static const char *const patches[] = {
        "(set (0))", "(set (0) 1 2)", "(delete (0) 1)", "(insert (0))",     "(append ())",
        "(add (0))", "(add (0) 1 2)", "(merge ())",     "(merge () () ())",
    };
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++)
        expect_refused("(1)", patches[i], U9_ARG, "D-3");
}
END_TEST

/* [D-3] [D-8] */
START_TEST(values_are_taken_byte_for_byte)
{
    expect_change("(1 2)", "(set (0) <01 0005>)", "(<01 0005> 2)");
    expect_change("(1 2)", "(append () <41 0001 0001 85> <19 0001 61>)",
                  "(1 2 <41 0001 0001 85> <19 0001 61>)");
    expect_change("1", "(set () <43 0000000000000001 0000000000000001 80>)",
                  "<43 0000000000000001 0000000000000001 80>");
}
END_TEST

/* [D-4] */
START_TEST(integers_add_up_in_one_domain)
{
    expect_change("(5)", "(add (0) 7)", "(12)");
    expect_change("5", "(add () -7)", "-2");
    expect_change("(-5)", "(add (0) 5)", "(0)");
    expect_change("(<06 00000001>)", "(add (0) <07 0000000000000001>)", "(2)");
    expect_change("(200)", "(add (0) 100)", "(300)");
    expect_change("(18446744073709551615)", "(add (0) -1)", "(18446744073709551614)");
    expect_change("(18446744073709551615)", "(add (0) <07 8000000000000000>)",
                  "(9223372036854775807)");
    expect_change("(<07 8000000000000000>)", "(add (0) 18446744073709551615)",
                  "(9223372036854775807)");
    expect_change("(<07 8000000000000001>)", "(add (0) -1)", "(<07 8000000000000000>)");
    expect_change("(18446744073709551614)", "(add (0) 1)", "(18446744073709551615)");
    expect_change("(3)", "(add (0) -4)", "(-1)");
    expect_change("(-4)", "(add (0) 3)", "(-1)");
}
END_TEST

/* [D-4] */
START_TEST(a_sum_outside_all_integers_is_refused)
{
    expect_refused("(18446744073709551615)", "(add (0) 1)", U9_LIMIT, "D-4");
    expect_refused("(<07 8000000000000000>)", "(add (0) -1)", U9_LIMIT, "D-4");
    expect_refused("(<07 8000000000000000>)", "(add (0) <07 8000000000000000>)", U9_LIMIT, "D-4");
    expect_refused("(18446744073709551615)", "(add (0) 18446744073709551615)", U9_LIMIT, "D-4");
}
END_TEST

/* [D-4] */
START_TEST(floats_add_up_to_the_type_that_was_there)
{
    expect_change("(1.5)", "(add (0) 0.25)", "(1.75)");
    expect_change("(1.5)", "(add (0) 0.25f)", "(1.75)");
    expect_change("(1.5f)", "(add (0) 0.25)", "(1.75f)");
    expect_change("(<08 7f7fffff>)", "(add (0) <08 7f7fffff>)", "(<08 7f800000>)");
    expect_change("(16777216.f)", "(add (0) 1.f)", "(16777216.f)");
}
END_TEST

/* [D-4] */
START_TEST(every_nan_that_is_a_sum_is_the_same_one)
{
    expect_change("(<09 7ff0000000000000>)", "(add (0) <09 fff0000000000000>)",
                  "(<09 7ff8000000000000>)");
    expect_change("(<09 fff8000000000123>)", "(add (0) 1.0)", "(<09 7ff8000000000000>)");
    expect_change("(<08 ffc00001>)", "(add (0) 1.0)", "(<08 7fc00000>)");
}
END_TEST

/* [D-4] */
START_TEST(nothing_else_adds_up)
{
    static const char *const numbers[] = {"1", "1.5", "1.5f"};
    static const char *const others[] = {"\"1\"", "one", "(1)", "<14>", "<15 0001>", "<31 01>"};
    char base[64], text[64];
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 6; k++) {
            snprintf(base, sizeof base, "(%s)", others[k]);
            snprintf(text, sizeof text, "(add (0) %s)", numbers[i]);
            expect_refused(base, text, U9_ARG, "D-4");
            snprintf(base, sizeof base, "(%s)", numbers[i]);
            snprintf(text, sizeof text, "(add (0) %s)", others[k]);
            expect_refused(base, text, U9_ARG, "D-4");
        }
    }
    expect_refused("(1)", "(add (0) 1.5)", U9_ARG, "D-4");
    expect_refused("(1.5)", "(add (0) 1)", U9_ARG, "D-4");
}
END_TEST

/* [D-4] */
START_TEST(a_container_that_was_changed_does_not_add_up_either)
{
    fixture f;
    begin(&f, "((1) 2)");
    fine(patch(&f, "(append (0) 2)"));
    ck_assert_int_eq(patch(&f, "(add (0) 2)"), U9_ARG);
    expect(&f, "((1 2) 2)");
    finish(&f);
}
END_TEST

/* [D-4] */
START_TEST(plus_is_add)
{
    expect_change("(5)", "(+ (0) 5)", "(10)");
    expect_change("(1.5)", "(+ (0) -1.0)", "(0.5)");
    expect_refused("(a)", "(+ (0) 5)", U9_ARG, "D-4");
}
END_TEST

/* [D-3] What an op was done to there changes nothing. */
START_TEST(behind_the_last_element_some_ops_begin_with_their_argument)
{
    static const char *const ops[] = {"add", "+", "min", "max", "and", "&", "or", "|", "xor", "^"};
    char text[64];
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        snprintf(text, sizeof text, "(%s (1) <01 0007>)", ops[i]);
        expect_change("(a)", text, "(a <01 0007>)");
        snprintf(text, sizeof text, "(%s (1) ())", ops[i]);
        expect_refused("(a)", text, U9_ARG, i < 2 ? "D-4" : "D-12");
    }
    expect_change("()", "(concat (0) \"x\")", "(\"x\")");
    expect_change("()", "(concat (0) (1 2))", "((1 2))");
    expect_refused("()", "(concat (0) 1)", U9_ARG, "D-11");
}
END_TEST

/* [D-11] */
START_TEST(prepend_puts_in_front_of_the_first_element)
{
    expect_change("(1 2)", "(prepend () 8 9)", "(8 9 1 2)");
    expect_change("(1 ())", "(prepend (1) (3))", "(1 ((3)))");
    expect_change("<44 03 02 04 01 fe>", "(prepend () 5)", "<44 04 03 04 05 01 fe>");
    expect_refused("(1)", "(prepend (0) 2)", U9_ARG, "D-3");
}
END_TEST

/* [D-11] */
START_TEST(concat_joins_what_is_of_one_kind)
{
    expect_change("(\"ab\")", "(concat (0) \"cd\")", "(\"abcd\")");
    expect_change("(\"\")", "(concat (0) \"\")", "(\"\")");
    expect_change("\"0123456789\"", "(concat () \"abcdef\")", "<18 10 30313233343536373839 616263646566>");
    expect_change("<31 01>", "(concat () <32 0203>)", "<33 010203>");
    expect_change("(1 (2))", "(concat (1) (3 (4)))", "(1 (2 3 (4)))");
    expect_change("((1))", "(concat (0) ())", "((1))");
    expect_change("(1)", "(concat () <44 05 02 01 0007 0008>)", "(1 7 8)");
    expect_change("<44 03 02 04 01 fe>", "(concat () (5 6))", "<44 05 04 04 01 fe 05 06>");
    expect_refused("(\"ab\")", "(concat (0) <31 01>)", U9_ARG, "D-11");
    expect_refused("(\"ab\")", "(concat (0) (1))", U9_ARG, "D-3");
    expect_refused("((1))", "(concat (0) \"x\")", U9_ARG, "D-11");
    expect_refused("(1)", "(concat (0) 1)", U9_ARG, "D-11");
}
END_TEST

/* [D-11] */
START_TEST(cut_takes_out_a_range)
{
    expect_change("(1 2 3 4 5)", "(cut () 1 3)", "(1 4 5)");
    expect_change("(1 2 3)", "(cut () 0 3)", "()");
    expect_change("(1 2 3)", "(cut () 3 3)", "(1 2 3)");
    expect_change("<44 04 03 04 01 fe 07>", "(cut () 0 2)", "<44 02 01 04 07>");
    expect_change("(\"hello\")", "(cut (0) 1 4)", "(\"ho\")");
    expect_change("<33 010203>", "(cut () 2 3)", "<32 0102>");
    expect_change("<23 61c3a4>", "(cut () 0 1)", "<22 c3a4>");
    expect_refused("<23 61c3a4>", "(cut () 0 2)", U9_ARG, "D-11");
    expect_refused("<23 c3a461>", "(cut () 1 3)", U9_ARG, "D-11");
    expect_change("<33 61c3a4>", "(cut () 0 2)", "<31 a4>");
    expect_refused("(1 2)", "(cut () 1 3)", U9_ARG, "D-11");
    expect_refused("(1 2)", "(cut () 2 1)", U9_ARG, "D-11");
    expect_refused("(1 2)", "(cut () -1 1)", U9_ARG, "D-11");
    expect_refused("(1 2)", "(cut () a 1)", U9_ARG, "D-11");
    expect_refused("(1 2)", "(cut (0) 0 0)", U9_ARG, "D-11");
}
END_TEST

/* [D-11] Across what other patches have left. */
START_TEST(cut_goes_through_changed_elements)
{
    fixture f;
    begin(&f, "(0 1 2 (3) 4 5 6 7)");
    fine(patch(&f, "(append (3) 9)"));
    fine(patch(&f, "(set (5) x)"));
    fine(patch(&f, "(insert (2) y)"));
    fine(patch(&f, "(cut () 1 7)"));
    expect(&f, "(0 6 7)");
    fine(patch(&f, "(insert (1) z)"));
    fine(patch(&f, "(cut () 0 1)"));
    expect(&f, "(z 6 7)");
    finish(&f);
}
END_TEST

/* [D-12] [O-2] */
START_TEST(min_and_max_keep_one_of_two)
{
    expect_change("(5)", "(min (0) 3)", "(3)");
    expect_change("(5)", "(max (0) 3)", "(5)");
    expect_change("(5)", "(max (0) 7)", "(7)");
    expect_change("(-1)", "(max (0) 18446744073709551615)", "(18446744073709551615)");
    expect_change("(5)", "(min (0) <01 0005>)", "(5)");
    expect_change("(1.5)", "(max (0) 2.5f)", "(2.5f)");
    expect_change("(1.5)", "(max (0) <09 7ff8000000000000>)", "(<09 7ff8000000000000>)");
    expect_change("(\"b\")", "(min (0) \"a\")", "(\"a\")");
    expect_change("(a)", "(max (0) b)", "(b)");
    expect_refused("(5)", "(min (0) 3.0)", U9_ARG, "D-12");
    expect_refused("(5)", "(min (0) (3))", U9_ARG, "D-12");
    expect_refused("((5))", "(min (0) 3)", U9_ARG, "D-12");
    expect_refused("(\"5\")", "(max (0) <31 35>)", U9_ARG, "D-12");
}
END_TEST

/* [D-12] */
START_TEST(bits_of_integers_combine_as_if_there_were_enough_of_them)
{
    expect_change("(12)", "(and (0) 10)", "(8)");
    expect_change("(12)", "(or (0) 10)", "(14)");
    expect_change("(12)", "(xor (0) 10)", "(6)");
    expect_change("(12)", "(& (0) 10)", "(8)");
    expect_change("(12)", "(| (0) 10)", "(14)");
    expect_change("(12)", "(^ (0) 10)", "(6)");
    expect_change("(-1)", "(and (0) 18446744073709551615)", "(18446744073709551615)");
    expect_change("(-4)", "(or (0) 1)", "(-3)");
    expect_change("(<07 8000000000000000>)", "(or (0) 18446744073709551615)", "(-1)");
    expect_change("(-1)", "(xor (0) 5)", "(-6)");
    expect_refused("(-1)", "(xor (0) 18446744073709551615)", U9_LIMIT, "D-12");
    expect_change("(<01 0007>)", "(and (0) -1)", "(7)");
}
END_TEST

/* [D-12] */
START_TEST(bytes_of_one_length_combine)
{
    expect_change("(<32 0ff0>)", "(and (0) <32 3c3c>)", "(<32 0c30>)");
    expect_change("(<32 0ff0>)", "(or (0) <32 3c3c>)", "(<32 3ffc>)");
    expect_change("(<32 0ff0>)", "(xor (0) <32 3c3c>)", "(<32 33cc>)");
    expect_change("(<30>)", "(xor (0) <30>)", "(<30>)");
    expect_refused("(<32 0ff0>)", "(or (0) <31 3c>)", U9_ARG, "D-12");
    expect_refused("(<32 0ff0>)", "(or (0) 1)", U9_ARG, "D-12");
    expect_refused("(1)", "(or (0) <31 01>)", U9_ARG, "D-12");
    expect_refused("(1.0)", "(or (0) 1.0)", U9_ARG, "D-12");
    expect_refused("((1))", "(or (0) 1)", U9_ARG, "D-12");
}
END_TEST

/* [D-13] */
START_TEST(cas_sets_only_where_the_expected_value_is)
{
    expect_change("(5 6)", "(cas (0) <01 0005> 7)", "(7 6)");
    expect_change("((1 2))", "(cas () ((1 2)) x)", "x");
    expect_refused("(5 6)", "(cas (0) 6 7)", U9_AGAIN, "D-13");
    expect_refused("(5 6)", "(cas (0) \"5\" 7)", U9_AGAIN, "D-13");
    fixture f;
    begin(&f, "((1) 2)");
    fine(patch(&f, "(append (0) 2)"));
    fine(patch(&f, "(cas (0) (1 2) 3)"));
    expect(&f, "(3 2)");
    finish(&f);
}
END_TEST

/* [D-14] */
START_TEST(move_takes_a_value_elsewhere)
{
    expect_change("(1 2 3)", "(move (0) (2))", "(2 1 3)");
    expect_change("(1 2 3)", "(move (0) (3))", "(2 3 1)");
    expect_change("(1 2 3)", "(move (2) (0))", "(3 1 2)");
    expect_change("(1 2 3)", "(move (1) (1))", "(1 2 3)");
    expect_change("(1 2 3)", "(move (1) (2))", "(1 2 3)");
    expect_change("(1 (2 3))", "(move (0) (1 1))", "((2 1 3))");
    expect_change("(1 (2 3))", "(move (1 0) (0))", "(2 1 (3))");
    expect_change("((a 1) (b 2))", "(move ((b)) ((a)))", "((b 2) (a 1))");
    expect_change("((a 1) (b 2))", "(move ((a) 1) ((b) 2))", "((a) (b 2 1))");
    expect_change("<44 04 03 04 01 fe 07>", "(move (0) (3))", "<44 04 03 04 fe 07 01>");
    expect_refused("(1 (2))", "(move (1) (1 0))", U9_ARG, "D-14");
    expect_refused("(1 ((2)))", "(move (1) (1 0 0))", U9_ARG, "D-14");
    expect_refused("(1)", "(move () (0))", U9_ARG, "D-3");
    expect_refused("(1)", "(move (0) ())", U9_ARG, "D-3");
    expect_refused("(1)", "(move (0) 1)", U9_ARG, "D-14");
    expect_refused("(1)", "(move (0) (a))", U9_ARG, "D-2");
}
END_TEST

/* [D-14] [V-8] */
START_TEST(move_does_not_nest_too_deeply)
{
    char base[1024], text[1024] = "(move (0) (1";
    for (unsigned k = 0; k < 63; k++) strcat(text, " 0");
    strcat(text, "))");
    snprintf(base, sizeof base, "((1) %s)", nested(63));
    expect_refused(base, text, U9_LIMIT, "V-8");
    snprintf(base, sizeof base, "(1 %s)", nested(63));
    fixture f;
    begin(&f, base);
    text[strlen("(move (0) (")] = '1';
    fine(patch(&f, text));
    finish(&f);
}
END_TEST

/* [D-5] */
START_TEST(merge_replaces_by_key_or_appends)
{
    expect_change("((a 1) (b 2))", "(merge () ((b 3) (c 4)))", "((a 1) (b 3) (c 4))");
    expect_change("()", "(merge () ((a 1) (b 2) (a 3)))", "((a 3) (b 2))");
    expect_change("(1 ((a 1)) 2)", "(merge (1) ((a)))", "(1 ((a)) 2)");
    expect_change("((a 1) (a 2))", "(merge () ((a 3)))", "((a 3) (a 2))");
    expect_change("((1 1))", "(merge () ((<01 0001> <01 0002>)))", "(<4a 06 01 0001 01 0002>)");
}
END_TEST

/* [D-5] */
START_TEST(merge_takes_arrays_for_maps)
{
    expect_change("((1 2))", "(merge () <44 08 02 44 02 02 00 01 05 02 06>)",
                  "(<44 03 02 00 01 05> <44 03 02 00 02 06>)");
    expect_change("<44 08 02 44 02 02 00 01 05 02 06>", "(merge () ((2 7)))",
                  "(<44 03 02 00 01 05> (2 7))");
}
END_TEST

/* [D-5] */
START_TEST(what_is_no_map_is_not_merged)
{
    expect_refused("((a 1))", "(merge () 1)", U9_ARG, "D-5");
    expect_refused("((a 1))", "(merge () (1))", U9_ARG, "D-5");
    expect_refused("((a 1))", "(merge () ((a 2) ()))", U9_ARG, "D-5");
    expect_refused("((a 1))", "(merge () <44 02 01 00 05>)", U9_ARG, "D-5");
    expect_refused("((a 1))", "(merge (0 1) ((a 2)))", U9_ARG, "D-3");
}
END_TEST

/* [D-6] */
START_TEST(patches_are_applied_one_after_the_other)
{
    fixture f;
    begin(&f, "(1 2 3)");
    fine(patch(&f, "(insert (1) 10 11 12)"));
    fine(patch(&f, "(delete (2))"));
    fine(patch(&f, "(set (1) (20))"));
    fine(patch(&f, "(append (1) 21)"));
    fine(patch(&f, "(add (1 0) 5)"));
    fine(patch(&f, "(insert (0) 0)"));
    ck_assert_int_eq(patch(&f, "(add (2) 5)"), U9_ARG);
    expect(&f, "(0 1 (25 21) 12 2 3)");
    fine(patch(&f, "(set (2) 7)"));
    expect(&f, "(0 1 7 12 2 3)");
    for (unsigned k = 0; k < 6; k++) fine(patch(&f, "(delete (0))"));
    expect(&f, "()");
    fine(patch(&f, "(append () 5)"));
    expect(&f, "(5)");
    fine(patch(&f, "(set () 6)"));
    expect(&f, "6");
    ck_assert_uint_eq(f.diff.patches, 15);
    finish(&f);
}
END_TEST

/* [D-6] */
START_TEST(a_refused_patch_changes_nothing_that_was_changed_before)
{
    fixture f;
    begin(&f, "((a 1) (b 2) 3)");
    fine(patch(&f, "(add ((a) 1) 1)"));
    block before = reduce(&f);
    ck_assert_int_eq(patch(&f, "(set ((c) 1) 5)"), U9_ABSENT);
    ck_assert_int_eq(patch(&f, "(merge () ((a 5) 6))"), U9_ARG);
    ck_assert_int_eq(patch(&f, "(add (1) 6)"), U9_ARG);
    ck_assert_uint_eq(f.diff.patches, 1);
    expect_bytes(reduce(&f), before);
    finish(&f);
}
END_TEST

/* [D-6] [V-8] */
START_TEST(no_container_comes_to_stand_inside_64_others)
{
    expect_refused(nested(64), deep_patch("set", 63, nested(2)), U9_LIMIT, "V-8");
    expect_refused(nested(64), deep_patch("append", 63, nested(1)), U9_LIMIT, "V-8");
    expect_refused(nested(64), deep_patch("insert", 64, nested(1)), U9_LIMIT, "V-8");
    expect_refused(nested(64), deep_patch("merge", 63, "((1))"), U9_LIMIT, "V-8");
    expect_refused("((1))", deep_patch("set", 2, nested(63)), U9_LIMIT, "V-8");
    expect_refused(nested(63), deep_patch("append", 62, "<44 05 01 44 01 01 00 05>"), U9_LIMIT,
                   "V-8");
    expect_change("(1)", deep_patch("set", 1, nested(63)), nested(64));
    expect_change(nested(64), deep_patch("set", 63, nested(1)), nested(64));
    expect_change(nested(63), deep_patch("append", 62, nested(1)), nested(64));
    expect_change(nested(64), deep_patch("append", 63, "1"), nest(64, "1"));
}
END_TEST

/* [D-6] An index is a container, and those in it are, for whoever counts. */
START_TEST(an_index_counts_for_the_depth_of_what_it_stands_in_front_of)
{
    expect_refused(nested(63), deep_patch("append", 62, "<" INDEX "4a 02 81 82>"), U9_LIMIT, "V-8");
    fixture f;
    begin(&f, nested(62));
    fine(patch(&f, deep_patch("append", 61, "<" INDEX "4a 02 81 82>")));
    block got = reduce(&f);
    fine(u9_value_check(got.bytes, got.size, NULL, NULL));
    finish(&f);
}
END_TEST

/* [D-6] A path of 64 steps may lead to a container only where nobody has checked the value. */
START_TEST(nothing_is_appended_to_a_container_inside_64_others)
{
    uint8_t deep[2 * 70];
    fixture f;
    for (unsigned k = 0; k < 70; k++) {
        deep[2 * k] = k < 69 ? 0x49 : 0x48;
        deep[2 * k + 1] = (uint8_t)(2 * (69 - k));
    }
    begin_over(&f, block_of(deep, sizeof deep));
    ck_assert_int_eq(patch(&f, deep_patch("append", 64, "1")), U9_LIMIT);
    ck_assert_str_eq(f.fault.rule, "V-8");
    fine(patch(&f, deep_patch("append", 63, "1")));
    ck_assert_uint_eq(reduce(&f).size, sizeof deep + 1);
    finish(&f);
}
END_TEST

/* [D-7] */
START_TEST(a_reducer_replaces_what_is_at_the_path)
{
    fixture f;
    call c;
    begin_with_reducers(&f, "(1 (a 2))", &c);
    fine(patch(&f, "(wrap (0) 5 \"x\")"));
    fine(patch(&f, "(append (1) 3)"));
    fine(patch(&f, "(wrap ((a)))"));
    ck_assert(c.had_old && c.calls == 2);
    expect(&f, "((1 5 \"x\") ((a 2 3)))");
    fine(patch(&f, "(wrap () 1)"));
    expect(&f, "(((1 5 \"x\") ((a 2 3))) 1)");
    finish(&f);
}
END_TEST

/* [D-7] */
START_TEST(a_reducer_may_delete)
{
    fixture f;
    call c;
    begin_with_reducers(&f, "(1 (a 2))", &c);
    fine(patch(&f, "(nothing (1 0))"));
    expect(&f, "(1 (2))");
    ck_assert_int_eq(patch(&f, "(nothing ())"), U9_ARG);
    ck_assert_str_eq(f.fault.rule, "D-3");
    fine(patch(&f, "(nothing (2))"));
    fine(patch(&f, "(nothing (1 (a)))"));
    expect(&f, "(1 (2))");
    finish(&f);
}
END_TEST

/* [D-7] */
START_TEST(a_reducer_appends_where_there_is_nothing_yet)
{
    fixture f;
    call c;
    begin_with_reducers(&f, "(1 (a 2))", &c);
    fine(patch(&f, "(wrap ((b)) 7)"));
    ck_assert(!c.had_old);
    fine(patch(&f, "(wrap (1 2) 8)"));
    ck_assert(!c.had_old);
    expect(&f, "(1 (a 2 (none 8)) (none 7))");
    ck_assert_int_eq(patch(&f, "(wrap (4) 8)"), U9_ABSENT);
    ck_assert_int_eq(patch(&f, "(wrap (3 0) 8)"), U9_ABSENT);
    ck_assert_uint_eq(c.calls, 2);
    finish(&f);
}
END_TEST

/* [D-7] */
START_TEST(what_a_reducer_refuses_or_builds_badly_changes_nothing)
{
    static const char *const patches[] = {"(two (0))", "(open (0))", "(junk (0))"};
    fixture f;
    call c;
    begin_with_reducers(&f, "(1 (a 2))", &c);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(patch(&f, patches[i]), U9_ARG);
        ck_assert_str_eq(f.fault.rule, "D-7");
    }
    c.err = U9_IO;
    ck_assert_int_eq(patch(&f, "(wrap (0))"), U9_IO);
    ck_assert_str_eq(f.fault.rule, "D-7");
    ck_assert_uint_eq(f.diff.used, 0);
    c.err = U9_OK;
    fine(patch(&f, deep_patch("wrap", 1, "")));
    for (unsigned k = 0; k < 61; k++) fine(patch(&f, "(wrap (0))"));
    fine(patch(&f, "(wrap (0) ())"));
    ck_assert_int_eq(patch(&f, "(wrap (0))"), U9_LIMIT);
    ck_assert_str_eq(f.fault.rule, "V-8");
    finish(&f);
}
END_TEST

/* [D-7] */
START_TEST(a_reducer_cannot_patch_the_same_diff)
{
    fixture f;
    call c;
    begin_with_reducers(&f, "(1)", &c);
    fine(patch(&f, "(meddle (0))"));
    expect(&f, "(3)");
    finish(&f);
}
END_TEST

/* [D-7] */
START_TEST(a_reducer_may_build_more_than_was_ever_there)
{
    fixture f;
    call c;
    u9_view view;
    begin_with_reducers(&f, "(1)", &c);
    fine(patch(&f, "(set (0) \"a text in the memory of the diff\")"));
    fine(patch(&f, "(multiply (0))"));
    fine(get(&f, "(0)", &view));
    ck_assert_uint_eq(view.count, 20000);
    expect_at(&f, "(0 19999)", "\"a text in the memory of the diff\"");
    expect_at(&f, "(0 0)", "\"a text in the memory of the diff\"");
    c.err = U9_IO; /* what a refused one has built is room again */
    unsigned now = f.diff.now;
    size_t used = f.diff.used;
    ck_assert_int_eq(patch(&f, "(multiply (0 0))"), U9_IO);
    ck_assert(f.diff.now == now && f.diff.used == used);
    finish(&f);
}
END_TEST

/* [D-7] */
START_TEST(an_op_is_registered_once_and_under_a_name_of_its_own)
{
    static const char *const bad[] = {"set",   "delete", "insert",    "append",   "add",
                                      "merge", "",       "too long.", "\xc3\xa9", NULL};
    u9_reducer list[2] = {{"wrap", wrap, NULL}, {"wrap", wrap, NULL}};
    fixture f;
    begin(&f, "(1)");
    fine(u9_diff_register(&f.diff, list, 1));
    ck_assert_int_eq(u9_diff_register(&f.diff, list, 2), U9_ARG);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        list[1].op = bad[i];
        ck_assert_int_eq(u9_diff_register(&f.diff, list, 2), U9_ARG);
    }
    ck_assert_uint_eq(f.diff.reducer_count, 1);
    list[1].op = "8 chars.";
    fine(u9_diff_register(&f.diff, list, 2));
    fine(u9_diff_register(&f.diff, NULL, 0));
    ck_assert_int_eq(patch(&f, "(wrap (0))"), U9_ARG);
    finish(&f);
}
END_TEST

Suite *suite_value_diff(void)
{
    Suite *s = suite_create("value_diff");
    TCase *t = tcase_create("patches");
    tcase_add_checked_fixture(t, NULL, forget_blocks);
    tcase_add_test(t, a_patch_is_a_tuple_of_op_and_path_and_arguments);
    tcase_add_test(t, an_op_that_nobody_has_registered_is_refused);
    tcase_add_test(t, a_patch_is_proved_before_it_is_used);
    tcase_add_test(t, a_path_has_at_most_64_steps);
    tcase_add_test(t, a_step_is_a_position);
    tcase_add_test(t, a_step_is_a_key_in_a_tuple_or_array);
    tcase_add_test(t, keys_are_looked_for_in_what_the_patches_have_left);
    tcase_add_test(t, a_wrong_index_in_front_of_a_key_step_means_nothing);
    tcase_add_test(t, what_is_neither_position_nor_key_is_no_step);
    tcase_add_test(t, a_path_that_leads_to_nothing_is_refused);
    tcase_add_test(t, set_replaces);
    tcase_add_test(t, delete_removes);
    tcase_add_test(t, insert_puts_in_front);
    tcase_add_test(t, append_puts_behind_the_last_element);
    tcase_add_test(t, an_op_has_its_number_of_arguments);
    tcase_add_test(t, values_are_taken_byte_for_byte);
    tcase_add_test(t, integers_add_up_in_one_domain);
    tcase_add_test(t, a_sum_outside_all_integers_is_refused);
    tcase_add_test(t, floats_add_up_to_the_type_that_was_there);
    tcase_add_test(t, every_nan_that_is_a_sum_is_the_same_one);
    tcase_add_test(t, nothing_else_adds_up);
    tcase_add_test(t, a_container_that_was_changed_does_not_add_up_either);
    tcase_add_test(t, plus_is_add);
    tcase_add_test(t, behind_the_last_element_some_ops_begin_with_their_argument);
    tcase_add_test(t, prepend_puts_in_front_of_the_first_element);
    tcase_add_test(t, concat_joins_what_is_of_one_kind);
    tcase_add_test(t, cut_takes_out_a_range);
    tcase_add_test(t, cut_goes_through_changed_elements);
    tcase_add_test(t, min_and_max_keep_one_of_two);
    tcase_add_test(t, bits_of_integers_combine_as_if_there_were_enough_of_them);
    tcase_add_test(t, bytes_of_one_length_combine);
    tcase_add_test(t, cas_sets_only_where_the_expected_value_is);
    tcase_add_test(t, move_takes_a_value_elsewhere);
    tcase_add_test(t, move_does_not_nest_too_deeply);
    tcase_add_test(t, merge_replaces_by_key_or_appends);
    tcase_add_test(t, merge_takes_arrays_for_maps);
    tcase_add_test(t, what_is_no_map_is_not_merged);
    tcase_add_test(t, patches_are_applied_one_after_the_other);
    tcase_add_test(t, a_refused_patch_changes_nothing_that_was_changed_before);
    tcase_add_test(t, no_container_comes_to_stand_inside_64_others);
    tcase_add_test(t, an_index_counts_for_the_depth_of_what_it_stands_in_front_of);
    tcase_add_test(t, nothing_is_appended_to_a_container_inside_64_others);
    tcase_add_test(t, a_reducer_replaces_what_is_at_the_path);
    tcase_add_test(t, a_reducer_may_delete);
    tcase_add_test(t, a_reducer_appends_where_there_is_nothing_yet);
    tcase_add_test(t, what_a_reducer_refuses_or_builds_badly_changes_nothing);
    tcase_add_test(t, a_reducer_cannot_patch_the_same_diff);
    tcase_add_test(t, a_reducer_may_build_more_than_was_ever_there);
    tcase_add_test(t, an_op_is_registered_once_and_under_a_name_of_its_own);
    suite_add_tcase(s, t);
    return s;
}
