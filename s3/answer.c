/*
 * s3/answer.c: what a bucket says in XML: the few elements that matter, found by their names.
 *
 * A listing is a row of elements without attributes, and names in it are escaped: what looks like an element is one.
 */
#include "s3/s3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *find(const char *at, const char *end, const char *tag)
{
    size_t n = strlen(tag);
    return (size_t)(end - at) < n ? NULL : memmem(at, (size_t)(end - at), tag, n);
}

bool u9s_answer_element(const char **at, const char *end, const char *name, const char **from, const char **to)
{
    char open[64], close[64];
    snprintf(open, sizeof open, "<%s>", name);
    snprintf(close, sizeof close, "</%s>", name);
    const char *begin = find(*at, end, open);
    if (begin == NULL) return false;
    begin += strlen(open);
    const char *stop = find(begin, end, close);
    if (stop == NULL) return false;
    *from = begin;
    *to = stop;
    *at = stop + strlen(close);
    return true;
}

/* "&#39;", "&#x27;", of ASCII. 0: it is none. */
static char unescape_number(const char **at, const char *end)
{
    char text[8] = "", *stop;
    size_t n = (size_t)(end - *at);
    memcpy(text, *at, n < sizeof text ? n : sizeof text - 1);
    if (text[1] != '#') return 0;
    unsigned long c = text[2] == 'x' ? strtoul(text + 3, &stop, 16) : strtoul(text + 2, &stop, 10);
    if (*stop != ';' || c > 127) return 0;
    *at += stop + 1 - text;
    return (char)c;
}

/* The character that an escape stands for; *at is behind it. 0: it is none that is known. */
static char unescape(const char **at, const char *end)
{
    static const struct {
        const char *text;
        char is;
    } known[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].text);
        if ((size_t)(end - *at) < n || memcmp(*at, known[i].text, n) != 0) continue;
        *at += n;
        return known[i].is;
    }
    return unescape_number(at, end);
}

bool u9s_answer_next(const char **at, const char *end, const char *name, char *out, size_t size)
{
    const char *from, *to;
    size_t n = 0;
    if (!u9s_answer_element(at, end, name, &from, &to)) return false;
    while (from < to && n + 1 < size) {
        char c = *from == '&' ? unescape(&from, to) : *from++;
        if (c == 0) return false;
        out[n++] = c;
    }
    out[n] = 0;
    return from == to;
}

bool u9s_encode(const char *text, size_t n, bool slashes, char *out, size_t size)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    size_t at = strlen(out);
    for (size_t i = 0; i < n; i++) {
        bool as_is = text[i] && (strchr(plain, text[i]) || (slashes && text[i] == '/'));
        if (at + 4 > size) return false;
        at += (size_t)sprintf(out + at, as_is ? "%c" : "%%%02X", as_is ? text[i] : (unsigned char)text[i]);
    }
    return true;
}
