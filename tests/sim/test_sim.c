/*
 * tests/sim/test_sim.c: the simulated world: what a test can make it do, and that one seed is one run. (That it
 * answers as every env does is shown with the others, in tests/engine/os.)
 */
#include "tests/sim/sim.h"

#include "tests/engine/fixture.h"
#include "tests/suites.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 4096, SECOND = 1000000 };

/* Verbs */

static u9i_dir *open_dir(const char *path)
{
    u9i_dir *dir = NULL;
    ck_assert_int_eq(u9i_dir_open(sim_env(), path, true, &dir), 0);
    return dir;
}

static u9i_file *make(u9i_dir *dir, const char *name)
{
    u9i_file *file = NULL;
    ck_assert_int_eq(u9i_file_open(dir, name, U9I_OPEN_CREATE, &file), 0);
    return file;
}

static u9i_queue *open_queue(void)
{
    u9i_queue *queue = NULL;
    ck_assert_int_eq(u9i_queue_open(sim_env(), NULL, 0, 0, &queue), 0);
    return queue;
}

static int write_block(u9i_queue *queue, u9i_file *file, uint64_t block, uint8_t *bytes)
{
    u9i_op op = {.kind = U9I_OP_WRITE, .file = file, .off = block * BLOCK, .buf = bytes, .n = BLOCK,
                 .tag = block};
    return u9i_queue_submit(queue, &op, 1);
}

static uint8_t byte_at(const char *path, uint64_t off)
{
    uint8_t byte;
    ck_assert_uint_eq(sim_read(path, off, &byte, 1), 1);
    return byte;
}

/* The disk */

START_TEST(space_that_was_reserved_reads_as_zeros_and_ends_where_it_was_told)
{
    u9i_dir *dir = open_dir("d");
    u9i_file *file = make(dir, "a");
    uint8_t buf[100];
    size_t got;
    memset(buf, 1, sizeof buf);
    ck_assert_int_eq(u9i_file_reserve(file, 1 << 28), 0);
    ck_assert_int_eq(u9i_file_reserve(file, 100), 0); /* there already */
    ck_assert_uint_eq(sim_size("d/a"), 1 << 28);
    sim_write("d/a", (1 << 28) - 1, "x", 1);
    ck_assert_int_eq(u9i_file_read(file, (1 << 28) - 50, buf, sizeof buf, &got), 0);
    ck_assert_uint_eq(got, 50);
    for (unsigned i = 0; i < 49; i++) ck_assert_uint_eq(buf[i], 0);
    ck_assert_uint_eq(buf[49], 'x');
    ck_assert_int_eq(u9i_file_truncate(file, 10), 0);
    ck_assert_int_eq(u9i_file_truncate(file, 1 << 28), 0);
    ck_assert_uint_eq(byte_at("d/a", (1 << 28) - 1), 0); /* what was cut off does not come back */
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(copies_part_when_one_of_them_is_written)
{
    sim_make_dir("/a");
    sim_write("/a/f", 20000, "one", 3);
    sim_copy("/a", "/b");
    sim_write("/a/f", 20000, "two", 3);
    ck_assert_uint_eq(byte_at("/a/f", 20000), 't');
    ck_assert_uint_eq(byte_at("/b/f", 20000), 'o');
    sim_resize("/b/f", 20001);
    ck_assert_uint_eq(sim_size("/a/f"), 20003);
}
END_TEST

START_TEST(a_path_leads_to_what_it_names_today)
{
    u9i_dir *dir = NULL;
    sim_make_dir("/a/b");
    sim_write("/a/b/f", 0, "f", 1);
    sim_move("/a/b", "/c");
    ck_assert(!sim_holds("/a/b/f") && sim_holds("/c/f") && sim_holds("c//./f") && sim_holds("/a/../c/f"));
    ck_assert(sim_is_dir("/c") && !sim_is_dir("/c/f"));
    ck_assert_int_eq(u9i_dir_open(sim_env(), "/c/f/g", false, &dir), -ENOTDIR);
    ck_assert_int_eq(u9i_dir_open(sim_env(), "/c/g/h", false, &dir), -ENOENT);
    sim_remove("/c");
    ck_assert(!sim_holds("/c/f"));
    sim_remove("/c"); /* fine */
}
END_TEST

START_TEST(what_is_loaded_from_the_real_disk_is_stored_as_it_was)
{
    uint8_t real[16], simulated[16], stored[16];
    sim_end();
    session(at("log"), "real ", 10, 3);
    write_file(at("log/odd"), "not a segment", 13);
    picture(at("log"), real);
    sim_begin(1);
    sim_load(at("log"), "/log");
    sim_store("/log", at("stored"));
    picture("/log", simulated);
    sim_end();
    picture(at("stored"), stored);
    ck_assert_mem_eq(real, simulated, sizeof real);
    ck_assert_mem_eq(real, stored, sizeof real);
}
END_TEST

/* What is under way */

/* The order in which eight blocks, written at once, are told of. Each is there when it is told, not sooner. */
static void told_of_eight(sim_order order, uint64_t seed, char told[9])
{
    sim_begin(seed);
    sim_set_order(order);
    u9i_dir *dir = open_dir("/d");
    u9i_queue *queue = open_queue();
    u9i_file *file = make(dir, "f");
    uint8_t bytes[BLOCK];
    u9i_completion c[8];
    memset(bytes, 1, sizeof bytes);
    sim_resize("/d/f", 8 * BLOCK);
    for (uint64_t i = 0; i < 8; i++) ck_assert_int_eq(write_block(queue, file, i, bytes), 0);
    int n = u9i_queue_wait(queue, c, 8, 0);
    ck_assert_int_eq(n, order == SIM_PROMPT ? 8 : 0);
    for (unsigned i = 0; i < 8; i++) {
        if (order != SIM_PROMPT) {
            ck_assert_int_eq(u9i_queue_wait(queue, &c[i], 8 - i, U9I_FOREVER), 1);
            for (uint64_t k = 0, there = 0; k < 8; k++) {
                there += byte_at("/d/f", k * BLOCK);
                if (k == 7) ck_assert_uint_eq(there, i + 1);
            }
        }
        ck_assert_int_eq(c[i].result, BLOCK);
        told[i] = (char)('0' + c[i].tag);
    }
    told[8] = 0;
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}

START_TEST(completions_come_in_the_order_that_is_set)
{
    char told[9], again[9], other[9];
    told_of_eight(SIM_PROMPT, 1, told);
    ck_assert_str_eq(told, "01234567");
    told_of_eight(SIM_LATE, 1, told);
    ck_assert_str_eq(told, "01234567");
    told_of_eight(SIM_REVERSED, 1, told);
    ck_assert_str_eq(told, "76543210");
    told_of_eight(SIM_DRAWN, 1, told);
    told_of_eight(SIM_DRAWN, 1, again);
    told_of_eight(SIM_DRAWN, 2, other);
    ck_assert_str_eq(told, again);
    ck_assert_str_ne(told, other);
}
END_TEST

typedef struct waker {
    u9i_task task;
    u9i_queue *queue;
} waker;

static void wake(void *ctx)
{
    u9i_queue_wake(((waker *)ctx)->queue);
}

START_TEST(a_wait_lets_time_pass_until_somebody_wakes_it)
{
    u9i_env *env = sim_env();
    waker w = {.task = {.run = wake, .ctx = &w}, .queue = open_queue()};
    u9i_completion c;
    uint64_t start = u9i_monotonic_us(env);
    u9i_task_submit(env, &w.task, start + 5 * SECOND);
    ck_assert_int_eq(u9i_queue_wait(w.queue, &c, 1, start + 2 * SECOND), 0);
    ck_assert_uint_lt(u9i_monotonic_us(env), start + 3 * SECOND);
    ck_assert_int_eq(u9i_queue_wait(w.queue, &c, 1, U9I_FOREVER), 0);
    ck_assert_uint_ge(u9i_monotonic_us(env), start + 5 * SECOND);
    ck_assert_uint_lt(u9i_monotonic_us(env), start + 6 * SECOND);
    u9i_queue_close(w.queue);
}
END_TEST

/* Plans and trouble */

static int sync_times(u9i_dir *dir, unsigned n)
{
    int first = 0;
    for (unsigned i = 1; i <= n; i++)
        if (u9i_dir_sync(dir) != 0 && first == 0) first = (int)i;
    return first;
}

START_TEST(the_nth_call_fails_once_or_from_there_on)
{
    u9i_dir *dir = open_dir("/d");
    u9i_file *file;
    sim_fail(SIM_SYNC_DIR, 3, EIO, false);
    ck_assert_int_eq(sync_times(dir, 6), 3);
    ck_assert_int_eq(sync_times(dir, 6), 0);
    ck_assert_uint_eq(sim_fired(), 1);
    sim_mend();
    sim_fail(SIM_SYNC_DIR, 2, ENOSPC, true);
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    for (unsigned i = 0; i < 3; i++) ck_assert_int_eq(u9i_dir_sync(dir), -ENOSPC);
    sim_mend();
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    sim_fail(SIM_ANY, 2, EIO, false);
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    ck_assert_int_eq(u9i_file_open(dir, "a", U9I_OPEN_CREATE, &file), -EIO);
    ck_assert(!sim_holds("/d/a")); /* what fails is not done */
    ck_assert_uint_eq(sim_fired(), 5);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_write_fails_whole_or_by_half)
{
    u9i_dir *dir = open_dir("/d");
    u9i_queue *queue = open_queue();
    u9i_file *file = make(dir, "f");
    uint8_t bytes[BLOCK];
    u9i_completion c;
    memset(bytes, 7, sizeof bytes);
    for (unsigned half = 0; half < 2; half++) {
        if (half) sim_fail_half(1, EIO);
        else sim_fail(SIM_WRITE, 1, ENXIO, false);
        ck_assert_int_eq(write_block(queue, file, 0, bytes), 0);
        ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, U9I_FOREVER), 1);
        ck_assert_int_eq(c.result, half ? -EIO : -ENXIO);
        ck_assert_uint_eq(sim_size("/d/f"), half ? BLOCK / 2 : 0);
        sim_mend();
    }
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_queue_itself_fails)
{
    u9i_queue *queue = open_queue();
    u9i_completion c;
    u9i_op op = {.kind = U9I_OP_SYNC};
    sim_fail(SIM_SUBMIT, 1, ENOMEM, false);
    sim_fail(SIM_WAIT, 1, EBADF, false);
    ck_assert_int_eq(u9i_queue_submit(queue, &op, 1), -ENOMEM);
    ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, 0), -EBADF);
    ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, 0), 0);
    u9i_queue_close(queue);
}
END_TEST

START_TEST(randomness_is_drawn_from_the_seed_and_runs_out_by_plan)
{
    uint8_t a[40], b[40], c[40];
    sim_begin(5);
    ck_assert(u9i_random(sim_env(), a, sizeof a));
    sim_begin(5);
    ck_assert(u9i_random(sim_env(), b, sizeof b));
    sim_begin(6);
    ck_assert(u9i_random(sim_env(), c, sizeof c));
    ck_assert_mem_eq(a, b, sizeof a);
    ck_assert_mem_ne(a, c, sizeof a);
    sim_fail(SIM_RANDOM, 2, ENOSYS, false);
    ck_assert(u9i_random(sim_env(), c, sizeof c));
    ck_assert(!u9i_random(sim_env(), c, sizeof c));
    ck_assert(u9i_random(sim_env(), c, sizeof c));
}
END_TEST

/* A file of ones, and what a read of a part of it shows. */
static u9i_file *file_of_ones(u9i_dir **dir)
{
    u9i_file *file;
    uint8_t ones[4 * BLOCK];
    memset(ones, 1, sizeof ones);
    *dir = open_dir("/d");
    sim_write("/d/f", 0, ones, sizeof ones);
    ck_assert_int_eq(u9i_file_open(*dir, "f", U9I_OPEN_READ, &file), 0);
    return file;
}

static unsigned ones_in(u9i_file *file, uint64_t off, size_t n)
{
    uint8_t buf[4 * BLOCK];
    size_t got;
    unsigned ones = 0;
    int err = u9i_file_read(file, off, buf, n, &got);
    ck_assert_int_eq(err, 0);
    for (size_t i = 0; i < got; i++) ones += buf[i];
    return ones;
}

START_TEST(bytes_show_late)
{
    u9i_dir *dir;
    u9i_file *file = file_of_ones(&dir);
    sim_hide_for("/d/f", 100, 200, 2);
    ck_assert_uint_eq(ones_in(file, 200, 100), 100); /* none of them: not counted */
    ck_assert_uint_eq(ones_in(file, 50, 100), 50);
    ck_assert_uint_eq(sim_troubles(), 1);
    ck_assert_uint_eq(ones_in(file, 0, 1000), 900);
    ck_assert_uint_eq(sim_troubles(), 0);
    ck_assert_uint_eq(ones_in(file, 0, 1000), 1000);

    sim_hide("/d/f", 100, 200, SIM_READ_BEHIND);
    ck_assert_uint_eq(ones_in(file, 0, 200), 100);
    ck_assert_uint_eq(ones_in(file, 0, 201), 101); /* this one reaches behind them */
    ck_assert_uint_eq(ones_in(file, 0, 200), 200);

    sim_hide("/d/f", 100, 200, SIM_ASKED);
    ck_assert_uint_eq(ones_in(file, 0, 1000), 900);
    ck_assert(!u9i_dir_writer_active(dir, "a"));
    ck_assert_uint_eq(ones_in(file, 0, 1000), 1000);

    sim_hide("/d/f", 100, 200, SIM_READ_BEHIND);
    sim_delay(2);
    ck_assert_uint_eq(ones_in(file, 200, 1000), 1000); /* none of them */
    for (unsigned i = 0; i < 2; i++) ck_assert_uint_eq(ones_in(file, 0, 1000), 1000);
    ck_assert_uint_eq(ones_in(file, 0, 150), 100);
    ck_assert_uint_eq(ones_in(file, 300, 100), 100); /* behind them */
    ck_assert_uint_eq(ones_in(file, 0, 150), 150);

    sim_hide("/d/f", 100, 200, SIM_NEVER);
    for (unsigned i = 0; i < 3; i++) ck_assert_uint_eq(ones_in(file, 0, 1000), 900);
    sim_clear();
    ck_assert_uint_eq(ones_in(file, 0, 1000), 1000);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(bytes_cannot_be_read)
{
    u9i_dir *dir;
    u9i_file *file = file_of_ones(&dir);
    u9i_queue *queue = open_queue();
    u9i_completion c;
    uint8_t buf[BLOCK];
    size_t got = 77;
    sim_spoil("/d/f", BLOCK + 100, BLOCK + 101, EIO, 0);
    ck_assert_int_eq(u9i_file_read(file, BLOCK, buf, BLOCK, &got), -EIO);
    ck_assert_uint_eq(got, 77);
    ck_assert_uint_eq(ones_in(file, BLOCK + 101, 100), 100);
    u9i_op op = {.kind = U9I_OP_READ, .file = file, .off = BLOCK, .buf = buf, .n = BLOCK};
    ck_assert_int_eq(u9i_queue_submit(queue, &op, 1), 0);
    ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, U9I_FOREVER), 1);
    ck_assert_int_eq(c.result, -EIO);
    sim_clear();
    sim_spoil("/d/f", 0, BLOCK, EIO, 2);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(u9i_file_read(file, 0, buf, BLOCK, &got), -EIO);
    ck_assert_uint_eq(ones_in(file, 0, BLOCK), BLOCK);
    u9i_queue_close(queue);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_map_is_a_copy_that_has_a_hole_where_bytes_cannot_be_read)
{
    u9i_dir *dir;
    u9i_file *file = file_of_ones(&dir);
    const void *map;
    sim_spoil("/d/f", BLOCK, BLOCK + 1, EIO, 0);
    ck_assert_int_eq(u9i_file_map(file, 0, 3 * BLOCK, &map), 0);
    const volatile uint8_t *bytes = map;
    sim_write("/d/f", 0, "x", 1);
    ck_assert_uint_eq(bytes[0], 1);
    ck_assert_uint_eq(bytes[2 * BLOCK], 1);
    signal(SIGBUS, SIG_DFL); /* sanitizers catch it */
    (void)bytes[BLOCK];
    ck_abort();
}
END_TEST

START_TEST(somebody_else_has_the_lock)
{
    u9i_dir *dir = open_dir("/d");
    sim_take_lock("/d");
    ck_assert(u9i_dir_writer_active(dir, "a"));
    ck_assert_int_eq(u9i_dir_lock(dir), -EWOULDBLOCK);
    sim_drop_lock("/d");
    ck_assert(!u9i_dir_writer_active(dir, "a"));
    ck_assert_int_eq(u9i_dir_lock(dir), 0);
    ck_assert_uint_eq(sim_count(SIM_ASK), 2);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_killed_process_has_no_lock_but_where_its_writes_have_not_landed)
{
    u9i_dir *dir = open_dir("/d"), *other;
    u9i_queue *queue = open_queue();
    u9i_file *file = make(dir, "f"), *idle = make(dir, "g"), *again;
    uint8_t bytes[BLOCK], there[BLOCK];
    memset(bytes, 7, sizeof bytes);
    sim_set_order(SIM_LATE);
    ck_assert(u9i_dir_lock(dir) == 0 && u9i_file_lock(file) == 0 && u9i_file_lock(idle) == 0);
    ck_assert_int_eq(write_block(queue, file, 0, bytes), 0);
    sim_kill_at_write(1);
    ck_assert_int_eq(write_block(queue, file, 1, bytes), 0);
    ck_assert(sim_killed());
    ck_assert_int_eq(write_block(queue, file, 2, bytes), 0); /* of no effect, as all that comes: */
    ck_assert_int_eq(u9i_file_truncate(file, 100), 0);
    ck_assert_int_eq(u9i_dir_remove(dir, "g"), -ENOENT);
    u9i_queue_close(queue);
    u9i_file_close(idle);
    u9i_file_close(file);
    u9i_dir_close(dir);

    ck_assert_uint_eq(sim_size("/d/f"), 0);
    ck_assert_uint_eq(sim_late_writes(), 2);
    other = open_dir("/d");
    ck_assert(u9i_dir_writer_active(other, "f") && !u9i_dir_writer_active(other, "g"));
    ck_assert_int_eq(u9i_dir_lock(other), 0);
    ck_assert_int_eq(u9i_file_open(other, "f", U9I_OPEN_WRITE, &again), 0);
    ck_assert_int_eq(u9i_file_lock(again), -EWOULDBLOCK);
    sim_land(SECOND);
    sim_advance(SECOND);
    ck_assert_int_eq(u9i_file_lock(again), -EWOULDBLOCK);
    ck_assert_uint_eq(sim_late_writes(), 1);
    sim_advance(SECOND);
    ck_assert_int_eq(u9i_file_lock(again), 0);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(sim_read("/d/f", (uint64_t)i * BLOCK, there, BLOCK), BLOCK);
        ck_assert_mem_eq(there, bytes, BLOCK);
    }
    ck_assert_uint_eq(sim_size("/d/f"), 2 * BLOCK);
    u9i_file_close(again);
    u9i_dir_close(other);
}
END_TEST

static int pass(void *ctx, const char *name)
{
    (void)name;
    ++*(unsigned *)ctx;
    return 0;
}

static void add_a_file(unsigned nth)
{
    char path[40];
    snprintf(path, sizeof path, "/d/%u", nth);
    sim_resize(path, 0);
}

START_TEST(something_happens_before_each_listing)
{
    u9i_dir *dir = open_dir("/d");
    sim_before_list(add_a_file);
    for (unsigned i = 1; i <= 3; i++) {
        unsigned seen_names = 0;
        ck_assert_int_eq(u9i_dir_list(dir, pass, &seen_names), 0);
        ck_assert_uint_eq(seen_names, i);
    }
    u9i_dir_close(dir);
}
END_TEST

static void *sync_dir(void *dir)
{
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    return NULL;
}

START_TEST(a_call_is_held_until_it_is_let_go)
{
    pthread_t thread;
    sim_begin_threads(1);
    u9i_dir *dir = open_dir("/d");
    sim_hold(SIM_SYNC_DIR, 2);
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, sync_dir, dir), 0);
    sim_wait_held();
    ck_assert_uint_eq(sim_count(SIM_SYNC_DIR), 1);
    u9i_file_close(make(dir, "others go on"));
    sim_let_go();
    pthread_join(thread, NULL);
    ck_assert_uint_eq(sim_count(SIM_SYNC_DIR), 2);
    u9i_dir_close(dir);
}
END_TEST

static void *wake_later(void *queue)
{
    usleep(20000);
    u9i_queue_wake(queue);
    return NULL;
}

START_TEST(a_thread_is_woken_by_another)
{
    pthread_t thread;
    u9i_completion c;
    sim_begin_threads(1);
    u9i_queue *queue = open_queue();
    for (unsigned i = 0; i < 2; i++) {
        uint64_t far = u9i_monotonic_us(sim_env()) + 60 * (uint64_t)SECOND;
        ck_assert_int_eq(pthread_create(&thread, NULL, wake_later, queue), 0);
        ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, i ? far : U9I_FOREVER), 0);
        ck_assert_uint_lt(u9i_monotonic_us(sim_env()), far);
        pthread_join(thread, NULL);
    }
    u9i_queue_close(queue);
}
END_TEST

/* Time and tasks */

typedef struct step {
    u9i_task task;
    char name, *trace; /* each run adds the name */
    uint64_t every_us; /* not 0: it submits itself again */
    u9i_dir *dir;      /* not NULL: a run makes a call */
} step;

static void run_step(void *ctx)
{
    step *s = ctx;
    size_t n = strlen(s->trace);
    s->trace[n] = s->name;
    s->trace[n + 1] = 0;
    if (s->dir) ck_assert_int_eq(u9i_dir_sync(s->dir), 0);
    ck_assert_uint_eq(strlen(s->trace), n + 1); /* no other ran meanwhile */
    if (s->every_us) u9i_task_submit(sim_env(), &s->task, u9i_monotonic_us(sim_env()) + s->every_us);
}

static void submit(step *s, char name, char *trace, uint64_t in_us)
{
    *s = (step){.task = {.run = run_step, .ctx = s}, .name = name, .trace = trace,
                .every_us = s->every_us, .dir = s->dir};
    u9i_task_submit(sim_env(), &s->task, u9i_monotonic_us(sim_env()) + in_us);
}

START_TEST(time_stands_still_unless_it_is_told_to_pass)
{
    u9i_env *env = sim_env();
    uint64_t start = u9i_monotonic_us(env);
    u9i_dir_close(open_dir("/d"));
    ck_assert_uint_gt(u9i_monotonic_us(env), start);
    ck_assert_uint_lt(u9i_monotonic_us(env), start + 10);
    sim_advance(3 * SECOND);
    ck_assert_uint_ge(u9i_monotonic_us(env), start + 3 * SECOND);
    u9i_sleep_us(env, SECOND);
    ck_assert_uint_ge(u9i_monotonic_us(env), start + 4 * SECOND);
    ck_assert_uint_lt(u9i_monotonic_us(env), start + 4 * SECOND + 20);
    sim_set_wall(1000);
    ck_assert_uint_ge(u9i_wall_us(env), 1000);
    ck_assert_uint_lt(u9i_wall_us(env), 1010);
    sim_advance(SECOND);
    ck_assert_uint_ge(u9i_wall_us(env), 1000 + SECOND);
}
END_TEST

START_TEST(tasks_run_at_their_time)
{
    char trace[100] = "";
    step a = {0}, b = {0}, tick = {.every_us = SECOND};
    submit(&a, 'a', trace, 3 * SECOND);
    submit(&b, 'b', trace, SECOND / 2);
    submit(&tick, '.', trace, SECOND);
    ck_assert_uint_eq(sim_tasks(), 3);
    u9i_dir_close(open_dir("/d"));
    ck_assert_str_eq(trace, "");
    sim_advance(SECOND / 2 + 10);
    ck_assert_str_eq(trace, "b");
    sim_advance(5 * SECOND);
    ck_assert_str_eq(trace, "b..a...");
    u9i_task_cancel(sim_env(), &tick.task);
    ck_assert_uint_eq(sim_tasks(), 0);
}
END_TEST

/* The order in which nine tasks run that are due at once. */
static void order_of_nine(uint64_t seed, char *trace)
{
    step s[9] = {0};
    sim_begin(seed);
    trace[0] = 0;
    for (unsigned i = 0; i < 9; i++) submit(&s[i], (char)('a' + i), trace, 0);
    sim_advance(10);
}

START_TEST(tasks_that_are_due_run_in_an_order_drawn_from_the_seed)
{
    char one[20], again[20], other[20];
    order_of_nine(1, one);
    order_of_nine(1, again);
    order_of_nine(2, other);
    ck_assert_uint_eq(strlen(one), 9);
    ck_assert_str_eq(one, again);
    ck_assert_str_ne(one, other);
}
END_TEST

START_TEST(a_task_that_is_due_runs_when_a_call_begins_but_not_within_another)
{
    char trace[20] = "";
    u9i_dir *dir = open_dir("/d");
    step a = {.dir = dir}, b = {.dir = dir};
    submit(&a, 'a', trace, 0);
    submit(&b, 'b', trace, 0);
    sim_task_chance(0);
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    ck_assert_str_eq(trace, "");
    sim_task_chance(100);
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    ck_assert_uint_eq(strlen(trace), 1);
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    ck_assert_uint_eq(strlen(trace), 2);
    u9i_dir_close(dir);
}
END_TEST

/* The diary */

START_TEST(the_diary_tells_what_was_done_and_how_often)
{
    u9i_dir *dir = open_dir("/d");
    u9i_queue *queue = open_queue();
    u9i_file *file = make(dir, "0000000000000007.u9");
    uint8_t bytes[BLOCK] = {0};
    u9i_completion c;
    size_t got;
    sim_fail(SIM_READ, 2, EIO, false);
    ck_assert_int_eq(write_block(queue, file, 3, bytes), 0);
    const sim_op *write = sim_find(SIM_WRITE, 7, 3 * BLOCK + 5);
    ck_assert_ptr_nonnull(write);
    ck_assert_uint_eq(write->ended, 0); /* not told yet */
    ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, U9I_FOREVER), 1);
    ck_assert_uint_gt(write->ended, write->began);
    ck_assert_int_eq(u9i_file_read(file, 0, bytes, 100, &got), 0);
    ck_assert_int_eq(u9i_file_read(file, 0, bytes, 100, &got), -EIO);
    ck_assert_uint_eq(sim_count(SIM_READ), 2);
    ck_assert_uint_eq(sim_count_of(SIM_READ, "/d/0000000000000007.u9"), 2);
    ck_assert_uint_eq(sim_count_of(SIM_READ, "/d"), 0);
    ck_assert_uint_eq(sim_count_of(SIM_OPEN_DIR, "/d"), 1);
    ck_assert_uint_eq(sim_bytes(SIM_READ), 100);
    ck_assert_uint_eq(sim_bytes(SIM_WRITE), BLOCK);
    char *text = sim_diary();
    ck_assert_ptr_nonnull(strstr(text, "write /d/0000000000000007.u9 [12288,16384) 4096 0\n"));
    ck_assert_ptr_nonnull(strstr(text, "read /d/0000000000000007.u9 [0,100) 0 -5\n"));
    free(text);
    sim_forget_diary();
    ck_assert_uint_eq(sim_count(SIM_ANY), 0);
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

static uint64_t last_tick(void)
{
    size_t n;
    const sim_op *ops = sim_ops(&n);
    return ops[n - 1].ended;
}

START_TEST(what_is_durable_is_told_by_the_diary) /* [W-2] [W-4] */
{
    u9i_dir *dir = open_dir("/d");
    u9i_queue *queue = open_queue();
    u9i_file *file = make(dir, "0000000000000001.u9");
    uint8_t bytes[BLOCK] = {0};
    u9i_completion c[3];
    u9i_op sync = {.kind = U9I_OP_SYNC, .file = file};
    ck_assert_int_eq(write_block(queue, file, 0, bytes), 0);
    ck_assert_int_eq(write_block(queue, file, 2, bytes), 0);
    ck_assert_int_eq(u9i_queue_wait(queue, c, 3, U9I_FOREVER), 2);
    ck_assert_int_eq(u9i_queue_submit(queue, &sync, 1), 0);
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    ck_assert_uint_eq(sim_durable(1, last_tick()), 0); /* the sync is not told yet */
    ck_assert_int_eq(u9i_queue_wait(queue, c, 3, U9I_FOREVER), 1);
    ck_assert_uint_eq(sim_durable(1, last_tick()), 0);
    ck_assert_uint_eq(sim_durable(1, UINT64_MAX), BLOCK); /* up to the hole */
    ck_assert_int_eq(write_block(queue, file, 1, bytes), 0);
    ck_assert_int_eq(u9i_queue_submit(queue, &sync, 1), 0); /* does not cover it: it was not told */
    ck_assert_int_eq(u9i_queue_wait(queue, c, 3, U9I_FOREVER), 2);
    ck_assert_uint_eq(sim_durable(1, UINT64_MAX), BLOCK);
    ck_assert_int_eq(u9i_queue_submit(queue, &sync, 1), 0);
    ck_assert_int_eq(u9i_queue_wait(queue, c, 3, U9I_FOREVER), 1);
    ck_assert_uint_eq(sim_durable(1, UINT64_MAX), 3 * BLOCK);
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_power_cut_leaves_what_was_synced)
{
    u9i_dir *dir = open_dir("/d");
    u9i_queue *queue = open_queue();
    u9i_file *file = make(dir, "old"), *made = NULL;
    uint8_t bytes[BLOCK] = {1};
    u9i_completion c[2];
    u9i_op sync = {.kind = U9I_OP_SYNC, .file = file};
    ck_assert_int_eq(write_block(queue, file, 0, bytes), 0);
    ck_assert_int_eq(u9i_queue_wait(queue, c, 1, U9I_FOREVER), 1); /* what was not taken the sync does not cover */
    ck_assert_int_eq(u9i_queue_submit(queue, &sync, 1), 0);
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    ck_assert_int_eq(u9i_queue_wait(queue, c, 1, U9I_FOREVER), 1);
    bytes[0] = 2;
    ck_assert_int_eq(write_block(queue, file, 0, bytes), 0);
    ck_assert_int_eq(write_block(queue, file, 1, bytes), 0);
    ck_assert_int_eq(u9i_queue_wait(queue, c, 2, U9I_FOREVER), 2);
    made = make(dir, "new");
    ck_assert_int_eq(u9i_file_sync_and_evict(made), 0); /* but not its name */
    sim_write("/d/given", 0, bytes, BLOCK);
    sim_copy("/d", "/e");
    ck_assert_int_eq(byte_at("/d/old", 0), 2);
    for (unsigned i = 0; i < 2; i++) { /* the copy suffers the same */
        sim_cut_power(i ? "/e" : "/d");
        ck_assert_int_eq(byte_at(i ? "/e/old" : "/d/old", 0), 1);
        ck_assert_uint_eq(sim_size(i ? "/e/old" : "/d/old"), BLOCK);
        ck_assert(!sim_holds(i ? "/e/new" : "/d/new"));
        ck_assert_uint_eq(sim_size(i ? "/e/given" : "/d/given"), BLOCK);
    }
    u9i_file_close(made);
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

/* Eight blocks and a sync are under way in an order of their own. Fills `told`, and what a cut leaves of them. */
static void cut_in_the_wild(uint64_t seed, char told[16], char left[16])
{
    u9i_completion c[9];
    uint8_t bytes[BLOCK];
    unsigned n = 0, synced = 0;
    sim_begin(seed);
    sim_set_order(SIM_WILD);
    u9i_dir *dir = open_dir("/d");
    u9i_queue *queue = open_queue();
    u9i_file *file = make(dir, "f");
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    memset(bytes, 1, sizeof bytes);
    for (uint64_t i = 0; i < 8; i++) ck_assert_int_eq(write_block(queue, file, i, bytes), 0);
    for (uint64_t began = sim_env()->clock->monotonic_us(sim_env()), polls = 0; n < 4; polls++) {
        ck_assert_uint_lt(polls, 100000);
        int got = u9i_queue_wait(queue, c, 2, began + polls * 50);
        for (int i = 0; i < got; i++) told[n++] = (char)('0' + c[i].tag);
    }
    u9i_op sync = {.kind = U9I_OP_SYNC, .file = file, .tag = 8};
    ck_assert_int_eq(u9i_queue_submit(queue, &sync, 1), 0);
    for (unsigned before = n; synced == 0;) {
        ck_assert_int_ge(u9i_queue_wait(queue, c, 1, U9I_FOREVER), 1);
        if (c[0].tag == 8) synced = before;
        else told[n++] = (char)('0' + c[0].tag);
    }
    told[n] = 0;
    sim_lose_power();
    for (uint64_t i = 0; i < 8; i++) {
        unsigned sectors = 0;
        for (uint64_t at = i * BLOCK; at < (i + 1) * BLOCK && at < sim_size("/d/f"); at += 512)
            sectors += byte_at("/d/f", at) != 0;
        left[i] = sectors == 0 ? '-' : sectors == 8 ? '#' : '+';
    }
    left[8] = 0;
    for (unsigned i = 0; i < synced; i++) ck_assert_int_eq(left[told[i] - '0'], '#');
    u9i_queue_close(queue);
    u9i_file_close(file);
    u9i_dir_close(dir);
}

START_TEST(in_the_wild_everything_is_told_in_any_order_and_a_cut_leaves_any_part)
{
    bool late = false, none = false, all = false, part = false, holes = false;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        char told[16], left[16], again[16], same[16];
        cut_in_the_wild(seed, told, left);
        cut_in_the_wild(seed, again, same);
        ck_assert_str_eq(told, again);
        ck_assert_str_eq(left, same);
        late |= strncmp(told, "0123", 4) != 0;
        all |= strcmp(left, "########") == 0;
        none |= strchr(left, '-') != NULL;
        part |= strchr(left, '+') != NULL;
        holes |= strstr(left, "-#") != NULL;
    }
    ck_assert(late && none && all && part && holes);
}
END_TEST

/* What names there are after a cut, with their first bytes: "a1 b2". */
static const char *names_left(void)
{
    static char text[100];
    size_t count;
    char **names = sim_names("/d", &count);
    text[0] = 0;
    for (size_t i = 0; i < count; i++) {
        char path[40];
        size_t n = strlen(text);
        snprintf(path, sizeof path, "/d/%s", names[i]);
        snprintf(text + n, sizeof text - n, "%s%s%u", n ? " " : "", names[i], byte_at(path, 0));
        free(names[i]);
    }
    free(names);
    return text;
}

START_TEST(a_cut_leaves_any_of_the_names_but_a_rename_is_done_or_not)
{
    static const char *const may[] = {"a1",    "a1 c3",    "a1 b2",    "a1 b2 c3", "a2", "a2 c3",
                                      "b2",    "b2 c3",    "c3",       ""};
    unsigned times[sizeof may / sizeof *may] = {0}, i;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        sim_begin(seed);
        sim_make_dir("/d");
        sim_write("/d/a", 0, "\1", 1);
        u9i_dir *dir = open_dir("/d");
        u9i_file *b = make(dir, "b"), *c = make(dir, "c");
        u9i_queue *queue = open_queue();
        u9i_completion done;
        for (unsigned k = 0; k < 2; k++) {
            uint8_t bytes[BLOCK] = {(uint8_t)(2 + k)};
            ck_assert_int_eq(write_block(queue, k ? c : b, 0, bytes), 0);
            ck_assert_int_eq(u9i_queue_wait(queue, &done, 1, U9I_FOREVER), 1);
            ck_assert_int_eq(u9i_file_sync_and_evict(k ? c : b), 0);
        }
        ck_assert_int_eq(u9i_dir_rename(dir, "b", "a"), 0);
        ck_assert_uint_eq(sim_links("/d/a"), 1);
        sim_lose_power();
        for (i = 0; i < sizeof may / sizeof *may && strcmp(may[i], names_left()) != 0;) i++;
        ck_assert_msg(i < 6, "'%s'", names_left()); /* the old one or the new one is there */
        times[i]++;
        u9i_file_close(c);
        u9i_file_close(b);
        u9i_queue_close(queue);
        u9i_dir_close(dir);
    }
    for (i = 0; i < 6; i++) ck_assert_msg(times[i] > 0, "never '%s'", may[i]);
}
END_TEST

START_TEST(sizes_that_were_not_synced_are_there_or_not)
{
    unsigned times[3] = {0};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        sim_begin(seed);
        u9i_dir *dir = open_dir("/d");
        u9i_file *file = make(dir, "f");
        ck_assert_int_eq(u9i_dir_sync(dir), 0);
        ck_assert_int_eq(u9i_file_reserve(file, 8 * BLOCK), 0);
        ck_assert_int_eq(u9i_file_truncate(file, BLOCK), 0);
        sim_lose_power();
        uint64_t size = sim_size("/d/f");
        ck_assert(size == 0 || size == BLOCK || size == 8 * BLOCK);
        times[size == 0 ? 0 : size == BLOCK ? 1 : 2]++;
        u9i_file_close(file);
        u9i_dir_close(dir);
    }
    ck_assert(times[0] > 0 && times[1] > 0 && times[2] > 0);
}
END_TEST

START_TEST(the_power_goes_behind_the_nth_call_and_takes_what_was_open_along)
{
    u9i_dir *dir = open_dir("/d"), *other;
    u9i_file *file = make(dir, "f"), *none;
    ck_assert_int_eq(u9i_file_sync_and_evict(file), 0);
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    ck_assert(u9i_dir_lock(dir) == 0 && u9i_file_lock(file) == 0);
    sim_lose_power_at(2);
    ck_assert_int_eq(u9i_file_reserve(file, BLOCK), 0);
    ck_assert_uint_eq(sim_deaths(), 0);
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    ck_assert_uint_eq(sim_deaths(), 1);
    ck_assert(sim_killed());
    ck_assert_int_eq(u9i_file_open(dir, "f", U9I_OPEN_READ, &none), -ENOENT); /* what comes is of no effect */
    other = open_dir("/d");
    ck_assert(!u9i_dir_writer_active(other, "f"));
    ck_assert_int_eq(u9i_dir_lock(other), 0);
    ck_assert_uint_eq(sim_late_writes(), 0);
    u9i_file_close(file);
    u9i_dir_close(dir);
    u9i_dir_close(other);
}
END_TEST

/* The whole engine above it */

/* What a run left. */
typedef struct outcome {
    char *diary;
    uint8_t log[16], saved[16], boundary[16];
    u9_report before, after;
    size_t read;
} outcome;

static void check_log(const char *log, u9_report *report)
{
    u9_check_options o = {.size = sizeof o, .io = "sim"};
    *report = (u9_report){.size = sizeof *report};
    ck_assert_int_eq(u9_check(log, &o, report, NULL), U9_OK);
}

static u9_log *begin_session(const char *log, unsigned n)
{
    u9_options o = small_options();
    o.io = "sim";
    o.lz4 = n % 2;
    o.policy = (u9_policy)(n % 3);
    return open_writer(log, &o);
}

/* Some sessions that roll, idle, crash and close. */
static void write_sessions(const char *log)
{
    for (unsigned n = 0; n < 5; n++) {
        u9_log *w = begin_session(log, n);
        for (unsigned i = 0; i < 40; i++) {
            char text[5000];
            snprintf(text, sizeof text, "%u-%u-%0*u", n, i, (int)(i % 7 == 0 ? 4900 : 10 * i), i);
            uint64_t ordinal = append_text(w, text);
            if (i % 3 == 0) ck_assert_int_ge(u9_log_commit(w, ordinal), U9_OK);
            if (i % 10 == n) sim_advance(SECOND + SECOND / 5);
        }
        if (n == 2) crash(w, log);
        else close_log(w);
    }
}

/* A cursor over all of it, and a lookup of the last record by its key. */
static size_t read_all(const char *log)
{
    u9_log *reader = open_reader(log);
    u9_cursor *c;
    u9_record r, found;
    uint8_t key[16], buf[8192];
    size_t count = 0;
    u9_err err;
    ck_assert_int_eq(u9_cursor_open(reader, NULL, &c, NULL), U9_OK);
    while ((err = u9_cursor_next(c, &r)) == U9_OK || err == U9_CORRUPT) {
        if (err == U9_CORRUPT) continue;
        ck_assert_uint_eq(r.key.size, sizeof key);
        memcpy(key, r.key.data, sizeof key);
        count++;
    }
    ck_assert_int_eq(err, U9_END);
    u9_cursor_close(c);
    u9_key wanted = {key, sizeof key};
    ck_assert_int_eq(u9_log_get(reader, &wanted, buf, sizeof buf, &found, NULL), U9_OK);
    close_log(reader);
    return count;
}

static unsigned threads_here(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static outcome run_of(uint64_t seed)
{
    outcome o = {0};
    u9_check_options check = {.size = sizeof check, .io = "sim"};
    u9_report report = {.size = sizeof report};
    uint64_t saved;
    sim_begin(seed);
    sim_set_order(SIM_DRAWN);
    sim_make_dir("/w");
    write_sessions("/w/log");
    check_log("/w/log", &o.before);
    uint64_t frames[8];
    ck_assert_uint_eq(frame_offsets(segment_path("/w/log", 1), frames, 8), 8);
    flip_bit(segment_path("/w/log", 1), frames[5] + 70, 3);
    o.read = read_all("/w/log");
    ck_assert_int_eq(u9_salvage("/w/log", "/w/saved", &check, &report, &saved, NULL), U9_OK);
    ck_assert_uint_eq(saved, o.read + report.beyond);
    check_log("/w/saved", &o.after);
    picture("/w/log", o.log);
    picture("/w/saved", o.saved);
    memcpy(o.boundary, keys_of(segment_path("/w/log", 1)).boundary, 16);
    o.diary = sim_diary();
    return o;
}

/* Two diaries, up to the first line in which they differ. */
static void expect_same_diary(const char *a, const char *b)
{
    const char *line = a;
    for (size_t i = 0; a[i] == b[i]; i++) {
        if (a[i] == 0) return;
        if (a[i] == '\n') line = a + i + 1;
    }
    ck_abort_msg("the diaries part at: %.*s", (int)strcspn(line, "\n"), line);
}

START_TEST(one_seed_is_one_run_of_writer_reader_check_and_salvage)
{
    unsigned threads = threads_here();
    outcome a = run_of(77), b = run_of(77), c = run_of(78);
    ck_assert_uint_eq(threads_here(), threads); /* none was begun */
    ck_assert_int_eq(a.before.verdict, U9_V_CLEAN);
    ck_assert_uint_gt(a.before.segments, 3);
    ck_assert_int_eq(a.after.verdict, U9_V_CLEAN);
    ck_assert_uint_lt(a.read, a.before.records);
    ck_assert_uint_eq(a.after.records, a.read);
    ck_assert_uint_gt(a.before.records, 150);
    expect_same_diary(a.diary, b.diary);
    ck_assert_mem_eq(a.log, b.log, 16);
    ck_assert_mem_eq(a.saved, b.saved, 16);
    ck_assert_mem_eq(a.boundary, b.boundary, 16);
    /* Another seed: other secrets, and the same records. */
    ck_assert_mem_ne(a.boundary, c.boundary, 16);
    ck_assert_mem_ne(a.log, c.log, 16);
    ck_assert_uint_eq(a.before.records, c.before.records);
    free(a.diary);
    free(b.diary);
    free(c.diary);
}
END_TEST

static void add(Suite *suite, const char *name, const TTest *const *tests, size_t count)
{
    TCase *tc = tcase_create(name);
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    for (size_t i = 0; i < count; i++) tcase_add_test(tc, tests[i]);
    suite_add_tcase(suite, tc);
}

Suite *suite_sim(void)
{
    const TTest *const disk[] = {space_that_was_reserved_reads_as_zeros_and_ends_where_it_was_told,
                                 copies_part_when_one_of_them_is_written,
                                 a_path_leads_to_what_it_names_today,
                                 what_is_loaded_from_the_real_disk_is_stored_as_it_was};
    const TTest *const calls[] = {completions_come_in_the_order_that_is_set,
                                  a_wait_lets_time_pass_until_somebody_wakes_it,
                                  the_nth_call_fails_once_or_from_there_on,
                                  a_write_fails_whole_or_by_half,
                                  a_queue_itself_fails,
                                  randomness_is_drawn_from_the_seed_and_runs_out_by_plan,
                                  bytes_show_late,
                                  bytes_cannot_be_read,
                                  somebody_else_has_the_lock,
                                  a_killed_process_has_no_lock_but_where_its_writes_have_not_landed,
                                  something_happens_before_each_listing,
                                  a_call_is_held_until_it_is_let_go,
                                  a_thread_is_woken_by_another,
                                  the_diary_tells_what_was_done_and_how_often,
                                  what_is_durable_is_told_by_the_diary,
                                  a_power_cut_leaves_what_was_synced,
                                  in_the_wild_everything_is_told_in_any_order_and_a_cut_leaves_any_part,
                                  a_cut_leaves_any_of_the_names_but_a_rename_is_done_or_not,
                                  sizes_that_were_not_synced_are_there_or_not,
                                  the_power_goes_behind_the_nth_call_and_takes_what_was_open_along};
    const TTest *const time[] = {time_stands_still_unless_it_is_told_to_pass, tasks_run_at_their_time,
                                 tasks_that_are_due_run_in_an_order_drawn_from_the_seed,
                                 a_task_that_is_due_runs_when_a_call_begins_but_not_within_another};
    const TTest *const runs[] = {one_seed_is_one_run_of_writer_reader_check_and_salvage};
    Suite *suite = suite_create("sim");
    add(suite, "disk", disk, sizeof disk / sizeof disk[0]);
    add(suite, "calls", calls, sizeof calls / sizeof calls[0]);
    add(suite, "time", time, sizeof time / sizeof time[0]);
    add(suite, "runs", runs, sizeof runs / sizeof runs[0]);
    TCase *maps = tcase_create("maps");
    tcase_add_checked_fixture(maps, fixture_setup_sim, fixture_teardown);
    tcase_add_test_raise_signal(maps, a_map_is_a_copy_that_has_a_hole_where_bytes_cannot_be_read, SIGBUS);
    suite_add_tcase(suite, maps);
    return suite;
}
