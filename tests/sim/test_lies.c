/*
 * tests/sim/test_lies.c: a disk that lies does so when it is told to, once, and of segments alone; a frozen one can be
 * thawed into each state that a cut may leave; and the watch over who writes ends the test of whom it catches. {F07}
 * {F14}
 */
#include "tests/sim/sim.h"

#include "format/base/bytes.h"
#include "tests/engine/fixture.h"
#include "tests/suites.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 };

/* A file of three blocks, and a queue. */
static struct {
    u9i_dir *dir;
    u9i_file *file;
    u9i_queue *queue;
    uint8_t bytes[3 * BLOCK];
} w;

static const char path[] = "/d/0000000000000001.u9";

static void begin(void)
{
    fixture_setup_sim();
    ck_assert_int_eq(u9i_dir_open(sim_env(), "/d", true, &w.dir), 0);
    ck_assert_int_eq(u9i_file_open(w.dir, path + 3, U9I_OPEN_CREATE, &w.file), 0);
    ck_assert_int_eq(u9i_queue_open(sim_env(), NULL, 0, 0, &w.queue), 0);
    ck_assert_int_eq(u9i_dir_sync(w.dir), 0);
    for (size_t i = 0; i < sizeof w.bytes; i++) w.bytes[i] = (uint8_t)(i / BLOCK + 1);
}

static void end(void)
{
    u9i_queue_close(w.queue);
    u9i_file_close(w.file);
    u9i_dir_close(w.dir);
    fixture_teardown();
}

static void submit(u9i_op_kind kind, uint64_t off, size_t n)
{
    u9i_op op = {.kind = kind, .file = w.file, .off = off, .buf = n ? w.bytes + off : NULL, .n = n, .tag = off};
    ck_assert_int_eq(u9i_queue_submit(w.queue, &op, 1), 0);
}

/* What it is told of all that is under way: that it is done. */
static void await(unsigned count)
{
    u9i_completion c;
    while (count-- > 0) {
        ck_assert_int_eq(u9i_queue_wait(w.queue, &c, 1, U9I_FOREVER), 1);
        ck_assert_int_ge(c.result, 0);
    }
}

/* The first byte of each block: '-' where there is nothing. */
static const char *blocks(const char *of)
{
    static char text[16];
    size_t n = 0;
    uint8_t byte;
    for (uint64_t p = 0; p < 8 * BLOCK && sim_read(of, p, &byte, 1) == 1; p += BLOCK)
        text[n++] = byte ? (char)('0' + byte) : '-';
    text[n] = 0;
    return text;
}

static void write_three(void)
{
    for (uint64_t i = 0; i < 3; i++) submit(U9I_OP_WRITE, i * BLOCK, BLOCK);
    await(3);
}

START_TEST(a_write_is_lost_once)
{
    sim_lie(SIM_LOST, 2, 0);
    write_three();
    ck_assert_str_eq(blocks(path), "1-3");
    ck_assert_uint_eq(sim_lies(), 1);
    submit(U9I_OP_WRITE, BLOCK, BLOCK);
    await(1);
    ck_assert_str_eq(blocks(path), "123");
}
END_TEST

START_TEST(a_write_strays)
{
    sim_lie(SIM_STRAY, 2, 3 * BLOCK);
    write_three();
    ck_assert_str_eq(blocks(path), "1-3-2");
}
END_TEST

START_TEST(a_bit_of_a_write_is_flipped_and_no_other)
{
    uint8_t there[3 * BLOCK];
    sim_lie(SIM_ROT, 3, 8 * 100 + 5);
    write_three();
    ck_assert_uint_eq(sim_read(path, 0, there, sizeof there), sizeof there);
    there[2 * BLOCK + 100] ^= 1 << 5;
    ck_assert_mem_eq(there, w.bytes, sizeof there);
}
END_TEST

START_TEST(a_sync_does_nothing)
{
    sim_lie(SIM_DEAF, 2, 0);
    submit(U9I_OP_WRITE, 0, BLOCK);
    await(1);
    submit(U9I_OP_SYNC, 0, 0);
    await(1);
    submit(U9I_OP_WRITE, BLOCK, BLOCK);
    await(1);
    submit(U9I_OP_SYNC, 0, 0);
    await(1);
    sim_cut_power("/d");
    ck_assert_str_eq(blocks(path), "1");
}
END_TEST

START_TEST(other_files_are_not_lied_about)
{
    u9i_file *other, *segment = w.file;
    sim_lie(SIM_LOST, 1, 0);
    ck_assert_int_eq(u9i_file_open(w.dir, ".mark", U9I_OPEN_CREATE, &other), 0);
    w.file = other;
    write_three();
    ck_assert_str_eq(blocks("/d/.mark"), "123");
    w.file = segment;
    u9i_file_close(other);
    ck_assert_uint_eq(sim_lies(), 0);
}
END_TEST

/* Each half of the two units, and what was synced. */
START_TEST(a_frozen_directory_thaws_into_each_state_that_a_cut_may_leave)
{
    sim_unit units[SIM_UNITS_MAX];
    uint64_t none[SIM_UNITS_MAX] = {0}, all[SIM_UNITS_MAX], some[SIM_UNITS_MAX] = {0};
    submit(U9I_OP_WRITE, 0, BLOCK);
    await(1);
    submit(U9I_OP_SYNC, 0, 0);
    await(1);
    submit(U9I_OP_WRITE, BLOCK, BLOCK);
    await(1);
    sim_set_order(SIM_LATE);
    ck_assert_int_eq(u9i_dir_rename(w.dir, path + 3, "other"), 0);
    sim_freeze_at(1);
    submit(U9I_OP_WRITE, 2 * BLOCK, BLOCK); /* is under way when it happens */
    ck_assert_uint_eq(sim_frozen("/d", units), 3);
    ck_assert(!units[0].write && units[0].pieces == 1);
    ck_assert(units[1].write && units[1].pieces == 15 && units[2].write && units[2].pieces == 15);
    for (unsigned i = 0; i < SIM_UNITS_MAX; i++) all[i] = i < 3 ? units[i].pieces : 0;
    sim_thaw("/d", "/e", none);
    ck_assert_str_eq(blocks("/e/0000000000000001.u9"), "1");
    uint64_t digest = sim_digest("/e");
    sim_thaw("/d", "/e", all);
    ck_assert(!sim_holds("/e/0000000000000001.u9"));
    ck_assert_str_eq(blocks("/e/other"), "123");
    ck_assert_uint_ne(sim_digest("/e"), digest);
    some[2] = 2; /* the second piece of the second write */
    sim_thaw("/d", "/e", some);
    ck_assert_str_eq(blocks("/e/0000000000000001.u9"), "1--");
    uint8_t there[BLOCK];
    ck_assert_uint_eq(sim_read("/e/0000000000000001.u9", 2 * BLOCK, there, BLOCK), BLOCK);
    ck_assert(there[SIM_PIECE - 1] == 0 && there[SIM_PIECE] == 3);
    ck_assert(there[2 * SIM_PIECE - 1] == 3 && there[2 * SIM_PIECE] == 0);
    sim_thaw("/d", "/e", none);
    ck_assert_uint_eq(sim_digest("/e"), digest);
}
END_TEST

/* The watch */

/* {F14} */
START_TEST(a_buffer_that_changes_under_a_write_is_caught)
{
    sim_set_order(SIM_LATE);
    submit(U9I_OP_WRITE, 0, BLOCK);
    w.bytes[77] ^= 1;
    await(1);
}
END_TEST

/* {F14} */
START_TEST(a_file_that_is_closed_under_a_write_is_caught)
{
    sim_set_order(SIM_LATE);
    submit(U9I_OP_WRITE, 0, BLOCK);
    u9i_file_close(w.file);
}
END_TEST

/* The last 80 bytes of a frame, that promise so much; and what a mark and a u9open name. [F-4] [C-8] [C-3] */
static void promise(uint8_t *out, uint64_t durable)
{
    memcpy(out, "\x40\x4d\x08\x0au9frame\0", 12);
    u9i_set_be(out + 45, 8, durable);
}

static void name_end(uint8_t *out, const char *record, size_t number_at, size_t end_at, uint64_t end)
{
    memcpy(out, record, 9);
    u9i_set_be(out + number_at, 8, 1);
    u9i_set_be(out + end_at, 8, end);
}

static void write_and_sync(uint64_t blocks_synced)
{
    sim_watch_promises();
    for (uint64_t i = 0; i < 2; i++) {
        if (i == blocks_synced) continue;
        submit(U9I_OP_WRITE, i * BLOCK, BLOCK);
        await(1);
    }
    submit(U9I_OP_SYNC, 0, 0);
    await(1);
    if (blocks_synced < 2) submit(U9I_OP_WRITE, blocks_synced * BLOCK, BLOCK), await(1);
}

START_TEST(a_promise_of_what_is_durable_is_seen_and_fine)
{
    write_and_sync(2);
    promise(w.bytes + 2 * BLOCK + 600, 2 * BLOCK);
    name_end(w.bytes + 2 * BLOCK + 1000, "\x0au9mark\0", 37, 82, 2 * BLOCK);
    name_end(w.bytes + 2 * BLOCK + 2000, "\x0au9open\0", 73, 118, BLOCK + 50);
    submit(U9I_OP_WRITE, 2 * BLOCK, BLOCK);
    await(1);
    ck_assert_uint_eq(sim_promises(), 3);
}
END_TEST

/* {F07} Of each kind, where the first or the second block is not synced. */
START_TEST(a_promise_of_what_is_not_durable_is_caught)
{
    write_and_sync((uint64_t)_i % 2);
    uint8_t *at = w.bytes + 2 * BLOCK + 600;
    if (_i / 2 == 0) promise(at, BLOCK + 1);
    else if (_i / 2 == 1) name_end(at, "\x0au9mark\0", 37, 82, BLOCK + 1);
    else name_end(at, "\x0au9open\0", 73, 118, BLOCK + 1);
    submit(U9I_OP_WRITE, 2 * BLOCK, BLOCK);
}
END_TEST

START_TEST(a_promise_in_a_file_whose_name_is_not_durable_is_caught)
{
    write_and_sync(2);
    ck_assert_int_eq(u9i_dir_rename(w.dir, path + 3, "aside"), 0);
    ck_assert_int_eq(u9i_dir_sync(w.dir), 0);
    ck_assert_int_eq(u9i_dir_rename(w.dir, "aside", path + 3), 0);
    sim_cut_power("/d");
    ck_assert_int_eq(u9i_dir_rename(w.dir, "aside", path + 3), 0);
    promise(w.bytes + 2 * BLOCK + 600, BLOCK);
    submit(U9I_OP_WRITE, 2 * BLOCK, BLOCK);
    fprintf(stderr, "nobody was caught\n");
}
END_TEST

Suite *suite_lies(void)
{
    Suite *suite = suite_create("lies");
    TCase *tc = tcase_create("lies");
    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_test(tc, a_write_is_lost_once);
    tcase_add_test(tc, a_write_strays);
    tcase_add_test(tc, a_bit_of_a_write_is_flipped_and_no_other);
    tcase_add_test(tc, a_sync_does_nothing);
    tcase_add_test(tc, other_files_are_not_lied_about);
    tcase_add_test(tc, a_frozen_directory_thaws_into_each_state_that_a_cut_may_leave);
    tcase_add_test(tc, a_promise_of_what_is_durable_is_seen_and_fine);
    tcase_add_test_raise_signal(tc, a_buffer_that_changes_under_a_write_is_caught, SIGABRT);
    tcase_add_test_raise_signal(tc, a_file_that_is_closed_under_a_write_is_caught, SIGABRT);
    tcase_add_loop_test_raise_signal(tc, a_promise_of_what_is_not_durable_is_caught, SIGABRT, 0, 6);
    tcase_add_test_raise_signal(tc, a_promise_in_a_file_whose_name_is_not_durable_is_caught, SIGABRT);
    suite_add_tcase(suite, tc);
    return suite;
}
