/*
 * tools/id_show.c: `u9 id show`: takes identifiers apart as JSON (SPEC-values.md, I-*).
 *
 * Answers are one line for one question, in order, refusals included: a program may keep the
 * other ends of the pipes. A line of input is whatever stands before its newline, NULs too.
 */
#include "tools/id.h"

#include "tools/json.h"
#include "tools/text.h"
#include "tools/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = U9_RKEY_SIZE_MAX };

/* The end of the years that RFC 3339 can write. */
#define TIME_END_US UINT64_C(253402300800000000)

/* A text, or the bytes that it stands for. */
struct input {
    const char *text;
    size_t size; /* characters, or bytes */
    uint8_t bytes[BYTES_MAX];
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Bytes that have no room are counted: no identifier is so long. NULL, or why it is refused. */
static const char *read_hex(const char *text, size_t size, struct input *in)
{
    if (size % 2 != 0) return "bytes are given as pairs of hex digits";
    for (size_t i = 0; i < size; i += 2) {
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0) return "bytes are given as pairs of hex digits";
        if (i / 2 < BYTES_MAX) in->bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    in->size = size / 2;
    return NULL;
}

static const char *hex_text(const uint8_t *bytes, size_t size, char *out)
{
    *out = '\0';
    for (size_t i = 0; i < size; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return out;
}

/* What every answer begins with. `time_us` TOOL_NONE: there is none. */
static json_t *begin(const char *kind, const char *text, size_t text_size, const uint8_t *bytes,
                     size_t size, uint64_t time_us)
{
    char hex[2 * BYTES_MAX + 1], time[48];
    return json_pack("{s:s, s:s%, s:s, s:s?}", "kind", kind, "text", text, text_size, "bytes",
                     hex_text(bytes, size, hex), "time",
                     time_us < TIME_END_US ? tool_time_text(time_us, time) : NULL);
}

/* Adds `fields` to `head`, of which it lets go. NULL: out of memory. */
static json_t *with(json_t *head, json_t *fields)
{
    int failed = !head || !fields || json_object_update(head, fields) != 0;
    json_decref(fields);
    if (!failed) return head;
    json_decref(head);
    return NULL;
}

/*
 * Each of these reads `in` and returns the answer. If it is refused, `*refusal` is the sentence
 * that says why; NULL and no sentence: out of memory.
 */
typedef json_t *show_fn(const struct id_ask *ask, const struct input *in, const char **refusal);

static json_t *show_muid(const struct id_ask *ask, const struct input *in, const char **refusal)
{
    char text[U9_MUID_TEXT_SIZE + 1];
    uint8_t packed[U9_MUID_SIZE];
    u9_id_reason why = U9_ID_FINE;
    unsigned flags = ask->lenient ? U9_MUID_LENIENT : 0;
    u9_muid id;
    if (ask->bytes && in->size != U9_MUID_SIZE) {
        *refusal = "a packed muid is exactly 16 bytes";
        return NULL;
    }
    if (ask->bytes) u9_muid_unpack(in->bytes, &id);
    else if (u9_muid_parse(in->text, in->size, flags, &id, &why) != U9_OK) {
        *refusal = u9_id_reason_text(why);
        return NULL;
    }
    if (u9_muid_format(&id, text) != U9_OK || u9_muid_pack(&id, packed) != U9_OK) return NULL;
    int timed = id.timestamp != U9_MUID_TIMESTAMP_MAX; /* all ones: the global object */
    return with(begin("muid", text, strlen(text), packed, sizeof packed,
                      timed ? id.timestamp : TOOL_NONE),
                json_pack("{s:o, s:o, s:i}", "timestamp", tool_json_number(id.timestamp),
                          "medallion", tool_json_number(id.medallion), "offset", (int)id.offset));
}

static json_t *show_gid(const struct id_ask *ask, const struct input *in, const char **refusal)
{
    char text[U9_GID_TEXT_SIZE + 1], random[2 * U9_GID_RANDOM_SIZE + 1];
    uint8_t packed[U9_GID_SIZE];
    u9_id_reason why = U9_ID_FINE;
    unsigned flags = ask->strict ? U9_GID_STRICT : ask->lenient ? U9_GID_LENIENT : 0;
    u9_gid id;
    u9_err err = ask->bytes ? u9_gid_unpack(in->bytes, in->size, ask->gid_type, flags, &id, &why)
                            : u9_gid_parse(in->text, in->size, ask->gid_type, flags, &id, &why);
    if (err != U9_OK) {
        *refusal = u9_id_reason_text(why);
        return NULL;
    }
    if (u9_gid_format(&id, flags, text) != U9_OK || u9_gid_pack(&id, flags, packed) != U9_OK)
        return NULL;
    return with(begin("gid", text, strlen(text), packed, sizeof packed, id.timestamp_ms * 1000),
                json_pack("{s:s, s:o, s:s}", "type", u9_gid_type_name(id.type), "timestamp_ms",
                          tool_json_number(id.timestamp_ms), "random",
                          hex_text(id.random, sizeof id.random, random)));
}

static json_t *show_tid(const struct id_ask *ask, const struct input *in, const char **refusal)
{
    char text[U9_TID_TEXT_SIZE + 1];
    uint8_t packed[U9_TID_SIZE];
    u9_id_reason why = U9_ID_FINE;
    unsigned flags = ask->lenient ? U9_TID_TOP_BIT : 0;
    u9_tid id;
    u9_err err = ask->bytes ? u9_tid_unpack(in->bytes, in->size, flags, &id, &why)
                            : u9_tid_parse(in->text, in->size, flags, &id, &why);
    if (err != U9_OK) {
        *refusal = u9_id_reason_text(why);
        return NULL;
    }
    if (u9_tid_format(&id, flags, text) != U9_OK || u9_tid_pack(&id, flags, packed) != U9_OK)
        return NULL;
    return with(begin("tid", text, strlen(text), packed, sizeof packed, id.timestamp),
                json_pack("{s:o, s:i}", "timestamp", tool_json_number(id.timestamp), "clock_id",
                          (int)id.clock_id));
}

static json_t *show_uid8(const struct id_ask *ask, const struct input *in, const char **refusal)
{
    char text[U9_UID8_TEXT_SIZE + 1];
    uint8_t packed[U9_UID8_SIZE];
    u9_id_reason why = U9_ID_FINE;
    unsigned layout = ask->layout ? ask->layout : U9_UID8_LAYOUT_MAX;
    u9_uid8 id;
    u9_err err = ask->bytes ? u9_uid8_unpack(in->bytes, in->size, layout, &id, &why)
                            : u9_uid8_parse(in->text, in->size, layout, &id, &why);
    if (err != U9_OK) {
        *refusal = u9_id_reason_text(why);
        return NULL;
    }
    if (u9_uid8_format(&id, layout, text, NULL) != U9_OK ||
        u9_uid8_pack(&id, layout, packed, NULL) != U9_OK)
        return NULL;
    return with(begin("uid8", text, strlen(text), packed, sizeof packed, id.timestamp_ms * 1000),
                json_pack("{s:i, s:o, s:i, s:i, s:i}", "mode", (int)id.mode, "timestamp_ms",
                          tool_json_number(id.timestamp_ms), "sequence", (int)id.sequence,
                          "generator", (int)id.generator, "cluster", (int)id.cluster));
}

/* A type that is none refuses every key. */
static u9_err check_rkey(const char *type, const char *key, size_t size, u9_id_reason *why)
{
    u9_rkey_rule rule = {.type = U9_RKEY_ANY};
    u9_err err = type ? u9_rkey_rule_parse(type, strlen(type), &rule, why) : U9_OK;
    return err == U9_OK ? u9_rkey_check(key, size, &rule, why) : err;
}

static json_t *show_rkey(const struct id_ask *ask, const struct input *in, const char **refusal)
{
    const char *key = ask->bytes ? (const char *)in->bytes : in->text;
    u9_id_reason why = U9_ID_FINE;
    u9_tid tid;
    if (check_rkey(ask->rkey_type, key, in->size, &why) != U9_OK) {
        *refusal = u9_id_reason_text(why);
        return NULL;
    }
    int timed = u9_tid_parse(key, in->size, 0, &tid, NULL) == U9_OK;
    const char *tid_type = u9_tid_is_valid(key, in->size) ? "tid" : NULL;
    json_t *valid_as = json_pack("[s*, s, s]", tid_type, "any", "literal");
    return with(begin("rkey", key, in->size, (const uint8_t *)key, in->size,
                      timed ? tid.timestamp : TOOL_NONE),
                json_pack("{s:o}", "valid_as", valid_as));
}

/* `line`: its number in standard input, TOOL_NONE if it is from the command line. */
static int answer(const struct id_ask *ask, const char *text, size_t size, uint64_t line)
{
    static show_fn *const show[ID_KINDS] = {
        [ID_MUID] = show_muid, [ID_GID] = show_gid,   [ID_TID] = show_tid,
        [ID_UID8] = show_uid8, [ID_RKEY] = show_rkey,
    };
    struct input in = {.text = text, .size = size};
    json_t *json = NULL;
    const char *refusal = ask->bytes ? read_hex(text, size, &in) : NULL;
    if (!refusal) json = show[ask->kind](ask, &in, &refusal);
    if (refusal) json = json_pack("{s:s}", "error", refusal);
    if (refusal && line != TOOL_NONE) json = tool_json_with(json, "line", tool_json_number(line));
    int status = tool_put_object(json);
    fflush(stdout);
    return status == TOOL_DONE && refusal ? TOOL_REFUSED : status;
}

/* The worse of two exit statuses. */
static int worse(int a, int b)
{
    return a > b ? a : b;
}

static int answer_lines(const struct id_ask *ask)
{
    int status = TOOL_DONE;
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    uint64_t number = 0;
    while (!tool_stdout_failed() && (size = getline(&line, &room, stdin)) >= 0) {
        if (size > 0 && line[size - 1] == '\n') size--;
        status = worse(status, answer(ask, line, (size_t)size, ++number));
    }
    if (ferror(stdin))
        status = worse(status, tool_say(TOOL_IO, "standard input: %s", strerror(errno)));
    free(line);
    return status;
}

int id_show(const struct id_ask *ask, char **texts)
{
    int status = TOOL_DONE;
    for (char **text = texts; *text && !tool_stdout_failed(); text++)
        status = worse(status, strcmp(*text, "-") == 0 ? answer_lines(ask)
                                                       : answer(ask, *text, strlen(*text), TOOL_NONE));
    return status;
}
