/*
 * tests/engine/log/test_log.c: a log as its user has it: open, append, commit, read, look up, close; who may do
 * what at the same time; and what is said when something cannot be done. [L-1] to [L-8] [S-1] [S-2] [W-1]
 */
#include "format/frame/control.h"
#include "format/frame/disk.h"
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SMALL = 65536, /* the smallest segment */ CHILD_SECONDS = 50 };

static const uint8_t number_7[] = {0x00, 0x07};

/* In a child, where Check's own words do not reach anybody: says what is wrong and exits. */
#define CHILD_EXPECT(what)                                            \
    do {                                                              \
        if (!(what)) {                                                \
            dprintf(2, "child, line %d: not so: %s\n", __LINE__, #what); \
            _exit(1);                                                 \
        }                                                             \
    } while (0)

static pid_t fork_child(void)
{
    fflush(NULL);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) alarm(CHILD_SECONDS); /* a child that hangs dies */
    return pid;
}

static void expect_child(pid_t pid, int status)
{
    int got;
    ck_assert_int_eq(waitpid(pid, &got, 0), pid);
    ck_assert_msg(WIFEXITED(got), "the child died of signal %d", WTERMSIG(got));
    ck_assert_int_eq(WEXITSTATUS(got), status);
}

static u9_log *open_sized(const char *log, uint64_t segment_size)
{
    u9_options o = writer_options();
    o.segment_size = segment_size;
    return open_writer(log, &o);
}

/* A value of `size` bytes in all, made of zeros; free() it. */
static uint8_t *value_of(size_t size)
{
    uint8_t *bytes = calloc(1, size), *value = malloc(size);
    u9_builder b;
    size_t head = size > 65536 + 5 ? 5 : size > 256 + 3 ? 3 : 2;
    u9_builder_init(&b, value, size);
    ck_assert_int_eq(u9_build_bytes(&b, bytes, size - head), U9_OK);
    ck_assert_uint_eq(b.size, size);
    free(bytes);
    return value;
}

/* Records */

START_TEST(a_log_is_made_written_closed_and_read) /* [S-1] [L-1] */
{
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_uint_eq(u9_log_next(w), 0);
    ck_assert_uint_eq(append_text(w, "one"), 0);
    ck_assert_uint_eq(append_text(w, "two"), 1);
    ck_assert_uint_eq(u9_log_next(w), 2);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 2);
    ck_assert_str_eq(s->records[0].text, "one");
    ck_assert_str_eq(s->records[1].text, "two");
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_int_ne(s->report.closed, 0);
    ck_assert_str_eq(s->report.kind, "muid");
    forget(s);
    size_t size;
    uint8_t *bytes = read_file(segment_path(at("log"), 1), &size);
    ck_assert_int_eq(memcmp(bytes, u9i_disk_magic, 8), 0);
    ck_assert_int_eq(memcmp(bytes + 32 + 48, u9i_frame_magic, 8), 0);
    ck_assert_int_eq(memcmp(bytes + 32 + 64 + 5, "\x0au9open", 7), 0); /* the first frame */
    free(bytes);
}
END_TEST

START_TEST(a_key_is_made_or_kept_as_given) /* [L-6] */
{
    static const uint8_t given[16] = "sixteen bytes...";
    static const u9_key key = {given, 16};
    u9_place made, kept;
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_int_eq(u9_log_append(w, NULL, number_7, 2, &made), U9_OK);
    ck_assert_int_eq(u9_log_append(w, &key, number_7, 2, &kept), U9_OK);
    ck_assert_uint_eq(made.key_size, 16);
    ck_assert_uint_eq(kept.key_size, 16);
    ck_assert_int_eq(memcmp(kept.key, given, 16), 0);
    ck_assert_str_eq(u9_log_kind(w), "muid");
    close_log(w);
    u9_log *r = open_reader(at("log"));
    u9_cursor *c;
    u9_record record;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
        ck_assert_uint_eq(record.key.size, 16);
        ck_assert_int_eq(memcmp(record.key.data, i ? kept.key : made.key, 16), 0);
        ck_assert_int_eq(memcmp((const uint8_t *)record.key.data - 2, "\x1c\x10", 2), 0);
        ck_assert_uint_eq(record.values_size, 2);
        ck_assert_int_eq(memcmp(record.values, number_7, 2), 0);
        ck_assert_uint_eq(record.at, record.frame / 16 << 24 | (i ? record.at & 0xffffff : 0));
    }
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_END);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_END);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

START_TEST(a_key_of_another_size_is_refused) /* [L-6] */
{
    u9_log *w = open_writer(at("log"), NULL);
    for (size_t size = 0; size < 40; size++) {
        uint8_t bytes[40] = {0};
        u9_key key = {bytes, size};
        u9_fault fault;
        if (size == 16) continue;
        ck_assert_int_eq(u9_log_append(w, &key, number_7, 2, NULL), U9_ARG);
        u9_log_fault(w, &fault);
        ck_assert_int_eq(fault.err, U9_ARG);
        ck_assert_ptr_nonnull(strstr(fault.text, "another size"));
    }
    ck_assert_uint_eq(u9_log_next(w), 0);
    close_log(w);
}
END_TEST

START_TEST(values_that_are_not_well_formed_are_refused) /* [B-2] */
{
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = {
        {"\x01\xab", 2},                 /* a uint16 cut short */
        {"\x00\x07\x00", 3},             /* so is the second value */
        {"\x1c\x10", 2},                 /* bytes without bytes */
        {"\x40\x05\x01\x00", 4},         /* a tuple longer than what is there */
        {"\x40\x03\x02\x00\x07", 5},     /* two elements told, one there */
        {"\x40\x03\x01\x40\x01", 5},     /* a tuple in it is cut short */
        {"\x19\xff\xff", 3},             /* a text of 65535 bytes */
    };
    u9_log *w = open_writer(at("log"), NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(u9_log_append(w, NULL, bad[i].bytes, bad[i].size, NULL) == U9_ARG, "row %zu",
                      i);
    ck_assert_uint_eq(u9_log_next(w), 0);
    ck_assert_int_eq(u9_log_append_batch(w, NULL, 0, NULL), U9_ARG);
    close_log(w);
}
END_TEST

START_TEST(a_record_is_never_nested_deeper_than_a_value_may_be) /* [V-8] */
{
    u9_log *w = open_writer(at("log"), NULL);
    u9_cursor *c;
    u9_record r;
    uint8_t value[1024];
    for (unsigned deep = U9_DEPTH_MAX - 1; deep <= U9_DEPTH_MAX; deep++) {
        u9_builder b;
        u9_builder_init(&b, value, sizeof value);
        for (unsigned i = 0; i < deep; i++) ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
        for (unsigned i = 0; i < deep; i++) ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
        ck_assert_int_eq(u9_value_check(value, b.size, NULL, NULL), U9_OK);
        ck_assert_int_eq(u9_log_append(w, NULL, value, b.size, NULL),
                         deep < U9_DEPTH_MAX ? U9_OK : U9_ARG); /* the record is a tuple, too */
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_int_eq(u9_cursor_open(w, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
    ck_assert_int_eq(u9_value_check(r.bytes, r.size, NULL, NULL), U9_OK);
    u9_cursor_close(c);
    close_log(w);
}
END_TEST

START_TEST(one_bad_entry_refuses_its_whole_batch)
{
    u9_entry entries[3] = {{.values = number_7, .size = 2},
                           {.values = number_7, .size = 1},
                           {.values = number_7, .size = 2}};
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_int_eq(u9_log_append_batch(w, entries, 3, NULL), U9_ARG);
    u9_fault fault;
    u9_log_fault(w, &fault);
    ck_assert_ptr_nonnull(strstr(fault.text, "record 1 "));
    ck_assert_uint_eq(u9_log_next(w), 0);
    close_log(w);
}
END_TEST

START_TEST(a_record_may_have_no_values)
{
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_int_eq(u9_log_append(w, NULL, NULL, 0, NULL), U9_OK);
    ck_assert_int_eq(u9_log_append(w, NULL, "", 0, NULL), U9_OK);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 2);
    ck_assert_ptr_null(s->records[0].text);
    forget(s);
}
END_TEST

START_TEST(a_record_may_have_16_mib_and_not_a_byte_more) /* [F-5] */
{
    size_t size = U9_RECORD_MAX - 9 - 18; /* the head of its tuple, and its key */
    uint8_t *value = value_of(size), *larger = value_of(size + 1);
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_int_eq(u9_log_append(w, NULL, larger, size + 1, NULL), U9_LIMIT);
    ck_assert_uint_eq(u9_log_next(w), 0);
    ck_assert_int_eq(u9_log_append(w, NULL, value, size, NULL), U9_OK);
    append_text(w, "behind");
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 2);
    ck_assert_uint_eq(s->records[0].size, U9_RECORD_MAX);
    ck_assert_str_eq(s->records[1].text, "behind");
    forget(s);
    free(value);
    free(larger);
}
END_TEST

/* Segments in a row */

START_TEST(ordinals_run_on_over_sessions_and_segments) /* [L-5] [L-2] [L-1] */
{
    enum { SESSIONS = 6, EACH = 900 };
    for (unsigned n = 0; n < SESSIONS; n++) {
        u9_log *w = open_sized(at("log"), SMALL);
        ck_assert_uint_eq(u9_log_next(w), n * EACH);
        ck_assert_uint_eq(u9_log_durable(w), n * EACH);
        for (unsigned i = 0; i < EACH; i++) {
            char text[100];
            snprintf(text, sizeof text, "%060u", n * EACH + i);
            ck_assert_uint_eq(append_text(w, text), n * EACH + i);
            if (i % 50 == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
        }
        close_log(w);
    }
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, SESSIONS * EACH);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_ge(s->report.segments, 8);
    uint64_t segment = 1;
    for (unsigned i = 0; i < SESSIONS * EACH; i++) {
        ck_assert_uint_eq(s->records[i].ordinal, i);
        ck_assert_int_eq(atoi(s->records[i].text), (int)i);
        ck_assert_uint_ge(s->records[i].segment, segment);
        ck_assert_uint_le(s->records[i].segment, segment + 1);
        segment = s->records[i].segment;
    }
    ck_assert_uint_eq(segment, s->report.segments);
    for (uint64_t k = 1; k <= segment; k++) ck_assert_uint_ge(file_size(segment_path(at("log"), k)), 8192);
    forget(s);
}
END_TEST

START_TEST(a_cursor_begins_at_any_ordinal) /* [L-5] */
{
    u9_log *w = open_sized(at("log"), SMALL);
    for (unsigned i = 0; i < 3000; i++) {
        char text[100];
        snprintf(text, sizeof text, "%060u", i);
        append_text(w, text);
    }
    close_log(w);
    u9_log *r = open_reader(at("log"));
    static const uint64_t from[] = {0, 1, 299, 300, 1234, 2998, 2999, 3000, 3001, U9_NOWHERE};
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        u9_range range = {.size = sizeof range, .from = from[i]};
        u9_cursor *c;
        u9_record record;
        u9_err err;
        uint64_t next = from[i];
        ck_assert_int_eq(u9_cursor_open(r, &range, &c, NULL), U9_OK);
        while ((err = u9_cursor_next(c, &record)) == U9_OK) ck_assert_uint_eq(record.ordinal, next++);
        ck_assert_int_eq(err, U9_END);
        ck_assert_uint_eq(next, from[i] > 3000 ? from[i] : 3000);
        u9_cursor_close(c);
    }
    u9_range bad = {.size = 1};
    u9_cursor *c;
    u9_fault fault;
    ck_assert_int_eq(u9_cursor_open(r, &bad, &c, &fault), U9_ARG);
    ck_assert_ptr_nonnull(strstr(fault.text, "range.size"));
    close_log(r);
}
END_TEST

START_TEST(names_that_are_no_segments_are_passed_by) /* [L-1] */
{
    static const char *const names[] = {"notes.txt", "0000000000000001", "0000000000000001.u9.old",
                                        "1.u9.bak",  ".hidden",          "0000000000000002.u9x"};
    session(at("log"), "a", 3, 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[4000];
        snprintf(path, sizeof path, "%s/%s", at("log"), names[i]);
        write_file(path, "not a segment", 13);
    }
    session(at("log"), "b", 3, 0);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 6);
    ck_assert_uint_eq(s->damage_count, 0);
    ck_assert_uint_eq(s->report.segments, 1);
    forget(s);
}
END_TEST

/* {F62} */
START_TEST(a_segment_may_be_a_link_to_a_file) /* [L-1] */
{
    session(at("log"), "a", 3, 0);
    ck_assert_int_eq(rename(segment_path(at("log"), 1), at("elsewhere")), 0);
    ck_assert_int_eq(symlink(at("elsewhere"), segment_path(at("log"), 1)), 0);
    session(at("log"), "b", 3, 0);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 6);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

/* A log of some segments, the last of them closed; how many. */
static uint64_t make_row(const char *log)
{
    u9_log *w = open_sized(log, SMALL);
    append_many(w, "a record of a row of segments that is written over and over ", 4000, 0);
    close_log(w);
    uint64_t n = 0;
    while (access(segment_path(log, n + 1), F_OK) == 0) n++;
    ck_assert_uint_ge(n, 3);
    return n;
}

START_TEST(a_missing_segment_is_told_and_refused_to_writers) /* [L-4] [L-2] */
{
    (void)make_row(at("log"));
    seen *whole = look(at("log"));
    size_t there = 0;
    for (size_t i = 0; i < whole->count; i++) there += whole->records[i].segment != 2;
    remove_log(segment_path(at("log"), 2));
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, there);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MISSING), 1);
    ck_assert_uint_eq(s->report.lost, whole->count - there);
    forget(s);
    forget(whole);
    u9_options o = writer_options();
    u9_log *w;
    u9_fault fault;
    ck_assert_int_eq(u9_log_open(at("log"), &o, &w, &fault), U9_CORRUPT);
    ck_assert_str_eq(fault.rule, "L-4");
    ck_assert_ptr_nonnull(strstr(fault.text, "0000000000000002.u9"));
}
END_TEST

/* {F30} */
START_TEST(a_missing_last_segment_is_told_by_the_seal_before_it) /* [L-4] [S-6] */
{
    uint64_t n = make_row(at("log"));
    remove_log(segment_path(at("log"), n));
    for (unsigned marked = 2; marked-- > 0; remove_mark(at("log"))) { /* the mark knows more [M-4] */
        seen *s = look(at("log"));
        ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, marked ? U9_R_MARK : U9_R_MISSING), 1);
        ck_assert_int_eq(s->damages[s->damage_count - 1].lost == U9_NOWHERE, !marked);
        ck_assert_int_eq(s->report.next_ordinal == U9_NOWHERE, !marked); /* nobody says where it goes on */
        forget(s);
    }
    u9_options o = writer_options();
    u9_log *w;
    ck_assert_int_eq(u9_log_open(at("log"), &o, &w, NULL), U9_CORRUPT);
}
END_TEST

START_TEST(a_segment_of_another_log_is_foreign) /* [L-4] */
{
    (void)make_row(at("log"));
    (void)make_row(at("other"));
    size_t size;
    uint8_t *bytes = read_file(segment_path(at("other"), 2), &size);
    write_file(segment_path(at("log"), 2), bytes, size);
    free(bytes);
    seen *s = look(at("log"));
    ck_assert_uint_eq(count_damages(s, U9_V_UNKNOWN, U9_R_FOREIGN), 1);
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_MISSING), 1);
    for (size_t i = 0; i < s->count; i++) ck_assert_uint_ne(s->records[i].segment, 2);
    forget(s);
    u9_options o = writer_options();
    u9_log *w;
    ck_assert_int_eq(u9_log_open(at("log"), &o, &w, NULL), U9_CORRUPT);
}
END_TEST

START_TEST(what_a_later_session_left_out_never_comes_back) /* [L-3] */
{
    session(at("log"), "kept ", 3, 0);
    pid_t pid = fork_child();
    if (pid == 0) { /* a session that is killed before its records are durable */
        u9_options o = writer_options();
        u9_log *w;
        o.policy = U9_POLICY_NONE;
        CHILD_EXPECT(u9_log_open(at("log"), &o, &w, NULL) == U9_OK);
        CHILD_EXPECT(u9_log_append(w, NULL, number_7, 2, NULL) == U9_OK);
        CHILD_EXPECT(u9_log_sync(w) == U9_OK);
        _exit(0);
    }
    expect_child(pid, 0);
    remove_mark(at("log")); /* whether it promises the record depends on when the child was gone */
    /* The killed session is gone from its first byte on: the next one goes on before it. */
    seen_frame frames[16];
    const char *path = segment_path(at("log"), 1);
    size_t size, first = 0;
    uint8_t *good = read_file(path, &size);
    size_t n = list_frames(good, size, frames, 16);
    while (first < n && !frames[first].is_end) first++;
    ck_assert_uint_ge(n, first + 3);
    cut_file(path, frames[first + 1].offset);
    extend_file(path, size);
    session(at("log"), "new ", 1, 0);
    write_file(path, good, size); /* the bytes are back, the record is not */
    free(good);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 4);
    ck_assert_str_eq(s->records[3].text, "new 0");
    forget(s);
}
END_TEST

START_TEST(a_segment_can_be_read_alone) /* [L-8] */
{
    uint64_t n = make_row(at("log"));
    seen *whole = look(at("log"));
    uint64_t sum = 0;
    for (uint64_t k = 1; k <= n; k++) {
        seen *s = look(segment_path(at("log"), k));
        ck_assert_int_eq(s->err, U9_OK);
        ck_assert_uint_eq(s->damage_count, 0);
        ck_assert_int_ne(s->report.confirmed, 0); /* its last block is a u9end */
        ck_assert_uint_gt(s->count, 0);
        ck_assert_uint_eq(s->records[0].ordinal, sum);
        sum += s->count;
        forget(s);
    }
    ck_assert_uint_eq(sum, whole->count);
    forget(whole);
    cut_file(segment_path(at("log"), 1), file_size(segment_path(at("log"), 1)) - 4096);
    seen *s = look(segment_path(at("log"), 1));
    ck_assert_int_eq(s->report.confirmed, 0);
    forget(s);
}
END_TEST

/* Readers beside a writer */

START_TEST(a_second_handle_reads_while_the_first_writes)
{
    u9_log *w = open_sized(at("log"), SMALL);
    append_text(w, "0");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    u9_log *r = open_reader(at("log"));
    for (unsigned n = 1; n < 60; n++) {
        append_many(w, "more and more and more ", 30, 0);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        u9_log *both[2] = {r, w};
        for (unsigned i = 0; i < 2; i++) {
            u9_cursor *c;
            u9_record record;
            u9_err err;
            uint64_t next = 0;
            ck_assert_int_eq(u9_cursor_open(both[i], NULL, &c, NULL), U9_OK);
            while ((err = u9_cursor_next(c, &record)) == U9_OK)
                ck_assert_uint_eq(record.ordinal, next++);
            ck_assert_int_eq(err, U9_END);
            ck_assert_uint_eq(next, 1 + 30 * n);
            u9_cursor_close(c);
        }
    }
    close_log(r);
    close_log(w);
}
END_TEST

/* {F45} */
START_TEST(another_process_reads_while_this_one_writes) /* */
{
    enum { ALL = 6000 };
    const char *path = at("log");
    int begun[2];
    ck_assert_int_eq(pipe(begun), 0);
    pid_t pid = fork_child(); /* before there are threads, whose locks a sanitizer's child would inherit */
    if (pid == 0) {
        uint64_t before = 0;
        char go;
        CHILD_EXPECT(read(begun[0], &go, 1) == 1);
        while (before < ALL) {
            u9_log *r;
            u9_cursor *c;
            u9_record record;
            u9_err err;
            uint64_t next = 0;
            CHILD_EXPECT(u9_log_open(path, NULL, &r, NULL) == U9_OK);
            CHILD_EXPECT(u9_cursor_open(r, NULL, &c, NULL) == U9_OK);
            while ((err = u9_cursor_next(c, &record)) == U9_OK) CHILD_EXPECT(record.ordinal == next++);
            CHILD_EXPECT(err == U9_END);
            CHILD_EXPECT(next >= before);
            before = next;
            u9_cursor_close(c);
            CHILD_EXPECT(u9_log_close(r, NULL) == U9_OK);
            u9_report report = {.size = sizeof report};
            CHILD_EXPECT(u9_check(path, NULL, &report, NULL) == U9_OK);
            CHILD_EXPECT(report.verdict <= U9_V_TORN && report.records >= before);
        }
        _exit(0);
    }
    u9_log *w = open_sized(path, SMALL);
    append_text(w, "0");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_int_eq(write(begun[1], "g", 1), 1);
    for (unsigned i = 1; i < ALL; i++) {
        append_many(w, "a record that is read while it is written ", 1, 0);
        if (i % 40 == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
    }
    close_log(w);
    expect_child(pid, 0);
    close(begun[0]);
    close(begun[1]);
}
END_TEST

/* A reader that is stopped in the middle of looking around, while the writer rolls. */
typedef struct onlooker {
    u9_log *log;
    u9_err err; /* how its walk ended */
    size_t count;
} onlooker;

static void *look_around(void *arg)
{
    onlooker *me = arg;
    u9_cursor *c;
    u9_record record;
    me->err = u9_cursor_open(me->log, NULL, &c, NULL);
    if (me->err != U9_OK) return NULL;
    while ((me->err = u9_cursor_next(c, &record)) == U9_OK) me->count++;
    u9_cursor_close(c);
    return NULL;
}

/* The reader knows of `known` segments, and is stopped when it has looked at all but the first. */
static void roll_under_a_reader(unsigned known)
{
    onlooker me = {.count = 0};
    pthread_t thread;
    u9_log *w = open_sized(at("log"), SMALL);
    append_many(w, "before", 1, 1);
    if (known == 2) write_file(segment_path(at("log"), 2), "", 0); /* as a creation begins */
    me.log = open_reader(at("log"));
    append_many(w, "so that its cursor looks again", 1, 1);
    sim_hold(SIM_OPEN, known);
    ck_assert_int_eq(pthread_create(&thread, NULL, look_around, &me), 0);
    sim_wait_held();
    if (known == 2) remove_log(segment_path(at("log"), 2));
    append_many(w, "a record of those that fill a segment up to its end ", 1000, 0);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert(exists(segment_path(at("log"), 2)));
    sim_let_go();
    pthread_join(thread, NULL);
    ck_assert_msg(me.err == U9_END, "%s", u9_err_name(me.err));
    ck_assert_uint_eq(me.count, 1002);
    close_log(me.log);
    close_log(w);
}

/* {F45} */
START_TEST(a_roll_behind_a_readers_back_is_no_missing_segment) /* [R-10] [L-4] */
{
    roll_under_a_reader(1);
}
END_TEST

START_TEST(nor_is_one_into_a_file_that_it_saw_empty) /* [R-10] [L-4] */
{
    roll_under_a_reader(2);
}
END_TEST

/* Many threads */

enum { THREADS = 4, PER_THREAD = 150 };

typedef struct worker {
    u9_log *log;
    unsigned number;
    bool fine;
    u9_err err;
    u9_fault fault;
} worker;

static void *append_and_commit(void *arg)
{
    worker *me = arg;
    uint64_t last = 0;
    me->fine = true;
    for (unsigned i = 0; i < PER_THREAD && me->fine; i++) {
        u9_place place;
        me->fine = u9_log_append(me->log, NULL, number_7, 2, &place) == U9_OK &&
                   u9_log_commit(me->log, place.ordinal) == U9_OK &&
                   u9_log_durable(me->log) > place.ordinal && (i == 0 || place.ordinal > last);
        last = place.ordinal;
    }
    return NULL;
}

static void *read_over_and_over(void *arg)
{
    worker *me = arg;
    uint64_t next = 0;
    me->fine = true;
    while (me->fine && next < THREADS * PER_THREAD) {
        u9_cursor *c;
        u9_record record;
        u9_err err = u9_cursor_open(me->log, NULL, &c, NULL);
        for (next = 0; err == U9_OK; next++) {
            err = u9_cursor_next(c, &record);
            if (err == U9_OK) me->fine = me->fine && record.ordinal == next;
        }
        next--;
        me->fine = me->fine && err == U9_END;
        me->err = err;
        u9_cursor_fault(c, &me->fault);
        u9_cursor_close(c);
    }
    return NULL;
}

START_TEST(many_threads_append_commit_and_read_through_one_handle)
{
    pthread_t threads[THREADS + 1];
    worker workers[THREADS + 1];
    u9_log *w = open_sized(at("log"), SMALL);
    for (unsigned i = 0; i <= THREADS; i++) {
        workers[i] = (worker){.log = w, .number = i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL,
                                        i < THREADS ? append_and_commit : read_over_and_over,
                                        &workers[i]),
                         0);
    }
    for (unsigned i = 0; i <= THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_msg(workers[i].fine, "thread %u: %s: %s", i, u9_err_name(workers[i].err),
                      workers[i].fault.text);
    }
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, THREADS * PER_THREAD);
    forget(s);
}
END_TEST

/* One writer at a time */

static void expect_locked(const char *log)
{
    u9_options o = writer_options();
    u9_log *second = NULL;
    u9_fault fault;
    ck_assert_int_eq(u9_log_open(log, &o, &second, &fault), U9_LOCKED);
    ck_assert_ptr_null(second);
    ck_assert_int_eq(fault.err, U9_LOCKED);
    ck_assert_str_eq(fault.rule, "W-1");
    ck_assert_str_eq(fault.path, log);
}

/* {F44} */
START_TEST(a_second_writer_in_this_process_is_locked_out) /* [W-1] */
{
    u9_log *w = open_writer(at("log"), NULL);
    expect_locked(at("log"));
    append_text(w, "one");
    expect_locked(at("log"));
    close_log(w);
    session(at("log"), "next", 1, 0);
}
END_TEST

/* {F44} */
START_TEST(a_writer_in_another_process_locks_this_one_out_while_it_lives) /* [W-1] */
{
    int ready[2], stop[2];
    char byte = 0;
    ck_assert_int_eq(pipe(ready), 0);
    ck_assert_int_eq(pipe(stop), 0);
    const char *path = at("log");
    pid_t pid = fork_child();
    if (pid == 0) {
        u9_options o = writer_options();
        u9_log *w;
        close(stop[1]);
        CHILD_EXPECT(u9_log_open(path, &o, &w, NULL) == U9_OK);
        CHILD_EXPECT(u9_log_append(w, NULL, number_7, 2, NULL) == U9_OK);
        CHILD_EXPECT(u9_log_sync(w) == U9_OK);
        CHILD_EXPECT(write(ready[1], &byte, 1) == 1);
        CHILD_EXPECT(read(stop[0], &byte, 1) == 0);
        _exit(0); /* dies without a close */
    }
    close(ready[1]);
    close(stop[0]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    expect_locked(path);
    u9_log *r = open_reader(path); /* a reader needs no lock */
    close_log(r);
    close(stop[1]);
    expect_child(pid, 0);
    session(path, "next", 1, 0);
    seen *s = look(path);
    ck_assert_uint_eq(s->count, 2);
    forget(s);
}
END_TEST

/* {F44} */
START_TEST(a_log_that_was_renamed_is_still_locked) /* [W-1] */
{
    u9_log *w = open_writer(at("log"), NULL);
    append_text(w, "one");
    ck_assert_int_eq(rename(at("log"), at("renamed")), 0);
    expect_locked(at("renamed"));
    append_text(w, "two");
    ck_assert_int_eq(rename(at("renamed"), at("log")), 0); /* else it would not be acknowledged [W-6] */
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 2);
    forget(s);
}
END_TEST

/* Forked off */

/* What a child may do with its parent's handle: be told so. */
static void child_is_refused(u9_log *log, bool writer)
{
    u9_cursor *c;
    u9_record record;
    uint8_t buf[100];
    u9_key key = {buf, 16};
    u9_fault fault = {0};
    memset(buf, 0, sizeof buf);
    CHILD_EXPECT(u9_log_append(log, NULL, number_7, 2, NULL) == U9_STATE);
    CHILD_EXPECT(u9_log_commit(log, 0) == U9_STATE);
    CHILD_EXPECT(u9_log_sync(log) == U9_STATE);
    CHILD_EXPECT(u9_log_next(log) == 0);
    CHILD_EXPECT(u9_log_durable(log) == 0);
    CHILD_EXPECT(u9_cursor_open(log, NULL, &c, &fault) == U9_STATE && fault.err == U9_STATE);
    CHILD_EXPECT(u9_log_get(log, &key, buf, sizeof buf, &record, NULL) == U9_STATE);
    u9_log_fault(log, &fault);
    u9_err err = u9_log_close(log, &fault);
    CHILD_EXPECT(err == (writer ? U9_STATE : U9_OK));
}

/* {F44} */
START_TEST(a_child_is_refused_and_its_close_harms_nothing)
{
    u9_log *w = open_writer(at("log"), NULL);
    append_text(w, "before");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    usleep(100000); /* the writer's thread waits for its next turn */
    pid_t pid = fork_child();
    if (pid == 0) {
        child_is_refused(w, true);
        _exit(0);
    }
    append_text(w, "meanwhile");
    expect_child(pid, 0);
    append_text(w, "behind");
    expect_locked(at("log"));
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 3);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

START_TEST(a_child_does_not_wait_for_what_its_parent_has_under_way)
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    sim_set_order(SIM_LATE);
    u9_log *w = open_writer(at("log"), &o);
    uint8_t *bytes = calloc(1, 3 << 20);
    append_bytes(w, bytes, 3 << 20);
    free(bytes);
    pid_t pid = fork_child();
    if (pid == 0) {
        child_is_refused(w, true); /* to wait here ends it with SIM_WRONG_PROCESS */
        _exit(0);
    }
    expect_child(pid, 0);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 1);
    forget(s);
}
END_TEST

static void *sync_it(void *arg)
{
    worker *me = arg;
    me->fine = u9_log_sync(me->log) == U9_OK;
    return NULL;
}

START_TEST(a_child_of_a_busy_parent_does_not_hang)
{
    pthread_t thread;
    u9_log *w = open_writer(at("log"), NULL);
    worker me = {.log = w};
    append_text(w, "one");
    sim_hold(SIM_SYNC, 1); /* a thread stands in the middle of a sync */
    ck_assert_int_eq(pthread_create(&thread, NULL, sync_it, &me), 0);
    sim_wait_held();
    pid_t pid = fork_child();
    if (pid == 0) {
        child_is_refused(w, true);
        _exit(0);
    }
    expect_child(pid, 0);
    sim_let_go();
    pthread_join(thread, NULL);
    ck_assert(me.fine);
    close_log(w);
}
END_TEST

START_TEST(a_child_may_not_read_through_its_parents_handle)
{
    session(at("log"), "a", 3, 0);
    u9_log *r = open_reader(at("log"));
    u9_cursor *c;
    u9_record record;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        CHILD_EXPECT(u9_cursor_next(c, &record) == U9_STATE);
        u9_cursor_close(c);
        child_is_refused(r, false);
        _exit(0);
    }
    expect_child(pid, 0);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

START_TEST(a_child_closes_a_log_that_its_parent_goes_on_reading)
{
    session(at("log"), "a", 3, 0);
    u9_log *r = open_reader(at("log"));
    u9_cursor *c; /* of another thread, the child knows nothing of it */
    u9_record record;
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, NULL), U9_OK);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        child_is_refused(r, false);
        _exit(0);
    }
    expect_child(pid, 0);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

START_TEST(a_reader_does_not_write)
{
    session(at("log"), "a", 1, 0);
    u9_log *r = open_reader(at("log"));
    ck_assert_int_eq(u9_log_append(r, NULL, number_7, 2, NULL), U9_STATE);
    ck_assert_int_eq(u9_log_append_batch(r, NULL, 0, NULL), U9_STATE);
    ck_assert_int_eq(u9_log_commit(r, 0), U9_STATE);
    ck_assert_int_eq(u9_log_sync(r), U9_STATE);
    ck_assert_uint_eq(u9_log_durable(r), 0);
    ck_assert_uint_eq(u9_log_next(r), 0);
    ck_assert_str_eq(u9_log_kind(r), "muid");
    close_log(r);
    ck_assert_int_eq(u9_log_close(NULL, NULL), U9_OK);
    u9_cursor_close(NULL);
}
END_TEST

/* Who waits */

static u9_log *open_late(const char *log, u9_policy policy)
{
    u9_options o = writer_options();
    o.policy = policy;
    sim_set_order(SIM_LATE); /* nothing is complete before somebody waits for it */
    return open_writer(log, &o);
}

START_TEST(with_policy_commit_a_commit_waits)
{
    u9_log *w = open_late(at("log"), U9_POLICY_COMMIT);
    for (uint64_t i = 0; i < 20; i++) {
        ck_assert_uint_eq(append_text(w, "one"), i);
        ck_assert_uint_eq(u9_log_durable(w), i);
        ck_assert_int_eq(u9_log_commit(w, i + 1), U9_ARG);
        ck_assert_int_eq(u9_log_commit(w, i), U9_OK);
        ck_assert_uint_eq(u9_log_durable(w), i + 1);
        ck_assert_int_eq(u9_log_commit(w, 0), U9_OK);
    }
    close_log(w);
}
END_TEST

START_TEST(with_policy_none_nobody_waits_but_a_sync)
{
    u9_log *w = open_late(at("log"), U9_POLICY_NONE);
    for (uint64_t i = 0; i < 20; i++) {
        append_text(w, "one");
        ck_assert_int_eq(u9_log_commit(w, i), U9_AGAIN);
        ck_assert_int_eq(u9_log_commit(w, i), U9_AGAIN);
        ck_assert_uint_eq(u9_log_durable(w), i);
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        ck_assert_int_eq(u9_log_commit(w, i), U9_OK);
    }
    close_log(w);
}
END_TEST

START_TEST(with_policy_interval_a_commit_waits_only_when_much_is_behind) /* [W-5] */
{
    u9_log *w = open_late(at("log"), U9_POLICY_INTERVAL);
    uint64_t n = 0;
    for (; n < 50; n++) {
        append_text(w, "one");
        ck_assert_int_eq(u9_log_commit(w, n), U9_AGAIN);
    }
    uint8_t *bytes = calloc(1, 1 << 20);
    for (unsigned i = 0; i < 33; i++, n++) append_bytes(w, bytes, 1 << 20);
    free(bytes);
    ck_assert_uint_gt(u9_log_durable(w), n - 33); /* an append waited: no more than 32 MiB are behind */
    close_log(w);
}
END_TEST

/* Lookup */

START_TEST(a_lookup_finds_the_newest_record_with_a_key)
{
    static const uint8_t bytes[16] = "the same key....", other[16] = "another key.....";
    u9_key key = {bytes, 16}, absent = {other, 16}, none = {NULL, 16}, shorter = {bytes, 15};
    u9_log *w = open_sized(at("log"), SMALL);
    for (unsigned i = 0; i < 5; i++) {
        uint8_t value[2] = {0x00, (uint8_t)i};
        ck_assert_int_eq(u9_log_append(w, &key, value, 2, NULL), U9_OK);
        append_many(w, "between and between and between and between ", 700, 0);
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    u9_log *r = open_reader(at("log"));
    u9_log *both[2] = {w, r};
    for (unsigned i = 0; i < 2; i++) {
        u9_record record;
        uint8_t buf[100];
        u9_fault fault = {.err = U9_NOMEM};
        ck_assert_int_eq(u9_log_get(both[i], &key, buf, sizeof buf, &record, &fault), U9_OK);
        ck_assert_int_eq(fault.err, U9_NOMEM); /* filled by errors only */
        ck_assert_uint_eq(record.ordinal, 4 * 701);
        ck_assert_ptr_eq(record.bytes, buf);
        ck_assert_uint_eq(record.key.size, 16);
        ck_assert_int_eq(memcmp(record.key.data, bytes, 16), 0);
        ck_assert_uint_eq(record.values_size, 2);
        ck_assert_int_eq(memcmp(record.values, "\x00\x04", 2), 0);
        size_t size = record.size;
        ck_assert_int_eq(u9_log_get(both[i], &key, buf, size, &record, &fault), U9_OK);
        ck_assert_int_eq(u9_log_get(both[i], &absent, buf, size, &record, &fault), U9_ABSENT);
        ck_assert_int_eq(fault.err, U9_ABSENT);
        ck_assert_int_eq(u9_log_get(both[i], &shorter, buf, size, &record, NULL), U9_ARG);
        ck_assert_int_eq(u9_log_get(both[i], &none, buf, size, &record, &fault), U9_ARG);
        ck_assert_int_eq(u9_log_get(both[i], NULL, buf, size, &record, NULL), U9_ARG);
    }
    close_log(r);
    close_log(w);
}
END_TEST

START_TEST(a_lookup_without_room_tells_how_much_it_needs_and_which_record_it_is)
{
    static const uint8_t bytes[16] = "the same key....";
    u9_key key = {bytes, 16};
    uint8_t *value = value_of(1000), buf[2000];
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_int_eq(u9_log_append(w, &key, number_7, 2, NULL), U9_OK); /* older, and would fit */
    ck_assert_int_eq(u9_log_append(w, &key, value, 1000, NULL), U9_OK);
    close_log(w);
    free(value);
    u9_log *r = open_reader(at("log"));
    u9_record record = {.ordinal = 77};
    u9_fault fault;
    ck_assert_int_eq(u9_log_get(r, &key, buf, 100, &record, &fault), U9_LIMIT);
    ck_assert_int_eq(fault.err, U9_LIMIT);
    ck_assert_uint_eq(record.ordinal, 1);
    ck_assert_ptr_null(record.bytes);
    ck_assert_ptr_null(record.values);
    ck_assert_ptr_eq(record.key.data, bytes);
    size_t need = record.size;
    ck_assert_uint_gt(need, 1000);
    ck_assert_int_eq(u9_log_get(r, &key, buf, need - 1, &record, NULL), U9_LIMIT);
    ck_assert_int_eq(u9_log_get(r, &key, NULL, 0, &record, NULL), U9_LIMIT);
    ck_assert_uint_eq(record.size, need);
    ck_assert_int_eq(u9_log_get(r, &key, buf, need, &record, NULL), U9_OK);
    ck_assert_uint_eq(record.ordinal, 1);
    close_log(r);
}
END_TEST

static void count_damage(void *ctx, const u9_damage *damage)
{
    (void)damage;
    ++*(unsigned *)ctx;
}

/* A lookup of a key that is not there, with or without somebody who is told of damage. */
static u9_err look_up_nothing(const char *log, bool told)
{
    uint8_t bytes[16] = "not in the log..", buf[100];
    u9_key key = {bytes, 16};
    unsigned damages = 0;
    u9_options o = {.size = sizeof o};
    u9_log *r;
    u9_record record;
    if (told) o.on_damage = count_damage, o.on_damage_ctx = &damages;
    ck_assert_int_eq(u9_log_open(log, &o, &r, NULL), U9_OK);
    u9_err err = u9_log_get(r, &key, buf, sizeof buf, &record, NULL);
    close_log(r);
    if (told) ck_assert_uint_ge(damages, 1);
    return err;
}

START_TEST(a_lookup_past_lost_records_does_not_say_absent)
{
    uint64_t offsets[16];
    session(at("log"), "a", 6, 2);
    size_t n = frame_offsets(segment_path(at("log"), 1), offsets, 16);
    ck_assert_uint_ge(n, 4);
    flip_bit(segment_path(at("log"), 1), offsets[2] + 70, 3); /* the second frame of records */
    ck_assert_int_eq(look_up_nothing(at("log"), false), U9_CORRUPT);
    ck_assert_int_eq(look_up_nothing(at("log"), true), U9_CORRUPT);
}
END_TEST

START_TEST(a_lookup_past_damage_that_costs_no_record_says_absent) /* */
{
    uint64_t offsets[16];
    session(at("log"), "a", 6, 2);
    size_t n = frame_offsets(segment_path(at("log"), 1), offsets, 16);
    ck_assert_uint_ge(n, 4);
    flip_bit(segment_path(at("log"), 1), offsets[2] - 8, 0); /* fill before a block */
    seen *s = look(at("log"));
    ck_assert_uint_eq(count_damages(s, U9_V_CORRUPT, U9_R_FILL), 1);
    ck_assert_uint_eq(s->count, 6);
    forget(s);
    ck_assert_int_eq(look_up_nothing(at("log"), false), U9_ABSENT);
    ck_assert_int_eq(look_up_nothing(at("log"), true), U9_ABSENT);
}
END_TEST

/* What cannot be opened */

static u9_fault refuse(const char *path, const u9_options *o, u9_err err, int sys)
{
    u9_log *log = NULL;
    u9_fault fault = {0};
    ck_assert_int_eq(u9_log_open(path, o, &log, &fault), err);
    ck_assert_ptr_null(log);
    ck_assert_int_eq(fault.err, err);
    ck_assert_int_eq(fault.sys, sys);
    if (path != NULL) ck_assert_str_eq(fault.path, path);
    ck_assert_uint_gt(strlen(fault.text), 5);
    ck_assert_int_eq(u9_log_open(path, o, &log, NULL), err); /* nobody need ask why */
    return fault;
}

static u9_fault refuse_mode(const char *path, u9_mode mode, u9_err err, int sys)
{
    u9_options o = {.size = sizeof o, .mode = mode};
    return refuse(path, &o, err, sys);
}

START_TEST(a_path_that_is_not_there_is_told)
{
    (void)refuse(at("nothing"), NULL, U9_IO, ENOENT);
    (void)refuse_mode(at("nothing"), U9_READ, U9_IO, ENOENT);
    (void)refuse_mode(at("nothing"), U9_WRITE, U9_IO, ENOENT);
    (void)refuse_mode(at("nothing/log"), U9_CREATE, U9_IO, ENOENT);
    ck_assert_int_ne(access(at("nothing"), F_OK), 0);
    (void)refuse_mode("", U9_CREATE, U9_ARG, 0);
    (void)refuse_mode(NULL, U9_READ, U9_ARG, 0);
}
END_TEST

START_TEST(a_file_in_a_directorys_place_is_told)
{
    write_file(at("file"), "text", 4);
    (void)refuse_mode(at("file"), U9_WRITE, U9_IO, ENOTDIR);
    (void)refuse_mode(at("file"), U9_CREATE, U9_IO, ENOTDIR);
    (void)refuse_mode(at("file/log"), U9_READ, U9_IO, ENOTDIR);
    session(at("log"), "a", 1, 0);
    (void)refuse_mode(segment_path(at("log"), 1), U9_WRITE, U9_IO, ENOTDIR);
}
END_TEST

START_TEST(what_is_no_log_is_told_to_readers) /* [L-1] [H-4] */
{
    make_dir(at("empty"));
    ck_assert_str_eq(refuse(at("empty"), NULL, U9_ABSENT, 0).rule, "M-6");
    ck_assert_str_eq(refuse_mode(at("empty"), U9_WRITE, U9_ABSENT, 0).rule, "M-6");
    write_file(at("text"), "It was a dark and stormy night; the rain fell in torrents, except at "
                           "occasional intervals, when it was checked by a violent gust of wind.", 137);
    ck_assert_str_eq(refuse(at("text"), NULL, U9_CORRUPT, 0).rule, "H-1");
    write_file(at("nothing.u9"), "", 0);
    ck_assert_ptr_nonnull(strstr(refuse(at("nothing.u9"), NULL, U9_CORRUPT, 0).text, "empty"));
    ck_assert_int_eq(mkfifo(at("fifo"), 0600), 0);
    for (u9_mode mode = U9_READ; mode <= U9_CREATE; mode++)
        ck_assert_str_eq(refuse_mode(at("fifo"), mode, U9_CORRUPT, 0).rule, "L-1");
    u9_log *w = open_writer(at("empty"), NULL); /* a writer may make one there */
    append_text(w, "first");
    close_log(w);
}
END_TEST

/* {F62} */
START_TEST(a_fifo_or_directory_named_like_a_segment_does_not_hang_anybody) /* [L-1] */
{
    session(at("log"), "a", 2, 0);
    for (unsigned kind = 0; kind < 2; kind++) {
        const char *path = segment_path(at("log"), 2);
        if (kind == 0) ck_assert_int_eq(mkfifo(path, 0600), 0);
        else ck_assert_int_eq(mkdir(path, 0700), 0);
        u9_log *log = NULL;
        u9_fault fault;
        u9_err err = u9_log_open(at("log"), NULL, &log, &fault);
        if (err == U9_OK) close_log(log);
        else ck_assert_ptr_nonnull(strstr(fault.path, "0000000000000002.u9"));
        ck_assert_int_eq(kind == 0 ? unlink(path) : rmdir(path), 0);
    }
}
END_TEST

START_TEST(a_later_version_is_told) /* [H-4] */
{
    static const uint8_t header[96] = {0xff, 0xff, 'u', 't', 'f', '9', 0x00, 0x02};
    write_file(at("new.u9"), header, sizeof header);
    (void)refuse(at("new.u9"), NULL, U9_VERSION, 0);
    make_dir(at("log"));
    write_file(segment_path(at("log"), 1), header, sizeof header);
    u9_options o = writer_options();
    u9_log *log;
    u9_fault fault;
    ck_assert_int_eq(u9_log_open(at("log"), NULL, &log, &fault), U9_VERSION);
    ck_assert_ptr_nonnull(strstr(fault.path, "0000000000000001.u9"));
    ck_assert_int_eq(u9_log_open(at("log"), &o, &log, &fault), U9_VERSION);
}
END_TEST

/* {F62} */
START_TEST(a_path_without_permission_is_told)
{
    session(at("log"), "a", 1, 0);
    ck_assert_int_eq(chmod(segment_path(at("log"), 1), 0), 0);
    uid_t me = geteuid();
    bool root = me == 0;
    if (root && seteuid(65534) != 0) return; /* nobody else to be */
    u9_options o = writer_options();
    u9_log *log;
    u9_fault fault;
    ck_assert_int_eq(u9_log_open(at("log"), NULL, &log, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, EACCES);
    ck_assert_int_eq(strncmp(fault.path, at("log"), strlen(at("log"))), 0);
    ck_assert_int_eq(u9_log_open(at("log"), &o, &log, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, EACCES);
    if (root) ck_assert_int_eq(seteuid(me), 0);
}
END_TEST

START_TEST(bad_options_are_told_by_name) /* [S-2] */
{
    static const struct {
        u9_options o;
        const char *name;
    } bad[] = {
        {{.size = 0}, "options.size"},
        {{.size = offsetof(u9_options, kind) - 1}, "options.size"},
        {{.size = sizeof(u9_options) + 8}, "options.size"},
        {{.size = sizeof(u9_options), .mode = (u9_mode)4}, "options.mode"},
        {{.size = sizeof(u9_options), .mode = U9_CREATE, .policy = (u9_policy)3}, "options.policy"},
        {{.size = sizeof(u9_options), .verify = (u9_verify)3}, "options.verify"},
        {{.size = sizeof(u9_options), .mode = U9_CREATE, .segment_size = 65535}, "segment_size"},
        {{.size = sizeof(u9_options), .mode = U9_CREATE, .segment_size = 1}, "segment_size"},
        {{.size = sizeof(u9_options), .mode = U9_CREATE, .segment_size = UINT64_C(1) << 42},
         "segment_size"},
        {{.size = sizeof(u9_options), .mode = U9_CREATE, .segment_size = UINT64_MAX}, "segment_size"},
        {{.size = sizeof(u9_options), .mode = U9_CREATE, .io = "carrier pigeon"}, "carrier pigeon"},
        {{.size = sizeof(u9_options), .mode = U9_CREATE, .interval_ms = 1001}, "interval_ms"},
        {{.size = sizeof(u9_options), .mode = U9_CREATE, .memory = (4 << 20) - 1}, "options.memory"},
        {{.size = sizeof(u9_options), .mode = U9_CREATE, .memory = (1 << 30) + 1}, "options.memory"},
        {{.size = sizeof(u9_options), .index_memory = (1 << 20) - 1}, "index_memory"},
        {{.size = sizeof(u9_options), .index_memory = (UINT64_C(16) << 30) + 1}, "index_memory"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_ptr_nonnull(strstr(refuse(at("log"), &bad[i].o, U9_ARG, 0).text, bad[i].name));
    ck_assert_int_ne(access(at("log"), F_OK), 0);
    u9_options o = writer_options(); /* a segment ends below 2^43, its last frame included */
    o.segment_size = (UINT64_C(1) << 42) - 1;
    u9_log *w = open_writer(at("log"), &o);
    append_text(w, "one");
    close_log(w);
}
END_TEST

START_TEST(a_host_of_the_first_version_knows_fewer_options)
{
    u9_options o = writer_options();
    o.size = offsetof(u9_options, kind);
    o.kind = "not looked at";
    o.generator = 77777;
    u9_log *w = open_writer(at("log"), &o);
    append_text(w, "one");
    ck_assert_str_eq(u9_log_kind(w), "muid");
    close_log(w);
}
END_TEST

START_TEST(an_unknown_io_table_in_the_environment_is_told)
{
    char *before = getenv("U9_IO");
    char *kept = before ? strdup(before) : NULL;
    setenv("U9_IO", "carrier pigeon", 1);
    ck_assert_ptr_nonnull(strstr(refuse_mode(at("log"), U9_CREATE, U9_ARG, 0).text, "carrier pigeon"));
    setenv("U9_IO", "posix", 1);
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_str_eq(u9_log_io(w), "posix");
    close_log(w);
    if (kept) setenv("U9_IO", kept, 1);
    else unsetenv("U9_IO");
    free(kept);
}
END_TEST

/* {F62} */
/* Whatever else is opened gets the numbers 0 to 2 then, and a host may go on to write what it says there. */
START_TEST(what_a_host_says_where_it_closed_its_descriptors_gets_into_no_file)
{
    enum { RECORDS = 300 };
    static const uint8_t filler[3000];
    int kept[3];
    u9_options o = writer_options();
    o.segment_size = SMALL;
    for (int i = 0; i < 3; i++) kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 20);
    for (int i = 0; i < 3; i++) close(i);
    u9_log *w = open_writer(at("log"), &o), *r = open_reader(at("log"));
    for (unsigned n = 0; n < RECORDS; n++) {
        append_bytes(w, filler, sizeof filler);
        if (n % 10 == 0) ck_assert_int_eq(u9_log_sync(w), U9_OK);
        for (int i = 0; i < 3; i++) (void)!write(i, "a word of the host's\n", 21);
    }
    close_log(w);
    close_log(r);
    for (int i = 0; i < 3; i++) {
        dup2(kept[i], i);
        close(kept[i]);
    }
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, RECORDS);
    ck_assert_uint_eq(s->damage_count, 0);
    forget(s);
}
END_TEST

START_TEST(files_are_for_their_owner_only)
{
    struct stat st;
    mode_t before = umask(0);
    session(at("log"), "a", 1, 0);
    umask(before);
    ck_assert_int_eq(stat(segment_path(at("log"), 1), &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
}
END_TEST

START_TEST(a_commit_of_what_was_not_appended_is_told)
{
    u9_fault fault;
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_int_eq(u9_log_commit(w, 0), U9_ARG);
    u9_log_fault(w, &fault);
    ck_assert_int_eq(fault.err, U9_ARG);
    ck_assert_str_eq(fault.path, at("log"));
    ck_assert_ptr_nonnull(strstr(fault.text, "record 0"));
    close_log(w);
}
END_TEST

/* Real limits */

/* Appends until there is no room, then goes on where there is. Runs in a child. */
static void fill_up(const char *path, int sys, void (*make_room)(void))
{
    u9_options o = writer_options();
    u9_log *w;
    u9_fault fault;
    u9_err err = U9_OK;
    uint8_t value[3002] = {0x1d, 0x0b, 0xb7};
    uint64_t taken = 0;
    o.segment_size = 1 << 20;
    CHILD_EXPECT(u9_log_open(path, &o, &w, NULL) == U9_OK);
    while (taken < 10000 && (err = u9_log_append(w, NULL, value, sizeof value, NULL)) == U9_OK) taken++;
    CHILD_EXPECT(err == U9_IO && taken > 10 && taken < 10000);
    u9_log_fault(w, &fault);
    CHILD_EXPECT(fault.sys == sys);
    CHILD_EXPECT(u9_log_append(w, NULL, value, sizeof value, NULL) == U9_IO);
    CHILD_EXPECT(u9_log_sync(w) == U9_OK && u9_log_durable(w) == taken);
    make_room();
    CHILD_EXPECT(u9_log_append(w, NULL, value, sizeof value, NULL) == U9_OK);
    CHILD_EXPECT(u9_log_close(w, NULL) == U9_OK);
    u9_report report = {.size = sizeof report};
    CHILD_EXPECT(u9_check(path, NULL, &report, NULL) == U9_OK);
    CHILD_EXPECT(report.verdict == U9_V_CLEAN && report.records == taken + 1);
    _exit(0);
}

static void lift_limit(void)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    CHILD_EXPECT(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    CHILD_EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* {F12} */
START_TEST(a_limit_on_file_sizes_raises_no_signal) /* [W-6] */
{
    const char *path = at("log");
    pid_t pid = fork_child();
    if (pid == 0) {
        struct rlimit limit;
        CHILD_EXPECT(getrlimit(RLIMIT_FSIZE, &limit) == 0);
        limit.rlim_cur = 300000;
        CHILD_EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        fill_up(path, EFBIG, lift_limit);
    }
    expect_child(pid, 0);
}
END_TEST

static char ballast[4000];

static void drop_ballast(void)
{
    CHILD_EXPECT(unlink(ballast) == 0);
}

/* {F40} */
START_TEST(a_disk_that_is_really_full_is_survived) /* [W-6] */
{
    enum { CANNOT_MOUNT = 77 };
    char log[4000];
    ck_assert_int_eq(mkdir(at("disk"), 0700), 0);
    snprintf(ballast, sizeof ballast, "%s/ballast", at("disk"));
    snprintf(log, sizeof log, "%s/log", at("disk"));
    pid_t pid = fork_child();
    if (pid == 0) {
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount("none", at("disk"), "tmpfs", 0, "size=1m") != 0)
            _exit(CANNOT_MOUNT);
        int fd = open(ballast, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        CHILD_EXPECT(fd >= 0 && posix_fallocate(fd, 0, 500000) == 0 && close(fd) == 0);
        fill_up(log, ENOSPC, drop_ballast);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) != CANNOT_MOUNT) ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

Suite *suite_log(void)
{
    Suite *suite = suite_create("log");
    TCase *records = tcase_create("records");
    tcase_add_checked_fixture(records, fixture_setup, fixture_teardown);
    tcase_set_timeout(records, 60);
    tcase_add_test(records, a_log_is_made_written_closed_and_read);
    tcase_add_test(records, a_key_is_made_or_kept_as_given);
    tcase_add_test(records, a_key_of_another_size_is_refused);
    tcase_add_test(records, values_that_are_not_well_formed_are_refused);
    tcase_add_test(records, a_record_is_never_nested_deeper_than_a_value_may_be);
    tcase_add_test(records, one_bad_entry_refuses_its_whole_batch);
    tcase_add_test(records, a_record_may_have_no_values);
    tcase_add_test(records, a_record_may_have_16_mib_and_not_a_byte_more);
    suite_add_tcase(suite, records);

    TCase *row = tcase_create("row");
    tcase_add_checked_fixture(row, fixture_setup, fixture_teardown);
    tcase_set_timeout(row, 60);
    tcase_add_test(row, ordinals_run_on_over_sessions_and_segments);
    tcase_add_test(row, a_cursor_begins_at_any_ordinal);
    tcase_add_test(row, names_that_are_no_segments_are_passed_by);
    tcase_add_test(row, a_segment_may_be_a_link_to_a_file);
    tcase_add_test(row, a_missing_segment_is_told_and_refused_to_writers);
    tcase_add_test(row, a_missing_last_segment_is_told_by_the_seal_before_it);
    tcase_add_test(row, a_segment_of_another_log_is_foreign);
    tcase_add_test(row, what_a_later_session_left_out_never_comes_back);
    tcase_add_test(row, a_segment_can_be_read_alone);
    suite_add_tcase(suite, row);

    TCase *together = tcase_create("together");
    tcase_add_checked_fixture(together, fixture_setup, fixture_teardown);
    tcase_set_timeout(together, 120);
    tcase_add_test(together, a_second_handle_reads_while_the_first_writes);
    tcase_add_test(together, another_process_reads_while_this_one_writes);
    tcase_add_test(together, many_threads_append_commit_and_read_through_one_handle);
    tcase_add_test(together, a_second_writer_in_this_process_is_locked_out);
    tcase_add_test(together, a_writer_in_another_process_locks_this_one_out_while_it_lives);
    tcase_add_test(together, a_log_that_was_renamed_is_still_locked);
    tcase_add_test(together, a_child_is_refused_and_its_close_harms_nothing);
    tcase_add_test(together, a_child_may_not_read_through_its_parents_handle);
    tcase_add_test(together, a_child_closes_a_log_that_its_parent_goes_on_reading);
    tcase_add_test(together, a_reader_does_not_write);
    suite_add_tcase(suite, together);

    TCase *held = tcase_create("held");
    tcase_add_checked_fixture(held, fixture_setup_sim_threads, fixture_teardown);
    tcase_set_timeout(held, 120);
    tcase_add_test(held, a_roll_behind_a_readers_back_is_no_missing_segment);
    tcase_add_test(held, nor_is_one_into_a_file_that_it_saw_empty);
    tcase_add_test(held, a_child_does_not_wait_for_what_its_parent_has_under_way);
    tcase_add_test(held, a_child_of_a_busy_parent_does_not_hang);
    suite_add_tcase(suite, held);

    TCase *waits = tcase_create("waits");
    tcase_add_checked_fixture(waits, fixture_setup_sim, fixture_teardown);
    tcase_set_timeout(waits, 60);
    tcase_add_test(waits, with_policy_commit_a_commit_waits);
    tcase_add_test(waits, with_policy_none_nobody_waits_but_a_sync);
    tcase_add_test(waits, with_policy_interval_a_commit_waits_only_when_much_is_behind);
    suite_add_tcase(suite, waits);

    TCase *lookup = tcase_create("lookup");
    tcase_add_checked_fixture(lookup, fixture_setup, fixture_teardown);
    tcase_set_timeout(lookup, 60);
    tcase_add_test(lookup, a_lookup_finds_the_newest_record_with_a_key);
    tcase_add_test(lookup, a_lookup_without_room_tells_how_much_it_needs_and_which_record_it_is);
    tcase_add_test(lookup, a_lookup_past_lost_records_does_not_say_absent);
    tcase_add_test(lookup, a_lookup_past_damage_that_costs_no_record_says_absent);
    suite_add_tcase(suite, lookup);

    TCase *refused = tcase_create("refused");
    tcase_add_checked_fixture(refused, fixture_setup, fixture_teardown);
    tcase_set_timeout(refused, 60);
    tcase_add_test(refused, a_path_that_is_not_there_is_told);
    tcase_add_test(refused, a_file_in_a_directorys_place_is_told);
    tcase_add_test(refused, what_is_no_log_is_told_to_readers);
    tcase_add_test(refused, a_fifo_or_directory_named_like_a_segment_does_not_hang_anybody);
    tcase_add_test(refused, a_later_version_is_told);
    tcase_add_test(refused, a_path_without_permission_is_told);
    tcase_add_test(refused, bad_options_are_told_by_name);
    tcase_add_test(refused, a_host_of_the_first_version_knows_fewer_options);
    tcase_add_test(refused, an_unknown_io_table_in_the_environment_is_told);
    tcase_add_test(refused, files_are_for_their_owner_only);
    tcase_add_test(refused, what_a_host_says_where_it_closed_its_descriptors_gets_into_no_file);
    tcase_add_test(refused, a_commit_of_what_was_not_appended_is_told);
    tcase_add_test(refused, a_limit_on_file_sizes_raises_no_signal);
    tcase_add_test(refused, a_disk_that_is_really_full_is_survived);
    suite_add_tcase(suite, refused);
    return suite;
}
