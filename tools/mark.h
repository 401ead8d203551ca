/*
 * tools/mark.h: the line of a log's mark, as an argument and in results.
 */
#ifndef U9_TOOLS_MARK_H
#define U9_TOOLS_MARK_H

#include <jansson.h>
#include <stdio.h>
#include <u9/check.h>
#include <u9/mark.h>

/*
 * The argument of --mark: a line, or a file that holds nothing else; "-" is standard input. Returns 0; a line that is
 * none is a usage error that says why; `status` after saying what cannot be read.
 */
int tool_mark_parse(const char *text, u9_mark *out, int status);

/* What became of the line, for people: a line on `out`. */
void tool_put_line(FILE *out, const u9_mark *line, const u9_report *report);

/* One word of it, stable. Static. */
const char *tool_line_name(u9_line_state state);

/* A mark as a JSON object, its line included; `type` and `path` are its first fields. A new reference. */
json_t *tool_json_mark(const char *type, const char *path, const u9_mark *mark);

#endif
