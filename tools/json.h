/*
 * tools/json.h: what the tools say as JSON objects, by jansson. Records and values, which are many, are
 * printed without it: value_json.h.
 */
#ifndef U9_TOOLS_JSON_H
#define U9_TOOLS_JSON_H

#include "tools/damage.h"

#include <jansson.h>

/* A number of 64 bits as JSON: a string, null for TOOL_NONE. A new reference. */
json_t *tool_json_number(uint64_t number);

/* A text that may not be UTF-8, as a path. A new reference. */
json_t *tool_json_text(const char *text);

/* `json` with this member, whose value is taken. NULL, and nothing is left of it: out of memory, now or before. */
json_t *tool_json_with(json_t *json, const char *name, json_t *value);

/* What a check found; `type` (may be NULL) is its first field. A new reference, NULL: out of memory. */
json_t *tool_json_report(const char *type, const char *path, const u9_report *report,
                         const tool_losses *losses);

/* Prints `json` as one line on standard output and lets go of it. Returns the exit status. */
int tool_put_object(json_t *json);

#endif
