/*
 * tests/engine/test_heap.c: appending takes nothing from the heap. The calls are counted by standing in
 * front of the C library's; the sanitizers do that themselves, so with them there is nothing to test.
 */
#include "tests/engine/fixture.h"
#include "tests/sanitized.h"

#include "tests/suites.h"

#include <stdlib.h>

#if !SANITIZED && defined(__GLIBC__)
#define COUNTED 1 /* calls of the heap can be */
#endif

static unsigned long calls;

#ifdef COUNTED
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return __libc_realloc(p, size);
}
#endif

START_TEST(an_append_takes_nothing_from_the_heap)
{
    u9_options o = writer_options();
    o.policy = U9_POLICY_NONE;
    o.lz4 = _i;
    u9_log *w = open_writer(at("log"), &o);
    append_text(w, "the first one makes the file");
    ck_assert_int_eq(u9_log_sync(w), U9_OK);
    uint8_t value[102] = {0x18, 100}; /* utf8 */
    u9_err err = U9_OK;
    unsigned long before = __atomic_load_n(&calls, __ATOMIC_RELAXED); /* Check's own asserts allocate */
    for (unsigned i = 0; i < 20000 && err == U9_OK; i++)
        err = u9_log_append(w, NULL, value, sizeof value, NULL);
    if (err == U9_OK) err = u9_log_sync(w);
    unsigned long after = __atomic_load_n(&calls, __ATOMIC_RELAXED);
    ck_assert_int_eq(err, U9_OK);
    ck_assert_uint_eq(after, before);
    close_log(w);
}
END_TEST

/* Commits, waited for and not, in batches and alone, into a file that has its space and its zeros. */
START_TEST(a_commit_takes_nothing_from_the_heap)
{
    u9_options o = writer_options();
    o.lz4 = _i;
    u9_log *w = open_writer(at("log"), &o);
    uint8_t value[102] = {0x18, 100};
    u9_entry entries[20];
    u9_place places[20];
    u9_err err = U9_OK;
    unsigned long before = 0;
    for (unsigned i = 0; i < 20; i++) entries[i] = (u9_entry){.values = value, .size = sizeof value};
    for (unsigned i = 0; i < 400 && err == U9_OK; i++) {
        if (i == 20) before = __atomic_load_n(&calls, __ATOMIC_RELAXED); /* what is asked for once was */
        err = u9_log_append_batch(w, entries, i % 20 + 1, places);
        if (err == U9_OK && i % 3 == 0) err = u9_log_commit_async(w, places[0].ordinal);
        if (err == U9_OK && i % 3 != 0) err = u9_log_commit(w, places[i % 20].ordinal);
    }
    unsigned long after = __atomic_load_n(&calls, __ATOMIC_RELAXED);
    ck_assert_int_eq(err, U9_OK);
    ck_assert_uint_eq(after, before);
    close_log(w);
}
END_TEST

START_TEST(the_calls_are_counted) /* else the test above could not fail */
{
#ifdef COUNTED
    unsigned long before = __atomic_load_n(&calls, __ATOMIC_RELAXED);
    session(at("log"), "a", 1, 0);
    ck_assert_uint_gt(__atomic_load_n(&calls, __ATOMIC_RELAXED), before);
#endif
}
END_TEST

Suite *suite_heap(void)
{
    Suite *suite = suite_create("heap");
    TCase *tc = tcase_create("append");
    tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
    tcase_add_loop_test(tc, an_append_takes_nothing_from_the_heap, 0, 2);
    tcase_add_loop_test(tc, a_commit_takes_nothing_from_the_heap, 0, 2);
    tcase_add_test(tc, the_calls_are_counted);
    suite_add_tcase(suite, tc);
    return suite;
}
