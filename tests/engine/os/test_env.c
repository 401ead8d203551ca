/*
 * tests/engine/os/test_env.c: all envs do the same: one script of operations on each, the same answers and the
 * same bytes: files, directories, clock, randomness; and which env a log gets. [W-1]
 */
#include "tests/engine/fixture.h"
#include "tests/engine/os/envs.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
    u9i_file *a = make_file(dir, "a.u9"), *b = make_file(dir, "b.u9");
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
        expect_in_file(i % 2 ? a : b, (uint64_t)((i * 5 + 3) % BUFFERS) * BUFFER,
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
    u9i_env *env = env_row(_i);
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

/* Data in the middle of a hole: what is passed is zeros, and what is not is found. */
START_TEST(holes_are_known_or_taken_for_data)
{
    enum { BEGIN = 1 << 20, END = 3 << 20 };
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_file *file = make_file(dir, "sparse");
    u9i_queue *queue = open_queue(env);
    fill_buffers();
    write_at(queue, file, BEGIN, buffers, BUFFER, 0);
    take_all(queue, 1, BUFFER);
    ck_assert_int_eq(u9i_file_truncate(file, END), 0);
    ck_assert_uint_le(u9i_file_data(file, 0), BEGIN);
    ck_assert_uint_eq(u9i_file_data(file, BEGIN), BEGIN);
    ck_assert_uint_eq(u9i_file_data(file, BEGIN + 5), BEGIN + 5);
    uint64_t behind = u9i_file_data(file, 2 << 20);
    ck_assert(behind == END || behind == 2 << 20); /* not every file system tells */
    ck_assert_uint_eq(u9i_file_data(file, END), END);
    ck_assert_uint_eq(u9i_file_data(file, END + 7), END + 7);
    u9i_queue_close(queue);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

/* Space that was reserved, and zeros of it that are cached: what is passed are zeros, and what is written, synced or not, is found. */
START_TEST(what_was_only_reserved_is_known_or_taken_for_data)
{
    enum { BEGIN = 1 << 20, MIDDLE = 2 << 20, LATER = 3 << 20, END = 4 << 20 };
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_file *file = make_file(dir, "reserved");
    u9i_queue *queue = open_queue(env);
    uint64_t size;
    fill_buffers();
    ck_assert_int_eq(u9i_file_reserve(file, END), 0);
    ck_assert_int_eq(u9i_file_truncate(file, END), 0); /* where nothing can be reserved */
    write_at(queue, file, BEGIN, buffers, BUFFER, 0);
    take_all(queue, 1, BUFFER);
    free(whole_file(dir, "reserved", &size));
    ck_assert_uint_eq(size, END);
    ck_assert_uint_le(u9i_file_written(file, 0), BEGIN);
    ck_assert_uint_eq(u9i_file_written(file, BEGIN), BEGIN);
    ck_assert_uint_eq(u9i_file_written(file, BEGIN + 5), BEGIN + 5);
    uint64_t behind = u9i_file_written(file, MIDDLE);
    ck_assert(behind == END || behind == MIDDLE); /* not every file system tells */
    write_at(queue, file, LATER, buffers, BUFFER, 0);
    take_all(queue, 1, BUFFER);
    ck_assert_uint_le(u9i_file_written(file, MIDDLE), LATER);
    ck_assert_uint_eq(u9i_file_written(file, LATER), LATER);
    ck_assert_uint_eq(u9i_file_written(file, END), END);
    ck_assert_uint_eq(u9i_file_written(file, END + 7), END + 7);
    u9i_file_fetch(file, 0, END);
    expect_in_file(file, LATER, buffers, BUFFER);
    u9i_queue_close(queue);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(files_are_opened_as_asked)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_file *file = NULL;
    uint64_t size = 7;
    uint8_t buf[10];
    size_t got;
    ck_assert_int_eq(u9i_file_open(dir, "no", U9I_OPEN_READ, &file), -ENOENT);
    ck_assert_int_eq(u9i_file_open(dir, "no", U9I_OPEN_WRITE, &file), -ENOENT);
    ck_assert_ptr_null(file);
    file = make_file(dir, "new");
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
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    char names[100] = "";
    ck_assert_int_eq(u9i_dir_list(dir, collect, names), 0);
    ck_assert_str_eq(names, "");
    for (unsigned i = 0; i < 3; i++) u9i_file_close(make_file(dir, i == 0 ? "x" : i == 1 ? "y" : "z"));
    u9i_dir_close(open_new(env, at("dir/sub"))); /* is no file, and has a name */
    ck_assert_int_eq(u9i_dir_list(dir, collect, names), 0);
    ck_assert_uint_eq(strlen(names), 10);
    ck_assert(strstr(names, "x ") && strstr(names, "y ") && strstr(names, "z ") && strstr(names, "sub "));
    ck_assert_int_eq(u9i_dir_list(dir, stop_at_once, NULL), 42);
    u9i_dir_close(dir);
}
END_TEST

/* True if something is told of at once, and then no more. */
static bool is_told(u9i_watch *watch)
{
    int told = u9i_watch_wait(watch, 0);
    ck_assert_int_ge(told, 0);
    ck_assert_int_eq(u9i_watch_wait(watch, 0), 0);
    return told == 1;
}

START_TEST(what_is_posted_is_seen_and_told_of_and_goes_when_it_is_taken_away)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir")), *other = open_new(env, at("dir"));
    u9i_watch *watch, *late;
    char bytes[8] = "";
    size_t got = 9;
    ck_assert_int_eq(u9i_dir_posted(other, ".post", bytes, 8, &got), -ENOENT);
    ck_assert_int_eq(u9i_watch_open(other, ".post", false, &watch), 0);
    ck_assert(!is_told(watch));
    ck_assert_int_eq(u9i_dir_post(dir, ".post", "one", 3), 0);
    ck_assert(is_told(watch));
    ck_assert_int_eq(u9i_watch_open(other, ".post", false, &late), 0);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(u9i_dir_post(dir, ".post", i % 2 ? "two" : "six", 3), 0);
        ck_assert(is_told(watch) && is_told(late));
        ck_assert_int_eq(u9i_dir_posted(other, ".post", bytes, 8, &got), 0);
        ck_assert_uint_eq(got, 3);
        ck_assert_mem_eq(bytes, i % 2 ? "two" : "six", 3);
    }
    u9i_file_close(make_file(dir, "x"));
    ck_assert(is_told(watch));
    ck_assert_int_eq(u9i_dir_post(dir, ".post", NULL, 0), 0);
    ck_assert(is_told(watch));
    ck_assert_int_eq(u9i_dir_posted(other, ".post", bytes, 8, &got), -ENOENT);
    ck_assert_int_eq(u9i_dir_post(dir, ".post", NULL, 0), 0);
    ck_assert(!is_told(watch));
    u9i_watch_close(watch);
    u9i_watch_close(late);
    if (_i < ENV_HOST_ROWS) { /* in its place stands what is no file */
        ck_assert_int_eq(mkfifo(at("dir/.post"), 0600), 0);
        ck_assert_int_eq(u9i_dir_posted(other, ".post", bytes, 8, &got), -EINVAL);
        ck_assert_int_eq(u9i_dir_post(dir, ".post", "one", 3), -EINVAL);
        ck_assert_int_eq(unlink(at("dir/.post")), 0);
    }
    u9i_dir_close(other);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_dir_is_made_only_when_asked_for)
{
    u9i_env *env = env_row(_i);
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
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *first = open_new(env, at("dir")), *second = open_new(env, at("dir"));
    ck_assert_int_eq(u9i_dir_lock(first), 0);
    ck_assert_int_eq(u9i_dir_lock(second), -EWOULDBLOCK);
    u9i_dir_close(first);
    ck_assert_int_eq(u9i_dir_lock(second), 0);
    u9i_dir_close(second);
}
END_TEST

/*
 * A child that was forked meanwhile, to run another program perhaps, has the descriptors, too: it keeps no lock (the first
 * one), and gives none away (the second).
 */
START_TEST(a_lock_goes_with_who_has_it_and_with_no_child_of_his) /* [W-1] */
{
    int until[2], told[2];
    char word;
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    ck_assert(pipe(until) == 0 && pipe(told) == 0);
    u9i_dir *first = open_new(env, at("dir")), *second = open_new(env, at("dir"));
    u9i_file *file = make_file(first, "a"), *other;
    ck_assert_int_eq(u9i_file_open(second, "a", U9I_OPEN_WRITE, &other), 0);
    ck_assert_int_eq(u9i_dir_lock(first), 0);
    ck_assert_int_eq(u9i_file_lock(file), 0);
    for (unsigned closes = 0; closes < 2; closes++) {
        if (fork() != 0) continue;
        close(until[1]);
        if (closes) u9i_file_close(file);
        if (closes) u9i_dir_close(first);
        _exit(write(told[1], "x", 1) != 1 || read(until[0], &word, 1) != 0); /* until the parent lets it go, or is over */
    }
    for (unsigned i = 0; i < 2; i++) ck_assert_int_eq(read(told[0], &word, 1), 1);
    ck_assert_int_eq(u9i_dir_lock(second), -EWOULDBLOCK);
    ck_assert_int_eq(u9i_file_lock(other), -EWOULDBLOCK);
    u9i_file_close(file);
    u9i_dir_close(first);
    ck_assert_int_eq(u9i_dir_lock(second), 0);
    ck_assert_int_eq(u9i_file_lock(other), 0);
    close(until[1]);
    for (unsigned i = 0; i < 2; i++) ck_assert_int_gt(wait(NULL), 0);
    u9i_file_close(other);
    u9i_dir_close(second);
    close(until[0]);
    close(told[0]);
    close(told[1]);
}
END_TEST

START_TEST(a_dir_knows_whether_a_writer_is_at_work) /* */
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *writer = open_new(env, at("dir")), *reader = open_new(env, at("dir")), *file = NULL;
    put_file(writer, "file.u9", "12345", 5);
    ck_assert_int_eq(u9i_dir_open(env, at("dir/file.u9"), false, &file), 0);
    ck_assert(!u9i_dir_writer_active(reader, "file.u9") && !u9i_dir_writer_active(writer, "file.u9") &&
              !u9i_dir_writer_active(file, "file.u9"));
    ck_assert_int_eq(u9i_dir_lock(writer), 0);
    ck_assert(u9i_dir_writer_active(reader, "file.u9") && u9i_dir_writer_active(file, "file.u9"));
    ck_assert(!u9i_dir_writer_active(writer, "file.u9")); /* it has only opened the log so far, and has the lock still: */
    ck_assert_int_eq(u9i_dir_lock(reader), -EWOULDBLOCK);
    writer->writing = true;
    ck_assert(u9i_dir_writer_active(writer, "file.u9") && u9i_dir_writer_active(reader, "file.u9"));
    u9i_dir_close(writer);
    ck_assert(!u9i_dir_writer_active(reader, "file.u9") && !u9i_dir_writer_active(file, "file.u9"));
    u9i_dir_close(file);
    u9i_dir_close(reader);
}
END_TEST

START_TEST(a_file_has_a_lock_and_its_directory_knows) /* [W-1] */
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir")), *reader = open_new(env, at("dir"));
    u9i_file *first = make_file(dir, "a"), *second, *other = make_file(dir, "b");
    ck_assert_int_eq(u9i_file_open(dir, "a", U9I_OPEN_WRITE, &second), 0);
    ck_assert(!u9i_dir_writer_active(reader, "a"));
    ck_assert_int_eq(u9i_file_lock(first), 0);
    ck_assert_int_eq(u9i_file_lock(first), 0);
    ck_assert_int_eq(u9i_file_lock(second), -EWOULDBLOCK);
    ck_assert_int_eq(u9i_file_lock(other), 0);
    ck_assert(u9i_dir_writer_active(reader, "a") && u9i_dir_writer_active(reader, "b"));
    u9i_file_close(other);
    ck_assert(!u9i_dir_writer_active(reader, "b") && !u9i_dir_writer_active(reader, "no"));
    u9i_file_close(first);
    ck_assert_int_eq(u9i_file_lock(second), 0);
    u9i_file_close(second);
    ck_assert(!u9i_dir_writer_active(reader, "a"));
    u9i_dir_close(reader);
    u9i_dir_close(dir);
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
    u9i_env *env = env_row(_i);
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
    u9i_env *env = env_row(_i);
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
    u9i_env *env = env_row(_i);
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
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_file *file;
    put_file(dir, "a", "12345", 5);
    ck_assert_int_eq(u9i_file_open(dir, "a", U9I_OPEN_READ, &file), 0);
    ck_assert_int_eq(u9i_dir_remove(dir, "a"), 0);
    expect_in_file(file, 0, "12345", 5);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(a_mapped_file_shows_its_bytes)
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *dir = open_new(env, at("dir"));
    u9i_file *file;
    const void *map = NULL;
    fill_buffers();
    put_file(dir, "a", buffers, 3 * BLOCK);
    ck_assert_int_eq(u9i_file_open(dir, "a", U9I_OPEN_READ, &file), 0);
    ck_assert_int_eq(u9i_file_map(file, BLOCK, 2 * BLOCK, &map), 0);
    ck_assert_int_eq(memcmp(map, buffers + BLOCK, 2 * BLOCK), 0);
    u9i_unmap(env, map, 2 * BLOCK);
    ck_assert_int_eq(u9i_file_map(file, 1, BLOCK, &map), -EINVAL);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

/* Clock and randomness */

START_TEST(clocks_go_on_and_randomness_is_drawn)
{
    u9i_env *env = env_row(_i);
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

/* From outside */

START_TEST(what_is_no_file_and_no_directory_is_not_opened)
{
    u9i_env *env = env_row(_i);
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
    u9i_env *env = env_row(_i);
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
    u9i_env *uring = u9i_uring_usable() ? &u9i_env_uring : NULL;
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
    ck_assert_ptr_null(chosen("sim"));
    sim_begin(1);
    ck_assert_ptr_eq(chosen("sim"), sim_env()); /* registered: had by its name only */
    ck_assert_ptr_eq(chosen(NULL), best);
    sim_end();
    ck_assert_ptr_null(chosen("sim"));
    if (kept) setenv("U9_IO", kept, 1);
    free(kept);
}
END_TEST

START_TEST(a_log_says_which_env_it_has)
{
    u9i_env *env = env_row(_i);
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

START_TEST(a_directory_has_a_stamp_and_a_machine_its_id) /* [I-22] */
{
    u9i_env *env = env_row(_i);
    if (env == NULL) return;
    u9i_dir *a = open_new(env, at("a")), *b = open_new(env, at("b"));
    u9i_stamp first, again, other;
    ck_assert_int_eq(u9i_dir_stat(a, ".", &first), 0);
    ck_assert_int_eq(u9i_dir_stat(b, ".", &other), 0);
    put_file(a, "file", "x", 1);
    ck_assert_int_eq(u9i_dir_stat(a, ".", &again), 0);
    ck_assert_mem_eq(first.identity, again.identity, sizeof first.identity);
    ck_assert_mem_ne(first.identity, other.identity, sizeof first.identity);
    u9i_dir_close(a);
    u9i_dir_close(b);
    uint8_t ids[2][U9I_MACHINE_SIZE] = {{1}, {2}};
    bool has = u9i_machine(env, ids[0]);
    ck_assert(u9i_machine(env, ids[1]) == has);
    ck_assert((memcmp(ids[0], ids[1], sizeof ids[0]) == 0) == has);
}
END_TEST

Suite *suite_env(void)
{
    const TTest *const anywhere[] = {
        the_same_script_gives_the_same_files, holes_are_known_or_taken_for_data,
        what_was_only_reserved_is_known_or_taken_for_data, files_are_opened_as_asked, names_are_listed,
        what_is_posted_is_seen_and_told_of_and_goes_when_it_is_taken_away,
        a_dir_is_made_only_when_asked_for, a_lock_is_had_by_one_at_a_time,
        a_dir_knows_whether_a_writer_is_at_work, a_file_has_a_lock_and_its_directory_knows, a_name_has_a_stamp_that_changes_with_what_it_stands_for,
        a_file_takes_another_name_or_a_second_one_and_loses_it,
        a_directory_is_renamed_and_when_it_is_empty_removed,
        a_file_removed_while_it_is_open_is_still_read, a_mapped_file_shows_its_bytes,
        clocks_go_on_and_randomness_is_drawn, a_directory_has_a_stamp_and_a_machine_its_id, a_log_says_which_env_it_has};
    const TTest *const on_the_host[] = {
        what_is_no_file_and_no_directory_is_not_opened, a_writer_waits_for_who_only_asks_but_not_forever,
        a_lock_goes_with_who_has_it_and_with_no_child_of_his};
    const TTest *const once[] = {an_env_is_chosen_by_name_or_by_the_environment_or_the_best};
    Suite *suite = suite_create("env");
    TCase *first = tcase_create("anywhere"), *second = tcase_create("on the host");
    TCase *third = tcase_create("choice");
    add_rows(first, anywhere, sizeof anywhere / sizeof anywhere[0], ENV_ROWS);
    add_rows(second, on_the_host, sizeof on_the_host / sizeof on_the_host[0], ENV_HOST_ROWS);
    add_rows(third, once, 1, 1);
    suite_add_tcase(suite, first);
    suite_add_tcase(suite, second);
    suite_add_tcase(suite, third);
    return suite;
}
