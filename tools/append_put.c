/*
 * tools/append_put.c: what `u9 append` puts into the log, and what it says when it cannot: each
 * message about the input also tells how many records were appended before.
 */
#include "tools/append.h"

#include "tools/key.h"
#include "tools/tool.h"
#include "tools/value_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = -1 /* a status within this file: go on with the next line */ };

/* One line about the input, naming the line that is being taken, and the column unless it is 0.
 * The exit status, or SKIPPED. */
static int refuse(struct append *a, size_t column, const char *why, const char *detail)
{
    char count[TOOL_BEFORE_SIZE], place[64] = "";
    if (a->ending != APPEND_WHOLE)
        snprintf(place, sizeof place, column ? ":%" PRIu64 ":%zu" : ":%" PRIu64, a->done.number, column);
    int ours = tool_json_no_memory(why); /* not the line's */
    if (ours || !a->skips.on)
        return tool_say(ours ? TOOL_IO : TOOL_REFUSED, "%s%s: %s%s; %s", a->done.at, place, why, detail,
                        tool_appended_before(&a->done, count));
    int status = tool_skip(&a->skips, "%s%s: %s%s", a->done.at, place, why, detail);
    return status == TOOL_DONE ? SKIPPED : status;
}

int append_refuse(struct append *a, const char *why)
{
    return refuse(a, 0, why, "");
}

static const char too_long[] = "longer than a record may be (16 MiB)",
                  too_long_pipe[] = "longer than 16 MiB, and no file: how long it is must be known at its beginning";

int append_too_long(struct append *a)
{
    a->done.number++;
    int status = refuse(a, 0, a->ending == APPEND_WHOLE ? too_long_pipe : too_long, "");
    return status == SKIPPED ? TOOL_DONE : status;
}

int append_input_failed(const struct append *a, int sys)
{
    char count[TOOL_BEFORE_SIZE];
    return tool_say(tool_sys_status(sys), "%s: %s; %s", a->done.at, strerror(sys), tool_appended_before(&a->done, count));
}

/* Prints the keys of what has just been committed. */
static int print_keys(struct append *a)
{
    fwrite(a->keys, 1, a->key_size, stdout);
    a->key_size = 0;
    fflush(stdout);
    return tool_stdout_failed() ? TOOL_IO : TOOL_DONE; /* tool_finish says why */
}

int append_commit(struct append *a)
{
    if (a->done.waiting == 0) return TOOL_DONE;
    int status = tool_appended_commit(&a->done);
    return status == TOOL_DONE && a->print_keys ? print_keys(a) : status;
}

/* Keeps a key for printing: the one that was made, or where it was too long for that, the given one. */
static int keep_key(struct append *a, const u9_place *place, const u9_key *given)
{
    char text[TOOL_KEY_TEXT_SIZE];
    const char *kind = tool_kind(a->done.log);
    if (place->key_size > 0) tool_key_text(kind, place->key, place->key_size, text);
    else if (given) tool_key_text(kind, given->data, given->size, text);
    else snprintf(text, sizeof text, "%s", kind + strlen("rkey:literal:"));
    size_t size = strlen(text);
    if (a->key_room - a->key_size <= size) {
        size_t room = 2 * a->key_room + (1 << 16);
        char *more = (char *)realloc(a->keys, room);
        if (!more) return tool_nomem("the keys to print");
        a->keys = more;
        a->key_room = room;
    }
    memcpy(a->keys + a->key_size, text, size);
    a->keys[a->key_size + size] = '\n';
    a->key_size += size + 1;
    return TOOL_DONE;
}

int append_took(struct append *a, const u9_place *place, const u9_key *given, uint64_t size)
{
    tool_appended_add(&a->done, place, size);
    return a->print_keys ? keep_key(a, place, given) : TOOL_DONE;
}

/* `front`: characters of the line before the text. */
static int build_line(struct append *a, u9_builder *b, const char *text, size_t size, size_t front)
{
    if (!a->json) {
        u9_err err = u9_utf8_valid(text, size) ? u9_build_utf8(b, text, size)
                                               : u9_build_bytes(b, text, size);
        return err == U9_OK ? TOOL_DONE : refuse(a, 0, too_long, "");
    }
    size_t column = 0;
    const char *why = tool_read_json(b, text, size, &column);
    return why ? refuse(a, front + column, why, "") : TOOL_DONE;
}

/* Takes the key off the front of a line. */
static int cut_key(struct append *a, const char **text, size_t *size, tool_key *key)
{
    size_t width = strlen(a->separator);
    const char *end = (const char *)memmem(*text, *size, a->separator, width);
    if (!end) return refuse(a, 0, "the line has no separator behind a key", "");
    const char *why = tool_key_parse(tool_kind(a->done.log), *text, (size_t)(end - *text), key);
    if (why) return refuse(a, 0, "its first field is not a key of the log's kind: ", why);
    *size -= (size_t)(end - *text) + width;
    *text = end + width;
    return TOOL_DONE;
}

static int put(struct append *a, const char *text, size_t size)
{
    tool_key raw = {.size = 0};
    u9_place place;
    u9_builder b;
    const char *line = text;
    int status = a->separator ? cut_key(a, &text, &size, &raw) : TOOL_DONE;
    if (status != TOOL_DONE) return status;
    u9_builder_init(&b, a->values, U9_RECORD_MAX);
    status = build_line(a, &b, text, size, tool_json_column(line, (size_t)(text - line)) - 1);
    if (status != TOOL_DONE) return status;
    u9_key key = {raw.bytes, raw.size};
    u9_err err = u9_log_append(a->done.log, a->separator ? &key : NULL, a->values, b.size, &place);
    if (err == U9_LIMIT) return refuse(a, 0, too_long, "");
    if (err != U9_OK) return tool_appended_refused(&a->done);
    return append_took(a, &place, a->separator ? &key : NULL, size);
}

int append_put(struct append *a, const char *text, size_t size)
{
    size_t mark = a->done.number++ == 0 && a->json ? tool_json_order_mark(text, size) : 0;
    if (a->json && tool_json_blank(text + mark, size - mark)) return TOOL_DONE;
    int status = put(a, text + mark, size - mark);
    return status == SKIPPED ? TOOL_DONE : status;
}
