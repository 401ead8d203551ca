/*
 * tests/format/id/test_kind.c: the kinds of keys, what each takes and what it gives back. [L-6]
 */
#include "format/id/kind.h"

#include <u9/value.h>

#include "tests/suites.h"

#include <stdbool.h>
#include <string.h>

/* A key of each kind, and its raw size. */
static const struct row {
    const char *kind, *text;
    size_t raw;
    u9_gid_type gid;
} rows[] = {
    {"muid", "5D5EAC793E61F-1BFC71B112D-FFFFFFFF", 16, U9_GID_ANY},
    {"gid:volume", NULL, 16, U9_GID_VOLUME},
    {"gid:log", NULL, 16, U9_GID_LOG},
    {"gid:segment", NULL, 16, U9_GID_SEGMENT},
    {"tid", "3jzfcijpj2z2a", 8, U9_GID_ANY},
    {"uid8", "cb54ecf284000000", 8, U9_GID_ANY},
    {"rkey", "a.key", 5, U9_GID_ANY},
    {"rkey:tid", "3jzfcijpj2z2a", 13, U9_GID_ANY},
    {"rkey:literal:self", "self", 4, U9_GID_ANY},
};

enum { ROWS = sizeof rows / sizeof *rows };

/* A raw key of the row's kind; those without a text are made of fields. */
static size_t raw_of(const struct row *r, uint8_t raw[U9_KEY_SIZE_MAX])
{
    size_t size = r->raw;
    u9_id_reason why;
    u9_gid gid = {
        .type = r->gid, .timestamp_ms = 1700000000000, .random = {(uint8_t)(0x80 | r->gid), 5}};
    if (r->gid) ck_assert_int_eq(u9_gid_pack(&gid, 0, raw), U9_OK);
    else
        ck_assert_msg(u9_key_parse(r->kind, r->text, strlen(r->text), raw, &size, &why) == U9_OK,
                      "%s: %d", r->kind, (int)why);
    return size;
}

START_TEST(a_key_of_each_kind_comes_back_from_its_text) /* [L-6] */
{
    for (unsigned i = 0; i < ROWS; i++) {
        uint8_t raw[U9_KEY_SIZE_MAX], again[U9_KEY_SIZE_MAX];
        char text[U9_KEY_SIZE_MAX + 1];
        size_t size = raw_of(&rows[i], raw), back = 0;
        ck_assert_uint_eq(size, rows[i].raw);
        ck_assert_int_eq(u9_kind_check(rows[i].kind, strlen(rows[i].kind), NULL), U9_OK);
        ck_assert_int_eq(u9_key_check(rows[i].kind, raw, size, NULL), U9_OK);
        ck_assert_int_eq(u9_key_format(rows[i].kind, raw, size, text, NULL), U9_OK);
        if (rows[i].text) ck_assert_str_eq(text, rows[i].text);
        ck_assert_int_eq(u9_key_parse(rows[i].kind, text, strlen(text), again, &back, NULL), U9_OK);
        ck_assert_uint_eq(back, size);
        ck_assert_mem_eq(again, raw, size);
    }
}
END_TEST

START_TEST(a_key_of_another_size_is_refused_by_each_kind) /* [L-6] */
{
    for (unsigned i = 0; i < ROWS; i++) {
        uint8_t raw[U9_KEY_SIZE_MAX + 1];
        char text[U9_KEY_SIZE_MAX + 1] = "as it was";
        u9_id_reason why = U9_ID_FINE;
        size_t size = raw_of(&rows[i], raw);
        bool any = strcmp(rows[i].kind, "rkey") == 0;
        size_t wrong = any ? 0 : size - 1;
        ck_assert_int_eq(u9_key_check(rows[i].kind, raw, wrong, &why), U9_ARG);
        ck_assert_int_ne(why, U9_ID_FINE);
        ck_assert_int_eq(u9_key_format(rows[i].kind, raw, wrong, text, NULL), U9_ARG);
        ck_assert_str_eq(text, "as it was");
    }
}
END_TEST

START_TEST(a_text_that_is_no_key_is_refused_by_each_kind) /* [L-6] */
{
    for (unsigned i = 0; i < ROWS; i++) {
        uint8_t raw[U9_KEY_SIZE_MAX] = {7};
        size_t size = 99;
        u9_id_reason why = U9_ID_FINE;
        ck_assert_int_eq(u9_key_parse(rows[i].kind, "no key", 6, raw, &size, &why), U9_ARG);
        ck_assert_int_ne(why, U9_ID_FINE);
        ck_assert_uint_eq(size, 99);
    }
}
END_TEST

START_TEST(what_names_no_kind_is_refused) /* [L-6] */
{
    static const char *const none[] = {
        "",       "m",       "muid ",    "muids",      "gid",          "gid:",
        "gid:lo", "gid:los", "gid:log ", "gid:volumf", "tid2",         "uid88",
        "rkeys",  "rkey:",   "rkey:any", "rkey:tids",  "rkey:literal:"};
    for (unsigned i = 0; i < sizeof none / sizeof *none; i++) {
        uint8_t raw[U9_KEY_SIZE_MAX] = {0};
        char text[U9_KEY_SIZE_MAX + 1];
        size_t size;
        u9_id_reason why = U9_ID_FINE;
        ck_assert_msg(u9_kind_check(none[i], strlen(none[i]), &why) == U9_ARG, "'%s'", none[i]);
        ck_assert_int_ne(why, U9_ID_FINE);
        ck_assert_int_eq(u9_key_check(none[i], raw, 16, NULL), U9_ARG);
        ck_assert_int_eq(u9_key_parse(none[i], "x", 1, raw, &size, NULL), U9_ARG);
        ck_assert_int_eq(u9_key_format(none[i], raw, 16, text, NULL), U9_ARG);
    }
    ck_assert_int_eq(u9_kind_check("x", 1, NULL), U9_ARG); /* and nobody asks why */
}
END_TEST

/* As a value the key is what the encoder makes of it: bytes, an integer of 8, the shortest text. [V-7] */
START_TEST(a_key_stands_in_a_record_as_its_kind_says) /* [L-6] [V-7] */
{
    for (unsigned i = 0; i < ROWS; i++) {
        uint8_t raw[U9_KEY_SIZE_MAX], value[U9_KEY_SIZE_MAX + 3];
        size_t size = raw_of(&rows[i], raw), encoded;
        u9i_kind kind;
        u9_value v;
        ck_assert_int_eq(u9i_kind_parse(rows[i].kind, strlen(rows[i].kind), &kind, NULL), U9_OK);
        encoded = u9i_kind_encode(&kind, raw, size, value);
        ck_assert_uint_eq(encoded, u9i_kind_value_size(&kind, size));
        ck_assert_int_eq(u9_value_decode(value, encoded, &v), U9_OK);
        ck_assert_uint_eq(v.encoded, encoded);
        if (size == 8) ck_assert_int_eq(v.code, 0x03);
        else ck_assert_int_eq(v.type, size == 16 ? U9_BYTES : U9_UTF8);
        if (size != 8) ck_assert_mem_eq(v.data, raw, size);
    }
}
END_TEST

START_TEST(a_record_key_takes_the_shortest_form_of_its_length) /* [V-7] */
{
    static const struct {
        size_t size;
        unsigned code;
    } lengths[] = {{1, 0x21}, {15, 0x2f}, {16, 0x18}, {255, 0x18}, {256, 0x19}, {512, 0x19}};
    u9i_kind kind;
    ck_assert_int_eq(u9i_kind_parse("rkey", 4, &kind, NULL), U9_OK);
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char text[U9_KEY_SIZE_MAX];
        uint8_t value[U9_KEY_SIZE_MAX + 3];
        u9_value v;
        memset(text, 'k', sizeof text);
        size_t encoded = u9i_kind_encode(&kind, text, lengths[i].size, value);
        ck_assert_int_eq(u9_value_decode(value, encoded, &v), U9_OK);
        ck_assert_uint_eq(v.code, lengths[i].code);
        ck_assert_uint_eq(v.size, lengths[i].size);
    }
}
END_TEST

Suite *suite_kind(void)
{
    Suite *suite = suite_create("kind");
    TCase *t = tcase_create("kind");
    tcase_add_test(t, a_key_of_each_kind_comes_back_from_its_text);
    tcase_add_test(t, a_key_of_another_size_is_refused_by_each_kind);
    tcase_add_test(t, a_text_that_is_no_key_is_refused_by_each_kind);
    tcase_add_test(t, what_names_no_kind_is_refused);
    tcase_add_test(t, a_key_stands_in_a_record_as_its_kind_says);
    tcase_add_test(t, a_record_key_takes_the_shortest_form_of_its_length);
    suite_add_tcase(suite, t);
    return suite;
}
