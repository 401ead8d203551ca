/*
 * tests/rados/test_files.c: directories and files in objects: what the engine relies on at its door. [RD-1] [RD-2] [RD-4]
 * [RD-8] [RD-9]
 */
#include "rados/rados.h"
#include "tests/rados/fixture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <rados/librados.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static u9i_dir *open_dir_at(const char *name)
{
    u9i_dir *dir;
    const char *path = address(name, "&grace=0");
    u9i_env *env = env_at(&path);
    ck_assert_int_eq(u9i_dir_open(env, path, true, &dir), 0);
    return dir;
}

static u9i_file *open_file_in(u9i_dir *dir, const char *name, u9i_open_mode mode)
{
    u9i_file *file;
    ck_assert_int_eq(u9i_file_open(dir, name, mode, &file), 0);
    return file;
}

static void put(u9i_file *file, uint64_t off, void *bytes, size_t n)
{
    u9i_queue *queue;
    u9i_op op = {.kind = U9I_OP_WRITE, .file = file, .off = off, .buf = bytes, .n = n};
    ck_assert_int_eq(u9i_queue_open(file->env, NULL, 0, 0, &queue), 0);
    ck_assert_int_eq(u9i_queue_do(queue, &op), (int64_t)n);
    u9i_queue_close(queue);
}

static uint64_t size_in(u9i_dir *dir, const char *name)
{
    u9i_stamp stamp;
    ck_assert_int_eq(u9i_dir_stat(dir, name, &stamp), 0);
    return stamp.size;
}

static uint8_t *pattern(size_t n)
{
    uint8_t *bytes = malloc(n);
    for (size_t i = 0; i < n; i++) bytes[i] = (uint8_t)(i * 31 + i / 4096);
    return bytes;
}

/* Open (its objects tell its size), and settled (its entry does). */
START_TEST(a_file_over_several_objects_reads_back_and_has_its_size)
{
    size_t n = 9 * MIB + 123, got;
    uint8_t *bytes = pattern(n), *back = malloc(n + 1000);
    u9i_dir *dir = open_dir_at("files");
    if (_i == 1) ck_assert_int_eq(u9i_dir_lock(dir), 0);
    u9i_file *file = open_file_in(dir, "large", U9I_OPEN_CREATE);
    put(file, 0, bytes, n);
    for (unsigned settled = 0; settled < 2; settled++) {
        ck_assert_uint_eq(size_in(dir, "large"), n);
        u9i_file *reader = open_file_in(dir, "large", U9I_OPEN_READ);
        ck_assert_int_eq(u9i_file_read(reader, 0, back, n + 1000, &got), 0);
        ck_assert_uint_eq(got, n);
        ck_assert_mem_eq(back, bytes, n);
        ck_assert_int_eq(u9i_file_read(reader, 4 * MIB - 7, back, 20, &got), 0);
        ck_assert_mem_eq(back, bytes + 4 * MIB - 7, 20);
        ck_assert_int_eq(u9i_file_read(reader, n, back, 20, &got), 0);
        ck_assert_uint_eq(got, 0);
        u9i_file_close(reader);
        if (settled == 0) u9i_file_close(file);
    }
    ck_assert_int_eq(u9i_dir_remove(dir, "large"), 0);
    u9i_dir_close(dir);
    free(bytes);
    free(back);
}
END_TEST

static void lose_object(u9i_dir *dir, const char *name, uint32_t index)
{
    u9r_dir *d = u9r_dir_of(dir);
    u9r_entry entry;
    char oid[U9R_OID_MAX];
    ck_assert_int_eq(u9r_entry_get(u9r_env_of_dir(d), d->oid, name, &entry), 0);
    u9r_data_oid(entry.inode, index, oid);
    ck_assert_int_eq(rados_remove(u9r_env_of_dir(d)->io, oid), 0);
}

/* No zeros are made up for it. */
START_TEST(an_object_of_a_settled_file_that_is_lost_cannot_be_read)
{
    size_t n = 9 * MIB + 123, got;
    uint8_t *bytes = pattern(n), *back = malloc(n);
    u9i_dir *dir = open_dir_at("lost");
    u9i_file *file = open_file_in(dir, "large", U9I_OPEN_CREATE);
    u9i_queue *queue;
    put(file, 0, bytes, n);
    u9i_file_close(file);
    lose_object(dir, "large", 1);
    file = open_file_in(dir, "large", U9I_OPEN_READ);
    u9i_op op = {.kind = U9I_OP_READ, .file = file, .off = 3 * MIB, .buf = back, .n = 2 * MIB};
    ck_assert_int_eq(u9i_file_read(file, 0, back, n, &got), -ENODATA);
    ck_assert_int_eq(u9i_file_read(file, 5 * MIB, back, 10, &got), -ENODATA);
    ck_assert_int_eq(u9i_queue_open(file->env, NULL, 0, 0, &queue), 0);
    ck_assert_int_eq(u9i_queue_do(queue, &op), -ENODATA);
    u9i_queue_close(queue);
    ck_assert_int_eq(u9i_file_read(file, 0, back, 4 * MIB, &got), 0);
    ck_assert_uint_eq(got, 4 * MIB);
    ck_assert_int_eq(u9i_file_read(file, 8 * MIB, back + 8 * MIB, n, &got), 0);
    ck_assert_uint_eq(got, n - 8 * MIB);
    ck_assert_mem_eq(back, bytes, 4 * MIB);
    ck_assert_mem_eq(back + 8 * MIB, bytes + 8 * MIB, got);
    u9i_file_close(file);
    u9i_dir_close(dir);
    free(bytes);
    free(back);
}
END_TEST

/* [RD-4] Its size is what its objects say. */
START_TEST(a_file_is_not_settled_over_a_write_that_failed_whose_result_nobody_took)
{
    uint8_t *bytes = pattern(MIB);
    u9i_dir *dir = open_dir_at("unsettled");
    u9i_file *file = open_file_in(dir, "file", U9I_OPEN_CREATE);
    u9i_op op = {.kind = U9I_OP_WRITE, .file = file, .off = MIB, .buf = bytes, .n = MIB};
    u9i_queue *queue;
    u9r_entry entry;
    put(file, 0, bytes, MIB);
    lose_object(dir, "file", 0);
    ck_assert_int_eq(u9i_queue_open(file->env, NULL, 0, 0, &queue), 0);
    ck_assert_int_eq(u9i_queue_submit(queue, &op, 1), 0);
    u9i_queue_settle(queue);
    u9i_queue_close(queue);
    u9i_file_close(file);
    ck_assert_int_eq(u9r_entry_get(u9r_env_of(dir->env), u9r_dir_of(dir)->oid, "file", &entry), 0);
    ck_assert(entry.open);
    u9i_dir_close(dir);
    free(bytes);
}
END_TEST

static u9i_file *grows; /* NULL, or gets more bytes when a size is asked for next */

/* In the place of librados's. */
int rados_aio_stat(rados_ioctx_t io, const char *oid, rados_completion_t done, uint64_t *size, time_t *when)
{
    int (*real)(rados_ioctx_t, const char *, rados_completion_t, uint64_t *, time_t *);
    void *found = dlsym(RTLD_NEXT, "rados_aio_stat");
    memcpy(&real, &found, sizeof real);
    u9i_file *file = grows;
    grows = NULL;
    if (file) put(file, 5, (char[]){"-more"}, 5);
    return real(io, oid, done, size, when);
}

/* Beside a writer: what came between the bytes and the size is not zeros. By a call, and by a queue. */
START_TEST(a_read_at_the_end_of_a_file_that_grows_makes_no_zeros_up)
{
    char back[100] = "";
    size_t got = 0;
    u9i_dir *dir = open_dir_at(_i == 0 ? "grows" : "grows.queued");
    u9i_file *file = open_file_in(dir, "file", U9I_OPEN_CREATE), *reader;
    u9i_queue *queue;
    put(file, 0, (char[]){"bytes"}, 5);
    reader = open_file_in(dir, "file", U9I_OPEN_READ);
    u9i_op op = {.kind = U9I_OP_READ, .file = reader, .buf = back, .n = sizeof back};
    ck_assert_int_eq(u9i_queue_open(reader->env, NULL, 0, 0, &queue), 0);
    grows = file;
    if (_i == 0) ck_assert_int_eq(u9i_file_read(reader, 0, back, sizeof back, &got), 0);
    else got = (size_t)u9i_queue_do(queue, &op);
    ck_assert_ptr_null(grows);
    ck_assert_uint_ge(got, 5);
    ck_assert_mem_eq(back, "bytes-more", got);
    u9i_queue_close(queue);
    u9i_file_close(reader);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

/* [RD-12] By two handles that have not the log; longer than a lease, and until it is closed. */
START_TEST(a_file_is_locked_by_one)
{
    u9i_dir *first = open_dir_at("holds"), *second = open_dir_at("holds");
    u9i_file *a = open_file_in(first, "file", U9I_OPEN_CREATE), *b = open_file_in(second, "file", U9I_OPEN_WRITE);
    u9i_file *other = open_file_in(second, "other", U9I_OPEN_CREATE);
    ck_assert_int_eq(u9i_file_lock(a), 0);
    ck_assert_int_eq(u9i_file_lock(a), 0);
    ck_assert_int_eq(u9i_file_lock(b), -EWOULDBLOCK);
    ck_assert_int_eq(u9i_file_lock(other), 0);
    u9i_sleep_us(first->env, (LEASE_S * 1000 + 500) * 1000);
    ck_assert_int_eq(u9i_file_lock(b), -EWOULDBLOCK);
    u9i_file_close(a);
    ck_assert_int_eq(u9i_file_lock(b), 0);
    u9i_file_close(b);
    u9i_file_close(other);
    u9i_dir_close(second);
    u9i_dir_close(first);
}
END_TEST

/* Nothing is read or written behind it, and the queue can be used again. */
START_TEST(a_queue_that_is_settled_has_nothing_under_way)
{
    enum { WRITES = 4 };
    uint8_t *bytes = pattern(WRITES * MIB), *back = malloc(WRITES * MIB);
    u9i_dir *dir = open_dir_at("settled");
    u9i_file *file = open_file_in(dir, "file", U9I_OPEN_CREATE);
    u9i_queue *queue;
    u9i_op ops[WRITES];
    u9i_completion none;
    size_t got;
    for (unsigned i = 0; i < WRITES; i++)
        ops[i] = (u9i_op){.kind = U9I_OP_WRITE, .file = file, .off = i * MIB, .buf = bytes + i * MIB, .n = MIB};
    ck_assert_int_eq(u9i_queue_open(file->env, NULL, 0, 0, &queue), 0);
    ck_assert_int_eq(u9i_queue_submit(queue, ops, WRITES), 0);
    u9i_queue_settle(queue);
    ck_assert_int_eq(u9i_file_read(file, 0, back, WRITES * MIB, &got), 0);
    ck_assert_uint_eq(got, WRITES * MIB);
    ck_assert_mem_eq(back, bytes, WRITES * MIB);
    ck_assert_int_eq(u9i_queue_wait(queue, &none, 1, 0), 0);
    ck_assert_int_eq(u9i_queue_do(queue, ops), MIB);
    u9i_queue_close(queue);
    u9i_file_close(file);
    u9i_dir_close(dir);
    free(bytes);
    free(back);
}
END_TEST

START_TEST(a_size_that_is_set_cuts_and_extends_with_zeros)
{
    static const uint64_t sizes[] = {9 * MIB, 8 * MIB, 5 * MIB + 3, 4 * MIB, 100, 0, 13 * MIB + 1};
    uint8_t *bytes = pattern(9 * MIB), *back = malloc(14 * MIB);
    uint64_t least = 9 * MIB;
    u9i_dir *dir = open_dir_at("sizes");
    ck_assert_int_eq(u9i_dir_lock(dir), 0);
    u9i_file *file = open_file_in(dir, "f", U9I_OPEN_CREATE);
    put(file, 0, bytes, 9 * MIB);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t got;
        ck_assert_int_eq(u9i_file_truncate(file, sizes[i]), 0);
        if (sizes[i] < least) least = sizes[i];
        ck_assert_uint_eq(size_in(dir, "f"), sizes[i]);
        ck_assert_int_eq(u9i_file_read(file, 0, back, 14 * MIB, &got), 0);
        ck_assert_uint_eq(got, sizes[i]);
        ck_assert_int_eq(memcmp(back, bytes, least), 0);
        for (size_t k = least; k < got; k++) ck_assert_uint_eq(back[k], 0);
    }
    u9i_file_close(file);
    ck_assert_uint_eq(size_in(dir, "f"), 13 * MIB + 1);
    u9i_dir_close(dir);
    free(bytes);
    free(back);
}
END_TEST

static int count_names(void *ctx, const char *name)
{
    (void)name;
    ++*(unsigned *)ctx;
    return 0;
}

START_TEST(names_are_made_once_moved_and_taken_away)
{
    u9i_dir *dir = open_dir_at("names"), *inner;
    u9i_file *file = open_file_in(dir, "a", U9I_OPEN_CREATE), *other;
    uint64_t was[2], is[2];
    unsigned count = 0;
    ck_assert_int_eq(u9i_file_open(dir, "a", U9I_OPEN_CREATE, &other), -EEXIST);
    ck_assert_int_eq(u9i_file_open(dir, "b", U9I_OPEN_WRITE, &other), -ENOENT);
    put(file, 0, "abc", 3);
    ck_assert_int_eq(u9i_dir_identify(dir, "a", was), 0);
    ck_assert_int_eq(u9i_dir_rename(dir, "a", "b"), 0); /* while it is open: it is settled under its new name */
    u9i_file_close(file);
    ck_assert_int_eq(u9i_dir_identify(dir, "b", is), 0);
    ck_assert_mem_eq(was, is, sizeof is);
    ck_assert_uint_eq(size_in(dir, "b"), 3);
    u9i_file_close(open_file_in(dir, "c", U9I_OPEN_CREATE));
    ck_assert_int_eq(u9i_dir_rename(dir, "b", "c"), 0);
    ck_assert_int_eq(u9i_dir_list(dir, count_names, &count), 0);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(size_in(dir, "c"), 3);
    const char *path = address("names/in", "&grace=0");
    u9i_env *env = env_at(&path);
    ck_assert_int_eq(u9i_dir_open(env, path, true, &inner), 0);
    u9i_file_close(open_file_in(inner, "x", U9I_OPEN_CREATE));
    ck_assert_int_eq(u9i_dir_remove(dir, "in"), -ENOTEMPTY);
    ck_assert_int_eq(u9i_dir_remove(inner, "x"), 0);
    u9i_dir_close(inner);
    ck_assert_int_eq(u9i_dir_remove(dir, "in"), 0);
    ck_assert_int_eq(u9i_dir_remove(dir, "in"), -ENOENT);
    u9i_dir_close(dir);
}
END_TEST

/* Zeros are no answer where the bytes were taken away. */
START_TEST(a_file_that_is_removed_is_read_for_its_grace_and_is_an_error_then)
{
    char got_bytes[4];
    size_t got;
    u9i_dir *dir = open_dir_at("removed");
    ck_assert_int_eq(u9i_dir_lock(dir), 0);
    u9i_file *file = open_file_in(dir, "a", U9I_OPEN_CREATE);
    put(file, 0, "abc", 3);
    u9i_file_close(file);
    file = open_file_in(dir, "a", U9I_OPEN_READ);
    ck_assert_int_eq(u9i_dir_remove(dir, "a"), 0); /* no grace: its objects go at once */
    ck_assert_int_eq(u9i_file_read(file, 0, got_bytes, 3, &got), -ESTALE);
    u9i_file_close(file);
    u9i_dir_close(dir);
}
END_TEST

START_TEST(who_watches_is_told_of_names_and_posts)
{
    char bytes[8];
    size_t got;
    u9i_dir *dir = open_dir_at("watched"), *other = open_dir_at("watched");
    u9i_watch *watch;
    ck_assert_int_eq(u9i_watch_open(dir, ".post", false, &watch), 0);
    ck_assert_int_eq(u9i_dir_posted(dir, ".post", bytes, 8, &got), -ENOENT);
    u9i_file_close(open_file_in(other, "new", U9I_OPEN_CREATE));
    ck_assert_int_eq(u9i_watch_wait(watch, u9i_monotonic_us(dir->env) + 20000000), 1);
    ck_assert_int_eq(u9i_dir_post(other, ".post", "told", 4), 0);
    do ck_assert_int_eq(u9i_watch_wait(watch, u9i_monotonic_us(dir->env) + 20000000), 1);
    while (u9i_dir_posted(dir, ".post", bytes, 8, &got) != 0);
    ck_assert_uint_eq(got, 4);
    ck_assert_mem_eq(bytes, "told", 4);
    ck_assert_int_eq(u9i_dir_post(other, ".post", NULL, 0), 0);
    ck_assert_int_eq(u9i_dir_posted(dir, ".post", bytes, 8, &got), -ENOENT);
    u9i_watch_close(watch);
    u9i_dir_close(dir);
    u9i_dir_close(other);
}
END_TEST

/* Not all at once: a word that went out before says nothing of what comes behind it. */
START_TEST(who_watches_is_told_of_the_last_of_some_writes_too) /* [RD-9] */
{
    u9i_dir *dir = open_dir_at("written"), *other = open_dir_at("written");
    u9i_file *file = open_file_in(other, "a", U9I_OPEN_CREATE);
    u9i_watch *watch;
    ck_assert_int_eq(u9i_watch_open(dir, ".post", true, &watch), 0);
    for (unsigned i = 1; i <= 20; i++) {
        put(file, i - 1, "x", 1);
        do ck_assert_int_eq(u9i_watch_wait(watch, u9i_monotonic_us(dir->env) + 8000000), 1);
        while (size_in(dir, "a") < i);
    }
    u9i_watch_close(watch);
    u9i_file_close(file);
    u9i_dir_close(dir);
    u9i_dir_close(other);
}
END_TEST

static atomic_uint unwatched;

/* In the place of librados's. */
int rados_unwatch2(rados_ioctx_t io, uint64_t cookie)
{
    int (*real)(rados_ioctx_t, uint64_t);
    void *found = dlsym(RTLD_NEXT, "rados_unwatch2");
    memcpy(&real, &found, sizeof real);
    unwatched++;
    return real(io, cookie);
}

/* The client has given up what a watch that was refused stood for: to end that is to use freed memory of its. */
START_TEST(a_watch_that_was_refused_is_not_ended_in_the_cluster)
{
    u9i_dir *root = open_dir_at(""), *dir = open_dir_at("leaves");
    u9i_watch *watch;
    ck_assert_int_eq(u9i_watch_open(dir, ".post", false, &watch), 0);
    ck_assert_int_eq(u9i_watch_wait(watch, u9i_monotonic_us(dir->env) + 40000000), 1); /* it is had: who waits looks */
    ck_assert_int_eq(u9i_dir_remove(root, "leaves"), 0);
    ck_assert_int_eq(u9i_watch_wait(watch, u9i_monotonic_us(dir->env) + 40000000), 1); /* it broke, and is asked for again */
    struct pollfd answer = {.fd = u9i_watch_fd(watch), .events = POLLIN};
    ck_assert_int_eq(poll(&answer, 1, 40000), 1);
    u9i_watch_close(watch);
    ck_assert_uint_eq(unwatched, 0);
    ck_assert_int_eq(u9i_watch_open(root, ".post", false, &watch), 0);
    u9i_watch_close(watch);
    ck_assert_uint_eq(unwatched, 1);
    u9i_dir_close(dir);
    u9i_dir_close(root);
}
END_TEST

/* Of the threads of this process. */
static unsigned count_threads(void)
{
    unsigned count = 0;
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) count += entry->d_name[0] != '.';
    return count;
}

static void end_with_threads(void)
{
    _exit((int)count_threads());
}

/* exit() destroys what threads of the client would look at, from here on; notices of the last change are under way then. */
START_TEST(a_process_that_ends_has_ended_the_client_before)
{
    int status;
    char name[16];
    snprintf(name, sizeof name, "file%d", _i);
    pid_t pid = fork();
    if (pid == 0) {
        (void)!atexit(end_with_threads);
        u9i_dir *dir = open_dir_at("ending");
        u9i_watch *watch;
        if (_i % 2) ck_assert_int_eq(u9i_watch_open(dir, "live", false, &watch), 0);
        u9i_file *file = open_file_in(dir, name, U9I_OPEN_CREATE);
        put(file, 0, (char[]){"bytes"}, 5);
        u9i_file_close(file);
        if (count_threads() < 5) _exit(200); /* the client has a dozen */
        if (_i % 2) u9i_watch_close(watch);
        u9i_dir_close(dir);
        exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 1, "it ended with status %x", status);
}
END_TEST

START_TEST(an_address_that_is_none_is_told)
{
    static char far[5000];
    memset(far, 'x', sizeof far - 1);
    memcpy(far, "rados:u9/", 9);
    static const struct {
        const char *path, *says;
    } wrong[] = {
        {"rados:", "rados:POOL/NAME"}, {"rados:/x", "rados:POOL/NAME"}, {"rados:pool", "rados:POOL/NAME"},
        {"rados:u9/x?colour=red", "'colour=red' is none of"}, {"rados:u9/x?lease=0.1", "'lease=0.1' is none of"},
        {"rados:u9/x?timeout=0", "'timeout=0' is none of"}, {"rados:u9/x?conf", "'conf' is none of"},
        {far, "rados:POOL/NAME, and that has 4096 bytes at most"}};
    u9_log *log;
    const char *any = address("x", "");
    (void)env_at(&any);
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        u9_fault fault = {0};
        u9_options o = {.size = sizeof o, .mode = U9_READ};
        ck_assert_int_eq(u9_log_open(wrong[i].path, &o, &log, &fault), U9_ARG);
        ck_assert_msg(strstr(fault.text, wrong[i].says) != NULL, "%s: %s", wrong[i].path, fault.text);
    }
}
END_TEST

START_TEST(a_cluster_a_pool_or_a_log_that_is_not_there_is_told)
{
    u9_log *log;
    u9_fault fault = {0};
    char path[1300];
    u9_options o = {.size = sizeof o, .mode = U9_READ};
    const char *a = address("nothing", "");
    (void)env_at(&a);
    ck_assert_int_eq(u9_log_open(address("nothing", ""), &o, &log, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, ENOENT);
    snprintf(path, sizeof path, "rados:nopool/x?%s", strchr(address("x", ""), '?') + 1);
    ck_assert_int_eq(u9_log_open(path, &o, &log, &fault), U9_IO);
    ck_assert_msg(strstr(fault.text, "pool nopool") && strstr(fault.text, "there is no such pool"), "%s", fault.text);
    ck_assert_int_eq(u9_log_open("rados:u9/x?conf=/nowhere/ceph.conf", &o, &log, &fault), U9_IO);
    ck_assert_msg(strstr(fault.text, "the cluster's configuration") != NULL, "%s", fault.text);
}
END_TEST

Suite *suite_rados_files(void)
{
    Suite *s = suite_create("rados_files");
    TCase *tc = tcase_create("files");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, a_file_over_several_objects_reads_back_and_has_its_size, 0, 2);
    tcase_add_test(tc, a_queue_that_is_settled_has_nothing_under_way);
    tcase_add_test(tc, an_object_of_a_settled_file_that_is_lost_cannot_be_read);
    tcase_add_test(tc, a_file_is_not_settled_over_a_write_that_failed_whose_result_nobody_took);
    tcase_add_loop_test(tc, a_read_at_the_end_of_a_file_that_grows_makes_no_zeros_up, 0, 2);
    tcase_add_test(tc, a_file_is_locked_by_one);
    tcase_add_test(tc, a_size_that_is_set_cuts_and_extends_with_zeros);
    tcase_add_test(tc, names_are_made_once_moved_and_taken_away);
    tcase_add_test(tc, a_file_that_is_removed_is_read_for_its_grace_and_is_an_error_then);
    tcase_add_test(tc, who_watches_is_told_of_names_and_posts);
    tcase_add_test(tc, who_watches_is_told_of_the_last_of_some_writes_too);
    tcase_add_test(tc, a_watch_that_was_refused_is_not_ended_in_the_cluster);
    tcase_add_loop_test(tc, a_process_that_ends_has_ended_the_client_before, 0, 20);
    tcase_add_test(tc, an_address_that_is_none_is_told);
    tcase_add_test(tc, a_cluster_a_pool_or_a_log_that_is_not_there_is_told);
    suite_add_tcase(s, tc);
    return s;
}
