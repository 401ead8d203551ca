/*
 * engine/read/cursor_line.c: see cursor_line.h.
 */
#include "engine/read/cursor_line.h"

#include "format/frame/line.h"

#include <string.h>

static const u9i_line_field fields[] = {{"log id", offsetof(u9i_cursor_line, log), true},
                                        {"ordinal", offsetof(u9i_cursor_line, ordinal), false},
                                        {"boundary", offsetof(u9i_cursor_line, boundary), true},
                                        {"frame", offsetof(u9i_cursor_line, frame), false}};

static const u9i_line_kind kind = {"u9cursor", "a saved cursor", "Q-3", fields, sizeof fields / sizeof *fields};

void u9i_cursor_line_format(const u9i_cursor_line *l, char *out)
{
    (void)u9i_line_format(&kind, l, out);
}

u9_err u9i_cursor_line_parse(const char *line, u9i_cursor_line *out, u9_fault *fault)
{
    u9i_cursor_line l;
    size_t size = strcspn(line, "\n");
    if (line[size] == '\n' && line[size + 1] != 0) size = strlen(line); /* more than one line is none */
    u9_err err = u9i_line_parse(&kind, line, size, &l, fault);
    if (err == U9_OK) *out = l;
    return err;
}
