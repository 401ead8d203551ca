/*
 * tools/convert_csv.c: CSV as RFC 4180 has it, with a line of names; see convert.h.
 *
 * A row is an object of its cells. Cells are text; with --typed those without quotes are what they look like: numbers, true,
 * false and null as JSON has them, and an empty one is a member that is not there. What is written can be read so: a text
 * that would be taken for one of these stands in quotes. Lines may also end in a newline alone.
 */
#include "tools/convert.h"

#include "tools/value_json.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cell {
    size_t begin, size; /* in the reader's bytes */
    int quoted;
};

struct csv {
    uint64_t line; /* that is read next, from 1 */
    struct cell *cells;
    size_t count, room;
    char **names;
    size_t *sizes, columns;
};

static int put_byte(struct convert_reader *r, size_t *at, int c)
{
    if (*at == r->room && !convert_room(r, *at + 1)) return 0;
    r->bytes[(*at)++] = (uint8_t)c;
    return 1;
}

static struct cell *begin_cell(struct convert_reader *r, size_t at)
{
    struct csv *csv = (struct csv *)r->state;
    if (csv->count == csv->room) {
        size_t room = 2 * csv->room + 16;
        struct cell *more = (struct cell *)realloc(csv->cells, room * sizeof *more);
        if (!more) return NULL;
        csv->cells = more;
        csv->room = room;
    }
    struct cell *cell = &csv->cells[csv->count++];
    *cell = (struct cell){.begin = at};
    return cell;
}

/* Behind a quote: up to the one that ends the cell. The byte behind that, or EOF with `why`. */
static int quoted_cell(struct convert_reader *r, size_t *at)
{
    struct csv *csv = (struct csv *)r->state;
    for (;;) {
        int c = convert_get(r);
        if (c == '"' && (c = convert_get(r)) != '"') return c == EOF ? '\n' : c;
        if (c == EOF) {
            convert_why(r->why, "the file ends within quotes");
            return EOF;
        }
        if (c == '\n') csv->line++;
        if (!put_byte(r, at, c)) return EOF;
    }
}

/* To the end of the line, which is refused. */
static enum convert_got pass_line(struct convert_reader *r, int c)
{
    while (c != '\n' && c != EOF) c = convert_get(r);
    ((struct csv *)r->state)->line++;
    return CONVERT_BAD;
}

/* The byte behind a byte order mark; where there is none, what looked like one is of the cell. */
static int pass_mark(struct convert_reader *r, size_t *at, int c)
{
    size_t n = 0;
    for (; n < sizeof tool_order_mark && c == tool_order_mark[n] && put_byte(r, at, c); n++) c = convert_get(r);
    if (n == sizeof tool_order_mark) *at = 0;
    return c;
}

/* One row into cells. */
static enum convert_got read_cells(struct convert_reader *r)
{
    struct csv *csv = (struct csv *)r->state;
    size_t at = 0;
    csv->count = 0;
    r->number = csv->line;
    int c = convert_get(r);
    if (c == EOF) return CONVERT_END;
    for (;; c = convert_get(r)) {
        struct cell *cell = begin_cell(r, at);
        if (!cell) return convert_no_memory(r->why), CONVERT_BROKEN;
        if (csv->line == 1 && csv->count == 1) c = pass_mark(r, &at, c);
        if (c == '"') {
            cell->quoted = 1;
            c = quoted_cell(r, &at);
            if (c == EOF) return CONVERT_BROKEN;
        } else {
            for (; c != r->options->comma && c != '\n' && c != EOF && c != '"'; c = convert_get(r))
                if (!put_byte(r, &at, c)) return pass_line(r, c);
            if (c == '"')
                return convert_why(r->why, "a quote within a cell that has none in front"),
                       pass_line(r, c);
            if (c != r->options->comma && at > cell->begin && r->bytes[at - 1] == '\r') at--;
        }
        cell->size = at - cell->begin;
        if (c == '\r' && (c = convert_get(r)) == EOF) c = '\n';
        if (c == r->options->comma) continue;
        if (c != '\n' && c != EOF)
            return convert_why(r->why, "something stands behind the quote that ends a cell"),
                   pass_line(r, c);
        csv->line++;
        return CONVERT_ROW;
    }
}

static int take_names(struct convert_reader *r)
{
    struct csv *csv = (struct csv *)r->state;
    csv->names = (char **)calloc(csv->count, sizeof *csv->names);
    csv->sizes = (size_t *)calloc(csv->count, sizeof *csv->sizes);
    if (!csv->names || !csv->sizes) return convert_no_memory(r->why);
    for (; csv->columns < csv->count; csv->columns++) {
        const struct cell *cell = &csv->cells[csv->columns];
        const char *text = (const char *)r->bytes + cell->begin;
        size_t size = cell->size;
        const char *bad = memchr(text, '\0', size)                     ? "has a NUL in it"
                          : !cell->quoted && memchr(text, '\r', size) ? "has a carriage return in it: lines end in a newline"
                          : !u9_utf8_valid(text, size)                ? "is not valid UTF-8"
                                                                      : NULL;
        if (bad) return convert_why(r->why, "the name of column %zu %s", csv->columns + 1, bad);
        for (size_t i = 0; i < csv->columns; i++)
            if (csv->sizes[i] == size && memcmp(csv->names[i], text, size) == 0)
                return convert_why(r->why, "two columns are named '%.*s'",
                                   size < 99 ? (int)size : 99, text);
        csv->names[csv->columns] = (char *)malloc(size + 1);
        if (!csv->names[csv->columns]) return convert_no_memory(r->why);
        memcpy(csv->names[csv->columns], text, size);
        csv->sizes[csv->columns] = size;
    }
    return 1;
}

static int open_csv(struct convert_reader *r)
{
    struct csv *csv = (struct csv *)calloc(1, sizeof *csv);
    if (!csv || !convert_room(r, 1)) return free(csv), convert_no_memory(r->why);
    r->state = csv;
    csv->line = 1;
    switch (read_cells(r)) {
    case CONVERT_ROW: return take_names(r);
    case CONVERT_END: return 1; /* nothing at all: no rows */
    case CONVERT_BAD:
    case CONVERT_BROKEN: break;
    }
    return 0;
}

static void close_csv(struct convert_reader *r)
{
    struct csv *csv = (struct csv *)r->state;
    for (size_t i = 0; i < csv->columns; i++) free(csv->names[i]);
    free(csv->names);
    free(csv->sizes);
    free(csv->cells);
    free(csv);
}

static size_t digits(const char **p, const char *end)
{
    const char *begin = *p;
    while (*p < end && isdigit((unsigned char)**p)) ++*p;
    return (size_t)(*p - begin);
}

/* A number as JSON writes it, true, false or null. */
static int is_literal(const char *text, size_t size)
{
    const char *p = text, *end = text + size;
    if ((size == 4 && (memcmp(text, "true", 4) == 0 || memcmp(text, "null", 4) == 0)) ||
        (size == 5 && memcmp(text, "false", 5) == 0))
        return 1;
    if (p < end && *p == '-') p++;
    const char *first = p;
    size_t whole = digits(&p, end);
    if (whole == 0 || (whole > 1 && *first == '0')) return 0;
    if (p < end && *p == '.' && (p++, digits(&p, end) == 0)) return 0;
    if (p == end || (*p != 'e' && *p != 'E')) return p == end;
    if (++p < end && (*p == '+' || *p == '-')) p++;
    return digits(&p, end) > 0 && p == end;
}

static int is_there(const struct convert_reader *r, const struct cell *cell)
{
    return !r->options->typed || cell->size > 0 || cell->quoted;
}

static enum convert_got next_row(struct convert_reader *r)
{
    struct csv *csv = (struct csv *)r->state;
    size_t members = 0, put = 0;
    enum convert_got got = read_cells(r);
    while (got == CONVERT_ROW && csv->columns > 1 && csv->count == 1 && csv->cells->size == 0 &&
           !csv->cells->quoted)
        got = read_cells(r); /* a blank line */
    if (got != CONVERT_ROW) return got;
    if (csv->count != csv->columns)
        return convert_why(r->why, "%zu cell%s, but there are %zu columns", csv->count,
                           csv->count == 1 ? "" : "s", csv->columns),
               CONVERT_BAD;
    for (size_t i = 0; i < csv->count; i++) members += (size_t)is_there(r, &csv->cells[i]);
    putc('{', r->json);
    for (size_t i = 0; i < csv->count; i++) {
        const struct cell *cell = &csv->cells[i];
        const char *text = (const char *)r->bytes + cell->begin;
        if (!is_there(r, cell)) continue;
        if (put++) putc(',', r->json);
        convert_put_name(csv->names[i], csv->sizes[i], members);
        if (r->options->typed && !cell->quoted && is_literal(text, cell->size))
            fwrite(text, 1, cell->size, r->json);
        else convert_put_text(text, cell->size);
    }
    putc('}', r->json);
    return CONVERT_ROW;
}

/* A cell of this text: in quotes where it must be, or would be something else. */
static void put_cell(const struct convert_writer *w, const char *text, size_t size, int literal)
{
    int quotes = size == 0 || (!literal && is_literal(text, size)) ||
                 isspace((unsigned char)text[0]) || isspace((unsigned char)text[size - 1]) ||
                 tool_json_order_mark(text, size) > 0 ||
                 memchr(text, w->options->comma, size) || memchr(text, '"', size) ||
                 memchr(text, '\n', size) || memchr(text, '\r', size);
    if (quotes) putc_unlocked('"', w->file);
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"') putc_unlocked('"', w->file);
        putc_unlocked(text[i], w->file);
    }
    if (quotes) putc_unlocked('"', w->file);
}

static int put_value(struct convert_writer *w, const u9_value *v)
{
    unsigned kind = convert_kind(v);
    if (kind & (CONVERT_FLOAT32 | CONVERT_FLOAT64) && !isfinite(v->f)) kind = CONVERT_OTHER;
    if (kind == CONVERT_TEXT) {
        put_cell(w, (const char *)v->data, (size_t)v->size, 0);
        return 1;
    }
    int literal = kind & (CONVERT_NULL | CONVERT_BOOL | CONVERT_INT | CONVERT_HUGE |
                          CONVERT_FLOAT32 | CONVERT_FLOAT64);
    if (kind == CONVERT_FLOAT32) {
        convert_tell(&w->told, kind, "CSV has no float32: its number is written");
        tool_sink = w->file;
        tool_put_number(v);
        tool_sink = NULL;
        return 1;
    }
    if (kind == CONVERT_NESTED)
        convert_tell(&w->told, kind, "CSV has no arrays and objects: their JSON text is written");
    if (kind == CONVERT_BYTES)
        convert_tell(&w->told, kind, "CSV has no bytes: {\"$bytes\":\"hex\"} is written");
    if (kind == CONVERT_OTHER)
        convert_tell(&w->told, kind, "CSV has no symbols, infinities and their like: their JSON text is written");
    size_t size = 0;
    const char *text = convert_json(v, &size);
    if (!text) return convert_no_memory(w->why);
    put_cell(w, text, size, literal);
    return 1;
}

static int begin_csv(struct convert_writer *w)
{
    for (size_t i = 0; i < w->count; i++) {
        if (i > 0) putc_unlocked(w->options->comma, w->file);
        put_cell(w, w->columns[i].name, w->columns[i].size, 0);
    }
    fputs("\r\n", w->file); /* also where objects have no members, as the first line is that of names */
    return 1;
}

static int put_row(struct convert_writer *w, const struct convert_row *row)
{
    const u9_value *cells = convert_cells(w, row);
    for (size_t i = 0; i < w->count; i++) {
        if (i > 0) putc_unlocked(w->options->comma, w->file);
        if (cells[i].type && !put_value(w, &cells[i])) return 0;
    }
    fputs("\r\n", w->file);
    return 1;
}

const struct convert_format convert_csv = {
    .name = "csv",
    .unit = ":",
    .open = open_csv,
    .next = next_row,
    .close = close_csv,
    .begin = begin_csv,
    .put = put_row,
    .columns = 1,
};
