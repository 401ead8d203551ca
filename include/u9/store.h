/*
 * u9/store.h: logs that live elsewhere than in a directory of this machine.
 *
 * A library beside libu9 brings such a place: libu9-rados (u9/rados.h) those whose path begins with "rados:", libu9-s3
 * (u9/s3.h), for reading, those with "s3://". Once it is added, every call that takes the path of a log takes one of
 * these, too. The tools add it by themselves when they meet such a path.
 */
#ifndef U9_STORE_H
#define U9_STORE_H

#include <u9/err.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct u9_store u9_store;           /* opaque: what such a library gives */
typedef struct u9_store_host u9_store_host; /* opaque: what libu9 lends it */

/* The function that such a library offers for u9_store_add. NULL: it was built for another version of libu9. */
typedef const u9_store *u9_store_fn(const u9_store_host *host);

/*
 * Adds a place for logs, for the life of the process: its paths are taken from now on. Once more is fine. Call it before
 * other threads use libu9. Errors: U9_ARG (NULL), U9_VERSION (it is not of libu9's version), U9_LIMIT (more than 4).
 */
U9_API U9_MUST_CHECK u9_err u9_store_add(u9_store_fn *store, u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
