/*
 * tests/format/value/test_value_build.c: what is written of values is their shortest form, in exactly the
 * room that was asked for. Arrays are in test_value_pack.c.
 *
 * Functions with an inline face in <u9/value_quick.h> are tested by both: `faces`.
 */
#include "tests/format/value/built.h"
#include "tests/format/value/value_gen.h"
#include "tests/sanitized.h"

#include <stdbool.h>

Suite *suite_value_build(void);

typedef struct face {
    void (*init)(u9_builder *, void *, size_t);
    u9_err (*uint)(u9_builder *, uint64_t);
    u9_err (*sint)(u9_builder *, int64_t);
    u9_err (*float64)(u9_builder *, double);
    u9_err (*utf8)(u9_builder *, const void *, size_t);
    u9_err (*bytes)(u9_builder *, const void *, size_t);
    u9_err (*open)(u9_builder *);
    u9_err (*close)(u9_builder *);
} face;

enum { FACES = 2 };

/* A name without parentheses behind it is the function, not the macro. */
static const face faces[FACES] = {
    {u9_builder_init, u9_build_uint, u9_build_int, u9_build_float64, u9_build_utf8, u9_build_bytes,
     u9_build_tuple_open, u9_build_tuple_close},
    {u9i_quick_init, u9i_quick_uint, u9i_quick_int, u9i_quick_float64, u9i_quick_utf8,
     u9i_quick_bytes, u9i_quick_tuple_open, u9i_quick_tuple_close},
};

static char text[1 << 17];

static void fill_text(void)
{
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + i % 26);
}

/* [V-1] [V-3] [V-7] */
START_TEST(unsigned_integers_take_the_fewest_bytes)
{
    static const struct {
        uint64_t v;
        const char *hex;
    } borders[] = {{0, "80"},
                   {127, "ff"},
                   {128, "00 80"},
                   {255, "00 ff"},
                   {256, "01 0100"},
                   {65535, "01 ffff"},
                   {65536, "02 00010000"},
                   {UINT32_MAX, "02 ffffffff"},
                   {UINT64_C(1) << 32, "03 0000000100000000"},
                   {UINT64_MAX, "03 ffffffffffffffff"}};
    for (size_t i = 0; i < sizeof borders / sizeof borders[0]; i++) {
        u9_builder b = begin();
        ok(faces[_i].uint(&b, borders[i].v));
        expect_built(&b, borders[i].hex);
        ck_assert_uint_eq(view(borders[i].hex).u, borders[i].v);
    }
}
END_TEST

/* [V-7] */
START_TEST(signed_integers_take_the_fewest_bytes)
{
    static const struct {
        int64_t v;
        const char *hex;
    } borders[] = {{-1, "04 ff"},
                   {-128, "04 80"},
                   {-129, "05 ff7f"},
                   {-32768, "05 8000"},
                   {-32769, "06 ffff7fff"},
                   {INT32_MIN, "06 80000000"},
                   {(int64_t)INT32_MIN - 1, "07 ffffffff7fffffff"},
                   {INT64_MIN, "07 8000000000000000"},
                   {0, "80"},
                   {127, "ff"},
                   {128, "00 80"},
                   {65536, "02 00010000"},
                   {INT64_MAX, "03 7fffffffffffffff"}};
    for (size_t i = 0; i < sizeof borders / sizeof borders[0]; i++) {
        u9_builder b = begin();
        ok(faces[_i].sint(&b, borders[i].v));
        expect_built(&b, borders[i].hex);
        ck_assert(view(borders[i].hex).i == borders[i].v);
    }
}
END_TEST

/* [V-7] */
START_TEST(tau_takes_the_fewest_bytes)
{
    static const struct {
        uint64_t x;
        const char *hex;
    } borders[] = {{0, "15 0000"},
                   {255, "15 00ff"},
                   {65535, "15 ffff"},
                   {65536, "16 00010000"},
                   {UINT32_MAX, "16 ffffffff"},
                   {UINT64_C(1) << 32, "17 0000000100000000"},
                   {UINT64_MAX, "17 ffffffffffffffff"}};
    for (size_t i = 0; i < sizeof borders / sizeof borders[0]; i++) {
        u9_builder b = begin();
        ok(u9_build_tau(&b, borders[i].x));
        expect_built(&b, borders[i].hex);
        ck_assert_uint_eq(view(borders[i].hex).u, borders[i].x);
    }
}
END_TEST

/* [V-7] A float64 is never narrowed, a float32 never widened. */
START_TEST(floats_keep_their_width_and_bits)
{
    u9_builder b = begin();
    ok(u9_build_float32(&b, 1.5f));
    ok(faces[_i].float64(&b, 1.5));
    ok(faces[_i].float64(&b, -0.0));
    expect_built(&b, "08 3fc00000 09 3ff8000000000000 09 8000000000000000");
}
END_TEST

/* [V-2] */
START_TEST(a_pidfd_is_two_numbers)
{
    u9_builder b = begin();
    ok(u9_build_pidfd(&b, 1337, 3));
    ok(u9_build_pidfd(&b, UINT32_MAX, 0));
    expect_built(&b, "0b 00000539 00000003 0b ffffffff 00000000");
}
END_TEST

/* [V-2] [V-3] [V-7] Each size up to 300, then the borders of the widths. */
START_TEST(strings_take_the_shortest_length)
{
    static const size_t large[] = {65535, 65536, 70000};
    for (size_t i = 0; i < 301 + sizeof large / sizeof large[0]; i++)
        for (int utf8 = 0; utf8 < 2; utf8++) {
            size_t size = i <= 300 ? i : large[i - 301], head = 1;
            uint8_t want[5] = {(uint8_t)((utf8 ? 0x20 : 0x30) + size)};
            if (size > 15) {
                unsigned step = size < 256 ? 0 : size < 65536 ? 1 : 2;
                want[0] = (uint8_t)((utf8 ? 0x18 : 0x1c) + step);
                for (; head < 1u + (1u << step); head++)
                    want[head] = (uint8_t)(size >> 8 * ((1u << step) - head));
            }
            u9_builder b = begin();
            ok(utf8 ? faces[_i].utf8(&b, text, size) : faces[_i].bytes(&b, text, size));
            ck_assert_uint_eq(b.size, head + size);
            ck_assert_mem_eq(b.bytes, want, head);
            u9_value v = decoded(b.bytes, b.size);
            ck_assert_int_eq(v.type, utf8 ? U9_UTF8 : U9_BYTES);
            ck_assert(v.size == size && memcmp(v.data, text, size) == 0);
        }
}
END_TEST

/* [V-7] No buffer that large: counted only. 8 GiB of text need a 64-bit length. */
START_TEST(a_string_beyond_32_bits_is_counted_with_a_64_bit_length)
{
    if (SIZE_MAX <= UINT32_MAX) return;
    u9_builder b;
    u9_builder_init(&b, NULL, 0);
    size_t size = (size_t)(UINT64_C(1) << 33);
    ck_assert_int_eq(u9_build_utf8(&b, "", size), U9_LIMIT);
    ck_assert_uint_eq(u9_builder_missing(&b), 9 + size);
    u9_builder_init(&b, NULL, 0);
    ck_assert_int_eq(u9_build_bytes(&b, "", UINT32_MAX), U9_LIMIT);
    ck_assert_uint_eq(u9_builder_missing(&b), 5 + (size_t)UINT32_MAX);
}
END_TEST

/* [V-9] */
START_TEST(symbols_are_one_to_eight_ascii_characters)
{
    u9_builder b = begin();
    ok(u9_build_symbol(&b, "k"));
    ok(u9_build_symbol(&b, "u9frame"));
    ok(u9_build_symbol(&b, "eightchr"));
    expect_built(&b, "0a 6b00000000000000 0a 75396672616d6500 0a 6569676874636872");
    static const char *const refused[] = {"", "ninechars", "\xcf\x84", "k\x80", NULL};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        ck_assert_int_eq(u9_build_symbol(&b, refused[i]), U9_ARG);
    ck_assert_uint_eq(b.size, 27);
}
END_TEST

/* [V-2] */
START_TEST(only_greek_without_a_number_is_built_by_type)
{
    u9_builder b = begin();
    ok(u9_build_greek(&b, U9_ALPHA));
    ok(u9_build_greek(&b, U9_OMEGA));
    ok(u9_build_greek(&b, U9_IOTA));
    ok(u9_build_greek(&b, U9_KAPPA));
    ok(u9_build_greek(&b, U9_TAU0));
    expect_built(&b, "10 11 12 13 14");
    ck_assert_int_eq(u9_build_greek(&b, U9_TAU), U9_ARG);
    ck_assert_int_eq(u9_build_greek(&b, U9_PIDFD), U9_ARG);
    ck_assert_uint_eq(b.size, 5);
    b = begin();
    ok(u9_build_value(&b, &(u9_value){.type = U9_KAPPA})); /* that stands nowhere yet */
    expect_built(&b, "13");
}
END_TEST

/* [V-2] [V-7] Fields that are filled in later. */
START_TEST(wide_forms_have_the_width_that_was_asked_for)
{
    u9_builder b = begin();
    ok(u9_build_uint_wide(&b, 5, 1));
    ok(u9_build_uint_wide(&b, 5, 2));
    ok(u9_build_uint_wide(&b, 5, 4));
    ok(u9_build_uint_wide(&b, UINT64_MAX, 8));
    expect_built(&b, "00 05 01 0005 02 00000005 03 ffffffffffffffff");
    b = begin();
    ok(u9_build_int_wide(&b, -128, 1));
    ok(u9_build_int_wide(&b, -1, 2));
    ok(u9_build_int_wide(&b, -1, 4));
    ok(u9_build_int_wide(&b, INT64_MIN, 8));
    ok(u9_build_int_wide(&b, 255, 1));
    ok(u9_build_int_wide(&b, 0, 2));
    expect_built(&b, "04 80 05 ffff 06 ffffffff 07 8000000000000000 00 ff 01 0000");
    b = begin();
    ok(u9_build_utf8_wide(&b, "a", 1, 1));
    ok(u9_build_utf8_wide(&b, "a", 1, 2));
    ok(u9_build_bytes_wide(&b, "a", 1, 4));
    ok(u9_build_bytes_wide(&b, "", 0, 8));
    expect_built(&b, "18 01 61 19 0001 61 1e 00000001 61 1f 0000000000000000");
}
END_TEST

/* [V-4] The same for tuples; nothing moves at the close. */
START_TEST(wide_tuples_have_the_header_that_was_asked_for)
{
    static const char *const want[] = {"40 01 01 85", "41 0001 0001 85", "42 00000001 00000001 85",
                                       "43 0000000000000001 0000000000000001 85"};
    for (unsigned step = 0; step < 4; step++) {
        u9_builder b = begin();
        ok(u9_build_tuple_open_wide(&b, 1u << step));
        ok(u9_build_uint(&b, 5));
        const uint8_t *element = b.bytes + b.size - 1;
        ck_assert_uint_eq(*element, 0x85);
        ok(faces[_i].close(&b));
        ck_assert_ptr_eq(element, b.bytes + b.size - 1);
        expect_built(&b, want[step]);
    }
}
END_TEST

/* True if two builders are in the same state. */
static bool same_state(const u9_builder *a, const u9_builder *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

START_TEST(a_width_that_does_not_hold_the_number_is_refused)
{
    u9_builder b = begin(), before;
    memcpy(&before, &b, sizeof b);
    ck_assert_int_eq(u9_build_uint_wide(&b, 256, 1), U9_ARG);
    ck_assert_int_eq(u9_build_uint_wide(&b, 65536, 2), U9_ARG);
    ck_assert_int_eq(u9_build_uint_wide(&b, UINT64_C(1) << 32, 4), U9_ARG);
    ck_assert_int_eq(u9_build_int_wide(&b, -129, 1), U9_ARG);
    ck_assert_int_eq(u9_build_int_wide(&b, -32769, 2), U9_ARG);
    ck_assert_int_eq(u9_build_int_wide(&b, (int64_t)INT32_MIN - 1, 4), U9_ARG);
    ck_assert_int_eq(u9_build_int_wide(&b, 256, 1), U9_ARG);
    ck_assert_int_eq(u9_build_utf8_wide(&b, text, 256, 1), U9_ARG);
    ck_assert_int_eq(u9_build_bytes_wide(&b, text, 65536, 2), U9_ARG);
    static const unsigned widths[] = {0, 3, 5, 6, 7, 9, 16, UINT32_MAX};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        ck_assert_int_eq(u9_build_uint_wide(&b, 5, widths[i]), U9_ARG);
        ck_assert_int_eq(u9_build_int_wide(&b, -5, widths[i]), U9_ARG);
        ck_assert_int_eq(u9_build_utf8_wide(&b, "a", 1, widths[i]), U9_ARG);
        ck_assert_int_eq(u9_build_bytes_wide(&b, "a", 1, widths[i]), U9_ARG);
        ck_assert_int_eq(u9_build_tuple_open_wide(&b, widths[i]), U9_ARG);
    }
    ck_assert(same_state(&b, &before));
}
END_TEST

START_TEST(a_wide_tuple_that_outgrows_its_header_stays_open)
{
    u9_builder b = begin(), before;
    ok(u9_build_tuple_open_wide(&b, 1));
    ok(u9_build_bytes(&b, text, 253));
    memcpy(&before, &b, sizeof b);
    ok(faces[_i].close(&b));
    expect_checked(b.bytes, b.size);
    memcpy(&b, &before, sizeof b);
    ok(u9_build_uint(&b, 5));
    memcpy(&before, &b, sizeof b);
    ck_assert_int_eq(faces[_i].close(&b), U9_LIMIT);
    ck_assert(same_state(&b, &before));
    b = begin();
    ok(u9_build_tuple_open_wide(&b, 1));
    for (unsigned i = 0; i < 256; i++) ok(u9_build_greek(&b, U9_IOTA));
    ck_assert_int_eq(faces[_i].close(&b), U9_LIMIT);
    ck_assert_uint_eq(u9_builder_missing(&b), 0);
}
END_TEST

/* `count` elements that take `body` bytes. */
static void build_tuple(const face *f, u9_builder *b, unsigned count, size_t body)
{
    ok(f->open(b));
    for (unsigned i = 1; i < count; i++) ok(f->uint(b, 5));
    size_t rest = body - (count - 1);
    size_t head = rest <= 16 ? 1 : rest <= 257 ? 2 : rest <= 65538 ? 3 : 5;
    ok(f->bytes(b, text, rest - head));
    ok(f->close(b));
}

/* [V-4] [V-7] */
START_TEST(tuples_take_the_shortest_header)
{
    static const struct {
        unsigned count;
        size_t body;
        const char *head;
    } borders[] = {{1, 1, "49 01"},
                   {7, 7, "4f 07"},
                   {8, 8, "40 08 08"},
                   {7, 255, "4f ff"},
                   {8, 255, "40 ff 08"},
                   {255, 255, "40 ff ff"},
                   {1, 256, "41 0100 0001"},
                   {7, 256, "41 0100 0007"},
                   {8, 256, "41 0100 0008"},
                   {256, 256, "41 0100 0100"},
                   {7, 65535, "41 ffff 0007"},
                   {65535, 65535, "41 ffff ffff"},
                   {1, 65536, "42 00010000 00000001"},
                   {65536, 65536, "42 00010000 00010000"}};
    for (size_t i = 0; i < sizeof borders / sizeof borders[0]; i++) {
        u9_builder b = begin();
        build_tuple(&faces[_i], &b, borders[i].count, borders[i].body);
        built_hex head = from_hex(borders[i].head);
        ck_assert_uint_eq(b.size, head.size + borders[i].body);
        ck_assert_mem_eq(b.bytes, head.bytes, head.size);
        expect_checked(b.bytes, b.size);
        ck_assert_uint_eq(decoded(b.bytes, b.size).count, borders[i].count);
    }
}
END_TEST

/* [V-7] Counted only, as above. */
START_TEST(a_tuple_beyond_32_bits_has_a_64_bit_header)
{
    if (SIZE_MAX <= UINT32_MAX) return;
    u9_builder b;
    u9_builder_init(&b, NULL, 0);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_LIMIT);
    ck_assert_int_eq(u9_build_bytes(&b, "", UINT32_MAX), U9_LIMIT);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_LIMIT);
    ck_assert_uint_eq(b.size, 17 + 5 + (size_t)UINT32_MAX);
}
END_TEST

/* [V-4] The outer header is patched last, and grows after the inner ones. What stands within an
 * element counts for nothing outside. */
START_TEST(tuples_nest_and_grow_their_headers)
{
    const face *f = &faces[_i];
    u9_builder b = begin();
    ok(f->open(&b));
    for (unsigned i = 0; i < 8; i++) {
        ok(f->open(&b));
        ok(f->uint(&b, i));
        ok(f->close(&b));
    }
    ok(f->close(&b));
    ok(f->open(&b));
    ok(f->open(&b));
    ok(f->open(&b));
    ok(f->uint(&b, 1));
    ok(f->uint(&b, 2));
    ok(f->close(&b));
    ok(f->uint(&b, 3));
    ok(f->close(&b));
    ok(f->close(&b));
    expect_built(&b, "40 18 08 490180 490181 490182 490183 490184 490185 490186 490187"
                     "49 07 4a 05 4a 02 81 82 83");
    expect_checked(b.bytes, 27);
    expect_checked(b.bytes + 27, b.size - 27);
}
END_TEST

START_TEST(closing_what_is_not_open_is_a_state_error)
{
    u9_builder b = begin();
    ck_assert_int_eq(faces[_i].close(&b), U9_STATE);
    ok(faces[_i].open(&b));
    ok(faces[_i].close(&b));
    ck_assert_int_eq(faces[_i].close(&b), U9_STATE);
    expect_built(&b, "48 00");
}
END_TEST

/* [V-8] */
START_TEST(the_builder_opens_sixty_four_containers_and_no_more)
{
    const face *f = &faces[_i];
    u9_builder b = begin(), before;
    const uint8_t element = 0x81;
    const uint16_t numbers[] = {1, 2};
    for (unsigned i = 0; i < U9_DEPTH_MAX; i++) ok(f->open(&b));
    memcpy(&before, &b, sizeof b);
    ck_assert_int_eq(f->open(&b), U9_LIMIT);
    ck_assert_int_eq(u9_build_tuple_open_wide(&b, 4), U9_LIMIT);
    ck_assert_int_eq(u9_build_array_open(&b, "\x06", 1), U9_LIMIT);
    ck_assert_int_eq(u9_build_numbers(&b, 0x01, numbers, 2), U9_LIMIT);
    ck_assert_int_eq(u9_build_raw(&b, "\x48", 2), U9_LIMIT);
    u9_value rest = {.type = U9_TUPLE, .data = &element, .size = 1, .count = 1};
    ck_assert_int_eq(u9_build_value(&b, &rest), U9_LIMIT);
    u9_value array = {.type = U9_ARRAY, .data = &element, .size = 1, .count = 1};
    array.typecode = (const uint8_t *)"\x00";
    ck_assert_int_eq(u9_build_value(&b, &array), U9_LIMIT);
    ck_assert(same_state(&b, &before));
    ok(f->uint(&b, 5));
    for (unsigned i = 0; i < U9_DEPTH_MAX; i++) ok(f->close(&b));
    ck_assert_int_eq(f->close(&b), U9_STATE);
    expect_checked(b.bytes, b.size);
}
END_TEST

START_TEST(a_raw_value_is_copied_and_counts_as_one_element)
{
    u9_builder b = begin();
    ok(u9_build_tuple_open(&b));
    ok(u9_build_raw(&b, "\x44\x02\x01\x00\x05", 5));
    ck_assert_int_eq(u9_build_raw(&b, "", 0), U9_ARG);
    ok(u9_build_tuple_close(&b));
    expect_built(&b, "49 05 44 02 01 00 05");
}
END_TEST

/* [V-7] As they stand: not even shortened. */
START_TEST(a_view_with_bytes_of_its_own_is_copied_as_it_stands)
{
    static const char *const values[] = {
        "85", "00 05", "01 03e8", "04 ff", "05 0005", "08 3fc00000", "09 c004000000000000",
        "0a 00ff800000000001", "0b 00000539 00000003", "10", "14", "15 0064", "16 00000001",
        "18 01 61", "25 68656c6c6f", "33 010203", "1f 0000000000000001 ff", "4a 04 81 22 686b",
        "42 00000001 00000001 81", "44 03 02 00 05 06",
        "47 0000000000000002 0000000000000001 00 07",
        "54 11 0a 6900000000000000 44 01 00 00 44 01 00 05 48 00" /* an index in front */};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        built_hex hex = from_hex(values[i]);
        u9_value v = decoded(hex.bytes, hex.size);
        u9_builder b = begin();
        ok(u9_build_value(&b, &v));
        expect_built(&b, values[i]);
    }
}
END_TEST

/* [V-7] [V-10] */
START_TEST(an_element_of_an_array_is_built_in_its_shortest_form)
{
    static const struct {
        const char *array, *element;
    } list[] = {
        {"44 09 01 03 0000000000000005", "85"},
        {"44 05 01 02 00000100", "01 0100"},
        {"44 05 01 06 fffffffe", "04 fe"},
        {"44 05 01 06 00000100", "01 0100"},
        {"44 05 01 08 3fc00000", "08 3fc00000"},
        {"44 09 01 09 3ff8000000000000", "09 3ff8000000000000"},
        {"44 09 01 0a 00ff800000000001", "0a 00ff800000000001"},
        {"44 09 01 0b 00000539 00000003", "0b 00000539 00000003"},
        {"44 09 01 17 0000000000000064", "15 0064"},
        {"44 0a 01 1a 00000005 68656c6c6f", "25 68656c6c6f"},
        {"44 05 01 19 0002 6869", "22 6869"},
        {"44 12 01 1c 10 000102030405060708090a0b0c0d0e0f",
         "1c 10 000102030405060708090a0b0c0d0e0f"},
        {"44 02 01 1c 00", "30"},
        {"44 04 01 4a 02 81 82", "4a 02 81 82"},
        {"44 07 01 41 0002 0002 81 82", "4a 02 81 82"},
        {"44 0b 01 40 08 08 80 81 82 83 84 85 86 87", "40 08 08 80 81 82 83 84 85 86 87"},
        {"44 0e 01 45 0008 0002 06 00000001 00000002", "44 09 02 06 00000001 00000002"},
        {"44 0d 01 45 0004 0002 44 02 02 00 01 02 03 04", "44 08 02 44 02 02 00 01 02 03 04"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        u9_value array = view(list[i].array), v;
        ok(u9_value_at(&array, 0, &v));
        ck_assert_ptr_null(v.start);
        u9_builder b = begin();
        ok(u9_build_value(&b, &v));
        expect_built(&b, list[i].element);
        expect_checked(b.bytes, b.size);
    }
}
END_TEST

START_TEST(a_view_that_is_of_no_type_is_refused)
{
    u9_builder b = begin();
    u9_value v = {.type = (u9_type)0};
    ck_assert_int_eq(u9_build_value(&b, &v), U9_ARG);
    ck_assert_uint_eq(b.size, 0);
}
END_TEST

START_TEST(a_cleared_builder_begins_anew_in_the_same_buffer)
{
    uint8_t room[8];
    u9_builder b;
    faces[_i].init(&b, room, sizeof room);
    ok(u9_build_array_open(&b, "\x00", 1));
    ok(u9_build_uint(&b, 7));
    ck_assert_int_eq(u9_build_numbers(&b, 0x00, "", 0), U9_ARG);
    u9_builder_clear(&b);
    ok(faces[_i].open(&b));
    ok(faces[_i].uint(&b, 300));
    ok(faces[_i].close(&b));
    expect_built(&b, "49 03 01 012c");
    ck_assert_int_eq(faces[_i].utf8(&b, text, 100), U9_LIMIT);
    u9_builder_clear(&b);
    ok(faces[_i].utf8(&b, "again", 5));
    expect_built(&b, "25 616761696e");
}
END_TEST

/* A buffer of exactly `cap` bytes, so that AddressSanitizer sees what is written behind it. */
static uint8_t *exact_room(size_t cap)
{
    uint8_t *room = malloc(cap > 0 ? cap : 1);
    ck_assert_ptr_nonnull(room);
    memset(room, 0xee, cap > 0 ? cap : 1);
    return room;
}

/* Draws what to do from `r`, and does it; true if something failed. */
static bool random_step(const face *f, rng *r, u9_builder *b, u9_err *err)
{
    uint64_t v = rng_next(r) >> rng_below(r, 64);
    size_t size = (size_t)rng_below(r, rng_below(r, 8) ? 20 : 300);
    double d = (double)v;
    switch (rng_below(r, 8)) {
    case 0: *err = f->uint(b, v); break;
    case 1: *err = f->sint(b, (int64_t)v); break;
    case 2: *err = f->sint(b, -1 - (int64_t)(v >> 1)); break;
    case 3: *err = f->float64(b, d); break;
    case 4: *err = f->utf8(b, text, size); break;
    case 5: *err = f->bytes(b, text, size); break;
    case 6: *err = b->depth < 10 ? f->open(b) : f->uint(b, v); break;
    default: *err = f->close(b); break;
    }
    return *err != U9_OK;
}

/* [V-7] Whatever is done in a buffer of any size, both write the same and count the same. */
START_TEST(the_inline_functions_do_what_the_functions_do)
{
    rng r = {(uint64_t)_i};
    for (unsigned round = 0; round < 300; round++) {
        size_t cap = (size_t)rng_below(&r, 600);
        uint8_t *left = exact_room(cap), *right = exact_room(cap);
        u9_builder a, b;
        rng ra = r, rb = r;
        faces[0].init(&a, left, cap);
        faces[1].init(&b, right, cap);
        for (unsigned step = 0; step < 60; step++) {
            u9_err err_a, err_b;
            bool failed = random_step(&faces[0], &ra, &a, &err_a);
            ck_assert(random_step(&faces[1], &rb, &b, &err_b) == failed && err_a == err_b);
            ck_assert(a.size == b.size && a.depth == b.depth && a.count == b.count);
            ck_assert(a.edge == b.edge && a.cap == b.cap);
        }
        while (a.depth > 0) {
            u9_err err = faces[0].close(&a);
            ck_assert_int_eq(faces[1].close(&b), err);
            ck_assert_uint_eq(a.size, b.size);
        }
        if (a.size <= cap) ck_assert_mem_eq(left, right, a.size);
        u9_walk walk = u9_walk_bytes(left, a.size <= cap ? a.size : 0);
        for (u9_value v; u9_walk_next(&walk, &v) == U9_OK;) expect_checked(v.start, v.encoded);
        ck_assert_uint_eq(walk.left, 0);
        r = ra;
        free(left);
        free(right);
    }
}
END_TEST

/*
 * Builds the value at `bytes` once more from what reading it yields, arrays included. What stands
 * in a tuple that is an element of an array is copied: the tuple must stay as long as it is. Each
 * call must return `expected` or, if `again`, first U9_NOMEM and the same state as before.
 */
typedef struct rebuilding {
    u9_builder *b;
    u9_err expected;
    bool again;
} rebuilding;

static bool one_call(rebuilding *to, const u9_value *v, bool raw, u9_err *err)
{
    size_t typecode = v->type == U9_ARRAY ? (size_t)(v->data - v->typecode) : 0;
    if (raw) *err = u9_build_value(to->b, v);
    else if (v->type == U9_TUPLE) *err = u9_build_tuple_open(to->b);
    else if (v->type == U9_ARRAY && v->start)
        *err = u9_build_array_open(to->b, v->typecode, typecode);
    else if (v->type == U9_ARRAY) *err = u9_build_array_open(to->b, NULL, 0);
    else if (v->type == U9_UINT) *err = u9_build_uint(to->b, v->u);
    else if (v->type == U9_INT) *err = u9_build_int(to->b, v->i);
    else if (v->type == U9_FLOAT32) *err = u9_build_float32(to->b, (float)v->f);
    else if (v->type == U9_FLOAT64) *err = u9_build_float64(to->b, v->f);
    else if (v->type == U9_TAU) *err = u9_build_tau(to->b, v->u);
    else if (v->type == U9_UTF8) *err = u9_build_utf8(to->b, v->data, (size_t)v->size);
    else if (v->type == U9_BYTES) *err = u9_build_bytes(to->b, v->data, (size_t)v->size);
    else *err = u9_build_value(to->b, v);
    return !raw && (v->type == U9_TUPLE || v->type == U9_ARRAY);
}

/* NULL: closes the innermost container, which is of `type`. True: a container was opened. */
static bool call(rebuilding *to, const u9_value *v, bool raw, u9_type type)
{
    u9_builder before;
    u9_err err;
    bool opened = false;
    memcpy(&before, to->b, sizeof before);
    for (unsigned tries = 0; tries < 2; tries++) {
        if (v) opened = one_call(to, v, raw, &err);
        else err = type == U9_TUPLE ? u9_build_tuple_close(to->b) : u9_build_array_close(to->b);
        if (!to->again || err != U9_NOMEM) break;
        ck_assert(same_state(to->b, &before));
    }
    ck_assert_msg(err == to->expected || (to->expected == U9_LIMIT && err == U9_OK), "%d: %d",
                  v ? (int)v->type : -(int)type, (int)err);
    return opened;
}

static void rebuild(rebuilding *to, const uint8_t *bytes, size_t size)
{
    struct {
        u9_walk walk;
        u9_type type;
        bool element; /* a tuple that is an element of an array */
    } open[U9_DEPTH_MAX + 1];
    unsigned depth = 0;
    open[0].walk = u9_walk_bytes(bytes, size);
    open[0].type = U9_TUPLE;
    open[0].element = false;
    for (;;) {
        u9_value v;
        u9_err err = u9_walk_next(&open[depth].walk, &v);
        if (err == U9_END) {
            if (depth == 0) return;
            (void)call(to, NULL, false, open[depth--].type);
            continue;
        }
        ok(err);
        if (call(to, &v, open[depth].element, U9_TUPLE)) {
            bool element = open[depth].type == U9_ARRAY && v.type == U9_TUPLE;
            open[++depth].walk = u9_walk_elements(&v);
            open[depth].type = v.type;
            open[depth].element = element;
        }
    }
}

enum { GEN_ROOM = 1 << 16, GEN_ROUNDS = 400 };

static uint8_t original[GEN_ROOM];

/* [V-5] [V-7] [V-10] Random values of all kinds, in encodings of all kinds. */
START_TEST(any_value_is_built_again_as_an_equal_one_that_is_no_longer)
{
    rng r = {1};
    for (unsigned round = 0; round < 10 * GEN_ROUNDS; round++) {
        size_t size = value_gen(&r, original, GEN_ROOM, 10);
        u9_builder b = begin(), twice;
        rebuild(&(rebuilding){.b = &b}, original, size);
        ck_assert_uint_le(b.size, size);
        expect_checked(b.bytes, b.size);
        u9_value first = decoded(original, size), again = decoded(b.bytes, b.size);
        ck_assert_int_eq(u9_value_compare(&first, &again), 0);
        uint8_t *room = exact_room(b.size);
        u9_builder_init(&twice, room, b.size);
        rebuild(&(rebuilding){.b = &twice}, b.bytes, b.size);
        ck_assert_uint_eq(twice.size, b.size);
        ck_assert_mem_eq(room, b.bytes, b.size);
        free(room);
    }
}
END_TEST

/* Bytes that are missing are counted to the byte, whatever the room; none is written beyond it. */
START_TEST(a_buffer_of_any_size_yields_the_room_that_is_needed)
{
    rng r = {2};
    for (unsigned round = 0; round < GEN_ROUNDS; round++) {
        size_t size = value_gen(&r, original, GEN_ROOM, 10);
        u9_builder whole = begin(), b;
        rebuild(&(rebuilding){.b = &whole}, original, size);
        size_t step = 1 + whole.size / 200;
        for (size_t cap = 0; cap < whole.size; cap += step) {
            uint8_t *room = exact_room(cap + 16);
            u9_builder_init(&b, cap > 0 ? room : NULL, cap);
            rebuild(&(rebuilding){.b = &b, .expected = U9_LIMIT}, original, size);
            ck_assert_uint_eq(b.size, whole.size);
            ck_assert_uint_eq(u9_builder_missing(&b), whole.size - cap);
            ck_assert_uint_eq(b.depth, 0);
            for (size_t i = 0; i < 16; i++) ck_assert_uint_eq(room[cap + i], 0xee);
            free(room);
        }
        uint8_t *room = exact_room(whole.size);
        u9_builder_init(&b, room, whole.size);
        rebuild(&(rebuilding){.b = &b}, original, size);
        ck_assert_uint_eq(u9_builder_missing(&b), 0);
        ck_assert_mem_eq(room, whole.bytes, whole.size);
        free(room);
    }
}
END_TEST

START_TEST(a_value_that_does_not_fit_writes_nothing)
{
    uint8_t room[4] = {0xee, 0xee, 0xee, 0xee};
    u9_builder b;
    u9_builder_init(&b, room, sizeof room);
    ok(faces[_i].uint(&b, 5));
    ck_assert_int_eq(faces[_i].utf8(&b, "abcd", 4), U9_LIMIT);
    ck_assert_uint_eq(b.size, 6);
    ck_assert_int_eq(faces[_i].uint(&b, 5), U9_LIMIT);
    ck_assert_uint_eq(b.size, 7);
    ck_assert_mem_eq(room, "\x85\xee\xee\xee", 4);
    ck_assert_uint_eq(u9_builder_missing(&b), 3);
}
END_TEST

START_TEST(the_count_of_bytes_needed_never_wraps)
{
    uint8_t room[4];
    u9_builder b;
    u9_builder_init(&b, room, sizeof room);
    ck_assert_int_eq(faces[_i].open(&b), U9_OK);
    ck_assert_int_eq(faces[_i].bytes(&b, "", SIZE_MAX), U9_LIMIT);
    ck_assert_uint_eq(b.size, SIZE_MAX);
    ck_assert_int_eq(u9_build_raw(&b, "", SIZE_MAX - 1), U9_LIMIT);
    ck_assert_int_eq(faces[_i].open(&b), U9_LIMIT);
    ck_assert_int_eq(faces[_i].close(&b), U9_LIMIT);
    ck_assert_int_eq(faces[_i].close(&b), U9_LIMIT);
    ck_assert_int_eq(faces[_i].uint(&b, 5), U9_LIMIT);
    ck_assert_uint_eq(b.size, SIZE_MAX);
}
END_TEST

/* A buffer that grows by just what is needed, moves each time, and fails when it is told to. */
typedef struct moving {
    unsigned calls, fail_every;
    size_t most; /* bytes that it grows to; 0: no bound */
    size_t size; /* what it was asked for last */
} moving;

static u9_err grow_moving(void *ctx, uint8_t **bytes, size_t *cap, size_t need)
{
    moving *m = ctx;
    m->calls++;
    ck_assert_uint_gt(need, *cap);
    if (m->fail_every && m->calls % m->fail_every == 0) return U9_NOMEM;
    if (m->most && need > m->most) return U9_LIMIT;
    uint8_t *more = malloc(need);
    ck_assert_ptr_nonnull(more);
    if (*cap > 0) memcpy(more, *bytes, *cap);
    free(*bytes);
    *bytes = more;
    *cap = m->size = need;
    return U9_OK;
}

START_TEST(a_growing_buffer_has_in_the_end_what_one_large_enough_has)
{
    rng r = {3};
    for (unsigned round = 0; round < GEN_ROUNDS; round++) {
        size_t size = value_gen(&r, original, GEN_ROOM, 10);
        u9_builder whole = begin(), b;
        moving m = {.fail_every = (unsigned)rng_below(&r, 2) * 2};
        rebuild(&(rebuilding){.b = &whole}, original, size);
        memset(&b, 0, sizeof b);
        u9_builder_init_growing(&b, grow_moving, &m);
        ck_assert_ptr_null(b.bytes);
        rebuild(&(rebuilding){.b = &b, .again = true}, original, size);
        ck_assert_uint_eq(b.size, whole.size);
        ck_assert_uint_eq(m.size, whole.size);
        ck_assert_mem_eq(b.bytes, whole.bytes, whole.size);
        free(b.bytes);
    }
}
END_TEST

/* [V-7] At the close the header gets longer by as much as 15 bytes. */
START_TEST(a_buffer_grows_at_the_close_as_well)
{
    u9_builder b;
    moving m = {.fail_every = 2};
    u9_builder_init_growing(&b, grow_moving, &m);
    ok(faces[_i].open(&b));
    ck_assert_int_eq(faces[_i].bytes(&b, text, 300), U9_NOMEM);
    ok(faces[_i].bytes(&b, text, 300));
    ck_assert_uint_eq(b.cap, 2 + 303);
    ck_assert_int_eq(faces[_i].close(&b), U9_NOMEM);
    ck_assert_uint_eq(b.depth, 1);
    ok(faces[_i].close(&b));
    ck_assert_uint_eq(b.size, 5 + 303);
    expect_checked(b.bytes, b.size);
    free(b.bytes);
}
END_TEST

START_TEST(a_buffer_that_grows_no_more_is_counted_on)
{
    u9_builder b;
    moving m = {.most = 100};
    u9_builder_init_growing(&b, grow_moving, &m);
    ok(faces[_i].open(&b));
    ok(faces[_i].bytes(&b, text, 90));
    ck_assert_int_eq(faces[_i].bytes(&b, text, 90), U9_LIMIT);
    unsigned calls = m.calls;
    m.most = 0; /* too late: there is a hole in what was written */
    ck_assert_int_eq(faces[_i].uint(&b, 1), U9_LIMIT);
    ck_assert_int_eq(faces[_i].close(&b), U9_LIMIT);
    ck_assert_uint_eq(m.calls, calls);
    ck_assert_uint_eq(b.size, 2 + 92 + 92 + 1);
    ck_assert_uint_eq(u9_builder_missing(&b), b.size - b.cap);
    free(b.bytes);
}
END_TEST

static u9_err grow_too_little(void *ctx, uint8_t **bytes, size_t *cap, size_t need)
{
    (void)need;
    *bytes = ctx;
    *cap = 1;
    return U9_OK;
}

START_TEST(growth_that_is_too_little_counts_as_none)
{
    uint8_t room[1] = {0xee};
    u9_builder b;
    u9_builder_init_growing(&b, grow_too_little, room);
    ck_assert_int_eq(faces[_i].uint(&b, 300), U9_LIMIT);
    ck_assert_uint_eq(u9_builder_missing(&b), 2);
    ck_assert_uint_eq(room[0], 0xee);
}
END_TEST

START_TEST(the_heap_at_least_doubles)
{
    uint8_t *bytes = NULL;
    size_t cap = 0, before;
    ok(u9_grow_heap(NULL, &bytes, &cap, 1));
    ck_assert_uint_ge(cap, 1);
    for (unsigned i = 0; i < 10; i++) {
        memset(bytes, (int)i, cap);
        before = cap;
        ok(u9_grow_heap(NULL, &bytes, &cap, cap + 1));
        ck_assert_uint_ge(cap, 2 * before);
        for (size_t k = 0; k < before; k++) ck_assert_uint_eq(bytes[k], i);
    }
    before = cap;
    ok(u9_grow_heap(NULL, &bytes, &cap, 10 * before));
    ck_assert_uint_ge(cap, 10 * before);
    free(bytes);
}
END_TEST

#if !SANITIZED /* sanitizers abort instead */
/* 2^63 bytes: no machine has them. */
START_TEST(a_heap_that_is_exhausted_leaves_the_bytes)
{
    uint8_t *bytes = NULL;
    size_t cap = 0;
    ok(u9_grow_heap(NULL, &bytes, &cap, 4));
    memcpy(bytes, "abc", 4);
    uint8_t *before = bytes;
    size_t had = cap;
    ck_assert_int_eq(u9_grow_heap(NULL, &bytes, &cap, SIZE_MAX / 2 + 1), U9_NOMEM);
    ck_assert(bytes == before && cap == had);
    ck_assert_str_eq((const char *)bytes, "abc");
    free(bytes);
}
END_TEST
#endif

START_TEST(a_builder_on_the_heap_holds_whatever_it_is_given)
{
    u9_builder b;
    u9_builder_init_growing(&b, u9_grow_heap, NULL);
    ok(faces[_i].open(&b));
    for (unsigned i = 0; i < 10000; i++) ok(faces[_i].uint(&b, i));
    ok(faces[_i].close(&b));
    expect_checked(b.bytes, b.size);
    u9_value v = decoded(b.bytes, b.size), last;
    ck_assert_uint_eq(v.count, 10000);
    ok(u9_value_at(&v, 9999, &last));
    ck_assert_uint_eq(last.u, 9999);
    free(b.bytes);
}
END_TEST

Suite *suite_value_build(void)
{
    const TTest *const of_each_face[] = {
        unsigned_integers_take_the_fewest_bytes,
        signed_integers_take_the_fewest_bytes,
        floats_keep_their_width_and_bits,
        strings_take_the_shortest_length,
        wide_tuples_have_the_header_that_was_asked_for,
        a_wide_tuple_that_outgrows_its_header_stays_open,
        tuples_take_the_shortest_header,
        tuples_nest_and_grow_their_headers,
        closing_what_is_not_open_is_a_state_error,
        the_builder_opens_sixty_four_containers_and_no_more,
        a_cleared_builder_begins_anew_in_the_same_buffer,
        a_value_that_does_not_fit_writes_nothing,
        the_count_of_bytes_needed_never_wraps,
        a_buffer_grows_at_the_close_as_well,
        a_buffer_that_grows_no_more_is_counted_on,
        growth_that_is_too_little_counts_as_none,
        a_builder_on_the_heap_holds_whatever_it_is_given,
    };
    const TTest *const tests[] = {
        tau_takes_the_fewest_bytes,
        a_pidfd_is_two_numbers,
        a_string_beyond_32_bits_is_counted_with_a_64_bit_length,
        symbols_are_one_to_eight_ascii_characters,
        only_greek_without_a_number_is_built_by_type,
        wide_forms_have_the_width_that_was_asked_for,
        a_width_that_does_not_hold_the_number_is_refused,
        a_tuple_beyond_32_bits_has_a_64_bit_header,
        a_raw_value_is_copied_and_counts_as_one_element,
        a_view_with_bytes_of_its_own_is_copied_as_it_stands,
        an_element_of_an_array_is_built_in_its_shortest_form,
        a_view_that_is_of_no_type_is_refused,
        any_value_is_built_again_as_an_equal_one_that_is_no_longer,
        a_buffer_of_any_size_yields_the_room_that_is_needed,
        a_growing_buffer_has_in_the_end_what_one_large_enough_has,
        the_heap_at_least_doubles,
#if !SANITIZED
        a_heap_that_is_exhausted_leaves_the_bytes,
#endif
    };
    Suite *suite = suite_create("value_build");
    TCase *tcase = tcase_create("value_build");
    tcase_add_unchecked_fixture(tcase, fill_text, NULL);
    for (size_t i = 0; i < sizeof of_each_face / sizeof of_each_face[0]; i++)
        tcase_add_loop_test(tcase, of_each_face[i], 0, FACES);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tcase, tests[i]);
    tcase_add_loop_test(tcase, the_inline_functions_do_what_the_functions_do, 0, 8);
    suite_add_tcase(suite, tcase);
    return suite;
}
