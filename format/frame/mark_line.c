/*
 * format/frame/mark_line.c: a mark as one line of text: u9/mark.h. [M-7]
 *
 *     u9mark1 LOG FIRST SEGMENT BOUNDARY OFFSET ORDINAL CHAIN TIME CHECK
 */
#include "format/base/fault.h"
#include "format/base/limits.h"
#include "format/frame/frame.h"
#include "format/frame/line.h"

#include <u9/mark.h>

static const u9i_line_field fields[] = {
    {"log id", offsetof(u9_mark, log), true},
    {"first ordinal", offsetof(u9_mark, first_ordinal), false},
    {"segment", offsetof(u9_mark, segment), false},
    {"boundary", offsetof(u9_mark, boundary), true},
    {"end offset", offsetof(u9_mark, offset), false},
    {"end ordinal", offsetof(u9_mark, ordinal), false},
    {"chain", offsetof(u9_mark, chain), true},
    {"time", offsetof(u9_mark, time_us), false},
};

static const u9i_line_kind kind = {"u9mark", "a mark", "M-7", fields, sizeof fields / sizeof *fields};

const char *u9_mark_format(const u9_mark *mark, char out[U9_MARK_LINE_SIZE])
{
    return u9i_line_format(&kind, mark, out);
}

/* [M-2] */
static u9_err prove_mark(const u9_mark *m, u9_fault *fault)
{
    const uint64_t least = U9I_DISK_HEADER_SIZE + U9I_FRAME_HEADER_SIZE + U9I_TRAILER_SIZE;
    if (m->segment == 0) return u9i_line_refuse(&kind, 0, "segment", "is 0", fault);
    if (m->offset < least || m->offset > U9I_SEGMENT_MAX || m->offset % U9I_ALIGN != 0)
        return u9i_line_refuse(&kind, 0, "end offset", "is not where a frame can end", fault);
    if (m->ordinal < m->first_ordinal)
        return u9i_line_refuse(&kind, 0, "end ordinal", "is below the first one", fault);
    return U9_OK;
}

u9_err u9_mark_parse(const char *line, size_t size, u9_mark *out, u9_fault *fault)
{
    u9_mark mark = {.segment = 0};
    if (line == NULL || out == NULL) return u9i_refuse(fault, U9_ARG, U9_NOWHERE, "M-7", "an argument is NULL");
    u9_err err = u9i_line_parse(&kind, line, size, &mark, fault);
    if (err == U9_OK) err = prove_mark(&mark, fault);
    if (err == U9_OK) *out = mark;
    return err;
}
