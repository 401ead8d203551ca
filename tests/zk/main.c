/*
 * tests/zk/main.c: u9zktests: starts a ZooKeeper server, runs the suites against it, stops it.
 *
 * Exits 0 if all passed, or if there is no server to be had, which it says loudly; U9_ZOOKEEPER=1
 * in the environment makes that a failure. Check's own switches work as it documents them.
 */
#include "tests/zk/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char dir[512];
    const char *tmp = getenv("U9_TEST_DIR"), *must = getenv("U9_ZOOKEEPER");
    snprintf(dir, sizeof dir, "%s/zk/server", tmp ? tmp : "build/tmp");
    bool have = zkt_server_start(dir);
    int failed = must && strcmp(must, "1") == 0;
    if (have) {
        SRunner *runner = srunner_create(suite_claim());
        srunner_add_suite(runner, suite_hold());
        srunner_add_suite(runner, suite_loss());
        srunner_add_suite(runner, suite_many());
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
    } else {
        puts("== u9zktests: ALL SKIPPED: there is no ZooKeeper server here, see above ==");
    }
    zkt_server_stop();
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
