/*
 * tools/record.h: how cat and get print records.
 */
#ifndef U9_TOOLS_RECORD_H
#define U9_TOOLS_RECORD_H

#include <u9/log.h>

typedef enum tool_format { TOOL_LINES = 0, TOOL_RAW, TOOL_JSON } tool_format;

typedef struct tool_style {
    tool_format format;
    int keys;         /* not 0: key and tab in front of each line */
    int null;         /* not 0: NUL behind each record, not newline */
    int terminal;     /* standard output is one: control characters are made visible */
    const char *kind; /* of the log's keys */
} tool_style;

/* "raw", "lines", "json"; anything else is a usage error. */
tool_format tool_format_parse(const char *text);

/* What does not go together is a usage error. To be asked when all options are known. */
void tool_style_check(const tool_style *style);

/* Completes `style` for `log`. TOOL_DONE, or the status after saying why it is refused. */
int tool_style_begin(tool_style *style, const u9_log *log);

/* Prints one record to standard output. */
void tool_put_record(const tool_style *style, const u9_record *record);

#endif
