/*
 * tools/key.h: the keys of a log, as text and in raw form.
 */
#ifndef U9_TOOLS_KEY_H
#define U9_TOOLS_KEY_H

#include <u9/key.h>
#include <u9/log.h>

#define TOOL_KEY_TEXT_SIZE 1040 /* room for any key as text */

/* A key as text; what is no key of the kind as hex. */
const char *tool_key_text(const char *kind, const void *key, size_t size,
                          char out[TOOL_KEY_TEXT_SIZE]);

/* A key of a log, in raw form. */
typedef struct tool_key {
    size_t size;
    uint8_t bytes[U9_KEY_SIZE_MAX];
} tool_key;

/* The key kind of a log, where none of it can be read the default. */
const char *tool_kind(const u9_log *log);

/* The same for a sentence on a key that is none of the log's. */
const char *tool_kind_named(const u9_log *log);

/*
 * A key in text form, as tool_key_text has it: where the kind is not known (""), also hex. NULL and the raw form in
 * `out`, or the reason why it is none.
 */
const char *tool_key_parse(const char *kind, const char *text, size_t size, tool_key *out);

/* Orders raw keys by their bytes, then by their size. */
int tool_key_compare(const u9_key *a, const u9_key *b);

#endif
