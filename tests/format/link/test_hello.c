/*
 * tests/format/link/test_hello.c: what a log on the move says before its records, and what it is asked for: each
 * element that may be wrong. [T-9] [T-11]
 */
#include "format/link/hello.h"

#include "tests/suites.h"

#include <string.h>

enum { ROOM = 1024 };

static uint8_t bytes[ROOM];

static const u9i_hello hello = {.kind = "muid",
                                .kind_size = 4,
                                .log = {1, 2, 3},
                                .first = 77,
                                .has_mark = true,
                                .mark = {9, 8, 7}};

static u9_value value_of(const u9_builder *b)
{
    u9_value v;
    ck_assert_int_eq(u9_value_decode(bytes, b->size, &v), U9_OK);
    return v;
}

START_TEST(a_hello_is_read_as_it_was_said) /* [T-9] */
{
    for (unsigned marked = 0; marked < 2; marked++) {
        u9i_hello said = hello, heard;
        u9_builder b;
        said.has_mark = marked;
        u9_builder_init(&b, bytes, sizeof bytes);
        ck_assert_int_eq(u9i_hello_build(&b, &said), U9_OK);
        u9_value v = value_of(&b);
        ck_assert_int_eq(u9i_hello_read(&v, &heard), U9_OK);
        ck_assert_uint_eq(heard.kind_size, 4);
        ck_assert_mem_eq(heard.kind, "muid", 4);
        ck_assert_mem_eq(heard.log, hello.log, sizeof hello.log);
        ck_assert_uint_eq(heard.first, 77);
        ck_assert_int_eq(heard.has_mark, (int)marked);
        if (marked) ck_assert_mem_eq(heard.mark, hello.mark, sizeof hello.mark);
    }
}
END_TEST

START_TEST(without_room_neither_is_built)
{
    u9_builder b;
    u9_builder_init(&b, bytes, 3);
    ck_assert_int_eq(u9i_hello_build(&b, &hello), U9_LIMIT);
    u9_builder_init(&b, bytes, 3);
    ck_assert_int_eq(u9i_next_build(&b, 5), U9_LIMIT);
}
END_TEST

/* The elements of a hello; each test has one of them otherwise. */
typedef struct parts {
    const char *symbol;
    unsigned count; /* elements, of 6 */
    bool kind_bytes, log_utf8, mark_utf8, first_int, version_int;
    uint64_t version;
    size_t kind, log, mark;
} parts;

static u9_err read_parts(const parts *p)
{
    static const uint8_t zeros[ROOM];
    char symbol[8] = {0};
    u9_builder b;
    u9i_hello out;
    memcpy(symbol, p->symbol, strlen(p->symbol));
    u9_builder_init(&b, bytes, sizeof bytes);
    u9_err err = u9_build_tuple_open(&b);
    for (unsigned i = 0; i < p->count && err == U9_OK; i++) switch (i) {
        case 0: err = u9_build_symbol(&b, symbol); break;
        case 1: err = p->version_int ? u9_build_int(&b, -1) : u9_build_uint(&b, p->version); break;
        case 2:
            err = p->kind_bytes ? u9_build_bytes(&b, zeros, p->kind)
                                : u9_build_utf8(&b, (const char *)zeros, p->kind);
            break;
        case 3:
            err = p->log_utf8 ? u9_build_utf8(&b, (const char *)zeros, p->log)
                              : u9_build_bytes(&b, zeros, p->log);
            break;
        case 4: err = p->first_int ? u9_build_int(&b, -1) : u9_build_uint(&b, 3); break;
        case 5:
            err = p->mark_utf8 ? u9_build_utf8(&b, (const char *)zeros, p->mark)
                               : u9_build_bytes(&b, zeros, p->mark);
            break;
        default: err = u9_build_uint(&b, 1); break;
        }
    if (err == U9_OK) err = u9_build_tuple_close(&b);
    ck_assert_int_eq(err, U9_OK);
    u9_value v = value_of(&b);
    return u9i_hello_read(&v, &out);
}

START_TEST(a_hello_with_one_wrong_element_is_refused) /* [T-9] */
{
    const parts right = {.symbol = "u9log",
                         .count = 6,
                         .version = U9I_SHIP_VERSION,
                         .kind = 4,
                         .log = 16,
                         .mark = 16};
    ck_assert_int_eq(read_parts(&right), U9_OK);
    parts wrong[16];
    unsigned n = 0;
    for (unsigned i = 0; i < 16; i++) wrong[i] = right;
    wrong[n++].symbol = "u9next";
    wrong[n++].count = 1;
    wrong[n++].count = 5;
    wrong[n++].count = 7;
    wrong[n++].version = 0;
    wrong[n++].version_int = true;
    wrong[n++].kind_bytes = true;
    wrong[n++].kind = 0;
    wrong[n++].kind = U9I_KIND_MAX + 1;
    wrong[n++].log_utf8 = true;
    wrong[n++].log = 15;
    wrong[n++].first_int = true;
    wrong[n++].mark_utf8 = true;
    wrong[n++].mark = 15;
    for (unsigned i = 0; i < n; i++)
        ck_assert_msg(read_parts(&wrong[i]) == U9_CORRUPT, "wrong part %u", i);
    parts later = right;
    later.version = U9I_SHIP_VERSION + 1;
    ck_assert_int_eq(read_parts(&later), U9_VERSION);
    later.count = 2; /* of a later version the rest may be anything */
    ck_assert_int_eq(read_parts(&later), U9_VERSION);
}
END_TEST

static void expect_no_hello(const u9_builder *b)
{
    u9_value v = value_of(b);
    u9i_hello out;
    uint64_t ordinal;
    ck_assert_int_eq(u9i_hello_read(&v, &out), U9_CORRUPT);
    ck_assert_int_eq(u9i_next_read(&v, &ordinal), U9_CORRUPT);
}

START_TEST(another_value_is_no_hello_and_asks_for_nothing) /* [T-9] [T-11] */
{
    u9_builder b;
    u9_builder_init(&b, bytes, sizeof bytes);
    ck_assert_int_eq(u9_build_uint(&b, 1), U9_OK);
    expect_no_hello(&b);
    u9_builder_init(&b, bytes, sizeof bytes);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    expect_no_hello(&b);
    u9_builder_init(&b, bytes, sizeof bytes); /* six elements, the first of which is no symbol */
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    for (unsigned i = 0; i < 6; i++) ck_assert_int_eq(u9_build_uint(&b, i), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    expect_no_hello(&b);
    u9_builder_init(&b, bytes, sizeof bytes); /* an ordinal that is none */
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    ck_assert_int_eq(u9_build_symbol(&b, "u9next\0\0"), U9_OK);
    ck_assert_int_eq(u9_build_int(&b, -1), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    expect_no_hello(&b);
}
END_TEST

START_TEST(what_is_wanted_next_is_read_as_it_was_said) /* [T-11] */
{
    u9_builder b;
    uint64_t ordinal = 0;
    u9_builder_init(&b, bytes, sizeof bytes);
    ck_assert_int_eq(u9i_next_build(&b, UINT64_MAX), U9_OK);
    u9_value v = value_of(&b);
    ck_assert_int_eq(u9i_next_read(&v, &ordinal), U9_OK);
    ck_assert_uint_eq(ordinal, UINT64_MAX);
}
END_TEST

START_TEST(the_mark_of_a_record_tells_keys_from_values) /* [T-9] */
{
    uint8_t a[U9I_HASH_SIZE], b[U9I_HASH_SIZE], c[U9I_HASH_SIZE];
    u9i_hello_mark("ab", 2, "c", 1, a);
    u9i_hello_mark("a", 1, "bc", 2, b);
    u9i_hello_mark("ab", 2, "c", 1, c);
    ck_assert_mem_ne(a, b, sizeof a);
    ck_assert_mem_eq(a, c, sizeof a);
}
END_TEST

Suite *suite_hello(void)
{
    Suite *suite = suite_create("hello");
    TCase *t = tcase_create("hello");
    tcase_add_test(t, a_hello_is_read_as_it_was_said);
    tcase_add_test(t, without_room_neither_is_built);
    tcase_add_test(t, a_hello_with_one_wrong_element_is_refused);
    tcase_add_test(t, another_value_is_no_hello_and_asks_for_nothing);
    tcase_add_test(t, what_is_wanted_next_is_read_as_it_was_said);
    tcase_add_test(t, the_mark_of_a_record_tells_keys_from_values);
    suite_add_tcase(suite, t);
    return suite;
}
