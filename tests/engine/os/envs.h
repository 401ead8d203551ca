/*
 * tests/engine/os/envs.h: the envs that the suites env, queue and executor go through, row by row, and the verbs
 * of these suites.
 *
 * A new env is a row in envs.c. Tests that look from outside, through the host's files, threads and
 * processes, leave out the rows that do not stand on the host.
 */
#ifndef TESTS_ENGINE_ENVS_H
#define TESTS_ENGINE_ENVS_H

#include "engine/os/env.h"

#include <check.h>
#include <sys/types.h>
#include <unistd.h>

enum { BUFFERS = 8, BUFFER = 1 << 16, BLOCK = 4096, MS = 1000 /* microseconds */ };

/* The rows; the first ones stand on the host. */
enum { ENV_ROWS = 6, ENV_HOST_ROWS = 2 };

/* The env of a row, made anew; NULL: it cannot be used here. */
u9i_env *env_row(int row);

/* Adds each test once for each row. Fixture: a directory as in fixture.h, and `buffers`. */
void add_rows(TCase *tc, const TTest *const *tests, size_t count, int rows);

/* BUFFERS of BUFFER bytes in a row, aligned to BLOCK. */
extern uint8_t *buffers;
void fill_buffers(void); /* with bytes that differ from place to place */

u9i_dir *open_new(u9i_env *env, const char *path);
u9i_file *make_file(u9i_dir *dir, const char *name);
u9i_queue *open_queue(u9i_env *env); /* told of the buffers */

void write_at(u9i_queue *queue, u9i_file *file, uint64_t off, const void *bytes, size_t n, uint64_t tag);
/* Takes `count` completions, each with this result; every tag below it comes once, and no more. */
void take_all(u9i_queue *queue, unsigned count, int64_t result);
void sync_file(u9i_queue *queue, u9i_file *file);

/* A new file with these bytes. */
void put_file(u9i_dir *dir, const char *name, const void *bytes, size_t n);
void expect_in_file(u9i_file *file, uint64_t off, const void *bytes, size_t n);
/* A file has these bytes and no others. */
void expect_file(u9i_dir *dir, const char *name, const void *bytes, size_t n);

/* A child that dies if it hangs. It says with its exit status what is wrong: Check's own words reach nobody. */
pid_t fork_child(void);
void expect_child(pid_t pid);
#define CHILD_EXPECT(what)                      \
    do {                                        \
        if (!(what)) _exit(__LINE__ % 255 + 1); \
    } while (0)

#endif
