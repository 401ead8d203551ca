/*
 * tests/engine/os/test_guard.c: a page of a mapping that cannot be read is zeros and a note, and every other SIGBUS is
 * what it was without the guard.
 */
#include "engine/os/guard.h"
#include "tests/engine/fixture.h"
#include "tests/engine/os/envs.h"
#include "tests/engine/scarce.h"
#include "tests/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

static long page;

/* A mapping of `pages` pages of ones, of a file that has only `there` of them. */
static const volatile uint8_t *map_ones(unsigned pages, unsigned there)
{
    int fd = open(at("file"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    char *ones = malloc((size_t)page);
    memset(ones, 1, (size_t)page);
    for (unsigned i = 0; i < pages; i++) ck_assert_int_eq(write(fd, ones, (size_t)page), page);
    void *map = mmap(NULL, pages * (size_t)page, PROT_READ, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    ck_assert_int_eq(ftruncate(fd, there * page), 0);
    free(ones);
    close(fd);
    return map;
}

static u9i_guarded *watch(const volatile uint8_t *map, unsigned pages)
{
    u9i_guarded *g = u9i_guard_watch((const void *)(uintptr_t)map, pages * (size_t)page);
    ck_assert_ptr_nonnull(g);
    return g;
}

static void setup(void)
{
    fixture_setup();
    page = sysconf(_SC_PAGESIZE);
    if (!u9i_guard_ready()) signal(SIGBUS, SIG_DFL); /* sanitizers catch it */
}

START_TEST(without_a_guard_nothing_is_watched)
{
    if (u9i_guard_ready()) return; /* CK_FORK=no, U9_GUARD: it is installed */
    const volatile uint8_t *map = map_ones(1, 1);
    ck_assert_ptr_null(u9i_guard_watch((const void *)(uintptr_t)map, (size_t)page));
}
END_TEST

START_TEST(a_guard_that_cannot_be_installed_is_none_and_can_be_tried_again)
{
    if (u9i_guard_ready()) return;
    for (unsigned nth = 1; nth < 3; nth++) {
        scarce_begin(SCARCE_CALLS, nth, EINVAL, false);
        u9_err err = u9_guard_install();
        ck_assert_uint_eq(scarce_end(NULL), 1);
        ck_assert_int_eq(err, U9_IO);
        ck_assert(!u9i_guard_ready());
    }
    ck_assert_int_eq(u9_guard_install(), U9_OK);
    ck_assert(u9i_guard_ready());
}
END_TEST

START_TEST(a_page_behind_the_end_of_its_file_is_zeros_and_a_note)
{
    const volatile uint8_t *map = map_ones(4, 2);
    ck_assert_int_eq(u9_guard_install(), U9_OK);
    u9i_guarded *g = watch(map, 4);
    size_t p = (size_t)page, where = 0;
    ck_assert_uint_eq(map[0] + map[2 * p - 1], 2);
    ck_assert(!u9i_guard_broken(g));
    ck_assert(!u9i_guard_broken_in(g, 0, 4 * p, &where));
    ck_assert_uint_eq(map[2 * p + 7], 0);
    ck_assert(u9i_guard_broken(g));
    ck_assert(u9i_guard_broken_in(g, 0, 4 * p, &where));
    ck_assert_uint_eq(where, 2 * p);
    ck_assert(u9i_guard_broken_in(g, 2 * p + 100, 3 * p, &where));
    ck_assert_uint_eq(where, 2 * p + 100);
    ck_assert(!u9i_guard_broken_in(g, 0, 2 * p, &where));
    ck_assert(!u9i_guard_broken_in(g, 3 * p, 4 * p, &where));
    ck_assert_uint_eq(map[3 * p], 0); /* the span grows */
    ck_assert(u9i_guard_broken_in(g, 3 * p, 4 * p, &where));
    ck_assert_uint_eq(map[0], 1);
    u9i_guard_leave(g);
}
END_TEST

START_TEST(what_broke_in_one_mapping_is_not_told_of_the_next_in_its_place)
{
    ck_assert_int_eq(u9_guard_install(), U9_OK);
    for (unsigned i = 0; i < 40000; i++) { /* more than there are places in the table */
        static uint8_t bytes[64];
        u9i_guarded *g = u9i_guard_watch(bytes, sizeof bytes);
        ck_assert_ptr_nonnull(g);
        ck_assert(!u9i_guard_broken(g));
        atomic_store(&g->low, (uintptr_t)bytes);
        atomic_store(&g->high, (uintptr_t)bytes + 1);
        u9i_guard_leave(g);
    }
}
END_TEST

START_TEST(a_table_that_is_full_watches_no_more)
{
    static uint8_t bytes[64];
    static u9i_guarded *all[20000];
    size_t n = 0;
    ck_assert_int_eq(u9_guard_install(), U9_OK);
    while (n < 20000 && (all[n] = u9i_guard_watch(bytes, sizeof bytes)) != NULL) n++;
    ck_assert_uint_ge(n, 1000);
    ck_assert_uint_lt(n, 20000);
    u9i_guard_leave(all[0]);
    all[0] = u9i_guard_watch(bytes, sizeof bytes);
    ck_assert_ptr_nonnull(all[0]);
    while (n > 0) u9i_guard_leave(all[--n]);
}
END_TEST

static volatile sig_atomic_t met, met_code;

/* The host's own: gives the page what it lacks. */
static void host_handler(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    met++;
    met_code = info->si_code;
    if (info->si_code <= 0) return;
    void *at = (void *)((uintptr_t)info->si_addr / (uintptr_t)page * (uintptr_t)page);
    (void)mmap(at, (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

START_TEST(a_foreign_sigbus_reaches_the_handler_that_was_there)
{
    if (u9i_guard_ready()) return; /* CK_FORK=no, U9_GUARD */
    struct sigaction host = {.sa_sigaction = host_handler, .sa_flags = SA_SIGINFO};
    ck_assert_int_eq(sigaction(SIGBUS, &host, NULL), 0);
    const volatile uint8_t *ours = map_ones(2, 0), *foreign = map_ones(2, 0);
    ck_assert_int_eq(u9_guard_install(), U9_OK);
    ck_assert_int_eq(u9_guard_install(), U9_OK); /* once more: nothing */
    u9i_guarded *g = watch(ours, 2);
    ck_assert_uint_eq(ours[0], 0);
    ck_assert_int_eq(met, 0);
    ck_assert_uint_eq(foreign[0], 0);
    ck_assert_int_eq(met, 1);
    ck_assert_int_gt(met_code, 0);
    ck_assert_int_eq(kill(getpid(), SIGBUS), 0);
    ck_assert_int_eq(met, 2);
    ck_assert_int_le(met_code, 0);
    u9i_guard_leave(g); /* from here on it is foreign, too */
    ck_assert_uint_eq(ours[page], 0);
    ck_assert_int_eq(met, 3);
}
END_TEST

static void plain_handler(int sig)
{
    met += sig == SIGBUS;
}

START_TEST(a_handler_without_details_is_called_as_it_was)
{
    if (u9i_guard_ready()) return; /* CK_FORK=no, U9_GUARD */
    struct sigaction host = {.sa_handler = plain_handler};
    ck_assert_int_eq(sigaction(SIGBUS, &host, NULL), 0);
    ck_assert_int_eq(u9_guard_install(), U9_OK);
    ck_assert_int_eq(kill(getpid(), SIGBUS), 0);
    ck_assert_int_eq(met, 1);
}
END_TEST

/* What a process does with a SIGBUS that is not the guard's ends it, or not, with or without the guard. */
static int end_of_child(void (*disposition)(int), bool sent)
{
    fflush(NULL);
    pid_t pid = fork_child();
    if (pid == 0) {
        const volatile uint8_t *foreign = map_ones(1, 0);
        signal(SIGBUS, disposition);
        if (u9_guard_install() != U9_OK) _exit(1);
        if (sent) (void)kill(getpid(), SIGBUS);
        else (void)foreign[0];
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

START_TEST(without_a_handler_before_it_a_foreign_sigbus_ends_the_process)
{
    if (u9i_guard_ready()) return; /* CK_FORK=no, U9_GUARD */
    ck_assert_int_eq(end_of_child(SIG_DFL, false), SIGBUS);
    ck_assert_int_eq(end_of_child(SIG_DFL, true), SIGBUS);
    ck_assert_int_eq(end_of_child(SIG_IGN, false),
                     SIGBUS); /* the kernel would not ignore it either */
    ck_assert_int_eq(end_of_child(SIG_IGN, true), 0);
}
END_TEST

START_TEST(behind_another_handler_nothing_new_is_watched)
{
    ck_assert_int_eq(u9_guard_install(), U9_OK);
    const volatile uint8_t *map = map_ones(1, 1);
    struct sigaction host = {.sa_sigaction = host_handler, .sa_flags = SA_SIGINFO}, guard;
    ck_assert_int_eq(sigaction(SIGBUS, &host, &guard), 0);
    ck_assert_ptr_null(u9i_guard_watch((const void *)(uintptr_t)map, (size_t)page));
    ck_assert_int_eq(sigaction(SIGBUS, &guard, NULL), 0);
    u9i_guard_leave(watch(map, 1));
}
END_TEST

START_TEST(a_forked_child_has_the_guard_and_notes_for_itself)
{
    const volatile uint8_t *map = map_ones(2, 0);
    ck_assert_int_eq(u9_guard_install(), U9_OK);
    u9i_guarded *g = watch(map, 2);
    fflush(NULL);
    pid_t pid = fork_child();
    if (pid == 0) {
        CHILD_EXPECT(map[0] == 0);
        CHILD_EXPECT(u9i_guard_broken(g));
        u9i_guard_leave(g);
        _exit(0);
    }
    expect_child(pid);
    ck_assert(!u9i_guard_broken(g));
    ck_assert_uint_eq(map[page], 0);
    ck_assert(u9i_guard_broken(g));
    u9i_guard_leave(g);
}
END_TEST

enum { THREADS = 4, PAGES = 64 };

typedef struct crowd {
    const volatile uint8_t *map;
    u9i_guarded *guarded;
    pthread_barrier_t start;
    atomic_uint wrong;
} crowd;

/* All go over all pages at once; each also makes mappings of its own come and go. */
static void *run_over(void *ctx)
{
    crowd *c = ctx;
    static uint8_t others[64];
    pthread_barrier_wait(&c->start);
    for (unsigned i = 0; i < PAGES; i++) {
        u9i_guarded *own = u9i_guard_watch(others, sizeof others);
        bool zero = c->map[i * (size_t)page] == 0, noted = u9i_guard_broken(c->guarded);
        if (!zero || !noted || own == NULL || u9i_guard_broken(own)) c->wrong++;
        if (own) u9i_guard_leave(own);
    }
    return NULL;
}

START_TEST(threads_that_meet_the_same_pages_all_see_that_they_are_not_there)
{
    pthread_t threads[THREADS];
    crowd c = {.map = map_ones(PAGES, 0)};
    ck_assert_int_eq(u9_guard_install(), U9_OK);
    c.guarded = watch(c.map, PAGES);
    pthread_barrier_init(&c.start, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_over, &c), 0);
    for (unsigned i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_uint_eq(c.wrong, 0);
    u9i_guard_leave(c.guarded);
    pthread_barrier_destroy(&c.start);
}
END_TEST

Suite *suite_guard(void)
{
    Suite *suite = suite_create("guard");
    TCase *tc = tcase_create("guard");
    tcase_add_checked_fixture(tc, setup, fixture_teardown);
    tcase_add_test(tc, without_a_guard_nothing_is_watched);
    tcase_add_test(tc, a_guard_that_cannot_be_installed_is_none_and_can_be_tried_again);
    tcase_add_test(tc, a_page_behind_the_end_of_its_file_is_zeros_and_a_note);
    tcase_add_test(tc, what_broke_in_one_mapping_is_not_told_of_the_next_in_its_place);
    tcase_add_test(tc, a_table_that_is_full_watches_no_more);
    tcase_add_test(tc, a_foreign_sigbus_reaches_the_handler_that_was_there);
    tcase_add_test(tc, a_handler_without_details_is_called_as_it_was);
    tcase_add_test(tc, without_a_handler_before_it_a_foreign_sigbus_ends_the_process);
    tcase_add_test(tc, behind_another_handler_nothing_new_is_watched);
    tcase_add_test(tc, a_forked_child_has_the_guard_and_notes_for_itself);
    tcase_add_test(tc, threads_that_meet_the_same_pages_all_see_that_they_are_not_there);
    suite_add_tcase(suite, tc);
    return suite;
}
