/*
 * format/id/kind.h: key kinds taken apart, and keys as the values that stand in records. [L-6]
 */
#ifndef U9I_KIND_H
#define U9I_KIND_H

#include <u9/key.h>

typedef enum u9i_kind_type {
    U9I_KIND_MUID = 1,
    U9I_KIND_GID,
    U9I_KIND_TID,
    U9I_KIND_UID8,
    U9I_KIND_RKEY
} u9i_kind_type;

typedef struct u9i_kind {
    u9i_kind_type type;
    u9_gid_type gid;   /* GID */
    u9_rkey_rule rule; /* RKEY; a literal borrows from the kind's text */
} u9i_kind;

U9_MUST_CHECK u9_err u9i_kind_parse(const char *text, size_t size, u9i_kind *out, u9_id_reason *why);

/* Checks a raw key. */
U9_MUST_CHECK u9_err u9i_kind_fits(const u9i_kind *kind, const void *raw, size_t size,
                                   u9_id_reason *why);

/* Bytes of a raw key of `size` bytes as the value that stands in a record. */
size_t u9i_kind_value_size(const u9i_kind *kind, size_t size);

/* Writes a raw key as a value; returns u9i_kind_value_size(kind, size). */
size_t u9i_kind_encode(const u9i_kind *kind, const void *raw, size_t size, uint8_t *out);

#endif
