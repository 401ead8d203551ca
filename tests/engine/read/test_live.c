/*
 * tests/engine/read/test_live.c: a log that is read while it is written: nothing that is on its way is taken for
 * damage, and nothing that is damaged for something on its way.
 *
 * The simulated disk shows zeros in the place of bytes that a writer is just putting there, up to a moment
 * that the test chooses; somebody has the lock or not.
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, FRAMES = 100, PER_FRAME = 2, TOLD_MAX = 8 };

/* What a check told. */
typedef struct told {
    u9_report report;
    u9_damage damages[TOLD_MAX];
    unsigned damage_count;
} told;

static void note_told(void *ctx, const u9_damage *damage)
{
    told *t = ctx;
    ck_assert_uint_lt(t->damage_count, TOLD_MAX);
    t->damages[t->damage_count++] = *damage;
}

/* Checks the log on its disk as it is; what is in the diary is what that took. */
static told observe(const char *log)
{
    told t = {.report.size = sizeof t.report};
    u9_check_options o = {.size = sizeof o, .on_damage = note_told, .ctx = &t, .io = io_of(log)};
    sim_forget_diary();
    ck_assert_int_eq(u9_check(log, &o, &t.report, NULL), U9_OK);
    return t;
}

/* How many reads of some of the bytes [from, to) of a file are in the diary. */
static unsigned reads_of(const char *path, uint64_t from, uint64_t to)
{
    size_t n;
    unsigned reads = 0;
    const sim_op *ops = sim_ops(&n);
    for (size_t i = 0; i < n; i++)
        reads += ops[i].kind == SIM_READ && strcmp(ops[i].path, path) == 0 && ops[i].begin < to &&
                 from < ops[i].begin + ops[i].bytes;
    return reads;
}

/*
 * The same while bytes [from, to) of a segment show late, whichever read is the first that does not see them:
 * each time the same is told, which is returned.
 */
static told observe_late(const char *log, uint64_t segment, uint64_t from, uint64_t to, sim_until until)
{
    const char *path = segment_path(log, segment);
    told t = observe(log), first = t;
    unsigned reads = reads_of(path, from, to), shown = 0;
    ck_assert_uint_gt(reads, 0);
    for (unsigned k = 0; k < reads; k++) {
        sim_hide(path, from, to, until);
        sim_delay(k);
        t = observe(log);
        if (k == 0) first = t;
        shown += sim_troubles() == 0;
        ck_assert_uint_eq(t.damage_count, first.damage_count);
        ck_assert_uint_eq(t.report.records, first.report.records);
        ck_assert_int_eq(t.report.verdict, first.report.verdict);
        sim_clear();
    }
    ck_assert_int_eq(shown > 0, until != SIM_NEVER);
    return t;
}

static void expect_unclosed(const u9_damage *d, uint64_t at)
{
    ck_assert_int_eq(d->verdict, U9_V_TORN);
    ck_assert_int_eq(d->reason, U9_R_UNCLOSED);
    ck_assert_uint_eq(d->begin, at);
    ck_assert_uint_eq(d->end, at);
    ck_assert_uint_eq(d->lost, 0);
}

/* How far behind itself a frame promises. */
typedef enum promises { ALL_DO, ONLY_THE_LAST, LAST_PROMISES_A_THIRD } promises;

/* An unclosed segment of blocks, one frame in each. Fills where they begin. */
static forged_segment many_blocks(promises which, uint64_t p[FRAMES])
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_pad(&f);
    for (unsigned i = 0; i < FRAMES; i++) {
        bool last = i == FRAMES - 1;
        if (which == ALL_DO || (which == ONLY_THE_LAST && last)) f.next.durable = f.end;
        if (which == LAST_PROMISES_A_THIRD && last) f.next.durable = p[FRAMES / 3];
        p[i] = forge_records(&f, "r", PER_FRAME);
        forge_pad(&f);
    }
    return f;
}

/* {F45} A reader meets zeros, reads them again, reads on, and meets frames that promise what it did not see. */
START_TEST(frames_that_show_late_are_no_gap_though_later_ones_promise_them)
{
    uint64_t p[FRAMES];
    const char *log = at("log");
    forged_segment f = many_blocks((promises)_i, p);
    forge_save(&f, log);
    told t = observe_late(log, 1, p[20], p[FRAMES - 1], SIM_READ_BEHIND);
    ck_assert_uint_eq(t.report.records, FRAMES * PER_FRAME);
    ck_assert_uint_eq(t.damage_count, 1);
    expect_unclosed(&t.damages[0], f.end);
    ck_assert_uint_eq(sim_count(SIM_ASK), 1); /* before it was read, and no more */
    forge_free(&f);
}
END_TEST

/*
 * [F-6] What was hashed of a payload along with the frame before it counts no more when it is read again. Of
 * the last frame the header is there at first, so that its hash is begun, and the trailer is not, so that it
 * is not ended; no other frame is behind it. (In a row every second hash is begun so.) A writer has the log:
 * with nobody there it would be looked at a third time.
 */
START_TEST(a_payload_that_shows_late_is_hashed_again)
{
    const char *log = at("log");
    uint64_t last = 0;
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (int i = 0; i < 3 + _i; i++)
        last = forge_records(&f, "a record of more than a block of the hash, and of two ", 2);
    forge_save(&f, log);
    sim_take_lock(log);
    u9_log *reader = open_reader(log);
    u9_cursor *c;
    u9_record r;
    ck_assert_int_eq(u9_cursor_open(reader, NULL, &c, NULL), U9_OK);
    /* From the first read of the walk. */
    sim_hide_for(segment_path(log, 1), last + U9I_FRAME_HEADER_SIZE, f.size, 1);
    for (unsigned i = 0; i < 2 * (3 + (unsigned)_i); i++) {
        ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
        ck_assert_uint_eq(r.ordinal, i);
    }
    ck_assert_uint_eq(sim_troubles(), 0);
    u9_cursor_close(c);
    close_log(reader);
    forge_free(&f);
}
END_TEST

/* The same, and the first of them is really damaged: that one alone is told. */
START_TEST(damage_in_front_of_frames_that_show_late_is_told_as_far_as_it_goes)
{
    uint64_t p[FRAMES];
    const char *log = at("log");
    forged_segment f = many_blocks(ALL_DO, p);
    f.bytes[p[20] + 70] ^= 1;
    forge_save(&f, log);
    told t = observe_late(log, 1, p[20], p[FRAMES - 1], SIM_READ_BEHIND);
    ck_assert_uint_eq(t.report.records, (FRAMES - 1) * PER_FRAME);
    ck_assert_uint_eq(t.damage_count, 2);
    ck_assert_int_eq(t.damages[0].verdict, U9_V_CORRUPT);
    ck_assert_int_eq(t.damages[0].reason, U9_R_HASH);
    ck_assert_uint_gt(t.damages[0].begin, p[19]);
    ck_assert_uint_eq(t.damages[0].end, p[21]);
    ck_assert_uint_eq(t.damages[0].lost, PER_FRAME);
    expect_unclosed(&t.damages[1], f.end);
    forge_free(&f);
}
END_TEST

/* A log whose last frame, promised by nobody, is half there: no crash leaves that without a zero sector. */
static uint64_t half_a_frame(const char *log)
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "r", 4);
    uint64_t p = forge_records(&f, "r", 4);
    memset(f.bytes + f.end - 40, 0, 40);
    forge_pad(&f);
    forge_save(&f, log);
    forge_free(&f);
    return p;
}

static u9_verdict verdict_of(const char *path)
{
    told t = observe(path);
    ck_assert_uint_eq(t.report.records, 4);
    return t.report.verdict;
}

START_TEST(half_a_frame_is_in_progress_while_a_writer_has_the_log)
{
    const char *log = at("log");
    uint64_t p = half_a_frame(log);
    ck_assert_int_eq(verdict_of(log), U9_V_UNKNOWN);
    ck_assert_uint_eq(sim_count(SIM_ASK), 2); /* before it was read, and for the tail */
    sim_take_lock(log);
    told t = observe(log);
    ck_assert_uint_eq(t.damage_count, 1);
    expect_unclosed(&t.damages[0], p);
    ck_assert_uint_eq(t.report.records, 4);
    sim_drop_lock(log);
}
END_TEST

/* The same on the real tables: seen through other handles, the writer's own, and the file alone. */
START_TEST(every_reader_knows_whether_a_writer_has_the_log)
{
    const char *log = at("log"), *file = segment_path(log, 1);
    uint64_t p = half_a_frame(log);
    ck_assert_int_eq(verdict_of(log), U9_V_UNKNOWN);
    ck_assert_int_eq(verdict_of(file), U9_V_UNKNOWN);

    u9_damage last = {0};
    u9_options o = writer_options();
    o.mode = U9_WRITE;
    u9_log *w = open_writer(log, &o); /* it has not written yet: what is there is not its own */
    ck_assert_int_eq(verdict_of(log), U9_V_TORN);
    ck_assert_int_eq(verdict_of(file), U9_V_TORN);
    u9_cursor *c;
    u9_record r;
    ck_assert_int_eq(u9_cursor_open(w, NULL, &c, NULL), U9_OK);
    for (unsigned i = 0; i < 4; i++) ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_END);
    last = *u9_cursor_damage(c);
    expect_unclosed(&last, p);
    u9_cursor_close(c);
    u9_log *second; /* to ask did not give the lock away */
    ck_assert_int_eq(u9_log_open(log, &o, &second, NULL), U9_LOCKED);
    close_log(w);

    ck_assert_int_eq(verdict_of(log), U9_V_UNKNOWN);
    ck_assert_int_eq(verdict_of(file), U9_V_UNKNOWN);
}
END_TEST

static void note(void *ctx, const u9_damage *damage)
{
    *(u9_verdict *)ctx = damage->verdict;
}

START_TEST(a_writer_that_opens_the_log_judges_its_tail_as_nobodys)
{
    u9_verdict verdict = U9_V_CLEAN;
    const char *log = at("log");
    (void)half_a_frame(log);
    u9_options o = writer_options();
    o.on_damage = note;
    o.on_damage_ctx = &verdict;
    close_log(open_writer(log, &o));
    ck_assert_int_eq(verdict, U9_V_UNKNOWN);
}
END_TEST

/* Damage stays damage: below a promise, and in segments that no writer is at. */
START_TEST(a_writer_hides_no_damage)
{
    uint64_t p[FRAMES];
    const char *log = at("log");
    forged_segment f = many_blocks(ALL_DO, p);
    f.bytes[p[20] + 70] ^= 1;
    forge_save(&f, log);
    sim_take_lock(log);
    told t = observe(log);
    ck_assert_int_eq(t.report.verdict, U9_V_CORRUPT);
    ck_assert_uint_eq(t.damages[0].end, p[21]);
    forge_free(&f);
    remove_log(log);

    /* A segment that nobody names, because the next one's u9open is damaged. */
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 4);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_TORN);
    two.next.durable = two.end;
    forge_records(&two, "b", 4);
    two.bytes[32 + 100] ^= 1;
    forge_records(&one, "a", 4);
    memset(one.bytes + one.end - 40, 0, 40);
    forge_pad(&one);
    forge_pad(&two);
    forge_save(&one, log);
    forge_save(&two, log);
    sim_take_lock(log);
    t = observe(log);
    ck_assert_int_eq(t.damages[0].verdict, U9_V_UNKNOWN);
    ck_assert_uint_eq(t.damages[0].segment, 1);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* It finishes the frame and leaves after the reader saw half of it, and before the reader asks. */
START_TEST(a_writer_that_finished_and_went_is_not_missed)
{
    const char *log = at("log");
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "r", 4);
    forge_records(&f, "r", 4);
    uint64_t end = f.end;
    forge_pad(&f);
    forge_save(&f, log);
    told t = observe_late(log, 1, end - 40, end, SIM_ASKED);
    ck_assert_uint_eq(t.report.records, 8);
    ck_assert_uint_eq(t.damage_count, 1);
    expect_unclosed(&t.damages[0], end);
    forge_free(&f);
}
END_TEST

/* {F45} The seal behind a rolled segment's end, in the writing while the reader comes there. */
START_TEST(a_seal_in_the_writing_is_no_damage)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 7);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_ROLLED);
    forge_end(&one, U9I_END_SEALING);
    forge_end(&two, U9I_END_CLOSING);
    uint64_t half = one.end - 40;
    for (uint64_t more = 0; more < 2; more++) { /* cut already or not yet */
        forge_save(&one, log);
        forge_save(&two, log);
        if (more) extend_file(segment_path(log, 1), one.size + 2 * BLOCK);
        ck_assert_uint_eq(observe_late(log, 1, half, one.end, SIM_READ_BEHIND).damage_count, 0);
        ck_assert_uint_eq(observe_late(log, 1, half, one.end, SIM_ASKED).damage_count, 0);
        told t = observe_late(log, 1, half, one.end, SIM_NEVER);
        ck_assert_int_eq(t.report.verdict, U9_V_UNKNOWN);
        ck_assert_int_eq(t.damages[0].reason, U9_R_SEAL);
        sim_take_lock(log);
        ck_assert_uint_eq(observe_late(log, 1, half, one.end, SIM_READ_BEHIND).damage_count, 0);
        t = observe_late(log, 1, half, one.end, SIM_NEVER);
        ck_assert_int_eq(t.report.verdict, U9_V_TORN);
        ck_assert_int_eq(t.damages[0].reason, U9_R_SEAL);
        ck_assert_uint_eq(t.report.records, 7);
        sim_drop_lock(log);
    }
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* [L-4] A new segment, of which the disk header is not there yet, or a part of the u9open. */
START_TEST(a_segment_in_the_making_is_no_damage)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 4);
    forge_end(&one, U9I_END_CLOSING);
    forge_save(&one, log);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_CLOSED);
    uint64_t first = two.end;
    if (_i == 0) memset(two.bytes, 0, 32);
    else memset(two.bytes + two.end - 40, 0, 40);
    two.next.durable = _i == 2 ? two.end : 0;
    if (_i > 0) forge_records(&two, "b", 4);
    forge_pad(&two);
    u9_log *w = open_writer(log, NULL);
    forge_save(&two, log);
    told t = observe(log);
    /* A promise behind it proves that it was there. */
    ck_assert_int_eq(t.report.verdict, _i == 2 ? U9_V_CORRUPT : U9_V_TORN);
    ck_assert_uint_eq(t.report.records, _i == 2 ? 8 : 4);
    close_log(w);
    ck_assert_int_gt(observe(log).report.verdict, U9_V_TORN);
    ck_assert_uint_gt(first, 32);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* A first frame that holds no u9open is whole, and read: nothing in it is still to come. */
START_TEST(a_segment_without_u9open_is_not_taken_for_one_in_the_making)
{
    const char *log = at("log");
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "a", 4);
    forge_end(&one, U9I_END_CLOSING);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_CLOSED);
    two.bytes[32 + 64 + 8] ^= 1; /* the symbol is u9npen: skipped [B-3] */
    forge_mend(&two, 32);
    forge_records(&two, "b", 4);
    forge_pad(&two);
    forge_save(&one, log);
    forge_save(&two, log);
    sim_take_lock(log);
    told t = observe(log);
    ck_assert_uint_eq(t.report.records, 8);
    ck_assert_uint_eq(t.damage_count, 1);
    expect_unclosed(&t.damages[0], two.end);
    forge_free(&one);
    forge_free(&two);
}
END_TEST

/* A roll at the pace of the reader: the new u9open is half there twice, and the old segment sealed then. */
static forged_segment rolled, fresh;

static void roll_on(unsigned nth)
{
    uint8_t *half = malloc(fresh.size);
    memcpy(half, fresh.bytes, fresh.size);
    memset(half + fresh.end - 40, 0, 40);
    forged_segment open = rolled;
    if (nth == 1) open.size = rolled.data_end; /* not sealed yet */
    forge_save(&open, at("log"));
    write_file(segment_path(at("log"), 2), nth < 3 ? half : fresh.bytes, fresh.size);
    free(half);
}

START_TEST(a_segment_whose_predecessor_is_sealed_meanwhile_is_looked_at_again)
{
    rolled = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&rolled, "a", 7);
    fresh = forge_begin(2, 1, &rolled, U9I_TAIL_ROLLED);
    rolled.data_end = rolled.size;
    forge_end(&rolled, U9I_END_SEALING);
    forge_pad(&fresh);
    roll_on(1);
    u9_log *reader = open_reader(at("log"));
    u9_cursor *c;
    u9_record r;
    sim_forget_diary();
    sim_before_list(roll_on);
    ck_assert_int_eq(u9_cursor_open(reader, NULL, &c, NULL), U9_OK);
    for (unsigned i = 0; i < 7; i++) ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_END);
    expect_unclosed(u9_cursor_damage(c), fresh.end);
    ck_assert_uint_eq(sim_count(SIM_LIST), 3);
    u9_cursor_close(c);
    close_log(reader);
    forge_free(&rolled);
    forge_free(&fresh);
}
END_TEST

/* The u9open is found valid by a mended secret, and yet nothing in the segment was promised. [H-5] [L-4] */
START_TEST(a_damaged_header_under_a_writer_that_promised_nothing_is_read)
{
    sim_needed("a writer that puts no mark meanwhile");
    crash(open_writer(at("log"), NULL), at("log"));
    u9_log *w = open_writer(at("log"), NULL); /* in segment 2, of which nothing promises anything */
    append_text(w, "one");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    remove_mark(at("log"));
    flip_bit(segment_path(at("log"), 2), 20, 0);
    u9_log *r = open_reader(at("log"));
    u9_cursor *c;
    u9_record record;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_END);
    ck_assert_int_eq(u9_cursor_damage(c)->verdict, U9_V_TORN);
    ck_assert_int_eq(u9_cursor_damage(c)->reason, U9_R_BLANK);
    u9_cursor_close(c);
    close_log(r);
    close_log(w);
}
END_TEST

Suite *suite_live(void)
{
    Suite *suite = suite_create("live");
    TCase *real = tcase_create("real");
    tcase_add_checked_fixture(real, fixture_setup, fixture_teardown);
    tcase_add_test(real, every_reader_knows_whether_a_writer_has_the_log);
    suite_add_tcase(suite, real);

    TCase *tc = tcase_create("live");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, frames_that_show_late_are_no_gap_though_later_ones_promise_them, 0, 3);
    tcase_add_loop_test(tc, a_payload_that_shows_late_is_hashed_again, 0, 2);
    tcase_add_test(tc, damage_in_front_of_frames_that_show_late_is_told_as_far_as_it_goes);
    tcase_add_test(tc, half_a_frame_is_in_progress_while_a_writer_has_the_log);
    tcase_add_test(tc, a_writer_that_opens_the_log_judges_its_tail_as_nobodys);
    tcase_add_test(tc, a_writer_hides_no_damage);
    tcase_add_test(tc, a_writer_that_finished_and_went_is_not_missed);
    tcase_add_test(tc, a_seal_in_the_writing_is_no_damage);
    tcase_add_loop_test(tc, a_segment_in_the_making_is_no_damage, 0, 3);
    tcase_add_test(tc, a_segment_without_u9open_is_not_taken_for_one_in_the_making);
    tcase_add_test(tc, a_segment_whose_predecessor_is_sealed_meanwhile_is_looked_at_again);
    tcase_add_test(tc, a_damaged_header_under_a_writer_that_promised_nothing_is_read);
    suite_add_tcase(suite, tc);
    return suite;
}
