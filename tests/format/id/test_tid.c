/*
 * tests/format/id/test_tid.c: what SPEC-values.md says of TIDs (I-8, I-9), read as tests.
 *
 * The rows are examples of the scheme's interoperability tests and first implementations, TIDs seen
 * in use, and values drawn at random; the tests around them forge one character or bit each.
 */
#include "tests/format/base/hex.h"
#include "tests/suites.h"

#include <stdbool.h>
#include <u9/id.h>

typedef struct row {
    const char *text;
    uint64_t number;
    uint64_t timestamp;
    uint32_t clock_id;
} row;

static const row rows[] = {
    {"3jzfcijpj2z2a", UINT64_C(0x17fd6873eaf07c06), UINT64_C(1688137381887007), 6},
    {"3zzzzzzzzzzzz", UINT64_C(0x1fffffffffffffff), UINT64_C(2251799813685247), 1023},
    {"a222222222222", UINT64_C(0x6000000000000000), UINT64_C(6755399441055744), 0},
    {"3jui7kd54zh2y", UINT64_C(0x17e9c582462fb41e), UINT64_C(1682739741953005), 30},
    {"242k52k4kg3sc", UINT64_C(0x0102030405060708), UINT64_C(70921738076545), 776},
    {"6222222222222", UINT64_C(0x4000000000000000), UINT64_C(4503599627370496), 0},
    {"3l6sjhvqonco2", UINT64_C(0x18930f6eed49a280), UINT64_C(1729273483973224), 640},
    {"3log4547dm6h2", UINT64_C(0x18d182188a9911a0), UINT64_C(1746439032186436), 416},
    {"3logteazog2n2", UINT64_C(0x18d19951bf460260), UINT64_C(1746463968186752), 608},
    {"222222222222z", UINT64_C(0x000000000000001f), UINT64_C(0), 31},
    {"22222222222zz", UINT64_C(0x00000000000003ff), UINT64_C(0), 1023},
    {"2222222222323", UINT64_C(0x0000000000000401), UINT64_C(1), 1},
    {"bzzzzzzzzzz22", UINT64_C(0x7ffffffffffffc00), UINT64_C(9007199254740991), 0},
    {"bzzzzzzzzzyzz", UINT64_C(0x7ffffffffffffbff), UINT64_C(9007199254740990), 1023},
    {"5zzzzzzzzzzzz", UINT64_C(0x3fffffffffffffff), UINT64_C(4503599627370495), 1023},
    {"4222222222222", UINT64_C(0x2000000000000000), UINT64_C(2251799813685248), 0},
    {"2zzzzzzzzzzzz", UINT64_C(0x0fffffffffffffff), UINT64_C(1125899906842623), 1023},
    {"4pepepepepepe", UINT64_C(0x2aaaaaaaaaaaaaaa), UINT64_C(3002399751580330), 682},
    {"3ke6kg42c5s2z", UINT64_C(0x182890608081e01f), UINT64_C(1700000000123000), 31},
    {"3ke6kg42cm2k3", UINT64_C(0x1828906080890201), UINT64_C(1700000000123456), 513},
    {"3koxaaxls2322", UINT64_C(0x1853a63763800400), UINT64_C(1711843200000001), 0},
    {"3le7cbvxh4hgj", UINT64_C(0x18a8a83efad1358f), UINT64_C(1735210001413197), 399},
    {"3lnoenmmwydtj", UINT64_C(0x18ce8a9ca5cf272f), UINT64_C(1745623542494153), 815},
    {"3o2yss2a3wdyc", UINT64_C(0x1a03d8c00c1e27c8), UINT64_C(1830644716078985), 968},
    {"3qtlfcwtsai7o", UINT64_C(0x1b662b47338338b4), UINT64_C(1928040108843214), 180},
    {"3pxtt6p36et43", UINT64_C(0x1af7392542456441), UINT64_C(1897543551193433), 65},
    {"3sn26nfrudzt3", UINT64_C(0x1c4c049aefa4ff21), UINT64_C(1991220502718783), 801},
    {"3pflkpk36scml", UINT64_C(0x1aae30ac024c2251), UINT64_C(1877468365493000), 593},
    {"3hldvu5g2cguh", UINT64_C(0x16c53bd0d804334d), UINT64_C(1602327546298636), 845},
    {"3ssjdbpwk624i", UINT64_C(0x1c61e93d7902004e), UINT64_C(1997238433628288), 78},
    {"3kxhl375xywpn", UINT64_C(0x1875b10947df72b3), UINT64_C(1721200666605532), 691},
    {"3jzlsquy7pphd", UINT64_C(0x17fe38b6bc5ad5a9), UINT64_C(1688361000441525), 425},
    {"3m7n4jaum2vaw", UINT64_C(0x19166279b5206cdc), UINT64_C(1765371655571483), 220},
    {"3lijaxow6lbk5", UINT64_C(0x18b9e6ed38489e03), UINT64_C(1739950228640295), 515},
    {"3skzw4llbj7c7", UINT64_C(0x1c43fc1462779505), UINT64_C(1989012325178853), 261},
    {"3n5ob2w53wv6n", UINT64_C(0x198e8707061e6c93), UINT64_C(1798396251834267), 147},
    {"3k7km4ytpwwld", UINT64_C(0x18161217b35e7229), UINT64_C(1694916600977308), 553},
    {"3qejs2r2zticz", UINT64_C(0x1b29f805c1fcb91f), UINT64_C(1911492399103790), 287},
    {"3ji7rnxby3mf6", UINT64_C(0x17b8b79f4fe0c964), UINT64_C(1669255813920818), 356},
    {"3iz5u3wahc6fq", UINT64_C(0x177c7a0f0cd41176), UINT64_C(1652697036174596), 374},
    {"3i4w7nw3qp2oo", UINT64_C(0x170b859f036a8294), UINT64_C(1621648247675552), 660},
    {"234qzkdr7m3dc", UINT64_C(0x008adf826e590528), UINT64_C(38173142652481), 296},
    {"77ymebchoz6tv", UINT64_C(0x52fa4a3a1b4f933b), UINT64_C(5839036199916516), 827},
    {"4qizjxglchcoo", UINT64_C(0x2b3befeb2286a294), UINT64_C(3042331406672296), 660},
    {"54acntl27vrbn", UINT64_C(0x311913cc405ddcf3), UINT64_C(3454961670166391), 243},
    {"245zgaukpfrs3", UINT64_C(0x010fec36a155df01), UINT64_C(74745544988023), 769},
};

/* Bit 63 is set: texts with the syntax of a TID, but without its fields. */
static const row top_bit_rows[] = {
    {"c222222222222", UINT64_C(0x8000000000000000), UINT64_C(9007199254740992), 0},
    {"j222222222222", UINT64_C(0xf000000000000000), UINT64_C(16888498602639360), 0},
    {"czzzzzzzzzzzz", UINT64_C(0x8fffffffffffffff), UINT64_C(10133099161583615), 1023},
    {"d3jzfcijpj2z2", UINT64_C(0x90bfeb439f5783e0), UINT64_C(10185853454767584), 992},
    {"e777777777777", UINT64_C(0xa294a5294a5294a5), UINT64_C(11440595827594405), 165},
    {"f2222222222aa", UINT64_C(0xb0000000000000c6), UINT64_C(12384898975268864), 198},
    {"jzzzzzzzzzzzz", UINT64_C(0xffffffffffffffff), UINT64_C(18014398509481983), 1023},
};

enum { ROWS = sizeof rows / sizeof rows[0], TOP = sizeof top_bit_rows / sizeof top_bit_rows[0] };

static void bytes_of(uint64_t number, uint8_t out[U9_TID_SIZE])
{
    for (unsigned i = 0; i < U9_TID_SIZE; i++) out[i] = (uint8_t)(number >> (56 - 8 * i));
}

static u9_err parse(const char *text, size_t size, unsigned flags, u9_tid *out, u9_id_reason *why)
{
    char *copy = (char *)exactly(text, size);
    u9_err err = u9_tid_parse(copy, size, flags, out, why);
    ck_assert(err != U9_OK || u9_tid_is_valid(copy, size));
    free(copy);
    return err;
}

static void expect_refused(const char *text, size_t size, unsigned flags, u9_id_reason expected)
{
    u9_tid tid = {77, 77};
    u9_id_reason why = U9_ID_FINE;
    ck_assert_int_eq(parse(text, size, flags, &tid, &why), U9_ARG);
    ck_assert_msg(why == expected, "%s: reason %d, not %d", text, why, expected);
    ck_assert_int_eq(parse(text, size, flags, &tid, NULL), U9_ARG);
    ck_assert_uint_eq(tid.timestamp, 77); /* untouched */
    ck_assert_uint_eq(tid.clock_id, 77);
}

/* All forms of a row say the same. */
static void expect_forms(const row *r, unsigned flags)
{
    const u9_tid tid = {r->timestamp, r->clock_id};
    char text[U9_TID_TEXT_SIZE + 1];
    uint8_t packed[U9_TID_SIZE], expected[U9_TID_SIZE];
    u9_tid read, unpacked;
    u9_id_reason why = U9_TID_LENGTH;
    bytes_of(r->number, expected);
    memset(text, 'x', sizeof text);
    ck_assert_int_eq(u9_tid_format(&tid, flags, text), U9_OK);
    ck_assert_str_eq(text, r->text);
    ck_assert_int_eq(u9_tid_pack(&tid, flags, packed), U9_OK);
    ck_assert_mem_eq(packed, expected, sizeof packed);
    ck_assert_int_eq(parse(r->text, U9_TID_TEXT_SIZE, flags, &read, &why), U9_OK);
    ck_assert_int_eq(why, U9_ID_FINE);
    ck_assert_int_eq(u9_tid_unpack(packed, sizeof packed, flags, &unpacked, &why), U9_OK);
    ck_assert_uint_eq(read.timestamp, r->timestamp);
    ck_assert_uint_eq(read.clock_id, r->clock_id);
    ck_assert_uint_eq(unpacked.timestamp, r->timestamp);
    ck_assert_uint_eq(unpacked.clock_id, r->clock_id);
}

/* [I-8] [I-9] */
START_TEST(each_tid_has_its_number_its_fields_and_its_text)
{
    for (size_t i = 0; i < ROWS; i++) {
        expect_forms(&rows[i], 0);
        expect_forms(&rows[i], U9_TID_TOP_BIT);
        ck_assert_int_ne(u9_tid_is_valid(rows[i].text, U9_TID_TEXT_SIZE), 0);
    }
}
END_TEST

/* [I-9] First digits c to j: the syntax is right, the top bit is not 0. */
START_TEST(a_set_top_bit_has_the_syntax_but_needs_the_flag)
{
    for (size_t i = 0; i < TOP; i++) {
        const row *r = &top_bit_rows[i];
        const u9_tid tid = {r->timestamp, r->clock_id};
        char text[U9_TID_TEXT_SIZE + 1] = "untouched";
        uint8_t packed[U9_TID_SIZE] = {7};
        u9_tid read;
        u9_id_reason why = U9_ID_FINE;
        ck_assert_int_ne(u9_tid_is_valid(r->text, U9_TID_TEXT_SIZE), 0);
        expect_refused(r->text, U9_TID_TEXT_SIZE, 0, U9_TID_SIGN);
        ck_assert_int_eq(u9_tid_format(&tid, 0, text), U9_ARG);
        ck_assert_str_eq(text, "untouched");
        ck_assert_int_eq(u9_tid_pack(&tid, 0, packed), U9_ARG);
        ck_assert_uint_eq(packed[0], 7);
        bytes_of(r->number, packed);
        ck_assert_int_eq(u9_tid_unpack(packed, sizeof packed, 0, &read, &why), U9_ARG);
        ck_assert_int_eq(why, U9_TID_SIGN);
        expect_forms(r, U9_TID_TOP_BIT);
    }
}
END_TEST

static const struct {
    const char *text;
    size_t size;
    u9_id_reason why;
} bad_rows[] = {
    {TEXT(""), U9_TID_LENGTH},
    {TEXT("self"), U9_TID_LENGTH},
    {TEXT("3jzfcijpj2z2"), U9_TID_LENGTH},
    {TEXT("22222222222222"), U9_TID_LENGTH},
    {TEXT("3jzfcijpj2z2a\0"), U9_TID_LENGTH},
    {TEXT("3jzfcijpj2z2a\n"), U9_TID_LENGTH},
    {TEXT("3jzf-cij-pj2z-2a"), U9_TID_LENGTH}, /* the dashes of an earlier form */
    {TEXT("3jzf-cij-pj2z"), U9_TID_CHARACTER},
    {TEXT("3jzfcijpj2z21"), U9_TID_CHARACTER},
    {TEXT("3JZFCIJPJ2Z2A"), U9_TID_CHARACTER},
    {TEXT("3Jzfcijpj2z2a"), U9_TID_CHARACTER},
    {TEXT("3jzfcijpj2z2="), U9_TID_CHARACTER}, /* padding */
    {TEXT("0jzfcijpj2z2a"), U9_TID_CHARACTER},
    {TEXT("1jzfcijpj2z2a"), U9_TID_CHARACTER},
    {TEXT("8222222222222"), U9_TID_CHARACTER},
    {TEXT("9222222222222"), U9_TID_CHARACTER},
    {TEXT("3jzfcijpj2z29"), U9_TID_CHARACTER},
    {TEXT("3jzf1ijpj2z2a"), U9_TID_CHARACTER},
    {TEXT("3jzfcijpj2z2\n"), U9_TID_CHARACTER},
    {TEXT("3jzfcijpj2z2\0"), U9_TID_CHARACTER},
    {TEXT("3jzfcijpj2z2 "), U9_TID_CHARACTER},
    {TEXT("3jzfcijpj2z\303\251"), U9_TID_CHARACTER},
    {TEXT("3jzfci.pj2z2a"), U9_TID_CHARACTER},
    {TEXT("3jzfci_pj2z2a"), U9_TID_CHARACTER},
    {TEXT("\377jzfcijpj2z2a"), U9_TID_CHARACTER},
    {TEXT("k222222222222"), U9_TID_OVERFLOW},
    {TEXT("kjzfcijpj2z2a"), U9_TID_OVERFLOW},
    {TEXT("l222222222222"), U9_TID_OVERFLOW},
    {TEXT("m7777777777zz"), U9_TID_OVERFLOW},
    {TEXT("zzzzzzzzzzzzz"), U9_TID_OVERFLOW},
};

/* [I-9] */
START_TEST(bad_texts_are_refused_in_either_mode)
{
    for (size_t i = 0; i < sizeof bad_rows / sizeof bad_rows[0]; i++) {
        expect_refused(bad_rows[i].text, bad_rows[i].size, 0, bad_rows[i].why);
        expect_refused(bad_rows[i].text, bad_rows[i].size, U9_TID_TOP_BIT, bad_rows[i].why);
        ck_assert_int_eq(u9_tid_is_valid(bad_rows[i].text, bad_rows[i].size), 0);
    }
}
END_TEST

/* [I-9] The syntax, character by character. */
START_TEST(every_character_is_a_digit_or_refused)
{
    static const char digits[] = "234567abcdefghijklmnopqrstuvwxyz";
    for (unsigned at = 0; at < U9_TID_TEXT_SIZE; at++)
        for (unsigned c = 0; c < 256; c++) {
            char text[] = "3jui7kd54zh2y";
            const char *digit = c ? strchr(digits, (char)c) : NULL;
            text[at] = (char)c;
            bool valid = digit && (at > 0 || digit - digits < 16);
            ck_assert_int_eq(u9_tid_is_valid(text, U9_TID_TEXT_SIZE) != 0, valid);
        }
}
END_TEST

/* [I-8] */
START_TEST(bytes_of_another_length_are_refused)
{
    static const uint8_t bytes[9];
    for (size_t size = 0; size <= sizeof bytes; size++) {
        u9_tid tid;
        u9_id_reason why = U9_ID_FINE;
        uint8_t *copy = (uint8_t *)exactly(bytes, size);
        ck_assert_int_eq(u9_tid_unpack(copy, size, 0, &tid, &why), size == 8 ? U9_OK : U9_ARG);
        ck_assert_int_eq(why, size == 8 ? U9_ID_FINE : U9_TID_LENGTH);
        free(copy);
    }
}
END_TEST

/* [I-8] */
START_TEST(fields_out_of_range_neither_pack_nor_print)
{
    static const struct {
        u9_tid tid;
        unsigned flags;
    } bad[] = {
        {{UINT64_C(1) << 53, 0}, 0},  {{UINT64_C(1) << 54, 0}, U9_TID_TOP_BIT},
        {{UINT64_MAX, 0}, 0},         {{UINT64_MAX, 0}, U9_TID_TOP_BIT},
        {{0, 1024}, 0},               {{0, 1024}, U9_TID_TOP_BIT},
        {{0, UINT32_MAX}, 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[U9_TID_TEXT_SIZE + 1] = "untouched";
        uint8_t packed[U9_TID_SIZE] = {7};
        ck_assert_int_eq(u9_tid_format(&bad[i].tid, bad[i].flags, text), U9_ARG);
        ck_assert_int_eq(u9_tid_pack(&bad[i].tid, bad[i].flags, packed), U9_ARG);
        ck_assert_str_eq(text, "untouched");
        ck_assert_uint_eq(packed[0], 7);
    }
}
END_TEST

START_TEST(an_unknown_flag_is_refused_and_is_no_fault_of_the_text)
{
    const u9_tid tid = {1, 1};
    const uint8_t bytes[U9_TID_SIZE] = {0};
    char text[U9_TID_TEXT_SIZE + 1];
    uint8_t packed[U9_TID_SIZE];
    u9_tid read;
    u9_id_reason why = U9_ID_FINE;
    ck_assert_int_eq(u9_tid_parse("3jui7kd54zh2y", 13, 2, &read, &why), U9_ARG);
    ck_assert_int_eq(u9_tid_unpack(bytes, sizeof bytes, 2, &read, &why), U9_ARG);
    ck_assert_int_eq(u9_tid_format(&tid, 2, text), U9_ARG);
    ck_assert_int_eq(u9_tid_pack(&tid, 2, packed), U9_ARG);
    ck_assert_int_eq(why, U9_ID_FINE);
}
END_TEST

/* [I-8] [I-9] */
START_TEST(texts_are_ordered_as_the_numbers_are)
{
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < ROWS; k++) {
            int texts = strcmp(rows[i].text, rows[k].text);
            ck_assert_int_eq((texts > 0) - (texts < 0),
                             (rows[i].number > rows[k].number) - (rows[i].number < rows[k].number));
        }
}
END_TEST

Suite *suite_tid(void)
{
    const TTest *const tests[] = {
        each_tid_has_its_number_its_fields_and_its_text,
        a_set_top_bit_has_the_syntax_but_needs_the_flag,
        bad_texts_are_refused_in_either_mode,
        every_character_is_a_digit_or_refused,
        bytes_of_another_length_are_refused,
        fields_out_of_range_neither_pack_nor_print,
        an_unknown_flag_is_refused_and_is_no_fault_of_the_text,
        texts_are_ordered_as_the_numbers_are,
    };
    Suite *suite = suite_create("tid");
    TCase *tcase = tcase_create("tid");
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
