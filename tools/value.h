/*
 * tools/value.h: what the parts of `u9 value` share: where bytes and texts come from.
 *
 * Input is read as far as it is needed: a value, or a line, at a time. Each file is a stream of its
 * own.
 */
#ifndef U9_TOOLS_VALUE_H
#define U9_TOOLS_VALUE_H

#include "tools/skip.h"
#include "tools/value_json.h"

enum {
    VALUE_TEXT_MAX = 96 << 20 /* bytes of the text of one value: 6 for each of its own */
};

struct value_ask {
    int text; /* the notation, not JSON */
    int hex;  /* bytes as hex digits */
    int json; /* show: a JSON object a line */
    void *ctx; /* of the step */
    tool_skips *skips; /* encode: lines that are refused */
    char **files;
};

struct value_place {
    uint64_t offset, line, column;
};

/* A file, of which what is not yet used is in memory: `size` bytes at `bytes`. */
struct value_input {
    const char *name;
    int fd;
    int hex; /* what is read are hex digits, blanks, and comments behind `;` */
    uint8_t *bytes;
    size_t size;
    uint64_t offset; /* of the first of them in the stream */
    uint64_t line;   /* of the file, from 1: where hex digits are read, or as the caller counts */
    uint64_t column; /* of the first of the bytes, from 1, where a text is read */
    struct value_place began; /* where the value stands that was looked for last */
    int ended;
    uint8_t *room; /* the buffer, from its start */
    size_t cap;
    int high;    /* the first hex digit of a byte, -1: none */
    int comment; /* not 0: within one */
};

/* A step of a verb on one file. Returns the exit status. */
typedef int value_step(const struct value_ask *ask, struct value_input *in);

/* Does `step` for each file; stops at the first that fails. */
int value_each_file(const struct value_ask *ask, value_step *step);

/* Reads on, until there is at least one byte more or the input has ended. What was printed so far
 * goes out before it has to wait. TOOL_DONE, or the status after saying why. */
int value_more(struct value_input *in);

/* The first `size` of the bytes are used. */
void value_used(struct value_input *in, size_t size);

/*
 * Looks for the value that the input goes on with: whole in memory, proved. U9_OK; U9_END: there is
 * none; else what is wrong with it, in `fault` with file and offset; U9_IO: it was said already,
 * and *status is the exit status.
 */
u9_err value_next(struct value_input *in, u9_value *out, u9_fault *fault, int *status);

/* The same in the text notation: its bytes come into `b`, and are used. U9_OK; U9_END: there is none;
 * U9_IO: what is wrong was said, and *status is the exit status. */
u9_err value_next_text(struct value_input *in, u9_builder *b, int *status);

/* Writes a value: as it is, as a line of hex digits; in the text notation. TOOL_DONE or TOOL_IO. */
int value_put(const struct value_ask *ask, const uint8_t *bytes, size_t size);
int value_put_text(const uint8_t *bytes, size_t size);

/* `u9 value patch`: the first file has the value, the others patches. */
int value_patch(const struct value_ask *ask);

/* `u9 value show`. */
int value_show(const struct value_ask *ask, struct value_input *in);

#endif
