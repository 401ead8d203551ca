/*
 * tools/mark.c: see mark.h.
 */
#include "tools/mark.h"

#include "tools/json.h"
#include "tools/text.h"
#include "tools/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Blanks and line ends at the end come from paper and mail, and are no part of the line. */
static size_t without_end(const char *line, size_t size)
{
    while (size > 0 && line[size - 1] && strchr(" \t\r\n", line[size - 1])) size--;
    return size;
}

int tool_mark_parse(const char *text, u9_mark *out, int status)
{
    char bytes[2 * U9_MARK_LINE_SIZE]; /* a longer line is none */
    const char *line = text, *from = "";
    size_t size = strlen(text);
    u9_fault fault;
    if (!*text) tool_usage("--mark: LINE is empty");
    if (strncmp(text, "u9mark", 6) != 0 || strchr(text, ' ') == NULL) {
        FILE *file = strcmp(text, "-") == 0 ? stdin : fopen(text, "re");
        if (!file) return tool_say(status, "--mark: %s: %s", text, strerror(errno));
        size = fread(bytes, 1, sizeof bytes, file);
        int failed = ferror(file) ? errno : 0;
        if (file != stdin) fclose(file);
        if (failed) return tool_say(status, "--mark: %s: %s", text, strerror(failed));
        line = bytes;
        from = text;
    }
    size = without_end(line, size);
    if (size > 6 && memcmp(line, "u9mark", 6) == 0 && memchr(line, '\n', size))
        tool_usage("--mark: %s%smore than one line: give one of them, such as the last (tail -n 1)", from,
                   *from ? ": " : "");
    if (u9_mark_parse(line, size, out, &fault) == U9_OK) return 0;
    tool_usage("--mark: %s%s%s, at byte %" PRIu64, from, *from ? ": " : "", fault.text, fault.offset);
}

static const char *const names[] = {
    [U9_LINE_NONE] = "none",       [U9_LINE_MET] = "met",   [U9_LINE_UNMET] = "unmet",
    [U9_LINE_FOREIGN] = "foreign", [U9_LINE_GONE] = "gone",
};

const char *tool_line_name(u9_line_state state)
{
    return (size_t)state < sizeof names / sizeof *names ? names[state] : "?";
}

void tool_put_line(FILE *out, const u9_mark *m, const u9_report *r)
{
    char when[TOOL_WHEN_SIZE], name[TOOL_SEGMENT_SIZE];
    tool_when_text(m->time_us, when);
    if (r->line == U9_LINE_UNMET)
        fprintf(out, "line: NOT MET: what is before record %" PRIu64 " is not the history that was there on %s\n", m->ordinal,
                when);
    if (r->line == U9_LINE_FOREIGN) fputs("line: NOT MET: it is of another log, and this one proves nothing of it\n", out);
    if (r->line == U9_LINE_GONE)
        fprintf(out, "line: no longer provable: %s is not kept here\n", tool_segment_text(m->segment, name));
    if (r->line != U9_LINE_MET) return;
    if (r->proven_from >= m->ordinal) fputs("line: met; no record that is kept stands before it", out);
    else
        fprintf(out, "line: met: records %" PRIu64 "..%" PRIu64 " are those that were there on %s", r->proven_from,
                m->ordinal - 1, when);
    if (r->proven_from > m->first_ordinal)
        fprintf(out, "; nothing is proven of records %" PRIu64 "..%" PRIu64, m->first_ordinal, r->proven_from - 1);
    putc('\n', out);
}

static json_t *json_hex(const uint8_t bytes[16])
{
    char text[33];
    for (size_t i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return json_string(text);
}

json_t *tool_json_mark(const char *type, const char *path, const u9_mark *m)
{
    char line[U9_MARK_LINE_SIZE], when[48];
    return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "type", type, "path",
                     tool_json_text(path), "line", u9_mark_format(m, line), "log", json_hex(m->log),
                     "first_ordinal", tool_json_number(m->first_ordinal), "segment", tool_json_number(m->segment),
                     "boundary", json_hex(m->boundary), "offset", tool_json_number(m->offset), "ordinal",
                     tool_json_number(m->ordinal), "chain", json_hex(m->chain), "time",
                     tool_time_text(m->time_us, when));
}
