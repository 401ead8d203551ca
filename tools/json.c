/*
 * tools/json.c: see json.h.
 */
#include "tools/json.h"

#include "tools/damage.h"
#include "tools/fold.h"
#include "tools/key.h"
#include "tools/text.h"
#include "tools/tool.h"

#include <u9/value.h>

#include <inttypes.h>
#include <string.h>

json_t *tool_json_number(uint64_t number)
{
    return number == TOOL_NONE ? json_null() : json_sprintf("%" PRIu64, number);
}

static json_t *json_time(uint64_t time_us)
{
    char text[48];
    return time_us ? json_string(tool_time_text(time_us, text)) : json_null();
}

static json_t *json_key(const u9_report *r, const uint8_t *key, size_t size)
{
    char text[TOOL_KEY_TEXT_SIZE];
    return size ? json_string(tool_key_text(r->kind, key, size, text)) : json_null();
}

json_t *tool_json_text(const char *text)
{
    char plain[4096];
    snprintf(plain, sizeof plain, "%s", text);
    if (!u9_utf8_valid(plain, strlen(plain)))
        for (char *c = plain; *c; c++)
            if (*c & 0x80) *c = '?';
    return json_string(plain);
}

json_t *tool_json_with(json_t *json, const char *name, json_t *value)
{
    if (json_object_set_new(json, name, value) == 0) return json;
    json_decref(json);
    return NULL;
}

json_t *tool_json_report(const char *type, const char *path, const u9_report *r,
                         const tool_losses *losses)
{
    json_t *json = json_object();
    if (type) json = tool_json_with(json, "type", json_string(type));
    int marked = r->mark == U9_MARK_COUNTS;
    const struct {
        const char *name;
        json_t *value;
    } fields[] = {
        {"path", tool_json_text(path)},
        {"state", json_string(u9_verdict_name(r->verdict))},
        {"closed", json_boolean(r->closed)},
        {"confirmed", json_boolean(r->confirmed)},
        {"older", json_boolean(r->older)},
        {"plain", json_boolean(r->plain)},
        {"segments", tool_json_number(r->segments)},
        {"frames", tool_json_number(r->frames)},
        {"records", tool_json_number(r->records)},
        {"keyless", tool_json_number(r->keyless)},
        {"bytes", tool_json_number(r->bytes)},
        {"body_bytes", tool_json_number(r->body_bytes)},
        {"stored_bytes", tool_json_number(r->stored_bytes)},
        {"lz4_frames", tool_json_number(r->lz4_frames)},
        {"mask_frames", tool_json_number(r->mask_frames)},
        {"damages", tool_json_number(r->damages)},
        {"lost", tool_json_number(r->lost)},
        {"unknown_losses", tool_json_number(losses->unknown)},
        {"beyond", tool_json_number(r->beyond)},
        {"first_ordinal", tool_json_number(r->first_ordinal)},
        {"next_ordinal", tool_json_number(r->next_ordinal)},
        {"first_time", json_time(r->first_time_us)},
        {"last_time", json_time(r->last_time_us)},
        {"kind", tool_json_text(r->kind)},
        {"first_key", json_key(r, r->first_key, r->first_key_size)},
        {"last_key", json_key(r, r->last_key, r->last_key_size)},
        {"mark", json_string(tool_mark_name(r->mark))},
        {"mark_segment", tool_json_number(marked ? r->mark_segment : TOOL_NONE)},
        {"mark_offset", tool_json_number(marked ? r->mark_offset : TOOL_NONE)},
        {"mark_ordinal", tool_json_number(marked ? r->mark_ordinal : TOOL_NONE)},
        {"mark_time", json_time(r->mark_time_us)},
        {"trim_segment", tool_json_number(r->trim_segment ? r->trim_segment : TOOL_NONE)},
        {"trim_ordinal", tool_json_number(r->trim_segment ? r->trim_ordinal : TOOL_NONE)},
        {"begins_late", json_boolean(r->begins_late)},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        json = tool_json_with(json, fields[i].name, fields[i].value);
    return json;
}

int tool_put_object(json_t *json)
{
    if (!json) return tool_nomem("a JSON object");
    tool_unfold();
    int failed = json_dumpf(json, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(json);
    putc('\n', stdout);
    return failed && !ferror(stdout) ? tool_nomem("a JSON object") : TOOL_DONE;
}
