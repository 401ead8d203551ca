/*
 * tests/format/id/test_muid.c: what SPEC-values.md says of muids (I-*), read as tests.
 *
 * The rows are the examples of the muid specification, those of its first implementation's tests,
 * and values drawn at random; the tests around them forge one character or bit each.
 */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <u9/id.h>

Suite *suite_muid(void);

/* How a text may be read: OK is canonical, SHORT omits parts, LENIENT needs the flag. */
typedef enum status { OK, SHORT, LENIENT } status;

typedef struct row {
    status status;
    const char *text;
    u9_muid muid;
    const char *packed; /* hex */
    const char *canonical;
} row;

static const row rows[] = {
    /* the example of the muid specification */
    {OK, "5D5EAC793E61F-1BFC71B112D-0000000B",
     {UINT64_C(1642579230975519), UINT64_C(1923190821165), 11},
     "5d5eac793e61f1bfc71b112d0000000b", "5D5EAC793E61F-1BFC71B112D-0000000B"},
    /* zero */
    {OK, "0000000000000-00000000000-00000000",
     {0, 0, 0},
     "00000000000000000000000000000000", "0000000000000-00000000000-00000000"},
    /* offset only */
    {OK, "0000000000000-00000000000-00000001",
     {0, 0, 1},
     "00000000000000000000000000000001", "0000000000000-00000000000-00000001"},
    /* medallion one */
    {OK, "0000000000000-00000000001-00000000",
     {0, 1, 0},
     "00000000000000000000000100000000", "0000000000000-00000000001-00000000"},
    /* pure timestamp, the example with medallion and offset 0 */
    {OK, "5D5EAC793E61F-00000000000-00000000",
     {UINT64_C(1642579230975519), 0, 0},
     "5d5eac793e61f0000000000000000000", "5D5EAC793E61F-00000000000-00000000"},
    /* negative offset -1 */
    {OK, "5D5EAC793E61F-1BFC71B112D-FFFFFFFF",
     {UINT64_C(1642579230975519), UINT64_C(1923190821165), -1},
     "5d5eac793e61f1bfc71b112dffffffff", "5D5EAC793E61F-1BFC71B112D-FFFFFFFF"},
    /* min offset */
    {OK, "5D5EAC793E61F-1BFC71B112D-80000000",
     {UINT64_C(1642579230975519), UINT64_C(1923190821165), INT32_MIN},
     "5d5eac793e61f1bfc71b112d80000000", "5D5EAC793E61F-1BFC71B112D-80000000"},
    /* max offset - 1 */
    {OK, "5D5EAC793E61F-1BFC71B112D-7FFFFFFE",
     {UINT64_C(1642579230975519), UINT64_C(1923190821165), 2147483646},
     "5d5eac793e61f1bfc71b112d7ffffffe", "5D5EAC793E61F-1BFC71B112D-7FFFFFFE"},
    /* global object; (-1, -1, 4) */
    {OK, "FFFFFFFFFFFFF-FFFFFFFFFFF-00000004",
     {U9_MUID_TIMESTAMP_MAX, U9_MUID_MEDALLION_MAX, 4},
     "ffffffffffffffffffffffff00000004", "FFFFFFFFFFFFF-FFFFFFFFFFF-00000004"},
    /* instance object: timestamp -1 */
    {OK, "FFFFFFFFFFFFF-1BFC71B112D-00000001",
     {U9_MUID_TIMESTAMP_MAX, UINT64_C(1923190821165), 1},
     "fffffffffffff1bfc71b112d00000001", "FFFFFFFFFFFFF-1BFC71B112D-00000001"},
    /* max non-special timestamp */
    {OK, "FFFFFFFFFFFFE-1BFC71B112D-00000001",
     {UINT64_C(4503599627370494), UINT64_C(1923190821165), 1},
     "ffffffffffffe1bfc71b112d00000001", "FFFFFFFFFFFFE-1BFC71B112D-00000001"},
    /* timestamp 2^51: positive */
    {OK, "8000000000000-1BFC71B112D-00000001",
     {UINT64_C(2251799813685248), UINT64_C(1923190821165), 1},
     "80000000000001bfc71b112d00000001", "8000000000000-1BFC71B112D-00000001"},
    /* timestamp 2^51-1 */
    {OK, "7FFFFFFFFFFFF-1BFC71B112D-00000001",
     {UINT64_C(2251799813685247), UINT64_C(1923190821165), 1},
     "7ffffffffffff1bfc71b112d00000001", "7FFFFFFFFFFFF-1BFC71B112D-00000001"},
    /* smallest generated medallion 0x10000000000 */
    {OK, "5D5EAC793E61F-10000000000-00000001",
     {UINT64_C(1642579230975519), UINT64_C(1099511627776), 1},
     "5d5eac793e61f1000000000000000001", "5D5EAC793E61F-10000000000-00000001"},
    /* medallion 2199023255552=0x20000000000: out of generated range, legal */
    {OK, "5D5EAC793E61F-20000000000-00000001",
     {UINT64_C(1642579230975519), UINT64_C(2199023255552), 1},
     "5d5eac793e61f2000000000000000001", "5D5EAC793E61F-20000000000-00000001"},
    /* max medallion 17592186044414 */
    {OK, "5D5EAC793E61F-FFFFFFFFFFE-00000001",
     {UINT64_C(1642579230975519), UINT64_C(17592186044414), 1},
     "5d5eac793e61fffffffffffe00000001", "5D5EAC793E61F-FFFFFFFFFFE-00000001"},
    /* medallion 2^43: positive */
    {OK, "5D5EAC793E61F-80000000000-00000001",
     {UINT64_C(1642579230975519), UINT64_C(8796093022208), 1},
     "5d5eac793e61f8000000000000000001", "5D5EAC793E61F-80000000000-00000001"},
    /* relative ref: same transaction, previous change */
    {OK, "0000000000000-00000000000-FFFFFFFF",
     {0, 0, -1},
     "000000000000000000000000ffffffff", "0000000000000-00000000000-FFFFFFFF"},
    /* zero timestamp */
    {OK, "0000000000000-1BFC71B112D-00000007",
     {0, UINT64_C(1923190821165), 7},
     "00000000000001bfc71b112d00000007", "0000000000000-1BFC71B112D-00000007"},
    /* offset 137 */
    {OK, "5D5EAC793E61F-1BFC71B112D-00000089",
     {UINT64_C(1642579230975519), UINT64_C(1923190821165), 137},
     "5d5eac793e61f1bfc71b112d00000089", "5D5EAC793E61F-1BFC71B112D-00000089"},
    /* random */
    {OK, "705F78BF022CD-1B7EC89B7A6-AB1364D7",
     {UINT64_C(1976885599806157), UINT64_C(1889459091366), -1424792361},
     "705f78bf022cd1b7ec89b7a6ab1364d7", "705F78BF022CD-1B7EC89B7A6-AB1364D7"},
    /* random */
    {OK, "6887C2E14BA28-1F849DC9B34-365E52E7",
     {UINT64_C(1838916790696488), UINT64_C(2165902711604), 912151271},
     "6887c2e14ba281f849dc9b34365e52e7", "6887C2E14BA28-1F849DC9B34-365E52E7"},
    /* random */
    {OK, "5D6ED092C9125-152317B3B86-9D742E52",
     {UINT64_C(1643688433062181), UINT64_C(1452529105798), -1653330350},
     "5d6ed092c9125152317b3b869d742e52", "5D6ED092C9125-152317B3B86-9D742E52"},
    /* random */
    {OK, "5B65854FDACF5-17A537696B2-00000028",
     {UINT64_C(1607865382841589), UINT64_C(1624897918642), 40},
     "5b65854fdacf517a537696b200000028", "5B65854FDACF5-17A537696B2-00000028"},
    /* random */
    {OK, "6307B0743E54A-19B77BC394E-AC822931",
     {UINT64_C(1742154821264714), UINT64_C(1767240382798), -1400755919},
     "6307b0743e54a19b77bc394eac822931", "6307B0743E54A-19B77BC394E-AC822931"},
    /* random */
    {OK, "5FC73A547DD03-188E1E804B6-61186299",
     {UINT64_C(1684948507942147), UINT64_C(1687417259190), 1628988057},
     "5fc73a547dd03188e1e804b661186299", "5FC73A547DD03-188E1E804B6-61186299"},
    /* random */
    {OK, "6235F0AD574A3-1036B1E97E7-0000001D",
     {UINT64_C(1727740970890403), UINT64_C(1114193696743), 29},
     "6235f0ad574a31036b1e97e70000001d", "6235F0AD574A3-1036B1E97E7-0000001D"},
    /* random */
    {OK, "6EB974F9D5E18-1BD0599054F-5C0F9006",
     {UINT64_C(1947884968566296), UINT64_C(1911354361167), 1544523782},
     "6eb974f9d5e181bd0599054f5c0f9006", "6EB974F9D5E18-1BD0599054F-5C0F9006"},
    /* random */
    {OK, "6F7C387A6F433-1DD08DA627E-0000000B",
     {UINT64_C(1961269026812979), UINT64_C(2048847929982), 11},
     "6f7c387a6f4331dd08da627e0000000b", "6F7C387A6F433-1DD08DA627E-0000000B"},
    /* random */
    {OK, "6B2E45EC28279-1B9D3FFF5D6-79A263F7",
     {UINT64_C(1885543772357241), UINT64_C(1897637344726), 2040685559},
     "6b2e45ec282791b9d3fff5d679a263f7", "6B2E45EC28279-1B9D3FFF5D6-79A263F7"},
    /* random */
    {OK, "714B4CF30A23D-19F82ABF37A-0000000B",
     {UINT64_C(1993091639714365), UINT64_C(1784603734906), 11},
     "714b4cf30a23d19f82abf37a0000000b", "714B4CF30A23D-19F82ABF37A-0000000B"},
    /* random */
    {OK, "5649F080BC075-1B1935F7314-00000022",
     {UINT64_C(1518009081118837), UINT64_C(1862193345300), 34},
     "5649f080bc0751b1935f731400000022", "5649F080BC075-1B1935F7314-00000022"},
    /* random */
    {OK, "6BD92A42CB17E-147A3393FC5-0000002B",
     {UINT64_C(1897287377531262), UINT64_C(1407192743877), 43},
     "6bd92a42cb17e147a3393fc50000002b", "6BD92A42CB17E-147A3393FC5-0000002B"},
    /* random */
    {OK, "66C7ADBA1509F-12923B04E8B-4FDB1198",
     {UINT64_C(1808124786856095), UINT64_C(1276204043915), 1339756952},
     "66c7adba1509f12923b04e8b4fdb1198", "66C7ADBA1509F-12923B04E8B-4FDB1198"},
    /* offset omitted */
    {SHORT, "5D5EAC793E61F-1BFC71B112D",
     {UINT64_C(1642579230975519), UINT64_C(1923190821165), 0},
     "5d5eac793e61f1bfc71b112d00000000", "5D5EAC793E61F-1BFC71B112D-00000000"},
    /* timestamp only */
    {SHORT, "0000000000001",
     {1, 0, 0},
     "00000000000010000000000000000000", "0000000000001-00000000000-00000000"},
    /* offset omitted */
    {SHORT, "60A24181E4000-10000000000",
     {UINT64_C(1700000000000000), UINT64_C(1099511627776), 0},
     "60a24181e40001000000000000000000", "60A24181E4000-10000000000-00000000"},
    /* timestamp only, max */
    {SHORT, "FFFFFFFFFFFFE",
     {UINT64_C(4503599627370494), 0, 0},
     "ffffffffffffe0000000000000000000", "FFFFFFFFFFFFE-00000000000-00000000"},
    /* medallion zero written out, offset omitted */
    {SHORT, "5D5EAC793E61F-00000000000",
     {UINT64_C(1642579230975519), 0, 0},
     "5d5eac793e61f0000000000000000000", "5D5EAC793E61F-00000000000-00000000"},
    /* lower case */
    {LENIENT, "5d5eac793e61f-1bfc71b112d-0000000b",
     {UINT64_C(1642579230975519), UINT64_C(1923190821165), 11},
     "5d5eac793e61f1bfc71b112d0000000b", "5D5EAC793E61F-1BFC71B112D-0000000B"},
    /* no dashes, 32 digits ('concatenating all') */
    {LENIENT, "5D5EAC793E61F1BFC71B112D0000000B",
     {UINT64_C(1642579230975519), UINT64_C(1923190821165), 11},
     "5d5eac793e61f1bfc71b112d0000000b", "5D5EAC793E61F-1BFC71B112D-0000000B"},
    /* with the old 13/5 widths */
    {SHORT, "5D5EAC793E61F-0000000000000-00000",
     {UINT64_C(1642579230975519), 0, 0},
     "5d5eac793e61f0000000000000000000", "5D5EAC793E61F-00000000000-00000000"},
    /* mixed case */
    {LENIENT, "5D5eAC793E61F-1BfC71B112D-0000000b",
     {UINT64_C(1642579230975519), UINT64_C(1923190821165), 11},
     "5d5eac793e61f1bfc71b112d0000000b", "5D5EAC793E61F-1BFC71B112D-0000000B"},
};

typedef struct bad_row {
    const char *text;
    u9_id_reason why; /* in either mode */
} bad_row;

static const bad_row bad_rows[] = {
    {"", U9_MUID_EMPTY}, /* empty */
    {"5D5EAC793E61F-", U9_MUID_PARTS}, /* trailing dash */
    {"-1BFC71B112D-0000000B", U9_MUID_PARTS}, /* no timestamp */
    {"5D5EAC793E61F-1BFC71B112D-0000000B-", U9_MUID_PARTS}, /* trailing dash after offset */
    {"5D5EAC793E61F-1BFC71B112D-0000000B\x20", U9_MUID_CHARACTER}, /* trailing space */
    {"5D5EAC793E61F-1BFC71B112D-0000000B\x0a", U9_MUID_CHARACTER}, /* trailing newline */
    {"5D5EAC793E61G-1BFC71B112D-0000000B", U9_MUID_CHARACTER}, /* non-hex digit */
    {"5D5EAC793E61F_1BFC71B112D_0000000B", U9_MUID_CHARACTER}, /* underscore separators */
    {"0x5D5EAC793E6-1BFC71B112D-0000000B", U9_MUID_CHARACTER}, /* 0x prefix */
    {"5D5EAC793E61F-1BFC71B112D-000000-1", U9_MUID_PARTS}, /* minus sign in offset */
    {"05D5EAC793E61F-1F8CB77AE1EAA-0000B", U9_MUID_WIDTH}, /* the old widths 14-13-5 */
    {"5D5EAC793E61F-1BFC71B112D-100000000", U9_MUID_RANGE}, /* offset over 32 bits */
    {"10000000000000-1BFC71B112D-00000001", U9_MUID_RANGE}, /* timestamp over 52 bits */
    {"5D5EAC793E61F1BFC71B112D0000000B0", U9_MUID_RANGE}, /* 33 digits, no dashes */
    {"-", U9_MUID_PARTS},
    {"--", U9_MUID_PARTS},
    {"5D5EAC793E61F--0000000B", U9_MUID_PARTS},
    {"5D5EAC793E61F-1BFC71B112D-", U9_MUID_PARTS},
    {"5D5EAC793E61F-1BFC71B112D-0000000B-0", U9_MUID_PARTS},
    {"5D5EAC793E61F1BFC71B112D-0000000B", U9_MUID_RANGE}, /* one dash of two */
    {"5D5EAC793E61F1BFC71B112D", U9_MUID_RANGE},          /* 24 digits, no dashes */
    {"5D5EAC793E61F1BFC71B112D0000000", U9_MUID_RANGE},   /* 31 digits, no dashes */
    {"5D5EAC793E61", U9_MUID_WIDTH},
    {"05D5EAC793E61F", U9_MUID_WIDTH},
    {"5D5EAC793E61F-1BFC71B112", U9_MUID_WIDTH},
    {"5D5EAC793E61F-01BFC71B112D", U9_MUID_WIDTH},
    {"5D5EAC793E61F-100000000000", U9_MUID_RANGE}, /* medallion over 44 bits */
    {"5D5EAC793E61F-1BFC71B112D-B", U9_MUID_WIDTH},
    {"5D5EAC793E61F-1BFC71B112D-00000000B", U9_MUID_WIDTH},
    {" 5D5EAC793E61F", U9_MUID_CHARACTER},
    {"+5D5EAC793E61F", U9_MUID_CHARACTER},
    {"5D5EAC793E61F-1BFC71B112D-+000000B", U9_MUID_CHARACTER},
    {"5D5EAC793E61F:1BFC71B112D:0000000B", U9_MUID_CHARACTER},
    {"5D5EAC793E61F-1BFC71B112D-0000000/", U9_MUID_CHARACTER}, /* the neighbours of the digits */
    {"5D5EAC793E61F-1BFC71B112D-0000000:", U9_MUID_CHARACTER},
    {"5D5EAC793E61F-1BFC71B112D-0000000@", U9_MUID_CHARACTER},
    {"5D5EAC793E61F-1BFC71B112D-0000000G", U9_MUID_CHARACTER},
    {"5D5EAC793E61F-1BFC71B112D-0000000`", U9_MUID_CHARACTER},
    {"5D5EAC793E61F-1BFC71B112D-0000000g", U9_MUID_CHARACTER},
    {"5D5EAC793E61F-1BFC71B112D-0000000\xc3", U9_MUID_CHARACTER},
};

enum { ROWS = sizeof rows / sizeof rows[0], BAD_ROWS = sizeof bad_rows / sizeof bad_rows[0] };

/* Reads from a block of exactly the text's size, so that AddressSanitizer sees a step too far. */
static u9_err parse_sized(const char *text, size_t size, unsigned flags, u9_muid *out,
                          u9_id_reason *why)
{
    char *block = malloc(size > 0 ? size : 1);
    ck_assert_ptr_nonnull(block);
    if (size > 0) memcpy(block, text, size);
    u9_err err = u9_muid_parse(block, size, flags, out, why);
    free(block);
    return err;
}

static u9_err parse(const char *text, unsigned flags, u9_muid *out, u9_id_reason *why)
{
    return parse_sized(text, strlen(text), flags, out, why);
}

static bool same(const u9_muid *a, const u9_muid *b)
{
    return a->timestamp == b->timestamp && a->medallion == b->medallion && a->offset == b->offset;
}

static void unhex(const char *hex, uint8_t out[U9_MUID_SIZE])
{
    for (size_t i = 0; i < U9_MUID_SIZE; i++) {
        const char two[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        out[i] = (uint8_t)strtoul(two, NULL, 16);
    }
}

static void expect_read(const char *text, unsigned flags, const u9_muid *expected)
{
    u9_muid muid = {1, 2, 3};
    u9_id_reason why = U9_MUID_EMPTY;
    ck_assert_msg(parse(text, flags, &muid, &why) == U9_OK, "%s", text);
    ck_assert_msg(same(&muid, expected), "%s", text);
    ck_assert_int_eq(why, U9_ID_FINE);
}

static void expect_refused(const char *text, unsigned flags, u9_id_reason expected)
{
    u9_muid muid = {1, 2, 3}, before = muid;
    u9_id_reason why = U9_ID_FINE;
    ck_assert_msg(parse(text, flags, &muid, &why) == U9_ARG, "%s", text);
    ck_assert_msg(why == expected, "%s: %s", text, u9_id_reason_text(why));
    ck_assert_msg(same(&muid, &before), "%s", text);
}

/* [I-1] */
START_TEST(each_muid_packs_to_its_bytes_and_back)
{
    for (size_t i = 0; i < ROWS; i++) {
        uint8_t expected[U9_MUID_SIZE], packed[U9_MUID_SIZE];
        unhex(rows[i].packed, expected);
        ck_assert_int_eq(u9_muid_pack(&rows[i].muid, packed), U9_OK);
        ck_assert_mem_eq(packed, expected, sizeof packed);
        u9_muid again;
        u9_muid_unpack(expected, &again);
        ck_assert_msg(same(&again, &rows[i].muid), "%s", rows[i].text);
    }
}
END_TEST

/* [I-1] 52, 44 and 32 bits: each bit of the 16 bytes belongs to one field. */
START_TEST(each_packed_bit_stands_in_its_field)
{
    for (unsigned bit = 0; bit < 128; bit++) {
        uint8_t packed[U9_MUID_SIZE] = {0}, again[U9_MUID_SIZE];
        packed[15 - bit / 8] = (uint8_t)(1u << bit % 8);
        u9_muid muid;
        u9_muid_unpack(packed, &muid);
        ck_assert((uint32_t)muid.offset == (bit < 32 ? UINT32_C(1) << bit : 0));
        ck_assert(muid.medallion == (bit >= 32 && bit < 76 ? UINT64_C(1) << (bit - 32) : 0));
        ck_assert(muid.timestamp == (bit >= 76 ? UINT64_C(1) << (bit - 76) : 0));
        ck_assert_int_eq(u9_muid_pack(&muid, again), U9_OK);
        ck_assert_mem_eq(again, packed, sizeof packed);
    }
}
END_TEST

/* [I-1] -2 and 2^52 or 2^44 alike; an offset out of range does not exist in 32 bits. */
START_TEST(fields_out_of_range_neither_pack_nor_print)
{
    static const u9_muid bad[] = {
        {UINT64_C(4503599627370496), UINT64_C(1923190821165), 1},
        {UINT64_C(1642579230975519), UINT64_C(17592186044416), 1},
        {UINT64_MAX - 1, UINT64_C(1923190821165), 1},
        {UINT64_C(1642579230975519), UINT64_MAX - 1, 1},
        {UINT64_MAX, 0, 0},
        {0, UINT64_MAX, 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t packed[U9_MUID_SIZE] = {7};
        char text[U9_MUID_TEXT_SIZE + 1] = "untouched";
        ck_assert_int_eq(u9_muid_pack(&bad[i], packed), U9_ARG);
        ck_assert_uint_eq(packed[0], 7);
        ck_assert_int_eq(u9_muid_format(&bad[i], text), U9_ARG);
        ck_assert_str_eq(text, "untouched");
    }
}
END_TEST

/* [I-2] */
START_TEST(each_muid_prints_as_its_canonical_text)
{
    for (size_t i = 0; i < ROWS; i++) {
        char text[U9_MUID_TEXT_SIZE + 1];
        memset(text, 'x', sizeof text);
        ck_assert_int_eq(u9_muid_format(&rows[i].muid, text), U9_OK);
        ck_assert_str_eq(text, rows[i].canonical);
        expect_read(text, 0, &rows[i].muid);
    }
}
END_TEST

/* [I-2] */
START_TEST(canonical_and_short_texts_are_read_in_either_mode)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].status == LENIENT) continue;
        expect_read(rows[i].text, 0, &rows[i].muid);
        expect_read(rows[i].text, U9_MUID_LENIENT, &rows[i].muid);
    }
}
END_TEST

/* [I-3] */
START_TEST(lenient_texts_need_the_flag)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].status != LENIENT) continue;
        u9_muid muid;
        ck_assert_int_eq(parse(rows[i].text, 0, &muid, NULL), U9_ARG);
        expect_read(rows[i].text, U9_MUID_LENIENT, &rows[i].muid);
    }
}
END_TEST

/* [I-2] [I-3] */
START_TEST(bad_texts_are_refused_in_either_mode)
{
    for (size_t i = 0; i < BAD_ROWS; i++) {
        expect_refused(bad_rows[i].text, 0, bad_rows[i].why);
        expect_refused(bad_rows[i].text, U9_MUID_LENIENT, bad_rows[i].why);
    }
}
END_TEST

/* [I-2] */
START_TEST(strict_text_says_why_lenient_text_is_refused)
{
    expect_refused("5d5eac793e61f-1bfc71b112d-0000000b", 0, U9_MUID_CASE);
    expect_refused("5D5EAC793E61F-1BFC71B112D-0000000b", 0, U9_MUID_CASE);
    expect_refused("5d5eac793e61f", 0, U9_MUID_CASE);
    expect_refused("5D5EAC793E61F1BFC71B112D0000000B", 0, U9_MUID_RANGE);
    expect_refused("5D5EAC793E61F-00000000000-0", 0, U9_MUID_WIDTH);
    expect_refused("0", 0, U9_MUID_WIDTH);
}
END_TEST

/* [I-2] 13 zeros, or 13 and 5: no other number, no mixture with the widths of today. */
START_TEST(zero_parts_are_read_in_the_widths_of_the_first_description)
{
    const u9_muid zero = {0, 0, 0}, time = {UINT64_C(1642579230975519), 0, 0};
    expect_read("5D5EAC793E61F-0000000000000", 0, &time);
    expect_read("5D5EAC793E61F-0000000000000-00000", 0, &time);
    expect_read("0000000000000-0000000000000-00000", 0, &zero);
    static const char *const wrong[] = {
        "5D5EAC793E61F-0000000000000-0000B",   "5D5EAC793E61F-001BFC71B112D-00000",
        "5D5EAC793E61F-001BFC71B112D",         "5D5EAC793E61F-1BFC71B112D-00000",
        "5D5EAC793E61F-00000000000-00000",     "5D5EAC793E61F-000000000000-00000",
        "5D5EAC793E61F-00000000000000-00000",  "5D5EAC793E61F-0000000000000-0000",
        "5D5EAC793E61F-0000000000000-00000000", "5D5EAC793E61F-0000000000000-0000000B",
        "5D5EAC793E61F-0000000000000-000000",  "00000000000000-0000000000000-00000",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_refused(wrong[i], 0, U9_MUID_WIDTH);
}
END_TEST

/* [I-3] */
START_TEST(lenient_zero_parts_have_any_width)
{
    const u9_muid zero = {0, 0, 0}, time = {UINT64_C(1642579230975519), 0, 0};
    const u9_muid change = {0, UINT64_C(1923190821165), 11};
    expect_read("0", U9_MUID_LENIENT, &zero);
    expect_read("00000000000000000000000000000000", U9_MUID_LENIENT, &zero);
    expect_read("000000000000000000000000000000000", U9_MUID_LENIENT, &zero);
    expect_read("5D5EAC793E61F-0", U9_MUID_LENIENT, &time);
    expect_read("5D5EAC793E61F-0000000000000", U9_MUID_LENIENT, &time);
    expect_read("5D5EAC793E61F-0-000000000000000000", U9_MUID_LENIENT, &time);
    expect_read("0-1BFC71B112D-0000000B", U9_MUID_LENIENT, &change);
    expect_refused("5D5EAC793E61F-0-B", U9_MUID_LENIENT, U9_MUID_WIDTH);
}
END_TEST

/* [I-3] */
START_TEST(lenient_text_without_dashes_has_32_digits_of_either_case)
{
    const u9_muid muid = {UINT64_C(1642579230975519), UINT64_C(1923190821165), -1};
    expect_read("5D5EAC793E61F1BFC71B112DFFFFFFFF", U9_MUID_LENIENT, &muid);
    expect_read("5d5eac793e61f1bfc71b112dffffffff", U9_MUID_LENIENT, &muid);
}
END_TEST

/* [I-2] The forged byte: a NUL, where a C string would end. */
START_TEST(an_embedded_nul_is_refused)
{
    static const char text[] = "5D5EAC793E61F-1BFC71B112D-0000000B";
    for (size_t i = 0; i <= sizeof text - 1; i++) {
        char forged[sizeof text];
        memcpy(forged, text, sizeof text);
        forged[i] = '\0';
        size_t size = i < sizeof text - 1 ? sizeof text - 1 : sizeof text;
        u9_muid muid;
        u9_id_reason why;
        ck_assert_int_eq(parse_sized(forged, size, U9_MUID_LENIENT, &muid, &why), U9_ARG);
        ck_assert_int_eq(why, U9_MUID_CHARACTER);
    }
}
END_TEST

/* [I-2] [I-3] Of all prefixes only the short forms and the whole are muids. Lenient, so are those
 * that end within the zeros of the offset: a lenient reader cannot tell that text was lost. */
START_TEST(a_cut_text_is_refused_except_where_a_part_ends)
{
    static const char text[] = "5D5EAC793E61F-1BFC71B112D-0000000B";
    for (size_t size = 0; size <= sizeof text - 1; size++) {
        u9_muid muid;
        bool fine = size == 13 || size == 25 || size == 34;
        ck_assert_int_eq(parse_sized(text, size, 0, &muid, NULL), fine ? U9_OK : U9_ARG);
        bool zeros = size > 26 && size < 34;
        ck_assert_int_eq(parse_sized(text, size, U9_MUID_LENIENT, &muid, NULL),
                         fine || zeros ? U9_OK : U9_ARG);
    }
}
END_TEST

START_TEST(a_text_of_a_million_characters_is_refused_or_zero)
{
    enum { MILLION = 1000000 };
    static char text[MILLION];
    const u9_muid zero = {0, 0, 0};
    u9_muid muid;
    memset(text, 'F', sizeof text);
    ck_assert_int_eq(u9_muid_parse(text, sizeof text, U9_MUID_LENIENT, &muid, NULL), U9_ARG);
    memset(text, '-', sizeof text);
    ck_assert_int_eq(u9_muid_parse(text, sizeof text, U9_MUID_LENIENT, &muid, NULL), U9_ARG);
    memset(text, '0', sizeof text);
    ck_assert_int_eq(u9_muid_parse(text, sizeof text, 0, &muid, NULL), U9_ARG);
    ck_assert_int_eq(u9_muid_parse(text, sizeof text, U9_MUID_LENIENT, &muid, NULL), U9_OK);
    ck_assert(same(&muid, &zero));
}
END_TEST

START_TEST(no_text_at_all_is_empty)
{
    u9_muid muid;
    u9_id_reason why;
    ck_assert_int_eq(u9_muid_parse(NULL, 0, 0, &muid, &why), U9_ARG);
    ck_assert_int_eq(why, U9_MUID_EMPTY);
}
END_TEST

START_TEST(an_unknown_flag_is_refused_and_is_no_fault_of_the_text)
{
    u9_muid muid;
    u9_id_reason why = U9_ID_FINE;
    ck_assert_int_eq(u9_muid_parse("5D5EAC793E61F", 13, 2, &muid, &why), U9_ARG);
    ck_assert_int_eq(why, U9_ID_FINE);
}
END_TEST

START_TEST(each_reason_has_its_sentence)
{
    static const u9_id_reason last[] = {U9_MUID_BEFORE, U9_GID_NO_TEXT, U9_TID_SIGN, U9_UID8_MODE,
                                        U9_RKEY_TYPE_LITERAL};
    enum { REASONS_MAX = 100 };
    const char *sentences[REASONS_MAX];
    size_t count = 0;
    for (int why = U9_ID_FINE; why < REASONS_MAX; why++) {
        const char *sentence = u9_id_reason_text((u9_id_reason)why);
        if (strcmp(sentence, u9_id_reason_text((u9_id_reason)-1)) == 0) continue;
        for (size_t i = 0; i < count; i++) ck_assert_str_ne(sentence, sentences[i]);
        sentences[count++] = sentence;
    }
    size_t expected = 1;
    for (size_t kind = 0; kind < 5; kind++)
        expected += (size_t)last[kind] + 1 - (kind == 0 ? 1 : 20 * kind);
    ck_assert_uint_eq(count, expected);
}
END_TEST

/* [I-4] So -1 timestamps come last, and negative offsets behind the positive ones. */
START_TEST(muids_are_ordered_as_their_packed_bytes)
{
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < ROWS; k++) {
            uint8_t a[U9_MUID_SIZE], b[U9_MUID_SIZE];
            unhex(rows[i].packed, a);
            unhex(rows[k].packed, b);
            int expected = memcmp(a, b, sizeof a);
            int got = u9_muid_compare(&rows[i].muid, &rows[k].muid);
            ck_assert_int_eq((got > 0) - (got < 0), (expected > 0) - (expected < 0));
        }
}
END_TEST

/* [I-4] */
START_TEST(timestamp_then_medallion_then_offset_decide_the_order)
{
    static const u9_muid ascending[] = {
        {0, 0, 0},  {0, 0, 1},        {0, 0, INT32_MAX}, {0, 0, INT32_MIN},
        {0, 0, -1}, {0, 1, 0},        {0, U9_MUID_MEDALLION_MAX, -1},
        {1, 0, 0},  {U9_MUID_TIMESTAMP_MAX, 0, 0},
    };
    for (size_t i = 1; i < sizeof ascending / sizeof ascending[0]; i++) {
        ck_assert_int_lt(u9_muid_compare(&ascending[i - 1], &ascending[i]), 0);
        ck_assert_int_gt(u9_muid_compare(&ascending[i], &ascending[i - 1]), 0);
        ck_assert_int_eq(u9_muid_compare(&ascending[i], &ascending[i]), 0);
    }
}
END_TEST

/* The change that holds the references below. */
static const u9_muid change = {UINT64_C(1642579230975519), UINT64_C(1923190821165), 11};

static void expect_resolved(u9_muid ref, u9_muid expected)
{
    u9_muid muid;
    u9_id_reason why = U9_MUID_RANGE;
    ck_assert_int_eq(u9_muid_resolve(&ref, &change, &muid, &why), U9_OK);
    ck_assert_int_eq(why, U9_ID_FINE);
    ck_assert(same(&muid, &expected));
    ck_assert_int_eq(u9_muid_resolve(&ref, &change, &ref, NULL), U9_OK); /* in place */
    ck_assert(same(&ref, &expected));
}

static void expect_unresolved(u9_muid ref, u9_muid context, u9_id_reason expected)
{
    u9_muid muid = {7, 7, 7};
    u9_id_reason why = U9_ID_FINE;
    ck_assert_int_eq(u9_muid_resolve(&ref, &context, &muid, &why), U9_ARG);
    ck_assert_int_eq(why, expected);
    ck_assert_int_eq(u9_muid_resolve(&ref, &context, &muid, NULL), U9_ARG);
    ck_assert_uint_eq(muid.timestamp, 7); /* untouched */
    ck_assert_int_eq(muid.offset, 7);
}

/* [I-5] */
START_TEST(fields_of_zero_are_taken_from_the_change_around_a_reference)
{
    const uint64_t time = change.timestamp, node = change.medallion;
    expect_resolved((u9_muid){0, 0, 7}, (u9_muid){time, node, 7});
    expect_resolved((u9_muid){5, 0, 7}, (u9_muid){5, node, 7});
    expect_resolved((u9_muid){0, 5, 7}, (u9_muid){time, 5, 7});
    expect_resolved((u9_muid){3, 5, 7}, (u9_muid){3, 5, 7});
    expect_resolved((u9_muid){0, 0, INT32_MAX}, (u9_muid){time, node, INT32_MAX});
}
END_TEST

/* [I-5] */
START_TEST(offset_zero_of_a_reference_is_the_transaction_itself)
{
    expect_resolved((u9_muid){0, 0, 0}, (u9_muid){change.timestamp, change.medallion, 0});
    expect_resolved((u9_muid){5, 6, 0}, (u9_muid){5, 6, 0});
}
END_TEST

/* [I-5] */
START_TEST(offsets_below_zero_count_back_from_the_change_around_a_reference)
{
    const uint64_t time = change.timestamp, node = change.medallion;
    expect_resolved((u9_muid){0, 0, -1}, (u9_muid){time, node, 10});
    expect_resolved((u9_muid){0, 0, -10}, (u9_muid){time, node, 1});
    expect_resolved((u9_muid){time, node, -3}, (u9_muid){time, node, 8});
    expect_unresolved((u9_muid){0, 0, -11}, change, U9_MUID_BEFORE);
    expect_unresolved((u9_muid){0, 0, -12}, change, U9_MUID_BEFORE);
    expect_unresolved((u9_muid){0, 0, INT32_MIN}, change, U9_MUID_BEFORE);
    const u9_muid last = {time, node, INT32_MAX};
    expect_unresolved((u9_muid){0, 0, -INT32_MAX}, last, U9_MUID_BEFORE);
    u9_muid first, ref = {0, 0, 1 - INT32_MAX};
    ck_assert_int_eq(u9_muid_resolve(&ref, &last, &first, NULL), U9_OK);
    ck_assert_int_eq(first.offset, 1);
}
END_TEST

/* [I-5] */
START_TEST(offsets_below_zero_do_not_reach_into_another_transaction)
{
    expect_unresolved((u9_muid){5, 0, -1}, change, U9_MUID_FOREIGN);
    expect_unresolved((u9_muid){0, 5, -1}, change, U9_MUID_FOREIGN);
    expect_unresolved((u9_muid){U9_MUID_TIMESTAMP_MAX, 5, -1}, change, U9_MUID_FOREIGN);
}
END_TEST

/* [I-5] */
START_TEST(a_reference_needs_what_it_takes)
{
    const u9_muid timeless = {0, 5, 1}, homeless = {5, 0, 1}, transaction = {5, 6, 0};
    const u9_muid relative = {5, 6, -1};
    expect_unresolved((u9_muid){0, 5, 1}, timeless, U9_MUID_NO_CONTEXT);
    expect_unresolved((u9_muid){5, 0, 1}, homeless, U9_MUID_NO_CONTEXT);
    expect_unresolved((u9_muid){0, 0, -1}, transaction, U9_MUID_NO_CONTEXT);
    expect_unresolved((u9_muid){0, 0, -1}, relative, U9_MUID_NO_CONTEXT);
}
END_TEST

/* [I-5] [I-1] */
START_TEST(fields_out_of_range_do_not_resolve)
{
    const u9_muid late = {U9_MUID_TIMESTAMP_MAX + 1, 1, 1}, far = {1, U9_MUID_MEDALLION_MAX + 1, 1};
    expect_unresolved(late, change, U9_MUID_RANGE);
    expect_unresolved(far, change, U9_MUID_RANGE);
    expect_unresolved((u9_muid){1, 1, 1}, late, U9_MUID_RANGE);
    expect_unresolved((u9_muid){1, 1, 1}, far, U9_MUID_RANGE);
}
END_TEST

Suite *suite_muid(void)
{
    const TTest *const tests[] = {
        each_muid_packs_to_its_bytes_and_back,
        each_packed_bit_stands_in_its_field,
        fields_out_of_range_neither_pack_nor_print,
        each_muid_prints_as_its_canonical_text,
        canonical_and_short_texts_are_read_in_either_mode,
        lenient_texts_need_the_flag,
        bad_texts_are_refused_in_either_mode,
        strict_text_says_why_lenient_text_is_refused,
        zero_parts_are_read_in_the_widths_of_the_first_description,
        lenient_zero_parts_have_any_width,
        lenient_text_without_dashes_has_32_digits_of_either_case,
        an_embedded_nul_is_refused,
        a_cut_text_is_refused_except_where_a_part_ends,
        a_text_of_a_million_characters_is_refused_or_zero,
        no_text_at_all_is_empty,
        an_unknown_flag_is_refused_and_is_no_fault_of_the_text,
        each_reason_has_its_sentence,
        muids_are_ordered_as_their_packed_bytes,
        timestamp_then_medallion_then_offset_decide_the_order,
        fields_of_zero_are_taken_from_the_change_around_a_reference,
        offset_zero_of_a_reference_is_the_transaction_itself,
        offsets_below_zero_count_back_from_the_change_around_a_reference,
        offsets_below_zero_do_not_reach_into_another_transaction,
        a_reference_needs_what_it_takes,
        fields_out_of_range_do_not_resolve,
    };
    Suite *suite = suite_create("muid");
    TCase *tcase = tcase_create("muid");
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
