/*
 * tests/engine/segment/test_sparse.c: what the file system knows to be a hole is not read through, however large.
 */
#include "engine/segment/probe.h"
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GIB (UINT64_C(1) << 30)
#define MIB (UINT64_C(1) << 20)

static u9_damage last_told;

static void note(void *ctx, const u9_damage *damage)
{
    (void)ctx;
    last_told = *damage;
}

static u9_report check_all(const char *log)
{
    u9_report report = {.size = sizeof report};
    u9_check_options o = {.size = sizeof o, .on_damage = note, .io = io_of(log)};
    u9_fault fault;
    if (is_simulated(log)) sim_forget_diary();
    u9_err err = u9_check(log, &o, &report, &fault);
    ck_assert_msg(err == U9_OK, "%s", fault.text);
    return report;
}

/* Checks the log, which reads a few megabytes of it. */
static u9_report check_log(const char *log)
{
    u9_report report = check_all(log);
    if (is_simulated(log)) ck_assert_uint_lt(sim_bytes(SIM_READ), 32 * MIB);
    return report;
}

/* A log of ten records that was not closed. */
static const char *unclosed(void)
{
    const char *log = at("log");
    u9_log *w = open_writer(log, NULL);
    append_many(w, "r", 10, 3);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    crash(w, log);
    return log;
}

START_TEST(a_reserved_tail_is_not_read)
{
    const char *log = unclosed();
    extend_file(segment_path(log, 1), 16 * GIB);
    u9_report r = check_log(log);
    ck_assert_uint_eq(r.records, 10);
    ck_assert_int_eq(r.verdict, U9_V_TORN);
    ck_assert_int_eq(last_told.reason, U9_R_UNCLOSED);
    sim_forget_diary();
    close_log(open_writer(log, NULL)); /* nor by one who goes on behind it */
    ck_assert_uint_lt(sim_bytes(SIM_READ), 32 * MIB);
}
END_TEST

/* {F03} */
START_TEST(what_stands_behind_a_hole_is_found)
{
    const char *log = unclosed();
    const char *path = segment_path(log, 1);
    put_bytes(path, 16 * GIB, "x", 1);
    u9_report r = check_log(log);
    ck_assert_uint_eq(r.records, 10);
    ck_assert_int_eq(r.verdict, U9_V_TORN);
    ck_assert_uint_eq(last_told.end, 16 * GIB + 1);
}
END_TEST

/* {F03} A frame behind the hole that was promised to follow: the hole is a gap, and reading goes on. */
START_TEST(a_frame_behind_a_hole_is_read)
{
    const char *log = at("log");
    uint8_t frame[4096], sha[U9I_HASH_SIZE];
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    (void)forge_records(&f, "r", 10);
    forge_save(&f, log);
    size_t size = record_bytes(frame + U9I_FRAME_HEADER_SIZE, 77, "far", 3);
    f.next.offset = f.next.durable = 16 * GIB;
    f.next.count = 1;
    f.next.ordinal = 12;
    ck_assert_int_eq(u9i_frame_seal(&f.secret, &f.next, frame, size, sha), U9_OK);
    put_bytes(segment_path(log, 1), 16 * GIB, frame, u9i_frame_size(size));
    u9_report r = check_log(log);
    ck_assert_uint_eq(r.records, 11);
    ck_assert_uint_eq(r.lost, 2);
    ck_assert_int_eq(r.verdict, U9_V_CORRUPT);
    forge_free(&f);
}
END_TEST

/* [L-4] A creation cut short, of which a promise is looked for up to its end: that is found, too. */
START_TEST(a_blank_segment_is_known_by_what_is_not_a_hole)
{
    const char *log = at("log");
    uint8_t frame[4096] = {0}, sha[U9I_HASH_SIZE];
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    (void)forge_records(&f, "r", 10);
    forge_end(&f, U9I_END_CLOSING);
    forge_save(&f, log);
    write_file(segment_path(log, 2), "", 0);
    extend_file(segment_path(log, 2), 16 * GIB);
    u9_report r = check_log(log);
    ck_assert_uint_eq(r.records, 10);
    ck_assert_int_eq(last_told.reason, U9_R_BLANK);
    put_bytes(segment_path(log, 2), 8 * GIB + 48, "\xff", 1); /* how a magic begins */
    (void)check_log(log);
    ck_assert_int_eq(last_told.reason, U9_R_BLANK);
    for (uint64_t p = 8 * GIB - 64; p <= 8 * GIB + 64; p += 16) { /* header and hole's end meet in every way */
        f.next.offset = f.next.durable = p;
        f.next.previous = 32;
        f.next.count = 0;
        ck_assert_int_eq(u9i_frame_seal(&f.secret, &f.next, frame, 0, sha), U9_OK);
        memset(frame, 0, 48); /* without boundary and hashes it is none */
        u9i_hash(frame + U9I_FRAME_HEADER_SIZE, U9I_TRAILER_SIZE, frame + 16);
        put_bytes(segment_path(log, 2), p, frame, u9i_frame_size(0));
        (void)check_log(log);
        ck_assert_int_ne(last_told.reason, U9_R_BLANK);
        cut_file(segment_path(log, 2), 0);
        extend_file(segment_path(log, 2), 16 * GIB);
    }
    forge_free(&f);
}
END_TEST

/* A file system that says of all of a file that it was only reserved. */
static uint64_t deny(u9i_file *file, uint64_t off)
{
    uint64_t size;
    return u9i_file_size(file, &size) == 0 && size > off ? size : off;
}

/* {F09} Nothing of a log is left out on such a word: neither a tail nor what alone says that it was promised. */
START_TEST(reserved_space_that_holds_something_is_not_believed_to_be_empty)
{
    static const u9i_fs *honest;
    static u9i_fs lying;
    const char *log = at("log");
    uint8_t frame[4096], sha[U9I_HASH_SIZE];
    const uint64_t far = 4 * MIB;
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    (void)forge_records(&f, "r", 10);
    forge_save(&f, log);
    size_t size = record_bytes(frame + U9I_FRAME_HEADER_SIZE, 77, "far", 3);
    f.next.offset = f.next.durable = far;
    f.next.count = 1;
    f.next.ordinal = 12;
    ck_assert_int_eq(u9i_frame_seal(&f.secret, &f.next, frame, size, sha), U9_OK);
    put_bytes(segment_path(log, 1), far, frame, u9i_frame_size(size));
    uint8_t *junk = malloc(2 * MIB); /* it is the last thing in the file, or much stands there, and zeros behind it */
    memset(junk, 'x', 2 * MIB);
    if (_i == 1) put_bytes(segment_path(log, 1), far + 4096, junk, 2 * MIB);
    extend_file(segment_path(log, 1), far + 4096 + (_i == 1 ? 4 * MIB : 0));
    free(junk);
    u9_report truth = check_all(log);
    honest = sim_env()->fs;
    lying = *honest;
    lying.written = deny;
    sim_env()->fs = &lying;
    u9_report r = check_all(log);
    sim_env()->fs = honest;
    ck_assert_uint_eq(truth.records, 11);
    ck_assert_uint_eq(r.records, truth.records);
    ck_assert_uint_eq(r.lost, truth.lost);
    ck_assert_uint_eq(r.damages, truth.damages);
    ck_assert_int_eq(r.verdict, U9_V_CORRUPT);
    forge_free(&f);
}
END_TEST

/* True if files here have holes, as far as the file system tells. */
static bool has_holes(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    off_t data = lseek(fd, (off_t)GIB, SEEK_DATA);
    bool holes = data < 0 && errno == ENXIO;
    close(fd);
    return holes;
}

START_TEST(a_terabyte_of_hole_costs_no_time_on_a_real_disk)
{
    const char *log = unclosed();
    const char *path = segment_path(log, 1);
    if (truncate(path, (off_t)(1024 * GIB)) != 0 || !has_holes(path)) return; /* not on this file system */
    u9_report r = check_log(log);
    ck_assert_uint_eq(r.records, 10);
    ck_assert_int_eq(r.verdict, U9_V_TORN);
    put_bytes(path, 1024 * GIB, "x", 1);
    r = check_log(log);
    ck_assert_uint_eq(r.records, 10);
    ck_assert_uint_eq(last_told.end, 1024 * GIB + 1);
}
END_TEST

/* What this process has read so far: bytes, or calls. 0: it is not told. */
static uint64_t reads_so_far(bool calls)
{
    unsigned long long bytes = 0, count = 0;
    FILE *f = fopen("/proc/self/io", "re");
    if (f == NULL) return 0;
    if (fscanf(f, "rchar: %llu wchar: %*u syscr: %llu", &bytes, &count) != 2) bytes = count = 0;
    fclose(f);
    return calls ? count : bytes;
}

static uint64_t bytes_read(void)
{
    return reads_so_far(false);
}

/* Reserves space behind a file, and has the zeros there cached. False: it is not known there that they are. */
static bool reserve_behind(const char *log, uint64_t bytes)
{
    u9i_dir *dir;
    u9i_file *file;
    uint64_t size;
    char name[20];
    u9i_segment_name(1, name);
    ck_assert_int_eq(u9i_dir_open(&u9i_env_posix, log, false, &dir), 0);
    ck_assert_int_eq(u9i_file_open(dir, name, U9I_OPEN_WRITE, &file), 0);
    ck_assert_int_eq(u9i_file_size(file, &size), 0);
    ck_assert_int_eq(u9i_file_reserve(file, size + bytes), 0);
    size_t all;
    free(read_file(segment_path(log, 1), &all));
    bool known = all == size + bytes && u9i_file_written(file, size + MIB) == all;
    u9i_file_close(file);
    u9i_dir_close(dir);
    return known;
}

/* {F09} As killed writers leave it: neither who goes on behind it nor a lookup reads what was only reserved. */
START_TEST(space_that_was_only_reserved_is_not_read_on_a_real_disk)
{
    const char *log = unclosed();
    u9_cursor *c;
    u9_record r;
    uint8_t key[16], buf[4096];
    cut_file(segment_path(log, 1), MIB); /* of a copy, in which reserved space is zeros that were written */
    if (!reserve_behind(log, 64 * MIB) || bytes_read() == 0) return; /* not on this file system, or machine */
    uint64_t before = bytes_read();
    u9_log *w = open_writer(log, NULL);
    ck_assert_int_eq(u9_cursor_open(w, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
    memcpy(key, r.key.data, sizeof key);
    u9_cursor_close(c);
    ck_assert_int_eq(u9_log_get(w, &(u9_key){.data = key, .size = sizeof key}, buf, sizeof buf, &r, NULL), U9_OK);
    ck_assert_uint_eq(r.ordinal, 0);
    ck_assert_uint_lt(bytes_read() - before, 8 * MIB);
    close_log(w);
    ck_assert_uint_eq(check_log(log).records, 10);
    ck_assert_uint_lt(bytes_read() - before, 12 * MIB);
}
END_TEST

/* As in a copy of what a killed writer left, where reserved space is zeros that were written: these are read, in large pieces. */
START_TEST(zeros_behind_a_long_segment_are_not_read_block_by_block)
{
    enum { RECORDS = 200, SIZE = 100000 };
    const char *log = at("log");
    uint8_t *bytes = calloc(1, 32 * MIB);
    u9_log *w = open_writer(log, NULL);
    for (unsigned i = 0; i < RECORDS; i++) append_bytes(w, bytes, SIZE);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    crash(w, log);
    put_bytes(segment_path(log, 1), file_size(segment_path(log, 1)), bytes, 32 * MIB);
    free(bytes);
    uint64_t before = reads_so_far(true), all = bytes_read();
    w = open_writer(log, NULL);
    if (before > 0) ck_assert_uint_lt(reads_so_far(true) - before, 3000);
    if (before > 0) ck_assert_uint_lt(bytes_read() - all, 300 * MIB);
    close_log(w);
}
END_TEST

static unsigned told;

static void note_all(void *ctx, const u9_damage *damage)
{
    (void)ctx;
    told++;
    last_told = *damage;
}

/*
 * A long unclosed segment is proven from both ends at once by who goes on behind it: what it says of it, whole
 * or damaged in front or near its end, is what a check from the start says.
 */
START_TEST(a_long_segment_is_judged_from_both_ends_as_from_one)
{
    enum { RECORDS = 200, SIZE = 100000 };
    static const uint64_t damaged_at[] = {0, 3 * MIB, 15 * MIB};
    const char *log = at("log");
    uint8_t *bytes = calloc(1, SIZE);
    u9_log *w = open_writer(log, NULL);
    u9_report r = {.size = sizeof r};
    u9_check_options c = {.size = sizeof c, .on_damage = note_all};
    for (unsigned i = 0; i < RECORDS; i++) append_bytes(w, bytes, SIZE);
    free(bytes);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    append_many(w, "last", 3, 1);
    crash(w, log);
    (void)reserve_behind(log, 8 * MIB);
    if (damaged_at[_i]) put_bytes(segment_path(log, 1), damaged_at[_i], "damage", 6);
    ck_assert_int_eq(u9_check(log, &c, &r, NULL), U9_OK);
    u9_damage by_check = last_told;
    ck_assert_uint_eq(told, _i ? 2 : 1); /* that it was not closed, too */
    ck_assert_uint_eq(r.records, RECORDS + 3 - r.lost);
    ck_assert_uint_eq(r.lost > 0, _i > 0);
    told = 0;
    u9_options o = writer_options();
    o.on_damage = note_all;
    w = open_writer(log, &o);
    ck_assert_uint_eq(told, _i ? 2 : 1);
    ck_assert_uint_eq(last_told.begin, by_check.begin);
    ck_assert_int_eq(last_told.reason, by_check.reason);
    ck_assert_uint_eq(append_text(w, "behind"), r.next_ordinal);
    close_log(w);
    ck_assert_int_eq(u9_check(log, &c, &r, NULL), U9_OK);
    ck_assert_uint_eq(r.records, RECORDS + 4 - r.lost);
}
END_TEST

Suite *suite_sparse(void)
{
    Suite *s = suite_create("sparse");
    TCase *t = tcase_create("sparse");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_reserved_tail_is_not_read);
    tcase_add_test(t, what_stands_behind_a_hole_is_found);
    tcase_add_test(t, a_frame_behind_a_hole_is_read);
    tcase_add_test(t, a_blank_segment_is_known_by_what_is_not_a_hole);
    tcase_add_loop_test(t, reserved_space_that_holds_something_is_not_believed_to_be_empty, 0, 2);
    suite_add_tcase(s, t);
    TCase *real = tcase_create("real");
    tcase_add_checked_fixture(real, fixture_setup, fixture_teardown);
    tcase_set_timeout(real, 60);
    tcase_add_test(real, a_terabyte_of_hole_costs_no_time_on_a_real_disk);
    tcase_add_test(real, space_that_was_only_reserved_is_not_read_on_a_real_disk);
    tcase_add_test(real, zeros_behind_a_long_segment_are_not_read_block_by_block);
    tcase_add_loop_test(real, a_long_segment_is_judged_from_both_ends_as_from_one, 0, 3);
    suite_add_tcase(s, real);
    return s;
}
