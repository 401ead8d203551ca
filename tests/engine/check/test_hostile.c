/*
 * tests/engine/check/test_hostile.c: bytes made to mislead. Records that hold boundaries and whole logs,
 * headers and trailers that claim what is not so, and frames whose hashes are right and whose bodies
 * are wrong. What was appended comes back, nothing else does, and no file costs more than its size.
 */
#include "format/base/bytes.h"
#include "format/frame/body.h"
#include "format/frame/disk.h"
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 };

/* {F51} {F53} [F-7] Records that hold a copy of their own log, copies in copies; then the frame is damaged. */
START_TEST(a_log_within_a_log_never_surfaces)
{
    const char *log = at("log");
    u9_options o = writer_options();
    u9_log *w = open_writer(log, &o);
    append_many(w, "outer", 3, 1);
    for (unsigned depth = 0; depth < 5; depth++) {
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        size_t size;
        uint8_t *copy = read_file(segment_path(log, 1), &size);
        while (size > 0 && copy[size - 1] == 0) size--;
        /* Where its boundaries stand aligned in the frame: behind heads of 26 or 32 bytes. */
        size_t shift = size + 6 < 65536 ? 6 : 0;
        copy = realloc(copy, size + shift);
        memmove(copy + shift, copy, size);
        append_bytes(w, copy, size + shift);
        free(copy);
    }
    append_text(w, "last");
    close_log(w);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 9);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->report.mask_frames, 5);
    uint64_t frames[9];
    for (unsigned i = 0; i < 9; i++) frames[i] = s->records[i].frame;
    forget(s);
    size_t size;
    uint8_t *whole = read_file(segment_path(log, 1), &size);
    for (unsigned i = 3; i < 8; i++)
        for (unsigned way = 0; way < 3; way++) {
            if (way == 0) flip_bit(segment_path(log, 1), frames[i] + 70, 3);
            if (way == 1) fill_bytes(segment_path(log, 1), frames[i], 64, 0x11);
            if (way == 2) fill_bytes(segment_path(log, 1), frames[i], 200, 0); /* the mask too */
            s = look(log);
            ck_assert_uint_eq(s->count, 8);
            ck_assert_uint_eq(s->damage_count, 1);
            ck_assert_uint_eq(s->damages[0].lost, 1);
            for (unsigned k = 0; k < 8; k++)
                ck_assert_uint_eq(s->records[k].ordinal, k < i ? k : k + 1);
            forget(s);
            write_file(segment_path(log, 1), whole, size);
        }
    free(whole);
}
END_TEST

/* {F50} [F-7] [B-5] Nothing but boundaries, at every alignment, and one that ends in most of a boundary. */
START_TEST(records_of_boundaries_come_back)
{
    const char *log = at("log");
    u9_options o = writer_options();
    for (unsigned lz4 = 0; lz4 < 2; lz4++) {
        o.lz4 = (int)lz4;
        u9_log *w = open_writer(log, &o);
        append_text(w, "first");
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        u9i_secret secret = keys_of(segment_path(log, 1));
        uint8_t *bytes = malloc(70000);
        for (unsigned i = 0; i < 16; i++) {
            memset(bytes, 0, i);
            for (size_t k = 0; k < 4000; k++) memcpy(bytes + i + 16 * k, secret.boundary, 16);
            append_bytes(w, bytes, i + 16 * 4000);
            ck_assert_int_eq(u9_log_sync(w), U9_OK);
        }
        for (unsigned i = 1; i < 48; i++) { /* the rest of a boundary could be the trailer's */
            memset(bytes, 'x', 48);
            memcpy(bytes + i, secret.boundary, 15);
            append_bytes(w, bytes, i + 15);
            if (i % 4 == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
        }
        close_log(w);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 64 * (lz4 + 1));
        ck_assert_uint_eq(s->damage_count, 0);
        for (unsigned i = 0; i < 16; i++) {
            const seen_record *r = &s->records[64 * lz4 + 1 + i];
            ck_assert_uint_eq(r->text_size, i + 16 * 4000);
            ck_assert_mem_eq(r->text + i, secret.boundary, 16);
            ck_assert_mem_eq(r->text + i + 16 * 3999, secret.boundary, 16);
        }
        forget(s);
        free(bytes);
    }
}
END_TEST

/*
 * What it takes to check a log: the bytes that are read for it. No clock is asked: were each claim
 * followed, the hundred thousand of a file would be hashed as terabytes, and the case runs into its limit.
 */
typedef struct cost {
    uint64_t frames, bytes;
} cost;

static cost cost_of_check(const char *log)
{
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = io_of(log)};
    sim_forget_diary();
    ck_assert_int_eq(u9_check(log, &o, &report, NULL), U9_OK);
    return (cost){report.frames, sim_bytes(SIM_READ) + sim_bytes(SIM_MAP)};
}

/* What is behind the first frame of a forged segment of 24 MiB. */
typedef enum filler { NOISE, CLAIMS, TRUE_SIGNS, BARE, BLANK_CLAIMS } filler;

enum { LARGE = 24 << 20 };

/* No first sector: frames are sought by their magic alone. Trailers stand where lengths say so. */
static void blank_claims(uint8_t *bytes)
{
    uint64_t half = LARGE / 2;
    memset(bytes, 0, 512);
    for (uint64_t p = 512; p < half; p += 16) {
        memcpy(bytes + p, u9i_frame_magic, 8);
        u9i_set_be(bytes + p + 8, 8, half - 512 + 80 * ((p - 512) / 16 % 100000));
    }
    for (uint64_t i = 0; half + 80 * (i + 1) < LARGE; i++) {
        uint64_t p = 512 - 48 + 16 * i;
        u9i_trailer t = {.offset = p, .durable = 32, .previous = 32};
        uint64_t length = half - 512 + 80 * (i % 100000);
        if (p + 64 + length <= LARGE) u9i_trailer_encode(&t, bytes + p + 64 + length - 80);
    }
}

/* A header at `p` that claims all behind it. */
static void claim(const forged_segment *f, uint8_t *h, uint64_t p, filler what)
{
    uint64_t rest = LARGE - p - 64;
    memcpy(h, f->secret.boundary, 16);
    if (what == BARE) return;
    u9i_set_be(h + 16, 8, p);
    memset(h + 24, 0, 8);
    if (what == TRUE_SIGNS) u9i_sign(h + 16, f->secret.bytes, h + 32);
    memcpy(h + 48, u9i_frame_magic, 8);
    u9i_set_be(h + 56, 8, rest < U9I_PAYLOAD_MAX ? rest & ~UINT64_C(15) : U9I_PAYLOAD_MAX);
}

static void forge_large(const char *log, filler what)
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    uint8_t *bytes = calloc(1, LARGE);
    memcpy(bytes, f.bytes, f.size);
    for (uint64_t p = f.size; p + 256 <= LARGE; p += 16) {
        if (what == NOISE) {
            for (unsigned i = 0; i < 16; i++) bytes[p + i] = (uint8_t)rand();
            continue;
        }
        claim(&f, bytes + p, p, what);
        if (what != BARE) p += 224;
    }
    if (what == BLANK_CLAIMS) blank_claims(bytes);
    make_dir(log);
    write_file(segment_path(log, 1), bytes, LARGE);
    free(bytes);
    forge_free(&f);
}

/* {F50} {F54} [F-6] Boundaries that claim everything behind them: no frame is found, and the search is linear. */
START_TEST(a_file_of_claims_costs_no_more_than_its_size)
{
    const char *log = at("log");
    forge_large(log, NOISE);
    cost noise = cost_of_check(log);
    ck_assert_uint_eq(noise.frames, 1);
    for (filler what = CLAIMS; what <= BARE; what++) {
        forge_large(log, what);
        cost c = cost_of_check(log);
        ck_assert_uint_eq(c.frames, 1);
        ck_assert_uint_le(c.bytes, noise.bytes);
    }
}
END_TEST

/* {F54} [L-4] The same without a secret to look for. */
START_TEST(a_blank_file_of_claims_costs_no_more_than_its_size)
{
    const char *log = at("log");
    forge_large(log, BLANK_CLAIMS);
    cost c = cost_of_check(log);
    ck_assert_uint_eq(c.frames, 0);
    ck_assert_uint_le(c.bytes, 16 * (uint64_t)LARGE); /* a plain seed file, and no segment at all, are looked for, too */
}
END_TEST

/* Three frames of two records; the one in the middle is to be forged. */
static forged_segment three_frames(uint64_t *p)
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "before", 2);
    *p = forge_records(&f, "forged", 2);
    forge_records(&f, "behind", 2);
    forge_end(&f, U9I_END_CLOSING);
    return f;
}

/* The frame in the middle is CORRUPT for this reason, and its neighbours are served. */
static void expect_refused(const forged_segment *f, u9_reason reason)
{
    const char *log = at("log");
    forge_save(f, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 4);
    ck_assert_uint_eq(s->records[1].ordinal, 1);
    ck_assert_uint_eq(s->records[2].ordinal, 4);
    ck_assert_uint_eq(s->damage_count, 1);
    ck_assert_int_eq(s->damages[0].verdict, U9_V_CORRUPT);
    ck_assert_msg(s->damages[0].reason == reason, "%s", u9_reason_name(s->damages[0].reason));
    ck_assert_uint_eq(s->damages[0].lost, 2);
    forget(s);
}

/* {F23} [F-5] [F-6] Lengths that no frame has, those that pass the file, and those that wrap around. */
START_TEST(a_forged_length_is_refused_before_it_is_believed)
{
    static const uint64_t lengths[] = {0,
                                       1,
                                       79,
                                       (1 << 24) + 122,
                                       (1 << 24) + 121,
                                       UINT32_MAX,
                                       UINT64_C(1) << 32,
                                       UINT64_C(1) << 63,
                                       UINT64_MAX,
                                       UINT64_MAX - 63,
                                       UINT64_MAX - 79,
                                       INT64_MAX,
                                       8192,
                                       16000};
    uint64_t p;
    forged_segment f = three_frames(&p);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        u9i_set_be(f.bytes + p + 56, 8, lengths[i]);
        expect_refused(&f, U9_R_LENGTH);
    }
    /* Into the next frame: its boundary is in the way. Shorter: another trailer would have to be. */
    uint64_t length = 2 * u9i_frame_size(0) + 200;
    u9i_set_be(f.bytes + p + 56, 8, length);
    expect_refused(&f, U9_R_OVERLAP);
    u9i_set_be(f.bytes + p + 56, 8, 80);
    expect_refused(&f, U9_R_TRAILER);
    forge_mend(&f, p); /* with right hashes too */
    expect_refused(&f, U9_R_TRAILER);
    forge_free(&f);
}
END_TEST

/* {F23} [R-12] [F-6] d: a length that passes the file is told as such, though a named end lies further on. */
START_TEST(a_forged_length_in_a_cut_file_is_told_as_one)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 2);
    uint64_t p = forge_records(&one, "b", 2);
    forge_records(&one, "c", 2);
    size_t size = one.size;
    while (one.size < 2 * BLOCK) forge_records(&one, "d", 2);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_TORN);
    forge_end(&two, U9I_END_CLOSING);
    one.size = size;
    u9i_set_be(one.bytes + p + 56, 8, size - p);
    forge_save(&one, log);
    forge_save(&two, log);
    seen *s = look(log);
    ck_assert_int_eq(s->damages[0].reason, U9_R_LENGTH);
    ck_assert_uint_eq(s->damages[0].begin, p);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_CUT), 1);
    forget(s);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* [F-6] Trailers whose numbers cannot be, in frames whose hashes are right. */
START_TEST(a_forged_trailer_makes_no_frame)
{
    static const struct {
        int at; /* from the trailer's begin */
        uint64_t value;
    } cases[] = {{27, 0}, {27, UINT64_MAX}, {36, 0}, {36, 16}, {36, UINT64_MAX}, {45, UINT64_MAX}};
    for (size_t i = 0; i <= sizeof cases / sizeof cases[0]; i++) {
        uint64_t p;
        forged_segment f = three_frames(&p);
        uint8_t *t = f.bytes + p + 64 + u9i_get_be(f.bytes + p + 56, 8) - 80;
        if (i == 0) u9i_set_be(t + 36, 8, p); /* its own predecessor */
        else u9i_set_be(t + cases[i - 1].at, 8, cases[i - 1].value);
        forge_mend(&f, p);
        expect_refused(&f, U9_R_TRAILER);
        forge_free(&f);
    }
}
END_TEST

/* [F-9] Frames that are valid and say that they follow something else. */
START_TEST(a_frame_with_other_numbers_does_not_follow)
{
    for (unsigned way = 0; way < 4; way++) {
        const char *log = at("log");
        forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        forge_records(&f, "a", 2);
        uint64_t before = f.next.previous;
        if (way == 0) f.next.previous = 32;
        if (way == 1) f.next.ordinal += 3;
        if (way == 2) f.next.ordinal -= 1;
        if (way == 3) f.next.chain[0] ^= 1;
        f.next.durable = f.end;
        uint64_t p = forge_records(&f, "b", 2);
        forge_records(&f, "c", 1);
        forge_end(&f, U9I_END_CLOSING);
        forge_save(&f, log);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 5);
        ck_assert_uint_eq(s->damage_count, 1);
        ck_assert_int_eq(s->damages[0].verdict, U9_V_CORRUPT);
        ck_assert_int_eq(s->damages[0].reason, U9_R_FOLLOW);
        ck_assert_uint_eq(s->damages[0].begin, p);
        ck_assert_uint_eq(s->damages[0].end, p); /* nothing lies between */
        ck_assert_uint_eq(s->damages[0].lost, way == 1 ? 3 : way == 2 ? U9_NOWHERE : 0);
        ck_assert_uint_eq(s->records[4].ordinal, way == 1 ? 7 : way == 2 ? 3 : 4);
        forget(s);
        ck_assert_uint_lt(before, p);
        forge_free(&f);
        remove_log(log);
    }
}
END_TEST

/* A frame with right hashes and this body between two others: `lost` records are CORRUPT. */
static void expect_body(const char *what, const void *body, size_t size, uint32_t count, bool good)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "before", 2);
    uint64_t p = forge_frame(&f, body, size, count), end = f.end;
    forge_records(&f, "behind", 2);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    seen *s = look(log);
    ck_assert_msg(s->damage_count == !good, "%s: %zu damages", what, s->damage_count);
    ck_assert_msg(s->count == 4 + (good ? count : 0), "%s: %zu records", what, s->count);
    ck_assert_uint_eq(s->records[s->count - 1].ordinal, UINT64_C(3) + count);
    if (!good) {
        ck_assert_int_eq(s->damages[0].verdict, U9_V_CORRUPT);
        ck_assert_int_eq(s->damages[0].reason, U9_R_BODY);
        ck_assert_uint_eq(s->damages[0].begin, p);
        ck_assert_uint_eq(s->damages[0].end, end);
        ck_assert_uint_eq(s->damages[0].ordinal, 2);
        ck_assert_uint_eq(s->damages[0].lost, count);
    }
    forget(s);
    forge_free(&f);
    remove_log(log);
}

/* A control record with these elements, in the form 41 or 42. */
static size_t control(uint8_t *out, const char *name, uint8_t code, const void *rest, size_t size,
                      unsigned count)
{
    unsigned width = code == 0x41 ? 2 : 4;
    out[0] = code;
    u9i_set_be(out + 1, width, 9 + size);
    u9i_set_be(out + 1 + width, width, count);
    out[1 + 2 * width] = 0x0a;
    memset(out + 2 + 2 * width, 0, 8);
    memcpy(out + 2 + 2 * width, name, strlen(name));
    if (size > 0) memcpy(out + 10 + 2 * width, rest, size);
    return 10 + 2 * width + size;
}

/* [R-9] [B-1] [B-2] [B-3] [B-4] [C-2] Right hashes, wrong bodies. */
START_TEST(a_wrong_body_costs_its_own_records_only)
{
    uint8_t body[1024], other[1024], two[400];
    size_t n = record_bytes(two, 1, "one", 3);
    size_t m = n + record_bytes(two + n, 2, "two", 3);
    expect_body("two records", two, m, 2, true);
    expect_body("count too high", two, m, 3, false);
    expect_body("count far too high", two, m, UINT32_MAX, false);
    expect_body("count too low", two, m, 1, false);
    expect_body("count zero", two, m, 0, false);
    expect_body("no body", NULL, 0, 1, false);
    expect_body("a record cut short", two, m - 1, 2, false);
    memcpy(body, two, m);
    body[m] = 0x80;
    expect_body("a number behind the records", body, m + 1, 2, false);
    expect_body("a number", body + m, 1, 1, false);
    memcpy(body, "\x48\x00", 2);
    expect_body("a tuple of nothing", body, 2, 1, false);
    memcpy(body, two, n);
    body[0] = 0x4b;
    expect_body("an element that is not there", body, n, 1, false);

    size_t c = control(body, "u9later", 0x41, "\x80", 1, 2);
    expect_body("an unknown control record, skipped", body, c, 0, true);
    memcpy(other, two, n);
    memcpy(other + n, body, c);
    expect_body("records and then a control record in count 0", other, n + c, 0, false);
    c = control(body, "u9trim", 0x41, "\x03\0\0\0\0\0\0\0\x01\x03\0\0\0\0\0\0\0\x00", 18, 3);
    expect_body("a control record with a count", body, c, 1, false);
    c = control(body, "u9trim", 0x41, "\x03\0\0\0\0\0\0\0\x01", 9, 2);
    expect_body("a control record with too few elements", body, c, 0, false);
    c = control(body, "u9trim", 0x41, "\x02\0\0\0\x01\x02\0\0\0\x01", 10, 3);
    expect_body("a control record in other bytecodes", body, c, 0, false);
    c = control(body, "u9trim", 0x42, "\x03\0\0\0\0\0\0\0\x01\x03\0\0\0\0\0\0\0\x00", 18, 3);
    expect_body("a control record in another form", body, c, 0, false);
    c = control(body, "u9frame", 0x42, "", 0, 1);
    expect_body("a trailer's name", body, c, 0, true);

    c = control(body, "u9lz4", 0x42, "\x03\0\0\0\0\xff\xff\xff\xff\x1e\0\0\0\x04\x10zzz", 18, 3);
    expect_body("a bomb's head", body, c, 2, false);
    u9i_set_be(body + 19, 8, (1 << 24) + 1);
    expect_body("one byte over the cap", body, c, 2, false);
    u9i_set_be(body + 19, 8, 1 << 24);
    expect_body("the cap, and too few bytes", body, c, 2, false);
    u9i_set_be(body + 19, 8, 0);
    expect_body("a decoded length of 0", body, c, 2, false);
    u9i_set_be(body + 28, 4, UINT32_MAX);
    expect_body("compressed bytes beyond the body", body, c, 2, false);
    memset(other, 'y', sizeof other);
    n = record_bytes(two, 1, other, 300);
    uint8_t *packed = malloc(u9i_lz4_bound(1024));
    c = u9i_lz4_wrap(two, n, packed);
    ck_assert_uint_gt(c, 0);
    expect_body("a compressed record", packed, c, 1, true);
    expect_body("a compressed record of count 0", packed, c, 0, false);
    u9i_set_be(packed + 19, 8, n + 1);
    expect_body("a decoded length too long", packed, c, 1, false);
    u9i_set_be(packed + 19, 8, n - 1);
    expect_body("a decoded length too short", packed, c, 1, false);
    u9i_set_be(packed + 19, 8, n);
    memcpy(body, packed, c);
    c = u9i_mask_wrap(body, c, (const uint8_t *)"0123456789abcdef");
    expect_body("a mask around lz4", body, c, 1, false);
    n = record_bytes(body, 1, "x", 1);
    c = u9i_mask_wrap(body, n, (const uint8_t *)"0123456789abcdef");
    expect_body("a mask around a record", body, c, 1, true);
    u9i_set_be(body + 37, 4, n + 1);
    expect_body("a mask of another length", body, c, 1, false);
    u9i_set_be(body + 37, 4, n);
    c = u9i_mask_wrap(body, c, (const uint8_t *)"0123456789abcdef");
    expect_body("a mask around a mask", body, c, 1, false);
    memcpy(body, "\x4a\x02\x80\x81", 4);
    expect_body("a key in no form of L-6", body, 4, 1, false);
    free(packed);
}
END_TEST

/* [B-3] A control record that is unknown, where records must be: said so, and passed by. */
START_TEST(a_record_of_a_later_version_is_said_to_be_one)
{
    const char *log = at("log");
    uint8_t body[64];
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "before", 2);
    uint64_t p = forge_frame(&f, body, control(body, "u9later", 0x42, "\x80", 1, 2), 1);
    forge_records(&f, "behind", 2);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    u9_log *handle = open_reader(log);
    u9_cursor *c;
    u9_record r;
    u9_fault fault;
    ck_assert_int_eq(u9_cursor_open(handle, NULL, &c, NULL), U9_OK);
    for (unsigned i = 0; i < 5; i++) {
        u9_err err = u9_cursor_next(c, &r);
        ck_assert_int_eq(err, i == 2 ? U9_VERSION : U9_OK);
        if (i != 2) ck_assert_uint_eq(r.ordinal, i);
        if (i != 2) continue;
        u9_cursor_fault(c, &fault);
        ck_assert_uint_eq(fault.offset, p);
        ck_assert_str_eq(fault.rule, "B-3");
    }
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_END);
    u9_cursor_close(c);
    close_log(handle);
    forge_free(&f);
}
END_TEST

/* {F61} [L-5] An ordinal at the end of the numbers is served like any other, by cursors and checks alike. */
START_TEST(the_last_ordinal_there_is_hides_no_record)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "a", 1);
    f.next.ordinal = UINT64_MAX - 2;
    f.next.durable = f.end;
    forge_records(&f, "b", 2);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 3);
    ck_assert_uint_eq(s->records[2].ordinal, UINT64_MAX - 1);
    forget(s);
    forge_free(&f);
}
END_TEST

/* [R-6] [S-4] A u9end that does not begin its block closes nothing, even one block before the file's end. */
START_TEST(a_u9end_beside_its_block_does_not_close)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "a", 1);
    forge_pad(&f);
    forge_frame(&f, NULL, 0, 0);
    uint64_t p = f.size;
    uint8_t body[1024];
    u9i_end_record end = {.kind = U9I_END_CLOSING,
                     .segment = 1,
                     .first_key = {(const uint8_t *)"0", 1},
                     .last_key = {(const uint8_t *)"0", 1},
                     .key_kind = {(const uint8_t *)"muid", 4}};
    memcpy(end.secret, f.secret.bytes, sizeof end.secret);
    u9i_out out = u9i_out_init(body, sizeof body);
    u9i_end_record_encode(&out, &end);
    forge_frame(&f, body, out.size, 0);
    ck_assert_uint_ne(p % BLOCK, 0);
    f.size = p + BLOCK;
    memset(f.bytes + f.end, 0, f.size - f.end);
    f.bytes[f.size - 1] = 1;
    forge_save(&f, log);
    seen *s = look(log);
    ck_assert(!s->report.closed);
    ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_FILL), 0);
    forget(s);
    forge_free(&f);
}
END_TEST

/* [C-3] A first frame that says other numbers than its trailer names nothing, and is told. */
START_TEST(a_first_frame_that_contradicts_itself_names_nothing)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 3);
    u9i_open_record open = forge_naming(2, &one, U9I_TAIL_TORN);
    forge_pad(&one);
    forged_segment two = forge_with_open(2, 1, &open);
    uint64_t length = u9i_get_be(two.bytes + 32 + 56, 8);
    two.bytes[32 + 64 + length - 80 + 20] ^= 4; /* its ordinal */
    two.next.ordinal = 3 ^ 4;
    forge_mend(&two, 32);
    forge_records(&two, "b", 2);
    forge_end(&two, U9I_END_CLOSING);
    forge_save(&one, log);
    forge_save(&two, log);
    seen *s = look(log);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_BODY), 1);
    ck_assert_uint_eq(s->count, 5);
    forget(s);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* {F54} A first frame that promises nearly 2^63 bytes of a file of a few: a check in pieces has none for what is not there. */
START_TEST(a_promise_beyond_the_file_costs_no_pieces)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 3);
    u9i_open_record open = forge_naming(2, &one, U9I_TAIL_TORN);
    open.end.offset = (UINT64_C(1) << 63) - 16;
    forge_pad(&one);
    forged_segment two = forge_with_open(2, 1, &open);
    forge_records(&two, "b", 2);
    forge_end(&two, U9I_END_CLOSING);
    forge_save(&one, log);
    forge_save(&two, log);
    seen *s = look(log); /* in pieces of some KiB, too */
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_CUT), 1);
    ck_assert_uint_eq(s->count, 5);
    forget(s);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

Suite *suite_hostile(void)
{
    Suite *suite = suite_create("hostile");
    TCase *tc = tcase_create("hostile");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_log_within_a_log_never_surfaces);
    tcase_add_test(tc, records_of_boundaries_come_back);
    tcase_add_test(tc, a_file_of_claims_costs_no_more_than_its_size);
    tcase_add_test(tc, a_blank_file_of_claims_costs_no_more_than_its_size);
    tcase_add_test(tc, a_forged_length_is_refused_before_it_is_believed);
    tcase_add_test(tc, a_forged_length_in_a_cut_file_is_told_as_one);
    tcase_add_test(tc, a_forged_trailer_makes_no_frame);
    tcase_add_test(tc, a_frame_with_other_numbers_does_not_follow);
    tcase_add_test(tc, a_wrong_body_costs_its_own_records_only);
    tcase_add_test(tc, a_record_of_a_later_version_is_said_to_be_one);
    tcase_add_test(tc, the_last_ordinal_there_is_hides_no_record);
    tcase_add_test(tc, a_u9end_beside_its_block_does_not_close);
    tcase_add_test(tc, a_first_frame_that_contradicts_itself_names_nothing);
    tcase_add_test(tc, a_promise_beyond_the_file_costs_no_pieces);
    suite_add_tcase(suite, tc);
    return suite;
}
