/*
 * tests/engine/log/test_locks.c: two locks: a killed writer's writes land after its directory's lock is gone, and
 * the segment's keeps a successor waiting. [W-1] [W-3]
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS_MAX = 200, SECOND = 1000000 };

/* The log of a test: paths of the fixture's last for a few calls only. */
static const char *here(void)
{
    static char path[4200];
    snprintf(path, sizeof path, "%s", at("log"));
    return path;
}

/* What readers were given: the number that the record of each ordinal tells. */
typedef struct given {
    unsigned numbers[RECORDS_MAX];
    size_t count;
} given;

/* Another reader reads all there is: what any reader was given before is still there. */
static void read_again(const char *log, given *g)
{
    u9_options o = {.size = sizeof o, .mode = U9_READ, .io = io_of(log)};
    u9_log *reader;
    u9_cursor *cursor;
    u9_record r;
    u9_value v;
    size_t n = 0;
    u9_err err = u9_log_open(log, &o, &reader, NULL);
    ck_assert(err == U9_OK || g->count == 0); /* there is no log yet */
    if (err != U9_OK) return;
    ck_assert_int_eq(u9_cursor_open(reader, NULL, &cursor, NULL), U9_OK);
    while ((err = u9_cursor_next(cursor, &r)) != U9_END) {
        ck_assert_int_eq(err, U9_OK);
        u9_walk walk = u9_walk_bytes(r.values, r.values_size);
        ck_assert_int_eq(u9_walk_next(&walk, &v), U9_OK);
        unsigned number = (unsigned)strtoul((const char *)v.data, NULL, 10);
        ck_assert_uint_eq(r.ordinal, n);
        ck_assert_uint_lt(n, RECORDS_MAX);
        if (n < g->count) ck_assert_uint_eq(number, g->numbers[n]);
        g->numbers[n++] = number;
    }
    ck_assert_uint_ge(n, g->count);
    g->count = n;
    u9_cursor_close(cursor);
    close_log(reader);
}

/* Records "<n> 000..." of about this size, committed after each `every`. What was acknowledged before a kill counts. */
typedef struct story {
    unsigned records, every;
    size_t size;
    uint64_t segment_size;
} story;

static u9_options options_of(const story *s)
{
    u9_options o = writer_options();
    o.segment_size = s->segment_size;
    return o;
}

/* A session that is killed at its nth write (0: before its close). Returns how many records were acknowledged. */
static unsigned tell_killed(const story *s, const char *log, unsigned nth)
{
    u9_options o = options_of(s);
    unsigned acked = 0;
    char *text = malloc(s->size + 20);
    uint8_t *values = malloc(s->size + 40);
    u9_log *w = open_writer(log, &o);
    if (nth > 0) sim_kill_at_write(nth);
    for (unsigned i = 0; i < s->records && !sim_killed(); i++) {
        u9_builder b;
        snprintf(text, s->size + 20, "%u %0*u", 1000 + i, (int)s->size, 0u);
        u9_builder_init(&b, values, s->size + 40);
        ck_assert_int_eq(u9_build_utf8(&b, text, strlen(text)), U9_OK);
        u9_err err = u9_log_append(w, NULL, values, b.size, NULL);
        if (err == U9_OK && i % s->every == s->every - 1) {
            err = u9_log_sync(w);
            if (!sim_killed()) acked = i + 1;
        }
        ck_assert(err == U9_OK || sim_killed());
    }
    free(values);
    free(text);
    if (nth == 0) sim_kill();
    (void)!u9_log_close(w, NULL);
    return acked;
}

static u9_log *open_when_landed(const char *log, const u9_options *o)
{
    u9_log *w;
    u9_fault fault;
    for (unsigned tries = 0; u9_log_open(log, o, &w, &fault) != U9_OK; tries++) {
        ck_assert_int_eq(fault.err, U9_LOCKED);
        ck_assert_str_eq(fault.rule, "W-1");
        ck_assert_uint_gt(sim_late_writes(), 0);
        ck_assert_uint_lt(tries, 100);
    }
    return w;
}

/* No file ends with a block of zeros: nothing is reserved that nobody will write. [S-7] */
static void expect_nothing_reserved(const char *log)
{
    static const uint8_t zeros[4096];
    uint8_t last[4096];
    for (uint64_t k = 1; k <= segments_in(log); k++) {
        uint64_t size = sim_size(segment_path(log, k));
        if (size < 2 * sizeof last) continue;
        ck_assert_uint_eq(sim_read(segment_path(log, k), size - sizeof last, last, sizeof last), sizeof last);
        ck_assert_msg(memcmp(last, zeros, sizeof last) != 0, "segment %u still has zeros at its end", (unsigned)k);
    }
}

/* One kill, what lands of it as `step_us` says, a reader at any time, and a successor. False: it came to no kill. */
static bool one_kill(const story *s, unsigned nth, uint64_t step_us)
{
    const char *log = here();
    given g = {.count = 0};
    sim_begin(nth);
    sim_make_dir(at(""));
    sim_set_order(nth % 2 ? SIM_DRAWN : SIM_LATE);
    if (nth % 3) session(log, "1", 3, 0);
    read_again(log, &g);
    unsigned before = (unsigned)g.count, acked = tell_killed(s, log, nth);
    if (!sim_killed()) return false;
    read_again(log, &g);
    ck_assert_uint_ge(g.count, before + acked);
    sim_land(step_us);
    sim_advance(step_us);
    read_again(log, &g);
    u9_options o = options_of(s);
    u9_log *w = open_when_landed(log, &o);
    read_again(log, &g);
    sim_advance(step_us);
    read_again(log, &g);
    append_text(w, "2");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    read_again(log, &g);
    ck_assert_uint_eq(g.numbers[g.count - 1], 2);
    close_log(w);
    sim_land(0);
    read_again(log, &g);
    session(log, "3", 1, 0); /* where the lock of what was being sealed kept the session before from it */
    expect_nothing_reserved(log);
    read_again(log, &g);
    seen *all = look(log);
    ck_assert_uint_eq(count_damages(all, U9_V_CORRUPT, U9_R_NONE), 0);
    ck_assert_uint_eq(all->count, g.count);
    forget(all);
    return true;
}

static void kill_at_every_write(const story *s, unsigned least)
{
    static const uint64_t steps_us[] = {0, 3, 50, 700, 20000, 3 * SECOND};
    unsigned nth = 0, steps = sizeof steps_us / sizeof steps_us[0];
    while (one_kill(s, nth + 1, steps_us[nth % steps])) nth++;
    ck_assert_uint_gt(nth, least);
}

/* {F15} {F75} */
START_TEST(a_successor_builds_on_no_end_that_moves_wherever_the_writer_was_killed) /* [W-1] [W-3] */
{
    kill_at_every_write(&(story){.records = 60, .every = 3, .size = 9000, .segment_size = 65536}, 20);
}
END_TEST

/* {F75} */
START_TEST(the_same_with_megabytes_under_way) /* [W-1] [W-3] */
{
    story s = {.records = 100, .every = 100, .size = 60000, .segment_size = 0};
    kill_at_every_write(&s, 6);
    for (unsigned i = 0; i < 6; i++) ck_assert(one_kill(&s, 4, i == 0 ? 0 : UINT64_C(7) << 3 * i));
}
END_TEST

START_TEST(a_successor_does_not_wait_forever) /* [W-1] */
{
    const char *log = here();
    uint8_t before[16], after[16];
    story s = {.records = 100, .every = 100, .size = 60000};
    u9_log *w;
    u9_fault fault;
    u9_options o = options_of(&s);
    sim_set_order(SIM_LATE);
    (void)tell_killed(&s, log, 3);
    ck_assert_uint_gt(sim_late_writes(), 0);
    picture(log, before);
    ck_assert_int_eq(u9_log_open(log, &o, &w, &fault), U9_LOCKED);
    ck_assert_int_eq(fault.err, U9_LOCKED);
    ck_assert_str_eq(fault.rule, "W-1");
    ck_assert_ptr_nonnull(strstr(fault.text, "killed writer"));
    picture(log, after);
    ck_assert_mem_eq(before, after, 16);
    sim_land(0);
    close_log(open_writer(log, &o));
    const char *last[] = {segment_path(log, 1), at("log/.mark")}, *of[] = {"on segment 0", "on its mark"};
    for (unsigned i = 0; i < 2; i++) { /* requests on the one and not on the other */
        sim_take_lock(last[i]);
        ck_assert_int_eq(u9_log_open(log, &o, &w, &fault), U9_LOCKED);
        ck_assert_str_eq(fault.rule, "W-1");
        ck_assert_ptr_nonnull(strstr(fault.text, "killed writer's last requests"));
        ck_assert_ptr_nonnull(strstr(fault.text, of[i]));
        sim_drop_lock(last[i]);
        close_log(open_writer(log, &o));
    }
}
END_TEST

/* {F75} The successor's mark is not overwritten by an older one. [M-5] */
START_TEST(a_mark_that_lands_late_does_not_take_back_what_the_successor_marked)
{
    const char *log = here();
    unsigned waited = 0;
    for (unsigned nth = 1; nth <= 8; nth++) {
        sim_begin(nth);
        sim_make_dir(at(""));
        session(log, "first ", 2, 0);
        sim_set_order(SIM_LATE);
        u9_options o = writer_options();
        u9_log *w = open_writer(log, &o);
        append_text(w, "third");
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        sim_kill_at_write(nth);
        for (unsigned i = 0; i < 100 && !sim_killed(); i++) sim_advance(SECOND / 20);
        if (!sim_killed()) sim_kill();
        (void)!u9_log_close(w, NULL);
        waited += sim_late_writes();
        sim_land(3 * SECOND);
        session(log, "more ", 4, 0);
        sim_land(0);
        u9_report report = {.size = sizeof report};
        u9_check_options c = {.size = sizeof c, .io = io_of(log)};
        ck_assert_int_eq(u9_check(log, &c, &report, NULL), U9_OK);
        ck_assert_int_eq(report.mark, U9_MARK_COUNTS);
        ck_assert_int_eq(report.verdict, U9_V_CLEAN);
        ck_assert_uint_eq(report.mark_ordinal, report.next_ordinal);
    }
    ck_assert_uint_gt(waited, 0);
}
END_TEST

/* Without an end that is under way, nothing is waited for. */
START_TEST(a_successor_of_a_writer_that_had_nothing_under_way_does_not_wait)
{
    story s = {.records = 4, .every = 2, .size = 10};
    (void)tell_killed(&s, at("log"), 0);
    ck_assert_uint_eq(sim_late_writes(), 0);
    uint64_t start = u9i_monotonic_us(sim_env());
    close_log(open_writer(at("log"), NULL));
    ck_assert_uint_lt(u9i_monotonic_us(sim_env()) - start, 1000);
}
END_TEST

/* {F75} */
START_TEST(a_tail_is_in_progress_while_a_killed_writers_requests_are) /* */
{
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    (void)forge_records(&f, "r", 4);
    forge_pad(&f);
    memset(f.bytes + f.size, 'x', 4096);
    f.size += 4096;
    forge_save(&f, at("log"));
    forge_free(&f);
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .io = io_of(at("log"))};
    ck_assert_int_eq(u9_check(at("log"), &o, &report, NULL), U9_OK);
    ck_assert_int_eq(report.verdict, U9_V_UNKNOWN);
    sim_take_lock(segment_path(at("log"), 1));
    ck_assert_int_eq(u9_check(at("log"), &o, &report, NULL), U9_OK);
    ck_assert_int_eq(report.verdict, U9_V_TORN);
    ck_assert_int_eq(u9_check(segment_path(at("log"), 1), &o, &report, NULL), U9_OK);
    ck_assert_int_eq(report.verdict, U9_V_TORN);
}
END_TEST

/* Real files */

/*
 * How many descriptors of this process have a lock on that file. *direct: one of these writes O_DIRECT;
 * *any_direct: one that has it open does.
 */
static unsigned locks_on(const char *path, bool *direct, bool *any_direct)
{
    unsigned n = 0;
    DIR *fds = opendir("/proc/self/fd");
    struct dirent *e;
    *direct = *any_direct = false;
    while (fds && (e = readdir(fds)) != NULL) {
        char link[300], target[4400], line[300];
        snprintf(link, sizeof link, "/proc/self/fd/%s", e->d_name);
        ssize_t size = readlink(link, target, sizeof target - 1);
        if (size <= 0) continue;
        target[size] = 0;
        if (strcmp(target, path) != 0) continue;
        int flags = fcntl(atoi(e->d_name), F_GETFL);
        bool locked = false;
        snprintf(link, sizeof link, "/proc/self/fdinfo/%s", e->d_name);
        FILE *info = fopen(link, "r");
        while (info && fgets(line, sizeof line, info))
            locked |= strstr(line, "lock:") && strstr(line, "FLOCK") && strstr(line, "WRITE");
        if (info) fclose(info);
        *any_direct |= (flags & O_DIRECT) != 0;
        *direct |= locked && (flags & O_DIRECT) != 0;
        n += locked;
    }
    if (fds) closedir(fds);
    return n;
}

START_TEST(the_lock_of_a_segment_is_had_by_the_descriptor_that_it_is_written_with) /* [W-1] */
{
    char *path = realpath(at(""), NULL), segment[4400];
    bool direct, any_direct;
    ck_assert_ptr_nonnull(path);
    snprintf(segment, sizeof segment, "%s/log/0000000000000001.u9", path);
    free(path);
    for (unsigned i = 0; i < 4; i++) { /* made, and continued */
        u9_options o = writer_options();
        o.io = i % 2 ? "uring" : "posix";
        if (i % 2 && !u9i_uring_usable()) continue;
        u9_log *w = open_writer(at("log"), &o);
        append_text(w, "one");
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        ck_assert_uint_eq(locks_on(segment, &direct, &any_direct), 1);
        ck_assert(direct == any_direct); /* a ring writes through that one, if there is one */
        close_log(w);
        ck_assert_uint_eq(locks_on(segment, &direct, &any_direct), 0);
    }
}
END_TEST

Suite *suite_locks(void)
{
    Suite *suite = suite_create("locks");
    TCase *killed = tcase_create("killed");
    tcase_add_checked_fixture(killed, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(killed, 240);
    tcase_add_test(killed, a_successor_builds_on_no_end_that_moves_wherever_the_writer_was_killed);
    tcase_add_test(killed, the_same_with_megabytes_under_way);
    tcase_add_test(killed, a_successor_does_not_wait_forever);
    tcase_add_test(killed, a_mark_that_lands_late_does_not_take_back_what_the_successor_marked);
    tcase_add_test(killed, a_successor_of_a_writer_that_had_nothing_under_way_does_not_wait);
    tcase_add_test(killed, a_tail_is_in_progress_while_a_killed_writers_requests_are);
    suite_add_tcase(suite, killed);

    TCase *real = tcase_create("real");
    tcase_add_checked_fixture(real, fixture_setup, fixture_teardown);
    tcase_set_timeout(real, 60);
    tcase_add_test(real, the_lock_of_a_segment_is_had_by_the_descriptor_that_it_is_written_with);
    suite_add_tcase(suite, real);
    return suite;
}
