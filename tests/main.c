/*
 * tests/main.c: runs the suites of suites.h.
 *
 *     u9tests          all suites
 *     u9tests NAME     only the suite NAME
 *     u9tests --list   prints the names of the suites, one a line
 *
 * Exits 0 if all tests passed, 1 if one failed, 2 if there is no such suite. Check's own switches
 * (CK_FORK, CK_RUN_CASE, CK_TIMEOUT_MULTIPLIER ...) work as it documents them.
 */
#include "tests/suites.h"

#include <u9/guard.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    Suite *(*make)(void);
} suites[] = {
#define SUITE_ROW(name) {#name, suite_##name},
    U9_SUITES(SUITE_ROW)
#undef SUITE_ROW
};

enum { SUITE_COUNT = sizeof suites / sizeof suites[0] };

static int usage(void)
{
    fprintf(stderr, "usage: u9tests [SUITE | --list]\nsuites:");
    for (size_t i = 0; i < SUITE_COUNT; i++) fprintf(stderr, " %s", suites[i].name);
    fprintf(stderr, "\n");
    return 2;
}

static int list(void)
{
    for (size_t i = 0; i < SUITE_COUNT; i++) puts(suites[i].name);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/*
 * Memory that a test frees is kept for its next allocation: buffers of a megabyte, given back and asked for ten thousand
 * times, are pages that the kernel clears ten thousand times, which was half of what some suites took.
 */
static void keep_memory(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the largest that glibc takes */
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

int main(int argc, char **argv)
{
    keep_memory();
    if (argc > 2) return usage();
    if (argc == 2 && strcmp(argv[1], "--list") == 0) return list();

    if (getenv("U9_GUARD") && u9_guard_install() != U9_OK) return 1; /* for whoever wants all suites to read mapped segments */
    SRunner *runner = srunner_create(NULL);
    int chosen = 0;
    for (size_t i = 0; i < SUITE_COUNT; i++) {
        if (argc == 2 && strcmp(argv[1], suites[i].name) != 0) continue;
        srunner_add_suite(runner, suites[i].make());
        chosen++;
    }
    if (chosen == 0) {
        srunner_free(runner);
        return usage();
    }

    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
