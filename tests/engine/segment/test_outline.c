/*
 * tests/engine/segment/test_outline.c: what is noted of frames while a segment is gone through says what a walk over their
 * records would, or nothing.
 */
#include "engine/segment/outline.h"
#include "tests/engine/fixture.h"
#include "tests/suites.h"

#include <stdlib.h>
#include <string.h>

/* A frame of records with these keys. */
typedef struct made {
    uint8_t body[1000];
    u9i_frame frame;
} made;

static u9i_frame *make(made *m, uint64_t offset, const uint64_t *keys, uint32_t count)
{
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++) size += record_bytes(m->body + size, keys[i], "text", 4);
    m->frame = (u9i_frame){.offset = offset, .body = m->body, .body_size = size, .trailer.count = count};
    return &m->frame;
}

static u9i_frame bare(uint64_t offset)
{
    return (u9i_frame){.offset = offset, .trailer.count = 2};
}

/* */
START_TEST(frames_in_order_are_outlined_by_their_first_and_last_keys)
{
    made m;
    u9i_outline front = {0}, back = {0};
    u9i_frame second = bare(4096), third = bare(8192);
    u9i_outline_add(&front, make(&m, 32, (uint64_t[]){3, 5, 5, 9}, 4));
    u9i_outline_add(&front, &second);
    u9i_outline_add(&front, &third);
    u9i_outline_add(&front, make(&m, 16384, (uint64_t[]){80}, 1));
    u9i_outline_add(&back, make(&m, 8192, (uint64_t[]){20, 21}, 2)); /* in any order, */
    u9i_outline_add(&back, make(&m, 16384, (uint64_t[]){80}, 1));    /*   some of it twice, */
    u9i_outline_add(&back, make(&m, 6000, (uint64_t[]){1, 2}, 2));   /*   and what is not served */
    u9i_outline_add(&back, make(&m, 4096, (uint64_t[]){9, 20}, 2));
    u9i_outline_join(&front, &back);
    ck_assert_ptr_null(back.frames);
    front.end = 20000;
    u9i_outline *o = u9i_outline_share(&front);
    ck_assert_ptr_nonnull(o);
    ck_assert_ptr_null(front.frames);
    static const u9i_outline_frame want[] = {{32, 4, {0, 3}, {0, 9}}, {4096, 2, {0, 9}, {0, 20}},
                                             {8192, 2, {0, 20}, {0, 21}}, {16384, 1, {0, 80}, {0, 80}}};
    ck_assert_uint_eq(o->count, 4);
    ck_assert_uint_eq(o->end, 20000);
    for (unsigned i = 0; i < 4; i++) {
        const u9i_outline_frame *f = &o->frames[i];
        ck_assert_uint_eq(f->offset, want[i].offset);
        ck_assert_uint_eq(f->count, want[i].count);
        ck_assert_uint_eq(f->first.hi, UINT64_C(0x6060606060606060));
        ck_assert_uint_eq(f->first.lo, want[i].first.lo);
        ck_assert_uint_eq(f->last.lo, want[i].last.lo);
    }
    ck_assert_ptr_eq(u9i_outline_ref(o), o);
    u9i_outline_unref(o);
    ck_assert_uint_eq(o->frames[3].first.lo, 80);
    u9i_outline_unref(o);
    u9i_outline_unref(NULL);
}
END_TEST

static void add(u9i_outline *o, made *m, uint64_t offset, uint64_t a, uint64_t b)
{
    u9i_outline_add(o, make(m, offset, (uint64_t[]){a, b}, 2));
}

/* Its body is compressed. */
static size_t wrap(made *m)
{
    uint8_t plain[sizeof m->body], wrapped[2 * sizeof m->body];
    static const char zeros[300];
    size_t size = record_bytes(plain, 8, zeros, sizeof zeros);
    ck_assert_uint_le(u9i_lz4_bound(size), sizeof wrapped);
    size = u9i_lz4_wrap(plain, size, wrapped);
    ck_assert(size > 0 && size < sizeof m->body);
    memcpy(m->body, wrapped, size);
    return size;
}

/* One record, whose key has 8 bytes. */
static size_t make_short(made *m)
{
    size_t at = u9i_record_head(2, 2 + 8 + 1, m->body);
    memcpy(m->body + at, "\x1c\x08" "keykeyke", 10);
    u9_builder b;
    u9_builder_init(&b, m->body + at + 10, 1);
    ck_assert_int_eq(u9_build_utf8(&b, "", 0), U9_OK);
    const uint8_t *next = m->body;
    size_t left = at + 11;
    u9i_record r;
    ck_assert_int_eq(u9i_record_next(&next, &left, &r), U9_OK);
    ck_assert_uint_eq(r.key_size, 8);
    return at + 11;
}

/* It is one of control: of a large record, of a version that is to come, or one that is passed. */
static size_t make_control(made *m, bool part, bool later)
{
    u9i_out out = u9i_out_init(m->body, sizeof m->body);
    if (part) u9i_part_record_encode(&out, &(u9i_part_record){.total = 5, .bytes = {(const uint8_t *)"large", 5}});
    else u9i_trim_record_encode(&out, &(u9i_trim_record){.segment = 2, .ordinal = 7});
    if (later) ((char *)memchr(m->body, 'u', out.size))[2] = 'T';
    return out.size;
}

/* What is not as usual is not guessed at. */
START_TEST(what_is_unusual_spoils_an_outline)
{
    enum { USUAL, CONTROL, BELOW, BELOW_BEFORE, FEWER, MORE, SHORT_KEY, HALF, WRAPPED, PART, UNKNOWN, MISSING, OTHER, CASES };
    made m;
    for (int what = USUAL; what < CASES; what++) {
        u9i_outline front = {0}, back = {0};
        u9i_frame second = bare(4096);
        add(&front, &m, 32, 3, 5);
        u9i_outline_add(&front, &second);
        if (what != MISSING) add(&back, &m, 4096, what == BELOW_BEFORE ? 4 : 6, 7);
        u9i_frame *f = make(&m, 8192, (uint64_t[]){8, what == BELOW ? 7 : 9}, 2);
        if (what == FEWER) f->trailer.count = 1;
        if (what == MORE) f->trailer.count = 3;
        if (what == SHORT_KEY) f->body_size = make_short(&m), f->trailer.count = 1;
        if (what == HALF) f->body_size--;
        if (what == WRAPPED) f->body_size = wrap(&m);
        if (what == CONTROL || what == PART || what == UNKNOWN) f->body_size = make_control(&m, what == PART, what == UNKNOWN);
        if (what == CONTROL || what == PART) f->trailer.count = 0;
        u9i_outline_add(&front, f);
        if (what == OTHER) back.spoiled = true;
        u9i_outline_join(&front, &back);
        u9i_outline *o = u9i_outline_share(&front);
        ck_assert_msg((o != NULL) == (what == USUAL || what == CONTROL), "case %d", what);
        if (o) ck_assert_uint_eq(o->count, what == USUAL ? 3 : 2);
        u9i_outline_unref(o);
    }
}
END_TEST

/* However many frames a segment has, an outline takes no more memory than it says. */
START_TEST(an_outline_of_too_many_frames_is_none)
{
    u9i_outline o = {0}, none = {0};
    for (uint32_t i = 0; i < U9I_OUTLINE_MAX; i++) {
        u9i_frame f = bare(32 + UINT64_C(4096) * i);
        u9i_outline_add(&o, &f);
    }
    ck_assert(!o.spoiled);
    u9i_frame one_more = bare(UINT64_C(1) << 40);
    u9i_outline_add(&o, &one_more);
    ck_assert(o.spoiled);
    u9i_outline_join(&o, &none);
    ck_assert_ptr_null(u9i_outline_share(&o));
    ck_assert_ptr_null(o.frames);
}
END_TEST

Suite *suite_outline(void)
{
    Suite *suite = suite_create("outline");
    TCase *tc = tcase_create("outline");
    tcase_add_test(tc, frames_in_order_are_outlined_by_their_first_and_last_keys);
    tcase_add_test(tc, what_is_unusual_spoils_an_outline);
    tcase_add_test(tc, an_outline_of_too_many_frames_is_none);
    suite_add_tcase(suite, tc);
    return suite;
}
