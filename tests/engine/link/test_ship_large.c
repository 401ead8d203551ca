/*
 * tests/engine/link/test_ship_large.c: records that no frame of a stream holds come in pieces, and arrive as a
 * whole or not at all. [T-9] [T-12] [T-13]
 */
#include "tests/engine/link/ship.h"
#include "tests/engine/places.h"
#include "tests/engine/scarce.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include "format/base/bytes.h"
#include "format/link/hello.h"

#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE = (17 << 20) + 4321 };

/* Appends a record with one value of `size` bytes in pieces. */
static void put_large(u9_log *log, uint8_t seed, uint64_t size)
{
    enum { STEP = 1 << 18 };
    u9_append *a;
    uint8_t *bytes = malloc(STEP), head[9];
    size_t n = u9_value_head(U9_BYTES, size, head);
    ck_assert_int_eq(u9_append_begin(log, NULL, 2, 1 + n + size, &a, NULL), U9_OK);
    ck_assert_int_eq(u9_append_write(a, "\x85", 1), U9_OK);
    ck_assert_int_eq(u9_append_write(a, head, n), U9_OK);
    for (uint64_t done = 0; done < size; done += STEP) {
        for (size_t i = 0; i < STEP; i++) bytes[i] = (uint8_t)(seed + (done + i) * 7 + (done + i) / 251);
        ck_assert_int_eq(u9_append_write(a, bytes, size - done < STEP ? (size_t)(size - done) : STEP), U9_OK);
    }
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    free(bytes);
}

/* Batches, and two large records among them. */
static void mixed_log(const char *path)
{
    u9_log *log = open_quick(path);
    put_batch(log, "first", 3, 0);
    put_large(log, 1, LARGE);
    put_batch(log, "second", 2, 0);
    put_large(log, 2, LARGE + 1);
    close_log(log);
}

START_TEST(large_records_arrive_between_batches)
{
    size_t size;
    mixed_log(at("from"));
    uint8_t *stream = stream_of(at("from"), 0, &size);
    for (int again = 0; again < 2; again++) {
        side r = receive(at("to"), stream, size);
        expect_fine(&r);
        ck_assert_uint_eq(r.report.records, again ? 0 : 7);
        ck_assert_uint_eq(r.report.batches, again ? 0 : 4);
        ck_assert_uint_eq(r.report.skipped, again ? 7 : 0);
        ck_assert_uint_eq(r.report.next, 7);
    }
    expect_same(at("from"), at("to"));
    free(stream);
}
END_TEST

/* [T-9] What the receiver has last may be such a record: it is compared by its mark, sent again or not. */
START_TEST(a_large_record_is_compared_where_a_stream_goes_on)
{
    size_t size;
    mixed_log(at("from"));
    uint8_t *stream = stream_of(at("from"), 0, &size);
    side r = receive(at("to"), stream, size);
    expect_fine(&r);
    free(stream);
    u9_log *log = open_quick(at("from"));
    put_batch(log, "third", 2, 0);
    close_log(log);
    stream = stream_of(at("from"), 7, &size); /* its mark, and what is new */
    ck_assert_uint_lt(size, 1000);
    r = receive(at("to"), stream, size);
    expect_fine(&r);
    ck_assert_uint_eq(r.report.records, 2);
    expect_same(at("from"), at("to"));
    log = open_quick(at("other")); /* another record in its place */
    put_batch(log, "first", 6, 0);
    put_large(log, 3, LARGE + 1);
    close_log(log);
    r = receive(at("other"), stream, size);
    ck_assert_int_eq(r.err, U9_ARG);
    ck_assert_str_eq(r.fault.rule, "T-9");
    free(stream);
}
END_TEST

/* A break anywhere within the pieces: nothing of the record is there, and the same stream goes on. */
START_TEST(a_break_within_a_large_record_is_mended_by_the_same_stream)
{
    size_t size;
    mixed_log(at("from"));
    uint8_t *stream = stream_of(at("from"), 0, &size);
    static const unsigned ninths[] = {1, 4, 5, 8};
    for (unsigned k = 0; k < sizeof ninths / sizeof ninths[0]; k += thorough(2, 1)) {
        unsigned i = ninths[k];
        char name[20];
        snprintf(name, sizeof name, "to%u", i);
        side r = receive(at(name), stream, size / 9 * i);
        ck_assert_int_eq(r.err, U9_TORN);
        ck_assert_uint_eq(r.report.next, i <= 4 ? 3 : 6);
        seen *s = look(at(name));
        ck_assert_uint_eq(s->count, r.report.next);
        ck_assert_uint_eq(s->damage_count, 0);
        forget(s);
        r = receive(at(name), stream, size);
        expect_fine(&r);
        expect_same(at("from"), at(name));
    }
    free(stream);
}
END_TEST

START_TEST(large_records_arrive_over_a_two_way_link)
{
    mixed_log(at("from"));
    side sender, receiver;
    move_both_ways(true, at("from"), at("to"), &sender, &receiver);
    expect_fine(&sender);
    expect_fine(&receiver);
    expect_same(at("from"), at("to"));
    ck_assert_uint_lt(sender.report.held_max, 4 << 20); /* pieces, never the record */
    u9_log *log = open_quick(at("from"));
    put_large(log, 5, LARGE);
    close_log(log);
    move_both_ways(true, at("from"), at("to"), &sender, &receiver);
    expect_fine(&sender);
    expect_fine(&receiver);
    ck_assert_uint_eq(receiver.report.records, 1);
    expect_same(at("from"), at("to"));
}
END_TEST

/* The mark of the last record, by who sends on behind it and by who has it. */
static u9_err compare_mark(bool sends, const uint8_t *stream, size_t size, uint64_t *next)
{
    int fd = memfd_create("stream", MFD_CLOEXEC);
    u9_options quick = quick_options();
    u9_ship_report report = {.size = sizeof report};
    u9_log *log = NULL;
    u9_err err;
    if (sends) {
        u9_send_options s = {.size = sizeof s, .in = -1, .out = fd, .from = 2};
        quick.mode = U9_READ;
        err = u9_log_open(at("from"), &quick, &log, NULL);
        if (err == U9_OK) err = u9_log_send(log, &s, &report, NULL);
        u9_err closed = u9_log_close(log, NULL);
        if (err == U9_OK) err = closed;
    } else {
        u9_recv_options v = {.size = sizeof v, .in = fd, .out = -1, .log = &quick};
        ck_assert_int_eq(pwrite(fd, stream, size, 0), (ssize_t)size);
        err = u9_log_recv(at("to"), &v, &report, NULL);
    }
    close(fd);
    *next = report.next;
    return err;
}

/* {F14} [T-9] */
START_TEST(who_compares_a_large_record_without_memory_or_sight_is_told_so)
{
    bool sends = _i / 2;
    scarcity what = _i % 2 ? SCARCE_SIGHT : SCARCE_MEMORY;
    size_t size, count, kept;
    uint64_t next;
    u9_log *log = open_quick(at("from"));
    put_batch(log, "first", 1, 0);
    put_large(log, 1, LARGE);
    close_log(log);
    copy_log(at("from"), at("to"));
    uint8_t *stream = stream_of(at("from"), 2, &size);
    places_begin((unsigned)_i, 4);
    scarce_begin(what, 0, ENXIO, false);
    ck_assert_int_eq(compare_mark(sends, stream, size, &next), U9_OK);
    (void)scarce_end(NULL);
    const unsigned *nths = places_end(&count);
    ck_assert_uint_eq(next, 2);
    ck_assert_uint_gt(count, 0);
    for (size_t i = 0; i < count; i++) {
        scarce_begin(what, nths[i], ENXIO, false);
        u9_err err = compare_mark(sends, stream, size, &next);
        (void)scarce_end(&kept);
        ck_assert_msg(kept == 0, "%u: %zu blocks are kept behind %s", nths[i], kept, u9_err_name(err));
        if (what == SCARCE_MEMORY) ck_assert_msg(err == U9_OK || err == U9_NOMEM, "%u: %s", nths[i], u9_err_name(err));
        else ck_assert_msg(err == U9_OK || err == U9_IO || err == U9_CORRUPT, "%u: %s", nths[i], u9_err_name(err));
        if (err == U9_OK) ck_assert_uint_eq(next, 2);
    }
    ck_assert_int_eq(compare_mark(sends, stream, size, &next), U9_OK);
    free(stream);
}
END_TEST

/* [T-12] A large record that is served, and no log takes: what stands before it is sent, and no last piece of it. */
START_TEST(a_large_record_that_no_log_takes_is_damage)
{
    enum { TOTAL = 17 << 20, PARTS = 17 };
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_grow(&f, TOTAL + (1 << 20));
    forge_records(&f, "before", 1);
    uint8_t *bytes = calloc(1, TOTAL);
    bytes[0] = 0x42; /* a key, and a tuple that holds no values */
    u9i_set_be(bytes + 1, 4, TOTAL - 9);
    u9i_set_be(bytes + 5, 4, 2);
    bytes[9] = 0x1c;
    bytes[10] = 16;
    bytes[27] = 0x42;
    u9i_set_be(bytes + 28, 4, TOTAL - 36);
    u9i_set_be(bytes + 32, 4, 1);
    uint64_t before = 0;
    for (uint32_t i = 0; i < PARTS; i++) {
        u9i_part_record part = {.number = i, .total = TOTAL, .before = before,
                                .bytes = {bytes + i * (1 << 20), 1 << 20}};
        before = forge_part(&f, &part, i + 1 == PARTS);
    }
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, at("from"));
    free(bytes);
    forge_free(&f);
    size_t size;
    side sender;
    uint8_t *stream = record(at("from"), 0, &size, &sender);
    ck_assert_int_eq(sender.err, U9_CORRUPT);
    ck_assert_str_eq(sender.fault.rule, "T-12");
    ck_assert_uint_eq(sender.report.next, 1);
    ck_assert_int_eq(sender.report.damaged, 1);
    side r = receive(at("to"), stream, size);
    ck_assert_int_eq(r.err, U9_CORRUPT);
    ck_assert_int_eq(r.report.peer_failed, 1);
    ck_assert_uint_eq(r.report.next, 1);
    free(stream);
}
END_TEST

/* A stream by hand: alpha, u9log, then frames. */
typedef struct forged_stream {
    uint8_t bytes[8192];
    size_t size;
} forged_stream;

static void put_frame(forged_stream *s, const void *values, size_t size)
{
    u9_transit_head(size, s->bytes + s->size);
    memcpy(s->bytes + s->size + U9_TRANSIT_HEAD, values, size);
    s->size += U9_TRANSIT_HEAD + size;
}

static void put_piece(forged_stream *s, uint64_t number, uint64_t total, size_t size, unsigned times)
{
    uint8_t front[100] = {0x42}, room[1000];
    u9_builder b;
    u9_builder_init(&b, room, sizeof room);
    u9i_set_be(front + 1, 4, total - 9);
    u9i_set_be(front + 5, 4, 2);
    front[9] = 0x1c;
    front[10] = 16;
    front[27] = 0x1e;
    u9i_set_be(front + 28, 4, total - 32);
    u9i_sent_piece p = {.number = number, .total = total, .bytes = front, .size = size};
    for (unsigned i = 0; i < times; i++) ck_assert_int_eq(u9i_piece_build(&b, &p), U9_OK);
    put_frame(s, b.bytes, b.size);
}

/* The same of a record whose length takes more than 32 bits. */
static void put_huge(forged_stream *s)
{
    uint8_t front[100] = {0x43}, room[1000];
    u9_builder b;
    uint64_t total = UINT64_C(5) << 30;
    u9_builder_init(&b, room, sizeof room);
    u9i_set_be(front + 1, 8, total - 17);
    u9i_set_be(front + 9, 8, 2);
    front[17] = 0x1c;
    front[18] = 16;
    front[35] = 0x1f;
    u9i_set_be(front + 36, 8, total - 44);
    u9i_sent_piece p = {.number = 0, .total = total, .bytes = front, .size = 60};
    ck_assert_int_eq(u9i_piece_build(&b, &p), U9_OK);
    put_frame(s, b.bytes, b.size);
}

START_TEST(pieces_that_no_sender_sends_are_refused)
{
    enum { TOTAL = (1 << 24) + 1 };
    static const struct {
        struct { uint64_t number, total; size_t size; unsigned times; } p[2];
        u9_err err;
        const char *rule;
    } rows[] = {
        {{{0, TOTAL, 50, 1}, {1, TOTAL, 50, 1}}, U9_TORN, "T-4"},       /* what is right so far */
        {{{1, TOTAL, 50, 1}, {0}}, U9_CORRUPT, "T-13"},                  /* not the first */
        {{{0, TOTAL, 50, 1}, {0, TOTAL, 50, 1}}, U9_CORRUPT, "T-13"},    /* the first again */
        {{{0, TOTAL, 50, 1}, {2, TOTAL, 50, 1}}, U9_CORRUPT, "T-13"},    /* one left out */
        {{{0, TOTAL, 50, 1}, {1, TOTAL + 1, 50, 1}}, U9_CORRUPT, "T-13"}, /* of another record */
        {{{0, TOTAL, 50, 1}, {1, TOTAL, 0, 1}}, U9_CORRUPT, "T-13"},     /* of nothing */
        {{{0, TOTAL, 50, 2}, {0}}, U9_CORRUPT, "T-13"},                  /* two in a frame */
        {{{0, TOTAL, 20, 1}, {0}}, U9_CORRUPT, "T-13"},                  /* half a key */
        {{{0, 1 << 24, 50, 1}, {0}}, U9_CORRUPT, "T-13"},                /* a batch would do */
        {{{0, UINT64_C(1) << 62, 50, 1}, {0}}, U9_CORRUPT, "T-13"},      /* its head does not say so */
    };
    static const uint8_t begin[] = {0x10, 0x4e, 0x23, 0x0a, 'u', '9', 'l', 'o', 'g', 0, 0, 0, 0x81,
                                    0x24, 'm', 'u', 'i', 'd', 0x1c, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x30};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        forged_stream s = {.size = 0};
        put_frame(&s, begin, sizeof begin);
        for (unsigned k = 0; k < 2 && rows[i].p[k].total > 0; k++)
            put_piece(&s, rows[i].p[k].number, rows[i].p[k].total, rows[i].p[k].size, rows[i].p[k].times);
        side r = receive(at("forged"), s.bytes, s.size);
        ck_assert_msg(r.err == rows[i].err && strcmp(r.fault.rule, rows[i].rule) == 0, "row %u: %s [%s] %s", i,
                      u9_err_name(r.err), r.fault.rule, r.err ? r.fault.text : "");
        ck_assert_uint_eq(r.report.records, 0);
        remove_log(at("forged"));
    }
    for (unsigned i = 0; i < 2; i++) { /* one of 5 GiB, of which nothing more comes; and one behind a record, in its frame */
        forged_stream s = {.size = 0};
        put_frame(&s, begin, sizeof begin);
        size_t before = s.size + U9_TRANSIT_HEAD;
        if (i == 0) put_huge(&s);
        else put_piece(&s, 0, TOTAL, 50, 1);
        uint8_t both[400] = "\x4a\x13\x1c\x10" "0123456789abcdef" "\x85";
        memcpy(both + 21, s.bytes + before, s.size - before);
        size_t n = 21 + s.size - before;
        if (i == 1) s.size = before - U9_TRANSIT_HEAD, put_frame(&s, both, n);
        side r = receive(at("forged"), s.bytes, s.size);
        ck_assert_msg(strcmp(r.fault.rule, i ? "T-13" : "T-4") == 0, "%u: %s [%s] %s", i, u9_err_name(r.err), r.fault.rule,
                      r.fault.text);
        ck_assert_uint_eq(r.report.records, 0);
        remove_log(at("forged"));
    }
    forged_stream s = {.size = 0}; /* another record, or the end, within one */
    put_frame(&s, begin, sizeof begin);
    put_piece(&s, 0, TOTAL, 50, 1);
    size_t open = s.size;
    put_frame(&s, "\x4a\x13\x1c\x10" "0123456789abcdef" "\x85", 21);
    side r = receive(at("forged"), s.bytes, s.size);
    ck_assert_int_eq(r.err, U9_CORRUPT);
    ck_assert_str_eq(r.fault.rule, "T-13");
    s.size = open;
    put_frame(&s, "\x11", 1);
    r = receive(at("forged"), s.bytes, s.size);
    ck_assert_int_eq(r.err, U9_CORRUPT);
    ck_assert_str_eq(r.fault.rule, "T-13");
    seen *look_at = look(at("forged"));
    ck_assert_uint_eq(look_at->count, 0);
    ck_assert_uint_eq(look_at->damage_count, 0);
    forget(look_at);
}
END_TEST

/* The mark of values in pieces of any size is that of the whole. */
START_TEST(a_tally_of_pieces_is_the_mark_of_the_whole)
{
    uint8_t values[1000], want[U9I_HASH_SIZE], got[U9I_HASH_SIZE];
    for (size_t i = 0; i < sizeof values; i++) values[i] = (uint8_t)(i * 31);
    for (size_t size = 0; size <= sizeof values; size += 37) {
        u9i_hello_mark("key", 3, values, size, want);
        for (size_t each = 1; each < 200; each += 13) {
            u9i_tally t;
            u9i_tally_start(&t, "key", 3);
            for (size_t at = 0; at < size; at += each)
                u9i_tally_take(&t, values + at, size - at < each ? size - at : each);
            u9i_tally_finish(&t, got);
            ck_assert_mem_eq(got, want, sizeof want);
        }
    }
}
END_TEST

Suite *suite_ship_large(void)
{
    Suite *suite = suite_create("ship_large");
    TCase *tc = tcase_create("ship_large");
    places_share();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
    tcase_add_test(tc, large_records_arrive_between_batches);
    tcase_add_test(tc, a_large_record_is_compared_where_a_stream_goes_on);
    tcase_add_test(tc, a_break_within_a_large_record_is_mended_by_the_same_stream);
    tcase_add_test(tc, large_records_arrive_over_a_two_way_link);
    tcase_add_loop_test(tc, who_compares_a_large_record_without_memory_or_sight_is_told_so, 0, 4);
    tcase_add_test(tc, a_large_record_that_no_log_takes_is_damage);
    tcase_add_test(tc, pieces_that_no_sender_sends_are_refused);
    tcase_add_test(tc, a_tally_of_pieces_is_the_mark_of_the_whole);
    suite_add_tcase(suite, tc);
    return suite;
}
