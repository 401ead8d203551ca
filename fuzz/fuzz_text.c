/*
 * fuzz/fuzz_text.c: any bytes as a value that is printed and read back [N-1] to [N-7], and as a
 * text that is read [N-8].
 *
 * Bytes that are a well-formed value have a text, and that text reads back to the same bytes. A
 * text that is read gives a well-formed value, whose own text reads back to the same bytes too; one
 * that is refused is so at a place within it. Both texts and bytes stand in blocks of exactly their
 * size.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <u9/value_text.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) abort();
}

/* Grows to exactly what is needed: a write past the end is seen. */
static u9_err grow(void *ctx, uint8_t **bytes, size_t *cap, size_t need)
{
    (void)ctx;
    uint8_t *more = (uint8_t *)realloc(*bytes, need);
    if (!more) return U9_NOMEM;
    *bytes = more;
    *cap = need;
    return U9_OK;
}

static void print_and_parse(const uint8_t *bytes, size_t size)
{
    size_t length = 0, again = 0, used = 0;
    u9_fault fault;
    u9_builder b;
    u9_err err = u9_value_text(bytes, size, NULL, 0, &length, &fault);
    must(err == U9_LIMIT && length > 0);
    char *text = (char *)malloc(length + 1);
    if (!text || length > 1 << 22) {
        free(text);
        return;
    }
    must(u9_value_text(bytes, size, text, length + 1, &again, &fault) == U9_OK);
    must(again == length && strlen(text) == length && u9_utf8_valid(text, length));
    text = (char *)realloc(text, length);
    u9_builder_init_growing(&b, grow, NULL);
    must(u9_value_parse(text, length, &used, &b, &fault) == U9_OK && used == length);
    must(b.size == size && memcmp(b.bytes, bytes, size) == 0);
    free(b.bytes);
    free(text);
}

static void parse(const char *text, size_t size)
{
    size_t used = SIZE_MAX;
    u9_fault fault;
    u9_builder b;
    u9_builder_init_growing(&b, grow, NULL);
    u9_err err = u9_value_parse(text, size, &used, &b, &fault);
    if (err == U9_OK) {
        must(used <= size && b.depth == 0);
        must(u9_value_check(b.bytes, b.size, NULL, NULL) == U9_OK);
        print_and_parse(b.bytes, b.size);
    } else if (err != U9_END) {
        must(fault.err == err && fault.offset <= size && used == SIZE_MAX && b.size == 0);
        must(memchr(fault.text, '\0', sizeof fault.text) != NULL);
        must(u9_utf8_valid(fault.text, strlen(fault.text)));
    }
    free(b.bytes);
}

static void parse_typecode(const char *text, size_t size)
{
    uint8_t bytes[U9_TYPECODE_MAX], second[U9_TYPECODE_MAX];
    char again[1 << 14];
    size_t length = 0, n = 0, m = 0;
    if (u9_typecode_parse(text, size, bytes, &n, NULL) != U9_OK) return;
    must(u9_typecode_text(bytes, n, again, sizeof again, &length) == U9_OK);
    must(u9_typecode_parse(again, length, second, &m, NULL) == U9_OK);
    must(m == n && memcmp(bytes, second, n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && u9_value_check(data, size, NULL, NULL) == U9_OK) print_and_parse(data, size);
    parse((const char *)data, size);
    parse_typecode((const char *)data, size);
    return 0;
}
