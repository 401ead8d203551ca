/*
 * format/frame/mark_line.c: a mark as one line of text: u9/mark.h. [M-7]
 *
 *     u9mark1 LOG FIRST SEGMENT BOUNDARY OFFSET ORDINAL CHAIN TIME CHECK
 *
 * One table says what the fields are; both directions go by it.
 */
#include "format/base/bytes.h"
#include "format/base/fault.h"
#include "format/base/hash.h"
#include "format/base/limits.h"
#include "format/base/words.h"
#include "format/frame/frame.h"

#include <u9/mark.h>

#include <string.h>

static const char word[] = "u9mark1";

enum { WORD = sizeof word - 1, CHECK = U9I_CHECK_WORD };

/* A field: 16 bytes in hex, or a decimal number. */
static const struct field {
    const char *name;
    size_t at; /* in a u9_mark */
    bool hex;
} fields[] = {
    {"log id", offsetof(u9_mark, log), true},
    {"first ordinal", offsetof(u9_mark, first_ordinal), false},
    {"segment", offsetof(u9_mark, segment), false},
    {"boundary", offsetof(u9_mark, boundary), true},
    {"end offset", offsetof(u9_mark, offset), false},
    {"end ordinal", offsetof(u9_mark, ordinal), false},
    {"chain", offsetof(u9_mark, chain), true},
    {"time", offsetof(u9_mark, time_us), false},
};

enum { FIELDS = sizeof fields / sizeof *fields };

const char *u9_mark_format(const u9_mark *mark, char out[U9_MARK_LINE_SIZE])
{
    const uint8_t *m = (const uint8_t *)mark;
    char *next = out + WORD;
    memcpy(out, word, WORD);
    for (size_t i = 0; i < FIELDS; i++) {
        uint64_t number;
        *next++ = ' ';
        if (fields[i].hex) {
            next = u9i_put_hex(next, m + fields[i].at, U9I_HASH_SIZE);
            continue;
        }
        memcpy(&number, m + fields[i].at, sizeof number);
        next = u9i_put_decimal(next, number);
    }
    *next++ = ' ';
    u9i_put_check(out, (size_t)(next - out), next);
    next[CHECK] = 0;
    return out;
}

/* A line that is taken apart. */
typedef struct reading {
    const char *line;
    size_t size, next;
    u9_fault *fault;
} reading;

static u9_err refuse_word(const reading *r, size_t at, const char *name, const char *what)
{
    return u9i_fault(r->fault, U9_ARG, U9I_AT_OFFSET(at, .rule = "M-7"), "not the line of a mark: the %s %s", name,
                     what);
}

/* Bytes up to the next blank, which is passed; at the end, nothing. */
static size_t take_field(reading *r)
{
    size_t at = r->next;
    while (r->next < r->size && r->line[r->next] != ' ') r->next++;
    size_t size = r->next - at;
    r->next += r->next < r->size;
    return size;
}

static u9_err take_field_value(reading *r, const struct field *f, uint8_t *out)
{
    size_t at = r->next, size = take_field(r);
    uint64_t number;
    if (at >= r->size) return refuse_word(r, at, f->name, "is not there: the line was cut");
    if (f->hex && !u9i_take_hex(r->line + at, size, out))
        return refuse_word(r, at, f->name, "is not 32 lower-case hex digits");
    if (f->hex) return U9_OK;
    if (!u9i_take_decimal(r->line + at, size, &number))
        return refuse_word(r, at, f->name, "is not a decimal number below 2^64 without zeros in front");
    memcpy(out, &number, sizeof number);
    return U9_OK;
}

/* [M-2] */
static u9_err prove_mark(const reading *r, const u9_mark *m)
{
    const uint64_t least = U9I_DISK_HEADER_SIZE + U9I_FRAME_HEADER_SIZE + U9I_TRAILER_SIZE;
    if (m->segment == 0) return refuse_word(r, 0, "segment", "is 0");
    if (m->offset < least || m->offset > U9I_SEGMENT_MAX || m->offset % U9I_ALIGN != 0)
        return refuse_word(r, 0, "end offset", "is not where a frame can end");
    if (m->ordinal < m->first_ordinal) return refuse_word(r, 0, "end ordinal", "is below the first one");
    return U9_OK;
}

u9_err u9_mark_parse(const char *line, size_t size, u9_mark *out, u9_fault *fault)
{
    reading r = {.line = line, .size = size, .fault = fault};
    u9_mark mark = {.segment = 0};
    char check[CHECK];
    if (line == NULL || out == NULL) return u9i_refuse(fault, U9_ARG, U9_NOWHERE, "M-7", "an argument is NULL");
    if (r.size > 0 && line[r.size - 1] == '\n') r.size--;
    size_t first = take_field(&r);
    uint64_t version = 0;
    if (first < WORD || memcmp(line, word, WORD - 1) != 0 || !u9i_take_decimal(line + WORD - 1, first - WORD + 1, &version))
        return refuse_word(&r, 0, "first word", "is not u9mark1");
    if (version != 1) return u9i_refuse(fault, U9_VERSION, WORD - 1, "M-7", "the line of a mark is of another version");
    for (size_t i = 0; i < FIELDS; i++) {
        u9_err err = take_field_value(&r, &fields[i], (uint8_t *)&mark + fields[i].at);
        if (err != U9_OK) return err;
    }
    size_t at = r.next;
    u9i_put_check(line, at, check);
    if (r.size < at + CHECK) return refuse_word(&r, at, "check", "is not there: the line was cut");
    if (r.size != at + CHECK || memcmp(line + at, check, CHECK) != 0)
        return refuse_word(&r, at, "check", "does not fit: the line was changed on its way");
    u9_err err = prove_mark(&r, &mark);
    if (err == U9_OK) *out = mark;
    return err;
}
