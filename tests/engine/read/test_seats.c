/*
 * tests/engine/read/test_seats.c: threads that look up keep the view from one lookup to the next, and let go of it when
 * another comes (engine/read/view.h). [K-3]
 */
#include "tests/engine/fixture.h"
#include "tests/engine/scarce.h"
#include "tests/suites.h"

#include "engine/read/view.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Appends a record and makes it durable, in a file of its own. */
static void append_one(u9_log *w, const char *text)
{
    (void)append_text(w, text);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
}

/* A view of the files as they are now, which is not the one before. */
static void replace_view(u9_log *w, u9_log *r, const u9i_view *before)
{
    u9i_view *next;
    append_many(w, "a record that is long enough to fill a segment with some of them", 900, 0);
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    ck_assert_int_eq(u9i_view_take(r, true, &next, NULL), U9_OK);
    ck_assert_ptr_ne(next, before);
    u9i_view_release(next);
}

START_TEST(a_seat_that_nobody_sits_on_lets_go_of_a_view_at_once)
{
    u9_options o = small_options();
    u9_log *w = open_writer(at("log"), &o);
    append_one(w, "one");
    u9_log *r = open_reader(at("log"));
    u9i_seated s;
    u9i_view *mine;
    ck_assert_int_eq(u9i_view_sit(r, &s, NULL), U9_OK);
    ck_assert_int_eq(u9i_view_take(r, false, &mine, NULL), U9_OK);
    ck_assert_ptr_eq(s.view, mine);
    u9i_view_rise(&s);
    ck_assert_uint_eq(atomic_load(&mine->references), 3); /* the handle's, the seat's, mine */
    replace_view(w, r, mine);
    ck_assert_uint_eq(atomic_load(&mine->references), 1);
    u9i_view_release(mine);
    close_log(r);
    close_log(w);
}
END_TEST

static u9_log *shared;

static void look_up_meanwhile(void)
{
    uint8_t room[100];
    u9_record r;
    ck_assert_int_eq(u9_log_get(shared, &(u9_key){"k", 1}, room, sizeof room, &r, NULL), U9_OK);
}

/* Whoever comes second to make what all lookups of a handle share takes what the first one made, and keeps nothing. */
START_TEST(two_first_lookups_at_once_find_the_same)
{
    u9_options o = small_options();
    o.kind = "rkey";
    u9_log *w = open_writer(at("log"), &o);
    ck_assert_int_eq(u9_log_append(w, &(u9_key){"k", 1}, "\x85", 1, NULL), U9_OK);
    close_log(w);
    for (unsigned nth = 1; nth <= 3; nth++) { /* what comes then is made under a lock */
        size_t kept;
        u9_options reading = {.size = sizeof reading, .mode = U9_READ, .io = io_of(at("log"))};
        shared = NULL;
        ck_assert_int_eq(u9_log_open(at("log"), &reading, &shared, NULL), U9_OK);
        scarce_amid(SCARCE_MEMORY, nth, look_up_meanwhile);
        look_up_meanwhile();
        close_log(shared);
        (void)scarce_end(&kept);
        ck_assert_uint_eq(kept, 0);
    }
}
END_TEST

START_TEST(a_seat_that_is_taken_lets_go_of_a_view_when_it_is_freed)
{
    u9_options o = small_options();
    u9_log *w = open_writer(at("log"), &o);
    append_one(w, "one");
    u9_log *r = open_reader(at("log"));
    u9i_seated s, inner;
    u9i_view *mine;
    ck_assert_int_eq(u9i_view_sit(r, &s, NULL), U9_OK);
    ck_assert_int_eq(u9i_view_take(r, false, &mine, NULL), U9_OK);
    replace_view(w, r, mine);
    ck_assert_uint_eq(atomic_load(&mine->references), 2); /* the seat's, mine: who sits goes on */
    ck_assert_int_eq(u9i_view_sit(r, &inner, NULL), U9_OK);
    ck_assert_ptr_null(inner.seat); /* a lookup within a lookup is counted by itself, */
    ck_assert_ptr_ne(inner.view, mine); /*   and has the view that is now */
    u9i_view_rise(&inner);
    u9i_view_rise(&s);
    ck_assert_uint_eq(atomic_load(&mine->references), 1);
    ck_assert_int_eq(u9i_view_sit(r, &s, NULL), U9_OK);
    ck_assert_ptr_ne(s.view, mine);
    ck_assert_ptr_nonnull(s.seat);
    u9i_view_rise(&s);
    u9i_view_release(mine);
    close_log(r);
    close_log(w);
}
END_TEST

enum { RECORDS = 3000, EACH = 100, THREADS = 40, STAYING = 3 };

/* Keys of records that are durable: those below `count`. */
static struct {
    uint8_t keys[RECORDS][16];
    atomic_uint count;
} written;

/* Looks one up that is there, in the handle that the thread got. */
static void look_one_up(u9_log *log, unsigned n)
{
    uint8_t buf[400];
    u9_record record;
    unsigned count = atomic_load(&written.count), i = n * 7919 % count;
    u9_key key = {.data = written.keys[i], .size = 16};
    ck_assert_int_eq(u9_log_get(log, &key, buf, sizeof buf, &record, NULL), U9_OK);
    ck_assert_uint_eq(record.ordinal, i);
    ck_assert_mem_eq(record.key.data, key.data, 16);
}

static void *look_some_up(void *log)
{
    for (unsigned n = 0; n < EACH; n++) look_one_up(log, n);
    return NULL;
}

static void *look_up_all_along(void *log)
{
    for (unsigned n = 0; atomic_load(&written.count) < RECORDS; n++) look_one_up(log, n);
    return look_some_up(log);
}

/* So many more, with keys in order, durable. */
static void append_keys(u9_log *w, unsigned count)
{
    static const uint8_t value[102] = {0x1c, 100};
    for (unsigned first = atomic_load(&written.count), i = first; i < first + count; i++) {
        u9_muid id = {.timestamp = 1000 + i, .medallion = 1 + i % 3, .offset = 1};
        ck_assert_int_eq(u9_muid_pack(&id, written.keys[i]), U9_OK);
        u9_key key = {.data = written.keys[i], .size = 16};
        u9_place place;
        ck_assert_int_eq(u9_log_append(w, &key, value, sizeof value, &place), U9_OK);
        ck_assert_uint_eq(place.ordinal, i);
    }
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    atomic_fetch_add(&written.count, count);
}

/* More threads than there are seats, on a reader's handle and on the writer's, while segments come. */
START_TEST(lookups_of_many_threads_find_what_is_there_while_the_log_grows)
{
    pthread_t staying[2 * STAYING], coming[THREADS];
    u9_options o = small_options();
    atomic_store(&written.count, 0);
    u9_log *w = open_writer(at("log"), &o);
    append_keys(w, EACH);
    u9_log *r = open_reader(at("log"));
    for (unsigned i = 0; i < 2 * STAYING; i++)
        ck_assert_int_eq(pthread_create(&staying[i], NULL, look_up_all_along, i % 2 ? r : w), 0);
    while (atomic_load(&written.count) < RECORDS / 2) append_keys(w, EACH);
    for (unsigned i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&coming[i], NULL, look_some_up, i % 4 ? r : w), 0);
    while (atomic_load(&written.count) < RECORDS) append_keys(w, EACH);
    for (unsigned i = 0; i < THREADS; i++) pthread_join(coming[i], NULL);
    for (unsigned i = 0; i < 2 * STAYING; i++) pthread_join(staying[i], NULL);
    close_log(r);
    close_log(w);
}
END_TEST

Suite *suite_seats(void)
{
    Suite *s = suite_create("seats");
    TCase *t = tcase_create("simulated");
    tcase_add_checked_fixture(t, fixture_setup_sim, fixture_teardown); /* its clock stands: no view becomes old */
    tcase_add_test(t, a_seat_that_nobody_sits_on_lets_go_of_a_view_at_once);
    tcase_add_test(t, two_first_lookups_at_once_find_the_same);
    tcase_add_test(t, a_seat_that_is_taken_lets_go_of_a_view_when_it_is_freed);
    suite_add_tcase(s, t);
    t = tcase_create("threads");
    tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, lookups_of_many_threads_find_what_is_there_while_the_log_grows);
    suite_add_tcase(s, t);
    return s;
}
