/*
 * tools/nearest.c: see nearest.h.
 */
#include "tools/nearest.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int alike(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t tool_distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1], *before = rows[0], *above = rows[1], *row = rows[2], m = strlen(a), n = strlen(b);
    if (m > WORD_MAX || n > WORD_MAX) return m > n ? m : n;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t *spare = before;
        before = above, above = row, row = spare;
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + !alike(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && alike(a[i - 1], b[j - 2]) && alike(a[i - 2], b[j - 1])) row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[n];
}

int tool_is_nearer(const char *word, const char *name, size_t *best)
{
    size_t m = strlen(word), n = strlen(name), wrong = tool_distance(word, name);
    int begins = m > 1 && strncasecmp(word, name, m) == 0;
    if (wrong >= *best || (3 * wrong > (m > n ? m : n) && !begins)) return 0;
    *best = wrong;
    return 1;
}
