/*
 * tests/engine/link/test_link.c: logs on the move over links with a way back: who says what when, who waits for
 * whom, and who hears why it went wrong. [T-4] to [T-6] [T-11]
 *
 * The other side is a thread, or the test itself, speaking frames by hand.
 */
#include "tests/sim/sim.h"
#include "tests/engine/link/ship.h"
#include "tests/suites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
        ssize_t n = recv(hands.fd, hands.input, sizeof hands.input, 0);
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
    suite_add_tcase(s, two);
    return s;
}
