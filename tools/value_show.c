/*
 * tools/value_show.c: `u9 value show`: a line for each value, header and row of elements: offset,
 * bytes, meaning; nested ones are indented.
 *
 * Whatever is wrong with a value, all that stands before the bad place is shown: the check names
 * the place, and the walk ends there. Of a tuple that is cut off, what there is of it is shown.
 */
#include "tools/value.h"

#include "tools/text.h"
#include "tools/tool.h"

#include <u9/value_text.h>

#include <stdlib.h>
#include <string.h>

enum { SHOWN_BYTES = 16, HEX_ROOM = 640, MEANING_ROOM = 1200, MEANING_MAX = 64, HEX_COLUMN = 36 };

/* A run of values: what is in a container, or in the input. */
struct level {
    const uint8_t *next;
    size_t left;
    u9_walk walk; /* an array's elements */
    u9_span span; /* of an array; data NULL: values back to back */
};

struct show {
    const struct value_ask *ask;
    const struct value_input *in;
    const uint8_t *bad; /* the place where it ends, or NULL */
    int torn;           /* not 0: the input ends within the value */
    unsigned depth;
    struct level levels[U9_DEPTH_MAX + 1];
};

/* A line under way. */
struct line {
    char hex[HEX_ROOM];
    char meaning[MEANING_ROOM];
};

/* Adds bytes to a line, as one group. */
static void add_hex(struct line *line, const uint8_t *bytes, size_t size)
{
    size_t at = strlen(line->hex);
    if (size == 0) return;
    if (at > 0) line->hex[at++] = ' ';
    for (size_t i = 0; i < size && i < SHOWN_BYTES; i++, at += 2)
        snprintf(line->hex + at, sizeof line->hex - at, "%02x", bytes[i]);
    snprintf(line->hex + at, sizeof line->hex - at, "%s", size > SHOWN_BYTES ? "\xe2\x80\xa6" : "");
}

static void put_line(const struct show *s, unsigned depth, const uint8_t *place,
                     const struct line *line)
{
    unsigned long long offset = s->in->offset + (uint64_t)(place - s->in->bytes);
    if (s->ask->json) {
        printf("{\"offset\":\"%llu\",\"depth\":%u,\"bytes\":", offset, depth);
        tool_put_string(line->hex, strlen(line->hex));
        fputs(",\"meaning\":", stdout);
        tool_put_string(line->meaning, strlen(line->meaning));
        puts("}");
        return;
    }
    int used = (int)(2 * depth), wide = 0;
    for (const char *c = line->hex; *c; c++) wide += ((unsigned char)*c & 0xc0) != 0x80;
    int gap = HEX_COLUMN - used - wide;
    printf("%8llu  %*s%s%*s%s\n", offset, used, "", line->hex, gap > 2 ? gap : 2, "",
           line->meaning);
}

/* Adds text to a line's meaning, as much as one wants to read. */
static void add_text(struct line *line, const char *text)
{
    size_t at = strlen(line->meaning), size = strlen(text);
    int cut = size > MEANING_MAX;
    if (cut)
        for (size = MEANING_MAX; ((unsigned char)text[size] & 0xc0) == 0x80;) size--;
    snprintf(line->meaning + at, sizeof line->meaning - at, "%s%.*s%s", at > 0 ? " " : "",
             (int)size, text, cut ? "\xe2\x80\xa6" : "");
}

/* The value of an atom in the notation; of an array's element as it stands there. */
static void add_atom(struct line *line, const u9_value *v)
{
    char text[8 * MEANING_MAX], *shown = text;
    uint8_t bytes[2 * MEANING_MAX];
    size_t length = 0;
    u9_builder b;
    u9_value first = *v;
    if ((v->type == U9_UTF8 || v->type == U9_BYTES) && v->size > MEANING_MAX) {
        first.start = NULL;
        first.size = MEANING_MAX; /* more is not shown */
    }
    u9_builder_init(&b, bytes, sizeof bytes);
    text[0] = '\0';
    if (u9_build_value(&b, &first) == U9_OK &&
        u9_value_text(bytes, b.size, text, sizeof text, &length, NULL) == U9_OK && !v->start &&
        v->type == U9_FLOAT32) {
        text[length - 1] = '\0';
        shown += strlen("float32(");
    }
    add_text(line, shown);
}

/* Bytes of a length or count behind a bytecode that has one. */
static size_t length_width(uint8_t code)
{
    if (code >= 0x51) return code <= 0x53 ? 2u << (code - 0x51) : 1u << (code - 0x54);
    return code >= 0x48 ? 1 : 1u << (code & 3);
}

static uint64_t number_at(const uint8_t *p, size_t width)
{
    uint64_t v = 0;
    while (width-- > 0) v = v << 8 | *p++;
    return v;
}

static void add_count(struct line *line, const char *what, uint64_t count, uint64_t size)
{
    char text[80];
    snprintf(text, sizeof text, "%s of %llu in %llu byte%s", what, (unsigned long long)count,
             (unsigned long long)size, tool_plural(size));
    add_text(line, text);
}

static int is_container(u9_type type)
{
    return type == U9_TUPLE || type == U9_ARRAY;
}

static struct level *push(struct show *s, const uint8_t *bytes, size_t size)
{
    if (s->depth == U9_DEPTH_MAX) return NULL;
    struct level *l = &s->levels[++s->depth];
    *l = (struct level){.next = bytes, .left = size};
    return l;
}

/* A tuple or array, and what is in it comes next. `size`: of its contents that are there. */
static int open_container(struct show *s, const u9_value *v, size_t size)
{
    struct line line = {.hex = "", .meaning = ""};
    unsigned depth = s->depth;
    const uint8_t *place = v->start ? v->start : v->data;
    if (v->start) {
        size_t width = length_width(*place);
        add_hex(&line, place, 1);
        add_hex(&line, place + 1, width);
        if (*place < 0x48) add_hex(&line, place + 1 + width, width);
    }
    add_count(&line, v->type == U9_TUPLE ? "tuple" : "array", v->count, v->size);
    if (v->type == U9_ARRAY && v->start) {
        char text[4096];
        size_t typecode = (size_t)(v->data - v->typecode);
        add_hex(&line, v->typecode, typecode);
        if (u9_typecode_text(v->typecode, typecode, text, sizeof text, NULL) != U9_OK) *text = '\0';
        snprintf(line.meaning + strlen(line.meaning), sizeof line.meaning - strlen(line.meaning),
                 ":");
        add_text(&line, text);
    }
    put_line(s, depth, place, &line);
    struct level *l = push(s, v->data, size);
    if (!l) return 0;
    if (v->type == U9_ARRAY && u9_array_span(v, &l->span) == U9_OK) l->walk = u9_walk_elements(v);
    return 1;
}

/* The header of an index, and its three parts come next. */
static int open_index(struct show *s, struct level *l)
{
    struct line line = {.hex = "", .meaning = ""};
    const uint8_t *place = l->next;
    size_t width = length_width(*place);
    if (l->left <= width) return 0;
    uint64_t size = number_at(place + 1, width);
    if (size > l->left - 1 - width) return 0;
    add_hex(&line, place, 1);
    add_hex(&line, place + 1, width);
    snprintf(line.meaning, sizeof line.meaning, "%s in %llu bytes",
             *place <= 0x53 ? "cidx" : "iidx", (unsigned long long)size);
    put_line(s, s->depth, place, &line);
    l->next += 1 + width + size;
    l->left -= 1 + width + (size_t)size;
    return push(s, place + 1 + width, (size_t)size) != NULL;
}

/* A tuple that goes on where the input has ended: as a view, if its header is there. */
static int look_torn(const struct level *l, u9_value *v)
{
    uint8_t code = *l->next;
    size_t width = length_width(code), head = code >= 0x48 ? 2 : 1 + 2 * width;
    if (code < 0x40 || code > 0x4f || (code & 0x4c) == 0x44 || l->left < head) return 0;
    *v = (u9_value){.type = U9_TUPLE,
                    .code = code,
                    .start = l->next,
                    .encoded = l->left,
                    .data = l->next + head};
    v->size = number_at(l->next + 1, width);
    v->count = code >= 0x48 ? code & 7 : number_at(l->next + 1 + width, width);
    return 1;
}

/* As many elements of an array as fit in a line. */
static void put_row(struct show *s, struct level *l)
{
    struct line line = {.hex = "", .meaning = ""};
    size_t stride = (size_t)l->span.stride, most = stride > 0 ? SHOWN_BYTES / stride : 8;
    const uint8_t *place = l->walk.next;
    u9_value v;
    for (size_t n = 0; n == 0 || n < most; n++) {
        const uint8_t *at = l->walk.next;
        if (u9_walk_next(&l->walk, &v) != U9_OK) break;
        add_hex(&line, at, stride);
        add_atom(&line, &v);
    }
    put_line(s, s->depth, place, &line);
}

/* The next of an array's elements. */
static int show_element(struct show *s, struct level *l)
{
    u9_value v;
    if (!is_container(l->span.type)) {
        put_row(s, l);
        return 1;
    }
    if (u9_walk_next(&l->walk, &v) != U9_OK) return 0;
    return open_container(s, &v, (size_t)v.size);
}

/* The next value of a run. 0: it cannot be looked at. */
static int show_value(struct show *s, struct level *l)
{
    struct line line = {.hex = "", .meaning = ""};
    const uint8_t *place = l->next;
    u9_value v;
    if (*place >= 0x51 && *place <= 0x57) return open_index(s, l);
    u9_err err = u9_value_decode(place, l->left, &v);
    if (err != U9_OK && !(err == U9_TORN && s->torn && look_torn(l, &v))) return 0;
    l->next += v.encoded;
    l->left -= v.encoded;
    if (is_container(v.type)) return open_container(s, &v, (size_t)(place + v.encoded - v.data));
    size_t width = v.code >= 0x18 && v.code <= 0x1f ? length_width(v.code) : 0;
    add_hex(&line, place, 1);
    add_hex(&line, place + 1, width);
    add_hex(&line, place + 1 + width, v.encoded - 1 - width);
    add_atom(&line, &v);
    put_line(s, s->depth, place, &line);
    return 1;
}

/* Shows what is in `size` bytes, up to the bad place, and returns where it stopped. */
static const uint8_t *show_all(struct show *s, const uint8_t *bytes, size_t size)
{
    s->depth = 0;
    s->levels[0] = (struct level){.next = bytes, .left = size};
    for (;;) {
        struct level *l = &s->levels[s->depth];
        const uint8_t *at = l->span.data ? l->walk.next : l->next;
        if (s->bad && at >= s->bad) return s->bad;
        if (l->span.data ? l->walk.due == 0 : l->left == 0) {
            if (s->depth-- == 0) return at;
        } else if (!(l->span.data ? show_element(s, l) : show_value(s, l))) {
            return at;
        }
    }
}

/* The place where it ended, with what stands there. */
static void put_bad(const struct show *s, const uint8_t *place, const u9_fault *fault)
{
    struct line line = {.hex = "", .meaning = ""};
    size_t left = s->in->size - (size_t)(place - s->in->bytes);
    add_hex(&line, place, left);
    snprintf(line.meaning, sizeof line.meaning, "%s: %s [%s]", left > 0 ? "here" : "the end",
             fault->text, fault->rule);
    put_line(s, s->depth, place, &line);
}

int value_show(const struct value_ask *ask, struct value_input *in)
{
    struct show s = {.ask = ask, .in = in};
    in->hex = ask->hex;
    for (;;) {
        u9_value v;
        u9_fault fault;
        int status = TOOL_DONE;
        u9_err err = value_next(in, &v, &fault, &status);
        if (err == U9_END || err == U9_IO) return status;
        if (err == U9_LIMIT && !*fault.rule) return tool_fault(&fault); /* not even looked at */
        s.torn = err == U9_TORN;
        s.bad = err == U9_OK || s.torn ? NULL : in->bytes + (fault.offset - in->offset);
        const uint8_t *end = show_all(&s, in->bytes, err == U9_OK ? v.encoded : in->size);
        if (err != U9_OK) {
            put_bad(&s, end, &fault);
            fflush(stdout);
            return tool_fault(&fault);
        }
        if (tool_stdout_failed()) return TOOL_IO; /* tool_finish says why */
        value_used(in, v.encoded);
    }
}
