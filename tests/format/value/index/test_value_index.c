/*
 * tests/format/value/index/test_value_index.c: what SPEC-values.md says of container indexes (X-*), read as
 * tests: their form, what is wrong, and lookups in right and wrong ones. Bytes are forged around
 * one small map. test_value_index_build.c makes indexes and compares every lookup in them with a
 * walk.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "format/base/bytes.h"
#include "tests/format/value/index/index_forge.h"

Suite *suite_value_index(void);

/* Three elements of 5 bytes, at 0, 5 and 10: (1 "a") (2 "b") (4 "c"). */
#define MAP "4b 0f 4a 03 81 21 61 4a 03 82 21 62 4a 03 84 21 63"
#define KEYS "44 04 03 00 01 02 04"
#define OFFSETS "44 07 03 05 0000 0005 000a"
#define NOWHERE "44 03 01 05 ffff" /* -1 */

/* Where parts of a 51 index with KEYS and OFFSETS begin, and the elements behind it. */
enum { KA = 12, KA_DATA = 16, IA_DATA = 23, ELEMENTS = 31 };

static block indexed_map(unsigned code, const char *ks, const char *ka, const char *ia)
{
    return forge_index(code, ks, ka, ia, unhex(MAP));
}

static u9_err first_by_key(block b, uint64_t key, u9_value *element)
{
    u9_value container = view(b), sought = number(key);
    return u9_value_by_key(&container, &sought, element);
}

static void expect_key_at(block b, uint64_t key, size_t offset)
{
    u9_value element, bare = view(b);
    ck_assert_int_eq(first_by_key(b, key, &element), U9_OK);
    bare = u9_value_bare(&bare);
    ck_assert_ptr_eq(element.start, bare.data + offset);
}

static void expect_no_key(block b, uint64_t key, u9_err err)
{
    u9_value element = {.type = U9_ALPHA};
    u9_err got = first_by_key(b, key, &element);
    ck_assert_msg(got == err, "%d", (int)got);
    ck_assert_int_eq(element.type, U9_ALPHA);
}

/* */
START_TEST(an_index_of_each_bytecode_is_read)
{
    for (unsigned code = 0x51; code <= 0x57; code++) {
        block b = indexed_map(code, "k", KEYS, OFFSETS);
        u9_value v = view(b);
        u9_walk walk = u9_walk_indexes(&v);
        u9_index index;
        ck_assert_int_eq(u9_value_check(b.bytes, b.size, NULL, NULL), U9_OK);
        ck_assert_int_eq(u9_index_check(&v, NULL), U9_OK);
        ck_assert_int_eq(u9_index_next(&walk, &index), U9_OK);
        ck_assert_int_eq(index.keyspec, U9_KEYSPEC_K);
        ck_assert_int_eq(index.complete, code <= 0x53);
        ck_assert_ptr_eq(index.start, b.bytes);
        ck_assert_uint_eq(index.encoded, b.size - unhex(MAP).size);
        ck_assert_int_eq(index.ks.data[0], 'k');
        ck_assert_uint_eq(index.ka.count, 3);
        ck_assert_uint_eq(index.ia.count, 3);
        ck_assert_int_eq(u9_index_next(&walk, &index), U9_END);
        expect_found_as_by_a_walk(&v);
        expect_key_at(b, 2, 5);
        expect_no_key(b, 3, U9_ABSENT);
    }
}
END_TEST

/* */
START_TEST(indexes_stack_in_any_order_and_others_are_passed_over)
{
    block b = indexed_map(0x51, "k", KEYS, OFFSETS);
    b = forge_index(0x55, "color", "44 02 01 00 63", "44 03 01 05 ffff", b);
    b = forge_index(0x54, "i", "44 02 01 00 00", "44 03 01 05 0000", b);
    static const u9_keyspec order[] = {U9_KEYSPEC_I, U9_KEYSPEC_OTHER, U9_KEYSPEC_K};
    u9_value v = view(b);
    u9_walk walk = u9_walk_indexes(&v);
    u9_index index;
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(u9_index_next(&walk, &index), U9_OK);
        ck_assert_int_eq(index.keyspec, order[i]);
    }
    ck_assert_int_eq(u9_index_next(&walk, &index), U9_END);
    ck_assert_int_eq(u9_value_check(b.bytes, b.size, NULL, NULL), U9_OK);
    ck_assert_int_eq(u9_index_check(&v, NULL), U9_OK);
    expect_found_as_by_a_walk(&v);
}
END_TEST

START_TEST(what_has_no_index_has_a_walk_over_none)
{
    static const char *const values[] = {MAP, "44 03 02 00 01 02", "85", "23 616263"};
    for (unsigned i = 0; i < 4; i++) {
        u9_value v = view(unhex(values[i]));
        u9_walk walk = u9_walk_indexes(&v);
        u9_index index;
        ck_assert_int_eq(u9_index_next(&walk, &index), U9_END);
        ck_assert_int_eq(u9_index_check(&v, NULL), i < 2 ? U9_OK : U9_ARG);
    }
    u9_value outer = view(unhex("44 06 02 44 01 01 00 07 08")), inner; /* arrays in an array */
    ck_assert_int_eq(u9_value_at(&outer, 1, &inner), U9_OK);
    ck_assert_int_eq(u9_index_check(&inner, NULL), U9_OK);
    block other = unhex("51 0030 0a 6b00000000000000"); /* an index that passes the end */
    u9_walk none = u9_walk_bytes(outer.start, outer.encoded);
    u9_walk torn = u9_walk_bytes(other.bytes, other.size);
    u9_index index;
    ck_assert_int_eq(u9_index_next(&none, &index), U9_CORRUPT);
    ck_assert_int_eq(u9_index_next(&torn, &index), U9_CORRUPT);
}
END_TEST

/* Whatever l holds but (ks ka ia). */
START_TEST(an_index_that_is_not_a_symbol_and_two_arrays_is_malformed)
{
    static const char *const bodies[] = {
        "",
        "0a 6b00000000000000",                                      /* no ka */
        "0a 6b00000000000000 44 02 01 00 01",                       /* no ia */
        "21 6b 44 02 01 00 01 44 03 01 05 0000",                    /* ks is utf8 */
        "0a 6b00000000000000 49 01 81 44 03 01 05 0000",            /* ka is a tuple */
        "0a 6b00000000000000 44 02 01 00 01 49 01 80",              /* ia is a tuple */
        "0a 6b00000000000000 44 02 01 00 01 44 02 01 04 00",        /* ia of int8 */
        "0a 6b00000000000000 44 02 01 00 01 44 03 01 01 0000",      /* of uint16 */
        "0a 6b00000000000000 44 02 01 00 01 44 05 01 08 00000000",  /* of float32 */
        "0a 6b00000000000000 44 03 02 00 01 02 44 03 01 05 0000",   /* more keys than offsets */
        "0a 6b00000000000000 44 02 01 00 01 44 05 02 05 0000 0005", /* fewer */
        "0a 6b00000000000000 44 02 01 00 01 44 03 01 05 0000 80",   /* a value behind */
        "0a 6b00000000000000 44 02 01 00 01 44 03 01 05 00",        /* ia passes the end */
        "0a 6b00000000000000 44 03 01 00 01 44 03 01 05 0000",      /* ka's l and n do not fit */
        "0a 6b00000000000000 54 02 81 82 44 02 01 00 01 44 03 01 05 0000", /* ka is indexed */
    };
    for (unsigned i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        uint8_t bytes[128];
        block body = unhex(bodies[i]), map = unhex(MAP);
        memcpy(bytes, (uint8_t[]){0x51, 0, (uint8_t)body.size}, 3);
        memcpy(bytes + 3, body.bytes, body.size);
        memcpy(bytes + 3 + body.size, map.bytes, map.size);
        block b = hold(bytes, 3 + body.size + map.size);
        u9_value v = view(b), out = {.type = U9_ALPHA}, key = number(1);
        u9_walk walk = u9_walk_indexes(&v);
        u9_index index = {.keyspec = U9_KEYSPEC_KH};
        ck_assert_int_eq(u9_index_next(&walk, &index), U9_CORRUPT);
        ck_assert_int_eq(index.keyspec, U9_KEYSPEC_KH);
        expect_wrong(b, 0, "X-1");
        ck_assert_int_eq(u9_value_by_key(&v, &key, &out), U9_CORRUPT);
        ck_assert_int_eq(u9_value_at(&v, 1, &out), U9_CORRUPT);
        ck_assert_int_eq(out.type, U9_ALPHA);
        ck_assert_int_eq(u9_value_check(b.bytes, b.size, NULL, NULL), U9_CORRUPT);
    }
}
END_TEST

START_TEST(a_lookup_takes_containers_and_what_it_knows_to_look_by)
{
    u9_value atom = number(5), map = view(unhex(MAP));
    u9_find find = {.how = 77};
    ck_assert_int_eq(u9_find_begin(&find, &atom, U9_BY_KEY, &atom), U9_ARG);
    ck_assert_int_eq(u9_find_begin(&find, &map, (u9_by)0, &atom), U9_ARG);
    ck_assert_int_eq(u9_find_begin(&find, &map, (u9_by)3, &atom), U9_ARG);
    ck_assert_int_eq(find.how, 77);
    ck_assert_int_eq(u9_value_by_key(&atom, &atom, &map), U9_ARG);
}
END_TEST

/* A complete index whose second offset is wrong. */
START_TEST(an_offset_that_leads_to_no_element_is_noticed)
{
    static const struct {
        const char *ia;
        bool decodes; /* there is something, if not the element */
    } wrong[] = {
        {"44 07 03 05 0000 ffff 000a", false}, /* -1 */
        {"44 07 03 05 0000 8005 000a", false}, /* -32763 */
        {"44 07 03 05 0000 000f 000a", false}, /* the end */
        {"44 07 03 05 0000 7fff 000a", false}, /* far behind it */
        {"44 19 03 07 0000000000000000 7fffffffffffffff 000000000000000a", false}, /* farther */
        {"44 07 03 05 0000 000b 000a", false},                                     /* 03: torn */
        {"44 07 03 05 0000 0007 000a", true},                                      /* to a number */
        {"44 07 03 05 0000 000a 000a", true}, /* the next one */
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        block by_key = indexed_map(0x51, "k", KEYS, wrong[i].ia);
        block by_position = indexed_map(0x51, "i", "44 04 03 00 00 01 02", wrong[i].ia);
        size_t second = by_key.size - unhex(MAP).size + 2 + 5;
        u9_value v = view(by_position), out;
        expect_no_key(by_key, 2, U9_CORRUPT);
        expect_wrong(by_key, second, "X-4");
        expect_wrong(by_position, second, "X-4");
        ck_assert_int_eq(u9_value_at(&v, 1, &out), wrong[i].decodes ? U9_OK : U9_CORRUPT);
    }
}
END_TEST

/* */
START_TEST(an_offset_into_an_array_is_a_multiple_of_the_stride)
{
    block array = unhex("44 07 03 01 0005 0007 0009");
    u9_index_spec spec = {U9_KEYSPEC_H, 0, 8};
    u9_value bare = view(array);
    block right = build_indexed(&bare, &spec, 1);
    u9_value v = view(right);
    expect_found_as_by_a_walk(&v);
    for (size_t at = IA_DATA; at < IA_DATA + 6; at += 2) right.bytes[at + 1] |= 1;
    for (uint64_t k = 5; k <= 9; k += 2) {
        u9_value element = number(k);
        unsigned found;
        ck_assert_int_eq(find_all(&v, U9_BY_ELEMENT, &element, &found), U9_CORRUPT);
        ck_assert_uint_eq(found, 0);
    }
    expect_wrong(right, IA_DATA + 6 + 4, "X-4"); /* the first element */
}
END_TEST

/* An array of one empty `bytes`, whose hash begins with 91. */
START_TEST(elements_without_bytes_are_not_indexed)
{
    block empty = unhex("44 02 01 1c 00");
    u9_value nothing = view(unhex("30"));
    for (unsigned code = 0x51; code <= 0x54; code += 3) {
        block b = forge_index(code, "h", "44 02 01 00 91", "44 03 01 05 0000", empty);
        u9_value v = view(b);
        unsigned found;
        ck_assert_uint_eq(u9_value_hash(&nothing) >> 56, 0x91);
        expect_wrong(b, b.size, "X-2");
        u9_err err = find_all(&v, U9_BY_ELEMENT, &nothing, &found);
        ck_assert_int_eq(err, code == 0x51 ? U9_CORRUPT : U9_END);
    }
}
END_TEST

/* */
START_TEST(keys_are_of_a_type_that_the_keyspec_has)
{
    static const struct {
        const char *ks, *ka; /* of three keys */
        bool fits;
    } types[] = {
        {"i", "44 07 03 01 0000 0001 0002", true},
        {"i", "44 19 03 07 0000000000000000 0000000000000001 0000000000000002", true},
        {"i", "44 07 03 05 0000 0001 0002", true},
        {"i", "44 05 03 18 01 30 31 32", false},
        {"i", "44 0d 03 08 00000000 3f800000 40000000", false},
        {"h", "44 04 03 04 00 01 02", false},
        {"h", "44 05 03 1c 01 30 31 32", false},
        {"kh", "44 07 03 05 0000 0001 0002", false},
        {"kh", "44 02 03 48 00", false},
    };
    for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (unsigned code = 0x51; code <= 0x54; code += 3) {
            block b = indexed_map(code, types[i].ks, types[i].ka, OFFSETS);
            u9_value v = view(b), map = view(unhex(MAP)), key = number(1), first, out;
            unsigned found;
            ck_assert_int_eq(u9_value_at(&map, 0, &first), U9_OK);
            if (types[i].fits) {
                ck_assert_int_eq(u9_index_check(&v, NULL), U9_OK);
                expect_found_as_by_a_walk(&v);
                continue;
            }
            expect_wrong(b, KA - (code == 0x54), "X-3");
            if (types[i].ks[0] == 'i') ck_assert_int_eq(u9_value_at(&v, 0, &out), U9_CORRUPT);
            if (types[i].ks[0] == 'h')
                ck_assert_int_eq(find_all(&v, U9_BY_ELEMENT, &first, &found), U9_CORRUPT);
            if (types[i].ks[0] == 'k')
                ck_assert_int_eq(u9_value_by_key(&v, &key, &out), U9_CORRUPT);
        }
    }
}
END_TEST

/* Numbers of every width are one domain: what a key is written as plays no part. */
START_TEST(keys_in_ka_are_written_in_any_form)
{
    static const char *const forms[] = {
        KEYS,
        "44 04 03 04 01 02 04",
        "44 07 03 05 0001 0002 0004",
        "44 0d 03 02 00000001 00000002 00000004",
        "44 19 03 03 0000000000000001 0000000000000002 0000000000000004",
        "44 19 03 07 0000000000000001 0000000000000002 0000000000000004",
    };
    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        block b = indexed_map(0x51, "k", forms[i], OFFSETS);
        u9_value v = view(b);
        ck_assert_int_eq(u9_index_check(&v, NULL), U9_OK);
        expect_found_as_by_a_walk(&v);
        expect_key_at(b, 1, 0);
        expect_key_at(b, 4, 10);
        expect_no_key(b, 0, U9_ABSENT);
        expect_no_key(b, 5, U9_ABSENT);
        expect_no_key(b, UINT64_MAX, U9_ABSENT);
    }
}
END_TEST

/* Keys that are containers stand in ka side by side, under one typecode of an array or a tuple. */
START_TEST(keys_that_are_containers_are_found)
{
    static const struct {
        const char *map, *ka, *ia, *keys[4]; /* the last one is of no element */
    } kinds[] = {
        {"4b 1e 4a 08 44 03 02 00 01 02 21 61 4a 08 44 03 02 00 01 03 21 62 4a 08 44 03 02 00 04 00 21 63",
         "44 0a 03 44 02 02 00 0102 0103 0400",
         "44 07 03 05 0000 000a 0014",
         {"44 03 02 00 01 02", "44 03 02 00 01 03", "44 03 02 00 04 00", "44 03 02 00 01 04"}},
        {"4b 18 4a 06 4a 02 81 82 21 61 4a 06 4a 02 81 83 21 62 4a 06 4a 02 84 80 21 63",
         "44 08 03 4a 02 8182 8183 8480",
         "44 07 03 05 0000 0008 0010",
         {"4a 02 81 82", "4a 02 81 83", "4a 02 84 80", "4a 02 81 84"}},
    };
    for (unsigned i = 0; i < 2; i++) {
        block map = unhex(kinds[i].map);
        u9_value v = view(forge_index(0x51, "k", kinds[i].ka, kinds[i].ia, map)), out;
        ck_assert_int_eq(u9_index_check(&v, NULL), U9_OK);
        expect_found_as_by_a_walk(&v);
        for (unsigned k = 0; k < 4; k++) {
            u9_value key = view(unhex(kinds[i].keys[k]));
            ck_assert_int_eq(u9_value_by_key(&v, &key, &out), k < 3 ? U9_OK : U9_ABSENT);
            if (k < 3) ck_assert_int_eq(out.data[out.size - 1], 'a' + (int)k);
        }
    }
}
END_TEST

/* [X-3] [X-4] (-128) (-1) (0) (127) as int8 to int64. */
START_TEST(keys_below_0_are_found)
{
    static const char *const forms[] = {
        "44 05 04 04 80 ff 00 7f",
        "44 09 04 05 ff80 ffff 0000 007f",
        "44 11 04 06 ffffff80 ffffffff 00000000 0000007f",
        "44 21 04 07 ffffffffffffff80 ffffffffffffffff 0000000000000000 000000000000007f",
    };
    static const int64_t keys[] = {-128, -1, 0, 127};
    block map = unhex("4c 0e 49 02 04 80 49 02 04 ff 49 01 80 49 01 ff");
    for (unsigned i = 0; i < 4; i++) {
        block b = forge_index(0x51, "k", forms[i], "44 09 04 05 0000 0004 0008 000b", map);
        u9_value v = view(b), out;
        ck_assert_int_eq(u9_index_check(&v, NULL), U9_OK);
        expect_found_as_by_a_walk(&v);
        for (unsigned k = 0; k < 4; k++) {
            u9_value key = negative(keys[k]), above = negative(keys[k] + 1);
            ck_assert_int_eq(u9_value_by_key(&v, &key, &out), U9_OK);
            ck_assert_int_eq(u9_value_by_key(&v, &above, &out), k == 1 ? U9_OK : U9_ABSENT);
        }
    }
}
END_TEST

/* [X-3] (1 "a") 5 (4 "c"): what has no key is passed over by a walk, and makes an index wrong. */
START_TEST(elements_without_a_key_make_an_index_of_keys_wrong)
{
    static const char *const odd[] = {
        "4b 0b 4a 03 81 21 61 85 4a 03 84 21 63",     /* a number */
        "4b 0c 4a 03 81 21 61 48 00 4a 03 84 21 63"}; /* an empty tuple */
    for (unsigned i = 0; i < 2; i++) {
        block map = unhex(odd[i]), part, whole;
        u9_value bare = view(map), five = number(5), out;
        expect_key_at(map, 4, 6 + i);
        ck_assert_int_eq(u9_value_by_key(&bare, &five, &out), U9_ABSENT);
        const char *ia = i ? "44 07 03 05 0000 0005 0007" : "44 07 03 05 0000 0005 0006";
        whole = forge_index(0x51, "k", KEYS, ia, map);
        part = forge_index(0x54, "k", "44 02 01 00 01", "44 03 01 05 0000", map);
        expect_wrong(whole, ELEMENTS + 5, "X-3");
        expect_wrong(part, part.size - map.size + 2 + 5, "X-3");
        expect_no_key(whole, 2, U9_CORRUPT);
        expect_no_key(part, 2, U9_CORRUPT);
        expect_key_at(whole, 4, 6 + i);
        expect_key_at(part, 1, 0);
    }
}
END_TEST

/* A row of pairs as an array of arrays: each has its first number as its key. */
START_TEST(elements_that_are_arrays_have_keys_too)
{
    block rows = unhex("44 0a 03 44 02 02 00 0163 0262 0461");
    u9_value v = view(forge_index(0x51, "k", KEYS, "44 07 03 05 0000 0002 0004", rows)), out;
    u9_value two = number(2);
    ck_assert_int_eq(u9_index_check(&v, NULL), U9_OK);
    expect_found_as_by_a_walk(&v);
    ck_assert_int_eq(u9_value_by_key(&v, &two, &out), U9_OK);
    ck_assert_int_eq(out.data[1], 0x62);
}
END_TEST

/* */
START_TEST(keys_that_do_not_ascend_are_wrong_and_noticed)
{
    static const struct {
        const char *ka;
        unsigned bad;
        uint64_t sought;
    } keys[] = {
        {"44 04 03 00 04 02 01", 1, 2}, /* the last below the first */
        {"44 04 03 00 01 09 04", 2, 4}, /* the middle one above both */
        {"44 04 03 00 02 01 02", 1, 2}, /* below the one that was found */
        {"44 19 03 03 0000000000000001 ffffffffffffffff 0000000000000004", 2, 4},
        {"44 07 03 05 0001 ffff 0004", 1, 4}, /* -1 */
    };
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        block b = indexed_map(0x51, "k", keys[i].ka, OFFSETS);
        unsigned stride = i == 3 ? 8 : i == 4 ? 2 : 1;
        u9_value v = view(b), sought = number(keys[i].sought);
        unsigned found;
        expect_wrong(b, KA_DATA + keys[i].bad * stride, "X-4");
        ck_assert_int_eq(find_all(&v, U9_BY_KEY, &sought, &found), U9_CORRUPT);
    }
}
END_TEST

/* */
START_TEST(a_complete_index_has_each_element_exactly_once)
{
    static const struct {
        const char *ka, *ia;
        size_t offset; /* of the fault */
    } wrong[] = {
        {"44 03 02 00 01 04", "44 05 02 05 0000 000a", ELEMENTS - 3 + 5},     /* one is missing */
        {"44 05 04 00 01 02 04 05", "44 09 04 05 0000 0005 000a 000a", KA},   /* one is twice */
        {"44 04 03 00 01 03 04", OFFSETS, ELEMENTS + 5},                      /* another key */
        {"44 04 03 00 01 02 04", "44 07 03 05 0000 000a 0005", ELEMENTS + 5}, /* swapped */
        {"44 01 00 00", "44 01 00 05", ELEMENTS - 9},                         /* none at all */
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_wrong(indexed_map(0x51, "k", wrong[i].ka, wrong[i].ia), wrong[i].offset, "X-4");
    expect_no_key(indexed_map(0x51, "k", wrong[2].ka, wrong[2].ia), 3, U9_CORRUPT);
    expect_no_key(indexed_map(0x51, "k", wrong[3].ka, wrong[3].ia), 2, U9_CORRUPT);
    expect_no_key(indexed_map(0x51, "k", wrong[4].ka, wrong[4].ia), 2, U9_ABSENT);
}
END_TEST

/* [X-4] (7 "a") (7 "b") (7 "c"): a multimap. */
START_TEST(entries_with_one_key_are_in_the_order_of_the_elements)
{
    block map = unhex("4b 0f 4a 03 87 21 61 4a 03 87 21 62 4a 03 87 21 63");
    block right = forge_index(0x51, "k", "44 04 03 00 07 07 07", OFFSETS, map);
    block wrong = forge_index(0x51, "k", "44 04 03 00 07 07 07", "44 07 03 05 0000 000a 0005", map);
    block twice = forge_index(0x51, "k", "44 04 03 00 07 07 07", "44 07 03 05 0000 0005 0005", map);
    u9_value v = view(right), seven = number(7);
    unsigned found;
    ck_assert_int_eq(u9_index_check(&v, NULL), U9_OK);
    ck_assert_int_eq(find_all(&v, U9_BY_KEY, &seven, &found), U9_END);
    ck_assert_uint_eq(found, 3);
    expect_wrong(wrong, IA_DATA + 4, "X-4");
    expect_wrong(twice, IA_DATA + 4, "X-4");
    v = view(twice);
    ck_assert_int_eq(find_all(&v, U9_BY_KEY, &seven, &found), U9_CORRUPT);
    ck_assert_uint_eq(found, 2);
}
END_TEST

/* */
START_TEST(an_incomplete_index_follows_the_order_of_its_container)
{
    static const struct {
        const char *ka, *ia;
        size_t offset; /* of the fault */
        const char *rule;
    } wrong[] = {
        {"44 02 01 00 02", "44 03 01 05 0005", ELEMENTS - 1 - 6, "X-5"}, /* not the first element */
        {"44 01 00 00", "44 01 00 05", ELEMENTS - 1 - 9, "X-5"},         /* no entry at all */
        {KEYS, "44 07 03 05 0000 000a 0005", IA_DATA - 1 + 4, "X-5"},    /* descends */
        {KEYS, "44 07 03 05 0000 0006 000a", IA_DATA - 1 + 2, "X-2"},    /* into an element */
        {"44 03 02 00 01 04", "44 05 02 05 0000 000f", IA_DATA - 2 + 2, "X-2"}, /* the end */
        {"44 04 03 00 01 03 04", OFFSETS, KA_DATA - 1 + 1, "X-5"},              /* another key */
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_wrong(indexed_map(0x54, "k", wrong[i].ka, wrong[i].ia), wrong[i].offset,
                     wrong[i].rule);
    expect_no_key(indexed_map(0x54, "k", wrong[5].ka, wrong[5].ia), 4, U9_CORRUPT);
    expect_no_key(indexed_map(0x54, "k", wrong[3].ka, wrong[3].ia), 4, U9_CORRUPT);
    expect_no_key(indexed_map(0x54, "k", "44 02 01 00 01", "44 03 01 05 fffb"), 4, U9_CORRUPT);
    expect_key_at(indexed_map(0x54, "k", "44 02 01 00 01", "44 03 01 05 fffb"), 1, 0);
    for (unsigned i = 0; i < 2; i++) { /* what has too few entries costs time, no element */
        u9_value v = view(indexed_map(0x54, "k", wrong[i].ka, wrong[i].ia));
        expect_found_as_by_a_walk(&v);
    }
}
END_TEST

/* [X-5] (2) (1) (2) */
START_TEST(an_incomplete_index_of_elements_out_of_order_is_wrong_and_noticed)
{
    block map = unhex("4b 09 49 01 82 49 01 81 49 01 82");
    block b = forge_index(0x54, "k", "44 02 01 00 02", "44 03 01 05 0000", map);
    u9_value v = view(b), two = number(2);
    unsigned found;
    expect_wrong(b, b.size - 6, "X-5");
    ck_assert_int_eq(find_all(&v, U9_BY_KEY, &two, &found), U9_CORRUPT);
    ck_assert_uint_eq(found, 1);
}
END_TEST

/* Six elements of key 1 1 2 2 2 3; entries for the first, the fourth and the last. */
START_TEST(equal_elements_in_front_of_an_entry_are_found)
{
    block map = unhex("4e 12 49 01 81 49 01 81 49 01 82 49 01 82 49 01 82 49 01 83");
    block b = forge_index(0x54, "k", "44 04 03 00 01 02 03", "44 07 03 05 0000 0009 000f", map);
    u9_value v = view(b), two = number(2);
    unsigned found;
    ck_assert_int_eq(u9_index_check(&v, NULL), U9_OK);
    ck_assert_int_eq(find_all(&v, U9_BY_KEY, &two, &found), U9_END);
    ck_assert_uint_eq(found, 3);
    expect_found_as_by_a_walk(&v);
}
END_TEST

/* A wrong index in front of a right one: the lookup fails exactly where it uses the wrong
 * one. */
START_TEST(the_best_index_is_used_and_of_like_ones_the_first)
{
    static const struct {
        unsigned code;
        const char *ks, *ka; /* of one entry that leads nowhere, or of a type that does not fit */
        u9_index_spec right;
    } kinds[] = {
        {0x51, "k", "44 02 01 00 04", {U9_KEYSPEC_K, 0, 0}},
        {0x54, "k", "44 02 01 00 00", {U9_KEYSPEC_K, 2, 0}},
        {0x51, "kh", "44 03 01 05 0000", {U9_KEYSPEC_KH, 0, 0}},
        {0x51, "h", "44 03 01 05 0000", {U9_KEYSPEC_H, 0, 0}},
        {0x51, "i", "44 03 01 18 01 61", {U9_KEYSPEC_I, 0, 0}},
        {0x54, "i", "44 03 01 18 01 61", {U9_KEYSPEC_I, 2, 0}},
    };
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    u9_value bare = view(unhex(MAP)), four = number(4), last, out;
    ck_assert_int_eq(u9_value_at(&bare, 2, &last), U9_OK);
    for (unsigned right = 0; right < KINDS; right++) {
        for (unsigned wrong = 0; wrong < KINDS; wrong++) {
            block b = build_indexed(&bare, &kinds[right].right, 1);
            b = forge_index(kinds[wrong].code, kinds[wrong].ks, kinds[wrong].ka, NOWHERE, b);
            u9_value v = view(b);
            unsigned found;
            bool key_fails = wrong <= 2 && (wrong <= right || right > 2);
            bool at_fails = wrong >= 4 && (wrong <= right || right < 4);
            ck_assert_int_eq(u9_value_by_key(&v, &four, &out), key_fails ? U9_CORRUPT : U9_OK);
            ck_assert_int_eq(u9_value_at(&v, 2, &out), at_fails ? U9_CORRUPT : U9_OK);
            u9_err err = find_all(&v, U9_BY_ELEMENT, &last, &found);
            ck_assert_int_eq(err, wrong == 3 ? U9_CORRUPT : U9_END);
        }
    }
}
END_TEST

/* */
START_TEST(an_element_of_an_array_is_found_by_position_without_an_index)
{
    block array = unhex("44 03 02 00 05 06");
    u9_value v = view(forge_index(0x51, "i", "44 02 01 00 00", "44 03 01 05 ffff", array)), out;
    ck_assert_int_eq(u9_value_at(&v, 1, &out), U9_OK);
    ck_assert_uint_eq(out.u, 6);
    ck_assert_int_eq(u9_value_at(&v, 2, &out), U9_END);
}
END_TEST

/* 0 2 4 ... and one far above, which misleads interpolation: with steps in proportion to the
 * keys so many lookups would not end in time. */
START_TEST(lopsided_keys_are_searched_in_bounded_time)
{
    enum { COUNT = 1 << 17, LOOKUPS = 20000 };
    const size_t ka = 1 + 8 * COUNT, ia = 1 + 2 * COUNT, l = 9 + 9 + ka + 9 + ia;
    block b = hold(NULL, 5 + l + 2);
    u9i_out out = u9i_out_init(b.bytes, b.size);
    u9i_out_uint(&out, 1, 0x52);
    u9i_out_uint(&out, 4, l);
    u9i_out_copy(&out, "\x0ak\0\0\0\0\0\0\0", 9);
    u9i_out_copy(&out, "\x46", 1);
    u9i_out_uint(&out, 4, ka);
    u9i_out_uint(&out, 4, COUNT);
    u9i_out_copy(&out, "\x03", 1);
    for (uint64_t i = 0; i < COUNT; i++) u9i_out_uint(&out, 8, i + 1 < COUNT ? 2 * i : UINT64_MAX);
    u9i_out_copy(&out, "\x46", 1);
    u9i_out_uint(&out, 4, ia);
    u9i_out_uint(&out, 4, COUNT);
    u9i_out_copy(&out, "\x05", 1);
    memset(u9i_out_span(&out, 2 * COUNT), 0, 2 * COUNT);
    u9i_out_copy(&out, "\x48\0", 2);
    ck_assert(!out.failed && out.size == b.size);
    for (uint64_t i = 0; i < LOOKUPS; i++) expect_no_key(b, COUNT + 2 * i + 1, U9_ABSENT);
}
END_TEST

/* The least number above `v` whose hash begins with the same byte. */
static uint64_t alike(uint64_t v)
{
    u9_value a = number(v), b = number(v + 1);
    while (u9_value_hash(&a) >> 56 != u9_value_hash(&b) >> 56) b.u++;
    return b.u;
}

/* */
START_TEST(elements_that_share_a_truncated_hash_are_told_apart)
{
    uint64_t twin = alike(5);
    u9_value five = number(5), other = number(twin), absent = number(alike(twin));
    uint8_t bytes[64];
    u9_builder b;
    u9_builder_init(&b, bytes, sizeof bytes);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    ck_assert_int_eq(u9_build_uint(&b, twin), U9_OK);
    ck_assert_int_eq(u9_build_uint(&b, 5), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    u9_value bare = view(hold(bytes, b.size));
    for (unsigned every = 0; every < 2; every++) {
        u9_index_spec spec = {U9_KEYSPEC_H, every, 8};
        u9_value v = view(build_indexed(&bare, &spec, 1));
        unsigned found;
        ck_assert_int_eq(find_all(&v, U9_BY_ELEMENT, &five, &found), U9_END);
        ck_assert_uint_eq(found, 1);
        ck_assert_int_eq(find_all(&v, U9_BY_ELEMENT, &other, &found), U9_END);
        ck_assert_uint_eq(found, 1);
        ck_assert_int_eq(find_all(&v, U9_BY_ELEMENT, &absent, &found), U9_END);
        ck_assert_uint_eq(found, 0);
    }
}
END_TEST

/* The one entry says the hash of 5; the element is 6. */
START_TEST(an_element_without_the_hash_that_its_entry_says_is_noticed)
{
    u9_value five = number(5), v;
    unsigned found;
    ck_assert_uint_eq(u9_value_hash(&five) >> 56, 0xba);
    block b = forge_index(0x51, "h", "44 02 01 00 ba", "44 03 01 05 0000", unhex("49 01 86"));
    v = view(b);
    ck_assert_int_eq(find_all(&v, U9_BY_ELEMENT, &five, &found), U9_CORRUPT);
    expect_wrong(b, b.size - 1, "X-4");
}
END_TEST

/* Three elements; the count says seven. */
START_TEST(a_position_that_only_the_count_has_is_noticed)
{
    static const unsigned codes[] = {0x51, 0x54};
    block tuple = unhex("4f 0f 4a 03 81 21 61 4a 03 82 21 62 4a 03 84 21 63"), map = unhex(MAP);
    for (unsigned i = 0; i < 2; i++) {
        u9_value v = view(forge_index(codes[i], "i", "44 04 03 00 00 01 02", OFFSETS, tuple));
        u9_value out;
        ck_assert_int_eq(u9_value_at(&v, 2, &out), U9_OK);
        ck_assert_int_eq(u9_value_at(&v, 6, &out), U9_CORRUPT);
        ck_assert_int_eq(u9_value_at(&v, 7, &out), U9_END);
    }
    u9_value late = view(forge_index(0x54, "i", "44 02 01 00 01", "44 03 01 05 0005", map)), out;
    ck_assert_int_eq(u9_value_at(&late, 0, &out), U9_OK); /* no entry is at or before it */
    ck_assert_ptr_eq(out.start, u9_value_bare(&late).data);
    u9_value two = view(forge_index(0x51, "i", "44 03 02 00 00 01", "44 05 02 05 0000 0005", map));
    ck_assert_int_eq(u9_value_at(&two, 2, &out), U9_CORRUPT); /* complete, and has it not */
    u9_value other = view(forge_index(0x51, "x", "44 02 01 00 01", "44 03 01 05 0005", tuple));
    ck_assert_int_eq(u9_value_at(&other, 2, &out), U9_OK); /* by a walk */
    ck_assert_int_eq(u9_value_at(&other, 6, &out), U9_END);
}
END_TEST

/* A reserved bytecode, a torn element, an array that claims 256 empty elements: each behind 1. */
START_TEST(malformed_elements_end_a_lookup)
{
    static const struct {
        const char *container;
        u9_err err;
        size_t offset; /* of an entry that leads there, 0 being the other */
    } broken[] = {{"4a 02 81 0f", U9_CORRUPT, 1},
                  {"4a 03 81 1c 05", U9_CORRUPT, 1},
                  {"4a 08 81 45 0002 0100 1c 00", U9_LIMIT, 1}};
    for (unsigned i = 0; i < 3; i++) {
        block c = unhex(broken[i].container);
        u9_value v = view(c), one = number(1), two = number(2), out = {.type = U9_ALPHA};
        u9_find find;
        ck_assert_int_eq(u9_find_begin(&find, &v, U9_BY_ELEMENT, &one), U9_OK);
        ck_assert_int_eq(u9_find_next(&find, &out), U9_OK);
        ck_assert_int_eq(u9_find_next(&find, &out), broken[i].err);
        ck_assert_int_eq(u9_find_next(&find, &out), broken[i].err);
        ck_assert_uint_eq(out.u, 1);
        uint64_t top = u9_value_hash(&two);
        char ka[64], small[64] = "44 09 01 03 0000000000000000";
        snprintf(ka, sizeof ka, "44 09 01 03 %016llx", (unsigned long long)top);
        unsigned found;
        v = view(forge_index(0x51, "h", ka, "44 03 01 05 0001", c));
        ck_assert_int_eq(find_all(&v, U9_BY_ELEMENT, &two, &found), broken[i].err);
        v = view(forge_index(0x54, "h", small, "44 03 01 05 0001", c));
        ck_assert_int_eq(find_all(&v, U9_BY_ELEMENT, &two, &found), broken[i].err);
        v = view(forge_index(0x51, "i", "44 03 02 00 00 01", "44 05 02 05 0000 0001", c));
        ck_assert_int_eq(u9_value_at(&v, 1, &out), broken[i].err);
        u9_fault fault = {.rule = ""};
        ck_assert_int_eq(u9_index_check(&v, &fault), broken[i].err);
        ck_assert_str_eq(fault.rule, broken[i].err == U9_LIMIT ? "" : "V-4");
    }
}
END_TEST

/* A flipped bit anywhere leads to the same answers, to a refusal, or to an index that the proof
 * refuses. */
START_TEST(each_flipped_bit_is_harmless_or_refused)
{
    static const u9_index_spec specs[] = {
        {U9_KEYSPEC_K, 2, 0}, {U9_KEYSPEC_KH, 0, 8}, {U9_KEYSPEC_I, 0, 0}};
    u9_value bare = view(unhex(MAP));
    block right = build_indexed(&bare, specs, 3);
    for (size_t bit = 0; bit < 8 * right.size; bit++) {
        block b = hold(right.bytes, right.size);
        u9_value v, out;
        b.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (u9_value_decode(b.bytes, b.size, &v) != U9_OK) continue;
        if (v.type != U9_TUPLE && v.type != U9_ARRAY) continue;
        u9_err err = u9_index_check(&v, NULL);
        if (err == U9_OK && u9_value_check(v.start, v.encoded, NULL, NULL) == U9_OK)
            expect_found_as_by_a_walk(&v);
        for (uint64_t k = 0; k < 6; k++) {
            u9_value key = number(k), bare_v = u9_value_bare(&v);
            if (u9_value_by_key(&v, &key, &out) == U9_OK)
                ck_assert(out.data >= bare_v.data &&
                          out.data + out.size <= bare_v.data + bare_v.size);
            if (u9_value_at(&v, k, &out) == U9_OK) ck_assert_int_ge(out.type, U9_UINT);
        }
    }
}
END_TEST

Suite *suite_value_index(void)
{
    Suite *s = suite_create("value_index");
    TCase *t = tcase_create("form");
    tcase_add_checked_fixture(t, NULL, drop_blocks);
    tcase_add_test(t, an_index_of_each_bytecode_is_read);
    tcase_add_test(t, indexes_stack_in_any_order_and_others_are_passed_over);
    tcase_add_test(t, what_has_no_index_has_a_walk_over_none);
    tcase_add_test(t, an_index_that_is_not_a_symbol_and_two_arrays_is_malformed);
    tcase_add_test(t, a_lookup_takes_containers_and_what_it_knows_to_look_by);
    suite_add_tcase(s, t);
    t = tcase_create("wrong");
    tcase_add_checked_fixture(t, NULL, drop_blocks);
    tcase_add_test(t, an_offset_that_leads_to_no_element_is_noticed);
    tcase_add_test(t, an_offset_into_an_array_is_a_multiple_of_the_stride);
    tcase_add_test(t, elements_without_bytes_are_not_indexed);
    tcase_add_test(t, keys_are_of_a_type_that_the_keyspec_has);
    tcase_add_test(t, elements_without_a_key_make_an_index_of_keys_wrong);
    tcase_add_test(t, keys_that_do_not_ascend_are_wrong_and_noticed);
    tcase_add_test(t, a_complete_index_has_each_element_exactly_once);
    tcase_add_test(t, an_incomplete_index_follows_the_order_of_its_container);
    tcase_add_test(t, an_incomplete_index_of_elements_out_of_order_is_wrong_and_noticed);
    tcase_add_test(t, an_element_without_the_hash_that_its_entry_says_is_noticed);
    tcase_add_test(t, a_position_that_only_the_count_has_is_noticed);
    tcase_add_test(t, malformed_elements_end_a_lookup);
    tcase_add_test(t, each_flipped_bit_is_harmless_or_refused);
    suite_add_tcase(s, t);
    t = tcase_create("lookup");
    tcase_add_checked_fixture(t, NULL, drop_blocks);
    tcase_add_test(t, keys_in_ka_are_written_in_any_form);
    tcase_add_test(t, keys_that_are_containers_are_found);
    tcase_add_test(t, keys_below_0_are_found);
    tcase_add_test(t, elements_that_are_arrays_have_keys_too);
    tcase_add_test(t, entries_with_one_key_are_in_the_order_of_the_elements);
    tcase_add_test(t, equal_elements_in_front_of_an_entry_are_found);
    tcase_add_test(t, the_best_index_is_used_and_of_like_ones_the_first);
    tcase_add_test(t, an_element_of_an_array_is_found_by_position_without_an_index);
    tcase_add_test(t, lopsided_keys_are_searched_in_bounded_time);
    tcase_add_test(t, elements_that_share_a_truncated_hash_are_told_apart);
    suite_add_tcase(s, t);
    return s;
}
