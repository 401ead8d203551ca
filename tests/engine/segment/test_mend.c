/*
 * tests/engine/segment/test_mend.c: damaged headers, padding and trailers cost nothing. [Y-1] to [Y-7] (F20, F22, F51)
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
#include "tests/thorough.h"

#include "engine/log/handle.h"
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
    size_t mended, harmless, damages,
        lost; /* told on the way: mended frames, other damages that are no note, records lost by them */
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
    MUST_SAY(u9_record_read(reading, 0, bytes, r->size, &got, &fault) == U9_OK && got == r->size,
             "%s", fault.text);
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
    while ((err = u9_cursor_next(cursor, &r)) == U9_OK || err == U9_CORRUPT || err == U9_LIMIT || err == U9_VERSION) {
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
        MUST_SAY(k < whole->count && whole->ordinals[k] == got->ordinals[i] &&
                     same_record(whole, k, got, i),
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
    MUST_SAY(lacks == 0 && c->damages == 0, "%s: %zu records lack, %zu damages, %zu mended", what,
             lacks, c->damages, c->mended);
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
    u9_check_options o = {
        .size = sizeof o, .on_damage = count_told, .ctx = &told, .io = io_of(log)};
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
    MUST_SAY(c->count == whole->count, "%s: %zu of %zu records salvaged", what, c->count,
             whole->count);
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

static victim *take_any(const char *path)
{
    victim *v = calloc(1, sizeof *v);
    snprintf(v->path, sizeof v->path, "%s", path);
    v->bytes = read_file(path, &v->size);
    v->count = list_frames(v->bytes, v->size, v->frames, FRAMES_MAX);
    return v;
}

static victim *take(const char *path)
{
    victim *v = take_any(path);
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

/* Commits of a few records, each in a block of its own, which are 20 ms apart. */
static void write_slowly(const char *log, unsigned commits)
{
    u9_log *w = open_writer(log, NULL);
    for (unsigned i = 0; i < commits; i++) {
        sim_advance(20000);
        append_many(w, "slow", 3, 3);
    }
    close_log(w);
}

static uint64_t header_of(const seen_frame *f)
{
    return f->offset;
}

/*
 * One bit of each byte (or of every third one, another third in the next frame) of each frame's part that stands at `part`; one in `salvages` is salvaged, too. Of a file's last
 * frame, of which nothing outside of it tells, the first `unproven` bytes are not put back, but told.
 */
static void flip_each_byte(const char *log, uint64_t (*part)(const seen_frame *), unsigned size, unsigned salvages,
                           unsigned unproven)
{
    content *whole = read_log(log, false);
    victim *v = take(segment_path(log, 1));
    for (size_t i = 0; i < v->count; i++)
        for (unsigned b = (unsigned)i % thorough(3, 1); b < size; b += thorough(3, 1)) {
            char what[100];
            snprintf(what, sizeof what, "frame %zu of %zu, byte %u", i, v->count, b);
            flip_bit(v->path, part(&v->frames[i]) + b, (b / 2 + (unsigned)i) % 8);
            if (unproven > b && i + 1 == v->count) {
                content *c = read_log(log, true);
                MUST_SAY(expect_true(whole, c) == 0 && c->damages == 1 && c->lost <= 1, "%s", what);
                free(c);
                heal(v);
                continue;
            }
            expect_whole(log, whole, what);
            if (b % salvages == i % salvages) expect_salvaged_whole(log, whole, what);
            heal(v);
        }
    let_go(v);
    free(whole);
}

/* {F20} No bit of a header loses anything. Without the mark, that of the boundary of a file's last frame is told. [Y-2] */
START_TEST(a_flip_of_any_byte_of_any_header_loses_nothing)
{
    write_small(log_path, _i & 1);
    if (_i & 2) remove_mark(log_path);
    flip_each_byte(log_path, header_of, HEADER, 11, _i & 2 ? 16 : 0);
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
                bool last = i + 1 == v->count,
                     proven = cuts[b] <= 32 || cuts[a] >= 48 || (cuts[a] >= 32 && cuts[b] <= 64);
                if (last && !proven) continue;
                unsigned way = (unsigned)draw(3);
                snprintf(what, sizeof what, "frame %zu of %zu, [%u,%u) way %u", i, v->count,
                         cuts[a], cuts[b], way);
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
        for (unsigned size = 1; size < 100; size += thorough(21, 7)) {
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

/* {F20} Of a trailer the fields are what the neighbours say. [Y-4] */
START_TEST(a_flip_of_any_byte_of_any_trailer_loses_nothing)
{
    write_small(log_path, false);
    flip_each_byte(log_path, trailer_of, TRAILER, 13, 0);
}
END_TEST

/*
 * All of a trailer, and its frame's header with it; but for the last one, behind which nothing is known. The zeros behind a
 * frame are like much of a trailer: where its header says how long it is, they are not what is tried first. [Y-4]
 */
START_TEST(a_trailer_that_is_gone_loses_nothing)
{
    const char *log = log_path;
    if (_i == 0) write_small(log, false);
    else write_slowly(log, 4);
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

/*
 * A frame that only the one behind it proves is looked for first where it stands, in vain, as long as that one is not proven
 * itself: enough is left to look for the trailers of those behind. [Y-4] [Y-5]
 */
START_TEST(what_is_sought_in_vain_leaves_enough_for_the_rest)
{
    const char *log = log_path;
    write_small(log, false);
    content *whole = read_log(log, false);
    victim *v = take(segment_path(log, 1));
    draw_from(15);
    for (size_t i = 0; i + 3 < v->count; i += thorough(5, 1)) {
        char what[100];
        snprintf(what, sizeof what, "frames from %zu on, of %zu", i, v->count);
        garble(v, v->frames[i].offset + 16, 32);                   /* both hashes */
        garble(v, v->frames[i + 1].offset + 48, 1);                /* the magic */
        garble(v, trailer_of(&v->frames[i + 2]) + 46, 1);          /* of what is promised */
        expect_whole(log, whole, what);
        expect_salvaged_whole(log, whole, what);
        heal(v);
    }
    let_go(v);
    free(whole);
}
END_TEST

/*
 * In front of an end that is named, as many records as there are up to it are not all the first frame's: what a trailer
 * itself says of their number counts, too. [Y-4]
 */
START_TEST(the_last_frames_of_a_file_may_each_be_damaged_elsewhere)
{
    const char *log = log_path;
    write_small(log, _i & 1);
    content *whole = read_log(log, false);
    victim *v = take(segment_path(log, 1));
    const seen_frame *last = &v->frames[v->count - 1];
    draw_from(16);
    if (_i & 2) garble(v, trailer_of(last - 3) + 31, 1); /* where it stands */
    garble(v, trailer_of(last - 2) + 31, 1);
    garble(v, (last - 1)->offset, 16);    /* the boundary */
    garble(v, trailer_of(last) + 66, 1);  /* what it comes behind */
    expect_whole(log, whole, "the last three or four");
    expect_salvaged_whole(log, whole, "the last three or four");
    let_go(v);
    free(whole);
}
END_TEST

/* Headers side by side, proven from the front or from behind, where the mark or the u9end has the last chain. [Y-2] [Y-3] */
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

/* [Y-1] Five neighbours, each of which stands in a block of its own, with every row of kinds of damage: the chain behind them proves all. */
START_TEST(whatever_happens_to_the_headers_of_neighbours_loses_nothing)
{
    const struct { unsigned at, size; } parts[][2] = {
        {{0, 0}, {0, 0}}, {{0, 16}, {0, 0}}, {{32, 32}, {0, 0}}, {{0, 64}, {0, 0}}, {{0, 32}, {48, 16}}};
    enum { KINDS = 5, ROW = 5 };
    write_slowly(log_path, ROW + 3);
    content *whole = read_log(log_path, false);
    victim *v = take(segment_path(log_path, 1));
    for (unsigned i = 0; i < ROW; i++) ck_assert_uint_eq(v->frames[2 + i].offset % BLOCK, 0);
    for (unsigned row = 1; row < thorough(625, 3125); row += thorough(4, 1)) {
        char what[32];
        snprintf(what, sizeof what, "row %u", row);
        for (unsigned i = 0, left = row; i < ROW; i++, left /= KINDS)
            for (unsigned k = 0; k < 2; k++) garble(v, v->frames[2 + i].offset + parts[left % KINDS][k].at, parts[left % KINDS][k].size);
        expect_whole(log_path, whole, what);
        heal(v);
    }
    free(whole);
    let_go(v);
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
        for (size_t k = 0; k < size; k++)
            bytes[k] = kind == 1 ? (uint8_t)(k / 64) : (uint8_t)draw(256);
        if (kind == 2 && i % 5 == 0) { /* its own boundary, aligned: is masked */
            u9i_secret secret = keys_of(segment_path(log, 1));
            for (size_t k = 0; k + 16 <= size; k += 16) memcpy(bytes + k + 6, secret.boundary, 16);
        }
        append_bytes(w, bytes, size);
        if (draw(9) == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
}

/* [Y-1] Eight damaged headers in a log of each kind: compressed, masked, large records, several segments. */
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
    for (unsigned turn = 0; turn < thorough(1, 10); turn++) {
        victim *v[64] = {NULL};
        ck_assert_uint_lt(segments, 64);
        for (unsigned k = 0; k < segments; k++) v[k] = take(segment_path(log, k + 1));
        for (unsigned n = 0; n < 8; n++) {
            const victim *f = v[draw(segments)];
            const seen_frame *frame =
                &f->frames[draw(f->count - 1)]; /* the last one has no chain behind it */
            uint64_t ga = draw(HEADER / 2), gn = 1 + draw(HEADER / 2);
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

/* A frame of the forger's, who knows the log and its secret, but cannot write its boundary. [F-7] */
static size_t forge_copy(const forged_segment *s, uint64_t at, const u9i_trailer *like,
                         uint8_t *out, u9i_trailer *next)
{
    uint8_t body[200], sha[16];
    u9i_trailer t = *like;
    t.offset = at;
    t.count = 1;
    size_t size = record_bytes(body, t.ordinal, "evil", 4);
    memcpy(out + HEADER, body, size);
    ck_assert_int_eq(u9i_frame_seal(&s->secret, &t, out, size, sha), U9_OK);
    out[3] ^= 0x10;
    *next = t;
    next->previous = at;
    next->ordinal++;
    memcpy(next->chain, sha, sizeof next->chain);
    return u9i_frame_size(size);
}

/* A frame whose record holds forged ones, at each place where one would be looked for, and copies of true ones. */
typedef struct carrier {
    forged_segment s;
    uint64_t before, p, inner, block, claimed,
        end; /* the frame before; it; forged frames; behind a trailer that names it */
} carrier;

static carrier forge_carrier(int behind, bool zeros)
{
    enum { SIZE = 12000 };
    static uint8_t frame[HEADER + SIZE + 100];
    uint8_t *body = frame + HEADER;
    static char filler[SIZE];
    carrier c = {.s = forge_begin(1, 3, NULL, U9I_TAIL_NONE)};
    forge_records(&c.s, "first", 9);
    c.before = forge_records(&c.s, "second", 5);
    c.p = c.s.size;
    c.inner = c.p + 512;
    c.block = (c.p + BLOCK - 1) / BLOCK * BLOCK;
    ck_assert_uint_lt(c.inner + 1024, c.block);
    memset(filler, 'x', sizeof filler);
    size_t size = record_bytes(body, c.s.next.ordinal, filler, sizeof filler);
    uint8_t *at_p = frame; /* what stands at an offset q of the file: at_p + (q - p) */
    u9i_trailer next = c.s.next, claim = c.s.next;
    size_t n = forge_copy(&c.s, c.inner, &c.s.next, at_p + (c.inner - c.p), &next);
    (void)forge_copy(&c.s, c.inner + n, &next, at_p + (c.inner + n - c.p), &next);
    memcpy(at_p + (c.inner + 800 - c.p), c.s.bytes + c.before, 300); /* a true one */
    at_p[c.inner + 800 - c.p] ^= 1;
    n = forge_copy(&c.s, c.block, &c.s.next, at_p + (c.block - c.p), &next);
    n += forge_copy(&c.s, c.block + n, &next, at_p + (c.block + n - c.p), &next);
    if (zeros) memset(at_p + (c.block + n - c.p), 0, size - (c.block + n - c.p) + HEADER);
    claim.offset = c.p; /* the carrier's own, before its end */
    claim.count = 1;
    u9i_trailer_encode(&claim, at_p + (c.inner - 16 - TRAILER - c.p));
    c.claimed = c.inner - 16;
    forge_frame(&c.s, body, size, 1);
    c.end = c.s.end;
    if (behind > 0) c.s.next.durable = c.end;
    if (behind > 0) forge_records(&c.s, "behind", 3);
    if (behind > 1) forge_end(&c.s, U9I_END_CLOSING);
    return c;
}

static void hurt_carrier(const carrier *c, unsigned way)
{
    const char *path = segment_path(log_path, 1);
    uint8_t be[8];
    switch (way) {
    case 0:
        fill_bytes(path, c->p, c->block - c->p, 0);
        break; /* the forged ones stand where the next frame may */
    case 1: fill_bytes(path, c->p, c->inner - c->p, 0); break;
    case 2: fill_bytes(path, c->p, HEADER, 0); break;
    case 3: fill_bytes(path, c->p, HEADER, 0x77); break;
    case 4: fill_bytes(path, c->p, c->block - c->p, 0x77); break;
    case 5: fill_bytes(path, c->p, 40, 0x77); break;
    case 6: /* a length that ends behind the trailer in the record */
        u9i_set_be(be, 8, c->claimed - c->p - HEADER);
        put_bytes(path, c->p + 56, be, 8);
        break;
    case 7:
        fill_bytes(path, c->p, HEADER, 0);
        fill_bytes(path, c->end - 2 * TRAILER, 60, 0x77); /* its body as well */
        break;
    case 8:
        u9i_set_be(be, 8, c->claimed - c->p - HEADER);
        put_bytes(path, c->p + 56, be, 8);
        fill_bytes(path, c->p, HEADER - 8, 0);
        break;
    default:
        fill_bytes(path, c->before, c->block - c->before, 0);
        break; /* the frame in front of it too */
    }
}

/* {F51} [Y-2] [F-7] Records that hold frames, true or forged, adjacent ones too, are never served as frames. */
START_TEST(frames_in_a_record_never_surface)
{
    for (unsigned way = 0; way < 10; way++)
        for (unsigned kind = 0; kind < 6; kind++) {
            carrier c = forge_carrier((int)(kind / 2), kind % 2);
            forge_save(&c.s, log_path);
            content *whole = read_log(log_path, false);
            ck_assert_uint_eq(whole->count, c.s.records);
            ck_assert_uint_eq(whole->damages, 0);
            hurt_carrier(&c, way);
            content *got = read_log(log_path, true);
            size_t lacks = expect_true(whole, got);
            ck_assert_uint_le(lacks, way == 9 ? 6 : 1);
            bool body = way == 0 || way == 1 || way == 4 || way == 7 || way == 9;
            bool proven = !body && (kind >= 2 || way == 6);
            MUST_SAY(!proven || lacks == 0, "way %u, kind %u: %zu lack", way, kind, lacks);
            ck_assert(!body || lacks > 0);
            content *saved = salvage_log(log_path);
            MUST_SAY(saved->count == got->count, "way %u, kind %u: salvage has %zu, reading %zu",
                     way, kind, saved->count, got->count);
            free(saved);
            free(got);
            free(whole);
            forge_free(&c.s);
            remove_log(log_path);
        }
}
END_TEST

/* A carrier that ends with its block, wiped in front of the frame that a record in it holds, and behind that. */
static uint64_t wipe_around_forged(forged_segment *s)
{
    static uint8_t frame[2 * BLOCK];
    uint8_t *body = frame + HEADER;
    static char filler[2 * BLOCK];
    memset(filler, 'x', sizeof filler);
    uint64_t p = s->size, block = (p + BLOCK - 1) / BLOCK * BLOCK;
    size_t total = (size_t)(block + BLOCK - p), head = record_bytes(body, s->next.ordinal, filler, 4000) - 4000;
    size_t size = record_bytes(body, s->next.ordinal, filler, total - HEADER - TRAILER - head);
    ck_assert_uint_eq(HEADER + size + TRAILER, total);
    u9i_trailer next;
    size_t n = forge_copy(s, block, &s->next, frame + (block - p), &next);
    n += forge_copy(s, block + n, &next, frame + (block - p) + n, &next);
    ck_assert_uint_eq(forge_frame(s, body, size, 1), p);
    ck_assert_uint_eq(s->end, block + BLOCK);
    memset(s->bytes + p, 0, (size_t)(block - p));
    memset(s->bytes + block + n, 0, (size_t)(s->end - block - n));
    return block;
}

/*
 * {F51} [Y-2] A record holds a frame that is forged with the secret, and all of its own frame around that is wiped out.
 * What says that there was another frame stands outside of it, or nowhere: then nothing is mended.
 */
START_TEST(what_only_zeros_surround_is_mended_for_nobody)
{
    for (unsigned way = 0; way < 4; way++) {
        forged_segment s = forge_begin(1, 3, NULL, U9I_TAIL_NONE);
        forge_records(&s, "first", 9);
        forge_records(&s, "second", 5);
        uint64_t known = s.records;
        uint64_t forged = wipe_around_forged(&s);
        if (way > 0) {
            uint64_t behind = s.end;
            s.next.durable = s.end;
            forge_records(&s, "behind", 3);
            if (way > 1) s.bytes[behind + 56] ^= 1;           /* its length, */
            if (way > 2) s.bytes[s.end - TRAILER + 10] ^= 1;  /* or what it says of the one in front of it */
            s.next.durable = s.end;
            if (way > 2) forge_records(&s, "last", 1);
        }
        forge_save(&s, log_path);
        content *got = read_log(log_path, true);
        for (size_t i = 0; i < got->count; i++)
            MUST_SAY(got->ordinals[i] < known || got->ordinals[i] > known, "way %u: the forged record is served", way);
        content *saved = salvage_log(log_path);
        MUST_SAY(saved->count == got->count, "way %u: salvage has %zu, reading %zu", way, saved->count, got->count);
        victim *v = take_any(segment_path(log_path, 1));
        for (size_t i = 0; i < v->count; i++) ck_assert_uint_ne(v->frames[i].offset, forged);
        let_go(v);
        free(saved);
        free(got);
        forge_free(&s);
        remove_log(log_path);
    }
}
END_TEST

/* [Y-2] c: the hash in a header counts where the boundary stands in front of it, and of a frame that follows (F-9). */
START_TEST(a_hash_without_its_boundary_or_out_of_order_proves_nothing)
{
    for (unsigned way = 0; way < 3; way++) {
        forged_segment s = forge_begin(1, 3, NULL, U9I_TAIL_NONE);
        forge_records(&s, "first", 9);
        if (way == 2) s.next.ordinal += 5;
        uint64_t p = forge_records(&s, "last", 3);
        s.bytes[p + 40] ^= 1;
        if (way == 1) s.bytes[p + 3] ^= 1;
        forge_save(&s, log_path);
        content *c = read_log(log_path, true);
        ck_assert_uint_eq(c->count, way ? 9 : 12);
        ck_assert_uint_eq(c->mended, way ? 0 : 1);
        free(c);
        forge_free(&s);
        remove_log(log_path);
    }
}
END_TEST

/*
 * [Y-2] c: so it is where a frame behind it is known, too: its two hashes say that it is this segment's, and neither the
 * frame in front of it nor the one behind has anything of it.
 */
START_TEST(a_signed_frame_between_two_that_do_not_know_it_is_not_theirs)
{
    forged_segment s = forge_begin(1, 3, NULL, U9I_TAIL_NONE);
    uint64_t front = forge_records(&s, "first", 9);
    u9i_trailer known = s.next; /* but for its place: what follows */
    uint64_t p = forge_records(&s, "second", 5), end = s.end;
    u9i_rejoined out;
    u9i_hint hint = {.secret = &s.secret, .p = p, .placed = true, .has_front = true, .previous = front, .front_end = p,
                     .has_ordinal = true, .ordinal = known.ordinal, .has_chain = true, .time_us = 5,
                     .has_next = true, .next_at = end, .next_ordinal = s.next.ordinal, .next_time_us = U9_NOWHERE,
                     .next_durable = U9_NOWHERE};
    memcpy(hint.chain, known.chain, sizeof hint.chain);
    memset(hint.next_chain, 0x77, sizeof hint.next_chain);
    s.bytes[p + 50] ^= 1; /* its magic */
    for (unsigned way = 0; way < 3; way++) {
        u9i_effort effort = {4 * (end - p), 1 << 20};
        u9i_hint h = hint;
        if (way == 1) h.ordinal -= 5; /* [F-9] */
        if (way == 2) h.chain[0] ^= 1;
        u9_err err = u9i_rejoin(&h, s.bytes + p, (size_t)(end - p), false, &effort, &out);
        MUST_SAY((err == U9_OK) == (way == 0), "way %u: %s", way, u9_err_name(err));
        if (way == 0) ck_assert_int_eq(out.proof, U9I_MEND_SIGN);
    }
    forge_free(&s);
}
END_TEST

/* [Y-2] All of [q,y) is of the frame at q that y names: none counts that begins before q and ends behind it. */
START_TEST(no_frame_is_mended_across_the_place_that_the_next_one_names)
{
    for (unsigned way = 0; way < 2; way++) {
        forged_segment s = forge_begin(1, 3, NULL, U9I_TAIL_NONE);
        forge_records(&s, "first", 9);
        uint64_t p = forge_records(&s, "second", 5);
        s.next.durable = s.end;
        if (way) s.next.previous = p + HEADER;
        if (way) memset(s.next.chain, 0x77, sizeof s.next.chain);
        forge_records(&s, "third", 3);
        s.bytes[p + 3] ^= 1;
        forge_save(&s, log_path);
        content *c = read_log(log_path, true);
        ck_assert_uint_eq(c->count, way ? 12 : 17);
        ck_assert_uint_eq(c->mended, way ? 0 : 1);
        free(c);
        forge_free(&s);
        remove_log(log_path);
    }
}
END_TEST

/* Damage of all sorts to one file, headers before all. */
static void ruin_at_random(const victim *v)
{
    uint8_t zeros[BLOCK] = {0};
    for (uint64_t n = 1 + draw(6); n > 0; n--) {
        const seen_frame *f = &v->frames[draw(v->count)];
        uint64_t p = draw(v->size), sector = p / 512 * 512;
        switch (draw(8)) {
        case 0: garble(v, f->offset + draw(60), 1 + draw(4)); break;
        case 1: garble(v, f->offset, HEADER); break;
        case 2: garble(v, trailer_of(f) + draw(70), 1 + draw(10)); break;
        case 3: damage(v, sector, v->size - sector < 512 ? v->size - sector : 512, zeros); break;
        case 4: damage(v, p, v->size - p < 40 ? v->size - p : 40, zeros); break;
        case 5:
            garble(v, f->end - 20, f->end - 20 + 60 < v->size ? 60 : 10);
            break; /* across a seam, it may be */
        case 6:
            damage(v, f->offset, 48, v->bytes + v->frames[draw(v->count)].offset);
            break; /* another's header */
        default: flip_bit(v->path, p, (unsigned)draw(8)); break;
        }
    }
}

/* Puts back what is told to be put back, in all files. */
static void repair_log(const char *log)
{
    u9_fault fault;
    u9_log *handle;
    u9_cursor *cursor;
    u9_record r;
    u9_err err;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(log), .mend = 1};
    ck_assert_int_eq(u9_log_open(log, &o, &handle, &fault), U9_OK);
    ck_assert_int_eq(u9_cursor_open(handle, NULL, &cursor, &fault), U9_OK);
    while ((err = u9_cursor_next(cursor, &r)) == U9_OK || err == U9_CORRUPT || err == U9_LIMIT || err == U9_VERSION)
        continue;
    u9_cursor_close(cursor);
    u9i_catalog *catalog;
    ck_assert_int_eq(u9i_source_catalog(&handle->source, &catalog, &fault), U9_OK);
    for (size_t i = 0; i < catalog->count; i++) {
        const u9i_segment *s = catalog->segments[i];
        u9i_file *file;
        u9i_window *w;
        ck_assert_int_eq(u9i_file_open(s->dir, s->facts.name, U9I_OPEN_READ, &file), 0);
        ck_assert_int_eq(u9i_windows_lend(&handle->source.windows, &w), U9_OK);
        u9i_window_turn(w, file, &s->facts.secret);
        for (size_t k = 0; k < s->mender.count; k++) {
            u9i_mend_patch patches[U9I_PATCHES_MAX];
            unsigned count;
            ck_assert_int_eq(u9i_mend_patches(&s->mender.frames[k].frame, w, patches, &count),
                             U9_OK);
            ck_assert_uint_gt(count, 0);
            for (unsigned n = 0; n < count; n++)
                put_bytes(segment_path(log, s->facts.number), patches[n].offset, patches[n].bytes,
                          patches[n].size);
        }
        u9i_windows_return(&handle->source.windows, w);
        u9i_file_close(file);
    }
    u9i_catalog_unref(catalog);
    close_log(handle);
}

/* [Y-7] Behind a frame that is lost, one that proves itself is found, and what it proves of those in front of it. */
START_TEST(behind_a_hole_what_proves_itself_is_found)
{
    for (unsigned way = 0; way < 4; way++) {
        forged_segment s = forge_begin(1, 3, NULL, U9I_TAIL_NONE);
        uint64_t at[8];
        for (unsigned i = 0; i < 8; i++) {
            s.next.durable = s.end;
            at[i] = forge_records(&s, "r", 4);
        }
        s.next.durable = s.end;
        if (way == 3) forge_records(&s, "r", 1);
        forge_save(&s, log_path);
        content *whole = read_log(log_path, false);
        victim *v = take(segment_path(log_path, 1));
        garble(v, at[1] + HEADER + 5, 8);       /* a body: its frame is lost */
        garble(v, at[2] + 16, 48);              /* proven by the next one's chain alone */
        garble(v, at[3] + 56, 8);               /* proves itself, by its signature */
        garble(v, at[4] + HEADER + 5, 8);
        garble(v, at[5] + 32, 16);              /* proves itself, by its hash */
        if (way > 0) garble(v, at[6], 16);      /* follows */
        if (way > 1) garble(v, at[7] + 48, 8);
        content *got = read_log(log_path, true);
        size_t lacks = expect_true(whole, got);
        MUST_SAY(lacks == 8, "way %u: %zu lack", way, lacks);
        ck_assert_uint_eq(got->lost, 8);
        free(got);
        got = salvage_log(log_path);
        ck_assert_uint_eq(got->count, whole->count - 8);
        free(got);
        repair_log(log_path);
        got = read_log(log_path, false);
        ck_assert_uint_eq(expect_true(whole, got), 8);
        free(got);
        free(whole);
        let_go(v);
        forge_free(&s);
        remove_log(log_path);
    }
}
END_TEST

/* [Y-1] [H-5] Each file is proven from behind, by the end that the next one names, once that one is mended so itself. */
START_TEST(ends_that_are_named_by_mended_frames_mend_others)
{
    enum { COUNT = 4 };
    forged_segment s[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        s[i] = forge_begin(i + 1, 3, i ? &s[i - 1] : NULL, U9I_TAIL_ROLLED);
        for (unsigned k = 0; k < 5; k++) forge_records(&s[i], "r", 3);
        forge_save(&s[i], log_path);
    }
    content *whole = read_log(log_path, false);
    ck_assert_uint_eq(whole->count, COUNT * 15);
    for (unsigned i = 0; i + 1 < COUNT; i++) {
        victim *v = take(segment_path(log_path, i + 1));
        for (size_t k = 0; k < v->count; k++) garble(v, v->frames[k].offset, HEADER);
        if ((int)i == _i) fill_bytes(v->path, 8, 16, 0x5a); /* the secret comes from the next one, too */
        let_go(v);
    }
    content *got = read_log(log_path, true);
    ck_assert_uint_eq(expect_true(whole, got), 0);
    ck_assert_uint_eq(got->mended, 18);
    ck_assert_uint_eq(got->damages, _i < 3); /* its header */
    free(got);
    expect_salvaged_whole(log_path, whole, "named");
    free(whole);
    for (unsigned i = 0; i < COUNT; i++) forge_free(&s[i]);
}
END_TEST

/* How many records go backwards, from the end on; and how many frames it is told of that were mended. */
static size_t count_back(const char *log, size_t *mended)
{
    *mended = 0;
    u9_log *handle;
    u9_cursor *cursor;
    u9_record r;
    u9_err err;
    size_t n = 0;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(log), .mend = 1};
    u9_seek end = {.size = sizeof end, .kind = U9_SEEK_END};
    ck_assert_int_eq(u9_log_open(log, &o, &handle, NULL), U9_OK);
    ck_assert_int_eq(u9_log_seek(handle, &end, &cursor, NULL), U9_OK);
    while ((err = u9_cursor_prev(cursor, &r)) == U9_OK || err == U9_CORRUPT || err == U9_LIMIT || err == U9_VERSION) {
        n += err == U9_OK || err == U9_LIMIT;
        if (err == U9_CORRUPT) *mended += u9_cursor_damage(cursor)->mended != 0;
    }
    ck_assert_int_eq(err, U9_END);
    u9_cursor_close(cursor);
    close_log(handle);
    return n;
}

/* Who looks for a key finds it, without having read the log before. */
START_TEST(a_lookup_finds_what_is_in_a_mended_frame)
{
    enum { COUNT = 40 };
    u9_place places[COUNT];
    u9_options o = writer_options();
    u9_log *w = open_writer(log_path, &o);
    uint8_t value[] = {0x81}, room[200];
    for (unsigned i = 0; i < COUNT; i++) {
        ck_assert_int_eq(u9_log_append(w, NULL, value, sizeof value, &places[i]), U9_OK);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
    victim *v = take(segment_path(log_path, 1));
    for (size_t i = 0; i + 1 < v->count; i += 3) garble(v, v->frames[i].offset, HEADER);
    o = (u9_options){.size = sizeof o, .mode = U9_READ, .io = io_of(log_path), .mend = 1};
    w = open_writer(log_path, &o);
    for (unsigned i = 0; i < COUNT; i++) {
        u9_record r;
        u9_key key = {places[i].key, places[i].key_size};
        ck_assert_int_eq(u9_log_get(w, &key, room, sizeof room, &r, NULL), U9_OK);
        ck_assert_uint_eq(r.ordinal, i);
    }
    close_log(w);
    o.mode = U9_WRITE; /* who writes does not mend */
    u9_fault fault;
    ck_assert_int_eq(u9_log_open(log_path, &o, &w, &fault), U9_ARG);
    let_go(v);
}
END_TEST

/* [Y-1] What shows bit by bit while it is written is no damage. */
START_TEST(what_a_writer_may_be_about_to_finish_is_left_alone)
{
    u9_log *w = open_writer(log_path, NULL);
    append_many(w, "live", 6, 1);
    content *whole = read_log(log_path, false);
    ck_assert_uint_eq(whole->count, 6);
    victim *v = take(segment_path(log_path, 1));
    const seen_frame *last = &v->frames[v->count - 1];
    ck_assert_uint_eq(last->count, 1);
    garble(v, last->offset + 16, 8);
    content *c = read_log(log_path, true);
    bool told = sim_is_away() && c->mended + c->damages == 1; /* who reads in a pool is told of commits: then it is damage */
    ck_assert(told || (c->mended + c->damages == 0 && c->count == 5));
    free(c);
    heal(v);
    garble(v, v->frames[2].offset, 8);
    expect_whole(log_path, whole, "promised");
    heal(v);
    crash(w, log_path);
    garble(v, last->offset + 16, 8);
    expect_whole(log_path, whole, "nobody writes");
    let_go(v);
    free(whole);
}
END_TEST

/* How many records the byte ranges of a file have, and how many frames they tell to be mended. */
static size_t count_in_ranges(const char *log, uint64_t size, uint64_t step, size_t *mended)
{
    content *c = calloc(1, sizeof *c);
    u9_log *handle;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(log), .mend = 1};
    ck_assert_int_eq(u9_log_open(log, &o, &handle, NULL), U9_OK);
    for (uint64_t at = 0; at < size; at += step) {
        u9_range range = {.size = sizeof range, .segment = 1, .begin = at, .end = at + step};
        u9_cursor *cursor;
        u9_record r;
        u9_err err;
        ck_assert_int_eq(u9_cursor_open(handle, &range, &cursor, NULL), U9_OK);
        while ((err = u9_cursor_next(cursor, &r)) == U9_OK || err == U9_CORRUPT || err == U9_LIMIT || err == U9_VERSION) {
            c->count += err == U9_OK || err == U9_LIMIT;
            if (err == U9_CORRUPT) c->mended += u9_cursor_damage(cursor)->mended != 0;
        }
        ck_assert_int_eq(err, U9_END);
        u9_cursor_close(cursor);
    }
    close_log(handle);
    size_t n = c->count;
    *mended = c->mended;
    free(c);
    return n;
}

/*
 * Any damage: each record served is one of the log's, under its number; as many as without mending, at least; the same
 * backwards, in ranges, and by who reads plainly what was repaired in place. [Y-6]
 */
START_TEST(a_mended_log_is_the_log_that_was_damaged)
{
    size_t total = 0;
    for (unsigned turn = 0; turn < thorough(2, 10); turn++) {
        draw_from(1000 + (uint64_t)_i * 100 + turn);
        remove_log(log_path);
        int kind = (int)draw(8);
        if (kind == 7) forge_any(log_path);
        else if (kind == 6) write_small(log_path, draw(2));
        else write_kind(log_path, kind == 3 ? 0 : kind);
        if (draw(3) == 0) remove_mark(log_path);
        content *whole = read_log(log_path, false);
        unsigned segments = segments_in(log_path);
        victim *v = take_any(segment_path(log_path, 1 + draw(segments)));
        if (v->count == 0) {
            let_go(v);
            free(whole);
            continue;
        }
        ruin_at_random(v);
        content *plain = read_log(log_path, false), *got = read_log(log_path, true);
        (void)expect_true(whole, plain);
        (void)expect_true(whole, got);
        MUST_SAY(got->count >= plain->count, "turn %u: %zu records, without mending %zu", turn,
                 got->count, plain->count);
        size_t mended;
        ck_assert_uint_eq(count_back(log_path, &mended), got->count);
        ck_assert_uint_eq(mended, got->mended);
        total += got->count - plain->count;
        if (segments == 1) {
            ck_assert_uint_eq(count_in_ranges(log_path, v->size, 5000 + draw(30000), &mended),
                              got->count);
            ck_assert_uint_eq(mended, got->mended);
        }
        repair_log(log_path);
        content *repaired = read_log(log_path, false);
        MUST_SAY(repaired->count == got->count, "turn %u: repaired %zu, mended %zu", turn,
                 repaired->count, got->count);
        ck_assert_uint_eq(expect_true(whole, repaired), whole->count - got->count);
        free(repaired);
        free(plain);
        free(got);
        free(whole);
        let_go(v);
    }
    ck_assert_uint_gt(total, 0); /* it brought something */
}
END_TEST

/* [Y-5] Bytes full of trailers that name the place: no more is hashed than 4 times what there is, and what guesses may take. */
START_TEST(a_hostile_gap_costs_what_an_honest_one_does)
{
    enum { SIZE = 1 << 20, P = 8192 };
    uint8_t *bytes = calloc(1, SIZE);
    u9i_secret secret;
    u9i_rejoined out;
    const uint8_t key[16] = {1, 2, 3};
    (void)u9i_secret_init(&secret, key);
    u9i_hint hint = {.secret = &secret,
                     .p = P,
                     .placed = true,
                     .has_front = true,
                     .previous = 32,
                     .front_end = P,
                     .time_us = 5};
    u9i_trailer t = {.offset = P, .previous = 32, .count = 1};
    for (size_t at = HEADER; at + TRAILER <= SIZE; at += TRAILER)
        u9i_trailer_encode(&t, bytes + at);
    u9i_effort effort = {4 * (uint64_t)SIZE, 1 << 24};
    ck_assert_int_eq(u9i_rejoin(&hint, bytes, SIZE, false, &effort, &out), U9_CORRUPT);
    ck_assert_uint_lt(effort.looks, SIZE); /* nearly all of it was needed */
    effort = (u9i_effort){SIZE, 1 << 24};
    ck_assert_int_eq(u9i_rejoin(&hint, bytes, SIZE, false, &effort, &out), U9_LIMIT);
    /* Two hashes that say the same of a body that is not there: guesses end, too. */
    u9i_sign(bytes + 16, secret.bytes, bytes + 32);
    u9i_set_be(bytes + 56, 8, SIZE - HEADER);
    memset(bytes + HEADER, 0x33, SIZE - HEADER);
    effort = (u9i_effort){4 * (uint64_t)SIZE, 1 << 24};
    ck_assert_int_ne(u9i_rejoin(&hint, bytes, SIZE, false, &effort, &out), U9_OK);
    ck_assert_uint_ge(effort.guesses, 1 << 22); /* and leave some for others */
    free(bytes);
}
END_TEST

/* What mending this file by these facts leaves of its effort; nothing is found. */
static u9i_effort left_by(u9_log *log, const u9i_facts *f)
{
    u9i_file *file;
    u9i_window *w;
    u9i_mender m;
    ck_assert_int_eq(u9i_file_open(log->source.dir, f->name, U9I_OPEN_READ, &file), 0);
    ck_assert_int_eq(u9i_windows_lend(&log->source.windows, &w), U9_OK);
    u9i_window_turn(w, file, &f->secret);
    u9i_mender_init(&m, f->size);
    ck_assert_int_eq(u9i_mend_file(&m, w, f, f->size, false), U9_OK);
    ck_assert_uint_eq(m.count, 0);
    u9i_effort left = m.effort;
    u9i_mender_release(&m);
    u9i_windows_return(&log->source.windows, w);
    u9i_file_close(file);
    return left;
}

/* [Y-5] A first frame that cannot be put together is tried once, not by each who looks at the file. */
START_TEST(a_search_in_vain_is_paid_once)
{
    for (unsigned way = 0; way < 2; way++) { /* with frames behind it, and with none */
        const char *log = at("log");
        session(log, "r", 3, 1);
        size_t size;
        uint8_t *bytes = read_file(segment_path(log, 1), &size);
        for (size_t p = 100; p < (way ? size : 200); p += 100) bytes[p] ^= 0x55;
        write_file(segment_path(log, 1), bytes, size);
        free(bytes);
        u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(log), .mend = 1};
        u9_log *reader;
        ck_assert_int_eq(u9_log_open(log, &o, &reader, NULL), U9_OK);
        u9i_catalog *c;
        ck_assert_int_eq(u9i_source_catalog(&reader->source, &c, NULL), U9_OK);
        u9i_facts facts = *u9i_catalog_facts(c, 0);
        ck_assert(!facts.has_open);
        u9i_effort again = left_by(reader, &facts);
        memset(facts.vain, 0, sizeof facts.vain);
        u9i_effort first = left_by(reader, &facts);
        ck_assert_uint_gt(again.guesses, first.guesses);
        u9i_mender untouched;
        u9i_mender_init(&untouched, facts.size);
        if (way == 1) ck_assert_uint_eq(again.guesses, untouched.effort.guesses);
        u9i_mender_release(&untouched);
        u9i_catalog_unref(c);
        close_log(reader);
        remove_log(log);
    }
}
END_TEST

Suite *suite_mend(void)
{
    Suite *suite = suite_create("mend");
    const struct {
        const char *name;
        const TTest *test;
        int times;
    } all[] = {
        {"headers", a_flip_of_any_byte_of_any_header_loses_nothing, 4},
        {"headers", whatever_happens_to_one_header_loses_nothing, 1},
        {"headers", all_headers_of_a_file_may_be_damaged, 1},
        {"headers", whatever_happens_to_the_headers_of_neighbours_loses_nothing, 1},
        {"trailers", garbage_across_the_seam_of_two_frames_loses_nothing, 1},
        {"trailers", a_flip_of_any_byte_of_any_trailer_loses_nothing, 1},
        {"trailers", a_trailer_that_is_gone_loses_nothing, 2},
        {"trailers", what_is_sought_in_vain_leaves_enough_for_the_rest, 1},
        {"trailers", the_last_frames_of_a_file_may_each_be_damaged_elsewhere, 4},
        {"kinds", logs_with_eight_damaged_headers_come_back_whole, (int)thorough(5, 10)},
        {"forged", frames_in_a_record_never_surface, 1},
        {"forged", what_only_zeros_surround_is_mended_for_nobody, 1},
        {"forged", a_hash_without_its_boundary_or_out_of_order_proves_nothing, 1},
        {"forged", a_signed_frame_between_two_that_do_not_know_it_is_not_theirs, 1},
        {"forged", no_frame_is_mended_across_the_place_that_the_next_one_names, 1},
        {"kinds", behind_a_hole_what_proves_itself_is_found, 1},
        {"kinds", ends_that_are_named_by_mended_frames_mend_others, 4},
        {"forged", a_hostile_gap_costs_what_an_honest_one_does, 1},
        {"kinds", a_search_in_vain_is_paid_once, 1},
        {"kinds", a_lookup_finds_what_is_in_a_mended_frame, 1},
        {"kinds", what_a_writer_may_be_about_to_finish_is_left_alone, 1},
        {"random", a_mended_log_is_the_log_that_was_damaged, 4},
    };
    TCase *tc = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (i == 0 || strcmp(all[i].name, all[i - 1].name) != 0) {
            tc = tcase_create(all[i].name);
            tcase_set_timeout(tc, 120);
            tcase_add_checked_fixture(tc, setup, fixture_teardown);
            suite_add_tcase(suite, tc);
        }
        tcase_add_loop_test(tc, all[i].test, 0, all[i].times);
    }
    return suite;
}
