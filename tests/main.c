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
#include <u9/store.h>

#include <dlfcn.h>
#include <malloc.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

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

/*
 * LeakSanitizer, where it is, reads all static memory at the end of each of some thousand processes: 90 MB, most of it
 * buffers that a test has not touched. In large pages those are a few faults in place of twenty thousand.
 */
void __lsan_do_leak_check(void) __attribute__((weak));
extern char __bss_start[], _end[];

static void enlarge_pages(void)
{
    uintptr_t large = 2 << 20, from = ((uintptr_t)__bss_start + large - 1) / large * large, to = (uintptr_t)_end / large * large;
    if (__lsan_do_leak_check && from < to) (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

/*
 * What a test tells, Check writes into a file that it makes and removes for each one (the linker leads it here): in memory,
 * as a file system has much to do with thousands of files that come and go.
 */
int __wrap_mkstemp(char *path);
int __wrap_mkstemp(char *path)
{
    (void)path;
    return memfd_create("check", MFD_CLOEXEC);
}

/*
 * A test is a process of its own: what OpenSSL sets up when it is first used (2 ms: its configuration, its list of
 * algorithms) is done once, in the process that they are forked from; and none of them takes it down again. The suite hash
 * comes to it before its first use.
 */
static void warm_up(void)
{
    uint8_t sum[SHA256_DIGEST_LENGTH];
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    (void)SHA256((const uint8_t *)"", 0, sum);
}

/* What a forked child has run is counted, too, in a build that counts. It ends by this, and not by exit(); or by a signal. */
void __gcov_dump(void) __attribute__((weak));
_Noreturn void __real__exit(int status) __attribute__((weak));
_Noreturn void __wrap__exit(int status);
int __real_raise(int sig) __attribute__((weak));
int __wrap_raise(int sig);

/* Whatever limit a test has set on files. */
static void dump_counters(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_FSIZE, &limit);
    }
    __gcov_dump();
}

_Noreturn void __wrap__exit(int status)
{
    dump_counters();
    __real__exit(status);
}

int __wrap_raise(int sig)
{
    dump_counters();
    return __real_raise(sig);
}

/* U9_IO may be an address in a store, below which all logs of the tests stand: `make test-rados`. */
static int add_store(const char *io)
{
    char path[4096];
    u9_store_fn *store;
    const char *folder = getenv("U9_BIN_DIR");
    snprintf(path, sizeof path, "%s/libu9-rados.so.0", folder ? folder : ".");
    void *library = io && strchr(io, ':') ? dlopen(path, RTLD_NOW) : NULL;
    if (io == NULL || strchr(io, ':') == NULL) return 0;
    void *found = library ? dlsym(library, "u9_rados_store") : NULL;
    memcpy(&store, &found, sizeof store);
    if (found && u9_store_add(store, NULL) == U9_OK) return 0;
    fprintf(stderr, "u9tests: %s cannot be had: %s\n", path, library ? "not of this version" : dlerror());
    return 1;
}

int main(int argc, char **argv)
{
    keep_memory();
    enlarge_pages();
    if (argc > 2) return usage();
    if (argc == 2 && strcmp(argv[1], "--list") == 0) return list();

    if (add_store(getenv("U9_IO")) != 0) return 1;
    if (getenv("U9_GUARD") && u9_guard_install() != U9_OK) return 1; /* for whoever wants all suites to read mapped segments */
    SRunner *runner = srunner_create(NULL);
    int chosen = 0, cold = 0;
    for (size_t i = 0; i < SUITE_COUNT; i++) {
        if (argc == 2 && strcmp(argv[1], suites[i].name) != 0) continue;
        srunner_add_suite(runner, suites[i].make());
        cold |= suites[i].make == suite_hash;
        chosen++;
    }
    if (chosen == 0) {
        srunner_free(runner);
        return usage();
    }

    if (!cold) warm_up();
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
