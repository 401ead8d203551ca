/*
 * u9/lookup.h: more than one record by key: many keys at once, all versions of one (SPEC.md, K-1 to K-3). One key,
 * the newest record: u9_log_get in u9/log.h.
 */
#ifndef U9_LOOKUP_H
#define U9_LOOKUP_H

#include <u9/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One of many lookups. */
typedef struct u9_lookup {
    u9_key key;       /* raw form; borrows */
    void *buf;        /* the record is copied here, */
    size_t cap;       /*   so many bytes at most */
    u9_err err;       /* filled: as u9_log_get returns it for this key */
    u9_record record; /* filled with U9_OK, U9_LIMIT and U9_CORRUPT, as u9_log_get does */
} u9_lookup;

/*
 * Looks up `count` keys, each as u9_log_get does, into its own `err` and `record`. What has to be read from the disk is
 * read for many at once, so 64 of them take about as long as one. U9_OK: each has its answer, which may be U9_ABSENT
 * or U9_CORRUPT.
 * Else the error that ended it, with its detail in `fault`: U9_ARG (a NULL, or one of the keys is none of the log's kind: no
 * key is looked up then), U9_STATE, U9_NOMEM, U9_IO, U9_VERSION; the `err` of lookups that were not answered is the same.
 * Thread-safe.
 */
U9_API U9_MUST_CHECK u9_err u9_log_get_many(u9_log *log, u9_lookup *lookups, size_t count, u9_fault *fault);

/*
 * Told of one version; `record` borrows until it returns. One of over U9_RECORD_MAX bytes has no `bytes` and `values`:
 * u9_record_open (u9/large.h) has them. Anything but 0 ends the call. It may read from the log, and must not close it.
 */
typedef int u9_version_fn(void *ctx, const u9_record *record);

/*
 * Calls `each` for every record with this key, the oldest first, as the log is when it is called. Returns U9_OK if there
 * are any, or `each` ended it; U9_ABSENT: there are none; U9_CORRUPT: records were lost to damage, and some of them may
 * have had this key (those that are left were told); U9_ARG, U9_STATE, U9_IO, U9_NOMEM, U9_VERSION, and for writers
 * U9_POISONED: what was appended is written first. The detail is in `fault`. Thread-safe.
 */
U9_API U9_MUST_CHECK u9_err u9_log_versions(u9_log *log, const u9_key *key, u9_version_fn *each, void *ctx, u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
