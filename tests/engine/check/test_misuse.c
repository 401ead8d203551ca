/*
 * tests/engine/check/test_misuse.c: calls with arguments that are none, which nothing is done for; and a file of saved
 * bytes that somebody made.
 */
#include "format/base/bytes.h"
#include "format/base/hash.h"
#include "tests/engine/fixture.h"
#include "tests/must.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <u9/carve.h>
#include <u9/cursor.h>
#include <u9/follow.h>
#include <u9/index.h>
#include <u9/large.h>
#include <u9/lookup.h>
#include <u9/merge.h>
#include <u9/repair.h>
#include <u9/scan.h>
#include <u9/snapshot.h>
#include <u9/tier.h>
#include <u9/transit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define REFUSED(call) MUST_SAY((call) == U9_ARG, "%s", #call)

START_TEST(who_repairs_without_a_path_or_a_size_is_refused)
{
    u9_repair_report report = {.size = sizeof report}, none = {.size = 7};
    u9_repair_options wrong = {.size = 7};
    u9_loss loss = {.size = 7};
    u9_tails tails = {.size = 7};
    REFUSED(u9_repair(NULL, NULL, &report, NULL));
    REFUSED(u9_repair("", NULL, &report, NULL));
    REFUSED(u9_repair(at("log"), NULL, NULL, NULL));
    REFUSED(u9_repair(at("log"), NULL, &none, NULL));
    REFUSED(u9_repair(at("log"), &wrong, &report, NULL));
    REFUSED(u9_undo(NULL, NULL, 0, NULL, NULL));
    REFUSED(u9_undo("", NULL, 0, NULL, NULL));
    REFUSED(u9_accept_loss(at("log"), 0, NULL, &loss, NULL));
    REFUSED(u9_accept_loss(at("log"), 0, NULL, NULL, NULL));
    REFUSED(u9_accept_loss(NULL, 0, NULL, &loss, NULL));
    REFUSED(u9_accept_tails(at("log"), 0, NULL, NULL, NULL));
    REFUSED(u9_accept_tails(at("log"), 0, NULL, &tails, NULL));
    REFUSED(u9_accept_tails(NULL, 0, NULL, &tails, NULL));
    ck_assert_str_eq(u9_repair_name((u9_repair_kind)99), "?");
    ck_assert_str_eq(u9_repair_name((u9_repair_kind)0), "?");
    ck_assert_str_eq(u9_repair_name(U9_REPAIR_BIT), "bit");
    ck_assert(!exists(at("log")));
}
END_TEST

START_TEST(who_makes_logs_of_nothing_is_refused)
{
    const char *one[] = {"x"};
    u9_merge_report merged = {.size = sizeof merged}, no_merge = {.size = 7};
    u9_merge_options merging = {.size = 7};
    u9_carve_report carved = {.size = sizeof carved}, no_carve = {.size = 7};
    u9_carve_options carving = {.size = 7};
    REFUSED(u9_merge(NULL, one, 1, NULL, &merged, NULL));
    REFUSED(u9_merge("", one, 1, NULL, &merged, NULL));
    REFUSED(u9_merge(at("out"), NULL, 1, NULL, &merged, NULL));
    REFUSED(u9_merge(at("out"), one, 0, NULL, &merged, NULL));
    REFUSED(u9_merge(at("out"), one, 1, NULL, NULL, NULL));
    REFUSED(u9_merge(at("out"), one, 1, NULL, &no_merge, NULL));
    REFUSED(u9_merge(at("out"), one, 1, &merging, &merged, NULL));
    REFUSED(u9_carve(NULL, at("out"), NULL, &carved, NULL));
    REFUSED(u9_carve("", at("out"), NULL, &carved, NULL));
    REFUSED(u9_carve("x", NULL, NULL, &carved, NULL));
    REFUSED(u9_carve("x", "", NULL, &carved, NULL));
    REFUSED(u9_carve("x", at("out"), NULL, NULL, NULL));
    REFUSED(u9_carve("x", at("out"), NULL, &no_carve, NULL));
    REFUSED(u9_carve("x", at("out"), &carving, &carved, NULL));
    ck_assert(!exists(at("out")));
}
END_TEST

START_TEST(who_looks_for_nothing_is_refused)
{
    u9_index_report report = {.size = sizeof report}, none = {.size = 7};
    u9_index_options wrong = {.size = 7};
    u9_snapshot_report snap = {.size = sizeof snap}, no_snap = {.size = 7};
    u9_snapshot_options snapping = {.size = 7};
    u9_seek to = {.size = 7}, nowhere = {.size = sizeof to, .kind = (u9_seek_kind)99};
    u9_seek no_text = {.size = sizeof to, .kind = U9_SEEK_SAVED},
            no_key = {.size = sizeof to, .kind = U9_SEEK_KEY};
    u9_bounds bounds = {.size = 7},
              turned = {.size = sizeof turned, .from = 2, .to = 1, .until_us = U9_NOWHERE};
    u9_bounds late = {.size = sizeof late, .to = 1, .since_us = 2, .until_us = 1};
    u9_key key = {"x", 1}, null = {NULL, 1};
    u9_record r = {.size = 0};
    u9_tally tally = {0};
    u9_reading *reading;
    u9_cursor *c;
    char text[U9_CURSOR_TEXT_SIZE];
    session(at("log"), "x", 3, 0);
    REFUSED(u9_indexes_look(NULL, NULL, &report, NULL));
    REFUSED(u9_indexes_look("", NULL, &report, NULL));
    REFUSED(u9_indexes_build(at("log"), NULL, NULL, NULL));
    REFUSED(u9_indexes_build(at("log"), NULL, &none, NULL));
    REFUSED(u9_indexes_check(at("log"), &wrong, &report, NULL));
    for (unsigned why = 0; why < 12; why++)
        ck_assert_uint_gt(strlen(u9_index_why_text((u9_index_why)why)), 5);
    u9_log *log = open_reader(at("log"));
    REFUSED(u9_log_snapshot(NULL, at("out"), NULL, &snap, NULL));
    REFUSED(u9_log_snapshot(log, NULL, NULL, &snap, NULL));
    REFUSED(u9_log_snapshot(log, "", NULL, &snap, NULL));
    REFUSED(u9_log_snapshot(log, at("out"), NULL, NULL, NULL));
    REFUSED(u9_log_snapshot(log, at("out"), NULL, &no_snap, NULL));
    REFUSED(u9_log_snapshot(log, at("out"), &snapping, &snap, NULL));
    REFUSED(u9_log_seek(log, &to, NULL, NULL));
    REFUSED(u9_log_get(log, &key, NULL, 1, &r, NULL));
    REFUSED(u9_log_get(log, &key, text, 1, NULL, NULL));
    REFUSED(u9_log_get(log, &null, text, 1, &r, NULL));
    REFUSED(u9_log_get(log, NULL, text, 1, &r, NULL));
    REFUSED(u9_log_get(NULL, &key, text, 1, &r, NULL));
    REFUSED(u9_log_get_many(log, NULL, 1, NULL));
    REFUSED(u9_log_versions(log, &key, NULL, NULL, NULL));
    REFUSED(u9_tally_record(NULL, log, &r, NULL));
    REFUSED(u9_tally_record(&tally, log, NULL, NULL));
    REFUSED(u9_record_open(NULL, &r, &reading, NULL));
    REFUSED(u9_record_open(log, NULL, &reading, NULL));
    REFUSED(u9_record_open(log, &r, NULL, NULL));
    REFUSED(u9_cursor_seek(NULL, &to));
    REFUSED(u9_cursor_bisect(NULL, NULL, NULL));
    REFUSED(u9_cursor_within(NULL, &bounds));
    REFUSED(u9_cursor_save(NULL, text, sizeof text));
    REFUSED(u9_cursor_follow(NULL, U9_SHOW_DURABLE));
    REFUSED(u9_cursor_wait(NULL, 0));
    ck_assert_int_eq(u9_cursor_event_fd(NULL), -1);
    ck_assert_int_eq(u9_cursor_open(log, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_event_fd(c), -1);
    REFUSED(u9_cursor_follow(c, (u9_shown)9));
    REFUSED(u9_cursor_seek(c, NULL));
    REFUSED(u9_cursor_seek(c, &to));
    REFUSED(u9_cursor_seek(c, &nowhere));
    REFUSED(u9_cursor_seek(c, &no_text));
    REFUSED(u9_cursor_seek(c, &no_key));
    REFUSED(u9_cursor_bisect(c, NULL, NULL));
    REFUSED(u9_cursor_within(c, NULL));
    REFUSED(u9_cursor_within(c, &bounds));
    REFUSED(u9_cursor_within(c, &turned));
    REFUSED(u9_cursor_within(c, &late));
    REFUSED(u9_cursor_save(c, NULL, 200));
    ck_assert_int_eq(u9_cursor_save(c, text, 5), U9_LIMIT);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK); /* after all that it is at its start */
    ck_assert_uint_eq(r.ordinal, 0);
    ck_assert_int_eq(u9_record_open(log, &r, &reading, NULL), U9_OK);
    REFUSED(u9_record_read(NULL, 0, text, 1, &r.size, NULL));
    REFUSED(u9_record_read(reading, 0, NULL, 1, &r.size, NULL));
    REFUSED(u9_record_read(reading, 0, text, 1, NULL, NULL));
    u9_record_close(reading);
    u9_cursor_close(c);
    close_log(log);
}
END_TEST

START_TEST(who_checks_moves_or_sends_nothing_is_refused)
{
    u9_report report = {.size = sizeof report}, no_report = {.size = 7};
    u9_check_options checking = {.size = 7};
    u9_tiered tiered = {.size = sizeof tiered}, no_tiered = {.size = 7};
    u9_tier_options tiering = {.size = sizeof tiering}, no_tiering = {.size = 7};
    u9_ship_report shipped = {.size = sizeof shipped}, no_ship = {.size = 7};
    u9_options no_options = {.size = 7};
    u9_send_options sending = {.size = sizeof sending, .in = -1, .out = -1}, from = {.size = sizeof from, .from = 1};
    u9_recv_options taking = {.size = sizeof taking, .in = -1, .out = -1}, logs = {.size = sizeof logs, .log = &no_options};
    u9_send_options no_send = {.size = 7};
    u9_recv_options no_recv = {.size = 7};
    uint64_t salvaged;
    session(at("log"), "x", 3, 0);
    REFUSED(u9_check(NULL, NULL, &report, NULL));
    REFUSED(u9_check(at("log"), NULL, NULL, NULL));
    REFUSED(u9_check(at("log"), NULL, &no_report, NULL));
    REFUSED(u9_check(at("log"), &checking, &report, NULL));
    REFUSED(u9_salvage("", at("out"), NULL, &report, &salvaged, NULL));
    REFUSED(u9_salvage(at("log"), NULL, &(u9_check_options){.size = sizeof checking, .io = io_of(at("log"))}, &report, NULL, NULL));
    REFUSED(u9_mark_read(at("log"), NULL, NULL, NULL));
    REFUSED(u9_tier(NULL, &tiering, &tiered, NULL));
    REFUSED(u9_tier("", &tiering, &tiered, NULL));
    REFUSED(u9_tier(at("log"), NULL, &tiered, NULL));
    REFUSED(u9_tier(at("log"), &tiering, NULL, NULL));
    REFUSED(u9_tier(at("log"), &no_tiering, &tiered, NULL));
    REFUSED(u9_tier(at("log"), &tiering, &no_tiered, NULL));
    u9_log *log = open_reader(at("log"));
    REFUSED(u9_log_send(NULL, &sending, &shipped, NULL));
    REFUSED(u9_log_send(log, NULL, &shipped, NULL));
    REFUSED(u9_log_send(log, &no_send, &shipped, NULL));
    REFUSED(u9_log_send(log, &sending, &shipped, NULL));
    REFUSED(u9_log_send(log, &from, &shipped, NULL));
    REFUSED(u9_log_send(log, &from, NULL, NULL));
    REFUSED(u9_log_send(log, &from, &no_ship, NULL));
    close_log(log);
    REFUSED(u9_log_recv(NULL, &logs, &shipped, NULL));
    REFUSED(u9_log_recv("", &(u9_recv_options){.size = sizeof taking}, &shipped, NULL));
    REFUSED(u9_log_recv(at("out"), NULL, &shipped, NULL));
    REFUSED(u9_log_recv(at("out"), &no_recv, &shipped, NULL));
    REFUSED(u9_log_recv(at("out"), &taking, &shipped, NULL));
    REFUSED(u9_log_recv(at("out"), &logs, &shipped, NULL));
    REFUSED(u9_log_recv(at("out"), &logs, NULL, NULL));
    REFUSED(u9_log_recv(at("out"), &logs, &no_ship, NULL));
    ck_assert(!exists(at("out")));
}
END_TEST

/* Nobody has registered such a store. */
START_TEST(nothing_is_made_in_a_store_that_is_not_had)
{
    static const char none[] = "rados:none/such";
    const char *one[] = {NULL};
    u9_fault fault;
    uint64_t saved = 0;
    u9_report report = {.size = sizeof report};
    u9_check_options checking = {.size = sizeof checking, .io = io_of(at("log"))};
    u9_merge_report merged = {.size = sizeof merged};
    u9_merge_options merging = {.size = sizeof merging, .io = checking.io};
    u9_snapshot_report snap = {.size = sizeof snap};
    u9_tiered tiered = {.size = sizeof tiered};
    u9_tier_options tiering = {.size = sizeof tiering, .io = checking.io, .to = none};
    u9_repair_report repaired = {.size = sizeof repaired};
    session(at("log"), "x", 3, 0);
    char log_path[3400];
    one[0] = strcpy(log_path, at("log"));
    u9_log *log = open_reader(log_path);
    const u9_err errs[] = {
        u9_salvage(log_path, none, &checking, &report, &saved, &fault),
        u9_salvage(none, at("out"), NULL, &report, &saved, NULL),
        u9_merge(none, one, 1, &merging, &merged, &fault),
        u9_merge(at("out"), &(const char *){none}, 1, NULL, &merged, NULL),
        u9_log_snapshot(log, none, NULL, &snap, &fault),
        u9_tier(log_path, &tiering, &tiered, &fault),
        u9_repair(none, NULL, &repaired, &fault),
        u9_check(none, NULL, &report, NULL),
    };
    for (size_t i = 0; i < sizeof errs / sizeof *errs; i++)
        MUST_SAY(errs[i] == U9_IO || errs[i] == U9_ARG, "%zu: %s", i, u9_err_name(errs[i]));
    REFUSED(u9_salvage(log_path, "", &checking, &report, &saved, NULL));
    close_log(log);
    ck_assert(!exists(at("out")) && !exists(at("out.partial")));
}
END_TEST

/* A host that was built with an earlier version knows less: it is told as much. */
START_TEST(who_knows_an_earlier_version_is_served)
{
    static const size_t reports[] = {offsetof(u9_report, trim_segment), offsetof(u9_report, keyless), sizeof(u9_report)};
    static const size_t checks[] = {offsetof(u9_check_options, io), offsetof(u9_check_options, on_output),
                                    offsetof(u9_check_options, on_stretch), sizeof(u9_check_options)};
    session(at("log"), "x", 3, 0);
    for (unsigned i = 0; i < 12; i++) {
        u9_report r;
        memset(&r, 0x55, sizeof r);
        r.size = reports[i % 3];
        u9_check_options o = {.size = checks[i / 3], .io = io_of(at("log"))};
        u9_err err = u9_check(at("log"), &o, &r, NULL);
        bool knows_io = o.size > offsetof(u9_check_options, io);
        ck_assert_int_eq(err, knows_io || !sim_in_use() ? U9_OK : U9_IO); /* else it is the system's disk */
        if (err == U9_OK) ck_assert_uint_eq(r.records, 3);
        for (size_t k = r.size; k < sizeof r; k++) ck_assert_uint_eq(((uint8_t *)&r)[k], 0x55);
    }
}
END_TEST

static u9_err in_child(u9_log *log, bool sends)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        u9_snapshot_report snap = {.size = sizeof snap};
        u9_ship_report shipped = {.size = sizeof shipped};
        u9_send_options o = {.size = sizeof o, .in = -1, .out = 1};
        _exit(-(sends ? u9_log_send(log, &o, &shipped, NULL) : u9_log_snapshot(log, at("out"), NULL, &snap, NULL)));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

START_TEST(a_handle_of_the_parent_makes_nothing)
{
    session(at("log"), "x", 3, 0);
    u9_log *log = open_reader(at("log"));
    ck_assert_int_eq(in_child(log, false), U9_STATE);
    ck_assert_int_eq(in_child(log, true), U9_STATE);
    close_log(log);
    ck_assert(!exists(at("out")));
}
END_TEST

/* A number of the first change in the file of saved bytes, and what it becomes. [U-3] */
static const struct {
    unsigned number;
    uint64_t value;
} forged_numbers[] = {{0, UINT64_C(1) << 40},
                      {1, UINT64_C(1) << 50},
                      {2, UINT64_C(1) << 30},
                      {2, 0},
                      {2, 4000000},
                      {3, 3},
                      {4, 0},
                      {4, 300},
                      {4, 3},
                      {4, 100},
                      {5, 9},
                      {5, 300}};

static void seal_saved(uint8_t *bytes)
{
    u9i_hash(bytes + 4096, (size_t)u9i_get_be(bytes + 32, 8), bytes + 40);
    u9i_hash(bytes, 56, bytes + 56);
}

static void expect_no_undo(const char *path, const uint8_t *bytes, size_t size, const char *what,
                           unsigned i)
{
    uint64_t steps;
    uint8_t before[16], after[16];
    u9_fault fault;
    write_file(path, bytes, size);
    picture(at("log"), before);
    u9_err err = u9_undo(at("log"), io_of(at("log")), 0, &steps, &fault);
    MUST_SAY(err == U9_CORRUPT, "%s %u: %s", what, i, fault.text);
    ck_assert_ptr_nonnull(strstr(fault.text, "damaged"));
    picture(at("log"), after);
    ck_assert_mem_eq(before, after, sizeof after);
}

START_TEST(saved_bytes_that_were_forged_undo_nothing)
{
    char path[3400];
    size_t size;
    uint64_t steps;
    u9_repair_report report = {.size = sizeof report};
    u9_repair_options o = {.size = sizeof o, .io = io_of(at("log"))};
    session(at("log"), "x", 20, 5);
    session(at("log"), "y", 20, 5);
    flip_bit(segment_path(at("log"), 1), 10, 3);
    ck_assert_int_eq(u9_repair(at("log"), &o, &report, NULL), U9_OK);
    ck_assert_uint_gt(report.steps, 0);
    snprintf(path, sizeof path, "%s/%s", at("log"), report.saved);
    uint8_t *bytes = read_file(path, &size), *forged = malloc(size);
    for (unsigned i = 0; i < sizeof forged_numbers / sizeof *forged_numbers; i++) {
        memcpy(forged, bytes, size);
        u9i_set_be(forged + 4096 + (size_t)8 * forged_numbers[i].number, 8,
                   forged_numbers[i].value);
        seal_saved(forged);
        expect_no_undo(path, forged, size, "number", i);
    }
    for (unsigned i = 0; i < 6; i++) { /* of the head: magic, version, stage, count, size */
        memcpy(forged, bytes, size);
        if (i < 2) forged[i * 8 + 7] ^= 0x70;
        else if (i < 5) u9i_set_be(forged + (size_t)8 * i, 8, i == 4 ? size : 99);
        if (i == 4) u9i_hash(forged, 56, forged + 56);
        else if (i < 5) seal_saved(forged);
        else forged[4096 + 60] ^= 1;
        expect_no_undo(path, forged, size, "head", i);
    }
    for (unsigned i = 0; i < 5; i++) { /* names that lead out, end early, or are none of an index, which alone is made */
        memcpy(forged, bytes, size);
        uint8_t *entry = forged + 4096, *name = entry + 48;
        if (i < 2) name[2] = i ? 0 : '/';
        else u9i_set_be(entry + 16, 8, 0); /* nothing is written over: it is renamed, or was made */
        if (i == 2) u9i_set_be(entry + 40, 8, 3), memcpy(name + 19, "a/b", 3);
        if (i == 3) u9i_set_be(entry + 32, 8, 3);
        if (i == 4) u9i_set_be(entry + 40, 8, 3), memcpy(name + 19, "a\0b", 3);
        seal_saved(forged);
        expect_no_undo(path, forged, size, "name", i);
    }
    memcpy(forged, bytes, size);
    u9i_set_be(forged + 16, 8, 0); /* no stage */
    seal_saved(forged);
    expect_no_undo(path, forged, size, "stage", 0);
    expect_no_undo(path, bytes, 100, "cut", 0);
    write_file(path, bytes, size);
    ck_assert_int_eq(u9_undo(at("log"), io_of(at("log")), 0, &steps, NULL), U9_OK);
    ck_assert_uint_eq(steps, report.steps);
    free(forged);
    free(bytes);
}
END_TEST

Suite *suite_misuse(void)
{
    Suite *s = suite_create("misuse");
    TCase *t = tcase_create("misuse");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, who_repairs_without_a_path_or_a_size_is_refused);
    tcase_add_test(t, who_makes_logs_of_nothing_is_refused);
    tcase_add_test(t, who_looks_for_nothing_is_refused);
    tcase_add_test(t, who_checks_moves_or_sends_nothing_is_refused);
    tcase_add_test(t, nothing_is_made_in_a_store_that_is_not_had);
    tcase_add_test(t, who_knows_an_earlier_version_is_served);
    tcase_add_test(t, a_handle_of_the_parent_makes_nothing);
    tcase_add_test(t, saved_bytes_that_were_forged_undo_nothing);
    suite_add_tcase(s, t);
    return s;
}
