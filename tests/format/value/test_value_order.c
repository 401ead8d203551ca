/*
 * tests/format/value/test_value_order.c: which value comes before which, and what each hashes to. [O-1]
 * to [O-5]
 *
 * The examples are those of SPEC-values.md, read from it. The properties are tried on random values
 * against a model: two strings of bytes, made of the tree that a value was encoded from. One is
 * ordered by memcmp, the other is the projection.
 *
 * The file is long because it is flat: order by domain, bytes that were not proved, the model and
 * what is tried against it, the examples.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <u9/value.h>

#include "tests/format/base/hex.h"
#include "tests/format/value/value_gen.h"

Suite *suite_value_order(void);

enum { ROOM = 1 << 16, ROUNDS = 20000, ROWS_MAX = 128, ROW_ROOM = 512 };

/* A value in a block of exactly its size, so that AddressSanitizer sees what is read behind it. */
typedef struct held {
    uint8_t *bytes;
    size_t size;
    u9_value v;
} held;

static held hold(const uint8_t *bytes, size_t size)
{
    held h = {.bytes = exactly(bytes, size), .size = size};
    ck_assert_int_eq(u9_value_decode(h.bytes, size, &h.v), U9_OK);
    return h;
}

/* From hex with spaces. */
static held of(const char *hex)
{
    char digits[2 * ROW_ROOM];
    uint8_t bytes[ROW_ROOM];
    size_t n = 0;
    for (; *hex; hex++)
        if (*hex != ' ') digits[n++] = *hex;
    digits[n] = '\0';
    held h = hold(bytes, unhex(digits, bytes));
    ck_assert_uint_eq(h.v.encoded, h.size);
    return h;
}

static int sign(int c)
{
    return (c > 0) - (c < 0);
}

/* Compares both ways and each with itself; hashes must agree with that. */
static int compared(const held *a, const held *b)
{
    int c = sign(u9_value_compare(&a->v, &b->v));
    ck_assert_int_eq(sign(u9_value_compare(&b->v, &a->v)), -c);
    ck_assert_int_eq(u9_value_compare(&a->v, &a->v), 0);
    if (c == 0) ck_assert_uint_eq(u9_value_hash(&a->v), u9_value_hash(&b->v));
    return c;
}

static void expect_order(const char *a, int c, const char *b)
{
    held x = of(a), y = of(b);
    ck_assert_msg(compared(&x, &y) == c, "%s against %s", a, b);
    free(x.bytes);
    free(y.bytes);
}

static void expect_equal(const char *a, const char *b)
{
    expect_order(a, 0, b);
}

/* Each before all behind it. */
static void expect_ascending(const char *const list[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++) expect_order(list[i], -1, list[k]);
}

#define EXPECT_ASCENDING(...)                                 \
    do {                                                      \
        static const char *const list[] = {__VA_ARGS__};      \
        expect_ascending(list, sizeof list / sizeof list[0]); \
    } while (0)

/* [O-1] */
START_TEST(domains_come_in_a_fixed_order)
{
    EXPECT_ASCENDING("03 ffffffffffffffff",        /* the largest integer */
                     "08 ff800000",                /* -infinity */
                     "0a 0000000000000000",        /* a symbol */
                     "0b 00000000 00000000",       /* pid 0, fd 0 */
                     "10",                         /* alpha */
                     "20",                         /* no text */
                     "30",                         /* no bytes */
                     "48 00");                     /* the empty tuple */
    EXPECT_ASCENDING("85", "09 4014000000000000"); /* 5 is not 5.0 */
    EXPECT_ASCENDING("0a 6162000000000000", "22 6162", "32 6162", "4a 02 e1 e2");
}
END_TEST

/* [O-2] */
START_TEST(integers_of_all_widths_are_one_domain)
{
    EXPECT_ASCENDING("07 8000000000000000", "06 80000000", "05 fc18", "04 80", "04 ff", "80", "81",
                     "ff", "00 80", "00 ff", "01 0100", "02 00010000", "07 7fffffffffffffff",
                     "03 8000000000000000", "03 ffffffffffffffff");
    expect_equal("85", "00 05");
    expect_equal("85", "01 0005");
    expect_equal("85", "02 00000005");
    expect_equal("85", "03 0000000000000005");
    expect_equal("85", "04 05");
    expect_equal("85", "05 0005");
    expect_equal("85", "06 00000005");
    expect_equal("85", "07 0000000000000005");
    expect_equal("04 ff", "07 ffffffffffffffff");
}
END_TEST

/* [O-2] The same 64 bits, one a negative number. */
START_TEST(a_large_uint_is_no_negative_int)
{
    held a = of("03 ffffffffffffffff"), b = of("07 ffffffffffffffff");
    ck_assert_int_eq(compared(&a, &b), 1);
    ck_assert_uint_ne(u9_value_hash(&a.v), u9_value_hash(&b.v));
    free(a.bytes);
    free(b.bytes);
}
END_TEST

/* [O-2] */
START_TEST(floats_are_ordered_by_number)
{
    EXPECT_ASCENDING("08 ff800000",          /* -infinity */
                     "09 ffefffffffffffff",  /* the least float64 */
                     "08 ff7fffff",          /* the least float32 */
                     "08 bfc00000",          /* -1.5 */
                     "09 bff0000000000000",  /* -1 */
                     "08 80000001",          /* just below 0 as a float32 */
                     "09 8000000000000001",  /* just below 0 */
                     "09 0000000000000000",  /* 0 */
                     "09 0000000000000001",  /* just above */
                     "08 00000001",          /* just above as a float32 */
                     "09 3ff0000000000000",  /* 1 */
                     "08 3fc00000",          /* 1.5 */
                     "08 7f7fffff",          /* the largest float32 */
                     "09 7fefffffffffffff",  /* the largest float64 */
                     "08 7f800000",          /* infinity */
                     "09 7ff8000000000000"); /* NaN */
    expect_equal("08 3fc00000", "09 3ff8000000000000");
    expect_equal("08 00000001", "09 36a0000000000000");
    expect_equal("08 7f800000", "09 7ff0000000000000");
}
END_TEST

/* [O-2] */
START_TEST(both_zeros_are_equal)
{
    expect_equal("09 0000000000000000", "09 8000000000000000");
    expect_equal("08 00000000", "09 8000000000000000");
    expect_equal("08 80000000", "08 00000000");
}
END_TEST

/* [O-2] */
START_TEST(all_nans_are_equal)
{
    expect_equal("09 7ff8000000000000", "09 7ff0000000000001");
    expect_equal("09 7ff8000000000000", "09 ffffffffffffffff");
    expect_equal("09 7ff8000000000000", "08 7fc00000");
    expect_equal("09 7ff8000000000000", "08 ff800001");
}
END_TEST

/* [O-2] */
START_TEST(symbols_and_pidfds_are_ordered_by_their_bytes)
{
    EXPECT_ASCENDING("0a 0000000000000000", "0a 6100000000000000", "0a 6162000000000000",
                     "0a 6200000000000000", "0a ff00000000000000");
    EXPECT_ASCENDING("0b 00000001 ffffffff", "0b 00000002 00000000", "0b 00000002 00000001",
                     "0b 80000000 00000000");
}
END_TEST

/* [O-2] */
START_TEST(greek_is_ordered_from_alpha_to_tau)
{
    EXPECT_ASCENDING("10", "11", "12", "13", "14", "15 0000", "15 0001", "16 00000002", "15 ffff",
                     "17 ffffffffffffffff");
    expect_equal("15 0064", "16 00000064");
    expect_equal("15 0064", "17 0000000000000064");
}
END_TEST

/* [O-2] */
START_TEST(texts_and_bytes_are_ordered_byte_by_byte)
{
    EXPECT_ASCENDING("20", "21 00", "22 0000", "21 61", "22 6100", "22 6161", "21 62", "21 ff");
    EXPECT_ASCENDING("30", "31 00", "32 0000", "31 61", "32 6100", "32 6161", "31 62", "31 ff");
    expect_equal("21 61", "18 01 61");
    expect_equal("21 61", "1b 0000000000000001 61");
    expect_equal("31 61", "1c 01 61");
    expect_equal("30", "1f 0000000000000000");
}
END_TEST

/* [O-3] */
START_TEST(sequences_are_ordered_element_by_element)
{
    EXPECT_ASCENDING("48 00",                /* () */
                     "49 01 81",             /* (1) */
                     "4a 02 81 81",          /* (1 1) */
                     "4a 02 81 82",          /* (1 2) */
                     "4b 03 81 82 80",       /* (1 2 0) */
                     "4a 03 81 21 61",       /* (1 "a"): another domain */
                     "4a 03 81 48 00",       /* (1 ()) */
                     "4a 04 81 49 01 80",    /* (1 (0)) */
                     "4b 05 81 49 01 80 80", /* (1 (0) 0) */
                     "49 01 82",             /* (2) */
                     "49 02 48 00");         /* (()) */
}
END_TEST

/* [O-3] [O-4] Where an element ends does not get lost in the hash. */
START_TEST(sequences_of_the_same_atoms_in_other_shapes_have_other_hashes)
{
    static const char *const list[] = {
        "4a 05 49 01 81 48 00", /* ((1) ()) */
        "49 05 4a 03 81 48 00", /* ((1 ())) */
        "4b 05 48 00 81 48 00", /* (() 1 ()) */
        "4a 04 22 6162 20",     /* ("ab" "") */
        "4a 04 21 61 21 62",    /* ("a" "b") */
        "4a 04 31 61 31 62",    /* the same as bytes */
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        for (size_t k = 0; k < i; k++) {
            held a = of(list[i]), b = of(list[k]);
            ck_assert_uint_ne(u9_value_hash(&a.v), u9_value_hash(&b.v));
            ck_assert_int_ne(compared(&a, &b), 0);
            free(a.bytes);
            free(b.bytes);
        }
}
END_TEST

/* [O-3] */
START_TEST(an_array_equals_the_tuple_of_its_elements)
{
    expect_equal("4a 02 85 86", "44 03 02 00 05 06");                /* uint8 */
    expect_equal("4a 02 85 86", "44 05 02 05 0005 0006");            /* int16 */
    expect_equal("4a 02 85 86", "40 04 02 00 05 04 06");             /* tuple-8 */
    expect_equal("48 00", "44 01 00 03");                            /* no elements */
    expect_equal("4a 04 21 61 21 62", "44 04 02 18 01 61 62");       /* utf8 of 1 */
    expect_equal("4a 02 20 20", "44 02 02 18 00");                   /* utf8 of 0 */
    expect_equal("4a 06 15 0001 15 0002", "44 05 02 15 0001 0002");  /* tau */
    expect_equal("4a 06 49 01 81 49 01 82", "44 04 02 49 01 81 82"); /* fixtuples */
    expect_equal("4a 0a 4a 03 81 21 61 4b 03 81 82 83",              /* tuples */
                 "44 0a 02 40 03 02 81 21 61 03 81 82 83");
    expect_equal("4a 08 4a 02 81 82 4a 02 83 84", /* arrays */
                 "44 08 02 44 02 02 00 01 02 03 04");
    expect_order("44 03 02 00 05 06", -1, "4b 03 85 86 80");
    expect_order("44 03 02 00 05 06", 1, "4a 02 85 85");
}
END_TEST

/* [O-3] Arrays of one typecode may be compared as they lie; this must not be seen. */
START_TEST(arrays_of_one_typecode_are_ordered_by_their_elements)
{
    EXPECT_ASCENDING("44 01 00 00", "44 02 01 00 05", "44 03 02 00 05 05", "44 02 01 00 06");
    EXPECT_ASCENDING("44 03 02 04 ff 00", "44 02 01 04 00", "44 02 01 04 7f"); /* int8 */
    EXPECT_ASCENDING("44 05 01 08 ff800000", "44 05 01 08 bfc00000", "44 05 01 08 3fc00000");
    EXPECT_ASCENDING("44 05 02 01 00ff 0100", "44 03 01 01 0100", "44 03 01 01 ff00");
    EXPECT_ASCENDING("44 09 01 0b 00000001 ffffffff", "44 09 01 0b 00000002 00000000");
    EXPECT_ASCENDING("44 02 00 18 00", "44 02 01 18 00", "44 02 03 18 00"); /* "" three times */
    EXPECT_ASCENDING("44 06 02 1c 02 6161 6161", "44 06 02 1c 02 6161 6162", "44 04 01 1c 02 6162");
    EXPECT_ASCENDING("44 06 01 44 02 02 00 01 02", "44 08 02 44 02 02 00 01 02 00 00",
                     "44 06 01 44 02 02 00 01 03"); /* arrays of arrays of uint8 */
    EXPECT_ASCENDING("44 06 01 44 02 02 04 ff 02", "44 06 01 44 02 02 04 01 02"); /* of int8 */
    expect_equal("44 05 01 08 00000000", "44 05 01 08 80000000");                 /* 0 and -0 */
}
END_TEST

static void expect_element(const char *container, uint64_t k, const char *value)
{
    held a = of(container), b = of(value), element = a;
    ck_assert_int_eq(u9_value_at(&a.v, k, &element.v), U9_OK);
    ck_assert_int_eq(compared(&element, &b), 0);
    free(a.bytes);
    free(b.bytes);
}

/* [O-1] [O-4] It has no bytecode of its own. */
START_TEST(an_element_of_an_array_is_a_value_like_any)
{
    expect_element("44 05 02 05 0005 fffe", 1, "04 fe");                           /* int16 */
    expect_element("44 05 01 08 3fc00000", 0, "09 3ff8000000000000");              /* float32 */
    expect_element("44 04 02 18 01 61 62", 1, "21 62");                            /* utf8 */
    expect_element("44 08 02 44 02 02 00 01 02 03 04", 1, "4a 02 83 84");          /* array */
    expect_element("44 0a 02 40 03 02 81 21 61 03 81 82 83", 0, "4a 03 81 21 61"); /* tuple */
}
END_TEST

/* [O-3] What an index holds is not looked at. */
START_TEST(indexes_in_front_play_no_part)
{
    expect_equal("4a 02 81 82", "54 00 4a 02 81 82");
    expect_equal("4a 02 81 82", "54 02 ffff 51 0001 80 44 03 02 00 01 02");
    expect_equal("4a 06 4a 02 81 82 81 81", "4a 08 54 00 4a 02 81 82 81 81");
    expect_order("54 00 4a 02 81 82", -1, "4a 02 81 83");
}
END_TEST

/* [O-5] */
START_TEST(a_container_ends_where_its_bytes_are_no_value)
{
    expect_equal("49 01 81", "4c 04 81 0c 82 83");       /* a reserved bytecode */
    expect_equal("49 01 81", "4c 04 81 7f 82 83");       /* another */
    expect_equal("49 01 81", "4b 04 81 25 61 62");       /* a text that passes the end */
    expect_equal("49 01 81", "4a 04 81 4a 05 82");       /* a tuple that does */
    expect_equal("49 01 81", "4a 04 81 44 01 02");       /* an array torn in its head */
    expect_equal("49 01 81", "4b 06 81 44 02 02 00 01"); /* l, n and typecode do not fit */
    expect_equal("49 01 81", "4b 06 81 44 02 01 10 01"); /* no typecode */
    expect_equal("49 01 81", "4a 03 81 54 00");          /* an index without a container */
    expect_equal("48 00", "4a 02 0c 81");
}
END_TEST

/* [O-5] The outer one goes on behind it. */
START_TEST(a_malformed_container_ends_alone)
{
    expect_equal("4a 04 49 01 81 82", "4a 05 4a 02 81 0c 82");
    expect_equal("4a 05 49 01 81 48 00", "44 06 02 49 02 81 0c 0c 81"); /* fixtuples in an array */
}
END_TEST

/* [O-5] A tuple of 2 elements has them, whatever count it claims. */
START_TEST(the_claimed_count_of_a_tuple_plays_no_part)
{
    expect_equal("4a 02 81 82", "4f 02 81 82");
    expect_equal("4a 02 81 82", "40 02 00 81 82");
    expect_equal("4a 02 81 82", "43 0000000000000002 ffffffffffffffff 81 82");
}
END_TEST

/* `depth` tuples around `size` bytes of elements; each claims one. */
static held nested(unsigned depth, const char *elements, size_t size)
{
    uint8_t bytes[8 * (U9_DEPTH_MAX + 1)];
    size_t at = sizeof bytes - size;
    memcpy(bytes + at, elements, size);
    while (depth-- > 0) {
        size_t l = sizeof bytes - at;
        const uint8_t head[5] = {0x41, (uint8_t)(l >> 8), (uint8_t)l, 0, 1};
        at -= sizeof head;
        memcpy(bytes + at, head, sizeof head);
    }
    return hold(bytes + at, sizeof bytes - at);
}

static void expect_nested(unsigned depth, const char *a, int c, const char *b)
{
    held x = nested(depth, a, strlen(a)), y = nested(depth, b, strlen(b));
    ck_assert_int_eq(compared(&x, &y), c);
    ck_assert((u9_value_hash(&x.v) == u9_value_hash(&y.v)) == (c == 0));
    free(x.bytes);
    free(y.bytes);
}

/* [O-5] [V-8] */
START_TEST(a_container_inside_64_others_has_no_elements)
{
    expect_nested(U9_DEPTH_MAX, "\x81", -1, "\x82");
    expect_nested(U9_DEPTH_MAX, "", -1, "\x81");
    expect_nested(U9_DEPTH_MAX, "\x81\x81", -1, "\x81\x82");
    expect_nested(U9_DEPTH_MAX + 1, "\x81", 0, "\x82");
    expect_nested(U9_DEPTH_MAX + 1, "", 0, "\x81\x82");
    expect_nested(U9_DEPTH_MAX, "\x49\x01\x81\x81", -1, "\x49\x01\x80\x82");
    expect_nested(U9_DEPTH_MAX, "\x49\x01\x81", 0, "\x44\x02\x01\x04\xff"); /* an array there */
}
END_TEST

/* [O-5] Arrays in an array's typecode are containers, too: here the inner ones are the 65th. */
START_TEST(an_array_inside_64_others_has_no_elements)
{
    const char *one = "\x44\x06\x01\x44\x01\x01\x1c\x01\x61",
               *two = "\x44\x06\x01\x44\x01\x01\x1c\x01\x62";
    expect_nested(U9_DEPTH_MAX - 2, one, -1, two);
    expect_nested(U9_DEPTH_MAX - 1, one, 0, two);
    expect_nested(U9_DEPTH_MAX - 1, one, 0, "\x49\x03\x49\x01\x81");
}
END_TEST

/* Two readings of a tree, from its last node to its first. For each node: the number of its domain,
 * what it holds, and an end where it needs one. `sorted`: memcmp orders them as the values are.
 * Else they are projections as they stand in a sequence. */
typedef struct model {
    bool sorted;
    size_t used;
    struct {
        size_t at, size;
    } nodes[GEN_NODES];
    uint8_t bytes[1 << 20];
} model;

static model sort_key, projection;

static const uint8_t model_domains[] = {1, 2, 3, 4, 5, 5, 6, 7, 8}; /* by gen_kind */

static void put(model *m, const void *bytes, size_t size)
{
    ck_assert_uint_le(size, sizeof m->bytes - m->used);
    if (size > 0) memcpy(m->bytes + m->used, bytes, size);
    m->used += size;
}

static void put_number(model *m, uint64_t v, unsigned width)
{
    for (unsigned i = width; i-- > 0;) put(m, &(uint8_t){(uint8_t)(v >> 8 * i)}, 1);
}

static void put_float(model *m, uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    if (d != d) bits = UINT64_MAX;
    else if (d == 0) bits = UINT64_C(1) << 63;
    else if (d < 0) bits = ~bits;
    else bits |= UINT64_C(1) << 63;
    put_number(m, bits, 8);
}

/* Sorted: 00 within is 00 ff and the end is 00 00, so that a shorter one comes first. */
static void put_text(model *m, const gen_node *v)
{
    if (!m->sorted) put_number(m, v->size, 8);
    for (unsigned i = 0; i < v->size; i++) {
        put(m, v->bytes + i, 1);
        if (m->sorted && v->bytes[i] == 0) put_number(m, 0xff, 1);
    }
    if (m->sorted) put_number(m, 0, 2);
}

static void put_node(model *m, const gen_node *v)
{
    put_number(m, model_domains[v->kind], 1);
    switch (v->kind) {
    case GEN_INT:
        put_number(m, !v->negative, 1);
        put_number(m, v->number, 8);
        break;
    case GEN_FLOAT: put_float(m, v->number); break;
    case GEN_SYMBOL: put(m, v->bytes, 8); break;
    case GEN_PIDFD: put_number(m, v->number, 8); break;
    case GEN_GREEK: put_number(m, v->number, 1); break;
    case GEN_TAU:
        put_number(m, 5, 1);
        put_number(m, v->number, 8);
        break;
    case GEN_UTF8:
    case GEN_BYTES: put_text(m, v); break;
    case GEN_SEQ:
        for (unsigned k = v->first; k < v->first + v->count; k++)
            put(m, m->bytes + m->nodes[k].at, m->nodes[k].size);
        put_number(m, 0, 1);
        break;
    }
}

/* The bytes of the whole, as if it stood in a sequence; borrowed from the model. */
static const uint8_t *model_make(model *m, bool sorted, const gen_tree *t, size_t *size)
{
    m->sorted = sorted;
    m->used = 0;
    for (unsigned i = t->count; i-- > 0;) {
        m->nodes[i].at = m->used;
        put_node(m, &t->nodes[i]);
        m->nodes[i].size = m->used - m->nodes[i].at;
    }
    *size = m->nodes[0].size;
    return m->bytes + m->nodes[0].at;
}

/* [O-4] */
static uint64_t model_hash(const gen_tree *t)
{
    size_t size;
    const uint8_t *bytes = model_make(&projection, false, t, &size);
    gen_kind kind = t->nodes[0].kind;
    size_t head = kind == GEN_UTF8 || kind == GEN_BYTES ? 9 : 1, end = kind == GEN_SEQ;
    return XXH3_64bits_withSeed(bytes + head, size - head - end, model_domains[kind]);
}

static int model_compare(const gen_tree *a, const gen_tree *b)
{
    static uint8_t first[sizeof sort_key.bytes];
    size_t a_size, b_size;
    const uint8_t *made = model_make(&sort_key, true, a, &a_size);
    memcpy(first, made, a_size);
    const uint8_t *second = model_make(&sort_key, true, b, &b_size);
    int c = memcmp(first, second, a_size < b_size ? a_size : b_size);
    return c != 0 ? sign(c) : (a_size > b_size) - (a_size < b_size);
}

static held encoded(rng *r, const gen_tree *t)
{
    static uint8_t buf[ROOM];
    size_t size = gen_tree_encode(r, t, buf, sizeof buf);
    ck_assert_uint_gt(size, 0);
    return hold(buf, size);
}

/* Two values that are often close to one another. */
static void some_pair(rng *r, gen_tree *a, gen_tree *b)
{
    unsigned depth = (unsigned)rng_below(r, 6);
    gen_tree_make(r, a, 1u << rng_below(r, 7), rng_below(r, 32) ? depth : U9_DEPTH_MAX);
    *b = *a;
    if (rng_below(r, 4) == 0) gen_tree_make(r, b, 1u << rng_below(r, 7), depth);
    for (uint64_t k = rng_below(r, 3); k > 0; k--) gen_tree_vary(r, b);
}

/* [O-1] [O-2] [O-3] */
START_TEST(the_order_is_the_model_s_whatever_the_encoding)
{
    static gen_tree a, b;
    rng r = {11};
    unsigned count[3] = {0};
    for (unsigned k = 0; k < ROUNDS; k++) {
        some_pair(&r, &a, &b);
        held x = encoded(&r, &a), y = encoded(&r, &b), z = encoded(&r, &a);
        int c = model_compare(&a, &b);
        ck_assert_int_eq(compared(&x, &y), c);
        ck_assert_int_eq(compared(&z, &y), c);
        ck_assert_int_eq(compared(&x, &z), 0);
        count[c + 1]++;
        free(x.bytes);
        free(y.bytes);
        free(z.bytes);
    }
    for (unsigned c = 0; c < 3; c++) ck_assert_uint_gt(count[c], ROUNDS / 8);
}
END_TEST

/* [O-4] */
START_TEST(the_hash_is_that_of_the_projection_whatever_the_encoding)
{
    static gen_tree t;
    rng r = {12};
    for (unsigned k = 0; k < ROUNDS; k++) {
        gen_tree_make(&r, &t, 1u << rng_below(&r, 10), (unsigned)rng_below(&r, U9_DEPTH_MAX));
        held x = encoded(&r, &t), y = encoded(&r, &t);
        uint64_t hash = model_hash(&t);
        ck_assert_uint_eq(u9_value_hash(&x.v), hash);
        ck_assert_uint_eq(u9_value_hash(&y.v), hash);
        free(x.bytes);
        free(y.bytes);
    }
}
END_TEST

/* [O-4] Of text, bytes and sequences, around the sizes where XXH3 changes its ways. */
START_TEST(every_size_hashes_right)
{
    static uint8_t tuple[8 + 10 * 200], blob[5 + 1200];
    for (unsigned n = 0; n < 200; n++) {
        gen_tree t = {.count = n + 1, .nodes = {{.kind = GEN_SEQ, .first = 1, .count = n}}};
        const uint8_t head[5] = {0x41, (uint8_t)(n >> 8), (uint8_t)n, (uint8_t)(n >> 8),
                                 (uint8_t)n};
        memcpy(tuple, head, sizeof head);
        for (unsigned k = 0; k < n; k++) {
            t.nodes[1 + k] = (gen_node){.kind = GEN_INT, .number = k % 128, .depth = 1};
            tuple[5 + k] = (uint8_t)(0x80 + k % 128);
        }
        held x = hold(tuple, 5 + n);
        ck_assert_uint_eq(u9_value_hash(&x.v), model_hash(&t));
        free(x.bytes);
    }
    for (unsigned n = 0; n <= 1200; n++) {
        const uint8_t head[3] = {n % 2 ? 0x19 : 0x1d, (uint8_t)(n >> 8), (uint8_t)n};
        memcpy(blob, head, sizeof head);
        for (unsigned k = 0; k < n; k++) blob[3 + k] = (uint8_t)(k * 7 + n);
        held x = hold(blob, 3 + n);
        ck_assert_uint_eq(u9_value_hash(&x.v), XXH3_64bits_withSeed(blob + 3, n, n % 2 ? 6 : 7));
        free(x.bytes);
    }
}
END_TEST

static int by_value(const void *a, const void *b)
{
    return u9_value_compare(&((const held *)a)->v, &((const held *)b)->v);
}

/* [O-1] [O-2] [O-3] Total and transitive: in a sorted list each comes before all behind it. */
START_TEST(values_sort)
{
    enum { COUNT = 600 };
    static held list[COUNT], again[COUNT];
    static gen_tree t;
    rng r = {13};
    for (unsigned i = 0; i < COUNT; i++) {
        if (i % 4 == 0) gen_tree_make(&r, &t, 1u << rng_below(&r, 5), 3);
        if (i % 4 > 1) gen_tree_vary(&r, &t);
        list[i] = encoded(&r, &t);
        again[i] = list[i];
    }
    qsort(list, COUNT, sizeof list[0], by_value);
    for (unsigned i = COUNT - 1; i > 0; i--) { /* the same in another order */
        unsigned k = (unsigned)rng_below(&r, i + 1);
        held swapped = again[i];
        again[i] = again[k];
        again[k] = swapped;
    }
    qsort(again, COUNT, sizeof again[0], by_value);
    unsigned equal = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        ck_assert_int_eq(compared(&list[i], &again[i]), 0);
        for (unsigned k = i + 1; k < COUNT; k++) {
            int c = compared(&list[i], &list[k]);
            ck_assert_int_le(c, 0);
            equal += c == 0;
        }
    }
    ck_assert_uint_gt(equal, COUNT / 8);
    for (unsigned i = 0; i < COUNT; i++) free(list[i].bytes);
}
END_TEST

/* [O-5] Bytes flipped, lengths that lie: what still begins like a value has its place. */
START_TEST(damaged_values_have_a_place_and_a_hash)
{
    static gen_tree a, b;
    rng r = {14};
    held last = of("80");
    unsigned damaged = 0;
    for (unsigned k = 0; k < ROUNDS; k++) {
        some_pair(&r, &a, &b);
        held x = encoded(&r, &a), y = encoded(&r, &b);
        uint8_t *byte = &y.bytes[rng_below(&r, y.size)];
        *byte = (uint8_t)(rng_below(&r, 2) ? *byte + 1 - 2 * rng_below(&r, 2) : rng_next(&r));
        if (u9_value_decode(y.bytes, y.size, &y.v) == U9_OK) {
            int c = compared(&x, &y), d = compared(&y, &last), e = compared(&x, &last);
            if (c == d) ck_assert_int_eq(e, c); /* transitive */
            if (c == 0) ck_assert_int_eq(e, d);
            if (d == 0) ck_assert_int_eq(e, c);
            damaged += u9_value_check(y.bytes, y.size, NULL, NULL) != U9_OK;
        }
        free(last.bytes);
        free(y.bytes);
        last = x;
    }
    free(last.bytes);
    ck_assert_uint_gt(damaged, ROUNDS / 32);
}
END_TEST

/* A row of SPEC-values.md's table of examples. */
typedef struct row {
    unsigned rank, domain;
    held value;
    bool has_projection;
    size_t size;
    uint8_t projection[ROW_ROOM];
    uint64_t hash;
} row;

static row rows[ROWS_MAX];
static unsigned row_count;

/* The hex between the backticks of a cell, without spaces; "" if there are none. */
static void take_hex(const char *cell, char *out)
{
    const char *c = strchr(cell, '`');
    while (c && *++c && *c != '`') {
        if (*c == ' ') continue;
        ck_assert_msg(strchr("0123456789abcdef", *c) != NULL, "not hex: %s", cell);
        *out++ = *c;
    }
    *out = '\0';
}

/* | rank | value | `bytes` | domain | `projection`, "none", or its size | `hash` | */
static void take_row(char *line)
{
    char *cells[6], hex[2 * ROW_ROOM];
    uint8_t bytes[ROW_ROOM];
    row *x = &rows[row_count++];
    ck_assert_uint_lt(row_count, ROWS_MAX);
    ck_assert_uint_lt(strlen(line), sizeof hex);
    for (unsigned i = 0; i < 6; i++) cells[i] = strtok(i == 0 ? line : NULL, "|");
    ck_assert(cells[5] != NULL);
    x->rank = (unsigned)strtoul(cells[0], NULL, 10);
    take_hex(cells[2], hex);
    x->value = hold(bytes, unhex(hex, bytes));
    x->domain = (unsigned)strtoul(cells[3], NULL, 10);
    take_hex(cells[4], hex);
    x->has_projection = hex[0] || strstr(cells[4], "none");
    x->size = hex[0] ? unhex(hex, x->projection) : strtoul(cells[4], NULL, 10);
    take_hex(cells[5], hex);
    ck_assert_uint_eq(strlen(hex), 16);
    x->hash = strtoull(hex, NULL, 16);
}

static void read_spec(void)
{
    FILE *file = fopen("SPEC-values.md", "r");
    ck_assert_ptr_nonnull(file);
    static char line[4096];
    bool inside = false, table = false;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "## ", 3) == 0) inside = strncmp(line, "## Order and hashes", 19) == 0;
        if (inside && table && line[0] == '|' && line[2] != '-') take_row(line);
        table = inside && (table ? line[0] == '|' : strncmp(line, "| rank |", 8) == 0);
    }
    fclose(file);
    ck_assert_uint_ge(row_count, 16);
}

static void free_rows(void)
{
    while (row_count > 0) free(rows[--row_count].value.bytes);
}

/* [O-1] [O-2] [O-3] */
START_TEST(the_examples_are_in_order)
{
    for (unsigned i = 0; i < row_count; i++)
        for (unsigned k = 0; k < row_count; k++) {
            int c = (rows[i].rank > rows[k].rank) - (rows[i].rank < rows[k].rank);
            ck_assert_msg(compared(&rows[i].value, &rows[k].value) == c, "rows %u, %u", i, k);
        }
}
END_TEST

/* [O-4] */
START_TEST(the_examples_have_their_hashes)
{
    bool domains[9] = {false};
    for (unsigned i = 0; i < row_count; i++) {
        const row *x = &rows[i];
        ck_assert_msg(u9_value_check(x->value.bytes, x->value.size, NULL, NULL) == U9_OK, "row %u",
                      i);
        ck_assert_msg(u9_value_hash(&x->value.v) == x->hash, "row %u", i);
        if (x->has_projection)
            ck_assert_uint_eq(XXH3_64bits_withSeed(x->projection, x->size, x->domain), x->hash);
        ck_assert(x->domain >= 1 && x->domain <= 8);
        domains[x->domain] = true;
    }
    for (unsigned d = 1; d <= 8; d++) ck_assert_msg(domains[d], "no example of domain %u", d);
}
END_TEST

Suite *suite_value_order(void)
{
    Suite *s = suite_create("value_order");
    TCase *order = tcase_create("order"), *unproved = tcase_create("unproved");
    tcase_add_test(order, domains_come_in_a_fixed_order);
    tcase_add_test(order, integers_of_all_widths_are_one_domain);
    tcase_add_test(order, a_large_uint_is_no_negative_int);
    tcase_add_test(order, floats_are_ordered_by_number);
    tcase_add_test(order, both_zeros_are_equal);
    tcase_add_test(order, all_nans_are_equal);
    tcase_add_test(order, symbols_and_pidfds_are_ordered_by_their_bytes);
    tcase_add_test(order, greek_is_ordered_from_alpha_to_tau);
    tcase_add_test(order, texts_and_bytes_are_ordered_byte_by_byte);
    tcase_add_test(order, sequences_are_ordered_element_by_element);
    tcase_add_test(order, sequences_of_the_same_atoms_in_other_shapes_have_other_hashes);
    tcase_add_test(order, an_array_equals_the_tuple_of_its_elements);
    tcase_add_test(order, arrays_of_one_typecode_are_ordered_by_their_elements);
    tcase_add_test(order, an_element_of_an_array_is_a_value_like_any);
    tcase_add_test(order, indexes_in_front_play_no_part);
    suite_add_tcase(s, order);
    tcase_add_test(unproved, a_container_ends_where_its_bytes_are_no_value);
    tcase_add_test(unproved, a_malformed_container_ends_alone);
    tcase_add_test(unproved, the_claimed_count_of_a_tuple_plays_no_part);
    tcase_add_test(unproved, a_container_inside_64_others_has_no_elements);
    tcase_add_test(unproved, an_array_inside_64_others_has_no_elements);
    tcase_add_test(unproved, damaged_values_have_a_place_and_a_hash);
    suite_add_tcase(s, unproved);
    TCase *model_case = tcase_create("model"), *examples = tcase_create("examples");
    tcase_add_test(model_case, the_order_is_the_model_s_whatever_the_encoding);
    tcase_add_test(model_case, the_hash_is_that_of_the_projection_whatever_the_encoding);
    tcase_add_test(model_case, every_size_hashes_right);
    tcase_add_test(model_case, values_sort);
    suite_add_tcase(s, model_case);
    tcase_add_checked_fixture(examples, read_spec, free_rows);
    tcase_add_test(examples, the_examples_are_in_order);
    tcase_add_test(examples, the_examples_have_their_hashes);
    suite_add_tcase(s, examples);
    return s;
}
