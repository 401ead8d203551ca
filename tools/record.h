/*
 * tools/record.h: how cat and get print records.
 */
#ifndef U9_TOOLS_RECORD_H
#define U9_TOOLS_RECORD_H

#include <u9/log.h>
#include <u9/value.h>

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

/* What stands in front of a record's values, and behind them: not of raw ones. */
void tool_put_front(const tool_style *style, const u9_record *record);
void tool_put_back(const tool_style *style);

/* One value between these, and the contents of one that is text or bytes, as far as they are here (lines). */
void tool_put_value(const tool_style *style, const u9_value *value);
void tool_put_contents(const tool_style *style, const uint8_t *text, size_t size);

/* Prints one record to standard output. */
void tool_put_record(const tool_style *style, const u9_record *record);

#endif
