/*
 * tools/verb_tail.c: `u9 tail`: the last records of a log in order, then, if it is asked for, what follows them.
 *
 * One cursor: from the end as many records back as are wanted and one more, which reads only these, and forward again to
 * print them. What is damaged there, or right in front of them, is met twice and told the second time; what is behind them is
 * met once, but by one that follows.
 */
#include "tools/args.h"
#include "tools/damage.h"
#include "tools/follow.h"
#include "tools/record.h"
#include "tools/record_large.h"
#include "tools/tool.h"
#include "tools/verb.h"

#include <u9.h>

enum { LAST = 10 };

struct tail {
    const char *path;
    u9_log *log;
    tool_style style;
    uint64_t last; /* records wanted */
    uint64_t found; /* records on the way back */
    int follows;
    int returns; /* not 0: on the way back */
    int status;  /* raised by damage */
};

static void on_damage(void *ctx, const u9_damage *damage)
{
    struct tail *t = (struct tail *)ctx;
    int again = t->returns && (t->follows || t->found > 0); /* it will be met once more */
    if (!again) tool_on_damage(&t->status, damage);
}

static int tell_cursor(const struct tail *t, const u9_cursor *cursor)
{
    u9_fault fault;
    u9_cursor_fault(cursor, &fault);
    return tool_read_fault(t->path, &fault);
}

/* A record that is too large to be shown at once is one. */
static u9_err took(u9_err err)
{
    return err == U9_LIMIT ? U9_OK : err;
}

/*
 * From the end back over the records that are wanted, and counts them. One more in front of them says whether something was
 * lost there, which then is told.
 */
static int go_back(struct tail *t, u9_cursor *cursor)
{
    u9_seek end = {.size = sizeof end, .kind = U9_SEEK_END};
    u9_record record;
    t->returns = 1;
    u9_err err = u9_cursor_seek(cursor, &end);
    uint64_t want = t->last > 0 && t->last < UINT64_MAX ? t->last + 1 : t->last;
    for (; err == U9_OK && t->found < want; t->found++)
        if ((err = took(u9_cursor_prev(cursor, &record))) != U9_OK) break;
    if (err == U9_OK && t->found > t->last) {
        err = took(u9_cursor_next(cursor, &record));
        t->found--;
    }
    t->returns = 0;
    return err == U9_OK || err == U9_END ? TOOL_DONE : tell_cursor(t, cursor);
}

/* What cannot be shown of a record is said, and the walk goes on. */
static int put(struct tail *t, const u9_record *record)
{
    int status = TOOL_DONE;
    if (record->bytes) tool_put_record(&t->style, record);
    else status = tool_put_large(&t->style, t->log, record);
    if (status > t->status) t->status = status;
    return status == TOOL_IO || tool_stdout_failed() ? TOOL_IO : TOOL_DONE; /* tool_finish says why */
}

/* Those found, and no more of what is written meanwhile, unless it follows. */
static int walk(struct tail *t, u9_cursor *cursor)
{
    u9_record record;
    u9_err err = U9_END;
    for (uint64_t i = 0; t->follows || i < t->found; i++) {
        err = t->follows ? tool_follow_next(cursor, &record) : u9_cursor_next(cursor, &record);
        if (err != U9_OK && err != U9_LIMIT) break;
        if (put(t, &record) != TOOL_DONE) return TOOL_IO;
    }
    return err == U9_OK || err == U9_END || err == U9_LIMIT ? TOOL_DONE : tell_cursor(t, cursor);
}

static int read_end(struct tail *t)
{
    u9_cursor *cursor;
    u9_fault fault;
    if (u9_cursor_open(t->log, NULL, &cursor, &fault) != U9_OK) return tool_read_fault(t->path, &fault);
    int status = go_back(t, cursor);
    if (status == TOOL_DONE && t->follows && u9_cursor_follow(cursor, U9_SHOW_DURABLE) != U9_OK)
        status = tell_cursor(t, cursor);
    if (status == TOOL_DONE) status = walk(t, cursor);
    u9_cursor_close(cursor);
    return status;
}

static int run(struct tail *t)
{
    u9_fault fault;
    u9_options options = {.size = sizeof options, .mode = U9_READ, .on_damage = on_damage, .on_damage_ctx = t};
    if (t->follows) tool_follow_begin();
    int came = 0;
    u9_err opened = t->follows ? tool_follow_open(t->path, &options, &t->log, &came, &fault)
                               : u9_log_open(t->path, &options, &t->log, &fault);
    if (came) t->last = UINT64_MAX; /* all of it follows */
    if (opened == U9_END) return TOOL_DONE; /* it was stopped */
    if (opened != U9_OK) return tool_read_fault(t->path, &fault);
    int status = tool_style_begin(&t->style, t->log);
    if (status == TOOL_DONE) status = read_end(t);
    u9_err err = u9_log_close(t->log, &fault);
    if (err != U9_OK && status == TOOL_DONE) status = tool_read_fault(t->path, &fault);
    return status == TOOL_DONE ? t->status : status;
}

enum { FORMAT = 256, KEYS, NULLS };

static const struct argp_option option_table[] = {
    {"limit", 'n', "N", 0, "The last N records; 10 without it, 0: only what follows", 0},
    {"follow", 'f', 0, 0, "At the end wait for more, also for LOG itself, until SIGINT or SIGTERM", 0},
    {"format", FORMAT, "FORMAT", 0,
     "lines (default): values and tabs; json: an object a line; raw: the record's bytes", 0},
    {"keys", KEYS, 0, 0, "Put the key and a tab in front of each record (lines only)", 0},
    {"null", NULLS, 0, 0, "Records end in NUL, not in newline (lines, json)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct tail *t = (struct tail *)state->input;
    switch (key) {
    case 'n': t->last = tool_number("-n", arg); break;
    case 'f': t->follows = 1; break;
    case FORMAT: t->style.format = tool_format_parse(arg); break;
    case KEYS: t->style.keys = 1; break;
    case NULLS: t->style.null = 1; break;
    case ARGP_KEY_END: tool_style_check(&t->style); break;
    default: return tool_argp_log(key, arg, state, &t->path);
    }
    return 0;
}

int verb_tail(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse, "LOG",
        "Prints the last records of LOG in order; no more than these is read. Damage among them, and right in front of "
        "them, is told on standard error, a line each; if records were lost to it, the exit status is 3.",
        NULL, NULL, NULL};
    struct tail t = {.last = LAST};
    tool_parse(&parser, argc, argv, &t);
    return run(&t);
}
