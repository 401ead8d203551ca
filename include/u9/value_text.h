/*
 * u9/value_text.h: the text notation (SPEC-values.md, N-*): values that people read and write.
 *
 * Every well-formed value has one text, and that text reads back to the same bytes: also where a
 * value is not in its shortest form, where text is not UTF-8, and for the bits of NaNs. What a text
 * looks like:
 *
 *     (x"5d5eac79" 'created -3 1.5 "caf\xe9" [int16: 1 2 3] uint16(5)) ; and a comment
 *
 * Nothing is allocated, nothing recurses; untrusted bytes and texts are safe. All functions are
 * pure and thread-safe on distinct objects.
 */
#ifndef U9_VALUE_TEXT_H
#define U9_VALUE_TEXT_H

#include <u9/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the next piece of a text, which is gone when it returns. Anything but U9_OK ends the
 * printing. */
typedef u9_err u9_text_fn(void *ctx, const char *text, size_t size);

/*
 * Prints the value that `bytes`, exactly `size` of them, are: `put` gets its text piece by piece,
 * without a NUL, newline or blank at the end, however long it is. Returns what u9_value_check says
 * of the bytes, in `fault` (may be NULL) too, before anything is printed; else what `put` returned
 * last.
 */
U9_API U9_MUST_CHECK u9_err u9_value_print(const void *bytes, size_t size, u9_text_fn *put,
                                           void *ctx, u9_fault *fault);

/*
 * The same into `text`, which has room for `cap` characters, a NUL at the end included. `*length`
 * (may be NULL) is the size of the whole text without it. U9_LIMIT: there is no room for all of it
 * (`cap` 0: `text` may be NULL); as much as there is room for is written, `*length` is set.
 */
U9_API U9_MUST_CHECK u9_err u9_value_text(const void *bytes, size_t size, char *text, size_t cap,
                                          size_t *length, u9_fault *fault);

/*
 * Reads one value from `size` characters at `text` and adds it to what is built in `b`. Blanks and
 * comments may stand in front. With `used`, reading stops behind the value, and that is how many
 * characters were read; if they are all of them and the text goes on elsewhere, the value may do so
 * too (`1` of `12`), and is to be read again with more of the text. With NULL only blanks and
 * comments may follow.
 *
 * U9_END: there is no value, just blanks and comments; U9_TORN: the text ends within a value or a
 * word; U9_CORRUPT: it breaks a rule; U9_LIMIT: containers nested too deeply, too many empty
 * elements, or no room in `b`; U9_STATE: an array is open in `b`; else what the builder's growing
 * returned. `fault` (may be NULL) has the offset in `text`, the rule, and a sentence with line,
 * column, and what was expected. On failure `b` holds what it held before.
 */
U9_API U9_MUST_CHECK u9_err u9_value_parse(const char *text, size_t size, size_t *used,
                                           u9_builder *b, u9_fault *fault);

/* Room for every typecode: arrays nested as deeply as they may be. */
#define U9_TYPECODE_MAX 1100

/* The text of a typecode, which all of `bytes` are: "int16", "array 4 utf8 10". As u9_value_text;
 * U9_TORN, U9_CORRUPT, U9_LIMIT: it is none [V-10]. */
U9_API U9_MUST_CHECK u9_err u9_typecode_text(const void *bytes, size_t size, char *text, size_t cap,
                                             size_t *length);

/* Reads a typecode, which all of the text is, blanks around it apart. Fills `typecode` and its
 * size. */
U9_API U9_MUST_CHECK u9_err u9_typecode_parse(const char *text, size_t size,
                                              uint8_t typecode[U9_TYPECODE_MAX],
                                              size_t *typecode_size, u9_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
