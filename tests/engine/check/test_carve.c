/*
 * tests/engine/check/test_carve.c: logs out of disk images, renamed files, and files in one another. [U-6] [U-7] [U-8]
 * (F28, F51, F52, F67, F71)
 */
#include "format/base/bytes.h"
#include "format/frame/disk.h"
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <u9/index.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* An image that grows. */
typedef struct image {
    uint8_t *bytes;
    size_t size;
} image;

static uint32_t noise;

static void add(image *i, const void *bytes, size_t size)
{
    i->bytes = realloc(i->bytes, i->size + size + 1);
    memcpy(i->bytes + i->size, bytes, size);
    i->size += size;
}

static void add_garbage(image *i, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    for (size_t k = 0; k < size; k++) bytes[k] = (uint8_t)((noise = noise * 1664525 + 1013904223) >> 24);
    add(i, bytes, size);
    free(bytes);
}

static void add_file(image *i, const char *path)
{
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    add(i, bytes, size);
    free(bytes);
}

static void add_file_of(image *i, const forged_segment *s)
{
    add(i, s->bytes, s->size);
}

static void save_image(image *i, const char *path)
{
    write_file(path, i->bytes, i->size);
    free(i->bytes);
    *i = (image){0};
}

/* Three sessions, each in segments of its own, and a value of about `size` bytes in each record. */
static void make_log(const char *log, const char *prefix, size_t size)
{
    u9_options o = small_options();
    char *text = malloc(size + 64);
    for (unsigned s = 0; s < 3; s++) {
        u9_log *w = open_writer(log, &o);
        for (unsigned r = 0; r < 12; r++) {
            int n = snprintf(text, 64, "%s-%u-%u-", prefix, s, r);
            for (size_t k = 0; k < size; k++) text[(size_t)n + k] = (char)('a' + (noise = noise * 1664525 + 1013904223) % 26);
            text[(size_t)n + size] = 0;
            append_text(w, text);
            if (r % 3 == 2) ck_assert_int_eq(u9_log_sync(w), U9_OK);
        }
        if (s < 2) crash(w, log);
        else close_log(w);
    }
    free(text);
}

enum { LOGS_MAX = 64 };

typedef struct told {
    unsigned logs;
    u9_carved last[LOGS_MAX];
    char paths[LOGS_MAX][512];
} told;

static void on_carved(void *ctx, const u9_carved *c)
{
    told *t = ctx;
    ck_assert_uint_lt(t->logs, LOGS_MAX);
    t->last[t->logs] = *c;
    snprintf(t->paths[t->logs++], 512, "%s", c->path);
}

static u9_carve_report carve(const char *from, told *t)
{
    u9_fault fault;
    char line[1024];
    u9_carve_report report = {.size = sizeof report};
    u9_carve_options o = {.size = sizeof o, .io = sim_io(), .on_carved = on_carved, .ctx = t};
    *t = (told){.logs = 0};
    u9_err err = u9_carve(from, at("out"), &o, &report, &fault);
    ck_assert_msg(err == U9_OK, "%s", u9_fault_line(&fault, line, sizeof line));
    ck_assert_uint_eq(report.logs, t->logs);
    return report;
}

/* One of the carved logs has all records of this one, in order. */
static void expect_log(const told *t, const char *log)
{
    seen *want = look(log);
    bool found = false;
    for (unsigned i = 0; i < t->logs && !found; i++) {
        if (!t->last[i].proven) continue;
        seen *got = look(t->paths[i]);
        found = got->count == want->count && got->err == U9_OK;
        for (size_t k = 0; k < want->count && found; k++)
            found = got->records[k].ordinal == want->records[k].ordinal && got->records[k].size == want->records[k].size &&
                    memcmp(got->records[k].bytes, want->records[k].bytes, want->records[k].size) == 0;
        if (found) ck_assert_uint_eq(t->last[i].records, want->count);
        forget(got);
    }
    ck_assert_msg(found, "%s was not carved whole", log);
    forget(want);
}

START_TEST(logs_in_garbage_at_any_offset_come_back_each_by_itself)
{
    image i = {0};
    told t;
    make_log(at("one"), "one", 300);
    make_log(at("two"), "two", 5000);
    add_garbage(&i, 1001);
    add_file(&i, segment_path(at("one"), 2));
    add_garbage(&i, 4096 + 77);
    add_file(&i, segment_path(at("two"), 1));
    add_file(&i, segment_path(at("two"), 3));
    add_garbage(&i, 13);
    add_file(&i, segment_path(at("one"), 1));
    add_file(&i, segment_path(at("two"), 2));
    add_file(&i, segment_path(at("one"), 3));
    add_garbage(&i, 70000);
    save_image(&i, at("image"));
    u9_carve_report r = carve(at("image"), &t);
    ck_assert_uint_eq(t.logs, 2);
    ck_assert_uint_eq(r.segments, 6);
    ck_assert_uint_eq(r.broken, 0);
    ck_assert_uint_eq(r.files, 1);
    expect_log(&t, at("one"));
    expect_log(&t, at("two"));
    ck_assert(!exists(at("out/.u9-unfinished")));
}
END_TEST

START_TEST(a_directory_of_renamed_files_is_a_log_again)
{
    told t;
    make_log(at("log"), "r", 700);
    copy_log(at("log"), at("whole"));
    move_file(segment_path(at("log"), 1), at("log/IMG_0815.jpg"));
    move_file(segment_path(at("log"), 2), at("log/letter.txt"));
    move_file(segment_path(at("log"), 3), at("log/a"));
    u9_carve_report r = carve(at("log"), &t);
    ck_assert_uint_eq(t.logs, 1);
    ck_assert_uint_ge(r.files, 3);
    expect_log(&t, at("whole"));
    ck_assert_int_eq(t.last[0].verdict, U9_V_CLEAN);
}
END_TEST

/* The blocks of a file in two halves, the second one first, with garbage between. */
static void add_broken_at(image *i, const char *path, size_t cut)
{
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    ck_assert_uint_lt(cut, size);
    add(i, bytes + cut, size - cut);
    add_garbage(i, 8192);
    add(i, bytes, cut);
    free(bytes);
}

START_TEST(a_file_in_two_fragments_is_put_together_wherever_it_is_broken)
{
    size_t size;
    seen_frame frames[64];
    unsigned rejoined = 0;
    make_log(at("log"), "f", 9000);
    uint8_t *bytes = read_file(segment_path(at("log"), 1), &size);
    size_t count = list_frames(bytes, size, frames, 64);
    free(bytes);
    ck_assert_uint_gt(count, 3);
    for (size_t cut = 4096; cut < frames[count - 1].end; cut += 4096) {
        image i = {0};
        told t;
        remove_log(at("out"));
        add_garbage(&i, 4096);
        add_broken_at(&i, segment_path(at("log"), 1), cut);
        add_garbage(&i, 4096);
        for (unsigned n = segments_in(at("log")); n > 1; n--) add_file(&i, segment_path(at("log"), n));
        save_image(&i, at("image"));
        u9_carve_report r = carve(at("image"), &t);
        ck_assert_msg(t.logs == 1, "cut %zu: %u logs", cut, t.logs);
        expect_log(&t, at("log"));
        rejoined += (unsigned)r.rejoined;
    }
    ck_assert_uint_gt(rejoined, 3);
}
END_TEST

START_TEST(a_file_in_many_fragments_in_any_order_is_put_together)
{
    image i = {0};
    told t;
    size_t size, piece = 6 * 4096;
    make_log(at("log"), "f", 3000);
    uint8_t *bytes = read_file(segment_path(at("log"), 1), &size);
    size_t pieces = (size + piece - 1) / piece;
    for (size_t k = 0; k < pieces; k++) { /* 0, 3, 6 ..., 1, 4 ..., 2, 5 ... */
        size_t row = (pieces + 2) / 3, rest = pieces % 3, n = k;
        size_t first = row, second = row + (rest == 1 ? row - 1 : row);
        n = k < first ? 3 * k : k < second ? 3 * (k - first) + 1 : 3 * (k - second) + 2;
        ck_assert_uint_lt(n, pieces);
        add(&i, bytes + n * piece, size - n * piece < piece ? size - n * piece : piece);
        if ((size - n * piece) < piece) add_garbage(&i, piece - (size - n * piece));
        add_garbage(&i, 4096);
    }
    free(bytes);
    for (unsigned n = segments_in(at("log")); n > 1; n--) add_file(&i, segment_path(at("log"), n));
    save_image(&i, at("image"));
    u9_carve_report r = carve(at("image"), &t);
    ck_assert_uint_gt(r.rejoined, 0);
    ck_assert_uint_eq(t.logs, 1);
    expect_log(&t, at("log"));
}
END_TEST

START_TEST(a_lost_header_comes_from_its_copies_or_from_one_flipped_bit)
{
    image i = {0};
    told t;
    make_log(at("log"), "h", 500);
    copy_log(at("log"), at("whole"));
    fill_bytes(segment_path(at("log"), 1), 0, 32, 0);     /* a copy is in segment 2 */
    flip_bit(segment_path(at("log"), 2), 8 + 5, 3);        /* and by the copy in segment 3, too */
    fill_bytes(segment_path(at("log"), 3), 0, 32, 0xff);   /* a copy is in its u9end */
    for (unsigned n = 1; n <= 3; n++) add_file(&i, segment_path(at("log"), n));
    save_image(&i, at("image"));
    (void)carve(at("image"), &t);
    ck_assert_uint_eq(t.logs, 1);
    expect_log(&t, at("whole"));
    remove_log(at("out"));
    flip_bit(segment_path(at("whole"), 2), 8 + 15, 7);
    add_garbage(&i, 99);
    add_file(&i, segment_path(at("whole"), 2)); /* alone: only the flip is left to be tried */
    save_image(&i, at("image"));
    (void)carve(at("image"), &t);
    ck_assert_uint_eq(t.logs, 1);
    ck_assert(t.last[0].proven);
    ck_assert_uint_gt(t.last[0].records, 0);
}
END_TEST

START_TEST(without_any_secret_frames_are_carved_apart_and_said_to_be_unsigned)
{
    image i = {0};
    told t;
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = sim_io()};
    uint64_t saved = 0;
    make_log(at("log"), "u", 500);
    fill_bytes(segment_path(at("log"), 2), 0, 32, 0);
    add_garbage(&i, 4096);
    add_file(&i, segment_path(at("log"), 2));
    save_image(&i, at("image"));
    (void)carve(at("image"), &t);
    ck_assert_uint_eq(t.logs, 1);
    ck_assert(!t.last[0].proven && !t.last[0].checked);
    ck_assert_msg(strstr(t.paths[0], "/unsigned-") != NULL, "%s", t.paths[0]);
    ck_assert_int_eq(u9_salvage(t.paths[0], at("saved"), &o, &report, &saved, NULL), U9_OK);
    ck_assert_uint_eq(saved, 12);
}
END_TEST

START_TEST(what_stands_inside_a_frame_is_no_log)
{
    image i = {0};
    told t;
    size_t size;
    make_log(at("inner"), "i", 200);
    uint8_t *bytes = read_file(segment_path(at("inner"), 3), &size);
    u9_log *w = open_writer(at("outer"), NULL);
    append_bytes(w, bytes, size < 60000 ? size : 60000);
    close_log(w);
    free(bytes);
    add_garbage(&i, 500);
    add_file(&i, segment_path(at("outer"), 1));
    save_image(&i, at("image"));
    u9_carve_report r = carve(at("image"), &t);
    ck_assert_uint_eq(r.segments, 1);
    expect_log(&t, at("outer"));
}
END_TEST

/* Whatever is carved: no record in it is one of this text. Returns how many records there are in logs of an id. */
static size_t expect_never(const told *t, const char *evil, const char *what)
{
    size_t in_logs = 0;
    for (unsigned i = 0; i < t->logs; i++) {
        bool apart = strstr(t->paths[i], "/segment-") || strstr(t->paths[i], "/unsigned-");
        if (apart) continue;
        seen *s = look(t->paths[i]);
        for (size_t k = 0; k < s->count; k++)
            ck_assert_msg(memmem(s->records[k].bytes, s->records[k].size < 60 ? s->records[k].size : 60, evil, strlen(evil)) == NULL,
                          "%s: a forged record is in %s", what, t->paths[i]);
        in_logs += s->count;
        forget(s);
    }
    return in_logs;
}

/* What is done to the header of a frame of this size, and, from 5 on, to its body's first bytes, too. */
static void break_holder(uint8_t *frame, unsigned way)
{
    static const unsigned at[] = {3, 20, 40, 50, 62};
    frame[at[way % 5]] ^= 4;
    if (way >= 5) frame[64 + 30] ^= 1;
}

/*
 * {F51} [U-9] A record holds a whole segment of another log, one forged with the log's own id, or frames forged with the
 * segment's own secret, where no boundary is looked for; and the frame that holds it is damaged.
 */
START_TEST(what_stands_inside_a_broken_frame_is_of_no_log)
{
    static uint8_t inner[60000], body[61000];
    for (unsigned way = 0; way < 10; way++)
        for (unsigned last = 0; last < (way == 9 ? 1 : 2); last++) /* nothing says how far it went, then */
            for (unsigned kind = 0; kind < 3; kind++) {
                image i = {0};
                told t;
                size_t n = 0;
                forged_segment s = forge_begin(1, 3, NULL, U9I_TAIL_NONE), e;
                forge_records(&s, "first", 4);
                forge_records(&s, "second", 4);
                if (kind < 2) { /* its successor, or a log of its own */
                    e = forge_begin(kind == 0 ? 2 : 1, 9, kind == 0 ? &s : NULL, U9I_TAIL_NONE);
                    if (kind == 1) e.bytes[U9I_DISK_HEADER_SIZE + 64 + 20] ^= 1, forge_mend(&e, U9I_DISK_HEADER_SIZE);
                    for (unsigned k = 0; k < 3; k++) forge_records(&e, "evil", 2);
                    memcpy(inner, e.bytes, n = e.size);
                } else { /* what would come behind, one byte off */
                    e = forge_begin(1, 3, NULL, U9I_TAIL_NONE);
                    forge_records(&e, "first", 4);
                    forge_records(&e, "second", 4);
                    size_t from = e.size;
                    for (unsigned k = 0; k < 3; k++) forge_records(&e, "evil", 2);
                    memcpy(inner, e.bytes + from, n = e.size - from);
                }
                forge_free(&e);
                size_t head = record_bytes(body, s.next.ordinal, inner, 5000) - 5000, pad = (16 - head % 16) % 16 + 3;
                static uint8_t text[61000];
                memset(text, 'x', sizeof text);
                memcpy(text + pad, inner, n);
                size_t size = record_bytes(body, s.next.ordinal, text, n + pad + 700);
                uint64_t holder = forge_frame(&s, body, size, 1);
                s.next.durable = s.end;
                if (!last) forge_records(&s, "behind", 3);
                if (!last) forge_records(&s, "end", 3);
                break_holder(s.bytes + holder, way);
                add_garbage(&i, 4096 + 16 * way);
                add(&i, s.bytes, s.size);
                add_garbage(&i, 3000);
                save_image(&i, at("image"));
                forge_free(&s);
                remove_log(at("out"));
                u9_carve_report r = carve(at("image"), &t);
                char what[100];
                snprintf(what, sizeof what, "way %u, last %u, kind %u", way, last, kind);
                size_t got = expect_never(&t, "evil", what);
                unsigned want = last ? 8 : 14;
                ck_assert_msg(got == want || (way < 5 && got == want + 1), "%s: %zu records", what, got);
                ck_assert_msg(r.held == (way >= 5 && kind == 2 ? 3 : 0), "%s: %u held", what, (unsigned)r.held);
                if (way < 5 && !last) ck_assert_msg(r.segments == 1, "%s: %u segments", what, (unsigned)r.segments);
                if (way >= 5 || (last && way == 0)) continue;
                u9_report report = {.size = sizeof report};
                u9_check_options o = {.size = sizeof o, .io = sim_io()};
                uint64_t saved = 0; /* the damaged one was carved as it stands, and is put together there */
                remove_log(at("saved"));
                ck_assert_int_eq(u9_salvage(t.paths[0], at("saved"), &o, &report, &saved, NULL), U9_OK);
                ck_assert_uint_eq(saved, last ? 9 : 15);
            }
}
END_TEST

/* The frames of a segment: `count` of three records each, `text`, but in one of them (from 0; 9: in none) `evil`. */
static forged_segment forge_line(unsigned number, unsigned count, const char *text, unsigned which, const char *evil)
{
    forged_segment s = forge_begin(number, 2 + number, NULL, U9I_TAIL_NONE);
    for (unsigned i = 0; i < count; i++) forge_records(&s, i == which ? evil : text, 3);
    return s;
}

/*
 * {F51} [U-6] A copy with one forged frame stands first, as a record's bytes would of which nothing is left but them. What
 * follows the frame, be it only the end that the next segment names, says which of the two was written; the other is kept
 * apart. Where nothing follows, the first counts.
 */
START_TEST(of_two_frames_at_one_place_that_counts_which_others_follow)
{
    for (unsigned which = 0; which < 4; which++)
        for (unsigned named = 0; named < 2; named++) {
            image i = {0};
            told t;
            forged_segment true_one = forge_line(1, 4, "good", 9, ""), evil = forge_line(1, 4, "good", which, "evil");
            forged_segment next = forge_begin(2, 4, &true_one, U9I_TAIL_NONE);
            ck_assert_uint_eq(true_one.size, evil.size);
            for (size_t at = U9I_DISK_HEADER_SIZE; at < evil.size; at += 16) /* what stands behind it is the true one's */
                if (at > U9I_DISK_HEADER_SIZE && which < 3 && memcmp(evil.bytes + at, evil.secret.boundary, 16) == 0 &&
                    memmem(evil.bytes, at, "evil", 4) != NULL) {
                    memcpy(evil.bytes + at, true_one.bytes + at, evil.size - at);
                    break;
                }
            add_file_of(&i, &evil);
            add_garbage(&i, 5000);
            add_file_of(&i, &true_one);
            if (named) add_file_of(&i, &next);
            save_image(&i, at("image"));
            remove_log(at("out"));
            (void)carve(at("image"), &t);
            ck_assert_uint_eq(t.logs, 2);
            bool first = which == 3 && !named;
            char text[16];
            snprintf(text, sizeof text, "evil%u", 3 * which);
            for (unsigned k = 0; k < 2; k++) {
                bool fork = strstr(t.paths[k], ".fork-2") != NULL;
                seen *s = look(t.paths[k]);
                ck_assert_uint_eq(has_text(s, text), fork != first);
                if (fork == first) ck_assert_uint_eq(s->count, 12);
                forget(s);
            }
            forge_free(&true_one);
            forge_free(&evil);
            forge_free(&next);
        }
}
END_TEST

/* [U-9] A segment's first frames have damaged headers; with them the boundary behind the disk header is gone. */
START_TEST(damaged_first_frames_are_put_together_and_are_their_logs)
{
    make_log(at("log"), "t", 300);
    seen *want = look(at("log"));
    for (unsigned way = 0; way < 2 * U9I_FRAME_HEADER_SIZE; way++) {
        image i = {0};
        told t;
        size_t size, k = way / 2;
        for (unsigned n = 1; n <= 3; n++) {
            uint8_t *bytes = read_file(segment_path(at("log"), n), &size), *second = bytes + U9I_DISK_HEADER_SIZE + 64;
            while (memcmp(second, bytes + U9I_DISK_HEADER_SIZE, 16) != 0) second += 16;
            bytes[U9I_DISK_HEADER_SIZE + k] ^= 0x20;
            if (way % 2) second[(k + 20) % U9I_FRAME_HEADER_SIZE] ^= 0x20;
            add_garbage(&i, 700);
            add(&i, bytes, size);
            free(bytes);
        }
        save_image(&i, at("image"));
        remove_log(at("out"));
        (void)carve(at("image"), &t);
        ck_assert_msg(t.logs == 1 && !strstr(t.paths[0], "/segment-"), "way %u: %u logs", way, t.logs);
        u9_report report = {.size = sizeof report};
        u9_check_options o = {.size = sizeof o, .io = sim_io()};
        uint64_t saved = 0; /* they were carved as they stand */
        remove_log(at("saved"));
        ck_assert_int_eq(u9_salvage(t.paths[0], at("saved"), &o, &report, &saved, NULL), U9_OK);
        ck_assert_msg(saved == want->count, "way %u: %u records", way, (unsigned)saved);
    }
    forget(want);
}
END_TEST

/* [U-9] Nearly all of an image is one frame, whose header is damaged, and nothing stands behind it. */
START_TEST(a_last_frame_that_is_most_of_an_image_is_put_together)
{
    for (unsigned k = 0; k < U9I_FRAME_HEADER_SIZE; k++) {
        told t;
        forged_segment s = forge_begin(1, 3, NULL, U9I_TAIL_NONE);
        uint64_t p = forge_records(&s, "much", 2000);
        s.bytes[p + k] ^= 0x10;
        image i = {0};
        add_file_of(&i, &s);
        save_image(&i, at("image"));
        remove_log(at("out"));
        (void)carve(at("image"), &t);
        ck_assert_uint_eq(t.logs, 1);
        u9_report report = {.size = sizeof report};
        u9_check_options o = {.size = sizeof o, .io = sim_io()};
        uint64_t saved = 0; /* it was carved as it stands */
        remove_log(at("saved"));
        u9_err err = u9_salvage(t.paths[0], at("saved"), &o, &report, &saved, NULL);
        ck_assert_msg(err == U9_OK && saved == 2000, "byte %u: %u records", k, (unsigned)saved);
        forge_free(&s);
    }
}
END_TEST

/* What is wrong with the header of a frame that holds a record with frames. */
typedef enum injury { HARM_MAGIC, HARM_LONG, HARM_SHORT, HARM_ALL, HARM_KINDS } injury;

static void do_harm(uint8_t *frame, injury what)
{
    if (what == HARM_MAGIC) frame[50] ^= 4;
    if (what == HARM_LONG) frame[61] ^= 0x80;
    if (what == HARM_SHORT) u9i_set_be(frame + 56, 8, U9I_TRAILER_SIZE);
    if (what == HARM_ALL) memset(frame, 0, U9I_FRAME_HEADER_SIZE);
}

/* A log's segment, of another log id. */
static forged_segment forge_foreign(unsigned seed, const char *text)
{
    forged_segment s = forge_begin(1, seed, NULL, U9I_TAIL_NONE);
    s.bytes[U9I_DISK_HEADER_SIZE + 64 + 20] ^= (uint8_t)seed, forge_mend(&s, U9I_DISK_HEADER_SIZE);
    for (unsigned k = 0; k < 3; k++) forge_records(&s, text, 2);
    return s;
}

/*
 * {F51} [U-9] A segment's last frame is put together, by what stands of it or by the end that the next segment names: then
 * nothing in its record says anything, be it a whole segment, one that would be put together itself, or a header that
 * claims what stands behind the frame.
 */
START_TEST(what_a_frame_holds_that_is_put_together_says_nothing)
{
    static uint8_t text[20000], body[21000];
    for (unsigned way = 0; way < HARM_KINDS; way++)
        for (unsigned kind = 0; kind < 3; kind++) {
            image i = {0};
            told t;
            forged_segment s = forge_begin(1, 3, NULL, U9I_TAIL_NONE), e = forge_foreign(9, "evil"), other = forge_foreign(11, "other");
            forge_records(&s, "first", 4);
            memset(text, 'x', sizeof text);
            if (kind == 1) e.bytes[U9I_DISK_HEADER_SIZE + 50] ^= 4;
            if (kind < 2) memcpy(text + 303, e.bytes, e.size);
            else memcpy(text + 303, e.bytes + U9I_DISK_HEADER_SIZE, U9I_FRAME_HEADER_SIZE), u9i_set_be(text + 303 + 56, 8, U9I_PAYLOAD_MAX);
            size_t size = record_bytes(body, s.next.ordinal, text, 303 + e.size + 500);
            uint64_t holder = forge_frame(&s, body, size, 1);
            s.next.durable = s.end;
            forged_segment next = forge_begin(2, 4, &s, U9I_TAIL_NONE);
            forge_records(&next, "next", 3);
            do_harm(s.bytes + holder, way);
            add_garbage(&i, 5000);
            add_file_of(&i, &s);
            add_garbage(&i, 3000);
            add_file_of(&i, &next);
            add_file_of(&i, &other);
            add_garbage(&i, 300000); /* of an image that is small all is looked through in vain too soon */
            save_image(&i, at("image"));
            remove_log(at("out"));
            (void)carve(at("image"), &t);
            char what[60];
            snprintf(what, sizeof what, "way %u, kind %u", way, kind);
            size_t got = expect_never(&t, "evil", what);
            bool claimed = way == HARM_ALL && kind == 2; /* who would name the end may be in what is claimed: it stands apart */
            ck_assert_msg(claimed || t.logs == 2, "%s: %u logs, %s", what, t.logs, t.paths[t.logs - 1]);
            ck_assert_msg(claimed || got == 4 + 3 + 6, "%s: %zu records", what, got);
            forge_free(&s);
            forge_free(&e);
            forge_free(&next);
            forge_free(&other);
        }
}
END_TEST

/* [U-9] In each segment of a row a length is damaged, and claims those behind it, which come free one after the other. */
START_TEST(segments_that_claim_one_another_are_a_log)
{
    enum { MANY = 12 };
    image i = {0};
    told t;
    forged_segment s[MANY];
    for (unsigned n = 0; n < MANY; n++) {
        s[n] = forge_begin(n + 1, 3, n ? &s[n - 1] : NULL, U9I_TAIL_NONE);
        for (unsigned k = 0; k < 3; k++) forge_records(&s[n], "r", 4);
    }
    for (unsigned n = 0; n < MANY; n++) {
        uint64_t second = 0;
        for (size_t p = U9I_DISK_HEADER_SIZE, frames = 0; p < s[n].size && frames < 3; p += 16)
            if (memcmp(s[n].bytes + p, s[n].secret.boundary, 16) == 0) second = p, frames++;
        s[n].bytes[second + 61] ^= 0x80;
        add_file_of(&i, &s[n]);
        add_garbage(&i, 100);
        forge_free(&s[n]);
    }
    save_image(&i, at("image"));
    u9_carve_report r = carve(at("image"), &t);
    ck_assert_uint_eq(t.logs, 1);
    ck_assert_uint_eq(r.segments, MANY);
    ck_assert_int_eq(r.gave_up, 0);
}
END_TEST

/* [U-6] Two frames in a segment's first place: that one's word counts which another follows, wherever they stand. */
START_TEST(of_two_first_frames_the_one_that_is_followed_says_what_the_segment_is)
{
    for (unsigned way = 0; way < 2 * 16; way++) {
        image i = {0};
        told t;
        forged_segment one = forge_line(1, 3, "one", 9, ""), two = forge_begin(2, 4, &one, U9I_TAIL_NONE);
        forge_records(&two, "two", 3);
        u9i_open_record open = forge_naming(7, NULL, U9I_TAIL_NONE);
        open.time_us += way / 2; /* so its hash is another */
        memset(open.log, 0x77, sizeof open.log);
        forged_segment false_one = forge_with_open(2, 4, &open);
        if (way % 2) add_file_of(&i, &false_one);
        add_file_of(&i, &one);
        add_file_of(&i, &two);
        if (way % 2 == 0) add_file_of(&i, &false_one);
        save_image(&i, at("image"));
        remove_log(at("out"));
        remove_log(at("log"));
        forge_save(&one, at("log"));
        forge_save(&two, at("log"));
        (void)carve(at("image"), &t);
        ck_assert_msg(t.logs == 1, "way %u: %u logs", way, t.logs);
        expect_log(&t, at("log"));
        forge_free(&one);
        forge_free(&two);
        forge_free(&false_one);
    }
}
END_TEST

/* {F65} [U-6] Of two copies one went on right behind a frame, the other at the next block; the next segment names its end. */
START_TEST(copies_that_part_at_different_places_are_not_mixed)
{
    for (unsigned way = 0; way < 2; way++) {
        image i = {0};
        told t;
        forged_segment one = forge_line(1, 1, "a", 9, ""), copy = forge_line(1, 1, "a", 9, "");
        forge_pad(&one);
        forge_records(&one, "served", 2);
        forge_records(&copy, "copied", 2);
        forged_segment two = forge_begin(2, 4, &one, U9I_TAIL_NONE);
        forge_records(&two, "two", 3);
        add_file_of(&i, way ? &one : &copy);
        add_garbage(&i, 5000);
        add_file_of(&i, way ? &copy : &one);
        add_file_of(&i, &two);
        save_image(&i, at("image"));
        remove_log(at("out"));
        remove_log(at("log"));
        forge_save(&one, at("log"));
        forge_save(&two, at("log"));
        (void)carve(at("image"), &t);
        ck_assert_uint_eq(t.logs, 2);
        expect_log(&t, at("log"));
        seen *s = look(t.paths[1]);
        ck_assert_uint_eq(s->count, 3 + 2);
        ck_assert(has_text(s, "copied3") && strstr(t.paths[1], ".fork-2"));
        forget(s);
        forge_free(&one);
        forge_free(&copy);
        forge_free(&two);
    }
}
END_TEST

/* [U-6] What is left of a copy stands between a frame and the one that follows it, at the next block: it is not the segment's. */
START_TEST(nothing_comes_between_two_frames_of_which_one_follows)
{
    image i = {0};
    told t;
    forged_segment one = forge_line(1, 1, "a", 9, ""), copy = forge_line(1, 1, "a", 9, "");
    forge_pad(&one);
    forge_records(&one, "served", 2);
    forge_records(&copy, "gone", 2);
    uint64_t k = forge_records(&copy, "copied", 2);
    ck_assert_uint_lt(copy.size, U9I_BLOCK);
    add(&i, copy.bytes + k, copy.size - k);
    add_garbage(&i, 5000);
    add_file_of(&i, &one);
    save_image(&i, at("image"));
    (void)carve(at("image"), &t);
    ck_assert_uint_eq(t.logs, 2);
    ck_assert(strstr(t.paths[1], ".fork-2"));
    seen *s = look(t.paths[0]);
    ck_assert_uint_eq(s->count, 3 + 2);
    ck_assert(has_text(s, "served4"));
    forget(s);
    forge_free(&one);
    forge_free(&copy);
}
END_TEST

/* [U-9] A frame in doubt counts by the one behind it that counts, though one of a copy has a place between the two. */
START_TEST(what_leads_to_a_frame_that_counts_counts_beside_a_copy)
{
    image i = {0};
    told t;
    uint8_t claim[64] = {0};
    forged_segment s = forge_line(1, 1, "a", 9, ""), copy = forge_line(1, 1, "a", 9, "");
    uint64_t b = forge_records(&s, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", 1), c = forge_records(&s, "c", 1);
    (void)forge_records(&copy, "k", 1);
    uint64_t k = forge_records(&copy, "kkkk", 1);
    ck_assert(b < k && k < c);
    memcpy(claim, s.bytes + U9I_DISK_HEADER_SIZE, 56);
    claim[16] ^= 1; /* the header of a frame that is not there, and may reach over b */
    u9i_set_be(claim + 56, 8, 3000);
    add(&i, s.bytes, b);
    add_garbage(&i, 4001);
    add(&i, claim, sizeof claim);
    add_garbage(&i, 101);
    add(&i, s.bytes + b, c - b);
    add_garbage(&i, 6001);
    add(&i, s.bytes + c, s.size - c);
    add_garbage(&i, 2001);
    add(&i, copy.bytes + k, copy.size - k);
    add_garbage(&i, 2001);
    save_image(&i, at("image"));
    (void)carve(at("image"), &t);
    forge_save(&s, at("log"));
    expect_log(&t, at("log"));
    forge_free(&s);
    forge_free(&copy);
}
END_TEST

/* {F72} [U-8] Many frames in one place, each of them a line of its own: some are written, and that there are more is said. */
START_TEST(no_more_lines_than_some_are_made_of_a_segment)
{
    image i = {0};
    told t;
    forged_segment s = forge_line(1, 1, "a", 9, "");
    for (unsigned n = 0; n < 300; n++) {
        char text[20];
        snprintf(text, sizeof text, "line-%u-", n);
        forged_segment line = forge_line(1, 1, "a", 9, "");
        uint64_t p = forge_records(&line, text, 1);
        if (n == 0) add(&i, line.bytes, p);
        add(&i, line.bytes + p, line.size - p);
        forge_free(&line);
    }
    save_image(&i, at("image"));
    u9_carve_report r = carve(at("image"), &t);
    ck_assert_uint_eq(t.logs, 16);
    ck_assert_int_eq(r.gave_up, 1);
    forge_free(&s);
}
END_TEST

/*
 * [U-9] The end of a file stands in the midst of another log's, whose frames go on behind it: as a fragment of its own or
 * in a record there, which nothing here tells. The next segment names the last frame: then it is what was written. So it is
 * if the file is there once more. What does not count is counted.
 */
START_TEST(an_end_that_stands_in_another_log_counts_if_the_next_segment_names_it)
{
    for (unsigned way = 0; way < 3; way++) {
        bool named = way == 1, again = way == 2;
        image i = {0};
        told t;
        forged_segment one = forge_begin(1, 3, NULL, U9I_TAIL_NONE), other = forge_begin(1, 9, NULL, U9I_TAIL_NONE);
        for (unsigned k = 0; k < 3; k++) forge_records(&one, "first", 4);
        forge_pad(&one);
        for (unsigned k = 0; k < 3; k++) forge_records(&one, "last", 4);
        forge_pad(&one);
        forged_segment two = forge_begin(2, 4, &one, U9I_TAIL_NONE);
        forge_records(&two, "behind", 5);
        forge_pad(&two);
        forge_end(&two, U9I_END_CLOSING);
        other.bytes[U9I_DISK_HEADER_SIZE + 64 + 20] ^= 1, forge_mend(&other, U9I_DISK_HEADER_SIZE); /* of a log of its own */
        for (unsigned k = 0; k < 30; k++) forge_records(&other, "other", 40);
        forge_promise(&other);
        ck_assert_uint_eq(one.size, 2 * U9I_BLOCK);
        ck_assert_uint_gt(other.size, 5 * U9I_BLOCK);
        memcpy(other.bytes + 2 * U9I_BLOCK, one.bytes + U9I_BLOCK, U9I_BLOCK);
        add(&i, one.bytes, again ? one.size : U9I_BLOCK);
        add_garbage(&i, U9I_BLOCK);
        if (named) add(&i, two.bytes, two.size);
        add_garbage(&i, U9I_BLOCK);
        add(&i, other.bytes, other.size);
        save_image(&i, at("image"));
        remove_log(at("out"));
        u9_carve_report r = carve(at("image"), &t);
        ck_assert_uint_eq(t.logs, 2);
        ck_assert_uint_eq(r.held, named || again ? 0 : 3);
        size_t in_logs = expect_never(&t, named || again ? "none" : "last", "nobody names it");
        size_t in_one = named ? 12 + 12 + 5 : again ? 12 + 12 : 12;
        ck_assert_uint_gt(in_logs, in_one + 40 * 20);
        ck_assert_uint_eq((in_logs - in_one) % 40, 0);
        forge_save(&one, at("log"));
        forge_save(&two, at("log"));
        if (named) expect_log(&t, at("log"));
        remove_log(at("log"));
        forge_free(&one);
        forge_free(&two);
        forge_free(&other);
    }
}
END_TEST

/*
 * [U-6] A disk header stands once more, with no boundary behind it: it is none, and not where its segment begins. The one
 * that is says that a log begins in front of what its first frame, whose length is damaged, would reach over.
 */
START_TEST(a_disk_header_with_no_boundary_behind_it_is_none)
{
    image i = {0};
    told t;
    forged_segment s = forge_begin(1, 3, NULL, U9I_TAIL_NONE);
    for (unsigned k = 0; k < 3; k++) forge_records(&s, "first", 4);
    forge_promise(&s);
    s.bytes[U9I_DISK_HEADER_SIZE + 56 + 5] ^= 1; /* 64 KiB more */
    add_garbage(&i, 4096);
    add(&i, s.bytes, s.size);
    add_garbage(&i, 100000);
    add(&i, s.bytes, U9I_DISK_HEADER_SIZE);
    add_garbage(&i, 4096);
    save_image(&i, at("image"));
    u9_carve_report r = carve(at("image"), &t);
    ck_assert_uint_eq(t.logs, 1);
    ck_assert_uint_eq(r.segments, 1);
    ck_assert_uint_eq(expect_never(&t, "none", "twice"), 12); /* in a log of its id, not in one that stands apart */
    forge_free(&s);
}
END_TEST

/* {F68} */
START_TEST(nothing_is_made_of_nothing_and_nothing_is_overwritten)
{
    image i = {0};
    u9_fault fault;
    u9_carve_report r = {.size = sizeof r};
    u9_carve_options o = {.size = sizeof o, .io = sim_io()};
    add_garbage(&i, 100000);
    save_image(&i, at("image"));
    ck_assert_int_eq(u9_carve(at("image"), at("out"), &o, &r, &fault), U9_ABSENT);
    ck_assert(!exists(at("out")));
    make_log(at("log"), "n", 100);
    make_dir(at("out"));
    write_file(at("out/mine"), "x", 1);
    ck_assert_int_eq(u9_carve(at("log"), at("out"), &o, &r, &fault), U9_ARG);
    ck_assert(exists(at("out/mine")));
    r.size = offsetof(u9_carve_report, held);
    r.held = 77;
    ck_assert_int_eq(u9_carve(at("log"), at("other"), &o, &r, &fault), U9_OK); /* a program that was built earlier */
    ck_assert_uint_eq(r.segments, 3);
    ck_assert_uint_eq(r.size, offsetof(u9_carve_report, held));
    ck_assert_uint_eq(r.held, 77);
    r.size--;
    ck_assert_int_eq(u9_carve(at("log"), at("another"), &o, &r, &fault), U9_ARG);
}
END_TEST

/* {F63} {F68} */
START_TEST(broken_off_at_any_call_it_is_completed_by_the_next)
{
    image i = {0};
    told t;
    unsigned failed = 0;
    u9_carve_report r = {.size = sizeof r};
    u9_carve_options o = {.size = sizeof o, .io = sim_io()};
    make_log(at("one"), "one", 100);
    make_log(at("two"), "two", 100);
    for (unsigned n = 1; n <= 3; n++) {
        add_file(&i, segment_path(at("one"), n));
        add_file(&i, segment_path(at("two"), n));
    }
    save_image(&i, at("image"));
    for (unsigned nth = 1;; nth += 3) {
        remove_log(at("out"));
        sim_fail(SIM_ANY, nth, EIO, true);
        u9_err err = u9_carve(at("image"), at("out"), &o, &r, NULL);
        sim_mend();
        if (err == U9_OK) break;
        failed++;
        if (exists(at("out")) && !exists(at("out/.u9-unfinished"))) {
            size_t count; /* cut before its mark was there, or behind the end: empty, or whole */
            char **names = list_names(at("out"), &count);
            for (size_t k = 0; k < count; k++) free(names[k]);
            free(names);
            if (count == 2) continue;
            ck_assert_uint_eq(count, 0);
        }
        (void)carve(at("image"), &t);
        expect_log(&t, at("one"));
        expect_log(&t, at("two"));
    }
    ck_assert_uint_gt(failed, 10);
}
END_TEST

/* [U-6] [U-9] A long segment in many extents, of which none is missing: nothing is said to be. */
START_TEST(what_is_whole_in_many_extents_is_not_given_up)
{
    enum { EXTENT = 1 << 17, RECORDS = 70000 };
    static char text[101];
    image i = {0};
    told t;
    size_t size;
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = sim_io(), .segment_size = 16 << 20};
    u9_log *w = open_writer(at("log"), &o);
    noise += (uint32_t)_i;
    for (unsigned n = 0; n < RECORDS; n++) {
        for (size_t k = 0; k < sizeof text - 1; k++) text[k] = (char)('a' + ((noise = noise * 1664525 + 1013904223) >> 16) % 26);
        append_text(w, text);
    }
    close_log(w);
    uint8_t *bytes = read_file(segment_path(at("log"), 1), &size);
    size_t count = (size + EXTENT - 1) / EXTENT, order[128];
    ck_assert_uint_gt(count, 40);
    ck_assert_uint_lt(count, 128);
    for (size_t k = 0; k < count; k++) order[k] = k;
    for (size_t k = count - 1; k > 1; k--) { /* the first stays */
        size_t other = 1 + ((noise = noise * 1664525 + 1013904223) >> 16) % k, was = order[k];
        order[k] = order[other];
        order[other] = was;
    }
    for (size_t k = 0; k < count; k++) {
        size_t from = order[k] * EXTENT;
        add(&i, bytes + from, size - from < EXTENT ? size - from : EXTENT);
    }
    free(bytes);
    save_image(&i, at("image"));
    u9_carve_report r = carve(at("image"), &t);
    expect_log(&t, at("log"));
    ck_assert_uint_gt(r.rejoined, 20);
    ck_assert_int_eq(r.gave_up, 0);
    ck_assert_uint_eq(r.broken, 0);
}
END_TEST

/* [U-8] A call that was killed when a log just had its name, and the file of an unfinished one in it: the next one removes that. */
START_TEST(what_an_unfinished_log_holds_goes_with_the_next_call)
{
    told t;
    make_log(at("log"), "u", 100);
    (void)carve(at("log"), &t);
    char left[600];
    snprintf(left, sizeof left, "%s/.u9-unfinished", t.paths[0]);
    write_file(left, "", 0);
    write_file(at("out/.u9-unfinished"), "", 0);
    (void)carve(at("log"), &t);
    ck_assert(!exists(left));
    ck_assert(!exists(at("out/.u9-unfinished")));
}
END_TEST

/* [U-6] Magics so near to the ends of a file that a header, or what it tells of, is cut off; files that are empty or none. */
START_TEST(what_is_cut_off_at_the_ends_of_a_file_hides_nothing)
{
    enum { SIZE = 5000, ENDS = 100 };
    told t;
    unsigned files = 0;
    char path[64];
    make_log(at("log"), "e", 100);
    make_dir(at("images"));
    make_dir(at("images/folder"));
    for (unsigned place = 0; place < SIZE; place += place == ENDS ? SIZE - 2 * ENDS : 4)
        for (unsigned kind = 0; kind < 2; kind++) {
            image i = {0};
            add_garbage(&i, SIZE);
            memcpy(i.bytes + place, kind ? u9i_frame_magic : u9i_disk_magic, SIZE - place < 8 ? SIZE - place : 8);
            snprintf(path, sizeof path, "images/%03u", files++);
            save_image(&i, at(path));
        }
    for (unsigned n = 1; n <= 3; n++) {
        image i = {0};
        add_file(&i, segment_path(at("log"), n));
        snprintf(path, sizeof path, "images/a%u", n);
        save_image(&i, at(path));
    }
    write_file(at("images/empty"), "", 0);
    u9_carve_report r = carve(at("images"), &t);
    ck_assert_uint_eq(r.unread, 0);
    ck_assert_uint_eq(t.logs, 1);
    expect_log(&t, at("log"));
}
END_TEST

START_TEST(bytes_that_cannot_be_read_cost_what_they_touch)
{
    image i = {0};
    told t;
    make_log(at("log"), "e", 100);
    add_garbage(&i, 8192);
    for (unsigned n = 1; n <= 3; n++) add_file(&i, segment_path(at("log"), n));
    save_image(&i, at("image"));
    sim_spoil(at("image"), 4096, 8192, EIO, 0);
    u9_carve_report r = carve(at("image"), &t);
    ck_assert_uint_eq(r.unread, 4096);
    expect_log(&t, at("log"));
}
END_TEST

/* A header whose frame is on bytes that cannot be read: these are told, and not that the frame is broken. */
START_TEST(a_frame_that_cannot_be_read_is_not_said_to_be_broken)
{
    image i = {0};
    told t;
    make_log(at("log"), "d", 9000);
    seen_frame frames[16], large = {0};
    size_t count = frames_in(segment_path(at("log"), 1), frames, 16);
    for (size_t n = 0; n < count; n++)
        if (frames[n].end - frames[n].offset > large.end - large.offset) large = frames[n];
    uint64_t inside = (large.offset + 64) / 4096 * 4096 + 4096, trailer = (large.end - 96) / 4096 * 4096;
    ck_assert_uint_lt(inside, trailer);
    add_file(&i, segment_path(at("log"), 1));
    save_image(&i, at("image"));
    u9_carve_report whole = carve(at("image"), &t);
    sim_remove(at("out"));
    sim_spoil(at("image"), _i == 0 ? trailer : inside, _i == 0 ? large.end : trailer, EIO, 0);
    u9_carve_report r = carve(at("image"), &t);
    ck_assert_uint_eq(r.frames, whole.frames - 1);
    ck_assert_uint_gt(r.unread, 0);
    ck_assert_uint_eq(r.broken, 0);
}
END_TEST

static u9_err try_carve(const char *out, u9_carve_options o, u9_carve_report *r, u9_fault *fault)
{
    o.size = sizeof o;
    o.io = sim_io();
    *fault = (u9_fault){0};
    *r = (u9_carve_report){.size = sizeof *r};
    return u9_carve(at("image"), out, &o, r, fault);
}

/* [U-8] Segments that are written in several pieces: to a disk that is full, and from one that fails by then. */
START_TEST(what_is_found_and_cannot_be_written_or_read_again_is_told)
{
    image i = {0};
    told t;
    u9_fault fault;
    u9_carve_report r;
    u9_options o = small_options();
    static uint8_t bytes[700000];
    o.segment_size = 8 << 20;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned k = 0; k < 5; k++) append_bytes(w, bytes, sizeof bytes - k);
    close_log(w);
    add_garbage(&i, 5000);
    add_file(&i, segment_path(at("log"), 1));
    uint64_t size = i.size;
    save_image(&i, at("image"));
    for (unsigned nth = 1; nth < 5; nth++) {
        sim_fail(SIM_WRITE, nth, ENOSPC, true);
        ck_assert_int_eq(try_carve(at("out"), (u9_carve_options){0}, &r, &fault), U9_IO);
        ck_assert_int_eq(fault.sys, ENOSPC);
        sim_mend();
    }
    for (unsigned reads = 1, refused = 0; reads < 30 || refused == 0; reads++) { /* behind the ones that look for it */
        sim_spoil(at("image"), size / 2, size / 2 + 4096, EIO, 0);
        sim_delay(reads);
        u9_err err = try_carve(at("out"), (u9_carve_options){0}, &r, &fault);
        sim_clear();
        ck_assert_msg(err == U9_OK || err == U9_IO, "%u: %s", reads, fault.text);
        refused += err == U9_IO;
        if (err == U9_IO) ck_assert_ptr_nonnull(strstr(fault.text, "read again"));
        if (err == U9_IO) ck_assert_str_eq(fault.path, at("image"));
        remove_log(at("out"));
        ck_assert_uint_lt(reads, 60);
    }
    (void)carve(at("image"), &t);
    expect_log(&t, at("log"));
}
END_TEST

static int stop_at_second(void *ctx, uint64_t done, uint64_t of)
{
    ck_assert_uint_le(done, of);
    return ++*(unsigned *)ctx == 2;
}

START_TEST(a_carving_is_stopped_when_asked_and_makes_no_logs_where_something_is) /* [U-8] */
{
    unsigned asked = 0;
    u9_fault fault;
    u9_carve_report r;
    u9_carve_options o = {.on_progress = stop_at_second, .ctx = &asked};
    make_log(at("image"), "s", 100);
    make_dir(at("image/folder"));
    ck_assert_int_eq(try_carve(at("out"), o, &r, &fault), U9_STATE);
    ck_assert(!exists(at("out")));
    ck_assert_int_eq(try_carve(at("out//"), o, &r, &fault), U9_OK); /* it was asked before */
    ck_assert_uint_eq(r.logs, 1);
    ck_assert_int_eq(try_carve(segment_path(at("image"), 1), o, &r, &fault), U9_ARG);
    ck_assert_int_eq(try_carve(at("none/such"), o, &r, &fault), U9_IO);
    ck_assert_int_eq(u9_carve(at("nothing"), at("out"), NULL, &r, &fault), U9_IO);
    sim_fail(SIM_STAT, 1, ELOOP, true); /* a name that leads nowhere is passed by */
    ck_assert_int_eq(try_carve(at("out2"), o, &r, &fault), U9_ABSENT);
    sim_mend();
}
END_TEST

/* {F50} [U-6] [F-6] Frames of right hashes whose trailers say what cannot be, and signed headers with no length. */
START_TEST(frames_that_say_what_cannot_be_are_none)
{
    for (unsigned way = 0; way < 10; way++) {
        image i = {0};
        told t;
        u9i_trailer trailer;
        seen_frame frames[8];
        forged_segment s = forge_begin(way == 8 ? (UINT64_C(1) << 62) + 5 : 1, way, NULL, U9I_TAIL_NONE);
        uint64_t good = forge_records(&s, "good", 3), bad = forge_records(&s, "evil", 3);
        ck_assert_uint_eq(list_frames(s.bytes, s.size, frames, 8), 3);
        uint8_t *end = s.bytes + bad + 64 + frames[2].length - 80;
        ck_assert(u9i_trailer_decode(end, &trailer));
        if (way == 0) trailer.offset = 16;
        if (way == 1) trailer.offset += 8;
        if (way == 2) trailer.offset = UINT64_C(1) << 43;
        if (way == 3) trailer.durable = trailer.offset + 16;
        if (way == 4) trailer.previous = 16;
        if (way == 5) trailer.previous = trailer.offset;
        u9i_trailer_encode(&trailer, end);
        if (way < 6) forge_mend(&s, bad);
        if (way == 6) u9i_set_be(s.bytes + bad + 56, 8, 79);
        if (way == 7) u9i_set_be(s.bytes + bad + 56, 8, U9I_PAYLOAD_MAX + 1);
        if (way == 9) forge_records(&s, "behind", 1), u9i_set_be(s.bytes + bad + 56, 8, frames[2].length + 8192);
        add(&i, s.bytes, s.size);
        add_garbage(&i, 300);
        save_image(&i, at("image"));
        forge_free(&s);
        remove_log(at("out"));
        u9_carve_report r = carve(at("image"), &t);
        ck_assert_uint_eq(r.segments, 1);
        ck_assert_uint_eq(t.last[0].records, way == 8 ? 6 : 3); /* what is behind them nobody promised */
        if (way == 8) ck_assert(exists(segment_path(t.paths[0], 1))); /* no writer gives such a number */
        (void)good;
    }
}
END_TEST

/* [U-6] [U-7] Of one frame after the other the second half is nowhere; what is in front of it and behind stands in files of its own. */
START_TEST(half_a_frame_costs_no_more_than_itself)
{
    size_t size;
    seen_frame frames[64];
    make_log(at("log"), "h", 700);
    uint8_t *bytes = read_file(segment_path(at("log"), 1), &size);
    size_t count = list_frames(bytes, size, frames, 64);
    ck_assert_uint_gt(count, 4);
    for (size_t k = 0; k < 2 * count; k++) {
        told t;
        const seen_frame *f = &frames[k / 2];
        size_t middle = f->offset + 64 + (k % 2 ? f->length / 2 : 0), behind = k / 2 + 1 < count ? f[1].offset : size;
        size_t from = k == 1 ? 32 : 0; /* once without a header, which the next segment has a copy of */
        remove_log(at("out"));
        remove_log(at("images"));
        make_dir(at("images"));
        write_file(at("images/a"), bytes + from, middle - from);
        if (behind < size) write_file(at("images/b"), bytes + behind, size - behind);
        for (unsigned n = 2; n <= segments_in(at("log")); n++) {
            char name[20];
            snprintf(name, sizeof name, "images/c%u", n);
            sim_copy(segment_path(at("log"), n), at(name));
        }
        u9_carve_report r = carve(at("images"), &t);
        ck_assert_uint_eq(t.logs, 1);
        ck_assert_uint_eq(r.segments, segments_in(at("log")));
        ck_assert_msg(t.last[0].records == 36 - f->count, "frame %zu: %u records", k / 2, (unsigned)t.last[0].records);
    }
    free(bytes);
}
END_TEST

/* {F53} Headers that all claim the same bytes: they are not hashed for each of them. */
START_TEST(many_claims_cost_no_more_than_some_readings)
{
    enum { SIZE = 1 << 20, CLAIMS = 40 };
    image i = {0};
    told t;
    u9i_trailer trailer = {.offset = 32};
    static uint8_t bytes[SIZE];
    u9i_trailer_encode(&trailer, bytes + SIZE - 80);
    for (unsigned k = 0; k < CLAIMS; k++) {
        memset(bytes + 4096 + 64 * k, 0x20 + (int)k, 64);
        memcpy(bytes + 4096 + 64 * k + 48, u9i_frame_magic, 8);
        u9i_set_be(bytes + 4096 + 64 * k + 56, 8, SIZE - 4096 - 64 * (k + 1));
    }
    make_log(at("log"), "m", 50);
    add(&i, bytes, SIZE);
    add_file(&i, segment_path(at("log"), 1));
    save_image(&i, at("image"));
    u9_carve_report r = carve(at("image"), &t);
    ck_assert_int_eq(r.gave_up, 1);
}
END_TEST

/* {F72} Headers in a row, behind none of which a frame stands: they and what they claim are read by the block. */
START_TEST(false_headers_cost_a_read_a_block)
{
    enum { SIZE = 1 << 20, HEADERS = SIZE / 2 / 64 };
    image i = {0};
    told t;
    static uint8_t bytes[SIZE];
    for (unsigned k = 0; k < HEADERS; k++) {
        memset(bytes + 64 * k, 0x20, 48);
        memcpy(bytes + 64 * k + 48, u9i_frame_magic, 8);
        u9i_set_be(bytes + 64 * k + 56, 8, SIZE / 2 - 4096);
    }
    make_log(at("log"), "m", 50);
    add_file(&i, segment_path(at("log"), 1));
    add(&i, bytes, SIZE);
    save_image(&i, at("image"));
    sim_forget_diary();
    (void)carve(at("image"), &t);
    ck_assert_uint_gt(t.last[0].records, 0);
    ck_assert_uint_lt(sim_count_of(SIM_READ, at("image")), HEADERS / 4);
}
END_TEST

static int stop_when_asked_often(void *ctx, uint64_t done, uint64_t of)
{
    ck_assert_uint_le(done, of);
    return ++*(unsigned *)ctx == 60;
}

/*
 * {F53} {F72} Copies of a frame's true header, one behind the other: for each the rest is looked for in front of the frame that
 * follows it, until that was enough; and it can be stopped on the way.
 */
START_TEST(many_headers_of_one_frame_cost_no_more_than_some_tries)
{
    enum { COPIES = 160 };
    image i = {0};
    size_t size;
    told t;
    unsigned asked = 0;
    u9_fault fault;
    u9_carve_report r;
    u9_carve_options o = {.on_progress = stop_when_asked_often, .ctx = &asked};
    seen_frame frames[64], f = {.length = 0};
    make_log(at("log"), "c", 18000);
    uint8_t *bytes = read_file(segment_path(at("log"), 1), &size);
    for (size_t k = list_frames(bytes, size, frames, 64); k-- > 0;) f = frames[k].length > f.length ? frames[k] : f;
    ck_assert_uint_gt(f.length, 50000);
    add(&i, bytes, size);
    for (unsigned k = 0; k < COPIES; k++) {
        add(&i, bytes + f.offset, 64);
        add_garbage(&i, 448);
    }
    for (unsigned n = 1; n <= segments_in(at("log")); n++) add_file(&i, segment_path(at("log"), n));
    free(bytes);
    save_image(&i, at("image"));
    ck_assert_int_eq(try_carve(at("out"), o, &r, &fault), U9_STATE);
    ck_assert_uint_eq(asked, 60);
    r = carve(at("image"), &t);
    expect_log(&t, at("log"));
    ck_assert_int_eq(r.gave_up, 1);
    ck_assert_uint_eq(r.broken, COPIES);
}
END_TEST

/* More boundaries than the first table has room for, and of each log whose first frame is gone the next one says what it is. */
START_TEST(many_segments_are_found_by_their_boundaries)
{
    enum { MANY = 45 };
    image i = {0};
    told t;
    forged_segment before = {0};
    for (unsigned k = 1; k <= MANY; k++) {
        forged_segment s = forge_begin(k, 7, k > 1 ? &before : NULL, U9I_TAIL_ROLLED);
        forge_records(&s, "many", 2);
        forge_end(&s, k < MANY ? U9I_END_SEALING : U9I_END_CLOSING);
        if (k > 1) forge_free(&before);
        before = s;
        size_t at_first = i.size + 32 + 64 + 5;
        add(&i, s.bytes, s.size);
        if (k % 3 == 1) i.bytes[at_first] ^= 1; /* its u9open */
        if (k == 7) memset(i.bytes + i.size - s.size, 0, 32); /* and its header: it is known by the next one alone */
    }
    forge_free(&before);
    save_image(&i, at("image"));
    u9_carve_report r = carve(at("image"), &t);
    ck_assert_uint_eq(r.segments, MANY);
    ck_assert_uint_eq(t.logs, 1);
    ck_assert_uint_eq(t.last[0].records, 2 * MANY);
}
END_TEST

static unsigned draw(unsigned n)
{
    noise = noise * 1664525 + 1013904223;
    return (noise >> 8) % n;
}

/* Of a piece of a file: a bit, a stretch, or what follows a magic. */
static void damage_piece(uint8_t *bytes, size_t n)
{
    size_t at = draw((unsigned)n), some = n - at < 60 ? n - at : 60;
    const uint8_t *magic = memmem(bytes, n, u9i_frame_magic, 6);
    switch (draw(5)) {
    case 0: bytes[at] ^= (uint8_t)(1u << draw(8)); break;
    case 1: memset(bytes + at, 0, some); break;
    case 2: memset(bytes + at, 0xee, some); break;
    case 3: if (magic && magic + 14 < bytes + n) bytes[magic + 8 + draw(6) - bytes] ^= 0x41; break; /* its length */
    case 4: if (magic && magic + 8 < bytes + n) bytes[magic + 6 + draw(2) - bytes] ^= 0x41; break;
    }
}

/* A file in pieces, most of them in order: some are lost, come twice, are damaged, or stand elsewhere. */
static void scatter(image images[3], const char *path)
{
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    unsigned where = draw(3), harm = draw(3); /* some files are whole */
    for (size_t from = 0, n; from < size; from += n) {
        size_t step = draw(4) ? 4096 : 512, most = size - from;
        n = step * (1 + draw(6));
        n = n < most ? n : most;
        if (harm > 0 && draw(12) == 0) continue;
        if (harm > 1 && draw(4) == 0) damage_piece(bytes + from, n);
        if (harm > 0 && draw(9) == 0) where = draw(3);
        if (harm > 0 && draw(6) == 0) add_garbage(&images[where], draw(2) ? 4096 : draw(700));
        add(&images[where], bytes + from, n);
        if (harm > 1 && draw(15) == 0) add(&images[where], bytes + from, n);
    }
    free(bytes);
}

static void scatter_log(image images[3], const char *log)
{
    size_t count;
    char **names = list_names(log, &count), path[512];
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", log, names[i]);
        if (draw(8)) scatter(images, path);
        free(names[i]);
    }
    free(names);
}

static bool was_written(const seen_record *r, seen *const *logs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < logs[i]->count; k++) {
            const seen_record *w = &logs[i]->records[k];
            if (w->ordinal == r->ordinal && w->size == r->size && memcmp(w->bytes, r->bytes, r->size) == 0) return true;
        }
    return false;
}

/* A log with indexes, and a copy that went on otherwise. */
static void make_forked(void)
{
    u9_index_report r = {.size = sizeof r};
    u9_index_options o = {.size = sizeof o, .io = sim_io()};
    make_log(at("one"), "one", 900);
    copy_log(at("one"), at("other"));
    session(at("one"), "on", 9, 2);
    session(at("other"), "off", 9, 2);
    ck_assert_int_eq(u9_indexes_build(at("one"), &o, &r, NULL), U9_OK);
}

/* {F65} [U-8] Copies of a segment that went on each by itself: each line is there; what is a part of another is not, twice. */
START_TEST(lines_of_one_segment_are_carved_apart)
{
    for (unsigned way = 0; way < 3; way++) {
        told t = {.logs = 0};
        session(at("log"), "m", 9, 2);
        copy_log(at("log"), at("copy"));
        copy_log(at("log"), at("third"));
        make_dir(at("pile"));
        sim_copy(segment_path(at("log"), 1), at("pile/older"));
        session(at("log"), "p", 5, 2);
        session(at("copy"), "q", 40, 3);
        session(at("third"), "r", 2, 2);
        sim_copy(segment_path(at("log"), 1), at(way == 1 ? "pile/z" : "pile/a"));
        sim_copy(segment_path(at("log"), 1), at("pile/same"));
        if (way > 0) sim_copy(segment_path(at("copy"), 1), at("pile/c"));
        if (way > 1) sim_copy(segment_path(at("third"), 1), at("pile/d"));
        carve(at("pile"), &t);
        ck_assert_uint_eq(t.logs, way + 1);
        static const char *const ends[] = {"", ".fork-2", ".fork-3"}, *const lasts[][3] = {{"p4"}, {"q39", "p4"}, {"q39", "p4", "r1"}};
        static const unsigned counts[][3] = {{14}, {49, 14}, {49, 14, 11}}; /* the longest counts */
        for (unsigned i = 0; i <= way; i++) {
            seen *s = look(t.paths[i]);
            ck_assert_msg(strlen(t.paths[i]) == strlen(at("out/")) + 32 + strlen(ends[i]) && strstr(t.paths[i], ends[i]), "%s", t.paths[i]);
            ck_assert_uint_eq(s->count, counts[way][i]);
            ck_assert(has_text(s, "m8") && has_text(s, lasts[way][i]));
            ck_assert_int_lt(s->report.verdict, U9_V_UNKNOWN);
            forget(s);
        }
        remove_log(at("log"));
        remove_log(at("copy"));
        remove_log(at("third"));
        remove_log(at("pile"));
        remove_log(at("out"));
    }
}
END_TEST

/* {F28} {F52} [U-6] [U-7] */
START_TEST(whatever_images_are_made_of_what_is_carved_was_written)
{
    seen *logs[2];
    size_t shown = 0, rejoined = 0;
    make_forked();
    logs[0] = look(at("one"));
    logs[1] = look(at("other"));
    for (unsigned round = 0; round < thorough(50, 2000); round++) {
        image images[3] = {{0}};
        told t = {.logs = 0};
        u9_carve_report report = {.size = sizeof report};
        u9_carve_options o = {.size = sizeof o, .io = sim_io(), .on_carved = on_carved, .ctx = &t};
        scatter_log(images, at("one"));
        scatter_log(images, at("other"));
        remove_log(at("out"));
        make_dir(at("images"));
        for (unsigned i = 0; i < 3; i++) {
            char name[20];
            snprintf(name, sizeof name, "images/%u", i);
            save_image(&images[i], at(name));
            if (draw(4) == 0) sim_spoil(at(name), 4096 * draw(20), 4096 * (20 + draw(3)), EIO, 1 + draw(20));
        }
        u9_err err = u9_carve(at("images"), at("out"), &o, &report, NULL);
        sim_clear();
        ck_assert_msg(err == U9_OK || err == U9_ABSENT || err == U9_IO, "round %u: %s", round, u9_err_name(err));
        rejoined += report.rejoined;
        for (unsigned i = 0; i < t.logs; i++) {
            seen *s = t.last[i].proven ? look(t.paths[i]) : NULL;
            for (size_t k = 0; s && k < s->count; k++)
                ck_assert_msg(was_written(&s->records[k], logs, 2), "round %u: record %zu of %s", round, k, t.paths[i]);
            shown += s ? s->count : 0;
            if (s) forget(s);
        }
    }
    ck_assert_uint_gt(shown, 500);
    ck_assert_uint_gt(rejoined, 10);
    forget(logs[0]);
    forget(logs[1]);
}
END_TEST

Suite *suite_carve(void)
{
    Suite *s = suite_create("carve");
    TCase *c = tcase_create("carve");
    tcase_set_timeout(c, 240);
    tcase_add_checked_fixture(c, fixture_setup_sim, fixture_teardown);
    tcase_add_test(c, what_is_cut_off_at_the_ends_of_a_file_hides_nothing);
    tcase_add_test(c, logs_in_garbage_at_any_offset_come_back_each_by_itself);
    tcase_add_test(c, a_directory_of_renamed_files_is_a_log_again);
    tcase_add_test(c, a_file_in_two_fragments_is_put_together_wherever_it_is_broken);
    tcase_add_test(c, a_file_in_many_fragments_in_any_order_is_put_together);
    tcase_add_test(c, a_lost_header_comes_from_its_copies_or_from_one_flipped_bit);
    tcase_add_test(c, without_any_secret_frames_are_carved_apart_and_said_to_be_unsigned);
    tcase_add_test(c, what_stands_inside_a_frame_is_no_log);
    tcase_add_test(c, what_stands_inside_a_broken_frame_is_of_no_log);
    tcase_add_test(c, of_two_frames_at_one_place_that_counts_which_others_follow);
    tcase_add_test(c, what_a_frame_holds_that_is_put_together_says_nothing);
    tcase_add_test(c, segments_that_claim_one_another_are_a_log);
    tcase_add_test(c, of_two_first_frames_the_one_that_is_followed_says_what_the_segment_is);
    tcase_add_test(c, copies_that_part_at_different_places_are_not_mixed);
    tcase_add_test(c, nothing_comes_between_two_frames_of_which_one_follows);
    tcase_add_test(c, what_leads_to_a_frame_that_counts_counts_beside_a_copy);
    tcase_add_test(c, no_more_lines_than_some_are_made_of_a_segment);
    tcase_add_test(c, a_last_frame_that_is_most_of_an_image_is_put_together);
    tcase_add_test(c, damaged_first_frames_are_put_together_and_are_their_logs);
    tcase_add_test(c, an_end_that_stands_in_another_log_counts_if_the_next_segment_names_it);
    tcase_add_test(c, a_disk_header_with_no_boundary_behind_it_is_none);
    tcase_add_test(c, nothing_is_made_of_nothing_and_nothing_is_overwritten);
    tcase_add_test(c, broken_off_at_any_call_it_is_completed_by_the_next);
    tcase_add_test(c, bytes_that_cannot_be_read_cost_what_they_touch);
    tcase_add_test(c, what_is_found_and_cannot_be_written_or_read_again_is_told);
    tcase_add_test(c, a_carving_is_stopped_when_asked_and_makes_no_logs_where_something_is);
    tcase_add_test(c, frames_that_say_what_cannot_be_are_none);
    tcase_add_test(c, half_a_frame_costs_no_more_than_itself);
    tcase_add_test(c, many_claims_cost_no_more_than_some_readings);
    tcase_add_test(c, false_headers_cost_a_read_a_block);
    tcase_add_loop_test(c, what_is_whole_in_many_extents_is_not_given_up, 0, 2);
    tcase_add_test(c, many_headers_of_one_frame_cost_no_more_than_some_tries);
    tcase_add_test(c, what_an_unfinished_log_holds_goes_with_the_next_call);
    tcase_add_test(c, many_segments_are_found_by_their_boundaries);
    tcase_add_test(c, lines_of_one_segment_are_carved_apart);
    tcase_add_test(c, whatever_images_are_made_of_what_is_carved_was_written);
    tcase_add_loop_test(c, a_frame_that_cannot_be_read_is_not_said_to_be_broken, 0, 2);
    suite_add_tcase(s, c);
    return s;
}
