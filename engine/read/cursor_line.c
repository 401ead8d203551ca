/*
 * engine/read/cursor_line.c: see cursor_line.h.
 *
 *     u9cursor1 LOG ORDINAL BOUNDARY FRAME CHECK
 */
#include "engine/read/cursor_line.h"

#include "format/base/fault.h"
#include "format/base/words.h"

#include <string.h>

static const char first_word[] = "u9cursor";

enum { WORD = sizeof first_word - 1 };

void u9i_cursor_line_format(const u9i_cursor_line *l, char *out)
{
    char *next = out + WORD;
    memcpy(out, first_word, WORD);
    *next++ = '1';
    *next++ = ' ';
    next = u9i_put_hex(next, l->log, sizeof l->log);
    *next++ = ' ';
    next = u9i_put_decimal(next, l->ordinal);
    *next++ = ' ';
    next = u9i_put_hex(next, l->boundary, sizeof l->boundary);
    *next++ = ' ';
    next = u9i_put_decimal(next, l->frame);
    *next++ = ' ';
    u9i_put_check(out, (size_t)(next - out), next);
    next[U9I_CHECK_WORD] = 0;
}

static u9_err refuse_line(u9_fault *fault, const char *name, const char *what)
{
    return u9i_fault(fault, U9_ARG, U9I_AT(.rule = "Q-3"), "not a saved cursor: the %s %s", name, what);
}

/* The size of the word at `*text`, which moves behind it and the blank there; 0: no blank is behind it. */
static size_t pass_word(const char **text, const char **start)
{
    size_t size = strcspn(*text, " \n");
    *start = *text;
    *text += size;
    if (**text != ' ') return 0;
    ++*text;
    return size;
}

static bool pass_hex(const char **text, uint8_t *out)
{
    const char *start;
    size_t size = pass_word(text, &start);
    return u9i_take_hex(start, size, out);
}

static bool pass_number(const char **text, uint64_t *out)
{
    const char *start;
    size_t size = pass_word(text, &start);
    return u9i_take_decimal(start, size, out);
}

u9_err u9i_cursor_line_parse(const char *line, u9i_cursor_line *out, u9_fault *fault)
{
    static const char hex[] = "is not 32 lower-case hex digits", number[] = "is not a number below 2^64";
    const char *p = line + WORD;
    u9i_cursor_line l;
    uint64_t version = 0;
    char check[U9I_CHECK_WORD];
    if (strncmp(line, first_word, WORD) != 0 || !pass_number(&p, &version))
        return refuse_line(fault, "first word", "is not u9cursor1");
    if (version != 1)
        return u9i_fault(fault, U9_VERSION, U9I_AT(.rule = "Q-3"), "the saved cursor is of another version");
    if (!pass_hex(&p, l.log)) return refuse_line(fault, "log id", hex);
    if (!pass_number(&p, &l.ordinal)) return refuse_line(fault, "ordinal", number);
    if (!pass_hex(&p, l.boundary)) return refuse_line(fault, "boundary", hex);
    if (!pass_number(&p, &l.frame)) return refuse_line(fault, "frame", number);
    u9i_put_check(line, (size_t)(p - line), check);
    size_t rest = strcspn(p, "\n");
    if (rest < sizeof check) return refuse_line(fault, "check", "is not there: the line was cut");
    if (rest > sizeof check || memcmp(p, check, sizeof check) != 0 || (p[rest] == '\n' && p[rest + 1] != 0))
        return refuse_line(fault, "check", "does not fit: the line was changed on its way");
    *out = l;
    return U9_OK;
}
