/*
 * tests/engine/os/envs.c: see envs.h.
 */
#include "tests/engine/os/envs.h"

#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { CHILD_SECONDS = 30 };

uint8_t *buffers;

static u9i_env *posix_env(void)
{
    return &u9i_env_posix;
}

static u9i_env *uring_env(void)
{
    return u9i_uring_usable() ? &u9i_env_uring : NULL;
}

/* The simulated world: prompt, in an order of its own, and with threads that are real. */
static u9i_env *sim_prompt_env(void)
{
    sim_begin(1);
    sim_make_dir(at(""));
    return sim_env();
}

static u9i_env *sim_drawn_env(void)
{
    u9i_env *env = sim_prompt_env();
    sim_set_order(SIM_DRAWN);
    return env;
}

static u9i_env *sim_wild_env(void)
{
    u9i_env *env = sim_prompt_env();
    sim_set_order(SIM_WILD);
    return env;
}

static u9i_env *sim_threads_env(void)
{
    sim_begin_threads(1);
    sim_make_dir(at(""));
    return sim_env();
}

u9i_env *env_row(int row)
{
    static u9i_env *(*const rows[ENV_ROWS])(void) = {posix_env, uring_env, sim_prompt_env,
                                                     sim_drawn_env, sim_wild_env, sim_threads_env};
    return rows[row]();
}

static void setup(void)
{
    fixture_setup();
    ck_assert_int_eq(posix_memalign((void **)&buffers, BLOCK, (size_t)BUFFERS * BUFFER), 0);
    memset(buffers, 0, (size_t)BUFFERS * BUFFER);
}

static void teardown(void)
{
    free(buffers);
    fixture_teardown();
}

void add_rows(TCase *tc, const TTest *const *tests, size_t count, int rows)
{
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    for (size_t i = 0; i < count; i++) tcase_add_loop_test(tc, tests[i], 0, rows);
}

void fill_buffers(void)
{
    for (size_t i = 0; i < (size_t)BUFFERS * BUFFER; i++) buffers[i] = (uint8_t)(i * 2654435761u >> 24);
}

u9i_dir *open_new(u9i_env *env, const char *path)
{
    u9i_dir *dir = NULL;
    ck_assert_int_eq(u9i_dir_open(env, path, true, &dir), 0);
    ck_assert_ptr_eq(dir->env, env);
    ck_assert_str_eq(dir->single, "");
    ck_assert(!dir->writing);
    return dir;
}

u9i_file *make_file(u9i_dir *dir, const char *name)
{
    u9i_file *file = NULL;
    ck_assert_int_eq(u9i_file_open(dir, name, U9I_OPEN_CREATE, &file), 0);
    return file;
}

u9i_queue *open_queue(u9i_env *env)
{
    u9i_queue *queue = NULL;
    ck_assert_int_eq(u9i_queue_open(env, buffers, BUFFER, BUFFERS, &queue), 0);
    return queue;
}

void write_at(u9i_queue *queue, u9i_file *file, uint64_t off, const void *bytes, size_t n, uint64_t tag)
{
    u9i_op op = {.kind = U9I_OP_WRITE, .file = file, .off = off, .buf = (void *)(uintptr_t)bytes, .n = n,
                 .tag = tag};
    ck_assert_int_eq(u9i_queue_submit(queue, &op, 1), 0);
}

void take_all(u9i_queue *queue, unsigned count, int64_t result)
{
    bool seen_tag[U9I_QUEUE_DEPTH] = {0};
    u9i_completion got[5];
    for (unsigned taken = 0; taken < count;) {
        int n = u9i_queue_wait(queue, got, 5, U9I_FOREVER);
        ck_assert_int_gt(n, 0);
        ck_assert_int_le(n, 5);
        for (int i = 0; i < n; i++, taken++) {
            ck_assert_int_eq(got[i].result, result);
            ck_assert_uint_lt(got[i].tag, count);
            ck_assert(!seen_tag[got[i].tag]);
            seen_tag[got[i].tag] = true;
        }
    }
    ck_assert_int_eq(u9i_queue_wait(queue, got, 5, 0), 0);
}

void sync_file(u9i_queue *queue, u9i_file *file)
{
    u9i_op op = {.kind = U9I_OP_SYNC, .file = file};
    ck_assert_int_eq(u9i_queue_submit(queue, &op, 1), 0);
    take_all(queue, 1, 0);
}

void put_file(u9i_dir *dir, const char *name, const void *bytes, size_t n)
{
    u9i_queue *queue = open_queue(dir->env);
    u9i_file *file = make_file(dir, name);
    write_at(queue, file, 0, bytes, n, 0);
    take_all(queue, 1, (int64_t)n);
    u9i_file_close(file);
    u9i_queue_close(queue);
}

void expect_in_file(u9i_file *file, uint64_t off, const void *bytes, size_t n)
{
    uint8_t *buf = malloc(n + 1);
    size_t got = 0;
    ck_assert_int_eq(u9i_file_read(file, off, buf, n, &got), 0);
    ck_assert_uint_eq(got, n);
    ck_assert_int_eq(memcmp(buf, bytes, n), 0);
    free(buf);
}

void expect_file(u9i_dir *dir, const char *name, const void *bytes, size_t n)
{
    u9i_file *file;
    uint64_t size;
    ck_assert_int_eq(u9i_file_open(dir, name, U9I_OPEN_READ, &file), 0);
    ck_assert_int_eq(u9i_file_size(file, &size), 0);
    ck_assert_uint_eq(size, n);
    expect_in_file(file, 0, bytes, n);
    u9i_file_close(file);
}

pid_t fork_child(void)
{
    fflush(NULL);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) alarm(CHILD_SECONDS);
    return pid;
}

void expect_child(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "the child died of signal %d", WTERMSIG(status));
    ck_assert_msg(WEXITSTATUS(status) == 0, "not so in the child: line %d, modulo 255",
                  WEXITSTATUS(status) - 1);
}
