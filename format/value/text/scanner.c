/*
 * format/value/text/scanner.c: see scanner.h. [N-1] to [N-5]
 */
#include "format/value/text/scanner.h"

#include "format/base/bytes.h"
#include "format/base/fault.h"

#include <u9/value.h>

#include <inttypes.h>
#include <string.h>

enum { WORD_SHOWN = 40 };

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(int c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '+' || c == '-' || c == '_';
}

bool u9i_symbol_plain(unsigned char c)
{
    return is_word(c) || (c != '\0' && strchr("!#$%&*/<=>?@^~", c) != NULL);
}

void u9i_scanner_blank(u9i_scanner *s)
{
    for (;; s->at++) {
        int c = u9i_scanner_peek(s);
        if (c == ';')
            while (u9i_scanner_peek(s) != '\n' && u9i_scanner_peek(s) != U9I_SCANNER_END) s->at++;
        else if (!is_blank(c)) return;
        if (s->at == s->size) return;
    }
}

static void add_word(u9_fault *fault, u9i_word word)
{
    bool cut = word.size > WORD_SHOWN;
    u9i_fault_add(fault, "%.*s%s", cut ? WORD_SHOWN : (int)word.size, word.text, cut ? "..." : "");
}

/* Begins the fault of a place in the text; its sentence goes on with what is added. */
static void begin_fault(const u9i_scanner *s, u9_err err, size_t at, const char *rule)
{
    uint64_t line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        if (((unsigned char)s->text[i] & 0xc0) != 0x80) column++; /* characters, not bytes */
        if (s->text[i] == '\n') line++, column = 1;
    }
    u9i_fault(s->fault, err, U9I_AT_OFFSET(at, .rule = rule),
              "line %" PRIu64 ", column %" PRIu64 ": ", line, column);
}

u9_err u9i_scanner_refuse_counts(const u9i_scanner *s, u9_err err, size_t at, const char *rule,
                                 const char *text, uint64_t first, uint64_t second)
{
    if (!s->fault) return err;
    u9i_scanner ahead = {.text = s->text, .size = s->size, .at = at};
    begin_fault(s, err, at, rule);
    for (;; text++) {
        size_t plain = strcspn(text, "$#");
        u9i_fault_add(s->fault, "%.*s", (int)plain, text);
        text += plain;
        if (*text == '\0') return err;
        if (*text == '$') {
            add_word(s->fault, u9i_scanner_word(&ahead));
        } else {
            u9i_fault_add(s->fault, "%" PRIu64, first);
            first = second;
        }
    }
}

u9_err u9i_scanner_refuse(const u9i_scanner *s, u9_err err, size_t at, const char *rule, const char *text)
{
    return u9i_scanner_refuse_counts(s, err, at, rule, text, 0, 0);
}

u9_err u9i_scanner_expected(const u9i_scanner *s, const char *rule, const char *what)
{
    int c = u9i_scanner_peek(s);
    u9i_scanner ahead = *s;
    u9i_word word = u9i_scanner_word(&ahead);
    /* A word at the end of the text may be cut. */
    u9_err err = ahead.at == s->size ? U9_TORN : U9_CORRUPT;
    if (!s->fault) return err;
    begin_fault(s, err, s->at, rule);
    u9i_fault_add(s->fault, "expected %s%s", what,
                  c == U9I_SCANNER_END ? ", but the text ends" : ", not ");
    if (c == U9I_SCANNER_END) return err;
    if (c == '\n') {
        u9i_fault_add(s->fault, "the end of the line");
    } else if (c < 0x20 || c >= 0x7f) {
        u9i_fault_add(s->fault, "the byte %02x", (unsigned)c);
    } else if (word.size > 0) {
        u9i_fault_add(s->fault, "'");
        add_word(s->fault, word);
        u9i_fault_add(s->fault, "'");
    } else {
        u9i_fault_add(s->fault, "'%c'", c);
    }
    return err;
}

u9_err u9i_scanner_take(u9i_scanner *s, char c, const char *rule)
{
    char what[] = "'?'";
    what[1] = c;
    u9i_scanner_blank(s);
    if (u9i_scanner_peek(s) != (unsigned char)c) return u9i_scanner_expected(s, rule, what);
    s->at++;
    return U9_OK;
}

u9_err u9i_scanner_delimiter(const u9i_scanner *s)
{
    int c = u9i_scanner_peek(s);
    if (c == U9I_SCANNER_END || is_blank(c) || (c != '\0' && strchr("()[]\";", c))) return U9_OK;
    return u9i_scanner_refuse(s, U9_CORRUPT, s->at, "N-1", "a blank is missing behind the value");
}

u9i_word u9i_scanner_word(u9i_scanner *s)
{
    size_t begin = s->at;
    while (s->at < s->size && is_word((unsigned char)s->text[s->at])) s->at++;
    return (u9i_word){.text = s->text + begin, .size = s->at - begin};
}

bool u9i_word_is(u9i_word word, const char *text)
{
    return strlen(text) == word.size && memcmp(word.text, text, word.size) == 0;
}

/* Digits from `at` on: how many; none if the first of several is a 0. */
static size_t whole_digits(u9i_word word, size_t at)
{
    size_t n = 0;
    while (at + n < word.size && is_digit(word.text[at + n])) n++;
    return n > 1 && word.text[at] == '0' ? 0 : n;
}

bool u9i_word_integer(u9i_word word, bool *negative, uint64_t *magnitude, bool *too_large)
{
    size_t sign = word.size > 0 && word.text[0] == '-', digits = whole_digits(word, sign);
    uint64_t v = 0;
    *too_large = false;
    if (digits == 0 || sign + digits != word.size) return false;
    for (size_t i = sign; i < word.size; i++) {
        unsigned digit = (unsigned)(word.text[i] - '0');
        if (v > (UINT64_MAX - digit) / 10) *too_large = true;
        v = v * 10 + digit;
    }
    *negative = sign > 0;
    *magnitude = v;
    return !*too_large;
}

u9_err u9i_scanner_count(u9i_scanner *s, uint64_t *out)
{
    bool negative = false, too_large;
    u9i_scanner_blank(s);
    size_t at = s->at;
    if (u9i_word_integer(u9i_scanner_word(s), &negative, out, &too_large) && !negative) return U9_OK;
    s->at = at;
    return u9i_scanner_expected(s, "N-6", "a number from 0 to 2^64 - 1");
}

bool u9i_word_real(u9i_word word)
{
    size_t at = word.size > 0 && word.text[0] == '-', begin = at;
    at += whole_digits(word, at);
    if (at == begin) return false;
    if (at < word.size && word.text[at] == '.') {
        begin = ++at;
        while (at < word.size && is_digit(word.text[at])) at++;
        if (at == begin) return false;
    }
    if (at < word.size && (word.text[at] == 'e' || word.text[at] == 'E')) {
        at++;
        if (at < word.size && (word.text[at] == '+' || word.text[at] == '-')) at++;
        begin = at;
        while (at < word.size && is_digit(word.text[at])) at++;
        if (at == begin) return false;
    }
    return at == word.size;
}

/* One character of a quoted text at s->at that is neither quote nor control character: its bytes.
 * */
static u9_err scan_character(u9i_scanner *s)
{
    static const char *const what = "a character of UTF-8 (other bytes: \\xNN) or '\"'";
    int c = u9i_scanner_peek(s);
    size_t left = s->size - s->at;
    if (c == U9I_SCANNER_END || c < 0x20 || c == 0x7f) return u9i_scanner_expected(s, "N-3", what);
    if (c == '\\') {
        s->at++;
        int escape = u9i_scanner_peek(s);
        if (escape == U9I_SCANNER_END || escape == '\0' || !strchr("\\\"ntx", escape))
            return u9i_scanner_expected(s, "N-3", "\\\\ \\\" \\n \\t or \\xNN");
        s->at++;
        for (int i = 0; escape == 'x' && i < 2; i++, s->at++)
            if (u9i_hex_digit(u9i_scanner_peek(s)) < 0)
                return u9i_scanner_expected(s, "N-3", "two hex digits behind \\x");
        return U9_OK;
    }
    size_t size = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4, there = 1;
    while (there < size && there < left && ((unsigned char)s->text[s->at + there] & 0xc0) == 0x80)
        there++;
    bool cut = there == left && there < size && c >= 0xc2 && c <= 0xf4;
    if (!cut && !u9_utf8_valid(s->text + s->at, there)) return u9i_scanner_expected(s, "N-3", what);
    s->at += there;
    return U9_OK;
}

/* Two hex digits, with blanks before them. */
static u9_err scan_byte(u9i_scanner *s)
{
    while (is_blank(u9i_scanner_peek(s))) s->at++;
    if (u9i_scanner_peek(s) == '"') return U9_END;
    for (int i = 0; i < 2; i++, s->at++)
        if (u9i_hex_digit(u9i_scanner_peek(s)) < 0)
            return u9i_scanner_expected(s, "N-3",
                                        i == 0 ? "hex digits, two a byte, or '\"'"
                                               : "the second hex digit of a byte");
    return U9_OK;
}

u9_err u9i_scanner_quoted(u9i_scanner *s, bool hex, u9i_quoted *out)
{
    size_t size = 0;
    u9_err err = u9i_scanner_take(s, '"', "N-3");
    const char *begin = s->text + s->at;
    while (err == U9_OK && u9i_scanner_peek(s) != '"') {
        size_t at = s->at;
        bool one = hex || u9i_scanner_peek(s) == '\\';
        err = hex ? scan_byte(s) : scan_character(s);
        if (err == U9_OK) size += one ? 1 : s->at - at;
    }
    if (err != U9_OK && err != U9_END) return err;
    s->at++;
    *out = (u9i_quoted){.next = begin, .size = size, .hex = hex};
    return u9i_scanner_delimiter(s);
}

/* One byte of a quoted text that is known to be well-formed. */
static uint8_t unquote_byte(u9i_quoted *q)
{
    const char *p = q->next;
    bool escape = !q->hex && *p == '\\';
    if (escape) p++;
    bool hex = q->hex || (escape && *p == 'x');
    if (hex && escape) p++;
    q->next = p + (hex ? 2 : 1);
    if (hex) return (uint8_t)(u9i_hex_digit(p[0]) << 4 | u9i_hex_digit(p[1]));
    if (escape && *p == 'n') return '\n';
    return escape && *p == 't' ? '\t' : (uint8_t)*p;
}

size_t u9i_unquote(u9i_quoted *q, uint8_t out[U9I_PIECE])
{
    size_t n = 0;
    for (; n < U9I_PIECE && q->size > 0; q->size--) {
        while (q->hex && is_blank(*q->next)) q->next++;
        out[n++] = unquote_byte(q);
    }
    return n;
}
