/*
 * tests/zk/test_many.c: many processes on few numbers, and identifiers made under claims.
 */
#include "tests/zk/fixture.h"
#include "zk/claim.h"

#include <u9/log.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBERS = 3, PROCESSES = 8, ROUNDS = 15, IDS = 200, HANDLES = 4 };

/* A tree in which NUMBERS numbers are free, and an empty file. */
static void few_numbers(const char *test)
{
    char path[600];
    const char *dir = getenv("U9_TEST_DIR");
    zkt_begin(test);
    zhandle_t *zk = zkt_raw_open();
    zkt_raw_plant(zk);
    zkt_raw_fill(zk, NUMBERS, 64);
    zkt_raw_close(zk);
    snprintf(path, sizeof path, "%s/zk/%s", dir ? dir : "build/tmp", test);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0666);
    ck_assert_int_ge(fd, 0);
    close(fd);

}

/* The file is opened by each process: flock is between open files. */
static int open_shared(const char *test, int flags)
{
    char path[600];
    const char *dir = getenv("U9_TEST_DIR");
    snprintf(path, sizeof path, "%s/zk/%s", dir ? dir : "build/tmp", test);
    int fd = open(path, flags);
    MUST(fd >= 0);
    return fd;
}

/* In the shared file: who owns `number`. 0: nobody. */
static pid_t owner_of(int fd, uint32_t number)
{
    pid_t owner = 0;
    MUST(pread(fd, &owner, sizeof owner, (off_t)(number * sizeof owner)) >= 0);
    return owner;
}

static void set_owner(int fd, uint32_t number, pid_t owner)
{
    MUST(pwrite(fd, &owner, sizeof owner, (off_t)(number * sizeof owner)) == sizeof owner);
}

/* Owns a number for a moment. False: the claim was void before it could be noted. */
static bool own_for_a_moment(u9_zk_claim *claim, int fd)
{
    u9_zk_grant grant;
    MUST(u9_zk_get(claim, &grant, NULL) == U9_OK && grant.generator < NUMBERS);
    MUST(flock(fd, LOCK_EX) == 0);
    bool held = u9_zk_held(claim, &grant);
    if (held) {
        MUST(owner_of(fd, grant.generator) == 0);
        set_owner(fd, grant.generator, getpid());
    }
    MUST(flock(fd, LOCK_UN) == 0);
    zkt_nap((unsigned)(getpid() % 5));
    if (held) {
        MUST(flock(fd, LOCK_EX) == 0);
        MUST(owner_of(fd, grant.generator) == getpid());
        set_owner(fd, grant.generator, 0);
        MUST(flock(fd, LOCK_UN) == 0);
    }
    u9_zk_release(claim);
    return held;
}

static void owns_again_and_again(void *arg)
{
    (void)arg;
    int fd = open_shared("owners", O_RDWR);
    u9_zk_options options = zkt_options();
    options.give_back_ms = 1;
    u9_zk_claim *claim = zkt_claim(0, &options);
    for (int done = 0; done < ROUNDS;) done += own_for_a_moment(claim, fd);
    u9_zk_close(claim);
}

START_TEST(no_two_processes_ever_hold_one_number)
{
    pid_t pids[PROCESSES];
    few_numbers("owners");
    for (int i = 0; i < PROCESSES; i++) pids[i] = zkt_child_begin(owns_again_and_again, NULL);
    for (int i = 0; i < PROCESSES; i++) zkt_child_end(pids[i]);
    int fd = open_shared("owners", O_RDWR);
    for (uint32_t i = 0; i < NUMBERS; i++) ck_assert_int_eq(owner_of(fd, i), 0);
    close(fd);
    zhandle_t *zk = zkt_raw_open();
    AWAIT(zkt_raw_count(zk, "queue") == 0 && zkt_raw_count(zk, "pool") == 64 - NUMBERS);
    zkt_raw_close(zk);
}
END_TEST

static void makes_identifiers(void *arg)
{
    (void)arg;
    int fd = open_shared("ids", O_WRONLY | O_APPEND);
    u9_zk_options options = zkt_options();
    options.hold_ms = 15;
    options.give_back_ms = 20;
    u9_zk_claim *claim = zkt_claim(0, &options);
    for (int i = 0; i < IDS; i++) {
        uint8_t packed[U9_UID8_SIZE];
        u9_uid8 id;
        MUST(u9_zk_next(claim, &id, NULL) == U9_OK);
        MUST(id.generator < NUMBERS && id.cluster == 0);
        MUST(u9_uid8_pack(&id, 1, packed, NULL) == U9_OK);
        MUST(write(fd, packed, sizeof packed) == sizeof packed);
        if (i % 4 == 0) zkt_nap(2);
    }
    u9_zk_grant grant;
    MUST(u9_zk_get(claim, &grant, NULL) == U9_OK && grant.serial > 3); /* under many claims */
    u9_zk_close(claim);
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, U9_UID8_SIZE);
}

START_TEST(no_identifier_is_made_twice)
{
    enum { ALL = PROCESSES * IDS };
    static uint8_t ids[ALL][U9_UID8_SIZE];
    pid_t pids[PROCESSES];
    few_numbers("ids");
    for (int i = 0; i < PROCESSES; i++) pids[i] = zkt_child_begin(makes_identifiers, NULL);
    for (int i = 0; i < PROCESSES; i++) zkt_child_end(pids[i]);
    int fd = open_shared("ids", O_RDONLY);
    ck_assert_int_eq(read(fd, ids, sizeof ids), sizeof ids);
    close(fd);
    qsort(ids, ALL, U9_UID8_SIZE, by_bytes);
    for (int i = 1; i < ALL; i++) ck_assert_mem_ne(ids[i - 1], ids[i], U9_UID8_SIZE);
}
END_TEST

typedef struct maker {
    u9_zk_claim *claim;
    pthread_t thread;
    u9_uid8 ids[IDS];
} maker;

static void *makes(void *arg)
{
    maker *m = arg;
    for (int i = 0; i < IDS; i++) {
        if (u9_zk_next(m->claim, &m->ids[i], NULL) != U9_OK) return m;
        if (i % 4 == 0) zkt_nap(2);
    }
    return NULL;
}

static uint64_t as_number(const u9_uid8 *id)
{
    return id->timestamp_ms << 20 | (uint64_t)id->sequence << 11 | id->generator;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

START_TEST(the_threads_of_one_handle_make_no_identifier_twice)
{
    static maker makers[HANDLES];
    static uint64_t all[HANDLES * IDS];
    u9_zk_options options = zkt_options();
    options.hold_ms = 30;
    options.give_back_ms = 1;
    options.layout = 4;
    options.mode = U9_UID8_TIME_SEQUENTIAL;
    zkt_begin("threads");
    u9_zk_claim *claim = zkt_claim(0, &options);
    for (int i = 0; i < HANDLES; i++) {
        makers[i].claim = claim;
        ck_assert_int_eq(pthread_create(&makers[i].thread, NULL, makes, &makers[i]), 0);
    }
    for (int i = 0; i < HANDLES; i++) {
        void *failed = NULL;
        ck_assert_int_eq(pthread_join(makers[i].thread, &failed), 0);
        ck_assert_ptr_null(failed);
        for (int k = 0; k < IDS; k++) all[i * IDS + k] = as_number(&makers[i].ids[k]);
        ck_assert_int_eq(makers[i].ids[0].mode, U9_UID8_TIME_SEQUENTIAL);
    }
    qsort(all, HANDLES * IDS, sizeof *all, by_number);
    for (int i = 1; i < HANDLES * IDS; i++) ck_assert_uint_lt(all[i - 1], all[i]);
    ck_assert_uint_gt(zkt_get(claim).serial, 3); /* under many claims */
    u9_zk_close(claim);
}
END_TEST

START_TEST(a_claim_that_is_void_is_replaced_before_the_next_identifier)
{
    zkt_begin("replaced");
    zhandle_t *zk = zkt_raw_open();
    u9_zk_claim *claim = zkt_claim(0, NULL);
    u9_uid8 first, second, third;
    ck_assert_int_eq(u9_zk_next(claim, &first, NULL), U9_OK);
    u9_zk_release(claim);
    ck_assert_int_eq(u9_zk_next(claim, &second, NULL), U9_OK);
    ck_assert_uint_eq(first.generator, 0);
    ck_assert_uint_eq(second.generator, 1); /* 0 still rests */
    u9_zk_grant grant = zkt_get(claim);
    zkt_raw_make(zk, "pool/2", true);
    zkt_raw_drop(zk, "pool/1");
    AWAIT(!u9_zk_held(claim, &grant));
    AWAIT(!zkt_raw_has(zk, "pool/0"));
    ck_assert_int_eq(u9_zk_next(claim, &third, NULL), U9_OK);
    ck_assert_uint_eq(third.generator, 0);
    ck_assert_uint_gt(third.timestamp_ms, second.timestamp_ms);
    u9_zk_close(claim);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(an_identifier_whose_claim_was_void_by_then_is_thrown_away)
{
    zkt_begin("rechecked");
    u9_zk_claim *claim = zkt_claim(0, NULL);
    maker *m = calloc(1, sizeof *m);
    ck_assert_ptr_nonnull(m);
    m->claim = claim;
    ck_assert_uint_eq(zkt_get(claim).generator, 0);
    pthread_mutex_lock(&claim->uid8_lock); /* it gets as far as to have number 0 */
    ck_assert_int_eq(pthread_create(&m->thread, NULL, makes, m), 0);
    zkt_nap(100);
    u9_zk_release(claim);
    pthread_mutex_unlock(&claim->uid8_lock);
    void *failed = NULL;
    ck_assert_int_eq(pthread_join(m->thread, &failed), 0);
    ck_assert_ptr_null(failed);
    ck_assert_uint_eq(m->ids[0].generator, 1);
    u9_zk_close(claim);
    free(m);
}
END_TEST

START_TEST(a_new_claim_begins_behind_the_identifiers_of_the_old_one)
{
    zkt_begin("behind");
    u9_zk_claim *claim = zkt_claim(0, NULL);
    u9_uid8 id;
    ck_assert_int_eq(u9_zk_next(claim, &id, NULL), U9_OK);
    uint64_t seen_ms = claim->uid8_seen_ms = id.timestamp_ms + 2000; /* as if set back by 2 s */
    u9_zk_release(claim);
    u9_err err = U9_AGAIN;
    AWAIT((err = u9_zk_next(claim, &id, NULL)) != U9_AGAIN);
    ck_assert_int_eq(err, U9_OK);
    ck_assert_uint_gt(id.timestamp_ms, seen_ms);
    u9_zk_close(claim);
}
END_TEST

START_TEST(the_tool_prints_identifiers_made_under_a_claim)
{
    char command[700], line[64];
    const char *bin = getenv("U9_BIN_DIR");
    if (bin == NULL) return; /* run by hand, without the tools */
    zkt_begin("tool");
    zhandle_t *zk = zkt_raw_open();
    zkt_raw_plant(zk);
    zkt_raw_fill(zk, 0, 42);
    snprintf(command, sizeof command, "%s/u9 id new uid8 --zookeeper %s -n 70", bin,
             zkt_address(0));
    FILE *out = popen(command, "r");
    ck_assert_ptr_nonnull(out);
    int count = 0;
    for (; fgets(line, sizeof line, out); count++) {
        u9_uid8 id;
        ck_assert_int_eq(u9_uid8_parse(line, U9_UID8_TEXT_SIZE, 1, &id, NULL), U9_OK);
        ck_assert_uint_eq(id.generator, 42);
        ck_assert_int_eq(line[U9_UID8_TEXT_SIZE], '\n');
    }
    ck_assert_int_eq(pclose(out), 0);
    ck_assert_int_eq(count, 70);
    AWAIT(!zkt_raw_has(zk, "pool/42"));
    zkt_raw_close(zk);
}
END_TEST

START_TEST(an_identifier_is_younger_than_the_wait_for_its_number)
{
    zkt_begin("younger");
    zhandle_t *zk = zkt_raw_open();
    zkt_raw_plant(zk);
    zkt_raw_fill(zk, 0, 64);
    u9_zk_claim *claim = zkt_claim(0, NULL);
    maker *m = calloc(1, sizeof *m);
    ck_assert_ptr_nonnull(m);
    m->claim = claim;
    ck_assert_int_eq(pthread_create(&m->thread, NULL, makes, m), 0);
    AWAIT(zkt_raw_has(zk, LOCK));
    zkt_nap(50);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    zkt_raw_drop(zk, "pool/9");
    void *failed = NULL;
    ck_assert_int_eq(pthread_join(m->thread, &failed), 0);
    ck_assert_ptr_null(failed);
    ck_assert_uint_eq(m->ids[0].generator, 9);
    ck_assert_uint_ge(m->ids[0].timestamp_ms,
                      (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
    u9_zk_close(claim);
    zkt_raw_close(zk);
    free(m);
}
END_TEST

/* A log whose keys are made under `claim`, in a directory of the test's. */
static u9_log *open_log(const char *name, u9_zk_claim *claim)
{
    char path[600];
    const char *dir = getenv("U9_TEST_DIR");
    const u9_generator source = u9_zk_generator(claim);
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .kind = "uid8", .policy = U9_POLICY_NONE,
                    .numbers = &source};
    u9_log *log = NULL;
    snprintf(path, sizeof path, "%s/zk/log-%s-%d", dir ? dir : "build/tmp", name, getpid());
    MUST(u9_log_open(path, &o, &log, NULL) == U9_OK);
    return log;
}

static u9_err append_key(u9_log *log, uint8_t key[U9_UID8_SIZE])
{
    u9_place place;
    u9_err err = u9_log_append(log, NULL, "\x81", 1, &place);
    if (err == U9_OK) memcpy(key, place.key, U9_UID8_SIZE);
    return err;
}

static void writes_a_log(void *arg)
{
    (void)arg;
    int fd = open_shared("keys", O_WRONLY | O_APPEND);
    u9_zk_options options = zkt_options();
    options.hold_ms = 30; /* many claims */
    options.give_back_ms = 20;
    u9_zk_claim *claim = zkt_claim(0, &options);
    u9_log *log = open_log("keys", claim);
    for (int i = 0; i < IDS; i++) {
        uint8_t key[U9_UID8_SIZE];
        u9_err err;
        AWAIT((err = append_key(log, key)) != U9_AGAIN); /* a claim may not last for one append, three times */
        MUST(err == U9_OK);
        MUST(write(fd, key, sizeof key) == sizeof key);
        if (i % 4 == 0) zkt_nap(2);
    }
    MUST(u9_log_close(log, NULL) == U9_OK);
    u9_zk_grant grant;
    MUST(u9_zk_get(claim, &grant, NULL) == U9_OK && grant.serial > 3);
    u9_zk_close(claim);
}

START_TEST(logs_whose_numbers_are_claimed_make_no_key_twice) /* [I-23] */
{
    enum { ALL = PROCESSES * IDS };
    static uint8_t ids[ALL][U9_UID8_SIZE];
    pid_t pids[PROCESSES];
    few_numbers("keys");
    for (int i = 0; i < PROCESSES; i++) pids[i] = zkt_child_begin(writes_a_log, NULL);
    for (int i = 0; i < PROCESSES; i++) zkt_child_end(pids[i]);
    int fd = open_shared("keys", O_RDONLY);
    ck_assert_int_eq(read(fd, ids, sizeof ids), sizeof ids);
    close(fd);
    qsort(ids, ALL, U9_UID8_SIZE, by_bytes);
    for (int i = 1; i < ALL; i++) ck_assert_mem_ne(ids[i - 1], ids[i], U9_UID8_SIZE);
}
END_TEST

START_TEST(a_claim_lends_its_number_to_one_log_at_a_time) /* [I-23] */
{
    uint8_t key[U9_UID8_SIZE];
    u9_uid8 id, made;
    u9_fault fault;
    zkt_begin("lent");
    u9_zk_claim *claim = zkt_claim(0, NULL);
    u9_log *a = open_log("a", claim), *b = open_log("b", claim);
    ck_assert_int_eq(u9_zk_next(claim, &id, NULL), U9_OK);
    ck_assert_int_eq(append_key(a, key), U9_OK);
    ck_assert_int_eq(u9_uid8_unpack(key, sizeof key, 1, &made, NULL), U9_OK);
    ck_assert(made.generator == id.generator && made.timestamp_ms > id.timestamp_ms);
    ck_assert_int_eq(append_key(b, key), U9_STATE);
    u9_log_fault(b, &fault);
    ck_assert_ptr_nonnull(strstr(fault.text, "lent to another log"));
    ck_assert_int_eq(u9_zk_next(claim, &id, &fault), U9_STATE);
    ck_assert_int_eq(u9_log_close(a, NULL), U9_OK);
    ck_assert_int_eq(u9_zk_next(claim, &id, NULL), U9_OK);
    ck_assert_uint_gt(id.timestamp_ms, made.timestamp_ms);
    ck_assert_int_eq(append_key(b, key), U9_OK);
    ck_assert_int_eq(u9_log_close(b, NULL), U9_OK);
    u9_zk_close(claim);
}
END_TEST

START_TEST(a_log_whose_claim_is_void_makes_its_keys_under_the_next) /* [I-23] */
{
    uint8_t key[U9_UID8_SIZE];
    u9_uid8 first, second;
    zkt_begin("void");
    zhandle_t *zk = zkt_raw_open();
    u9_zk_claim *claim = zkt_claim(0, NULL);
    u9_log *log = open_log("void", claim);
    ck_assert_int_eq(append_key(log, key), U9_OK);
    ck_assert_int_eq(u9_uid8_unpack(key, sizeof key, 1, &first, NULL), U9_OK);
    u9_zk_grant grant = zkt_get(claim);
    zkt_raw_drop(zk, "pool/0");
    AWAIT(!u9_zk_held(claim, &grant));
    ck_assert_int_eq(append_key(log, key), U9_OK);
    ck_assert_int_eq(u9_uid8_unpack(key, sizeof key, 1, &second, NULL), U9_OK);
    ck_assert_uint_gt(second.timestamp_ms, first.timestamp_ms);
    ck_assert_int_eq(u9_log_close(log, NULL), U9_OK);
    ck_assert_uint_gt(zkt_get(claim).serial, grant.serial);
    u9_zk_close(claim);
    zkt_raw_close(zk);
}
END_TEST

Suite *suite_many(void)
{
    Suite *suite = suite_create("zk many");
    TCase *tcase = tcase_create("many");
    tcase_set_timeout(tcase, 240);
    tcase_add_test(tcase, no_two_processes_ever_hold_one_number);
    tcase_add_test(tcase, no_identifier_is_made_twice);
    tcase_add_test(tcase, the_threads_of_one_handle_make_no_identifier_twice);
    tcase_add_test(tcase, a_claim_that_is_void_is_replaced_before_the_next_identifier);
    tcase_add_test(tcase, an_identifier_whose_claim_was_void_by_then_is_thrown_away);
    tcase_add_test(tcase, a_new_claim_begins_behind_the_identifiers_of_the_old_one);
    tcase_add_test(tcase, the_tool_prints_identifiers_made_under_a_claim);
    tcase_add_test(tcase, an_identifier_is_younger_than_the_wait_for_its_number);
    tcase_add_test(tcase, logs_whose_numbers_are_claimed_make_no_key_twice);
    tcase_add_test(tcase, a_claim_lends_its_number_to_one_log_at_a_time);
    tcase_add_test(tcase, a_log_whose_claim_is_void_makes_its_keys_under_the_next);
    suite_add_tcase(suite, tcase);
    return suite;
}
