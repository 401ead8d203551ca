/*
 * tools/record_large.c: records larger than memory as lines, JSON or bytes.
 *
 * The bytes come through one buffer. Text and bytes of any size are printed as they come; JSON has to know before
 * whether a text is valid UTF-8, so it is read twice [J-4]. Other values are printed whole, and so have to fit the
 * buffer: that is found out before anything is printed.
 */
#include "tools/record_large.h"

#include "tools/text.h"
#include "tools/tool.h"
#include "tools/value_json.h"

#include <u9/large.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 };

/* A record, and the bytes of it that are held. */
struct pieces {
    const tool_style *style;
    const u9_record *record;
    u9_reading *reading;
    uint8_t *buf; /* VALUE_SIZE_MAX bytes, touched as needed: [base, base + have) of the record */
    uint64_t base;
    size_t have;
    int status; /* TOOL_DONE, or what was said */
};

/* The bytes from `at` on: `least` (up to VALUE_SIZE_MAX) at least, or all there are. NULL: it was said why not. */
static const uint8_t *hold(struct pieces *p, uint64_t at, size_t least, size_t *avail)
{
    uint64_t left = p->record->size - at;
    u9_fault fault;
    if (least > left) least = (size_t)left;
    if (at < p->base || at + least > p->base + p->have) {
        size_t got, want = least > PIECE ? least : PIECE;
        u9_err err = u9_record_read(p->reading, at, p->buf, want, &got, &fault);
        if (err != U9_OK) {
            p->status = fault.err == U9_CORRUPT ? tool_say(TOOL_LOST, "%s", fault.text)
                                                : tool_fault(&fault);
            return NULL;
        }
        p->base = at;
        p->have = got;
    }
    *avail = (size_t)(p->base + p->have - at);
    return p->buf + (at - p->base);
}

/* What the value at `at` is. Its front is held. */
static int look(struct pieces *p, uint64_t at, u9_value *v)
{
    size_t avail;
    const uint8_t *front = hold(p, at, U9_FRONT_MAX, &avail);
    if (!front) return p->status;
    uint64_t left = p->record->size - at;
    u9_err err = u9_value_front(front, avail, left, v);
    if (err == U9_OK) return TOOL_DONE;
    if (err == U9_LIMIT && left <= VALUE_SIZE_MAX &&
        (front = hold(p, at, (size_t)left, &avail)) != NULL)
        err = u9_value_decode(front, avail, v); /* an index in front */
    if (err == U9_OK) return TOOL_DONE;
    p->status = tool_say(TOOL_REFUSED,
                         "record %" PRIu64 ": what stands at its byte %" PRIu64
                         " cannot be shown: --format "
                         "raw has it",
                         p->record->ordinal, at);
    return p->status;
}

/* Bytes that it takes: `encoded` has no room for all sizes on machines of 32 bits. */
static uint64_t size_of(const u9_value *v)
{
    return v->data ? (uint64_t)(v->data - v->start) + v->size : v->encoded;
}

static int is_text(const u9_value *v)
{
    return v->type == U9_UTF8 || v->type == U9_BYTES;
}

/* Hands the contents of a text on in pieces that end between characters, if it is UTF-8. */
static int each_piece(struct pieces *p, uint64_t at, uint64_t size,
                      int (*take)(struct pieces *, const uint8_t *, size_t))
{
    while (size > 0) {
        size_t avail;
        const uint8_t *bytes = hold(p, at, 4, &avail);
        if (!bytes) return p->status;
        if (avail > size) avail = (size_t)size;
        size_t n = tool_utf8_whole(bytes, avail);
        if (n == 0 || avail == size) n = avail;
        if (!take(p, bytes, n)) return TOOL_REFUSED;
        at += n;
        size -= n;
    }
    return TOOL_DONE;
}

static int is_valid(struct pieces *p, const uint8_t *bytes, size_t size)
{
    (void)p;
    return u9_utf8_valid(bytes, size);
}

static int put_contents(struct pieces *p, const uint8_t *bytes, size_t size)
{
    tool_put_contents(p->style, bytes, size);
    return !tool_stdout_failed();
}

static int put_hex(struct pieces *p, const uint8_t *bytes, size_t size)
{
    (void)p;
    tool_put_hex(bytes, size);
    return !tool_stdout_failed();
}

static int put_escaped(struct pieces *p, const uint8_t *bytes, size_t size)
{
    (void)p;
    tool_put_characters(bytes, size);
    return !tool_stdout_failed();
}

/* A text of which the contents begin at `at`. */
static void put_text_json(struct pieces *p, const u9_value *v, uint64_t at)
{
    int valid = v->type == U9_UTF8 ? each_piece(p, at, v->size, is_valid) : TOOL_REFUSED;
    if (p->status != TOOL_DONE) return;
    if (valid == TOOL_DONE) {
        putc_unlocked('"', stdout);
        (void)each_piece(p, at, v->size, put_escaped);
        putc_unlocked('"', stdout);
        return;
    }
    fputs(v->type == U9_UTF8 ? "{\"$utf8\":\"" : "{\"$bytes\":\"", stdout);
    (void)each_piece(p, at, v->size, put_hex);
    fputs("\"}", stdout);
}

/* The value at `at`, which takes `size` bytes. */
static void put_value(struct pieces *p, const u9_value *v, uint64_t at, uint64_t size)
{
    if (is_text(v)) {
        uint64_t contents = at + (size - v->size);
        if (p->style->format == TOOL_JSON) put_text_json(p, v, contents);
        else (void)each_piece(p, contents, v->size, put_contents);
        return;
    }
    size_t avail;
    u9_value whole;
    const uint8_t *bytes = hold(p, at, (size_t)size, &avail);
    if (!bytes || u9_value_decode(bytes, (size_t)size, &whole) != U9_OK) return;
    tool_put_value(p->style, &whole);
}

/* Goes over the values; `put`: prints them, else only looks whether each can be. */
static int walk_values(struct pieces *p, int put)
{
    const u9_record *r = p->record;
    uint64_t at = r->size - r->values_size;
    for (int next = 0; at < r->size && p->status == TOOL_DONE && !tool_stdout_failed(); next = 1) {
        u9_value v;
        if (look(p, at, &v) != TOOL_DONE) break;
        uint64_t size = size_of(&v);
        if (!put && !is_text(&v) && size > VALUE_SIZE_MAX)
            return p->status = tool_say(TOOL_REFUSED,
                                        "record %" PRIu64 " is not shown: a value of %" PRIu64
                                        " bytes in it is too large for that; --format raw has it",
                                        r->ordinal, size);
        if (put && next) putc_unlocked(p->style->format == TOOL_JSON ? ',' : '\t', stdout);
        if (put) put_value(p, &v, at, size);
        at += size;
    }
    return p->status;
}

static int put_raw(struct pieces *p)
{
    for (uint64_t at = 0; at < p->record->size && !tool_stdout_failed();) {
        size_t avail;
        const uint8_t *bytes = hold(p, at, 1, &avail);
        if (!bytes) break;
        fwrite_unlocked(bytes, 1, avail, stdout);
        at += avail;
    }
    return p->status;
}

static int put_shown(struct pieces *p)
{
    if (walk_values(p, 0) != TOOL_DONE) return p->status;
    tool_put_front(p->style, p->record);
    (void)walk_values(p, 1);
    tool_put_back(p->style);
    return p->status;
}

int tool_put_large(const tool_style *style, u9_log *log, const u9_record *record)
{
    u9_fault fault;
    struct pieces p = {.style = style, .record = record, .buf = (uint8_t *)malloc(VALUE_SIZE_MAX)};
    if (!p.buf) return tool_nomem("a record that is read in pieces");
    if (u9_record_open(log, record, &p.reading, &fault) != U9_OK) {
        free(p.buf);
        return tool_fault(&fault);
    }
    int status = style->format == TOOL_RAW ? put_raw(&p) : put_shown(&p);
    u9_record_close(p.reading);
    free(p.buf);
    return status;
}
