/*
 * tools/value_json.h: values as JSON and back (SPEC-values.md, J-*), for all verbs.
 */
#ifndef U9_TOOLS_VALUE_JSON_H
#define U9_TOOLS_VALUE_JSON_H

#include <u9/value.h>

#include <stdio.h>

#define VALUE_SIZE_MAX ((size_t)1 << 24) /* bytes of a value that the tools take */

/* To standard output: a value that has bytes of its own, as JSON. What is malformed is
 * {"$malformed":"hex"}, which no reader takes. */
void tool_put_json(const u9_value *value);

/* Where the calling thread's values and records go to; NULL: standard output. */
extern _Thread_local FILE *tool_sink;
static inline FILE *tool_out(void)
{
    return tool_sink ? tool_sink : stdout;
}

/* To there: bytes as they are; a text; a number's digits. */
void tool_put(const void *bytes, size_t size);
void tool_put_text(const char *text);
void tool_put_uint(uint64_t number);

/* To standard output: bytes as hex digits; a JSON string (bytes must be valid UTF-8), or what stands between its
 * quotes, in pieces that end between characters; a number
 * without quotes or wrapping, as the text notation has it: "-5", "1.5", "nan". */
void tool_put_hex(const uint8_t *bytes, size_t size);
void tool_put_string(const void *text, size_t size);
void tool_put_characters(const uint8_t *text, size_t size);
void tool_put_number(const u9_value *number);

/*
 * Adds the value of a JSON text to what is built. NULL, or a sentence that says why there is none,
 * which stands until the next call, with the place in *column, from 1 and in characters.
 */
const char *tool_read_json(u9_builder *b, const char *text, size_t size, size_t *column);

/* True if that sentence says that memory was short, which is no fault of the text. */
int tool_json_no_memory(const char *sentence);

/* The column, from 1 and in characters, of what stands at an offset. */
size_t tool_json_column(const char *line, size_t at);

/* True for a line that is no value, but nothing else either: blanks. */
int tool_json_blank(const char *line, size_t size);

/* The byte order mark of UTF-8, with which a file of text may begin; and how many bytes of one a text begins with: 3, or 0. */
extern const unsigned char tool_order_mark[3];
size_t tool_json_order_mark(const char *text, size_t size);

/*
 * How many `$` a key begins with, if one of our names is what stands behind them; else 0. Where it
 * is the only key of an object, one says that the object stands for another value; of more, one is
 * taken off. [J-1] [J-6]
 */
size_t tool_json_marks(const void *key, size_t size);

/* True for typecodes of tuples, or of arrays of such: JSON has only tuples of these. [J-5] */
int tool_typecode_of_tuples(const uint8_t *typecode);

/* True for a tuple that is an object: of pairs, with the index that objects have in front. [J-6] */
int tool_is_object(const u9_value *value);

/* Builds an object of a tuple of pairs, which are whole and whose names differ. NULL, or the sentence why not. [J-6] */
const char *tool_build_object(u9_builder *into, const u9_value *tuple);

/* A u9_grow_fn on the heap that refuses (U9_LIMIT) more than VALUE_SIZE_MAX bytes. */
u9_err tool_grow(void *ctx, uint8_t **bytes, size_t *cap, size_t need);

#endif
