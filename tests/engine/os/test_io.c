/*
 * tests/engine/os/test_io.c: the io tables do the same: one script of operations on each, the same answers and
 * the same files; and which table a log gets. [W-1]
 */
#include "tests/engine/os/fault_io.h"
#include "tests/engine/fixture.h"
#include "tests/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFERS = 8, BUFFER = 1 << 16, BLOCK = 4096 };

/* The tables that can be used here, once more with the faulty one on top; by loop index. */
enum { TABLES = 4 };

static const u9i_io_table *table_of(int i)
{
    const u9i_io_table *table = i % 2 ? &u9i_io_uring : &u9i_io_posix;
    if (i % 2 && !u9i_uring_usable()) return NULL;
    if (i < 2) return table;
    fault_io_reset(table);
    fault_io_sync_for_real(true);
    if (i == 2) fault_io_order(FAULT_REVERSED);
    return u9i_io_choose("faulty");
}

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

static u9i_io *mount_new(const u9i_io_table *table, const char *path)
{
    u9i_io *io = NULL;
    ck_assert_int_eq(table->mount(path, true, &io), 0);
    ck_assert_ptr_eq(io->table, table);
    ck_assert_str_eq(io->single, "");
    return io;
}

static u9i_file *make(u9i_io *io, const char *name)
{
    u9i_file *file = NULL;
    ck_assert_int_eq(io->table->open(io, name, U9I_OPEN_CREATE, &file), 0);
    return file;
}

/* Waits for `count` completions; every tag below it comes once, without an error. */
static void reap_all(u9i_io *io, unsigned count)
{
    bool seen_tag[U9I_IO_DEPTH] = {0};
    u9i_done done;
    for (unsigned i = 0; i < count; i++) {
        ck_assert_int_eq(io->table->reap(io, true, &done), 0);
        ck_assert_int_eq(done.error, 0);
        ck_assert_uint_lt(done.tag, count);
        ck_assert(!seen_tag[done.tag]);
        seen_tag[done.tag] = true;
    }
    ck_assert_int_eq(io->table->reap(io, false, &done), -EAGAIN);
}

static void sync_file(u9i_file *file)
{
    ck_assert_int_eq(file->io->table->sync(file, 0), 0);
    reap_all(file->io, 1);
}

static void expect_bytes(u9i_file *file, uint64_t off, const void *bytes, size_t n)
{
    uint8_t *buf = malloc(n + 1);
    size_t got = 0;
    ck_assert_int_eq(file->io->table->read(file, off, buf, n, &got), 0);
    ck_assert_uint_eq(got, n);
    ck_assert_int_eq(memcmp(buf, bytes, n), 0);
    free(buf);
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

/* Many writes at once into two files, in no order of offsets, then a smaller size. */
static void write_script(u9i_io *io)
{
    const u9i_io_table *t = io->table;
    u9i_file *a = make(io, "a.u9"), *b = make(io, "b.u9");
    unsigned tag = 0;
    for (size_t i = 0; i < (size_t)BUFFERS * BUFFER; i++) buffers[i] = (uint8_t)(i * 2654435761u >> 24);
    ck_assert_int_eq(t->start(io, buffers, BUFFER, BUFFERS), 0);
    ck_assert_int_eq(t->reserve(a, 10 * BUFFER), 0);
    for (unsigned i = 0; i < BUFFERS; i++) {
        unsigned at = (i * 5 + 3) % BUFFERS;
        u9i_file *file = i % 2 ? a : b;
        const uint8_t *buf = buffers + (size_t)i * BUFFER;
        ck_assert_int_eq(t->write(file, (uint64_t)at * BUFFER, buf, BUFFER - BLOCK, tag++), 0);
        ck_assert_int_eq(t->write(file, (uint64_t)(at + 1) * BUFFER - BLOCK, buf + BUFFER - BLOCK,
                                  BLOCK, tag++),
                         0);
    }
    reap_all(io, tag);
    sync_file(a);
    sync_file(b);
    ck_assert_int_eq(t->sync_dir(io), 0);
    for (unsigned i = 0; i < BUFFERS; i++)
        expect_bytes(i % 2 ? a : b, (uint64_t)((i * 5 + 3) % BUFFERS) * BUFFER,
                     buffers + (size_t)i * BUFFER, BUFFER);
    ck_assert_int_eq(t->cut(a, 5 * BUFFER + BLOCK), 0);
    ck_assert_int_eq(t->cut(b, 5 * BUFFER + 100), 0);
    ck_assert_int_eq(t->settle(a), 0);
    t->close(a);
    t->close(b);
}

START_TEST(the_same_script_gives_the_same_files)
{
    const u9i_io_table *table = table_of(_i);
    if (table == NULL) return;
    for (unsigned n = 0; n < 2; n++) {
        u9i_io *io = mount_new(n ? table : &u9i_io_posix, at(n ? "here" : "there"));
        write_script(io);
        io->table->unmount(io);
    }
    for (unsigned n = 0; n < 2; n++) {
        size_t size[2];
        char path[2][40];
        snprintf(path[0], sizeof path[0], "here/%c.u9", "ab"[n]);
        snprintf(path[1], sizeof path[1], "there/%c.u9", "ab"[n]);
        uint8_t *here = read_file(at(path[0]), &size[0]), *there = read_file(at(path[1]), &size[1]);
        ck_assert_uint_eq(size[0], size[1]);
        ck_assert_uint_eq(size[0], n ? 5 * BUFFER + 100 : 5 * BUFFER + BLOCK);
        ck_assert_int_eq(memcmp(here, there, size[0]), 0);
        free(here);
        free(there);
    }
}
END_TEST

START_TEST(files_are_opened_as_asked)
{
    const u9i_io_table *t = table_of(_i);
    if (t == NULL) return;
    u9i_io *io = mount_new(t, at("dir"));
    u9i_file *file = NULL;
    uint64_t size = 7;
    uint8_t buf[10];
    size_t got;
    ck_assert_int_eq(t->open(io, "no", U9I_OPEN_READ, &file), -ENOENT);
    ck_assert_int_eq(t->open(io, "no", U9I_OPEN_WRITE, &file), -ENOENT);
    ck_assert_ptr_null(file);
    file = make(io, "new");
    ck_assert_int_eq(t->size(file, &size), 0);
    ck_assert_uint_eq(size, 0);
    ck_assert_int_eq(t->read(file, 0, buf, sizeof buf, &got), 0);
    ck_assert_uint_eq(got, 0);
    t->close(file);
    ck_assert_int_eq(t->open(io, "new", U9I_OPEN_CREATE, &file), -EEXIST);
    write_file(at("dir/new"), "0123456789", 10);
    ck_assert_int_eq(t->open(io, "new", U9I_OPEN_READ, &file), 0);
    ck_assert_int_eq(t->read(file, 7, buf, sizeof buf, &got), 0);
    ck_assert_uint_eq(got, 3); /* less only at the end of the file */
    ck_assert_int_eq(memcmp(buf, "789", 3), 0);
    ck_assert_int_eq(t->read(file, 1000, buf, sizeof buf, &got), 0);
    ck_assert_uint_eq(got, 0);
    t->close(file);
    ck_assert_int_eq(mkdir(at("dir/sub"), 0700), 0);
    ck_assert_int_lt(t->open(io, "sub", U9I_OPEN_READ, &file), 0);
    ck_assert_int_lt(t->open(io, "sub", U9I_OPEN_WRITE, &file), 0);
    ck_assert_int_eq(mkfifo(at("dir/fifo"), 0600), 0);
    ck_assert_int_lt(t->open(io, "fifo", U9I_OPEN_READ, &file), 0); /* and does not wait */
    t->unmount(io);
}
END_TEST

START_TEST(names_are_listed)
{
    const u9i_io_table *t = table_of(_i);
    if (t == NULL) return;
    u9i_io *io = mount_new(t, at("dir"));
    char names[100] = "";
    ck_assert_int_eq(t->list(io, collect, names), 0);
    ck_assert_str_eq(names, "");
    for (unsigned i = 0; i < 3; i++) t->close(make(io, i == 0 ? "x" : i == 1 ? "y" : "z"));
    ck_assert_int_eq(t->list(io, collect, names), 0);
    ck_assert_uint_eq(strlen(names), 6);
    ck_assert(strstr(names, "x ") && strstr(names, "y ") && strstr(names, "z "));
    ck_assert_int_eq(t->list(io, stop_at_once, NULL), 42);
    t->unmount(io);
}
END_TEST

START_TEST(what_cannot_be_mounted_is_told)
{
    const u9i_io_table *t = table_of(_i);
    if (t == NULL) return;
    u9i_io *io = NULL;
    ck_assert_int_eq(t->mount(at("no"), false, &io), -ENOENT);
    ck_assert_int_eq(t->mount(at("no/log"), true, &io), -ENOENT);
    ck_assert_int_eq(mkfifo(at("fifo"), 0600), 0);
    ck_assert_int_eq(t->mount(at("fifo"), false, &io), -EINVAL);
    ck_assert_ptr_null(io);
    write_file(at("file.u9"), "12345", 5);
    ck_assert_int_eq(t->mount(at("file.u9"), false, &io), 0);
    ck_assert_str_eq(io->single, "file.u9");
    u9i_file *file;
    ck_assert_int_eq(t->open(io, io->single, U9I_OPEN_READ, &file), 0);
    expect_bytes(file, 0, "12345", 5);
    t->close(file);
    t->unmount(io);
}
END_TEST

START_TEST(a_lock_is_had_by_one_at_a_time) /* [W-1] */
{
    const u9i_io_table *t = table_of(_i);
    if (t == NULL) return;
    u9i_io *first = mount_new(t, at("dir")), *second = mount_new(t, at("dir"));
    ck_assert_int_eq(t->lock(first), 0);
    ck_assert_int_eq(t->lock(second), -EWOULDBLOCK);
    t->unmount(first);
    ck_assert_int_eq(t->lock(second), 0);
    t->unmount(second);
}
END_TEST

START_TEST(a_mount_knows_whether_a_writer_is_at_work) /* */
{
    const u9i_io_table *t = table_of(_i);
    if (t == NULL) return;
    u9i_io *writer = mount_new(t, at("dir")), *reader = mount_new(t, at("dir")), *file = NULL;
    write_file(at("dir/file.u9"), "12345", 5);
    ck_assert_int_eq(t->mount(at("dir/file.u9"), false, &file), 0);
    ck_assert(!t->busy(reader) && !t->busy(writer) && !t->busy(file));
    ck_assert_int_eq(t->lock(writer), 0);
    ck_assert(t->busy(reader) && t->busy(file));
    ck_assert(!t->busy(writer)); /* it has only opened the log so far, and has the lock still: */
    ck_assert_int_eq(t->lock(reader), -EWOULDBLOCK);
    ck_assert_int_eq(t->start(writer, buffers, BUFFER, BUFFERS), 0);
    ck_assert(t->busy(writer) && t->busy(reader));
    t->unmount(writer);
    ck_assert(!t->busy(reader) && !t->busy(file));
    t->unmount(file);
    t->unmount(reader);
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
    const u9i_io_table *t = table_of(_i);
    if (t == NULL) return;
    u9i_io *writer = mount_new(t, at("dir"));
    int asks = open(at("dir"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(asks, LOCK_SH), 0);
    if (_i == 0) ck_assert_int_eq(t->lock(writer), -EWOULDBLOCK);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, let_go, &asks), 0);
    ck_assert_int_eq(t->lock(writer), 0);
    pthread_join(thread, NULL);
    t->unmount(writer);
}
END_TEST

START_TEST(no_more_than_its_depth_is_taken_and_the_rest_not_done)
{
    const u9i_io_table *t = table_of(_i);
    if (t == NULL) return;
    u9i_io *io = mount_new(t, at("dir"));
    u9i_file *file = make(io, "a");
    ck_assert_int_eq(t->start(io, buffers, BUFFER, BUFFERS), 0);
    memset(buffers, 1, BLOCK);
    for (unsigned i = 0; i < U9I_IO_DEPTH; i++)
        ck_assert_int_eq(t->write(file, (uint64_t)i * BLOCK, buffers, BLOCK, i), 0);
    ck_assert_int_eq(t->write(file, (uint64_t)U9I_IO_DEPTH * BLOCK, buffers, BLOCK, 0), -EBUSY);
    ck_assert_int_eq(t->sync(file, 0), -EBUSY);
    reap_all(io, U9I_IO_DEPTH);
    ck_assert_uint_eq(file_size(at("dir/a")), U9I_IO_DEPTH * BLOCK);
    sync_file(file);
    t->close(file);
    t->unmount(io);
}
END_TEST

START_TEST(a_buffer_that_was_not_told_of_can_be_written_from)
{
    const u9i_io_table *t = table_of(_i);
    if (t == NULL) return;
    u9i_io *io = mount_new(t, at("dir"));
    u9i_file *file = make(io, "a");
    ck_assert_int_eq(t->start(io, buffers, BUFFER, 2), 0);
    memset(buffers, 3, (size_t)BUFFERS * BUFFER);
    ck_assert_int_eq(t->write(file, 0, buffers + 3 * BUFFER, BLOCK, 0), 0); /* behind what was told */
    ck_assert_int_eq(t->write(file, BLOCK, buffers + 3 * BUFFER + 8, BLOCK, 1), 0); /* and askew */
    reap_all(io, 2);
    expect_bytes(file, 0, buffers, 2 * BLOCK);
    t->close(file);
    t->unmount(io);
}
END_TEST

START_TEST(a_write_cut_short_by_a_limit_is_an_error_not_a_short_write)
{
    const u9i_io_table *t = table_of(_i);
    if (t == NULL) return;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        struct rlimit limit;
        u9i_io *io;
        u9i_file *file;
        u9i_done done = {.error = 0};
        signal(SIGXFSZ, SIG_IGN);
        alarm(50);
        if (t->mount(at("dir"), true, &io) != 0 || t->start(io, buffers, BUFFER, BUFFERS) != 0 ||
            t->open(io, "a", U9I_OPEN_CREATE, &file) != 0 || getrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(2);
        limit.rlim_cur = 6000;
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(3);
        if (t->reserve(file, 8192) != -EFBIG) _exit(4);
        if (t->write(file, 0, buffers, 8192, 5) != 0 || t->reap(io, true, &done) != 0) _exit(5);
        _exit(done.tag == 5 && done.error == -EFBIG ? 0 : 6);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(a_table_is_chosen_by_name_or_by_the_environment_or_the_best)
{
    const u9i_io_table *best = u9i_uring_usable() ? &u9i_io_uring : &u9i_io_posix;
    const u9i_io_table *uring = u9i_uring_usable() ? &u9i_io_uring : NULL;
    const char *before = getenv("U9_IO");
    char *kept = before ? strdup(before) : NULL;
    unsetenv("U9_IO");
    ck_assert_ptr_eq(u9i_io_choose(NULL), best);
    ck_assert_ptr_eq(u9i_io_choose(""), best);
    ck_assert_ptr_eq(u9i_io_choose("posix"), &u9i_io_posix);
    ck_assert_ptr_eq(u9i_io_choose("uring"), uring);
    ck_assert_ptr_null(u9i_io_choose("POSIX"));
    ck_assert_ptr_null(u9i_io_choose("ring"));
    setenv("U9_IO", "", 1);
    ck_assert_ptr_eq(u9i_io_choose(NULL), best);
    setenv("U9_IO", "posix", 1);
    ck_assert_ptr_eq(u9i_io_choose(NULL), &u9i_io_posix);
    ck_assert_ptr_eq(u9i_io_choose(""), &u9i_io_posix);
    ck_assert_ptr_eq(u9i_io_choose("uring"), uring); /* a name is stronger */
    setenv("U9_IO", "uring", 1);
    ck_assert_ptr_eq(u9i_io_choose(NULL), uring);
    ck_assert_ptr_eq(u9i_io_choose("posix"), &u9i_io_posix);
    setenv("U9_IO", "nonsense", 1);
    ck_assert_ptr_null(u9i_io_choose(NULL));
    ck_assert_ptr_eq(u9i_io_choose("posix"), &u9i_io_posix);
    unsetenv("U9_IO");
    ck_assert_ptr_null(u9i_io_choose("faulty"));
    fault_io_reset(&u9i_io_posix);
    ck_assert_str_eq(u9i_io_choose("faulty")->name, "faulty"); /* offered: had by its name only */
    ck_assert_ptr_eq(u9i_io_choose(NULL), best);
    u9i_io_offer(NULL);
    ck_assert_ptr_null(u9i_io_choose("faulty"));
    if (kept) setenv("U9_IO", kept, 1);
    free(kept);
}
END_TEST

START_TEST(a_log_says_which_table_it_has)
{
    const u9i_io_table *t = table_of(_i);
    if (t == NULL) return;
    u9_options o = writer_options();
    o.io = t->name;
    u9_log *w = open_writer(at("log"), &o);
    ck_assert_str_eq(u9_log_io(w), t->name);
    append_many(w, "a", 300, 50);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 300);
    forget(s);
}
END_TEST

Suite *suite_io(void)
{
    Suite *suite = suite_create("io");
    TCase *tables = tcase_create("tables");
    tcase_add_checked_fixture(tables, setup, teardown);
    tcase_set_timeout(tables, 60);
    tcase_add_loop_test(tables, the_same_script_gives_the_same_files, 0, TABLES);
    tcase_add_loop_test(tables, files_are_opened_as_asked, 0, TABLES);
    tcase_add_loop_test(tables, names_are_listed, 0, TABLES);
    tcase_add_loop_test(tables, what_cannot_be_mounted_is_told, 0, TABLES);
    tcase_add_loop_test(tables, a_lock_is_had_by_one_at_a_time, 0, TABLES);
    tcase_add_loop_test(tables, a_mount_knows_whether_a_writer_is_at_work, 0, TABLES);
    tcase_add_loop_test(tables, a_writer_waits_for_who_only_asks_but_not_forever, 0, TABLES);
    tcase_add_loop_test(tables, no_more_than_its_depth_is_taken_and_the_rest_not_done, 0, TABLES);
    tcase_add_loop_test(tables, a_buffer_that_was_not_told_of_can_be_written_from, 0, TABLES);
    tcase_add_loop_test(tables, a_write_cut_short_by_a_limit_is_an_error_not_a_short_write, 0, TABLES);
    tcase_add_loop_test(tables, a_log_says_which_table_it_has, 0, TABLES);
    tcase_add_test(tables, a_table_is_chosen_by_name_or_by_the_environment_or_the_best);
    suite_add_tcase(suite, tables);
    return suite;
}
