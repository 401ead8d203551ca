/*
 * engine/read/cursor_line.c: see cursor_line.h. [K-3]
 *
 *     u9cursor1 LOG ORDINAL BOUNDARY FRAME CHECK
 */
#include "engine/read/cursor_line.h"

#include "format/base/bytes.h"
#include "format/base/fault.h"
#include "format/base/hash.h"

#include <u9/cursor.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char word[] = "u9cursor";

enum { WORD = sizeof word - 1, HEX = 2 * U9I_HASH_SIZE, CHECK = 8 };

static void show_hex(char *out, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* What tells a line that was mistyped or cut from one that was written so. */
static void sum_of(const char *line, size_t size, char out[CHECK + 1])
{
    uint8_t hash[U9I_HASH_SIZE];
    u9i_hash(line, size, hash);
    show_hex(out, hash, CHECK / 2);
}

void u9i_cursor_line_format(const u9i_cursor_line *s, char *out)
{
    char log[HEX + 1], boundary[HEX + 1];
    show_hex(log, s->log, sizeof s->log);
    show_hex(boundary, s->boundary, sizeof s->boundary);
    int size = snprintf(out, U9_CURSOR_TEXT_SIZE, "%s1 %s %" PRIu64 " %s %" PRIu64 " ", word, log, s->ordinal, boundary, s->frame);
    sum_of(out, (size_t)size, out + size);
}

static u9_err refuse_line(u9_fault *fault, const char *name, const char *what)
{
    return u9i_fault(fault, U9_ARG, U9I_AT(.rule = "K-3"), "not a saved cursor: the %s %s", name, what);
}

/* Lower case only, so that a place has one line. */
static bool read_hex(const char **text, uint8_t *out)
{
    for (size_t i = 0; i < HEX; i++) {
        char c = (*text)[i];
        int digit = u9i_hex_digit((unsigned char)c);
        if (digit < 0 || (c >= 'A' && c <= 'F')) return false;
        out[i / 2] = (uint8_t)(i % 2 ? out[i / 2] | digit : digit << 4);
    }
    *text += HEX;
    return true;
}

static bool read_number(const char **text, uint64_t *out)
{
    const char *p = *text;
    uint64_t n = 0;
    bool leads = *p == '0';
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (n > UINT64_MAX / 10 || n * 10 > UINT64_MAX - digit) return false;
        n = n * 10 + digit;
    }
    if (p == *text || (leads && p - *text > 1)) return false;
    *text = p;
    *out = n;
    return true;
}

static bool read_blank(const char **text)
{
    bool there = **text == ' ';
    *text += there;
    return there;
}

u9_err u9i_cursor_line_parse(const char *line, u9i_cursor_line *out, u9_fault *fault)
{
    const char *p = line + WORD;
    u9i_cursor_line s;
    uint64_t version = 0;
    char check[CHECK + 1];
    if (strncmp(line, word, WORD) != 0 || !read_number(&p, &version) || !read_blank(&p))
        return refuse_line(fault, "first word", "is not u9cursor1");
    if (version != 1)
        return u9i_fault(fault, U9_VERSION, U9I_AT(.rule = "K-3"), "the saved cursor is of another version");
    if (!read_hex(&p, s.log) || !read_blank(&p)) return refuse_line(fault, "log id", "is not 32 lower-case hex digits");
    if (!read_number(&p, &s.ordinal) || !read_blank(&p)) return refuse_line(fault, "ordinal", "is not a number below 2^64");
    if (!read_hex(&p, s.boundary) || !read_blank(&p)) return refuse_line(fault, "boundary", "is not 32 lower-case hex digits");
    if (!read_number(&p, &s.frame) || !read_blank(&p)) return refuse_line(fault, "frame", "is not a number below 2^64");
    sum_of(line, (size_t)(p - line), check);
    size_t rest = strcspn(p, "\n");
    if (rest < CHECK) return refuse_line(fault, "check", "is not there: the line was cut");
    if (rest > CHECK || memcmp(p, check, CHECK) != 0 || (p[CHECK] == '\n' && p[CHECK + 1] != 0))
        return refuse_line(fault, "check", "does not fit: the line was changed on its way");
    *out = s;
    return U9_OK;
}
