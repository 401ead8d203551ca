/*
 * tests/format/value/diff/test_value_diff_stream.c: what SPEC-values.md says of streams of patches (D-10).
 */
#include "tests/format/value/diff/diff_fixture.h"
#include "tests/suites.h"

/* What a stream emitted. */
typedef struct taker {
    u9_diff_stream *stream;
    block got[16];
    unsigned count;
    u9_err err;
} taker;

static u9_err take(void *ctx, const u9_value *value)
{
    taker *t = ctx;
    if (t->err) return t->err;
    ck_assert_int_eq(u9_diff_feed(t->stream, "\x14", 1, NULL), U9_STATE);
    t->got[t->count++] = block_of(value->start, value->encoded);
    return U9_OK;
}

static u9_err feed(u9_diff_stream *s, const char *text, u9_fault *fault)
{
    block v = say(text);
    return u9_diff_feed(s, v.bytes, v.size, fault);
}

static u9_value begin_stream(u9_diff_stream *s, taker *t, const char *base)
{
    u9_value v = value_of(say(base));
    *t = (taker){.stream = s};
    u9_diff_stream_init(s, &v, u9_grow_heap, NULL, take, t);
    return v;
}

static void expect_emitted(const taker *t, unsigned k, const char *text)
{
    ck_assert_uint_eq(t->count, k + 1);
    expect_bytes(t->got[k], say(text));
}

/* [D-10] */
START_TEST(a_stream_emits_the_value_at_each_tau0)
{
    u9_diff_stream s;
    taker t;
    u9_fault fault;
    begin_stream(&s, &t, "((a 1))");
    fine(feed(&s, "<14>", &fault));
    expect_emitted(&t, 0, "((a 1))");
    fine(feed(&s, "(add ((a) 1) 4)", &fault));
    fine(feed(&s, "(append () (b 2))", &fault));
    ck_assert_uint_eq(t.count, 1);
    fine(feed(&s, "<14>", &fault));
    expect_emitted(&t, 1, "((a 5) (b 2))");
    for (unsigned k = 2; k < 8; k++) {
        char want[64];
        fine(feed(&s, "(add ((a) 1) 1)", &fault));
        fine(feed(&s, "<14>", &fault));
        snprintf(want, sizeof want, "((a %u) (b 2))", 4 + k);
        expect_emitted(&t, k, want);
    }
    fine(feed(&s, "(set () 5)", &fault));
    fine(feed(&s, "<14>", &fault));
    expect_emitted(&t, 8, "5");
    fine(feed(&s, "<14>", &fault));
    expect_emitted(&t, 9, "5");
    fine(feed(&s, "(set () (\"a text that is longer\" 1))", &fault));
    fine(feed(&s, "<14>", &fault));
    fine(feed(&s, "<14>", &fault));
    fine(feed(&s, "(insert (0) 2)", &fault));
    fine(feed(&s, "<14>", &fault));
    expect_emitted(&t, 12, "(2 \"a text that is longer\" 1)");
    u9_diff_stream_release(&s, free);
}
END_TEST

/* [D-10] */
START_TEST(a_stream_passes_over_estimates_and_refuses_all_that_is_no_patch)
{
    static const char *const others[] = {"<10>", "<11>",        "<12>", "<13>",
                                         "7",    "\"set\"",     "set",  "<44 03 02 00 01 02>",
                                         "(1)",  "(unknown ())"};
    u9_diff_stream s;
    taker t;
    u9_fault fault;
    begin_stream(&s, &t, "(1)");
    fine(feed(&s, "<15 0001>", &fault));
    fine(feed(&s, "<17 0000000000000001>", &fault));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ck_assert_int_eq(feed(&s, others[i], &fault), U9_ARG);
        ck_assert_int_eq(fault.err, U9_ARG);
    }
    ck_assert_int_eq(feed(&s, "7", &fault), U9_ARG);
    ck_assert_str_eq(fault.rule, "D-10");
    ck_assert_int_eq(u9_diff_feed(&s, "\x14\x14", 2, &fault), U9_ARG);
    ck_assert_int_eq(u9_diff_feed(&s, "\x15\x14", 2, &fault), U9_TORN);
    ck_assert_int_eq(u9_diff_feed(&s, "", 0, &fault), U9_TORN);
    ck_assert_uint_eq(t.count, 0);
    u9_diff_stream_release(&s, free);
}
END_TEST

/* [D-10] [D-6] */
START_TEST(what_a_stream_refuses_is_as_if_it_had_not_come)
{
    u9_diff_stream s;
    taker t;
    u9_fault fault;
    begin_stream(&s, &t, "(1 2)");
    fine(feed(&s, "(add (0) 4)", &fault));
    ck_assert_int_eq(feed(&s, "(add (3) 4)", &fault), U9_ABSENT);
    t.err = U9_IO;
    ck_assert_int_eq(feed(&s, "<14>", &fault), U9_IO);
    ck_assert_str_eq(fault.rule, "D-10");
    fine(feed(&s, "(add (1) 4)", &fault));
    miser m = {.allowed = 0};
    s.diff.grow = grow_miser;
    s.diff.grow_ctx = &m;
    t.err = U9_OK;
    ck_assert_uint_eq(s.turn, 0);
    free(s.value[0].bytes);
    s.value[0].bytes = NULL;
    s.value[0].cap = 0;
    ck_assert_int_eq(feed(&s, "<14>", &fault), U9_NOMEM);
    ck_assert_str_eq(fault.rule, "D-10");
    m.allowed = 10;
    fine(feed(&s, "<14>", &fault));
    expect_emitted(&t, 0, "(5 6)");
    u9_diff_stream_release(&s, free);
}
END_TEST

/* [D-10] */
START_TEST(a_stream_reduces_with_the_ops_of_its_program)
{
    u9_diff_stream s;
    taker t;
    u9_fault fault;
    call c = {.err = U9_OK};
    u9_reducer list = {"wrap", wrap, &c};
    begin_stream(&s, &t, "()");
    fine(u9_diff_register(&s.diff, &list, 1));
    fine(feed(&s, "(wrap ((b)) 7)", &fault));
    fine(feed(&s, "<14>", &fault));
    fine(feed(&s, "(wrap (0 0))", &fault));
    fine(feed(&s, "<14>", &fault));
    expect_emitted(&t, 1, "(((none) 7))");
    u9_diff_stream_release(&s, free);
}
END_TEST

Suite *suite_value_diff_stream(void)
{
    Suite *s = suite_create("value_diff_stream");
    TCase *t = tcase_create("streams");
    tcase_add_checked_fixture(t, NULL, forget_blocks);
    tcase_add_test(t, a_stream_emits_the_value_at_each_tau0);
    tcase_add_test(t, a_stream_passes_over_estimates_and_refuses_all_that_is_no_patch);
    tcase_add_test(t, what_a_stream_refuses_is_as_if_it_had_not_come);
    tcase_add_test(t, a_stream_reduces_with_the_ops_of_its_program);
    suite_add_tcase(s, t);
    return s;
}
