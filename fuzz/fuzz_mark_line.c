/*
 * fuzz/fuzz_mark_line.c: any bytes as the line of a mark. [M-7]
 *
 * A line that is taken is the one that its mark has: as it stands, and with the check mended, which cannot be guessed.
 * A refusal names a byte of the line or its end.
 */
#include "format/base/hash.h"

#include <u9/mark.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) abort();
}

static void take(const char *line, size_t size)
{
    u9_mark mark;
    u9_fault fault;
    char again[U9_MARK_LINE_SIZE];
    u9_err err = u9_mark_parse(line, size, &mark, &fault);
    if (err != U9_OK) {
        must((err == U9_ARG || err == U9_VERSION) && fault.offset <= size && strcmp(fault.rule, "M-7") == 0);
        return;
    }
    if (line[size - 1] == '\n') size--;
    u9_mark_format(&mark, again);
    must(strlen(again) == size && memcmp(again, line, size) == 0);
}

/* What stands in front of the last word, with the check that it should have. */
static void mend(const char *line, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t hash[U9I_HASH_SIZE];
    while (size > 0 && line[size - 1] != ' ') size--;
    char *mended = (char *)malloc(size + 8);
    if (!mended) return;
    memcpy(mended, line, size);
    u9i_hash(mended, size, hash);
    for (size_t i = 0; i < 8; i++) mended[size + i] = digits[i % 2 ? hash[i / 2] & 15 : hash[i / 2] >> 4];
    take(mended, size + 8);
    free(mended);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = (char *)malloc(size ? size : 1);
    if (!line) return 0;
    if (size) memcpy(line, data, size);
    take(line, size);
    mend(line, size);
    free(line);
    return 0;
}
