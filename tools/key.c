/*
 * tools/key.c: see key.h.
 */
#include "tools/key.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *tool_key_text(const char *kind, const void *key, size_t size,
                          char out[TOOL_KEY_TEXT_SIZE])
{
    const uint8_t *bytes = (const uint8_t *)key;
    if (u9_key_format(*kind ? kind : "muid", key, size, out, NULL) == U9_OK) return out;
    size = size < 512 ? size : 512;
    for (size_t i = 0; i < size; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    out[2 * size] = '\0';
    return out;
}

const char *tool_kind(const u9_log *log)
{
    const char *kind = u9_log_kind(log);
    return kind[0] ? kind : "muid";
}

const char *tool_kind_named(const u9_log *log)
{
    const char *kind = u9_log_kind(log);
    return kind[0] ? kind : "muid, nor hex digits (of which kind the log is cannot be read)";
}

static bool is_hex(const char *text, size_t size, tool_key *out)
{
    out->size = size / 2;
    for (size_t i = 0; i < size; i++)
        if (!isxdigit((unsigned char)text[i])) return false;
    if (size == 0 || size % 2 != 0 || out->size > sizeof out->bytes) return false;
    for (size_t i = 0; i < out->size; i++) (void)sscanf(text + 2 * i, "%2hhx", &out->bytes[i]);
    return true;
}

const char *tool_key_parse(const char *kind, const char *text, size_t size, tool_key *out)
{
    u9_id_reason why = U9_ID_FINE;
    if (u9_key_parse(*kind ? kind : "muid", text, size, out->bytes, &out->size, &why) == U9_OK) return NULL;
    return *kind == 0 && is_hex(text, size, out) ? NULL : u9_id_reason_text(why);
}

int tool_key_compare(const u9_key *a, const u9_key *b)
{
    int order = memcmp(a->data, b->data, a->size < b->size ? a->size : b->size);
    return order ? order : (a->size > b->size) - (a->size < b->size);
}
