/*
 * tests/engine/log/test_large.c: records larger than memory, written in pieces while others append, and read back in
 * pieces. Whatever ends one early leaves nothing of it, and is no damage. [C-6] [L-7]
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include "engine/log/handle.h"
#include "engine/log/large.h"
#include "engine/write/row.h"

#include <u9/trim.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PART = U9I_PART_BYTES, KEY_VALUE = 18 /* bytes of a muid in a record */ };

/* Bytes in which no two places look alike; those of one seed are the same wherever they are asked for. */
static void fill(uint8_t *out, uint64_t seed, uint64_t at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t word = (at + i) / 8 + seed * UINT64_C(0x9e3779b97f4a7c15);
        word = (word ^ word >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
        out[i] = (uint8_t)((word ^ word >> 29) >> 8 * ((at + i) % 8));
    }
}

/* Appends a text: what others do in between. */
static void (*between)(u9_log *log, unsigned n);

/* Begins a record with one bytes value of `size` bytes, and writes its head. */
static u9_append *begin_bytes(u9_log *log, uint64_t size, u9_place *place)
{
    u9_append *a;
    uint8_t head[9];
    size_t n = u9_value_head(U9_BYTES, size, head);
    ck_assert_int_eq(u9_append_begin(log, NULL, 1, n + size, &a, place), U9_OK);
    ck_assert_int_eq(u9_append_write(a, head, n), U9_OK);
    return a;
}

/* Writes the value's bytes [from, to) in pieces of `each`. */
static void write_bytes(u9_log *log, u9_append *a, uint64_t seed, uint64_t from, uint64_t to, size_t each)
{
    uint8_t *buf = malloc(each);
    for (unsigned n = 0; from < to; n++) {
        size_t size = to - from < each ? (size_t)(to - from) : each;
        fill(buf, seed, from, size);
        ck_assert_int_eq(u9_append_write(a, buf, size), U9_OK);
        from += size;
        if (between) between(log, n);
    }
    free(buf);
}

static uint64_t append_large(u9_log *log, uint64_t seed, uint64_t size, size_t each, u9_place *place)
{
    u9_place mine;
    u9_append *a = begin_bytes(log, size, NULL);
    write_bytes(log, a, seed, 0, size, each);
    ck_assert_int_eq(u9_append_end(a, &mine), U9_OK);
    if (place) *place = mine;
    return mine.ordinal;
}

/* The record is the bytes value of this seed and size, whatever its size. */
static void expect_large(const char *path, uint64_t ordinal, uint64_t seed, uint64_t size)
{
    enum { STEP = 300007 };
    static uint8_t got[STEP], want[STEP];
    u9_log *log = open_reader(path);
    u9_cursor *c;
    u9_record r;
    u9_reading *reading;
    u9_range range = {.size = sizeof range, .from = ordinal};
    size_t n;
    ck_assert_int_eq(u9_cursor_open(log, &range, &c, NULL), U9_OK);
    u9_err err = u9_cursor_next(c, &r);
    ck_assert_int_eq(err, r.size > U9_RECORD_MAX ? U9_LIMIT : U9_OK);
    ck_assert_uint_eq(r.ordinal, ordinal);
    uint8_t head[9];
    size_t front = u9_value_head(U9_BYTES, size, head);
    ck_assert_uint_eq(r.values_size, front + size);
    ck_assert_int_eq(u9_record_open(log, &r, &reading, NULL), U9_OK);
    uint64_t at = r.size - r.values_size;
    ck_assert_int_eq(u9_record_read(reading, at, got, front, &n, NULL), U9_OK);
    ck_assert_mem_eq(got, head, front);
    at += front;
    for (uint64_t done = 0; done < size; done += n) {
        ck_assert_int_eq(u9_record_read(reading, at + done, got, STEP, &n, NULL), U9_OK);
        fill(want, seed, done, n);
        ck_assert_mem_eq(got, want, n);
    }
    u9_record_close(reading);
    u9_cursor_close(c);
    close_log(log);
}

static void one_between(u9_log *log, unsigned n)
{
    char text[40];
    snprintf(text, sizeof text, "between%u", n);
    append_text(log, text);
    if (n % 5 == 4) ck_assert_int_eq(u9_log_sync(log), U9_OK);
}

START_TEST(a_record_in_pieces_is_like_any_other)
{
    const char *log = at("log");
    u9_log *w = open_writer(log, NULL);
    u9_place early, late;
    append_text(w, "before");
    u9_append *a = begin_bytes(w, 3 * PART + 12345, &early);
    ck_assert_uint_eq(early.ordinal, U9_NOWHERE);
    ck_assert_uint_eq(early.key_size, 16);
    between = one_between;
    write_bytes(w, a, 1, 0, 3 * PART + 12345, 200000);
    between = NULL;
    ck_assert_int_eq(u9_append_end(a, &late), U9_OK);
    ck_assert_mem_eq(early.key, late.key, 16);
    ck_assert_int_eq(u9_log_commit(w, late.ordinal), U9_OK);
    ck_assert_uint_gt(u9_log_durable(w), late.ordinal);
    append_text(w, "behind");
    close_log(w);
    seen *s = look(log);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(s->records[0].ordinal, 0);
    ck_assert(has_text(s, "between15"));
    ck_assert_str_eq(s->records[late.ordinal + 1].text, "behind");
    forget(s);
    expect_large(log, late.ordinal, 1, 3 * PART + 12345);
    u9_log *r = open_reader(log);
    uint8_t *buf = malloc(4 * PART);
    u9_record got;
    ck_assert_int_eq(u9_log_get(r, &(u9_key){late.key, 16}, buf, 4 * PART, &got, NULL), U9_OK);
    ck_assert_uint_eq(got.ordinal, late.ordinal);
    free(buf);
    close_log(r);
}
END_TEST

/* Its key leads to it, by what the session knows and by the index, whatever the keys are. */
START_TEST(a_record_in_pieces_is_found_by_a_key_of_any_kind) /* [L-6] [K-2] */
{
    static const char *const kinds[] = {"muid", "gid:log", "tid", "uid8"};
    u9_options o = small_options();
    u9_place place;
    u9_record r;
    u9_fault fault;
    o.kind = kinds[_i];
    o.generator_given = 1;
    o.lz4 = _i % 2; /* then a part's place is known late */
    u9_log *w = open_writer(at("log"), &o);
    append_large(w, 1, PART + 100, PART, &place);
    u9_key key = {.data = place.key, .size = place.key_size};
    ck_assert_uint_gt(key.size, 0);
    for (unsigned again = 0; again < 2; again++) {
        ck_assert_int_eq(u9_log_get(w, &key, NULL, 0, &r, &fault), U9_LIMIT);
        ck_assert_uint_eq(r.ordinal, place.ordinal);
        if (!again) append_bytes(w, "behind", 6); /* into another segment, so that this one is sealed */
        close_log(w);
        w = open_reader(at("log"));
    }
    close_log(w);
}
END_TEST

/* A part in the middle is damaged: no reader serves the record, and no index does; of one that comes again the older is left. */
START_TEST(a_record_that_lacks_a_part_is_found_by_no_index) /* [K-3] [C-6] */
{
    enum { SIZE = 5 * PART, CAP = 6 * PART };
    static const size_t caps[] = {0, 1000, CAP};
    static uint8_t buf[CAP], value[16];
    bool sealed = _i % 2, damaged = _i / 2;
    u9_key key = {.data = "a", .size = 1}, other = {.data = "b", .size = 1};
    u9_options o = small_options();
    u9_record r;
    u9_fault fault;
    o.kind = "rkey";
    if (!sealed) o.segment_size = 0;
    u9_log *w = open_writer(at("log"), &o);
    ck_assert_int_eq(u9_log_append(w, &key, "\x81", 1, NULL), U9_OK);
    u9_append *a;
    size_t head = u9_value_head(U9_BYTES, SIZE, value);
    ck_assert_int_eq(u9_append_begin(w, &key, 1, head + SIZE, &a, NULL), U9_OK);
    ck_assert_int_eq(u9_append_write(a, value, head), U9_OK);
    for (unsigned i = 0; i < SIZE / PART; i++) ck_assert_int_eq(u9_append_write(a, buf, PART), U9_OK);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    ck_assert_int_eq(u9_log_append(w, &other, "\x82", 1, NULL), U9_OK); /* into another segment, so that this one is sealed */
    close_log(w);
    ck_assert_uint_eq(segments_in(at("log")), sealed ? 2 : 1);
    if (damaged) flip_bit(segment_path(at("log"), 1), 3 * PART, 1);
    u9_log *log = open_reader(at("log"));
    for (unsigned i = 0; i < 3; i++) {
        r.size = 0;
        u9_err err = u9_log_get(log, &key, buf, caps[i], &r, &fault);
        uint64_t ordinal = damaged ? 0 : 1;
        ck_assert_msg(err == (damaged ? U9_CORRUPT : i < 2 ? U9_LIMIT : U9_OK), "%s", u9_err_name(err));
        ck_assert_uint_eq(r.ordinal, ordinal);
        ck_assert_uint_gt(r.size, 0);
        ck_assert_mem_eq(r.key.data, "a", 1);
        ck_assert_uint_eq(r.values_size, damaged ? 1 : head + SIZE);
        if (i > 0 && damaged) ck_assert_mem_eq(r.values, "\x81", 1);
        if (i == 2 && !damaged) ck_assert_mem_eq(r.values, value, head);
        memset(buf, 0, sizeof buf);
    }
    close_log(log);
}
END_TEST

/* [L-7] Its time is that of the beginning, no other record has it, and those in between have later ones. */
START_TEST(the_key_is_that_of_the_beginning_and_nobody_elses)
{
    const char *log = at("log");
    u9_log *w = open_writer(log, NULL);
    u9_place before, first, later, place;
    ck_assert_int_eq(u9_log_append(w, NULL, "\x80", 1, &before), U9_OK);
    u9_append *a = begin_bytes(w, 2 * PART, &first);
    ck_assert_int_eq(u9_log_append(w, NULL, "\x80", 1, &later), U9_OK);
    write_bytes(w, a, 2, 0, 2 * PART, 65536);
    ck_assert_int_eq(u9_append_end(a, &place), U9_OK);
    u9_muid m[3];
    u9_muid_unpack(before.key, &m[0]);
    u9_muid_unpack(first.key, &m[1]);
    u9_muid_unpack(later.key, &m[2]);
    ck_assert_uint_lt(m[0].timestamp, m[1].timestamp);
    ck_assert_uint_lt(m[1].timestamp, m[2].timestamp);
    ck_assert_int_eq(m[1].offset, 1);
    ck_assert_uint_eq(place.ordinal, later.ordinal + 1);
    /* A key that was drawn, and then nothing: the next session's are later all the same. */
    a = begin_bytes(w, PART, &first);
    u9_append_abort(a);
    close_log(w);
    w = open_writer(log, NULL);
    ck_assert_int_eq(u9_log_append(w, NULL, "\x80", 1, &later), U9_OK);
    close_log(w);
    u9_muid_unpack(first.key, &m[1]);
    u9_muid_unpack(later.key, &m[2]);
    ck_assert_uint_lt(m[1].timestamp, m[2].timestamp);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 4);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

/* Every size around what a part holds; none at all, too. */
START_TEST(a_record_of_any_size_is_read_back)
{
    const char *log = at("log");
    u9_log *w = open_writer(log, NULL);
    uint64_t sizes[32];
    unsigned n = 0;
    for (uint64_t size = 0; size < 20; size += 5) sizes[n++] = size;
    uint64_t head = 9 + KEY_VALUE + 5; /* of tuple, key and value */
    for (int delta = -2; delta <= 2; delta++) sizes[n++] = PART - head + (uint64_t)delta;
    for (int delta = -1; delta <= 1; delta++) sizes[n++] = 2 * PART - head + (uint64_t)delta;
    for (unsigned i = 0; i < n; i++) ck_assert_uint_eq(append_large(w, i, sizes[i], 99999, NULL), i);
    u9_append *a;
    u9_place place;
    ck_assert_int_eq(u9_append_begin(w, NULL, 0, 0, &a, NULL), U9_OK); /* a key, and nothing */
    ck_assert_int_eq(u9_append_end(a, &place), U9_OK);
    ck_assert_uint_eq(place.ordinal, n);
    close_log(w);
    seen *s = look(log);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->count, n + 1);
    forget(s);
    for (unsigned i = 0; i < n; i++) expect_large(log, i, i, sizes[i]);
}
END_TEST

/* Values that are none, more of them, fewer, bytes too many, too few: told with the byte; nothing of it is there. */
START_TEST(values_that_are_not_as_announced_are_refused)
{
    static const struct refused {
        const char *bytes; /* a letter r: 300,000 times the byte 80 */
        uint64_t count, size, at;
        const char *rule;
    } cases[] = {
        {"\x80\x50\x80", 3, 3, 1, "V-6"},            /* a reserved bytecode */
        {"\x80\x4a\x03\x81\x82", 2, 5, 1, "V-4"},    /* a tuple that passes the end */
        {"\x4a\x01\x81\x82", 2, 4, 3, "V-4"},        /* an element missing */
        {"\x80\x81\x82", 2, 3, 2, "V-8"},            /* one more */
        {"\x1d\x00", 1, 2, 0, "V-4"},                /* a head that is cut */
    };
    const char *log = at("log");
    u9_log *w = open_writer(log, NULL);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct refused *c = &cases[i];
        u9_append *a;
        u9_fault fault;
        ck_assert_int_eq(u9_append_begin(w, NULL, c->count, c->size, &a, NULL), U9_OK);
        ck_assert_int_eq(u9_append_write(a, c->bytes, c->size), U9_ARG);
        u9_log_fault(w, &fault);
        ck_assert_str_eq(fault.rule, c->rule);
        ck_assert_uint_eq(fault.offset, c->at);
        ck_assert_str_eq(fault.path, "");
        ck_assert_int_eq(u9_append_write(a, "", 0), U9_ARG); /* for good */
        ck_assert_int_eq(u9_append_end(a, NULL), U9_ARG);
        u9_append_abort(a);
    }
    u9_append *a;
    ck_assert_int_eq(u9_append_begin(w, NULL, 3, 2, &a, NULL), U9_ARG);
    ck_assert_int_eq(u9_append_begin(w, NULL, 0, 2, &a, NULL), U9_ARG);
    ck_assert_int_eq(u9_append_begin(w, NULL, 2, 2, &a, NULL), U9_OK);
    ck_assert_int_eq(u9_append_write(a, "\x80\x80\x80", 3), U9_ARG); /* too many at once: nothing was taken */
    ck_assert_uint_eq(u9_append_taken(a), 0);
    ck_assert_int_eq(u9_append_write(a, "\x80", 1), U9_OK);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_STATE); /* one is to come: it goes on */
    ck_assert_int_eq(u9_append_write(a, "\x81", 1), U9_OK);
    ck_assert_uint_eq(u9_append_taken(a), 2);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    ck_assert_int_eq(u9_append_begin(w, NULL, 2, 1, &a, NULL), U9_ARG);
    ck_assert_int_eq(u9_append_begin(w, NULL, 2, 18, &a, NULL), U9_OK); /* fewer values than were to come */
    ck_assert_int_eq(u9_append_write(a, "\x1c\x10""0123456789abcdef", 18), U9_OK);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_ARG);
    u9_append_abort(a);
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, U9_LARGE_MAX + 1, &a, NULL), U9_LIMIT);
    ck_assert_int_eq(u9_append_begin(NULL, NULL, 1, 1, &a, NULL), U9_ARG);
    ck_assert_int_eq(u9_append_write(NULL, "", 1), U9_ARG);
    ck_assert_int_eq(u9_append_end(NULL, NULL), U9_ARG);
    ck_assert_uint_eq(u9_append_taken(NULL), 0);
    u9_append_abort(NULL);
    ck_assert_uint_eq(append_large(w, 3, 100, 7, NULL), 1);
    close_log(w);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

/* Kinds of keys: given ones are looked at at the beginning; one that is longer than a place holds is found. */
START_TEST(a_given_key_is_checked_at_the_beginning)
{
    const char *log = at("log");
    u9_options o = writer_options();
    o.kind = "rkey";
    u9_log *w = open_writer(log, &o);
    u9_append *a;
    u9_place place;
    char key[512];
    memset(key, 'k', sizeof key);
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, 1, &a, NULL), U9_ARG); /* none is made */
    ck_assert_int_eq(u9_append_begin(w, &(u9_key){key, 513}, 1, 1, &a, NULL), U9_ARG);
    u9_fault fault;
    u9_log_fault(w, &fault);
    ck_assert_str_eq(fault.rule, "L-6");
    ck_assert_int_eq(u9_append_begin(w, &(u9_key){key, 512}, 1, 2000005, &a, &place), U9_OK);
    ck_assert_uint_eq(place.key_size, 0);
    uint8_t *bytes = calloc(1, 2000005);
    memcpy(bytes, "\x1e\x00\x1e\x84\x80", 5);
    ck_assert_int_eq(u9_append_write(a, bytes, 2000005), U9_OK);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    close_log(w);
    u9_log *r = open_reader(log);
    u9_record got;
    ck_assert_int_eq(u9_log_get(r, &(u9_key){key, 512}, NULL, 0, &got, NULL), U9_LIMIT);
    ck_assert_uint_eq(got.values_size, 2000005);
    close_log(r);
    free(bytes);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 1);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->report.last_key_size, 512);
    forget(s);
}
END_TEST

/* One at a time: their parts must not mix. */
START_TEST(a_second_one_is_refused_until_the_first_is_over)
{
    const char *log = at("log");
    u9_log *w = open_writer(log, NULL);
    u9_append *a = begin_bytes(w, 2 * PART, NULL), *b;
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, 1, &b, NULL), U9_AGAIN);
    u9_fault fault;
    u9_log_fault(w, &fault);
    ck_assert_str_eq(fault.rule, "C-6");
    write_bytes(w, a, 1, 0, 2 * PART, 100000);
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, 1, &b, NULL), U9_AGAIN);
    ck_assert_int_eq(u9i_append_begin_whole(w, 2 * PART, &b), U9_AGAIN);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    b = begin_bytes(w, 100, NULL);
    u9_append_abort(b);
    ck_assert_uint_eq(append_large(w, 2, 100, 10, NULL), 1);
    close_log(w);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

/* Nothing is there of what was given up, at whatever part, and the next one of the same size is whole. */
START_TEST(a_record_that_is_given_up_was_never_there)
{
    const char *log = at("log");
    u9_log *w = open_writer(log, NULL);
    for (unsigned parts = 0; parts < 4; parts++) {
        u9_append *a = begin_bytes(w, 4 * PART, NULL);
        write_bytes(w, a, parts, 0, parts * PART + 100, 300000);
        append_text(w, "between");
        u9_append_abort(a);
        append_text(w, "behind");
    }
    ck_assert_uint_eq(append_large(w, 9, 4 * PART, 1 << 18, NULL), 8);
    close_log(w);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 9);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    forget(s);
    expect_large(log, 8, 9, 4 * PART);
}
END_TEST

/* Closed in the midst of it: the log is whole without it, what is left of the append only says so. */
START_TEST(a_log_that_is_closed_in_between_is_whole_without_it)
{
    const char *log = at("log");
    u9_log *w = open_writer(log, NULL);
    append_text(w, "before");
    u9_append *a = begin_bytes(w, 4 * PART, NULL);
    write_bytes(w, a, 1, 0, 3 * PART, 300000);
    close_log(w);
    ck_assert_int_eq(u9_append_write(a, "x", 1), U9_STATE);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_STATE);
    u9_append_abort(a);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 1);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert(s->report.closed);
    forget(s);
    w = open_writer(log, NULL); /* in the same file */
    ck_assert_uint_eq(append_large(w, 2, 4 * PART, 300000, NULL), 1);
    close_log(w);
    expect_large(log, 1, 2, 4 * PART);
    s = look(log);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

/* Killed behind any part: records in between stay, nothing is damaged, the next session goes on. */
START_TEST(a_crash_in_between_leaves_nothing_of_it_and_all_else)
{
    for (unsigned parts = 0; parts < 4; parts++) {
        char name[20];
        snprintf(name, sizeof name, "log%u", parts);
        const char *log = at(name);
        u9_log *w = open_writer(log, NULL);
        append_text(w, "before");
        u9_append *a = begin_bytes(w, 4 * PART, NULL);
        write_bytes(w, a, 1, 0, parts * PART + 100, 1 << 16);
        append_text(w, "between");
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        write_bytes(w, a, 1, parts * PART + 100, parts * PART + 200, 100);
        crash(w, log);
        u9_append_abort(a); /* what crash() closed */
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 2);
        ck_assert_uint_eq(s->report.damages, 0);
        ck_assert_int_le(s->report.verdict, U9_V_TORN);
        forget(s);
        w = open_writer(log, NULL);
        ck_assert_uint_eq(append_large(w, 5, 4 * PART, 1 << 18, NULL), 2);
        close_log(w);
        s = look(log);
        ck_assert_uint_eq(s->count, 3);
        ck_assert_uint_eq(s->report.damages, 0);
        ck_assert(s->report.closed);
        forget(s);
        expect_large(log, 2, 5, 4 * PART);
    }
}
END_TEST

/* Writes what a process does until it is killed: a record, and one in between. */
static void write_until_killed(u9_log *w)
{
    enum { SIZE = 5 * PART };
    uint8_t *bytes = malloc(SIZE);
    u9_append *a = begin_bytes(w, SIZE, NULL);
    fill(bytes, 3, 0, SIZE);
    for (size_t done = 0; done < SIZE && !sim_killed(); done += 100 * 1024 < SIZE - done ? 100 * 1024 : SIZE - done) {
        u9_err err = u9_append_write(a, bytes + done, 100 * 1024 < SIZE - done ? 100 * 1024 : SIZE - done);
        ck_assert(err == U9_OK || sim_killed());
        if (done == 0) (void)!u9_log_append(w, NULL, "\x80", 1, NULL);
        if (done % (1 << 20) == 0) (void)!u9_log_sync(w);
    }
    if (sim_killed() || u9_append_end(a, NULL) != U9_OK) u9_append_abort(a);
    if (!sim_killed()) (void)!u9_log_sync(w);
    free(bytes);
}

/* {F15} The same at every write that is submitted; what lands late lands in any order. */
START_TEST(a_process_killed_at_any_write_leaves_no_damage)
{
    unsigned whole = 0, without = 0;
    for (unsigned nth = 1; nth < 16; nth += thorough(3, 1)) {
        const char *log = at("log");
        sim_begin(nth);
        sim_make_dir(at(""));
        session(log, "before", 3, 0);
        sim_set_order(SIM_DRAWN);
        u9_log *w = open_writer(log, NULL);
        sim_kill_at_write(nth);
        write_until_killed(w);
        if (!sim_killed()) sim_kill();
        (void)!u9_log_close(w, NULL);
        sim_land(0);
        sim_set_order(SIM_PROMPT);
        seen *s = look(log);
        ck_assert_uint_ge(s->count, 3);
        ck_assert_uint_le(s->count, 5);
        whole += s->count == 5;
        without += s->count == 4;
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
        forget(s);
        session(log, "after", 1, 0);
        s = look(log);
        ck_assert(has_text(s, "after0"));
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
        forget(s);
    }
    ck_assert_uint_gt(whole, 0);
    ck_assert_uint_gt(without, 0);
}
END_TEST

/* [S-6] All parts in one segment, which passes its size; the next append begins another. */
START_TEST(a_segment_is_not_left_while_a_record_is_written_into_it)
{
    const char *log = at("log");
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    append_many(w, "before", 3, 0);
    between = one_between;
    uint64_t ordinal = append_large(w, 1, 3 * PART, 100000, NULL);
    between = NULL;
    append_text(w, "behind");
    close_log(w);
    seen *s = look(log);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->report.segments, 2);
    for (size_t i = 0; i < s->count; i++) ck_assert_uint_eq(s->records[i].segment, 1 + (i == s->count - 1));
    ck_assert_uint_eq(ordinal, s->count - 2);
    forget(s);
    expect_large(log, ordinal, 1, 3 * PART);
}
END_TEST

/* [L-10] A trim would begin another: it is to come again when the record is over, and nothing is changed. */
START_TEST(nor_by_a_trim)
{
    const char *log = at("log");
    u9_options o = small_options();
    u9_trim all = {.size = sizeof all, .keep_bytes = 1};
    u9_trimmed out = {.size = sizeof out};
    u9_fault fault;
    u9_log *w = open_writer(log, &o);
    append_large(w, 1, 2 * PART, 100000, NULL);
    append_text(w, "rolls");
    u9_append *a = begin_bytes(w, 3 * PART, NULL);
    write_bytes(w, a, 2, 0, 2 * PART, 100000);
    ck_assert_int_eq(u9_log_trim(w, &all, &out, &fault), U9_AGAIN);
    ck_assert_str_eq(fault.rule, "C-6");
    ck_assert_uint_eq(u9i_writer_kept_from(&w->writer), 0);
    all.dry_run = 1;
    ck_assert_int_eq(u9_log_trim(w, &all, &out, &fault), U9_OK);
    ck_assert_uint_eq(out.segments, 1);
    all.dry_run = 0;
    write_bytes(w, a, 2, 2 * PART, 3 * PART, 100000);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    ck_assert_int_eq(u9_log_trim(w, &all, &out, &fault), U9_OK);
    ck_assert_uint_eq(out.ordinal, 1);
    close_log(w);
    seen *s = look(log);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->count, 2);
    forget(s);
    expect_large(log, 2, 2, 3 * PART);
}
END_TEST

/* Before its first part it may: a segment that is full is left then. */
START_TEST(a_full_segment_is_left_before_the_first_part)
{
    const char *log = at("log");
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    uint8_t filler[70000] = {0};
    append_bytes(w, filler, sizeof filler);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_uint_eq(append_large(w, 1, 2 * PART, 100000, NULL), 1);
    u9_append *a = begin_bytes(w, PART, NULL);
    append_text(w, "rolls"); /* no part stands in the file yet */
    write_bytes(w, a, 2, 0, PART, 100000);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    close_log(w);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 4);
    static const uint64_t segments[] = {1, 2, 3, 3};
    for (size_t i = 0; i < 4; i++) ck_assert_uint_eq(s->records[i].segment, segments[i]);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

/* [S-2] What would leave no room for the rest of it is told to come again, and may when it is over. */
START_TEST(others_wait_where_the_segments_bytes_run_out)
{
    const char *log = at("log");
    u9_log *w = open_writer(log, NULL);
    u9_append *a = begin_bytes(w, 3 * PART, NULL);
    write_bytes(w, a, 1, 0, 2 * PART, 100000);
    w->writer.row.needs = U9I_SEGMENT_MAX - (4 << 20); /* as if so much of it were to come */
    uint8_t *large = calloc(1, 8 << 20);
    memcpy(large, "\x1e\x00\x7f\xff\xfb", 5);
    ck_assert_int_eq(u9_log_append(w, NULL, large, 8 << 20, NULL), U9_AGAIN);
    u9_fault fault;
    u9_log_fault(w, &fault);
    ck_assert_str_eq(fault.rule, "S-2");
    write_bytes(w, a, 1, 2 * PART, 3 * PART, 100000);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    ck_assert_int_eq(u9_log_append(w, NULL, large, 8 << 20, NULL), U9_OK);
    close_log(w);
    free(large);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

/* [W-6] No room is an ordinary error: what was taken is told, and the rest is written when there is some. */
START_TEST(a_full_disk_is_an_ordinary_error_and_the_rest_comes_later)
{
    const char *log = at("log");
    u9_options o = small_options(); /* space is taken in small steps: each part needs some */
    u9_log *w = open_writer(log, &o);
    enum { SIZE = 4 * PART - 100 };
    u9_append *a = begin_bytes(w, SIZE, NULL);
    uint8_t *bytes = malloc(SIZE);
    fill(bytes, 4, 0, SIZE);
    write_bytes(w, a, 4, 0, PART + 7, PART + 7);
    sim_fail(SIM_RESERVE, 1, ENOSPC, true);
    ck_assert_int_eq(u9_append_write(a, bytes + PART + 7, SIZE - PART - 7), U9_IO);
    u9_fault fault;
    u9_log_fault(w, &fault);
    ck_assert_int_eq(fault.sys, ENOSPC);
    uint64_t taken = u9_append_taken(a) - 5;
    ck_assert_uint_gt(taken, PART + 7);
    ck_assert_uint_lt(taken, 2 * PART);
    ck_assert_int_eq(u9_append_write(a, bytes + taken, SIZE - taken), U9_IO);
    ck_assert_uint_eq(u9_append_taken(a) - 5, taken);
    sim_mend();
    append_text(w, "between");
    ck_assert_int_eq(u9_append_write(a, bytes + taken, SIZE - taken), U9_OK);
    sim_fail(SIM_RESERVE, 1, ENOSPC, true);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_IO);
    sim_mend();
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    close_log(w);
    free(bytes);
    expect_large(log, 1, 4, SIZE);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

/* A first part that finds no room leaves the log as it was; without a session nothing was begun. */
START_TEST(a_first_part_without_room_leaves_the_log_as_it_was)
{
    const char *log = at("log");
    session(log, "before", 1, 0);
    uint64_t size = sim_size(segment_path(log, 1));
    u9_log *w = open_writer(log, NULL);
    u9_append *a = begin_bytes(w, 100, NULL);
    ck_assert_uint_eq(sim_size(segment_path(log, 1)), size);
    write_bytes(w, a, 1, 0, 100, 100);
    sim_fail(SIM_RESERVE, 1, ENOSPC, true);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_IO);
    ck_assert_uint_eq(sim_size(segment_path(log, 1)), size);
    u9_append_abort(a);
    sim_mend();
    close_log(w);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 1);
    ck_assert(s->report.closed);
    forget(s);
}
END_TEST

START_TEST(a_failed_write_poisons_and_the_append_is_given_up)
{
    const char *log = at("log");
    u9_log *w = open_writer(log, NULL);
    append_text(w, "before");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    u9_append *a = begin_bytes(w, 40 * PART, NULL);
    sim_fail(SIM_WRITE, 3, EIO, true);
    uint8_t *bytes = calloc(1, PART);
    u9_err err = U9_OK;
    for (unsigned i = 0; i < 40 && err == U9_OK; i++) err = u9_append_write(a, bytes, PART);
    ck_assert_int_eq(err, U9_POISONED);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_STATE);
    u9_append *b;
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, 1, &b, NULL), U9_POISONED);
    u9_append_abort(a);
    ck_assert_int_eq(u9_log_close(w, NULL), U9_POISONED);
    sim_mend();
    free(bytes);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 1);
    ck_assert_uint_eq(s->report.damages, 0);
    forget(s);
}
END_TEST

/* {F53} [F-7] [B-5] The file's own boundary, at every place, in every part: masked, and read back. */
START_TEST(a_boundary_in_its_bytes_is_masked_and_comes_back)
{
    enum { SIZE = 3 * PART };
    const char *log = at("log");
    u9_options o = writer_options();
    o.lz4 = 1; /* no part is compressed [B-4] */
    u9_log *w = open_writer(log, &o);
    append_text(w, "before");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    u9i_secret secret = keys_of(segment_path(log, 1));
    uint8_t *bytes = malloc(SIZE + 5);
    memcpy(bytes, "\x1e\x00\x30\x00\x00", 5);
    for (size_t i = 0; i < SIZE; i++) bytes[5 + i] = secret.boundary[(i + i / 4096) % 16];
    u9_append *a;
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, SIZE + 5, &a, NULL), U9_OK);
    ck_assert_int_eq(u9_append_write(a, bytes, SIZE + 5), U9_OK);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    close_log(w);
    seen *s = look(log);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_ge(s->report.mask_frames, 3);
    ck_assert_uint_eq(s->report.lz4_frames, 0);
    ck_assert_uint_eq(s->records[1].text_size, SIZE);
    ck_assert_mem_eq(s->records[1].text, bytes + 5, SIZE);
    forget(s);
    u9_log *r = open_reader(log);
    u9_record record = {.segment = 1, .frame = 0};
    u9_range range = {.size = sizeof range, .from = 1};
    u9_cursor *c;
    u9_reading *reading;
    size_t got;
    ck_assert_int_eq(u9_cursor_open(r, &range, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    /* Its first part is found though it is masked. */
    ck_assert_int_eq(u9_record_open(r, &record, &reading, NULL), U9_OK);
    uint8_t *back = malloc(SIZE);
    ck_assert_int_eq(u9_record_read(reading, record.size - SIZE, back, SIZE, &got, NULL), U9_OK);
    ck_assert_uint_eq(got, SIZE);
    ck_assert_mem_eq(back, bytes + 5, SIZE);
    u9_record_close(reading);
    u9_cursor_close(c);
    close_log(r);
    free(back);
    free(bytes);
}
END_TEST

/* A child of the process neither writes nor spoils what its parent writes. */
START_TEST(a_forked_child_only_frees)
{
    const char *log = at("log");
    u9_log *w = open_writer(log, NULL);
    u9_append *a = begin_bytes(w, 2 * PART, NULL);
    write_bytes(w, a, 1, 0, PART, 100000);
    pid_t child = fork();
    if (child == 0) {
        int wrong = u9_append_write(a, "x", 1) != U9_STATE;
        wrong |= u9_append_end(a, NULL) != U9_STATE;
        u9_append *b;
        wrong |= u9_append_begin(w, NULL, 1, 1, &b, NULL) != U9_STATE;
        u9_append_abort(a);
        _exit(wrong);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    write_bytes(w, a, 1, PART, 2 * PART, 100000);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    close_log(w);
    expect_large(log, 0, 1, 2 * PART);
}
END_TEST

START_TEST(a_reader_cannot_begin_one)
{
    const char *log = at("log");
    session(log, "before", 1, 0);
    u9_log *r = open_reader(log);
    u9_append *a;
    ck_assert_int_eq(u9_append_begin(r, NULL, 1, 1, &a, NULL), U9_STATE);
    close_log(r);
}
END_TEST

static void *append_texts(void *log)
{
    for (unsigned i = 0; i < 300; i++) {
        char text[40];
        snprintf(text, sizeof text, "thread%u", i);
        uint8_t value[64] = {0x18, (uint8_t)strlen(text)};
        memcpy(value + 2, text, strlen(text));
        if (u9_log_append(log, NULL, value, 2 + strlen(text), NULL) != U9_OK) abort();
        if (i % 50 == 0 && u9_log_sync(log) != U9_OK) abort();
    }
    return NULL;
}

/* More than a record ever was, on a real disk, with others at it. */
START_TEST(tens_of_megabytes_go_in_while_threads_append)
{
    enum { THREADS = 3 };
    const char *log = at("log");
    u9_log *w = open_writer(log, NULL);
    pthread_t threads[THREADS];
    uint64_t size = 24 * PART + 777;
    u9_append *a = begin_bytes(w, size, NULL);
    for (unsigned i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, append_texts, w), 0);
    write_bytes(w, a, 6, 0, size, 123457);
    u9_place place;
    ck_assert_int_eq(u9_append_end(a, &place), U9_OK);
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    ck_assert_int_eq(u9_log_commit(w, place.ordinal), U9_OK);
    u9_cursor *c; /* the writer's own handle reads it, too */
    u9_record r;
    u9_range range = {.size = sizeof range, .from = place.ordinal};
    ck_assert_int_eq(u9_cursor_open(w, &range, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_LIMIT);
    ck_assert_uint_eq(r.ordinal, place.ordinal);
    ck_assert_mem_eq(r.key.data, place.key, 16);
    u9_cursor_close(c);
    close_log(w);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, THREADS * 300 + 1);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
    expect_large(log, place.ordinal, 6, size);
}
END_TEST

enum { CROWD = 2, CROWDED = 4000, CROWD_SIZE = 5000 };

typedef struct crowd {
    u9_log *log;
    uint64_t ordinals[CROWDED];
} crowd;

static void *append_crowded(void *ctx)
{
    static const uint8_t nothing[CROWD_SIZE];
    crowd *c = ctx;
    uint8_t value[CROWD_SIZE + 9];
    u9_builder b;
    u9_builder_init(&b, value, sizeof value);
    if (u9_build_bytes(&b, nothing, sizeof nothing) != U9_OK) abort();
    for (unsigned i = 0; i < CROWDED; i++) {
        u9_place place;
        u9_err err = u9_log_append(c->log, NULL, value, b.size, &place);
        if (err == U9_AGAIN) i--; /* the segment is full, and stays until the record in parts is over */
        else if (err != U9_OK) abort();
        else c->ordinals[i] = place.ordinal;
    }
    return NULL;
}

/* While a part waits for memory, others fill the frame that was to be its own: it takes another one. [C-6] [L-5] */
START_TEST(what_threads_append_while_a_part_waits_is_not_in_its_frame)
{
    static crowd crowds[CROWD];
    enum { LARGE_ONES = 500 };
    static uint64_t large[LARGE_ONES];
    const char *log = at("log");
    u9_options o = writer_options();
    o.segment_size = 4 << 20;
    o.memory = 4 << 20;
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(log, &o);
    pthread_t threads[CROWD];
    unsigned count = 0;
    for (unsigned i = 0; i < CROWD; i++) {
        crowds[i] = (crowd){.log = w};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, append_crowded, &crowds[i]), 0);
    }
    for (; count < LARGE_ONES; count++) large[count] = append_large(w, count, 20000, 20000, NULL);
    for (unsigned i = 0; i < CROWD; i++) pthread_join(threads[i], NULL);
    close_log(w);
    u9_log *r = open_reader(log);
    u9_cursor *c;
    u9_record found;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    uint64_t next = 0;
    unsigned parts = 0, taken[CROWD] = {0};
    for (u9_err err; (err = u9_cursor_next(c, &found)) != U9_END; next++) {
        ck_assert_int_eq(err, U9_OK);
        ck_assert_uint_eq(found.ordinal, next);
        if (parts < count && large[parts] == next) {
            parts++;
            continue;
        }
        unsigned who = 0;
        while (who < CROWD && (taken[who] == CROWDED || crowds[who].ordinals[taken[who]] != next)) who++;
        ck_assert_uint_lt(who, CROWD);
        taken[who]++;
    }
    ck_assert_uint_eq(next, count + CROWD * CROWDED);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

Suite *suite_large(void)
{
    Suite *suite = suite_create("large");
    TCase *tc = tcase_create("simulated");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_add_test(tc, a_record_in_pieces_is_like_any_other);
    tcase_add_test(tc, the_key_is_that_of_the_beginning_and_nobody_elses);
    tcase_add_loop_test(tc, a_record_that_lacks_a_part_is_found_by_no_index, 0, 4);
    tcase_add_test(tc, a_record_of_any_size_is_read_back);
    tcase_add_test(tc, values_that_are_not_as_announced_are_refused);
    tcase_add_test(tc, a_given_key_is_checked_at_the_beginning);
    tcase_add_test(tc, a_second_one_is_refused_until_the_first_is_over);
    tcase_add_test(tc, a_record_that_is_given_up_was_never_there);
    tcase_add_test(tc, a_log_that_is_closed_in_between_is_whole_without_it);
    tcase_add_test(tc, a_crash_in_between_leaves_nothing_of_it_and_all_else);
    tcase_add_test(tc, a_process_killed_at_any_write_leaves_no_damage);
    tcase_add_test(tc, a_segment_is_not_left_while_a_record_is_written_into_it);
    tcase_add_test(tc, nor_by_a_trim);
    tcase_add_test(tc, a_full_segment_is_left_before_the_first_part);
    tcase_add_test(tc, others_wait_where_the_segments_bytes_run_out);
    tcase_add_test(tc, a_full_disk_is_an_ordinary_error_and_the_rest_comes_later);
    tcase_add_test(tc, a_first_part_without_room_leaves_the_log_as_it_was);
    tcase_add_test(tc, a_failed_write_poisons_and_the_append_is_given_up);
    tcase_add_test(tc, a_boundary_in_its_bytes_is_masked_and_comes_back);
    tcase_add_test(tc, a_reader_cannot_begin_one);
    suite_add_tcase(suite, tc);
    TCase *kinds = tcase_create("kinds");
    tcase_add_checked_fixture(kinds, fixture_setup_sim, fixture_teardown);
    tcase_add_loop_test(kinds, a_record_in_pieces_is_found_by_a_key_of_any_kind, 0, 4);
    suite_add_tcase(suite, kinds);
    TCase *real = tcase_create("real");
    tcase_set_timeout(real, 60);
    tcase_add_checked_fixture(real, fixture_setup, fixture_teardown);
    tcase_add_test(real, a_record_in_pieces_is_like_any_other);
    tcase_add_test(real, a_forked_child_only_frees);
    tcase_add_test(real, tens_of_megabytes_go_in_while_threads_append);
    tcase_add_test(real, what_threads_append_while_a_part_waits_is_not_in_its_frame);
    suite_add_tcase(suite, real);
    return suite;
}
