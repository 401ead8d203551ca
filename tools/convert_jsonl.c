/*
 * tools/convert_jsonl.c: JSON lines: each line that is not blank is a JSON value; see convert.h. A byte order mark at the
 * start is passed over.
 */
#include "tools/convert.h"

#include "tools/value_json.h"

static int open_lines(struct convert_reader *r)
{
    return convert_room(r, 1); /* also for a file of no bytes */
}

/* A line without its end. One that is too long is passed over as it is read. */
static enum convert_got next_line(struct convert_reader *r)
{
    for (int c = 0; c != EOF;) {
        size_t size = 0, from = 0;
        int fits = 1;
        r->number++;
        while ((c = convert_get(r)) != EOF && c != '\n') {
            fits = fits && convert_room(r, size + 1);
            if (fits) r->bytes[size++] = (uint8_t)c;
        }
        if (!fits) return CONVERT_BAD;
        if (r->number == 1) from = tool_json_order_mark((const char *)r->bytes, size);
        if (tool_json_blank((const char *)r->bytes + from, size - from)) continue;
        fwrite_unlocked(r->bytes + from, 1, size - from, r->json);
        return CONVERT_ROW;
    }
    return CONVERT_END;
}

static int put_line(struct convert_writer *w, const struct convert_row *row)
{
    tool_sink = w->file;
    tool_put_json(&row->value);
    tool_sink = NULL;
    putc_unlocked('\n', w->file);
    return 1;
}

const struct convert_format convert_jsonl = {
    .name = "jsonl",
    .unit = ":",
    .open = open_lines,
    .next = next_line,
    .put = put_line,
};
