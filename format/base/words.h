/*
 * format/base/words.h: the words of the lines that are kept elsewhere: hex digits, decimal numbers, and what tells a line
 * that was mistyped or cut. [M-7]
 */
#ifndef U9I_WORDS_H
#define U9I_WORDS_H

#include "format/base/bytes.h"

#include <stdbool.h>

enum { U9I_CHECK_WORD = 8 }; /* characters */

/* Puts two lower-case digits a byte; returns where they end. */
char *u9i_put_hex(char *out, const uint8_t *bytes, size_t size);

/* Puts a number without zeros in front; returns where it ends. */
char *u9i_put_decimal(char *out, uint64_t n);

/* The check of a line of which so much stands before it, the blank included. */
void u9i_put_check(const char *line, size_t size, char out[U9I_CHECK_WORD]);

/* 16 bytes of 32 lower-case digits: so bytes have one line. False: the word is something else. */
bool u9i_take_hex(const char *text, size_t size, uint8_t *out);

/* A number below 2^64 without zeros in front. */
bool u9i_take_decimal(const char *text, size_t size, uint64_t *out);

#endif
