/*
 * tests/format/value/test_value_cons.c: tuples that gain and lose elements on their left in place. [V-4]
 * [V-7]
 */
#include "tests/format/value/built.h"
#include "tests/format/value/value_gen.h"

#include <sys/mman.h>

Suite *suite_value_cons(void);

enum { FRONT = 1 << 18, BUFFER = FRONT + (1 << 18) };

static uint8_t buffer[BUFFER];

/* A tuple in hex, with FRONT bytes before it. */
static u9_cons lay(const char *hex)
{
    built_hex bytes = from_hex(hex);
    memset(buffer, 0xee, sizeof buffer);
    memcpy(buffer + FRONT, bytes.bytes, bytes.size);
    return (u9_cons){.buffer = buffer, .start = FRONT, .end = FRONT + bytes.size};
}

static void expect_tuple(const u9_cons *c, const char *hex)
{
    expect_bytes(c->buffer + c->start, c->end - c->start, hex);
    expect_checked(c->buffer + c->start, c->end - c->start);
}

static u9_err cons(u9_cons *c, const char *hex)
{
    built_hex field = from_hex(hex);
    return u9_tuple_cons(c, field.bytes, field.size);
}

START_TEST(a_field_is_put_in_front_and_the_body_stays)
{
    u9_cons c = lay("4a 04 81 22 686b");
    size_t end = c.end;
    ok(cons(&c, "0a 7265717565737400"));
    expect_tuple(&c, "4b 0d 0a 7265717565737400 81 22 686b");
    ok(cons(&c, "20"));
    expect_tuple(&c, "4c 0e 20 0a 7265717565737400 81 22 686b");
    ck_assert_uint_eq(c.end, end);
    c = lay("48 00");
    ok(cons(&c, "44 03 02 00 05 06"));
    expect_tuple(&c, "49 06 44 03 02 00 05 06");
}
END_TEST

/* [V-7] Whatever the header was before. */
START_TEST(the_header_becomes_the_shortest)
{
    static const char *const tuples[] = {"49 01 85", "40 01 01 85", "41 0001 0001 85",
                                         "42 00000001 00000001 85",
                                         "43 0000000000000001 0000000000000001 85"};
    for (size_t i = 0; i < sizeof tuples / sizeof tuples[0]; i++) {
        u9_cons c = lay(tuples[i]);
        ok(cons(&c, "86"));
        expect_tuple(&c, "4a 02 86 85");
    }
    u9_cons c = lay("4f 07 80 81 82 83 84 85 86");
    ok(cons(&c, "87"));
    expect_tuple(&c, "40 08 08 87 80 81 82 83 84 85 86");
}
END_TEST

/* Fields that bring the body of a tuple to `body` bytes: a bytes value of that encoded size. */
static size_t field_of(uint8_t *out, size_t size)
{
    u9_builder b;
    static const uint8_t zeros[1 << 17];
    size_t head = size <= 16 ? 1 : size <= 257 ? 2 : size <= 65538 ? 3 : 5;
    u9_builder_init(&b, out, size);
    ok(u9_build_bytes(&b, zeros, size - head));
    ck_assert_uint_eq(b.size, size);
    return size;
}

/* Conses with exactly `room` bytes before the tuple, and one less: there and only there it fits. */
static void expect_room(const char *tuple, size_t field_size, size_t room)
{
    static uint8_t field[1 << 17], exact[1 << 18];
    built_hex bytes = from_hex(tuple);
    field_of(field, field_size);
    for (size_t less = 0; less < 2; less++) {
        size_t start = room - less, end = start + bytes.size;
        memset(exact, 0xee, sizeof exact);
        memcpy(exact + start, bytes.bytes, bytes.size);
        u9_cons c = {.buffer = exact, .start = start, .end = end};
        u9_err err = u9_tuple_cons(&c, field, field_size);
        ck_assert_int_eq(err, less ? U9_LIMIT : U9_OK);
        ck_assert_uint_eq(c.end, end);
        ck_assert_uint_eq(c.start, less ? start : 0);
        if (less) ck_assert_mem_eq(exact + start, bytes.bytes, bytes.size);
        else expect_checked(exact, end);
        for (size_t i = 0; less && i < start; i++) ck_assert_uint_eq(exact[i], 0xee);
    }
}

/* [V-7] */
START_TEST(the_room_that_is_needed_is_the_field_and_what_the_header_grows)
{
    expect_room("48 00", 1, 1);
    expect_room("48 00", 255, 255);
    expect_room("48 00", 256, 256 + 3);
    expect_room("4f 07 80 81 82 83 84 85 86", 1, 1 + 1);
    expect_room("4f 07 80 81 82 83 84 85 86", 248, 248 + 1);
    expect_room("4f 07 80 81 82 83 84 85 86", 249, 249 + 3);
    expect_room("40 01 01 85", 2, 2 - 1);
    expect_room("48 00", 65535, 65535 + 3);
    expect_room("48 00", 65536, 65536 + 7);
    expect_room("42 00000001 00000001 85", 9, 9 - 7);
}
END_TEST

/* The largest header is 17 bytes, the smallest 2. The field is only claimed: where there is no room
 * nothing is copied, and that there is room with one byte more is counted. */
START_TEST(a_header_grows_by_fifteen_bytes_at_most)
{
    if (SIZE_MAX <= UINT32_MAX) return;
    const uint8_t head[] = {0x1f, 0, 0, 0, 1, 0, 0, 0, 0};
    const size_t field = sizeof head + ((size_t)UINT32_MAX + 1);
    u9_cons c = {.start = field + U9_CONS_ROOM - 1, .end = field + U9_CONS_ROOM + 1};
    void *room = mmap(NULL, c.end, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return;
    c.buffer = room;
    memcpy(c.buffer + c.start, "\x48\x00", 2);
    ck_assert_int_eq(u9_tuple_cons(&c, head, field), U9_LIMIT);
    munmap(room, c.end);
    u9_builder b;
    u9_builder_init(&b, NULL, 0);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_LIMIT);
    ck_assert_int_eq(u9_build_raw(&b, head, field), U9_LIMIT);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_LIMIT);
    ck_assert_uint_eq(b.size, field + U9_CONS_ROOM + 2);
}
END_TEST

/* Draws an encoded field. */
static size_t some_field(rng *r, uint8_t *out, size_t cap)
{
    return value_gen(r, out, cap, 5);
}

/* Fields one by one on the left: the same as building them in order; off again: the same as before.
 * U9_CONS_ROOM and the fields are all the room that is there. */
START_TEST(consing_is_building_and_stripping_is_its_inverse)
{
    static uint8_t fields[40][1 << 14], front[40 << 14], was[41][32];
    rng r = {1};
    for (unsigned round = 0; round < 200; round++) {
        unsigned count = 1 + (unsigned)rng_below(&r, 40);
        size_t sizes[40], total = 0, starts[41];
        for (unsigned i = 0; i < count; i++) {
            sizes[i] = some_field(&r, fields[i], sizeof fields[i]);
            total += sizes[i];
        }
        ck_assert_uint_lt(total + U9_CONS_ROOM + 2, sizeof front);
        u9_cons c = {.buffer = front, .start = total + U9_CONS_ROOM};
        c.end = c.start + 2;
        memcpy(front + c.start, "\x48\x00", 2);
        for (unsigned i = 0; i < count; i++) {
            starts[i] = c.start;
            memcpy(was[i], front + c.start, c.end - c.start < 17 ? c.end - c.start : 17);
            ok(u9_tuple_cons(&c, fields[i], sizes[i]));
        }
        u9_builder b = begin();
        ok(u9_build_tuple_open(&b));
        for (unsigned i = count; i-- > 0;) ok(u9_build_raw(&b, fields[i], sizes[i]));
        ok(u9_build_tuple_close(&b));
        ck_assert_uint_eq(c.end - c.start, b.size);
        ck_assert_mem_eq(front + c.start, b.bytes, b.size);
        for (unsigned i = count; i-- > 0;) {
            u9_value field = decoded(fields[i], sizes[i]);
            ok(u9_tuple_strip(&c, &field));
            ck_assert_uint_eq(c.start, starts[i]);
            ck_assert_mem_eq(front + c.start, was[i], c.end - c.start < 17 ? c.end - c.start : 17);
            expect_checked(front + c.start, c.end - c.start);
        }
        ck_assert_uint_eq(c.end - c.start, 2);
    }
}
END_TEST

START_TEST(the_field_may_lie_in_the_room_before_the_tuple)
{
    for (size_t at = FRONT - 40; at + 20 <= FRONT; at++) {
        u9_cons c = lay("48 00");
        buffer[at] = 0x1c;
        buffer[at + 1] = 18;
        for (unsigned i = 0; i < 18; i++) buffer[at + 2 + i] = (uint8_t)i;
        ok(u9_tuple_cons(&c, buffer + at, 20));
        expect_tuple(&c, "49 14 1c 12 000102030405060708090a0b0c0d0e0f1011");
    }
}
END_TEST

static void expect_unchanged(const char *hex, const char *field, u9_err expected)
{
    u9_cons c = lay(hex), before = c;
    static uint8_t copy[BUFFER];
    memcpy(copy, buffer, sizeof copy);
    ck_assert_msg(cons(&c, field) == expected, "%s %s", hex, field);
    ck_assert(c.start == before.start && c.end == before.end);
    ck_assert_mem_eq(buffer, copy, sizeof copy);
}

START_TEST(only_a_tuple_takes_a_field)
{
    static const char *const none[] = {
        "", "85", "25 68656c6c6f", "44 02 01 00 05", "0c", "49", "49 02 85", "49 01 85 85",
        "54 11 0a 6900000000000000 44 01 00 00 44 01 00 05 48 00" /* an index in front */,
        "43 0000000000000001 ffffffffffffffff 85" /* more elements than bytes */};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        expect_unchanged(none[i], "81", U9_ARG);
    uint8_t *five = exactly("\x48\x00\x48\x00\x48", 5); /* nothing stands behind it */
    u9_cons none_at_all = {.buffer = five, .start = 5, .end = 5};
    ck_assert_int_eq(u9_tuple_cons(&none_at_all, "\x81", 1), U9_ARG);
    u9_cons backwards = {.buffer = five, .start = 5, .end = 3};
    ck_assert_int_eq(u9_tuple_cons(&backwards, "\x81", 1), U9_ARG);
    free(five);
}
END_TEST

START_TEST(only_one_whole_value_is_a_field)
{
    static const char *const none[] = {"", "81 82", "00", "22 61", "0c", "50", "21 61 61"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        expect_unchanged("49 01 85", none[i], U9_ARG);
}
END_TEST

START_TEST(a_field_without_room_changes_nothing)
{
    u9_cons c = {.buffer = buffer, .start = 0, .end = 3};
    memcpy(buffer, "\x49\x01\x85", 3);
    ck_assert_int_eq(u9_tuple_cons(&c, "\x86", 1), U9_LIMIT);
    ck_assert_int_eq(u9_tuple_cons(&c, "\x24gone", 5), U9_LIMIT);
    ck_assert(c.start == 0 && c.end == 3);
    ck_assert_mem_eq(buffer, "\x49\x01\x85", 3);
}
END_TEST

/* The message ("GET" 200 "body") goes to who asked for "GET". */
START_TEST(a_tuple_is_matched_by_its_first_element)
{
    u9_value tuple = view("4b 0b 23 474554 00 c8 24 626f6479"), rest, v;
    u9_value get = view("18 03 474554"), put = view("23 505554");
    ck_assert_int_eq(u9_tuple_match(&tuple, &put, &rest), U9_END);
    ok(u9_tuple_match(&tuple, &get, &rest));
    ck_assert(rest.type == U9_TUPLE && rest.count == 2 && rest.size == 7);
    ck_assert(rest.start == NULL && rest.encoded == 0);
    ck_assert_ptr_eq(rest.data, tuple.data + 4);
    u9_walk walk = u9_walk_elements(&rest);
    ok(u9_walk_next(&walk, &v));
    ck_assert_uint_eq(v.u, 200);
    ok(u9_value_at(&rest, 1, &v));
    ck_assert_mem_eq(v.data, "body", 4);
    u9_builder b = begin();
    ok(u9_build_value(&b, &rest));
    expect_built(&b, "4a 07 00 c8 24 626f6479");
    u9_value status = view("07 00000000000000c8"), again = view("4a 07 00 c8 24 626f6479");
    ck_assert_int_eq(u9_value_compare(&rest, &again), 0);
    ck_assert_int_eq(u9_tuple_match(&rest, &put, &rest), U9_END);
    ok(u9_tuple_match(&rest, &status, &rest));
    ck_assert(rest.count == 1 && rest.size == 5);
    u9_value body = view("24 626f6479");
    ok(u9_tuple_match(&rest, &body, &rest));
    ck_assert(rest.count == 0 && rest.size == 0);
    ck_assert_int_eq(u9_tuple_match(&rest, &body, &rest), U9_END);
}
END_TEST

START_TEST(a_tuple_in_an_array_or_behind_an_index_is_matched_as_well)
{
    u9_value array = view("44 06 02 4a 02 81 82 83 84"), tuple, rest, three = view("83");
    ok(u9_value_at(&array, 1, &tuple));
    ok(u9_tuple_match(&tuple, &three, &rest));
    u9_builder b = begin();
    ok(u9_build_value(&b, &rest));
    expect_built(&b, "49 01 84");
    tuple = view("54 11 0a 6900000000000000 44 01 00 00 44 01 00 05 4a 02 83 84");
    ok(u9_tuple_match(&tuple, &three, &rest));
    b = begin();
    ok(u9_build_value(&b, &rest));
    expect_built(&b, "49 01 84");
}
END_TEST

START_TEST(a_refused_match_leaves_the_rest_untouched)
{
    static const struct {
        const char *tuple;
        u9_err err;
    } list[] = {{"48 00", U9_END},          {"49 01 86", U9_END}, {"85", U9_ARG},
                {"44 02 01 00 05", U9_ARG}, {"40 00 03", U9_END}, {"40 01 00 85", U9_END},
                {"49 01 00", U9_TORN},      {"49 01 0c", U9_CORRUPT}};
    u9_value five = view("85");
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        u9_value tuple = view(list[i].tuple), rest, before;
        memset(&rest, 0x5a, sizeof rest);
        memcpy(&before, &rest, sizeof rest);
        ck_assert_int_eq(u9_tuple_match(&tuple, &five, &rest), list[i].err);
        ck_assert_mem_eq(&rest, &before, sizeof rest);
    }
}
END_TEST

START_TEST(the_first_element_is_stripped_in_place)
{
    u9_cons c = lay("40 08 08 80 81 82 83 84 85 86 87");
    size_t end = c.end;
    u9_value zero = view("04 00"), one = view("81"), nine = view("89");
    ok(u9_tuple_strip(&c, &zero));
    expect_tuple(&c, "4f 07 81 82 83 84 85 86 87");
    ck_assert_int_eq(u9_tuple_strip(&c, &nine), U9_END);
    ok(u9_tuple_strip(&c, &one));
    expect_tuple(&c, "4e 06 82 83 84 85 86 87");
    ck_assert_uint_eq(c.end, end);
    c = lay("43 0000000000000001 0000000000000001 81");
    ok(u9_tuple_strip(&c, &one));
    expect_tuple(&c, "48 00");
    c = lay("43 0000000000000001 ffffffffffffffff 81"); /* claims more than it has */
    ok(u9_tuple_strip(&c, &one));
    expect_bytes(c.buffer + c.start, c.end - c.start, "43 0000000000000000 fffffffffffffffe");
}
END_TEST

START_TEST(a_refused_strip_changes_nothing)
{
    static const struct {
        const char *tuple;
        u9_err err;
    } list[] = {{"48 00", U9_END},
                {"49 01 86", U9_END},
                {"85", U9_ARG},
                {"", U9_ARG},
                {"44 02 01 00 05", U9_ARG},
                {"49 01 85 85", U9_ARG},
                {"49 02 85", U9_ARG},
                {"49 01 00", U9_TORN},
                {"54 11 0a 6900000000000000 44 01 00 00 44 01 00 05 49 01 85", U9_ARG}};
    u9_value five = view("85");
    static uint8_t copy[BUFFER];
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        u9_cons c = lay(list[i].tuple), before = c;
        memcpy(copy, buffer, sizeof copy);
        ck_assert_msg(u9_tuple_strip(&c, &five) == list[i].err, "%s", list[i].tuple);
        ck_assert(c.start == before.start && c.end == before.end);
        ck_assert_mem_eq(buffer, copy, sizeof copy);
    }
}
END_TEST

Suite *suite_value_cons(void)
{
    const TTest *const tests[] = {
        a_field_is_put_in_front_and_the_body_stays,
        the_header_becomes_the_shortest,
        the_room_that_is_needed_is_the_field_and_what_the_header_grows,
        a_header_grows_by_fifteen_bytes_at_most,
        consing_is_building_and_stripping_is_its_inverse,
        the_field_may_lie_in_the_room_before_the_tuple,
        only_a_tuple_takes_a_field,
        only_one_whole_value_is_a_field,
        a_field_without_room_changes_nothing,
        a_tuple_is_matched_by_its_first_element,
        a_tuple_in_an_array_or_behind_an_index_is_matched_as_well,
        a_refused_match_leaves_the_rest_untouched,
        the_first_element_is_stripped_in_place,
        a_refused_strip_changes_nothing,
    };
    Suite *suite = suite_create("value_cons");
    TCase *tcase = tcase_create("value_cons");
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
