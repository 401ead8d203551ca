/*
 * tests/format/value/test_value_pack.c: arrays are built without the bytecodes of their elements, and
 * each element is what the typecode says. [V-5] [V-7] [V-8] [V-10]
 */
#include "tests/format/value/built.h"
#include "tests/format/value/value_gen.h"

#include <stdbool.h>

Suite *suite_value_pack(void);

static void open_array(u9_builder *b, const char *typecode)
{
    static built_hex kept[8];
    static unsigned next;
    built_hex *k = &kept[next++ % 8];
    *k = from_hex(typecode);
    ok(u9_build_array_open(b, k->bytes, k->size));
}

static u9_builder begin_array(const char *typecode)
{
    u9_builder b = begin();
    open_array(&b, typecode);
    return b;
}

/* Closes the array and compares. */
static void expect_array(u9_builder *b, const char *hex)
{
    ok(u9_build_array_close(b));
    expect_built(b, hex);
    expect_checked(b->bytes, b->size);
}

/* True if the call was refused as one that changed nothing. */
static bool refused(const u9_builder *b, const u9_builder *before, u9_err err)
{
    return err == U9_ARG && memcmp(b, before, sizeof *b) == 0;
}

#define EXPECT_REFUSED(b, call)                      \
    do {                                             \
        u9_builder before;                           \
        memcpy(&before, (b), sizeof before);         \
        ck_assert(refused((b), &before, (call)));    \
    } while (0)

START_TEST(numbers_are_written_without_their_bytecodes)
{
    u9_builder b = begin_array("00");
    ok(u9_build_uint(&b, 5));
    ok(u9_build_uint(&b, 6));
    expect_array(&b, "44 03 02 00 05 06");
    b = begin_array("06");
    ok(u9_build_int(&b, -2));
    ok(u9_build_uint(&b, 1));
    expect_array(&b, "44 09 02 06 fffffffe 00000001");
    b = begin_array("07");
    expect_array(&b, "44 01 00 07");
}
END_TEST

/* [V-2] Integers of all widths are one domain: either call, as long as the number fits. */
START_TEST(an_integer_fits_by_its_value)
{
    static const struct {
        const char *typecode;
        int64_t min;
        uint64_t max;
    } list[] = {{"00", 0, 255},
                {"01", 0, 65535},
                {"02", 0, UINT32_MAX},
                {"03", 0, UINT64_MAX},
                {"04", -128, 127},
                {"05", -32768, 32767},
                {"06", INT32_MIN, INT32_MAX},
                {"07", INT64_MIN, INT64_MAX}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        u9_builder b = begin_array(list[i].typecode);
        uint64_t max = list[i].max;
        int64_t min = list[i].min;
        ok(u9_build_uint(&b, max));
        ok(u9_build_uint(&b, 0));
        ok(u9_build_int(&b, min));
        ok(u9_build_int(&b, 1));
        ok(u9_build_uint_wide(&b, 2, 8));
        ok(u9_build_int_wide(&b, 3, 2));
        if (max <= INT64_MAX) ok(u9_build_int(&b, (int64_t)max));
        if (max < UINT64_MAX) EXPECT_REFUSED(&b, u9_build_uint(&b, max + 1));
        if (max < INT64_MAX) EXPECT_REFUSED(&b, u9_build_int(&b, (int64_t)max + 1));
        if (min > INT64_MIN) EXPECT_REFUSED(&b, u9_build_int(&b, min - 1));
        if (min > INT64_MIN) EXPECT_REFUSED(&b, u9_build_int_wide(&b, min - 1, 8));
        EXPECT_REFUSED(&b, u9_build_tau(&b, 1));
        EXPECT_REFUSED(&b, u9_build_float64(&b, 1));
        ok(u9_build_array_close(&b));
        expect_checked(b.bytes, b.size);
        u9_value array = decoded(b.bytes, b.size), v;
        ok(u9_value_at(&array, 0, &v));
        ck_assert_uint_eq(v.u, max);
        ok(u9_value_at(&array, 2, &v));
        ck_assert_int_eq(v.i, min);
        ok(u9_value_at(&array, 5, &v));
        ck_assert_int_eq(v.i, 3);
    }
}
END_TEST

START_TEST(a_float_fits_by_its_exact_type)
{
    u9_builder b = begin_array("08");
    ok(u9_build_float32(&b, 1.5f));
    EXPECT_REFUSED(&b, u9_build_float64(&b, 1.5));
    EXPECT_REFUSED(&b, u9_build_uint(&b, 1));
    EXPECT_REFUSED(&b, u9_build_int(&b, -1));
    expect_array(&b, "44 05 01 08 3fc00000");
    b = begin_array("09");
    ok(u9_build_float64(&b, -0.0));
    EXPECT_REFUSED(&b, u9_build_float32(&b, 1.5f));
    EXPECT_REFUSED(&b, u9_build_uint(&b, 1));
    expect_array(&b, "44 09 01 09 8000000000000000");
}
END_TEST

START_TEST(a_tau_fits_by_its_type_and_value)
{
    u9_builder b = begin_array("15");
    ok(u9_build_tau(&b, 0));
    ok(u9_build_tau(&b, 65535));
    EXPECT_REFUSED(&b, u9_build_tau(&b, 65536));
    EXPECT_REFUSED(&b, u9_build_uint(&b, 1));
    expect_array(&b, "44 05 02 15 0000 ffff");
    b = begin_array("16");
    ok(u9_build_tau(&b, UINT32_MAX));
    EXPECT_REFUSED(&b, u9_build_tau(&b, UINT64_C(1) << 32));
    expect_array(&b, "44 05 01 16 ffffffff");
    b = begin_array("17");
    ok(u9_build_tau(&b, UINT64_MAX));
    expect_array(&b, "44 09 01 17 ffffffffffffffff");
}
END_TEST

START_TEST(symbols_and_pidfds_fit_by_their_type)
{
    u9_builder b = begin_array("0a");
    ok(u9_build_symbol(&b, "k"));
    EXPECT_REFUSED(&b, u9_build_symbol(&b, "ninechars"));
    EXPECT_REFUSED(&b, u9_build_bytes(&b, "k\0\0\0\0\0\0", 8));
    EXPECT_REFUSED(&b, u9_build_pidfd(&b, 1, 2));
    expect_array(&b, "44 09 01 0a 6b00000000000000");
    b = begin_array("0b");
    ok(u9_build_pidfd(&b, 1337, 3));
    EXPECT_REFUSED(&b, u9_build_symbol(&b, "k"));
    EXPECT_REFUSED(&b, u9_build_uint(&b, 1));
    expect_array(&b, "44 09 01 0b 00000539 00000003");
}
END_TEST

START_TEST(text_and_bytes_fit_by_their_exact_length)
{
    u9_builder b = begin_array("18 03");
    ok(u9_build_utf8(&b, "one", 3));
    ok(u9_build_utf8_wide(&b, "two", 3, 4));
    EXPECT_REFUSED(&b, u9_build_utf8(&b, "four", 4));
    EXPECT_REFUSED(&b, u9_build_utf8(&b, "no", 2));
    EXPECT_REFUSED(&b, u9_build_utf8(&b, "", 0));
    EXPECT_REFUSED(&b, u9_build_bytes(&b, "one", 3));
    expect_array(&b, "44 08 02 18 03 6f6e65 74776f");
    b = begin_array("1d 0010");
    ok(u9_build_bytes(&b, "0123456789abcdef", 16));
    EXPECT_REFUSED(&b, u9_build_bytes(&b, "0123456789abcde", 15));
    EXPECT_REFUSED(&b, u9_build_bytes_wide(&b, "0123456789abcde", 15, 1));
    EXPECT_REFUSED(&b, u9_build_utf8(&b, "0123456789abcdef", 16));
    expect_array(&b, "44 13 01 1d 0010 30313233343536373839616263646566");
}
END_TEST

/* [V-10] They have nothing to distribute. */
START_TEST(what_stands_alone_is_no_element)
{
    static const char *const typecodes[] = {"00", "08", "0a", "15", "18 00", "40 00", "48 00",
                                            "44 00 00 00"};
    for (size_t i = 0; i < sizeof typecodes / sizeof typecodes[0]; i++) {
        u9_builder b = begin_array(typecodes[i]);
        for (u9_type type = U9_ALPHA; type <= U9_TAU0; type++)
            EXPECT_REFUSED(&b, u9_build_greek(&b, type));
    }
}
END_TEST

/* [V-10] `48` + n and l: each has n elements in l bytes. */
START_TEST(a_fixtuple_fits_by_count_and_length)
{
    u9_builder b = begin_array("4a 04");
    ok(u9_build_tuple_open(&b));
    ok(u9_build_uint(&b, 1));
    ok(u9_build_utf8(&b, "on", 2));
    ok(u9_build_tuple_close(&b));
    ok(u9_build_tuple_open_wide(&b, 4));
    ok(u9_build_uint(&b, 2));
    EXPECT_REFUSED(&b, u9_build_tuple_close(&b)); /* one element, one byte */
    ok(u9_build_greek(&b, U9_OMEGA));
    EXPECT_REFUSED(&b, u9_build_tuple_close(&b)); /* two elements, two bytes */
    ok(u9_build_uint(&b, 300));
    EXPECT_REFUSED(&b, u9_build_tuple_close(&b)); /* three elements, five bytes */
    b = begin_array("4a 04");
    ok(u9_build_tuple_open(&b));
    ok(u9_build_uint(&b, 1));
    ok(u9_build_utf8(&b, "on", 2));
    ok(u9_build_tuple_close(&b));
    ok(u9_build_tuple_open(&b));
    ok(u9_build_uint(&b, 2));
    ok(u9_build_utf8(&b, "up", 2));
    ok(u9_build_tuple_close(&b));
    expect_array(&b, "44 0a 02 4a 04 81 22 6f6e 82 22 7570");
    b = begin_array("4b 04");
    ok(u9_build_tuple_open(&b));
    ok(u9_build_uint(&b, 1));
    ok(u9_build_utf8(&b, "on", 2));
    EXPECT_REFUSED(&b, u9_build_tuple_close(&b)); /* two elements in four bytes */
}
END_TEST

/* [V-10] `40` to `43` and l: each has a count of its own, in l bytes. */
START_TEST(a_tuple_fits_by_length_and_brings_its_count)
{
    u9_builder b = begin_array("40 03");
    ok(u9_build_tuple_open(&b));
    ok(u9_build_uint(&b, 1));
    ok(u9_build_utf8(&b, "a", 1));
    ok(u9_build_tuple_close(&b));
    ok(u9_build_tuple_open(&b));
    for (unsigned i = 1; i < 4; i++) ok(u9_build_uint(&b, i));
    ok(u9_build_tuple_close(&b));
    ok(u9_build_tuple_open(&b));
    ok(u9_build_uint(&b, 1));
    EXPECT_REFUSED(&b, u9_build_tuple_close(&b));
    ok(u9_build_uint(&b, 1000));
    EXPECT_REFUSED(&b, u9_build_tuple_close(&b));
    b = begin_array("40 03");
    ok(u9_build_tuple_open(&b));
    ok(u9_build_uint(&b, 1));
    ok(u9_build_utf8(&b, "a", 1));
    ok(u9_build_tuple_close(&b));
    ok(u9_build_tuple_open(&b));
    for (unsigned i = 1; i < 4; i++) ok(u9_build_uint(&b, i));
    ok(u9_build_tuple_close(&b));
    expect_array(&b, "44 0a 02 40 03 02 81 21 61 03 81 82 83");
    b = begin_array("42 00000001");
    ok(u9_build_tuple_open(&b));
    ok(u9_build_greek(&b, U9_IOTA));
    ok(u9_build_tuple_close(&b));
    expect_array(&b, "44 0a 01 42 00000001 00000001 12");
}
END_TEST

/* Within a tuple that is an element values are whole again, and arrays may be opened anew. */
START_TEST(the_elements_of_a_tuple_in_an_array_have_bytecodes)
{
    const uint8_t numbers[] = {1, 2, 3};
    u9_builder b = begin_array("4a 08");
    ok(u9_build_tuple_open(&b));
    ok(u9_build_numbers(&b, 0x00, numbers, 3));
    ok(u9_build_int(&b, 5));
    ok(u9_build_tuple_close(&b));
    ok(u9_build_tuple_open(&b));
    open_array(&b, "04");
    for (int i = -1; i > -4; i--) ok(u9_build_int(&b, i));
    ok(u9_build_array_close(&b));
    ok(u9_build_uint(&b, 6));
    ok(u9_build_tuple_close(&b));
    expect_array(&b, "44 12 02 4a 08 44 04 03 00 01 02 03 85 44 04 03 04 ff fe fd 86");
}
END_TEST

START_TEST(a_tuple_is_opened_only_where_elements_are_tuples)
{
    static const char *const typecodes[] = {"00", "18 03", "44 02 02 00"};
    for (size_t i = 0; i < sizeof typecodes / sizeof typecodes[0]; i++) {
        u9_builder b = begin_array(typecodes[i]);
        EXPECT_REFUSED(&b, u9_build_tuple_open(&b));
        EXPECT_REFUSED(&b, u9_build_tuple_open_wide(&b, 1));
    }
    u9_builder b = begin_array("49 01");
    EXPECT_REFUSED(&b, u9_build_uint(&b, 5));
    EXPECT_REFUSED(&b, u9_build_array_open(&b, NULL, 0));
    EXPECT_REFUSED(&b, u9_build_array_open(&b, "\x00", 1));
    EXPECT_REFUSED(&b, u9_build_numbers(&b, 0x00, "", 1));
}
END_TEST

/* [V-10] */
START_TEST(arrays_in_arrays_are_packed_without_headers)
{
    static const uint8_t inner[] = {0x05};
    u9_builder b = begin_array("44 08 04 05");
    ok(u9_build_array_open(&b, NULL, 0));
    for (int i = 1; i < 5; i++) ok(u9_build_int(&b, i));
    ok(u9_build_array_close(&b));
    ok(u9_build_array_open(&b, inner, 1)); /* or the very typecode */
    for (int i = 2; i < 6; i++) ok(u9_build_int(&b, -i));
    ok(u9_build_array_close(&b));
    expect_array(&b, "44 14 02 44 08 04 05 0001 0002 0003 0004 fffe fffd fffc fffb");
}
END_TEST

/* [V-10] */
START_TEST(an_array_in_an_array_has_as_many_elements_as_the_typecode_says)
{
    u9_builder b = begin_array("44 02 02 00");
    ok(u9_build_array_open(&b, NULL, 0));
    EXPECT_REFUSED(&b, u9_build_array_close(&b));
    ok(u9_build_uint(&b, 1));
    EXPECT_REFUSED(&b, u9_build_array_close(&b));
    ok(u9_build_uint(&b, 2));
    EXPECT_REFUSED(&b, u9_build_uint(&b, 3));
    ok(u9_build_array_close(&b));
    EXPECT_REFUSED(&b, u9_build_uint(&b, 3));
    EXPECT_REFUSED(&b, u9_build_array_open(&b, "\x04", 1));
    EXPECT_REFUSED(&b, u9_build_array_open(&b, "\x00\x00", 2));
    expect_array(&b, "44 06 01 44 02 02 00 01 02");
    b = begin_array("44 08 02 44 04 02 01");
    for (unsigned i = 0; i < 2; i++) {
        ok(u9_build_array_open(&b, NULL, 0));
        for (unsigned k = 0; k < 2; k++) {
            ok(u9_build_array_open(&b, NULL, 0));
            ok(u9_build_uint(&b, i));
            ok(u9_build_uint(&b, k));
            ok(u9_build_array_close(&b));
        }
        EXPECT_REFUSED(&b, u9_build_array_open(&b, NULL, 0));
        ok(u9_build_array_close(&b));
    }
    expect_array(&b, "44 17 02 44 08 02 44 04 02 01 0000 0000 0000 0001 0001 0000 0001 0001");
    b = begin_array("44 02 01 49 02");
    ok(u9_build_array_open(&b, NULL, 0));
    ok(u9_build_tuple_open(&b));
    ok(u9_build_uint(&b, 200));
    ok(u9_build_tuple_close(&b));
    EXPECT_REFUSED(&b, u9_build_tuple_open(&b));
    EXPECT_REFUSED(&b, u9_build_tuple_open_wide(&b, 1));
    ok(u9_build_array_close(&b));
    expect_array(&b, "44 07 01 44 02 01 49 02 00 c8");
}
END_TEST

/* [V-5] [V-7] l counts the typecode. */
START_TEST(arrays_take_the_shortest_header)
{
    static const struct {
        const char *typecode;
        unsigned count;
        const char *head;
    } borders[] = {{"00", 254, "44 ff fe 00"},
                   {"00", 255, "45 0100 00ff 00"},
                   {"00", 65534, "45 ffff fffe 00"},
                   {"00", 65535, "46 00010000 0000ffff 00"},
                   {"18 00", 255, "44 02 ff 18 00"},
                   {"03", 31, "44 f9 1f 03"},
                   {"03", 32, "45 0101 0020 03"}};
    for (size_t i = 0; i < sizeof borders / sizeof borders[0]; i++) {
        u9_builder b = begin();
        ok(u9_build_tuple_open(&b));
        open_array(&b, borders[i].typecode);
        bool empty = borders[i].typecode[0] == '1';
        for (unsigned k = 0; k < borders[i].count; k++)
            ok(empty ? u9_build_utf8(&b, "", 0) : u9_build_uint(&b, k % 256));
        ok(u9_build_array_close(&b));
        ok(u9_build_tuple_close(&b));
        built_hex head = from_hex(borders[i].head);
        u9_value tuple = decoded(b.bytes, b.size), array, v;
        ok(u9_value_at(&tuple, 0, &array));
        ck_assert_mem_eq(array.start, head.bytes, head.size);
        expect_checked(b.bytes, b.size);
        ok(u9_value_at(&array, borders[i].count - 1, &v));
        if (v.type == U9_UINT) ck_assert_uint_eq(v.u, (borders[i].count - 1) % 256);
    }
}
END_TEST

START_TEST(a_wide_array_has_the_header_that_was_asked_for)
{
    static const char *const want[] = {"44 02 01 00 05", "45 0002 0001 00 05",
                                       "46 00000002 00000001 00 05",
                                       "47 0000000000000002 0000000000000001 00 05"};
    for (unsigned step = 0; step < 4; step++) {
        u9_builder b = begin();
        ok(u9_build_array_open_wide(&b, "\x00", 1, 1u << step));
        ok(u9_build_uint(&b, 5));
        expect_array(&b, want[step]);
    }
    u9_builder b = begin();
    ok(u9_build_array_open_wide(&b, "\x00", 1, 1));
    for (unsigned i = 0; i < 255; i++) ok(u9_build_uint(&b, i));
    ck_assert_int_eq(u9_build_array_close(&b), U9_LIMIT);
    ck_assert(b.depth == 1 && u9_builder_missing(&b) == 0);
    EXPECT_REFUSED(&b, u9_build_array_open_wide(&b, "\x00", 1, 3));
    EXPECT_REFUSED(&b, u9_build_array_open_wide(&b, "\x00", 1, 0));
}
END_TEST

/* [V-10] */
START_TEST(a_typecode_must_be_one_and_take_all_of_its_bytes)
{
    static const char *const bad[] = {"", "10", "14", "21", "30", "80", "ff", "0c", "50", "54",
                                      "00 00", "18", "18 03 00", "19 00", "40", "44 02 02",
                                      "44 02 01 00", "44 02 02 00 00", "4a", "44 01 01 21"};
    u9_builder b = begin();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        built_hex hex = from_hex(bad[i]);
        EXPECT_REFUSED(&b, u9_build_array_open(&b, hex.bytes, hex.size));
        EXPECT_REFUSED(&b, u9_build_array_open_wide(&b, hex.bytes, hex.size, 4));
    }
    EXPECT_REFUSED(&b, u9_build_array_open(&b, NULL, 0));
    EXPECT_REFUSED(&b, u9_build_array_open(&b, NULL, 1));
}
END_TEST

/* A typecode of `depth` arrays around int8. */
static size_t nest_typecode(uint8_t *out, unsigned depth)
{
    size_t at = 0;
    for (unsigned i = 0; i < depth; i++) {
        memcpy(out + at, "\x44\x01\x01", 3);
        at += 3;
    }
    out[at] = 0x04;
    return at + 1;
}

/* [V-8] */
START_TEST(arrays_in_typecodes_count_as_containers)
{
    uint8_t typecode[3 * U9_DEPTH_MAX + 1];
    for (unsigned outside = 0; outside < U9_DEPTH_MAX; outside++) {
        u9_builder b = begin(), before;
        for (unsigned i = 0; i < outside; i++) ok(u9_build_tuple_open(&b));
        memcpy(&before, &b, sizeof b);
        size_t size = nest_typecode(typecode, U9_DEPTH_MAX - outside);
        ck_assert_int_eq(u9_build_array_open(&b, typecode, size), U9_LIMIT);
        ck_assert_mem_eq(&b, &before, sizeof b);
        size = nest_typecode(typecode, U9_DEPTH_MAX - outside - 1);
        ok(u9_build_array_open(&b, typecode, size));
        while (b.depth < U9_DEPTH_MAX) ok(u9_build_array_open(&b, NULL, 0));
        ok(u9_build_int(&b, -1));
        while (b.depth > outside) ok(u9_build_array_close(&b));
        while (b.depth > 0) ok(u9_build_tuple_close(&b));
        expect_checked(b.bytes, b.size);
    }
    u9_builder b = begin();
    for (unsigned i = 0; i < U9_DEPTH_MAX - 1; i++) ok(u9_build_tuple_open(&b));
    ck_assert_int_eq(u9_build_array_open(&b, "\x49\x01", 2), U9_LIMIT);
    ok(u9_build_array_open(&b, "\x1c\x01", 2));
}
END_TEST

/* [V-10] Elements without bytes: 255, arrays in arrays multiplied. */
START_TEST(no_more_empty_elements_are_built_than_readers_take)
{
    u9_builder b = begin_array("1c 00"), before;
    for (unsigned i = 0; i < U9_EMPTY_MAX; i++) ok(u9_build_bytes(&b, "", 0));
    memcpy(&before, &b, sizeof b);
    ck_assert_int_eq(u9_build_bytes(&b, "", 0), U9_LIMIT);
    ck_assert_mem_eq(&b, &before, sizeof b);
    expect_array(&b, "44 02 ff 1c 00");
    b = begin_array("44 00 0a 48 00");
    for (unsigned i = 0; i < 25; i++) {
        ok(u9_build_array_open(&b, NULL, 0));
        for (unsigned k = 0; k < 10; k++) {
            ok(u9_build_tuple_open(&b));
            ok(u9_build_tuple_close(&b));
        }
        ok(u9_build_array_close(&b));
    }
    memcpy(&before, &b, sizeof b);
    ck_assert_int_eq(u9_build_array_open(&b, NULL, 0), U9_LIMIT);
    ck_assert_mem_eq(&b, &before, sizeof b);
    expect_array(&b, "44 05 19 44 00 0a 48 00");
    b = begin_array("48 00");
    for (unsigned i = 0; i < U9_EMPTY_MAX; i++) {
        ok(u9_build_tuple_open(&b));
        ok(u9_build_tuple_close(&b));
    }
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_LIMIT);
    expect_array(&b, "44 02 ff 48 00");
    b = begin();
    ck_assert_int_eq(u9_build_array_open(&b, "\x44\x00\xff\x44\x00\x02\x18\x00", 8), U9_LIMIT);
    ck_assert_uint_eq(b.size, 0);
}
END_TEST

START_TEST(only_an_array_is_closed_as_an_array)
{
    u9_builder b = begin();
    ck_assert_int_eq(u9_build_array_close(&b), U9_STATE);
    ok(u9_build_tuple_open(&b));
    ck_assert_int_eq(u9_build_array_close(&b), U9_STATE);
    open_array(&b, "49 01");
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_STATE);
    ok(u9_build_tuple_open(&b));
    ck_assert_int_eq(u9_build_array_close(&b), U9_STATE);
    ok(u9_build_uint(&b, 1));
    ok(u9_build_tuple_close(&b));
    ok(u9_build_array_close(&b));
    ok(u9_build_tuple_close(&b));
    expect_built(&b, "49 06 44 03 01 49 01 81");
}
END_TEST

/* Of each type, from another encoding; and the containers as they are. */
START_TEST(a_view_is_written_as_an_element_of_its_type)
{
    static const struct {
        const char *typecode, *value, *element;
    } list[] = {{"06", "85", "00000005"},
                {"00", "07 0000000000000005", "05"},
                {"04", "04 ff", "ff"},
                {"08", "08 3fc00000", "3fc00000"},
                {"09", "09 3ff8000000000000", "3ff8000000000000"},
                {"0a", "0a 00ff800000000001", "00ff800000000001"},
                {"0b", "0b 00000539 00000003", "00000539 00000003"},
                {"17", "15 0064", "0000000000000064"},
                {"19 0002", "18 02 6869", "6869"},
                {"1c 02", "32 6869", "6869"},
                {"4a 02", "41 0002 0002 81 82", "81 82"},
                {"41 0002", "4a 02 81 82", "0002 81 82"},
                {"41 0002", "54 11 0a 6900000000000000 44 01 00 00 44 01 00 05 4a 02 81 82",
                 "0002 81 82"},
                {"44 02 02 00", "46 00000003 00000002 00 05 06", "05 06"}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        for (unsigned raw = 0; raw < 2; raw++) {
            u9_builder b = begin_array(list[i].typecode);
            u9_value v = view(list[i].value);
            size_t before = b.size;
            ok(raw ? u9_build_raw(&b, v.start, v.encoded) : u9_build_value(&b, &v));
            expect_bytes(b.bytes + before, b.size - before, list[i].element);
            ok(u9_build_array_close(&b));
            expect_checked(b.bytes, b.size);
            u9_value array = decoded(b.bytes, b.size), again;
            ok(u9_value_at(&array, 0, &again));
            ck_assert_int_eq(u9_value_compare(&v, &again), 0);
        }
}
END_TEST

START_TEST(a_view_of_another_type_or_layout_is_refused)
{
    static const struct {
        const char *typecode, *value;
    } list[] = {{"00", "01 0100"},
                {"00", "04 ff"},
                {"04", "00 80"},
                {"00", "14"},
                {"08", "09 3ff8000000000000"},
                {"15", "16 00010000"},
                {"18 01", "22 6869"},
                {"18 02", "32 6869"},
                {"4a 02", "4a 03 81 21 61"},
                {"4a 02", "49 02 21 61"},
                {"40 02", "49 01 81"},
                {"44 02 02 00", "44 02 01 00 05"},
                {"44 02 02 00", "44 03 02 04 05 06"},
                {"44 02 01 18 02", "44 04 01 1c 02 05 06"},
                {"44 02 01 19 0002", "44 04 01 18 02 05 06"},
                {"44 02 02 00", "4a 02 85 86"},
                {"4a 02", "44 03 02 00 05 06"}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        u9_builder b = begin_array(list[i].typecode);
        u9_value v = view(list[i].value);
        EXPECT_REFUSED(&b, u9_build_value(&b, &v));
        EXPECT_REFUSED(&b, u9_build_raw(&b, v.start, v.encoded));
    }
    u9_builder b = begin_array("00");
    EXPECT_REFUSED(&b, u9_build_raw(&b, "\x85\x85", 2));
    EXPECT_REFUSED(&b, u9_build_raw(&b, "\x00", 1));
    EXPECT_REFUSED(&b, u9_build_raw(&b, "", 0));
    b = begin_array("40 01");
    u9_value liar = {.type = U9_TUPLE, .data = (const uint8_t *)"\x81", .size = 1, .count = 257};
    EXPECT_REFUSED(&b, u9_build_value(&b, &liar));
}
END_TEST

/* Where the byte of a number of `width` bytes is in memory that is number `i` in a value, the highest first. */
static unsigned place_of_byte(unsigned i, unsigned width)
{
    static const uint16_t one = 1;
    bool little = *(const uint8_t *)&one == 1;
    return little ? width - 1 - i : i;
}

/* [V-1] All widths and kinds, any count, from any address: the same as one by one. */
START_TEST(many_numbers_at_once_are_the_same_as_one_by_one)
{
    static const unsigned widths[] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
    static uint8_t want[1 << 12], native[512];
    rng r = {1};
    for (size_t i = 0; i < sizeof native; i++) native[i] = (uint8_t)rng_next(&r);
    for (unsigned code = 0; code < 10; code++)
        for (unsigned count = 0; count < 40; count++)
            for (unsigned shift = 0; shift < 8; shift++) {
                const uint8_t *from = native + shift;
                u9_builder b;
                uint8_t byte = (uint8_t)code;
                u9_builder_init(&b, want, sizeof want);
                ok(u9_build_array_open(&b, &byte, 1));
                for (unsigned k = 0; k < count; k++) {
                    uint8_t element[9] = {byte};
                    for (unsigned i = 0; i < widths[code]; i++)
                        element[1 + i] = from[k * widths[code] + place_of_byte(i, widths[code])];
                    ok(u9_build_raw(&b, element, 1 + widths[code]));
                }
                ok(u9_build_array_close(&b));
                u9_builder again = begin();
                ok(u9_build_numbers(&again, byte, from, count));
                ck_assert_uint_eq(again.size, b.size);
                /* of floats a NaN may change: by raw, through a double; by numbers, never */
                if (code < 8) ck_assert_mem_eq(again.bytes, want, b.size);
                expect_checked(again.bytes, again.size);
                for (unsigned k = 0; k < count * widths[code]; k++) {
                    unsigned w = widths[code], at = k / w * w + place_of_byte(k % w, w);
                    ck_assert_uint_eq(again.bytes[again.size - count * w + k], from[at]);
                }
            }
}
END_TEST

START_TEST(many_numbers_may_be_an_element_of_an_array)
{
    const int16_t numbers[] = {1, -2, 3};
    u9_builder b = begin_array("44 06 03 05");
    ok(u9_build_numbers(&b, 0x05, numbers, 3));
    ok(u9_build_numbers(&b, 0x05, numbers, 3));
    EXPECT_REFUSED(&b, u9_build_numbers(&b, 0x05, numbers, 2));
    EXPECT_REFUSED(&b, u9_build_numbers(&b, 0x01, numbers, 3));
    expect_array(&b, "44 10 02 44 06 03 05 0001 fffe 0003 0001 fffe 0003");
    b = begin_array("05");
    EXPECT_REFUSED(&b, u9_build_numbers(&b, 0x05, numbers, 3));
    b = begin_array("44 06 01 44 06 03 05");
    ok(u9_build_array_open(&b, NULL, 0));
    ok(u9_build_numbers(&b, 0x05, numbers, 3));
    EXPECT_REFUSED(&b, u9_build_numbers(&b, 0x05, numbers, 3));
    ok(u9_build_array_close(&b));
    expect_array(&b, "44 0d 01 44 06 01 44 06 03 05 0001 fffe 0003");
}
END_TEST

START_TEST(many_numbers_are_refused_or_counted_as_anything_else)
{
    const uint64_t numbers[] = {1, 2};
    u9_builder b = begin();
    for (unsigned code = 0x0a; code < 256; code++)
        EXPECT_REFUSED(&b, u9_build_numbers(&b, (uint8_t)code, numbers, 1));
    uint8_t room[20] = {0};
    u9_builder_init(&b, room, 19);
    ck_assert_int_eq(u9_build_numbers(&b, 0x03, numbers, 2), U9_LIMIT);
    ck_assert_uint_eq(u9_builder_missing(&b), 1);
    ck_assert_uint_eq(room[0], 0);
    u9_builder_init(&b, room, 20);
    ok(u9_build_numbers(&b, 0x03, numbers, 2));
    expect_built(&b, "44 11 02 03 0000000000000001 0000000000000002");
    u9_builder_init(&b, room, 20);
    ck_assert_int_eq(u9_build_numbers(&b, 0x03, numbers, SIZE_MAX / 4), U9_LIMIT);
    ck_assert_uint_eq(b.size, SIZE_MAX);
}
END_TEST

/* [V-7] Counted only: 2^32 elements. */
START_TEST(an_array_beyond_32_bits_has_a_64_bit_header)
{
    if (SIZE_MAX <= UINT32_MAX) return;
    u9_builder b;
    u9_builder_init(&b, NULL, 0);
    ck_assert_int_eq(u9_build_numbers(&b, 0x00, NULL, UINT32_MAX), U9_LIMIT);
    ck_assert_uint_eq(b.size, 17 + 1 + (size_t)UINT32_MAX);
    u9_builder_init(&b, NULL, 0);
    ck_assert_int_eq(u9_build_numbers(&b, 0x00, NULL, UINT32_MAX - 1), U9_LIMIT);
    ck_assert_uint_eq(b.size, 9 + (size_t)UINT32_MAX);
}
END_TEST

Suite *suite_value_pack(void)
{
    const TTest *const tests[] = {
        numbers_are_written_without_their_bytecodes,
        an_integer_fits_by_its_value,
        a_float_fits_by_its_exact_type,
        a_tau_fits_by_its_type_and_value,
        symbols_and_pidfds_fit_by_their_type,
        text_and_bytes_fit_by_their_exact_length,
        what_stands_alone_is_no_element,
        a_fixtuple_fits_by_count_and_length,
        a_tuple_fits_by_length_and_brings_its_count,
        the_elements_of_a_tuple_in_an_array_have_bytecodes,
        a_tuple_is_opened_only_where_elements_are_tuples,
        arrays_in_arrays_are_packed_without_headers,
        an_array_in_an_array_has_as_many_elements_as_the_typecode_says,
        arrays_take_the_shortest_header,
        a_wide_array_has_the_header_that_was_asked_for,
        a_typecode_must_be_one_and_take_all_of_its_bytes,
        arrays_in_typecodes_count_as_containers,
        no_more_empty_elements_are_built_than_readers_take,
        only_an_array_is_closed_as_an_array,
        a_view_is_written_as_an_element_of_its_type,
        a_view_of_another_type_or_layout_is_refused,
        many_numbers_at_once_are_the_same_as_one_by_one,
        many_numbers_may_be_an_element_of_an_array,
        many_numbers_are_refused_or_counted_as_anything_else,
        an_array_beyond_32_bits_has_a_64_bit_header,
    };
    Suite *suite = suite_create("value_pack");
    TCase *tcase = tcase_create("value_pack");
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
