/*
 * tools/key.c: see key.h.
 */
#include "tools/key.h"

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

const char *tool_key_parse(const char *kind, const char *text, size_t size, tool_key *out)
{
    u9_id_reason why = U9_ID_FINE;
    if (u9_key_parse(kind, text, size, out->bytes, &out->size, &why) == U9_OK) return NULL;
    return u9_id_reason_text(why);
}

int tool_key_compare(const u9_key *a, const u9_key *b)
{
    int order = memcmp(a->data, b->data, a->size < b->size ? a->size : b->size);
    return order ? order : (a->size > b->size) - (a->size < b->size);
}
