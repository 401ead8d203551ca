/*
 * format/frame/range_line.c: a range of a plan as one line of text: u9/scan.h. [P-5]
 *
 *     u9range1 LOG NUMBER COUNT SEGMENT BOUNDARY OFFSET SEGMENT BOUNDARY OFFSET CHECK
 */
#include "format/base/fault.h"
#include "format/base/limits.h"
#include "format/frame/line.h"

#include <u9/scan.h>

static const u9i_line_field fields[] = {
    {"log id", offsetof(u9_split_range, log), true},
    {"number", offsetof(u9_split_range, number), false},
    {"count", offsetof(u9_split_range, count), false},
    {"first segment", offsetof(u9_split_range, from.segment), false},
    {"first boundary", offsetof(u9_split_range, from.boundary), true},
    {"begin", offsetof(u9_split_range, from.offset), false},
    {"last segment", offsetof(u9_split_range, to.segment), false},
    {"last boundary", offsetof(u9_split_range, to.boundary), true},
    {"end", offsetof(u9_split_range, to.offset), false},
};

static const u9i_line_kind kind = {"u9range", "a range", "P-5", fields, sizeof fields / sizeof *fields};

const char *u9_split_format(const u9_split_range *range, char out[U9_SPLIT_LINE_SIZE])
{
    return u9i_line_format(&kind, range, out);
}

/* [P-3] */
static u9_err prove_range(const u9_split_range *r, u9_fault *fault)
{
    if (r->count == 0 || r->number == 0 || r->number > r->count)
        return u9i_line_refuse(&kind, 0, "number", "is not one of 1 to the count", fault);
    if (r->from.offset > U9I_SEGMENT_MAX || r->to.offset > U9I_SEGMENT_MAX)
        return u9i_line_refuse(&kind, 0, "begin or end", "is beyond any segment", fault);
    if (r->from.segment > r->to.segment || (r->from.segment == r->to.segment && r->from.offset > r->to.offset))
        return u9i_line_refuse(&kind, 0, "end", "lies before the begin", fault);
    return U9_OK;
}

u9_err u9_split_parse(const char *line, size_t size, u9_split_range *out, u9_fault *fault)
{
    u9_split_range range = {.number = 0};
    if (line == NULL || out == NULL) return u9i_refuse(fault, U9_ARG, U9_NOWHERE, "P-5", "an argument is NULL");
    u9_err err = u9i_line_parse(&kind, line, size, &range, fault);
    if (err == U9_OK) err = prove_range(&range, fault);
    if (err == U9_OK) *out = range;
    return err;
}
