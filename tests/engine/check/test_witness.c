/*
 * tests/engine/check/test_witness.c: a line of a log's mark that was kept elsewhere: what meets it, what is proven by
 * that, and that whoever rewrites all of a log, hashes and mark too, does not meet it. [M-7] [M-8]
 */
#include "engine/check/checker.h"
#include "engine/log/mark.h"
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"
#include "tests/thorough.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECOND = 1000000 };

static char *mark_path(const char *log)
{
    static char path[4400];
    snprintf(path, sizeof path, "%s/.mark", log);
    return path;
}

static u9_mark line_of(const char *log)
{
    u9_mark mark;
    u9_fault fault;
    ck_assert_int_eq(u9_mark_read(log, io_of(log), &mark, &fault), U9_OK);
    return mark;
}

/* What a check against a line finds. */
typedef struct finding {
    u9_report report;
    u9_damage last; /* the last damage that is UNKNOWN or CORRUPT; its path is not kept */
} finding;

static void keep_last(void *ctx, const u9_damage *damage)
{
    if (damage->verdict >= U9_V_UNKNOWN) ((finding *)ctx)->last = *damage;
}

/* A check in pieces finds the same: what is proven is put together of what each piece saw. */
static void expect_in_pieces(const char *path, const u9_check_options *options, const u9_report *whole)
{
    u9_check_options o = *options;
    o.on_damage = NULL;
    for (uint64_t piece = 4096; piece <= 65536; piece *= 2) {
        u9_report r = {.size = sizeof r};
        ck_assert_int_eq(u9i_check_in_pieces(path, &o, piece, &r, NULL), U9_OK);
        ck_assert_mem_eq(&r, whole, sizeof r);
    }
}

static finding check(const char *path, const u9_mark *line)
{
    finding f = {.report = {.size = sizeof f.report}};
    u9_fault fault;
    u9_check_options o = {.size = sizeof o, .on_damage = keep_last, .ctx = &f, .io = io_of(path), .mark = line};
    u9_err err = u9_check(path, &o, &f.report, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    expect_in_pieces(path, &o, &f.report);
    return f;
}

static void expect_met(const char *path, const u9_mark *line, uint64_t from)
{
    finding f = check(path, line);
    ck_assert_int_le(f.report.verdict, U9_V_TORN);
    ck_assert_int_eq(f.report.line, U9_LINE_MET);
    ck_assert_uint_eq(f.report.proven_from, from);
}

static void expect_unmet(const char *path, const u9_mark *line, u9_reason reason)
{
    finding f = check(path, line);
    ck_assert_int_eq(f.report.line, U9_LINE_UNMET);
    ck_assert_uint_eq(f.report.proven_from, U9_NOWHERE);
    ck_assert_int_eq(f.report.verdict, U9_V_CORRUPT);
    ck_assert_int_eq(f.last.reason, reason);
}

START_TEST(a_line_is_met_for_good_by_the_log_that_it_is_of)
{
    u9_options o = small_options();
    u9_mark lines[12];
    unsigned n = 0;
    for (unsigned k = 0; k < 3; k++) {
        u9_log *w = open_writer(at("log"), &o);
        lines[n++] = line_of(at("log"));
        for (unsigned i = 0; i < 20; i++) {
            uint8_t bytes[8000] = {0};
            append_bytes(w, bytes, sizeof bytes);
            if (i % 10 == 9) ck_assert_int_eq(u9_log_sync(w), U9_OK);
            if (i % 10 == 9) sim_advance(SECOND);
            if (i % 10 == 9) lines[n++] = line_of(at("log")); /* a writer is at work */
        }
        for (unsigned i = 0; i < n; i++) expect_met(at("log"), &lines[i], 0);
        if (k < 2) close_log(w);
        else crash(w, at("log"));
        lines[n++] = line_of(at("log"));
    }
    ck_assert_uint_gt(segments_in(at("log")), 3);
    for (unsigned i = 0; i < n; i++) {
        char text[U9_MARK_LINE_SIZE];
        u9_mark again;
        u9_mark_format(&lines[i], text);
        ck_assert_int_eq(u9_mark_parse(text, strlen(text), &again, NULL), U9_OK);
        expect_met(at("log"), &again, 0);
    }
    ck_assert_int_eq(check(at("log"), NULL).report.line, U9_LINE_NONE);
}
END_TEST

START_TEST(what_a_log_without_a_mark_that_counts_lacks_is_said)
{
    u9_mark mark;
    u9_fault fault;
    session(at("log"), "r", 5, 2);
    ck_assert_int_eq(u9_mark_read(segment_path(at("log"), 1), io_of(at("log")), &mark, &fault), U9_ABSENT);
    ck_assert_ptr_nonnull(strstr(fault.text, "a segment file alone"));
    mark = line_of(at("log"));
    ck_assert_uint_eq(mark.ordinal, 5);
    sim_link(mark_path(at("log")), at("elsewhere"));
    ck_assert_int_eq(u9_mark_read(at("log"), io_of(at("log")), &mark, &fault), U9_ABSENT);
    ck_assert_ptr_nonnull(strstr(fault.text, "other names"));
    remove_mark(at("log"));
    ck_assert_int_eq(u9_mark_read(at("log"), io_of(at("log")), &mark, &fault), U9_ABSENT);
    ck_assert_ptr_nonnull(strstr(fault.text, "has no mark"));
    session(at("other"), "s", 5, 2);
    copy_log(at("other"), at("copy"));
    move_file(mark_path(at("copy")), at("moved"));
    char to[4400];
    snprintf(to, sizeof to, "%s", mark_path(at("log")));
    move_file(at("moved"), to);
    ck_assert_int_eq(u9_mark_read(at("log"), io_of(at("log")), &mark, &fault), U9_ABSENT);
    ck_assert_ptr_nonnull(strstr(fault.text, "of another log"));
    fill_bytes(to, 0, 8192, 0x5a);
    ck_assert_int_eq(u9_mark_read(at("log"), io_of(at("log")), &mark, &fault), U9_ABSENT);
    ck_assert_ptr_nonnull(strstr(fault.text, "no slot"));
    ck_assert_int_eq(u9_mark_read(at("nowhere"), io_of(at("log")), &mark, &fault), U9_IO);
}
END_TEST

START_TEST(an_older_state_with_its_own_mark_does_not_meet_the_line)
{
    session(at("log"), "r", 5, 2);
    u9_mark older = line_of(at("log"));
    copy_log(at("log"), at("back"));
    session(at("log"), "s", 7, 2);
    u9_mark line = line_of(at("log"));
    expect_met(at("back"), &older, 0);
    expect_unmet(at("back"), &line, U9_R_MARK);
    finding f = check(at("back"), &line);
    ck_assert_uint_eq(f.last.ordinal, 5);
    ck_assert_uint_eq(f.last.lost, 7);
    ck_assert_uint_eq(f.last.end, line.offset);
    ck_assert_uint_eq(f.report.damages, 1);
    session(at("back"), "other", 9, 1); /* and it went on otherwise */
    expect_unmet(at("back"), &line, U9_R_FORK);
    expect_met(at("back"), &older, 0);
    remove_mark(at("back"));
    expect_unmet(at("back"), &line, U9_R_FORK);
}
END_TEST

START_TEST(a_loss_that_the_log_tells_by_itself_is_told_once)
{
    session(at("log"), "r", 9, 1);
    u9_mark line = line_of(at("log"));
    for (uint64_t cut = 32; cut < line.offset; cut += 500) {
        copy_log(at("log"), at("cut"));
        cut_file(segment_path(at("cut"), 1), cut);
        finding f = check(at("cut"), &line);
        ck_assert_int_eq(f.report.line, U9_LINE_UNMET);
        ck_assert_uint_eq(f.report.damages, 1);
        ck_assert_uint_eq(f.report.lost, 9 - f.report.records);
        remove_log(at("cut"));
    }
}
END_TEST

START_TEST(proven_is_what_stands_behind_the_nearest_gap)
{
    session(at("log"), "r", 9, 1);
    u9_mark line = line_of(at("log"));
    uint64_t offsets[64];
    size_t n = frame_offsets(segment_path(at("log"), 1), offsets, 64);
    ck_assert_uint_gt(n, 9);
    flip_bit(segment_path(at("log"), 1), offsets[4] + 70, 0);
    finding f = check(at("log"), &line);
    ck_assert_int_eq(f.report.verdict, U9_V_CORRUPT);
    ck_assert_int_eq(f.report.line, U9_LINE_MET);
    seen *s = look(at("log"));
    ck_assert_uint_eq(f.report.proven_from, s->damages[0].ordinal + s->damages[0].lost);
    ck_assert_uint_gt(f.report.proven_from, 0);
    forget(s);
}
END_TEST

/* Records "<prefix>N" in two segments, as a session would leave them, whose keys are always the same. */
typedef struct forged_log {
    forged_segment one, two;
} forged_log;

static forged_log write_history(const char *log, const char *first, const char *second, unsigned count)
{
    forged_log l = {.one = forge_begin(1, 1, NULL, U9I_TAIL_NONE)};
    for (unsigned i = 0; i < count; i++) forge_records(&l.one, first, 1);
    l.two = forge_begin(2, 1, &l.one, U9I_TAIL_ROLLED);
    for (unsigned i = 0; i < count; i++) forge_records(&l.two, second, 1);
    forge_save(&l.one, log);
    forge_save(&l.two, log);
    return l;
}

/* Its end as a line; whoever rewrites a log can make one of his own. */
static u9_mark line_at(const forged_segment *s)
{
    u9_mark m = {.segment = s->number, .offset = s->end, .ordinal = s->next.ordinal};
    memcpy(m.boundary, s->secret.boundary, 16);
    memcpy(m.chain, s->next.chain, 16);
    memset(m.log, 0, 16);
    return m;
}

static void forge_free_log(forged_log *l)
{
    forge_free(&l->one);
    forge_free(&l->two);
}

START_TEST(a_history_that_was_rewritten_with_all_its_hashes_and_its_mark_does_not_meet_the_line)
{
    forged_log was = write_history(at("log"), "it was ", "then ", 5);
    u9_mark lines[] = {line_at(&was.one), line_at(&was.two)};
    forge_free_log(&was);
    u9_log *r = open_reader(at("log"));
    close_log(r);
    session(at("log"), "after", 1, 0); /* has the log's id in its mark */
    u9_mark now = line_of(at("log"));
    for (unsigned i = 0; i < 2; i++) {
        memcpy(lines[i].log, now.log, 16);
        expect_met(at("log"), &lines[i], 0);
    }
    static const struct {
        const char *first, *second;
        unsigned count;
        bool first_differs;
    } tries[] = {{"it is ", "then ", 5, true},  {"is was ", "then ", 5, true},  {"it was ", "than ", 5, false},
                 {"it was ", "then ", 6, false}, {"it was ", "then ", 4, true}, {"", "", 50, true}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        remove_log(at("log"));
        forged_log is = write_history(at("log"), tries[i].first, tries[i].second, tries[i].count);
        forge_free_log(&is);
        ck_assert_int_le(check(at("log"), NULL).report.verdict, U9_V_TORN); /* by itself it is whole, */
        session(at("log"), "after", 1, 0);                                 /* and marked */
        ck_assert_int_eq(check(at("log"), NULL).report.verdict, U9_V_CLEAN);
        finding f = check(at("log"), &lines[1]);
        ck_assert_int_eq(f.report.line, U9_LINE_UNMET);
        ck_assert_int_eq(f.report.verdict, U9_V_CORRUPT);
        f = check(at("log"), &lines[0]);
        ck_assert_int_eq(f.report.line, tries[i].first_differs ? U9_LINE_UNMET : U9_LINE_MET);
    }
}
END_TEST

START_TEST(nor_one_whose_last_frames_are_the_old_ones)
{
    forged_log was = write_history(at("log"), "it was ", "then ", 5);
    u9_mark line = line_at(&was.two);
    session(at("log"), "after", 1, 0);
    memcpy(line.log, line_of(at("log")).log, 16);
    remove_log(at("log"));
    forged_log is = write_history(at("log"), "it wos ", "then ", 5);
    forge_save(&was.two, at("log")); /* of the same length */
    session(at("log"), "after", 1, 0);
    finding f = check(at("log"), &line);
    ck_assert_int_eq(f.report.line, U9_LINE_MET); /* but what leads to it is not whole: */
    ck_assert_int_eq(f.report.verdict, U9_V_CORRUPT);
    ck_assert_uint_eq(f.report.proven_from, 5);
    forge_free_log(&was);
    forge_free_log(&is);
}
END_TEST

START_TEST(a_log_that_is_kept_from_later_on_proves_only_that)
{
    forged_log l = write_history(at("log"), "r", "s", 5);
    u9_mark lines[] = {line_at(&l.one), line_at(&l.two)};
    u9i_trim_record trim = {.segment = 2, .ordinal = 5};
    uint8_t body[128];
    u9i_out out = u9i_out_init(body, sizeof body);
    u9i_trim_record_encode(&out, &trim);
    forge_frame(&l.two, body, out.size, 0);
    forge_promise(&l.two);
    forge_save(&l.two, at("log"));
    session(at("log"), "after", 1, 0);
    u9_mark now = line_of(at("log"));
    for (unsigned i = 0; i < 2; i++) {
        memcpy(lines[i].log, now.log, 16);
        expect_met(at("log"), &lines[i], 0);
    }
    remove_log(segment_path(at("log"), 1));
    finding f = check(at("log"), &lines[0]);
    ck_assert_int_le(f.report.verdict, U9_V_TORN);
    ck_assert_int_eq(f.report.line, U9_LINE_GONE);
    ck_assert_uint_eq(f.report.proven_from, U9_NOWHERE);
    expect_met(at("log"), &lines[1], 5); /* and the line says 0 */
    ck_assert_uint_eq(lines[1].first_ordinal, 0);
    forge_free_log(&l);
}
END_TEST

START_TEST(without_a_trim_a_removed_segment_is_missing)
{
    forged_log l = write_history(at("log"), "r", "s", 5);
    u9_mark line = line_at(&l.one);
    session(at("log"), "after", 1, 0);
    memcpy(line.log, line_of(at("log")).log, 16);
    remove_log(segment_path(at("log"), 1));
    finding f = check(at("log"), &line);
    ck_assert_int_eq(f.report.line, U9_LINE_UNMET);
    ck_assert_int_eq(f.report.verdict, U9_V_CORRUPT);
    ck_assert_uint_eq(f.report.damages, 1);
    ck_assert_int_eq(f.last.reason, U9_R_MISSING);
    forge_free_log(&l);
}
END_TEST

START_TEST(the_line_of_another_log_is_never_met)
{
    session(at("log"), "r", 5, 2);
    session(at("other"), "r", 5, 2);
    u9_mark line = line_of(at("other"));
    finding f = check(at("log"), &line);
    ck_assert_int_eq(f.report.line, U9_LINE_FOREIGN);
    ck_assert_int_eq(f.report.verdict, U9_V_CORRUPT);
    ck_assert_int_eq(f.last.reason, U9_R_FOREIGN);
}
END_TEST

START_TEST(a_segment_alone_meets_its_own_lines)
{
    forged_log l = write_history(at("log"), "r", "s", 5);
    u9_mark lines[] = {line_at(&l.one), line_at(&l.two)};
    session(at("log"), "after", 1, 0);
    u9_mark now = line_of(at("log"));
    for (unsigned i = 0; i < 2; i++) memcpy(lines[i].log, now.log, 16);
    expect_met(segment_path(at("log"), 1), &lines[0], 0);
    expect_met(segment_path(at("log"), 2), &lines[1], 5);
    ck_assert_int_eq(check(segment_path(at("log"), 2), &lines[0]).report.line, U9_LINE_GONE);
    ck_assert_int_eq(check(segment_path(at("log"), 1), &lines[1]).report.line, U9_LINE_GONE);
    forge_free_log(&l);
}
END_TEST

/* Whatever byte changes: who is told that all is proven, has what was there. */
START_TEST(no_changed_byte_is_passed_over)
{
    session(at("log"), "r", 4, 2);
    session(at("log"), "s", 4, 2);
    u9_mark line = line_of(at("log"));
    seen *was = look(at("log"));
    uint64_t size = file_size(segment_path(at("log"), 1));
    for (uint64_t i = 0; i < size; i += i % 4096 < 2000 ? thorough(11, 5) : 101) {
        flip_bit(segment_path(at("log"), 1), i, i % 8);
        finding f = check(at("log"), &line);
        bool proven = f.report.line == U9_LINE_MET && f.report.verdict < U9_V_UNKNOWN && f.report.proven_from == 0;
        if (i < 32 + 64 || f.report.records < was->count) ck_assert(!proven);
        if (proven) ck_assert_uint_eq(f.report.records, was->count);
        flip_bit(segment_path(at("log"), 1), i, i % 8);
    }
    forget(was);
}
END_TEST

START_TEST(a_host_of_an_earlier_version_asks_for_no_proof)
{
    session(at("log"), "r", 5, 2);
    u9_check_options o = {.size = offsetof(u9_check_options, on_output), .io = io_of(at("log")),
                          .mark = (const u9_mark *)(uintptr_t)1};
    u9_report r = {.size = offsetof(u9_report, keyless), .line = U9_LINE_GONE};
    ck_assert_int_eq(u9_check(at("log"), &o, &r, NULL), U9_OK);
    ck_assert_uint_eq(r.records, 5);
    ck_assert_int_eq(r.line, U9_LINE_GONE);
    o.size = sizeof o + 8;
    ck_assert_int_eq(u9_check(at("log"), &o, &r, NULL), U9_ARG);
}
END_TEST

/* Without the log's own mark nothing but the line tells that its end is gone: cut off, or with its file. */
START_TEST(an_end_that_only_the_line_knows_of_is_told_where_it_was)
{
    for (unsigned way = 0; way < 3; way++) {
        u9_options o = small_options();
        remove_log(at("log"));
        for (unsigned k = 0; k < 2; k++) {
            u9_log *w = open_writer(at("log"), &o);
            append_many(w, "r", 20, 5);
            if (k) close_log(w);
            else crash(w, at("log"));
        }
        u9_mark line = line_of(at("log"));
        const char *last = segment_path(at("log"), segments_in(at("log")));
        ck_assert_uint_eq(line.segment, segments_in(at("log")));
        remove_mark(at("log"));
        if (way == 0) cut_file(last, line.offset / 2);
        if (way == 1) remove_log(last);
        if (way == 2) { /* of which log it is nobody says: that is no other one */
            remove_log(segment_path(at("log"), 1));
            flip_bit(last, 32 + 64 + 20, 1);
        }
        finding f = check(at("log"), &line);
        ck_assert_int_eq(f.report.line, way == 2 ? U9_LINE_MET : U9_LINE_UNMET);
        if (way == 2) continue;
        ck_assert_int_eq(f.last.reason, U9_R_MARK);
        ck_assert_uint_eq(f.last.segment, line.segment);
        ck_assert_uint_eq(f.last.lost, line.ordinal - f.report.next_ordinal);
        ck_assert_uint_le(f.last.begin, line.offset / 2);
    }
}
END_TEST

Suite *suite_witness(void)
{
    Suite *suite = suite_create("witness");
    TCase *t = tcase_create("witness");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_line_is_met_for_good_by_the_log_that_it_is_of);
    tcase_add_test(t, what_a_log_without_a_mark_that_counts_lacks_is_said);
    tcase_add_test(t, an_older_state_with_its_own_mark_does_not_meet_the_line);
    tcase_add_test(t, a_loss_that_the_log_tells_by_itself_is_told_once);
    tcase_add_test(t, proven_is_what_stands_behind_the_nearest_gap);
    tcase_add_test(t, a_history_that_was_rewritten_with_all_its_hashes_and_its_mark_does_not_meet_the_line);
    tcase_add_test(t, nor_one_whose_last_frames_are_the_old_ones);
    tcase_add_test(t, a_log_that_is_kept_from_later_on_proves_only_that);
    tcase_add_test(t, without_a_trim_a_removed_segment_is_missing);
    tcase_add_test(t, the_line_of_another_log_is_never_met);
    tcase_add_test(t, a_segment_alone_meets_its_own_lines);
    tcase_add_test(t, no_changed_byte_is_passed_over);
    tcase_add_test(t, a_host_of_an_earlier_version_asks_for_no_proof);
    tcase_add_test(t, an_end_that_only_the_line_knows_of_is_told_where_it_was);
    suite_add_tcase(suite, t);
    return suite;
}
