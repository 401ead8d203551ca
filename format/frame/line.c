/*
 * format/frame/line.c: see line.h. [M-7] [P-5]
 */
#include "format/frame/line.h"

#include "format/base/bytes.h"
#include "format/base/fault.h"
#include "format/base/hash.h"
#include "format/base/limits.h"

#include <string.h>

enum { HEX = 2 * U9I_HASH_SIZE, CHECK = 8 };

static char *put_hex(char *out, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    return out;
}

static char *put_decimal(char *out, uint64_t n)
{
    char digits[20], *next = digits + sizeof digits;
    do *--next = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    size_t size = (size_t)(digits + sizeof digits - next);
    memcpy(out, next, size);
    return out + size;
}

/* What tells a line that was mistyped or cut from one that was written so. */
static void check_of(const char *line, size_t size, char out[CHECK])
{
    uint8_t hash[U9I_HASH_SIZE];
    u9i_hash(line, size, hash);
    (void)put_hex(out, hash, CHECK / 2);
}

const char *u9i_line_format(const u9i_line_kind *kind, const void *memory, char *out)
{
    const uint8_t *m = (const uint8_t *)memory;
    size_t word = strlen(kind->name);
    char *next = out + word;
    memcpy(out, kind->name, word);
    *next++ = '1';
    for (size_t i = 0; i < kind->count; i++) {
        const u9i_line_field *f = &kind->fields[i];
        uint64_t number;
        *next++ = ' ';
        if (f->hex) {
            next = put_hex(next, m + f->at, U9I_HASH_SIZE);
            continue;
        }
        memcpy(&number, m + f->at, sizeof number);
        next = put_decimal(next, number);
    }
    *next++ = ' ';
    check_of(out, (size_t)(next - out), next);
    next[CHECK] = 0;
    return out;
}

u9_err u9i_line_refuse(const u9i_line_kind *kind, size_t at, const char *name, const char *what, u9_fault *fault)
{
    return u9i_fault(fault, U9_ARG, U9I_AT_OFFSET(at, .rule = kind->rule), "not the line of %s: the %s %s", kind->what,
                     name, what);
}

/* A line that is taken apart. */
typedef struct reading {
    const u9i_line_kind *kind;
    const char *line;
    size_t size, next;
    u9_fault *fault;
} reading;

static u9_err refuse_word(const reading *r, size_t at, const char *name, const char *what)
{
    return u9i_line_refuse(r->kind, at, name, what, r->fault);
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

/* Lower case only, so that a mark has one line. */
static bool take_hex(const char *text, size_t size, uint8_t *out)
{
    if (size != HEX) return false;
    for (size_t i = 0; i < size; i++) {
        int digit = u9i_hex_digit((unsigned char)text[i]);
        if (digit < 0 || (text[i] >= 'A' && text[i] <= 'F')) return false;
        out[i / 2] = (uint8_t)(i % 2 ? out[i / 2] | digit : digit << 4);
    }
    return true;
}

static bool take_number(const char *text, size_t size, uint64_t *out)
{
    uint64_t n = 0;
    if (size == 0 || (size > 1 && text[0] == '0')) return false;
    for (size_t i = 0; i < size; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (text[i] < '0' || text[i] > '9' || n > UINT64_MAX / 10 || (n == UINT64_MAX / 10 && digit > UINT64_MAX % 10))
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

static u9_err take_field_value(reading *r, const u9i_line_field *f, uint8_t *out)
{
    size_t at = r->next, size = take_field(r);
    uint64_t number;
    if (at >= r->size) return refuse_word(r, at, f->name, "is not there: the line was cut");
    if (f->hex && !take_hex(r->line + at, size, out))
        return refuse_word(r, at, f->name, "is not 32 lower-case hex digits");
    if (f->hex) return U9_OK;
    if (!take_number(r->line + at, size, &number))
        return refuse_word(r, at, f->name, "is not a decimal number below 2^64 without zeros in front");
    memcpy(out, &number, sizeof number);
    return U9_OK;
}

/* The first word: what it is, and of which version. */
static u9_err take_name(reading *r)
{
    size_t word = strlen(r->kind->name), first = take_field(r);
    char what[32] = "is not ";
    uint64_t version = 0;
    memcpy(what + 7, r->kind->name, word);
    what[7 + word] = '1';
    if (first <= word || memcmp(r->line, r->kind->name, word) != 0 ||
        !take_number(r->line + word, first - word, &version))
        return refuse_word(r, 0, "first word", what);
    if (version == 1) return U9_OK;
    return u9i_fault(r->fault, U9_VERSION, U9I_AT_OFFSET(word, .rule = r->kind->rule),
                     "the line of %s is of another version", r->kind->what);
}

u9_err u9i_line_parse(const u9i_line_kind *kind, const char *line, size_t size, void *memory, u9_fault *fault)
{
    reading r = {.kind = kind, .line = line, .size = size, .fault = fault};
    char check[CHECK];
    if (r.size > 0 && line[r.size - 1] == '\n') r.size--;
    u9_err err = take_name(&r);
    for (size_t i = 0; err == U9_OK && i < kind->count; i++)
        err = take_field_value(&r, &kind->fields[i], (uint8_t *)memory + kind->fields[i].at);
    if (err != U9_OK) return err;
    size_t at = r.next;
    check_of(line, at, check);
    if (r.size < at + CHECK) return refuse_word(&r, at, "check", "is not there: the line was cut");
    if (r.size != at + CHECK || memcmp(line + at, check, CHECK) != 0)
        return refuse_word(&r, at, "check", "does not fit: the line was changed on its way");
    return U9_OK;
}
