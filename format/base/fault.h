/*
 * format/base/fault.h: filling a u9_fault in one line.
 *
 * Whoever refuses something fills its fault here: so no field is left over from an earlier one, and a
 * sentence that is too long is cut. Never on the way of success. Any thread, each with a fault of its
 * own.
 */
#ifndef U9I_FAULT_H
#define U9I_FAULT_H

#include <u9/err.h>

/* Where an error happened; zero means "none", but for offset, where U9_NOWHERE does. */
typedef struct u9i_where {
    const char *path;
    uint64_t segment;
    uint64_t offset;
    const char *rule;
    int sys; /* errno */
} u9i_where;

#define U9I_AT_OFFSET(at, ...) (&(u9i_where){.offset = (at), __VA_ARGS__})
#define U9I_AT(...) U9I_AT_OFFSET(U9_NOWHERE, __VA_ARGS__)

/* Fills `fault` (may be NULL) and returns `err`; of U9_IO whose errno is ENOMEM U9_NOMEM: a disk is not at fault. */
u9_err u9i_fault(u9_fault *fault, u9_err err, const u9i_where *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * Called for each fault that has an errno, once it is filled, if it is not NULL: whoever knows more of the last failure
 * (engine/os/store.c) adds that. Set before there are threads.
 */
extern void (*u9i_fault_explain)(u9_fault *fault);

/* Adds to the sentence of a fault (may be NULL) that was filled; what does not fit is cut. */
void u9i_fault_add(u9_fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same as u9i_fault for a plain sentence about bytes: at `offset`, or U9_NOWHERE. */
u9_err u9i_refuse(u9_fault *fault, u9_err err, uint64_t offset, const char *rule, const char *text);

#endif
