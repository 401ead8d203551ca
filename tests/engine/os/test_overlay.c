/*
 * tests/engine/os/test_overlay.c: a directory as it would be: other bytes and names are shown, what stands there is
 * looked at through it, and nothing can be changed by it.
 */
#include "engine/os/overlay.h"

#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <string.h>

enum { SIZE = 100000, PATCHED = 50000 };

static uint8_t patch[8] = "patched";

static const u9i_change changes[] = {
    {.name = "a", .offset = PATCHED, .size = sizeof patch, .before = patch, .after = patch},
    {.name = "b", .to = "c"},
};

static u9i_dir *base, *over;
static u9i_overlay overlay;

/* "a" has a byte at its begin, and else holes; "b" a word. */
static void setup(void)
{
    fixture_setup_sim();
    write_file(at("a"), "x", 1);
    extend_file(at("a"), SIZE);
    write_file(at("b"), "word", 4);
    ck_assert_int_eq(u9i_dir_open(sim_env(), at("."), false, &base), 0);
    u9i_overlay_init(&overlay, base, changes, 2);
    ck_assert_int_eq(u9i_dir_open(&overlay.env, "wherever", false, &over), 0);
}

static void teardown(void)
{
    u9i_dir_close(over);
    u9i_dir_close(base);
    fixture_teardown();
}

static int add_name(void *names, const char *name)
{
    strcat(strcat(names, name), " ");
    return 0;
}

START_TEST(other_names_are_shown_and_the_old_ones_are_gone)
{
    char names[64] = "";
    u9i_stamp here, there;
    uint64_t identity[2];
    u9i_file *file;
    ck_assert_int_eq(u9i_dir_list(over, add_name, names), 0);
    ck_assert(strstr(names, "a ") && strstr(names, "c ") && strlen(names) == 4);
    ck_assert_int_eq(u9i_dir_stat(over, "c", &here), 0);
    ck_assert_int_eq(u9i_dir_stat(base, "b", &there), 0);
    ck_assert_mem_eq(here.identity, there.identity, sizeof here.identity);
    ck_assert_int_eq(u9i_dir_identify(over, "c", identity), 0);
    ck_assert_mem_eq(identity, there.identity, sizeof identity);
    ck_assert_int_eq(u9i_dir_stat(over, "b", &here), -ENOENT);
    ck_assert_int_eq(u9i_dir_identify(over, "b", identity), -ENOENT);
    ck_assert_int_eq(u9i_file_open(over, "b", U9I_OPEN_READ, &file), -ENOENT);
    ck_assert(!u9i_dir_writer_active(over, "c") && !u9i_dir_writer_active(over, "b"));
    sim_take_lock(at("b"));
    ck_assert(u9i_dir_writer_active(over, "c") && !u9i_dir_writer_active(over, "b"));
    sim_drop_lock(at("b"));
}
END_TEST

START_TEST(names_are_as_they_are_where_bytes_alone_are_to_be_others)
{
    char names[64] = "";
    u9i_stamp stamp;
    overlay.bytes_only = true;
    ck_assert_int_eq(u9i_dir_list(over, add_name, names), 0);
    ck_assert(strstr(names, "b ") && !strstr(names, "c "));
    ck_assert_int_eq(u9i_dir_stat(over, "b", &stamp), 0);
    ck_assert_int_eq(u9i_dir_stat(over, "c", &stamp), -ENOENT);
}
END_TEST

START_TEST(other_bytes_are_read_where_they_are_to_be_and_a_hole_that_has_them_is_none)
{
    u9i_file *file, *plain;
    uint8_t bytes[16], want[16] = {0};
    uint64_t size;
    size_t got;
    ck_assert_int_eq(u9i_file_open(over, "a", U9I_OPEN_READ, &file), 0);
    ck_assert_int_eq(u9i_file_size(file, &size), 0);
    ck_assert_uint_eq(size, SIZE);
    for (uint64_t from = PATCHED - 20; from < PATCHED + 12;
         from++) { /* over either end of them, and beside */
        for (unsigned i = 0; i < sizeof want; i++)
            want[i] = from + i >= PATCHED && from + i < PATCHED + sizeof patch
                          ? patch[from + i - PATCHED]
                          : 0;
        ck_assert_int_eq(u9i_file_read(file, from, bytes, sizeof bytes, &got), 0);
        ck_assert_uint_eq(got, sizeof bytes);
        ck_assert_mem_eq(bytes, want, sizeof bytes);
    }
    uint64_t hole = 32768; /* which goes on, in the base, to the file's end */
    ck_assert_int_eq(u9i_file_open(base, "a", U9I_OPEN_READ, &plain), 0);
    ck_assert_uint_eq(u9i_file_data(plain, hole), SIZE);
    ck_assert_uint_eq(u9i_file_data(file, hole), PATCHED);
    ck_assert_uint_eq(u9i_file_data(file, PATCHED + 3), PATCHED + 3);
    ck_assert_uint_eq(u9i_file_data(file, PATCHED + sizeof patch), SIZE);
    ck_assert_int_eq(u9i_file_sync_and_evict(file), 0); /* what a reader settles changes nothing */
    ck_assert_int_eq(u9i_dir_sync(over), 0);
    u9i_file_close(plain);
    u9i_file_close(file);
}
END_TEST

START_TEST(nothing_can_be_changed_by_it_nor_mapped)
{
    u9i_file *file;
    u9i_dir *dir;
    u9i_queue *queue;
    u9i_watch *watch;
    const void *map;
    u9i_stamp stamp = {.mode = 0600};
    uint8_t bytes[4];
    size_t got;
    ck_assert_int_eq(u9i_dir_open(&overlay.env, at("new"), true, &dir), -EROFS);
    ck_assert_int_eq(u9i_dir_lock(over), -EROFS);
    ck_assert_int_eq(u9i_dir_rename(over, "a", "d"), -EROFS);
    ck_assert_int_eq(u9i_dir_link(over, "a", over, "d"), -EROFS);
    ck_assert_int_eq(u9i_dir_dress(over, "a", &stamp), -EROFS);
    ck_assert_int_eq(u9i_dir_remove(over, "a"), -EROFS);
    ck_assert_int_eq(u9i_dir_post(over, "p", "word", 4), -EROFS);
    ck_assert_int_eq(u9i_file_open(over, "a", U9I_OPEN_WRITE, &file), -EROFS);
    ck_assert_int_eq(u9i_file_open(over, "d", U9I_OPEN_CREATE, &file), -EROFS);
    ck_assert_int_eq(u9i_queue_open(&overlay.env, NULL, 0, 0, &queue), -EROFS);
    ck_assert_int_eq(u9i_watch_open(over, NULL, true, &watch), -EROFS);
    ck_assert_int_eq(u9i_file_open(over, "a", U9I_OPEN_READ, &file), 0);
    ck_assert_int_eq(u9i_file_lock(file), -EROFS);
    ck_assert_int_eq(u9i_file_reserve(file, 2 * SIZE), -EROFS);
    ck_assert_int_eq(u9i_file_zero(file, 0, 10), -EROFS);
    ck_assert_int_eq(u9i_file_truncate(file, 10), -EROFS);
    ck_assert_int_eq(u9i_file_map(file, 0, 4096, &map), -ENODEV);
    u9i_file_close(file);
    ck_assert(exists(at("a")) && exists(at("b")) && !exists(at("new")) &&
              file_size(at("a")) == SIZE);
    ck_assert_int_eq(u9i_dir_post(base, "p", "word", 4),
                     0); /* what others say in the base is seen */
    ck_assert_int_eq(u9i_dir_posted(over, "p", bytes, sizeof bytes, &got), 0);
    ck_assert_uint_eq(got, 4);
    ck_assert_mem_eq(bytes, "word", 4);
}
END_TEST

Suite *suite_overlay(void)
{
    Suite *suite = suite_create("overlay");
    TCase *tc = tcase_create("overlay");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, other_names_are_shown_and_the_old_ones_are_gone);
    tcase_add_test(tc, names_are_as_they_are_where_bytes_alone_are_to_be_others);
    tcase_add_test(tc, other_bytes_are_read_where_they_are_to_be_and_a_hole_that_has_them_is_none);
    tcase_add_test(tc, nothing_can_be_changed_by_it_nor_mapped);
    suite_add_tcase(suite, tc);
    return suite;
}
