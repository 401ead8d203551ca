/*
 * u9/rados.h: logs in a Ceph cluster (libu9-rados): each a directory of objects in a pool.
 *
 *     u9_err err = u9_store_add(u9_rados_store, &fault);      // once
 *     err = u9_log_open("rados:POOL/NAME?conf=/etc/ceph/ceph.conf", &options, &log, &fault);
 *
 * From then on every call of libu9 that takes the path of a log takes such an address. The tools load this library when
 * they meet one. NAME may have several parts (`a/b`), as a path in the pool's namespace. Options behind the name (an
 * address without any means those of the first address of its pool in this process):
 *
 *   conf=FILE      the cluster's configuration (else what librados looks for by itself: CEPH_CONF, /etc/ceph/ceph.conf)
 *   namespace=NS   of the pool, which keeps its logs apart from all else there (u9)
 *   timeout=S      seconds, 1 .. 3600: no request to the cluster takes longer (30); then it has failed (ETIMEDOUT)
 *   lease=S        seconds, 0.5 .. 3600: for how long a writer that is not heard of keeps the log (10)
 *   wait=S         seconds, 0 .. 3600: how long opening for writing waits for a log that another has (0); the lease and two
 *                  seconds more is what it takes to follow a writer that was killed
 *   grace=S        seconds, 0 .. 86400: how long the objects of a file that was removed stay for who reads it (60)
 *
 * A write that is acknowledged is on all copies that the pool keeps. One writer has a log: it renews its lease, and each
 * of its writes carries a proof that the object daemons check, so that one which was stopped or cut off, and whose log
 * somebody else has taken over, changes nothing any more: its calls return U9_POISONED, and the sentence says who has the
 * log. SPEC-rados.md tells the layout and the protocol.
 *
 * Errors that come from the cluster name the pool and the object. A pool that is full is U9_IO with sys ENOSPC (EDQUOT by
 * a quota), before records are taken. Threads: as libu9. A connection runs threads of librados until exit(), which ends
 * those of which all logs are closed; one with a log that is open then may crash the process in its last moment. A process
 * that forks goes on in both; the child opens its logs anew.
 */
#ifndef U9_RADOS_H
#define U9_RADOS_H

#include <u9/generator.h>
#include <u9/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what libu9-rados offers, as U9_API does for libu9. */
#if defined(__GNUC__)
#define U9_RADOS_API __attribute__((visibility("default")))
#else
#define U9_RADOS_API
#endif

/*
 * For u9_store_add, and for nothing else. NULL: this library and libu9 are not of one version, or not of one build.
 */
U9_RADOS_API const u9_store *u9_rados_store(const u9_store_host *host);

/*
 * Generator numbers for eight-byte identifiers (u9/generator.h), shared by all who name the same place of one cluster:
 * each number is an object, which who uses it has locked for the time of the lease (the address's `lease`, 10 s) and
 * renews it in a thread of its own. A holder that cannot renew stops before anybody else can have its number; and in the
 * object stands a bound above which none of its identifiers is, and above which the next holder begins, so that two never
 * make one, whatever becomes of leases and clocks (SPEC-rados.md, RD-10 and RD-11).
 */
typedef struct u9_rados_numbers u9_rados_numbers; /* opaque; constant once made, so any thread may use it */

typedef struct u9_rados_numbers_options {
    size_t size;      /* sizeof(u9_rados_numbers_options) */
    uint32_t cluster; /* 0 .. 15: of the identifiers; each has numbers of its own */
    uint32_t first;   /* of the numbers to be given out, and how many, all of them below 2048; */
    uint32_t count;   /* 0: all from `first` on */
} u9_rados_numbers_options;

/*
 * Makes a source. `address` is rados:POOL/NAME with the options above; NAME, of 1 to 36 characters, is one for all who
 * share numbers, and no log's. u9_store_add(u9_rados_store) comes first. Nothing is asked of the cluster yet. Borrows its
 * arguments for the call; `options` may be NULL. The caller frees it with u9_rados_numbers_free when all logs that use it
 * are closed; several may, each gets another number. Errors: U9_ARG, U9_NOMEM, U9_STATE (no u9_store_add).
 */
U9_RADOS_API U9_MUST_CHECK u9_err u9_rados_numbers_new(const char *address, const u9_rados_numbers_options *options,
                                                       u9_rados_numbers **out, u9_fault *fault);
U9_RADOS_API void u9_rados_numbers_free(u9_rados_numbers *numbers); /* NULL is fine */

/*
 * It as a source for u9_options.numbers; borrows `numbers`. Its acquire tries the numbers from one drawn on, a request
 * each, and waits for one as long as the address's `wait` says (0 s): U9_AGAIN then; U9_IO (sys: ETIMEDOUT ...). Its
 * renew asks nobody, unless keys run ahead of the clock by more than the lease; U9_AGAIN when the lease is over. Its
 * release takes three requests at most.
 */
U9_RADOS_API u9_generator u9_rados_numbers_generator(u9_rados_numbers *numbers);

#ifdef __cplusplus
}
#endif
#endif
