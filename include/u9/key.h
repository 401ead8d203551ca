/*
 * u9/key.h: the keys of a log, by its key kind (SPEC.md, L-6).
 *
 * A log has one key kind, fixed when it is made and named by a text:
 *
 *   muid                          16 packed bytes (the default)
 *   gid:volume gid:log gid:segment  16 packed bytes
 *   tid                           8 packed bytes
 *   uid8                          8 packed bytes
 *   rkey                          1 to 512 characters: any record key
 *   rkey:tid                      13 characters: a record key with the syntax of a TID
 *   rkey:literal:VALUE            exactly VALUE
 *
 * A key has a raw form (the bytes of the second column) and a text, which for record keys is the
 * same. All functions are pure and thread-safe; what is refused leaves the out-parameters as they
 * were, is U9_ARG, and sets `*why` (may be NULL). An unknown kind is U9_ARG with
 * U9_KIND_UNKNOWN or, where a part of it is wrong, with that part's reason.
 */
#ifndef U9_KEY_H
#define U9_KEY_H

#include <u9/err.h>
#include <u9/id.h>

#ifdef __cplusplus
extern "C" {
#endif

#define U9_KEY_SIZE_MAX 512  /* bytes of a raw key, and characters of its text */
#define U9_KIND_SIZE_MAX 525 /* characters of a kind: "rkey:literal:" and 512 more */

/* Checks that `kind`, `size` characters, names a key kind. */
U9_API U9_MUST_CHECK u9_err u9_kind_check(const char *kind, size_t size, u9_id_reason *why);

/* Checks that `raw`, `size` bytes, is a key of this kind (NUL-terminated). */
U9_API U9_MUST_CHECK u9_err u9_key_check(const char *kind, const void *raw, size_t size,
                                         u9_id_reason *why);

/* Reads a key's text, `size` characters, into its raw form and sets `*raw_size`. Strict. */
U9_API U9_MUST_CHECK u9_err u9_key_parse(const char *kind, const char *text, size_t size,
                                         uint8_t raw[U9_KEY_SIZE_MAX], size_t *raw_size,
                                         u9_id_reason *why);

/* Prints the text of a raw key and a NUL. */
U9_API U9_MUST_CHECK u9_err u9_key_format(const char *kind, const void *raw, size_t size,
                                          char out[U9_KEY_SIZE_MAX + 1], u9_id_reason *why);

#ifdef __cplusplus
}
#endif
#endif
