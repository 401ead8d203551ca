/*
 * tests/engine/check/test_salvage_reading.c: what salvage finds, and how it writes that down: bodies byte for byte,
 * the boundary without the secret, each branch apart. {F65} {F67} {F71}
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include "format/base/bytes.h"
#include "format/frame/body.h"
#include "format/frame/disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static u9_report report; /* of the last salvage: */
static uint64_t salvaged;
static u9_output outputs[20];
static u9_damage damages[20];
static unsigned output_count, damage_count;

static void on_output(void *ctx, const u9_output *output)
{
    (void)ctx;
    ck_assert_uint_lt(output_count, 20);
    outputs[output_count++] = *output;
    ck_assert_uint_eq(output->number, output_count);
}

static void on_damage(void *ctx, const u9_damage *damage)
{
    (void)ctx;
    if (damage_count < 20) damages[damage_count++] = *damage;
}

static void salvage(const char *from, const char *to)
{
    u9_fault fault = {0};
    u9_check_options o = {.size = sizeof o, .io = io_of(at(from)), .on_output = on_output,
                          .on_damage = on_damage};
    output_count = damage_count = 0;
    report = (u9_report){.size = sizeof report};
    u9_err err = u9_salvage(at(from), at(to), &o, &report, &salvaged, &fault);
    ck_assert_msg(err == U9_OK, "%s: %s", u9_err_name(err), fault.text);
    ck_assert_uint_eq(report.outputs, output_count);
}

/* What the log `name` holds, which is clean, or was not written where `want` is NULL: "text text ..." */
static void expect_texts(const char *name, const char *want)
{
    char all[4096] = "";
    seen *s = look(at(name));
    ck_assert_int_eq(s->err == U9_OK, want != NULL);
    ck_assert_uint_eq(s->damage_count, 0);
    for (size_t i = 0; i < s->count; i++) {
        ck_assert_uint_eq(s->records[i].ordinal, i);
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", n ? " " : "", s->records[i].text);
    }
    if (want) ck_assert_str_eq(all, want);
    forget(s);
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

/* The time of each record, in order. */
static size_t list_times(const char *log, uint64_t *times, size_t most)
{
    u9_cursor *c;
    u9_record r;
    u9_err err;
    size_t n = 0;
    u9_log *handle = open_reader(log);
    ck_assert_int_eq(u9_cursor_open(handle, NULL, &c, NULL), U9_OK);
    while (n < most && ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_LIMIT)) times[n++] = r.time_us;
    u9_cursor_close(c);
    close_log(handle);
    return n;
}

/* [G-1] Also of a record in parts, behind a roll, and where a mark is made and segments are sealed in between. */
START_TEST(records_keep_their_times)
{
    enum { DAYS = 30, LARGE = 18 << 20 };
    static const uint64_t day_us = UINT64_C(86400000000);
    uint8_t *ones = malloc(LARGE);
    uint64_t then[DAYS], now[DAYS];
    u9_options o = writer_options();
    u9_append *a;
    memset(ones, 0x81, LARGE); /* values of a byte */
    o.segment_size = 1 << 16;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < DAYS; i++) {
        sim_advance(day_us);
        if (i == DAYS / 2) {
            ck_assert_int_eq(u9_append_begin(w, NULL, LARGE, LARGE, &a, NULL), U9_OK);
            ck_assert_int_eq(u9_append_write(a, ones, LARGE), U9_OK);
            ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
        } else {
            append_many(w, "r", 1, 1);
        }
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    free(ones);
    close_log(w);
    ck_assert_uint_eq(list_times(at("log"), then, DAYS), DAYS);
    for (unsigned i = 1; i < DAYS; i++) ck_assert_uint_ge(then[i] - then[i - 1], day_us);
    sim_advance(1000 * day_us);
    salvage("log", "out");
    ck_assert_uint_eq(list_times(at("out"), now, DAYS), DAYS);
    ck_assert_mem_eq(now, then, sizeof then);
    session(at("out"), "more", 1, 0); /* who goes on writes what time it is */
    u9_log *r = open_reader(at("out"));
    u9_cursor *c;
    u9_record more;
    ck_assert_int_eq(u9_log_seek(r, &(u9_seek){.size = sizeof(u9_seek), .kind = U9_SEEK_TIME, .number = then[DAYS - 1] + 1}, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &more), U9_OK);
    ck_assert_uint_eq(more.ordinal, DAYS);
    ck_assert_uint_gt(more.time_us, then[DAYS - 1] + 1000 * day_us);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

/* [V-8] [B-2] The record's tuple is one of the 64: so deep append goes. A reader does not look, and salvage keeps it. */
/* [G-1] [F-4] A time to come would be that of all that is written later. */
START_TEST(a_time_to_come_is_not_kept)
{
    uint64_t now;
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    s.next.time_us = UINT64_MAX / 2;
    forge_records(&s, "r", 1);
    forge_save(&s, at("log"));
    forge_free(&s);
    salvage("log", "out");
    ck_assert_uint_eq(list_times(at("out"), &now, 1), 1);
    ck_assert_uint_lt(now, U9_MUID_TIMESTAMP_MAX);
    session(at("out"), "more", 1, 0);
}
END_TEST

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

/* An unclosed segment with records a0 a1 | a2 | a3, promised up to a2. */
static forged_segment unclosed(uint64_t number, unsigned seed, const forged_segment *before)
{
    forged_segment s = forge_begin(number, seed, before, U9I_TAIL_ROLLED);
    forge_records(&s, "a", 2);
    forge_records(&s, "a", 1);
    forge_promise(&s);
    forge_records(&s, "a", 1);
    return s;
}

/* Two bytes of the secret, and saves the file: no copy of it is anywhere. */
static void lose_secret(forged_segment *s)
{
    s->bytes[10] ^= 0xa5;
    s->bytes[11] ^= 0x5a;
    forge_pad(s);
    forge_save(s, at("log"));
    forge_free(s);
}

static const char *segment_in(const char *log, uint64_t number)
{
    static char name[80];
    snprintf(name, sizeof name, "%s/%016llx.u9", log, (unsigned long long)number);
    return name;
}

/* {F28} {F55} {F67} [G-2] [G-3] [H-4] Readers serve nothing; salvage has it all, and says that nothing proves it. */
START_TEST(a_lost_secret_costs_the_signatures_only)
{
    forged_segment s = unclosed(1, 1, NULL);
    lose_secret(&s);
    seen *before = look(at("log"));
    ck_assert_uint_eq(before->count, 0);
    ck_assert_uint_eq(before->damage_count, 2); /* the tail of what is not served, too */
    ck_assert_int_eq(before->damages[0].reason, U9_R_HEADER);
    ck_assert(before->damages[0].lost == U9_NOWHERE);
    forget(before);
    const char *sources[] = {"log", segment_in("log", 1)};
    for (unsigned i = 0; i < 2; i++) {
        salvage(sources[i], i ? "out2" : "out");
        ck_assert_uint_eq(salvaged, 4);
        ck_assert_uint_eq(report.records, 4);
        ck_assert_uint_eq(report.unsigned_records, 4);
        ck_assert_uint_eq(report.lost, 0);
        ck_assert_uint_eq(report.outputs, 1);
        ck_assert_uint_eq(outputs[0].unsigned_records, 4);
        ck_assert_int_eq(report.verdict, U9_V_CORRUPT);
        ck_assert_int_eq(damages[0].reason, U9_R_HEADER);
        ck_assert_uint_eq(damages[0].lost, 0);
        ck_assert_int_eq(damages[1].reason, U9_R_UNSIGNED);
        ck_assert_int_eq(damages[1].verdict, U9_V_CORRUPT);
        ck_assert_uint_eq(damages[1].lost, 0);
        expect_texts(i ? "out2" : "out", "a0 a1 a2 a3");
    }
}
END_TEST

/* [G-3] Its u9open says where it belongs, and the judge goes over it as over any other. */
START_TEST(a_segment_without_its_secret_stays_in_its_row)
{
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "z", 3);
    forged_segment two = unclosed(2, 1, &one);
    uint64_t gone = 0;
    seen_frame frames[8];
    size_t n = list_frames(two.bytes, two.size, frames, 8);
    for (size_t i = 0; i < n; i++)
        if (frames[i].ordinal == 5 && frames[i].count == 1) gone = frames[i].offset;
    two.bytes[gone + 70] ^= 1;
    lose_secret(&two);
    forge_end(&one, U9I_END_SEALING);
    forge_save(&one, at("log"));
    salvage("log", "out");
    ck_assert_uint_eq(report.records, 6);
    ck_assert_uint_eq(report.unsigned_records, 3);
    ck_assert_uint_eq(report.lost, 1);
    ck_assert_uint_eq(outputs[0].records, 6);
    expect_texts("out", "z0 z1 z2 a3 a4 a6");
    forge_free(&one);
}
END_TEST

/*
 * Puts a frame with the record "outer" into the segment that holds another frame, with a boundary of its own and
 * right for its place, with the record "inner".
 */
static uint64_t forge_frame_in_record(forged_segment *s, unsigned seed)
{
    enum { IN = 6, CONTENT = 1024 };
    uint8_t values[3 + CONTENT] = {0x1d, CONTENT >> 8, CONTENT & 255}, body[2048], sha[U9I_HASH_SIZE];
    uint8_t secret_bytes[16] = {1, 2, 3, (uint8_t)seed};
    u9i_secret secret;
    ck_assert(u9i_secret_init(&secret, secret_bytes));
    uint64_t p = s->size, q = p + U9I_FRAME_HEADER_SIZE + 5 + sizeof muid_key + 3 + IN;
    ck_assert_uint_eq(q % U9I_ALIGN, 0);
    uint8_t *frame = values + 3 + IN;
    size_t n = record_bytes(frame + U9I_FRAME_HEADER_SIZE, 7, "inner", 5);
    u9i_trailer t = {.ordinal = s->next.ordinal, .count = 1, .offset = q, .previous = s->next.previous,
                     .durable = 0, .time_us = 1700000000000000};
    memcpy(t.chain, s->next.chain, sizeof t.chain);
    ck_assert_int_eq(u9i_frame_seal(&secret, &t, frame, n, sha), U9_OK);
    n = raw_record(body, muid_key, sizeof muid_key, values, sizeof values, 2);
    return forge_frame(s, body, n, 1);
}

/* {F28} {F67} [G-2] What stands in a whole frame is a record's bytes, whatever it looks like. */
START_TEST(a_frame_in_a_record_elects_no_boundary)
{
    forged_segment s = unclosed(1, 1, NULL);
    forge_frame_in_record(&s, 1);
    lose_secret(&s);
    salvage("log", "out");
    ck_assert_uint_eq(report.unsigned_records, 5);
    ck_assert_uint_eq(report.outputs, 1);
    ck_assert_uint_eq(outputs[0].records, 5);
    ck_assert(!report.gave_up);
}
END_TEST

/* [G-2] [G-3] The frame around it is damaged: both boundaries remain, and none is believed. */
START_TEST(of_several_boundaries_none_is_believed)
{
    forged_segment s = unclosed(1, 1, NULL);
    uint64_t p = forge_frame_in_record(&s, 1);
    forge_records(&s, "a", 1);
    s.bytes[p + 900] ^= 1;
    lose_secret(&s);
    salvage("log", "out");
    ck_assert_uint_eq(report.records, 0);
    ck_assert_int_eq(damages[0].reason, U9_R_HEADER);
    ck_assert(damages[0].lost == U9_NOWHERE);
    ck_assert_uint_eq(report.unsigned_records, 6);
    ck_assert_uint_eq(salvaged, 6);
    ck_assert_uint_eq(report.outputs, 3);
    expect_texts("out.fork-2", "a0 a1 a2 a3 a5");
    expect_texts("out.fork-3", "inner");
    ck_assert_uint_eq(outputs[0].records, 0);
    ck_assert_uint_eq(outputs[1].unsigned_records, 5);
    ck_assert_uint_eq(outputs[2].ordinal, 4);
    ck_assert_uint_gt(outputs[2].begin, p);
}
END_TEST

/* [G-2] Nothing of the true frames is whole, but one shows by its trailer that they had another boundary. */
START_TEST(a_damaged_frame_contests_a_forged_one)
{
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    uint64_t p = forge_frame_in_record(&s, 1);
    s.bytes[100] ^= 1; /* the u9open */
    memset(s.bytes + p, 0, 16);
    s.bytes[p + 900] ^= 1;
    lose_secret(&s);
    salvage("log", "out");
    ck_assert_uint_eq(report.outputs, 2);
    ck_assert_uint_eq(outputs[0].records, 0);
    expect_texts("out.fork-2", "inner");
}
END_TEST

/* {F67} [G-2] The last frame: too short for a trailer, longer than a frame may be, beyond the file. */
START_TEST(a_length_that_cannot_be_is_mended_without_the_secret)
{
    static const uint64_t lengths[] = {5, UINT64_C(1) << 40, 1 << 20};
    for (unsigned i = 0; i < 3; i++) {
        forged_segment s = unclosed(1, 1, NULL);
        u9i_set_be(s.bytes + s.next.previous + 56, 8, lengths[i]);
        lose_secret(&s);
        salvage("log", i == 0 ? "out" : i == 1 ? "out1" : "out2");
        ck_assert_uint_eq(report.outputs, 1);
        ck_assert_uint_eq(outputs[0].unsigned_records, 4);
    }
}
END_TEST

/* [G-2] Headers that overlap, each with a trailer that names it, cost what is asked once and four times more. */
START_TEST(the_search_gives_up_after_four_times_the_file)
{
    enum { COUNT = 200 };
    forged_segment s = unclosed(1, 1, NULL);
    uint8_t header[64], trailer[80];
    uint64_t from = s.size, to = from + COUNT * sizeof header;
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t p = from + i * sizeof header, t = to + i * sizeof trailer;
        u9i_trailer made = {.offset = p, .previous = 32};
        memset(header, (int)i, sizeof header);
        memcpy(header + 48, "\xff\xffutf9f", 8);
        u9i_set_be(header + 56, 8, t + sizeof trailer - p - sizeof header);
        u9i_trailer_encode(&made, trailer);
        memcpy(s.bytes + p, header, sizeof header);
        memcpy(s.bytes + t, trailer, sizeof trailer);
    }
    s.size = to + COUNT * sizeof trailer;
    lose_secret(&s);
    salvage("log", "out");
    ck_assert_int_ne(report.gave_up, 0);
    ck_assert_uint_eq(report.outputs, 2);
    expect_texts("out.fork-2", "a0 a1 a2 a3");
}
END_TEST

/* {F69} */
/* [R-11] [G-2] {F69} The header's block cannot be read, and no copy of the secret is there: what is behind it is saved. */
START_TEST(an_unreadable_header_costs_its_block)
{
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&s, "z", 2);
    forge_pad(&s);
    forge_records(&s, "a", 3);
    forge_records(&s, "b", 1);
    forge_promise(&s);
    forge_pad(&s);
    forge_records(&s, "c", 1);
    forge_pad(&s);
    forge_save(&s, at("log"));
    forge_free(&s);
    sim_spoil(at(segment_in("log", 1)), 0, 512, EIO, 0);
    const char *sources[] = {"log", segment_in("log", 1)};
    for (unsigned i = 0; i < 2; i++) {
        salvage(sources[i], i ? "out2" : "out");
        ck_assert_uint_eq(report.unsigned_records, 5);
        ck_assert_int_eq(damages[0].reason, U9_R_UNREADABLE);
        ck_assert_int_eq(damages[1].reason, U9_R_UNSIGNED);
        expect_texts(i ? "out2" : "out", "a2 a3 a4 b5 c6");
    }
    sim_clear();
}
END_TEST

/* {F69} One bad sector in the midst of a segment without its secret. */
START_TEST(an_unreadable_sector_is_stepped_over_without_a_secret)
{
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&s, "a", 2);
    forge_pad(&s);
    forge_records(&s, "b", 1);
    forge_pad(&s);
    forge_records(&s, "c", 1);
    lose_secret(&s);
    sim_spoil(at(segment_in("log", 1)), 4096, 4608, EIO, 0);
    salvage("log", "out");
    expect_texts("out", "a0 a1 c3");
    ck_assert_uint_eq(report.unsigned_records, 3);
    ck_assert_uint_eq(report.lost, 1);
    sim_clear();
}
END_TEST

/* {F67} [H-5] [G-2] What has a copy of its secret keeps its signatures. */
START_TEST(one_flipped_bit_of_a_secret_is_mended_as_before)
{
    forged_segment s = unclosed(1, 1, NULL);
    s.bytes[12] ^= 4;
    forge_save(&s, at("log"));
    forge_free(&s);
    salvage("log", "out");
    ck_assert_uint_eq(report.unsigned_records, 0);
    expect_texts("out", "a0 a1 a2 a3");
}
END_TEST

/* A log that is salvaged into three: nothing, "a0 a1 a2 a3 a5", and "inner". */
static void make_three(void)
{
    forged_segment s = unclosed(1, 1, NULL);
    uint64_t p = forge_frame_in_record(&s, 1);
    forge_records(&s, "a", 1);
    s.bytes[p + 900] ^= 1;
    lose_secret(&s);
}

static u9_err try_salvage(const char *to, u9_fault *fault)
{
    u9_check_options o = {.size = sizeof o, .io = sim_io()};
    report = (u9_report){.size = sizeof report};
    *fault = (u9_fault){.err = U9_OK};
    return u9_salvage(at("log"), at(to), &o, &report, &salvaged, fault);
}

static const char *beside(const char *out, const char *suffix)
{
    static char name[80];
    snprintf(name, sizeof name, "%s%s", out, suffix);
    return at(name);
}

/* {F68} [G-5] Whatever stands where a branch would go stays as it is, and no output gets a name. */
START_TEST(something_in_the_way_of_a_branch_stops_it_all)
{
    static const char *const ways[] = {".fork-2", ".fork-3", ".fork-2.partial", ".fork-3.partial"};
    u9_fault fault;
    make_three();
    for (unsigned i = 0; i < 4; i++) {
        char out[16];
        uint8_t before[16], after[16];
        snprintf(out, sizeof out, "out%u", i);
        session(beside(out, ways[i]), "mine", 3, 0);
        picture(beside(out, ways[i]), before);
        ck_assert_int_eq(try_salvage(out, &fault), U9_ARG);
        ck_assert_ptr_nonnull(strstr(fault.path, ways[i]));
        picture(beside(out, ways[i]), after);
        ck_assert_mem_eq(before, after, sizeof before);
        ck_assert(!sim_is_dir(at(out)));
        for (unsigned k = 0; k < 2; k++) ck_assert(k == i || !sim_is_dir(beside(out, ways[k])));
        remove_log(beside(out, ways[i]));
        ck_assert_msg(try_salvage(out, &fault) == U9_OK, "%s", fault.text); /* what is unfinished is replaced */
        ck_assert_uint_eq(report.outputs, 3);
        ck_assert(!sim_is_dir(beside(out, ".partial")) && !sim_is_dir(beside(out, ".fork-2.partial")));
    }
}
END_TEST

/* {F63} [G-5] Whichever call fails: when OUT is there, all are, and whole. */
START_TEST(when_the_first_output_is_there_all_are)
{
    u9_fault fault;
    u9_err err = U9_IO;
    unsigned nth = 1, named = 0;
    make_three();
    for (; err != U9_OK && nth < 5000; nth++) {
        char out[24];
        snprintf(out, sizeof out, "out%u", nth);
        sim_fail(SIM_ANY, nth, ENOSPC, true);
        err = try_salvage(out, &fault);
        sim_mend();
        if (!sim_is_dir(at(out))) {
            ck_assert_int_ne(err, U9_OK);
            continue;
        }
        named++;
        ck_assert(sim_is_dir(beside(out, ".fork-2")) && sim_is_dir(beside(out, ".fork-3")));
        snprintf(out, sizeof out, "out%u.fork-2", nth);
        expect_texts(out, "a0 a1 a2 a3 a5");
        snprintf(out, sizeof out, "out%u.fork-3", nth);
        expect_texts(out, "inner");
    }
    ck_assert_int_eq(err, U9_OK);
    ck_assert_uint_gt(nth, 50);
    ck_assert_uint_gt(named, 1);
}
END_TEST

/* Branches */

/* Segment `number` behind `before`, with `count` records in two frames, all of them promised. */
static forged_segment promised(uint64_t number, unsigned seed, const forged_segment *before, const char *prefix,
                               uint32_t count)
{
    forged_segment s = forge_begin(number, seed, before, U9I_TAIL_TORN);
    forge_records(&s, prefix, count - 1);
    forge_records(&s, prefix, 1);
    forge_promise(&s);
    return s;
}

static void save(forged_segment *s)
{
    forge_pad(s);
    forge_save(s, at("log"));
}

static unsigned told_of(u9_reason reason)
{
    unsigned n = 0;
    for (unsigned i = 0; i < damage_count; i++) n += damages[i].reason == reason;
    return n;
}

/* {F65} [G-4] [L-9] The log was copied, and both went on: each went on from the same end. */
START_TEST(each_branch_goes_into_a_log_of_its_own)
{
    forged_segment one = promised(1, 1, NULL, "a", 2);
    forged_segment two = promised(2, 1, &one, "b", 2), three = promised(3, 1, &two, "c", 2);
    forged_segment other = promised(4, 2, &one, "x", 3), tip = promised(5, 2, &one, "y", 2);
    save(&one);
    save(&two);
    save(&three);
    save(&other);
    save(&tip);
    salvage("log", "out");
    expect_texts("out", "a0 a1 y2 y3");
    ck_assert_uint_eq(report.outputs, 3);
    ck_assert_uint_eq(salvaged, 11);
    expect_texts("out.fork-2", "x2 x3 x4");
    expect_texts("out.fork-3", "b2 b3 c4 c5");
    ck_assert_uint_eq(outputs[1].segment, 4);
    ck_assert_uint_eq(outputs[1].ordinal, 2);
    ck_assert_uint_eq(outputs[2].segment, 2);
    ck_assert_uint_ge(told_of(U9_R_FORK), 2);
    ck_assert_int_eq(report.verdict, U9_V_CORRUPT);
    forge_free(&one);
    forge_free(&two);
    forge_free(&three);
    forge_free(&other);
    forge_free(&tip);
}
END_TEST

/* [G-4] [L-9] An end that a successor names, and behind it frames that had been promised: they are a branch. */
START_TEST(promised_frames_behind_a_contradicted_end_are_kept)
{
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 2);
    forged_segment two = promised(2, 1, &one, "b", 2);
    forge_pad(&one);
    forge_records(&one, "z", 2);
    forge_records(&one, "z", 1);
    forge_promise(&one);
    save(&one);
    save(&two);
    salvage("log", "out");
    expect_texts("out", "a0 a1 b2 b3");
    expect_texts("out.fork-2", "z2 z3 z4");
    ck_assert_uint_eq(outputs[1].segment, 1);
    ck_assert_uint_eq(outputs[1].ordinal, 2);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* The same segment, in a copy of the log. */
static forged_segment copy_of(const forged_segment *s)
{
    forged_segment copy = *s;
    copy.bytes = malloc(FORGED_ROOM);
    ck_assert_ptr_nonnull(copy.bytes);
    memcpy(copy.bytes, s->bytes, FORGED_ROOM);
    return copy;
}

/* [G-4] [L-9] The next segment is of the other line: it names an end within a frame of this one, or at one's end. */
START_TEST(frames_across_an_end_that_the_other_line_names_are_a_branch)
{
    for (unsigned way = 0; way < 3; way++) {
        forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        forge_records(&one, "a", 2);
        forged_segment other = copy_of(&one);
        forge_records(&other, "x", 3);
        forged_segment two = promised(2, 1, &other, "y", 2);
        if (way == 1) forge_records(&one, "p", 1);
        uint64_t begin = forge_records(&one, "b", way == 2 ? 3 : 8), end = one.end;
        if (way < 2) forge_records(&one, "c", 1);
        forge_promise(&one);
        save(&one);
        save(&two);
        salvage("log", "out");
        ck_assert_int_eq(report.verdict, U9_V_CORRUPT);
        ck_assert_uint_eq(told_of(U9_R_FORK), way == 2 ? 1 : 2);
        if (way == 2) { /* the ends are one, and not what led there: it is read as it stands, and told */
            ck_assert_uint_eq(damages[0].begin, end);
            ck_assert_uint_eq(damages[0].end, end);
            ck_assert_uint_eq(damages[0].lost, U9_NOWHERE);
            expect_texts("out", "a0 a1 b2 b3 b4 y5 y6");
        } else {
            ck_assert_uint_eq(damages[0].begin, begin); /* [L-9] what is left out */
            ck_assert_uint_gt(damages[0].end, other.end);
            ck_assert_uint_eq(damages[0].ordinal, way ? 3 : 2);
            ck_assert_uint_eq(damages[0].lost, 9);
            ck_assert_uint_eq(damages[1].begin, begin); /* and what is not here */
            ck_assert_uint_eq(damages[1].end, other.end);
            ck_assert_uint_eq(damages[1].lost, way ? 2 : 3);
            expect_texts("out", way ? "a0 a1 p2 y5 y6" : "a0 a1 y5 y6");
            expect_texts("out.fork-2", way ? "b3 b4 b5 b6 b7 b8 b9 b10 c11" : "b2 b3 b4 b5 b6 b7 b8 b9 c10");
            ck_assert_uint_eq(outputs[1].begin, begin);
            ck_assert_uint_eq(outputs[1].ordinal, way ? 3 : 2);
        }
        remove_log(at("log"));
        remove_log(at("out"));
        remove_log(at("out.fork-2"));
        forge_free(&one);
        forge_free(&other);
        forge_free(&two);
    }
}
END_TEST

/* [G-4] [L-3] What was never promised, and a later session leaves out, is void: it was never in the log. */
START_TEST(what_is_void_is_not_saved)
{
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 2);
    forged_segment void_one = forge_begin(2, 1, &one, U9I_TAIL_TORN), two = promised(3, 1, &one, "b", 2);
    forge_records(&void_one, "v", 2);
    forge_records(&one, "z", 2);
    save(&one);
    save(&void_one);
    save(&two);
    salvage("log", "out");
    expect_texts("out", "a0 a1 b2 b3");
    ck_assert_uint_eq(report.outputs, 1);
    forge_free(&one);
    forge_free(&void_one);
    forge_free(&two);
}
END_TEST

/* {F71} [G-4] [L-2] Order and number come from what stands inside. */
START_TEST(swapped_and_misnamed_files_are_saved_in_order)
{
    forged_segment one = promised(1, 1, NULL, "a", 2), two = promised(2, 1, &one, "b", 2);
    forged_segment three = promised(3, 1, &two, "c", 2);
    one.number = 3;
    two.number = 1;
    three.number = 0x77;
    save(&one);
    save(&two);
    save(&three);
    salvage("log", "out");
    expect_texts("out", "a0 a1 b2 b3 c4 c5");
    ck_assert_uint_eq(report.outputs, 1);
    ck_assert_uint_eq(report.lost, 0);
    forge_free(&one);
    forge_free(&two);
    forge_free(&three);
}
END_TEST

/* [G-3] [G-4] A branch whose segment has lost its secret. */
START_TEST(a_branch_without_its_secret_is_a_branch)
{
    forged_segment one = promised(1, 1, NULL, "a", 2), two = promised(2, 1, &one, "b", 2);
    forged_segment tip = promised(3, 2, &one, "y", 2);
    save(&one);
    save(&tip);
    lose_secret(&two);
    salvage("log", "out");
    expect_texts("out", "a0 a1 y2 y3");
    expect_texts("out.fork-2", "b2 b3");
    ck_assert_uint_eq(outputs[0].unsigned_records, 0);
    ck_assert_uint_eq(outputs[1].unsigned_records, 2);
    ck_assert_uint_eq(told_of(U9_R_UNSIGNED), 1);
    forge_free(&one);
    forge_free(&tip);
}
END_TEST

/* [G-4] [R-9] [Y-6] What is damaged in a branch is told, too: what costs records, and what can be mended. */
START_TEST(the_damage_of_a_branch_is_told_and_mended)
{
    forged_segment one = promised(1, 1, NULL, "a", 2), two = forge_begin(2, 1, &one, U9I_TAIL_TORN);
    forged_segment tip = promised(3, 2, &one, "y", 2);
    forge_records(&two, "b", 2);
    uint64_t wrong = forge_frame(&two, "\x48\x00", 2, 1);
    forge_records(&two, "c", 1);
    uint64_t mended = forge_records(&two, "d", 2);
    forge_records(&two, "e", 1);
    forge_promise(&two);
    two.bytes[mended + 5] ^= 1;
    save(&one);
    save(&two);
    save(&tip);
    salvage("log", "out");
    expect_texts("out", "a0 a1 y2 y3");
    expect_texts("out.fork-2", "b2 b3 c5 d6 d7 e8");
    const u9_damage *body = NULL, *header = NULL;
    for (unsigned i = 0; i < damage_count; i++) {
        if (damages[i].segment == 2 && damages[i].reason == U9_R_BODY) body = &damages[i];
        if (damages[i].segment == 2 && damages[i].mended) header = &damages[i];
    }
    ck_assert(body && body->begin == wrong && body->ordinal == 4 && body->lost == 1 && !body->mended);
    ck_assert(header && header->begin == mended && header->lost == 0);
    forge_free(&one);
    forge_free(&two);
    forge_free(&tip);
}
END_TEST

/* [G-4] A closed segment was copied, and both went on in it: it is there twice, and they part. */
START_TEST(a_copy_that_went_on_by_itself_is_a_branch)
{
    forged_segment one = promised(1, 1, NULL, "a", 3);
    forged_segment copy = copy_of(&one);
    forge_records(&one, "b", 4);
    forge_records(&one, "b", 1);
    forge_promise(&one);
    forge_records(&copy, "c", 1);
    forge_promise(&copy);
    copy.number = 9; /* only its name */
    save(&one);
    save(&copy);
    salvage("log", "out");
    expect_texts("out", "a0 a1 a2 b3 b4 b5 b6 b7");
    expect_texts("out.fork-2", "c3");
    forge_free(&one);
    forge_free(&copy);
}
END_TEST

/* [G-4] The same file twice, damaged at other places: each frame once. */
START_TEST(of_a_file_that_is_there_twice_each_frame_is_saved_once)
{
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    uint64_t first = forge_records(&one, "a", 2);
    forge_records(&one, "b", 2);
    uint64_t third = forge_records(&one, "c", 2);
    forge_records(&one, "d", 1);
    forge_promise(&one);
    one.bytes[first + 70] ^= 1;
    save(&one);
    one.bytes[first + 70] ^= 1;
    one.bytes[third + 70] ^= 1;
    one.number = 2;
    save(&one);
    salvage("log", "out");
    ck_assert_uint_eq(salvaged, 7);
    ck_assert_uint_eq(report.outputs, 2);
    ck_assert_uint_eq(outputs[0].records, 5);
    ck_assert_uint_eq(outputs[1].records, 2);
    forge_free(&one);
}
END_TEST

/* {F63} [G-5] What was saved gets its name when it was read again, and not before. */
START_TEST(a_disk_that_keeps_other_bytes_is_no_place_to_save_a_log)
{
    session(at("log"), "r", 50, 7);
    u9_check_options o = {.size = sizeof o, .io = sim_io()};
    for (unsigned nth = 1; nth <= 2; nth++) {
        u9_report found = {.size = sizeof found};
        uint64_t saved = 0;
        unsigned lies = sim_lies();
        sim_lie(nth == 1 ? SIM_ROT : SIM_LOST, 2, 8 * 100);
        u9_err err = u9_salvage(at("log"), at("saved"), &o, &found, &saved, NULL);
        ck_assert_uint_eq(sim_lies(), lies + 1);
        ck_assert_int_eq(err, U9_CORRUPT);
        ck_assert(!exists(at("saved")));
    }
}
END_TEST

Suite *suite_salvage_reading(void)
{
    Suite *suite = suite_create("salvage_reading");
    TCase *tc = tcase_create("salvage_reading");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_add_test(tc, records_keep_their_times);
    tcase_add_test(tc, a_time_to_come_is_not_kept);
    tcase_add_test(tc, a_record_that_no_append_takes_is_kept_as_it_stands);
    tcase_add_test(tc, a_frame_that_was_compressed_stays_compressed);
    tcase_add_test(tc, a_lost_secret_costs_the_signatures_only);
    tcase_add_test(tc, a_segment_without_its_secret_stays_in_its_row);
    tcase_add_test(tc, a_frame_in_a_record_elects_no_boundary);
    tcase_add_test(tc, of_several_boundaries_none_is_believed);
    tcase_add_test(tc, a_damaged_frame_contests_a_forged_one);
    tcase_add_test(tc, a_length_that_cannot_be_is_mended_without_the_secret);
    tcase_add_test(tc, the_search_gives_up_after_four_times_the_file);
    tcase_add_test(tc, an_unreadable_header_costs_its_block);
    tcase_add_test(tc, an_unreadable_sector_is_stepped_over_without_a_secret);
    tcase_add_test(tc, one_flipped_bit_of_a_secret_is_mended_as_before);
    tcase_add_test(tc, something_in_the_way_of_a_branch_stops_it_all);
    tcase_add_test(tc, when_the_first_output_is_there_all_are);
    tcase_add_test(tc, each_branch_goes_into_a_log_of_its_own);
    tcase_add_test(tc, promised_frames_behind_a_contradicted_end_are_kept);
    tcase_add_test(tc, frames_across_an_end_that_the_other_line_names_are_a_branch);
    tcase_add_test(tc, what_is_void_is_not_saved);
    tcase_add_test(tc, swapped_and_misnamed_files_are_saved_in_order);
    tcase_add_test(tc, a_branch_without_its_secret_is_a_branch);
    tcase_add_test(tc, the_damage_of_a_branch_is_told_and_mended);
    tcase_add_test(tc, a_copy_that_went_on_by_itself_is_a_branch);
    tcase_add_test(tc, of_a_file_that_is_there_twice_each_frame_is_saved_once);
    tcase_add_test(tc, a_disk_that_keeps_other_bytes_is_no_place_to_save_a_log);
    suite_add_tcase(suite, tc);
    return suite;
}
