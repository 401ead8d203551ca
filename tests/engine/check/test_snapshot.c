/*
 * tests/engine/check/test_snapshot.c: a snapshot is a log with all that was durable when it began, beside a writer that
 * goes on, rolls and trims; made again it takes what is new; a stop at any call leaves no half that looks whole.
 */
#include "format/base/hash.h"
#include "tests/engine/log/trimmed.h"
#include "tests/plain_file.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, SECOND = 1000000 };

static u9_err try_snapshot(u9_log *log, const char *to, u9_snapshot_options o, u9_snapshot_report *report, u9_fault *fault)
{
    o.size = sizeof o;
    *report = (u9_snapshot_report){.size = sizeof *report};
    return u9_log_snapshot(log, to, &o, report, fault);
}

static u9_snapshot_report snapshot_on(u9_log *log, const char *to)
{
    u9_fault fault = {0};
    u9_snapshot_report report;
    u9_err err = try_snapshot(log, to, (u9_snapshot_options){0}, &report, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    return report;
}

static u9_snapshot_report snapshot(const char *from, const char *to)
{
    u9_log *r = open_reader(from);
    u9_snapshot_report report = snapshot_on(r, to);
    close_log(r);
    return report;
}

static void expect_refused(const char *from, const char *to, u9_err want, const char *why)
{
    u9_fault fault = {0};
    u9_snapshot_report report;
    u9_log *r = open_reader(from);
    ck_assert_int_eq(try_snapshot(r, to, (u9_snapshot_options){0}, &report, &fault), want);
    ck_assert_msg(strstr(fault.text, why) != NULL, "%s", fault.text);
    close_log(r);
}

/* A clean, closed log with the records [first, next), that its own mark confirms. */
static void expect_snapshot(const char *to, uint64_t first, uint64_t next)
{
    seen *s = look(to);
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_int_eq(s->report.closed, 1);
    ck_assert_int_eq(s->report.mark, U9_MARK_COUNTS);
    ck_assert_uint_eq(s->report.next_ordinal, next);
    ck_assert_uint_eq(s->count, next - first);
    for (size_t i = 0; i < s->count; i++) ck_assert_uint_eq(s->records[i].ordinal, first + i);
    forget(s);
}

static const char *named(const char *log, uint64_t number)
{
    return segment_path(at(log), number);
}

/* What is taken */

START_TEST(what_will_not_change_is_linked_and_the_last_segment_copied_and_closed) /* */
{
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 20);
    u9_snapshot_report r = snapshot_on(w, at("snap"));
    unsigned n = segments_in(at("log"));
    sim_needed("links");
    ck_assert_uint_eq(r.linked, n - 1);
    ck_assert_uint_eq(r.copied, 1);
    ck_assert_uint_eq(r.next_ordinal, 20);
    ck_assert_int_eq(r.closed, 1);
    for (unsigned i = 1; i < n; i++) ck_assert_uint_eq(sim_links(named("snap", i)), 2);
    ck_assert_uint_eq(sim_links(named("snap", n)), 1);
    ck_assert_uint_eq(sim_links(file_in(at("snap"), ".mark")), 1);
    ck_assert(!exists(at("snap.partial")));
    expect_snapshot(at("snap"), 0, 20);
    append_fillers(w, 20);
    close_log(w);
    expect_snapshot(at("snap"), 0, 20);
}
END_TEST

START_TEST(what_is_appended_is_in_it_without_a_commit_and_durable_in_the_log) /* */
{
    u9_options o = small_options();
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(at("log"), &o);
    append_text(w, "one");
    snapshot_on(w, at("snap"));
    ck_assert_uint_eq(u9_log_durable(w), 1);
    expect_snapshot(at("snap"), 0, 1);
    append_text(w, "two");
    u9_log *r = open_reader(at("log")); /* another handle sees what is written */
    u9_snapshot_report report = snapshot_on(r, at("snap2"));
    ck_assert_uint_le(report.next_ordinal, 2);
    expect_snapshot(at("snap2"), 0, report.next_ordinal);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_uint_eq(snapshot_on(r, at("snap3")).next_ordinal, 2);
    close_log(r);
    close_log(w);
}
END_TEST

/* {F70} */
START_TEST(what_the_log_loses_in_a_power_cut_is_not_in_its_snapshot) /* */
{
    u9_options o = small_options();
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(at("log"), &o);
    append_fillers(w, 12); /* written, most of it, and not synced */
    u9_log *r = open_reader(at("log"));
    uint64_t taken = snapshot_on(r, at("snap")).next_ordinal;
    ck_assert_uint_gt(taken, 0);
    sim_lose_power();
    close_log(r);
    (void)u9_log_close(w, NULL);
    seen *s = look(at("log"));
    ck_assert_uint_ge(s->report.next_ordinal, taken);
    forget(s);
    expect_snapshot(at("snap"), 0, taken);
}
END_TEST

/* {F70} The same beside a writer of which nothing was lost before, so that all depends on the snapshot's own sync. */
START_TEST(what_is_in_a_snapshot_was_made_durable_in_the_log_before) /* */
{
    u9_options o = small_options();
    o.policy = U9_POLICY_NONE;
    o.segment_size = 16 << 20;
    sim_task_chance(0);
    u9_log *w = open_writer(at("log"), &o);
    append_fillers(w, 400);
    u9_log *r = open_reader(at("log"));
    uint64_t taken = snapshot_on(r, at("snap")).next_ordinal;
    ck_assert_uint_gt(taken, 100);
    close_log(r);
    copy_log(at("log"), at("cut"));
    sim_cut_power(at("cut"));
    seen *s = look(at("cut"));
    ck_assert_uint_ge(s->report.next_ordinal, taken);
    forget(s);
    close_log(w);
}
END_TEST

/* {F63} A disk that keeps other bytes than it was given: what was copied is read again. */
START_TEST(a_copy_that_is_not_what_was_copied_is_no_snapshot) /* */
{
    static const char *const copies[] = {".segment.new", ".tip.new"};
    u9_snapshot_report report;
    u9_fault fault = {0};
    make_row_of_segments(at("log"));
    for (unsigned i = 0; i < 2; i++) {
        u9_log *r = open_reader(at("log"));
        unsigned lies = sim_lies();
        sim_aim(copies[i]);
        sim_lie(SIM_ROT, 1, 8 * 100);
        u9_err err = try_snapshot(r, at("snap"), (u9_snapshot_options){.copy = 1}, &report, &fault);
        sim_aim(NULL);
        close_log(r);
        ck_assert_uint_eq(sim_lies(), lies + 1);
        ck_assert_msg(err == U9_IO, "%s: %s", copies[i], u9_err_name(err));
        ck_assert(!exists(at("snap")));
    }
    snapshot(at("log"), at("snap"));
    expect_snapshot(at("snap"), 0, TRIM_RECORDS);
}
END_TEST

START_TEST(a_closed_log_is_taken_with_its_u9end) /* */
{
    session(at("log"), "r", 5, 0);
    ck_assert_uint_eq(snapshot(at("log"), at("snap")).copied, 1);
    ck_assert_uint_eq(file_size(named("snap", 1)), file_size(named("log", 1)));
    expect_snapshot(at("snap"), 0, 5);
    u9_log *w = open_writer(at("empty"), NULL);
    snapshot_on(w, at("empty2"));
    close_log(w);
    expect_snapshot(at("empty2"), 0, 0);
}
END_TEST

START_TEST(a_log_that_was_left_by_a_crash_gives_a_closed_snapshot) /* */
{
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 10);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    crash(w, at("log"));
    snapshot(at("log"), at("snap"));
    expect_snapshot(at("snap"), 0, 10);
    session(at("log"), "more", 5, 0);
    snapshot(at("log"), at("snap"));
    expect_snapshot(at("snap"), 0, 15);
}
END_TEST

START_TEST(all_is_copied_if_asked_or_where_nothing_can_be_linked) /* */
{
    make_row_of_segments(at("log"));
    unsigned n = segments_in(at("log"));
    u9_fault fault;
    u9_snapshot_report report;
    u9_log *r = open_reader(at("log"));
    ck_assert_int_eq(try_snapshot(r, at("snap"), (u9_snapshot_options){.copy = 1}, &report, &fault), U9_OK);
    ck_assert_uint_eq(report.copied, n);
    ck_assert_int_eq(report.link_sys, 0);
    sim_fail(SIM_LINK, 1, EXDEV, true);
    report = snapshot_on(r, at("snap2"));
    ck_assert_uint_eq(report.copied, n);
    ck_assert_int_eq(report.link_sys, EXDEV);
    report = snapshot_on(r, at("snap2"));
    ck_assert_uint_eq(report.kept, n);
    ck_assert_uint_eq(report.copied_bytes, 0);
    sim_mend();
    close_log(r);
    for (unsigned i = 1; i <= n; i++) ck_assert_uint_eq(sim_links(named("snap2", i)), 1);
    expect_snapshot(at("snap"), 0, TRIM_RECORDS);
    expect_snapshot(at("snap2"), 0, TRIM_RECORDS);
}
END_TEST

START_TEST(a_record_in_parts_that_is_still_coming_is_not_in_it) /* [A-2] [C-6] */
{
    static uint8_t piece[1 << 20];
    u9_append *a;
    u9_log *w = open_writer(at("log"), NULL);
    append_text(w, "before");
    uint8_t head[9];
    size_t n = u9_value_head(U9_BYTES, 3 * sizeof piece, head);
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, n + 3 * sizeof piece, &a, NULL), U9_OK);
    ck_assert_int_eq(u9_append_write(a, head, n), U9_OK);
    ck_assert_int_eq(u9_append_write(a, piece, sizeof piece), U9_OK);
    ck_assert_int_eq(u9_append_write(a, piece, sizeof piece), U9_OK);
    append_text(w, "between");
    snapshot_on(w, at("snap"));
    ck_assert_int_eq(u9_append_write(a, piece, sizeof piece), U9_OK);
    ck_assert_int_eq(u9_append_end(a, NULL), U9_OK);
    expect_snapshot(at("snap"), 0, 2);
    snapshot_on(w, at("snap"));
    close_log(w);
    expect_snapshot(at("snap"), 0, 3);
}
END_TEST

/* Again */

START_TEST(a_second_run_takes_only_what_is_new) /* */
{
    sim_needed("tasks in a known order"); /* what is sealed meanwhile is new, too */
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 20);
    snapshot_on(w, at("snap"));
    unsigned n = segments_in(at("log"));
    u9_snapshot_report r = snapshot_on(w, at("snap"));
    ck_assert_uint_eq(r.kept, n);
    ck_assert_uint_eq(r.copied + r.linked + r.removed, 0);
    append_fillers(w, 1);
    r = snapshot_on(w, at("snap"));
    ck_assert_uint_eq(r.copied, 1);
    ck_assert_uint_eq(r.next_ordinal, 21);
    expect_snapshot(at("snap"), 0, 21);
    append_fillers(w, 20);
    unsigned m = segments_in(at("log"));
    sim_forget_diary();
    r = snapshot_on(w, at("snap"));
    ck_assert_uint_eq(r.kept, n - 1);
    ck_assert_uint_eq(r.linked, m - n);
    ck_assert_uint_eq(r.copied, 1);
    for (unsigned i = 1; i + 1 < n; i++) ck_assert_ptr_null(sim_find(SIM_READ, i, 2 * BLOCK));
    for (unsigned i = 1; i < m; i++) ck_assert_uint_eq(sim_links(named("snap", i)), 2);
    expect_snapshot(at("snap"), 0, 41);
    close_log(w);
    snapshot(at("log"), at("snap"));
    expect_snapshot(at("snap"), 0, 41);
}
END_TEST

START_TEST(what_was_trimmed_goes_from_the_snapshot_too) /* [A-3] [L-10] */
{
    make_row_of_segments(at("log"));
    snapshot(at("log"), at("snap"));
    uint64_t kept = first_in(at("log"), 3);
    trim_log(at("log"), below_ordinal(kept));
    expect_snapshot(at("snap"), 0, TRIM_RECORDS); /* its names hold what the log gave up */
    u9_snapshot_report r = snapshot(at("log"), at("snap"));
    ck_assert_uint_eq(r.removed, 2);
    ck_assert_uint_eq(r.first_ordinal, kept);
    expect_snapshot(at("snap"), kept, TRIM_RECORDS);
    ck_assert_uint_eq(marked_by(at("snap")).first_ordinal, kept);
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 20);
    uint64_t last = u9_log_next(w) - 1;
    trim_on(w, below_ordinal(last)); /* beyond all that the snapshot has */
    close_log(w);
    kept = snapshot(at("log"), at("snap")).first_ordinal;
    ck_assert_uint_gt(kept, TRIM_RECORDS);
    expect_snapshot(at("snap"), kept, last + 1);
}
END_TEST

/* It is the log as it is; but who wants to keep what that gives up says so. */
START_TEST(what_was_trimmed_stays_in_the_snapshot_if_asked_to)
{
    u9_fault fault;
    u9_snapshot_report r;
    u9_snapshot_options keep = {.keep_trimmed = 1};
    make_row_of_segments(at("log"));
    snapshot(at("log"), at("snap"));
    trim_log(at("log"), below_ordinal(first_in(at("log"), 3)));
    for (unsigned run = 0; run < 3; run++) {
        u9_log *w = open_rolling(at("log"));
        append_fillers(w, run == 1 ? 20 : 0); /* the last time nothing is new */
        ck_assert_int_eq(try_snapshot(w, at("snap"), keep, &r, &fault), U9_OK);
        ck_assert_uint_eq(r.removed, 0);
        close_log(w);
        expect_snapshot(at("snap"), 0, r.next_ordinal);
    }
    ck_assert_uint_eq(r.next_ordinal, TRIM_RECORDS + 20);
    ck_assert(exists(named("snap", 1)) && exists(named("snap", 2)));
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 40);
    trim_on(w, below_ordinal(u9_log_next(w) - 1)); /* beyond all that the snapshot has */
    ck_assert_int_eq(try_snapshot(w, at("snap"), keep, &r, &fault), U9_ARG);
    ck_assert_ptr_nonnull(strstr(fault.text, "was trimmed beyond all that this has"));
    expect_snapshot(at("snap"), 0, TRIM_RECORDS + 20);
    ck_assert_int_eq(try_snapshot(w, at("snap"), (u9_snapshot_options){0}, &r, &fault), U9_OK);
    ck_assert_uint_gt(r.removed, 2);
    close_log(w);
    expect_snapshot(at("snap"), r.first_ordinal, r.next_ordinal);
}
END_TEST

/* The beginning of the log was deleted by hand, or its midst lost: the snapshot may have it alone. */
START_TEST(what_the_log_lost_and_did_not_trim_is_not_removed_from_the_snapshot)
{
    static const char missing[] = "is missing in the log, which did not trim it";
    static const char *const says[] = {missing, missing, "is an older state than this snapshot"};
    make_row_of_segments(at("log"));
    unsigned lost[] = {1, 2, segments_in(at("log"))};
    snapshot(at("log"), at("snap"));
    sim_remove(named("log", lost[_i]));
    uint8_t before[16], after[16];
    picture(at("snap"), before);
    expect_refused(at("log"), at("snap"), U9_ARG, says[_i]);
    picture(at("snap"), after);
    ck_assert_mem_eq(before, after, sizeof before);
    sim_copy(named("snap", lost[_i]), named("log", lost[_i])); /* which brings it back */
    (void)snapshot(at("log"), at("snap"));
    expect_snapshot(at("snap"), 0, TRIM_RECORDS);
    expect_snapshot(at("log"), 0, TRIM_RECORDS);
}
END_TEST

START_TEST(a_snapshot_that_was_written_to_is_not_touched_again) /* */
{
    make_row_of_segments(at("log"));
    snapshot(at("log"), at("snap"));
    session(at("snap"), "mine", 3, 0);
    session(at("log"), "theirs", 5, 0);
    uint8_t before[16], after[16];
    picture(at("snap"), before);
    expect_refused(at("log"), at("snap"), U9_ARG, "was written to");
    picture(at("snap"), after);
    ck_assert_mem_eq(before, after, sizeof before);
    expect_snapshot(at("snap"), 0, TRIM_RECORDS + 3); /* each is whole, and neither a fork of the other */
    expect_snapshot(at("log"), 0, TRIM_RECORDS + 5);
    u9_log *w = open_rolling(at("snap"));
    append_fillers(w, 30);
    close_log(w);
    trim_log(at("log"), below_ordinal(TRIM_RECORDS));
    expect_refused(at("log"), at("snap"), U9_ARG, "was written to");
    snapshot(at("snap"), at("snap2")); /* it can be taken itself */
    expect_snapshot(at("snap2"), 0, TRIM_RECORDS + 33);
}
END_TEST

/* In its own copy of the last segment, which the log has trimmed by now. */
START_TEST(a_snapshot_that_was_written_to_keeps_that_whatever_is_trimmed)
{
    make_row_of_segments(at("log"));
    snapshot(at("log"), at("snap"));
    unsigned n = segments_in(at("snap"));
    session(at("snap"), "mine", 3, 0);
    ck_assert_uint_eq(segments_in(at("snap")), n);
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 20);
    trim_on(w, below_ordinal(u9_log_next(w) - 1));
    close_log(w);
    expect_refused(at("log"), at("snap"), U9_ARG, "was written to");
    expect_snapshot(at("snap"), 0, TRIM_RECORDS + 3);
}
END_TEST

/* Put back from a backup of before: as it is, or gone on otherwise. */
START_TEST(an_older_state_of_the_log_is_said_to_be_that)
{
    make_row_of_segments(at("log"));
    copy_log(at("log"), at("old"));
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, _i == 0 ? 1 : 30); /* in the same segment, or in others */
    close_log(w);
    snapshot(at("log"), at("snap"));
    uint64_t next = TRIM_RECORDS + (_i == 0 ? 1 : 30);
    expect_refused(at("old"), at("snap"), U9_ARG, "is an older state than this");
    expect_snapshot(at("snap"), 0, next);
}
END_TEST

/* {F68} */
START_TEST(no_other_directory_is_taken_for_a_snapshot) /* */
{
    session(at("log"), "r", 5, 0);
    session(at("other"), "r", 5, 0);
    expect_refused(at("log"), at("log"), U9_ARG, "the log itself");
    expect_refused(at("log"), at("other"), U9_ARG, "is no snapshot");
    expect_refused(at("log"), named("other", 1), U9_IO, "cannot");
    make_dir(at("folder.partial"));
    write_file(at("folder.partial/notes"), "mine", 4);
    expect_refused(at("log"), at("folder"), U9_ARG, "nothing of it was touched");
    snapshot(at("log"), at("snap"));
    expect_refused(at("other"), at("snap"), U9_ARG, "of another log");
    u9_log *w = open_writer(at("snap"), NULL);
    expect_refused(at("log"), at("snap"), U9_LOCKED, "at work");
    close_log(w);
    snapshot(at("log"), at("snap3"));
    flip_bit(file_in(at("snap3"), ".snapshot"), 40, 0);
    expect_refused(at("log"), at("snap3"), U9_ARG, "is no snapshot");
    cut_file(file_in(at("snap3"), ".snapshot"), 0);
    expect_refused(at("log"), at("snap3"), U9_ARG, "is no snapshot");
    u9_snapshot_report report;
    u9_fault fault;
    u9_log *r = open_reader(named("log", 1));
    ck_assert_int_eq(try_snapshot(r, at("snap2"), (u9_snapshot_options){0}, &report, &fault), U9_ARG);
    close_log(r);
}
END_TEST

typedef struct files {
    unsigned how[8];
    uint64_t bytes;
} files;

static void note_file(void *ctx, const u9_snapshot_segment *s)
{
    files *f = ctx;
    f->how[s->how]++;
    f->bytes += s->bytes;
    ck_assert_uint_eq(strlen(s->name), 19);
    ck_assert_int_eq(s->sys, 0);
}

/* A run was broken off, and what it took the log has trimmed by the time that it is gone on with. */
START_TEST(what_was_trimmed_since_a_run_was_broken_off_goes_unseen) /* [A-3] [L-10] */
{
    files f = {0};
    u9_fault fault;
    u9_snapshot_report r;
    u9_snapshot_options o = {.on_segment = note_file, .ctx = &f, .keep_trimmed = 1};
    make_row_of_segments(at("log"));
    u9_log *log = open_reader(at("log"));
    sim_fail(SIM_RENAME, 4, EIO, true); /* its note is written, two segments have their names */
    ck_assert_int_eq(try_snapshot(log, at("snap"), o, &r, &fault), U9_IO);
    sim_mend();
    close_log(log);
    ck_assert(exists(at("snap.partial/0000000000000001.u9")));
    trim_log(at("log"), below_ordinal(first_in(at("log"), 4)));
    f = (files){0};
    log = open_reader(at("log"));
    ck_assert_int_eq(try_snapshot(log, at("snap"), o, &r, &fault), U9_OK);
    close_log(log);
    ck_assert_uint_gt(r.removed, 0);
    ck_assert_uint_eq(f.how[U9_SNAPSHOT_REMOVED], r.removed);
    ck_assert_uint_eq(f.how[U9_SNAPSHOT_LINKED], r.linked);
    ck_assert_uint_eq(f.how[U9_SNAPSHOT_COPIED], r.copied);
    ck_assert_uint_eq(f.bytes, r.copied_bytes);
    ck_assert(!exists(named("snap", 1)));
    expect_snapshot(at("snap"), first_in(at("log"), 4), r.next_ordinal);
}
END_TEST

/* What `.snapshot` says was forged: another word, no digits, a flag that is none under a fitting hash, lines too many or none. */
static const struct {
    unsigned at;
    char what;
    unsigned size; /* of the file then; 0: as it was */
} forged_notes[] = {{0, 'x', 0},   {150, ' ', 0},      {12, 'g', 0},  {13, 'G', 0},
                    {149, '?', 0}, {12 + 129, '2', 0}, {0, 'u', 150}, {0, 'u', 3 * 151}};

START_TEST(a_snapshot_whose_own_word_was_forged_is_left_alone) /* */
{
    enum { WORD = 12, BYTES = 65, LINE = WORD + 2 * (BYTES + 4) + 1 };
    char note[3 * LINE + 1], digits[3];
    uint8_t bytes[BYTES], hash[16], before[16], after[16];
    session(at("log"), "r", 5, 0);
    snapshot(at("log"), at("snap"));
    ck_assert_uint_eq(file_size(at("snap/.snapshot")), LINE);
    for (unsigned k = 0; k < 3; k++) read_bytes(at("snap/.snapshot"), 0, note + k * LINE, LINE);
    note[forged_notes[_i].at] = forged_notes[_i].what;
    if (forged_notes[_i].what == '2') {
        for (unsigned k = 0; k < BYTES; k++) {
            snprintf(digits, sizeof digits, "%.2s", note + WORD + 2 * k);
            bytes[k] = (uint8_t)strtoul(digits, NULL, 16);
        }
        u9i_hash(bytes, BYTES, hash);
        for (unsigned k = 0; k < 4; k++) {
            snprintf(digits, sizeof digits, "%02x", hash[k]);
            memcpy(note + WORD + 2 * (BYTES + k), digits, 2);
        }
    }
    write_file(at("snap/.snapshot"), note, forged_notes[_i].size ? forged_notes[_i].size : LINE);
    picture(at("snap"), before);
    expect_refused(at("log"), at("snap"), U9_ARG, "is no snapshot");
    picture(at("snap"), after);
    ck_assert_mem_eq(before, after, sizeof before);
}
END_TEST

/* A file that the log never had, and one that has the size of the log's, but is none of it. */
START_TEST(what_is_none_of_the_logs_is_not_replaced) /* */
{
    make_row_of_segments(at("log"));
    make_row_of_segments(at("other"));
    snapshot(at("log"), at("snap"));
    sim_copy(named("other", 1), named("snap", 99));
    expect_refused(at("log"), at("snap"), U9_ARG, "is no file of the log");
    sim_remove(named("snap", 99));
    sim_remove(named("snap", 2));
    sim_copy(named("other", 2), named("snap", 2));
    sim_resize(named("snap", 2), file_size(named("log", 2)));
    expect_refused(at("log"), at("snap"), U9_ARG, "or was changed");
    sim_remove(named("snap", 2));
    snapshot(at("log"), at("snap"));
    expect_snapshot(at("snap"), 0, TRIM_RECORDS);
}
END_TEST

static int stop_at_once(void *ctx, uint64_t done, uint64_t of)
{
    ck_assert_uint_le(done, of);
    return ++*(int *)ctx > 1;
}

START_TEST(of_what_is_no_log_or_not_to_be_taken_there_is_no_snapshot)
{
    u9_fault fault;
    u9_snapshot_report report = {.size = sizeof report};
    u9_snapshot_options older = {.size = offsetof(u9_snapshot_options, keep_trimmed), .keep_trimmed = 7};
    int asked = 0;
    u9_snapshot_options stops = {.on_progress = stop_at_once, .ctx = &asked, .verify_all = 1};
    make_row_of_segments(at("log"));
    u9_log *r = open_reader(at("log"));
    ck_assert_int_eq(try_snapshot(r, at("snap/"), stops, &report, &fault), U9_OK); /* soon done: it was asked once at most */
    ck_assert_int_eq(u9_log_snapshot(r, at("snap//"), &older, &report, NULL), U9_OK);
    ck_assert_uint_eq(report.kept, segments_in(at("log")));
    report = (u9_snapshot_report){.size = offsetof(u9_snapshot_report, whole), .whole = 7}; /* it does not know of that, nor do we */
    ck_assert_int_eq(u9_log_snapshot(r, at("snap"), NULL, &report, NULL), U9_OK);
    ck_assert_uint_eq(report.whole, 7);
    asked = 1;
    sim_advance(SECOND);
    ck_assert_int_eq(try_snapshot(r, at("snap"), stops, &report, &fault), U9_STATE);
    close_log(r);
    session(at("none"), "r", 5, 0);
    r = open_reader(at("none"));
    remove_mark(at("none"));
    fill_bytes(named("none", 1), 0, file_size(named("none", 1)), 0);
    ck_assert_int_eq(try_snapshot(r, at("other"), (u9_snapshot_options){0}, &report, &fault), U9_CORRUPT);
    ck_assert_ptr_nonnull(strstr(fault.text, "can be read"));
    close_log(r);
    plain_file p = plain_begin(5);
    plain_frame(&p, "\x81", 1);
    make_dir(at("seed"));
    write_file(named("seed", 1), p.bytes, p.size);
    plain_free(&p);
    expect_refused(at("seed"), at("other"), U9_ARG, "plain seed files");
    ck_assert(!exists(at("other")) && !exists(at("other.partial")));
}
END_TEST

/* Where the handle writes, what it holds goes to the disk first. */
START_TEST(a_writer_that_cannot_sync_has_no_snapshot)
{
    u9_fault fault;
    u9_snapshot_report report = {.size = sizeof report};
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 3);
    sim_fail(SIM_SYNC, 1, EIO, true);
    ck_assert_int_eq(u9_log_snapshot(w, at("snap"), NULL, &report, NULL), U9_IO);
    ck_assert_int_eq(try_snapshot(w, at("snap"), (u9_snapshot_options){0}, &report, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, EIO);
    sim_mend();
    (void)u9_log_close(w, NULL);
    ck_assert(!exists(at("snap")));
}
END_TEST

START_TEST(a_log_that_was_put_back_does_not_replace_what_the_snapshot_has) /* */
{
    session(at("log"), "r", 5, 0);
    copy_log(at("log"), at("old"));
    session(at("log"), "r", 5, 0);
    snapshot(at("log"), at("snap"));
    remove_log(at("log"));
    copy_log(at("old"), at("log"));
    session(at("log"), "else", 50, 0);
    expect_refused(at("log"), at("snap"), U9_ARG, "what the snapshot ends with");
    expect_snapshot(at("snap"), 0, 10);
}
END_TEST

/* Damage */

static unsigned told;

static void count_told(void *ctx, const u9_damage *d)
{
    (void)ctx;
    told += d->verdict >= U9_V_UNKNOWN && d->path != NULL;
}

/* The snapshot tells the same as the log. */
static void expect_same_damage(const char *log, const char *snap)
{
    seen *a = look(log), *b = look(snap);
    ck_assert_int_eq(a->report.verdict, b->report.verdict);
    ck_assert_uint_eq(a->report.records, b->report.records);
    ck_assert_uint_eq(a->report.lost, b->report.lost);
    ck_assert_uint_eq(a->damage_count, b->damage_count);
    for (size_t i = 0; i < a->damage_count; i++) {
        ck_assert_int_eq(a->damages[i].reason, b->damages[i].reason);
        ck_assert_uint_eq(a->damages[i].begin, b->damages[i].begin);
        ck_assert_uint_eq(a->damages[i].ordinal, b->damages[i].ordinal);
        ck_assert_uint_eq(a->damages[i].lost, b->damages[i].lost);
    }
    forget(a);
    forget(b);
}

START_TEST(a_file_that_cannot_be_written_is_the_snapshots_and_not_the_logs) /* */
{
    static const struct {
        sim_kind kind;
        int sys;
        int copy;
    } fails[] = {
        {SIM_CREATE, EROFS, 0},  {SIM_CREATE, EACCES, 1}, {SIM_RESERVE, ENOSPC, 0}, {SIM_RESERVE, ENOSPC, 1}, {SIM_WRITE, ENOSPC, 1},
        {SIM_TRUNCATE, EIO, 1}, {SIM_LINK, ENOSPC, 0},   {SIM_RENAME, EROFS, 0},   {SIM_SYNC_DIR, EIO, 0},
        {SIM_LINK, EDQUOT, 0},   {SIM_LINK, EROFS, 0},    {SIM_LINK, EIO, 0},
    };
    make_row_of_segments(at("log"));
    for (size_t i = 0; i < sizeof fails / sizeof *fails; i++) {
        u9_fault fault = {0};
        u9_snapshot_report report;
        u9_log *r = open_reader(at("log"));
        sim_fail(fails[i].kind, 1, fails[i].sys, true);
        ck_assert_int_eq(try_snapshot(r, at("snap"), (u9_snapshot_options){.copy = fails[i].copy}, &report, &fault), U9_IO);
        sim_mend();
        ck_assert_int_eq(fault.sys, fails[i].sys);
        ck_assert_msg(strncmp(fault.path, at("snap"), strlen(at("snap"))) == 0, "%zu: %s: %s", i, fault.path, fault.text);
        close_log(r);
    }
    snapshot(at("log"), at("snap"));
    expect_snapshot(at("snap"), 0, TRIM_RECORDS);
}
END_TEST

START_TEST(a_damaged_log_is_copied_as_it_is_or_not_at_all) /* */
{
    u9_fault fault;
    u9_snapshot_report report;
    make_row_of_segments(at("log"));
    flip_bit(named("log", 2), 3 * BLOCK, 3);
    u9_log *r = open_reader(at("log"));
    u9_snapshot_options o = {.strict = 1, .on_damage = count_told};
    told = 0;
    ck_assert_int_eq(try_snapshot(r, at("snap"), o, &report, &fault), U9_CORRUPT);
    ck_assert_uint_eq(told, 1);
    ck_assert_uint_eq(report.damages, 1);
    ck_assert(!exists(at("snap")) && !exists(at("snap.partial")));
    o.strict = 0;
    ck_assert_int_eq(try_snapshot(r, at("snap"), o, &report, &fault), U9_OK);
    ck_assert_uint_eq(told, 2);
    ck_assert_int_eq(report.verdict, U9_V_CORRUPT);
    ck_assert_uint_gt(report.lost, 0);
    ck_assert_int_eq(report.damaged_before, 0);
    close_log(r);
    expect_same_damage(at("log"), at("snap"));
    report = snapshot(at("log"), at("snap"));
    ck_assert_uint_eq(report.damages, 0);
    ck_assert_int_eq(report.damaged_before, 1);
}
END_TEST

/* Of the last segment nothing can be read, and no mark says where it began. */
START_TEST(a_log_whose_end_cannot_be_read_has_the_same_records_the_next_time) /* */
{
    make_row_of_segments(at("log"));
    uint64_t last = 1;
    while (exists(named("log", last + 1))) last++;
    ck_assert_uint_gt(last, 2);
    const char *tip = named("log", last);
    fill_bytes(tip, 0, 32, 0);
    sim_resize(tip, file_size(tip) - 4096);
    remove_log(at("log/.mark"));
    u9_snapshot_report first = snapshot(at("log"), at("snap"));
    ck_assert_uint_gt(first.next_ordinal, 0);
    for (int again = 0; again < 2; again++) {
        u9_snapshot_report then = snapshot(at("log"), at("snap"));
        ck_assert_uint_eq(then.next_ordinal, first.next_ordinal);
        ck_assert_uint_eq(then.first_ordinal, first.first_ordinal);
        ck_assert_int_eq(then.verdict, first.verdict);
    }
    expect_same_damage(at("log"), at("snap"));
}
END_TEST

static size_t losses_in(const seen *s)
{
    return count_damages(s, U9_V_UNKNOWN, U9_R_NONE) + count_damages(s, U9_V_CORRUPT, U9_R_NONE);
}

/* So many records, in order, and nothing is damaged. */
static void expect_whole(const char *to, uint64_t count)
{
    seen *s = look(to);
    ck_assert_uint_eq(losses_in(s), 0);
    ck_assert_uint_eq(s->count, count);
    for (size_t i = 0; i < s->count; i++) ck_assert_uint_eq(s->records[i].ordinal, i);
    forget(s);
}

/* The frames [first, last] of a segment lose their headers. */
static void spoil_frames(const char *file, size_t first, size_t last)
{
    uint64_t at[64];
    ck_assert_uint_gt(frame_offsets(file, at, 64), last + 1);
    for (size_t i = first; i <= last; i++) fill_bytes(file, at[i] + 16, 40, 0x5a);
}

/* Frames in a row that are damaged in the log behind its snapshot: one, several, the end of a session and the begin of the next. */
static const struct {
    size_t first, last;
} spoiled[] = {{3, 3}, {1, 6}, {8, 14}, {11, 12}, {10, 11}, {12, 12}, {0, 0}};

START_TEST(what_the_log_has_lost_of_its_last_segment_stays_in_the_snapshot) /* */
{
    session(at("log"), "a", 10, 1);
    u9_log *w = open_writer(at("log"), NULL);
    append_many(w, "b", 10, 1);
    snapshot_on(w, at("snap"));
    spoil_frames(named("log", 1), spoiled[_i].first, spoiled[_i].last);
    append_many(w, "c", 5, 1);
    u9_snapshot_report r = snapshot_on(w, at("snap"));
    ck_assert_uint_eq(r.damages, 1);
    ck_assert_uint_eq(r.whole, 1);
    ck_assert_uint_eq(r.next_ordinal, 25);
    ck_assert_int_eq(r.closed, 0);
    expect_whole(at("snap"), 25);
    r = snapshot_on(w, at("snap"));
    ck_assert_uint_eq(r.kept, 1); /* nothing is new */
    ck_assert_uint_eq(r.whole, 1);
    append_many(w, "d", 5, 1);
    close_log(w);
    r = snapshot(at("log"), at("snap"));
    ck_assert_uint_eq(r.whole, 1);
    ck_assert_int_eq(r.closed, 1);
    expect_snapshot(at("snap"), 0, 30);
}
END_TEST

START_TEST(what_the_log_has_lost_by_the_time_it_rolled_stays_in_the_snapshot) /* */
{
    u9_log *w = open_rolling(at("log"));
    for (unsigned i = 0; i < 6; i++) {
        append_fillers(w, 1);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    unsigned n = segments_in(at("log"));
    snapshot_on(w, at("snap"));
    spoil_frames(named("log", n), 2, 4);
    append_fillers(w, 20);
    ck_assert_uint_gt(segments_in(at("log")), n + 1);
    u9_snapshot_report r = snapshot_on(w, at("snap"));
    ck_assert_uint_eq(r.damages, 1);
    ck_assert_uint_eq(r.whole, 1);
    expect_snapshot(at("snap"), 0, 26);
    append_fillers(w, 1);
    r = snapshot_on(w, at("snap")); /* the copy is kept, and nothing is wrong with it */
    ck_assert_uint_eq(r.damages, 0);
    ck_assert_int_eq(r.damaged_before, 0);
    close_log(w);
    expect_snapshot(at("snap"), 0, 27);
    u9_log *reader = open_reader(at("log"));
    u9_fault fault;
    ck_assert_int_eq(try_snapshot(reader, at("snap"), (u9_snapshot_options){.verify_all = 1}, &r, &fault), U9_OK);
    close_log(reader);
    ck_assert_uint_eq(r.damages, 1);
    ck_assert_uint_eq(r.whole, 1);
}
END_TEST

/* A log of 20 frames, and its writer; since its snapshot some are damaged in it. */
static u9_log *open_spoiled_since(void)
{
    u9_log *w = open_writer(at("log"), NULL);
    append_many(w, "a", 20, 1);
    snapshot_on(w, at("snap"));
    spoil_frames(named("log", 1), 3, 5);
    return w;
}

START_TEST(what_the_snapshot_has_and_cannot_read_now_is_not_replaced) /* */
{
    u9_fault fault;
    u9_snapshot_report r;
    u9_log *w = open_spoiled_since();
    append_many(w, "b", 5, 1);
    sim_spoil(named("snap", 1), 0, file_size(named("snap", 1)), EIO, 0);
    ck_assert_int_eq(try_snapshot(w, at("snap"), (u9_snapshot_options){0}, &r, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, EIO);
    sim_clear();
    expect_snapshot(at("snap"), 0, 20);
    ck_assert_uint_eq(snapshot_on(w, at("snap")).whole, 1);
    close_log(w);
    expect_whole(at("snap"), 25);
}
END_TEST

START_TEST(what_is_new_and_damaged_is_not_whole_anywhere) /* */
{
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 6);
    unsigned n = segments_in(at("log"));
    snapshot_on(w, at("snap"));
    append_fillers(w, 20);
    flip_bit(named("log", n + 1), 3 * BLOCK, 3);
    u9_snapshot_report r = snapshot_on(w, at("snap"));
    close_log(w);
    ck_assert_uint_eq(r.damages, 1);
    ck_assert_uint_eq(r.whole, 0);
}
END_TEST

START_TEST(what_could_not_be_read_once_is_damaged_until_all_is_read_again) /* */
{
    u9_fault fault;
    u9_snapshot_report r;
    make_row_of_segments(at("log"));
    u9_log *reader = open_reader(at("log"));
    sim_spoil(named("log", 2), 3 * BLOCK, 4 * BLOCK, EIO, 0);
    r = snapshot_on(reader, at("snap"));
    ck_assert_uint_eq(r.damages, 1);
    sim_clear();
    ck_assert_int_eq(snapshot_on(reader, at("snap")).damaged_before, 1);
    ck_assert_int_eq(try_snapshot(reader, at("snap"), (u9_snapshot_options){.verify_all = 1}, &r, &fault), U9_OK);
    ck_assert_uint_eq(r.damages, 0);
    ck_assert_int_eq(r.damaged_before, 0);
    ck_assert_int_eq(snapshot_on(reader, at("snap")).damaged_before, 0);
    close_log(reader);
}
END_TEST

START_TEST(what_is_not_proven_in_the_snapshot_is_taken_from_the_log) /* */
{
    u9_log *w = open_spoiled_since();
    spoil_frames(named("log", 1), 9, 10);
    spoil_frames(named("snap", 1), 4, 4);   /* so this frame of the first place is lost in both, */
    spoil_frames(named("snap", 1), 14, 15); /*   and this one is not in the log */
    append_many(w, "b", 5, 1);
    u9_snapshot_report r = snapshot_on(w, at("snap"));
    close_log(w);
    ck_assert_uint_eq(r.damages, 2);
    ck_assert_uint_eq(r.whole, 1);
    seen *s = look(at("snap"));
    ck_assert_uint_eq(losses_in(s), 1);
    ck_assert_uint_eq(s->count, 24);
    forget(s);
    r = snapshot(at("log"), at("snap"));
    ck_assert_uint_eq(r.whole, 1);
}
END_TEST

START_TEST(damage_at_the_end_is_not_closed_over) /* [A-2] [M-4] */
{
    session(at("log"), "r", 20, 1);
    uint64_t size = file_size(named("log", 1));
    cut_file(named("log", 1), size - 3 * BLOCK); /* below the mark */
    u9_snapshot_report r = snapshot(at("log"), at("snap"));
    ck_assert_int_eq(r.verdict, U9_V_CORRUPT);
    ck_assert_int_eq(r.closed, 0);
    expect_same_damage(at("log"), at("snap"));
    ck_assert_uint_eq(snapshot(at("log"), at("snap")).removed, 0); /* and made again it is found as it was left */
    expect_same_damage(at("log"), at("snap"));
    session(at("bare"), "r", 20, 1); /* without a mark, and no mark is made of what is damaged */
    remove_mark(at("bare"));
    flip_bit(named("bare", 1), file_size(named("bare", 1)) - BLOCK + 20, 1);
    fill_bytes(named("bare", 1), 3 * BLOCK, 2 * BLOCK, 0xee);
    ck_assert_int_ge(snapshot(at("bare"), at("bare2")).verdict, U9_V_UNKNOWN);
    expect_same_damage(at("bare"), at("bare2"));
    make_row_of_segments(at("gone")); /* the newest is not there, which the mark says */
    sim_remove(named("gone", segments_in(at("gone"))));
    ck_assert_int_eq(snapshot(at("gone"), at("gone2")).verdict, U9_V_CORRUPT);
    expect_same_damage(at("gone"), at("gone2"));
    make_row_of_segments(at("late"));
    sim_remove(named("late", 1)); /* nor is a beginning explained by the snapshot's mark */
    ck_assert_int_eq(snapshot(at("late"), at("late2")).verdict, U9_V_CORRUPT);
    expect_same_damage(at("late"), at("late2"));
}
END_TEST

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}

/* Something happens to a file of the log, or to its mark. */
static void harm(uint64_t *state)
{
    unsigned n = segments_in(at("log"));
    const char *file = named("log", 1 + draw(state, n));
    if (!exists(file)) return;
    uint64_t size = file_size(file), where = draw(state, size);
    switch (draw(state, 8)) {
    case 0:
    case 1: flip_bit(file, where, (unsigned)draw(state, 8)); break;
    case 2: fill_bytes(file, where, 1 + draw(state, size - where < 9000 ? size - where : 9000), 0); break;
    case 3: fill_bytes(file, where, 1 + draw(state, size - where < 900 ? size - where : 900), 0xa5); break;
    case 4: cut_file(file, where); break;
    case 5: sim_remove(file); break;
    case 6: sim_copy(file, named("log", n + 5)); break;
    default: remove_mark(at("log")); break;
    }
}

START_TEST(whatever_happened_to_a_log_its_snapshot_tells_the_same) /* */
{
    uint64_t state = (uint64_t)_i;
    u9_fault fault;
    u9_snapshot_report report;
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 20 + (unsigned)draw(&state, 20));
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    if (draw(&state, 2)) close_log(w);
    else crash(w, at("log"));
    for (unsigned i = 0; i < 1 + draw(&state, 3); i++) harm(&state);
    seen *log = look(at("log"));
    if (log->err == U9_OK && log->report.segments > 0) {
        u9_log *r = open_reader(at("log"));
        u9_err err = try_snapshot(r, at("snap"), (u9_snapshot_options){.copy = _i % 2}, &report, &fault);
        close_log(r);
        ck_assert_msg(err == U9_OK || err == U9_CORRUPT, "%s", fault.text); /* no segment can be read */
        if (err == U9_OK) {
            seen *snap = look(at("snap"));
            ck_assert_uint_eq(log->report.records, snap->report.records);
            ck_assert_uint_eq(log->report.lost, snap->report.lost);
            ck_assert_uint_eq(losses_in(log), losses_in(snap));
            ck_assert_uint_eq(report.damages, losses_in(log));
            forget(snap);
        }
    }
    forget(log);
}
END_TEST

START_TEST(files_that_are_not_of_the_log_stay_behind) /* */
{
    session(at("log"), "r", 5, 0);
    session(at("other"), "x", 5, 0);
    sim_copy(named("other", 1), named("log", 9));
    make_dir(named("log", 12));
    snapshot(at("log"), at("snap"));
    ck_assert(!exists(named("snap", 9)) && !exists(named("snap", 12)));
    expect_snapshot(at("snap"), 0, 5);
}
END_TEST

/* Beside a writer */

static u9_log *beside;
static unsigned hook_after;
static void trim_beside(unsigned nth)
{
    if (nth != hook_after) return;
    append_fillers(beside, 9);
    trim_on(beside, below_ordinal(u9_log_next(beside) - 1));
}

START_TEST(a_writer_trims_and_rolls_between_any_two_looks) /* [A-1] [L-10] */
{
    for (hook_after = 1; hook_after < 12; hook_after++) {
        remove_log(at("log"));
        remove_log(at("snap"));
        beside = open_rolling(at("log"));
        append_fillers(beside, 30);
        ck_assert_int_eq(u9_log_sync(beside), U9_OK);
        u9_log *r = open_reader(at("log"));
        sim_before_list(trim_beside);
        u9_snapshot_report report = snapshot_on(r, at("snap"));
        sim_before_list(NULL);
        ck_assert_uint_ge(report.next_ordinal, 30);
        expect_snapshot(at("snap"), report.first_ordinal, report.next_ordinal);
        close_log(r);
        close_log(beside);
    }
}
END_TEST

static unsigned calls_seen;
static void trim_before_a_call(sim_kind kind)
{
    (void)kind;
    if (++calls_seen != hook_after) return;
    append_fillers(beside, 9);
    trim_on(beside, below_ordinal(u9_log_next(beside) - 1));
}

/* What was taken before that was noticed is of the log, and was trimmed since. */
START_TEST(a_writer_trims_what_is_being_taken_for_a_snapshot_that_is_there) /* [A-3] [L-10] */
{
    calls_seen = 1;
    for (hook_after = 1; calls_seen >= hook_after; hook_after = next_call(hook_after)) {
        remove_log(at("log"));
        remove_log(at("snap"));
        beside = open_rolling(at("log"));
        append_fillers(beside, 12);
        ck_assert_int_eq(u9_log_sync(beside), U9_OK);
        u9_snapshot_report report;
        u9_fault fault;
        u9_snapshot_options o = {.copy = _i};
        u9_log *r = open_reader(at("log"));
        ck_assert_int_eq(try_snapshot(r, at("snap"), o, &report, &fault), U9_OK);
        append_fillers(beside, 40);
        ck_assert_int_eq(u9_log_sync(beside), U9_OK);
        if (_i) ck_assert_int_eq(try_snapshot(r, at("snap"), o, &report, &fault), U9_OK); /* copies of some that are not the last */
        close_log(r);
        r = open_reader(at("log"));
        calls_seen = 0;
        sim_before_call(trim_before_a_call);
        u9_err err = try_snapshot(r, at("snap"), o, &report, &fault);
        sim_before_call(NULL);
        ck_assert_msg(err == U9_OK, "call %u: %s", hook_after, fault.text);
        expect_snapshot(at("snap"), report.first_ordinal, report.next_ordinal);
        ck_assert_int_eq(try_snapshot(r, at("snap"), o, &report, &fault), U9_OK);
        close_log(r);
        close_log(beside);
    }
    ck_assert_uint_gt(hook_after, 20);
}
END_TEST

/* A file that is gone when it is opened or linked was trimmed meanwhile: all is looked at again. */
START_TEST(files_that_are_gone_meanwhile_are_looked_for_again) /* */
{
    static const struct {
        sim_kind kind;
        int sys, copy;
    } gone[] = {{SIM_OPEN, ENOENT, 0}, {SIM_OPEN, ESTALE, 1}, {SIM_LINK, ENOENT, 0}, {SIM_LINK, ESTALE, 0}};
    u9_fault fault = {0};
    u9_snapshot_report report;
    make_row_of_segments(at("log"));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        unsigned fired = 1;
        for (unsigned nth = 1; fired > 0; nth++) {
            remove_log(at("snap"));
            u9_log *r = open_reader(at("log"));
            fired = sim_fired();
            sim_fail(gone[i].kind, nth, gone[i].sys, false);
            u9_err err = try_snapshot(r, at("snap"), (u9_snapshot_options){.copy = gone[i].copy}, &report, &fault);
            sim_mend();
            fired = sim_fired() - fired;
            close_log(r);
            ck_assert_msg(err == U9_OK || (err == U9_IO && fault.sys == gone[i].sys), "%zu, %u: %s", i, nth, fault.text);
            if (err != U9_OK) snapshot(at("log"), at("snap"));
            expect_snapshot(at("snap"), 0, TRIM_RECORDS);
        }
    }
    remove_log(at("snap"));
    u9_log *r = open_reader(at("log"));
    sim_fail(SIM_LINK, 1, ENOENT, true); /* each time */
    ck_assert_int_eq(try_snapshot(r, at("snap"), (u9_snapshot_options){0}, &report, &fault), U9_IO);
    ck_assert_ptr_nonnull(strstr(fault.text, "come and go faster"));
    sim_mend();
    close_log(r);
}
END_TEST

/* What a log goes through between two snapshots. */
static void live_on(u9_log **w, uint64_t *state)
{
    if (*w == NULL) *w = open_rolling(at("log"));
    append_fillers(*w, (unsigned)draw(state, 14));
    if (draw(state, 3) == 0) ck_assert_int_eq(u9_log_sync(*w), U9_OK);
    if (draw(state, 4) == 0 && u9_log_next(*w) > 0) trim_on(*w, below_ordinal(draw(state, u9_log_next(*w))));
    switch (draw(state, 4)) {
    case 0: close_log(*w); break;
    case 1: crash(*w, at("log")); break;
    default: return;
    }
    *w = NULL;
}

START_TEST(it_follows_a_log_through_whatever_that_goes_through) /* */
{
    uint64_t state = (uint64_t)_i;
    u9_log *w = NULL;
    for (unsigned round = 0; round < 6; round++) {
        u9_fault fault;
        u9_snapshot_report report;
        u9_snapshot_options o = {.copy = _i % 3 == 0};
        live_on(&w, &state);
        u9_log *r = w && draw(&state, 2) ? w : open_reader(at("log"));
        if (r != w && draw(&state, 2)) sim_fail(SIM_ANY, 1 + (unsigned)draw(&state, 200), EIO, true);
        u9_err err = try_snapshot(r, at("snap"), o, &report, &fault);
        sim_mend();
        if (err != U9_OK) err = try_snapshot(r, at("snap"), o, &report, &fault);
        ck_assert_msg(err == U9_OK, "round %u: %s: %s", round, fault.path, fault.text);
        if (r != w) close_log(r);
        if (w) ck_assert_uint_ge(report.next_ordinal, u9_log_durable(w));
        expect_snapshot(at("snap"), report.first_ordinal, report.next_ordinal);
        remove_log(at("snap2"));
        sim_copy(at("snap"), at("snap2")); /* which can be gone on with, as what it says is true */
        u9_log *other = open_rolling(at("snap2"));
        append_fillers(other, 3);
        close_log(other);
        expect_snapshot(at("snap2"), report.first_ordinal, report.next_ordinal + 3);
    }
    if (w) close_log(w);
}
END_TEST

/* Stops at any call */

/* What is under the snapshot's name is no more than a whole log, which has all that it had. */
static void expect_whole_or_none(uint64_t least)
{
    if (!exists(at("snap"))) {
        ck_assert_uint_eq(least, 0);
        return;
    }
    seen *s = look(at("snap"));
    ck_assert_int_eq(s->err, U9_OK);
    ck_assert_uint_eq(s->report.damages, 0);
    ck_assert_int_le(s->report.verdict, U9_V_TORN);
    ck_assert_uint_ge(s->report.next_ordinal, least);
    ck_assert_uint_eq(s->count, s->report.next_ordinal);
    forget(s);
}

/* A log of 24 records whose snapshot, if `old`, has the first 12 of them; copied if `copy`. */
static void prepare(bool old, bool copy)
{
    u9_fault fault;
    u9_snapshot_report report;
    u9_log *w = open_rolling(at("log"));
    append_fillers(w, 12);
    u9_snapshot_options o = {.copy = copy};
    if (old) ck_assert_int_eq(try_snapshot(w, at("snap"), o, &report, &fault), U9_OK);
    append_fillers(w, 12);
    close_log(w);
}

/*
 * Stopped at each call in turn, which fails and so do all behind it; and if `power`, that goes then. There is what
 * there was, or all; and another run comes to its end.
 */
static void stop_everywhere(bool old, bool copy, bool power)
{
    bool done = false;
    for (unsigned nth = 1; !done; nth = next_call(nth)) {
        u9_fault fault;
        u9_snapshot_report report;
        u9_snapshot_options o = {.copy = copy};
        sim_begin(nth);
        sim_make_dir(at(""));
        prepare(old, copy);
        u9_log *r = open_reader(at("log"));
        sim_fail(SIM_ANY, nth, EIO, true);
        u9_err err = try_snapshot(r, at("snap"), o, &report, &fault);
        done = sim_fired() == 0;
        ck_assert(!done || err == U9_OK);
        if (power) sim_lose_power();
        sim_mend();
        (void)u9_log_close(r, NULL);
        expect_whole_or_none(old || done ? 12 : 0);
        r = open_reader(at("log"));
        err = try_snapshot(r, at("snap"), o, &report, &fault);
        ck_assert_msg(err == U9_OK, "call %u: %s %s", nth, fault.path, fault.text);
        close_log(r);
        expect_snapshot(at("snap"), 0, 24);
        expect_snapshot(at("log"), 0, 24);
        ck_assert_uint_lt(nth, 1000);
    }
}

START_TEST(a_first_run_that_fails_at_any_call_is_gone_on_with) /* */
{
    stop_everywhere(false, _i, false);
}
END_TEST

START_TEST(a_later_run_that_fails_at_any_call_leaves_what_there_was) /* */
{
    stop_everywhere(true, _i, false);
}
END_TEST

START_TEST(the_power_goes_at_any_call_of_a_first_run) /* */
{
    stop_everywhere(false, _i, true);
}
END_TEST

START_TEST(the_power_goes_at_any_call_of_a_later_run) /* */
{
    stop_everywhere(true, _i, true);
}
END_TEST

/* Where the log was trimmed beyond all that the snapshot has: what lies between is missing, and nothing went two ways. */
START_TEST(a_run_that_is_stopped_in_front_of_a_gap_tells_what_is_missing) /* [A-3] [L-10] */
{
    bool done = false;
    unsigned missing = 0;
    for (unsigned nth = 1; !done; nth = nth < 60 ? next_call(nth) : nth + 1) {
        u9_fault fault;
        u9_snapshot_report report;
        sim_begin(nth);
        sim_make_dir(at(""));
        prepare(true, false);
        u9_log *w = open_rolling(at("log"));
        append_fillers(w, 24);
        trim_on(w, below_ordinal(_i < 2 ? 40 : 47)); /* to the last one */
        close_log(w);
        u9_log *r = open_reader(at("log"));
        sim_fail(SIM_ANY, nth, EIO, true);
        u9_err err = try_snapshot(r, at("snap"), (u9_snapshot_options){0}, &report, &fault);
        done = sim_fired() == 0;
        ck_assert(!done || err == U9_OK);
        if (_i % 2) sim_lose_power();
        sim_mend();
        (void)u9_log_close(r, NULL);
        seen *s = look(at("snap"));
        for (size_t i = 0; i < s->damage_count; i++)
            ck_assert_msg(s->damages[i].verdict < U9_V_UNKNOWN || s->damages[i].reason == U9_R_MISSING, "call %u: %s", nth,
                          u9_reason_name(s->damages[i].reason));
        missing += count_damages(s, U9_V_CORRUPT, U9_R_MISSING) > 0;
        forget(s);
        report = snapshot(at("log"), at("snap"));
        expect_snapshot(at("snap"), report.first_ordinal, 48);
        ck_assert_uint_gt(report.first_ordinal, 24);
        ck_assert_uint_lt(nth, 1000);
    }
    ck_assert_uint_gt(missing, 0);
}
END_TEST

Suite *suite_snapshot(void)
{
    Suite *s = suite_create("snapshot");
    TCase *t = tcase_create("taken");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_add_test(t, what_will_not_change_is_linked_and_the_last_segment_copied_and_closed);
    tcase_add_test(t, what_is_appended_is_in_it_without_a_commit_and_durable_in_the_log);
    tcase_add_test(t, what_the_log_loses_in_a_power_cut_is_not_in_its_snapshot);
    tcase_add_test(t, what_is_in_a_snapshot_was_made_durable_in_the_log_before);
    tcase_add_test(t, a_copy_that_is_not_what_was_copied_is_no_snapshot);
    tcase_add_test(t, a_closed_log_is_taken_with_its_u9end);
    tcase_add_test(t, a_log_that_was_left_by_a_crash_gives_a_closed_snapshot);
    tcase_add_test(t, all_is_copied_if_asked_or_where_nothing_can_be_linked);
    tcase_add_test(t, a_record_in_parts_that_is_still_coming_is_not_in_it);
    suite_add_tcase(s, t);
    t = tcase_create("again");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_add_test(t, a_second_run_takes_only_what_is_new);
    tcase_add_test(t, what_was_trimmed_goes_from_the_snapshot_too);
    tcase_add_test(t, what_was_trimmed_stays_in_the_snapshot_if_asked_to);
    tcase_add_loop_test(t, what_the_log_lost_and_did_not_trim_is_not_removed_from_the_snapshot, 0, 3);
    tcase_add_test(t, a_snapshot_that_was_written_to_is_not_touched_again);
    tcase_add_test(t, a_snapshot_that_was_written_to_keeps_that_whatever_is_trimmed);
    tcase_add_loop_test(t, an_older_state_of_the_log_is_said_to_be_that, 0, 2);
    tcase_add_test(t, no_other_directory_is_taken_for_a_snapshot);
    tcase_add_test(t, a_log_that_was_put_back_does_not_replace_what_the_snapshot_has);
    tcase_add_loop_test(t, a_snapshot_whose_own_word_was_forged_is_left_alone, 0, sizeof forged_notes / sizeof *forged_notes);
    tcase_add_test(t, what_is_none_of_the_logs_is_not_replaced);
    tcase_add_test(t, what_was_trimmed_since_a_run_was_broken_off_goes_unseen);
    tcase_add_test(t, of_what_is_no_log_or_not_to_be_taken_there_is_no_snapshot);
    tcase_add_test(t, a_writer_that_cannot_sync_has_no_snapshot);
    suite_add_tcase(s, t);
    t = tcase_create("damage");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_add_test(t, a_file_that_cannot_be_written_is_the_snapshots_and_not_the_logs);
    tcase_add_test(t, a_damaged_log_is_copied_as_it_is_or_not_at_all);
    tcase_add_test(t, a_log_whose_end_cannot_be_read_has_the_same_records_the_next_time);
    tcase_add_loop_test(t, what_the_log_has_lost_of_its_last_segment_stays_in_the_snapshot, 0,
                        (int)(sizeof spoiled / sizeof *spoiled));
    tcase_add_test(t, what_the_log_has_lost_by_the_time_it_rolled_stays_in_the_snapshot);
    tcase_add_test(t, what_the_snapshot_has_and_cannot_read_now_is_not_replaced);
    tcase_add_test(t, what_is_new_and_damaged_is_not_whole_anywhere);
    tcase_add_test(t, what_could_not_be_read_once_is_damaged_until_all_is_read_again);
    tcase_add_test(t, what_is_not_proven_in_the_snapshot_is_taken_from_the_log);
    tcase_add_test(t, damage_at_the_end_is_not_closed_over);
    tcase_add_test(t, files_that_are_not_of_the_log_stay_behind);
    tcase_add_loop_test(t, whatever_happened_to_a_log_its_snapshot_tells_the_same, 0, 60);
    suite_add_tcase(s, t);
    t = tcase_create("writer");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_add_test(t, a_writer_trims_and_rolls_between_any_two_looks);
    tcase_add_loop_test(t, a_writer_trims_what_is_being_taken_for_a_snapshot_that_is_there, 0, 2);
    tcase_add_test(t, files_that_are_gone_meanwhile_are_looked_for_again);
    tcase_add_loop_test(t, it_follows_a_log_through_whatever_that_goes_through, 0, 24);
    suite_add_tcase(s, t);
    t = tcase_create("stops");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 240);
    tcase_add_loop_test(t, a_first_run_that_fails_at_any_call_is_gone_on_with, 0, 2);
    tcase_add_loop_test(t, a_later_run_that_fails_at_any_call_leaves_what_there_was, 0, 2);
    tcase_add_loop_test(t, the_power_goes_at_any_call_of_a_first_run, 0, 2);
    tcase_add_loop_test(t, the_power_goes_at_any_call_of_a_later_run, 0, 2);
    tcase_add_loop_test(t, a_run_that_is_stopped_in_front_of_a_gap_tells_what_is_missing, 0, 4);
    suite_add_tcase(s, t);
    return s;
}
