/*
 * format/frame/line.h: plain memory as one line of words that is kept or sent elsewhere: a mark [M-7], a range of a
 * plan [P-5], a saved cursor.
 *
 *     NAME1 FIELD ... FIELD CHECK
 *
 * NAME1 is what it is and the version, a field 16 bytes in lower-case hex or a decimal number, the check the first 4
 * bytes of H(all that stands in front of it, the blank included). A value has exactly one line. Any thread.
 */
#ifndef U9I_LINE_H
#define U9I_LINE_H

#include <u9/err.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A field: 16 bytes in hex, or a decimal number. */
typedef struct u9i_line_field {
    const char *name;
    size_t at; /* in the memory */
    bool hex;
} u9i_line_field;

typedef struct u9i_line_kind {
    const char *name; /* the first word, without the version */
    const char *what; /* "a mark" */
    const char *rule;
    const u9i_line_field *fields;
    size_t count;
} u9i_line_kind;

/* Fills `out`, which has room for all of it and a NUL, and returns it. */
const char *u9i_line_format(const u9i_line_kind *kind, const void *memory, char *out);

/*
 * Takes a line apart into `memory`, which may be half filled on failure; one newline at its end is passed over.
 * U9_ARG, U9_VERSION, with the byte and the field in the fault.
 */
U9_MUST_CHECK u9_err u9i_line_parse(const u9i_line_kind *kind, const char *line, size_t size, void *memory,
                                    u9_fault *fault);

/* A field's value that cannot be. Returns U9_ARG. */
u9_err u9i_line_refuse(const u9i_line_kind *kind, size_t at, const char *name, const char *what, u9_fault *fault);

#endif
