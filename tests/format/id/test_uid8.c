/*
 * tests/format/id/test_uid8.c: what SPEC-values.md says of eight-byte identifiers (I-10 to I-12), read
 * as tests.
 *
 * The rows are those of the tests of the scheme's first implementation, the ends of each field, and
 * values drawn at random; the tests around them forge one field, bit or character each.
 */
#include "tests/format/base/hex.h"
#include "tests/suites.h"

#include <stdbool.h>
#include <u9/id.h>

#define SPREAD U9_UID8_SPREAD
#define SEQUENTIAL U9_UID8_TIME_SEQUENTIAL

typedef struct row {
    const char *text;
    unsigned layout; /* the first that holds it */
    u9_uid8 id;
} row;

static const row rows[] = {
    {"0000000000000000", 1, {UINT64_C(0), 0, 0, 0, SPREAD}},
    {"cb54ecf284000000", 1, {UINT64_C(143062936275), 0, 0, 0, SPREAD}},
    {"0000000000220000", 1, {UINT64_C(0), 34, 0, 0, SPREAD}},
    {"0000000000000005", 1, {UINT64_C(0), 0, 0, 5, SPREAD}},
    {"ffffffffffffefff", 4, {UINT64_C(4398046511103), 63, 2047, 15, SPREAD}},
    {"0853cdcab4ca1025", 3, {UINT64_C(143062936275), 10, 2, 5, SEQUENTIAL}},
    {"0000000000000ff0", 2, {UINT64_C(0), 0, 255, 0, SPREAD}},
    {"8000000000000000", 1, {UINT64_C(1), 0, 0, 0, SPREAD}},
    {"0000000000400000", 1, {UINT64_C(2199023255552), 0, 0, 0, SPREAD}},
    {"ffffffffffc00000", 1, {UINT64_C(4398046511103), 0, 0, 0, SPREAD}},
    {"00000000003f0000", 1, {UINT64_C(0), 63, 0, 0, SPREAD}},
    {"00000000000003f0", 1, {UINT64_C(0), 0, 63, 0, SPREAD}},
    {"0000000000000100", 1, {UINT64_C(0), 0, 16, 0, SPREAD}},
    {"000000000000000f", 1, {UINT64_C(0), 0, 0, 15, SPREAD}},
    {"0000000000000400", 2, {UINT64_C(0), 0, 64, 0, SPREAD}},
    {"0000000000002000", 4, {UINT64_C(0), 0, 256, 0, SPREAD}},
    {"0000000000008000", 4, {UINT64_C(0), 0, 1024, 0, SPREAD}},
    {"0000000000003013", 4, {UINT64_C(0), 0, 257, 3, SEQUENTIAL}},
    {"0000000000401000", 3, {UINT64_C(1), 0, 0, 0, SEQUENTIAL}},
    {"00b26d61e2800000", 1, {UINT64_C(1406714400000), 0, 0, 0, SPREAD}},
    {"00b26d61e2bf03ff", 1, {UINT64_C(1406714400000), 63, 63, 15, SPREAD}},
    {"0000000080000000", 1, {UINT64_C(4294967296), 0, 0, 0, SPREAD}},
    {"9c4e7362e2aa00b4", 1, {UINT64_C(1405642240569), 42, 11, 4, SPREAD}},
    {"24b4571462800595", 2, {UINT64_C(1400845774116), 0, 89, 5, SPREAD}},
    {"541a464ed7e6148d", 3, {UINT64_C(1444872272735), 38, 72, 13, SEQUENTIAL}},
    {"6ea4834c65daf872", 4, {UINT64_C(1900825883031), 26, 1927, 2, SEQUENTIAL}},
    {"9ce211d5f9b60065", 1, {UINT64_C(1785289262905), 54, 6, 5, SPREAD}},
    {"3d5ca7865e8305ca", 2, {UINT64_C(1625140050620), 3, 92, 10, SPREAD}},
    {"66781d47f3db180e", 3, {UINT64_C(1760407396303), 27, 128, 14, SEQUENTIAL}},
    {"aa3f233f0685a0c4", 4, {UINT64_C(1516069256277), 5, 1292, 4, SPREAD}},
    {"12a411b8328d02db", 1, {UINT64_C(1426424603976), 13, 45, 11, SPREAD}},
    {"43e3db9ffdb70e99", 2, {UINT64_C(1924042311618), 55, 233, 9, SPREAD}},
    {"5797668fef0a1082", 3, {UINT64_C(1504808943548), 10, 8, 2, SEQUENTIAL}},
    {"53ea45fad01d3f75", 4, {UINT64_C(1441650961216), 29, 503, 5, SEQUENTIAL}},
    {"72d19465e59a034d", 1, {UINT64_C(1819558906702), 26, 52, 13, SPREAD}},
    {"ed288046e991058d", 2, {UINT64_C(1749695927479), 17, 88, 13, SPREAD}},
    {"698fae1020fc13cf", 3, {UINT64_C(1813528461443), 60, 60, 15, SEQUENTIAL}},
    {"5da6062953ee9632", 4, {UINT64_C(1608869520719), 46, 1123, 2, SEQUENTIAL}},
    {"fc5beb939cb6039b", 1, {UINT64_C(1347711130175), 54, 57, 11, SPREAD}},
    {"826149d44c980669", 2, {UINT64_C(1314991015489), 24, 102, 9, SPREAD}},
    {"5b6be83879cd1117", 3, {UINT64_C(1570609619431), 13, 17, 7, SEQUENTIAL}},
    {"6b5a1d71ef5f9680", 4, {UINT64_C(1844293519293), 31, 1128, 0, SEQUENTIAL}},
    {"c9406026c69c000e", 1, {UINT64_C(1526391505555), 28, 0, 14, SPREAD}},
    {"af64f26655a10442", 2, {UINT64_C(1831372531445), 33, 68, 2, SPREAD}},
    {"6a46b3bc45371b3b", 3, {UINT64_C(1825810870548), 55, 179, 11, SEQUENTIAL}},
    {"737712421c2d991e", 4, {UINT64_C(1983675697264), 45, 1169, 14, SEQUENTIAL}},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static void expect_same(const u9_uid8 *a, const u9_uid8 *b)
{
    ck_assert_uint_eq(a->timestamp_ms, b->timestamp_ms);
    ck_assert_uint_eq(a->sequence, b->sequence);
    ck_assert_uint_eq(a->generator, b->generator);
    ck_assert_uint_eq(a->cluster, b->cluster);
    ck_assert_int_eq(a->mode, b->mode);
}

static u9_err parse(const char *text, size_t size, unsigned layout, u9_uid8 *out, u9_id_reason *why)
{
    char *copy = (char *)exactly(text, size);
    u9_err err = u9_uid8_parse(copy, size, layout, out, why);
    free(copy);
    return err;
}

static void expect_refused(const char *text, size_t size, unsigned layout, u9_id_reason expected)
{
    u9_uid8 id = {.timestamp_ms = 77};
    u9_id_reason why = U9_ID_FINE;
    ck_assert_int_eq(parse(text, size, layout, &id, &why), U9_ARG);
    ck_assert_msg(why == expected, "%s: reason %d, not %d", text, why, expected);
    ck_assert_int_eq(parse(text, size, layout, &id, NULL), U9_ARG);
    ck_assert_uint_eq(id.timestamp_ms, 77); /* untouched */
}

static void expect_no_bytes(const u9_uid8 *id, unsigned layout, u9_id_reason expected)
{
    uint8_t packed[U9_UID8_SIZE] = {7};
    char text[U9_UID8_TEXT_SIZE + 1] = "untouched";
    u9_id_reason why = U9_ID_FINE;
    ck_assert_int_eq(u9_uid8_pack(id, layout, packed, &why), U9_ARG);
    ck_assert_int_eq(why, expected);
    why = U9_ID_FINE;
    ck_assert_int_eq(u9_uid8_format(id, layout, text, &why), U9_ARG);
    ck_assert_int_eq(why, expected);
    ck_assert_int_eq(u9_uid8_pack(id, layout, packed, NULL), U9_ARG);
    ck_assert_uint_eq(packed[0], 7);
    ck_assert_str_eq(text, "untouched");
}

static void expect_forms(const row *r, unsigned layout)
{
    uint8_t packed[U9_UID8_SIZE], expected[U9_UID8_SIZE];
    char text[U9_UID8_TEXT_SIZE + 1];
    u9_uid8 read, unpacked;
    u9_id_reason why = U9_UID8_LENGTH;
    unhex(r->text, expected);
    ck_assert_int_eq(u9_uid8_pack(&r->id, layout, packed, &why), U9_OK);
    ck_assert_int_eq(why, U9_ID_FINE);
    ck_assert_mem_eq(packed, expected, sizeof packed);
    ck_assert_int_eq(u9_uid8_format(&r->id, layout, text, &why), U9_OK);
    ck_assert_str_eq(text, r->text);
    ck_assert_int_eq(u9_uid8_unpack(packed, sizeof packed, layout, &unpacked, &why), U9_OK);
    expect_same(&unpacked, &r->id);
    ck_assert_int_eq(parse(r->text, U9_UID8_TEXT_SIZE, layout, &read, &why), U9_OK);
    expect_same(&read, &r->id);
}

/* [I-10] [I-11] */
START_TEST(each_identifier_has_its_bytes_in_its_layout_and_in_later_ones)
{
    for (size_t i = 0; i < ROWS; i++)
        for (unsigned layout = rows[i].layout; layout <= U9_UID8_LAYOUT_MAX; layout++)
            expect_forms(&rows[i], layout);
}
END_TEST

/* [I-11] Read: reserved bits are set. Written: the generator or the mode does not fit. */
START_TEST(each_identifier_is_refused_in_earlier_layouts)
{
    for (size_t i = 0; i < ROWS; i++)
        for (unsigned layout = 1; layout < rows[i].layout; layout++) {
            uint8_t packed[U9_UID8_SIZE];
            u9_uid8 id;
            u9_id_reason why = U9_ID_FINE;
            unsigned generators = layout == 1 ? 64 : 256;
            unhex(rows[i].text, packed);
            ck_assert_int_eq(u9_uid8_unpack(packed, sizeof packed, layout, &id, &why), U9_ARG);
            ck_assert_int_eq(why, U9_UID8_RESERVED);
            expect_refused(rows[i].text, U9_UID8_TEXT_SIZE, layout, U9_UID8_RESERVED);
            expect_no_bytes(&rows[i].id, layout, rows[i].id.generator >= generators
                                                     ? U9_UID8_GENERATOR
                                                     : U9_UID8_MODE);
        }
}
END_TEST

/* [I-11] */
START_TEST(each_layout_reserves_its_bits)
{
    static const uint64_t reserved[] = {0xfc00, 0xf000, 0xe000, 0};
    for (unsigned layout = 1; layout <= U9_UID8_LAYOUT_MAX; layout++)
        for (unsigned bit = 0; bit < 64; bit++) {
            uint8_t packed[U9_UID8_SIZE] = {0}, again[U9_UID8_SIZE];
            u9_uid8 id;
            u9_id_reason why;
            packed[7 - bit / 8] = (uint8_t)(1u << bit % 8);
            bool fits = bit >= 16 || (reserved[layout - 1] >> bit & 1) == 0;
            ck_assert_int_eq(u9_uid8_unpack(packed, sizeof packed, layout, &id, &why),
                             fits ? U9_OK : U9_ARG);
            ck_assert_int_eq(why, fits ? U9_ID_FINE : U9_UID8_RESERVED);
            if (!fits) continue;
            ck_assert_int_eq(u9_uid8_pack(&id, layout, again, NULL), U9_OK);
            ck_assert_mem_eq(again, packed, sizeof packed);
        }
}
END_TEST

/* [I-10] */
START_TEST(a_spread_timestamp_stands_in_reverse)
{
    for (unsigned bit = 0; bit < 42; bit++) {
        const u9_uid8 spread = {.timestamp_ms = UINT64_C(1) << bit, .mode = SPREAD};
        const u9_uid8 sequential = {.timestamp_ms = UINT64_C(1) << bit, .mode = SEQUENTIAL};
        uint8_t packed[U9_UID8_SIZE], expected[U9_UID8_SIZE] = {0};
        expected[bit / 8] = (uint8_t)(0x80u >> bit % 8);
        ck_assert_int_eq(u9_uid8_pack(&spread, 1, packed, NULL), U9_OK);
        ck_assert_mem_eq(packed, expected, sizeof packed);
        unsigned at = 22 + bit;
        memset(expected, 0, sizeof expected);
        expected[6] = 0x10;
        expected[7 - at / 8] = (uint8_t)(1u << at % 8);
        ck_assert_int_eq(u9_uid8_pack(&sequential, 3, packed, NULL), U9_OK);
        ck_assert_mem_eq(packed, expected, sizeof packed);
    }
}
END_TEST

/* [I-10] [I-11] */
START_TEST(fields_out_of_range_are_refused_each_with_its_reason)
{
    const u9_uid8 good = {UINT64_C(143062936275), 0, 0, 0, SPREAD};
    static const uint32_t generators[] = {64, 256, 256, 2048};
    for (unsigned layout = 1; layout <= U9_UID8_LAYOUT_MAX; layout++) {
        u9_uid8 bad[6] = {good, good, good, good, good, good};
        bad[0].timestamp_ms = UINT64_C(4398046511104); /* 2^42 */
        bad[1].timestamp_ms = UINT64_MAX;
        bad[2].sequence = 64;
        bad[3].sequence = UINT32_MAX;
        bad[4].cluster = 16;
        bad[5].cluster = UINT32_MAX;
        expect_no_bytes(&bad[0], layout, U9_UID8_TIMESTAMP);
        expect_no_bytes(&bad[1], layout, U9_UID8_TIMESTAMP);
        expect_no_bytes(&bad[2], layout, U9_UID8_SEQUENCE);
        expect_no_bytes(&bad[3], layout, U9_UID8_SEQUENCE);
        expect_no_bytes(&bad[4], layout, U9_UID8_CLUSTER);
        expect_no_bytes(&bad[5], layout, U9_UID8_CLUSTER);
        bad[0] = bad[1] = bad[2] = bad[3] = good;
        bad[0].generator = generators[layout - 1];
        bad[1].generator = UINT32_MAX;
        bad[2].mode = (u9_uid8_mode)2;
        bad[3].mode = SEQUENTIAL;
        expect_no_bytes(&bad[0], layout, U9_UID8_GENERATOR);
        expect_no_bytes(&bad[1], layout, U9_UID8_GENERATOR);
        expect_no_bytes(&bad[2], layout, U9_UID8_MODE);
        if (layout < 3) expect_no_bytes(&bad[3], layout, U9_UID8_MODE);
    }
}
END_TEST

/* [I-12] */
START_TEST(a_text_is_16_hex_digits_of_either_case)
{
    const u9_uid8 expected = {UINT64_C(143062936275), 0, 0, 0, SPREAD};
    u9_uid8 id;
    ck_assert_int_eq(parse(TEXT("CB54ECF284000000"), 4, &id, NULL), U9_OK);
    expect_same(&id, &expected);
    ck_assert_int_eq(parse(TEXT("cB54EcF284000000"), 4, &id, NULL), U9_OK);
    expect_same(&id, &expected);
    expect_refused(TEXT(""), 4, U9_UID8_LENGTH);
    expect_refused(TEXT("cb54ecf2840000"), 4, U9_UID8_LENGTH);
    expect_refused(TEXT("cb54ecf28400000"), 4, U9_UID8_LENGTH);
    expect_refused(TEXT("cb54ecf2840000000"), 4, U9_UID8_LENGTH);
    expect_refused(TEXT("cb54ecf284000000\n"), 4, U9_UID8_LENGTH);
    expect_refused(TEXT("cb54ecf2840000 0"), 4, U9_UID8_CHARACTER);
    expect_refused(TEXT("0xcb54ecf2840000"), 4, U9_UID8_CHARACTER);
    expect_refused(TEXT("cb54ecf2-8400000"), 4, U9_UID8_CHARACTER);
    expect_refused(TEXT("gb54ecf284000000"), 4, U9_UID8_CHARACTER);
    expect_refused(TEXT("cb54ecf28400000\0"), 4, U9_UID8_CHARACTER);
    expect_refused(TEXT("cb54ecf2840000\303\251"), 4, U9_UID8_CHARACTER);
}
END_TEST

/* [I-10] */
START_TEST(bytes_of_another_length_are_refused)
{
    static const uint8_t bytes[9];
    for (size_t size = 0; size <= sizeof bytes; size++) {
        u9_uid8 id;
        u9_id_reason why = U9_ID_FINE;
        uint8_t *copy = (uint8_t *)exactly(bytes, size);
        ck_assert_int_eq(u9_uid8_unpack(copy, size, 4, &id, &why), size == 8 ? U9_OK : U9_ARG);
        ck_assert_int_eq(why, size == 8 ? U9_ID_FINE : U9_UID8_LENGTH);
        free(copy);
    }
}
END_TEST

START_TEST(there_are_four_layouts)
{
    static const unsigned none[] = {0, 5, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        const u9_uid8 zero = {.mode = SPREAD};
        uint8_t packed[U9_UID8_SIZE] = {0};
        char text[U9_UID8_TEXT_SIZE + 1];
        u9_uid8 id;
        u9_id_reason why = U9_ID_FINE;
        ck_assert_int_eq(u9_uid8_pack(&zero, none[i], packed, &why), U9_ARG);
        ck_assert_int_eq(u9_uid8_unpack(packed, sizeof packed, none[i], &id, &why), U9_ARG);
        ck_assert_int_eq(u9_uid8_format(&zero, none[i], text, &why), U9_ARG);
        ck_assert_int_eq(u9_uid8_parse("0000000000000000", 16, none[i], &id, &why), U9_ARG);
        ck_assert_int_eq(why, U9_ID_FINE); /* no fault of the identifier */
    }
}
END_TEST

/* [I-10] */
START_TEST(time_sequential_identifiers_are_ordered_by_time)
{
    uint8_t before[U9_UID8_SIZE] = {0}, packed[U9_UID8_SIZE];
    for (uint64_t time = 1; time <= U9_UID8_TIMESTAMP_MAX; time = 2 * time + 1)
        for (uint32_t sequence = 0; sequence < 64; sequence++) {
            const u9_uid8 id = {time, sequence, 2047 - sequence, 15, SEQUENTIAL};
            ck_assert_int_eq(u9_uid8_pack(&id, 4, packed, NULL), U9_OK);
            ck_assert_int_lt(memcmp(before, packed, sizeof packed), 0);
            memcpy(before, packed, sizeof packed);
        }
}
END_TEST

Suite *suite_uid8(void)
{
    const TTest *const tests[] = {
        each_identifier_has_its_bytes_in_its_layout_and_in_later_ones,
        each_identifier_is_refused_in_earlier_layouts,
        each_layout_reserves_its_bits,
        a_spread_timestamp_stands_in_reverse,
        fields_out_of_range_are_refused_each_with_its_reason,
        a_text_is_16_hex_digits_of_either_case,
        bytes_of_another_length_are_refused,
        there_are_four_layouts,
        time_sequential_identifiers_are_ordered_by_time,
    };
    Suite *suite = suite_create("uid8");
    TCase *tcase = tcase_create("uid8");
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
