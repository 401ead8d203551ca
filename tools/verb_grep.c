/*
 * tools/verb_grep.c: `u9 grep`: the records in which a pattern occurs, or a field has a value, in order.
 *
 * The ranges of a plan are read by several threads (scan.h). What a range has to show is kept until all in front of it
 * is printed: up to HELD bytes, then its thread waits for its turn. Ranges are begun in order, so that the one whose
 * turn it is always has a thread, which waits for nobody. A part of the log (span.h) is one range, which a cursor goes
 * over: it is sent there, so that nothing else is read.
 */
#include "tools/args.h"
#include "tools/buffer.h"
#include "tools/json.h"
#include "tools/record.h"
#include "tools/scan.h"
#include "tools/span.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/value_json.h"
#include "tools/verb.h"

#include <u9.h>

#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { HELD = 1 << 20 };

/* What a thread needs for its range, and what was found in it: each a size_t and so many bytes. */
typedef struct part {
    tool_buffer text, line; /* what is searched, what is printed */
    regex_t regex;          /* one for each, as regexec locks it; valid if text is open */
    char *found;
    size_t used, room;
    int over; /* it is read; guarded by the lock */
} part;

struct grep {
    const char *path, *pattern;
    char *name, *wanted; /* of FIELD=VALUE; name NULL: a pattern */
    tool_field field;
    int fixed, ignore_case, invert, count, json, coloured;
    unsigned threads;
    uint64_t limit;
    tool_span span;
    int spanned; /* not 0: only what the span has is searched */
    int status;  /* raised by damage in it */

    tool_style plain, shown; /* what is searched, what is printed */
    part *parts;
    size_t ranges;
    atomic_uint_fast64_t found, large; /* records; those that are too large to be searched */
    atomic_int no_memory, stopped;
    pthread_mutex_t lock; /* guards what follows, and standard output */
    pthread_cond_t turned;
    size_t turn;
    uint64_t printed;
};

static int regex_flags(const struct grep *g)
{
    return REG_EXTENDED | (g->ignore_case ? REG_ICASE : 0);
}

static int stop(struct grep *g)
{
    g->stopped = 1;
    pthread_cond_broadcast(&g->turned);
    return 0;
}

static int out_of_memory(struct grep *g)
{
    g->no_memory = 1;
    return stop(g);
}

/* Prints what was found in a part, as far as the limit allows. Under the lock. */
static void put_part(struct grep *g, part *p)
{
    for (size_t at = 0, size; at < p->used && g->printed < g->limit && !tool_stdout_failed();
         at += size, g->printed++) {
        memcpy(&size, p->found + at, sizeof size);
        at += sizeof size;
        fwrite(p->found + at, 1, size, stdout);
    }
    p->used = 0;
    if (g->printed >= g->limit || tool_stdout_failed()) stop(g);
}

/* What was found so far goes out when it is its turn; what is over can wait. */
static void give(struct grep *g, size_t range, int over)
{
    pthread_mutex_lock(&g->lock);
    g->parts[range].over = over;
    while (!over && g->turn != range && !g->stopped) pthread_cond_wait(&g->turned, &g->lock);
    if (g->turn == range) {
        put_part(g, &g->parts[range]);
        while (g->turn < g->ranges && g->parts[g->turn].over) put_part(g, &g->parts[g->turn++]);
        pthread_cond_broadcast(&g->turned);
    }
    pthread_mutex_unlock(&g->lock);
}

static int begin_part(struct grep *g, part *p)
{
    if (p->text.file) return 1;
    if (!g->name && !g->fixed && regcomp(&p->regex, g->pattern, regex_flags(g)) != 0) return 0;
    p->regex.regs_allocated = REGS_FIXED; /* they are find's */
    if (tool_buffer_open(&p->line) && tool_buffer_open(&p->text)) return 1;
    tool_buffer_close(&p->line);
    if (!g->name && !g->fixed) regfree(&p->regex);
    return 0;
}

/* What is printed next goes there. */
static void draw(tool_buffer *buffer)
{
    tool_buffer_clear(buffer);
    tool_sink = buffer->file;
}

/* 0: memory was short for it. */
static int drawn(tool_buffer *buffer)
{
    tool_sink = NULL;
    return tool_buffer_take(buffer);
}

/* The first place from `at` on where the pattern is: 1, or 0: it is nowhere; -1: memory is short for that. */
static int find(const struct grep *g, part *p, size_t at, size_t *begin, size_t *end)
{
    const char *text = p->text.bytes;
    size_t length = strlen(g->pattern);
    if (!g->fixed) { /* regexec would say of either that there is no match */
        regoff_t from, to, size = (regoff_t)p->text.size;
        struct re_registers place = {1, &from, &to};
        regoff_t found = re_search(&p->regex, text, size, (regoff_t)at, size - (regoff_t)at, &place);
        if (found < 0) return found == -1 ? 0 : -1;
        *begin = (size_t)from;
        *end = (size_t)to;
        return 1;
    }
    for (; at + length <= p->text.size; at++)
        if (g->ignore_case ? strncasecmp(text + at, g->pattern, length) == 0
                           : memcmp(text + at, g->pattern, length) == 0) {
            *begin = at;
            *end = at + length;
            return 1;
        }
    return 0;
}

static int is_wanted(const struct grep *g, const part *p)
{
    if (p->text.size != strlen(g->wanted)) return 0;
    return g->ignore_case ? strncasecmp(p->text.bytes, g->wanted, p->text.size) == 0
                          : memcmp(p->text.bytes, g->wanted, p->text.size) == 0;
}

/* Whether the field is there and its text is the value, as lines show it or as JSON; as find. */
static int has_value(const struct grep *g, part *p, const u9_record *record)
{
    u9_value value;
    if (!tool_field_find(&g->field, record, &value)) return 0;
    draw(&p->text);
    tool_put_value(&g->plain, &value);
    if (!drawn(&p->text)) return -1;
    if (is_wanted(g, p) || *g->wanted != '{') return is_wanted(g, p);
    draw(&p->text);
    tool_put_json(&value); /* what JSON has no type for */
    return drawn(&p->text) ? is_wanted(g, p) : -1;
}

/* As find. */
static int matches(const struct grep *g, part *p, const u9_record *record)
{
    size_t begin, end;
    if (g->name) return has_value(g, p, record);
    draw(&p->text);
    tool_put_record(&g->plain, record);
    if (!drawn(&p->text)) return -1;
    p->text.size--; /* the newline is not the record's */
    return find(g, p, 0, &begin, &end);
}

static void put_text(const struct grep *g, const part *p, size_t begin, size_t end)
{
    tool_put_contents(&g->shown, (const uint8_t *)p->text.bytes + begin, end - begin);
}

/* The text of the part once more, with what matches in colour. */
static void put_coloured(const struct grep *g, part *p)
{
    size_t at = 0, begin, end;
    for (size_t from = 0; from <= p->text.size && find(g, p, from, &begin, &end) > 0;
         from = end > begin ? end : end + 1) {
        if (end == begin) continue;
        put_text(g, p, at, begin);
        fputs("\033[1;31m", tool_out());
        put_text(g, p, begin, end);
        fputs("\033[m", tool_out());
        at = end;
    }
    put_text(g, p, at, p->text.size);
    fputc('\n', tool_out());
}

/* What is shown of a record, behind what is kept already. 0: out of memory. */
static int keep(const struct grep *g, part *p, const u9_record *record)
{
    draw(&p->line);
    if (g->coloured && !g->name && !g->invert) put_coloured(g, p);
    else tool_put_record(&g->shown, record);
    if (!drawn(&p->line)) return 0;
    size_t size = p->line.size, need = p->used + sizeof size + size;
    char *wider = need <= p->room ? p->found : realloc(p->found, 2 * need);
    if (!wider) return 0;
    if (need > p->room) p->room = 2 * need;
    p->found = wider;
    memcpy(wider + p->used, &size, sizeof size);
    memcpy(wider + p->used + sizeof size, p->line.bytes, size);
    p->used = need;
    return 1;
}

static int visit(void *ctx, size_t range, const u9_record *record)
{
    struct grep *g = (struct grep *)ctx;
    part *p = &g->parts[range];
    if (g->stopped) return 0;
    if (record->bytes == NULL) {
        g->large++;
        return 1;
    }
    int found = begin_part(g, p) ? matches(g, p, record) : -1;
    if (found < 0) return out_of_memory(g);
    if (found == g->invert) return 1;
    g->found++;
    if (g->count) return g->found < g->limit ? 1 : stop(g);
    if (!keep(g, p, record)) return out_of_memory(g);
    if (p->used >= HELD) give(g, range, 0);
    return 1;
}

static void leave(void *ctx, size_t range)
{
    struct grep *g = (struct grep *)ctx;
    part *p = &g->parts[range];
    if (p->text.file && !g->name && !g->fixed) regfree(&p->regex);
    tool_buffer_close(&p->text);
    tool_buffer_close(&p->line);
    give(g, range, 1);
}

static int put_count(const struct grep *g)
{
    uint64_t found = g->found < g->limit ? g->found : g->limit;
    if (!g->json) return printf("%" PRIu64 "\n", found) < 0 ? TOOL_IO : TOOL_DONE;
    json_t *json = tool_json_with(json_object(), "type", json_string("grep"));
    json = tool_json_with(json, "path", tool_json_text(g->path));
    return tool_put_object(tool_json_with(json, "count", tool_json_number(found)));
}

/* What is said in the end. */
static int conclude(const struct grep *g, int failed, int status)
{
    if (g->no_memory) return failed ? status : tool_nomem("what was found"); /* it may have been said */
    if (g->count && !failed && put_count(g) != TOOL_DONE) return TOOL_IO;
    if (g->large > 0)
        tool_say(TOOL_DONE, "note: %" PRIuFAST64 " large record%s not searched", g->large,
                 g->large == 1 ? " was" : "s were");
    return status;
}

static int begin(void *ctx, size_t ranges)
{
    struct grep *g = (struct grep *)ctx;
    g->ranges = ranges;
    g->parts = calloc(ranges, sizeof *g->parts);
    return g->parts ? TOOL_DONE : tool_nomem("the ranges");
}

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct grep *g = (struct grep *)ctx;
    if (tool_span_tells(&g->span, damage)) tool_on_damage(&g->status, damage);
}

/* Goes over the span, as `u9 cat` does. */
static int walk(struct grep *g, u9_log *log, u9_cursor *cursor)
{
    u9_record record;
    u9_fault fault;
    u9_err err = U9_END;
    int status = tool_span_begin(&g->span, log, g->path, cursor);
    if (status != TOOL_DONE) return g->status > status ? g->status : status;
    while (((err = tool_span_next(&g->span, cursor, &record)) == U9_OK || err == U9_LIMIT) && visit(g, 0, &record)) {}
    leave(g, 0);
    if (err == U9_OK || err == U9_END || err == U9_LIMIT) return TOOL_DONE;
    u9_cursor_fault(cursor, &fault);
    return tool_read_fault(g->path, &fault);
}

static int search_span(struct grep *g, u9_log *log)
{
    u9_cursor *cursor;
    u9_fault fault;
    int status = begin(g, 1);
    if (status != TOOL_DONE) return status;
    if (u9_cursor_open(log, NULL, &cursor, &fault) != U9_OK) status = tool_read_fault(g->path, &fault);
    else {
        status = walk(g, log, cursor);
        u9_cursor_close(cursor);
        status = conclude(g, status != TOOL_DONE, status == TOOL_DONE ? g->status : status);
    }
    free(g->parts[0].found);
    free(g->parts);
    return status;
}

static int search(struct grep *g, u9_log *log)
{
    scan s = {.path = g->path,
              .log = log,
              .threads = g->threads,
              .visit = visit,
              .leave = leave,
              .ctx = g,
              .quiet = isatty(STDOUT_FILENO)};
    int status = scan_all(&s, begin);
    if (g->parts) status = conclude(g, s.failed, status);
    for (size_t i = 0; g->parts && i < g->ranges; i++) free(g->parts[i].found);
    free(g->parts);
    scan_free(&s);
    return status;
}

/* As grep(1) has it: 1 says that there is none, so that what is refused is trouble, too: 2. What failed or was lost goes before. */
static int exit_status(const struct grep *g, int status)
{
    if (status == TOOL_REFUSED) return TOOL_USAGE;
    return status == TOOL_DONE && g->found == 0 ? TOOL_REFUSED : status;
}

static int run(struct grep *g)
{
    u9_fault fault;
    u9_log *log;
    u9_options options = {.size = sizeof options, .mode = U9_READ, .on_damage = scan_note_damage};
    if (g->spanned) options.on_damage = on_damage, options.on_damage_ctx = g;
    if (u9_log_open(g->path, &options, &log, &fault) != U9_OK)
        return tool_read_fault(g->path, &fault);
    g->shown.format = g->json ? TOOL_JSON : TOOL_LINES;
    int status = tool_style_begin(&g->shown, log);
    g->plain.keys = g->shown.keys;
    g->plain.kind = g->shown.kind;
    const char *no_colour = getenv("NO_COLOR");
    g->coloured = g->shown.terminal && !g->json && !(no_colour && *no_colour);
    if (status == TOOL_DONE) status = g->spanned ? search_span(g, log) : search(g, log);
    u9_err err = u9_log_close(log, &fault);
    if (err != U9_OK && status == TOOL_DONE) status = tool_read_fault(g->path, &fault);
    return status;
}

/* FIELD=VALUE, if what stands in front of the first '=' can be a field. */
static int take_field(struct grep *g, const char *arg)
{
    size_t length = strcspn(arg, "=");
    if (length == 0 || arg[length] == '\0') return 0;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)arg[i]) && !strchr("_.-", arg[i]) &&
            (unsigned char)arg[i] < 0x80)
            return 0;
    g->name = strndup(arg, length);
    g->wanted = strdup(arg + length + 1);
    if (!g->name || !g->wanted) exit(tool_nomem("the arguments"));
    g->field = tool_field_parse(g->name);
    return 1;
}

/* When all options are known. A pattern that is none is a usage error. */
static void check(struct grep *g)
{
    regex_t regex;
    char why[256];
    if (!g->path) tool_usage(g->pattern ? "no LOG given" : "no FIELD=VALUE or PATTERN given");
    if (g->name && g->fixed)
        tool_usage("-F is of patterns: FIELD=VALUE is no pattern (-e makes it one)");
    if (g->shown.keys && g->json) tool_usage("--keys is of lines: the objects of --json have the keys within");
    tool_span_check(&g->span);
    if (g->name || g->fixed) return;
    int err = regcomp(&regex, g->pattern, regex_flags(g));
    if (err == 0) {
        regfree(&regex);
        return;
    }
    if (err == REG_ESPACE) exit(tool_nomem("the pattern"));
    regerror(err, NULL, why, sizeof why);
    tool_usage("%s: not a regular expression: %s (-F: as it stands)", g->pattern, why);
}

static void take_argument(struct grep *g, char *arg)
{
    if (g->pattern && g->path) tool_usage("one LOG only: '%s' is too much", arg);
    if (g->pattern) g->path = arg;
    else if (g->pattern = arg, !take_field(g, arg)) g->name = NULL;
}

enum { JSON = 256, KEYS };

static const struct argp_option option_table[] = {
    SCAN_JOBS_OPTION,
    {"regexp", 'e', "PATTERN", 0, "This pattern, also if it looks like an option or FIELD=VALUE", 0},
    {"fixed", 'F', 0, 0, "PATTERN is text as it stands", 0},
    {"ignore-case", 'i', 0, 0, "Upper and lower case are the same", 0},
    {"invert", 'v', 0, 0, "The other records", 0},
    {"count", 'c', 0, 0, "Print only how many they are", 0},
    {"limit", 'n', "N", 0, "At most N records", 0},
    {"keys", KEYS, 0, 0, "Put the key and a tab in front of each line, and search that too", 0},
    TOOL_SPAN_BOUNDS,
    {"json", JSON, 0, 0, "JSON objects, one a line, as those of `u9 cat`", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct grep *g = (struct grep *)state->input;
    switch (key) {
    case ARGP_KEY_INIT: tool_argp_init(state); break;
    case 'j': g->threads = scan_jobs(arg); break;
    case 'e':
        if (g->pattern) tool_usage("one PATTERN only: '%s' is too much (-e goes before LOG)", arg);
        g->pattern = arg;
        break;
    case 'F': g->fixed = 1; break;
    case 'i': g->ignore_case = 1; break;
    case 'v': g->invert = 1; break;
    case 'c': g->count = 1; break;
    case 'n':
        g->limit = tool_number("--limit", arg);
        if (g->limit == 0) tool_usage("--limit 0: nothing would be looked for");
        break;
    case JSON: g->json = 1; break;
    case KEYS: g->shown.keys = 1; break;
    case ARGP_KEY_ARG: take_argument(g, arg); break;
    case ARGP_KEY_END: check(g); break;
    default:
        if (!tool_span_parse(&g->span, key, arg)) return ARGP_ERR_UNKNOWN;
        g->spanned = 1;
    }
    return 0;
}

int verb_grep(int argc, char **argv)
{
    static const struct argp parser = {
        option_table,
        parse,
        "FIELD=VALUE|PATTERN LOG",
        "Prints the records of LOG in whose line, as `u9 cat` prints it, PATTERN occurs, an extended regular expression "
        "of POSIX; or whose FIELD is VALUE: a member of the first value, an object, by name, or by a path with dots of "
        "one within it, or a position (0: the key, 1: the first value). They are read on several threads, a part of the log on one, and come in the "
        "order of the log. The exit status is 0 if there are any, 1 if there is none, 2 if LOG is not there or is "
        "refused, or some of it was trimmed before it was read. "
        "Damage is told on standard error, a line each; if records were lost to it, the exit status is 3.",
        NULL,
        NULL,
        NULL};
    struct grep g = {.threads = scan_processors(),
                     .limit = TOOL_NONE,
                     .span = TOOL_SPAN_NONE,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .turned = PTHREAD_COND_INITIALIZER};
    tool_parse(&parser, argc, argv, &g);
    int status = exit_status(&g, run(&g));
    free(g.name);
    free(g.wanted);
    return status;
}
