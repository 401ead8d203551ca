/*
 * tests/zk/test_claim.c: how a number is claimed: the tree, the queue, the pool (steps 1 to 6 of
 * zk/claim.h). The bare client plays the peers, of which some are of the Java library.
 */
#include "tests/zk/fixture.h"

#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What the client asks for addresses: this one, not the C library's, so that no test asks a network. */
int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **out)
{
    union {
        void *symbol;
        int (*call)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    } real = {.symbol = dlsym(RTLD_NEXT, "getaddrinfo")};
    return strcmp(host, "nobody") == 0 ? EAI_NONAME : real.call(host, port, hints, out);
}

static void is_persistent(zhandle_t *zk, const char *path, int size)
{
    struct Stat stat = zkt_raw_stat(zk, path);
    ck_assert_int_eq(stat.ephemeralOwner, 0);
    ck_assert_int_eq(stat.dataLength, size);
}

static void is_open_to_all(zhandle_t *zk, const char *test, const char *path)
{
    char at[256];
    struct ACL_vector acl = {0};
    snprintf(at, sizeof at, "/t/%s%s", test, path);
    ck_assert_int_eq(zoo_get_acl(zk, at, &acl, NULL), ZOK);
    ck_assert_int_eq(acl.count, 1);
    ck_assert_int_eq(acl.data[0].perms, 31);
    ck_assert_str_eq(acl.data[0].id.scheme, "world");
    ck_assert_str_eq(acl.data[0].id.id, "anyone");
    deallocate_ACL_vector(&acl);
}

START_TEST(the_tree_left_behind_is_the_one_peers_expect)
{
    static const char *const nodes[] = {"", "/cluster-id", "/queue", "/pool", "/pool/0"};
    char data[8];
    int size = sizeof data;
    zkt_begin("tree/deep");
    u9_zk_claim *claim = zkt_claim(0, NULL);
    u9_zk_grant grant = zkt_get(claim);
    ck_assert_uint_eq(grant.generator, 0);
    ck_assert_uint_eq(grant.cluster, 0);
    ck_assert_uint_eq(grant.serial, 1);
    ck_assert(u9_zk_held(claim, &grant));

    zhandle_t *zk = zkt_raw_open();
    is_persistent(zk, "", 0);
    is_persistent(zk, "cluster-id", 1);
    is_persistent(zk, "queue", 0);
    is_persistent(zk, "pool", 0);
    ck_assert_int_eq(zoo_get(zk, "/t/tree/deep/cluster-id", 0, data, &size, NULL), ZOK);
    ck_assert(size == 1 && data[0] == '0');
    for (size_t i = 0; i < 5; i++) is_open_to_all(zk, "tree/deep", nodes[i]);
    struct Stat stat = zkt_raw_stat(zk, "pool/0");
    ck_assert_int_ne(stat.ephemeralOwner, 0);
    ck_assert_int_eq(stat.dataLength, 0);
    ck_assert_int_eq(zkt_raw_count(zk, "queue"), 0); /* neither lock nor ticket */
    ck_assert_int_eq(zkt_raw_count(zk, "pool"), 1);

    u9_zk_close(claim);
    AWAIT(zkt_raw_count(zk, "pool") == 0);
    ck_assert_int_eq(zkt_raw_count(zk, ""), 3);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(two_claims_hold_two_numbers)
{
    zkt_begin("two");
    u9_zk_claim *a = zkt_claim(0, NULL), *b = zkt_claim(0, NULL);
    u9_zk_grant first = zkt_get(a), second = zkt_get(b), again = zkt_get(a);
    ck_assert_uint_eq(first.generator, 0);
    ck_assert_uint_eq(second.generator, 1);
    ck_assert_uint_eq(again.serial, first.serial);
    u9_zk_close(a);
    u9_zk_close(b);
}
END_TEST

START_TEST(the_cluster_id_is_the_one_that_is_there)
{
    static const struct {
        const char *data;
        int cluster; /* -1: refused */
    } rows[] = {{"0", 0}, {"7", 7}, {"15", 15}, {"007", 7}, {"16", -1}, {"-1", -1}, {"", -1},
                {"1\n", -1}, {" 1", -1}, {"x", -1}, {"99999999999999999999", -1}};
    zkt_begin("cluster");
    zhandle_t *zk = zkt_raw_open();
    zkt_raw_plant(zk);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        u9_zk_grant grant = {0};
        u9_fault fault = {0};
        zkt_raw_set(zk, "cluster-id", rows[i].data);
        u9_zk_claim *claim = zkt_claim(0, NULL);
        u9_err err = u9_zk_get(claim, &grant, &fault);
        ck_assert_int_eq(err, rows[i].cluster < 0 ? U9_CORRUPT : U9_OK);
        if (err == U9_OK)
            ck_assert_int_eq((int)grant.cluster, rows[i].cluster);
        else
            ck_assert_str_eq(fault.path, "/t/cluster/cluster-id");
        u9_zk_close(claim);
    }
    zkt_raw_close(zk);
}
END_TEST

START_TEST(a_ticket_has_the_form_that_peers_sort_by)
{
    char path[64] = "";
    zkt_begin("ticket");
    zhandle_t *zk = zkt_raw_open();
    zkt_raw_plant(zk);
    zkt_raw_make(zk, LOCK, true);
    u9_zk_claim *claim = zkt_claim(0, NULL);
    zkt_getter getter;
    zkt_get_begin(&getter, claim);
    AWAIT(zkt_raw_ticket(zk, path));
    const char *name = path + strlen("queue/");
    ck_assert_uint_eq(strlen(name), strlen("nr-01700000000000-0000"));
    ck_assert_uint_eq(strspn(name + 3, "0123456789"), 14);
    ck_assert_uint_eq(strspn(name + 18, "0123456789"), 4);
    ck_assert(name[17] == '-' && strncmp(name, "nr-0", 4) == 0);
    long long age_ms = (long long)time(NULL) * 1000 - strtoll(name + 3, NULL, 10);
    ck_assert(age_ms > -2000 && age_ms < 120000);
    struct Stat stat = zkt_raw_stat(zk, path);
    ck_assert(stat.ephemeralOwner != 0 && stat.dataLength == 0);

    zkt_nap(100);
    ck_assert(!atomic_load(&getter.done)); /* the lock is somebody else's */
    zkt_raw_drop(zk, LOCK);
    ck_assert_uint_eq(zkt_get_end(&getter).generator, 0);
    ck_assert_int_eq(zkt_raw_count(zk, "queue"), 0);
    u9_zk_close(claim);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(an_earlier_ticket_of_a_peer_is_waited_for_and_a_later_one_is_not)
{
    char path[64] = "";
    zkt_begin("line");
    zhandle_t *zk = zkt_raw_open();
    zkt_raw_plant(zk);
    zkt_raw_make(zk, "queue/nr-00000000000001-0042", true);
    u9_zk_claim *claim = zkt_claim(0, NULL);
    zkt_getter getter;
    zkt_get_begin(&getter, claim);
    AWAIT(zkt_raw_count(zk, "queue") == 2);
    zkt_nap(100);
    ck_assert(!atomic_load(&getter.done));
    ck_assert(!zkt_raw_has(zk, LOCK));
    zkt_raw_make(zk, "queue/nr-99999999999999-0000", true);
    zkt_raw_drop(zk, "queue/nr-00000000000001-0042");
    ck_assert_uint_eq(zkt_get_end(&getter).generator, 0);
    ck_assert(zkt_raw_ticket(zk, path)); /* the later one still waits */
    ck_assert_str_eq(path, "queue/nr-99999999999999-0000");
    u9_zk_close(claim);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(who_clears_the_queue_clears_no_claim_away)
{
    char path[64] = "", other[64] = "";
    zkt_begin("cleared");
    zhandle_t *zk = zkt_raw_open();
    zkt_raw_plant(zk);
    zkt_raw_make(zk, LOCK, true);
    u9_zk_claim *claim = zkt_claim(0, NULL);
    zkt_getter getter;
    zkt_get_begin(&getter, claim);
    AWAIT(zkt_raw_ticket(zk, path));
    zkt_raw_drop(zk, path);
    zkt_raw_drop(zk, LOCK);
    ck_assert_uint_eq(zkt_get_end(&getter).generator, 0);
    AWAIT(!zkt_raw_ticket(zk, other) && zkt_raw_count(zk, "queue") == 0);
    u9_zk_close(claim);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(numbers_of_peers_are_left_alone_and_other_nodes_do_not_count)
{
    static const char *const nodes[] = {"pool/0", "pool/1", "pool/100", "pool/2047", "pool/02",
                                        "pool/x", "pool/64", "pool/-3"};
    zkt_begin("foreign");
    zhandle_t *zk = zkt_raw_open();
    zkt_raw_plant(zk);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) zkt_raw_make(zk, nodes[i], true);
    zkt_raw_fill(zk, 128, 256); /* more than our pool holds, outside our range */
    u9_zk_claim *claim = zkt_claim(0, NULL);
    ck_assert_uint_eq(zkt_get(claim).generator, 2);
    u9_zk_close(claim);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(the_pool_is_as_large_as_the_layout_allows)
{
    static const uint32_t last[] = {63, 255, 255, 2047};
    zkt_begin("layouts");
    zhandle_t *zk = zkt_raw_open();
    zkt_raw_plant(zk);
    int filled = 0;
    for (unsigned i = 0; i < 4; i++) {
        u9_zk_options options = zkt_options();
        options.layout = i + 1;
        zkt_raw_fill(zk, filled, (int)last[i]);
        filled = (int)last[i];
        u9_zk_claim *claim = zkt_claim(0, &options);
        ck_assert_uint_eq(zkt_get(claim).generator, last[i]);
        u9_zk_close(claim);
        AWAIT(zkt_raw_count(zk, "pool") == filled);
    }
    zkt_raw_close(zk);
}
END_TEST

START_TEST(a_full_pool_is_waited_for_with_the_lock_in_hand)
{
    zkt_begin("full");
    zhandle_t *zk = zkt_raw_open();
    zkt_raw_plant(zk);
    zkt_raw_fill(zk, 0, 64);
    u9_zk_claim *claim = zkt_claim(0, NULL);
    zkt_getter getter;
    zkt_get_begin(&getter, claim);
    AWAIT(zkt_raw_has(zk, LOCK));
    zkt_nap(100);
    ck_assert(!atomic_load(&getter.done));
    zkt_raw_drop(zk, "pool/17");
    ck_assert_uint_eq(zkt_get_end(&getter).generator, 17);
    AWAIT(!zkt_raw_has(zk, LOCK));
    u9_zk_close(claim);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(who_gives_up_waiting_leaves_neither_lock_nor_ticket)
{
    zkt_begin("give_up");
    zhandle_t *zk = zkt_raw_open();
    zkt_raw_plant(zk);
    zkt_raw_fill(zk, 0, 64);
    u9_zk_options options = zkt_options();
    options.wait_ms_max = 500;
    u9_zk_claim *claim = zkt_claim(0, &options);
    u9_zk_grant grant;
    u9_fault fault = {0};
    bool waited_for_pool = false;
    for (int i = 0; i < 20 && !waited_for_pool; i++) { /* a slow machine may not get that far */
        ck_assert_int_eq(u9_zk_get(claim, &grant, &fault), U9_AGAIN);
        waited_for_pool = strstr(fault.text, "a free number") != NULL;
    }
    ck_assert_msg(waited_for_pool, "waited for: %s", fault.text);
    AWAIT(zkt_raw_count(zk, "queue") == 0);

    zkt_raw_drop(zk, "pool/5"); /* and it can be asked again */
    u9_err err = U9_AGAIN;
    AWAIT((err = u9_zk_get(claim, &grant, &fault)) == U9_OK);
    ck_assert_uint_eq(grant.generator, 5);
    u9_zk_close(claim);
    zkt_raw_close(zk);
}
END_TEST

START_TEST(a_host_that_nobody_knows_is_told_as_that)
{
    u9_zk_options options = {.size = sizeof options, .wait_ms_max = 5000};
    u9_zk_claim *claim;
    u9_zk_grant grant;
    u9_fault fault;
    ck_assert_int_eq(u9_zk_open("nobody:2181/path", &options, &claim, &fault), U9_OK);
    ck_assert_int_eq(u9_zk_get(claim, &grant, &fault), U9_IO);
    ck_assert_str_eq(fault.text, "no session: no host of this name is known");
    ck_assert_int_eq(fault.sys, 0); /* a file that is not there is another thing */
    u9_zk_close(claim);
}
END_TEST

Suite *suite_claim(void)
{
    const TTest *const tests[] = {
        the_tree_left_behind_is_the_one_peers_expect,
        two_claims_hold_two_numbers,
        the_cluster_id_is_the_one_that_is_there,
        a_ticket_has_the_form_that_peers_sort_by,
        an_earlier_ticket_of_a_peer_is_waited_for_and_a_later_one_is_not,
        who_clears_the_queue_clears_no_claim_away,
        numbers_of_peers_are_left_alone_and_other_nodes_do_not_count,
        the_pool_is_as_large_as_the_layout_allows,
        a_full_pool_is_waited_for_with_the_lock_in_hand,
        who_gives_up_waiting_leaves_neither_lock_nor_ticket,
        a_host_that_nobody_knows_is_told_as_that};
    Suite *suite = suite_create("zk claim");
    TCase *tcase = tcase_create("claim");
    tcase_set_timeout(tcase, 180);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
