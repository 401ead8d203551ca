/*
 * tests/engine/idgen/test_keys.c: the keys that a log makes: the medallion that stays with it where it lies, and
 * eight-byte keys under a number that is given, or lent by a source of the test's own. [I-22] [I-23] [L-7]
 */
#include "tests/engine/fixture.h"
#include "tests/sim/sim.h"
#include "tests/suites.h"

#include "engine/idgen/keygen.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Medallions */

/* A session of one record: its key's medallion, and in `*stamp` its timestamp. */
static uint64_t medallion_of_session(const char *log, const u9_options *options, uint64_t *stamp)
{
    static const uint8_t value[] = {0x81};
    u9_log *w = open_writer(log, options);
    u9_place place;
    u9_muid id;
    ck_assert_int_eq(u9_log_append(w, NULL, value, 1, &place), U9_OK);
    close_log(w);
    u9_muid_unpack(place.key, &id);
    ck_assert_int_eq(id.offset, 1);
    if (stamp) *stamp = id.timestamp;
    return id.medallion;
}

START_TEST(a_log_keeps_its_medallion_over_sessions) /* [I-22] */
{
    uint64_t first = medallion_of_session(at("log"), NULL, NULL);
    ck_assert_uint_ge(first, UINT64_C(1) << 40);
    ck_assert_uint_lt(first, UINT64_C(1) << 41);
    for (int i = 0; i < 3; i++) ck_assert_uint_eq(medallion_of_session(at("log"), NULL, NULL), first);
    ck_assert_uint_ne(medallion_of_session(at("other"), NULL, NULL), first);
}
END_TEST

START_TEST(a_copy_has_a_medallion_of_its_own_and_a_renamed_log_keeps_it) /* [I-22] */
{
    uint64_t first = medallion_of_session(at("log"), NULL, NULL);
    sim_copy(at("log"), at("copy"));
    u9_log *a = open_writer(at("log"), NULL), *b = open_writer(at("copy"), NULL); /* at once */
    append_many(a, "a", 10, 0);
    append_many(b, "b", 10, 0);
    close_log(b);
    close_log(a);
    uint64_t second = medallion_of_session(at("copy"), NULL, NULL);
    ck_assert_uint_ne(second, first);
    sim_move(at("log"), at("renamed"));
    ck_assert_uint_eq(medallion_of_session(at("renamed"), NULL, NULL), first);
    ck_assert_uint_eq(medallion_of_session(at("copy"), NULL, NULL), second);
}
END_TEST

START_TEST(another_machine_has_another_medallion) /* [I-22] */
{
    uint64_t first = medallion_of_session(at("log"), NULL, NULL);
    sim_be_machine(2);
    uint64_t second = medallion_of_session(at("log"), NULL, NULL);
    ck_assert_uint_ne(second, first);
    ck_assert_uint_eq(medallion_of_session(at("log"), NULL, NULL), second);
    sim_be_machine(1);
    ck_assert_uint_eq(medallion_of_session(at("log"), NULL, NULL), first);
}
END_TEST

START_TEST(without_a_machine_or_a_place_each_session_draws_one) /* [I-22] */
{
    uint64_t kept = medallion_of_session(at("log"), NULL, NULL);
    sim_be_machine(0);
    uint64_t a = medallion_of_session(at("log"), NULL, NULL), b = medallion_of_session(at("log"), NULL, NULL);
    ck_assert(a != kept && b != kept && a != b && a >> 40 == 1 && b >> 40 == 1);
    sim_be_machine(1);
    char here[3300];
    snprintf(here, sizeof here, "%s/.", at("log"));
    size_t count, nth = 0;
    sim_forget_diary();
    ck_assert_uint_eq(medallion_of_session(at("log"), NULL, NULL), kept);
    const sim_op *ops = sim_ops(&count);
    for (size_t i = 0, stats = 0; i < count; i++)
        if (ops[i].kind == SIM_STAT && ++stats > 0 && strcmp(ops[i].path, here) == 0) nth = stats;
    ck_assert_uint_gt(nth, 0);
    sim_fail(SIM_STAT, (unsigned)nth, -5, false);
    ck_assert_uint_ne(medallion_of_session(at("log"), NULL, NULL), kept);
    ck_assert_uint_eq(sim_fired(), 1);
}
END_TEST

START_TEST(a_medallion_may_be_given) /* [I-22] */
{
    u9_options o = writer_options();
    u9_log *w;
    u9_fault fault;
    o.medallion = 5;
    ck_assert_uint_eq(medallion_of_session(at("log"), &o, NULL), 5);
    o.medallion = U9_MUID_MEDALLION_MAX - 1;
    ck_assert_uint_eq(medallion_of_session(at("log"), &o, NULL), U9_MUID_MEDALLION_MAX - 1);
    o.medallion = U9_MUID_MEDALLION_MAX;
    ck_assert_int_eq(u9_log_open(at("log"), &o, &w, &fault), U9_ARG);
    ck_assert_ptr_nonnull(strstr(fault.text, "options.medallion"));
    o.size = offsetof(u9_options, generator_given); /* what is behind it is not looked at */
    ck_assert_uint_eq(medallion_of_session(at("log"), &o, NULL) >> 40, 1);
}
END_TEST

START_TEST(sessions_in_one_microsecond_make_different_muids) /* [L-7] */
{
    uint64_t before = 0;
    for (int i = 0; i < 5; i++) {
        uint64_t stamp;
        sim_set_wall(UINT64_C(1700000000000000) - (unsigned)i); /* and it goes backwards besides */
        (void)medallion_of_session(at("log"), NULL, &stamp);
        ck_assert_uint_gt(stamp, before);
        before = stamp;
    }
}
END_TEST

START_TEST(the_medallion_is_what_the_specification_says) /* [I-22] */
{
    uint8_t log[16], machine[16];
    for (unsigned i = 0; i < 16; i++) {
        log[i] = (uint8_t)i;
        machine[i] = (uint8_t)(0xa0 + i);
    }
    const uint64_t place[2] = {0xfd01, 1234567};
    ck_assert_uint_eq(u9i_keygen_medallion(log, machine, place), UINT64_C(0x1f43bacc7d4));
}
END_TEST

/* Numbers */

static u9_options uid8_options(void)
{
    u9_options o = writer_options();
    o.kind = "uid8";
    return o;
}

static const uint8_t value[] = {0x81};

static u9_err append_key(u9_log *w, u9_uid8 *id)
{
    u9_place place;
    u9_err err = u9_log_append(w, NULL, value, sizeof value, &place);
    if (err != U9_OK) return err;
    ck_assert_uint_eq(place.key_size, 8);
    ck_assert_int_eq(u9_uid8_unpack(place.key, 8, U9_UID8_LAYOUT_MAX, id, NULL), U9_OK);
    return U9_OK;
}

/* A writer refuses a record without a key, says what to do, and takes one that has a key. */
static void expect_no_number(const u9_options *o)
{
    u9_uid8 id;
    u9_fault fault;
    u9_log *w = open_writer(at("log"), o);
    uint64_t next = u9_log_next(w);
    ck_assert_int_eq(append_key(w, &id), U9_ARG);
    u9_log_fault(w, &fault);
    ck_assert_int_eq(fault.err, U9_ARG);
    ck_assert_str_eq(fault.rule, "I-23");
    ck_assert_ptr_nonnull(strstr(fault.text, "options.numbers"));
    ck_assert_ptr_nonnull(strstr(fault.text, "options.generator"));
    ck_assert_uint_eq(u9_log_next(w), next);
    u9_key key = {"12345678", 8};
    u9_entry entries[2] = {{.key = key, .values = value, .size = 1}, {.values = value, .size = 1}};
    ck_assert_int_eq(u9_log_append_batch(w, entries, 2, NULL), U9_ARG);
    ck_assert_int_eq(u9_log_append(w, &key, value, 1, NULL), U9_OK);
    ck_assert_uint_eq(u9_log_next(w), next + 1);
    close_log(w);
}

START_TEST(without_a_number_no_eight_byte_key_is_made) /* [I-23] */
{
    u9_options o = uid8_options();
    expect_no_number(&o);
    o.size = offsetof(u9_options, generator_given); /* an earlier version's host that relied on zeros */
    expect_no_number(&o);
    o.kind = NULL; /* the log's */
    expect_no_number(&o);
}
END_TEST

static void expect_refused(const u9_options *o, const char *why)
{
    u9_log *log;
    u9_fault fault;
    u9_err err = u9_log_open(at("log"), o, &log, &fault);
    ck_assert_msg(err == U9_ARG && strstr(fault.text, why), "%s: %s", u9_err_name(err), fault.text);
}

/* And nothing is made, whatever the kind of keys is. [I-23] */
START_TEST(a_number_that_no_key_has_room_for_is_refused)
{
    for (int i = 0; i < 2; i++) {
        u9_options o = uid8_options();
        if (i > 0) o.kind = NULL;
        o.generator = 2048;
        expect_refused(&o, "options.generator is above 2047");
        o.generator = 2047;
        o.cluster = 16;
        expect_refused(&o, "options.cluster is above 15");
        ck_assert(!exists(at("log")));
    }
}
END_TEST

/* Of a later version, perhaps. [L-6] */
START_TEST(a_log_whose_kind_of_keys_nobody_knows_is_read_and_not_appended_to)
{
    u9_options o = writer_options();
    u9i_open_record open = forge_naming(1, NULL, U9I_TAIL_NONE);
    open.kind = (u9i_span){(const uint8_t *)"zid", 3};
    forged_segment s = forge_with_open(1, 1, &open);
    s.kind = "zid";
    forge_records(&s, "r", 3);
    forge_end(&s, U9I_END_CLOSING);
    forge_save(&s, at("log"));
    forge_free(&s);
    expect_refused(&o, "the key kind 'zid'");
    seen *now = look(at("log"));
    ck_assert_uint_eq(now->count, 3);
    forget(now);
}
END_TEST

START_TEST(a_number_that_is_given_is_used) /* [I-23] */
{
    static const struct {
        uint32_t generator, cluster;
        int given;
        size_t size;
    } rows[] = {{0, 0, 1, sizeof(u9_options)},
                {2047, 15, 0, sizeof(u9_options)},
                {7, 0, 0, offsetof(u9_options, generator_given)},
                {0, 3, 0, offsetof(u9_options, generator_given)}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        u9_options o = uid8_options();
        o.size = rows[i].size;
        o.generator = rows[i].generator;
        o.cluster = rows[i].cluster;
        o.generator_given = rows[i].given;
        u9_log *w = open_writer(at("log"), &o);
        u9_uid8 id, last = {0};
        for (int n = 0; n < 200; n++) {
            ck_assert_int_eq(append_key(w, &id), U9_OK);
            ck_assert(id.generator == rows[i].generator && id.cluster == rows[i].cluster);
            ck_assert(id.timestamp_ms > last.timestamp_ms ||
                      (id.timestamp_ms == last.timestamp_ms && id.sequence > last.sequence));
            last = id;
        }
        close_log(w);
    }
}
END_TEST

/* A source of the test's own: what it was asked, and what it answers. */
static struct {
    u9_err acquire, renew; /* what the next ones return; then U9_OK */
    unsigned fail_renew;   /* how many renewals fail so */
    bool silent;           /* no fault */
    unsigned acquired, renewed, released;
    uint64_t seen_ms, released_ms;
    u9_grant out;          /* the one that is lent; serial 0: none */
} lender;

static u9_err refuse_lending(u9_err err, const char *why, u9_fault *fault)
{
    if (!lender.silent) snprintf(fault->text, sizeof fault->text, "%s", why);
    return err;
}

static u9_err lend(void *ctx, u9_grant *out, u9_fault *fault)
{
    ck_assert_ptr_eq(ctx, &lender);
    ck_assert_uint_eq(lender.out.serial, 0);
    u9_err err = lender.acquire;
    lender.acquire = U9_OK;
    if (err != U9_OK) return refuse_lending(err, "the lender is out", fault);
    lender.acquired++;
    lender.out = (u9_grant){.generator = lender.acquired, .cluster = 2, .seen_ms = lender.seen_ms,
                            .serial = lender.acquired};
    *out = lender.out;
    return U9_OK;
}

static u9_err lend_longer(void *ctx, const u9_grant *grant, uint64_t last_ms, u9_fault *fault)
{
    ck_assert_ptr_eq(ctx, &lender);
    ck_assert_uint_eq(grant->serial, lender.out.serial);
    ck_assert_uint_gt(last_ms, lender.seen_ms);
    lender.renewed++;
    if (lender.fail_renew == 0) return U9_OK;
    lender.fail_renew--;
    return refuse_lending(lender.renew, "it is over", fault);
}

static void take_back(void *ctx, const u9_grant *grant, uint64_t last_ms)
{
    ck_assert_ptr_eq(ctx, &lender);
    ck_assert_uint_ne(grant->serial, 0);
    ck_assert_uint_eq(grant->serial, lender.out.serial);
    lender.out.serial = 0;
    lender.released_ms = last_ms;
    lender.released++;
}

static u9_log *open_lent(void)
{
    static u9_generator source;
    u9_options o = uid8_options();
    memset(&lender, 0, sizeof lender);
    source = (u9_generator){sizeof source, &lender, lend, lend_longer, take_back};
    o.numbers = &source;
    u9_log *w = open_writer(at("log"), &o);
    memset(&source, 0xee, sizeof source); /* it is copied */
    return w;
}

START_TEST(a_source_is_asked_when_a_key_is_made_and_no_sooner) /* [I-23] */
{
    u9_uid8 id;
    u9_log *w = open_lent();
    u9_key key = {"12345678", 8};
    ck_assert_int_eq(u9_log_append(w, &key, value, 1, NULL), U9_OK);
    ck_assert_uint_eq(lender.acquired, 0);
    for (unsigned i = 1; i <= 100; i++) {
        ck_assert_int_eq(append_key(w, &id), U9_OK);
        ck_assert(id.generator == 1 && id.cluster == 2 && lender.renewed == i);
    }
    ck_assert_int_eq(u9_log_append(w, &key, value, 1, NULL), U9_OK);
    close_log(w);
    ck_assert(lender.acquired == 1 && lender.renewed == 100 && lender.released == 1);
    ck_assert_uint_eq(lender.released_ms, id.timestamp_ms);
}
END_TEST

START_TEST(keys_are_above_what_was_made_under_the_number_before) /* [I-23] */
{
    u9_uid8 id;
    u9_append *a;
    u9_fault fault;
    u9_log *w = open_lent();
    lender.seen_ms = UINT64_C(1700000000003); /* the clock is to reach it */
    ck_assert_int_eq(append_key(w, &id), U9_OK);
    ck_assert_uint_gt(id.timestamp_ms, lender.seen_ms);
    close_log(w);
    w = open_lent();
    lender.seen_ms = UINT64_C(1800000000000);
    ck_assert_int_eq(append_key(w, &id), U9_AGAIN);
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, 100, &a, NULL), U9_AGAIN); /* nor for a record in pieces */
    u9_log_fault(w, &fault);
    ck_assert_str_eq(fault.rule, "L-6");
    ck_assert_uint_eq(u9_log_next(w), 1);
    close_log(w);
}
END_TEST

START_TEST(a_kind_longer_than_any_is_refused) /* [L-6] */
{
    static char kind[2000];
    u9_log *log;
    u9_fault fault;
    u9_options o = {.size = sizeof o, .mode = U9_CREATE, .io = io_of(at("log")), .kind = kind};
    for (size_t n = 100; n < sizeof kind; n += 100) {
        memset(kind, 'x', n);
        ck_assert_int_eq(u9_log_open(at("log"), &o, &log, &fault), U9_ARG);
        ck_assert_ptr_nonnull(strstr(fault.text, "options.kind"));
        ck_assert(!exists(at("log")));
    }
}
END_TEST

START_TEST(a_grant_that_is_over_is_replaced_and_no_key_of_it_is_used) /* [I-23] */
{
    u9_uid8 id;
    u9_append *a;
    u9_log *w = open_lent();
    ck_assert_int_eq(append_key(w, &id), U9_OK);
    for (unsigned fails = 1; fails <= 2; fails++) {
        unsigned before = lender.acquired;
        lender.renew = U9_AGAIN;
        lender.fail_renew = fails;
        ck_assert_int_eq(append_key(w, &id), U9_OK);
        ck_assert_uint_eq(lender.acquired, before + fails);
        ck_assert_uint_eq(id.generator, lender.acquired);
        ck_assert_uint_eq(lender.released, lender.acquired - 1);
    }
    lender.fail_renew = 3; /* that is enough */
    lender.silent = true;
    ck_assert_int_eq(append_key(w, &id), U9_AGAIN);
    ck_assert_uint_eq(lender.out.serial, 0);
    ck_assert_uint_eq(lender.released_ms, 0); /* under the last ones nothing was used */
    ck_assert_uint_eq(u9_log_next(w), 3);
    lender.fail_renew = 3;
    ck_assert_int_eq(u9_append_begin(w, NULL, 1, 100, &a, NULL), U9_AGAIN);
    ck_assert_int_eq(append_key(w, &id), U9_OK);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 4);
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    ck_assert_uint_eq(lender.acquired, lender.released);
    forget(s);
}
END_TEST

/* Lends number 1 again and again. */
static u9_err lend_the_same(void *ctx, u9_grant *out, u9_fault *fault)
{
    u9_err err = lend(ctx, out, fault);
    out->generator = 1;
    return err;
}

static int by_key(const void *a, const void *b)
{
    return memcmp(a, b, 8);
}

START_TEST(one_number_lent_again_and_again_makes_no_key_twice) /* [I-23] */
{
    enum { KEYS = 400 };
    static uint8_t keys[KEYS][8];
    const u9_generator source = {sizeof source, &lender, lend_the_same, lend_longer, take_back};
    u9_options o = uid8_options();
    unsigned waits = 0;
    o.numbers = &source;
    u9_log *w = open_writer(at("log"), &o);
    for (unsigned i = 0; i < KEYS; i++) {
        u9_place place;
        u9_err err;
        lender.renew = U9_AGAIN;
        lender.fail_renew = i % 7 == 6;
        if (i % 100 == 50) sim_set_wall(UINT64_C(1700000000000000)); /* back to where it began */
        while ((err = u9_log_append(w, NULL, value, 1, &place)) == U9_AGAIN && waits++ < 10000) sim_advance(1000);
        ck_assert_int_eq(err, U9_OK);
        memcpy(keys[i], place.key, 8);
    }
    close_log(w);
    ck_assert_uint_gt(waits, 0);
    ck_assert_uint_gt(lender.acquired, KEYS / 7);
    qsort(keys, KEYS, 8, by_key);
    for (unsigned i = 1; i < KEYS; i++) ck_assert_mem_ne(keys[i - 1], keys[i], 8);
}
END_TEST

START_TEST(what_the_source_says_when_it_fails_is_what_the_append_says) /* [I-23] */
{
    static const struct {
        u9_err told, seen;
    } rows[] = {{U9_AGAIN, U9_AGAIN}, {U9_IO, U9_IO}, {U9_STATE, U9_STATE}, {U9_END, U9_STATE}};
    u9_uid8 id;
    u9_fault fault;
    u9_log *w = open_lent();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lender.silent = i == 1;
        lender.acquire = rows[i].told;
        ck_assert_int_eq(append_key(w, &id), rows[i].seen);
        u9_log_fault(w, &fault);
        ck_assert_int_eq(fault.err, rows[i].seen);
        ck_assert_ptr_nonnull(strstr(fault.text, i == 1 ? "no generator number" : "the lender is out"));
        ck_assert_int_eq(append_key(w, &id), U9_OK); /* the log goes on */
        lender.renew = U9_IO;
        lender.fail_renew = 1;
        ck_assert_int_eq(append_key(w, &id), U9_IO);
        ck_assert_uint_eq(lender.out.serial, 0);
        u9_log_fault(w, &fault);
        ck_assert_ptr_nonnull(strstr(fault.text, i == 1 ? "was lost" : "it is over"));
    }
    ck_assert_uint_eq(u9_log_next(w), 4);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 4);
    ck_assert_int_eq(s->report.verdict, U9_V_CLEAN);
    forget(s);
}
END_TEST

START_TEST(a_batch_whose_number_was_lost_leaves_no_trace) /* [I-23] [S-4] */
{
    u9_log *w = open_lent();
    u9_entry entries[3] = {{.values = value, .size = 1}, {.values = value, .size = 1}, {.values = value, .size = 1}};
    lender.renew = U9_IO;
    lender.fail_renew = 1;
    ck_assert_int_eq(u9_log_append_batch(w, entries, 3, NULL), U9_IO);
    u9_key key = {"12345678", 8};
    ck_assert_int_eq(u9_log_append(w, &key, value, 1, NULL), U9_OK);
    close_log(w);
    seen *s = look(at("log"));
    ck_assert_uint_eq(s->count, 1);
    ck_assert_mem_eq(s->report.first_key, key.data, 8);
    ck_assert_mem_eq(s->report.last_key, key.data, 8);
    forget(s);
}
END_TEST

START_TEST(a_source_that_is_wrong_is_refused) /* [I-23] */
{
    const u9_generator whole = {sizeof whole, &lender, lend, lend_longer, take_back};
    for (int i = 0; i < 6; i++) {
        u9_generator source = whole;
        u9_options o = uid8_options();
        u9_log *w;
        u9_fault fault;
        o.numbers = &source;
        if (i == 0) source.size--;
        if (i == 1) source.acquire = NULL;
        if (i == 2) source.renew = NULL;
        if (i == 3) source.release = NULL;
        if (i == 4) o.generator = 1;
        if (i == 5) o.generator_given = 1;
        ck_assert_int_eq(u9_log_open(at("log"), &o, &w, &fault), U9_ARG);
        ck_assert_str_eq(fault.rule, "I-23");
        ck_assert(!exists(at("log")));
    }
    u9_log *w = open_lent();
    u9_uid8 id;
    lender.acquired = 2047; /* the next number is out of range */
    ck_assert_int_eq(append_key(w, &id), U9_ARG);
    ck_assert_uint_eq(lender.out.serial, 0);
    close_log(w);
}
END_TEST

/* A source that answers when it is let. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    bool asked, let;
} slow = {.lock = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_COND_INITIALIZER};

static u9_err lend_slowly(void *ctx, u9_grant *out, u9_fault *fault)
{
    pthread_mutex_lock(&slow.lock);
    slow.asked = true;
    pthread_cond_broadcast(&slow.turn);
    while (!slow.let) pthread_cond_wait(&slow.turn, &slow.lock);
    pthread_mutex_unlock(&slow.lock);
    return lend(ctx, out, fault);
}

static void *append_two_keys(void *log)
{
    u9_uid8 id;
    for (int i = 0; i < 2; i++)
        if (append_key(log, &id) != U9_OK) return log;
    return NULL;
}

START_TEST(while_a_number_is_waited_for_the_log_goes_on) /* [I-23] [W-5] */
{
    const u9_generator source = {sizeof source, &lender, lend_slowly, lend_longer, take_back};
    pthread_t threads[3];
    u9_options o = uid8_options();
    o.numbers = &source;
    u9_log *w = open_writer(at("log"), &o);
    for (int i = 0; i < 3; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, append_two_keys, w), 0);
    pthread_mutex_lock(&slow.lock);
    while (!slow.asked) pthread_cond_wait(&slow.turn, &slow.lock);
    pthread_mutex_unlock(&slow.lock);
    u9_key key = {"12345678", 8};
    u9_place place;
    ck_assert_int_eq(u9_log_append(w, &key, value, 1, &place), U9_OK);
    ck_assert_int_eq(u9_log_commit(w, place.ordinal), U9_OK);
    ck_assert_uint_eq(u9_log_durable(w), 1);
    pthread_mutex_lock(&slow.lock);
    slow.let = true;
    pthread_cond_broadcast(&slow.turn);
    pthread_mutex_unlock(&slow.lock);
    for (int i = 0; i < 3; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_uint_eq(u9_log_next(w), 7);
    ck_assert_uint_eq(lender.acquired, 1); /* one for all who waited */
    close_log(w);
}
END_TEST

Suite *suite_keys(void)
{
    Suite *suite = suite_create("keys");
    TCase *medallions = tcase_create("medallions");
    tcase_add_checked_fixture(medallions, fixture_setup_sim, fixture_teardown);
    tcase_add_test(medallions, a_log_keeps_its_medallion_over_sessions);
    tcase_add_test(medallions, a_copy_has_a_medallion_of_its_own_and_a_renamed_log_keeps_it);
    tcase_add_test(medallions, another_machine_has_another_medallion);
    tcase_add_test(medallions, without_a_machine_or_a_place_each_session_draws_one);
    tcase_add_test(medallions, a_medallion_may_be_given);
    tcase_add_test(medallions, sessions_in_one_microsecond_make_different_muids);
    tcase_add_test(medallions, the_medallion_is_what_the_specification_says);
    suite_add_tcase(suite, medallions);
    TCase *numbers = tcase_create("numbers");
    tcase_add_checked_fixture(numbers, fixture_setup_sim, fixture_teardown);
    tcase_add_test(numbers, without_a_number_no_eight_byte_key_is_made);
    tcase_add_test(numbers, a_number_that_no_key_has_room_for_is_refused);
    tcase_add_test(numbers, a_log_whose_kind_of_keys_nobody_knows_is_read_and_not_appended_to);
    tcase_add_test(numbers, a_kind_longer_than_any_is_refused);
    tcase_add_test(numbers, a_number_that_is_given_is_used);
    tcase_add_test(numbers, a_source_is_asked_when_a_key_is_made_and_no_sooner);
    tcase_add_test(numbers, keys_are_above_what_was_made_under_the_number_before);
    tcase_add_test(numbers, a_grant_that_is_over_is_replaced_and_no_key_of_it_is_used);
    tcase_add_test(numbers, one_number_lent_again_and_again_makes_no_key_twice);
    tcase_add_test(numbers, what_the_source_says_when_it_fails_is_what_the_append_says);
    tcase_add_test(numbers, a_batch_whose_number_was_lost_leaves_no_trace);
    tcase_add_test(numbers, a_source_that_is_wrong_is_refused);
    suite_add_tcase(suite, numbers);
    TCase *threads = tcase_create("threads");
    tcase_add_checked_fixture(threads, fixture_setup_sim_threads, fixture_teardown);
    tcase_add_test(threads, while_a_number_is_waited_for_the_log_goes_on);
    suite_add_tcase(suite, threads);
    return suite;
}
