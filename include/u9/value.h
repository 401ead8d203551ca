/*
 * u9/value.h: utf9 values (SPEC.md, V-*): bytes that describe themselves, used in place.
 *
 * Reading: a u9_value is a small view that borrows the caller's bytes; nothing is unpacked, copied
 * or allocated. Untrusted bytes are safe: every length is checked against the buffer before use.
 * Writing: a u9_builder fills the caller's buffer with values in their shortest form.
 * All functions are pure and thread-safe on distinct objects.
 */
#ifndef U9_VALUE_H
#define U9_VALUE_H

#include <u9/err.h>

#ifdef __cplusplus
extern "C" {
#endif

#define U9_DEPTH_MAX 64 /* containers within containers that u9_value_check accepts */

/* What a value is. Several bytecodes may stand for one type: `0x00`..`0x03` and fixint are UINT. */
typedef enum u9_type {
    U9_UINT = 1, /* uint8..uint64, fixint: u9_value.u */
    U9_INT,      /* int8..int64: u9_value.i */
    U9_FLOAT32,  /* u9_value.f */
    U9_FLOAT64,  /* u9_value.f */
    U9_SYMBOL,   /* 8 bytes, NUL padded: u9_value.data, size 8 */
    U9_PIDFD,    /* u9_value.pidfd */
    U9_ALPHA,
    U9_OMEGA,
    U9_IOTA,
    U9_KAPPA,
    U9_TAU0,
    U9_TAU,   /* u9_value.u */
    U9_UTF8,  /* u9_value.data, size: bytes, not checked to be UTF-8 (see u9_value_check) */
    U9_BYTES, /* u9_value.data, size */
    U9_TUPLE, /* u9_value.data, size: the elements back to back; count: how many are claimed */
    U9_ARRAY  /* u9_value.data, size: typecode and elements; count: how many are claimed */
} u9_type;

#define U9_COUNT_UNKNOWN UINT64_MAX

typedef struct u9_value {
    u9_type type;
    uint8_t code;         /* the bytecode that stood there */
    const uint8_t *start; /* the value's first byte; borrows the caller's buffer */
    size_t encoded;       /* bytes from start to the value's end */
    const uint8_t *data;  /* SYMBOL, UTF8, BYTES, TUPLE, ARRAY: contents; else NULL */
    uint64_t size;        /* bytes at data */
    uint64_t count;       /* TUPLE, ARRAY: number of elements */
    union {
        uint64_t u;
        int64_t i;
        double f;
        struct {
            uint32_t pid, fd;
        } pidfd;
    };
} u9_value;

/*
 * Looks at the value that begins at `bytes`, of which `size` bytes may be read. Containers are not
 * entered. U9_TORN: the value passes the end of the buffer; U9_CORRUPT: a reserved bytecode;
 * U9_VERSION: a container index, which this version does not read. `out` is untouched on failure.
 */
U9_API U9_MUST_CHECK u9_err u9_value_decode(const void *bytes, size_t size, u9_value *out);

/* Walks the elements of a tuple, or any values that stand back to back. */
typedef struct u9_walk {
    const uint8_t *next; /* borrows */
    size_t left;         /* bytes */
} u9_walk;

/* Begins a walk over the elements of `tuple` (type U9_TUPLE). */
U9_API u9_walk u9_walk_tuple(const u9_value *tuple);

/* Begins a walk over `size` bytes of values back to back. */
U9_API u9_walk u9_walk_bytes(const void *bytes, size_t size);

/* The next value: U9_OK, U9_END behind the last one, or what u9_value_decode returns. */
U9_API U9_MUST_CHECK u9_err u9_walk_next(u9_walk *walk, u9_value *out);

/*
 * Proves that `bytes` are exactly one well-formed value, nested ones included: lengths, reserved
 * bytecodes, element counts, depth (U9_LIMIT beyond U9_DEPTH_MAX). `fault` (may be NULL) names the
 * offset and the rule. `*bad_utf8` (may be NULL) is set to the offset of the first utf8 value that
 * is not valid UTF-8, or U9_NOWHERE: such bytes are kept as they are and are no error.
 * Iterative; O(size) time, constant memory.
 */
U9_API U9_MUST_CHECK u9_err u9_value_check(const void *bytes, size_t size, uint64_t *bad_utf8,
                                           u9_fault *fault);

/* True if `size` bytes are valid UTF-8 (RFC 3629: no surrogates, shortest form, up to U+10FFFF). */
U9_API int u9_utf8_valid(const void *bytes, size_t size);

/*
 * Fills a caller's buffer with values. All u9_build_ functions write the shortest form and return
 * U9_LIMIT when the buffer is full: nothing is written then, and `size` goes on counting, so that
 * after a whole run `size` is the room that would have been needed.
 */
typedef struct u9_builder {
    uint8_t *bytes; /* borrows; may be NULL when cap is 0: counting only */
    size_t cap;     /* bytes at `bytes` */
    size_t size;    /* bytes written, or needed once larger than cap */
    unsigned depth; /* open tuples */
    struct {
        size_t at;      /* where the open tuple's header begins */
        uint64_t count; /* elements so far */
    } open[U9_DEPTH_MAX];
} u9_builder;

U9_API void u9_builder_init(u9_builder *b, void *bytes, size_t cap);

U9_API U9_MUST_CHECK u9_err u9_build_uint(u9_builder *b, uint64_t v);
/* Values >= 0 are written as the shortest unsigned form: integers of all widths are one domain. */
U9_API U9_MUST_CHECK u9_err u9_build_int(u9_builder *b, int64_t v);
U9_API U9_MUST_CHECK u9_err u9_build_float32(u9_builder *b, float v);
U9_API U9_MUST_CHECK u9_err u9_build_float64(u9_builder *b, double v);
/* 1 to 8 ASCII characters; U9_ARG otherwise. */
U9_API U9_MUST_CHECK u9_err u9_build_symbol(u9_builder *b, const char *name);
U9_API U9_MUST_CHECK u9_err u9_build_pidfd(u9_builder *b, uint32_t pid, uint32_t fd);
/* One of U9_ALPHA, OMEGA, IOTA, KAPPA, TAU0; U9_ARG otherwise. */
U9_API U9_MUST_CHECK u9_err u9_build_greek(u9_builder *b, u9_type type);
U9_API U9_MUST_CHECK u9_err u9_build_tau(u9_builder *b, uint64_t x);
U9_API U9_MUST_CHECK u9_err u9_build_utf8(u9_builder *b, const void *text, size_t size);
U9_API U9_MUST_CHECK u9_err u9_build_bytes(u9_builder *b, const void *bytes, size_t size);
/* Copies one encoded value as it is (it counts as one element). The caller vouches for it. */
U9_API U9_MUST_CHECK u9_err u9_build_raw(u9_builder *b, const void *value, size_t size);
/* Opens a tuple; what is built until its close is its elements. U9_LIMIT beyond U9_DEPTH_MAX. */
U9_API U9_MUST_CHECK u9_err u9_build_tuple_open(u9_builder *b);
/* Closes the innermost tuple in its shortest form. U9_STATE if none is open. */
U9_API U9_MUST_CHECK u9_err u9_build_tuple_close(u9_builder *b);

#ifdef __cplusplus
}
#endif
#endif
