/*
 * tests/engine/log/test_calls.c: what the calls on a log say of their caller's mistakes, and to which thread.
 */
#include "tests/engine/fixture.h"
#include "tests/suites.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 500 };

static const uint8_t number_7[2] = {0x00, 0x07};

static u9_fault last(u9_log *log)
{
    u9_fault fault;
    memset(&fault, 0x55, sizeof fault);
    u9_log_fault(log, &fault);
    return fault;
}

/* The detail belongs to the thread whose call failed */

typedef struct failing {
    u9_log *log;
    unsigned number; /* of the thread: what it does wrong is its own */
    unsigned wrong;
} failing;

/* Fails in a way of this thread's own; 0: the fault was told as it happened. */
static int fail_once(const failing *f, unsigned round)
{
    char words[40];
    u9_err err;
    if (f->number == 0) {
        err = u9_log_append(f->log, NULL, "\x01\xab", 2, NULL);
        snprintf(words, sizeof words, "passes the end");
    } else {
        unsigned ordinal = 1000 * f->number + round;
        err = u9_log_commit(f->log, ordinal);
        snprintf(words, sizeof words, "record %u was not appended", ordinal);
    }
    u9_fault told = last(f->log);
    return err != U9_ARG || told.err != U9_ARG || strstr(told.text, words) == NULL;
}

static void *fail_often(void *ctx)
{
    failing *f = ctx;
    if (last(f->log).err != U9_OK) f->wrong++; /* nothing of this thread's has failed */
    for (unsigned i = 0; i < ROUNDS; i++) f->wrong += fail_once(f, i) != 0;
    return NULL;
}

START_TEST(each_thread_is_told_of_its_own_failing_call)
{
    u9_log *w = open_writer(at("log"), NULL);
    failing all[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        all[i] = (failing){.log = w, .number = i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fail_often, &all[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_uint_eq(all[i].wrong, 0);
    }
    ck_assert_int_eq(last(w).err, U9_OK); /* this one's calls did not fail */
    close_log(w);
}
END_TEST

START_TEST(a_fault_stays_while_other_threads_fail)
{
    u9_log *w = open_writer(at("log"), NULL);
    failing other = {.log = w, .number = 1};
    pthread_t thread;
    ck_assert_int_eq(u9_log_commit(w, 77), U9_ARG);
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_often, &other), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(other.wrong, 0);
    append_text(w, "a call that does not fail"); /* leaves it, too */
    ck_assert_ptr_nonnull(strstr(last(w).text, "record 77 "));
    close_log(w);
}
END_TEST

START_TEST(a_fault_is_never_told_of_another_handle)
{
    u9_log *a = open_writer(at("a"), NULL), *b = open_writer(at("b"), NULL);
    ck_assert_int_eq(u9_log_commit(a, 5), U9_ARG);
    ck_assert_int_eq(last(b).err, U9_OK);
    ck_assert_ptr_nonnull(strstr(last(a).text, "record 5 "));
    ck_assert_int_eq(u9_log_commit(b, 6), U9_ARG); /* this thread's last: as errno, there is one */
    ck_assert_int_eq(last(a).err, U9_OK);
    ck_assert_ptr_nonnull(strstr(last(b).text, "record 6 "));
    close_log(a);
    close_log(b);
    for (unsigned i = 0; i < 8; i++) { /* the next handle may well stand where this one did */
        u9_log *w = open_writer(at("a"), NULL);
        ck_assert_int_eq(last(w).err, U9_OK);
        ck_assert_int_eq(u9_log_commit(w, 5), U9_ARG);
        close_log(w);
    }
}
END_TEST

START_TEST(a_call_that_may_not_be_made_says_why)
{
    session(at("log"), "a", 1, 0);
    u9_log *r = open_reader(at("log"));
    ck_assert_int_eq(u9_log_append(r, NULL, number_7, 2, NULL), U9_STATE);
    ck_assert_int_eq(last(r).err, U9_STATE);
    ck_assert_str_eq(last(r).path, at("log"));
    ck_assert_ptr_nonnull(strstr(last(r).text, "opened for reading"));
    ck_assert_int_eq(u9_log_commit(r, 0), U9_STATE);
    ck_assert_int_eq(u9_log_sync(r), U9_STATE);
    close_log(r);
}
END_TEST

START_TEST(a_commit_that_does_not_wait_is_no_fault)
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    u9_log *w = open_writer(at("log"), &o);
    uint64_t ordinal = append_text(w, "one");
    ck_assert_int_eq(u9_log_commit(w, ordinal), U9_AGAIN);
    ck_assert_int_eq(last(w).err, U9_OK);
    close_log(w);
}
END_TEST

/* Which byte of whose record */

START_TEST(bytes_that_are_no_values_are_named) /* [V-4] [V-5] [V-6] [V-8] */
{
    static const struct {
        const char *bytes;
        size_t size, at;
        const char *rule;
    } bad[] = {
        {"\x01\xab", 2, 0, "V-8"},                         /* a uint16 cut short */
        {"\x00\x07\x00", 3, 2, "V-8"},                     /* so is the second value */
        {"\x00\x07\x40\x02\x02\x00\x07", 7, 7, "V-4"},     /* two elements told, one there */
        {"\x00\x07\x40\x02\x01\x40\x01", 7, 5, "V-4"},     /* a tuple in a tuple is cut short */
        {"\x00\x07\x44\x03\x01\x00\x05\x06", 8, 2, "V-5"},     /* an array that is not as long as it says */
        {"\x00\x07\x7f\x00\x00", 5, 2, "V-6"},             /* a reserved bytecode */
    };
    u9_log *w = open_writer(at("log"), NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        u9_entry entries[3] = {{.values = number_7, .size = 2}, {.values = number_7, .size = 2},
                               {.values = bad[i].bytes, .size = bad[i].size}};
        ck_assert_int_eq(u9_log_append_batch(w, entries, 3, NULL), U9_ARG);
        u9_fault f = last(w);
        ck_assert_msg(f.offset == bad[i].at && strcmp(f.rule, bad[i].rule) == 0,
                      "row %zu: offset %llu [%s] %s", i, (unsigned long long)f.offset, f.rule, f.text);
        ck_assert_ptr_nonnull(strstr(f.text, "record 2 of the batch"));
        ck_assert_str_eq(f.path, ""); /* the offset is one in the caller's bytes, in no file */
        ck_assert_int_eq(u9_log_append(w, NULL, bad[i].bytes, bad[i].size, NULL), U9_ARG);
        ck_assert_uint_eq(last(w).offset, bad[i].at);
        ck_assert_ptr_null(strstr(last(w).text, "batch"));
    }
    close_log(w);
}
END_TEST

START_TEST(a_record_that_is_nested_too_deeply_is_named_by_its_byte) /* [V-8] */
{
    u9_builder b;
    uint8_t value[512];
    u9_builder_init(&b, value, sizeof value);
    ck_assert_int_eq(u9_build_uint(&b, 7), U9_OK);
    size_t begin = b.size;
    for (unsigned i = 0; i < U9_DEPTH_MAX; i++) ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    for (unsigned i = 0; i < U9_DEPTH_MAX; i++) ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    u9_log *w = open_writer(at("log"), NULL);
    ck_assert_int_eq(u9_log_append(w, NULL, value, b.size, NULL), U9_ARG);
    ck_assert_uint_gt(last(w).offset, begin);
    ck_assert_str_eq(last(w).rule, "V-8");
    ck_assert_ptr_nonnull(strstr(last(w).text, "nested too deeply"));
    close_log(w);
}
END_TEST

/* A table of the calls and the mistakes */

static void expect(const char *call, u9_err err, u9_err want, const u9_fault *fault, const char *words)
{
    ck_assert_msg(err == want, "%s: %s", call, u9_err_name(err));
    ck_assert_msg(fault->err == want && strstr(fault->text, words) != NULL, "%s tells: %s %s", call,
                  u9_err_name(fault->err), fault->text);
}

/* For calls that take a fault: it is `fault`; for those that do not, the one that `log` has for this thread. */
#define REFUSES(want, words, call) \
    (fault = (u9_fault){0}, expect(#call, (call), want, &fault, words))
#define REFUSES_LAST(want, words, log, call) \
    do { \
        u9_err got = (call); \
        fault = last(log); \
        expect(#call, got, want, &fault, words); \
    } while (0)

START_TEST(opening_refuses_its_callers_mistakes)
{
    u9_fault fault;
    u9_log *log = NULL;
    u9_options o = {.size = sizeof o};
    const char *path = at("log");
    session(path, "a", 1, 0);
    REFUSES(U9_ARG, "NULL", u9_log_open(path, &o, NULL, &fault));
    REFUSES(U9_ARG, "path", u9_log_open(NULL, &o, &log, &fault));
    REFUSES(U9_ARG, "path", u9_log_open("", &o, &log, &fault));
    o.io = io_of(path);
    for (o.size = 0; o.size <= sizeof o + 16; o.size++) {
        bool known = o.size == sizeof o || o.size == offsetof(u9_options, verify) || o.size == offsetof(u9_options, keep_bytes) ||
                     o.size == offsetof(u9_options, generator_given) ||
                     o.size == offsetof(u9_options, kind);
        if (!known) REFUSES(U9_ARG, "options.size", u9_log_open(path, &o, &log, &fault));
        else ck_assert_int_eq(u9_log_open(path, &o, &log, NULL), U9_OK);
        if (known) close_log(log);
    }
    o.size = sizeof o;
    o.kind = "tid";
    REFUSES(U9_ARG, "of kind 'muid'", u9_log_open(path, &o, &log, &fault));
    o.mode = U9_WRITE;
    REFUSES(U9_ARG, "of kind 'muid'", u9_log_open(path, &o, &log, &fault));
    o.mend = 1;
    o.kind = "muid";
    REFUSES(U9_ARG, "options.mend", u9_log_open(path, &o, &log, &fault));
    for (o.mode = 0; o.mode <= U9_READ; o.mode++) {
        ck_assert_int_eq(u9_log_open(path, &o, &log, NULL), U9_OK);
        close_log(log);
    }
    ck_assert_int_eq(u9_log_close(NULL, NULL), U9_OK);
}
END_TEST

START_TEST(appending_refuses_its_callers_mistakes)
{
    u9_fault fault;
    uint8_t bytes[17] = {0};
    const u9_key wrong = {bytes, 17}, none = {bytes, 0};
    const u9_entry no_values = {.size = 2}, no_refs = {.values = number_7, .size = 2, .ref_count = 1};
    u9_log *w = open_writer(at("log"), NULL);
    REFUSES_LAST(U9_ARG, "NULL", NULL, u9_log_append(NULL, NULL, number_7, 2, NULL));
    REFUSES_LAST(U9_ARG, "NULL", NULL, u9_log_append_batch(NULL, NULL, 0, NULL));
    REFUSES_LAST(U9_ARG, "NULL", NULL, u9_log_commit(NULL, 0));
    REFUSES_LAST(U9_ARG, "NULL", NULL, u9_log_sync(NULL));
    REFUSES_LAST(U9_ARG, "NULL", w, u9_log_append(w, NULL, NULL, 2, NULL));
    REFUSES_LAST(U9_ARG, "another size", w, u9_log_append(w, &wrong, number_7, 2, NULL));
    REFUSES_LAST(U9_ARG, "another size", w, u9_log_append(w, &none, number_7, 2, NULL));
    REFUSES_LAST(U9_ARG, "1 to 2^32-1", w, u9_log_append_batch(w, NULL, 0, NULL));
    if (SIZE_MAX > UINT32_MAX) REFUSES_LAST(U9_ARG, "1 to 2^32-1", w, u9_log_append_batch(w, NULL, SIZE_MAX, NULL));
    REFUSES_LAST(U9_LIMIT, "over 2^24 bytes", w, u9_log_append(w, NULL, "\x81", (1 << 24) + 1, NULL));
    REFUSES_LAST(U9_ARG, "NULL", w, u9_log_append_batch(w, NULL, 1, NULL));
    REFUSES_LAST(U9_ARG, "NULL", w, u9_log_append_batch(w, &no_values, 1, NULL));
    REFUSES_LAST(U9_ARG, "NULL", w, u9_log_append_batch(w, &no_refs, 1, NULL));
    REFUSES_LAST(U9_ARG, "was not appended", w, u9_log_commit(w, 0));
    REFUSES_LAST(U9_ARG, "was not appended", w, u9_log_commit(w, UINT64_MAX));
    u9_stats stats = {.size = sizeof stats - 1};
    REFUSES_LAST(U9_ARG, "sizeof(u9_stats)", w, u9_log_stats(w, NULL));
    REFUSES_LAST(U9_ARG, "sizeof(u9_stats)", w, u9_log_stats(w, &stats));
    u9_append *a;
    const u9_key fresh = {NULL, 0};
    REFUSES_LAST(U9_ARG, "NULL", NULL, u9_append_begin(NULL, NULL, 1, 1, &a, NULL));
    REFUSES_LAST(U9_ARG, "NULL", w, u9_append_begin(w, NULL, 1, 1, NULL, NULL));
    ck_assert_int_eq(u9_append_begin(w, &fresh, 1, 1, &a, NULL), U9_OK);
    REFUSES_LAST(U9_ARG, "NULL", w, u9_append_write(a, NULL, 1));
    ck_assert_int_eq(u9_append_write(a, NULL, 0), U9_OK);
    u9_append_abort(a);
    ck_assert_uint_eq(u9_log_next(w), 0);
    ck_assert_uint_eq(u9_log_next(NULL), 0);
    ck_assert_uint_eq(u9_log_durable(NULL), 0);
    ck_assert_str_eq(u9_log_io(NULL), "");
    ck_assert_str_eq(u9_log_kind(NULL), "");
    u9_log_fault(w, NULL);
    close_log(w);
}
END_TEST

START_TEST(looking_up_refuses_its_callers_mistakes) /* [L-6] */
{
    u9_fault fault;
    uint8_t bytes[64] = {0}, buf[100];
    const u9_key absent = {bytes, 16}, null = {NULL, 16};
    u9_record record = {.size = 4711};
    session(at("log"), "a", 1, 0);
    u9_log *r = open_reader(at("log"));
    REFUSES(U9_ARG, "NULL", u9_log_get(NULL, &absent, buf, sizeof buf, &record, &fault));
    REFUSES(U9_ARG, "NULL", u9_log_get(r, NULL, buf, sizeof buf, &record, &fault));
    REFUSES(U9_ARG, "NULL", u9_log_get(r, &null, buf, sizeof buf, &record, &fault));
    REFUSES(U9_ARG, "NULL", u9_log_get(r, &absent, NULL, sizeof buf, &record, &fault));
    REFUSES(U9_ARG, "NULL", u9_log_get(r, &absent, buf, sizeof buf, NULL, &fault));
    for (size_t size = 0; size < sizeof bytes; size++) {
        const u9_key key = {bytes, size};
        if (size == 16) REFUSES(U9_ABSENT, "no record", u9_log_get(r, &key, NULL, 0, &record, &fault));
        else REFUSES(U9_ARG, "another size", u9_log_get(r, &key, buf, sizeof buf, &record, &fault));
    }
    ck_assert_uint_eq(record.size, 4711); /* untouched */
    close_log(r);
}
END_TEST

START_TEST(a_key_is_refused_at_get_as_it_is_at_append) /* [L-6] */
{
    static const struct {
        const char *kind;
        const char *key;
        size_t size;
    } bad[] = {
        {"muid", "fifteen bytes..", 15},
        {"tid", "\x80\0\0\0\0\0\0\0", 8}, /* its highest bit is not 0 */
        {"tid", "nine byte", 9},
        {"rkey:tid", "not a tid", 9},
        {"rkey:literal:self", "other", 5},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char name[8];
        u9_fault fault;
        u9_record record;
        u9_options o = writer_options();
        const u9_key key = {bad[i].key, bad[i].size};
        snprintf(name, sizeof name, "log%zu", i);
        o.kind = bad[i].kind;
        u9_log *w = open_writer(at(name), &o);
        append_text(w, "one");
        ck_assert_int_eq(u9_log_sync(w), U9_OK);
        REFUSES_LAST(U9_ARG, "no key of kind", w, u9_log_append(w, &key, number_7, 2, NULL));
        REFUSES(U9_ARG, "no key of kind", u9_log_get(w, &key, NULL, 0, &record, &fault));
        ck_assert_str_eq(fault.rule, "L-6");
        close_log(w);
        u9_log *r = open_reader(at(name));
        REFUSES(U9_ARG, "no key of kind", u9_log_get(r, &key, NULL, 0, &record, &fault));
        close_log(r);
    }
}
END_TEST

START_TEST(cursors_refuse_their_callers_mistakes)
{
    u9_fault fault;
    u9_cursor *c = NULL;
    u9_record record;
    session(at("log"), "a", 1, 0);
    u9_log *r = open_reader(at("log"));
    const u9_range small = {.size = sizeof small - 1}, none = {0};
    const u9_range ends_first = {.size = sizeof ends_first, .segment = 1, .begin = 4096, .end = 32};
    const u9_range of_none = {.size = sizeof of_none, .begin = 32};
    const u9_range missing = {.size = sizeof missing, .segment = 99};
    REFUSES(U9_ARG, "NULL", u9_cursor_open(NULL, NULL, &c, &fault));
    REFUSES(U9_ARG, "NULL", u9_cursor_open(r, NULL, NULL, &fault));
    REFUSES(U9_ARG, "range.size", u9_cursor_open(r, &small, &c, &fault));
    REFUSES(U9_ARG, "range.size", u9_cursor_open(r, &none, &c, &fault));
    REFUSES(U9_ARG, "ends before it begins", u9_cursor_open(r, &ends_first, &c, &fault));
    REFUSES(U9_ARG, "which?", u9_cursor_open(r, &of_none, &c, &fault));
    REFUSES(U9_ARG, "no segment number 99", u9_cursor_open(r, &missing, &c, &fault));
    ck_assert_ptr_null(c);
    ck_assert_int_eq(u9_cursor_next(NULL, &record), U9_ARG);
    ck_assert_ptr_null(u9_cursor_damage(NULL));
    u9_cursor_fault(NULL, &fault);
    ck_assert_int_eq(fault.err, U9_ARG);
    u9_cursor_close(NULL);
    ck_assert_int_eq(u9_cursor_open(r, NULL, &c, &fault), U9_OK);
    u9_cursor_fault(c, NULL);
    ck_assert_int_eq(u9_cursor_next(c, NULL), U9_ARG);
    u9_cursor_fault(c, &fault);
    ck_assert_int_eq(fault.err, U9_ARG);
    ck_assert_int_eq(u9_cursor_next(c, &record), U9_OK); /* no record was passed */
    ck_assert_uint_eq(record.ordinal, 0);
    u9_cursor_close(c);
    close_log(r);
}
END_TEST

START_TEST(checking_and_saving_refuse_their_callers_mistakes)
{
    u9_fault fault;
    const char *log = at("log"), *out = at("out");
    u9_check_options o = {.size = sizeof o, .io = io_of(log)}, bad = {.size = sizeof o - 1};
    u9_report report = {.size = sizeof report}, small = {.size = sizeof report - 8};
    session(log, "a", 1, 0);
    REFUSES(U9_ARG, "path", u9_check(NULL, &o, &report, &fault));
    REFUSES(U9_ARG, "path", u9_check("", &o, &report, &fault));
    REFUSES(U9_ARG, "report", u9_check(log, &o, NULL, &fault));
    REFUSES(U9_ARG, "report.size", u9_check(log, &o, &small, &fault));
    REFUSES(U9_ARG, "options.size", u9_check(log, &bad, &report, &fault));
    REFUSES(U9_ARG, "path", u9_salvage(NULL, out, &o, &report, NULL, &fault));
    REFUSES(U9_ARG, "path", u9_salvage("", out, &o, &report, NULL, &fault));
    REFUSES(U9_ARG, "path", u9_salvage(log, NULL, &o, &report, NULL, &fault));
    REFUSES(U9_ARG, "path", u9_salvage(log, "", &o, &report, NULL, &fault));
    REFUSES(U9_ARG, "report", u9_salvage(log, out, &o, NULL, NULL, &fault));
    REFUSES(U9_ARG, "report.size", u9_salvage(log, out, &o, &small, NULL, &fault));
    REFUSES(U9_ARG, "options.size", u9_salvage(log, out, &bad, &report, NULL, &fault));
    u9_log *left;
    u9_options reading = {.size = sizeof reading, .io = io_of(log)};
    char partial[4200];
    snprintf(partial, sizeof partial, "%s.partial", out);
    REFUSES(U9_IO, "", u9_log_open(partial, &reading, &left, &fault)); /* nothing was begun */
}
END_TEST

START_TEST(sending_and_receiving_refuse_their_callers_mistakes)
{
    u9_fault fault;
    const char *log = at("log"), *to = at("to");
    session(log, "a", 1, 0);
    u9_log *r = open_reader(log);
    u9_ship_report report = {.size = sizeof report}, small = {.size = 8};
    u9_send_options send = {.size = sizeof send, .out = 1, .in = -1}, no_send = send;
    u9_options bad = {.size = offsetof(u9_options, kind) + 4, .io = io_of(to)};
    u9_recv_options recv = {.size = sizeof recv, .in = 0, .out = -1, .log = &bad};
    REFUSES(U9_ARG, "NULL", u9_log_send(NULL, &send, &report, &fault));
    REFUSES(U9_ARG, "NULL", u9_log_send(r, NULL, &report, &fault));
    REFUSES(U9_ARG, "NULL", u9_log_send(r, &send, NULL, &fault));
    REFUSES(U9_ARG, "NULL", u9_log_send(r, &send, &small, &fault));
    no_send.size = 4;
    REFUSES(U9_ARG, "NULL", u9_log_send(r, &no_send, &report, &fault));
    no_send = (u9_send_options){.size = sizeof send, .out = -1, .in = -1};
    REFUSES(U9_ARG, "NULL", u9_log_send(r, &no_send, &report, &fault));
    REFUSES(U9_ARG, "options.size", u9_log_recv(to, &recv, &report, &fault)); /* before it reads a byte */
    recv.log = NULL;
    REFUSES(U9_ARG, "NULL", u9_log_recv(NULL, &recv, &report, &fault));
    REFUSES(U9_ARG, "path is empty", u9_log_recv("", &recv, &report, &fault));
    REFUSES(U9_ARG, "NULL", u9_log_recv(to, NULL, &report, &fault));
    REFUSES(U9_ARG, "NULL", u9_log_recv(to, &recv, NULL, &fault));
    REFUSES(U9_ARG, "NULL", u9_log_recv(to, &recv, &small, &fault));
    recv.in = -1;
    REFUSES(U9_ARG, "NULL", u9_log_recv(to, &recv, &report, &fault));
    close_log(r);
}
END_TEST

Suite *suite_calls(void)
{
    Suite *suite = suite_create("calls");
    TCase *threads = tcase_create("threads");
    tcase_add_checked_fixture(threads, fixture_setup, fixture_teardown);
    tcase_add_test(threads, each_thread_is_told_of_its_own_failing_call);
    tcase_add_test(threads, a_fault_stays_while_other_threads_fail);
    tcase_add_test(threads, a_fault_is_never_told_of_another_handle);
    tcase_add_test(threads, a_call_that_may_not_be_made_says_why);
    tcase_add_test(threads, a_commit_that_does_not_wait_is_no_fault);
    suite_add_tcase(suite, threads);
    TCase *bytes = tcase_create("bytes");
    tcase_add_checked_fixture(bytes, fixture_setup_sim, fixture_teardown);
    tcase_add_test(bytes, bytes_that_are_no_values_are_named);
    tcase_add_test(bytes, a_record_that_is_nested_too_deeply_is_named_by_its_byte);
    suite_add_tcase(suite, bytes);
    TCase *mistakes = tcase_create("mistakes");
    tcase_add_checked_fixture(mistakes, fixture_setup_sim, fixture_teardown);
    tcase_add_test(mistakes, opening_refuses_its_callers_mistakes);
    tcase_add_test(mistakes, appending_refuses_its_callers_mistakes);
    tcase_add_test(mistakes, looking_up_refuses_its_callers_mistakes);
    tcase_add_test(mistakes, a_key_is_refused_at_get_as_it_is_at_append);
    tcase_add_test(mistakes, cursors_refuse_their_callers_mistakes);
    tcase_add_test(mistakes, checking_and_saving_refuse_their_callers_mistakes);
    tcase_add_test(mistakes, sending_and_receiving_refuse_their_callers_mistakes);
    suite_add_tcase(suite, mistakes);
    return suite;
}
