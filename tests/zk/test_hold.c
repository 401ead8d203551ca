/*
 * tests/zk/test_hold.c: how long a number is held, how it is given back (step 7 of zk/claim.h), and
 * what is refused.
 */
#include "tests/zk/fixture.h"

#include <errno.h>
#include <string.h>

START_TEST(a_number_rests_before_it_comes_back)
{
    u9_zk_options options = zkt_options();
    options.give_back_ms = 700;
    zkt_begin("rest");
    u9_zk_claim *claim = zkt_claim(0, &options);
    u9_zk_grant first = zkt_get(claim);
    zhandle_t *zk = zkt_raw_open();
    double before = zkt_seconds();
    u9_zk_release(claim);
    ck_assert(!u9_zk_held(claim, &first));
    u9_zk_grant second = zkt_get(claim); /* meanwhile there are others */
    ck_assert(second.serial > first.serial);
    ck_assert(u9_zk_held(claim, &second) && !u9_zk_held(claim, &first));
    AWAIT(!zkt_raw_has(zk, "pool/0"));
    ck_assert(zkt_seconds() - before >= 0.699);
    before = zkt_seconds();
    u9_zk_close(claim); /* and closing waits for it too */
    ck_assert(zkt_seconds() - before >= 0.699);
    AWAIT(zkt_raw_count(zk, "pool") == 0);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(a_number_is_void_when_its_hold_time_is_over)
{
    u9_zk_options options = zkt_options();
    options.hold_ms = 200;
    zkt_begin("hold");
    zhandle_t *zk = zkt_raw_open();
    u9_zk_claim *claim = zkt_claim(0, &options);
    u9_zk_grant grant = zkt_get(claim);
    AWAIT(!u9_zk_held(claim, &grant));
    AWAIT(zkt_raw_count(zk, "pool") == 0); /* given back without being asked */
    ck_assert(zkt_get(claim).serial > grant.serial);
    u9_zk_close(claim);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(a_number_is_void_when_others_delete_or_write_its_node)
{
    zkt_begin("tampered");
    zhandle_t *zk = zkt_raw_open();
    u9_zk_claim *claim = zkt_claim(0, NULL);
    u9_zk_grant grant = zkt_get(claim);
    zkt_raw_drop(zk, "pool/0");
    AWAIT(!u9_zk_held(claim, &grant));
    zkt_raw_make(zk, "pool/0", true); /* somebody else's now: it is not deleted as ours */
    grant = zkt_get(claim);
    ck_assert_uint_eq(grant.generator, 1);
    zkt_raw_set(zk, "pool/1", "mine");
    AWAIT(!u9_zk_held(claim, &grant));
    AWAIT(!zkt_raw_has(zk, "pool/1"));
    u9_zk_close(claim);
    ck_assert(zkt_raw_has(zk, "pool/0"));
    zkt_raw_close(zk);
}
END_TEST

START_TEST(a_tree_that_is_cleared_away_is_made_again)
{
    zkt_begin("cut_down");
    zhandle_t *zk = zkt_raw_open();
    u9_zk_claim *claim = zkt_claim(0, NULL);
    zkt_get(claim);
    u9_zk_release(claim);
    AWAIT(zkt_raw_count(zk, "pool") == 0);
    zkt_raw_drop(zk, "pool");
    zkt_raw_drop(zk, "queue");
    ck_assert_uint_eq(zkt_get(claim).generator, 0);
    u9_zk_close(claim);
    zkt_raw_close(zk);
}
END_TEST

static void uses_its_parents(void *arg)
{
    u9_zk_claim *claim = arg;
    u9_zk_grant grant = {.serial = 1};
    u9_uid8 id;
    u9_fault fault = {0};
    MUST(u9_zk_get(claim, &grant, &fault) == U9_STATE && fault.err == U9_STATE);
    MUST(u9_zk_next(claim, &id, NULL) == U9_STATE);
    MUST(!u9_zk_held(claim, &grant));
    u9_zk_release(claim);
    u9_zk_close(claim);
}

START_TEST(a_child_has_no_claim_and_ends_none)
{
    zkt_begin("fork");
    u9_zk_claim *claim = zkt_claim(0, NULL);
    u9_zk_grant grant = zkt_get(claim);
    zkt_child_end(zkt_child_begin(uses_its_parents, claim));
    zhandle_t *zk = zkt_raw_open();
    ck_assert(zkt_raw_has(zk, "pool/0"));
    ck_assert(u9_zk_held(claim, &grant));
    u9_zk_close(claim);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(addresses_that_make_no_sense_are_refused)
{
    static const char *const bad[] = {
        "", "/t", "localhost", "localhost:1", "localhost/t", ":1/t", "localhost:/t",
        "localhost:0/t", "localhost:65536/t", "localhost:1x/t", "localhost:1,/t", "localhost:1/",
        "localhost:1//t", "localhost:1/t/", "localhost:1/t/../u", "localhost:1/.",
        "localhost:1/a b", "a b:1/t", "[::1:1/t", "[::1]/t", "localhost:1/t\n"};
    u9_zk_claim *claim = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        u9_fault fault = {0};
        ck_assert_msg(u9_zk_open(bad[i], NULL, &claim, &fault) == U9_ARG, "taken: '%s'", bad[i]);
        ck_assert_int_eq(fault.err, U9_ARG);
        ck_assert_ptr_null(claim);
    }
    char longer[U9_ZK_PATH_MAX + 20] = "localhost:1/";
    memset(longer + strlen(longer), 'x', U9_ZK_PATH_MAX);
    ck_assert_int_eq(u9_zk_open(longer, NULL, &claim, NULL), U9_ARG);
    ck_assert_int_eq(u9_zk_open(NULL, NULL, &claim, NULL), U9_ARG);
    ck_assert_int_eq(u9_zk_open("localhost:1/t", NULL, NULL, NULL), U9_ARG);
}
END_TEST

START_TEST(options_out_of_range_are_refused)
{
    const u9_zk_options bad[] = {
        {.size = 0},
        {.size = sizeof *bad, .layout = 5},
        {.size = sizeof *bad, .session_timeout_ms = 499},
        {.size = sizeof *bad, .session_timeout_ms = 600001},
        {.size = sizeof *bad, .layout = 2, .mode = U9_UID8_TIME_SEQUENTIAL},
        {.size = sizeof *bad, .layout = 4, .mode = (u9_uid8_mode)2}};
    u9_zk_claim *claim = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(u9_zk_open("localhost:1/t", &bad[i], &claim, NULL), U9_ARG);
    ck_assert_ptr_null(claim);
    ck_assert_int_eq(u9_zk_get(NULL, NULL, NULL), U9_ARG);
    ck_assert_int_eq(u9_zk_next(NULL, NULL, NULL), U9_ARG);
    ck_assert(!u9_zk_held(NULL, NULL));
    u9_zk_release(NULL);
    u9_zk_close(NULL);
}
END_TEST

START_TEST(without_a_server_it_says_so_in_time)
{
    u9_zk_options options = zkt_options();
    options.wait_ms_max = 300;
    zkt_begin("nobody");
    u9_zk_claim *claim = zkt_claim(1, &options); /* tcpmux: nobody listens there */
    u9_zk_grant grant;
    u9_fault fault = {0};
    ck_assert_int_eq(u9_zk_get(claim, &grant, &fault), U9_IO);
    ck_assert_int_eq(fault.sys, ETIMEDOUT);
    ck_assert_str_eq(fault.path, "127.0.0.1:1");
    u9_zk_close(claim);
}
END_TEST

Suite *suite_hold(void)
{
    const TTest *const tests[] = {
        a_number_rests_before_it_comes_back,
        a_number_is_void_when_its_hold_time_is_over,
        a_number_is_void_when_others_delete_or_write_its_node,
        a_tree_that_is_cleared_away_is_made_again,
        a_child_has_no_claim_and_ends_none,
        addresses_that_make_no_sense_are_refused,
        options_out_of_range_are_refused,
        without_a_server_it_says_so_in_time};
    Suite *suite = suite_create("zk hold");
    TCase *tcase = tcase_create("hold");
    tcase_set_timeout(tcase, 180);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
