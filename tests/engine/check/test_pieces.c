/*
 * tests/engine/check/test_pieces.c: a check by several threads finds what one reader from the start does, told in the
 * same order, wherever the log is cut; and it costs no more. Every log that a test looks at is checked in pieces, too:
 * tests/engine/fixture.c.
 */
#include "engine/check/checker.h"
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All that a check told, a line each. */
typedef struct told {
    char *text;
    size_t size;
    FILE *out;
    unsigned damages, stretches;
    unsigned stop_after; /* calls of on_progress; 0: never */
    u9_report report;
} told;

static void tell_damage(void *ctx, const u9_damage *d)
{
    told *t = ctx;
    t->damages++;
    fprintf(t->out,
            "damage %d %d %s %" PRIu64 " [%" PRIu64 ",%" PRIu64 ") %" PRIu64 " %" PRIu64 "\n",
            (int)d->verdict, (int)d->reason, d->path, d->segment, d->begin, d->end, d->ordinal,
            d->lost);
}

static void tell_key(FILE *out, const uint8_t *key, size_t size)
{
    for (size_t i = 0; i < size; i++) fprintf(out, "%02x", key[i]);
    putc(' ', out);
}

static void tell_stretch(void *ctx, const u9_stretch *s)
{
    told *t = ctx;
    t->stretches++;
    fprintf(t->out,
            "stretch %d %s %" PRIu64 "/%" PRIu64 " [%" PRIu64 ",%" PRIu64 ") %" PRIu64 " %" PRIu64
            " %" PRIu64 " %" PRIu64 " %" PRIu64 " ",
            (int)s->kind, s->path, s->segment, s->size, s->begin, s->end, s->ordinal, s->frames,
            s->records, s->first_time_us, s->last_time_us);
    tell_key(t->out, s->first_key, s->first_key_size);
    tell_key(t->out, s->last_key, s->last_key_size);
    putc('\n', t->out);
}

static int tell_progress(void *ctx, uint64_t done, uint64_t all)
{
    told *t = ctx;
    ck_assert_uint_le(done, all);
    return t->stop_after > 0 && --t->stop_after == 0;
}

static u9_err check(told *t, const char *log, uint64_t piece, unsigned threads)
{
    u9_check_options o = {.size = sizeof o,
                          .on_damage = tell_damage,
                          .on_stretch = tell_stretch,
                          .ctx = t,
                          .on_progress = tell_progress,
                          .io = io_of(log),
                          .threads = threads};
    t->out = open_memstream(&t->text, &t->size);
    t->report = (u9_report){.size = sizeof t->report};
    u9_err err = u9i_check_in_pieces(log, &o, piece, &t->report, NULL);
    fclose(t->out);
    return err;
}

/* Line by line: all of it is too long for a message. */
static void expect_text(char *text, const char *whole)
{
    for (size_t line = 0; *text || *whole; line++) {
        size_t n = strcspn(text, "\n"), m = strcspn(whole, "\n");
        if (n != m || memcmp(text, whole, n) != 0)
            ck_abort_msg("line %zu: %.*s\ninstead of %.*s", line, (int)(n < 300 ? n : 300), text,
                         (int)(m < 300 ? m : 300), whole);
        text += n + (text[n] != 0);
        whole += m + (whole[m] != 0);
    }
}

/* In pieces of many sizes, by one thread and by three. Returns how much was told. */
static told expect_alike(const char *log)
{
    told whole = {0};
    ck_assert_int_eq(check(&whole, log, 0, 0), U9_OK);
    for (uint64_t piece = 4096; piece <= 300000; piece += piece / 2 / 4096 * 4096 + 4096)
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            told t = {0};
            ck_assert_int_eq(check(&t, log, piece, threads), U9_OK);
            expect_text(t.text, whole.text);
            ck_assert_mem_eq(&t.report, &whole.report, sizeof t.report);
            free(t.text);
        }
    free(whole.text);
    return whole;
}

/* Several segments of 64 KiB, and frames of all sizes. */
static void make_log(const char *log)
{
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    for (unsigned i = 0; i < 40; i++)
        append_many(w, "record ", 1 + i * 7 % 300, i % 5 == 0 ? 9 : 0);
    close_log(w);
    ck_assert_uint_gt(segments_in(log), 2);
}

START_TEST(a_whole_log_is_told_alike_wherever_it_is_cut)
{
    make_log(at("log"));
    told t = expect_alike(at("log"));
    ck_assert_uint_eq(t.damages, 0);
    ck_assert_uint_ge(t.stretches, 2 * (segments_in(at("log")) -
                                        1)); /* frames, and what stands behind each end */
    ck_assert_int_eq(t.report.verdict, U9_V_CLEAN);
}
END_TEST

/* Bits flipped, stretches of zeros and of noise, files gone, at places drawn from a seed. */
/* Without a size that is given they become smaller towards the end. */
START_TEST(a_log_of_many_megabytes_is_told_alike_by_any_number_of_threads)
{
    static uint8_t bytes[60000];
    static const unsigned threads[] = {1, 2, 3, 8};
    told whole = {0};
    u9_options o = small_options();
    o.segment_size = _i ? 1 << 20 : 64 << 20;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < 250; i++) {
        memset(bytes, (int)i, sizeof bytes);
        append_bytes(w, bytes, sizeof bytes);
        if (i % 10 == 0) append_many(w, "short ", 300, 0);
    }
    close_log(w);
    for (uint64_t segment = segments_in(at("log")), i = 0; i < 4; i++)
        flip_bit(segment_path(at("log"), 1 + segment * i / 4), 300000 + i * (_i ? 1000 : 3700000), 1);
    ck_assert_int_eq(check(&whole, at("log"), 0, 0), U9_OK);
    ck_assert_uint_ge(whole.damages, 4);
    for (unsigned k = 0; k < sizeof threads / sizeof *threads; k++) {
        told t = {0};
        ck_assert_int_eq(check(&t, at("log"), 0, threads[k]), U9_OK);
        expect_text(t.text, whole.text);
        ck_assert_mem_eq(&t.report, &whole.report, sizeof t.report);
        free(t.text);
    }
    free(whole.text);
}
END_TEST

START_TEST(a_damaged_log_is_told_alike_wherever_it_is_cut)
{
    unsigned damaged = 0;
    srand(7);
    make_log(at("good"));
    for (unsigned round = 0; round < 24; round++) {
        const char *log = at("log");
        remove_log(log);
        copy_log(at("good"), log);
        if (round % 3 == 0) remove_mark(log);
        for (unsigned n = 1 + round % 6; n > 0; n--) {
            const char *path = segment_path(log, 1 + (unsigned)rand() % segments_in(log));
            if (!exists(path)) continue;
            uint64_t size = file_size(path), offset = (uint64_t)rand() % size;
            switch (rand() % 5) {
            case 0: fill_bytes(path, offset, offset + 9000 < size ? 9000 : size - offset, 0); break;
            case 1:
                fill_bytes(path, offset, offset + 300 < size ? 300 : size - offset, 0xa5);
                break;
            case 2:
                if (round % 4 == 0) remove_log(path);
                break;
            default: flip_bit(path, offset, (unsigned)rand() % 8); break;
            }
        }
        damaged += expect_alike(log).damages > 0;
    }
    ck_assert_uint_gt(damaged, 12);
}
END_TEST

/* More than a piece holds back. */
static void make_much_damaged(const char *log)
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (unsigned i = 0; i < 900; i++) forge_records(&f, "r", 1);
    forge_promise(&f);
    forge_pad(&f);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    static seen_frame frames[1000];
    size_t count = list_frames(f.bytes, f.size, frames, 1000);
    ck_assert_uint_gt(count, 900);
    for (size_t i = 3; i + 3 < count; i += 2)
        flip_bit(segment_path(log, 1), frames[i].offset + 70, 0);
    forge_free(&f);
}

/* A piece waits for its turn, and nothing is out of order. */
START_TEST(each_of_many_damages_is_told_once_and_in_order)
{
    make_much_damaged(at("log"));
    told t = expect_alike(at("log"));
    ck_assert_uint_gt(t.damages, 400);
}
END_TEST

/* {F51} Records that cannot be read, in frames that are whole: told behind what stands in front, wherever a piece begins. */
START_TEST(what_a_piece_begins_with_may_be_damage)
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    static uint8_t body[3000];
    memset(body, 0xff, sizeof body);
    unsigned bad = 0;
    for (unsigned i = 0; i < 100; i++) {
        for (unsigned k = i % 3; k > 0; k--) forge_records(&f, "record ", 100);
        (void)forge_frame(&f, body, sizeof body - 12 * i, 1), bad++;
    }
    forge_promise(&f);
    forge_pad(&f);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, at("log"));
    told t = expect_alike(at("log"));
    ck_assert_uint_eq(t.damages, bad);
    forge_free(&f);
}
END_TEST

/* A stop that is asked for comes through from all threads, and leaves nothing open. */
START_TEST(a_check_in_pieces_can_be_stopped)
{
    make_log(at("log"));
    for (unsigned after = 1; after < 4; after++) {
        told t = {.stop_after = after};
        u9_err err = check(&t, at("log"), 8192, 3);
        ck_assert(err == U9_STATE ||
                  (err == U9_OK && t.stop_after > 0)); /* it was told less often than that */
        free(t.text);
        if (after == 1) ck_assert_int_eq(err, U9_STATE);
    }
}
END_TEST

static uint64_t bytes_of_check(const char *log, uint64_t piece)
{
    told t = {0};
    sim_forget_diary();
    ck_assert_int_eq(check(&t, log, piece, 2), U9_OK);
    free(t.text);
    return sim_bytes(SIM_READ) + sim_bytes(SIM_MAP);
}

/*
 * Nothing promised what stands in front of its u9end: who begins in the midst of it must first go over all in front. It
 * is not cut, and costs what it costs from the start.
 */
START_TEST(a_segment_that_was_not_promised_is_read_once)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (unsigned i = 0; i < 2000; i++) forge_records(&f, "record ", 3);
    memset(f.bytes + f.size, 0xee,
           64); /* behind the last frame that was promised, in front of the u9end */
    f.size += 64;
    forge_pad(&f);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    ck_assert_uint_le(bytes_of_check(log, 8192), 2 * bytes_of_check(log, 0));
    (void)expect_alike(log);
    forge_free(&f);
}
END_TEST

/* What is cut and damaged nearly everywhere is not read for each piece anew. */
START_TEST(a_log_that_is_damaged_all_over_is_not_read_for_each_piece)
{
    const char *log = at("log");
    make_log(log);
    for (unsigned n = 1; n <= segments_in(log); n++)
        for (uint64_t p = 5000; p < file_size(segment_path(log, n)); p += 3000)
            flip_bit(segment_path(log, n), p, 3);
    ck_assert_uint_le(bytes_of_check(log, 65536), 3 * bytes_of_check(log, 0));
}
END_TEST

static uint32_t drawn;

static unsigned draw(unsigned n)
{
    drawn = drawn * 1664525 + 1013904223;
    return (drawn >> 8) % n;
}

static void harm(const char *log)
{
    unsigned n = segments_in(log);
    const char *path = segment_path(log, 1 + draw(n));
    if (!exists(path) || file_size(path) < 9000) return;
    uint64_t size = file_size(path), at_byte = draw((unsigned)size - 4096);
    switch (draw(10)) {
    case 0:
    case 1: flip_bit(path, at_byte, draw(8)); break;
    case 2: fill_bytes(path, at_byte, 1 + draw(4096), 0); break;
    case 3: fill_bytes(path, at_byte / 4096 * 4096, 4096, 0xee); break;
    case 4: cut_file(path, at_byte); break;
    case 5: remove_log(path); break;
    case 6: sim_copy(path, segment_path(log, n + 1 + draw(3))); break;
    case 7: remove_mark(log); break;
    case 8: fill_bytes(path, 32 + 64, 10, 0xee); break; /* its u9open */
    case 9: sim_spoil(path, at_byte / 4096 * 4096, at_byte / 4096 * 4096 + 4096, EIO, 0); break;
    }
}

/* Of records of all sizes, one of them in parts; trimmed, or not; closed, or not. */
static void make_any(const char *log)
{
    static uint8_t piece[1 << 20];
    u9_append *a;
    uint8_t head[9];
    size_t n = u9_value_head(U9_BYTES, sizeof piece + 300000, head);
    u9_options o = small_options();
    u9_log *w = open_writer(log, &o);
    for (unsigned i = 0; i < 12; i++) append_many(w, "record ", 1 + draw(300), draw(2) * 9);
    if (draw(2)) {
        ck_assert_int_eq(u9_append_begin(w, NULL, 1, n + sizeof piece + 300000, &a, NULL), U9_OK);
        ck_assert_int_eq(u9_append_write(a, head, n), U9_OK);
        ck_assert_int_eq(u9_append_write(a, piece, sizeof piece), U9_OK);
        ck_assert_int_eq(u9_append_write(a, piece, 300000), U9_OK);
        ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
        append_many(w, "behind ", 50, 9);
    }
    if (draw(3)) close_log(w);
    else crash(w, log);
}

START_TEST(whatever_a_log_went_through_is_told_alike)
{
    drawn = (uint32_t)_i;
    for (unsigned round = 0; round < thorough(4, 100); round++) {
        remove_log(at("log"));
        make_any(at("log"));
        for (unsigned k = draw(4); k > 0; k--) harm(at("log"));
        told whole = {0}, t = {0};
        if (check(&whole, at("log"), 0, 0) == U9_OK) {
            uint64_t size = 4096 * (1 + (uint64_t)draw(20));
            ck_assert_int_eq(check(&t, at("log"), size, 1 + 2 * draw(2)), U9_OK);
            expect_text(t.text, whole.text);
            ck_assert_mem_eq(&t.report, &whole.report, sizeof t.report);
        }
        sim_clear();
        free(whole.text);
        free(t.text);
    }
}
END_TEST

static int pass_time(void *ctx, uint64_t done, uint64_t all)
{
    sim_advance(60000); /* so that it is asked each time */
    return tell_progress(ctx, done, all);
}

/* Without a fault to be filled, too. */
START_TEST(a_check_in_pieces_ends_at_any_step)
{
    make_much_damaged(at("log"));
    static const uint64_t sizes[] = {0, 20000, 1 << 20};
    for (unsigned p = 0; p < sizeof sizes / sizeof *sizes; p++) {
        u9_err err = U9_STATE;
        for (unsigned stop = 1; err != U9_OK; stop += 1 + stop / 8) {
            told t = {.stop_after = stop};
            u9_report r = {.size = sizeof r};
            u9_check_options o = {.size = sizeof o, .on_progress = pass_time, .ctx = &t, .io = io_of(at("log"))};
            err = u9i_check_in_pieces(at("log"), &o, sizes[p], &r, NULL);
            ck_assert(err == U9_OK || err == U9_STATE);
        }
        err = U9_IO;
        for (unsigned nth = 1; err != U9_OK; nth += 1 + nth / 8) {
            u9_report r = {.size = sizeof r};
            u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
            sim_fail(SIM_READ, nth, ENXIO, true);
            err = u9i_check_in_pieces(at("log"), &o, sizes[p], &r, NULL);
            sim_mend();
            ck_assert(err == U9_OK || err == U9_IO);
        }
    }
}
END_TEST

Suite *suite_pieces(void)
{
    Suite *s = suite_create("pieces");
    TCase *t = tcase_create("disk"), *sim = tcase_create("sim");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_whole_log_is_told_alike_wherever_it_is_cut);
    tcase_add_test(t, a_damaged_log_is_told_alike_wherever_it_is_cut);
    tcase_add_loop_test(t, a_log_of_many_megabytes_is_told_alike_by_any_number_of_threads, 0, 2);
    tcase_add_test(t, each_of_many_damages_is_told_once_and_in_order);
    tcase_add_test(t, what_a_piece_begins_with_may_be_damage);
    tcase_add_test(t, a_check_in_pieces_can_be_stopped);
    tcase_add_checked_fixture(sim, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(sim, 120);
    tcase_add_test(sim, a_segment_that_was_not_promised_is_read_once);
    tcase_add_test(sim, a_log_that_is_damaged_all_over_is_not_read_for_each_piece);
    tcase_add_loop_test(sim, whatever_a_log_went_through_is_told_alike, 0, 6);
    tcase_add_test(sim, a_check_in_pieces_ends_at_any_step);
    suite_add_tcase(s, t);
    suite_add_tcase(s, sim);
    return s;
}
