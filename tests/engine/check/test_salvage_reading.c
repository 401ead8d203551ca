/*
 * tests/engine/check/test_salvage_reading.c: what salvage finds, and how it writes that down: bodies byte for byte,
 * the boundary without the secret, each branch apart. (F65, F67, F71)
 */
#include "tests/engine/fixture.h"
#include "tests/suites.h"

#include "format/base/bytes.h"
#include "format/frame/body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static u9_report report; /* of the last salvage */
static uint64_t salvaged;

static void salvage(const char *from, const char *to)
{
    u9_fault fault = {0};
    u9_check_options o = {.size = sizeof o, .io = io_of(at(from))};
    report = (u9_report){.size = sizeof report};
    u9_err err = u9_salvage(at(from), at(to), &o, &report, &salvaged, &fault);
    ck_assert_msg(err == U9_OK, "%s: %s", u9_err_name(err), fault.text);
}

/* One record of this key and these values, as they stand; returns its size. */
static size_t raw_record(uint8_t *out, const void *key, size_t key_size, const void *values, size_t size,
                         uint64_t elements)
{
    size_t n = u9i_record_head(elements, key_size + size, out);
    memcpy(out + n, key, key_size);
    memcpy(out + n + key_size, values, size);
    return n + key_size + size;
}

/* `depth` tuples in one another, the innermost one empty. */
static size_t nested(uint8_t *out, unsigned depth)
{
    size_t size = 0;
    for (unsigned i = 0; i < depth; i++) {
        uint8_t head[17];
        size_t n = u9i_record_head(i > 0, size, head);
        memmove(out + n, out, size);
        memcpy(out, head, n);
        size += n;
    }
    return size;
}

/* Salvages a log of one frame with this body, which is clean: so is what comes out, and the same. */
static void expect_kept(const void *body, size_t size)
{
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_frame(&s, body, size, 1);
    forge_end(&s, U9I_END_CLOSING);
    forge_save(&s, at("log"));
    salvage("log", "out");
    ck_assert_int_eq(report.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(salvaged, 1);
    seen *a = look(at("log")), *b = look(at("out"));
    ck_assert_uint_eq(b->count, 1);
    ck_assert_uint_eq(a->damage_count + b->damage_count, 0);
    ck_assert_uint_eq(b->records[0].size, size);
    ck_assert_mem_eq(b->records[0].bytes, body, size);
    forget(a);
    forget(b);
    forge_free(&s);
    remove_log(at("log"));
    remove_log(at("out"));
}

static const uint8_t muid_key[18] = {0x1c, 0x10, 0x60, 0xa2, 0x41, 0x81, 0xe4, 0x3e, 0x81, 0x23,
                                     0x45, 0x67, 0x89, 0xab, 0, 0, 0, 1};

/* [V-8] [B-2] The record's tuple is one of the 64: so deep append goes. A reader does not look, and salvage keeps it. */
START_TEST(a_record_that_no_append_takes_is_kept_as_it_stands)
{
    uint8_t body[1024], values[512];
    u9_log *log = open_writer(at("own"), NULL);
    size_t n = nested(values, 63);
    ck_assert_int_eq(u9_log_append(log, NULL, values, n, NULL), U9_OK);
    n = nested(values, 64);
    ck_assert_int_eq(u9_log_append(log, NULL, values, n, NULL), U9_ARG);
    close_log(log);
    expect_kept(body, raw_record(body, muid_key, sizeof muid_key, values, n, 2));
    expect_kept(body, raw_record(body, muid_key, sizeof muid_key, "\x49\x01\x0f", 3, 2)); /* not well-formed */
    expect_kept(body, raw_record(body, "\x03\x01\x02\x03\x04\x05\x06\x07\x08", 9, "\x81", 1, 2)); /* no muid */
    expect_kept(body, raw_record(body, "\x1a\x00\x00\x00\x01k", 6, "", 0, 1)); /* in a wide form */
}
END_TEST

/* [G-1] Frame by frame: what was compressed is, what was not is not; batches stay batches. */
START_TEST(a_frame_that_was_compressed_stays_compressed)
{
    u9_options o = writer_options();
    for (unsigned i = 0; i < 4; i++) {
        o.lz4 = i % 2;
        u9_log *log = open_writer(at("log"), &o);
        append_many(log, "the same words again and again, as one finds them in a log, number ", 60, 20);
        close_log(log);
    }
    salvage("log", "out");
    seen *a = look(at("log")), *b = look(at("out"));
    ck_assert_uint_eq(a->report.lz4_frames, 6);
    ck_assert_uint_eq(b->report.lz4_frames, 6);
    ck_assert_uint_eq(b->report.stored_bytes, a->report.stored_bytes);
    ck_assert_uint_eq(b->count, a->count);
    for (size_t i = 0; i < a->count; i++) {
        const seen_record *x = &a->records[i], *y = &b->records[i];
        ck_assert(x->size == y->size && memcmp(x->bytes, y->bytes, x->size) == 0);
        if (i == 0) continue;
        bool one = x[-1].frame == x->frame && x[-1].segment == x->segment;
        ck_assert_int_eq(one, y[-1].frame == y->frame && y[-1].segment == y->segment);
    }
    forget(a);
    forget(b);
}
END_TEST

Suite *suite_salvage_reading(void)
{
    Suite *suite = suite_create("salvage_reading");
    TCase *tc = tcase_create("salvage_reading");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_add_test(tc, a_record_that_no_append_takes_is_kept_as_it_stands);
    tcase_add_test(tc, a_frame_that_was_compressed_stays_compressed);
    suite_add_tcase(suite, tc);
    return suite;
}
