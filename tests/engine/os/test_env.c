/*
 * tests/engine/os/test_env.c: all envs do the same: one script of operations on each, the same answers and the
 * same bytes; and which env a log gets. [W-1]
 *
 * The first case needs nothing but the env itself; the second looks at it from outside, through the host's
 * files, threads and processes.
 */
#include "engine/os/inline.h"
#include "tests/engine/os/fault_io.h"
#include "tests/engine/fixture.h"
#include "tests/suites.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFERS = 8, BUFFER = 1 << 16, BLOCK = 4096, MS = 1000 };

/* The envs that can be used here, by loop index; NULL: this one cannot. */

static u9i_env *posix_env(void)
{
    return &u9i_env_posix;
}

static u9i_env *uring_env(void)
{
    return u9i_uring_usable() ? &u9i_env_uring : NULL;
}

/* The faulty one on top, which does all for real; late and in reverse over posix. */
static u9i_env *faulty_over(u9i_env *inner)
{
    u9i_env *env;
    if (inner == NULL) return NULL;
    fault_io_reset(inner);
    fault_io_sync_for_real(true);
    if (inner == &u9i_env_posix) fault_io_order(FAULT_REVERSED);
    ck_assert_int_eq(u9i_env_choose("faulty", &env, NULL), U9_OK);
    return env;
}

static u9i_env *faulty_posix_env(void)
{
    return faulty_over(posix_env());
}

static u9i_env *faulty_uring_env(void)
{
    return faulty_over(uring_env());
}

static u9i_env *(*const rows[])(void) = {posix_env, uring_env, faulty_posix_env, faulty_uring_env};

enum { ROWS = sizeof rows / sizeof rows[0] };

static uint8_t *buffers;

static void setup(void)
{
    fixture_setup();
    ck_assert_int_eq(posix_memalign((void **)&buffers, BLOCK, (size_t)BUFFERS * BUFFER), 0);
}

static void teardown(void)
{
    free(buffers);
    fixture_teardown();
}

/* Verbs */

static u9i_dir *open_new(u9i_env *env, const char *path)
{
    u9i_dir *dir = NULL;
    ck_assert_int_eq(u9i_dir_open(env, path, true, &dir), 0);
    ck_assert_ptr_eq(dir->env, env);
    ck_assert_str_eq(dir->single, "");
    ck_assert(!dir->writing);
    return dir;
}

static u9i_file *make(u9i_dir *dir, const char *name)
{
    u9i_file *file = NULL;
    ck_assert_int_eq(u9i_file_open(dir, name, U9I_OPEN_CREATE, &file), 0);
    return file;
}

static u9i_queue *open_queue(u9i_env *env)
{
    u9i_queue *queue = NULL;
    ck_assert_int_eq(u9i_queue_open(env, buffers, BUFFER, BUFFERS, &queue), 0);
    return queue;
}

/* Bytes that differ from place to place. */
static void fill_buffers(void)
{
    for (size_t i = 0; i < (size_t)BUFFERS * BUFFER; i++) buffers[i] = (uint8_t)(i * 2654435761u >> 24);
}

static void write_at(u9i_queue *queue, u9i_file *file, uint64_t off, const void *bytes, size_t n,
                     uint64_t tag)
{
    u9i_op op = {.kind = U9I_OP_WRITE, .file = file, .off = off, .buf = (void *)(uintptr_t)bytes, .n = n,
                 .tag = tag};
    ck_assert_int_eq(u9i_queue_submit(queue, &op, 1), 0);
}

/* Takes `count` completions, each with the same result; every tag below it comes once. */
static void take_all(u9i_queue *queue, unsigned count, int64_t result)
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

static void sync_file(u9i_queue *queue, u9i_file *file)
{
    u9i_op op = {.kind = U9I_OP_SYNC, .file = file};
    ck_assert_int_eq(u9i_queue_submit(queue, &op, 1), 0);
    take_all(queue, 1, 0);
}

/* A new file with these bytes. */
static void put_file(u9i_dir *dir, const char *name, const void *bytes, size_t n)
{
    u9i_queue *queue = open_queue(dir->env);
    u9i_file *file = make(dir, name);
    write_at(queue, file, 0, bytes, n, 0);
    take_all(queue, 1, (int64_t)n);
    u9i_file_close(file);
    u9i_queue_close(queue);
}

static void expect_bytes(u9i_file *file, uint64_t off, const void *bytes, size_t n)
{
    uint8_t *buf = malloc(n + 1);
    size_t got = 0;
    ck_assert_int_eq(u9i_file_read(file, off, buf, n, &got), 0);
    ck_assert_uint_eq(got, n);
    ck_assert_int_eq(memcmp(buf, bytes, n), 0);
    free(buf);
}

/* A file has these bytes and no others. */
static void expect_file(u9i_dir *dir, const char *name, const void *bytes, size_t n)
{
    u9i_file *file;
    uint64_t size;
    ck_assert_int_eq(u9i_file_open(dir, name, U9I_OPEN_READ, &file), 0);
    ck_assert_int_eq(u9i_file_size(file, &size), 0);
    ck_assert_uint_eq(size, n);
    expect_bytes(file, 0, bytes, n);
    u9i_file_close(file);
}

static int collect(void *ctx, const char *name)
{
    if (name[0] != '.') strcat(strcat(ctx, name), " ");
    return 0;
}

static int stop_at_once(void *ctx, const char *name)
{
    (void)ctx;
    (void)name;
    return 42;
}

/* Files and directories */

/* Many writes at once into two files, in no order of offsets, then a smaller size. */
static void write_script(u9i_dir *dir)
{
    u9i_queue *queue = open_queue(dir->env);
    u9i_file *a = make(dir, "a.u9"), *b = make(dir, "b.u9");
    unsigned tag = 0;
    fill_buffers();
    ck_assert_int_eq(u9i_file_reserve(a, 10 * BUFFER), 0);
    for (unsigned i = 0; i < BUFFERS; i++)
        write_at(queue, i % 2 ? a : b, (uint64_t)((i * 5 + 3) % BUFFERS) * BUFFER,
                 buffers + (size_t)i * BUFFER, BUFFER, tag++);
    take_all(queue, tag, BUFFER);
    sync_file(queue, a);
    sync_file(queue, b);
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    for (unsigned i = 0; i < BUFFERS; i++)
        expect_bytes(i % 2 ? a : b, (uint64_t)((i * 5 + 3) % BUFFERS) * BUFFER,
                     buffers + (size_t)i * BUFFER, BUFFER);
    ck_assert_int_eq(u9i_file_truncate(a, 5 * BUFFER + BLOCK), 0);
    ck_assert_int_eq(u9i_file_truncate(b, 5 * BUFFER + 100), 0);
    ck_assert_int_eq(u9i_file_sync_and_evict(a), 0);
    u9i_file_close(a);
    u9i_file_close(b);
    u9i_queue_close(queue);
}

static uint8_t *whole_file(u9i_dir *dir, const char *name, uint64_t *size)
{
    u9i_file *file;
    size_t got;
    ck_assert_int_eq(u9i_file_open(dir, name, U9I_OPEN_READ, &file), 0);
    ck_assert_int_eq(u9i_file_size(file, size), 0);
    uint8_t *bytes = malloc(*size + 1);
    ck_assert_int_eq(u9i_file_read(file, 0, bytes, *size + 1, &got), 0);
    ck_assert_uint_eq(got, *size);
    u9i_file_close(file);
    return bytes;
}

START_TEST(the_same_script_gives_the_same_files)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *here = open_new(env, at("here")), *there = open_new(&u9i_env_posix, at("there"));
    write_script(here);
    write_script(there);
    for (unsigned n = 0; n < 2; n++) {
        uint64_t size[2];
        const char *name = n ? "b.u9" : "a.u9";
        uint8_t *ours = whole_file(here, name, &size[0]), *theirs = whole_file(there, name, &size[1]);
        ck_assert_uint_eq(size[0], size[1]);
        ck_assert_uint_eq(size[0], n ? 5 * BUFFER + 100 : 5 * BUFFER + BLOCK);
        ck_assert_int_eq(memcmp(ours, theirs, size[0]), 0);
        free(ours);
        free(theirs);
    }
    u9i_dir_close(here);
    u9i_dir_close(there);
}
END_TEST

START_TEST(files_are_opened_as_asked)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_file *file = NULL;
    uint64_t size = 7;
    uint8_t buf[10];
    size_t got;
    ck_assert_int_eq(u9i_file_open(dir, "no", U9I_OPEN_READ, &file), -ENOENT);
    ck_assert_int_eq(u9i_file_open(dir, "no", U9I_OPEN_WRITE, &file), -ENOENT);
    ck_assert_ptr_null(file);
    file = make(dir, "new");
    ck_assert_ptr_eq(file->env, env);
    ck_assert_int_eq(u9i_file_size(file, &size), 0);
    ck_assert_uint_eq(size, 0);
    ck_assert_int_eq(u9i_file_read(file, 0, buf, sizeof buf, &got), 0);
    ck_assert_uint_eq(got, 0);
    u9i_file_close(file);
    ck_assert_int_eq(u9i_file_open(dir, "new", U9I_OPEN_CREATE, &file), -EEXIST);
    put_file(dir, "digits", "0123456789", 10);
    ck_assert_int_eq(u9i_file_open(dir, "digits", U9I_OPEN_READ, &file), 0);
    ck_assert_int_eq(u9i_file_read(file, 7, buf, sizeof buf, &got), 0);
    ck_assert_uint_eq(got, 3); /* less only at the end of the file */
    ck_assert_int_eq(memcmp(buf, "789", 3), 0);
    ck_assert_int_eq(u9i_file_read(file, 1000, buf, sizeof buf, &got), 0);
    ck_assert_uint_eq(got, 0);
    u9i_file_close(file);
    u9i_dir_close(open_new(env, at("dir/sub")));
    ck_assert_int_lt(u9i_file_open(dir, "sub", U9I_OPEN_READ, &file), 0);
    ck_assert_int_lt(u9i_file_open(dir, "sub", U9I_OPEN_WRITE, &file), 0);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(names_are_listed)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    char names[100] = "";
    ck_assert_int_eq(u9i_dir_list(dir, collect, names), 0);
    ck_assert_str_eq(names, "");
    for (unsigned i = 0; i < 3; i++) u9i_file_close(make(dir, i == 0 ? "x" : i == 1 ? "y" : "z"));
    u9i_dir_close(open_new(env, at("dir/sub"))); /* is no file */
    ck_assert_int_eq(u9i_dir_list(dir, collect, names), 0);
    ck_assert_uint_eq(strlen(names), 6);
    ck_assert(strstr(names, "x ") && strstr(names, "y ") && strstr(names, "z "));
    ck_assert_int_eq(u9i_dir_list(dir, stop_at_once, NULL), 42);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_dir_is_made_only_when_asked_for)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = NULL;
    ck_assert_int_eq(u9i_dir_open(env, at("no"), false, &dir), -ENOENT);
    ck_assert_int_eq(u9i_dir_open(env, at("no/log"), true, &dir), -ENOENT);
    ck_assert_ptr_null(dir);
    u9i_dir_close(open_new(env, at("no")));
    u9i_dir_close(open_new(env, at("no"))); /* there already: the same */
    ck_assert_int_eq(u9i_dir_open(env, at("no"), false, &dir), 0);
    put_file(dir, "file.u9", "12345", 5);
    u9i_dir_close(dir);
    ck_assert_int_eq(u9i_dir_open(env, at("no/file.u9"), false, &dir), 0);
    ck_assert_str_eq(dir->single, "file.u9");
    expect_file(dir, dir->single, "12345", 5);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_lock_is_had_by_one_at_a_time) /* [W-1] */
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *first = open_new(env, at("dir")), *second = open_new(env, at("dir"));
    ck_assert_int_eq(u9i_dir_lock(first), 0);
    ck_assert_int_eq(u9i_dir_lock(second), -EWOULDBLOCK);
    u9i_dir_close(first);
    ck_assert_int_eq(u9i_dir_lock(second), 0);
    u9i_dir_close(second);
}
END_TEST

START_TEST(a_dir_knows_whether_a_writer_is_at_work) /* */
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *writer = open_new(env, at("dir")), *reader = open_new(env, at("dir")), *file = NULL;
    put_file(writer, "file.u9", "12345", 5);
    ck_assert_int_eq(u9i_dir_open(env, at("dir/file.u9"), false, &file), 0);
    ck_assert(!u9i_dir_writer_active(reader) && !u9i_dir_writer_active(writer) &&
              !u9i_dir_writer_active(file));
    ck_assert_int_eq(u9i_dir_lock(writer), 0);
    ck_assert(u9i_dir_writer_active(reader) && u9i_dir_writer_active(file));
    ck_assert(!u9i_dir_writer_active(writer)); /* it has only opened the log so far, and has the lock still: */
    ck_assert_int_eq(u9i_dir_lock(reader), -EWOULDBLOCK);
    writer->writing = true;
    ck_assert(u9i_dir_writer_active(writer) && u9i_dir_writer_active(reader));
    u9i_dir_close(writer);
    ck_assert(!u9i_dir_writer_active(reader) && !u9i_dir_writer_active(file));
    u9i_dir_close(file);
    u9i_dir_close(reader);
}
END_TEST

static u9i_stamp stamp_of(u9i_dir *dir, const char *name)
{
    u9i_stamp stamp;
    memset(&stamp, 0xaa, sizeof stamp);
    ck_assert_int_eq(u9i_dir_stat(dir, name, &stamp), 0);
    return stamp;
}

static bool same_identity(u9i_stamp a, u9i_stamp b)
{
    return memcmp(a.identity, b.identity, sizeof a.identity) == 0;
}

START_TEST(a_name_has_a_stamp_that_changes_with_what_it_stands_for)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_stamp a, b;
    uint64_t start = u9i_wall_us(env);
    ck_assert_int_eq(u9i_dir_stat(dir, "a", &a), -ENOENT);
    put_file(dir, "a", "12345", 5);
    put_file(dir, "b", "12345", 5);
    a = stamp_of(dir, "a");
    b = stamp_of(dir, "a");
    ck_assert_mem_eq(&a, &b, sizeof a);
    ck_assert_uint_eq(a.size, 5);
    ck_assert_uint_ge(a.changed_us + 100 * MS, start); /* a file system's clock ticks coarsely */
    ck_assert_uint_le(a.changed_us, u9i_wall_us(env));
    ck_assert(!same_identity(a, stamp_of(dir, "b")));
    u9i_sleep_us(env, 20 * MS);
    u9i_file *file;
    ck_assert_int_eq(u9i_file_open(dir, "a", U9I_OPEN_WRITE, &file), 0);
    ck_assert_int_eq(u9i_file_truncate(file, 3), 0);
    u9i_file_close(file);
    b = stamp_of(dir, "a");
    ck_assert(same_identity(a, b));
    ck_assert_uint_eq(b.size, 3);
    ck_assert_uint_gt(b.changed_us, a.changed_us);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_file_takes_another_name_or_a_second_one_and_loses_it)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir")), *other = open_new(env, at("other"));
    put_file(dir, "a", "aaa", 3);
    put_file(dir, "b", "bb", 2);
    u9i_stamp a = stamp_of(dir, "a"), none;
    ck_assert_int_eq(u9i_dir_rename(dir, "no", "a"), -ENOENT);
    ck_assert_int_eq(u9i_dir_rename(dir, "a", "b"), 0); /* replaces it */
    ck_assert_int_eq(u9i_dir_stat(dir, "a", &none), -ENOENT);
    ck_assert(same_identity(a, stamp_of(dir, "b")));
    expect_file(dir, "b", "aaa", 3);
    ck_assert_int_eq(u9i_dir_link(dir, "no", other, "c"), -ENOENT);
    ck_assert_int_eq(u9i_dir_link(dir, "b", other, "c"), 0);
    ck_assert_int_eq(u9i_dir_link(dir, "b", other, "c"), -EEXIST);
    ck_assert(same_identity(a, stamp_of(other, "c")));
    ck_assert_int_eq(u9i_dir_sync(dir), 0);
    ck_assert_int_eq(u9i_dir_sync(other), 0);
    ck_assert_int_eq(u9i_dir_remove(dir, "b"), 0);
    ck_assert_int_eq(u9i_dir_remove(dir, "b"), -ENOENT);
    expect_file(other, "c", "aaa", 3);
    u9i_dir_close(other);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_directory_is_renamed_and_when_it_is_empty_removed)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir")), *sub = open_new(env, at("dir/sub"));
    put_file(sub, "a", "aaa", 3);
    u9i_dir_close(sub);
    ck_assert_int_eq(u9i_dir_rename(dir, "sub", "sub2"), 0);
    ck_assert_int_eq(u9i_dir_remove(dir, "sub"), -ENOENT);
    ck_assert_int_eq(u9i_dir_remove(dir, "sub2"), -ENOTEMPTY);
    ck_assert_int_eq(u9i_dir_open(env, at("dir/sub2"), false, &sub), 0);
    ck_assert_int_eq(u9i_dir_remove(sub, "a"), 0);
    u9i_dir_close(sub);
    ck_assert_int_eq(u9i_dir_remove(dir, "sub2"), 0);
    ck_assert_int_eq(u9i_dir_open(env, at("dir/sub2"), false, &sub), -ENOENT);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_file_removed_while_it_is_open_is_still_read)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_file *file;
    put_file(dir, "a", "12345", 5);
    ck_assert_int_eq(u9i_file_open(dir, "a", U9I_OPEN_READ, &file), 0);
    ck_assert_int_eq(u9i_dir_remove(dir, "a"), 0);
    expect_bytes(file, 0, "12345", 5);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_mapped_file_shows_its_bytes)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_file *file;
    const void *map = NULL;
    fill_buffers();
    put_file(dir, "a", buffers, 3 * BLOCK);
    ck_assert_int_eq(u9i_file_open(dir, "a", U9I_OPEN_READ, &file), 0);
    ck_assert_int_eq(u9i_file_map(file, BLOCK, 2 * BLOCK, &map), 0);
    ck_assert_int_eq(memcmp(map, buffers + BLOCK, 2 * BLOCK), 0);
    u9i_file_unmap(file, map, 2 * BLOCK);
    ck_assert_int_eq(u9i_file_map(file, 1, BLOCK, &map), -EINVAL);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

/* Queues */

START_TEST(no_more_than_its_depth_is_taken_and_the_rest_not_done)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make(dir, "a");
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
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make(dir, "a");
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
    u9i_env *env = rows[_i]();
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
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = NULL;
    u9i_file *file = make(dir, "a");
    ck_assert_int_eq(u9i_queue_open(env, buffers, BUFFER, 2, &queue), 0);
    memset(buffers, 3, (size_t)BUFFERS * BUFFER);
    write_at(queue, file, 0, buffers + 3 * BUFFER, BLOCK, 0);                  /* behind what was told */
    write_at(queue, file, BLOCK, buffers + 3 * BUFFER + 8, BLOCK, 1);          /* and askew */
    write_at(queue, file, 2 * BLOCK, buffers + 2 * BUFFER - BLOCK / 2, BLOCK, 2); /* across its end */
    write_at(queue, file, 3 * BLOCK, buffers + BUFFER - BLOCK / 2, BLOCK, 3);  /* across two of them */
    take_all(queue, 4, BLOCK);
    expect_bytes(file, 0, buffers, 4 * BLOCK);
    u9i_queue_close(queue);
    ck_assert_int_eq(u9i_queue_open(env, NULL, 0, 0, &queue), 0); /* told of none */
    write_at(queue, file, 4 * BLOCK, buffers, BLOCK, 0);
    take_all(queue, 1, BLOCK);
    expect_bytes(file, 0, buffers, 5 * BLOCK);
    u9i_queue_close(queue);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_queue_that_is_closed_leaves_nothing_under_way)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make(dir, "a");
    fill_buffers();
    for (unsigned i = 0; i < BUFFERS; i++)
        write_at(queue, file, (uint64_t)i * BUFFER, buffers + (size_t)i * BUFFER, BUFFER, i);
    u9i_queue_close(queue);
    expect_bytes(file, 0, buffers, (size_t)BUFFERS * BUFFER);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_wait_ends_at_its_deadline)
{
    u9i_env *env = rows[_i]();
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
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make(dir, "a");
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
    u9i_env *env = rows[_i]();
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
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make(dir, "a");
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

/* Clock and randomness */

START_TEST(clocks_go_on_and_randomness_is_drawn)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    uint8_t bytes[2][32];
    uint64_t start = u9i_monotonic_us(env);
    ck_assert_uint_gt(u9i_wall_us(env), UINT64_C(1577836800) * 1000000); /* 2020 */
    u9i_sleep_us(env, 5 * MS);
    u9i_sleep_us(env, 0);
    ck_assert_uint_ge(u9i_monotonic_us(env), start + 5 * MS);
    ck_assert(u9i_random(env, bytes[0], sizeof bytes[0]));
    ck_assert(u9i_random(env, bytes[1], sizeof bytes[1]));
    ck_assert_mem_ne(bytes[0], bytes[1], sizeof bytes[0]);
}
END_TEST

/* Tasks */

typedef struct job {
    u9i_task task;
    u9i_env *env;
    atomic_uint runs, inside;
    unsigned again; /* times that it submits itself again; UINT_MAX: always */
    uint64_t every_us, began_us;
    atomic_bool held; /* it stays inside as long as this is set */
    atomic_uint *order;
    unsigned place;
} job;

static void run_job(void *ctx)
{
    job *j = ctx;
    ck_assert_uint_eq(atomic_fetch_add(&j->inside, 1), 0); /* never twice at a time */
    j->began_us = u9i_monotonic_us(j->env);
    if (j->order) j->place = atomic_fetch_add(j->order, 1);
    while (atomic_load(&j->held)) u9i_sleep_us(j->env, MS);
    if (j->again > 0) {
        if (j->again != UINT_MAX) j->again--;
        u9i_task_submit(j->env, &j->task, j->every_us ? u9i_monotonic_us(j->env) + j->every_us : 0);
    }
    atomic_fetch_add(&j->runs, 1);
    atomic_fetch_sub(&j->inside, 1);
}

static void begin_job(job *j, u9i_env *env, uint64_t due_us)
{
    j->task.run = run_job;
    j->task.ctx = j;
    j->env = env;
    u9i_task_submit(env, &j->task, due_us);
}

static void wait_for_runs(job *j, unsigned runs)
{
    while (atomic_load(&j->runs) < runs) u9i_sleep_us(j->env, MS);
}

START_TEST(a_finished_task_has_run_once)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    enum { JOBS = 200 };
    job *jobs = calloc(JOBS, sizeof *jobs);
    u9i_dir *dir = open_new(env, at("dir"));
    for (unsigned times = 1; times <= 3; times++) { /* a task is used again */
        for (unsigned i = 0; i < JOBS; i++) begin_job(&jobs[i], env, 0);
        for (unsigned i = JOBS; i > 0; i--) {
            u9i_task_finish(env, &jobs[i - 1].task);
            ck_assert_uint_eq(atomic_load(&jobs[i - 1].runs), times);
        }
    }
    u9i_task_finish(env, &jobs[0].task); /* there is nothing to wait for */
    u9i_dir_close(dir);
    free(jobs);
}
END_TEST

START_TEST(a_task_is_finished_where_nobody_else_runs_it)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    job j = {.again = 2};
    begin_job(&j, env, 0); /* no dir is open */
    u9i_task_finish(env, &j.task);
    ck_assert_uint_eq(atomic_load(&j.runs), 3); /* it has submitted itself twice */
}
END_TEST

START_TEST(a_cancelled_task_does_not_run)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    job far = {0}, near = {0};
    u9i_task_cancel(env, &far.task); /* was never submitted */
    begin_job(&far, env, u9i_monotonic_us(env) + 20 * MS);
    begin_job(&near, env, u9i_monotonic_us(env) + 10 * MS);
    u9i_task_cancel(env, &near.task);
    u9i_task_cancel(env, &far.task);
    u9i_sleep_us(env, 40 * MS);
    ck_assert_uint_eq(atomic_load(&far.runs) + atomic_load(&near.runs), 0);
    begin_job(&near, env, 0); /* and may be used again */
    u9i_task_finish(env, &near.task);
    ck_assert_uint_eq(atomic_load(&near.runs), 1);
    u9i_dir_close(dir);
}
END_TEST

/* Tasks that run by themselves */

START_TEST(a_task_runs_by_itself_but_not_before_its_time)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    job now = {0}, later = {0};
    uint64_t start = u9i_monotonic_us(env);
    begin_job(&later, env, start + 50 * MS);
    begin_job(&now, env, 0);
    wait_for_runs(&now, 1);
    wait_for_runs(&later, 1);
    u9i_task_finish(env, &now.task);
    u9i_task_cancel(env, &later.task);
    ck_assert_uint_ge(later.began_us, start + 50 * MS);
    ck_assert_uint_eq(atomic_load(&later.runs), 1);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(tasks_run_in_the_order_in_which_they_are_due)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    static const unsigned due_ms[] = {120, 40, 160, 80};
    static const unsigned expected[] = {2, 0, 3, 1};
    u9i_dir *dir = open_new(env, at("dir"));
    atomic_uint order = 0;
    job jobs[4] = {0};
    uint64_t start = u9i_monotonic_us(env);
    for (unsigned i = 0; i < 4; i++) {
        jobs[i].order = &order;
        begin_job(&jobs[i], env, start + due_ms[i] * MS);
    }
    for (unsigned i = 0; i < 4; i++) wait_for_runs(&jobs[i], 1);
    for (unsigned i = 0; i < 4; i++) {
        u9i_task_cancel(env, &jobs[i].task);
        ck_assert_uint_ge(jobs[i].began_us, start + due_ms[i] * MS);
        ck_assert_uint_eq(jobs[i].place, expected[i]);
    }
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_task_that_submits_itself_runs_until_it_is_cancelled)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    for (unsigned timed = 0; timed < 2; timed++)
        for (unsigned i = 0; i < 20; i++) {
            job j = {.again = UINT_MAX, .every_us = timed ? MS : 0};
            begin_job(&j, env, 0);
            wait_for_runs(&j, 5);
            u9i_task_cancel(env, &j.task);
            unsigned runs = atomic_load(&j.runs);
            ck_assert_uint_eq(atomic_load(&j.inside), 0);
            u9i_sleep_us(env, 2 * MS);
            ck_assert_uint_eq(atomic_load(&j.runs), runs);
        }
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_task_is_waited_for_while_it_runs)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    for (unsigned cancelled = 0; cancelled < 2; cancelled++) {
        job first = {.held = true}, other = {0};
        begin_job(&first, env, 0);
        while (atomic_load(&first.inside) == 0) u9i_sleep_us(env, MS);
        begin_job(&other, env, 0); /* another thread takes it meanwhile */
        wait_for_runs(&other, 1);
        u9i_task_finish(env, &other.task);
        ck_assert_uint_eq(atomic_load(&first.runs), 0);
        job lets_go = {0};
        atomic_store(&first.held, false);
        if (cancelled) u9i_task_cancel(env, &first.task);
        else u9i_task_finish(env, &first.task);
        ck_assert_uint_eq(atomic_load(&first.runs), 1);
        ck_assert_uint_eq(atomic_load(&first.inside), 0);
        begin_job(&lets_go, env, 0);
        u9i_task_finish(env, &lets_go.task);
    }
    u9i_dir_close(dir);
}
END_TEST

/* All threads are at work, and more tasks come: each is run in its time, by them or by who finishes it. */
START_TEST(more_tasks_than_threads_all_run)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    enum { HELD = 6 };
    u9i_dir *dir = open_new(env, at("dir"));
    job held[HELD] = {0}, ticking = {.again = UINT_MAX, .every_us = MS}, late = {0};
    begin_job(&ticking, env, 0);
    for (unsigned i = 0; i < HELD; i++) {
        atomic_store(&held[i].held, true);
        begin_job(&held[i], env, 0);
    }
    while (atomic_load(&held[0].inside) == 0) u9i_sleep_us(env, MS);
    begin_job(&late, env, 0);
    u9i_task_finish(env, &late.task); /* runs here */
    ck_assert_uint_eq(atomic_load(&late.runs), 1);
    for (unsigned i = 0; i < HELD; i++) atomic_store(&held[i].held, false);
    for (unsigned i = 0; i < HELD; i++) wait_for_runs(&held[i], 1);
    wait_for_runs(&ticking, atomic_load(&ticking.runs) + 3);
    for (unsigned i = 0; i < HELD; i++) u9i_task_finish(env, &held[i].task);
    u9i_task_cancel(env, &ticking.task);
    u9i_dir_close(dir);
}
END_TEST

static unsigned threads_here(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

START_TEST(threads_are_had_while_a_dir_is_open)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    unsigned before = threads_here();
    for (unsigned times = 0; times < 3; times++) {
        u9i_dir *dir = open_new(env, at("dir")), *other = open_new(env, at("other"));
        job jobs[20] = {0};
        ck_assert_uint_eq(threads_here(), before);
        for (unsigned i = 0; i < 20; i++) begin_job(&jobs[i], env, 0);
        for (unsigned i = 0; i < 20; i++) wait_for_runs(&jobs[i], 1);
        for (unsigned i = 0; i < 20; i++) u9i_task_finish(env, &jobs[i].task);
        u9i_dir_close(dir);
        ck_assert_uint_gt(threads_here(), before);
        ck_assert_uint_le(threads_here(), before + 4);
        u9i_dir_close(other);
        ck_assert_uint_eq(threads_here(), before);
    }
}
END_TEST

static void read_mask(void *ctx)
{
    pthread_sigmask(SIG_SETMASK, NULL, ctx);
}

START_TEST(the_hosts_signals_do_not_reach_the_threads)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    sigset_t mask, mine;
    sigemptyset(&mask);
    u9i_task task = {.run = read_mask, .ctx = &mask};
    pthread_sigmask(SIG_SETMASK, NULL, &mine);
    u9i_task_submit(env, &task, 0);
    u9i_sleep_us(env, 50 * MS);
    u9i_task_cancel(env, &task);
    ck_assert_int_eq(sigismember(&mask, SIGUSR1), 1);
    ck_assert_int_eq(sigismember(&mask, SIGTERM), 1);
    ck_assert_int_eq(sigismember(&mine, SIGTERM), 0);
    u9i_dir_close(dir);
}
END_TEST

/* From outside */

START_TEST(what_is_no_file_and_no_directory_is_not_opened)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = NULL;
    u9i_file *file;
    ck_assert_int_eq(mkfifo(at("fifo"), 0600), 0);
    ck_assert_int_eq(u9i_dir_open(env, at("fifo"), false, &dir), -EINVAL);
    ck_assert_ptr_null(dir);
    dir = open_new(env, at("dir"));
    ck_assert_int_eq(mkfifo(at("dir/fifo"), 0600), 0);
    ck_assert_int_lt(u9i_file_open(dir, "fifo", U9I_OPEN_READ, &file), 0); /* and does not wait */
    u9i_dir_close(dir);
}
END_TEST

static void *let_go(void *arg)
{
    usleep(50000);
    close(*(int *)arg);
    return NULL;
}

START_TEST(a_writer_waits_for_who_only_asks_but_not_forever) /* [W-1] */
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *writer = open_new(env, at("dir"));
    int asks = open(at("dir"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(asks, LOCK_SH), 0);
    if (_i == 0) ck_assert_int_eq(u9i_dir_lock(writer), -EWOULDBLOCK);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, let_go, &asks), 0);
    ck_assert_int_eq(u9i_dir_lock(writer), 0);
    pthread_join(thread, NULL);
    u9i_dir_close(writer);
}
END_TEST

/* Exits with the line at which the child found something else; Check's own words would not reach anybody. */
#define CHILD_EXPECT(what)             \
    do {                               \
        if (!(what)) _exit(__LINE__ % 255 + 1); \
    } while (0)

static pid_t fork_child(void)
{
    fflush(NULL);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) alarm(20); /* a child that hangs dies */
    return pid;
}

static void expect_child(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "the child died of signal %d", WTERMSIG(status));
    ck_assert_msg(WEXITSTATUS(status) == 0, "not so in the child: line %d, modulo 255",
                  WEXITSTATUS(status) - 1);
}

START_TEST(a_write_cut_short_by_a_limit_is_an_error_not_a_short_write)
{
    u9i_env *env = rows[_i]();
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
    u9i_env *env = rows[_i]();
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

static void *write_and_end(void *arg)
{
    u9i_op *ops = arg;
    ck_assert_int_eq(u9i_queue_submit((u9i_queue *)(uintptr_t)ops[BUFFERS].tag, ops, BUFFERS), 0);
    return NULL;
}

START_TEST(what_a_thread_began_goes_on_when_it_ends)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make(dir, "a");
    u9i_op ops[BUFFERS + 1] = {[BUFFERS] = {.tag = (uint64_t)(uintptr_t)queue}};
    fill_buffers();
    for (unsigned i = 0; i < BUFFERS; i++)
        ops[i] = (u9i_op){.kind = U9I_OP_WRITE, .file = file, .off = (uint64_t)i * BUFFER,
                          .buf = buffers + (size_t)i * BUFFER, .n = BUFFER, .tag = i};
    for (unsigned times = 0; times < 20; times++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, write_and_end, ops), 0);
        pthread_join(thread, NULL);
        take_all(queue, BUFFERS, BUFFER);
    }
    expect_bytes(file, 0, buffers, (size_t)BUFFERS * BUFFER);
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_child_has_tasks_of_its_own_and_leaves_those_of_its_parent)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    job held = {.held = true}, ticking = {.again = UINT_MAX, .every_us = MS}, far = {0};
    begin_job(&held, env, 0);
    begin_job(&ticking, env, 0);
    begin_job(&far, env, u9i_monotonic_us(env) + 100000 * MS);
    wait_for_runs(&ticking, 3);
    while (atomic_load(&held.inside) == 0) u9i_sleep_us(env, MS);
    pid_t pid = fork_child();
    if (pid == 0) {
        unsigned runs = atomic_load(&ticking.runs);
        u9i_dir *mine;
        job own = {.again = 10, .every_us = 100};
        CHILD_EXPECT(u9i_dir_open(env, at("mine"), true, &mine) == 0);
        begin_job(&own, env, 0);
        wait_for_runs(&own, 11);
        u9i_task_finish(env, &own.task);
        CHILD_EXPECT(atomic_load(&ticking.runs) == runs);
        u9i_task_finish(env, &held.task); /* it runs in the parent, and is waited for there */
        u9i_task_cancel(env, &far.task);
        CHILD_EXPECT(atomic_load(&held.runs) == 0 && atomic_load(&far.runs) == 0);
        u9i_dir_close(dir); /* the parent's: its threads are waited for by nobody here */
        CHILD_EXPECT(threads_here() > 1);
        u9i_dir_close(mine);
        CHILD_EXPECT(threads_here() == 1);
        CHILD_EXPECT(u9i_dir_open(env, at("mine"), true, &mine) == 0);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            u9i_dir_close(mine);
            _exit(0);
        }
        int status;
        CHILD_EXPECT(waitpid(grandchild, &status, 0) == grandchild && status == 0);
        u9i_dir_close(mine);
        _exit(0);
    }
    expect_child(pid);
    atomic_store(&held.held, false);
    u9i_task_finish(env, &held.task);
    u9i_task_cancel(env, &ticking.task);
    u9i_task_cancel(env, &far.task);
    ck_assert_uint_eq(atomic_load(&held.runs), 1);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_child_closes_its_parents_queue_without_waiting)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_queue *queue = open_queue(env);
    u9i_file *file = make(dir, "a");
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
    expect_bytes(file, 0, buffers, (size_t)BUFFERS * BUFFER);
    u9i_file_close(file);
    u9i_queue_close(queue);
    u9i_dir_close(dir);
}
END_TEST

/* Which env */

static u9i_env *chosen(const char *name)
{
    u9i_env *env = NULL;
    u9_fault fault = {0};
    u9_err err = u9i_env_choose(name, &env, &fault);
    if (err == U9_OK) return env;
    ck_assert_int_eq(err, U9_ARG);
    ck_assert_int_eq(fault.err, U9_ARG);
    const char *asked = name && name[0] ? name : getenv("U9_IO");
    ck_assert_ptr_nonnull(strstr(fault.text, asked));
    ck_assert_ptr_null(env);
    return NULL;
}

START_TEST(an_env_is_chosen_by_name_or_by_the_environment_or_the_best)
{
    u9i_env *best = u9i_uring_usable() ? &u9i_env_uring : &u9i_env_posix;
    u9i_env *uring = uring_env();
    const char *before = getenv("U9_IO");
    char *kept = before ? strdup(before) : NULL;
    unsetenv("U9_IO");
    ck_assert_ptr_eq(chosen(NULL), best);
    ck_assert_ptr_eq(chosen(""), best);
    ck_assert_ptr_eq(chosen("posix"), &u9i_env_posix);
    ck_assert_ptr_eq(chosen("uring"), uring);
    ck_assert_ptr_null(chosen("POSIX"));
    ck_assert_ptr_null(chosen("ring"));
    setenv("U9_IO", "", 1);
    ck_assert_ptr_eq(chosen(NULL), best);
    setenv("U9_IO", "posix", 1);
    ck_assert_ptr_eq(chosen(NULL), &u9i_env_posix);
    ck_assert_ptr_eq(chosen(""), &u9i_env_posix);
    ck_assert_ptr_eq(chosen("uring"), uring); /* a name is stronger */
    setenv("U9_IO", "uring", 1);
    ck_assert_ptr_eq(chosen(NULL), uring);
    ck_assert_ptr_eq(chosen("posix"), &u9i_env_posix);
    setenv("U9_IO", "nonsense", 1);
    ck_assert_ptr_null(chosen(NULL));
    ck_assert_ptr_eq(chosen("posix"), &u9i_env_posix);
    unsetenv("U9_IO");
    ck_assert_ptr_null(chosen("faulty"));
    fault_io_reset(&u9i_env_posix);
    ck_assert_str_eq(chosen("faulty")->name, "faulty"); /* registered: had by its name only */
    ck_assert_ptr_eq(chosen(NULL), best);
    u9i_env_register(NULL);
    ck_assert_ptr_null(chosen("faulty"));
    if (kept) setenv("U9_IO", kept, 1);
    free(kept);
}
END_TEST

START_TEST(a_log_says_which_env_it_has)
{
    u9i_env *env = rows[_i]();
    if (env == NULL) return;
    u9_options o = writer_options();
    o.io = env->name;
    u9_log *w = open_writer(at("log"), &o);
    ck_assert_str_eq(u9_log_io(w), env->name);
    append_many(w, "a", 300, 50);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 300);
    forget(s);
}
END_TEST

/* The executor of one thread */

typedef struct step {
    u9i_task task;
    u9i_inline *executor;
    char name, *trace; /* each run adds the name */
    uint64_t again_us; /* when it submits itself; 0: it does not */
} step;

static void run_step(void *ctx)
{
    step *s = ctx;
    strncat(s->trace, &s->name, 1);
    if (s->again_us) u9i_inline_submit(s->executor, &s->task, s->again_us);
}

START_TEST(tasks_of_one_thread_run_as_the_caller_picks)
{
    u9i_inline x = {0};
    char trace[20] = "";
    step s[4];
    for (unsigned i = 0; i < 4; i++) {
        s[i] = (step){.task = {.run = run_step, .ctx = &s[i]}, .executor = &x, .name = (char)('a' + i),
                      .trace = trace};
        u9i_inline_submit(&x, &s[i].task, i == 2 ? 50 : 0);
    }
    s[1].again_us = 20;
    ck_assert_uint_eq(u9i_inline_due(&x, 10), 3);
    u9i_inline_run(&x, 10, 2);
    ck_assert_str_eq(trace, "d");
    u9i_inline_run(&x, 10, 1); /* b, which is due again at 20 */
    ck_assert_uint_eq(u9i_inline_due(&x, 10), 1);
    ck_assert_uint_eq(u9i_inline_due(&x, 20), 2);
    u9i_inline_finish(&x, &s[0].task);
    u9i_inline_finish(&x, &s[0].task);
    ck_assert_str_eq(trace, "dba");
    u9i_inline_cancel(&x, &s[1].task);
    u9i_inline_cancel(&x, &s[1].task);
    ck_assert_uint_eq(u9i_inline_due(&x, 100), 1);
    u9i_inline_run(&x, 50, 0);
    ck_assert_str_eq(trace, "dbac");
    ck_assert_ptr_null(x.first);
}
END_TEST

static void add_loops(TCase *tc, const TTest *const *tests, size_t count)
{
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    for (size_t i = 0; i < count; i++) tcase_add_loop_test(tc, tests[i], 0, ROWS);
}

Suite *suite_env(void)
{
    const TTest *const anywhere[] = {
        the_same_script_gives_the_same_files, files_are_opened_as_asked, names_are_listed,
        a_dir_is_made_only_when_asked_for, a_lock_is_had_by_one_at_a_time,
        a_dir_knows_whether_a_writer_is_at_work, a_name_has_a_stamp_that_changes_with_what_it_stands_for,
        a_file_takes_another_name_or_a_second_one_and_loses_it,
        a_directory_is_renamed_and_when_it_is_empty_removed,
        a_file_removed_while_it_is_open_is_still_read, a_mapped_file_shows_its_bytes,
        no_more_than_its_depth_is_taken_and_the_rest_not_done, a_batch_is_begun_whole_or_not_at_all,
        a_queue_reads_into_its_buffers_and_any_others_up_to_the_end_of_the_file,
        a_buffer_that_was_not_told_of_can_be_written_from,
        a_queue_that_is_closed_leaves_nothing_under_way, a_wait_ends_at_its_deadline,
        a_completion_comes_before_a_far_deadline, a_wake_ends_the_next_wait_that_waits,
        a_wake_takes_nothing_from_what_is_complete, clocks_go_on_and_randomness_is_drawn,
        a_finished_task_has_run_once, a_task_is_finished_where_nobody_else_runs_it,
        a_cancelled_task_does_not_run};
    const TTest *const on_the_host[] = {
        a_task_runs_by_itself_but_not_before_its_time, tasks_run_in_the_order_in_which_they_are_due,
        a_task_that_submits_itself_runs_until_it_is_cancelled, a_task_is_waited_for_while_it_runs,
        more_tasks_than_threads_all_run, threads_are_had_while_a_dir_is_open,
        the_hosts_signals_do_not_reach_the_threads, what_is_no_file_and_no_directory_is_not_opened,
        a_writer_waits_for_who_only_asks_but_not_forever,
        a_write_cut_short_by_a_limit_is_an_error_not_a_short_write,
        a_wake_from_another_thread_ends_a_wait, what_a_thread_began_goes_on_when_it_ends,
        a_child_has_tasks_of_its_own_and_leaves_those_of_its_parent,
        a_child_closes_its_parents_queue_without_waiting, a_log_says_which_env_it_has};
    Suite *suite = suite_create("env");
    TCase *first = tcase_create("anywhere"), *second = tcase_create("on the host");
    TCase *choice = tcase_create("choice");
    add_loops(first, anywhere, sizeof anywhere / sizeof anywhere[0]);
    add_loops(second, on_the_host, sizeof on_the_host / sizeof on_the_host[0]);
    tcase_add_checked_fixture(choice, setup, teardown);
    tcase_add_test(choice, an_env_is_chosen_by_name_or_by_the_environment_or_the_best);
    tcase_add_test(choice, tasks_of_one_thread_run_as_the_caller_picks);
    suite_add_tcase(suite, first);
    suite_add_tcase(suite, second);
    suite_add_tcase(suite, choice);
    return suite;
}
