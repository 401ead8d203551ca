/*
 * tests/engine/check/test_damage.c: what bytes that went bad cost. Bits of small logs are flipped, and
 * stretches of them are overwritten, moved and put back to what they were earlier: each change is told,
 * and costs at most the records of the frames that it hit; all others come back byte for byte.
 *
 * Two blocks with a frame of each kind, read and checked: of headers and trailers every third bit, of the rest every
 * eleventh; with U9_LONG every bit. A file of 64 KiB, by u9_check alone: every BIT_STEP-th bit; with U9_LONG every bit of one
 * of 256 KiB, for some minutes.
 */
#include "format/base/bytes.h"
#include "format/frame/body.h"
#include "format/frame/disk.h"
#include "tests/engine/fixture.h"
#include "tests/must.h"
#include "tests/sanitized.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <stdlib.h>
#include <string.h>

enum { MAX = 256, BLOCK = 4096, SECTOR = 512, BIT_STEP = 23, PARTS = 32 };

/* A log, one file of which is damaged over and over, and what it held before. */
typedef struct victim {
    char log[4200], path[4400]; /* of the log, and of that file */
    uint8_t *bytes;  /* of it, as they were */
    size_t size;
    seen_frame frames[MAX];
    size_t count;
    seen *whole;
} victim;

static void take(victim *v, const char *log, uint64_t number)
{
    *v = (victim){.count = 0};
    strcpy(v->log, log);
    strcpy(v->path, segment_path(log, number));
    v->bytes = read_file(v->path, &v->size);
    v->count = list_frames(v->bytes, v->size, v->frames, MAX);
    v->whole = look(log);
    ck_assert_uint_gt(v->whole->count, 0);
    ck_assert_int_eq(v->whole->report.verdict, U9_V_CLEAN);
}

static void drop(victim *v)
{
    forget(v->whole);
    free(v->bytes);
}

static void put(const victim *v, uint64_t at, const void *bytes, size_t size)
{
    put_bytes(v->path, at, bytes, size);
}

/* What a damaged log shows. */
typedef struct gist {
    size_t seen; /* records, all as they were */
    u9_verdict verdict;
    size_t damages;
    u9_reason reason; /* of the first damage */
    uint64_t lost;
    bool unknown_lost;
} gist;

static void note(void *ctx, const u9_damage *d)
{
    gist *g = ctx;
    if (g->damages++ == 0) g->reason = d->reason;
    if (d->verdict > g->verdict) g->verdict = d->verdict;
    if (d->lost == U9_NOWHERE) g->unknown_lost = true;
    else g->lost += d->lost;
}

/* Each record that comes must be one that was there, the same to the byte, and in order. */
static void note_record(const victim *v, gist *g, uint64_t *next, uint64_t ordinal,
                        const uint8_t *bytes, size_t size)
{
    MUST(ordinal >= *next);
    MUST(ordinal < v->whole->count);
    const seen_record *was = &v->whole->records[ordinal];
    MUST(was->size == size && memcmp(was->bytes, bytes, size) == 0);
    *next = ordinal + 1;
    g->seen++;
}

/* What u9_check makes of the log on the disk of this env. */
static gist check(const char *log, const char *io)
{
    gist g = {0};
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .on_damage = note, .ctx = &g, .io = io};
    u9_fault fault = {0};
    u9_err err = u9_check(log, &o, &report, &fault);
    MUST_SAY(err == U9_OK, "%s", fault.text);
    MUST(report.verdict == g.verdict);
    g.seen = (size_t)report.records;
    return g;
}

/* What a cursor makes of it, which does not look behind the ends of sealed segments. */
static gist walk(const victim *v, const char *log, const char *io)
{
    gist g = {0};
    u9_log *handle;
    u9_cursor *c;
    u9_record r;
    u9_err err;
    uint64_t next = 0;
    u9_options o = {.size = sizeof o, .mode = U9_READ, .on_damage = note, .on_damage_ctx = &g, .io = io};
    MUST(u9_log_open(log, &o, &handle, NULL) == U9_OK);
    MUST(u9_cursor_open(handle, NULL, &c, NULL) == U9_OK);
    while ((err = u9_cursor_next(c, &r)) == U9_OK)
        note_record(v, &g, &next, r.ordinal, r.bytes, r.size);
    MUST(err == U9_END);
    u9_cursor_close(c);
    u9_log_close(handle, NULL);
    return g;
}

static bool same(const gist *g, const gist *h)
{
    return g->verdict == h->verdict && g->seen == h->seen && g->damages == h->damages &&
           g->lost == h->lost && g->reason == h->reason;
}

/* Both; what both are told they are told alike. */
static gist inspect(const victim *v)
{
    sim_forget_diary();
    gist g = walk(v, v->log, sim_io()), h = check(v->log, sim_io());
    MUST(g.seen == h.seen);
    MUST(g.damages == 0 || same(&g, &h));
    return h;
}

/* The same files on the real disk are judged the same. */
static void expect_same_on_the_real_disk(const victim *v, const gist *g)
{
    sim_store(v->log, at("real"));
    gist h = check(at("real"), NULL);
    MUST(same(g, &h));
    MUST(walk(v, at("real"), NULL).seen == g->seen);
}

/* The frame that holds byte `at`, its padding not included; NULL if none does. */
static const seen_frame *frame_of(const victim *v, uint64_t at)
{
    for (size_t i = 0; i < v->count; i++)
        if (at >= v->frames[i].offset && at < v->frames[i].offset + 64 + v->frames[i].length)
            return &v->frames[i];
    return NULL;
}

/* With the closing frame gone, the tail may have a tear's shape. Nothing else may. */
static u9_verdict least_verdict(const victim *v, uint64_t at)
{
    const seen_frame *f = frame_of(v, at);
    return f && f->is_end && f == &v->frames[v->count - 1] ? U9_V_TORN : U9_V_UNKNOWN;
}

static void expect_told(const victim *v, const gist *g, uint64_t at, unsigned bit)
{
    const seen_frame *f = frame_of(v, at);
    size_t cost = f ? f->count : 0;
    MUST_SAY(g->verdict >= least_verdict(v, at), "byte %llu bit %u: %s",
                  (unsigned long long)at, bit, u9_verdict_name(g->verdict));
    MUST_SAY(g->seen + cost == v->whole->count, "byte %llu bit %u: %zu records",
                  (unsigned long long)at, bit, g->seen);
    if (g->verdict == U9_V_CORRUPT && !g->unknown_lost) MUST(g->lost == cost);
    if (at < 32) MUST(g->reason == U9_R_HEADER);
}

/*
 * Flips each bit of headers and trailers in turn, and every nth of bodies and of the zeros behind them: it is told, and
 * costs the frame that it is in, or nothing. One in `real` goes through real files too. Under a sanitizer there are fewer.
 */
static void flip_bits(const victim *v, unsigned nth, unsigned real)
{
    for (uint64_t at = 0; at < v->size; at++) {
        const seen_frame *f = frame_of(v, at);
        uint64_t in = f ? at - f->offset : 0;
        bool edge = at < 32 || (f && (in < 64 || in >= 64 + f->length - 80));
        for (unsigned bit = 0; bit < 8; bit++) {
            if ((at * 8 + bit) % (!SANITIZED ? (edge ? thorough(3, 1) : nth) : edge ? 3 : 29) != 0) continue;
            flip_bit(v->path, at, bit);
            sim_forget_diary();
            gist g = walk(v, v->log, sim_io());
            if (g.damages == 0 || bit == at % 8) g = inspect(v);
            expect_told(v, &g, at, bit);
            if ((at * 8 + bit) % real == 0) expect_same_on_the_real_disk(v, &g);
            flip_bit(v->path, at, bit);
        }
    }
}

/* It has a frame of each kind. */
static void expect_all_kinds(const char *log)
{
    seen *s = look(log);
    ck_assert_uint_eq(s->report.lz4_frames, 1);
    ck_assert_uint_eq(s->report.mask_frames, 1);
    ck_assert_uint_gt(s->report.frames, 4);
    ck_assert_int_ne(s->report.closed, 0);
    forget(s);
}

/* A closed log of one segment, as a writer leaves it. */
static void make_small(const char *log)
{
    u9_options o = small_options();
    o.lz4 = 1;
    u9_log *w = open_writer(log, &o);
    append_many(w, "the same again and again and the same again and again ", 4, 4);
    append_many(w, "plain", 1, 1);
    /* The boundary where it would stand aligned in a body of its own: that one is masked. [F-7] */
    uint8_t bytes[42];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 37 + 11);
    memcpy(bytes + 10, keys_of(segment_path(log, 1)).boundary, 16);
    append_bytes(w, bytes, sizeof bytes);
    close_log(w);
    expect_all_kinds(log);
}

/* The same with one frame behind the other: two blocks in all. */
static void make_compact(const char *log)
{
    uint8_t body[2048], packed[2048];
    char text[400];
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    memset(text, 's', sizeof text);
    size_t n = record_bytes(body, 0, text, sizeof text);
    n += record_bytes(body + n, 1, text, sizeof text);
    ck_assert_uint_le(u9i_lz4_bound(n), sizeof packed);
    forge_frame(&f, packed, u9i_lz4_wrap(body, n, packed), 2);
    forge_records(&f, "plain", 3);
    n = record_bytes(body, 5, f.secret.boundary, 16);
    forge_frame(&f, body, u9i_mask_wrap(body, n, (const uint8_t *)"0123456789abcdef"), 1);
    f.next.durable = f.end;
    forge_records(&f, "promised", 1);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    forge_free(&f);
    expect_all_kinds(log);
}

/* {F20} [H-4] [H-5] [F-6] */
START_TEST(every_flipped_bit_of_a_closed_segment_is_told)
{
    const char *log = at("log");
    make_compact(log);
    victim v;
    take(&v, log, 1);
    ck_assert_uint_eq(v.size, 2 * BLOCK);
    flip_bits(&v, thorough(11, 1), 97); /* 11: of most bytes one */
    drop(&v);
}
END_TEST

/* Frames of all sizes, of a few hundred bytes to some KiB, up to this size of the file, and its end; in blocks of their own or not. */
static void make_large(const char *log, size_t size)
{
    static char text[6000];
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    memset(text, 't', sizeof text);
    for (unsigned n = 0; f.size + 4 * BLOCK < size; n++) {
        uint8_t body[7000];
        size_t used = record_bytes(body, f.next.ordinal, text, 100 + n * 1237 % 5800);
        forge_frame(&f, body, used, 1);
        if (n % 3 == 0) forge_records(&f, "more", 1 + n % 7);
        if (n % 5 == 4) forge_pad(&f);
        f.next.durable = f.end;
    }
    while (f.size + BLOCK < size) forge_records(&f, "last", 3), forge_pad(&f);
    forge_end(&f, U9I_END_CLOSING);
    ck_assert_uint_eq(f.size, size);
    forge_save(&f, log);
    forge_free(&f);
}

/* {F20} Bits of a larger file, in parts that each have a share of all of it: u9_check tells of each what it costs. */
START_TEST(flipped_bits_of_a_larger_segment_are_told)
{
    const char *log = at("log");
    const size_t size = thorough(64, 256) * 1024;
    const uint64_t step = SANITIZED ? 10 * BIT_STEP : thorough(BIT_STEP, 1);
    make_large(log, size);
    victim v;
    take(&v, log, 1);
    ck_assert_uint_eq(v.size, size);
    ck_assert_uint_gt(v.count, 15);
    for (uint64_t n = (uint64_t)_i; n * step < v.size * 8; n += PARTS) {
        uint64_t at = n * step / 8;
        unsigned bit = n * step % 8;
        flip_bit(v.path, at, bit);
        sim_forget_diary();
        gist g = check(v.log, sim_io());
        expect_told(&v, &g, at, bit);
        flip_bit(v.path, at, bit);
    }
    drop(&v);
}
END_TEST

/* {F20} The same in the middle of a rolled log: its data, its seal, and what fills its blocks. */
START_TEST(flipped_bits_of_a_sealed_segment_are_told)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "one", 3);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_ROLLED);
    forge_end(&one, U9I_END_SEALING);
    forge_records(&two, "two", 3);
    forge_records(&two, "two more ", 2);
    forged_segment three = forge_begin(3, 1, &two, U9I_TAIL_ROLLED);
    forge_end(&two, U9I_END_SEALING);
    forge_records(&three, "three", 3);
    forge_end(&three, U9I_END_CLOSING);
    forge_save(&one, log);
    forge_save(&two, log);
    forge_save(&three, log);
    victim v;
    take(&v, log, 2);
    ck_assert_uint_eq(v.size, 2 * BLOCK);
    flip_bits(&v, thorough(23, 5), 97);
    drop(&v);
    forge_free(&one);
    forge_free(&two);
    forge_free(&three);
}
END_TEST

/* {F20} Every damage that both readers judge is judged the same. */
START_TEST(the_second_reader_tells_the_same_of_flipped_bits)
{
    const char *log = at("log");
    make_small(log);
    victim v;
    take(&v, log, 1);
    ck_assert_uint_le(v.size, 20480);
    for (uint64_t bit = 0; bit < v.size * 8; bit += SANITIZED ? 211 : thorough(211, 41)) {
        flip_bit(v.path, bit / 8, bit % 8);
        gist g = inspect(&v);
        expect_told(&v, &g, bit / 8, bit % 8);
        forget(look(log));
        flip_bit(v.path, bit / 8, bit % 8);
    }
    drop(&v);
}
END_TEST

/* {F28} [L-8] [H-5] A segment alone has its spare secret in the u9end, and in one flipped bit. */
START_TEST(a_flipped_header_bit_loses_nothing_of_a_single_segment)
{
    const char *log = at("log");
    for (unsigned closed = 0; closed < 2; closed++) {
        forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        forge_records(&f, "r", 5);
        if (closed) forge_end(&f, U9I_END_CLOSING);
        forge_pad(&f);
        for (unsigned bit = 0; bit < 256; bit++) {
            f.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            forge_save(&f, log);
            seen *s = look(segment_path(log, 1));
            ck_assert_int_eq(s->err, U9_OK);
            ck_assert_uint_eq(s->count, 5);
            ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HEADER), 1);
            ck_assert_uint_eq(s->damages[0].begin, 0);
            ck_assert_uint_eq(s->damages[0].end, 32);
            ck_assert_uint_eq(s->damages[0].lost, 0);
            forget(s);
            f.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        forge_free(&f);
    }
}
END_TEST

/* {F28} {F55} [H-5] [H-4] A header of garbage: the secret comes from the successor or the u9end, or is lost. */
START_TEST(a_destroyed_header_is_made_good_by_the_spare_secrets)
{
    for (unsigned way = 0; way < 4; way++) {
        const char *log = at("log");
        forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE), two;
        forge_records(&one, "a", 5);
        if (way == 0 || way == 2) forge_end(&one, U9I_END_CLOSING);
        two = forge_begin(2, 1, &one, way == 0 ? U9I_TAIL_CLOSED : U9I_TAIL_TORN);
        forge_pad(&one);
        forge_records(&two, "b", 2);
        forge_end(&two, U9I_END_CLOSING);
        memset(one.bytes, 0xdb, 32);
        if (way == 3) memcpy(one.bytes, (uint8_t[8]){0xff, 0xff, 'u', 't', 'f', '9', 0, 1}, 8);
        if (way == 3) memset(one.bytes + 24, 0, 8);
        forge_save(&one, log);
        if (way < 2) forge_save(&two, log);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, way < 2 ? 7 : way == 2 ? 5 : 0);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HEADER), 1);
        ck_assert_uint_eq(s->damages[0].lost, way == 3 ? U9_NOWHERE : 0);
        if (way < 3) ck_assert_uint_eq(s->damage_count, 1);
        forget(s);
        forge_free(&one);
        forge_free(&two);
        remove_log(log);
    }
}
END_TEST

/* {F28} [H-5] The spare secret of a u9end counts though its frame is damaged too. */
START_TEST(a_spare_secret_is_found_in_a_damaged_u9end)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "a", 5);
    forge_end(&f, U9I_END_CLOSING);
    memset(f.bytes, 0xdb, 32);
    f.bytes[f.next.previous + 63] ^= 2; /* the length of its frame */
    f.bytes[f.next.previous + 20] ^= 1; /* and its hash */
    forge_save(&f, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 5);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HEADER), 1);
    ck_assert_uint_eq(s->damages[0].lost, 0);
    forget(s);
    forge_free(&f);
}
END_TEST

/* [H-4] Two damages: the header's magic, and the u9open. The secret is as it stands, and good. */
START_TEST(a_damaged_magic_and_a_damaged_first_frame_leave_the_rest)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "r", 5);
    forge_promise(&f);
    forge_pad(&f);
    f.bytes[1] ^= 0x10;
    f.bytes[120] ^= 1;
    forge_save(&f, log);
    for (unsigned single = 0; single < 2; single++) {
        seen *s = look(single ? segment_path(log, 1) : log);
        ck_assert_int_eq(s->err, U9_OK);
        ck_assert_uint_eq(s->count, 5);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HEADER), 1);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HASH), 1);
        ck_assert_uint_eq(s->damages[0].lost, 0);
        forget(s);
    }
    session(log, "after", 1, 0);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 6);
    forget(s);
    forge_free(&f);
}
END_TEST

/* {F28} [H-4] [M-6] The only segment has lost its secret, no frame is valid, no mark is there: no creation that was cut short. */
START_TEST(a_log_without_its_secret_is_not_begun_anew)
{
    const char *path = segment_path(at("log"), 1);
    u9_options o = writer_options();
    u9_fault fault;
    u9_log *w;
    session(at("log"), "r", 3, 1);
    remove_log(at("log/.mark"));
    cut_file(path, 8192);
    for (unsigned at = 0; at < 2; at++) flip_bit(path, 8 + at, 1), flip_bit(path, 200 + 4000 * at, 1);
    for (unsigned again = 0; again < 2; again++) {
        ck_assert_int_eq(u9_log_open(at("log"), &o, &w, &fault), U9_CORRUPT);
        ck_assert_str_eq(fault.rule, "H-4");
        ck_assert(!exists(segment_path(at("log"), 2)));
    }
}
END_TEST

/* [H-4] A later version is refused by readers and writers, and nothing is written. */
START_TEST(a_segment_of_a_later_version_is_refused)
{
    const char *log = at("log");
    u9_log *handle;
    u9_fault fault;
    u9_options o = writer_options(), reading = o;
    reading.mode = U9_READ;
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "r", 5);
    f.bytes[7] = 2;
    f.bytes[100] ^= 1; /* what stands at 32 is not a u9open of this version */
    forge_save(&f, log);
    ck_assert_int_eq(u9_log_open(log, &reading, &handle, &fault), U9_VERSION);
    ck_assert_str_eq(fault.rule, "H-4");
    ck_assert_int_eq(u9_log_open(log, &o, &handle, &fault), U9_VERSION);
    f.bytes[9] ^= 1; /* a spare secret that fits the bytes at 32 does not make it this version */
    forge_save(&f, log);
    ck_assert_int_eq(u9_log_open(log, &reading, &handle, &fault), U9_VERSION);
    f.bytes[100] ^= 1; /* the u9open is there: then it is damage */
    forge_save(&f, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 5);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_HEADER), 1);
    forget(s);
    forge_free(&f);
}
END_TEST

/* [R-12] [F-6] Each clause, broken alone in a frame in the middle, is told by its own reason. */
START_TEST(a_gap_is_told_with_the_first_clause_that_fails)
{
    static const struct {
        int at; /* in the frame; below 0: in the trailer, from its end */
        u9_reason reason;
    } cases[] = {
        {0, U9_R_BOUNDARY},  {15, U9_R_BOUNDARY}, {48, U9_R_MAGIC},     {55, U9_R_MAGIC},
        {56, U9_R_LENGTH},   {60, U9_R_LENGTH},   {16, U9_R_SIGNATURE}, {47, U9_R_SIGNATURE},
        {-80, U9_R_TRAILER}, {-69, U9_R_TRAILER}, {-68, U9_R_TRAILER},  {-47, U9_R_TRAILER},
        {-30, U9_R_TRAILER}, {64, U9_R_HASH},     {-1, U9_R_HASH},      {-60, U9_R_HASH}};
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "a", 2);
    uint64_t p = forge_records(&f, "b", 3), end = f.end;
    forge_records(&f, "c", 2);
    forge_end(&f, U9I_END_CLOSING);
    uint64_t length = u9i_get_be(f.bytes + p + 56, 8);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t at =
            p + (cases[i].at < 0 ? 64 + length - (uint64_t)-cases[i].at : (uint64_t)cases[i].at);
        f.bytes[at] ^= 0x80;
        forge_save(&f, log);
        seen *s = look(log);
        ck_assert_uint_eq(s->count, 4);
        ck_assert_uint_eq(s->damage_count, 1);
        ck_assert_int_eq(s->damages[0].verdict, U9_V_CORRUPT);
        ck_assert_msg(s->damages[0].reason == cases[i].reason, "byte %d: %s", cases[i].at,
                      u9_reason_name(s->damages[0].reason));
        ck_assert_uint_eq(s->damages[0].begin, p);
        ck_assert_uint_eq(s->damages[0].end, end);
        ck_assert_uint_eq(s->damages[0].lost, 3);
        ck_assert_uint_eq(s->damages[0].ordinal, 2);
        forget(s);
        f.bytes[at] ^= 0x80;
    }
    forge_free(&f);
}
END_TEST

/* {F22} [R-7] [F-2] [F-8] Padding and fill, promised or not. */
START_TEST(bytes_that_should_be_zero_are_told_and_lose_nothing)
{
    for (unsigned promised = 0; promised < 2; promised++)
        for (unsigned fill = 0; fill < 2; fill++) {
            const char *log = at("log");
            forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
            uint64_t p = forge_records(&f, fill ? "r" : "rr", 3), end = f.end;
            uint64_t payload = p + 64 + u9i_get_be(f.bytes + p + 56, 8);
            ck_assert_uint_gt(end, payload);
            forge_pad(&f);
            forge_records(&f, "s", 2);
            if (promised) forge_promise(&f);
            forge_pad(&f);
            f.bytes[fill ? end + 100 : payload] = 7;
            forge_save(&f, log);
            seen *s = look(log);
            ck_assert_uint_eq(s->count, 5);
            ck_assert_uint_eq(s->damage_count, 2);
            ck_assert_int_eq(s->damages[0].verdict, promised ? U9_V_CORRUPT : U9_V_UNKNOWN);
            ck_assert_int_eq(s->damages[0].reason, fill ? U9_R_FILL : U9_R_PADDING);
            ck_assert_uint_eq(s->damages[0].begin, fill ? end : payload);
            ck_assert_uint_eq(s->damages[0].end, fill ? end + 101 : end);
            ck_assert_uint_eq(s->damages[0].lost, 0);
            forget(s);
            forge_free(&f);
            remove_log(log);
        }
}
END_TEST

/* Overwrites: how much they may cost is what they touch. */
static size_t cost_of(const victim *v, uint64_t at, size_t size)
{
    size_t cost = 0;
    for (size_t i = 0; i < v->count; i++)
        if (at < v->frames[i].offset + 64 + v->frames[i].length && v->frames[i].offset < at + size)
            cost += v->frames[i].count;
    return cost;
}

/* {F21} Stretches of 00, FF and noise, from one byte to a block. */
START_TEST(an_overwritten_stretch_costs_the_frames_that_it_touches)
{
    const char *log = at("log");
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    append_many(w, "a record of some length, so that frames are not that small ", 120, 10);
    close_log(w);
    victim v;
    take(&v, log, 1);
    srand(11);
    for (unsigned n = 0; n < (SANITIZED ? 150 : 600); n++) {
        uint8_t bad[BLOCK];
        size_t size = n % 3 == 0 ? (size_t)rand() % 64 + 1 : n % 3 == 1 ? SECTOR : BLOCK;
        uint64_t from = 32 + (uint64_t)rand() % (v.size - size - 31);
        if (n % 2) from = from / size * size;
        if (from < 32) from = 32;
        int what = rand() % 3;
        for (size_t i = 0; i < size; i++)
            bad[i] = what == 0 ? 0 : what == 1 ? 0xff : (uint8_t)rand();
        put(&v, from, bad, size);
        gist g = inspect(&v);
        ck_assert_uint_eq(g.seen + cost_of(&v, from, size), v.whole->count);
        if (memcmp(bad, v.bytes + from, size) != 0) ck_assert_int_ge(g.verdict, U9_V_TORN);
        if (cost_of(&v, from, size) > 0) ck_assert_int_eq(g.verdict, U9_V_CORRUPT);
        if (n % 5 == 0) forget(look(log));
        put(&v, from, v.bytes + from, size);
    }
    drop(&v);
}
END_TEST

/* {F24} [F-6] Frames are known by their place and their file. */
START_TEST(a_misdirected_frame_is_never_served)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE), g = forge_begin(1, 2, NULL, 0);
    uint64_t p[4];
    for (unsigned i = 0; i < 4; i++) {
        p[i] = forge_records(&f, "mine", 2);
        (void)forge_records(&g, "them", 2);
    }
    size_t size = (size_t)(p[1] - p[0]);
    forge_end(&f, U9I_END_CLOSING);
    forge_end(&g, U9I_END_CLOSING);
    ck_assert_uint_eq(f.size, g.size);
    for (unsigned from = 0; from < 4; from++)
        for (unsigned to = 0; to < 4; to++)
            for (unsigned foreign = 0; foreign < 2; foreign++) {
                if (from == to && !foreign) continue;
                forge_save(&f, log);
                put_bytes(segment_path(log, 1), p[to], (foreign ? g.bytes : f.bytes) + p[from],
                          size);
                seen *s = look(log);
                ck_assert_uint_eq(s->count, 6);
                ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 1);
                ck_assert_int_eq(s->damages[0].reason, foreign ? U9_R_BOUNDARY : U9_R_TRAILER);
                ck_assert_uint_eq(s->damages[0].lost, 2);
                forget(s);
            }
    /* Into the fill, where a frame could follow: it is no frame there, and is told. */
    forge_save(&f, log);
    put_bytes(segment_path(log, 1), f.end - f.end % BLOCK - size, f.bytes + p[3], size);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 8);
    ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_FILL), 1); /* behind P */
    forget(s);
    forge_free(&f);
    forge_free(&g);
}
END_TEST

/* {F25} [F-9] Writes that a disk lost after they were synced. */
START_TEST(an_older_version_of_a_stretch_is_told)
{
    const char *log = at("log"), *older = at("older");
    u9_options o = small_options();
    for (unsigned i = 0; i < 3; i++) {
        u9_log *w = open_writer(log, &o);
        append_many(w, "record", 4, 2);
        close_log(w);
        if (i == 1) copy_log(log, older);
    }
    victim v;
    take(&v, log, 1);
    size_t old_size;
    uint8_t *old = read_file(segment_path(older, 1), &old_size);
    ck_assert_uint_lt(old_size, v.size);
    /* Blocks that the third session wrote are as they were: not there. */
    uint8_t *zeros = calloc(1, v.size);
    for (uint64_t at = old_size; at + BLOCK <= v.size; at += BLOCK) {
        put(&v, at, zeros, BLOCK);
        gist g = inspect(&v);
        ck_assert_uint_eq(g.seen + cost_of(&v, at, BLOCK), v.whole->count);
        ck_assert_int_ge(g.verdict, U9_V_TORN);
        if (at + BLOCK < v.size) ck_assert_int_eq(g.verdict, U9_V_CORRUPT);
        put(&v, at, v.bytes + at, BLOCK);
    }
    drop(&v);
    /* The whole file as it was cannot be told where it is the last; named by another it is told. */
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 2);
    forge_pad(&one);
    forged_segment early = one;
    early.bytes = malloc(FORGED_ROOM);
    memcpy(early.bytes, one.bytes, FORGED_ROOM);
    forge_records(&one, "b", 2);
    forge_pad(&one);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_TORN);
    forge_records(&two, "c", 2);
    forge_end(&two, U9I_END_CLOSING);
    remove_log(log);
    forge_save(&early, log);
    forge_save(&two, log);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, 4);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_CUT), 1);
    ck_assert_uint_eq(s->report.lost, 2);
    forget(s);
    free(old);
    free(zeros);
    forge_free(&one);
    forge_free(&two);
    forge_free(&early);
}
END_TEST

Suite *suite_damage(void)
{
    Suite *suite = suite_create("damage");
    TCase *tc = tcase_create("damage");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(tc, 90);
    tcase_add_test(tc, every_flipped_bit_of_a_closed_segment_is_told);
    tcase_add_loop_test(tc, flipped_bits_of_a_larger_segment_are_told, 0, PARTS);
    tcase_add_test(tc, flipped_bits_of_a_sealed_segment_are_told);
    tcase_add_test(tc, the_second_reader_tells_the_same_of_flipped_bits);
    tcase_add_test(tc, a_flipped_header_bit_loses_nothing_of_a_single_segment);
    tcase_add_test(tc, a_destroyed_header_is_made_good_by_the_spare_secrets);
    tcase_add_test(tc, a_spare_secret_is_found_in_a_damaged_u9end);
    tcase_add_test(tc, a_damaged_magic_and_a_damaged_first_frame_leave_the_rest);
    tcase_add_test(tc, a_log_without_its_secret_is_not_begun_anew);
    tcase_add_test(tc, a_segment_of_a_later_version_is_refused);
    tcase_add_test(tc, a_gap_is_told_with_the_first_clause_that_fails);
    tcase_add_test(tc, bytes_that_should_be_zero_are_told_and_lose_nothing);
    tcase_add_test(tc, an_overwritten_stretch_costs_the_frames_that_it_touches);
    tcase_add_test(tc, a_misdirected_frame_is_never_served);
    tcase_add_test(tc, an_older_version_of_a_stretch_is_told);
    suite_add_tcase(suite, tc);
    return suite;
}
