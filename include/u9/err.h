/*
 * u9/err.h: what went wrong, and where.
 *
 * Room: include
 * Sees: nothing
 *
 * The room is what a host sees: every type and function that is promised to stay.
 *
 * Every fallible function of the library returns a u9_err. Zero is success, positive values are
 * ordinary outcomes, negative values are errors. The numbers are pinned: they never change and are
 * never reused. The library prints nothing and never exits.
 */
#ifndef U9_ERR_H
#define U9_ERR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define U9_API __attribute__((visibility("default")))
#define U9_MUST_CHECK __attribute__((warn_unused_result))
#else
#define U9_API
#define U9_MUST_CHECK
#endif

typedef enum u9_err {
    U9_OK = 0,
    U9_END = 1,        /* no more records, elements, bytes */
    U9_AGAIN = 2,      /* not now: not yet durable, or more input is needed */
    U9_ABSENT = 3,     /* no record has this key; no log is here; what comes next was trimmed */
    U9_ARG = -1,       /* an argument is outside its documented range */
    U9_NOMEM = -2,     /* memory could not be had */
    U9_IO = -3,        /* the system refused: see u9_fault.sys (ENOENT, EACCES, ENOSPC, EIO ...) */
    U9_CORRUPT = -4,   /* bytes that were promised durable are damaged, or bytes break the format */
    U9_TORN = -5,      /* bytes end early */
    U9_VERSION = -6,   /* well-formed, but from a later version of the format */
    U9_LIMIT = -7,     /* a documented limit is exceeded */
    U9_LOCKED = -8,    /* another writer has the log */
    U9_STATE = -9,     /* this call is not allowed now (read-only handle, after fork, ...) */
    U9_POISONED = -10  /* an earlier write or sync failed: this writer is dead, reads go on */
} u9_err;

/* Values of u9_fault.offset and u9_fault.segment where there is none. */
#define U9_NOWHERE UINT64_MAX

/*
 * The detail behind an error. Plain memory without pointers: copy it, keep it. Functions that take
 * a `u9_fault *` fill it only when they return an error, and accept NULL.
 */
typedef struct u9_fault {
    u9_err err;       /* the class: what the function returned */
    int sys;          /* errno of the failed system call, 0 if none */
    uint64_t segment; /* number of the segment, U9_NOWHERE if none */
    uint64_t offset;  /* byte offset in that file, or without a path in the caller's bytes; U9_NOWHERE if none */
    char rule[8];     /* the rule of SPEC.md or SPEC-values.md that was broken ("F-7"), or "" */
    char path[256];   /* the file or directory; cut on the left if longer */
    char text[256];   /* one sentence: what is wrong */
} u9_fault;

/* The name of an error number ("CORRUPT"), "?" for an unknown one. Static; thread-safe. */
U9_API const char *u9_err_name(u9_err err);

/*
 * Renders a fault as one line without newline: "path: offset N: sentence (system error) [RULE]".
 * Writes at most `size` bytes including the NUL and returns `out`. Thread-safe.
 */
U9_API const char *u9_fault_line(const u9_fault *fault, char *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
