/*
 * tests/engine/write/test_earlier.c: a session that goes on in a closed file and fills it up seals it with an index of all
 * that is in it, also of what sessions before it wrote, as these wrote it; of what they cannot have written it makes none,
 * and no record is lost by that: the next reader looks for itself. [K-2] [K-4] [S-5]
 */
#include "format/base/bytes.h"
#include "format/frame/body.h"
#include "tests/engine/fixture.h"
#include "tests/engine/scarce.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <string.h>

enum { FILLER = 8000, EARLY = 3, LATE = 2 };

typedef struct leftover {
    const char *is;
    void (*put)(forged_segment *s);
    bool indexed;
} leftover;

static void put_nothing(forged_segment *s)
{
    (void)s;
}

static void put_zeros(forged_segment *s)
{
    forge_pad(s);
}

/* Two records, which the trailer says are three. */
static void put_one_too_few(forged_segment *s)
{
    uint8_t body[200];
    size_t n = record_bytes(body, 90, "a", 1);
    n += record_bytes(body + n, 91, "b", 1);
    forge_frame(s, body, n, 3);
}

/* A record, and what is none. */
static void put_a_tail(forged_segment *s)
{
    uint8_t body[200];
    size_t n = record_bytes(body, 90, "a", 1);
    body[n++] = 0xff;
    forge_frame(s, body, n, 1);
}

/* Compressed, or so it says. */
static void put_what_is_not_compressed(forged_segment *s)
{
    uint8_t plain[3000] = {0}, body[4000];
    size_t n = u9i_lz4_wrap(plain, record_bytes(plain, 90, "a", 1) + 2000, body);
    ck_assert(n > 40 && n < 1000);
    memset(body + 32, 0xff, n - 32);
    forge_frame(s, body, n, 1);
}

/* A key of two bytes, in a log of muids. */
static void put_another_key(forged_segment *s)
{
    static const uint8_t key[] = {0x1c, 2, 'a', 'b'};
    uint8_t body[40];
    size_t head = u9i_record_head(1, sizeof key, body);
    memcpy(body + head, key, sizeof key);
    forge_frame(s, body, head + sizeof key, 1);
}

/* Not the frame before it, by its place; and not by its hash. */
static void put_behind_another_place(forged_segment *s)
{
    s->next.previous -= 16;
    forge_records(s, "x", 1);
}

static void put_behind_another_hash(forged_segment *s)
{
    s->next.chain[0] ^= 1;
    forge_records(s, "x", 1);
}

/* The begin of a record of `total` bytes. */
static size_t row_front(uint8_t *out, uint64_t total)
{
    uint8_t record[80];
    (void)record_bytes(record, 77, "", 0);
    size_t head = u9i_record_head(2, total - 9, out);
    ck_assert_uint_eq(head, 9);
    memcpy(out + head, record + u9i_record_head(2, 19, (uint8_t[17]){0}), 18);
    return head + 18;
}

static void put_part(forged_segment *s, uint32_t number, uint64_t before, const uint8_t *bytes, size_t size, uint32_t count)
{
    forge_part(s, &(u9i_part_record){.number = number, .total = U9I_BODY_MAX + 1000, .before = before, .bytes = {bytes, size}},
               count);
}

/* A record that was given up. */
static void put_a_first_part(forged_segment *s)
{
    uint8_t bytes[100] = {0};
    (void)row_front(bytes, U9I_BODY_MAX + 1000);
    put_part(s, 0, 0, bytes, sizeof bytes, 0);
}

/* Whose first part has another key than is kept there. */
static void put_a_part_of_nobody(forged_segment *s)
{
    uint8_t bytes[100] = {0};
    size_t n = row_front(bytes, U9I_BODY_MAX + 1000);
    bytes[n - 17] = 2; /* bytes of the key */
    put_part(s, 0, 0, bytes, sizeof bytes, 0);
}

static void put_a_part_of_no_record(forged_segment *s)
{
    uint8_t bytes[100] = {0};
    put_part(s, 0, 0, bytes, sizeof bytes, 0);
}

/* Named as a part, and not made as one. */
static void put_what_is_no_part(forged_segment *s)
{
    uint8_t body[200], bytes[50] = {0};
    u9i_out out = u9i_out_init(body, sizeof body);
    u9i_part_record_encode(&out, &(u9i_part_record){.total = U9I_BODY_MAX + 1000, .bytes = {bytes, sizeof bytes}});
    ck_assert(!out.failed);
    body[9 + 9] ^= 1; /* behind the tuple's head and the name: what kind of value its number is */
    forge_frame(s, body, out.size, 0);
}

static void put_a_last_part_alone(forged_segment *s)
{
    uint8_t bytes[100] = {0};
    put_part(s, 1, s->next.previous, bytes, sizeof bytes, 1);
}

static const leftover leftovers[] = {
    {"nothing else", put_nothing, true},
    {"zeros up to a block", put_zeros, true},
    {"a record that was given up", put_a_first_part, true},
    {"fewer records than are said", put_one_too_few, false},
    {"a record with a tail", put_a_tail, false},
    {"what is not compressed", put_what_is_not_compressed, false},
    {"a key of another size", put_another_key, false},
    {"a frame behind another place", put_behind_another_place, false},
    {"a frame behind another hash", put_behind_another_hash, false},
    {"a part with a key of another size", put_a_part_of_nobody, false},
    {"what is no part", put_what_is_no_part, false},
    {"a part of no record", put_a_part_of_no_record, false},
    {"a last part without a first", put_a_last_part_alone, false},
};

/* What the u9end of the first segment says. */
static u9i_end_record sealed_as(const char *log)
{
    static uint8_t body[4096];
    seen_frame frames[300];
    u9i_end_record end;
    size_t n = frames_in(segment_path(log, 1), frames, 300);
    ck_assert(n > 1 && frames[n - 1].is_end);
    size_t size = frames[n - 1].length - U9I_TRAILER_SIZE;
    read_bytes(segment_path(log, 1), frames[n - 1].offset + U9I_FRAME_HEADER_SIZE, body, size);
    ck_assert_int_eq(u9i_end_record_decode(body, size, &end), U9_OK);
    ck_assert_int_eq(end.kind, U9I_END_SEALING);
    return end;
}

static void expect_found(const char *log, const u9_key *key, uint64_t ordinal)
{
    static uint8_t room[FILLER + 100];
    u9_record r;
    u9_fault fault;
    u9_log *reader = open_reader(log);
    ck_assert_int_eq(u9_log_get(reader, key, room, sizeof room, &r, &fault), U9_OK);
    ck_assert_uint_eq(r.ordinal, ordinal);
    close_log(reader);
}

/*
 * A session goes on behind that, up to a roll. `unread`: what is there cannot be read any more when the file is sealed;
 * `lacks`: of that the nth has failed then, 0: none has. False: it came to no such.
 */
static bool go_on_behind(const leftover *l, bool unread, scarcity lacks, unsigned nth)
{
    const uint8_t nothing[FILLER] = {0};
    uint8_t early[U9_MUID_SIZE], values[FILLER + 16];
    u9_place first = {0}, place;
    u9_builder b;
    forged_segment s = forge_begin(1, 7, NULL, U9I_TAIL_NONE);
    forge_records(&s, "early", EARLY);
    l->put(&s);
    forge_records(&s, "late", LATE);
    forge_end(&s, U9I_END_CLOSING);
    forge_save(&s, at("log"));
    forge_free(&s);

    u9_options o = small_options();
    u9_log *w = open_writer(at("log"), &o);
    u9_builder_init(&b, values, sizeof values);
    ck_assert_int_eq(u9_build_bytes(&b, nothing, sizeof nothing), U9_OK);
    if (unread) sim_spoil(segment_path(at("log"), 1), U9I_DISK_HEADER_SIZE, 200, EIO, 0);
    scarce_begin(lacks, nth, EIO, false);
    u9_err err = U9_OK;
    unsigned refused = 0;
    static unsigned usual; /* so many lead to the roll, which may fail itself, and is done the next time */
    for (unsigned i = 0; nth > 0 ? i <= usual : segments_in(at("log")) == 1 && i < 50; i++) {
        u9_err now = u9_log_append(w, NULL, values, b.size, &place);
        if (now == U9_OK && first.key_size == 0) first = place;
        if (now != U9_OK && refused++ == (nth > 0)) err = now;
        if (nth == 0) usual = i + 1;
    }
    u9_err closed = u9_log_close(w, NULL);
    bool failed = scarce_end(NULL) > 0;
    ck_assert_msg(err == U9_OK && closed == U9_OK, "the %uth fails: %d, %d", nth, err, closed);
    ck_assert_uint_eq(segments_in(at("log")), 2);
    sim_clear();
    bool indexed = !failed && sealed_as(at("log")).root != 0; /* it may not even be sealed */
    ck_assert_msg(failed || indexed == (l->indexed && !unread), "%s: %s", l->is, indexed ? "an index" : "no index");
    expect_found(at("log"), &(u9_key){first.key, first.key_size}, first.ordinal);
    memset(early, 0x60, sizeof early); /* as record_bytes makes them */
    u9i_set_be(early + 8, 8, 1);
    expect_found(at("log"), &(u9_key){early, sizeof early}, 1);
    return failed;
}

START_TEST(what_sessions_before_left_is_indexed_as_they_left_it)
{
    go_on_behind(&leftovers[_i], false, SCARCE_NOTHING, 0);
}
END_TEST

START_TEST(what_cannot_be_read_again_costs_the_index_alone) /* */
{
    go_on_behind(&leftovers[0], true, SCARCE_NOTHING, 0);
}
END_TEST

START_TEST(what_fails_once_as_they_are_read_again_costs_no_record)
{
    static const scarcity lacks[] = {SCARCE_MEMORY, SCARCE_SIGHT};
    unsigned n = 1;
    (void)go_on_behind(&leftovers[0], false, SCARCE_NOTHING, 0);
    remove_log(at("log"));
    while (go_on_behind(&leftovers[0], false, lacks[_i], n)) {
        remove_log(at("log"));
        ck_assert_uint_lt(n++, 100);
    }
    ck_assert_uint_gt(n, 2);
}
END_TEST

Suite *suite_earlier(void)
{
    Suite *suite = suite_create("earlier");
    TCase *tc = tcase_create("earlier");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_add_loop_test(tc, what_sessions_before_left_is_indexed_as_they_left_it, 0, sizeof leftovers / sizeof *leftovers);
    tcase_add_test(tc, what_cannot_be_read_again_costs_the_index_alone);
    tcase_add_loop_test(tc, what_fails_once_as_they_are_read_again_costs_no_record, 0, 2);
    suite_add_tcase(suite, tc);
    return suite;
}
