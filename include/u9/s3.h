/*
 * u9/s3.h: segments of logs in S3 (libu9-s3): a bucket's objects as a directory that is read, and filled by u9_tier.
 *
 *     u9_err err = u9_store_add(u9_s3_store, &fault);      // once
 *     err = u9_tier("log", &(u9_tier_options){.size = sizeof(u9_tier_options), .to = "s3://BUCKET/PREFIX"}, &done, &fault);
 *     err = u9_log_open("s3://BUCKET/PREFIX", NULL, &log, &fault);      // from any machine
 *
 * From then on every call of libu9 that reads a log takes such an address; one that would write it fails (U9_IO, sys EROFS).
 * The tools load this library when they meet one. Options behind the prefix (an address without any means those of the
 * first address of its bucket in this process):
 *
 *   cache=DIR        blocks that were read are kept in this directory, which is made if it is missing, for later
 *                    processes, too (else, or with U9_S3_CACHE empty, in this process's memory)
 *   cache_size=SIZE  bytes that are kept, with K, M or G: 1M .. 1024G (1G on disk, 64M in memory)
 *   timeout=S        seconds, 1 .. 3600: how long a request may move fewer than 4 KiB a second (30)
 *
 * Keys, region and endpoint come from the environment, or the file that AWS_SHARED_CREDENTIALS_FILE names
 * (~/.aws/credentials), section AWS_PROFILE ("default"): AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN;
 * AWS_REGION or AWS_DEFAULT_REGION (us-east-1); AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, for another service than Amazon's,
 * which is then asked for paths /BUCKET/KEY. U9_S3_CACHE and U9_S3_CACHE_SIZE are cache and cache_size for addresses without.
 * They are read anew for each call that asks the service; none of them is told in a message. SPEC-s3.md has the rest.
 *
 * Errors that come from the service name the object, what was asked for, the status and the code. Threads: as libu9.
 */
#ifndef U9_S3_H
#define U9_S3_H

#include <u9/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what libu9-s3 offers, as U9_API does for libu9. */
#if defined(__GNUC__)
#define U9_S3_API __attribute__((visibility("default")))
#else
#define U9_S3_API
#endif

/*
 * For u9_store_add, and for nothing else. NULL: this library and libu9 are not of one version, or not of one build.
 */
U9_S3_API const u9_store *u9_s3_store(const u9_store_host *host);

#ifdef __cplusplus
}
#endif
#endif
