/*
 * u9/generator.h: where the number comes from under which a log makes eight-byte keys (SPEC-values.md, I-17,
 * I-23, I-24).
 *
 * Keys of kind uid8 are unique as long as no two writers use one generator number in one cluster at a time.
 * A log is told its number once (u9_options.generator), or asks a u9_generator for one, and asks again when
 * it is over: three functions, which a host may write itself. Ready-made are a lock file, for the logs of one
 * machine (below), and ZooKeeper (u9_zk_generator, u9/zk.h).
 */
#ifndef U9_GENERATOR_H
#define U9_GENERATOR_H

#include <u9/err.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number that nobody else uses from when acquire gave it until it is released or found to be over. */
typedef struct u9_grant {
    uint32_t generator; /* 0 .. 2047 */
    uint32_t cluster;   /* 0 .. 15 */
    uint64_t seen_ms;   /* keys under it are above this millisecond since 1970; 0: above any. (They are above
                         * that of acquire's return and all of the log's own in any case.) */
    uint64_t serial;    /* for acquire to fill as it likes: which grant this is */
} u9_grant;

/*
 * A source of numbers. A log acquires when it has to make a key and has no grant, renews it for each append
 * that made some, and releases each grant once: when it was found to be over, or the log is closed.
 *
 * There is no time in a grant: a source that lends for a while knows by its own clock, which must go on while
 * the machine sleeps, whether the while is over, and says so in renew.
 *
 * Threads: a log calls acquire from one thread at a time, never together with renew or release, from any
 * thread that appends. A source that several logs share must take calls from all of them at once, and give
 * each another number. Nothing is called in a forked child. No function may call the log.
 */
typedef struct u9_generator {
    size_t size; /* sizeof(u9_generator) */
    void *ctx;   /* their first argument; borrowed until the log is closed */
    /*
     * Fills `*out`. May wait: appends that need a key wait with it, all else of the log goes on. Fails with
     * U9_AGAIN (there is none now) or another error below 0: the append that needed a key fails so, with
     * `fault` if it is filled; nothing was appended, and the next one asks again.
     */
    u9_err (*acquire)(void *ctx, u9_grant *out, u9_fault *fault);
    /*
     * Keys were made under the grant, up to the millisecond `last_ms`, and nobody has seen them yet. U9_OK:
     * it has been held all the time, and goes on: they are used. U9_AGAIN: it is over: they are forgotten, and
     * made again under another grant, three times at most for one append. Another error: they are forgotten,
     * and the append fails so; the next one acquires. Should not wait: the log does meanwhile.
     */
    u9_err (*renew)(void *ctx, const u9_grant *grant, uint64_t last_ms, u9_fault *fault);
    /* The grant is not used any more. `last_ms`: of the last key that was used under it; 0: none was. */
    void (*release)(void *ctx, const u9_grant *grant, uint64_t last_ms);
} u9_generator;

/*
 * A file by which the processes of one machine share the numbers of a cluster: each grant is a lock on eight
 * bytes of it, which goes with the process that holds it, however that ends; in them stands up to which
 * millisecond keys may have been made [I-24]. Numbers are unique among those who name the same file. For
 * several machines give each a cluster of its own, or a range of numbers.
 */
typedef struct u9_lock_file u9_lock_file; /* opaque; constant once made, so any thread may use it */

typedef struct u9_lock_file_options {
    size_t size;      /* sizeof(u9_lock_file_options) */
    const char *path; /* the file: made, readable for all, at the first grant if it is missing; copied */
    uint32_t cluster; /* 0 .. 15 */
    uint32_t first;   /* of the numbers to be given out, and how many, all of them below 2048; */
    uint32_t count;   /* 0: all from `first` on */
} u9_lock_file_options;

/*
 * Makes a source. Nothing is opened. U9_ARG, U9_NOMEM. The caller frees it with u9_lock_file_free when all
 * logs that use it are closed; several may, each gets another number.
 */
U9_API U9_MUST_CHECK u9_err u9_lock_file_new(const u9_lock_file_options *options, u9_lock_file **out,
                                             u9_fault *fault);
U9_API void u9_lock_file_free(u9_lock_file *file); /* NULL is fine */

/*
 * It as a source for u9_options.numbers; borrows `file`. Its acquire does not wait: U9_AGAIN if all numbers are
 * in use, U9_IO (sys: EACCES, ENOSPC ...), U9_CORRUPT (it is no lock file, or damaged: it is not written to). It takes
 * the lowest free number of which no key can be newer than the clock, else the lowest free one. Its renew tells U9_AGAIN
 * when the file was removed or replaced.
 */
U9_API u9_generator u9_lock_file_generator(u9_lock_file *file);

/*
 * Writes the usual path of the lock file for a log into `out`, `size` bytes: `.u9-numbers` in the directory that
 * holds the log's, by the path alone: the log need not be there. U9_LIMIT: it does not fit; U9_ARG: the log's path is empty.
 */
U9_API U9_MUST_CHECK u9_err u9_lock_file_beside(const char *log, char *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
