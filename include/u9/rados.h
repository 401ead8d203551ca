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
 * a quota), before records are taken. Threads: as libu9. A connection runs threads of librados until the process ends. A
 * process that forks goes on in both; the child opens its logs anew.
 */
#ifndef U9_RADOS_H
#define U9_RADOS_H

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

#ifdef __cplusplus
}
#endif
#endif
