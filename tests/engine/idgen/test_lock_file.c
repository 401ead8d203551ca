/*
 * tests/engine/idgen/test_lock_file.c: generator numbers by a lock file: processes and threads of one machine
 * never share one, whatever becomes of them. [I-24] [I-23]
 */
#include "engine/os/slot.h"
#include "tests/engine/fixture.h"
#include "tests/engine/scarce.h"
#include "tests/must.h"
#include "tests/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NUMBERS = 2048, WRITERS = 3, IDS = 1500, SESSIONS = 5 };

static u9_lock_file *lock_file(uint32_t first, uint32_t count)
{
    const u9_lock_file_options o = {.size = sizeof o, .path = at("numbers"), .cluster = 3, .first = first,
                                    .count = count};
    u9_lock_file *file;
    ck_assert_int_eq(u9_lock_file_new(&o, &file, NULL), U9_OK);
    return file;
}

static u9_log *open_locked(const char *log, u9_lock_file *file)
{
    u9_options o = writer_options();
    const u9_generator source = u9_lock_file_generator(file);
    o.kind = "uid8";
    o.policy = U9_POLICY_NONE;
    o.numbers = &source;
    return open_writer(log, &o);
}

/* Appends one record: its key, as a number of 64 bits. */
static u9_err append_key(u9_log *log, uint64_t *key, u9_uid8 *id)
{
    static const uint8_t value[] = {0x81};
    u9_place place;
    u9_err err = u9_log_append(log, NULL, value, 1, &place);
    for (int tries = 0; err == U9_AGAIN && tries < 100; tries++) /* the clock goes on */
        err = u9_log_append(log, NULL, value, 1, &place);
    if (err != U9_OK) return err;
    memcpy(key, place.key, sizeof *key);
    return id ? u9_uid8_unpack(place.key, 8, U9_UID8_LAYOUT_MAX, id, NULL) : U9_OK;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* What stands in the slot of a number of cluster 3; and a lie in it. */
static uint64_t bound_of(uint32_t number)
{
    uint8_t b[8] = {0};
    int fd = open(at("numbers"), O_RDONLY);
    (void)!pread(fd, b, 8, (3 * NUMBERS + number) * 8);
    close(fd);
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) v = v << 8 | b[i];
    return v;
}

static void set_bound(uint32_t number, uint64_t ms)
{
    uint8_t b[8];
    for (int i = 0; i < 8; i++) b[i] = (uint8_t)(ms >> (8 * (7 - i)));
    int fd = open(at("numbers"), O_WRONLY | O_CREAT, 0600);
    ck_assert_int_eq(pwrite(fd, b, 8, (3 * NUMBERS + number) * 8), 8);
    close(fd);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void expect_distinct(uint64_t *keys, size_t count)
{
    qsort(keys, count, sizeof *keys, by_number);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_ne(keys[i], 0);
        if (i > 0) ck_assert_uint_ne(keys[i], keys[i - 1]);
    }
}

/* Keys that children write down for their parent. */
static uint64_t *shared_keys(size_t count)
{
    void *p = mmap(NULL, count * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    return p;
}

/* A process that writes a log of its own, in several sessions, and keeps all the keys. */
static pid_t begin_writer(unsigned n, uint64_t *keys)
{
    pid_t pid = fork();
    if (pid != 0) return pid;
    alarm(50);
    char name[20];
    snprintf(name, sizeof name, "log%u", n);
    for (unsigned i = 0; i < IDS;) {
        u9_lock_file *file = lock_file(0, 0);
        u9_log *log = open_locked(at(name), file);
        for (unsigned k = 0; k < IDS / SESSIONS; k++, i++)
            if (append_key(log, &keys[i], NULL) != U9_OK) _exit(1);
        if (u9_log_close(log, NULL) != U9_OK) _exit(2);
        u9_lock_file_free(file);
    }
    _exit(0);
}

static void expect_exit(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

START_TEST(processes_that_write_at_once_make_no_key_twice) /* [I-24] */
{
    uint64_t *keys = shared_keys(WRITERS * IDS);
    pid_t pids[WRITERS];
    for (unsigned i = 0; i < WRITERS; i++) pids[i] = begin_writer(i, keys + (size_t)i * IDS);
    for (unsigned i = 0; i < WRITERS; i++) expect_exit(pids[i]);
    expect_distinct(keys, WRITERS * IDS);
    munmap(keys, WRITERS * IDS * 8);
}
END_TEST

typedef struct maker {
    pthread_t thread;
    u9_log *log;
    uint64_t *keys;
    u9_err err;
} maker;

static void *make_keys(void *ctx)
{
    maker *m = ctx;
    for (unsigned i = 0; i < IDS && m->err == U9_OK; i++) m->err = append_key(m->log, &m->keys[i], NULL);
    return NULL;
}

START_TEST(threads_on_two_logs_with_one_lock_file_make_no_key_twice) /* [I-24] */
{
    static uint64_t keys[4 * IDS];
    maker makers[4] = {{0}};
    u9_lock_file *file = lock_file(0, 0);
    u9_log *logs[2] = {open_locked(at("a"), file), open_locked(at("b"), file)};
    for (unsigned i = 0; i < 4; i++) {
        makers[i].log = logs[i % 2];
        makers[i].keys = keys + (size_t)i * IDS;
        ck_assert_int_eq(pthread_create(&makers[i].thread, NULL, make_keys, &makers[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(makers[i].thread, NULL);
        ck_assert_int_eq(makers[i].err, U9_OK);
    }
    expect_distinct(keys, 4 * IDS);
    close_log(logs[0]);
    close_log(logs[1]);
    u9_lock_file_free(file);
}
END_TEST

START_TEST(logs_that_are_open_have_the_lowest_numbers_until_none_is_left) /* [I-24] */
{
    u9_lock_file *file = lock_file(7, 2);
    u9_log *a = open_locked(at("a"), file), *b = open_locked(at("b"), file), *c = open_locked(at("c"), file);
    uint64_t key;
    u9_uid8 id;
    u9_fault fault;
    ck_assert_int_eq(append_key(a, &key, &id), U9_OK);
    ck_assert(id.generator == 7 && id.cluster == 3);
    ck_assert_int_eq(append_key(b, &key, &id), U9_OK);
    ck_assert_uint_eq(id.generator, 8);
    ck_assert_int_eq(append_key(c, &key, &id), U9_AGAIN);
    u9_log_fault(c, &fault);
    ck_assert_ptr_nonnull(strstr(fault.text, "all generator numbers from 7 to 8 of cluster 3 are in use"));
    ck_assert_str_eq(fault.path, at("numbers"));
    close_log(b);
    ck_assert_int_eq(append_key(c, &key, &id), U9_OK);
    ck_assert_uint_eq(id.generator, 8);
    close_log(a);
    close_log(c);
    u9_lock_file_free(file);
}
END_TEST

/* A child that has made a key under number 0 and waits to be killed. */
static pid_t begin_holder(uint64_t *key)
{
    pid_t pid = fork();
    if (pid != 0) {
        while (*(volatile uint64_t *)key == 0) usleep(1000);
        return pid;
    }
    alarm(50);
    if (append_key(open_locked(at("held"), lock_file(0, 1)), key, NULL) != U9_OK) _exit(1);
    for (;;) pause();
}

START_TEST(a_killed_holder_frees_its_number_and_its_keys_are_not_made_again) /* [I-24] */
{
    uint64_t *keys = shared_keys(2);
    u9_uid8 dead, id;
    u9_lock_file *file = lock_file(0, 1);
    u9_log *log = open_locked(at("log"), file);
    pid_t pid = begin_holder(&keys[0]);
    ck_assert_int_eq(append_key(log, &keys[1], &id), U9_AGAIN);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ck_assert_int_eq(u9_uid8_unpack((const uint8_t *)&keys[0], 8, U9_UID8_LAYOUT_MAX, &dead, NULL), U9_OK);
    ck_assert_uint_eq(bound_of(0), dead.timestamp_ms + 1000);
    u9_err err = U9_AGAIN;
    while (err == U9_AGAIN) err = append_key(log, &keys[1], &id); /* until the clock passes the bound */
    ck_assert_int_eq(err, U9_OK);
    ck_assert_uint_gt(id.timestamp_ms, dead.timestamp_ms + 1000);
    close_log(log);
    ck_assert_uint_eq(bound_of(0), id.timestamp_ms); /* given back: lowered to the last key */
    u9_lock_file_free(file);
    munmap(keys, 16);
}
END_TEST

START_TEST(a_number_whose_keys_may_be_newer_than_the_clock_is_left_for_another) /* [I-24] */
{
    u9_lock_file *file = lock_file(0, 3);
    uint64_t far = now_ms() + 3600000, key;
    u9_uid8 id;
    set_bound(0, far); /* the clock was set back by an hour */
    set_bound(1, far);
    u9_log *a = open_locked(at("a"), file), *b = open_locked(at("b"), file);
    ck_assert_int_eq(append_key(a, &key, &id), U9_OK);
    ck_assert_uint_eq(id.generator, 2);
    ck_assert_int_eq(append_key(b, &key, &id), U9_AGAIN); /* never below the bound */
    close_log(b);
    ck_assert_uint_eq(bound_of(0), far); /* nothing was made under it: it stays */
    close_log(a);
    u9_lock_file_free(file);
}
END_TEST

START_TEST(a_lock_file_that_is_removed_or_replaced_is_noticed) /* [I-24] */
{
    static uint64_t keys[40];
    size_t n = 0;
    u9_lock_file *file = lock_file(0, 0);
    u9_log *a = open_locked(at("a"), file), *b = open_locked(at("b"), file);
    ck_assert_int_eq(append_key(a, &keys[n++], NULL), U9_OK);
    for (int i = 0; i < 10; i++) {
        if (i % 2) ck_assert_int_eq(unlink(at("numbers")), 0);
        else ck_assert_int_eq(rename(at("numbers"), at("away")), 0);
        ck_assert_int_eq(append_key(b, &keys[n++], NULL), U9_OK); /* makes it anew */
        ck_assert_int_eq(append_key(a, &keys[n++], NULL), U9_OK);
    }
    expect_distinct(keys, n);
    close_log(a);
    close_log(b);
    u9_lock_file_free(file);
}
END_TEST

START_TEST(a_forked_child_does_not_free_its_parents_number) /* [I-24] */
{
    u9_lock_file *file = lock_file(0, 1);
    u9_log *a = open_locked(at("a"), file), *b = open_locked(at("b"), file);
    uint64_t key;
    ck_assert_int_eq(append_key(a, &key, NULL), U9_OK);
    pid_t pid = fork();
    if (pid == 0) {
        u9_err err = u9_log_append(a, NULL, "\x81", 1, NULL);
        _exit(err == U9_STATE && u9_log_close(a, NULL) == U9_STATE ? 0 : 1);
    }
    expect_exit(pid);
    ck_assert_int_eq(append_key(b, &key, NULL), U9_AGAIN);
    close_log(a);
    close_log(b);
    u9_lock_file_free(file);
}
END_TEST

START_TEST(a_lock_file_that_cannot_be_had_is_told) /* [I-24] */
{
    u9_fault fault;
    uint64_t key;
    u9_lock_file *file = lock_file(0, 0);
    u9_log *log = open_locked(at("log"), file);
    ck_assert_int_eq(mkdir(at("numbers"), 0700), 0);
    ck_assert_int_eq(append_key(log, &key, NULL), U9_IO);
    u9_log_fault(log, &fault);
    ck_assert_int_eq(fault.sys, EISDIR);
    ck_assert_str_eq(fault.path, at("numbers"));
    ck_assert_int_eq(rmdir(at("numbers")), 0);
    ck_assert_int_eq(append_key(log, &key, NULL), U9_OK);
    close_log(log);
    u9_lock_file_free(file);
}
END_TEST

/* A text, a log's segment, a lock file of which a slot was written over: it stays as it is. */
START_TEST(a_file_that_is_no_lock_file_is_refused_and_not_written_to) /* [I-24] */
{
    static const char *const texts[] = {"a file of words\n", "\xff\xffutf9\0\1 and so on", "\0\0\3\xff\xff\xff\xff\xff"};
    static const size_t sizes[] = {16, 18, 8};
    for (int i = 0; i < 3; i++) {
        uint64_t key;
        char bytes[24];
        u9_fault fault;
        int fd = open(at("numbers"), O_RDWR | O_CREAT | O_TRUNC, 0600);
        ck_assert_int_eq(pwrite(fd, texts[i], sizes[i], (off_t)3 * NUMBERS * 8), (ssize_t)sizes[i]);
        u9_lock_file *file = lock_file(0, 0);
        u9_log *w = open_locked(at("log"), file);
        ck_assert_int_eq(append_key(w, &key, NULL), U9_CORRUPT);
        u9_log_fault(w, &fault);
        ck_assert_str_eq(fault.rule, "I-24");
        ck_assert_ptr_nonnull(strstr(fault.text, "no lock file"));
        ck_assert_ptr_nonnull(strstr(fault.path, "numbers"));
        close_log(w);
        u9_lock_file_free(file);
        ck_assert_int_eq(pread(fd, bytes, sizeof bytes, (off_t)3 * NUMBERS * 8), (ssize_t)sizes[i]);
        ck_assert_mem_eq(bytes, texts[i], sizes[i]);
        close(fd);
    }
}
END_TEST

START_TEST(options_of_a_lock_file_that_are_wrong_are_refused) /* [I-24] */
{
    const u9_lock_file_options fine = {.size = sizeof fine, .path = "x"};
    u9_lock_file *file;
    u9_fault fault;
    for (int i = 0; i < 7; i++) {
        u9_lock_file_options o = fine;
        if (i == 0) o.size--;
        if (i == 1) o.path = NULL;
        if (i == 2) o.path = "";
        if (i == 3) o.cluster = 16;
        if (i == 4) o.first = NUMBERS;
        if (i == 5) o.count = NUMBERS + 1;
        if (i == 6) o.first = 1, o.count = NUMBERS;
        ck_assert_int_eq(u9_lock_file_new(&o, &file, &fault), U9_ARG);
        ck_assert_str_eq(fault.rule, "I-24");
    }
    ck_assert_int_eq(u9_lock_file_new(NULL, &file, NULL), U9_ARG);
    u9_lock_file_free(NULL);
}
END_TEST

START_TEST(the_usual_lock_file_stands_beside_the_log) /* [I-24] */
{
    static const char *const rows[][2] = {
        {"log", ".u9-numbers"},        {"a/log", "a/.u9-numbers"},      {"/a/log///", "/a/.u9-numbers"},
        {".", "./../.u9-numbers"},     {"a/..", "a/../../.u9-numbers"}, {"/", "/../.u9-numbers"},
        {"/log", "/.u9-numbers"},      {"a/...", "a/.u9-numbers"},      {"a/./", "a/./../.u9-numbers"},
        {".log", ".u9-numbers"}};
    char out[64];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t n = strlen(rows[i][1]);
        ck_assert_int_eq(u9_lock_file_beside(rows[i][0], out, n + 1), U9_OK);
        ck_assert_str_eq(out, rows[i][1]);
        ck_assert_int_eq(u9_lock_file_beside(rows[i][0], out, n), U9_LIMIT);
    }
    ck_assert_int_eq(u9_lock_file_beside("", out, sizeof out), U9_ARG);
}
END_TEST

/* What is done with slots, each call of it interrupted in turn, refused or failing. */
static int use_slots(void)
{
    u9i_number_slot *slot;
    int err = u9i_slot_take(at("numbers"), 5, 2, 10, UINT64_MAX, &slot); /* the first has a larger number in it, so has the second */
    if (err != 0) return err;
    MUST(u9i_slot_index(slot) == 5 && u9i_slot_noted(slot) == 11);
    err = u9i_slot_note(slot, 11);
    if (err == 0) err = u9i_slot_confirm(slot);
    u9i_slot_give(slot);
    return err;
}

/* {F40} */
START_TEST(a_call_on_a_slot_that_is_interrupted_is_made_again_and_one_that_fails_is_told)
{
    static const int errors[] = {EINTR, EIO, ENOMEM};
    u9i_number_slot *slots[2];
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(u9i_slot_take(at("numbers"), 5 + i, 1, 10, UINT64_MAX, &slots[i]), 0);
        ck_assert_int_eq(u9i_slot_note(slots[i], 11), 0);
    }
    for (unsigned i = 0; i < 2; i++) u9i_slot_give(slots[i]);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned n = 1, failed = 1; failed > 0; n++) {
            size_t kept;
            scarce_begin(errors[i] == ENOMEM ? SCARCE_MEMORY : SCARCE_CALLS, n, errors[i], false);
            int err = use_slots();
            failed = scarce_end(&kept);
            ck_assert_uint_eq(kept, 0);
            if (failed == 0) ck_assert_int_eq(err, 0);
            else if (err != 0) ck_assert(err == -errors[i] || err == -ESTALE); /* what the path leads to was not to be seen */
            ck_assert_int_eq(use_slots(), 0);
        }
}
END_TEST

START_TEST(a_slot_that_others_hold_or_whose_file_is_none_is_not_had)
{
    u9i_number_slot *slot, *other;
    ck_assert_int_eq(u9i_slot_take(at("numbers"), 5, 1, 10, UINT64_MAX, &slot), 0);
    ck_assert_int_eq(u9i_slot_take(at("numbers"), 5, 1, 10, UINT64_MAX, &other), -EWOULDBLOCK);
    ck_assert_int_eq(rename(at("numbers"), at("moved")), 0);
    ck_assert_int_eq(u9i_slot_confirm(slot), -ESTALE);
    set_bound(0, 1);
    ck_assert_int_eq(u9i_slot_confirm(slot), -ESTALE); /* another file */
    u9i_slot_give(slot);
    ck_assert_int_eq(mkdir(at("dir"), 0700), 0);
    ck_assert_int_eq(u9i_slot_take(at("dir"), 5, 1, 10, UINT64_MAX, &slot), -EISDIR);
    ck_assert_int_eq(mkfifo(at("fifo"), 0600), 0);
    ck_assert_int_eq(u9i_slot_take(at("fifo"), 5, 1, 10, UINT64_MAX, &slot), -EINVAL);
}
END_TEST

Suite *suite_lock_file(void)
{
    Suite *suite = suite_create("lock_file");
    TCase *tc = tcase_create("lock file");
    tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
    tcase_add_test(tc, processes_that_write_at_once_make_no_key_twice);
    tcase_add_test(tc, threads_on_two_logs_with_one_lock_file_make_no_key_twice);
    tcase_add_test(tc, logs_that_are_open_have_the_lowest_numbers_until_none_is_left);
    tcase_add_test(tc, a_killed_holder_frees_its_number_and_its_keys_are_not_made_again);
    tcase_add_test(tc, a_number_whose_keys_may_be_newer_than_the_clock_is_left_for_another);
    tcase_add_test(tc, a_lock_file_that_is_removed_or_replaced_is_noticed);
    tcase_add_test(tc, a_forked_child_does_not_free_its_parents_number);
    tcase_add_test(tc, a_lock_file_that_cannot_be_had_is_told);
    tcase_add_test(tc, a_file_that_is_no_lock_file_is_refused_and_not_written_to);
    tcase_add_test(tc, options_of_a_lock_file_that_are_wrong_are_refused);
    tcase_add_test(tc, the_usual_lock_file_stands_beside_the_log);
    tcase_add_test(tc, a_call_on_a_slot_that_is_interrupted_is_made_again_and_one_that_fails_is_told);
    tcase_add_test(tc, a_slot_that_others_hold_or_whose_file_is_none_is_not_had);
    suite_add_tcase(suite, tc);
    return suite;
}
