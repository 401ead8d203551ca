/*
 * format/value/text/scanner.h: the words of the text notation: blanks, names, numbers, quoted text. [N-1] to
 * [N-5]
 *
 * Room: format/value/text
 * Sees: include format/base format/value
 *
 * The room owns the text notation, both ways.
 *
 * A u9i_scanner goes over a caller's text once. What it does not take is refused with line, column,
 * what was expected and what stands there; text that ends too early is torn. After a refusal the
 * scan is over.
 */
#ifndef U9I_SCANNER_H
#define U9I_SCANNER_H

#include <u9/err.h>

#include <stdbool.h>

typedef struct u9i_scanner {
    const char *text; /* borrows */
    size_t size, at;
    u9_fault *fault; /* may be NULL */
} u9i_scanner;

/* A name or a number: letters, digits, `.`, `+`, `-`, `_`. */
typedef struct u9i_word {
    const char *text;
    size_t size;
} u9i_word;

enum { U9I_SCANNER_END = -1 };

/* The character at s->at, or U9I_SCANNER_END. */
static inline int u9i_scanner_peek(const u9i_scanner *s)
{
    return s->at < s->size ? (unsigned char)s->text[s->at] : U9I_SCANNER_END;
}

/* Passes blanks and comments. [N-1] */
void u9i_scanner_blank(u9i_scanner *s);

/* Fills the fault with the place `at` and the sentence. Returns `err`. */
u9_err u9i_scanner_refuse(const u9i_scanner *s, u9_err err, size_t at, const char *rule,
                          const char *text);

/* The same with the numbers for the first and second `#` in the sentence, and the word at `at` for
 * `$`. */
u9_err u9i_scanner_refuse_counts(const u9i_scanner *s, u9_err err, size_t at, const char *rule,
                                 const char *text, uint64_t first, uint64_t second);

/* "expected WHAT, not ...": refuses what stands at s->at. U9_TORN at the end of the text and for a
 * word that reaches it, else U9_CORRUPT. */
u9_err u9i_scanner_expected(const u9i_scanner *s, const char *rule, const char *what);

/* Passes blanks and then `c`, or refuses. */
U9_MUST_CHECK u9_err u9i_scanner_take(u9i_scanner *s, char c, const char *rule);

/* Where a value ends, something has to: a blank, a bracket, a quote, a comment or the text. [N-1]
 * */
U9_MUST_CHECK u9_err u9i_scanner_delimiter(const u9i_scanner *s);

/* The word at s->at, maybe empty. Passes it. */
u9i_word u9i_scanner_word(u9i_scanner *s);

/* Passes blanks and then a whole number below 2^64 with an end behind it. */
U9_MUST_CHECK u9_err u9i_scanner_count(u9i_scanner *s, uint64_t *out);

bool u9i_word_is(u9i_word word, const char *text);

/* A whole number -? (0 | [1-9][0-9]*), no larger than 2^64 - 1 without its sign; `too_large` tells
 * one that is from what is none. */
bool u9i_word_integer(u9i_word word, bool *negative, uint64_t *magnitude, bool *too_large);

/* True if the word has the form of a number with or without fraction and exponent. [N-4] */
bool u9i_word_real(u9i_word word);

/* What stands in quotes: characters and escapes, or (of x"...") hex digits. [N-3] */
typedef struct u9i_quoted {
    const char *next; /* borrows */
    size_t size;      /* bytes that it stands for */
    bool hex;
} u9i_quoted;

/* Passes the quoted text at s->at. */
U9_MUST_CHECK u9_err u9i_scanner_quoted(u9i_scanner *s, bool hex, u9i_quoted *out);

enum { U9I_PIECE = 256 };

/* The next bytes that it stands for: how many, 0 behind the last. */
size_t u9i_unquote(u9i_quoted *quoted, uint8_t out[U9I_PIECE]);

/* True for characters of symbols that need no quotes. [N-3] */
bool u9i_symbol_plain(unsigned char c);

#endif
