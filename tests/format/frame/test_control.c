/*
 * tests/format/frame/test_control.c: the control records. Each test of forms runs over a sample of every
 * record; `layout` is its table in SPEC.md, written once more and independently of the code.
 */
#include "format/frame/control.h"
#include "tests/format/frame/forge.h"
#include "tests/suites.h"

#include <stdlib.h>
#include <u9/value.h>

enum { ROOM = 2048 };

typedef enum table { OPEN, END, TRIM, PART, MARK, PAGE_16, PAGE_8, ROOT, SAMPLES } table;

/*
 * h H  tuple head with 2 or 4 bytes of length and of count
 * N    the record's name         s  another symbol      o d q  uint8, uint32, uint64
 * b    bytes16                   t  text                y      bytes with a 4-byte length
 * v    a key, in any form        A  an array
 */
static const struct {
    const char *name, *layout;
    unsigned elements;
} tables[SAMPLES] = {
    [OPEN] = {"u9open", "hNbbqqqqbbqqbot", 14}, /* [C-3] */
    [END] = {"u9end", "hNoqqqqqqbtvv", 12},     /* [C-4] */
    [TRIM] = {"u9trim", "hNqq", 3},             /* [C-5] */
    [PART] = {"u9part", "HNdqqy", 5},           /* [C-6] */
    [MARK] = {"u9mark", "hNbqqbbqqbq", 10},     /* [C-8] */
    [PAGE_16] = {"u9page", "HNsAA", 4},         /* [C-7] */
    [PAGE_8] = {"u9page", "HNsAA", 4},
    [ROOT] = {"u9page", "HNsAAq", 5},
};

typedef struct sample {
    table which;
    size_t size;
    uint8_t bytes[ROOM];
} sample;

static const uint8_t numbers[64] = {
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10,
    0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20,
    0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x30,
    0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f, 0x40};
static const uint8_t key_muid[18] = {0x1c, 0x10, 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6,
                                     0xd7, 0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf};
static const uint8_t key_none[1] = {0x30};
static const u9i_span muid_kind = {(const uint8_t *)"muid", 4};

static u9i_open_record sample_open(void)
{
    u9i_open_record r = {.segment = 0x0102030405060708,
                  .time_us = 0x1112131415161718,
                  .medallion = 0x2122232425262728,
                  .before_segment = 0x0002030405060707,
                  .end = {.offset = 0x4142434445464748, .ordinal = 0x5152535455565758},
                  .tail = U9I_TAIL_TORN,
                  .kind = muid_kind};
    memset(r.log, 0xa1, 16);
    memset(r.session, 0xa2, 16);
    memset(r.before_boundary, 0xa3, 16);
    memset(r.before_secret, 0xa4, 16);
    memset(r.end.chain, 0xa5, 16);
    return r;
}

static u9i_end_record sample_close(void)
{
    u9i_end_record r = {.kind = U9I_END_SEALING,
                   .segment = 0x0102030405060708,
                   .frames = 0x1112131415161718,
                   .records = 0x2122232425262728,
                   .bytes = 0x3132333435363738,
                   .data_end = 0x4142434445464748,
                   .root = 0x5152535455565758,
                   .key_kind = muid_kind,
                   .first_key = {key_muid, sizeof key_muid},
                   .last_key = {key_none, sizeof key_none}};
    memset(r.secret, 0xa6, 16);
    return r;
}

static u9i_part_record sample_part(void)
{
    return (u9i_part_record){.number = 0x01020304,
                      .total = 0x1112131415161718,
                      .before = 0x2122232425262728,
                      .bytes = {numbers, 40}};
}

static u9i_mark_record sample_mark(void)
{
    u9i_mark_record r = {.first_ordinal = 0x0102030405060708,
                         .segment = 0x1112131415161718,
                         .end = {.offset = 0x2122232425262728, .ordinal = 0x3132333435363738},
                         .time_us = 0x4142434445464748};
    memset(r.log, 0xb1, 16);
    memset(r.boundary, 0xb2, 16);
    memset(r.secret, 0xb3, 16);
    memset(r.end.chain, 0xb4, 16);
    return r;
}

static u9i_page_record sample_page(table which)
{
    u9i_page_record r = {.keyspec = "k",
                  .key_size = which == PAGE_16 ? 16 : 8,
                  .count = 2,
                  .keys = numbers,
                  .at = numbers + 40};
    if (which == ROOT) {
        memcpy(r.keyspec, "u9kh\0\0\0", 8);
        r.has_seed = true;
        r.seed = 0x6162636465666768;
    }
    return r;
}

static void encode_sample(table which, u9i_out *out)
{
    u9i_open_record open = sample_open();
    u9i_end_record close = sample_close();
    u9i_trim_record trim = {.segment = 0x0102030405060708, .ordinal = 0x1112131415161718};
    u9i_part_record part = sample_part();
    u9i_mark_record mark = sample_mark();
    u9i_page_record page = sample_page(which);
    switch (which) {
    case OPEN: u9i_open_record_encode(out, &open); break;
    case END: u9i_end_record_encode(out, &close); break;
    case TRIM: u9i_trim_record_encode(out, &trim); break;
    case PART: u9i_part_record_encode(out, &part); break;
    case MARK: u9i_mark_record_encode(out, &mark); break;
    case PAGE_16:
    case PAGE_8:
    case ROOT:
    case SAMPLES: u9i_page_record_encode(out, &page); break;
    }
}

static sample make_sample(table which)
{
    sample s = {.which = which};
    u9i_out out = u9i_out_init(s.bytes, sizeof s.bytes);
    encode_sample(which, &out);
    ck_assert(!out.failed);
    s.size = out.size;
    return s;
}

/* Each decoder, then the encoder with what came out; a refusal must leave the struct as it was. */
#define RECODE(type, decode, encode)                     \
    do {                                                 \
        type r, as_it_was;                               \
        memset(&r, 0x5a, sizeof r);                      \
        memcpy(&as_it_was, &r, sizeof r);                \
        err = decode(body, size, &r);                    \
        if (err == U9_OK) encode(again, &r);             \
        else ck_assert_mem_eq(&r, &as_it_was, sizeof r); \
    } while (0)

static u9_err recode_here(table which, const uint8_t *body, size_t size, u9i_out *again)
{
    u9_err err = U9_OK;
    switch (which) {
    case OPEN: RECODE(u9i_open_record, u9i_open_record_decode, u9i_open_record_encode); break;
    case END: RECODE(u9i_end_record, u9i_end_record_decode, u9i_end_record_encode); break;
    case TRIM: RECODE(u9i_trim_record, u9i_trim_record_decode, u9i_trim_record_encode); break;
    case PART: RECODE(u9i_part_record, u9i_part_record_decode, u9i_part_record_encode); break;
    case MARK: RECODE(u9i_mark_record, u9i_mark_record_decode, u9i_mark_record_encode); break;
    case PAGE_16:
    case PAGE_8:
    case ROOT:
    case SAMPLES: RECODE(u9i_page_record, u9i_page_record_decode, u9i_page_record_encode); break;
    }
    return err;
}

static u9_err recode(const sample *s, sample *again)
{
    *again = (sample){.which = s->which};
    u9i_out out = u9i_out_init(again->bytes, sizeof again->bytes);
    uint8_t *body = exact_copy(s->bytes, s->size);
    u9_err err = recode_here(s->which, body, s->size, &out);
    again->size = out.size;
    ck_assert(!out.failed);
    free(body);
    return err;
}

static void expect_refused(const sample *s)
{
    sample again;
    ck_assert_int_eq(recode(s, &again), U9_CORRUPT);
}

/* Accepted, and read as if it were `like`. */
static void expect_like(const sample *s, const sample *like)
{
    sample again;
    ck_assert_int_eq(recode(s, &again), U9_OK);
    ck_assert_uint_eq(again.size, like->size);
    ck_assert_mem_eq(again.bytes, like->bytes, like->size);
}

static unsigned width_of(const sample *s)
{
    return tables[s->which].layout[0] == 'h' ? 2 : 4;
}

/* Sets the tuple's count, and its length to what is there. */
static void mend_head(sample *s, unsigned count)
{
    unsigned w = width_of(s);
    u9i_set_be(s->bytes + 1, w, s->size - 1 - 2 * w);
    u9i_set_be(s->bytes + 1 + w, w, count);
}

static void append(sample *s, const void *bytes, size_t size)
{
    ck_assert_uint_le(s->size + size, ROOM);
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
}

/* A walk over a sample by its layout asserts that the bytecodes are there, marks them and all
 * lengths and counts in `fixed`, and notes where each element begins. */
typedef struct walked {
    bool fixed[ROOM];
    size_t element[16];
    unsigned elements;
} walked;

static void fix(walked *w, const sample *s, size_t *at, uint8_t code, unsigned more)
{
    ck_assert_uint_eq(s->bytes[*at], code);
    for (unsigned i = 0; i <= more; i++) w->fixed[(*at)++] = true;
}

static void fix_array(walked *w, const sample *s, size_t *at)
{
    uint64_t length = u9i_get_be(s->bytes + *at + 1, 4), count = u9i_get_be(s->bytes + *at + 5, 4);
    fix(w, s, at, 0x46, 8);
    size_t begin = *at, element = 8;
    if (s->bytes[*at] == 0x1c) {
        fix(w, s, at, 0x1c, 0);
        fix(w, s, at, 0x10, 0);
        element = 16;
    } else {
        fix(w, s, at, w->elements == 3 ? 0x03 : 0x07, 0);
    }
    ck_assert_uint_eq(length, *at - begin + count * element);
    *at = begin + (size_t)length;
}

static void fix_element(walked *w, const sample *s, size_t *at, char form)
{
    size_t n = 0;
    u9_value v;
    switch (form) {
    case 'N':
        ck_assert_str_eq((const char *)s->bytes + *at + 1, tables[s->which].name);
        fix(w, s, at, 0x0a, 8);
        break;
    case 's': fix(w, s, at, 0x0a, 0), n = 8; break;
    case 'o': fix(w, s, at, 0x00, 0), n = 1; break;
    case 'd': fix(w, s, at, 0x02, 0), n = 4; break;
    case 'q': fix(w, s, at, 0x03, 0), n = 8; break;
    case 'b': fix(w, s, at, 0x1c, 0), fix(w, s, at, 0x10, 0), n = 16; break;
    case 't': n = (size_t)u9i_get_be(s->bytes + *at + 1, 2), fix(w, s, at, 0x19, 2); break;
    case 'y': n = (size_t)u9i_get_be(s->bytes + *at + 1, 4), fix(w, s, at, 0x1e, 4); break;
    case 'A': fix_array(w, s, at); break;
    case 'v':
        ck_assert_int_eq(u9_value_decode(s->bytes + *at, s->size - *at, &v), U9_OK);
        n = v.encoded;
        break;
    default: ck_abort_msg("no such form: %c", form);
    }
    *at += n;
}

static walked walk_sample(const sample *s)
{
    walked w = {.elements = 0};
    unsigned width = width_of(s);
    size_t at = 0;
    fix(&w, s, &at, width == 2 ? 0x41 : 0x42, 2 * width);
    ck_assert_uint_eq(u9i_get_be(s->bytes + 1, width), s->size - 1 - 2 * width);
    ck_assert_uint_eq(u9i_get_be(s->bytes + 1 + width, width), tables[s->which].elements);
    for (const char *form = tables[s->which].layout + 1; *form; form++) {
        w.element[w.elements] = at;
        w.elements++;
        fix_element(&w, s, &at, *form);
    }
    ck_assert_uint_eq(w.elements, tables[s->which].elements);
    ck_assert_uint_eq(at, s->size);
    return w;
}

/* [C-1] [C-3] [C-4] [C-5] [C-6] [C-7] */
START_TEST(a_control_record_has_the_forms_of_its_table)
{
    sample s = make_sample((table)_i);
    walk_sample(&s);
    ck_assert_int_eq(u9_value_check(s.bytes, s.size, NULL, NULL), U9_OK);
}
END_TEST

/* [C-1] */
START_TEST(a_control_record_is_decoded_to_what_was_encoded)
{
    sample s = make_sample((table)_i);
    expect_like(&s, &s);
}
END_TEST

/* [C-2] Forged: each bytecode, length, count and byte of the name, to each other value. */
START_TEST(a_control_record_with_another_bytecode_is_refused)
{
    const sample good = make_sample((table)_i);
    const walked w = walk_sample(&good);
    for (size_t at = 0; at < good.size; at++) {
        for (unsigned change = 1; w.fixed[at] && change <= 0xff; change++) {
            sample s = good;
            s.bytes[at] = (uint8_t)(s.bytes[at] ^ change);
            expect_refused(&s);
        }
    }
}
END_TEST

/* [C-2] Forged: the record's end. */
START_TEST(a_control_record_cut_at_any_byte_is_refused)
{
    const sample good = make_sample((table)_i);
    for (size_t size = 0; size < good.size; size++) {
        sample s = good;
        s.size = size;
        expect_refused(&s);
    }
}
END_TEST

/* [C-2] Forged: the record's end; its length is mended. */
START_TEST(a_control_record_whose_last_element_is_cut_is_refused)
{
    const sample good = make_sample((table)_i);
    for (size_t size = 1 + 2 * width_of(&good); size < good.size; size++) {
        sample s = good;
        s.size = size;
        mend_head(&s, tables[_i].elements);
        expect_refused(&s);
    }
}
END_TEST

/* [C-2] Forged: the elements from one on are gone; length and count are mended. */
START_TEST(a_control_record_with_fewer_elements_is_refused)
{
    const sample good = make_sample((table)_i);
    const walked w = walk_sample(&good);
    for (unsigned keep = 0; keep < w.elements; keep++) {
        sample s = good;
        s.size = w.element[keep];
        mend_head(&s, keep);
        if (_i == ROOT && keep == 4) continue; /* the seed: without it, it is a page */
        expect_refused(&s);
    }
}
END_TEST

/* [C-2] */
START_TEST(elements_that_a_later_version_added_are_ignored)
{
    static const uint8_t more[] = {0x87, 0x03, 1,    2,    3,    4,    5,    6,    7,
                                   8,    0x4a, 0x02, 0x81, 0x82, 0x22, 0x68, 0x69, 0x30,
                                   0x0a, 'u',  '9',  'l',  'a',  't',  'e',  'r',  0};
    static const size_t ends[] = {1, 10, 14, 17, 18, 27};
    const sample good = make_sample((table)_i);
    for (unsigned n = 0; n < 6; n++) {
        sample s = good;
        append(&s, more, ends[n]);
        mend_head(&s, tables[_i].elements + n + 1);
        expect_like(&s, &good);
    }
}
END_TEST

/* [C-3] What a session accepts stands behind all that a u9open has, if it is a uint64: of a later version it may be more. */
START_TEST(a_u9open_tells_up_to_where_unknown_ends_are_accepted)
{
    static const uint8_t seven[] = {0x03, 0, 0, 0, 0, 0, 0, 0, 7};
    uint8_t bytes[ROOM];
    u9i_open_record open = sample_open(), got;
    const sample good = make_sample(OPEN);
    open.accepted = 7;
    u9i_out out = u9i_out_init(bytes, sizeof bytes);
    u9i_open_record_encode(&out, &open);
    ck_assert(!out.failed);
    sample s = good;
    append(&s, seven, sizeof seven);
    mend_head(&s, tables[OPEN].elements + 1);
    ck_assert_uint_eq(out.size, s.size);
    ck_assert_mem_eq(bytes, s.bytes, s.size);
    for (unsigned more = 0; more < 3; more++) {
        ck_assert_int_eq(u9i_open_record_decode(s.bytes, s.size, &got), U9_OK);
        ck_assert_uint_eq(got.accepted, 7);
        append(&s, "\x87", 1);
        mend_head(&s, tables[OPEN].elements + 2 + more);
    }
    s = good;
    append(&s, "\x87", 1);
    append(&s, seven, sizeof seven);
    mend_head(&s, tables[OPEN].elements + 2);
    ck_assert_int_eq(u9i_open_record_decode(s.bytes, s.size, &got), U9_OK);
    ck_assert_uint_eq(got.accepted, 0);
    ck_assert_int_eq(u9i_open_record_decode(good.bytes, good.size, &got), U9_OK);
    ck_assert_uint_eq(got.accepted, 0);
    s = good;
    append(&s, seven, sizeof seven - 1); /* torn */
    mend_head(&s, tables[OPEN].elements + 1);
    expect_refused(&s);
}
END_TEST

/* [C-2] An added uint64 is not taken for the seed. */
START_TEST(only_a_root_with_hashes_has_a_seed)
{
    static const uint8_t more[] = {0x03, 1, 2, 3, 4, 5, 6, 7, 8};
    const sample good = make_sample(PAGE_8);
    sample s = good;
    append(&s, more, sizeof more);
    mend_head(&s, 5);
    expect_like(&s, &good);

    u9i_page_record page = sample_page(ROOT), out;
    page.has_seed = false; /* a page below a root */
    u9i_out bytes = u9i_out_init(s.bytes, sizeof s.bytes);
    u9i_page_record_encode(&bytes, &page);
    ck_assert_int_eq(u9i_page_record_decode(s.bytes, bytes.size, &out), U9_OK);
    ck_assert(!out.has_seed);
}
END_TEST

static u9i_page_record sample_root(void)
{
    static const uint8_t last[8] = {0xff};
    u9i_page_record page = sample_page(PAGE_8);
    page.has_root = true;
    page.root.form = U9I_INDEX_RECORDS;
    page.root.entries = 2;
    page.root.last = (u9i_span){.data = last, .size = sizeof last};
    page.root.slices = numbers;
    return page;
}

/* [C-9] Forged: an odd number of them. */
START_TEST(a_root_tells_where_records_were_lost)
{
    uint8_t bytes[ROOM];
    for (uint32_t n = 0; n <= 5; n++) {
        u9i_page_record page = sample_root(), out;
        page.root.lost = numbers;
        page.root.lost_count = n;
        memset(page.root.content, 0xc7, sizeof page.root.content);
        u9i_out body = u9i_out_init(bytes, sizeof bytes);
        u9i_page_record_encode(&body, &page);
        ck_assert(!body.failed);
        u9_err err = u9i_page_record_decode(bytes, body.size, &out);
        ck_assert_int_eq(err, n % 2 ? U9_CORRUPT : U9_OK);
        if (err != U9_OK) continue;
        ck_assert_uint_eq(out.root.lost_count, n);
        ck_assert(n == 0 || memcmp(out.root.lost, numbers, 8 * n) == 0);
        ck_assert(n == 0 || memcmp(out.root.content, page.root.content, sizeof page.root.content) == 0);
    }
}
END_TEST

/* [C-2] Forged: the count, above what is there. */
START_TEST(elements_that_are_claimed_and_not_there_are_refused)
{
    const sample good = make_sample((table)_i);
    for (unsigned n = 1; n <= 3; n++) {
        sample s = good;
        mend_head(&s, tables[_i].elements + n);
        expect_refused(&s);
    }
}
END_TEST

/* [C-2] Forged: bytes behind the last element. */
START_TEST(bytes_that_no_element_claims_are_refused)
{
    const sample good = make_sample((table)_i);
    sample s = good;
    append(&s, "\x87", 1);
    mend_head(&s, tables[_i].elements);
    expect_refused(&s);

    s = good;
    append(&s, "\x87\xff\xff", 3); /* one more claimed, three there */
    mend_head(&s, tables[_i].elements + 1);
    expect_refused(&s);
}
END_TEST

/* [C-2] Forged: a last element that is no value. */
START_TEST(added_elements_that_are_no_values_are_refused)
{
    static const char *const bad[] = {"\x58", "\x03\x01", "\x1c\x7f", "\x4a\x02\x81"};
    static const size_t size[] = {1, 2, 2, 3};
    const sample good = make_sample((table)_i);
    for (unsigned i = 0; i < 4; i++) {
        sample s = good;
        append(&s, bad[i], size[i]);
        mend_head(&s, tables[_i].elements + 1);
        expect_refused(&s);
    }
}
END_TEST

/* [C-3] */
START_TEST(an_open_record_tells_each_field)
{
    sample s = make_sample(OPEN);
    u9i_open_record want = sample_open(), r;
    ck_assert_int_eq(u9i_open_record_decode(s.bytes, s.size, &r), U9_OK);
    ck_assert_mem_eq(r.log, want.log, 16);
    ck_assert_mem_eq(r.session, want.session, 16);
    ck_assert_uint_eq(r.segment, want.segment);
    ck_assert_uint_eq(r.time_us, want.time_us);
    ck_assert_uint_eq(r.medallion, want.medallion);
    ck_assert_uint_eq(r.before_segment, want.before_segment);
    ck_assert_mem_eq(r.before_boundary, want.before_boundary, 16);
    ck_assert_mem_eq(r.before_secret, want.before_secret, 16);
    ck_assert_uint_eq(r.end.offset, want.end.offset);
    ck_assert_uint_eq(r.end.ordinal, want.end.ordinal);
    ck_assert_mem_eq(r.end.chain, want.end.chain, 16);
    ck_assert_int_eq(r.tail, want.tail);
    ck_assert_uint_eq(r.kind.size, 4);
    ck_assert_mem_eq(r.kind.data, "muid", 4);
}
END_TEST

/* [C-4] */
START_TEST(an_end_record_tells_each_field)
{
    sample s = make_sample(END);
    u9i_end_record want = sample_close(), r;
    ck_assert_int_eq(u9i_end_record_decode(s.bytes, s.size, &r), U9_OK);
    ck_assert_int_eq(r.kind, want.kind);
    ck_assert_uint_eq(r.segment, want.segment);
    ck_assert_uint_eq(r.frames, want.frames);
    ck_assert_uint_eq(r.records, want.records);
    ck_assert_uint_eq(r.bytes, want.bytes);
    ck_assert_uint_eq(r.data_end, want.data_end);
    ck_assert_uint_eq(r.root, want.root);
    ck_assert_mem_eq(r.secret, want.secret, 16);
    ck_assert_uint_eq(r.key_kind.size, 4);
    ck_assert_mem_eq(r.key_kind.data, "muid", 4);
    ck_assert_uint_eq(r.first_key.size, sizeof key_muid);
    ck_assert_mem_eq(r.first_key.data, key_muid, sizeof key_muid);
    ck_assert_uint_eq(r.last_key.size, 1);
    ck_assert_mem_eq(r.last_key.data, key_none, 1);
}
END_TEST

/* [C-5] */
START_TEST(a_trim_record_tells_each_field)
{
    sample s = make_sample(TRIM);
    u9i_trim_record r;
    ck_assert_int_eq(u9i_trim_record_decode(s.bytes, s.size, &r), U9_OK);
    ck_assert_uint_eq(r.segment, 0x0102030405060708);
    ck_assert_uint_eq(r.ordinal, 0x1112131415161718);
}
END_TEST

/* [C-8] */
START_TEST(a_mark_tells_each_field)
{
    sample s = make_sample(MARK);
    u9i_mark_record r, want = sample_mark();
    ck_assert_int_eq(u9i_mark_record_decode(s.bytes, s.size, &r), U9_OK);
    ck_assert_mem_eq(r.log, want.log, 16);
    ck_assert_uint_eq(r.first_ordinal, want.first_ordinal);
    ck_assert_uint_eq(r.segment, want.segment);
    ck_assert_mem_eq(r.boundary, want.boundary, 16);
    ck_assert_mem_eq(r.secret, want.secret, 16);
    ck_assert_uint_eq(r.end.offset, want.end.offset);
    ck_assert_uint_eq(r.end.ordinal, want.end.ordinal);
    ck_assert_mem_eq(r.end.chain, want.end.chain, 16);
    ck_assert_uint_eq(r.time_us, want.time_us);
}
END_TEST

/* [C-6] */
START_TEST(a_part_tells_each_field)
{
    sample s = make_sample(PART);
    u9i_part_record r;
    ck_assert_int_eq(u9i_part_record_decode(s.bytes, s.size, &r), U9_OK);
    ck_assert_uint_eq(r.number, 0x01020304);
    ck_assert_uint_eq(r.total, 0x1112131415161718);
    ck_assert_uint_eq(r.before, 0x2122232425262728);
    ck_assert_uint_eq(r.bytes.size, 40);
    ck_assert_mem_eq(r.bytes.data, numbers, 40);
}
END_TEST

/* [C-6] [B-5] What a part claims is told by its front, masked or not, as by the whole. */
START_TEST(a_parts_front_tells_what_it_claims)
{
    sample s = make_sample(PART);
    uint8_t front[U9I_PART_FRONT], masked[1024], mask[16];
    u9i_part_record want, r;
    ck_assert_int_eq(u9i_part_record_decode(s.bytes, s.size, &want), U9_OK);
    for (unsigned hide = 0; hide < 2; hide++) {
        memset(mask, 0x5a, sizeof mask);
        memcpy(masked, s.bytes, s.size);
        size_t size = hide ? u9i_mask_wrap(masked, s.size, mask) : s.size;
        memset(front, 0xee, sizeof front); /* what stands behind a short body is a trailer's */
        memcpy(front, masked, size < sizeof front ? size : sizeof front);
        ck_assert_int_eq(u9i_part_record_peek(front, &r), U9_OK);
        ck_assert_uint_eq(r.number, want.number);
        ck_assert_uint_eq(r.total, want.total);
        ck_assert_uint_eq(r.before, want.before);
        ck_assert_uint_eq(r.bytes.size, want.bytes.size);
        ck_assert_ptr_null(r.bytes.data);
    }
    static const uint8_t fixed[] = {0, 9, 10, 17, 18, 23, 32, 41}; /* bytecodes, and the name */
    for (unsigned i = 0; i < sizeof fixed; i++) {
        memset(front, 0, sizeof front);
        memcpy(front, s.bytes, s.size < sizeof front ? s.size : sizeof front);
        front[fixed[i]] ^= 0x20;
        ck_assert_msg(u9i_part_record_peek(front, &r) == U9_CORRUPT, "byte %u", fixed[i]);
    }
}
END_TEST

/* [C-7] */
START_TEST(a_page_tells_each_field)
{
    sample s = make_sample((table)_i);
    u9i_page_record want = sample_page((table)_i), r;
    ck_assert_int_eq(u9i_page_record_decode(s.bytes, s.size, &r), U9_OK);
    ck_assert_mem_eq(r.keyspec, want.keyspec, 8);
    ck_assert_uint_eq(r.key_size, want.key_size);
    ck_assert_uint_eq(r.count, 2);
    ck_assert_mem_eq(r.keys, want.keys, 2 * want.key_size);
    ck_assert_mem_eq(r.at, want.at, 16);
    ck_assert_int_eq(r.has_seed, want.has_seed);
    if (want.has_seed) ck_assert_uint_eq(r.seed, want.seed);
}
END_TEST

static u9_err recode_open(const u9i_open_record *r)
{
    uint8_t body[ROOM];
    u9i_open_record again;
    u9i_out out = u9i_out_init(body, sizeof body);
    u9i_open_record_encode(&out, r);
    ck_assert(!out.failed);
    u9_err err = u9i_open_record_decode(body, out.size, &again);
    if (err == U9_OK) ck_assert_uint_eq(again.kind.size, r->kind.size);
    return err;
}

/* [C-3] Forged: the tail. */
START_TEST(a_tail_beyond_corrupt_is_refused)
{
    u9i_open_record r = sample_open();
    for (unsigned tail = 0; tail <= 0xff; tail++) {
        r.tail = (u9i_tail)tail;
        ck_assert_int_eq(recode_open(&r), tail <= 5 ? U9_OK : U9_CORRUPT);
    }
}
END_TEST

/* [C-3] Forged: the segment numbers. Segments are numbered from 1 (L-1). */
START_TEST(a_segment_goes_on_behind_itself_or_an_earlier_one)
{
    u9i_open_record r = sample_open();
    r.segment = 0;
    r.before_segment = 0;
    ck_assert_int_eq(recode_open(&r), U9_CORRUPT);
    r.segment = 1;
    ck_assert_int_eq(recode_open(&r), U9_OK);
    r.before_segment = 1;
    ck_assert_int_eq(recode_open(&r), U9_OK);
    r.before_segment = 2;
    ck_assert_int_eq(recode_open(&r), U9_CORRUPT);
}
END_TEST

static u9_err recode_close(const u9i_end_record *r)
{
    uint8_t body[ROOM];
    u9i_end_record again;
    u9i_out out = u9i_out_init(body, sizeof body);
    u9i_end_record_encode(&out, r);
    ck_assert(!out.failed);
    return u9i_end_record_decode(body, out.size, &again);
}

/* [C-3] [C-4] Forged: the key kind. */
START_TEST(a_key_kind_beyond_532_bytes_is_refused)
{
    static uint8_t text[600];
    u9i_open_record open = sample_open();
    u9i_end_record close = sample_close();
    memset(text, 'x', sizeof text);
    for (size_t size = 0; size < sizeof text; size++) {
        u9_err want = size <= 532 ? U9_OK : U9_CORRUPT;
        open.kind = close.key_kind = (u9i_span){text, size};
        ck_assert_int_eq(recode_open(&open), want);
        ck_assert_int_eq(recode_close(&close), want);
    }
}
END_TEST

/* [C-4] Forged: the kind. */
START_TEST(an_end_that_neither_closes_nor_seals_is_refused)
{
    u9i_end_record r = sample_close();
    for (unsigned kind = 0; kind <= 0xff; kind++) {
        r.kind = (u9i_end_kind)kind;
        ck_assert_int_eq(recode_close(&r), kind == 1 || kind == 2 ? U9_OK : U9_CORRUPT);
    }
}
END_TEST

/* An end record whose first key, and then whose last key, is this. */
static u9_err with_key(const void *key, size_t size)
{
    u9i_end_record r = sample_close();
    r.last_key = (u9i_span){(const uint8_t *)key, size};
    u9_err last = recode_close(&r);
    r = sample_close();
    r.first_key = (u9i_span){(const uint8_t *)key, size};
    ck_assert_int_eq(recode_close(&r), last);
    return last;
}

/* [C-4] with the key forms of L-6 */
START_TEST(an_end_record_takes_keys_of_every_kind)
{
    static uint8_t longest[3 + 512] = {0x19, 0x02, 0x00};
    ck_assert_int_eq(with_key(key_muid, sizeof key_muid), U9_OK);
    ck_assert_int_eq(with_key("\x30", 1), U9_OK); /* none */
    ck_assert_int_eq(with_key("\x03\0\0\0\0\0\0\0\0", 9), U9_OK);
    ck_assert_int_eq(with_key("\x21k", 2), U9_OK);
    ck_assert_int_eq(with_key(longest, sizeof longest), U9_OK);
}
END_TEST

/* [C-4] Forged: the keys. */
START_TEST(an_end_record_with_a_key_that_is_none_is_refused)
{
    static uint8_t too_long[3 + 513] = {0x19, 0x02, 0x01};
    ck_assert_int_eq(with_key("\x85", 1), U9_CORRUPT);                 /* fixint */
    ck_assert_int_eq(with_key("\x02\0\0\0\1", 5), U9_CORRUPT);         /* uint32 */
    ck_assert_int_eq(with_key("\x07\0\0\0\0\0\0\0\1", 9), U9_CORRUPT); /* int64 */
    ck_assert_int_eq(with_key("\x0aname\0\0\0\0", 9), U9_CORRUPT);     /* symbol */
    ck_assert_int_eq(with_key("\x49\x01\x81", 3), U9_CORRUPT);         /* tuple */
    ck_assert_int_eq(with_key("\x20", 1), U9_CORRUPT);                 /* empty utf8 */
    ck_assert_int_eq(with_key("\x1c\0", 2), U9_CORRUPT);               /* empty, not `30` */
    ck_assert_int_eq(with_key("\x5f", 1), U9_CORRUPT);                 /* reserved */
    ck_assert_int_eq(with_key(too_long, sizeof too_long), U9_CORRUPT);
}
END_TEST

static u9_err recode_page(const u9i_page_record *r, sample *s)
{
    u9i_page_record again;
    u9i_out out = u9i_out_init(s->bytes, sizeof s->bytes);
    u9i_page_record_encode(&out, r);
    s->which = PAGE_16;
    s->size = out.size;
    return u9i_page_record_decode(s->bytes, s->size, &again);
}

/* [C-7] Forged: the keyspec. */
START_TEST(a_page_of_another_keyspec_is_refused)
{
    sample s;
    u9i_page_record r = sample_page(PAGE_8);
    for (unsigned i = 0; i < 8; i++) {
        r.keyspec[i] ^= 1;
        ck_assert_int_eq(recode_page(&r, &s), U9_CORRUPT);
        r.keyspec[i] ^= 1;
    }
    memcpy(r.keyspec, "u9kh\0\0\0", 8);
    for (unsigned i = 0; i < 8; i++) {
        r.keyspec[i] ^= 1;
        ck_assert_int_eq(recode_page(&r, &s), U9_CORRUPT);
        r.keyspec[i] ^= 1;
    }
    ck_assert_int_eq(recode_page(&r, &s), U9_OK);
}
END_TEST

/* [C-7] Forged: the typecode of the keys. */
START_TEST(a_page_of_hashes_with_16_byte_keys_is_refused)
{
    sample s;
    u9i_page_record r = sample_page(PAGE_16);
    ck_assert_int_eq(recode_page(&r, &s), U9_OK);
    memcpy(r.keyspec, "u9kh\0\0\0", 8);
    ck_assert_int_eq(recode_page(&r, &s), U9_CORRUPT);
}
END_TEST

/* [C-7] Forged: the count of the places, and their array's length. */
START_TEST(a_page_with_fewer_or_more_places_than_keys_is_refused)
{
    const sample good = make_sample(PAGE_16);
    const walked w = walk_sample(&good);
    for (unsigned n = 0; n <= 3; n++) {
        sample s = good;
        uint8_t *array = s.bytes + w.element[3];
        s.size = w.element[3] + 10 + 8 * n;
        u9i_set_be(array + 1, 4, 1 + 8 * n);
        u9i_set_be(array + 5, 4, n);
        mend_head(&s, 4);
        if (n == 2) expect_like(&s, &good);
        else expect_refused(&s);
    }
}
END_TEST

/* {F61} [C-7] Forged: the count of the keys, so that 32 bits of their size are what is there. */
START_TEST(a_count_whose_size_wraps_is_refused)
{
    const sample good = make_sample(PAGE_16);
    const walked w = walk_sample(&good);
    for (unsigned i = 2; i <= 3; i++) {
        sample s = good;
        s.bytes[w.element[i] + 5] = i == 2 ? 0x10 : 0x20; /* 2^28 * 16 or 2^29 * 8 more */
        expect_refused(&s);
    }
}
END_TEST

/* [C-7] */
START_TEST(a_page_without_entries_is_a_page)
{
    for (table which = PAGE_16; which <= ROOT; which++) {
        sample s;
        u9i_page_record r = sample_page(which);
        r.count = 0;
        ck_assert_int_eq(recode_page(&r, &s), U9_OK);
    }
}
END_TEST

/* [C-1] [B-3] */
START_TEST(names_tell_the_kind_and_unknown_ones_are_other)
{
    static const struct {
        const char name[8];
        u9i_body_kind kind;
    } list[] = {{"u9open", U9I_BODY_OPEN}, {"u9end", U9I_BODY_END},
                {"u9trim", U9I_BODY_TRIM}, {"u9part", U9I_BODY_PART},
                {"u9page", U9I_BODY_PAGE}, {"u9mark", U9I_BODY_MARK}, {"u9later", U9I_BODY_OTHER},
                {"u9", U9I_BODY_OTHER},    {"u9opens", U9I_BODY_OTHER},
                {"u9ope", U9I_BODY_OTHER}, {"u9open\0x", U9I_BODY_OTHER}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        ck_assert_int_eq(u9i_control_kind((const uint8_t *)list[i].name), list[i].kind);
}
END_TEST

/* An encoder that runs out of room fails and stays within it. */
START_TEST(a_control_record_that_does_not_fit_is_not_finished)
{
    const sample good = make_sample((table)_i);
    for (size_t cap = 0; cap < good.size; cap++) {
        uint8_t *room = exact_copy(good.bytes, cap);
        u9i_out out = u9i_out_init(room, cap);
        encode_sample((table)_i, &out);
        ck_assert(out.failed);
        free(room);
    }
}
END_TEST

static TCase *form_case(void)
{
    TCase *t = tcase_create("forms");
    tcase_add_loop_test(t, a_control_record_has_the_forms_of_its_table, 0, SAMPLES);
    tcase_add_loop_test(t, a_control_record_is_decoded_to_what_was_encoded, 0, SAMPLES);
    tcase_add_loop_test(t, a_control_record_with_another_bytecode_is_refused, 0, SAMPLES);
    tcase_add_loop_test(t, a_control_record_cut_at_any_byte_is_refused, 0, SAMPLES);
    tcase_add_loop_test(t, a_control_record_whose_last_element_is_cut_is_refused, 0, SAMPLES);
    tcase_add_loop_test(t, a_control_record_with_fewer_elements_is_refused, 0, SAMPLES);
    tcase_add_loop_test(t, elements_that_a_later_version_added_are_ignored, 0, SAMPLES);
    tcase_add_test(t, a_u9open_tells_up_to_where_unknown_ends_are_accepted);
    tcase_add_test(t, only_a_root_with_hashes_has_a_seed);
    tcase_add_test(t, a_root_tells_where_records_were_lost);
    tcase_add_loop_test(t, elements_that_are_claimed_and_not_there_are_refused, 0, SAMPLES);
    tcase_add_loop_test(t, bytes_that_no_element_claims_are_refused, 0, SAMPLES);
    tcase_add_loop_test(t, added_elements_that_are_no_values_are_refused, 0, SAMPLES);
    tcase_add_loop_test(t, a_control_record_that_does_not_fit_is_not_finished, 0, SAMPLES);
    tcase_add_test(t, names_tell_the_kind_and_unknown_ones_are_other);
    return t;
}

Suite *suite_control(void)
{
    Suite *s = suite_create("control");
    TCase *t = tcase_create("fields");
    tcase_add_test(t, an_open_record_tells_each_field);
    tcase_add_test(t, an_end_record_tells_each_field);
    tcase_add_test(t, a_trim_record_tells_each_field);
    tcase_add_test(t, a_mark_tells_each_field);
    tcase_add_test(t, a_part_tells_each_field);
    tcase_add_test(t, a_parts_front_tells_what_it_claims);
    tcase_add_loop_test(t, a_page_tells_each_field, PAGE_16, ROOT + 1);
    tcase_add_test(t, a_tail_beyond_corrupt_is_refused);
    tcase_add_test(t, a_segment_goes_on_behind_itself_or_an_earlier_one);
    tcase_add_test(t, a_key_kind_beyond_532_bytes_is_refused);
    tcase_add_test(t, an_end_that_neither_closes_nor_seals_is_refused);
    tcase_add_test(t, an_end_record_takes_keys_of_every_kind);
    tcase_add_test(t, an_end_record_with_a_key_that_is_none_is_refused);
    tcase_add_test(t, a_page_of_another_keyspec_is_refused);
    tcase_add_test(t, a_page_of_hashes_with_16_byte_keys_is_refused);
    tcase_add_test(t, a_page_with_fewer_or_more_places_than_keys_is_refused);
    tcase_add_test(t, a_count_whose_size_wraps_is_refused);
    tcase_add_test(t, a_page_without_entries_is_a_page);
    suite_add_tcase(s, form_case());
    suite_add_tcase(s, t);
    return s;
}
