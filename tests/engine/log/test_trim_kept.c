/*
 * tests/engine/log/test_trim_kept.c: what a writer's options keep; a beginning that was deleted by hand, and is accepted;
 * and what others make of a log that was trimmed. [C-5] [L-4] [L-10]
 */
#include "tests/engine/log/trimmed.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, TICK = 50000, SECOND = 1000000 };

/* What options keep */

START_TEST(a_writer_keeps_so_many_bytes_from_roll_to_roll) /* [L-10] */
{
    u9_options o = small_options();
    o.keep_bytes = 3 * o.segment_size;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < 100; i++) {
        append_fillers(w, 1);
        sim_advance(TICK);
        uint64_t bytes = 0;
        size_t n;
        char **names = list_names(at("log"), &n);
        for (size_t k = 0; k < n; k++) {
            bytes += strstr(names[k], ".u9") ? file_size(file_in(at("log"), names[k])) : 0;
            free(names[k]);
        }
        free(names);
        ck_assert_uint_le(n, 1 + 6);
        ck_assert(i < 40 || bytes >= o.keep_bytes);
    }
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(s->report.next_ordinal, 100);
    ck_assert_uint_lt(s->count, 50);
    forget(s);
}
END_TEST

START_TEST(what_goes_at_a_roll_is_removed_in_order_in_the_background) /* [L-10] */
{
    u9_options o = small_options();
    make_row_of_segments(at("log"));
    unsigned n = segments_in(at("log"));
    uint64_t first = first_in(at("log"), n), bytes = file_size(segment_path(at("log"), n));
    o.keep_bytes = UINT64_MAX;
    u9_log *w = open_writer(at("log"), &o);
    o.keep_bytes = bytes;
    close_log(w);
    sim_task_chance(0);
    o.keep_bytes = 4 * o.segment_size;
    w = open_writer(at("log"), &o);
    uint64_t lowest = 1;
    while (!exists(segment_path(at("log"), lowest))) lowest++;
    ck_assert_uint_gt(lowest, 1); /* at once */
    sim_forget_diary();
    append_fillers(w, 10);
    ck_assert_uint_eq(sim_count(SIM_REMOVE), 0);
    ck_assert(exists(segment_path(at("log"), lowest)));
    sim_advance(4 * TICK);
    ck_assert(!exists(segment_path(at("log"), lowest)));
    uint64_t kept = said_in(at("log"), n + 2).segment;
    ck_assert_uint_gt(kept, lowest);
    expect_trim_order(at("log"), n + 2, lowest, kept);
    ck_assert_uint_lt(first_in(at("log"), kept), first);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    forget(s);
}
END_TEST

/* Who put another file there meanwhile has it still. */
/* Nothing is removed that the mark does not tell: at the next roll it is told once more, and then all of it goes. */
START_TEST(a_mark_that_was_not_written_at_a_roll_is_written_at_the_next_one) /* [L-10] [M-5] */
{
    sim_needed("tasks in a known order");
    u9_options o = small_options();
    o.keep_bytes = o.segment_size;
    for (unsigned nth = 1; nth <= 12; nth++) {
        remove_log(at("log"));
        sim_task_chance(0);
        u9_log *w = open_writer(at("log"), &o);
        sim_aim(".mark");
        sim_fail(SIM_WRITE, nth, EIO, false);
        for (unsigned i = 0; i < 2 * TRIM_RECORDS; i++) {
            append_fillers(w, 1);
            ck_assert_int_eq(u9_log_sync(w), U9_OK);
        }
        sim_mend();
        sim_aim(NULL);
        ck_assert_uint_le(segments_in(at("log")), 5);
        close_log(w);
        seen *s = look(at("log"));
        ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
        ck_assert_uint_eq(s->report.next_ordinal, 2 * TRIM_RECORDS);
        forget(s);
    }
}
END_TEST

START_TEST(what_takes_the_place_of_a_file_that_is_to_go_is_left_alone) /* [L-10] */
{
    u9_options o = small_options();
    make_row_of_segments(at("log"));
    sim_task_chance(0);
    o.keep_bytes = 4 * o.segment_size;
    u9_log *w = open_writer(at("log"), &o);
    uint64_t lowest = 1;
    while (!exists(segment_path(at("log"), lowest))) lowest++;
    sim_forget_diary();
    append_fillers(w, 10);
    ck_assert_uint_eq(sim_count(SIM_REMOVE), 0); /* it is to go */
    sim_remove(segment_path(at("log"), lowest));
    sim_copy(segment_path(at("log"), lowest + 1), segment_path(at("log"), lowest));
    sim_advance(4 * TICK);
    ck_assert(exists(segment_path(at("log"), lowest)));
    close_log(w);
}
END_TEST

START_TEST(what_is_not_removed_yet_goes_at_the_close) /* [L-10] */
{
    sim_needed("tasks in a known order");
    u9_options o = small_options();
    sim_task_chance(0);
    o.keep_bytes = o.segment_size;
    u9_log *w = open_writer(at("log"), &o);
    append_fillers(w, TRIM_RECORDS / 2);
    close_log(w);
    unsigned n = segments_in(at("log"));
    ck_assert_uint_le(n, 3);
    u9_log *r = open_reader(at("log"));
    u9_trimmed t = trim_on(r, (u9_trim){.size = sizeof(u9_trim), .dry_run = 1});
    ck_assert_uint_gt(t.ordinal, 0);
    close_log(r);
}
END_TEST

START_TEST(a_writer_keeps_so_much_time) /* [L-10] */
{
    u9_options o = small_options();
    make_row_of_segments(at("log"));
    o.keep_age_us = 3600 * (uint64_t)SECOND;
    close_log(open_writer(at("log"), &o));
    expect_kept(at("log"), 0, TRIM_RECORDS);
    sim_advance(3601 * (uint64_t)SECOND);
    u9_log *w = open_writer(at("log"), &o);
    uint64_t kept = trim_on(w, (u9_trim){.size = sizeof(u9_trim), .dry_run = 1}).ordinal;
    ck_assert_uint_gt(kept, TRIM_RECORDS / 2);
    append_fillers(w, 10);
    sim_advance(3601 * (uint64_t)SECOND);
    append_fillers(w, 10);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_uint_gt(s->records[0].ordinal, kept);
    ck_assert_uint_eq(s->report.next_ordinal, TRIM_RECORDS + 20);
    forget(s);
}
END_TEST

START_TEST(a_session_that_keeps_all_that_is_there_writes_nothing_for_that) /* [L-10] */
{
    uint8_t was[16], is[16];
    u9_options o = small_options();
    make_row_of_segments(at("log"));
    picture(at("log"), was);
    o.keep_bytes = UINT64_MAX;
    o.keep_age_us = UINT64_MAX;
    close_log(open_writer(at("log"), &o));
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
}
END_TEST

START_TEST(what_options_keep_hinders_no_append_and_its_failure_is_told_by_the_close) /* [L-10] */
{
    u9_options o = small_options();
    u9_fault fault;
    make_row_of_segments(at("log"));
    o.keep_bytes = 2 * o.segment_size;
    sim_fail(SIM_REMOVE, 1, EPERM, true);
    u9_log *w = open_writer(at("log"), &o);
    append_fillers(w, 20);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_int_eq(u9_log_close(w, &fault), U9_IO);
    ck_assert_str_eq(fault.rule, "L-10");
    ck_assert_int_eq(fault.sys, EPERM);
    sim_mend();
    expect_kept(at("log"), 0, TRIM_RECORDS + 20);
    w = open_writer(at("log"), &o);
    close_log(w);
    ck_assert_uint_le(segments_in(at("log")), 5);
}
END_TEST

START_TEST(options_of_an_earlier_version_keep_all)
{
    make_row_of_segments(at("log"));
    u9_options o = small_options();
    o.keep_bytes = 1; /* which is not there */
    o.size = offsetof(u9_options, keep_bytes);
    u9_log *w = open_writer(at("log"), &o);
    append_fillers(w, 20);
    close_log(w);
    expect_kept(at("log"), 0, TRIM_RECORDS + 20);
}
END_TEST

/* A beginning that was deleted by hand */

static u9_err accept_trim(const char *log, int accept, u9_trimmed *out, u9_fault *fault)
{
    *out = (u9_trimmed){.size = sizeof *out};
    return u9_accept_trim(log, accept, io_of(log), out, fault);
}

static void delete_up_to(const char *log, uint64_t number)
{
    for (uint64_t i = 1; i <= number; i++) remove_log(segment_path(log, i));
}

static u9_err open_again(const char *log, u9_fault *fault)
{
    u9_options o = small_options();
    u9_log *w;
    u9_err err = u9_log_open(log, &o, &w, fault);
    if (err == U9_OK) close_log(w);
    return err;
}

START_TEST(a_beginning_that_was_deleted_is_told_with_a_way_on) /* [L-4] [L-10] */
{
    u9_fault fault;
    u9_trimmed t;
    uint8_t was[16], is[16];
    make_row_of_segments(at("log"));
    uint64_t kept = first_in(at("log"), 3);
    unsigned n = segments_in(at("log"));
    delete_up_to(at("log"), 2);
    ck_assert_int_eq(open_again(at("log"), &fault), U9_CORRUPT);
    ck_assert_ptr_nonnull(strstr(fault.text, "u9 trim --accept"));
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->report.lost, kept);
    ck_assert_int_eq(s->report.begins_late, 1);
    ck_assert_uint_eq(s->report.trim_segment, 0);
    forget(s);
    picture(at("log"), was);
    ck_assert_int_eq(accept_trim(at("log"), 0, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segments, 1);
    ck_assert_uint_eq(t.records, kept);
    ck_assert_uint_eq(t.segment, 3);
    ck_assert_uint_eq(t.ordinal, kept);
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
    u9_err err = accept_trim(at("log"), 1, &t, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    ck_assert_uint_eq(said_in(at("log"), n + 1).segment, 3);
    s = look(at("log"));
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_int_eq(s->report.begins_late, 0);
    forget(s);
    expect_kept(at("log"), kept, TRIM_RECORDS);
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segments, 0);
    session(at("log"), "on", 2, 1);
    expect_kept(at("log"), kept, TRIM_RECORDS + 2);
    delete_up_to(at("log"), 4); /* and behind a trim once more */
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segment, 5);
    ck_assert_uint_eq(t.records, t.ordinal - kept);
    expect_kept(at("log"), t.ordinal, TRIM_RECORDS + 2);
}
END_TEST

static unsigned comes_back;

static void bring_back(unsigned nth)
{
    if (nth == comes_back) sim_move(at("aside"), segment_path(at("log"), 1));
}

/* What is missing when somebody looks, and is there again when it is to be given up, is not given up. */
START_TEST(a_beginning_that_comes_back_meanwhile_is_kept) /* [L-10] */
{
    unsigned kept = 0;
    for (comes_back = 1; comes_back <= 12; comes_back++) {
        u9_fault fault;
        u9_trimmed t;
        remove_log(at("log"));
        make_row_of_segments(at("log"));
        sim_move(segment_path(at("log"), 1), at("aside"));
        sim_before_list(bring_back);
        ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
        sim_before_list(NULL);
        if (sim_holds(at("aside"))) break;
        if (t.segments > 0) continue; /* it came too late */
        kept++;
        expect_kept(at("log"), 0, TRIM_RECORDS);
    }
    ck_assert_uint_gt(kept, 1);
}
END_TEST

/* A link whose target is not there may come to lead somewhere again, and a directory may hold the file. */
START_TEST(a_beginning_is_not_given_up_while_something_that_is_no_file_stands_in_its_place) /* [L-4] [L-10] */
{
    static const uint64_t stands[] = {1, 2, 119};
    u9_fault fault;
    u9_trimmed t;
    bool in_place = _i < 2;
    make_row_of_segments(at("log"));
    copy_log(at("log"), at("whole"));
    delete_up_to(at("log"), 2);
    make_dir(segment_path(at("log"), stands[_i]));
    u9_report r = {.size = sizeof r};
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
    ck_assert_int_eq(u9_check(at("log"), &o, &r, NULL), U9_OK);
    ck_assert_int_eq(r.begins_late, !in_place);
    ck_assert_int_eq(open_again(at("log"), &fault), U9_CORRUPT);
    ck_assert_int_eq(strstr(fault.text, "u9 trim --accept") == NULL, in_place);
    ck_assert_int_eq(accept_trim(at("log"), 0, &t, &fault), in_place ? U9_CORRUPT : U9_OK);
    if (in_place) {
        ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_CORRUPT);
        ck_assert_ptr_nonnull(strstr(fault.text, "no file stands here"));
        ck_assert_str_eq(fault.path, segment_path(at("log"), stands[_i]));
        ck_assert_str_eq(fault.rule, "L-4");
    }
    remove_log(segment_path(at("log"), stands[_i]));
    for (unsigned n = 1; n < 3; n++) sim_copy(segment_path(at("whole"), n), segment_path(at("log"), n));
    expect_kept(at("log"), 0, TRIM_RECORDS);
}
END_TEST

START_TEST(only_a_beginning_is_accepted) /* [L-10] */
{
    u9_fault fault;
    u9_trimmed t;
    uint8_t was[16], is[16];
    make_row_of_segments(at("log"));
    picture(at("log"), was);
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segments, 0); /* nothing is missing */
    remove_log(segment_path(at("log"), 2));
    picture(at("log"), was);
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segments, 0); /* it is in the middle */
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
    ck_assert_int_eq(open_again(at("log"), &fault), U9_CORRUPT);
    ck_assert_ptr_null(strstr(fault.text, "u9 trim"));
    remove_log(segment_path(at("log"), 1));
    remove_log(segment_path(at("log"), 4)); /* at both places */
    picture(at("log"), was);
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segments, 0);
    picture(at("log"), is);
    ck_assert_mem_eq(was, is, 16);
}
END_TEST

START_TEST(beside_a_writer_nothing_is_accepted)
{
    u9_fault fault;
    u9_trimmed t;
    make_row_of_segments(at("log"));
    u9_log *w = open_rolling(at("log"));
    append_text(w, "live");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    delete_up_to(at("log"), 2);
    ck_assert_int_eq(accept_trim(at("log"), 0, &t, &fault), U9_OK);
    ck_assert_uint_eq(t.segments, 1);
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_LOCKED);
    close_log(w);
    ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
    expect_kept(at("log"), t.ordinal, TRIM_RECORDS + 1);
}
END_TEST

START_TEST(a_stop_at_any_call_leaves_the_beginning_missing_or_accepted)
{
    for (unsigned power = 0; power < 2; power++) {
        unsigned n = 0, missing = 0;
        u9_err err = U9_END;
        while (err != U9_OK) {
            u9_fault fault;
            u9_trimmed t;
            sim_begin(n + 1);
            sim_make_dir(at(""));
            make_row_of_segments(at("log"));
            delete_up_to(at("log"), 2);
            n += power ? thorough(7, 5) : thorough(3, 2); /* each reads all that is there, several times over */
            sim_fail(SIM_ANY, n, EIO, true);
            err = accept_trim(at("log"), 1, &t, &fault);
            sim_mend();
            if (power) sim_cut_power(at("log"));
            seen *s = look(at("log"));
            missing += s->report.verdict == U9_V_CORRUPT;
            ck_assert(err != U9_OK || s->report.verdict == U9_V_CLEAN);
            ck_assert_int_eq(s->report.begins_late, s->report.verdict == U9_V_CORRUPT);
            forget(s);
            ck_assert_int_eq(accept_trim(at("log"), 1, &t, &fault), U9_OK);
            expect_kept(at("log"), t.ordinal, TRIM_RECORDS);
            ck_assert_uint_eq(t.segment, 3);
            ck_assert_uint_lt(n, 1000);
        }
        ck_assert_uint_gt(missing, power ? 10 : 20);
    }
}
END_TEST

/* What others make of it */

/* Segment 2 with a u9trim behind its u9open that says so; segment 1 is gone. */
static void forge_trimmed(const char *log, uint64_t segment, bool spoil_chain)
{
    forged_segment one = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&one, "r", 5);
    forge_end(&one, U9I_END_CLOSING);
    forged_segment two = forge_begin(2, 1, &one, U9I_TAIL_CLOSED);
    u9i_trim_record trim = {.segment = segment, .ordinal = 5};
    uint8_t body[128];
    u9i_out out = u9i_out_init(body, sizeof body);
    u9i_trim_record_encode(&out, &trim);
    if (spoil_chain) forge_records(&two, "s", 1);
    forge_frame(&two, body, out.size, 0);
    forge_records(&two, "s", 3);
    forge_end(&two, U9I_END_CLOSING);
    forge_save(&two, log);
    forge_free(&one);
    forge_free(&two);
}

START_TEST(a_u9trim_counts_in_its_place_before_all_others) /* [C-5] */
{
    static const struct {
        uint64_t segment;
        bool elsewhere, missing;
        uint64_t told;
    } ways[] = {{2, false, false, 2}, {2, true, false, 2}, {1, false, true, 1}, {3, false, false, 3}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        forge_trimmed(at("log"), ways[i].segment, ways[i].elsewhere);
        seen *s = look(at("log")); /* the second reader agrees */
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MISSING), ways[i].missing);
        ck_assert_uint_eq(s->report.trim_segment, ways[i].told);
        forget(s);
        if (!ways[i].missing) session(at("log"), "on", 1, 0); /* also behind one that no writer makes */
        remove_log(at("log"));
    }
}
END_TEST

START_TEST(a_u9trim_that_no_writer_makes_is_not_repeated) /* [C-5] */
{
    size_t size;
    forge_trimmed(at("log"), 7, true); /* above its own segment, 2, which is the last */
    session(at("log"), "on", 1, 0);
    session(at("other"), "r", 1, 0);
    uint8_t *bytes = read_file(segment_path(at("other"), 1), &size);
    write_file(segment_path(at("log"), 8), bytes, size); /* foreign, and in the way of 8 */
    free(bytes);
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 20);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 0);
    ck_assert_uint_eq(s->count, 25);
    forget(s);
}
END_TEST

START_TEST(what_was_trimmed_stays_so_when_a_loss_is_given_up) /* [C-5] [M-9] */
{
    u9_loss loss = {.size = sizeof loss};
    size_t size;
    make_row_of_segments(at("log"));
    u9_trimmed t = trim_log(at("log"), below_ordinal(26));
    copy_log(at("log"), at("older"));
    session(at("log"), "gone", 5, 1);
    uint8_t *bytes = read_file(file_in(at("log"), ".mark"), &size);
    write_file(file_in(at("older"), ".mark"), bytes, size);
    free(bytes);
    ck_assert_int_eq(u9_accept_loss(at("older"), 1, io_of(at("older")), &loss, NULL), U9_OK);
    ck_assert_int_eq(loss.state, U9_LOSS_ACCEPTED);
    ck_assert_uint_eq(said_in(at("older"), loss.segment).segment, t.segment);
    ck_assert_uint_eq(marked_by(at("older")).first_ordinal, t.ordinal);
    expect_kept(at("older"), t.ordinal, TRIM_RECORDS);
    session(at("older"), "on", 1, 0);
    t = trim_log(at("older"), (u9_trim){.size = sizeof(u9_trim), .keep_bytes = 1});
    ck_assert_uint_eq(t.ordinal, TRIM_RECORDS);
    expect_kept(at("older"), TRIM_RECORDS, TRIM_RECORDS + 1);
}
END_TEST

/* What says that it was trimmed is in the newest segment alone, and that is gone: the mark says it as well. */
START_TEST(a_newest_segment_that_is_lost_does_not_take_along_that_the_log_was_trimmed) /* [C-5] [L-10] [M-9] */
{
    u9_loss loss = {.size = sizeof loss};
    u9_fault fault;
    make_row_of_segments(at("log"));
    unsigned n = segments_in(at("log"));
    u9_trimmed t = trim_log(at("log"), below_ordinal(26));
    remove_log(segment_path(at("log"), n + 1));
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, TRIM_RECORDS - t.ordinal);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_NONE), 1);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MARK), 1); /* the newest one */
    ck_assert_uint_eq(s->report.lost, 0);
    ck_assert_uint_eq(s->report.trim_segment, t.segment);
    forget(s);
    u9_err err = u9_accept_loss(at("log"), 1, io_of(at("log")), &loss, &fault);
    ck_assert_msg(err == U9_OK && loss.state == U9_LOSS_ACCEPTED, "%s", fault.text);
    ck_assert_uint_eq(said_in(at("log"), loss.segment).segment, t.segment);
    expect_kept(at("log"), t.ordinal, TRIM_RECORDS);
    session(at("log"), "on", 2, 1);
    remove_mark(at("log"));
    expect_kept(at("log"), t.ordinal, TRIM_RECORDS + 2);
    remove_log(segment_path(at("log"), t.segment)); /* and what is kept is missed */
    s = look(at("log"));
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MISSING), 1);
    forget(s);
}
END_TEST

/* One that was continued from a copy in which that segment had no records yet: the mark promises five there. */
START_TEST(a_mark_explains_nothing_that_is_missing_of_what_it_promises) /* [C-5] [L-4] */
{
    size_t size;
    u9_log *w = open_rolling(at("log"));
    copy_log(at("log"), at("copy"));
    append_fillers(w, 5);
    close_log(w);
    session(at("copy"), "line", 2, 1);
    uint8_t *line = read_file(segment_path(at("copy"), 2), &size);
    write_file(segment_path(at("log"), 2), line, size);
    free(line);
    remove_log(segment_path(at("log"), 1));
    ck_assert_uint_eq(marked_by(at("log")).end.ordinal, 5);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MISSING), 1);
    ck_assert_int_eq(s->report.begins_late, 1);
    forget(s);
}
END_TEST

START_TEST(a_log_without_a_mark_gets_one_before_anything_goes) /* [L-10] [M-1] */
{
    make_row_of_segments(at("log"));
    remove_mark(at("log"));
    u9_trimmed t = trim_log(at("log"), below_ordinal(26));
    ck_assert_uint_eq(marked_by(at("log")).first_ordinal, t.ordinal);
    expect_kept(at("log"), t.ordinal, TRIM_RECORDS);
}
END_TEST

START_TEST(salvage_of_a_trimmed_log_takes_what_is_kept)
{
    make_row_of_segments(at("log"));
    u9_trimmed t = trim_log(at("log"), below_ordinal(26));
    fill_bytes(segment_path(at("log"), t.segment), 3 * BLOCK, 100, 0x55);
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
    u9_report report = {.size = sizeof report};
    uint64_t saved;
    u9_fault fault;
    u9_err err = u9_salvage(at("log"), at("out"), &o, &report, &saved, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    ck_assert_uint_eq(saved, TRIM_RECORDS - t.ordinal - report.lost);
    ck_assert_uint_eq(report.outputs, 1);
    expect_kept(at("out"), 0, saved);
}
END_TEST

Suite *suite_trim_kept(void)
{
    Suite *suite = suite_create("trim_kept");
    TCase *t = tcase_create("options");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_writer_keeps_so_many_bytes_from_roll_to_roll);
    tcase_add_test(t, what_goes_at_a_roll_is_removed_in_order_in_the_background);
    tcase_add_test(t, a_mark_that_was_not_written_at_a_roll_is_written_at_the_next_one);
    tcase_add_test(t, what_takes_the_place_of_a_file_that_is_to_go_is_left_alone);
    tcase_add_test(t, what_is_not_removed_yet_goes_at_the_close);
    tcase_add_test(t, a_writer_keeps_so_much_time);
    tcase_add_test(t, a_session_that_keeps_all_that_is_there_writes_nothing_for_that);
    tcase_add_test(t, what_options_keep_hinders_no_append_and_its_failure_is_told_by_the_close);
    tcase_add_test(t, options_of_an_earlier_version_keep_all);
    suite_add_tcase(suite, t);
    t = tcase_create("accepted");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_beginning_that_was_deleted_is_told_with_a_way_on);
    tcase_add_test(t, a_beginning_that_comes_back_meanwhile_is_kept);
    tcase_add_loop_test(t, a_beginning_is_not_given_up_while_something_that_is_no_file_stands_in_its_place, 0, 3);
    tcase_add_test(t, only_a_beginning_is_accepted);
    tcase_add_test(t, beside_a_writer_nothing_is_accepted);
    tcase_add_test(t, a_stop_at_any_call_leaves_the_beginning_missing_or_accepted);
    tcase_add_test(t, a_u9trim_counts_in_its_place_before_all_others);
    tcase_add_test(t, a_u9trim_that_no_writer_makes_is_not_repeated);
    tcase_add_test(t, what_was_trimmed_stays_so_when_a_loss_is_given_up);
    tcase_add_test(t, a_newest_segment_that_is_lost_does_not_take_along_that_the_log_was_trimmed);
    tcase_add_test(t, a_mark_explains_nothing_that_is_missing_of_what_it_promises);
    tcase_add_test(t, a_log_without_a_mark_gets_one_before_anything_goes);
    tcase_add_test(t, salvage_of_a_trimmed_log_takes_what_is_kept);
    suite_add_tcase(suite, t);
    return suite;
}
