/*
 * tests/format/id/test_id_order.c: what SPEC-values.md says of the order of identifiers (I-18), of the
 * bounds of a time (I-19), and of empty GIDs and their short form (I-20), read as tests.
 *
 * They are properties: of fields drawn at random, half of them close to each other or at the ends of
 * their ranges, so that all fields decide once.
 */
#include "tests/format/base/hex.h"
#include "tests/must.h"
#include "tests/suites.h"

#include <stdbool.h>
#include <stdio.h>
#include <u9/id.h>

enum { ROUNDS = 100000 };

static uint64_t state;

static void begin(void)
{
    state = 9;
}

static uint64_t draw(void) /* splitmix64 */
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 .. max; half of them at one of its ends. */
static uint64_t draw_to(uint64_t max)
{
    uint64_t number = draw() & max;
    switch (draw() & 3) {
    case 0: return number & 1;
    case 1: return max - (number & 1);
    default: return number;
    }
}

static u9_muid draw_muid(void)
{
    return (u9_muid){draw_to(U9_MUID_TIMESTAMP_MAX), draw_to(U9_MUID_MEDALLION_MAX),
                     (int32_t)((int64_t)draw_to(UINT32_MAX) + INT32_MIN)};
}

static u9_gid draw_gid(unsigned flags)
{
    static const u9_gid_type types[] = {U9_GID_VOLUME, U9_GID_LOG, U9_GID_SEGMENT};
    u9_gid gid = {.type = types[draw() % 3], .timestamp_ms = draw_to(U9_GID_TIMESTAMP_MAX)};
    for (unsigned i = 0; i < U9_GID_RANDOM_SIZE; i++) gid.random[i] = (uint8_t)draw_to(0xff);
    if (flags == U9_GID_STRICT) gid.random[0] = (uint8_t)gid.type;
    else if (flags == 0 || gid.random[0] < 0x4f) gid.random[0] |= 0x80;
    return gid;
}

static u9_tid draw_tid(void)
{
    return (u9_tid){draw_to(U9_TID_TIMESTAMP_MAX), (uint32_t)draw_to(U9_TID_CLOCK_ID_MAX)};
}

static const uint32_t generator_max[] = {0, 63, 255, 255, 2047};

static u9_uid8 draw_uid8(unsigned layout)
{
    return (u9_uid8){.timestamp_ms = draw_to(U9_UID8_TIMESTAMP_MAX),
                     .sequence = (uint32_t)draw_to(U9_UID8_SEQUENCE_MAX),
                     .generator = (uint32_t)draw_to(generator_max[layout]),
                     .cluster = (uint32_t)draw_to(U9_UID8_CLUSTER_MAX),
                     .mode = layout > 2 ? (u9_uid8_mode)draw_to(1) : U9_UID8_SPREAD};
}

/* The three forms of one identifier that can be compared. */
typedef struct forms {
    uint8_t packed[16];
    size_t packed_size;
    char text[40];
} forms;

static forms muid_forms(const u9_muid *id)
{
    forms f = {.packed_size = U9_MUID_SIZE};
    MUST(u9_muid_pack(id, f.packed) == U9_OK && u9_muid_format(id, f.text) == U9_OK);
    return f;
}

static forms gid_forms(const u9_gid *id, unsigned flags)
{
    forms f = {.packed_size = U9_GID_SIZE};
    MUST(u9_gid_pack(id, flags, f.packed) == U9_OK && u9_gid_format(id, flags, f.text) == U9_OK);
    return f;
}

static forms tid_forms(const u9_tid *id, unsigned flags)
{
    forms f = {.packed_size = U9_TID_SIZE};
    MUST(u9_tid_pack(id, flags, f.packed) == U9_OK && u9_tid_format(id, flags, f.text) == U9_OK);
    return f;
}

static forms uid8_forms(const u9_uid8 *id, unsigned layout)
{
    forms f = {.packed_size = U9_UID8_SIZE};
    MUST(u9_uid8_pack(id, layout, f.packed, NULL) == U9_OK);
    MUST(u9_uid8_format(id, layout, f.text, NULL) == U9_OK);
    return f;
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

/* Fields, bytes and texts say the same of a and b, either way round. */
static void expect_order(int ab, int ba, const forms *a, const forms *b)
{
    MUST_SAY(sign(ab) == sign(memcmp(a->packed, b->packed, a->packed_size)), "%s %s", a->text, b->text);
    MUST_SAY(sign(ab) == sign(strcmp(a->text, b->text)), "%s %s", a->text, b->text);
    MUST_SAY(sign(ab) == -sign(ba), "%s %s", a->text, b->text);
}

/* [I-4] [I-18] */
START_TEST(muids_compare_as_their_bytes_and_their_texts)
{
    for (int i = 0; i < ROUNDS; i++) {
        u9_muid a = draw_muid(), b = draw_muid();
        if (i & 1) b.timestamp = a.timestamp;
        if (i & 2) b.medallion = a.medallion;
        const forms fa = muid_forms(&a), fb = muid_forms(&b);
        expect_order(u9_muid_compare(&a, &b), u9_muid_compare(&b, &a), &fa, &fb);
        MUST(u9_muid_compare(&a, &a) == 0);
    }
}
END_TEST

/* [I-18] */
START_TEST(gids_compare_as_their_bytes_and_their_texts)
{
    for (int i = 0; i < ROUNDS; i++) {
        u9_gid a = draw_gid(0), b = draw_gid(0);
        if (i & 1) b.type = a.type;
        if (i & 2) b.timestamp_ms = a.timestamp_ms;
        if (i & 4) memcpy(b.random, a.random, draw() % sizeof b.random);
        const forms fa = gid_forms(&a, 0), fb = gid_forms(&b, 0);
        expect_order(u9_gid_compare(&a, &b), u9_gid_compare(&b, &a), &fa, &fb);
        MUST(u9_gid_compare(&a, &a) == 0);
    }
}
END_TEST

/* [I-18] */
START_TEST(tids_compare_as_their_bytes_and_their_texts)
{
    for (int i = 0; i < ROUNDS; i++) {
        u9_tid a = draw_tid(), b = draw_tid();
        if (i & 1) b.timestamp = a.timestamp;
        if (i & 4) a.timestamp = UINT64_C(1) << 53; /* the top bit */
        const forms fa = tid_forms(&a, U9_TID_TOP_BIT), fb = tid_forms(&b, U9_TID_TOP_BIT);
        expect_order(u9_tid_compare(&a, &b), u9_tid_compare(&b, &a), &fa, &fb);
        int keys = u9_rkey_compare(fa.text, U9_TID_TEXT_SIZE, fb.text, U9_TID_TEXT_SIZE);
        MUST(sign(keys) == sign(u9_tid_compare(&a, &b)));
        MUST(u9_tid_compare(&a, &a) == 0);
    }
}
END_TEST

/* [I-18] */
START_TEST(eight_byte_identifiers_compare_as_their_bytes_and_their_texts)
{
    for (int i = 0; i < ROUNDS; i++) {
        u9_uid8 a = draw_uid8(4), b = draw_uid8(4);
        if (i & 1) b.timestamp_ms = a.timestamp_ms;
        if (i & 2) b.sequence = a.sequence;
        if (i & 4) b.generator = a.generator;
        if (i & 8) b.mode = a.mode;
        const forms fa = uid8_forms(&a, 4), fb = uid8_forms(&b, 4);
        expect_order(u9_uid8_compare(&a, &b), u9_uid8_compare(&b, &a), &fa, &fb);
        MUST(u9_uid8_compare(&a, &a) == 0);
        if (a.mode == U9_UID8_TIME_SEQUENTIAL && b.mode == a.mode && a.timestamp_ms < b.timestamp_ms)
            MUST(u9_uid8_compare(&a, &b) < 0);
    }
}
END_TEST

/* [I-18] */
START_TEST(record_keys_compare_as_their_bytes_the_shorter_first)
{
    static const struct {
        const char *text;
        size_t size;
    } rows[] = { /* ascending */
        {TEXT("-")}, {TEXT("0")}, {TEXT("A")}, {TEXT("_")}, {TEXT("a")}, {TEXT("a-")},
        {TEXT("aa")}, {TEXT("b")}, {TEXT("self")}, {TEXT("selfie")}, {TEXT("~")}, {TEXT("\377")},
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < ROWS; k++) {
            char *a = exactly(rows[i].text, rows[i].size), *b = exactly(rows[k].text, rows[k].size);
            ck_assert_int_eq(sign(u9_rkey_compare(a, rows[i].size, b, rows[k].size)), sign(i - k));
            free(a);
            free(b);
        }
    ck_assert_int_lt(u9_rkey_compare(NULL, 0, "a", 1), 0);
    ck_assert_int_gt(u9_rkey_compare("a", 1, NULL, 0), 0);
    ck_assert_int_eq(u9_rkey_compare(NULL, 0, NULL, 0), 0);
}
END_TEST

/* [I-19] Just outside are the ceiling of the time before, and the floor of the one behind. */
START_TEST(a_muid_stands_between_the_bounds_of_its_time_and_of_no_other)
{
    for (int i = 0; i < ROUNDS; i++) {
        u9_muid id = draw_muid(), floor, ceil, next;
        MUST(u9_muid_floor(id.timestamp, &floor) == U9_OK);
        MUST(u9_muid_ceil(id.timestamp, &ceil) == U9_OK);
        MUST(u9_muid_compare(&floor, &id) <= 0 && u9_muid_compare(&id, &ceil) <= 0);
        MUST(floor.timestamp == id.timestamp && ceil.timestamp == id.timestamp);
        (void)muid_forms(&floor), (void)muid_forms(&ceil);
        if (id.timestamp == U9_MUID_TIMESTAMP_MAX) continue;
        MUST(u9_muid_floor(id.timestamp + 1, &next) == U9_OK && u9_muid_compare(&ceil, &next) < 0);
    }
}
END_TEST

/* [I-19] */
START_TEST(a_gid_stands_between_the_bounds_of_its_type_and_time_under_each_flag)
{
    static const unsigned flags[] = {0, U9_GID_STRICT, U9_GID_LENIENT};
    for (int i = 0; i < ROUNDS; i++) {
        unsigned flag = flags[i % 3];
        u9_gid id = draw_gid(flag), floor, ceil, next;
        MUST(u9_gid_floor(id.type, id.timestamp_ms, flag, &floor) == U9_OK);
        MUST(u9_gid_ceil(id.type, id.timestamp_ms, flag, &ceil) == U9_OK);
        MUST(u9_gid_compare(&floor, &id) <= 0 && u9_gid_compare(&id, &ceil) <= 0);
        const forms a = gid_forms(&floor, flag), b = gid_forms(&ceil, flag);
        MUST(strcmp(a.text, b.text) < 0);
        if (id.timestamp_ms == U9_GID_TIMESTAMP_MAX) continue;
        MUST(u9_gid_floor(id.type, id.timestamp_ms + 1, flag, &next) == U9_OK);
        MUST(u9_gid_compare(&ceil, &next) < 0);
    }
}
END_TEST

/* [I-19] To the byte: from 7 to 15. */
START_TEST(the_bounds_of_a_gid_are_tight)
{
    static const struct {
        unsigned flags;
        const char *floor, *ceil; /* bytes 7 to 15 */
    } rows[] = {
        {0, "800000000000000000", "ffffffffffffffffff"},
        {U9_GID_STRICT, "a00000000000000000", "a0ffffffffffffffff"},
        {U9_GID_LENIENT, "4e900abb53e6b71000", "ffffffffffffffffff"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t floor[U9_GID_RANDOM_SIZE], ceil[U9_GID_RANDOM_SIZE];
        u9_gid gid;
        unhex(rows[i].floor, floor);
        unhex(rows[i].ceil, ceil);
        ck_assert_int_eq(u9_gid_floor(U9_GID_LOG, 7, rows[i].flags, &gid), U9_OK);
        ck_assert_mem_eq(gid.random, floor, sizeof floor);
        ck_assert_int_eq(u9_gid_ceil(U9_GID_LOG, 7, rows[i].flags, &gid), U9_OK);
        ck_assert_mem_eq(gid.random, ceil, sizeof ceil);
    }
}
END_TEST

/* [I-19] */
START_TEST(a_tid_stands_between_the_bounds_of_its_time_and_so_does_its_record_key)
{
    for (int i = 0; i < ROUNDS; i++) {
        u9_tid id = draw_tid(), floor, ceil, next;
        unsigned flags = i & 1 ? U9_TID_TOP_BIT : 0;
        if (i & 1) id.timestamp |= UINT64_C(1) << 53;
        MUST(u9_tid_floor(id.timestamp, flags, &floor) == U9_OK);
        MUST(u9_tid_ceil(id.timestamp, flags, &ceil) == U9_OK);
        MUST(u9_tid_compare(&floor, &id) <= 0 && u9_tid_compare(&id, &ceil) <= 0);
        const forms a = tid_forms(&floor, flags), b = tid_forms(&id, flags), c = tid_forms(&ceil, flags);
        MUST(u9_rkey_compare(a.text, U9_TID_TEXT_SIZE, b.text, U9_TID_TEXT_SIZE) <= 0);
        MUST(u9_rkey_compare(b.text, U9_TID_TEXT_SIZE, c.text, U9_TID_TEXT_SIZE) <= 0);
        if (u9_tid_floor(id.timestamp + 1, flags, &next) == U9_OK) MUST(u9_tid_compare(&ceil, &next) < 0);
    }
}
END_TEST

/* [I-19] Two modes of one time are apart: the timestamp of one stands in reverse. */
START_TEST(an_eight_byte_identifier_stands_between_the_bounds_of_its_time_mode_and_layout)
{
    for (int i = 0; i < ROUNDS; i++) {
        unsigned layout = 1 + (unsigned)(i % 4);
        u9_uid8 id = draw_uid8(layout), floor, ceil, next;
        u9_id_reason why = U9_UID8_MODE;
        MUST(u9_uid8_floor(id.timestamp_ms, id.mode, layout, &floor, &why) == U9_OK);
        MUST(why == U9_ID_FINE);
        MUST(u9_uid8_ceil(id.timestamp_ms, id.mode, layout, &ceil, NULL) == U9_OK);
        MUST(u9_uid8_compare(&floor, &id) <= 0 && u9_uid8_compare(&id, &ceil) <= 0);
        (void)uid8_forms(&floor, layout), (void)uid8_forms(&ceil, layout);
        MUST(ceil.generator == generator_max[layout]);
        if (id.mode == U9_UID8_SPREAD || id.timestamp_ms == U9_UID8_TIMESTAMP_MAX) continue;
        MUST(u9_uid8_floor(id.timestamp_ms + 1, id.mode, layout, &next, NULL) == U9_OK);
        MUST(u9_uid8_compare(&ceil, &next) < 0);
    }
}
END_TEST

/* [I-19] */
START_TEST(times_out_of_range_have_no_bounds)
{
    u9_muid muid = {1, 2, 3};
    u9_gid gid = {.timestamp_ms = 77};
    u9_tid tid = {77, 7};
    u9_uid8 uid8 = {.timestamp_ms = 77};
    u9_id_reason why = U9_ID_FINE;
    ck_assert_int_eq(u9_muid_floor(U9_MUID_TIMESTAMP_MAX + 1, &muid), U9_ARG);
    ck_assert_int_eq(u9_muid_ceil(U9_MUID_TIMESTAMP_MAX + 1, &muid), U9_ARG);
    ck_assert_int_eq(u9_gid_floor(U9_GID_LOG, U9_GID_TIMESTAMP_MAX + 1, 0, &gid), U9_ARG);
    ck_assert_int_eq(u9_gid_ceil(U9_GID_LOG, U9_GID_TIMESTAMP_MAX + 1, 0, &gid), U9_ARG);
    ck_assert_int_eq(u9_gid_floor(U9_GID_ANY, 0, 0, &gid), U9_ARG);
    ck_assert_int_eq(u9_gid_ceil(U9_GID_ANY, 0, 0, &gid), U9_ARG);
    ck_assert_int_eq(u9_gid_floor(U9_GID_LOG, 0, 3, &gid), U9_ARG);
    ck_assert_int_eq(u9_gid_ceil(U9_GID_LOG, 0, 4, &gid), U9_ARG);
    ck_assert_int_eq(u9_tid_floor(U9_TID_TIMESTAMP_MAX + 1, 0, &tid), U9_ARG);
    ck_assert_int_eq(u9_tid_ceil(U9_TID_TIMESTAMP_MAX + 1, 0, &tid), U9_ARG);
    ck_assert_int_eq(u9_tid_ceil(UINT64_C(1) << 54, U9_TID_TOP_BIT, &tid), U9_ARG);
    ck_assert_int_eq(u9_tid_floor(0, 2, &tid), U9_ARG);
    ck_assert_int_eq(u9_tid_from_time(0, U9_TID_CLOCK_ID_MAX + 1, 0, &tid), U9_ARG);
    ck_assert_int_eq(u9_uid8_floor(U9_UID8_TIMESTAMP_MAX + 1, U9_UID8_SPREAD, 4, &uid8, &why), U9_ARG);
    ck_assert_int_eq(why, U9_UID8_TIMESTAMP);
    ck_assert_int_eq(u9_uid8_ceil(1, U9_UID8_TIME_SEQUENTIAL, 2, &uid8, &why), U9_ARG);
    ck_assert_int_eq(why, U9_UID8_MODE);
    ck_assert_int_eq(u9_uid8_floor(1, U9_UID8_SPREAD, 0, &uid8, &why), U9_ARG);
    ck_assert_int_eq(u9_uid8_ceil(1, U9_UID8_SPREAD, 5, &uid8, &why), U9_ARG);
    ck_assert_uint_eq(muid.timestamp, 1); /* all untouched */
    ck_assert_uint_eq(gid.timestamp_ms, 77);
    ck_assert_uint_eq(tid.timestamp, 77);
    ck_assert_uint_eq(uid8.timestamp_ms, 77);
}
END_TEST

/* [I-8] */
START_TEST(a_tid_is_made_of_a_time_and_a_clock_id)
{
    u9_tid tid;
    char text[U9_TID_TEXT_SIZE + 1];
    ck_assert_int_eq(u9_tid_from_time(UINT64_C(1682739741953005), 30, 0, &tid), U9_OK);
    ck_assert_int_eq(u9_tid_format(&tid, 0, text), U9_OK);
    ck_assert_str_eq(text, "3jui7kd54zh2y");
}
END_TEST

/* [I-20] Byte 7 is 80 today, and was the prefix; nothing else is empty. */
START_TEST(each_type_has_an_empty_gid)
{
    static const struct {
        u9_gid_type type;
        const char *text;
    } rows[] = {
        {U9_GID_VOLUME, "5rLWQQkJdm-2dVseX433Zwhy"},
        {U9_GID_LOG, "74ftFmBdYT-2dVseX433Zwhy"},
        {U9_GID_SEGMENT, "8H1G77cxT9-2dVseX433Zwhy"},
    };
    char text[U9_GID_TEXT_SIZE + 1];
    u9_gid gid;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_int_eq(u9_gid_empty(rows[i].type, &gid), U9_OK);
        ck_assert_int_eq(u9_gid_format(&gid, 0, text), U9_OK);
        ck_assert_str_eq(text, rows[i].text);
        ck_assert_int_ne(u9_gid_is_empty(&gid), 0);
        gid.random[0] = (uint8_t)rows[i].type;
        ck_assert_int_ne(u9_gid_is_empty(&gid), 0);
        gid.random[0] = 0x81;
        ck_assert_int_eq(u9_gid_is_empty(&gid), 0);
        for (unsigned k = 1; k < U9_GID_RANDOM_SIZE; k++) {
            ck_assert_int_eq(u9_gid_empty(rows[i].type, &gid), U9_OK);
            gid.random[k] = 1;
            ck_assert_int_eq(u9_gid_is_empty(&gid), 0);
        }
        ck_assert_int_eq(u9_gid_floor(rows[i].type, 1, 0, &gid), U9_OK);
        ck_assert_int_eq(u9_gid_is_empty(&gid), 0);
    }
    const u9_gid zero = {.timestamp_ms = 0};
    ck_assert_int_eq(u9_gid_is_empty(&zero), 0);
    ck_assert_int_eq(u9_gid_empty(U9_GID_ANY, &gid), U9_ARG);
    ck_assert_int_eq(u9_gid_empty((u9_gid_type)0xe0, &gid), U9_ARG);
}
END_TEST

/* [I-20] */
START_TEST(the_short_form_of_a_gid_is_what_stands_behind_the_dash)
{
    static const char text[] = "74ggbzxuMf-2uAmM7FwXntwW";
    char brief[U9_GID_SHORT_SIZE + 1];
    u9_gid gid;
    ck_assert_int_eq(u9_gid_parse(TEXT(text), U9_GID_LOG, 0, &gid, NULL), U9_OK);
    memset(brief, 'x', sizeof brief);
    ck_assert_int_eq(u9_gid_format_short(&gid, 0, brief), U9_OK);
    ck_assert_str_eq(brief, text + 11);
    strcpy(brief, "untouched");
    ck_assert_int_eq(u9_gid_format_short(&gid, U9_GID_STRICT, brief), U9_ARG);
    gid.timestamp_ms = U9_GID_TIMESTAMP_MAX + 1;
    ck_assert_int_eq(u9_gid_format_short(&gid, 0, brief), U9_ARG);
    ck_assert_str_eq(brief, "untouched");
}
END_TEST

Suite *suite_id_order(void)
{
    const TTest *const tests[] = {
        muids_compare_as_their_bytes_and_their_texts,
        gids_compare_as_their_bytes_and_their_texts,
        tids_compare_as_their_bytes_and_their_texts,
        eight_byte_identifiers_compare_as_their_bytes_and_their_texts,
        record_keys_compare_as_their_bytes_the_shorter_first,
        a_muid_stands_between_the_bounds_of_its_time_and_of_no_other,
        a_gid_stands_between_the_bounds_of_its_type_and_time_under_each_flag,
        the_bounds_of_a_gid_are_tight,
        a_tid_stands_between_the_bounds_of_its_time_and_so_does_its_record_key,
        an_eight_byte_identifier_stands_between_the_bounds_of_its_time_mode_and_layout,
        times_out_of_range_have_no_bounds,
        a_tid_is_made_of_a_time_and_a_clock_id,
        each_type_has_an_empty_gid,
        the_short_form_of_a_gid_is_what_stands_behind_the_dash,
    };
    Suite *suite = suite_create("id_order");
    TCase *tcase = tcase_create("id_order");
    tcase_add_checked_fixture(tcase, begin, NULL);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
