/*
 * tests/engine/segment/test_mend.c: damaged headers, padding and trailers cost nothing. [N-1] to [N-6] (F20, F22, F51)
 *
 * A log is read whole first; then it is damaged, and read by who mends, and salvaged: the same records come, byte for
 * byte, each under its ordinal, and each frame that was put together again is told. Whatever the damage: nothing is
 * shown that was not appended, and never under another number.
 */
#include "format/base/bytes.h"
#include "format/frame/disk.h"
#include "tests/engine/fixture.h"
#include "tests/engine/read/ruin.h"
#include "tests/must.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include "engine/segment/mend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, HEADER = 64, TRAILER = 80, FRAMES_MAX = 4096, LOG_RECORDS_MAX = 20000 };

static char log_path[3400], out_path[3400];

static void setup(void)
{
    fixture_setup_sim();
    snprintf(log_path, sizeof log_path, "%s", at("log"));
    snprintf(out_path, sizeof out_path, "%s", at("out"));
}

/* What a log holds: of each record its number and a hash of its bytes. */
typedef struct content {
    uint64_t ordinals[LOG_RECORDS_MAX];
    uint8_t hashes[LOG_RECORDS_MAX][16];
    size_t count;
    size_t mended, harmless, damages, lost; /* told on the way: mended frames, other damages that are no note, records lost by them */
} content;

static void note_bytes(content *c, uint64_t ordinal, const void *bytes, size_t size)
{
    ck_assert_uint_lt(c->count, LOG_RECORDS_MAX);
    c->ordinals[c->count] = ordinal;
    u9i_hash(bytes, size, c->hashes[c->count++]);
}

static void note_large(content *c, u9_log *log, const u9_record *r)
{
    u9_reading *reading;
    u9_fault fault = {0};
    uint8_t *bytes = malloc(r->size);
    size_t got;
    MUST_SAY(u9_record_open(log, r, &reading, &fault) == U9_OK, "%s", fault.text);
    MUST_SAY(u9_record_read(reading, 0, bytes, r->size, &got, &fault) == U9_OK && got == r->size, "%s", fault.text);
    u9_record_close(reading);
    note_bytes(c, r->ordinal, bytes, r->size);
    free(bytes);
}

static void note_damage(content *c, const u9_damage *d)
{
    if (d->mended) {
        ck_assert_uint_eq(d->lost, 0);
        ck_assert_uint_ge(d->end - d->begin, HEADER + TRAILER);
        c->mended++;
    } else if (d->reason == U9_R_FILL || d->reason == U9_R_PADDING) {
        ck_assert_uint_eq(d->lost, 0);
        c->harmless++;
    } else if (d->verdict >= U9_V_UNKNOWN) {
        if (getenv("MEND_DEBUG")) fprintf(stderr, "%s [%llu,%llu) lost %llu\n", u9_reason_name(d->reason), (unsigned long long)d->begin, (unsigned long long)d->end, (unsigned long long)d->lost);
        c->damages++;
        c->lost += d->lost == U9_NOWHERE ? 1 : d->lost;
    }
}

static content *read_log(const char *path, bool mend)
{
    content *c = calloc(1, sizeof *c);
    u9_log *log;
    u9_cursor *cursor;
    u9_record r;
    u9_err err;
    u9_fault fault = {0};
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(path), .mend = mend};
    err = u9_log_open(path, &o, &log, &fault);
    MUST_SAY(err == U9_OK, "%s", fault.text);
    MUST(u9_cursor_open(log, NULL, &cursor, NULL) == U9_OK);
    while ((err = u9_cursor_next(cursor, &r)) == U9_OK || err == U9_CORRUPT || err == U9_LIMIT) {
        if (err == U9_OK) note_bytes(c, r.ordinal, r.bytes, r.size);
        if (err == U9_LIMIT) note_large(c, log, &r);
        if (err == U9_CORRUPT) note_damage(c, u9_cursor_damage(cursor));
    }
    MUST(err == U9_END);
    u9_cursor_close(cursor);
    close_log(log);
    return c;
}

static bool same_record(const content *a, size_t i, const content *b, size_t k)
{
    return memcmp(a->hashes[i], b->hashes[k], 16) == 0;
}

/* Each record is one of the whole log, under its number; in order. Returns how many of the whole log's are not there. */
static size_t expect_true(const content *whole, const content *got)
{
    size_t k = 0;
    for (size_t i = 0; i < got->count; i++) {
        while (k < whole->count && whole->ordinals[k] < got->ordinals[i]) k++;
        MUST_SAY(k < whole->count && whole->ordinals[k] == got->ordinals[i] && same_record(whole, k, got, i),
                 "record %llu was never appended", (unsigned long long)got->ordinals[i]);
        k++;
    }
    return whole->count - got->count;
}

/* All of it, and nothing told but frames that were mended. */
static void expect_whole(const char *log, const content *whole, const char *what)
{
    content *c = read_log(log, true);
    size_t lacks = expect_true(whole, c);
    MUST_SAY(lacks == 0 && c->damages == 0, "%s: %zu records lack, %zu damages, %zu mended", what, lacks, c->damages, c->mended);
    MUST_SAY(c->mended > 0 || c->harmless > 0, "%s: nothing told", what);
    free(c);
}

static void count_told(void *ctx, const u9_damage *d)
{
    note_damage(ctx, d);
}

/* Salvages into "out", reads that, and takes it away. */
static content *salvage_log(const char *log)
{
    content told = {.count = 0};
    u9_check_options o = {.size = sizeof o, .on_damage = count_told, .ctx = &told, .io = io_of(log)};
    u9_report report = {.size = sizeof report};
    uint64_t salvaged;
    u9_fault fault = {0};
    u9_err err = u9_salvage(log, out_path, &o, &report, &salvaged, &fault);
    MUST_SAY(err == U9_OK, "salvage: %s", fault.text);
    content *c = read_log(out_path, false);
    ck_assert_uint_eq(c->damages, 0);
    c->mended = told.mended;
    c->damages = told.damages;
    remove_log(out_path);
    return c;
}

/* Salvage writes all of it, in order, too. Its ordinals are new. */
static void expect_salvaged_whole(const char *log, const content *whole, const char *what)
{
    content *c = salvage_log(log);
    MUST_SAY(c->count == whole->count, "%s: %zu of %zu records salvaged", what, c->count, whole->count);
    for (size_t i = 0; i < c->count; i++)
        MUST_SAY(same_record(whole, i, c, i), "%s: record %zu is another", what, i);
    MUST_SAY(c->mended > 0, "%s: salvage does not tell", what);
    free(c);
}

/* A file, to be damaged again and again. */
typedef struct victim {
    char path[3400];
    uint8_t *bytes;
    size_t size;
    seen_frame frames[FRAMES_MAX];
    size_t count;
} victim;

static victim *take(const char *path)
{
    victim *v = calloc(1, sizeof *v);
    snprintf(v->path, sizeof v->path, "%s", path);
    v->bytes = read_file(path, &v->size);
    v->count = list_frames(v->bytes, v->size, v->frames, FRAMES_MAX);
    ck_assert_uint_gt(v->count, 2);
    return v;
}

static void heal(const victim *v)
{
    write_file(v->path, v->bytes, v->size);
}

static void let_go(victim *v)
{
    free(v->bytes);
    free(v);
}

static void damage(const victim *v, uint64_t at, size_t size, const uint8_t *with)
{
    put_bytes(v->path, at, with, size);
}

/* Bytes that are none of those that stand there. */
static void garble(const victim *v, uint64_t at, size_t size)
{
    uint8_t *bytes = malloc(size);
    for (size_t i = 0; i < size; i++) bytes[i] = v->bytes[at + i] ^ (uint8_t)(1 + draw(255));
    damage(v, at, size, bytes);
    free(bytes);
}

static uint64_t trailer_of(const seen_frame *f)
{
    return f->offset + HEADER + f->length - TRAILER;
}

/* Some commits, each in blocks of its own, then frames in a row. */
static void write_small(const char *log, bool lz4)
{
    u9_options o = writer_options();
    o.lz4 = lz4;
    u9_log *w = open_writer(log, &o);
    append_many(w, "small", 12, 3);
    append_many(w, "row", 400, 0);
    char text[3000];
    for (unsigned i = 0; i < 60; i++) {
        memset(text, 'a' + (int)(i % 26), sizeof text);
        snprintf(text, sizeof text, "long %u", i);
        text[strlen(text)] = ' ';
        text[sizeof text - 1] = 0;
        append_text(w, text);
    }
    close_log(w);
}

/* F20: no bit of a header loses anything. */
START_TEST(a_flip_of_any_byte_of_any_header_loses_nothing)
{
    const char *log = log_path;
    write_small(log, _i & 1);
    if (_i & 2) remove_mark(log);
    content *whole = read_log(log, false);
    victim *v = take(segment_path(log, 1));
    for (size_t i = 0; i < v->count; i++)
        for (unsigned b = 0; b < HEADER; b++) {
            char what[100];
            snprintf(what, sizeof what, "frame %zu of %zu, byte %u", i, v->count, b);
            flip_bit(v->path, v->frames[i].offset + b, (b + (unsigned)i) % 8);
            expect_whole(log, whole, what);
            if (b % 11 == i % 11) expect_salvaged_whole(log, whole, what);
            heal(v);
        }
    let_go(v);
    free(whole);
}
END_TEST

/* Any part of a header, and all of it: zeros, ones, garbage. */
START_TEST(whatever_happens_to_one_header_loses_nothing)
{
    const char *log = log_path;
    write_small(log, false);
    content *whole = read_log(log, false);
    victim *v = take(segment_path(log, 1));
    static const unsigned cuts[] = {0, 5, 16, 20, 32, 40, 48, 52, 56, 60, 64};
    enum { CUTS = sizeof cuts / sizeof *cuts };
    uint8_t fill[HEADER];
    draw_from(11);
    for (size_t i = 0; i < v->count; i++)
        for (unsigned a = 0; a < CUTS; a++)
            for (unsigned b = a + 1; b < CUTS; b++) {
                char what[100];
                /* Of the last frame, behind which nothing is, the chain says nothing: one of its hashes must stand. */
                bool last = i + 1 == v->count, proven = cuts[b] <= 32 || cuts[a] >= 48 || (cuts[a] >= 32 && cuts[b] <= 64);
                if (last && !proven) continue;
                unsigned way = (unsigned)draw(3);
                snprintf(what, sizeof what, "frame %zu of %zu, [%u,%u) way %u", i, v->count, cuts[a], cuts[b], way);
                memset(fill, way == 0 ? 0 : 0xff, sizeof fill);
                if (way < 2) damage(v, v->frames[i].offset + cuts[a], cuts[b] - cuts[a], fill);
                else garble(v, v->frames[i].offset + cuts[a], cuts[b] - cuts[a]);
                content *plain = read_log(log, false);
                bool harmed = plain->damages > 0 || plain->count < whole->count;
                free(plain);
                if (harmed) expect_whole(log, whole, what); /* zeros may have stood there */
                heal(v);
            }
    let_go(v);
    free(whole);
}
END_TEST

/* F22, and what is worse: padding and header and the trailer in front of them. */
START_TEST(garbage_across_the_seam_of_two_frames_loses_nothing)
{
    const char *log = log_path;
    write_small(log, false);
    content *whole = read_log(log, false);
    victim *v = take(segment_path(log, 1));
    draw_from(12);
    for (size_t i = 1; i < v->count; i++) {
        uint64_t seam = v->frames[i].offset, back = seam - v->frames[i - 1].end;
        for (unsigned size = 1; size < 100; size += 7) {
            char what[100];
            uint64_t from = seam - back - draw(12);
            snprintf(what, sizeof what, "seam %zu of %zu, %u bytes around", i, v->count, size);
            garble(v, from, (size_t)(seam - from) + (size < HEADER ? size : HEADER));
            expect_whole(log, whole, what);
            heal(v);
        }
    }
    let_go(v);
    free(whole);
}
END_TEST

/* F20: of a trailer the fields are what the neighbours say. */
START_TEST(a_flip_of_any_byte_of_any_trailer_loses_nothing)
{
    const char *log = log_path;
    write_small(log, false);
    content *whole = read_log(log, false);
    victim *v = take(segment_path(log, 1));
    for (size_t i = 0; i < v->count; i++)
        for (unsigned b = 0; b < TRAILER; b++) {
            char what[100];
            snprintf(what, sizeof what, "frame %zu of %zu, byte %u", i, v->count, b);
            flip_bit(v->path, trailer_of(&v->frames[i]) + b, (b + (unsigned)i) % 8);
            expect_whole(log, whole, what);
            if (b % 13 == i % 13) expect_salvaged_whole(log, whole, what);
            heal(v);
        }
    let_go(v);
    free(whole);
}
END_TEST

/* All of a trailer, and its frame's header with it; but for the last one, behind which nothing is known. */
START_TEST(a_trailer_that_is_gone_loses_nothing)
{
    const char *log = log_path;
    write_small(log, false);
    content *whole = read_log(log, false);
    victim *v = take(segment_path(log, 1));
    uint8_t zeros[TRAILER] = {0};
    draw_from(13);
    for (size_t i = 0; i + 1 < v->count; i++) {
        char what[100];
        snprintf(what, sizeof what, "frame %zu of %zu", i, v->count);
        damage(v, trailer_of(&v->frames[i]), TRAILER, zeros);
        expect_whole(log, whole, what);
        garble(v, trailer_of(&v->frames[i]), TRAILER);
        expect_whole(log, whole, strcat(what, ", garbled"));
        garble(v, v->frames[i].offset, 48); /* what says how long it is, stands */
        expect_whole(log, whole, strcat(what, ", and its header"));
        heal(v);
    }
    let_go(v);
    free(whole);
}
END_TEST

/* Headers side by side: all but the first `spare` ones, the mark or the u9end having the last chain. */
START_TEST(all_headers_of_a_file_may_be_damaged)
{
    const char *log = log_path;
    write_small(log, false);
    content *whole = read_log(log, false);
    victim *v = take(segment_path(log, 1));
    draw_from(14);
    for (unsigned way = 0; way < 4; way++) {
        char what[100];
        snprintf(what, sizeof what, "way %u", way);
        for (size_t i = 0; i < v->count; i++) {
            uint64_t p = v->frames[i].offset;
            if (way == 0) garble(v, p, 16);
            if (way == 1) garble(v, p + 16, 48);
            if (way == 2) garble(v, p + (i % 4) * 16, 16);
            if (way == 3 && i + 1 < v->count) garble(v, p, HEADER);
        }
        expect_whole(log, whole, what);
        expect_salvaged_whole(log, whole, what);
        heal(v);
    }
    let_go(v);
    free(whole);
}
END_TEST

/* Logs of all kinds. */
static void write_kind(const char *log, int kind)
{
    u9_options o = writer_options();
    o.lz4 = kind == 1;
    o.segment_size = kind == 4 ? 65536 : 0;
    u9_log *w = open_writer(log, &o);
    static uint8_t bytes[3000000];
    for (unsigned i = 0; i < (kind == 3 ? 4 : 300); i++) {
        size_t size = kind == 3 ? 2600000 : 700 + draw(900);
        for (size_t k = 0; k < size; k++) bytes[k] = kind == 1 ? (uint8_t)(k / 64) : (uint8_t)draw(256);
        if (kind == 2 && i % 5 == 0) { /* its own boundary, aligned: is masked */
            u9i_secret secret = keys_of(segment_path(log, 1));
            for (size_t k = 0; k + 16 <= size; k += 16) memcpy(bytes + k + 6, secret.boundary, 16);
        }
        append_bytes(w, bytes, size);
        if (draw(9) == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
}

/* [N-1] Eight damaged headers in a log of each kind: compressed, masked, large records, several segments. */
START_TEST(logs_with_eight_damaged_headers_come_back_whole)
{
    const char *log = log_path;
    draw_from(100 + (uint64_t)_i);
    write_kind(log, _i % 5);
    if (_i >= 5) remove_mark(log);
    content *whole = read_log(log, false);
    seen *s = look(log);
    if (_i % 5 == 1) ck_assert_uint_gt(s->report.lz4_frames, 0);
    if (_i % 5 == 2) ck_assert_uint_gt(s->report.mask_frames, 0);
    forget(s);
    unsigned segments = segments_in(log);
    ck_assert(_i % 5 != 4 || segments > 3);
    for (unsigned turn = 0; turn < 6; turn++) {
        victim *v[64] = {NULL};
        ck_assert_uint_lt(segments, 64);
        for (unsigned k = 0; k < segments; k++) v[k] = take(segment_path(log, k + 1));
        for (unsigned n = 0; n < 8; n++) {
            const victim *f = v[draw(segments)];
            const seen_frame *frame = &f->frames[draw(f->count - 1)]; /* the last one has no chain behind it */
            uint64_t ga = draw(HEADER/2), gn = 1 + draw(HEADER/2);
            if (getenv("MEND_DEBUG")) fprintf(stderr, "garble %s %llu+%llu n %llu (frame len %llu end %llu) count %u\n", f->path+strlen(f->path)-5,(unsigned long long)frame->offset, (unsigned long long)ga,(unsigned long long)gn,(unsigned long long)frame->length,(unsigned long long)frame->end, frame->count);
            garble(f, frame->offset + ga, gn);
        }
        expect_whole(log, whole, "eight");
        expect_salvaged_whole(log, whole, "eight");
        for (unsigned k = 0; k < segments; k++) {
            heal(v[k]);
            let_go(v[k]);
        }
    }
    free(whole);
}
END_TEST

Suite *suite_mend(void)
{
    Suite *suite = suite_create("mend");
    TCase *tc = tcase_create("mend");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, setup, fixture_teardown);
    tcase_add_loop_test(tc, a_flip_of_any_byte_of_any_header_loses_nothing, 0, 4);
    tcase_add_test(tc, whatever_happens_to_one_header_loses_nothing);
    tcase_add_test(tc, garbage_across_the_seam_of_two_frames_loses_nothing);
    tcase_add_test(tc, a_flip_of_any_byte_of_any_trailer_loses_nothing);
    tcase_add_test(tc, a_trailer_that_is_gone_loses_nothing);
    tcase_add_test(tc, all_headers_of_a_file_may_be_damaged);
    tcase_add_loop_test(tc, logs_with_eight_damaged_headers_come_back_whole, 0, 10);
    suite_add_tcase(suite, tc);
    return suite;
}
