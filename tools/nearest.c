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

/* The option that a word without its dashes names, up to `size` bytes, or begins with if `part`; NULL: none. */
static const struct argp_option *find_long(const struct argp_option *options, const char *word, size_t size, int part)
{
    for (; options->name || options->key || options->doc; options++)
        if (options->name && strncmp(options->name, word, size) == 0 && (part || options->name[size] == '\0')) return options;
    return NULL;
}

static const struct argp_option *find_short(const struct argp_option *options, char letter)
{
    for (; options->name || options->key || options->doc; options++)
        if (options->key == letter) return options;
    return NULL;
}

static int wants_word(const struct argp_option *option)
{
    return option && option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

/* Of a word like -nq5: whether its last letter is an option whose argument is the next word. */
static int short_wants_word(const struct argp_option *options, const char *letters)
{
    for (; *letters; letters++) {
        const struct argp_option *option = find_short(options, *letters);
        if (option && option->arg) return wants_word(option) && letters[1] == '\0';
    }
    return 0;
}

/* If `word`, behind two dashes, is the beginning of no option, the one that may have been meant; else NULL. */
static const char *meant_by(const struct argp_option *options, const char *word, char said[TOOL_OPTION_SIZE])
{
    static const struct argp_option own[] = {{.name = "help"}, {.name = "usage"}, {.name = "version"}, {0}};
    const char *meant = NULL;
    size_t size = strcspn(word, "="), best = SIZE_MAX;
    if (size >= TOOL_OPTION_SIZE || find_long(options, word, size, 1) || find_long(own, word, size, 1)) return NULL;
    memcpy(said, word, size);
    said[size] = '\0';
    for (; options->name || options->key || options->doc; options++)
        if (options->name && tool_is_nearer(said, options->name, &best)) meant = options->name;
    return meant;
}

const char *tool_meant_option(const struct argp_option *options, char **argv, char said[TOOL_OPTION_SIZE])
{
    for (char **word = argv + 1; *word && strcmp(*word, "--") != 0; word++) {
        const struct argp_option *option = NULL;
        if (strncmp(*word, "--", 2) == 0) {
            const char *meant = meant_by(options, *word + 2, said);
            if (meant) return meant;
            if (!strchr(*word, '=')) option = find_long(options, *word + 2, strlen(*word + 2), 1);
        }
        int short_word = **word == '-' && (*word)[1] != '-' && short_wants_word(options, *word + 1);
        if ((wants_word(option) || short_word) && word[1]) word++; /* the next one is its argument, whatever it looks like */
    }
    return NULL;
}
