/*
 * tests/engine/link/test_ship.c: logs on the move one way: whole, in pieces, broken, slow, damaged, forged.
 * [T-2] [T-4] [T-7] [T-9] [T-10] [T-12]
 *
 * Streams are recorded into files where a test looks at their bytes or breaks them; where timing matters the
 * other side is a thread, with a relay in between.
 */
#include "engine/log/handle.h"
#include "tests/engine/link/ship.h"
#include "tests/plain_file.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* [T-9] [T-10] */
START_TEST(a_log_arrives_over_a_pipe_with_keys_and_batches)
{
    int ends[2];
    small_log(at("from"));
    ck_assert_int_eq(pipe(ends), 0);
    side sender = {.path = at("from"), .in = -1, .out = ends[1]};
    side receiver = {.path = at("to"), .in = ends[0], .out = -1};
    start(&sender, send_main);
    recv_main(&receiver);
    join(&sender);
    expect_fine(&sender);
    expect_fine(&receiver);
    expect_same(at("from"), at("to"));
    ck_assert_uint_eq(sender.report.records, 9);
    ck_assert_uint_eq(sender.report.batches, 6);
    ck_assert_uint_eq(sender.report.next, 9);
    ck_assert_uint_eq(receiver.report.records, 9);
    ck_assert_uint_eq(receiver.report.batches, 6);
    ck_assert_uint_eq(receiver.report.skipped, 0);
    ck_assert_uint_eq(receiver.report.next, 9);
    ck_assert_uint_eq(receiver.report.bytes, sender.report.bytes);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* [T-9] What is there already is skipped, whatever is sent again. */
START_TEST(the_same_stream_again_changes_nothing_and_a_longer_one_adds_its_rest)
{
    size_t size;
    small_log(at("from"));
    uint8_t *stream = stream_of(at("from"), 0, &size);
    for (int i = 0; i < 3; i++) {
        side r = receive(at("to"), stream, size);
        expect_fine(&r);
        ck_assert_uint_eq(r.report.records, i == 0 ? 9 : 0);
        ck_assert_uint_eq(r.report.skipped, i == 0 ? 0 : 9);
    }
    free(stream);
    more(at("from"));
    stream = stream_of(at("from"), 0, &size);
    side r = receive(at("to"), stream, size);
    expect_fine(&r);
    ck_assert_uint_eq(r.report.records, 3);
    expect_same(at("from"), at("to"));
    free(stream);
}
END_TEST

/* [M-6] [T-9] {F15} A receiver that was killed before its log was there has left a directory, and the beginning of a file. */
START_TEST(what_is_left_of_a_log_that_was_never_made_is_received_into)
{
    size_t size;
    small_log(at("from"));
    uint8_t *stream = stream_of(at("from"), 0, &size);
    for (int i = 0; i < 4; i++) {
        char name[20], mark[3400];
        snprintf(name, sizeof name, "to%d", i);
        snprintf(mark, sizeof mark, "%s/.mark", at(name));
        sim_make_dir(at(name));
        if (i > 0) sim_write(mark, 0, "", 0);
        if (i > 1) sim_resize(segment_path(at(name), 1), i == 2 ? 0 : 1 << 16);
        side r = receive(at(name), stream, size);
        expect_fine(&r);
        ck_assert_uint_eq(r.report.records, 9);
        expect_same(at("from"), at(name));
    }
    free(stream);
}
END_TEST

/* [T-9] --from: a stream that begins later, within a batch also. */
START_TEST(a_stream_may_begin_at_any_record_that_the_receiver_has)
{
    size_t size;
    small_log(at("from"));
    for (uint64_t have = 0; have <= 9; have++) {
        /* The first `have` records: batches of 1 1 2 1 3 1. */
        char name[20];
        snprintf(name, sizeof name, "to%u", (unsigned)have);
        u9_log *to = open_quick(at(name)), *from = open_reader(at("from"));
        u9_cursor *c;
        u9_record r;
        ck_assert_int_eq(u9_cursor_open(from, NULL, &c, NULL), U9_OK);
        for (uint64_t i = 0; i < have; i++) {
            ck_assert_int_eq(u9_cursor_next(c, &r), U9_OK);
            ck_assert_int_eq(u9_log_append(to, &r.key, r.values, r.values_size, NULL), U9_OK);
        }
        u9_cursor_close(c);
        close_log(from);
        close_log(to);
        for (uint64_t begin = 0; begin <= have; begin++) {
            uint8_t *stream = stream_of(at("from"), begin, &size);
            side s = receive(at(name), stream, size);
            expect_fine(&s);
            ck_assert_uint_eq(s.report.records, begin == 0 ? 9 - have : 0);
            free(stream);
        }
        content a = content_of(at("from")), b = content_of(at(name));
        ck_assert_uint_eq(a.records, b.records);
    }
    for (uint64_t begin = 0; begin <= 9; begin++) {
        uint8_t *stream = stream_of(at("from"), begin, &size);
        side s = receive(at("to9"), stream, size);
        expect_fine(&s);
        free(stream);
    }
}
END_TEST

/* [T-2] [T-9] [T-10] A break at every byte, then all of it again. */
START_TEST(a_break_at_any_byte_is_mended_by_the_same_stream)
{
    size_t size;
    u9_log *log = open_quick(at("from"));
    put_batch(log, "a", 1, 0);
    put_batch(log, "b", 2, 0);
    put_batch(log, "c", 1, 0);
    close_log(log);
    uint8_t *stream = stream_of(at("from"), 0, &size);
    ck_assert_uint_lt(size, 300);
    uint64_t most = 0;
    for (size_t cut = 0; cut < size; cut++) {
        side r = receive(at("to"), stream, cut);
        ck_assert_int_eq(r.err, U9_TORN);
        ck_assert_uint_ge(r.report.records, most); /* more bytes, more records */
        ck_assert_uint_ne(r.report.records, 2);    /* half a batch */
        most = r.report.records;
        if (r.report.next > 0) ck_assert_uint_eq(content_of(at("to")).records, r.report.next);
        r = receive(at("to"), stream, size);
        expect_fine(&r);
        ck_assert_uint_eq(r.report.skipped + r.report.records, 4);
        ck_assert_uint_eq(r.report.skipped, most);
        expect_same(at("from"), at("to"));
        remove_log(at("to"));
    }
    ck_assert_uint_eq(most, 4);
    free(stream);
}
END_TEST

/* The same log, broken again and again. */
START_TEST(many_breaks_in_a_row_end_in_the_same_log)
{
    size_t size;
    small_log(at("from"));
    uint8_t *stream = stream_of(at("from"), 0, &size);
    for (size_t cut = 0; cut < size; cut += 17)
        ck_assert_int_eq(receive(at("to"), stream, cut).err, U9_TORN);
    side r = receive(at("to"), stream, size);
    expect_fine(&r);
    expect_same(at("from"), at("to"));
    free(stream);
}
END_TEST

/* [L-6] */
START_TEST(logs_of_every_key_kind_arrive)
{
    static const char *const kinds[] = {"muid", "gid:log", "tid", "uid8", "rkey:tid", "rkey:literal:same"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t size;
        u9_options o = quick_options();
        o.kind = kinds[i];
        o.generator_given = 1;
        u9_log *log = open_writer(at("from"), &o);
        put_batch(log, "x", 3, 0);
        put_batch(log, "y", 2, 0);
        close_log(log);
        uint8_t *stream = stream_of(at("from"), 0, &size);
        side r = receive(at("to"), stream, size);
        expect_fine(&r);
        r = receive(at("to"), stream, size);
        expect_fine(&r);
        ck_assert_uint_eq(r.report.skipped, 5);
        expect_same(at("from"), at("to"));
        log = open_reader(at("to"));
        ck_assert_str_eq(u9_log_kind(log), kinds[i]);
        close_log(log);
        free(stream);
        remove_log(at("from"));
        remove_log(at("to"));
    }
}
END_TEST

START_TEST(a_compressed_log_of_several_segments_arrives)
{
    size_t size;
    u9_options o = quick_options();
    o.lz4 = 1;
    u9_log *log = open_writer(at("from"), &o);
    for (unsigned i = 0; i < 40; i++) put_batch(log, "packed", 20, 500);
    close_log(log);
    uint8_t *stream = stream_of(at("from"), 0, &size);
    side r = receive(at("to"), stream, size);
    expect_fine(&r);
    expect_same(at("from"), at("to"));
    free(stream);
    stream = stream_of(at("from"), 700, &size);
    r = receive(at("to"), stream, size);
    expect_fine(&r);
    ck_assert_uint_le(r.report.skipped, 120);
    free(stream);
}
END_TEST

START_TEST(an_empty_log_is_a_stream_without_records)
{
    size_t size;
    forged_segment s = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_pad(&s);
    forge_save(&s, at("from"));
    forge_free(&s);
    uint8_t *stream = stream_of(at("from"), 0, &size);
    side r = receive(at("to"), stream, size);
    expect_fine(&r);
    ck_assert_uint_eq(r.report.next, 0);
    small_log(at("full"));
    r = receive(at("full"), stream, size); /* that has more */
    ck_assert_int_eq(r.err, U9_ARG);
    free(stream);
}
END_TEST

/* [T-10] The largest batch there is, byte by byte and in one. */
START_TEST(the_largest_batch_fits_into_a_frame)
{
    u9_log *log = open_quick(at("from"));
    uint8_t *value = malloc(U9_RECORD_MAX), *bytes = calloc(1, U9_RECORD_MAX);
    u9_builder b;
    u9_builder_init(&b, value, U9_RECORD_MAX);
    ck_assert_int_eq(u9_build_bytes(&b, bytes, U9_RECORD_MAX - 5 - 18 - 9), U9_OK);
    free(bytes);
    ck_assert_int_eq(u9_log_append(log, NULL, value, b.size, NULL), U9_OK);
    free(value);
    close_log(log);
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    side sender = {.path = at("from"), .in = -1, .out = ends[1]};
    side receiver = {.path = at("to"), .in = ends[0], .out = -1};
    start(&sender, send_main);
    recv_main(&receiver);
    join(&sender);
    expect_fine(&receiver);
    expect_same(at("from"), at("to"));
    ck_assert_uint_eq(sender.report.bytes, U9_RECORD_MAX);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* [T-2] Short reads on one side, short writes on the other. */
START_TEST(a_stream_of_single_bytes_is_the_same_stream)
{
    int a[2], b[2];
    small_log(at("from"));
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, a), 0);
    ck_assert_int_eq(pipe(b), 0);
    side sender = {.path = at("from"), .in = -1, .out = a[1]};
    side receiver = {.path = at("to"), .in = b[0], .out = -1};
    relay r = {.from = a[0], .to = b[1], .most = 1};
    relay_start(&r);
    start(&sender, send_main);
    start(&receiver, recv_main);
    join(&sender);
    close(a[1]);
    pthread_join(r.thread, NULL);
    join(&receiver);
    expect_fine(&sender);
    expect_fine(&receiver);
    expect_same(at("from"), at("to"));
    close(b[0]);
}
END_TEST

/* A reader far slower than the writer: what is held in memory is a batch, however much waits. */
START_TEST(a_slow_reader_makes_nobody_hold_more_than_a_batch)
{
    int a[2], b[2];
    large_log(at("from"), 30);
    ck_assert_int_eq(pipe(a), 0);
    ck_assert_int_eq(pipe(b), 0);
    side sender = {.path = at("from"), .in = -1, .out = a[1]};
    side receiver = {.path = at("to"), .in = b[0], .out = -1};
    relay r = {.from = a[0], .to = b[1], .most = 3000, .nap_us = 300};
    relay_start(&r);
    start(&sender, send_main);
    start(&receiver, recv_main);
    join(&sender);
    close(a[1]);
    pthread_join(r.thread, NULL);
    join(&receiver);
    expect_fine(&sender);
    expect_fine(&receiver);
    expect_same(at("from"), at("to"));
    uint64_t batch = sender.report.bytes / 30 + 100;
    ck_assert_uint_gt(sender.report.bytes, 1800000);
    ck_assert_uint_le(sender.report.held_max, batch + U9_TRANSIT_HEAD);
    ck_assert_uint_le(receiver.report.held_max, batch + 2 * 65536);
    close(b[0]);
}
END_TEST

static void set_nonblocking(int fd)
{
    ck_assert_int_eq(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
}

static void on_alarm(int number)
{
    (void)number;
}

/* EINTR and EAGAIN come all the time. */
START_TEST(interruptions_and_descriptors_that_do_not_block_change_nothing)
{
    int a[2], b[2];
    large_log(at("from"), 20);
    struct sigaction act = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &act, NULL);
    ck_assert_int_eq(pipe(a), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, b), 0);
    set_nonblocking(a[1]);
    set_nonblocking(b[0]);
    side sender = {.path = at("from"), .in = -1, .out = a[1]};
    side receiver = {.path = at("to"), .in = b[0], .out = -1};
    relay r = {.from = a[0], .to = b[1], .most = 5000, .nap_us = 100};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* the relay and the sender are left alone */
    relay_start(&r);
    start(&sender, send_main);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    recv_main(&receiver);
    setitimer(ITIMER_REAL, &never, NULL);
    join(&sender);
    close(a[1]);
    pthread_join(r.thread, NULL);
    expect_fine(&sender);
    expect_fine(&receiver);
    expect_same(at("from"), at("to"));
    close(b[0]);
}
END_TEST

/* A receiver that goes away: no signal, no harm. */
START_TEST(a_receiver_that_has_gone_is_an_error_and_no_signal)
{
    for (int kind = 0; kind < 3; kind++) {
        int ends[2];
        sigset_t pending;
        large_log(at("from"), 10);
        if (kind == 0) ck_assert_int_eq(pipe(ends), 0);
        else ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        close(ends[0]);
        signal(SIGPIPE, SIG_DFL);
        side s = {.path = at("from"), .in = kind == 2 ? ends[1] : -1, .out = ends[1]};
        send_main(&s);
        ck_assert(s.err == U9_IO || (kind == 2 && s.err == U9_TORN));
        if (s.err == U9_IO) ck_assert(s.fault.sys == EPIPE || s.fault.sys == ECONNRESET);
        ck_assert_int_eq(sigpending(&pending), 0);
        ck_assert_int_eq(sigismember(&pending, SIGPIPE), 0);
        ck_assert_uint_lt(s.report.records, 600);
        close(ends[1]);
        remove_log(at("from"));
    }
}
END_TEST

/* Stops at the third question. */
static int stop_soon(void *ctx, uint64_t done, uint64_t all)
{
    unsigned *asked = ctx;
    (void)done;
    (void)all;
    return ++*asked >= 3;
}

START_TEST(either_side_stops_when_it_is_asked_to_and_what_came_stays)
{
    int ends[2];
    unsigned asked = 0;
    small_log(at("from"));
    ck_assert_int_eq(pipe(ends), 0);
    large_log(at("large"), 10);
    side s = {.path = at("large"), .in = -1, .out = ends[1], .on_progress = stop_soon, .ctx = &asked};
    set_nonblocking(ends[1]); /* nobody reads */
    send_main(&s);
    ck_assert_int_eq(s.err, U9_STATE);
    close(ends[0]);
    close(ends[1]);

    size_t size;
    uint8_t *stream = stream_of(at("from"), 0, &size);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], stream, size - 20), (ssize_t)(size - 20));
    side r = {.path = at("to"), .in = ends[0], .out = -1, .on_progress = stop_soon, .ctx = &asked};
    asked = 0;
    recv_main(&r); /* nothing more comes */
    ck_assert_int_eq(r.err, U9_STATE);
    ck_assert_uint_gt(r.report.records, 0);
    ck_assert_uint_eq(content_of(at("to")).records, r.report.records);
    close(ends[0]);
    close(ends[1]);
    r = receive(at("to"), stream, size);
    expect_fine(&r);
    expect_same(at("from"), at("to"));
    free(stream);
}
END_TEST

/* [T-8] Progress: tau(x) makes an estimate of all, and it ends near what there was. */
typedef struct progress {
    uint64_t done, all, calls;
} progress;

static int note_progress(void *ctx, uint64_t done, uint64_t all)
{
    progress *p = ctx;
    ck_assert(all == 0 || done <= all);
    ck_assert_uint_ge(done, p->done);
    *p = (progress){done, all ? all : p->all, p->calls + 1};
    return 0;
}

START_TEST(progress_comes_with_an_estimate_of_the_whole)
{
    int a[2], b[2];
    large_log(at("from"), 60);
    ck_assert_int_eq(pipe(a), 0);
    ck_assert_int_eq(pipe(b), 0);
    progress mine = {0}, theirs = {0};
    side sender = {.path = at("from"), .in = -1, .out = a[1], .on_progress = note_progress, .ctx = &theirs};
    side receiver = {.path = at("to"), .in = b[0], .out = -1, .on_progress = note_progress, .ctx = &mine};
    relay r = {.from = a[0], .to = b[1], .most = 60000, .nap_us = 8000};
    relay_start(&r);
    start(&sender, send_main);
    start(&receiver, recv_main);
    join(&sender);
    close(a[1]);
    pthread_join(r.thread, NULL);
    join(&receiver);
    expect_fine(&sender);
    expect_fine(&receiver);
    ck_assert_uint_gt(mine.calls, 2);
    ck_assert_uint_gt(theirs.calls, 2);
    ck_assert_uint_gt(mine.all, receiver.report.bytes * 8 / 10);
    ck_assert_uint_lt(mine.all, receiver.report.bytes * 12 / 10);
    close(b[0]);
}
END_TEST

/* A stream by hand: frames of values in hex; behind each `/` a new frame begins. */
static uint8_t forged[4096];
static size_t forged_size;

static void forge(const char *text)
{
    uint8_t values[2048];
    size_t size = 0;
    forged_size = 0;
    for (const char *c = text;; c++) {
        unsigned byte;
        if (*c == ' ') continue;
        if (*c == '/' || *c == 0) {
            u9_transit_head(size, forged + forged_size);
            memcpy(forged + forged_size + U9_TRANSIT_HEAD, values, size);
            forged_size += U9_TRANSIT_HEAD + size;
            size = 0;
            if (*c == 0) return;
            continue;
        }
        ck_assert_int_eq(sscanf(c, "%2x", &byte), 1);
        values[size++] = (uint8_t)byte;
        c++;
    }
}

/* u9log of version 1 for muids, from record 0 on, and its records. */
#define NO_ID "1c10 00000000000000000000000000000000 "
#define LOG_HEAD "4e 23 0a75396c6f67000000 81 246d756964 " NO_ID
#define LOG LOG_HEAD "80 30"
#define KEY(n) "1c10 5d5eac793e61f1bfc71b112d000000" n
#define RECORD(n) "4a 13 " KEY(n) "85 "

static side expect_forged(const char *text, u9_err err, const char *rule)
{
    forge(text);
    side r = receive(at("forged"), forged, forged_size);
    ck_assert_msg(r.err == err && strcmp(r.fault.rule, rule) == 0, "%s: %s [%s] %s", text,
                  u9_err_name(r.err), r.fault.rule, r.err ? r.fault.text : "");
    return r;
}

/* [T-4] to [T-10] One row for each way to refuse. */
START_TEST(a_receiver_refuses_what_no_sender_sends)
{
    static const struct {
        const char *stream;
        u9_err err;
        const char *rule;
    } rows[] = {
        {LOG, U9_CORRUPT, "T-4"},                                    /* no alpha */
        {"10 / 10", U9_CORRUPT, "T-4"},                              /* a second one */
        {"11", U9_CORRUPT, "T-4"},                                   /* omega before it */
        {"10 12", U9_CORRUPT, "T-4"},                                /* iota on a one-way link [T-7] */
        {"10 / 13", U9_CORRUPT, "T-4"},                              /* kappa on one */
        {"10 11 85", U9_CORRUPT, "T-4"},                             /* data behind omega */
        {"10 4a0a 0a75396572726f7200 85 85 11", U9_CORRUPT, "T-4"},  /* data behind an error */
        {"10", U9_TORN, "T-4"},                                      /* no omega */
        {"10 / " LOG, U9_TORN, "T-4"},
        {"10 11", U9_CORRUPT, "T-9"},                                /* no log */
        {"10 85", U9_CORRUPT, "T-9"},                                /* another first value */
        {"10 48 00", U9_CORRUPT, "T-9"},
        {"10 / " RECORD("01"), U9_CORRUPT, "T-9"},
        {"10 4a0a 0a75396c6f67000000 82", U9_VERSION, "T-9"},        /* a later version */
        {"10 4a0a 0a75396c6f67000000 80", U9_CORRUPT, "T-9"},        /* an earlier one */
        {"10 4a0a 0a75396c6f67000000 81", U9_CORRUPT, "T-9"},        /* nothing behind it */
        {"10 4e22 0a75396c6f67000000 81 23 616263 " NO_ID "80 30", U9_CORRUPT, "T-9"},
        {"10 4e1f 0a75396c6f67000000 81 20 " NO_ID "80 30", U9_CORRUPT, "T-9"},
        {"10 4e20 0a75396c6f67000000 81 246d756964 3e 0000000000000000000000000000 80 30", U9_CORRUPT, "T-9"},
        {"10 " LOG_HEAD "20 30", U9_CORRUPT, "T-9"},                 /* first is a text */
        {"10 4e24 0a75396c6f67000000 81 246d756964 " NO_ID "80 31 00", U9_CORRUPT, "T-9"}, /* half a mark */
        {"10 4f24 0a75396c6f67000000 81 246d756964 " NO_ID "80 30 80", U9_CORRUPT, "T-9"}, /* seven */
        {"10 " LOG_HEAD "81 30", U9_ARG, "T-9"},                     /* not from the beginning */
        {"10 " LOG "/" LOG, U9_CORRUPT, "T-10"},                     /* a control record */
        {"10 " LOG "85", U9_CORRUPT, "T-10"},                        /* no record */
        {"10 " LOG "48 00", U9_CORRUPT, "T-10"},                     /* one without a key */
        {"10 " LOG "/" RECORD("01") "49 01 85", U9_CORRUPT, "T-10"}, /* a key of no kind */
        {"10 " LOG "/" RECORD("01") "49 02 31 00", U9_CORRUPT, "L-6"}, /* one that is no muid */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        side r = expect_forged(rows[i].stream, rows[i].err, rows[i].rule);
        ck_assert_uint_eq(r.report.records, 0);
        ck_assert_uint_eq(r.report.next, 0);
        remove_log(at("forged"));
    }
}
END_TEST

/* [T-10] A frame is taken whole or not at all: what is wrong behind a record takes it along. */
START_TEST(a_forged_stream_that_is_right_is_taken_and_a_refused_frame_leaves_nothing)
{
    expect_forged("10 " LOG RECORD("01") "/ 15 0001 / 14 /" RECORD("02") RECORD("03") "11", U9_OK, "");
    content c = content_of(at("forged"));
    ck_assert_uint_eq(c.records, 3);
    ck_assert_uint_eq(c.batches, 2);
    side r = expect_forged("10 " LOG "/" RECORD("01") "/" RECORD("02") RECORD("03") "/" RECORD("04") "/"
                           RECORD("05") "85 / 11", U9_CORRUPT, "T-10");
    ck_assert_uint_eq(r.report.records, 1);
    ck_assert_uint_eq(r.report.skipped, 3);
    ck_assert_uint_eq(content_of(at("forged")).records, 4);
    /* A time-cycle may end before there is anything. */
    remove_log(at("forged"));
    expect_forged("10 14 / 15 0001 /" LOG "/ 14 / 11", U9_OK, "");
    remove_log(at("forged"));
    expect_forged("10 " LOG RECORD("01") "/" RECORD("02") RECORD("03") "/" RECORD("04") "/ 11", U9_OK, "");
    /* Behind omega nothing is read. */
    forge("10 " LOG "/" RECORD("01") "/" RECORD("02") RECORD("03") RECORD("04") "/ 11 / 85");
    r = receive(at("forged"), forged, forged_size);
    expect_fine(&r);
}
END_TEST

/* [T-2] */
START_TEST(a_frame_over_the_limit_is_refused_at_its_place)
{
    forge("10");
    u9_transit_head(U9_TRANSIT_MAX + 1, forged + forged_size);
    side r = receive(at("to"), forged, forged_size + U9_TRANSIT_HEAD);
    ck_assert_int_eq(r.err, U9_LIMIT);
    ck_assert_uint_eq(r.fault.offset, forged_size + 4);
    ck_assert_str_eq(r.fault.rule, "T-2");
    ck_assert_uint_le(r.report.held_max, 64); /* and no memory was taken for it */
}
END_TEST

/* {F68} [T-9] */
START_TEST(a_log_that_is_no_beginning_of_what_is_sent_is_refused_and_left_alone)
{
    size_t size;
    uint8_t before[16], after[16];
    small_log(at("from"));
    small_log(at("other")); /* as many records, of other keys */
    uint8_t *stream = stream_of(at("from"), 0, &size);
    picture(at("other"), before);
    side r = receive(at("other"), stream, size);
    ck_assert_int_eq(r.err, U9_ARG);
    ck_assert_str_eq(r.fault.rule, "T-9");
    ck_assert_ptr_nonnull(strstr(r.fault.text, "record 8 is another one here"));
    free(stream);

    stream = stream_of(at("from"), 9, &size); /* only its mark tells */
    r = receive(at("other"), stream, size);
    ck_assert_int_eq(r.err, U9_ARG);
    ck_assert_ptr_nonnull(strstr(r.fault.text, "record 8 is another one here"));
    free(stream);

    stream = stream_of(at("from"), 5, &size); /* it begins behind the log's end */
    r = receive(at("new"), stream, size);
    ck_assert_int_eq(r.err, U9_ARG);
    ck_assert_ptr_nonnull(strstr(r.fault.text, "record 5 is the first one sent"));
    ck_assert_int_ne(access(at("new"), F_OK), 0); /* nothing was made */
    free(stream);

    more(at("other")); /* it has more than is sent */
    picture(at("other"), before);
    stream = stream_of(at("from"), 0, &size);
    r = receive(at("other"), stream, size);
    ck_assert_int_eq(r.err, U9_ARG);
    ck_assert_ptr_nonnull(strstr(r.fault.text, "record 11 is not among those sent"));
    free(stream);

    u9_options tids = quick_options();
    tids.kind = "tid";
    u9_log *log = open_writer(at("tids"), &tids);
    put_batch(log, "t", 1, 0);
    close_log(log);
    stream = stream_of(at("tids"), 0, &size);
    r = receive(at("other"), stream, size);
    ck_assert_int_eq(r.err, U9_ARG);
    ck_assert_str_eq(r.fault.rule, "L-6");
    free(stream);
    picture(at("other"), after);
    ck_assert_mem_eq(before, after, sizeof before);

    /* A stream from within, whose mark is missing: it cannot be compared. */
    log = open_quick(at("one"));
    put_batch(log, "x", 1, 0);
    close_log(log);
    forge("10 " LOG_HEAD "81 30 11");
    r = receive(at("one"), forged, forged_size);
    ck_assert_int_eq(r.err, U9_ARG);
    ck_assert_ptr_nonnull(strstr(r.fault.text, "cannot be compared"));
}
END_TEST

/* [T-12] */
START_TEST(a_sender_stops_at_damage_and_says_so)
{
    uint64_t offsets[64];
    size_t size;
    small_log(at("from"));
    uint8_t *whole = stream_of(at("from"), 0, &size);
    side have = receive(at("have"), whole, size);
    expect_fine(&have);
    size_t count = frame_offsets(segment_path(at("from"), 1), offsets, 64);
    ck_assert_uint_ge(count, 6);
    uint64_t hurt = 0; /* the frame of the third batch: records 2 and 3 */
    for (size_t i = 0; i < count; i++) {
        size_t bytes;
        uint8_t *file = read_file(segment_path(at("from"), 1), &bytes);
        seen_frame frames[64];
        size_t n = list_frames(file, bytes, frames, 64);
        for (size_t k = 0; k < n; k++)
            if (frames[k].ordinal == 2 && frames[k].count == 2) hurt = frames[k].offset;
        free(file);
    }
    ck_assert_uint_gt(hurt, 0);
    flip_bit(segment_path(at("from"), 1), hurt + 70, 3);

    side s;
    uint8_t *stream = record(at("from"), 0, &size, &s);
    ck_assert_int_eq(s.err, U9_CORRUPT);
    ck_assert_int_eq(s.report.damaged, 1);
    ck_assert_int_eq(s.report.peer_failed, 0);
    ck_assert_uint_eq(s.report.records, 2);
    side r = receive(at("to"), stream, size);
    ck_assert_int_eq(r.err, U9_CORRUPT);
    ck_assert_int_eq(r.report.peer_failed, 1);
    ck_assert_str_eq(r.fault.text, s.fault.text);
    ck_assert_ptr_nonnull(strstr(r.fault.text, "from 2 on"));
    ck_assert_uint_eq(content_of(at("to")).records, 2);
    free(stream);

    /* Damage to what the receiver has does not matter. */
    more(at("from"));
    side sender, receiver;
    move_both_ways(true, at("from"), at("have"), &sender, &receiver);
    expect_fine(&sender);
    expect_fine(&receiver);
    ck_assert_uint_eq(sender.report.records, 3);
    ck_assert_uint_eq(content_of(at("have")).records, 12);
    free(whole);
}
END_TEST

/* [T-12] What costs no record is told, and what is in front of the first record that is wanted is not even that. */
/* Nobody knows how many there were. */
START_TEST(an_end_that_was_unknown_stops_a_sender)
{
    side s;
    size_t size;
    forged_segment f = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
    forge_records(&f, "r", 4);
    forged_segment next = forge_begin(2, 1, &f, U9I_TAIL_UNKNOWN);
    forge_records(&next, "s", 3);
    forge_end(&next, U9I_END_CLOSING);
    memset(f.bytes + f.size, 0x5a, 700);
    f.size += 700;
    forge_save(&f, at("from"));
    forge_save(&next, at("from"));
    forge_free(&f);
    forge_free(&next);
    free(record(at("from"), 0, &size, &s));
    ck_assert_int_eq(s.err, U9_CORRUPT);
    ck_assert_int_eq(s.report.damaged, 1);
    ck_assert_uint_eq(s.report.records, 4);
    ck_assert_ptr_nonnull(strstr(s.fault.text, "records of the log are lost"));
}
END_TEST

START_TEST(damage_that_costs_nothing_that_is_wanted_does_not_stop_a_sender)
{
    static const struct {
        unsigned harm; /* 0: a padding; 1: a payload; 2: a segment is gone; 3: a segment that nobody can read stands there */
        uint64_t from;
        u9_err err;
        uint64_t next; /* of the first record that was not sent; 0: it was not come so far */
    } rows[] = {{0, 0, U9_OK, 60},      {1, 0, U9_CORRUPT, 5}, {1, 6, U9_OK, 60},  {1, 5, U9_CORRUPT, 0},
                {2, 0, U9_CORRUPT, 0}, {2, 45, U9_OK, 60},    {3, 45, U9_OK, 60}, {3, 0, U9_CORRUPT, 0}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t size;
        seen_frame frames[64];
        side s;
        u9_options o = quick_options();
        o.segment_size = 65536;
        remove_log(at("from"));
        u9_log *log = open_writer(at("from"), &o);
        for (unsigned k = 0; k < 60; k++) put_batch(log, "x", 1, 5001 + k % 7);
        close_log(log);
        const char *first = segment_path(at("from"), 1), *second = segment_path(at("from"), 2);
        size_t n = frames_in(first, frames, 64);
        for (size_t k = 0; k < n; k++) {
            if (rows[i].harm == 0 && frames[k].length % 16) put_bytes(first, frames[k].end - 1, "x", 1);
            if (rows[i].harm == 1 && frames[k].count > 0 && frames[k].ordinal == 5) flip_bit(first, frames[k].offset + 80, 3);
        }
        if (rows[i].harm == 2) remove_log(second);
        if (rows[i].harm == 3) fill_bytes(second, 0, file_size(second), 0xee);
        free(record(at("from"), rows[i].from, &size, &s));
        ck_assert_msg(s.err == rows[i].err, "row %u: %s", i, s.fault.text);
        ck_assert_int_eq(s.report.damaged, s.err != U9_OK);
        if (rows[i].next > 0) ck_assert_uint_eq(s.report.next, rows[i].next);
        else ck_assert_uint_lt(s.report.next, 45);
    }
}
END_TEST

/* [L-6] [T-9] Nothing says any more of what kind the keys are: it is the one that they all are of. */
START_TEST(a_log_that_nothing_says_the_kind_of_is_sent_to_who_gives_no_options)
{
    size_t size;
    side s;
    small_log(at("from"));
    const char *path = segment_path(at("from"), 1);
    content whole = content_of(at("from"));
    flip_bit(path, 32 + 64 + 10, 3);
    fill_bytes(path, file_size(path) - 4096, 4096, 0);
    uint8_t *stream = record(at("from"), 0, &size, &s);
    ck_assert_msg(s.err == U9_OK, "%s", s.fault.text);
    sim_needed("the default disk");
    u9_recv_options v = {.size = sizeof v, .in = memfd_create("stream", MFD_CLOEXEC), .out = -1};
    u9_ship_report report = {.size = sizeof report};
    u9_fault fault;
    ck_assert_int_eq(pwrite(v.in, stream, size, 0), (ssize_t)size);
    ck_assert_int_eq(u9_log_recv(at("real"), &v, &report, &fault), U9_OK);
    ck_assert_uint_eq(report.records, whole.records);
    u9_report checked = {.size = sizeof checked};
    ck_assert_int_eq(u9_check(at("real"), NULL, &checked, &fault), U9_OK); /* where io is not said */
    ck_assert_uint_eq(checked.records, whole.records);
    ck_assert_int_eq(checked.verdict, U9_V_CLEAN);
    close(v.in);
    free(stream);
}
END_TEST

/* [T-12] A record that is served, and that no log takes. */
START_TEST(a_record_that_no_log_takes_is_damage)
{
    static const uint8_t malformed[] = {0x4a, 0x16, 0x1c, 0x10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                        13, 14, 15, 16, 0x49, 0x02, 0x85, 0x86};
    static const uint8_t other_key[] = {0x4a, 0x0a, 0x03, 1, 2, 3, 4, 5, 6, 7, 8, 0x85};
    const uint8_t *const bodies[] = {malformed, other_key};
    const size_t sizes[] = {sizeof malformed, sizeof other_key};
    for (size_t i = 0; i < 2; i++) {
        forged_segment segment = forge_begin(1, 1, NULL, U9I_TAIL_NONE);
        forge_records(&segment, "good", 3);
        forge_frame(&segment, bodies[i], sizes[i], 1);
        forge_promise(&segment);
        forge_end(&segment, U9I_END_CLOSING);
        forge_save(&segment, at("from"));
        forge_free(&segment);
        size_t size;
        side s;
        free(record(at("from"), 0, &size, &s));
        ck_assert_int_eq(s.err, U9_CORRUPT);
        ck_assert_int_eq(s.report.damaged, 1);
        ck_assert_uint_eq(s.report.records, 3);
        ck_assert_ptr_nonnull(strstr(s.fault.text, "from 3 on"));
        remove_log(at("from"));
    }
}
END_TEST

static void count_one(void *count, const u9_damage *damage)
{
    (void)damage;
    ++*(unsigned *)count;
}

/* [T-12] [L-4] What nobody can tell whose it was is told, and in nobody's way. */
START_TEST(a_sender_stops_where_a_segment_is_missing_and_not_at_a_stray_file)
{
    unsigned seen_damages = 0;
    large_log(at("from"), 40);
    ck_assert_uint_ge(segments_in(at("from")), 3);
    u9_options o = quick_options();
    o.mode = U9_READ;
    o.on_damage = count_one;
    o.on_damage_ctx = &seen_damages;
    for (int gone = 0; gone < 2; gone++) {
        side s = {.path = at("from"), .in = -1, .out = memfd_create("recorded", MFD_CLOEXEC)};
        if (gone) sim_remove(segment_path(at("from"), 2));
        if (!gone) sim_write(segment_path(at("from"), 90), 0, "what is this? what is this? what is this?", 40);
        u9_log *log = open_writer(at("from"), &o);
        u9_send_options options = {.size = offsetof(u9_send_options, follow), .out = s.out, .in = -1};
        u9_ship_report report = {.size = sizeof report};
        u9_fault fault;
        seen_damages = 0;
        u9_err err = u9_log_send(log, &options, &report, &fault);
        ck_assert_int_eq(err, gone ? U9_CORRUPT : U9_OK);
        if (gone) ck_assert_str_eq(fault.rule, "T-12");
        ck_assert_int_eq(report.damaged, gone);
        ck_assert_uint_eq(seen_damages, 1);
        close_log(log);
        close(s.out);
        if (!gone) sim_remove(segment_path(at("from"), 90));
    }
}
END_TEST

/* [L-6] [L-3] */
START_TEST(a_log_whose_keys_are_of_no_kind_is_not_sent)
{
    u9i_open_record open = {.segment = 1, .log = "log", .session = "session", .kind = {(const uint8_t *)"strange", 7}};
    forged_segment segment = forge_with_open(1, 1, &open);
    forge_records(&segment, "good", 1);
    forge_end(&segment, U9I_END_CLOSING);
    forge_save(&segment, at("from"));
    forge_free(&segment);
    size_t size;
    side s;
    free(record(at("from"), 0, &size, &s));
    ck_assert_int_eq(s.err, U9_CORRUPT);
    ck_assert_str_eq(s.fault.rule, "L-6");
    ck_assert_uint_eq(s.report.records, 0);
}
END_TEST

/* [E-4] */
START_TEST(a_plain_seed_file_is_not_sent)
{
    plain_file p = plain_example();
    make_dir(at("from"));
    write_file(segment_path(at("from"), 1), p.bytes, p.size);
    plain_free(&p);
    size_t size;
    for (int follows = 0; follows < 2; follows++) {
        side s = {.path = at("from"), .in = -1, .out = memfd_create("recorded", MFD_CLOEXEC), .follows = follows};
        send_main(&s);
        ck_assert_int_eq(s.err, U9_ARG);
        ck_assert_str_eq(s.fault.rule, "E-4");
        close(s.out);
    }
    small_log(at("log"));
    side s = {.path = segment_path(at("log"), 1), .in = -1, .out = memfd_create("recorded", MFD_CLOEXEC), .follows = true};
    send_main(&s); /* a single file is sent, and not followed */
    ck_assert_int_eq(s.err, U9_ARG);
    ck_assert_ptr_nonnull(strstr(s.fault.text, "single file"));
    close(s.out);
    uint8_t *stream = stream_of(segment_path(at("log"), 1), 0, &size);
    side r = receive(at("to"), stream, size);
    expect_fine(&r);
    expect_same(at("log"), at("to"));
    free(stream);
}
END_TEST

/* A handle is its process's. */
START_TEST(a_forked_child_sends_nothing)
{
    small_log(at("from"));
    u9_log *log = open_reader(at("from"));
    u9_send_options o = {.size = sizeof o, .out = STDOUT_FILENO, .in = -1};
    u9_ship_report report = {.size = sizeof report};
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) _exit(u9_log_send(log, &o, &report, NULL) == U9_STATE ? 0 : 1);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    close_log(log);
}
END_TEST

/* [T-9] What the receiver has last is damaged there, or its disk does not read it: it cannot be compared. */
START_TEST(a_receiver_whose_last_record_cannot_be_read_says_so)
{
    size_t size, bytes;
    seen_frame frames[64];
    small_log(at("from"));
    uint8_t *stream = stream_of(at("from"), 0, &size);
    side r = receive(at("to"), stream, size);
    expect_fine(&r);
    uint8_t *file = read_file(segment_path(at("to"), 1), &bytes);
    uint64_t last = 0;
    size_t n = list_frames(file, bytes, frames, 64);
    for (size_t i = 0; i < n; i++)
        if (frames[i].count > 0) last = frames[i].offset;
    free(file);
    flip_bit(segment_path(at("to"), 1), last + 70, 3);
    r = receive(at("to"), stream, size);
    ck_assert_int_eq(r.err, U9_ARG);
    ck_assert_str_eq(r.fault.rule, "T-9");
    ck_assert_ptr_nonnull(strstr(r.fault.text, "record 8 cannot be read here"));
    flip_bit(segment_path(at("to"), 1), last + 70, 3);
    r = receive(at("to"), stream, size);
    expect_fine(&r);
    free(stream);
}
END_TEST

/* Who receives may leave it to others when it is durable, and may give no options. */
START_TEST(a_receiver_does_not_wait_for_the_disk_if_it_is_not_to)
{
    size_t size;
    u9_log *log = open_quick(at("from"));
    put_batch(log, "one", 300, 0); /* more than entries are made for at first */
    put_batch(log, "two", 10, 0);
    for (unsigned i = 0; i < 150; i++) put_batch(log, "large", 60, 1000);
    close_log(log);
    uint8_t *stream = stream_of(at("from"), 0, &size);
    u9_options o = quick_options();
    o.policy = U9_POLICY_NONE;
    u9_recv_options v = {.size = sizeof v, .in = memfd_create("stream", MFD_CLOEXEC), .out = -1, .log = &o};
    u9_ship_report report = {.size = sizeof report};
    ck_assert_int_eq(pwrite(v.in, stream, size, 0), (ssize_t)size);
    ck_assert_int_eq(u9_log_recv(at("to"), &v, &report, NULL), U9_OK);
    ck_assert_uint_eq(report.records, 310 + 150 * 60);
    expect_same(at("from"), at("to"));
    ck_assert_int_eq(lseek(v.in, 0, SEEK_SET), 0);
    o.io = "nothing that is known";
    u9_fault fault;
    ck_assert_int_eq(u9_log_recv(at("other"), &v, &report, &fault), U9_ARG);
    close(v.in);
    free(stream);
}
END_TEST

START_TEST(arguments_out_of_range_are_refused)
{
    small_log(at("from"));
    u9_log *log = open_reader(at("from"));
    u9_fault fault;
    u9_ship_report report = {.size = sizeof report}, bad = {.size = 3};
    u9_send_options send = {.size = sizeof send, .out = 1, .in = -1};
    u9_recv_options recv = {.size = sizeof recv, .in = 0, .out = -1};
    ck_assert_int_eq(u9_log_send(NULL, &send, &report, &fault), U9_ARG);
    ck_assert_int_eq(u9_log_send(log, NULL, &report, &fault), U9_ARG);
    ck_assert_int_eq(u9_log_send(log, &send, NULL, &fault), U9_ARG);
    ck_assert_int_eq(u9_log_send(log, &send, &bad, &fault), U9_ARG);
    ck_assert_int_eq(u9_log_recv(NULL, &recv, &report, &fault), U9_ARG);
    ck_assert_int_eq(u9_log_recv(at("to"), NULL, &report, &fault), U9_ARG);
    ck_assert_int_eq(u9_log_recv(at("to"), &recv, NULL, NULL), U9_ARG);
    ck_assert_int_eq(u9_log_recv(at("to"), &recv, &bad, &fault), U9_ARG);
    send.out = -1;
    ck_assert_int_eq(u9_log_send(log, &send, &report, &fault), U9_ARG);
    send = (u9_send_options){.size = sizeof send, .out = 1, .in = 0, .from = 1}; /* both say where */
    ck_assert_int_eq(u9_log_send(log, &send, &report, &fault), U9_ARG);
    send.size = 1;
    ck_assert_int_eq(u9_log_send(log, &send, &report, &fault), U9_ARG);
    recv.in = -1;
    ck_assert_int_eq(u9_log_recv(at("to"), &recv, &report, &fault), U9_ARG);
    recv = (u9_recv_options){.size = 1, .in = 0, .out = -1};
    ck_assert_int_eq(u9_log_recv(at("to"), &recv, &report, &fault), U9_ARG);
    recv.size = sizeof recv;
    ck_assert_int_eq(u9_log_recv("", &recv, &report, &fault), U9_ARG);
    close_log(log);
    size_t size;
    side s;
    free(record(at("from"), 10, &size, &s)); /* there are 9 */
    ck_assert_int_eq(s.err, U9_ARG);
    ck_assert_str_eq(s.fault.rule, "T-9");
}
END_TEST

/* A batch has a frame of its own, whatever was appended before. */
START_TEST(a_frame_that_is_copied_stays_a_frame)
{
    static const uint8_t value[] = {0x85};
    u9_log *log = open_quick(at("log"));
    u9_entry entries[2] = {{.values = value, .size = 1}, {.values = value, .size = 1}};
    append_text(log, "before");
    ck_assert_int_eq(u9i_log_append_frame(log, entries, 2), U9_OK);
    ck_assert_int_eq(u9i_log_append_frame(log, entries, 1), U9_OK);
    append_text(log, "behind");
    ck_assert_int_eq(u9i_log_append_frame(log, entries, 0), U9_ARG);
    close_log(log);
    content c = content_of(at("log"));
    ck_assert_uint_eq(c.records, 5);
    ck_assert_uint_eq(c.batches, 4);
}
END_TEST

Suite *suite_ship(void)
{
    Suite *s = suite_create("ship");
    TCase *one = tcase_create("one way");
    tcase_add_checked_fixture(one, fixture_setup_sim_threads, fixture_teardown);
    tcase_set_timeout(one, 60);
    tcase_add_test(one, a_log_arrives_over_a_pipe_with_keys_and_batches);
    tcase_add_test(one, the_same_stream_again_changes_nothing_and_a_longer_one_adds_its_rest);
    tcase_add_test(one, what_is_left_of_a_log_that_was_never_made_is_received_into);
    tcase_add_test(one, a_stream_may_begin_at_any_record_that_the_receiver_has);
    tcase_add_test(one, a_break_at_any_byte_is_mended_by_the_same_stream);
    tcase_add_test(one, many_breaks_in_a_row_end_in_the_same_log);
    tcase_add_test(one, logs_of_every_key_kind_arrive);
    tcase_add_test(one, a_compressed_log_of_several_segments_arrives);
    tcase_add_test(one, an_empty_log_is_a_stream_without_records);
    tcase_add_test(one, the_largest_batch_fits_into_a_frame);
    tcase_add_test(one, a_stream_of_single_bytes_is_the_same_stream);
    tcase_add_test(one, a_slow_reader_makes_nobody_hold_more_than_a_batch);
    tcase_add_test(one, interruptions_and_descriptors_that_do_not_block_change_nothing);
    tcase_add_test(one, a_receiver_that_has_gone_is_an_error_and_no_signal);
    tcase_add_test(one, either_side_stops_when_it_is_asked_to_and_what_came_stays);
    tcase_add_test(one, progress_comes_with_an_estimate_of_the_whole);
    suite_add_tcase(s, one);
    TCase *no = tcase_create("refusals");
    tcase_add_checked_fixture(no, fixture_setup_sim_threads, fixture_teardown);
    tcase_set_timeout(no, 60);
    tcase_add_test(no, a_receiver_refuses_what_no_sender_sends);
    tcase_add_test(no, a_forged_stream_that_is_right_is_taken_and_a_refused_frame_leaves_nothing);
    tcase_add_test(no, a_frame_over_the_limit_is_refused_at_its_place);
    tcase_add_test(no, a_log_that_is_no_beginning_of_what_is_sent_is_refused_and_left_alone);
    tcase_add_test(no, a_sender_stops_at_damage_and_says_so);
    tcase_add_test(no, a_log_that_nothing_says_the_kind_of_is_sent_to_who_gives_no_options);
    tcase_add_test(no, damage_that_costs_nothing_that_is_wanted_does_not_stop_a_sender);
    tcase_add_test(no, an_end_that_was_unknown_stops_a_sender);
    tcase_add_test(no, a_record_that_no_log_takes_is_damage);
    tcase_add_test(no, a_sender_stops_where_a_segment_is_missing_and_not_at_a_stray_file);
    tcase_add_test(no, a_log_whose_keys_are_of_no_kind_is_not_sent);
    tcase_add_test(no, a_plain_seed_file_is_not_sent);
    tcase_add_test(no, a_forked_child_sends_nothing);
    tcase_add_test(no, a_receiver_whose_last_record_cannot_be_read_says_so);
    tcase_add_test(no, a_receiver_does_not_wait_for_the_disk_if_it_is_not_to);
    tcase_add_test(no, arguments_out_of_range_are_refused);
    tcase_add_test(no, a_frame_that_is_copied_stays_a_frame);
    suite_add_tcase(s, no);
    return s;
}
