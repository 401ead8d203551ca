/*
 * tests/engine/os/test_queue.c: batches of reads, writes and syncs, and who is woken when: the same on all envs.
 */
#include "tests/engine/fixture.h"
#include "tests/engine/os/envs.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* {F13} */
START_TEST(no_more_than_its_depth_is_taken_and_the_rest_not_done)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make_file(dir, "a");
    u9i_op more[2] = {{.kind = U9I_OP_WRITE, .file = file, .off = U9I_QUEUE_DEPTH * BLOCK, .buf = buffers,
                       .n = BLOCK},
                      {.kind = U9I_OP_SYNC, .file = file}};
    uint64_t size;
    memset(buffers, 1, BLOCK);
    for (unsigned i = 0; i < U9I_QUEUE_DEPTH; i++)
        write_at(queue, file, (uint64_t)i * BLOCK, buffers, BLOCK, i);
    ck_assert_int_eq(u9i_queue_submit(queue, more, 1), -EBUSY);
    ck_assert_int_eq(u9i_queue_submit(queue, more + 1, 1), -EBUSY);
    take_all(queue, U9I_QUEUE_DEPTH, BLOCK);
    ck_assert_int_eq(u9i_file_size(file, &size), 0);
    ck_assert_uint_eq(size, U9I_QUEUE_DEPTH * BLOCK);
    sync_file(queue, file);
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_batch_is_begun_whole_or_not_at_all)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make_file(dir, "a");
    u9i_op ops[U9I_QUEUE_DEPTH + 1];
    uint64_t size;
    fill_buffers();
    for (unsigned i = 0; i <= U9I_QUEUE_DEPTH; i++)
        ops[i] = (u9i_op){.kind = U9I_OP_WRITE, .file = file, .off = (uint64_t)i * BLOCK,
                          .buf = buffers + (size_t)i * BLOCK, .n = BLOCK, .tag = i};
    ck_assert_int_eq(u9i_queue_submit(queue, ops, U9I_QUEUE_DEPTH + 1), -EBUSY);
    ck_assert_int_eq(u9i_queue_submit(queue, ops, 1), 0);
    ck_assert_int_eq(u9i_queue_submit(queue, ops + 1, U9I_QUEUE_DEPTH), -EBUSY);
    take_all(queue, 1, BLOCK);
    ck_assert_int_eq(u9i_file_size(file, &size), 0);
    ck_assert_uint_eq(size, BLOCK);
    ck_assert_int_eq(u9i_queue_submit(queue, ops, U9I_QUEUE_DEPTH), 0);
    take_all(queue, U9I_QUEUE_DEPTH, BLOCK);
    expect_file(dir, "a", buffers, U9I_QUEUE_DEPTH * BLOCK);
    ck_assert_int_eq(u9i_queue_submit(queue, ops, 0), 0);
    take_all(queue, 0, 0);
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_queue_reads_into_its_buffers_and_any_others_up_to_the_end_of_the_file)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    enum { SIZE = BUFFER + 100 };
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_file *file;
    fill_buffers();
    uint8_t *before = malloc(SIZE), *into = malloc(SIZE);
    memcpy(before, buffers, SIZE);
    put_file(dir, "a", before, SIZE);
    memset(buffers, 0, (size_t)BUFFERS * BUFFER);
    ck_assert_int_eq(u9i_file_open(dir, "a", U9I_OPEN_READ, &file), 0);
    u9i_queue *queue = open_queue(env);
    const u9i_op ops[] = {
        {.kind = U9I_OP_READ, .file = file, .off = 0, .buf = buffers, .n = BUFFER, .tag = 0},
        {.kind = U9I_OP_READ, .file = file, .off = 7, .buf = buffers + 2 * BUFFER + 1, .n = 1000, .tag = 1},
        {.kind = U9I_OP_READ, .file = file, .off = BUFFER, .buf = buffers + BUFFER, .n = BLOCK, .tag = 2},
        {.kind = U9I_OP_READ, .file = file, .off = SIZE, .buf = buffers + 3 * BUFFER, .n = BLOCK, .tag = 3},
        {.kind = U9I_OP_READ, .file = file, .off = 0, .buf = into, .n = SIZE, .tag = 4}};
    const int64_t results[] = {BUFFER, 1000, 100, 0, SIZE};
    ck_assert_int_eq(u9i_queue_submit(queue, ops, 5), 0);
    for (unsigned i = 0; i < 5; i++) {
        u9i_completion c;
        ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, U9I_FOREVER), 1);
        ck_assert_uint_lt(c.tag, 5);
        ck_assert_int_eq(c.result, results[c.tag]);
        ck_assert_int_eq(memcmp(ops[c.tag].buf, before + ops[c.tag].off, (size_t)c.result), 0);
    }
    u9i_queue_close(queue);
    u9i_file_close(file);
    u9i_dir_close(dir);
    free(before);
    free(into);
}
END_TEST

START_TEST(a_buffer_that_was_not_told_of_can_be_written_from)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = NULL;
    u9i_file *file = make_file(dir, "a");
    ck_assert_int_eq(u9i_queue_open(env, buffers, BUFFER, 2, &queue), 0);
    memset(buffers, 3, (size_t)BUFFERS * BUFFER);
    write_at(queue, file, 0, buffers + 3 * BUFFER, BLOCK, 0);                  /* behind what was told */
    write_at(queue, file, BLOCK, buffers + 3 * BUFFER + 8, BLOCK, 1);          /* and askew */
    write_at(queue, file, 2 * BLOCK, buffers + 2 * BUFFER - BLOCK / 2, BLOCK, 2); /* across its end */
    write_at(queue, file, 3 * BLOCK, buffers + BUFFER - BLOCK / 2, BLOCK, 3);  /* across two of them */
    take_all(queue, 4, BLOCK);
    expect_in_file(file, 0, buffers, 4 * BLOCK);
    u9i_queue_close(queue);
    ck_assert_int_eq(u9i_queue_open(env, NULL, 0, 0, &queue), 0); /* told of none */
    write_at(queue, file, 4 * BLOCK, buffers, BLOCK, 0);
    take_all(queue, 1, BLOCK);
    expect_in_file(file, 0, buffers, 5 * BLOCK);
    u9i_queue_close(queue);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_queue_that_is_closed_leaves_nothing_under_way)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make_file(dir, "a");
    fill_buffers();
    for (unsigned i = 0; i < BUFFERS; i++)
        write_at(queue, file, (uint64_t)i * BUFFER, buffers + (size_t)i * BUFFER, BUFFER, i);
    u9i_queue_close(queue);
    expect_in_file(file, 0, buffers, (size_t)BUFFERS * BUFFER);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_wait_ends_at_its_deadline)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_queue *queue = open_queue(env);
    u9i_completion c;
    uint64_t start = u9i_monotonic_us(env);
    ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, 0), 0);
    ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, 1), 0); /* long gone */
    ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, start), 0);
    ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, start + 30 * MS), 0);
    ck_assert_uint_ge(u9i_monotonic_us(env), start + 30 * MS);
    u9i_queue_close(queue);
}
END_TEST

START_TEST(a_completion_comes_before_a_far_deadline)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make_file(dir, "a");
    u9i_completion c;
    fill_buffers();
    for (unsigned i = 0; i < 20; i++) {
        uint64_t start = u9i_monotonic_us(env);
        write_at(queue, file, 0, buffers, BUFFER, i);
        ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, start + 50000 * MS), 1);
        ck_assert_int_eq(c.result, BUFFER);
        ck_assert_uint_eq(c.tag, i);
    }
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_wake_ends_the_next_wait_that_waits)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_queue *queue = open_queue(env);
    u9i_completion c;
    for (unsigned i = 0; i < 3; i++) {
        u9i_queue_wake(queue);
        if (i == 1) u9i_queue_wake(queue); /* two are one */
        ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, 0), 0); /* does not wait */
        ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, U9I_FOREVER), 0);
        uint64_t start = u9i_monotonic_us(env);
        ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, start + 10 * MS), 0);
        ck_assert_uint_ge(u9i_monotonic_us(env), start + 10 * MS);
    }
    u9i_queue_close(queue);
}
END_TEST

START_TEST(a_wake_takes_nothing_from_what_is_complete)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make_file(dir, "a");
    u9i_completion c;
    unsigned taken = 0;
    fill_buffers();
    for (unsigned i = 0; i < BUFFERS; i++) write_at(queue, file, 0, buffers, BUFFER, i);
    u9i_queue_wake(queue);
    for (unsigned calls = 0; taken < BUFFERS; calls++) {
        ck_assert_uint_le(calls, BUFFERS + 1); /* one of them was ended by the wake, or none yet */
        int n = u9i_queue_wait(queue, &c, 1, U9I_FOREVER);
        if (n == 1) taken++;
        else ck_assert_int_eq(n, 0);
    }
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(an_operation_is_over_when_it_is_done_whoever_wakes_its_wait)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make_file(dir, "a");
    u9i_op op = {.kind = U9I_OP_WRITE, .file = file, .buf = buffers, .n = BLOCK};
    fill_buffers();
    u9i_queue_wake(queue);
    ck_assert_int_eq(u9i_queue_do(queue, &op), BLOCK);
    expect_in_file(file, 0, buffers, BLOCK);
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

/* {F14} The worst that can be: the wait fails once, and what is written from is gone as soon as that is told. */
START_TEST(an_operation_is_over_also_where_the_wait_for_it_failed)
{
    u9i_env *env = env_row(ENV_HOST_ROWS + _i);
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make_file(dir, "a");
    fill_buffers();
    sim_set_order(_i == 0 ? SIM_LATE : SIM_WILD);
    sim_fail(SIM_WAIT, 1, EBADF, false);
    u9i_op op = {.kind = U9I_OP_WRITE, .file = file, .buf = buffers, .n = BLOCK};
    ck_assert_int_eq(u9i_queue_do(queue, &op), -EBADF);
    memset(buffers, 0xee, BLOCK); /* the next takes that memory */
    u9i_file_close(file);
    fill_buffers();
    ck_assert_int_eq(u9i_file_open(dir, "a", U9I_OPEN_WRITE, &file), 0);
    expect_in_file(file, 0, buffers, BLOCK);
    write_at(queue, file, BLOCK, buffers, BLOCK, 0); /* and nothing of it is told later */
    take_all(queue, 1, BLOCK);
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_queue_that_has_settled_has_nothing_under_way_and_tells_nothing)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make_file(dir, "a");
    uint8_t *before = malloc((size_t)BUFFERS * BUFFER);
    fill_buffers();
    memcpy(before, buffers, (size_t)BUFFERS * BUFFER);
    for (unsigned times = 0; times < 3; times++) {
        for (unsigned i = 0; i < BUFFERS; i++)
            write_at(queue, file, (uint64_t)i * BUFFER, buffers + (size_t)i * BUFFER, BUFFER, i);
        u9i_queue_settle(queue);
        memset(buffers, 0, (size_t)BUFFERS * BUFFER);
        expect_in_file(file, 0, before, (size_t)BUFFERS * BUFFER);
        take_all(queue, 0, 0);
        fill_buffers();
    }
    write_at(queue, file, 0, buffers, BUFFER, 0); /* it takes more */
    take_all(queue, 1, BUFFER);
    free(before);
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

/* From outside */

/* {F12} */
START_TEST(a_write_cut_short_by_a_limit_is_an_error_not_a_short_write)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    pid_t pid = fork_child();
    if (pid == 0) {
        struct rlimit limit;
        u9i_dir *dir;
        u9i_file *file;
        u9i_queue *queue;
        u9i_completion done = {.result = 0};
        signal(SIGXFSZ, SIG_IGN);
        CHILD_EXPECT(u9i_dir_open(env, at("dir"), true, &dir) == 0);
        CHILD_EXPECT(u9i_file_open(dir, "a", U9I_OPEN_CREATE, &file) == 0);
        CHILD_EXPECT(u9i_queue_open(env, buffers, BUFFER, BUFFERS, &queue) == 0);
        CHILD_EXPECT(getrlimit(RLIMIT_FSIZE, &limit) == 0);
        limit.rlim_cur = 6000;
        CHILD_EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        CHILD_EXPECT(u9i_file_reserve(file, 8192) == -EFBIG);
        u9i_op op = {.kind = U9I_OP_WRITE, .file = file, .buf = buffers, .n = 8192, .tag = 5};
        CHILD_EXPECT(u9i_queue_submit(queue, &op, 1) == 0);
        CHILD_EXPECT(u9i_queue_wait(queue, &done, 1, U9I_FOREVER) == 1);
        CHILD_EXPECT(done.tag == 5 && done.result == -EFBIG);
        _exit(0);
    }
    expect_child(pid);
}
END_TEST

static void *wake_later(void *arg)
{
    usleep(20000);
    u9i_queue_wake(arg);
    return NULL;
}

START_TEST(a_wake_from_another_thread_ends_a_wait)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_queue *queue = open_queue(env);
    u9i_completion c;
    for (unsigned i = 0; i < 4; i++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, wake_later, queue), 0);
        uint64_t far = u9i_monotonic_us(env) + 50000 * MS;
        ck_assert_int_eq(u9i_queue_wait(queue, &c, 1, i % 2 ? far : U9I_FOREVER), 0);
        ck_assert_uint_lt(u9i_monotonic_us(env), far);
        pthread_join(thread, NULL);
    }
    u9i_queue_close(queue);
}
END_TEST

typedef struct batch {
    u9i_queue *queue;
    u9i_op ops[BUFFERS];
} batch;

static void *submit_and_end(void *arg)
{
    batch *b = arg;
    ck_assert_int_eq(u9i_queue_submit(b->queue, b->ops, BUFFERS), 0);
    return NULL;
}

/* Writes or reads the buffers, from a thread that ends at once. */
static void hurry(u9i_queue *queue, u9i_file *file, u9i_op_kind kind)
{
    batch b = {.queue = queue};
    pthread_t thread;
    for (unsigned i = 0; i < BUFFERS; i++)
        b.ops[i] = (u9i_op){.kind = kind, .file = file, .off = (uint64_t)i * BUFFER,
                            .buf = buffers + (size_t)i * BUFFER, .n = BUFFER, .tag = i};
    ck_assert_int_eq(pthread_create(&thread, NULL, submit_and_end, &b), 0);
    pthread_join(thread, NULL);
    take_all(queue, BUFFERS, BUFFER);
}

START_TEST(what_a_thread_began_goes_on_when_it_ends)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make_file(dir, "a");
    uint8_t *before = malloc((size_t)BUFFERS * BUFFER);
    fill_buffers();
    memcpy(before, buffers, (size_t)BUFFERS * BUFFER);
    for (unsigned times = 0; times < 20; times++) {
        hurry(queue, file, U9I_OP_WRITE);
        memset(buffers, 0, (size_t)BUFFERS * BUFFER);
        ck_assert_int_eq(u9i_file_sync_and_evict(file), 0);
        hurry(queue, file, U9I_OP_READ);
        ck_assert_int_eq(memcmp(buffers, before, (size_t)BUFFERS * BUFFER), 0);
    }
    free(before);
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_child_closes_its_parents_queue_without_waiting)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make_file(dir, "a");
    fill_buffers();
    for (unsigned i = 0; i < BUFFERS; i++)
        write_at(queue, file, (uint64_t)i * BUFFER, buffers + (size_t)i * BUFFER, BUFFER, i);
    pid_t pid = fork_child();
    if (pid == 0) {
        u9i_queue_close(queue);
        u9i_file_close(file);
        u9i_dir_close(dir);
        _exit(0);
    }
    expect_child(pid);
    take_all(queue, BUFFERS, BUFFER); /* the child has taken none */
    expect_in_file(file, 0, buffers, (size_t)BUFFERS * BUFFER);
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

Suite *suite_queue(void)
{
    const TTest *const anywhere[] = {
        no_more_than_its_depth_is_taken_and_the_rest_not_done, a_batch_is_begun_whole_or_not_at_all,
        a_queue_reads_into_its_buffers_and_any_others_up_to_the_end_of_the_file,
        a_buffer_that_was_not_told_of_can_be_written_from,
        a_queue_that_is_closed_leaves_nothing_under_way, a_wait_ends_at_its_deadline,
        a_completion_comes_before_a_far_deadline, a_wake_ends_the_next_wait_that_waits,
        a_wake_takes_nothing_from_what_is_complete,
        an_operation_is_over_when_it_is_done_whoever_wakes_its_wait,
        a_queue_that_has_settled_has_nothing_under_way_and_tells_nothing};
    const TTest *const on_the_host[] = {
        a_write_cut_short_by_a_limit_is_an_error_not_a_short_write,
        a_wake_from_another_thread_ends_a_wait, what_a_thread_began_goes_on_when_it_ends,
        a_child_closes_its_parents_queue_without_waiting};
    const TTest *const simulated[] = {an_operation_is_over_also_where_the_wait_for_it_failed};
    Suite *suite = suite_create("queue");
    TCase *first = tcase_create("anywhere"), *second = tcase_create("on the host"), *third = tcase_create("simulated");
    add_rows(first, anywhere, sizeof anywhere / sizeof anywhere[0], ENV_ROWS);
    add_rows(second, on_the_host, sizeof on_the_host / sizeof on_the_host[0], ENV_HOST_ROWS);
    suite_add_tcase(suite, first);
    add_rows(third, simulated, 1, 2);
    suite_add_tcase(suite, second);
    suite_add_tcase(suite, third);
    return suite;
}
