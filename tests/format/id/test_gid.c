/*
 * tests/format/id/test_gid.c: what SPEC-values.md says of GIDs (I-6, I-7), read as tests.
 *
 * The rows are identifiers found in the documentation and tests of the scheme's first
 * implementation, the first and last of each type, and values drawn at random; the tests around
 * them forge one character or byte each.
 */
#include "tests/format/base/hex.h"
#include "tests/suites.h"

#include <stdbool.h>
#include <u9/id.h>

/* What byte 7 is: a copy of the prefix, or another byte with its top bit set. */
typedef enum byte_7 { COPY, OTHER } byte_7;

typedef struct row {
    byte_7 byte_7;
    const char *text;
    u9_gid_type type;
    const char *packed; /* hex */
    uint64_t timestamp_ms;
} row;

static const row rows[] = {
    {OTHER, "74ggbzxuMf-2uAmM7FwXntwW", U9_GID_LOG,
     "a0019ad0fea2a69539e81048fc71d1ad", UINT64_C(1764442940070)},
    {OTHER, "74ggc11YqY-3eHQq23tMuPUq", U9_GID_LOG,
     "a0019ad106837bcfa04b20a7d9c870a6", UINT64_C(1764443456379)},
    {OTHER, "8H24TMby3c-2rtTmSK9xAWo4", U9_GID_SEGMENT,
     "c0019ad12194879222eaf9700f65f95b", UINT64_C(1764445230215)},
    {OTHER, "5rMJkf2zHE-2xMqqKcN8RLZh", U9_GID_VOLUME,
     "80019ad1563259998c6964921af25624", UINT64_C(1764448678489)},
    {OTHER, "74ggc1B6jg-2udz14pbDayZC", U9_GID_LOG,
     "a0019ad122f20f95dca2243a5d56d193", UINT64_C(1764445319695)},
    {OTHER, "74ggc1o8bK-3LdWJvxfi3sPr", U9_GID_LOG,
     "a0019ad18e3812b7b6c331a0559b6715", UINT64_C(1764452349970)},
    {OTHER, "5rMJkfMogd-3bVjH8fwwX44x", U9_GID_VOLUME,
     "80019ad18e3812cbd9a91c75e1131521", UINT64_C(1764452349970)},
    {OTHER, "5rMJkfPC21-3AHxh6aeSWzCp", U9_GID_VOLUME,
     "80019ad19257b6a9b650f9f6349755a9", UINT64_C(1764452620214)},
    {OTHER, "5rMJkfqcEt-2ei3bXFrcteHv", U9_GID_VOLUME,
     "80019ad1e0fe1181a387333613343151", UINT64_C(1764457774609)},
    {COPY, "5rMJhdVrxb-2e7iyEK3dXuE3", U9_GID_VOLUME,
     "80019a5aef395c80d655e1c9cba68b74", UINT64_C(1762462218588)},
    {COPY, "5rMJhdYYXB-2e2iX9AHva3xQ", U9_GID_VOLUME,
     "80019a5af7358a80b865646f9de0248d", UINT64_C(1762462741898)},
    {COPY, "74ggYyz4aX-33cEC1Bm7Gekh", U9_GID_LOG,
     "a0019a5af7c80ca0a836a455979055d2", UINT64_C(1762462779404)},
    {OTHER, "74ggoCYV4P-2r2cmkXpB2nJ5", U9_GID_LOG,
     "a0019c87255a3c90f8ea6995d8a1bd5a", UINT64_C(1771793898044)},
    {COPY, "5rLWQQkJdm-2dVseX433Zwhy", U9_GID_VOLUME,
     "80000000000000800000000000000000", UINT64_C(0)},
    {OTHER, "5tXzGtaDne-4FzkJ37568tQv", U9_GID_VOLUME,
     "80ffffffffffffffffffffffffffffff", UINT64_C(281474976710655)},
    {COPY, "5rLWQQkJdn-2dVseX433Zwhy", U9_GID_VOLUME,
     "80000000000001800000000000000000", UINT64_C(1)},
    {COPY, "5rLWWxH8n3-2dVseX433Zwhz", U9_GID_VOLUME,
     "80000100000000800000000000000001", UINT64_C(4294967296)},
    {COPY, "5rMH4TvfXM-2dVseX433Zwhy", U9_GID_VOLUME,
     "80018bcfe56800800000000000000000", UINT64_C(1700000000000)},
    {COPY, "74ftFmBdYT-3386Ju4o4DBPD", U9_GID_LOG,
     "a0000000000000a00000000000000000", UINT64_C(0)},
    {OTHER, "76sN8F1YhL-4FzkJ37568tQv", U9_GID_LOG,
     "a0ffffffffffffffffffffffffffffff", UINT64_C(281474976710655)},
    {COPY, "74ftFmBdYU-3386Ju4o4DBPD", U9_GID_LOG,
     "a0000000000001a00000000000000000", UINT64_C(1)},
    {COPY, "74ftNJiTgj-3386Ju4o4DBPE", U9_GID_LOG,
     "a0000100000000a00000000000000001", UINT64_C(4294967296)},
    {COPY, "74geupMzS3-3386Ju4o4DBPD", U9_GID_LOG,
     "a0018bcfe56800a00000000000000000", UINT64_C(1700000000000)},
    {OTHER, "74ftFmBdYT-2dVseX433Zwhy", U9_GID_LOG,
     "a0000000000000800000000000000000", UINT64_C(0)},
    {COPY, "8H1G77cxT9-3SkJyH5Z4rR4T", U9_GID_SEGMENT,
     "c0000000000000c00000000000000000", UINT64_C(0)},
    {OTHER, "8KCjybSsc2-4FzkJ37568tQv", U9_GID_SEGMENT,
     "c0ffffffffffffffffffffffffffffff", UINT64_C(281474976710655)},
    {COPY, "8H1G77cxTA-3SkJyH5Z4rR4T", U9_GID_SEGMENT,
     "c0000000000001c00000000000000000", UINT64_C(1)},
    {COPY, "8H1GDf9nbR-3SkJyH5Z4rR4U", U9_GID_SEGMENT,
     "c0000100000000c00000000000000001", UINT64_C(4294967296)},
    {COPY, "8H22mAoKLj-3SkJyH5Z4rR4T", U9_GID_SEGMENT,
     "c0018bcfe56800c00000000000000000", UINT64_C(1700000000000)},
    {OTHER, "8H1G77cxT9-2dVseX433Zwhy", U9_GID_SEGMENT,
     "c0000000000000800000000000000000", UINT64_C(0)},
    {COPY, "5rMRaPH4nL-2eDkLSb3WQHVy", U9_GID_VOLUME,
     "8001d74afc3e3180fa5910a5164b0c78", UINT64_C(2024187641393)},
    {COPY, "74ghwwTpVY-33b4TPsesghz4", U9_GID_LOG,
     "a001a6ba245bc3a0a13b3cadcb82e365", UINT64_C(1815599143875)},
    {COPY, "8H21pmTXHJ-3T1AmjcHaLFWY", U9_GID_SEGMENT,
     "c001837f919d99c058d5806dba565271", UINT64_C(1664292593049)},
    {COPY, "5rMTWCL9Nt-2drBe11b13LHB", U9_GID_VOLUME,
     "8001e861416f5d80796d3c097fb12de6", UINT64_C(2097575718749)},
    {COPY, "74gmi38oxc-33h3N8A6KCsRD", U9_GID_LOG,
     "a001c80e8b7c69a0c4fd983330d9c83c", UINT64_C(1958749109353)},
    {COPY, "8H25isfor8-3TCSadLMZtCow", U9_GID_SEGMENT,
     "c001a60d4f96c9c09c3a6cde881dfb66", UINT64_C(1812699518665)},
    {COPY, "5rMU82cJMD-2dvYK4scQca5R", U9_GID_VOLUME,
     "8001eddb164fa0809378df20f59afb6c", UINT64_C(2121094549408)},
    {COPY, "74gsJ1M7h2-33StYq2i2JAJB", U9_GID_LOG,
     "a001f990d6a3a9a07061a23f5ad6b9c0", UINT64_C(2171388470185)},
    {COPY, "8H2D2TGeie-3St5aNrkM6tTg", U9_GID_SEGMENT,
     "c001e6c88b3cbbc02e72b978b193b9df", UINT64_C(2090718674107)},
    {COPY, "5rMUkFHcV6-2e22t1UJZVjL2", U9_GID_VOLUME,
     "8001f36407014980b44f5a4529f9cbf7", UINT64_C(2144866861385)},
    {COPY, "74ghToThRb-33eBXmGLFUSLP", U9_GID_LOG,
     "a001a26d54b8e2a0b3e583def6a072a0", UINT64_C(1797130598626)},
    {COPY, "8H233SwD8U-3T8TrRGHSXsdr", U9_GID_SEGMENT,
     "c0018e4cbb12a1c08471e70901b74561", UINT64_C(1710684312225)},
    {OTHER, "5rMEguHAi4-3D5kbCxVHBc8R", U9_GID_VOLUME,
     "800176ca2c70f1ad7d9a8636086e3cea", UINT64_C(1609709678833)},
    {OTHER, "74gfodivXy-3oJ9aFptJntJb", U9_GID_LOG,
     "a00193bb0f2ee0dbd588a320c2a9e5e0", UINT64_C(1734010154720)},
    {OTHER, "8H2CgTJMHB-3QUtCzc4WmW12", U9_GID_SEGMENT,
     "c001e3ba201b62bcee3fe34e9c2925e5", UINT64_C(2077591870306)},
    {OTHER, "5rMQYkJXVP-3G3i5kXMWbH2q", U9_GID_VOLUME,
     "8001ce2dda381eb181aa794cf629c44a", UINT64_C(1985044166686)},
    {OTHER, "74gjNBM472-3mhDUYqtnb5ED", U9_GID_LOG,
     "a001b34b80dba9d9a9ecdcc4b7c2b00e", UINT64_C(1869577509801)},
    {OTHER, "8H25jTweJa-3tWY6bWkBjM7A", U9_GID_SEGMENT,
     "c001a6246db7ffe2e5653b6458c06885", UINT64_C(1813087369215)},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static const u9_gid_type types[] = {U9_GID_VOLUME, U9_GID_LOG, U9_GID_SEGMENT};

static u9_gid fields_of(const row *r)
{
    uint8_t packed[U9_GID_SIZE];
    u9_gid gid = {.type = r->type, .timestamp_ms = r->timestamp_ms};
    ck_assert_uint_eq(unhex(r->packed, packed), U9_GID_SIZE);
    memcpy(gid.random, packed + 7, sizeof gid.random);
    return gid;
}

static void expect_same(const u9_gid *a, const u9_gid *b)
{
    ck_assert_int_eq(a->type, b->type);
    ck_assert_uint_eq(a->timestamp_ms, b->timestamp_ms);
    ck_assert_mem_eq(a->random, b->random, sizeof a->random);
}

static u9_err parse(const char *text, size_t size, u9_gid_type type, unsigned flags, u9_gid *out,
                    u9_id_reason *why)
{
    char *copy = (char *)exactly(text, size);
    u9_err err = u9_gid_parse(copy, size, type, flags, out, why);
    free(copy);
    return err;
}

static void expect_read(const char *text, unsigned flags, const u9_gid *expected)
{
    u9_gid gid;
    u9_id_reason why = U9_GID_LENGTH;
    ck_assert_int_eq(parse(text, strlen(text), U9_GID_ANY, flags, &gid, &why), U9_OK);
    ck_assert_int_eq(why, U9_ID_FINE);
    expect_same(&gid, expected);
}

static void expect_refused(const char *text, size_t size, u9_gid_type type, unsigned flags,
                           u9_id_reason expected)
{
    u9_gid gid = {.timestamp_ms = 77};
    u9_id_reason why = U9_ID_FINE;
    ck_assert_int_eq(parse(text, size, type, flags, &gid, &why), U9_ARG);
    ck_assert_msg(why == expected, "%s: reason %d, not %d", text, why, expected);
    ck_assert_int_eq(parse(text, size, type, flags, &gid, NULL), U9_ARG);
    ck_assert_uint_eq(gid.timestamp_ms, 77); /* untouched */
}

/* `hex` as packed bytes. */
static void expect_bytes_refused(const char *hex, u9_gid_type type, unsigned flags,
                                 u9_id_reason expected)
{
    uint8_t bytes[32];
    u9_gid gid = {.timestamp_ms = 77};
    u9_id_reason why = U9_ID_FINE;
    size_t size = unhex(hex, bytes);
    uint8_t *copy = (uint8_t *)exactly(bytes, size);
    ck_assert_int_eq(u9_gid_unpack(copy, size, type, flags, &gid, &why), U9_ARG);
    ck_assert_msg(why == expected, "%s: reason %d, not %d", hex, why, expected);
    ck_assert_uint_eq(gid.timestamp_ms, 77);
    free(copy);
}

/* [I-6] */
START_TEST(each_gid_packs_to_its_bytes_and_back)
{
    for (size_t i = 0; i < ROWS; i++) {
        uint8_t packed[U9_GID_SIZE], expected[U9_GID_SIZE];
        u9_gid gid = fields_of(&rows[i]), again;
        u9_id_reason why = U9_GID_LENGTH;
        unhex(rows[i].packed, expected);
        ck_assert_int_eq(u9_gid_pack(&gid, 0, packed), U9_OK);
        ck_assert_mem_eq(packed, expected, sizeof packed);
        ck_assert_int_eq(u9_gid_unpack(packed, sizeof packed, U9_GID_ANY, 0, &again, &why), U9_OK);
        ck_assert_int_eq(why, U9_ID_FINE);
        expect_same(&again, &gid);
    }
}
END_TEST

/* [I-7] */
START_TEST(each_gid_prints_as_its_text_and_back)
{
    for (size_t i = 0; i < ROWS; i++) {
        char text[U9_GID_TEXT_SIZE + 1];
        u9_gid gid = fields_of(&rows[i]);
        memset(text, 'x', sizeof text);
        ck_assert_int_eq(u9_gid_format(&gid, 0, text), U9_OK);
        ck_assert_str_eq(text, rows[i].text);
        expect_read(text, 0, &gid);
        expect_read(text, U9_GID_LENIENT, &gid);
    }
}
END_TEST

/* [I-6] Asked to be strict, a reader and a writer want a copy of the prefix in byte 7. */
START_TEST(a_strict_reader_takes_only_copies_of_the_prefix)
{
    for (size_t i = 0; i < ROWS; i++) {
        u9_gid gid = fields_of(&rows[i]), read;
        char text[U9_GID_TEXT_SIZE + 1];
        uint8_t packed[U9_GID_SIZE], expected[U9_GID_SIZE];
        unhex(rows[i].packed, expected);
        if (rows[i].byte_7 == COPY) {
            expect_read(rows[i].text, U9_GID_STRICT, &gid);
            ck_assert_int_eq(u9_gid_format(&gid, U9_GID_STRICT, text), U9_OK);
            ck_assert_int_eq(u9_gid_pack(&gid, U9_GID_STRICT, packed), U9_OK);
            ck_assert_int_eq(u9_gid_unpack(packed, sizeof packed, U9_GID_ANY, U9_GID_STRICT, &read,
                                           NULL),
                             U9_OK);
        } else {
            expect_refused(rows[i].text, U9_GID_TEXT_SIZE, U9_GID_ANY, U9_GID_STRICT, U9_GID_COPY);
            expect_bytes_refused(rows[i].packed, U9_GID_ANY, U9_GID_STRICT, U9_GID_COPY);
            ck_assert_int_eq(u9_gid_format(&gid, U9_GID_STRICT, text), U9_ARG);
            ck_assert_int_eq(u9_gid_pack(&gid, U9_GID_STRICT, packed), U9_ARG);
        }
    }
}
END_TEST

/* [I-7] */
START_TEST(a_gid_of_another_type_than_asked_for_is_refused)
{
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < 3; k++) {
            u9_gid gid = fields_of(&rows[i]), read;
            uint8_t packed[U9_GID_SIZE];
            unhex(rows[i].packed, packed);
            if (types[k] != rows[i].type) {
                expect_refused(rows[i].text, U9_GID_TEXT_SIZE, types[k], 0, U9_GID_TYPE);
                expect_bytes_refused(rows[i].packed, types[k], 0, U9_GID_TYPE);
                continue;
            }
            ck_assert_int_eq(parse(rows[i].text, U9_GID_TEXT_SIZE, types[k], 0, &read, NULL),
                             U9_OK);
            expect_same(&read, &gid);
            ck_assert_int_eq(u9_gid_unpack(packed, sizeof packed, types[k], 0, &read, NULL), U9_OK);
            expect_same(&read, &gid);
        }
}
END_TEST

static const struct {
    const char *text;
    size_t size;
    u9_id_reason why;
} bad_rows[] = {
    {TEXT(""), U9_GID_LENGTH},
    {TEXT("invalid"), U9_GID_LENGTH},
    {TEXT("asdfjasdkfjkajfe"), U9_GID_LENGTH},
    {TEXT("superlongstringsuperlongstringsuperlongstringsuperlongstring"), U9_GID_LENGTH},
    {TEXT("GonvVp7KLK1dzdCoW4fexb"), U9_GID_LENGTH}, /* the 22 characters of earlier versions */
    {TEXT("5rMH4TvfXM-2dVsgjY1c6yL"), U9_GID_LENGTH},
    {TEXT("5rMH4TvfXM-2dVsgjY1c6yLa\0"), U9_GID_LENGTH},
    {TEXT("5rMJhdWYe92deCanWXyGaHdm"), U9_GID_DASH},
    {TEXT("5rMJhdWzu92doCGF-QwpamqX"), U9_GID_DASH},
    {TEXT("5rMH4TvfX-2dVsgjY1c6yLa1"), U9_GID_DASH},
    {TEXT("5rMH4TvfXM 2dVsgjY1c6yLa"), U9_GID_DASH},
    {TEXT("5rMH4-vfXM-2dVsgjY1c6yLa"), U9_GID_DASH},
    {TEXT("5rMH4TvfX\303\251-2dVsgjY1c6yL"), U9_GID_DASH},
    {TEXT("5rMH4TvfXM-2dVsgjY1c6y-a"), U9_GID_CHARACTER},
    {TEXT("5rMH0TvfXM-2dVsgjY1c6yLa"), U9_GID_CHARACTER},
    {TEXT("5rMHITvfXM-2dVsgjY1c6yLa"), U9_GID_CHARACTER},
    {TEXT("5rMHOTvfXM-2dVsgjY1c6yLa"), U9_GID_CHARACTER},
    {TEXT("5rMHlTvfXM-2dVsgjY1c6yLa"), U9_GID_CHARACTER},
    {TEXT("5rMH4TvfXM-2dVsgjY1c6yL+"), U9_GID_CHARACTER},
    {TEXT("5rMH4TvfXM-2dVsgjY1c6yL\n"), U9_GID_CHARACTER},
    {TEXT("5rMH4TvfXM-2dVsgjY1c6\303\251L"), U9_GID_CHARACTER},
    {TEXT("zzzzzzzzzz-2dVsgjY1c6yLa"), U9_GID_TIME_PART},
    {TEXT("Ahg1opVcGX-2dVsgjY1c6yLa"), U9_GID_TIME_PART},   /* 2^56 */
    {TEXT("5rMH4TvfXM-4FzkJ37568tQw"), U9_GID_RANDOM_PART}, /* 2^72 */
    {TEXT("5rMH4TvfXM-zzzzzzzzzzzzz"), U9_GID_RANDOM_PART},
    {TEXT("1111111111-2dVsgjY1c6yLa"), U9_GID_PREFIX}, /* 00 */
    {TEXT("1rMH4TvfXM-2dVsgjY1c6yLa"), U9_GID_PREFIX},
    {TEXT("5p9oBz6kNT-2dYjDTxUkerYG"), U9_GID_PREFIX}, /* 7f */
    {TEXT("6TWxz99Kyh-2dYjDTxUkerYG"), U9_GID_PREFIX}, /* 90 */
    {TEXT("72VB3LY5H9-2dYjDTxUkerYG"), U9_GID_PREFIX}, /* 9f */
    {TEXT("8EpYtgyQBq-2dYjDTxUkerYG"), U9_GID_PREFIX}, /* bf */
    {TEXT("9VMQcXEeFR-2dYjDTxUkerYG"), U9_GID_PREFIX}, /* e0 */
};

/* [I-7] */
START_TEST(bad_texts_are_refused_in_each_mode)
{
    for (size_t i = 0; i < sizeof bad_rows / sizeof bad_rows[0]; i++)
        for (unsigned flags = 0; flags <= U9_GID_LENIENT; flags++)
            expect_refused(bad_rows[i].text, bad_rows[i].size, U9_GID_ANY, flags, bad_rows[i].why);
}
END_TEST

/* [I-6] */
START_TEST(bad_bytes_are_refused)
{
    expect_bytes_refused("", U9_GID_ANY, 0, U9_GID_LENGTH);
    expect_bytes_refused("a0018bcfe56800a022222222222222", U9_GID_ANY, 0, U9_GID_LENGTH);
    expect_bytes_refused("a0018bcfe56800a0222222222222222222", U9_GID_ANY, 0, U9_GID_LENGTH);
    expect_bytes_refused("00000000000000000000000000000000", U9_GID_ANY, 0, U9_GID_PREFIX);
    expect_bytes_refused("05018bcfe56800a02222222222222222", U9_GID_ANY, 0, U9_GID_PREFIX);
    expect_bytes_refused("e0018bcfe56800a02222222222222222", U9_GID_ANY, 0, U9_GID_PREFIX);
    expect_bytes_refused("a0018bcfe56800000000000000000000", U9_GID_ANY, 0, U9_GID_TOP_BIT);
}
END_TEST

/* [I-6] Of the 256 first bytes three are prefixes. */
START_TEST(no_other_first_byte_is_a_prefix)
{
    uint8_t packed[U9_GID_SIZE];
    for (unsigned byte = 0; byte < 256; byte++) {
        u9_gid gid;
        unhex("a0018bcfe56800a02222222222222222", packed);
        packed[0] = (uint8_t)byte;
        u9_err expected = byte == 0x80 || byte == 0xa0 || byte == 0xc0 ? U9_OK : U9_ARG;
        ck_assert_int_eq(u9_gid_unpack(packed, sizeof packed, U9_GID_ANY, 0, &gid, NULL), expected);
    }
}
END_TEST

/* [I-6] Byte 7 with its top bit clear: only a lenient reader takes it, only as far as 13 digits
 * can tell it. */
START_TEST(a_clear_top_bit_needs_the_lenient_flag)
{
    static const struct {
        const char *text, *packed;
    } clear[] = {
        {"5rMH4TvfXM-2111111111111", "80018bcfe568004e900abb53e6b71000"},
        {"8H22mAoKLj-2dVseX433Zwhx", "c0018bcfe568007fffffffffffffffff"},
    };
    for (size_t i = 0; i < 2; i++) {
        uint8_t packed[U9_GID_SIZE], again[U9_GID_SIZE];
        char text[U9_GID_TEXT_SIZE + 1];
        u9_gid gid;
        unhex(clear[i].packed, packed);
        expect_refused(clear[i].text, U9_GID_TEXT_SIZE, U9_GID_ANY, 0, U9_GID_TOP_BIT);
        expect_refused(clear[i].text, U9_GID_TEXT_SIZE, U9_GID_ANY, U9_GID_STRICT, U9_GID_COPY);
        expect_bytes_refused(clear[i].packed, U9_GID_ANY, 0, U9_GID_TOP_BIT);
        ck_assert_int_eq(parse(clear[i].text, U9_GID_TEXT_SIZE, U9_GID_ANY, U9_GID_LENIENT, &gid,
                               NULL),
                         U9_OK);
        ck_assert_int_eq(u9_gid_pack(&gid, 0, again), U9_ARG);
        ck_assert_int_eq(u9_gid_format(&gid, 0, text), U9_ARG);
        ck_assert_int_eq(u9_gid_pack(&gid, U9_GID_LENIENT, again), U9_OK);
        ck_assert_mem_eq(again, packed, sizeof packed);
        ck_assert_int_eq(u9_gid_format(&gid, U9_GID_LENIENT, text), U9_OK);
        ck_assert_str_eq(text, clear[i].text);
    }
    expect_refused("5rMH4TvfXM-1zzzzzzzzzzzz", 24, U9_GID_ANY, U9_GID_LENIENT, U9_GID_NO_TEXT);
    expect_bytes_refused("80018bcfe568004e900abb53e6b70fff", U9_GID_ANY, U9_GID_LENIENT,
                         U9_GID_NO_TEXT);
    expect_bytes_refused("80018bcfe56800000000000000000000", U9_GID_ANY, U9_GID_LENIENT,
                         U9_GID_NO_TEXT);
}
END_TEST

/* [I-6] */
START_TEST(fields_out_of_range_neither_pack_nor_print)
{
    const u9_gid good = fields_of(&rows[0]);
    u9_gid bad[5] = {good, good, good, good, good};
    bad[0].timestamp_ms = UINT64_C(281474976710656); /* 2^48 */
    bad[1].timestamp_ms = UINT64_MAX;                /* before 1970 */
    bad[2].type = U9_GID_ANY;
    bad[3].type = (u9_gid_type)0xe0;
    bad[4].random[0] = 0x7f;
    for (size_t i = 0; i < 5; i++) {
        uint8_t packed[U9_GID_SIZE] = {7};
        char text[U9_GID_TEXT_SIZE + 1] = "untouched";
        ck_assert_int_eq(u9_gid_pack(&bad[i], 0, packed), U9_ARG);
        ck_assert_int_eq(u9_gid_format(&bad[i], 0, text), U9_ARG);
        ck_assert_uint_eq(packed[0], 7);
        ck_assert_str_eq(text, "untouched");
    }
}
END_TEST

START_TEST(unknown_flags_and_types_are_no_fault_of_the_text)
{
    static const unsigned bad_flags[] = {3, 4, 8, 0x80000000};
    for (size_t i = 0; i < 4; i++) {
        uint8_t packed[U9_GID_SIZE];
        char text[U9_GID_TEXT_SIZE + 1];
        u9_gid gid = fields_of(&rows[0]), read;
        u9_id_reason why = U9_ID_FINE;
        unsigned flags = bad_flags[i];
        unhex(rows[0].packed, packed);
        ck_assert_int_eq(u9_gid_parse(rows[0].text, 24, U9_GID_ANY, flags, &read, &why), U9_ARG);
        ck_assert_int_eq(u9_gid_unpack(packed, 16, U9_GID_ANY, flags, &read, &why), U9_ARG);
        ck_assert_int_eq(u9_gid_pack(&gid, flags, packed), U9_ARG);
        ck_assert_int_eq(u9_gid_format(&gid, flags, text), U9_ARG);
        u9_gid_type type = (u9_gid_type)(0xe0 + i);
        ck_assert_int_eq(u9_gid_parse(rows[0].text, 24, type, 0, &read, &why), U9_ARG);
        ck_assert_int_eq(u9_gid_unpack(packed, 16, type, 0, &read, &why), U9_ARG);
        ck_assert_int_eq(why, U9_ID_FINE);
    }
}
END_TEST

/* [I-6] [I-7] */
START_TEST(texts_are_ordered_as_the_bytes_are)
{
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < ROWS; k++) {
            int bytes = strcmp(rows[i].packed, rows[k].packed); /* hex is ordered so too */
            int texts = strcmp(rows[i].text, rows[k].text);
            ck_assert_int_eq((bytes > 0) - (bytes < 0), (texts > 0) - (texts < 0));
        }
}
END_TEST

/* [I-7] Each of the 23 digits, each with each character. */
START_TEST(every_character_is_a_digit_of_its_weight_or_refused)
{
    static const char alphabet[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    char text[U9_GID_TEXT_SIZE + 1], again[U9_GID_TEXT_SIZE + 1];
    for (unsigned at = 0; at < U9_GID_TEXT_SIZE; at++)
        for (unsigned c = 0; c < 256; c++) {
            u9_gid gid;
            u9_id_reason why;
            memcpy(text, "74geupMzS3-3386Ju4o4DBPD", sizeof text);
            text[at] = (char)c;
            bool digit = c != 0 && strchr(alphabet, (char)c) != NULL;
            u9_err err = u9_gid_parse(text, U9_GID_TEXT_SIZE, U9_GID_ANY, 0, &gid, &why);
            if (at == 10 || c == '-') ck_assert_int_eq(err == U9_OK, at == 10 && c == '-');
            else if (!digit) ck_assert_int_eq(why, U9_GID_CHARACTER);
            if (err != U9_OK) continue;
            ck_assert_int_eq(u9_gid_format(&gid, 0, again), U9_OK);
            ck_assert_str_eq(again, text);
        }
}
END_TEST

START_TEST(types_have_names)
{
    ck_assert_str_eq(u9_gid_type_name(U9_GID_VOLUME), "volume");
    ck_assert_str_eq(u9_gid_type_name(U9_GID_LOG), "log");
    ck_assert_str_eq(u9_gid_type_name(U9_GID_SEGMENT), "segment");
    ck_assert_str_eq(u9_gid_type_name(U9_GID_ANY), "?");
}
END_TEST

Suite *suite_gid(void)
{
    const TTest *const tests[] = {
        each_gid_packs_to_its_bytes_and_back,
        each_gid_prints_as_its_text_and_back,
        a_strict_reader_takes_only_copies_of_the_prefix,
        a_gid_of_another_type_than_asked_for_is_refused,
        bad_texts_are_refused_in_each_mode,
        bad_bytes_are_refused,
        no_other_first_byte_is_a_prefix,
        a_clear_top_bit_needs_the_lenient_flag,
        fields_out_of_range_neither_pack_nor_print,
        unknown_flags_and_types_are_no_fault_of_the_text,
        texts_are_ordered_as_the_bytes_are,
        every_character_is_a_digit_of_its_weight_or_refused,
        types_have_names,
    };
    Suite *suite = suite_create("gid");
    TCase *tcase = tcase_create("gid");
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
