/*
 * tests/engine/check/test_repair.c: giving up, on purpose, what a log's mark promises and is not there: whatever the
 * log lacks; and that a stop at any call leaves it as it was, or as it should be. [M-9]
 */
#include "format/frame/mark.h"
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *beside(const char *log, const char *name)
{
    static char paths[8][4400];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", log, name);
    return path;
}

static u9_err accept_loss(const char *log, int accept, u9_loss *loss, u9_fault *fault)
{
    *loss = (u9_loss){.size = sizeof *loss};
    return u9_accept_loss(log, accept, io_of(log), loss, fault);
}

static void append_fillers(const char *log, unsigned count)
{
    u9_options o = small_options();
    uint8_t bytes[8000] = {0};
    u9_log *w = open_writer(log, &o);
    for (unsigned i = 0; i < count; i++) append_bytes(w, bytes, sizeof bytes);
    close_log(w);
}

/* Two sessions of 20 records over several segments; `older` is the state after the first. */
static void make_log(void)
{
    append_fillers(at("log"), 20);
    copy_log(at("log"), at("older"));
    append_fillers(at("log"), 20);
}

/* The log has fewer records than its mark says, which says `all`: that is given up, and it goes on. */
static void expect_given_up(const char *log, uint64_t all)
{
    uint8_t before[16], after[16];
    size_t size, kept_size;
    u9_loss loss;
    u9_fault fault;
    uint8_t *mark = read_file(beside(log, ".mark"), &size);
    seen *lost = look(log);
    ck_assert_int_eq(lost->report.verdict, U9_V_CORRUPT);
    picture(log, before);
    ck_assert_int_eq(accept_loss(log, 0, &loss, &fault), U9_OK);
    ck_assert_int_eq(loss.state, U9_LOSS_FOUND);
    ck_assert_uint_eq(loss.mark.ordinal, all);
    ck_assert_uint_eq(loss.lost, all - loss.next_ordinal);
    picture(log, after);
    ck_assert_mem_eq(before, after, 16);
    u9_err err = accept_loss(log, 1, &loss, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    ck_assert_int_eq(loss.state, U9_LOSS_ACCEPTED);
    ck_assert_uint_gt(loss.segment, loss.mark.segment);
    uint8_t *kept = read_file(beside(log, loss.kept), &kept_size);
    ck_assert_uint_eq(kept_size, size);
    ck_assert_mem_eq(kept, mark, size);
    free(mark);
    free(kept);
    seen *s = look(log);
    ck_assert_uint_eq(s->count, lost->count);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->report.next_ordinal, loss.next_ordinal);
    ck_assert_int_eq(s->report.mark, U9_MARK_COUNTS);
    ck_assert_uint_eq(s->report.mark_segment, loss.segment);
    ck_assert_uint_eq(s->report.mark_ordinal, loss.next_ordinal);
    forget(s);
    forget(lost);
    append_fillers(log, 12); /* over a roll */
    s = look(log);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->report.next_ordinal, loss.next_ordinal + 12);
    forget(s);
    ck_assert_int_eq(accept_loss(log, 1, &loss, &fault), U9_OK);
    ck_assert_int_eq(loss.state, U9_LOSS_NONE);
}

START_TEST(a_cut_log_goes_on_where_it_ends)
{
    make_log();
    uint64_t n = segments_in(at("log")), size = file_size(segment_path(at("log"), n));
    for (uint64_t cut = 4096; cut < size - 4096; cut += 12347) {
        copy_log(at("log"), at("cut"));
        cut_file(segment_path(at("cut"), n), cut);
        expect_given_up(at("cut"), 40);
        remove_log(at("cut"));
    }
}
END_TEST

/* The segments of the older state beside the mark of the newer one. */
static void put_back(void)
{
    copy_log(at("older"), at("back"));
    remove_log(beside(at("back"), ".mark"));
    size_t size;
    uint8_t *mark = read_file(beside(at("log"), ".mark"), &size);
    write_file(beside(at("back"), ".mark"), mark, size);
    free(mark);
}

START_TEST(an_older_state_is_whole_when_the_newer_one_is_given_up)
{
    make_log();
    put_back();
    expect_given_up(at("back"), 40);
}
END_TEST

START_TEST(a_newest_segment_that_is_gone_or_emptied_is_given_up_and_its_number_not_used_again)
{
    make_log();
    uint64_t n = segments_in(at("log"));
    copy_log(at("log"), at("gone"));
    for (uint64_t i = n; i > 1; i--) {
        remove_log(segment_path(at("gone"), i)); /* its predecessor is sealed */
        copy_log(at("gone"), at("try"));
        expect_given_up(at("try"), 40);
        ck_assert(!exists(segment_path(at("try"), n)));
        ck_assert(exists(segment_path(at("try"), n + 1)));
        remove_log(at("try"));
    }
    cut_file(segment_path(at("log"), n), 0);
    expect_given_up(at("log"), 40);
}
END_TEST

START_TEST(behind_a_sealed_segment_the_log_goes_on_at_its_data)
{
    make_log();
    uint64_t n = segments_in(at("log"));
    remove_log(segment_path(at("log"), n));
    u9_loss loss;
    ck_assert_int_eq(accept_loss(at("log"), 1, &loss, NULL), U9_OK);
    size_t size;
    uint8_t *bytes = read_file(segment_path(at("log"), n + 1), &size), scratch[4096];
    u9i_secret keys = keys_of(segment_path(at("log"), n + 1));
    u9i_proof proof = {0};
    u9i_frame f;
    u9i_body body;
    u9i_open_record open;
    size_t need;
    ck_assert_int_eq(u9i_frame_verify(&keys, 32, size, bytes + 32, size - 32, &proof, &f), U9_OK);
    ck_assert_int_eq(u9i_body_open(&f, scratch, sizeof scratch, &need, &body), U9_OK);
    ck_assert_int_eq(u9i_open_record_decode(body.bytes, body.size, &open), U9_OK);
    ck_assert_uint_eq(open.before_segment, n - 1);
    ck_assert_int_eq(open.tail, U9I_TAIL_ROLLED);
    free(bytes);
    bytes = read_file(segment_path(at("log"), n - 1), &size);
    seen_frame frames[64];
    size_t count = list_frames(bytes, size, frames, 64);
    ck_assert(frames[count - 1].is_end);
    while (count > 1 && frames[count - 1].offset >= open.end.offset) count--; /* behind it: the index, the seal */
    ck_assert_uint_eq(open.end.offset, frames[count - 1].end);
    free(bytes);
}
END_TEST

/* A history of `count` records by keys that are always the same. */
static void write_history(const char *log, const char *prefix, unsigned count)
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    for (unsigned i = 0; i < count; i++) forge_records(&f, prefix, 1);
    forge_pad(&f);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    forge_free(&f);
}

START_TEST(a_log_that_went_on_otherwise_is_given_up_too)
{
    static const unsigned counts[] = {2, 3, 5};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        write_history(at("log"), "this", 3);
        session(at("log"), "", 0, 0);
        u9_log *w = open_writer(at("log"), NULL);
        append_text(w, "marks it");
        close_log(w);
        write_history(at("log"), "that", counts[i]);
        seen *s = look(at("log"));
        ck_assert_int_eq(s->report.verdict, U9_V_CORRUPT);
        forget(s);
        u9_loss loss;
        ck_assert_int_eq(accept_loss(at("log"), 1, &loss, NULL), U9_OK);
        ck_assert_int_eq(loss.state, U9_LOSS_ACCEPTED);
        ck_assert_uint_eq(loss.next_ordinal, counts[i]);
        ck_assert_uint_eq(loss.lost, counts[i] < 4 ? 4 - counts[i] : 0);
        s = look(at("log"));
        ck_assert_uint_eq(s->count, counts[i]);
        ck_assert_uint_eq(s->damage_count, 0);
        forget(s);
        remove_log(at("log"));
    }
}
END_TEST

START_TEST(old_marks_are_kept_and_never_overwritten)
{
    make_log();
    put_back();
    write_file(beside(at("back"), ".mark.old-1"), "mine", 4);
    u9_loss loss;
    ck_assert_int_eq(accept_loss(at("back"), 1, &loss, NULL), U9_OK);
    ck_assert_str_eq(loss.kept, ".mark.old-2");
    size_t size;
    uint8_t *mine = read_file(beside(at("back"), ".mark.old-1"), &size);
    ck_assert_uint_eq(size, 4);
    ck_assert_mem_eq(mine, "mine", 4);
    free(mine);
    cut_file(segment_path(at("back"), loss.segment), 100);
    ck_assert_int_eq(accept_loss(at("back"), 1, &loss, NULL), U9_OK);
    ck_assert_int_eq(loss.state, U9_LOSS_ACCEPTED);
    ck_assert_str_eq(loss.kept, ".mark.old-3");
    seen *s = look(at("back"));
    ck_assert_uint_eq(s->count, 20);
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    forget(s);
}
END_TEST

START_TEST(a_log_that_meets_its_mark_is_not_touched)
{
    uint8_t before[16], after[16];
    u9_loss loss;
    make_log();
    picture(at("log"), before);
    for (int accept = 0; accept < 2; accept++) {
        ck_assert_int_eq(accept_loss(at("log"), accept, &loss, NULL), U9_OK);
        ck_assert_int_eq(loss.state, U9_LOSS_NONE);
    }
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, 16);
}
END_TEST

/* It says so, and nothing is touched. */
static void expect_refused(const char *path, const char *log, u9_err want, const char *why)
{
    uint8_t before[16], after[16];
    u9_loss loss;
    u9_fault fault;
    picture(log, before);
    ck_assert_int_eq(accept_loss(path, 1, &loss, &fault), want);
    ck_assert_msg(strstr(fault.text, why) != NULL, "%s", fault.text);
    picture(log, after);
    ck_assert_mem_eq(before, after, 16);
}

START_TEST(what_cannot_be_given_up_is_refused_with_the_reason)
{
    make_log();
    uint64_t n = segments_in(at("log"));
    ck_assert_uint_gt(n, 4);
    expect_refused(segment_path(at("log"), 1), at("log"), U9_ABSENT, "a segment file alone");
    copy_log(at("log"), at("unmarked"));
    remove_mark(at("unmarked"));
    expect_refused(at("unmarked"), at("unmarked"), U9_ABSENT, "has no mark");
    u9_log *w = open_writer(at("log"), NULL);
    expect_refused(at("log"), at("log"), U9_LOCKED, "another writer");
    close_log(w);
    copy_log(at("log"), at("broken"));
    remove_log(segment_path(at("broken"), n));
    remove_log(segment_path(at("broken"), 2));
    expect_refused(at("broken"), at("broken"), U9_CORRUPT, "0000000000000002.u9 is missing");
    for (uint64_t i = n; i > 0; i--) remove_log(segment_path(at("log"), i));
    expect_refused(at("log"), at("log"), U9_ABSENT, "nothing is left");
    make_dir(at("empty"));
    expect_refused(at("empty"), at("empty"), U9_ABSENT, "no log is here");
}
END_TEST

static unsigned goes_at;

static void take_mark_away(unsigned nth)
{
    if (nth == goes_at) sim_remove(beside(at("log"), ".mark"));
}

/* Somebody is at it without the lock: a session would take a number that was given. */
START_TEST(a_mark_that_goes_while_its_loss_is_given_up_is_told_so) /* [M-9] */
{
    unsigned told = 0;
    make_log();
    uint64_t n = segments_in(at("log"));
    for (uint64_t i = n; i > n - 3; i--) remove_log(segment_path(at("log"), i));
    copy_log(at("log"), at("lost"));
    for (goes_at = 1; goes_at <= 8; goes_at++) {
        u9_loss loss;
        u9_fault fault;
        remove_log(at("log"));
        copy_log(at("lost"), at("log"));
        sim_before_list(take_mark_away);
        u9_err err = accept_loss(at("log"), 1, &loss, &fault);
        sim_before_list(NULL);
        bool changed = err == U9_STATE && strstr(fault.text, "changed meanwhile");
        ck_assert_msg(err == U9_OK || err == U9_ABSENT || err == U9_IO || changed, "%u: %s: %s", goes_at, u9_err_name(err), fault.text);
        if (err != U9_OK) ck_assert_uint_eq(segments_in(at("log")), n - 3);
        told += changed;
    }
    ck_assert_uint_gt(told, 0);
}
END_TEST

START_TEST(what_may_be_behind_a_link_that_leads_nowhere_is_not_given_up) /* [L-4] [M-9] */
{
    make_log();
    uint64_t n = segments_in(at("log"));
    u9_loss loss;
    u9_fault fault;
    copy_log(at("log"), at("whole"));
    remove_log(segment_path(at("log"), n));
    make_dir(segment_path(at("log"), n)); /* which is as little a file */
    for (int accept = 0; accept < 2; accept++) {
        ck_assert_int_eq(accept_loss(at("log"), accept, &loss, &fault), U9_CORRUPT);
        ck_assert_ptr_nonnull(strstr(fault.text, "no file stands here"));
        ck_assert_str_eq(fault.path, segment_path(at("log"), n));
    }
    ck_assert_uint_eq(segments_in(at("log")), n); /* no session has begun one */
    remove_log(segment_path(at("log"), n));
    sim_copy(segment_path(at("whole"), n), segment_path(at("log"), n));
    ck_assert_int_eq(accept_loss(at("log"), 1, &loss, NULL), U9_OK);
    ck_assert_int_eq(loss.state, U9_LOSS_NONE);
}
END_TEST

/* {F65} [M-9] Without its mark the log would be the other line, whose segment came into its directory. */
START_TEST(what_is_read_is_not_given_up_for_another_line)
{
    for (unsigned way = 0; way < 2; way++) {
        session(at("log"), "m", 5, 2);
        copy_log(at("log"), at("copy"));
        extend_file(segment_path(at("copy"), 1), 1 << 20); /* so that it is not continued */
        session(at("copy"), "q", 3, 2);
        u9_options o = small_options();
        u9_log *w = open_writer(at("log"), &o);
        append_many(w, "p", 4, 4);
        if (way == 1) copy_log(at("log"), at("back")); /* nothing promises these, but they are read */
        close_log(w);
        if (way == 0) copy_log(at("log"), at("back"));
        extend_file(segment_path(at("log"), 1), 1 << 20);
        session(at("log"), "z", 3, 2);
        sim_copy(beside(at("log"), ".mark"), beside(at("back"), ".mark"));
        sim_copy(segment_path(at("copy"), 2), segment_path(at("back"), 2));
        seen *s = look(at("back"));
        ck_assert_uint_eq(s->count, 9);
        ck_assert(has_text(s, "p3"));
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_FORK), 1);
        forget(s);
        expect_refused(at("back"), at("back"), U9_CORRUPT, "records of this one no more");
        remove_log(segment_path(at("back"), 2)); /* as it says */
        expect_given_up(at("back"), 12);
        s = look(at("back"));
        ck_assert(has_text(s, "p3"));
        forget(s);
        remove_log(at("log"));
        remove_log(at("copy"));
        remove_log(at("back"));
    }
}
END_TEST

/* {F65} [M-9] Behind a gap of which only the mark tells that it is one, records are read: giving up does not leave them out. */
START_TEST(what_is_read_behind_a_gap_is_not_given_up)
{
    uint64_t offsets[64];
    uint8_t bytes[40000] = {0};
    for (unsigned way = 0; way < 2; way++) {
        u9_options o = writer_options();
        o.policy = U9_POLICY_NONE;
        for (unsigned session = 0; session < 2; session++) {
            u9_log *w = open_writer(at("log"), &o);
            for (unsigned i = 0; i < 3; i++) append_bytes(w, bytes, sizeof bytes);
            close_log(w);
        }
        size_t n = frame_offsets(segment_path(at("log"), 1), offsets, 64);
        cut_file(segment_path(at("log"), 1), offsets[n - 1]); /* its u9end goes */
        size_t broken = n - 4; /* the first record of the second session, or its u9open */
        flip_bit(segment_path(at("log"), 1), offsets[broken - way] + 70, 0);
        seen *before = look(at("log"));
        ck_assert_uint_eq(before->count, 6 - (way == 0));
        u9_loss loss;
        u9_fault fault;
        ck_assert_int_eq(accept_loss(at("log"), 0, &loss, NULL), U9_OK);
        ck_assert_int_eq(loss.state, U9_LOSS_FOUND);
        ck_assert_uint_eq(loss.lost, 0);
        u9_err err = accept_loss(at("log"), 1, &loss, &fault);
        ck_assert_msg(err == U9_OK, "%s", fault.text);
        seen *s = look(at("log"));
        ck_assert_uint_eq(s->count, before->count);
        ck_assert_uint_eq(s->report.next_ordinal, 6);
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MARK), 0);
        ck_assert_uint_eq(s->damage_count, before->damage_count - 1);
        forget(s);
        append_fillers(at("log"), 2);
        s = look(at("log"));
        ck_assert_uint_eq(s->count, before->count + 2);
        forget(s);
        forget(before);
        remove_log(at("log"));
    }
}
END_TEST

START_TEST(damage_at_the_marks_place_is_no_older_state)
{
    uint64_t offsets[64];
    u9_log *w = open_writer(at("log"), NULL);
    append_many(w, "r", 5, 1);
    sim_advance(1000000);
    crash(w, at("log"));
    uint8_t *bytes;
    size_t size;
    bytes = read_file(beside(at("log"), ".mark"), &size);
    session(at("log"), "s", 5, 1);
    write_file(beside(at("log"), ".mark"), bytes, size); /* an older one, which is still true */
    free(bytes);
    u9_mark mark;
    ck_assert_int_eq(u9_mark_read(at("log"), io_of(at("log")), &mark, NULL), U9_OK);
    size_t n = frame_offsets(segment_path(at("log"), 1), offsets, 64);
    while (n > 0 && offsets[n - 1] >= mark.offset) n--;
    flip_bit(segment_path(at("log"), 1), offsets[n - 1] + 70, 0);
    u9_loss loss;
    ck_assert_int_eq(accept_loss(at("log"), 1, &loss, NULL), U9_OK);
    ck_assert_int_eq(loss.state, U9_LOSS_DAMAGE);
}
END_TEST

START_TEST(logs_of_each_key_kind_can_be_given_up)
{
    static const char *const kinds[] = {"muid", "gid:log", "tid", "uid8", "rkey"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        u9_options o = small_options();
        u9_loss loss;
        u9_fault fault;
        o.kind = kinds[i];
        o.generator = 3;
        close_log(open_writer(at("log"), &o));
        copy_log(at("log"), at("older"));
        close_log(open_writer(at("log"), &o));
        u9_key key = {"key", 3};
        u9_log *w = open_writer(at("log"), &o);
        ck_assert_int_eq(u9_log_append(w, strncmp(kinds[i], "rkey", 4) == 0 ? &key : NULL, "\x81", 1, NULL), U9_OK);
        close_log(w);
        put_back();
        u9_err err = accept_loss(at("back"), 1, &loss, &fault);
        ck_assert_msg(err == U9_OK && loss.state == U9_LOSS_ACCEPTED && loss.lost == 1, "%s: %s", kinds[i], fault.text);
        seen *s = look(at("back"));
        ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
        ck_assert_str_eq(s->report.kind, kinds[i]);
        forget(s);
        remove_log(at("log"));
        remove_log(at("older"));
        remove_log(at("back"));
    }
}
END_TEST

/* The nth operation of this kind on this path. */
static const sim_op *nth_op(sim_kind kind, const char *path, unsigned nth)
{
    size_t n;
    const sim_op *ops = sim_ops(&n);
    for (size_t i = 0; i < n; i++)
        if (ops[i].kind == kind && strcmp(ops[i].path, path) == 0 && --nth == 0) return &ops[i];
    ck_abort_msg("there is no such operation on %s", path);
}

START_TEST(each_step_is_durable_before_the_next_one_begins)
{
    make_log();
    uint64_t n = segments_in(at("log"));
    remove_log(segment_path(at("log"), n));
    sim_forget_diary();
    u9_loss loss;
    ck_assert_int_eq(accept_loss(at("log"), 1, &loss, NULL), U9_OK);
    const char *segment = segment_path(at("log"), n + 1), *kept = beside(at("log"), ".mark.old-1");
    const sim_op *steps[] = {
        nth_op(SIM_EVICT, segment_path(at("log"), n - 1), 1),
        nth_op(SIM_CREATE, kept, 1),          nth_op(SIM_WRITE, kept, 1),   nth_op(SIM_SYNC, kept, 1),
        nth_op(SIM_SYNC_DIR, at("log"), 1),   nth_op(SIM_CREATE, segment, 1), nth_op(SIM_WRITE, segment, 1),
        nth_op(SIM_SYNC, segment, 1),         nth_op(SIM_SYNC_DIR, at("log"), 2),
        nth_op(SIM_WRITE, beside(at("log"), ".mark"), 1), nth_op(SIM_SYNC, beside(at("log"), ".mark"), 1)};
    for (size_t i = 1; i < sizeof steps / sizeof *steps; i++) ck_assert_uint_lt(steps[i - 1]->ended, steps[i]->began);
}
END_TEST

/* Stops at each call in turn: the loss is told as before, or given up; and then it can be. */
static void stop_anywhere(void (*harm)(void), bool half)
{
    unsigned n = 0, as_before = 0;
    u9_err err = U9_END;
    while (err != U9_OK) {
        sim_begin(n + 1);
        sim_make_dir(at(""));
        harm();
        seen *was = look(at("back"));
        u9_loss loss;
        if (half) sim_fail_half(++n, EIO);
        else sim_fail(SIM_ANY, n = next_call(n), EIO, true);
        err = accept_loss(at("back"), 1, &loss, NULL);
        sim_mend();
        seen *s = look(at("back"));
        ck_assert_uint_eq(s->count, was->count);
        bool told = s->report.verdict == U9_V_CORRUPT;
        ck_assert(err == U9_OK ? !told : true);
        if (told) {
            ck_assert_uint_eq(s->report.lost, was->report.lost);
            ck_assert_uint_eq(s->report.next_ordinal, was->report.next_ordinal);
            ck_assert_int_eq(accept_loss(at("back"), 1, &loss, NULL), U9_OK);
            ck_assert_int_eq(loss.state, U9_LOSS_ACCEPTED);
            as_before++;
        }
        forget(s);
        append_fillers(at("back"), 2);
        s = look(at("back"));
        ck_assert_uint_eq(s->count, was->count + 2);
        ck_assert_int_lt(s->report.verdict, U9_V_UNKNOWN);
        ck_assert_uint_eq(s->report.lost, 0);
        forget(s);
        forget(was);
        ck_assert_uint_lt(n, 400);
    }
    ck_assert_uint_gt(n, half ? 3 : 20);
    ck_assert_uint_gt(as_before, half ? 1 : 10);
}

static void harm_older(void)
{
    make_log();
    put_back();
}

static void harm_gone(void)
{
    make_log();
    copy_log(at("log"), at("back"));
    remove_log(segment_path(at("back"), segments_in(at("log"))));
}

static void harm_cut(void)
{
    make_log();
    copy_log(at("log"), at("back"));
    cut_file(segment_path(at("back"), segments_in(at("log"))), 4096 + 777);
}

START_TEST(a_stop_at_any_call_leaves_the_loss_told_or_given_up)
{
    stop_anywhere(harm_older, false);
    stop_anywhere(harm_gone, false);
    stop_anywhere(harm_cut, false);
}
END_TEST

START_TEST(so_does_a_write_of_which_half_arrives)
{
    stop_anywhere(harm_older, true);
    stop_anywhere(harm_gone, true);
}
END_TEST

Suite *suite_repair(void)
{
    Suite *suite = suite_create("repair");
    TCase *t = tcase_create("repair");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_cut_log_goes_on_where_it_ends);
    tcase_add_test(t, an_older_state_is_whole_when_the_newer_one_is_given_up);
    tcase_add_test(t, a_newest_segment_that_is_gone_or_emptied_is_given_up_and_its_number_not_used_again);
    tcase_add_test(t, behind_a_sealed_segment_the_log_goes_on_at_its_data);
    tcase_add_test(t, a_log_that_went_on_otherwise_is_given_up_too);
    tcase_add_test(t, old_marks_are_kept_and_never_overwritten);
    tcase_add_test(t, a_log_that_meets_its_mark_is_not_touched);
    tcase_add_test(t, what_cannot_be_given_up_is_refused_with_the_reason);
    tcase_add_test(t, a_mark_that_goes_while_its_loss_is_given_up_is_told_so);
    tcase_add_test(t, what_may_be_behind_a_link_that_leads_nowhere_is_not_given_up);
    tcase_add_test(t, what_is_read_is_not_given_up_for_another_line);
    tcase_add_test(t, what_is_read_behind_a_gap_is_not_given_up);
    tcase_add_test(t, damage_at_the_marks_place_is_no_older_state);
    tcase_add_test(t, logs_of_each_key_kind_can_be_given_up);
    tcase_add_test(t, each_step_is_durable_before_the_next_one_begins);
    tcase_add_test(t, a_stop_at_any_call_leaves_the_loss_told_or_given_up);
    tcase_add_test(t, so_does_a_write_of_which_half_arrives);
    suite_add_tcase(suite, t);
    return suite;
}
