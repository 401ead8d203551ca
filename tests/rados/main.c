/*
 * tests/rados/main.c: u9radostests: starts a Ceph cluster of its own, runs the suites against it, stops it.
 *
 *     u9radostests                                  all
 *     u9radostests --writer ADDRESS FIRST COUNT     what fixture.c's begin_writer runs
 *     u9radostests --appenders ADDRESS THREADS FIRST    what test_failures.sh runs
 *     u9radostests --numbers ADDRESS COUNT          identifiers under a number of that address: test_numbers.c
 *     u9radostests --gets ADDRESS COUNT             lookups in a log of random keys: test_engine.sh
 *
 * Exits 0 if all passed, or if there is no cluster to be had, which it says loudly; U9_RADOS=1 in the environment makes
 * that a failure. U9_RADOS_ROUNDS: how often a writer is killed, or stopped. Check's own switches work as it documents them.
 */
#include "tests/rados/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char dir[480];
    const char *tmp = getenv("U9_TEST_DIR"), *must = getenv("U9_RADOS");
    if (argc == 5 && strcmp(argv[1], "--writer") == 0)
        return run_writer(argv[2], (unsigned)strtoul(argv[3], NULL, 10), (unsigned)strtoul(argv[4], NULL, 10));
    if (argc == 5 && strcmp(argv[1], "--appenders") == 0)
        return run_appenders(argv[2], (unsigned)strtoul(argv[3], NULL, 10), (unsigned)strtoul(argv[4], NULL, 10));
    if (argc == 4 && strcmp(argv[1], "--numbers") == 0) return run_numbers(argv[2], (unsigned)strtoul(argv[3], NULL, 10));
    if (argc == 4 && strcmp(argv[1], "--gets") == 0) return run_gets(argv[2], (unsigned)strtoul(argv[3], NULL, 10));
    snprintf(dir, sizeof dir, "%s/cluster", tmp ? tmp : "build/tmp");
    bool have = rados_start(dir);
    int failed = must && strcmp(must, "1") == 0;
    if (have) {
        SRunner *runner = srunner_create(suite_rados_files());
        srunner_add_suite(runner, suite_rados_fence());
        srunner_add_suite(runner, suite_rados_numbers());
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
    } else {
        puts("== u9radostests: ALL SKIPPED: there is no Ceph cluster here, see above ==");
    }
    rados_stop();
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
