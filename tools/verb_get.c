/*
 * tools/verb_get.c: `u9 get`: the newest record of each key, or all of them, in the order of the
 * keys that were asked for.
 *
 * All keys are taken first; then each is looked up by the log's indexes, and what they ask for is
 * copied; then they are answered in order, each as often as it was asked. Memory is that of the keys
 * and of the answers; only all records of a single key are printed as they come. A key that is not
 * found where records were lost may have been among them, and so may one be that is newer than what is
 * found: that is said, and is status 3.
 *
 * Where only a part of the log is asked for, or records were lost, the log is walked once for all keys instead: no index
 * knows of the one, and of the other everything is to be told.
 */
#include "tools/damage.h"
#include "tools/key.h"
#include "tools/record_large.h"
#include "tools/span.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>
#include <u9/lookup.h>

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A record, copied; `record` points into `bytes`. Of one that is read in pieces there are none, but where it is. */
struct copy {
    struct copy *next;
    u9_record record;
    size_t room; /* bytes at `bytes` */
    uint8_t bytes[];
};

/* What is wanted of one key. */
struct want {
    u9_key key;
    struct copy *first, *last; /* as they come; but for --all one at most */
    uint64_t count;            /* how many came */
    uint64_t losses;           /* of those of the walk, how many came before the last record that is kept */
};

struct get {
    const char *path;
    char **words;
    tool_style style;
    tool_span span; /* of which records there are */
    int all;
    u9_log *log;
    u9_cursor *cursor; /* of the walk, where there was one; NULL */
    u9_key *keys; /* in the order asked for; their bytes are owned */
    size_t count, room;
    struct want *wants; /* each key once, ascending */
    size_t want_count;
    int stream;      /* not 0: print what is found at once */
    uint64_t found;  /* records printed at once */
    int later;       /* not 0: frames of a later version were met */
    int lost;        /* status raised by damage */
    uint64_t losses; /* how often the walk came to what may have cost records */
    uint64_t kept_from; /* the first record that the log keeps */
    int status;      /* the worst answer so far */
    int looked_up;   /* not 0: by indexes */
};

static int raise_status(struct get *g, int status)
{
    if (status > g->status) g->status = status;
    return status;
}

/* Takes one key. What is none is told at once, and does not stop the others. */
static int take_key(struct get *g, const char *text, size_t size)
{
    tool_key key;
    const char *kind = tool_kind_named(g->log), *why = tool_key_parse(u9_log_kind(g->log), text, size, &key);
    if (why) {
        const char *instead = *text == '#' ? "`u9 cat --from` shows a record by its number" : "`u9 cat --keys` shows keys";
        raise_status(g, tool_say(TOOL_REFUSED, "%.*s: not a key of kind %s: %s; %s", size ? (int)size : 2,
                                 size ? text : "''", kind, why, instead));
        return TOOL_DONE;
    }
    if (g->count == g->room) {
        size_t room = g->room ? 2 * g->room : 64;
        void *more = reallocarray(g->keys, room, sizeof *g->keys);
        if (!more) return raise_status(g, tool_nomem("the keys that are asked for"));
        g->keys = (u9_key *)more;
        g->room = room;
    }
    void *bytes = malloc(key.size);
    if (!bytes) return raise_status(g, tool_nomem("the keys that are asked for"));
    memcpy(bytes, key.bytes, key.size);
    g->keys[g->count++] = (u9_key){bytes, key.size};
    return TOOL_DONE;
}

static int take_lines(struct get *g)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    int status = TOOL_DONE;
    errno = 0;
    while (status == TOOL_DONE && (size = getline(&line, &room, stdin)) >= 0) {
        if (size > 0 && line[size - 1] == '\n') size--;
        status = take_key(g, line, (size_t)size);
    }
    if (ferror(stdin)) raise_status(g, tool_say(TOOL_IO, "standard input: %s", strerror(errno)));
    free(line);
    return status;
}

static int compare(const void *a, const void *b)
{
    return tool_key_compare((const u9_key *)a, (const u9_key *)b); /* a struct want begins with its key */
}

/* Each key once, ascending. */
static int sort_keys(struct get *g)
{
    g->wants = (struct want *)calloc(g->count, sizeof *g->wants);
    if (!g->wants) return tool_nomem("the keys that are asked for");
    for (size_t i = 0; i < g->count; i++) g->wants[i].key = g->keys[i];
    qsort(g->wants, g->count, sizeof *g->wants, compare);
    for (size_t i = 0; i < g->count; i++)
        if (i == 0 || compare(&g->wants[i], &g->wants[i - 1]) != 0)
            g->wants[g->want_count++] = g->wants[i];
    g->stream = g->all && g->count == 1;
    return TOOL_DONE;
}

static struct want *find(const struct get *g, const u9_key *key)
{
    return (struct want *)bsearch(key, g->wants, g->want_count, sizeof *g->wants, compare);
}

static void put_in_row(const struct get *g, struct want *want, struct copy *copy)
{
    bool in_front = g->looked_up && g->span.reverse;
    copy->next = in_front ? want->first : NULL;
    if (in_front || !g->all || !want->first) want->first = copy;
    else want->last->next = copy;
    if (!in_front || !copy->next) want->last = copy;
}

/* Keeps a copy: behind the others of its key (a lookup that goes backwards: in front), or in place of an older one. */
static int keep(const struct get *g, struct want *want, const u9_record *record)
{
    if (g->span.reverse && !g->all && want->first) return TOOL_DONE;
    struct copy *copy = g->all ? NULL : want->first;
    size_t room = record->bytes ? (size_t)record->size : 0;
    if (!copy || copy->room < room) {
        copy = (struct copy *)realloc(copy, sizeof *copy + room);
        if (!copy) return tool_nomem("the records that are asked for");
        copy->room = room;
        put_in_row(g, want, copy);
    }
    copy->record = *record;
    copy->record.key = want->key;
    want->losses = g->losses;
    if (room == 0) return TOOL_DONE;
    memcpy(copy->bytes, record->bytes, room);
    copy->record.bytes = copy->bytes;
    copy->record.values = copy->bytes + (record->values - record->bytes);
    return TOOL_DONE;
}

/* A frame of a later version may hold anything: said once, and the walk goes on behind it. */
static void skip_later(struct get *g, const u9_cursor *cursor)
{
    u9_fault fault;
    u9_cursor_fault(cursor, &fault);
    if (!g->later) raise_status(g, tool_read_fault(g->path, &fault));
    g->later = 1;
    g->losses++;
}

static void put_found(struct get *g, const u9_record *record)
{
    if (record->bytes) tool_put_record(&g->style, record);
    else raise_status(g, tool_put_large(&g->style, g->log, record));
}

/* Walks the log once. TOOL_DONE: what was found is all there is to be read. */
static int walk(struct get *g, u9_cursor *cursor)
{
    u9_fault fault;
    u9_record record;
    u9_err err;
    while ((err = tool_span_next(&g->span, cursor, &record)) == U9_OK || err == U9_VERSION || err == U9_LIMIT) {
        if (err == U9_VERSION) {
            skip_later(g, cursor);
            continue;
        }
        struct want *want = find(g, &record.key);
        if (!want || (g->all && want->count++ >= g->span.limit)) continue;
        if (g->stream) {
            put_found(g, &record);
            g->found++;
        } else if (keep(g, want, &record) != TOOL_DONE) {
            return TOOL_IO;
        }
        if (tool_stdout_failed()) return TOOL_IO; /* tool_finish says why */
    }
    u9_cursor_fault(cursor, &fault);
    return err == U9_END ? TOOL_DONE : tool_read_fault(g->path, &fault);
}

static bool is_bounded(const tool_span *s)
{
    return s->from.ordinal != TOOL_NONE || s->from.text || s->to.ordinal != TOOL_NONE || s->to.text || s->since ||
           s->until != TOOL_NONE || s->saved || s->save;
}

/* That no record has the key. Where some were trimmed, it may have been one of these. */
static void tell_absent(const struct get *g, const char *key, int maybe)
{
    if (maybe) tool_say(0, "%s: %s has no record with this key among those that are left: it may be lost", key, g->path);
    else if (is_bounded(&g->span)) tool_say(0, "%s: %s has no record with this key in the part that is asked for", key, g->path);
    else if (g->kept_from > 0)
        tool_say(0, "%s: %s has no record with this key; it begins at record %" PRIu64, key, g->path, g->kept_from);
    else tool_say(0, "%s: %s has no record with this key", key, g->path);
}

/* That records were lost, or cannot be read, which may be newer than the one that is printed; of all: which may be of them. */
static void tell_losses(struct get *g, const char *key, const struct want *want)
{
    uint64_t newer = g->all ? g->losses : g->span.reverse ? want->losses : g->losses - want->losses;
    if (newer == 0 || (!g->all && strncmp(tool_kind(g->log), "rkey", 4) != 0)) return; /* an identifier is made once [K-3] */
    raise_status(g, TOOL_LOST);
    tool_say(0, "%s: %srecords of %s were lost, and may have had this key", key, g->all ? "" : "newer ", g->path);
}

static void answer(struct get *g, const u9_key *key)
{
    char text[TOOL_KEY_TEXT_SIZE];
    const struct want *want = find(g, key);
    int maybe = g->lost != 0 || g->later;
    uint64_t left = g->all ? g->span.limit : 1;
    for (const struct copy *copy = want->first; copy && left > 0; copy = copy->next, left--)
        put_found(g, &copy->record);
    tool_key_text(tool_kind(g->log), key->data, key->size, text);
    if (want->first || g->found > 0) {
        tell_losses(g, text, want);
        return;
    }
    raise_status(g, maybe ? TOOL_LOST : TOOL_REFUSED);
    tell_absent(g, text, maybe);
}

static void forget_copies(struct get *g)
{
    for (size_t i = 0; i < g->want_count; i++) {
        for (struct copy *copy = g->wants[i].first, *next; copy; copy = next) {
            next = copy->next;
            free(copy);
        }
        g->wants[i] = (struct want){.key = g->wants[i].key};
    }
}

/* By going through the log, or the part of it that is asked for. The cursor stays where that ended. */
static int get_by_walk(struct get *g)
{
    u9_fault fault;
    g->looked_up = 0;
    g->stream = g->all && g->count == 1;
    forget_copies(g);
    if (u9_cursor_open(g->log, NULL, &g->cursor, &fault) != U9_OK)
        return tool_read_fault(g->path, &fault);
    int status = tool_span_begin(&g->span, g->log, g->path, g->cursor);
    return status == TOOL_DONE ? walk(g, g->cursor) : status;
}

/* What a lookup of versions is for. */
struct versions {
    struct get *g;
    struct want *want;
    int status;
};

static int take_version(void *ctx, const u9_record *record)
{
    struct versions *v = (struct versions *)ctx;
    struct get *g = v->g;
    if (!g->span.reverse && v->want->count++ >= g->span.limit) return 1;
    if (!g->stream) {
        v->status = keep(g, v->want, record);
    } else {
        put_found(g, record);
        g->found++;
    }
    return v->status != TOOL_DONE || tool_stdout_failed();
}

/* All records of each key. U9_CORRUPT: some were lost, and a walk is to say which; of a single key those that are left are printed. */
static u9_err look_up_versions(struct get *g, int *status, u9_fault *fault)
{
    u9_err err = U9_OK;
    for (size_t i = 0; i < g->want_count && *status == TOOL_DONE && !tool_stdout_failed(); i++) {
        struct versions v = {.g = g, .want = &g->wants[i]};
        err = u9_log_versions(g->log, &g->wants[i].key, take_version, &v, fault);
        *status = v.status;
        if (err != U9_OK && err != U9_ABSENT) return err;
    }
    return U9_OK;
}

enum { AT_ONCE = 64, USUAL = 4096 }; /* lookups that overlap, and bytes of a record for which there is room at once */

/* One that is larger than is usual; a larger one yet may come meanwhile. */
static u9_err look_up_large(struct get *g, struct want *want, const u9_record *found, int *status, u9_fault *fault)
{
    u9_record record = *found;
    u9_err err = U9_LIMIT;
    uint8_t *buf = NULL;
    while (err == U9_LIMIT && record.size <= U9_RECORD_MAX) {
        size_t room = (size_t)record.size;
        free(buf);
        buf = (uint8_t *)malloc(room);
        if (!buf) {
            *status = tool_nomem("the records that are asked for");
            return U9_OK;
        }
        err = u9_log_get(g->log, &want->key, buf, room, &record, fault);
    }
    if (err == U9_OK || err == U9_LIMIT) *status = keep(g, want, &record);
    free(buf);
    return err == U9_LIMIT ? U9_OK : err;
}

/* The newest record of each key. As look_up_versions. */
static u9_err look_up_newest(struct get *g, uint8_t *room, int *status, u9_fault *fault)
{
    u9_lookup l[AT_ONCE];
    for (size_t i = 0; i < g->want_count; i += AT_ONCE) {
        size_t count = g->want_count - i < AT_ONCE ? g->want_count - i : AT_ONCE;
        for (size_t n = 0; n < count; n++)
            l[n] = (u9_lookup){.key = g->wants[i + n].key, .buf = room + n * USUAL, .cap = USUAL};
        u9_err err = u9_log_get_many(g->log, l, count, fault);
        for (size_t n = 0; n < count && err == U9_OK && *status == TOOL_DONE; n++) {
            struct want *want = &g->wants[i + n];
            if (l[n].err == U9_OK) *status = keep(g, want, &l[n].record);
            else if (l[n].err == U9_LIMIT) err = look_up_large(g, want, &l[n].record, status, fault);
            else if (l[n].err != U9_ABSENT) err = l[n].err;
        }
        if (err != U9_OK || *status != TOOL_DONE) return err;
    }
    return U9_OK;
}

/* By the log's indexes; where these find that records were lost, by a walk. */
static int get_by_index(struct get *g)
{
    u9_fault fault = {.text = ""};
    int status = TOOL_DONE;
    uint8_t *room = g->all ? NULL : (uint8_t *)malloc((size_t)AT_ONCE * USUAL);
    if (!g->all && !room) return tool_nomem("the records that are asked for");
    g->looked_up = 1;
    g->stream &= !g->span.reverse;
    g->span.mute = 1; /* what is found is not touched by damage; of what is not, the walk tells it, once */
    u9_err err = g->all ? look_up_versions(g, &status, &fault) : look_up_newest(g, room, &status, &fault);
    g->span.mute = 0;
    free(room);
    if (status != TOOL_DONE || err == U9_OK) return status;
    if (err != U9_CORRUPT && err != U9_ABSENT && err != U9_VERSION) return tool_read_fault(g->path, &fault);
    if (g->found == 0) return get_by_walk(g); /* which tells each damage */
    status = tool_read_fault(g->path, &fault);
    return err == U9_CORRUPT ? TOOL_LOST : status;
}

static int look_up(struct get *g)
{
    if (g->count == 0) return TOOL_DONE;
    int status = sort_keys(g);
    if (status == TOOL_DONE) status = is_bounded(&g->span) ? get_by_walk(g) : get_by_index(g);
    if (status == TOOL_DONE && g->lost == 0) g->kept_from = tool_kept_from(g->log);
    for (size_t i = 0; i < g->count && status == TOOL_DONE && !tool_stdout_failed(); i++)
        answer(g, &g->keys[i]);
    return status == TOOL_DONE && g->cursor ? tool_span_save(&g->span, g->cursor) : status;
}

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct get *g = (struct get *)ctx;
    if (!tool_span_tells(&g->span, damage)) return;
    tool_on_damage(&g->lost, damage);
    g->losses += damage->verdict >= U9_V_UNKNOWN && damage->lost > 0;
}

static int run(struct get *g)
{
    u9_fault fault;
    u9_options options = {.size = sizeof options, .mode = U9_READ, .on_damage = on_damage, .on_damage_ctx = g};
    if (u9_log_open(g->path, &options, &g->log, &fault) != U9_OK)
        return tool_read_fault(g->path, &fault);
    int status = raise_status(g, tool_style_begin(&g->style, g->log));
    for (char **word = g->words; *word && status == TOOL_DONE; word++)
        status = strcmp(*word, "-") == 0 ? take_lines(g) : take_key(g, *word, strlen(*word));
    if (status == TOOL_DONE) raise_status(g, look_up(g));
    if (g->cursor) u9_cursor_close(g->cursor);
    if (u9_log_close(g->log, &fault) != U9_OK) raise_status(g, tool_fault(&fault));
    raise_status(g, g->lost);
    return g->status;
}

/* The bytes of a key that take_key made. */
static void free_bytes(const void *bytes)
{
    union {
        const void *in;
        void *out;
    } key = {.in = bytes};
    free(key.out);
}

static void release(struct get *g)
{
    forget_copies(g);
    free(g->wants);
    for (size_t i = 0; i < g->count; i++) free_bytes(g->keys[i].data);
    free(g->keys);
}

enum { FORMAT = 256, KEYS, NULLS, ALL };

static const struct argp_option option_table[] = {
    {"format", FORMAT, "FORMAT", 0,
     "lines (default): values and tabs; json: an object a line; raw: the record's bytes", 0},
    {"keys", KEYS, 0, 0, "Put the key and a tab in front of each record (lines only)", 0},
    {"null", NULLS, 0, 0, "Records end in NUL, not in newline (lines, json)", 0},
    {"all", ALL, 0, 0, "All records of each key, oldest first; with --limit at most N of each", 0},
    TOOL_SPAN_OPTIONS,
    TOOL_SPAN_SAVED_OPTIONS,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct get *g = (struct get *)state->input;
    switch (key) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case FORMAT: g->style.format = tool_format_parse(arg); break;
    case KEYS: g->style.keys = 1; break;
    case NULLS: g->style.null = 1; break;
    case ALL: g->all = 1; break;
    case ARGP_KEY_ARGS:
        g->path = state->argv[state->next];
        g->words = state->argv + state->next + 1;
        if (!*g->words) tool_usage("no KEY given");
        break;
    case ARGP_KEY_NO_ARGS: tool_usage("no LOG given");
    case ARGP_KEY_END:
        if (g->span.limit != TOOL_NONE && !g->all) tool_usage("--limit goes with --all");
        if (g->span.limit != TOOL_NONE && g->span.save)
            tool_usage("--limit leaves records out that --save-cursor would pass over");
        tool_span_check(&g->span);
        tool_style_check(&g->style);
        break;
    default: return tool_span_parse(&g->span, key, arg) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int verb_get(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG KEY...",
        "Prints the newest record of each KEY (`-`: keys from standard input, one a line). A key "
        "that no record has is told on standard error; the exit status is 1 then.\v"
        "Records are looked up by the indexes of LOG; what bounds leave of it is read once instead. That is done when all keys "
        "are known: with `-` the answers come at the end of the input. They come in the order of the keys.",
        NULL, NULL, NULL};
    struct get g = {.span = TOOL_SPAN_NONE};
    tool_parse(&parser, argc, argv, &g);
    int status = run(&g);
    release(&g);
    return status;
}
