/*
 * fuzz/fuzz_cursor_line.c: any bytes as a saved cursor.
 *
 * A line that is taken is the one that its place has: as it stands, and with the check mended, which cannot be guessed.
 */
#include "engine/read/cursor_line.h"


#include <u9/cursor.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) abort();
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
    if (end > U9I_CHECK_WORD) {
        u9i_put_check(line, end - U9I_CHECK_WORD, line + end - U9I_CHECK_WORD);
        take(line);
    }
    free(line);
    return 0;
}
