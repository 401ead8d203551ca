/*
 * tests/zk/test_loss.c: what happens to a claim when a connection, a process or an answer is lost
 * (step 7 and the invariants of zk/claim.h).
 */
#include "tests/zk/fixture.h"
#include "zk/claim.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A tree in which only number 0 is free. */
static zhandle_t *one_number(const char *test)
{
    zkt_begin(test);
    zhandle_t *zk = zkt_raw_open();
    zkt_raw_plant(zk);
    zkt_raw_fill(zk, 1, 64);
    return zk;
}

START_TEST(a_frozen_connection_voids_the_claim_before_another_gets_the_number)
{
    zhandle_t *zk = one_number("frozen");
    zkt_proxy proxy;
    zkt_proxy_open(&proxy, NULL);
    u9_zk_options options = zkt_short_session();
    u9_zk_claim *a = zkt_claim(proxy.port, &options), *b = zkt_claim(0, NULL);
    u9_zk_grant grant = zkt_get(a);
    ck_assert_uint_eq(grant.generator, 0);
    zkt_getter getter;
    zkt_get_begin(&getter, b);
    AWAIT(zkt_raw_has(zk, LOCK)); /* b waits for a number */
    ck_assert_int_eq(kill(proxy.pid, SIGSTOP), 0);
    bool b_has_it = false;
    double until = zkt_seconds() + WAIT_S;
    while (!b_has_it && zkt_seconds() < until) {
        b_has_it = atomic_load(&getter.done); /* first b, then a: never both */
        bool a_has_it = u9_zk_held(a, &grant);
        ck_assert(!(a_has_it && b_has_it));
        zkt_nap(1);
    }
    ck_assert_uint_eq(zkt_get_end(&getter).generator, 0);

    ck_assert_int_eq(kill(proxy.pid, SIGCONT), 0);
    zkt_get_begin(&getter, a); /* a new session */
    zkt_nap(100);
    ck_assert(!atomic_load(&getter.done));
    u9_zk_release(b);
    ck_assert(zkt_get_end(&getter).serial > grant.serial);
    u9_zk_close(a);
    u9_zk_close(b);
    zkt_proxy_close(&proxy);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(a_claim_stands_for_two_fifths_of_a_session_behind_its_last_proof)
{
    static u9_zk_claim claim;
    int64_t now = u9i_zk_now_ms();
    claim.held = true;
    claim.session_ms = 10000;
    claim.held_until_ms = now + 3600000;
    claim.proven_ms = now;
    ck_assert(u9i_zk_standing(&claim));
    claim.proven_ms = now - 4000;
    ck_assert(!u9i_zk_standing(&claim));
    claim.proven_ms = now;
    claim.held_until_ms = now;
    ck_assert(!u9i_zk_standing(&claim));
}
END_TEST

START_TEST(while_a_claim_is_held_the_session_is_proven_again_and_again)
{
    u9_zk_options options = zkt_short_session();
    options.hold_ms = 3600000;
    zkt_begin("proven");
    u9_zk_claim *claim = zkt_claim(0, &options);
    zkt_get(claim);
    int64_t last = 0;
    for (int i = 0; i < 4; i++) {
        bool newer = false;
        AWAIT(newer || (pthread_mutex_lock(&claim->lock), newer = claim->proven_ms > last,
                        last = claim->proven_ms, pthread_mutex_unlock(&claim->lock), newer));
    }
    u9_zk_close(claim);
}
END_TEST

START_TEST(after_a_cut_the_old_number_is_void_and_given_back_by_the_same_session)
{
    u9_zk_options options = zkt_options();
    options.session_timeout_ms = 30000;
    options.give_back_ms = 500;
    zkt_begin("cut");
    zhandle_t *zk = zkt_raw_open();
    zkt_proxy proxy;
    zkt_proxy_open(&proxy, NULL);
    u9_zk_claim *claim = zkt_claim(proxy.port, &options);
    u9_zk_grant first = zkt_get(claim);
    int64_t owner = zkt_raw_stat(zk, "pool/0").ephemeralOwner;
    zkt_proxy_cut(&proxy);
    AWAIT(!u9_zk_held(claim, &first));
    ck_assert(zkt_raw_has(zk, "pool/0")); /* the session lives for 30 s */
    zkt_proxy_again(&proxy);
    u9_zk_grant second = zkt_get(claim);
    ck_assert(!u9_zk_held(claim, &first));
    ck_assert(second.serial > first.serial);
    char path[32];
    snprintf(path, sizeof path, "pool/%u", second.generator);
    ck_assert_int_eq(zkt_raw_stat(zk, path).ephemeralOwner, owner);
    AWAIT(zkt_raw_count(zk, "pool") == 1 && zkt_raw_has(zk, path));
    ck_assert_int_eq(zkt_raw_count(zk, "queue"), 0);
    u9_zk_close(claim);
    zkt_proxy_close(&proxy);
    zkt_raw_close(zk);
}
END_TEST

static const char *const lost[] = {"/queue/nr-0", "/queue/nr-00000000000000", "/pool/0",
                                   "/cluster-id"};

START_TEST(a_lost_answer_leaves_nothing_behind)
{
    u9_zk_options options = zkt_options();
    options.session_timeout_ms = 30000; /* nothing goes away by itself */
    char test[32];
    snprintf(test, sizeof test, "answer%d", _i);
    zkt_begin(test);
    zhandle_t *zk = zkt_raw_open();
    zkt_proxy proxy;
    zkt_proxy_open(&proxy, lost[_i]);
    u9_zk_claim *claim = zkt_claim(proxy.port, &options);
    u9_zk_grant grant = zkt_get(claim);
    ck_assert(u9_zk_held(claim, &grant));
    AWAIT(zkt_raw_count(zk, "queue") == 0 && zkt_raw_count(zk, "pool") == 1);
    ck_assert(u9_zk_held(claim, &grant));
    u9_zk_close(claim);
    zkt_proxy_close(&proxy);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(a_cut_while_it_waits_for_the_pool_leaves_no_lock)
{
    u9_zk_options options = zkt_options();
    options.session_timeout_ms = 30000;
    zhandle_t *zk = one_number("cut_lock");
    zkt_raw_make(zk, "pool/0", false);
    zkt_proxy proxy;
    zkt_proxy_open(&proxy, NULL);
    u9_zk_claim *a = zkt_claim(proxy.port, &options), *b = zkt_claim(0, NULL);
    zkt_getter first, second;
    zkt_get_begin(&first, a);
    AWAIT(zkt_raw_has(zk, LOCK));
    zkt_get_begin(&second, b);
    AWAIT(zkt_raw_count(zk, "queue") == 2);
    zkt_proxy_cut(&proxy);
    zkt_proxy_again(&proxy);
    zkt_raw_drop(zk, "pool/0");
    zkt_raw_drop(zk, "pool/1");
    ck_assert(zkt_get_end(&first).generator != zkt_get_end(&second).generator);
    AWAIT(zkt_raw_count(zk, "queue") == 0);
    u9_zk_close(a);
    u9_zk_close(b);
    zkt_proxy_close(&proxy);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(a_lock_whose_holder_died_goes_with_its_session)
{
    zkt_begin("dead_lock");
    zhandle_t *zk = zkt_raw_open(), *peer = zkt_raw_open();
    zkt_raw_plant(zk);
    zkt_raw_make(peer, LOCK, true);
    u9_zk_claim *claim = zkt_claim(0, NULL);
    zkt_getter getter;
    zkt_get_begin(&getter, claim);
    AWAIT(zkt_raw_count(zk, "queue") == 2);
    zkt_nap(100);
    ck_assert(!atomic_load(&getter.done));
    zkt_raw_close(peer);
    ck_assert_uint_eq(zkt_get_end(&getter).generator, 0);
    u9_zk_close(claim);
    zkt_raw_close(zk);
}
END_TEST

static void holds_until_killed(void *arg)
{
    const int *out = arg;
    u9_zk_options options = zkt_short_session();
    u9_zk_claim *claim = zkt_claim(0, &options);
    u9_zk_grant grant;
    while (u9_zk_get(claim, &grant, NULL) != U9_OK) continue; /* a busy machine answers slowly */
    MUST(grant.generator == 0);
    MUST(write(*out, "x", 1) == 1);
    for (;;) pause();
}

START_TEST(the_number_of_one_that_was_killed_comes_back)
{
    char c;
    int ends[2];
    zkt_raw_close(one_number("killed")); /* a child of its threads might find a lock of the client taken */
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = zkt_child_begin(holds_until_killed, &ends[1]);
    zhandle_t *zk = zkt_raw_open();
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &c, 1), 1);
    u9_zk_claim *claim = zkt_claim(0, NULL);
    zkt_getter getter;
    zkt_get_begin(&getter, claim);
    AWAIT(zkt_raw_has(zk, LOCK));
    ck_assert(!atomic_load(&getter.done));
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert_uint_eq(zkt_get_end(&getter).generator, 0);
    u9_zk_close(claim);
    zkt_raw_close(zk);
}
END_TEST

/* Writes what it makes to a pipe until it cannot have a number any more. */
static void makes_until_it_has_none(void *arg)
{
    const int *out = arg;
    u9_zk_options options = zkt_short_session();
    options.wait_ms_max = 1000;
    u9_zk_claim *claim = zkt_claim(0, &options);
    u9_uid8 id;
    while (u9_zk_next(claim, &id, NULL) != U9_OK) continue; /* a busy machine connects slowly */
    do {
        MUST(write(*out, &id, sizeof id) == sizeof id);
        zkt_nap(1);
    } while (u9_zk_next(claim, &id, NULL) == U9_OK);
}

START_TEST(one_that_was_stopped_for_a_while_makes_nothing_under_its_old_number)
{
    int ends[2];
    u9_uid8 old, mine;
    zkt_raw_close(one_number("stopped")); /* as above */
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = zkt_child_begin(makes_until_it_has_none, &ends[1]);
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &old, sizeof old), sizeof old);
    kill(pid, SIGSTOP);
    u9_zk_claim *claim = zkt_claim(0, NULL);
    ck_assert_int_eq(u9_zk_next(claim, &mine, NULL), U9_OK); /* once the other's session ended */
    ck_assert(old.generator == 0 && mine.generator == 0);
    kill(pid, SIGCONT);
    do {
        ck_assert_uint_lt(old.timestamp_ms, mine.timestamp_ms);
    } while (read(ends[0], &old, sizeof old) == sizeof old);
    zkt_child_end(pid);
    u9_zk_close(claim);
}
END_TEST

Suite *suite_loss(void)
{
    Suite *suite = suite_create("zk loss");
    TCase *tcase = tcase_create("loss");
    tcase_set_timeout(tcase, 180);
    tcase_add_test(tcase, a_frozen_connection_voids_the_claim_before_another_gets_the_number);
    tcase_add_test(tcase, a_claim_stands_for_two_fifths_of_a_session_behind_its_last_proof);
    tcase_add_test(tcase, while_a_claim_is_held_the_session_is_proven_again_and_again);
    tcase_add_test(tcase, after_a_cut_the_old_number_is_void_and_given_back_by_the_same_session);
    tcase_add_loop_test(tcase, a_lost_answer_leaves_nothing_behind, 0, 4);
    tcase_add_test(tcase, a_cut_while_it_waits_for_the_pool_leaves_no_lock);
    tcase_add_test(tcase, a_lock_whose_holder_died_goes_with_its_session);
    tcase_add_test(tcase, the_number_of_one_that_was_killed_comes_back);
    tcase_add_test(tcase, one_that_was_stopped_for_a_while_makes_nothing_under_its_old_number);
    suite_add_tcase(suite, tcase);
    return suite;
}
