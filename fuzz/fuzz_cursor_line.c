/*
 * fuzz/fuzz_cursor_line.c: any bytes as a saved cursor.
 *
 * A line that is taken is the one that its place has: as it stands, and with the check mended, which cannot be guessed.
 */
#include "engine/read/cursor_line.h"
#include "format/base/hash.h"

#include <u9/cursor.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) abort();
}

enum { CHECK = 8 }; /* characters of the last word */

/* The check of what stands in front of it. */
static void put_check(char *line, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t hash[U9I_HASH_SIZE];
    u9i_hash(line, size, hash);
    for (size_t i = 0; i < CHECK; i++) line[size + i] = digits[i % 2 ? hash[i / 2] & 15 : hash[i / 2] >> 4];
}

static void take(const char *line)
{
    u9i_cursor_line l;
    u9_fault fault;
    char again[U9_CURSOR_TEXT_SIZE];
    size_t size = strcspn(line, "\n");
    u9_err err = u9i_cursor_line_parse(line, &l, &fault);
    if (err != U9_OK) {
        must((err == U9_ARG || err == U9_VERSION) && strcmp(fault.rule, "Q-3") == 0);
        return;
    }
    u9i_cursor_line_format(&l, again);
    must(strlen(again) == size && memcmp(again, line, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = calloc(1, size + 1);
    must(line != NULL);
    if (size > 0) memcpy(line, data, size);
    take(line);
    size_t end = strcspn(line, "\n");
    if (end > CHECK) {
        put_check(line, end - CHECK);
        take(line);
    }
    free(line);
    return 0;
}
