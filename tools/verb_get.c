/*
 * tools/verb_get.c: `u9 get`: the newest record of each key, or all of them, in the order of the
 * keys that were asked for.
 *
 * Each key is a walk of its own: what is damaged is told once, by the first. A key that is not
 * found where records were lost may have been among them: that is said, and is status 3, not 1.
 */
#include "tools/common.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct get {
    const char *path;
    char **keys;
    tool_style style;
    int all;
    u9_log *log;
    uint8_t *room; /* one record */
    size_t cap;
    int told;   /* not 0: a walk has ended, damage has been told */
    int lost;   /* status raised by damage */
    int status; /* the worst answer so far */
};

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct get *g = (struct get *)ctx;
    if (!g->told) tool_on_damage(&g->lost, damage);
}

static void raise_status(struct get *g, int status)
{
    if (status > g->status) g->status = status;
}

static void not_found(struct get *g, const u9_key *key, int maybe)
{
    char text[TOOL_KEY_TEXT_SIZE];
    tool_key_text("muid", key->data, key->size, text);
    raise_status(g, maybe ? TOOL_LOST : TOOL_REFUSED);
    tool_say(0, "%s: %s has no record with this key%s", text, g->path,
             maybe ? " among those that are left: it may be lost" : "");
}

static void get_newest(struct get *g, const u9_key *key)
{
    u9_fault fault;
    u9_record record;
    u9_err err = u9_log_get(g->log, key, g->room, g->cap, &record, &fault);
    while (err == U9_LIMIT && record.size > g->cap) {
        uint8_t *room = (uint8_t *)realloc(g->room, record.size);
        if (!room) {
            raise_status(g, tool_nomem());
            return;
        }
        g->room = room;
        g->cap = record.size;
        err = u9_log_get(g->log, key, g->room, g->cap, &record, &fault);
    }
    g->told = 1;
    if (err == U9_OK)
        tool_put_record(&g->style, &record);
    else if (err == U9_ABSENT || err == U9_CORRUPT)
        not_found(g, key, err == U9_CORRUPT || g->lost != 0);
    else
        raise_status(g, tool_fault(&fault));
}

static void get_all(struct get *g, const u9_key *key)
{
    u9_fault fault;
    u9_record record;
    u9_cursor *cursor;
    uint64_t found = 0;
    if (u9_cursor_open(g->log, NULL, &cursor, &fault) != U9_OK) {
        raise_status(g, tool_fault(&fault));
        return;
    }
    u9_err err;
    while ((err = u9_cursor_next(cursor, &record)) == U9_OK) {
        if (record.key.size != key->size || memcmp(record.key.data, key->data, key->size) != 0)
            continue;
        tool_put_record(&g->style, &record);
        found++;
    }
    g->told = 1;
    u9_cursor_fault(cursor, &fault);
    u9_cursor_close(cursor);
    if (err != U9_END)
        raise_status(g, tool_fault(&fault));
    else if (found == 0)
        not_found(g, key, g->lost != 0);
}

static void answer(struct get *g, const char *text, size_t size)
{
    uint8_t raw[U9_MUID_SIZE];
    const char *why = tool_key_parse(text, size, raw);
    if (why) {
        raise_status(g, tool_say(TOOL_REFUSED, "%.*s: not a muid: %s", (int)size, text, why));
        return;
    }
    u9_key key = {raw, sizeof raw};
    if (g->all)
        get_all(g, &key);
    else
        get_newest(g, &key);
}

/* Answers each line as it comes: the other end of a pipe may wait for it. */
static void answer_lines(struct get *g)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    errno = 0;
    while (!tool_stdout_failed() && (size = getline(&line, &room, stdin)) >= 0) {
        if (size > 0 && line[size - 1] == '\n') size--;
        answer(g, line, (size_t)size);
        fflush(stdout);
    }
    if (ferror(stdin)) raise_status(g, tool_say(TOOL_IO, "standard input: %s", strerror(errno)));
    free(line);
}

static int run(struct get *g)
{
    u9_fault fault;
    u9_options options = {.size = sizeof options, .mode = U9_READ, .on_damage = on_damage,
                          .on_damage_ctx = g};
    if (u9_log_open(g->path, &options, &g->log, &fault) != U9_OK) return tool_fault(&fault);
    raise_status(g, tool_style_begin(&g->style, g->log));
    int refused = g->status != TOOL_DONE;
    for (char **key = g->keys; *key && !refused && !tool_stdout_failed(); key++) {
        if (strcmp(*key, "-") == 0)
            answer_lines(g);
        else
            answer(g, *key, strlen(*key));
    }
    if (u9_log_close(g->log, &fault) != U9_OK) raise_status(g, tool_fault(&fault));
    if (g->lost > g->status) g->status = g->lost;
    return g->status;
}

enum { FORMAT = 256, KEYS, ALL };

static const struct argp_option option_table[] = {
    {"format", FORMAT, "FORMAT", 0,
     "lines (default): values and tabs; json: an object a line; raw: the record's bytes", 0},
    {"keys", KEYS, 0, 0, "Put the key and a tab in front of each line", 0},
    {"all", ALL, 0, 0, "All records of each key, oldest first", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct get *g = (struct get *)state->input;
    switch (key) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case FORMAT: g->style.format = tool_format_parse(arg); break;
    case KEYS: g->style.keys = 1; break;
    case ALL: g->all = 1; break;
    case ARGP_KEY_ARGS:
        g->path = state->argv[state->next];
        g->keys = state->argv + state->next + 1;
        if (!*g->keys) tool_usage("no KEY given");
        break;
    case ARGP_KEY_NO_ARGS: tool_usage("no LOG given");
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int verb_get(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG KEY...",
        "Prints the newest record of each KEY (`-`: keys from standard input, one a line). A key "
        "that no record has is told on standard error; the exit status is 1 then.",
        NULL, NULL, NULL};
    struct get g = {.cap = 1 << 16};
    argp_parse(&parser, argc, argv, 0, NULL, &g);
    g.room = (uint8_t *)malloc(g.cap);
    int status = g.room ? run(&g) : tool_nomem();
    free(g.room);
    return status;
}
