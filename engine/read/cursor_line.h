/*
 * engine/read/cursor_line.h: a saved cursor as one line of text.
 */
#ifndef U9I_CURSOR_LINE_H
#define U9I_CURSOR_LINE_H

#include <u9/err.h>

#include <stddef.h>
#include <stdint.h>

/* Where a cursor was. */
typedef struct u9i_cursor_line {
    uint8_t log[16];      /* the log's id */
    uint64_t ordinal;     /* of the record that comes next */
    uint8_t boundary[16]; /* of the segment, and */
    uint64_t frame;       /*   offset of the frame in it, in which the cursor is, or at whose end; 0: in none */
} u9i_cursor_line;

/* Fills `out`, of at least U9_CURSOR_TEXT_SIZE bytes. */
void u9i_cursor_line_format(const u9i_cursor_line *saved, char *out);

/* Takes a line apart that ends at NUL or a newline. U9_ARG, U9_VERSION, with the word in the fault. */
U9_MUST_CHECK u9_err u9i_cursor_line_parse(const char *line, u9i_cursor_line *out, u9_fault *fault);

#endif
