/*
 * tests/engine/os/test_store.c: logs in places that a library beside this one brings: a toy one here, whose logs stand on
 * the simulated disk. (u9/store.h)
 */
#include "engine/os/store.h"

#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <u9/snapshot.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "sim:PATH", named as its env is; there is nothing at "sim:shut", and no memory for "sim:vast". */
static bool find_toy(const char *path, u9i_env **env, const char **rest, char *why, size_t size)
{
    if (strcmp(path, "sim:vast") == 0) return false;
    if (strcmp(path, "sim:shut") == 0) {
        snprintf(why, size, "it is shut today");
        return false;
    }
    *env = sim_env();
    *rest = path + strlen("sim:");
    return true;
}

static void explain_toy(int sys, char *out, size_t size)
{
    if (sys == ENOENT) snprintf(out, size, ": the toy has no such thing");
}

static void explain_nothing(int sys, char *out, size_t size)
{
    (void)sys, (void)out, (void)size;
}

static const u9_store toys[] = {
    {"sim:", find_toy, explain_toy},   {"b:", find_toy, explain_nothing},
    {"c:", find_toy, explain_nothing}, {"d:", find_toy, explain_nothing},
    {"e:", find_toy, explain_nothing},
};

static const u9_store *toy(const u9_store_host *host)
{
    ck_assert_str_eq(host->version, U9_VERSION_TEXT);
    ck_assert_uint_eq(host->env_size, sizeof(u9i_env));
    return &toys[0];
}

static unsigned turn;

static const u9_store *next_toy(const u9_store_host *host)
{
    (void)host;
    return &toys[turn++];
}

static const u9_store *of_another_version(const u9_store_host *host)
{
    (void)host;
    return NULL;
}

static const char *in_toy(const char *name)
{
    static char paths[4][3300];
    static unsigned next;
    char *p = paths[next++ % 4];
    snprintf(p, sizeof paths[0], "sim:%s", at(name));
    return p;
}

START_TEST(what_is_added_is_of_this_version_and_there_are_four_at_most)
{
    u9_fault fault;
    ck_assert_int_eq(u9_store_add(NULL, &fault), U9_ARG);
    ck_assert_int_eq(u9_store_add(of_another_version, &fault), U9_VERSION);
    ck_assert_ptr_nonnull(strstr(fault.text, U9_VERSION_TEXT));
    ck_assert_int_eq(u9_store_add(toy, &fault), U9_OK);
    ck_assert_int_eq(u9_store_add(toy, &fault), U9_OK); /* once more is fine */
    for (turn = 0; turn < 4;) ck_assert_int_eq(u9_store_add(next_toy, &fault), U9_OK);
    ck_assert_int_eq(u9_store_add(next_toy, &fault), U9_LIMIT);
    u9_log *log; /* only the first one has something to say */
    u9_options o = {.size = sizeof o, .mode = U9_READ};
    ck_assert_int_eq(u9_log_open(in_toy("none"), &o, &log, &fault), U9_IO);
    ck_assert_ptr_nonnull(strstr(fault.text, ": the toy has no such thing"));
}
END_TEST

START_TEST(a_path_of_such_a_place_is_that_of_a_log)
{
    u9_fault fault;
    u9_log *log;
    u9_options o = {.size = sizeof o, .mode = U9_CREATE};
    ck_assert_int_eq(u9_store_add(toy, &fault), U9_OK);
    ck_assert_int_eq(u9_log_open(in_toy("log"), &o, &log, &fault), U9_OK);
    ck_assert_str_eq(u9_log_io(log), "sim");
    append_text(log, "played");
    close_log(log);
    seen *s = look(at("log"));
    ck_assert(s->count == 1 && has_text(s, "played"));
    forget(s);
    ck_assert_int_eq(u9_log_open("sim:shut", &o, &log, &fault), U9_ARG);
    ck_assert_ptr_nonnull(strstr(fault.text, "it is shut today"));
    ck_assert_int_eq(u9_log_open("sim:vast", &o, &log, &fault), U9_NOMEM);
    ck_assert_ptr_nonnull(strstr(fault.text, "out of memory"));
    o.mode = U9_READ;
    ck_assert_int_eq(u9_log_open(in_toy("none"), &o, &log, &fault), U9_IO);
    ck_assert_ptr_nonnull(strstr(fault.text, ": the toy has no such thing"));
    o.io = ""; /* none, as if it were not given */
    ck_assert_int_eq(u9_log_open(in_toy("log"), &o, &log, &fault), U9_OK);
    close_log(log);
    o.io = "sim:"; /* an address in the place of a table: any path stands there */
    ck_assert_int_eq(u9_log_open(at("log"), &o, &log, &fault), U9_OK);
    close_log(log);
}
END_TEST

/* A snapshot stands where its log does: there, or, of one of the system's, on the system. */
START_TEST(what_stands_beside_a_log_is_in_the_same_place)
{
    u9_fault fault;
    u9_log *log;
    u9_options o = {.size = sizeof o, .mode = U9_READ};
    u9_snapshot_options how = {.size = sizeof how};
    u9_snapshot_report report = {.size = sizeof report};
    session(at("log"), "r", 3, 0);
    ck_assert_int_eq(u9_store_add(toy, &fault), U9_OK);
    ck_assert_int_eq(u9_log_open(in_toy("log"), &o, &log, &fault), U9_OK);
    ck_assert_int_eq(u9_log_snapshot(log, at("plain"), &how, &report, &fault), U9_ARG);
    ck_assert_ptr_nonnull(strstr(fault.text, "where the log does"));
    ck_assert_int_eq(u9_log_snapshot(log, "sim:shut", &how, &report, &fault), U9_ARG);
    ck_assert_ptr_nonnull(strstr(fault.text, "it is shut today"));
    ck_assert_int_eq(u9_log_snapshot(log, in_toy("snap"), &how, &report, &fault), U9_OK);
    close_log(log);
    seen *s = look(at("snap"));
    ck_assert_uint_eq(s->count, 3);
    forget(s);
    fixture_teardown(); /* and of a log on the system, whatever is in the environment, or nothing */
    fixture_setup();
    unsetenv("U9_IO");
    session(at("log"), "r", 3, 0);
    log = open_reader(at("log"));
    ck_assert_int_eq(u9_log_snapshot(log, at("snap"), &how, &report, &fault), U9_OK);
    close_log(log);
}
END_TEST

/* Where segments of a log are put that are not to stand beside it: what is given is an address, or a path that the log's own
 * env takes. */
START_TEST(a_place_is_where_its_address_says_or_where_paths_lead)
{
    static const struct {
        const char *place, *near, *io, *leads; /* which env; NULL: U9_ARG */
    } cases[] = {
        {"sim:there", "posix", "", "sim"},    {"sim:there", "sim", "sim:", "sim"},   {"there", "posix", "", "posix"},
        {"there", "sim", "", NULL},           {"there", "sim", "sim:", "sim"},       {"none://there", "posix", "", NULL},
        {"a/none://there", "posix", "", "posix"}, {"a:b/c://d", "posix", "", "posix"}, {"there", "si", "", "si"},
        {"sim:shut", "posix", "", NULL},
    };
    u9_fault fault;
    ck_assert_int_eq(u9_store_add(toy, &fault), U9_OK);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        u9i_env near = strcmp(cases[i].near, "posix") == 0 ? u9i_env_posix : *sim_env(), *out = NULL;
        const char *path = cases[i].place;
        near.name = cases[i].near;
        setenv("U9_IO", cases[i].io, 1);
        u9_err err = u9i_env_of_place(&near, &path, &out, &fault);
        ck_assert_msg(err == (cases[i].leads ? U9_OK : U9_ARG), "%s: %d", cases[i].place, err);
        if (cases[i].leads) ck_assert_str_eq(out->name, cases[i].leads);
    }
}
END_TEST

/* "far:PATH", where each read is a request to somewhere else: files of the real disk, of which the system keeps nothing. */
static u9i_fs far_fs;
static u9i_env far;
static atomic_uint far_small, far_reads;

static int read_far(u9i_file *file, uint64_t off, void *buf, size_t n, size_t *got)
{
    atomic_fetch_add(&far_reads, 1);
    usleep(500); /* so that both threads come to something */
    if (n < 4096) atomic_fetch_add(&far_small, 1);
    return u9i_env_posix.fs->read(file, off, buf, n, got);
}

static int map_none(u9i_file *file, uint64_t off, size_t n, const void **out)
{
    (void)file, (void)off, (void)n, (void)out;
    return -ENODEV;
}

static bool find_far(const char *path, u9i_env **env, const char **rest, char *why, size_t size)
{
    far_fs = *u9i_env_posix.fs;
    far_fs.read = read_far;
    far_fs.map = map_none;
    far_fs.fetch = NULL;
    far = u9i_env_posix;
    far.name = "far";
    far.fs = &far_fs;
    *env = &far;
    *rest = path + strlen("far:");
    (void)why, (void)size;
    return true;
}

static const u9_store *far_store(const u9_store_host *host)
{
    static const u9_store store = {"far:", find_far, explain_nothing};
    (void)host;
    return &store;
}

/* What was reserved of it and not written is gone. */
static void cut_reserved(const char *path)
{
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    while (size > 0 && bytes[size - 1] == 0) size--;
    cut_file(path, (size + 4095) / 4096 * 4096);
    free(bytes);
}

/* What one thread has proven behind a crash another does not read by a request for each of its headers. */
START_TEST(where_each_read_is_a_request_recovery_makes_few_large_ones)
{
    static uint8_t bytes[12000];
    char path[3300];
    u9_fault fault;
    u9_options o = writer_options();
    o.segment_size = 64 << 20;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < 2500; i++) {
        append_bytes(w, bytes, sizeof bytes);
        if (i % 4 == 0) ck_assert_int_eq(u9_log_commit(w, i), U9_OK);
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    crash(w, at("log"));
    cut_reserved(segment_path(at("log"), 1));
    ck_assert_int_eq(u9_store_add(far_store, &fault), U9_OK);
    snprintf(path, sizeof path, "far:%s", at("log"));
    o = (u9_options){.size = sizeof o, .mode = U9_WRITE};
    ck_assert_int_eq(u9_log_open(path, &o, &w, &fault), U9_OK);
    ck_assert_msg(atomic_load(&far_small) < 50, "%u small reads of %u", atomic_load(&far_small), atomic_load(&far_reads));
    ck_assert_uint_eq(append_text(w, "next"), 2500);
    close_log(w);
}
END_TEST

Suite *suite_store(void)
{
    Suite *suite = suite_create("store");
    TCase *tc = tcase_create("store");
    tcase_add_checked_fixture(tc, fixture_setup_sim, fixture_teardown);
    tcase_add_test(tc, what_is_added_is_of_this_version_and_there_are_four_at_most);
    tcase_add_test(tc, a_path_of_such_a_place_is_that_of_a_log);
    tcase_add_test(tc, what_stands_beside_a_log_is_in_the_same_place);
    tcase_add_test(tc, a_place_is_where_its_address_says_or_where_paths_lead);
    suite_add_tcase(suite, tc);
    TCase *real = tcase_create("far");
    tcase_add_checked_fixture(real, fixture_setup, fixture_teardown);
    tcase_set_timeout(real, 60);
    tcase_add_test(real, where_each_read_is_a_request_recovery_makes_few_large_ones);
    suite_add_tcase(suite, real);
    return suite;
}
