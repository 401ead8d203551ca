/*
 * tests/engine/link/test_link.c: logs on the move over links with a way back: who says what when, who waits for
 * whom, and who hears why it went wrong. [T-4] to [T-6] [T-11]
 *
 * The other side is a thread, or the test itself, speaking frames by hand.
 */
#include "tests/sim/sim.h"
#include "tests/engine/link/ship.h"
#include "tests/engine/log/trimmed.h"
#include "tests/engine/scarce.h"
#include "tests/suites.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

/* [T-6] [T-11] Nothing is sent twice. */
START_TEST(on_a_two_way_link_only_what_is_missing_is_sent)
{
    for (int sockets = 0; sockets < 2; sockets++) {
        side sender, receiver;
        small_log(at("from"));
        move_both_ways(sockets, at("from"), at("to"), &sender, &receiver);
        expect_fine(&sender);
        expect_fine(&receiver);
        ck_assert_uint_eq(sender.report.records, 9);
        expect_same(at("from"), at("to"));
        move_both_ways(sockets, at("from"), at("to"), &sender, &receiver);
        expect_fine(&sender);
        expect_fine(&receiver);
        ck_assert_uint_eq(sender.report.records, 0);
        more(at("from"));
        move_both_ways(sockets, at("from"), at("to"), &sender, &receiver);
        expect_fine(&sender);
        expect_fine(&receiver);
        ck_assert_uint_eq(sender.report.records, 3);
        ck_assert_uint_eq(receiver.report.skipped, 0);
        expect_same(at("from"), at("to"));
        remove_log(at("from"));
        remove_log(at("to"));
    }
}
END_TEST

START_TEST(a_large_log_goes_over_a_two_way_link)
{
    for (int sockets = 0; sockets < 2; sockets++) {
        side sender, receiver;
        large_log(at("from"), 200); /* 12 MB: the receiver says kappa and iota on the way */
        move_both_ways(sockets, at("from"), at("to"), &sender, &receiver);
        expect_fine(&sender);
        expect_fine(&receiver);
        expect_same(at("from"), at("to"));
        remove_log(at("from"));
        remove_log(at("to"));
    }
}
END_TEST

/* The test itself on a link. */
typedef struct hand {
    int fd;
    u9_transit reader;
    uint8_t room[1 << 17];
    uint8_t input[1 << 17];
    size_t next, have;
} hand;

static hand hands;

static void hand_begin(int fd)
{
    hands.fd = fd;
    hands.next = hands.have = 0;
    u9_transit_init(&hands.reader, hands.room, sizeof hands.room);
}

static void say_bytes(const void *values, size_t size)
{
    uint8_t head[U9_TRANSIT_HEAD];
    u9_transit_head(size, head);
    ck_assert_int_eq(send(hands.fd, head, sizeof head, MSG_NOSIGNAL), sizeof head);
    ck_assert_int_eq(send(hands.fd, values, size, MSG_NOSIGNAL), (ssize_t)size);
}

static void say_greek(u9_type type)
{
    uint8_t byte[1];
    u9_builder b;
    u9_builder_init(&b, byte, sizeof byte);
    ck_assert_int_eq(u9_build_greek(&b, type), U9_OK);
    say_bytes(byte, 1);
}

/* `(symbol number)` and perhaps iota. */
static void say_next(const char *symbol, uint64_t number, bool iota)
{
    uint8_t bytes[64];
    u9_builder b;
    u9_builder_init(&b, bytes, sizeof bytes);
    ck_assert_int_eq(u9_build_tuple_open(&b), U9_OK);
    ck_assert_int_eq(u9_build_symbol(&b, symbol), U9_OK);
    ck_assert_int_eq(u9_build_uint(&b, number), U9_OK);
    ck_assert_int_eq(u9_build_tuple_close(&b), U9_OK);
    if (iota) ck_assert_int_eq(u9_build_greek(&b, U9_IOTA), U9_OK);
    say_bytes(bytes, b.size);
}

static void say_error(u9_err err, const char *text)
{
    uint8_t bytes[200];
    u9_builder b;
    u9_builder_init(&b, bytes, sizeof bytes);
    ck_assert_int_eq(u9_build_error(&b, err, text), U9_OK);
    ck_assert_int_eq(u9_build_greek(&b, U9_OMEGA), U9_OK);
    say_bytes(bytes, b.size);
}

/* True if something comes within this time. */
static bool anything_comes(unsigned wait_ms)
{
    struct timeval t = {.tv_sec = wait_ms / 1000, .tv_usec = (suseconds_t)(wait_ms % 1000 * 1000)};
    fd_set set;
    if (hands.next < hands.have) return true;
    FD_ZERO(&set);
    FD_SET(hands.fd, &set);
    return select(hands.fd + 1, &set, NULL, NULL, &t) > 0;
}

/* The next frame; its values borrow until the next call. False: the end. */
static bool hear(u9_walk *values)
{
    for (;;) {
        size_t used;
        u9_err err = u9_transit_push(&hands.reader, hands.input + hands.next, hands.have - hands.next, &used,
                                     values, NULL);
        hands.next += used;
        if (err == U9_OK) return true;
        ck_assert_int_eq(err, U9_AGAIN);
        ssize_t n = read(hands.fd, hands.input, sizeof hands.input);
        if (n <= 0) return false;
        hands.next = 0;
        hands.have = (size_t)n;
    }
}

/* Hears a frame that begins with this signal. */
static u9_walk expect_signal(u9_signal signal)
{
    u9_walk values;
    u9_value v;
    ck_assert(hear(&values));
    u9_walk walk = values;
    ck_assert_int_eq(u9_walk_next(&walk, &v), U9_OK);
    ck_assert_str_eq(u9_signal_name(u9_signal_of(&v)), u9_signal_name(signal));
    return values;
}

static void sender_by_hand(side *receiver, const char *log)
{
    int a[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, a), 0);
    *receiver = (side){.path = log, .in = a[1], .out = a[1]};
    start(receiver, recv_main);
    hand_begin(a[0]);
}

static void receiver_by_hand(side *sender, const char *log)
{
    int a[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, a), 0);
    *sender = (side){.path = log, .in = a[1], .out = a[1]};
    start(sender, send_main);
    hand_begin(a[0]);
    expect_signal(U9_SIGNAL_ALPHA);
    say_greek(U9_ALPHA);
}

/* A sender by whom the test listens with one pipe, and speaks with another. */
static int speaks;

static void receiver_on_pipes(side *sender)
{
    int there[2], back[2];
    ck_assert_int_eq(pipe(there), 0);
    ck_assert_int_eq(pipe(back), 0);
    sender->in = back[0];
    sender->out = there[1];
    hand_begin(there[0]);
    speaks = back[1];
}

static void say_on_pipe(const void *values, size_t size)
{
    uint8_t head[U9_TRANSIT_HEAD];
    u9_transit_head(size, head);
    ck_assert_int_eq(write(speaks, head, sizeof head), sizeof head);
    ck_assert_int_eq(write(speaks, values, size), (ssize_t)size);
}

static void part(side *s)
{
    shutdown(hands.fd, SHUT_WR);
    join(s);
    close(hands.fd);
    close(s->in);
}

/* [T-6] [T-11] */
START_TEST(a_sender_waits_for_iota_and_stops_at_kappa)
{
    side sender;
    large_log(at("from"), 12);
    receiver_by_hand(&sender, at("from"));
    ck_assert(!anything_comes(50)); /* not a byte before iota */
    say_next("u9next", 0, false);
    ck_assert(!anything_comes(50));
    say_greek(U9_KAPPA); /* says nothing new */
    ck_assert(!anything_comes(50));
    say_greek(U9_IOTA);
    expect_signal(U9_SIGNAL_DATA); /* u9log */
    expect_signal(U9_SIGNAL_DATA);
    say_greek(U9_KAPPA);
    unsigned under_way = 0;
    while (anything_comes(100)) {
        u9_walk values;
        ck_assert(hear(&values));
        under_way++;
    }
    ck_assert_uint_lt(under_way, 11); /* not all that was left */
    say_greek(U9_IOTA);
    u9_walk values;
    u9_value v;
    do {
        ck_assert(hear(&values));
        ck_assert_int_eq(u9_walk_next(&values, &v), U9_OK);
    } while (v.type != U9_OMEGA);
    ck_assert(!anything_comes(50)); /* it waits for ours */
    say_greek(U9_OMEGA);
    part(&sender);
    expect_fine(&sender);
    ck_assert_uint_eq(sender.report.batches, 12);
}
END_TEST

/* [T-6] [T-8] [T-11] */
START_TEST(a_receiver_says_where_to_begin_and_holds_the_sender_back_while_it_syncs)
{
    side receiver;
    size_t size;
    small_log(at("to"));
    sender_by_hand(&receiver, at("to"));
    expect_signal(U9_SIGNAL_ALPHA);
    say_greek(U9_ALPHA);
    ck_assert(!anything_comes(50)); /* we have not listened yet */
    say_greek(U9_IOTA);
    u9_walk values = expect_signal(U9_SIGNAL_DATA);
    u9_value v, number;
    ck_assert_int_eq(u9_walk_next(&values, &v), U9_OK);
    ck_assert_int_eq(u9_value_decode(v.data + 9, (size_t)v.size - 9, &number), U9_OK);
    ck_assert_uint_eq(number.u, 9);
    ck_assert_int_eq(u9_walk_next(&values, &v), U9_OK);
    ck_assert_int_eq(v.type, U9_IOTA);

    /* What follows is a recorded stream without its alpha, and tau0 before its omega. */
    uint8_t *stream = stream_of(at("to"), 0, &size);
    size_t omega = size - U9_TRANSIT_HEAD - 1;
    ck_assert_int_eq(send(hands.fd, stream + 13, omega - 13, MSG_NOSIGNAL), (ssize_t)(omega - 13));
    free(stream);
    say_greek(U9_TAU0);
    expect_signal(U9_SIGNAL_KAPPA);
    expect_signal(U9_SIGNAL_IOTA);
    say_greek(U9_OMEGA);
    expect_signal(U9_SIGNAL_OMEGA);
    part(&receiver);
    expect_fine(&receiver);
    ck_assert_uint_eq(receiver.report.skipped, 9);
}
END_TEST

/* [T-5] [T-11] */
START_TEST(each_side_hears_why_the_other_stops)
{
    side s;
    large_log(at("from"), 40);
    receiver_by_hand(&s, at("from"));
    say_next("u9next", 0, true);
    expect_signal(U9_SIGNAL_DATA);
    say_error(U9_IO, "no room left");
    part(&s);
    ck_assert_int_eq(s.err, U9_IO);
    ck_assert_int_eq(s.report.peer_failed, 1);
    ck_assert_str_eq(s.fault.text, "no room left");

    sender_by_hand(&s, at("to"));
    expect_signal(U9_SIGNAL_ALPHA);
    say_greek(U9_ALPHA);
    say_error(U9_NOMEM, "too much");
    expect_signal(U9_SIGNAL_OMEGA);
    part(&s);
    ck_assert_int_eq(s.err, U9_NOMEM);
    ck_assert_int_eq(s.report.peer_failed, 1);
    ck_assert_str_eq(s.fault.text, "too much");

    /* A refusal of its own is told before omega. */
    sender_by_hand(&s, at("to"));
    expect_signal(U9_SIGNAL_ALPHA);
    say_greek(U9_ALPHA);
    say_greek(U9_IOTA);
    expect_signal(U9_SIGNAL_DATA);
    say_next("u9never", 1, false);
    u9_walk values = expect_signal(U9_SIGNAL_ERROR);
    u9_value v;
    u9_fault fault;
    ck_assert_int_eq(u9_walk_next(&values, &v), U9_OK);
    u9_error_read(&v, &fault);
    ck_assert_int_eq(fault.err, U9_CORRUPT);
    ck_assert_str_eq(fault.text, "no log begins here");
    ck_assert_int_eq(u9_walk_next(&values, &v), U9_OK);
    ck_assert_int_eq(v.type, U9_OMEGA);
    say_greek(U9_OMEGA);
    part(&s);
    ck_assert_int_eq(s.err, U9_CORRUPT);
    ck_assert_int_eq(s.report.peer_failed, 0);
}
END_TEST

/* [T-11] */
START_TEST(a_sender_refuses_what_no_receiver_says)
{
    side s;
    small_log(at("from"));
    receiver_by_hand(&s, at("from"));
    say_next("u9other", 0, true);
    part(&s);
    ck_assert_int_eq(s.err, U9_CORRUPT);
    ck_assert_str_eq(s.fault.rule, "T-11");

    receiver_by_hand(&s, at("from"));
    say_next("u9next", 0, false);
    say_next("u9next", 0, true);
    part(&s);
    ck_assert_int_eq(s.err, U9_CORRUPT);

    receiver_by_hand(&s, at("from"));
    say_greek(U9_ALPHA); /* a second one */
    part(&s);
    ck_assert_int_eq(s.err, U9_CORRUPT);
    ck_assert_str_eq(s.fault.rule, "T-4");

    receiver_by_hand(&s, at("from"));
    say_greek(U9_OMEGA);
    part(&s);
    ck_assert_int_eq(s.err, U9_CORRUPT);
    ck_assert_str_eq(s.fault.rule, "T-11");

    receiver_by_hand(&s, at("from"));
    ck_assert_int_eq(send(hands.fd, "garbage", 7, MSG_NOSIGNAL), 7);
    part(&s);
    ck_assert_int_eq(s.err, U9_CORRUPT);
    ck_assert_str_eq(s.fault.rule, "T-2");

    receiver_by_hand(&s, at("from")); /* it has more than there is */
    say_next("u9next", 10, true);
    expect_signal(U9_SIGNAL_ERROR);
    say_greek(U9_OMEGA);
    part(&s);
    ck_assert_int_eq(s.err, U9_ARG);

    receiver_by_hand(&s, at("from")); /* it goes before it has said that it has everything */
    say_next("u9next", 0, true);
    part(&s);
    ck_assert_int_eq(s.err, U9_TORN);
}
END_TEST

/* [T-9] [T-11] The same over a two-way link, where the sender hears it. */
START_TEST(both_sides_hear_that_a_log_is_no_beginning)
{
    side sender, receiver;
    small_log(at("from"));
    small_log(at("other"));
    for (int sockets = 0; sockets < 2; sockets++) {
        move_both_ways(sockets, at("from"), at("other"), &sender, &receiver);
        ck_assert_int_eq(receiver.err, U9_ARG);
        ck_assert_int_eq(sender.err, U9_ARG);
        ck_assert_int_eq(sender.report.peer_failed, 1);
        ck_assert_int_eq(receiver.report.peer_failed, 0);
        ck_assert_str_eq(sender.fault.text, receiver.fault.text);
    }
    more(at("other"));
    move_both_ways(true, at("from"), at("other"), &sender, &receiver);
    ck_assert_int_eq(sender.err, U9_ARG);
    ck_assert_int_eq(sender.report.peer_failed, 0);
    ck_assert_int_eq(receiver.err, U9_ARG);
    ck_assert_int_eq(receiver.report.peer_failed, 1);
}
END_TEST

/* The log at the other end can be had by one writer only, and its errors are told. */
START_TEST(a_log_that_cannot_be_written_is_told_to_both)
{
    side sender, receiver;
    small_log(at("from"));
    u9_log *writer = open_quick(at("to"));
    append_text(writer, "mine");
    move_both_ways(true, at("from"), at("to"), &sender, &receiver);
    ck_assert_int_eq(receiver.err, U9_LOCKED);
    ck_assert_int_eq(sender.err, U9_LOCKED);
    ck_assert_int_eq(sender.report.peer_failed, 1);
    close_log(writer);
}
END_TEST

/* The receiver's disk is full: the sender hears it, and it all goes on when there is room. */
START_TEST(a_full_disk_is_told_to_both_and_the_rest_comes_later)
{
    side sender, receiver;
    large_log(at("from"), 40); /* more than is reserved at once */
    sim_spare(".mark");
    sim_fail(SIM_RESERVE, 2, ENOSPC, true);
    move_both_ways(true, at("from"), at("to"), &sender, &receiver);
    sim_mend();
    ck_assert_int_eq(receiver.err, U9_IO);
    ck_assert_int_eq(receiver.fault.sys, ENOSPC);
    ck_assert_int_eq(sender.err, U9_IO);
    ck_assert_int_eq(sender.report.peer_failed, 1);
    ck_assert_str_eq(sender.fault.text, receiver.fault.text);
    ck_assert_uint_gt(receiver.report.records, 0);
    uint64_t had = receiver.report.next;
    move_both_ways(true, at("from"), at("to"), &sender, &receiver);
    expect_fine(&sender);
    expect_fine(&receiver);
    ck_assert_uint_eq(sender.report.records, 2400 - had);
    expect_same(at("from"), at("to"));
}
END_TEST

/* [T-6] [T-8] What tells how far it is waits for iota as data does. */
START_TEST(a_sender_that_is_held_back_within_a_batch_says_nothing_behind_it)
{
    side sender;
    u9_log *log = open_quick(at("from"));
    put_batch(log, "large", 400, 3000); /* more than a socket holds */
    put_batch(log, "next", 1, 0);
    close_log(log);
    receiver_by_hand(&sender, at("from"));
    say_next("u9next", 0, true);
    expect_signal(U9_SIGNAL_DATA);
    say_greek(U9_KAPPA);
    static uint8_t room[2 << 20]; /* the whole batch */
    u9_transit_init(&hands.reader, room, sizeof room);
    expect_signal(U9_SIGNAL_DATA);
    say_greek(U9_IOTA);
    expect_signal(U9_SIGNAL_DATA); /* and only then how far it is */
    expect_signal(U9_SIGNAL_TAU);
    expect_signal(U9_SIGNAL_OMEGA);
    say_greek(U9_OMEGA);
    part(&sender);
    expect_fine(&sender);
}
END_TEST

/* A receiver on pipes asks for all, and has heard that the sender begins. */
static void begin_on_pipes(side *s)
{
    receiver_on_pipes(s);
    say_on_pipe("\x10", 1);
    say_on_pipe("\x4a\x0a\x0au9next\0\0\x80\x12", 13);
    start(s, send_main);
    expect_signal(U9_SIGNAL_ALPHA);
    expect_signal(U9_SIGNAL_DATA);
}

/* [T-11] It has said why, and takes no more: by a socket or pipes that are closed, or that are full. */
START_TEST(a_receiver_that_says_why_and_takes_no_more_is_heard)
{
    uint8_t why[200];
    u9_builder b;
    u9_builder_init(&b, why, sizeof why);
    ck_assert_int_eq(u9_build_error(&b, U9_IO, "no room left"), U9_OK);
    ck_assert_int_eq(u9_build_greek(&b, U9_OMEGA), U9_OK);
    large_log(at("from"), 20);
    for (int closes = 0; closes < 2; closes++) {
        side s = {.path = at("from")};
        begin_on_pipes(&s);
        say_on_pipe(why, b.size);
        if (closes) close(hands.fd);
        join(&s);
        ck_assert_int_eq(s.err, U9_IO);
        ck_assert_int_eq(s.report.peer_failed, 1);
        ck_assert_str_eq(s.fault.text, "no room left");
        if (!closes) close(hands.fd);
        close(speaks);
        close(s.in);
        close(s.out);
    }
}
END_TEST

/* Nobody waits for ever for what somebody may say who takes no more. */
START_TEST(a_receiver_that_takes_no_more_and_says_nothing_or_only_omega_has_gone)
{
    large_log(at("from"), 20);
    for (int says = 0; says < 2; says++) {
        side s = {.path = at("from")};
        begin_on_pipes(&s);
        if (says) say_on_pipe("\x11 and more", 10);
        close(hands.fd);
        join(&s);
        ck_assert_int_eq(s.err, U9_IO);
        ck_assert_int_eq(s.fault.sys, EPIPE);
        ck_assert_int_eq(s.report.peer_failed, 0);
        close(speaks);
        close(s.in);
        close(s.out);
    }
}
END_TEST

/* Each call on descriptors is interrupted in turn, finds nothing ready, or fails. */
static void expect_calls_to_fail(const char *from, const char *to, bool sends, int error)
{
    bool harmless = error == EINTR || error == EAGAIN;
    for (unsigned n = 1, failed = 1; failed > 0; n++) {
        int ends[2];
        u9_fault fault;
        u9_options quick = quick_options();
        u9_ship_report report = {.size = sizeof report};
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        side other = {.path = sends ? to : from, .in = ends[1], .out = ends[1]};
        u9_send_options s = {.size = sizeof s, .in = ends[0], .out = ends[0]};
        u9_recv_options v = {.size = sizeof v, .in = ends[0], .out = ends[0], .log = &quick};
        u9_log *log = sends ? open_reader(from) : NULL;
        u9_err err;
        start(&other, sends ? recv_main : send_main);
        scarce_begin(SCARCE_CALLS, n, error, false);
        if (sends) err = u9_log_send(log, &s, &report, &fault);
        else err = u9_log_recv(to, &v, &report, &fault);
        failed = scarce_end(NULL);
        close(ends[0]);
        join(&other);
        close(ends[1]);
        if (log) close_log(log);
        if (harmless || failed == 0) {
            ck_assert_msg(err == U9_OK, "%u: %s: %s", n, u9_err_name(err), fault.text);
            ck_assert_int_eq(other.err, U9_OK);
            expect_same(from, to);
        } else if (err != U9_OK) {
            ck_assert_msg(err == U9_IO && fault.sys == error, "%u: %s: %s", n, u9_err_name(err), fault.text);
        }
        if (exists(to)) remove_log(to);
    }
}

/* {F40} */
START_TEST(a_call_on_a_link_that_is_interrupted_is_made_again_and_one_that_fails_is_told)
{
    static const int errors[] = {EINTR, EAGAIN, EIO};
    sim_needed("calls on descriptors that are all the link's");
    small_log(at("from"));
    char from[3400], to[3400];
    snprintf(from, sizeof from, "%s", at("from"));
    snprintf(to, sizeof to, "%s", at("to"));
    for (unsigned i = 0; i < 6; i++) expect_calls_to_fail(from, to, i % 2 == 0, errors[i / 2]);
}
END_TEST

/* The receiver cannot say what it has to say: to which kappa belongs. [T-6] */
START_TEST(a_receiver_that_cannot_answer_says_so_and_what_came_stays)
{
    size_t size;
    large_log(at("from"), 150); /* more than is taken between two commits */
    uint8_t *stream = stream_of(at("from"), 0, &size);
    for (int hears = 0; hears < 2; hears++) {
        int answers[2];
        ck_assert_int_eq(pipe(answers), 0);
        side r = {.path = at("to"), .in = memfd_create("stream", MFD_CLOEXEC), .out = answers[1]};
        uint8_t head[U9_TRANSIT_HEAD];
        u9_transit_head(1, head);
        ck_assert_int_eq(write(r.in, stream, U9_TRANSIT_HEAD + 1), U9_TRANSIT_HEAD + 1); /* alpha */
        ck_assert_int_eq(write(r.in, head, sizeof head), sizeof head);
        ck_assert_int_eq(write(r.in, "\x12", 1), 1); /* iota */
        ck_assert_int_eq(write(r.in, stream + U9_TRANSIT_HEAD + 1, size - U9_TRANSIT_HEAD - 1), (ssize_t)(size - U9_TRANSIT_HEAD - 1));
        ck_assert_int_eq(lseek(r.in, 0, SEEK_SET), 0);
        if (hears) {
            hand_begin(answers[0]);
            start(&r, recv_main);
            expect_signal(U9_SIGNAL_ALPHA);
            expect_signal(U9_SIGNAL_DATA); /* u9next */
            close(answers[0]);
            join(&r);
        } else {
            close(answers[0]);
            recv_main(&r);
        }
        ck_assert_int_eq(r.err, U9_IO);
        ck_assert_int_eq(r.fault.sys, EPIPE);
        if (hears) ck_assert_uint_eq(content_of(at("to")).records, r.report.records);
        close(r.in);
        close(answers[1]);
    }
    free(stream);
}
END_TEST

/* Following */

static atomic_bool is_over;

static int stops(void *ctx, uint64_t done, uint64_t all)
{
    (void)ctx;
    ck_assert(all == 0 || done <= all);
    return atomic_load(&is_over);
}

static bool is_full(int pipe)
{
    struct timeval none = {0};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipe, &set);
    return select(pipe + 1, NULL, &set, NULL, &none) == 0;
}

static void follower_by_hand(side *sender, const char *log, u9_progress_fn *on_progress)
{
    int a[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, a), 0);
    atomic_store(&is_over, false);
    *sender = (side){.path = log, .in = a[1], .out = a[1], .follows = true, .on_progress = on_progress};
    start(sender, send_main);
    hand_begin(a[0]);
    expect_signal(U9_SIGNAL_ALPHA);
    say_greek(U9_ALPHA);
}

START_TEST(a_sender_that_follows_sends_what_comes_until_it_is_asked_to_end)
{
    side sender;
    small_log(at("from"));
    for (uint64_t have = 0; have <= 9; have += 9) {
        follower_by_hand(&sender, at("from"), stops);
        say_next("u9next", have, true);
        expect_signal(U9_SIGNAL_DATA); /* u9log */
        for (int i = 0; have == 0 && i < 6; i++) expect_signal(U9_SIGNAL_DATA);
        u9_log *w = open_quick(at("from"));
        put_batch(w, "new", 2, 0);
        expect_signal(U9_SIGNAL_DATA);
        put_batch(w, "newer", 1, 0);
        expect_signal(U9_SIGNAL_DATA);
        close_log(w);
        atomic_store(&is_over, true);
        expect_signal(U9_SIGNAL_OMEGA);
        say_greek(U9_OMEGA);
        part(&sender);
        expect_fine(&sender);
        ck_assert_uint_eq(sender.report.records, 12 - have);
        ck_assert_uint_eq(sender.report.batches, have ? 2 : 8);
        remove_log(at("from"));
        small_log(at("from"));
    }
}
END_TEST

START_TEST(a_sender_that_follows_hears_what_the_receiver_says_meanwhile)
{
    side sender;
    small_log(at("from"));
    for (int what = 0; what < 3; what++) {
        follower_by_hand(&sender, at("from"), NULL);
        say_next("u9next", 9, true);
        expect_signal(U9_SIGNAL_DATA);
        say_greek(U9_IOTA);
        if (what == 1) ck_assert_int_eq(send(hands.fd, "garbage", 7, MSG_NOSIGNAL), 7);
        if (what == 2) say_error(U9_NOMEM, "too much");
        part(&sender);
        ck_assert_int_eq(sender.err, what == 0 ? U9_TORN : what == 1 ? U9_CORRUPT : U9_NOMEM);
        ck_assert_int_eq(sender.report.peer_failed, what == 2);
        ck_assert_str_eq(sender.fault.rule, what == 0 ? "T-11" : what == 1 ? "T-2" : "");
    }
}
END_TEST

START_TEST(a_sender_that_follows_sees_that_nobody_reads_any_more)
{
    small_log(at("from"));
    for (int ways = 1; ways <= 2; ways++) {
        side s = {.path = at("from"), .follows = true};
        receiver_on_pipes(&s);
        if (ways == 1) s.in = -1;
        if (ways == 2) say_on_pipe("\x10", 1);
        if (ways == 2) say_on_pipe("\x4a\x0a\x0au9next\0\0\x89\x12", 13);
        start(&s, send_main);
        expect_signal(U9_SIGNAL_ALPHA);
        expect_signal(U9_SIGNAL_DATA);
        for (int i = 0; ways == 1 && i < 6; i++) expect_signal(U9_SIGNAL_DATA);
        close(hands.fd);
        join(&s);
        ck_assert_int_eq(s.err, U9_IO);
        ck_assert_int_eq(s.fault.sys, EPIPE);
        close(speaks);
        close(s.out);
        if (s.in >= 0) close(s.in);
    }
}
END_TEST

/* What it has begun it ends, unless the receiver takes nothing for a second. */
START_TEST(a_sender_that_follows_and_is_to_end_sends_the_batch_that_it_is_in)
{
    int ends[2];
    large_log(at("from"), 20);
    atomic_store(&is_over, true);
    side s = {.path = at("from"), .in = -1, .out = memfd_create("taken", MFD_CLOEXEC), .follows = true, .on_progress = stops};
    send_main(&s);
    expect_fine(&s);
    ck_assert_uint_eq(s.report.batches, 1);
    close(s.out);
    ck_assert_int_eq(pipe(ends), 0);
    s.out = ends[1];
    while (write(ends[1], "\0", 1) == 1 && !is_full(ends[1])) continue;
    send_main(&s);
    ck_assert_int_eq(s.err, U9_STATE);
    ck_assert_uint_eq(s.report.batches, 0);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* What happens to the log while the sender waits for more: once it has been heard that it does. */
static u9_log *writes;
static atomic_bool may_happen;

static int trims(void *ctx, uint64_t done, uint64_t all)
{
    (void)ctx, (void)done, (void)all;
    if (!atomic_exchange(&may_happen, false)) return 0;
    append_fillers(writes, TRIM_RECORDS);
    (void)trim_on(writes, below_ordinal(u9_log_next(writes)));
    return 0;
}

static int spoils(void *ctx, uint64_t done, uint64_t all)
{
    (void)ctx, (void)done, (void)all;
    if (!atomic_exchange(&may_happen, false)) return 0;
    append_text(writes, "more");
    ck_assert_int_eq(u9_log_sync(writes), U9_OK);
    sim_fail(SIM_READ, 1, ENXIO, true);
    return 0;
}

/* [L-10] [T-11] */
START_TEST(a_sender_that_follows_tells_what_went_and_what_cannot_be_read)
{
    for (int spoiled = 0; spoiled < 2; spoiled++) {
        side sender;
        writes = open_rolling(at("from"));
        append_fillers(writes, 3);
        ck_assert_int_eq(u9_log_sync(writes), U9_OK);
        atomic_store(&may_happen, false);
        follower_by_hand(&sender, at("from"), spoiled ? spoils : trims);
        say_next("u9next", 0, true);
        expect_signal(U9_SIGNAL_DATA);
        atomic_store(&may_happen, true);
        u9_walk values;
        u9_value v;
        do { /* of the segment that it reads the rest may come before */
            ck_assert(hear(&values));
            u9_walk walk = values;
            ck_assert_int_eq(u9_walk_next(&walk, &v), U9_OK);
        } while (u9_signal_of(&v) == U9_SIGNAL_DATA);
        ck_assert_int_eq(u9_signal_of(&v), U9_SIGNAL_ERROR);
        sim_mend();
        say_greek(U9_OMEGA);
        part(&sender);
        ck_assert_int_eq(sender.err, spoiled ? U9_IO : U9_ABSENT);
        if (!spoiled) ck_assert_str_eq(sender.fault.rule, "L-10");
        if (spoiled) ck_assert_int_eq(sender.fault.sys, ENXIO);
        ck_assert_int_eq(sender.report.peer_failed, 0);
        close_log(writes);
        remove_log(at("from"));
    }
}
END_TEST

Suite *suite_link(void)
{
    Suite *s = suite_create("link");
    TCase *two = tcase_create("two ways");
    tcase_add_checked_fixture(two, fixture_setup_sim_threads, fixture_teardown);
    tcase_set_timeout(two, 60);
    tcase_add_test(two, on_a_two_way_link_only_what_is_missing_is_sent);
    tcase_add_test(two, a_large_log_goes_over_a_two_way_link);
    tcase_add_test(two, a_sender_waits_for_iota_and_stops_at_kappa);
    tcase_add_test(two, a_receiver_says_where_to_begin_and_holds_the_sender_back_while_it_syncs);
    tcase_add_test(two, each_side_hears_why_the_other_stops);
    tcase_add_test(two, a_sender_refuses_what_no_receiver_says);
    tcase_add_test(two, both_sides_hear_that_a_log_is_no_beginning);
    tcase_add_test(two, a_log_that_cannot_be_written_is_told_to_both);
    tcase_add_test(two, a_full_disk_is_told_to_both_and_the_rest_comes_later);
    tcase_add_test(two, a_sender_that_is_held_back_within_a_batch_says_nothing_behind_it);
    tcase_add_test(two, a_receiver_that_says_why_and_takes_no_more_is_heard);
    tcase_add_test(two, a_receiver_that_takes_no_more_and_says_nothing_or_only_omega_has_gone);
    tcase_add_test(two, a_call_on_a_link_that_is_interrupted_is_made_again_and_one_that_fails_is_told);
    tcase_add_test(two, a_receiver_that_cannot_answer_says_so_and_what_came_stays);
    suite_add_tcase(s, two);
    TCase *on = tcase_create("following");
    tcase_add_checked_fixture(on, fixture_setup_sim_threads, fixture_teardown);
    tcase_set_timeout(on, 60);
    tcase_add_test(on, a_sender_that_follows_sends_what_comes_until_it_is_asked_to_end);
    tcase_add_test(on, a_sender_that_follows_hears_what_the_receiver_says_meanwhile);
    tcase_add_test(on, a_sender_that_follows_sees_that_nobody_reads_any_more);
    tcase_add_test(on, a_sender_that_follows_and_is_to_end_sends_the_batch_that_it_is_in);
    tcase_add_test(on, a_sender_that_follows_tells_what_went_and_what_cannot_be_read);
    suite_add_tcase(s, on);
    return s;
}
