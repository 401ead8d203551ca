/*
 * tests/format/value/index/test_value_index_build.c: indexes that are built: their forms, what cannot be
 * built, and that each lookup in what was built, however the container is drawn, finds what a walk
 * finds. That they are proved right is asserted by build_indexed itself.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/format/value/index/index_forge.h"
#include "tests/format/value/value_gen.h"

Suite *suite_value_index_build(void);

static void expect_built(const char *container, u9_index_spec spec, const char *hex)
{
    u9_value v = view(unhex(container));
    block got = build_indexed(&v, &spec, 1), want = unhex(hex);
    ck_assert_msg(got.size == want.size + v.encoded, "%s: %zu bytes", hex, got.size);
    ck_assert_msg(memcmp(got.bytes, want.bytes, want.size) == 0, "%s", hex);
    ck_assert_int_eq(memcmp(got.bytes + want.size, v.start, v.encoded), 0);
}

/* Two elements with one key each; the second begins at `at`. */
START_TEST(keys_take_the_narrowest_typecode_that_holds_all)
{
    static const struct {
        const char *container, *ka;
        unsigned at;
        bool swapped; /* the second one's key comes first */
    } of[] = {
        {"4a 06 49 01 85 49 01 ff", "44 03 02 00 05 7f", 3, false},
        {"4a 08 49 01 85 49 03 01 0100", "44 05 02 01 0005 0100", 3, false},
        {"4a 0a 49 01 85 49 05 02 00010000", "44 09 02 02 00000005 00010000", 3, false},
        {"4a 0e 49 01 85 49 09 03 8000000000000000",
         "44 11 02 03 0000000000000005 8000000000000000", 3, false},
        {"4a 07 49 01 ff 49 02 04 80", "44 03 02 04 80 7f", 3, true},
        {"4a 08 49 02 00 80 49 02 04 ff", "44 05 02 05 ffff 0080", 4, true},
        {"4a 07 49 02 04 00 49 01 85", "44 03 02 00 00 05", 4, false}, /* an int that is 0 */
        {"4a 0f 49 02 04 ff 49 09 03 7fffffffffffffff",
         "44 11 02 07 ffffffffffffffff 7fffffffffffffff", 4, false},
        {"4a 0a 49 03 01 8000 49 03 05 8000", "44 09 02 06 ffff8000 00008000", 5, true},
        {"4a 0e 49 09 07 ffffffff7fffffff 49 01 80",
         "44 11 02 07 ffffffff7fffffff 0000000000000000", 11, false},
        {"4a 0e 49 05 08 bf800000 49 05 08 c0000000", "44 09 02 08 c0000000 bf800000", 7, true},
        {"4a 12 49 05 08 3f800000 49 09 09 bff0000000000000",
         "44 11 02 09 bff0000000000000 3ff0000000000000", 7, true},
        {"4a 12 49 05 08 80000000 49 09 09 fff0000000000001",
         "44 11 02 09 0000000000000000 7ff8000000000000", 7, false},
        {"4a 16 49 09 0a 6162000000000000 49 09 0a 6161610000000000",
         "44 11 02 0a 6161610000000000 6162000000000000", 11, true},
        {"4a 08 49 02 21 7a 49 02 21 61", "44 04 02 18 01 61 7a", 4, true},
        {"4a 06 49 01 20 49 01 20", "44 02 02 18 00", 3, false},
        {"4a 09 49 02 31 ff 49 03 1c 01 80", "44 04 02 1c 01 80 ff", 4, true},
    };
    for (unsigned i = 0; i < sizeof of / sizeof of[0]; i++) {
        char hex[256];
        unsigned first = of[i].swapped ? of[i].at : 0, second = of[i].swapped ? 0 : of[i].at;
        snprintf(hex, sizeof hex, "51 %04zx 0a 6b00000000000000 %s 44 05 02 05 %04x %04x",
                 9 + unhex(of[i].ka).size + 8, of[i].ka, first, second);
        expect_built(of[i].container, (u9_index_spec){U9_KEYSPEC_K, 0, 0}, hex);
    }
}
END_TEST

/* */
START_TEST(an_empty_container_has_an_empty_index)
{
    static const char *const empty[] = {"48 00", "44 01 00 06"};
    for (unsigned i = 0; i < 2; i++) {
        expect_built(empty[i], (u9_index_spec){U9_KEYSPEC_K, 0, 0},
                     "51 0011 0a 6b00000000000000 44 01 00 00 44 01 00 05");
        expect_built(empty[i], (u9_index_spec){U9_KEYSPEC_H, 3, 16},
                     "54 11 0a 6800000000000000 44 01 00 01 44 01 00 05");
    }
}
END_TEST

/* */
START_TEST(an_incomplete_index_has_every_nth_element_from_the_first)
{
    static const char numbers[] = "4f 07 80 81 82 83 84 85 86";
    static const char *const hex[] = {
        "54 26 0a 6900000000000000 44080700 00010203040506 440f0705 0000000100020003000400050006",
        "54 1d 0a 6900000000000000 44 05 04 00 00020406 44 09 04 05 0000 0002 0004 0006",
        "54 1a 0a 6900000000000000 44 04 03 00 000306 44 07 03 05 0000 0003 0006",
    };
    for (unsigned every = 1; every <= 3; every++)
        expect_built(numbers, (u9_index_spec){U9_KEYSPEC_I, every, 0}, hex[every - 1]);
    expect_built(numbers, (u9_index_spec){U9_KEYSPEC_I, UINT64_MAX, 0},
                 "54 14 0a 6900000000000000 44 02 01 00 00 44 03 01 05 0000");
}
END_TEST

/* A tuple of `count` texts of `size` bytes, all the same. */
static block texts(unsigned count, size_t size)
{
    block b = hold(NULL, 32 + count * (size + 9)), bytes = hold(NULL, size);
    u9_builder out;
    memset(bytes.bytes, 'x', size);
    u9_builder_init(&out, b.bytes, b.size);
    ck_assert_int_eq(u9_build_tuple_open(&out), U9_OK);
    for (unsigned i = 0; i < count; i++)
        ck_assert_int_eq(u9_build_utf8(&out, bytes.bytes, size), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&out), U9_OK);
    return (block){b.bytes, out.size};
}

static u9_index index_of(block b)
{
    u9_value v = view(b);
    u9_walk walk = u9_walk_indexes(&v);
    u9_index index;
    ck_assert_int_eq(u9_index_next(&walk, &index), U9_OK);
    return index;
}

/* The second of two texts begins 3 bytes behind the end of the first one's contents. */
START_TEST(offsets_take_the_narrowest_type_that_holds_the_last)
{
    for (size_t last = 0x7ffe; last <= 0x8001; last++) {
        u9_value two = view(texts(2, last - 3));
        u9_index_spec spec = {U9_KEYSPEC_I, 0, 0};
        u9_index index = index_of(build_indexed(&two, &spec, 1));
        u9_span ia;
        u9_value offset;
        ck_assert_int_eq(u9_array_span(&index.ia, &ia), U9_OK);
        ck_assert_uint_eq(ia.code, last <= 0x7fff ? 0x05 : 0x06);
        ck_assert_int_eq(u9_value_at(&index.ia, 1, &offset), U9_OK);
        ck_assert_int_eq(offset.i, (int64_t)last);
    }
}
END_TEST

/* An entry of a hash of 64 bits takes 10 or 12 bytes. */
START_TEST(an_index_takes_the_narrowest_length_that_holds_it)
{
    static const struct {
        unsigned count;
        uint8_t complete, incomplete;
    } of[] = {{23, 0x51, 0x54}, {24, 0x51, 0x55}, {6551, 0x51, 0x55}, {6552, 0x52, 0x56}};
    for (unsigned i = 0; i < 4; i++) {
        u9_value row = view(texts(of[i].count, 3));
        for (unsigned every = 0; every < 2; every++) {
            u9_index_spec spec = {U9_KEYSPEC_H, every, 64};
            block b = build_indexed(&row, &spec, 1);
            ck_assert_msg(b.bytes[0] == (every ? of[i].incomplete : of[i].complete), "%02x",
                          b.bytes[0]);
            ck_assert_uint_eq(index_of(b).ka.count, of[i].count);
        }
    }
}
END_TEST

/* */
START_TEST(hashes_take_the_width_asked_for_or_one_by_the_number_of_elements)
{
    static const struct {
        unsigned count, bits;
        uint8_t code;
    } of[] = {{16, 0, 0x00}, {17, 0, 0x01}, {4096, 0, 0x01}, {4097, 0, 0x02},
              {2, 8, 0x00},  {2, 16, 0x01}, {2, 32, 0x02},   {2, 64, 0x03}};
    for (unsigned i = 0; i < 8; i++) {
        u9_value row = view(texts(of[i].count, 3)), key, abc = text("xxx");
        u9_index_spec spec = {U9_KEYSPEC_H, 0, of[i].bits};
        u9_index index = index_of(build_indexed(&row, &spec, 1));
        u9_span ka;
        ck_assert_int_eq(u9_array_span(&index.ka, &ka), U9_OK);
        ck_assert_uint_eq(ka.code, of[i].code);
        ck_assert_int_eq(u9_value_at(&index.ka, 0, &key), U9_OK);
        ck_assert_uint_eq(key.u, u9_value_hash(&abc) >> (64 - 8 * ka.stride));
    }
}
END_TEST

/* */
START_TEST(long_keys_take_a_typecode_with_a_longer_length)
{
    for (size_t size = 255; size <= 256; size++) {
        u9_value key, element, row = view(texts(1, size));
        uint8_t bytes[300];
        u9_builder b;
        ck_assert_int_eq(u9_value_at(&row, 0, &key), U9_OK);
        u9_builder_init(&b, bytes, sizeof bytes);
        ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
        ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
        ck_assert_int_eq(u9_build_value(&b, &key), U9_OK);
        ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
        ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
        u9_value map = view((block){bytes, b.size});
        u9_index_spec spec = {U9_KEYSPEC_K, 0, 0};
        block built = build_indexed(&map, &spec, 1);
        ck_assert_uint_eq(index_of(built).keys.code, size == 255 ? 0x18 : 0x19);
        ck_assert_uint_eq(index_of(built).keys.stride, size);
        map = view(built);
        ck_assert_int_eq(u9_value_by_key(&map, &key, &element), U9_OK);
    }
}
END_TEST

START_TEST(indexes_and_container_are_one_element_and_old_indexes_stay_behind)
{
    u9_index_spec specs[] = {{U9_KEYSPEC_H, 0, 0}, {U9_KEYSPEC_I, 2, 0}};
    u9_value bare = view(unhex("4b 03 83 81 82")), v, inner;
    block old = build_indexed(&bare, specs, 1), fresh = build_indexed(&bare, specs, 2);
    u9_index_entry scratch[3];
    uint8_t bytes[256];
    u9_builder b;
    v = view(old);
    u9_builder_init(&b, bytes, sizeof bytes);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    ck_assert_int_eq(u9_build_uint(&b, 1), U9_OK);
    ck_assert_int_eq(u9_build_indexed(&b, &v, specs, 2, scratch, 3), U9_OK);
    ck_assert_int_eq(u9_build_indexed(&b, &v, NULL, 0, NULL, 0), U9_OK); /* no index */
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    ck_assert_int_eq(u9_value_check(bytes, b.size, NULL, NULL), U9_OK);
    v = view((block){bytes, b.size});
    ck_assert_uint_eq(v.count, 3);
    ck_assert_int_eq(u9_value_at(&v, 1, &inner), U9_OK);
    ck_assert_uint_eq(inner.encoded, fresh.size);
    ck_assert_int_eq(memcmp(inner.start, fresh.bytes, fresh.size), 0);
    ck_assert_int_eq(u9_value_at(&v, 2, &inner), U9_OK);
    ck_assert_uint_eq(inner.encoded, bare.encoded);
    ck_assert_int_eq(memcmp(inner.start, bare.start, bare.encoded), 0);
}
END_TEST

/* An array in an array has no bytecode of its own: it is written in its shortest form. */
START_TEST(a_container_without_bytes_of_its_own_is_indexed)
{
    u9_value outer = view(unhex("44 0a 02 44 03 03 00 050607 070605")), inner;
    ck_assert_int_eq(u9_value_at(&outer, 1, &inner), U9_OK);
    u9_index_spec spec = {U9_KEYSPEC_H, 0, 0};
    block b = build_indexed(&inner, &spec, 1), want = unhex("44 04 03 00 07 06 05");
    ck_assert_int_eq(memcmp(b.bytes + b.size - want.size, want.bytes, want.size), 0);
    inner = view(b);
    expect_found_as_by_a_walk(&inner);
}
END_TEST

static void expect_refused(const char *container, u9_index_spec spec, uint64_t entries, u9_err err)
{
    u9_index_spec specs[] = {{U9_KEYSPEC_I, 0, 0}, spec}; /* the first one can be built */
    u9_index_entry scratch[300];
    uint8_t bytes[2048];
    u9_value v = view(unhex(container));
    u9_builder b;
    u9_builder_init(&b, bytes, sizeof bytes);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    size_t size = b.size;
    for (unsigned first = 0; first < 2; first++) {
        u9_err got = u9_build_indexed(&b, &v, specs + first, 2 - first, scratch, entries);
        ck_assert_msg(got == err, "%s: %d", container, (int)got);
        ck_assert_uint_eq(b.size, size);
    }
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    ck_assert_uint_eq(view((block){bytes, b.size}).count, 0);
}

START_TEST(what_cannot_be_indexed_is_refused_and_nothing_is_built)
{
    static const struct {
        const char *container;
        u9_index_spec spec;
        uint64_t entries;
        u9_err err;
    } of[] = {
        {"4a 06 49 01 81 49 01 82", {U9_KEYSPEC_OTHER, 0, 0}, 2, U9_ARG},
        {"4a 06 49 01 81 49 01 82", {(u9_keyspec)5, 0, 0}, 2, U9_ARG},
        {"4a 02 81 82", {U9_KEYSPEC_H, 0, 1}, 2, U9_ARG},
        {"4a 02 81 82", {U9_KEYSPEC_H, 0, 9}, 2, U9_ARG},
        {"4a 02 81 82", {U9_KEYSPEC_H, 0, 24}, 2, U9_ARG},
        {"4a 02 81 82", {U9_KEYSPEC_H, 0, 128}, 2, U9_ARG},
        {"4a 02 81 82", {U9_KEYSPEC_H, 0, 0}, 1, U9_ARG},                /* scratch room */
        {"4a 02 81 82", {U9_KEYSPEC_K, 0, 0}, 2, U9_ARG},                /* no keys */
        {"4a 05 49 01 81 48 00", {U9_KEYSPEC_KH, 0, 0}, 2, U9_ARG},      /* one has none */
        {"4a 07 49 01 81 49 02 21 61", {U9_KEYSPEC_K, 0, 0}, 2, U9_ARG}, /* a number and a text */
        {"4a 09 49 02 21 61 49 03 22 6161", {U9_KEYSPEC_K, 0, 0}, 2, U9_ARG}, /* two lengths */
        {"4a 08 49 02 21 61 49 02 31 61", {U9_KEYSPEC_K, 0, 0}, 2, U9_ARG},   /* text and bytes */
        {"4a 0f 49 02 04 ff 49 09 03 8000000000000000", {U9_KEYSPEC_K, 0, 0}, 2, U9_ARG},
        {"4a 0f 49 09 03 8000000000000000 49 02 04 ff", {U9_KEYSPEC_K, 0, 0}, 2, U9_ARG},
        {"49 03 49 01 10", {U9_KEYSPEC_K, 0, 0}, 1, U9_ARG},          /* alpha */
        {"49 04 49 02 48 00", {U9_KEYSPEC_K, 0, 0}, 1, U9_ARG},       /* a container */
        {"44 02 01 1c 00", {U9_KEYSPEC_H, 0, 0}, 1, U9_ARG},          /* no bytes */
        {"4a 06 49 01 82 49 01 81", {U9_KEYSPEC_K, 1, 0}, 2, U9_ARG}, /* not in order */
        {"4a 02 85 80", {U9_KEYSPEC_H, 2, 8}, 2, U9_ARG},             /* their hashes descend */
        {"4a 02 81 0f", {U9_KEYSPEC_H, 0, 0}, 2, U9_CORRUPT},
        {"4a 02 81 00", {U9_KEYSPEC_H, 0, 0}, 2, U9_CORRUPT},
        {"4b 02 81 82", {U9_KEYSPEC_H, 0, 0}, 2, U9_CORRUPT},
        {"49 02 81 82", {U9_KEYSPEC_H, 0, 0}, 2, U9_CORRUPT},
        {"4a 00", {U9_KEYSPEC_H, 0, 0}, 2, U9_ARG},
    };
    for (unsigned i = 0; i < sizeof of / sizeof of[0]; i++)
        expect_refused(of[i].container, of[i].spec, of[i].entries, of[i].err);
}
END_TEST

START_TEST(only_a_container_outside_open_arrays_is_indexed)
{
    u9_index_spec spec = {U9_KEYSPEC_I, 0, 0};
    u9_value five = number(5), empty = view(unhex("48 00"));
    uint8_t bytes[64];
    u9_builder b;
    u9_builder_init(&b, bytes, sizeof bytes);
    ck_assert_int_eq(u9_build_indexed(&b, &five, &spec, 1, NULL, 0), U9_ARG);
    ck_assert_uint_eq(u9_index_scratch(&five, &spec, 1), 0);
    ck_assert_uint_eq(u9_index_scratch(&empty, &spec, 1), 0);
    ck_assert_int_eq(u9_build_array_open(&b, (uint8_t[]){0x48, 0x00}, 2), U9_OK);
    ck_assert_int_eq(u9_build_indexed(&b, &empty, &spec, 1, NULL, 0), U9_ARG);
    ck_assert_int_eq(u9_build_array_close(&b), U9_OK);
    ck_assert_int_eq(u9_build_indexed(&b, &empty, &spec, 1, NULL, 0), U9_OK);
    u9_value no_bytes = view(unhex("44 02 02 1c 00"));
    ck_assert_int_eq(u9_build_indexed(&b, &no_bytes, NULL, 0, NULL, 0), U9_OK);
}
END_TEST

START_TEST(scratch_room_is_for_the_entries_of_the_largest_index)
{
    u9_index_spec specs[] = {
        {U9_KEYSPEC_I, 3, 0}, {U9_KEYSPEC_I, 2, 0}, {U9_KEYSPEC_I, 0, 0}, {U9_KEYSPEC_I, 1, 0}};
    u9_value seven = view(unhex("4f 07 80 81 82 83 84 85 86"));
    static const uint64_t need[] = {3, 4, 7, 7};
    for (unsigned i = 0; i < 4; i++) {
        u9_index_entry scratch[7];
        uint8_t bytes[256];
        u9_builder b;
        u9_builder_init(&b, bytes, sizeof bytes);
        ck_assert_uint_eq(u9_index_scratch(&seven, &specs[i], 1), need[i]);
        ck_assert_uint_eq(u9_index_scratch(&seven, specs, i + 1), need[i]);
        ck_assert_int_eq(u9_build_indexed(&b, &seven, &specs[i], 1, scratch, need[i] - 1), U9_ARG);
        ck_assert_int_eq(u9_build_indexed(&b, &seven, &specs[i], 1, scratch, need[i]), U9_OK);
    }
    u9_value claims = view(unhex("43 0000000000000002 ffffffffffffffff 81 82"));
    ck_assert_uint_eq(u9_index_scratch(&claims, specs, 4), 2); /* no more than there are bytes */
}
END_TEST

/* [V-10] Keys that take no bytes. */
START_TEST(a_reader_takes_only_so_many_empty_keys)
{
    for (unsigned count = U9_EMPTY_MAX; count <= U9_EMPTY_MAX + 1; count++) {
        uint8_t bytes[17 + 3 * (U9_EMPTY_MAX + 1)];
        u9_index_entry scratch[U9_EMPTY_MAX + 1];
        u9_builder b;
        u9_builder_init(&b, bytes, sizeof bytes);
        ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
        for (unsigned i = 0; i < count; i++)
            ck_assert_int_eq(u9_build_raw(&b, "\x49\x01\x20", 3), U9_OK);
        ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
        u9_index_spec by_key = {U9_KEYSPEC_K, 0, 0}, by_hash = {U9_KEYSPEC_KH, 0, 0};
        u9_value v = view((block){bytes, b.size}), nothing = text("");
        unsigned found;
        u9_builder_init(&b, NULL, 0);
        u9_err err = u9_build_indexed(&b, &v, &by_key, 1, scratch, count);
        ck_assert_int_eq(err, count <= U9_EMPTY_MAX ? U9_LIMIT : U9_ARG);
        v = view(build_indexed(&v, count <= U9_EMPTY_MAX ? &by_key : &by_hash, 1));
        ck_assert_int_eq(find_all(&v, U9_BY_KEY, &nothing, &found), U9_END);
        ck_assert_uint_eq(found, count);
    }
}
END_TEST

/* Grows as often as *ctx says. */
static u9_err grow_sometimes(void *ctx, uint8_t **bytes, size_t *cap, size_t need)
{
    static uint8_t room[1024];
    unsigned *left = (unsigned *)ctx;
    if ((*left)-- == 0) return U9_NOMEM;
    *bytes = room;
    *cap = need;
    return U9_OK;
}

START_TEST(a_buffer_that_grows_no_more_leaves_the_builder_as_it_was)
{
    u9_index_spec specs[] = {{U9_KEYSPEC_I, 0, 0}, {U9_KEYSPEC_H, 0, 0}};
    u9_value v = view(unhex("4a 02 81 82"));
    u9_index_entry scratch[2];
    for (unsigned grows = 1; grows <= 4; grows++) {
        unsigned left = grows;
        u9_builder b;
        u9_builder_init_growing(&b, grow_sometimes, &left);
        ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
        size_t size = b.size;
        u9_err err = u9_build_indexed(&b, &v, specs, 2, scratch, 2);
        ck_assert_int_eq(err, grows < 4 ? U9_NOMEM : U9_OK);
        if (err) ck_assert_uint_eq(b.size, size);
        ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
        ck_assert_uint_eq(view((block){b.bytes, b.size}).count, grows < 4 ? 0 : 1);
    }
}
END_TEST

/* In a buffer of each size too small the bytes are counted, and none is written behind its end. */
START_TEST(a_buffer_that_is_full_counts_on)
{
    u9_index_spec specs[] = {{U9_KEYSPEC_K, 0, 0}, {U9_KEYSPEC_I, 0, 0}};
    u9_value v = view(unhex("4a 06 49 01 82 49 01 81"));
    block whole = build_indexed(&v, specs, 2);
    u9_index_entry scratch[2];
    for (size_t cap = 0; cap < whole.size; cap++) {
        block room = hold(NULL, cap);
        u9_builder b;
        u9_builder_init(&b, room.bytes, cap);
        ck_assert_int_eq(u9_build_indexed(&b, &v, specs, 2, scratch, 2), U9_LIMIT);
        ck_assert_uint_eq(b.size, whole.size);
    }
}
END_TEST

typedef enum kind { DIGITS, NUMBERS, SIGNED, FLOATS, SYMBOLS, TEXTS, BLOBS, MIXED, KINDS } kind;

/* A value of this kind; its contents, if it has any, in `bytes`. */
static u9_value draw(rng *r, kind k, uint8_t bytes[16])
{
    static const double floats[] = {0.0, -0.0, 1.5, -1.5, 1e300, -1e-300};
    uint64_t any = rng_next(r);
    if (k == MIXED) k = (kind)rng_below(r, MIXED);
    for (unsigned i = 0; i < 16; i++) bytes[i] = (uint8_t)('a' + rng_below(r, 2));
    switch (k) {
    case NUMBERS: return number(any >> rng_below(r, 64));
    case SIGNED:
        any >>= 1 + rng_below(r, 63);
        return any % 2 ? number(any) : negative(-(int64_t)any - 1);
    case FLOATS: {
        u9_value f = {.type = any % 3 ? U9_FLOAT64 : U9_FLOAT32, .f = floats[any / 3 % 6]};
        if (any % 17 == 0) f.f = 0.0 / f.f; /* a NaN, or 0 */
        if (f.type == U9_FLOAT32) f.f = (double)(float)(f.f / 1e290);
        return f;
    }
    case SYMBOLS: return (u9_value){.type = U9_SYMBOL, .data = bytes, .size = 8};
    case TEXTS: return (u9_value){.type = U9_UTF8, .data = bytes, .size = 3};
    case BLOBS: return (u9_value){.type = U9_BYTES, .data = bytes, .size = 16};
    case DIGITS:
    case MIXED:
    case KINDS: break;
    }
    return number(any % 10);
}

static int by_value(const void *a, const void *b)
{
    return u9_value_compare((const u9_value *)a, (const u9_value *)b);
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = u9_value_hash((const u9_value *)a), y = u9_value_hash((const u9_value *)b);
    return x < y ? -1 : x > y;
}

enum { MOST = 4000 };

/* A tuple of these keys, or of pairs of a key and a number. */
static block container_of(rng *r, const u9_value *keys, unsigned count, bool pairs)
{
    block b = hold(NULL, 64 + count * 40);
    u9_builder out;
    u9_builder_init(&out, b.bytes, b.size);
    ck_assert_int_eq(u9_build_tuple_open(&out), U9_OK);
    for (unsigned i = 0; i < count; i++) {
        if (pairs) ck_assert_int_eq(u9_build_tuple_open(&out), U9_OK);
        ck_assert_int_eq(u9_build_value(&out, &keys[i]), U9_OK);
        if (pairs) ck_assert_int_eq(u9_build_uint(&out, rng_below(r, 300)), U9_OK);
        if (pairs) ck_assert_int_eq(u9_build_tuple_close(&out), U9_OK);
    }
    ck_assert_int_eq(u9_build_tuple_close(&out), U9_OK);
    return (block){b.bytes, out.size};
}

/* The same as an array, of numbers below 256 or of arrays of two. */
static block array_of(rng *r, const u9_value *keys, unsigned count, bool pairs)
{
    block b = hold(NULL, 64 + count * 2);
    u9_builder out;
    u9_builder_init(&out, b.bytes, b.size);
    const uint8_t rows[] = {0x44, 0x02, 0x02, 0x00};
    ck_assert_int_eq(u9_build_array_open(&out, pairs ? rows : rows + 3, pairs ? 4 : 1), U9_OK);
    for (unsigned i = 0; i < count; i++) {
        if (pairs) ck_assert_int_eq(u9_build_array_open(&out, NULL, 0), U9_OK);
        ck_assert_int_eq(u9_build_uint(&out, keys[i].u), U9_OK);
        if (pairs) ck_assert_int_eq(u9_build_uint(&out, rng_below(r, 256)), U9_OK);
        if (pairs) ck_assert_int_eq(u9_build_array_close(&out), U9_OK);
    }
    ck_assert_int_eq(u9_build_array_close(&out), U9_OK);
    return (block){b.bytes, out.size};
}

/* One to three indexes that such a container can have. */
static unsigned draw_specs(rng *r, kind k, bool pairs, int (*order)(const void *, const void *),
                           u9_index_spec specs[3])
{
    unsigned count = 1 + (unsigned)rng_below(r, 3);
    for (unsigned i = 0; i < count; i++) {
        u9_keyspec keyspec = (u9_keyspec)(U9_KEYSPEC_I + rng_below(r, pairs ? 4 : 2));
        if (keyspec == U9_KEYSPEC_K && k == MIXED) keyspec = U9_KEYSPEC_KH;
        bool in_order = keyspec == U9_KEYSPEC_I || (keyspec == U9_KEYSPEC_K && order == by_value) ||
                        (keyspec == (pairs ? U9_KEYSPEC_KH : U9_KEYSPEC_H) && order == by_hash);
        specs[i] = (u9_index_spec){.keyspec = keyspec, .every = in_order ? rng_below(r, 6) : 0};
        specs[i].hash_bits = (unsigned[]){0, 8, 16, 32, 64}[rng_below(r, 5)];
    }
    return count;
}

static void draw_and_look(rng *r, unsigned most)
{
    static uint8_t contents[MOST][16];
    static u9_value keys[MOST];
    kind k = (kind)rng_below(r, KINDS);
    bool pairs = rng_below(r, 2) == 0, array = k == DIGITS && rng_below(r, 2) == 0;
    int (*order)(const void *, const void *) =
        (int (*[])(const void *, const void *)){NULL, by_value, by_hash}[rng_below(r, 3)];
    unsigned count = (unsigned)rng_below(r, most);
    u9_index_spec specs[3];
    for (unsigned i = 0; i < count; i++) keys[i] = draw(r, k, contents[i]);
    if (order && count > 0) qsort(keys, count, sizeof keys[0], order);
    block bare = (array ? array_of : container_of)(r, keys, count, pairs);
    u9_value v = view(bare);
    v = view(build_indexed(&v, specs, draw_specs(r, k, pairs, order, specs)));
    expect_found_as_by_a_walk(&v);
}

/* */
START_TEST(whatever_is_drawn_is_found_as_by_a_walk)
{
    for (unsigned round = 0; round < 2000; round++) {
        rng r = {.state = round};
        draw_and_look(&r, 40);
        drop_blocks();
    }
}
END_TEST

/* Keys whose distribution misleads interpolation, and many of them. */
START_TEST(large_and_lopsided_indexes_are_searched)
{
    static u9_value keys[MOST];
    for (unsigned shape = 0; shape < 3; shape++) {
        rng r = {.state = shape};
        for (unsigned i = 0; i < MOST; i++) {
            uint64_t any = rng_next(&r);
            keys[i] = number(shape == 0   ? any
                             : shape == 1 ? any >> any % 64
                                          : UINT64_C(1) << any % 64);
        }
        block bare = container_of(&r, keys, MOST, true);
        u9_index_spec specs[] = {{U9_KEYSPEC_K, 0, 0}, {U9_KEYSPEC_I, 64, 0}};
        u9_value v = view(bare), out;
        v = view(build_indexed(&v, specs, 2));
        for (unsigned i = 0; i < 300; i++) {
            unsigned found;
            u9_value sought = number(keys[rng_below(&r, MOST)].u + rng_below(&r, 2));
            ck_assert_int_eq(find_all(&v, U9_BY_KEY, &sought, &found), U9_END);
            uint64_t at = rng_below(&r, MOST);
            ck_assert_int_eq(u9_value_at(&v, at, &out), U9_OK);
            ck_assert_int_eq(u9_value_at(&out, 0, &out), U9_OK);
            ck_assert_uint_eq(out.u, keys[at].u);
        }
    }
}
END_TEST

Suite *suite_value_index_build(void)
{
    Suite *s = suite_create("value_index_build");
    TCase *t = tcase_create("form");
    tcase_add_checked_fixture(t, NULL, drop_blocks);
    tcase_add_test(t, keys_take_the_narrowest_typecode_that_holds_all);
    tcase_add_test(t, an_empty_container_has_an_empty_index);
    tcase_add_test(t, an_incomplete_index_has_every_nth_element_from_the_first);
    tcase_add_test(t, offsets_take_the_narrowest_type_that_holds_the_last);
    tcase_add_test(t, an_index_takes_the_narrowest_length_that_holds_it);
    tcase_add_test(t, long_keys_take_a_typecode_with_a_longer_length);
    tcase_add_test(t, hashes_take_the_width_asked_for_or_one_by_the_number_of_elements);
    tcase_add_test(t, indexes_and_container_are_one_element_and_old_indexes_stay_behind);
    tcase_add_test(t, a_container_without_bytes_of_its_own_is_indexed);
    suite_add_tcase(s, t);
    t = tcase_create("refused");
    tcase_add_checked_fixture(t, NULL, drop_blocks);
    tcase_add_test(t, what_cannot_be_indexed_is_refused_and_nothing_is_built);
    tcase_add_test(t, only_a_container_outside_open_arrays_is_indexed);
    tcase_add_test(t, scratch_room_is_for_the_entries_of_the_largest_index);
    tcase_add_test(t, a_reader_takes_only_so_many_empty_keys);
    tcase_add_test(t, a_buffer_that_grows_no_more_leaves_the_builder_as_it_was);
    tcase_add_test(t, a_buffer_that_is_full_counts_on);
    suite_add_tcase(s, t);
    t = tcase_create("drawn");
    tcase_add_checked_fixture(t, NULL, drop_blocks);
    tcase_add_test(t, whatever_is_drawn_is_found_as_by_a_walk);
    tcase_add_test(t, large_and_lopsided_indexes_are_searched);
    suite_add_tcase(s, t);
    return s;
}
