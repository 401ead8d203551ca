/*
 * tests/engine/check/test_in_place.c: mending a log in place, and undoing that. [U-1] [U-2] [U-3] [U-4] [U-5] (F20, F22, F28, F71)
 *
 * Each test keeps the files of a whole log, damages them, and expects the very bytes back; and the damaged ones from
 * an undo. On the simulated disk, where each call can fail and the power be cut behind it.
 */
#include "engine/check/heal.h"
#include "engine/check/judged.h"
#include "engine/check/plan.h"
#include "engine/os/overlay.h"
#include "format/base/bytes.h"
#include "tests/engine/fixture.h"
#include "tests/plain_file.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static u9_err run_repair(const char *log, u9_repair_options o, u9_repair_report *report, u9_fault *fault)
{
    *report = (u9_repair_report){.size = sizeof *report};
    o.size = sizeof o;
    o.io = io_of(log);
    return u9_repair(log, &o, report, fault);
}

static u9_repair_report repair(const char *log, u9_repair_options o)
{
    u9_repair_report report;
    u9_fault fault;
    char line[1024];
    u9_err err = run_repair(log, o, &report, &fault);
    ck_assert_msg(err == U9_OK, "%s", u9_fault_line(&fault, line, sizeof line));
    return report;
}

static uint64_t undo(const char *log)
{
    u9_fault fault;
    char line[1024];
    uint64_t steps = 0;
    u9_err err = u9_undo(log, io_of(log), 0, &steps, &fault);
    ck_assert_msg(err == U9_OK, "%s", u9_fault_line(&fault, line, sizeof line));
    return steps;
}

/* Three sessions in three segments, as the mark of each is there no more; closed. */
static void make_log(const char *log)
{
    u9_options o = small_options();
    for (unsigned i = 0; i < 3; i++) {
        u9_log *w = open_writer(log, &o);
        append_many(w, "a", 20, 7);
        crash(w, log);
    }
    session(log, "last", 5, 2);
    ck_assert_uint_ge(segments_in(log), 3);
}

static void expect_same_file(const char *a, const char *b)
{
    size_t an, bn;
    uint8_t *x = read_file(a, &an), *y = read_file(b, &bn);
    ck_assert_uint_eq(an, bn);
    ck_assert_mem_eq(x, y, an);
    free(x);
    free(y);
}

static void copy_file_bytes(const char *from, const char *to)
{
    size_t n;
    uint8_t *bytes = read_file(from, &n);
    write_file(to, bytes, n);
    free(bytes);
}

/* The segments of both logs are the same, names and bytes. */
static void expect_same_segments(const char *a, const char *b)
{
    size_t count;
    char path[2][512], **names = list_names(a, &count);
    ck_assert_uint_eq(segments_in(a), segments_in(b));
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(names[i]);
        for (unsigned k = 0; k < 2; k++) snprintf(path[k], sizeof path[k], "%s/%s", k ? b : a, names[i]);
        if (n > 3 && strcmp(names[i] + n - 3, ".u9") == 0) expect_same_file(path[0], path[1]);
        free(names[i]);
    }
    free(names);
}

/* All of it is on stable storage, as it stands. */
static void settle(const char *log)
{
    size_t count, size;
    char path[512], **names = list_names(log, &count);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", log, names[i]);
        uint8_t *bytes = read_file(path, &size);
        sim_remove(path);
        write_file(path, bytes, size);
        free(bytes);
        free(names[i]);
    }
    free(names);
}

typedef void damage_fn(const char *log);

static void break_magic(const char *log)
{
    flip_bit(segment_path(log, 1), 3, 5);
}

/* Its last byte: the frames are of this version all the same. [H-4] */
static void break_version(const char *log)
{
    flip_bit(segment_path(log, 2), 7, 1);
}

static void break_zeros_of_header(const char *log)
{
    flip_bit(segment_path(log, 2), 27, 0);
}

static void flip_secret(const char *log)
{
    flip_bit(segment_path(log, 2), 8 + 11, 6);
}

/* Its copy stands in the u9open of the next segment. */
static void lose_header(const char *log)
{
    fill_bytes(segment_path(log, 1), 0, 32, 0xa5);
}

/* Its copy stands in the u9end of its own last block. */
static void lose_last_header(const char *log)
{
    fill_bytes(segment_path(log, segments_in(log)), 0, 32, 0x5a);
}

static void swap_names(const char *log)
{
    char aside[512];
    snprintf(aside, sizeof aside, "%s/aside", log);
    move_file(segment_path(log, 1), aside);
    move_file(segment_path(log, 2), segment_path(log, 1));
    move_file(aside, segment_path(log, 2));
}

static void rename_away(const char *log)
{
    move_file(segment_path(log, 2), segment_path(log, 0x77));
}

enum { FRAMES_MAX = 64 };

/* The first frame of segment 1 with padding, and the bytes in front of a block at which a frame begins. */
static void soil_padding(const char *log)
{
    seen_frame frames[FRAMES_MAX];
    size_t count = frames_in(segment_path(log, 1), frames, FRAMES_MAX), soiled = 0;
    for (size_t i = 0; i < count && soiled < 3; i++) {
        if (frames[i].length % 16 == 0) continue;
        put_bytes(segment_path(log, 1), frames[i].end - 1, "x", 1);
        soiled++;
    }
    ck_assert_uint_gt(soiled, 0);
}

static void soil_fill(const char *log)
{
    seen_frame frames[FRAMES_MAX];
    size_t count = frames_in(segment_path(log, 1), frames, FRAMES_MAX), soiled = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        if (frames[i].end + 8 >= frames[i + 1].offset) continue;
        put_bytes(segment_path(log, 1), frames[i].end + 3, "soil", 4);
        soiled++;
    }
    ck_assert_uint_gt(soiled, 0);
}

/* One bit of a payload; the record is lost for readers. */
static void flip_payload(const char *log)
{
    seen_frame frames[FRAMES_MAX];
    size_t count = frames_in(segment_path(log, 1), frames, FRAMES_MAX), at = 1;
    while (at < count && frames[at].count == 0) at++;
    ck_assert_uint_lt(at, count);
    flip_bit(segment_path(log, 1), frames[at].offset + 64 + 5, 2);
}

/* The nth frame with records of segment 1: a bit of each of its header's fields, or of its trailer. */
static void flip_in_frame(const char *log, unsigned nth, uint64_t at, unsigned bit)
{
    seen_frame frames[FRAMES_MAX];
    size_t count = frames_in(segment_path(log, 1), frames, FRAMES_MAX), i = 0;
    for (; i < count; i++)
        if (frames[i].count > 0 && nth-- == 0) break;
    ck_assert_uint_lt(i, count);
    flip_bit(segment_path(log, 1), frames[i].offset + (at < 64 ? at : at - 64 + 64 + frames[i].length - 80), bit);
}

static void flip_boundary(const char *log) { flip_in_frame(log, 1, 7, 3); }
static void flip_sha(const char *log) { flip_in_frame(log, 1, 20, 0); }
static void flip_signature(const char *log) { flip_in_frame(log, 1, 40, 7); }
static void flip_magic(const char *log) { flip_in_frame(log, 1, 50, 1); }
static void flip_length(const char *log) { flip_in_frame(log, 1, 63, 4); }
static void flip_trailer(const char *log) { flip_in_frame(log, 1, 64 + 20, 5); }
static void flip_first_open(const char *log) { flip_bit(segment_path(log, 2), 32 + 45, 2); }

static void wipe_header(const char *log)
{
    size_t size;
    seen_frame frames[64];
    uint8_t *bytes = read_file(segment_path(log, 1), &size);
    size_t count = list_frames(bytes, size, frames, 64);
    free(bytes);
    fill_bytes(segment_path(log, 1), frames[count - 2].offset, 64, 0xee);
}

/* Of the last segment, whose end the mark knows: the last two frames, the u9end among them. */
static void flip_last_headers(const char *log)
{
    size_t size;
    seen_frame frames[64];
    const char *path = segment_path(log, segments_in(log));
    uint8_t *bytes = read_file(path, &size);
    size_t count = list_frames(bytes, size, frames, 64);
    free(bytes);
    ck_assert_uint_gt(count, 2);
    flip_bit(path, frames[count - 1].offset + 20, 2);
    flip_bit(path, frames[count - 2].offset + 20, 2);
}

/* All that is cheap to find, for tests that do it hundreds of times. */
static void break_most(const char *log)
{
    soil_padding(log);
    soil_fill(log);
    break_magic(log);
    flip_secret(log);
    swap_names(log);
}

static void break_all(const char *log)
{
    soil_padding(log);
    soil_fill(log);
    flip_in_frame(log, 1, 60, 4);
    flip_payload(log);
    break_magic(log);
    flip_secret(log);
    swap_names(log);
}

static const struct damage_case {
    damage_fn *break_it;
    bool all;
} cases[] = {{break_magic, false}, {break_zeros_of_header, false}, {flip_secret, false}, {lose_header, false},
             {lose_last_header, false}, {swap_names, false}, {rename_away, false}, {soil_padding, false},
             {soil_fill, false}, {flip_payload, true}, {flip_boundary, true}, {flip_sha, true},
             {flip_signature, true}, {flip_magic, true}, {flip_length, true}, {flip_trailer, true},
             {flip_first_open, true}, {wipe_header, true}, {flip_last_headers, true}, {break_all, true},
             {break_version, false}, {break_most, false}};

static u9_repair_options options_of(const struct damage_case *c)
{
    return (u9_repair_options){.all = c->all, .heal_ms = c->all ? 1000000 : 0};
}

/* {F20} {F22} */
START_TEST(what_is_proven_comes_back_byte_for_byte_and_an_undo_takes_it_back)
{
    const struct damage_case *c = &cases[_i];
    uint8_t damaged[16], undone[16];
    make_log(at("log"));
    copy_log(at("log"), at("whole"));
    c->break_it(at("log"));
    picture(at("log"), damaged);
    u9_repair_report r = repair(at("log"), options_of(c));
    ck_assert_uint_gt(r.steps, 0);
    ck_assert_uint_eq(r.left, 0);
    ck_assert_str_eq(r.saved, ".repair-1");
    expect_same_segments(at("log"), at("whole"));
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, r.records + r.regained);
    forget(s);
    ck_assert_uint_eq(repair(at("log"), options_of(c)).steps, 0); /* nothing is left to be mended */
    ck_assert_uint_eq(undo(at("log")), r.steps);
    picture(at("log"), undone);
    ck_assert_mem_eq(damaged, undone, sizeof damaged);
}
END_TEST

/* {F20} A frame of the index of a sealed segment, behind the end that the next segment names. */
START_TEST(the_header_of_an_index_frame_comes_back)
{
    static const uint8_t value[3000];
    size_t size;
    seen_frame frames[64];
    u9_options o = small_options();
    o.segment_size = 65536;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < 60; i++) append_bytes(w, value, sizeof value);
    close_log(w);
    ck_assert_uint_ge(segments_in(at("log")), 3);
    const char *path = segment_path(at("log"), 2);
    uint8_t *bytes = read_file(path, &size);
    size_t count = list_frames(bytes, size, frames, 64);
    free(bytes);
    copy_log(at("log"), at("whole"));
    flip_bit(path, frames[count - 2].offset + 20, 2); /* in front of the u9end */
    ck_assert_uint_eq(frames[count - 2].count, 0);
    ck_assert_uint_eq(repair(at("log"), (u9_repair_options){.all = 1}).steps, 1);
    expect_same_segments(at("log"), at("whole"));
}
END_TEST

/* A sealed segment, and of the frames behind its data the first: pages, root, u9end. */
static size_t make_sealed_log(const char *log, seen_frame *frames, size_t max, size_t *first)
{
    static const uint8_t value[3000];
    u9_options o = small_options();
    o.segment_size = 65536;
    u9_log *w = open_writer(log, &o);
    for (unsigned i = 0; i < 60; i++) append_bytes(w, value, sizeof value);
    close_log(w);
    ck_assert_uint_ge(segments_in(log), 3);
    size_t count = frames_in(segment_path(log, 2), frames, max);
    *first = count;
    while (*first > 0 && frames[*first - 1].count == 0) --*first;
    ck_assert_uint_ge(count - *first, 3);
    return count;
}

/* What is done to one of them. */
typedef enum seal_harm { SPARED, MENDABLE, BEYOND_MENDING, WIPED_OUT, FILL_SOILED } seal_harm;

static void harm_seal(const char *path, const seen_frame *f, uint64_t before, seal_harm harm)
{
    if (harm == MENDABLE) flip_bit(path, f->offset + 20, 2);
    if (harm == BEYOND_MENDING || harm == WIPED_OUT) flip_bit(path, f->offset + 64 + 7, 3);
    if (harm == WIPED_OUT) fill_bytes(path, f->offset, 64, 0xee);
    if (harm == WIPED_OUT) fill_bytes(path, f->end - 96, 80, 0xee);
    if (harm == FILL_SOILED) put_bytes(path, before + 16, "soil", 4);
}

/*
 * {F20} [U-4] Behind a named end one repair mends all, or makes all zeros that stands from there on: a second one finds
 * nothing, and nobody tells of anything.
 */
START_TEST(what_is_damaged_behind_a_named_end_takes_one_repair)
{
    static const struct {
        seal_harm page, root, end;
        bool whole; /* all of it can be put back */
    } ways[] = {{MENDABLE, MENDABLE, MENDABLE, true},
                {BEYOND_MENDING, SPARED, SPARED, false},
                {WIPED_OUT, SPARED, SPARED, false},
                {SPARED, BEYOND_MENDING, SPARED, false},
                {SPARED, SPARED, WIPED_OUT, false},
                {BEYOND_MENDING, BEYOND_MENDING, BEYOND_MENDING, false},
                {WIPED_OUT, WIPED_OUT, SPARED, false},
                {MENDABLE, BEYOND_MENDING, MENDABLE, false},
                {BEYOND_MENDING, MENDABLE, MENDABLE, false},
                {FILL_SOILED, SPARED, SPARED, true},
                {FILL_SOILED, BEYOND_MENDING, MENDABLE, false},
                {FILL_SOILED, MENDABLE, SPARED, true}};
    seen_frame frames[64];
    size_t first;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        uint8_t damaged[16], undone[16];
        remove_log(at("log"));
        remove_log(at("whole"));
        size_t count = make_sealed_log(at("log"), frames, 64, &first);
        const char *path = segment_path(at("log"), 2);
        copy_log(at("log"), at("whole"));
        harm_seal(path, &frames[first], frames[first - 1].end, ways[i].page);
        harm_seal(path, &frames[count - 2], frames[count - 3].end, ways[i].root);
        harm_seal(path, &frames[count - 1], frames[count - 2].end, ways[i].end);
        picture(at("log"), damaged);
        u9_repair_report r = repair(at("log"), (u9_repair_options){.all = 1});
        ck_assert_msg(r.steps > 0 && r.then == U9_V_CLEAN, "way %zu: %d", i, r.then);
        if (ways[i].whole) expect_same_segments(at("log"), at("whole"));
        seen *s = look(at("log"));
        ck_assert_msg(s->report.verdict == U9_V_CLEAN && s->count == 60, "way %zu: %d", i, s->report.verdict);
        forget(s);
        ck_assert_msg(repair(at("log"), (u9_repair_options){.all = 1}).steps == 0, "way %zu", i);
        undo(at("log"));
        picture(at("log"), undone);
        ck_assert_msg(memcmp(damaged, undone, sizeof damaged) == 0, "way %zu", i);
    }
}
END_TEST

/* As often as it takes, as a person would; each time by a process of its own. */
static void repair_until_done(const char *log, u9_repair_options o)
{
    (void)repair(log, o);
}

/* {F63} */
START_TEST(broken_off_at_any_call_it_goes_on_where_it_stood)
{
    const struct damage_case *c = &cases[sizeof cases / sizeof *cases - 1];
    uint8_t damaged[16], undone[16];
    u9_repair_report r;
    unsigned failed = 0;
    make_log(at("whole"));
    copy_log(at("whole"), at("damaged"));
    c->break_it(at("damaged"));
    picture(at("damaged"), damaged);
    for (unsigned nth = 1; nth < 2000; nth++) {
        remove_log(at("log"));
        copy_log(at("damaged"), at("log"));
        sim_fail(SIM_ANY, nth, EIO, true);
        u9_err err = run_repair(at("log"), options_of(c), &r, NULL);
        sim_mend();
        repair_until_done(at("log"), options_of(c));
        expect_same_segments(at("log"), at("whole"));
        undo(at("log"));
        picture(at("log"), undone);
        ck_assert_msg(memcmp(damaged, undone, sizeof damaged) == 0, "call %u", nth);
        failed += err != U9_OK;
        if (err == U9_OK && nth > failed + 20) break;
    }
    ck_assert_uint_gt(failed, 50);
}
END_TEST

START_TEST(an_undo_that_is_broken_off_at_any_call_goes_on_where_it_stood)
{
    const struct damage_case *c = &cases[sizeof cases / sizeof *cases - 1];
    uint8_t damaged[16], undone[16];
    unsigned failed = 0;
    make_log(at("mended"));
    c->break_it(at("mended"));
    picture(at("mended"), damaged);
    (void)repair(at("mended"), options_of(c));
    for (unsigned nth = 1;; nth++) {
        remove_log(at("log"));
        copy_log(at("mended"), at("log"));
        sim_fail(SIM_ANY, nth, EIO, true);
        u9_err err = u9_undo(at("log"), sim_io(), 0, NULL, NULL);
        sim_mend();
        if (err == U9_OK) break;
        failed++;
        err = u9_undo(at("log"), sim_io(), 0, NULL, NULL);
        ck_assert_msg(err == U9_OK || err == U9_ABSENT, "call %u: %d", nth, err);
        picture(at("log"), undone);
        ck_assert_msg(memcmp(damaged, undone, sizeof damaged) == 0, "call %u", nth);
    }
    ck_assert_uint_gt(failed, 30);
}
END_TEST

/* {F63} */
START_TEST(the_power_goes_at_any_call_and_it_goes_on_where_it_stood)
{
    const struct damage_case *c = &cases[sizeof cases / sizeof *cases - 1];
    uint8_t damaged[16], undone[16];
    u9_repair_report r;
    unsigned cut = 0;
    make_log(at("whole"));
    copy_log(at("whole"), at("damaged"));
    c->break_it(at("damaged"));
    picture(at("damaged"), damaged);
    settle(at("whole"));
    settle(at("damaged"));
    for (unsigned nth = 1;; nth++) {
        remove_log(at("log"));
        copy_log(at("damaged"), at("log"));
        unsigned deaths = sim_deaths();
        sim_lose_power_at(nth);
        (void)!run_repair(at("log"), options_of(c), &r, NULL);
        bool over = sim_deaths() == deaths;
        sim_lose_power_at(0);
        if (over) break;
        cut++;
        repair_until_done(at("log"), options_of(c));
        expect_same_segments(at("log"), at("whole"));
        undo(at("log"));
        picture(at("log"), undone);
        ck_assert_msg(memcmp(damaged, undone, sizeof damaged) == 0, "call %u", nth);
    }
    ck_assert_uint_gt(cut, 50);
}
END_TEST

START_TEST(a_dry_run_changes_nothing_and_says_the_same)
{
    uint8_t before[16], after[16];
    make_log(at("log"));
    break_all(at("log"));
    picture(at("log"), before);
    u9_repair_report dry = repair(at("log"), (u9_repair_options){.dry = 1, .all = 1, .heal_ms = 1000000, .indexes = 1});
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, sizeof before);
    ck_assert_str_eq(dry.saved, "");
    u9_repair_report wet = repair(at("log"), (u9_repair_options){.all = 1, .heal_ms = 1000000});
    ck_assert_uint_eq(dry.steps, wet.steps);
    ck_assert_uint_eq(dry.regained, wet.regained);
}
END_TEST

START_TEST(without_all_nothing_comes_back_and_what_is_left_is_counted)
{
    make_log(at("log"));
    flip_payload(at("log"));
    break_magic(at("log"));
    u9_repair_report r = repair(at("log"), (u9_repair_options){.heal_ms = 1000000});
    ck_assert_uint_eq(r.steps, 1);
    ck_assert_uint_eq(r.left, 1);
    ck_assert_uint_eq(r.regained, 0);
    r = repair(at("log"), (u9_repair_options){.all = 1, .heal_ms = 1000000});
    ck_assert_uint_eq(r.steps, 1);
    ck_assert_uint_gt(r.regained, 0);
    ck_assert_str_eq(r.saved, ".repair-2");
    undo(at("log"));
    undo(at("log"));
    u9_fault fault;
    ck_assert_int_eq(u9_undo(at("log"), sim_io(), 0, NULL, &fault), U9_ABSENT);
}
END_TEST

static int stop_search(void *ctx, uint64_t ms, uint64_t of_ms)
{
    ++*(unsigned *)ctx;
    ck_assert_uint_le(ms, of_ms);
    return 1;
}

START_TEST(a_search_that_is_told_to_stop_changes_nothing)
{
    uint8_t before[16], after[16];
    unsigned asked = 0;
    u9_fault fault;
    u9_repair_report r = {.size = sizeof r};
    make_log(at("log"));
    break_magic(at("log")); /* this would be mended without a search */
    flip_payload(at("log"));
    picture(at("log"), before);
    u9_repair_options o = {.all = 1, .heal_ms = 1000000, .on_progress = stop_search, .ctx = &asked};
    ck_assert_int_eq(run_repair(at("log"), o, &r, &fault), U9_STATE);
    ck_assert_uint_eq(asked, 1);
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, sizeof before);
    o.io = io_of(at("log"));
    o.size = offsetof(u9_repair_options, on_progress); /* of a host that knows of no such thing */
    ck_assert_int_eq(u9_repair(at("log"), &o, &r, &fault), U9_OK);
    ck_assert_uint_eq(asked, 1);
    ck_assert_uint_eq(r.steps, 2);
}
END_TEST

static int let_time_pass(void *ctx, uint64_t ms, uint64_t of_ms)
{
    (void)ctx;
    ck_assert_uint_le(ms, of_ms);
    sim_advance(of_ms * 1000);
    return 0;
}

/* [U-5] What was found until then is mended. */
START_TEST(a_search_that_takes_too_long_is_given_up)
{
    make_log(at("log"));
    break_magic(at("log"));
    flip_payload(at("log"));
    u9_repair_report r = repair(at("log"), (u9_repair_options){.all = 1, .heal_ms = 1000, .on_progress = let_time_pass});
    ck_assert_int_eq(r.gave_up, 1);
    ck_assert_uint_eq(r.steps, 1);
    ck_assert_uint_eq(r.regained, 0);
}
END_TEST

static unsigned indexes_in(const char *log)
{
    size_t count;
    unsigned indexes = 0;
    char **names = list_names(log, &count);
    for (size_t i = 0; i < count; i++) {
        indexes += strstr(names[i], ".u9x") != NULL;
        free(names[i]);
    }
    free(names);
    return indexes;
}

/* What happens to the log while its indexes are made. */
static void meet_index(void *ctx, const u9_repair_step *step)
{
    int *other = ctx;
    if (step->kind != U9_REPAIR_INDEX || *other > 1) return;
    if (*other == 0) sim_take_lock(at("log"));
    else sim_copy(at("log/.repair-1"), at("log/.repair-9"));
    *other += 2; /* once */
}

/* [U-3] A writer, whose log it is by then: the indexes are not noted, and an undo leaves them. Another repair: none is made. */
START_TEST(who_has_the_log_while_indexes_are_made_is_left_in_peace)
{
    for (int other = 0; other < 2; other++) {
        u9_fault fault;
        u9_repair_report r;
        remove_log(at("log"));
        make_log(at("log"));
        break_magic(at("log"));
        int what = other;
        u9_err err = run_repair(at("log"), (u9_repair_options){.indexes = 1, .on_step = meet_index, .ctx = &what}, &r, &fault);
        ck_assert_int_eq(err, other ? U9_STATE : U9_OK);
        if (other == 0) sim_drop_lock(at("log"));
        else sim_remove(at("log/.repair-9"));
        unsigned made = indexes_in(at("log"));
        ck_assert_int_eq(made > 0, other == 0);
        ck_assert_uint_eq(r.indexes, made);
        ck_assert_uint_eq(undo(at("log")), 1);
        ck_assert_uint_eq(indexes_in(at("log")), made);
    }
}
END_TEST

/* [U-3] [W-1] What a killed repair has under way keeps the file's lock until it has landed. */
START_TEST(the_last_writes_of_a_killed_repair_are_waited_for)
{
    unsigned nth = 1, waited = 0;
    for (;; nth++) {
        u9_fault fault;
        u9_repair_report r;
        size_t size, left;
        sim_begin(nth);
        sim_make_dir(at(""));
        make_log(at("log"));
        break_magic(at("log"));
        uint8_t *damaged = read_file(segment_path(at("log"), 1), &size);
        sim_set_order(SIM_LATE);
        sim_kill_at_write(nth);
        (void)!run_repair(at("log"), (u9_repair_options){.all = 1}, &r, NULL);
        bool killed = sim_killed();
        waited += sim_late_writes() > 0;
        sim_land(5000);
        u9_err err = killed ? u9_undo(at("log"), sim_io(), 0, NULL, &fault) : U9_OK;
        ck_assert_msg(err == U9_OK || err == U9_ABSENT, "write %u: %s", nth, fault.text);
        sim_land(0);
        uint8_t *now = read_file(segment_path(at("log"), 1), &left);
        ck_assert(!killed || (left == size && memcmp(now, damaged, size) == 0));
        free(now);
        free(damaged);
        if (!killed) break;
    }
    ck_assert_uint_gt(waited, 0);
    ck_assert_uint_gt(nth, 2);
}
END_TEST

START_TEST(a_log_that_somebody_writes_to_is_left_alone)
{
    u9_repair_report r;
    u9_fault fault;
    make_log(at("log"));
    break_magic(at("log"));
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_int_eq(run_repair(at("log"), (u9_repair_options){.all = 1}, &r, &fault), U9_LOCKED);
    ck_assert_int_eq(run_repair(segment_path(at("log"), 1), (u9_repair_options){.all = 1}, &r, &fault), U9_LOCKED);
    ck_assert_int_eq(u9_undo(at("log"), sim_io(), 0, NULL, &fault), U9_LOCKED);
    close_log(w);
    ck_assert_uint_eq(repair(at("log"), (u9_repair_options){.all = 1}).steps, 1);
}
END_TEST

START_TEST(a_file_with_another_name_is_changed_only_when_that_is_said)
{
    u9_repair_report r;
    u9_fault fault;
    uint8_t before[16], after[16];
    make_log(at("log"));
    break_magic(at("log"));
    make_dir(at("snapshot"));
    sim_link(segment_path(at("log"), 1), at("snapshot/0000000000000001.u9"));
    picture(at("log"), before);
    ck_assert_int_eq(run_repair(at("log"), (u9_repair_options){.all = 1}, &r, &fault), U9_STATE);
    ck_assert_msg(strstr(fault.text, "hard links") != NULL, "%s", fault.text);
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, sizeof before);
    ck_assert_uint_eq(repair(at("log"), (u9_repair_options){.linked = 1}).steps, 1);
    picture(at("log"), before);
    ck_assert_int_eq(u9_undo(at("log"), sim_io(), 0, NULL, &fault), U9_STATE); /* what was linked is as it is now */
    ck_assert_msg(strstr(fault.text, "hard links") != NULL, "%s", fault.text);
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, sizeof before);
    ck_assert_int_eq(u9_undo(at("log"), sim_io(), 1, NULL, &fault), U9_OK);
}
END_TEST

START_TEST(a_file_that_was_changed_since_is_not_undone)
{
    u9_fault fault;
    uint8_t before[16], after[16];
    make_log(at("log"));
    break_magic(at("log"));
    (void)repair(at("log"), (u9_repair_options){.all = 0});
    flip_bit(segment_path(at("log"), 1), 9, 0);
    picture(at("log"), before);
    ck_assert_int_eq(u9_undo(at("log"), sim_io(), 0, NULL, &fault), U9_STATE);
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, sizeof before);
}
END_TEST

/* [U-3] Gone, cut short, or as large as no such file is: nothing of it is undone. */
START_TEST(what_is_not_as_it_was_left_is_not_undone)
{
    u9_fault fault;
    uint8_t before[16], after[16];
    make_log(at("log"));
    break_magic(at("log"));
    (void)repair(at("log"), (u9_repair_options){.all = 0});
    if (_i == 0) remove_log(segment_path(at("log"), 1));
    if (_i == 1) cut_file(segment_path(at("log"), 1), 20);
    if (_i == 2) cut_file(segment_path(at("log"), 1), 4096);
    if (_i == 3) sim_resize(at("log/.repair-1"), UINT64_C(5) << 30);
    if (_i < 3) picture(at("log"), before);
    ck_assert_int_eq(u9_undo(at("log"), sim_io(), 0, NULL, &fault), _i == 3 ? U9_CORRUPT : U9_STATE);
    ck_assert_msg(strstr(fault.text, _i == 3 ? "is damaged" : _i == 0 ? "is not here, and was not trimmed" : "was changed since") != NULL, "%s", fault.text);
    if (_i == 3) return;
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, sizeof before);
}
END_TEST

/* [U-3] The file is gone that got its own name, as after a trim, or another has the name that it had: nothing is begun. */
START_TEST(a_name_that_is_gone_or_taken_since_is_not_put_back)
{
    u9_fault fault;
    uint8_t before[16], after[16];
    u9_repair_report report;
    make_log(at("log"));
    sim_move(segment_path(at("log"), 1), at("log/0000000000000040.u9"));
    ck_assert_uint_eq(repair(at("log"), (u9_repair_options){.all = 0}).steps, 1);
    if (_i == 0) remove_log(segment_path(at("log"), 1));
    else sim_copy(segment_path(at("log"), 2), at("log/0000000000000040.u9"));
    picture(at("log"), before);
    ck_assert_int_eq(u9_undo(at("log"), sim_io(), 0, NULL, &fault), U9_STATE);
    ck_assert_msg(strstr(fault.text, _i ? "has the name by now" : "is gone") != NULL, "%s", fault.text);
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, sizeof before);
    ck_assert_int_eq(run_repair(at("log"), (u9_repair_options){.dry = 1}, &report, &fault), U9_OK);
}
END_TEST

/* [U-2] Beside them stand files of almost their names; and there are no more numbers than these. */
START_TEST(saved_bytes_get_the_next_number_and_there_is_a_last_one)
{
    static const char *const others[] = {"log/.repair-", "log/.repair-x", "log/.repair-007", "log/.repair-99999999999",
                                         "log/.repair-3.new", "log/notes-12", "log/.repair-0"};
    u9_fault fault;
    u9_repair_report r;
    make_log(at("log"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) write_file(at(others[i]), "mine", 4);
    break_magic(at("log"));
    ck_assert_str_eq(repair(at("log"), (u9_repair_options){.all = 0}).saved, ".repair-1");
    sim_copy(at("log/.repair-1"), at("log/.repair-9999"));
    break_zeros_of_header(at("log"));
    ck_assert_str_eq(repair(at("log"), (u9_repair_options){.all = 0}).saved, ".repair-10000");
    break_magic(at("log"));
    ck_assert_int_eq(run_repair(at("log"), (u9_repair_options){.all = 0}, &r, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, ENAMETOOLONG);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) ck_assert(exists(at(others[i])));
}
END_TEST

/* [U-3] Before anything is looked for, what was broken off comes to its end: a dry run says so. */
START_TEST(a_dry_run_does_not_go_past_one_that_was_broken_off)
{
    u9_fault fault;
    u9_repair_report r;
    make_log(at("log"));
    break_most(at("log"));
    sim_aim("0000000000000001.u9");
    sim_fail(SIM_WRITE, 1, EIO, true);
    ck_assert_int_eq(run_repair(at("log"), (u9_repair_options){.all = 1}, &r, &fault), U9_IO);
    sim_mend();
    sim_aim(NULL);
    ck_assert_int_eq(run_repair(at("log"), (u9_repair_options){.dry = 1}, &r, &fault), U9_STATE);
    ck_assert_msg(strstr(fault.text, "broken off") != NULL, "%s", fault.text);
    ck_assert_int_eq(repair(at("log"), (u9_repair_options){.all = 1}).finished, 1);
}
END_TEST

/* [U-1] [U-5] What has no proof stays as it is. */
START_TEST(what_cannot_be_proven_is_left)
{
    uint8_t before[16], after[16];
    make_log(at("log"));
    const char *last = segment_path(at("log"), segments_in(at("log"))), *path = at("log");
    char single[512];
    if (_i == 0) extend_file(last, file_size(last) + 3 * 4096), fill_bytes(last, file_size(last) - 3 * 4096, 3 * 4096, 0x5a);
    if (_i == 1) { /* whose name is not its number, but nobody says what stands beside it */
        snprintf(single, sizeof single, "%s", segment_path(at("log"), 7));
        move_file(segment_path(at("log"), 2), single);
        path = single;
    }
    if (_i == 2) { /* a plain seed file */
        plain_file p = plain_begin(4);
        plain_frame(&p, "\x81\x81", 2);
        plain_frame(&p, "\x81\x81", 2);
        p.bytes[p.size / 2] ^= 1;
        make_dir(at("plain"));
        path = at("plain");
        write_file(segment_path(path, 1), p.bytes, p.size);
        plain_free(&p);
    }
    if (_i >= 3) { /* a payload of a signed hash, but for one bit; its trailer names another place, or a record more */
        seen_frame frames[8];
        u9i_trailer t;
        forged_segment s = forge_begin(1, 5, NULL, U9I_TAIL_NONE);
        forge_records(&s, "a", 2);
        uint64_t p = forge_records(&s, "b", 2);
        ck_assert_uint_eq(list_frames(s.bytes, s.size, frames, 8), 3);
        uint8_t *trailer = s.bytes + p + 64 + frames[2].length - 80;
        ck_assert(u9i_trailer_decode(trailer, &t));
        if (_i == 3) t.offset += 16;
        else t.count++;
        u9i_trailer_encode(&t, trailer);
        forge_mend(&s, p);
        s.bytes[p + 64 + 3] ^= 4;
        forge_records(&s, "c", 2);
        path = at("forged");
        forge_save(&s, path);
        forge_free(&s);
    }
    picture(path == single ? at("log") : path, before);
    u9_fault fault;
    u9_repair_report r;
    u9_err err = run_repair(path, (u9_repair_options){.all = 1, .heal_ms = 1000000}, &r, &fault);
    ck_assert_int_eq(err, _i == 4 ? U9_CORRUPT : U9_OK);
    if (_i == 4) ck_assert_msg(strstr(fault.text, "would be worse damaged") != NULL, "%s", fault.text);
    else ck_assert_uint_eq(r.steps, 0);
    if (_i >= 3) ck_assert_uint_gt(r.tries, 0);
    picture(path == single ? at("log") : path, after);
    ck_assert_mem_eq(before, after, sizeof before);
}
END_TEST

START_TEST(saved_bytes_that_are_damaged_are_refused)
{
    u9_fault fault;
    make_log(at("log"));
    break_magic(at("log"));
    (void)repair(at("log"), (u9_repair_options){.all = 0});
    uint64_t size = file_size(at("log/.repair-1"));
    ck_assert_uint_eq(size, 8192);
    for (unsigned byte = 0; byte < 4096 + 48 + 19 + 64; byte = byte == 71 ? 4096 : byte + 1) {
        flip_bit(at("log/.repair-1"), byte, byte % 8);
        ck_assert_msg(u9_undo(at("log"), sim_io(), 0, NULL, &fault) == U9_CORRUPT, "byte %u", byte);
        flip_bit(at("log/.repair-1"), byte, byte % 8);
    }
    undo(at("log"));
}
END_TEST

typedef struct told_indexes {
    unsigned count;
    char path[512]; /* of the last */
} told_indexes;

static void tell_index(void *ctx, const u9_repair_step *step)
{
    told_indexes *t = ctx;
    if (step->kind != U9_REPAIR_INDEX) return;
    t->count++;
    snprintf(t->path, sizeof t->path, "%s", step->path);
}

static void build_indexes(const char *log)
{
    u9_index_report made = {.size = sizeof made};
    u9_index_options o = {.size = sizeof o, .io = io_of(log)};
    ck_assert_int_eq(u9_indexes_build(log, &o, &made, NULL), U9_OK);
    ck_assert_uint_gt(made.made, 0);
}

/* [U-3] */
START_TEST(an_undo_takes_the_indexes_that_the_repair_made_and_no_other)
{
    told_indexes told = {0};
    u9_repair_options o = {.indexes = 1, .on_step = tell_index, .ctx = &told};
    bool alone = _i == 0, before = _i == 2;
    make_log(at("log"));
    if (before) build_indexes(at("log"));
    unsigned had = indexes_in(at("log"));
    if (!alone) flip_secret(at("log"));
    u9_repair_report r = repair(at("log"), o);
    ck_assert_uint_eq(told.count, r.indexes);
    ck_assert_uint_eq(indexes_in(at("log")), had + r.indexes);
    if (!before) ck_assert_msg(r.indexes > 0 && exists(told.path), "%s", told.path);
    ck_assert_str_eq(r.saved, ".repair-1");
    ck_assert_uint_eq(undo(at("log")), r.steps);
    ck_assert_uint_eq(indexes_in(at("log")), had);
    ck_assert_uint_eq(r.steps, alone ? 0 : 1);
    u9_fault fault;
    ck_assert_int_eq(u9_undo(at("log"), sim_io(), 0, NULL, &fault), U9_ABSENT);
}
END_TEST

/* [M-3] Of damaged slots of the mark, too, which no repair mends. */
START_TEST(a_repair_tells_of_the_log_what_a_check_tells)
{
    for (unsigned i = 0; i < 3; i++) session(at("log"), "a", 5, 1);
    for (unsigned bad = 0; bad < 4; bad++) {
        for (unsigned slot = 0; slot < 2; slot++)
            if (bad & 1u << slot) flip_bit(at("log/.mark"), 4096 * slot + 100, 3);
        seen *s = look(at("log"));
        u9_repair_report r = repair(at("log"), (u9_repair_options){.dry = 1});
        ck_assert_int_eq(r.before, s->report.verdict);
        ck_assert_int_eq(r.then, s->report.verdict);
        ck_assert_uint_eq(r.damages_before, bad == 3 ? 2 : 0);
        ck_assert_int_eq(s->report.verdict, bad == 0 ? U9_V_CLEAN : bad == 3 ? U9_V_UNKNOWN : U9_V_TORN);
        forget(s);
        for (unsigned slot = 0; slot < 2; slot++)
            if (bad & 1u << slot) flip_bit(at("log/.mark"), 4096 * slot + 100, 3);
    }
}
END_TEST

/*
 * [U-2] Where no index can be made, nothing is saved that an undo would come to first: a log without records; the same behind
 * a repair that changed bytes; a segment that is cut below its mark, the loss of which no index could note.
 */
START_TEST(what_gets_no_index_leaves_nothing_to_be_undone)
{
    u9_repair_report r;
    u9_fault fault;
    told_indexes told = {0};
    u9_repair_options o = {.indexes = 1, .on_step = tell_index, .ctx = &told};
    if (_i == 2) {
        session(at("log"), "a", 200, 1);
        sim_resize(segment_path(at("log"), 1), file_size(segment_path(at("log"), 1)) - 2 * 4096);
    } else {
        session(at("log"), "a", 0, 1);
    }
    if (_i == 1) lose_last_header(at("log"));
    r = repair(at("log"), (u9_repair_options){.indexes = 1, .dry = 1});
    if (_i < 2) ck_assert_uint_eq(r.indexes, 0);
    r = repair(at("log"), o);
    ck_assert_uint_eq(r.steps, _i == 1);
    for (int again = 0; again < 2; again++) {
        r = repair(at("log"), o);
        ck_assert_uint_eq(r.indexes, 0);
        ck_assert_str_eq(r.saved, "");
    }
    if (_i < 2) ck_assert_uint_eq(told.count, 0);
    if (_i == 1) ck_assert_uint_eq(undo(at("log")), 1);
    ck_assert_int_eq(u9_undo(at("log"), sim_io(), 0, NULL, &fault), U9_ABSENT);
}
END_TEST

/* [U-2] One call fails, and so no index is made: neither does a file stay that tells of any. */
START_TEST(an_index_that_could_not_be_made_leaves_nothing_to_be_undone)
{
    u9_fault fault;
    u9_repair_report r;
    unsigned none = 0;
    make_log(at("whole"));
    for (unsigned nth = 1;; nth++) {
        remove_log(at("log"));
        copy_log(at("whole"), at("log"));
        sim_fail(SIM_ANY, nth, nth % 2 ? ENOSPC : EPERM, false);
        unsigned fired = sim_fired();
        u9_err err = run_repair(at("log"), (u9_repair_options){.indexes = 1}, &r, &fault);
        sim_mend();
        if (sim_fired() == fired) break;
        if (err != U9_OK && strstr(fault.text, "cannot note")) continue; /* it may stand there by then */
        unsigned made = 0;
        for (unsigned n = 1; n <= segments_in(at("log")); n++) {
            char path[600];
            snprintf(path, sizeof path, "%sx", segment_path(at("log"), n));
            made += exists(path);
        }
        none += made == 0;
        ck_assert_msg(exists(at("log/.repair-1")) == (made > 0), "call %u", nth);
        ck_assert_msg((r.saved[0] != 0) == exists(at("log/.repair-1")), "call %u", nth);
    }
    ck_assert_uint_gt(none, 30);
}
END_TEST

/* [U-3] [S-7] What a repair made zero at a file's end, a writer gives back: the repair is finished all the same, and undone. */
START_TEST(what_a_writer_has_given_back_since_is_undone)
{
    uint8_t garbage[8192], *damaged, *now;
    size_t size, left;
    memset(garbage, 'Z', sizeof garbage);
    seen_frame frames[64];
    size_t first;
    (void)make_sealed_log(at("damaged"), frames, 64, &first);
    const char *path = segment_path(at("damaged"), 2);
    put_bytes(path, file_size(path), garbage, sizeof garbage);
    damaged = read_file(path, &size);
    for (unsigned nth = 1, failed = 0;; nth++) {
        u9_repair_report r;
        remove_log(at("log"));
        copy_log(at("damaged"), at("log"));
        sim_fail(SIM_ANY, nth, EIO, true);
        u9_err err = run_repair(at("log"), (u9_repair_options){.all = 1}, &r, NULL);
        sim_mend();
        session(at("log"), "then", 2, 2);
        if (nth % 2) (void)repair(at("log"), (u9_repair_options){.all = 1});
        u9_fault fault;
        u9_err undone = u9_undo(at("log"), sim_io(), 0, NULL, &fault);
        ck_assert_msg(undone == U9_OK || undone == U9_ABSENT, "call %u: %s", nth, fault.text);
        now = read_file(segment_path(at("log"), 2), &left);
        if (undone == U9_OK) ck_assert_msg(left == size && memcmp(now, damaged, size) == 0, "call %u", nth);
        free(now);
        failed += err != U9_OK;
        if (err != U9_OK) continue;
        ck_assert_uint_gt(failed, 20);
        ck_assert_int_eq(undone, U9_OK);
        break;
    }
    free(damaged);
}
END_TEST

/* [U-3] {F63} Wherever a repair is broken off: what it made goes with the undo, and what the next one made. */
START_TEST(an_undo_takes_the_indexes_of_a_repair_that_was_broken_off)
{
    u9_repair_report r;
    u9_repair_options o = {.indexes = 1};
    unsigned failed = 0, left = 0;
    make_log(at("damaged"));
    if (_i == 0) flip_secret(at("damaged"));
    for (unsigned nth = 1;; nth++) {
        remove_log(at("log"));
        copy_log(at("damaged"), at("log"));
        sim_fail(SIM_ANY, nth, EIO, true);
        u9_err err = run_repair(at("log"), o, &r, NULL);
        sim_mend();
        if (err == U9_OK) break;
        failed++;
        left += indexes_in(at("log")) > 0;
        if (nth % 2) (void)repair(at("log"), o);
        while ((err = u9_undo(at("log"), sim_io(), 0, NULL, NULL)) == U9_OK) {}
        ck_assert_msg(err == U9_ABSENT, "call %u: %d", nth, err);
        ck_assert_msg(indexes_in(at("log")) == 0, "call %u", nth);
    }
    ck_assert(failed > 50 && left > 0);
}
END_TEST

/* As when names were mixed up by hand. */
static void swap_first_and_last(const char *log)
{
    char aside[512];
    snprintf(aside, sizeof aside, "%s/aside", log);
    unsigned last = segments_in(log);
    move_file(segment_path(log, 1), aside);
    move_file(segment_path(log, last), segment_path(log, 1));
    move_file(aside, segment_path(log, last));
}

static void expect_nobody_goes_on(const char *log)
{
    u9_fault fault;
    u9_log *w;
    u9_options writing = {.size = sizeof writing, .mode = U9_CREATE, .io = sim_io()};
    u9_loss loss = {.size = sizeof loss};
    u9_trimmed late = {.size = sizeof late};
    for (unsigned way = 0; way < 3; way++) {
        u9_err err = way == 0   ? u9_log_open(log, &writing, &w, &fault)
                     : way == 1 ? u9_accept_loss(log, 1, sim_io(), &loss, &fault)
                                : u9_accept_trim(log, 1, sim_io(), &late, &fault);
        if (way == 1 && err == U9_OK && loss.state == U9_LOSS_NONE) continue; /* the last one has its name */
        ck_assert_msg(err == U9_CORRUPT && strstr(fault.text, "broken off"), "%u: %d, %s", way, err, fault.text);
    }
}

/* [U-2] [U-3] {F63} A file that alone gets its name has one of the two at all times; while several have none, nobody goes on. */
START_TEST(what_a_repair_has_between_two_names_is_not_taken_for_lost)
{
    for (unsigned swaps = 0; swaps < 2; swaps++) {
        unsigned between = 0, failed = 0;
        u9_repair_report r;
        remove_log(at("damaged"));
        make_log(at("damaged"));
        if (swaps) swap_first_and_last(at("damaged"));
        else rename_away(at("damaged"));
        for (unsigned nth = 1;; nth++) {
            remove_log(at("log"));
            copy_log(at("damaged"), at("log"));
            sim_fail(SIM_RENAME, nth, EIO, true);
            u9_err err = run_repair(at("log"), (u9_repair_options){.all = 0}, &r, NULL);
            sim_mend();
            if (err == U9_OK) break;
            failed++;
            bool aside = exists(at("log/.repair-1.0.name")) || exists(at("log/.repair-1.1.name"));
            between += aside;
            if (aside) expect_nobody_goes_on(at("log"));
            (void)repair(at("log"), (u9_repair_options){.all = 0});
            ck_assert(exists(segment_path(at("log"), 1)) && exists(segment_path(at("log"), 2)));
        }
        ck_assert(failed > 1 && (between > 0) == (swaps > 0));
    }
}
END_TEST

/* A repair or an undo that changes linked files, broken off at its nth call; true if it came to its end. */
static bool break_off(const char *log, bool undoes, unsigned nth)
{
    u9_repair_report r;
    sim_fail(SIM_ANY, nth, EIO, true);
    u9_err err = undoes ? u9_undo(log, sim_io(), 1, NULL, NULL) : run_repair(log, (u9_repair_options){.linked = 1}, &r, NULL);
    sim_mend();
    return err == U9_OK;
}

/* [U-1] [U-3] Whichever of its names a file has just then: the two that it goes between, or the one aside. */
START_TEST(what_was_broken_off_changes_a_file_with_another_name_only_when_that_is_said)
{
    bool undoes = _i & 1, swaps = _i & 2;
    unsigned refused = 0;
    make_log(at("begun"));
    if (swaps) break_magic(at("begun"));
    else break_zeros_of_header(at("begun"));
    if (swaps) swap_first_and_last(at("begun"));
    else rename_away(at("begun"));
    if (undoes) (void)repair(at("begun"), (u9_repair_options){.all = 0});
    for (unsigned nth = 1;; nth++) {
        uint8_t before[16], after[16];
        u9_repair_report r;
        u9_fault fault;
        remove_log(at("log"));
        remove_log(at("snapshot"));
        copy_log(at("begun"), at("log"));
        make_dir(at("snapshot"));
        for (unsigned number = 1; number < 0x78; number++) {
            char name[64];
            snprintf(name, sizeof name, "snapshot/%016x.u9", number);
            if (exists(segment_path(at("log"), number))) sim_link(segment_path(at("log"), number), at(name));
        }
        if (break_off(at("log"), undoes, nth)) break;
        picture(at("snapshot"), before);
        u9_err err = undoes ? u9_undo(at("log"), sim_io(), 0, NULL, &fault)
                            : run_repair(at("log"), (u9_repair_options){.all = 0}, &r, &fault);
        picture(at("snapshot"), after);
        ck_assert_msg(memcmp(before, after, sizeof before) == 0, "call %u", nth);
        ck_assert_msg(err == U9_STATE || err == (undoes ? U9_ABSENT : U9_OK), "call %u: %d, %s", nth, err, fault.text);
        refused += err == U9_STATE;
    }
    ck_assert_uint_gt(refused, 50);
}
END_TEST

/* [U-2] */
START_TEST(a_file_that_says_that_a_segment_was_made_is_refused)
{
    u9_fault fault;
    u9i_changes c = {.count = 0};
    make_log(at("log"));
    u9i_dir *dir;
    ck_assert_int_eq(u9i_dir_open(sim_env(), at("log"), false, &dir), 0);
    ck_assert_int_eq(u9i_changes_made(&c, "0000000000000002.u9", U9_REPAIR_INDEX), 0);
    ck_assert_int_eq(u9i_changes_save_done(&c, dir), 0);
    u9i_changes_release(&c);
    u9i_dir_close(dir);
    ck_assert_int_eq(u9_undo(at("log"), sim_io(), 0, NULL, &fault), U9_CORRUPT);
    ck_assert(exists(at("log/0000000000000002.u9")));
}
END_TEST

/* [U-2] */
START_TEST(a_disk_that_is_full_leaves_nothing_of_a_repair)
{
    u9_fault fault;
    u9_repair_report r;
    uint8_t before[16], then[16];
    make_log(at("log"));
    flip_secret(at("log"));
    picture(at("log"), before);
    sim_fail(SIM_RESERVE, 1, ENOSPC, true);
    ck_assert_int_eq(run_repair(at("log"), (u9_repair_options){.all = 1}, &r, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, ENOSPC);
    sim_mend();
    picture(at("log"), then);
    ck_assert_mem_eq(before, then, sizeof then);
    ck_assert(!exists(at("log/.repair-1.new")));
}
END_TEST

/* [U-2] What a killed repair had begun to save goes with the next call, also where that finds nothing to do. */
START_TEST(what_was_half_saved_is_swept_away)
{
    make_log(at("log"));
    write_file(at("log/.repair-1.new"), "half", 4);
    ck_assert_uint_eq(repair(at("log"), (u9_repair_options){.all = 0}).steps, 0);
    ck_assert(!exists(at("log/.repair-1.new")));
    break_magic(at("log"));
    ck_assert_str_eq(repair(at("log"), (u9_repair_options){.all = 0}).saved, ".repair-1");
    write_file(at("log/.repair-1.new"), "half", 4); /* of the indexes that it made */
    write_file(at("log/.repair-2.new"), "half", 4);
    u9_fault fault;
    ck_assert_int_eq(u9_undo(at("log"), sim_io(), 0, NULL, &fault), U9_OK);
    ck_assert(!exists(at("log/.repair-1.new")) && !exists(at("log/.repair-2.new")));
}
END_TEST

START_TEST(a_single_file_is_mended_beside_itself)
{
    make_log(at("log"));
    copy_log(at("log"), at("whole"));
    flip_secret(at("log"));
    u9_repair_report r = repair(segment_path(at("log"), 2), (u9_repair_options){.all = 0});
    ck_assert_uint_eq(r.steps, 1);
    ck_assert_str_eq(r.saved, "0000000000000002.u9.repair-1");
    expect_same_segments(at("log"), at("whole"));
    ck_assert_uint_eq(undo(segment_path(at("log"), 2)), 1);
}
END_TEST

/* Its saved bytes would have a longer name than any file may. */
START_TEST(a_single_file_of_the_longest_name_is_not_mended)
{
    sim_needed("names of 255 bytes");
    make_log(at("log"));
    flip_secret(at("log"));
    for (size_t n = 244; n <= 255; n += 11) {
        char name[256], path[4400];
        u9_fault fault;
        u9_repair_report r;
        uint8_t before[16], after[16];
        memset(name, 'n', n);
        name[n] = 0;
        snprintf(path, sizeof path, "%s/%s", at("long"), name);
        remove_log(at("long"));
        make_dir(at("long"));
        sim_copy(segment_path(at("log"), 2), path);
        picture(at("long"), before);
        ck_assert_int_eq(run_repair(path, (u9_repair_options){.all = 0}, &r, &fault), U9_IO);
        ck_assert_int_eq(fault.sys, ENAMETOOLONG);
        picture(at("long"), after);
        ck_assert_mem_eq(before, after, sizeof before);
    }
}
END_TEST

START_TEST(a_file_that_does_not_end_with_a_block_keeps_its_size)
{
    seen_frame frames[64];
    size_t size;
    u9_repair_report r;
    make_log(at("damaged"));
    const char *path = segment_path(at("damaged"), 1);
    uint8_t *bytes = read_file(path, &size);
    ck_assert_uint_gt(list_frames(bytes, size, frames, 64), 1);
    free(bytes);
    cut_file(path, frames[0].end); /* its u9open is left */
    ck_assert_uint_ne(frames[0].end % 4096, 0);
    copy_log(at("damaged"), at("whole"));
    break_magic(at("damaged"));
    u9_err err = U9_IO;
    for (unsigned nth = 1; err != U9_OK; nth++) { /* also where it is broken off between writing the block and cutting it */
        remove_log(at("log"));
        copy_log(at("damaged"), at("log"));
        sim_fail(SIM_ANY, nth, EIO, true);
        err = run_repair(at("log"), (u9_repair_options){.all = 0}, &r, NULL);
        sim_mend();
        (void)repair(at("log"), (u9_repair_options){.all = 0});
        expect_same_segments(at("log"), at("whole"));
        undo(at("log"));
        expect_same_segments(at("log"), at("damaged"));
    }
}
END_TEST

/* The last frame of records as well as the first: nothing comes behind it that would show the loss. */
START_TEST(a_change_after_which_a_record_is_gone_or_there_twice_does_not_fit)
{
    make_log(at("log"));
    size_t size;
    seen_frame frames[64];
    const unsigned number = _i ? segments_in(at("log")) : 1;
    uint8_t *bytes = read_file(segment_path(at("log"), number), &size);
    size_t count = list_frames(bytes, size, frames, 64), with = _i ? count - 1 : 1;
    while (with > 0 && with < count && frames[with].count == 0) with = _i ? with - 1 : with + 1;
    free(bytes);
    ck_assert_uint_gt(frames[with].count, 0);
    uint8_t before[1] = {0}, after[1] = {0x5a};
    u9i_change c = {.offset = frames[with].offset + 70, .size = 1, .before = before, .after = after};
    snprintf(c.name, sizeof c.name, "%016u.u9", number);
    u9i_source now, then;
    u9i_overlay overlay;
    u9i_judgement j;
    ck_assert_int_eq(u9i_source_open(&now, sim_env(), at("log"), false, NULL), U9_OK);
    u9i_overlay_init(&overlay, now.dir, &c, 1);
    ck_assert_int_eq(u9i_source_open(&then, &overlay.env, at("log"), false, NULL), U9_OK);
    ck_assert_int_eq(u9i_judge_change(&now, &then, &j, NULL), U9_OK);
    ck_assert(!j.fits);
    ck_assert_uint_eq(j.ordinal, frames[with].ordinal);
    u9i_source_close(&then);
    u9i_overlay_init(&overlay, now.dir, NULL, 0);
    ck_assert_int_eq(u9i_source_open(&then, &overlay.env, at("log"), false, NULL), U9_OK);
    ck_assert_int_eq(u9i_judge_change(&now, &then, &j, NULL), U9_OK);
    ck_assert(j.fits && j.regained == 0);
    u9i_source_close(&then);
    u9i_source_close(&now);
}
END_TEST

/* The closed segment behind this one, which says that the log stood at record 2 there. */
static forged_segment forge_from_two(const forged_segment *one)
{
    u9i_open_record open = forge_naming(2, one, U9I_TAIL_NONE);
    open.end.ordinal = 2;
    forged_segment two = forge_with_open(2, 2, &open);
    forge_records(&two, "again", 3);
    forge_promise(&two);
    forge_pad(&two);
    forge_end(&two, U9I_END_CLOSING);
    return two;
}

/*
 * [U-1] A segment whose numbers begin anew, and what stands in front of it. Such a log may stay as it is; but what comes
 * to show that way, or what was there and then is behind what comes to show, is no mend.
 */
START_TEST(a_change_after_which_numbers_run_backwards_does_not_fit)
{
    static const struct {
        unsigned gone, ordinal; /* this one was not there before; the first record that does not fit, if any does not */
        bool fits;
        uint64_t records, regained;
    } ways[] = {{0, 0, true, 8, 0}, {1, 2, false, 0, 5}, {2, 2, false, 5, 0}};
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "r", 5);
    forge_promise(&one);
    forged_segment two = forge_from_two(&one);
    forge_save(&one, at("then"));
    forge_save(&two, at("then"));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        u9i_source before, then;
        u9i_judgement j;
        remove_log(at("before"));
        copy_log(at("then"), at("before"));
        if (ways[i].gone) remove_log(segment_path(at("before"), ways[i].gone));
        ck_assert_int_eq(u9i_source_open(&before, sim_env(), at("before"), false, NULL), U9_OK);
        ck_assert_int_eq(u9i_source_open(&then, sim_env(), at("then"), false, NULL), U9_OK);
        ck_assert_int_eq(u9i_judge_change(&before, &then, &j, NULL), U9_OK);
        ck_assert_msg(j.fits == ways[i].fits, "%zu", i);
        if (!j.fits) ck_assert_uint_eq(j.ordinal, ways[i].ordinal);
        ck_assert_msg(!j.fits || (j.records == ways[i].records && j.regained == ways[i].regained), "%zu: %u, %u", i,
                      (unsigned)j.records, (unsigned)j.regained);
        u9i_source_close(&then);
        u9i_source_close(&before);
    }
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* [U-1] The same by a repair: the bit that it finds brings a record back, behind which the next segment's would be older. */
START_TEST(a_repair_behind_which_numbers_would_run_backwards_is_none)
{
    uint8_t before[16], after[16];
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "r", 3);
    uint64_t p = forge_records(&one, "found", 2);
    forge_promise(&one);
    forged_segment two = forge_from_two(&one);
    one.bytes[p + 64 + 3] ^= 4;
    forge_save(&one, at("log"));
    forge_save(&two, at("log"));
    picture(at("log"), before);
    u9_fault fault;
    u9_repair_report r;
    ck_assert_int_eq(run_repair(at("log"), (u9_repair_options){.all = 1, .heal_ms = 1000000}, &r, &fault), U9_CORRUPT);
    ck_assert_str_eq(fault.rule, "U-1");
    ck_assert_msg(strstr(fault.text, "would not have record 2 as it is now") != NULL, "%s", fault.text);
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, sizeof before);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

START_TEST(void_bytes_do_not_come_back)
{
    u9_repair_report r;
    forged_segment one = forge_begin(1, 5, NULL, U9I_TAIL_NONE);
    forge_records(&one, "kept", 2);
    forged_segment two = forge_begin(2, 6, &one, U9I_TAIL_TORN); /* names the end of what is kept */
    forge_records(&two, "next", 2);
    forge_end(&two, U9I_END_CLOSING);
    uint64_t header = forge_records(&one, "void", 2), payload = forge_records(&one, "gone", 2);
    forge_records(&one, "more", 1);
    one.bytes[header + 40] ^= 1;
    one.bytes[payload + 70] ^= 1;
    forge_save(&one, at("log"));
    forge_save(&two, at("log"));
    uint8_t before[16], after[16];
    picture(at("log"), before);
    ck_assert_int_eq(run_repair(at("log"), (u9_repair_options){.all = 1, .heal_ms = 1000000}, &r, NULL), U9_OK);
    ck_assert_uint_eq(r.steps + r.regained, 0);
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, sizeof before);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 4);
    ck_assert(!has_text(s, "void2") && !has_text(s, "gone4"));
    forget(s);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/*
 * [U-1] A session went on behind a torn end. The header of its u9open is damaged, so that what is void shows; that is mended,
 * and what is void goes. But if it was promised, it is a line of the log, which no repair takes out of what is read. [L-9]
 */
START_TEST(what_a_mended_u9open_proves_to_be_void_may_go)
{
    u9_fault fault;
    u9_repair_report r;
    uint8_t before[16], after[16];
    const bool promised = _i == 1;
    forged_segment one = forge_begin(1, 5, NULL, U9I_TAIL_NONE);
    forge_records(&one, "kept", 2);
    forged_segment two = forge_begin(2, 6, &one, U9I_TAIL_TORN);
    forge_records(&two, "next", 3);
    forge_end(&two, U9I_END_CLOSING);
    forge_records(&one, "void", 1);
    forge_records(&one, "gone", 1);
    if (promised) forge_promise(&one);
    forge_save(&one, at("whole"));
    forge_save(&two, at("whole"));
    for (unsigned i = 0; i < 16; i++) two.bytes[32 + i] ^= 0xee;
    forge_save(&one, at("log"));
    forge_save(&two, at("log"));
    picture(at("log"), before);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 7); /* with what is void, and its ordinals twice */
    forget(s);
    u9_err err = run_repair(at("log"), (u9_repair_options){.all = 1}, &r, &fault);
    ck_assert_msg(err == (promised ? U9_CORRUPT : U9_OK), "%d: %s", err, fault.text);
    if (promised) {
        ck_assert_str_eq(fault.rule, "U-1");
    } else {
        ck_assert_uint_eq(r.steps, 1);
        ck_assert_uint_eq(r.records, 5);
        ck_assert_uint_eq(r.regained, 0);
        expect_same_segments(at("log"), at("whole"));
        s = look(at("log"));
        ck_assert_uint_eq(s->count, 5);
        ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
        ck_assert(!has_text(s, "void2") && has_text(s, "next4"));
        forget(s);
        undo(at("log"));
    }
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, sizeof before);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* A log on the real disk, of which the first segment is a symbolic link that leads out of it. */
static void make_linked_log(void)
{
    session(at("log"), "a", 20, 2);
    ck_assert_int_eq(rename(segment_path(at("log"), 1), at("elsewhere")), 0);
    ck_assert_int_eq(symlink("../elsewhere", segment_path(at("log"), 1)), 0);
}

/* [U-1] [L-1] */
START_TEST(what_a_symbolic_link_leads_to_is_changed_only_when_that_is_said)
{
    u9_fault fault;
    u9_repair_report r;
    make_linked_log();
    copy_file_bytes(at("elsewhere"), at("whole"));
    flip_bit(at("elsewhere"), 3, 5);
    copy_file_bytes(at("elsewhere"), at("damaged"));
    ck_assert_int_eq(run_repair(at("log"), (u9_repair_options){.all = 1}, &r, &fault), U9_STATE);
    ck_assert_msg(strstr(fault.text, "symbolic link") != NULL, "%s", fault.text);
    expect_same_file(at("elsewhere"), at("damaged"));
    ck_assert_uint_eq(repair(at("log"), (u9_repair_options){.linked = 1}).steps, 1);
    expect_same_file(at("elsewhere"), at("whole"));
    ck_assert_int_eq(u9_undo(at("log"), io_of(at("log")), 0, NULL, &fault), U9_STATE);
    ck_assert_msg(strstr(fault.text, "symbolic link") != NULL, "%s", fault.text);
    expect_same_file(at("elsewhere"), at("whole"));
    ck_assert_int_eq(u9_undo(at("log"), io_of(at("log")), 1, NULL, &fault), U9_OK);
    expect_same_file(at("elsewhere"), at("damaged"));
}
END_TEST

/*
 * [U-1] [U-3] Saved bytes need no secret: who may write into the log's directory must not have others write elsewhere, be it
 * by what is said to be unfinished, in either direction, or by saved bytes that stand elsewhere.
 */
START_TEST(what_is_unfinished_is_not_brought_to_its_end_through_a_symbolic_link)
{
    u9_fault fault;
    u9_repair_report r;
    u9i_changes c = {.count = 0};
    u9i_dir *dir;
    make_linked_log();
    copy_file_bytes(at("elsewhere"), at("whole"));
    ck_assert_int_eq(u9i_dir_open(&u9i_env_posix, at("log"), false, &dir), 0);
    ck_assert_int_eq(u9i_changes_add(&c, dir, "0000000000000001.u9", 8, "evil", 4, U9_REPAIR_ZEROS), 0);
    ck_assert_int_eq(u9i_changes_save(&c, dir), 0);
    u9i_changes_release(&c);
    u9i_dir_close(dir);
    if (_i == 1) {
        ck_assert_int_eq(rename(at("log/.repair-1"), at("saved")), 0);
        ck_assert_int_eq(symlink("../saved", at("log/.repair-1")), 0);
    }
    ck_assert_int_eq(run_repair(at("log"), (u9_repair_options){.all = 1, .linked = _i}, &r, &fault), _i ? U9_CORRUPT : U9_STATE);
    ck_assert_msg(strstr(fault.text, "symbolic link") != NULL, "%s", fault.text);
    ck_assert_int_eq(u9_undo(at("log"), io_of(at("log")), _i, NULL, &fault), _i ? U9_CORRUPT : U9_STATE);
    ck_assert_msg(strstr(fault.text, "symbolic link") != NULL, "%s", fault.text);
    expect_same_file(at("elsewhere"), at("whole"));
}
END_TEST

/* [K-4] What a killed call was making of an index goes with the next one; what somebody makes now stays. */
START_TEST(an_index_that_was_half_made_is_swept_away)
{
    for (int way = 0; way < 3; way++) {
        u9i_dir *dir = NULL;
        u9i_file *file = NULL;
        remove_log(at("log"));
        make_log(at("log"));
        break_magic(at("log"));
        (void)repair(at("log"), (u9_repair_options){.all = 0});
        write_file(at("log/0000000000000001.u9x.partial"), "half", 4);
        if (way == 2) {
            ck_assert_int_eq(u9i_dir_open(sim_env(), at("log"), false, &dir), 0);
            ck_assert_int_eq(u9i_file_open(dir, "0000000000000001.u9x.partial", U9I_OPEN_WRITE, &file), 0);
            ck_assert_int_eq(u9i_file_lock(file), 0);
        }
        if (way == 0) (void)repair(at("log"), (u9_repair_options){.all = 0});
        else undo(at("log"));
        ck_assert_msg(exists(at("log/0000000000000001.u9x.partial")) == (way == 2), "way %d", way);
        if (file) u9i_file_close(file);
        if (dir) u9i_dir_close(dir);
    }
}
END_TEST

/* {F20} */
START_TEST(each_bit_of_a_payload_is_found)
{
    uint8_t payload[200], whole[200], sha[16];
    uint64_t bit;
    sim_begin(3);
    for (unsigned size = 80; size <= sizeof payload; size += 24) {
        for (unsigned i = 0; i < size; i++) whole[i] = (uint8_t)(i * 7 + size);
        u9i_hash(whole, size, sha);
        for (unsigned flipped = 0; flipped < 8 * size; flipped += thorough(5, 1)) {
            u9i_healing h = {.env = sim_env(), .until_us = UINT64_MAX};
            memcpy(payload, whole, size);
            payload[flipped / 8] ^= (uint8_t)(1u << flipped % 8);
            ck_assert_int_eq(u9i_heal(&h, payload, size, sha, &bit), U9_OK);
            ck_assert_uint_eq(bit, flipped);
            ck_assert_mem_eq(payload, whole, size);
        }
        u9i_healing h = {.env = sim_env(), .until_us = UINT64_MAX};
        payload[3] ^= 3; /* two bits are not healed */
        memcpy(whole, payload, size);
        ck_assert_int_eq(u9i_heal(&h, payload, size, sha, &bit), U9_ABSENT);
        ck_assert_uint_eq(h.tries, 8 * size);
        ck_assert_mem_eq(payload, whole, size);
    }
}
END_TEST

/* [U-5] A payload (body and trailer) of 256 KiB is searched, and one that is a byte longer is not. */
START_TEST(payloads_up_to_the_largest_are_searched)
{
    static uint8_t body[U9I_HEAL_MAX + 1], text[U9I_HEAL_MAX];
    const size_t head = record_bytes(body, 0, text, 200000) - 200000;
    for (unsigned more = 0; more < 2; more++) {
        const size_t length = U9I_HEAL_MAX + more, size = length - U9I_TRAILER_SIZE;
        forged_segment s = forge_begin(1, 3, NULL, U9I_TAIL_NONE);
        for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)('a' + i * i % 23);
        ck_assert_uint_eq(record_bytes(body, 0, text, size - head), size);
        uint64_t p = forge_frame(&s, body, size, 1);
        ck_assert_uint_eq(u9i_get_be(s.bytes + p + 56, 8), length);
        forge_records(&s, "behind", 3);
        forge_end(&s, U9I_END_CLOSING);
        s.bytes[p + U9I_FRAME_HEADER_SIZE + length - 2000] ^= 4;
        forge_save(&s, at("log"));
        u9_repair_report r = repair(at("log"), (u9_repair_options){.all = 1, .heal_ms = 1000000});
        ck_assert_uint_eq(r.regained, more ? 0 : 1);
        ck_assert_uint_eq(r.steps, more ? 0 : 1);
        ck_assert((r.tries > 0) == !more);
        seen *now = look(at("log"));
        ck_assert_uint_eq(now->count, more ? 3 : 4);
        ck_assert_uint_eq(now->report.lost, more);
        forget(now);
        forge_free(&s);
        remove_log(at("log"));
    }
}
END_TEST

START_TEST(a_search_ends_with_its_time)
{
    uint8_t payload[4096] = {1}, sha[16] = {0};
    uint64_t bit;
    sim_begin(3);
    u9i_healing h = {.env = sim_env(), .until_us = u9i_monotonic_us(sim_env())};
    ck_assert_int_eq(u9i_heal(&h, payload, sizeof payload, sha, &bit), U9_ABSENT);
    ck_assert(h.gave_up);
    ck_assert_uint_eq(h.tries, 0);
}
END_TEST

Suite *suite_in_place(void)
{
    const int count = (int)(sizeof cases / sizeof *cases);
    Suite *s = suite_create("in_place");
    TCase *c = tcase_create("in_place");
    tcase_set_timeout(c, 240);
    tcase_add_checked_fixture(c, fixture_setup_sim, fixture_teardown);
    tcase_add_loop_test(c, what_is_proven_comes_back_byte_for_byte_and_an_undo_takes_it_back, 0, count);
    tcase_add_test(c, a_dry_run_changes_nothing_and_says_the_same);
    tcase_add_test(c, without_all_nothing_comes_back_and_what_is_left_is_counted);
    tcase_add_test(c, a_search_that_is_told_to_stop_changes_nothing);
    tcase_add_test(c, a_search_that_takes_too_long_is_given_up);
    tcase_add_test(c, who_has_the_log_while_indexes_are_made_is_left_in_peace);
    tcase_add_test(c, the_last_writes_of_a_killed_repair_are_waited_for);
    tcase_add_test(c, a_log_that_somebody_writes_to_is_left_alone);
    tcase_add_test(c, the_header_of_an_index_frame_comes_back);
    tcase_add_test(c, what_is_damaged_behind_a_named_end_takes_one_repair);
    tcase_add_test(c, a_file_with_another_name_is_changed_only_when_that_is_said);
    tcase_add_test(c, a_file_that_was_changed_since_is_not_undone);
    tcase_add_loop_test(c, what_is_not_as_it_was_left_is_not_undone, 0, 4);
    tcase_add_loop_test(c, a_name_that_is_gone_or_taken_since_is_not_put_back, 0, 2);
    tcase_add_test(c, saved_bytes_get_the_next_number_and_there_is_a_last_one);
    tcase_add_test(c, a_dry_run_does_not_go_past_one_that_was_broken_off);
    tcase_add_loop_test(c, what_cannot_be_proven_is_left, 0, 5);
    tcase_add_loop_test(c, an_undo_takes_the_indexes_that_the_repair_made_and_no_other, 0, 3);
    tcase_add_loop_test(c, an_undo_takes_the_indexes_of_a_repair_that_was_broken_off, 0, 2);
    tcase_add_test(c, a_repair_tells_of_the_log_what_a_check_tells);
    tcase_add_loop_test(c, what_gets_no_index_leaves_nothing_to_be_undone, 0, 3);
    tcase_add_test(c, an_index_that_could_not_be_made_leaves_nothing_to_be_undone);
    tcase_add_test(c, what_a_writer_has_given_back_since_is_undone);
    tcase_add_test(c, what_a_repair_has_between_two_names_is_not_taken_for_lost);
    tcase_add_test(c, a_file_that_says_that_a_segment_was_made_is_refused);
    tcase_add_test(c, a_disk_that_is_full_leaves_nothing_of_a_repair);
    tcase_add_test(c, saved_bytes_that_are_damaged_are_refused);
    tcase_add_test(c, what_was_half_saved_is_swept_away);
    tcase_add_test(c, a_single_file_is_mended_beside_itself);
    tcase_add_test(c, a_single_file_of_the_longest_name_is_not_mended);
    tcase_add_test(c, a_file_that_does_not_end_with_a_block_keeps_its_size);
    tcase_add_loop_test(c, a_change_after_which_a_record_is_gone_or_there_twice_does_not_fit, 0, 2);
    tcase_add_test(c, a_change_after_which_numbers_run_backwards_does_not_fit);
    tcase_add_test(c, a_repair_behind_which_numbers_would_run_backwards_is_none);
    tcase_add_test(c, void_bytes_do_not_come_back);
    tcase_add_loop_test(c, what_a_mended_u9open_proves_to_be_void_may_go, 0, 2);
    tcase_add_test(c, an_index_that_was_half_made_is_swept_away);
    tcase_add_test(c, each_bit_of_a_payload_is_found);
    tcase_add_test(c, payloads_up_to_the_largest_are_searched);
    tcase_add_test(c, a_search_ends_with_its_time);
    suite_add_tcase(s, c);
    TCase *links = tcase_create("links");
    tcase_add_checked_fixture(links, fixture_setup, fixture_teardown);
    tcase_add_test(links, what_a_symbolic_link_leads_to_is_changed_only_when_that_is_said);
    tcase_add_loop_test(links, what_is_unfinished_is_not_brought_to_its_end_through_a_symbolic_link, 0, 2);
    suite_add_tcase(s, links);
    TCase *cuts = tcase_create("cuts");
    tcase_set_timeout(cuts, 240);
    tcase_add_checked_fixture(cuts, fixture_setup_sim, fixture_teardown);
    tcase_add_test(cuts, broken_off_at_any_call_it_goes_on_where_it_stood);
    tcase_add_test(cuts, an_undo_that_is_broken_off_at_any_call_goes_on_where_it_stood);
    tcase_add_loop_test(cuts, what_was_broken_off_changes_a_file_with_another_name_only_when_that_is_said, 0, 4);
    tcase_add_test(cuts, the_power_goes_at_any_call_and_it_goes_on_where_it_stood);
    suite_add_tcase(s, cuts);
    return s;
}
