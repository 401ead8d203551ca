/*
 * tests/format/id/test_rkey.c: what SPEC-values.md says of record keys (I-13, I-14), read as tests.
 *
 * The rows are those of the specification of record keys and of its interoperability tests, and
 * others that miss by one character.
 */
#include "tests/format/base/hex.h"
#include "tests/suites.h"

#include <stdio.h>
#include <u9/id.h>

static const struct {
    const char *key;
    size_t size;
    int is_tid;
} keys[] = {
    {TEXT("3jui7kd54zh2y"), 1},
    {TEXT("self"), 0},
    {TEXT("example.com"), 0},
    {TEXT("~1.2-3_"), 0},
    {TEXT("dHJ1ZQ"), 0},
    {TEXT("pre:fix"), 0},
    {TEXT("_"), 0},
    {TEXT(":"), 0},
    {TEXT("~"), 0},
    {TEXT("-"), 0},
    {TEXT("self."), 0},
    {TEXT("lang:"), 0},
    {TEXT(":lang"), 0},
    {TEXT("a"), 0},
    {TEXT("Z"), 0},
    {TEXT("0"), 0},
    {TEXT(".a"), 0},
    {TEXT("a."), 0},
    {TEXT("..a"), 0},
    {TEXT("..."), 0},
    {TEXT("...."), 0},
    {TEXT(".-"), 0},
    {TEXT("did:plc:ewvi7nxzyoun6zhxrhs64oiz"), 0},
    {TEXT("abcdefghijklmnopqrstuvwxyz"), 0},
    {TEXT("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 0},
    {TEXT("0123456789"), 0},
    {TEXT("app.bsky.feed.post"), 0},
    {TEXT("::"), 0},
    {TEXT("__proto__"), 0},
    {TEXT("tid"), 0},
    {TEXT("any"), 0},
    {TEXT("literal:"), 0},
    {TEXT("literal:self"), 0},
    {TEXT("1.0.0-rc.1"), 0},
    {TEXT("3JUI7KD54ZH2Y"), 0}, /* upper case */
    {TEXT("3jzfcijpj2z2a"), 1},
    {TEXT("j222222222222"), 1}, /* its top bit is set: the syntax is enough */
    {TEXT("kjzfcijpj2z2a"), 0}, /* more than 64 bits */
};

static const struct {
    const char *key;
    size_t size;
    u9_id_reason why;
} bad_keys[] = {
    {TEXT(""), U9_RKEY_EMPTY},
    {TEXT("."), U9_RKEY_DOTS},
    {TEXT(".."), U9_RKEY_DOTS},
    {TEXT("alpha/beta"), U9_RKEY_CHARACTER},
    {TEXT("/"), U9_RKEY_CHARACTER},
    {TEXT("/a"), U9_RKEY_CHARACTER},
    {TEXT("#extra"), U9_RKEY_CHARACTER},
    {TEXT("@handle"), U9_RKEY_CHARACTER},
    {TEXT("any space"), U9_RKEY_CHARACTER},
    {TEXT("any+space"), U9_RKEY_CHARACTER},
    {TEXT("number[3]"), U9_RKEY_CHARACTER},
    {TEXT("number(3)"), U9_RKEY_CHARACTER},
    {TEXT("\"quote\""), U9_RKEY_CHARACTER},
    {TEXT("dHJ1ZQ=="), U9_RKEY_CHARACTER},
    {TEXT("%2e%2e"), U9_RKEY_CHARACTER},
    {TEXT("\nself"), U9_RKEY_CHARACTER},
    {TEXT("self\n"), U9_RKEY_CHARACTER},
    {TEXT("self\0"), U9_RKEY_CHARACTER},
    {TEXT("a\0b"), U9_RKEY_CHARACTER},
    {TEXT("\0"), U9_RKEY_CHARACTER},
    {TEXT("..\0"), U9_RKEY_CHARACTER},
    {TEXT("self "), U9_RKEY_CHARACTER},
    {TEXT("a\rb"), U9_RKEY_CHARACTER},
    {TEXT("\303\274"), U9_RKEY_CHARACTER},     /* a letter, in some locales */
    {TEXT("\342\200\244"), U9_RKEY_CHARACTER}, /* one dot leader */
    {TEXT("\033[0m"), U9_RKEY_CHARACTER},
};

static u9_err check(const char *key, size_t size, const u9_rkey_rule *rule, u9_id_reason *why)
{
    char *copy = (char *)exactly(key, size);
    u9_err err = u9_rkey_check(copy, size, rule, why);
    free(copy);
    return err;
}

static void expect_taken(const char *key, size_t size, const u9_rkey_rule *rule)
{
    u9_id_reason why = U9_RKEY_EMPTY;
    ck_assert_int_eq(check(key, size, rule, &why), U9_OK);
    ck_assert_int_eq(why, U9_ID_FINE);
    ck_assert_int_eq(check(key, size, rule, NULL), U9_OK);
}

static void expect_refused(const char *key, size_t size, const u9_rkey_rule *rule,
                           u9_id_reason expected)
{
    u9_id_reason why = U9_ID_FINE;
    ck_assert_int_eq(check(key, size, rule, &why), U9_ARG);
    ck_assert_msg(why == expected, "%s: reason %d, not %d", key, why, expected);
    ck_assert_int_eq(check(key, size, rule, NULL), U9_ARG);
}

/* The rule of a type. It borrows from `type`. */
static u9_rkey_rule rule_of(const char *type)
{
    u9_rkey_rule rule;
    u9_id_reason why = U9_RKEY_EMPTY;
    ck_assert_int_eq(u9_rkey_rule_parse(type, strlen(type), &rule, &why), U9_OK);
    ck_assert_int_eq(why, U9_ID_FINE);
    return rule;
}

/* [I-13] */
START_TEST(record_keys_are_taken)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        expect_taken(keys[i].key, keys[i].size, NULL);
}
END_TEST

/* [I-13] */
START_TEST(other_texts_are_refused_each_with_its_reason)
{
    const u9_rkey_rule rules[] = {rule_of("any"), rule_of("tid"), rule_of("literal:self")};
    for (size_t i = 0; i < sizeof bad_keys / sizeof bad_keys[0]; i++) {
        expect_refused(bad_keys[i].key, bad_keys[i].size, NULL, bad_keys[i].why);
        for (size_t k = 0; k < 3; k++)
            expect_refused(bad_keys[i].key, bad_keys[i].size, &rules[k], bad_keys[i].why);
    }
}
END_TEST

/* [I-13] */
START_TEST(each_byte_is_a_character_of_keys_or_refused)
{
    static const char characters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:~";
    for (unsigned c = 0; c < 256; c++) {
        const char key[3] = {'a', (char)c, 'b'};
        if (c != 0 && strchr(characters, (char)c)) expect_taken(key, 3, NULL);
        else expect_refused(key, 3, NULL, U9_RKEY_CHARACTER);
    }
}
END_TEST

/* [I-13] */
START_TEST(a_key_has_at_most_512_characters)
{
    static char key[100000];
    memset(key, 'o', sizeof key);
    expect_taken(key, 80, NULL);
    expect_taken(key, 511, NULL);
    expect_taken(key, 512, NULL);
    expect_refused(key, 513, NULL, U9_RKEY_LENGTH);
    expect_refused(key, 1024, NULL, U9_RKEY_LENGTH);
    expect_refused(key, sizeof key, NULL, U9_RKEY_LENGTH);
}
END_TEST

/* [I-14] */
START_TEST(of_type_tid_are_keys_with_the_syntax_of_a_tid)
{
    const u9_rkey_rule rule = rule_of("tid");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i].is_tid) expect_taken(keys[i].key, keys[i].size, &rule);
        else expect_refused(keys[i].key, keys[i].size, &rule, U9_RKEY_NO_TID);
    }
}
END_TEST

/* [I-14] */
START_TEST(of_type_literal_is_one_key)
{
    const u9_rkey_rule self = rule_of("literal:self"), colon = rule_of("literal:a:b");
    expect_taken(TEXT("self"), &self);
    expect_refused(TEXT("Self"), &self, U9_RKEY_OTHER);
    expect_refused(TEXT("sel"), &self, U9_RKEY_OTHER);
    expect_refused(TEXT("self."), &self, U9_RKEY_OTHER);
    expect_refused(TEXT("literal:self"), &self, U9_RKEY_OTHER);
    expect_taken(TEXT("a:b"), &colon);
    expect_refused(TEXT("a"), &colon, U9_RKEY_OTHER);
}
END_TEST

/* [I-14] */
START_TEST(of_type_any_is_each_key)
{
    const u9_rkey_rule rule = rule_of("any");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        expect_taken(keys[i].key, keys[i].size, &rule);
}
END_TEST

/* [I-14] */
START_TEST(any_key_can_be_a_literal_and_nothing_else_can)
{
    char type[600];
    u9_rkey_rule rule = {.literal_size = 77};
    u9_id_reason why;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        snprintf(type, sizeof type, "literal:%s", keys[i].key);
        const u9_rkey_rule literal = rule_of(type);
        expect_taken(keys[i].key, keys[i].size, &literal);
    }
    for (size_t i = 0; i < sizeof bad_keys / sizeof bad_keys[0]; i++) {
        memcpy(type, "literal:", 8);
        memcpy(type + 8, bad_keys[i].key, bad_keys[i].size);
        ck_assert_int_eq(u9_rkey_rule_parse(type, 8 + bad_keys[i].size, &rule, &why), U9_ARG);
        ck_assert_int_eq(why, U9_RKEY_TYPE_LITERAL);
        ck_assert_uint_eq(rule.literal_size, 77); /* untouched */
    }
    memcpy(type, "literal:", 8);
    memset(type + 8, 'a', 513);
    ck_assert_int_eq(u9_rkey_rule_parse(type, 8 + 512, &rule, NULL), U9_OK);
    ck_assert_int_eq(u9_rkey_rule_parse(type, 8 + 513, &rule, NULL), U9_ARG);
}
END_TEST

/* [I-14] */
START_TEST(other_types_are_refused)
{
    static const struct {
        const char *text;
        size_t size;
    } bad[] = {
        {TEXT("")},      {TEXT("TID")},   {TEXT("Any")},     {TEXT("tid ")},     {TEXT(" tid")},
        {TEXT("ti")},    {TEXT("tids")},  {TEXT("tid\0")},   {TEXT("any\0")},    {TEXT("an")},
        {TEXT("any:")},  {TEXT("nsid")},  {TEXT("literal")}, {TEXT("Literal:")},
        {TEXT("literals:a")},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        u9_rkey_rule rule = {.literal_size = 77};
        u9_id_reason why = U9_ID_FINE;
        char *copy = (char *)exactly(bad[i].text, bad[i].size);
        ck_assert_int_eq(u9_rkey_rule_parse(copy, bad[i].size, &rule, &why), U9_ARG);
        ck_assert_int_eq(why, U9_RKEY_TYPE_NAME);
        ck_assert_uint_eq(rule.literal_size, 77);
        free(copy);
    }
}
END_TEST

Suite *suite_rkey(void)
{
    const TTest *const tests[] = {
        record_keys_are_taken,
        other_texts_are_refused_each_with_its_reason,
        each_byte_is_a_character_of_keys_or_refused,
        a_key_has_at_most_512_characters,
        of_type_tid_are_keys_with_the_syntax_of_a_tid,
        of_type_literal_is_one_key,
        of_type_any_is_each_key,
        any_key_can_be_a_literal_and_nothing_else_can,
        other_types_are_refused,
    };
    Suite *suite = suite_create("rkey");
    TCase *tcase = tcase_create("rkey");
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
