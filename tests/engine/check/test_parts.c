/*
 * tests/engine/check/test_parts.c: records that stand in parts. Whole, they are read like any other; where a part
 * is not there, the record is lost, what is missing is told, and reading goes on; what parts claim costs
 * nothing. [C-6]
 */
#include "tests/engine/fixture.h"
#include "tests/engine/scarce.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARTS_MAX = 8 };

/* A record, and where its parts were put. */
typedef struct row {
    uint8_t *bytes;
    size_t size;
    uint64_t at[PARTS_MAX];
} row;

static row make_row(uint64_t n, size_t text)
{
    row r = {.bytes = malloc(text + 64)};
    char *letters = malloc(text);
    memset(letters, 'a' + (int)(n % 26), text);
    r.size = record_bytes(r.bytes, n, letters, text);
    free(letters);
    return r;
}

/* Puts part `i` of `count` equal ones at the next place. */
static void put_part(forged_segment *f, row *r, unsigned i, unsigned count)
{
    size_t each = r->size / count, from = i * each, to = i + 1 == count ? r->size : from + each;
    u9i_part_record part = {.number = i, .total = r->size, .before = i ? r->at[i - 1] : 0,
                            .bytes = {r->bytes + from, to - from}};
    r->at[i] = forge_part(f, &part, i + 1 == count);
}

static void put_parts(forged_segment *f, row *r, unsigned from, unsigned to, unsigned count)
{
    for (unsigned i = from; i < to; i++) put_part(f, r, i, count);
}

/* Puts a part with these claims, and so many bytes of nothing. */
static uint64_t put_claim(forged_segment *f, uint32_t number, uint64_t total, uint64_t before, size_t size,
                          uint32_t count)
{
    uint8_t bytes[256] = {0};
    u9i_part_record part = {.number = number, .total = total, .before = before, .bytes = {bytes, size}};
    return forge_part(f, &part, count);
}

/* The one damage there is: a record that lacks this part. */
static void expect_lacks(const seen *s, uint64_t part, uint64_t at, uint64_t lacks, uint64_t ordinal)
{
    ck_assert_uint_eq(s->damage_count, 1);
    const u9_damage *d = &s->damages[0];
    ck_assert_int_eq(d->reason, U9_R_PART);
    ck_assert_int_eq(d->verdict, U9_V_CORRUPT);
    ck_assert_uint_eq(d->part, part);
    ck_assert_uint_eq(d->part_at, at);
    ck_assert_uint_eq(d->part_lacks, lacks);
    ck_assert_uint_eq(d->ordinal, ordinal);
    ck_assert_uint_eq(d->lost, 1);
}

START_TEST(a_record_in_parts_is_read_like_any_other)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    row r = make_row(7, 5000), single = make_row(9, 10);
    forge_records(&f, "before", 2);
    put_part(&f, &r, 0, 3);
    forge_records(&f, "between", 2); /* other frames may stand between */
    put_part(&f, &r, 1, 3);
    forge_promise(&f);
    put_part(&f, &r, 2, 3);
    put_parts(&f, &single, 0, 1, 1);
    forge_records(&f, "behind", 1);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->count, 7);
    ck_assert_uint_eq(s->records[4].ordinal, 4);
    ck_assert_uint_eq(s->records[4].frame, r.at[2]);
    ck_assert_uint_eq(s->records[4].size, r.size);
    ck_assert_mem_eq(s->records[4].bytes, r.bytes, r.size);
    ck_assert_uint_eq(s->records[5].size, single.size);
    forget(s);
    uint8_t key[16], buf[6000];
    memset(key, 0x60, 8);
    memcpy(key, r.bytes + r.size - 5000 - 3 - 16, 16);
    u9_log *handle = open_reader(log);
    u9_record got;
    ck_assert_int_eq(u9_log_get(handle, &(u9_key){key, 16}, buf, sizeof buf, &got, NULL), U9_OK);
    ck_assert_uint_eq(got.size, r.size);
    ck_assert_mem_eq(got.bytes, r.bytes, r.size);
    close_log(handle);
    free(r.bytes);
    free(single.bytes);
    forge_free(&f);
}
END_TEST

/* Each part, damaged in turn: which, where and how many bytes; what stands behind is read. */
START_TEST(what_is_missing_of_a_record_is_told)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    row r = make_row(7, 4000);
    forge_records(&f, "before", 2);
    put_parts(&f, &r, 0, 4, 4);
    forge_records(&f, "behind", 2);
    forge_promise(&f);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    for (unsigned i = 0; i < 4; i++) {
        flip_bit(segment_path(log, 1), r.at[i] + 200, 1);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 4);
        ck_assert(has_text(s, "behind4"));
        ck_assert_uint_eq(s->report.lost, 1);
        ck_assert_int_eq(s->report.closed, 1);
        const u9_damage *d = &s->damages[s->damage_count - 1];
        if (i == 3) { /* with its last part goes the ordinal */
            ck_assert_uint_eq(s->damage_count, 1);
            ck_assert_uint_eq(d->lost, 1);
        } else {
            ck_assert_uint_eq(s->damage_count, 2);
            ck_assert_int_eq(s->damages[0].reason, U9_R_HASH);
            ck_assert_uint_eq(s->damages[0].lost, 0);
            ck_assert_int_eq(d->reason, U9_R_PART);
            ck_assert_uint_eq(d->begin, r.at[3]);
            ck_assert_uint_eq(d->part, i);
            ck_assert_uint_eq(d->part_at, r.at[i]);
            ck_assert_uint_eq(d->part_lacks, r.size / 4);
            ck_assert_uint_eq(d->part_total, r.size);
            ck_assert_uint_eq(d->ordinal, 2);
        }
        forget(s);
        flip_bit(segment_path(log, 1), r.at[i] + 200, 1);
    }
    free(r.bytes);
    forge_free(&f);
}
END_TEST

/* A writer that went before the last part: at an unpromised end, and where a session goes on behind it. */
START_TEST(parts_that_never_got_their_last_one_are_no_damage)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    row r = make_row(7, 4000), other = make_row(8, 1000);
    forge_records(&f, "before", 2);
    put_parts(&f, &r, 0, 3, 4);
    forge_pad(&f);
    forge_save(&f, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 2);
    ck_assert_int_eq(s->report.verdict, U9_V_TORN);
    ck_assert_uint_eq(s->report.damages, 0);
    forget(s);
    put_parts(&f, &other, 0, 2, 2); /* another row leaves it behind */
    forge_promise(&f);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    s = look(log);
    ck_assert_uint_eq(s->count, 3);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
    free(r.bytes);
    free(other.bytes);
    forge_free(&f);
}
END_TEST

/* One forged claim each, in the last part or before it; the records around it are read. */
START_TEST(forged_parts_are_told_and_lead_nowhere)
{
    static const struct claim {
        uint32_t number;
        uint64_t total, before; /* before 1: the frame of part 0; 2: its own; 3: behind it */
        uint64_t part, lacks;
    } claims[] = {
        {1, UINT64_MAX, 1, 0, UINT64_MAX - 16}, /* another total */
        {1, 32, 2, 0, 0},                   /* names itself */
        {1, 32, 3, 0, 0},                   /* names what comes behind */
        {1, 32, 0, 0, 0},                   /* names nothing */
        {1, 32, UINT64_MAX, 0, 0},
        {2, 32, 1, 1, 0},                   /* a number left out */
        {UINT32_MAX, 32, 1, UINT32_MAX - 1, 0},
        {0, 16, 1, 0, 0},                   /* a first part that names one before */
        {1, 40, 1, 0, 24},                  /* together too short, by a total of its own */
    };
    for (unsigned i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        char name[20];
        snprintf(name, sizeof name, "log%u", i);
        const struct claim *c = &claims[i];
        forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        forge_records(&f, "before", 1);
        uint64_t zero = put_claim(&f, 0, 32, 0, 16, 0);
        uint64_t named = c->before == 1 ? zero : c->before == 2 ? f.end : c->before == 3 ? f.end + 4096 : c->before;
        put_claim(&f, c->number, c->total, named, 16, 1);
        forge_records(&f, "behind", 1);
        forge_end(&f, U9I_END_CLOSING);
        forge_save(&f, at(name));
        seen *s = look(at(name));
        ck_assert_uint_eq(s->count, 2);
        ck_assert(has_text(s, "behind2"));
        expect_lacks(s, c->part, named, c->lacks, 1);
        forget(s);
        forge_free(&f);
    }
}
END_TEST

/* Too short, too long by the bytes themselves, and not a record when all is there. */
START_TEST(parts_that_do_not_make_a_record_are_told)
{
    static const struct claim {
        uint64_t total;
        size_t size[2];
        u9_reason reason;
        uint64_t lacks;
    } claims[] = {{40, {16, 16}, U9_R_PART, 8},
                  {24, {16, 16}, U9_R_PART, 0},
                  {UINT64_MAX, {16, 16}, U9_R_PART, UINT64_MAX - 32},
                  {0, {0, 0}, U9_R_BODY, 0},
                  {32, {16, 16}, U9_R_BODY, 0}};
    for (unsigned i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        char name[20];
        snprintf(name, sizeof name, "log%u", i);
        const struct claim *c = &claims[i];
        forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        uint64_t p = put_claim(&f, 0, c->total, 0, c->size[0], 0);
        p = put_claim(&f, 1, c->total, p, c->size[1], 1);
        forge_records(&f, "behind", 1);
        forge_end(&f, U9I_END_CLOSING);
        forge_save(&f, at(name));
        seen *s = look(at(name));
        ck_assert_uint_eq(s->count, 1);
        if (c->reason == U9_R_PART) expect_lacks(s, 1, p, c->lacks, 0);
        else ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_BODY), 1);
        forget(s);
        forge_free(&f);
    }
}
END_TEST

/* Rows in one another, a part told twice, a row that begins in another segment: none of them is one. */
START_TEST(rows_do_not_mix)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    row a = make_row(7, 100), b = make_row(8, 90), c = make_row(9, 100), d = make_row(10, 100);
    put_part(&f, &a, 0, 2);
    put_part(&f, &b, 0, 2);
    put_part(&f, &a, 1, 2);
    put_part(&f, &b, 1, 2);
    put_parts(&f, &c, 0, 2, 3);
    put_parts(&f, &c, 1, 3, 3);
    put_part(&f, &d, 0, 2);
    forged_segment g = forge_begin(2, 1, &f, U9I_TAIL_ROLLED);
    put_part(&g, &d, 1, 2);
    forge_records(&g, "behind", 1);
    forge_end(&g, U9I_END_CLOSING);
    forge_save(&f, log);
    forge_save(&g, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 1);
    ck_assert_uint_eq(s->report.lost, 4);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_PART), 4);
    forget(s);
    free(a.bytes);
    free(b.bytes);
    free(c.bytes);
    free(d.bytes);
    forge_free(&f);
    forge_free(&g);
}
END_TEST

/* Last parts without end that all name one row: each part is looked at once. */
START_TEST(many_rows_over_the_same_parts_cost_one_pass)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    uint64_t p = 0;
    unsigned lasts = 0;
    for (unsigned i = 0; i < 2000; i++) p = put_claim(&f, i, 1 << 20, p, 1, 0);
    for (; f.size + 1000 < FORGED_ROOM / 2; lasts++) put_claim(&f, 2000, 1 << 20, p, 1, 1);
    forge_promise(&f);
    forge_save(&f, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 0);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_PART), lasts);
    forget(s);
    forge_free(&f);
}
END_TEST

static void count_record(u9_log *log, uint64_t begin, uint64_t end, u9_damage *told, unsigned *records,
                         unsigned *damages)
{
    u9_range range = {.size = sizeof range, .segment = 1, .begin = begin, .end = end};
    u9_cursor *c;
    u9_record r;
    u9_err err;
    ck_assert_int_eq(u9_cursor_open(log, &range, &c, NULL), U9_OK);
    while ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_CORRUPT) {
        *records += err == U9_OK;
        if (err == U9_OK || u9_cursor_damage(c)->reason != U9_R_PART) continue;
        *told = *u9_cursor_damage(c);
        ++*damages;
    }
    ck_assert_int_eq(err, U9_END);
    u9_cursor_close(c);
}

/* [P-1] The range of its last part has the record, or tells that it is lost, with the same words. */
START_TEST(a_cut_through_a_record_in_parts_changes_nothing)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    row r = make_row(7, 4000), other = make_row(8, 500);
    forge_records(&f, "before", 1);
    put_parts(&f, &other, 0, 1, 3); /* one that was given up */
    put_parts(&f, &r, 0, 4, 4);
    forge_records(&f, "behind", 1);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    for (unsigned hurt = 0; hurt < 4; hurt++) { /* 3: none */
        if (hurt < 3) flip_bit(segment_path(log, 1), r.at[hurt] + 200, 1);
        u9_log *handle = open_reader(log);
        for (uint64_t cut = 48; cut < f.end; cut += 160) {
            u9_damage told = {0};
            unsigned records = 0, damages = 0;
            count_record(handle, 0, cut, &told, &records, &damages);
            count_record(handle, cut, 0, &told, &records, &damages);
            ck_assert_uint_eq(records, hurt < 3 ? 2 : 3);
            ck_assert_uint_eq(damages, hurt < 3);
            if (hurt < 3) ck_assert_uint_eq(told.part, hurt);
            if (hurt < 3) ck_assert_uint_eq(told.part_at, r.at[hurt]);
            if (hurt < 3) ck_assert_uint_eq(told.part_lacks, r.size / 4);
        }
        close_log(handle);
        if (hurt < 3) flip_bit(segment_path(log, 1), r.at[hurt] + 200, 1);
    }
    free(r.bytes);
    free(other.bytes);
    forge_free(&f);
}
END_TEST

/* A row that is right, or wrong in one place or another, and mixed with what stands near it. */
static void put_anything(forged_segment *f, unsigned n)
{
    static uint64_t last[3]; /* frames put before, of this segment or of none */
    row r = make_row(n, 40);
    if (rand() % 3 > 0) {
        put_parts(f, &r, (unsigned)rand() % 8 == 0, 1 + (unsigned)rand() % 3, 3);
        if (rand() % 4 == 0) forge_records(f, "x", 1);
    } else {
        last[rand() % 3] = put_claim(f, (uint32_t)rand() % 4, 30 * (1 + (uint64_t)rand() % 2), last[rand() % 3],
                                     15 * ((size_t)rand() % 3), rand() % 2 == 0);
    }
    free(r.bytes);
}

/* [P-1] Rows of all sorts: both readers see the same, and so do all pairs of ranges. */
START_TEST(rows_of_all_sorts_are_judged_alike_whole_and_in_ranges)
{
    const char *log = at("log");
    srand(7);
    for (unsigned round = 0; round < 60; round++) {
        forged_segment f = forge_begin(1, round, NULL, U9I_TAIL_NONE);
        for (unsigned n = 0; n < 12; n++) put_anything(&f, n);
        uint64_t data = forge_promise(&f);
        forge_end(&f, U9I_END_CLOSING);
        forge_save(&f, log);
        if (round % 3 == 0) flip_bit(segment_path(log, 1), 400 + (uint64_t)rand() % (data - 400), 1);
        seen *s = look(log);
        size_t want = count_damages(s, U9_V_CORRUPT, U9_R_PART);
        u9_log *handle = open_reader(log);
        for (uint64_t cut = 32; cut < f.end; cut += 112) {
            u9_damage told = {0};
            unsigned records = 0, damages = 0;
            count_record(handle, 0, cut, &told, &records, &damages);
            count_record(handle, cut, 0, &told, &records, &damages);
            ck_assert_uint_eq(records, s->count);
            ck_assert_uint_eq(damages, want);
            for (size_t i = s->damage_count; damages > 0 && i > 0; i--) { /* the last one that was told */
                const u9_damage *d = &s->damages[i - 1];
                if (d->reason != U9_R_PART) continue;
                ck_assert_uint_eq(d->begin, told.begin);
                ck_assert_uint_eq(d->part, told.part);
                ck_assert_uint_eq(d->part_at, told.part_at);
                ck_assert_uint_eq(d->part_lacks, told.part_lacks);
                break;
            }
        }
        close_log(handle);
        forget(s);
        forge_free(&f);
    }
}
END_TEST

/* A range's first part cannot be looked behind for a moment: the same call, later, gives the record. */
START_TEST(a_row_that_could_not_be_read_is_read_when_it_can)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    row r = make_row(7, 300000);
    put_parts(&f, &r, 0, 2, 2);
    forge_records(&f, "behind", 1);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    u9_log *handle = open_reader(log);
    u9_range range = {.size = sizeof range, .segment = 1, .begin = r.at[1]};
    u9_cursor *c;
    u9_record got;
    ck_assert_int_eq(u9_cursor_open(handle, &range, &c, NULL), U9_OK);
    sim_spoil(segment_path(log, 1), r.at[0], r.at[0] + 512, ESTALE, 0); /* no verdict of the disk */
    ck_assert_int_eq(u9_cursor_next(c, &got), U9_IO);
    ck_assert_int_eq(u9_cursor_next(c, &got), U9_IO);
    sim_clear();
    ck_assert_int_eq(u9_cursor_next(c, &got), U9_OK);
    ck_assert_uint_eq(got.size, r.size);
    ck_assert_mem_eq(got.bytes, r.bytes, r.size);
    ck_assert_int_eq(u9_cursor_next(c, &got), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &got), U9_END);
    u9_cursor_close(c);
    close_log(handle);
    free(r.bytes);
    forge_free(&f);
}
END_TEST

/* Reading in pieces */

/* A row of `count` parts, and a record in front and behind, closed. */
static row save_large(const char *log, uint64_t n, size_t text, unsigned count)
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    row r = make_row(n, text);
    for (size_t i = 0; i < text; i++) r.bytes[r.size - text + i] = (uint8_t)(i * 7 + i / 251); /* no two pieces alike */
    forge_grow(&f, r.size + (2 << 20));
    forge_records(&f, "before", 1);
    for (unsigned i = 0; i < count; i++) {
        put_part(&f, &r, i, count);
        if (i % 2) forge_records(&f, "between", 1);
    }
    forge_records(&f, "behind", 1);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    forge_free(&f);
    return r;
}

/* The record in parts of a log made so, as a cursor or a lookup shows it. */
static u9_record shown(u9_log *log)
{
    u9_cursor *c;
    u9_record got;
    u9_err err;
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    while ((err = u9_cursor_next(c, &got)) == U9_OK && got.size < 1000) continue;
    ck_assert(err == U9_OK || err == U9_LIMIT);
    u9_cursor_close(c);
    got.key.data = NULL; /* what it borrowed is gone */
    got.bytes = got.values = NULL;
    return got;
}

static void expect_piece(u9_reading *reading, const row *r, uint64_t offset, size_t size)
{
    static uint8_t buf[1 << 20];
    size_t got, want = r->size - offset < size ? r->size - (size_t)offset : size;
    u9_fault fault;
    ck_assert_msg(u9_record_read(reading, offset, buf, size, &got, &fault) == U9_OK, "%s", fault.text);
    ck_assert_uint_eq(got, want);
    ck_assert_mem_eq(buf, r->bytes + offset, want);
}

START_TEST(a_record_in_parts_is_read_in_pieces_at_any_place)
{
    enum { COUNT = 4 };
    static const size_t sizes[COUNT] = {5000, 60000, 200000, 400000};
    srand(5);
    for (unsigned k = 0; k < COUNT; k++) {
        char name[20];
        snprintf(name, sizeof name, "log%u", k);
        const char *log = at(name);
        forged_segment f = forge_begin(1, k, NULL, U9I_TAIL_NONE);
        row r = make_row(7, sizes[k]);
        unsigned parts = k == 0 ? 1 : 300; /* more than are remembered */
        uint64_t before = 0;
        for (unsigned i = 0; i < parts; i++) {
            size_t each = r.size / parts, from = i * each;
            u9i_part_record part = {.number = i, .total = r.size, .before = before,
                                    .bytes = {r.bytes + from, i + 1 == parts ? r.size - from : each}};
            before = forge_part(&f, &part, i + 1 == parts);
            if (i % 7 == 0) forge_records(&f, "x", 1);
        }
        forge_end(&f, U9I_END_CLOSING);
        forge_save(&f, log);
        u9_log *handle = open_reader(log);
        u9_record record = shown(handle);
        ck_assert_uint_eq(record.frame, before);
        u9_reading *reading;
        ck_assert_int_eq(u9_record_open(handle, &record, &reading, NULL), U9_OK);
        for (unsigned i = 0; i < 200; i++) expect_piece(reading, &r, (uint64_t)rand() % r.size, (size_t)rand() % 3000);
        expect_piece(reading, &r, 0, r.size);
        expect_piece(reading, &r, r.size - 1, 100);
        size_t got = 7;
        ck_assert_int_eq(u9_record_read(reading, r.size, &got, 1, &got, NULL), U9_END);
        ck_assert_uint_eq(got, 0);
        u9_record_close(reading);
        close_log(handle);
        free(r.bytes);
        forge_free(&f);
    }
}
END_TEST

/* Behind what was shown the disk decays: pieces before are good, and the rest is told, part by part. */
START_TEST(what_decays_of_a_record_after_it_was_shown_is_told_and_the_rest_is_good)
{
    const char *log = at("log");
    row r = save_large(log, 7, 40000, 4);
    u9_log *handle = open_reader(log);
    u9_record record = shown(handle);
    for (unsigned i = 0; i < 4; i++) {
        static uint8_t buf[50000];
        size_t got = 0, each = r.size / 4;
        u9_fault fault;
        u9_reading *reading;
        ck_assert_int_eq(u9_record_open(handle, &record, &reading, NULL), U9_OK);
        flip_bit(segment_path(log, 1), r.at[i] + 300, 1);
        ck_assert_int_eq(u9_record_read(reading, 0, buf, sizeof buf, &got, &fault), U9_CORRUPT);
        ck_assert_uint_eq(got, i * each);
        ck_assert_mem_eq(buf, r.bytes, got);
        char text[60];
        snprintf(text, sizeof text, "part %u is damaged or gone, with its bytes from %zu on", i, got);
        ck_assert_msg(strstr(fault.text, text) != NULL, "%s", fault.text);
        ck_assert_str_eq(fault.rule, "C-6");
        ck_assert_uint_le(fault.offset, r.at[i]);
        ck_assert_int_eq(u9_record_read(reading, r.size - 1, buf, 1, &got, &fault), U9_CORRUPT);
        ck_assert_uint_eq(got, 0);
        flip_bit(segment_path(log, 1), r.at[i] + 300, 1); /* it is back: so is the record */
        expect_piece(reading, &r, 0, sizeof buf);
        u9_record_close(reading);
    }
    close_log(handle);
    free(r.bytes);
}
END_TEST

/* Places where no record stands, or another one: refused, whatever is there. */
START_TEST(a_place_where_no_such_record_stands_is_refused)
{
    const char *log = at("log");
    row r = save_large(log, 7, 40000, 4);
    u9_log *handle = open_reader(log);
    u9_record record = shown(handle), other;
    u9_reading *reading;
    static const struct { uint64_t frame, at, size, segment; u9_err err; } wrong[] = {
        {16, 0, 0, 0, U9_CORRUPT}, {0, 0, 1, 0, U9_CORRUPT}, {UINT64_C(1) << 50, 0, 0, 0, U9_CORRUPT},
        {0, 0, 0, 9, U9_ABSENT}};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        other = record;
        other.frame += wrong[i].frame;
        other.size += wrong[i].size;
        other.segment += wrong[i].segment;
        ck_assert_int_eq(u9_record_open(handle, &other, &reading, NULL), wrong[i].err);
    }
    other = record;
    other.frame = r.at[2]; /* not the last part */
    ck_assert_int_eq(u9_record_open(handle, &other, &reading, NULL), U9_CORRUPT);
    ck_assert_int_eq(u9_record_open(handle, NULL, &reading, NULL), U9_ARG);
    u9_cursor *c;
    ck_assert_int_eq(u9_cursor_open(handle, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &other), U9_OK); /* a small one is read as well */
    uint8_t buf[100];
    size_t got;
    ck_assert_int_eq(u9_record_open(handle, &other, &reading, NULL), U9_OK);
    ck_assert_int_eq(u9_record_read(reading, 1, buf, sizeof buf, &got, NULL), U9_OK);
    ck_assert_uint_eq(got, other.size - 1);
    ck_assert_mem_eq(buf, other.bytes + 1, got);
    u9_record_close(reading);
    other.at++;
    ck_assert_int_eq(u9_record_open(handle, &other, &reading, NULL), U9_CORRUPT);
    u9_cursor_close(c);
    close_log(handle);
    free(r.bytes);
}
END_TEST

/* Forged: what the parts name leads in a circle, forwards, or to another row. Each is looked at once at most. */
START_TEST(rows_that_lead_nowhere_are_not_followed)
{
    enum { ZERO, ITSELF, BEHIND, FAR };
    static const struct { uint32_t number; unsigned before; } claims[] = {
        {1, ITSELF}, {1, BEHIND}, {1, FAR}, {2, ZERO}, {UINT32_MAX, ZERO}};
    for (unsigned i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        char name[20];
        snprintf(name, sizeof name, "log%u", i);
        forged_segment f = forge_begin(1, i, NULL, U9I_TAIL_NONE);
        uint64_t zero = put_claim(&f, 0, 32, 0, 16, 0);
        const uint64_t before[] = {[ZERO] = zero, [ITSELF] = f.end, [BEHIND] = f.end + 4096, [FAR] = UINT64_MAX};
        uint64_t last = put_claim(&f, claims[i].number, 32, before[claims[i].before], 16, 1);
        forge_end(&f, U9I_END_CLOSING);
        forge_save(&f, at(name));
        u9_log *handle = open_reader(at(name));
        u9_reading *reading;
        u9_record claimed = {.segment = 1, .frame = last, .at = last / 16 << 24, .size = 32};
        ck_assert_int_eq(u9_record_open(handle, &claimed, &reading, NULL), U9_CORRUPT);
        close_log(handle);
        forge_free(&f);
    }
}
END_TEST

/* A lookup has room for all of it, or says how much it must be; what it says is opened. */
START_TEST(a_large_record_is_found_by_its_key)
{
    const char *log = at("log");
    row r = save_large(log, 7, U9_RECORD_MAX + 100, 3);
    u9_log *handle = open_reader(log);
    uint8_t key[16], *buf = malloc(r.size);
    u9_record got;
    u9_reading *reading;
    memcpy(key, r.bytes + 9 + 2, 16); /* 42, length, count; 1c 10 */
    ck_assert_int_eq(u9_log_get(handle, &(u9_key){key, 16}, buf, r.size - 1, &got, NULL), U9_LIMIT);
    ck_assert_uint_eq(got.size, r.size);
    ck_assert_ptr_null(got.bytes);
    ck_assert_ptr_eq(got.key.data, key);
    ck_assert_uint_eq(got.values_size, r.size - 9 - 18);
    ck_assert_int_eq(u9_record_open(handle, &got, &reading, NULL), U9_OK);
    expect_piece(reading, &r, 12345678, 100000);
    u9_record_close(reading);
    ck_assert_int_eq(u9_log_get(handle, &(u9_key){key, 16}, buf, r.size, &got, NULL), U9_OK);
    ck_assert_mem_eq(got.bytes, r.bytes, r.size);
    ck_assert_mem_eq(got.key.data, key, 16);
    ck_assert(got.values == got.bytes + 9 + 18);
    seen *s = look(log); /* the second reader too */
    ck_assert_uint_eq(s->count, 4);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
    close_log(handle);
    free(buf);
    free(r.bytes);
}
END_TEST

/* Salvage */

typedef struct told {
    u9_damage last;
    unsigned count;
} told;

static void note(void *ctx, const u9_damage *d)
{
    told *t = ctx;
    if (d->reason != U9_R_PART) return;
    t->last = *d;
    t->count++;
}

static u9_report salvage(const char *from, const char *to, uint64_t *saved, told *t)
{
    u9_report report = {.size = sizeof report};
    u9_fault fault;
    u9_check_options o = {.size = sizeof o, .io = io_of(from), .on_damage = note, .ctx = t};
    u9_err err = u9_salvage(from, to, &o, &report, saved, &fault);
    ck_assert_msg(err == U9_OK, "%s: %s", u9_err_name(err), fault.text);
    return report;
}

START_TEST(salvage_keeps_a_record_in_parts_also_behind_an_unconfirmed_end)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    row a = make_row(7, 3000), b = make_row(8, 3000), lost = make_row(9, 3000);
    put_parts(&f, &a, 0, 2, 2);
    put_parts(&f, &lost, 0, 3, 3);
    uint64_t gap = forge_records(&f, "gone", 1);
    put_parts(&f, &b, 0, 2, 2);
    forge_records(&f, "beyond", 1);
    forge_save(&f, log);
    flip_bit(segment_path(log, 1), gap + 70, 1); /* of the body; not promised: the log ends here */
    flip_bit(segment_path(log, 1), lost.at[1] + 200, 1);
    uint64_t saved = 0;
    told t = {0};
    u9_report report = salvage(log, at("out"), &saved, &t);
    ck_assert_uint_eq(report.beyond, 3); /* by the trailers: lost, b, beyond */
    ck_assert_uint_eq(saved, 3);
    seen *s = look(at("out"));
    ck_assert_uint_eq(s->count, 3);
    ck_assert_uint_eq(s->records[0].size, a.size);
    ck_assert_mem_eq(s->records[0].bytes, a.bytes, a.size);
    ck_assert_mem_eq(s->records[1].bytes, b.bytes, b.size);
    forget(s);
    free(a.bytes);
    free(b.bytes);
    free(lost.bytes);
    forge_free(&f);
}
END_TEST

/* Whole, and larger than is handed out at once: it is judged like any other, and salvage copies it part by part. */
START_TEST(a_record_above_the_largest_is_judged_and_salvaged)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    row r = make_row(7, U9_RECORD_MAX + 5), most = make_row(8, U9_RECORD_MAX - 32);
    ck_assert_uint_eq(most.size, U9_RECORD_MAX);
    forge_grow(&f, 3 * U9_RECORD_MAX);
    forge_records(&f, "before", 1);
    put_parts(&f, &r, 0, 3, 3);
    put_parts(&f, &most, 0, 3, 3);
    forge_records(&f, "behind", 1);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    u9_report report = {.size = sizeof report};
    told t = {0};
    u9_check_options o = {.size = sizeof o, .io = io_of(log), .on_damage = note, .ctx = &t};
    ck_assert_int_eq(u9_check(log, &o, &report, NULL), U9_OK);
    ck_assert_int_eq(report.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(report.records, 4);
    ck_assert_uint_eq(t.count, 0);
    u9_log *handle = open_reader(log);
    u9_cursor *c;
    u9_record got;
    u9_fault fault;
    ck_assert_int_eq(u9_cursor_open(handle, NULL, &c, NULL), U9_OK);
    for (unsigned i = 0; i < 4; i++) ck_assert_int_eq(u9_cursor_next(c, &got), i == 1 ? U9_LIMIT : U9_OK);
    u9_cursor_fault(c, &fault);
    ck_assert_str_eq(fault.rule, "C-6");
    ck_assert_uint_eq(fault.offset, r.at[2]);
    ck_assert_int_eq(u9_cursor_next(c, &got), U9_END);
    u9_cursor_close(c);
    close_log(handle);
    uint64_t saved;
    report = salvage(log, at("out"), &saved, &t);
    ck_assert_int_eq(report.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(saved, 4);
    ck_assert_uint_eq(t.count, 0);
    seen *s = look(at("out"));
    ck_assert_uint_eq(s->count, 4);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->records[1].size, r.size);
    ck_assert_mem_eq(s->records[1].bytes, r.bytes, r.size);
    ck_assert_mem_eq(s->records[2].bytes, most.bytes, most.size);
    forget(s);
    free(r.bytes);
    free(most.bytes);
    forge_free(&f);
}
END_TEST

/* Without memory, or where nothing is seen of what is looked at: it is told, or makes no difference. */
static void expect_salvage_to_fail(uint64_t well)
{
    static const scarcity each[] = {SCARCE_MEMORY, SCARCE_SIGHT};
    for (unsigned i = 0; i < 2; i++) {
        unsigned failed = 1;
        for (unsigned nth = 1; failed > 0; nth += 1 + nth / 16) {
            u9_fault fault;
            uint64_t saved = 0;
            u9_report r = {.size = sizeof r};
            u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
            static const char *const made[] = {"out", "out.fork-2", "out.partial", "out.fork-2.partial"};
            for (unsigned k = 0; k < 4; k++) remove_log(at(made[k]));
            scarce_begin(each[i], nth, ENXIO, false);
            u9_err err = u9_salvage(at("log"), at("out"), &o, &r, &saved, &fault);
            failed = scarce_end(NULL);
            ck_assert_msg(err == U9_OK || err == (i ? U9_IO : U9_NOMEM), "%u, %u: %s: %s", i, nth, u9_err_name(err),
                          err ? fault.text : "");
            if (err == U9_OK && (i == 0 || failed == 0)) ck_assert_msg(saved == well, "%u, %u: %u records", i, nth, (unsigned)saved);
            ck_assert_uint_lt(nth, 5000);
        }
    }
}

/* [L-9] [G-4] A copy of the file went on by itself, within a record: what the two share belongs to it, too. */
START_TEST(a_record_that_was_ended_in_a_copy_is_saved_with_the_branch)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    row r = make_row(7, 3000);
    forge_records(&f, "before", 1);
    put_parts(&f, &r, 0, 2, 3);
    forged_segment g = f;
    g.bytes = malloc(g.room);
    memcpy(g.bytes, f.bytes, f.size);
    forge_records(&f, "here", 200);
    forge_promise(&f);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    put_parts(&g, &r, 2, 3, 3);
    forge_records(&g, "there", 1);
    forge_promise(&g);
    write_file(segment_path(log, 2), g.bytes, g.size);
    uint64_t saved = 0;
    told t = {0};
    u9_report report = salvage(log, at("out"), &saved, &t);
    ck_assert_uint_eq(report.outputs, 2);
    ck_assert_uint_eq(t.count, 0);
    ck_assert_uint_eq(saved, 203);
    seen *s = look(at("out"));
    ck_assert_uint_eq(s->count, 201);
    forget(s);
    s = look(at("out.fork-2"));
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(s->records[0].size, r.size);
    ck_assert_mem_eq(s->records[0].bytes, r.bytes, r.size);
    forget(s);
    sim_needed("looks that see nothing");
    expect_salvage_to_fail(saved);
    free(r.bytes);
    forge_free(&f);
    forge_free(&g);
}
END_TEST

/* Behind an end that nobody confirms it is saved as well; one of which a part is gone is not, and costs only itself. */
START_TEST(a_large_record_behind_an_unconfirmed_end_is_saved)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    row a = make_row(7, U9_RECORD_MAX + 999), lost = make_row(8, U9_RECORD_MAX + 5);
    forge_grow(&f, 3 * U9_RECORD_MAX);
    uint64_t gap = forge_records(&f, "gone", 1);
    put_parts(&f, &lost, 0, 4, 4);
    put_parts(&f, &a, 0, 3, 3);
    forge_records(&f, "beyond", 1);
    forge_save(&f, log);
    flip_bit(segment_path(log, 1), gap + 70, 1); /* of the body; not promised: the log ends here */
    flip_bit(segment_path(log, 1), lost.at[2] + 200, 1);
    uint64_t saved = 0;
    told t = {0};
    u9_report report = salvage(log, at("out"), &saved, &t);
    ck_assert_uint_eq(report.beyond, 3);
    ck_assert_uint_eq(saved, 2);
    seen *s = look(at("out"));
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->records[0].size, a.size);
    ck_assert_mem_eq(s->records[0].bytes, a.bytes, a.size);
    forget(s);
    free(a.bytes);
    free(lost.bytes);
    forge_free(&f);
}
END_TEST

Suite *suite_parts(void)
{
    Suite *suite = suite_create("parts");
    TCase *tc = tcase_create("parts");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_add_test(tc, a_record_in_parts_is_read_like_any_other);
    tcase_add_test(tc, what_is_missing_of_a_record_is_told);
    tcase_add_test(tc, parts_that_never_got_their_last_one_are_no_damage);
    tcase_add_test(tc, forged_parts_are_told_and_lead_nowhere);
    tcase_add_test(tc, parts_that_do_not_make_a_record_are_told);
    tcase_add_test(tc, rows_do_not_mix);
    tcase_add_test(tc, many_rows_over_the_same_parts_cost_one_pass);
    tcase_add_test(tc, a_cut_through_a_record_in_parts_changes_nothing);
    tcase_add_test(tc, rows_of_all_sorts_are_judged_alike_whole_and_in_ranges);
    tcase_add_test(tc, a_row_that_could_not_be_read_is_read_when_it_can);
    tcase_add_test(tc, a_record_in_parts_is_read_in_pieces_at_any_place);
    tcase_add_test(tc, what_decays_of_a_record_after_it_was_shown_is_told_and_the_rest_is_good);
    tcase_add_test(tc, a_place_where_no_such_record_stands_is_refused);
    tcase_add_test(tc, rows_that_lead_nowhere_are_not_followed);
    tcase_add_test(tc, a_large_record_is_found_by_its_key);
    tcase_add_test(tc, salvage_keeps_a_record_in_parts_also_behind_an_unconfirmed_end);
    tcase_add_test(tc, a_record_above_the_largest_is_judged_and_salvaged);
    tcase_add_test(tc, a_large_record_behind_an_unconfirmed_end_is_saved);
    tcase_add_test(tc, a_record_that_was_ended_in_a_copy_is_saved_with_the_branch);
    suite_add_tcase(suite, tc);
    return suite;
}
